/*
 * The report as JSON, schema sonde-report-2 (docs/report.schema.json): what
 * read.c reads back.  Several are a list of such.
 */
#include "report/report.h"

#include "finding/curve.h"
#include "report/as_json.h"

static json_t *findings_json(const struct results *results)
{
    json_t *const object = json_object();
    for (size_t i = 0; i < results->finding_count; i++)
        json_object_set_new(object, results->findings[i]->id,
                            as_json_finding(results->findings[i]));
    return object;
}

/* One of a curve's axes; "" is no name. */
static json_t *points_json(const char *name, const char *unit,
                           const double *values, size_t count)
{
    json_t *const axis = json_object(), *const list = json_array();
    as_json_set(axis, "name", name);
    as_json_set(axis, "unit", unit);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, as_json_number(values[i]));
    json_object_set_new(axis, "values", list);
    return axis;
}

static json_t *curve_json(const struct finding_curve *c)
{
    json_t *const object = json_object();
    as_json_set(object, "name", c->name);
    json_object_set_new(object, "x",
                        points_json(c->x_name, c->x_unit, c->x, c->count));
    json_object_set_new(object, "y",
                        points_json("", c->y_unit, c->y, c->count));
    as_json_set(object, "evidence", c->evidence);
    return object;
}

/* Of the findings that are told. */
static json_t *curves_json(const struct results *results)
{
    json_t *const object = json_object();
    for (size_t i = 0; i < results->curve_count; i++) {
        const struct finding_curve *const c = results->curves[i];
        if (c->count == 0 || results_find(results, c->id) == NULL)
            continue;
        if (json_object_get(object, c->id) == NULL)
            json_object_set_new(object, c->id, json_array());
        json_array_append_new(json_object_get(object, c->id), curve_json(c));
    }
    return object;
}

static json_t *report_object(const struct results *results)
{
    json_t *const sonde = json_object();
    as_json_set(sonde, "version", results->version);
    as_json_set(sonde, "commit", results->commit);
    json_object_set_new(
        sonde, "command",
        as_json_texts(results->command, results->command_count));
    json_t *const report = json_object();
    as_json_set(report, "schema", "sonde-report-2");
    json_object_set_new(report, "sonde", sonde);
    json_object_set_new(report, "run",
                        as_json_entries(results->run, results->run_count));
    json_object_set_new(
        report, "device",
        as_json_entries(results->device, results->device_count));
    json_object_set_new(report, "findings", findings_json(results));
    json_t *const curves = curves_json(results);
    if (json_object_size(curves) > 0)
        json_object_set(report, "curves", curves);
    json_decref(curves);
    return report;
}

static int json_write(const struct results *results,
                      const struct report_style *style, struct buf *out,
                      struct error *err)
{
    (void)style; /* a program reads it */
    (void)err;
    as_json_put(report_object(results), out);
    return 0;
}

static int json_write_several(const struct results *const *results,
                              size_t count, const struct report_style *style,
                              struct buf *out, struct error *err)
{
    json_t *const list = json_array();
    (void)style;
    (void)err;
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, report_object(results[i]));
    as_json_put(list, out);
    return 0;
}

const struct report_format report_json = {
    .name = "json",
    .summary = "all of it, as sonde reads it back (docs/report.schema.json)",
    .write = json_write,
    .write_several = json_write_several,
};
