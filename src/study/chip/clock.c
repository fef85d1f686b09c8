/*
 * What a clock read costs, and how fast the SM clock runs by the GPU's own
 * nanosecond timer.
 */
#include <math.h>

#include "analysis/statistics/stats.h"
#include "analysis/timer.h"
#include "study/assume.h"
#include "study/lab.h"

static const struct answer answers[] = {
    {ONE("clock"), "overhead", "cycles"},
    {ONE("clock"), "measured", "Hz"},
    {0},
};

static void report_overhead(struct lab *lab, const struct samples *s)
{
    struct finding *const f = lab_finding(lab, "clock", "overhead");
    const struct column pair = lab_column_of(lab, s, "pair");
    finding_range(f, pair.at, pair.count);
    finding_protocol(f, "timer", value_text("two %clock64 reads in a row"));
    finding_cite(f, pair.experiment);
}

/* Steps in which the timer counts, in nanoseconds: what all spins took is a
 * multiple of it.  Where they all took as long, which is one, too, so is what
 * another takes. */
static double step_of(struct lab *lab, const struct column *ns)
{
    enum { AGAIN = 1 }; /* one more, of another length */
    int64_t *const took = lab_alloc(lab, ns->count + AGAIN + 1, sizeof *took);
    for (size_t i = 0; i < ns->count; i++)
        took[1 + i] = (int64_t)ns->at[i];
    if (stats_min(ns->at, ns->count) < stats_max(ns->at, ns->count))
        return (double)timer_step(took, 1 + ns->count);
    const struct column other = lab_column(lab, "ns", "clock spin=900001");
    took[1 + ns->count] = lab_ok(lab) ? (int64_t)other.at[0] : 0;
    return (double)timer_step(took, 1 + ns->count + AGAIN);
}

enum { SPIN = 1000000 };

/* What is known no better than a clock may move is as much in doubt as one that
 * did (reference.c). */
static void widen(struct finding *f, double step, double ns)
{
    double hz[2] = {f->interval[0], f->interval[1]};
    timer_widen(hz, step, ns, SPIN);
    finding_interval(f, hz[0], hz[1], f->confidence);
    if (step > assume(ASSUME_CLOCK_MOVED) * ns) {
        f->status = STATUS_IN_DOUBT;
        finding_because(f, why_timer_steps, step, ns);
    }
}

/* Hz of each repetition: cycles over nanoseconds of the same spin. */
static void report_rate(struct lab *lab, const struct samples *s)
{
    struct finding *const f = lab_finding(lab, "clock", "measured");
    const struct column ns = lab_column_of(lab, s, "ns");
    struct column hz = lab_column_of(lab, s, "cycles");
    finding_cite(f, hz.experiment);
    if (stats_min(ns.at, ns.count) <= 0) {
        finding_none(f, why_timer_still);
        return;
    }
    const double step = step_of(lab, &ns), least = stats_min(ns.at, ns.count);
    if (step >= least) {
        finding_none(f, why_timer_steps, step, least);
        return;
    }
    for (size_t i = 0; i < hz.count; i++)
        hz.at[i] = 1e9 * hz.at[i] / ns.at[i];
    finding_range(f, hz.at, hz.count);
    f->value.number = round(f->value.number);
    widen(f, step, least);
}

static void clock_run(struct lab *lab)
{
    const struct samples *const s = lab_probe(lab, "clock spin=%d", SPIN);
    if (!lab_ok(lab))
        return;
    report_overhead(lab, s);
    report_rate(lab, s);
}

const struct study study_clock = {
    .name = "clock",
    .question = "What does reading the clock cost, and how fast does it run?",
    .method =
        "Two reads of %clock64 in a row; and a spin timed by %clock64 and "
        "by %globaltimer.",
    .answers = answers,
    .kernels = TEXTS("clock"),
    .run = clock_run,
};
