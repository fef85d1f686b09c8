/* The steps in which a timer counts, from its readings. */
#ifndef SONDE_ANALYSIS_TIMER_H
#define SONDE_ANALYSIS_TIMER_H

#include <stddef.h>
#include <stdint.h>

/* What all readings lie apart by multiples of: their greatest common divisor,
 * since durations alone may be few and all the same; 0: it stood still. */
int64_t timer_step(const int64_t *readings, size_t count);

/*
 * Rates of a spin, cycles over nanoseconds, from the least to the most that it
 * may have been: the timer's steps are as long as told, and it is read before
 * the clock begins and after it ended, with code in between that may come from
 * memory (534 cycles of a random GPU, 35 of an H200, 2026-11).  A step is
 * shorter than the spin.
 */
void timer_widen(double rate[2], double step_ns, double spin_ns,
                 double spin_cycles);

#endif
