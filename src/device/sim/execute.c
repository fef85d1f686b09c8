/*
 * What one instruction of one warp does, and when its results are ready.
 */
#include <math.h>
#include <string.h>

#include "device/sim/convert.h"
#include "device/sim/machine.h"
#include "device/sim/opcodes.h"

/* Local memory's addresses as the caches see them, below all allocations. */
#define LOCAL_ADDRESSES ((uint64_t)1 << 36)

static uint32_t pc_of(const struct machine *m, const struct op *op)
{
    return (uint32_t)(op - m->kernel->ops);
}

static uint64_t *lanes_of(const struct machine *m, const struct warp *w,
                          uint32_t reg)
{
    return w->regs + ((size_t)reg << m->shift);
}

static unsigned first_lane(uint32_t mask)
{
    return (unsigned)__builtin_ctz(mask);
}

#define EACH_LANE(mask, l)                                                     \
    for (uint32_t left_ = (mask), l = 0;                                       \
         left_ != 0 && (l = first_lane(left_), true); left_ &= left_ - 1)

static void set_ready(struct warp *w, uint32_t reg, uint32_t mask, double when)
{
    /* Lanes that are not written may still wait for an older value. */
    if (mask != w->live && w->ready[reg] > when)
        return;
    w->ready[reg] = when;
}

static struct accessor accessor_of(const struct warp *w)
{
    return (struct accessor){w->block->sm->number, w->number};
}

/* ---- where lanes go ---- */

/* Time that the instruction cache adds when execution enters another line;
 * lines of the nearest cache that are there are fetched ahead. */
static void fetch(struct machine *m, struct warp *w)
{
    const uint64_t address =
        m->kernel->code_address + (uint64_t)pc_of(m, w->op) * OP_BYTES;
    const uint64_t line = address >> m->fetch_shift;
    if (line == w->fetched)
        return;
    w->fetched = line;
    const struct profile_path *const path =
        &m->profile->paths[PATH_INSTRUCTION];
    const double cycles = paths_fetch(m->paths, accessor_of(w), address);
    w->next += fmax(0, cycles - path->latency[0].cycles[0]);
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
    if (!barrier_width(m, w, op, mask, &w->barrier_warps))
        return;
    w->barrier = id;
    w->waiting |= mask;
    w->resume = fmax(1, op->latency);
    save_pc(m, w, w->active, op + 1);
    if (!regroup(m, w))
        machine_barrier(m, w, t);
}

void warp_wake(struct machine *m, struct warp *w, double t)
{
    w->waiting = 0;
    w->next = t + w->resume;
    regroup(m, w);
    warp_schedule(w);
}

/* ---- memory ---- */

static void bad_access(struct machine *m, const struct op *op, const char *what,
                       unsigned space, uint64_t address)
{
    machine_fault(m, op, "%u bytes at .%s address 0x%llx are %s", op->bytes,
                  ptx_spaces[space], (unsigned long long)address, what);
}

/* The space of a generic address, which is cut down to that space's own. */
static unsigned generic_space(uint64_t *address)
{
    const uint64_t window = *address >> 56;
    if (window == SHARED_WINDOW >> 56) {
        *address -= SHARED_WINDOW;
        return SPACE_SHARED;
    }
    if (window == LOCAL_WINDOW >> 56) {
        *address -= LOCAL_WINDOW;
        return SPACE_LOCAL;
    }
    return SPACE_GLOBAL;
}

static unsigned char *within(unsigned char *host, uint64_t size,
                             uint64_t address, uint64_t bytes)
{
    if (address >= size || bytes > size - address)
        return NULL;
    return host + address;
}

/* Host bytes behind a lane's address; NULL after a fault. */
static inline unsigned char *resolve(struct machine *m, const struct warp *w,
                                     const struct op *op, unsigned space,
                                     unsigned lane, uint64_t address)
{
    const struct kernel *const k = m->kernel;
    unsigned char *host = NULL;
    switch (space) {
    case SPACE_SHARED:
        host = within(w->block->shared, m->shared_bytes, address, op->bytes);
        break;
    case SPACE_LOCAL:
        host = within(w->local + lane * k->local_bytes, k->local_bytes, address,
                      op->bytes);
        break;
    case SPACE_PARAM:
        host = within(m->params, k->param_bytes, address, op->bytes);
        break;
    default:
        host = memory_at(&m->memory, address, op->bytes);
    }
    if (host == NULL)
        bad_access(m, op, "outside of what is allocated", space, address);
    else if ((address & (op->bytes - 1u)) != 0)
        bad_access(m, op, "misaligned", space, address);
    else
        return host;
    return NULL;
}

/* Where the caches see a lane's local memory: words of the lanes of a warp
 * lie side by side. */
static uint64_t local_address(const struct machine *m, const struct warp *w,
                              unsigned lane, uint64_t offset)
{
    const uint64_t warp =
        w->block->sm->number * m->profile->max_warps_per_sm + w->number;
    const uint64_t words = (m->kernel->local_bytes + 3) / 4;
    return LOCAL_ADDRESSES +
           ((warp * words + offset / 4) * WARP_LANES + lane) * 4 + offset % 4;
}

/* The addresses of one warp's access. */
struct access {
    unsigned space, count;
    uint64_t address[WARP_LANES];
    unsigned char *host[WARP_LANES]; /* by lane */
};

/* False after a fault. */
static bool gather(struct machine *m, const struct warp *w, const struct op *op,
                   uint32_t mask, struct access *a)
{
    const uint64_t *const base = lanes_of(m, w, op->src[0]);
    a->count = 0;
    EACH_LANE(mask, l)
    {
        uint64_t address = base[l] + (uint64_t)op->offset;
        const unsigned space =
            op->space == SPACE_GENERIC ? generic_space(&address) : op->space;
        if (a->count != 0 && space != a->space) {
            machine_fault(m, op, "lanes of one warp access .%s and .%s",
                          ptx_spaces[a->space], ptx_spaces[space]);
            return false;
        }
        a->space = space;
        a->host[l] = resolve(m, w, op, space, l, address);
        if (a->host[l] == NULL)
            return false;
        a->address[a->count++] =
            space == SPACE_LOCAL ? local_address(m, w, l, address) : address;
    }
    return true;
}

/* Takes the shared memory's pipe; cycles from t until the data is there. */
static double shared_access(struct machine *m, struct warp *w,
                            const struct op *op, const struct access *a,
                            double t)
{
    const struct profile *const p = m->profile;
    struct sm *const sm = w->block->sm;
    unsigned degree = 1;
    if (a->count > 1) {
        uint32_t address[WARP_LANES];
        for (unsigned i = 0; i < a->count; i++)
            address[i] = (uint32_t)a->address[i];
        degree = banks_degree(&p->banks, address, a->count, op->bytes);
    }
    const double more = (degree - 1) * p->shared_conflict_cycles;
    const double start = fmax(t, sm->shared_free);
    sm->shared_free = start + 1 + more;
    return start - t + p->shared_latency + more;
}

/* Cycles from t until the data of a load is there. */
static double access_cycles(struct machine *m, struct warp *w,
                            const struct op *op, const struct access *a,
                            double t)
{
    if (a->space == SPACE_PARAM)
        return op->latency;
    if (a->space == SPACE_SHARED)
        return noise_add(&m->noise, shared_access(m, w, op, a, t));
    unsigned lines;
    const double cycles =
        paths_load(m->paths, (enum profile_path_id)op->path, accessor_of(w),
                   a->address, a->count, &lines);
    if (lines > 1)
        w->scheduler->pipe_free[op->pipe] = t + lines;
    return noise_add(&m->noise, cycles);
}

static inline uint64_t read_bytes(const unsigned char *from, unsigned bytes)
{
    uint64_t value = 0;
    switch (bytes) {
    case 8:
        memcpy(&value, from, 8);
        return value;
    case 4:
        memcpy(&value, from, 4);
        return value;
    default:
        memcpy(&value, from, bytes);
        return value;
    }
}

/* The commonest load of a program that measures: one lane, device memory. */
static void load_lane(struct machine *m, struct warp *w, const struct op *op,
                      unsigned lane, double t)
{
    const uint64_t address =
        lanes_of(m, w, op->src[0])[lane] + (uint64_t)op->offset;
    const unsigned char *const host =
        resolve(m, w, op, op->space, lane, address);
    if (host == NULL)
        return;
    const uint64_t bits = read_bytes(host, op->bytes);
    lanes_of(m, w, op->dst[0])[lane] =
        op->extends ? extend(bits, op->type, op->dst_bytes) : bits;
    const double cycles = paths_load_one(
        m->paths, (enum profile_path_id)op->path, accessor_of(w), address);
    set_ready(w, op->dst[0], 1u << lane, t + noise_add(&m->noise, cycles));
}

static void load(struct machine *m, struct warp *w, const struct op *op,
                 uint32_t mask, double t)
{
    struct access a;
    if ((mask & (mask - 1)) == 0 && op->elements == 1 &&
        (op->space == SPACE_GLOBAL || op->space == SPACE_CONST)) {
        load_lane(m, w, op, first_lane(mask), t);
        return;
    }
    if (!gather(m, w, op, mask, &a))
        return;
    const unsigned size = op->bytes / op->elements;
    const double when = t + access_cycles(m, w, op, &a, t);
    for (unsigned e = 0; e < op->elements; e++) {
        uint64_t *const d = lanes_of(m, w, op->dst[e]);
        EACH_LANE(mask, l)
        {
            const uint64_t bits = read_bytes(a.host[l] + e * size, size);
            d[l] = op->extends ? extend(bits, op->type, op->dst_bytes) : bits;
        }
        set_ready(w, op->dst[e], mask, when);
    }
}

static void store(struct machine *m, struct warp *w, const struct op *op,
                  uint32_t mask, double t)
{
    struct access a;
    if (!gather(m, w, op, mask, &a))
        return;
    const unsigned size = op->bytes / op->elements;
    for (unsigned e = 0; e < op->elements; e++) {
        const uint64_t *const s = lanes_of(m, w, op->src[1 + e]);
        EACH_LANE(mask, l)
        memcpy(a.host[l] + e * size, &s[l], size);
    }
    if (a.space == SPACE_SHARED)
        shared_access(m, w, op, &a, t);
}

static uint64_t add_typed(enum ptx_type type, uint64_t old, uint64_t value)
{
    if (type == TYPE_F32)
        return float_to_bits(bits_to_float(old) + bits_to_float(value));
    if (type == TYPE_F64)
        return double_to_bits(bits_to_double(old) + bits_to_double(value));
    return old + value;
}

static bool less(enum ptx_type type, uint64_t a, uint64_t b)
{
    switch (type) {
    case TYPE_S32:
        return (int32_t)a < (int32_t)b;
    case TYPE_S64:
        return (int64_t)a < (int64_t)b;
    default:
        return a < b;
    }
}

static uint64_t atomic_result(const struct op *op, uint64_t old, uint64_t b,
                              uint64_t c)
{
    switch ((enum ptx_atomic)op->sub) {
    case ATOMIC_ADD:
        return add_typed(op->type, old, b);
    case ATOMIC_EXCH:
        return b;
    case ATOMIC_CAS:
        return old == b ? c : old;
    case ATOMIC_MIN:
        return less(op->type, b, old) ? b : old;
    case ATOMIC_MAX:
        return less(op->type, old, b) ? b : old;
    case ATOMIC_AND:
        return old & b;
    case ATOMIC_OR:
        return old | b;
    case ATOMIC_XOR:
        return old ^ b;
    case ATOMIC_INC:
        return old >= b ? 0 : old + 1;
    case ATOMIC_DEC:
        return old == 0 || old > b ? b : old - 1;
    }
    return old;
}

/* Lanes go one after the other, lowest first. */
static void atomic(struct machine *m, struct warp *w, const struct op *op,
                   uint32_t mask, double t)
{
    struct access a;
    if (!gather(m, w, op, mask, &a))
        return;
    uint64_t *const d = lanes_of(m, w, op->dst[0]);
    const uint64_t *const b = lanes_of(m, w, op->src[1]);
    const uint64_t *const c = lanes_of(m, w, op->src[2]);
    const double when = t + access_cycles(m, w, op, &a, t);
    EACH_LANE(mask, l)
    {
        const uint64_t old = read_bytes(a.host[l], op->bytes);
        const uint64_t value = atomic_result(op, old, b[l], c[l]);
        memcpy(a.host[l], &value, op->bytes);
        d[l] = old;
    }
    set_ready(w, op->dst[0], mask, when);
}

/* Outside the texture, zeros are read. */
static void texture(struct machine *m, struct warp *w, const struct op *op,
                    uint32_t mask, double t)
{
    const uint64_t *const object = lanes_of(m, w, op->src[0]);
    const uint64_t *const x = lanes_of(m, w, op->src[1]);
    struct access a = {.space = SPACE_GLOBAL};
    EACH_LANE(mask, l)
    {
        const uint64_t i = object[l] - 1;
        if (i >= m->texture_count || m->textures[i].bytes == 0) {
            machine_fault(m, op, "0x%llx is no texture object",
                          (unsigned long long)object[l]);
            return;
        }
        const struct texture_view *const view = &m->textures[i];
        const uint64_t offset = (uint64_t)(uint32_t)x[l] * 4;
        const bool inside = offset < view->bytes && view->bytes - offset >= 4;
        const unsigned char *const host =
            inside ? memory_at(&m->memory, view->address + offset, 4) : NULL;
        lanes_of(m, w, op->dst[0])[l] = host != NULL ? read_bytes(host, 4) : 0;
        for (unsigned e = 1; e < op->elements; e++)
            lanes_of(m, w, op->dst[e])[l] = 0;
        a.address[a.count++] = view->address + offset;
    }
    const double when = t + access_cycles(m, w, op, &a, t);
    for (unsigned e = 0; e < op->elements; e++)
        set_ready(w, op->dst[e], mask, when);
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

static uint64_t clock_value(const struct machine *m, const struct warp *w,
                            enum ptx_special special, double t)
{
    const uint64_t cycles = (uint64_t)t + w->block->sm->clock_offset;
    const uint64_t ns = (uint64_t)(t * 1e6 / (double)m->profile->clock_khz);
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
    w->next = t + fmax(1, m->profile->clock_overhead);
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
    w->next = t + 1 + (double)ns * (double)m->profile->clock_khz * 1e-6;
}

static void compute(const struct machine *m, struct warp *w,
                    const struct op *op, uint32_t mask, double t)
{
    op->alu(op, w->regs, m->shift, mask);
    const double when = t + op->latency;
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
        load(m, w, op, mask, t);
        break;
    case OP_STORE:
        store(m, w, op, mask, t);
        break;
    case OP_ATOMIC:
        atomic(m, w, op, mask, t);
        break;
    case OP_TEXTURE:
        texture(m, w, op, mask, t);
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
        go_to(m, w, op + 1);
    }
    if (m->fetch_shift != 0)
        fetch(m, w);
    warp_schedule(w);
}
