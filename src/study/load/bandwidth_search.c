/* What is declared in bandwidth_search.h. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "analysis/statistics/undisturbed.h"
#include "analysis/timer.h"
#include "base/mem.h"
#include "base/num.h"
#include "probe/load/bulk.h"
#include "study/assume.h"
#include "study/load/bandwidth_search.h"

/* Of cycles: with fewer tiles of a warp it matters where it is in one.  In an
 * SM others go on for half as long when a warp's time is over: long enough if
 * that is more than one look at the clock and the next are apart; and with half
 * as many looks rates are 3 % too high, as much as tells whether more would
 * give more. */
enum { TILES_LEAST = 8, LOOKS_LEAST = 8 };
/* Of each of two sizes; and so many times the least is no long run yet. */
enum { REPEATS_PAIRS = 5, BRIEF = 4 };
enum { UNROLL_MOST = 16, WARPS_MOST = 32, BLOCKS_MOST = 4 };
/* B of a lane's access that a search comes down to: a bank's word. */
enum { NARROWEST = 4 };
/* Registers of a thread besides what it loads. */
enum { REGISTERS_ELSE = 26 };
/* Shared memory that a block takes besides its set, B. */
enum { SHARED_ELSE = 2048 };
/* In an SM: accesses of a warp between two looks at the clock, of which each
 * takes as long as a few of them. */
enum { ACCESSES_LOOK = 16 };
/* Percent by which repetitions of which an interval is made are longer by
 * chance: some tiles.  Those of a search are not, or chance would choose. */
enum { DITHER = 12 };
/* Where a question is brief: on all SMs runs begin with so many cycles, some
 * times what a load takes, and each of thousands of warps passes so many tiles
 * at least, as long as runs are no longer than so many cycles.  Repetitions of
 * a number, whose interval they make. */
enum { BRIEF_CYCLES = 4096, BRIEF_TILES = 4, BRIEF_MOST = 65536 };
/* What begins and ends with a run counts in short ones (H200's L2: 9.25 TB/s in
 * 4096 cycles, 9.37 to 9.45 in four times as many and more). */
enum { BRIEF_LONGER = 4 };
enum { REPEATS_BRIEF = 5 };
/* B that an SM then has in flight, at most: some times what latency times
 * bandwidth is on any GPU (H200: 12 KB of memory, 10 KB of L2, 4 KB of L1). */
enum { BRIEF_FLIGHT = 131072 };
/* So much longer than in the search a run may be, at most. */
enum { GROWTH_CYCLES = 256 };

/* ---- one experiment ---------------------------------------------------- */

static double cell(const struct samples *s, size_t row, const char *column)
{
    return (double)samples_at(s, row, samples_column(s, column));
}

/* The difference of two readings, which are too large to be told apart as
 * doubles: the timer counts the nanoseconds since 1970. */
static double passed(const struct samples *s, size_t row, const char *begun,
                     const char *ended)
{
    return (double)(samples_at(s, row, samples_column(s, ended)) -
                    samples_at(s, row, samples_column(s, begun)));
}

/* What one repetition, of rows [from, to), gave. */
struct repetition {
    double bytes;        /* of all SMs */
    double rate;         /* B/clk of all SMs, where cycles are timed */
    double apart;        /* share of a warp's time by which an SM's differ */
    double ns, ns_event; /* of an SM; of the launch */
    double hz, told_hz;
};

static struct repetition repetition_of(const struct samples *s, size_t from,
                                       size_t to)
{
    struct repetition r = {.ns_event = cell(s, from, "ns_event"),
                           .told_hz = 1e6 * cell(s, from, "mhz")};
    double cycles = 0, ns = 0;
    for (size_t i = from; i < to; i++) {
        const double bytes = cell(s, i, "bytes");
        const double rate = cell(s, i, "rate") / (1 << 20);
        const double span = passed(s, i, "begun", "ended");
        r.bytes += bytes;
        r.rate += rate;
        r.apart = fmax(r.apart, span * rate / bytes - 1);
        cycles += span;
        ns += passed(s, i, "ns_begun", "ns_ended");
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
    struct repetitions r = {.at = lab_alloc(lab, s->rows, sizeof *r.at)};
    for (size_t from = 0, to; from < s->rows; from = to) {
        to = from;
        while (to < s->rows && samples_at(s, to, 0) == samples_at(s, from, 0))
            to++;
        r.at[r.count++] = repetition_of(s, from, to);
    }
    return r;
}

/* The timer's step, ns; 0: it did not go on while anything ran. */
static double resolution_of(struct lab *lab, const struct samples *s)
{
    const size_t columns[] = {samples_column(s, "ns_begun"),
                              samples_column(s, "ns_ended")};
    int64_t *const readings = lab_alloc(lab, 2 * s->rows, sizeof *readings);
    size_t count = 0;
    bool went = false;
    for (size_t i = 0; i < s->rows; i++) {
        if (samples_at(s, i, columns[1]) == 0)
            continue; /* nobody noted the moment */
        for (size_t k = 0; k < 2; k++)
            readings[count++] = samples_at(s, i, columns[k]);
        went |= readings[count - 1] != readings[count - 2];
    }
    return went ? (double)timer_step(readings, count) : 0;
}

/* Blocks that shared an SM with others than they should are another load. */
static bool is_even(const struct samples *s, unsigned blocks)
{
    for (size_t i = 0; i < s->rows; i++)
        if (cell(s, i, "blocks") != blocks)
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
    /* Either reading lags by less than a step, so they differ by less than one
     * more or less; what is told is whole MHz. */
    rate->clock_off = rate->fine           ? step / middle->ns
                      : rate->told_hz >= 1 ? 1e6 / rate->told_hz
                                           : 0;
}

/* Steps of so much of what a rate is off by are no chance, and no confidence
 * comes of them. */
static const double steps_most = 0.2;

/* What passes in a time, given the times that so much of it took, undisturbed;
 * `off` is the share by which all of them may be off.  Where that is little it
 * is one error of two that know nothing of each other: their sum would
 * hold 98.6 % of what is to be 95. */
static void rate_by_time(struct bandwidth_rate *rate, double bytes,
                         const struct undisturbed *time, double off)
{
    const double low = bytes / time->high,
                 high = time->low > 0 ? bytes / time->low : INFINITY;
    rate->value = bytes / time->cycles;
    rate->low = low * (1 - off);
    rate->high = high * (1 + off);
    rate->disturbed = time->excess / time->cycles;
    const double all = off * rate->value;
    rate->stepped = 2 * all > steps_most * (rate->high - rate->low);
    if (rate->stepped)
        return;
    rate->low = rate->value - hypot(rate->value - low, all);
    rate->high = rate->value + hypot(high - rate->value, all);
}

/* Bytes that a set needs at least: one tile of a block. */
uint64_t bandwidth_set_bytes(const struct bandwidth_question *q,
                             const struct bandwidth_setup *s)
{
    if (q->bytes > 0)
        return q->bytes;
    return (uint64_t)s->unroll * q->lanes * s->width;
}

/* In an SM: tiles of a lap, and laps between two looks at the clock. */
static uint64_t turns_of(const struct bandwidth_question *q,
                         const struct bandwidth_setup *s)
{
    const unsigned row = q->lanes < s->row ? q->lanes : s->row;
    return u64_max(
        bandwidth_set_bytes(q, s) / ((uint64_t)s->unroll * row * s->width), 1);
}

static uint64_t laps_of(const struct bandwidth_question *q,
                        const struct bandwidth_setup *s)
{
    return u64_max(ACCESSES_LOOK / (s->unroll * turns_of(q, s)), 1);
}

/* Bytes that a warp passes between two looks at the clock. */
static uint64_t warp_tile(const struct bandwidth_question *q,
                          const struct bandwidth_setup *s)
{
    if (q->bulk)
        return s->width;
    const uint64_t tile = (uint64_t)s->unroll * s->width * q->lanes;
    return q->way == STREAM_SM ? tile * turns_of(q, s) * laps_of(q, s) : tile;
}

/* Where cycles are timed, each warp's time begins and ends with a tile, and it
 * is not known how far the others were in theirs: its rate is off by a tile
 * more or less (of two moments in a tile: standard deviation 1/√6 of one), all
 * together by that over √warps; twice that is 95 %. */
static double rounding_of(const struct bandwidth_question *q,
                          const struct bandwidth_setup *s,
                          const struct bandwidth_rate *rate, double warps)
{
    const uint64_t looks =
        q->way == STREAM_SM ? turns_of(q, s) * laps_of(q, s) : 1;
    return 2 / sqrt(6) / (rate->tiles * (double)looks) / sqrt(warps);
}

/* What readings of the timer are off by is chance in each repetition; a clock
 * that was told in whole MHz is off by the same in all.  So is when in a run of
 * so many cycles the clock is read, at either end by a cycle. */
static double clock_off(const struct bandwidth_question *q,
                        const struct bandwidth_setup *s,
                        const struct bandwidth_rate *rate)
{
    const double reads = 2 / (double)s->length;
    return q->way == STREAM_SM || rate->fine ? reads : rate->clock_off + reads;
}

/* Others work on for half as long as a warp is timed: one that was held up for
 * longer was timed when it was alone. */
static const double apart_most = 0.5;

/* A warp's time ends with the first look at the clock after so many cycles
 * (with what dithers them, at most): by a tile later, or by two where one of
 * these is late.  What is later still waited for another's time slice, of
 * microseconds, which the guard tells only where it is far longer. */
static bool took_slice(const struct bandwidth_question *q,
                       const struct bandwidth_setup *s,
                       const struct repetition *r, double warps)
{
    const double time = r->bytes / r->rate;
    const double tiles = r->bytes / ((double)warp_tile(q, s) * warps);
    return time > (1 + DITHER / 100.0) * (double)s->length + 2 * time / tiles;
}

/* B/clk of the repetitions that count, and times of a byte: cycles in an SM, s
 * on the GPU.  Returns how many. */
static size_t rates_of(const struct bandwidth_question *q,
                       const struct bandwidth_setup *s,
                       const struct repetitions *r, double warps,
                       struct bandwidth_rate *rate, double *rates,
                       double *times)
{
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++) {
        const double hz = q->way == STREAM_SM ? 1
                          : rate->fine        ? r->at[i].hz
                          : q->hz > 0         ? q->hz
                                              : fmax(0, rate->told_hz);
        const bool late = took_slice(q, s, &r->at[i], warps);
        rate->late += late;
        if (late || r->at[i].apart > apart_most)
            continue;
        rates[count] = r->at[i].rate;
        times[count] = 1 / (rates[count] * hz);
        rate->sure = fmax(rate->sure, rates[count] * hz / (1 + r->at[i].apart));
        count++;
    }
    return count;
}

static void summarise_cycles(const struct bandwidth_question *q,
                             const struct bandwidth_setup *s,
                             const struct repetitions *r, double rows,
                             struct bandwidth_rate *rate)
{
    double *const times = lab_alloc(q->lab, r->count, sizeof *times);
    double *const rates = lab_alloc(q->lab, r->count, sizeof *rates);
    const double warps = s->warps * s->blocks * rows;
    const size_t count = rates_of(q, s, r, warps, rate, rates, times);
    rate->held = count == 0;
    rate->tiles = r->at[r->count / 2].bytes / ((double)warp_tile(q, s) * warps);
    rate->spread = 1;
    if (rate->held)
        return;
    rate->score = stats_median(rates, count);
    rate->most = stats_max(rates, count);
    rate->spread = 1 - stats_min(rates, count) / stats_max(rates, count);
    rate->fastest = 1 / stats_min(times, count);
    const double tile = rounding_of(q, s, rate, warps);
    const struct undisturbed time =
        undisturbed_of(times, count, tile * stats_median(times, count));
    /* Where in a tile they begin and end differs from one repetition to the
     * next (resident_grid_dither), and their scatter tells what that does; but
     * of bulk copies. */
    if (isfinite(time.cycles))
        rate_by_time(rate, 1, &time,
                     (q->bulk ? tile : 0) + clock_off(q, s, rate));
}

/* Launches with all that they take beside. */
static void summarise_blocks(struct lab *lab, const struct repetitions *r,
                             struct bandwidth_rate *rate)
{
    double *const rates = lab_alloc(lab, r->count, sizeof *rates);
    for (size_t i = 0; i < r->count; i++)
        rates[i] = 1e9 * r->at[i].bytes / r->at[i].ns_event;
    rate->score = stats_median(rates, r->count);
    rate->most = rate->score;
}

static struct bandwidth_rate summarise(const struct bandwidth_question *q,
                                       const struct bandwidth_setup *setup,
                                       const struct samples *s)
{
    struct bandwidth_rate rate = {.experiment = s->experiment,
                                  .even = q->way == STREAM_BLOCKS ||
                                          is_even(s, setup->blocks)};
    const struct repetitions r = repetitions_of(q->lab, s);
    summarise_clock(q->lab, s, &r, &rate);
    if (q->way == STREAM_BLOCKS)
        summarise_blocks(q->lab, &r, &rate);
    else
        summarise_cycles(q, setup, &r, (double)(s->rows / r.count), &rate);
    return rate;
}

/* What launches took, ns, undisturbed. */
static struct undisturbed launch_of(struct lab *lab,
                                    const struct repetitions *r, double step)
{
    double *const ns = lab_alloc(lab, r->count, sizeof *ns);
    for (size_t i = 0; i < r->count; i++)
        ns[i] = r->at[i].ns_event;
    return undisturbed_of(ns, r->count, step);
}

/* B/s by what the longer launches have more.  `before` is what runs half as
 * long gave, 0: none did; by how much these differ, longer ones may still. */
static struct bandwidth_rate summarise_pairs(const struct bandwidth_question *q,
                                             const struct bandwidth_setup *s,
                                             const struct samples *few,
                                             const struct samples *many,
                                             double before)
{
    struct bandwidth_rate rate = {.experiment = many->experiment, .even = true};
    if (!lab_ok(q->lab))
        return rate;
    const struct repetitions shorter = repetitions_of(q->lab, few);
    const struct repetitions longer = repetitions_of(q->lab, many);
    const struct column readings = lab_column_of(q->lab, many, "ns_event");
    int64_t *const ns = lab_alloc(q->lab, readings.count, sizeof *ns);
    for (size_t i = 0; i < readings.count; i++)
        ns[i] = (int64_t)readings.at[i];
    const double step = fmax((double)timer_step(ns, readings.count), 1);
    const struct undisturbed a = launch_of(q->lab, &longer, step);
    const struct undisturbed b = launch_of(q->lab, &shorter, step);
    const struct undisturbed more = undisturbed_less(&a, &b);
    const double bytes = longer.at[0].bytes - shorter.at[0].bytes;
    summarise_clock(q->lab, many, &longer, &rate);
    /* Of a block more or less it does not matter when it comes. */
    const double tile = (double)warp_tile(q, s) * s->warps * q->arrays;
    rate_by_time(&rate, 1e9 * bytes, &more, step / more.cycles + tile / bytes);
    rate.score = rate.value;
    rate.spread = (rate.high - rate.low) / rate.value;
    if (before > 0) {
        rate.low -= fabs(rate.value - before);
        rate.high += fabs(rate.value - before);
    }
    return rate;
}

static const char *bulk_text(const struct bandwidth_question *q,
                             const struct bandwidth_setup *s)
{
    return lab_text(q->lab,
                    "bulk %s bytes_each=%u depth=%u warps=%u blocks=%u sms=%u "
                    "repeats=%u bytes=%" PRIu64 " lead=%" PRIu64
                    " cycles=%" PRIu64,
                    q->words, s->width, s->unroll, s->warps, s->blocks, s->sms,
                    s->repeats, q->bytes, s->length / 2, s->length);
}

/* True if an interval is made of the repetitions. */
static bool is_number(const struct bandwidth_setup *s)
{
    return s->repeats == BANDWIDTH_REPEATS_FINAL || s->repeats == REPEATS_BRIEF;
}

static const char *text_of(const struct bandwidth_question *q,
                           const struct bandwidth_setup *s)
{
    if (q->bulk)
        return bulk_text(q, s);
    const char *const common = lab_text(
        q->lab,
        "stream %s width=%u unroll=%u warps=%u blocks=%u sms=%u stride=%u "
        "repeats=%u",
        q->words, s->width, s->unroll, s->warps, s->blocks, s->sms, s->stride,
        s->repeats);
    if (q->way == STREAM_BLOCKS)
        return lab_text(q->lab, "%s share=blocks warm=0 bytes=%" PRIu64, common,
                        s->length);
    const char *const timed = lab_text(q->lab,
                                       "%s bytes=%" PRIu64 " lead=%" PRIu64
                                       " cycles=%" PRIu64 " dither=%d",
                                       common, bandwidth_set_bytes(q, s),
                                       s->lead > 0 ? s->lead : s->length / 2,
                                       s->length, is_number(s) ? DITHER : 0);
    return q->way == STREAM_GPU
               ? lab_text(q->lab, "%s share=gpu", timed)
               : lab_text(q->lab, "%s share=sm row=%u laps=%" PRIu64, timed,
                          s->row, laps_of(q, s));
}

static const struct samples *probe_stream(const struct bandwidth_question *q,
                                          const struct bandwidth_setup *s)
{
    return lab_probe(q->lab, "%s", text_of(q, s));
}

/* True if each warp passed enough.  On all SMs short runs of much in flight may
 * be over for some warps before others begin: longer ones are not. */
static bool is_enough(const struct bandwidth_question *q,
                      const struct bandwidth_rate *rate)
{
    if (q->way == STREAM_BLOCKS)
        return true;
    if (q->way == STREAM_SM)
        return rate->tiles >= LOOKS_LEAST;
    return q->brief ? rate->tiles >= BRIEF_TILES && !rate->held
                    : rate->tiles >= TILES_LEAST;
}

/* In so long a run that each warp passes enough: s->length, or more. */
static struct bandwidth_rate measure_enough(const struct bandwidth_question *q,
                                            struct bandwidth_setup *s)
{
    const uint64_t most =
        q->brief ? BRIEF_MOST : BANDWIDTH_CYCLES * GROWTH_CYCLES;
    for (;; s->length *= 2) {
        const struct samples *const samples = probe_stream(q, s);
        if (!lab_ok(q->lab))
            return (struct bandwidth_rate){0};
        const struct bandwidth_rate rate = summarise(q, s, samples);
        if (is_enough(q, &rate) || s->length >= most)
            return rate;
    }
}

struct bandwidth_rate bandwidth_measure(const struct bandwidth_question *q,
                                        const struct bandwidth_setup *s)
{
    struct bandwidth_setup longer = *s;
    return measure_enough(q, &longer);
}

/* ---- the search -------------------------------------------------------- */

/* Threads of an SM have room, and the set for each of them. */
static bool fits_sm(const struct bandwidth_question *q,
                    const struct bandwidth_setup *s)
{
    const unsigned blocks = q->way == STREAM_BLOCKS ? 1 : s->blocks;
    const uint64_t threads = 32 * (uint64_t)s->warps * blocks;
    const uint64_t each = s->width < 4 ? 1 : s->width / 4;
    const uint64_t words = s->unroll * each * (q->arrays == 3 ? 2 : 1);
    if (threads > device_told(q->lab->info, PROPERTY_SM_THREADS, 1024) ||
        blocks > device_told(q->lab->info, PROPERTY_SM_BLOCKS, 1) ||
        threads * (words + REGISTERS_ELSE) >
            device_told(q->lab->info, PROPERTY_SM_REGISTERS, 65536))
        return false;
    return !q->shared ||
           s->blocks * (bandwidth_set_bytes(q, s) + SHARED_ELSE) <=
               device_told(q->lab->info, PROPERTY_SM_SHARED, 16384);
}

/* The probe itself knows what an SM has room for. */
static bool fits_bulk(const struct bandwidth_question *q,
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
           bulk_room(&bulk, q->lab->info, &ignored) == 0;
}

/* Bytes, on all SMs. */
static uint64_t in_flight(const struct bandwidth_question *q,
                          const struct bandwidth_setup *s)
{
    const uint64_t tile = 32 * (uint64_t)s->warps * s->unroll * s->width;
    return tile * s->blocks * device_told(q->lab->info, PROPERTY_SMS, 1);
}

static bool fits_brief(const struct bandwidth_setup *s)
{
    return 32 * s->unroll * s->warps * s->blocks * s->width <= BRIEF_FLIGHT;
}

static bool fits(const struct bandwidth_question *q,
                 const struct bandwidth_setup *s)
{
    if (q->bulk)
        return fits_bulk(q, s);
    if (s->unroll > UNROLL_MOST || s->blocks > BLOCKS_MOST ||
        s->warps > WARPS_MOST || s->width < (q->exact ? 1 : NARROWEST) ||
        32 * s->warps >
            device_told(q->lab->info, PROPERTY_BLOCK_THREADS, 1024) ||
        !fits_sm(q, s))
        return false;
    if (q->brief && !fits_brief(s))
        return false;
    return q->way != STREAM_GPU || in_flight(q, s) <= q->bytes;
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
/* Where a question is brief: more in flight (move_up); and in an SM, where that
 * costs little, narrower accesses, which banks may conflict less for. */
static const struct grow_move brief_moves[] = {
    {.times = {2}},
    {.times = {2}, .by = {1, 1, 1, 2}},
};
static const struct grow_move bulk_moves[] = {
    {.times = {2}},
    {.times = {1, 2}},
    {.times = {1, 1, 1, 2}},
    {.times = {2}, .by = {1, 1, 1, 2}},
    {.times = {1, 2}, .by = {1, 1, 1, 2}},
    {.times = {1, 2}, .by = {2}},
};

enum { MORE_ACCESSES, MORE_WARPS, MORE_BLOCKS };

/* Where a question is brief there is one way up: accesses of a warp and warps
 * in turn, four times as many of these, and blocks where neither has room.  It
 * stays as it is where there is no room at all. */
static bool move_up(const struct bandwidth_question *q,
                    struct bandwidth_setup *s)
{
    static const size_t ways[2][3] = {{MORE_ACCESSES, MORE_WARPS, MORE_BLOCKS},
                                      {MORE_WARPS, MORE_ACCESSES, MORE_BLOCKS}};
    const struct grow_setup from = s->knobs;
    const size_t *const way = ways[4 * s->unroll > s->warps];
    for (size_t i = 0; i < COUNT_OF(ways[0]); i++) {
        s->knobs = grow_moved(&from, &moves[way[i]]);
        if (fits(q, s))
            return true;
    }
    s->knobs = from;
    return false;
}

/* Runs of a search that are remembered: more than any brief one makes. */
enum { TRIALS_MOST = 64 };

struct ascent {
    const struct bandwidth_question *q;
    struct bandwidth_setup setup; /* all but its knobs */
    size_t count;
    struct trial {
        struct grow_setup knobs;
        struct bandwidth_rate rate;
        bool disputed; /* whether it gives more its repetitions do not agree */
    } trials[TRIALS_MOST];
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
    if (a->q->brief && !narrower) {
        moved = s;
        const bool has_room = move_up(a->q, &moved);
        *to = moved.knobs;
        return has_room;
    }
    if (moved.unroll > s.unroll && s.unroll % 2 == 0 && !fits(a->q, &moved))
        moved.unroll = s.unroll / 2 * 3;
    *to = moved.knobs;
    if (moved.unroll == 0 || (narrower && a->q->exact) ||
        (narrower && a->q->brief && a->q->way != STREAM_SM) ||
        (a->q->way == STREAM_BLOCKS && (narrower || moved.blocks != s.blocks)))
        return false;
    return fits(a->q, &moved);
}

/* Has the kernels compiled together. */
static void ascent_prepare(void *context, const struct grow_setup *list,
                           size_t count)
{
    const struct ascent *const a = context;
    const char *texts[GROW_MOVES_MOST];
    if (!lab_ok(a->q->lab))
        return;
    for (size_t i = 0; i < count; i++) {
        const struct bandwidth_setup s = setup_at(a, &list[i]);
        texts[i] = text_of(a->q, &s);
    }
    prober_prepare(a->q->lab->prober, texts, count);
}

/* What the best of those gave that were tried. */
static double ascent_best(const struct ascent *a)
{
    double best = 0;
    for (size_t i = 0; i < a->count; i++)
        best = fmax(best, a->trials[i].rate.score);
    return best;
}

/* True if it gives no more than the best, and that may be what disturbed it:
 * the fastest repetition, which nothing makes faster than undisturbed, does. */
static bool hides_more(const struct bandwidth_rate *rate, double best)
{
    const double more = (1 + assume(ASSUME_ALIKE)) * best;
    return rate->score <= more && rate->most > more;
}

/* A search ends by what gives no more, so that must not be for a disturbance:
 * where of two repetitions one was disturbed, or they do not agree whether it
 * gives more, so many are asked of which two may be. */
static struct bandwidth_rate ascent_measure(const struct ascent *a,
                                            struct bandwidth_setup *s)
{
    const struct bandwidth_rate rate = bandwidth_measure(a->q, s);
    const double alike = assume(ASSUME_ALIKE), best = ascent_best(a);
    if (!lab_ok(a->q->lab) || a->q->way == STREAM_SM || !rate.even ||
        rate.score > (1 + alike) * best ||
        (rate.late == 0 && (rate.spread < alike || !hides_more(&rate, best))))
        return rate;
    s->repeats = REPEATS_BRIEF;
    return bandwidth_measure(a->q, s);
}

/* Of blocks that did not come evenly it tells nothing; nor does what stays
 * disturbed. */
static bool is_told(const struct trial *t)
{
    return t->rate.even && !t->rate.held && !t->disputed;
}

/* Where it begins whatever is told will do. */
static double ascent_gives(void *context, const struct grow_setup *knobs)
{
    struct ascent *const a = context;
    struct bandwidth_setup s = setup_at(a, knobs);
    const bool first = a->count == 0;
    struct trial t = {.knobs = *knobs, .rate = ascent_measure(a, &s)};
    t.disputed =
        s.repeats > a->setup.repeats && hides_more(&t.rate, ascent_best(a));
    if (a->count < TRIALS_MOST)
        a->trials[a->count++] = t;
    return lab_ok(a->q->lab) && (first || is_told(&t)) ? t.rate.score : -1;
}

static struct bandwidth_setup start_of(const struct bandwidth_question *q)
{
    struct bandwidth_setup s = {.width = q->width,
                                .unroll = q->way == STREAM_BLOCKS ? 1 : 2,
                                .warps = q->bulk ? 2 : 8,
                                .blocks = 1,
                                .stride = 1,
                                .row = BANDWIDTH_LANES,
                                .sms = q->way == STREAM_SM ? 1 : q->sms};
    while (s.unroll > 1 && !fits(q, &s))
        s.unroll /= 2;
    while (s.warps > 1 && !fits(q, &s))
        s.warps /= 2;
    while (q->bulk && s.width > BULK_LEAST && !fits(q, &s))
        s.width /= 2;
    return s;
}

/* True if all of a small set is under way, or nearly. */
static bool takes_all(const struct bandwidth_question *q,
                      const struct bandwidth_setup *s)
{
    return q->way == STREAM_GPU && !q->bulk && 2 * in_flight(q, s) > q->bytes;
}

/* More was tried and gave nothing; or half as much gave nearly the same; or the
 * last step gave little.  Where a set leaves room for no more that step may but
 * have changed the width, and does not count. */
static bool is_saturated(const struct bandwidth_question *q,
                         const struct bandwidth_setup *s,
                         const struct grow_top *top)
{
    const double more =
        takes_all(q, s) ? top->gain : fmin(top->gain, top->last);
    return top->tried > 0 || more < assume(ASSUME_GROWTH_FAR);
}

/* NULL: it was not tried. */
static const struct trial *trial_at(const struct ascent *a,
                                    const struct grow_setup *knobs)
{
    for (size_t i = a->count; i-- > 0;)
        if (memcmp(&a->trials[i].knobs, knobs, sizeof *knobs) == 0)
            return &a->trials[i];
    return NULL;
}

/* By which share of what half as many accesses of each warp gave it gives more;
 * 0: those were not tried, or nothing could be told of them. */
static double deeper_gain(const struct ascent *a,
                          const struct bandwidth_found *found)
{
    struct bandwidth_setup half = found->setup;
    half.unroll /= 2;
    const struct trial *const t = trial_at(a, &half.knobs);
    return t != NULL && is_told(t) ? found->rate.score / t->rate.score - 1 : 0;
}

/* What the search's own runs said of the setup, and by which share of it the
 * best of the others gave more: too little for the search, and not nothing.
 * Where one may give more than that, for all that is known, it is not the top.
 * Where most runs of a trial are late and the fastest gave clearly more than
 * any of the setup, what is late hid that (V100 beside one that comes for
 * 20,000 cycles now and then: 214 of 301 B/clk). */
static void note_trials(const struct ascent *a, struct bandwidth_found *found)
{
    const struct trial *const top = trial_at(a, &found->setup.knobs);
    found->more = 0;
    found->untold = found->hidden = false;
    if (top != NULL)
        found->rate = top->rate;
    found->deeper = deeper_gain(a, found);
    for (size_t i = 0; i < a->count && found->rate.score > 0; i++)
        if (is_told(&a->trials[i]))
            found->more = fmax(found->more,
                               a->trials[i].rate.score / found->rate.score - 1);
        else
            found->untold = true;
    for (size_t i = 0; i < a->count; i++)
        if (a->trials[i].disputed &&
            hides_more(&a->trials[i].rate, found->rate.score))
            found->saturated = false;
    const double most = (1 + assume(ASSUME_ALIKE)) * found->rate.fastest;
    for (size_t i = 0; i < a->count && a->q->way == STREAM_SM; i++)
        found->hidden |= a->trials[i].rate.fastest > most;
}

/* As many bytes in flight by accesses half as wide, if there is room, else by
 * as many warps. */
static bool narrow(const struct bandwidth_question *q,
                   struct bandwidth_setup *s)
{
    static const struct grow_move ways[] = {
        {.times = {2}, .by = {1, 1, 1, 2}},
        {.times = {1, 2}, .by = {1, 1, 1, 2}},
        {.by = {1, 1, 1, 2}},
    };
    const struct grow_setup from = s->knobs;
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        s->knobs = grow_moved(&from, &ways[i]);
        if (s->width >= NARROWEST && fits(q, s))
            return true;
    }
    s->knobs = from;
    return false;
}

/* An SM takes no more than one access of a warp a cycle: where as much passes
 * as that comes to, far more does not by such accesses. */
static bool may_give_far_more(const struct bandwidth_question *q, double gives)
{
    return NARROWEST * q->lanes > gives * (1 + assume(ASSUME_GROWTH_FAR));
}

/* Banks may conflict less for narrower accesses, of which each step by itself
 * may give nothing: less by 8 B of a lane than by 16, 17 B/clk, and 128 by 4 of
 * a GTX 780's shared memory; or of a P6000's 85 by 8 B, as many by 4, and 128
 * by twice as many of these.  So where a search ends, the narrowest accesses
 * are tried at once, and more of them if there is room. */
static bool gives_more_over(struct ascent *a, const struct grow_climb *c,
                            const struct grow_top *top, struct grow_setup *over)
{
    const struct bandwidth_question *const q = a->q;
    struct bandwidth_setup more = setup_at(a, &top->setup);
    if (q->way != STREAM_SM || q->exact || q->lanes == 1 || !lab_ok(q->lab) ||
        !may_give_far_more(q, top->gives) || !narrow(q, &more))
        return false;
    while (narrow(q, &more))
        ;
    move_up(q, &more);
    *over = more.knobs;
    return ascent_gives(a, over) > top->gives * (1 + c->least);
}

/* From found->setup on, which becomes the best, one step after the other. */
static void climb(const struct bandwidth_question *q,
                  struct bandwidth_found *found)
{
    found->setup.repeats = BANDWIDTH_REPEATS;
    struct ascent a = {.q = q, .setup = found->setup};
    const struct grow_climb c = {.least = assume(ASSUME_ALIKE),
                                 .moves = q->brief  ? brief_moves
                                          : q->bulk ? bulk_moves
                                                    : moves,
                                 .count = q->brief ? COUNT_OF(brief_moves)
                                                   : COUNT_OF(moves),
                                 .context = &a,
                                 .fit = ascent_fit,
                                 .prepare = ascent_prepare,
                                 .gives = ascent_gives};
    struct grow_top top = grow_climb(&c, &found->setup.knobs);
    struct grow_setup over;
    while (gives_more_over(&a, &c, &top, &over))
        top = grow_climb(&c, &over);
    found->setup.knobs = top.setup;
    found->saturated = is_saturated(q, &found->setup, &top);
    note_trials(&a, found);
}

/* From what saturated something like it: with the widest accesses, since a
 * search goes to narrower ones and never back, which may be as good for the one
 * and not for the other; and with room to grow. */
static struct bandwidth_setup start_like(const struct bandwidth_question *q,
                                         const struct bandwidth_setup *like)
{
    struct bandwidth_setup s = bandwidth_with_width(q, like, q->width);
    if (!fits(q, &s) || s.unroll * s.warps <= 1)
        return start_of(q);
    *(s.unroll > 1 ? &s.unroll : &s.warps) /= 2;
    return s;
}

/* From what saturated something like it, or a few warps on. */
struct bandwidth_found bandwidth_search(const struct bandwidth_question *q,
                                        const struct bandwidth_setup *like)
{
    const bool begun = like != NULL && like->width <= q->width &&
                       like->unroll * like->warps > 1 && fits(q, like);
    struct bandwidth_found found = {.setup = begun ? start_like(q, like)
                                                   : start_of(q)};
    struct bandwidth_setup *const s = &found.setup;
    s->length = q->way == STREAM_BLOCKS ? q->bytes
                : q->way == STREAM_SM   ? BANDWIDTH_CYCLES / 2
                : q->brief              ? BRIEF_CYCLES
                                        : BANDWIDTH_CYCLES;
    climb(q, &found);
    return found;
}

/* True if what was measured no longer changes by more than chance. */
static bool is_settled(const struct bandwidth_question *q,
                       const struct bandwidth_rate *rate, double before)
{
    const double alike = assume(ASSUME_LENGTH_ALIKE);
    return (rate->fine || q->way == STREAM_SM) &&
           fabs(rate->value - before) < alike * before &&
           rate->spread < 2 * alike;
}

/* True if a run twice as long is not too long. */
static bool may_lengthen(const struct bandwidth_question *q,
                         const struct bandwidth_setup *s)
{
    if (q->way != STREAM_BLOCKS)
        return s->length < BANDWIDTH_CYCLES * GROWTH_CYCLES;
    return 2 * s->length <= BANDWIDTH_BLOCKS_MOST * q->bytes &&
           2 * s->length * q->arrays <= q->room;
}

/* For a number: in order, by what is more than the least, of which runs half as
 * long gave `before`. */
static struct bandwidth_rate measure_well(const struct bandwidth_question *q,
                                          const struct bandwidth_setup *s,
                                          double before)
{
    struct bandwidth_setup least = *s;
    least.length = q->bytes;
    if (q->way != STREAM_BLOCKS)
        return bandwidth_measure(q, s);
    const struct samples *const few = probe_stream(q, &least);
    return summarise_pairs(q, s, few, probe_stream(q, s), before);
}

struct bandwidth_rate bandwidth_measure_well(const struct bandwidth_question *q,
                                             const struct bandwidth_setup *s)
{
    return measure_well(q, s, 0);
}

bool bandwidth_fits(const struct bandwidth_question *q,
                    const struct bandwidth_setup *s)
{
    return fits(q, s);
}

/* Longer, until that changes nothing and the timer's steps are small. */
static struct bandwidth_rate lengthen(const struct bandwidth_question *q,
                                      struct bandwidth_setup *s)
{
    double before = 0;
    for (;;) {
        const struct bandwidth_rate rate = measure_well(q, s, before);
        if (!lab_ok(q->lab) || !may_lengthen(q, s) ||
            (is_settled(q, &rate, before) && s->length >= q->least))
            return rate;
        before = rate.value;
        s->length *= 2;
    }
}

/* Where it takes long runs to know a rate, what a search made of short ones
 * was chance; so it is made again. */
static void search_again(const struct bandwidth_question *q,
                         struct bandwidth_found *found)
{
    const uint64_t length = found->setup.length;
    found->setup = start_of(q);
    found->setup.length = length;
    climb(q, found);
}

/* The first way to have twice as much in flight that there is room for. */
static bool double_up(const struct bandwidth_question *q,
                      struct bandwidth_setup *s)
{
    const struct grow_setup from = s->knobs;
    const size_t ways = q->bulk || q->way == STREAM_BLOCKS ? 2 : 3;
    for (size_t i = 0; i < ways; i++) {
        s->knobs = grow_moved(&from, q->bulk ? &bulk_moves[i] : &moves[i]);
        if (fits(q, s))
            return true;
    }
    return false;
}

/* True if one gives more than the other, and not by chance alone: to take the
 * better of two that are alike would be too much on average. */
static bool is_more(const struct bandwidth_rate *rate,
                    const struct bandwidth_rate *than)
{
    return rate->value - than->value >
           hypot(rate->value - rate->low, than->high - than->value);
}

/* A search ends where twice as much in flight gives hardly more, which is
 * little and not nothing: late loads may leave gaps.  So twice as much is asked
 * for here; and what that gives more, still more may give, too. */
static void settle_flight(const struct bandwidth_question *q,
                          struct bandwidth_found *found)
{
    struct bandwidth_setup more = found->setup;
    if (!lab_ok(q->lab) || !double_up(q, &more))
        return;
    struct bandwidth_rate rate = measure_well(q, &more, 0);
    if (!lab_ok(q->lab) || !rate.even || rate.held ||
        !is_more(&rate, &found->rate))
        return;
    rate.high += rate.value - found->rate.value;
    found->setup = more;
    found->rate = rate;
}

static void settle_cycles(const struct bandwidth_question *q,
                          struct bandwidth_found *found)
{
    struct bandwidth_setup *const s = &found->setup;
    s->length = u64_max(s->length, q->least / 2);
    lengthen(q, s);
    if (lab_ok(q->lab) && s->length > BRIEF * BANDWIDTH_CYCLES &&
        s->length > q->least)
        search_again(q, found);
    s->repeats = BANDWIDTH_REPEATS_FINAL;
    found->rate = bandwidth_measure(q, s);
}

static void settle_blocks(const struct bandwidth_question *q,
                          struct bandwidth_found *found)
{
    struct bandwidth_setup *const s = &found->setup;
    s->length *= 2;
    s->repeats = REPEATS_PAIRS;
    found->rate = lengthen(q, s);
    if (!lab_ok(q->lab) || s->length <= BRIEF * q->bytes)
        return;
    search_again(q, found);
    s->length /= 2;
    s->repeats = REPEATS_PAIRS;
    found->rate = lengthen(q, s);
}

/* ---- where a question is brief ----------------------------------------- */

/* True if repetitions are alike, and what the search made of others. */
static bool is_alike(const struct bandwidth_question *q,
                     const struct bandwidth_rate *rate, double score)
{
    const double alike = assume(ASSUME_ALIKE);
    const bool timed = q->way == STREAM_SM || rate->fine || q->hz > 0;
    return timed && rate->even && !rate->held && rate->spread < alike &&
           fabs(rate->score - score) < alike * score;
}

/* One longer run, and of the least length, which a pause would make slower;
 * what it says otherwise widens the interval. */
static bool stays_alike(const struct bandwidth_question *q,
                        struct bandwidth_found *found)
{
    struct bandwidth_setup long_one = found->setup;
    struct bandwidth_rate *const rate = &found->rate;
    long_one.repeats = 1;
    long_one.lead = found->setup.length;
    long_one.length = u64_max(q->least, BRIEF_LONGER * found->setup.length);
    const struct bandwidth_rate once = bandwidth_measure(q, &long_one);
    if (!lab_ok(q->lab) || !is_alike(q, &once, rate->score))
        return !lab_ok(q->lab);
    const double off = fabs(once.score / rate->score - 1) * rate->value;
    rate->low -= off;
    rate->high += off;
    return true;
}

/* True if short runs say it: all are alike, those of the search, too, and none
 * of these hid that more in flight gives more; and on
 * all SMs the long one.  What the search saw of more in flight widens the
 * interval. */
static bool is_settled_shortly(const struct bandwidth_question *q,
                               struct bandwidth_found *found, double score)
{
    if (found->hidden || !is_alike(q, &found->rate, score))
        return false;
    found->rate.high += found->more * found->rate.value;
    return q->way == STREAM_SM || stays_alike(q, found);
}

/* By which share it gives more than half as much in flight, where there is no
 * room for more: what half as much might give by its interval this may, too.
 * Infinite if that cannot be told. */
static double gain_over_half(const struct bandwidth_question *q,
                             struct bandwidth_found *found)
{
    struct bandwidth_rate *const best = &found->rate;
    struct bandwidth_setup half = found->setup;
    *(half.unroll > 1 ? &half.unroll : &half.warps) /= 2;
    if (half.warps == 0)
        return INFINITY;
    const struct bandwidth_rate rate = bandwidth_measure(q, &half);
    if (!lab_ok(q->lab) || !rate.even || rate.held || !(rate.value > 0))
        return INFINITY;
    if (is_more(best, &rate))
        return best->value / rate.value - 1;
    best->low = fmin(best->low, rate.low);
    best->high = fmax(best->high, rate.high);
    return 0;
}

/* The same in flight by accesses of another width, where the search chooses
 * among these. */
static bool change_width(const struct bandwidth_question *q,
                         struct bandwidth_setup *s, bool wider)
{
    if (q->way != STREAM_SM || q->exact || q->bulk ||
        (wider ? s->unroll % 2 != 0 || s->width >= q->width
               : s->width % 2 != 0))
        return false;
    s->width = wider ? 2 * s->width : s->width / 2;
    s->unroll = wider ? s->unroll / 2 : 2 * s->unroll;
    return fits(q, s);
}

enum climbed { CLIMBED_NOT, CLIMBED, CLIMBED_UNTOLD };

/* What gives more is the best then; what it might give by its interval the best
 * may give, too.  That is not known of what gave more in its fastest run and
 * less in most: in an SM warps are held up then, the fewer the longer. */
static enum climbed climb_to(const struct bandwidth_question *q,
                             struct bandwidth_found *found,
                             const struct bandwidth_setup *more)
{
    struct bandwidth_rate *const best = &found->rate;
    const struct bandwidth_rate rate = bandwidth_measure(q, more);
    if (!lab_ok(q->lab) || !rate.even || rate.held) {
        found->untold = true;
        return CLIMBED_UNTOLD;
    }
    if (!is_more(&rate, best)) {
        const double most = (1 + assume(ASSUME_ALIKE)) * best->value;
        const bool may_be = rate.fastest > most;
        best->high = fmax(best->high, rate.high);
        found->untold |= may_be;
        return may_be ? CLIMBED_UNTOLD : CLIMBED_NOT;
    }
    found->setup = *more;
    *best = rate;
    return CLIMBED;
}

/* To accesses of another width, as long as these give more: short runs that
 * differ may have told the search otherwise. */
static enum climbed climb_aside(const struct bandwidth_question *q,
                                struct bandwidth_found *found)
{
    enum climbed climbed = CLIMBED_NOT;
    bool moved = false;
    for (int wider = 0; wider < 2 && !moved; wider++) {
        struct bandwidth_setup aside = found->setup;
        while (change_width(q, &aside, wider) &&
               (climbed = climb_to(q, found, &aside)) == CLIMBED)
            moved = true;
        if (climbed == CLIMBED_UNTOLD)
            return CLIMBED_UNTOLD;
    }
    return moved ? CLIMBED : CLIMBED_NOT;
}

/* Twice as much in flight, as long as that gives more: a search by short runs
 * that differ may have ended too early. */
static void climb_on(const struct bandwidth_question *q,
                     struct bandwidth_found *found)
{
    enum climbed climbed = CLIMBED;
    double gain = INFINITY;
    struct bandwidth_setup more = found->setup;
    bool room = false;
    while (climbed == CLIMBED && double_up(q, &more)) {
        const double before = found->rate.value;
        room = true;
        climbed = climb_to(q, found, &more);
        if (climbed == CLIMBED)
            gain = found->rate.value / before - 1;
    }
    if (climbed == CLIMBED_NOT)
        return;
    if (!room)
        gain = gain_over_half(q, found);
    found->saturated = gain < assume(ASSUME_GROWTH_FAR);
    if (found->saturated)
        found->rate.high += gain * found->rate.value;
}

/* Up, and once more from another width where that gives more. */
static void climb_further(const struct bandwidth_question *q,
                          struct bandwidth_found *found)
{
    climb_on(q, found);
    if (!lab_ok(q->lab) || !found->saturated)
        return;
    const enum climbed aside = climb_aside(q, found);
    if (lab_ok(q->lab) && aside == CLIMBED)
        climb_on(q, found);
    found->saturated = found->saturated && aside != CLIMBED_UNTOLD;
}

/* Where the most warps gave no more, fewer that each have more in flight may: a
 * loop that loads much costs less of each load.  What gives more then may give
 * still more, for which there is no room. */
static void try_fewer_warps(const struct bandwidth_question *q,
                            struct bandwidth_found *found)
{
    struct bandwidth_setup fewer = found->setup;
    if (q->way != STREAM_SM || q->bulk || fewer.warps < WARPS_MOST)
        return;
    fewer.warps /= 2;
    fewer.unroll *= 2;
    if (fits(q, &fewer) && climb_to(q, found, &fewer) != CLIMBED_NOT)
        found->saturated = false;
}

/*
 * The brief way up ends where more warps give no more.  More accesses of each
 * may yet, if half as many gave far less: what the loop costs beside them is a
 * cost of each then, and of twice as many half of that.  Of a share g that
 * they gave more, the next ones give g / (2 - g).
 */
static bool may_go_deeper(const struct bandwidth_question *q,
                          const struct bandwidth_found *found)
{
    struct bandwidth_setup deeper = found->setup;
    deeper.unroll *= 2;
    return q->way == STREAM_SM && !q->bulk && fits(q, &deeper) &&
           found->deeper / (2 - found->deeper) >= assume(ASSUME_GROWTH_FAR);
}

/* Whatever disturbs makes runs slower, and none faster: so where the quickest
 * agrees with the densest half, that is what passes undisturbed.  Where it is
 * faster by little more that may be either way, as of an L2 that is asked for
 * all it gives (H100: by 1.8 %, as others are slower): then as much more may
 * pass as it was faster.  False if it was faster by still more. */
static bool is_undisturbed(struct bandwidth_rate *rate)
{
    const double alike = assume(ASSUME_ALIKE);
    if (rate->fastest < (1 + alike) * rate->value)
        return true;
    /* Of an H100 1.8 hundredths were seen (above). */
    if (rate->fastest >= (1 + 2.5 * alike) * rate->value)
        return false;
    rate->high = fmax(rate->high, 2 * rate->fastest - rate->value);
    return true;
}

/*
 * Of a GPU whose runs are all alike, short ones tell what long ones do: so a
 * brief question asks some, and on all SMs a longer one: of memory, which
 * pauses every some tens of microseconds (H200), as long as it takes to meet
 * several pauses.  Where they differ, as where something disturbs, there are
 * more and longer ones, once, and more in flight; what these do not agree on is
 * a bound.  So it costs a few times as much as on a quiet GPU, whatever
 * disturbs.  Where no room is left for more in flight the search's own runs say
 * enough of that bound.
 */
static void settle_brief(const struct bandwidth_question *q,
                         struct bandwidth_found *found)
{
    struct bandwidth_setup *const s = &found->setup;
    const double score = found->rate.score;
    if (!found->saturated && found->rate.low > 0)
        return;
    s->repeats = REPEATS_BRIEF;
    if (q->way == STREAM_SM)
        s->length = u64_max(s->length, q->least);
    found->rate = measure_enough(q, s);
    if (!lab_ok(q->lab) || !found->saturated)
        return;
    if (is_settled_shortly(q, found, score)) {
        if (may_go_deeper(q, found))
            climb_on(q, found);
        else
            try_fewer_warps(q, found);
        return;
    }
    if (q->way == STREAM_SM)
        s->repeats = BANDWIDTH_REPEATS_FINAL;
    else
        s->length = u64_max(q->least, BRIEF_MOST);
    found->rate = bandwidth_measure(q, s);
    if (lab_ok(q->lab) && found->rate.value > 0)
        climb_further(q, found);
    found->unlike = !is_undisturbed(&found->rate);
}

/* ---- the whole --------------------------------------------------------- */

struct bandwidth_setup bandwidth_with_width(const struct bandwidth_question *q,
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
    while (to.blocks > 1 && !fits(q, &to))
        to.blocks /= 2;
    while (to.unroll > 1 && !fits(q, &to))
        to.unroll /= 2;
    while (to.warps > 1 && !fits(q, &to))
        to.warps /= 2;
    return to;
}

struct bandwidth_found bandwidth_find(const struct bandwidth_question *q,
                                      const struct bandwidth_found *like)
{
    struct bandwidth_found found = bandwidth_search(
        q, like != NULL && like->value > 0 ? &like->setup : NULL);
    if (!lab_ok(q->lab))
        return found;
    if (q->brief) {
        settle_brief(q, &found);
        return found;
    }
    (q->way == STREAM_BLOCKS ? settle_blocks : settle_cycles)(q, &found);
    settle_flight(q, &found);
    return found;
}
