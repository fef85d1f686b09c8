#include "report/merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "finding/judge.h"
#include "report/quantity.h"

typedef const struct value *said_of(const struct results *results,
                                    const char *name);

static struct difference difference_in(const struct results *a,
                                       const struct results *b, said_of *said,
                                       const char *field)
{
    const struct value *const x = said(a, field), *const y = said(b, field);
    if (x == NULL || y == NULL || value_equal(x, y))
        return (struct difference){0};
    return (struct difference){field, x, y};
}

static bool both_say(const struct results *a, const struct results *b,
                     const char *field)
{
    return results_of_device(a, field) != NULL &&
           results_of_device(b, field) != NULL;
}

struct difference merge_difference(const struct results *a,
                                   const struct results *b, bool models)
{
    static const char *const fields[] = {
        "name", "architecture", "compute_capability", "driver", "cuda",
    };
    struct difference d = difference_in(a, b, results_of_run, "simulated");
    if (d.field == NULL && !both_say(a, b, "uuid"))
        d = difference_in(a, b, results_of_device, "spec");
    else if (d.field == NULL && !models)
        d = difference_in(a, b, results_of_device, "uuid");
    for (size_t i = 0; d.field == NULL && i < COUNT_OF(fields); i++)
        d = difference_in(a, b, results_of_device, fields[i]);
    return d;
}

int merge_refuse(const struct results *a, const struct results *b, bool models,
                 struct error *err)
{
    const struct difference d = merge_difference(a, b, models);
    struct buf values = {0};
    quantity_value(&values, d.one, 0, "");
    buf_text(&values, " and ");
    quantity_value(&values, d.other, 0, "");
    error_set(err, ERR_USAGE, "these reports differ in %s: %s", d.field,
              values.data);
    buf_free(&values);
    return err->code;
}

/* How much a finding says. */
static int sureness(const struct finding *f)
{
    switch (f->status) {
    case STATUS_MEASURED:
    case STATUS_REPORTED:
    case STATUS_DERIVED:
        return 3;
    case STATUS_AT_LEAST:
    case STATUS_AT_MOST:
        return 2;
    case STATUS_IN_DOUBT:
        return 1;
    case STATUS_NOT_MEASURED:
    case STATUS_COUNT:
        break;
    }
    return 0;
}

static const char *start_of(const struct results *r)
{
    const struct value *const start = results_of_run(r, "start");
    return start != NULL && start->kind == VALUE_TEXT ? start->text : "";
}

/* What two runs say of one GPU may differ by so much of it: the screen marks
 * what spreads by more (report/cell.c). */
#define APART 0.02

/* Both have a value that was measured, and these cannot be one. */
static bool contradict(const struct finding *a, const struct finding *b)
{
    return a->status != STATUS_REPORTED && b->status != STATUS_REPORTED &&
           judge_pair(a, b, APART).verdict == VERDICT_DIFFERS;
}

/* Where either may be. */
static void widen(struct finding *f, const struct finding *other)
{
    double low = fmin(f->value.number, other->value.number);
    double high = fmax(f->value.number, other->value.number);
    if (f->has_interval) {
        low = fmin(low, f->interval[0]);
        high = fmax(high, f->interval[1]);
    }
    if (other->has_interval) {
        low = fmin(low, other->interval[0]);
        high = fmax(high, other->interval[1]);
    }
    finding_interval(f, low, high, -1);
}

/* The one that stays says what the other run found, and holds both. */
static void doubt(struct finding *f, const struct finding *other)
{
    struct buf why = {0};
    if (f->because != NULL)
        buf_printf(&why, "%s; ", f->because);
    buf_text(&why, "another run of this GPU found ");
    quantity_value(&why, &other->value, 0, other->unit);
    finding_because(f, "%s", buf_string(&why));
    f->status = STATUS_IN_DOUBT;
    f->confidence = -1;
    if (f->value.kind == VALUE_NUMBER && other->value.kind == VALUE_NUMBER)
        widen(f, other);
    buf_free(&why);
}

static struct finding *edit(const struct results *r, const char *id)
{
    size_t i = 0;
    while (i < r->finding_count && strcmp(r->findings[i]->id, id) != 0)
        i++;
    return i < r->finding_count ? r->findings[i] : NULL;
}

/* True if the new one is to be taken; in the one that stays is said what
 * speaks against it. */
static bool is_better(struct finding *f, struct finding *old, bool later)
{
    const int more = old != NULL ? sureness(f) - sureness(old) : 1;
    const bool take = more > 0 || (more == 0 && later);
    if (old != NULL && contradict(old, f))
        doubt(take ? f : old, take ? old : f);
    return take;
}

static void add_findings(struct results *into, struct results *from)
{
    /* ISO 8601 in UTC is in the order of its letters. */
    const bool later = strcmp(start_of(from), start_of(into)) >= 0;
    for (size_t i = 0; i < from->finding_count;) {
        struct finding *const f = from->findings[i];
        if (is_better(f, edit(into, f->id), later))
            results_take(into, from, i);
        else
            i++;
    }
}

/* GPUs of one model that were merged are all named: "GPU-1, GPU-2". */
static void add_uuid(struct results *into, const struct results *from)
{
    const struct value *const one = results_of_device(into, "uuid");
    const struct value *const other = results_of_device(from, "uuid");
    if (one == NULL || other == NULL || one->kind != VALUE_TEXT ||
        other->kind != VALUE_TEXT || strstr(one->text, other->text) != NULL)
        return;
    char *const both = xasprintf("%s, %s", one->text, other->text);
    for (size_t i = 0; i < into->device_count; i++)
        if (strcmp(into->device[i].name, "uuid") == 0) {
            const struct value value = value_text(both);
            value_free(&into->device[i].value);
            into->device[i].value = value;
        }
    free(both);
}

static void add_device(struct results *into, const struct results *from)
{
    add_uuid(into, from);
    for (size_t i = 0; i < from->device_count; i++)
        if (results_of_device(into, from->device[i].name) == NULL)
            results_device(into, from->device[i].name,
                           value_copy(&from->device[i].value));
}

/* "2026-11-23T16:19:21Z sonde isa" of each run that a report is of. */
static void push_runs(struct value *runs, const struct results *r)
{
    const struct value *const merged = results_of_run(r, "merged");
    if (merged != NULL && merged->kind == VALUE_LIST) {
        for (size_t i = 0; i < merged->count; i++)
            value_push(runs, value_copy(&merged->items[i]));
        return;
    }
    struct buf text = {0};
    buf_text(&text, start_of(r));
    for (size_t i = 0; i < r->command_count; i++)
        buf_printf(&text, "%s%s", text.length > 0 ? " " : "", r->command[i]);
    value_push(runs, value_text(buf_string(&text)));
    buf_free(&text);
}

/* How long both took, and what each was; of one run twice nothing. */
static void add_run(struct results *into, const struct results *from)
{
    if (start_of(into)[0] != '\0' &&
        strcmp(start_of(into), start_of(from)) == 0)
        return;
    const struct value *const before = results_of_run(into, "seconds");
    const struct value *const more = results_of_run(from, "seconds");
    if (before != NULL && more != NULL)
        results_run(into, "seconds",
                    value_number(before->number + more->number));
    struct value runs = value_list();
    push_runs(&runs, into);
    push_runs(&runs, from);
    results_run(into, "merged", runs);
}

void merge_add(struct results *into, struct results *from)
{
    add_findings(into, from);
    add_device(into, from);
    add_run(into, from);
}
