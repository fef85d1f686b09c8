/* What is declared in bandwidth_search.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/stats.h"
#include "base/mem.h"
#include "probe/load/bulk.h"
#include "study/load/bandwidth_search.h"

/* Growth that is worth more warps. */
static const double growth_least = 0.01;
/* Longer runs that change less show that what begins and ends a run does not
 * count. */
static const double length_least = 0.005;
/* What is far from saturated grows by more when twice as much is in flight. */
static const double growth_most = 0.03;
/* Of cycles: with fewer tiles of a warp it matters where it is in one. */
enum { TILES_LEAST = 8 };
/* Of each of two sizes; and so many times the least is no long run yet. */
enum { REPEATS_PAIRS = 3, BRIEF = 4 };
/* A step of the timer is no larger part of what is timed by it. */
static const double step_most = 0.002;
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

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* What all readings of the timer lie apart by multiples of, ns; 0: it did not
 * go on.  Durations alone may be few and all the same. */
static double resolution_of(const struct samples *s)
{
    const struct table t = table_of(s);
    int64_t first = 0, step = 0;
    bool went = false;
    for (size_t i = 0; i < s->rows; i++) {
        const int64_t begun = samples_at(s, i, t.ns_begun);
        const int64_t ended = samples_at(s, i, t.ns_ended);
        if (ended == 0)
            continue; /* nobody noted the moment */
        first = first == 0 ? begun : first;
        went |= ended != begun;
        step = common_divisor(step, begun - first);
        step = common_divisor(step, ended - first);
    }
    return went ? fabs((double)step) : 0;
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
static void summarise_clock(const struct samples *s,
                            const struct repetition *list, size_t n,
                            struct bandwidth_rate *rate)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < n; i++) {
        least = fmin(least, list[i].hz);
        most = fmax(most, list[i].hz);
    }
    const double step = resolution_of(s);
    rate->fine = step > 0 && step <= step_most * list[n / 2].ns;
    rate->clock_hz = list[n / 2].hz;
    rate->told_hz = list[n / 2].told_hz;
    rate->moved = rate->fine && most - least > BANDWIDTH_ALIKE * most;
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
                       const struct samples *all, const struct repetition *list,
                       size_t n)
{
    const double rows = (double)all->rows / (double)n;
    const double tile = (double)warp_tile(q, s);
    return list[n / 2].bytes / (rows * tile * s->warps * s->blocks);
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

static void summarise(struct lab *lab, const struct bandwidth_question *q,
                      const struct bandwidth_setup *setup,
                      const struct samples *s, struct bandwidth_rate *rate)
{
    struct repetition *const list = xcalloc(s->rows, sizeof *list);
    const size_t n = repetitions_of(s, list);
    double *const values = xcalloc(n, sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = value_of(q, &list[i]);
    summarise_clock(s, list, n, rate);
    summarise_values(lab, values, n, rate);
    rate->tiles = tiles_of(q, setup, s, list, n);
    if (q->way == STREAM_CYCLES)
        by_second(rate);
    free(values);
    free(list);
}

/* B/s by what the longer launches have more, pair by pair. */
static void summarise_pairs(struct lab *lab, const struct samples *few,
                            const struct samples *many,
                            struct bandwidth_rate *rate)
{
    struct repetition *const shorter = xcalloc(few->rows, sizeof *shorter);
    struct repetition *const longer = xcalloc(many->rows, sizeof *longer);
    size_t n = repetitions_of(few, shorter);
    const size_t m = repetitions_of(many, longer);
    double *const values = xcalloc(n, sizeof *values);
    summarise_clock(many, longer, m, rate);
    n = n < m ? n : m;
    for (size_t i = 0; i < n; i++)
        values[i] = 1e9 * (longer[i].bytes - shorter[i].bytes) /
                    (longer[i].ns_event - shorter[i].ns_event);
    summarise_values(lab, values, n, rate);
    free(values);
    free(shorter);
    free(longer);
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

static char *bulk_text(const struct bandwidth_question *q,
                       const struct bandwidth_setup *s)
{
    return xasprintf("bulk %s bytes_each=%u depth=%u warps=%u blocks=%u sms=%u "
                     "repeats=%u bytes=%" PRIu64 " lead=%" PRIu64
                     " cycles=%" PRIu64,
                     q->words, s->width, s->unroll, s->warps, s->blocks, s->sms,
                     s->repeats, q->bytes, s->length / 2, s->length);
}

/* The experiment's text; the caller frees. */
static char *text_of(const struct bandwidth_question *q,
                     const struct bandwidth_setup *s)
{
    if (q->bulk)
        return bulk_text(q, s);
    char *const common = xasprintf(
        "stream %s width=%u unroll=%u warps=%u blocks=%u sms=%u stride=%u "
        "repeats=%u",
        q->words, s->width, s->unroll, s->warps, s->blocks, s->sms, s->stride,
        s->repeats);
    char *text;
    if (q->way == STREAM_LAPS)
        text = xasprintf("%s row=%u bytes=%" PRIu64 " laps=%.0f", common,
                         s->row, bandwidth_set_bytes(q, s), laps_of(q, s));
    else if (q->way == STREAM_CYCLES)
        text = xasprintf("%s share=gpu bytes=%" PRIu64 " lead=%" PRIu64
                         " cycles=%" PRIu64,
                         common, q->bytes, s->length / 2, s->length);
    else
        text = xasprintf("%s share=blocks warm=0 bytes=%" PRIu64, common,
                         s->length);
    free(common);
    return text;
}

static int probe_stream(struct lab *lab, const struct bandwidth_question *q,
                        const struct bandwidth_setup *s,
                        struct samples *samples, char **experiment,
                        struct error *err)
{
    char *const text = text_of(q, s);
    const int status = lab_probe_err(lab, samples, experiment, err, "%s", text);
    free(text);
    return status;
}

static int measure_one(struct lab *lab, const struct bandwidth_question *q,
                       const struct bandwidth_setup *s,
                       struct bandwidth_rate *rate, struct error *err)
{
    struct samples samples;
    bandwidth_free(rate);
    if (probe_stream(lab, q, s, &samples, &rate->experiment, err) != 0)
        return err->code;
    summarise(lab, q, s, &samples, rate);
    rate->even = q->way == STREAM_BLOCKS || is_even(&samples, s->blocks);
    samples_free(&samples);
    return 0;
}

int bandwidth_measure(struct lab *lab, const struct bandwidth_question *q,
                      const struct bandwidth_setup *s,
                      struct bandwidth_rate *rate, struct error *err)
{
    struct bandwidth_setup longer = *s;
    *rate = (struct bandwidth_rate){0};
    while (measure_one(lab, q, &longer, rate, err) == 0 &&
           q->way == STREAM_CYCLES && rate->tiles < TILES_LEAST &&
           longer.length < BANDWIDTH_CYCLES * GROWTH_CYCLES)
        longer.length *= 2;
    return err->code;
}

void bandwidth_free(struct bandwidth_rate *rate)
{
    free(rate->experiment);
    rate->experiment = NULL;
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

/* What may be changed, all that may give more, also where no more is in flight.
 * Blocks that the hardware hands out fill an SM as they are; bulk copies may be
 * larger instead of more. */
enum { MOVES = 6 };
struct move {
    unsigned unroll, fewer, warps, blocks, wider, narrower;
};
/* clang-format off */
static const struct move moves[MOVES] = {
    {2, 1, 1, 1, 1, 1}, {1, 1, 2, 1, 1, 1}, {1, 1, 1, 2, 1, 1}, {2, 1, 2, 1, 1, 1}, {2, 1, 1, 1, 1, 2}, {1, 2, 1, 2, 1, 1},
}, bulk_moves[MOVES] = {
    {2, 1, 1, 1, 1, 1}, {1, 1, 2, 1, 1, 1}, {1, 1, 1, 1, 2, 1}, {2, 1, 1, 1, 1, 2}, {1, 1, 2, 1, 1, 2}, {1, 2, 2, 1, 1, 1},
};
/* clang-format on */

/* Where there is no room for twice as many accesses, half as many more. */
static struct bandwidth_setup moved(const struct lab *lab,
                                    const struct bandwidth_question *q,
                                    const struct bandwidth_setup *s, size_t i)
{
    const struct move *const by = q->bulk ? &bulk_moves[i] : &moves[i];
    struct bandwidth_setup to = *s;
    to.unroll = to.unroll * by->unroll / by->fewer;
    to.warps *= by->warps;
    to.blocks *= by->blocks;
    to.width = to.width * by->wider / by->narrower;
    if (to.unroll > s->unroll && s->unroll % 2 == 0 && !fits(lab, q, &to))
        to.unroll = s->unroll / 2 * 3;
    return to;
}

static bool is_move(const struct bandwidth_question *q, size_t i)
{
    if (q->exact && moves[i].narrower > 1)
        return false;
    return q->way != STREAM_BLOCKS || moves[i].blocks * moves[i].narrower == 1;
}

/* Those that fit, compiled together; returns how many. */
static size_t prepare_moves(struct lab *lab, const struct bandwidth_question *q,
                            const struct bandwidth_setup *from,
                            struct bandwidth_setup *to)
{
    char *texts[MOVES];
    size_t n = 0;
    for (size_t i = 0; i < MOVES; i++) {
        to[n] = moved(lab, q, from, i);
        if (to[n].unroll > 0 && is_move(q, i) && fits(lab, q, &to[n]))
            n++;
    }
    for (size_t i = 0; i < n; i++)
        texts[i] = text_of(q, &to[i]);
    prober_prepare(lab->prober, (const char *const *)texts, n);
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    return n;
}

/* Bytes that an SM has in flight, but for a factor. */
static uint64_t in_flight(const struct bandwidth_setup *s)
{
    return (uint64_t)s->unroll * s->warps * s->blocks * s->width;
}

/* The best of all that are one move away, if there is one that gives more. */
static int step(struct lab *lab, const struct bandwidth_question *q,
                struct bandwidth_setup *best, double *score, bool *grew,
                size_t *tried, struct error *err)
{
    const struct bandwidth_setup from = *best;
    const double least = *score * (1 + growth_least);
    struct bandwidth_setup to[MOVES];
    const size_t n = prepare_moves(lab, q, &from, to);
    *grew = false;
    *tried = 0;
    for (size_t i = 0; i < n; i++) {
        struct bandwidth_rate rate;
        if (bandwidth_measure(lab, q, &to[i], &rate, err) != 0)
            return err->code;
        bandwidth_free(&rate);
        *tried += in_flight(&to[i]) > in_flight(&from);
        if (!rate.even || rate.score <= fmax(*score, least))
            continue;
        *best = to[i];
        *score = rate.score;
        *grew = true;
    }
    return 0;
}

/* Bytes that so many accesses of warps move, 16 B a lane. */
static uint64_t bytes_of(const struct bandwidth_question *q, unsigned accesses)
{
    return (uint64_t)accesses * q->lanes * 16;
}

static void find_start(const struct lab *lab,
                       const struct bandwidth_question *q,
                       struct bandwidth_setup *s)
{
    *s = (struct bandwidth_setup){.width = q->width,
                                  .unroll = q->way == STREAM_BLOCKS ? 1 : 2,
                                  .warps = q->bulk ? 2 : 8,
                                  .blocks = 1,
                                  .stride = 1,
                                  .row = BANDWIDTH_LANES,
                                  .sms = q->way == STREAM_LAPS ? 1 : q->sms};
    while (s->unroll > 1 && !fits(lab, q, s))
        s->unroll /= 2;
    while (s->warps > 1 && !fits(lab, q, s))
        s->warps /= 2;
    while (q->bulk && s->width > BULK_LEAST && !fits(lab, q, s))
        s->width /= 2;
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

/* From *s on, which becomes the best, one step after the other. */
static int climb(struct lab *lab, const struct bandwidth_question *q,
                 struct bandwidth_setup *s, bool *saturated, struct error *err)
{
    struct bandwidth_rate rate;
    bool grew = true;
    size_t tried = 0;
    s->repeats = BANDWIDTH_REPEATS;
    if (bandwidth_measure(lab, q, s, &rate, err) != 0)
        return err->code;
    double score = rate.score, growth = INFINITY;
    bandwidth_free(&rate);
    while (grew) {
        const double before = score;
        if (step(lab, q, s, &score, &grew, &tried, err) != 0)
            return err->code;
        growth = grew ? score / before - 1 : growth;
    }
    *saturated = tried > 0 || growth < growth_most;
    return 0;
}

/* From what saturated something like it, or a few warps on. */
int bandwidth_search(struct lab *lab, const struct bandwidth_question *q,
                     const struct bandwidth_setup *like,
                     struct bandwidth_found *found, struct error *err)
{
    struct bandwidth_setup *const s = &found->setup;
    find_start(lab, q, s);
    if (like != NULL && like->width <= q->width &&
        like->unroll * like->warps > 1 && fits(lab, q, like)) {
        *s = *like;
        *(s->unroll > 1 ? &s->unroll : &s->warps) /= 2; /* leave room to grow */
    }
    s->length = search_length(q);
    return climb(lab, q, s, &found->saturated, err);
}

/* True if what was measured no longer changes by more than chance. */
static bool is_settled(const struct bandwidth_rate *rate, double before)
{
    return rate->fine && fabs(rate->value - before) < length_least * before &&
           rate->high - rate->low < 2 * length_least * rate->value;
}

/* Longer, until that changes nothing and the timer's steps are small. */
static int lengthen_cycles(struct lab *lab, const struct bandwidth_question *q,
                           struct bandwidth_setup *s, struct error *err)
{
    struct bandwidth_rate rate;
    double before = 0;
    if (s->length < q->least / 2)
        s->length = q->least / 2;
    while (bandwidth_measure(lab, q, s, &rate, err) == 0) {
        const bool settled = is_settled(&rate, before);
        before = rate.value;
        bandwidth_free(&rate);
        if ((settled && s->length >= q->least) ||
            s->length >= BANDWIDTH_CYCLES * GROWTH_CYCLES)
            break;
        s->length *= 2;
    }
    return err->code;
}

/* True if arrays twice as long are not too long. */
static bool may_lengthen(const struct bandwidth_question *q,
                         const struct bandwidth_setup *s)
{
    return 2 * s->length <= BANDWIDTH_BLOCKS_MOST * q->bytes &&
           2 * s->length * q->arrays <= q->room;
}

/* What more than the least takes longer, until still more says the same. */
static int lengthen_blocks(struct lab *lab, const struct bandwidth_question *q,
                           struct bandwidth_setup *s,
                           struct bandwidth_rate *rate, struct error *err)
{
    struct samples few, many;
    double before = 0;
    s->repeats = REPEATS_PAIRS;
    s->length = q->bytes;
    if (probe_stream(lab, q, s, &few, &rate->experiment, err) != 0)
        return err->code;
    for (bool again = true; again;) {
        s->length *= 2;
        bandwidth_free(rate);
        if (probe_stream(lab, q, s, &many, &rate->experiment, err) != 0)
            break;
        summarise_pairs(lab, &few, &many, rate);
        samples_free(&many);
        again = !is_settled(rate, before) && may_lengthen(q, s);
        before = rate->value;
    }
    samples_free(&few);
    rate->even = true;
    return err->code;
}

/* Of that length alone. */
static int measure_pair(struct lab *lab, const struct bandwidth_question *q,
                        const struct bandwidth_setup *s,
                        struct bandwidth_rate *rate, struct error *err)
{
    struct samples few, many;
    struct bandwidth_setup least = *s;
    least.length = q->bytes;
    if (probe_stream(lab, q, &least, &few, NULL, err) != 0)
        return err->code;
    if (probe_stream(lab, q, s, &many, &rate->experiment, err) == 0) {
        summarise_pairs(lab, &few, &many, rate);
        samples_free(&many);
    }
    samples_free(&few);
    rate->even = true;
    return err->code;
}

/* Where it takes long runs to know a rate, what a search made of short ones
 * was chance; so it is made again. */
static int search_again(struct lab *lab, const struct bandwidth_question *q,
                        struct bandwidth_found *found, struct error *err)
{
    struct bandwidth_setup *const s = &found->setup;
    const uint64_t length = s->length;
    find_start(lab, q, s);
    s->length = length;
    return climb(lab, q, s, &found->saturated, err);
}

static int settle_cycles(struct lab *lab, const struct bandwidth_question *q,
                         struct bandwidth_found *found,
                         struct bandwidth_rate *rate, struct error *err)
{
    struct bandwidth_setup *const s = &found->setup;
    if (lengthen_cycles(lab, q, s, err) != 0 ||
        (s->length > BRIEF * BANDWIDTH_CYCLES && s->length > q->least &&
         search_again(lab, q, found, err) != 0))
        return err->code;
    s->repeats = BANDWIDTH_REPEATS_FINAL;
    return bandwidth_measure(lab, q, s, rate, err);
}

static int settle_blocks(struct lab *lab, const struct bandwidth_question *q,
                         struct bandwidth_found *found,
                         struct bandwidth_rate *rate, struct error *err)
{
    struct bandwidth_setup *const s = &found->setup;
    if (lengthen_blocks(lab, q, s, rate, err) != 0 ||
        s->length <= BRIEF * q->bytes)
        return err->code;
    bandwidth_free(rate);
    if (search_again(lab, q, found, err) != 0)
        return err->code;
    s->repeats = REPEATS_PAIRS;
    return measure_pair(lab, q, s, rate, err);
}

static int settle(struct lab *lab, const struct bandwidth_question *q,
                  struct bandwidth_found *found, struct bandwidth_rate *rate,
                  struct error *err)
{
    struct bandwidth_setup *const s = &found->setup;
    switch (q->way) {
    case STREAM_LAPS:
        s->length *= BANDWIDTH_LONGER;
        s->repeats = BANDWIDTH_REPEATS_FINAL;
        return bandwidth_measure(lab, q, s, rate, err);
    case STREAM_CYCLES:
        return settle_cycles(lab, q, found, rate, err);
    default:
        return settle_blocks(lab, q, found, rate, err);
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

/* Searches and measures; *rate is the caller's (rate_free). */
int bandwidth_find(struct lab *lab, const struct bandwidth_question *q,
                   const struct bandwidth_found *like,
                   struct bandwidth_found *found, struct bandwidth_rate *rate,
                   struct error *err)
{
    const struct bandwidth_setup *const near =
        like != NULL && like->value > 0 ? &like->setup : NULL;
    *found = (struct bandwidth_found){0};
    *rate = (struct bandwidth_rate){0};
    if (bandwidth_search(lab, q, near, found, err) != 0)
        return err->code;
    return settle(lab, q, found, rate, err);
}
