/*
 * The loop over time.  Schedulers stand in a heap by when they issue next; the
 * first runs until another is earlier.  With one warp alive nothing else is,
 * so that a chase by one lane stays in execute.c's inner loop.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "device/sim/machine/scheduler.h"
#include "device/sim/machine/units.h"

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
    s->picked = scheduler_pick(s, &m->heap[s->place].key);
    sift_up(m, s->place);
    sift_down(m, s->place);
}

/* Runs the first scheduler of the heap until another is earlier, or another
 * process comes.  Until then only what changes the SM, which picks anew, can
 * change its pick. */
static void run_first(struct machine *m, struct scheduler *s)
{
    /* Who waits for ever is later. */
    double limit = m->intruder.next < DBL_MAX ? m->intruder.next : DBL_MAX;
    for (size_t i = 1; i < 3 && i < m->heap_count; i++)
        limit = m->heap[i].key < limit ? m->heap[i].key : limit;
    m->heap[0].key = execute_until(m, s, m->heap[0].key, limit);
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
        memset(s->pipe_free, 0,
               machine_pipes(m->profile) * sizeof *s->pipe_free);
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
        if (m->heap[0].key > m->intruder.next)
            intruder_come(m, m->heap[0].key);
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
