#include "report/plot/bars.h"

#include <math.h>

#include "report/plot/draw.h"
#include "report/plot/scale.h"
#include "report/quantity.h"

/* A bar with the space to the next; names that are longer push all to the
 * right, up to half of the picture; numbers stand at the right. */
enum { ROW = 20, BAR = 12, TOP = 4, NUMBER = 84, GAP = 8, BELOW = 24 };

struct drawing {
    const struct bars *bars;
    struct buf *out;
    struct scale x;
};

static double name_width(const struct bars *b)
{
    double width = 0;
    for (size_t i = 0; i < b->count; i++)
        width = fmax(width, draw_text_width(b->bar[i].name));
    return fmin(width + 2 * GAP, DRAW_WIDTH / 2.0);
}

static struct scale scale_of(const struct bars *b)
{
    struct range r = range_none;
    range_hold(&r, 0);
    for (size_t i = 0; i < b->count; i++) {
        range_hold(&r, b->bar[i].value);
        range_hold(&r, b->bar[i].low);
        range_hold(&r, b->bar[i].high);
    }
    struct scale s = scale_even(&r, false);
    s.from = name_width(b);
    s.to = DRAW_WIDTH - NUMBER;
    return s;
}

/* From the least to the most that it may be. */
static void draw_spread(const struct drawing *d, const struct bar *bar,
                        double middle)
{
    if (!scale_can_show(bar->low) || !scale_can_show(bar->high) ||
        bar->low >= bar->high)
        return;
    draw_line(d->out, "spread",
              (struct at){scale_place(&d->x, bar->low), middle},
              (struct at){scale_place(&d->x, bar->high), middle});
}

static void draw_value(const struct drawing *d, const struct bar *bar,
                       double middle)
{
    const double zero = scale_place(&d->x, 0);
    const double end = scale_place(&d->x, bar->value);
    struct buf text = {0};
    draw_box(d->out, "bar", (struct at){fmin(zero, end), middle - BAR / 2.0},
             (struct at){fmax(zero, end), middle + BAR / 2.0}, NULL);
    draw_spread(d, bar, middle);
    quantity_number(&text, bar->value, 0,
                    quantity_scales(d->bars->unit) ? d->bars->unit : "");
    draw_text(d->out, "tick", (struct at){DRAW_WIDTH, middle + 4}, DRAW_END,
              buf_string(&text));
    buf_free(&text);
}

static void draw_bar(const struct drawing *d, size_t i)
{
    const struct bar *const bar = &d->bars->bar[i];
    const double middle = TOP + ROW * ((double)i + 0.5);
    draw_text(d->out, "tick", (struct at){d->x.from - GAP, middle + 4},
              DRAW_END, bar->name);
    if (scale_can_show(bar->value))
        draw_value(d, bar, middle);
    else
        draw_text(d->out, "tick", (struct at){DRAW_WIDTH, middle + 4}, DRAW_END,
                  "–");
}

void bars_write(const struct bars *b, struct buf *out)
{
    const struct drawing d = {b, out, scale_of(b)};
    const double bottom = TOP + ROW * (double)b->count;
    const double zero = scale_place(&d.x, 0);
    struct buf name = {0};
    draw_open(out, bottom + BELOW, b->label);
    for (size_t i = 0; i < b->count; i++)
        draw_bar(&d, i);
    draw_line(out, "axis", (struct at){zero, TOP}, (struct at){zero, bottom});
    buf_text(&name, b->name);
    if (b->unit[0] != '\0' && !quantity_scales(b->unit))
        buf_printf(&name, " (%s)", b->unit);
    draw_text(out, "name", (struct at){(d.x.from + d.x.to) / 2, bottom + 17},
              DRAW_MIDDLE, buf_string(&name));
    buf_free(&name);
    draw_close(out);
}
