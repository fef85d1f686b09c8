#include "report/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* How a unit scales: by `step` to each next name. */
struct unit {
    const char *unit;
    double step;
    const char *names[6]; /* NULL ends */
};

/* Memory is counted in powers of two, rates and times in powers of ten. */
static const struct unit units[] = {
    {"B", 1024, {"B", "KiB", "MiB", "GiB", "TiB", NULL}},
    {"B/s", 1000, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", NULL}},
    {"/s", 1000, {"/s", "k/s", "M/s", "G/s", "T/s", NULL}},
    {"op/s", 1000, {"op/s", "kop/s", "Mop/s", "Gop/s", "Top/s", NULL}},
    {"Hz", 1000, {"Hz", "kHz", "MHz", "GHz", "THz", NULL}},
    {"ns", 1000, {"ns", "µs", "ms", "s", NULL}},
};

bool quantity_scales(const char *unit)
{
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (strcmp(units[i].unit, unit) == 0)
            return true;
    return false;
}

/* The largest name of which the number has at least one. */
const char *quantity_scale(double number, const char *unit, double *factor)
{
    *factor = 1;
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (strcmp(units[i].unit, unit) != 0)
            continue;
        const char *const *name = units[i].names;
        while (name[1] != NULL && fabs(number) >= *factor * units[i].step) {
            *factor *= units[i].step;
            name++;
        }
        return *name;
    }
    return unit;
}

static void trim_zeros(char *text)
{
    size_t length = strlen(text);
    if (strchr(text, '.') == NULL)
        return;
    while (text[length - 1] == '0')
        text[--length] = '\0';
    if (text[length - 1] == '.')
        text[--length] = '\0';
}

/* Whole numbers in full, others with about four digits. */
static void put_number(struct buf *out, double number)
{
    const double size = fabs(number);
    const bool whole = !islessgreater(number, nearbyint(number));
    char text[512];
    if (whole && size < 1e15)
        snprintf(text, sizeof text, "%.0f", number);
    else if (size < 1 || size >= 1e15)
        snprintf(text, sizeof text, "%.3g", number);
    else
        snprintf(text, sizeof text, "%.*f",
                 size < 100    ? 2
                 : size < 1000 ? 1
                               : 0,
                 number);
    if (strchr(text, 'e') == NULL)
        trim_zeros(text);
    buf_text(out, text);
}

/* A doubt has two digits: a third would be doubted itself. */
static void put_doubt(struct buf *out, double doubt)
{
    if (doubt >= 100)
        buf_printf(out, " ± %.0f", doubt);
    else
        buf_printf(out, " ± %.2g", doubt);
}

void quantity_number(struct buf *out, double number, double doubt,
                     const char *unit)
{
    double factor;
    if (!isfinite(number)) {
        buf_text(out, "no number");
        return;
    }
    const char *const name = quantity_scale(number, unit, &factor);
    put_number(out, number / factor);
    if (doubt > 0)
        put_doubt(out, doubt / factor);
    if (name[0] != '\0')
        buf_printf(out, " %s", name);
}

/* The largest number's name and factor; sizes stay in bytes, since most lists
 * of them are not of round ones. */
static const char *scale_list(const struct value *list, const char *unit,
                              double *factor)
{
    double most = 0;
    *factor = 1;
    if (strcmp(unit, "B") == 0)
        return unit;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].kind == VALUE_NUMBER)
            most = fmax(most, fabs(list->items[i].number));
    return quantity_scale(most, unit, factor);
}

/* The items of a list but those at its end that were not measured: the unit
 * follows these. */
static size_t known_items(const struct value *list)
{
    size_t end = list->count;
    while (end > 0 && list->items[end - 1].kind == VALUE_NONE)
        end--;
    return end;
}

/* Lists in a list are address bits that are XORed. */
static void put_list(struct buf *out, const struct value *list,
                     const char *between, const char *unit)
{
    double factor;
    const char *const name = scale_list(list, unit, &factor);
    const size_t end = known_items(list);
    for (size_t i = 0; i < list->count; i++) {
        if (i > 0)
            buf_text(out, between);
        if (list->items[i].kind == VALUE_NUMBER)
            put_number(out, list->items[i].number / factor);
        else if (list->items[i].kind == VALUE_LIST)
            put_list(out, &list->items[i], "^", "");
        else
            quantity_value(out, &list->items[i], 0, "");
        if (i + 1 == end && name[0] != '\0')
            buf_printf(out, " %s", name);
    }
    if (list->count == 0)
        buf_text(out, "none");
}

void quantity_value(struct buf *out, const struct value *value, double doubt,
                    const char *unit)
{
    switch (value->kind) {
    case VALUE_NUMBER:
        quantity_number(out, value->number, doubt, unit);
        break;
    case VALUE_TEXT:
        buf_text(out, value->text);
        break;
    case VALUE_BOOL:
        buf_text(out, value->number > 0 ? "yes" : "no");
        break;
    case VALUE_LIST:
        put_list(out, value, ", ", unit);
        break;
    case VALUE_NONE: /* in a list */
        buf_text(out, "–");
        break;
    }
}

void quantity_item(struct buf *out, const struct value *item)
{
    if (item->kind == VALUE_LIST)
        put_list(out, item, "^", "");
    else
        quantity_value(out, item, 0, "");
}
