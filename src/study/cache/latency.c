/*
 * What a dependent load costs where its data is: in L1, in L2, in memory, in
 * shared memory; and what a miss adds.
 *
 * The loads are of pointers, so that no address arithmetic is in the chain.
 * Protocols differ and are said: L2 and memory are averages over lines that
 * lie on all slices and both partitions, seen from one SM; memory is random
 * lines, each loaded once, inside windows so small that the translation is
 * found in the TLB.
 */
#include <inttypes.h>
#include <math.h>

#include "analysis/hits.h"
#include "analysis/statistics/stats.h"
#include "base/num.h"
#include "study/lab.h"

static const enum fact_id reads[] = {FACT_TRACE, FACT_BRACKET, FACT_LINE,
                                     FACT_RINGS, FACT_SIDES,   FACT_NONE};
static const struct answer answers[] = {
    {level_components, "latency", "cycles"},
    {level_components, "miss_penalty", "cycles"},
    {ONE("memory"), "latency", "cycles"},
    {ONE("shared"), "latency", "cycles"},
    {ONE("shared"), "latency_indexed", "cycles"},
    {0},
};
static const char *const kernels[] = {
    "chase op=cg flush=1",
    "chase space=shared",
    "chase space=shared_indexed",
    NULL,
};

static void say_protocol(struct finding *f, const char *load, const char *order,
                         bool outside, bool warm)
{
    finding_protocol(f, "load", value_text(load));
    finding_protocol(f, "order", value_text(order));
    finding_protocol(f, "warm", value_bool(warm));
    finding_protocol(f, "timer",
                     value_text(outside ? "outside, two lengths"
                                        : "around each load, less its cost"));
}

/* The middle of a trace's loads that cost between two bounds, free of spikes
 * and of page walks; `text` is the experiment. */
static struct cost traced(struct lab *lab, double above, double below,
                          const char *text)
{
    const struct column c = lab_column(lab, "cycles", "%s", text);
    for (size_t i = 0; i < c.count; i++)
        c.at[i] -= fact_trace(lab)->cycles;
    const size_t kept = hits_between(c.at, c.count, above, below);
    if (kept == 0) {
        lab_fail(lab, ERR_UNSUPPORTED, why_trace_no_load);
        return (struct cost){0};
    }
    const struct stats_interval in = lab_interval(lab, c.at, kept);
    /* A tenth at either end: neighbours of the bounds are not all of this
     * kind. */
    const double cycles = stats_trimmed_mean(c.at, kept, 0.1);
    return (struct cost){.cycles = cycles,
                         .low = fmin(in.low, cycles),
                         .high = fmax(in.high, cycles),
                         .experiment = c.experiment};
}

/* Loads that miss the level above and hit this one: of a ring of so many lines
 * that the one above keeps few, and all are here. */
static struct cost hits_behind(struct lab *lab, const struct level_row *row,
                               const struct fact_bracket *facts)
{
    const struct fact_bracket *const above = fact_bracket(lab, row->behind);
    const uint64_t stride = u64_max(fact_sure_line(lab, row->behind), 64);
    const uint64_t bytes =
        u64_min(8 * above->overflows, facts->fits) / stride * stride;
    return traced(lab, hits_limit(above->hit, above->miss),
                  hits_limit(facts->hit, facts->miss),
                  lab_text(lab,
                           "trace %s bytes=%" PRIu64 " stride=%" PRIu64
                           " warm=4 visits=1024",
                           row->load, bytes, stride));
}

/* A level's hits.  64 loads at a time where every line costs the same: then
 * most runs are free of spikes, and the median is.  More, and spread, where
 * lines lie on slices. */
static struct cost hits_of(struct lab *lab, const struct level_row *row,
                           const struct fact_bracket *facts)
{
    const uint64_t half = facts->fits / 2;
    const uint64_t near = facts->near_fits > 0 ? facts->near_fits / 2 : half;
    const unsigned stride = row->apart > 32 ? row->apart : 32;
    if (row->behind != LEVEL_COUNT)
        return hits_behind(lab, row, facts);
    if (row->of_sm)
        return lab_chase(
            lab, "chase %s bytes=%" PRIu64 " stride=%u warm=4 visits=64",
            row->load, u64_min(half / stride * stride, 2048), stride);
    return lab_chase(lab,
                     "chase %s bytes=%" PRIu64
                     " stride=128 order=random window=65536 sample=8192 "
                     "sweep=1 warm=2 visits=2048",
                     row->load, u64_min(near / 128 * 128, 8u << 20));
}

/* Which lines the average is of. */
static void say_partition(const struct lab *lab, struct finding *f,
                          const struct fact_bracket *facts)
{
    finding_protocol(
        f, "partition",
        value_text(facts->near_fits > 0
                       ? "near: the ring is within what the SM reaches at near "
                         "cost"
                   : fact_sides(lab)->far_stays
                       ? "both: half of the lines are far"
                       : "one: no far part was seen"));
}

static struct cost report_hits(struct lab *lab, const struct level_row *row,
                               const struct fact_bracket *facts)
{
    struct finding *const f = lab_finding(lab, row->component, "latency");
    if (!facts->present) {
        finding_none(f, "%s", facts->why);
        return (struct cost){0};
    }
    const struct cost cost = hits_of(lab, row, facts);
    if (!lab_ok(lab))
        return (struct cost){0};
    finding_cost(f, &cost);
    say_protocol(f, row->words,
                 row->of_sm ? "sequential" : "random lines over all slices",
                 row->behind == LEVEL_COUNT, true);
    if (!row->of_sm)
        say_partition(lab, f, facts);
    return cost;
}

/* Where what misses the level is: in the next one, if there is such a one. */
static const char *found_in(const struct lab *lab, enum level_id id)
{
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (level_table[i].behind == id &&
            !fact_bracket(lab, (enum level_id)i)->present)
            return level_table[i].below;
    return level_table[id].below;
}

/* Where no experiment failed. */
static const char *reason_of_no_miss(struct lab *lab, enum level_id id)
{
    const struct fact_bracket *const l2 = fact_bracket(lab, LEVEL_L2);
    if (id == LEVEL_L2)
        return lab_why_unknown(lab, "memory", "latency");
    return l2->present ? why_l2_few_lines : l2->why;
}

/* The difference of two costs; its doubt is the sum of theirs. */
static void report_penalty(struct lab *lab, enum level_id id,
                           const struct cost *miss, const struct cost *hit)
{
    const struct level_row *const row = &level_table[id];
    struct finding *const f = lab_finding(lab, row->component, "miss_penalty");
    if (!fact_bracket(lab, id)->present) {
        finding_none(f, "%s", fact_bracket(lab, id)->why);
        return;
    }
    if (fact_rings(lab, id)->doubtful) {
        finding_none(f, why_miss_no_edge);
        return;
    }
    if (hit->experiment == NULL) {
        finding_none(f, "%s", lab_why_unknown(lab, row->component, "latency"));
        return;
    }
    if (miss->experiment == NULL) {
        finding_none(f, "%s", reason_of_no_miss(lab, id));
        return;
    }
    finding_measured(f, miss->cycles - hit->cycles);
    finding_interval(f, miss->low - hit->high, miss->high - hit->low,
                     LAB_CONFIDENCE_PERCENT / 100.0);
    finding_protocol(f, "found_in", value_text(found_in(lab, id)));
    finding_cite(f, miss->experiment);
    finding_cite(f, hit->experiment);
}

/*
 * Loads that miss L1 and hit L2: an L1 is empty when a kernel begins; a sweep
 * past it brings the lines into L2, near to the SM where that has parts; then
 * each is loaded once.  So nothing depends on the policy of L1.
 */
static struct cost l1_misses(struct lab *lab)
{
    const struct fact_bracket *const l2 = fact_bracket(lab, LEVEL_L2);
    if (!l2->present)
        return (struct cost){0};
    const uint64_t l2_fits = l2->near_fits > 0 ? l2->near_fits : l2->fits;
    const uint64_t stride = u64_max(fact_sure_line(lab, LEVEL_L1), 128);
    const uint64_t lines = u64_min(l2_fits / 2 / stride, 6144);
    if (lines < 3 * 128)
        return (struct cost){0};
    return lab_chase(lab,
                     "chase %s bytes=%" PRIu64 " stride=%" PRIu64
                     " order=random window=65536 sweep=1 sweep_op=cg warm=0 "
                     "visits=%" PRIu64,
                     level_table[LEVEL_L1].load, lines * stride, stride,
                     (lines / 3 - 64) / 64 * 64);
}

/* Those of a trace that cost about what a miss does: from half-way to as much
 * above. */
static struct cost traced_misses(struct lab *lab,
                                 const struct fact_bracket *facts,
                                 const char *text)
{
    const double half = (facts->miss - facts->hit) / 2;
    return traced(lab, facts->hit + half, facts->miss + half, text);
}

/* Loads that miss in a ring that is far too large for the level, whatever its
 * policy: single ones, slower than half-way. */
static struct cost ring_misses(struct lab *lab, const struct level_row *row,
                               const struct fact_bracket *facts)
{
    return traced_misses(
        lab, facts,
        lab_text(lab, "trace %s bytes=%" PRIu64 " stride=%u warm=1 visits=1024",
                 row->load, facts->deep, row->coarse));
}

/* Of a level behind another: loads that find both empty.  A first trace of the
 * same lines brings them into L2, since the host has just written them. */
static struct cost cold_misses(struct lab *lab, const struct level_row *row,
                               const struct fact_bracket *facts)
{
    static const char cold[] = "bytes=49152 stride=256 warm=0";
    lab_probe(lab, "trace %s %s visits=191", row->load, cold);
    return traced_misses(
        lab, facts, lab_text(lab, "trace %s %s visits=192", row->load, cold));
}

/* How many places memory is asked at, and how far apart these are. */
enum { PLACES = 9, APART = 4 << 20, VISITS = 4096 };

/*
 * Lines that no load brought in before: beyond all earlier rings, and each run
 * elsewhere.  Laying the ring out has written them, hence the flush.  Windows
 * of 64 KiB: at least one page of any GPU, so that there is one TLB miss in a
 * window's lines.
 */
static struct cost report_memory(struct lab *lab)
{
    const struct fact_bracket *const l2 = fact_bracket(lab, LEVEL_L2);
    struct finding *const f = lab_finding(lab, "memory", "latency");
    if (!l2->present) {
        finding_none(f, "%s", l2->why);
        return (struct cost){0};
    }
    const uint64_t stride = u64_max(fact_sure_line(lab, LEVEL_L2), 128);
    const struct places places = {2 * l2->deep, APART, PLACES};
    const struct cost cost = lab_chase_places(
        lab, &places,
        "chase %s bytes=%" PRIu64 " stride=%" PRIu64
        " order=random window=65536 warm=0 flush=%" PRIu64 " visits=%d",
        level_table[LEVEL_L2].load, 3 * VISITS * stride, stride,
        3 * l2->overflows, VISITS);
    if (!lab_ok(lab))
        return (struct cost){0};
    finding_cost(f, &cost);
    say_protocol(f, level_table[LEVEL_L2].words,
                 "random lines, each once, in windows of 64 KiB", true, false);
    finding_protocol(f, "page", value_text("translation in the TLB"));
    finding_protocol(f, "row", value_text("random lines of one window"));
    finding_protocol(f, "places", value_number(PLACES));
    return cost;
}

static void report_shared(struct lab *lab, const char *space,
                          const char *attribute, const char *load)
{
    struct finding *const f = lab_finding(lab, "shared", attribute);
    const struct cost cost = lab_chase(
        lab, "chase space=%s bytes=1024 stride=32 warm=4 visits=64", space);
    if (!lab_ok(lab))
        return;
    finding_cost(f, &cost);
    say_protocol(f, load, "sequential", true, true);
}

/* What one level could not be asked says why, and the others are asked. */
static bool excuse(struct lab *lab, const char *component,
                   const char *attribute)
{
    const char *const why = lab_excuse(lab);
    if (why != NULL)
        finding_none(lab_finding(lab, component, attribute), "%s", why);
    return why != NULL;
}

/* The costs that findings are differences of. */
struct level_costs {
    struct cost hit[LEVEL_COUNT], miss[LEVEL_COUNT];
    bool refused[LEVEL_COUNT]; /* why there is no difference was said */
};

static struct cost misses_of(struct lab *lab, enum level_id id)
{
    const struct level_row *const row = &level_table[id];
    const struct fact_bracket *const facts = fact_bracket(lab, id);
    if (id == LEVEL_L2)
        return report_memory(lab);
    if (!facts->present)
        return (struct cost){0};
    if (id == LEVEL_L1)
        return l1_misses(lab);
    return row->behind != LEVEL_COUNT ? cold_misses(lab, row, facts)
                                      : ring_misses(lab, row, facts);
}

static void ask_levels(struct lab *lab, struct level_costs *c)
{
    for (int i = 0; lab_ok(lab) && i < LEVEL_COUNT; i++) {
        c->hit[i] = report_hits(lab, &level_table[i],
                                fact_bracket(lab, (enum level_id)i));
        excuse(lab, level_table[i].component, "latency");
    }
    for (int i = 0; lab_ok(lab) && i < LEVEL_COUNT; i++) {
        const bool l2 = i == LEVEL_L2;
        c->miss[i] = misses_of(lab, (enum level_id)i);
        c->refused[i] = excuse(lab, l2 ? "memory" : level_table[i].component,
                               l2 ? "latency" : "miss_penalty") &&
                        !l2;
    }
}

static void ask_shared(struct lab *lab)
{
    report_shared(lab, "shared", "latency", "ld.shared.u32 by pointer");
    excuse(lab, "shared", "latency");
    report_shared(lab, "shared_indexed", "latency_indexed",
                  "mad.lo.u32, ld.shared.u32: by index");
    excuse(lab, "shared", "latency_indexed");
}

static void latency_run(struct lab *lab)
{
    struct level_costs c = {0};
    ask_levels(lab, &c);
    if (lab_ok(lab))
        ask_shared(lab);
    if (!lab_ok(lab))
        return;
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (!c.refused[i])
            report_penalty(lab, (enum level_id)i, &c.miss[i], &c.hit[i]);
    lab_show_l1(lab, "latency");
    lab_show_l1(lab, "miss_penalty");
}

const struct study study_latency = {
    .name = "latency",
    .question = "What does a dependent load cost, by where its data is?",
    .method = "Chains of pointer loads, unrolled, with the timer outside, at "
              "two lengths whose difference is free of overhead.",
    .reads = reads,
    .answers = answers,
    .kernels = kernels,
    .run = latency_run,
};
