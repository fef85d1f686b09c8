#include "analysis/curve/plateaus.h"

#include <math.h>
#include <stdbool.h>

#include "analysis/statistics/stats.h"

static bool near(double a, double b, double share, double floor)
{
    return fabs(a - b) <= fmax(floor, share * fmax(fabs(a), fabs(b)));
}

/* The last index of the stretch that begins at `from`. */
static size_t stretch_end(const double *values, size_t n, size_t from,
                          const struct plateaus_rule *rule)
{
    size_t last = from;
    while (last + 1 < n &&
           near(values[last], values[last + 1], rule->change, rule->floor))
        last++;
    return last;
}

size_t plateaus_find(const double *values, size_t n,
                     const struct plateaus_rule *rule, struct plateau *plateaus,
                     size_t most)
{
    size_t count = 0;
    for (size_t first = 0; first < n;) {
        const size_t last = stretch_end(values, n, first, rule);
        const size_t from = first;
        first = last + 1;
        if (last - from + 1 < rule->least)
            continue;
        const double value = stats_median(values + from, last - from + 1);
        struct plateau *const before = count > 0 ? &plateaus[count - 1] : NULL;
        if (before != NULL &&
            near(before->value, value, rule->distance, rule->floor))
            before->last = last;
        else if (count < most)
            plateaus[count++] = (struct plateau){from, last, value};
    }
    return count;
}
