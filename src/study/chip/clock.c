/*
 * What a clock read costs, and how fast the SM clock runs by the GPU's own
 * nanosecond timer.
 */
#include <math.h>

#include "analysis/statistics/stats.h"
#include "study/lab.h"

static const struct answer answers[] = {
    {ONE("clock"), "overhead", "cycles"},
    {ONE("clock"), "measured", "Hz"},
    {0},
};
static const char *const kernels[] = {
    "clock",
    NULL,
};

static void report_overhead(struct lab *lab, const struct samples *s)
{
    struct finding *const f = lab_finding(lab, "clock", "overhead");
    const struct column pair = lab_column_of(lab, s, "pair");
    finding_range(f, pair.at, pair.count);
    finding_protocol(f, "timer", value_text("two %clock64 reads in a row"));
    finding_cite(f, pair.experiment);
}

/* Hz of each repetition: cycles over nanoseconds of the same spin. */
static void report_rate(struct lab *lab, const struct samples *s)
{
    struct finding *const f = lab_finding(lab, "clock", "measured");
    const struct column ns = lab_column_of(lab, s, "ns");
    struct column hz = lab_column_of(lab, s, "cycles");
    for (size_t i = 0; i < hz.count; i++) {
        if (ns.at[i] <= 0) {
            finding_none(f, why_timer_still);
            return;
        }
        hz.at[i] = 1e9 * hz.at[i] / ns.at[i];
    }
    finding_range(f, hz.at, hz.count);
    f->value.number = round(f->value.number);
    finding_cite(f, hz.experiment);
}

static void clock_run(struct lab *lab)
{
    const struct samples *const s = lab_probe(lab, "clock spin=1000000");
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
    .kernels = kernels,
    .run = clock_run,
};
