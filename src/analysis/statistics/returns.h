/*
 * Rare events that come back: what is late by chance is so at any place, and
 * hardly ever twice at one; what misses is missed in lap after lap.
 */
#ifndef SONDE_ANALYSIS_STATISTICS_RETURNS_H
#define SONDE_ANALYSIS_STATISTICS_RETURNS_H

#include <stddef.h>
#include <stdint.h>

/* How often a place must be met to count as one that came back, and how many
 * such places are more than chance. */
struct returns {
    uint64_t times;
    size_t places;
};

/* Of so many places, each met in a lap at that rate by chance, so that there
 * are as many such places no more often than `chance`. */
struct returns returns_beyond_chance(uint64_t places, uint64_t laps,
                                     double rate, double chance);

/* Of places that were met, in order, those that were so often. */
size_t returns_count(const double *sorted, size_t count, uint64_t times);

#endif
