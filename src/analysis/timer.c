#include "analysis/timer.h"

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

int64_t timer_step(const int64_t *readings, size_t count)
{
    int64_t step = 0;
    for (size_t i = 1; i < count; i++)
        step = common_divisor(step, readings[i] - readings[0]);
    return step < 0 ? -step : step;
}
