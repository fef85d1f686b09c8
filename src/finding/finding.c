#include "finding/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "finding/curve.h"

static const char *const status_names[] = {
#define X(id, name) name,
    FINDING_STATUSES(X)
#undef X
};
_Static_assert(COUNT_OF(status_names) == STATUS_COUNT, "one name a status");

const char *finding_status_name(enum finding_status status)
{
    return status_names[status];
}

enum finding_status finding_status_find(const char *name)
{
    int i = 0;
    while (i < STATUS_COUNT && strcmp(status_names[i], name) != 0)
        i++;
    return (enum finding_status)i;
}

struct value value_number(double number)
{
    return (struct value){.kind = VALUE_NUMBER, .number = number};
}

struct value value_text(const char *text)
{
    return (struct value){.kind = VALUE_TEXT, .text = xstrdup(text)};
}

struct value value_bool(bool yes)
{
    return (struct value){.kind = VALUE_BOOL, .number = yes};
}

struct value value_list(void)
{
    return (struct value){.kind = VALUE_LIST};
}

void value_push(struct value *list, struct value item)
{
    list->items = xreallocarray(list->items, list->count + 1, sizeof item);
    list->items[list->count++] = item;
}

struct value value_numbers(const double *at, size_t count)
{
    struct value list = value_list();
    for (size_t i = 0; i < count; i++)
        value_push(&list, value_number(at[i]));
    return list;
}

struct value value_bits(uint64_t mask)
{
    struct value list = value_list();
    for (; mask != 0; mask &= mask - 1)
        value_push(&list, value_number(__builtin_ctzll(mask)));
    return list;
}

struct value value_copy(const struct value *value)
{
    struct value copy = *value;
    if (value->text != NULL)
        copy.text = xstrdup(value->text);
    copy.items = NULL;
    copy.count = 0;
    for (size_t i = 0; i < value->count; i++)
        value_push(&copy, value_copy(&value->items[i]));
    return copy;
}

void value_free(struct value *value)
{
    free(value->text);
    for (size_t i = 0; i < value->count; i++)
        value_free(&value->items[i]);
    free(value->items);
    *value = (struct value){0};
}

bool value_equal(const struct value *a, const struct value *b)
{
    if (a->kind != b->kind || a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!value_equal(&a->items[i], &b->items[i]))
            return false;
    if (a->kind == VALUE_TEXT)
        return strcmp(a->text, b->text) == 0;
    return !(a->number < b->number || a->number > b->number);
}

static void free_entries(struct protocol_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(entries[i].name);
        value_free(&entries[i].value);
    }
    free(entries);
}

static void free_strings(char **strings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(strings[i]);
    free(strings);
}

static void finding_clear(struct finding *f)
{
    free(f->id);
    free(f->unit);
    free(f->method);
    free(f->because);
    free(f->study);
    value_free(&f->value);
    free_entries(f->protocol, f->protocol_count);
    free_strings(f->evidence, f->evidence_count);
}

/* Where the id is in `places`, or could be: a finding's place in the list and
 * one, or 0.  At most half of them are taken. */
static size_t *place_of(const struct results *r, const char *id)
{
    size_t at = (size_t)hash_long_text(id);
    for (;; at++) {
        size_t *const place = &r->places[at & (r->place_count - 1)];
        if (*place == 0 || strcmp(r->findings[*place - 1]->id, id) == 0)
            return place;
    }
}

/* Anew, with room for twice as many as there are. */
static void place_all(struct results *r)
{
    enum { LEAST = 64 };
    size_t count = LEAST;
    while (count < 4 * r->finding_count)
        count *= 2;
    size_t *const places = xcalloc(count, sizeof *places);
    free(r->places);
    r->places = places;
    r->place_count = count;
    for (size_t i = 0; i < r->finding_count; i++)
        *place_of(r, r->findings[i]->id) = i + 1;
}

static struct finding *slot_of(const struct results *results, const char *id)
{
    if (results->place_count == 0) {
        for (size_t i = 0; i < results->finding_count; i++)
            if (strcmp(results->findings[i]->id, id) == 0)
                return results->findings[i];
        return NULL;
    }
    const size_t place = *place_of(results, id);
    return place > 0 ? results->findings[place - 1] : NULL;
}

const struct finding *results_find(const struct results *results,
                                   const char *id)
{
    return slot_of(results, id);
}

static void push_finding(struct results *r, struct finding *f)
{
    if (2 * (r->finding_count + 1) > r->place_count)
        place_all(r);
    r->findings = xreallocarray(r->findings, r->finding_count + 1,
                                sizeof *r->findings);
    r->findings[r->finding_count++] = f;
    *place_of(r, f->id) = r->finding_count;
}

/* What runs out of memory leaves the results as they were: so here and below
 * all is made before anything is put into its place. */
static struct finding *add(struct results *r, const struct finding *made)
{
    struct finding *const f = xmalloc(sizeof *f);
    *f = *made;
    push_finding(r, f);
    return f;
}

struct finding *results_add(struct results *results, const char *id,
                            const char *study)
{
    const struct finding made = {.id = xstrdup(id),
                                 .unit = xstrdup(""),
                                 .study = xstrdup(study),
                                 .status = STATUS_NOT_MEASURED,
                                 .confidence = -1};
    struct finding *const old = slot_of(results, id);
    if (old == NULL)
        return add(results, &made);
    finding_clear(old);
    *old = made;
    return old;
}

static void leave_out(struct results *results, size_t i)
{
    results->finding_count--;
    memmove(&results->findings[i], &results->findings[i + 1],
            (results->finding_count - i) * sizeof *results->findings);
    results->place_count = 0; /* what came behind it has another now */
}

void results_take(struct results *into, struct results *from, size_t i)
{
    struct finding *const f = from->findings[i];
    struct finding *const old = slot_of(into, f->id);
    leave_out(from, i);
    results_take_curves(into, from, f->id);
    if (old == NULL) {
        push_finding(into, f);
        return;
    }
    finding_clear(old);
    *old = *f;
    free(f);
}

void results_drop(struct results *results, const struct finding *finding)
{
    size_t i = 0;
    while (results->findings[i] != finding)
        i++;
    results->dropped = xreallocarray(
        results->dropped, results->dropped_count + 1, sizeof *results->dropped);
    results->dropped[results->dropped_count] = xstrdup(finding->id);
    results->dropped_count++;
    finding_clear(results->findings[i]);
    free(results->findings[i]);
    leave_out(results, i);
}

bool results_dropped(const struct results *results, const char *id)
{
    for (size_t i = 0; i < results->dropped_count; i++)
        if (strcmp(results->dropped[i], id) == 0)
            return true;
    return false;
}

struct finding *results_edit(struct results *results, const char *component,
                             const char *attribute)
{
    const size_t length = strlen(component);
    for (size_t i = 0; i < results->finding_count; i++) {
        const char *const id = results->findings[i]->id;
        if (strncmp(id, component, length) == 0 && id[length] == '.' &&
            strcmp(id + length + 1, attribute) == 0)
            return results->findings[i];
    }
    return NULL;
}

void results_free(struct results *results)
{
    for (size_t i = 0; i < results->dropped_count; i++)
        free(results->dropped[i]);
    free(results->dropped);
    for (size_t i = 0; i < results->finding_count; i++) {
        finding_clear(results->findings[i]);
        free(results->findings[i]);
    }
    free(results->findings);
    free(results->places);
    results_free_curves(results);
    free(results->version);
    free(results->commit);
    free(results->notice);
    free_strings(results->command, results->command_count);
    free_entries(results->device, results->device_count);
    free_entries(results->run, results->run_count);
    *results = (struct results){0};
}

static void push_entry(struct protocol_entry **entries, size_t *count,
                       const char *name, struct value value)
{
    *entries = xreallocarray(*entries, *count + 1, sizeof **entries);
    char *const copy = xstrdup(name);
    (*entries)[(*count)++] =
        (struct protocol_entry){.name = copy, .value = value};
}

void results_device(struct results *results, const char *name,
                    struct value value)
{
    push_entry(&results->device, &results->device_count, name, value);
}

static struct value *entry_value(struct protocol_entry *entries, size_t count,
                                 const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(entries[i].name, name) == 0)
            return &entries[i].value;
    return NULL;
}

void results_run(struct results *results, const char *name, struct value value)
{
    struct value *const old =
        entry_value(results->run, results->run_count, name);
    if (old == NULL) {
        push_entry(&results->run, &results->run_count, name, value);
        return;
    }
    value_free(old);
    *old = value;
}

const struct value *results_of_device(const struct results *results,
                                      const char *name)
{
    return entry_value(results->device, results->device_count, name);
}

const struct value *results_of_run(const struct results *results,
                                   const char *name)
{
    return entry_value(results->run, results->run_count, name);
}

void finding_set(struct finding *f, enum finding_status status,
                 struct value value, const char *unit)
{
    finding_unit(f, unit);
    finding_value(f, status, value);
}

void finding_unit(struct finding *f, const char *unit)
{
    char *const copy = xstrdup(unit);
    free(f->unit);
    f->unit = copy;
}

void finding_value(struct finding *f, enum finding_status status,
                   struct value value)
{
    value_free(&f->value);
    f->status = status;
    f->value = value;
}

void finding_interval(struct finding *f, double low, double high,
                      double confidence)
{
    f->has_interval = true;
    f->interval[0] = low;
    f->interval[1] = high;
    f->confidence = confidence;
}

static void because(struct finding *f, const char *fmt, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, fmt, args);
    char *const copy = xstrdup(text);
    free(f->because);
    f->because = copy;
}

void finding_because(struct finding *f, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    because(f, fmt, args);
    va_end(args);
}

void finding_none(struct finding *f, const char *fmt, ...)
{
    value_free(&f->value);
    f->status = STATUS_NOT_MEASURED;
    finding_unit(f, "");
    va_list args;
    va_start(args, fmt);
    because(f, fmt, args);
    va_end(args);
}

void finding_skip(struct finding *f, const char *why)
{
    finding_none(f, "%s", why);
    f->skipped = true;
}

void finding_method(struct finding *f, const char *method)
{
    char *const copy = xstrdup(method);
    free(f->method);
    f->method = copy;
}

void finding_protocol(struct finding *f, const char *name, struct value value)
{
    push_entry(&f->protocol, &f->protocol_count, name, value);
}

const struct value *finding_said(const struct finding *f, const char *name)
{
    return entry_value(f->protocol, f->protocol_count, name);
}

void finding_evidence(struct finding *f, const char *experiment)
{
    f->evidence =
        xreallocarray(f->evidence, f->evidence_count + 1, sizeof *f->evidence);
    f->evidence[f->evidence_count] = xstrdup(experiment);
    f->evidence_count++;
}

bool finding_cites(const struct finding *f, const char *experiment)
{
    for (size_t i = 0; i < f->evidence_count; i++)
        if (strcmp(f->evidence[i], experiment) == 0)
            return true;
    return false;
}

void finding_cite(struct finding *f, const char *experiment)
{
    if (experiment != NULL && !finding_cites(f, experiment))
        finding_evidence(f, experiment);
}

void finding_cite_as(struct finding *f, const struct finding *other)
{
    for (size_t i = 0; other != NULL && i < other->evidence_count; i++)
        finding_cite(f, other->evidence[i]);
}

void finding_copy(struct finding *f, const struct finding *from)
{
    finding_set(f, from->status, value_copy(&from->value),
                from->unit != NULL ? from->unit : "");
    if (from->has_interval)
        finding_interval(f, from->interval[0], from->interval[1],
                         from->confidence);
    char *const why = from->because != NULL ? xstrdup(from->because) : NULL;
    free(f->because);
    f->because = why;
    f->fallen = from->fallen;
    for (size_t i = 0; i < from->protocol_count; i++)
        finding_protocol(f, from->protocol[i].name,
                         value_copy(&from->protocol[i].value));
    finding_cite_as(f, from);
}

bool finding_number(const struct finding *f, double *number)
{
    if (f == NULL || f->value.kind != VALUE_NUMBER ||
        (f->status != STATUS_MEASURED && f->status != STATUS_REPORTED &&
         f->status != STATUS_DERIVED))
        return false;
    *number = f->value.number;
    return true;
}
