#include "finding/judge.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "finding/axis.h"

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[] = {
        [VERDICT_ALIKE] = "alike",   [VERDICT_GAINED] = "gained",
        [VERDICT_STATUS] = "status", [VERDICT_DIFFERS] = "differs",
        [VERDICT_LOST] = "lost",
    };
    return names[verdict];
}

static bool has_value(const struct finding *f)
{
    return f != NULL && f->value.kind != VALUE_NONE;
}

/* A share of a count is another count. */
bool judge_is_quantity(const char *unit)
{
    static const char *const units[] = {"cycles", "ns", "Hz", "W", "J", "°C"};
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (strcmp(unit, units[i]) == 0)
            return true;
    return strchr(unit, '/') != NULL || strchr(unit, '%') != NULL;
}

static bool is_quantity(const struct finding *f)
{
    return judge_is_quantity(f->unit);
}

struct range {
    double low, high;
};

static struct range range_of(const struct finding *f)
{
    struct range r = {f->value.number, f->value.number};
    if (f->has_interval)
        r = (struct range){fmin(r.low, f->interval[0]),
                           fmax(r.high, f->interval[1])};
    if (f->status == STATUS_AT_LEAST)
        r.high = INFINITY;
    if (f->status == STATUS_AT_MOST)
        r.low = -INFINITY;
    return r;
}

/* The gap between two ranges as a share of the base's number; 0 where they
 * meet. */
static double gap(struct range a, struct range b, double base)
{
    const double apart = fmax(fmax(b.low - a.high, a.low - b.high), 0);
    if (!(apart > 0))
        return 0;
    return fabs(base) > 0 ? apart / fabs(base) : INFINITY;
}

/* Shares that are written in decimals are not exact: 2 % of 100 is 2. */
static bool is_beyond(double share, double tolerance)
{
    return share > tolerance * (1 + 1e-9);
}

static struct judgement structure(bool same)
{
    return (struct judgement){same ? VERDICT_ALIKE : VERDICT_DIFFERS,
                              same ? 0 : INFINITY, 0, 0, 0};
}

static struct judgement judge_numbers(const struct finding *a,
                                      const struct finding *b, double tolerance)
{
    const double share = gap(range_of(a), range_of(b), a->value.number);
    if (!is_beyond(share, is_quantity(a) ? tolerance : 0))
        return (struct judgement){0};
    return (struct judgement){VERDICT_DIFFERS, share, 0, 0, 0};
}

/* ---- lists --------------------------------------------------------------- */

static bool is_of_numbers(const struct value *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].kind != VALUE_NUMBER &&
            list->items[i].kind != VALUE_NONE)
            return false;
    return list->count > 0;
}

/* What the protocol says of the item under that name ("low", "high"), else the
 * item itself. */
static double said_of_item(const struct finding *f, const char *name, size_t i)
{
    const struct value *const list = finding_said(f, name);
    const bool fits = list != NULL && list->kind == VALUE_LIST &&
                      list->count == f->value.count &&
                      list->items[i].kind == VALUE_NUMBER;
    return fits ? list->items[i].number : f->value.items[i].number;
}

static struct range range_of_item(const struct finding *f, size_t i)
{
    const double number = f->value.items[i].number;
    return (struct range){fmin(number, said_of_item(f, "low", i)),
                          fmax(number, said_of_item(f, "high", i))};
}

/* How far two items are apart that both have. */
static double item_gap(const struct finding *a, size_t i,
                       const struct finding *b, size_t k)
{
    const struct value *const x = &a->value.items[i];
    const struct value *const y = &b->value.items[k];
    if (x->kind != VALUE_NUMBER || y->kind != VALUE_NUMBER)
        return 0;
    return gap(range_of_item(a, i), range_of_item(b, k), x->number);
}

/* An item that one of both did not measure does not differ: it was lost, or
 * gained, as such a finding is. */
static enum verdict item_kept(const struct value *x, const struct value *y)
{
    if (x->kind == y->kind)
        return VERDICT_ALIKE;
    return y->kind == VALUE_NONE ? VERDICT_LOST : VERDICT_GAINED;
}

/* Which item is of this place; the count: none is. */
static size_t item_at(const struct axis *axis, const struct value *place)
{
    size_t i = 0;
    while (i < axis->values.count &&
           !value_equal(&axis->values.items[i], place))
        i++;
    return i;
}

static void judge_item(struct judgement *j, size_t i, double share,
                       double tolerance)
{
    if (!is_beyond(share, tolerance))
        return;
    if (j->apart++ == 0 || share > j->beyond) {
        j->beyond = share;
        j->worst = i;
    }
    j->verdict = VERDICT_DIFFERS;
}

static enum verdict worse(enum verdict a, enum verdict b)
{
    return a > b ? a : b;
}

static struct judgement judge_items(const struct finding *a,
                                    const struct finding *b, double tolerance)
{
    struct judgement j = {.items = a->value.count};
    struct axis x = axis_of(a), y = axis_of(b);
    enum verdict kept = VERDICT_ALIKE;
    size_t met = 0;
    for (size_t i = 0; i < a->value.count; i++) {
        const size_t k = item_at(&y, &x.values.items[i]);
        const bool there = k < y.values.count;
        met += there;
        judge_item(&j, i, there ? item_gap(a, i, b, k) : INFINITY, tolerance);
        if (there)
            kept =
                worse(kept, item_kept(&a->value.items[i], &b->value.items[k]));
    }
    if (j.verdict == VERDICT_ALIKE)
        j.verdict = kept;
    if (met < b->value.count) { /* places that the base has not */
        j.apart += b->value.count - met;
        j.beyond = INFINITY;
        j.verdict = VERDICT_DIFFERS;
    }
    value_free(&x.values);
    value_free(&y.values);
    return j;
}

/* ---- findings ------------------------------------------------------------ */

/* Address bits are the same or are not: one is no distance from another. */
static bool is_of_bits(const struct finding *f)
{
    return text_glob("*_bits", f->id);
}

static struct judgement judge_values(const struct finding *a,
                                     const struct finding *b, double tolerance)
{
    if (a->value.kind != b->value.kind || strcmp(a->unit, b->unit) != 0)
        return structure(false);
    if (a->value.kind == VALUE_NUMBER)
        return judge_numbers(a, b, tolerance);
    if (is_of_numbers(&a->value) && is_of_numbers(&b->value) && !is_of_bits(a))
        return judge_items(a, b, is_quantity(a) ? tolerance : 0);
    return structure(value_equal(&a->value, &b->value));
}

/* What the driver says, what is measured and what follows are all sure. */
static enum finding_status sureness(const struct finding *f)
{
    return f->status == STATUS_REPORTED || f->status == STATUS_DERIVED
               ? STATUS_MEASURED
               : f->status;
}

/* How much of what was drawn at random was foretold is no property of a GPU. */
static bool is_of_run(const struct finding *f)
{
    static const char of_run[] = "predicted.";
    return f != NULL && strncmp(f->id, of_run, sizeof of_run - 1) == 0;
}

struct judgement judge_pair(const struct finding *a, const struct finding *b,
                            double tolerance)
{
    if (is_of_run(a) || is_of_run(b))
        return (struct judgement){.verdict = VERDICT_ALIKE};
    if (!has_value(a))
        return (struct judgement){.verdict = has_value(b) ? VERDICT_GAINED
                                                          : VERDICT_ALIKE};
    if (!has_value(b))
        return (struct judgement){VERDICT_LOST, INFINITY, 0, 0, 0};
    struct judgement j = judge_values(a, b, tolerance);
    if (j.verdict == VERDICT_ALIKE && sureness(a) != sureness(b))
        j.verdict = VERDICT_STATUS;
    return j;
}
