/*
 * What the probes `state` and `reference` have in common.
 */
#ifndef SONDE_PROBE_CHIP_STATE_H
#define SONDE_PROBE_CHIP_STATE_H

#include "probe/run.h"
#include "ptx/kernel.h"

/* Reads the SM's clock for %spin cycles and writes so many words to %out:
 * cycles, nanoseconds, the longest from one read to the next. */
enum { STATE_WORDS = 3 };
void state_spin(struct kernel_text *k);

/* What the management library tells, in four columns: MHz of the SMs, throttle
 * reasons, other processes; negative where it does not; and the repetitions
 * that were thrown away so far because the GPU was throttled. */
void state_sense(struct prober *prober, int64_t *columns);

#endif
