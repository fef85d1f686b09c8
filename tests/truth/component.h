/*
 * Which cache of a profile a component of findings is.  Components are told by
 * the loads that reach them: `texture` is the first cache of texture loads,
 * whatever the profile calls it and whoever shares it.
 */
#ifndef SONDE_TESTS_COMPONENT_H
#define SONDE_TESTS_COMPONENT_H

#include <stdbool.h>
#include <stddef.h>

#include "device/sim/profile/profile.h"

struct component {
    const char *name;
    enum profile_path_id path;
    size_t level; /* of the path */
    bool near;    /* an SM's: its copies are counted, its sharing is asked */
};

/* In reading order; a NULL name ends. */
extern const struct component component_table[];
/* NULL if there is none of that name. */
const struct component *component_find(const char *name);

/* How programs reach the cache: L1 by local loads where global ones are not
 * cached there, and local memory as global memory where nothing else is said of
 * it.  NULL where the GPU has no such path or cache; the cache that
 * ld.global.cg begins with is `l2` and nothing else. */
const struct profile_path *component_path(const struct profile *profile,
                                          const struct component *component);
/* The cache at its level; NULL where there is no path. */
const struct profile_cache *component_cache(const struct profile *profile,
                                            const struct component *component);

/* Cycles of a load that hits there, its translation in the first TLB; the
 * cache must exist. */
double component_latency(const struct profile *profile,
                         const struct component *component);

#endif
