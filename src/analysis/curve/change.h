/*
 * Change points: where in a series the values begin to follow another
 * distribution.  Groessler (2022), section 3.3: reduce what has many
 * dimensions to one, estimate the most likely change point, test it.
 */
#ifndef SONDE_ANALYSIS_CURVE_CHANGE_H
#define SONDE_ANALYSIS_CURVE_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

struct change {
    size_t index;     /* of the first value after the change */
    double statistic; /* D of Kolmogorov and Smirnov */
    double critical;  /* what D must exceed */
    bool significant;
    double before, after; /* medians of the two sides */
};

/*
 * Reduces `rows` vectors of `columns` latencies each (row by row in `samples`)
 * to one number a row, by the geometric mapping of Grundy, Killick and
 * Mihaylov (2020): the distance of the vector to the reference 1 = (1, …, 1)
 * and the angle between the two.  The papers leave open how a single number
 * comes of both; here each is put into cycles per load, the angle as the arc
 * that it spans at the vector's length, and the number is the square root of
 * the sum of their squares.  So it rises when all loads of a row get slower
 * (distance) and when some do (distance and angle), the two never cancel, and
 * no scale has to be learned from the data.
 */
void change_reduce(const double *samples, size_t rows, size_t columns,
                   double *series);

/*
 * The index i, least <= i <= n - least, that minimises cost(0, i) + cost(i, n),
 * the cost of a segment being the sum of the squared deviations from its mean.
 * Prefix sums give each cost in constant time, hence O(n) where algorithm 1 of
 * the thesis takes O(n²) costs.  0 if the series is too short to be split.
 */
size_t change_estimate(const double *series, size_t n, size_t least);

/* Two-sample Kolmogorov-Smirnov: the greatest distance between the empirical
 * distribution functions. */
double change_ks_statistic(const double *a, size_t n, const double *b,
                           size_t m);
/*
 * The critical value sqrt(-ln(alpha / 2) / 2 * (n + m) / (n m)): equation 3.3
 * with the sign that it lacks in print (log(alpha / 2) is negative, and the
 * root would be imaginary).
 */
double change_ks_critical(size_t n, size_t m, double alpha);

/*
 * All change points by binary segmentation: a significant change splits the
 * series, and each part is looked at again; no part is shorter than `least`
 * (>= 1).  At the end each change is tested anew between its two neighbouring
 * segments, and those that fail are dropped.  Writes at most `most`, in order
 * of their index; returns how many.
 */
size_t change_find_all(const double *series, size_t n, size_t least,
                       double alpha, struct change *changes, size_t most);

#endif
