/*
 * A comparison for a person: what differs, side by side and the worst first,
 * then what is no longer known, what is less sure, and how many there are.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
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

/* Of a list that differs here and there the worst item, else the value. */
static void put_value(struct buf *out, const struct compare_row *row,
                      const struct finding *f, size_t i)
{
    char *const words = grid_words(f);
    const struct judgement *const j = &row->judged[i];
    if (j->apart > 0)
        buf_printf(out, "%zu of %zu items: ", j->apart, j->items);
    buf_text(out, words);
    free(words);
}

/* What a report has: "=" where it is alike. */
static char *cell_of(const struct compare_row *row, size_t i)
{
    const struct finding *const f = row->other[i];
    struct buf out = {0};
    switch (row->judged[i].verdict) {
    case VERDICT_ALIKE:
        buf_text(&out, "=");
        break;
    case VERDICT_LOST:
        buf_text(&out, f == NULL ? "not in the report" : "not measured");
        break;
    default:
        put_value(&out, row, f, i);
    }
    return buf_take(&out);
}

static void put_row(struct wide *table, const struct comparison *c,
                    const struct compare_row *row)
{
    struct buf beyond = {0};
    char *const base = row->base != NULL ? grid_words(row->base)
                                         : xstrdup("not in the report");
    put_share(&beyond, row->beyond);
    wide_put(table, row->id);
    wide_put(table, base);
    for (size_t i = 0; i < c->count; i++) {
        char *const cell = cell_of(row, i);
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
                f->because == NULL)
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
