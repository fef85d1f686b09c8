/*
 * What a clock read costs, and how fast the SM clock runs by the GPU's own
 * nanosecond timer.  The cost is in every sample of the probe `trace`.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/stats.h"
#include "base/mem.h"
#include "study/study.h"

static const char *const needs[] = {NULL};
static const char *const gives[] = {"clock.overhead", "clock.trace_overhead",
                                    "clock.measured", NULL};

static double *column(const struct samples *s, const char *name)
{
    const size_t c = samples_column(s, name);
    double *const values = xreallocarray(NULL, s->rows, sizeof *values);
    for (size_t row = 0; row < s->rows; row++)
        values[row] = (double)samples_at(s, row, c);
    return values;
}

static double median_of(const struct samples *s, const char *name)
{
    double *const values = column(s, name);
    const double median = stats_median(values, s->rows);
    free(values);
    return median;
}

static void report_overhead(struct lab *lab, const char *attribute,
                            double cycles, const char *timer,
                            const char *experiment)
{
    struct finding *const f = lab_finding(lab, "clock", attribute);
    finding_set(f, STATUS_MEASURED, value_number(cycles), "cycles");
    finding_protocol(f, "timer", value_text(timer));
    finding_evidence(f, experiment);
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
    report_overhead(lab, "overhead", median_of(&s, "pair"),
                    "two %clock reads in a row", experiment);
    lab->trace_cost = median_of(&s, "store");
    report_overhead(lab, "trace_overhead", lab->trace_cost,
                    "two %clock reads with a store to shared memory between",
                    experiment);
    report_rate(lab, &s, experiment);
    samples_free(&s);
    free(experiment);
    return 0;
}

const struct study study_clock = {
    .name = "clock",
    .question = "What does reading the clock cost, and how fast does it run?",
    .method = "Two reads of %clock in a row; and a spin timed by %clock64 and "
              "by %globaltimer.",
    .needs = needs,
    .gives = gives,
    .run = run,
};
