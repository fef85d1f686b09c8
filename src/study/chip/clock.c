/*
 * What a clock read costs, and how fast the SM clock runs by the GPU's own
 * nanosecond timer.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/stats.h"
#include "base/mem.h"
#include "study/study.h"

static const char *const needs[] = {NULL};
static const char *const gives[] = {"clock.overhead", "clock.measured", NULL};
static const char *const kernels[] = {
    "clock",
    NULL,
};

static double *column(const struct samples *s, const char *name)
{
    const size_t c = samples_column(s, name);
    double *const values = xreallocarray(NULL, s->rows, sizeof *values);
    for (size_t row = 0; row < s->rows; row++)
        values[row] = (double)samples_at(s, row, c);
    return values;
}

static void report_overhead(struct lab *lab, const struct samples *s,
                            const char *experiment)
{
    struct finding *const f = lab_finding(lab, "clock", "overhead");
    double *const cycles = column(s, "pair");
    finding_set(f, STATUS_MEASURED, value_number(stats_median(cycles, s->rows)),
                "cycles");
    finding_interval(f, stats_min(cycles, s->rows), stats_max(cycles, s->rows),
                     1);
    finding_protocol(f, "timer", value_text("two %clock64 reads in a row"));
    finding_evidence(f, experiment);
    free(cycles);
}

/* Hz of each repetition: cycles over nanoseconds of the same spin. */
static void report_rate(struct lab *lab, const struct samples *s,
                        const char *experiment)
{
    struct finding *const f = lab_finding(lab, "clock", "measured");
    double *const cycles = column(s, "cycles");
    double *const ns = column(s, "ns");
    bool timed = true;
    for (size_t i = 0; i < s->rows; i++) {
        timed = timed && ns[i] > 0;
        cycles[i] = 1e9 * cycles[i] / ns[i];
    }
    if (timed) {
        finding_set(f, STATUS_MEASURED,
                    value_number(round(stats_median(cycles, s->rows))), "Hz");
        finding_interval(f, stats_min(cycles, s->rows),
                         stats_max(cycles, s->rows), 1);
        finding_evidence(f, experiment);
    } else {
        finding_none(f, "%%globaltimer did not advance during the spin");
    }
    free(cycles);
    free(ns);
}

static int run(struct lab *lab, struct error *err)
{
    struct samples s;
    char *experiment;
    if (lab_probe(lab, &s, &experiment, err, "clock spin=1000000") != 0)
        return err->code;
    report_overhead(lab, &s, experiment);
    report_rate(lab, &s, experiment);
    samples_free(&s);
    free(experiment);
    return 0;
}

const struct study study_clock = {
    .name = "clock",
    .question = "What does reading the clock cost, and how fast does it run?",
    .method =
        "Two reads of %clock64 in a row; and a spin timed by %clock64 and "
        "by %globaltimer.",
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .run = run,
};
