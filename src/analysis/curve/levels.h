/*
 * Levels: the few latencies around which samples gather, one for each place
 * where data was found.
 *
 * The rule.  The samples' density along the axis of cycles is approximated by
 * steps, as many as the samples bear out (Bayesian blocks; Scargle and others,
 * 2013).  A level is a hill of that density: between two hills it falls under
 * VALLEY of the lower one.  A level reaches from its top as far as the density
 * stays over FOOT of the top.  A hill with fewer samples than the rule's share
 * or count is no level: its samples, and all that lie between levels, are
 * outliers (spikes).  So the tolerance comes from the samples: a level may be
 * one value or a hundred cycles broad.
 *
 * What it cannot do: levels nearer than about three standard deviations have
 * no valley between them and are one level; and few samples bear out few
 * levels.  Levels ten deviations apart want some 25 samples each, levels six
 * or seven apart some 60, levels three apart some thousands.
 */
#ifndef SONDE_ANALYSIS_CURVE_LEVELS_H
#define SONDE_ANALYSIS_CURVE_LEVELS_H

#include <stddef.h>

enum { LEVELS_MAX = 32 };

struct levels_rule {
    double least_share;    /* of the samples that a level must have … */
    size_t least_count;    /* … and at least so many */
    double least_distance; /* cycles: what is nearer is one level */
};

/* One sample in 100; 4; and two cycles, since clocks may step by two. */
extern const struct levels_rule levels_usual;

struct level {
    double centre; /* median of its samples */
    double low, high;
    size_t count;
};

struct levels {
    size_t count;
    struct level level[LEVELS_MAX]; /* in rising order */
    size_t outliers;                /* samples that are in no level */
};

/* Of more than LEVELS_MAX levels those with most samples are kept. */
void levels_find(const double *values, size_t n, const struct levels_rule *rule,
                 struct levels *levels);

/* The index of the level that a value belongs to, -1 for none: it lies in it,
 * or outside by no more than half of the level's breadth (at least two cycles)
 * and nearer than half-way to the next level. */
int levels_classify(const struct levels *levels, double value);

#endif
