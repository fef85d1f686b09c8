#include "twin/validate/code_model.h"

#include <stdlib.h>

#include "base/mem.h"

uint64_t code_shape_set(const struct code_shape *shape, uint64_t line)
{
    return (line >> shape->shift) % shape->sets;
}

bool code_shape_is_chance(const struct code_shape *shape)
{
    return cache_by_chance(shape->policy);
}

/* The masks of the index, which begins above what a shift leaves out. */
static uint64_t *index_of(const struct code_shape *c, size_t *count)
{
    uint64_t *const bits = xcalloc(64, sizeof *bits);
    *count = 0;
    for (uint64_t n = c->sets; n > 1; n /= 2, (*count)++)
        bits[*count] = c->line << c->shift << *count;
    return bits;
}

struct cache *code_shape_cache(const struct code_shape *c)
{
    struct error err = {0};
    struct cache_shape shape = *c->like;
    struct cache *cache = NULL;
    shape.line = shape.sector = c->line;
    shape.sets = c->sets;
    shape.set_ways = xcalloc(c->sets, sizeof *shape.set_ways);
    for (uint64_t i = 0; i < c->sets; i++)
        shape.set_ways[i] = (uint32_t)c->ways;
    shape.slices = (struct cache_slices){0};
    shape.index_bits = NULL;
    shape.index_bit_count = 0;
    if (c->shift > 0)
        shape.index_bits = index_of(c, &shape.index_bit_count);
    shape.policy = c->policy;
    if (cache_shape_check(&shape, &err) == 0)
        cache = cache_new(&shape, 1);
    free(shape.set_ways);
    free(shape.index_bits);
    return cache;
}

bool code_model_misses(struct cache *cache, const struct code_shape *shape,
                       uint64_t at, uint64_t bytes)
{
    bool missed = false;
    for (uint64_t line = at / shape->line; line * shape->line < at + bytes;
         line++)
        missed |= cache_access(cache, line * shape->line) != CACHE_HIT;
    return missed;
}
