/* The answer, as the screen gives it: which GPU, its storages, what is open. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/headline.h"
#include "report/html/html.h"
#include "report/phrase.h"
#include "report/screen/open.h"
#include "report/screen/screen.h"

/* A writer of lines that do not end where a terminal does. */
static struct writer wide_writer(const struct html *h,
                                 const struct report_style *style,
                                 struct buf *out)
{
    enum { ENDLESS = 1 << 20 };
    return (struct writer){
        .results = h->results,
        .style = style,
        .page = {.out = out, .width = ENDLESS},
        .clock_hz = h->clock_hz,
    };
}

/* What a part of the text report says, a paragraph a line. */
static void put_lines(const struct html *h, const char *class,
                      void (*write)(const struct writer *writer))
{
    const struct report_style style = {.tree = true, .verbose = REPORT_TREE};
    struct buf text = {0};
    const struct writer w = wide_writer(h, &style, &text);
    write(&w);
    for (const char *line = buf_string(&text); *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        char *const one = xstrndup(line, length);
        buf_printf(h->out, "<p class=\"%s\">", class);
        html_text(h, one);
        buf_text(h->out, "</p>\n");
        free(one);
        line += length + (line[length] == '\n');
    }
    buf_free(&text);
}

static void put_notice(const struct html *h)
{
    if (h->results->notice == NULL)
        return;
    buf_text(h->out, "<p class=\"warning\">");
    html_text(h, h->results->notice);
    buf_text(h->out, "</p>\n");
}

/* ---- storages ------------------------------------------------------------ */

static void put_cell(const struct html *h, const struct columns *c, size_t k,
                     const char *tag, const char *text)
{
    buf_printf(h->out, "<%s%s>", tag,
               c->column[k].left ? "" : " class=\"num\"");
    html_text(h, text);
    buf_printf(h->out, "</%.2s>", tag);
}

/* NULL: the headings of the columns. */
static void put_row(const struct html *h, const struct columns *c,
                    const struct columns_row *row)
{
    const bool heading = row == NULL || row->heading;
    buf_text(h->out, "<tr>");
    for (size_t k = 0; c->column[k].heading != NULL; k++) {
        const char *const text =
            row == NULL ? c->column[k].heading : row->cell[k];
        if (!(c->shown >> k & 1))
            continue;
        if (heading && text == NULL)
            buf_text(h->out, "<td></td>");
        else
            put_cell(h, c, k,
                     heading  ? "th scope=\"col\""
                     : k == 0 ? "th scope=\"row\""
                              : "td",
                     text);
    }
    buf_text(h->out, "</tr>\n");
}

static size_t count_shown(const struct columns *c)
{
    size_t count = 0;
    for (size_t k = 0; c->column[k].heading != NULL; k++)
        count += c->shown >> k & 1;
    return count;
}

static void put_note(const struct html *h, const struct columns *c,
                     const char *note)
{
    buf_printf(h->out, "<tr><td class=\"note\" colspan=\"%zu\">",
               count_shown(c));
    html_text(h, note);
    buf_text(h->out, "</td></tr>\n");
}

static void put_table(const struct html *h, const struct columns *c)
{
    buf_text(h->out, "<div class=\"wide\" tabindex=\"0\" role=\"region\" "
                     "aria-label=\"storages\"><table>\n<thead>");
    put_row(h, c, NULL);
    buf_text(h->out, "</thead>\n<tbody>\n");
    for (size_t i = 0; i < c->rows; i++)
        if (c->row[i].note != NULL)
            put_note(h, c, c->row[i].note);
        else
            put_row(h, c, &c->row[i]);
    buf_text(h->out, "</tbody></table></div>\n");
}

static void put_storages(const struct html *h)
{
    const struct report_style style = {.tree = true};
    const struct writer w = wide_writer(h, &style, NULL);
    struct columns c = screen_storages(&w);
    for (size_t k = 0; c.rows > 0 && c.column[k].heading != NULL; k++)
        c.shown |= (unsigned)columns_used(&c, k) << k;
    if (c.rows > 0) {
        char *const legend = screen_legend(&c);
        put_table(h, &c);
        html_element(h, "p class=\"faint\"", legend);
        free(legend);
    }
    columns_free(&c);
}

/* ---- what stays open ----------------------------------------------------- */

static bool is_bound(const struct finding *f)
{
    return f->status == STATUS_AT_LEAST || f->status == STATUS_AT_MOST;
}

static const struct open_kind {
    const char *title;
    bool (*is)(const struct finding *finding);
} open_kinds[] = {
    {"In doubt", open_is_doubted},
    {"Bounds", is_bound},
    {"Not measured", open_is_missing},
};

static void put_open_kind(const struct html *h, const struct open_kind *kind,
                          size_t count)
{
    buf_printf(h->out, "<details><summary>%s: %zu</summary>\n<dl>\n",
               kind->title, count);
    for (size_t i = 0; i < h->results->finding_count; i++) {
        const struct finding *const f = h->results->findings[i];
        if (!kind->is(f))
            continue;
        char *const said = phrase_finding(f, h->clock_hz);
        buf_text(h->out, "<dt><code>");
        html_text(h, f->id);
        buf_text(h->out, "</code></dt><dd>");
        html_text(h, said);
        buf_text(h->out, "</dd>\n");
        free(said);
    }
    buf_text(h->out, "</dl></details>\n");
}

static void put_open(const struct html *h)
{
    size_t all = 0;
    html_element(h, "h3", "What stays open");
    for (size_t k = 0; k < COUNT_OF(open_kinds); k++) {
        size_t count = 0;
        for (size_t i = 0; i < h->results->finding_count; i++)
            count += open_kinds[k].is(h->results->findings[i]);
        if (count > 0)
            put_open_kind(h, &open_kinds[k], count);
        all += count;
    }
    if (all == 0)
        html_element(h, "p", "Nothing: all that was asked is measured.");
}

void html_answer(const struct html *h)
{
    put_lines(h, "warning", headline_warnings);
    put_notice(h);
    put_lines(h, "facts", headline_facts);
    put_storages(h);
    put_open(h);
}
