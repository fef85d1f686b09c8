/*
 * Copies are bytes that flow: after a while of its own each goes at its way's
 * rate, and those that go at once share what is on their ways (below).
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
        .atomic_cycles = link->atomic_ns * hz / 1e9,
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
    for (unsigned i = 0; i < *count; i++) {
        const struct host_link *const way = &links->host->peers[links->gpu][i];
        peers[i] = i == links->gpu        ? PEER_SELF
                   : way->latency_ns <= 0 ? PEER_APART
                   : way->atomic_ns > 0   ? PEER_ATOMICS
                                          : PEER_REACHED;
    }
    return 0;
}

int links_wires(const struct links *links, int64_t told[WIRE_COUNT],
                struct error *err)
{
    if (links->host == NULL)
        return no_host(err);
    for (int i = 0; i < WIRE_COUNT; i++)
        told[i] = (int64_t)links->host->told[i];
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

/*
 * What copies share: a link, all of it and each way; the port of a GPU at a
 * switch, likewise; a switch.  Each has a rate; those that flow through it get
 * shares of it in proportion to what each would have alone, and what others
 * cannot use, being held up elsewhere, they have besides.
 */
enum {
    WAYS = 3, /* both, to the GPU or the second of a pair, from it */
    WAY_BOTH = 0,
    WAY_TO = 1,
    WAY_FROM = 2,
    PAIRS = HOST_GPUS_MOST * HOST_GPUS_MOST,
    FIRST_PAIR = WAYS, /* the first are those to the host's memory */
    FIRST_PORT = FIRST_PAIR + PAIRS * WAYS,
    FIRST_SWITCH = FIRST_PORT + HOST_SWITCHES_MOST * HOST_GPUS_MOST * WAYS,
    SHARED = FIRST_SWITCH + HOST_SWITCHES_MOST,
    USES_MOST = 8
};

struct flow {
    double starts;                       /* ns, when its bytes begin to move */
    double alone;                        /* B/ns */
    double left;                         /* bytes */
    double rate;                         /* B/ns now */
    unsigned uses[USES_MOST], use_count; /* what is shared */
};

struct flows {
    struct flow *at;
    size_t count;
    double capacity[SHARED]; /* B/ns; of what nothing uses anything */
};

static void use(struct flows *all, struct flow *f, unsigned shared,
                double capacity)
{
    all->capacity[shared] = 1e-9 * capacity;
    f->uses[f->use_count++] = shared;
}

/* A link, or a port, one way: seen from a GPU, to it or from it. */
static void use_link(struct flows *all, struct flow *f, unsigned first,
                     const struct host_link *link, bool to_gpu)
{
    use(all, f, first + WAY_BOTH, link->both);
    use(all, f, first + (to_gpu ? WAY_TO : WAY_FROM),
        to_gpu ? link->to_gpu : link->from_gpu);
}

static void use_port(struct flows *all, struct flow *f, const struct host *h,
                     unsigned at, unsigned gpu, bool to_gpu)
{
    use_link(all, f, FIRST_PORT + (at * HOST_GPUS_MOST + gpu) * WAYS,
             &h->switches[at].ports[gpu], to_gpu);
}

/* From one GPU to another. */
static void use_pair(struct flows *all, struct flow *f, const struct host *h,
                     unsigned from, unsigned to)
{
    const unsigned low = from < to ? from : to, high = from < to ? to : from;
    const unsigned through = h->through[from][to];
    use_link(all, f, FIRST_PAIR + (low * HOST_GPUS_MOST + high) * WAYS,
             &h->peers[low][high], to == low);
    if (through == 0)
        return;
    use_port(all, f, h, through - 1, from, false);
    use_port(all, f, h, through - 1, to, true);
    if (h->switches[through - 1].total > 0)
        use(all, f, FIRST_SWITCH + through - 1, h->switches[through - 1].total);
}

static enum device_place place_of(struct links *links, struct machine *m,
                                  uint64_t address, uint64_t bytes, void **at)
{
    struct memory *const memory = memory_of(links, m, address);
    *at = memory_at(memory, address, bytes);
    return *at != NULL ? (enum device_place)memory->last.place : PLACE_COUNT;
}

static bool is_of_host(enum device_place place)
{
    return place == PLACE_HOST || place == PLACE_PAGEABLE;
}

static unsigned gpu_of_place(const struct links *links, enum device_place place)
{
    return place == PLACE_OWN ? links->gpu : (unsigned)(place - PLACE_PEER);
}

/* What is left of a rate of the host's memory, if that is uneven. */
static double left_by_host(struct links *links)
{
    const uint64_t golden = 0x9e3779b9;
    const double chance = (double)(uint32_t)(golden * links->copies++) / 0x1p32;
    return 1 - links->host->uneven * chance;
}

static void flow_to_host(struct links *links, const struct transfer *t,
                         enum device_place from, enum device_place to,
                         struct flows *all, struct flow *f)
{
    const struct host *const h = links->host;
    const bool to_gpu = to == PLACE_OWN;
    f->alone = 1e-9 * (to_gpu ? h->memory.to_gpu : h->memory.from_gpu);
    if (from == PLACE_PAGEABLE || to == PLACE_PAGEABLE)
        f->alone = 1e-9 * (to_gpu ? h->pageable_to_gpu : h->pageable_from_gpu);
    f->alone *= left_by_host(links);
    f->starts = t->times * h->memory.copy_ns;
    use_link(all, f, 0, &h->memory, to_gpu);
}

/* False: there is no way. */
static bool flow_between(const struct links *links, const struct transfer *t,
                         enum device_place from, enum device_place to,
                         struct flows *all, struct flow *f)
{
    const unsigned source = gpu_of_place(links, from),
                   target = gpu_of_place(links, to);
    const struct host_link *const way = &links->host->peers[target][source];
    if (way->latency_ns <= 0)
        return false;
    f->alone = 1e-9 * way->to_gpu;
    if (all->count == 1 && (to == PLACE_OWN) != t->by_other)
        f->alone *= way->fetched;
    f->starts = t->times * way->copy_ns;
    use_pair(all, f, links->host, source, target);
    return true;
}

/* Says how the copy flows. */
static int flow_of(struct links *links, struct machine *m, struct transfer *t,
                   struct flows *all, struct flow *flow, struct error *err)
{
    void *to, *from;
    const enum device_place source =
        place_of(links, m, t->from, t->bytes, &from);
    const enum device_place target = place_of(links, m, t->to, t->bytes, &to);
    const bool host = is_of_host(source) || is_of_host(target);
    t->none = false;
    if (source == PLACE_COUNT || target == PLACE_COUNT)
        return error_set(err, ERR_DEVICE,
                         "%llu bytes from 0x%llx to 0x%llx are not in "
                         "allocations",
                         (unsigned long long)t->bytes,
                         (unsigned long long)t->from,
                         (unsigned long long)t->to);
    if (source == target ||
        (host && source != PLACE_OWN && target != PLACE_OWN))
        return error_set(err, ERR_UNSUPPORTED,
                         "a simulated copy engine copies between GPUs, or "
                         "between the GPU and the host");
    flow->left = (double)t->bytes * t->times;
    if (host)
        flow_to_host(links, t, source, target, all, flow);
    else if (!flow_between(links, t, source, target, all, flow)) {
        flow->left = 0;
        t->none = true;
    }
    return 0;
}

/* Of several that go to one place the last one's bytes stay: the others need
 * not be copied. */
static void copy_bytes(struct links *links, struct machine *m,
                       const struct transfer *t, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *to, *from;
        bool last = !t[i].none;
        for (size_t k = i + 1; last && k < count; k++)
            last = t[k].none || t[k].to != t[i].to || t[k].bytes != t[i].bytes;
        if (!last ||
            place_of(links, m, t[i].from, t[i].bytes, &from) == PLACE_COUNT)
            continue;
        if (place_of(links, m, t[i].to, t[i].bytes, &to) == PLACE_OWN)
            paths_drop(m->paths, t[i].to, t[i].bytes);
        memmove(to, from, t[i].bytes);
    }
}

static bool flows(const struct flow *f, double now)
{
    return f->left > 0 && f->starts <= now;
}

/* The shares that are left of what those use that have no rate yet: the least,
 * and where that is. */
static double least_share(const struct flows *all, double now, unsigned *where)
{
    static const double nobody = 1; /* nobody has more than alone */
    double wanted[SHARED] = {0}, taken[SHARED] = {0}, least = nobody;
    *where = SHARED;
    for (size_t i = 0; i < all->count; i++) {
        const struct flow *const f = &all->at[i];
        for (unsigned k = 0; k < f->use_count && flows(f, now); k++)
            *(f->rate > 0 ? &taken[f->uses[k]] : &wanted[f->uses[k]]) +=
                f->rate > 0 ? f->rate : f->alone;
    }
    for (unsigned s = 0; s < SHARED; s++) {
        const double share =
            wanted[s] > 0 ? (all->capacity[s] - taken[s]) / wanted[s] : nobody;
        if (share < least) {
            least = fmax(share, 0);
            *where = s;
        }
    }
    return least;
}

static bool uses(const struct flow *f, unsigned shared)
{
    for (unsigned k = 0; k < f->use_count; k++)
        if (f->uses[k] == shared)
            return true;
    return false;
}

/* Whoever is held up most has its rate first. */
static void share_out(struct flows *all, double now)
{
    static const double some = 1e-6; /* B/ns: rounding must stop none */
    unsigned where;
    for (size_t i = 0; i < all->count; i++)
        all->at[i].rate = 0;
    do {
        const double share = least_share(all, now, &where);
        for (size_t i = 0; i < all->count; i++) {
            struct flow *const f = &all->at[i];
            if (flows(f, now) && f->rate <= 0 &&
                (where == SHARED || uses(f, where)))
                f->rate = fmax(share * f->alone, some);
        }
    } while (where != SHARED);
}

/* When the next begins to move or ends; INFINITY: all have ended. */
static double next_event(const struct flows *all, double now)
{
    double next = INFINITY;
    for (size_t i = 0; i < all->count; i++) {
        const struct flow *const f = &all->at[i];
        if (f->left <= 0)
            continue;
        const double at = flows(f, now) ? now + f->left / f->rate : f->starts;
        next = at < next ? at : next;
    }
    return next;
}

static void run_flows(struct flows *all, struct transfer *t)
{
    for (double now = 0;;) {
        share_out(all, now);
        const double next = next_event(all, now);
        if (isinf(next))
            return;
        for (size_t i = 0; i < all->count; i++) {
            struct flow *const f = &all->at[i];
            if (!flows(f, now))
                continue;
            f->left -= (next - now) * f->rate;
            /* Less than a byte is what the arithmetic left. */
            if (f->left < 1) {
                f->left = 0;
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
    struct flows *const all = xcalloc(1, sizeof *all);
    all->at = xcalloc(count, sizeof *all->at);
    all->count = count;
    int status = 0;
    for (size_t i = 0; status == 0 && i < count; i++) {
        transfers[i].began = transfers[i].ended = 0;
        status = flow_of(links, m, &transfers[i], all, &all->at[i], err);
    }
    if (status == 0) {
        copy_bytes(links, m, transfers, count);
        run_flows(all, transfers);
    }
    free(all->at);
    free(all);
    return status;
}
