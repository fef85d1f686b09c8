#include "report/cell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/quantity.h"
#include "report/storage.h"

/* An interval of which either end is further from the value than this share of
 * it shows in the two or three digits of a cell. */
#define WIDE 0.02

static bool is_wide(const struct finding *f)
{
    return f->has_interval && f->value.kind == VALUE_NUMBER &&
           fmax(f->interval[1] - f->value.number,
                f->value.number - f->interval[0]) >
               WIDE * fabs(f->value.number);
}

/* The text with the mark of how far it holds; takes the text. */
static char *marked(const struct finding *f, char *text)
{
    const char *before = "", *after = "";
    if (f->status == STATUS_AT_LEAST)
        before = "≥";
    else if (f->status == STATUS_AT_MOST)
        before = "≤";
    else if (f->status == STATUS_IN_DOUBT || f->because != NULL)
        before = "?";
    else if (f->status == STATUS_REPORTED)
        before = "(", after = ")";
    else if (is_wide(f))
        before = "~";
    char *const whole = xasprintf("%s%s%s", before, text, after);
    free(text);
    return whole;
}

char *cell_number(const struct finding *f, cell_put *put)
{
    struct buf out = {0};
    if (f == NULL || f->skipped)
        return NULL;
    if (f->status == STATUS_NOT_MEASURED)
        return xstrdup("–");
    if (f->value.kind != VALUE_NUMBER)
        return NULL;
    put(&out, f->value.number, f->unit);
    return marked(f, buf_take(&out));
}

void cell_put_quantity(struct buf *out, double number, const char *unit)
{
    quantity_number(out, number, 0, unit);
}

void cell_put_plain(struct buf *out, double number, const char *unit)
{
    (void)unit;
    quantity_number(out, number, 0, "");
}

void cell_put_short(struct buf *out, double number, const char *unit)
{
    char text[32];
    (void)unit;
    if (!isfinite(number))
        snprintf(text, sizeof text, "–");
    else if (fabs(number) >= 100)
        snprintf(text, sizeof text, "%.0f", number);
    else
        snprintf(text, sizeof text, "%.3g", number);
    buf_text(out, text);
}

char *cell_line(const struct results *r, const char *component)
{
    const struct finding *const sector =
        storage_finding(r, component, "sector");
    char *const line =
        cell_number(storage_finding(r, component, "line"), cell_put_plain);
    char *const part = cell_number(sector, cell_put_plain);
    char *text = NULL;
    if (line != NULL && part != NULL && strcmp(line, part) != 0)
        text = xasprintf("%s/%s B", line, part);
    else if (line != NULL || part != NULL)
        text =
            xasprintf("%s%s", line != NULL ? line : part,
                      strcmp(line != NULL ? line : part, "–") != 0 ? " B" : "");
    free(line);
    free(part);
    return text;
}

/* Ways of each set, equal ones run together: "17 + 6 × 8". */
static char *unequal_sets(const struct finding *f)
{
    struct buf out = {0};
    const struct value *const list = &f->value;
    for (size_t i = 0, end; i < list->count; i = end) {
        for (end = i + 1; end < list->count; end++)
            if (!value_equal(&list->items[i], &list->items[end]))
                break;
        buf_text(&out, i > 0 ? " + " : "");
        if (end - i > 1)
            buf_printf(&out, "%zu × ", end - i);
        quantity_value(&out, &list->items[i], 0, "");
    }
    return marked(f, buf_take(&out));
}

char *cell_sets(const struct results *r, const char *component)
{
    const struct finding *const list =
        storage_finding(r, component, "set_ways");
    if (list != NULL && list->value.kind == VALUE_LIST)
        return unequal_sets(list);
    char *const sets =
        cell_number(storage_finding(r, component, "sets"), cell_put_plain);
    char *const ways =
        cell_number(storage_finding(r, component, "ways"), cell_put_plain);
    char *text = NULL;
    if (sets != NULL && ways != NULL && strcmp(sets, "–") == 0 &&
        strcmp(ways, "–") == 0)
        text = xstrdup("–");
    else if (sets != NULL || ways != NULL)
        text = xasprintf("%s × %s", sets != NULL ? sets : "–",
                         ways != NULL ? ways : "–");
    free(sets);
    free(ways);
    return text;
}

char *cell_policy(const struct results *r, const char *component)
{
    const struct finding *const f = storage_finding(r, component, "policy");
    if (f == NULL || f->value.kind != VALUE_TEXT)
        return f != NULL && f->status == STATUS_NOT_MEASURED && !f->skipped
                   ? xstrdup("–")
                   : NULL;
    return marked(f, xstrdup(f->value.text));
}

const struct finding *cell_cost(const struct results *r, const char *component,
                                const char **plus)
{
    const struct finding *const f = storage_finding(r, component, "latency");
    *plus = f == NULL ? "+" : "";
    return f != NULL ? f : storage_finding(r, component, "miss_penalty");
}

char *cell_users(const struct results *r, const char *component)
{
    double per_sm, sms, all = 0;
    if (finding_number(storage_finding(r, component, "per_sm"), &per_sm) &&
        per_sm > 1)
        return xasprintf("1/%.0f SM", per_sm);
    const struct finding *const f =
        storage_finding(r, component, "sms_sharing");
    finding_number(storage_finding(r, "sm", "count"), &all);
    if (!finding_number(f, &sms))
        return f != NULL && !f->skipped ? cell_number(f, cell_put_plain) : NULL;
    if (sms <= 1)
        return xstrdup("SM");
    return sms >= all && all > 0 ? xstrdup("GPU") : xasprintf("%.0f SMs", sms);
}
