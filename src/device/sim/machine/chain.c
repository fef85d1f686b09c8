/*
 * A chain of pointers: the commonest thing that a program which measures does.
 * One lane loads from where its last load points, again and again, while
 * nothing else on the GPU can go on.  Nobody can see when each link is issued,
 * so all links up to the end of a line of instructions are taken together:
 * first where they lead, then what the caches make of them, then when each of
 * them comes.  Every step is the one that a single load takes (execute.c,
 * access.c), with what does not change from link to link looked up once.
 */
#include <math.h>
#include <string.h>

#include "device/sim/machine/scheduler.h"
#include "device/sim/machine/units.h"

enum { LINKS_MOST = 64 };

struct chain {
    size_t count;
    uint64_t address[LINKS_MOST];
    double cycles[LINKS_MOST]; /* of each, without noise */
};

/* Up to the end of the chain, or of the line of instructions that was fetched
 * last; a warp begins with an op that was not. */
static size_t links_ahead(const struct machine *m, const struct warp *w)
{
    const uintptr_t at = (uintptr_t)w->op - w->fetched;
    if (at >= m->fetch_span)
        return 1;
    const size_t in_line = (m->fetch_span - at - 1) / sizeof *w->op + 1;
    const size_t in_chain = (size_t)w->op->again + 1;
    const size_t links = in_chain < in_line ? in_chain : in_line;
    return links < LINKS_MOST ? links : LINKS_MOST;
}

/* Who walks a ring in order comes to what lies equally far apart, which the
 * host's memory is told some links before. */
enum { AHEAD = 16 };

/* Follows the pointers, of which *at is the first, up to one that leads
 * nowhere. */
static void follow(struct machine *m, const struct op *op, uint64_t *at,
                   size_t links, struct chain *chain)
{
    uint64_t before = *at + (uint64_t)op->offset;
    size_t i = 0;
    for (; i < links; i++) {
        const uint64_t address = *at + (uint64_t)op->offset;
        const unsigned char *const host =
            memory_at(&m->memory, address, sizeof *at);
        if (host == NULL || address % sizeof *at != 0)
            break;
        __builtin_prefetch(
            (const void *)((uintptr_t)host + AHEAD * (address - before)));
        memcpy(at, host, sizeof *at);
        chain->address[i] = before = address;
    }
    chain->count = i;
}

/* Issues the links from time t on; returns when the last one is.  Each next one
 * waits for what it loads from, and for its scheduler and pipe. */
static double issue_links(struct machine *m, struct warp *w,
                          const struct chain *chain, double t)
{
    const struct op *const op = w->op;
    const double apart = op->issue > 1 ? op->issue : 1;
    double last = t, ready = t;
    for (size_t i = 0; i < chain->count; i++) {
        last = t;
        ready = t + noise_add(&m->noise, m->crowd + chain->cycles[i]);
        t = t + apart > ready ? t + apart : ready;
    }
    set_ready(w, op->dst[0], w->active, ready);
    return last;
}

bool chain_is_alone(const struct machine *m, const struct warp *w, double t)
{
    const enum profile_path_id path = (enum profile_path_id)w->op->path;
    return !m->ported && paths_are_timeless(m->paths, path, t) &&
           w->active == w->live && (w->active & (w->active - 1)) == 0;
}

size_t chain_execute(struct machine *m, struct warp *w, double *t)
{
    const struct op *const op = w->op;
    const unsigned lane = first_lane(w->active);
    struct lane_load load = {.path = (enum profile_path_id)op->path,
                             .bytes = op->bytes,
                             .who = &w->accessor};
    struct chain chain;
    follow(m, op, &lanes_of(m, w, op->dst[0])[lane], links_ahead(m, w), &chain);
    if (chain.count == 0)
        return 0;
    const bool far = paths_load_each(m->paths, load, chain.address, chain.count,
                                     chain.cycles);
    *t = load.t = issue_links(m, w, &chain, *t);
    if (far)
        paths_take_memory(m->paths, &load);
    return chain.count;
}
