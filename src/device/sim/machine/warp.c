/* Where the lanes of a warp go; see warp.h. */
#include "device/sim/machine/warp.h"

void warp_save(const struct machine *m, struct warp *w, uint32_t mask,
               const struct op *op)
{
    EACH_LANE(mask, l)
    w->lane_pc[l] = pc_of(m, op);
}

bool warp_regroup(const struct machine *m, struct warp *w)
{
    uint32_t lowest = UINT32_MAX;
    const uint32_t candidates = w->live & ~w->waiting;
    EACH_LANE(candidates, l)
    if (w->lane_pc[l] < lowest)
        lowest = w->lane_pc[l];
    w->active = 0;
    w->other_pc = UINT32_MAX;
    EACH_LANE(candidates, l)
    {
        if (w->lane_pc[l] == lowest)
            w->active |= 1u << l;
        else if (w->lane_pc[l] < w->other_pc)
            w->other_pc = w->lane_pc[l];
    }
    if (w->active != 0)
        w->op = m->kernel->ops + lowest;
    return w->active != 0;
}

void warp_join(const struct machine *m, struct warp *w, const struct op *op)
{
    if (pc_of(m, op) < w->other_pc)
        return;
    warp_save(m, w, w->active, op);
    warp_regroup(m, w);
}
