/*
 * Launches: what is checked before, how blocks get to SMs (block i to SM i
 * modulo their number, as many as fit; then the next one to the SM where one
 * ended), and the loop over time.
 */
#include "device/sim/machine.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stop.h"

/* Between two looks at the host's clock. */
enum { ISSUES_BETWEEN_CHECKS = 1 << 17 };
enum { DEFAULT_DEADLINE_S = 10, LAUNCH_GAP_CYCLES = 1000 };

/* Pipes of a scheduler: one an isa row, memory's, and one for the rest. */
static size_t pipe_count(const struct profile *p)
{
    return p->isa_count + 2;
}

static void sm_init(struct sm *sm, const struct profile *p, unsigned number,
                    struct rng *rng)
{
    sm->number = number;
    sm->clock_offset = rng_below(rng, (uint64_t)1 << 40);
    sm->warp_taken = xcalloc(p->max_warps_per_sm, sizeof *sm->warp_taken);
    sm->schedulers = xcalloc(p->warp_schedulers, sizeof *sm->schedulers);
    for (size_t i = 0; i < p->warp_schedulers; i++) {
        struct scheduler *const s = &sm->schedulers[i];
        s->sm = sm;
        s->pipe_free = xcalloc(pipe_count(p), sizeof *s->pipe_free);
        s->turns = xcalloc(p->max_warps_per_sm, sizeof *s->turns);
    }
}

static void sm_free(struct sm *sm, const struct profile *p)
{
    for (size_t i = 0; i < p->warp_schedulers; i++) {
        free(sm->schedulers[i].pipe_free);
        free(sm->schedulers[i].turns);
    }
    free(sm->schedulers);
    free(sm->warp_taken);
}

struct machine *machine_new(const struct profile *profile, uint64_t seed)
{
    struct machine *const m = xcalloc(1, sizeof *m);
    struct rng rng;
    rng_seed(&rng, seed);
    m->profile = profile;
    memory_init(&m->memory, profile->memory_bytes);
    m->paths = paths_new(profile, rng_next(&rng));
    noise_init(&m->noise, profile->jitter_cycles, profile->spike_rate,
               profile->spike_cycles, rng_next(&rng));
    m->sms = xcalloc(profile->sms, sizeof *m->sms);
    for (unsigned i = 0; i < profile->sms; i++)
        sm_init(&m->sms[i], profile, i, &rng);
    m->heap = xcalloc(profile->sms * profile->warp_schedulers, sizeof *m->heap);
    return m;
}

void machine_free(struct machine *m)
{
    for (unsigned i = 0; i < m->profile->sms; i++)
        sm_free(&m->sms[i], m->profile);
    free(m->sms);
    free(m->heap);
    free(m->textures);
    paths_free(m->paths);
    memory_free_all(&m->memory);
    free(m);
}

void machine_fault(struct machine *m, const struct op *op, const char *fmt, ...)
{
    char text[ERROR_TEXT_MAX / 2];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (m->code == 0)
        m->code = error_set(m->err, ERR_DEVICE, "kernel '%s', line %u: %s",
                            m->kernel->name, op->line, text);
}

/* ---- blocks ---- */

static uint64_t special_value(const struct machine *m, const struct warp *w,
                              enum ptx_special special, uint32_t thread)
{
    const uint32_t lane = thread % WARP_LANES;
    const uint32_t *const index = w->block->index;
    switch (special) {
    case SPECIAL_TID_X:
        return thread % m->block[0];
    case SPECIAL_TID_Y:
        return thread / m->block[0] % m->block[1];
    case SPECIAL_TID_Z:
        return thread / m->block[0] / m->block[1];
    case SPECIAL_NTID_X:
    case SPECIAL_NTID_Y:
    case SPECIAL_NTID_Z:
        return m->block[special - SPECIAL_NTID_X];
    case SPECIAL_CTAID_X:
    case SPECIAL_CTAID_Y:
    case SPECIAL_CTAID_Z:
        return index[special - SPECIAL_CTAID_X];
    case SPECIAL_NCTAID_X:
    case SPECIAL_NCTAID_Y:
    case SPECIAL_NCTAID_Z:
        return m->grid[special - SPECIAL_NCTAID_X];
    case SPECIAL_LANEID:
        return lane;
    case SPECIAL_WARPID:
        return w->number;
    case SPECIAL_NWARPID:
        return m->profile->max_warps_per_sm;
    case SPECIAL_SMID:
        return w->block->sm->number;
    case SPECIAL_NSMID:
        return m->profile->sms;
    case SPECIAL_GRIDID:
        return m->launches;
    case SPECIAL_WARP_SIZE:
        return WARP_LANES;
    case SPECIAL_LANEMASK_EQ:
        return 1u << lane;
    case SPECIAL_LANEMASK_LT:
        return (1u << lane) - 1;
    case SPECIAL_LANEMASK_LE:
        return (2u << lane) - 1;
    case SPECIAL_LANEMASK_GT:
        return ~((2u << lane) - 1);
    case SPECIAL_LANEMASK_GE:
        return ~((1u << lane) - 1);
    case SPECIAL_DYNAMIC_SMEM_SIZE:
        return m->dynamic_bytes;
    case SPECIAL_TOTAL_SMEM_SIZE:
        return m->shared_bytes;
    default:
        return 0;
    }
}

static uint64_t constant_value(const struct machine *m, const struct warp *w,
                               const struct constant *c, uint32_t thread)
{
    if (c->kind == CONSTANT_SPECIAL)
        return special_value(m, w, c->special, thread);
    if (c->kind == CONSTANT_ADDRESS && c->space == SPACE_GLOBAL)
        return m->kernel->module->globals.address + c->value;
    if (c->kind == CONSTANT_ADDRESS && c->space == SPACE_CONST)
        return m->kernel->module->constants.address + c->value;
    return c->value;
}

static void set_constants(const struct machine *m, struct warp *w,
                          unsigned in_block, unsigned lanes)
{
    const struct kernel *const k = m->kernel;
    for (size_t i = 0; i < k->constant_count; i++)
        for (unsigned l = 0; l < lanes; l++)
            w->regs[((k->registers + i) << m->shift) + l] = constant_value(
                m, w, &k->constants[i], in_block * WARP_LANES + l);
}

static unsigned take_warp_number(const struct machine *m, struct sm *sm)
{
    unsigned number = 0;
    while (number + 1 < m->profile->max_warps_per_sm && sm->warp_taken[number])
        number++;
    sm->warp_taken[number] = true;
    return number;
}

static void append_turn(struct scheduler *s, struct turn *turn)
{
    turn->before = s->last;
    turn->after = NULL;
    if (s->last != NULL)
        s->last->after = turn;
    else
        s->first = turn;
    s->last = turn;
}

static void remove_turn(struct scheduler *s, struct turn *turn)
{
    if (turn->before != NULL)
        turn->before->after = turn->after;
    else
        s->first = turn->after;
    if (turn->after != NULL)
        turn->after->before = turn->before;
    else
        s->last = turn->before;
}

static void warp_start(struct machine *m, struct warp *w, unsigned in_block,
                       double t)
{
    const unsigned left = m->threads - in_block * WARP_LANES;
    const unsigned lanes = left < WARP_LANES ? left : WARP_LANES;
    struct sm *const sm = w->block->sm;
    memset(w->regs, 0,
           ((size_t)m->kernel->registers << m->shift) * sizeof *w->regs);
    memset(w->ready, 0, m->kernel->registers * sizeof *w->ready);
    w->live = w->active = lanes == 32 ? UINT32_MAX : (1u << lanes) - 1;
    w->waiting = 0;
    w->other_pc = UINT32_MAX;
    w->op = m->kernel->ops;
    w->next = t;
    w->fetched = UINT64_MAX;
    w->number = take_warp_number(m, sm);
    w->scheduler = &sm->schedulers[w->number % m->profile->warp_schedulers];
    w->turn = &w->scheduler->turns[w->number / m->profile->warp_schedulers];
    w->turn->warp = w;
    append_turn(w->scheduler, w->turn);
    set_constants(m, w, in_block, lanes);
    warp_schedule(w);
}

/* Memory of a block's warps, in one piece: the structs, then for each warp
 * its registers, the times of its registers, its local memory. */
static void block_reserve(const struct machine *m, struct block *b)
{
    const struct kernel *const k = m->kernel;
    const size_t numbers = k->registers + k->constant_count;
    const size_t regs = (numbers << m->shift) * sizeof(uint64_t);
    const size_t ready = k->registers * sizeof(double);
    const size_t local = (k->local_bytes * WARP_LANES + 7) / 8 * 8;
    const size_t each = regs + ready + local;
    const size_t warps = m->warps_per_block * sizeof(struct warp);
    unsigned char *at = xcalloc(1, warps + m->warps_per_block * each);
    b->storage = at;
    b->warps = b->storage;
    b->shared = xmalloc((size_t)m->shared_bytes + 1);
    at += warps;
    for (unsigned i = 0; i < m->warps_per_block; i++, at += each) {
        b->warps[i].block = b;
        b->warps[i].regs = (void *)at;
        b->warps[i].ready = (void *)(at + regs);
        b->warps[i].local = at + regs + ready;
    }
}

static void block_start(struct machine *m, struct block *b, struct sm *sm,
                        double t)
{
    const uint64_t i = m->next_block++;
    if (b->storage == NULL)
        block_reserve(m, b);
    b->sm = sm;
    b->index[0] = (uint32_t)(i % m->grid[0]);
    b->index[1] = (uint32_t)(i / m->grid[0] % m->grid[1]);
    b->index[2] = (uint32_t)(i / m->grid[0] / m->grid[1]);
    b->live_warps = m->warps_per_block;
    memset(b->shared, 0, m->shared_bytes);
    memset(b->barriers, 0, sizeof b->barriers);
    for (unsigned w = 0; w < m->warps_per_block; w++)
        warp_start(m, &b->warps[w], w, t);
    m->live_blocks++;
    m->changed = true;
}

/* ---- barriers and ends ---- */

static void release(struct machine *m, struct block *b, unsigned id)
{
    struct barrier *const barrier = &b->barriers[id];
    const double t = barrier->latest;
    memset(barrier, 0, sizeof *barrier);
    for (unsigned i = 0; i < m->warps_per_block; i++) {
        struct warp *const w = &b->warps[i];
        if (w->live != 0 && w->active == 0 && w->barrier == id)
            warp_wake(m, w, t);
    }
    m->changed = true;
}

void machine_barrier(struct machine *m, struct warp *w, double t)
{
    struct barrier *const barrier = &w->block->barriers[w->barrier];
    const unsigned wanted = w->barrier_warps;
    w->turn->at = INFINITY;
    barrier->arrived++;
    barrier->latest = fmax(barrier->latest, t);
    if (barrier->arrived >= (wanted != 0 ? wanted : w->block->live_warps))
        release(m, w->block, w->barrier);
}

static void block_end(struct machine *m, struct block *b, double t)
{
    m->live_blocks--;
    m->changed = true;
    if (m->next_block < m->block_count)
        block_start(m, b, b->sm, t);
}

void machine_warp_ended(struct machine *m, struct warp *w, double t)
{
    struct block *const b = w->block;
    w->active = 0;
    b->sm->warp_taken[w->number] = false;
    remove_turn(w->scheduler, w->turn);
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

/* ---- time ---- */

/* When the scheduler can issue for the warp. */
static inline double issue_time(const struct scheduler *s,
                                const struct turn *turn)
{
    const double pipe = s->pipe_free[turn->pipe];
    const double free = s->free > pipe ? s->free : pipe;
    return turn->at > free ? turn->at : free;
}

/* The warp that goes next: the earliest, of those the longest waiting; NULL if
 * there is none. */
static inline struct turn *pick(const struct scheduler *s, double *t)
{
    struct turn *best = NULL;
    *t = INFINITY;
    for (struct turn *turn = s->first; turn != NULL; turn = turn->after) {
        const double when = issue_time(s, turn);
        if (when >= *t)
            continue;
        best = turn;
        *t = when;
        /* None can be earlier. */
        if (when <= s->free)
            break;
    }
    return best;
}

static void swap(struct machine *m, size_t i, size_t k)
{
    struct scheduler *const s = m->heap[i];
    m->heap[i] = m->heap[k];
    m->heap[k] = s;
    m->heap[i]->place = i;
    m->heap[k]->place = k;
}

static void sift_up(struct machine *m, size_t i)
{
    while (i > 0 && m->heap[i]->key < m->heap[(i - 1) / 2]->key) {
        swap(m, i, (i - 1) / 2);
        i = (i - 1) / 2;
    }
}

static void sift_down(struct machine *m, size_t i)
{
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2; child++)
            if (child < m->heap_count &&
                m->heap[child]->key < m->heap[least]->key)
                least = child;
        if (least == i)
            return;
        swap(m, i, least);
        i = least;
    }
}

static void rekey(struct machine *m, struct scheduler *s)
{
    pick(s, &s->key);
    sift_up(m, s->place);
    sift_down(m, s->place);
}

static int give_up(struct machine *m)
{
    if (stop_requested())
        return error_set(m->err, ERR_INTERRUPTED, "kernel '%s' was stopped",
                         m->kernel->name);
    if (now_seconds() > m->deadline_at)
        return error_set(m->err, ERR_DEADLINE,
                         "kernel '%s' ran longer than %g s", m->kernel->name,
                         m->deadline_s);
    return 0;
}

/* Runs the first scheduler of the heap until another is earlier. */
static void run_first(struct machine *m, struct scheduler *s)
{
    double limit = INFINITY;
    for (size_t i = 1; i < 3 && i < m->heap_count; i++)
        limit = m->heap[i]->key < limit ? m->heap[i]->key : limit;
    for (;;) {
        struct turn *const turn = pick(s, &s->key);
        if (turn == NULL || s->key > limit || m->code != 0)
            return;
        if (turn != s->last) {
            remove_turn(s, turn);
            append_turn(s, turn);
        }
        m->issued++;
        warp_issue(m, turn->warp, s->key);
        if (m->issued % ISSUES_BETWEEN_CHECKS == 0 && m->code == 0)
            m->code = give_up(m);
        if (m->changed)
            return;
    }
}

static int hang(struct machine *m)
{
    return error_set(m->err, ERR_DEADLINE,
                     "kernel '%s' hangs: all its warps wait at barriers that "
                     "not all of them reach",
                     m->kernel->name);
}

static void run(struct machine *m)
{
    while (m->live_blocks > 0 && m->code == 0) {
        if (m->heap[0]->key == INFINITY) {
            m->code = hang(m);
            return;
        }
        struct scheduler *const s = m->heap[0];
        run_first(m, s);
        sift_down(m, 0);
        if (!m->changed)
            continue;
        m->changed = false;
        for (size_t i = 0; i < m->profile->warp_schedulers; i++)
            rekey(m, &s->sm->schedulers[i]);
    }
}

/* ---- launches ---- */

static int too_many(struct error *err, const char *what, uint64_t have,
                    uint64_t most)
{
    return error_set(err, ERR_USAGE, "%llu %s; the GPU takes %llu at most",
                     (unsigned long long)have, what, (unsigned long long)most);
}

static uint64_t shared_limit(const struct profile *p)
{
    uint64_t limit = p->shared_per_block;
    if (p->shared_per_block_optin > (int64_t)limit)
        limit = (uint64_t)p->shared_per_block_optin;
    return limit > 0 && limit < p->shared_bytes ? limit : p->shared_bytes;
}

static int check_block(const struct machine *m, const struct kernel *k,
                       struct error *err)
{
    const uint64_t threads = (uint64_t)m->block[0] * m->block[1] * m->block[2];
    const uint64_t warps = (threads + WARP_LANES - 1) / WARP_LANES;
    const struct profile *const p = m->profile;
    if (threads > p->max_threads_per_block)
        return too_many(err, "threads in a block", threads,
                        p->max_threads_per_block);
    if (warps > p->max_warps_per_sm)
        return too_many(err, "warps in a block", warps, p->max_warps_per_sm);
    if (m->block[2] > BLOCK_Z_MAX)
        return too_many(err, "threads in z", m->block[2], BLOCK_Z_MAX);
    if (k->max_threads != 0 && threads > k->max_threads)
        return error_set(err, ERR_USAGE,
                         "%llu threads in a block; .maxntid of kernel '%s' "
                         "allows %llu",
                         (unsigned long long)threads, k->name,
                         (unsigned long long)k->max_threads);
    for (int i = 0; i < 3; i++)
        if (k->required_threads[0] != 0 &&
            k->required_threads[i] != m->block[i])
            return error_set(err, ERR_USAGE,
                             "the block is not the one that .reqntid of "
                             "kernel '%s' asks for",
                             k->name);
    return 0;
}

static int check_launch(const struct machine *m, const struct kernel *k,
                        const struct launch *launch, struct error *err)
{
    const uint64_t shared = k->shared_bytes + launch->shared_bytes;
    if (launch->arg_count != k->param_count)
        return error_set(err, ERR_USAGE,
                         "%zu arguments for kernel '%s', which takes %zu",
                         launch->arg_count, k->name, k->param_count);
    if (shared > shared_limit(m->profile))
        return too_many(err, "bytes of shared memory in a block", shared,
                        shared_limit(m->profile));
    if (m->grid[0] > GRID_X_MAX)
        return too_many(err, "blocks in x", m->grid[0], GRID_X_MAX);
    for (int i = 1; i < 3; i++)
        if (m->grid[i] > GRID_YZ_MAX)
            return too_many(err, "blocks in y or z", m->grid[i], GRID_YZ_MAX);
    for (int i = 0; i < 3; i++)
        if (launch->cluster[i] > 1)
            return error_set(err, ERR_UNSUPPORTED,
                             "the simulated GPU has no clusters");
    return check_block(m, k, err);
}

/* How many blocks an SM holds at once. */
static unsigned blocks_that_fit(const struct machine *m)
{
    const struct profile *const p = m->profile;
    uint64_t fit = p->max_warps_per_sm / m->warps_per_block;
    if (fit > p->max_blocks_per_sm)
        fit = p->max_blocks_per_sm;
    if (m->shared_bytes > 0 && fit > p->shared_bytes / m->shared_bytes)
        fit = p->shared_bytes / m->shared_bytes;
    const uint64_t wanted = (m->block_count + p->sms - 1) / p->sms;
    return (unsigned)(fit < wanted ? fit : wanted);
}

static unsigned lane_shift(unsigned threads)
{
    unsigned shift = 0;
    while (shift < 5 && (1u << shift) < threads)
        shift++;
    return shift;
}

static void copy_params(struct machine *m, const struct kernel *k,
                        const struct launch *launch)
{
    m->params = xcalloc(1, k->param_bytes + 1);
    for (size_t i = 0; i < k->param_count; i++)
        memcpy(m->params + k->params[i].offset, launch->args[i],
               k->params[i].bytes);
}

static unsigned fetch_shift(const struct profile *p)
{
    const struct profile_path *const path = &p->paths[PATH_INSTRUCTION];
    if (!path->present || path->levels == 0)
        return 0;
    return (unsigned)__builtin_ctzll(p->caches[path->cache[0]].shape.sector);
}

static void set_launch(struct machine *m, const struct kernel *k,
                       const struct launch *launch)
{
    m->kernel = k;
    m->threads = m->block[0] * m->block[1] * m->block[2];
    m->warps_per_block = (m->threads + WARP_LANES - 1) / WARP_LANES;
    m->shift = lane_shift(m->threads);
    m->dynamic_bytes = launch->shared_bytes;
    m->shared_bytes = (uint32_t)k->shared_bytes + launch->shared_bytes;
    m->block_count = (uint64_t)m->grid[0] * m->grid[1] * m->grid[2];
    m->next_block = m->live_blocks = 0;
    m->slots = blocks_that_fit(m);
    m->used_sms =
        (unsigned)(m->block_count < m->profile->sms ? m->block_count
                                                    : m->profile->sms);
    m->fetch_shift = fetch_shift(m->profile);
    m->deadline_s =
        launch->deadline_s > 0 ? launch->deadline_s : DEFAULT_DEADLINE_S;
    m->deadline_at = now_seconds() + m->deadline_s;
    m->end = m->now;
    m->code = 0;
    m->launches++;
    copy_params(m, k, launch);
}

/* Nothing of the last launch holds up this one. */
static void free_pipes(const struct machine *m, struct sm *sm)
{
    sm->shared_free = 0;
    for (size_t i = 0; i < m->profile->warp_schedulers; i++) {
        struct scheduler *const s = &sm->schedulers[i];
        s->free = 0;
        memset(s->pipe_free, 0, pipe_count(m->profile) * sizeof *s->pipe_free);
    }
}

/* Fills the SMs, block i to SM i modulo their number. */
static void place_blocks(struct machine *m)
{
    m->heap_count = 0;
    for (unsigned i = 0; i < m->used_sms; i++) {
        free_pipes(m, &m->sms[i]);
        m->sms[i].blocks = xcalloc(m->slots, sizeof(struct block));
    }
    for (unsigned slot = 0; slot < m->slots; slot++)
        for (unsigned i = 0; i < m->used_sms; i++)
            if (m->next_block < m->block_count)
                block_start(m, &m->sms[i].blocks[slot], &m->sms[i], m->now);
    for (unsigned i = 0; i < m->used_sms; i++)
        for (size_t k = 0; k < m->profile->warp_schedulers; k++) {
            struct scheduler *const s = &m->sms[i].schedulers[k];
            s->place = m->heap_count;
            m->heap[m->heap_count++] = s;
            rekey(m, s);
        }
    m->changed = false;
}

static void clear_sm(struct machine *m, struct sm *sm)
{
    for (unsigned slot = 0; slot < m->slots; slot++) {
        free(sm->blocks[slot].storage);
        free(sm->blocks[slot].shared);
    }
    free(sm->blocks);
    sm->blocks = NULL;
    memset(sm->warp_taken, 0,
           m->profile->max_warps_per_sm * sizeof *sm->warp_taken);
    for (size_t i = 0; i < m->profile->warp_schedulers; i++)
        sm->schedulers[i].first = sm->schedulers[i].last = NULL;
}

static unsigned at_least_one(unsigned n)
{
    return n == 0 ? 1 : n;
}

int machine_launch(struct machine *m, const struct kernel *kernel,
                   const struct launch *launch, struct error *err)
{
    for (int i = 0; i < 3; i++) {
        m->grid[i] = at_least_one(launch->grid[i]);
        m->block[i] = at_least_one(launch->block[i]);
    }
    const int code = check_launch(m, kernel, launch, err);
    if (code != 0)
        return code;
    m->err = err;
    set_launch(m, kernel, launch);
    paths_begin(m->paths);
    place_blocks(m);
    run(m);
    for (unsigned i = 0; i < m->used_sms; i++)
        clear_sm(m, &m->sms[i]);
    free(m->params);
    m->last_cycles = m->end - m->now;
    m->now = m->end + LAUNCH_GAP_CYCLES;
    return m->code;
}
