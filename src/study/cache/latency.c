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
#include <stdio.h>
#include <stdlib.h>

#include "analysis/stats.h"
#include "base/mem.h"
#include "study/lab.h"

static const char *const needs[] = {"size", "partitions", NULL};
static const char *const gives[] = {
    "l1.latency",
    "l1.miss_penalty",
    "texture.latency",
    "texture.miss_penalty",
    "readonly.latency",
    "readonly.miss_penalty",
    "local.latency",
    "local.miss_penalty",
    "const_l1.latency",
    "const_l1.miss_penalty",
    "const_l15.latency",
    "const_l15.miss_penalty",
    "l2.latency",
    "l2.miss_penalty",
    "memory.latency",
    "shared.latency",
    "shared.latency_indexed",
    NULL,
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

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

/* The middle of a trace's loads that cost between two bounds, free of spikes
 * and of page walks; `text` is the experiment. */
static int traced(struct lab *lab, struct old_cost *cost, double above,
                  double below, const char *text, struct error *err)
{
    struct samples s;
    if (lab_probe_err(lab, &s, &cost->experiment, err, "%s", text) != 0)
        return err->code;
    const size_t cycles = samples_column(&s, "cycles");
    double *const kept = xreallocarray(NULL, s.rows, sizeof *kept);
    size_t count = 0;
    for (size_t i = 0; i < s.rows; i++) {
        const double c = (double)samples_at(&s, i, cycles) - lab->trace_cost;
        if (c > above && c < below)
            kept[count++] = c;
    }
    const struct stats_interval in = lab_interval(lab, kept, count);
    cost->cycles = stats_trimmed_mean(kept, count, 0.1);
    cost->low = fmin(in.low, cost->cycles);
    cost->high = fmax(in.high, cost->cycles);
    free(kept);
    samples_free(&s);
    if (count > 0)
        return 0;
    free(cost->experiment);
    cost->experiment = NULL;
    return error_set(err, ERR_UNSUPPORTED,
                     "no load of the trace cost what was looked for");
}

/* Loads that miss the level above and hit this one: of a ring of so many lines
 * that the one above keeps few, and all are here. */
static int hits_behind(struct lab *lab, const struct level_row *row,
                       const struct level_facts *facts, struct old_cost *cost,
                       struct error *err)
{
    const struct level_facts *const above = &lab->facts[row->behind];
    const uint64_t stride = above->line > 64 ? above->line : 64;
    const uint64_t bytes =
        at_most(8 * above->overflows, facts->fits) / stride * stride;
    char *const text = xasprintf("trace %s bytes=%" PRIu64 " stride=%" PRIu64
                                 " warm=4 visits=1024",
                                 row->load, bytes, stride);
    const int status = traced(lab, cost, (above->hit + above->miss) / 2,
                              (facts->hit + facts->miss) / 2, text, err);
    free(text);
    return status;
}

/* A level's hits.  64 loads at a time where every line costs the same: then
 * most runs are free of spikes, and the median is.  More, and spread, where
 * lines lie on slices. */
static int hits(struct lab *lab, const struct level_row *row,
                const struct level_facts *facts, struct old_cost *cost,
                struct error *err)
{
    const uint64_t half = facts->fits / 2;
    const uint64_t near = facts->near_fits > 0 ? facts->near_fits / 2 : half;
    const unsigned stride = row->apart > 32 ? row->apart : 32;
    if (row->behind != LEVEL_COUNT)
        return hits_behind(lab, row, facts, cost, err);
    if (row->of_sm)
        return lab_chase_err(
            lab, cost, err,
            "chase %s bytes=%" PRIu64 " stride=%u warm=4 visits=64", row->load,
            at_most(half / stride * stride, 2048), stride);
    return lab_chase_err(lab, cost, err,
                     "chase %s bytes=%" PRIu64
                     " stride=128 order=random window=65536 sample=8192 "
                     "sweep=1 warm=2 visits=2048",
                     row->load, at_most(near / 128 * 128, 8u << 20));
}

/* Which lines the average is of. */
static const char *partition_of(const struct level_facts *facts)
{
    if (facts->near_fits > 0)
        return "near: the ring is within what the SM reaches at near cost";
    if (facts->far_stays)
        return "both: half of the lines are far";
    return "one: no far part was seen";
}

static int report_hits(struct lab *lab, enum level_id id, struct old_cost *cost,
                       struct error *err)
{
    const struct level_row *const row = &level_table[id];
    const struct level_facts *const facts = &lab->facts[id];
    struct finding *const f = lab_finding(lab, row->component, "latency");
    *cost = (struct old_cost){0};
    if (!facts->present) {
        finding_none(f, "%s", facts->why);
        return 0;
    }
    if (hits(lab, row, facts, cost, err) != 0)
        return err->code;
    finding_old_cost(f, cost);
    say_protocol(f, row->words,
                 row->of_sm ? "sequential" : "random lines over all slices",
                 row->behind == LEVEL_COUNT, true);
    if (!row->of_sm)
        finding_protocol(f, "partition",
                         value_text(partition_of(&lab->facts[id])));
    return 0;
}

/* Where what misses the level is: in the next one, if there is such a one. */
static const char *found_in(const struct lab *lab, enum level_id id)
{
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (level_table[i].behind == id && !lab->facts[i].present)
            return level_table[i].below;
    return level_table[id].below;
}

/* The difference of two costs; its doubt is the sum of theirs. */
static void report_penalty(struct lab *lab, enum level_id id,
                           const struct old_cost *miss, const struct old_cost *hit)
{
    const struct level_row *const row = &level_table[id];
    struct finding *const f = lab_finding(lab, row->component, "miss_penalty");
    if (!lab->facts[id].present) {
        finding_none(f, "%s", lab->facts[id].why);
        return;
    }
    if (lab->facts[id].doubtful) {
        finding_none(f, "what a miss costs is in doubt: rings show no edge");
        return;
    }
    if (miss->experiment == NULL || hit->experiment == NULL) {
        finding_none(f, "%s",
                     hit->experiment == NULL
                         ? "what a hit costs is not known"
                         : "what a miss costs is not known");
        return;
    }
    finding_set(f, STATUS_MEASURED, value_number(miss->cycles - hit->cycles),
                "cycles");
    finding_interval(f, miss->low - hit->high, miss->high - hit->low,
                     LAB_CONFIDENCE_PERCENT / 100.0);
    finding_protocol(f, "found_in", value_text(found_in(lab, id)));
    finding_evidence(f, miss->experiment);
    finding_evidence(f, hit->experiment);
}

/*
 * Loads that miss L1 and hit L2: an L1 is empty when a kernel begins; a sweep
 * past it brings the lines into L2, near to the SM where that has parts; then
 * each is loaded once.  So nothing depends on the policy of L1.
 */
static int l1_misses(struct lab *lab, struct old_cost *cost, struct error *err)
{
    const struct level_facts *const l1 = &lab->facts[LEVEL_L1];
    const struct level_facts *const l2 = &lab->facts[LEVEL_L2];
    *cost = (struct old_cost){0};
    if (!l1->present || !l2->present)
        return 0;
    const uint64_t l2_fits = l2->near_fits > 0 ? l2->near_fits : l2->fits;
    const uint64_t stride = l1->line > 128 ? l1->line : 128;
    const uint64_t lines = at_most(l2_fits / 2 / stride, 6144);
    if (lines < 3 * 128)
        return 0;
    return lab_chase_err(lab, cost, err,
                     "chase %s bytes=%" PRIu64 " stride=%" PRIu64
                     " order=random window=65536 sweep=1 sweep_op=cg warm=0 "
                     "visits=%" PRIu64,
                     level_table[LEVEL_L1].load, lines * stride, stride,
                     (lines / 3 - 64) / 64 * 64);
}

/* Loads that miss in a ring that is far too large for the level, whatever its
 * policy: single ones, slower than half-way. */
static int ring_misses(struct lab *lab, const struct level_row *row,
                       const struct level_facts *facts, struct old_cost *cost,
                       struct error *err)
{
    char *const text =
        xasprintf("trace %s bytes=%" PRIu64 " stride=%u warm=1 visits=1024",
                  row->load, facts->deep, row->coarse);
    const double more = facts->miss - facts->hit;
    const int status = traced(lab, cost, facts->hit + more / 2,
                              facts->miss + more / 2, text, err);
    free(text);
    return status;
}

/* Of a level behind another: loads that find both empty.  A first trace of the
 * same lines brings them into L2, since the host has just written them. */
static int cold_misses(struct lab *lab, const struct level_row *row,
                       const struct level_facts *facts, struct old_cost *cost,
                       struct error *err)
{
    static const char cold[] = "bytes=49152 stride=256 warm=0";
    const double more = facts->miss - facts->hit;
    struct samples s;
    if (lab_probe_err(lab, &s, NULL, err, "trace %s %s visits=191", row->load,
                  cold) != 0)
        return err->code;
    samples_free(&s);
    char *const text = xasprintf("trace %s %s visits=192", row->load, cold);
    const int status = traced(lab, cost, facts->hit + more / 2,
                              facts->miss + more / 2, text, err);
    free(text);
    return status;
}

/* How many places memory is asked at, and how far apart these are. */
enum { PLACES = 9, APART = 4 << 20, VISITS = 4096 };

/*
 * Lines that no load brought in before: beyond all earlier rings, and each run
 * elsewhere.  Laying the ring out has written them, hence the flush.  Windows
 * of 64 KiB: at least one page of any GPU, so that there is one TLB miss in a
 * window's lines.
 */
static int memory(struct lab *lab, struct old_cost *cost, struct error *err)
{
    const struct level_facts *const l2 = &lab->facts[LEVEL_L2];
    struct finding *const f = lab_finding(lab, "memory", "latency");
    *cost = (struct old_cost){0};
    if (!l2->present) {
        finding_none(f, "%s", l2->why);
        return 0;
    }
    const uint64_t stride = l2->line > 128 ? l2->line : 128;
    if (lab_chase_places_err(lab, cost, 2 * l2->deep, APART, PLACES, err,
                         "chase %s bytes=%" PRIu64 " stride=%" PRIu64
                         " order=random window=65536 warm=0 flush=%" PRIu64
                         " visits=%d",
                         level_table[LEVEL_L2].load, 3 * VISITS * stride,
                         stride, 3 * l2->overflows, VISITS) != 0)
        return err->code;
    finding_old_cost(f, cost);
    say_protocol(f, level_table[LEVEL_L2].words,
                 "random lines, each once, in windows of 64 KiB", true, false);
    finding_protocol(f, "page", value_text("translation in the TLB"));
    finding_protocol(f, "row", value_text("random lines of one window"));
    finding_protocol(f, "places", value_number(PLACES));
    return 0;
}

static int shared(struct lab *lab, const char *space, const char *attribute,
                  const char *load, struct error *err)
{
    struct old_cost cost;
    struct finding *const f = lab_finding(lab, "shared", attribute);
    if (lab_chase_err(lab, &cost, err,
                  "chase space=%s bytes=1024 stride=32 warm=4 visits=64",
                  space) != 0)
        return err->code;
    finding_old_cost(f, &cost);
    say_protocol(f, load, "sequential", true, true);
    free(cost.experiment);
    return 0;
}

/* What one level could not be asked says why, and the others are asked. */
static int excuse(struct lab *lab, const char *component, const char *attribute,
                  int status, struct error *err)
{
    if (status == 0 || !lab_excuses(status))
        return status;
    finding_none(lab_finding(lab, component, attribute), "%s", err->text);
    return 0;
}

/* The costs that findings are differences of. */
struct costs {
    struct old_cost hit[LEVEL_COUNT], miss[LEVEL_COUNT];
};

static int misses(struct lab *lab, enum level_id id, struct old_cost *cost,
                  struct error *err)
{
    const struct level_row *const row = &level_table[id];
    const struct level_facts *const facts = &lab->facts[id];
    *cost = (struct old_cost){0};
    if (id == LEVEL_L2)
        return memory(lab, cost, err);
    if (!facts->present)
        return 0;
    if (id == LEVEL_L1)
        return l1_misses(lab, cost, err);
    return row->behind != LEVEL_COUNT ? cold_misses(lab, row, facts, cost, err)
                                      : ring_misses(lab, row, facts, cost, err);
}

static int ask_levels(struct lab *lab, struct costs *c, struct error *err)
{
    int status = 0;
    for (int i = 0; status == 0 && i < LEVEL_COUNT; i++)
        status =
            excuse(lab, level_table[i].component, "latency",
                   report_hits(lab, (enum level_id)i, &c->hit[i], err), err);
    for (int i = 0; status == 0 && i < LEVEL_COUNT; i++)
        status =
            excuse(lab, i == LEVEL_L2 ? "memory" : level_table[i].component,
                   i == LEVEL_L2 ? "latency" : "miss_penalty",
                   misses(lab, (enum level_id)i, &c->miss[i], err), err);
    return status;
}

static void report_penalties(struct lab *lab, const struct costs *c)
{
    for (int i = 0; i < LEVEL_COUNT; i++)
        report_penalty(lab, (enum level_id)i, &c->miss[i], &c->hit[i]);
    lab_show_l1(lab, "latency");
    lab_show_l1(lab, "miss_penalty");
}

static int ask_shared(struct lab *lab, struct error *err)
{
    const int status = excuse(
        lab, "shared", "latency",
        shared(lab, "shared", "latency", "ld.shared.u32 by pointer", err), err);
    if (status != 0)
        return status;
    return excuse(lab, "shared", "latency_indexed",
                  shared(lab, "shared_indexed", "latency_indexed",
                         "mad.lo.u32, ld.shared.u32: by index", err),
                  err);
}

static int run(struct lab *lab, struct error *err)
{
    struct costs c = {0};
    int status = ask_levels(lab, &c, err);
    if (status == 0)
        status = ask_shared(lab, err);
    if (status == 0)
        report_penalties(lab, &c);
    for (int i = 0; i < LEVEL_COUNT; i++) {
        free(c.hit[i].experiment);
        free(c.miss[i].experiment);
    }
    return status;
}

const struct study study_latency = {
    .name = "latency",
    .question = "What does a dependent load cost, by where its data is?",
    .method = "Chains of pointer loads, unrolled, with the timer outside, at "
              "two lengths whose difference is free of overhead.",
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .run_err = run,
};
