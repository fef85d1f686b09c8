/*
 * Barriers of a block (bar, and bar.red with what its lanes bring), and the
 * ends of warps, which others may have waited for.
 */
#include <math.h>
#include <string.h>

#include "device/sim/machine/scheduler.h"
#include "device/sim/machine/units.h"
#include "device/sim/ptx/opcodes.h"

/* ---- barriers that fall ---- */

static uint64_t reduction(enum ptx_reduction how, const struct barrier *b)
{
    switch (how) {
    case REDUCTION_AND:
        return b->yes == b->threads;
    case REDUCTION_OR:
        return b->yes != 0;
    case REDUCTION_POPC:
        break;
    }
    return b->yes;
}

/* `fallen`, at which all of the warp's lanes wait, fell at time t. */
static void wake(struct machine *m, struct warp *w,
                 const struct barrier *fallen, double t)
{
    w->next = t + w->resume;
    if (w->reduces != NULL) {
        const struct op *const op = w->reduces;
        EACH_LANE(w->waiting, l)
        lanes_of(m, w, op->dst[0])[l] = reduction(op->sub, fallen);
        set_ready(w, op->dst[0], w->waiting, w->next);
    }
    w->waiting = 0;
    w->reduces = NULL;
    warp_regroup(m, w);
    warp_schedule(w, w->next, operands_ready(w));
}

static void release(struct machine *m, struct block *b, unsigned id)
{
    const struct barrier fallen = b->barriers[id];
    memset(&b->barriers[id], 0, sizeof b->barriers[id]);
    for (unsigned i = 0; i < m->warps_per_block; i++) {
        struct warp *const w = &b->warps[i];
        if (w->live != 0 && w->active == 0 && w->barrier == id)
            wake(m, w, &fallen, fallen.latest);
    }
    m->changed = true;
}

/* All lanes of a warp have come to w->barrier. */
static void arrive(struct machine *m, struct warp *w, double t)
{
    struct barrier *const barrier = &w->block->barriers[w->barrier];
    const unsigned wanted = w->barrier_warps;
    w->turn->at = INFINITY;
    barrier->arrived++;
    barrier->latest = fmax(barrier->latest, t);
    if (barrier->arrived >= (wanted != 0 ? wanted : w->block->live_warps))
        release(m, w->block, w->barrier);
}

/* ---- ends ---- */

static void block_end(struct machine *m, struct block *b, double t)
{
    m->live_blocks--;
    m->changed = true;
    block_follow(m, b, t);
}

static void warp_end(struct machine *m, struct warp *w, double t)
{
    struct block *const b = w->block;
    w->active = 0;
    b->sm->warp_taken[w->number] = false;
    w->turn->at = INFINITY;
    scheduler_remove(w->scheduler, w->turn);
    m->end = fmax(m->end, t);
    if (--b->live_warps == 0) {
        block_end(m, b, t);
        return;
    }
    /* Who is left may have waited for this one alone. */
    for (unsigned id = 0; id < BARRIERS; id++)
        if (b->barriers[id].arrived != 0 &&
            b->barriers[id].arrived >= b->live_warps) {
            b->barriers[id].latest = fmax(b->barriers[id].latest, t);
            release(m, b, id);
        }
}

void barrier_exit(struct machine *m, struct warp *w, const struct op *op,
                  uint32_t mask, double t)
{
    w->live &= ~mask;
    warp_save(m, w, w->active & ~mask, op + 1);
    if (w->live == 0)
        warp_end(m, w, t + 1);
    else if (!warp_regroup(m, w))
        arrive(m, w, t);
}

/* ---- coming to a barrier ---- */

/* Warps that a barrier waits for, 0 for all; false after a fault. */
static bool barrier_width(struct machine *m, const struct warp *w,
                          const struct op *op, uint32_t mask, unsigned *warps)
{
    *warps = 0;
    if (!op->combine)
        return true;
    const uint64_t threads = lanes_of(m, w, op->src[0])[first_lane(mask)];
    *warps = (unsigned)(threads / WARP_LANES);
    if (threads % WARP_LANES == 0 && *warps != 0)
        return true;
    machine_fault(m, op, "a barrier of %llu threads, which are no warps",
                  (unsigned long long)threads);
    return false;
}

static bool reduces(const struct op *op)
{
    return op->dst[0] != REG_SINK;
}

/* What the lanes bring to a bar.red; false after a fault. */
static bool add_predicates(struct machine *m, struct warp *w,
                           const struct op *op, uint32_t mask)
{
    const struct op *const with = reduces(op) ? op : NULL;
    struct barrier *const b = &w->block->barriers[op->offset];
    if (w->waiting != 0 && w->reduces != with) {
        machine_fault(m, op,
                      "lanes of one warp wait in a bar.red and elsewhere");
        return false;
    }
    w->reduces = with;
    if (with == NULL)
        return true;
    const uint64_t *const predicate = lanes_of(m, w, op->src[1]);
    EACH_LANE(mask, l)
    {
        b->threads++;
        b->yes += (predicate[l] != 0) != op->third_inverted;
    }
    return true;
}

void barrier_wait(struct machine *m, struct warp *w, const struct op *op,
                  uint32_t mask, double t)
{
    const unsigned id = (unsigned)op->offset;
    if (mask == 0) {
        warp_go(m, w, op + 1);
        return;
    }
    if (w->waiting != 0 && w->barrier != id) {
        machine_fault(m, op, "lanes of one warp wait at barriers %u and %u",
                      w->barrier, id);
        return;
    }
    if (!barrier_width(m, w, op, mask, &w->barrier_warps) ||
        !add_predicates(m, w, op, mask))
        return;
    w->barrier = id;
    w->waiting |= mask;
    w->resume = fmax(1, op->latency);
    warp_save(m, w, w->active, op + 1);
    if (!warp_regroup(m, w))
        arrive(m, w, t);
}
