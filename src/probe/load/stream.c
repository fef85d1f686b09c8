/*
 * The probe `stream`: many warps read, write or copy a working set as fast as
 * they can (van Stigt 2022, 7).  Each has `unroll` independent accesses of
 * `width` bytes a lane in flight, and works in one of four ways:
 *
 * share=warp, for what is in an SM: every warp goes over all of the set, so
 * many laps, which are timed from the first beginning to the last end.  When
 * some warps have ended, the others may be too few: what begins and ends the
 * work is in the time.
 *
 * share=sm, for the same: after the lead each warp counts the laps that it
 * makes in so many cycles, while all others go on.  It looks at the clock every
 * so many laps, as that takes time, too.
 *
 * share=gpu, for L2 and memory: each block has a part of its own and goes
 * round it; after the lead each warp counts the tiles that it passes in so
 * many cycles.  So all SMs are busy all the time, and it does not matter that
 * some are faster: with equal parts to be done the slowest would decide (on an
 * H200, whose GPCs have 16 or 18 SMs, L2 gave 8.0 TB/s so, and gives 9.4).
 *
 * share=blocks: the hardware hands out the set in order, a tile a block.  So
 * what is accessed at a time lies together, which memory likes when it is
 * written (on an H200 4.71 TB/s, and 4.42 with share=gpu).  The launch is
 * timed by the driver's events: take the difference of two sizes.
 *
 * In all but the last as many blocks as all SMs hold at once, `blocks` each,
 * meet at a barrier in global memory; those on SMs that are not wanted leave,
 * so each of the first `sms` SMs has its share and all begin together.
 *
 * A row an SM: beginning and end by its own clock and by the GPU's timer, from
 * which follows the clock's true frequency; and, where cycles are timed, the
 * sum of what its blocks passed in the mean time of their warps.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/text.h"
#include "probe/load/stream.h"
#include "probe/run/grid_barrier.h"

enum { STRIDE_MOST = 128, CONSTANTS = 65536, DEADLINE_S = 60 };

static const char *const operations[] = {"read", "write", "copy", "triad",
                                         NULL};
static const char *const places[] = {"global",   "shared",   "texture",
                                     "constant", "readonly", NULL};
static const char *const sharings[] = {"warp", "sm", "gpu", "blocks", NULL};
static const char *const usages[] = {"xor", "add", "not", "mov", NULL};

static const char *const caches[] = {
    "default", "ca", "cg", "cs", "lu", "cv", "no_allocate", "wb", "wt", NULL};

/* clang-format off */
static const struct param stream_params[] = {
    CHOICE(struct stream, op, "read", operations, "what is done: read; write; copy (2 arrays); triad a = b + s c (3)"),
    CHOICE(struct stream, space, "global", places, "memory space"),
    CHOICE(struct stream, memory, "own", prober_reached, "whose memory: the GPU's own, the host's, another GPU's"),
    CHOICE(struct stream, cache, "default", caches, "cache operator of loads and stores"),
    CHOICE(struct stream, share, "warp", sharings, "warp: each goes over all; sm: the same for some cycles; gpu: a part each block; blocks: a tile each block"),
    CHOICE(struct stream, use, "xor", usages, "instruction that takes what was read"),
    NUMBER(struct stream, width, "16", 1, 16, "bytes of a lane's access: 1, 2, 4, 8, 16"),
    NUMBER(struct stream, unroll, "4", 1, STREAM_UNROLL, "independent accesses in flight"),
    NUMBER(struct stream, warps, "8", 1, STREAM_WARPS, "warps of a block"),
    NUMBER(struct stream, blocks, "1", 1, 32, "blocks of an SM"),
    NUMBER(struct stream, sms, "0", 0, 1024, "SMs, from number 0 on; 0: all"),
    NUMBER(struct stream, bytes, "8192", 16, (uint64_t)1 << 40, "working set: of an array"),
    NUMBER(struct stream, skew, "0", 0, (uint64_t)1 << 32, "bytes between arrays, in steps of 16"),
    NUMBER(struct stream, stride, "1", 1, STRIDE_MOST, "of lanes, in accesses"),
    NUMBER(struct stream, row, "32", 1, STREAM_LANES, "share=warp, sm: lanes in a row; the others are `bytes` further"),
    NUMBER(struct stream, warm, "1", 0, 1000000, "laps before"),
    NUMBER(struct stream, laps, "16", 1, 1000000, "share=warp: laps that are timed; share=sm: between two looks at the clock"),
    NUMBER(struct stream, lead, "4096", 0, 1000000000, "share=sm, gpu: cycles before those that are timed"),
    NUMBER(struct stream, cycles, "16384", 1, 1000000000, "share=sm, gpu: cycles that are timed"),
    NUMBER(struct stream, dither, "0", 0, 100, "share=sm, gpu: percent by which both are longer, at most, by chance"),
    REPEATS(1000, "repetitions; 0: as many as the stopping rule wants"),
    {0},
};
/* clang-format on */

/* ---- reading ----------------------------------------------------------- */

static bool cache_fits(const struct stream *s)
{
    static const char *const loads[] = {"ca", "cg",          "cs", "lu",
                                        "cv", "no_allocate", NULL};
    static const char *const stores[] = {"wb", "cg", "cs", "wt", NULL};
    static const char *const both[] = {"cg", "cs", NULL};
    if (strcmp(s->cache, "default") == 0)
        return true;
    if (s->space != GLOBAL)
        return false;
    return text_is_among(s->cache, s->op == OP_READ    ? loads
                                   : s->op == OP_WRITE ? stores
                                                       : both);
}

/* NULL if the words go together. */
static const char *contradiction(const struct stream *s)
{
    if (!u64_is_power(s->width))
        return "width is 1, 2, 4, 8 or 16";
    if (s->op != OP_READ && s->space != GLOBAL &&
        !(s->op == OP_WRITE && s->space == SHARED))
        return "only global and shared memory can be written, and only global "
               "memory copied";
    if (s->op == OP_TRIAD && s->width < 4)
        return "a triad is of words of 4 B (width=4, 8, 16)";
    if (s->space == TEXTURE && s->width != 4)
        return "a texel is 4 B wide (width=4)";
    if ((s->space == SHARED || s->space == CONSTANT) && !stream_shares_all(s))
        return "shared and constant memory are of an SM (share=warp, sm)";
    if (!u64_is_power(s->row) ||
        (s->row < STREAM_LANES &&
         (!stream_shares_all(s) || s->space == CONSTANT ||
          s->space == TEXTURE)))
        return "rows of 1, 2, 4, 8, 16 lanes are for share=warp and sm, and "
               "neither for texture nor for constant memory";
    if (s->row < STREAM_LANES && s->bytes % s->width != 0)
        return "rows begin at whole accesses: bytes is no multiple of width";
    if (!cache_fits(s))
        return "these accesses take no such cache operator";
    if (s->op != OP_READ && s->use != USE_XOR)
        return "use is for reads";
    if (s->memory != PLACE_OWN && s->space != GLOBAL)
        return "memory of others is global memory (space=global)";
    return NULL;
}

/* Arrays that are read or written. */
static unsigned arrays_of(const struct stream *s)
{
    return s->op == OP_TRIAD ? 3 : s->op == OP_COPY ? 2 : 1;
}

/* Bytes of an array: all rows, and lanes may reach beyond the last. */
static uint64_t array_bytes(const struct stream *s)
{
    if (!stream_shares_all(s))
        return s->bytes;
    const uint64_t reach = (uint64_t)s->row * s->width * (s->stride - 1);
    return s->bytes * (STREAM_LANES / s->row) + reach;
}

/* Shared memory of a block: who works, and the set if it is there. */
static uint64_t shared_of(const struct stream *s)
{
    return 16 + (s->space == SHARED ? array_bytes(s) : 0);
}

static uint64_t tiles_of(const struct stream *s)
{
    return s->bytes / stream_tile(s);
}

/* ---- room -------------------------------------------------------------- */

/* The set must be as large as what is accessed at a time. */
static int check_set(const struct stream *s, const struct device_info *info,
                     struct error *err)
{
    const uint64_t least =
        s->share == BY_GPU ? resident_grid_workers(info, s->blocks, s->sms) : 1;
    if (s->space == CONSTANT && s->bytes > CONSTANTS)
        return error_set(err, ERR_USAGE,
                         "stream: %" PRIu64 " B: constants "
                         "are %d",
                         s->bytes, CONSTANTS);
    if (tiles_of(s) < least)
        return error_set(err, ERR_USAGE,
                         "stream: %" PRIu64 " B: %" PRIu64
                         " blocks access %" PRIu64 " at a time",
                         s->bytes, least, least * stream_tile(s));
    if (s->share == BY_BLOCKS && tiles_of(s) > INT32_MAX)
        return error_set(err, ERR_USAGE,
                         "stream: %" PRIu64 " blocks; a grid has %d",
                         tiles_of(s), INT32_MAX);
    return 0;
}

/* All blocks must be on the SMs at once, or the barrier would not open. */
static int check_room(const struct stream *s, const struct device_info *info,
                      struct error *err)
{
    const unsigned arrays = s->op == OP_TRIAD ? 2 : 1;
    const struct grid_barrier_blocks wanted = {
        .probe = "stream",
        .warps = s->warps,
        .blocks = s->blocks,
        .registers = s->unroll * stream_words(s) * arrays + STREAM_REGISTERS,
        .shared = shared_of(s),
        .sms = s->sms,
    };
    if (grid_barrier_room(&wanted, info, err) != 0)
        return err->code;
    return check_set(s, info, err);
}

static int stream_prepare(struct experiment *e, const struct device_info *info,
                          struct error *err)
{
    struct stream *const s = e->own;
    s->skew = s->skew / 16 * 16;
    const char *const why = contradiction(s);
    if (why != NULL)
        return error_set(err, ERR_USAGE, "stream: %s", why);
    return check_room(s, info, err);
}

/* ---- running ----------------------------------------------------------- */

struct streaming {
    const struct stream *stream;
    unsigned sms, workers; /* of the GPU; blocks that should work */
    struct stream_arguments args;
    struct texture texture;
};

static void divide(const struct stream *s, const struct device_info *info,
                   struct streaming *r)
{
    const uint64_t tiles = tiles_of(s);
    *r = (struct streaming){
        .stream = s,
        .sms = (unsigned)device_told(info, PROPERTY_SMS, 1),
        .workers = resident_grid_workers(info, s->blocks, s->sms),
        .args = {.grid = s->share == BY_BLOCKS
                             ? tiles
                             : resident_grid_blocks(info, s->blocks),
                 .sms = s->sms > 0 ? s->sms : UINT32_MAX,
                 .tiles = tiles,
                 .turns = tiles,
                 .warm = s->warm,
                 .laps = s->laps,
                 .lead = s->lead,
                 .cycles = s->cycles},
    };
}

/* Useful bytes of a tile: those of a warp, or of a block. */
static uint64_t bytes_of_tile(const struct stream *s)
{
    const uint64_t lanes = s->space == CONSTANT    ? 1
                           : s->share == BY_BLOCKS ? stream_threads(s)
                                                   : STREAM_LANES;
    return s->unroll * lanes * s->width * arrays_of(s);
}

/* Arrays begin at whole pages. */
static const uint64_t page = 2 << 20;

static int place_data(struct prober *prober, struct streaming *r,
                      struct error *err)
{
    const struct stream *const s = r->stream;
    const uint64_t each = (array_bytes(s) + page - 1) / page * page + s->skew;
    const unsigned arrays = arrays_of(s);
    if (s->space == SHARED || s->space == CONSTANT)
        return 0;
    if (prober_buffer_at(prober,
                         s->memory == PLACE_OWN ? BUFFER_RING : BUFFER_FAR,
                         s->memory, each * arrays, &r->args.first, err) != 0)
        return err->code;
    r->args.second = arrays > 1 ? r->args.first + each : 0;
    r->args.third = arrays > 2 ? r->args.second + each : 0;
    if (s->space != TEXTURE)
        return 0;
    const int status = device_texture_open(prober_device(prober), r->args.first,
                                           array_bytes(s), &r->texture, err);
    r->args.texture = r->texture.object;
    return status;
}

enum { WORDS = STREAM_RECORD / 8 };

static void add_workers(const struct streaming *r, const uint64_t *out,
                        struct samples *samples)
{
    const struct stream *const s = r->stream;
    const uint64_t laps = r->args.turns * s->laps;
    const struct resident_grid_tally tally = {
        .workers = r->workers,
        .warps = s->warps,
        .tile = bytes_of_tile(s) * (s->share == BY_SM ? laps : 1),
        .tiles = s->share == BY_WARP ? laps : 0,
    };
    resident_grid_add(&tally, out, samples);
}

/* share=blocks: an SM's two lines. */
static void add_sms(const struct streaming *r, const uint64_t *out,
                    struct samples *samples)
{
    for (unsigned i = 0; i < r->sms; i++) {
        const uint64_t *const lines = out + (size_t)i * 2 * WORDS;
        const uint64_t *const moments = lines + WORDS;
        if (lines[0] == 0)
            continue;
        int64_t *const row = samples_row(samples);
        row[GRID_SM] = i;
        row[GRID_BLOCKS] = (int64_t)lines[0];
        row[GRID_BYTES] = (int64_t)(lines[0] * bytes_of_tile(r->stream));
        if (moments[0] == 0 || moments[2] == 0)
            continue; /* none of its blocks noted the moment */
        row[GRID_BEGUN] = (int64_t)moments[0];
        row[GRID_NS_BEGUN] = (int64_t)moments[1];
        row[GRID_ENDED] = (int64_t)moments[2];
        row[GRID_NS_ENDED] = (int64_t)moments[3];
    }
}

static int stream_run(struct prober *prober, const struct experiment *e,
                      struct streaming *r, struct samples *samples,
                      struct error *err)
{
    const struct stream *const s = r->stream;
    const bool by_blocks = s->share == BY_BLOCKS;
    const size_t from = samples->rows;
    struct resident_grid grid = {
        .shot = {.kernel = "stream",
                 .blocks = (unsigned)r->args.grid,
                 .threads = stream_threads(s),
                 .shared_bytes = shared_of(s),
                 .carve_out = s->space == SHARED ? 100 : 0,
                 .deadline_s = DEADLINE_S,
                 SHOT_ARGUMENTS(&r->args)},
        .slots = &r->args.slots,
        .out = &r->args.out,
        .record_bytes =
            STREAM_RECORD * (by_blocks ? 2 * (size_t)r->sms
                                       : (size_t)r->workers * (1 + s->warps)),
    };
    uint64_t *const out = resident_grid_run(prober, e, &grid, err);
    if (out == NULL)
        return err->code;
    (by_blocks ? add_sms : add_workers)(r, out, samples);
    resident_grid_note(prober, &grid, samples, from);
    free(out);
    return 0;
}

static int stream_once(struct prober *prober, const struct experiment *e,
                       struct samples *samples, struct error *err)
{
    struct streaming r;
    divide(e->own, prober_info(prober), &r);
    r.args.start = resident_grid_start(prober, samples);
    const struct stream *const s = e->own;
    resident_grid_dither(r.args.start, s->dither, &r.args.lead, &r.args.cycles);
    if (place_data(prober, &r, err) == 0)
        stream_run(prober, e, &r, samples, err);
    if (r.texture.object != 0)
        device_texture_close(prober_device(prober), &r.texture);
    return err->code;
}

/* Laps: cycles of the SM that took longest; cycles: of 2^40 B; blocks: ns. */
static double stream_figure(const struct experiment *e,
                            const struct samples *samples, size_t from)
{
    const struct stream *const s = e->own;
    if (s->share == BY_BLOCKS)
        return (double)samples_at(samples, from, GRID_NS_EVENT);
    return resident_grid_figure(e, samples, from);
}

const struct probe probe_stream = {
    .name = "stream",
    .what = "bandwidth: many warps read, write or copy a working set",
    .params = stream_params,
    .bytes = sizeof(struct stream),
    .columns = resident_grid_columns,
    .figure = stream_figure,
    .repeats_least = 2,
    .repeats_most = 7,
    .prepare = stream_prepare,
    .kernel = stream_kernel,
    .once = stream_once,
};
