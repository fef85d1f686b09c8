#include "report/plot/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/plot/draw.h"
#include "report/plot/scale.h"
#include "report/quantity.h"

/* Of the picture, which is DRAW_WIDTH wide: the plot, what stands around it,
 * and a line of the legend. */
enum {
    PLOT_HEIGHT = 180,
    LEFT = 74,
    RIGHT = 24,
    TOP = 20,
    BOTTOM = 40,
    LEGEND_LINE = 18,
    TICK = 4,
    TICKS_X = 6,
    TICKS_Y = 5,
};

struct drawing {
    const struct chart *chart;
    struct buf *out;
    struct scale x, y;
    double top, bottom; /* of the plot */
};

static size_t drawn(const struct chart *c)
{
    return c->series_count < CHART_SERIES ? c->series_count : CHART_SERIES;
}

/* ---- ranges -------------------------------------------------------------- */

static void hold_series(const struct chart_series *s, struct range *x,
                        struct range *y)
{
    for (size_t i = 0; i < s->count; i++) {
        if (!scale_can_show(s->y[i]))
            continue;
        range_hold(x, s->x[i]);
        range_hold(y, s->y[i]);
        if (s->low != NULL && s->high != NULL) {
            range_hold(y, s->low[i]);
            range_hold(y, s->high[i]);
        }
    }
}

/* True of numbers that grow by factors: half of them lie in the first quarter
 * of what they span.  Bytes do, whichever are asked about more closely. */
static bool is_growing(const struct chart *c, const struct range *x)
{
    size_t all = 0, first = 0;
    for (size_t i = 0; i < c->series[0].count && c->series_count > 0; i++) {
        all++;
        first += c->series[0].x[i] - x->low < (x->high - x->low) / 4;
    }
    return 2 * first >= all || strcmp(c->x.unit, "B") == 0;
}

static void find_scales(struct drawing *d)
{
    struct range x = range_none, y = range_none;
    for (size_t i = 0; i < drawn(d->chart); i++)
        hold_series(&d->chart->series[i], &x, &y);
    const bool binary = strcmp(d->chart->x.unit, "B") == 0;
    d->x = is_growing(d->chart, &x) ? scale_doubling(&x, binary)
                                    : scale_even(&x, binary);
    d->y = scale_even(&y, strcmp(d->chart->y.unit, "B") == 0);
    d->x.from = LEFT;
    d->x.to = DRAW_WIDTH - RIGHT;
    d->y.from = d->bottom;
    d->y.to = d->top;
}

/* ---- axes ---------------------------------------------------------------- */

/* A unit that scales stands beside each number, and any other with the axis's
 * name. */
static void put_name(struct buf *out, const struct chart_axis *axis)
{
    buf_text(out, axis->name);
    if (axis->unit[0] != '\0' && !quantity_scales(axis->unit))
        buf_printf(out, " (%s)", axis->unit);
}

static void put_tick(struct buf *out, const struct chart_axis *axis,
                     double number)
{
    buf_clear(out);
    const bool units = quantity_scales(axis->unit) && fabs(number) > 0;
    quantity_number(out, number, 0, units ? axis->unit : "");
}

static void draw_x_axis(const struct drawing *d)
{
    struct buf text = {0};
    const struct ticks t = scale_ticks(&d->x, TICKS_X);
    draw_line(d->out, "axis", (struct at){d->x.from, d->bottom},
              (struct at){d->x.to, d->bottom});
    for (size_t i = 0; i < t.count; i++) {
        const double at = scale_place(&d->x, t.at[i]);
        put_tick(&text, &d->chart->x, t.at[i]);
        draw_line(d->out, "axis", (struct at){at, d->bottom},
                  (struct at){at, d->bottom + TICK});
        draw_text(d->out, "tick", (struct at){at, d->bottom + 16}, DRAW_MIDDLE,
                  buf_string(&text));
    }
    buf_clear(&text);
    put_name(&text, &d->chart->x);
    draw_text(d->out, "name",
              (struct at){(d->x.from + d->x.to) / 2, d->bottom + 33},
              DRAW_MIDDLE, buf_string(&text));
    buf_free(&text);
}

static void draw_y_axis(const struct drawing *d)
{
    struct buf text = {0};
    const struct ticks t = scale_ticks(&d->y, TICKS_Y);
    for (size_t i = 0; i < t.count; i++) {
        const double at = scale_place(&d->y, t.at[i]);
        put_tick(&text, &d->chart->y, t.at[i]);
        draw_line(d->out, "grid", (struct at){LEFT, at},
                  (struct at){d->x.to, at});
        draw_text(d->out, "tick", (struct at){LEFT - TICK, at + 4}, DRAW_END,
                  buf_string(&text));
    }
    buf_clear(&text);
    put_name(&text, &d->chart->y);
    draw_upward(d->out, "name", (struct at){12, (d->top + d->bottom) / 2},
                buf_string(&text));
    buf_free(&text);
}

/* ---- series -------------------------------------------------------------- */

/* Besides its colour a series has a shape, so that nobody needs colours. */
static const char *const shapes[CHART_SERIES] = {
    "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    "m-3-3h6v6h-6z",
    "m0-4l4 7h-8z",
    "m0-4l4 4l-4 4l-4-4z",
    "m0 4l4-7h-8z",
    "m-1-4h2v8h-2z",
    "m-4-1h8v2h-8z",
    "m-4-3l4 2l4-2l-4 6z",
};

static bool is_seen(const struct drawing *d, const struct chart_series *s,
                    size_t i)
{
    return scale_holds(&d->x, s->x[i]) && scale_holds(&d->y, s->y[i]);
}

static struct at place_of(const struct drawing *d, const struct chart_series *s,
                          size_t i)
{
    return (struct at){scale_place(&d->x, s->x[i]),
                       scale_place(&d->y, s->y[i])};
}

static void draw_joined(const struct drawing *d, const struct chart_series *s,
                        size_t number)
{
    bool down = false;
    buf_printf(d->out, "<path class=\"%s s%zu\" d=\"",
               s->model ? "model" : "line", number);
    for (size_t i = 0; i < s->count; i++) {
        const struct at at = place_of(d, s, i);
        if (is_seen(d, s, i))
            buf_printf(d->out, "%c%.1f %.1f", down ? 'L' : 'M', at.x, at.y);
        down = is_seen(d, s, i);
    }
    buf_text(d->out, "\"/>\n");
}

static void draw_points(const struct drawing *d, const struct chart_series *s,
                        size_t number)
{
    buf_printf(d->out, "<path class=\"points s%zu\" d=\"", number);
    for (size_t i = 0; i < s->count; i++) {
        const struct at at = place_of(d, s, i);
        if (is_seen(d, s, i))
            buf_printf(d->out, "M%.1f %.1f%s", at.x, at.y, shapes[number]);
    }
    buf_text(d->out, "\"/>\n");
}

static void draw_spreads(const struct drawing *d, const struct chart_series *s,
                         size_t number)
{
    if (s->low == NULL || s->high == NULL)
        return;
    buf_printf(d->out, "<path class=\"spread s%zu\" d=\"", number);
    for (size_t i = 0; i < s->count; i++)
        if (is_seen(d, s, i) && scale_holds(&d->y, s->low[i]) &&
            scale_holds(&d->y, s->high[i]))
            buf_printf(d->out, "M%.1f %.1fV%.1f", scale_place(&d->x, s->x[i]),
                       scale_place(&d->y, s->low[i]),
                       scale_place(&d->y, s->high[i]));
    buf_text(d->out, "\"/>\n");
}

static void draw_series(const struct drawing *d, size_t number)
{
    const struct chart_series *const s = &d->chart->series[number];
    draw_spreads(d, s, number);
    if (!s->apart)
        draw_joined(d, s, number);
    if (!s->model)
        draw_points(d, s, number);
}

/* ---- legend -------------------------------------------------------------- */

static bool has_legend(const struct chart *c)
{
    return drawn(c) > 1;
}

struct legend {
    const struct drawing *d; /* NULL: only to see how high it gets */
    double x, y;
};

static void draw_sample(const struct legend *l, size_t number)
{
    const struct chart_series *const s = &l->d->chart->series[number];
    const double y = l->y - 4;
    buf_printf(l->d->out, "<path class=\"%s s%zu\" d=\"M%.1f %.1fh18\"/>\n",
               s->model ? "model" : "line", number, l->x, y);
    if (!s->model)
        buf_printf(l->d->out,
                   "<path class=\"points s%zu\" d=\"M%.1f %.1f%s\"/>\n", number,
                   l->x + 9, y, shapes[number]);
    draw_text(l->d->out, "tick", (struct at){l->x + 22, l->y}, DRAW_START,
              s->name);
}

/* Names one after the other, in as many lines as they take. */
static double put_legend(const struct chart *c, const struct drawing *d)
{
    struct legend l = {d, LEFT, LEGEND_LINE - 5};
    if (!has_legend(c))
        return 0;
    for (size_t i = 0; i < drawn(c); i++) {
        const char *const name = c->series[i].name;
        if (name == NULL)
            continue;
        const double width = 22 + draw_text_width(name) + 14;
        if (l.x > LEFT && l.x + width > DRAW_WIDTH) {
            l.x = LEFT;
            l.y += LEGEND_LINE;
        }
        if (d != NULL)
            draw_sample(&l, i);
        l.x += width;
    }
    return l.y + 5;
}

/* ---- marks --------------------------------------------------------------- */

static void draw_mark(const struct drawing *d, const struct chart_mark *m,
                      size_t number)
{
    if (!scale_holds(&d->x, m->at))
        return;
    const double at = scale_place(&d->x, m->at);
    const double low = scale_place(&d->x, m->low);
    const double high = scale_place(&d->x, m->high);
    const double width = draw_text_width(m->label);
    if (high > low)
        draw_box(d->out, "band", (struct at){fmax(low, d->x.from), d->top},
                 (struct at){fmin(high, d->x.to), d->bottom}, NULL);
    draw_line(d->out, "mark", (struct at){at, d->top - 2},
              (struct at){at, d->bottom});
    const double middle = fmax(fmin(at, DRAW_WIDTH - width / 2), width / 2);
    draw_text(d->out, "said",
              (struct at){middle, d->top - 6 - 14 * (double)number},
              DRAW_MIDDLE, m->label);
}

void chart_write(const struct chart *c, struct buf *out)
{
    const double above = put_legend(c, NULL);
    struct drawing d = {.chart = c, .out = out};
    d.top =
        TOP + above + 14 * (double)(c->mark_count > 1 ? c->mark_count - 1 : 0);
    d.bottom = d.top + PLOT_HEIGHT;
    find_scales(&d);
    draw_open(out, d.bottom + BOTTOM, c->label);
    put_legend(c, &d);
    draw_y_axis(&d);
    for (size_t i = 0; i < c->mark_count; i++)
        draw_mark(&d, &c->mark[i], i);
    for (size_t i = 0; i < drawn(c); i++)
        draw_series(&d, i);
    draw_x_axis(&d);
    draw_close(out);
}
