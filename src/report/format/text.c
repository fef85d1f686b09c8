/* The report as text: which GPU, and then the tree or a flat list; or the table
 * of what instructions cost, if it is of nothing else. */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "report/costs.h"
#include "report/grid.h"
#include "report/headline.h"
#include "report/plot/pairs.h"
#include "report/screen/screen.h"
#include "report/tree.h"
#include "report/wide.h"
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

/* What is between GPUs, of one report or of several. */
static void put_pairs(const struct results *const *results, size_t count,
                      const struct page *page)
{
    struct pairs_list pairs = pairs_of(results, count);
    for (size_t i = 0; i < pairs.count; i++)
        pairs_write(&pairs.at[i], page);
    pairs_free(&pairs);
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
    put_pairs(&results, 1, &w.page);
    writer_notice(&w);
    return 0;
}

/* ---- several ------------------------------------------------------------- */

static int text_write_several(const struct results *const *results,
                              size_t count, const struct report_style *style,
                              struct buf *out, struct error *err)
{
    struct grid g = grid_of(results, count);
    struct wide table = {.columns = count + 1};
    const struct page page = writer_page(style, out);
    (void)err;
    wide_put(&table, "finding");
    for (size_t i = 0; i < count; i++) {
        page_line(&page, &(struct line){.text = g.labels[i]});
        wide_put(&table, g.labels[i]);
    }
    page_line(&page, &(struct line){0});
    for (size_t row = 0; row < g.rows; row++) {
        wide_put(&table, g.ids[row]);
        for (size_t i = 0; i < count; i++) {
            char *const cell = grid_cell(&g, row, i);
            wide_put(&table, cell);
            free(cell);
        }
    }
    wide_write(&table, &page);
    wide_free(&table);
    grid_free(&g);
    put_pairs(results, count, &page);
    return 0;
}

const struct report_format report_text = {
    .name = "txt",
    .summary = "the report as a person reads it",
    .write = text_write,
    .write_several = text_write_several,
};
