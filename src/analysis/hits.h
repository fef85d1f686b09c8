/*
 * Hit or miss, by what loads cost.
 *
 * The limit lies in the middle of what a hit and a miss cost: as far from
 * either as it can, since nothing says which of the two spreads more.
 */
#ifndef SONDE_ANALYSIS_HITS_H
#define SONDE_ANALYSIS_HITS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static inline double hits_limit(double hit, double miss)
{
    return (hit + miss) / 2;
}

/* Clearly cheaper: a tenth is far more than the noise of an average (a percent
 * or two), and far less than any cache saves. */
static inline bool hits_cheaper(double cycles, double than)
{
    return cycles < 0.9 * than;
}

/* By so many cycles no load waits for a refresh of memory, which takes half a
 * microsecond (DDR4; of stacked memory less): somebody else ran. */
enum { HITS_WAIT_MOST = 2000 };

/* How many cost more than the limit. */
size_t hits_above(const double *cycles, size_t count, double limit);

/* Keeps those between the limits, in their order, at the front of the array;
 * returns how many. */
size_t hits_between(double *cycles, size_t count, double above, double below);

/* What GPUs are known to do with hits. */
struct hits_rule {
    double slack_cycles, slack_share; /* by which the same hit may differ */
    double no_hit_times, no_hit_cycles; /* dearer than hit · times + cycles … */
    double timed_cycles; /* … without what timing adds to each */
    double no_hit;       /* dearer than that, too: as others told; INFINITY */
};

/* The limit by what hits cost and how they spread: for loads of which nearly
 * all are known to hit, and `hit` is what they cost. */
double hits_spread_limit(const double *cycles, size_t count, double hit,
                         const struct hits_rule *rule);

/* How much dearer than what was seen a miss may be that was not: a quarter of
 * the width of the middle 96 %, so that nearly half as much again is let in, as
 * between the quantiles of a normal distribution at 2 % and at 0.1 %. */
static inline double hits_miss_margin(double low, double high)
{
    return fmax(4, 0.25 * (high - low));
}

/* Clearly many of a ring's loads: spikes are one in fifty at most. */
enum { HITS_CLEARLY = 12 };

/* The middle of what the cheapest kind of load costs, where others cost more:
 * the first above which, as far as the cheapest few lie below it, are no more
 * than below it. */
double hits_cheapest(const double *cycles, size_t count);

/* From there on a load costs clearly more than one that hits: by 8 cycles, a
 * tenth, and four standard deviations of what hits cost; timing included. */
double hits_clearly_dearer(const double *cycles, size_t count, double hit,
                           double timed);

/* What finds L2 near may cost little more than a hit, where as much finds it
 * far: then a half of both is above all near ones.  The least that such loads
 * cost, timing included; `half` where they are no clear share, or not clearly
 * dearer. */
double hits_least_miss(const double *cycles, size_t count, double hit,
                       double timed, double half);

/* Of `cases` that might have been `events`: are they nearly all, or nearly
 * none?  What lies between is left open. */
enum hits_tally { TALLY_OPEN, TALLY_NONE, TALLY_ALL };
enum hits_tally hits_tally_of(size_t events, size_t cases);

/* What is there around the one at `at`, of `count` in a row. */
struct hits_run {
    size_t first, end; /* on and before: those without a gap; none, both `at`,
                          if that one is not there itself */
    size_t apart;      /* others that are there */
    size_t around;     /* so many in a row hold all that are there, and `at` */
    size_t open;       /* of which it is not known */
    bool to_an_end;    /* those without a gap are at an end of the row */
};
struct hits_run hits_run_around(const enum hits_tally *found, size_t count,
                                size_t at);

#endif
