/* The steps in which a timer counts, from its readings. */
#ifndef SONDE_ANALYSIS_TIMER_H
#define SONDE_ANALYSIS_TIMER_H

#include <stddef.h>
#include <stdint.h>

/* What all readings lie apart by multiples of: their greatest common divisor,
 * since durations alone may be few and all the same; 0: it stood still. */
int64_t timer_step(const int64_t *readings, size_t count);

#endif
