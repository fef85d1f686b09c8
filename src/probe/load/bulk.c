/*
 * The probe `bulk`: copies from global to shared memory that the hardware does
 * by itself (PTX ISA 8.0: cp.async.bulk; from compute capability 9.0 on).
 *
 * Lane 0 of each warp keeps `depth` copies of `bytes_each` bytes in flight,
 * each with a barrier in shared memory that tells when all of its bytes have
 * come. It waits for the oldest, and at once begins the next in its place.
 * Nothing reads what was copied: to arrive is all that is timed.
 *
 * Each block goes round a part of the set of its own, as with share=gpu of the
 * probe `stream`: first `warm` laps, then together with all others, after a
 * lead, each warp counts the copies that came between two reads of its clock.
 * Where in its part it begins differs from run to run, or what one run brought
 * to L2 would serve the next.
 *
 * A wait is so many looks long at most.  What has not come by then makes the
 * repetition fail; and no block ends while copies to it are under way.
 */
#include "probe/load/bulk.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "probe/run/grid_barrier.h"
#include "probe/run/resident_grid.h"
#include "ptx/capability.h"

enum { DEADLINE_S = 60, LANES = 32 };
/* Looks at a barrier, each of which may itself wait a while. */
enum { LOOKS = 20000 };
/* At the start of shared memory, before the barriers: who works. */
enum { POOL = 16, BARRIER = 8, ALIGN = 128 };
/* 32-bit registers of a thread, at most. */
enum { REGISTERS = 32 };

/* clang-format off */
static const struct param bulk_params[] = {
    NUMBER(struct bulk, bytes_each, "16384", BULK_LEAST, BULK_MOST, "bytes of a copy, in sixteens"),
    NUMBER(struct bulk, depth, "4", 1, BULK_DEPTH, "copies of a warp in flight"),
    NUMBER(struct bulk, warps, "2", 1, 32, "warps of a block"),
    NUMBER(struct bulk, blocks, "1", 1, 32, "blocks of an SM"),
    NUMBER(struct bulk, sms, "0", 0, 1024, "SMs, from number 0 on; 0: all"),
    NUMBER(struct bulk, bytes, "268435456", BULK_LEAST, (uint64_t)1 << 40, "working set"),
    NUMBER(struct bulk, warm, "1", 0, 1000000, "laps before"),
    NUMBER(struct bulk, lead, "8192", 0, 1000000000, "cycles before those that are timed"),
    NUMBER(struct bulk, cycles, "16384", 1, 1000000000, "cycles that are timed"),
    REPEATS(1000, "repetitions; 0: as many as the stopping rule wants"),
    {0},
};
/* clang-format on */

KERNEL_PARAMETERS(bulk_arguments, first, slots, out, grid, sms, tiles, begin,
                  warm, lead, cycles);

/* ---- room -------------------------------------------------------------- */

/* Where the data begins in shared memory, and where it ends. */
static unsigned data_at(const struct bulk *b)
{
    const unsigned before = POOL + BARRIER * b->warps * b->depth;
    return (before + ALIGN - 1) / ALIGN * ALIGN;
}

static uint64_t shared_of(const struct bulk *b)
{
    return data_at(b) + bulk_in_flight(b);
}

/* Bytes of the set that all warps of a block copy at a time, each one copy. */
static uint64_t tile_of(const struct bulk *b)
{
    return (uint64_t)b->warps * b->bytes_each;
}

/* Each block has more than what it copies at a time. */
static int check_set(const struct bulk *b, const struct device_info *info,
                     struct error *err)
{
    const unsigned workers = resident_grid_workers(info, b->blocks, b->sms);
    const uint64_t least = workers * bulk_in_flight(b);
    if (b->bytes >= least)
        return 0;
    return error_set(err, ERR_USAGE,
                     "bulk: %" PRIu64 " B: %u blocks copy %" PRIu64
                     " at a time",
                     b->bytes, workers, least);
}

int bulk_room(const struct bulk *b, const struct device_info *info,
              struct error *err)
{
    const struct grid_barrier_blocks wanted = {.probe = "bulk",
                                               .warps = b->warps,
                                               .blocks = b->blocks,
                                               .registers = REGISTERS,
                                               .shared = shared_of(b),
                                               .sms = b->sms};
    if (device_requires(info, CAP_BULK, err) != 0)
        return err->code;
    if (b->bytes_each % BULK_LEAST != 0)
        return error_set(err, ERR_USAGE,
                         "bulk: bytes_each=%u is no multiple of %d",
                         b->bytes_each, BULK_LEAST);
    if (grid_barrier_room(&wanted, info, err) != 0)
        return err->code;
    return check_set(b, info, err);
}

static int bulk_prepare(struct experiment *e, const struct device_info *info,
                        struct error *err)
{
    return bulk_room(e->own, info, err);
}

/* ---- the kernel -------------------------------------------------------- */

static void declare(struct kernel_text *k)
{
    ptx(k,
        ".reg .b32 %sm, %me, %warp, %worker, %workers, %count, %want, %looks, "
        "%never, %taken, %bars, %bar, %data, %to, %each, %parity, %last;\n"
        ".reg .b64 %at, %bt, %ct, %slots, %out, %first, %from, %turn, %turns, "
        "%left, %t0, %t1, %g0, %g1, %until;\n"
        ".reg .pred %other, %again, %on, %true, %end, %wrap, %idle, %lost;\n");
}

static void opening(struct kernel_text *k)
{
    declare(k);
    ptx(k, "ld.param.u64 %slots, [slots];\n"
           "ld.param.u64 %out, [out];\n"
           "mov.u32 %sm, %smid;\n"
           "mov.u32 %me, %tid.x;\n"
           "shr.u32 %warp, %me, 5;\n"
           "and.b32 %count, %me, 31;\n"
           "setp.ne.u32 %idle, %count, 0;\n");
    resident_grid_enlist(k);
    ptx_with(k,
             "ld.global.u32 %never, [%slots+$never];\n"
             "setp.ne.u32 %true, %never, 0;\n"
             "setp.eq.u32 %lost, %never, 0;\n",
             WORD(never, 4 * SLOT_NEVER));
}

/* %first: where the warp's part begins, with its first copy; %from: where it
 * begins this time, %turn tiles before the end of its part. */
static void place_part(struct kernel_text *k, const struct bulk *b)
{
    resident_grid_share(k);
    ptx_with(k,
             "ld.param.u64 %first, [first];\n"
             "mad.lo.u64 %first, %at, $tile, %first;\n"
             "mad.wide.u32 %first, %warp, $bytes_each, %first;\n"
             "// a part of the share, in 2^-32\n"
             "ld.param.u64 %at, [begin];\n"
             "mul.lo.u64 %at, %at, %turns;\n"
             "shr.u64 %at, %at, 32;\n"
             "sub.u64 %turn, %turns, %at;\n"
             "mad.lo.u64 %from, %at, $tile, %first;\n",
             WORD(tile, tile_of(b)), WORD(bytes_each, b->bytes_each));
}

static void place_shared(struct kernel_text *k, const struct bulk *b)
{
    ptx_with(k,
             "mov.u32 %each, $bytes_each;\n"
             "mov.u32 %count, pool;\n"
             "add.u32 %bars, %count, $pool;\n"
             "mad.lo.u32 %bars, %warp, $depth, %bars;\n"
             "add.u32 %last, %bars, $depth;\n"
             "add.u32 %data, %count, $data_at;\n"
             "mad.lo.u32 %data, %warp, $ring_bytes, %data;\n"
             "mov.u32 %bar, %bars;\n"
             "mov.u32 %to, %data;\n",
             WORD(bytes_each, b->bytes_each), WORD(pool, POOL),
             WORD(depth, BARRIER * b->depth), WORD(data_at, data_at(b)),
             WORD(ring_bytes, b->depth * b->bytes_each));
}

/* To the next place; round once, the parity of what is waited for changes. */
static void next_place(struct kernel_text *k)
{
    ptx_with(k,
             "add.u32 %bar, %bar, $barrier;\n"
             "add.u32 %to, %to, %each;\n"
             "setp.eq.u32 %wrap, %bar, %last;\n"
             "@%wrap mov.u32 %bar, %bars;\n"
             "@%wrap mov.u32 %to, %data;\n"
             "@%wrap xor.b32 %parity, %parity, 1;\n",
             WORD(barrier, BARRIER));
}

/* Begins a copy, and goes on in the set and among the places. */
static void begin_copy(struct kernel_text *k, const struct bulk *b)
{
    ptx_with(k,
             "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], %each;\n"
             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
             "bytes [%to], [%from], %each, [%bar];\n"
             "add.u64 %from, %from, $tile;\n"
             "sub.u64 %turn, %turn, 1;\n"
             "setp.eq.u64 %wrap, %turn, 0;\n"
             "@%wrap mov.u64 %from, %first;\n"
             "@%wrap mov.u64 %turn, %turns;\n",
             WORD(tile, tile_of(b)));
    next_place(k);
}

/* Waits until the oldest copy has come, or goes to NAME_END with %lost. */
static void wait_copy(struct kernel_text *k, const char *name)
{
    ptx_with(
        k,
        "mov.u32 %looks, 0;\n"
        "${name}_LOOK:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 %again, [%bar], %parity;\n"
        "@%again bra ${name}_CAME;\n"
        "add.u32 %looks, %looks, 1;\n"
        "setp.lt.u32 %again, %looks, $looks;\n"
        "@%again bra ${name}_LOOK;\n"
        "setp.ne.u32 %lost, %never, 0;\n"
        "bra ${name}_END;\n"
        "${name}_CAME:\n",
        WORD(name, name), WORD(looks, LOOKS));
}

/* The barriers, and as many copies as are to be in flight. */
static void bulk_fill(struct kernel_text *k, const struct bulk *b)
{
    for (unsigned i = 0; i < b->depth; i++)
        ptx_with(k, "mbarrier.init.shared::cta.b64 [%bars+$i], 1;",
                 WORD(i, BARRIER * i));
    ptx(k, "// copies see the barriers as they now are\n"
           "fence.proxy.async;\n"
           "// once round, and it is 0, that of the first phase\n"
           "mov.u32 %parity, 1;\n");
    for (unsigned i = 0; i < b->depth; i++)
        begin_copy(k, b);
}

/* So many laps of the warp's part. */
static void warm_up(struct kernel_text *k, const struct bulk *b)
{
    ptx(k, "ld.param.u64 %left, [warm];\n"
           "mul.lo.u64 %left, %left, %turns;\n"
           "WARM:\n"
           "setp.eq.u64 %again, %left, 0;\n"
           "@%again bra WARM_END;\n");
    wait_copy(k, "WARM");
    begin_copy(k, b);
    ptx(k, "sub.u64 %left, %left, 1;\n"
           "bra WARM;\n"
           "WARM_END:\n");
}

/* Copies until the clock says %until; %taken of them came. */
static void count_copies(struct kernel_text *k, const struct bulk *b)
{
    ptx(k, "mov.u32 %taken, 0;\n"
           "COUNT:\n");
    wait_copy(k, "COUNT");
    ptx(k, "mov.u64 %t1, %clock64;\n"
           "add.u32 %taken, %taken, 1;\n");
    begin_copy(k, b);
    ptx(k, "setp.lt.u64 %again, %t1, %until;\n"
           "@%again bra COUNT;\n"
           "COUNT_END:\n"
           "mov.u64 %g1, %globaltimer;\n");
}

/* First the lead, until as much is under way as ever will be; then the same
 * again between the two clock reads that count. */
static void measure_copies(struct kernel_text *k, const struct bulk *b)
{
    ptx(k, "ld.param.u64 %until, [lead];\n"
           "mov.u64 %t1, %clock64;\n"
           "mov.u64 %t0, %t1;\n"
           "mov.u64 %g0, %globaltimer;\n"
           "mov.u64 %g1, %g0;\n"
           "mov.u32 %taken, 0;\n"
           "@%lost bra COUNTED;\n"
           "setp.eq.u32 %end, %never, 0;\n"
           "PHASE:\n"
           "add.u64 %until, %until, %t1;\n");
    count_copies(k, b);
    ptx(k, "@%lost bra COUNTED;\n"
           "@%end bra COUNTED;\n"
           "setp.ne.u32 %end, %never, 0;\n"
           "mov.u64 %t0, %t1;\n"
           "mov.u64 %g0, %g1;\n"
           "ld.param.u64 %until, [cycles];\n"
           "bra PHASE;\n"
           "COUNTED:\n");
}

/* A block's shared memory is another's once it has ended. */
static void drain(struct kernel_text *k, const struct bulk *b)
{
    ptx_with(k,
             "mov.u64 %left, $depth;\n"
             "@%lost bra DRAIN_END;\n"
             "DRAIN:\n",
             WORD(depth, b->depth));
    wait_copy(k, "DRAIN");
    next_place(k);
    ptx(k, "sub.u64 %left, %left, 1;\n"
           "setp.ne.u64 %again, %left, 0;\n"
           "@%again bra DRAIN;\n"
           "DRAIN_END:\n"
           "@%lost mov.u32 %taken, 0xffffffff;\n");
}

static void body(struct kernel_text *k, const struct bulk *b)
{
    opening(k);
    place_part(k, b);
    place_shared(k, b);
    resident_grid_place_record(k, b->warps);
    ptx(k, "@%idle bra IDLE;");
    bulk_fill(k, b);
    warm_up(k, b);
    ptx(k, "IDLE:\n"
           "// a barrier of the block is for whole warps\n"
           "bar.warp.sync 0xffffffff;\n"
           "setp.ne.u32 %end, %never, 0;\n");
    resident_grid_begin_together(k);
    ptx(k, "@%idle bra DONE;");
    measure_copies(k, b);
    drain(k, b);
    resident_grid_write_record(k);
    ptx(k, "DONE:");
}

static void bulk_kernel(const struct experiment *e,
                        const struct device_info *info, struct buf *out)
{
    const struct bulk *const b = e->own;
    struct kernel_text k;
    kernel_begin(&k, out, device_cc(info), .name = "bulk",
                 .parameters = bulk_arguments_names,
                 .variables = ".extern .shared .align 128 .b8 pool[];\n\n",
                 .least = "8.0", .resident_blocks = b->blocks,
                 .threads = LANES * b->warps);
    body(&k, b);
    kernel_end(&k);
}

/* ---- running ----------------------------------------------------------- */

/* True if some warp of these gave up waiting. */
static bool is_lost(const struct bulk *b, unsigned workers,
                    const uint64_t *record)
{
    const size_t words = GRID_RECORD / sizeof *record;
    const unsigned lines = 1 + b->warps;
    for (size_t i = 0; i < (size_t)workers * lines; i++)
        if (i % lines != 0 && (uint32_t)record[i * words + 4] == UINT32_MAX)
            return true;
    return false;
}

static int bulk_run(struct prober *prober, const struct experiment *e,
                    struct bulk_arguments *args, struct samples *samples,
                    struct error *err)
{
    const struct bulk *const b = e->own;
    const size_t from = samples->rows;
    const struct resident_grid_tally tally = {
        .workers =
            resident_grid_workers(prober_info(prober), b->blocks, b->sms),
        .warps = b->warps,
        .tile = b->bytes_each};
    struct resident_grid grid = {
        .shot = {.kernel = "bulk",
                 .blocks = (unsigned)args->grid,
                 .threads = LANES * b->warps,
                 .shared_bytes = shared_of(b),
                 .carve_out = 100,
                 .deadline_s = DEADLINE_S,
                 SHOT_ARGUMENTS(args)},
        .slots = &args->slots,
        .out = &args->out,
        .record_bytes = GRID_RECORD * (size_t)tally.workers * (1 + b->warps)};
    uint64_t *const record = resident_grid_run(prober, e, &grid, err);
    if (record == NULL)
        return err->code;
    if (is_lost(b, tally.workers, record))
        error_set(err, ERR_DEVICE,
                  "bulk: a copy did not come in %d looks at its barrier",
                  LOOKS);
    else
        resident_grid_add(&tally, record, samples);
    resident_grid_note(prober, &grid, samples, from);
    free(record);
    return err->code;
}

static int bulk_once(struct prober *prober, const struct experiment *e,
                     struct samples *samples, struct error *err)
{
    const struct bulk *const b = e->own;
    struct bulk_arguments args = {
        .grid = resident_grid_blocks(prober_info(prober), b->blocks),
        .sms = b->sms > 0 ? b->sms : UINT32_MAX,
        .tiles = b->bytes / tile_of(b),
        .begin = resident_grid_start(prober, samples),
        .warm = b->warm,
        .lead = b->lead,
        .cycles = b->cycles};
    if (prober_buffer(prober, BUFFER_RING, b->bytes, &args.first, err) != 0)
        return err->code;
    return bulk_run(prober, e, &args, samples, err);
}

const struct probe probe_bulk = {
    .name = "bulk",
    .what = "bandwidth of bulk copies from global to shared memory",
    .params = bulk_params,
    .bytes = sizeof(struct bulk),
    .columns = resident_grid_columns,
    .figure = resident_grid_figure,
    .repeats_least = 2,
    .repeats_most = 7,
    .prepare = bulk_prepare,
    .kernel = bulk_kernel,
    .once = bulk_once,
};
