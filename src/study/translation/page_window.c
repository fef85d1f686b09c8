/*
 * How much memory there is to ask about translation, and whether it falls into
 * windows of pages of which one is active (Kepler; Mei 2014, pattern 6).
 *
 * Two addresses are visited in turn.  Every TLB holds two pages, so what each
 * costs more than when it is loaded again at once is the price of leaving a
 * window.  The distance at which that begins is where the next window begins;
 * from there on the same distance again is the size of a window.
 */
#include <inttypes.h>
#include <math.h>

#include "analysis/statistics/laps.h"
#include "analysis/statistics/stats.h"
#include "analysis/statistics/two_sided.h"
#include "analysis/statistics/undisturbed.h"
#include "base/buf.h"
#include "study/assume.h"
#include "study/lab.h"

static const struct answer answers[] = {
    {ONE("tlb"), "page_window", "B"},
    {ONE("tlb"), "page_window_latency", "cycles"},
    {0},
};

/* Nothing less is asked about; more than 128 GiB no visit reaches. */
static const uint64_t memory_least = (uint64_t)64 << 20;
static const uint64_t memory_most = (uint64_t)127 << 30;
/* Boundaries are found to this; the smallest window there can be. */
enum { GRAIN = 4096 };
/* Both addresses in turn so often, of which the first does not count. */
enum { TURNS = 8, AGAIN = 4, PER_PAIR = 2 * TURNS + 2 * AGAIN };
enum { PAIRS_MOST = 40, AT_ONCE = 15 };
/* Single loads, and pairs of loads, that tell to a fifth of a cycle what one
 * costs where little noise is. */
enum { SINGLES = 2048 };

/* The clock is read in whole cycles, twice. */
static const double timer_step = 1;

/* ---- memory and noise ---------------------------------------------- */

/* Nine tenths of what is free: other programs, and our own tables, want some.
 */
static uint64_t find_memory(struct lab *lab)
{
    const struct column free = lab_column(lab, "free", "memory");
    const uint64_t available =
        free.count > 0 ? (uint64_t)free.at[0] / 10 * 9 : 0;
    return (available < memory_most ? available : memory_most) >> 21 << 21;
}

/* The share of loads that were late.  One place in four of a loop may always
 * cost more (H200: 46 cycles beside 36), which disturbs nothing: late is what
 * costs more than the same address in other laps. */
static double late_share(struct lab *lab, const struct samples *s)
{
    const struct column cycles = lab_column_of(lab, s, "cycles");
    const struct column offset = lab_column_of(lab, s, "offset");
    uint64_t *const address = lab_alloc(lab, offset.count, sizeof *address);
    for (size_t i = 0; i < offset.count; i++)
        address[i] = (uint64_t)offset.at[i];
    return laps_of(address, cycles.at, cycles.count, timer_step, INFINITY)
        .cost.disturbed;
}

/* The same small ring, visited and chased, in the nearest cache; few loads at a
 * time, so that most chases are free of spikes. */
static void find_noise(struct lab *lab, struct fact_memory *t)
{
    const bool near = fact_bracket(lab, LEVEL_L1)->present;
    const struct samples *const s =
        lab_probe(lab, "visit readers=global.%s steps=4x0:32:32,32x!0:32:32",
                  near ? "ca" : "cg");
    const struct column visited = lab_column_of(lab, s, "cycles");
    /* Of what others use, too, runs of loads are late by a cycle each, which is
     * little of a load and much of what timing adds to it. */
    const char *const ring =
        lab_text(lab, "%s bytes=1024 stride=32 warm=4",
                 level_table[near ? LEVEL_L1 : LEVEL_L2].load);
    const struct cost chased = near ? lab_load_cost(lab, "%s", ring)
                                    : lab_pair_cost(lab, SINGLES, ring);
    struct undisturbed u =
        undisturbed_of(visited.at, visited.count, timer_step);
    if (lab_ok(lab))
        u.disturbed = late_share(lab, s);
    const struct cost single = lab_cost_of(lab, &u, visited.experiment);
    const struct cost more = lab_cost_less(&single, &chased);
    t->overhead = (struct fact_cycles){more.cycles, more.low, more.high};
    t->disturbed = u.disturbed;
    /* Reads of the clock are whole cycles: a quarter is what they hide. */
    t->sigma = fmax(stats_mad_sigma(visited.at, visited.count), 0.25);
}

/* ---- pairs ------------------------------------------------------------ */

struct pair {
    uint64_t from, to;
    double excess, cycles; /* of `to`, in turn with `from` */
};

static void write_pair(const struct pair *p, struct buf *steps)
{
    buf_printf(steps, "%s%dx!%" PRIu64 ":2:%" PRIu64 ",!%" PRIu64 ":%d:0",
               steps->length > 0 ? "," : "", TURNS, p->from, p->to - p->from,
               p->to, 2 * AGAIN);
}

static void read_pair(const double *cycles, struct pair *p)
{
    double turn[TURNS - 1], again[2 * AGAIN - 1];
    for (size_t i = 1; i < TURNS; i++)
        turn[i - 1] = cycles[2 * i + 1];
    for (size_t i = 1; i < 2 * AGAIN; i++)
        again[i - 1] = cycles[2 * TURNS + i];
    p->cycles = stats_median(turn, TURNS - 1);
    p->excess = p->cycles - stats_median(again, 2 * AGAIN - 1);
}

static void try_pairs(struct lab *lab, struct pair *pairs, size_t count)
{
    struct buf steps = {0};
    for (size_t i = 0; i < count; i++)
        write_pair(&pairs[i], &steps);
    const struct column cycles = lab_column(
        lab, "cycles", "visit readers=global.cg steps=%s", buf_string(&steps));
    buf_free(&steps);
    for (size_t i = 0; lab_ok(lab) && i < count; i++)
        read_pair(cycles.at + i * PER_PAIR, &pairs[i]);
}

static bool leaves(const struct pair *p)
{
    return p->excess > assume(ASSUME_WINDOW_CYCLES) &&
           p->excess > assume(ASSUME_WINDOW_SHARE) * (p->cycles - p->excess);
}

/* ---- boundaries ------------------------------------------------------- */

/* Where the next window after `from` begins: between what stays in its window
 * and what leaves it, at these cycles. */
struct window_edge {
    uint64_t from, stays, leaves; /* leaves 0: none did */
    struct cost cost;             /* of what leaves */
    double alone;                 /* of a load in no turn */
};

/* Moves the edge by pairs in ascending order. */
static void move_edge(struct window_edge *e, const struct pair *pairs,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (leaves(&pairs[i])) {
            e->leaves = pairs[i].to;
            return;
        }
        e->stays = pairs[i].to;
    }
}

/* Distances that double, up to the end of the memory. */
static void bracket_edge(struct lab *lab, struct window_edge *e)
{
    const uint64_t last = fact_memory(lab)->bytes - GRAIN;
    struct pair pairs[PAIRS_MOST];
    size_t count = 0;
    for (uint64_t d = GRAIN; e->from + d < last; d *= 2)
        pairs[count++] = (struct pair){.from = e->from, .to = e->from + d};
    pairs[count++] = (struct pair){.from = e->from, .to = last};
    try_pairs(lab, pairs, count);
    e->stays = e->from;
    e->alone = pairs[0].cycles - pairs[0].excess;
    if (lab_ok(lab))
        move_edge(e, pairs, count);
}

static void narrow_edge(struct lab *lab, struct window_edge *e)
{
    while (lab_ok(lab) && e->leaves > e->stays + GRAIN) {
        struct pair pairs[AT_ONCE];
        size_t count = 0;
        const uint64_t grains = (e->leaves - e->stays) / GRAIN;
        const uint64_t step = (grains + AT_ONCE) / (AT_ONCE + 1) * GRAIN;
        for (uint64_t to = e->stays + step; to < e->leaves && count < AT_ONCE;
             to += step)
            pairs[count++] = (struct pair){.from = e->from, .to = to};
        try_pairs(lab, pairs, count);
        move_edge(e, pairs, count);
    }
}

/* True if noise does not make such an edge: the pairs on its two sides are
 * asked again, in turn, and by ranks all that leave but for one or two cost
 * more, as one in 1000 of what costs alike does.  What they cost is what all of
 * them do. */
static bool is_edge(struct lab *lab, struct window_edge *e)
{
    enum { SIDES = 2, TIMES = 8 };
    struct pair pairs[SIDES * TIMES];
    double excess[SIDES * TIMES], cycles[TIMES];
    struct undisturbed u;
    bool odd[SIDES * TIMES];
    struct two_sided_vote vote;
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        odd[i] = i % SIDES == 1;
        pairs[i] =
            (struct pair){.from = e->from, .to = odd[i] ? e->leaves : e->stays};
    }
    try_pairs(lab, pairs, COUNT_OF(pairs));
    if (!lab_ok(lab))
        return false;
    for (size_t i = 0; i < COUNT_OF(pairs); i++)
        excess[i] = pairs[i].excess;
    for (size_t i = 0; i < TIMES; i++)
        cycles[i] = pairs[SIDES * i + 1].cycles;
    two_sided_vote(excess, odd, COUNT_OF(pairs), &vote);
    u = undisturbed_of(cycles, TIMES, timer_step);
    e->cost = lab_cost_of(lab, &u, NULL);
    return two_sided_more(&vote);
}

/* True if noise cannot hide one: medians of seven loads stray by half a load's
 * deviation, differences of them by √2 times that, and half of seven are late
 * once in 5000 if one of twenty is. */
static bool would_show(const struct fact_memory *t, const struct window_edge *e)
{
    const double least = fmax(assume(ASSUME_WINDOW_CYCLES),
                              assume(ASSUME_WINDOW_SHARE) * e->alone);
    /* three deviations of a difference; one late load of twenty */
    return 3 * 0.7 * t->sigma < least && t->disturbed < 0.05;
}

static struct window_edge find_edge(struct lab *lab, uint64_t from)
{
    struct window_edge e = {.from = from};
    bracket_edge(lab, &e);
    if (e.leaves != 0)
        narrow_edge(lab, &e);
    return e;
}

/* An edge that is there, or none that is not hidden; else fails. */
static bool is_sure(struct lab *lab, const struct fact_memory *t,
                    struct window_edge *e)
{
    const bool sure =
        lab_ok(lab) && (e->leaves == 0 ? would_show(t, e) : is_edge(lab, e));
    if (!sure)
        lab_fail(lab, ERR_UNSUPPORTED, why_window_noise, t->sigma,
                 1 / fmax(t->disturbed, 1e-6));
    return sure;
}

/* ---- the study -------------------------------------------------------- */

static void report(struct fact_memory *t, const struct window_edge *first,
                   const struct window_edge *second, struct finding *f,
                   struct finding *latency)
{
    const uint64_t begin = first->leaves;
    if (second->leaves != 0) {
        t->window = second->leaves - begin;
        finding_measured(f, (double)t->window);
    } else {
        t->window = begin > t->bytes - begin ? begin : t->bytes - begin;
        finding_value(f, STATUS_AT_LEAST, value_number((double)t->window));
        finding_because(f, why_memory_one_end);
    }
    const struct cost cost =
        lab_cost_less(&first->cost, &(struct cost){.cycles = t->overhead.cycles,
                                                   .low = t->overhead.low,
                                                   .high = t->overhead.high});
    t->window_cycles = (struct fact_cycles){cost.cycles, cost.low, cost.high};
    finding_cost(latency, &cost);
    const bool after = begin < t->window / 2;
    t->origin = after ? begin : 0;
    t->room = after ? t->window : begin;
    if (t->room > t->bytes - t->origin)
        t->room = t->bytes - t->origin;
}

/* In the first t->bytes bytes. */
static void page_window_ask(struct lab *lab, struct finding *f,
                            struct finding *latency)
{
    struct fact_memory *const t = fact_memory_write(lab);
    struct window_edge first = find_edge(lab, 0);
    t->origin = 0;
    t->room = t->bytes;
    t->asked = is_sure(lab, t, &first);
    if (!t->asked)
        return;
    /* Two addresses cost no more in turn, wherever they lie. */
    if (first.leaves == 0) {
        lab_absent(lab, "tlb", "page_window");
        lab_absent(lab, "tlb", "page_window_latency");
        return;
    }
    struct window_edge second = find_edge(lab, first.leaves);
    t->asked = is_sure(lab, t, &second);
    if (t->asked)
        report(t, &first, &second, f, latency);
}

static void page_window_run(struct lab *lab)
{
    struct fact_memory *const t = fact_memory_write(lab);
    *t = (struct fact_memory){.bytes = find_memory(lab)};
    find_noise(lab, t);
    struct finding *const f = lab_finding(lab, "tlb", "page_window");
    struct finding *const latency =
        lab_finding(lab, "tlb", "page_window_latency");
    if (!lab_ok(lab))
        return;
    lab_cite(lab, f);
    while (t->bytes >= memory_least) {
        page_window_ask(lab, f, latency);
        if (lab->err.code != ERR_DEVICE_MEMORY)
            return;
        /* What is free need not be in one piece. */
        lab->err = (struct error){0};
        t->bytes = t->bytes / 2 >> 21 << 21;
    }
    lab_fail(lab, ERR_DEVICE_MEMORY, why_memory_few_mib, memory_least >> 20);
}

const struct study study_page_window = {
    .name = "window",
    .question = "Does memory fall into windows of pages, of which one is "
                "active?",
    .method = "Two addresses are visited in turn, at growing distances; in "
              "one window they cost what each costs alone.",
    .reads = FACTS(FACT_BRACKET),
    .answers = answers,
    .kernels = TEXTS("visit readers=global.ca", "visit readers=global.cg"),
    .run = page_window_run,
};
