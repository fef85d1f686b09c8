/*
 * What disturbs a memory access: jitter, normal around nothing, now and then a
 * spike, and another user of the GPU.  The jitter comes from a table whose
 * entries add up to zero, so that the mean of many accesses is what the profile
 * says, and an access costs one random number.
 */
#ifndef SONDE_DEVICE_SIM_MEMORY_NOISE_H
#define SONDE_DEVICE_SIM_MEMORY_NOISE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "device/sim/profile/profile.h"

/* Small enough to stay in the host's L1 beside what a load needs. */
enum { NOISE_TABLE = 1024 };

struct noise {
    bool quiet; /* neither jitter nor spikes */
    struct rng rng;
    double spike_cycles;
    uint64_t spike_below; /* of 2^52 */
    float jitter[NOISE_TABLE];
};

void noise_init(struct noise *noise, double jitter_cycles, double spike_rate,
                double spike_cycles, uint64_t seed);
/* Cycles of a spike. */
double noise_spike(struct noise *noise);

/* A latency as it is seen: never below 1 unless it was. */
static inline double noise_add(struct noise *noise, double cycles)
{
    if (noise->quiet)
        return cycles;
    const uint64_t random = rng_next(&noise->rng);
    double seen = cycles + (double)noise->jitter[random % NOISE_TABLE];
    if (random >> 12 < noise->spike_below)
        seen += noise_spike(noise);
    const double least = cycles < 1 ? cycles : 1;
    return seen > least ? seen : least;
}

/* Another user: some accesses that reach what both share wait for its. */
struct neighbour {
    struct rng rng;
    double chance;        /* that the next access begins a burst */
    double cycles;        /* of a wait, on average */
    uint64_t burst, left; /* accesses of a burst, and of this one */
};

/* None where the profile has none. */
void neighbour_init(struct neighbour *neighbour,
                    const struct profile_neighbour *profile, uint64_t seed);
/* Cycles that the next access waits. */
double neighbour_wait(struct neighbour *neighbour);

#endif
