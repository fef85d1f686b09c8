#include "base/stop.h"

#include <signal.h>
#include <time.h>

static volatile sig_atomic_t requested;

void stop_request(void)
{
    requested = 1;
}

bool stop_requested(void)
{
    return requested != 0;
}

void stop_reset(void)
{
    requested = 0;
}

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double now_seconds(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double worked_seconds(void)
{
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}
