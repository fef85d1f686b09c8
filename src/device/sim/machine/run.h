/* The loop over time. */
#ifndef SONDE_DEVICE_SIM_MACHINE_RUN_H
#define SONDE_DEVICE_SIM_MACHINE_RUN_H

#include "device/sim/machine/machine.h"

/* Runs the blocks that are placed, and those that follow, until all ended or
 * m->code says why not. */
void machine_run(struct machine *machine);

#endif
