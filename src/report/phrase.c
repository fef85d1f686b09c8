#include "report/phrase.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/quantity.h"

/* Less than this is said beside the value. */
#define CONFIDENT 0.95

/* What has an interval that reaches at least three times as far to one side,
 * as what is late does where how much less others cost is not known. */
static bool is_lopsided(const struct finding *f)
{
    if (!f->has_interval || f->value.kind != VALUE_NUMBER)
        return false;
    const double below = f->value.number - f->interval[0];
    const double above = f->interval[1] - f->value.number;
    return fmax(below, above) > fabs(f->value.number) / 500 &&
           fmax(below, above) >= 3 * fmin(below, above);
}

/* Half the interval, if it is wide enough to matter: a five-hundredth of the
 * value is less than anybody reads off a latency. */
static double doubt_of(const struct finding *f)
{
    if (!f->has_interval || f->value.kind != VALUE_NUMBER ||
        (f->status == STATUS_IN_DOUBT && is_lopsided(f)))
        return 0;
    const double doubt = fmax(f->value.number - f->interval[0],
                              f->interval[1] - f->value.number);
    return doubt > fabs(f->value.number) / 500 ? doubt : 0;
}

/* ", 53.7 MiB to 62.6 MiB" */
static void put_range(struct buf *out, const struct finding *f)
{
    buf_text(out, ", ");
    quantity_number(out, f->interval[0], 0, f->unit);
    buf_text(out, " to ");
    quantity_number(out, f->interval[1], 0, f->unit);
}

static const char *bound_of(const struct finding *f)
{
    return f->status == STATUS_AT_LEAST  ? "≥ "
           : f->status == STATUS_AT_MOST ? "≤ "
                                         : "";
}

/* Cycles of an SM are nanoseconds of a person, where the clock is known. */
static void put_time(const struct finding *f, double clock_hz, struct buf *out)
{
    if (clock_hz <= 0 || f->value.kind != VALUE_NUMBER ||
        strcmp(f->unit, "cycles") != 0)
        return;
    char digits[32];
    snprintf(digits, sizeof digits, "%.3g", f->value.number / clock_hz * 1e9);
    buf_text(out, " (");
    quantity_number(out, strtod(digits, NULL), 0, "ns");
    buf_text(out, ")");
}

/* Costs by degree or by stride: lists that nobody reads whole. */
static const struct curve {
    const char *id;
    size_t first;      /* what the first item is of */
    const char *after; /* stands between that number and the cost */
} curves[] = {
    {"shared.conflict_latency", 1, "-way "},
    {"shared.stride_latency", 0, ": "},
    {"shared.stride_latency_64", 0, ": "},
};

/* NULL if the finding is none. */
static const struct curve *curve_of(const struct finding *f)
{
    for (size_t i = 0; i < COUNT_OF(curves); i++)
        if (strcmp(curves[i].id, f->id) == 0 && f->value.kind == VALUE_LIST)
            return &curves[i];
    return NULL;
}

/* "1-way 23, 2-way 25, 4-way 29": of 0 and the powers of two, in whole units.
 */
static void put_curve(struct buf *out, const struct finding *f,
                      const struct curve *curve)
{
    const struct value *const list = &f->value;
    for (size_t i = 0; i < list->count; i++) {
        const size_t of = curve->first + i;
        if ((of & (of - 1)) != 0 || list->items[i].kind != VALUE_NUMBER)
            continue;
        buf_printf(out, "%s%zu%s", i > 0 ? ", " : "", of, curve->after);
        quantity_number(out, round(list->items[i].number), 0, "");
    }
    buf_printf(out, " %s", f->unit);
}

/* What the patterns of Mei's table 3 are of, in turn. */
static const char *const patterns[] = {
    "hit",  "hit behind a miss of TLB L1",    "hit behind misses of all TLBs",
    "miss", "miss behind misses of all TLBs", "of another page window",
};

const char *phrase_pattern(size_t item)
{
    return item < COUNT_OF(patterns) ? patterns[item] : NULL;
}

/* "hit 30.9, hit behind a miss of TLB L1 31.7, … cycles"; those that were not
 * measured are left out. */
static void put_patterns(struct buf *out, const struct finding *f)
{
    const struct value *const list = &f->value;
    bool any = false;
    for (size_t i = 0; i < list->count && i < COUNT_OF(patterns); i++) {
        if (list->items[i].kind != VALUE_NUMBER)
            continue;
        buf_printf(out, "%s%s ", any ? ", " : "", patterns[i]);
        quantity_number(out, list->items[i].number, 0, "");
        any = true;
    }
    buf_printf(out, " %s", f->unit);
}

/* How much of what was tried came as predicted. */
static bool is_share(const struct finding *f)
{
    return f->value.kind == VALUE_NUMBER &&
           (text_glob("predicted.*_right", f->id) ||
            text_glob("predicted.*.*", f->id));
}

static void put_value(struct buf *out, const struct finding *f)
{
    const struct curve *const curve = curve_of(f);
    if (text_glob("memory.patterns_*", f->id) && f->value.kind == VALUE_LIST)
        put_patterns(out, f);
    else if (curve != NULL)
        put_curve(out, f, curve);
    else if (text_glob("*.side_bits", f->id)) /* one XOR, and no list */
        quantity_item(out, &f->value);
    else if (is_share(f))
        quantity_number(out, 100 * f->value.number, 0, "%");
    else
        quantity_value(out, &f->value, doubt_of(f), f->unit);
}

static void put_remark(const struct finding *f, struct buf *out)
{
    if (f->status == STATUS_REPORTED || f->status == STATUS_DERIVED)
        buf_printf(out, " (%s)", finding_status_name(f->status));
    if (f->confidence >= 0 && f->confidence < CONFIDENT)
        buf_printf(out, ", confidence %.0f %%", 100 * f->confidence);
    if (f->status == STATUS_IN_DOUBT ||
        (f->status == STATUS_MEASURED && f->because != NULL))
        buf_text(out, "; in doubt");
    if (f->status == STATUS_IN_DOUBT && is_lopsided(f))
        put_range(out, f);
    if (f->because != NULL)
        buf_printf(out, ": %s", f->because);
}

char *phrase_finding(const struct finding *f, double clock_hz)
{
    struct buf out = {0};
    if (f->status == STATUS_NOT_MEASURED) {
        buf_printf(&out, "not measured: %s",
                   f->because != NULL ? f->because : "no reason was given");
        return buf_take(&out);
    }
    buf_text(&out, bound_of(f));
    put_value(&out, f);
    put_time(f, clock_hz, &out);
    put_remark(f, &out);
    return buf_take(&out);
}

bool phrase_certain(const struct finding *f)
{
    return f->because == NULL &&
           (f->confidence < 0 || f->confidence >= CONFIDENT) &&
           (f->status == STATUS_MEASURED || f->status == STATUS_REPORTED ||
            f->status == STATUS_DERIVED);
}

void phrase_entries(struct buf *out, const struct protocol_entry *entries,
                    size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "%s%s ", i > 0 ? ", " : "", entries[i].name);
        quantity_value(out, &entries[i].value, 0, "");
    }
}

void phrase_interval(struct buf *out, const struct finding *f)
{
    if (f->has_interval) {
        quantity_number(out, f->interval[0], 0, f->unit);
        buf_text(out, " to ");
        quantity_number(out, f->interval[1], 0, f->unit);
    }
    if (f->confidence >= 0)
        buf_printf(out, "%sconfidence %.4g %%", f->has_interval ? ", " : "",
                   100 * f->confidence);
}
