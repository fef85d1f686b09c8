/* A comparison for programs: sonde-compare-1 (docs/exchange.md). */
#include <math.h>

#include "report/as_json.h"
#include "report/compare/compare.h"

static json_t *judged_json(const struct finding *f, const struct judgement *j)
{
    json_t *const object = f != NULL ? as_json_finding(f) : json_object();
    /* Which way it was measured says its own report. */
    static const char *const left_out[] = {"method", "protocol", "evidence",
                                           "study", "axis"};
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        json_object_del(object, left_out[i]);
    if (j == NULL)
        return object;
    as_json_set(object, "verdict", verdict_name(j->verdict));
    if (isfinite(j->beyond) && j->beyond > 0)
        json_object_set_new(object, "beyond", as_json_number(j->beyond));
    if (j->apart > 0)
        json_object_set_new(object, "items_apart",
                            as_json_number((double)j->apart));
    return object;
}

static json_t *row_json(const struct comparison *c,
                        const struct compare_row *row)
{
    json_t *const object = json_object(), *const others = json_array();
    as_json_set(object, "id", row->id);
    as_json_set(object, "verdict", verdict_name(row->worst));
    json_object_set_new(object, "base", judged_json(row->base, NULL));
    for (size_t i = 0; i < c->count; i++)
        json_array_append_new(others,
                              judged_json(row->other[i], &row->judged[i]));
    json_object_set_new(object, "new", others);
    return object;
}

static json_t *device_json(const struct results *r)
{
    return as_json_entries(r->device, r->device_count);
}

static json_t *counts_json(const struct comparison *c)
{
    json_t *const object = json_object();
    for (int v = VERDICT_ALIKE; v <= VERDICT_LOST; v++)
        json_object_set_new(
            object, verdict_name((enum verdict)v),
            as_json_number((double)compare_counts(c, (enum verdict)v)));
    return object;
}

void compare_json(const struct comparison *c, struct buf *out)
{
    json_t *const all = json_object(), *const others = json_array(),
                  *const rows = json_array();
    as_json_set(all, "schema", "sonde-compare-1");
    json_object_set_new(all, "base", device_json(c->results[0]));
    for (size_t i = 1; i <= c->count; i++)
        json_array_append_new(others, device_json(c->results[i]));
    json_object_set_new(all, "new", others);
    json_object_set_new(all, "tolerance", as_json_number(c->wish.tolerance));
    json_object_set_new(all, "alike", json_boolean(compare_alike(c)));
    json_object_set_new(all, "findings", counts_json(c));
    for (size_t i = 0; i < c->row_count; i++)
        if (c->rows[i].worst != VERDICT_ALIKE)
            json_array_append_new(rows, row_json(c, &c->rows[i]));
    json_object_set_new(all, "differences", rows);
    as_json_put(all, out);
}
