/*
 * The wish to stop: set by a signal handler or a budget, looked at between
 * launches.  Nothing is torn down by it; whoever sees it finishes cleanly.
 */
#ifndef SONDE_BASE_STOP_H
#define SONDE_BASE_STOP_H

#include <stdbool.h>

void stop_request(void); /* safe in a signal handler */
bool stop_requested(void);
void stop_reset(void);

/* Seconds on a clock that only goes forward. */
double now_seconds(void);
/* Of processor time that this thread has used: it stands still while others
 * have the processor. */
double worked_seconds(void);

#endif
