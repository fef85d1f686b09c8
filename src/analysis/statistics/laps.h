/*
 * Loads of some addresses, each of them several times in the same state.
 *
 * What differs from address to address (slices, near and far sides) comes again
 * in each lap; what disturbs a load does not.  So each address costs what most
 * of its laps agree on, and the addresses are averaged: that is free of what
 * disturbs, and loses nothing of what differs.
 */
#ifndef SONDE_ANALYSIS_STATISTICS_LAPS_H
#define SONDE_ANALYSIS_STATISTICS_LAPS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/statistics/undisturbed.h"

struct laps {
    /* Of an address, on average.  Bounds are as far off as the addresses
     * differ; `disturbed` is a share of the loads, `spread` that of laps of
     * one address, and `kept` counts addresses of which most laps agree. */
    struct undisturbed cost;
    double differ; /* of these bounds, what is not by what laps differ, too */
    double excess_error;     /* standard error of cost.excess */
    double mean, mean_error; /* of all that count; its standard error */
    double early;            /* what those take off that do not count */
    double median; /* of what addresses cost; far from the mean of two kinds */
};

/* Loads of one address in the order of their laps; `step` as of
 * undisturbed_of.  What costs `early` cycles less than most laps of its
 * address, and less than noise makes of it, was somewhere else and does not
 * count.  Of single laps only what all cost together is known. */
struct laps laps_of(const uint64_t *address, const double *cycles, size_t n,
                    double step, double early);

#endif
