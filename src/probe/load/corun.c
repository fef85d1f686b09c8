/*
 * The probe `rivals`: SMs of a set move bytes between themselves and L2 for so
 * many cycles, all at the same time, and the others do nothing.  What each of
 * them moves in company, and what alone, shows with whom it shares a way.
 *
 * One block on each SM of the set works; those elsewhere, and a second one on
 * the same SM, leave at once.  The working blocks meet in global memory, each
 * goes over its own part of the buffer (which it has read before, so that it
 * lies in L2) past L1 until its SM's clock says that the time is over, and
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
#include "probe/run/grid_barrier.h"
#include "probe/run/shot.h"
#include "ptx/kernel.h"

enum column { COLUMN_SM = 1, COLUMN_BYTES, COLUMN_CYCLES };

enum {
    LANES = 32,
    WIDTH = 16, /* bytes of a lane's access */
    UNROLL = 4, /* independent ones in flight */
    TILE = LANES * WIDTH * UNROLL,
    SMS_MOST = 1024,
    WARPS_MOST = 32,
    /* A block that leaves at once may make room for one meant for another SM.
     */
    LAUNCHES_MOST = 5,
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
    unsigned count; /* that are wanted */
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

static const char *const rivals_columns[] = {"sm", "bytes", "cycles", NULL};

/* ---- reading ----------------------------------------------------------- */

/* "4-7" or "4"; false for anything else. */
static bool read_range(const char *text, size_t length, struct rivals *r)
{
    unsigned from, to;
    int end = 0;
    char word[32];
    if (length >= sizeof word)
        return false;
    memcpy(word, text, length);
    word[length] = '\0';
    if (sscanf(word, "%4u-%4u%n", &from, &to, &end) != 2 ||
        (size_t)end != length) {
        if (sscanf(word, "%4u%n", &from, &end) != 1 || (size_t)end != length)
            return false;
        to = from;
    }
    if (from > to || to >= SMS_MOST)
        return false;
    for (unsigned sm = from; sm <= to; sm++) {
        r->count += !r->wanted[sm];
        r->wanted[sm] = true;
    }
    return true;
}

static bool read_set(const char *text, struct rivals *r)
{
    bool good = *text != '\0';
    while (good && *text != '\0') {
        const size_t length = strcspn(text, ",");
        good = read_range(text, length, r);
        text += length + (text[length] == ',');
    }
    return good;
}

static int rivals_check(const struct rivals *r, const struct device_info *info,
                        struct error *err)
{
    const int64_t *const has = info->value;
    for (int64_t sm = has[PROPERTY_SMS]; sm >= 0 && sm < SMS_MOST; sm++)
        if (r->wanted[sm])
            return error_set(err, ERR_USAGE,
                             "rivals: there is no SM %" PRId64
                             ": %s has %" PRId64,
                             sm, info->name, has[PROPERTY_SMS]);
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
    if (!read_set(r->sms, r))
        return error_set(err, ERR_USAGE,
                         "rivals: sms=%s is not a list of SMs and ranges of "
                         "them: 0,4-7, below %d",
                         r->sms, SMS_MOST);
    return rivals_check(r, info, err);
}

/* ---- the kernel -------------------------------------------------------- */

/* `set`: a word for each SM, 0 where it is not wanted; then as many that count
 * its blocks; then the working blocks, and `never`. */
enum {
    SET_BLOCKS = SMS_MOST,
    SET_WORKERS = 2 * SMS_MOST,
    SET_NEVER,
    SET_WORDS
};
static const char parameters[] = "set buffer out count part cycles";
enum argument {
    ARGUMENT_SET,
    ARGUMENT_BUFFER,
    ARGUMENT_OUT,
    ARGUMENT_COUNT,
    ARGUMENT_PART,
    ARGUMENT_CYCLES,
    ARGUMENTS
};

static void declare(struct kernel_text *k)
{
    ptx_with(
        k,
        ".reg .b32 %sm, %me, %warp, %slot, %n, %count, %looks, %sum, %never;\n"
        ".reg .b64 %set, %own, %at, %base, %out, %part, %far, %time, %begun, "
        "%ended, %tiles;\n"
        ".reg .pred %other, %again, %lead;\n"
        ".reg .b32 %x<$width>;\n"
        "mov.u32 %sm, %smid;\n"
        "mov.u32 %me, %tid.x;\n"
        "shr.u32 %warp, %me, 5;\n"
        "setp.ne.u32 %other, %me, 0;\n"
        "ld.param.u64 %set, [set];\n"
        "ld.global.u32 %never, [%set+$never];\n",
        WORD(width, UNROLL * WIDTH / 4), WORD(never, 4 * SET_NEVER));
}

/* The first block on an SM that is wanted gets a number, the others leave. */
static void enlist(struct kernel_text *k)
{
    ptx_with(k,
             "@%other bra ENLISTED;\n"
             "mov.u32 %slot, 0xffffffff;\n"
             "setp.ge.u32 %again, %sm, $most;\n"
             "@%again bra UNWANTED;\n"
             "mad.wide.u32 %own, %sm, 4, %set;\n"
             "ld.global.u32 %n, [%own];\n"
             "setp.eq.u32 %again, %n, 0;\n"
             "@%again bra UNWANTED;\n"
             "atom.global.add.u32 %n, [%own+$blocks], 1;\n"
             "setp.ne.u32 %again, %n, 0;\n"
             "@%again bra UNWANTED;\n"
             "atom.global.add.u32 %slot, [%set+$workers], 1;\n"
             "UNWANTED:\n"
             "st.shared.u32 [pool], %slot;\n"
             "ENLISTED:\n"
             "bar.sync 0;\n"
             "ld.shared.u32 %slot, [pool];\n"
             "setp.eq.u32 %again, %slot, 0xffffffff;\n"
             "@%again ret;\n",
             WORD(most, SMS_MOST), WORD(blocks, 4 * SET_BLOCKS),
             WORD(workers, 4 * SET_WORKERS));
}

/* Each warp its part, each lane its 16 bytes of a row. */
static void aim(struct kernel_text *k, const struct rivals *r)
{
    ptx_with(k,
             "mad.lo.u32 %n, %slot, $warps, %warp;\n"
             "ld.param.u64 %part, [part];\n"
             "ld.param.u64 %base, [buffer];\n"
             "cvt.u64.u32 %at, %n;\n"
             "mad.lo.u64 %base, %at, %part, %base;\n"
             "ld.param.u64 %out, [out];\n"
             "mad.wide.u32 %out, %n, $words, %out;\n"
             "and.b32 %n, %me, 31;\n"
             "setp.eq.u32 %lead, %n, 0;\n"
             "mad.wide.u32 %base, %n, $width, %base;\n"
             "add.u64 %far, %base, %part;\n"
             "mov.u32 %sum, 0;\n",
             WORD(warps, r->warps), WORD(words, 8 * OUT_WORDS),
             WORD(width, WIDTH));
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

/* Blocks gather at the count of working ones, which is one more for each that
 * is ready; then the warps of each. */
static void begin_together(struct kernel_text *k)
{
    ptx_with(k,
             "// ready when what it read is there\n"
             "setp.eq.u32 %again, %sum, %never;\n"
             "@%again st.global.u64 [%out], %base;\n"
             "bar.sync 0;\n"
             "@%other bra READY;\n"
             "ld.param.u32 %count, [count];\n"
             "shl.b32 %count, %count, 1;\n"
             "atom.global.add.u32 %n, [%set+$workers], 1;\n"
             "mov.u32 %looks, 0;\n"
             "GATE:\n"
             "ld.volatile.global.u32 %n, [%set+$workers];\n"
             "add.u32 %looks, %looks, 1;\n"
             "setp.lt.u32 %again, %looks, $barrier_looks;\n"
             "setp.lt.and.u32 %again, %n, %count, %again;\n"
             "@%again bra GATE;\n"
             "READY:\n"
             "// a barrier alone would not hold the clock read back\n"
             "setp.ne.u32 %again, %never, 0;\n"
             "bar.red.or.pred %again, 0, %again;\n"
             "@!%again ret;\n",
             WORD(workers, 4 * SET_WORKERS),
             WORD(barrier_looks, GRID_BARRIER_LOOKS));
}

static void rivals_work(struct kernel_text *k, const struct rivals *r)
{
    ptx(k, "ld.param.u64 %time, [cycles];\n"
           "mov.u64 %tiles, 0;\n"
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

static void write_out(struct kernel_text *k)
{
    ptx_with(k,
             "cvt.u64.u32 %at, %sm;\n"
             "@%lead st.global.u64 [%out+$sm], %at;\n"
             "@%lead st.global.u64 [%out+$begun], %begun;\n"
             "@%lead st.global.u64 [%out+$ended], %ended;\n"
             "@%lead st.global.u64 [%out+$tiles], %tiles;\n",
             WORD(sm, 8 * OUT_SM), WORD(begun, 8 * OUT_BEGUN),
             WORD(ended, 8 * OUT_ENDED), WORD(tiles, 8 * OUT_TILES));
}

static void rivals_kernel(const struct experiment *e,
                          const struct device_info *info, struct buf *out)
{
    const struct rivals *const r = e->own;
    struct kernel_text k;
    kernel_begin(&k, out, device_cc(info),
                 &(struct kernel_head){
                     .name = "rivals",
                     .parameters = parameters,
                     .variables = ".shared .align 4 .b8 pool[4];\n\n",
                 });
    declare(&k);
    enlist(&k);
    aim(&k, r);
    warm_up(&k);
    begin_together(&k);
    rivals_work(&k, r);
    write_out(&k);
    kernel_end(&k);
}

/* ---- running ----------------------------------------------------------- */

static int rivals_place(struct prober *prober, const struct rivals *r,
                        uint64_t *args, struct error *err)
{
    uint32_t set[SET_WORDS] = {[SET_NEVER] = never};
    const size_t out = (size_t)8 * OUT_WORDS * r->warps * r->count;
    for (unsigned sm = 0; sm < SMS_MOST; sm++)
        set[sm] = r->wanted[sm];
    if (prober_buffer(prober, BUFFER_RING, r->part * r->warps * r->count,
                      &args[ARGUMENT_BUFFER], err) != 0 ||
        prober_buffer(prober, BUFFER_OUT, out, &args[ARGUMENT_OUT], err) != 0 ||
        prober_buffer(prober, BUFFER_JOBS, sizeof set, &args[ARGUMENT_SET],
                      err) != 0)
        return err->code;
    return device_copy_in(prober_device(prober), args[ARGUMENT_SET], set,
                          sizeof set, err);
}

/* As many blocks as there are SMs: each SM gets one before any gets two. */
static int rivals_launch(struct prober *prober, const struct experiment *e,
                         const struct rivals *r, const uint64_t *args,
                         struct error *err)
{
    const struct device_info *const info = prober_info(prober);
    const struct shot shot = {
        .kernel = "rivals",
        .blocks = (unsigned)device_told(info, PROPERTY_SMS, 1),
        .threads = LANES * r->warps,
        .carve_out = CARVE_OUT_DEFAULT,
        .args = args,
        .arg_count = ARGUMENTS,
    };
    return prober_shoot(prober, e, &shot, err);
}

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

/* Working blocks; each counted twice, once when it was ready. */
static int count_workers(struct prober *prober, const uint64_t *args,
                         uint32_t *workers, struct error *err)
{
    device_copy_out(prober_device(prober), workers,
                    args[ARGUMENT_SET] + 4 * (uint64_t)SET_WORKERS,
                    sizeof *workers, err);
    *workers /= 2;
    return err->code;
}

/* Until all SMs of the set had a block. */
static int launch_all(struct prober *prober, const struct experiment *e,
                      const struct rivals *r, uint64_t *args, struct error *err)
{
    uint32_t workers = 0;
    for (int i = 0; i < LAUNCHES_MOST && workers != r->count; i++)
        if (rivals_place(prober, r, args, err) != 0 ||
            rivals_launch(prober, e, r, args, err) != 0 ||
            count_workers(prober, args, &workers, err) != 0)
            return err->code;
    if (workers != r->count)
        return error_set(err, ERR_UNSUPPORTED,
                         "rivals: of %u SMs %" PRIu32 " had a block", r->count,
                         workers);
    return 0;
}

static int rivals_collect(struct prober *prober, const struct rivals *r,
                          const uint64_t *args, struct samples *samples,
                          struct error *err)
{
    const size_t each = (size_t)OUT_WORDS * r->warps;
    uint64_t *const out =
        prober_fetch(prober, args[ARGUMENT_OUT], 8 * each * r->count, err);
    for (unsigned i = 0; out != NULL && i < r->count; i++)
        add_row(r, out + i * each, samples);
    free(out);
    return err->code;
}

static int rivals_once(struct prober *prober, const struct experiment *e,
                       struct samples *samples, struct error *err)
{
    const struct rivals *const r = e->own;
    uint64_t args[ARGUMENTS] = {
        [ARGUMENT_COUNT] = r->count,
        [ARGUMENT_PART] = r->part,
        [ARGUMENT_CYCLES] = r->cycles,
    };
    if (launch_all(prober, e, r, args, err) != 0)
        return err->code;
    return rivals_collect(prober, r, args, samples, err);
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
    .columns = rivals_columns,
    .figure = rivals_figure,
    .repeats_least = 3,
    .repeats_most = 3,
    .prepare = rivals_prepare,
    .kernel = rivals_kernel,
    .once = rivals_once,
};
