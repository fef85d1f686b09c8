/*
 * What a whole table of instructions comes to: a row a category, with the least
 * and the most that a copy costs, the median, and the best throughput.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "report/screen/columns.h"
#include "report/screen/screen.h"

enum cell { CATEGORY, ROWS, TOP, MEDIAN, LOW, RATE, OPEN };

/* As many rows are no screen, of so many kinds no answer to a question about
 * one. */
enum { ROWS_MOST = 100, CATEGORIES_MOST = 4 };

/* The figures of one category. */
struct figures {
    double *top, *low, *rate;
    size_t tops, lows, rates, rows, open;
};

static void take(const struct finding *f, double *numbers, size_t *count)
{
    double number;
    if (finding_number(f, &number))
        numbers[(*count)++] = number;
}

/* The highest and the lowest level of the assembler that was asked. */
static void levels_of(const struct costs *c, size_t *top, size_t *low)
{
    *top = COST_LEVELS - 1;
    *low = 0;
    while (*top > 0 && !c->level[*top])
        --*top;
    while (*low < *top && !c->level[*low])
        ++*low;
}

static struct figures figures_of(const struct costs *c, const char *category)
{
    struct figures f = {.top = xcalloc(c->count, sizeof *f.top),
                        .low = xcalloc(c->count, sizeof *f.low),
                        .rate = xcalloc(c->count, sizeof *f.rate)};
    size_t top, low;
    levels_of(c, &top, &low);
    for (size_t i = 0; i < c->count; i++) {
        const struct cost_row *const row = &c->rows[i];
        if (strcmp(row->category, category) != 0)
            continue;
        f.rows++;
        f.open += cost_row_because(row) != NULL;
        take(row->latency[top], f.top, &f.tops);
        if (low != top)
            take(row->latency[low], f.low, &f.lows);
        take(row->throughput, f.rate, &f.rates);
    }
    return f;
}

/* Three digits, of large numbers all before the point; the caller frees. */
static char *short_text(double number)
{
    return number >= 100 ? xasprintf("%.0f", number)
                         : xasprintf("%.3g", number);
}

/* NULL where there are no numbers. */
static char *figure(const double *numbers, size_t count,
                    double of(const double *numbers, size_t count))
{
    return count > 0 ? short_text(of(numbers, count)) : NULL;
}

static void add_category(struct columns *columns, const struct costs *c,
                         const char *category)
{
    struct figures f = figures_of(c, category);
    struct columns_row *const row = columns_add(columns);
    row->cell[CATEGORY] = xstrdup(category);
    row->cell[ROWS] = xasprintf("%zu", f.rows);
    char *const least = figure(f.top, f.tops, stats_min);
    char *const most = figure(f.top, f.tops, stats_max);
    if (f.tops > 0)
        row->cell[TOP] = xasprintf("%s to %s", least, most);
    free(least);
    free(most);
    row->cell[MEDIAN] = figure(f.top, f.tops, stats_median);
    row->cell[LOW] = figure(f.low, f.lows, stats_median);
    row->cell[RATE] = figure(f.rate, f.rates, stats_max);
    row->cell[OPEN] = f.open > 0 ? xasprintf("%zu", f.open) : NULL;
    free(f.top);
    free(f.low);
    free(f.rate);
}

/* True if no row before this one is of its category. */
static bool is_first(const struct costs *c, size_t at)
{
    size_t i = 0;
    while (strcmp(c->rows[i].category, c->rows[at].category) != 0)
        i++;
    return i == at;
}

static size_t categories(const struct costs *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        count += is_first(c, i);
    return count;
}

static void put_table(const struct writer *w, const struct costs *c)
{
    char top_text[32], low_text[32];
    size_t top, low;
    levels_of(c, &top, &low);
    snprintf(top_text, sizeof top_text, "cycles at -O%zu", top);
    snprintf(low_text, sizeof low_text, "at -O%zu", low);
    const struct column headings[] = {
        [CATEGORY] = {.heading = "instructions", .left = true},
        [ROWS] = {.heading = "rows"},
        [TOP] = {.heading = top_text},
        [MEDIAN] = {.heading = "median"},
        [LOW] = {.heading = low_text},
        [RATE] = {.heading = "best /clk/SM"},
        [OPEN] = {.heading = "not measured"},
        {0},
    };
    struct columns columns = {.column = headings};
    for (size_t i = 0; i < c->count; i++)
        if (is_first(c, i))
            add_category(&columns, c, c->rows[i].category);
    columns_write(&columns, &w->page);
    columns_free(&columns);
}

bool screen_costs(const struct writer *w, const struct costs *c)
{
    if (w->style->verbose > REPORT_SCREEN || c->count <= ROWS_MOST ||
        categories(c) <= CATEGORIES_MOST)
        return false;
    put_table(w, c);
    char *const more =
        xasprintf("-v lists all %zu, with machine code; sonde isa "
                  "NAME, 'GLOB' or CATEGORY some",
                  c->count);
    page_line(&w->page, &(struct line){.text = more, .tone = TONE_FAINT});
    free(more);
    return true;
}
