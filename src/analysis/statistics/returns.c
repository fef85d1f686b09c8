#include "analysis/statistics/returns.h"

#include <math.h>

struct returns returns_beyond_chance(uint64_t places, uint64_t laps,
                                     double rate, double chance)
{
    double expected = (double)places; /* that are met so often, by chance */
    uint64_t times = 0;
    do {
        times++;
        expected *= (double)(laps - times + 1) / (double)times * rate;
        /* Chance makes a hundredth of a place so, and no more. */
    } while (expected > 0.01 && times < laps);
    size_t beyond = 0;
    for (double left = 1; left > chance; left *= fmin(expected, 0.5))
        beyond++;
    return (struct returns){times, beyond - 1 > 0 ? beyond - 1 : 1};
}

size_t returns_count(const double *sorted, size_t count, uint64_t times)
{
    size_t returned = 0;
    for (size_t i = 0, run; i < count; i += run) {
        for (run = 1; i + run < count && sorted[i + run] == sorted[i];)
            run++;
        returned += run >= times;
    }
    return returned;
}
