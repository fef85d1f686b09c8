/*
 * A report is taken apart by scan.h.  Of a finding its value counts if it is
 * sure (measured, reported or derived); a bound, a doubt or nothing is
 * "unknown".  What the device says of itself and of its settings is a finding,
 * too: device.driver.  A list of quantities has a column an item, called by its
 * place on the axis; any other list is one column of words.
 */
#include "report/fleet/reading/gather.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "finding/judge.h"
#include "report/fleet/reading/names.h"
#include "report/fleet/reading/scan.h"

void memory_free(struct memory *m)
{
    for (size_t i = 0; i < m->capacity; i++)
        free(m->columns[i].text);
    free(m->columns);
    free(m->values);
    buf_free(&m->name);
    buf_free(&m->text);
    buf_free(&m->key);
}

void gathered_free(struct gathered *g)
{
    struct fleet_set set = {g->gpus, g->count, g->notes, g->note_count, {0}};
    fleet_set_free(&set);
    *g = (struct gathered){0};
}

void gather_note(struct gathered *g, enum fleet_state state, const char *path,
                 const char *why)
{
    g->notes = xreallocarray(g->notes, g->note_count + 1, sizeof *g->notes);
    g->notes[g->note_count++] = (struct fleet_note){
        state, xstrdup(path), why != NULL ? xstrdup(why) : NULL};
}

/* ---- columns ------------------------------------------------------------- */

static struct memory_name *guess(struct memory *m)
{
    if (m->next == m->capacity) {
        m->columns =
            xreallocarray(m->columns, 2 * m->capacity + 64, sizeof *m->columns);
        memset(m->columns + m->capacity, 0,
               (m->capacity + 64) * sizeof *m->columns);
        m->capacity = 2 * m->capacity + 64;
    }
    return &m->columns[m->next++];
}

static uint32_t column_of(struct memory *m, const char *name, struct piece unit)
{
    struct memory_name *const last = guess(m);
    buf_clear(&m->key);
    buf_text(&m->key, name);
    buf_text(&m->key, FLEET_UNIT_BEHIND);
    buf_append(&m->key, unit.at, unit.length);
    if (last->text != NULL && strcmp(last->text, m->key.data) == 0)
        return last->number;
    free(last->text);
    last->text = xstrdup(m->key.data);
    last->number = names_number(&m->names->columns, last->text);
    return last->number;
}

static struct fleet_value *add_value(struct memory *m, uint32_t column)
{
    if (m->value_count == m->value_capacity) {
        m->value_capacity = 2 * m->value_capacity + 256;
        m->values =
            xreallocarray(m->values, m->value_capacity, sizeof *m->values);
    }
    struct fleet_value *const v = &m->values[m->value_count++];
    *v = (struct fleet_value){column, FLEET_UNKNOWN, 0};
    return v;
}

/* Longer words are told apart by their hash. */
enum { WORDS_MOST = 120 };

static void set_words(struct memory *m, struct fleet_value *v, struct buf *text)
{
    char tail[32];
    if (text->length > WORDS_MOST) {
        snprintf(tail, sizeof tail, "… (%08lx)",
                 (unsigned long)hash_long_text(text->data) & 0xffffffff);
        text->length = WORDS_MOST;
        text->data[WORDS_MOST] = '\0';
        buf_text(text, tail);
    }
    v->half = FLEET_WORDS;
    v->number = names_number(&m->names->words, buf_string(text));
}

/* ---- a finding ----------------------------------------------------------- */

struct parts {
    struct piece value, unit, status, axis;
    double low, high; /* NAN: there is none */
};

static bool take_interval(struct scan *s, struct parts *p)
{
    bool first = true;
    return scan_enter(s, '[') && scan_item(s, &first) &&
           scan_number(s, &p->low) && scan_item(s, &first) &&
           scan_number(s, &p->high) && !scan_item(s, &first) && !s->bad &&
           p->low <= p->high;
}

static void take_part(struct scan *s, struct piece key, struct parts *p)
{
    if (piece_is(key, "value"))
        scan_skip(s, &p->value);
    else if (piece_is(key, "unit"))
        scan_string(s, &p->unit);
    else if (piece_is(key, "status"))
        scan_string(s, &p->status);
    else if (piece_is(key, "axis"))
        scan_skip(s, &p->axis);
    else if (!piece_is(key, "interval"))
        scan_skip(s, NULL);
    else if (!take_interval(s, p))
        s->bad = true;
}

static bool is_sure(struct piece status)
{
    return piece_is(status, "measured") || piece_is(status, "reported") ||
           piece_is(status, "derived");
}

static bool is_status(struct piece status)
{
    static const char *const names[] = {
#define X(id, name) name,
        FINDING_STATUSES(X)
#undef X
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (piece_is(status, names[i]))
            return true;
    return false;
}

/* What is written without the blanks between. */
static void put_compact(struct piece raw, struct buf *out)
{
    bool inside = false;
    for (size_t i = 0; i < raw.length; i++) {
        const char c = raw.at[i];
        inside ^= c == '"' && (i == 0 || raw.at[i - 1] != '\\');
        if (inside || !isspace((unsigned char)c))
            buf_append(out, &c, 1);
        if (c == ',' && !inside)
            buf_append(out, " ", 1);
    }
}

static void add_whole(struct memory *m, const struct parts *p)
{
    struct scan s = {p->value.at, false};
    struct fleet_value *const v =
        add_value(m, column_of(m, m->name.data, p->unit));
    const char next = scan_next(&s);
    struct piece text;
    if (!is_sure(p->status) || next == 'n')
        return;
    if (next == '-' || (next >= '0' && next <= '9')) {
        scan_number(&s, &v->number);
        v->half = 0;
        if (!isnan(p->low)) /* 0, should the value be outside of it */
            v->half =
                (float)fmax(fmin(v->number - p->low, p->high - v->number), 0);
        return;
    }
    buf_clear(&m->text);
    if (next == '"' && scan_string(&s, &text))
        piece_put(text, &m->text);
    else
        put_compact(p->value, &m->text);
    set_words(m, v, &m->text);
}

/* Numbers and null alone, and not none. */
static bool is_of_numbers(struct piece value)
{
    struct scan s = {value.at, false};
    bool first = true;
    double number;
    size_t count = 0;
    if (!scan_enter(&s, '['))
        return false;
    while (scan_item(&s, &first)) {
        if (scan_next(&s) == 'n')
            scan_skip(&s, NULL);
        else
            scan_number(&s, &number);
        count++;
    }
    return !s.bad && count > 0;
}

/* Enters "values" of an axis, and appends its name. */
static bool enter_axis(struct piece axis, struct scan *values, struct buf *name)
{
    struct scan s = {axis.at, false};
    struct piece key, text;
    bool first = true, found = false;
    if (axis.at == NULL || !scan_enter(&s, '{'))
        return false;
    while (scan_member(&s, &first, &key)) {
        if (piece_is(key, "values") && scan_next(&s) == '[') {
            *values = s;
            values->at++;
            found = true;
        }
        if (piece_is(key, "name") && scan_next(&s) == '"') {
            scan_string(&s, &text);
            piece_put(text, name);
        } else {
            scan_skip(&s, NULL);
        }
    }
    return found;
}

/* "[width=16]" behind the finding's own name. */
static void name_item(struct memory *m, size_t length, struct piece axis_name,
                      struct piece at, size_t number)
{
    m->name.length = length;
    m->name.data[length] = '\0';
    if (at.at == NULL) {
        buf_printf(&m->name, "[%zu]", number);
        return;
    }
    buf_text(&m->name, "[");
    buf_append(&m->name, axis_name.at, axis_name.length);
    buf_text(&m->name, axis_name.length > 0 ? "=" : "");
    put_compact(at, &m->name);
    buf_text(&m->name, "]");
}

/* How many there are is structure: a link less is an item less. */
static void add_count(struct memory *m, size_t length, size_t count)
{
    static const struct piece none = {"", 0};
    m->name.length = length;
    m->name.data[length] = '\0';
    buf_text(&m->name, "[items]");
    struct fleet_value *const v =
        add_value(m, column_of(m, m->name.data, none));
    v->half = 0;
    v->number = (double)count;
}

static void add_items(struct memory *m, const struct parts *p)
{
    struct scan s = {p->value.at, false}, axis = {"]", false};
    const size_t length = m->name.length;
    struct buf axis_name = {0};
    bool first = true, first_place = true;
    size_t count = 0;
    enter_axis(p->axis, &axis, &axis_name);
    const struct piece called = {buf_string(&axis_name), axis_name.length};
    scan_enter(&s, '[');
    while (scan_item(&s, &first)) {
        struct piece place = {NULL, 0};
        if (!axis.bad && scan_item(&axis, &first_place))
            scan_skip(&axis, &place);
        name_item(m, length, called, place, count++);
        struct fleet_value *const v =
            add_value(m, column_of(m, m->name.data, p->unit));
        if (scan_next(&s) == 'n') {
            scan_skip(&s, NULL);
            continue;
        }
        v->half = 0;
        scan_number(&s, &v->number);
    }
    add_count(m, length, count);
    buf_free(&axis_name);
}

static bool is_quantity(struct piece unit)
{
    char text[64];
    if (unit.length >= sizeof text)
        return false;
    memcpy(text, unit.at, unit.length);
    text[unit.length] = '\0';
    return judge_is_quantity(text);
}

static void take_finding(struct scan *s, struct memory *m, struct piece id)
{
    struct parts p = {.unit = {"", 0}, .low = NAN, .high = NAN};
    struct piece key;
    bool first = true;
    if (!scan_enter(s, '{'))
        return;
    while (scan_member(s, &first, &key))
        take_part(s, key, &p);
    if (s->bad || !is_status(p.status) ||
        (is_sure(p.status) && p.value.at == NULL)) {
        s->bad = true;
        return;
    }
    if (p.value.at == NULL)
        p.value = (struct piece){"null", 4};
    buf_clear(&m->name);
    buf_append(&m->name, id.at, id.length);
    if (is_sure(p.status) && is_quantity(p.unit) && is_of_numbers(p.value))
        add_items(m, &p);
    else
        add_whole(m, &p);
}

/* ---- a report ------------------------------------------------------------ */

struct report_parts {
    struct fleet_gpu gpu;
    char *model, *seed, *schema, *version;
    bool simulated, findings;
};

static void take_text(struct scan *s, char **into)
{
    struct buf text = {0};
    struct piece piece;
    if (scan_next(s) == '"' && scan_string(s, &piece))
        piece_put(piece, &text);
    else if (scan_skip(s, &piece))
        buf_append(&text, piece.at, piece.length);
    free(*into);
    *into = buf_take(&text);
}

static bool take_yes(struct scan *s)
{
    const bool yes = scan_next(s) == 't';
    return scan_skip(s, NULL) && yes;
}

static void take_run(struct scan *s, struct report_parts *r)
{
    struct piece key;
    bool first = true;
    if (!scan_enter(s, '{'))
        return;
    while (scan_member(s, &first, &key)) {
        if (piece_is(key, "host"))
            take_text(s, &r->gpu.host);
        else if (piece_is(key, "start"))
            take_text(s, &r->gpu.start);
        else if (piece_is(key, "seed"))
            take_text(s, &r->seed);
        else if (piece_is(key, "simulated"))
            r->simulated = take_yes(s);
        else
            scan_skip(s, NULL);
    }
}

static void take_sonde(struct scan *s, struct report_parts *r)
{
    struct piece key;
    bool first = true;
    if (!scan_enter(s, '{'))
        return;
    while (scan_member(s, &first, &key))
        if (piece_is(key, "version"))
            take_text(s, &r->version);
        else
            scan_skip(s, NULL);
}

/* What is of one GPU alone is no finding. */
static bool is_own(struct piece key)
{
    static const char *const own[] = {"spec", "name", "uuid", "pci"};
    for (size_t i = 0; i < COUNT_OF(own); i++)
        if (piece_is(key, own[i]))
            return true;
    return false;
}

static void take_device_word(struct scan *s, struct memory *m, struct piece key)
{
    static const struct piece measured = {"reported", 8}, no_unit = {"", 0};
    struct parts p = {
        .unit = no_unit, .status = measured, .low = NAN, .high = NAN};
    scan_skip(s, &p.value);
    buf_clear(&m->name);
    buf_text(&m->name, "device.");
    buf_append(&m->name, key.at, key.length);
    add_whole(m, &p);
}

/* Version 1 called the version of CUDA the driver. */
static struct piece modern(struct piece key, const struct report_parts *r)
{
    const bool old =
        r->schema != NULL && strcmp(r->schema, "sonde-report-1") == 0;
    if (old && piece_is(key, "driver"))
        return (struct piece){"cuda", 4};
    if (old && piece_is(key, "release"))
        return (struct piece){"driver", 6};
    return key;
}

static void take_device(struct scan *s, struct memory *m,
                        struct report_parts *r)
{
    struct piece key;
    bool first = true;
    if (!scan_enter(s, '{'))
        return;
    while (scan_member(s, &first, &key)) {
        if (piece_is(key, "name"))
            take_text(s, &r->model);
        else if (piece_is(key, "uuid"))
            take_text(s, &r->gpu.uuid);
        else if (piece_is(key, "spec"))
            take_text(s, &r->gpu.spec);
        else if (piece_is(key, "simulated"))
            r->simulated = take_yes(s);
        else if (!is_own(key))
            take_device_word(s, m, modern(key, r));
        else
            scan_skip(s, NULL);
    }
}

static void take_findings(struct scan *s, struct memory *m)
{
    struct piece id;
    bool first = true;
    if (!scan_enter(s, '{'))
        return;
    while (scan_member(s, &first, &id))
        take_finding(s, m, id);
}

static void take_report(struct scan *s, struct memory *m,
                        struct report_parts *r)
{
    struct piece key;
    bool first = true, device = false;
    m->next = m->value_count = 0;
    if (!scan_enter(s, '{'))
        return;
    while (scan_member(s, &first, &key)) {
        if (piece_is(key, "schema"))
            take_text(s, &r->schema);
        else if (piece_is(key, "sonde"))
            take_sonde(s, r);
        else if (piece_is(key, "run"))
            take_run(s, r);
        else if (piece_is(key, "device"))
            device = true, take_device(s, m, r);
        else if (piece_is(key, "findings"))
            r->findings = true, take_findings(s, m);
        else
            scan_skip(s, NULL);
    }
    r->findings = r->findings && device;
}

static int by_column(const void *a, const void *b)
{
    const struct fleet_value *const x = a, *const y = b;
    return x->column < y->column ? -1 : x->column > y->column;
}

/* What tells a GPU from others for ever: its uuid; else where it is, and of a
 * simulated one what it was drawn from. */
static char *id_of(const struct report_parts *r)
{
    const struct fleet_gpu *const g = &r->gpu;
    return g->uuid[0] != '\0'
               ? xstrdup(g->uuid)
               : xasprintf("%s %s %s%s%s", g->host, g->spec, r->model,
                           r->simulated ? " seed " : "",
                           r->simulated ? r->seed : "");
}

static void complete(struct report_parts *r)
{
    char **const texts[] = {&r->gpu.host,  &r->gpu.uuid, &r->gpu.spec,
                            &r->gpu.start, &r->model,    &r->seed,
                            &r->schema,    &r->version};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (*texts[i] == NULL)
            *texts[i] = xstrdup("");
}

/* False if a finding stands there twice: what it says is not known. */
static bool sort_values(struct memory *m)
{
    if (m->value_count > 1)
        qsort(m->values, m->value_count, sizeof *m->values, by_column);
    for (size_t i = 1; i < m->value_count; i++)
        if (m->values[i].column == m->values[i - 1].column)
            return false;
    return true;
}

static void add_gpu(struct gathered *g, struct memory *m,
                    struct report_parts *r, const char *path)
{
    char *const model =
        xasprintf("%s%s", r->model[0] != '\0' ? r->model : "unnamed GPU",
                  r->simulated ? " (simulated)" : "");
    struct fleet_gpu *const gpu = &r->gpu;
    gpu->path = xstrdup(path);
    gpu->id = id_of(r);
    gpu->model = names_number(&m->names->words, model);
    gpu->version = names_number(&m->names->words, r->version);
    gpu->count = (uint32_t)m->value_count;
    gpu->reports = 1;
    gpu->values = xcalloc(m->value_count, sizeof *gpu->values);
    if (m->value_count > 0)
        memcpy(gpu->values, m->values, m->value_count * sizeof *gpu->values);
    g->gpus = xreallocarray(g->gpus, g->count + 1, sizeof *g->gpus);
    g->gpus[g->count++] = *gpu;
    *gpu = (struct fleet_gpu){0};
    free(model);
}

enum { VERSION = 2 };

/* The number behind "sonde-report-"; 0 of anything else. */
static long version_of(const char *schema)
{
    static const char begin[] = "sonde-report-";
    return strncmp(schema, begin, sizeof begin - 1) == 0
               ? strtol(schema + sizeof begin - 1, NULL, 10)
               : 0;
}

static void keep(struct gathered *g, struct memory *m, struct report_parts *r,
                 const char *path)
{
    const long version = version_of(r->schema);
    if (version <= 0)
        gather_note(g, FLEET_FOREIGN, path, NULL);
    else if (version > VERSION)
        gather_note(g, FLEET_NEWER, path, r->schema);
    else if (!r->findings)
        gather_note(g, FLEET_BROKEN, path, "it has no device or no findings");
    else if (!sort_values(m))
        gather_note(g, FLEET_BROKEN, path, "it has a finding twice");
    else
        add_gpu(g, m, r, path);
    if (version > 0 && version < VERSION)
        gather_note(g, FLEET_OLD, path, r->schema);
}

static void free_parts(struct report_parts *r)
{
    free(r->gpu.host);
    free(r->gpu.uuid);
    free(r->gpu.spec);
    free(r->gpu.start);
    free(r->model);
    free(r->seed);
    free(r->schema);
    free(r->version);
}

static void gather_one(struct gathered *g, struct memory *m, struct scan *s,
                       const char *path)
{
    struct report_parts r = {0};
    take_report(s, m, &r);
    complete(&r);
    if (!s->bad)
        keep(g, m, &r, path);
    free_parts(&r);
}

/* The sentence of the reader of single reports, which knows the line. */
static void note_broken(struct gathered *g, const struct scan *s,
                        const char *text, const char *path)
{
    struct results *list = NULL;
    size_t count = 0;
    struct error err = {0};
    if (*s->at == '\0' || strstr(text, "sonde-report-") == NULL) {
        gather_note(g, *s->at == '\0' ? FLEET_CUT : FLEET_FOREIGN, path, NULL);
        return;
    }
    report_read_all(text, path, &list, &count, &err);
    for (size_t i = 0; i < count; i++)
        results_free(&list[i]);
    free(list);
    gather_note(g, FLEET_BROKEN, path,
                err.code != 0 ? err.text : "it is no report in JSON");
}

void gather(struct gathered *g, struct memory *m, const char *text,
            const char *path)
{
    struct scan s = {text, false};
    if (scan_next(&s) == '\0') {
        gather_note(g, FLEET_EMPTY, path, NULL);
        return;
    }
    if (*s.at != '{' && *s.at != '[') {
        gather_note(g, FLEET_FOREIGN, path, NULL);
        return;
    }
    while (!s.bad && scan_next(&s) != '\0') {
        bool first = true;
        if (*s.at == '{') {
            gather_one(g, m, &s, path);
            continue;
        }
        if (!scan_enter(&s, '['))
            break;
        while (scan_item(&s, &first))
            gather_one(g, m, &s, path);
        if (first && !s.bad)
            gather_note(g, FLEET_EMPTY, path, "a list without a report");
    }
    if (s.bad)
        note_broken(g, &s, text, path);
}
