#include "report/plot/matrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/plot/draw.h"

enum {
    CELL_HEIGHT = 22,
    GAP = 2,
    HEAD = 18,
    SHADES = 5,
    CELL_MOST = 80, /* wider ones look like bars */
};

struct matrix matrix_make(size_t rows, size_t columns)
{
    struct matrix m = {.rows = rows, .columns = columns};
    m.row = xcalloc(rows, sizeof *m.row);
    m.column = xcalloc(columns, sizeof *m.column);
    m.value = xcalloc(rows * columns, sizeof *m.value);
    m.text = xcalloc(rows * columns, sizeof *m.text);
    for (size_t i = 0; i < rows * columns; i++)
        m.value[i] = NAN;
    return m;
}

static void free_texts(char **text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(text[i]);
    free(text);
}

void matrix_free(struct matrix *m)
{
    free_texts(m->row, m->rows);
    free_texts(m->column, m->columns);
    free_texts(m->text, m->rows * m->columns);
    free(m->value);
    *m = (struct matrix){0};
}

double matrix_height(const struct matrix *m)
{
    return HEAD + CELL_HEIGHT * (double)m->rows;
}

void matrix_style(struct buf *out)
{
    for (int i = 0; i < SHADES; i++)
        buf_printf(out, ".shade%d{fill-opacity:%.1f}\n", i,
                   (double)(i + 1) / SHADES);
}

/* Where the columns begin: behind the longest name of a row. */
static double left_of(const struct matrix *m)
{
    double width = 0;
    for (size_t i = 0; i < m->rows; i++)
        width = fmax(width, draw_text_width(m->row[i]));
    return fmin(width + 10, DRAW_WIDTH / 2.0);
}

static double width_of(const struct matrix *m)
{
    const double width =
        (DRAW_WIDTH - left_of(m)) / (double)(m->columns > 0 ? m->columns : 1);
    return fmin(width, CELL_MOST);
}

/* By how much of the row's, or the matrix's, largest number it has. */
static int shade_of(const struct matrix *m, double value)
{
    double most = 0;
    for (size_t i = 0; i < m->rows * m->columns; i++)
        if (isfinite(m->value[i]))
            most = fmax(most, fabs(m->value[i]));
    const double share = most > 0 ? fabs(value) / most : 0;
    const int shade = (int)(share * SHADES);
    return shade < SHADES ? shade : SHADES - 1;
}

static void draw_cell(const struct matrix *m, size_t row, size_t column,
                      double top, struct buf *out)
{
    const size_t i = row * m->columns + column;
    const double width = width_of(m);
    const struct at at = {left_of(m) + width * (double)column,
                          top + HEAD + CELL_HEIGHT * (double)row};
    const char *const text = m->text[i] != NULL ? m->text[i] : "–";
    char class[32] = "cell none", title[160];
    if (isfinite(m->value[i]))
        snprintf(class, sizeof class, "cell g0 shade%d",
                 shade_of(m, m->value[i]));
    snprintf(title, sizeof title, "%s, %s: %s", m->row[row], m->column[column],
             text);
    draw_box(out, class, at,
             (struct at){at.x + width - GAP, at.y + CELL_HEIGHT - GAP}, title);
    draw_text(out, "incell",
              (struct at){at.x + (width - GAP) / 2, at.y + CELL_HEIGHT - 7},
              DRAW_MIDDLE, text);
}

void matrix_draw(const struct matrix *m, double top, struct buf *out)
{
    const double left = left_of(m), width = width_of(m);
    for (size_t k = 0; k < m->columns; k++)
        draw_text(out, "tick",
                  (struct at){left + width * (double)k + (width - GAP) / 2,
                              top + HEAD - 6},
                  DRAW_MIDDLE, m->column[k]);
    for (size_t i = 0; i < m->rows; i++) {
        draw_text(out, "tick",
                  (struct at){left - 6,
                              top + HEAD + CELL_HEIGHT * (double)(i + 1) - 7},
                  DRAW_END, m->row[i]);
        for (size_t k = 0; k < m->columns; k++)
            draw_cell(m, i, k, top, out);
    }
}

void matrix_write(const struct matrix *m, const char *label, struct buf *out)
{
    draw_open(out, matrix_height(m), label);
    matrix_draw(m, 0, out);
    draw_close(out);
}
