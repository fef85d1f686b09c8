/* Bars from zero on, one a thing that has a name. */
#ifndef SONDE_REPORT_PLOT_BARS_H
#define SONDE_REPORT_PLOT_BARS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct bar {
    const char *name;
    double value;     /* NaN: none, and no bar */
    double low, high; /* where it is, if that is known; else NaN */
};

struct bars {
    const char *label;       /* see draw_open */
    const char *name, *unit; /* of the numbers */
    const struct bar *bar;
    size_t count;
};

void bars_write(const struct bars *bars, struct buf *out);

#endif
