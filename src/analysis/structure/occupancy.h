/*
 * What a cache holds of lines that were loaded once each in random order.
 *
 * A cache into which nothing else was loaded than the lines of a buffer that is
 * larger holds as many of them as it has room for, whatever its index and
 * policy.  And one that was empty holds, of lines drawn at random, as many of a
 * set as came to it, or as the set has ways: of as many lines as it has room
 * for, the share that is gone is that of sets to which more came than they have
 * ways, which depends on the ways alone.
 */
#ifndef SONDE_ANALYSIS_OCCUPANCY_H
#define SONDE_ANALYSIS_OCCUPANCY_H

#include <stdbool.h>
#include <stddef.h>

enum { OCCUPANCY_QUARTERS = 4, OCCUPANCY_WAYS_MOST = 512 };

/* Some lines of a trial were looked at one after the other, each by a load. */
struct occupancy_looks {
    double members; /* lines that were loaded in a trial */
    double looks;   /* lines that were looked at in one */
    /* Of the looks of each quarter of a trial, over all trials. */
    double seen[OCCUPANCY_QUARTERS], there[OCCUPANCY_QUARTERS];
    double late; /* the share of what was there that seemed not to be */
};

/* How many were there before the first look. */
struct occupancy {
    double members, lines, error; /* standard */
    bool drifts; /* looks changed more than a line each: do not believe it */
};

/* A look leaves one line less that was not looked at: the one that it found, or
 * the one that made room for it. */
void occupancy_of_looks(const struct occupancy_looks *looks,
                        struct occupancy *occupancy);

/* Two estimates of one number: their mean, weighed by their errors; false if
 * chance makes them differ so once in a thousand. */
bool occupancy_join(const struct occupancy *a, const struct occupancy *b,
                    struct occupancy *mean);

/* How many of `members` random lines an empty cache takes that has so many
 * equal sets, not all of which need be full when it has no room for more lines.
 */
double occupancy_expected(double members, double sets, unsigned ways);

/* The ways of equal sets that explain what was seen. */
struct occupancy_ways {
    unsigned best, least, most; /* 0: none do */
};
/* `held` is what the cache holds; `seen`, of several numbers of members, what
 * is there of those that were drawn from a pool of so many lines. */
void occupancy_ways_of(const struct occupancy *held,
                       const struct occupancy *seen, size_t count, double pool,
                       struct occupancy_ways *ways);

#endif
