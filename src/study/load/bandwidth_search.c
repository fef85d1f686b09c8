/* What is declared in bandwidth_search.h. */
#include <inttypes.h>
#include <math.h>

#include "analysis/statistics/stats.h"
#include "analysis/timer.h"
#include "base/mem.h"
#include "base/num.h"
#include "probe/load/bulk.h"
#include "study/assume.h"
#include "study/load/bandwidth_search.h"

/* Of cycles: with fewer tiles of a warp it matters where it is in one. */
enum { TILES_LEAST = 8 };
/* Of each of two sizes; and so many times the least is no long run yet. */
enum { REPEATS_PAIRS = 3, BRIEF = 4 };
enum { UNROLL_MOST = 16, WARPS_MOST = 32, BLOCKS_MOST = 4 };
/* Registers of a thread besides what it loads. */
enum { REGISTERS_ELSE = 26 };
/* Shared memory that a block takes besides its set, B. */
enum { SHARED_ELSE = 2048 };
/* Accesses of an SM in a search. */
enum { ACCESSES_SEARCH = 2048 };
/* So much longer than in the search a run may be, at most. */
enum { GROWTH_CYCLES = 256 };

/* ---- one experiment ---------------------------------------------------- */

struct table {
    const struct samples *samples;
    size_t bytes, blocks, begun, ended, ns_begun, ns_ended, ns_event, rate, mhz;
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
        .rate = samples_column(s, "rate"),
        .mhz = samples_column(s, "mhz"),
    };
}

static double at(const struct table *t, size_t row, size_t column)
{
    return (double)samples_at(t->samples, row, column);
}

/* The difference of two readings, which are too large to be told apart as
 * doubles: the timer counts the nanoseconds since 1970. */
static double passed(const struct table *t, size_t row, size_t begun,
                     size_t ended)
{
    return (double)(samples_at(t->samples, row, ended) -
                    samples_at(t->samples, row, begun));
}

/* What one repetition, of rows [from, to), gave. */
struct repetition {
    double bytes, cycles; /* of all SMs; of the one that took longest */
    double rate;          /* B/clk of all SMs, where cycles are timed */
    double ns, ns_event;  /* of an SM; of the launch */
    double hz, told_hz;
};

static struct repetition repetition_of(const struct table *t, size_t from,
                                       size_t to)
{
    struct repetition r = {.ns_event = at(t, from, t->ns_event),
                           .told_hz = 1e6 * at(t, from, t->mhz)};
    double cycles = 0, ns = 0;
    for (size_t i = from; i < to; i++) {
        const double own = passed(t, i, t->begun, t->ended);
        r.bytes += at(t, i, t->bytes);
        r.rate += at(t, i, t->rate) / (1 << 20);
        r.cycles = fmax(r.cycles, own);
        cycles += own;
        ns += passed(t, i, t->ns_begun, t->ns_ended);
    }
    r.ns = ns / (double)(to - from);
    r.hz = ns > 0 ? 1e9 * cycles / ns : 0;
    return r;
}

struct repetitions {
    size_t count;
    struct repetition *at;
};

/* Rows of a repetition stand together. */
static struct repetitions repetitions_of(struct lab *lab,
                                         const struct samples *s)
{
    const struct table t = table_of(s);
    struct repetitions r = {.at = lab_alloc(lab, s->rows, sizeof *r.at)};
    for (size_t from = 0, to; from < s->rows; from = to) {
        to = from;
        while (to < s->rows && samples_at(s, to, 0) == samples_at(s, from, 0))
            to++;
        r.at[r.count++] = repetition_of(&t, from, to);
    }
    return r;
}

/* The timer's step, ns; 0: it did not go on while anything ran. */
static double resolution_of(struct lab *lab, const struct samples *s)
{
    const struct table t = table_of(s);
    int64_t *const readings = lab_alloc(lab, 2 * s->rows, sizeof *readings);
    size_t count = 0;
    bool went = false;
    for (size_t i = 0; i < s->rows; i++) {
        const int64_t begun = samples_at(s, i, t.ns_begun);
        const int64_t ended = samples_at(s, i, t.ns_ended);
        if (ended == 0)
            continue; /* nobody noted the moment */
        readings[count++] = begun;
        readings[count++] = ended;
        went |= ended != begun;
    }
    return went ? (double)timer_step(readings, count) : 0;
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

/* The clock: in the kernel, and as it was told. */
static void summarise_clock(struct lab *lab, const struct samples *s,
                            const struct repetitions *r,
                            struct bandwidth_rate *rate)
{
    const struct repetition *const middle = &r->at[r->count / 2];
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < r->count; i++) {
        least = fmin(least, r->at[i].hz);
        most = fmax(most, r->at[i].hz);
    }
    const double step = resolution_of(lab, s);
    rate->fine = step > 0 && step <= assume(ASSUME_TIMER_STEP) * middle->ns;
    rate->clock_hz = middle->hz;
    rate->told_hz = middle->told_hz;
    rate->moved = rate->fine && most - least > assume(ASSUME_ALIKE) * most;
}

static void summarise_values(struct lab *lab, const double *values, size_t n,
                             struct bandwidth_rate *rate)
{
    const struct stats_interval interval = lab_interval(lab, values, n);
    rate->score = stats_median(values, n);
    rate->value = rate->score;
    rate->low = interval.low;
    rate->high = interval.high;
}

/* B/clk become B/s by the clock that the kernel saw or, where the timer's
 * steps are too large for that, by the one that was told. */
static void by_second(struct bandwidth_rate *rate)
{
    const double hz = rate->fine ? rate->clock_hz : fmax(0, rate->told_hz);
    rate->value *= hz;
    rate->low *= hz;
    rate->high *= hz;
}

/* Bytes that a warp passes at a time. */
static uint64_t warp_tile(const struct bandwidth_question *q,
                          const struct bandwidth_setup *s)
{
    return q->bulk ? s->width
                   : (uint64_t)s->unroll * s->width * BANDWIDTH_LANES;
}

/* How many tiles each warp passed, on average. */
static double tiles_of(const struct bandwidth_question *q,
                       const struct bandwidth_setup *s,
                       const struct samples *all, const struct repetitions *r)
{
    const double rows = (double)all->rows / (double)r->count;
    const double tile = (double)warp_tile(q, s);
    return r->at[r->count / 2].bytes / (rows * tile * s->warps * s->blocks);
}

/* B/clk; of blocks B/s, with all that a launch takes beside. */
static double value_of(const struct bandwidth_question *q,
                       const struct repetition *r)
{
    switch (q->way) {
    case STREAM_LAPS:
        return r->bytes / r->cycles;
    case STREAM_CYCLES:
        return r->rate;
    default:
        return 1e9 * r->bytes / r->ns_event;
    }
}

static struct bandwidth_rate summarise(struct lab *lab,
                                       const struct bandwidth_question *q,
                                       const struct bandwidth_setup *setup,
                                       const struct samples *s)
{
    struct bandwidth_rate rate = {.experiment = s->experiment,
                                  .even = q->way == STREAM_BLOCKS ||
                                          is_even(s, setup->blocks)};
    const struct repetitions r = repetitions_of(lab, s);
    double *const values = lab_alloc(lab, r.count, sizeof *values);
    for (size_t i = 0; i < r.count; i++)
        values[i] = value_of(q, &r.at[i]);
    summarise_clock(lab, s, &r, &rate);
    summarise_values(lab, values, r.count, &rate);
    rate.tiles = tiles_of(q, setup, s, &r);
    if (q->way == STREAM_CYCLES)
        by_second(&rate);
    return rate;
}

/* B/s by what the longer launches have more, pair by pair. */
static struct bandwidth_rate summarise_pairs(struct lab *lab,
                                             const struct samples *few,
                                             const struct samples *many)
{
    struct bandwidth_rate rate = {.experiment = many->experiment, .even = true};
    if (!lab_ok(lab))
        return rate;
    const struct repetitions shorter = repetitions_of(lab, few);
    const struct repetitions longer = repetitions_of(lab, many);
    const size_t n = u64_min(shorter.count, longer.count);
    double *const values = lab_alloc(lab, n, sizeof *values);
    summarise_clock(lab, many, &longer, &rate);
    for (size_t i = 0; i < n; i++)
        values[i] = 1e9 * (longer.at[i].bytes - shorter.at[i].bytes) /
                    (longer.at[i].ns_event - shorter.at[i].ns_event);
    summarise_values(lab, values, n, &rate);
    return rate;
}

/* Bytes that a set needs at least: one tile of a block. */
uint64_t bandwidth_set_bytes(const struct bandwidth_question *q,
                             const struct bandwidth_setup *s)
{
    if (q->bytes > 0)
        return q->bytes;
    return (uint64_t)s->unroll * q->lanes * s->width;
}

/* Laps that move so much on the SM that works. */
static double laps_of(const struct bandwidth_question *q,
                      const struct bandwidth_setup *s)
{
    const double lap = (double)bandwidth_set_bytes(q, s) * (double)s->warps *
                       (double)s->blocks * BANDWIDTH_LANES / (double)s->row;
    return fmax(1, ceil((double)s->length / lap));
}

static const char *bulk_text(struct lab *lab,
                             const struct bandwidth_question *q,
                             const struct bandwidth_setup *s)
{
    return lab_text(lab,
                    "bulk %s bytes_each=%u depth=%u warps=%u blocks=%u sms=%u "
                    "repeats=%u bytes=%" PRIu64 " lead=%" PRIu64
                    " cycles=%" PRIu64,
                    q->words, s->width, s->unroll, s->warps, s->blocks, s->sms,
                    s->repeats, q->bytes, s->length / 2, s->length);
}

static const char *text_of(struct lab *lab, const struct bandwidth_question *q,
                           const struct bandwidth_setup *s)
{
    if (q->bulk)
        return bulk_text(lab, q, s);
    const char *const common = lab_text(
        lab,
        "stream %s width=%u unroll=%u warps=%u blocks=%u sms=%u stride=%u "
        "repeats=%u",
        q->words, s->width, s->unroll, s->warps, s->blocks, s->sms, s->stride,
        s->repeats);
    if (q->way == STREAM_LAPS)
        return lab_text(lab, "%s row=%u bytes=%" PRIu64 " laps=%.0f", common,
                        s->row, bandwidth_set_bytes(q, s), laps_of(q, s));
    if (q->way == STREAM_CYCLES)
        return lab_text(lab,
                        "%s share=gpu bytes=%" PRIu64 " lead=%" PRIu64
                        " cycles=%" PRIu64,
                        common, q->bytes, s->length / 2, s->length);
    return lab_text(lab, "%s share=blocks warm=0 bytes=%" PRIu64, common,
                    s->length);
}

static const struct samples *probe_stream(struct lab *lab,
                                          const struct bandwidth_question *q,
                                          const struct bandwidth_setup *s)
{
    return lab_probe(lab, "%s", text_of(lab, q, s));
}

static struct bandwidth_rate measure_once(struct lab *lab,
                                          const struct bandwidth_question *q,
                                          const struct bandwidth_setup *s)
{
    const struct samples *const samples = probe_stream(lab, q, s);
    return lab_ok(lab) ? summarise(lab, q, s, samples)
                       : (struct bandwidth_rate){0};
}

struct bandwidth_rate bandwidth_measure(struct lab *lab,
                                        const struct bandwidth_question *q,
                                        const struct bandwidth_setup *s)
{
    struct bandwidth_setup longer = *s;
    struct bandwidth_rate rate = measure_once(lab, q, &longer);
    while (lab_ok(lab) && q->way == STREAM_CYCLES && rate.tiles < TILES_LEAST &&
           longer.length < BANDWIDTH_CYCLES * GROWTH_CYCLES) {
        longer.length *= 2;
        rate = measure_once(lab, q, &longer);
    }
    return rate;
}

/* ---- the search -------------------------------------------------------- */

/* Threads of an SM have room, and the set for each of them. */
static bool fits_sm(const struct lab *lab, const struct bandwidth_question *q,
                    const struct bandwidth_setup *s)
{
    const unsigned blocks = q->way == STREAM_BLOCKS ? 1 : s->blocks;
    const uint64_t threads = 32 * (uint64_t)s->warps * blocks;
    const uint64_t each = s->width < 4 ? 1 : s->width / 4;
    const uint64_t words = s->unroll * each * (q->arrays == 3 ? 2 : 1);
    if (threads > device_told(lab->info, PROPERTY_SM_THREADS, 1024) ||
        blocks > device_told(lab->info, PROPERTY_SM_BLOCKS, 1) ||
        threads * (words + REGISTERS_ELSE) >
            device_told(lab->info, PROPERTY_SM_REGISTERS, 65536))
        return false;
    return !q->shared ||
           s->blocks * (bandwidth_set_bytes(q, s) + SHARED_ELSE) <=
               device_told(lab->info, PROPERTY_SM_SHARED, 16384);
}

/* The probe itself knows what an SM has room for. */
static bool fits_bulk(const struct lab *lab, const struct bandwidth_question *q,
                      const struct bandwidth_setup *s)
{
    struct error ignored;
    const struct bulk bulk = {.bytes_each = s->width,
                              .depth = s->unroll,
                              .warps = s->warps,
                              .blocks = s->blocks,
                              .sms = s->sms,
                              .bytes = q->bytes};
    return s->unroll <= BULK_DEPTH && s->width <= BULK_MOST &&
           bulk_room(&bulk, lab->info, &ignored) == 0;
}

static bool fits(const struct lab *lab, const struct bandwidth_question *q,
                 const struct bandwidth_setup *s)
{
    const uint64_t tile = 32 * (uint64_t)s->warps * s->unroll * s->width;
    if (q->bulk)
        return fits_bulk(lab, q, s);
    if (s->unroll > UNROLL_MOST || s->blocks > BLOCKS_MOST ||
        s->warps > WARPS_MOST || s->width < (q->exact ? 1 : 4) ||
        32 * s->warps > device_told(lab->info, PROPERTY_BLOCK_THREADS, 1024) ||
        !fits_sm(lab, q, s))
        return false;
    return q->way != STREAM_CYCLES ||
           tile * s->blocks * device_told(lab->info, PROPERTY_SMS, 1) <=
               q->bytes;
}

/* What may be changed, all that may give more, also where no more is in flight:
 * accesses in flight, warps, blocks, width.  Blocks that the hardware hands out
 * fill an SM as they are; bulk copies may be larger instead of more. */
static const struct grow_move moves[] = {
    {.times = {2}},
    {.times = {1, 2}},
    {.times = {1, 1, 2}},
    {.times = {2, 2}},
    {.times = {2}, .by = {1, 1, 1, 2}},
    {.times = {1, 1, 2}, .by = {2}},
};
static const struct grow_move bulk_moves[] = {
    {.times = {2}},
    {.times = {1, 2}},
    {.times = {1, 1, 1, 2}},
    {.times = {2}, .by = {1, 1, 1, 2}},
    {.times = {1, 2}, .by = {1, 1, 1, 2}},
    {.times = {1, 2}, .by = {2}},
};

struct ascent {
    struct lab *lab;
    const struct bandwidth_question *q;
    struct bandwidth_setup setup; /* all but its knobs */
    bool begun;
};

static struct bandwidth_setup setup_at(const struct ascent *a,
                                       const struct grow_setup *knobs)
{
    struct bandwidth_setup s = a->setup;
    s.knobs = *knobs;
    return s;
}

/* Where there is no room for twice as many accesses, half as many more. */
static bool ascent_fit(void *context, const struct grow_setup *from,
                       struct grow_setup *to)
{
    const struct ascent *const a = context;
    const struct bandwidth_setup s = setup_at(a, from);
    struct bandwidth_setup moved = setup_at(a, to);
    const bool narrower = moved.width < s.width;
    if (moved.unroll > s.unroll && s.unroll % 2 == 0 &&
        !fits(a->lab, a->q, &moved))
        moved.unroll = s.unroll / 2 * 3;
    *to = moved.knobs;
    if (moved.unroll == 0 || (narrower && a->q->exact) ||
        (a->q->way == STREAM_BLOCKS && (narrower || moved.blocks != s.blocks)))
        return false;
    return fits(a->lab, a->q, &moved);
}

/* Has the kernels compiled together. */
static void ascent_prepare(void *context, const struct grow_setup *list,
                           size_t count)
{
    const struct ascent *const a = context;
    const char *texts[GROW_MOVES_MOST];
    if (!lab_ok(a->lab))
        return;
    for (size_t i = 0; i < count; i++) {
        const struct bandwidth_setup s = setup_at(a, &list[i]);
        texts[i] = text_of(a->lab, a->q, &s);
    }
    prober_prepare(a->lab->prober, texts, count);
}

/* Of blocks that did not come evenly it tells nothing, but where it begins. */
static double ascent_gives(void *context, const struct grow_setup *knobs)
{
    struct ascent *const a = context;
    const struct bandwidth_setup s = setup_at(a, knobs);
    const struct bandwidth_rate rate = bandwidth_measure(a->lab, a->q, &s);
    const bool first = !a->begun;
    a->begun = true;
    return lab_ok(a->lab) && (first || rate.even) ? rate.score : -1;
}

/* Bytes that so many accesses of warps move, 16 B a lane. */
static uint64_t bytes_of(const struct bandwidth_question *q, unsigned accesses)
{
    return (uint64_t)accesses * q->lanes * 16;
}

static struct bandwidth_setup start_of(const struct lab *lab,
                                       const struct bandwidth_question *q)
{
    struct bandwidth_setup s = {.width = q->width,
                                .unroll = q->way == STREAM_BLOCKS ? 1 : 2,
                                .warps = q->bulk ? 2 : 8,
                                .blocks = 1,
                                .stride = 1,
                                .row = BANDWIDTH_LANES,
                                .sms = q->way == STREAM_LAPS ? 1 : q->sms};
    while (s.unroll > 1 && !fits(lab, q, &s))
        s.unroll /= 2;
    while (s.warps > 1 && !fits(lab, q, &s))
        s.warps /= 2;
    while (q->bulk && s.width > BULK_LEAST && !fits(lab, q, &s))
        s.width /= 2;
    return s;
}

static uint64_t search_length(const struct bandwidth_question *q)
{
    switch (q->way) {
    case STREAM_LAPS:
        return bytes_of(q, ACCESSES_SEARCH);
    case STREAM_CYCLES:
        return BANDWIDTH_CYCLES;
    default:
        return q->bytes;
    }
}

/* From found->setup on, which becomes the best, one step after the other. */
static void climb(struct lab *lab, const struct bandwidth_question *q,
                  struct bandwidth_found *found)
{
    found->setup.repeats = BANDWIDTH_REPEATS;
    struct ascent a = {.lab = lab, .q = q, .setup = found->setup};
    const struct grow_climb c = {.least = assume(ASSUME_ALIKE),
                                 .moves = q->bulk ? bulk_moves : moves,
                                 .count = COUNT_OF(moves),
                                 .context = &a,
                                 .fit = ascent_fit,
                                 .prepare = ascent_prepare,
                                 .gives = ascent_gives};
    const struct grow_top top = grow_climb(&c, &found->setup.knobs);
    found->setup.knobs = top.setup;
    found->saturated = top.tried > 0 || top.last < assume(ASSUME_GROWTH_FAR);
}

/* From what saturated something like it, or a few warps on. */
struct bandwidth_found bandwidth_search(struct lab *lab,
                                        const struct bandwidth_question *q,
                                        const struct bandwidth_setup *like)
{
    struct bandwidth_found found = {.setup = start_of(lab, q)};
    struct bandwidth_setup *const s = &found.setup;
    if (like != NULL && like->width <= q->width &&
        like->unroll * like->warps > 1 && fits(lab, q, like)) {
        *s = *like;
        *(s->unroll > 1 ? &s->unroll : &s->warps) /= 2; /* leave room to grow */
    }
    s->length = search_length(q);
    climb(lab, q, &found);
    return found;
}

/* True if what was measured no longer changes by more than chance. */
static bool is_settled(const struct bandwidth_rate *rate, double before)
{
    return rate->fine &&
           fabs(rate->value - before) < assume(ASSUME_LENGTH_ALIKE) * before &&
           rate->high - rate->low <
               2 * assume(ASSUME_LENGTH_ALIKE) * rate->value;
}

/* Longer, until that changes nothing and the timer's steps are small. */
static void lengthen_cycles(struct lab *lab, const struct bandwidth_question *q,
                            struct bandwidth_setup *s)
{
    double before = 0;
    s->length = u64_max(s->length, q->least / 2);
    for (;;) {
        const struct bandwidth_rate rate = bandwidth_measure(lab, q, s);
        if (!lab_ok(lab) ||
            (is_settled(&rate, before) && s->length >= q->least) ||
            s->length >= BANDWIDTH_CYCLES * GROWTH_CYCLES)
            return;
        before = rate.value;
        s->length *= 2;
    }
}

/* True if arrays twice as long are not too long. */
static bool may_lengthen(const struct bandwidth_question *q,
                         const struct bandwidth_setup *s)
{
    return 2 * s->length <= BANDWIDTH_BLOCKS_MOST * q->bytes &&
           2 * s->length * q->arrays <= q->room;
}

/* What more than the least takes longer, until still more says the same. */
static struct bandwidth_rate lengthen_blocks(struct lab *lab,
                                             const struct bandwidth_question *q,
                                             struct bandwidth_setup *s)
{
    struct bandwidth_rate rate;
    double before = 0;
    bool settled;
    s->repeats = REPEATS_PAIRS;
    s->length = q->bytes;
    const struct samples *const few = probe_stream(lab, q, s);
    do {
        s->length *= 2;
        rate = summarise_pairs(lab, few, probe_stream(lab, q, s));
        settled = is_settled(&rate, before);
        before = rate.value;
    } while (lab_ok(lab) && !settled && may_lengthen(q, s));
    return rate;
}

/* Of that length alone. */
static struct bandwidth_rate measure_pair(struct lab *lab,
                                          const struct bandwidth_question *q,
                                          const struct bandwidth_setup *s)
{
    struct bandwidth_setup least = *s;
    least.length = q->bytes;
    const struct samples *const few = probe_stream(lab, q, &least);
    return summarise_pairs(lab, few, probe_stream(lab, q, s));
}

/* Where it takes long runs to know a rate, what a search made of short ones
 * was chance; so it is made again. */
static void search_again(struct lab *lab, const struct bandwidth_question *q,
                         struct bandwidth_found *found)
{
    const uint64_t length = found->setup.length;
    found->setup = start_of(lab, q);
    found->setup.length = length;
    climb(lab, q, found);
}

static void settle_cycles(struct lab *lab, const struct bandwidth_question *q,
                          struct bandwidth_found *found)
{
    struct bandwidth_setup *const s = &found->setup;
    lengthen_cycles(lab, q, s);
    if (lab_ok(lab) && s->length > BRIEF * BANDWIDTH_CYCLES &&
        s->length > q->least)
        search_again(lab, q, found);
    s->repeats = BANDWIDTH_REPEATS_FINAL;
    found->rate = bandwidth_measure(lab, q, s);
}

static void settle_blocks(struct lab *lab, const struct bandwidth_question *q,
                          struct bandwidth_found *found)
{
    struct bandwidth_setup *const s = &found->setup;
    found->rate = lengthen_blocks(lab, q, s);
    if (!lab_ok(lab) || s->length <= BRIEF * q->bytes)
        return;
    search_again(lab, q, found);
    s->repeats = REPEATS_PAIRS;
    found->rate = measure_pair(lab, q, s);
}

static void settle(struct lab *lab, const struct bandwidth_question *q,
                   struct bandwidth_found *found)
{
    struct bandwidth_setup *const s = &found->setup;
    switch (q->way) {
    case STREAM_LAPS:
        s->length *= BANDWIDTH_LONGER;
        s->repeats = BANDWIDTH_REPEATS_FINAL;
        found->rate = bandwidth_measure(lab, q, s);
        break;
    case STREAM_CYCLES:
        settle_cycles(lab, q, found);
        break;
    default:
        settle_blocks(lab, q, found);
    }
}

struct bandwidth_setup bandwidth_with_width(const struct lab *lab,
                                            const struct bandwidth_question *q,
                                            const struct bandwidth_setup *s,
                                            unsigned width)
{
    struct bandwidth_setup to = *s;
    to.width = width;
    if (width < s->width) {
        to.unroll = UNROLL_MOST;
        to.warps = WARPS_MOST;
        to.blocks = 2;
    } else if (width > s->width) {
        const unsigned unroll = s->unroll * s->width / width;
        to.unroll = unroll < 1 ? 1 : unroll;
    }
    while (to.blocks > 1 && !fits(lab, q, &to))
        to.blocks /= 2;
    while (to.unroll > 1 && !fits(lab, q, &to))
        to.unroll /= 2;
    while (to.warps > 1 && !fits(lab, q, &to))
        to.warps /= 2;
    return to;
}

struct bandwidth_found bandwidth_find(struct lab *lab,
                                      const struct bandwidth_question *q,
                                      const struct bandwidth_found *like)
{
    struct bandwidth_found found = bandwidth_search(
        lab, q, like != NULL && like->value > 0 ? &like->setup : NULL);
    if (lab_ok(lab))
        settle(lab, q, &found);
    return found;
}
