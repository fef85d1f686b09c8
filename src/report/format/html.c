/*
 * The report as a page: one file that asks for no other, and that is read
 * without a script.  The answer and the picture come first, then what was drawn
 * of findings, what instructions cost, and all findings.  Of several GPUs it
 * has what lies between them, and all findings side by side.
 */
#include <stdio.h>
#include <stdlib.h>

#include "report/costs.h"
#include "report/grid.h"
#include "report/html/html.h"
#include "report/label.h"
#include "report/picture/picture.h"
#include "report/plot/pairs.h"
#include "report/report.h"

static const char *device_name(const struct results *r)
{
    const struct value *const name = results_of_device(r, "name");
    return name != NULL && name->kind == VALUE_TEXT && name->text[0] != '\0'
               ? name->text
               : "unnamed GPU";
}

/* A report of instructions alone shows no machine. */
static bool has_picture(const struct html *h)
{
    return !costs_only(h->results) && h->results->finding_count > 0;
}

static void put_links(const struct html *h, const struct figures *figures,
                      bool instructions)
{
    buf_text(h->out, "<nav aria-label=\"sections\">\n"
                     "<a href=\"#answer\">The answer</a>\n");
    if (has_picture(h))
        buf_text(h->out, "<a href=\"#picture\">The picture</a>\n");
    figures_links(figures);
    if (instructions)
        buf_text(h->out, "<a href=\"#instructions\">Instructions</a>\n");
    buf_text(h->out, "<a href=\"#findings\">All findings</a>\n</nav>\n");
}

static void put_picture(const struct html *h)
{
    buf_text(h->out, "<section id=\"picture\">\n<h2>The picture</h2>\n"
                     "<div class=\"picture\" tabindex=\"0\" role=\"region\" "
                     "aria-label=\"picture\">\n");
    picture_write(h->results, h->out);
    buf_text(h->out, "</div></section>\n");
}

/* By which program, and how it was called. */
static void put_foot(const struct html *h)
{
    const struct results *const r = h->results;
    buf_text(h->out, "</main>\n<footer><p>sonde ");
    html_text(h, r->version);
    if (r->commit != NULL && r->commit[0] != '\0') {
        buf_text(h->out, ", ");
        html_text(h, r->commit);
    }
    buf_text(h->out, ": <code>");
    for (size_t i = 0; i < r->command_count; i++) {
        buf_text(h->out, i > 0 ? " " : "");
        html_text(h, r->command[i]);
    }
    buf_text(h->out, "</code></p></footer>\n");
    html_script(h->out);
    buf_text(h->out, "</body>\n</html>\n");
}

static int html_write(const struct results *results,
                      const struct report_style *style, struct buf *out,
                      struct error *err)
{
    (void)style;
    (void)err;
    struct buf instructions = {0};
    const struct html h = {results, out, writer_clock(results)};
    struct html apart = h;
    apart.out = &instructions;
    const bool costs = html_instructions(&apart);
    struct figures *const figures = figures_of(&h);
    html_open(&h, device_name(results));
    put_links(&h, figures, costs);
    buf_text(out, "<main>\n<section id=\"answer\">\n");
    html_answer(&h);
    buf_text(out, "</section>\n");
    if (has_picture(&h))
        put_picture(&h);
    figures_write(figures);
    buf_append(out, buf_string(&instructions), instructions.length);
    html_findings(&h);
    put_foot(&h);
    figures_free(figures);
    buf_free(&instructions);
    return 0;
}

/* ---- several ------------------------------------------------------------ */

static void put_pairs(const struct html *h,
                      const struct results *const *results, size_t count)
{
    struct pairs_list pairs = pairs_of(results, count);
    if (pairs.count > 0)
        buf_text(h->out, "<section id=\"links\">\n<h2>Links</h2>\n"
                         "<div class=\"figures\">\n");
    for (size_t i = 0; i < pairs.count; i++) {
        buf_text(h->out, "<figure><figcaption>");
        html_element(h, "h3", pairs.at[i].title);
        buf_text(h->out, "</figcaption>\n");
        matrix_write(&pairs.at[i].matrix, pairs.at[i].title, h->out);
        buf_text(h->out, "</figure>\n");
    }
    if (pairs.count > 0)
        buf_text(h->out, "</div></section>\n");
    pairs_free(&pairs);
}

static void put_row(const struct html *h, const struct grid *g, size_t row)
{
    buf_text(h->out, "<tr>");
    html_element(h, "th scope=\"row\"", g->ids[row]);
    for (size_t i = 0; i < g->count; i++) {
        char *const cell = grid_cell(g, row, i);
        html_element(h, "td", cell[0] != '\0' ? cell : "–");
        free(cell);
    }
    buf_text(h->out, "</tr>\n");
}

static void put_grid(const struct html *h, const struct results *const *results,
                     size_t count)
{
    struct grid g = grid_of(results, count);
    buf_text(h->out, "<section id=\"findings\">\n<h2>All findings</h2>\n"
                     "<div class=\"wide tall\"><table><thead><tr>");
    html_element(h, "th scope=\"col\"", "finding");
    for (size_t i = 0; i < count; i++)
        html_element(h, "th scope=\"col\"", g.labels[i]);
    buf_text(h->out, "</tr></thead><tbody>\n");
    for (size_t row = 0; row < g.rows; row++)
        put_row(h, &g, row);
    buf_text(h->out, "</tbody></table></div></section>\n");
    grid_free(&g);
}

/* What each is, as in the answer of one. */
static void put_gpus(const struct html *h, const struct results *const *results,
                     size_t count)
{
    char **const labels = labels_of(results, count);
    for (size_t i = 0; i < count; i++) {
        const struct value *const simulated =
            results_of_run(results[i], "simulated");
        const bool is = simulated != NULL && simulated->number > 0;
        buf_text(h->out, is ? "<p class=\"warning\">" : "<p>");
        html_text(h, labels[i]);
        buf_text(h->out, is ? ", SIMULATED</p>\n" : "</p>\n");
    }
    labels_free(labels, count);
}

static int html_write_several(const struct results *const *results,
                              size_t count, const struct report_style *style,
                              struct buf *out, struct error *err)
{
    const struct html h = {results[0], out, 0};
    char title[64];
    (void)style;
    (void)err;
    snprintf(title, sizeof title, "%zu GPUs", count);
    html_open(&h, title);
    buf_text(out, "<main>\n<section id=\"answer\">\n");
    put_gpus(&h, results, count);
    buf_text(out, "</section>\n");
    put_pairs(&h, results, count);
    put_grid(&h, results, count);
    put_foot(&h);
    return 0;
}

const struct report_format report_html = {
    .name = "html",
    .summary = "a page for browsers: the answer, plots, instructions",
    .write = html_write,
    .write_several = html_write_several,
};
