/*
 * A warp, as all see it that work on one: its lanes and registers, when they
 * are ready, and where its lanes go.
 */
#ifndef SONDE_DEVICE_SIM_MACHINE_WARP_H
#define SONDE_DEVICE_SIM_MACHINE_WARP_H

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

/* When all is there that the warp's next instruction reads. */
static inline double operands_ready(const struct warp *w)
{
    const struct op *const op = w->op;
    double at = 0;
    for (unsigned i = 0; i < op->waits; i++) {
        const double ready = w->ready[op->wait[i]];
        at = ready > at ? ready : at;
    }
    return at;
}

/* Sets the warp's turn: it can go on at `next`. */
static inline void warp_schedule(struct warp *w, double next, double ready)
{
    w->turn->at = ready > next ? ready : next;
    w->turn->pipe = w->op->pipe;
}

/* Keeps for the lanes in `mask` that they are at `op`. */
void warp_save(const struct machine *m, struct warp *w, uint32_t mask,
               const struct op *op);
/* Makes those lanes active that are furthest behind; lane_pc must be true for
 * all lanes.  False if all wait. */
bool warp_regroup(const struct machine *m, struct warp *w);
/* The slow way of warp_go: some lanes are elsewhere. */
void warp_join(const struct machine *m, struct warp *w, const struct op *op);

/* The active lanes go to `op`; others that are there join, and those that are
 * behind go first. */
static inline void warp_go(const struct machine *m, struct warp *w,
                           const struct op *op)
{
    w->op = op;
    if (w->other_pc != UINT32_MAX)
        warp_join(m, w, op);
}

#endif
