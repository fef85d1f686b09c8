/*
 * The warps of a scheduler, those that waited longest first, and which of them
 * goes next.
 */
#ifndef SONDE_DEVICE_SIM_MACHINE_SCHEDULER_H
#define SONDE_DEVICE_SIM_MACHINE_SCHEDULER_H

#include "device/sim/machine/machine.h"

/* A warp comes to its scheduler, and leaves it. */
void scheduler_start(const struct machine *m, struct scheduler *s,
                     struct turn *turn);
void scheduler_remove(struct scheduler *s, struct turn *turn);
/* The turn that just went comes again after all that are as old: last, or,
 * where older blocks go first, before those of younger ones.  There a warp that
 * starts is ahead of all until it runs: blocks start when they come, however
 * long they wait then. */
void scheduler_requeue(const struct machine *m, struct scheduler *s,
                       struct turn *turn);
/* The warp that goes next: the earliest, of those the longest waiting; NULL if
 * there is none. */
struct turn *scheduler_pick(const struct scheduler *s, double *t);

/* The op is issued at time t. */
static inline void scheduler_take(struct scheduler *s, struct warp *w,
                                  const struct op *op, double t)
{
    s->free = t + 1;
    s->pipe_free[op->pipe] = t + op->issue;
    w->next = t + 1;
}

/* When the scheduler can issue for the warp. */
static inline double scheduler_time(const struct scheduler *s,
                                    const struct turn *turn)
{
    const double pipe = s->pipe_free[turn->pipe];
    const double free = s->free > pipe ? s->free : pipe;
    return turn->at > free ? turn->at : free;
}

#endif
