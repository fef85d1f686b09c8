/*
 * Widths go down the tree, heights come up: a box is told how wide it is,
 * breaks what it holds into lines of that width, and is as high as they are.
 */
#include <math.h>
#include <string.h>

#include "report/picture/box.h"

enum { LABEL_GAP = 8, COLUMN_GAP = 16 };

static double pad_of(const struct box *b)
{
    return b->kind != NULL ? BOX_PAD : 0;
}

static double gap_of(const struct box *b)
{
    return b->first != NULL && b->first->small ? SMALL_GAP : BOX_GAP;
}

static double label_width(const struct box *b)
{
    double width = 0;
    for (size_t i = 0; i < b->row_count; i++)
        width = fmax(width, text_extent(b->row[i].label, ROW_SIZE));
    return width > 0 ? width + LABEL_GAP : 0;
}

/* What the rows take in one column. */
static double rows_width(const struct box *b)
{
    double width = 0;
    for (size_t i = 0; i < b->row_count; i++)
        width = fmax(width, text_extent(b->row[i].text, ROW_SIZE));
    return b->row_count > 0 ? width + label_width(b) : 0;
}

static double title_width(const struct box *b)
{
    double width = 0;
    if (b->title != NULL)
        width += text_extent(b->title, TITLE_SIZE);
    if (b->note != NULL)
        width += LABEL_GAP + text_extent(b->note, ROW_SIZE);
    return width;
}

static double wanted(const struct box *box);

/* The widest line of children, were there all the room. */
static double children_width(const struct box *b)
{
    double widest = 0, line = 0;
    size_t count = 0;
    for (const struct box *c = b->first; c != NULL; c = c->next) {
        if (c->wide || (b->abreast > 0 && count % b->abreast == 0))
            line = 0;
        line += (line > 0 ? gap_of(b) : 0) + wanted(c);
        widest = fmax(widest, line);
        line = c->wide ? 0 : line;
        count++;
    }
    return widest;
}

/* The width that a box would have. */
static double wanted(const struct box *b)
{
    if (b->small)
        return SMALL_SIDE;
    return 2 * pad_of(b) +
           fmax(fmax(title_width(b), rows_width(b)), children_width(b));
}

/* Returns their height. */
static double lay_rows(struct box *b, double y, double width)
{
    const double column = rows_width(b) + COLUMN_GAP;
    if (b->row_count == 0)
        return 0;
    const size_t fit = (size_t)fmax(1, floor((width + COLUMN_GAP) / column));
    const size_t columns = fit < b->row_count ? fit : b->row_count;
    const size_t lines = (b->row_count + columns - 1) / columns;
    for (size_t i = 0; i < b->row_count; i++)
        b->row[i] = (struct row){
            .label = b->row[i].label,
            .text = b->row[i].text,
            .tip = b->row[i].tip,
            .mark = b->row[i].mark,
            .indent = label_width(b),
            .place = {.x = pad_of(b) + (double)(i / lines) * column,
                      .y = y + (double)(i % lines) * ROW_LINE,
                      .width = fmin(column - COLUMN_GAP, width),
                      .height = ROW_LINE},
        };
    return (double)lines * ROW_LINE;
}

static void lay(struct box *box, double width);

/* A line of children. */
struct line {
    struct box *first, *end;
    double wanted; /* their widths */
    size_t count;
};

static struct line line_from(const struct box *b, struct box *first,
                             double width)
{
    struct line l = {.first = first, .end = first};
    for (; l.end != NULL; l.end = l.end->next) {
        const double more = fmin(wanted(l.end), width);
        if (l.count > 0 &&
            (l.end->wide || l.first->wide ||
             (b->abreast > 0 && l.count == b->abreast) ||
             l.wanted + more + (double)l.count * gap_of(b) > width))
            break;
        l.wanted += more;
        l.count++;
    }
    return l;
}

/* All of a line are as high as the highest; returns that. */
static double lay_line(const struct box *b, struct line l, double y,
                       double width)
{
    const double gaps = (double)(l.count - 1) * gap_of(b);
    const double stretch = fmax(0, width - gaps - l.wanted);
    double x = pad_of(b), height = 0;
    for (struct box *c = l.first; c != l.end; c = c->next) {
        const double own = fmin(wanted(c), width);
        lay(c, c->small ? own : own + stretch * own / l.wanted);
        c->place.x = x;
        c->place.y = y;
        x += c->place.width + gap_of(b);
        height = fmax(height, c->place.height);
    }
    for (struct box *c = l.first; c != l.end; c = c->next)
        c->place.height = height;
    return height;
}

static double lay_children(struct box *b, double y, double width)
{
    const double top = y;
    for (struct box *c = b->first; c != NULL;) {
        const struct line l = line_from(b, c, width);
        y += lay_line(b, l, y, width);
        c = l.end;
        y += c != NULL ? gap_of(b) : 0;
    }
    return y - top;
}

/* Places relative to the box. */
static void lay(struct box *b, double width)
{
    const double inner = width - 2 * pad_of(b);
    double y = pad_of(b);
    b->place.width = width;
    b->place.height = SMALL_SIDE;
    if (b->small)
        return;
    if (b->title != NULL)
        y += TITLE_LINE;
    y += lay_rows(b, y, inner);
    if (b->first != NULL)
        y += (b->row_count > 0 ? (double)BOX_GAP / 2 : 0) +
             lay_children(b, y + (b->row_count > 0 ? (double)BOX_GAP / 2 : 0),
                          inner);
    b->place.height = y + pad_of(b);
}

static void shift(struct box *b, double x, double y)
{
    b->place.x += x;
    b->place.y += y;
    for (size_t i = 0; i < b->row_count; i++) {
        b->row[i].place.x += b->place.x;
        b->row[i].place.y += b->place.y;
    }
    for (struct box *c = b->first; c != NULL; c = c->next)
        shift(c, b->place.x, b->place.y);
}

void box_lay(struct box *box, double width)
{
    lay(box, width);
    shift(box, 0, 0);
}
