/*
 * The probe `wgmma`: Hopper's asynchronous matrix products of four warps.
 *
 * Each warpgroup of a block multiplies a tile A of 64 rows by a tile B of n
 * columns, both in shared memory, and adds to accumulators in its registers.
 * A tile is 128 bytes deep, four products; copies go round it.  Rows are
 * swizzled over 128 bytes, so that the tiles' addresses are multiples of 1024
 * and eight rows take 1024 bytes (PTX ISA, asynchronous warpgroup-level matrix
 * shared memory layout); where in a tile a number lies does not matter here.
 *
 * `wait=each` waits for each product before the next one begins: its latency.
 * `wait=end` lets all be under way and waits for the last: their rate.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "probe/run/grid_timer.h"
#include "ptx/capability.h"

enum { ROWS = 64, DEEP = 128, STEP = 32, THREADS = 128, GROUPS_MOST = 4 };
enum { N_MOST = 256, SNIPPET_COPIES_MOST = 256, CC = 90 };
/* One load and store of the copy to shared memory. */
enum { PIECE = 16 };

static const struct kind {
    const char *name, *opcode; /* with the rest of the opcode */
    unsigned k;                /* so deep is a product: STEP bytes */
    const char *tail;          /* operands after the descriptors */
    const char *accumulator;   /* declared as */
    char letter;
} kinds[] = {
    {"f16", "f32.f16.f16", 16, "1, 1, 1, 0, 0", "f32", 'f'},
    {"bf16", "f32.bf16.bf16", 16, "1, 1, 1, 0, 0", "f32", 'f'},
    {"tf32", "f32.tf32.tf32", 8, "1, 1, 1", "f32", 'f'},
    {"e4m3", "f32.e4m3.e4m3", 32, "1, 1, 1", "f32", 'f'},
    {"s8", "s32.s8.s8", 32, "1", "b32", 'r'},
};
static const char *const kind_names[] = {"f16",  "bf16", "tf32",
                                         "e4m3", "s8",   NULL};
static const char *const waits[] = {"end", "each", NULL};

struct wgmma {
    struct grid_timer timer; /* first: its rows say so */
    unsigned type, n, copies, groups;
    bool each;
};

/* clang-format off */
static const struct param wgmma_params[] = {
    CHOICE(struct wgmma, type, "f16", kind_names, "of A and B"),
    NUMBER(struct wgmma, n, "64", 8, N_MOST, "columns of B: 8, 16, 32, 64, 128 or 256"),
    PARAM_ROW("wait", struct wgmma, each, PARAM_WORD, "end", 0, 0, waits, "for each product, or for all at the end"),
    NUMBER(struct wgmma, copies, "4", 1, SNIPPET_COPIES_MOST, "products in the loop"),
    NUMBER(struct wgmma, groups, "1", 1, GROUPS_MOST, "warpgroups of a block"),
    GRID_TIMER_PARAMS,
    {0},
};
/* clang-format on */

static const struct kind *kind_of(const struct wgmma *w)
{
    return &kinds[w->type];
}

static int wgmma_prepare(struct experiment *e, const struct device_info *info,
                         struct error *err)
{
    const struct wgmma *const w = e->own;
    if ((w->n & (w->n - 1)) != 0)
        return error_set(err, ERR_USAGE, "n=%u is no power of two", w->n);
    return device_requires_only(info, CC, "wgmma", err);
}

/* ---- the kernel -------------------------------------------------------- */

static unsigned tile_bytes(const struct wgmma *w)
{
    return DEEP * (w->groups * ROWS + w->n);
}

static unsigned accumulators(const struct wgmma *w)
{
    return w->n / 2; /* 64 × n words among 128 threads */
}

/* Copies B and all groups' A to shared memory, all threads together: 64 bytes
 * of A for each. */
static void fill_tiles(struct kernel_text *k, const struct wgmma *w)
{
    ptx_with(k,
             ".reg .b32 %offset, %to, %w0, %w1, %w2, %w3;\n"
             ".reg .b32 %step, %all;\n"
             "mov.u32 %word, %ntid.x;\n"
             "mul.lo.u32 %step, %word, $piece;\n"
             "mul.lo.u32 %all, %word, $threads;\n"
             "add.u32 %all, %all, $n;\n"
             "shl.b32 %offset, %me, 4;\n"
             "FILL:\n"
             "cvt.u64.u32 %at, %offset;\n"
             "add.u64 %at, %at, %data;\n"
             "ld.global.v4.u32 {%w0, %w1, %w2, %w3}, [%at+$timer_head];\n"
             "mov.u32 %to, tiles;\n"
             "add.u32 %to, %to, %offset;\n"
             "st.shared.v4.u32 [%to], {%w0, %w1, %w2, %w3};\n"
             "add.u32 %offset, %offset, %step;\n"
             "setp.lt.u32 %true, %offset, %all;\n"
             "@%true bra FILL;\n"
             "// what the tensor cores read goes another way\n"
             "fence.proxy.async.shared::cta;\n",
             WORD(piece, PIECE), WORD(threads, DEEP * ROWS / THREADS),
             WORD(n, DEEP * w->n), WORD(timer_head, GRID_TIMER_HEAD));
}

/* Descriptors of the tiles: address and stride (1024 bytes for eight rows) in
 * units of 16 bytes, the swizzle of 128 bytes; the other stride is not used. */
static void describe_tiles(struct kernel_text *k, const struct wgmma *w)
{
    ptx_with(k,
             ".reg .b64 %a<4>, %b<4>;\n"
             ".reg .b32 %group;\n"
             "mov.u32 %to, tiles;\n"
             "shr.u32 %group, %me, 7;\n"
             "mad.lo.u32 %group, %group, $rows, %to;\n"
             "add.u32 %group, %group, $n;\n"
             "shr.u32 %group, %group, 4;\n"
             "shr.u32 %to, %to, 4;\n"
             "cvt.u64.u32 %a0, %group;\n"
             "cvt.u64.u32 %b0, %to;\n"
             "or.b64 %a0, %a0, 0x4000004000010000;\n"
             "or.b64 %b0, %b0, 0x4000004000010000;\n",
             WORD(rows, DEEP * ROWS), WORD(n, DEEP * w->n));
    for (int step = 1; step < DEEP / STEP; step++) {
        ptx_with(k,
                 "add.u64 %a$step, %a0, $piece;\n"
                 "add.u64 %b$step, %b0, $piece;\n",
                 WORD(step, step), WORD(piece, step * STEP / PIECE));
    }
}

static void declare_accumulators(struct kernel_text *k, const struct wgmma *w)
{
    const char letter = kind_of(w)->letter;
    ptx_with(k, ".reg .$accumulator %d<$accumulators>;",
             WORD(accumulator, kind_of(w)->accumulator),
             WORD(accumulators, accumulators(w)));
    for (unsigned i = 0; i < accumulators(w); i++)
        ptx_with(k, "mov.$accumulator %d$i, $zero;",
                 WORD(accumulator, kind_of(w)->accumulator), WORD(i, i),
                 WORD(zero, letter == 'f' ? "0f00000000" : "0"));
}

static void product(struct kernel_text *k, const struct wgmma *w, unsigned step)
{
    buf_printf(k->out, "    wgmma.mma_async.sync.aligned.m64n%uk%u.%s {", w->n,
               kind_of(w)->k, kind_of(w)->opcode);
    for (unsigned i = 0; i < accumulators(w); i++)
        buf_printf(k->out, "%s%%d%u", i > 0 ? ", " : "", i);
    buf_printf(k->out, "}, %%a%u, %%b%u, %s;\n", step, step, kind_of(w)->tail);
}

static void finish_products(struct kernel_text *k)
{
    ptx(k, "wgmma.commit_group.sync.aligned;\n"
           "wgmma.wait_group.sync.aligned 0;\n");
}

static void write_loop(struct kernel_text *k, const struct wgmma *w)
{
    grid_timer_loop(k);
    for (unsigned i = 0; i < w->copies; i++) {
        if (w->each || i == 0)
            ptx(k, "wgmma.fence.sync.aligned;");
        product(k, w, i % (DEEP / STEP));
        if (w->each)
            finish_products(k);
    }
    grid_timer_again(k);
    finish_products(k);
    for (unsigned i = 0; i < accumulators(w); i++) {
        ptx_with(k,
                 "mov.b32 %word, %d$i;\n"
                 "mad.lo.u32 %sum, %sum, 5, %word;\n",
                 WORD(i, i));
    }
}

static void wgmma_kernel(const struct experiment *e,
                         const struct device_info *info, struct buf *out)
{
    const struct wgmma *const w = e->own;
    struct kernel_text k;
    kernel_begin(&k, out, device_cc(info), .name = "wgmma",
                 .parameters = GRID_TIMER_PARAMETERS,
                 .variables = ".extern .shared .align 1024 .b8 tiles[];\n\n",
                 .least = "8.0", .only = true);
    grid_timer_opening(&k);
    fill_tiles(&k, w);
    describe_tiles(&k, w);
    declare_accumulators(&k, w);
    grid_timer_begin(&k);
    write_loop(&k, w);
    grid_timer_end(&k);
    kernel_end(&k);
}

/* ---- operands ---------------------------------------------------------- */

static int wgmma_once(struct prober *prober, const struct experiment *e,
                      struct samples *samples, struct error *err)
{
    const struct wgmma *const w = e->own;
    const struct grid_timer_bits kind = grid_timer_bits(kind_of(w)->opcode);
    const bool zeros = w->timer.operands == OPERANDS_ZEROS;
    const size_t bytes = GRID_TIMER_HEAD + tile_bytes(w);
    const struct grid_timer_work work = {
        .threads = THREADS * w->groups,
        .shared_bytes = tile_bytes(w),
        .data = xcalloc(1, bytes),
        .bytes = bytes,
    };
    struct rng rng;
    rng_seed(&rng, prober_seed(prober));
    for (size_t at = GRID_TIMER_HEAD; !zeros && at < bytes; at += 8) {
        const uint64_t bits = (rng_next(&rng) & kind.random) | kind.fixed;
        memcpy(work.data + at, &bits, sizeof bits);
    }
    const int code = grid_timer_run(prober, e, &work, samples, err);
    free(work.data);
    return code;
}

const struct probe probe_wgmma = {
    .name = "wgmma",
    .what = "matrix products of four warps, in blocks all over the GPU",
    .params = wgmma_params,
    .bytes = sizeof(struct wgmma),
    .columns = grid_timer_columns,
    .figure_column = GRID_TIMER_ELAPSED,
    .repeats_least = 3,
    .repeats_most = 9,
    .prepare = wgmma_prepare,
    .kernel = wgmma_kernel,
    .once = wgmma_once,
};
