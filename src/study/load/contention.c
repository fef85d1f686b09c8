/*
 * What a load in L1 costs where others load too (van Stigt 2022, section 6).
 *
 * Within a block: 1 to 32 warps read one small buffer in step, each with one
 * load under way.  Where they want more than the cache can give, they wait;
 * how long each warp takes shows whether some are favoured.
 *
 * Between blocks: so many blocks of one warp on one SM, each with a buffer that
 * fits into the cache and of which two do not.  Two blocks in one cache push
 * each other's lines out; of blocks in two halves of it, the third is the first
 * that does.
 */
#include <math.h>

#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "base/num.h"
#include "finding/doubt.h"
#include "study/assume.h"
#include "study/load/sweep.h"
#include "study/load/timelines.h"

/* clang-format off */
static const struct answer answers[] = {
    {ONE("contention"), "latency_by_warps",    "cycles"},
    {ONE("contention"), "throughput_by_warps", "B/clk/SM"},
    {ONE("contention"), "warps_from",         "warps"},
    {ONE("contention"), "warp_spread",        "cycles"},
    {ONE("contention"), "warp_spread_share",  ""},
    {ONE("contention"), "fairness",           ""},
    {ONE("contention"), "favours",            ""},
    {ONE("contention"), "favour",             ""},
    {ONE("contention"), "latency_by_blocks",  "cycles"},
    {ONE("contention"), "blocks_slowed",      "blocks"},
    {ONE("contention"), "blocks_from",        "blocks"},
    {ONE("contention"), "cache_parts",        ""},
    {0},
};
/* clang-format on */
static const char *const kernels[] = {
    "timeline place=sm warm=1 align=block",
    "timeline place=sm warm=1 align=sm",
    NULL,
};

/* What a warp loads at a time, B. */
enum { STEP_BYTES = 256 };
/* A buffer that every L1 holds, and how often a warp goes round it: spikes are
 * to even out, and favour to add up. */
enum { SMALL = 4096, STEPS = 256, REPEATS = 5 };
enum { BLOCKS_MOST = 8 };

static const unsigned warp_counts[] = {1,  2,  3,  4,  6,  8,
                                       12, 16, 20, 24, 28, 32};
enum { COUNTS = COUNT_OF(warp_counts) };

/* And a cycle is the step of the clock that tells it. */
static bool is_slower(double cycles, double alone)
{
    return cycles > assume(ASSUME_SLOWER) * alone + 1;
}

static struct finding *contention_finding(struct lab *lab,
                                          const char *attribute,
                                          const char *experiment)
{
    struct finding *const f = lab_finding(lab, "contention", attribute);
    finding_cite(f, experiment);
    return f;
}

/* ---- what disturbs them ---- */

/* By how many cycles each warp of blocks of 1 to so many took longer than in
 * the quickest of its repetitions: what slows it is the same in each, unless it
 * disturbs. */
enum { FEW_WARPS = 4, FEW_MOST = REPEATS * FEW_WARPS * (FEW_WARPS + 1) / 2 };
struct late {
    double cycles[FEW_MOST], quickest;
    size_t count;
};

static void add_late(struct late *late, const struct timelines *t,
                     unsigned warps)
{
    for (size_t w = 0; w < warps; w++) {
        double cycles[REPEATS];
        for (size_t r = 0; r < REPEATS; r++)
            cycles[r] = span_length(&t->warps[r * warps + w].span);
        const double least = stats_min(cycles, REPEATS);
        for (size_t r = 0; r < REPEATS && late->count < FEW_MOST; r++)
            late->cycles[late->count++] = cycles[r] - least;
        late->quickest =
            late->quickest > 0 ? fmin(late->quickest, least) : least;
    }
}

/* Averages over loads are not what these cost where in most of them some are
 * late. */
static void judge_averages(struct lab *lab, const struct late *late)
{
    static const char *const attributes[] = {
        "latency_by_warps", "throughput_by_warps", "latency_by_blocks"};
    const double most = stats_median(late->cycles, late->count);
    if (most <= assume(ASSUME_AVERAGES_ALIKE) * late->quickest)
        return;
    const char *const why = lab_text(lab, why_averages_raised, most / STEPS,
                                     late->quickest / STEPS);
    for (size_t i = 0; i < COUNT_OF(attributes); i++)
        finding_void(results_edit(lab->results, "contention", attributes[i]),
                     why);
}

/* ---- warps of a block ---- */

/* A block of so many warps: medians over its warps and repetitions. */
struct block_cost {
    unsigned warps;
    double latency;    /* cycles a load */
    double throughput; /* B per cycle */
    const char *experiment;
};

static double median_latency(struct lab *lab, const struct timelines *t)
{
    double *const cycles = lab_alloc(lab, t->count, sizeof *cycles);
    for (size_t i = 0; i < t->count; i++)
        cycles[i] = span_length(&t->warps[i].span) / STEPS;
    return stats_median(cycles, t->count);
}

/* What all get together while all load: of each warp what it does in most
 * repetitions. */
static double median_throughput(const struct timelines *t, unsigned warps)
{
    double rate = 0, cycles[REPEATS];
    for (size_t w = 0; w < warps; w++) {
        for (size_t r = 0; r < REPEATS; r++)
            cycles[r] = span_length(&t->warps[r * warps + w].span);
        rate += STEPS * STEP_BYTES / stats_median(cycles, REPEATS);
    }
    return rate;
}

static void report_curve(struct lab *lab, const struct block_cost *costs,
                         size_t count)
{
    struct sweep latency =
        sweep_begin(lab, "contention", "latency_by_warps", "warps");
    struct sweep rate =
        sweep_begin(lab, "contention", "throughput_by_warps", "warps");
    for (size_t i = 0; i < count; i++) {
        const struct value warps = value_number(costs[i].warps);
        sweep_add(&latency, warps, costs[i].latency, costs[i].experiment);
        sweep_add(&rate, warps, costs[i].throughput, NULL);
    }
    sweep_end(&latency);
    sweep_end(&rate);
    finding_cite(rate.finding, costs[count - 1].experiment);
}

static void report_warps_from(struct lab *lab, const struct block_cost *costs,
                              size_t count)
{
    /* The first is no slower than itself. */
    size_t first = count;
    while (is_slower(costs[first - 1].latency, costs[0].latency))
        first--;
    struct finding *const f = contention_finding(
        lab, "warps_from", costs[first - (first == count)].experiment);
    if (first == count) {
        const unsigned most = costs[count - 1].warps;
        finding_value(f, STATUS_AT_LEAST, value_number(most + 1));
        finding_because(f, why_not_slowed, (size_t)most, "warps");
        return;
    }
    finding_measured(f, costs[first].warps);
    finding_interval(f, costs[first - 1].warps + 1, costs[first].warps, -1);
}

/* ---- who is favoured ---- */

/* What the largest block shows, repetition by repetition. */
struct shares {
    double spread[REPEATS];       /* cycles from the first end to the last */
    double spread_share[REPEATS]; /* … of the longest that a warp took */
    double fairness[REPEATS];
    double favour[REPEATS]; /* the last quarter's time by the first quarter's */
};

static double sum_of_times(const struct warp_span *warps, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += span_length(&warps[i].span);
    return sum;
}

static void add_shares(struct shares *s, size_t r,
                       const struct warp_span *warps, size_t n)
{
    double rates[LAB_BLOCK_WARPS], longest = 0;
    struct span ends = span_none;
    const size_t quarter = u64_max(n / 4, 1);
    for (size_t i = 0; i < n; i++) {
        const struct span *const own = &warps[i].span;
        rates[i] = 1 / span_length(own);
        longest = fmax(longest, span_length(own));
        span_hold(&ends, own->end, own->end);
    }
    s->spread[r] = span_length(&ends);
    s->spread_share[r] = span_length(&ends) / longest;
    s->fairness[r] = fairness_jain(rates, n);
    s->favour[r] = sum_of_times(warps + n - quarter, quarter) /
                   sum_of_times(warps, quarter);
}

/* A quarter of the warps is favoured where it is so in all repetitions. */
static const char *favoured(const double *favour, size_t n)
{
    const int side = favour_side(favour, n, assume(ASSUME_FAVOUR));
    return side > 0 ? "low warps" : side < 0 ? "high warps" : "none";
}

/* Late loads make warps end apart that nothing else does: the first and the
 * last of some dozens are four standard deviations apart.  NULL: less than was
 * seen. */
static const char *apart_by_chance(struct lab *lab, const struct late *late,
                                   const struct shares *s)
{
    const double seen = stats_median(s->spread, REPEATS);
    const double chance = 4 * sqrt((double)late->count) *
                          stats_mean_error(late->cycles, late->count);
    return chance > seen ? lab_text(lab, why_ends_by_chance, chance, seen)
                         : NULL;
}

/* What disturbances may have made is no more than a bound. */
static void report_spread(struct finding *f, const double *spread,
                          const char *chance)
{
    if (chance == NULL) {
        finding_range(f, spread, REPEATS);
        return;
    }
    finding_value(f, STATUS_AT_MOST,
                  value_number(stats_median(spread, REPEATS)));
    finding_because(f, "%s", chance);
}

static void report_shares(struct lab *lab, const struct timelines *t,
                          unsigned warps, const struct late *late)
{
    struct shares s;
    const char *const e = t->experiment;
    for (size_t r = 0; r < REPEATS; r++)
        add_shares(&s, r, t->warps + r * warps, warps);
    const char *const chance = apart_by_chance(lab, late, &s);
    report_spread(contention_finding(lab, "warp_spread", e), s.spread, chance);
    report_spread(contention_finding(lab, "warp_spread_share", e),
                  s.spread_share, chance);
    finding_range(contention_finding(lab, "fairness", e), s.fairness, REPEATS);
    finding_range(contention_finding(lab, "favour", e), s.favour, REPEATS);
    struct finding *const f = contention_finding(lab, "favours", e);
    finding_value(f, STATUS_MEASURED, value_text(favoured(s.favour, REPEATS)));
    finding_protocol(f, "warps", value_number(warps));
}

static void contention_ask_warps(struct lab *lab, struct late *late)
{
    struct block_cost costs[COUNTS];
    struct timelines t = {0};
    size_t count = 0;
    for (; count < COUNTS && warp_counts[count] <= lab_block_warps(lab);
         count++) {
        const unsigned warps = warp_counts[count];
        t = timelines_measure(lab,
                              "place=sm warps=%u bytes=%d steps=%d warm=2 "
                              "align=block repeats=%d",
                              warps, SMALL, STEPS, REPEATS);
        if (!lab_ok(lab))
            return;
        if (warps <= FEW_WARPS)
            add_late(late, &t, warps);
        costs[count] = (struct block_cost){
            .warps = warps,
            .latency = median_latency(lab, &t),
            .throughput = median_throughput(&t, warps),
            .experiment = t.experiment,
        };
    }
    report_shares(lab, &t, costs[count - 1].warps, late);
    report_curve(lab, costs, count);
    report_warps_from(lab, costs, count);
}

/* ---- blocks of an SM ---- */

/* So many blocks, and the cycles of a load of each. */
struct neighbours {
    size_t blocks, slowed;
    double latency[BLOCKS_MOST];
    const char *experiment;
};

static struct neighbours measure_blocks(struct lab *lab, size_t blocks,
                                        uint64_t bytes)
{
    struct neighbours n = {.blocks = blocks};
    const uint64_t lap = bytes / STEP_BYTES;
    const uint64_t steps = (STEPS + lap - 1) / lap * lap;
    const struct timelines t = timelines_measure(
        lab, "place=sm blocks=%zu bytes=%llu steps=%llu warm=2 align=sm",
        blocks, (unsigned long long)bytes, (unsigned long long)steps);
    double *const cycles = lab_alloc(lab, t.repeats, sizeof *cycles);
    for (size_t b = 0; lab_ok(lab) && b < blocks; b++) {
        for (size_t r = 0; r < t.repeats; r++)
            cycles[r] =
                span_length(&t.warps[r * blocks + b].span) / (double)steps;
        n.latency[b] = stats_median(cycles, t.repeats);
    }
    n.experiment = t.experiment;
    return n;
}

/* The next size, a third or a half more. */
static uint64_t next_size(uint64_t bytes)
{
    return (bytes & (bytes - 1)) == 0 ? bytes / 2 * 3 : bytes / 3 * 4;
}

/* The largest buffer that one warp finds in its cache, so that two of them are
 * more than it holds: the next size is not found there, nor the one after it,
 * which noise would be.  0: all were found. */
static uint64_t find_fitting(struct lab *lab, double *alone)
{
    enum { LARGEST = 512 << 10 };
    unsigned slow = 0;
    uint64_t fits = SMALL;
    *alone = measure_blocks(lab, 1, SMALL).latency[0];
    for (uint64_t bytes = next_size(SMALL);
         lab_ok(lab) && bytes <= LARGEST && slow < 2;
         bytes = next_size(bytes)) {
        const double cycles = measure_blocks(lab, 1, bytes).latency[0];
        slow = is_slower(cycles, *alone) ? slow + 1 : 0;
        fits = slow == 0 ? bytes : fits;
    }
    return slow < 2 ? 0 : fits;
}

static void report_neighbours(struct lab *lab, const struct neighbours *list,
                              size_t count, uint64_t bytes)
{
    struct sweep latency =
        sweep_begin(lab, "contention", "latency_by_blocks", NULL);
    struct sweep slowed = sweep_begin(lab, "contention", "blocks_slowed", NULL);
    for (size_t i = 0; i < count; i++) {
        const struct neighbours *const n = &list[i];
        sweep_add(&latency, value_number((double)n->blocks),
                  stats_mean(n->latency, n->blocks), n->experiment);
        sweep_add(&slowed, value_number((double)n->blocks), (double)n->slowed,
                  NULL);
    }
    sweep_end(&latency);
    sweep_end(&slowed);
    finding_protocol(latency.finding, "buffer", value_number((double)bytes));
    finding_cite(slowed.finding, list[count - 1].experiment);
}

static void report_blocks_from(struct lab *lab, const struct neighbours *list,
                               size_t count)
{
    size_t i = 0;
    while (i < count && list[i].slowed == 0)
        i++;
    const char *const e = i < count ? list[i].experiment : NULL;
    struct finding *const from = contention_finding(lab, "blocks_from", e);
    struct finding *const parts = contention_finding(lab, "cache_parts", e);
    if (i == count) {
        finding_value(from, STATUS_AT_LEAST, value_number((double)count + 1));
        finding_because(from, why_not_slowed, count, "blocks");
        finding_none(parts, why_not_slowed, count, "blocks");
        return;
    }
    const struct neighbours *const n = &list[i];
    finding_measured(from, (double)n->blocks);
    if (n->slowed == 2)
        finding_measured(parts, (double)n->blocks - 1);
    else
        finding_none(parts, why_parts_unlike, n->blocks, n->slowed);
}

static void count_slowed(struct neighbours *n, double alone)
{
    for (size_t b = 0; b < n->blocks; b++)
        n->slowed += is_slower(n->latency[b], alone);
}

static void contention_ask_blocks(struct lab *lab)
{
    struct neighbours list[BLOCKS_MOST];
    const size_t most =
        u64_within(1, device_told(lab->info, PROPERTY_SM_BLOCKS, BLOCKS_MOST),
                   BLOCKS_MOST);
    double alone;
    const uint64_t bytes = find_fitting(lab, &alone);
    if (!lab_ok(lab))
        return;
    if (bytes == 0) {
        lab_refuse(lab, "contention.*", why_all_fit);
        return;
    }
    size_t count = 0;
    for (; count < most; count++) {
        list[count] = measure_blocks(lab, count + 1, bytes);
        if (!lab_ok(lab))
            break;
        count_slowed(&list[count], alone);
    }
    /* An SM that holds fewer shows what those do. */
    if (count >= 2 && lab->err.code == ERR_UNSUPPORTED)
        lab_excuse(lab);
    if (!lab_ok(lab))
        return;
    report_neighbours(lab, list, count, bytes);
    report_blocks_from(lab, list, count);
}

/* ---- the study ---- */

static void contention_run(struct lab *lab)
{
    const struct fact_cached *const l1 = fact_cached(lab, LEVEL_L1);
    if (!l1->present || l1->as_local) {
        lab_leave_open(lab, l1->present ? why_l1_bypassed : l1->why);
        return;
    }
    struct late late = {.count = 0};
    contention_ask_warps(lab, &late);
    if (lab_ok(lab))
        contention_ask_blocks(lab);
    if (lab_ok(lab))
        judge_averages(lab, &late);
}

const struct study study_contention = {
    .name = "contention",
    .question = "What does a load cost where other warps and blocks load too?",
    .method =
        "Warps of one block read one small buffer in step, 1 to 32 of them, "
        "each with one load of 256 bytes under way: when each ends tells who "
        "waits for whom.  Blocks of one warp on one SM read a buffer each, of "
        "which one fits into the cache and two do not: those that share a "
        "cache push each other's lines out.",
    .reads = FACTS(FACT_CACHED),
    .answers = answers,
    .kernels = kernels,
    .apart = true,
    .under_load = true,
    .averages = TEXTS("contention.latency_by_*", "contention.throughput_by_*"),
    .run = contention_run,
};
