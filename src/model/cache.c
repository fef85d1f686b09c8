/*
 * The cache model.  It lies under every simulated load, so it is flat and
 * allocates nothing per access: all ways of all sets lie one after the other
 * ("slots"), and a set is a run of them.  The model of a large cache does not
 * fit the host's cache, and an access costs what it waits for the host's
 * memory, so what is known of a slot is packed tight.
 *
 * What a policy remembers:
 *   lru, fifo         the order of the set's filled slots, newest first; the
 *                     victim is the last.  Up to 16 ways are nibbles of one
 *                     word in the set; more are a ring of slots.  No search,
 *                     however many ways.
 *   lru_midpoint      a stamp of each slot, least of what goes next
 *   plru              a byte for each node of the tree, 1: victim to the right
 *   nru               a byte a slot, and how many of a set are 1
 *   rrip              the age of each slot
 *   random, weighted  nothing
 *
 * Sets of many ways (TLBs, texture caches) are searched through a hash of
 * lines; the others are walked.  A line that was the last one used is found
 * before either, as is the rule for pages.
 */
#include "model/cache.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"

enum {
    SECTORS_MAX = 64,      /* bits of a word */
    SECTORS_FEW = 8,       /* bits of a byte */
    SLOTS_MAX = 1 << 24,   /* 2 GiB of 128-byte lines */
    WALK_MAX = 32,         /* ways beyond which hashing is quicker */
    ORDER_MAX = 16,        /* ways whose order is nibbles of a word */
    SLOTS_LARGE = 1 << 14, /* more than the host's nearest caches hold */
    AHEAD = 4,             /* accesses, of about 50 ns each */
    HOST_LINE = 64,        /* bytes that the host's memory brings at a time */
    INDEX_BYTES = 8,       /* of an address */
};
/* Of a function that is seldom needed: what calls it often keeps its registers
 * for itself. */
#define SELDOM __attribute__((noinline))
static const uint32_t NO_SLOT = UINT32_MAX;

enum index_kind {
    INDEX_MASK,
    INDEX_MODULO,
    INDEX_BITS,
    INDEX_DEALT,
    INDEX_SLICES
};

/* Neighbours in the ring of a set's filled slots. */
struct link {
    uint32_t newer, older;
};

/* Side by side, so that an access to a large cache waits for the host's memory
 * once, and not for each of them. */
struct set {
    uint32_t first, ways; /* its slots */
    uint32_t used;        /* filled slots */
    uint32_t filled;      /* leading ways known to be filled */
    uint32_t newest;      /* of the ring, if it has filled slots */
    uint32_t marked;      /* nru: marks; lru_midpoint: hits so far */
    uint64_t order;       /* ways as nibbles, the newest lowest */
};

/* What a set has lost: its line + 1, or 0; and the sectors of it that were
 * there. */
struct victim {
    uint64_t tag, sectors;
};

struct cache {
    struct cache_shape shape;
    struct rng rng;
    int line_shift, sector_shift; /* -1: not a power of two */
    uint64_t sector_mask;         /* sectors of a line - 1 */
    enum index_kind index;
    /* INDEX_BITS: the set is linear in the address's bits, so it is the XOR
     * of what each of its bytes contributes.  INDEX_SLICES: so are the set in a
     * slice, if it has index bits, and above them the bits of the slices. */
    uint32_t (*contribution)[256];
    uint32_t *dealt;     /* INDEX_DEALT: set of each entry */
    uint32_t slice_sets; /* of a slice */
    size_t slots;        /* ways of all sets */
    struct set *sets;

    uint64_t *tags; /* of each slot: its line + 1, or 0: it is empty */
    /* The sectors of each line that are there, as bits.  Lines of up to 8
     * sectors have `few`, others `many`. */
    uint8_t *few;
    uint64_t *many;
    uint32_t even_ways; /* of every set; 0: they differ */
    uint32_t last;      /* slot of the last access */
    uint32_t last_way;  /* where the last one that went by sets ended */
    uint32_t last_set;
    bool large;

    bool ordered;      /* lru, fifo */
    struct link *ring; /* NULL: the order is in the sets */
    uint8_t *marks;    /* plru: nodes; nru, rrip: slots */
    /* lru_midpoint: in the upper half the set's hits, of a line that comes in
     * `behind` fewer; in the lower how many uses of the cache there were. */
    uint64_t *stamps;
    uint32_t uses;
    uint8_t *keeps; /* of each slot, enum cache_keep; NULL: all alike */
    double weight_sum;
    struct victim *victims;       /* the newest first; NULL: no victim buffer */
    const struct set *victims_of; /* whose they are, of those of one set */

    uint32_t *bucket; /* of each hash: slot + 1, or 0; NULL: no hashing */
    uint32_t *chain;  /* of each slot: the next of its bucket */
    int bucket_shift;
};

static const char *const policy_names[] = {
#define X(id, name) name,
    CACHE_POLICIES(X)
#undef X
};

const char *cache_policy_name(enum cache_policy policy)
{
    return policy_names[policy];
}

enum cache_policy cache_policy_find(const char *name)
{
    size_t policy = 0;
    while (policy < POLICY_COUNT && strcmp(policy_names[policy], name) != 0)
        policy++;
    return (enum cache_policy)policy;
}

bool cache_by_chance(enum cache_policy policy)
{
    return policy == POLICY_RANDOM || policy == POLICY_WEIGHTED;
}

bool cache_lasts(enum cache_policy policy)
{
    return policy != POLICY_LRU && !cache_by_chance(policy);
}

bool cache_lasts_misses(enum cache_policy policy)
{
    return policy == POLICY_NRU || policy == POLICY_RRIP;
}

bool cache_counts_uses(enum cache_policy policy)
{
    return policy == POLICY_RRIP || policy == POLICY_LRU_MIDPOINT;
}

/* ---- shapes ---- */

static uint64_t shape_slots(const struct cache_shape *shape)
{
    uint64_t slots = 0;
    for (size_t set = 0; set < shape->sets; set++)
        slots += shape->set_ways[set];
    return slots;
}

size_t cache_slice_sets(const struct cache_shape *shape)
{
    const struct cache_slices *const s = &shape->slices;
    return s->modulo == 0 ? shape->sets
                          : shape->sets / (size_t)(s->modulo << s->bit_count);
}

uint64_t cache_shape_bytes(const struct cache_shape *shape)
{
    return shape->line * shape_slots(shape);
}

bool cache_shape_even(const struct cache_shape *shape)
{
    for (size_t set = 1; set < shape->sets; set++)
        if (shape->set_ways[set] != shape->set_ways[0])
            return false;
    return true;
}

bool cache_shape_large(const struct cache_shape *shape)
{
    return shape_slots(shape) >= SLOTS_LARGE;
}

static int check_line(const struct cache_shape *shape, struct error *err)
{
    const uint64_t line = shape->line, sector = shape->sector;
    if (line == 0)
        return error_set(err, ERR_FILE, "a line must have at least one byte");
    if (sector == 0 || line % sector != 0)
        return error_set(err, ERR_FILE,
                         "sectors of %" PRIu64 " bytes do not divide a line "
                         "of %" PRIu64,
                         sector, line);
    if (line / sector > SECTORS_MAX)
        return error_set(err, ERR_FILE,
                         "a line of %" PRIu64 " sectors has more than %d",
                         line / sector, SECTORS_MAX);
    return 0;
}

static int check_ways(const struct cache_shape *shape, struct error *err)
{
    if (shape->sets == 0)
        return error_set(err, ERR_FILE, "there must be at least one set");
    if (shape->sets > SLOTS_MAX)
        return error_set(err, ERR_FILE,
                         "%zu sets are more than the %d that "
                         "can be simulated",
                         shape->sets, SLOTS_MAX);
    for (size_t set = 0; set < shape->sets; set++)
        if (shape->set_ways[set] == 0)
            return error_set(err, ERR_FILE, "set %zu has no ways", set);
    const uint64_t slots = shape_slots(shape);
    if (slots > SLOTS_MAX || shape->line > UINT64_MAX / slots)
        return error_set(err, ERR_FILE,
                         "%" PRIu64 " lines of %" PRIu64 " bytes are more "
                         "than can be simulated",
                         slots, shape->line);
    return 0;
}

/* What chooses sets, or slices, by address bits. */
static int check_masks(const struct cache_shape *shape, const char *what,
                       const uint64_t *masks, size_t count, struct error *err)
{
    for (size_t bit = 0; bit < count; bit++) {
        if (masks[bit] == 0)
            return error_set(err, ERR_FILE, "%s bit %zu has no address bit",
                             what, bit);
        if (!u64_is_power(shape->line) || (masks[bit] & (shape->line - 1)) != 0)
            return error_set(err, ERR_FILE,
                             "%s bit %zu lies within the line of %" PRIu64
                             " bytes",
                             what, bit, shape->line);
    }
    return 0;
}

static int check_index(const struct cache_shape *shape, struct error *err)
{
    const size_t bits = shape->index_bit_count, sets = cache_slice_sets(shape);
    if (shape->index_bits == NULL)
        return 0;
    if (bits >= 32 || sets != (size_t)1 << bits)
        return error_set(err, ERR_FILE, "%zu index bits do not make %zu sets%s",
                         bits, sets,
                         shape->slices.modulo > 0 ? " of a slice" : "");
    if (!cache_shape_even(shape))
        return error_set(err, ERR_FILE,
                         "sets that index bits choose must be equally large");
    return check_masks(shape, "index", shape->index_bits, bits, err);
}

static int check_slices(const struct cache_shape *shape, struct error *err)
{
    const struct cache_slices *const s = &shape->slices;
    if (s->modulo == 0)
        return 0;
    if (s->modulo > SLOTS_MAX || s->bit_count >= 32 ||
        shape->sets % (size_t)(s->modulo << s->bit_count) != 0)
        return error_set(err, ERR_FILE,
                         "%" PRIu64 " × 2^%zu slices cannot share %zu sets",
                         s->modulo, s->bit_count, shape->sets);
    if (!cache_shape_even(shape))
        return error_set(err, ERR_FILE, "sets in slices must be equally large");
    if (s->from_bit > 63 || (uint64_t)1 << s->from_bit < shape->line ||
        !u64_is_power(shape->line))
        return error_set(err, ERR_FILE,
                         "slices by bit %u cut through lines of %" PRIu64
                         " bytes",
                         s->from_bit, shape->line);
    return check_masks(shape, "slice", s->bits, s->bit_count, err);
}

static int check_weights(const struct cache_shape *shape, struct error *err)
{
    if (shape->weights == NULL || !cache_shape_even(shape))
        return error_set(err, ERR_FILE,
                         "the policy weighted needs one weight for each way, "
                         "and sets of equally many ways");
    double sum = 0;
    for (uint32_t way = 0; way < shape->set_ways[0]; way++) {
        if (!isfinite(shape->weights[way]) || shape->weights[way] < 0)
            return error_set(err, ERR_FILE,
                             "the weight of way %" PRIu32 " is negative", way);
        sum += shape->weights[way];
    }
    if (!isfinite(sum) || sum <= 0)
        return error_set(err, ERR_FILE, "no way has a weight above zero");
    return 0;
}

static int check_spare(const struct cache_shape *shape, struct error *err)
{
    if (shape->spare > CACHE_SPARE_MOST)
        return error_set(err, ERR_FILE,
                         "a victim buffer of %u entries has more than %d",
                         shape->spare, CACHE_SPARE_MOST);
    return 0;
}

static int check_ages(const struct cache_rrip *ages, struct error *err)
{
    if (ages->most == 0 || ages->most > UINT8_MAX)
        return error_set(err, ERR_FILE,
                         "the policy rrip needs a greatest age of 1 to %d, "
                         "not %u",
                         UINT8_MAX, ages->most);
    if (ages->insert > ages->most || ages->hit > ages->most)
        return error_set(err, ERR_FILE,
                         "lines of the policy rrip come in and are used again "
                         "with ages of at most %u",
                         ages->most);
    return 0;
}

static int check_policy(const struct cache_shape *shape, struct error *err)
{
    if ((unsigned)shape->policy >= POLICY_COUNT)
        return error_set(err, ERR_FILE, "there is no such policy");
    if (shape->policy == POLICY_WEIGHTED)
        return check_weights(shape, err);
    if (shape->policy == POLICY_RRIP)
        return check_ages(&shape->rrip, err);
    if (shape->policy != POLICY_PLRU)
        return 0;
    for (size_t set = 0; set < shape->sets; set++)
        if (!u64_is_power(shape->set_ways[set]))
            return error_set(err, ERR_FILE,
                             "the policy plru needs a power of two of ways, "
                             "not %" PRIu32,
                             shape->set_ways[set]);
    return 0;
}

int cache_shape_check(const struct cache_shape *shape, struct error *err)
{
    int status = check_line(shape, err);
    if (status == 0)
        status = check_ways(shape, err);
    if (status == 0)
        status = check_slices(shape, err);
    if (status == 0)
        status = check_index(shape, err);
    if (status == 0)
        status = check_policy(shape, err);
    if (status == 0)
        status = check_spare(shape, err);
    return status;
}

static void *copy_array(const void *from, size_t count, size_t size)
{
    if (from == NULL)
        return NULL;
    void *const to = xcalloc(count, size);
    memcpy(to, from, count * size);
    return to;
}

struct cache_shape cache_shape_copy(const struct cache_shape *shape)
{
    struct cache_shape copy = *shape;
    copy.set_ways =
        copy_array(shape->set_ways, shape->sets, sizeof *shape->set_ways);
    copy.index_bits = copy_array(shape->index_bits, shape->index_bit_count,
                                 sizeof *shape->index_bits);
    copy.slices.bits = copy_array(shape->slices.bits, shape->slices.bit_count,
                                  sizeof *shape->slices.bits);
    copy.weights = NULL;
    if (shape->policy == POLICY_WEIGHTED)
        copy.weights = copy_array(shape->weights, shape->set_ways[0],
                                  sizeof *shape->weights);
    return copy;
}

void cache_shape_free(struct cache_shape *shape)
{
    free(shape->set_ways);
    free(shape->index_bits);
    free(shape->slices.bits);
    free(shape->weights);
    *shape = (struct cache_shape){0};
}

/* ---- making one ---- */

/* log2, or -1. */
static int shift_of(uint64_t x)
{
    return u64_is_power(x) ? __builtin_ctzll(x) : -1;
}

/* Deals the entries to the sets in rounds that skip full sets. */
static uint32_t *deal(const struct cache_shape *shape, size_t slots)
{
    uint32_t *const dealt = xcalloc(slots, sizeof *dealt);
    size_t entry = 0;
    for (uint32_t round = 0; entry < slots; round++)
        for (size_t set = 0; set < shape->sets; set++)
            if (round < shape->set_ways[set])
                dealt[entry++] = (uint32_t)set;
    return dealt;
}

/* Of these masks the ones that have the address bit. */
static uint32_t having_bit(const uint64_t *masks, size_t count, unsigned bit)
{
    uint32_t having = 0;
    for (size_t i = 0; i < count; i++)
        having |= (uint32_t)(masks[i] >> bit & 1) << i;
    return having;
}

/* What an address bit contributes to the linear part of the index. */
static uint32_t contribution_of(const struct cache_shape *shape, unsigned bit)
{
    const struct cache_slices *const slices = &shape->slices;
    const uint32_t above = having_bit(slices->bits, slices->bit_count, bit);
    return above << shape->index_bit_count |
           having_bit(shape->index_bits, shape->index_bit_count, bit);
}

static void tabulate_index(struct cache *c)
{
    c->contribution = xcalloc(INDEX_BYTES, sizeof *c->contribution);
    for (unsigned bit = 0; bit < 8 * INDEX_BYTES; bit++) {
        uint32_t *const of_byte = c->contribution[bit / 8];
        const uint32_t own = contribution_of(&c->shape, bit);
        for (unsigned below = 0; below < 1u << bit % 8; below++)
            of_byte[1u << bit % 8 | below] = own ^ of_byte[below];
    }
}

static void choose_index(struct cache *c)
{
    c->slice_sets = (uint32_t)cache_slice_sets(&c->shape);
    if (c->shape.index_bits != NULL || c->shape.slices.modulo > 0) {
        c->index = c->shape.slices.modulo > 0 ? INDEX_SLICES : INDEX_BITS;
        tabulate_index(c);
    } else if (!cache_shape_even(&c->shape)) {
        c->index = INDEX_DEALT;
        c->dealt = deal(&c->shape, c->slots);
    } else {
        c->index = u64_is_power(c->shape.sets) ? INDEX_MASK : INDEX_MODULO;
    }
}

/* Numbers the slots; returns the ways of the largest set. */
static uint32_t lay_out_sets(struct cache *c)
{
    const size_t sets = c->shape.sets;
    uint32_t most = 0, first = 0;
    c->sets = xcalloc(sets, sizeof *c->sets);
    for (size_t i = 0; i < sets; i++) {
        const uint32_t ways = c->shape.set_ways[i];
        c->sets[i] = (struct set){.first = first, .ways = ways};
        first += ways;
        most = ways > most ? ways : most;
    }
    return most;
}

/* At least twice as many buckets as slots, so that chains stay short. */
static void allocate_hash(struct cache *c)
{
    int bits = 1;
    while ((size_t)1 << bits < 2 * c->slots)
        bits++;
    c->bucket_shift = 64 - bits;
    c->bucket = xcalloc((size_t)1 << bits, sizeof *c->bucket);
    c->chain = xcalloc(c->slots, sizeof *c->chain);
}

static void allocate_policy(struct cache *c, uint32_t most_ways)
{
    switch (c->shape.policy) {
    case POLICY_LRU:
    case POLICY_FIFO:
        c->ordered = true;
        if (most_ways > ORDER_MAX)
            c->ring = xcalloc(c->slots, sizeof *c->ring);
        break;
    case POLICY_LRU_MIDPOINT:
        c->stamps = xcalloc(c->slots, sizeof *c->stamps);
        break;
    case POLICY_NRU:
    case POLICY_PLRU:
    case POLICY_RRIP:
        c->marks = xcalloc(c->slots, 1);
        break;
    case POLICY_WEIGHTED:
        for (uint32_t way = 0; way < c->shape.set_ways[0]; way++)
            c->weight_sum += c->shape.weights[way];
        break;
    case POLICY_RANDOM:
    case POLICY_COUNT:
        break;
    }
}

static void allocate_slots(struct cache *c)
{
    c->tags = xcalloc(c->slots, sizeof *c->tags);
    if (c->shape.line / c->shape.sector <= SECTORS_FEW)
        c->few = xcalloc(c->slots, sizeof *c->few);
    else
        c->many = xcalloc(c->slots, sizeof *c->many);
}

struct cache *cache_new(const struct cache_shape *shape, uint64_t seed)
{
    struct cache *const c = xcalloc(1, sizeof *c);
    c->shape = cache_shape_copy(shape);
    rng_seed(&c->rng, seed);
    c->line_shift = shift_of(shape->line);
    c->sector_shift = shift_of(shape->sector);
    c->sector_mask = shape->line / shape->sector - 1;
    c->slots = (size_t)shape_slots(shape);
    choose_index(c);
    const uint32_t most_ways = lay_out_sets(c);
    c->even_ways = cache_shape_even(shape) ? most_ways : 0;
    c->large = cache_shape_large(shape);
    allocate_slots(c);
    allocate_policy(c, most_ways);
    if (shape->evict_first || shape->evict_last)
        c->keeps = xcalloc(c->slots, 1);
    if (shape->spare > 0)
        c->victims = xcalloc(shape->spare, sizeof *c->victims);
    if (most_ways > WALK_MAX)
        allocate_hash(c);
    return c;
}

void cache_free(struct cache *cache)
{
    if (cache == NULL)
        return;
    cache_shape_free(&cache->shape);
    free(cache->contribution);
    free(cache->dealt);
    free(cache->sets);
    free(cache->tags);
    free(cache->few);
    free(cache->many);
    free(cache->ring);
    free(cache->marks);
    free(cache->stamps);
    free(cache->keeps);
    free(cache->victims);
    free(cache->bucket);
    free(cache->chain);
    free(cache);
}

/* ---- where an address belongs ---- */

static inline uint64_t line_of(const struct cache *c, uint64_t address)
{
    return c->line_shift >= 0 ? address >> c->line_shift
                              : address / c->shape.line;
}

static inline uint64_t sector_of(const struct cache *c, uint64_t address)
{
    if (c->line_shift < 0)
        return (uint64_t)1 << address % c->shape.line / c->shape.sector;
    /* A sector that divides a power of two is one. */
    return (uint64_t)1 << (address >> c->sector_shift & c->sector_mask);
}

/* Division of 32 bits is much quicker than of 64 on many processors, and
 * enough for the lines of all memories up to 512 GiB. */
static inline uint64_t modulo(uint64_t x, uint64_t by)
{
    if ((x | by) >> 32 == 0)
        return (uint32_t)x % (uint32_t)by;
    return x % by;
}

static inline uint32_t set_by_bits(const struct cache *c, uint64_t address)
{
    uint32_t set = 0;
    for (unsigned byte = 0; address != 0; byte++, address >>= 8)
        set ^= c->contribution[byte][address & 255];
    return set;
}

static uint32_t set_in_slice(const struct cache *c, uint64_t line)
{
    const struct cache_slices *const s = &c->shape.slices;
    const size_t own = c->shape.index_bit_count;
    const uint64_t address = line << c->line_shift;
    const uint32_t bits = set_by_bits(c, address);
    const uint64_t slice =
        modulo(address >> s->from_bit, s->modulo) + s->modulo * (bits >> own);
    const uint64_t set = c->shape.index_bits != NULL
                             ? bits & (c->slice_sets - 1)
                             : modulo(line, c->slice_sets);
    return (uint32_t)(slice * c->slice_sets + set);
}

/* … where there are no slices. */
static inline uint32_t set_at_once(const struct cache *c, uint64_t line)
{
    if (c->index == INDEX_MASK) /* the commonest */
        return (uint32_t)(line & (c->shape.sets - 1));
    if (c->index == INDEX_BITS)
        return set_by_bits(c, line << c->line_shift);
    if (c->index == INDEX_MODULO)
        return (uint32_t)modulo(line, c->shape.sets);
    return c->dealt[modulo(line + c->shape.dealt_from, c->slots)];
}

static inline uint32_t set_of(const struct cache *c, uint64_t line)
{
    return c->index == INDEX_SLICES ? set_in_slice(c, line)
                                    : set_at_once(c, line);
}

size_t cache_set_of(const struct cache *cache, uint64_t address)
{
    return set_of(cache, line_of(cache, address));
}

/* ---- what is in a slot ---- */

static inline uint64_t sectors_in(const struct cache *c, uint32_t slot)
{
    return c->few != NULL ? c->few[slot] : c->many[slot];
}

static inline void set_sectors(struct cache *c, uint32_t slot, uint64_t sectors)
{
    if (c->few != NULL)
        c->few[slot] = (uint8_t)sectors;
    else
        c->many[slot] = sectors;
}

static inline bool slot_has(const struct cache *c, uint32_t slot, uint64_t line)
{
    return c->tags[slot] == line + 1;
}

static inline bool is_empty(const struct cache *c, uint32_t slot)
{
    return c->tags[slot] == 0;
}

static inline uint64_t line_in(const struct cache *c, uint32_t slot)
{
    return c->tags[slot] - 1;
}

/* ---- finding a line ---- */

static inline uint32_t *bucket_of(const struct cache *c, uint64_t line)
{
    /* Fibonacci hashing: 2^64 over the golden ratio. */
    return &c->bucket[line * 0x9e3779b97f4a7c15u >> c->bucket_shift];
}

static inline uint32_t find(const struct cache *c, const struct set *set,
                            uint64_t line)
{
    if (c->bucket != NULL) {
        uint32_t link = *bucket_of(c, line);
        while (link != 0 && !slot_has(c, link - 1, line))
            link = c->chain[link - 1];
        return link == 0 ? NO_SLOT : link - 1;
    }
    const uint32_t end = set->first + set->ways;
    for (uint32_t slot = set->first; slot < end; slot++)
        if (slot_has(c, slot, line))
            return slot;
    return NO_SLOT;
}

static void hash_add(struct cache *c, uint32_t slot)
{
    uint32_t *const bucket = bucket_of(c, line_in(c, slot));
    c->chain[slot] = *bucket;
    *bucket = slot + 1;
}

static inline void hash_remove(struct cache *c, uint32_t slot)
{
    uint32_t *link = bucket_of(c, line_in(c, slot));
    while (*link != slot + 1)
        link = &c->chain[*link - 1];
    *link = c->chain[slot];
}

/* ---- lru and fifo: the ring of many ways ---- */

static void ring_remove(struct cache *c, struct set *set, uint32_t slot)
{
    const struct link link = c->ring[slot];
    c->ring[link.newer].older = link.older;
    c->ring[link.older].newer = link.newer;
    if (set->newest == slot)
        set->newest = link.older;
}

/* Makes it the newest of a ring of `others` slots. */
static void ring_add(struct cache *c, struct set *set, uint32_t slot,
                     uint32_t others)
{
    if (others == 0) {
        c->ring[slot] = (struct link){slot, slot};
    } else {
        const uint32_t head = set->newest, tail = c->ring[head].newer;
        c->ring[slot] = (struct link){.newer = tail, .older = head};
        c->ring[head].newer = slot;
        c->ring[tail].older = slot;
    }
    set->newest = slot;
}

static inline uint32_t ring_oldest(const struct cache *c, const struct set *set)
{
    /* It is a ring: what would be newer than the newest is the oldest. */
    return c->ring[set->newest].newer;
}

SELDOM static void ring_move(struct cache *c, struct set *set, uint32_t slot)
{
    ring_remove(c, set, slot);
    ring_add(c, set, slot, set->used - 1);
}

static inline void ring_renew(struct cache *c, struct set *set, uint32_t slot)
{
    if (slot == ring_oldest(c, set))
        set->newest = slot; /* the ring only turns */
    else if (slot != set->newest)
        ring_move(c, set, slot);
}

/* ---- lru and fifo: the order of few ways ---- */

static const uint64_t EACH_NIBBLE = 0x1111111111111111;

/* Bits of the nibbles that are newer than the way's; it is among the filled
 * ones, of which it is the lowest that is equal. */
static inline unsigned order_place(const struct set *set, uint32_t way)
{
    const uint64_t differ = set->order ^ way * EACH_NIBBLE;
    const uint64_t zero = (differ - EACH_NIBBLE) & ~differ & 8 * EACH_NIBBLE;
    return (unsigned)__builtin_ctzll(zero) & ~3u;
}

static inline void order_remove(struct set *set, uint32_t way)
{
    const unsigned place = order_place(set, way);
    const uint64_t newer = ((uint64_t)1 << place) - 1;
    set->order = (set->order & newer) | (set->order >> 4 & ~newer);
}

static inline void order_renew(struct set *set, uint32_t way)
{
    order_remove(set, way);
    set->order = set->order << 4 | way;
}

static inline uint32_t order_oldest(const struct set *set)
{
    return (uint32_t)(set->order >> 4 * (set->used - 1) & 15);
}

/* The way that is newer than this one; the oldest is newer than the newest. */
static inline uint32_t order_newer(const struct set *set, uint32_t way)
{
    const unsigned place = order_place(set, way);
    return place == 0 ? order_oldest(set)
                      : (uint32_t)(set->order >> (place - 4) & 15);
}

/* ---- lru and fifo: either ---- */

static inline void age_add(struct cache *c, struct set *set, uint32_t slot)
{
    if (c->ring == NULL)
        set->order = set->order << 4 | (slot - set->first);
    else
        ring_add(c, set, slot, set->used);
}

static inline void age_remove(struct cache *c, struct set *set, uint32_t slot)
{
    if (c->ring == NULL)
        order_remove(set, slot - set->first);
    else
        ring_remove(c, set, slot);
}

static inline void age_renew(struct cache *c, struct set *set, uint32_t slot)
{
    if (c->ring == NULL)
        order_renew(set, slot - set->first);
    else
        ring_renew(c, set, slot);
}

static inline uint32_t age_oldest(const struct cache *c, const struct set *set)
{
    return c->ring == NULL ? set->first + order_oldest(set)
                           : ring_oldest(c, set);
}

static inline uint32_t age_newer(const struct cache *c, const struct set *set,
                                 uint32_t slot)
{
    return c->ring == NULL ? set->first + order_newer(set, slot - set->first)
                           : c->ring[slot].newer;
}

/* ---- plru: the tree ---- */

/*
 * Nodes of a set of n ways are numbered as in a heap: 1 is the root, 2i and
 * 2i + 1 are below i, and n + w is the leaf of way w.
 */
static void tree_point_away(struct cache *c, struct set *set, uint32_t slot)
{
    const uint32_t first = set->first, ways = set->ways;
    for (uint32_t node = ways + slot - first; node > 1; node /= 2)
        c->marks[first + node / 2] = node % 2 == 0;
}

static uint32_t tree_victim(const struct cache *c, const struct set *set)
{
    const uint32_t first = set->first, ways = set->ways;
    uint32_t node = 1;
    while (node < ways)
        node = 2 * node + c->marks[first + node];
    return first + node - ways;
}

/* ---- nru: the marks ---- */

static void nru_mark(struct cache *c, struct set *set, uint32_t slot)
{
    const uint32_t first = set->first, ways = set->ways;
    if (c->marks[slot] == 0) {
        c->marks[slot] = 1;
        set->marked++;
    }
    if (set->marked < ways)
        return;
    memset(c->marks + first, 0, ways);
    c->marks[slot] = 1;
    set->marked = 1;
}

static uint32_t nru_victim(const struct cache *c, const struct set *set)
{
    const uint32_t first = set->first, ways = set->ways;
    const uint8_t *const marks = c->marks + first;
    const uint8_t *const clear = memchr(marks, 0, ways);
    /* Only a single way is always the newest. */
    return clear == NULL ? first : first + (uint32_t)(clear - marks);
}

static void nru_forget(struct cache *c, struct set *set, uint32_t slot)
{
    set->marked -= c->marks[slot];
    c->marks[slot] = 0;
}

/* ---- lru_midpoint: the stamps ---- */

static void stamp(struct cache *c, uint32_t slot, uint32_t hits)
{
    c->stamps[slot] = (uint64_t)hits << 32 | ++c->uses;
}

static uint32_t stamp_victim(const struct cache *c, const struct set *set)
{
    uint32_t oldest = set->first;
    for (uint32_t slot = oldest + 1; slot < set->first + set->ways; slot++)
        oldest = c->stamps[slot] < c->stamps[oldest] ? slot : oldest;
    return oldest;
}

/* ---- rrip: the ages ---- */

static uint32_t rrip_victim(struct cache *c, const struct set *set)
{
    uint8_t *const ages = c->marks + set->first;
    uint32_t oldest = 0;
    for (uint32_t way = 1; way < set->ways; way++)
        oldest = ages[way] > ages[oldest] ? way : oldest;
    const unsigned grow = c->shape.rrip.most - ages[oldest];
    for (uint32_t way = 0; grow > 0 && way < set->ways; way++)
        ages[way] = (uint8_t)(ages[way] + grow);
    return set->first + oldest;
}

/* ---- the policies at work ---- */

static uint32_t weighted_victim(struct cache *c, struct set *set)
{
    const uint32_t first = set->first, ways = set->ways;
    double left = rng_unit(&c->rng) * c->weight_sum;
    uint32_t heaviest = 0;
    for (uint32_t way = 0; way < ways; way++) {
        left -= c->shape.weights[way];
        if (left < 0)
            return first + way;
        if (c->shape.weights[way] > c->shape.weights[heaviest])
            heaviest = way;
    }
    return first + heaviest; /* only rounding can lead here */
}

SELDOM static uint32_t victim_without_order(struct cache *c, struct set *set)
{
    if (c->shape.policy == POLICY_PLRU)
        return tree_victim(c, set);
    if (c->shape.policy == POLICY_NRU)
        return nru_victim(c, set);
    if (c->shape.policy == POLICY_RRIP)
        return rrip_victim(c, set);
    if (c->shape.policy == POLICY_WEIGHTED)
        return weighted_victim(c, set);
    if (c->shape.policy == POLICY_LRU_MIDPOINT)
        return stamp_victim(c, set);
    return set->first + (uint32_t)rng_below(&c->rng, set->ways);
}

static inline uint32_t victim(struct cache *c, struct set *set)
{
    return c->ordered ? age_oldest(c, set) : victim_without_order(c, set);
}

/* Among the slots that need to stay least, the policy's; else the oldest, or
 * the lowest. */
SELDOM static uint32_t victim_kept_least(struct cache *c, struct set *set)
{
    uint32_t slot = victim(c, set);
    uint8_t least = c->keeps[slot];
    const uint32_t first = set->first, end = first + set->ways;
    for (uint32_t i = first; i < end; i++)
        least = c->keeps[i] < least ? c->keeps[i] : least;
    for (uint32_t way = 0; c->keeps[slot] != least; way++)
        slot = c->ordered ? age_newer(c, set, slot) : first + way;
    return slot;
}

/* A line that was there is used again. */
static inline void note_use(struct cache *c, struct set *set, uint32_t slot)
{
    switch (c->shape.policy) {
    case POLICY_LRU:
        age_renew(c, set, slot);
        break;
    case POLICY_PLRU:
        tree_point_away(c, set, slot);
        break;
    case POLICY_NRU:
        nru_mark(c, set, slot);
        break;
    case POLICY_RRIP:
        c->marks[slot] = (uint8_t)c->shape.rrip.hit;
        break;
    case POLICY_LRU_MIDPOINT:
        stamp(c, slot, ++set->marked + c->shape.behind);
        break;
    case POLICY_FIFO:
    case POLICY_RANDOM:
    case POLICY_WEIGHTED:
    case POLICY_COUNT:
        break;
    }
}

/* A line is new in a slot of a cache without order. */
static inline void note_new(struct cache *c, struct set *set, uint32_t slot)
{
    if (c->shape.policy == POLICY_RRIP)
        c->marks[slot] = (uint8_t)c->shape.rrip.insert;
    else if (c->shape.policy == POLICY_LRU_MIDPOINT)
        stamp(c, slot, set->marked);
    else
        note_use(c, set, slot);
}

/* A line moves into a slot that was empty. */
static void note_fill(struct cache *c, struct set *set, uint32_t slot)
{
    if (c->ordered)
        age_add(c, set, slot);
    else
        note_new(c, set, slot);
}

/* A slot becomes empty. */
static void note_empty(struct cache *c, struct set *set, uint32_t slot)
{
    if (c->ordered)
        age_remove(c, set, slot);
    else if (c->shape.policy == POLICY_NRU)
        nru_forget(c, set, slot);
}

/* Another line moves into the victim's slot. */
static inline void note_replace(struct cache *c, struct set *set, uint32_t slot)
{
    if (c->ordered) {
        age_renew(c, set, slot);
        return;
    }
    if (c->shape.policy == POLICY_NRU)
        nru_forget(c, set, slot);
    note_new(c, set, slot);
}

/* ---- filling and emptying ---- */

static void empty_slot(struct cache *c, struct set *set, uint32_t slot)
{
    const uint32_t way = slot - set->first;
    note_empty(c, set, slot);
    if (c->bucket != NULL)
        hash_remove(c, slot);
    c->tags[slot] = 0;
    set->used--;
    if (way < set->filled)
        set->filled = way;
}

static uint32_t lowest_empty(struct cache *c, struct set *set)
{
    const uint32_t first = set->first;
    uint32_t way = set->filled;
    while (!is_empty(c, first + way))
        way++;
    set->filled = way + 1;
    return first + way;
}

/* ---- the victim buffer ---- */

/* Which of it has the line; as many as it has entries: none. */
static unsigned victim_find(const struct cache *c, uint64_t line)
{
    unsigned i = 0;
    while (c->victims != NULL && i < c->shape.spare &&
           c->victims[i].tag != line + 1)
        i++;
    return c->victims != NULL ? i : c->shape.spare;
}

/* Leaves; the sectors of it that were there, 0 if it was not. */
SELDOM static uint64_t victim_take(struct cache *c, uint64_t line)
{
    const unsigned at = victim_find(c, line);
    if (at == c->shape.spare)
        return 0;
    const uint64_t sectors = c->victims[at].sectors;
    memmove(c->victims + at, c->victims + at + 1,
            (c->shape.spare - at - 1) * sizeof *c->victims);
    c->victims[c->shape.spare - 1] = (struct victim){0};
    return sectors;
}

static void victims_clear(struct cache *c)
{
    memset(c->victims, 0, c->shape.spare * sizeof *c->victims);
}

SELDOM static void victim_add(struct cache *c, const struct set *set,
                              uint32_t slot)
{
    if (c->shape.spare_of_one && c->victims_of != set) {
        c->victims_of = set;
        victims_clear(c);
        return;
    }
    memmove(c->victims + 1, c->victims,
            (c->shape.spare - 1) * sizeof *c->victims);
    c->victims[0] = (struct victim){c->tags[slot], sectors_in(c, slot)};
}

/* The line takes the slot, of which no sector is there yet. */
static inline void settle(struct cache *c, uint32_t slot, uint64_t line)
{
    c->tags[slot] = line + 1;
    set_sectors(c, slot, 0);
    if (c->bucket != NULL)
        hash_add(c, slot);
}

/* The victim of a full set makes room. */
static inline uint32_t replace(struct cache *c, struct set *set, uint64_t line)
{
    const uint32_t slot =
        c->keeps != NULL ? victim_kept_least(c, set) : victim(c, set);
    if (c->victims != NULL)
        victim_add(c, set, slot);
    if (c->bucket != NULL)
        hash_remove(c, slot);
    settle(c, slot, line);
    note_replace(c, set, slot);
    return slot;
}

static uint32_t fill_empty(struct cache *c, struct set *set, uint64_t line)
{
    const uint32_t slot = lowest_empty(c, set);
    settle(c, slot, line);
    note_fill(c, set, slot);
    set->used++;
    return slot;
}

static uint32_t fill(struct cache *c, struct set *set, uint64_t line)
{
    const uint32_t slot = set->used == set->ways ? replace(c, set, line)
                                                 : fill_empty(c, set, line);
    if (c->keeps != NULL)
        c->keeps[slot] = CACHE_KEEP_NORMAL;
    return slot;
}

static inline enum cache_result take_sector(struct cache *c, uint32_t slot,
                                            uint64_t sector)
{
    const uint64_t had = sectors_in(c, slot);
    c->last = slot;
    if ((had & sector) != 0)
        return CACHE_HIT;
    set_sectors(c, slot, had | sector);
    return had != 0 ? CACHE_SECTOR_MISS : CACHE_MISS;
}

/* Wherever the line is; it comes if it is nowhere. */
SELDOM static enum cache_result access_set(struct cache *c, struct set *set,
                                           uint64_t line, uint64_t sector)
{
    /* Most policies change nothing when the newest line is used again. */
    if (slot_has(c, c->last, line) && !cache_counts_uses(c->shape.policy))
        return take_sector(c, c->last, sector);
    uint32_t slot = find(c, set, line);
    if (slot == NO_SLOT) {
        const uint64_t had = c->victims != NULL ? victim_take(c, line) : 0;
        slot = fill(c, set, line);
        set_sectors(c, slot, had);
    } else {
        note_use(c, set, slot);
    }
    c->last_way = slot - set->first;
    return take_sector(c, slot, sector);
}

/*
 * Where a line is most likely.  Who walks a ring comes to the lines of each lru
 * set in the same order again and again, so to the oldest.  Small sets are
 * filled one after the other, so it is the way of the last one: that is known
 * without the set, for which the host's memory may have to be waited for.
 */
static inline uint32_t likely_slot(const struct cache *c, uint32_t set)
{
    return c->ring != NULL ? ring_oldest(c, &c->sets[set])
                           : set * c->even_ways + c->last_way;
}

/* As age_renew, of the likely slot. */
static inline void age_renew_likely(struct cache *c, struct set *set,
                                    uint32_t slot)
{
    if (c->ring != NULL)
        set->newest = slot; /* it was the oldest: the ring only turns */
    else
        order_renew(set, slot - set->first);
}

/* The likely slot has the line, and the policy marks what is used. */
SELDOM static enum cache_result access_marked(struct cache *c, struct set *set,
                                              uint32_t slot, uint64_t sector)
{
    note_use(c, set, slot);
    return take_sector(c, slot, sector);
}

/* Who walks a ring through a large cache comes to sets that lie equally far
 * apart: tells the host's memory which one comes a few steps later. */
static inline void look_ahead(struct cache *c, uint32_t set)
{
    const size_t next = set + AHEAD * (size_t)(set - c->last_set);
    c->last_set = set;
    if (next >= c->shape.sets)
        return;
    const size_t slot = next * c->even_ways + c->last_way;
    __builtin_prefetch(&c->sets[next], 1);
    __builtin_prefetch(&c->tags[slot]);
    if (c->few != NULL)
        __builtin_prefetch(&c->few[slot]);
}

/* Wherever the set is, of which nothing is known before. */
SELDOM static enum cache_result access_in_slice(struct cache *c,
                                                uint64_t address)
{
    const uint64_t line = line_of(c, address);
    return access_set(c, &c->sets[set_in_slice(c, line)], line,
                      sector_of(c, address));
}

enum cache_result cache_access(struct cache *cache, uint64_t address)
{
    if (cache->index == INDEX_SLICES)
        return access_in_slice(cache, address);
    const uint64_t line = line_of(cache, address);
    const uint64_t sector = sector_of(cache, address);
    const uint32_t number = set_at_once(cache, line);
    if (cache->large)
        look_ahead(cache, number);
    const uint32_t likely = likely_slot(cache, number);
    struct set *const set = &cache->sets[number];
    if (!slot_has(cache, likely, line))
        return access_set(cache, set, line, sector);
    if (cache->marks != NULL || cache->stamps != NULL)
        return access_marked(cache, set, likely, sector);
    if (cache->shape.policy == POLICY_LRU)
        age_renew_likely(cache, set, likely);
    return take_sector(cache, likely, sector);
}

/* Of sets that are searched way by way; a hash leads elsewhere. */
void cache_expect(const struct cache *cache, uint64_t address)
{
    const size_t ways = cache->even_ways;
    const size_t number = set_of(cache, line_of(cache, address));
    const uint64_t *const tags = cache->tags + number * ways;
    if (ways == 0 || cache->bucket != NULL)
        return;
    __builtin_prefetch(&cache->sets[number], 1);
    for (size_t way = 0; way < ways; way += HOST_LINE / sizeof *tags)
        __builtin_prefetch(&tags[way], 1);
    __builtin_prefetch(&tags[ways - 1], 1);
    if (cache->few != NULL)
        __builtin_prefetch(&cache->few[number * ways], 1);
    if (cache->marks != NULL)
        __builtin_prefetch(&cache->marks[number * ways], 1);
}

enum cache_result cache_access_more(struct cache *cache, uint64_t address)
{
    return slot_has(cache, cache->last, line_of(cache, address))
               ? take_sector(cache, cache->last, sector_of(cache, address))
               : cache_access(cache, address);
}

enum cache_result cache_access_as(struct cache *cache, uint64_t address,
                                  enum cache_keep keep)
{
    const enum cache_result result = cache_access(cache, address);
    const bool obeyed =
        keep == CACHE_KEEP_NORMAL ||
        (keep == CACHE_KEEP_SHORT && cache->shape.evict_first) ||
        (keep == CACHE_KEEP_LONG && cache->shape.evict_last);
    if (cache->keeps != NULL && obeyed)
        cache->keeps[cache->last] = (uint8_t)keep;
    return result;
}

bool cache_holds(const struct cache *cache, uint64_t address)
{
    const uint64_t line = line_of(cache, address);
    const uint32_t slot = find(cache, &cache->sets[set_of(cache, line)], line);
    const unsigned at = victim_find(cache, line);
    const uint64_t had = slot != NO_SLOT           ? sectors_in(cache, slot)
                         : at < cache->shape.spare ? cache->victims[at].sectors
                                                   : 0;
    return (had & sector_of(cache, address)) != 0;
}

void cache_clear(struct cache *cache)
{
    const size_t slots = cache->slots;
    for (size_t i = 0; i < cache->shape.sets; i++) {
        struct set *const set = &cache->sets[i];
        set->used = set->filled = set->marked = 0;
        set->order = 0;
    }
    memset(cache->tags, 0, slots * sizeof *cache->tags);
    if (cache->marks != NULL)
        memset(cache->marks, 0, slots);
    cache->victims_of = NULL;
    if (cache->victims != NULL)
        victims_clear(cache);
    if (cache->bucket != NULL)
        memset(cache->bucket, 0,
               sizeof *cache->bucket << (64 - cache->bucket_shift));
}

static void drop_line(struct cache *c, uint64_t line)
{
    struct set *const set = &c->sets[set_of(c, line)];
    const uint32_t slot = find(c, set, line);
    if (slot != NO_SLOT)
        empty_slot(c, set, slot);
    victim_take(c, line);
}

void cache_drop(struct cache *cache, uint64_t address, uint64_t bytes)
{
    if (bytes == 0)
        return;
    const uint64_t most = UINT64_MAX - address;
    const uint64_t end = address + (bytes - 1 < most ? bytes - 1 : most);
    const uint64_t from = line_of(cache, address), to = line_of(cache, end);
    if (to - from < cache->slots) {
        for (uint64_t i = 0; i <= to - from; i++)
            drop_line(cache, from + i);
        return;
    }
    for (uint32_t slot = 0; slot < cache->slots; slot++)
        if (!is_empty(cache, slot) && line_in(cache, slot) >= from &&
            line_in(cache, slot) <= to)
            drop_line(cache, line_in(cache, slot));
    for (unsigned i = cache->shape.spare; i-- > 0;)
        if (cache->victims[i].tag > from && cache->victims[i].tag - 1 <= to)
            victim_take(cache, cache->victims[i].tag - 1);
}
