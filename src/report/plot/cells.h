/*
 * Things in rows, each of a group: SMs of GPCs.  A group has a colour and is
 * written into each cell as well, so that nobody needs the colour.
 */
#ifndef SONDE_REPORT_PLOT_CELLS_H
#define SONDE_REPORT_PLOT_CELLS_H

#include <stddef.h>

#include "base/buf.h"

enum { CELLS_NONE = -1 };

struct cells {
    const char *label;         /* see draw_open */
    const char *thing, *group; /* "SM", "GPC": what a cell and its number is */
    const int *of; /* the group of each thing; CELLS_NONE: not known */
    size_t count;
};

void cells_write(const struct cells *cells, struct buf *out);

/* Which bits of an address each bit of an index is the XOR of. */
struct masks {
    const char *label; /* see draw_open */
    const char *row;   /* what a row is: "index bit" */
    const unsigned long long *mask;
    size_t count;
};

void masks_write(const struct masks *masks, struct buf *out);

#endif
