/*
 * Address bits that choose a slice and those that choose a set within it cannot
 * be told apart by who pushes out whom: what counts is the space that both
 * span.  Nor can the side of a cache in two parts, which some count among the
 * bits of the set and others do not.
 */
#include "truth/index.h"

#include <stdio.h>
#include <string.h>

#include "truth/component.h"

/* Of addresses that are mapped at will, beyond what memory needs. */
enum { BITS_MOST = 64, VIRTUAL_BITS = 47 };

/* Masks of address bits; what they span counts. */
struct space {
    uint64_t mask[4 * BITS_MOST];
    size_t count;
};

size_t index_canonical(uint64_t *masks, size_t count)
{
    size_t rank = 0;
    for (unsigned bit = 0; bit < 64; bit++) {
        const uint64_t mask = (uint64_t)1 << bit;
        size_t pivot = rank;
        while (pivot < count && (masks[pivot] & mask) == 0)
            pivot++;
        if (pivot == count)
            continue;
        const uint64_t row = masks[pivot];
        masks[pivot] = masks[rank];
        masks[rank] = row;
        for (size_t i = 0; i < count; i++)
            if (i != rank && (masks[i] & mask) != 0)
                masks[i] ^= row;
        rank++;
    }
    return rank;
}

/* ---- what was found ---- */

static bool add_bit(const json_t *bit, uint64_t *mask)
{
    if (!json_is_integer(bit) || json_integer_value(bit) < 0 ||
        json_integer_value(bit) > 63)
        return false;
    *mask ^= (uint64_t)1 << json_integer_value(bit);
    return true;
}

/* A number, or a list of numbers that are XORed. */
static bool read_mask(const json_t *entry, uint64_t *mask)
{
    *mask = 0;
    if (!json_is_array(entry))
        return add_bit(entry, mask);
    for (size_t i = 0; i < json_array_size(entry); i++)
        if (!add_bit(json_array_get(entry, i), mask))
            return false;
    return true;
}

/* Adds to the space; false if it is no list of index bits, or one of them
 * follows from others. */
static bool add_found(struct space *s, const json_t *list)
{
    const size_t count = json_array_size(list), before = s->count;
    if (!json_is_array(list) || count > BITS_MOST)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!read_mask(json_array_get(list, i), &s->mask[s->count++]))
            return false;
    struct space own = {.count = count};
    memcpy(own.mask, s->mask + before, count * sizeof *own.mask);
    return index_canonical(own.mask, count) == count;
}

/* ---- what is true ---- */

static bool is_even(const struct cache_shape *shape)
{
    for (size_t set = 1; set < shape->sets; set++)
        if (shape->set_ways[set] != shape->set_ways[0])
            return false;
    return true;
}

static uint64_t odd_part(uint64_t n)
{
    return n >> __builtin_ctzll(n);
}

static bool has_parts(const struct profile_cache *cache)
{
    return cache->partitions.bits != 0;
}

/* Of a slice, or of what has none; of a half, where there are two. */
static uint64_t sets_of_slice(const struct profile_cache *cache)
{
    return cache_slice_sets(&cache->shape) / (has_parts(cache) ? 2 : 1);
}

/* The index without masks: bits above the line; the lowest one that tells the
 * side follows from the others where a half counts its own lines. */
static void add_plain(struct space *s, const struct profile_cache *cache)
{
    const uint64_t side = cache->partitions.bits;
    uint64_t bit = cache->shape.line;
    for (uint64_t sets = sets_of_slice(cache); sets % 2 == 0; sets /= 2) {
        if (cache->partitions.packed && bit == (side & -side))
            bit <<= 1;
        s->mask[s->count++] = bit;
        bit <<= 1;
    }
}

static void add_masks(struct space *s, const uint64_t *masks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        s->mask[s->count++] = masks[i];
}

/* What chooses among slices of both halves, where atomics show them. */
static struct space slice_space(const struct profile_cache *cache)
{
    const struct cache_slices *const slices = &cache->shape.slices;
    struct space s = {.count = 0};
    add_masks(&s, slices->bits, slices->bit_count);
    for (uint64_t m = slices->modulo, i = 0; m > 0 && m % 2 == 0; m /= 2)
        s.mask[s.count++] = (uint64_t)1 << (slices->from_bit + i++);
    return s;
}

static struct space true_space(const struct profile_cache *cache)
{
    const struct cache_shape *const shape = &cache->shape;
    struct space s = {.count = 0};
    if (shape->index_bits != NULL)
        add_masks(&s, shape->index_bits, shape->index_bit_count);
    else
        add_plain(&s, cache);
    const struct space slices = slice_space(cache);
    add_masks(&s, slices.mask, slices.count);
    return s;
}

/* What no two addresses differ in cannot be known. */
static uint64_t bits_that_differ(const struct profile *p,
                                 const struct profile_cache *cache)
{
    const bool mapped =
        (cache->virtual || cache->page > 0) && p->mapping_bytes > 0;
    uint64_t bits = 1;
    while (bits < p->memory_bytes)
        bits <<= 1;
    return mapped ? ((uint64_t)1 << VIRTUAL_BITS) - 1 : bits - 1;
}

/* A study says below which bit it tried addresses, where that is not all. */
static uint64_t bits_tried(const json_t *finding)
{
    const json_t *const below =
        json_object_get(json_object_get(finding, "protocol"), "bits_below");
    const json_int_t bit = json_integer_value(below);
    return json_is_number(below) && bit > 0 && bit < 64
               ? ((uint64_t)1 << bit) - 1
               : UINT64_MAX;
}

static size_t reduce(struct space *s, uint64_t seen, uint64_t side)
{
    for (size_t i = 0; i < s->count; i++)
        s->mask[i] &= seen;
    s->mask[s->count++] = side & seen;
    return index_canonical(s->mask, s->count);
}

static bool is_same_space(struct space a, struct space b, uint64_t seen,
                          uint64_t side)
{
    const size_t rank = reduce(&a, seen, side);
    return rank == reduce(&b, seen, side) &&
           memcmp(a.mask, b.mask, rank * sizeof *a.mask) == 0;
}

/* ---- claims ---- */

/* Comparisons see values alone; what they need beside comes along here. */
static struct {
    const struct profile_cache *cache;
    const json_t *slice_bits;
    uint64_t seen, slices_seen;
    bool bound; /* there may be more than what was found */
} asked;

static bool same_set_bits(const json_t *expected, const json_t *found)
{
    (void)expected;
    struct space space = {.count = 0};
    if (!add_found(&space, found))
        return false;
    if (asked.slice_bits != NULL && !add_found(&space, asked.slice_bits))
        return false;
    const struct space all = true_space(asked.cache);
    if (asked.bound)
        add_masks(&space, all.mask, all.count);
    return is_same_space(all, space, asked.seen, asked.cache->partitions.bits);
}

static bool same_shown_bits(const json_t *expected, const json_t *found)
{
    struct space space = {.count = 0};
    (void)expected;
    return add_found(&space, found) &&
           is_same_space(slice_space(asked.cache), space, asked.slices_seen,
                         asked.cache->partitions.bits);
}

/* They are among what chooses the set. */
static bool same_slice_bits(const json_t *expected, const json_t *found)
{
    (void)expected;
    struct space all = true_space(asked.cache);
    const struct space before = all;
    return add_found(&all, found) &&
           is_same_space(before, all, asked.seen, asked.cache->partitions.bits);
}

/* Of sets by a modulus one may say that slices are chosen by it. */
static uint64_t true_modulo(const struct profile_cache *cache)
{
    const struct cache_slices *const slices = &cache->shape.slices;
    return odd_part(slices->modulo > 0 ? slices->modulo : sets_of_slice(cache));
}

static bool same_modulo(const json_t *expected, const json_t *found)
{
    (void)expected;
    const json_int_t is = json_integer_value(found);
    const uint64_t odd = is > 0 ? odd_part((uint64_t)is) : 0;
    return odd == true_modulo(asked.cache) ||
           (odd == 1 && asked.cache->shape.slices.modulo == 0);
}

static bool same_slices(const json_t *expected, const json_t *found)
{
    const json_int_t is = json_integer_value(found);
    return is > 0 && asked.cache->shape.sets % (uint64_t)is == 0 &&
           same_modulo(expected, found);
}

static json_t *list_of_bits(uint64_t mask)
{
    json_t *const list = json_array();
    for (int bit = 0; bit < 64; bit++)
        if ((mask >> bit & 1) != 0)
            json_array_append_new(list, json_integer(bit));
    return list;
}

/* To be shown: in the form that findings have. */
static json_t *list_of_space(struct space s)
{
    json_t *const list = json_array();
    const size_t rank = index_canonical(s.mask, s.count);
    for (size_t i = 0; i < rank; i++)
        json_array_append_new(list, list_of_bits(s.mask[i]));
    return list;
}

/* Sets that bits alone choose are a power of two; of others their even part. */
static enum need need_of_bits(const struct profile_cache *cache, enum need need)
{
    const struct cache_shape *const shape = &cache->shape;
    if (shape->sets < 2 || !is_even(shape))
        return NEVER;
    if (shape->slices.modulo == 0 && odd_part(shape->sets) > 1)
        return MAY;
    if (need == MUST && (true_modulo(cache) > 1 || cache->page > 0))
        return HOPED;
    return need;
}

/* As far as sets tell. */
static void claim_slices(struct check *c, const char *component,
                         const struct profile_cache *cache, enum need may)
{
    const struct cache_slices *const slices = &cache->shape.slices;
    claim(c, component, "slice_bits", may, json_array(), same_slice_bits);
    claim(c, component, "slices", may,
          json_integer((json_int_t)(slices->modulo << slices->bit_count)),
          same_slices);
}

/* Atomics wait for those to the same slice, if there is an SM that sends some
 * while another waits. */
static void claim_shown(struct check *c, const char *component,
                        const struct profile_cache *cache)
{
    const struct cache_slices *const slices = &cache->shape.slices;
    const uint64_t each =
        slices->modulo > 0 ? slices->modulo << slices->bit_count : 1;
    const uint64_t all = each * (has_parts(cache) ? 2 : 1);
    const enum need need = each > 1 && c->seen->profile->sms > 1 ? HOPED : MAY;
    char id[64];
    snprintf(id, sizeof id, "%s.slice_bits", component);
    asked.slices_seen = bits_that_differ(c->seen->profile, cache) &
                        bits_tried(json_object_get(c->seen->findings, id));
    claim(c, component, "slice_bits", all % 2 == 1 ? NEVER : need,
          list_of_space(slice_space(cache)), same_shown_bits);
    claim_whole(c, component, "slices", need, all);
}

void index_claim(struct check *c, const char *component,
                 const struct profile_cache *cache, enum need need)
{
    const struct cache_slices *const slices = &cache->shape.slices;
    const enum need own = need_of_bits(cache, need);
    char id[64];
    snprintf(id, sizeof id, "%s.slice_bits", component);
    asked.cache = cache;
    /* Those that atomics show were tried over bits of their own. */
    asked.slice_bits =
        cache->atomic_cycles > 0 ? NULL : claim_found(c->seen, id);
    snprintf(id, sizeof id, "%s.set_bits", component);
    const json_t *const bits = json_object_get(c->seen->findings, id);
    asked.seen = bits_that_differ(c->seen->profile, cache) & bits_tried(bits);
    const char *const status =
        json_string_value(json_object_get(bits, "status"));
    asked.bound = status != NULL && strcmp(status, "at_least") == 0;
    claim(c, component, "set_bits", own, list_of_space(true_space(cache)),
          same_set_bits);
    const enum need may = own == NEVER ? NEVER : MAY;
    const bool divided = slices->modulo > 0 && odd_part(slices->modulo) > 1;
    claim(c, component, "slice_modulo", divided && need == MUST ? HOPED : may,
          json_integer((json_int_t)true_modulo(cache)), same_modulo);
    if (cache->atomic_cycles > 0)
        claim_shown(c, component, cache);
    else
        claim_slices(c, component, cache, may);
}

void index_claim_nothing(struct check *c, const char *component)
{
    static const char *const all[] = {"set_bits", "slices", "slice_bits",
                                      "slice_modulo", NULL};
    claim_nothing(c, component, all);
}
