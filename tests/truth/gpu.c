/*
 * What is drawn covers what caches of GPUs have been found or claimed to be
 * (Mei 2014; Wong 2010), and somewhat more.  A ring of consecutive lines as
 * large as the cache fits in every one of them: where an index takes bits
 * from above the line, the ways are a multiple of the lines that then follow
 * each other in a set.
 */
#include "truth/gpu.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/rng.h"
#include "model/cache.h"

enum { KIB = 1024, MIB = 1024 * 1024, WAYS_LEAST = 2, WAYS_MOST = 24 };
/* More than this many sets are not listed one by one. */
enum { LISTED_MOST = 512 };

enum index { INDEX_MODULO, INDEX_UNEVEN, INDEX_SHIFTED, INDEX_XOR, INDICES };

struct draw {
    uint64_t size; /* wanted, B; then what came out */
    uint64_t line, sector, sets, ways;
    enum cache_policy policy;
    enum index index;
    unsigned shift; /* of the index above the line, bits */
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

/* ---- caches ---- */

static void draw_line(struct rng *r, struct draw *d)
{
    d->line = 32u << rng_below(r, 4);
    const uint64_t sectors[] = {32, 64, d->line};
    do
        d->sector = sectors[rng_below(r, 3)];
    while (d->sector > d->line);
}

/* A tree of bits and a list of weights want equal sets; a tree, 2^n ways. */
static void draw_ways(struct rng *r, struct draw *d)
{
    d->policy = (enum cache_policy)rng_below(r, POLICY_COUNT);
    const bool equal = d->policy == POLICY_PLRU || d->policy == POLICY_WEIGHTED;
    do
        d->index = (enum index)rng_below(r, INDICES);
    while (equal && d->index == INDEX_UNEVEN);
    d->ways = between(r, WAYS_LEAST, WAYS_MOST);
    if (d->policy == POLICY_PLRU)
        d->ways = power_below(d->ways);
    d->shift = d->index == INDEX_SHIFTED ? (unsigned)between(r, 1, 3) : 0;
    while (d->ways % (1u << d->shift) != 0)
        d->shift--;
}

static void draw_sets(struct rng *r, struct draw *d)
{
    const uint64_t sets = d->size / d->line / d->ways;
    d->sets = sets > 0 ? sets : 1;
    if (d->index == INDEX_UNEVEN && d->sets <= LISTED_MOST)
        return;
    if (d->index == INDEX_UNEVEN || d->sets < 2)
        d->index = INDEX_MODULO;
    if (d->index != INDEX_MODULO || once_in(r, 2))
        d->sets = power_below(d->sets);
}

/* Bits from above the line; every other one XORed with one from above all. */
static void write_set_bits(struct rng *r, const struct draw *d, struct buf *out)
{
    const unsigned low = log_of(d->line) + d->shift, count = log_of(d->sets);
    buf_text(out, ", \"set_bits\": [");
    for (unsigned i = 0; i < count; i++) {
        buf_text(out, i > 0 ? ", " : "");
        if (d->index == INDEX_XOR && once_in(r, 2))
            buf_printf(out, "[%u, %u]", low + i,
                       low + count + (unsigned)rng_below(r, 6));
        else
            buf_printf(out, "%u", low + i);
    }
    buf_text(out, "]");
}

/* A few sets have some ways more, as those of Fermi's TLB. */
static uint64_t write_set_ways(struct rng *r, const struct draw *d,
                               struct buf *out)
{
    uint64_t lines = 0;
    buf_text(out, ", \"set_ways\": [");
    for (uint64_t set = 0; set < d->sets; set++) {
        const uint64_t ways = d->ways + (once_in(r, 4) ? between(r, 1, 9) : 0);
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
static uint64_t write_cache(struct rng *r, const char *name, uint64_t size,
                            const char *more, struct buf *out)
{
    struct draw d = {.size = size};
    draw_line(r, &d);
    draw_ways(r, &d);
    draw_sets(r, &d);
    uint64_t lines = d.sets * d.ways;
    buf_printf(out, "    \"%s\": {\"line\": %" PRIu64 ", \"sector\": %" PRIu64,
               name, d.line, d.sector);
    if (d.index == INDEX_UNEVEN)
        lines = write_set_ways(r, &d, out);
    else
        buf_printf(out, ", \"sets\": %" PRIu64 ", \"ways\": %" PRIu64, d.sets,
                   d.ways);
    if (d.index == INDEX_SHIFTED || d.index == INDEX_XOR)
        write_set_bits(r, &d, out);
    write_policy(r, &d, out);
    buf_printf(out, "%s, \"size\": %" PRIu64 "}", more, lines * d.line);
    return lines * d.line;
}

/* An L2 has at least six times what an L1 has, and rarely very much.  Sets that
 * are a power of two may halve a size, so twice that is asked for. */
static void write_caches(struct rng *r, struct buf *out)
{
    buf_text(out, "  \"caches\": {\n");
    const uint64_t l1 =
        write_cache(r, "l1", scaled(r, 8 * KIB, 256 * KIB), "", out);
    const uint64_t least = 12 * l1 > 512 * KIB ? 12 * l1 : 512 * KIB;
    const uint64_t most = once_in(r, 20) ? 64 * MIB : 16 * MIB;
    buf_text(out, ",\n");
    write_cache(r, "l2", scaled(r, least, most), ", \"scope\": \"gpu\"", out);
    buf_text(out, "\n  },\n");
}

/* ---- TLBs ---- */

static void write_second_tlb(struct rng *r, uint64_t page, struct buf *out)
{
    buf_printf(out, ",\n    \"l2\": {\"page\": %" PRIu64, page);
    if (once_in(r, 2)) {
        buf_printf(out, ", \"entries\": %" PRIu64, scaled(r, 64, 1024));
    } else {
        buf_printf(out, ", \"set_ways\": [%" PRIu64, between(r, 9, 20));
        for (uint64_t sets = between(r, 3, 12); sets > 0; sets--)
            buf_text(out, ", 8");
        buf_text(out, "]");
    }
    buf_text(out, ", \"policy\": \"lru\", \"scope\": \"gpu\"}");
}

static void write_tlbs(struct rng *r, struct buf *out)
{
    static const char *const policies[] = {"lru", "lru", "fifo", "random"};
    const uint64_t page = (64u * KIB) << rng_below(r, 6);
    if (once_in(r, 4))
        return;
    buf_printf(out,
               "  \"tlbs\": {\n    \"l1\": {\"page\": %" PRIu64
               ", \"entries\": %" PRIu64 ", \"policy\": \"%s\"}",
               page, between(r, 8, 64), policies[rng_below(r, 4)]);
    if (!once_in(r, 3))
        write_second_tlb(r, page, out);
    buf_text(out, "\n  },\n");
}

/* ---- paths ---- */

/* What translation adds; `walks` false: one number for all states. */
struct costs {
    uint64_t l1, l2, memory;
    uint64_t second, walk;
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

static void write_path(const char *name, const struct costs *c, bool has_l1,
                       const bool translated[2], struct buf *out)
{
    buf_printf(out, "    \"%s\": {\"caches\": [%s\"l2\"], \"latency\": {", name,
               has_l1 ? "\"l1\", " : "");
    if (has_l1)
        write_latency("l1", c->l1, c, translated[0], out);
    buf_text(out, has_l1 ? ", " : "");
    write_latency("l2", c->l2, c, translated[1], out);
    buf_text(out, ", ");
    write_latency("memory", c->memory, c, translated[1], out);
    buf_text(out, "}}");
}

/* Loads that ask L1 first may take longer to L2 than those that do not. */
static void write_paths(struct rng *r, struct buf *out)
{
    struct costs c = {.l1 = between(r, 20, 150)};
    c.l2 = c.l1 + between(r, 60, 350);
    c.memory = c.l2 + between(r, 100, 600);
    c.second = between(r, 5, 60);
    c.walk = between(r, 100, 600);
    const bool translated[] = {once_in(r, 2), !once_in(r, 3)};
    const bool has_l1 = !once_in(r, 8);
    buf_text(out, "  \"paths\": {\n");
    write_path("global.cg", &c, false, translated, out);
    if (has_l1 && once_in(r, 4)) {
        const uint64_t detour = between(r, 1, 40);
        c.l2 += detour;
        c.memory += detour;
    }
    buf_text(out, ",\n");
    write_path("global.ca", &c, has_l1, translated, out);
    buf_text(out, "\n  },\n");
}

/* ---- the rest ---- */

static void write_head(struct rng *r, uint64_t seed, struct buf *out)
{
    static const char *const capabilities[] = {"2.1", "3.5", "5.2", "6.1",
                                               "7.0", "7.5", "8.0", "9.0"};
    buf_printf(out,
               "  \"name\": \"Random GPU %" PRIu64 "\",\n"
               "  \"architecture\": \"Random\",\n"
               "  \"compute_capability\": \"%s\",\n",
               seed, capabilities[rng_below(r, 8)]);
    buf_printf(out,
               "  \"sms\": %" PRIu64 ", \"warp_schedulers\": %" PRIu64 ",\n"
               "  \"max_threads_per_block\": 1024, \"max_warps_per_sm\": 64,\n"
               "  \"max_blocks_per_sm\": 16,\n"
               "  \"clock_khz\": %" PRIu64 ", \"memory_bytes\": %" PRIu64 ",\n"
               "  \"clock_overhead\": %" PRIu64 ",\n",
               scaled(r, 1, 140), between(r, 1, 4), between(r, 5, 20) * 100000,
               (uint64_t)(1024 * MIB) << rng_below(r, 5), between(r, 2, 40));
}

static void write_tail(struct rng *r, struct buf *out)
{
    buf_printf(out,
               "  \"shared_memory\": {\"bytes\": 49152, \"latency\": %" PRIu64
               ", \"conflict_cycles\": %" PRIu64 "},\n",
               between(r, 20, 60), between(r, 2, 40));
    buf_printf(out, "  \"isa\": {\"default\": {\"O3\": %" PRIu64 "}},\n",
               between(r, 4, 20));
    buf_printf(out,
               "  \"noise\": {\"jitter_cycles\": %.2f, \"spike_rate\": %.5f, "
               "\"spike_cycles\": %" PRIu64 "}\n",
               2.5 * rng_unit(r), 0.003 * rng_unit(r), between(r, 100, 600));
}

char *gpu_random(uint64_t seed)
{
    struct rng r;
    struct buf out = {0};
    rng_seed(&r, seed);
    buf_text(&out, "{\n");
    write_head(&r, seed, &out);
    write_caches(&r, &out);
    write_tlbs(&r, &out);
    write_paths(&r, &out);
    write_tail(&r, &out);
    buf_text(&out, "}\n");
    return buf_take(&out);
}
