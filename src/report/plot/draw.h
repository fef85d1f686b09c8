/*
 * Pieces of an SVG that stands in a page: its style sheet says what a class
 * looks like, in light and in dark.  Text is escaped here.
 */
#ifndef SONDE_REPORT_PLOT_DRAW_H
#define SONDE_REPORT_PLOT_DRAW_H

#include "base/buf.h"

struct at {
    double x, y;
};

enum draw_anchor { DRAW_START, DRAW_MIDDLE, DRAW_END };

/* Plots are this wide, so that text on a telephone is still to be read. */
enum { DRAW_WIDTH = 460 };

/* `label` is what a reader hears instead of the picture. */
void draw_open(struct buf *out, double height, const char *label);
void draw_close(struct buf *out);

void draw_line(struct buf *out, const char *class, struct at from,
               struct at to);
/* With a title that is shown when one points at it; NULL: none. */
void draw_box(struct buf *out, const char *class, struct at from, struct at to,
              const char *title);
void draw_text(struct buf *out, const char *class, struct at at,
               enum draw_anchor anchor, const char *text);
/* The same from the bottom up, its middle there. */
void draw_upward(struct buf *out, const char *class, struct at at,
                 const char *text);
/* About what the text takes. */
double draw_text_width(const char *text);

#endif
