/* See gap.h. */
#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/gap_split.h"
#include "analysis/statistics/stats.h"

void gap_split_find(const double *values, size_t n, double upper, double least,
                    struct gap_split *gap)
{
    double *const sorted = stats_sorted(values, n);
    *gap = (struct gap_split){.low = NAN, .high = NAN};
    double width = 0;
    for (size_t i = 1; i < n; i++)
        if (sorted[i] >= upper && sorted[i] - sorted[i - 1] > width) {
            width = sorted[i] - sorted[i - 1];
            gap->low = sorted[i - 1];
            gap->high = sorted[i];
        }
    gap->clear =
        width > 0 && width >= least && width >= sorted[n - 1] - gap->high;
    free(sorted);
}
