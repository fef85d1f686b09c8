/*
 * What a change does to a number: the two are measured in turns, one right
 * after the other, so that whatever drifts is in both, and the quotients of
 * the pairs are summarised.
 */
#ifndef SONDE_ANALYSIS_STATISTICS_PAIRED_RATIO_H
#define SONDE_ANALYSIS_STATISTICS_PAIRED_RATIO_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rng.h"

/* The quotient; where it is with the confidence that was asked for. */
struct paired_ratio {
    double ratio, low, high;
};

/* Of pairs changed[i], plain[i], all above zero: the median of their
 * quotients, with the interval of a bootstrap.  NAN of none. */
struct paired_ratio paired_ratio_of(const double *changed, const double *plain,
                                    size_t n, double confidence,
                                    struct rng *rng);

/* How far what changes nothing was seen to go from 1. */
double paired_ratio_noise(const struct paired_ratio *same);

/* True if all of the interval is farther from 1 than noise is. */
bool paired_ratio_shows(const struct paired_ratio *effect, double noise);

#endif
