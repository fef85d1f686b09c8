/*
 * The loop over time.  Schedulers stand in a heap by when they issue next; the
 * first runs until another is earlier.  With one warp alive nothing else is,
 * so that a chase by one lane stays in that inner loop.
 */
#include "device/sim/machine/machine.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stop.h"

/* Between two looks at the host's clock. */
enum { ISSUES_BETWEEN_CHECKS = 1 << 17 };

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

/* SMs that share a clock have that of the first of them. */
static void set_clocks(struct machine *m)
{
    const struct profile *const p = m->profile;
    for (unsigned i = 1; i < p->sms && p->clock_scope != SCOPE_SM; i++) {
        const unsigned own = profile_place(p, p->clock_scope, i);
        unsigned first = 0;
        while (profile_place(p, p->clock_scope, first) != own)
            first++;
        m->sms[i].clock_offset = m->sms[first].clock_offset;
    }
}

struct machine *machine_new(const struct profile *profile, uint64_t seed)
{
    struct machine *const m = xcalloc(1, sizeof *m);
    struct rng rng;
    rng_seed(&rng, seed);
    m->profile = profile;
    m->khz = (double)profile->clock_khz;
    m->code_end = CODE_ADDRESSES;
    memory_init(&m->memory, profile->memory_bytes);
    m->paths = paths_new(profile, rng_next(&rng));
    noise_init(&m->noise, profile->jitter_cycles, profile->spike_rate,
               profile->spike_cycles, rng_next(&rng));
    m->sms = xcalloc(profile->sms, sizeof *m->sms);
    for (unsigned i = 0; i < profile->sms; i++)
        sm_init(&m->sms[i], profile, i, &rng);
    set_clocks(m);
    ports_init(m);
    m->heap = xcalloc(profile->sms * profile->warp_schedulers, sizeof *m->heap);
    return m;
}

void machine_free(struct machine *m)
{
    for (unsigned i = 0; i < m->profile->sms; i++)
        sm_free(&m->sms[i], m->profile);
    ports_free(m);
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

/* ---- warps of a scheduler ---- */

/* Before `next`; NULL: last. */
static void scheduler_insert(struct scheduler *s, struct turn *turn,
                             struct turn *next)
{
    struct turn *const before = next != NULL ? next->before : s->last;
    turn->before = before;
    turn->after = next;
    if (before != NULL)
        before->after = turn;
    else
        s->first = turn;
    if (next != NULL)
        next->before = turn;
    else
        s->last = turn;
}

/* Instructions by which a warp starts. */
enum { FIRST_OPS = 8 };

void scheduler_start(const struct machine *m, struct scheduler *s,
                     struct turn *turn)
{
    const bool first = m->profile->favours == FAVOUR_OLDER_BLOCKS;
    turn->first_ops = first ? FIRST_OPS : 0;
    scheduler_insert(s, turn, first ? s->first : NULL);
}

void scheduler_remove(struct scheduler *s, struct turn *turn)
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

/* The turn that just went comes again after all that are as old: last, or,
 * where older blocks go first, before those of younger ones.  There a warp that
 * starts is ahead of all until it runs: blocks start when they come, however
 * long they wait then. */
static void requeue(const struct machine *m, struct scheduler *s,
                    struct turn *turn)
{
    struct turn *next = turn->after;
    if (turn->first_ops > 0) {
        turn->first_ops--;
        return;
    }
    if (next == NULL)
        return;
    scheduler_remove(s, turn);
    if (m->profile->favours == FAVOUR_OLDER_BLOCKS)
        while (next != NULL &&
               next->warp->block->order <= turn->warp->block->order)
            next = next->after;
    else
        next = NULL;
    scheduler_insert(s, turn, next);
}

/* ---- barriers and ends ---- */

static void release(struct machine *m, struct block *b, unsigned id)
{
    const struct barrier fallen = b->barriers[id];
    memset(&b->barriers[id], 0, sizeof b->barriers[id]);
    for (unsigned i = 0; i < m->warps_per_block; i++) {
        struct warp *const w = &b->warps[i];
        if (w->live != 0 && w->active == 0 && w->barrier == id)
            warp_wake(m, w, &fallen, fallen.latest);
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
    block_follow(m, b, t);
}

void machine_warp_ended(struct machine *m, struct warp *w, double t)
{
    struct block *const b = w->block;
    w->active = 0;
    b->sm->warp_taken[w->number] = false;
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

static inline void put(struct machine *m, size_t i, struct ranked it)
{
    m->heap[i] = it;
    it.scheduler->place = i;
}

static void sift_up(struct machine *m, size_t i)
{
    const struct ranked it = m->heap[i];
    for (; i > 0 && it.key < m->heap[(i - 1) / 2].key; i = (i - 1) / 2)
        put(m, i, m->heap[(i - 1) / 2]);
    put(m, i, it);
}

static void sift_down(struct machine *m, size_t i)
{
    const struct ranked it = m->heap[i];
    for (size_t child; (child = 2 * i + 1) < m->heap_count; i = child) {
        if (child + 1 < m->heap_count &&
            m->heap[child + 1].key < m->heap[child].key)
            child++;
        if (m->heap[child].key >= it.key)
            break;
        put(m, i, m->heap[child]);
    }
    put(m, i, it);
}

static void rekey(struct machine *m, struct scheduler *s)
{
    s->picked = pick(s, &m->heap[s->place].key);
    sift_up(m, s->place);
    sift_down(m, s->place);
}

static int give_up(struct machine *m)
{
    if (stop_requested(m->ticket))
        return error_set(m->err, ERR_INTERRUPTED, "kernel '%s' was stopped",
                         m->kernel->name);
    if (worked_seconds() > m->deadline_at)
        return error_set(m->err, ERR_DEADLINE,
                         "kernel '%s' ran longer than %g s", m->kernel->name,
                         m->deadline_s);
    return 0;
}

/* Runs the first scheduler of the heap until another is earlier.  Until then
 * only what changes the SM, which picks anew, can change its pick. */
static void run_first(struct machine *m, struct scheduler *s)
{
    double key = m->heap[0].key, limit = INFINITY;
    for (size_t i = 1; i < 3 && i < m->heap_count; i++)
        limit = m->heap[i].key < limit ? m->heap[i].key : limit;
    while (s->picked != NULL && key <= limit && m->code == 0) {
        struct turn *const turn = s->picked;
        requeue(m, s, turn);
        m->issued++;
        warp_issue(m, turn->warp, key);
        if (m->issued % ISSUES_BETWEEN_CHECKS == 0 && m->code == 0)
            m->code = give_up(m);
        if (m->changed)
            break;
        s->picked = pick(s, &key);
    }
    m->heap[0].key = key;
}

static int hang(struct machine *m)
{
    return error_set(m->err, ERR_DEADLINE,
                     "kernel '%s' hangs: all its warps wait at barriers that "
                     "not all of them reach",
                     m->kernel->name);
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

static void start_schedulers(struct machine *m)
{
    m->heap_count = 0;
    m->changed = false;
    for (unsigned i = 0; i < m->used_sms; i++) {
        free_pipes(m, &m->sms[i]);
        for (size_t k = 0; k < m->profile->warp_schedulers; k++) {
            struct scheduler *const s = &m->sms[i].schedulers[k];
            s->place = m->heap_count;
            m->heap[m->heap_count++].scheduler = s;
            rekey(m, s);
        }
    }
}

void machine_run(struct machine *m)
{
    start_schedulers(m);
    while (m->live_blocks > 0 && m->code == 0) {
        if (m->heap[0].key == INFINITY) {
            m->code = hang(m);
            return;
        }
        struct scheduler *const s = m->heap[0].scheduler;
        run_first(m, s);
        sift_down(m, 0);
        if (!m->changed)
            continue;
        m->changed = false;
        for (size_t i = 0; i < m->profile->warp_schedulers; i++)
            rekey(m, &s->sm->schedulers[i]);
    }
}
