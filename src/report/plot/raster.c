#include "report/plot/raster.h"

#include <stdio.h>

#include "report/plot/draw.h"
#include "report/plot/scale.h"
#include "report/quantity.h"

enum {
    HEIGHT_LEAST = 60, /* of the rows, which share what they get */
    HEIGHT_MOST = 260,
    ROW_MOST = 12,
    LEFT = 44,
    TOP = 4,
    BELOW = 40,
    TICKS = 6,
    COLOURS = 4,
};

static double height_of(const struct raster *r)
{
    const double all = ROW_MOST * (double)r->count;
    return all < HEIGHT_LEAST  ? HEIGHT_LEAST
           : all > HEIGHT_MOST ? HEIGHT_MOST
                               : all;
}

static struct scale times_of(const struct raster *r)
{
    struct range all = range_none;
    for (size_t i = 0; i < r->count; i++) {
        range_hold(&all, r->start[i]);
        range_hold(&all, r->end[i]);
    }
    struct scale s = scale_even(&all, false);
    s.from = LEFT;
    s.to = DRAW_WIDTH - 24;
    return s;
}

static void draw_rows(const struct raster *r, const struct scale *x,
                      struct buf *out)
{
    const double row = height_of(r) / (double)r->count;
    char class[] = "span s0";
    for (size_t i = 0; i < r->count; i++) {
        const double y = TOP + row * (double)i;
        const size_t group = r->together > 0 ? i / r->together : 0;
        class[sizeof class - 2] = (char)('0' + group % COLOURS);
        if (scale_holds(x, r->start[i]) && scale_holds(x, r->end[i]))
            draw_box(out, class, (struct at){scale_place(x, r->start[i]), y},
                     (struct at){scale_place(x, r->end[i]), y + row * 0.8},
                     NULL);
    }
}

/* The first and the last, counted from 0. */
static void draw_numbers(const struct raster *r, struct buf *out)
{
    char text[32];
    draw_text(out, "tick", (struct at){LEFT - 6, TOP + 10}, DRAW_END, "0");
    snprintf(text, sizeof text, "%zu", r->count - 1);
    draw_text(out, "tick", (struct at){LEFT - 6, TOP + height_of(r)}, DRAW_END,
              text);
}

static void draw_axis(const struct raster *r, const struct scale *x, double y,
                      struct buf *out)
{
    struct buf text = {0};
    const struct ticks t = scale_ticks(x, TICKS);
    draw_line(out, "axis", (struct at){x->from, y}, (struct at){x->to, y});
    for (size_t i = 0; i < t.count; i++) {
        buf_clear(&text);
        quantity_number(&text, t.at[i], 0, "");
        draw_text(out, "tick", (struct at){scale_place(x, t.at[i]), y + 16},
                  DRAW_MIDDLE, buf_string(&text));
    }
    buf_clear(&text);
    buf_printf(&text, "time (%s)", r->unit);
    draw_text(out, "name", (struct at){(x->from + x->to) / 2, y + 33},
              DRAW_MIDDLE, buf_string(&text));
    buf_free(&text);
}

void raster_write(const struct raster *r, struct buf *out)
{
    const struct scale x = times_of(r);
    const double bottom = TOP + height_of(r);
    draw_open(out, bottom + BELOW, r->label);
    draw_rows(r, &x, out);
    draw_numbers(r, out);
    draw_axis(r, &x, bottom + 2, out);
    draw_upward(out, "name", (struct at){12, (TOP + bottom) / 2}, r->row);
    draw_close(out);
}
