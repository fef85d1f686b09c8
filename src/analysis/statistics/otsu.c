#include "analysis/statistics/otsu.h"

#include <stdlib.h>

#include "analysis/statistics/stats.h"

/* Of 25 samples and fewer, two heaps may be chance. */
enum { SAMPLES_LEAST = 26 };
/* Share of the samples at each end that may be spikes: twice what a GPU's
 * spikes are of all loads; that a side must have: twice five of 26 are more
 * than either end may lose.  Share of the way between the medians that is
 * empty, but for a tenth of each side: of one heap it is a fifth, if it is
 * uniform (0.1 of 0.5) as if it is normal (0.25 of 1.35 deviations). */
static const double spikes = 0.02, side_least = 0.2, empty_least = 0.5;
/* Cycles between the medians: clocks step by one or two, and samples without
 * jitter gather on their steps. */
static const double apart_least = 5;

/* Index of the first value of the upper side: where the variance between the
 * sides is largest. */
static size_t best_cut(const double *sorted, size_t n)
{
    double total = 0, lower = 0, most = -1;
    size_t best = 0;
    for (size_t i = 0; i < n; i++)
        total += sorted[i];
    for (size_t i = 1; i < n; i++) {
        lower += sorted[i - 1];
        const double below = (double)i, above = (double)(n - i);
        const double apart = (total - lower) / above - lower / below;
        if (below * above * apart * apart > most) {
            most = below * above * apart * apart;
            best = i;
        }
    }
    return best;
}

void otsu_find(const double *values, size_t n, struct otsu *split)
{
    *split = (struct otsu){0};
    if (n < SAMPLES_LEAST)
        return;
    double *const all = stats_sorted(values, n);
    const size_t cut_off = (size_t)((double)n * spikes);
    const double *const sorted = all + cut_off;
    const size_t count = n - 2 * cut_off;
    const size_t cut = best_cut(sorted, count);
    split->low = stats_median(sorted, cut);
    split->high = stats_median(sorted + cut, count - cut);
    split->threshold = (split->low + split->high) / 2;
    for (size_t i = 0; i < n; i++)
        split->below += values[i] < split->threshold;
    /* What lies between all but a tenth of either side, which is its edge. */
    const double empty = stats_quantile(sorted + cut, count - cut, 0.1) -
                         stats_quantile(sorted, cut, 0.9);
    const double least = side_least * (double)count;
    split->clear = (double)cut >= least && (double)(count - cut) >= least &&
                   split->high - split->low >= apart_least &&
                   empty > empty_least * (split->high - split->low);
    free(all);
}
