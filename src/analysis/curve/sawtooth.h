/*
 * Throughput against the number of equal workers n of which S work at once:
 * peak · n / (S ⌈n / S⌉), a sawtooth (van Stigt 2022, 8.2).  Which S, and how
 * well it fits.
 */
#ifndef SONDE_ANALYSIS_CURVE_SAWTOOTH_H
#define SONDE_ANALYSIS_CURVE_SAWTOOTH_H

#include <stddef.h>

struct sawtooth {
    unsigned servers; /* S; 0: the rates are none */
    double peak;
    double residual; /* root of the mean square, as a share of the peak */
};

/* The share of the peak that n workers reach on so many servers. */
double sawtooth_share(double n, double servers);

/* The best S from 1 to `most` and the peak that goes with it, by least
 * squares, to the rates of n[0 … count) workers.  Of fits that are as good the
 * one of fewest servers. */
struct sawtooth sawtooth_fit(const double *n, const double *rates, size_t count,
                             unsigned most);

#endif
