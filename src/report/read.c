/*
 * Reads a report in JSON back into results.  The file may come from anywhere,
 * so nothing in it is believed: each key has its row in a table with the
 * reader of its value, and what could not have come from json.c (a status that
 * is none, a value of no known kind) is refused.  A key that has no row is
 * skipped, since a later version may have more; of version 1, which knew no
 * run, some of the device is moved to where version 2 has it.
 */
#include "report/report.h"

#include <ctype.h>
#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "finding/curve.h"

/* What is read, for the sentence of an error. */
struct place {
    const char *where, *text; /* the file's name, and what is in it */
    const char *id;           /* the finding that is read, NULL: none yet */
    const char *key;
    struct error *err;
};

/* Line of `"name":` in the text; 0 if it is not there, or written in escapes.
 */
static int line_of_key(const char *text, const char *name)
{
    const size_t length = strlen(name);
    int line = 1;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\n')
            line++;
        if (*c != '"' || strncmp(c + 1, name, length) != 0 ||
            c[length + 1] != '"')
            continue;
        const char *const after = c + length + 2;
        if (after[strspn(after, " \t\r\n")] == ':')
            return line;
    }
    return 0;
}

static int refuse(const struct place *p, const char *what)
{
    error_set(p->err, ERR_FILE, "key \"%s\": %s", p->key, what);
    if (p->id != NULL)
        error_prefix(p->err, "finding \"%s\"", p->id);
    const int line = line_of_key(p->text, p->id != NULL ? p->id : p->key);
    if (line > 0)
        error_prefix(p->err, "line %d", line);
    return error_prefix(p->err, "%s", p->where);
}

/* One key of an object: how its value is read, and to where in the struct. */
struct key {
    const char *name; /* NULL ends a table */
    bool required;
    int (*read)(const struct place *place, const json_t *json, void *into);
    size_t offset;
};

static const struct key *key_find(const struct key *keys, const char *name)
{
    while (keys->name != NULL && strcmp(keys->name, name) != 0)
        keys++;
    return keys->name != NULL ? keys : NULL;
}

/* Takes the object apart by its table. */
static int read_object(const struct place *place, const json_t *object,
                       const struct key *keys, void *into)
{
    struct place p = *place;
    if (!json_is_object(object))
        return refuse(&p, "should be an object");
    for (const struct key *k = keys; k->name != NULL; k++) {
        p.key = k->name;
        if (k->required && json_object_get(object, k->name) == NULL)
            return refuse(&p, "is missing");
    }
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value)
    {
        const struct key *const key = key_find(keys, name);
        p.key = name;
        const int status =
            key == NULL ? 0 : key->read(&p, value, (char *)into + key->offset);
        if (status != 0)
            return status;
    }
    return 0;
}

static int take_text(const struct place *p, const json_t *json, void *into)
{
    char **const text = into;
    if (!json_is_string(json))
        return refuse(p, "should be a string");
    free(*text);
    *text = xstrdup(json_string_value(json));
    return 0;
}

static int read_texts(const struct place *p, const json_t *json, char ***texts,
                      size_t *count)
{
    if (!json_is_array(json))
        return refuse(p, "should be a list of strings");
    *texts = xcalloc(json_array_size(json) + 1, sizeof **texts);
    for (size_t i = 0; i < json_array_size(json); i++) {
        const int status =
            take_text(p, json_array_get(json, i), &(*texts)[*count]);
        if (status != 0)
            return status;
        *count += 1;
    }
    return 0;
}

enum { LISTS_DEEP = 2 };

/* A number, a text or a truth value, or a list of such, of null and of lists,
 * so `deep`; false for anything else. */
static bool read_any(const json_t *json, unsigned deep, struct value *value)
{
    if (json_is_number(json))
        *value = value_number(json_number_value(json));
    else if (json_is_string(json))
        *value = value_text(json_string_value(json));
    else if (json_is_boolean(json))
        *value = value_bool(json_is_true(json));
    else if (json_is_array(json) && deep > 0)
        *value = value_list();
    else if (json_is_null(json) && deep < LISTS_DEEP)
        *value = (struct value){0};
    else
        return false;
    for (size_t i = 0; i < json_array_size(json); i++) {
        struct value item;
        if (!read_any(json_array_get(json, i), deep - 1, &item)) {
            value_free(value);
            return false;
        }
        value_push(value, item);
    }
    return true;
}

/* A list in a list is of bits that are XORed. */
static int read_value(const struct place *p, const json_t *json,
                      struct value *value)
{
    if (read_any(json, LISTS_DEEP, value))
        return 0;
    return refuse(p, json_is_array(json)
                         ? "should be a list of numbers, strings, true, "
                           "false or null, or of lists of these"
                         : "should be a number, a string, true, false or a "
                           "list of these");
}

static int take_value(const struct place *p, const json_t *json, void *into)
{
    return read_value(p, json, &((struct finding *)into)->value);
}

static int take_status(const struct place *p, const json_t *json, void *into)
{
    struct finding *const f = into;
    const char *const name = json_string_value(json);
    f->status = name == NULL ? STATUS_COUNT : finding_status_find(name);
    return f->status != STATUS_COUNT
               ? 0
               : refuse(p, "should be one of measured, in_doubt, reported, "
                           "derived, at_least, at_most, not_measured");
}

static int take_interval(const struct place *p, const json_t *json, void *into)
{
    const json_t *const low = json_array_get(json, 0);
    const json_t *const high = json_array_get(json, 1);
    if (json_array_size(json) != 2 || !json_is_number(low) ||
        !json_is_number(high) ||
        json_number_value(low) > json_number_value(high))
        return refuse(p, "should be two numbers, the lower first");
    struct finding *const f = into;
    finding_interval(f, json_number_value(low), json_number_value(high),
                     f->confidence);
    return 0;
}

static int take_confidence(const struct place *p, const json_t *json,
                           void *into)
{
    const double confidence = json_number_value(json);
    if (!json_is_number(json) || confidence < 0 || confidence > 1)
        return refuse(p, "should be a number from 0 to 1");
    ((struct finding *)into)->confidence = confidence;
    return 0;
}

static int take_skipped(const struct place *p, const json_t *json, void *into)
{
    if (!json_is_boolean(json))
        return refuse(p, "is not true or false");
    ((struct finding *)into)->skipped = json_is_true(json);
    return 0;
}

static int take_evidence(const struct place *p, const json_t *json, void *into)
{
    struct finding *const f = into;
    return read_texts(p, json, &f->evidence, &f->evidence_count);
}

static void add_to_protocol(void *f, const char *key, struct value value)
{
    finding_protocol(f, key, value);
}

static void add_to_device(void *results, const char *key, struct value value)
{
    results_device(results, key, value);
}

/* Adds each member of an object. */
static int take_members(const struct place *place, const json_t *json,
                        void (*add)(void *into, const char *key,
                                    struct value value),
                        void *into)
{
    struct place p = *place;
    if (!json_is_object(json))
        return refuse(&p, "should be an object");
    json_t *item;
    json_object_foreach((json_t *)json, p.key, item)
    {
        struct value value;
        const int status = read_value(&p, item, &value);
        if (status != 0)
            return status;
        add(into, p.key, value);
    }
    return 0;
}

static int take_protocol(const struct place *p, const json_t *json, void *into)
{
    return take_members(p, json, add_to_protocol, into);
}

/* clang-format off */
static const struct key finding_keys[] = {
    {"value",      false, take_value,      0},
    {"unit",       false, take_text,       offsetof(struct finding, unit)},
    {"status",     true,  take_status,     0},
    {"interval",   false, take_interval,   0},
    {"confidence", false, take_confidence, 0},
    {"method",     false, take_text,       offsetof(struct finding, method)},
    {"protocol",   false, take_protocol,   0},
    {"study",      false, take_text,       offsetof(struct finding, study)},
    {"evidence",   false, take_evidence,   0},
    {"because",    false, take_text,       offsetof(struct finding, because)},
    {"skipped",    false, take_skipped,    0},
    {0},
};
/* clang-format on */

/* component.attribute, in characters that are plain in any output; PTX has
 * colons in the names of some instructions (mma.sp::ordered_metadata). */
static bool is_id(const char *id)
{
    const char *const dot = strchr(id, '.');
    if (dot == NULL || dot == id || dot[1] == '\0')
        return false;
    for (; *id != '\0'; id++)
        if (!isalnum((unsigned char)*id) && strchr("._:", *id) == NULL)
            return false;
    return true;
}

static int read_finding(const struct place *p, const json_t *json,
                        struct finding *f)
{
    const int status = read_object(p, json, finding_keys, f);
    if (status != 0)
        return status;
    struct place value = *p;
    value.key = "value";
    const bool none = f->status == STATUS_NOT_MEASURED;
    if (none && f->value.kind != VALUE_NONE)
        return refuse(&value, "what was not measured has none");
    if (!none && f->value.kind == VALUE_NONE)
        return refuse(&value, "is missing");
    return 0;
}

static int take_findings(const struct place *place, const json_t *json,
                         void *into)
{
    struct place p = *place;
    if (!json_is_object(json))
        return refuse(&p, "should be an object");
    const char *id;
    json_t *finding;
    json_object_foreach((json_t *)json, id, finding)
    {
        p.key = id;
        if (!is_id(id))
            return refuse(&p, "is no id of the form component.attribute");
        p.id = id;
        const int status = read_finding(&p, finding, results_add(into, id, ""));
        if (status != 0)
            return status;
        p.id = NULL;
    }
    return 0;
}

static void add_to_run(void *results, const char *key, struct value value)
{
    results_run(results, key, value);
}

static int take_run(const struct place *p, const json_t *json, void *into)
{
    return take_members(p, json, add_to_run, into);
}

static int take_device(const struct place *p, const json_t *json, void *into)
{
    return take_members(p, json, add_to_device, into);
}

static int take_command(const struct place *p, const json_t *json, void *into)
{
    struct results *const results = into;
    return read_texts(p, json, &results->command, &results->command_count);
}

static const struct key sonde_keys[] = {
    {"version", false, take_text, offsetof(struct results, version)},
    {"commit", false, take_text, offsetof(struct results, commit)},
    {"command", false, take_command, 0},
    {0},
};

static int take_sonde(const struct place *p, const json_t *json, void *into)
{
    return read_object(p, json, sonde_keys, into);
}

enum { VERSION = 2 };

/* The number after "sonde-report-"; 0 if it is none. */
static long version_of(const json_t *schema)
{
    static const char name[] = "sonde-report-";
    const char *const text = json_string_value(schema);
    if (text == NULL || strncmp(text, name, sizeof name - 1) != 0 ||
        !isdigit((unsigned char)text[sizeof name - 1]))
        return 0;
    return strtol(text + sizeof name - 1, NULL, 10);
}

static int take_schema(const struct place *p, const json_t *json, void *into)
{
    const long version = version_of(json);
    (void)into;
    if (version > VERSION)
        return refuse(p, "is of a newer sonde; this one reads "
                         "\"sonde-report-2\" and older");
    return version > 0 ? 0 : refuse(p, "should be \"sonde-report-2\"");
}

/* Version 1 called the version of CUDA the driver, and knew of the device
 * whether it is simulated. */
static void rename_entry(struct protocol_entry *e, const char *name)
{
    free(e->name);
    e->name = xstrdup(name);
}

static void modernize(struct results *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->device_count; i++) {
        struct protocol_entry e = r->device[i];
        if (strcmp(e.name, "simulated") == 0) {
            results_run(r, "simulated", e.value);
            free(e.name);
            continue;
        }
        if (strcmp(e.name, "driver") == 0)
            rename_entry(&e, "cuda");
        else if (strcmp(e.name, "release") == 0)
            rename_entry(&e, "driver");
        r->device[kept++] = e;
    }
    r->device_count = kept;
}

/* ---- curves ------------------------------------------------------------- */

struct axis_read {
    char *name, *unit;
    struct value values;
};

struct curve_read {
    char *name, *evidence;
    struct axis_read x, y;
};

static int take_points(const struct place *p, const json_t *json, void *into)
{
    struct axis_read *const axis = into;
    if (!json_is_array(json) || read_value(p, json, &axis->values) != 0)
        return refuse(p, "should be a list of numbers");
    for (size_t i = 0; i < axis->values.count; i++)
        if (axis->values.items[i].kind != VALUE_NUMBER)
            return refuse(p, "should be a list of numbers");
    return 0;
}

static const struct key axis_keys[] = {
    {"name", false, take_text, offsetof(struct axis_read, name)},
    {"unit", false, take_text, offsetof(struct axis_read, unit)},
    {"values", true, take_points, 0},
    {0},
};

static int take_axis(const struct place *p, const json_t *json, void *into)
{
    return read_object(p, json, axis_keys, into);
}

static const struct key curve_keys[] = {
    {"name", true, take_text, offsetof(struct curve_read, name)},
    {"x", true, take_axis, offsetof(struct curve_read, x)},
    {"y", true, take_axis, offsetof(struct curve_read, y)},
    {"evidence", false, take_text, offsetof(struct curve_read, evidence)},
    {0},
};

static const char *or_none(const char *text)
{
    return text != NULL ? text : "";
}

static int add_curve(const struct place *p, const struct curve_read *read,
                     struct results *results)
{
    const struct curve_kind kind = {read->name, or_none(read->x.name),
                                    or_none(read->x.unit),
                                    or_none(read->y.unit)};
    if (read->x.values.count != read->y.values.count)
        return refuse(p, "has not as many values of x as of y");
    struct finding_curve *const curve = results_curve(results, p->key, &kind);
    for (size_t i = 0; i < read->x.values.count; i++)
        curve_point(curve, (struct curve_seen){read->x.values.items[i].number,
                                               read->y.values.items[i].number,
                                               or_none(read->evidence)});
    return 0;
}

static void free_axis(struct axis_read *axis)
{
    free(axis->name);
    free(axis->unit);
    value_free(&axis->values);
}

static int read_curve(const struct place *p, const json_t *json,
                      struct results *results)
{
    struct curve_read read = {0};
    int status = read_object(p, json, curve_keys, &read);
    if (status == 0)
        status = add_curve(p, &read, results);
    free(read.name);
    free(read.evidence);
    free_axis(&read.x);
    free_axis(&read.y);
    return status;
}

static int take_curves(const struct place *place, const json_t *json,
                       void *into)
{
    struct place p = *place;
    if (!json_is_object(json))
        return refuse(&p, "should be an object");
    json_t *curves;
    json_object_foreach((json_t *)json, p.key, curves)
    {
        if (!json_is_array(curves))
            return refuse(&p, "should be a list of curves");
        for (size_t i = 0; i < json_array_size(curves); i++) {
            const int status = read_curve(&p, json_array_get(curves, i), into);
            if (status != 0)
                return status;
        }
    }
    return 0;
}

/* ---- the report ---------------------------------------------------------- */

static const struct key report_keys[] = {
    {"schema", true, take_schema, 0},
    {"sonde", false, take_sonde, 0},
    {"run", false, take_run, 0},
    {"device", true, take_device, 0},
    {"findings", true, take_findings, 0},
    {"curves", false, take_curves, 0},
    {0},
};

static int read_report(const struct place *top, const json_t *json,
                       struct results *results)
{
    /* First: what a newer sonde writes may lack what this one wants. */
    const json_t *const schema = json_object_get(json, "schema");
    if (schema == NULL && json_is_object(json))
        return refuse(top, "is missing, so this is no report of sonde");
    int status = schema != NULL ? take_schema(top, schema, NULL) : 0;
    if (status == 0)
        status = read_object(top, json, report_keys, results);
    if (status == 0 && version_of(json_object_get(json, "schema")) < VERSION)
        modernize(results);
    return status;
}

/* NULL after saying what is no JSON. */
static json_t *load(const char *text, const char *where, struct error *err)
{
    json_error_t why;
    json_t *const json = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    if (json == NULL)
        error_set(err, ERR_FILE, "%s: line %d: not a report in JSON: %s", where,
                  why.line, why.text);
    return json;
}

/* Reports one after the other, as a line each, are a list of them. */
static json_t *load_all(const char *text, const char *where, struct error *err)
{
    static const size_t flags = JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK;
    json_error_t end;
    json_t *const first = json_loads(text, flags, &end);
    const char *rest = first != NULL ? text + end.position : "";
    if (first == NULL || rest[strspn(rest, " \t\r\n")] != '{') {
        json_decref(first);
        return load(text, where, err);
    }
    json_t *const list = json_array();
    json_array_append_new(list, first);
    while (rest[strspn(rest, " \t\r\n")] != '\0') {
        json_t *const next = json_loads(rest, flags, &end);
        if (next == NULL) {
            json_decref(list);
            return load(text, where, err);
        }
        json_array_append_new(list, next);
        rest += end.position;
    }
    return list;
}

int report_read(const char *text, const char *where, struct results *results,
                struct error *err)
{
    const struct place top = {
        .where = where, .text = text, .key = "schema", .err = err};
    json_t *const json = load(text, where, err);
    if (json == NULL)
        return ERR_FILE;
    const int status = read_report(&top, json, results);
    json_decref(json);
    return status;
}

/* The reports of a list, or the one that there is. */
static int read_reports(const struct place *top, const json_t *json,
                        struct results **list, size_t *count)
{
    const bool several = json_is_array(json);
    const size_t all = several ? json_array_size(json) : 1;
    int status = 0;
    if (all == 0)
        return error_set(top->err, ERR_FILE, "%s: a list without a report",
                         top->where);
    *list = xcalloc(all, sizeof **list);
    for (size_t i = 0; status == 0 && i < all; i++) {
        *count = i + 1;
        status = read_report(top, several ? json_array_get(json, i) : json,
                             &(*list)[i]);
    }
    return status;
}

int report_read_all(const char *text, const char *where, struct results **list,
                    size_t *count, struct error *err)
{
    const struct place top = {
        .where = where, .text = text, .key = "schema", .err = err};
    json_t *const json = load_all(text, where, err);
    *list = NULL;
    *count = 0;
    if (json == NULL)
        return ERR_FILE;
    const int status = read_reports(&top, json, list, count);
    json_decref(json);
    return status;
}
