/*
 * Plateaus: the stretches of a series over which it hardly changes.  A curve
 * of cost over size has one for each level of a hierarchy, and rises between
 * two of them.
 */
#ifndef SONDE_ANALYSIS_CURVE_PLATEAUS_H
#define SONDE_ANALYSIS_CURVE_PLATEAUS_H

#include <stddef.h>

struct plateau {
    size_t first, last; /* indices of its values */
    double value;       /* their median */
};

struct plateaus_rule {
    size_t least;    /* values that a plateau has at least */
    double change;   /* share by which a value may differ from the one before */
    double floor;    /* a difference that counts as none */
    double distance; /* share by which two plateaus must differ, or are one */
};

/* Writes at most `most`, in order; returns how many. */
size_t plateaus_find(const double *values, size_t n,
                     const struct plateaus_rule *rule, struct plateau *plateaus,
                     size_t most);

#endif
