/*
 * What a change does to a number: the two are measured in turns, one right
 * after the other, so that whatever drifts is in both, and the quotients of
 * the pairs are summarised.
 */
#ifndef SONDE_ANALYSIS_EFFECT_H
#define SONDE_ANALYSIS_EFFECT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rng.h"

/* The quotient; where it is with the confidence that was asked for. */
struct effect {
    double ratio, low, high;
};

/* Of pairs changed[i], plain[i], all above zero: the median of their
 * quotients, with the interval of a bootstrap.  NAN of none. */
struct effect effect_of(const double *changed, const double *plain, size_t n,
                        double confidence, struct rng *rng);

/* How far what changes nothing was seen to go from 1. */
double effect_noise(const struct effect *same);

/* True if all of the interval is farther from 1 than noise is. */
bool effect_shows(const struct effect *effect, double noise);

#endif
