/* Ports of caches: warps take turns at them. */
#ifndef SONDE_DEVICE_SIM_MACHINE_PORT_H
#define SONDE_DEVICE_SIM_MACHINE_PORT_H

#include "device/sim/machine/machine.h"

/* For all caches of the profile; freed with the machine. */
void ports_init(struct machine *m);
void ports_free(struct machine *m);
/* A launch begins. */
void ports_begin(struct machine *m);
/* True if the load may be issued now; else the warp waits for its turn. */
bool port_take(struct machine *m, struct warp *w, const struct op *op,
               double t);
/* The load was issued, of m->lines lines. */
void port_leave(struct machine *m, struct warp *w, double t);

#endif
