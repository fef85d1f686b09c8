/* Blocks come to SMs. */
#ifndef SONDE_DEVICE_SIM_MACHINE_BLOCK_H
#define SONDE_DEVICE_SIM_MACHINE_BLOCK_H

#include "device/sim/machine/machine.h"

/* Puts the next block of the launch on an SM at time t. */
void block_start(struct machine *m, struct block *b, struct sm *sm, double t);
/* A place for another block became free at time t. */
void block_follow(struct machine *m, struct block *b, double t);

#endif
