/*
 * Which replacement policy explains the hits and misses that were measured in
 * one set: each candidate of src/model is run on the same loads, and the one
 * under which they are most likely is it (the approach of the cache tools of
 * nanoBench on CPUs; Mei 2014, 3.2 (4) for the weights).
 *
 * Candidates without chance predict each load; a share of them is allowed to
 * be wrong (clock spikes); what may have been answered in front is replayed or
 * not, whichever explains more.  Under random victims a line has been put out
 * with a chance that grows with the misses since it came; and of a load that
 * the clock could not tell nobody knows whether it brought one, so that victims
 * are said to be of chance only if so few are such that they cannot make that.
 */
#ifndef SONDE_ANALYSIS_POLICY_H
#define SONDE_ANALYSIS_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/cache.h"

/* Of a load that was timed the clock may not tell it; others nobody timed. */
enum policy_outcome { LOAD_HIT, LOAD_MISS, LOAD_UNKNOWN, LOAD_UNTIMED };

struct policy_load {
    uint32_t line; /* a number; all lines are of one set */
    uint8_t outcome;
    bool first;  /* of a sequence that begins with the set as it was */
    bool unsure; /* an unknown one that may not have come to the set: a cache
                    in front may have answered it, late */
};

/* What loads cost. */
struct policy_costs {
    double hit, cut; /* cycles; a load that costs more than the cut missed */
    bool alike;      /* all hits cost the same */
};

/*
 * Which of the loads hit, by their cycles.  Misses gather around the costs of
 * the places where lines were found, be it one place or two; what lies between
 * was disturbed, and is not known.  Nor is, where hits cost alike, what gathers
 * far above them and not beyond the cut: that lies too high, as it does where
 * misses were disturbed by which it was found.
 */
void policy_tell(struct policy_load *loads, const double *cycles, size_t count,
                 const struct policy_costs *costs);

/* How well one policy explains the loads. */
struct policy_score {
    double agrees;     /* share of the loads that are as predicted; of random
                          policies: expected to be, and as many were */
    double likelihood; /* natural logarithm, per load */
};

struct policy_verdict {
    bool known;
    enum cache_policy policy;
    bool ambiguous; /* another does the same on these ways */
    bool midpoint;  /* … an lru_midpoint for the lru that it is taken for */
    bool late;      /* not known: what looks like chance may be late loads */
    double untold;  /* share of the timed loads that the clock could not tell */
    enum cache_policy runner_up;
    double lead; /* of the likelihood over the runner-up's, all loads */
    struct policy_score score[POLICY_COUNT];
    /* Under which the loads are likeliest for an rrip, and for an lru_midpoint.
     */
    struct cache_rrip ages;
    unsigned behind;
    unsigned spare; /* entries of a victim buffer */
};

/*
 * `fresh`: the set was empty at the first load of each sequence; else what was
 * in it is unknown, and the loads begin with enough misses to push it out.
 * Chooses among lru, lru_midpoint, fifo, plru (ways a power of two), nru, rrip
 * and random;
 * weights are a matter of policy_weights.
 */
struct policy_verdict policy_find(const struct policy_load *loads, size_t count,
                                  uint32_t ways, bool fresh);

/* The same where what is one line to the loads may be up to so many, a power of
 * two, that come and go by themselves: a set of so many such `ways` has as many
 * ways, or room for some of one more.  Under a policy that tells apart which
 * came first these are not what whole ones are. */
struct policy_verdict policy_find_pieces(const struct policy_load *loads,
                                         size_t count, uint32_t ways,
                                         unsigned most, bool fresh);

/* The same of a set of very many ways, of which most loads are not judged, and
 * only some states of marks are tried that the set may have had.  Victims of
 * chance are never told so: which of the loads brought one nobody knows. */
struct policy_verdict policy_find_many(const struct policy_load *loads,
                                       size_t count, uint32_t ways);

/* The same of a set that may have up to so many entries of a victim buffer
 * (model/cache.h), which no other set uses meanwhile; more lines than both hold
 * tell how many. */
struct policy_verdict policy_find_spare(const struct policy_load *loads,
                                        size_t count, uint32_t ways,
                                        unsigned most);

/* The same of random victims alone, with these weights, whose sum is 1: returns
 * how many deviations the likelihood is from its mean if they are true. */
double policy_random(const struct policy_load *loads, size_t count,
                     const double *weights, uint32_t ways, bool fresh,
                     struct policy_score *score);

/*
 * Of loads over ways + 1 lines: how often each way was the victim.  A sequence
 * begins with one load of each line in order; the first `ways` are in the set
 * then, and each way is called by the number of the line that is in it.
 * Returns the number of victims.
 */
size_t policy_victims(const struct policy_load *loads, size_t count,
                      uint32_t ways, size_t *victims);

/* By how much victims differ more than chance has it: chi-square of even
 * shares less its mean; its variance is 2 (ways − 1). */
double policy_unevenness(const size_t *victims, uint32_t ways, size_t found);

#endif
