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
    {"l1",        8 * KIB,   256 * KIB, 32, 256, 30},
    {"local",     8 * KIB,   64 * KIB,  32, 128, 20},
    {"readonly",  8 * KIB,   64 * KIB,  32, 128, 30},
    {"texture",   8 * KIB,   64 * KIB,  32, 128, 30},
    {"const_l1",  1 * KIB,   8 * KIB,   32, 128, 16},
    {"const_l15", 16 * KIB,  256 * KIB, 64, 256, 16},
    {"l2",        256 * KIB, 64 * MIB,  64, 256, 30},
};

/* The first cache of each path; NULL: no such path. */
struct scheme {
    const char *ca, *local, *readonly, *texture;
};

static const struct scheme schemes[] = {
    {"l1", "l1",    "l1",       "l1"     }, /* since Pascal, hence thrice */
    {"l1", "l1",    "l1",       "l1"     },
    {"l1", "l1",    "l1",       "l1"     },
    {"l1", "l1",    NULL,       "texture"}, /* Fermi */
    {"l1", "l1",    "texture",  "texture"}, /* K20c */
    {"l2", "l1",    "texture",  "texture"}, /* GTX 780 */
    {"l2", "l2",    "texture",  "texture"}, /* 840M */
    {"l1", "local", "readonly", "texture"},
    {"l1", "l1",    "readonly", "l1"     },
    {"l1", NULL,    NULL,       NULL     },
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
    struct buf *out;
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
    enum cache_policy policy;
    const bool any = lines < CHANCE_LINES || once_in(r, 8);
    do
        policy = (enum cache_policy)rng_below(r, POLICY_COUNT);
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
static void write_set_bits(struct rng *r, const struct draw *d,
                           unsigned chosen_bits, struct buf *out)
{
    const unsigned low = log_of(d->line) + d->shift, count = log_of(d->sets);
    const unsigned above = low + count;
    const unsigned room = chosen_bits > above ? chosen_bits - above : 0;
    const unsigned partners = room < 6 ? room : 6;
    buf_text(out, ", \"set_bits\": [");
    for (unsigned i = 0; i < count; i++) {
        buf_text(out, i > 0 ? ", " : "");
        if (d->index == INDEX_XOR && partners > 0 && once_in(r, 2))
            buf_printf(out, "[%u, %u]", low + i,
                       above + (unsigned)rng_below(r, partners));
        else
            buf_printf(out, "%u", low + i);
    }
    buf_text(out, "]");
}

/* A few sets have some ways more, as those of Fermi's TLB; at least one. */
static uint64_t write_set_ways(struct rng *r, const struct draw *d,
                               struct buf *out)
{
    uint64_t lines = 0;
    buf_text(out, ", \"set_ways\": [");
    for (uint64_t set = 0; set < d->sets; set++) {
        const bool more = set == 0 || once_in(r, 4);
        const uint64_t ways = d->ways + (more ? between(r, 1, 9) : 0);
        buf_printf(out, "%s%" PRIu64, set > 0 ? ", " : "", ways);
        lines += ways;
    }
    buf_text(out, "]");
    return lines;
}

static void write_policy(struct rng *r, const struct draw *d, struct buf *out)
{
    if (d->policy != POLICY_WEIGHTED) {
        buf_printf(out, ", \"policy\": \"%s\"", cache_policy_name(d->policy));
        return;
    }
    buf_text(out, ", \"policy\": {\"kind\": \"weighted\", \"weights\": [");
    for (uint64_t way = 0; way < d->ways; way++)
        buf_printf(out, "%s%" PRIu64, way > 0 ? ", " : "", between(r, 1, 4));
    buf_text(out, "]}");
}

/* Returns the size. */
static uint64_t write_cache(struct draft *g, const struct kind *kind,
                            uint64_t size, const char *more)
{
    struct draw d = {.size = size};
    draw_line(g->r, kind, &d);
    draw_ways(g->r, &d);
    draw_sets(g->r, &d);
    uint64_t lines = d.sets * d.ways;
    buf_printf(g->out,
               "    \"%s\": {\"line\": %" PRIu64 ", \"sector\": %" PRIu64,
               kind->name, d.line, d.sector);
    if (d.index == INDEX_UNEVEN)
        lines = write_set_ways(g->r, &d, g->out);
    else
        buf_printf(g->out, ", \"sets\": %" PRIu64 ", \"ways\": %" PRIu64,
                   d.sets, d.ways);
    if (d.sets > 1 && (d.index == INDEX_SHIFTED || d.index == INDEX_XOR))
        write_set_bits(g->r, &d, kind->chosen_bits, g->out);
    write_policy(g->r, &d, g->out);
    buf_printf(g->out, "%s, \"size\": %" PRIu64 "}", more, lines * d.line);
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
static void write_sm_cache(struct draft *g, const struct kind *kind)
{
    char more[64] = "";
    const bool far = is("const_l15", kind->name);
    if (far && once_in(g->r, 4))
        strcpy(more, ", \"scope\": \"tpc\"");
    else if (!far && g->schedulers > 1 && once_in(g->r, 4))
        snprintf(more, sizeof more, ", \"copies_per_sm\": %" PRIu64,
                 between(g->r, 2, g->schedulers));
    const uint64_t most = once_in(g->r, 5) ? kind->most : kind->most / 4;
    const uint64_t size =
        write_cache(g, kind, scaled(g->r, kind->least, most), more);
    g->largest = at_least(g->largest, far ? 0 : size);
    buf_text(g->out, ",\n");
}

/* An L2 has at least six times what an L1 has, and rarely very much.  Sets that
 * are a power of two may halve a size, so twice that is asked for. */
static void write_l2(struct draft *g, const struct kind *kind)
{
    const uint64_t least = at_least(12 * g->largest, kind->least);
    const bool roomy = g->memory >= 1024 * MIB;
    uint64_t most = 2 * MIB;
    if (roomy && once_in(g->r, 5))
        most = once_in(g->r, 4) ? kind->most : 16 * MIB;
    write_cache(g, kind, scaled(g->r, least, at_least(most, least)),
                ", \"scope\": \"gpu\"");
}

static void write_caches(struct draft *g)
{
    const struct kind *kind = kinds;
    g->scheme = &schemes[rng_below(g->r, COUNT_OF(schemes))];
    g->has_constant = !once_in(g->r, 10);
    g->has_const_l1 = g->has_constant && !once_in(g->r, 10);
    g->has_const_l15 = g->has_const_l1 && !once_in(g->r, 5);
    buf_text(g->out, "  \"caches\": {\n");
    for (; !is(kind->name, "l2"); kind++)
        if (is_wanted(g, kind->name))
            write_sm_cache(g, kind);
    write_l2(g, kind);
    buf_text(g->out, "\n  },\n");
}

/* ---- TLBs ---- */

/* A TLB of about so many entries; returns how many. */
static uint64_t write_entries(struct draft *g, uint64_t entries)
{
    const uint64_t ways = between(g->r, 4, 16);
    const uint64_t sets = entries / ways;
    if (sets < 2 || once_in(g->r, 3)) {
        buf_printf(g->out, ", \"entries\": %" PRIu64, entries);
        return entries;
    }
    if (once_in(g->r, 2)) {
        buf_printf(g->out, ", \"sets\": %" PRIu64 ", \"ways\": %" PRIu64, sets,
                   ways);
        return sets * ways;
    }
    const uint64_t first = ways + between(g->r, 1, 12);
    buf_printf(g->out, ", \"set_ways\": [%" PRIu64, first);
    for (uint64_t set = 1; set < sets; set++)
        buf_printf(g->out, ", %" PRIu64, ways);
    buf_text(g->out, "]");
    return first + (sets - 1) * ways;
}

/* Returns the reach. */
static uint64_t write_tlb(struct draft *g, const char *name, uint64_t page,
                          uint64_t entries, const char *scope)
{
    static const char *const policies[] = {"lru",  "lru",    "lru",
                                           "fifo", "random", "nru"};
    buf_printf(g->out, "    \"%s\": {\"page\": %" PRIu64, name, page);
    const uint64_t reach = page * write_entries(g, entries);
    buf_printf(g->out, ", \"policy\": \"%s\", \"scope\": \"%s\"}",
               policies[rng_below(g->r, COUNT_OF(policies))], scope);
    return reach;
}

/* Thrice the reach of the level before, or up to that of thousands of pages. */
static uint64_t write_next_tlb(struct draft *g, const char *name, uint64_t page,
                               uint64_t reach)
{
    const uint64_t least = at_least(3 * reach / page, 16);
    buf_text(g->out, ",\n");
    return write_tlb(g, name, page, scaled(g->r, least, 10 * least),
                     once_in(g->r, 3) ? "gpc" : "gpu");
}

static void write_tlbs(struct draft *g)
{
    uint64_t page = (64u * KIB) << rng_below(g->r, once_in(g->r, 8) ? 10 : 6);
    if (once_in(g->r, 5))
        return;
    buf_text(g->out, "  \"tlbs\": {\n");
    uint64_t reach = write_tlb(g, "l1", page, scaled(g->r, 8, 128),
                               once_in(g->r, 4) ? "tpc" : "sm");
    if (page <= 2 * MIB && once_in(g->r, 3))
        page *= 16;
    if (!once_in(g->r, 3)) {
        reach = write_next_tlb(g, "l2", page, reach);
        if (once_in(g->r, 6))
            write_next_tlb(g, "l3", page, reach);
    }
    buf_text(g->out, "\n  },\n");
}

/* ---- paths ---- */

/* Cycles of a path: of its caches by distance, and what translation adds. */
struct costs {
    uint64_t near[2], l2, memory;
    uint64_t second, walk;
    bool translated[2]; /* near caches; L2 and memory: three numbers, not one */
};

static void write_latency(const char *level, uint64_t cycles,
                          const struct costs *c, bool translated,
                          struct buf *out)
{
    if (translated)
        buf_printf(out, "\"%s\": [%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]",
                   level, cycles, cycles + c->second,
                   cycles + c->second + c->walk);
    else
        buf_printf(out, "\"%s\": %" PRIu64, level, cycles);
}

/* A path through up to two caches of the SM, then L2. */
static void write_path(const char *name, const struct costs *c,
                       const char *const near[2], struct buf *out)
{
    buf_printf(out, "    \"%s\": {\"caches\": [", name);
    for (int i = 0; i < 2 && near[i] != NULL; i++)
        buf_printf(out, "\"%s\", ", near[i]);
    buf_text(out, "\"l2\"], \"latency\": {");
    for (int i = 0; i < 2 && near[i] != NULL; i++) {
        write_latency(near[i], c->near[i], c, c->translated[0], out);
        buf_text(out, ", ");
    }
    write_latency("l2", c->l2, c, c->translated[1], out);
    buf_text(out, ", ");
    write_latency("memory", c->memory, c, c->translated[1], out);
    buf_text(out, "}}");
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
static void write_load(struct draft *g, const char *name,
                       const struct costs *costs, const char *first)
{
    const char *const near[2] = {is(first, "l2") ? NULL : first, NULL};
    buf_text(g->out, ",\n");
    write_path(name, costs, near, g->out);
}

/* Those that share L1 need about as long, texture units somewhat longer; a
 * cache of their own is as far as any. */
static void write_other_load(struct draft *g, const char *name,
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
    write_load(g, name, &own, first);
}

static void write_constant(struct draft *g, const struct costs *costs)
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
    buf_text(g->out, ",\n");
    write_path("constant", &own, near, g->out);
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
static void write_page_window(struct draft *g, const struct costs *c)
{
    if (!once_in(g->r, 6))
        return;
    const uint64_t bytes = (uint64_t)(128 * MIB) << rng_below(g->r, 4);
    buf_printf(g->out,
               "  \"page_window\": {\"bytes\": %" PRIu64
               ", \"latency\": %" PRIu64 "},\n",
               bytes, c->memory + c->second + c->walk + between(g->r, 50, 400));
}

/* Loads that ask L1 first may take longer to L2 than those that do not. */
static void write_paths(struct draft *g)
{
    const struct scheme *const s = g->scheme;
    struct costs c = draw_costs(g->r);
    const char *const none[2] = {NULL, NULL};
    buf_text(g->out, "  \"paths\": {\n");
    write_path("global.cg", &c, none, g->out);
    if (!is(s->ca, "l2") && once_in(g->r, 4)) {
        const uint64_t detour = between(g->r, 1, 40);
        c.l2 += detour;
        c.memory += detour;
    }
    write_load(g, "global.ca", &c, s->ca);
    write_other_load(g, "local", &c, s->local, 0);
    write_other_load(g, "readonly", &c, s->readonly, 6);
    write_other_load(g, "texture", &c, s->texture, 60);
    if (g->has_constant)
        write_constant(g, &c);
    buf_text(g->out, "\n  },\n");
    write_page_window(g, &c);
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

static void write_head(struct draft *g, uint64_t seed)
{
    static const char *const capabilities[] = {"2.1", "3.5", "5.2", "6.1",
                                               "7.0", "7.5", "8.0", "9.0"};
    g->schedulers = between(g->r, 1, 4);
    g->memory = draw_memory(g->r);
    buf_printf(g->out,
               "  \"name\": \"Random GPU %" PRIu64 "\",\n"
               "  \"architecture\": \"Random\",\n"
               "  \"compute_capability\": \"%s\",\n",
               seed, capabilities[rng_below(g->r, 8)]);
    buf_printf(g->out,
               "  \"sms\": %" PRIu64 ", \"sms_per_tpc\": %" PRIu64
               ", \"tpcs_per_gpc\": %" PRIu64 ",\n"
               "  \"warp_schedulers\": %" PRIu64 ",\n",
               scaled(g->r, 1, 140), between(g->r, 1, 3), between(g->r, 1, 9),
               g->schedulers);
    buf_printf(g->out,
               "  \"max_threads_per_block\": 1024, \"max_warps_per_sm\": 64,\n"
               "  \"max_blocks_per_sm\": 16,\n"
               "  \"clock_khz\": %" PRIu64 ", \"memory_bytes\": %" PRIu64 ",\n"
               "  \"clock_overhead\": %" PRIu64 ",\n",
               between(g->r, 5, 20) * 100000, g->memory, between(g->r, 2, 40));
}

/* Banks as they have been: Tesla's 16, Fermi's 32, Kepler's two modes. */
static void write_shared(struct draft *g)
{
    static const char *const banks[] = {
        "\"banks\": 32, \"bank_bytes\": 4",
        "\"banks\": 32, \"bank_bytes\": 4",
        "\"banks\": 32, \"bank_bytes\": 8",
        "\"banks\": 32, \"bank_bytes\": 4, \"row_words\": 2",
        "\"banks\": 16, \"bank_bytes\": 4",
    };
    static const unsigned kibibytes[] = {48, 64, 96, 164};
    buf_printf(g->out,
               "  \"shared_memory\": {\"bytes\": %u, \"latency\": %" PRIu64
               ", \"conflict_cycles\": %" PRIu64 ", %s},\n",
               KIB * kibibytes[rng_below(g->r, COUNT_OF(kibibytes))],
               between(g->r, 20, 60), between(g->r, 2, 40),
               banks[rng_below(g->r, COUNT_OF(banks))]);
}

static void write_tail(struct draft *g)
{
    write_shared(g);
    buf_printf(g->out, "  \"isa\": {\"default\": {\"O3\": %" PRIu64 "}},\n",
               between(g->r, 4, 20));
    buf_printf(g->out,
               "  \"noise\": {\"jitter_cycles\": %.2f, \"spike_rate\": %.5f, "
               "\"spike_cycles\": %" PRIu64 "}\n",
               2.5 * rng_unit(g->r), 0.003 * rng_unit(g->r),
               between(g->r, 100, 600));
}

char *gpu_random(uint64_t seed)
{
    struct rng r;
    struct buf out = {0};
    struct draft g = {.r = &r, .out = &out};
    rng_seed(&r, seed);
    buf_text(&out, "{\n");
    write_head(&g, seed);
    write_caches(&g);
    write_tlbs(&g);
    write_paths(&g);
    write_tail(&g);
    buf_text(&out, "}\n");
    return buf_take(&out);
}
