#include "analysis/effect.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/stats.h"
#include "base/mem.h"

struct effect effect_of(const double *changed, const double *plain, size_t n,
                        double confidence, struct rng *rng)
{
    double *const ratios = xreallocarray(NULL, n + 1, sizeof *ratios);
    for (size_t i = 0; i < n; i++)
        ratios[i] = changed[i] / plain[i];
    const struct stats_interval interval =
        stats_bootstrap_median(ratios, n, confidence, rng);
    const struct effect effect = {
        .ratio = stats_median(ratios, n),
        .low = interval.low,
        .high = interval.high,
    };
    free(ratios);
    return effect;
}

double effect_noise(const struct effect *same)
{
    return fmax(fabs(same->low - 1), fabs(same->high - 1));
}

bool effect_shows(const struct effect *effect, double noise)
{
    return effect->low > 1 + noise || effect->high < 1 - noise;
}
