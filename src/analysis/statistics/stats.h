/*
 * Robust summaries of samples: what is typical, how far it spreads, how sure
 * we are.  Nothing here changes the samples; values are finite numbers.  Of no
 * samples at all every summary is NAN.
 */
#ifndef SONDE_ANALYSIS_STATISTICS_STATS_H
#define SONDE_ANALYSIS_STATISTICS_STATS_H

#include <stddef.h>

#include "base/rng.h"

/* The samples in rising order; the caller frees. */
double *stats_sorted(const double *values, size_t n);

double stats_min(const double *values, size_t n);
double stats_max(const double *values, size_t n);
double stats_mean(const double *values, size_t n);
double stats_median(const double *values, size_t n);

/* Standard error of the mean of values in their order, of which neighbours may
 * be alike: the largest that means of 1, 2, 4, … neighbours show, as long as
 * there are 16 groups.  Infinite of a single value. */
double stats_mean_error(const double *values, size_t n);

/* The q-quantile, 0 <= q <= 1, by linear interpolation between the samples of
 * rank floor and ceil of (n - 1) q: type 7 of Hyndman and Fan (1996), the one
 * that R and NumPy take. */
double stats_quantile(const double *values, size_t n, double q);
double stats_quantile_of_sorted(const double *sorted, size_t n, double q);

/* Median of the absolute deviations from the median, as it is. */
double stats_mad(const double *values, size_t n);
/* The same times 1.4826: estimates the standard deviation of normal samples,
 * and is not moved by spikes. */
double stats_mad_sigma(const double *values, size_t n);

/* Mean of what is left when `share` (0 <= share < 0.5) of the samples is cut
 * off at each end, rounded down to whole samples. */
double stats_trimmed_mean(const double *values, size_t n, double share);
/* Its standard error: that of the mean of values whose ends are drawn in to what
 * is left, by the share that is left (Tukey and McLaughlin 1963); as
 * stats_mean_error. */
double stats_trimmed_mean_error(const double *values, size_t n, double share);

struct stats_interval {
    double low, high;
};

/* Where the median is with `confidence` (0.99, say): percentile bootstrap. */
struct stats_interval stats_bootstrap_median(const double *values, size_t n,
                                             double confidence,
                                             struct rng *rng);

/* With which confidence the range of n numbers holds the median of what they
 * were drawn from: but for all of them lying on one side of it. */
double stats_range_confidence(size_t n);

#endif
