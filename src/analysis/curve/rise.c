#include "analysis/curve/rise.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"
#include "base/mem.h"

/* Points in a row that must be higher, since a few may be so by themselves; at
 * the end of the curve there may be no more than three. */
enum { ALIKE = 5, ALIKE_OF_CLEAR = 3 };

/* Each by two deviations: one of 44 points of a flat curve is, five in a row
 * once in 10^8.  Noise whose tails are so heavy that one of ten is makes one in
 * 10^5, a thousandth of the curves of 100 points. */
static const double deviations = 2;
/* Of five points the lowest is hardly ever (once in 1000) so much lower than it
 * is on average. */
static const double unlucky = 3.6;
/* What a normal distribution is beyond, on one side, once in 1000. */
static const double unlikely = 3.1;

/* Half of a normal distribution is within 0.6745 deviations. */
static double scatter_beyond(const struct rise_curve *c, double cycles)
{
    double *const steps = xreallocarray(NULL, c->count - 1, sizeof *steps);
    for (size_t i = 0; i + 1 < c->count; i++)
        steps[i] = fmax(fabs(c->y[i + 1] - c->y[i]) - cycles, 0) /
                   hypot(c->error[i], c->error[i + 1]);
    const double sigma = stats_median(steps, c->count - 1) / 0.6745;
    free(steps);
    return sigma;
}

double rise_scatter(const struct rise_curve *c)
{
    /* by the median of thirty steps a deviation is known to a fifth */
    if (c->count < 3 || scatter_beyond(c, 1) < 1.2)
        return 1;
    return scatter_beyond(c, 0);
}

/* A mean and its standard deviation. */
struct height {
    double at, error;
};

/* That of some points, the surer of which weigh more. */
static struct height mean_of(const struct rise_curve *c, size_t from,
                             size_t end)
{
    double sum = 0, weights = 0;
    for (size_t i = from; i < end; i++) {
        const double weight = pow(c->error[i], -2);
        sum += weight * c->y[i];
        weights += weight;
    }
    return (struct height){sum / weights, sqrt(1 / weights)};
}

static double threshold(const struct rise_curve *c, size_t i)
{
    return fmax(c->least, deviations * c->error[i]);
}

bool rise_at(const struct rise_curve *c, size_t i, double level)
{
    const bool few = i + ALIKE > c->count && c->y[i] > level + c->clear;
    const size_t end = few ? c->count : i + ALIKE;
    if (end > c->count || end - i < ALIKE_OF_CLEAR)
        return false;
    for (size_t k = i; k < end; k++)
        /* Of fewer, each by five deviations (one in 3.5 million). */
        if (c->y[k] < level + (few ? fmax(c->clear / 2, 5 * c->error[k])
                                   : threshold(c, k)))
            return false;
    return true;
}

double rise_hidden(const struct rise_curve *c, size_t from, size_t end)
{
    double hidden = 0;
    for (size_t i = from; i < end && i < c->count; i++)
        hidden = fmax(hidden, threshold(c, i) + unlucky * c->error[i]);
    return hidden;
}

double rise_between(const struct rise_curve *c, size_t from, size_t end)
{
    double most = c->least;
    for (size_t i = from + 1; i + 2 <= end && i + 2 <= c->count; i++) {
        const struct height before = mean_of(c, from, i),
                            after = mean_of(c, i, end);
        most = fmax(most, after.at - before.at +
                              unlikely * hypot(before.error, after.error));
    }
    return most;
}
