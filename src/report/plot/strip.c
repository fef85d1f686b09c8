/*
 * Each number is a tick where they are few; of many there is a bar for each
 * piece of the axis, as high as the root of how many are in it, so that one of
 * ten thousand is still seen.
 */
#include "report/plot/strip.h"

#include <math.h>
#include <stdbool.h>

#include "report/plot/draw.h"
#include "report/plot/scale.h"
#include "report/quantity.h"

enum { TOP = 6, HIGH = 54, ROW = 16, BELOW = 40, SIDE = 14, PIECES = 150 };
enum { TICKS = 5, TICK = 14 };

static struct scale scale_of(const struct strip *s)
{
    struct range r = range_none;
    for (size_t i = 0; i < s->count; i++)
        range_hold(&r, s->values[i]);
    range_hold(&r, s->low);
    range_hold(&r, s->high);
    struct scale scale = scale_even(&r, quantity_scales(s->unit));
    scale.from = SIDE;
    scale.to = DRAW_WIDTH - SIDE;
    return scale;
}

static void draw_crowd(const struct strip *s, const struct scale *x,
                       struct buf *out)
{
    size_t pieces[PIECES] = {0}, most = 1;
    const double width = (x->to - x->from) / PIECES;
    for (size_t i = 0; i < s->count; i++) {
        if (!scale_can_show(s->values[i]))
            continue;
        const double at = (scale_place(x, s->values[i]) - x->from) / width;
        const size_t piece = (size_t)fmax(fmin(at, PIECES - 1), 0);
        pieces[piece]++;
        most = pieces[piece] > most ? pieces[piece] : most;
    }
    for (size_t i = 0; i < PIECES; i++) {
        const double from = x->from + width * (double)i;
        const double high = HIGH * sqrt((double)pieces[i] / (double)most);
        if (pieces[i] > 0)
            draw_box(out, "bar", (struct at){from, TOP + HIGH - high},
                     (struct at){from + width, TOP + HIGH}, NULL);
    }
}

static void draw_axis(const struct strip *s, const struct scale *x,
                      double bottom, struct buf *out)
{
    const struct ticks ticks = scale_ticks(x, TICKS);
    struct buf text = {0};
    draw_line(out, "axis", (struct at){x->from, TOP + HIGH},
              (struct at){x->to, TOP + HIGH});
    for (size_t i = 0; i < ticks.count; i++) {
        buf_clear(&text);
        quantity_number(&text, ticks.at[i], 0,
                        quantity_scales(s->unit) ? s->unit : "");
        draw_text(out, "tick",
                  (struct at){scale_place(x, ticks.at[i]), bottom + TICK},
                  DRAW_MIDDLE, buf_string(&text));
    }
    buf_clear(&text);
    buf_text(&text, s->name);
    if (s->unit[0] != '\0' && !quantity_scales(s->unit))
        buf_printf(&text, " (%s)", s->unit);
    draw_text(out, "name", (struct at){DRAW_WIDTH / 2.0, bottom + 2.2 * TICK},
              DRAW_MIDDLE, buf_string(&text));
    buf_free(&text);
}

/* A name of its own row, under the place where it is. */
static void draw_mark(const struct strip_mark *m, const struct scale *x,
                      double row, struct buf *out)
{
    const double at = scale_place(x, m->value);
    const bool left = at < DRAW_WIDTH / 2.0;
    draw_line(out, "mark", (struct at){at, TOP}, (struct at){at, row});
    draw_box(out, "said", (struct at){at - 2, TOP + HIGH - 6},
             (struct at){at + 2, TOP + HIGH}, m->name);
    draw_text(out, "tick", (struct at){left ? at + 4 : at - 4, row},
              left ? DRAW_START : DRAW_END, m->name);
}

void strip_write(const struct strip *s, struct buf *out)
{
    const struct scale x = scale_of(s);
    const double bottom = TOP + HIGH + ROW * (double)s->mark_count;
    draw_open(out, bottom + BELOW, s->label);
    draw_box(out, "band", (struct at){scale_place(&x, s->low), TOP},
             (struct at){scale_place(&x, s->high), TOP + HIGH}, NULL);
    draw_crowd(s, &x, out);
    for (size_t i = 0; i < s->mark_count; i++)
        if (scale_can_show(s->marks[i].value))
            draw_mark(&s->marks[i], &x, TOP + HIGH + ROW * (double)(i + 1) - 3,
                      out);
    draw_axis(s, &x, bottom, out);
    draw_close(out);
}
