/* Boxes as elements of SVG.  What a box is and how far it holds are classes; a
 * style sheet within says how these look, in light, in dark and on paper. */
#include "report/picture/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/markup.h"
#include "report/picture/box.h"
#include "report/picture/machine.h"
#include "report/picture/style.h"

/* Narrow, so that the text is still to be read where 400 pixels are all. */
enum { WIDTH = 780, HATCH = 7, ROUND = 4, ROUND_SMALL = 2, ROW_EDGE = 4 };

static void put_length(struct buf *out, const char *name, double length)
{
    buf_printf(out, " %s=\"%.5g\"", name, round(length * 10) / 10);
}

static void put_tip(struct buf *out, const char *tip)
{
    if (tip == NULL || tip[0] == '\0')
        return;
    buf_text(out, "<title>");
    for (const char *line = tip; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        char *const text = xstrndup(line, length);
        buf_text(out, line > tip ? "\n" : "");
        markup_text(out, text);
        free(text);
        line += length + (line[length] == '\n');
    }
    buf_text(out, "</title>");
}

/* The text, or as much of it as fits, with an ellipsis. */
struct label {
    const char *class, *text;
    double x, y, size, width;
};

static void put_text(struct buf *out, struct label l)
{
    char *whole = NULL;
    if (text_extent(l.text, l.size) > l.width + 0.01) { /* of rounding */
        const size_t fits = text_fitting(l.text, l.size, l.width - l.size);
        whole = xasprintf("%.*s…", (int)fits, l.text);
    }
    buf_printf(out, "<text class=\"%s\"", l.class);
    put_length(out, "x", l.x);
    put_length(out, "y", l.y);
    buf_text(out, ">");
    markup_text(out, whole != NULL ? whole : l.text);
    buf_text(out, "</text>");
    free(whole);
}

static void put_rectangle(struct buf *out, const struct place *p, int round)
{
    buf_text(out, "<rect");
    put_length(out, "x", p->x);
    put_length(out, "y", p->y);
    put_length(out, "width", p->width);
    put_length(out, "height", p->height);
    buf_printf(out, " rx=\"%d\"/>", round);
}

/* Lines from the left and the bottom edge up to the top and the right one. */
static void put_hatch(struct buf *out, const struct place *p)
{
    buf_text(out, "<path class=\"hatch\" d=\"");
    for (double d = HATCH; d < p->width + p->height; d += HATCH) {
        const double left = fmax(0, d - p->height), right = fmin(d, p->width);
        buf_printf(out, "M%.5g %.5gL%.5g %.5g", p->x + left,
                   p->y + fmin(d, p->height), p->x + right,
                   p->y + fmax(0, d - p->width));
    }
    buf_text(out, "\"/>");
}

static const char *const mark_classes[MARK_COUNT] = {
    [MARK_PLAIN] = "",
    [MARK_BOUND] = " bound",
    [MARK_DOUBT] = " doubt",
    [MARK_MISSING] = " missing",
};

/* Around the text of a row. */
static struct place place_said(const struct row *row)
{
    const struct place *const p = &row->place;
    const double room = p->width - row->indent;
    return (struct place){p->x + row->indent - ROW_EDGE, p->y,
                          fmin(room, text_extent(row->text, ROW_SIZE)) +
                              2 * ROW_EDGE,
                          p->height - 2};
}

static void put_row(struct buf *out, const struct row *row)
{
    const struct place *const p = &row->place, said = place_said(row);
    const double baseline = p->y + ROW_SIZE;
    buf_printf(out, "<g class=\"row%s%s\">", mark_classes[row->mark],
               row->warning ? " warning" : "");
    put_tip(out, row->tip);
    if (row->mark == MARK_BOUND)
        put_rectangle(out, &said, ROUND_SMALL);
    if (row->mark == MARK_MISSING)
        put_hatch(out, &said);
    put_text(out, (struct label){"label", row->label, p->x, baseline, ROW_SIZE,
                                 p->width});
    put_text(out, (struct label){"text", row->text, p->x + row->indent,
                                 baseline, ROW_SIZE, p->width - row->indent});
    buf_text(out, "</g>");
}

/* In the middle of a small box. */
static void put_number(struct buf *out, const struct box *b)
{
    if (b->title == NULL)
        return;
    const double middle = b->side / 2;
    put_text(out, (struct label){"number", b->title, b->place.x + middle,
                                 b->place.y + middle + (double)SMALL_SIZE / 3,
                                 SMALL_SIZE, b->side});
}

static void put_title(struct buf *out, const struct box *b)
{
    const struct place *const p = &b->place;
    double x = p->x + BOX_PAD, room = p->width - 2 * BOX_PAD;
    const double line = p->y + BOX_PAD + TITLE_SIZE - 2;
    if (b->side > 0) {
        put_number(out, b);
        return;
    }
    if (b->title != NULL) {
        put_text(out, (struct label){"title", b->title, x, line,
                                     TITLE_SIZE * BOLD, room});
        const double used = title_extent(b->title) + BOX_GAP;
        x += used;
        room -= used;
    }
    if (b->note != NULL)
        put_text(out, (struct label){"note", b->note, x, line, ROW_SIZE, room});
}

static void put_box(struct buf *out, const struct box *b)
{
    buf_printf(out, "<g class=\"%s%s\"", b->kind != NULL ? b->kind : "group",
               mark_classes[b->mark]);
    if (b->component != NULL)
        buf_printf(out, " data-component=\"%s\"", b->component);
    buf_text(out, ">");
    put_tip(out, b->tip);
    if (b->kind != NULL)
        put_rectangle(out, &b->place,
                      b->side > 0 || b->tight ? ROUND_SMALL : ROUND);
    if (b->mark == MARK_MISSING && b->kind != NULL)
        put_hatch(out, &b->place);
    put_title(out, b);
    for (size_t i = 0; i < b->row_count; i++)
        put_row(out, &b->row[i]);
    for (const struct box *c = b->first; c != NULL; c = c->next)
        put_box(out, c);
    buf_text(out, "</g>\n");
}

void picture_write(const struct results *results, struct buf *out)
{
    struct arena arena = {0};
    struct box *const gpu = machine_boxes(results, &arena);
    box_lay(gpu, WIDTH);
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" "
               "class=\"sonde-picture\" viewBox=\"0 0 %d %.0f\" "
               "width=\"%d\">\n<title>",
               WIDTH, ceil(gpu->place.height), WIDTH);
    markup_text(out, gpu->title);
    buf_text(out, "</title>");
    style_write(out);
    put_box(out, gpu);
    buf_text(out, "</svg>\n");
    arena_empty(&arena);
}
