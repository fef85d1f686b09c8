/*
 * A gap: samples most of which are the same but for noise, and some of which
 * may be less.  Those are told from the others by what lies empty between
 * them, not by a number given beforehand: noise fills its heap, and leaves no
 * gap as wide as the heap itself.
 */
#ifndef SONDE_ANALYSIS_STATISTICS_GAP_SPLIT_H
#define SONDE_ANALYSIS_STATISTICS_GAP_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

struct gap_split {
    bool clear;
    double low, high; /* the samples at its edges */
};

/* The widest gap whose upper edge is `upper` or more.  It is clear if it is as
 * wide as all samples above it together, and as `least`. */
void gap_split_find(const double *values, size_t n, double upper, double least,
                    struct gap_split *gap);

#endif
