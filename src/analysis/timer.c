#include "analysis/timer.h"

#include <stdlib.h>

#include "base/num.h"

int64_t timer_step(const int64_t *readings, size_t count)
{
    uint64_t step = 0;
    for (size_t i = 1; i < count; i++)
        step = u64_gcd(step, (uint64_t)llabs(readings[i] - readings[0]));
    return (int64_t)step;
}
