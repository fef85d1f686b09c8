/*
 * The report as tidy data in CSV (RFC 4180): an observation a line, so that
 * data frames of any language take it as it is, and those of many GPUs can be
 * put under each other.  A list has a line an item, with what it is of in
 * `axis` and `at`; the points of a curve are lines of the id with the curve's
 * name behind a colon.  What has no number (not measured, not finite) has an
 * empty value and says so in its status.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "finding/axis.h"
#include "finding/curve.h"
#include "report/csv.h"
#include "report/label.h"
#include "report/number.h"
#include "report/quantity.h"
#include "report/report.h"

/* A line; numbers that are NAN are empty. */
struct row {
    const char *gpu, *id, *axis;
    const struct value *at, *value; /* NULL: empty */
    double low, high;
    const char *unit;
    enum finding_status status;
};

static void put_value(struct buf *out, const struct value *value)
{
    if (value == NULL || value->kind == VALUE_NONE)
        return;
    if (value->kind == VALUE_NUMBER) {
        if (isfinite(value->number))
            number_put(out, value->number);
        return;
    }
    struct buf text = {0};
    if (value->kind == VALUE_BOOL)
        buf_text(&text, value->number > 0 ? "true" : "false");
    else
        quantity_item(&text, value);
    csv_field(out, buf_string(&text));
    buf_free(&text);
}

static void put_number(struct buf *out, double number)
{
    put_value(out, &(struct value){.kind = VALUE_NUMBER, .number = number});
}

static bool is_missing(const struct value *value)
{
    return value == NULL || value->kind == VALUE_NONE ||
           (value->kind == VALUE_NUMBER && !isfinite(value->number));
}

static void put_row(struct buf *out, const struct row *row)
{
    csv_field(out, row->gpu);
    buf_text(out, ",");
    csv_field(out, row->id);
    buf_text(out, ",");
    csv_field(out, row->axis);
    buf_text(out, ",");
    put_value(out, row->at);
    buf_text(out, ",");
    put_value(out, row->value);
    buf_text(out, ",");
    put_number(out, row->low);
    buf_text(out, ",");
    put_number(out, row->high);
    buf_text(out, ",");
    csv_field(out, row->unit);
    buf_text(out, ",");
    csv_field(out,
              finding_status_name(is_missing(row->value) ? STATUS_NOT_MEASURED
                                                         : row->status));
    csv_end(out);
}

/* Of an item: what a list of the protocol that is as long says; NAN: it has
 * none. */
static double said_of(const struct finding *f, const char *name, size_t item)
{
    const struct value *const said = finding_said(f, name);
    return said != NULL && said->kind == VALUE_LIST &&
                   said->count == f->value.count &&
                   said->items[item].kind == VALUE_NUMBER
               ? said->items[item].number
               : NAN;
}

static void put_finding(struct buf *out, const char *gpu,
                        const struct finding *f)
{
    struct row row = {gpu, f->id, NULL,    NULL,     &f->value,
                      NAN, NAN,   f->unit, f->status};
    if (f->value.kind != VALUE_LIST || f->value.count == 0) {
        row.low = f->has_interval ? f->interval[0] : NAN;
        row.high = f->has_interval ? f->interval[1] : NAN;
        put_row(out, &row);
        return;
    }
    struct axis axis = axis_of(f);
    row.axis = axis.name;
    for (size_t i = 0; i < f->value.count; i++) {
        row.at = &axis.values.items[i];
        row.value = &f->value.items[i];
        row.low = said_of(f, "low", i);
        row.high = said_of(f, "high", i);
        put_row(out, &row);
    }
    value_free(&axis.values);
}

static void put_curve(struct buf *out, const char *gpu,
                      const struct finding_curve *c)
{
    char *const id = xasprintf("%s:%s", c->id, c->name);
    for (size_t i = 0; i < c->count; i++) {
        const struct value x = value_number(c->x[i]), y = value_number(c->y[i]);
        put_row(out, &(struct row){gpu, id, c->x_name, &x, &y, NAN, NAN,
                                   c->y_unit, STATUS_MEASURED});
    }
    free(id);
}

static int csv_write(const struct results *const *results, size_t count,
                     const struct report_style *style, struct buf *out,
                     struct error *err)
{
    char **const labels = labels_of(results, count);
    (void)style;
    (void)err;
    buf_text(out, "gpu,id,axis,at,value,low,high,unit,status\r\n");
    for (size_t i = 0; i < count; i++) {
        const struct results *const r = results[i];
        for (size_t k = 0; k < r->finding_count; k++)
            put_finding(out, labels[i], r->findings[k]);
        for (size_t k = 0; k < r->curve_count; k++)
            if (results_find(r, r->curves[k]->id) != NULL)
                put_curve(out, labels[i], r->curves[k]);
    }
    labels_free(labels, count);
    return 0;
}

const struct report_format report_csv = {
    .name = "csv",
    .summary = "a line a number, for data frames: gpu,id,axis,at,value,...",
    .write_several = csv_write,
};
