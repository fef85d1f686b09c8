/*
 * Which calls of code miss a cache that was found, or another that may be meant
 * in its stead.
 */
#ifndef SONDE_TWIN_CODE_MODEL_H
#define SONDE_TWIN_CODE_MODEL_H

#include "model/cache.h"

struct code_shape {
    uint64_t line, sets, ways;
    unsigned shift; /* the index begins so many bits above those of a line */
    enum cache_policy policy;
    const struct cache_shape *like; /* the rest is as of this one */
};

/* NULL: there can be no such cache. */
struct cache *code_shape_cache(const struct code_shape *shape);
/* Whether it lacks some of so many bytes, which it has then. */
bool code_model_misses(struct cache *cache, const struct code_shape *shape,
                       uint64_t at, uint64_t bytes);
/* The set of a line by its number. */
uint64_t code_shape_set(const struct code_shape *shape, uint64_t line);
/* Whether chance chooses victims. */
bool code_shape_is_chance(const struct code_shape *shape);

#endif
