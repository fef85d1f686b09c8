/*
 * Lines of which some push a target out of its set, whatever the index is: a
 * pool, and the set that group testing leaves of it
 * (analysis/structure/conflict_set.h).
 */
#ifndef SONDE_STUDY_CACHE_POOL_H
#define SONDE_STUDY_CACHE_POOL_H

#include "analysis/structure/conflict_set.h"
#include "study/cache/geometry.h"

enum {
    POOL_COUNT_MOST = 1024, /* lines that are tried at a step, of one that
                               lasts */
    POOL_FEW_OTHERS = 4,    /* sets that are asked for beside line 0's */
    POOL_NEAR = 64 * 1024   /* bytes that hold no more pages than a TLB does */
};

/* Lines of which some push the target out: `step` apart, or in short runs that
 * are strewn, each in a slot of its own but for the first, which is the
 * target's. */
struct pool {
    struct eviction *eviction;
    uint64_t target, step;
    uint64_t run;    /* lines of a run; 0: they are not strewn */
    uint64_t aside;  /* lines farther each, but for the target */
    uint64_t within; /* bytes in which they lie; 0: wherever they may */
    uint32_t *slot;
    size_t slots;
};

/* A pool, how many of its lines push the target out, and lines of the cache. */
struct pool_found {
    struct pool pool;
    size_t lines;
    uint64_t held;
};

/* Whether the kept lines of the pool, and so many of its first ones, push the
 * target out; for conflict_set. */
bool pool_crowds(void *pool, const size_t *kept, size_t count, size_t prefix);
struct conflict_test pool_test(struct pool *pool);

/* How many lines of the pool may be loaded beside any target, of a cache that
 * holds so many: each set surely has too many of them; 0: not even two. */
size_t pool_room(const struct pool *pool, uint64_t held);
/* Slots in another order for each `take`. */
void pool_strew(struct pool *pool, unsigned take);
/* Bytes over which lines are strewn. */
uint64_t pool_region(const struct pool *pool);

/* How many lines of the best pool push its target out; 0: of none do. */
size_t pool_find(struct pool *best, uint64_t held);
/* The same by a multiple of the number of sets; 0: no step stays in one. */
size_t pool_scan_steps(struct pool *pool, const struct geometry_lines *lines);
/* The target and a minimal set of lines that push it out, and last those of the
 * set that empty what lies in front; `count` 0: none. */
struct script_lines pool_find_set(struct pool *pool, size_t lines);

/* The lines of a set that are loaded on purpose alone: not those that empty
 * what lies in front. */
size_t pool_own_lines(const struct eviction *eviction,
                      const struct script_lines *set);
/* All but the last of a set, which one more fills. */
struct script_lines pool_group(const struct script_lines *set);
/* Whether they are such a set indeed: without any of them the others stay. */
bool pool_is_minimal(struct eviction *eviction, const struct script_lines *set);
/* Whether lines elsewhere, so many, are in sets of as many ways. */
bool pool_sets_are_equal(const struct pool_found *found, size_t ways,
                         uint64_t others);

#endif
