/*
 * The report as a page: one file that asks for no other, and that is read
 * without a script.  The answer and the picture come first, then what was drawn
 * of findings, what instructions cost, and all findings.
 */
#include <stdio.h>

#include "report/costs.h"
#include "report/html/html.h"
#include "report/picture/picture.h"
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

const struct report_format report_html = {
    .name = "html",
    .summary = "a page for browsers: the answer, plots, instructions",
    .write = html_write,
};
