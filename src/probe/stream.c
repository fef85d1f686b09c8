/*
 * The probe `stream`: many warps read, write or copy a working set as fast as
 * they can.
 *
 * As many blocks as all SMs hold at once, `blocks` each, meet at a gate in
 * global memory; those on SMs that are not wanted leave, so each of the first
 * `sms` SMs has its share and all begin together (van Stigt 2022, 7).  In a lap
 * a warp goes over its part of the set, with `unroll` independent accesses of
 * `width` bytes a lane in flight.  Either all threads of the GPU divide the set
 * (share=gpu: L2, memory), tile by tile, or every warp goes over all of it
 * (share=warp: what is in an SM).
 *
 * What is read is used, or the assembler would drop it; the first address
 * depends on the first clock read, the second clock read on all that was read;
 * writes are waited for by a fence.  Addresses move by a zero that only memory
 * knows, so that nothing can be taken out of the laps.
 *
 * A row an SM: first beginning and last end of its warps, by its own clock and
 * by the GPU's timer, from which follows the clock's true frequency.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probe/gate.h"
#include "probe/run.h"
#include "ptx/kernel.h"

enum column {
    COLUMN_SM = 1,
    COLUMN_BLOCKS,
    COLUMN_BYTES,
    COLUMN_BEGUN,
    COLUMN_ENDED,
    COLUMN_NS_BEGUN,
    COLUMN_NS_ENDED,
    COLUMN_NS_EVENT,
    COLUMN_MHZ
};

enum {
    LANES = GATE_LANES,
    WARPS_MOST = 32,
    UNROLL_MOST = 16,
    STRIDE_MOST = 128
};
enum { CONSTANTS = 65536, DEADLINE_S = 60 };
/* 32-bit registers besides those that are loaded. */
enum { REGISTERS_ELSE = 24 };

enum operation { OP_READ, OP_WRITE, OP_COPY, OP_TRIAD };
static const char *const operations[] = {"read", "write", "copy", "triad",
                                         NULL};
enum place { GLOBAL, SHARED, TEXTURE, CONSTANT, READONLY };
static const char *const places[] = {"global",   "shared",   "texture",
                                     "constant", "readonly", NULL};
enum sharing { BY_WARP, BY_GPU, BY_QUEUE };
static const char *const sharings[] = {"warp", "gpu", "queue", NULL};
enum usage { USE_XOR, USE_ADD, USE_NOT, USE_MOV };
static const char *const usages[] = {"xor", "add", "not", "mov", NULL};

static const char *const caches[] = {
    "default", "ca", "cg", "cs", "lu", "cv", "no_allocate", "wb", "wt", NULL};

/* clang-format off */
static const struct param params[] = {
    {"op",     PARAM_WORD,   "read",    0,  0,   operations, "what is done: read; write; copy (2 arrays); triad a = b + s c (3)"},
    {"space",  PARAM_WORD,   "global",  0,  0,   places,     "memory space"},
    {"cache",  PARAM_WORD,   "default", 0,  0,   caches,     "cache operator of loads and stores"},
    {"share",  PARAM_WORD,   "warp",    0,  0,   sharings,   "warp: each goes over all; gpu: all divide it alike; queue: who is done takes more"},
    {"use",    PARAM_WORD,   "xor",     0,  0,   usages,     "instruction that takes what was read"},
    {"width",  PARAM_NUMBER, "16",      4,  16,  NULL,       "bytes of a lane's access: 4, 8, 16"},
    {"unroll", PARAM_NUMBER, "4",       1,  UNROLL_MOST, NULL, "independent accesses in flight"},
    {"warps",  PARAM_NUMBER, "8",       1,  WARPS_MOST,  NULL, "warps of a block"},
    {"blocks", PARAM_NUMBER, "1",       1,  32,  NULL,       "blocks of an SM"},
    {"sms",    PARAM_NUMBER, "0",       0,  1024, NULL,      "SMs, from number 0 on; 0: all"},
    {"bytes",  PARAM_NUMBER, "8192",    16, (uint64_t)1 << 40, NULL, "working set: of an array"},
    {"stride", PARAM_NUMBER, "1",       1,  STRIDE_MOST, NULL, "of lanes, in accesses"},
    {"warm",   PARAM_NUMBER, "1",       0,  1000000, NULL,   "laps before"},
    {"laps",   PARAM_NUMBER, "16",      1,  100000000, NULL, "laps that are timed"},
    {"repeats", PARAM_NUMBER, "0",      0,  1000, NULL,      "repetitions; 0: as many as the stopping rule wants"},
    {0},
};
/* clang-format on */

static const char *const columns[] = {
    "sm",       "blocks",   "bytes",    "begun", "ended",
    "ns_begun", "ns_ended", "ns_event", "mhz",   NULL};

struct stream {
    enum operation op;
    enum place place;
    enum sharing share;
    enum usage use;
    const char *cache;
    unsigned width, unroll, warps, blocks, stride, sms;
    uint64_t bytes, warm, laps;
};

/* ---- reading ----------------------------------------------------------- */

static unsigned word_index(const char *const *words, const char *word)
{
    unsigned i = 0;
    while (strcmp(words[i], word) != 0)
        i++;
    return i;
}

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words != NULL && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

static bool cache_fits(const struct stream *s)
{
    static const char *const loads[] = {"ca", "cg",          "cs", "lu",
                                        "cv", "no_allocate", NULL};
    static const char *const stores[] = {"wb", "cg", "cs", "wt", NULL};
    static const char *const both[] = {"cg", "cs", NULL};
    if (strcmp(s->cache, "default") == 0)
        return true;
    if (s->place != GLOBAL)
        return false;
    return is_one_of(s->cache, s->op == OP_READ    ? loads
                               : s->op == OP_WRITE ? stores
                                                   : both);
}

/* NULL if the words go together. */
static const char *contradiction(const struct stream *s)
{
    if (s->width != 4 && s->width != 8 && s->width != 16)
        return "width is 4, 8 or 16";
    if (s->op != OP_READ && s->place != GLOBAL &&
        !(s->op == OP_WRITE && s->place == SHARED))
        return "only global and shared memory can be written, and only global "
               "memory copied";
    if (s->place == TEXTURE && s->width != 4)
        return "a texel is 4 B wide (width=4)";
    if ((s->place == SHARED || s->place == CONSTANT) && s->share != BY_WARP)
        return "shared and constant memory are of an SM (share=warp)";
    if (!cache_fits(s))
        return "these accesses take no such cache operator";
    if (s->op != OP_READ && s->use != USE_XOR)
        return "use is for reads";
    return NULL;
}

static int read_words(const struct experiment *e, struct stream *s,
                      struct error *err)
{
    *s = (struct stream){
        .op = word_index(operations, experiment_word(e, "op")),
        .place = word_index(places, experiment_word(e, "space")),
        .share = word_index(sharings, experiment_word(e, "share")),
        .use = word_index(usages, experiment_word(e, "use")),
        .cache = experiment_word(e, "cache"),
        .width = (unsigned)experiment_number(e, "width"),
        .unroll = (unsigned)experiment_number(e, "unroll"),
        .warps = (unsigned)experiment_number(e, "warps"),
        .blocks = (unsigned)experiment_number(e, "blocks"),
        .stride = (unsigned)experiment_number(e, "stride"),
        .sms = (unsigned)experiment_number(e, "sms"),
        .bytes = experiment_number(e, "bytes"),
        .warm = experiment_number(e, "warm"),
        .laps = experiment_number(e, "laps"),
    };
    const char *const why = contradiction(s);
    return why == NULL ? 0 : error_set(err, ERR_USAGE, "stream: %s", why);
}

static unsigned threads_of(const struct stream *s)
{
    return LANES * s->warps;
}

/* Arrays that are read or written. */
static unsigned arrays_of(const struct stream *s)
{
    return s->op == OP_TRIAD ? 3 : s->op == OP_COPY ? 2 : 1;
}

/* Bytes from one of a thread's accesses to the next.  Where every warp goes
 * over all, rows lie side by side whatever the stride is, so that what the
 * lanes span is all that a small cache must hold. */
static uint64_t row_of(const struct stream *s)
{
    if (s->place == CONSTANT)
        return s->width;
    if (s->share == BY_WARP)
        return (uint64_t)LANES * s->width;
    if (s->share == BY_QUEUE)
        return (uint64_t)LANES * s->width * s->stride;
    return (uint64_t)threads_of(s) * s->width * s->stride;
}

static uint64_t tile_of(const struct stream *s)
{
    return s->unroll * row_of(s);
}

/* Bytes of an array: its lanes may reach beyond the last row. */
static uint64_t array_bytes(const struct stream *s)
{
    const uint64_t reach = (uint64_t)LANES * s->width * (s->stride - 1);
    return s->bytes + (s->share == BY_WARP ? reach : 0);
}

/* All blocks must be on the SMs at once, or the gate would not open. */
static int check_room(const struct stream *s, const struct device_info *info,
                      struct error *err)
{
    const unsigned arrays = s->op == OP_TRIAD ? 2 : 1;
    const struct gate_blocks wanted = {
        .probe = "stream",
        .warps = s->warps,
        .blocks = s->blocks,
        .registers = s->unroll * s->width / 4 * arrays + REGISTERS_ELSE,
    };
    if (gate_room(&wanted, info, err) != 0)
        return err->code;
    if (s->bytes < tile_of(s) || (s->place == CONSTANT && s->bytes > CONSTANTS))
        return error_set(err, ERR_USAGE,
                         "stream: %" PRIu64 " B: a block needs %" PRIu64
                         " at least, and constants are %d",
                         s->bytes, tile_of(s), CONSTANTS);
    return 0;
}

static int read_stream(const struct experiment *e,
                       const struct device_info *info, struct stream *s,
                       struct error *err)
{
    const int status = read_words(e, s, err);
    return status != 0 ? status : check_room(s, info, err);
}

/* ---- the kernel -------------------------------------------------------- */

/* Words of `slots`. */
enum slot {
    SLOT_ARRIVED,
    SLOT_WORKERS,
    SLOT_READY,
    SLOT_ZERO,
    SLOT_NEVER,
    SLOT_QUEUES, /* the next piece of each phase */
    SLOTS = SLOT_QUEUES + 3
};
static const uint32_t never = 0x9e3779b9;

#define PARAMETERS                                                             \
    "first second third texture slots out grid sms tiles turns warm laps"
enum argument {
    ARGUMENT_FIRST,
    ARGUMENT_SECOND,
    ARGUMENT_THIRD,
    ARGUMENT_TEXTURE,
    ARGUMENT_SLOTS,
    ARGUMENT_OUT,
    ARGUMENT_GRID,
    ARGUMENT_SMS,
    ARGUMENT_TILES,
    ARGUMENT_TURNS,
    ARGUMENT_WARM,
    ARGUMENT_LAPS,
    ARGUMENTS
};

/* Bytes of a block's record: a line with its SM, one for each warp: clock
 * reads, timer reads, pieces taken. */
enum { RECORD = 48 };

static size_t record_bytes(const struct stream *s)
{
    return (size_t)RECORD * (1 + s->warps);
}

static void declare(struct kernel_text *k, const struct stream *s)
{
    kernel_line(k, ".reg .b32 %%sm, %%me, %%warp, %%worker, %%workers, "
                   "%%count, %%want, %%looks, %%sum, %%never, %%now, %%texel, "
                   "%%piece, %%coming, %%pieces, %%all, %%taken;");
    kernel_line(k,
                ".reg .b64 %%at, %%bt, %%ct, %%base, %%first, %%second, "
                "%%third, %%slots, %%out, %%step, %%turn, %%turns, %%left, "
                "%%laps, %%zero, %%t0, %%t1, %%g0, %%g1, %%texture, %%queue;");
    kernel_line(
        k, ".reg .pred %%other, %%again, %%on, %%also, %%true, %%end, %%lane;");
    kernel_line(k, ".reg .b32 %%x<%d>, %%y<%d>;", UNROLL_MOST * 4,
                UNROLL_MOST * 4);
    (void)s;
}

/* The block takes the next number, if its SM is wanted. */
static void enlist(struct kernel_text *k)
{
    kernel_line(k, "mov.u32 %%sm, %%smid;");
    kernel_line(k, "mov.u32 %%me, %%tid.x;");
    kernel_line(k, "shr.u32 %%warp, %%me, 5;");
    kernel_line(k, "setp.ne.u32 %%other, %%me, 0;");
    kernel_line(k, "@%%other bra ENLISTED;");
    kernel_line(k, "mov.u32 %%worker, 0xffffffff;");
    kernel_line(k, "ld.param.u64 %%at, [sms];");
    kernel_line(k, "cvt.u64.u32 %%bt, %%sm;");
    kernel_line(k, "setp.ge.u64 %%again, %%bt, %%at;");
    kernel_line(k, "@%%again bra UNWANTED;");
    kernel_line(k, "atom.global.add.u32 %%worker, [%%slots+%d], 1;",
                4 * SLOT_WORKERS);
    kernel_line(k, "UNWANTED:");
    kernel_line(k, "st.shared.u32 [pool], %%worker;");
    kernel_line(k, "ld.param.u32 %%want, [grid];");
    gate_meet(k, "GATE", 4 * SLOT_ARRIVED, GATE_LOOKS);
    kernel_line(k, "ENLISTED:");
    kernel_line(k, "bar.sync 0;");
    kernel_line(k, "ld.shared.u32 %%worker, [pool];");
    kernel_line(k, "setp.eq.u32 %%again, %%worker, 0xffffffff;");
    kernel_line(k, "@%%again bra DONE;");
    kernel_line(k, "ld.volatile.global.u32 %%workers, [%%slots+%d];",
                4 * SLOT_WORKERS);
}

/* Where the thread begins, from the start of the set, into %at. */
static void place_thread(struct kernel_text *k, const struct stream *s)
{
    const unsigned apart = s->width * s->stride;
    if (s->place == CONSTANT) {
        kernel_line(k, "mov.u64 %%at, %%zero;");
    } else if (s->share == BY_WARP) {
        kernel_line(k, "and.b32 %%count, %%me, 31;");
        kernel_line(k, "mul.wide.u32 %%at, %%count, %u;", apart);
    } else if (s->share == BY_QUEUE) {
        kernel_line(k, "and.b32 %%count, %%me, 31;");
        kernel_line(k, "setp.eq.u32 %%lane, %%count, 0;");
        kernel_line(k, "mul.wide.u32 %%at, %%count, %u;", apart);
        kernel_line(k, "ld.param.u32 %%pieces, [tiles];");
        kernel_line(k, "add.u64 %%queue, %%slots, %d;", 4 * SLOT_QUEUES);
    } else {
        kernel_line(k, "ld.param.u64 %%bt, [tiles];");
        kernel_line(k, "cvt.u64.u32 %%at, %%worker;");
        kernel_line(k, "rem.u64 %%at, %%at, %%bt;");
        kernel_line(k, "mul.lo.u64 %%at, %%at, %" PRIu64 ";", tile_of(s));
        kernel_line(k, "mad.wide.u32 %%at, %%me, %u, %%at;", apart);
    }
    kernel_line(k, "mov.u64 %%step, %" PRIu64 ";", tile_of(s));
    if (s->share == BY_GPU) {
        kernel_line(k, "cvt.u64.u32 %%bt, %%workers;");
        kernel_line(k, "mul.lo.u64 %%step, %%step, %%bt;");
    }
}

/* %first and, where there are more arrays, how far they are from it. */
static void place_arrays(struct kernel_text *k, const struct stream *s)
{
    if (s->place == SHARED)
        kernel_line(k, "mov.u64 %%first, pool;");
    else if (s->place == CONSTANT)
        kernel_line(k, "mov.u64 %%first, constants;");
    else
        kernel_line(k, "ld.param.u64 %%first, [first];");
    if (s->place == SHARED)
        kernel_line(k, "add.u64 %%first, %%first, 16;");
    if (s->place == TEXTURE) {
        kernel_line(k, "ld.param.u64 %%texture, [texture];");
        kernel_line(k, "mov.u64 %%first, 0;");
    }
    kernel_line(k, "ld.param.u64 %%second, [second];");
    kernel_line(k, "sub.u64 %%second, %%second, %%first;");
    kernel_line(k, "ld.param.u64 %%third, [third];");
    kernel_line(k, "sub.u64 %%third, %%third, %%first;");
    kernel_line(k, "add.u64 %%first, %%first, %%at;");
}

static void opening(struct kernel_text *k, const struct stream *s)
{
    declare(k, s);
    kernel_line(k, "ld.param.u64 %%slots, [slots];");
    kernel_line(k, "ld.param.u64 %%out, [out];");
    enlist(k);
    kernel_note(k, "nobody but memory knows that this is zero");
    kernel_line(k, "ld.global.u32 %%count, [%%slots+%d];", 4 * SLOT_ZERO);
    kernel_line(k, "cvt.u64.u32 %%zero, %%count;");
    kernel_line(k, "ld.global.u32 %%never, [%%slots+%d];", 4 * SLOT_NEVER);
    place_thread(k, s);
    place_arrays(k, s);
    kernel_line(k, "mad.wide.u32 %%out, %%worker, %zu, %%out;",
                record_bytes(s));
    kernel_line(k, "cvt.u64.u32 %%t0, %%sm;");
    kernel_line(k, "st.global.u64 [%%out], %%t0;");
    kernel_line(k, "mad.wide.u32 %%out, %%warp, %d, %%out;", RECORD);
    kernel_line(k, "ld.param.u64 %%turns, [turns];");
    for (unsigned i = 0; i < 4 * s->unroll; i++) {
        kernel_line(k, "add.u32 %%x%u, %%never, %u;", i, i);
        kernel_line(k, "mov.u32 %%y%u, %%x%u;", i, i);
    }
}

/* ".v4.u32 {%x8, %x9, %x10, %x11}", split where the access names its parts. */
static void write_words(char *text, size_t size, char name, unsigned words,
                        unsigned from)
{
    size_t n = 0;
    for (unsigned i = 0; i < words; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%%%c%u",
                              i == 0 ? "" : ", ", name, from + i);
}

static const char *vector_of(const struct stream *s)
{
    return s->width == 16 ? ".v4.u32" : s->width == 8 ? ".v2.u32" : ".u32";
}

static const char *operator_of(const struct stream *s)
{
    static char text[24];
    if (strcmp(s->cache, "default") == 0)
        return "";
    snprintf(text, sizeof text, ".%s%s",
             strcmp(s->cache, "no_allocate") == 0 ? "L1::" : "", s->cache);
    return text;
}

static void load_texel(struct kernel_text *k, const struct stream *s,
                       unsigned copy)
{
    kernel_line(k, "add.u32 %%y%u, %%texel, %" PRIu64 ";", copy,
                copy * row_of(s) / 4);
    kernel_line(k,
                "tex.1d.v4.u32.s32 {%%x%u, %%count, %%looks, %%want}, "
                "[%%texture, {%%y%u}];",
                copy, copy);
}

static void load(struct kernel_text *k, const struct stream *s, char name,
                 const char *address, unsigned copy)
{
    static const char *const spaces[] = {[GLOBAL] = "global",
                                         [SHARED] = "shared",
                                         [CONSTANT] = "const",
                                         [READONLY] = "global.nc"};
    const unsigned words = s->width / 4;
    char registers[96];
    if (s->place == TEXTURE) {
        load_texel(k, s, copy);
        return;
    }
    write_words(registers, sizeof registers, name, words, copy * words);
    kernel_line(k, "ld.%s%s%s %s%s%s, [%s+%" PRIu64 "];", spaces[s->place],
                s->op == OP_WRITE ? "" : operator_of(s), vector_of(s),
                words > 1 ? "{" : "", registers, words > 1 ? "}" : "", address,
                copy * row_of(s));
}

static void store(struct kernel_text *k, const struct stream *s, unsigned copy)
{
    const unsigned words = s->width / 4;
    char registers[96];
    write_words(registers, sizeof registers, 'x', words, copy * words);
    kernel_line(k, "st.%s%s%s [%%at+%" PRIu64 "], %s%s%s;",
                s->place == SHARED ? "shared" : "global", operator_of(s),
                vector_of(s), copy * row_of(s), words > 1 ? "{" : "", registers,
                words > 1 ? "}" : "");
}

static void use_word(struct kernel_text *k, enum usage use, unsigned word)
{
    const char *const guard = word % 2 == 0 ? "on" : "also";
    switch (use) {
    case USE_XOR:
        kernel_line(k, "xor.b32 %%sum, %%sum, %%x%u;", word);
        break;
    case USE_ADD:
        kernel_line(k, "add.u32 %%sum, %%sum, %%x%u;", word);
        break;
    case USE_NOT:
        kernel_line(k, "@%%%s not.b32 %%sum, %%x%u;", guard, word);
        break;
    case USE_MOV:
        kernel_line(k, "@%%%s mov.b32 %%sum, %%x%u;", guard, word);
        break;
    }
}

static void read_tile(struct kernel_text *k, const struct stream *s)
{
    if (s->place == TEXTURE) {
        kernel_line(k, "shr.u64 %%bt, %%at, 2;");
        kernel_line(k, "cvt.u32.u64 %%texel, %%bt;");
    }
    for (unsigned i = 0; i < s->unroll; i++)
        load(k, s, 'x', "%at", i);
    for (unsigned i = 0; i < s->unroll * s->width / 4; i++)
        use_word(k, s->use, i);
}

static void write_tile(struct kernel_text *k, const struct stream *s)
{
    for (unsigned i = 0; i < s->unroll; i++)
        store(k, s, i);
}

static void copy_tile(struct kernel_text *k, const struct stream *s)
{
    kernel_line(k, "add.u64 %%bt, %%at, %%second;");
    for (unsigned i = 0; i < s->unroll; i++)
        load(k, s, 'x', "%bt", i);
    write_tile(k, s);
}

/* In 32-bit floats, whose values do not matter. */
static void triad_tile(struct kernel_text *k, const struct stream *s)
{
    kernel_line(k, "add.u64 %%bt, %%at, %%second;");
    kernel_line(k, "add.u64 %%ct, %%at, %%third;");
    for (unsigned i = 0; i < s->unroll; i++) {
        load(k, s, 'x', "%bt", i);
        load(k, s, 'y', "%ct", i);
    }
    for (unsigned i = 0; i < s->unroll * s->width / 4; i++)
        kernel_line(k, "fma.rn.f32 %%x%u, %%never, %%y%u, %%x%u;", i, i, i);
    write_tile(k, s);
}

typedef void tile_act(struct kernel_text *k, const struct stream *s);

/* A piece from %at on, %turns tiles. */
static void write_turns(struct kernel_text *k, const struct stream *s,
                        const char *name, tile_act *act)
{
    kernel_line(k, "mov.u64 %%turn, %%turns;");
    kernel_line(k, "%s_TURN:", name);
    kernel_line(k, ".pragma \"nounroll\";");
    act(k, s);
    kernel_line(k, "add.u64 %%at, %%at, %%step;");
    kernel_line(k, "sub.u64 %%turn, %%turn, 1;");
    kernel_line(k, "setp.ne.u64 %%again, %%turn, 0;");
    kernel_line(k, "@%%again bra %s_TURN;", name);
}

/* The warp asks for a piece; it knows which when it has distributed it. */
static void take_piece(struct kernel_text *k)
{
    kernel_line(k, "mov.u32 %%coming, 0;");
    kernel_line(k, "@%%lane atom.global.add.u32 %%coming, [%%queue], 1;");
}

static void distribute_piece(struct kernel_text *k)
{
    kernel_line(k, "shfl.sync.idx.b32 %%piece, %%coming, 0, 31, 0xffffffff;");
}

/* Takes pieces of %left laps while there are any; the next one is asked for
 * before the last is done. */
static void write_queue(struct kernel_text *k, const struct stream *s,
                        const char *name, tile_act *act)
{
    kernel_line(k, "cvt.u32.u64 %%all, %%left;");
    kernel_line(k, "mul.lo.u32 %%all, %%all, %%pieces;");
    kernel_line(k, "mov.u32 %%taken, 0;");
    take_piece(k);
    distribute_piece(k);
    kernel_line(k, "%s_PIECE:", name);
    kernel_line(k, "setp.ge.u32 %%again, %%piece, %%all;");
    kernel_line(k, "@%%again bra %s_END;", name);
    take_piece(k);
    kernel_line(k, "rem.u32 %%piece, %%piece, %%pieces;");
    kernel_line(k, "cvt.u64.u32 %%at, %%piece;");
    kernel_line(k, "mul.lo.u64 %%at, %%at, %%step;");
    kernel_line(k, "mad.lo.u64 %%at, %%at, %%turns, %%base;");
    write_turns(k, s, name, act);
    kernel_line(k, "add.u32 %%taken, %%taken, 1;");
    distribute_piece(k);
    kernel_line(k, "bra %s_PIECE;", name);
    kernel_line(k, "%s_END:", name);
    kernel_line(k, "add.u64 %%queue, %%queue, 4;");
}

/* Goes over the thread's part of the set %left times. */
static void write_laps(struct kernel_text *k, const struct stream *s,
                       const char *name, tile_act *act)
{
    if (s->share == BY_QUEUE) {
        write_queue(k, s, name, act);
        return;
    }
    kernel_line(k, "setp.eq.u64 %%again, %%left, 0;");
    kernel_line(k, "@%%again bra %s_END;", name);
    kernel_line(k, "%s_LAP:", name);
    kernel_line(k, "add.u64 %%base, %%base, %%zero;");
    kernel_line(k, "mov.u64 %%at, %%base;");
    write_turns(k, s, name, act);
    kernel_line(k, "sub.u64 %%left, %%left, 1;");
    kernel_line(k, "setp.ne.u64 %%again, %%left, 0;");
    kernel_line(k, "@%%again bra %s_LAP;", name);
    kernel_line(k, "%s_END:", name);
}

/* What is to be written comes to L2 first by being read. */
static void write_fetch(struct kernel_text *k, const struct stream *s)
{
    if (s->op != OP_WRITE || s->place != GLOBAL)
        return;
    kernel_line(k, "ld.param.u64 %%left, [warm];");
    kernel_line(k, "mov.u64 %%base, %%first;");
    kernel_line(k, "mov.u32 %%sum, 0;");
    write_laps(k, s, "FETCH", read_tile);
    kernel_line(k, "setp.eq.u32 %%again, %%sum, %%never;");
    kernel_line(k, "@%%again st.global.u32 [%%out+%d], %%sum;", RECORD);
}

/* All blocks meet, then all warps of each. */
static void begin_together(struct kernel_text *k)
{
    kernel_line(k, "@%%other bra READY;");
    kernel_line(k, "mov.u32 %%want, %%workers;");
    kernel_line(k, "@%%end bra MEET;");
    kernel_line(k, "bra READY;");
    kernel_line(k, "MEET:");
    gate_meet(k, "MEETING", 4 * SLOT_READY, GATE_LOOKS);
    kernel_line(k, "READY:");
    gate_hold(k);
}

/* A phase between two clock reads; the laps of the last are timed. */
static void write_phase(struct kernel_text *k, const struct stream *s)
{
    static tile_act *const acts[] = {[OP_READ] = read_tile,
                                     [OP_WRITE] = write_tile,
                                     [OP_COPY] = copy_tile,
                                     [OP_TRIAD] = triad_tile};
    begin_together(k);
    kernel_line(k, "mov.u64 %%g0, %%globaltimer;");
    kernel_line(k, "mov.u64 %%t0, %%clock64;");
    kernel_line(k, "cvt.u32.u64 %%now, %%t0;");
    kernel_line(k, "setp.ne.u32 %%on, %%now, %%never;");
    kernel_line(k, "add.u32 %%count, %%never, 7;");
    kernel_line(k, "setp.ne.u32 %%also, %%now, %%count;");
    kernel_line(k, "selp.b64 %%base, %%first, %%out, %%on;");
    kernel_line(k, "mov.u32 %%sum, %%now;");
    write_laps(k, s, "TIMED", acts[s->op]);
    if (s->op != OP_READ)
        kernel_line(k, "membar.gl;");
    kernel_line(k, "setp.ne.u32 %%again, %%sum, %%never;");
    kernel_line(k, "@%%again mov.u64 %%t1, %%clock64;");
    kernel_line(k, "@%%again mov.u64 %%g1, %%globaltimer;");
}

static void write_kernel(const struct stream *s, const struct device_info *info,
                         struct buf *ptx)
{
    struct kernel_text k;
    char variables[128];
    snprintf(variables, sizeof variables,
             ".extern .shared .align 16 .b8 pool[];\n%s\n",
             s->place == CONSTANT ? ".const .align 16 .b8 constants[65536];\n"
                                  : "");
    kernel_begin_resident(&k, ptx, info->cc_major, info->cc_minor,
                          strcmp(s->cache, "no_allocate") == 0 ? "7.4" : NULL,
                          variables, "stream", PARAMETERS, threads_of(s),
                          s->blocks);
    opening(&k, s);
    write_fetch(&k, s);
    kernel_line(&k, "setp.ne.u32 %%true, %%never, 0;");
    kernel_line(&k, "setp.eq.u32 %%end, %%never, 0;");
    kernel_line(&k, "mov.u64 %%t1, 0;");
    kernel_line(&k, "mov.u64 %%g1, 0;");
    kernel_line(&k, "ld.param.u64 %%left, [warm];");
    kernel_line(&k, "ld.param.u64 %%laps, [laps];");
    kernel_line(&k, "PHASE:");
    write_phase(&k, s);
    kernel_line(&k, "mov.u64 %%left, %%laps;");
    kernel_line(&k, "mov.pred %%on, %%end;");
    kernel_line(&k, "setp.ne.u32 %%end, %%never, 0;");
    kernel_line(&k, "@!%%on bra PHASE;");
    kernel_line(&k, "st.global.v2.u64 [%%out+%d], {%%t0, %%t1};", RECORD);
    kernel_line(&k, "st.global.v2.u64 [%%out+%d], {%%g0, %%g1};", RECORD + 16);
    if (s->share == BY_QUEUE)
        kernel_line(&k, "st.global.u32 [%%out+%d], %%taken;", RECORD + 32);
    kernel_line(&k, "DONE:");
    kernel_end(&k);
}

static int kernel(const struct experiment *e, const struct device_info *info,
                  struct buf *ptx, struct error *err)
{
    struct stream s;
    if (read_stream(e, info, &s, err) != 0)
        return err->code;
    write_kernel(&s, info, ptx);
    return 0;
}

/* ---- running ----------------------------------------------------------- */

struct streaming {
    const struct stream *stream;
    unsigned sms, grid; /* of the GPU; blocks of the launch */
    unsigned workers;   /* blocks that should work */
    uint64_t turns;     /* tiles of a block's part */
    uint64_t args[ARGUMENTS];
    struct texture texture;
};

/* Pieces of a queue: some for each warp, but none so large that who takes the
 * last keeps all waiting, and none so small that the queue is what is timed. */
static uint64_t pieces_of(const struct stream *s, unsigned workers)
{
    enum { EACH = 4, PIECE_LEAST = 4096, PIECE_MOST = 32768 };
    uint64_t bytes = s->bytes / ((uint64_t)EACH * workers * s->warps);
    if (bytes < PIECE_LEAST)
        bytes = PIECE_LEAST;
    if (bytes > PIECE_MOST)
        bytes = PIECE_MOST;
    return s->bytes > bytes ? s->bytes / bytes : 1;
}

static void divide(const struct stream *s, const struct device_info *info,
                   struct streaming *r)
{
    const int64_t sms = info->value[PROPERTY_SMS];
    *r = (struct streaming){.stream = s, .sms = sms > 0 ? (unsigned)sms : 1};
    const unsigned wanted = s->sms > 0 && s->sms < r->sms ? s->sms : r->sms;
    r->grid = s->blocks * r->sms;
    r->workers = s->blocks * wanted;
    const uint64_t tiles = s->bytes / tile_of(s);
    const uint64_t sharing = s->share == BY_GPU     ? r->workers
                             : s->share == BY_QUEUE ? pieces_of(s, r->workers)
                                                    : 1;
    r->turns = tiles > sharing ? tiles / sharing : 1;
    r->args[ARGUMENT_GRID] = r->grid;
    r->args[ARGUMENT_SMS] = s->sms > 0 ? s->sms : UINT32_MAX;
    r->args[ARGUMENT_TILES] = s->share == BY_QUEUE ? tiles / r->turns : tiles;
    r->args[ARGUMENT_TURNS] = r->turns;
    r->args[ARGUMENT_WARM] = s->warm;
    r->args[ARGUMENT_LAPS] = s->laps;
}

/* Useful bytes that a warp moves in the timed laps, or of a piece. */
static uint64_t bytes_of_warp(const struct streaming *r)
{
    const struct stream *const s = r->stream;
    const uint64_t lanes = s->place == CONSTANT ? 1 : LANES;
    const uint64_t laps = s->share == BY_QUEUE ? 1 : s->laps;
    return r->turns * laps * s->unroll * lanes * s->width * arrays_of(s);
}

/* Arrays begin at whole pages. */
static const uint64_t page = 2 << 20;

static int place_data(struct prober *prober, struct streaming *r,
                      struct error *err)
{
    const struct stream *const s = r->stream;
    const uint64_t each = (array_bytes(s) + page - 1) / page * page;
    const unsigned arrays = arrays_of(s);
    if (s->place == SHARED || s->place == CONSTANT)
        return 0;
    if (prober_buffer(prober, BUFFER_RING, each * arrays, &r->args[0], err) !=
        0)
        return err->code;
    for (unsigned i = 1; i < arrays; i++)
        r->args[i] = r->args[0] + i * each;
    if (s->place != TEXTURE)
        return 0;
    const int status = device_texture_open(prober_device(prober), r->args[0],
                                           array_bytes(s), &r->texture, err);
    r->args[ARGUMENT_TEXTURE] = r->texture.object;
    return status;
}

static int place_slots(struct prober *prober, struct streaming *r,
                       struct error *err)
{
    const uint32_t slots[SLOTS] = {[SLOT_NEVER] = never};
    if (prober_buffer(prober, BUFFER_SLOTS, sizeof slots,
                      &r->args[ARGUMENT_SLOTS], err) != 0 ||
        prober_buffer(prober, BUFFER_OUT, r->grid * record_bytes(r->stream),
                      &r->args[ARGUMENT_OUT], err) != 0)
        return err->code;
    return device_copy_in(prober_device(prober), r->args[ARGUMENT_SLOTS], slots,
                          sizeof slots, err);
}

static int launch(struct prober *prober, const struct experiment *e,
                  const struct streaming *r, struct error *err)
{
    const struct stream *const s = r->stream;
    const bool shared = s->place == SHARED;
    struct kernel *k;
    struct launch launch = {
        .grid = {r->grid},
        .block = {threads_of(s)},
        .shared_bytes = 16 + (shared ? (unsigned)array_bytes(s) : 0),
        .carve_out = shared ? 100 : 0,
        .arg_count = ARGUMENTS,
        .deadline_s = DEADLINE_S,
    };
    for (size_t i = 0; i < ARGUMENTS; i++)
        launch.args[i] = &r->args[i];
    if (prober_kernel(prober, e, "stream", &k, err) != 0)
        return err->code;
    return device_launch(prober_device(prober), k, &launch, err);
}

/* A row for an SM, found by its number or made. */
static int64_t *row_for(struct samples *samples, size_t from, int64_t sm)
{
    for (size_t i = from; i < samples->rows; i++)
        if (samples_at(samples, i, COLUMN_SM) == sm)
            return samples->data + i * samples->columns;
    int64_t *const row = samples_row(samples);
    row[COLUMN_SM] = sm;
    row[COLUMN_BEGUN] = row[COLUMN_NS_BEGUN] = INT64_MAX;
    row[COLUMN_ENDED] = row[COLUMN_NS_ENDED] = INT64_MIN;
    return row;
}

static void widen(int64_t *begun, int64_t *ended, const uint64_t *reads)
{
    if ((int64_t)reads[0] < *begun)
        *begun = (int64_t)reads[0];
    if ((int64_t)reads[1] > *ended)
        *ended = (int64_t)reads[1];
}

static void add_block(const struct streaming *r, const uint64_t *record,
                      int64_t *row)
{
    enum { WORDS = RECORD / 8 };
    row[COLUMN_BLOCKS]++;
    for (unsigned w = 1; w <= r->stream->warps; w++) {
        widen(&row[COLUMN_BEGUN], &row[COLUMN_ENDED], record + w * WORDS);
        widen(&row[COLUMN_NS_BEGUN], &row[COLUMN_NS_ENDED],
              record + w * WORDS + 2);
        const uint64_t times =
            r->stream->share == BY_QUEUE ? (uint32_t)record[w * WORDS + 4] : 1;
        row[COLUMN_BYTES] += (int64_t)(times * bytes_of_warp(r));
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

static int collect(struct prober *prober, const struct streaming *r,
                   double elapsed, struct samples *samples, struct error *err)
{
    const size_t each = record_bytes(r->stream), from = samples->rows;
    uint64_t *const out = xcalloc(r->workers, each);
    if (device_copy_out(prober_device(prober), out, r->args[ARGUMENT_OUT],
                        r->workers * each, err) == 0) {
        const int64_t mhz = clock_mhz(prober);
        for (unsigned i = 0; i < r->workers; i++) {
            const uint64_t *const record = out + i * (each / 8);
            int64_t *const row = row_for(samples, from, (int64_t)record[0]);
            add_block(r, record, row);
            row[COLUMN_NS_EVENT] = (int64_t)elapsed;
            row[COLUMN_MHZ] = mhz;
        }
    }
    free(out);
    return err->code;
}

static int measure(struct prober *prober, const struct experiment *e,
                   struct streaming *r, struct samples *samples,
                   struct error *err)
{
    double elapsed;
    if (place_data(prober, r, err) != 0 || place_slots(prober, r, err) != 0 ||
        launch(prober, e, r, err) != 0 ||
        device_elapsed(prober_device(prober), &elapsed, err) != 0)
        return err->code;
    return collect(prober, r, elapsed, samples, err);
}

static int once(struct prober *prober, const struct experiment *e,
                struct samples *samples, struct error *err)
{
    struct stream s;
    struct streaming r;
    if (read_stream(e, prober_info(prober), &s, err) != 0)
        return err->code;
    divide(&s, prober_info(prober), &r);
    *err = (struct error){0};
    const int status = measure(prober, e, &r, samples, err);
    if (r.texture.object != 0)
        device_texture_close(prober_device(prober), &r.texture);
    return status;
}

/* Cycles of the SM that took longest. */
static double figure(const struct experiment *e, const struct samples *samples,
                     size_t from)
{
    double longest = 0;
    (void)e;
    for (size_t i = from; i < samples->rows; i++) {
        const double cycles = (double)(samples_at(samples, i, COLUMN_ENDED) -
                                       samples_at(samples, i, COLUMN_BEGUN));
        longest = cycles > longest ? cycles : longest;
    }
    return longest;
}

const struct probe probe_stream = {
    .name = "stream",
    .what = "bandwidth: many warps read, write or copy a working set",
    .params = params,
    .columns = columns,
    .figure = figure,
    .repeats_least = 2,
    .repeats_most = 7,
    .kernel = kernel,
    .once = once,
};
