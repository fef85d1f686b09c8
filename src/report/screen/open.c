#include "report/screen/open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct open {
    const struct results *results;
    size_t missing, doubted, bounds;
};

bool open_is_missing(const struct finding *f)
{
    return f->status == STATUS_NOT_MEASURED && !f->skipped &&
           (f->study == NULL || strcmp(f->study, "properties") != 0);
}

bool open_is_doubted(const struct finding *f)
{
    return f->status == STATUS_IN_DOUBT ||
           (f->status == STATUS_MEASURED && f->because != NULL);
}

static struct open count_open(const struct results *r)
{
    struct open o = {.results = r};
    for (size_t i = 0; i < r->finding_count; i++) {
        const struct finding *const f = r->findings[i];
        o.missing += open_is_missing(f);
        o.bounds += f->status == STATUS_AT_LEAST || f->status == STATUS_AT_MOST;
        o.doubted += open_is_doubted(f);
    }
    return o;
}

/* The first so many of what is missing: " (l2.set_bits, …)" */
static void put_names(struct buf *out, const struct open *o, size_t most)
{
    size_t named = 0;
    for (size_t i = 0; named < most && i < o->results->finding_count; i++) {
        const struct finding *const f = o->results->findings[i];
        if (open_is_missing(f))
            buf_printf(out, "%s%s", named++ > 0 ? ", " : " (", f->id);
    }
    if (named > 0)
        buf_text(out, named < o->missing ? ", …)" : ")");
}

static void put_count(struct buf *out, size_t count, const char *what)
{
    if (count > 0)
        buf_printf(out, "%s%zu %s", out->length > 0 ? ", " : "Open: ", count,
                   what);
}

/* "; 436 of 436 loads" of what no study asked are as the findings foretell. */
static void put_predicted(struct buf *out, const struct results *r,
                          const char *what, const char *words)
{
    char id[32];
    double count, share;
    snprintf(id, sizeof id, "predicted.%s", what);
    if (!finding_number(results_find(r, id), &count))
        return;
    snprintf(id, sizeof id, "predicted.%s_right", what);
    if (!finding_number(results_find(r, id), &share))
        return;
    buf_printf(out, "%s%.0f of %.0f %s", out->length > 0 ? ", " : "",
               share * count, count, words);
}

static void predicted_line(const struct writer *w)
{
    const struct results *const r = w->results;
    struct buf out = {0};
    if (results_find(r, "predicted.means") == NULL &&
        results_find(r, "predicted.loads") == NULL)
        return;
    put_predicted(&out, r, "loads", "loads");
    put_predicted(&out, r, "means", "mean costs");
    char *const text =
        out.length > 0 ? xasprintf("Held-out tests: %s as predicted", out.data)
                       : xstrdup("Held-out tests: none could be asked");
    page_line(&w->page, &(struct line){.text = text});
    free(text);
    buf_free(&out);
}

static void put_open(struct buf *out, const struct open *o, size_t names)
{
    buf_clear(out);
    put_count(out, o->missing, "not measured");
    put_names(out, o, names);
    put_count(out, o->doubted, "in doubt");
    put_count(out, o->bounds, o->bounds > 1 ? "bounds" : "bound");
    buf_printf(out, "%s -v says ", out->length > 0 ? ";" : "All is measured;");
    buf_text(out, o->missing + o->doubted + o->bounds > 0 ? "why" : "more");
}

void open_line(const struct writer *w)
{
    const struct open o = count_open(w->results);
    struct buf out = {0};
    size_t names = o.missing;
    do
        put_open(&out, &o, names);
    while (page_columns(out.data) > page_width(&w->page) && names-- > 0);
    page_line(&w->page, &(struct line){.text = out.data});
    buf_free(&out);
    predicted_line(w);
}
