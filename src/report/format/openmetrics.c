/*
 * The report as OpenMetrics text 1.0, for Prometheus and what reads like it.
 *
 * A finding is a metric family, named by its id and its unit; a list has a
 * sample an item, whose label is what the item is of.  Words are an Info.
 * Families come in the order of their names, each in one piece, as the
 * specification wants it: two ids that make one name share the family and
 * differ in the label `id`.  What has no number is a sample of sonde_missing.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "finding/axis.h"
#include "report/label.h"
#include "report/number.h"
#include "report/quantity.h"
#include "report/report.h"

/* What a family is of: a number of a finding, or words. */
enum part { VALUE, LOW, HIGH, WORDS, MISSING, DEVICE };

struct entry {
    char *family;
    const char *unit; /* "" where it has none */
    const char *gpu;
    enum part part;
    const struct finding *finding; /* NULL: of the device */
    const struct results *results;
    size_t order;
};

static const char missing[] = "sonde_missing";

struct entries {
    struct entry *at;
    size_t count;
};

/* ---- names --------------------------------------------------------------- */

/* The units of OpenMetrics are words; a name ends with its unit. */
static const struct {
    const char *unit, *word;
} units[] = {
    {"B", "bytes"},
    {"B/s", "bytes_per_second"},
    {"Hz", "hertz"},
    {"ns", "nanoseconds"},
    {"B/clk/SM", "bytes_per_cycle_per_sm"},
    {"/clk/SM", "per_cycle_per_sm"},
    {"/s", "per_second"},
    {"op/s", "operations_per_second"},
    {"W", "watts"},
    {"%", "percent"},
};

/* As names may be: letters, digits, _ (here without : and capitals kept). */
static void put_name(struct buf *out, const char *text)
{
    for (; *text != '\0'; text++)
        buf_append(out, isalnum((unsigned char)*text) ? text : "_", 1);
}

/* The word of a unit; "" of none.  A name that ends with _info is an Info's. */
static char *unit_word(const char *unit)
{
    struct buf out = {0};
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (strcmp(units[i].unit, unit) == 0)
            return xstrdup(units[i].word);
    for (; *unit != '\0'; unit++)
        if (*unit == '/')
            buf_text(&out, "_per_");
        else
            put_name(&out, (const char[]){*unit, '\0'});
    if (strcmp(buf_string(&out), "info") == 0)
        buf_clear(&out);
    return buf_take(&out);
}

static bool ends_with(const struct buf *name, const char *word)
{
    const size_t length = strlen(word);
    return name->length > length &&
           name->data[name->length - length - 1] == '_' &&
           strcmp(name->data + name->length - length, word) == 0;
}

static char *family_of(const struct finding *f, enum part part)
{
    struct buf name = {0};
    char *const unit = unit_word(part == WORDS ? "" : f->unit);
    buf_text(&name, "sonde_");
    put_name(&name, f->id);
    buf_text(&name, part == LOW ? "_low" : part == HIGH ? "_high" : "");
    if (unit[0] != '\0' && !ends_with(&name, unit))
        buf_printf(&name, "_%s", unit);
    if (ends_with(&name, "info"))
        buf_text(&name, "_value");
    free(unit);
    return buf_take(&name);
}

/* ---- what there is ------------------------------------------------------- */

static bool is_number(const struct value *value)
{
    return value->kind == VALUE_BOOL ||
           (value->kind == VALUE_NUMBER && isfinite(value->number));
}

static bool has_words(const struct value *value)
{
    bool words = value->kind == VALUE_TEXT ||
                 (value->kind == VALUE_LIST && value->count == 0);
    for (size_t i = 0; i < value->count; i++)
        words |= value->items[i].kind == VALUE_TEXT ||
                 value->items[i].kind == VALUE_LIST;
    return words;
}

static size_t numbers_in(const struct value *value)
{
    size_t count = is_number(value);
    for (size_t i = 0; i < value->count; i++)
        count += is_number(&value->items[i]);
    return count;
}

/* True if it has not as many as it should. */
static bool is_told_missing(const struct finding *f)
{
    const size_t wanted = f->value.kind == VALUE_LIST ? f->value.count : 1;
    return !has_words(&f->value) && numbers_in(&f->value) < wanted;
}

static void add(struct entries *all, const struct entry *like, enum part part)
{
    all->at = xreallocarray(all->at, all->count + 1, sizeof *all->at);
    struct entry *const e = &all->at[all->count];
    *e = *like;
    e->part = part;
    e->order = all->count++;
    e->unit =
        part == VALUE || part == LOW || part == HIGH ? e->finding->unit : "";
    e->family = part == MISSING  ? xstrdup(missing)
                : part == DEVICE ? xstrdup("sonde_gpu")
                                 : family_of(e->finding, part);
}

static void add_finding(struct entries *all, const struct entry *like)
{
    const struct finding *const f = like->finding;
    if (has_words(&f->value)) {
        add(all, like, WORDS);
        return;
    }
    if (is_told_missing(f))
        add(all, like, MISSING);
    if (numbers_in(&f->value) == 0)
        return;
    add(all, like, VALUE);
    if (f->has_interval && f->value.kind == VALUE_NUMBER) {
        add(all, like, LOW);
        add(all, like, HIGH);
    }
}

static struct entries collect(const struct results *const *results,
                              size_t count, char *const *labels)
{
    struct entries all = {0};
    for (size_t i = 0; i < count; i++) {
        struct entry e = {.gpu = labels[i], .results = results[i]};
        add(&all, &e, DEVICE);
        for (size_t k = 0; k < results[i]->finding_count; k++) {
            e.finding = results[i]->findings[k];
            if (!e.finding->skipped)
                add_finding(&all, &e);
        }
    }
    return all;
}

static int by_family(const void *a, const void *b)
{
    const struct entry *const x = a, *const y = b;
    const int order = strcmp(x->family, y->family);
    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

/* ---- samples ------------------------------------------------------------- */

/* Of a label's value and of HELP: \, " and the end of a line are escaped. */
static void put_escaped(struct buf *out, const char *text)
{
    char *const plain = text_plain(text);
    for (const char *c = plain; *c != '\0'; c++) {
        if (strchr("\\\"", *c) != NULL)
            buf_text(out, "\\");
        buf_append(out, c, 1);
    }
    free(plain);
}

static void put_label(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, "%s%s=\"", out->data[out->length - 1] == '{' ? "" : ",",
               name);
    put_escaped(out, value);
    buf_text(out, "\"");
}

static void put_value_label(struct buf *out, const char *name,
                            const struct value *value)
{
    struct buf text = {0};
    if (value->kind == VALUE_NUMBER)
        number_put(&text, value->number);
    else
        quantity_item(&text, value);
    put_label(out, name, buf_string(&text));
    buf_free(&text);
}

/* NAME{gpu="…",id="…",status="…" of what is told. */
static void begin_sample(struct buf *out, const struct entry *e)
{
    const bool info = e->part == WORDS || e->part == DEVICE;
    buf_printf(out, "%s%s{", e->family, info ? "_info" : "");
    put_label(out, "gpu", e->gpu);
    if (e->finding == NULL)
        return;
    put_label(out, "id", e->finding->id);
    if (e->part != MISSING)
        put_label(out, "status", finding_status_name(e->finding->status));
}

static void end_sample(struct buf *out, double number)
{
    buf_text(out, "} ");
    number_put(out, number);
    buf_text(out, "\n");
}

/* Labels must tell samples apart: where an axis says a value twice it cannot,
 * so items are counted, too. */
static bool repeats(const struct axis *axis)
{
    for (size_t i = 0; i < axis->values.count; i++)
        for (size_t j = 0; j < i; j++)
            if (value_equal(&axis->values.items[i], &axis->values.items[j]))
                return true;
    return false;
}

static void put_item(struct buf *out, const struct entry *e,
                     const struct axis *axis, bool counted, size_t i)
{
    const struct value *const item = &e->finding->value.items[i];
    if (e->part == VALUE && !is_number(item))
        return;
    begin_sample(out, e);
    put_value_label(out, axis->name, &axis->values.items[i]);
    if (counted)
        put_value_label(
            out, "nth",
            &(struct value){.kind = VALUE_NUMBER, .number = (double)i});
    if (e->part == WORDS)
        put_value_label(out, "value", item);
    end_sample(out, e->part == WORDS ? 1 : item->number);
}

static void put_items(struct buf *out, const struct entry *e)
{
    struct axis axis = axis_of(e->finding);
    const bool counted = repeats(&axis);
    for (size_t i = 0; i < e->finding->value.count; i++)
        put_item(out, e, &axis, counted, i);
    value_free(&axis.values);
}

static void put_words(struct buf *out, const struct entry *e)
{
    begin_sample(out, e);
    put_value_label(out, "value", &e->finding->value);
    end_sample(out, 1);
}

static char *device_label(const struct protocol_entry *entry)
{
    struct buf name = {0};
    buf_text(&name, "device_");
    put_name(&name, entry->name);
    return buf_take(&name);
}

/* True if an entry before this one has its label. */
static bool is_labelled(const struct results *r, size_t at, const char *label)
{
    bool found = false;
    for (size_t i = 0; i < at && !found; i++) {
        char *const other = device_label(&r->device[i]);
        found = strcmp(other, label) == 0;
        free(other);
    }
    return found;
}

static void put_device(struct buf *out, const struct entry *e)
{
    const struct results *const r = e->results;
    begin_sample(out, e);
    for (size_t i = 0; i < r->device_count; i++) {
        char *const label = device_label(&r->device[i]);
        if (!is_labelled(r, i, label))
            put_value_label(out, label, &r->device[i].value);
        free(label);
    }
    end_sample(out, 1);
}

static void put_samples(struct buf *out, const struct entry *e)
{
    const struct finding *const f = e->finding;
    if (e->part == DEVICE) {
        put_device(out, e);
    } else if (e->part != MISSING && f->value.count > 0) {
        put_items(out, e);
    } else if (e->part == WORDS) {
        put_words(out, e);
    } else {
        begin_sample(out, e);
        end_sample(out, e->part == MISSING ? 1
                        : e->part == LOW   ? f->interval[0]
                        : e->part == HIGH  ? f->interval[1]
                                           : f->value.number);
    }
}

/* ---- families ------------------------------------------------------------ */

static bool is_info(const struct entry *e)
{
    return e->part == WORDS || e->part == DEVICE;
}

/* Of a method the first sentence: it stands with each family. */
static char *help_of(const struct entry *e)
{
    if (e->part == DEVICE)
        return xstrdup("what was measured");
    if (e->part == MISSING)
        return xstrdup("1: the finding, or an item of it, has no number");
    const char *const method =
        e->finding->method != NULL ? e->finding->method : "";
    const char *const end = strstr(method, ". ");
    return end != NULL ? xstrndup(method, (size_t)(end - method) + 1)
                       : xstrdup(method);
}

static void begin_family(struct buf *out, const struct entry *e)
{
    char *const unit = unit_word(e->unit);
    buf_printf(out, "# TYPE %s %s\n", e->family, is_info(e) ? "info" : "gauge");
    if (unit[0] != '\0')
        buf_printf(out, "# UNIT %s %s\n", e->family, unit);
    char *const help = help_of(e);
    if (help[0] != '\0') {
        buf_printf(out, "# HELP %s ", e->family);
        put_escaped(out, help);
        buf_text(out, "\n");
    }
    free(help);
    free(unit);
}

/* A family is of one type and unit, those of its first entry. */
static bool fits(const struct entry *first, const struct entry *e)
{
    return is_info(first) == is_info(e) && strcmp(first->unit, e->unit) == 0;
}

/* Of entries of one name that cannot be of one family the finding is missing;
 * the order is to be made again. */
static void part_misfits(struct entries *all)
{
    const struct entry *first = NULL;
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        struct entry e = all->at[i];
        if (first != NULL && strcmp(first->family, e.family) == 0 &&
            !fits(first, &e)) {
            const bool told =
                e.part == LOW || e.part == HIGH || is_told_missing(e.finding);
            free(e.family);
            if (told)
                continue;
            e.family = xstrdup(missing);
            e.unit = "";
            e.part = MISSING;
        } else if (first == NULL || strcmp(first->family, e.family) != 0) {
            first = &all->at[kept];
        }
        all->at[kept++] = e;
    }
    all->count = kept;
}

static void put_families(struct buf *out, const struct entries *all)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct entry *const e = &all->at[i];
        if (i == 0 || strcmp(e[-1].family, e->family) != 0)
            begin_family(out, e);
        put_samples(out, e);
    }
}

static int openmetrics_write(const struct results *const *results, size_t count,
                             const struct report_style *style, struct buf *out,
                             struct error *err)
{
    char **const labels = labels_of(results, count);
    struct entries all = collect(results, count, labels);
    (void)style;
    (void)err;
    qsort(all.at, all.count, sizeof *all.at, by_family);
    part_misfits(&all);
    qsort(all.at, all.count, sizeof *all.at, by_family);
    put_families(out, &all);
    buf_text(out, "# EOF\n");
    for (size_t i = 0; i < all.count; i++)
        free(all.at[i].family);
    free(all.at);
    labels_free(labels, count);
    return 0;
}

const struct report_format report_openmetrics = {
    .name = "prom",
    .summary = "OpenMetrics text, for Prometheus",
    .write_several = openmetrics_write,
};
