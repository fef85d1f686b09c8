/*
 * What is drawn covers what caches of GPUs have been found or claimed to be
 * (Mei 2014; Groessler 2022; Wong 2010), and somewhat more; what current GPUs
 * are is drawn as often as they are met: hashed L1 caches, L2 in slices, TLBs
 * whose entries cover regions and whose index is folded, code that is fetched
 * ahead.  A ring of consecutive lines as large as the cache fits where the
 * index is plain: where it takes bits from above the line, the ways are a
 * multiple of the lines that then follow each other in a set.
 *
 * Which paths begin with which cache is a row of `schemes`; a cache that two
 * paths name is one storage.
 */
#include "truth/gpu.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "gpu_made.h"
#include "model/cache.h"
#include "truth/index.h"

enum { KIB = 1024, MIB = 1024 * 1024, WAYS_LEAST = 2, WAYS_MOST = 24 };
/* A list of weights is shown way by way; more ways than Fermi's by four. */
enum { WEIGHTED_MOST = 16 };
/* Sets of current L1 caches and of texture caches: 96 to 241 ways. */
enum { MANY_LEAST = 48, MANY_MOST = 256, MANY_LINES = 4 * MANY_MOST };
/* More than this many sets are not listed one by one. */
enum { LISTED_MOST = 512 };
enum { CHANCE_LINES = 4096 };
enum { MASKS_MOST = 32 };

/* How an address chooses a set, and of how many of a hundred caches of an SM,
 * and of L2.  On an RTX 4090 L1 is hashed, on current GPUs L2 is sliced.
 *   shifted  by bits from above the line
 *   xor      every other bit XORed with one from above all
 *   hashed   each bit XORed with several from above all: consecutive lines
 *            still go to all sets in turn
 *   wild     each an XOR of any bits
 *   sliced   slices by a modulus, by XORs or by both; see draw_slices
 *   parts    two halves, modulo or sliced */
#define INDEX_KINDS(X)                                                         \
    X(INDEX_MODULO, 25, 18)                                                    \
    X(INDEX_UNEVEN, 12, 5)                                                     \
    X(INDEX_SHIFTED, 13, 8)                                                    \
    X(INDEX_XOR, 15, 10)                                                       \
    X(INDEX_HASHED, 29, 18)                                                    \
    X(INDEX_WILD, 6, 3)                                                        \
    X(INDEX_SLICED, 0, 28)                                                     \
    X(INDEX_PARTS, 0, 10)

enum index {
#define X(id, near, far) id,
    INDEX_KINDS(X)
#undef X
        INDICES
};

/* What a cache of some name may be. */
struct kind {
    const char *name;
    uint64_t least, most;           /* size, B */
    uint64_t line_least, line_most; /* B */
    /* Address bits below this one are the program's to choose: it must be able
     * to tell the bits of a hash. */
    unsigned chosen_bits;
    bool mapped; /* it may know lines by virtual addresses */
};

static const struct kind kinds[] = {
    {"l1", 8 * KIB, 256 * KIB, 32, 256, 34, true},
    {"local", 8 * KIB, 64 * KIB, 32, 128, 20, true},
    {"readonly", 8 * KIB, 64 * KIB, 32, 128, 34, true},
    {"texture", 8 * KIB, 64 * KIB, 32, 128, 34, true},
    {"const_l1", 1 * KIB, 8 * KIB, 32, 128, 16, false},
    {"const_l15", 16 * KIB, 256 * KIB, 64, 256, 16, false},
    {"l2", 256 * KIB, 64 * MIB, 64, 256, 34, false},
};

/* The first cache of each path; NULL: no such path. */
struct scheme {
    const char *ca, *local, *readonly, *texture;
};

static const struct scheme schemes[] = {
    {"l1", "l1", "l1", "l1"}, /* since Pascal, hence thrice */
    {"l1", "l1", "l1", "l1"},
    {"l1", "l1", "l1", "l1"},
    {"l1", "l1", NULL, "texture"},      /* Fermi */
    {"l1", "l1", "texture", "texture"}, /* K20c */
    {"l2", "l1", "texture", "texture"}, /* GTX 780 */
    {"l2", "l2", "texture", "texture"}, /* 840M */
    {"l1", "local", "readonly", "texture"},
    {"l1", "l1", "readonly", "l1"},
    {"l1", NULL, NULL, NULL},
};

struct draw {
    uint64_t size; /* wanted, B; then what came out */
    uint64_t line, sector, sets, ways;
    enum cache_policy policy;
    enum index index;
    unsigned shift; /* of the index above the line, bits */
    /* INDEX_SLICED, _PARTS; else 1, 0, 1. */
    uint64_t modulo;
    unsigned slice_bits, parts;
    unsigned top; /* address bits that may be XORed are below it */
};

/* A GPU in the making: what later parts must know of earlier ones. */
struct draft {
    struct rng *r;
    json_t *gpu;
    uint64_t schedulers, memory, sms;
    bool maps;          /* memory at several addresses */
    uint64_t const_l15; /* B; 0: none */
    const struct scheme *scheme;
    bool has_const_l1, has_const_l15, has_constant;
    uint64_t largest; /* of the SM's caches, B */
};

/* ---- numbers ---- */

static uint64_t between(struct rng *r, uint64_t least, uint64_t most)
{
    return least + rng_below(r, most - least + 1);
}

static bool once_in(struct rng *r, uint64_t times)
{
    return rng_below(r, times) == 0;
}

/* Every octave alike. */
static uint64_t scaled(struct rng *r, uint64_t least, uint64_t most)
{
    return (uint64_t)((double)least *
                      pow((double)most / (double)least, rng_unit(r)));
}

static uint64_t power_below(uint64_t value)
{
    uint64_t power = 1;
    while (2 * power <= value)
        power *= 2;
    return power;
}

static unsigned log_of(uint64_t power)
{
    return (unsigned)__builtin_ctzll(power);
}

static uint64_t at_least(uint64_t value, uint64_t least)
{
    return value > least ? value : least;
}

static bool is(const char *name, const char *other)
{
    return name != NULL && strcmp(name, other) == 0;
}

/* ---- caches ---- */

/* SMs that two parts take; bits of an address within a granule of memory. */
enum { PARTED_SMS = 4, PAGE_BITS = 21 };

static void draw_line(struct rng *r, const struct kind *kind, struct draw *d)
{
    const unsigned octaves =
        log_of(kind->line_most) - log_of(kind->line_least) + 1;
    d->line = kind->line_least << rng_below(r, octaves);
    const uint64_t sectors[] = {32, 64, d->line};
    do
        d->sector = sectors[rng_below(r, 3)];
    while (d->sector > d->line);
}

/* Two at least, and no more than the lines there are. */
static uint64_t draw_way_count(struct rng *r, uint64_t lines)
{
    uint64_t ways = between(r, WAYS_LEAST, WAYS_MOST);
    if (lines <= MANY_LINES && once_in(r, 6))
        ways = scaled(r, MANY_LEAST, MANY_MOST);
    return ways < lines ? ways : lines;
}

/* Where chance chooses the victim, the size of a large cache takes many laps to
 * find: such caches are rare.  Ages are of L2 (RTX 4090), and rare elsewhere;
 * lines that come in behind hits are of L1 (H200), and of few ways. */
static enum cache_policy draw_policy(struct rng *r, uint64_t lines, bool far)
{
    static const enum cache_policy policies[] = {
        POLICY_LRU, POLICY_FIFO,   POLICY_PLRU,
        POLICY_NRU, POLICY_RANDOM, POLICY_WEIGHTED};
    enum cache_policy policy;
    const bool any = lines < CHANCE_LINES || once_in(r, 8);
    const uint64_t rare = rng_below(r, far ? 3 : 12);
    if (rare == 0)
        return POLICY_RRIP;
    do
        policy = policies[rng_below(r, COUNT_OF(policies))];
    while (!any && (policy == POLICY_RANDOM || policy == POLICY_WEIGHTED));
    return !far && rare == 1 && policy != POLICY_WEIGHTED ? POLICY_LRU_MIDPOINT
                                                          : policy;
}

static enum index draw_index(struct rng *r, bool far)
{
    static const unsigned shares[INDICES][2] = {
#define X(id, near, far_) {near, far_},
        INDEX_KINDS(X)
#undef X
    };
    uint64_t at = rng_below(r, 100);
    enum index index = 0;
    for (; at >= shares[index][far]; index++)
        at -= shares[index][far];
    return index;
}

/* A tree of bits and a list of weights want equal sets; a tree, 2^n ways. */
static void draw_ways(struct draft *g, bool far, struct draw *d)
{
    struct rng *const r = g->r;
    d->policy = draw_policy(r, d->size / d->line, far);
    const bool equal = d->policy == POLICY_PLRU || d->policy == POLICY_WEIGHTED;
    do
        d->index = draw_index(r, far);
    while ((equal && d->index == INDEX_UNEVEN) ||
           (g->sms < PARTED_SMS && d->index == INDEX_PARTS));
    d->ways = draw_way_count(r, d->size / d->line);
    if (d->policy == POLICY_LRU_MIDPOINT && d->ways > WAYS_MOST)
        d->policy = POLICY_LRU;
    if (d->policy == POLICY_PLRU)
        d->ways = power_below(d->ways);
    if (d->policy == POLICY_WEIGHTED && d->ways > WEIGHTED_MOST)
        d->ways = WEIGHTED_MOST;
    d->shift = d->index == INDEX_SHIFTED ? (unsigned)between(r, 1, 3) : 0;
    while (d->ways % (1u << d->shift) != 0)
        d->shift--;
}

/* As of 80 slices (H100): 5 by a modulus, 16 by XORs. */
static void draw_slices(struct rng *r, struct draw *d)
{
    static const unsigned moduli[] = {1, 1, 3, 5, 7, 9};
    d->parts = d->index == INDEX_PARTS ? 2 : 1;
    if (d->index != INDEX_SLICED && !(d->parts == 2 && once_in(r, 2)))
        return;
    d->modulo = moduli[rng_below(r, COUNT_OF(moduli))];
    d->slice_bits = (unsigned)between(r, d->modulo == 1 ? 1 : 0, 3);
}

static void draw_sets(struct rng *r, struct draw *d)
{
    d->modulo = d->parts = 1;
    draw_slices(r, d);
    const uint64_t slices = d->parts * d->modulo << d->slice_bits;
    const uint64_t sets = d->size / d->line / d->ways / slices;
    d->sets = sets > 0 ? sets : 1;
    if (d->index == INDEX_UNEVEN && d->sets > 1 && d->sets <= LISTED_MOST)
        return;
    if (d->index == INDEX_UNEVEN || (d->sets < 2 && slices == 1))
        d->index = INDEX_MODULO;
    const bool any = slices == d->parts &&
                     (d->index == INDEX_MODULO || d->index == INDEX_PARTS);
    if (!any || once_in(r, 2))
        d->sets = power_below(d->sets);
    d->sets *= slices;
}

static unsigned low_bit(const struct draw *d)
{
    return log_of(d->line) + d->shift;
}

/* Half of the hashes lie within a page, the others reach as far as a program
 * can. */
static unsigned draw_top(struct draft *g, const struct kind *kind, bool virtual,
                         unsigned above)
{
    const unsigned memory = log_of(power_below(g->memory));
    unsigned most = kind->chosen_bits;
    if (!(virtual && g->maps) && most > memory)
        most = memory;
    if (most > PAGE_BITS && once_in(g->r, 2))
        most = PAGE_BITS;
    return most > above ? (unsigned)between(g->r, above, most) : above;
}

/* Any of the bits from `low` up to below `top`. */
static uint64_t draw_bits(struct rng *r, unsigned low, unsigned top)
{
    uint64_t bits = 0;
    for (unsigned bit = low; bit < top; bit++)
        bits |= (uint64_t)rng_below(r, 2) << bit;
    return bits;
}

/* One bit of the index of `count`. */
static uint64_t draw_mask(struct rng *r, const struct draw *d, unsigned i,
                          unsigned count)
{
    const unsigned low = low_bit(d), above = low + count;
    const uint64_t own = (uint64_t)1 << (low + i);
    if (d->index == INDEX_WILD)
        return draw_bits(r, low, d->top);
    if (d->index == INDEX_HASHED)
        return own | draw_bits(r, above, d->top);
    const unsigned room = d->top > above ? d->top - above : 0;
    if (d->index == INDEX_XOR && room > 0 && once_in(r, 2))
        return own | (uint64_t)1 << (above + rng_below(r, room < 6 ? room : 6));
    return own;
}

static void add_mask(struct buf *list, uint64_t mask)
{
    const char *between = list->length > 0 ? ", [" : "[";
    for (; mask != 0; mask &= mask - 1, between = ", ")
        buf_printf(list, "%s%d", between, __builtin_ctzll(mask));
    buf_text(list, "]");
}

/* Masks of the index and then of slices, independent of each other and of the
 * side; as lists. */
static void draw_masks(struct rng *r, const struct draw *d, unsigned count,
                       uint64_t side, struct buf *bits, struct buf *slices)
{
    uint64_t mask[2 * MASKS_MOST], reduced[2 * MASKS_MOST];
    const unsigned all = count + d->slice_bits;
    do {
        for (unsigned i = 0; i < count; i++)
            mask[i] = draw_mask(r, d, i, count);
        for (unsigned i = count; i < all; i++)
            mask[i] = draw_bits(r, log_of(d->line), d->top);
        memcpy(reduced, mask, sizeof mask);
        reduced[all] = side;
    } while (index_canonical(reduced, all + (side != 0)) < all + (side != 0));
    for (unsigned i = 0; i < all; i++)
        add_mask(i < count ? bits : slices, mask[i]);
}

static void wish_slices(struct draft *g, const char *name, const struct draw *d,
                        const char *bits)
{
    const unsigned line = log_of(d->line);
    gpu_wish(g->gpu, "caches/%s/slices={'modulo': %" PRIu64 ", 'from_bit': %u}",
             name, d->modulo, line + (unsigned)between(g->r, 0, 8));
    if (d->slice_bits > 0)
        gpu_wish(g->gpu, "caches/%s/slices/bits=[%s]", name, bits);
}

/* Sides as those of an H100, or by fewer bits; one at least is not among those
 * that a plain index takes, which end at `above`. */
static uint64_t wish_parts(struct draft *g, const char *name, unsigned above)
{
    const unsigned low = (unsigned)between(g->r, 12, 14);
    const unsigned high = above > PAGE_BITS - 2 ? above : PAGE_BITS - 2;
    const uint64_t side = (uint64_t)1 << low | (uint64_t)1 << high |
                          draw_bits(g->r, low + 1, PAGE_BITS - 2);
    struct buf bits = {0};
    add_mask(&bits, side);
    gpu_wish(g->gpu,
             "caches/%s/partitions={'bits': %s, 'far_cycles': %" PRIu64
             ", 'replicates': %s}",
             name, buf_string(&bits), between(g->r, 60, 250),
             once_in(g->r, 3) ? "false" : "true");
    buf_free(&bits);
    return side;
}

/* What chooses a set, where it is not the line's number alone. */
static void wish_index(struct draft *g, const struct kind *kind, bool virtual,
                       struct draw *d)
{
    const bool sliced = d->modulo > 1 || d->slice_bits > 0;
    const uint64_t sets = d->sets / d->parts / (d->modulo << d->slice_bits);
    const bool plain =
        d->index == INDEX_MODULO || sets < 2 || (sliced && once_in(g->r, 2));
    const unsigned count = log_of(power_below(sets));
    const uint64_t side = d->index == INDEX_PARTS
                              ? wish_parts(g, kind->name, low_bit(d) + count)
                              : 0;
    struct buf bits = {0}, slices = {0};
    d->top = draw_top(g, kind, virtual, low_bit(d) + count + d->slice_bits + 1);
    if (sliced && !plain)
        d->index = INDEX_HASHED;
    draw_masks(g->r, d, count, side, &bits, &slices);
    if (!plain && (sliced || d->index != INDEX_PARTS))
        gpu_wish(g->gpu, "caches/%s/set_bits=[%s]", kind->name,
                 buf_string(&bits));
    if (sliced)
        wish_slices(g, kind->name, d, buf_string(&slices));
    buf_free(&bits);
    buf_free(&slices);
}

/* A few sets have some ways more, as those of Fermi's TLB; at least one.
 * Returns the lines. */
static uint64_t wish_set_ways(struct draft *g, const char *name,
                              const struct draw *d)
{
    uint64_t lines = 0;
    struct buf list = {0};
    for (uint64_t set = 0; set < d->sets; set++) {
        const bool more = set == 0 || once_in(g->r, 4);
        const uint64_t ways = d->ways + (more ? between(g->r, 1, 9) : 0);
        buf_printf(&list, "%s%" PRIu64, set > 0 ? ", " : "", ways);
        lines += ways;
    }
    gpu_wish(g->gpu, "caches/%s/set_ways=[%s]", name, buf_string(&list));
    buf_free(&list);
    return lines;
}

static void wish_policy(struct draft *g, const char *name, const struct draw *d)
{
    if (d->policy == POLICY_RRIP) {
        const uint64_t most = between(g->r, 2, 3);
        gpu_wish(g->gpu,
                 "caches/%s/policy={'kind': 'rrip', 'most': %" PRIu64
                 ", 'insert': %" PRIu64 ", 'hit': 0}",
                 name, most, most - 1);
        return;
    }
    if (d->policy == POLICY_LRU_MIDPOINT) {
        gpu_wish(g->gpu,
                 "caches/%s/policy={'kind': 'lru_midpoint', 'behind': %" PRIu64
                 "}",
                 name, 1 + d->ways % 3);
        return;
    }
    if (d->policy != POLICY_WEIGHTED) {
        gpu_wish(g->gpu, "caches/%s/policy=%s", name,
                 cache_policy_name(d->policy));
        return;
    }
    struct buf weights = {0};
    for (uint64_t way = 0; way < d->ways; way++)
        buf_printf(&weights, "%s%" PRIu64, way > 0 ? ", " : "",
                   between(g->r, 1, 4));
    gpu_wish(g->gpu, "caches/%s/policy={'kind': 'weighted', 'weights': [%s]}",
             name, buf_string(&weights));
    buf_free(&weights);
}

/* Returns the size. */
static uint64_t wish_cache(struct draft *g, const struct kind *kind,
                           uint64_t size)
{
    struct draw d = {.size = size};
    draw_line(g->r, kind, &d);
    draw_ways(g, is(kind->name, "l2"), &d);
    draw_sets(g->r, &d);
    const bool virtual = kind->mapped && once_in(g->r, 2);
    uint64_t lines = d.sets * d.ways;
    gpu_wish(g->gpu, "caches/%s={'line': %" PRIu64 ", 'sector': %" PRIu64 "}",
             kind->name, d.line, d.sector);
    if (d.index == INDEX_UNEVEN)
        lines = wish_set_ways(g, kind->name, &d);
    else
        gpu_wish(g->gpu, "caches/%s/sets=%" PRIu64 " caches/%s/ways=%" PRIu64,
                 kind->name, d.sets, kind->name, d.ways);
    if (d.sets > 1 && d.index != INDEX_UNEVEN && d.index != INDEX_MODULO)
        wish_index(g, kind, virtual, &d);
    if (virtual)
        gpu_wish(g->gpu, "caches/%s/address=virtual", kind->name);
    wish_policy(g, kind->name, &d);
    gpu_wish(g->gpu, "caches/%s/size=%" PRIu64, kind->name, lines * d.line);
    return lines * d.line;
}

static bool is_wanted(const struct draft *g, const char *name)
{
    const struct scheme *const s = g->scheme;
    return is(s->ca, name) || is(s->local, name) || is(s->readonly, name) ||
           is(s->texture, name) || (g->has_const_l1 && is("const_l1", name)) ||
           (g->has_const_l15 && is("const_l15", name));
}

/* A cache in four is split among the schedulers, and a constant L1.5 in four is
 * shared by SMs.  Large ones are rare, since studies take long with them. */
static void wish_sm_cache(struct draft *g, const struct kind *kind)
{
    uint64_t copies = 1;
    const bool far = is("const_l15", kind->name);
    const bool shared = far && once_in(g->r, 4);
    if (!far && g->schedulers > 1 && once_in(g->r, 4))
        copies = between(g->r, 2, g->schedulers);
    const uint64_t most = once_in(g->r, 5) ? kind->most : kind->most / 4;
    const uint64_t size = wish_cache(g, kind, scaled(g->r, kind->least, most));
    gpu_wish(g->gpu, "caches/%s/scope=%s caches/%s/copies_per_sm=%" PRIu64,
             kind->name, shared ? "tpc" : "sm", kind->name, copies);
    g->largest = at_least(g->largest, far ? 0 : size);
    g->const_l15 = far ? size : g->const_l15;
}

/* An L2 has at least six times what an L1 has, and rarely very much.  Sets that
 * are a power of two may halve a size, so twice that is asked for. */
static void wish_l2(struct draft *g, const struct kind *kind)
{
    const uint64_t least = at_least(12 * g->largest, kind->least);
    const bool roomy = g->memory >= 1024 * MIB;
    uint64_t most = 2 * MIB;
    if (roomy && once_in(g->r, 5))
        most = once_in(g->r, 4) ? kind->most : 16 * MIB;
    wish_cache(g, kind, scaled(g->r, least, at_least(most, least)));
    gpu_wish(g->gpu, "caches/l2/scope=gpu caches/l2/atomic_cycles=%" PRIu64,
             4 + least / 32 % 4);
}

static void wish_caches(struct draft *g)
{
    const struct kind *kind = kinds;
    g->scheme = &schemes[rng_below(g->r, COUNT_OF(schemes))];
    g->has_constant = !once_in(g->r, 10);
    g->has_const_l1 = g->has_constant && !once_in(g->r, 10);
    g->has_const_l15 = g->has_const_l1 && !once_in(g->r, 5);
    gpu_wish(g->gpu, "caches={}");
    for (; !is(kind->name, "l2"); kind++)
        if (is_wanted(g, kind->name))
            wish_sm_cache(g, kind);
    wish_l2(g, kind);
}

/* ---- TLBs ---- */

/* A TLB in the making. */
struct tlb_draw {
    const char *name, *scope;
    uint64_t page, region;
    uint64_t entries; /* wanted, regions */
};

/* Bits of the region's number, folded: each with those that lie a fold, two
 * folds … higher (GA102: folds of 7 and 8 bits). */
static void wish_folded(struct draft *g, const struct tlb_draw *t,
                        unsigned count)
{
    enum { FOLDED_BITS = 42 };
    const unsigned low = log_of(t->region);
    const unsigned fold = count + (unsigned)rng_below(g->r, 2);
    struct buf bits = {0};
    for (unsigned i = 0; i < count; i++) {
        uint64_t mask = 0;
        for (unsigned bit = low + i; bit < FOLDED_BITS; bit += fold)
            mask |= (uint64_t)1 << bit;
        add_mask(&bits, mask);
    }
    gpu_wish(g->gpu, "tlbs/%s/set_bits=[%s]", t->name, buf_string(&bits));
    buf_free(&bits);
}

/* Returns how many. */
static uint64_t wish_equal_sets(struct draft *g, const struct tlb_draw *t,
                                uint64_t sets, uint64_t ways)
{
    const bool folded = once_in(g->r, 2);
    sets = folded ? power_below(sets) : sets;
    gpu_wish(g->gpu, "tlbs/%s/sets=%" PRIu64 " tlbs/%s/ways=%" PRIu64, t->name,
             sets, t->name, ways);
    if (folded)
        wish_folded(g, t, log_of(sets));
    return sets * ways;
}

/* About so many entries as are wanted; returns how many. */
static uint64_t wish_entries(struct draft *g, const struct tlb_draw *t)
{
    const uint64_t ways = between(g->r, 4, 16);
    const uint64_t sets = t->entries / ways;
    if (sets < 2 || once_in(g->r, 3)) {
        gpu_wish(g->gpu, "tlbs/%s/entries=%" PRIu64, t->name, t->entries);
        return t->entries;
    }
    if (!once_in(g->r, 3))
        return wish_equal_sets(g, t, sets, ways);
    const uint64_t first = ways + between(g->r, 1, 12);
    struct buf list = {0};
    for (uint64_t set = 1; set < sets; set++)
        buf_printf(&list, ", %" PRIu64, ways);
    gpu_wish(g->gpu, "tlbs/%s/set_ways=[%" PRIu64 "%s]", t->name, first,
             buf_string(&list));
    buf_free(&list);
    return first + (sets - 1) * ways;
}

/* Returns the reach. */
static uint64_t wish_tlb(struct draft *g, const struct tlb_draw *t)
{
    static const char *const policies[] = {"lru",  "lru",    "lru",
                                           "fifo", "random", "nru"};
    gpu_wish(g->gpu,
             "tlbs/%s={'page': %" PRIu64 ", 'region': %" PRIu64
             ", 'fill': '%s', 'scope': '%s'}",
             t->name, t->page, t->region, once_in(g->r, 3) ? "region" : "page",
             t->scope);
    const uint64_t reach = t->region * wish_entries(g, t);
    gpu_wish(g->gpu, "tlbs/%s/policy=%s", t->name,
             policies[rng_below(g->r, COUNT_OF(policies))]);
    return reach;
}

/* Pages that an entry covers: one in half of all TLBs. */
static uint64_t draw_region(struct rng *r, uint64_t page)
{
    static const unsigned pages[] = {1, 1, 1, 8, 16, 16};
    return page * pages[rng_below(r, COUNT_OF(pages))];
}

/* Thrice the reach of the level before, or up to ten times that. */
static uint64_t wish_next_tlb(struct draft *g, const char *name, uint64_t page,
                              uint64_t reach)
{
    struct tlb_draw t = {.name = name, .page = page};
    t.region = draw_region(g->r, page);
    const uint64_t least = at_least(3 * reach / t.region, 16);
    t.entries = scaled(g->r, least, 10 * least);
    t.scope = once_in(g->r, 3) ? "gpc" : "gpu";
    return wish_tlb(g, &t);
}

static void wish_tlbs(struct draft *g)
{
    uint64_t page = (64u * KIB) << rng_below(g->r, once_in(g->r, 8) ? 10 : 6);
    if (once_in(g->r, 5))
        return;
    const struct tlb_draw first = {
        .name = "l1",
        .page = page,
        .region = once_in(g->r, 2) ? page : draw_region(g->r, page),
        .entries = scaled(g->r, 8, 128),
        .scope = once_in(g->r, 4) ? "tpc" : "sm"};
    uint64_t reach = wish_tlb(g, &first);
    if (page <= 2 * MIB && once_in(g->r, 3))
        page *= 16;
    if (!once_in(g->r, 3)) {
        reach = wish_next_tlb(g, "l2", page, reach);
        if (once_in(g->r, 6))
            wish_next_tlb(g, "l3", page, reach);
    }
}

/* ---- paths ---- */

/* Cycles of a path: of its caches by distance, and what translation adds. */
struct costs {
    uint64_t near[2], l2, memory;
    uint64_t second, walk;
    bool translated[2]; /* near caches; L2 and memory: three numbers, not one */
};

static void add_latency(const char *level, uint64_t cycles,
                        const struct costs *c, bool translated, struct buf *out)
{
    if (translated)
        buf_printf(out, "'%s': [%" PRIu64 ", %" PRIu64 ", %" PRIu64 "], ",
                   level, cycles, cycles + c->second,
                   cycles + c->second + c->walk);
    else
        buf_printf(out, "'%s': %" PRIu64 ", ", level, cycles);
}

/* A path through up to two caches of the SM, then L2. */
static void wish_path(struct draft *g, const char *name, const struct costs *c,
                      const char *const near[2])
{
    struct buf costs = {0};
    for (int i = 0; i < 2 && near[i] != NULL; i++)
        add_latency(near[i], c->near[i], c, c->translated[0], &costs);
    add_latency("l2", c->l2, c, c->translated[1], &costs);
    add_latency("memory", c->memory, c, c->translated[1], &costs);
    gpu_wish(g->gpu, "paths/%s={%.*s}", name, (int)costs.length - 2,
             buf_string(&costs));
    buf_free(&costs);
}

/* The costs with a first cache of so many cycles: L2 is always farther. */
static struct costs costs_from(struct rng *r, const struct costs *c,
                               uint64_t near)
{
    struct costs own = *c;
    own.near[0] = near;
    own.l2 = at_least(c->l2, near + between(r, 60, 120));
    own.memory = own.l2 + (c->memory - c->l2);
    return own;
}

/* A load of global, local or texture memory; `first` is its first cache. */
static void wish_load(struct draft *g, const char *name,
                      const struct costs *costs, const char *first)
{
    const char *const near[2] = {is(first, "l2") ? NULL : first, NULL};
    wish_path(g, name, costs, near);
}

/* Those that share L1 need about as long, texture units somewhat longer; a
 * cache of their own is as far as any. */
static void wish_other_load(struct draft *g, const char *name,
                            const struct costs *costs, const char *first,
                            uint64_t longer)
{
    if (first == NULL)
        return;
    uint64_t near = between(g->r, 20, 150);
    if (is(first, "l2"))
        near = 0;
    else if (is(first, g->scheme->ca))
        near = costs->near[0] + between(g->r, 0, longer);
    const struct costs own = costs_from(g->r, costs, near);
    wish_load(g, name, &own, first);
}

static void wish_constant(struct draft *g, const struct costs *costs)
{
    const uint64_t first = between(g->r, 8, 60);
    const uint64_t second = first + between(g->r, 30, 90);
    struct costs own =
        costs_from(g->r, costs, g->has_const_l15 ? second : first);
    const char *const near[2] = {g->has_const_l1 ? "const_l1" : NULL,
                                 g->has_const_l15 ? "const_l15" : NULL};
    own.near[0] = first;
    own.near[1] = second;
    own.translated[0] = own.translated[1] = false;
    wish_path(g, "constant", &own, near);
}

static struct costs draw_costs(struct rng *r)
{
    struct costs c = {.near = {between(r, 20, 150)}};
    c.l2 = c.near[0] + between(r, 60, 350);
    c.memory = c.l2 + between(r, 100, 600);
    c.second = between(r, 5, 60);
    c.walk = between(r, 100, 600);
    c.translated[0] = once_in(r, 3);
    c.translated[1] = !once_in(r, 5);
    return c;
}

/* Kepler's: leaving the window costs more than all else (Mei, pattern 6). */
static void wish_page_window(struct draft *g, const struct costs *c)
{
    if (!once_in(g->r, 6))
        return;
    const uint64_t bytes = (uint64_t)(128 * MIB) << rng_below(g->r, 4);
    gpu_wish(g->gpu,
             "page_window={'bytes': %" PRIu64 ", 'latency': %" PRIu64 "}",
             bytes, c->memory + c->second + c->walk + between(g->r, 50, 400));
}

/* Loads that ask L1 first may take longer to L2 than those that do not. */
static void wish_paths(struct draft *g)
{
    const struct scheme *const s = g->scheme;
    struct costs c = draw_costs(g->r);
    const char *const none[2] = {NULL, NULL};
    wish_path(g, "global.cg", &c, none);
    if (!is(s->ca, "l2") && once_in(g->r, 4)) {
        const uint64_t detour = between(g->r, 1, 40);
        c.l2 += detour;
        c.memory += detour;
    }
    wish_load(g, "global.ca", &c, s->ca);
    wish_other_load(g, "local", &c, s->local, 0);
    wish_other_load(g, "readonly", &c, s->readonly, 6);
    wish_other_load(g, "texture", &c, s->texture, 60);
    if (g->has_constant)
        wish_constant(g, &c);
    wish_page_window(g, &c);
}

/* ---- code ---- */

/* A cache of code of about that size; returns its size. */
static uint64_t wish_code_cache(struct draft *g, const char *name,
                                uint64_t line, uint64_t size)
{
    static const char *const policies[] = {"lru", "lru", "fifo", "nru",
                                           "random"};
    static const char *const scopes[] = {"sm", "sm", "tpc", "gpc"};
    const bool nearest = is(name, "icache_l0");
    const uint64_t ways = between(g->r, 2, 16);
    const uint64_t sets = at_least(size / line / ways, 1);
    gpu_wish(g->gpu,
             "caches/%s={'line': %" PRIu64 ", 'sector': %" PRIu64
             ", 'sets': %" PRIu64 ", 'ways': %" PRIu64
             ", 'policy': '%s', 'scope': '%s', 'copies_per_sm': %" PRIu64 "}",
             name, line, line, sets, ways, policies[rng_below(g->r, 5)],
             nearest ? "sm" : scopes[rng_below(g->r, 4)],
             nearest && once_in(g->r, 2) ? g->schedulers : 1);
    return sets * ways * line;
}

/* One to three levels, each at least twice the one before, of which the last
 * may be that of constants. */
static void wish_code(struct draft *g)
{
    static const char *const names[] = {"icache_l0", "icache_l1", "icache_l15"};
    static const unsigned ahead[] = {0, 0, 1, 2, 4};
    struct buf costs = {0};
    uint64_t cycles = between(g->r, 1, 10), line = 64u << rng_below(g->r, 2);
    uint64_t size = scaled(g->r, 4 * KIB, 24 * KIB);
    const uint64_t levels = between(g->r, 1, 3);
    bool shared = false;
    if (once_in(g->r, 4))
        return;
    for (uint64_t i = 0; i < levels && size <= 112 * KIB && !shared; i++) {
        shared = i > 0 && g->const_l15 >= size && once_in(g->r, 2);
        if (!shared)
            size = wish_code_cache(g, names[i], line, size);
        buf_printf(&costs, "'%s': %" PRIu64 ", ",
                   shared ? "const_l15" : names[i], cycles);
        cycles += between(g->r, 25, 150);
        size = 2 * size + scaled(g->r, 4 * KIB, 64 * KIB);
        line *= line < 128 ? between(g->r, 1, 2) : 1;
    }
    gpu_wish(g->gpu,
             "paths/instruction={%s 'memory': %" PRIu64
             "} paths/instruction/prefetch=%u",
             buf_string(&costs), cycles + between(g->r, 50, 300),
             ahead[rng_below(g->r, COUNT_OF(ahead))]);
    buf_free(&costs);
}

/* ---- the rest ---- */

/* Rarely so little memory that a TLB reaches beyond it, or as much as 80 GiB.
 */
static uint64_t draw_memory(struct rng *r)
{
    if (once_in(r, 8))
        return 256 * MIB;
    return once_in(r, 10) ? (uint64_t)80 * KIB * MIB
                          : (uint64_t)(1024 * MIB) << rng_below(r, 5);
}

static void wish_head(struct draft *g)
{
    static const char *const capabilities[] = {"2.1", "3.5", "5.2", "6.1",
                                               "7.0", "7.5", "8.0", "9.0"};
    g->schedulers = between(g->r, 1, 4);
    g->memory = draw_memory(g->r);
    gpu_wish(g->gpu, "architecture=Random compute_capability='%s'",
             capabilities[rng_below(g->r, 8)]);
    g->sms = scaled(g->r, 1, 140);
    g->maps = !once_in(g->r, 6);
    if (!g->maps)
        gpu_wish(g->gpu, "mapping_bytes=0");
    gpu_wish(g->gpu,
             "sms=%" PRIu64 " sms_per_tpc=%" PRIu64 " tpcs_per_gpc=%" PRIu64
             " warp_schedulers=%" PRIu64,
             g->sms, between(g->r, 1, 3), between(g->r, 1, 9), g->schedulers);
    gpu_wish(g->gpu,
             "clock_khz=%" PRIu64 " memory_bytes=%" PRIu64
             " clock_overhead=%" PRIu64,
             between(g->r, 5, 20) * 100000, g->memory, between(g->r, 2, 40));
}

/* Banks as they have been: Tesla's 16, Fermi's 32, Kepler's two modes. */
static void wish_shared(struct draft *g)
{
    static const char *const banks[] = {
        "'banks': 32, 'bank_bytes': 4",
        "'banks': 32, 'bank_bytes': 4",
        "'banks': 32, 'bank_bytes': 8",
        "'banks': 32, 'bank_bytes': 4, 'row_words': 2",
        "'banks': 16, 'bank_bytes': 4",
    };
    static const unsigned kibibytes[] = {48, 64, 96, 164};
    gpu_wish(g->gpu,
             "shared_memory={'bytes': %u, 'latency': %" PRIu64
             ", 'conflict_cycles': %" PRIu64 ", %s}",
             KIB * kibibytes[rng_below(g->r, COUNT_OF(kibibytes))],
             between(g->r, 20, 60), between(g->r, 2, 40),
             banks[rng_below(g->r, COUNT_OF(banks))]);
}

static void wish_tail(struct draft *g)
{
    wish_shared(g);
    gpu_wish(g->gpu, "isa/default/O3=%" PRIu64, between(g->r, 4, 20));
    gpu_wish(g->gpu,
             "noise={'jitter_cycles': %.2f, 'spike_rate': %.5f, "
             "'spike_cycles': %" PRIu64 "}",
             2.5 * rng_unit(g->r), 0.003 * rng_unit(g->r),
             between(g->r, 100, 600));
}

/* A victim buffer beside some of the TLBs of equal sets (H200: its third),
 * unless these are two or three, which it makes look like one; drawn last, so that a seed's GPU is otherwise as it was before there were any.
 */
static void wish_spares(struct draft *g)
{
    json_t *const tlbs = json_object_get(g->gpu, "tlbs");
    const char *name;
    json_t *tlb;
    json_object_foreach(tlbs, name, tlb)
    {
        if (json_integer_value(json_object_get(tlb, "sets")) > 3 &&
            once_in(g->r, 8))
            json_object_set_new(
                tlb, "spare", json_integer((json_int_t)between(g->r, 1, 2)));
    }
}

char *gpu_random(uint64_t seed)
{
    struct rng r;
    struct draft g = {.r = &r, .gpu = gpu_plain()};
    rng_seed(&r, seed);
    gpu_wish(g.gpu, "name='Random GPU %" PRIu64 "'", seed);
    wish_head(&g);
    wish_caches(&g);
    wish_tlbs(&g);
    wish_paths(&g);
    wish_code(&g);
    wish_tail(&g);
    wish_spares(&g);
    return gpu_text(g.gpu);
}
