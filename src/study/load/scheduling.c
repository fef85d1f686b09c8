/*
 * How blocks come to SMs (van Stigt 2022, 7.4, 8.3, 9.3): a grid of several
 * blocks of 32 warps for each SM, of which each warp records when it began and
 * ended.
 *
 * On one SM, moments are those of its own clock.  What concerns several SMs is
 * told by %globaltimer at each start, which may count in coarse steps: the
 * least difference that was seen is reported beside it.
 *
 * Loads that are late by chance move the ends of warps, and what comes of the
 * first and last of many (skews, tail, makespan) is moved by most of that.  So
 * the grid is launched several times: what a warp, or an SM, takes longer than
 * at its best is what chance adds, and what is no more than that is a bound.
 */
#include <math.h>
#include <stdio.h>

#include "analysis/statistics/stats.h"
#include "analysis/timer.h"
#include "base/mem.h"
#include "study/load/timelines.h"

/* clang-format off */
#define OF_WORK(work)                                                          \
    {ONE("scheduling"), "policy_" work,              ""},                      \
    {ONE("scheduling"), "resident_blocks_" work,     "blocks"},                \
    {ONE("scheduling"), "block_gap_" work,           "cycles"},                \
    {ONE("scheduling"), "warp_start_skew_" work,     "cycles"},                \
    {ONE("scheduling"), "warp_end_skew_" work,       "cycles"},                \
    {ONE("scheduling"), "makespan_over_ideal_" work, ""},                      \
    {ONE("scheduling"), "tail_" work,                "ns"}

static const struct answer answers[] = {
    OF_WORK("memory"),
    OF_WORK("arithmetic"),
    OF_WORK("tensor"),
    {ONE("scheduling"), "sm_of_block",       ""},
    {ONE("scheduling"), "sm_step",           "SMs"},
    {ONE("scheduling"), "one_each_first",    ""},
    {ONE("scheduling"), "start_skew",        "ns"},
    {ONE("scheduling"), "timer_step",        "ns"},
    {ONE("scheduling"), "clocks_apart",      "cycles"},
    {ONE("scheduling"), "clock_groups",      ""},
    {ONE("scheduling"), "clock_group_of_sm", ""},
    {ONE("scheduling"), "recording_cost",    "ns"},
    {ONE("scheduling"), "empty_launch",      "ns"},
    {0},
};
/* clang-format on */
static const char *const reads_findings[] = {"clock.measured", NULL};

/* Of a block; those of an SM; rounds that follow the first. */
enum { WARP_THREADS = 32, BLOCKS_LEAST = 4, ROUNDS = 2 };
/* Of a warp: longer than it takes to hand a block to every SM. */
enum { STEPS = 32, STEPS_MOST = 512, STEPS_FACTOR = 4 };
/* Launches of a grid. */
enum { REPEATS = 5 };

struct kind {
    const char *name, *work;
    unsigned lanes; /* that work: a warp takes its turn for one as for all */
    bool first_blocks;
};

static const struct kind kinds[] = {
    {"memory", "load", 8, false},
    {"arithmetic", "arithmetic", 1, true},
    {"tensor", "tensor", WARP_THREADS, false},
};

/* A grid on this GPU, and what its warps recorded. */
struct scheduling_question {
    struct lab *lab;
    size_t sms, warps, blocks; /* of the GPU; of a block; of an SM */
    const struct kind *kind;
    struct timelines t;
    struct warp_spans last; /* blocks of the last repetition */
};

static struct scheduling_question scheduling_question_of(struct lab *lab)
{
    struct scheduling_question q = {
        .lab = lab, .warps = lab_block_warps(lab), .blocks = BLOCKS_LEAST};
    q.sms = device_told(lab->info, PROPERTY_SMS, 0);
    const int64_t held = lab->info->value[PROPERTY_SM_THREADS] /
                         (int64_t)(q.warps * WARP_THREADS);
    if (held * ROUNDS > BLOCKS_LEAST)
        q.blocks = (size_t)held * ROUNDS;
    return q;
}

static struct finding *scheduling_finding(const struct scheduling_question *q,
                                          const char *attribute)
{
    struct finding *const f = lab_finding(q->lab, "scheduling", attribute);
    finding_cite(f, q->t.experiment);
    return f;
}

static struct finding *finding_of_kind(const struct scheduling_question *q,
                                       const char *attribute)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s", attribute, q->kind->name);
    return scheduling_finding(q, name);
}

/* ---- one kind of work ---- */

enum { PATTERNS = SPANS_MIXED + 1, RESIDENT_MOST = 32 };

/* What the SMs show, in each repetition; skews are of blocks, gaps of SMs. */
struct occupancy {
    size_t sms; /* that had blocks, in all repetitions */
    size_t resident[RESIDENT_MOST + 1], pattern[PATTERNS];
    double *gaps, *starts, *ends;
    size_t gap_count, skew_count;
    /* Cycles, by repetition: the longest SM; of all blocks; and of each SM,
     * from its first start to its last end, by SM and repetition. */
    double *makespan, *busy, *lasting;
    double late_warps, late_sms; /* cycles that chance adds (late_of) */
};

/* Blocks of an SM in the order of their numbers; returns how many. */
static size_t blocks_of_sm(const struct scheduling_question *q,
                           const struct warp_spans *blocks, size_t sm,
                           struct span *spans)
{
    size_t count = 0;
    for (size_t i = 0; i < blocks->count; i++)
        if (blocks->at[i].sm % q->sms == sm)
            spans[count++] = blocks->at[i].span;
    return count;
}

/* Returns how long the SM was at it, cycles. */
static double add_sm(struct occupancy *o, size_t repeat,
                     const struct span *spans, size_t count)
{
    const size_t at_once = spans_at_once(spans, count);
    const double gap = spans_gap(spans, count);
    struct span all = span_none;
    for (size_t i = 0; i < count; i++) {
        span_hold(&all, spans[i].start, spans[i].end);
        o->busy[repeat] += span_length(&spans[i]);
    }
    o->sms++;
    o->resident[at_once < RESIDENT_MOST ? at_once : RESIDENT_MOST]++;
    o->pattern[spans_pattern(spans, count, at_once)]++;
    o->makespan[repeat] = fmax(o->makespan[repeat], span_length(&all));
    if (!isnan(gap))
        o->gaps[o->gap_count++] = gap;
    return span_length(&all);
}

static void add_repeat(const struct scheduling_question *q, struct occupancy *o,
                       size_t repeat)
{
    const struct warp_spans blocks = timelines_blocks(q->lab, &q->t, repeat);
    struct span *const spans = lab_alloc(q->lab, blocks.count, sizeof *spans);
    for (size_t sm = 0; sm < q->sms; sm++) {
        const size_t count = blocks_of_sm(q, &blocks, sm, spans);
        if (count > 0)
            o->lasting[sm * q->t.repeats + repeat] =
                add_sm(o, repeat, spans, count);
    }
}

/* Warps of a block are rows in a row. */
static void add_skews(struct occupancy *o, const struct warp_span *warps,
                      size_t count)
{
    struct span starts = span_none, ends = span_none;
    for (size_t i = 0; i < count; i++) {
        const struct span *const s = &warps[i].span;
        span_hold(&starts, s->start, s->start);
        span_hold(&ends, s->end, s->end);
    }
    o->starts[o->skew_count] = span_length(&starts);
    o->ends[o->skew_count++] = span_length(&ends);
}

/* What the same takes longer in a repetition than in its shortest, of so many
 * things together that which is latest; the median.  `lasting` is by thing and
 * repetition. */
static double late_of(const struct scheduling_question *q,
                      const double *lasting, size_t things, size_t together)
{
    const size_t repeats = q->t.repeats, all = things / together * repeats;
    double *const latest = lab_alloc(q->lab, all, sizeof *latest);
    for (size_t i = 0; i < things * repeats; i++) {
        const size_t thing = i / repeats;
        double *const own = &latest[thing / together * repeats + i % repeats];
        *own = fmax(*own,
                    lasting[i] - stats_min(lasting + thing * repeats, repeats));
    }
    return stats_median(latest, all);
}

/* Of a block the one of its warps that is latest. */
static double late_warps(const struct scheduling_question *q)
{
    const struct timelines *const t = &q->t;
    const size_t warps = t->count / t->repeats / q->warps * q->warps;
    double *const lasting =
        lab_alloc(q->lab, warps * t->repeats, sizeof *lasting);
    for (size_t i = 0; i < warps * t->repeats; i++)
        lasting[i] = span_length(
            &t->warps[i % t->repeats * (t->count / t->repeats) + i / t->repeats]
                 .span);
    return late_of(q, lasting, warps, q->warps);
}

static struct occupancy occupancy_of(const struct scheduling_question *q)
{
    const struct timelines *const t = &q->t;
    struct occupancy o = {
        .gaps = lab_alloc(q->lab, t->count, sizeof *o.gaps),
        .starts = lab_alloc(q->lab, t->count, sizeof *o.starts),
        .ends = lab_alloc(q->lab, t->count, sizeof *o.ends),
        .makespan = lab_alloc(q->lab, t->repeats, sizeof *o.makespan),
        .busy = lab_alloc(q->lab, t->repeats, sizeof *o.busy),
        .lasting = lab_alloc(q->lab, q->sms * t->repeats, sizeof *o.lasting),
    };
    for (size_t r = 0; r < t->repeats; r++)
        add_repeat(q, &o, r);
    for (size_t i = 0; i + q->warps <= t->count; i += q->warps)
        add_skews(&o, t->warps + i, q->warps);
    o.late_warps = late_warps(q);
    o.late_sms = late_of(q, o.lasting, q->sms, 1);
    return o;
}

static size_t commonest(const size_t *counts, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        best = counts[i] > counts[best] ? i : best;
    return best;
}

/* "in pairs" is the word for two at once. */
static const char *name_of(struct lab *lab, enum spans_pattern pattern,
                           size_t at_once)
{
    static const char *const names[] = {
        [SPANS_SINGLY] = "singly",
        [SPANS_TOGETHER] = "in pairs",
        [SPANS_STAIRCASE] = "in a staircase",
        [SPANS_MIXED] = "mixed",
    };
    if (pattern == SPANS_TOGETHER && at_once != 2)
        return lab_text(lab, "in groups of %zu", at_once);
    return names[pattern];
}

/* Nine SMs of ten show the same. */
static bool agree(const struct occupancy *o, const size_t *counts, size_t which)
{
    return 10 * counts[which] >= 9 * o->sms;
}

/* Too short a kernel shows how it starts more than how it runs. */
static bool is_decided(const struct occupancy *o)
{
    const size_t pattern = commonest(o->pattern, PATTERNS);
    return pattern != SPANS_MIXED && agree(o, o->pattern, pattern);
}

/* Where SMs differ, nothing is stated. */
static void report_policy(const struct scheduling_question *q,
                          const struct occupancy *o)
{
    const size_t at_once = commonest(o->resident, COUNT_OF(o->resident));
    const size_t pattern = commonest(o->pattern, PATTERNS);
    const char *const name =
        name_of(q->lab, (enum spans_pattern)pattern, at_once);
    struct finding *const resident = finding_of_kind(q, "resident_blocks");
    struct finding *const policy = finding_of_kind(q, "policy");
    if (agree(o, o->resident, at_once))
        finding_measured(resident, (double)at_once);
    else
        finding_none(resident, why_resident_differ, o->resident[at_once],
                     o->sms, at_once);
    if (pattern == SPANS_MIXED && o->late_warps > 0)
        finding_none(policy, why_late_by_launch, o->late_warps);
    else if (agree(o, o->pattern, pattern))
        finding_value(policy, STATUS_MEASURED, value_text(name));
    else
        finding_none(policy, why_patterns_differ, o->pattern[pattern], o->sms,
                     name);
}

/* The median, with the quarters beside it, between which half of them lie. */
static struct finding *report_typical(const struct scheduling_question *q,
                                      const char *attribute,
                                      const double *values, size_t n)
{
    struct finding *const f = finding_of_kind(q, attribute);
    if (n == 0) {
        finding_none(f, why_none_followed);
        return f;
    }
    finding_measured(f, stats_median(values, n));
    finding_interval(f, stats_quantile(values, n, 0.25),
                     stats_quantile(values, n, 0.75), 0.5);
    return f;
}

/* Warps that are late by chance end later than the others, and they write down
 * when at other moments, so that a block ends sooner or later after that. */
static void report_gap(const struct scheduling_question *q,
                       const struct occupancy *o)
{
    struct finding *const f =
        report_typical(q, "block_gap", o->gaps, o->gap_count);
    const double late = o->late_warps;
    if (o->gap_count == 0 || late == 0)
        return;
    finding_interval(f, fmax(0, f->interval[0] - late), f->interval[1] + late,
                     -1);
    if (late > f->value.number)
        finding_doubt(f, lab_text(q->lab, why_late_by_launch, late));
}

static void bound_by_chance(struct finding *f, double most, double late)
{
    finding_value(f, STATUS_AT_MOST, value_number(most));
    f->has_interval = false;
    f->confidence = -1;
    finding_because(f, why_late_by_launch, late);
}

static void report_ends(const struct scheduling_question *q,
                        const struct occupancy *o)
{
    struct finding *const f =
        report_typical(q, "warp_end_skew", o->ends, o->skew_count);
    const double late = o->late_warps;
    if (o->skew_count == 0 || late == 0)
        return;
    if (late > f->value.number / 2)
        bound_by_chance(f, f->interval[1], late);
    else
        finding_interval(f, f->interval[0] - late, f->interval[1], -1);
}

/* Of repetitions that show the last of many: it is later than the others by
 * about three times what chance adds to each; what is no more is a bound.
 * `unit` is what a cycle is of `values`, which are `least` at least. */
static void report_last(const struct scheduling_question *q,
                        const struct occupancy *o, struct finding *f,
                        const double *values, double unit, double least)
{
    enum { OF_MANY = 3 };
    const size_t n = q->t.repeats;
    const double low = stats_min(values, n) - OF_MANY * o->late_sms * unit;
    const double high = stats_max(values, n);
    finding_measured(f, stats_median(values, n));
    finding_interval(f, low, high, -1);
    if (o->late_sms > 0 && low <= least)
        bound_by_chance(f, high, o->late_sms);
}

static void report_makespan(const struct scheduling_question *q,
                            const struct occupancy *o)
{
    const double places =
        (double)(commonest(o->resident, COUNT_OF(o->resident)) * q->sms);
    struct finding *const f = finding_of_kind(q, "makespan_over_ideal");
    double *const over = lab_alloc(q->lab, q->t.repeats, sizeof *over);
    for (size_t r = 0; r < q->t.repeats; r++)
        over[r] = o->makespan[r] * places / o->busy[r];
    report_last(q, o, f, over, 1 / stats_median(o->makespan, q->t.repeats), 1);
    finding_protocol(f, "ideal",
                     value_text("all places of all SMs taken to the end"));
}

/* From the first SM that has nothing left to the end of all, ns. */
static double tail_of(const struct scheduling_question *q, size_t repeat,
                      double hz)
{
    const struct warp_spans blocks = timelines_blocks(q->lab, &q->t, repeat);
    double first_idle = INFINITY, end = 0;
    double *const last = lab_alloc(q->lab, q->sms, sizeof *last);
    for (size_t i = 0; i < blocks.count; i++) {
        const struct warp_span *const b = &blocks.at[i];
        double *const own = &last[b->sm % q->sms];
        *own = fmax(*own, b->ns + 1e9 * span_length(&b->span) / hz);
    }
    for (size_t i = 0; i < q->sms; i++) {
        first_idle = last[i] > 0 ? fmin(first_idle, last[i]) : first_idle;
        end = fmax(end, last[i]);
    }
    return round(end - first_idle);
}

static void report_tail(const struct scheduling_question *q,
                        const struct occupancy *o)
{
    double hz;
    struct finding *const f = finding_of_kind(q, "tail");
    if (!lab_number(q->lab, "clock", "measured", &hz)) {
        finding_none(f, "%s", lab_why_unknown(q->lab, "clock", "measured"));
        return;
    }
    double *const tails = lab_alloc(q->lab, q->t.repeats, sizeof *tails);
    for (size_t r = 0; r < q->t.repeats; r++)
        tails[r] = tail_of(q, r, hz);
    report_last(q, o, f, tails, 1e9 / hz, 0);
}

/* ---- how the first blocks are handed out ---- */

/* The commonest step from one number to the next. */
static int64_t common_step(const struct warp_span *blocks, size_t count,
                           size_t *times)
{
    int64_t best = 0;
    *times = 0;
    for (size_t i = 1; i < count; i++) {
        const int64_t step = (int64_t)blocks[i].sm - (int64_t)blocks[i - 1].sm;
        size_t same = 0;
        for (size_t k = 1; k < count; k++)
            same += (int64_t)blocks[k].sm - (int64_t)blocks[k - 1].sm == step;
        if (same > *times) {
            *times = same;
            best = step;
        }
    }
    return best;
}

/* True of the first block that comes to its SM. */
static bool is_first(const struct scheduling_question *q, bool *seen, size_t i)
{
    bool *const own = &seen[q->last.at[i].sm % q->sms];
    const bool first = !*own;
    *own = true;
    return first;
}

static void report_order(const struct scheduling_question *q)
{
    size_t times, distinct = 0;
    bool *const seen = lab_alloc(q->lab, q->sms, sizeof *seen);
    struct value list = value_list();
    for (size_t i = 0; i < q->sms; i++) {
        distinct += is_first(q, seen, i);
        value_push(&list, value_number(q->last.at[i].sm));
    }
    finding_value(scheduling_finding(q, "sm_of_block"), STATUS_MEASURED, list);
    const int64_t step = common_step(q->last.at, q->sms, &times);
    struct finding *const f = scheduling_finding(q, "sm_step");
    if (2 * times > q->sms - 1)
        finding_measured(f, (double)step);
    else
        finding_none(f, why_no_common_step);
    finding_value(scheduling_finding(q, "one_each_first"), STATUS_MEASURED,
                  value_bool(distinct == q->sms));
}

/* ns between two readings of the timer, at least; 0: it stood still. */
static double step_of_timer(const struct scheduling_question *q)
{
    const struct timelines *const t = &q->t;
    int64_t *const ns = lab_alloc(q->lab, t->count, sizeof *ns);
    for (size_t i = 0; i < t->count; i++)
        ns[i] = (int64_t)t->warps[i].ns;
    return (double)timer_step(ns, t->count);
}

/* Each of two readings lags by less than a step, so that is what their
 * difference may be off by. */
static void report_start(const struct scheduling_question *q)
{
    const double step = step_of_timer(q);
    struct span starts = span_none;
    bool *const seen = lab_alloc(q->lab, q->sms, sizeof *seen);
    for (size_t i = 0; i < q->last.count; i++)
        if (is_first(q, seen, i))
            span_hold(&starts, q->last.at[i].ns, q->last.at[i].ns);
    const double skew = span_length(&starts);
    struct finding *const f = scheduling_finding(q, "start_skew");
    struct finding *const timer = scheduling_finding(q, "timer_step");
    if (step == 0) {
        finding_none(timer, why_timer_still);
        finding_none(f, why_timer_still);
        return;
    }
    finding_measured(timer, step);
    finding_measured(f, skew);
    finding_interval(f, fmax(skew - step, 0), skew + step, 1);
}

/* Of each SM, how far its clock is ahead of the timer, cycles.  The timer lags
 * by up to a step: what was read just after one says most. */
static double *clock_offsets(const struct scheduling_question *q, double hz)
{
    const struct warp_span *const blocks = q->last.at;
    double *const offsets = lab_alloc(q->lab, q->sms, sizeof *offsets);
    for (size_t i = 0; i < q->sms; i++)
        offsets[i] = -INFINITY;
    for (size_t i = 0; i < q->last.count; i++) {
        double *const own = &offsets[blocks[i].sm % q->sms];
        /* Differences first: clocks count from long ago. */
        const double cycles = blocks[i].span.start - blocks[0].span.start;
        *own = fmax(*own, cycles - blocks[i].ns * hz / 1e9);
    }
    return offsets;
}

static void report_groups(const struct scheduling_question *q,
                          const double *offsets, double near)
{
    struct finding *const f = scheduling_finding(q, "clock_groups");
    struct finding *const of_sm = scheduling_finding(q, "clock_group_of_sm");
    size_t *const group = lab_alloc(q->lab, q->sms, sizeof *group);
    const size_t count = groups_of(offsets, q->sms, near, group);
    if (count == 0) {
        finding_none(f, why_clocks_mixed);
        finding_none(of_sm, why_clocks_mixed);
        return;
    }
    struct value list = value_list();
    for (size_t i = 0; i < q->sms; i++)
        value_push(&list, value_number((double)group[i]));
    finding_measured(f, (double)count);
    finding_value(of_sm, STATUS_MEASURED, list);
}

/* Clocks that are alike within the timer's steps, and what code takes. */
enum { NEAR_STEPS = 3, NEAR_CYCLES = 100 };

static void report_clocks(const struct scheduling_question *q)
{
    double hz;
    if (!lab_number(q->lab, "clock", "measured", &hz)) {
        lab_refuse(q->lab, "scheduling.clock*", "%s",
                   lab_why_unknown(q->lab, "clock", "measured"));
        return;
    }
    const double step = step_of_timer(q) * hz / 1e9;
    const double *const offsets = clock_offsets(q, hz);
    const double apart =
        stats_max(offsets, q->sms) - stats_min(offsets, q->sms);
    if (!isfinite(apart)) {
        lab_refuse(q->lab, "scheduling.clock*", why_no_block_came);
        return;
    }
    struct finding *const f = scheduling_finding(q, "clocks_apart");
    finding_measured(f, round(apart));
    finding_interval(f, fmax(apart - 2 * step, 0), apart + 2 * step, 1);
    report_groups(q, offsets, NEAR_STEPS * step + NEAR_CYCLES);
}

static void report_kind(const struct scheduling_question *q,
                        const struct occupancy *o)
{
    report_policy(q, o);
    report_gap(q, o);
    report_typical(q, "warp_start_skew", o->starts, o->skew_count);
    report_ends(q, o);
    report_makespan(q, o);
    report_tail(q, o);
    /* Of the arithmetic kernel, whose blocks take the longest to make room. */
    if (!q->kind->first_blocks)
        return;
    report_order(q);
    report_start(q);
    report_clocks(q);
}

/* When each warp of the SM of the first one was at work, from its first one on,
 * warps of a block in a row. */
static void show_warps(const struct scheduling_question *q)
{
    static const struct curve_kind edges[] = {{"start", "warp", "", "cycles"},
                                              {"end", "warp", "", "cycles"}};
    const struct timelines *const t = &q->t;
    const char *const policy = lab_text(q->lab, "policy_%s", q->kind->name);
    struct span all = span_none;
    for (size_t i = 0; i < t->count; i++)
        if (t->warps[i].sm == t->warps[0].sm && t->warps[i].repeat == 0)
            span_hold(&all, t->warps[i].span.start, t->warps[i].span.end);
    for (size_t i = 0, row = 0; i < t->count; i++) {
        const struct span *const s = &t->warps[i].span;
        if (t->warps[i].sm != t->warps[0].sm || t->warps[i].repeat != 0)
            continue;
        const struct curve_seen start = {(double)row, s->start - all.start,
                                         t->experiment};
        const struct curve_seen end = {(double)row++, s->end - all.start,
                                       t->experiment};
        lab_point(q->lab, "scheduling", policy, &edges[0], start);
        lab_point(q->lab, "scheduling", policy, &edges[1], end);
    }
}

/* Longer and longer kernels until SMs agree on the policy. */
static void scheduling_ask_kind(struct scheduling_question *q)
{
    struct lab *const lab = q->lab;
    for (unsigned steps = STEPS;; steps *= STEPS_FACTOR) {
        q->t = timelines_measure(
            lab, "work=%s blocks=%zu warps=%zu lanes=%u steps=%u repeats=%d",
            q->kind->work, q->sms * q->blocks, q->warps, q->kind->lanes, steps,
            REPEATS);
        if (!lab_ok(lab))
            return;
        q->last = timelines_blocks(lab, &q->t, q->t.repeats - 1);
        const struct occupancy o = occupancy_of(q);
        if (!is_decided(&o) && steps < STEPS_MOST)
            continue;
        report_kind(q, &o);
        show_warps(q);
        return;
    }
}

/* A kind of work that this GPU, or its driver, does not know, is skipped. */
static void scheduling_ask_kinds(struct scheduling_question *q)
{
    struct lab *const lab = q->lab;
    for (size_t i = 0; lab_ok(lab) && i < COUNT_OF(kinds); i++) {
        q->kind = &kinds[i];
        scheduling_ask_kind(q);
        if (lab->err.code != ERR_UNSUPPORTED && lab->err.code != ERR_PTX)
            continue;
        lab_skip(lab, lab_text(lab, "scheduling.*_%s", q->kind->name),
                 lab->err.text);
        lab->err = (struct error){0};
    }
}

static void scheduling_ask_empty(struct lab *lab)
{
    const struct timelines t =
        timelines_measure(lab, "work=none records=none repeats=9");
    if (!lab_ok(lab))
        return;
    struct finding *const f = lab_finding(lab, "scheduling", "empty_launch");
    finding_range(f, t.launch_ns, t.repeats);
    finding_protocol(f, "timer", value_text("the device's, around a launch"));
    finding_cite(f, t.experiment);
}

enum { LAUNCHES = 9 };

/* What is no more than launches differ by is a bound. */
static void say_recording(struct finding *f, double more, double spread)
{
    if (more > spread) {
        finding_measured(f, more);
        finding_interval(f, more - spread, more + spread, -1);
        return;
    }
    finding_value(f, STATUS_AT_MOST, value_number(fmax(more, 0) + spread));
    finding_because(f, why_recording_alike);
}

static double middle_half(const double *values, size_t count)
{
    return stats_quantile(values, count, 0.75) -
           stats_quantile(values, count, 0.25);
}

/* What a launch takes longer where each warp writes down when it ran. */
static void scheduling_ask_recording(const struct scheduling_question *q)
{
    static const char *const records[] = {"none", "warps"};
    struct lab *const lab = q->lab;
    double ns[COUNT_OF(records)], spread = 0;
    struct finding *const f = lab_finding(lab, "scheduling", "recording_cost");
    for (size_t i = 0; i < COUNT_OF(records); i++) {
        const struct timelines t = timelines_measure(
            lab, "work=none blocks=%zu warps=%zu records=%s repeats=%d", q->sms,
            q->warps, records[i], LAUNCHES);
        if (!lab_ok(lab))
            return;
        ns[i] = stats_median(t.launch_ns, t.repeats);
        spread += middle_half(t.launch_ns, t.repeats);
        finding_cite(f, t.experiment);
    }
    say_recording(f, ns[1] - ns[0], spread);
}

/* ---- the study ---- */

static void scheduling_run(struct lab *lab)
{
    struct scheduling_question q = scheduling_question_of(lab);
    if (q.sms == 0) {
        lab_leave_open(lab, why_sms_untold);
        return;
    }
    scheduling_ask_kinds(&q);
    if (lab_ok(lab))
        scheduling_ask_recording(&q);
    if (lab_ok(lab))
        scheduling_ask_empty(lab);
}

const struct study study_scheduling = {
    .name = "scheduling",
    .question = "Which block runs where, when, and beside which others?",
    .method =
        "A grid of several blocks of 32 warps for each SM, which load, "
        "multiply and add, or multiply matrices; each warp records "
        "its SM and its begin and end by the SM's clock and by %globaltimer. "
        "Blocks of an SM overlap or not, and end together or one after the "
        "other: that is the policy.",
    .reads_findings = reads_findings,
    .answers = answers,
    .kernels = TEXTS("timeline lanes=8", "timeline work=arithmetic lanes=1",
                     "timeline work=tensor", "timeline work=none records=none",
                     "timeline work=none"),
    .apart = true,
    .under_load = true,
    .averages = TEXTS("*_memory"),
    .run = scheduling_run,
};
