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
uint64_t rng_next(struct rng *r);
/* Uniform in [0, bound); bound > 0. */
uint64_t rng_below(struct rng *r, uint64_t bound);
/* Uniform in [0, 1). */
double rng_unit(struct rng *r);
/* Normal, mean 0, standard deviation 1. */
double rng_normal(struct rng *r);

#endif
