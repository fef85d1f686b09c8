#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stop.h"
#include "study/lab.h"

/* The caller frees. */
static char *formatted(const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *const text = xmalloc((size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, fmt, args);
    return text;
}
static int probe_text(struct lab *lab, const char *text,
                      struct samples *samples, char **canonical,
                      struct error *err)
{
    const int status =
        lab->deadline > 0 && now_seconds() > lab->deadline
            ? error_set(err, ERR_INTERRUPTED, "the time budget was used up")
            : prober_run(lab->prober, text, samples, canonical, err);
    lab->cut_short = lab->cut_short || status == ERR_INTERRUPTED;
    return status;
}
int lab_probe_err(struct lab *lab, struct samples *samples, char **canonical,
                  struct error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *const text = formatted(fmt, args);
    va_end(args);
    const int status = probe_text(lab, text, samples, canonical, err);
    free(text);
    return status;
}
/* Cycles a load of each repetition: the long run less the short one, or both
 * together. */
static double *per_load(const struct samples *s, bool difference)
{
    const size_t visits = samples_column(s, "visits");
    const size_t from = samples_column(s, "short");
    const size_t to = samples_column(s, "long");
    double *const cycles = xreallocarray(NULL, s->rows, sizeof *cycles);
    for (size_t row = 0; row < s->rows; row++) {
        const double first = (double)samples_at(s, row, from);
        const double second = (double)samples_at(s, row, to);
        const double loads = (double)samples_at(s, row, visits);
        cycles[row] = difference ? (second - first) / loads
                                 : (second + first) / (3 * loads);
    }
    return cycles;
}
/* The median of what repetitions or places gave, and where it is. */
static void summarise(struct lab *lab, struct old_cost *cost,
                      const double *cycles, size_t count)
{
    const struct stats_interval interval = lab_interval(lab, cycles, count);
    cost->cycles = stats_median(cycles, count);
    cost->low = interval.low;
    cost->high = interval.high;
}

static int cost_of(struct lab *lab, struct old_cost *cost, bool difference,
                   struct error *err, const char *text)
{
    struct samples samples;
    *cost = (struct old_cost){0};
    if (probe_text(lab, text, &samples, &cost->experiment, err) != 0)
        return err->code;
    double *const cycles = per_load(&samples, difference);
    summarise(lab, cost, cycles, samples.rows);
    free(cycles);
    samples_free(&samples);
    return 0;
}

enum { PLACES_MOST = 32 };

int lab_chase_places_err(struct lab *lab, struct old_cost *cost, uint64_t first,
                         uint64_t apart, size_t places, struct error *err,
                         const char *fmt, ...)
{
    double cycles[PLACES_MOST];
    int status = 0;
    va_list args;
    va_start(args, fmt);
    char *const text = formatted(fmt, args);
    va_end(args);
    assert(places <= PLACES_MOST);
    *cost = (struct old_cost){0};
    for (size_t i = 0; status == 0 && i < places; i++) {
        free(cost->experiment);
        char *const at_place =
            xasprintf("%s repeats=1 shift=%" PRIu64, text, first + i * apart);
        status = cost_of(lab, cost, true, err, at_place);
        cycles[i] = cost->cycles;
        free(at_place);
    }
    free(text);
    if (status == 0)
        summarise(lab, cost, cycles, places);
    return status;
}

int lab_chase_err(struct lab *lab, struct old_cost *cost, struct error *err,
                  const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *const text = formatted(fmt, args);
    va_end(args);
    const int status = cost_of(lab, cost, true, err, text);
    free(text);
    return status;
}

int lab_average_err(struct lab *lab, struct old_cost *cost, struct error *err,
                    const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *const text = formatted(fmt, args);
    va_end(args);
    const int status = cost_of(lab, cost, false, err, text);
    free(text);
    return status;
}

int lab_ask_level_err(struct lab *lab, enum level_id id, const char *attribute,
                      old_level_question *ask, struct error *err)
{
    const struct level_row *const row = &level_table[id];
    struct level_facts *const facts = &lab->facts[id];
    if (!facts->present) {
        finding_none(lab_finding(lab, row->component, attribute), "%s",
                     facts->why);
        return 0;
    }
    const int status = ask(lab, row, facts, err);
    if (status == 0 || !lab_excuses(status))
        return status;
    finding_none(lab_finding(lab, row->component, attribute), "%s", err->text);
    return 0;
}
int lab_each_level_err(struct lab *lab, const char *attribute,
                       old_level_question *ask, struct error *err)
{
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (lab_ask_level_err(lab, (enum level_id)i, attribute, ask, err) != 0)
            return err->code;
    lab_show_l1(lab, attribute);
    *err = (struct error){0};
    return 0;
}
void finding_old_cost(struct finding *f, const struct old_cost *cost)
{
    finding_set(f, STATUS_MEASURED, value_number(cost->cycles), "cycles");
    finding_interval(f, cost->low, cost->high, LAB_CONFIDENCE_PERCENT / 100.0);
    finding_evidence(f, cost->experiment);
}

int lab_hand_out(struct lab *lab, struct error *err)
{
    if (!lab_ok(lab) && err != &lab->err)
        *err = lab->err;
    return lab->err.code;
}
