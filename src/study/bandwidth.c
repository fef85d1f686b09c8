/*
 * How many bytes pass in a time, with as many warps and accesses in flight as
 * it takes (van Stigt 2022, 7; Mei 2014 and Groessler 2022 plan it).
 *
 * Of each place the study looks for the configuration that saturates it: from
 * a few warps on it doubles what is in flight, wherever that gives most, until
 * nothing does.  What still grew at the end of its range is a bound.  In an SM
 * one SM works and its clock counts; for L2 and memory all work, and the GPU's
 * timer counts from the first beginning to the last end, or, where that is
 * coarse, the time of the launch.  The SM's clock is what its cycles over the
 * timer's nanoseconds are, beside the one reported.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"
#include "base/mem.h"
#include "study/study.h"

static const char *const needs[] = {NULL};
static const char *const gives[] = {"l1.default_operator",
                                    "l1.read_bandwidth",
                                    "l1.read_bandwidth_by_use",
                                    "l1.read_bandwidth_by_stride",
                                    "readonly.read_bandwidth",
                                    "texture.read_bandwidth",
                                    "const_l1.read_bandwidth",
                                    "shared.read_bandwidth",
                                    "shared.write_bandwidth",
                                    "memory.read_bandwidth",
                                    "memory.write_bandwidth",
                                    "memory.copy_bandwidth",
                                    "memory.triad_bandwidth",
                                    "memory.read_bandwidth_by_sms",
                                    "memory.read_bandwidth_by_operator",
                                    "l2.read_bandwidth",
                                    "l2.read_bandwidth_half",
                                    "l2.write_bandwidth",
                                    NULL};
static const char *const kernels[] = {"chase op=ca", "chase op=cg",
                                      "chase op=default", NULL};

/* Growth that is worth more warps. */
static const double growth_least = 0.01;
/* Longer runs that change less show that what begins and ends a run does not
 * count. */
static const double length_least = 0.005;
/* What is far from saturated grows by more when twice as much is in flight. */
static const double growth_most = 0.03;
/* Two clocks, or two rates, that differ by less are the same. */
static const double alike = 0.01;
enum { UNROLL_MOST = 16, WARPS_MOST = 32, BLOCKS_MOST = 4 };
/* Registers of a thread besides what it loads. */
enum { REGISTERS_ELSE = 24 };
/* Shared memory that a block takes besides its set, B. */
enum { SHARED_ELSE = 2048 };
/* Accesses of an SM in a search, and for the number that is reported. */
enum { ACCESSES_SEARCH = 2048, ACCESSES_FINAL = 8192 };
/* In a search as many as the stopping rule wants. */
enum { REPEATS_SEARCH = 0, REPEATS_FINAL = 5 };
/* What passes in a run of the search: so many times what L2 holds; and in the
 * longest run, so many times that. */
enum { FEW_SETS = 4, GROWTH_MOST = 64 };
/* How often the set of memory is doubled at once then, so that hardly any of it
 * is found in L2 again. */
enum { SETS_DOUBLED = 1 };

/* What is asked: a place, and how it is accessed. */
struct question {
    const char *component, *attribute;
    const char *words; /* of the experiment */
    bool of_gpu;       /* L2 and memory: all SMs, bytes a second */
    bool alike;        /* every block has a share, none shared with others */
    bool grows;        /* a longer run has a larger set, not more laps */
    bool shared;       /* it takes shared memory */
    unsigned lanes;    /* that read different words; 1: all read one */
    unsigned width;    /* the widest access of a lane */
    unsigned arrays;
    uint64_t bytes; /* of an array; 0: a tile */
    uint64_t moved; /* of_gpu: what passes in a run of the search */
    uint64_t room;  /* grows: bytes that all arrays may have */
};

/* How: what the search changes, and what else experiments differ in. */
struct setup {
    unsigned width, unroll, warps, blocks, sms, stride;
    uint64_t moved; /* bytes that are to pass, at least one lap */
    unsigned repeats;
};

struct rate {
    double value, low, high; /* B/clk of an SM, or B/s */
    double by_event;         /* B/s by the time of the launch */
    double clock_hz, told_hz;
    bool moved; /* the SM's clock was not the same in all repetitions */
    bool even;  /* every SM had the blocks that it should have */
    const char *timer;
    char *experiment; /* canonical; the owner frees */
};

/* ---- one experiment ---------------------------------------------------- */

struct table {
    const struct samples *samples;
    size_t bytes, blocks, begun, ended, ns_begun, ns_ended, ns_event, mhz;
};

static struct table table_of(const struct samples *s)
{
    return (struct table){
        .samples = s,
        .bytes = samples_column(s, "bytes"),
        .blocks = samples_column(s, "blocks"),
        .begun = samples_column(s, "begun"),
        .ended = samples_column(s, "ended"),
        .ns_begun = samples_column(s, "ns_begun"),
        .ns_ended = samples_column(s, "ns_ended"),
        .ns_event = samples_column(s, "ns_event"),
        .mhz = samples_column(s, "mhz"),
    };
}

static double at(const struct table *t, size_t row, size_t column)
{
    return (double)samples_at(t->samples, row, column);
}

/* What one repetition, of rows [from, to), gave. */
struct repetition {
    double bytes, cycles; /* of all SMs; of the one that took longest */
    double ns, ns_event;
    double hz, told_hz;
};

static struct repetition repetition_of(const struct table *t, size_t from,
                                       size_t to)
{
    struct repetition r = {.ns_event = at(t, from, t->ns_event),
                           .told_hz = 1e6 * at(t, from, t->mhz)};
    double begun = INFINITY, ended = 0, cycles = 0, ns = 0;
    for (size_t i = from; i < to; i++) {
        const double own = at(t, i, t->ended) - at(t, i, t->begun);
        r.bytes += at(t, i, t->bytes);
        r.cycles = fmax(r.cycles, own);
        cycles += own;
        ns += at(t, i, t->ns_ended) - at(t, i, t->ns_begun);
        begun = fmin(begun, at(t, i, t->ns_begun));
        ended = fmax(ended, at(t, i, t->ns_ended));
    }
    r.ns = ended - begun;
    r.hz = ns > 0 ? 1e9 * cycles / ns : 0;
    return r;
}

/* Rows of a repetition stand together; returns how many repetitions. */
static size_t repetitions_of(const struct samples *s, struct repetition *list)
{
    const struct table t = table_of(s);
    size_t n = 0;
    for (size_t from = 0, to; from < s->rows; from = to) {
        to = from;
        while (to < s->rows && samples_at(s, to, 0) == samples_at(s, from, 0))
            to++;
        list[n++] = repetition_of(&t, from, to);
    }
    return n;
}

/* The least step by which the timer was seen to go on, ns. */
static double resolution_of(const struct samples *s)
{
    const struct table t = table_of(s);
    double least = INFINITY;
    for (size_t i = 1; i < s->rows; i++) {
        const double step =
            fabs(at(&t, i, t.ns_ended) - at(&t, i - 1, t.ns_ended));
        if (step > 0)
            least = fmin(least, step);
    }
    return least;
}

static double rate_of(const struct question *q, const struct repetition *r,
                      bool by_event)
{
    if (!q->of_gpu)
        return r->bytes / r->cycles;
    return 1e9 * r->bytes / (by_event ? r->ns_event : r->ns);
}

/* Blocks that shared an SM with others than they should are another load. */
static bool is_even(const struct samples *s, unsigned blocks)
{
    const struct table t = table_of(s);
    for (size_t i = 0; i < s->rows; i++)
        if (samples_at(s, i, t.blocks) != blocks)
            return false;
    return true;
}

static void summarise(struct lab *lab, const struct question *q,
                      const struct samples *s, struct rate *rate)
{
    struct repetition *const list = xcalloc(s->rows, sizeof *list);
    const size_t n = repetitions_of(s, list);
    double *const values = xcalloc(n, sizeof *values);
    const bool coarse = !(resolution_of(s) <= 0.002 * list[0].ns);
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < n; i++) {
        values[i] = rate_of(q, &list[i], coarse);
        least = fmin(least, list[i].hz);
        most = fmax(most, list[i].hz);
    }
    struct rng rng;
    rng_seed(&rng, prober_seed(lab->prober));
    const struct stats_interval interval =
        stats_bootstrap_median(values, n, LAB_CONFIDENCE_PERCENT / 100.0, &rng);
    rate->value = stats_median(values, n);
    rate->low = interval.low;
    rate->high = interval.high;
    rate->by_event = 1e9 * list[n / 2].bytes / list[n / 2].ns_event;
    rate->clock_hz = list[n / 2].hz;
    rate->told_hz = list[n / 2].told_hz;
    rate->moved = !coarse && most - least > alike * most;
    rate->timer = !q->of_gpu ? "clock64" : coarse ? "launch" : "globaltimer";
    free(values);
    free(list);
}

/* Bytes that a set needs at least: one tile of a block, or of all. */
static uint64_t set_bytes(const struct question *q, const struct setup *s)
{
    if (q->bytes > 0)
        return q->bytes;
    return (uint64_t)s->unroll * q->lanes * s->width;
}

/* Bytes that a lap moves on the SMs that work. */
static double lap_bytes(const struct question *q, const struct setup *s)
{
    const double set = (double)set_bytes(q, s) * q->arrays;
    return q->of_gpu ? set : set * (double)s->warps * (double)s->blocks;
}

/* The experiment's text; the caller frees. */
static char *text_of(const struct question *q, const struct setup *s)
{
    const double laps = (double)s->moved / lap_bytes(q, s);
    return xasprintf("stream %s width=%u unroll=%u warps=%u blocks=%u sms=%u "
                     "stride=%u bytes=%" PRIu64 " laps=%.0f repeats=%u",
                     q->words, s->width, s->unroll, s->warps, s->blocks, s->sms,
                     s->stride, set_bytes(q, s), fmax(1, ceil(laps)),
                     s->repeats);
}

static int measure(struct lab *lab, const struct question *q,
                   const struct setup *s, struct rate *rate, struct error *err)
{
    struct samples samples;
    char *const text = text_of(q, s);
    *rate = (struct rate){0};
    if (lab_probe(lab, &samples, &rate->experiment, err, "%s", text) == 0) {
        summarise(lab, q, &samples, rate);
        rate->even = is_even(&samples, s->blocks);
        samples_free(&samples);
    }
    free(text);
    return err->code;
}

static void rate_free(struct rate *rate)
{
    free(rate->experiment);
}

/* ---- the search -------------------------------------------------------- */

static uint64_t limit_of(const struct lab *lab, enum device_property property,
                         uint64_t otherwise)
{
    const int64_t told = lab->info->value[property];
    return told > 0 ? (uint64_t)told : otherwise;
}

/* True if an SM has room for so many threads, and the set for each of them. */
static bool fits(const struct lab *lab, const struct question *q,
                 const struct setup *s)
{
    const uint64_t threads = 32 * (uint64_t)s->warps * s->blocks;
    const uint64_t words = s->unroll * s->width / 4 * (q->arrays == 3 ? 2 : 1);
    if (s->unroll > UNROLL_MOST || s->blocks > BLOCKS_MOST ||
        s->warps > WARPS_MOST || s->width < 4 ||
        32 * s->warps > limit_of(lab, PROPERTY_BLOCK_THREADS, 1024) ||
        threads > limit_of(lab, PROPERTY_SM_THREADS, 1024) ||
        s->blocks > limit_of(lab, PROPERTY_SM_BLOCKS, 1) ||
        threads * (words + REGISTERS_ELSE) >
            limit_of(lab, PROPERTY_SM_REGISTERS, 65536))
        return false;
    if (q->shared && s->blocks * (set_bytes(q, s) + SHARED_ELSE) >
                         limit_of(lab, PROPERTY_SM_SHARED, 16384))
        return false;
    const uint64_t all = threads * limit_of(lab, PROPERTY_SMS, 1);
    return !q->of_gpu ||
           (q->alike ? all : 32 * (uint64_t)s->warps) * s->unroll * s->width <=
               q->bytes;
}

/* What may be changed, all that may give more. */
enum { MOVES = 5 };
/* clang-format off */
static const struct {
    unsigned unroll, warps, blocks, narrower;
} moves[MOVES] = {
    {2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 2, 1}, {2, 2, 1, 1}, {2, 1, 1, 2},
};
/* clang-format on */

/* Where there is no room for twice as many accesses, half as many more. */
static struct setup moved(const struct lab *lab, const struct question *q,
                          const struct setup *s, size_t i)
{
    struct setup to = *s;
    to.unroll *= moves[i].unroll;
    to.warps *= moves[i].warps;
    to.blocks *= moves[i].blocks;
    to.width /= moves[i].narrower;
    if (to.unroll > s->unroll && s->unroll % 2 == 0 && !fits(lab, q, &to))
        to.unroll = s->unroll / 2 * 3;
    return to;
}

/* Those that fit, compiled together; returns how many. */
static size_t prepare_moves(struct lab *lab, const struct question *q,
                            const struct setup *from, struct setup *to)
{
    char *texts[MOVES];
    size_t n = 0;
    for (size_t i = 0; i < MOVES; i++) {
        to[n] = moved(lab, q, from, i);
        if (fits(lab, q, &to[n]))
            n++;
    }
    for (size_t i = 0; i < n; i++)
        texts[i] = text_of(q, &to[i]);
    prober_prepare(lab->prober, (const char *const *)texts, n);
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    return n;
}

/* The best of all that are one move away, if there is one that gives more. */
static int step(struct lab *lab, const struct question *q, struct setup *best,
                double *value, bool *grew, size_t *tried, struct error *err)
{
    const struct setup from = *best;
    const double least = *value * (1 + growth_least);
    struct setup to[MOVES];
    const size_t n = prepare_moves(lab, q, &from, to);
    *grew = false;
    *tried = 0;
    for (size_t i = 0; i < n; i++) {
        struct rate rate;
        if (measure(lab, q, &to[i], &rate, err) != 0)
            return err->code;
        rate_free(&rate);
        *tried += to[i].width == from.width;
        if (!rate.even || rate.value <= fmax(*value, least))
            continue;
        *best = to[i];
        *value = rate.value;
        *grew = true;
    }
    return 0;
}

struct found {
    double value; /* 0: not measured */
    struct setup setup;
    bool saturated; /* more in flight was tried and gave nothing */
};

static void find_start(const struct lab *lab, const struct question *q,
                       struct setup *s)
{
    *s = (struct setup){.width = q->width,
                        .unroll = 2,
                        .warps = 8,
                        .blocks = 1,
                        .stride = 1,
                        .sms = q->of_gpu ? 0 : 1,
                        .repeats = REPEATS_SEARCH};
    while (s->unroll > 1 && !fits(lab, q, s))
        s->unroll /= 2;
    while (s->warps > 1 && !fits(lab, q, s))
        s->warps /= 2;
}

/* Bytes that so many accesses of warps move, 16 B a lane. */
static uint64_t bytes_of(const struct question *q, unsigned accesses)
{
    return (uint64_t)accesses * q->lanes * 16;
}

/* From what saturated something like it, or a few warps on. */
static int search(struct lab *lab, const struct question *q,
                  const struct setup *like, struct found *found,
                  struct error *err)
{
    struct rate rate;
    struct setup *const s = &found->setup;
    bool grew = true;
    size_t tried = 0;
    find_start(lab, q, s);
    if (like != NULL && like->width <= q->width &&
        like->unroll * like->warps > 1 && fits(lab, q, like)) {
        *s = *like;
        s->repeats = REPEATS_SEARCH;
        *(s->unroll > 1 ? &s->unroll : &s->warps) /= 2; /* leave room to grow */
    }
    s->moved = q->of_gpu ? q->moved : bytes_of(q, ACCESSES_SEARCH);
    if (measure(lab, q, s, &rate, err) != 0)
        return err->code;
    double value = rate.value;
    rate_free(&rate);
    double growth = INFINITY;
    while (grew) {
        const double before = value;
        if (step(lab, q, s, &value, &grew, &tried, err) != 0)
            return err->code;
        growth = grew ? value / before - 1 : growth;
    }
    found->saturated = tried > 0 || growth < growth_most;
    return 0;
}

/* Doubles what passes; false where it cannot grow. */
static bool lengthen(struct question *q, struct setup *s, uint64_t most)
{
    if (2 * s->moved > most || (q->grows && 2 * q->bytes * q->arrays > q->room))
        return false;
    s->moved *= 2;
    q->bytes *= q->grows ? 2 : 1;
    return true;
}

/* The same for longer, until that changes nothing. */
static int settle(struct lab *lab, struct question *q, struct setup *s,
                  struct rate *rate, struct error *err)
{
    double before = 0;
    const uint64_t most = GROWTH_MOST * s->moved;
    for (unsigned i = 0; q->grows && i < SETS_DOUBLED; i++)
        lengthen(q, s, most);
    while (q->of_gpu) {
        if (measure(lab, q, s, rate, err) != 0)
            return err->code;
        const double now = rate->value;
        rate_free(rate);
        if (fabs(now - before) < length_least * now || !lengthen(q, s, most))
            break;
        before = now;
    }
    if (!q->of_gpu)
        s->moved *= ACCESSES_FINAL / ACCESSES_SEARCH;
    s->repeats = REPEATS_FINAL;
    return measure(lab, q, s, rate, err);
}

/* ---- findings ---------------------------------------------------------- */

/* What the stated clock and width of memory come to, two transfers a cycle,
 * B/s; 0: not told. */
static double stated_peak(const struct lab *lab)
{
    const int64_t hz = lab->info->value[PROPERTY_MEMORY_CLOCK];
    const int64_t bits = lab->info->value[PROPERTY_MEMORY_BUS];
    return hz > 0 && bits > 0 ? 2.0 * (double)hz * (double)bits / 8 : 0;
}

static void say_setup(struct finding *f, const struct question *q,
                      const struct setup *s)
{
    finding_protocol(f, "access", value_text(q->words));
    finding_protocol(f, "width", value_number(s->width));
    finding_protocol(f, "in_flight", value_number(s->unroll));
    finding_protocol(f, "warps", value_number(s->warps));
    finding_protocol(f, "blocks", value_number(s->blocks));
    finding_protocol(f, "bytes", value_number((double)set_bytes(q, s)));
}

/* The clock that the kernel saw, and what was said of it. */
static void say_clock(struct finding *f, const struct rate *rate)
{
    const bool off = rate->told_hz > 0 && fabs(rate->clock_hz - rate->told_hz) >
                                              alike * rate->told_hz;
    finding_protocol(f, "timer", value_text(rate->timer));
    finding_protocol(f, "sm_clock", value_number(rate->clock_hz));
    if (rate->told_hz > 0)
        finding_protocol(f, "sm_clock_reported", value_number(rate->told_hz));
    finding_protocol(f, "clock",
                     value_text(rate->moved ? "moved during the run"
                                : off       ? "not the one reported"
                                            : "steady"));
}

static void say_memory(const struct lab *lab, struct finding *f,
                       const struct rate *rate)
{
    const double peak = stated_peak(lab);
    if (peak <= 0)
        return;
    finding_protocol(f, "stated_peak", value_number(peak));
    finding_protocol(f, "fraction", value_number(rate->value / peak));
}

static void report(struct lab *lab, const struct question *q,
                   const struct found *found, const struct rate *rate)
{
    struct finding *const f = lab_finding(lab, q->component, q->attribute);
    finding_evidence(f, rate->experiment);
    if (!rate->even) {
        finding_none(f, "blocks did not come to the SMs evenly");
        return;
    }
    finding_set(f, found->saturated ? STATUS_MEASURED : STATUS_AT_LEAST,
                value_number(rate->value), q->of_gpu ? "B/s" : "B/clk/SM");
    finding_interval(f, rate->low, rate->high, LAB_CONFIDENCE_PERCENT / 100.0);
    if (!found->saturated)
        finding_because(f, "no SM has room for more in flight");
    say_setup(f, q, &found->setup);
    say_clock(f, rate);
    if (q->of_gpu)
        finding_protocol(f, "by_launch", value_number(rate->by_event));
    if (q->grows)
        say_memory(lab, f, rate);
}

/* A GPU without such loads, or too little memory, is no failure. */
static int excuse(struct lab *lab, const struct question *q, struct error *err)
{
    if (!lab_excuses(err->code))
        return err->code;
    finding_none(lab_finding(lab, q->component, q->attribute), "%s", err->text);
    *err = (struct error){0};
    return 0;
}

/* Searches, measures and reports; *found->value is 0 if there is none. */
static int ask(struct lab *lab, struct question *q, const struct found *like,
               struct found *found, struct error *err)
{
    struct rate rate = {0};
    const struct setup *const near =
        like != NULL && like->value > 0 ? &like->setup : NULL;
    *found = (struct found){0};
    int status = search(lab, q, near, found, err);
    if (status == 0)
        status = settle(lab, q, &found->setup, &rate, err);
    if (status != 0) {
        rate_free(&rate);
        return excuse(lab, q, err);
    }
    report(lab, q, found, &rate);
    found->value = rate.even ? rate.value : 0;
    rate_free(&rate);
    return 0;
}

/* ---- lists ------------------------------------------------------------- */

/* Rates of experiments that differ in one thing. */
struct series {
    struct finding *finding;
    struct value values, names;
    const char *unit;
};

static struct series series_of(struct lab *lab, const struct question *q,
                               const char *attribute)
{
    return (struct series){
        .finding = lab_finding(lab, q->component, attribute),
        .values = value_list(),
        .names = value_list(),
        .unit = q->of_gpu ? "B/s" : "B/clk/SM",
    };
}

static int series_add(struct lab *lab, struct series *list,
                      const struct question *q, const struct setup *s,
                      struct value name, struct rate *rate, struct error *err)
{
    value_push(&list->names, name);
    if (measure(lab, q, s, rate, err) != 0)
        return err->code;
    value_push(&list->values, value_number(rate->value));
    finding_evidence(list->finding, rate->experiment);
    rate_free(rate);
    return 0;
}

static int series_end(struct series *list, const char *names,
                      const struct question *q, const struct setup *s,
                      struct error *err)
{
    if (err->code == 0) {
        finding_set(list->finding, STATUS_MEASURED, list->values, list->unit);
        finding_protocol(list->finding, names, list->names);
        say_setup(list->finding, q, s);
        return 0;
    }
    value_free(&list->values);
    value_free(&list->names);
    if (!lab_excuses(err->code))
        return err->code;
    finding_none(list->finding, "%s", err->text);
    *err = (struct error){0};
    return 0;
}

static void leave_list(struct lab *lab, const char *component,
                       const char *attribute)
{
    finding_none(lab_finding(lab, component, attribute),
                 "the bandwidth itself was not measured");
}

/* ---- in an SM ---------------------------------------------------------- */

static const struct question l1_read = {.component = "l1",
                                        .attribute = "read_bandwidth",
                                        .words = "cache=ca",
                                        .lanes = 32,
                                        .width = 16,
                                        .arrays = 1};

/* clang-format off */
static const struct question of_sm[] = {
    {.component = "readonly", .attribute = "read_bandwidth", .words = "space=readonly", .lanes = 32, .width = 16, .arrays = 1},
    {.component = "texture", .attribute = "read_bandwidth", .words = "space=texture", .lanes = 32, .width = 4, .arrays = 1},
    {.component = "const_l1", .attribute = "read_bandwidth", .words = "space=constant", .lanes = 1, .width = 16, .arrays = 1},
    {.component = "shared", .attribute = "read_bandwidth", .words = "space=shared", .lanes = 32, .width = 16, .arrays = 1, .shared = true},
    {.component = "shared", .attribute = "write_bandwidth", .words = "space=shared op=write", .lanes = 32, .width = 16, .arrays = 1, .shared = true},
};
/* clang-format on */

/* Which instruction takes what was read (van Stigt 2022, figure 3): words of a
 * lane, with what saturates them. */
static int ask_uses(struct lab *lab, struct found *by, struct error *err)
{
    static const char *const uses[] = {"add", "not", "mov"};
    struct series list = series_of(lab, &l1_read, "read_bandwidth_by_use");
    by->setup.width = 4;
    for (size_t i = 0; err->code == 0 && i < COUNT_OF(uses); i++) {
        char words[64];
        struct rate rate;
        struct question q = l1_read;
        const struct setup like = by->setup;
        snprintf(words, sizeof words, "%s use=%s", l1_read.words, uses[i]);
        q.words = words;
        q.width = 4;
        if (search(lab, &q, &like, by, err) != 0)
            break;
        by->setup.moved *= ACCESSES_FINAL / ACCESSES_SEARCH;
        series_add(lab, &list, &q, &by->setup, value_text(uses[i]), &rate, err);
    }
    return series_end(&list, "uses", &l1_read, &by->setup, err);
}

/* From the second on a lane's word has a sector of its own. */
enum { STRIDE_MOST = 128, STRIDE_SLOW = 8 };

static int ask_strides(struct lab *lab, const struct found *found,
                       struct error *err)
{
    struct series list = series_of(lab, &l1_read, "read_bandwidth_by_stride");
    struct setup s = found->setup;
    s.repeats = REPEATS_SEARCH;
    const uint64_t whole = s.moved;
    for (unsigned i = 1; err->code == 0 && i <= STRIDE_MOST; i *= 2) {
        struct rate rate;
        s.stride = i;
        s.moved = whole / (i < STRIDE_SLOW ? i : STRIDE_SLOW);
        series_add(lab, &list, &l1_read, &s, value_number(i), &rate, err);
    }
    s.stride = 1;
    return series_end(&list, "strides", &l1_read, &s, err);
}

static int ask_l1(struct lab *lab, bool cached, struct found *found,
                  struct error *err)
{
    struct question q = l1_read;
    *found = (struct found){0};
    if (!cached)
        finding_none(lab_finding(lab, q.component, q.attribute),
                     "ld.global.ca costs as much as ld.global.cg: L1 does not "
                     "cache global loads");
    else if (ask(lab, &q, NULL, found, err) != 0)
        return err->code;
    if (found->value <= 0) {
        leave_list(lab, "l1", "read_bandwidth_by_use");
        leave_list(lab, "l1", "read_bandwidth_by_stride");
        return 0;
    }
    struct found by = *found; /* words of 4 B, which the strides then have */
    if (ask_uses(lab, &by, err) != 0)
        return err->code;
    return ask_strides(lab, &by, err);
}

static int ask_sm(struct lab *lab, bool cached, struct error *err)
{
    struct found l1, found;
    if (ask_l1(lab, cached, &l1, err) != 0)
        return err->code;
    for (size_t i = 0; i < COUNT_OF(of_sm); i++) {
        struct question q = of_sm[i];
        if (ask(lab, &q, &l1, &found, err) != 0)
            return err->code;
    }
    return 0;
}

/* ---- the default operator ---------------------------------------------- */

static int cost_by(struct lab *lab, const char *op, struct finding *f,
                   double *cycles, struct error *err)
{
    struct cost cost;
    if (lab_chase(lab, &cost, err,
                  "chase op=%s bytes=1024 stride=32 warm=4 visits=64", op) != 0)
        return err->code;
    *cycles = cost.cycles;
    finding_protocol(f, op, value_number(cost.cycles));
    finding_evidence(f, cost.experiment);
    free(cost.experiment);
    return 0;
}

/* A tenth is far more than noise and far less than any cache saves. */
static bool is_near(double cycles, double to)
{
    return fabs(cycles - to) < 0.1 * to;
}

/* Which operator loads have that name none: it costs what that one does. */
static int ask_default(struct lab *lab, bool *cached, struct error *err)
{
    struct finding *const f = lab_finding(lab, "l1", "default_operator");
    double none, ca, cg;
    if (cost_by(lab, "default", f, &none, err) != 0 ||
        cost_by(lab, "ca", f, &ca, err) != 0 ||
        cost_by(lab, "cg", f, &cg, err) != 0)
        return err->code;
    *cached = ca < 0.9 * cg;
    const bool as_ca = is_near(none, ca);
    if (!*cached)
        finding_none(f, "loads cost the same with both operators");
    else if (as_ca == is_near(none, cg))
        finding_none(f, "loads without an operator cost what neither .ca nor "
                        ".cg costs");
    else
        finding_set(f, STATUS_MEASURED, value_text(as_ca ? "ca" : "cg"), "");
    return 0;
}

/* ---- memory ------------------------------------------------------------ */

struct memory {
    uint64_t l2, room; /* B; the latter of all arrays */
    struct found read, write;
};

static struct question of_memory(const struct memory *m, const char *attribute,
                                 const char *words, unsigned arrays)
{
    return (struct question){
        .component = "memory",
        .attribute = attribute,
        .words = words,
        .of_gpu = true,
        .grows = true,
        .lanes = 32,
        .width = 16,
        .arrays = arrays,
        .bytes = FEW_SETS * m->l2,
        .moved = FEW_SETS * m->l2 * arrays,
        .room = m->room,
    };
}

static int ask_scaling(struct lab *lab, const struct question *read,
                       const struct found *found, struct error *err)
{
    const unsigned all = (unsigned)limit_of(lab, PROPERTY_SMS, 1);
    struct series list = series_of(lab, read, "read_bandwidth_by_sms");
    struct setup s = found->setup;
    s.repeats = REPEATS_SEARCH;
    s.moved = read->bytes;
    for (unsigned n = 1; err->code == 0; n *= 2) {
        struct rate rate;
        s.sms = n < all ? n : all;
        series_add(lab, &list, read, &s, value_number(s.sms), &rate, err);
        if (s.sms == all)
            break;
    }
    return series_end(&list, "sms", read, &s, err);
}

/* "none" where the intervals meet, or hardly anything lies between. */
static struct value effect_of(const struct rate *rate, const struct rate *plain)
{
    char text[32];
    const double more = rate->value / plain->value - 1;
    const bool apart = rate->low > plain->high || rate->high < plain->low;
    if (!apart || fabs(more) < 2 * alike)
        return value_text("none");
    snprintf(text, sizeof text, "%+.1f %%", 100 * more);
    return value_text(text);
}

/* What reading gives with each operator, and what that changes. */
static int ask_operators(struct lab *lab, const struct question *read,
                         const struct found *found, struct error *err)
{
    static const char *const ops[] = {"default", "ca", "cg",         "cs",
                                      "lu",      "cv", "no_allocate"};
    struct series list = series_of(lab, read, "read_bandwidth_by_operator");
    struct value effects = value_list();
    struct rate plain = {0};
    struct setup s = found->setup;
    s.moved = read->bytes;
    s.repeats = REPEATS_SEARCH;
    for (size_t i = 0; err->code == 0 && i < COUNT_OF(ops); i++) {
        char words[64];
        struct rate rate;
        struct question q = *read;
        if (strcmp(ops[i], "no_allocate") == 0 && lab->info->cc_major < 7)
            break;
        snprintf(words, sizeof words, "share=gpu warm=0 cache=%s", ops[i]);
        q.words = words;
        if (series_add(lab, &list, &q, &s, value_text(ops[i]), &rate, err) != 0)
            break;
        if (i == 0)
            plain = rate;
        value_push(&effects, effect_of(&rate, &plain));
    }
    if (err->code == 0)
        finding_protocol(list.finding, "effects", effects);
    else
        value_free(&effects);
    return series_end(&list, "operators", read, &s, err);
}

static int ask_memory(struct lab *lab, struct memory *m, struct error *err)
{
    struct found found;
    struct question read =
        of_memory(m, "read_bandwidth", "share=gpu warm=0", 1);
    struct question write =
        of_memory(m, "write_bandwidth", "op=write share=queue warm=0", 1);
    struct question copy =
        of_memory(m, "copy_bandwidth", "op=copy share=queue warm=0", 2);
    struct question triad =
        of_memory(m, "triad_bandwidth", "op=triad share=queue warm=0", 3);
    if (ask(lab, &read, NULL, &m->read, err) != 0 ||
        ask(lab, &write, &m->read, &m->write, err) != 0 ||
        ask(lab, &copy, &m->read, &found, err) != 0 ||
        ask(lab, &triad, &m->read, &found, err) != 0)
        return err->code;
    if (m->read.value <= 0) {
        leave_list(lab, "memory", "read_bandwidth_by_sms");
        leave_list(lab, "memory", "read_bandwidth_by_operator");
        return 0;
    }
    if (ask_scaling(lab, &read, &m->read, err) != 0)
        return err->code;
    return ask_operators(lab, &read, &m->read, err);
}

/* ---- L2 ---------------------------------------------------------------- */

/* What is no faster than memory may have come from there; but then it came
 * through L2, so it is a bound. */
static void doubt_l2(struct lab *lab, const struct question *q,
                     const struct found *l2, const struct found *memory)
{
    if (l2->value <= 0 || l2->value > (1 + 5 * alike) * memory->value)
        return;
    struct finding *const f =
        results_edit(lab->results, q->component, q->attribute);
    f->status = STATUS_AT_LEAST;
    finding_because(f, "it is no faster than memory, so it may be memory that "
                       "was measured, through L2");
}

/* By shares: a queue in L2 would itself be what is timed (on an H200, 5.5 TB/s
 * instead of 8.4). */
static int ask_l2_by(struct lab *lab, const struct memory *m,
                     const char *attribute, const char *words, unsigned part,
                     const struct found *memory, struct error *err)
{
    struct found found;
    struct question q = {
        .component = "l2",
        .attribute = attribute,
        .words = words,
        .of_gpu = true,
        .alike = true,
        .lanes = 32,
        .width = 16,
        .arrays = 1,
        .bytes = m->l2 / part,
        .moved = FEW_SETS * m->l2,
    };
    if (ask(lab, &q, NULL, &found, err) != 0)
        return err->code;
    doubt_l2(lab, &q, &found, memory);
    return 0;
}

static int ask_l2(struct lab *lab, const struct memory *m, struct error *err)
{
    if (ask_l2_by(lab, m, "read_bandwidth", "cache=cg share=gpu", 16, &m->read,
                  err) != 0 ||
        ask_l2_by(lab, m, "read_bandwidth_half", "cache=cg share=gpu", 2,
                  &m->read, err) != 0)
        return err->code;
    return ask_l2_by(lab, m, "write_bandwidth", "op=write share=gpu", 16,
                     &m->write, err);
}

/* ---- the study --------------------------------------------------------- */

static int find_room(struct lab *lab, struct memory *m, struct error *err)
{
    struct samples samples;
    if (lab_probe(lab, &samples, NULL, err, "memory") != 0)
        return err->code;
    m->room =
        (uint64_t)samples_at(&samples, 0, samples_column(&samples, "free")) / 2;
    samples_free(&samples);
    return 0;
}

/* Without it nobody knows which set L2 holds, and which it does not. */
static void leave_shared(struct lab *lab)
{
    for (const char *const *id = gives; *id != NULL; id++)
        if (strncmp(*id, "memory.", 7) == 0 || strncmp(*id, "l2.", 3) == 0)
            finding_none(results_add(lab->results, *id, lab->study->name),
                         "the driver does not tell how large L2 is");
}

static int ask_shared(struct lab *lab, struct error *err)
{
    struct memory m = {.l2 = limit_of(lab, PROPERTY_L2_BYTES, 0)};
    if (m.l2 == 0) {
        leave_shared(lab);
        return 0;
    }
    if (find_room(lab, &m, err) != 0 || ask_memory(lab, &m, err) != 0)
        return err->code;
    return ask_l2(lab, &m, err);
}

static int run(struct lab *lab, struct error *err)
{
    bool cached = false;
    *err = (struct error){0};
    if (ask_default(lab, &cached, err) != 0 || ask_sm(lab, cached, err) != 0)
        return err->code;
    return ask_shared(lab, err);
}

const struct study study_bandwidth = {
    .name = "bandwidth",
    .question = "How many bytes pass in a time, from what and to what?",
    .method = "Many warps read, write or copy; what is in flight is doubled "
              "until nothing gives more.",
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .apart = true,
    .under_load = true,
    .run = run,
};
