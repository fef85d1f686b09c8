/*
 * What goes up and down together: series of which some are moved by one cause,
 * others by another.  Two of the same cause differ by a constant and noise,
 * whatever moves all of them cancels in their difference.
 *
 * Series are joined, the nearest first, by how much the differences of their
 * members vary, on average (average linkage: Sokal and Michener, 1958), until
 * one is left.  Where groups are, joining them costs much more at once than
 * all joints before; noise makes joints that cost little more each time.
 */
#ifndef SONDE_ANALYSIS_COMOVEMENT_H
#define SONDE_ANALYSIS_COMOVEMENT_H

#include <stddef.h>

struct comovement {
    size_t groups; /* 0: the series do not fall into some */
    /* Standard deviations of differences: the most that was joined, and the
     * least that was not.  Where there are no groups, both are the most. */
    double near, far;
};

/*
 * values[row × n + i]: of series i, NAN where it has none.  Differences that
 * vary by less than `floor` count as not varying.  group[i] gets the number of
 * its group, as they appear; untouched where there are none.
 */
void comovement_find(const double *values, size_t rows, size_t n, double floor,
                     size_t *group, struct comovement *together);

#endif
