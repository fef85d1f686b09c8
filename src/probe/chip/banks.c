/*
 * The probe `banks`: what a warp's load from shared memory costs, by where its
 * lanes read (Mei 2014, 3.1: stride memory access).
 *
 * One warp.  Each lane's element holds its own address, and the lane loads it
 * again and again, so that each load waits for the one before and nothing can
 * be folded.  The lanes' offsets come from a table, a row for each case, so
 * that one launch measures many strides.  A case is timed over a short run and
 * one twice as long, both in straight lines; their difference is free of the
 * clock reads and of the wait for the last load.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "probe/check.h"
#include "probe/run/shot.h"
#include "ptx/kernel.h"

/* A short run is so short that most are free of disturbances, and the kernel
 * fits every instruction cache. */
enum { LANES = 32, LOADS = 12 };
/* Cases that a launch may have, and bytes that their elements may span. */
enum { CASES_MOST = 1024, SPAN_MOST = 1 << 18 };
/* Offset of a lane that sits a case out. */
#define IDLE UINT32_MAX

enum out_word { OUT_SHORT, OUT_LONG, OUT_WORDS };
enum { COLUMN_CASE = 1, COLUMN_SHORT = 3, COLUMN_LONG };

struct banks {
    enum { STRIDE, ROWS } pattern;
    uint64_t width, from, to, pitch;
};

static const char *const patterns[] = {"stride", "rows", NULL};

/* clang-format off */
static const struct param banks_params[] = {
    CHOICE(struct banks, pattern, "stride", patterns, "stride: lane l reads element l x case; rows: l x pitch, case lanes read"),
    NUMBER(struct banks, width, "4",   4, 8,          "bytes of an element, 4 or 8"),
    NUMBER(struct banks, from,  "1",   0, CASES_MOST, "the first case"),
    NUMBER(struct banks, to,    "32",  0, CASES_MOST, "the last case"),
    NUMBER(struct banks, pitch, "128", 4, SPAN_MOST,  "of pattern=rows: from lane to lane, B"),
    REPEATS(1000, "repetitions; 0: 65"),
    {0},
};
/* clang-format on */

static int banks_refuse(const struct banks *b, struct error *err)
{
    if (b->width != 4 && b->width != 8)
        return error_set(err, ERR_USAGE,
                         "width=%" PRIu64 " is neither 4 nor 8 bytes",
                         b->width);
    if (b->to < b->from)
        return error_set(err, ERR_USAGE,
                         "to=%" PRIu64 " is less than from=%" PRIu64, b->to,
                         b->from);
    if (b->pattern == ROWS && (b->from < 1 || b->to > LANES))
        return error_set(err, ERR_USAGE,
                         "of 1 to %d lanes each reads a row of its own", LANES);
    if (b->pitch % b->width != 0)
        return error_set(err, ERR_USAGE,
                         "pitch=%" PRIu64 " is not a multiple of the %" PRIu64
                         " bytes of an element",
                         b->pitch, b->width);
    return 0;
}

/* Bytes between neighbouring lanes. */
static uint64_t distance(const struct banks *b, uint64_t number)
{
    return b->pattern == STRIDE ? number * b->width : b->pitch;
}

static uint64_t active_lanes(const struct banks *b, uint64_t number)
{
    return b->pattern == STRIDE ? LANES : number;
}

/* The last case reaches farthest. */
static uint64_t span(const struct banks *b)
{
    return (active_lanes(b, b->to) - 1) * distance(b, b->to) + b->width;
}

static int banks_prepare(struct experiment *e, const struct device_info *info,
                         struct error *err)
{
    const struct banks *const b = e->own;
    (void)info;
    if (banks_refuse(b, err) != 0)
        return err->code;
    if (span(b) > SPAN_MOST)
        return error_set(err, ERR_USAGE,
                         "the elements lie over %" PRIu64
                         " bytes, of which there may be %d",
                         span(b), SPAN_MOST);
    return 0;
}

/* ---- the kernel ------------------------------------------------------- */

static void declare(struct kernel_text *k, unsigned width)
{
    ptx_with(k,
             ".reg .b64 %table, %out, %rows, %t0, %t1;\n"
             ".reg .b32 %lane, %pool, %offset;\n"
             ".reg .b$width %ptr;\n"
             ".reg .pred %first, %idle, %again;\n"
             "ld.param.u64 %table, [table];\n"
             "ld.param.u64 %out, [out];\n"
             "ld.param.u64 %rows, [rows];\n"
             "mov.u32 %lane, %tid.x;\n"
             "setp.eq.u32 %first, %lane, 0;\n"
             "mad.wide.u32 %table, %lane, 4, %table;\n"
             "mov.u32 %pool, pool;\n",
             WORD(width, 8 * width));
}

/* Each lane's element is made to hold its address, between barriers: no lane
 * may still read where another one writes. */
static void lay_out(struct kernel_text *k, unsigned width)
{
    ptx(k, "ld.global.u32 %offset, [%table];\n"
           "setp.eq.s32 %idle, %offset, -1;\n"
           "add.u32 %offset, %offset, %pool;\n");
    ptx(k,
        width == 8 ? "cvt.u64.u32 %ptr, %offset;" : "mov.u32 %ptr, %offset;");
    ptx_with(k,
             "bar.sync 0;\n"
             "@!%idle st.shared.u$width [%ptr], %ptr;\n"
             "bar.sync 0;\n",
             WORD(width, 8 * width));
}

/* A chain of loads, its last waited for by a branch that is never taken: no
 * address has all bits set.  Volatile, or an assembler may load only the half
 * of 8 bytes that is used. */
static void chain(struct kernel_text *k, unsigned width, int loads)
{
    for (int i = 0; i < loads; i++)
        ptx_with(k, "ld.volatile.shared.u$width %ptr, [%ptr];",
                 WORD(width, 8 * width));
    ptx_with(k,
             "setp.eq.s$width %again, %ptr, -1;\n"
             "@%again bra NEXT;\n",
             WORD(width, 8 * width));
}

static void timed_chain(struct kernel_text *k, unsigned width, int loads,
                        enum out_word word)
{
    ptx(k, "mov.u64 %t0, %clock64;");
    chain(k, width, loads);
    ptx_with(k,
             "mov.u64 %t1, %clock64;\n"
             "sub.u64 %t1, %t1, %t0;\n"
             "@%first st.global.u64 [%out+$word], %t1;\n",
             WORD(word, 8 * (int)word));
}

static void banks_kernel(const struct experiment *e,
                         const struct device_info *info, struct buf *out)
{
    const struct banks *const b = e->own;
    const unsigned width = (unsigned)b->width;
    struct kernel_text k;
    kernel_begin(&k, out, device_cc(info), .name = "banks",
                 .parameters = "table out rows",
                 .variables = ".extern .shared .align 1024 .b8 pool[];\n\n");
    declare(&k, width);
    ptx(&k, "CASE:");
    lay_out(&k, width);
    ptx(&k, "@%idle bra NEXT;\n"
            "// the stores are through before the clock runs\n");
    chain(&k, width, 1);
    timed_chain(&k, width, LOADS, OUT_SHORT);
    timed_chain(&k, width, 2 * LOADS, OUT_LONG);
    ptx_with(&k,
             "NEXT:\n"
             "add.u64 %table, %table, $lanes;\n"
             "add.u64 %out, %out, $words;\n"
             "sub.u64 %rows, %rows, 1;\n"
             "setp.ne.u64 %again, %rows, 0;\n"
             "@%again bra CASE;\n",
             WORD(lanes, 4 * LANES), WORD(words, 8 * OUT_WORDS));
    kernel_end(&k);
}

/* ---- the launch ------------------------------------------------------- */

static uint64_t cases_of(const struct banks *b)
{
    return b->to - b->from + 1;
}

/* Offsets by case, from that one on, and lane.  The first case comes twice:
 * what it costs while its code is not yet cached is thrown away. */
static uint32_t *offsets_of(const struct banks *b, uint64_t from, size_t rows)
{
    uint32_t *const table = xreallocarray(NULL, rows * LANES, sizeof *table);
    for (size_t row = 0; row < rows; row++) {
        const uint64_t number = from + (row > 0 ? row - 1 : 0);
        for (uint64_t lane = 0; lane < LANES; lane++)
            table[row * LANES + lane] =
                lane < active_lanes(b, number)
                    ? (uint32_t)(lane * distance(b, number))
                    : IDLE;
    }
    return table;
}

/* By how much a chain and one of twice its loads do not agree, and what all
 * take (prober_watched): what another process takes comes into one of them. */
static uint64_t watch_of(const uint64_t *words, uint64_t rows)
{
    uint64_t gap = 0, span = 0;
    for (uint64_t i = 1; i < rows; i++) {
        const uint64_t *const own = words + i * OUT_WORDS;
        const uint64_t twice = 2 * own[OUT_SHORT], longer = own[OUT_LONG];
        gap = u64_max(gap,
                      longer > twice ? longer - twice : (twice - longer) / 2);
        span += own[OUT_SHORT] + longer;
    }
    return u64_min(span, UINT32_MAX) << 32 | u64_min(gap, UINT32_MAX);
}

static int banks_once(struct prober *prober, const struct experiment *e,
                      struct samples *samples, struct error *err)
{
    const struct banks *const b = e->own;
    const uint64_t pieces = u64_max(e->piece.count, 1);
    const uint64_t before = cases_of(b) * e->piece.index / pieces;
    const uint64_t from = b->from + before;
    const uint64_t rows =
        cases_of(b) * (e->piece.index + 1) / pieces - before + 1;
    const size_t table_bytes = rows * LANES * sizeof(uint32_t);
    const size_t out_bytes = rows * OUT_WORDS * sizeof(uint64_t);
    uint64_t args[] = {0, 0, rows};
    const struct shot shot = {
        .kernel = "banks",
        .blocks = 1,
        .threads = LANES,
        .shared_bytes = span(b),
        .carve_out = CARVE_OUT_DEFAULT,
        .args = args,
        .arg_count = COUNT_OF(args),
    };
    uint32_t *const offsets = offsets_of(b, from, rows);
    const int status =
        prober_place(prober, BUFFER_JOBS, offsets, table_bytes, &args[0], err);
    free(offsets);
    if (status != 0 ||
        prober_buffer(prober, BUFFER_OUT, out_bytes, &args[1], err) != 0 ||
        prober_shoot(prober, e, &shot, err) != 0)
        return err->code;
    uint64_t *const words = prober_fetch(prober, args[1], out_bytes, err);
    if (words != NULL)
        prober_watched(prober, watch_of(words, rows));
    for (uint64_t i = 1; words != NULL && i < rows; i++) {
        const uint64_t *const own = words + i * OUT_WORDS;
        samples_add(samples, from + i - 1, LOADS, own[OUT_SHORT],
                    own[OUT_LONG]);
    }
    free(words);
    return err->code;
}

/* Cycles a load, over all cases. */
static double banks_figure(const struct experiment *e,
                           const struct samples *samples, size_t from)
{
    double cycles = 0;
    (void)e;
    for (size_t row = from; row < samples->rows; row++)
        cycles += (double)(samples_at(samples, row, COLUMN_LONG) -
                           samples_at(samples, row, COLUMN_SHORT));
    return cycles / (double)((samples->rows - from) * LOADS);
}

static unsigned banks_pieces(const struct experiment *e)
{
    return (unsigned)cases_of(e->own);
}

static const char *banks_sound(const struct experiment *e,
                               const struct rows *rows)
{
    const struct banks *const b = e->own;
    const char *const why = rows_are(rows, cases_of(b));
    for (size_t i = rows->from; why == NULL && i < rows->to; i++)
        if ((uint64_t)samples_at(rows->samples, i, COLUMN_CASE) !=
            b->from + (i - rows->from))
            return "its cases are not in their order";
    return why;
}

/* All cases at once settle before each does; a repetition is cheap. */
const struct probe probe_banks = {
    .name = "banks",
    .what = "cost of a warp's load from shared memory, by where lanes read",
    .params = banks_params,
    .bytes = sizeof(struct banks),
    .columns = TEXTS("case", "visits", "short", "long"),
    .figure = banks_figure,
    .repeats_least = 65,
    .repeats_most = 65,
    .prepare = banks_prepare,
    .kernel = banks_kernel,
    .once = banks_once,
    .pieces = banks_pieces,
    .join = samples_append,
    .sound = banks_sound,
};
