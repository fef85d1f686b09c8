/*
 * The figures in sections: a finding is drawn where its id says, in the order
 * of the report.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/html/plots.h"

/* In the order of the page; the first row whose pattern is the id's holds, and
 * each pattern is asked before those of later ranks. */
static const struct section {
    const char *id, *title;
    const char *const *patterns;
} sections[] = {
    {"sizes", "Sizes", TEXTS("*.size", "*.near_size", "*.size_by_change")},
    {"sets", "Sets and policies",
     TEXTS("*_bits", "*.set_ways", "*.sets", "*.ways", "*.policy",
           "*.policy_weights")},
    {"banks", "Shared memory", TEXTS("shared.*latency*")},
    {"translation", "Translation", TEXTS("tlb*", "memory.patterns_*")},
    {"sms", "Which SMs",
     TEXTS("sm.*", "*_of_sm", "*.sm_sides", "*_of_warp", "*.sms_sharing")},
    {"operators", "Operators and hints", TEXTS("transpose.*")},
    {"links", "Links", TEXTS("link.*")},
    {"bandwidth", "Bandwidth", TEXTS("*bandwidth*")},
    {"load", "Latency under load", TEXTS("*loaded_latency")},
    {"contention", "Contention", TEXTS("contention.*")},
    {"arithmetic", "Arithmetic", TEXTS("arithmetic.*")},
    {"tensor", "Matrix products", TEXTS("tensor.*")},
    {"scheduling", "Blocks and warps", TEXTS("scheduling.*")},
    {"other", "Other", TEXTS("*")},
};

struct figures {
    const struct html *html;
    struct buf body[COUNT_OF(sections)];
    /* The curves in the order of their ids, and of the report. */
    const struct finding_curve **curve;
    size_t curves;
};

static size_t section_of(const char *id)
{
    for (size_t i = 0; i < COUNT_OF(sections); i++)
        for (const char *const *p = sections[i].patterns; *p != NULL; p++)
            if (text_glob(*p, id))
                return i;
    return COUNT_OF(sections) - 1;
}

struct ranked {
    const struct finding_curve *curve;
    size_t rank;
};

static int by_id(const void *a, const void *b)
{
    const struct ranked *const x = a, *const y = b;
    const int order = strcmp(x->curve->id, y->curve->id);
    if (order != 0)
        return order;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void sort_curves(struct figures *figures)
{
    const struct results *const r = figures->html->results;
    struct ranked *const all = xcalloc(r->curve_count + 1, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; i < r->curve_count; i++)
        if (r->curves[i]->count > 0)
            all[count++] = (struct ranked){r->curves[i], i};
    qsort(all, count, sizeof *all, by_id);
    figures->curve = xcalloc(count + 1, sizeof(struct finding_curve *));
    figures->curves = count;
    for (size_t i = 0; i < count; i++)
        figures->curve[i] = all[i].curve;
    free(all);
}

/* The first curve of the finding, and how many there are. */
static size_t find_curves(const struct figures *figures, const char *id,
                          size_t *first)
{
    size_t low = 0, high = figures->curves, end;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(figures->curve[middle]->id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < figures->curves; end++)
        if (strcmp(figures->curve[end]->id, id) != 0)
            break;
    *first = low;
    return end - low;
}

static void draw_finding(struct figures *figures, const struct finding *f)
{
    size_t first;
    const size_t count = find_curves(figures, f->id, &first);
    struct html h = *figures->html;
    h.out = &figures->body[section_of(f->id)];
    plots_of_curves(&h, f, figures->curve + first, count);
    if (plots_can_list(f))
        plots_of_list(&h, f);
    if (plots_can_policy(f))
        plots_of_policy(&h, f);
}

struct figures *figures_of(const struct html *h)
{
    struct figures *const figures = xcalloc(1, sizeof *figures);
    figures->html = h;
    sort_curves(figures);
    for (size_t i = 0; i < h->results->finding_count; i++)
        draw_finding(figures, h->results->findings[i]);
    return figures;
}

void figures_links(const struct figures *figures)
{
    for (size_t i = 0; i < COUNT_OF(sections); i++)
        if (figures->body[i].length > 0)
            buf_printf(figures->html->out, "<a href=\"#%s\">%s</a>\n",
                       sections[i].id, sections[i].title);
}

void figures_write(const struct figures *figures)
{
    struct buf *const out = figures->html->out;
    for (size_t i = 0; i < COUNT_OF(sections); i++) {
        const struct buf *const body = &figures->body[i];
        if (body->length == 0)
            continue;
        buf_printf(out, "<section id=\"%s\">\n<h2>%s</h2>\n", sections[i].id,
                   sections[i].title);
        buf_text(out, "<div class=\"figures\">\n");
        buf_append(out, body->data, body->length);
        buf_text(out, "</div></section>\n");
    }
}

void figures_free(struct figures *figures)
{
    for (size_t i = 0; i < COUNT_OF(sections); i++)
        buf_free(&figures->body[i]);
    free(figures->curve);
    free(figures);
}
