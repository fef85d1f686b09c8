/*
 * What one instruction of one warp does, and when its results are ready.
 */
#include <math.h>
#include <string.h>

#include "device/sim/machine/execute.h"
#include "device/sim/ptx/convert.h"
#include "device/sim/ptx/opcodes.h"

/* ---- where lanes go ---- */

/* Fetches the line of the warp's next instruction.  A line that is in the
 * nearest cache was fetched ahead and costs nothing; any other stops the warp
 * for as much longer as it takes to come. */
static void fetch_line(struct machine *m, struct warp *w)
{
    const uint32_t pc = pc_of(m, w->op);
    const uint64_t address = m->kernel->code_address + (uint64_t)pc * OP_BYTES;
    const uint64_t before = (address & (m->fetch_bytes - 1)) / OP_BYTES;
    w->fetched = (uintptr_t)w->op - before * sizeof *w->op;
    const double cycles = paths_fetch(m->paths, accessor_of(w), address);
    const double hit = m->profile->paths[PATH_INSTRUCTION].latency[0].cycles[0];
    if (cycles > hit)
        w->next += noise_add(&m->noise, cycles - hit);
}

/* Called with every instruction: most are in the line of the last one. */
static inline void fetch(struct machine *m, struct warp *w)
{
    if ((uintptr_t)w->op - w->fetched >= m->fetch_span)
        fetch_line(m, w);
}

void warp_schedule(struct warp *w)
{
    const struct op *const op = w->op;
    double at = w->next;
    for (unsigned i = 0; i < op->waits; i++) {
        const double ready = w->ready[op->wait[i]];
        at = ready > at ? ready : at;
    }
    w->turn->at = at;
    w->turn->pipe = op->pipe;
}

static void save_pc(const struct machine *m, struct warp *w, uint32_t mask,
                    const struct op *op)
{
    EACH_LANE(mask, l)
    w->lane_pc[l] = pc_of(m, op);
}

/* Makes those lanes active that are furthest behind; lane_pc must be true for
 * all lanes.  False if all wait. */
static bool regroup(const struct machine *m, struct warp *w)
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

/* The active lanes go to `op`; others that are there join, and those that are
 * behind go first. */
static inline void go_to(const struct machine *m, struct warp *w,
                         const struct op *op)
{
    w->op = op;
    if (pc_of(m, op) < w->other_pc)
        return;
    save_pc(m, w, w->active, op);
    regroup(m, w);
}

static void branch(const struct machine *m, struct warp *w, const struct op *op,
                   uint32_t taken)
{
    const struct op *const target = m->kernel->ops + op->target;
    if (taken == w->active) {
        go_to(m, w, target);
    } else if (taken == 0) {
        go_to(m, w, op + 1);
    } else {
        save_pc(m, w, w->active & ~taken, op + 1);
        save_pc(m, w, taken, target);
        regroup(m, w);
    }
}

static void leave(struct machine *m, struct warp *w, const struct op *op,
                  uint32_t mask, double t)
{
    w->live &= ~mask;
    save_pc(m, w, w->active & ~mask, op + 1);
    if (w->live == 0)
        machine_warp_ended(m, w, t + 1);
    else if (!regroup(m, w))
        machine_barrier(m, w, t);
}

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

static void wait_at_barrier(struct machine *m, struct warp *w,
                            const struct op *op, uint32_t mask, double t)
{
    const unsigned id = (unsigned)op->offset;
    if (mask == 0) {
        go_to(m, w, op + 1);
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
    save_pc(m, w, w->active, op + 1);
    if (!regroup(m, w))
        machine_barrier(m, w, t);
}

void warp_wake(struct machine *m, struct warp *w, const struct barrier *fallen,
               double t)
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
    regroup(m, w);
    warp_schedule(w);
}

/* ---- what concerns the whole warp ---- */

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

static void shuffle(struct machine *m, struct warp *w, const struct op *op,
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

static void vote(struct machine *m, struct warp *w, const struct op *op,
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
static void match(struct machine *m, struct warp *w, const struct op *op,
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

static void redux(struct machine *m, struct warp *w, const struct op *op,
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
static void elect(struct machine *m, struct warp *w, const struct op *op,
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

static uint64_t clock_value(const struct machine *m, const struct warp *w,
                            enum ptx_special special, double t)
{
    const uint64_t cycles = (uint64_t)t + w->block->sm->clock_offset;
    const uint64_t step = m->profile->globaltimer_ns;
    const uint64_t ns = (uint64_t)(t * 1e6 / m->khz) / step * step;
    switch (special) {
    case SPECIAL_CLOCK:
        return (uint32_t)cycles;
    case SPECIAL_CLOCK_HI:
        return cycles >> 32;
    case SPECIAL_CLOCK64:
        return cycles;
    case SPECIAL_GLOBALTIMER_LO:
        return (uint32_t)ns;
    case SPECIAL_GLOBALTIMER_HI:
        return ns >> 32;
    default:
        return ns;
    }
}

/* The read holds the warp for as long as two reads in a row lie apart. */
static void read_clock(struct machine *m, struct warp *w, const struct op *op,
                       uint32_t mask, double t)
{
    const uint64_t value = clock_value(m, w, op->sub, t);
    EACH_LANE(mask, l)
    lanes_of(m, w, op->dst[0])[l] = value;
    w->next = t + fmax(1, op->latency);
    set_ready(w, op->dst[0], mask, w->next);
}

static void nap(const struct machine *m, struct warp *w, const struct op *op,
                uint32_t mask, double t)
{
    uint64_t ns = 0;
    EACH_LANE(mask, l)
    {
        const uint64_t want = lanes_of(m, w, op->src[0])[l];
        ns = want > ns ? want : ns;
    }
    w->next = t + 1 + (double)ns * m->khz * 1e-6;
}

/* Of an integer, that its magnitude has one bit; of a float, that its mantissa
 * has none. */
static bool is_power_of_two(enum ptx_type type, uint64_t bits)
{
    const struct ptx_type_info *const info = &ptx_types[type];
    const unsigned above = 64 - 8 * info->bytes;
    switch (type) {
    case TYPE_F32:
        return isnormal(bits_to_float(bits)) && (bits & 0x7fffff) == 0;
    case TYPE_F64:
        return isnormal(bits_to_double(bits)) && bits << 12 == 0;
    default:
        bits <<= above;
        if (info->class == 's' && (int64_t)bits < 0)
            bits = 0 - bits;
        return bits != 0 && (bits & (bits - 1)) == 0;
    }
}

/* All lanes take the way of the hardest. */
static double compute_cycles(const struct machine *m, const struct warp *w,
                             const struct op *op, uint32_t mask)
{
    const uint64_t *const divisor = lanes_of(m, w, op->src[1]);
    EACH_LANE(mask, l)
    if (!is_power_of_two(op->type, divisor[l]))
        return op->latency;
    return op->easy_latency;
}

static void compute(const struct machine *m, struct warp *w,
                    const struct op *op, uint32_t mask, double t)
{
    /* Before the result may replace the divisor. */
    const double when =
        t + (op->varies ? compute_cycles(m, w, op, mask) : op->latency);
    op->alu(op, w->regs, m->shift, mask);
    set_ready(w, op->dst[0], mask, when);
    if (op->dst[1] != REG_SINK)
        for (int i = 1; i < OP_DESTINATIONS; i++)
            set_ready(w, op->dst[i], mask, when);
}

/* The active lanes whose guard lets them. */
static uint32_t guarded(const struct machine *m, const struct warp *w,
                        const struct op *op)
{
    if (op->guard == NO_REGISTER)
        return w->active;
    const uint64_t *const p = lanes_of(m, w, (uint32_t)op->guard);
    uint32_t mask = 0;
    EACH_LANE(w->active, l)
    mask |= (uint32_t)((p[l] != 0) != op->guard_inverted) << l;
    return mask;
}

/* What the instruction does, but for where the warp goes then. */
static inline void act(struct machine *m, struct warp *w, const struct op *op,
                       uint32_t mask, double t)
{
    switch ((enum op_kind)op->kind) {
    case OP_ALU:
        compute(m, w, op, mask, t);
        break;
    case OP_LOAD:
        access_load(m, w, op, mask, t);
        break;
    case OP_STORE:
        access_store(m, w, op, mask, t);
        break;
    case OP_ATOMIC:
        access_atomic(m, w, op, mask, t);
        break;
    case OP_TEXTURE:
        access_texture(m, w, op, mask, t);
        break;
    case OP_CLOCK:
        read_clock(m, w, op, mask, t);
        break;
    case OP_SHUFFLE:
        shuffle(m, w, op, mask, t);
        break;
    case OP_VOTE:
        vote(m, w, op, mask, t);
        break;
    case OP_MATCH:
        match(m, w, op, mask, t);
        break;
    case OP_REDUX:
        redux(m, w, op, mask, t);
        break;
    case OP_ELECT:
        elect(m, w, op, mask, t);
        break;
    case OP_BULK_COPY:
        bulk_copy(m, w, op, mask, t);
        break;
    case OP_MBARRIER_INIT:
        mbarrier_init(m, w, op, mask, t);
        break;
    case OP_MBARRIER_ARRIVE:
        mbarrier_arrive(m, w, op, mask, t);
        break;
    case OP_MBARRIER_WAIT:
        mbarrier_wait(m, w, op, mask, t);
        break;
    case OP_MATRIX:
        matrix_multiply(m, w, op, mask, t);
        break;
    case OP_SLEEP:
        nap(m, w, op, mask, t);
        break;
    case OP_TRAP:
        machine_fault(m, op, "trap");
        break;
    default:
        break;
    }
}

/* Instructions that decide for themselves where the lanes go. */
static void steer(struct machine *m, struct warp *w, const struct op *op,
                  uint32_t mask, double t)
{
    if (op->kind == OP_BRANCH)
        branch(m, w, op, mask);
    else if (op->kind == OP_EXIT)
        leave(m, w, op, mask, t);
    else
        wait_at_barrier(m, w, op, mask, t);
}

void warp_issue(struct machine *m, struct warp *w, double t)
{
    const struct op *const op = w->op;
    if (m->ported && op->kind == OP_LOAD && !port_take(m, w, op, t))
        return;
    const uint32_t mask = guarded(m, w, op);
    struct scheduler *const s = w->scheduler;
    s->free = t + 1;
    s->pipe_free[op->pipe] = t + op->issue;
    w->next = t + 1;
    if (op->kind >= OP_FIRST_STEERING) {
        steer(m, w, op, mask, t);
        if (w->active == 0)
            return;
    } else {
        if (mask != 0)
            act(m, w, op, mask, t);
        if (w->waits.port != NULL)
            port_leave(m, w, t);
        go_to(m, w, op + 1);
    }
    if (m->fetch_span != 0)
        fetch(m, w);
    warp_schedule(w);
}
