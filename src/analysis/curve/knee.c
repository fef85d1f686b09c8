#include "analysis/curve/knee.h"

#include <math.h>

struct knee knee_find(const double *load, const double *cost, size_t n,
                      double times)
{
    const double limit = times * cost[0];
    size_t below = n - 1;
    while (below > 0 && cost[below] >= limit)
        below--;
    if (below == n - 1)
        return (struct knee){.after = below, .load = load[below]};
    const double rise = cost[below + 1] - cost[below];
    const double share = (limit - cost[below]) / rise;
    const double from = load[below], to = load[below + 1];
    return (struct knee){.reached = true,
                         .after = below,
                         .load = from + share * (to - from),
                         .low = fmin(from, to),
                         .high = fmax(from, to)};
}

double knee_fall(const double *cost, size_t n, size_t *at)
{
    double highest = cost[0], most = 0;
    *at = 0;
    for (size_t i = 1; i < n; i++) {
        const double fall = (highest - cost[i]) / highest;
        if (fall > most) {
            most = fall;
            *at = i;
        }
        highest = fmax(highest, cost[i]);
    }
    return most;
}
