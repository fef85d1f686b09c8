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
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "study/load/links.h"
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
#define WIRE(id, name, text) {ONE("link"), name, ""},
#include "device/wires.def"
#undef WIRE
    {ONE("link"), "latency",                          "cycles"},
    {ONE("link"), "atomic_latency",                   "cycles"},
    {ONE("link"), "cached_in",                        ""},
    {ONE("link"), "read_bandwidth",                   "B/s"},
    {ONE("link"), "write_bandwidth",                  "B/s"},
    {ONE("link"), "from_peer_bandwidth",              "B/s"},
    {ONE("link"), "to_peer_bandwidth",                "B/s"},
    {ONE("link"), "from_peer_bandwidth_both_ways",    "B/s"},
    {ONE("link"), "to_peer_bandwidth_both_ways",      "B/s"},
    {ONE("link"), "from_peer_bandwidth_all_to_one",   "B/s"},
    {ONE("link"), "to_peer_bandwidth_one_to_all",     "B/s"},
    {ONE("link"), "from_peer_bandwidth_all_pairs",    "B/s"},
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

/* Of what the host's memory gives now more and now less the median of one run
 * is not that of the next: both ways at once of two hosts of H100s and one of
 * H200s it was the same to 2 % where repetitions differed by less, and else off
 * by 4 to 7. */
static const double uneven = 0.03;

/* What was found of the running experiments, or why it was not. */
static void say_rate(struct lab *lab, const char *attribute,
                     const struct samples *s)
{
    const struct column rates = links_rates(lab, s);
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
    const double low = f->interval[0], high = f->interval[1];
    if (high - low > uneven * high)
        finding_doubt(
            f, lab_text(lab, why_host_uneven, 100 * (high - low) / high));
}

static void ask_alone(struct lab *lab, const struct way *w)
{
    say_rate(lab, lab_text(lab, "%s_bandwidth", w->name),
             links_copy_alone(lab, w->from, w->to));
}

static void ask_pageable(struct lab *lab, const struct way *w)
{
    const bool to_own = strcmp(w->to, "own") == 0;
    say_rate(lab, lab_text(lab, "%s_bandwidth_pageable", w->name),
             links_copy_alone(lab, to_own ? "pageable" : "own",
                              to_own ? "own" : "pageable"));
}

static void ask_both(struct lab *lab, const struct way *w)
{
    const char *const attribute =
        lab_text(lab, "%s_bandwidth_both_ways", w->name);
    const struct samples *const s =
        links_copy_beside(lab, w->from, w->to, "back");
    if (s == NULL)
        finding_none(lab_finding(lab, "link", attribute), why_other_way_ends);
    else
        say_rate(lab, attribute, s);
}

/* One copy of each size, with what begins and ends it. */
static void ask_sizes(struct lab *lab, const struct way *w)
{
    struct sweep sizes = sweep_begin(
        lab, "link", lab_text(lab, "%s_bandwidth_by_bytes", w->name), "sizes");
    for (uint64_t bytes = LINKS_LEAST; bytes <= LINKS_MOST;
         bytes *= LINKS_FACTOR) {
        const char *experiment;
        const double rate =
            links_copy_of(lab, lab_text(lab, "from=%s to=%s", w->from, w->to),
                          bytes, &experiment);
        sweep_add(&sizes, value_number((double)bytes), rate, experiment);
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
        ask_sizes(lab, &ways[i]);
    for (size_t i = 0; lab_ok(lab) && i < COUNT_OF(ways); i++)
        ask_pageable(lab, &ways[i]);
}

/* ---- loads ------------------------------------------------------------- */

/* Lines of the host's memory differ, 64 of them on average by 4 % from 64
 * others (H100): so of all in the ring; and by how much other lines would
 * differ goes into the interval. */
enum { LINES = 512, SINGLES = 2048 };

static double scatter_of(struct lab *lab, const char *walk)
{
    /* Of a normal distribution: between its quartiles, and of 95 %, in standard
     * deviations. */
    static const double quartiles = 1.349, two_sided = 1.96;
    const struct column singles = lab_column_of(
        lab, lab_probe(lab, "trace %s visits=%d", walk, SINGLES), "cycles");
    if (lab_excuse(lab) != NULL || !lab_ok(lab))
        return 0;
    const double middle = stats_quantile(singles.at, singles.count, 0.75) -
                          stats_quantile(singles.at, singles.count, 0.25);
    return two_sided * middle / quartiles / sqrt(LINES);
}

static struct cost ask_latency(struct lab *lab)
{
    struct finding *const f = lab_finding(lab, "link", "host_latency");
    lab_cite(lab, f);
    static const char walk[] = "memory=host op=cv " LINKS_RING;
    struct cost c = lab_load_cost_of(lab, LINES, SINGLES, walk);
    const char *const why = lab_excuse(lab);
    const double scatter =
        lab_ok(lab) && why == NULL ? scatter_of(lab, walk) : 0;
    lab_uncite(lab);
    c.low = fmin(c.low, c.cycles - scatter);
    c.high = fmax(c.high, c.cycles + scatter);
    if (why != NULL)
        finding_none(f, "%s", why);
    else if (lab_ok(lab)) {
        finding_cost(f, &c);
        finding_protocol(f, "load", value_text("ld.global.cv.u64"));
        finding_protocol(f, "memory", value_text("pinned"));
    }
    return c;
}

/* True if L2 keeps what is read, or nobody knows. */
static bool ask_caches(struct lab *lab, double latency)
{
    struct finding *const f = lab_finding(lab, "link", "host_cached_in");
    lab_cite(lab, f);
    const char *const caches = links_caches(lab, "host", latency);
    lab_uncite(lab);
    const char *const why = lab_excuse(lab);
    if (why != NULL)
        finding_none(f, "%s", why);
    else if (lab_ok(lab))
        finding_value(f, STATUS_MEASURED, value_text(caches));
    return why != NULL || strstr(caches, "L2") != NULL;
}

static void ask_kernels(struct lab *lab, bool l2_keeps)
{
    for (int writes = 0; lab_ok(lab) && writes < 2; writes++) {
        struct bandwidth_question q = {
            .lab = lab,
            .attribute =
                writes ? "host_write_bandwidth" : "host_read_bandwidth",
        };
        const struct bandwidth_found found =
            links_kernels(&q, "host", writes, l2_keeps);
        if (!bandwidth_was_excused(&q) && lab_ok(lab))
            bandwidth_report(&q, &found);
    }
}

/* ---- what is told ------------------------------------------------------- */

static void ask_wires(struct lab *lab)
{
    static const char *const names[] = {
#define WIRE(id, name, text) name,
#include "device/wires.def"
#undef WIRE
    };
    const struct samples *const s = lab_probe(lab, "wires");
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct column told = lab_column_of(lab, s, names[i]);
        if (!lab_ok(lab))
            break;
        struct finding *const f = lab_finding(lab, "link", names[i]);
        if (told.count == 0 || told.at[0] < 0)
            finding_none(f, why_unreported);
        else
            finding_value(f, STATUS_REPORTED, value_number(told.at[0]));
        finding_cite(f, told.experiment);
    }
    /* A recording of before, or a device that tells nothing. */
    const char *const why = lab_excuse(lab);
    for (size_t i = 0; why != NULL && i < COUNT_OF(names); i++)
        finding_none(lab_finding(lab, "link", names[i]), "%s", why);
}

/* All pinned memory that is wanted at once, since to pin it takes long. */
static void take_memory(struct lab *lab)
{
    lab_probe(lab, "copy bytes=%" PRIu64 " repeats=1", links_stream_bytes(lab));
    lab_excuse(lab);
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
    take_memory(lab);
    if (lab_ok(lab))
        ask_wires(lab);
    if (!lab_ok(lab))
        return;
    ask_copies(lab);
    const struct cost latency = ask_latency(lab);
    if (!lab_ok(lab))
        return;
    bool l2_keeps = true;
    if (latency.experiment != NULL)
        l2_keeps = ask_caches(lab, latency.cycles);
    else
        lab_refuse(lab, "link.host_cached_in", "%s",
                   lab_why_unknown(lab, "link", "host_latency"));
    if (lab_ok(lab))
        ask_kernels(lab, l2_keeps);
    if (lab_ok(lab))
        links_ask_peers(lab);
}

/* Before the links are claimed, which others may wait for. */
#define STREAM "stream bytes=67108864 warm=0 "
static const char *const kernels[] = {
    "chase op=cv",
    "chase op=cg",
    "chase op=ca",
    "chase space=atomic",
    STREAM "cache=cv share=blocks",
    STREAM "cache=cv share=blocks unroll=8",
    STREAM "cache=default share=blocks warps=32",
    STREAM "cache=cv share=gpu",
    STREAM "op=write share=blocks unroll=1",
    STREAM "op=write share=blocks",
    STREAM "op=write share=gpu unroll=2",
    NULL,
};
#undef STREAM

const struct study study_links = {
    .name = "links",
    .question = "What lies between the GPU and the host, and other GPUs?",
    .method = "Copies timed by events; loads and stores of the host's pinned "
              "memory, and of other GPUs' memory, from kernels.",
    .answers = answers,
    .kernels = kernels,
    .apart = true,
    .shares = true,
    .run = links_run,
};
