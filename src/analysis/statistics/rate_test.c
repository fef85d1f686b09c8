#include "analysis/statistics/rate_test.h"

#include <math.h>

/* log of the chance of exactly k of n at rate p, 0 < p < 1. */
static double log_binomial(double k, double n, double p)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) +
           (n - k) * log1p(-p);
}

double rate_test_chance(uint64_t k1, uint64_t n1, uint64_t k0, uint64_t n0)
{
    if (n0 == 0 || n1 == 0 || k1 == 0)
        return 1;
    const double n = (double)k0 + (double)k1;
    const double p = (double)n1 / ((double)n0 + (double)n1);
    double term = exp(log_binomial((double)k1, n, p)), sum = 0;
    for (double k = (double)k1; k <= n; k++) {
        sum += term;
        term *= (n - k) / (k + 1) * p / (1 - p);
        /* Past the mode the terms fall faster and faster. */
        if (k > n * p && term < 1e-17 * sum)
            break;
    }
    return fmin(sum, 1);
}

bool rate_test_more(uint64_t k1, uint64_t n1, uint64_t k0, uint64_t n0,
                    double alpha)
{
    return rate_test_chance(k1, n1, k0, n0) < alpha;
}
