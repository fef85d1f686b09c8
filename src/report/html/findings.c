/* Every finding, as a table. */
#include <stdlib.h>

#include "report/costs.h"
#include "report/html/html.h"
#include "report/phrase.h"

static void put_evidence(const struct html *h, const struct finding *f)
{
    if (f->evidence_count == 0)
        return;
    buf_printf(h->out, "<details><summary>%zu %s</summary>\n",
               f->evidence_count,
               f->evidence_count == 1 ? "experiment" : "experiments");
    for (size_t i = 0; i < f->evidence_count; i++)
        html_element(h, "code", f->evidence[i]);
    buf_text(h->out, "</details>");
}

static void put_finding(const struct html *h, const struct finding *f)
{
    struct buf interval = {0};
    char *const said = phrase_finding(f, h->clock_hz);
    phrase_interval(&interval, f);
    buf_text(h->out, "<tr><th scope=\"row\">");
    html_text(h, f->id);
    buf_text(h->out, "</th><td class=\"text\">");
    html_text(h, said);
    buf_text(h->out, "</td><td class=\"text\">");
    html_text(h, buf_string(&interval));
    buf_text(h->out, "</td><td class=\"text\">");
    html_text(h, f->study);
    put_evidence(h, f);
    buf_text(h->out, "</td></tr>\n");
    buf_free(&interval);
    free(said);
}

void html_findings(const struct html *h)
{
    const struct results *const r = h->results;
    buf_text(h->out,
             "<section id=\"findings\">\n<h2>All findings</h2>\n"
             "<details><summary>With interval, study and experiments</summary>"
             "<div class=\"wide\" tabindex=\"0\" role=\"region\" "
             "aria-label=\"findings\"><table class=\"sortable\"><thead><tr>"
             "<th scope=\"col\">finding</th><th scope=\"col\">value</th>"
             "<th scope=\"col\">interval</th><th scope=\"col\">study</th></tr>"
             "</thead>\n<tbody>\n");
    for (size_t i = 0; i < r->finding_count; i++)
        if (!costs_has(r->findings[i]->id)) /* these have their own table */
            put_finding(h, r->findings[i]);
    buf_text(h->out, "</tbody></table></div></details></section>\n");
}
