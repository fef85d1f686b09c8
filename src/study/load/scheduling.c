/*
 * How blocks come to SMs (van Stigt 2022, 7.4, 8.3, 9.3): a grid of several
 * blocks of 32 warps for each SM, of which each warp records when it began and
 * ended.
 *
 * On one SM, moments are those of its own clock.  What concerns several SMs is
 * told by %globaltimer at each start, which may count in coarse steps: the
 * least difference that was seen is reported beside it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"
#include "base/mem.h"
#include "study/load/timelines.h"

#define WORK(name)                                                             \
    "scheduling.policy_" name, "scheduling.resident_blocks_" name,             \
        "scheduling.block_gap_" name, "scheduling.warp_start_skew_" name,      \
        "scheduling.warp_end_skew_" name,                                      \
        "scheduling.makespan_over_ideal_" name, "scheduling.tail_" name

static const char *const needs[] = {"clock", NULL};
static const char *const gives[] = {WORK("memory"),
                                    WORK("arithmetic"),
                                    WORK("tensor"),
                                    "scheduling.sm_of_block",
                                    "scheduling.sm_step",
                                    "scheduling.one_each_first",
                                    "scheduling.start_skew",
                                    "scheduling.timer_step",
                                    "scheduling.clocks_apart",
                                    "scheduling.clock_groups",
                                    "scheduling.clock_group_of_sm",
                                    "scheduling.recording_cost",
                                    "scheduling.empty_launch",
                                    NULL};

/* Of a block; those of an SM; rounds that follow the first. */
enum { WARP_THREADS = 32, BLOCKS_LEAST = 4, ROUNDS = 2 };
/* Of a warp: longer than it takes to hand a block to every SM. */
enum { STEPS = 32, STEPS_MOST = 512, STEPS_FACTOR = 4 };

static const char *const kernels[] = {
    "timeline lanes=8",     "timeline work=arithmetic lanes=1",
    "timeline work=tensor", "timeline work=none records=none",
    "timeline work=none",   NULL,
};

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

/* What is known of the GPU; and of each of its SMs in one repetition. */
struct shape {
    size_t sms, warps, blocks; /* of a block; of an SM */
};

struct sm_blocks {
    size_t count;
    struct span *spans; /* of blocks, in the order of their numbers */
};

static struct shape shape_of(const struct lab *lab)
{
    const int64_t *const value = lab->info->value;
    struct shape s = {.warps = lab_block_warps(lab), .blocks = BLOCKS_LEAST};
    s.sms = value[PROPERTY_SMS] > 0 ? (size_t)value[PROPERTY_SMS] : 0;
    const int64_t held =
        value[PROPERTY_SM_THREADS] / (int64_t)(s.warps * WARP_THREADS);
    if (held * ROUNDS > BLOCKS_LEAST)
        s.blocks = (size_t)held * ROUNDS;
    return s;
}

/* Blocks by SM; the caller frees each SM's spans and the list. */
static struct sm_blocks *by_sm(const struct warp_span *blocks, size_t count,
                               size_t sms)
{
    struct sm_blocks *const list = xcalloc(sms, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        struct sm_blocks *const sm = &list[blocks[i].sm % sms];
        sm->spans = xreallocarray(sm->spans, sm->count + 1, sizeof *sm->spans);
        sm->spans[sm->count++] = blocks[i].span;
    }
    return list;
}

static void free_by_sm(struct sm_blocks *list, size_t sms)
{
    for (size_t i = 0; i < sms; i++)
        free(list[i].spans);
    free(list);
}

/* ---- one kind of work ---- */

enum { PATTERNS = SPANS_MIXED + 1, RESIDENT_MOST = 32 };

/* What the SMs of one repetition show; skews are of blocks, gaps of SMs. */
struct picture {
    size_t sms; /* that had blocks */
    size_t resident[RESIDENT_MOST + 1], pattern[PATTERNS];
    double *gaps, *starts, *ends;
    size_t gap_count, skew_count;
    double makespan, busy; /* cycles: the longest SM; of all blocks */
};

static void add_sm(struct picture *p, const struct sm_blocks *sm)
{
    const size_t at_once = spans_at_once(sm->spans, sm->count);
    const double gap = spans_gap(sm->spans, sm->count);
    struct span all = {INFINITY, -INFINITY};
    for (size_t i = 0; i < sm->count; i++) {
        all.start = fmin(all.start, sm->spans[i].start);
        all.end = fmax(all.end, sm->spans[i].end);
        p->busy += span_length(&sm->spans[i]);
    }
    p->sms++;
    p->resident[at_once < RESIDENT_MOST ? at_once : RESIDENT_MOST]++;
    p->pattern[spans_pattern(sm->spans, sm->count, at_once)]++;
    p->makespan = fmax(p->makespan, span_length(&all));
    if (!isnan(gap))
        p->gaps[p->gap_count++] = gap;
}

/* Warps of a block are rows in a row. */
static void add_skews(struct picture *p, const struct warp_span *warps,
                      size_t count)
{
    struct span starts = {INFINITY, -INFINITY}, ends = starts;
    for (size_t i = 0; i < count; i++) {
        const struct span *const s = &warps[i].span;
        starts.start = fmin(starts.start, s->start);
        starts.end = fmax(starts.end, s->start);
        ends.start = fmin(ends.start, s->end);
        ends.end = fmax(ends.end, s->end);
    }
    p->starts[p->skew_count] = span_length(&starts);
    p->ends[p->skew_count++] = span_length(&ends);
}

static void picture_init(struct picture *p, const struct timelines *t)
{
    *p = (struct picture){0};
    p->gaps = xreallocarray(NULL, t->count, sizeof *p->gaps);
    p->starts = xreallocarray(NULL, t->count, sizeof *p->starts);
    p->ends = xreallocarray(NULL, t->count, sizeof *p->ends);
}

static void picture_free(struct picture *p)
{
    free(p->gaps);
    free(p->starts);
    free(p->ends);
}

static void see(struct picture *p, const struct timelines *t,
                const struct shape *s)
{
    size_t count;
    const unsigned last = (unsigned)t->repeats - 1;
    struct warp_span *const blocks = timelines_blocks(t, last, &count);
    struct sm_blocks *const sms = by_sm(blocks, count, s->sms);
    picture_init(p, t);
    for (size_t i = 0; i < s->sms; i++)
        if (sms[i].count > 0)
            add_sm(p, &sms[i]);
    for (size_t i = 0; i < t->count; i += s->warps)
        if (t->warps[i].repeat == last)
            add_skews(p, t->warps + i, s->warps);
    free_by_sm(sms, s->sms);
    free(blocks);
}

static size_t commonest(const size_t *counts, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        best = counts[i] > counts[best] ? i : best;
    return best;
}

static struct finding *start_finding(struct lab *lab, const char *attribute,
                                     const struct kind *kind,
                                     const char *experiment)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s", attribute, kind->name);
    struct finding *const f = lab_finding(lab, "scheduling", name);
    finding_evidence(f, experiment);
    return f;
}

/* "in pairs" is the seed's word for two at once. */
static void name_pattern(enum spans_pattern pattern, size_t at_once, char *text,
                         size_t size)
{
    static const char *const names[] = {
        [SPANS_SINGLY] = "singly",
        [SPANS_TOGETHER] = "in pairs",
        [SPANS_STAIRCASE] = "in a staircase",
        [SPANS_MIXED] = "mixed",
    };
    snprintf(text, size, "%s", names[pattern]);
    if (pattern == SPANS_TOGETHER && at_once != 2)
        snprintf(text, size, "in groups of %zu", at_once);
}

/* Nine SMs of ten show the same. */
static bool agree(const struct picture *p, const size_t *counts, size_t which)
{
    return 10 * counts[which] >= 9 * p->sms;
}

/* Too short a kernel shows how it starts more than how it runs. */
static bool is_decided(const struct picture *p)
{
    const size_t pattern = commonest(p->pattern, PATTERNS);
    return pattern != SPANS_MIXED && agree(p, p->pattern, pattern);
}

/* Where SMs differ, nothing is stated. */
static void report_policy(struct lab *lab, const struct picture *p,
                          const struct kind *kind, const char *experiment)
{
    char text[64];
    const size_t at_once = commonest(p->resident, RESIDENT_MOST + 1);
    const size_t pattern = commonest(p->pattern, PATTERNS);
    struct finding *const resident =
        start_finding(lab, "resident_blocks", kind, experiment);
    struct finding *const policy =
        start_finding(lab, "policy", kind, experiment);
    if (agree(p, p->resident, at_once))
        finding_set(resident, STATUS_MEASURED, value_number((double)at_once),
                    "blocks");
    else
        finding_none(resident, "%zu of %zu SMs had %zu blocks at once",
                     p->resident[at_once], p->sms, at_once);
    name_pattern((enum spans_pattern)pattern, at_once, text, sizeof text);
    if (agree(p, p->pattern, pattern))
        finding_set(policy, STATUS_MEASURED, value_text(text), "");
    else
        finding_none(policy, "%zu of %zu SMs ran their blocks %s",
                     p->pattern[pattern], p->sms, text);
}

/* The median, with the quarters beside it. */
static void report_typical(struct lab *lab, const char *attribute,
                           const struct kind *kind, const double *values,
                           size_t n, const char *experiment)
{
    struct finding *const f = start_finding(lab, attribute, kind, experiment);
    if (n == 0) {
        finding_none(f, "no block followed another on an SM");
        return;
    }
    finding_set(f, STATUS_MEASURED, value_number(stats_median(values, n)),
                "cycles");
    finding_interval(f, stats_quantile(values, n, 0.25),
                     stats_quantile(values, n, 0.75), 0.5);
}

static void report_makespan(struct lab *lab, const struct picture *p,
                            const struct shape *s, const struct kind *kind,
                            const char *experiment)
{
    const double places =
        (double)(commonest(p->resident, RESIDENT_MOST + 1) * s->sms);
    struct finding *const f =
        start_finding(lab, "makespan_over_ideal", kind, experiment);
    finding_set(f, STATUS_MEASURED,
                value_number(p->makespan * places / p->busy), "");
    finding_protocol(f, "ideal",
                     value_text("all places of all SMs taken to the end"));
}

/* From the first SM that has nothing left to the end of all, ns. */
static void report_tail(struct lab *lab, const struct timelines *t,
                        const struct shape *s, const struct kind *kind)
{
    size_t count;
    double hz;
    struct finding *const f = start_finding(lab, "tail", kind, t->experiment);
    if (!lab_number(lab, "clock", "measured", &hz)) {
        finding_none(f, "the rate of the clock was not measured");
        return;
    }
    struct warp_span *const blocks =
        timelines_blocks(t, (unsigned)t->repeats - 1, &count);
    double *const last = xcalloc(s->sms, sizeof *last);
    double first_idle = INFINITY, end = 0;
    for (size_t i = 0; i < count; i++) {
        double *const own = &last[blocks[i].sm % s->sms];
        *own =
            fmax(*own, blocks[i].ns + 1e9 * span_length(&blocks[i].span) / hz);
    }
    for (size_t i = 0; i < s->sms; i++) {
        first_idle = last[i] > 0 ? fmin(first_idle, last[i]) : first_idle;
        end = fmax(end, last[i]);
    }
    finding_set(f, STATUS_MEASURED, value_number(round(end - first_idle)),
                "ns");
    free(last);
    free(blocks);
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

static size_t distinct_sms(const struct warp_span *blocks, size_t count,
                           size_t sms)
{
    bool *const seen = xcalloc(sms, sizeof *seen);
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++) {
        distinct += !seen[blocks[i].sm % sms];
        seen[blocks[i].sm % sms] = true;
    }
    free(seen);
    return distinct;
}

static void report_order(struct lab *lab, const struct warp_span *blocks,
                         const struct shape *s, const char *experiment)
{
    size_t times;
    struct value list = value_list();
    const int64_t step = common_step(blocks, s->sms, &times);
    struct finding *const order = lab_finding(lab, "scheduling", "sm_of_block");
    for (size_t i = 0; i < s->sms; i++)
        value_push(&list, value_number(blocks[i].sm));
    finding_set(order, STATUS_MEASURED, list, "");
    finding_evidence(order, experiment);
    struct finding *const f = lab_finding(lab, "scheduling", "sm_step");
    if (2 * times > s->sms - 1)
        finding_set(f, STATUS_MEASURED, value_number((double)step), "SMs");
    else
        finding_none(f, "no step from SM to SM is that of most blocks");
    finding_evidence(f, experiment);
    struct finding *const each =
        lab_finding(lab, "scheduling", "one_each_first");
    finding_set(each, STATUS_MEASURED,
                value_bool(distinct_sms(blocks, s->sms, s->sms) == s->sms), "");
    finding_evidence(each, experiment);
}

/* The least step of the timer between two starts that differ; 0: none do. */
static double timer_step(const struct timelines *t)
{
    double *const ns = xreallocarray(NULL, t->count, sizeof *ns);
    double least = 0;
    for (size_t i = 0; i < t->count; i++)
        ns[i] = t->warps[i].ns;
    double *const rising = stats_sorted(ns, t->count);
    for (size_t i = 1; i < t->count; i++) {
        const double step = rising[i] - rising[i - 1];
        if (step > 0 && (least == 0 || step < least))
            least = step;
    }
    free(rising);
    free(ns);
    return least;
}

static void report_start(struct lab *lab, const struct timelines *t,
                         const struct warp_span *blocks, size_t count,
                         size_t sms)
{
    const double step = timer_step(t);
    struct span starts = {INFINITY, -INFINITY};
    bool *const seen = xcalloc(sms, sizeof *seen);
    for (size_t i = 0; i < count; i++) {
        if (seen[blocks[i].sm % sms])
            continue;
        seen[blocks[i].sm % sms] = true;
        starts.start = fmin(starts.start, blocks[i].ns);
        starts.end = fmax(starts.end, blocks[i].ns);
    }
    free(seen);
    const double skew = span_length(&starts);
    struct finding *const f = lab_finding(lab, "scheduling", "start_skew");
    struct finding *const timer = lab_finding(lab, "scheduling", "timer_step");
    finding_evidence(f, t->experiment);
    finding_evidence(timer, t->experiment);
    if (step == 0) {
        finding_none(timer, "%%globaltimer was the same at all starts");
        finding_none(f, "%%globaltimer was the same at all starts");
        return;
    }
    finding_set(timer, STATUS_MEASURED, value_number(step), "ns");
    finding_set(f, STATUS_MEASURED, value_number(skew), "ns");
    finding_interval(f, fmax(skew - step, 0), skew + step, 1);
}

/* Of each SM, how far its clock is ahead of the timer, cycles.  The timer lags
 * by up to a step: what was read just after one says most. */
static double *clock_offsets(const struct warp_span *blocks, size_t count,
                             size_t sms, double hz)
{
    double *const offsets = xreallocarray(NULL, sms, sizeof *offsets);
    for (size_t i = 0; i < sms; i++)
        offsets[i] = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        double *const own = &offsets[blocks[i].sm % sms];
        /* Differences first: clocks count from long ago. */
        const double cycles = blocks[i].span.start - blocks[0].span.start;
        *own = fmax(*own, cycles - blocks[i].ns * hz / 1e9);
    }
    return offsets;
}

static void report_groups(struct lab *lab, const double *offsets, size_t sms,
                          double near, const char *experiment)
{
    struct finding *const f = lab_finding(lab, "scheduling", "clock_groups");
    struct finding *const of_sm =
        lab_finding(lab, "scheduling", "clock_group_of_sm");
    size_t *const group = xreallocarray(NULL, sms, sizeof *group);
    const size_t count = groups_of(offsets, sms, near, group);
    finding_evidence(f, experiment);
    finding_evidence(of_sm, experiment);
    if (count == 0) {
        finding_none(f, "the clocks of SMs are neither alike nor apart");
        finding_none(of_sm, "the clocks of SMs are neither alike nor apart");
    } else {
        struct value list = value_list();
        for (size_t i = 0; i < sms; i++)
            value_push(&list, value_number((double)group[i]));
        finding_set(f, STATUS_MEASURED, value_number((double)count), "");
        finding_set(of_sm, STATUS_MEASURED, list, "");
    }
    free(group);
}

/* Clocks that are alike within the timer's steps, and what code takes. */
enum { NEAR_STEPS = 3, NEAR_CYCLES = 100 };

static void report_clocks(struct lab *lab, const struct timelines *t,
                          const struct warp_span *blocks, size_t count,
                          size_t sms)
{
    static const char *const attributes[] = {"clocks_apart", "clock_groups",
                                             "clock_group_of_sm"};
    double hz;
    if (!lab_number(lab, "clock", "measured", &hz)) {
        for (size_t i = 0; i < COUNT_OF(attributes); i++)
            finding_none(lab_finding(lab, "scheduling", attributes[i]),
                         "the rate of the clock was not measured");
        return;
    }
    const double step = timer_step(t) * hz / 1e9;
    double *const offsets = clock_offsets(blocks, count, sms, hz);
    const double apart = stats_max(offsets, sms) - stats_min(offsets, sms);
    struct finding *const f = lab_finding(lab, "scheduling", "clocks_apart");
    if (isfinite(apart)) {
        finding_set(f, STATUS_MEASURED, value_number(round(apart)), "cycles");
        finding_interval(f, fmax(apart - 2 * step, 0), apart + 2 * step, 1);
        finding_evidence(f, t->experiment);
        report_groups(lab, offsets, sms, NEAR_STEPS * step + NEAR_CYCLES,
                      t->experiment);
    } else {
        for (size_t i = 0; i < COUNT_OF(attributes); i++)
            finding_none(lab_finding(lab, "scheduling", attributes[i]),
                         "no block came to one of the SMs");
    }
    free(offsets);
}

/* Of the arithmetic kernel, whose blocks take the longest to make room. */
static void report_first_blocks(struct lab *lab, const struct shape *s,
                                const struct timelines *t)
{
    size_t count;
    struct warp_span *const blocks =
        timelines_blocks(t, (unsigned)t->repeats - 1, &count);
    report_order(lab, blocks, s, t->experiment);
    report_start(lab, t, blocks, count, s->sms);
    report_clocks(lab, t, blocks, count, s->sms);
    free(blocks);
}

static void report_kind(struct lab *lab, const struct timelines *t,
                        const struct picture *p, const struct shape *s,
                        const struct kind *kind)
{
    const char *const e = t->experiment;
    report_policy(lab, p, kind, e);
    report_typical(lab, "block_gap", kind, p->gaps, p->gap_count, e);
    report_typical(lab, "warp_start_skew", kind, p->starts, p->skew_count, e);
    report_typical(lab, "warp_end_skew", kind, p->ends, p->skew_count, e);
    report_makespan(lab, p, s, kind, e);
    report_tail(lab, t, s, kind);
    if (kind->first_blocks)
        report_first_blocks(lab, s, t);
}

/* Longer and longer kernels until SMs agree on the policy. */
static int ask_kind(struct lab *lab, const struct shape *s,
                    const struct kind *kind, struct error *err)
{
    bool decided = false;
    for (unsigned steps = STEPS; !decided; steps *= STEPS_FACTOR) {
        struct timelines t;
        struct picture p;
        if (timelines_measure(lab, &t, err,
                              "work=%s blocks=%zu warps=%zu lanes=%u steps=%u "
                              "repeats=1",
                              kind->work, s->sms * s->blocks, s->warps,
                              kind->lanes, steps) != 0)
            return err->code;
        see(&p, &t, s);
        decided = is_decided(&p) || steps >= STEPS_MOST;
        if (decided)
            report_kind(lab, &t, &p, s, kind);
        picture_free(&p);
        timelines_free(&t);
    }
    return 0;
}

/* Of a kind of work that this GPU, or its driver, does not know. */
static void skip_kind(struct lab *lab, const struct kind *kind, const char *why)
{
    const size_t length = strlen(kind->name);
    for (size_t i = 0; gives[i] != NULL; i++) {
        const size_t all = strlen(gives[i]);
        if (all < length || strcmp(gives[i] + all - length, kind->name) != 0)
            continue;
        struct finding *const f =
            results_add(lab->results, gives[i], lab->study->name);
        finding_none(f, "%s", why);
        f->skipped = true;
    }
}

static int ask_kinds(struct lab *lab, const struct shape *s, struct error *err)
{
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const int status = ask_kind(lab, s, &kinds[i], err);
        if (status != ERR_UNSUPPORTED && status != ERR_PTX && status != 0)
            return status;
        if (status != 0)
            skip_kind(lab, &kinds[i], err->text);
        *err = (struct error){0};
    }
    return 0;
}

static int ask_empty(struct lab *lab, struct error *err)
{
    struct timelines t;
    if (timelines_measure(lab, &t, err, "work=none records=none repeats=9") !=
        0)
        return err->code;
    struct finding *const f = lab_finding(lab, "scheduling", "empty_launch");
    finding_set(f, STATUS_MEASURED,
                value_number(stats_median(t.launch_ns, t.repeats)), "ns");
    finding_interval(f, stats_min(t.launch_ns, t.repeats),
                     stats_max(t.launch_ns, t.repeats), 1);
    finding_protocol(f, "timer", value_text("the device's, around a launch"));
    finding_evidence(f, t.experiment);
    timelines_free(&t);
    return 0;
}

enum { LAUNCHES = 9 };

/* What is no more than launches differ by is a bound. */
static void say_recording(struct finding *f, double more, double spread)
{
    if (more > spread) {
        finding_set(f, STATUS_MEASURED, value_number(more), "ns");
        finding_interval(f, more - spread, more + spread, 0.5);
        return;
    }
    finding_set(f, STATUS_AT_MOST, value_number(fmax(more, 0) + spread), "ns");
    finding_because(f, "launches differ by as much from one to the next");
}

static double middle_half(const double *values, size_t count)
{
    return stats_quantile(values, count, 0.75) -
           stats_quantile(values, count, 0.25);
}

/* What a launch takes longer where each warp writes down when it ran. */
static int ask_recording(struct lab *lab, const struct shape *s,
                         struct error *err)
{
    static const char *const records[] = {"none", "warps"};
    double ns[COUNT_OF(records)], spread = 0;
    struct finding *const f = lab_finding(lab, "scheduling", "recording_cost");
    for (size_t i = 0; i < COUNT_OF(records); i++) {
        struct timelines t;
        if (timelines_measure(lab, &t, err,
                              "work=none blocks=%zu warps=%zu records=%s "
                              "repeats=%d",
                              s->sms, s->warps, records[i], LAUNCHES) != 0) {
            finding_none(f, "%s", err->text);
            return err->code;
        }
        ns[i] = stats_median(t.launch_ns, t.repeats);
        spread += middle_half(t.launch_ns, t.repeats);
        finding_evidence(f, t.experiment);
        timelines_free(&t);
    }
    say_recording(f, ns[1] - ns[0], spread);
    return 0;
}

/* ---- the study ---- */

static int run(struct lab *lab, struct error *err)
{
    const struct shape s = shape_of(lab);
    if (s.sms == 0) {
        lab_leave_open(lab, "the driver does not tell how many SMs there are");
        return 0;
    }
    int status = ask_kinds(lab, &s, err);
    if (status == 0)
        status = ask_recording(lab, &s, err);
    if (status == 0)
        status = ask_empty(lab, err);
    return status;
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
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .apart = true,
    .under_load = true,
    .run_err = run,
};
