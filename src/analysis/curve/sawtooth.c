#include "analysis/curve/sawtooth.h"

#include <math.h>

double sawtooth_share(double n, double servers)
{
    return n / (servers * ceil(n / servers));
}

static struct sawtooth fit_one(const double *n, const double *rates,
                               size_t count, unsigned servers)
{
    double products = 0, squares = 0, left = 0;
    for (size_t i = 0; i < count; i++) {
        const double share = sawtooth_share(n[i], servers);
        products += share * rates[i];
        squares += share * share;
    }
    const double peak = products / squares;
    for (size_t i = 0; i < count; i++)
        left += pow(rates[i] - peak * sawtooth_share(n[i], servers), 2);
    return (struct sawtooth){.servers = servers,
                             .peak = peak,
                             .residual = sqrt(left / (double)count) / peak};
}

struct sawtooth sawtooth_fit(const double *n, const double *rates, size_t count,
                             unsigned most)
{
    /* Two fits are as good as each other within rounding. */
    static const double same = 1e-9;
    struct sawtooth best = {.servers = 0, .residual = INFINITY};
    for (unsigned servers = 1; count > 0 && servers <= most; servers++) {
        const struct sawtooth next = fit_one(n, rates, count, servers);
        if (next.peak > 0 && next.residual < best.residual - same)
            best = next;
    }
    return best;
}
