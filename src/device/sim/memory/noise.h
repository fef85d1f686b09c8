/*
 * What disturbs a memory access: jitter, normal around nothing, and now and
 * then a spike.  The jitter comes from a table whose entries add up to zero,
 * so that the mean of many accesses is what the profile says, and an access
 * costs one random number.
 */
#ifndef SONDE_DEVICE_SIM_MEMORY_NOISE_H
#define SONDE_DEVICE_SIM_MEMORY_NOISE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

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
/* A latency as it is seen: never below 1 unless it was. */
double noise_add(struct noise *noise, double cycles);

#endif
