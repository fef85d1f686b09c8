/*
 * Keys of caches and TLBs.  A cache may tell its sets in three manners, and
 * what it tells must make a cache that can be: the checks follow the rows.
 */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/text.h"
#include "device/sim/profile/profile_keys.h"

enum {
    WAYS_MAX = 1 << 24, /* of all sets; cache_shape_check says more */
    FETCH_MOST = 4096,
    SIDE_BIT_LEAST = 11,
    SIDE_BIT_MOST = 20,
    INDEX_BITS_MAX = 31,
    ADDRESS_BIT_MOST = 56,
    MODULO_MOST = 1 << 16,
    PAGES_MOST = 64, /* of an entry: sectors of a line */
};
#define LINE_MAX_BYTES (1LL << 40)

/* What is told of a cache before it is checked. */
struct told {
    struct profile_cache cache;
    uint64_t size, sets, ways, entries; /* 0: not told */
    uint64_t region;                    /* 0: not told */
    json_t *weights;                    /* of the ways; NULL: none */
    bool parted, fills_region;
};

const char *const profile_scopes[] = {
    [SCOPE_SM] = "sm",
    [SCOPE_TPC] = "tpc",
    [SCOPE_GPC] = "gpc",
    [SCOPE_GPU] = "gpu",
    NULL,
};

/* ---- lists ---- */

static void read_set_ways(struct schema_reader *r, json_t *list, void *into)
{
    struct cache_shape *const shape = into;
    if (!json_is_array(list) || json_array_size(list) == 0) {
        schema_fail(r, "must be an array of the ways of each set");
        return;
    }
    shape->sets = json_array_size(list);
    shape->set_ways = xcalloc(shape->sets, sizeof *shape->set_ways);
    for (size_t set = 0; set < shape->sets; set++)
        shape->set_ways[set] =
            (uint32_t)schema_whole(r, json_array_get(list, set), 1, WAYS_MAX);
}

/* One index bit: an address bit, or a list of those that are XORed. */
static uint64_t read_index_bit(struct schema_reader *r, const json_t *value)
{
    const size_t count = json_is_array(value) ? json_array_size(value) : 1;
    uint64_t mask = 0;
    for (size_t i = 0; i < count; i++)
        mask ^= (uint64_t)1 << schema_whole(
                    r, json_is_array(value) ? json_array_get(value, i) : value,
                    0, ADDRESS_BIT_MOST);
    return mask;
}

static void read_index_bits(struct schema_reader *r, const json_t *list,
                            uint64_t **masks, size_t *count)
{
    const size_t bits = json_array_size(list);
    if (!json_is_array(list) || bits == 0 || bits > INDEX_BITS_MAX) {
        schema_fail(r, "must be an array of 1 to %d index bits",
                    INDEX_BITS_MAX);
        return;
    }
    *masks = xcalloc(bits, sizeof **masks);
    *count = bits;
    for (size_t i = 0; i < bits; i++)
        (*masks)[i] = read_index_bit(r, json_array_get(list, i));
}

static void read_set_bits(struct schema_reader *r, json_t *list, void *into)
{
    struct cache_shape *const shape = into;
    read_index_bits(r, list, &shape->index_bits, &shape->index_bit_count);
}

static void read_slice_bits(struct schema_reader *r, json_t *list, void *into)
{
    struct cache_slices *const slices = into;
    read_index_bits(r, list, &slices->bits, &slices->bit_count);
}

/* The bits of an address whose XOR tells a line's home. */
static void read_side_bits(struct schema_reader *r, json_t *list, void *into)
{
    if (!json_is_array(list) || json_array_size(list) == 0)
        schema_fail(r, "must be an array of address bits");
    else
        *(uint64_t *)into = read_index_bit(r, list);
}

/* ---- policies ---- */

static void read_policy_name(struct schema_reader *r, json_t *value, void *into)
{
    static const char *const names[] = {
#define X(id, name) name,
        CACHE_POLICIES(X)
#undef X
            NULL,
    };
    enum cache_policy *const policy = into;
    char name[32] = "lru";
    schema_text(r, value, name, sizeof name);
    *policy = cache_policy_find(name);
    const char *const nearest = text_nearest(name, names);
    if (*policy == POLICY_COUNT && nearest == NULL)
        schema_fail(r,
                    "has no policy '%s'; there are lru, lru_midpoint, fifo, "
                    "plru, nru, rrip, random and weighted",
                    name);
    else if (*policy == POLICY_COUNT)
        schema_fail(r, "has no policy '%s'; did you mean '%s'?", name, nearest);
}

/* What is absent falls back to -1. */
static const unsigned ABSENT = UINT_MAX;
static const char *const age_names[] = {"most", "insert", "hit"};

/* How many there must be is known when the sets are. */
static void keep_weights(struct schema_reader *r, json_t *list, void *into)
{
    (void)r;
    *(json_t **)into = list;
}

/* All ages with the kind rrip, none with another. */
static void check_ages(struct schema_reader *r, const struct told *told)
{
    const struct cache_rrip *const rrip = &told->cache.shape.rrip;
    const unsigned ages[] = {rrip->most, rrip->insert, rrip->hit};
    const bool aged = told->cache.shape.policy == POLICY_RRIP;
    for (size_t i = 0; i < COUNT_OF(ages); i++) {
        if (!aged && ages[i] != ABSENT)
            schema_fail_at(r, age_names[i], "belongs to the kind 'rrip' alone");
        if (aged && ages[i] == ABSENT)
            schema_fail_at(r, age_names[i], "is missing");
        if (aged && ages[i] > rrip->most)
            schema_fail_at(r, age_names[i], "must be at most `most`, %u",
                           rrip->most);
    }
}

static void check_policy(struct schema_reader *r, void *into)
{
    const struct told *const told = into;
    const struct cache_shape *const shape = &told->cache.shape;
    const bool weighted = shape->policy == POLICY_WEIGHTED;
    const bool behind = shape->policy == POLICY_LRU_MIDPOINT;
    if (weighted && told->weights == NULL)
        schema_fail_at(r, "weights", "is missing");
    if (!weighted && told->weights != NULL)
        schema_fail_at(r, "weights", "belongs to the kind 'weighted' alone");
    if (behind && shape->behind == ABSENT)
        schema_fail_at(r, "behind", "is missing");
    if (!behind && shape->behind != ABSENT)
        schema_fail_at(r, "behind", "belongs to the kind 'lru_midpoint' alone");
    check_ages(r, told);
}

#define AGE(member, low)                                                       \
    WHOLE(told, cache.shape.rrip.member, low, UINT8_MAX), .fallback = -1

static const struct schema_row policy_rows[] = {
    {"kind", CALL(read_policy_name), SCHEMA_AT(told, cache.shape.policy),
     REQUIRED},
    {"weights", CALL(keep_weights), SCHEMA_AT(told, weights)},
    {"most", AGE(most, 1)},
    {"insert", AGE(insert, 0)},
    {"hit", AGE(hit, 0)},
    {"behind", WHOLE(told, cache.shape.behind, 1, UINT8_MAX), .fallback = -1},
    {0},
};

static const struct schema policy_schema = {"policy", policy_rows,
                                            check_policy};

static void read_policy(struct schema_reader *r, json_t *value, void *into)
{
    static const char *const needs[POLICY_COUNT] = {
        [POLICY_WEIGHTED] = "needs the weights: {\"kind\": \"weighted\", "
                            "\"weights\": [...]}",
        [POLICY_LRU_MIDPOINT] = "needs the hits: {\"kind\": "
                                "\"lru_midpoint\", \"behind\": 2}",
        [POLICY_RRIP] = "needs the ages: {\"kind\": \"rrip\", "
                        "\"most\": 2, \"insert\": 1, \"hit\": 0}",
    };
    struct told *const told = into;
    enum cache_policy *const policy = &told->cache.shape.policy;
    if (json_is_object(value))
        schema_read(r, value, &policy_schema, told);
    else if (!json_is_string(value))
        schema_wrong_type(r, "a string or an object", value);
    else
        read_policy_name(r, value, policy);
    if (!r->failed && json_is_string(value) && needs[*policy] != NULL)
        schema_fail(r, "%s", needs[*policy]);
}

/* ---- keys ---- */

/* A warp uses copy (its scheduler) mod copies: more copies than schedulers
 * would lie idle. */
static void read_copies(struct schema_reader *r, json_t *value, void *into)
{
    const struct profile *const profile = r->whole;
    struct profile_cache *const cache = &((struct told *)into)->cache;
    const uint64_t copies =
        schema_whole(r, value, 1, (double)profile->warp_schedulers);
    if (copies > 1 && cache->scope != SCOPE_SM)
        schema_fail(r, "must be 1 in a cache that several SMs share");
    cache->copies_per_sm = (unsigned)copies;
}

static const struct schema_row sets_rows[] = {
    {"sets", WHOLE(told, sets, 1, WAYS_MAX), .help = "equal sets",
     .otherwise = "if not `set_ways`", .range = "together at most 2^24 lines"},
    {"ways", WHOLE(told, ways, 1, WAYS_MAX)},
    {"set_ways", CALL(read_set_ways), SCHEMA_AT(told, cache.shape),
     .help = "instead: the ways of each set, `[17, 8, 8]`",
     .otherwise = "if not `sets`", .range = "each at least 1"},
    {"set_bits", CALL(read_set_bits), SCHEMA_AT(told, cache.shape),
     .help = "address bits that form the index of the set, low bit first; a "
             "list in it is XORed: `[7, [8, 12]]`",
     .otherwise = "line modulo sets",
     .range = "0 … 56, none within the line; 2^bits sets"},
    {"policy", CALL(read_policy), REQUIRED, .help = "see below"},
    {"scope", WORD(told, cache.scope, profile_scopes),
     .help = "who shares one"},
    {"copies_per_sm", CALL(read_copies),
     .help = "a split cache: warp w uses copy (w mod schedulers) mod copies",
     .otherwise = "1",
     .range = "1 … `warp_schedulers`; 1 unless scope is `sm`"},
    {0},
};

static const struct schema sets_schema = {"sets", sets_rows, NULL};

static const struct schema_row slices_rows[] = {
    {"modulo", WHOLE(told, cache.shape.slices.modulo, 1, MODULO_MOST), REQUIRED,
     .help = "so many slices, for each number that `bits` form"},
    {"from_bit", WHOLE(told, cache.shape.slices.from_bit, 0, ADDRESS_BIT_MOST),
     REQUIRED,
     .help = "the address from this bit on, modulo `modulo`, is the slice",
     .range = "not within the line; at most 56"},
    {"bits", CALL(read_slice_bits), SCHEMA_AT(told, cache.shape.slices),
     .help = "as `set_bits`: the number that they form, times `modulo`, is "
             "added to it",
     .otherwise = "none", .range = "0 … 56, none within the line"},
    {"cycles", CYCLES(told, cache.slice_cycles),
     .help = "more for what comes from the last slice, or through it, than "
             "from the first, and from others in proportion, of a cache "
             "without `partitions`"},
    {0},
};

static const struct schema slices_schema = {"slices", slices_rows, NULL};

static void note_parts(struct schema_reader *r, void *into)
{
    (void)r;
    ((struct told *)into)->parted = true;
}

/* By the bool that says whether they alternate. */
static const char *const sides_of_sms[] = {"halves", "alternate", NULL};

static const struct schema_row partitions_rows[] = {
    {"bits", CALL(read_side_bits), SCHEMA_AT(told, cache.partitions.bits),
     REQUIRED,
     .help = "address bits whose XOR tells in which half a line has its home",
     .range = "the lowest 11 … 20"},
    {"far_cycles", CYCLES(told, cache.partitions.far_cycles), REQUIRED,
     .help = "more for what is found in the other half, or is brought from "
             "memory through it"},
    {"replicates", BOOL(told, cache.partitions.replicates),
     .help = "true: the near half keeps a copy of what came through the far "
             "one, which takes room there"},
    {"sms", WORD(told, cache.partitions.alternate, sides_of_sms),
     .help = "`\"halves\"`: the first SMs are beside one half; "
             "`\"alternate\"`: those of even number"},
    {0},
};

static const struct schema partitions_schema = {"partitions", partitions_rows,
                                                note_parts};

/* ---- what must fit together ---- */

static void make_sets(struct schema_reader *r, uint64_t sets, uint64_t ways,
                      struct cache_shape *shape)
{
    if (sets * ways > WAYS_MAX) {
        schema_fail(r, "has more lines than the %d that can be simulated",
                    WAYS_MAX);
        return;
    }
    shape->sets = (size_t)sets;
    shape->set_ways = xcalloc(shape->sets, sizeof *shape->set_ways);
    for (size_t set = 0; set < shape->sets; set++)
        shape->set_ways[set] = (uint32_t)ways;
}

/* Exactly one of the manners to say which sets there are: sets and ways,
 * set_ways, or entries (of a fully associative TLB). */
static void form_sets(struct schema_reader *r, struct told *told)
{
    const bool listed = told->cache.shape.set_ways != NULL;
    const bool counted = told->entries > 0;
    const bool equal = told->sets > 0 || told->ways > 0;
    if (listed + counted + equal > 1)
        schema_fail(r, "must tell its sets in one manner: sets and ways, or "
                       "set_ways, or (a TLB) entries");
    if (!listed && !counted && told->sets == 0)
        schema_fail_at(r, "sets", "is missing");
    if (!listed && !counted && told->ways == 0)
        schema_fail_at(r, "ways", "is missing");
    if (r->failed || listed)
        return;
    make_sets(r, counted ? 1 : told->sets, counted ? told->entries : told->ways,
              &told->cache.shape);
}

static void weigh_ways(struct schema_reader *r, struct told *told)
{
    struct cache_shape *const shape = &told->cache.shape;
    const json_t *const list = told->weights;
    if (list == NULL)
        return;
    const size_t up = schema_enter(r, "policy.weights");
    const uint32_t ways = shape->set_ways[0];
    if (!json_is_array(list) || json_array_size(list) != ways)
        schema_fail(r, "must be an array of %" PRIu32 " weights, one a way",
                    ways);
    shape->weights = xcalloc(ways, sizeof *shape->weights);
    for (uint32_t way = 0; way < ways && !r->failed; way++)
        shape->weights[way] =
            schema_real(r, json_array_get(list, way), 0, PROFILE_WHOLE_MAX);
    schema_leave(r, up);
}

/* `size`, where it is given, repeats what the shape makes. */
static void check_size(struct schema_reader *r, const struct told *told)
{
    const uint64_t bytes = cache_shape_bytes(&told->cache.shape);
    if (told->size != 0 && told->size != bytes)
        schema_fail_at(r, "size",
                       "is %" PRIu64 ", but the line times the ways of all "
                       "sets makes %" PRIu64,
                       told->size, bytes);
}

/* 64 if there is none. */
static unsigned lowest_bit(uint64_t bits)
{
    return bits != 0 ? (unsigned)__builtin_ctzll(bits) : 64;
}

/* Halves are alike, and a line lies in one of them. */
static void check_partitions(struct schema_reader *r, const struct told *told)
{
    const struct profile_cache *const cache = &told->cache;
    const struct cache_shape *const shape = &cache->shape;
    const unsigned lowest = lowest_bit(cache->partitions.bits);
    if (!told->parted)
        return;
    const size_t up = schema_enter(r, "partitions");
    if (profile_obeys_hints(cache))
        schema_fail(r, "do not go with evict_first, evict_last, fetch_64B, "
                       "fetch_128B, fetch_256B");
    if (cache->scope != SCOPE_GPU)
        schema_fail(r, "belong to a cache of scope gpu");
    if (shape->sets % 2 != 0)
        schema_fail(r, "need an even number of sets, not %zu", shape->sets);
    if (!cache_shape_even(shape))
        schema_fail(r, "need sets with equal ways");
    if (lowest < SIDE_BIT_LEAST || lowest > SIDE_BIT_MOST)
        schema_fail(r,
                    "need bits of which the lowest is %d to %d, so that sides "
                    "take turns within a page and not within a line",
                    SIDE_BIT_LEAST, SIDE_BIT_MOST);
    if (cache->partitions.bits % shape->line != 0)
        schema_fail(r, "need address bits above those within a line");
    schema_leave(r, up);
}

/* Of each half, or of the whole. */
static struct cache_shape part_of(const struct told *told)
{
    struct cache_shape part = told->cache.shape;
    part.sets /= told->parted ? 2 : 1;
    return part;
}

static void check_shape(struct schema_reader *r, const struct told *told)
{
    const struct cache_shape part = part_of(told);
    if (r->failed || cache_shape_check(&part, r->err) == 0)
        return;
    error_prefix(r->err, "%s: %s%s", r->where, r->path,
                 told->parted ? ", each half" : "");
    r->failed = true;
}

/* What an address tells of its place in a cache, each as an XOR of its bits. */
struct choices {
    uint64_t mask[4 * INDEX_BITS_MAX];
    size_t count;
};

static void add_choices(struct choices *c, const uint64_t *masks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        c->mask[c->count++] = masks[i];
}

/* A number modulo m tells as many of its lowest bits as m can be halved. */
static void add_modulo(struct choices *c, unsigned from_bit, uint64_t m)
{
    for (; m > 0 && m % 2 == 0; m /= 2)
        c->mask[c->count++] = (uint64_t)1 << from_bit++;
}

/* False if one is the XOR of others. */
static bool are_independent(struct choices *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const uint64_t lowest = c->mask[i] & -c->mask[i];
        if (lowest == 0)
            return false;
        for (size_t k = i + 1; k < c->count; k++)
            if ((c->mask[k] & lowest) != 0)
                c->mask[k] ^= c->mask[i];
    }
    return true;
}

static uint64_t odd_factor(uint64_t a, uint64_t b)
{
    const uint64_t factor = u64_gcd(a, b);
    return factor >> lowest_bit(factor);
}

/* How many numbers the bits of a line's number form that lie below those of its
 * slice and above those that its remainder by the sets is told by. */
static uint64_t numbers_between(unsigned line_bit, size_t sets,
                                unsigned from_bit)
{
    const unsigned above = line_bit + lowest_bit(sets);
    return from_bit > above ? (uint64_t)1 << (from_bit - above) : 1;
}

/* Some line must go to each set of each slice and half.  Two remainders of one
 * number are independent if the moduli have no factor in common, and come in
 * all pairs if what one leaves out of the number is no less than that. */
static void check_reach(struct schema_reader *r, const struct told *told)
{
    const struct cache_shape part = part_of(told);
    const struct cache_slices *const slices = &part.slices;
    const unsigned line_bit = lowest_bit(part.line);
    const size_t sets = cache_slice_sets(&part);
    struct choices c = {.count = 0};
    if (part.index_bits == NULL && slices->modulo == 0)
        return;
    add_choices(&c, part.index_bits, part.index_bit_count);
    add_choices(&c, slices->bits, slices->bit_count);
    add_choices(&c, &told->cache.partitions.bits, told->parted);
    add_modulo(&c, slices->from_bit, slices->modulo);
    if (part.index_bits == NULL)
        add_modulo(&c, line_bit, sets);
    if (!are_independent(&c) ||
        (part.index_bits == NULL &&
         odd_factor(slices->modulo, sets) >
             numbers_between(line_bit, sets, slices->from_bit)))
        schema_fail(r, "has sets to which no line goes: the address bits that "
                       "choose its sets, slices and halves follow from each "
                       "other");
}

/* Fills in what follows from other keys. */
static void check_cache(struct schema_reader *r, void *into)
{
    struct told *const told = into;
    struct cache_shape *const shape = &told->cache.shape;
    if (shape->sector == 0)
        shape->sector = shape->line;
    if (told->cache.copies_per_sm == 0)
        told->cache.copies_per_sm = 1;
    told->cache.partitions.packed =
        shape->index_bits == NULL && shape->slices.modulo == 0;
    form_sets(r, told);
    if (r->failed)
        return;
    weigh_ways(r, told);
    check_partitions(r, told);
    check_shape(r, told);
    if (r->failed)
        return;
    check_reach(r, told);
    check_size(r, told);
}

/* An entry is a line of pages, which come alone or all at once. */
static void check_tlb(struct schema_reader *r, void *into)
{
    struct told *const told = into;
    struct cache_shape *const shape = &told->cache.shape;
    const uint64_t page = shape->line;
    const uint64_t region = told->region > 0 ? told->region : page;
    told->cache.page = page;
    shape->line = region;
    shape->sector = told->fills_region ? region : page;
    if (region < page)
        schema_fail_at(r, "region", "must be at least `page`, %" PRIu64, page);
    if (region / shape->sector > PAGES_MOST)
        schema_fail_at(r, "region",
                       "of more than %d pages needs \"fill\": \"region\"",
                       PAGES_MOST);
    if (!r->failed)
        check_cache(r, told);
}

/* ---- the tables ---- */

/* By the bool that says whether they are virtual. */
static const char *const addresses[] = {"physical", "virtual", NULL};

static const struct schema_row cache_rows[] = {
    {"size", WHOLE(told, size, 1, PROFILE_WHOLE_MAX), .unit = "B",
     .help = "must be `line` × the ways of all sets", .otherwise = "that",
     .range = ""},
    {"line", POWER(told, cache.shape.line, LINE_MAX_BYTES), REQUIRED,
     .unit = "B", .help = "looked up whole; a power of two"},
    {"sector", POWER(told, cache.shape.sector, LINE_MAX_BYTES), .unit = "B",
     .help = "what one miss brings in; a power of two, at most 64 to a line",
     .otherwise = "`line`", .range = "1 … `line`"},
    {.key = NULL, ALSO(sets_schema)},
    {"address", WORD(told, cache.virtual, addresses),
     .help = "by which it knows its lines, in sets and slices too; they differ "
             "where memory has several virtual ones"},
    {"port_cycles", CYCLES(told, cache.port_cycles),
     .help = "for which each line of a warp's load keeps a copy's port busy, "
             "if it is the first cache of the path; other warps wait"},
    {"read_bandwidth", RATE(told, cache.read_bandwidth),
     .help = "bytes that each gives or takes in a cycle; 0: any number"},
    {"write_bandwidth", RATE(told, cache.write_bandwidth)},
    {"atomic_cycles", CYCLES(told, cache.atomic_cycles),
     .help = "for which each atomic keeps its slice busy, if the scope is "
             "`gpu`; others there wait"},
    {"evict_first", BOOL(told, cache.shape.evict_first),
     .help = "true: it obeys a load whose policy says so: see below"},
    {"evict_last", BOOL(told, cache.shape.evict_last)},
    {"fetch_64B", POWER(told, cache.fetch[0], FETCH_MOST), .unit = "B",
     .help = "what a miss of a load with `.L2::64B` … brings in, a power of "
             "two: all sectors of the aligned block of so many bytes; less "
             "than a sector is a sector",
     .otherwise = "a sector"},
    {"fetch_128B", POWER(told, cache.fetch[1], FETCH_MOST)},
    {"fetch_256B", POWER(told, cache.fetch[2], FETCH_MOST)},
    {"slices", OBJECT(slices_schema),
     .help = "equal slices, of which the address chooses one; `sets` are those "
             "of all: see below",
     .otherwise = "one"},
    {"partitions", OBJECT(partitions_schema),
     .help = "two halves of a cache of scope `gpu` with an even number of "
             "equal sets: see below",
     .otherwise = "one part"},
    {0},
};

const struct schema profile_cache_schema = {"caches", cache_rows, check_cache};

/* By the bool that says whether the whole region comes. */
static const char *const fills[] = {"page", "region", NULL};

static const struct schema_row tlb_rows[] = {
    {"page", POWER(told, cache.shape.line, LINE_MAX_BYTES), REQUIRED,
     .unit = "B", .help = "a power of two"},
    {"region", POWER(told, region, LINE_MAX_BYTES), .unit = "B",
     .help = "what one entry covers; a power of two", .otherwise = "`page`",
     .range = "`page` … 1 TiB; 64 pages if `fill` is `page`"},
    {"fill", WORD(told, fills_region, fills),
     .help = "what a miss makes valid: its page, even in a region that is "
             "there, or all pages of the region"},
    {"entries", WHOLE(told, entries, 1, WAYS_MAX),
     .help = "instead of sets and ways: fully associative",
     .otherwise = "if not `sets`"},
    {"spare", WHOLE(told, cache.shape.spare, 0, CACHE_SPARE_MOST),
     .help = "a victim buffer of all sets: so many of what they lost last, "
             "which are found there and go back into their set for another"},
    {"spare_of_one", BOOL(told, cache.shape.spare_of_one),
     .help = "true: of one set: the first line that another loses empties it, "
             "and is lost"},
    {.key = NULL,
     ALSO(sets_schema),
     .help = "as those of a cache; ways count entries, and the index is that "
             "of the region"},
    {0},
};

static const struct schema tlb_schema = {"tlb", tlb_rows, check_tlb};

static uint64_t lines_of(const struct profile_cache *cache)
{
    uint64_t lines = 0;
    for (size_t set = 0; set < cache->shape.sets; set++)
        lines += cache->shape.set_ways[set];
    return lines;
}

/* Each cache alone may be large, and so may all together once, or a small file
 * would take gigabytes. */
static void check_sum(struct schema_reader *r, const char *name)
{
    const struct profile *const profile = r->whole;
    uint64_t lines = 0;
    for (size_t i = 0; i < profile->cache_count; i++)
        lines += lines_of(&profile->caches[i]);
    if (!r->failed && lines > WAYS_MAX)
        schema_fail_at(r, name,
                       "has more lines, with those of the caches before, than "
                       "the %d that can be simulated",
                       WAYS_MAX);
}

static void add_cache(struct schema_reader *r, const char *name, json_t *object)
{
    struct profile *const profile = r->whole;
    struct told told = {0};
    if (strlen(name) == 0 || strlen(name) >= sizeof told.cache.name)
        schema_fail(r, "has a name of no or too many letters: '%s'", name);
    if (strcmp(name, "memory") == 0)
        schema_fail(r, "cannot hold a cache named 'memory', which is the last "
                       "level of each path");
    if (r->failed)
        return;
    memcpy(told.cache.name, name, strlen(name) + 1);
    schema_read_at(r, name, object, &profile_cache_schema, &told);
    profile->caches[profile->cache_count++] = told.cache;
    check_sum(r, name);
}

void profile_read_caches(struct schema_reader *r, json_t *object, void *into)
{
    (void)into;
    if (!json_is_object(object))
        schema_wrong_type(r, "an object", object);
    else if (json_object_size(object) > PROFILE_CACHES_MAX)
        schema_fail(r, "has more than %d caches", PROFILE_CACHES_MAX);
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        add_cache(r, name, value);
    }
}

static void read_tlb(struct schema_reader *r, json_t *object, void *into)
{
    struct told told = {0};
    schema_read(r, object, &tlb_schema, &told);
    *(struct profile_cache *)into = told.cache;
}

/* TLBs are named for their level, since objects of JSON have no order: none
 * is left out before the last. */
static void count_tlbs(struct schema_reader *r, void *into)
{
    struct profile *const profile = into;
    for (size_t i = PROFILE_TLBS_MAX; i-- > 0;) {
        struct profile_cache *const tlb = &profile->tlbs[i];
        const char name[] = {'l', (char)('1' + i), '\0'};
        const bool present = tlb->shape.line > 0;
        if (present && profile->tlb_count == 0)
            profile->tlb_count = i + 1;
        if (present)
            memcpy(tlb->name, name, sizeof name);
        else if (profile->tlb_count > 0)
            schema_fail_at(r, name, "is missing");
    }
}

#define TLB(i)                                                                 \
    CALL(read_tlb), SCHEMA_AT(profile, tlbs[i]), .object = &tlb_schema

static const struct schema_row tlbs_rows[] = {
    {"l1", TLB(0), .help = "looked up in this order"},
    {"l2", TLB(1)},
    {"l3", TLB(2)},
    {"walks_apart", CYCLES(profile, walks_apart),
     .help = "by which a page's walk may cost more: of some pages nothing, of "
             "others a third of it, of few all"},
    {0},
};

const struct schema profile_tlbs_schema = {"tlbs", tlbs_rows, count_tlbs};
