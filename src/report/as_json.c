#include "report/as_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "finding/axis.h"
#include "report/number.h"

json_t *as_json_number(double number)
{
    const double r = number_rounded(number);
    if (!isfinite(r)) /* which JSON has no number for */
        return json_null();
    return number_is_whole(r) ? json_integer((json_int_t)r) : json_real(r);
}

json_t *as_json_text(const char *text)
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

json_t *as_json_value(const struct value *value)
{
    switch (value->kind) {
    case VALUE_NUMBER:
        return as_json_number(value->number);
    case VALUE_TEXT:
        return as_json_text(value->text);
    case VALUE_BOOL:
        return json_boolean(value->number > 0);
    case VALUE_LIST:
        break;
    case VALUE_NONE:
        return json_null();
    }
    json_t *const list = json_array();
    for (size_t i = 0; i < value->count; i++)
        json_array_append_new(list, as_json_value(&value->items[i]));
    return list;
}

json_t *as_json_entries(const struct protocol_entry *entries, size_t count)
{
    json_t *const object = json_object();
    for (size_t i = 0; i < count; i++)
        json_object_set_new(object, entries[i].name,
                            as_json_value(&entries[i].value));
    return object;
}

json_t *as_json_texts(char *const *strings, size_t count)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, as_json_text(strings[i]));
    return list;
}

void as_json_set(json_t *object, const char *key, const char *text)
{
    if (text != NULL && text[0] != '\0')
        json_object_set_new(object, key, as_json_text(text));
}

static void set_certainty(json_t *object, const struct finding *f)
{
    if (f->has_interval && isfinite(f->interval[0]) &&
        isfinite(f->interval[1])) {
        json_t *const interval = json_array();
        json_array_append_new(interval, as_json_number(f->interval[0]));
        json_array_append_new(interval, as_json_number(f->interval[1]));
        json_object_set_new(object, "interval", interval);
    }
    if (f->confidence >= 0)
        json_object_set_new(object, "confidence",
                            as_json_number(f->confidence));
}

static void set_origin(json_t *object, const struct finding *f)
{
    as_json_set(object, "method", f->method);
    if (f->protocol_count > 0)
        json_object_set_new(object, "protocol",
                            as_json_entries(f->protocol, f->protocol_count));
    as_json_set(object, "study", f->study);
    if (f->evidence_count > 0)
        json_object_set_new(object, "evidence",
                            as_json_texts(f->evidence, f->evidence_count));
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
    as_json_set(json, "name", axis.name);
    as_json_set(json, "unit", axis.unit);
    json_object_set_new(json, "values", as_json_value(&axis.values));
    json_object_set_new(object, "axis", json);
    value_free(&axis.values);
}

/* What has no number that JSON can hold is told as not measured. */
static bool is_held(const struct value *value)
{
    return value->kind != VALUE_NUMBER || isfinite(value->number);
}

json_t *as_json_finding(const struct finding *f)
{
    json_t *const object = json_object();
    const bool held = is_held(&f->value);
    if (held && f->value.kind != VALUE_NONE) {
        json_object_set_new(object, "value", as_json_value(&f->value));
        as_json_set(object, "unit", f->unit);
        set_axis(object, f);
    }
    as_json_set(object, "status",
                finding_status_name(held ? f->status : STATUS_NOT_MEASURED));
    set_certainty(object, f);
    set_origin(object, f);
    as_json_set(object, "because",
                held || f->because != NULL ? f->because
                                           : "it came out as no number");
    if (f->skipped)
        json_object_set_new(object, "skipped", json_true());
    return object;
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
void as_json_visible(struct buf *out, const char *text)
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

void as_json_put(json_t *json, struct buf *out)
{
    char *const text =
        json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(NUMBER_DIGITS));
    as_json_visible(out, text);
    buf_text(out, "\n");
    free(text);
    json_decref(json);
}
