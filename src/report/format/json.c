/*
 * The report as JSON, schema sonde-report-2 (docs/report.schema.json): what
 * read.c reads back.  Several are a list of such.
 */
#include "report/report.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "finding/axis.h"
#include "finding/curve.h"
#include "report/number.h"

static json_t *number_json(double number)
{
    const double r = number_rounded(number);
    if (!isfinite(r)) /* which JSON has no number for */
        return json_null();
    return number_is_whole(r) ? json_integer((json_int_t)r) : json_real(r);
}

/* JSON is UTF-8; a file name need not be.  What is not becomes '?'. */
static json_t *text_json(const char *text)
{
    json_t *const string = json_string(text);
    if (string != NULL)
        return string;
    char *const plain = xstrdup(text);
    for (char *c = plain; *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    json_t *const replaced = json_string(plain);
    free(plain);
    return replaced;
}

static json_t *value_json(const struct value *value)
{
    switch (value->kind) {
    case VALUE_NUMBER:
        return number_json(value->number);
    case VALUE_TEXT:
        return text_json(value->text);
    case VALUE_BOOL:
        return json_boolean(value->number > 0);
    case VALUE_LIST:
        break;
    case VALUE_NONE:
        return json_null();
    }
    json_t *const list = json_array();
    for (size_t i = 0; i < value->count; i++)
        json_array_append_new(list, value_json(&value->items[i]));
    return list;
}

static json_t *entries_json(const struct protocol_entry *entries, size_t count)
{
    json_t *const object = json_object();
    for (size_t i = 0; i < count; i++)
        json_object_set_new(object, entries[i].name,
                            value_json(&entries[i].value));
    return object;
}

static json_t *strings_json(char *const *strings, size_t count)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, text_json(strings[i]));
    return list;
}

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text != NULL && text[0] != '\0')
        json_object_set_new(object, key, text_json(text));
}

static void set_certainty(json_t *object, const struct finding *f)
{
    if (f->has_interval) {
        json_t *const interval = json_array();
        json_array_append_new(interval, number_json(f->interval[0]));
        json_array_append_new(interval, number_json(f->interval[1]));
        json_object_set_new(object, "interval", interval);
    }
    if (f->confidence >= 0)
        json_object_set_new(object, "confidence", number_json(f->confidence));
}

static void set_origin(json_t *object, const struct finding *f)
{
    set_text(object, "method", f->method);
    if (f->protocol_count > 0)
        json_object_set_new(object, "protocol",
                            entries_json(f->protocol, f->protocol_count));
    set_text(object, "study", f->study);
    if (f->evidence_count > 0)
        json_object_set_new(object, "evidence",
                            strings_json(f->evidence, f->evidence_count));
}

/* Words are of nothing but themselves. */
static bool has_axis(const struct value *value)
{
    if (value->kind != VALUE_LIST)
        return false;
    for (size_t i = 0; i < value->count; i++)
        if (value->items[i].kind == VALUE_TEXT)
            return false;
    return value->count > 0;
}

static void set_axis(json_t *object, const struct finding *f)
{
    if (!has_axis(&f->value))
        return;
    struct axis axis = axis_of(f);
    json_t *const json = json_object();
    set_text(json, "name", axis.name);
    set_text(json, "unit", axis.unit);
    json_object_set_new(json, "values", value_json(&axis.values));
    json_object_set_new(object, "axis", json);
    value_free(&axis.values);
}

static json_t *finding_json(const struct finding *f)
{
    json_t *const object = json_object();
    if (f->value.kind != VALUE_NONE) {
        json_object_set_new(object, "value", value_json(&f->value));
        set_text(object, "unit", f->unit);
        set_axis(object, f);
    }
    set_text(object, "status", finding_status_name(f->status));
    set_certainty(object, f);
    set_origin(object, f);
    set_text(object, "because", f->because);
    if (f->skipped)
        json_object_set_new(object, "skipped", json_true());
    return object;
}

static json_t *findings_json(const struct results *results)
{
    json_t *const object = json_object();
    for (size_t i = 0; i < results->finding_count; i++)
        json_object_set_new(object, results->findings[i]->id,
                            finding_json(results->findings[i]));
    return object;
}

/* One of a curve's axes; "" is no name. */
static json_t *points_json(const char *name, const char *unit,
                           const double *values, size_t count)
{
    json_t *const axis = json_object(), *const list = json_array();
    set_text(axis, "name", name);
    set_text(axis, "unit", unit);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, number_json(values[i]));
    json_object_set_new(axis, "values", list);
    return axis;
}

static json_t *curve_json(const struct finding_curve *c)
{
    json_t *const object = json_object();
    set_text(object, "name", c->name);
    json_object_set_new(object, "x",
                        points_json(c->x_name, c->x_unit, c->x, c->count));
    json_object_set_new(object, "y",
                        points_json("", c->y_unit, c->y, c->count));
    set_text(object, "evidence", c->evidence);
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
    set_text(sonde, "version", results->version);
    set_text(sonde, "commit", results->commit);
    json_object_set_new(sonde, "command",
                        strings_json(results->command, results->command_count));
    json_t *const report = json_object();
    set_text(report, "schema", "sonde-report-2");
    json_object_set_new(report, "sonde", sonde);
    json_object_set_new(report, "run",
                        entries_json(results->run, results->run_count));
    json_object_set_new(report, "device",
                        entries_json(results->device, results->device_count));
    json_object_set_new(report, "findings", findings_json(results));
    json_t *const curves = curves_json(results);
    if (json_object_size(curves) > 0)
        json_object_set(report, "curves", curves);
    json_decref(curves);
    return report;
}

static void put_unit(struct buf *out, uint32_t unit)
{
    buf_printf(out, "\\u%04x", unit);
}

/* As JSON escapes what a terminal had better not see (RFC 8259, 7). */
static void put_escaped(struct buf *out, uint32_t code)
{
    if (code < 0x10000) {
        put_unit(out, code);
        return;
    }
    put_unit(out, 0xd800 + ((code - 0x10000) >> 10));
    put_unit(out, 0xdc00 + ((code - 0x10000) & 0x3ff));
}

/* jansson escapes C0; of C1, DEL and signs of direction, which can stand in
 * strings alone, it thinks nothing. */
static void put_visible(struct buf *out, const char *text)
{
    while (*text != '\0') {
        const struct text_character c = text_character(text);
        if (c.valid && !c.shown && c.code >= 0x7f)
            put_escaped(out, c.code);
        else
            buf_append(out, text, c.bytes);
        text += c.bytes;
    }
}

static int put_json(json_t *json, struct buf *out)
{
    char *const text =
        json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(NUMBER_DIGITS));
    put_visible(out, text);
    buf_text(out, "\n");
    free(text);
    json_decref(json);
    return 0;
}

static int json_write(const struct results *results,
                      const struct report_style *style, struct buf *out,
                      struct error *err)
{
    (void)style; /* a program reads it */
    (void)err;
    return put_json(report_object(results), out);
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
    return put_json(list, out);
}

const struct report_format report_json = {
    .name = "json",
    .summary = "all of it, as sonde reads it back (docs/report.schema.json)",
    .write = json_write,
    .write_several = json_write_several,
};
