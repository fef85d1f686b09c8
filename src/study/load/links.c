/*
 * What lies between the GPU and the host, and between it and each other GPU
 * that it reaches: what a load from a kernel costs, how much kernels read and
 * write in a time, and how much copy engines move, each way alone and while the
 * other way is busy; of the host also of pageable memory, and by size.  What is
 * of other GPUs is a list: in its protocol `peers` are their numbers.
 *
 * Loads that ask for the latency and the rate are such that fetch anew what
 * caches have (ld.cv).  What caches keep is asked apart: a small ring again,
 * beside the same ring in the GPU's own memory, which they are known to keep.
 */
#include <math.h>
#include <string.h>

#include "study/load/bandwidth_rows.h"
#include "study/load/sweep.h"

/* clang-format off */
static const struct answer answers[] = {
    {ONE("link"), "host_latency",                     "cycles"},
    {ONE("link"), "host_cached_in",                   ""},
    {ONE("link"), "host_read_bandwidth",              "B/s"},
    {ONE("link"), "host_write_bandwidth",             "B/s"},
    {ONE("link"), "host_to_gpu_bandwidth",            "B/s"},
    {ONE("link"), "gpu_to_host_bandwidth",            "B/s"},
    {ONE("link"), "host_to_gpu_bandwidth_both_ways",  "B/s"},
    {ONE("link"), "gpu_to_host_bandwidth_both_ways",  "B/s"},
    {ONE("link"), "host_to_gpu_bandwidth_pageable",   "B/s"},
    {ONE("link"), "gpu_to_host_bandwidth_pageable",   "B/s"},
    {ONE("link"), "host_to_gpu_bandwidth_by_bytes",   "B/s"},
    {ONE("link"), "gpu_to_host_bandwidth_by_bytes",   "B/s"},
    {ONE("link"), "latency",                          "cycles"},
    {ONE("link"), "cached_in",                        ""},
    {ONE("link"), "read_bandwidth",                   "B/s"},
    {ONE("link"), "write_bandwidth",                  "B/s"},
    {ONE("link"), "from_peer_bandwidth",              "B/s"},
    {ONE("link"), "to_peer_bandwidth",                "B/s"},
    {ONE("link"), "from_peer_bandwidth_both_ways",    "B/s"},
    {ONE("link"), "to_peer_bandwidth_both_ways",      "B/s"},
    {0},
};
/* clang-format on */

/* ---- copies ------------------------------------------------------------ */

/* The two ways, as findings and experiments call them. */
static const struct way {
    const char *name, *to, *from;
} ways[] = {
    {"host_to_gpu", "own", "host"},
    {"gpu_to_host", "host", "own"},
};

/* Copies in a row that are timed together.  One is to take so long that what
 * begins and ends it, a microsecond or two, is under half a percent. */
enum { COPY_TIMES = 8, COPY_LEAST = 8 << 20, COPY_MOST = 512 << 20 };
static const double copy_ns = 5e5;

/* How large one is then: a power of two, by what one of the least takes. */
static int copy_bytes(struct lab *lab, const char *from, const char *to)
{
    const double ns = lab_column_median(
        lab,
        lab_probe(lab, "copy from=%s to=%s bytes=%d", from, to, COPY_LEAST),
        "ns");
    int bytes = COPY_LEAST;
    while (lab_ok(lab) && bytes < COPY_MOST &&
           ns * bytes / COPY_LEAST < copy_ns)
        bytes *= 2;
    return bytes;
}

static const struct samples *copy_alone(struct lab *lab, const char *from,
                                        const char *to)
{
    const int bytes = copy_bytes(lab, from, to);
    return lab_probe(lab, "copy from=%s to=%s bytes=%d times=%d", from, to,
                     bytes, COPY_TIMES);
}

static struct column rates_of(struct lab *lab, const struct samples *s)
{
    struct column rates = lab_column_of(lab, s, "bytes");
    const struct column ns = lab_column_of(lab, s, "ns");
    for (size_t i = 0; i < rates.count; i++)
        rates.at[i] *= 1e9 / fmax(ns.at[i], 1);
    return rates;
}

/* What was found of the running experiments, or why it was not. */
static void say_rate(struct lab *lab, const char *attribute,
                     const struct samples *s)
{
    const struct column rates = rates_of(lab, s);
    const char *const why = lab_excuse(lab);
    if (!lab_ok(lab))
        return;
    struct finding *const f = lab_finding(lab, "link", attribute);
    if (why != NULL) {
        finding_none(f, "%s", why);
        return;
    }
    finding_range(f, rates.at, rates.count);
    finding_protocol(f, "timer", value_text("events around the copies"));
    finding_cite(f, rates.experiment);
}

static void ask_alone(struct lab *lab, const struct way *w)
{
    say_rate(lab, lab_text(lab, "%s_bandwidth", w->name),
             copy_alone(lab, w->from, w->to));
}

static void ask_pageable(struct lab *lab, const struct way *w)
{
    const bool to_own = strcmp(w->to, "own") == 0;
    say_rate(lab, lab_text(lab, "%s_bandwidth_pageable", w->name),
             copy_alone(lab, to_own ? "pageable" : "own",
                        to_own ? "own" : "pageable"));
}

/* What is copied while the other way is busy from before the beginning to after
 * the end; NULL: it never was. */
static const struct samples *copy_both(struct lab *lab, const char *from,
                                       const char *to)
{
    enum { AGAINST = 2 * COPY_TIMES, AGAINST_MOST = 16 * COPY_TIMES };
    const int bytes = copy_bytes(lab, from, to);
    const struct samples *s = NULL;
    double least = -1;
    for (int against = AGAINST;
         lab_ok(lab) && least < 0 && against <= AGAINST_MOST; against *= 2) {
        s = lab_probe(lab, "copy from=%s to=%s bytes=%d times=%d against=%d",
                      from, to, bytes, COPY_TIMES, against);
        const struct column over = lab_column_of(lab, s, "over");
        least = lab_ok(lab) ? stats_min(over.at, over.count) : 0;
    }
    return least < 0 ? NULL : s;
}

static void ask_both(struct lab *lab, const struct way *w)
{
    const char *const attribute =
        lab_text(lab, "%s_bandwidth_both_ways", w->name);
    const struct samples *const s = copy_both(lab, w->from, w->to);
    if (s == NULL)
        finding_none(lab_finding(lab, "link", attribute), why_other_way_ends);
    else
        say_rate(lab, attribute, s);
}

/* One copy of each size, with what begins and ends it. */
static void ask_sizes(struct lab *lab, const struct way *w)
{
    enum { LEAST = 4096, FACTOR = 4, MOST = 16 << 20 };
    struct sweep sizes = sweep_begin(
        lab, "link", lab_text(lab, "%s_bandwidth_by_bytes", w->name), "sizes");
    for (int bytes = LEAST; bytes <= MOST; bytes *= FACTOR) {
        const struct column rates =
            rates_of(lab, lab_probe(lab, "copy from=%s to=%s bytes=%d", w->from,
                                    w->to, bytes));
        sweep_add(&sizes, value_number(bytes),
                  lab_ok(lab) ? stats_median(rates.at, rates.count) : 0,
                  rates.experiment);
    }
    sweep_end(&sizes);
}

static void ask_copies(struct lab *lab)
{
    for (size_t i = 0; lab_ok(lab) && i < COUNT_OF(ways); i++)
        ask_alone(lab, &ways[i]);
    for (size_t i = 0; lab_ok(lab) && i < COUNT_OF(ways); i++)
        ask_both(lab, &ways[i]);
    for (size_t i = 0; lab_ok(lab) && i < COUNT_OF(ways); i++)
        ask_pageable(lab, &ways[i]);
    for (size_t i = 0; lab_ok(lab) && i < COUNT_OF(ways); i++)
        ask_sizes(lab, &ways[i]);
}

/* ---- loads ------------------------------------------------------------- */

/* Few enough pages for any first TLB, and more lines than loads. */
#define RING "bytes=65536 stride=128 order=random"
/* So few lines that any cache keeps them. */
#define SMALL_RING "bytes=2048 stride=128 warm=4 visits=64"

static struct cost ask_latency(struct lab *lab)
{
    struct finding *const f = lab_finding(lab, "link", "host_latency");
    lab_cite(lab, f);
    const struct cost c = lab_load_cost(lab, "memory=host op=cv " RING);
    lab_uncite(lab);
    const char *const why = lab_excuse(lab);
    if (why != NULL)
        finding_none(f, "%s", why);
    else if (lab_ok(lab)) {
        finding_cost(f, &c);
        finding_protocol(f, "load", value_text("ld.global.cv.u64"));
        finding_protocol(f, "memory", value_text("pinned"));
    }
    return c;
}

/* Whether a load costs what one of a cache does, and not what it would cost
 * without that: it is nearer to the former. */
static bool is_kept(double cost, double hit, double miss)
{
    return hit < miss && fabs(cost - hit) < fabs(cost - miss);
}

/* What small rings cost, of the GPU's own memory and of another. */
static const char *caches_for(struct lab *lab, const char *memory,
                              double latency)
{
    const struct cost l2 = lab_chase(lab, "chase op=cg " SMALL_RING),
                      l1 = lab_chase(lab, "chase op=ca " SMALL_RING),
                      cg = lab_chase(lab, "chase memory=%s op=cg " SMALL_RING,
                                     memory),
                      ca = lab_chase(lab, "chase memory=%s op=ca " SMALL_RING,
                                     memory);
    const bool in_l2 = is_kept(cg.cycles, l2.cycles, latency);
    /* Where L1 takes no global loads at all, both operators cost the same. */
    const bool in_l1 =
        is_kept(ca.cycles, l1.cycles, fmin(cg.cycles, l2.cycles));
    return in_l1 && in_l2 ? "L1 and L2" : in_l1 ? "L1" : in_l2 ? "L2" : "none";
}

static void ask_caches(struct lab *lab, double latency)
{
    struct finding *const f = lab_finding(lab, "link", "host_cached_in");
    lab_cite(lab, f);
    const char *const caches = caches_for(lab, "host", latency);
    lab_uncite(lab);
    const char *const why = lab_excuse(lab);
    if (why != NULL)
        finding_none(f, "%s", why);
    else if (lab_ok(lab))
        finding_value(f, STATUS_MEASURED, value_text(caches));
}

/* More than any L2 holds, so that what is written must go. */
enum { STREAM_BYTES = 128 << 20 };

static struct bandwidth_question kernels_of(struct lab *lab,
                                            const char *attribute,
                                            const char *memory, bool writes)
{
    return (struct bandwidth_question){
        .lab = lab,
        .component = "link",
        .attribute = attribute,
        .words = lab_text(lab, "%s memory=%s warm=0",
                          writes ? "op=write" : "cache=cv", memory),
        .way = STREAM_GPU,
        .least = BANDWIDTH_CYCLES_LIST,
        .lanes = BANDWIDTH_LANES,
        .width = 16,
        .arrays = 1,
        .bytes = STREAM_BYTES,
    };
}

static void ask_kernels(struct lab *lab)
{
    const struct bandwidth_question reads =
                                        kernels_of(lab, "host_read_bandwidth",
                                                   "host", false),
                                    writes =
                                        kernels_of(lab, "host_write_bandwidth",
                                                   "host", true);
    bandwidth_ask(&reads, NULL);
    if (lab_ok(lab))
        bandwidth_ask(&writes, NULL);
}

/* ---- other GPUs -------------------------------------------------------- */

struct peers {
    unsigned self; /* the number of the GPU itself */
    size_t count;
    unsigned number[PEERS_MOST];
    const char *memory[PEERS_MOST]; /* the word of experiments */
    double latency[PEERS_MOST];
};

static struct peers find_peers(struct lab *lab)
{
    struct peers p = {0};
    const struct samples *const s = lab_probe(lab, "peers");
    const struct column gpus = lab_column_of(lab, s, "gpu"),
                        self = lab_column_of(lab, s, "self"),
                        reached = lab_column_of(lab, s, "reached");
    for (size_t i = 0; i < gpus.count && p.count < PEERS_MOST; i++)
        if (self.at[i] > 0) {
            p.self = (unsigned)gpus.at[i];
        } else if (reached.at[i] > 0) {
            p.number[p.count] = (unsigned)gpus.at[i];
            p.memory[p.count++] = lab_text(lab, "gpu%.0f", gpus.at[i]);
        }
    return p;
}

static struct sweep begin_list(struct lab *lab, const char *attribute)
{
    return sweep_begin(lab, "link", attribute, "peers");
}

/* Whose row of the matrix it is. */
static bool end_list(struct sweep *list, const struct peers *p)
{
    const bool measured = sweep_end(list);
    if (measured)
        finding_protocol(list->finding, "gpu", value_number(p->self));
    return measured;
}

static void ask_latencies(struct lab *lab, struct peers *p)
{
    struct sweep list = begin_list(lab, "latency");
    for (size_t i = 0; i < p->count; i++) {
        const struct cost c =
            lab_load_cost(lab, "memory=%s op=cv " RING, p->memory[i]);
        p->latency[i] = c.cycles;
        sweep_add(&list, value_number(p->number[i]), c.cycles, c.experiment);
    }
    if (end_list(&list, p))
        finding_protocol(list.finding, "load", value_text("ld.global.cv.u64"));
}

/* A word for all of them. */
static void ask_caches_of_peers(struct lab *lab, const struct peers *p)
{
    struct finding *const f = lab_finding(lab, "link", "cached_in");
    const char *first = NULL, *other = NULL;
    lab_cite(lab, f);
    for (size_t i = 0; lab_ok(lab) && i < p->count; i++) {
        const char *const caches = caches_for(lab, p->memory[i], p->latency[i]);
        first = first == NULL ? caches : first;
        other = strcmp(caches, first) != 0 ? caches : other;
    }
    lab_uncite(lab);
    const char *const why = lab_excuse(lab);
    if (why != NULL)
        finding_none(f, "%s", why);
    else if (lab_ok(lab) && other != NULL)
        finding_none(f, why_peers_unlike, first, other);
    else if (lab_ok(lab))
        finding_value(f, STATUS_MEASURED, value_text(first));
}

/* To or from each; beside copies the other way, or alone. */
static void ask_copies_of_peers(struct lab *lab, const struct peers *p,
                                bool to_peer, bool both)
{
    struct sweep list = begin_list(lab, lab_text(lab, "%s_peer_bandwidth%s",
                                                 to_peer ? "to" : "from",
                                                 both ? "_both_ways" : ""));
    for (size_t i = 0; lab_ok(lab) && i < p->count; i++) {
        const char *const from = to_peer ? "own" : p->memory[i],
                          *const to = to_peer ? p->memory[i] : "own";
        const struct samples *const s =
            both ? copy_both(lab, from, to) : copy_alone(lab, from, to);
        if (s == NULL) {
            lab_fail(lab, ERR_UNSUPPORTED, why_other_way_ends);
            continue;
        }
        const struct column rates = rates_of(lab, s);
        sweep_add(&list, value_number(p->number[i]),
                  lab_ok(lab) ? stats_median(rates.at, rates.count) : 0,
                  rates.experiment);
    }
    end_list(&list, p);
}

static void ask_kernels_of_peers(struct lab *lab, const struct peers *p,
                                 bool writes)
{
    const char *const attribute = writes ? "write_bandwidth" : "read_bandwidth";
    struct sweep list = begin_list(lab, attribute);
    for (size_t i = 0; lab_ok(lab) && i < p->count; i++) {
        const struct bandwidth_question q =
            kernels_of(lab, attribute, p->memory[i], writes);
        const struct bandwidth_found found = bandwidth_find(&q, NULL);
        const char *const flaw = bandwidth_flaw(&found.rate);
        sweep_add(&list, value_number(p->number[i]), found.rate.value,
                  found.rate.experiment);
        if (lab_ok(lab) && (flaw != NULL || !found.saturated))
            lab_fail(lab, ERR_UNSUPPORTED, "%s",
                     flaw != NULL ? flaw : why_no_more_room);
    }
    end_list(&list, p);
}

static void ask_peers(struct lab *lab)
{
    struct peers p = find_peers(lab);
    const char *const why = lab_excuse(lab);
    if (why != NULL)
        lab_refuse(lab, "link.*", "%s", why);
    else if (lab_ok(lab) && p.count == 0)
        lab_skip(lab, "link.*", why_no_peers);
    if (p.count == 0 || !lab_ok(lab))
        return;
    for (int both = 0; both <= 1; both++) {
        ask_copies_of_peers(lab, &p, false, both);
        ask_copies_of_peers(lab, &p, true, both);
    }
    ask_latencies(lab, &p);
    if (lab_ok(lab) && p.latency[0] > 0)
        ask_caches_of_peers(lab, &p);
    ask_kernels_of_peers(lab, &p, false);
    ask_kernels_of_peers(lab, &p, true);
    lab_refuse(lab, "link.cached_in", "%s",
               lab_why_unknown(lab, "link", "latency"));
}

static void links_run(struct lab *lab)
{
    /* Without a way to the host there is nothing to ask. */
    lab_probe(lab, "copy");
    const char *const why = lab_excuse(lab);
    if (why != NULL)
        lab_refuse(lab, "link.*", "%s", why);
    if (why != NULL || !lab_ok(lab))
        return;
    ask_copies(lab);
    const struct cost latency = ask_latency(lab);
    if (!lab_ok(lab))
        return;
    if (latency.experiment != NULL)
        ask_caches(lab, latency.cycles);
    else
        lab_refuse(lab, "link.host_cached_in", "%s",
                   lab_why_unknown(lab, "link", "host_latency"));
    if (lab_ok(lab))
        ask_kernels(lab);
    if (lab_ok(lab))
        ask_peers(lab);
}

const struct study study_links = {
    .name = "links",
    .question = "What lies between the GPU and the host, and other GPUs?",
    .method = "Copies timed by events; loads and stores of the host's pinned "
              "memory, and of other GPUs' memory, from kernels.",
    .answers = answers,
    .apart = true,
    .run = links_run,
};
