/*
 * Widths go down the tree, heights come up: a box is told how wide it is,
 * breaks what it holds into lines of that width, and is as high as they are.
 */
#include <math.h>
#include <string.h>

#include "report/picture/box.h"

enum { LABEL_GAP = 8, COLUMN_GAP = 16, ROWS_GAP = 6 };

static double pad_of(const struct box *b)
{
    return b->kind == NULL ? 0 : b->tight ? SMALL_GAP : BOX_PAD;
}

static double gap_of(const struct box *b)
{
    return b->tight || (b->first != NULL && b->first->tight) ||
                   (b->first != NULL && b->first->side > 0)
               ? SMALL_GAP
               : BOX_GAP;
}

static double label_width(const struct box *b, size_t from, size_t end)
{
    double width = 0;
    for (size_t i = from; i < end; i++)
        width = fmax(width, text_extent(b->row[i].label, ROW_SIZE));
    return width > 0 ? width + LABEL_GAP : 0;
}

/* Of these rows one below the other. */
static double column_width(const struct box *b, size_t from, size_t end)
{
    double width = 0;
    for (size_t i = from; i < end; i++)
        width = fmax(width, text_extent(b->row[i].text, ROW_SIZE));
    return width + label_width(b, from, end);
}

static size_t column_end(const struct box *b, size_t from, size_t lines)
{
    return from + lines < b->row_count ? from + lines : b->row_count;
}

static double columns_width(const struct box *b, size_t lines)
{
    double width = 0;
    for (size_t i = 0; i < b->row_count; i += lines)
        width += (i > 0 ? COLUMN_GAP : 0) +
                 column_width(b, i, column_end(b, i, lines));
    return width;
}

/* As few lines as there is room for. */
static size_t lines_within(const struct box *b, double width)
{
    size_t lines = 1;
    while (lines < b->row_count && columns_width(b, lines) > width)
        lines++;
    return lines;
}

static double title_width(const struct box *b)
{
    double width = 0;
    if (b->title != NULL)
        width += title_extent(b->title);
    if (b->note != NULL)
        width += (width > 0 ? LABEL_GAP : 0) + text_extent(b->note, ROW_SIZE);
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
    if (b->side > 0)
        return b->side;
    return 2 * pad_of(b) +
           fmax(fmax(title_width(b), column_width(b, 0, b->row_count)),
                children_width(b));
}

/* Returns their height. */
static double lay_rows(struct box *b, double y, double width)
{
    const size_t lines = lines_within(b, width);
    double x = pad_of(b);
    for (size_t from = 0; from < b->row_count; from += lines) {
        const size_t end = column_end(b, from, lines);
        const double column = fmin(width, column_width(b, from, end));
        for (size_t i = from; i < end; i++) {
            b->row[i].indent = label_width(b, from, end);
            b->row[i].place = (struct place){
                x, y + (double)(i - from) * ROW_LINE, column, ROW_LINE};
        }
        x += column + COLUMN_GAP;
    }
    return b->row_count > 0 ? (double)lines * ROW_LINE : 0;
}

static void lay(struct box *box, double width);

/* A line of children. */
struct line {
    struct box *first, *end;
    size_t count;
};

static bool is_fixed(const struct box *b)
{
    return b->side > 0 || b->tight;
}

/* So many that the lines below hold as many: 2 and 2, not 3 and 1. */
static void balance(struct line *l)
{
    size_t all = l->count;
    for (const struct box *c = l->end; c != NULL && !c->wide; c = c->next)
        all++;
    if (l->first->wide || is_fixed(l->first))
        return;
    const size_t lines = (all + l->count - 1) / l->count;
    l->count = (all + lines - 1) / lines;
    l->end = l->first;
    for (size_t i = 0; i < l->count; i++)
        l->end = l->end->next;
}

static struct line line_from(const struct box *b, struct box *first,
                             double width)
{
    struct line l = {.first = first, .end = first};
    double used = 0;
    for (; l.end != NULL; l.end = l.end->next) {
        const double more = fmin(wanted(l.end), width);
        if (l.count > 0 && !b->one_line &&
            (l.end->wide || l.first->wide ||
             (b->abreast > 0 && l.count == b->abreast) ||
             used + more + (double)l.count * gap_of(b) > width))
            break;
        used += more;
        l.count++;
    }
    balance(&l);
    return l;
}

/* What the boxes of a line that can be wider or narrower get. */
struct share {
    double each;    /* of all alike, where that is enough for each; else 0 */
    double stretch; /* else so much for each unit that one wants */
};

static struct share share_of(const struct box *b, struct line l, double width)
{
    double flexible = 0, most = 0, count = 0;
    width -= (double)(l.count - 1) * gap_of(b);
    for (const struct box *c = l.first; c != l.end; c = c->next) {
        if (is_fixed(c)) {
            width -= wanted(c);
            continue;
        }
        flexible += wanted(c);
        most = fmax(most, wanted(c));
        count++;
    }
    if (count > 0 && width >= most * count)
        return (struct share){.each = width / count};
    return (struct share){.stretch =
                              flexible > 0 ? fmax(0, width) / flexible : 1};
}

static double width_of(const struct box *c, struct share share)
{
    if (is_fixed(c))
        return wanted(c);
    return share.each > 0 ? share.each : wanted(c) * share.stretch;
}

/* All of a line are as high as the highest; returns that. */
static double lay_line(const struct box *b, struct line l, double y,
                       double width)
{
    const struct share share = share_of(b, l, width);
    double x = pad_of(b), height = 0;
    for (struct box *c = l.first; c != l.end; c = c->next) {
        lay(c, fmin(width, width_of(c, share)));
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
    b->place.height = b->side;
    if (b->side > 0)
        return;
    if (b->title != NULL || b->note != NULL)
        y += b->title != NULL ? TITLE_LINE : ROW_LINE;
    y += lay_rows(b, y, inner);
    if (b->first != NULL)
        y += (b->row_count > 0 ? ROWS_GAP : 0) +
             lay_children(b, y + (b->row_count > 0 ? ROWS_GAP : 0), inner);
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
