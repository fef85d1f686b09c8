/*
 * A fleet as a page, in the style of the report of one GPU: what was read, who
 * is out, and a strip of numbers for each finding in which somebody is.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/fleet/column.h"
#include "report/fleet/fleet.h"
#include "report/html/html.h"
#include "report/plot/strip.h"

/* A page of more is none to look at; JSON has all. */
enum { ROWS_MOST = 1000, STRIPS_MOST = 60, MARKS_MOST = 12 };

static void put_cell(const struct html *h, const char *kind, const char *text)
{
    buf_printf(h->out, "<td class=\"%s\">", kind);
    html_text(h, text);
    buf_text(h->out, "</td>");
}

static void take_cell(const struct html *h, const char *kind, struct buf *cell)
{
    put_cell(h, kind, buf_string(cell));
    buf_clear(cell);
}

static void open_table(const struct html *h, const char *const *heads)
{
    buf_text(h->out,
             "<div class=\"wide\"><table class=\"sortable\"><thead><tr>");
    for (; *heads != NULL; heads++)
        html_element(h, "th scope=\"col\"", *heads);
    buf_text(h->out, "</tr></thead><tbody>\n");
}

static void close_table(const struct html *h)
{
    buf_text(h->out, "</tbody></table></div>\n");
}

/* ---- what was read ------------------------------------------------------- */

static void put_reports(const struct html *h, const struct fleet *f)
{
    static const char *const heads[] = {"file", "what", "why", NULL};
    struct buf text = {0};
    buf_printf(&text, "%zu reports read", f->now.states[FLEET_READ]);
    for (int i = FLEET_READ + 1; i < FLEET_STATES; i++)
        if (f->now.states[i] > 0)
            buf_printf(&text, ", %zu %s", f->now.states[i],
                       fleet_state_words((enum fleet_state)i));
    html_element(h, "p", buf_string(&text));
    buf_free(&text);
    if (f->now.note_count == 0)
        return;
    buf_text(h->out, "<details><summary>Files to be said more of</summary>\n");
    open_table(h, heads);
    for (size_t i = 0; i < f->now.note_count && i < ROWS_MOST; i++) {
        const struct fleet_note *const n = &f->now.notes[i];
        buf_text(h->out, "<tr>");
        put_cell(h, "text", n->path);
        put_cell(h, "text", fleet_state_words(n->state));
        put_cell(h, "text", n->why != NULL ? n->why : "");
        buf_text(h->out, "</tr>\n");
    }
    close_table(h);
    buf_text(h->out, "</details>\n");
}

static void put_missing(const struct html *h, const struct fleet *f)
{
    if (f->missing_count == 0)
        return;
    buf_text(h->out, "<p class=\"warning\">No report of hosts:");
    for (size_t i = 0; i < f->missing_count; i++) {
        buf_text(h->out, i > 0 ? ", " : " ");
        html_text(h, f->missing[i]);
    }
    buf_text(h->out, "</p>\n");
}

/* ---- who is out ---------------------------------------------------------- */

static void put_row(const struct html *h, const struct fleet *f,
                    const struct fleet_model *m, const struct fleet_out *o)
{
    const struct fleet_finding *const g = &m->findings[o->finding];
    const struct fleet_gpu *const gpu = &f->now.gpus[o->gpu];
    struct buf cell = {0};
    buf_text(h->out, "<tr>");
    put_cell(h, "text", o->level == FLEET_RACK ? o->name : gpu->host);
    if (o->level == FLEET_GPU)
        buf_text(&cell, fleet_gpu_name(gpu));
    else
        buf_printf(&cell, "%s, %zu GPUs",
                   o->level == FLEET_HOST ? "the host" : "the rack", o->gpus);
    take_cell(h, "text", &cell);
    put_cell(h, "text", fleet_column(f, g->column));
    fleet_put(f, &cell, g->column, o->words, o->number);
    take_cell(h, "num", &cell);
    if (!o->words && !g->words && isfinite(o->share))
        buf_printf(&cell, "%+.3g %%", 100 * o->share);
    take_cell(h, "num", &cell);
    fleet_put(f, &cell, g->column, g->words, g->centre);
    take_cell(h, "num", &cell);
    buf_text(h->out, "</tr>\n");
    buf_free(&cell);
}

static void put_out(const struct html *h, const struct fleet *f,
                    const struct fleet_model *m)
{
    static const char *const heads[] = {"host",   "GPU",    "finding", "has",
                                        "beyond", "others", NULL};
    if (m->out_count == 0)
        return;
    open_table(h, heads);
    for (size_t i = 0; i < m->out_count && i < ROWS_MOST; i++)
        put_row(h, f, m, &m->out[i]);
    close_table(h);
    if (m->out_count > ROWS_MOST)
        buf_printf(h->out, "<p class=\"faint\">and %zu more</p>\n",
                   m->out_count - ROWS_MOST);
}

/* ---- strips -------------------------------------------------------------- */

struct strips {
    const struct html *h;
    const struct fleet *f;
    const struct fleet_model *m;
    size_t next; /* finding of the next column */
    size_t shown;
};

static size_t mark_ones(const struct strips *s, size_t finding,
                        struct strip_mark *marks, char **names)
{
    size_t count = 0;
    for (size_t i = 0; i < s->m->out_count && count < MARKS_MOST; i++) {
        const struct fleet_out *const o = &s->m->out[i];
        if (o->finding != finding || o->level != FLEET_GPU || o->words)
            continue;
        names[count] = xasprintf("%s %s", s->f->now.gpus[o->gpu].host,
                                 fleet_gpu_name(&s->f->now.gpus[o->gpu]));
        marks[count] = (struct strip_mark){names[count], o->number};
        count++;
    }
    return count;
}

static void put_strip(struct strips *s, const struct column *c, size_t finding)
{
    const struct fleet_finding *const g = &s->m->findings[finding];
    const char *const name = fleet_column(s->f, c->number);
    struct strip_mark marks[MARKS_MOST];
    char *names[MARKS_MOST];
    double *const values = xcalloc(c->count + 1, sizeof *values);
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        if (!c->cells[i].words)
            values[count++] = c->cells[i].number;
    const size_t marked = mark_ones(s, finding, marks, names);
    buf_text(s->h->out, "<figure><figcaption>");
    html_element(s->h, "h3", name);
    buf_text(s->h->out, "</figcaption>\n");
    strip_write(&(struct strip){.label = name,
                                .name = name,
                                .unit = fleet_unit(s->f, c->number),
                                .values = values,
                                .count = count,
                                .low = g->centre - g->limit,
                                .high = g->centre + g->limit,
                                .marks = marks,
                                .mark_count = marked},
                s->h->out);
    buf_text(s->h->out, "</figure>\n");
    for (size_t i = 0; i < marked; i++)
        free(names[i]);
    free(values);
}

/* Columns come as they did when they were judged. */
static void take_column(void *context, const struct column *c)
{
    struct strips *const s = context;
    const size_t finding = s->next++;
    const struct fleet_finding *const g = &s->m->findings[finding];
    if (g->out > 0 && !g->words && s->shown++ < STRIPS_MOST)
        put_strip(s, c, finding);
}

static void put_model(const struct html *h, const struct fleet *f,
                      const struct fleet_model *m)
{
    struct strips strips = {.h = h, .f = f, .m = m};
    buf_text(h->out, "<section>\n<h2>");
    html_text(h, fleet_model_name(f, m->name));
    buf_printf(h->out,
               "</h2>\n<p>%zu GPUs in %zu hosts, %zu findings: %zu GPUs "
               "out</p>\n",
               m->count, m->hosts, m->finding_count, m->gpus_out);
    put_out(h, f, m);
    buf_text(h->out, "<div class=\"figures\">\n");
    columns_each(f, &f->now, m->from, m->count, take_column, &strips);
    buf_text(h->out, "</div>\n</section>\n");
}

/* ---- changes ------------------------------------------------------------- */

static void put_change(const struct html *h, const struct fleet *f,
                       const struct fleet_change *c)
{
    struct buf cell = {0};
    const bool all = c->gpu == SIZE_MAX;
    buf_text(h->out, "<tr>");
    put_cell(h, "text", all ? "all" : f->now.gpus[c->gpu].host);
    put_cell(h, "text",
             all ? fleet_model_name(f, c->model)
                 : fleet_gpu_name(&f->now.gpus[c->gpu]));
    put_cell(h, "text", fleet_column(f, c->column));
    if (!all)
        fleet_put(f, &cell, c->column, c->words, c->before);
    take_cell(h, "num", &cell);
    if (!all)
        fleet_put(f, &cell, c->column, c->words, c->now);
    take_cell(h, "num", &cell);
    if (!c->words && isfinite(c->share))
        buf_printf(&cell, "%+.3g %%", 100 * c->share);
    take_cell(h, "num", &cell);
    buf_text(h->out, "</tr>\n");
    buf_free(&cell);
}

static void put_changes(const struct html *h, const struct fleet *f)
{
    static const char *const heads[] = {"host", "GPU", "finding", "before",
                                        "now",  "by",  NULL};
    buf_printf(h->out,
               "<section>\n<h2>Changed</h2>\n<p>%zu findings, %zu GPUs no "
               "longer there, %zu new</p>\n",
               f->change_count, f->gone_count, f->came_count);
    if (f->change_count > 0) {
        open_table(h, heads);
        for (size_t i = 0; i < f->change_count && i < ROWS_MOST; i++)
            put_change(h, f, &f->changes[i]);
        close_table(h);
    }
    buf_text(h->out, "</section>\n");
}

void fleet_page(const struct fleet *f, struct buf *out)
{
    const struct html h = {.out = out};
    html_open(&h, "A fleet of GPUs");
    buf_text(out, "<main>\n<section id=\"answer\">\n");
    put_reports(&h, f);
    put_missing(&h, f);
    buf_text(out, "</section>\n");
    if (f->compared)
        put_changes(&h, f);
    for (size_t i = 0; i < f->model_count; i++)
        put_model(&h, f, &f->models[i]);
    buf_text(out, "</main>\n");
    html_script(out);
    buf_text(out, "</body>\n</html>\n");
}
