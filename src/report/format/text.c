/* The report as text: which GPU, and then the tree or a flat list; or the table
 * of what instructions cost, if it is of nothing else. */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/costs.h"
#include "report/grid.h"
#include "report/headline.h"
#include "report/screen/screen.h"
#include "report/tree.h"
#include "report/writer.h"

/* Labels longer than this push their own value to the right, not all. */
enum { LABEL_MOST = 40, GAP = 2 };

static size_t id_columns(const struct results *results)
{
    size_t columns = 0;
    for (size_t i = 0; i < results->finding_count; i++) {
        const size_t label = strlen(results->findings[i]->id);
        if (label > columns && label <= LABEL_MOST)
            columns = label;
    }
    return columns;
}

static void list_write(const struct writer *w)
{
    page_line(&w->page, &(struct line){0});
    for (size_t i = 0; i < w->results->finding_count; i++)
        writer_finding(w, "", w->results->findings[i]->id,
                       w->results->findings[i]);
}

static int text_write(const struct results *results,
                      const struct report_style *style, struct buf *out,
                      struct error *err)
{
    if (costs_only(results) && style->verbose < REPORT_EVIDENCE)
        return report_table.write(results, style, out, err);
    struct writer w = {
        .results = results,
        .style = style,
        .page = writer_page(style, out),
    };
    w.clock_hz = writer_clock(results);
    w.column = GAP + (style->tree ? tree_label_columns(&w, LABEL_MOST)
                                  : id_columns(results));
    headline_write(&w);
    if (!style->tree)
        list_write(&w);
    else if (style->verbose >= REPORT_TREE || !screen_topology(&w))
        tree_write(&w);
    writer_notice(&w);
    return 0;
}

/* ---- several ------------------------------------------------------------- */

/* Columns of a cell: what is longer, as long lists, is cut. */
enum { CELL_MOST = 28 };

/* The first so many columns of a text; the caller frees. */
static char *cut(const char *text, size_t most)
{
    size_t bytes = 0;
    if (page_columns(text) <= most)
        return xstrdup(text);
    for (size_t used = 1; used < most; used++)
        bytes += text_character(text + bytes).bytes;
    return xasprintf("%.*s…", (int)bytes, text);
}

static void put_cells(struct buf *line, const char *text, size_t width)
{
    char *const shown = cut(text[0] != '\0' ? text : "–", width);
    buf_text(line, shown);
    for (size_t i = page_columns(shown); i < width + GAP; i++)
        buf_text(line, " ");
    free(shown);
}

static size_t grid_width(const struct grid *g, size_t column)
{
    size_t width = page_columns(g->labels[column]);
    for (size_t row = 0; row < g->rows; row++) {
        char *const cell = grid_cell(g, row, column);
        const size_t columns = page_columns(cell);
        width = columns > width ? columns : width;
        free(cell);
    }
    return width < CELL_MOST ? width : CELL_MOST;
}

/* The heading, or a row. */
static void put_grid_row(const struct page *page, const struct grid *g,
                         const size_t *widths, size_t row, bool heading)
{
    struct buf line = {0};
    for (size_t i = 0; i < g->count; i++) {
        char *const cell =
            heading ? text_plain(g->labels[i]) : grid_cell(g, row, i);
        put_cells(&line, cell, widths[i]);
        free(cell);
    }
    page_line(page, &(struct line){.label = heading ? "" : g->ids[row],
                                   .column = LABEL_MOST + GAP,
                                   .text = buf_string(&line),
                                   .tone = heading ? TONE_STRONG : TONE_PLAIN});
    buf_free(&line);
}

/* Labels that are cut are said in full above. */
static void put_grid(struct page *page, const struct grid *g)
{
    size_t *const widths = xcalloc(g->count, sizeof *widths);
    page->width = LABEL_MOST + GAP;
    for (size_t i = 0; i < g->count; i++) {
        page_line(page, &(struct line){.text = g->labels[i]});
        widths[i] = grid_width(g, i);
        page->width += widths[i] + GAP;
    }
    page_line(page, &(struct line){0});
    put_grid_row(page, g, widths, 0, true);
    for (size_t row = 0; row < g->rows; row++)
        put_grid_row(page, g, widths, row, false);
    free(widths);
}

static int text_write_several(const struct results *const *results,
                              size_t count, const struct report_style *style,
                              struct buf *out, struct error *err)
{
    struct grid g = grid_of(results, count);
    struct page page = writer_page(style, out);
    (void)err;
    put_grid(&page, &g);
    grid_free(&g);
    return 0;
}

const struct report_format report_text = {
    .name = "txt",
    .summary = "the report as a person reads it",
    .write = text_write,
    .write_several = text_write_several,
};
