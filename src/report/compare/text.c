/*
 * A comparison for a person: what differs, side by side and the worst first,
 * then what is no longer known, what is less sure, and how many there are.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "finding/axis.h"
#include "report/compare/compare.h"
#include "report/grid.h"
#include "report/label.h"
#include "report/wide.h"
#include "report/writer.h"

/* "3.1 %"; nothing of structure, which has no distance. */
static void put_share(struct buf *out, double share)
{
    if (isfinite(share) && share > 0)
        buf_printf(out, share < 1 ? "%.2g %%" : "%.0f %%", share * 100);
}

static bool same_places(const struct finding *a, const struct finding *b)
{
    struct axis x = axis_of(a), y = axis_of(b);
    const bool same = value_equal(&x.values, &y.values);
    value_free(&x.values);
    value_free(&y.values);
    return same;
}

/* True where one item of a list says how far two reports are apart. */
static bool has_worst_item(const struct comparison *c,
                           const struct compare_row *row)
{
    return c->count == 1 && row->judged[0].apart > 0 &&
           isfinite(row->judged[0].beyond) &&
           same_places(row->base, row->other[0]);
}

/* Of a list how much of it differs, and the worst item or all. */
static void put_list(struct buf *out, const struct comparison *c,
                     const struct compare_row *row, size_t i)
{
    const struct judgement *const j = &row->judged[i];
    const bool item = has_worst_item(c, row);
    char *const words = item ? grid_item(row->other[i], j->worst, false)
                             : grid_words(row->other[i]);
    if (item)
        buf_printf(out, "%s (%zu of %zu differ)", words, j->apart, j->items);
    else
        buf_printf(out, "%zu of %zu items: %s", j->apart, j->items, words);
    free(words);
}

/* Numbers that are near are told in more digits, or they would be the same. */
static void put_value(struct buf *out, const struct compare_row *row,
                      const struct finding *f)
{
    char *words = grid_words(f);
    char *const base = row->base != NULL ? grid_words(row->base) : NULL;
    if (base != NULL && strcmp(words, base) == 0 &&
        row->worst == VERDICT_DIFFERS && f->value.kind == VALUE_NUMBER) {
        free(words);
        words = grid_exact(f);
    }
    buf_text(out, words);
    free(words);
    free(base);
}

/* What a report has: "=" where it is alike. */
static char *cell_of(const struct comparison *c, const struct compare_row *row,
                     size_t i)
{
    const struct finding *const f = row->other[i];
    struct buf out = {0};
    switch (row->judged[i].verdict) {
    case VERDICT_ALIKE:
        buf_text(&out, "=");
        break;
    case VERDICT_LOST: /* or some items of a list are */
        if (f != NULL && f->value.kind != VALUE_NONE)
            put_value(&out, row, f);
        else
            buf_text(&out, f == NULL ? "not in the report" : "not measured");
        break;
    default:
        if (row->judged[i].apart > 0)
            put_list(&out, c, row, i);
        else
            put_value(&out, row, f);
    }
    return buf_take(&out);
}

/* The base beside them: the item, and the digits, that they show. */
static char *base_cell(const struct comparison *c,
                       const struct compare_row *row)
{
    if (row->base == NULL)
        return xstrdup("not in the report");
    if (has_worst_item(c, row))
        return grid_item(row->base, row->judged[0].worst, true);
    char *const words = grid_words(row->base);
    bool same =
        row->worst == VERDICT_DIFFERS && row->base->value.kind == VALUE_NUMBER;
    for (size_t i = 0; i < c->count && same; i++) {
        char *const other = grid_words(row->other[i]);
        same = strcmp(words, other) == 0;
        free(other);
    }
    if (!same)
        return words;
    free(words);
    return grid_exact(row->base);
}

static void put_row(struct wide *table, const struct comparison *c,
                    const struct compare_row *row)
{
    struct buf beyond = {0};
    char *const base = base_cell(c, row);
    put_share(&beyond, row->beyond);
    wide_put(table, row->id);
    wide_put(table, base);
    for (size_t i = 0; i < c->count; i++) {
        char *const cell = cell_of(c, row, i);
        wide_put(table, cell);
        free(cell);
    }
    wide_put(table, buf_string(&beyond));
    buf_free(&beyond);
    free(base);
}

static void put_heading(struct wide *table, const struct comparison *c,
                        const char *title)
{
    wide_put(table, title);
    wide_put(table, "base");
    for (size_t i = 1; i <= c->count; i++) {
        char name[32];
        snprintf(name, sizeof name, "%zu", i);
        wide_put(table, c->count > 1 ? name : "new");
    }
    wide_put(table, "beyond");
}

static void put_table(const struct page *page, const struct comparison *c,
                      const char *title, enum verdict verdict)
{
    struct wide table = {.columns = c->count + 3};
    if (compare_counts(c, verdict) == 0)
        return;
    put_heading(&table, c, title);
    for (size_t i = 0; i < c->row_count; i++)
        if (c->rows[i].worst == verdict)
            put_row(&table, c, &c->rows[i]);
    page_line(page, &(struct line){0});
    wide_write(&table, page);
    wide_free(&table);
}

/* Why what was measured is not, a line a reason. */
static void put_reasons(const struct page *page, const struct comparison *c)
{
    for (size_t i = 0; i < c->row_count; i++)
        for (size_t k = 0; k < c->count; k++) {
            const struct finding *const f = c->rows[i].other[k];
            if (c->rows[i].judged[k].verdict != VERDICT_LOST || f == NULL ||
                f->value.kind != VALUE_NONE || f->because == NULL)
                continue;
            char *const text =
                xasprintf("not measured, because: %s", f->because);
            page_line(page, &(struct line){.label = c->rows[i].id,
                                           .column = 2,
                                           .text = text,
                                           .tone = TONE_DOUBT});
            free(text);
        }
}

static void put_reports(const struct page *page, const struct comparison *c)
{
    char **const labels = labels_of(c->results, c->count + 1);
    for (size_t i = 0; i <= c->count; i++) {
        char number[32];
        snprintf(number, sizeof number, "%zu", i);
        page_line(page, &(struct line){.label = i == 0         ? "base"
                                                : c->count > 1 ? number
                                                               : "new",
                                       .column = 6,
                                       .text = labels[i],
                                       .tone = TONE_STRONG});
    }
    labels_free(labels, c->count + 1);
}

static void put_summary(const struct page *page, const struct comparison *c)
{
    static const struct {
        enum verdict verdict;
        const char *what;
    } counts[] = {
        {VERDICT_DIFFERS, "differ"},
        {VERDICT_LOST, "no longer known"},
        {VERDICT_STATUS, "of another status"},
        {VERDICT_GAINED, "only known now"},
        {VERDICT_ALIKE, "alike"},
    };
    struct buf text = {0};
    buf_printf(&text, "%zu findings:", c->row_count);
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        const size_t count = compare_counts(c, counts[i].verdict);
        if (count > 0)
            buf_printf(&text, "%s %zu %s",
                       text.data[text.length - 1] == ':' ? "" : ",", count,
                       counts[i].what);
    }
    if (c->wish.tolerance > 0)
        buf_printf(&text, "; tolerance %g %%", c->wish.tolerance * 100);
    page_line(page, &(struct line){0});
    page_line(page, &(struct line){.text = buf_string(&text)});
    buf_free(&text);
}

void compare_text(const struct comparison *c, const struct report_style *style,
                  struct buf *out)
{
    const struct page page = writer_page(style, out);
    put_reports(&page, c);
    put_table(&page, c, "differs", VERDICT_DIFFERS);
    put_table(&page, c, "no longer known", VERDICT_LOST);
    put_reasons(&page, c);
    put_table(&page, c, "of another status", VERDICT_STATUS);
    if (style->verbose > 0)
        put_table(&page, c, "only known now", VERDICT_GAINED);
    put_summary(&page, c);
}
