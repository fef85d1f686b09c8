/*
 * Order statistics come from a sorted copy: the sample counts here are small
 * (a few up to some 100,000), and one way is easier to trust than two.
 *
 * The bootstrap draws no resamples.  The median of n draws with replacement
 * depends only on the middle ranks, and the k-th smallest of n uniform numbers
 * is G(k) / (G(k) + G(n + 1 - k)) with G(k) a gamma variable of shape k: two
 * or three numbers instead of n give exactly the resample's median.
 */
#include "analysis/statistics/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Enough that the ends of a 99 % interval rest on ten values each. */
enum { RESAMPLES = 2000 };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double *stats_sorted(const double *values, size_t n)
{
    double *const sorted = xreallocarray(NULL, n, sizeof *sorted);
    if (n > 0)
        memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    return sorted;
}

double stats_quantile_of_sorted(const double *sorted, size_t n, double q)
{
    if (n == 0)
        return NAN;
    const double rank = (double)(n - 1) * fmin(fmax(q, 0), 1);
    const size_t below = (size_t)rank;
    const size_t above = below + 1 < n ? below + 1 : below;
    const double share = rank - (double)below;
    return sorted[below] + share * (sorted[above] - sorted[below]);
}

double stats_min(const double *values, size_t n)
{
    double least = n > 0 ? values[0] : NAN;
    for (size_t i = 1; i < n; i++)
        least = fmin(least, values[i]);
    return least;
}

double stats_max(const double *values, size_t n)
{
    double most = n > 0 ? values[0] : NAN;
    for (size_t i = 1; i < n; i++)
        most = fmax(most, values[i]);
    return most;
}

double stats_mean(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return n > 0 ? sum / (double)n : NAN;
}

/* The same by groups of so many neighbours; what is left over has none. */
static double error_by_groups(const double *values, size_t n, size_t each)
{
    const size_t groups = n / each;
    const double mean = stats_mean(values, groups * each);
    double squares = 0;
    for (size_t i = 0; i < groups; i++) {
        const double off = stats_mean(values + i * each, each) - mean;
        squares += off * off;
    }
    return sqrt(squares / (double)(groups - 1) / (double)groups);
}

double stats_mean_error(const double *values, size_t n)
{
    enum { GROUPS_LEAST = 16 };
    if (n < 2)
        return INFINITY;
    double error = error_by_groups(values, n, 1);
    for (size_t each = 2; n / each >= GROUPS_LEAST; each *= 2)
        error = fmax(error, error_by_groups(values, n, each));
    return error;
}

double stats_median(const double *values, size_t n)
{
    return stats_quantile(values, n, 0.5);
}

double stats_quantile(const double *values, size_t n, double q)
{
    double *const sorted = stats_sorted(values, n);
    const double quantile = stats_quantile_of_sorted(sorted, n, q);
    free(sorted);
    return quantile;
}

double stats_mad(const double *values, size_t n)
{
    const double median = stats_median(values, n);
    double *const away = xreallocarray(NULL, n, sizeof *away);
    for (size_t i = 0; i < n; i++)
        away[i] = fabs(values[i] - median);
    const double mad = stats_median(away, n);
    free(away);
    return mad;
}

double stats_mad_sigma(const double *values, size_t n)
{
    /* 1 / (0.75-quantile of the standard normal distribution) */
    return 1.4826022185056018 * stats_mad(values, n);
}

double stats_trimmed_mean(const double *values, size_t n, double share)
{
    double *const sorted = stats_sorted(values, n);
    const size_t cut = (size_t)((double)n * share);
    const double mean = stats_mean(sorted + cut, n - 2 * cut);
    free(sorted);
    return mean;
}

double stats_trimmed_mean_error(const double *values, size_t n, double share)
{
    const size_t cut = (size_t)((double)n * share);
    if (n < 2)
        return INFINITY;
    double *const sorted = stats_sorted(values, n);
    const double low = sorted[cut], high = sorted[n - 1 - cut];
    for (size_t i = 0; i < n; i++)
        sorted[i] = fmin(fmax(values[i], low), high);
    const double error = stats_mean_error(sorted, n) /
                         (1 - 2 * (double)cut / (double)n);
    free(sorted);
    return error;
}

/* A gamma variable of shape >= 1, scale 1: Marsaglia and Tsang (2000). */
static double gamma_draw(double shape, struct rng *rng)
{
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = rng_normal(rng);
        const double v = pow(1 + c * x, 3);
        /* The paper's test of acceptance, exact for every shape. */
        if (v > 0 &&
            log(1 - rng_unit(rng)) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v;
    }
}

/* The sample that a uniform number in (0, 1) draws. */
static double drawn(const double *sorted, size_t n, double uniform)
{
    const size_t i = (size_t)(uniform * (double)n);
    return sorted[i < n ? i : n - 1];
}

/* The median of one resample: the middle of n ordered uniform numbers, the two
 * middle ones where n is even. */
static double resampled_median(const double *sorted, size_t n, struct rng *rng)
{
    const size_t half = (n + 1) / 2;
    const double before = gamma_draw((double)half, rng);
    const double between = n % 2 == 0 ? gamma_draw(1, rng) : 0;
    const double after = gamma_draw((double)half, rng);
    const double all = before + between + after;
    return 0.5 * (drawn(sorted, n, before / all) +
                  drawn(sorted, n, (before + between) / all));
}

struct stats_interval stats_bootstrap_median(const double *values, size_t n,
                                             double confidence, struct rng *rng)
{
    if (n == 0)
        return (struct stats_interval){NAN, NAN};
    double *const sorted = stats_sorted(values, n);
    double *const medians = xreallocarray(NULL, RESAMPLES, sizeof *medians);
    for (size_t i = 0; i < RESAMPLES; i++)
        medians[i] = resampled_median(sorted, n, rng);
    qsort(medians, RESAMPLES, sizeof *medians, by_value);
    const double tail = 0.5 * (1 - confidence);
    const struct stats_interval interval = {
        .low = stats_quantile_of_sorted(medians, RESAMPLES, tail),
        .high = stats_quantile_of_sorted(medians, RESAMPLES, 1 - tail),
    };
    free(medians);
    free(sorted);
    return interval;
}

double stats_range_confidence(size_t n)
{
    return n > 0 ? 1 - pow(2, 1 - (double)n) : 0;
}
