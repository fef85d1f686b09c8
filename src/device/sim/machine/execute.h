/* Instructions, one after the other. */
#ifndef SONDE_DEVICE_SIM_MACHINE_EXECUTE_H
#define SONDE_DEVICE_SIM_MACHINE_EXECUTE_H

#include "device/sim/machine/machine.h"

/*
 * Issues instructions of the scheduler's warps, that of s->picked at time t
 * first, until the next one is later than `limit`, the machine changed, or the
 * launch is over.  Returns when the next one can be issued; INFINITY: never.
 */
double execute_until(struct machine *m, struct scheduler *s, double t,
                     double limit);

#endif
