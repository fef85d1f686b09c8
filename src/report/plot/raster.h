/* Who was at work when: a row each, from its start to its end. */
#ifndef SONDE_REPORT_PLOT_RASTER_H
#define SONDE_REPORT_PLOT_RASTER_H

#include <stddef.h>

#include "base/buf.h"

struct raster {
    const char *label; /* see draw_open */
    const char *row;   /* what a row is: "warp" */
    const char *unit;  /* of the times */
    const double *start, *end;
    size_t count;
    size_t together; /* rows of one colour: warps of a block; 0: all */
};

void raster_write(const struct raster *raster, struct buf *out);

#endif
