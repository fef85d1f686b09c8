/* Numbers in rows and columns: the larger, the more of colour. */
#ifndef SONDE_REPORT_PLOT_MATRIX_H
#define SONDE_REPORT_PLOT_MATRIX_H

#include <stddef.h>

#include "base/buf.h"

struct matrix {
    char **row, **column; /* names */
    size_t rows, columns;
    double *value; /* row by row; NaN: none */
    char **text;   /* the same in words, with what is said against it */
};

/* Starts with no value; all is copied.  matrix_free() frees. */
struct matrix matrix_make(size_t rows, size_t columns);
void matrix_free(struct matrix *matrix);

/* A picture of its own (see draw_open), or its pieces from `top` on in one, of
 * that height. */
void matrix_write(const struct matrix *matrix, const char *label,
                  struct buf *out);
void matrix_draw(const struct matrix *matrix, double top, struct buf *out);
/* What the style sheet around it must say of the shades of cells. */
void matrix_style(struct buf *out);
double matrix_height(const struct matrix *matrix);

#endif
