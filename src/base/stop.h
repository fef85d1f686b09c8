/*
 * The wish to stop: set by a signal handler, looked at between launches.
 * Nothing is torn down by it; whoever sees it finishes cleanly.  It is for
 * whoever had taken a ticket by then: what begins later is not stopped by it.
 */
#ifndef SONDE_BASE_STOP_H
#define SONDE_BASE_STOP_H

#include <stdbool.h>

/* One's own, never 0, which stands for whoever cannot be stopped. */
unsigned stop_ticket(void);
/* All that have one now; safe in a signal handler, as is the next. */
void stop_request(void);
void stop_one(unsigned ticket);
bool stop_requested(unsigned ticket);

/* Seconds on a clock that only goes forward. */
double now_seconds(void);

#endif
