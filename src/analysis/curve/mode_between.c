#include "analysis/curve/mode_between.h"

#include <math.h>

/* How many are less. */
static size_t count_below(const struct mode_samples *s, double value)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (s->sorted[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double share_within(const struct mode_samples *s, double low,
                           double high)
{
    const size_t n =
        count_below(s, nextafter(high, INFINITY)) - count_below(s, low);
    return s->count > 0 ? (double)n / (double)s->count : 0;
}

/* What a share of so many samples strays by. */
static double error_of(double share, size_t count)
{
    return sqrt(share * (1 - share) / (double)count);
}

/* By how much more than by chance one of a window's values is met: four
 * deviations are one in 30,000, and windows are some hundred. */
static double excess_of(const struct mode_samples *near,
                        const struct mode_samples *far,
                        const struct mode_samples *mixed, double low,
                        double high)
{
    const double a = share_within(near, low, high);
    const double b = share_within(far, low, high);
    const double most = fmax(a, b), seen = share_within(mixed, low, high);
    const double error =
        hypot(error_of(seen, mixed->count),
              fmax(error_of(a, near->count + 1), error_of(b, far->count + 1)));
    return seen - most > 4 * error ? seen - most : 0;
}

double mode_between(const struct mode_samples *near,
                    const struct mode_samples *far,
                    const struct mode_samples *mixed,
                    const struct mode_rule *rule, double *value)
{
    const double *const at = mixed->sorted;
    double best = 0;
    size_t last = 0;
    for (size_t i = 0; i < mixed->count; i++) {
        const double low = at[i], high = low * (1 + rule->width);
        while (last < mixed->count && at[last] <= high)
            last++;
        if (low < rule->above || high > rule->below ||
            (double)(last - i) < rule->share * (double)mixed->count)
            continue;
        const double excess = excess_of(near, far, mixed, low, high);
        if (excess < rule->share || excess <= best)
            continue;
        best = excess;
        *value = at[(i + last) / 2];
    }
    return best;
}
