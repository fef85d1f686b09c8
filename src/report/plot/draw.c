#include "report/plot/draw.h"

#include "report/markup.h"
#include "report/page.h"

/* A character of 12 pixels in the fonts of screens, on average; digits and
 * small letters take from 6 to 7. */
#define CHARACTER 6.6

void draw_open(struct buf *out, double height, const char *label)
{
    buf_printf(out, "<svg viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"",
               DRAW_WIDTH, height);
    markup_text(out, label);
    buf_text(out, "\">\n");
}

void draw_close(struct buf *out)
{
    buf_text(out, "</svg>\n");
}

void draw_line(struct buf *out, const char *class, struct at from, struct at to)
{
    buf_printf(out,
               "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
               "y2=\"%.1f\"/>\n",
               class, from.x, from.y, to.x, to.y);
}

void draw_box(struct buf *out, const char *class, struct at from, struct at to,
              const char *title)
{
    buf_printf(out,
               "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
               "height=\"%.1f\"",
               class, from.x, from.y, to.x - from.x, to.y - from.y);
    if (title == NULL) {
        buf_text(out, "/>\n");
        return;
    }
    buf_text(out, "><title>");
    markup_text(out, title);
    buf_text(out, "</title></rect>\n");
}

static void put_text(struct buf *out, enum draw_anchor anchor, const char *text)
{
    static const char *const anchors[] = {
        [DRAW_START] = "",
        [DRAW_MIDDLE] = " text-anchor=\"middle\"",
        [DRAW_END] = " text-anchor=\"end\"",
    };
    buf_printf(out, "%s>", anchors[anchor]);
    markup_text(out, text);
    buf_text(out, "</text>\n");
}

void draw_text(struct buf *out, const char *class, struct at at,
               enum draw_anchor anchor, const char *text)
{
    buf_printf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\"", class, at.x,
               at.y);
    put_text(out, anchor, text);
}

void draw_upward(struct buf *out, const char *class, struct at at,
                 const char *text)
{
    buf_printf(out,
               "<text class=\"%s\" transform=\"translate(%.1f %.1f) "
               "rotate(-90)\"",
               class, at.x, at.y);
    put_text(out, DRAW_MIDDLE, text);
}

double draw_text_width(const char *text)
{
    return CHARACTER * (double)page_columns(text);
}
