/* A table as wide as its cells, for what has a column a GPU. */
#ifndef SONDE_REPORT_WIDE_H
#define SONDE_REPORT_WIDE_H

#include "report/page.h"

/* Start from {.columns = N}. */
struct wide {
    size_t columns;
    char **cell; /* row by row; the first row is the heading */
    size_t cells;
};

/* The next cell; "" is written as a dash. */
void wide_put(struct wide *wide, const char *text);
/* Cells that are too long, as long lists are, are cut, but for the first
 * column's. */
void wide_write(const struct wide *wide, const struct page *page);
void wide_free(struct wide *wide);

#endif
