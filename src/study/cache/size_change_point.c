/*
 * Capacity by Groessler's method (2022, 3.3), beside the structural one: rings
 * of sizes around the edge are traced, each trace's latencies are reduced to
 * one number, and where these numbers begin to follow another distribution the
 * cache ends, as a Kolmogorov-Smirnov test confirms.
 *
 * What it finds is the last size before the change.  Where few sets overflow at
 * first, the change is gradual, and spikes blur it: it is known to two steps of
 * the sizes.  Where it is farther from the size, the finding of the size says
 * so.
 */
#include "analysis/change.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "study/lab.h"

static const char *const needs[] = {"size", NULL};
static const char *const corrects[] = {
    "l1.size",    "texture.size",  "readonly.size",
    "local.size", "const_l1.size", "const_l15.size",
    NULL,
};
static const char *const gives[] = {
    "l1.size_by_change",
    "texture.size_by_change",
    "readonly.size_by_change",
    "local.size_by_change",
    "const_l1.size_by_change",
    "const_l15.size_by_change",
    NULL,
};

/* Sizes, and loads of each: few enough to cost little, and enough for the test
 * to tell two sizes from the rest.  Latencies above a miss are spikes, and are
 * cut down to it, since the reduction squares them. */
enum { SIZES = 28, LOADS = 500, SEGMENT_LEAST = 3, CHANGES = 8 };
enum { RESOLUTION = 3 }; /* steps */
static const double alpha = 0.05;

struct sizes {
    uint64_t first, step;
};

/* From a quarter under the edge to as much over it, as far as may be asked. */
static struct sizes sizes_around(const struct level_row *row,
                                 const struct level_facts *facts)
{
    const uint64_t line = facts->line, edge = facts->size;
    const uint64_t step = (edge / 2 / SIZES + line - 1) / line * line;
    struct sizes s = {.step = step > line ? step : line};
    const uint64_t under = edge / s.step < SIZES ? SIZES / 4 : SIZES / 2;
    s.first = (edge / s.step > under ? edge / s.step - under : 1) * s.step;
    const uint64_t last = s.first + (SIZES - 1) * s.step;
    if (last > row->most)
        s.first -= (last - row->most + s.step - 1) / s.step * s.step;
    return s;
}

/* The latencies of one size's trace, as a row of the matrix. */
static int trace_size(struct lab *lab, const struct level_row *row,
                      const struct level_facts *facts, uint64_t bytes,
                      double *latencies, struct finding *f, struct error *err)
{
    struct samples s;
    char *name;
    if (lab_probe_err(lab, &s, &name, err,
                  "trace %s bytes=%" PRIu64 " stride=%" PRIu64
                  " warm=2 visits=%d records=%d",
                  row->load, bytes, facts->line, LOADS, LOADS) != 0)
        return err->code;
    const size_t cycles = samples_column(&s, "cycles");
    for (size_t i = 0; i < LOADS; i++)
        latencies[i] = i < s.rows ? fmin((double)samples_at(&s, i, cycles),
                                         facts->miss + lab->trace_cost)
                                  : 0;
    finding_evidence(f, name);
    free(name);
    samples_free(&s);
    return 0;
}

static void compare(struct lab *lab, const struct level_row *row,
                    const struct level_facts *facts, double found,
                    double resolution)
{
    struct finding *const f =
        results_edit(lab->results, row->component, "size");
    if (f != NULL && f->because == NULL &&
        fabs(found - (double)facts->size) > resolution)
        finding_because(f,
                        "the latencies of whole traces change at %.0f B, give "
                        "or take %.0f: see size_by_change",
                        found, resolution);
}

/* The first change that is no mere shower of spikes: a fifth at least of what
 * all of them amount to. */
static const struct change *first_step(const struct change *changes,
                                       size_t count)
{
    const double all = changes[count - 1].after - changes[0].before;
    size_t i = 0;
    while (i + 1 < count && changes[i].after - changes[i].before < 0.2 * all)
        i++;
    return &changes[i];
}

static void conclude(struct lab *lab, const struct level_row *row,
                     const struct level_facts *facts, const double *matrix,
                     const struct sizes *sizes, struct finding *f)
{
    double series[SIZES];
    struct change changes[CHANGES];
    change_reduce(matrix, SIZES, LOADS, series);
    const size_t count =
        change_find_all(series, SIZES, SEGMENT_LEAST, alpha, changes, CHANGES);
    if (count == 0) {
        finding_none(f,
                     "the latencies do not change significantly between "
                     "%" PRIu64 " and %" PRIu64 " B",
                     sizes->first, sizes->first + (SIZES - 1) * sizes->step);
        return;
    }
    const struct change *const step = first_step(changes, count);
    const double after = (double)(sizes->first + step->index * sizes->step);
    const double before = after - (double)sizes->step;
    finding_set(f, STATUS_MEASURED, value_number(before), "B");
    finding_interval(f, before - RESOLUTION * (double)sizes->step,
                     after + (RESOLUTION - 1) * (double)sizes->step, 1 - alpha);
    finding_protocol(f, "ks_statistic", value_number(step->statistic));
    finding_protocol(f, "ks_critical", value_number(step->critical));
    compare(lab, row, facts, before, RESOLUTION * (double)sizes->step);
}

/* Sizes are tried at the distance of lines: these must be known for certain. */
static bool has_size(const struct lab *lab, const struct level_row *row)
{
    const struct finding *const f =
        results_edit(lab->results, row->component, "size");
    return f != NULL && f->status == STATUS_MEASURED;
}

static int ask(struct lab *lab, const struct level_row *row,
               struct level_facts *facts, struct error *err)
{
    struct finding *const f =
        lab_finding(lab, row->component, "size_by_change");
    if (facts->size == 0 || facts->soft || !has_size(lab, row)) {
        finding_none(f, "where to look, or at what distance, is not known");
        return 0;
    }
    const struct sizes sizes = sizes_around(row, facts);
    double *const matrix = xreallocarray(NULL, SIZES * LOADS, sizeof *matrix);
    int status = 0;
    for (size_t i = 0; status == 0 && i < SIZES; i++)
        status = trace_size(lab, row, facts, sizes.first + i * sizes.step,
                            matrix + i * LOADS, f, err);
    if (status == 0)
        conclude(lab, row, facts, matrix, &sizes, f);
    free(matrix);
    return status;
}

static int run(struct lab *lab, struct error *err)
{
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (level_table[i].of_sm &&
            lab_ask_level_err(lab, (enum level_id)i, "size_by_change", ask, err) !=
                0)
            return err->code;
    lab_show_l1(lab, "size_by_change");
    return 0;
}

const struct study study_size_change_point = {
    .name = "change",
    .question = "Where do the latencies change, as sizes grow?",
    .method = "Groessler's: traces of sizes around the edge are reduced to a "
              "number each, their change point is estimated and tested "
              "(Kolmogorov and Smirnov).",
    .needs = needs,
    .gives = gives,
    .corrects = corrects,
    .run_err = run,
};
