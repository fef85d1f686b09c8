/* What the lanes of a warp do together: shfl, vote, match, redux, elect. */
#include <string.h>

#include "device/sim/machine/units.h"
#include "device/sim/ptx/opcodes.h"

/* The lane that `lane` reads from; false if it is out of its segment. */
static bool shuffle_source(enum ptx_shuffle how, int lane, uint64_t b,
                           uint64_t c, int *from)
{
    const int by = (int)(b & 31), clamp = (int)(c & 31);
    const int segment = (int)(c >> 8 & 31);
    const int last = (lane & segment) | (clamp & ~segment);
    *from = lane;
    switch (how) {
    case SHUFFLE_UP:
        *from = lane - by;
        return *from >= last;
    case SHUFFLE_DOWN:
        *from = lane + by;
        break;
    case SHUFFLE_BFLY:
        *from = lane ^ by;
        break;
    case SHUFFLE_IDX:
        *from = (lane & segment) | (by & ~segment);
        break;
    }
    return *from <= last;
}

void collective_shuffle(struct machine *m, struct warp *w, const struct op *op,
                        uint32_t mask, double t)
{
    uint64_t a[WARP_LANES] = {0};
    memcpy(a, lanes_of(m, w, op->src[0]), sizeof *a << m->shift);
    const uint64_t *const b = lanes_of(m, w, op->src[1]);
    const uint64_t *const c = lanes_of(m, w, op->src[2]);
    uint64_t *const d = lanes_of(m, w, op->dst[0]);
    uint64_t *const valid = lanes_of(m, w, op->dst[1]);
    EACH_LANE(mask, l)
    {
        int from;
        const bool inside = shuffle_source(op->sub, (int)l, b[l], c[l], &from);
        const uint64_t value = a[inside ? (unsigned)from : l];
        d[l] = value;
        valid[l] = inside;
    }
    set_ready(w, op->dst[0], mask, t + op->latency);
    set_ready(w, op->dst[1], mask, t + op->latency);
}

static uint64_t vote_result(enum ptx_vote how, uint32_t yes, uint32_t mask)
{
    switch (how) {
    case VOTE_ALL:
        return yes == mask;
    case VOTE_ANY:
        return yes != 0;
    case VOTE_UNI:
        return yes == mask || yes == 0;
    case VOTE_BALLOT:
        return yes;
    case VOTE_ACTIVE:
        break;
    }
    return mask;
}

void collective_vote(struct machine *m, struct warp *w, const struct op *op,
                     uint32_t mask, double t)
{
    uint32_t yes = 0;
    const uint64_t *const a = lanes_of(m, w, op->src[0]);
    EACH_LANE(mask, l)
    if ((a[l] != 0) != op->third_inverted)
        yes |= 1u << l;
    const uint64_t result = vote_result(op->sub, yes, mask);
    EACH_LANE(mask, l)
    lanes_of(m, w, op->dst[0])[l] = result;
    set_ready(w, op->dst[0], mask, t + op->latency);
}

/* d: the lanes whose value is that of the lane (.any), or all of them if all
 * have the same, and whether they have (.all). */
void collective_match(struct machine *m, struct warp *w, const struct op *op,
                      uint32_t mask, double t)
{
    uint64_t a[WARP_LANES] = {0};
    memcpy(a, lanes_of(m, w, op->src[0]), sizeof *a << m->shift);
    EACH_LANE(mask, l)
    {
        uint32_t equal = 0;
        for (unsigned k = 0; k < WARP_LANES; k++)
            equal |= (uint32_t)((mask >> k & 1) != 0 && a[k] == a[l]) << k;
        const bool all = equal == mask;
        lanes_of(m, w, op->dst[0])[l] = op->sub == VOTE_ANY || all ? equal : 0;
        lanes_of(m, w, op->dst[1])[l] = all;
    }
    set_ready(w, op->dst[0], mask, t + op->latency);
    set_ready(w, op->dst[1], mask, t + op->latency);
}

void collective_redux(struct machine *m, struct warp *w, const struct op *op,
                      uint32_t mask, double t)
{
    const uint64_t *const a = lanes_of(m, w, op->src[0]);
    const unsigned first = first_lane(mask);
    uint64_t result = a[first];
    EACH_LANE(mask & ~(1u << first), l)
    result = (uint32_t)atomic_result(op, result, a[l], 0);
    EACH_LANE(mask, l)
    lanes_of(m, w, op->dst[0])[l] = result;
    set_ready(w, op->dst[0], mask, t + op->latency);
}

/* The lowest lane leads. */
void collective_elect(struct machine *m, struct warp *w, const struct op *op,
                      uint32_t mask, double t)
{
    const unsigned leader = first_lane(mask);
    EACH_LANE(mask, l)
    {
        lanes_of(m, w, op->dst[0])[l] = leader;
        lanes_of(m, w, op->dst[1])[l] = l == leader;
    }
    set_ready(w, op->dst[0], mask, t + op->latency);
    set_ready(w, op->dst[1], mask, t + op->latency);
}
