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
#include "probe/run.h"
#include "ptx/kernel.h"

/* A short run is so short that most are free of disturbances, and the kernel
 * fits every instruction cache. */
enum { LANES = 32, LOADS = 12 };
/* Cases that a launch may have, and bytes that their elements may span. */
enum { CASES_MOST = 1024, SPAN_MOST = 1 << 18 };
/* Offset of a lane that sits a case out. */
#define IDLE UINT32_MAX

enum out_word { OUT_SHORT, OUT_LONG, OUT_WORDS };
enum column { COLUMN_CASE = 1, COLUMN_VISITS, COLUMN_SHORT, COLUMN_LONG };

static const char *const patterns[] = {"stride", "rows", NULL};

/* clang-format off */
static const struct param params[] = {
    {"pattern", PARAM_WORD, "stride", 0, 0, patterns,
     "stride: lane l reads element l x case; rows: l x pitch, case lanes read"},
    {"width", PARAM_NUMBER, "4", 4, 8, NULL,
     "bytes of an element, 4 or 8"},
    {"from", PARAM_NUMBER, "1", 0, CASES_MOST, NULL,
     "the first case"},
    {"to", PARAM_NUMBER, "32", 0, CASES_MOST, NULL,
     "the last case"},
    {"pitch", PARAM_NUMBER, "128", 4, SPAN_MOST, NULL,
     "of pattern=rows: from lane to lane, B"},
    {"repeats", PARAM_NUMBER, "0", 0, 1000, NULL,
     "repetitions; 0: 65"},
    {0},
};
/* clang-format on */

static const char *const columns[] = {"case", "visits", "short", "long", NULL};

/* The parameters, checked. */
struct plan {
    bool stride; /* else rows */
    uint64_t width, from, to, pitch;
};

static int refuse(const struct plan *p, struct error *err)
{
    if (p->width != 4 && p->width != 8)
        return error_set(err, ERR_USAGE,
                         "width=%" PRIu64 " is neither 4 nor 8 bytes",
                         p->width);
    if (p->to < p->from)
        return error_set(err, ERR_USAGE,
                         "to=%" PRIu64 " is less than from=%" PRIu64, p->to,
                         p->from);
    if (!p->stride && (p->from < 1 || p->to > LANES))
        return error_set(err, ERR_USAGE,
                         "of 1 to %d lanes each reads a row of its own", LANES);
    if (p->pitch % p->width != 0)
        return error_set(err, ERR_USAGE,
                         "pitch=%" PRIu64 " is not a multiple of the %" PRIu64
                         " bytes of an element",
                         p->pitch, p->width);
    return 0;
}

/* Bytes between neighbouring lanes. */
static uint64_t distance(const struct plan *p, uint64_t number)
{
    return p->stride ? number * p->width : p->pitch;
}

static uint64_t active_lanes(const struct plan *p, uint64_t number)
{
    return p->stride ? LANES : number;
}

/* The last case reaches farthest. */
static uint64_t span(const struct plan *p)
{
    return (active_lanes(p, p->to) - 1) * distance(p, p->to) + p->width;
}

static int read_plan(const struct experiment *e, struct plan *p,
                     struct error *err)
{
    *p = (struct plan){
        .stride = strcmp(experiment_word(e, "pattern"), "stride") == 0,
        .width = experiment_number(e, "width"),
        .from = experiment_number(e, "from"),
        .to = experiment_number(e, "to"),
        .pitch = experiment_number(e, "pitch"),
    };
    if (refuse(p, err) != 0)
        return err->code;
    if (span(p) > SPAN_MOST)
        return error_set(err, ERR_USAGE,
                         "the elements lie over %" PRIu64
                         " bytes, of which there may be %d",
                         span(p), SPAN_MOST);
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

static int kernel(const struct experiment *e, const struct device_info *info,
                  struct buf *out, struct error *err)
{
    struct plan plan;
    if (read_plan(e, &plan, err) != 0)
        return err->code;
    const unsigned width = (unsigned)plan.width;
    struct kernel_text k;
    kernel_begin(&k, out, device_cc(info),
                 &(struct kernel_head){
                     .name = "banks",
                     .parameters = "table out rows",
                     .variables = ".extern .shared .align 1024 .b8 pool[];\n\n",
                 });
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
    return 0;
}

/* ---- the launch ------------------------------------------------------- */

/* Offsets by case and lane.  The first case comes twice: what it costs while
 * its code is not yet cached is thrown away. */
static uint32_t *offsets_of(const struct plan *p, size_t rows)
{
    uint32_t *const table = xreallocarray(NULL, rows * LANES, sizeof *table);
    for (size_t row = 0; row < rows; row++) {
        const uint64_t number = p->from + (row > 0 ? row - 1 : 0);
        for (uint64_t lane = 0; lane < LANES; lane++)
            table[row * LANES + lane] =
                lane < active_lanes(p, number)
                    ? (uint32_t)(lane * distance(p, number))
                    : IDLE;
    }
    return table;
}

/* Fills `words`, OUT_WORDS for each row. */
static int measure(struct prober *prober, const struct experiment *e,
                   const struct plan *p, uint64_t rows, uint64_t *words,
                   struct error *err)
{
    struct device *const d = prober_device(prober);
    const size_t table_bytes = rows * LANES * sizeof(uint32_t);
    const size_t out_bytes = rows * OUT_WORDS * sizeof *words;
    struct kernel *k;
    uint64_t table, out;
    if (prober_kernel(prober, e, "banks", &k, err) != 0 ||
        prober_buffer(prober, BUFFER_JOBS, table_bytes, &table, err) != 0 ||
        prober_buffer(prober, BUFFER_OUT, out_bytes, &out, err) != 0)
        return err->code;
    uint32_t *const offsets = offsets_of(p, rows);
    int status = device_copy_in(d, table, offsets, table_bytes, err);
    free(offsets);
    /* clang-format off */
    const struct launch launch = {
        .grid = {1},
        .block = {LANES},
        .shared_bytes = (unsigned)span(p),
        .carve_out = CARVE_OUT_DEFAULT,
        .args = {&table, &out, &rows},
        .arg_count = 3,
    };
    /* clang-format on */
    if (status == 0)
        status = device_launch(d, k, &launch, err);
    if (status == 0)
        status = device_copy_out(d, words, out, out_bytes, err);
    return status;
}

static int once(struct prober *prober, const struct experiment *e,
                struct samples *samples, struct error *err)
{
    struct plan plan;
    if (read_plan(e, &plan, err) != 0)
        return err->code;
    const uint64_t rows = plan.to - plan.from + 2;
    uint64_t *const words = xcalloc(rows * OUT_WORDS, sizeof *words);
    const int status = measure(prober, e, &plan, rows, words, err);
    for (uint64_t i = 1; status == 0 && i < rows; i++) {
        int64_t *const row = samples_row(samples);
        row[COLUMN_CASE] = (int64_t)(plan.from + i - 1);
        row[COLUMN_VISITS] = LOADS;
        row[COLUMN_SHORT] = (int64_t)words[i * OUT_WORDS + OUT_SHORT];
        row[COLUMN_LONG] = (int64_t)words[i * OUT_WORDS + OUT_LONG];
    }
    free(words);
    return status;
}

/* Cycles a load, over all cases. */
static double figure(const struct experiment *e, const struct samples *samples,
                     size_t from)
{
    double cycles = 0;
    (void)e;
    for (size_t row = from; row < samples->rows; row++)
        cycles += (double)(samples_at(samples, row, COLUMN_LONG) -
                           samples_at(samples, row, COLUMN_SHORT));
    return cycles / (double)((samples->rows - from) * LOADS);
}

/* All cases at once settle before each does; a repetition is cheap. */
const struct probe probe_banks = {
    .name = "banks",
    .what = "cost of a warp's load from shared memory, by where lanes read",
    .params = params,
    .columns = columns,
    .figure = figure,
    .repeats_least = 65,
    .repeats_most = 65,
    .kernel = kernel,
    .once = once,
};
