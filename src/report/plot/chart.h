/*
 * A plot of lines: what was seen against what was asked for, with what was
 * concluded as marks and models beside it.
 */
#ifndef SONDE_REPORT_PLOT_CHART_H
#define SONDE_REPORT_PLOT_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Points of which y is no number are gaps. */
struct chart_series {
    const char *name; /* NULL: needs none */
    const double *x, *y;
    const double *low, *high; /* of each y; NULL: not known */
    size_t count;
    bool model; /* what the numbers should be: dashed, without points */
    bool apart; /* points that no line joins */
};

/* What was concluded, where it is along x, and between what. */
struct chart_mark {
    const char *label;
    double at, low, high;
};

struct chart_axis {
    const char *name, *unit; /* "" where it has none */
};

enum { CHART_SERIES = 8 };

struct chart {
    const char *label; /* see draw_open */
    struct chart_axis x, y;
    const struct chart_series *series;
    size_t series_count; /* CHART_SERIES at most are drawn */
    const struct chart_mark *mark;
    size_t mark_count;
};

void chart_write(const struct chart *chart, struct buf *out);

#endif
