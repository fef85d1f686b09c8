/*
 * What is drawn covers what caches of GPUs have been found or claimed to be
 * (Mei 2014; Groessler 2022; Wong 2010), and somewhat more.  A ring of
 * consecutive lines as large as the cache fits in every one of them: where an
 * index takes bits from above the line, the ways are a multiple of the lines
 * that then follow each other in a set.
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

enum { KIB = 1024, MIB = 1024 * 1024, WAYS_LEAST = 2, WAYS_MOST = 24 };
/* A list of weights is shown way by way; more ways than Fermi's by four. */
enum { WEIGHTED_MOST = 16 };
/* Sets of current L1 caches and of texture caches: 96 to 241 ways. */
enum { MANY_LEAST = 48, MANY_MOST = 256, MANY_LINES = 4 * MANY_MOST };
/* More than this many sets are not listed one by one. */
enum { LISTED_MOST = 512 };
enum { CHANCE_LINES = 4096 };

enum index { INDEX_MODULO, INDEX_UNEVEN, INDEX_SHIFTED, INDEX_XOR, INDICES };

/* What a cache of some name may be. */
struct kind {
    const char *name;
    uint64_t least, most;           /* size, B */
    uint64_t line_least, line_most; /* B */
    /* Address bits below this one are the program's to choose: it must be able
     * to tell the bits of a hash. */
    unsigned chosen_bits;
};

static const struct kind kinds[] = {
    {"l1", 8 * KIB, 256 * KIB, 32, 256, 30},
    {"local", 8 * KIB, 64 * KIB, 32, 128, 20},
    {"readonly", 8 * KIB, 64 * KIB, 32, 128, 30},
    {"texture", 8 * KIB, 64 * KIB, 32, 128, 30},
    {"const_l1", 1 * KIB, 8 * KIB, 32, 128, 16},
    {"const_l15", 16 * KIB, 256 * KIB, 64, 256, 16},
    {"l2", 256 * KIB, 64 * MIB, 64, 256, 30},
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
};

/* A GPU in the making: what later parts must know of earlier ones. */
struct draft {
    struct rng *r;
    json_t *gpu;
    uint64_t schedulers, memory;
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

/* ---- caches ---- */

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
 * find: such caches are rare. */
static enum cache_policy draw_policy(struct rng *r, uint64_t lines)
{
    static const enum cache_policy policies[] = {
        POLICY_LRU, POLICY_FIFO,   POLICY_PLRU,
        POLICY_NRU, POLICY_RANDOM, POLICY_WEIGHTED};
    enum cache_policy policy;
    const bool any = lines < CHANCE_LINES || once_in(r, 8);
    do
        policy = policies[rng_below(r, COUNT_OF(policies))];
    while (!any && (policy == POLICY_RANDOM || policy == POLICY_WEIGHTED));
    return policy;
}

/* A tree of bits and a list of weights want equal sets; a tree, 2^n ways. */
static void draw_ways(struct rng *r, struct draw *d)
{
    d->policy = draw_policy(r, d->size / d->line);
    const bool equal = d->policy == POLICY_PLRU || d->policy == POLICY_WEIGHTED;
    do
        d->index = (enum index)rng_below(r, INDICES);
    while (equal && d->index == INDEX_UNEVEN);
    d->ways = draw_way_count(r, d->size / d->line);
    if (d->policy == POLICY_PLRU)
        d->ways = power_below(d->ways);
    if (d->policy == POLICY_WEIGHTED && d->ways > WEIGHTED_MOST)
        d->ways = WEIGHTED_MOST;
    d->shift = d->index == INDEX_SHIFTED ? (unsigned)between(r, 1, 3) : 0;
    while (d->ways % (1u << d->shift) != 0)
        d->shift--;
}

static void draw_sets(struct rng *r, struct draw *d)
{
    const uint64_t sets = d->size / d->line / d->ways;
    d->sets = sets > 0 ? sets : 1;
    if (d->index == INDEX_UNEVEN && d->sets > 1 && d->sets <= LISTED_MOST)
        return;
    if (d->index == INDEX_UNEVEN || d->sets < 2)
        d->index = INDEX_MODULO;
    if (d->index != INDEX_MODULO || once_in(r, 2))
        d->sets = power_below(d->sets);
}

/* Bits from above the line; every other one XORed with one from above all. */
static void wish_set_bits(struct draft *g, const struct kind *kind,
                          const struct draw *d)
{
    const unsigned low = log_of(d->line) + d->shift, count = log_of(d->sets);
    const unsigned above = low + count;
    const unsigned room =
        kind->chosen_bits > above ? kind->chosen_bits - above : 0;
    const unsigned partners = room < 6 ? room : 6;
    struct buf bits = {0};
    for (unsigned i = 0; i < count; i++) {
        buf_text(&bits, i > 0 ? ", " : "");
        if (d->index == INDEX_XOR && partners > 0 && once_in(g->r, 2))
            buf_printf(&bits, "[%u, %u]", low + i,
                       above + (unsigned)rng_below(g->r, partners));
        else
            buf_printf(&bits, "%u", low + i);
    }
    gpu_wish(g->gpu, "caches/%s/set_bits=[%s]", kind->name, buf_string(&bits));
    buf_free(&bits);
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
    draw_ways(g->r, &d);
    draw_sets(g->r, &d);
    uint64_t lines = d.sets * d.ways;
    gpu_wish(g->gpu, "caches/%s={'line': %" PRIu64 ", 'sector': %" PRIu64 "}",
             kind->name, d.line, d.sector);
    if (d.index == INDEX_UNEVEN)
        lines = wish_set_ways(g, kind->name, &d);
    else
        gpu_wish(g->gpu, "caches/%s/sets=%" PRIu64 " caches/%s/ways=%" PRIu64,
                 kind->name, d.sets, kind->name, d.ways);
    if (d.sets > 1 && (d.index == INDEX_SHIFTED || d.index == INDEX_XOR))
        wish_set_bits(g, kind, &d);
    wish_policy(g, kind->name, &d);
    gpu_wish(g->gpu, "caches/%s/size=%" PRIu64, kind->name, lines * d.line);
    return lines * d.line;
}

static bool is(const char *name, const char *other)
{
    return name != NULL && strcmp(name, other) == 0;
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
    gpu_wish(g->gpu, "caches/l2/scope=gpu");
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

/* A TLB of about so many entries; returns how many. */
static uint64_t wish_entries(struct draft *g, const char *name,
                             uint64_t entries)
{
    const uint64_t ways = between(g->r, 4, 16);
    const uint64_t sets = entries / ways;
    if (sets < 2 || once_in(g->r, 3)) {
        gpu_wish(g->gpu, "tlbs/%s/entries=%" PRIu64, name, entries);
        return entries;
    }
    if (once_in(g->r, 2)) {
        gpu_wish(g->gpu, "tlbs/%s/sets=%" PRIu64 " tlbs/%s/ways=%" PRIu64, name,
                 sets, name, ways);
        return sets * ways;
    }
    const uint64_t first = ways + between(g->r, 1, 12);
    struct buf list = {0};
    for (uint64_t set = 1; set < sets; set++)
        buf_printf(&list, ", %" PRIu64, ways);
    gpu_wish(g->gpu, "tlbs/%s/set_ways=[%" PRIu64 "%s]", name, first,
             buf_string(&list));
    buf_free(&list);
    return first + (sets - 1) * ways;
}

/* Returns the reach. */
static uint64_t wish_tlb(struct draft *g, const char *name, uint64_t page,
                         uint64_t entries, const char *scope)
{
    static const char *const policies[] = {"lru",  "lru",    "lru",
                                           "fifo", "random", "nru"};
    gpu_wish(g->gpu, "tlbs/%s={'page': %" PRIu64 ", 'scope': '%s'}", name, page,
             scope);
    const uint64_t reach = page * wish_entries(g, name, entries);
    gpu_wish(g->gpu, "tlbs/%s/policy=%s", name,
             policies[rng_below(g->r, COUNT_OF(policies))]);
    return reach;
}

/* Thrice the reach of the level before, or up to that of thousands of pages. */
static uint64_t wish_next_tlb(struct draft *g, const char *name, uint64_t page,
                              uint64_t reach)
{
    const uint64_t least = at_least(3 * reach / page, 16);
    const char *const scope = once_in(g->r, 3) ? "gpc" : "gpu";
    return wish_tlb(g, name, page, scaled(g->r, least, 10 * least), scope);
}

static void wish_tlbs(struct draft *g)
{
    uint64_t page = (64u * KIB) << rng_below(g->r, once_in(g->r, 8) ? 10 : 6);
    if (once_in(g->r, 5))
        return;
    const char *const scope = once_in(g->r, 4) ? "tpc" : "sm";
    uint64_t reach = wish_tlb(g, "l1", page, scaled(g->r, 8, 128), scope);
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
    gpu_wish(g->gpu,
             "sms=%" PRIu64 " sms_per_tpc=%" PRIu64 " tpcs_per_gpc=%" PRIu64
             " warp_schedulers=%" PRIu64,
             scaled(g->r, 1, 140), between(g->r, 1, 3), between(g->r, 1, 9),
             g->schedulers);
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
    wish_tail(&g);
    return gpu_text(g.gpu);
}
