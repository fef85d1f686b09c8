/*
 * The probe `rivals`: SMs of a set move bytes between themselves and L2 for so
 * many cycles, all at the same time, and the others do nothing.  What each of
 * them moves in company, and what alone, shows with whom it shares a way.
 *
 * A block is pinned to each SM of the set; all meet in global memory.  Then
 * each goes over its own part of the buffer (which it has read before, so that
 * it lies in L2) past L1 until its SM's clock says that the time is over, and
 * tells how far it came.  A time and not an amount is given, so that all of
 * them are at it to the end.
 *
 * A row for each SM of the set: bytes, and cycles of its own clock that its
 * warps took, on average.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "probe/run/grid_barrier.h"
#include "probe/run/pin.h"
#include "ptx/kernel.h"

enum column { COLUMN_SM = 1, COLUMN_BYTES, COLUMN_CYCLES };

enum {
    LANES = 32,
    WIDTH = 16, /* bytes of a lane's access */
    UNROLL = 4, /* independent ones in flight */
    TILE = LANES * WIDTH * UNROLL,
    SMS_MOST = 1024,
    WARPS_MOST = 32,
    /* Words of a warp's record. */
    OUT_SM = 0,
    OUT_BEGUN,
    OUT_ENDED,
    OUT_TILES,
    OUT_WORDS
};
static const uint32_t never = 0x9e3779b9;

struct rivals {
    enum { OP_READ, OP_WRITE } op;
    const char *sms;
    unsigned warps;
    uint64_t bytes, cycles;
    uint64_t part; /* bytes of a warp */
    bool wanted[SMS_MOST];
    uint64_t set[SMS_MOST]; /* those that are wanted */
    size_t count;
};

static const char *const operations[] = {"read", "write", NULL};

/* clang-format off */
static const struct param rivals_params[] = {
    CHOICE(struct rivals, op, "read", operations, "what the SMs do: read; write"),
    TEXT(struct rivals, sms, "0", "the SMs that do: 0,4-7"),
    NUMBER(struct rivals, warps, "16", 1, WARPS_MOST, "warps of each"),
    NUMBER(struct rivals, bytes, "65536", TILE, 1 << 24, "of each SM's part: some tiles of 2 KiB for each warp"),
    NUMBER(struct rivals, cycles, "8192", 256, 1 << 24, "how long they do it"),
    REPEATS(1000, "repetitions; 0: the probe's own"),
    {0},
};
/* clang-format on */

/* ---- reading ----------------------------------------------------------- */

static int rivals_check(const struct rivals *r, const struct device_info *info,
                        struct error *err)
{
    const int64_t *const has = info->value;
    if (has[PROPERTY_BLOCK_THREADS] > 0 &&
        LANES * r->warps > (uint64_t)has[PROPERTY_BLOCK_THREADS])
        return error_set(err, ERR_USAGE,
                         "rivals: %u warps in a block; the GPU takes %" PRId64,
                         r->warps, has[PROPERTY_BLOCK_THREADS] / LANES);
    return 0;
}

static int rivals_prepare(struct experiment *e, const struct device_info *info,
                          struct error *err)
{
    struct rivals *const r = e->own;
    r->part = r->bytes / r->warps;
    if (r->part == 0 || r->part % TILE != 0 || r->bytes % r->warps != 0)
        return error_set(err, ERR_USAGE,
                         "rivals: bytes=%" PRIu64 " is not so many tiles of %d "
                         "for each of %u warps",
                         r->bytes, TILE, r->warps);
    if (!text_to_set(r->sms, r->wanted, SMS_MOST))
        return error_set(err, ERR_USAGE,
                         "rivals: sms=%s is not a list of SMs and ranges of "
                         "them: 0,4-7, below %d",
                         r->sms, SMS_MOST);
    for (unsigned sm = 0; sm < SMS_MOST; sm++)
        if (r->wanted[sm])
            r->set[r->count++] = sm;
    return rivals_check(r, info, err);
}

/* ---- the kernel -------------------------------------------------------- */

/* A job: the SM's part of the buffer, where its results go, bytes of a warp's
 * part, cycles, and a number that nothing is. */
enum { JOB_BUFFER, JOB_OUT, JOB_PART, JOB_CYCLES, JOB_NEVER, JOB_WORDS };

/* Each warp its part, each lane its 16 bytes of a row. */
static void aim(struct kernel_text *k)
{
    ptx_with(k,
             ".reg .b32 %warp, %n, %sum, %never;\n"
             ".reg .b64 %base, %out, %part, %far, %time, %begun, %ended, "
             "%tiles;\n"
             ".reg .pred %lead, %on, %true;\n"
             ".reg .b32 %x<$words>;\n"
             "shr.u32 %warp, %me, 5;\n"
             "ld.global.cg.u64 %base, [%job+$buffer];\n"
             "ld.global.cg.u64 %out, [%job+$out];\n"
             "ld.global.cg.u64 %part, [%job+$part];\n"
             "ld.global.cg.u64 %time, [%job+$cycles];\n"
             "ld.global.cg.u32 %never, [%job+$never];\n"
             "cvt.u64.u32 %at, %warp;\n"
             "mad.lo.u64 %base, %at, %part, %base;\n"
             "mad.wide.u32 %out, %warp, $record, %out;\n"
             "and.b32 %n, %me, 31;\n"
             "setp.eq.u32 %lead, %n, 0;\n"
             "mad.wide.u32 %base, %n, $width, %base;\n"
             "add.u64 %far, %base, %part;\n"
             "mov.u32 %sum, 0;\n",
             WORD(words, UNROLL * WIDTH / 4), WORD(buffer, 8 * JOB_BUFFER),
             WORD(out, 8 * JOB_OUT), WORD(part, 8 * JOB_PART),
             WORD(cycles, 8 * JOB_CYCLES), WORD(never, 8 * JOB_NEVER),
             WORD(record, 8 * OUT_WORDS), WORD(width, WIDTH));
    for (int i = 0; i < UNROLL * WIDTH / 4; i++)
        ptx_with(k, "add.u32 %x$i, %never, $i;", WORD(i, i));
}

static void access_tile(struct kernel_text *k, bool writes)
{
    for (int i = 0; i < UNROLL; i++)
        if (writes)
            ptx_with(
                k, "st.global.v4.u32 [%at+$width], {%x$i, %x$j, %x$k, %x$l};",
                WORD(width, i * LANES * WIDTH), WORD(i, 4 * i),
                WORD(j, 4 * i + 1), WORD(k, 4 * i + 2), WORD(l, 4 * i + 3));
        else
            ptx_with(k,
                     "ld.global.cg.v4.u32 {%x$i, %x$j, %x$k, %x$l}, "
                     "[%at+$width];",
                     WORD(i, 4 * i), WORD(j, 4 * i + 1), WORD(k, 4 * i + 2),
                     WORD(l, 4 * i + 3), WORD(width, i * LANES * WIDTH));
    for (int i = 0; !writes && i < UNROLL * WIDTH / 4; i++)
        ptx_with(k, "xor.b32 %sum, %sum, %x$i;", WORD(i, i));
    ptx_with(k, "add.u64 %at, %at, $tile;", WORD(tile, TILE));
}

/* Reads the part once. */
static void warm_up(struct kernel_text *k)
{
    ptx(k, "mov.u64 %at, %base;\n"
           "WARM:\n");
    access_tile(k, false);
    ptx(k, "setp.lt.u64 %again, %at, %far;\n"
           "@%again bra WARM;\n");
}

/* Ready when what it read is there. */
static void begin_together(struct kernel_text *k)
{
    ptx(k, "setp.eq.u32 %again, %sum, %never;\n"
           "@%again st.global.u64 [%out], %base;\n"
           "bar.sync 0;\n");
    pin_meet(k);
    ptx(k, "setp.ne.u32 %true, %never, 0;");
    grid_barrier_hold(k);
}

static void rivals_work(struct kernel_text *k, const struct rivals *r)
{
    ptx(k, "mov.u64 %tiles, 0;\n"
           "mov.u64 %at, %base;\n"
           "mov.u64 %begun, %clock64;\n"
           "TILE:\n");
    access_tile(k, r->op == OP_WRITE);
    ptx(k, "add.u64 %tiles, %tiles, 1;\n"
           "setp.ge.u64 %again, %at, %far;\n"
           "@%again mov.u64 %at, %base;\n"
           "mov.u64 %ended, %clock64;\n"
           "sub.u64 %ended, %ended, %begun;\n"
           "setp.lt.u64 %again, %ended, %time;\n"
           "@%again bra TILE;\n");
    if (r->op == OP_WRITE)
        ptx(k, "membar.gl;");
    ptx(k, "setp.eq.u32 %again, %sum, %never;\n"
           "@%again st.global.u64 [%out], %base;\n"
           "mov.u64 %ended, %clock64;\n");
}

static size_t words_each(const struct rivals *r)
{
    return OUT_WORDS * r->warps + 1;
}

static void write_out(struct kernel_text *k, const struct rivals *r)
{
    ptx_with(k,
             "cvt.u64.u32 %at, %sm;\n"
             "@%lead st.global.u64 [%out+$sm], %at;\n"
             "@%lead st.global.u64 [%out+$begun], %begun;\n"
             "@%lead st.global.u64 [%out+$ended], %ended;\n"
             "@%lead st.global.u64 [%out+$tiles], %tiles;\n"
             "mov.u64 %at, 1;\n"
             "@!%other st.global.u64 [%out+$done], %at;\n"
             "DONE:\n",
             WORD(sm, 8 * OUT_SM), WORD(begun, 8 * OUT_BEGUN),
             WORD(ended, 8 * OUT_ENDED), WORD(tiles, 8 * OUT_TILES),
             WORD(done, 8 * (words_each(r) - 1)));
}

static void rivals_kernel(const struct experiment *e,
                          const struct device_info *info, struct buf *out)
{
    const struct rivals *const r = e->own;
    struct kernel_text k;
    kernel_begin(&k, out, device_cc(info), .name = "rivals",
                 .parameters = PIN_PARAMETERS, .variables = PIN_VARIABLES);
    pin_opening(&k, 8 * JOB_WORDS);
    aim(&k);
    warm_up(&k);
    begin_together(&k);
    rivals_work(&k, r);
    write_out(&k, r);
    kernel_end(&k);
}

/* ---- running ----------------------------------------------------------- */

/* Of a block: the warps' tiles and their mean time; each ends with a tile, so
 * from the first beginning to the last end some would have nothing to do. */
static void add_row(const struct rivals *r, const uint64_t *own,
                    struct samples *samples)
{
    int64_t *const row = samples_row(samples);
    uint64_t cycles = 0, tiles = 0;
    for (unsigned w = 0; w < r->warps; w++) {
        const uint64_t *const warp = own + w * OUT_WORDS;
        cycles += warp[OUT_ENDED] - warp[OUT_BEGUN];
        tiles += warp[OUT_TILES];
    }
    row[COLUMN_SM] = (int64_t)own[OUT_SM];
    row[COLUMN_BYTES] = (int64_t)(tiles * TILE);
    row[COLUMN_CYCLES] = (int64_t)(cycles / r->warps);
}

static void fill_jobs(const struct rivals *r, const struct pin *pin,
                      uint64_t buffer, uint64_t *jobs)
{
    for (size_t i = 0; i < r->count; i++) {
        uint64_t *const job = jobs + i * JOB_WORDS;
        job[JOB_BUFFER] = buffer + i * r->part * r->warps;
        job[JOB_OUT] = pin_out(pin, i);
        job[JOB_PART] = r->part;
        job[JOB_CYCLES] = r->cycles;
        job[JOB_NEVER] = never;
    }
}

static int run_jobs(struct prober *prober, const struct experiment *e,
                    struct samples *samples, uint64_t *jobs, struct error *err)
{
    const struct rivals *const r = e->own;
    uint64_t buffer;
    struct pin pin = {
        .count = r->count,
        .sms = r->set,
        .jobs = jobs,
        .job_bytes = 8 * JOB_WORDS,
        .words_each = words_each(r),
        .threads = LANES * r->warps,
        .shared_bytes = PIN_POOL,
        .carve_out = CARVE_OUT_DEFAULT,
    };
    if (prober_buffer(prober, BUFFER_RING, r->part * r->warps * r->count,
                      &buffer, err) != 0 ||
        pin_place(prober, &pin, err) != 0)
        return err->code;
    fill_jobs(r, &pin, buffer, jobs);
    uint64_t *const words = pin_run(prober, e, &pin, err);
    for (size_t i = 0; words != NULL && i < r->count; i++)
        add_row(r, words + i * pin.words_each, samples);
    free(words);
    return err->code;
}

/* Jobs of all SMs are more than a small stack holds. */
static int rivals_once(struct prober *prober, const struct experiment *e,
                       struct samples *samples, struct error *err)
{
    uint64_t *const jobs = xcalloc(SMS_MOST * JOB_WORDS, sizeof *jobs);
    const int status = run_jobs(prober, e, samples, jobs, err);
    free(jobs);
    return status;
}

/* Bytes of all. */
static double rivals_figure(const struct experiment *e,
                            const struct samples *samples, size_t from)
{
    double bytes = 0;
    (void)e;
    for (size_t i = from; i < samples->rows; i++)
        bytes += (double)samples_at(samples, i, COLUMN_BYTES);
    return bytes;
}

const struct probe probe_corun = {
    .name = "rivals",
    .what = "what SMs of a set move to and from L2, all at the same time",
    .params = rivals_params,
    .bytes = sizeof(struct rivals),
    .columns = TEXTS("sm", "bytes", "cycles"),
    .figure = rivals_figure,
    .repeats_least = 3,
    .repeats_most = 3,
    .prepare = rivals_prepare,
    .kernel = rivals_kernel,
    .once = rivals_once,
};
