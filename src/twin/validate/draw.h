/*
 * Draws held-out experiments for one cache or TLB, by seed: lines of which the
 * findings say that they push each other out, and such that do not.
 */
#ifndef SONDE_TWIN_DRAW_H
#define SONDE_TWIN_DRAW_H

#include "base/rng.h"
#include "model/cache.h"
#include "twin/validate/trial.h"

enum {
    DRAW_MOST = 4,
    /* Lines that the cache before may hold, if all are to be overfilled. */
    DRAW_FRONT_MOST = 256
};

struct drawing {
    const struct cache_shape *shape;
    uint64_t unit; /* bytes that places are counted in: 1, or a region */
    uint64_t span; /* bytes that lines are taken from */
    uint64_t fine; /* loads lie at multiples of so many bytes of a line; 0: at
                      its start */
    const struct cache_shape *front; /* the cache before it; NULL: none */
    bool no_random; /* nobody knows what that lets through of loads at random */
    bool no_policy; /* … nor which line goes: as many are asked as fit */
    const char *lead; /* a further parameter of these experiments, or "" */
    struct rng *rng;
    struct asked asked;
    unsigned runs;
};

/* Fills `trials` and returns how many; 0 where no set can be overfilled. */
size_t draw_trials(const struct drawing *drawing,
                   struct trial trials[DRAW_MOST]);

#endif
