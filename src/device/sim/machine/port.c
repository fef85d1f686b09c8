/*
 * Ports of caches: the first cache of a load's path is busy for some cycles
 * with each line that a warp's access touches, and other warps wait.  Who goes
 * first is the profile's `favours`.
 *
 * A warp that has to wait leaves its scheduler alone until it is chosen, and
 * keeps then what it was chosen for: another can come before it only as long
 * as the port is busy.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "device/sim/machine/machine.h"

/* More than any wait: blocks in order, whatever their warps do. */
#define WAIT_MOST 1e12

static size_t ports_of_sm(const struct profile *p)
{
    return p->cache_count * p->warp_schedulers;
}

void ports_init(struct machine *m)
{
    const struct profile *const p = m->profile;
    for (size_t i = 0; i < p->cache_count; i++)
        m->ported |= p->caches[i].port_cycles > 0;
    for (size_t i = 0; m->ported && i < p->sms; i++)
        m->sms[i].ports = xcalloc(ports_of_sm(p), sizeof *m->sms[i].ports);
}

void ports_free(struct machine *m)
{
    for (size_t i = 0; i < m->profile->sms; i++)
        free(m->sms[i].ports);
}

void ports_begin(struct machine *m)
{
    for (size_t i = 0; m->ported && i < m->profile->sms; i++)
        for (size_t k = 0; k < ports_of_sm(m->profile); k++)
            m->sms[i].ports[k] = (struct port){0};
}

/* The first cache of the load's path, NULL if none or it has no port. */
static const struct profile_cache *ported_cache(const struct machine *m,
                                                const struct op *op)
{
    const struct profile_path *const path = &m->profile->paths[op->path];
    if (op->space == SPACE_SHARED || op->space == SPACE_PARAM ||
        path->levels == 0)
        return NULL;
    const struct profile_cache *const cache =
        &m->profile->caches[path->cache[0]];
    return cache->port_cycles > 0 ? cache : NULL;
}

static struct port *port_for(const struct machine *m, const struct warp *w,
                             const struct profile_cache *cache)
{
    const size_t schedulers = m->profile->warp_schedulers;
    const size_t index = (size_t)(cache - m->profile->caches);
    const size_t copy = w->number % schedulers % cache->copies_per_sm;
    return &w->block->sm->ports[index * schedulers + copy];
}

/* What the port goes by: least first. */
static double rank(const struct machine *m, const struct warp *w, double t)
{
    const struct block *const b = w->block;
    switch (m->profile->favours) {
    case FAVOUR_LOW_WARPS:
        return t + m->profile->favour_cycles * (double)(w - b->warps);
    case FAVOUR_OLDER_BLOCKS:
        return t + WAIT_MOST * (double)b->order;
    case FAVOUR_NONE:
        break;
    }
    return t;
}

/* Chooses who is next, and when. */
static void choose(struct machine *m, struct port *port)
{
    struct warp *best = port->first;
    for (struct warp *w = port->first; w != NULL; w = w->waits.after)
        if (w->waits.since < best->waits.since)
            best = w;
    if (port->chosen != NULL)
        port->chosen->turn->at = INFINITY;
    port->chosen = best;
    if (best != NULL)
        best->turn->at = fmax(port->free, best->next);
    m->changed = true;
}

static void forget(struct port *port, struct warp *w)
{
    struct warp **at = &port->first;
    while (*at != w)
        at = &(*at)->waits.after;
    *at = w->waits.after;
    port->chosen = NULL;
}

bool port_take(struct machine *m, struct warp *w, const struct op *op, double t)
{
    const struct profile_cache *const cache = ported_cache(m, op);
    if (cache == NULL)
        return true;
    struct port *const port = port_for(m, w, cache);
    if (port->chosen == w) {
        forget(port, w);
    } else if (port->first != NULL || port->free > t) {
        w->waits =
            (struct waiting){.after = port->first, .since = rank(m, w, t)};
        w->next = t;
        w->turn->at = INFINITY;
        port->first = w;
        choose(m, port);
        return false;
    }
    w->waits.port = port;
    m->lines = 0;
    port->cycles = cache->port_cycles;
    return true;
}

void port_leave(struct machine *m, struct warp *w, double t)
{
    struct port *const port = w->waits.port;
    w->waits.port = NULL;
    port->free = t + m->lines * port->cycles;
    if (port->first != NULL)
        choose(m, port);
}
