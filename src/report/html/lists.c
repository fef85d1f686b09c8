/*
 * Findings that are lists: against an axis of numbers as a line, of words as
 * bars, by SM as a map, and address bits as masks.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/curve/sawtooth.h"
#include "base/mem.h"
#include "base/text.h"
#include "finding/axis.h"
#include "report/html/figure.h"
#include "report/html/plots.h"
#include "report/phrase.h"
#include "report/plot/bars.h"
#include "report/plot/cells.h"
#include "report/plot/chart.h"
#include "report/plot/pairs.h"
#include "report/quantity.h"
#include "report/storage.h"
#include "report/tree.h"

/* Items that are drawn; nobody sees more on a plot, or in a table. */
enum { ITEMS_MOST = 1024 };

struct list {
    const struct html *h;
    const struct finding *f;
    struct axis axis;
    size_t count;
    char *label;           /* the whole */
    char *x_name, *y_name; /* what it is against, what the numbers are */
    struct arena arena;
};

static size_t items_of(const struct finding *f)
{
    return f->value.count < ITEMS_MOST ? f->value.count : ITEMS_MOST;
}

/* "read bandwidth" of "l2.read_bandwidth_by_sms"; of an attribute that is
 * nothing else, "value". */
static char *name_of_numbers(const struct finding *f)
{
    const char *const dot = strrchr(f->id, '.');
    if (text_glob("memory.patterns_*", f->id))
        return xstrdup("latency");
    char *const words = tree_words(dot != NULL ? dot + 1 : f->id);
    char *const by = strstr(words, " by ");
    if (by != NULL)
        *by = '\0';
    if (strncmp(words, "by ", 3) == 0)
        snprintf(words, strlen(words) + 1, "%s",
                 strchr(f->unit, '/') != NULL ? "rate" : "value");
    return words;
}

static double number_of(const struct value *v)
{
    return v->kind == VALUE_NUMBER || v->kind == VALUE_BOOL ? v->number : NAN;
}

/* The numbers of a list of values; NaN where there is none. */
static double *numbers_of(struct list *l, const struct value *items)
{
    double *const n = arena_alloc(&l->arena, l->count, sizeof *n);
    for (size_t i = 0; i < l->count; i++)
        n[i] = i < items->count ? number_of(&items->items[i]) : NAN;
    return n;
}

/* A list of the protocol that is as long; NULL: it has none of that name. */
static const struct value *said_list(const struct list *l, const char *name)
{
    const struct value *const v = finding_said(l->f, name);
    return v != NULL && v->kind == VALUE_LIST && v->count == l->f->value.count
               ? v
               : NULL;
}

static double *said_numbers(struct list *l, const char *name)
{
    const struct value *const v = said_list(l, name);
    return v != NULL ? numbers_of(l, v) : NULL;
}

/* The finding's sibling of that attribute. */
static bool sibling(const struct list *l, const char *attribute, double *number)
{
    const char *const dot = strrchr(l->f->id, '.');
    char *const id =
        xasprintf("%.*s.%s", (int)(dot != NULL ? dot - l->f->id : 0), l->f->id,
                  attribute);
    const bool known = finding_number(results_find(l->h->results, id), number);
    free(id);
    return known;
}

static bool named(const struct list *l, const char *pattern)
{
    return text_glob(pattern, l->f->id);
}

/* ---- data ---------------------------------------------------------------- */

/* A table of each item, what it is of, and between what it is. */
static void put_data(struct list *l)
{
    static const char *const more[] = {"percent", "low", "high"};
    const struct value *of[COUNT_OF(more)];
    data_open(l->h, l->y_name, l->count);
    data_head(l->h, l->x_name, l->axis.unit);
    data_head(l->h, l->y_name, l->f->unit);
    for (size_t k = 0; k < COUNT_OF(more); k++) {
        of[k] = said_list(l, more[k]);
        if (of[k] != NULL)
            data_head(l->h, more[k], "");
    }
    buf_text(l->h->out, "</tr></thead>");
    for (size_t i = 0; i < l->count; i++) {
        const struct value *cells[2 + COUNT_OF(more)] = {
            &l->axis.values.items[i], &l->f->value.items[i]};
        memcpy(cells + 2, of, sizeof of);
        data_row(l->h);
        for (size_t k = 0; k < COUNT_OF(cells); k++)
            if (k < 2 || cells[k] != NULL)
                data_value(l->h, k < 2 ? cells[k] : &cells[k]->items[i]);
        buf_text(l->h->out, "</tr>");
    }
    if (l->count < l->f->value.count)
        buf_printf(l->h->out, "\n<tr><td>… %zu more</td></tr>",
                   l->f->value.count - l->count);
    data_close(l->h, l->f);
}

/* ---- lines --------------------------------------------------------------- */

enum { SERIES_MOST = 2 };

struct drawn {
    struct chart_series series[SERIES_MOST];
    size_t count;
    struct chart_mark mark;
    size_t marks;
};

static void add_model(struct drawn *d, const char *name, const double *y)
{
    const struct chart_series *const seen = &d->series[0];
    d->series[d->count++] = (struct chart_series){.name = name,
                                                  .x = seen->x,
                                                  .y = y,
                                                  .count = seen->count,
                                                  .model = true};
}

/* A sawtooth of so many workers at once (analysis/curve/sawtooth.h). */
static void add_sawtooth(struct list *l, struct drawn *d)
{
    const bool blocks = named(l, "*by_blocks");
    double servers, peak;
    if (!named(l, "*.by_*") ||
        !sibling(l, blocks ? "sawtooth_blocks" : "sawtooth", &servers) ||
        servers < 1 ||
        (!sibling(l, "peak", &peak) && !sibling(l, "throughput", &peak)))
        return;
    double *const y = arena_alloc(&l->arena, l->count, sizeof *y);
    for (size_t i = 0; i < l->count; i++)
        y[i] = peak * sawtooth_share(d->series[0].x[i], servers);
    add_model(d, arena_adopt(&l->arena, xasprintf("%.0f at once", servers)), y);
}

/* A line: every further conflict costs the same. */
static void add_conflicts(struct list *l, struct drawn *d)
{
    double each;
    const struct chart_series *const seen = &d->series[0];
    if (!named(l, "*.conflict_latency") ||
        !sibling(l, "conflict_cycles", &each) || l->count == 0)
        return;
    double *const y = arena_alloc(&l->arena, l->count, sizeof *y);
    for (size_t i = 0; i < l->count; i++)
        y[i] = seen->y[0] + each * (seen->x[i] - seen->x[0]);
    add_model(d, arena_adopt(&l->arena, xasprintf("%g a conflict", each)), y);
}

static void add_knee(struct list *l, struct drawn *d)
{
    double knee;
    if (!named(l, "*.loaded_latency") || !sibling(l, "knee_bandwidth", &knee))
        return;
    const char *const component =
        arena_adopt(&l->arena, xstrndup(l->f->id, strcspn(l->f->id, ".")));
    const struct finding *const f =
        storage_finding(l->h->results, component, "knee_bandwidth");
    struct buf said = {0};
    buf_text(&said, "knee ");
    quantity_number(&said, knee, 0, f->unit);
    d->mark = (struct chart_mark){
        .label = arena_adopt(&l->arena, buf_take(&said)),
        .at = knee,
        .low = f->has_interval ? f->interval[0] : knee,
        .high = f->has_interval ? f->interval[1] : knee,
    };
    d->marks = 1;
}

static void draw_chart(struct list *l)
{
    struct drawn d = {
        .series = {{.name = "measured",
                    .x = numbers_of(l, &l->axis.values),
                    .y = numbers_of(l, &l->f->value),
                    .low = said_numbers(l, "low"),
                    .high = said_numbers(l, "high"),
                    .count = l->count,
                    .apart =
                        named(l, "*sm_of_block") || named(l, "*.set_ways")}},
        .count = 1,
    };
    add_sawtooth(l, &d);
    add_conflicts(l, &d);
    add_knee(l, &d);
    const struct chart chart = {
        .label = l->label,
        .x = {l->x_name, l->axis.unit},
        .y = {l->y_name, l->f->unit},
        .series = d.series,
        .series_count = d.count,
        .mark = &d.mark,
        .mark_count = d.marks,
    };
    chart_write(&chart, l->h->out);
}

/* ---- bars ---------------------------------------------------------------- */

static char *text_of(struct list *l, const struct value *v)
{
    struct buf out = {0};
    quantity_value(&out, v, 0, "");
    buf_text(&out, "");
    return arena_adopt(&l->arena, buf_take(&out));
}

static void put_bars(struct list *l, const double *value, const char *name,
                     const char *unit)
{
    const double *const low = said_numbers(l, "low");
    const double *const high = said_numbers(l, "high");
    struct bar *const bar = arena_alloc(&l->arena, l->count, sizeof *bar);
    for (size_t i = 0; i < l->count; i++) {
        const char *const pattern =
            named(l, "memory.patterns_*") ? phrase_pattern(i) : NULL;
        bar[i] = (struct bar){
            .name = pattern != NULL ? pattern
                                    : text_of(l, &l->axis.values.items[i]),
            .value = value[i],
            .low = low != NULL ? low[i] : NAN,
            .high = high != NULL ? high[i] : NAN,
        };
    }
    bars_write(&(struct bars){l->label, name, unit, bar, l->count}, l->h->out);
}

static void draw_bars(struct list *l)
{
    put_bars(l, numbers_of(l, &l->f->value), l->y_name, l->f->unit);
}

/* Words that sum up shares: these are drawn. */
static void draw_effects(struct list *l)
{
    put_bars(l, said_numbers(l, "percent"), "change", "%");
}

/* ---- maps ---------------------------------------------------------------- */

static void put_cells(struct list *l, const char *thing, const char *group,
                      const int *of, size_t count)
{
    cells_write(&(struct cells){l->label, thing, group, of, count}, l->h->out);
}

/* "gpc" of "sm.gpc_of_sm"; the caller's arena has it. */
static const char *group_of_map(struct list *l)
{
    const char *const dot = strrchr(l->f->id, '.');
    char *const name =
        arena_adopt(&l->arena, tree_words(dot != NULL ? dot + 1 : l->f->id));
    char *const of = strstr(name, " of ");
    if (of != NULL)
        *of = '\0';
    return name;
}

static void draw_map(struct list *l)
{
    enum { GROUPS_MOST = 9999 };
    int *const of = arena_alloc(&l->arena, l->count, sizeof *of);
    for (size_t i = 0; i < l->count; i++) {
        const double n = number_of(&l->f->value.items[i]);
        of[i] = n >= 0 && n <= GROUPS_MOST ? (int)n : CELLS_NONE;
    }
    put_cells(l, strcmp(l->axis.name, "warp") == 0 ? "warp" : "SM",
              group_of_map(l), of, l->count);
}

/* Lists of SMs, as "0-1,8-13": each is a group. */
static void draw_sides(struct list *l)
{
    bool in[ITEMS_MOST];
    int of[ITEMS_MOST];
    size_t last = 0;
    for (size_t i = 0; i < ITEMS_MOST; i++)
        of[i] = CELLS_NONE;
    for (size_t g = 0; g < l->count; g++) {
        const struct value *const v = &l->f->value.items[g];
        memset(in, 0, sizeof in);
        if (v->kind != VALUE_TEXT || !text_to_set(v->text, in, ITEMS_MOST))
            continue;
        for (size_t i = 0; i < ITEMS_MOST; i++)
            if (in[i]) {
                of[i] = (int)g;
                last = i + 1 > last ? i + 1 : last;
            }
    }
    put_cells(l, "SM", "part of L2", of, last);
}

/* What is between this GPU and others: a row of the matrix that the reports of
 * all make. */
static void draw_pairs(struct list *l)
{
    struct matrix m = pairs_row(l->f);
    matrix_write(&m, l->label, l->h->out);
    matrix_free(&m);
}

/* ---- masks --------------------------------------------------------------- */

static unsigned long long bit_of(const struct value *v)
{
    return v->kind == VALUE_NUMBER && v->number >= 0 && v->number < 64
               ? 1ull << (unsigned)v->number
               : 0;
}

static unsigned long long mask_of(const struct value *v)
{
    unsigned long long mask = bit_of(v);
    for (size_t i = 0; v->kind == VALUE_LIST && i < v->count; i++)
        mask |= bit_of(&v->items[i]);
    return mask;
}

/* A list of bits is one XOR where that is what the finding is; else each item
 * is one. */
static void draw_masks(struct list *l)
{
    const bool single = named(l, "*.side_bits");
    const size_t count = single ? 1 : l->count;
    unsigned long long *const mask =
        arena_alloc(&l->arena, count, sizeof *mask);
    for (size_t i = 0; i < count; i++)
        mask[i] = mask_of(single ? &l->f->value : &l->f->value.items[i]);
    masks_write(&(struct masks){l->label,
                                single                     ? "part"
                                : named(l, "*.slice_bits") ? "slice bit"
                                                           : "index bit",
                                mask, count},
                l->h->out);
}

/* ---- which --------------------------------------------------------------- */

static bool all_are(const struct value *list, enum value_kind kind)
{
    bool any = false;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].kind != kind && list->items[i].kind != VALUE_NONE)
            return false;
        any |= list->items[i].kind == kind;
    }
    return any;
}

static bool has_numbers(const struct finding *f)
{
    return f->value.count > 1 && all_are(&f->value, VALUE_NUMBER);
}

static bool has_bits(const struct finding *f)
{
    return f->value.count > 0;
}

static bool has_words(const struct finding *f)
{
    return all_are(&f->value, VALUE_TEXT);
}

static bool has_percent(const struct finding *f)
{
    const struct value *const v = finding_said(f, "percent");
    return v != NULL && v->kind == VALUE_LIST && v->count == f->value.count &&
           f->value.count > 0;
}

/* A map of one group only shows nothing. */
static bool has_groups(const struct finding *f)
{
    for (size_t i = 1; i < f->value.count; i++)
        if (!value_equal(&f->value.items[i], &f->value.items[0]))
            return has_numbers(f);
    return false;
}

/* The first row whose pattern is the id's holds. */
static const struct way {
    const char *pattern;
    bool (*can)(const struct finding *finding);
    void (*draw)(struct list *list);
} ways[] = {
    {"*_bits", has_bits, draw_masks},
    {"*.sm_sides", has_words, draw_sides},
    {"*_of_sm", has_groups, draw_map},
    {"*.copy_of_warp", has_groups, draw_map},
    {"*_effects", has_percent, draw_effects},
    {"memory.patterns_*", has_numbers, draw_bars},
    {"link.*", pairs_has, draw_pairs},
    {"*", has_numbers, NULL},
};

static const struct way *way_of(const struct finding *f)
{
    const struct way *way = ways;
    while (!text_glob(way->pattern, f->id) ||
           (way->draw == draw_pairs && !pairs_has(f)))
        way++;
    return way;
}

bool plots_can_list(const struct finding *f)
{
    return f->value.kind == VALUE_LIST && way_of(f)->can(f);
}

void plots_of_list(const struct html *h, const struct finding *f)
{
    struct list l = {.h = h, .f = f, .count = items_of(f)};
    l.axis = axis_of(f);
    l.label = arena_adopt(&l.arena, html_name(f->id));
    l.x_name = arena_adopt(&l.arena, tree_words(l.axis.name));
    l.y_name = arena_adopt(&l.arena, name_of_numbers(f));
    figure_open(h, f);
    if (way_of(f)->draw != NULL)
        way_of(f)->draw(&l);
    else if (all_are(&l.axis.values, VALUE_NUMBER))
        draw_chart(&l);
    else
        draw_bars(&l);
    figure_repeat(h, f->study, f->evidence, f->evidence_count);
    put_data(&l);
    figure_close(h);
    value_free(&l.axis.values);
    arena_empty(&l.arena);
}
