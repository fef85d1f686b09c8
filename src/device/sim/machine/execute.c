/*
 * What one instruction of one warp does, and when its results are ready; one
 * after the other, until somebody else is earlier.
 */
#include <assert.h>
#include <float.h>
#include <math.h>

#include "base/stop.h"
#include "device/sim/machine/machine.h"
#include "device/sim/machine/scheduler.h"
#include "device/sim/machine/units.h"
#include "device/sim/ptx/convert.h"
#include "device/sim/ptx/opcodes.h"

/* Fetches the line of the warp's next instruction, which could be issued at
 * `next`; returns when it can be. */
static double fetch_line(struct machine *m, struct warp *w, double next)
{
    const uint32_t pc = pc_of(m, w->op);
    const uint64_t address = m->kernel->code_address + (uint64_t)pc * OP_BYTES;
    const uint64_t before = (address & (m->fetch_bytes - 1)) / OP_BYTES;
    w->fetched = (uintptr_t)w->op - before * sizeof *w->op;
    const double cycles = access_fetch(m, w, address);
    if (cycles > 0)
        w->next = next += cycles;
    return next;
}

/* Called with every instruction: most are in the line of the last one. */
static inline double fetch(struct machine *m, struct warp *w, double next)
{
    const bool is_fetched = (uintptr_t)w->op - w->fetched < m->fetch_span;
    return is_fetched ? next : fetch_line(m, w, next);
}

static void branch(const struct machine *m, struct warp *w, const struct op *op,
                   uint32_t taken)
{
    const struct op *const target = m->kernel->ops + op->target;
    if (taken == w->active) {
        warp_go(m, w, target);
    } else if (taken == 0) {
        warp_go(m, w, op + 1);
    } else {
        warp_save(m, w, w->active & ~taken, op + 1);
        warp_save(m, w, taken, target);
        warp_regroup(m, w);
    }
}

/* Nanoseconds at t. */
static uint64_t timer_value(const struct machine *m, double t)
{
    const uint64_t step = m->profile->globaltimer_ns;
    return (uint64_t)(t * 1e6 / m->khz) / step * step;
}

static uint64_t clock_value(const struct machine *m, const struct warp *w,
                            enum ptx_special special, double t)
{
    t += m->intruder.away;
    const uint64_t cycles = (uint64_t)t + w->block->sm->clock_offset;
    switch (special) {
#define CLOCK(id, name, value)                                                 \
    case SPECIAL_##id:                                                         \
        return value;
#include "device/sim/ptx/specials.def"
#undef CLOCK
    default:
        return 0;
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

static void nap(struct machine *m, struct warp *w, const struct op *op,
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

static inline void compute(struct machine *m, struct warp *w,
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
    const uint64_t *const p = lanes_of(m, w, (uint32_t)op->guard);
    uint32_t yes = 0;
    if (w->active == UINT32_MAX) { /* most warps are full */
        for (unsigned l = WARP_LANES; l-- > 0;)
            yes = yes << 1 | (p[l] != 0);
    } else {
        EACH_LANE(w->active, l)
        yes |= (uint32_t)(p[l] != 0) << l;
    }
    return w->active & (op->guard_inverted ? ~yes : yes);
}

static void trap(struct machine *m, struct warp *w, const struct op *op,
                 uint32_t mask, double t)
{
    (void)w, (void)mask, (void)t;
    machine_fault(m, op, "trap");
}

static void nothing(struct machine *m, struct warp *w, const struct op *op,
                    uint32_t mask, double t)
{
    (void)m, (void)w, (void)op, (void)mask, (void)t;
}

/* Who does what an instruction does, but for where the warp goes then. */
static unit_fn *const units[] = {
    [OP_ALU] = NULL, /* compute, without a call: most are */
    [OP_LOAD] = access_load,
    [OP_STORE] = access_store,
    [OP_ATOMIC] = access_atomic,
    [OP_TEXTURE] = access_texture,
    [OP_CLOCK] = read_clock,
    [OP_SHUFFLE] = collective_shuffle,
    [OP_VOTE] = collective_vote,
    [OP_MATCH] = collective_match,
    [OP_REDUX] = collective_redux,
    [OP_ELECT] = collective_elect,
    [OP_BULK_COPY] = bulk_copy,
    [OP_MBARRIER_INIT] = mbarrier_init,
    [OP_MBARRIER_ARRIVE] = mbarrier_arrive,
    [OP_MBARRIER_WAIT] = mbarrier_wait,
    [OP_MATRIX] = matrix_multiply,
    [OP_CALL] = call_function,
    [OP_SLEEP] = nap,
    [OP_TRAP] = trap,
    [OP_NOTHING] = nothing,
};
static_assert(sizeof units / sizeof *units == OP_FIRST_STEERING,
              "a unit for each kind that does not steer");

/* Instructions that decide for themselves where the lanes go. */
static void steer(struct machine *m, struct warp *w, const struct op *op,
                  uint32_t mask, double t)
{
    if (op->kind == OP_BRANCH)
        branch(m, w, op, mask);
    else if (op->kind == OP_EXIT)
        barrier_exit(m, w, op, mask, t);
    else
        barrier_wait(m, w, op, mask, t);
}

/* When the scheduler, which is free at `next`, can issue for the warp again,
 * which can go on then.  The host waits for `next`, so it comes in last. */
static inline double time_after(const struct scheduler *s, struct warp *w,
                                double next)
{
    const double ready = operands_ready(w);
    const double pipe = s->pipe_free[w->op->pipe];
    const double least = ready > pipe ? ready : pipe;
    warp_schedule(w, next, ready);
    return next > least ? next : least;
}

/* Issues the warp's next instruction at time t, and moves the warp on.  Returns
 * when the scheduler can issue for it again. */
static inline double issue(struct machine *m, struct scheduler *s,
                           struct warp *w, double t)
{
    const struct op *const op = w->op;
    if (op->kind == OP_LOAD && m->ported && !port_take(m, w, op, t))
        return scheduler_time(s, w->turn);
    const uint32_t mask =
        op->guard == NO_REGISTER ? w->active : guarded(m, w, op);
    scheduler_take(s, w, op, t);
    double next = t + 1;
    if (op->kind == OP_ALU) {
        if (mask != 0)
            compute(m, w, op, mask, t);
        warp_go(m, w, op + 1);
    } else if (op->kind < OP_FIRST_STEERING) {
        if (mask != 0)
            units[op->kind](m, w, op, mask, t);
        if (w->waits.port != NULL)
            port_leave(m, w, t);
        warp_go(m, w, op + 1);
        next = w->next > next ? w->next : next;
    } else {
        steer(m, w, op, mask, t);
        if (w->active == 0)
            return scheduler_time(s, w->turn);
        next = w->next > next ? w->next : next;
    }
    return time_after(s, w, fetch(m, w, next));
}

/* As issue, of as many links of a chain as can be taken at once; a time before
 * t if there is none. */
static double issue_chain(struct machine *m, struct scheduler *s,
                          struct warp *w, double t)
{
    const struct op *const op = w->op;
    double last = t;
    const size_t links =
        chain_is_alone(m, w, t) ? chain_execute(m, w, &last) : 0;
    if (links == 0)
        return t - 1;
    scheduler_take(s, w, op, last);
    m->issued += links - 1;
    warp_go(m, w, op + links);
    return time_after(s, w, fetch(m, w, last + 1));
}

/* Between two looks at what stops a launch. */
enum { ISSUES_BETWEEN_CHECKS = 1 << 17 };

static void check_stop(struct machine *m)
{
    m->next_check = m->issued + ISSUES_BETWEEN_CHECKS;
    if (m->code != 0)
        return;
    if (stop_requested(m->ticket) || (m->until > 0 && now_seconds() > m->until))
        m->code = error_set(m->err, ERR_INTERRUPTED, "kernel '%s' was stopped",
                            m->kernel->name);
    else if (m->issued > m->issued_most)
        m->code =
            error_set(m->err, ERR_DEADLINE, "kernel '%s' ran longer than %g s",
                      m->kernel->name, m->deadline_s);
    m->changed |= m->code != 0;
}

static inline void count(struct machine *m)
{
    m->issued++;
    if (m->issued >= m->next_check)
        check_stop(m);
}

/* True if the scheduler has that warp alone: nobody need be chosen. */
static inline bool is_alone(const struct scheduler *s, const struct turn *turn)
{
    return s->first == turn && s->last == turn;
}

/* Issues the warp's next instruction, and those that follow until the limit.
 * Returns when it can go on; or, if the machine changed, the last one's time.
 */
static double execute_warp(struct machine *m, struct scheduler *s,
                           struct warp *w, double t, double limit)
{
    do {
        double after = t - 1;
        if (w->op->again > 0 && limit == DBL_MAX)
            after = issue_chain(m, s, w, t);
        if (after < t)
            after = issue(m, s, w, t);
        count(m);
        if (m->changed)
            break;
        t = after;
    } while (t <= limit);
    return t;
}

/* As scheduler_pick, which need not be called for one warp. */
static inline struct turn *next_turn(const struct scheduler *s, double *t)
{
    if (s->first == NULL || s->first != s->last)
        return scheduler_pick(s, t);
    *t = scheduler_time(s, s->first);
    return *t < INFINITY ? s->first : NULL;
}

double execute_until(struct machine *m, struct scheduler *s, double t,
                     double limit)
{
    while (s->picked != NULL && t <= limit) {
        struct turn *const turn = s->picked;
        const bool alone = is_alone(s, turn) && turn->first_ops == 0;
        if (!alone)
            scheduler_requeue(m, s, turn);
        t = execute_warp(m, s, turn->warp, t, alone ? limit : 0);
        if (m->changed)
            break;
        s->picked = next_turn(s, &t);
    }
    return t;
}
