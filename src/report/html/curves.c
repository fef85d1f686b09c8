/*
 * The curves behind a finding, with what was concluded of them: where the
 * finding's value lies along the axis, between what, or what a model says.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/html/figure.h"
#include "report/html/plots.h"
#include "report/plot/cells.h"
#include "report/plot/chart.h"
#include "report/plot/raster.h"
#include "report/quantity.h"
#include "report/storage.h"
#include "report/tree.h"

/* Curves that have their axes in common, and are of about one height. */
struct group {
    const struct html *h;
    const struct finding *finding;
    const struct finding_curve *curve[CHART_SERIES];
    size_t count;
};

static bool same_axes(const struct finding_curve *a,
                      const struct finding_curve *b)
{
    return strcmp(a->x_name, b->x_name) == 0 &&
           strcmp(a->x_unit, b->x_unit) == 0 &&
           strcmp(a->y_unit, b->y_unit) == 0;
}

static double height_of(const struct finding_curve *c)
{
    double most = 0;
    for (size_t i = 0; i < c->count; i++)
        most = fmax(most, fabs(c->y[i]));
    return most;
}

/* A row each from where one is to where the other is. */
static bool are_spans(const struct finding_curve *a,
                      const struct finding_curve *b)
{
    return strcmp(a->name, "start") == 0 && strcmp(b->name, "end") == 0;
}

/* So that the steps of the lower one are seen. */
static bool same_heights(const struct finding_curve *a,
                         const struct finding_curve *b)
{
    const double x = height_of(a), y = height_of(b);
    return fmax(x, y) <= 2 * fmin(x, y);
}

static bool belong(const struct finding_curve *a, const struct finding_curve *b)
{
    return same_axes(a, b) && (a == b || are_spans(a, b) || same_heights(a, b));
}

/* ---- what is beside the points ------------------------------------------- */

/* Where along x the value lies, if it is of what x is of. */
static bool mark_value(const struct group *g, struct chart_mark *mark,
                       struct buf *text)
{
    const struct finding *const f = g->finding;
    if (f->value.kind != VALUE_NUMBER || f->unit[0] == '\0' ||
        strcmp(f->unit, g->curve[0]->x_unit) != 0)
        return false;
    buf_text(text, f->status == STATUS_AT_LEAST  ? "≥ "
                   : f->status == STATUS_AT_MOST ? "≤ "
                                                 : "");
    quantity_number(text, f->value.number, 0, f->unit);
    *mark = (struct chart_mark){.label = buf_string(text),
                                .at = f->value.number,
                                .low = f->value.number,
                                .high = f->value.number};
    if (f->has_interval) {
        mark->low = f->interval[0];
        mark->high = f->interval[1];
    }
    return true;
}

/* "latency", unless they have names of their own: "value of each". */
static const char *name_of_y(const struct group *g)
{
    const char *const name = g->curve[0]->name;
    if (g->count == 1)
        return name;
    if (are_spans(g->curve[0], g->curve[1]))
        return "time";
    return strcmp(g->curve[0]->y_unit, "cycles") == 0 ? "latency" : "value";
}

static void put_points(const struct group *g, const struct finding_curve *c)
{
    for (size_t i = 0; i < c->count; i++) {
        data_row(g->h);
        if (g->count > 1)
            data_text(g->h, c->name);
        data_number(g->h, c->x[i]);
        data_number(g->h, c->y[i]);
        buf_text(g->h->out, "</tr>");
    }
}

static void put_data(const struct group *g)
{
    const struct finding_curve *const c = g->curve[0];
    size_t count = 0;
    for (size_t i = 0; i < g->count; i++)
        count += g->curve[i]->count;
    data_open(g->h, g->count > 1 ? name_of_y(g) : c->name, count);
    if (g->count > 1)
        data_head(g->h, "curve", "");
    data_head(g->h, c->x_name, c->x_unit);
    data_head(g->h, g->count > 1 ? name_of_y(g) : c->name, c->y_unit);
    buf_text(g->h->out, "</tr></thead>");
    for (size_t i = 0; i < g->count; i++)
        put_points(g, g->curve[i]);
    data_close(g->h, g->finding);
}

static void put_below(const struct group *g)
{
    char *evidence[CHART_SERIES];
    size_t count = 0;
    for (size_t i = 0; i < g->count; i++) {
        char *const own = g->curve[i]->evidence;
        if (own != NULL &&
            (count == 0 || strcmp(own, evidence[count - 1]) != 0))
            evidence[count++] = own;
    }
    figure_repeat(g->h, g->finding->study, evidence, count);
    put_data(g);
}

/* ---- plots --------------------------------------------------------------- */

static void put_chart(const struct group *g, const struct chart_series *series,
                      size_t count, const char *y_name)
{
    struct buf said = {0};
    struct chart_mark mark;
    const struct finding_curve *const c = g->curve[0];
    char *const name = html_name(g->finding->id);
    char *const label = xasprintf("%s: %s by %s", name, y_name, c->x_name);
    const struct chart chart = {
        .label = label,
        .x = {c->x_name, c->x_unit},
        .y = {y_name, c->y_unit},
        .series = series,
        .series_count = count,
        .mark = &mark,
        .mark_count = mark_value(g, &mark, &said),
    };
    chart_write(&chart, g->h->out);
    free(label);
    free(name);
    buf_free(&said);
}

static void draw_curves(const struct group *g)
{
    struct chart_series series[CHART_SERIES];
    for (size_t i = 0; i < g->count; i++)
        series[i] = (struct chart_series){.name = g->curve[i]->name,
                                          .x = g->curve[i]->x,
                                          .y = g->curve[i]->y,
                                          .count = g->curve[i]->count};
    put_chart(g, series, g->count, name_of_y(g));
    put_below(g);
}

/* Lines that a cache of this finding's size holds; 0: not known. */
static double lines_held(const struct group *g)
{
    char *const component =
        xstrndup(g->finding->id, strcspn(g->finding->id, "."));
    double bytes = 0, line = 0;
    const bool known =
        g->finding->value.kind == VALUE_NUMBER &&
        finding_number(storage_finding(g->h->results, component, "line"),
                       &line) &&
        line > 0;
    bytes = known ? g->finding->value.number / line : 0;
    free(component);
    return bytes;
}

/* Of lines loaded, or of a sample of bytes, the share that is still there: all
 * of as many as fit, and the fewer the more there are. */
struct shares {
    double held; /* of what x counts; 0: not known */
    bool of_lines;
};

static struct shares shares_of(const struct group *g)
{
    const bool of_lines = strcmp(g->curve[0]->x_unit, "B") != 0;
    const struct value *const size = &g->finding->value;
    if (of_lines)
        return (struct shares){lines_held(g), true};
    return (struct shares){size->kind == VALUE_NUMBER ? size->number : 0,
                           false};
}

enum { MODEL_POINTS = 60 };

static struct chart_series model_of(const struct group *g, double held,
                                    double *x, double *y)
{
    const struct finding_curve *const c = g->curve[0];
    const double first = fmin(c->x[0], held / 2);
    const double last = fmax(c->x[c->count - 1], 2 * held);
    for (size_t i = 0; i < MODEL_POINTS; i++) {
        x[i] = first + (last - first) * (double)i / (MODEL_POINTS - 1);
        y[i] = x[i] > held ? 100 * held / x[i] : 100;
    }
    return (struct chart_series){.name = "as many as the size holds",
                                 .x = x,
                                 .y = y,
                                 .count = MODEL_POINTS,
                                 .model = true};
}

static void draw_shares(const struct group *g)
{
    const struct finding_curve *const c = g->curve[0];
    const struct shares s = shares_of(g);
    double *const share = xcalloc(c->count, sizeof *share);
    double x[MODEL_POINTS], y[MODEL_POINTS];
    for (size_t i = 0; i < c->count; i++)
        share[i] = !s.of_lines   ? 100 * c->y[i]
                   : c->x[i] > 0 ? 100 * c->y[i] / c->x[i]
                                 : NAN;
    const struct chart_series series[] = {
        {.name = "looks that hit", .x = c->x, .y = share, .count = c->count},
        model_of(g, s.held, x, y),
    };
    const struct finding_curve named = {.id = c->id,
                                        .name = c->name,
                                        .x_name = c->x_name,
                                        .x_unit = c->x_unit,
                                        .y_unit = "%",
                                        .count = c->count};
    const struct group shown = {g->h, g->finding, {&named}, 1};
    put_chart(&shown, series, s.held > 0 ? 2 : 1, "hit share");
    free(share);
    put_below(g);
}

/* Starts and ends of the same rows. */
static void draw_spans(const struct group *g)
{
    const struct finding_curve *const c = g->curve[0], *const e = g->curve[1];
    char *const label = html_name(g->finding->id);
    const struct raster raster = {
        .label = label,
        .row = c->x_name,
        .unit = c->y_unit,
        .start = c->y,
        .end = e->y,
        .count = c->count < e->count ? c->count : e->count,
    };
    raster_write(&raster, g->h->out);
    free(label);
    put_below(g);
}

/* Which of the other SMs have something of the first one's, 1, or not, 0. */
static void draw_sms(const struct group *g)
{
    enum { SMS_MOST = 1024 };
    const struct finding_curve *const c = g->curve[0];
    int of[SMS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < SMS_MOST; i++)
        of[i] = i == 0 ? 1 : CELLS_NONE;
    for (size_t i = 0; i < c->count; i++)
        if (c->x[i] >= 0 && c->x[i] < SMS_MOST) {
            const size_t sm = (size_t)c->x[i];
            of[sm] = c->y[i] > 0.5;
            count = sm + 1 > count ? sm + 1 : count;
        }
    char *const label = html_name(g->finding->id);
    cells_write(&(struct cells){label, "SM", c->name, of, count}, g->h->out);
    free(label);
    put_below(g);
}

/* Which bits of their addresses lines of one set have. */
static void draw_members(const struct group *g)
{
    enum { MEMBERS_MOST = 32 };
    const struct finding_curve *const c = g->curve[0];
    unsigned long long mask[MEMBERS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < c->count && count < MEMBERS_MOST; i++)
        if (c->y[i] >= 0 && c->y[i] < 0x1p63)
            mask[count++] = (unsigned long long)c->y[i];
    char *const label = html_name(g->finding->id);
    masks_write(&(struct masks){label, "line", mask, count}, g->h->out);
    free(label);
    put_below(g);
}

static bool is_of(const struct group *g, const char *name, const char *x_name)
{
    return g->count == 1 && strcmp(g->curve[0]->x_name, x_name) == 0 &&
           (name == NULL || strcmp(g->curve[0]->name, name) == 0);
}

static void draw_group(const struct group *g)
{
    const struct finding_curve *const c = g->curve[0];
    figure_open(g->h, g->finding);
    if (g->count == 2 && are_spans(c, g->curve[1]))
        draw_spans(g);
    else if (is_of(g, "lines left", "lines loaded") ||
             is_of(g, "sample", "bytes"))
        draw_shares(g);
    else if (is_of(g, "conflict set", "member"))
        draw_members(g);
    else if (is_of(g, NULL, "sm"))
        draw_sms(g);
    else
        draw_curves(g);
    figure_close(g->h);
}

void plots_of_curves(const struct html *h, const struct finding *f,
                     const struct finding_curve *const *curves, size_t count)
{
    bool *const done = xcalloc(count, sizeof *done);
    for (size_t i = 0; i < count; i++) {
        struct group g = {.h = h, .finding = f};
        if (done[i])
            continue;
        for (size_t k = i; k < count && g.count < CHART_SERIES; k++)
            if (!done[k] && belong(curves[i], curves[k])) {
                g.curve[g.count++] = curves[k];
                done[k] = true;
            }
        draw_group(&g);
    }
    free(done);
}
