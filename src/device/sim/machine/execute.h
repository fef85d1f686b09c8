/* One instruction of one warp. */
#ifndef SONDE_DEVICE_SIM_MACHINE_EXECUTE_H
#define SONDE_DEVICE_SIM_MACHINE_EXECUTE_H

#include "device/sim/machine/machine.h"

/* Issues w->op at time t, and moves the warp on. */
void warp_issue(struct machine *m, struct warp *w, double t);

#endif
