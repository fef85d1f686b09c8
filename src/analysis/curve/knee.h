/*
 * The knee of a curve of cost against load: where cost has grown to so many
 * times what it is without load.
 */
#ifndef SONDE_ANALYSIS_CURVE_KNEE_H
#define SONDE_ANALYSIS_CURVE_KNEE_H

#include <stdbool.h>
#include <stddef.h>

struct knee {
    bool reached;     /* the last point lies beyond it */
    size_t after;     /* the point before it; the last where not reached */
    double load;      /* where the line between its neighbours crosses … */
    double low, high; /* … and their loads */
};

/* Of n > 0 points in the order in which more is asked for; the first is without
 * load.  Of several crossings the last, after which cost stays above. */
struct knee knee_find(const double *load, const double *cost, size_t n,
                      double times);

/* By which share of itself a cost falls at most below one before it, and of
 * which point; 0 where none does. */
double knee_fall(const double *cost, size_t n, size_t *at);

#endif
