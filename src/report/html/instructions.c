/* What instructions cost, as a table that a script makes sortable. */
#include <stdio.h>

#include "report/costs.h"
#include "report/html/html.h"

/* "4", "?4" in doubt, "≤ 4" a bound, "–" where it was not measured, nothing
 * where nobody asked; its reason when one points at it. */
static void put_number(const struct html *h, const struct finding *f)
{
    static const char *const marks[STATUS_COUNT] = {
        [STATUS_IN_DOUBT] = "?",
        [STATUS_AT_LEAST] = "≥",
        [STATUS_AT_MOST] = "≤",
    };
    if (f == NULL) {
        buf_text(h->out, "<td></td>");
        return;
    }
    buf_text(h->out, "<td");
    if (f->because != NULL) {
        buf_text(h->out, " title=\"");
        html_text(h, f->because);
        buf_text(h->out, "\"");
    }
    if (f->value.kind == VALUE_NUMBER)
        buf_printf(h->out, ">%s%.4g</td>",
                   marks[f->status] != NULL ? marks[f->status] : "",
                   f->value.number);
    else
        buf_text(h->out, ">–</td>");
}

static void put_text(const struct html *h, const char *text)
{
    buf_text(h->out, "<td class=\"text\">");
    html_text(h, text);
    buf_text(h->out, "</td>");
}

static void put_row(const struct html *h, const struct costs *costs,
                    const struct cost_row *row)
{
    buf_text(h->out, "<tr><th scope=\"row\">");
    html_text(h, row->name);
    buf_text(h->out, "</th>");
    put_text(h, row->category);
    for (int level = COST_LEVELS - 1; level >= 0; level--)
        if (costs->level[level])
            put_number(h, row->latency[level]);
    put_number(h, row->throughput);
    put_text(h, cost_row_said(row, "machine_code"));
    put_text(h, cost_row_because(row));
    buf_text(h->out, "</tr>\n");
}

static void put_head(const struct html *h, const struct costs *costs)
{
    buf_text(h->out, "<thead><tr><th scope=\"col\">instruction</th>"
                     "<th scope=\"col\">category</th>");
    for (int level = COST_LEVELS - 1; level >= 0; level--)
        if (costs->level[level])
            buf_printf(h->out,
                       "<th scope=\"col\">latency at -O%d (cycles)</th>",
                       level);
    buf_text(h->out, "<th scope=\"col\">throughput (/clk/SM)</th>"
                     "<th scope=\"col\">machine code</th>"
                     "<th scope=\"col\">not measured, because</th>"
                     "</tr></thead>\n<tbody>\n");
}

bool html_instructions(const struct html *h)
{
    struct costs costs;
    costs_collect(h->results, &costs);
    const bool any = costs.count > 0;
    if (any) {
        buf_text(h->out,
                 "<section id=\"instructions\">\n"
                 "<h2>Instructions</h2>\n<p class=\"faint\">? in doubt; "
                 "≥ ≤ bounds; – not measured. Repeat one: <code>sonde "
                 "isa NAME</code></p>\n"
                 "<div class=\"wide tall\" tabindex=\"0\" "
                 "role=\"region\" aria-label=\"instructions\">"
                 "<table class=\"sortable\">\n");
        put_head(h, &costs);
        for (size_t i = 0; i < costs.count; i++)
            put_row(h, &costs, &costs.rows[i]);
        buf_text(h->out, "</tbody></table></div></section>\n");
    }
    costs_free(&costs);
    return any;
}
