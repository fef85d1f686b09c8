/* What execute.c and access.c share: lanes, registers, when they are ready. */
#ifndef SONDE_DEVICE_SIM_MACHINE_EXECUTE_H
#define SONDE_DEVICE_SIM_MACHINE_EXECUTE_H

#include "device/sim/machine/machine.h"

static inline uint32_t pc_of(const struct machine *m, const struct op *op)
{
    return (uint32_t)(op - m->kernel->ops);
}

static inline uint64_t *lanes_of(const struct machine *m, const struct warp *w,
                                 uint32_t reg)
{
    return w->regs + ((size_t)reg << m->shift);
}

static inline unsigned first_lane(uint32_t mask)
{
    return (unsigned)__builtin_ctz(mask);
}

/* For each lane `l` of the mask, lowest first. */
#define EACH_LANE(mask, l)                                                     \
    for (uint32_t left_ = (mask), l = 0;                                       \
         left_ != 0 && (l = first_lane(left_), true); left_ &= left_ - 1)

static inline void set_ready(struct warp *w, uint32_t reg, uint32_t mask,
                             double when)
{
    /* Lanes that are not written may still wait for an older value. */
    if (mask != w->live && w->ready[reg] > when)
        return;
    w->ready[reg] = when;
}

static inline struct accessor accessor_of(const struct warp *w)
{
    return (struct accessor){.sm = w->block->sm->number, .warp = w->number};
}

/* Memory instructions of the lanes in `mask` at time t (access.c). */
typedef void access_fn(struct machine *m, struct warp *w, const struct op *op,
                       uint32_t mask, double t);
/* mma.sync (matrix.c). */
access_fn matrix_multiply;
/* Bulk copies and the barriers that they complete (async.c). */
access_fn bulk_copy, mbarrier_init, mbarrier_arrive, mbarrier_wait;
access_fn access_load, access_store, access_atomic, access_texture;
/* What an atomic makes of `old`, its operand b and, of cas, c. */
uint64_t atomic_result(const struct op *op, uint64_t old, uint64_t b,
                       uint64_t c);

#endif
