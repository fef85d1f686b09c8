/*
 * A row a probe: which columns are subtracted and divided.  The formula is
 * written of the same row that is calculated with.
 */
#include "api/probe_summary.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "probe/run/snippet_kernel.h"

static const struct formula {
    const char *probe, *what;
    const char *plus, *minus, *by; /* columns; NULL: none */
    double times;                  /* 0: 1 */
    /* Rows are left out in which this column is not 0; it counts as so many
     * rows; NULL: none. */
    const char *unless, *count;
    bool copies; /* also by what the long region of an isa kernel has more */
} formulas[] = {
    {.probe = "clock",
     .what = "cycles between two clock reads",
     .plus = "pair"},
    {.probe = "state",
     .what = "MHz of the SM clock",
     .plus = "cycles",
     .by = "ns",
     .times = 1000},
    {.probe = "reference",
     .what = "MHz of the SM clock",
     .plus = "cycles",
     .by = "ns",
     .times = 1000},
    {.probe = "chase",
     .what = "cycles a load",
     .plus = "long",
     .minus = "short",
     .by = "visits"},
    {.probe = "trace",
     .what = "cycles a load, clock reads included",
     .plus = "cycles"},
    {.probe = "visit",
     .what = "cycles a load, clock reads included",
     .plus = "cycles"},
    {.probe = "overfill",
     .what = "cycles a load, clock reads included",
     .plus = "cycles",
     .count = "count"},
    {.probe = "keep",
     .what = "cycles a load, clock reads included",
     .plus = "cycles"},
    {.probe = "banks",
     .what = "cycles a load of a warp",
     .plus = "long",
     .minus = "short",
     .by = "visits"},
    {.probe = "peers", .what = "GPUs that are reached", .plus = "reached"},
    {.probe = "memory", .what = "B free", .plus = "free"},
    {.probe = "isa",
     .what = "cycles a copy of each chain",
     .plus = "long",
     .minus = "short",
     .copies = true},
    {.probe = "grid", .what = "cycles of an SM", .plus = "cycles"},
    {.probe = "wgmma", .what = "cycles of an SM", .plus = "cycles"},
    {.probe = "stream",
     .what = "B/clk of an SM",
     .plus = "bytes",
     .by = "time"},
    {.probe = "bulk", .what = "B/clk of an SM", .plus = "bytes", .by = "time"},
    {.probe = "copy", .what = "GB/s", .plus = "bytes", .by = "ns"},
    {.probe = "rivals",
     .what = "B/clk of an SM",
     .plus = "bytes",
     .by = "cycles"},
    {.probe = "transpose", .what = "cycles", .plus = "cycles"},
    {.probe = "hammer",
     .what = "cycles an atomic",
     .plus = "cycles",
     .unless = "atomics"},
    {.probe = "loaded",
     .what = "cycles a load",
     .plus = "chase_cycles",
     .by = "loads"},
    {.probe = "timeline",
     .what = "cycles of a row",
     .plus = "end",
     .minus = "start"},
};

static const struct formula *formula_of(const struct probe *probe)
{
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
        if (strcmp(formulas[i].probe, probe->name) == 0)
            return &formulas[i];
    return NULL;
}

/* "time" is what lies between two columns. */
static double column(const struct samples *s, size_t row, const char *name)
{
    if (strcmp(name, "time") == 0)
        return column(s, row, "ended") - column(s, row, "begun");
    return (double)samples_at(s, row, samples_column(s, name));
}

/* How many copies of a chain the long region of a kernel has more. */
static double copies_of(const struct experiment *e)
{
    const struct snippet_kernel *const kernel = e->own;
    return (SNIPPET_LONG - 1) * (double)kernel->copies;
}

/* False where the row says nothing. */
static bool value_of(const struct formula *f, const struct experiment *e,
                     const struct samples *s, size_t row, double *value)
{
    const double by = f->by != NULL ? column(s, row, f->by) : 1;
    if (by <= 0 || (f->unless != NULL && column(s, row, f->unless) != 0))
        return false;
    /* An SM of no number is no SM. */
    if (strcmp(s->names[1], "sm") == 0 && column(s, row, "sm") < 0)
        return false;
    *value = column(s, row, f->plus);
    if (f->minus != NULL)
        *value -= column(s, row, f->minus);
    *value *= (f->times > 0 ? f->times : 1) / by;
    if (f->copies)
        *value /= copies_of(e);
    return true;
}

static double *values_of(const struct formula *f, const struct experiment *e,
                         const struct samples *s, size_t *count)
{
    double *values = NULL;
    *count = 0;
    for (size_t row = 0; row < s->rows; row++) {
        double value;
        if (!value_of(f, e, s, row, &value))
            continue;
        const double rows = f->count != NULL ? column(s, row, f->count) : 1;
        values =
            xreallocarray(values, *count + (size_t)rows + 1, sizeof *values);
        for (size_t i = 0; i < (size_t)rows; i++)
            values[(*count)++] = value;
    }
    return values;
}

static void write_formula(const struct formula *f, const struct experiment *e,
                          struct buf *out)
{
    if (f->times > 0)
        buf_printf(out, "%g x ", f->times);
    if (f->minus != NULL)
        buf_printf(out, "(%s - %s)", f->plus, f->minus);
    else
        buf_text(out, f->plus);
    if (f->by != NULL)
        buf_printf(out, " / %s",
                   strcmp(f->by, "time") == 0 ? "(ended - begun)" : f->by);
    if (f->copies)
        buf_printf(out, " / %g, copies that the long region has more",
                   copies_of(e));
}

void probe_summary(const struct experiment *e, const struct samples *s,
                   struct buf *out)
{
    const struct formula *const f = formula_of(e->probe);
    size_t count = 0;
    double *const values = f != NULL ? values_of(f, e, s, &count) : NULL;
    if (count > 0) {
        buf_printf(out, "# median %.10g %s = ", stats_median(values, count),
                   f->what);
        write_formula(f, e, out);
        buf_printf(out, "; quartiles %.10g and %.10g, of %zu\n",
                   stats_quantile(values, count, 0.25),
                   stats_quantile(values, count, 0.75), count);
    }
    free(values);
}
