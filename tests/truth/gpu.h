/*
 * GPUs that nobody built: plausible profiles made from a seed, so that the
 * studies meet structures that no table foresaw.
 */
#ifndef SONDE_TESTS_GPU_H
#define SONDE_TESTS_GPU_H

#include <stdint.h>

/* A profile as JSON; the caller frees. */
char *gpu_random(uint64_t seed);

#endif
