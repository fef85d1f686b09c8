/*
 * Rises: where a curve, each of whose points is known to an error, begins to
 * be higher for good.  What noise makes of a flat curve must not be one, and
 * how low a rise may be so that noise hides it is told.
 */
#ifndef SONDE_ANALYSIS_CURVE_RISE_H
#define SONDE_ANALYSIS_CURVE_RISE_H

#include <stdbool.h>
#include <stddef.h>

struct rise_curve {
    const double *y, *error; /* of each point: one standard deviation */
    size_t count;
    double least; /* what is less is none, however small the errors are */
    double clear; /* of the last points fewer do, if they rise by so much */
};

/* How many times as far as their errors say points stray from their
 * neighbours, whatever the reason; a few rises add nothing to it.  1 where
 * errors, and the cycle that a clock steps by, explain it. */
double rise_scatter(const struct rise_curve *curve);

/* True if the curve is higher than `level` from the point i on.  Of 1000 flat
 * curves of 100 points one may say so somewhere. */
bool rise_at(const struct rise_curve *curve, size_t i, double level);

/* A rise as high as this is found at any of the points from `from` to before
 * `end` 999 times of 1000. */
double rise_hidden(const struct rise_curve *curve, size_t from, size_t end);

/* The most that the points from any on to before `end`, two at least, may lie
 * higher than those before it, by their means: wrong once in 1000.  That tells
 * lower rises than single points do. */
double rise_between(const struct rise_curve *curve, size_t from, size_t end);

#endif
