/* Many numbers along one axis: how they crowd, and who is outside, by name. */
#ifndef SONDE_REPORT_PLOT_STRIP_H
#define SONDE_REPORT_PLOT_STRIP_H

#include <stddef.h>

#include "base/buf.h"

struct strip_mark {
    const char *name;
    double value;
};

struct strip {
    const char *label; /* see draw_open */
    const char *name, *unit;
    const double *values; /* of all */
    size_t count;
    double low, high; /* between which nobody is outside */
    const struct strip_mark *marks;
    size_t mark_count;
};

void strip_write(const struct strip *strip, struct buf *out);

#endif
