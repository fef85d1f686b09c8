/*
 * The probe `transpose`: a matrix of 32-bit elements is transposed, both
 * matrices lying row by row in global memory (van Stigt 2022, 7.1.2).
 *
 *   read_columns   lanes go down a column of what is read, along a row of what
 *                  is written
 *   write_columns  the reverse
 *   lines          a thread moves a whole line of what is read, one element at
 *                  a time; lanes take lines below each other, so that each
 *                  element of theirs goes to one row
 *
 * All are one walk over (x, y), x going fastest, of which in- and output have
 * strides of their own.  All threads of the grid divide it; each has one
 * element under way.  Loads and stores carry a cache operator or a hint.
 *
 * Before each repetition the input is filled with its own indices and the
 * output with what no index is; after it every element of the output is
 * compared.  Both sweep L2, so that no repetition finds what another left.
 *
 * A row a repetition: from the first beginning to the last end of a warp, by
 * the GPU's timer; the time of the launch; the most cycles of an SM.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probe/check.h"
#include "probe/run/shot.h"
#include "ptx/hint.h"

enum column {
    COLUMN_BYTES = 1,
    COLUMN_NS,
    COLUMN_NS_STEP,
    COLUMN_NS_EVENT,
    COLUMN_CYCLES
};

enum { LANES = 32, ELEMENT = 4, DEADLINE_S = 60 };
/* Warps of a launch: 64 MiB of records. */
enum { WARPS_MOST = 1 << 20 };

enum form { READ_COLUMNS, WRITE_COLUMNS, LINES };
static const char *const forms[] = {"read_columns", "write_columns", "lines",
                                    NULL};

struct transpose {
    enum form form;
    const char *load_word, *store_word;
    const struct hint *load, *store;
    unsigned threads, blocks, rows, columns, line, turn;
    uint64_t warm;
};

/* clang-format off */
static const struct param transpose_params[] = {
    CHOICE(struct transpose, form, "read_columns", forms, "what goes along columns: reads; writes; or a thread moves whole lines"),
    PARAM_ROW("load", struct transpose, load_word, PARAM_WORD, "default", 0, 0, hint_loads, "cache operator or hint of loads"),
    PARAM_ROW("store", struct transpose, store_word, PARAM_WORD, "default", 0, 0, hint_stores, "cache operator or hint of stores"),
    NUMBER(struct transpose, threads, "256", 32, 1024, "threads of a block, whole warps"),
    NUMBER(struct transpose, blocks, "0", 0, 1 << 20, "blocks of the grid; 0: one for each SM"),
    NUMBER(struct transpose, rows, "512", 32, 32768, "of what is read"),
    NUMBER(struct transpose, columns, "512", 32, 32768, "of what is read"),
    NUMBER(struct transpose, line, "32", 1, 1024, "elements that a thread moves, of form=lines; they divide a row"),
    NUMBER(struct transpose, warm, "0", 0, 1000, "launches before"),
    NUMBER(struct transpose, turn, "0", 0, 1 << 20, "which of several alike it is; changes nothing"),
    REPEATS(1000, "repetitions; 0: as many as the stopping rule wants"),
    {0},
};
/* clang-format on */

/* ---- reading ----------------------------------------------------------- */

static int too_many(struct error *err, const char *what, uint64_t have,
                    int64_t most)
{
    return error_set(err, ERR_USAGE,
                     "transpose: %" PRIu64 " %s; this GPU takes %" PRId64, have,
                     what, most);
}

static int check_room(const struct transpose *t, const struct device_info *info,
                      struct error *err)
{
    const int64_t threads = info->value[PROPERTY_BLOCK_THREADS];
    const int64_t blocks = info->value[PROPERTY_GRID_X];
    const uint64_t warps = (uint64_t)t->blocks * (t->threads / LANES);
    if (threads > 0 && t->threads > (uint64_t)threads)
        return too_many(err, "threads in a block", t->threads, threads);
    if (blocks > 0 && t->blocks > (uint64_t)blocks)
        return too_many(err, "blocks in a grid", t->blocks, blocks);
    if (warps > WARPS_MOST)
        return error_set(err, ERR_USAGE,
                         "transpose: %" PRIu64 " warps in a grid; %d are kept",
                         warps, WARPS_MOST);
    return 0;
}

static int transpose_prepare(struct experiment *e,
                             const struct device_info *info, struct error *err)
{
    struct transpose *const t = e->own;
    t->load = hint_find(t->load_word);
    t->store = hint_find(t->store_word);
    if (t->blocks == 0)
        t->blocks = (unsigned)device_told(info, PROPERTY_SMS, 1);
    if (t->threads % LANES != 0)
        return error_set(err, ERR_USAGE,
                         "transpose: threads=%u are no whole warps of %d",
                         t->threads, LANES);
    if (t->form == LINES && t->columns % t->line != 0)
        return error_set(err, ERR_USAGE,
                         "transpose: lines of %u do not divide a row of %u",
                         t->line, t->columns);
    if (hint_check(t->load, info, err) != 0 ||
        hint_check(t->store, info, err) != 0)
        return err->code;
    return check_room(t, info, err);
}

/* ---- the kernel -------------------------------------------------------- */

/* Strides are in elements; `step` is that of a line's elements in the output,
 * `line` how many there are. */
KERNEL_PARAMETERS(transpose_arguments, in, out, records, minor, major, in_x,
                  in_y, out_x, out_y, step, line);

/* Neither an index (an element's number is below 2^30) nor what the output is
 * filled with. */
#define NEVER 0x9e3779b9u

/* Words of a warp's record. */
enum record {
    RECORD_CYCLES_BEGUN,
    RECORD_CYCLES_ENDED,
    RECORD_NS_BEGUN,
    RECORD_NS_ENDED,
    RECORD_SM,
    RECORD_WORDS = 6 /* whole pairs */
};

static void declare(struct kernel_text *k)
{
    ptx(k,
        ".reg .b32 %x, %y, %dx, %dy, %minor, %major, %in_x, %in_y, %out_x, "
        "%out_y, %all, %me, %i, %value, %line, %left, %sm;\n"
        ".reg .b64 %in, %out, %from, %to, %step, %record, %t0, %t1, %g0, %g1;\n"
        ".reg .pred %on, %end, %again;\n");
}

static void load_parameters(struct kernel_text *k)
{
    static const char *const words[] = {"minor", "major", "in_x", "in_y",
                                        "out_x", "out_y", "line"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        ptx_with(k, "ld.param.u32 %$words, [$words];", WORD(words, words[i]));
    ptx(k, "ld.param.u64 %in, [in];\n"
           "ld.param.u64 %out, [out];\n"
           "ld.param.u64 %step, [step];\n");
}

/* Where the thread begins, and how far it goes from one element to the next:
 * as many as there are threads. */
static void place_thread(struct kernel_text *k)
{
    ptx(k, "mov.u32 %me, %ctaid.x;\n"
           "mov.u32 %all, %ntid.x;\n"
           "mov.u32 %i, %tid.x;\n"
           "mad.lo.u32 %me, %me, %all, %i;\n"
           "mov.u32 %i, %nctaid.x;\n"
           "mul.lo.u32 %all, %all, %i;\n"
           "div.u32 %y, %me, %minor;\n"
           "rem.u32 %x, %me, %minor;\n"
           "div.u32 %dy, %all, %minor;\n"
           "rem.u32 %dx, %all, %minor;\n");
}

/* What is read depends on the clock reads: no 64-bit clock is all ones. */
static void begin(struct kernel_text *k)
{
    ptx(k, "mov.u64 %g0, %globaltimer;\n"
           "mov.u64 %t0, %clock64;\n"
           "max.u64 %from, %g0, %t0;\n"
           "setp.ne.u64 %on, %from, 0xffffffffffffffff;\n"
           "selp.b64 %in, %in, %out, %on;\n"
           "mov.u64 %to, %out;\n");
}

static void move_element(struct kernel_text *k, const struct transpose *t)
{
    ptx_with(
        k,
        "ld.global$load.u32 %value, [%from]$load_policy;\n"
        "st.global$store.u32 [%to], %value$store_policy;\n",
        WORD(load, t->load->modifier),
        WORD(load_policy, t->load->policy != NULL ? ", %load_policy" : ""),
        WORD(store, t->store->modifier),
        WORD(store_policy, t->store->policy != NULL ? ", %store_policy" : ""));
}

static void move_line(struct kernel_text *k, const struct transpose *t)
{
    ptx(k, "mov.u32 %left, %line;\n"
           "LINE:\n"
           ".pragma \"nounroll\";\n");
    move_element(k, t);
    ptx_with(k,
             "add.u64 %from, %from, $element;\n"
             "add.u64 %to, %to, %step;\n"
             "sub.u32 %left, %left, 1;\n"
             "setp.ne.u32 %again, %left, 0;\n"
             "@%again bra LINE;\n"
             "sub.u64 %to, %to, %step;\n",
             WORD(element, ELEMENT));
}

static void advance(struct kernel_text *k)
{
    ptx(k, "add.u32 %x, %x, %dx;\n"
           "add.u32 %y, %y, %dy;\n"
           "setp.ge.u32 %again, %x, %minor;\n"
           "@%again sub.u32 %x, %x, %minor;\n"
           "@%again add.u32 %y, %y, 1;\n");
}

static void walk(struct kernel_text *k, const struct transpose *t)
{
    ptx_with(k,
             "WALK:\n"
             ".pragma \"nounroll\";\n"
             "setp.ge.u32 %end, %y, %major;\n"
             "@%end bra DONE;\n"
             "mul.lo.u32 %i, %x, %in_x;\n"
             "mad.lo.u32 %i, %y, %in_y, %i;\n"
             "mad.wide.u32 %from, %i, $element, %in;\n"
             "mul.lo.u32 %i, %x, %out_x;\n"
             "mad.lo.u32 %i, %y, %out_y, %i;\n"
             "mad.wide.u32 %to, %i, $element, %out;\n",
             WORD(element, ELEMENT));
    if (t->form == LINES)
        move_line(k, t);
    else
        move_element(k, t);
    advance(k);
    ptx(k, "bra WALK;\n"
           "DONE:\n");
}

/* Each warp's first lane, when all lanes are done: it reads back what it wrote
 * last, which is what no index is only before it was written.  A fence would do
 * the same, but empties L1 under warps that are still at it. */
static void end(struct kernel_text *k)
{
    ptx_with(k,
             "bar.warp.sync 0xffffffff;\n"
             "ld.volatile.global.u32 %value, [%to];\n"
             "setp.ne.u32 %on, %value, $never;\n"
             "mov.u64 %t1, %t0;\n"
             "mov.u64 %g1, %g0;\n"
             "@%on mov.u64 %t1, %clock64;\n"
             "@%on mov.u64 %g1, %globaltimer;\n"
             "and.b32 %i, %me, $lanes;\n"
             "setp.ne.u32 %again, %i, 0;\n"
             "@%again bra LEAVE;\n"
             "shr.u32 %i, %me, 5;\n"
             "ld.param.u64 %record, [records];\n"
             "mad.wide.u32 %record, %i, $words, %record;\n"
             "st.global.v2.u64 [%record+$cycles_begun], {%t0, %t1};\n"
             "st.global.v2.u64 [%record+$ns_begun], {%g0, %g1};\n"
             "mov.u32 %sm, %smid;\n"
             "cvt.u64.u32 %t0, %sm;\n"
             "st.global.u64 [%record+$sm], %t0;\n"
             "LEAVE:\n",
             WORD(never, NEVER), WORD(lanes, LANES - 1),
             WORD(words, 8 * RECORD_WORDS),
             WORD(cycles_begun, 8 * RECORD_CYCLES_BEGUN),
             WORD(ns_begun, 8 * RECORD_NS_BEGUN), WORD(sm, 8 * RECORD_SM));
}

static const char *version_of(const struct transpose *t)
{
    const char *const load = hint_version(t->load);
    return load != NULL ? load : hint_version(t->store);
}

static void transpose_kernel(const struct experiment *e,
                             const struct device_info *info, struct buf *out)
{
    const struct transpose *const t = e->own;
    struct kernel_text k;
    kernel_begin(&k, out, device_cc(info), .name = "transpose",
                 .parameters = transpose_arguments_names,
                 .least = version_of(t));
    declare(&k);
    hint_policy(&k, t->load, "load_policy");
    hint_policy(&k, t->store, "store_policy");
    load_parameters(&k);
    place_thread(&k);
    begin(&k);
    walk(&k, t);
    end(&k);
    kernel_end(&k);
}

/* ---- what goes before and comes after ---------------------------------- */

enum { HELPER_THREADS = 256 };
/* `wrong`: where they count. */
KERNEL_PARAMETERS(helper_arguments, in, out, wrong, rows, columns);

static void helper_begin(struct kernel_text *k, struct buf *out,
                         const struct device_info *info, const char *version,
                         const char *name)
{
    kernel_begin(k, out, device_cc(info), .name = name,
                 .parameters = helper_arguments_names, .least = version);
    ptx_with(
        k,
        ".reg .b32 %i, %all, %count, %rows, %columns, %value, %row, %column;\n"
        ".reg .b64 %in, %out, %wrong, %at;\n"
        ".reg .pred %end;\n"
        "ld.param.u64 %in, [in];\n"
        "ld.param.u64 %out, [out];\n"
        "ld.param.u64 %wrong, [wrong];\n"
        "ld.param.u32 %rows, [rows];\n"
        "ld.param.u32 %columns, [columns];\n"
        "mul.lo.u32 %count, %rows, %columns;\n"
        "mov.u32 %i, %ctaid.x;\n"
        "mov.u32 %row, %tid.x;\n"
        "mad.lo.u32 %i, %i, $threads, %row;\n"
        "mov.u32 %all, %nctaid.x;\n"
        "mul.lo.u32 %all, %all, $threads;\n"
        "NEXT:\n"
        "setp.ge.u32 %end, %i, %count;\n"
        "@%end bra DONE;\n",
        WORD(threads, HELPER_THREADS));
}

static void helper_end(struct kernel_text *k)
{
    ptx(k, "add.u32 %i, %i, %all;\n"
           "bra NEXT;\n"
           "DONE:\n");
    kernel_end(k);
}

/* in[i] = i, out[i] = what is no index. */
static void write_fill(struct buf *out, const struct device_info *info)
{
    struct kernel_text k;
    helper_begin(&k, out, info, NULL, "fill");
    ptx_with(&k,
             "mad.wide.u32 %at, %i, $element, %in;\n"
             "st.global.u32 [%at], %i;\n"
             "mad.wide.u32 %at, %i, $element, %out;\n"
             "st.global.u32 [%at], 0xffffffff;\n",
             WORD(element, ELEMENT));
    helper_end(&k);
}

/* Counts the elements of the output that are not what they must be. */
static void write_check(struct buf *out, const struct device_info *info)
{
    struct kernel_text k;
    helper_begin(&k, out, info, NULL, "check");
    ptx_with(&k,
             "div.u32 %column, %i, %rows;\n"
             "rem.u32 %row, %i, %rows;\n"
             "mad.lo.u32 %row, %row, %columns, %column;\n"
             "mad.wide.u32 %at, %i, $element, %out;\n"
             "ld.global.cg.u32 %value, [%at];\n"
             "setp.ne.u32 %end, %value, %row;\n"
             "@%end red.global.add.u32 [%wrong], 1;\n",
             WORD(element, ELEMENT));
    helper_end(&k);
}

/* Lines that L2 was told to keep long are as all others again: else it would
 * keep them through experiments to come. */
static void write_release(struct buf *out, const struct device_info *info)
{
    const struct hint *const normal = hint_find("l2_normal");
    struct kernel_text k;
    helper_begin(&k, out, info, hint_version(normal), "release");
    hint_policy(&k, normal, "policy");
    for (unsigned i = 0; i < 2; i++) {
        ptx_with(&k,
                 "mad.wide.u32 %at, %i, $element, %$out;\n"
                 "ld.global$load.u32 %value, [%at], %policy;\n"
                 "// what is read is used, or it would not be read\n"
                 "setp.eq.u32 %end, %value, 0xffffffff;\n"
                 "@%end red.global.add.u32 [%wrong], 1;\n",
                 WORD(element, ELEMENT), WORD(out, i == 0 ? "in" : "out"),
                 WORD(load, normal->modifier));
    }
    helper_end(&k);
}

/* ---- running ----------------------------------------------------------- */

struct run {
    const struct transpose *transpose;
    struct transpose_arguments args;
    uint64_t wrong; /* where a count is */
};

static uint64_t matrix_bytes(const struct transpose *t)
{
    return (uint64_t)t->rows * t->columns * ELEMENT;
}

/* How far x and y go, and their strides in the input and in the output. */
static struct transpose_arguments arguments_of(const struct transpose *t)
{
    const uint64_t rows = t->rows, width = t->columns, line = t->line;
    struct transpose_arguments a[] = {
        [READ_COLUMNS] = {.minor = rows,
                          .major = width,
                          .in_x = width,
                          .in_y = 1,
                          .out_x = 1,
                          .out_y = rows},
        [WRITE_COLUMNS] = {.minor = width,
                           .major = rows,
                           .in_x = 1,
                           .in_y = width,
                           .out_x = rows,
                           .out_y = 1},
        [LINES] = {.minor = rows,
                   .major = width / line,
                   .in_x = width,
                   .in_y = line,
                   .out_x = 1,
                   .out_y = line * rows},
    };
    a[t->form].step = ELEMENT * rows;
    a[t->form].line = line;
    return a[t->form];
}

static size_t warps_of(const struct transpose *t)
{
    return (size_t)t->blocks * (t->threads / LANES);
}

static int transpose_place(struct prober *prober, struct run *r,
                           struct error *err)
{
    /* Matrices begin at whole pages. */
    static const uint64_t page = 2 << 20;
    const struct transpose *const t = r->transpose;
    const uint64_t each = (matrix_bytes(t) + page - 1) / page * page;
    if (prober_buffer(prober, BUFFER_RING, 2 * each, &r->args.in, err) != 0 ||
        prober_buffer(prober, BUFFER_OUT,
                      warps_of(t) * RECORD_WORDS * sizeof(uint64_t),
                      &r->args.records, err) != 0)
        return err->code;
    r->args.out = r->args.in + each;
    return prober_buffer(prober, BUFFER_SLOTS, sizeof(uint32_t), &r->wrong,
                         err);
}

static int
launch_helper(struct prober *prober, const struct run *r, const char *name,
              void (*write)(struct buf *out, const struct device_info *info),
              struct error *err)
{
    enum { BLOCKS_OF_SM = 4 };
    const struct device_info *const info = prober_info(prober);
    const struct helper_arguments args = {r->args.in, r->args.out, r->wrong,
                                          r->transpose->rows,
                                          r->transpose->columns};
    const struct shot shot = {
        .kernel = name,
        .blocks = BLOCKS_OF_SM * (unsigned)device_told(info, PROPERTY_SMS, 1),
        .threads = HELPER_THREADS,
        .carve_out = CARVE_OUT_DEFAULT,
        .deadline_s = DEADLINE_S,
        SHOT_ARGUMENTS(&args),
    };
    struct buf text = {0};
    write(&text, info);
    const int status = prober_shoot_helper(prober, &text, &shot, err);
    buf_free(&text);
    return status;
}

static int transpose_check(struct prober *prober, const struct run *r,
                           struct error *err)
{
    uint32_t wrong = 0;
    struct device *const device = prober_device(prober);
    if (device_copy_in(device, r->wrong, &wrong, sizeof wrong, err) != 0 ||
        launch_helper(prober, r, "check", write_check, err) != 0 ||
        device_copy_out(device, &wrong, r->wrong, sizeof wrong, err) != 0)
        return err->code;
    if (wrong == 0)
        return 0;
    return error_set(err, ERR_DEVICE,
                     "transpose: %" PRIu32 " of %" PRIu64
                     " elements are not where they belong",
                     wrong, matrix_bytes(r->transpose) / ELEMENT);
}

struct extent {
    uint64_t least, most;
};

static void widen(struct extent *x, uint64_t begun, uint64_t ended)
{
    x->least = begun < x->least ? begun : x->least;
    x->most = ended > x->most ? ended : x->most;
}

static const struct extent nothing = {UINT64_MAX, 0};

/* Cycles of the SM that took longest; SMs' clocks are no one's but their own.
 */
static uint64_t longest_of(const uint64_t *records, size_t warps)
{
    enum { SMS_MOST = 1024 };
    struct extent sms[SMS_MOST];
    uint64_t longest = 0;
    for (size_t i = 0; i < SMS_MOST; i++)
        sms[i] = nothing;
    for (size_t i = 0; i < warps; i++) {
        const uint64_t *const r = records + i * RECORD_WORDS;
        struct extent *const sm = &sms[r[RECORD_SM] % SMS_MOST];
        widen(sm, r[RECORD_CYCLES_BEGUN], r[RECORD_CYCLES_ENDED]);
        longest =
            sm->most - sm->least > longest ? sm->most - sm->least : longest;
    }
    return longest;
}

/* Fills the columns that come from the warps' own clock reads. */
static void summarise(const uint64_t *records, size_t warps, int64_t *row)
{
    struct extent all = nothing;
    uint64_t step = UINT64_MAX;
    for (size_t i = 0; i < warps; i++) {
        const uint64_t *const r = records + i * RECORD_WORDS;
        const uint64_t own = r[RECORD_NS_ENDED] - r[RECORD_NS_BEGUN];
        widen(&all, r[RECORD_NS_BEGUN], r[RECORD_NS_ENDED]);
        step = own > 0 && own < step ? own : step;
        if (i == 0)
            continue;
        const uint64_t before = r[RECORD_NS_ENDED - RECORD_WORDS];
        const uint64_t now = r[RECORD_NS_ENDED];
        const uint64_t apart = now > before ? now - before : before - now;
        step = apart > 0 && apart < step ? apart : step;
    }
    row[COLUMN_NS] = (int64_t)(all.most - all.least);
    row[COLUMN_NS_STEP] = step == UINT64_MAX ? 0 : (int64_t)step;
    row[COLUMN_CYCLES] = (int64_t)longest_of(records, warps);
}

static int transpose_collect(struct prober *prober, const struct run *r,
                             double elapsed, struct samples *samples,
                             struct error *err)
{
    const size_t warps = warps_of(r->transpose);
    uint64_t *const records = prober_fetch(
        prober, r->args.records, warps * RECORD_WORDS * sizeof(uint64_t), err);
    if (records == NULL)
        return err->code;
    int64_t *const row = samples_row(samples);
    summarise(records, warps, row);
    row[COLUMN_BYTES] = (int64_t)(2 * matrix_bytes(r->transpose));
    row[COLUMN_NS_EVENT] = (int64_t)elapsed;
    free(records);
    return 0;
}

static bool keeps_long(const struct hint *hint)
{
    return hint->policy != NULL && strcmp(hint->policy, "evict_last") == 0;
}

static int release(struct prober *prober, const struct run *r,
                   struct error *err)
{
    if (!keeps_long(r->transpose->load) && !keeps_long(r->transpose->store))
        return 0;
    return launch_helper(prober, r, "release", write_release, err);
}

static int transpose_once(struct prober *prober, const struct experiment *e,
                          struct samples *samples, struct error *err)
{
    const struct transpose *const t = e->own;
    struct run r = {.transpose = t, .args = arguments_of(t)};
    const struct shot shot = {
        .kernel = "transpose",
        .blocks = t->blocks,
        .threads = t->threads,
        .carve_out = 0, /* all for L1: the kernel needs no shared memory */
        .deadline_s = DEADLINE_S,
        SHOT_ARGUMENTS(&r.args),
    };
    double elapsed;
    if (transpose_place(prober, &r, err) != 0 ||
        launch_helper(prober, &r, "fill", write_fill, err) != 0)
        return err->code;
    for (uint64_t i = 0; i <= t->warm; i++)
        if (prober_shoot(prober, e, &shot, err) != 0)
            return err->code;
    if (device_elapsed(prober_device(prober), &elapsed, err) != 0 ||
        transpose_collect(prober, &r, elapsed, samples, err) != 0 ||
        transpose_check(prober, &r, err) != 0)
        return err->code;
    return release(prober, &r, err);
}

const struct probe probe_transpose = {
    .name = "transpose",
    .what = "a matrix is transposed, with cache operators and hints",
    .params = transpose_params,
    .bytes = sizeof(struct transpose),
    .columns = TEXTS("bytes", "ns", "ns_step", "ns_event", "cycles"),
    .figure_column = COLUMN_NS,
    .repeats_least = 2,
    .repeats_most = 7,
    .prepare = transpose_prepare,
    .kernel = transpose_kernel,
    .once = transpose_once,
    .sound = rows_are_one,
};
