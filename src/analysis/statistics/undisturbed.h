/*
 * What an undisturbed sample is worth, where others are disturbed: a mean of
 * those near the densest half.
 *
 * What disturbs (a refill, a page walk, another process) makes a load late, by
 * little or by much, so means are too high and quantiles move with the share
 * that is disturbed.  The shortest interval that holds half of the samples, the
 * shorth (Andrews and others 1972), stays with the undisturbed ones as long as
 * these are the larger part; the mean of what lies near it wastes nothing of
 * them.
 *
 * Breakdown: less than half of the samples may be disturbed, wherever those
 * lie.  Of more, nothing can be told apart: so share the chance out, a load at
 * a time, not a run of hundreds, of which most have one late load.
 */
#ifndef SONDE_ANALYSIS_STATISTICS_UNDISTURBED_H
#define SONDE_ANALYSIS_STATISTICS_UNDISTURBED_H

#include <stddef.h>

/* With how many percent the bounds hold. */
enum { UNDISTURBED_PERCENT = 95 };
/* Samples lie near that are so many standard deviations off: of a normal
 * distribution one in 16,000 is farther, and a spike of ten is not near. */
enum { UNDISTURBED_DEVIATIONS = 4 };

struct undisturbed {
    double cycles;    /* NAN of no samples */
    double low, high; /* where that is; infinite of one sample */
    double disturbed; /* share of the samples beyond what lies near */
    double excess;    /* what disturbance adds to the mean of all */
    double spread;    /* standard deviation of what lies near */
    size_t kept;      /* samples that lie near */
};

/* `step` is by how much two samples of one and the same may differ, since what
 * times them counts in steps; 0: not at all. */
struct undisturbed undisturbed_of(const double *samples, size_t n, double step);

/* The same where it is known how far an undisturbed sample may be off, so that
 * a few samples will do.  NAN if most samples are not so near to each other. */
struct undisturbed undisturbed_within(const double *samples, size_t n,
                                      double far);

/* Of one less the other, which were measured apart: the bounds are as far off
 * as the root of both squares.  What else is told of them is the worse one. */
struct undisturbed undisturbed_less(const struct undisturbed *a,
                                    const struct undisturbed *b);

/* Student's t: so many standard errors lie on either side, at that confidence,
 * of a mean with so many degrees of freedom. */
double undisturbed_t(size_t freedom);

#endif
