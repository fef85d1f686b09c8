/*
 * GPUs that tests make up: a profile (docs/profiles.md) is the plain GPU, or a
 * shipped one, but for some wishes.
 *
 *   gpu_made("sms=3 caches/l2/policy=nru noise/jitter_cycles=%g", jitter)
 *
 * A wish is KEYS=VALUE, its keys with slashes between; objects on the way are
 * made.  A value is JSON with ' for the quotes, or a bare word; nothing takes
 * the key away.  A path may be told by what a hit costs in each of its caches,
 * in their order, and in memory:
 *
 *   paths/texture={'l1': 40, 'l2': [100, 110, 200], 'memory': 300}
 *
 * paths/global is both paths of global memory.  A cache that does not say so
 * has lines of 128 bytes in four sectors; it is LRU, as a TLB is.
 */
#ifndef SONDE_TESTS_GPU_MADE_H
#define SONDE_TESTS_GPU_MADE_H

#include <jansson.h>

/* Profiles as text, for testing_sim_of; the caller frees. */
char *gpu_made(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *gpu_changed(const char *shipped, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Step by step: an L2, all loads through it, nothing else. */
json_t *gpu_plain(void);
void gpu_wish(json_t *gpu, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Ends the GPU. */
char *gpu_text(json_t *gpu);

#endif
