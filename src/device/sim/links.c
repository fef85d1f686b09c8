/*
 * Copies are bytes that flow: after a while of its own each goes at its way's
 * rate, and where copies go both ways of a link at once they share what both
 * have together, each in proportion to what it would have alone.
 */
#include "device/sim/links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Where pageable memory begins: far from what is allocated on a device. */
#define PAGEABLE_FROM ((uint64_t)1 << 47)

void links_init(struct links *links, struct host *host, unsigned gpu)
{
    *links = (struct links){.host = host, .gpu = gpu};
    memory_init(&links->pageable, UINT64_MAX);
    links->pageable.first = PAGEABLE_FROM;
}

void links_free(struct links *links)
{
    memory_free_all(&links->pageable);
    free(links->host);
}

/* ---- memory ------------------------------------------------------------ */

static int no_host(struct error *err)
{
    return error_set(err, ERR_UNSUPPORTED,
                     "the simulated GPU stands in no host (sim:HOST does, "
                     "`sonde list devices`)");
}

static struct paths_link path_of(const struct host_link *link,
                                 const struct machine *m)
{
    const double hz = 1e3 * m->khz;
    return (struct paths_link){
        .cycles = link->latency_ns * hz / 1e9,
        .read_bandwidth = link->to_gpu / hz,
        .write_bandwidth = link->from_gpu / hz,
        .l1_keeps = link->l1_keeps,
        .l2_keeps = link->l2_keeps,
    };
}

int links_peers(const struct links *links, enum device_peer peers[PEERS_MOST],
                size_t *count, struct error *err)
{
    _Static_assert((int)HOST_GPUS_MOST <= (int)PEERS_MOST, "each has a place");
    if (links->host == NULL)
        return no_host(err);
    *count = links->host->count;
    for (unsigned i = 0; i < *count; i++)
        peers[i] = i == links->gpu ? PEER_SELF
                   : links->host->peers[links->gpu][i].latency_ns > 0
                       ? PEER_REACHED
                       : PEER_APART;
    return 0;
}

/* The way to that place; NULL: there is none. */
static const struct host_link *way_to(const struct links *links,
                                      enum device_place place)
{
    if (place == PLACE_HOST || place == PLACE_PAGEABLE)
        return &links->host->memory;
    const unsigned peer = place - PLACE_PEER;
    const struct host_link *const way = &links->host->peers[links->gpu][peer];
    return way->latency_ns > 0 ? way : NULL;
}

int links_allocate(struct links *links, struct machine *m,
                   enum device_place place, uint64_t bytes, uint64_t *address,
                   struct error *err)
{
    if (links->host == NULL)
        return no_host(err);
    if (place == PLACE_PAGEABLE)
        return memory_allocate_at(&links->pageable, place, bytes, address, err);
    const struct host_link *const way = way_to(links, place);
    if (way == NULL)
        return error_set(err, ERR_UNSUPPORTED,
                         "GPU %u of the simulated host does not reach GPU %u",
                         links->gpu, (unsigned)(place - PLACE_PEER));
    const struct paths_link path = path_of(way, m);
    const int status =
        memory_allocate_at(&m->memory, place, bytes, address, err);
    if (status == 0)
        paths_reach(m->paths, &m->memory, place, &path);
    return status;
}

static struct memory *memory_of(struct links *links, struct machine *m,
                                uint64_t address)
{
    return address >= PAGEABLE_FROM ? &links->pageable : &m->memory;
}

bool links_release(struct links *links, struct machine *m, uint64_t address)
{
    struct memory *const memory = memory_of(links, m, address);
    if (memory_at(memory, address, 1) == NULL ||
        memory->last.place == PLACE_OWN)
        return false;
    /* What comes to the same addresses later is something else. */
    paths_drop(m->paths, address, memory->last.bytes);
    memory_release(memory, address);
    return true;
}

/* ---- copies ------------------------------------------------------------ */

struct flow {
    bool to_gpu;
    double starts; /* ns, when its bytes begin to move */
    double alone;  /* B/ns */
    double both;   /* of both ways of its link */
    double left;   /* bytes */
};

static enum device_place place_of(struct links *links, struct machine *m,
                                  uint64_t address, uint64_t bytes, void **at)
{
    struct memory *const memory = memory_of(links, m, address);
    *at = memory_at(memory, address, bytes);
    return *at != NULL ? (enum device_place)memory->last.place : PLACE_COUNT;
}

/* Does the copy, and says how it flows. */
static int flow_of(struct links *links, struct machine *m,
                   const struct transfer *t, struct flow *flow,
                   struct error *err)
{
    void *to, *from;
    const enum device_place source =
        place_of(links, m, t->from, t->bytes, &from);
    const enum device_place target = place_of(links, m, t->to, t->bytes, &to);
    const struct host *const h = links->host;
    if (source == PLACE_COUNT || target == PLACE_COUNT)
        return error_set(err, ERR_DEVICE,
                         "%llu bytes from 0x%llx to 0x%llx are not in "
                         "allocations",
                         (unsigned long long)t->bytes,
                         (unsigned long long)t->from,
                         (unsigned long long)t->to);
    if ((source == PLACE_OWN) == (target == PLACE_OWN))
        return error_set(err, ERR_UNSUPPORTED,
                         "a simulated copy engine copies between the GPU and "
                         "what is not its own");
    const enum device_place far = source == PLACE_OWN ? target : source;
    const struct host_link *const way = way_to(links, far);
    flow->to_gpu = target == PLACE_OWN;
    flow->alone = 1e-9 * (flow->to_gpu ? way->to_gpu : way->from_gpu);
    flow->both = 1e-9 * way->both;
    if (far == PLACE_PAGEABLE)
        flow->alone =
            1e-9 * (flow->to_gpu ? h->pageable_to_gpu : h->pageable_from_gpu);
    flow->starts = t->times * way->copy_ns;
    flow->left = (double)t->bytes * t->times;
    memmove(to, from, t->bytes);
    if (flow->to_gpu)
        paths_drop(m->paths, t->to, t->bytes);
    return 0;
}

static bool flows(const struct flow *f, double now)
{
    return f->left > 0 && f->starts <= now;
}

/* The share of its rate that each has now; all are of one link. */
static double share_of(const struct flow *f, size_t count, double now)
{
    double ways[2] = {0, 0};
    for (size_t i = 0; i < count; i++)
        if (flows(&f[i], now))
            ways[f[i].to_gpu] += f[i].alone;
    const double both = f[0].both;
    const double sum = ways[0] + ways[1];
    if (ways[0] > 0 && ways[1] > 0 && sum > both)
        return both / sum;
    return 1;
}

/* When the next begins to move or ends; INFINITY: all have ended. */
static double next_event(const struct flow *f, size_t count, double now,
                         double share)
{
    double next = INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (f[i].left <= 0)
            continue;
        const double at = flows(&f[i], now)
                              ? now + f[i].left / (f[i].alone * share)
                              : f[i].starts;
        next = at < next ? at : next;
    }
    return next;
}

static void run_flows(struct flow *f, struct transfer *t, size_t count)
{
    for (double now = 0;;) {
        const double share = share_of(f, count, now);
        const double next = next_event(f, count, now, share);
        if (isinf(next))
            return;
        for (size_t i = 0; i < count; i++) {
            if (!flows(&f[i], now))
                continue;
            f[i].left -= (next - now) * f[i].alone * share;
            /* Less than a byte is what the arithmetic left. */
            if (f[i].left < 1) {
                f[i].left = 0;
                t[i].ended = next;
            }
        }
        now = next;
    }
}

int links_transfer(struct links *links, struct machine *m,
                   struct transfer *transfers, size_t count, struct error *err)
{
    if (links->host == NULL)
        return no_host(err);
    struct flow *const f = xcalloc(count, sizeof *f);
    int status = 0;
    for (size_t i = 0; status == 0 && i < count; i++) {
        transfers[i].began = transfers[i].ended = 0;
        status = flow_of(links, m, &transfers[i], &f[i], err);
    }
    if (status == 0)
        run_flows(f, transfers, count);
    free(f);
    return status;
}
