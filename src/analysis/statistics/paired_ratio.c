#include "analysis/statistics/paired_ratio.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"
#include "base/mem.h"

struct paired_ratio paired_ratio_of(const double *changed, const double *plain,
                                    size_t n, double confidence,
                                    struct rng *rng)
{
    double *const ratios = xreallocarray(NULL, n + 1, sizeof *ratios);
    for (size_t i = 0; i < n; i++)
        ratios[i] = changed[i] / plain[i];
    const struct stats_interval interval =
        stats_bootstrap_median(ratios, n, confidence, rng);
    const struct paired_ratio effect = {
        .ratio = stats_median(ratios, n),
        .low = interval.low,
        .high = interval.high,
    };
    free(ratios);
    return effect;
}

double paired_ratio_noise(const struct paired_ratio *same)
{
    return fmax(fabs(same->low - 1), fabs(same->high - 1));
}

bool paired_ratio_shows(const struct paired_ratio *effect, double noise)
{
    return effect->low > 1 + noise || effect->high < 1 - noise;
}
