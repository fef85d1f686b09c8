/*
 * A split: samples that gather around two values, near and far, told apart by
 * the threshold that leaves the least variance on its two sides (Otsu, 1979).
 *
 * Any samples can be split so; the split is clear if both sides have a fair
 * share of them and most of the way between the sides' medians is empty.  One
 * broad heap has its halves side by side, and is not.  A few samples far away
 * (spikes) are left out of the search.
 */
#ifndef SONDE_ANALYSIS_STATISTICS_OTSU_H
#define SONDE_ANALYSIS_STATISTICS_OTSU_H

#include <stdbool.h>
#include <stddef.h>

struct otsu {
    bool clear;
    double threshold; /* half-way between low and high */
    double low, high; /* medians of the two sides */
    size_t below;     /* samples under the threshold */
};

void otsu_find(const double *values, size_t n, struct otsu *split);

#endif
