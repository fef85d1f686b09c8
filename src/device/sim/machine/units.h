/*
 * The units that execute instructions, by the kinds of ops.  Each does what
 * the lanes in `mask` do at time t; where the warp goes then is execute.c's,
 * but for barriers and exits.
 */
#ifndef SONDE_DEVICE_SIM_MACHINE_UNITS_H
#define SONDE_DEVICE_SIM_MACHINE_UNITS_H

#include "device/sim/machine/warp.h"

typedef void unit_fn(struct machine *m, struct warp *w, const struct op *op,
                     uint32_t mask, double t);

/*
 * Issues instructions of the scheduler's warps, that of s->picked at time t
 * first, until the next one is later than `limit`, the machine changed, or the
 * launch is over.  Returns when the next one can be issued; INFINITY: never.
 */
double execute_until(struct machine *m, struct scheduler *s, double t,
                     double limit);

/* A chain of loads (chain.c): true if the warp and the machine allow to take
 * many at once from t on, where nothing else goes on; takes those from w->op at
 * *t on, and returns how many, *t being when the last one is issued. */
bool chain_is_alone(const struct machine *m, const struct warp *w, double t);
size_t chain_execute(struct machine *m, struct warp *w, double *t);

/* A function (call.c). */
unit_fn call_function;
/* Memory (access.c). */
unit_fn access_load, access_store, access_atomic, access_texture;
/* Cycles for which the warp waits for an instruction at an address. */
double access_fetch(struct machine *m, const struct warp *w, uint64_t address);
/* What an atomic makes of `old`, its operand b and, of cas, c. */
uint64_t atomic_result(const struct op *op, uint64_t old, uint64_t b,
                       uint64_t c);
/* Bulk copies and the barriers that they complete (async.c). */
unit_fn bulk_copy, mbarrier_init, mbarrier_arrive, mbarrier_wait;
/* mma.sync (matrix.c). */
unit_fn matrix_multiply;
/* What lanes do together (collective.c). */
unit_fn collective_shuffle, collective_vote, collective_match, collective_redux,
    collective_elect;
/* Barriers of the block, and the ends of lanes (barrier.c). */
unit_fn barrier_wait, barrier_exit;

#endif
