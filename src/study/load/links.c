/*
 * What lies between the GPU and the host: what a load from a kernel costs, how
 * much kernels read and write in a time, and how much copy engines move, each
 * way alone and while the other way is busy, of pinned and of pageable memory,
 * and by size.
 *
 * Loads that ask for the latency and the rate are such that fetch anew what
 * caches have (ld.cv).  What caches keep is asked apart: a small ring again,
 * beside the same ring in the GPU's own memory, which they are known to keep.
 */
#include <math.h>

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

/* Long enough that beginning and end (a microsecond a copy) are a quarter of a
 * percent at 64 GB/s, and short enough for a host of little memory. */
enum { COPY_BYTES = 32 << 20, COPY_TIMES = 8 };

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
             lab_probe(lab, "copy from=%s to=%s bytes=%d times=%d", w->from,
                       w->to, COPY_BYTES, COPY_TIMES));
}

static void ask_pageable(struct lab *lab, const struct way *w)
{
    const bool to_own = w->to[0] == 'o';
    say_rate(lab, lab_text(lab, "%s_bandwidth_pageable", w->name),
             lab_probe(lab, "copy from=%s to=%s bytes=%d times=%d",
                       to_own ? "pageable" : "own",
                       to_own ? "own" : "pageable", COPY_BYTES, COPY_TIMES));
}

/* While the other way is busy from before the beginning to after the end. */
static void ask_both(struct lab *lab, const struct way *w)
{
    enum { AGAINST = 2 * COPY_TIMES, AGAINST_MOST = 16 * COPY_TIMES };
    const char *const attribute =
        lab_text(lab, "%s_bandwidth_both_ways", w->name);
    const struct samples *s = NULL;
    double least = -1;
    for (int against = AGAINST;
         lab_ok(lab) && least < 0 && against <= AGAINST_MOST; against *= 2) {
        s = lab_probe(lab, "copy from=%s to=%s bytes=%d times=%d against=%d",
                      w->from, w->to, COPY_BYTES, COPY_TIMES, against);
        const struct column over = lab_column_of(lab, s, "over");
        least = stats_min(over.at, over.count);
    }
    if (lab_ok(lab) && least < 0) {
        finding_none(lab_finding(lab, "link", attribute), why_other_way_ends);
        return;
    }
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

static void ask_caches(struct lab *lab, double latency)
{
    struct finding *const f = lab_finding(lab, "link", "host_cached_in");
    lab_cite(lab, f);
    const struct cost l2 = lab_chase(lab, "chase op=cg " SMALL_RING),
                      l1 = lab_chase(lab, "chase op=ca " SMALL_RING),
                      cg = lab_chase(lab, "chase memory=host op=cg " SMALL_RING),
                      ca = lab_chase(lab, "chase memory=host op=ca " SMALL_RING);
    lab_uncite(lab);
    const char *const why = lab_excuse(lab);
    if (why != NULL)
        finding_none(f, "%s", why);
    if (!lab_ok(lab) || why != NULL)
        return;
    const bool in_l2 = is_kept(cg.cycles, l2.cycles, latency);
    /* Where L1 takes no global loads at all, both operators cost the same. */
    const bool in_l1 = is_kept(ca.cycles, l1.cycles, fmin(cg.cycles, l2.cycles));
    finding_value(f, STATUS_MEASURED,
                  value_text(in_l1 && in_l2 ? "L1 and L2"
                             : in_l1        ? "L1"
                             : in_l2        ? "L2"
                                            : "none"));
}

/* More than any L2 holds, so that what is written must go. */
enum { STREAM_BYTES = 128 << 20 };

static void ask_kernels(struct lab *lab)
{
    struct bandwidth_question q = {
        .lab = lab,
        .component = "link",
        .attribute = "host_read_bandwidth",
        .words = "memory=host cache=cv warm=0",
        .way = STREAM_GPU,
        .least = BANDWIDTH_CYCLES_LIST,
        .lanes = BANDWIDTH_LANES,
        .width = 16,
        .arrays = 1,
        .bytes = STREAM_BYTES,
    };
    bandwidth_ask(&q, NULL);
    q.attribute = "host_write_bandwidth";
    q.words = "op=write memory=host warm=0";
    if (lab_ok(lab))
        bandwidth_ask(&q, NULL);
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
}

const struct study study_links = {
    .name = "links",
    .question = "What lies between the GPU and the host?",
    .method = "Copies timed by events; loads and stores of the host's pinned "
              "memory from kernels.",
    .answers = answers,
    .apart = true,
    .run = links_run,
};
