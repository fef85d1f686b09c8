/* What is declared in resident_grid.h. */
#include "probe/run/resident_grid.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "probe/run/grid_barrier.h"

const char *const resident_grid_columns[] = {
    "sm",       "blocks",   "bytes", "begun", "ended", "ns_begun",
    "ns_ended", "ns_event", "rate",  "mhz",   NULL};

static unsigned sms_of(const struct device_info *info)
{
    return (unsigned)device_told(info, PROPERTY_SMS, 1);
}

unsigned resident_grid_blocks(const struct device_info *info, unsigned each)
{
    return each * sms_of(info);
}

unsigned resident_grid_workers(const struct device_info *info, unsigned each,
                               unsigned wanted)
{
    const unsigned have = sms_of(info);
    return each * (wanted > 0 && wanted < have ? wanted : have);
}

/* ---- the kernel's part ------------------------------------------------- */

void resident_grid_enlist(struct kernel_text *k)
{
    ptx_with(k,
             "setp.ne.u32 %other, %me, 0;\n"
             "@%other bra ENLISTED;\n"
             "mov.u32 %worker, 0xffffffff;\n"
             "ld.param.u64 %at, [sms];\n"
             "cvt.u64.u32 %bt, %sm;\n"
             "setp.ge.u64 %again, %bt, %at;\n"
             "@%again bra UNWANTED;\n"
             "atom.global.add.u32 %worker, [%slots+$workers], 1;\n"
             "UNWANTED:\n"
             "st.shared.u32 [pool], %worker;\n"
             "ld.param.u32 %want, [grid];\n",
             WORD(workers, 4 * SLOT_WORKERS));
    grid_barrier_meet(k, "GATE", 4 * SLOT_ARRIVED, GRID_BARRIER_LOOKS);
    ptx_with(k,
             "ENLISTED:\n"
             "bar.sync 0;\n"
             "ld.shared.u32 %worker, [pool];\n"
             "setp.eq.u32 %again, %worker, 0xffffffff;\n"
             "@%again bra DONE;\n"
             "ld.volatile.global.u32 %workers, [%slots+$workers];\n",
             WORD(workers, 4 * SLOT_WORKERS));
}

void resident_grid_begin_together(struct kernel_text *k)
{
    ptx(k, "@%other bra READY;\n"
           "mov.u32 %want, %workers;\n"
           "@%end bra MEET;\n"
           "bra READY;\n"
           "MEET:\n");
    grid_barrier_meet(k, "MEETING", 4 * SLOT_READY, GRID_BARRIER_LOOKS);
    ptx(k, "READY:");
    grid_barrier_hold(k);
}

void resident_grid_share(struct kernel_text *k)
{
    ptx(k, "ld.param.u64 %ct, [tiles];\n"
           "cvt.u64.u32 %bt, %workers;\n"
           "cvt.u64.u32 %at, %worker;\n"
           "mul.lo.u64 %at, %at, %ct;\n"
           "add.u64 %turns, %at, %ct;\n"
           "div.u64 %at, %at, %bt;\n"
           "div.u64 %turns, %turns, %bt;\n"
           "sub.u64 %turns, %turns, %at;\n");
}

void resident_grid_place_record(struct kernel_text *k, unsigned warps)
{
    ptx_with(k,
             "mad.wide.u32 %out, %worker, $warps, %out;\n"
             "cvt.u64.u32 %t0, %sm;\n"
             "st.global.u64 [%out], %t0;\n"
             "mad.wide.u32 %out, %warp, $record, %out;\n",
             WORD(warps, GRID_RECORD * (1 + warps)), WORD(record, GRID_RECORD));
}

void resident_grid_write_record(struct kernel_text *k)
{
    ptx_with(k,
             "st.global.v2.u64 [%out+$record], {%t0, %t1};\n"
             "st.global.v2.u64 [%out+$ns], {%g0, %g1};\n"
             "st.global.u32 [%out+$taken], %taken;\n",
             WORD(record, GRID_RECORD), WORD(ns, GRID_RECORD + 16),
             WORD(taken, GRID_RECORD + 32));
}

/* ---- the host's part --------------------------------------------------- */

static const uint32_t never = 0x9e3779b9;

uint64_t *resident_grid_run(struct prober *prober, const struct experiment *e,
                            struct resident_grid *g, struct error *err)
{
    struct device *const device = prober_device(prober);
    const uint32_t values[SLOTS] = {[SLOT_NEVER] = never};
    if (prober_place(prober, BUFFER_SLOTS, values, sizeof values, g->slots,
                     err) != 0 ||
        prober_zeros(prober, BUFFER_OUT, g->record_bytes, g->out, err) != 0 ||
        prober_shoot(prober, e, &g->shot, err) != 0 ||
        device_elapsed(device, &g->elapsed, err) != 0)
        return NULL;
    return prober_fetch(prober, *g->out, g->record_bytes, err);
}

uint64_t resident_grid_start(const struct prober *prober,
                             const struct samples *samples)
{
    /* Of 2^32; and so far are experiments apart, or the second repetition of
     * one would be where the first of the next is. */
    const uint64_t golden = 0x9e3779b9, apart = 37;
    const size_t n = samples->rows;
    const uint64_t repeat =
        n > 0 ? (uint64_t)samples_at(samples, n - 1, 0) + 1 : 0;
    return (uint32_t)(golden * (prober_seed(prober) +
                                apart * prober_experiments(prober) + repeat));
}

void resident_grid_dither(uint64_t start, unsigned percent, uint64_t *lead,
                          uint64_t *cycles)
{
    struct rng rng;
    rng_seed(&rng, start);
    *lead += rng_below(&rng, *lead * percent / 100 + 1);
    *cycles += rng_below(&rng, *cycles * percent / 100 + 1);
}

/* A row for an SM. */
static int64_t *row_for(struct samples *samples, size_t from, int64_t sm)
{
    int64_t *const row = samples_row_of(samples, from, GRID_SM, sm);
    if (row[GRID_BLOCKS] == 0) {
        row[GRID_BEGUN] = row[GRID_NS_BEGUN] = INT64_MAX;
        row[GRID_ENDED] = row[GRID_NS_ENDED] = INT64_MIN;
    }
    return row;
}

static void widen(int64_t *begun, int64_t *ended, const uint64_t *reads)
{
    if ((int64_t)reads[0] < *begun)
        *begun = (int64_t)reads[0];
    if ((int64_t)reads[1] > *ended)
        *ended = (int64_t)reads[1];
}

/* What the warps of a block passed, B in 2^20 cycles: all bytes by the mean of
 * their times.  Each warp's own quotient would be too large on average, since
 * its time ends with a tile, and the fewer the tiles the more (H200, memory: by
 * 2.5 %). */
static int64_t rate_of(uint64_t bytes, double cycles, unsigned warps)
{
    return cycles > 0 ? (int64_t)((double)bytes * (1 << 20) * warps / cycles)
                      : 0;
}

enum { WORDS = GRID_RECORD / 8 };

/* The lines of one block's record. */
static void add_block(const struct resident_grid_tally *t,
                      const uint64_t *record, int64_t *row)
{
    uint64_t sum = 0;
    double cycles = 0;
    row[GRID_BLOCKS]++;
    for (unsigned w = 1; w <= t->warps; w++) {
        const uint64_t *const line = record + w * WORDS;
        sum += t->tile * (t->tiles > 0 ? t->tiles : (uint32_t)line[4]);
        cycles += (double)(line[1] - line[0]);
        widen(&row[GRID_BEGUN], &row[GRID_ENDED], line);
        widen(&row[GRID_NS_BEGUN], &row[GRID_NS_ENDED], line + 2);
    }
    row[GRID_BYTES] += (int64_t)sum;
    if (t->tiles == 0)
        row[GRID_RATE] += rate_of(sum, cycles, t->warps);
}

void resident_grid_add(const struct resident_grid_tally *t,
                       const uint64_t *record, struct samples *samples)
{
    const size_t from = samples->rows;
    for (unsigned i = 0; i < t->workers; i++) {
        const uint64_t *const own = record + (size_t)i * (1 + t->warps) * WORDS;
        add_block(t, own, row_for(samples, from, (int64_t)own[0]));
    }
}

static int64_t clock_mhz(struct prober *prober)
{
    struct device_sense sense;
    struct error ignored;
    if (device_sense(prober_device(prober), &sense, &ignored) != 0)
        return -1;
    return (int64_t)sense.sm_mhz;
}

void resident_grid_note(struct prober *prober, const struct resident_grid *g,
                        struct samples *samples, size_t from)
{
    const int64_t mhz = clock_mhz(prober);
    for (size_t i = from; i < samples->rows; i++) {
        int64_t *const row = samples->data + i * samples->columns;
        row[GRID_NS_EVENT] = (int64_t)g->elapsed;
        row[GRID_MHZ] = mhz;
    }
}

double resident_grid_figure(const struct experiment *e,
                            const struct samples *samples, size_t from)
{
    double longest = 0, rate = 0;
    (void)e;
    for (size_t i = from; i < samples->rows; i++) {
        const double cycles = (double)(samples_at(samples, i, GRID_ENDED) -
                                       samples_at(samples, i, GRID_BEGUN));
        longest = cycles > longest ? cycles : longest;
        rate += (double)samples_at(samples, i, GRID_RATE);
    }
    return rate > 0 ? (1 << 20) * (double)(1 << 20) / rate : longest;
}
