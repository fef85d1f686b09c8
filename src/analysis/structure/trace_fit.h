/*
 * Which cache explains the hits and misses of visits to random lines: each that
 * there might be is run on the same visits, and the one that foretells them
 * best is it, if it also foretells visits that were not used to find it.
 *
 * Nothing is asked of the order, of distances or of the policy; what is fetched
 * ahead are visits that nobody saw.  Where an unknown neighbour holds lines of
 * its own, side by side, sets have so many ways less.
 */
#ifndef SONDE_ANALYSIS_TRACE_FIT_H
#define SONDE_ANALYSIS_TRACE_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/cache.h"

enum trace_seen { TRACE_UNSEEN, TRACE_HIT, TRACE_MISS };
struct trace_visit {
    uint64_t at; /* B */
    enum trace_seen seen;
    bool call; /* before it the neighbour looks for its lines */
};

/* Of what kind visits are that caches are held against. */
enum trace_kind {
    TRACE_MIXED,   /* what is fetched ahead comes to other visits */
    TRACE_APART,   /* it comes to none */
    TRACE_FITTING, /* … and all lines are there at once, if the cache is the one
                      that was found */
    TRACE_KINDS
};

struct trace {
    struct trace_visit *visits;
    size_t count;
    enum trace_kind kind;
    bool many; /* apart, and most sets have more lines than ways */
};

/* What is known before. */
struct trace_range {
    uint64_t sector;    /* that a miss brings; lines have as much or more */
    uint64_t longest;   /* lines up to that are tried where shorter ones are
                           wrong about some visits */
    double least, most; /* bytes that it holds for these visits */
    size_t own_least, own_most; /* lines that the neighbour holds */
    size_t own_each;            /* … and looks for at every call, at least */
    uint64_t ahead; /* lines that come with one of its that was missed */
};

/* 0: several are possible. */
struct trace_fit {
    uint64_t line, sets, ways, size;
    uint64_t least; /* B; the smallest size that is possible */
    enum cache_policy policy;
    size_t
        model_policy; /* … by what it is told apart from others of its kind */
    enum cache_policy runner_up; /* explains as much; policy: none does */
    double agrees; /* share of the visits of `check` that are as foretold, or as
                      is likelier; of those of many lines, if it is larger: what
                      comes ahead or stays from before blurs the others */
    double fitting, missed; /* visits of lines that fit, and not as foretold */
    /* The likeliest, with lines of the neighbour from that set on. */
    uint64_t model_line, model_sets, model_ways, own, own_at;
    unsigned model_shift; /* of its index, above the bits of a line */
    uint64_t model_fold; /* address bits of which it is an XOR, which tells half
                            of the sets from the others; 0: none */
};

/* The caches that explain the visits best, … */
struct trace_search;
struct trace_search *trace_search_new(const struct trace *trace,
                                      const struct trace_range *range);
/* … what they foretell of others, by their kinds in order; … */
void trace_search_check(struct trace_search *search, const struct trace *check);
/* … and the one that foretells these best.  False if none explains them. */
bool trace_search_judge(struct trace_search *search, struct trace_fit *fit);
/* Beside the one that was found, if its victims are of chance, those of lines
 * that are shorter than what a visit brings, `shortest` B at least, so that
 * chance puts out each part by itself, of each kind the likeliest if it
 * foretells nearly as much: returns how many. */
enum { TRACE_PARTS_MOST = 8 };
size_t trace_search_parts(struct trace_search *search,
                          const struct trace_fit *fit, uint64_t shortest,
                          struct trace_fit parts[TRACE_PARTS_MOST]);
void trace_search_free(struct trace_search *search);

/* Whether victims are of chance. */
bool trace_fit_is_chance(const struct trace_fit *fit);
/* Ways that weigh alike are told from ways that do not: by less than so much,
 * as a part of their mean, weights may deviate. */
double trace_fit_weights_within(void);
/* Of the visits that were seen, if victims are of chance, no more miss but once
 * in a million (of a normal distribution), be the cache full of other lines at
 * first. */
double trace_fit_missed_most(const struct trace_fit *fit,
                             const struct trace_range *range,
                             const struct trace *trace);
/* … and no fewer, if its index does not leave out the bits right above the
 * line: sets are finer then, of as many ways as make the same room, or more. */
double trace_fit_missed_finer(const struct trace_fit *fit,
                              const struct trace_range *range,
                              const struct trace *trace);
/* The cache that was found, and what the neighbour does in it again and again:
 * what is held there goes on to no other. */
struct cache *trace_fit_cache(const struct trace_fit *fit, uint64_t sector);
void trace_fit_neighbour(const struct trace_fit *fit, struct cache *cache);
/* In that cache the set of a line by its number, and the ways of a set that the
 * neighbour leaves to others. */
uint64_t trace_fit_set(const struct trace_fit *fit, uint64_t line);
uint64_t trace_fit_ways(const struct trace_fit *fit, uint64_t set);

#endif
