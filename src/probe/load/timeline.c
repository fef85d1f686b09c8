/*
 * The probe `timeline`: when each warp, or each of its accesses, began and
 * ended, and on which SM (van Stigt 2022, 4.3, 6.1, 7.4).
 *
 * Blocks of a grid run wherever the GPU puts them (`place=gpu`), or so many of
 * them on one SM, all others leaving at once (`place=sm`).  Each warp works:
 * dependent loads of a buffer, of which each of its 32 lanes reads 8 bytes at
 * a time, a chain of fused multiply-adds, one of matrix products, or nothing.
 * Moments are %clock64 of the SM that the row names, beside %globaltimer, which
 * joins the SMs.
 *
 * Moments stay in registers and shared memory until the work is over.  With
 * records=accesses the loaded value is stored to shared memory before the
 * clock is read, which so cannot be read early.  How much all that disturbs,
 * the same kernel tells with records=warps and with records=none: each
 * repetition ends with a row of the launch, its device time in ns from 0 on.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "probe/check.h"
#include "probe/run/grid_barrier.h"
#include "probe/run/pin.h"
#include "ptx/capability.h"
#include "ptx/kernel.h"
#include "ptx/repeat.h"

enum column {
    COLUMN_SM = 1,
    COLUMN_BLOCK,
    COLUMN_WARP,
    COLUMN_ACCESS,
    COLUMN_START,
    COLUMN_END,
    COLUMN_NS
};

/* Of a launch, s; and of each step in it, of which a slow device does a
 * hundred thousand in a second. */
#define DEADLINE_S 10
#define STEP_S     1e-5

enum {
    LANES = 32,
    ELEMENT = 8,
    STEP_BYTES = LANES * ELEMENT, /* that a warp loads at a time */
    CHAIN = 8,                    /* multiply-adds of a step */
    WARPS_MOST = 32,
    BLOCKS_MOST = 65536,
    STEPS_MOST = 65536,
    ROWS_MOST = 1 << 20,
    POOL_OWN = 2 * PIN_POOL, /* shared bytes before the records: scratch */
    /* Steps of all warps that a launch may have: a GPU with a single SM has
     * done them in seconds. */
    LAUNCH_STEPS_MOST = 1 << 27,
    BUFFERS_MOST = 1 << 30 /* B */
};

struct timeline {
    enum { WORK_LOAD, WORK_ARITHMETIC, WORK_TENSOR, WORK_NONE } work;
    enum { PLACE_GPU, PLACE_SM } place;
    enum { ALIGN_NONE, ALIGN_BLOCK, ALIGN_SM } align;
    enum { RECORD_WARPS, RECORD_ACCESSES, RECORD_NONE } records;
    bool shared_buffer;
    const char *op;
    uint64_t sm, blocks, warps, lanes, per_sm, steps, bytes, warm;
    const struct product *product; /* of WORK_TENSOR */
};

static const char *const works[] = {"load", "arithmetic", "tensor", "none",
                                    NULL};
static const char *const places[] = {"gpu", "sm", NULL};
static const char *const ops[] = {"ca", "cg", NULL};
static const char *const buffers[] = {"own", "shared", NULL};
static const char *const aligns[] = {"none", "block", "sm", NULL};
static const char *const records[] = {"warps", "accesses", "none", NULL};

/* clang-format off */
static const struct param timeline_params[] = {
    CHOICE(struct timeline, work, "load", works, "what a warp does"),
    CHOICE(struct timeline, op, "ca", ops, "cache operator of loads"),
    CHOICE(struct timeline, place, "gpu", places, "blocks on all SMs, or on one"),
    NUMBER(struct timeline, sm, "0", 0, 1023, "place=sm: which one"),
    NUMBER(struct timeline, blocks, "1", 1, BLOCKS_MOST, "blocks of the grid, or of the one SM"),
    NUMBER(struct timeline, warps, "1", 1, WARPS_MOST, "warps of a block"),
    NUMBER(struct timeline, per_sm, "0", 0, 128, "blocks for which an SM has shared memory; 0: no limit"),
    NUMBER(struct timeline, lanes, "32", 1, LANES, "threads of a warp that work; the others leave at once"),
    NUMBER(struct timeline, steps, "256", 1, STEPS_MOST, "loads of a warp, products, or 8 multiply-adds each"),
    NUMBER(struct timeline, bytes, "4096", STEP_BYTES, BUFFERS_MOST, "of a buffer, in steps of 256"),
    PARAM_ROW("buffer", struct timeline, shared_buffer, PARAM_WORD, "own", 0, 0, buffers, "a buffer each block, or one for all"),
    NUMBER(struct timeline, warm, "0", 0, 64, "laps of the buffer before (where warps are aligned)"),
    CHOICE(struct timeline, align, "none", aligns, "warps of the block, or all blocks of the SM, begin together"),
    CHOICE(struct timeline, records, "warps", records, "what is recorded"),
    REPEATS(1000, "repetitions; 0: the probe's own"),
    {0},
};
/* clang-format on */

static int contradiction(const struct timeline *t, struct error *err)
{
    const bool aligned = t->align != ALIGN_NONE;
    if (t->bytes % STEP_BYTES != 0)
        return error_set(err, ERR_USAGE,
                         "bytes=%" PRIu64 " is no multiple of the %d that a "
                         "warp loads at a time",
                         t->bytes, STEP_BYTES);
    if (t->warm > 0 && (!aligned || t->work != WORK_LOAD))
        return error_set(err, ERR_USAGE,
                         "warm=%" PRIu64 " needs work=load and align=block or "
                         "align=sm",
                         t->warm);
    if (t->place != PLACE_SM && t->align == ALIGN_SM)
        return error_set(err, ERR_USAGE, "align=sm needs place=sm");
    if (t->records == RECORD_ACCESSES && t->work != WORK_LOAD)
        return error_set(err, ERR_USAGE, "records=accesses needs work=load");
    if (t->work == WORK_TENSOR && t->lanes < LANES)
        return error_set(err, ERR_USAGE,
                         "work=tensor is that of a whole warp (lanes=%d)",
                         LANES);
    return 0;
}

/* ---- what the GPU has room for ---- */

static uint64_t block_shared(const struct device_info *info, uint64_t otherwise)
{
    return device_told(info, PROPERTY_BLOCK_SHARED_OPTIN,
                       device_told(info, PROPERTY_BLOCK_SHARED, otherwise));
}

static uint64_t record_bytes(const struct timeline *t)
{
    return POOL_OWN +
           (t->records == RECORD_ACCESSES ? 4 * t->steps * t->warps : 0);
}

/* What the driver does not tell is no limit. */
static int check_room(const struct timeline *t, const struct device_info *info,
                      struct error *err)
{
    const uint64_t on_sm = t->place == PLACE_SM ? t->blocks : 0;
    const struct {
        const char *what;
        uint64_t have, most;
        unsigned unit;
    } limits[] = {
        {"warps in a block", t->warps * LANES,
         device_told(info, PROPERTY_BLOCK_THREADS, UINT64_MAX), LANES},
        {"bytes of shared memory, for the records of a block", record_bytes(t),
         block_shared(info, UINT64_MAX), 1},
        {"blocks on an SM", on_sm,
         device_told(info, PROPERTY_SM_BLOCKS, UINT64_MAX), 1},
        {"warps on an SM", on_sm * t->warps * LANES,
         device_told(info, PROPERTY_SM_THREADS, UINT64_MAX), LANES},
    };
    for (size_t i = 0; i < COUNT_OF(limits); i++)
        if (limits[i].have > limits[i].most)
            return error_set(err, ERR_USAGE,
                             "%" PRIu64 " %s; the GPU takes %" PRIu64
                             " at most",
                             limits[i].have / limits[i].unit, limits[i].what,
                             limits[i].most / limits[i].unit);
    return 0;
}

/* Dynamic shared memory with which just `per_sm` blocks fit into an SM. */
static uint64_t shared_bytes(const struct timeline *t,
                             const struct device_info *info)
{
    const uint64_t all = device_told(info, PROPERTY_SM_SHARED, 0);
    const uint64_t kept = device_told(info, PROPERTY_BLOCK_SHARED_RESERVED, 0);
    const uint64_t own = record_bytes(t);
    if (t->per_sm == 0 || all / t->per_sm <= kept)
        return own;
    const uint64_t share = (all / t->per_sm - kept) / 256 * 256;
    return u64_max(u64_min(share, block_shared(info, 0)), own);
}

/* Whether no more than `per_sm` blocks fit, and so many do. */
static int check_per_sm(const struct timeline *t,
                        const struct device_info *info, struct error *err)
{
    const int64_t all = info->value[PROPERTY_SM_SHARED];
    const uint64_t kept = device_told(info, PROPERTY_BLOCK_SHARED_RESERVED, 0);
    if (t->per_sm == 0)
        return 0;
    if (all < 0)
        return error_set(err, ERR_USAGE,
                         "per_sm needs the shared memory of an SM, which the "
                         "driver does not tell");
    const uint64_t each = shared_bytes(t, info) + kept;
    if ((uint64_t)all / each == t->per_sm)
        return 0;
    return error_set(err, ERR_USAGE,
                     "per_sm=%" PRIu64 " cannot be: of %" PRId64
                     " B of shared memory a block takes %" PRIu64
                     ", so that %" PRIu64 " fit",
                     t->per_sm, all, each, (uint64_t)all / each);
}

static int check_sm(const struct timeline *t, const struct device_info *info,
                    struct error *err)
{
    const uint64_t sms = device_told(info, PROPERTY_SMS, UINT64_MAX);
    if (t->place != PLACE_SM || t->sm < sms)
        return 0;
    return error_set(err, ERR_USAGE,
                     "there is no SM %" PRIu64 ": %s has %" PRIu64, t->sm,
                     info->name, sms);
}

static uint64_t buffer_bytes(const struct timeline *t)
{
    return t->work == WORK_LOAD ? (t->shared_buffer ? 1 : t->blocks) * t->bytes
                                : STEP_BYTES;
}

/* ---- products ---- */

/* What the device can multiply, the largest first. */
static const struct product {
    enum capability needs;
    const char *ptx; /* the version that has it */
    const char *shape, *a, *b;
} products[] = {
    {CAP_MATRIX_K16, "7.0", "m16n8k16", "%a0, %a1, %a2, %a3", "%b0, %b1"},
    {CAP_MATRIX, "6.5", "m16n8k8", "%a0, %a1", "%b0"},
};

/* NULL where there is none, with the reason. */
static const struct product *find_product(const struct device_info *info,
                                          struct error *err)
{
    size_t i = 0;
    while (i + 1 < COUNT_OF(products) && !device_has(info, products[i].needs))
        i++;
    const struct product *const p = &products[i];
    return device_requires(info, p->needs, err) == 0 &&
                   device_requires_ptx(info, p->ptx, err) == 0
               ? p
               : NULL;
}

static int check(struct timeline *t, const struct device_info *info,
                 struct error *err)
{
    const uint64_t memory =
        device_told(info, PROPERTY_MEMORY_BYTES, UINT64_MAX);
    const uint64_t rows =
        t->blocks * t->warps * (t->records == RECORD_ACCESSES ? t->steps : 1);
    if (check_room(t, info, err) != 0)
        return err->code;
    if (rows > ROWS_MOST)
        return error_set(err, ERR_USAGE,
                         "%" PRIu64 " records; %d at most are kept", rows,
                         ROWS_MOST);
    if (buffer_bytes(t) > u64_min(BUFFERS_MOST, memory))
        return error_set(err, ERR_USAGE,
                         "%" PRIu64 " B of buffers; %d at most are taken, and "
                         "the GPU has %" PRIu64,
                         buffer_bytes(t), BUFFERS_MOST, memory);
    if (t->work == WORK_TENSOR) {
        t->product = find_product(info, err);
        if (t->product == NULL)
            return err->code;
    }
    if (check_sm(t, info, err) != 0)
        return err->code;
    return check_per_sm(t, info, err);
}

static int timeline_prepare(struct experiment *e,
                            const struct device_info *info, struct error *err)
{
    struct timeline *const t = e->own;
    if (contradiction(t, err) != 0)
        return err->code;
    return check(t, info, err);
}

/* ---- the kernel ---- */

/* The first two are the pin's. */
KERNEL_PARAMETERS(timeline_arguments, jobs, slots, out, buffer, apart, steps,
                  warm, first);

static void declare(struct kernel_text *k)
{
    ptx(k, ".reg .b32 %block, %warp, %warps, %steps, %n, %tick, %record;\n"
           ".reg .b64 %begun, %ended, %ns, %ptr, %laps, %apart, %out;\n"
           ".reg .f32 %sum, %by;\n"
           ".reg .pred %lead, %true, %on;\n");
}

/* Blocks wherever they are. */
static void opening_anywhere(struct kernel_text *k)
{
    ptx(k, ".reg .b32 %sm, %me;\n"
           ".reg .b64 %at;\n"
           ".reg .pred %again;\n"
           "mov.u32 %sm, %smid;\n"
           "mov.u32 %me, %tid.x;\n"
           "ld.param.u64 %at, [first];\n"
           "cvt.u32.u64 %n, %at;\n"
           "mov.u32 %block, %ctaid.x;\n"
           "add.u32 %block, %block, %n;\n");
}

static void opening(struct kernel_text *k, const struct timeline *t)
{
    if (t->place == PLACE_SM) {
        pin_opening_shared(k, t->sm);
        ptx(k, "mov.u32 %block, %slot;");
    } else {
        opening_anywhere(k);
    }
    ptx(k, "mov.u32 %warps, %ntid.x;\n"
           "shr.u32 %warps, %warps, 5;\n"
           "shr.u32 %warp, %me, 5;\n"
           "and.b32 %n, %me, 31;\n");
    if (t->lanes < LANES) {
        ptx_with(k,
                 "setp.ge.u32 %again, %n, $lanes;\n"
                 "@%again ret;\n",
                 WORD(lanes, t->lanes));
    }
    ptx(k, "setp.eq.u32 %lead, %n, 0;");
}

static void begin_together(struct kernel_text *k, const struct timeline *t)
{
    if (t->align == ALIGN_NONE)
        return;
    if (t->align == ALIGN_SM)
        pin_meet_shared(k);
    ptx(k, "setp.ne.u32 %true, %warps, 0;");
    grid_barrier_hold(k);
}

static void load(struct kernel_text *k, unsigned copy, const void *context)
{
    const struct timeline *const t = context;
    (void)copy;
    ptx_with(k, "ld.global.$op.u64 %ptr, [%ptr];", WORD(op, t->op));
}

static void aim(struct kernel_text *k, const struct timeline *t)
{
    ptx(k, "ld.param.u64 %ptr, [buffer];");
    if (!t->shared_buffer) {
        ptx(k, "ld.param.u64 %apart, [apart];\n"
               "cvt.u64.u32 %at, %block;\n"
               "mad.lo.u64 %ptr, %at, %apart, %ptr;\n");
    }
    ptx_with(k,
             "and.b32 %n, %me, 31;\n"
             "mad.wide.u32 %ptr, %n, $element, %ptr;\n",
             WORD(element, ELEMENT));
}

static void warm_up(struct kernel_text *k, const struct timeline *t)
{
    ptx(k, "// whole laps, which end where they began\n"
           "ld.param.u64 %laps, [warm];\n");
    repeat_loop(k, "WARM", "%laps", 1, load, t);
}

static void load_steps(struct kernel_text *k, const struct timeline *t)
{
    ptx(k, "STEP:");
    load(k, 0, t);
    if (t->records == RECORD_ACCESSES) {
        ptx(k, "@%lead st.shared.u64 [pool+16], %ptr;\n"
               "mov.u32 %tick, %clock;\n"
               "@%lead st.shared.u32 [%record], %tick;\n"
               "add.u32 %record, %record, 4;\n");
    }
    ptx(k, "sub.u32 %steps, %steps, 1;\n"
           "setp.ne.u32 %again, %steps, 0;\n"
           "@%again bra STEP;\n"
           "st.shared.u64 [pool+16], %ptr;\n");
}

static void arithmetic_steps(struct kernel_text *k)
{
    ptx(k, "cvt.rn.f32.u32 %sum, %sm;\n"
           "cvt.rn.f32.u32 %by, %warps;\n"
           "STEP:\n");
    for (int i = 0; i < CHAIN; i++)
        ptx(k, "fma.rn.f32 %sum, %sum, %by, %by;");
    ptx(k, "sub.u32 %steps, %steps, 1;\n"
           "setp.ne.u32 %again, %steps, 0;\n"
           "@%again bra STEP;\n"
           "st.shared.f32 [pool+16], %sum;\n");
}

/* Chained through what is added to.  Which numbers are multiplied does not
 * matter for when; these are ones and small fractions. */
static void tensor_steps(struct kernel_text *k, const struct product *p)
{
    ptx(k, ".reg .b32 %a<4>, %b<2>;\n"
           ".reg .f32 %c<4>;\n");
    for (int i = 0; i < 4; i++) {
        ptx_with(k,
                 "mov.b32 %a$i, 0x3c003c00;\n"
                 "cvt.rn.f32.u32 %c$i, %sm;\n",
                 WORD(i, i));
    }
    for (int i = 0; i < 2; i++)
        ptx_with(k, "mov.b32 %b$i, 0x20002000;", WORD(i, i));
    ptx_with(k,
             "STEP:\n"
             "mma.sync.aligned.$shape.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, "
             "%c3}, {$a}, {$b}, {%c0, %c1, %c2, %c3};\n"
             "sub.u32 %steps, %steps, 1;\n"
             "setp.ne.u32 %again, %steps, 0;\n"
             "@%again bra STEP;\n"
             "add.f32 %c0, %c0, %c1;\n"
             "add.f32 %c2, %c2, %c3;\n"
             "add.f32 %sum, %c0, %c2;\n"
             "st.shared.f32 [pool+16], %sum;\n",
             WORD(shape, p->shape), WORD(a, p->a), WORD(b, p->b));
}

static void work(struct kernel_text *k, const struct timeline *t)
{
    if (t->work == WORK_LOAD)
        load_steps(k, t);
    else if (t->work == WORK_TENSOR)
        tensor_steps(k, t->product);
    else if (t->work == WORK_ARITHMETIC)
        arithmetic_steps(k);
}

/* Words of a warp's result; the steps after them, and at last that it is done.
 */
enum { OUT_SM, OUT_BEGUN, OUT_ENDED, OUT_NS, OUT_HEAD };

static void put_word(struct kernel_text *k, size_t word, const char *value)
{
    ptx_with(k, "@%lead st.global.u64 [%out+$word], $value;",
             WORD(word, 8 * word), WORD(value, value));
}

/* Clocks of the steps, 4 bytes each, from shared memory to the result. */
static void write_steps(struct kernel_text *k, const struct timeline *t)
{
    ptx_with(k,
             "@!%lead ret;\n"
             "mov.u32 %steps, $steps;\n"
             "sub.u32 %record, %record, $bytes;\n"
             "WRITE:\n"
             "ld.shared.u32 %tick, [%record];\n"
             "st.global.u32 [%out+$head], %tick;\n"
             "add.u32 %record, %record, 4;\n"
             "add.u64 %out, %out, 4;\n"
             "sub.u32 %steps, %steps, 1;\n"
             "setp.ne.u32 %again, %steps, 0;\n"
             "@%again bra WRITE;\n",
             WORD(steps, t->steps), WORD(bytes, 4 * t->steps),
             WORD(head, 8 * OUT_HEAD));
}

static size_t words_each(const struct timeline *t)
{
    return OUT_HEAD + 1 +
           (t->records == RECORD_ACCESSES ? (t->steps + 1) / 2 : 0);
}

static void write_out(struct kernel_text *k, const struct timeline *t)
{
    ptx_with(k,
             "ld.param.u64 %out, [out];\n"
             "mad.lo.u32 %n, %block, %warps, %warp;\n"
             "mad.wide.u32 %out, %n, $words_each, %out;\n",
             WORD(words_each, 8 * words_each(t)));
    put_word(k, OUT_BEGUN, "%begun");
    put_word(k, OUT_ENDED, "%ended");
    put_word(k, OUT_NS, "%ns");
    ptx(k, "cvt.u64.u32 %at, %sm;");
    put_word(k, OUT_SM, "%at");
    ptx(k, "mov.u64 %at, 1;");
    put_word(k, words_each(t) - 1, "%at");
    if (t->records == RECORD_ACCESSES)
        write_steps(k, t);
}

static void read_start(struct kernel_text *k)
{
    ptx(k, "mov.u64 %ns, %globaltimer;\n"
           "mov.u64 %begun, %clock64;\n");
}

/* All that the work needs, before the clock that it begins with. */
static void prepare(struct kernel_text *k, const struct timeline *t)
{
    ptx(k, "ld.param.u64 %at, [steps];\n"
           "cvt.u32.u64 %steps, %at;\n");
    if (t->records == RECORD_ACCESSES) {
        ptx_with(k,
                 "mov.u32 %record, pool;\n"
                 "mad.lo.u32 %record, %warp, $steps, %record;\n"
                 "add.u32 %record, %record, $own;\n",
                 WORD(steps, 4 * t->steps), WORD(own, POOL_OWN));
    }
    if (t->work == WORK_LOAD)
        aim(k, t);
    if (t->warm > 0)
        warm_up(k, t);
}

static void timeline_kernel(const struct experiment *e,
                            const struct device_info *info, struct buf *out)
{
    const struct timeline *const t = e->own;
    const bool aligned = t->align != ALIGN_NONE;
    const bool silent = t->records == RECORD_NONE;
    struct kernel_text k;
    kernel_begin(&k, out, device_cc(info), .name = "timeline",
                 .parameters = timeline_arguments_names,
                 .variables = PIN_VARIABLES,
                 .least = t->product != NULL ? t->product->ptx : NULL);
    declare(&k);
    if (!aligned && !silent)
        read_start(&k);
    opening(&k, t);
    prepare(&k, t);
    begin_together(&k, t);
    if (aligned && !silent)
        read_start(&k);
    work(&k, t);
    if (!silent) {
        ptx(&k, "mov.u64 %ended, %clock64;");
        write_out(&k, t);
    }
    if (aligned)
        ptx(&k, "DONE:");
    kernel_end(&k);
}

/* ---- one repetition ---- */

/* Rings of which each element points to the one a step further. */
static int fill(struct prober *prober, const struct timeline *t,
                uint64_t *address, struct error *err)
{
    const uint64_t bytes = buffer_bytes(t),
                   ring = t->work == WORK_LOAD ? t->bytes : bytes;
    if (prober_buffer(prober, BUFFER_RING, bytes, address, err) != 0)
        return err->code;
    uint64_t *const words = xmalloc(bytes);
    for (uint64_t at = 0; at < bytes; at += ELEMENT) {
        const uint64_t start = at / ring * ring;
        words[at / ELEMENT] =
            *address + start + (at - start + STEP_BYTES) % ring;
    }
    device_copy_in(prober_device(prober), *address, words, bytes, err);
    free(words);
    return err->code;
}

static uint64_t sms_of(const struct prober *prober)
{
    return device_told(prober_info(prober), PROPERTY_SMS, 1024);
}

/* The least share of the SM's memory, in percent, that lets all blocks of one
 * SM in: the rest is its L1. */
static int carve_out(const struct timeline *t, const struct device_info *info)
{
    const int64_t all = info->value[PROPERTY_SM_SHARED];
    const uint64_t kept = device_told(info, PROPERTY_BLOCK_SHARED_RESERVED, 0);
    const int64_t each = (int64_t)(record_bytes(t) + kept);
    if (t->per_sm > 0)
        return 100;
    if (t->place != PLACE_SM || all <= 0)
        return 0;
    const int64_t percent = (100 * (int64_t)t->blocks * each + all - 1) / all;
    return percent < 100 ? (int)percent : 100;
}

/* One repetition. */
struct run {
    const struct experiment *experiment;
    const struct timeline *timeline;
    struct timeline_arguments args;
    double ns; /* that its launches took */
};

static double deadline_s(const struct timeline *t, uint64_t blocks)
{
    return DEADLINE_S + STEP_S * (double)blocks * (double)(t->warps * t->steps);
}

/* A launch of so many blocks, of `steps` steps each warp; returns its time. */
static int launch(struct prober *prober, struct run *r, uint64_t blocks,
                  double *ns, struct error *err)
{
    const struct device_info *const info = prober_info(prober);
    const struct timeline *const t = r->timeline;
    const struct shot shot = {
        .kernel = "timeline",
        .blocks = (unsigned)blocks,
        .threads = LANES * (unsigned)t->warps,
        .shared_bytes = shared_bytes(t, info),
        .carve_out = carve_out(t, info),
        .deadline_s = deadline_s(t, blocks),
        SHOT_ARGUMENTS(&r->args),
    };
    if (prober_shoot(prober, r->experiment, &shot, err) != 0)
        return err->code;
    return device_elapsed(prober_device(prober), ns, err);
}

/* A step on each SM, so that the code lies where it will be found. */
static int fetch_code(struct prober *prober, struct run *r, struct error *err)
{
    const uint64_t sms = sms_of(prober), blocks = r->timeline->blocks;
    double ignored;
    r->args.steps = 1;
    launch(prober, r, blocks < sms ? blocks : sms, &ignored, err);
    r->args.steps = r->timeline->steps;
    return err->code;
}

/* Blocks of one launch of a grid: a longer one is split. */
static uint64_t blocks_at_once(const struct timeline *t)
{
    const uint64_t most = LAUNCH_STEPS_MOST / (t->warps * t->steps);
    return most > 0 ? most : 1;
}

static int launch_grid(struct prober *prober, struct run *r, struct error *err)
{
    const struct timeline *const t = r->timeline;
    const uint64_t most = blocks_at_once(t);
    uint64_t *const first = &r->args.first;
    double ns;
    if (t->records != RECORD_ACCESSES && fetch_code(prober, r, err) != 0)
        return err->code;
    for (*first = 0; *first < t->blocks; *first += most) {
        const uint64_t left = t->blocks - *first;
        if (launch(prober, r, left < most ? left : most, &ns, err) != 0)
            return err->code;
        r->ns += ns;
    }
    return 0;
}

/* Where blocks were to begin together, each began before any ended. */
static bool all_together(const struct timeline *t, const uint64_t *words)
{
    uint64_t begun = 0, ended = UINT64_MAX;
    for (uint64_t i = 0; i < t->blocks * t->warps; i++) {
        const uint64_t *const own = words + i * words_each(t);
        begun = own[OUT_BEGUN] > begun ? own[OUT_BEGUN] : begun;
        ended = own[OUT_ENDED] < ended ? own[OUT_ENDED] : ended;
    }
    return t->align != ALIGN_SM || begun <= ended;
}

/* The words of the records, none where nothing is recorded; NULL if it failed.
 */
static uint64_t *run_on_sm(struct prober *prober, struct run *r,
                           struct error *err)
{
    const struct device_info *const info = prober_info(prober);
    const struct timeline *const t = r->timeline;
    uint64_t *const sms = xcalloc(t->blocks, sizeof *sms);
    for (uint64_t i = 0; i < t->blocks; i++)
        sms[i] = t->sm;
    struct pin pin = {
        .count = t->blocks,
        .sms = sms,
        .words_each = t->records == RECORD_NONE ? 0 : words_each(t) * t->warps,
        .threads = LANES * (unsigned)t->warps,
        .shared_bytes = shared_bytes(t, info),
        .carve_out = carve_out(t, info),
        .deadline_s = deadline_s(t, t->blocks * sms_of(prober)),
        .each = (unsigned)t->blocks,
        .args = &r->args.out,
        .arg_count = sizeof r->args / sizeof r->args.out - 2,
    };
    uint64_t *words = NULL;
    if (pin_place(prober, &pin, err) == 0) {
        r->args.out = pin.out_at;
        words = pin_run(prober, r->experiment, &pin, err);
    }
    free(sms);
    if (words == NULL)
        return NULL;
    if (t->records != RECORD_NONE && !all_together(t, words))
        error_set(err, ERR_UNSUPPORTED,
                  "SM %" PRIu64 " did not hold %" PRIu64 " blocks at once",
                  t->sm, t->blocks);
    else
        device_elapsed(prober_device(prober), &r->ns, err);
    return words;
}

static uint64_t *run_on_grid(struct prober *prober, struct run *r,
                             struct error *err)
{
    const struct timeline *const t = r->timeline;
    const size_t bytes = 8 * words_each(t) * t->blocks * t->warps;
    uint64_t *const out = &r->args.out;
    if (prober_zeros(prober, BUFFER_OUT, bytes, out, err) != 0 ||
        launch_grid(prober, r, err) != 0)
        return NULL;
    return prober_fetch(prober, *out, bytes, err);
}

static int64_t *add_row(struct samples *samples, const uint64_t *own,
                        uint64_t block, uint64_t warp)
{
    int64_t *const row = samples_row(samples);
    row[COLUMN_SM] = (int64_t)own[OUT_SM];
    row[COLUMN_BLOCK] = (int64_t)block;
    row[COLUMN_WARP] = (int64_t)warp;
    row[COLUMN_ACCESS] = -1;
    row[COLUMN_START] = (int64_t)own[OUT_BEGUN];
    row[COLUMN_END] = (int64_t)own[OUT_ENDED];
    row[COLUMN_NS] = (int64_t)own[OUT_NS];
    return row;
}

/* Each access from the clock of the one before; recorded are the low halves of
 * moments. */
static void add_accesses(const struct timeline *t, struct samples *samples,
                         const uint64_t *own, uint64_t block, uint64_t warp)
{
    uint64_t moment = own[OUT_BEGUN];
    for (uint64_t i = 0; i < t->steps; i++) {
        uint32_t tick;
        memcpy(&tick, (const char *)(own + OUT_HEAD) + 4 * i, sizeof tick);
        int64_t *const row = add_row(samples, own, block, warp);
        row[COLUMN_ACCESS] = (int64_t)i;
        row[COLUMN_START] = (int64_t)moment;
        moment += (uint32_t)(tick - (uint32_t)moment);
        row[COLUMN_END] = (int64_t)moment;
    }
}

static void add_rows(const struct timeline *t, const uint64_t *words, double ns,
                     struct samples *samples)
{
    for (uint64_t i = 0;
         i < (t->records == RECORD_NONE ? 0 : t->blocks * t->warps); i++) {
        const uint64_t *const own = words + i * words_each(t);
        add_row(samples, own, i / t->warps, i % t->warps);
        if (t->records == RECORD_ACCESSES)
            add_accesses(t, samples, own, i / t->warps, i % t->warps);
    }
    int64_t *const row = samples_row(samples);
    for (int c = COLUMN_SM; c <= COLUMN_ACCESS; c++)
        row[c] = -1;
    row[COLUMN_END] = (int64_t)(ns + 0.5);
}

static int timeline_once(struct prober *prober, const struct experiment *e,
                         struct samples *samples, struct error *err)
{
    const struct timeline *const t = e->own;
    struct run r = {
        .experiment = e,
        .timeline = t,
        .args = {.apart = t->bytes,
                 .steps = t->steps,
                 .warm = t->warm * (t->bytes / STEP_BYTES)},
    };
    if (fill(prober, t, &r.args.buffer, err) != 0)
        return err->code;
    uint64_t *const words = t->place == PLACE_SM ? run_on_sm(prober, &r, err)
                                                 : run_on_grid(prober, &r, err);
    if (err->code == 0)
        add_rows(t, words, r.ns, samples);
    free(words);
    return err->code;
}

/* The longest that a warp took; without records, the launch. */
static double timeline_figure(const struct experiment *e,
                              const struct samples *samples, size_t from)
{
    const struct timeline *const t = e->own;
    const bool silent = t->records == RECORD_NONE;
    int64_t longest = 0;
    for (size_t row = from; row < samples->rows; row++) {
        const int64_t took = samples_at(samples, row, COLUMN_END) -
                             samples_at(samples, row, COLUMN_START);
        if ((silent || samples_at(samples, row, COLUMN_SM) >= 0) &&
            took > longest)
            longest = took;
    }
    return (double)longest;
}

/* Of a launch, which is the last row, no block and no warp is told. */
static const char *timeline_sound(const struct experiment *e,
                                  const struct rows *rows)
{
    const struct timeline *const t = e->own;
    const struct rows warps = {rows->samples, rows->from, rows->to - 1};
    const char *const why = rows_are_below(&warps, COLUMN_BLOCK, t->blocks);
    if (why != NULL || rows_are_below(&warps, COLUMN_WARP, t->warps) != NULL)
        return "a row is of a warp that it does not have";
    return samples_at(rows->samples, rows->to - 1, COLUMN_SM) < 0
               ? NULL
               : "the row of a launch is missing";
}

const struct probe probe_timeline = {
    .name = "timeline",
    .what = "where and when each warp, or each of its accesses, ran",
    .params = timeline_params,
    .bytes = sizeof(struct timeline),
    .columns = TEXTS("sm", "block", "warp", "access", "start", "end", "ns"),
    .figure = timeline_figure,
    .repeats_least = 3,
    .repeats_most = 3,
    .prepare = timeline_prepare,
    .kernel = timeline_kernel,
    .once = timeline_once,
    .sound = timeline_sound,
};
