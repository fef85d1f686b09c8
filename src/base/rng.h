/*
 * Seeded random numbers: the same seed gives the same run on every machine.
 * The generator is xoshiro256** (Blackman and Vigna), seeded by splitmix64.
 */
#ifndef SONDE_BASE_RNG_H
#define SONDE_BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state[4];
};

void rng_seed(struct rng *r, uint64_t seed);

static inline uint64_t rng_rotate(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

/* Here, since each simulated load takes one. */
static inline uint64_t rng_next(struct rng *r)
{
    uint64_t *const s = r->state;
    const uint64_t result = rng_rotate(s[1] * 5, 7) * 9;
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rng_rotate(s[3], 45);
    return result;
}

/* Uniform in [0, bound); bound > 0. */
uint64_t rng_below(struct rng *r, uint64_t bound);
/* Uniform in [0, 1). */
double rng_unit(struct rng *r);
/* Normal, mean 0, standard deviation 1. */
double rng_normal(struct rng *r);

#endif
