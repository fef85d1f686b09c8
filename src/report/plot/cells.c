#include "report/plot/cells.h"

#include <stdio.h>

#include "report/plot/draw.h"

enum {
    ACROSS = 16, /* cells of a row: numbers of rows are easily read then */
    LEFT = 40,
    CELL_HEIGHT = 22,
    GAP = 2,
    HEAD = 18,
    COLOURS = 8, /* more groups begin again: they have numbers, too */
};

static struct at corner(size_t i)
{
    const double width = (DRAW_WIDTH - LEFT) / (double)ACROSS;
    return (struct at){LEFT + width * (double)(i % ACROSS),
                       HEAD + CELL_HEIGHT * (double)(i / ACROSS)};
}

static void draw_cell(const struct cells *c, size_t i, struct buf *out)
{
    const double width = (DRAW_WIDTH - LEFT) / (double)ACROSS;
    const struct at at = corner(i);
    char class[32] = "cell none", title[128], text[16] = "–";
    if (c->of[i] != CELLS_NONE) {
        snprintf(class, sizeof class, "cell g%d", c->of[i] % COLOURS);
        snprintf(text, sizeof text, "%d", c->of[i]);
    }
    snprintf(title, sizeof title, "%s %zu: %s %s", c->thing, i, c->group, text);
    draw_box(out, class, at,
             (struct at){at.x + width - GAP, at.y + CELL_HEIGHT - GAP}, title);
    draw_text(out, "incell",
              (struct at){at.x + (width - GAP) / 2, at.y + CELL_HEIGHT - 7},
              DRAW_MIDDLE, text);
}

static void draw_row_number(const struct cells *c, size_t i, struct buf *out)
{
    char text[32];
    if (i == 0)
        draw_text(out, "name", (struct at){LEFT - 6, HEAD - 6}, DRAW_END,
                  c->thing);
    snprintf(text, sizeof text, "%zu", i);
    draw_text(out, "tick", (struct at){LEFT - 6, corner(i).y + CELL_HEIGHT - 7},
              DRAW_END, text);
}

/* "+0 … +14", what a column adds to the number of its row; there is no room for
 * all. */
static void draw_columns(struct buf *out)
{
    char text[16];
    const double width = (DRAW_WIDTH - LEFT) / (double)ACROSS;
    for (size_t i = 0; i < ACROSS; i += 2) {
        snprintf(text, sizeof text, "+%zu", i);
        draw_text(out, "tick",
                  (struct at){corner(i).x + (width - GAP) / 2, HEAD - 6},
                  DRAW_MIDDLE, text);
    }
}

void cells_write(const struct cells *c, struct buf *out)
{
    const size_t rows = (c->count + ACROSS - 1) / ACROSS;
    draw_open(out, HEAD + CELL_HEIGHT * (double)rows, c->label);
    draw_columns(out);
    for (size_t i = 0; i < c->count; i++) {
        if (i % ACROSS == 0)
            draw_row_number(c, i, out);
        draw_cell(c, i, out);
    }
    draw_close(out);
}

/* ---- masks --------------------------------------------------------------- */

enum { ROW = 16, WIDEST = 20, LABELS = 92, EDGE = 8, BELOW = 38, MASK_TOP = 4 };

struct bits {
    unsigned first, last; /* that any mask has */
};

static struct bits bits_of(const struct masks *m)
{
    unsigned long long all = 0;
    struct bits b = {0, 0};
    for (size_t i = 0; i < m->count; i++)
        all |= m->mask[i];
    while (b.first < 63 && (all >> b.first & 1) == 0)
        b.first++;
    b.last = 63;
    while (b.last > b.first && (all >> b.last & 1) == 0)
        b.last--;
    return b;
}

static double bit_width(const struct bits *b)
{
    const double width =
        (DRAW_WIDTH - LABELS - EDGE) / (double)(b->last - b->first + 1);
    return width < WIDEST ? width : WIDEST;
}

static void draw_mask(const struct masks *m, size_t i, struct buf *out)
{
    const struct bits b = bits_of(m);
    const double width = bit_width(&b), y = MASK_TOP + ROW * (double)i;
    char text[64];
    snprintf(text, sizeof text, "%s %zu", m->row, i);
    draw_text(out, "tick", (struct at){LABELS - 8, y + ROW - 4}, DRAW_END,
              text);
    for (unsigned bit = b.first; bit <= b.last; bit++) {
        const double x = LABELS + width * (bit - b.first);
        const int in = (int)(m->mask[i] >> bit & 1);
        snprintf(text, sizeof text, "address bit %u", bit);
        draw_box(out, in ? "on" : "off", (struct at){x, y},
                 (struct at){x + width - 1, y + ROW - 1}, in ? text : NULL);
    }
}

static void draw_bit_numbers(const struct bits *b, double y, struct buf *out)
{
    char text[16];
    const double width = bit_width(b);
    /* As many as two digits have room for, at round numbers. */
    const unsigned step = width >= 18 ? 1 : width >= 9 ? 2 : 4;
    for (unsigned bit = b->first; bit <= b->last; bit++) {
        if (bit % step != 0)
            continue;
        snprintf(text, sizeof text, "%u", bit);
        draw_text(out, "tick",
                  (struct at){LABELS + width * (bit - b->first + 0.5), y},
                  DRAW_MIDDLE, text);
    }
}

void masks_write(const struct masks *m, struct buf *out)
{
    const struct bits b = bits_of(m);
    const double bottom = MASK_TOP + ROW * (double)m->count;
    const double width = bit_width(&b) * (b.last - b.first + 1);
    draw_open(out, bottom + BELOW, m->label);
    for (size_t i = 0; i < m->count; i++)
        draw_mask(m, i, out);
    draw_bit_numbers(&b, bottom + 14, out);
    draw_text(out, "name", (struct at){LABELS + width / 2, bottom + 31},
              DRAW_MIDDLE, "address bit");
    draw_close(out);
}
