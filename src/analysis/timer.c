#include "analysis/timer.h"

#include <math.h>
#include <stdlib.h>

#include "base/num.h"

int64_t timer_step(const int64_t *readings, size_t count)
{
    uint64_t step = 0;
    for (size_t i = 1; i < count; i++)
        step = u64_gcd(step, (uint64_t)llabs(readings[i] - readings[0]));
    return (int64_t)step;
}

/* As long as what lies between timer and clock takes anywhere. */
static const double around = 1000;

void timer_widen(double rate[2], double step_ns, double spin_ns,
                 double spin_cycles)
{
    rate[0] = floor(rate[0] / (1 + step_ns / spin_ns));
    rate[1] =
        ceil(rate[1] * (1 + around / spin_cycles) / (1 - step_ns / spin_ns));
}
