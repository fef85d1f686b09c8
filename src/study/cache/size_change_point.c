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
#include "analysis/curve/change.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/hits.h"
#include "base/num.h"
#include "study/lab.h"

static const struct answer answers[] = {
    {sm_level_components, "size_by_change", "B"},
    {0},
};
static const struct answer proposes[] = {
    {sm_level_components, "size", "B"},
    {0},
};
/* Sizes, and loads of each: few enough to cost little, and enough for the test
 * to tell two sizes from the rest.  Latencies above a miss are spikes, and are
 * cut down to it, since the reduction squares them. */
enum { SIZES = 28, LOADS = 500, SEGMENT_LEAST = 3, CHANGES = 8 };
enum { LOADS_AT_ONCE = 64 }; /* the most that a trace times together */
enum { RESOLUTION = 3 };     /* steps */
static const double alpha = 0.05;

struct sizes {
    uint64_t first, step;
};

/* Lines, which a trace goes over but once; or what leaves none of shorter ones
 * out. */
static uint64_t stride_of(const struct lab *lab, const struct level_row *row)
{
    const struct fact_line *const line = fact_line(lab, level_of(row));
    return line->bound ? lab_ring_stride(lab, row)
                       : u64_max(line->bytes, row->apart);
}

/* From a quarter under the edge to as much over it, as far as may be asked. */
static struct sizes sizes_around(const struct lab *lab,
                                 const struct level_row *row)
{
    const uint64_t line = stride_of(lab, row);
    const uint64_t edge = fact_rings(lab, level_of(row))->bytes;
    const uint64_t step = (edge / 2 / SIZES + line - 1) / line * line;
    struct sizes s = {.step = step > line ? step : line};
    const uint64_t under = edge / s.step < SIZES ? SIZES / 4 : SIZES / 2;
    s.first = (edge / s.step > under ? edge / s.step - under : 1) * s.step;
    const uint64_t last = s.first + (SIZES - 1) * s.step;
    if (last > row->most)
        s.first -= (last - row->most + s.step - 1) / s.step * s.step;
    return s;
}

static const struct curve_kind by_bytes = {"mean latency", "bytes", "B",
                                           "cycles"};

/* The latencies of one size's trace, as a row of the matrix, each that of so
 * many loads in turn; which part of them came from the level before.  Those
 * cost what a hit does, as all that this level is asked for. */
static double trace_size(struct lab *lab, const struct level_row *row,
                         uint64_t bytes, unsigned each, double *latencies)
{
    const struct fact_bracket *const f = fact_bracket(lab, level_of(row));
    const double timing = fact_trace(lab)->cycles / each;
    double front = 0, least = 0, limit = 0;
    if (row->behind != LEVEL_COUNT) {
        limit =
            hits_limit(fact_bracket(lab, row->behind)->hit, f->hit) + timing;
        least = f->hit + timing;
    }
    const struct column c = lab_column(
        lab, "cycles",
        "trace %s bytes=%" PRIu64 " stride=%" PRIu64
        " warm=2 visits=%d each=%u records=%d",
        level_ring(row), bytes, stride_of(lab, row), LOADS, each, LOADS);
    for (size_t i = 0; i < LOADS && i < c.count; i++) {
        const double cycles = c.at[i] / each;
        front += cycles < limit;
        latencies[i] = fmax(least, fmin(cycles, f->miss + timing));
    }
    lab_point(lab, row->component, "size_by_change", &by_bytes,
              (struct curve_seen){(double)bytes,
                                  stats_mean(latencies, LOADS) - timing,
                                  c.experiment});
    return front / LOADS;
}

/* A change is no mere shower of spikes that is a fifth at least of what all
 * amount to, since none is of eight that are alike. */
static const double step_least = 0.2;

/* The first change that is none.  Its segment may rise little by little, and
 * begin with sizes that have hardly changed, where something else took some
 * lines (the kernel's own code): it shows where they have by as much. */
static struct change first_step(const struct change *changes, size_t count,
                                const double *series)
{
    const double all = changes[count - 1].after - changes[0].before;
    size_t i = 0;
    while (i + 1 < count &&
           changes[i].after - changes[i].before < step_least * all)
        i++;
    struct change step = changes[i];
    while (step.index + 1 < SIZES &&
           series[step.index] - step.before < step_least * all)
        step.index++;
    return step;
}

static void report_change(struct finding *f, const double *matrix,
                          const struct sizes *sizes)
{
    double series[SIZES];
    struct change changes[CHANGES];
    change_reduce(matrix, SIZES, LOADS, series);
    const size_t count =
        change_find_all(series, SIZES, SEGMENT_LEAST, alpha, changes, CHANGES);
    if (count == 0) {
        finding_none(f, why_change_none, sizes->first,
                     sizes->first + (SIZES - 1) * sizes->step);
        return;
    }
    const struct change step = first_step(changes, count, series);
    const double after = (double)(sizes->first + step.index * sizes->step);
    const double before = after - (double)sizes->step;
    finding_measured(f, before);
    finding_interval(f, before - RESOLUTION * (double)sizes->step,
                     after + (RESOLUTION - 1) * (double)sizes->step, -1);
    finding_protocol(f, "ks_statistic", value_number(step.statistic));
    finding_protocol(f, "ks_critical", value_number(step.critical));
}

/* Rings that end where lines in random order say that more fits end where the
 * first sets are full, and so do latencies change little by little from there
 * on.  What denies the edge, of this path or of one with the same; NULL:
 * nothing does. */
static const struct finding *denial_of(const struct lab *lab, uint64_t edge)
{
    for (int i = 0; i < LEVEL_COUNT; i++) {
        const struct finding *const held =
            lab_proposal(lab, "overfill", level_table[i].component, "size");
        if (fact_rings(lab, (enum level_id)i)->bytes == edge && held != NULL &&
            held->status == STATUS_MEASURED && held->interval[0] > (double)edge)
            return held;
    }
    return NULL;
}

/* What rings end at is enough to look around, be it no size, since the level
 * before keeps a part of such a ring. */
static bool is_unasked(struct lab *lab, const struct level_row *row,
                       struct finding *f)
{
    const struct fact_rings *const rings = fact_rings(lab, level_of(row));
    const struct finding *const held =
        rings->bytes > 0 ? denial_of(lab, rings->bytes) : NULL;
    if (rings->bytes == 0)
        finding_none(f, "%s", lab_why_unknown(lab, row->component, "size"));
    else if (held != NULL)
        finding_none(f, why_by_overfill, (double)rings->bytes,
                     held->interval[0], held->interval[1]);
    else
        return false;
    finding_cite_as(f, held != NULL
                           ? held
                           : lab_proposal(lab, "size", row->component, "size"));
    return true;
}

/* The traces of all sizes; which part of the edge's the level before kept. */
static double trace_sizes(struct lab *lab, const struct level_row *row,
                          const struct sizes *sizes, unsigned each,
                          double *matrix)
{
    const uint64_t edge = fact_rings(lab, level_of(row))->bytes;
    double kept = 0;
    for (size_t i = 0; i < SIZES; i++) {
        const uint64_t bytes = sizes->first + i * sizes->step;
        const double front =
            trace_size(lab, row, bytes, each, matrix + i * LOADS);
        if (bytes <= edge)
            kept = front;
    }
    return kept;
}

static bool is_at_edge(const struct lab *lab, const struct level_row *row,
                       const struct sizes *sizes, const struct finding *f)
{
    const double edge = (double)fact_rings(lab, level_of(row))->bytes;
    return f->value.kind == VALUE_NUMBER &&
           fabs(f->value.number - edge) <= RESOLUTION * (double)sizes->step;
}

static void ask_by(struct lab *lab, const struct level_row *row, unsigned each,
                   struct finding *f)
{
    const struct sizes sizes = sizes_around(lab, row);
    const double edge = (double)fact_rings(lab, level_of(row))->bytes;
    double *const matrix = lab_alloc(lab, SIZES * LOADS, sizeof *matrix);
    const double kept = trace_sizes(lab, row, &sizes, each, matrix);
    if (!lab_ok(lab))
        return;
    /* So much more than fits here may be loaded before anything changes. */
    if (kept * edge > RESOLUTION * (double)sizes.step) {
        finding_none(f, why_size_at_most_kept, 100 * kept);
        return;
    }
    report_change(f, matrix, &sizes);
    /* Of a ring of more lines others may go first, where an index is hashed:
     * then whole laps tell. */
    const uint64_t last = sizes.first + SIZES * sizes.step;
    const uint64_t lap = last / stride_of(lab, row) / LOADS + 1;
    if (each == 1 && lap > 1 && lap <= LOADS_AT_ONCE &&
        !is_at_edge(lab, row, &sizes, f))
        ask_by(lab, row, (unsigned)lap, f);
}

static const struct finding *estimate(const struct lab *lab, const char *study,
                                      const struct level_row *row)
{
    const struct finding *const f =
        lab_proposal(lab, study, row->component, "size");
    return f != NULL && f->value.kind == VALUE_NUMBER ? f : NULL;
}

/* What tells how much it holds, beside rings in order: sets, if lines in random
 * order allow what these hold; else those lines; NULL: nothing does. */
static const struct finding *told_beside(const struct lab *lab,
                                         const struct level_row *row)
{
    const struct finding *const sets = estimate(lab, "structure", row),
                                *const lines = estimate(lab, "overfill", row);
    const bool allowed =
        sets != NULL && (lines == NULL || lines->status != STATUS_MEASURED ||
                         (lines->interval[0] <= sets->value.number &&
                          sets->value.number <= lines->interval[1]));
    return allowed ? sets : lines;
}

static void say_why_bound(const struct lab *lab, const struct level_row *row,
                          double at, struct finding *f)
{
    const struct finding *const held = told_beside(lab, row);
    if (held != NULL && held == estimate(lab, "structure", row))
        finding_because(f, why_change_and_sets, at, held->value.number);
    else if (held != NULL && held->status == STATUS_MEASURED)
        finding_because(f, why_by_overfill, at, held->interval[0],
                        held->interval[1]);
    else
        finding_because(f, fact_line(lab, level_of(row))->bound
                               ? why_size_at_least_line
                               : why_size_in_order);
}

/* Rings are loaded in order.  An index may deal what lies together to some sets
 * before others: then latencies begin to change where the first one is full.
 * Lines in random order deny that at first (denial_of), unless what the level
 * before keeps of them makes that too little; where none were loaded, or they
 * say more, too, what sets hold must be the same, or the change is but a bound:
 * where the first lines miss of a ring in order, at most. */
static void bound_by_order(const struct lab *lab, const struct level_row *row,
                           struct finding *f)
{
    if (f->value.kind != VALUE_NUMBER)
        return;
    const double at = f->value.number;
    const struct fact_rings *const rings = fact_rings(lab, level_of(row));
    const double least = f->interval[0], most = f->interval[1];
    const struct finding *const held = told_beside(lab, row);
    const double bytes = held != NULL ? held->value.number : 0;
    /* Order makes none larger. */
    const bool less = bytes < least && estimate(lab, "overfill", row) != NULL;
    if (less || (least <= bytes && bytes <= most))
        return;
    /* Of rings of which a part was kept no more was than changes are known to.
     */
    const double kept = rings->measured ? 0 : at - least;
    finding_value(f, STATUS_AT_LEAST,
                  value_number(fmin(least, (double)rings->bytes - kept)));
    say_why_bound(lab, row, at, f);
}

static void change_point_ask_level(struct lab *lab, const struct level_row *row)
{
    struct finding *const f =
        lab_finding(lab, row->component, "size_by_change");
    if (is_unasked(lab, row, f))
        return;
    lab_cite(lab, f);
    ask_by(lab, row, 1, f);
    lab_uncite(lab);
    bound_by_order(lab, row, f);
}

static void change_point_run(struct lab *lab)
{
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (level_table[i].of_sm)
            lab_ask_level(lab, (enum level_id)i, "size_by_change",
                          change_point_ask_level);
    if (!lab_ok(lab))
        return;
    lab_show_l1(lab, "size_by_change");
    for (const char *const *c = sm_level_components; *c != NULL; c++)
        finding_copy(lab_finding(lab, *c, "size"),
                     lab_found(lab, *c, "size_by_change"));
}

const struct study study_size_change_point = {
    .name = "change",
    .question = "Where do the latencies change, as sizes grow?",
    .method = "Groessler's: traces of sizes around the edge are reduced to a "
              "number each, their change point is estimated and tested "
              "(Kolmogorov and Smirnov).",
    .reads = FACTS(FACT_TRACE, FACT_CACHED, FACT_BRACKET, FACT_SECTOR,
                   FACT_LINE, FACT_RINGS),
    .needs = TEXTS("overfill", "structure"),
    .answers = answers,
    .proposes = proposes,
    .run = change_point_run,
};
