#include "base/stop.h"

#include <stdatomic.h>
#include <time.h>

/* Both are lock-free, so a signal handler may use them.  (C11, 7.14.1.1) */
static atomic_uint last_ticket, last_stopped;

/* Tickets that were stopped alone, each in the slot of its number: two of one
 * slot are so far apart that the first has ended long since. */
enum { SLOTS = 4096 };
static atomic_uint stopped[SLOTS];

unsigned stop_ticket(void)
{
    return atomic_fetch_add(&last_ticket, 1) + 1;
}

void stop_request(void)
{
    atomic_store(&last_stopped, atomic_load(&last_ticket));
}

void stop_one(unsigned ticket)
{
    atomic_store(&stopped[ticket % SLOTS], ticket);
}

bool stop_requested(unsigned ticket)
{
    return ticket != 0 && (ticket <= atomic_load(&last_stopped) ||
                           atomic_load(&stopped[ticket % SLOTS]) == ticket);
}

double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
