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
#include <stdlib.h>

#include "analysis/stats.h"
#include "base/mem.h"
#include "study/load/timelines.h"

static const char *const needs[] = {"capacity", NULL};
static const char *const gives[] = {"contention.latency_by_warps",
                                    "contention.throughput_by_warps",
                                    "contention.warps_from",
                                    "contention.warp_spread",
                                    "contention.warp_spread_share",
                                    "contention.fairness",
                                    "contention.favours",
                                    "contention.favour",
                                    "contention.latency_by_blocks",
                                    "contention.blocks_slowed",
                                    "contention.blocks_from",
                                    "contention.cache_parts",
                                    NULL};
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

/* A tenth more than alone is no noise, and no warp more or less. */
static bool is_slower(double cycles, double alone)
{
    return cycles > 1.1 * alone + 1;
}

/* ---- warps of a block ---- */

/* A block of so many warps: medians over its warps and repetitions. */
struct block_cost {
    unsigned warps;
    double latency;    /* cycles a load */
    double throughput; /* B per cycle */
    char *experiment;
};

static int measure_warps(struct lab *lab, struct timelines *t, unsigned warps,
                         struct error *err)
{
    return timelines_measure(lab, t, err,
                             "place=sm warps=%u bytes=%d steps=%d warm=2 "
                             "align=block repeats=%d",
                             warps, SMALL, STEPS, REPEATS);
}

static double median_latency(const struct timelines *t, double steps)
{
    double *const cycles = xreallocarray(NULL, t->count, sizeof *cycles);
    for (size_t i = 0; i < t->count; i++)
        cycles[i] = span_length(&t->warps[i].span) / steps;
    const double median = stats_median(cycles, t->count);
    free(cycles);
    return median;
}

static double median_throughput(const struct timelines *t, unsigned warps)
{
    double rates[REPEATS];
    for (unsigned r = 0; r < REPEATS; r++) {
        size_t blocks;
        struct warp_span *const block = timelines_blocks(t, r, &blocks);
        rates[r] =
            (double)warps * STEPS * STEP_BYTES / span_length(&block->span);
        free(block);
    }
    return stats_median(rates, REPEATS);
}

static void report_curve(struct lab *lab, const struct block_cost *costs,
                         size_t count)
{
    struct value latency = value_list(), rate = value_list(),
                 warps = value_list();
    struct finding *const by_latency =
        lab_finding(lab, "contention", "latency_by_warps");
    for (size_t i = 0; i < count; i++) {
        value_push(&latency, value_number(costs[i].latency));
        value_push(&rate, value_number(costs[i].throughput));
        value_push(&warps, value_number(costs[i].warps));
        finding_evidence(by_latency, costs[i].experiment);
    }
    finding_set(by_latency, STATUS_MEASURED, latency, "cycles");
    finding_protocol(by_latency, "warps", value_copy(&warps));
    struct finding *const by_rate =
        lab_finding(lab, "contention", "throughput_by_warps");
    finding_set(by_rate, STATUS_MEASURED, rate, "B/clk/SM");
    finding_protocol(by_rate, "warps", warps);
    finding_evidence(by_rate, costs[count - 1].experiment);
}

static void report_warps_from(struct lab *lab, const struct block_cost *costs,
                              size_t count)
{
    struct finding *const f = lab_finding(lab, "contention", "warps_from");
    size_t first = count;
    while (first > 0 && is_slower(costs[first - 1].latency, costs[0].latency))
        first--;
    if (first == count) {
        const unsigned most = costs[count - 1].warps;
        finding_set(f, STATUS_AT_LEAST, value_number(most + 1), "warps");
        finding_because(f, "the %u warps of a block do not slow each other",
                        most);
    } else {
        finding_set(f, STATUS_MEASURED, value_number(costs[first].warps),
                    "warps");
        finding_interval(f, costs[first - (first > 0)].warps + (first > 0),
                         costs[first].warps, 1);
    }
    finding_evidence(f, costs[first - (first == count)].experiment);
}

/* ---- who is favoured ---- */

/* What a repetition of the largest block shows. */
struct share {
    double spread;       /* cycles from the first end to the last */
    double spread_share; /* … of the longest that a warp took */
    double fairness;
    double favour; /* the last quarter's time by the first quarter's */
};

static double mean_time(const struct warp_span *warps, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += span_length(&warps[i].span);
    return sum / (double)n;
}

static struct share share_of(const struct warp_span *warps, size_t n)
{
    double rates[LAB_BLOCK_WARPS], longest = 0;
    struct span ends = {INFINITY, 0};
    const size_t quarter = n >= 4 ? n / 4 : 1;
    for (size_t i = 0; i < n; i++) {
        const struct span *const s = &warps[i].span;
        rates[i] = 1 / span_length(s);
        longest = fmax(longest, span_length(s));
        ends.start = fmin(ends.start, s->end);
        ends.end = fmax(ends.end, s->end);
    }
    return (struct share){
        .spread = span_length(&ends),
        .spread_share = span_length(&ends) / longest,
        .fairness = fairness_jain(rates, n),
        .favour =
            mean_time(warps + n - quarter, quarter) / mean_time(warps, quarter),
    };
}

/* Of n numbers the range holds the median, but for all of them lying on one
 * side of it. */
static double range_confidence(size_t n)
{
    return 1 - pow(2, 1 - (double)n);
}

static struct finding *report_median(struct lab *lab, const char *attribute,
                                     const double *values, size_t n,
                                     const char *unit, const char *experiment)
{
    struct finding *const f = lab_finding(lab, "contention", attribute);
    finding_set(f, STATUS_MEASURED, value_number(stats_median(values, n)),
                unit);
    finding_interval(f, stats_min(values, n), stats_max(values, n),
                     range_confidence(n));
    finding_evidence(f, experiment);
    return f;
}

/* A quarter of the warps is favoured where it is so in all repetitions, and by
 * more than 2 %, which noise alone can make. */
static const char *favoured(const double *favour, size_t n)
{
    const double median = stats_median(favour, n);
    if (stats_min(favour, n) > 1 && median > 1.02)
        return "low warps";
    if (stats_max(favour, n) < 1 && median < 1 / 1.02)
        return "high warps";
    return "none";
}

static void report_shares(struct lab *lab, const struct timelines *t,
                          unsigned warps)
{
    double spread[REPEATS], part[REPEATS], fairness[REPEATS], favour[REPEATS];
    const char *const e = t->experiment;
    for (unsigned r = 0; r < REPEATS; r++) {
        const struct share s = share_of(t->warps + r * warps, warps);
        spread[r] = s.spread;
        part[r] = s.spread_share;
        fairness[r] = s.fairness;
        favour[r] = s.favour;
    }
    report_median(lab, "warp_spread", spread, REPEATS, "cycles", e);
    report_median(lab, "warp_spread_share", part, REPEATS, "", e);
    report_median(lab, "fairness", fairness, REPEATS, "", e);
    report_median(lab, "favour", favour, REPEATS, "", e);
    struct finding *const f = lab_finding(lab, "contention", "favours");
    finding_set(f, STATUS_MEASURED, value_text(favoured(favour, REPEATS)), "");
    finding_protocol(f, "warps", value_number(warps));
    finding_evidence(f, e);
}

static int ask_warps(struct lab *lab, struct error *err)
{
    struct block_cost costs[COUNTS];
    const unsigned most = lab_block_warps(lab);
    size_t count = 0;
    int status = 0;
    while (status == 0 && count < COUNTS && warp_counts[count] <= most) {
        struct timelines t;
        const unsigned warps = warp_counts[count];
        status = measure_warps(lab, &t, warps, err);
        if (status != 0)
            break;
        costs[count++] = (struct block_cost){
            .warps = warps,
            .latency = median_latency(&t, STEPS),
            .throughput = median_throughput(&t, warps),
            .experiment = t.experiment,
        };
        t.experiment = NULL;
        if (count == COUNTS || warp_counts[count] > most) {
            t.experiment = xstrdup(costs[count - 1].experiment);
            report_shares(lab, &t, warps);
        }
        timelines_free(&t);
    }
    if (status == 0) {
        report_curve(lab, costs, count);
        report_warps_from(lab, costs, count);
    }
    for (size_t i = 0; i < count; i++)
        free(costs[i].experiment);
    return status;
}

/* ---- blocks of an SM ---- */

/* So many blocks, and the cycles of a load of each. */
struct company {
    size_t blocks, slowed;
    double latency[BLOCKS_MOST];
    char *experiment;
};

static int measure_blocks(struct lab *lab, struct company *c, size_t blocks,
                          uint64_t bytes, struct error *err)
{
    struct timelines t;
    const uint64_t lap = bytes / STEP_BYTES;
    const uint64_t steps = (STEPS + lap - 1) / lap * lap;
    *c = (struct company){.blocks = blocks};
    if (timelines_measure(lab, &t, err,
                          "place=sm blocks=%zu bytes=%llu steps=%llu warm=2 "
                          "align=sm",
                          blocks, (unsigned long long)bytes,
                          (unsigned long long)steps) != 0)
        return err->code;
    for (size_t b = 0; b < blocks; b++) {
        double *const cycles = xreallocarray(NULL, t.repeats, sizeof *cycles);
        for (size_t r = 0; r < t.repeats; r++)
            cycles[r] =
                span_length(&t.warps[r * blocks + b].span) / (double)steps;
        c->latency[b] = stats_median(cycles, t.repeats);
        free(cycles);
    }
    c->experiment = t.experiment;
    t.experiment = NULL;
    timelines_free(&t);
    return 0;
}

/* The next size, a third or a half more. */
static uint64_t next_size(uint64_t bytes)
{
    return (bytes & (bytes - 1)) == 0 ? bytes / 2 * 3 : bytes / 3 * 4;
}

static int measure_alone(struct lab *lab, uint64_t bytes, double *cycles,
                         struct error *err)
{
    struct company one;
    *cycles = 0;
    if (measure_blocks(lab, &one, 1, bytes, err) != 0)
        return err->code;
    *cycles = one.latency[0];
    free(one.experiment);
    return 0;
}

/* The largest buffer that one warp finds in its cache, so that two of them are
 * more than it holds: the next size is not found there, nor the one after it,
 * which noise would be.  0: all were found. */
static int find_fitting(struct lab *lab, uint64_t *fits, double *alone,
                        struct error *err)
{
    enum { LARGEST = 512 << 10 };
    unsigned slow = 0;
    *fits = SMALL;
    if (measure_alone(lab, SMALL, alone, err) != 0)
        return err->code;
    for (uint64_t bytes = next_size(SMALL); bytes <= LARGEST && slow < 2;
         bytes = next_size(bytes)) {
        double cycles;
        if (measure_alone(lab, bytes, &cycles, err) != 0)
            return err->code;
        slow = is_slower(cycles, *alone) ? slow + 1 : 0;
        *fits = slow == 0 ? bytes : *fits;
    }
    *fits = slow < 2 ? 0 : *fits;
    return 0;
}

static size_t most_blocks(const struct lab *lab)
{
    const int64_t most = lab->info->value[PROPERTY_SM_BLOCKS];
    return most > 0 && most < BLOCKS_MOST ? (size_t)most : BLOCKS_MOST;
}

static void report_companies(struct lab *lab, const struct company *companies,
                             size_t count, uint64_t bytes)
{
    struct value latency = value_list(), slowed = value_list();
    struct finding *const f =
        lab_finding(lab, "contention", "latency_by_blocks");
    for (size_t i = 0; i < count; i++) {
        const struct company *const c = &companies[i];
        value_push(&latency, value_number(stats_mean(c->latency, c->blocks)));
        value_push(&slowed, value_number((double)c->slowed));
        finding_evidence(f, c->experiment);
    }
    finding_set(f, STATUS_MEASURED, latency, "cycles");
    finding_protocol(f, "buffer", value_number((double)bytes));
    struct finding *const s = lab_finding(lab, "contention", "blocks_slowed");
    finding_set(s, STATUS_MEASURED, slowed, "blocks");
    finding_evidence(s, companies[count - 1].experiment);
}

static void report_blocks_from(struct lab *lab, const struct company *companies,
                               size_t count)
{
    struct finding *const from = lab_finding(lab, "contention", "blocks_from");
    struct finding *const parts = lab_finding(lab, "contention", "cache_parts");
    size_t i = 0;
    while (i < count && companies[i].slowed == 0)
        i++;
    if (i == count) {
        finding_set(from, STATUS_AT_LEAST, value_number((double)count + 1),
                    "blocks");
        finding_because(from, "%zu blocks do not slow each other", count);
        finding_none(parts, "%zu blocks do not slow each other", count);
        return;
    }
    const struct company *const c = &companies[i];
    finding_set(from, STATUS_MEASURED, value_number((double)c->blocks),
                "blocks");
    finding_evidence(from, c->experiment);
    finding_evidence(parts, c->experiment);
    if (c->slowed == 2)
        finding_set(parts, STATUS_MEASURED, value_number((double)c->blocks - 1),
                    "");
    else
        finding_none(parts,
                     "of the first %zu blocks that slow each other %zu are "
                     "slow, and not the two that share a part",
                     c->blocks, c->slowed);
}

static int ask_blocks(struct lab *lab, struct error *err)
{
    struct company companies[BLOCKS_MOST];
    const size_t most = most_blocks(lab);
    uint64_t bytes;
    double alone;
    size_t count = 0;
    if (find_fitting(lab, &bytes, &alone, err) != 0)
        return err->code;
    if (bytes == 0) {
        static const char *const of_blocks[] = {
            "latency_by_blocks", "blocks_slowed", "blocks_from", "cache_parts"};
        for (size_t i = 0; i < COUNT_OF(of_blocks); i++)
            finding_none(lab_finding(lab, "contention", of_blocks[i]),
                         "no buffer was too large for the cache");
        return 0;
    }
    while (count < most) {
        struct company *const c = &companies[count];
        if (measure_blocks(lab, c, count + 1, bytes, err) != 0)
            break;
        for (size_t b = 0; b < c->blocks; b++)
            c->slowed += is_slower(c->latency[b], alone);
        count++;
    }
    /* An SM that holds fewer shows what those do. */
    const bool enough =
        count == most || (count >= 2 && err->code == ERR_UNSUPPORTED);
    if (enough) {
        report_companies(lab, companies, count, bytes);
        report_blocks_from(lab, companies, count);
    }
    for (size_t i = 0; i < count; i++)
        free(companies[i].experiment);
    return enough ? 0 : err->code;
}

/* ---- the study ---- */

static int run(struct lab *lab, struct error *err)
{
    const struct level_facts *const l1 = &lab->facts[LEVEL_L1];
    if (!l1->present || l1->as_local) {
        lab_leave_open(lab, l1->present ? "L1 does not cache global loads"
                                        : l1->why);
        return 0;
    }
    int status = ask_warps(lab, err);
    if (status == 0)
        status = ask_blocks(lab, err);
    return status;
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
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .apart = true,
    .under_load = true,
    .run_err = run,
};
