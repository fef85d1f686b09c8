/*
 * A third value among samples that should be mixtures of two.
 *
 * As something grows, samples go over from one distribution to another: on the
 * way they are of both, and of no value are there more than one of both has,
 * but by chance.  Where there are, a third distribution was passed that nowhere
 * has the most of the samples, as a cache hardly larger than the one before it.
 */
#ifndef SONDE_ANALYSIS_MODE_BETWEEN_H
#define SONDE_ANALYSIS_MODE_BETWEEN_H

#include <stddef.h>

struct mode_samples {
    const double *sorted; /* ascending */
    size_t count;
};

struct mode_rule {
    double width;        /* samples of one value differ by this share of it */
    double above, below; /* the value lies between these */
    double share;        /* … and is that of so many samples more, at least */
};

/* The share of `mixed` that is of a third value beyond what `near` or `far` has
 * of it; and that value.  0: there is none. */
double mode_between(const struct mode_samples *near,
                    const struct mode_samples *far,
                    const struct mode_samples *mixed,
                    const struct mode_rule *rule, double *value);

#endif
