#include "report/merge.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
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

static void add_findings(struct results *into, struct results *from)
{
    /* ISO 8601 in UTC is in the order of its letters. */
    const bool later = strcmp(start_of(from), start_of(into)) >= 0;
    for (size_t i = 0; i < from->finding_count;) {
        const struct finding *const f = from->findings[i];
        const struct finding *const old = results_find(into, f->id);
        const int more = old != NULL ? sureness(f) - sureness(old) : 1;
        if (more > 0 || (more == 0 && later))
            results_take(into, from, i);
        else
            i++;
    }
}

static void add_device(struct results *into, const struct results *from)
{
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

/* How long both took, and what each was. */
static void add_run(struct results *into, const struct results *from)
{
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
