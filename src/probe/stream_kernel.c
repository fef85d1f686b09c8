/*
 * The kernel of the probe `stream`.
 *
 * What is read is used, or the assembler would drop it.  Where laps are timed,
 * the first address depends on the first clock read and the second clock read
 * on all that was read, and writes are waited for by a fence; addresses move
 * by a zero that only memory knows, so that nothing can be taken out of the
 * laps.  Where cycles are timed, a warp reads the clock after each tile, and
 * so passes whole tiles between two reads, with as many under way at either.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "probe/run/grid_barrier.h"
#include "probe/stream.h"
#include "ptx/kernel.h"

typedef void tile_act(struct kernel_text *k, const struct stream *s);

static void declare(struct kernel_text *k)
{
    const int words = STREAM_UNROLL * 4;
    kernel_line(k, ".reg .b32 %%sm, %%me, %%warp, %%worker, %%workers, "
                   "%%count, %%want, %%looks, %%sum, %%never, %%now, %%texel, "
                   "%%taken;");
    kernel_line(k,
                ".reg .b64 %%at, %%bt, %%ct, %%base, %%first, %%second, "
                "%%third, %%slots, %%out, %%step, %%turn, %%turns, %%left, "
                "%%laps, %%zero, %%t0, %%t1, %%g0, %%g1, %%texture, %%until;");
    kernel_line(
        k, ".reg .pred %%other, %%again, %%on, %%also, %%true, %%end, %%wrap;");
    kernel_line(k, ".reg .b32 %%x<%d>, %%y<%d>;", words, words);
}

/* ---- where ------------------------------------------------------------- */

/* The lane's own place: lanes of a row of the matrix, and its row. */
static void place_lane(struct kernel_text *k, const struct stream *s)
{
    const unsigned apart = s->width * s->stride;
    if (s->row == STREAM_LANES) {
        kernel_line(k, "and.b32 %%count, %%me, 31;");
        kernel_line(k, "mul.wide.u32 %%at, %%count, %u;", apart);
        return;
    }
    kernel_line(k, "and.b32 %%count, %%me, %u;", s->row - 1);
    kernel_line(k, "mul.wide.u32 %%at, %%count, %u;", apart);
    kernel_line(k, "and.b32 %%count, %%me, 31;");
    kernel_line(k, "div.u32 %%count, %%count, %u;", s->row);
    kernel_line(k, "cvt.u64.u32 %%bt, %%count;");
    kernel_line(k, "mad.lo.u64 %%at, %%bt, %" PRIu64 ", %%at;", s->bytes);
}

/* Where the thread begins, from the start of the set, into %at. */
static void place_thread(struct kernel_text *k, const struct stream *s)
{
    const uint64_t tile = stream_tile(s);
    kernel_line(k, "ld.param.u64 %%turns, [turns];");
    kernel_line(k, "mov.u64 %%step, %" PRIu64 ";", tile);
    if (s->place == CONSTANT) {
        kernel_line(k, "mov.u64 %%at, %%zero;");
        return;
    }
    if (s->share == BY_WARP) {
        place_lane(k, s);
        return;
    }
    if (s->share == BY_GPU) {
        resident_grid_share(k);
    } else {
        kernel_line(k, "mov.u32 %%count, %%ctaid.x;");
        kernel_line(k, "cvt.u64.u32 %%at, %%count;");
    }
    kernel_line(k, "mul.lo.u64 %%at, %%at, %%step;");
    kernel_line(k, "mad.wide.u32 %%at, %%me, %u, %%at;", s->width * s->stride);
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
    declare(k);
    kernel_line(k, "ld.param.u64 %%slots, [slots];");
    kernel_line(k, "ld.param.u64 %%out, [out];");
    kernel_line(k, "mov.u32 %%sm, %%smid;");
    kernel_line(k, "mov.u32 %%me, %%tid.x;");
    kernel_line(k, "shr.u32 %%warp, %%me, 5;");
    if (s->share != BY_BLOCKS)
        resident_grid_enlist(k);
    kernel_line(k, "ld.global.u32 %%never, [%%slots+%d];", 4 * SLOT_NEVER);
    if (s->share != BY_BLOCKS) {
        kernel_note(k, "nobody but memory knows that this is zero");
        kernel_line(k, "ld.global.u32 %%count, [%%slots+%d];", 4 * SLOT_ZERO);
        kernel_line(k, "cvt.u64.u32 %%zero, %%count;");
    }
    place_thread(k, s);
    place_arrays(k, s);
    if (s->op != OP_WRITE)
        return;
    for (unsigned i = 0; i < stream_words(s) * s->unroll; i++)
        kernel_line(k, "add.u32 %%x%u, %%me, %u;", i, i);
}

/* ---- a tile ------------------------------------------------------------ */

/* "%x8, %x9, %x10, %x11" */
static void write_words(char *text, size_t size, char name, unsigned words,
                        unsigned from)
{
    size_t n = 0;
    for (unsigned i = 0; i < words; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%%%c%u",
                              i == 0 ? "" : ", ", name, from + i);
}

static const char *type_of(const struct stream *s)
{
    switch (s->width) {
    case 1:
        return ".u8";
    case 2:
        return ".u16";
    case 4:
        return ".u32";
    case 8:
        return ".v2.u32";
    default:
        return ".v4.u32";
    }
}

/* ".L1::no_allocate", ".cg", or nothing. */
static void write_operator(char *text, size_t size, const struct stream *s)
{
    const bool named = strcmp(s->cache, "default") != 0;
    snprintf(text, size, "%s%s%s", named ? "." : "",
             strcmp(s->cache, "no_allocate") == 0 ? "L1::" : "",
             named ? s->cache : "");
}

static void load_texel(struct kernel_text *k, const struct stream *s,
                       unsigned copy)
{
    kernel_line(k, "add.u32 %%y%u, %%texel, %" PRIu64 ";", copy,
                copy * stream_step(s) / 4);
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
    const unsigned words = stream_words(s);
    char registers[96], operator[24] = "";
    if (s->place == TEXTURE) {
        load_texel(k, s, copy);
        return;
    }
    if (s->op != OP_WRITE)
        write_operator(operator, sizeof operator, s);
    write_words(registers, sizeof registers, name, words, copy * words);
    kernel_line(k, "ld.%s%s%s %s%s%s, [%s+%" PRIu64 "];",
                spaces[s->place], operator, type_of(s), words > 1 ? "{" : "",
                registers, words > 1 ? "}" : "", address,
                copy * stream_step(s));
}

static void store(struct kernel_text *k, const struct stream *s, unsigned copy)
{
    const unsigned words = stream_words(s);
    char registers[96], operator[24];
    write_operator(operator, sizeof operator, s);
    write_words(registers, sizeof registers, 'x', words, copy * words);
    kernel_line(k, "st.%s%s%s [%%at+%" PRIu64 "], %s%s%s;",
                s->place == SHARED ? "shared" : "global", operator, type_of(s),
                copy * stream_step(s), words > 1 ? "{" : "", registers,
                words > 1 ? "}" : "");
}

static void use_word(struct kernel_text *k, enum stream_usage use,
                     unsigned word)
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
    for (unsigned i = 0; i < s->unroll * stream_words(s); i++)
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

/* In 32-bit floats: b + 3 c, whatever their values. */
static void triad_tile(struct kernel_text *k, const struct stream *s)
{
    kernel_line(k, "add.u64 %%bt, %%at, %%second;");
    kernel_line(k, "add.u64 %%ct, %%at, %%third;");
    for (unsigned i = 0; i < s->unroll; i++) {
        load(k, s, 'x', "%bt", i);
        load(k, s, 'y', "%ct", i);
    }
    for (unsigned i = 0; i < s->unroll * stream_words(s); i++)
        kernel_line(k, "fma.rn.f32 %%x%u, %%x%u, 0f40400000, %%y%u;", i, i, i);
    write_tile(k, s);
}

static tile_act *const acts[] = {[OP_READ] = read_tile,
                                 [OP_WRITE] = write_tile,
                                 [OP_COPY] = copy_tile,
                                 [OP_TRIAD] = triad_tile};

/* ---- laps -------------------------------------------------------------- */

/* Goes over the thread's part of the set, %turns tiles, %left times. */
static void write_laps(struct kernel_text *k, const struct stream *s,
                       const char *name, tile_act *act)
{
    kernel_line(k, "setp.eq.u64 %%again, %%left, 0;");
    kernel_line(k, "@%%again bra %s_END;", name);
    kernel_line(k, "%s_LAP:", name);
    kernel_line(k, "add.u64 %%base, %%base, %%zero;");
    kernel_line(k, "mov.u64 %%at, %%base;");
    kernel_line(k, "mov.u64 %%turn, %%turns;");
    kernel_line(k, "%s_TURN:", name);
    kernel_line(k, ".pragma \"nounroll\";");
    act(k, s);
    kernel_line(k, "add.u64 %%at, %%at, %%step;");
    kernel_line(k, "sub.u64 %%turn, %%turn, 1;");
    kernel_line(k, "setp.ne.u64 %%again, %%turn, 0;");
    kernel_line(k, "@%%again bra %s_TURN;", name);
    kernel_line(k, "sub.u64 %%left, %%left, 1;");
    kernel_line(k, "setp.ne.u64 %%again, %%left, 0;");
    kernel_line(k, "@%%again bra %s_LAP;", name);
    kernel_line(k, "%s_END:", name);
}

/* What is to be found in a cache, or written there, comes to it by being
 * read. */
static void write_fetch(struct kernel_text *k, const struct stream *s)
{
    kernel_line(k, "ld.param.u64 %%left, [warm];");
    kernel_line(k, "mov.u64 %%base, %%first;");
    kernel_line(k, "mov.u32 %%sum, 0;");
    write_laps(k, s, "FETCH", read_tile);
    kernel_line(k, "setp.eq.u32 %%again, %%sum, %%never;");
    kernel_line(k, "@%%again st.global.u32 [%%out+%d], %%sum;", STREAM_RECORD);
}

/* A phase between two clock reads; the laps of the last are timed. */
static void write_phase(struct kernel_text *k, const struct stream *s)
{
    resident_grid_begin_together(k);
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

/* Every warp goes over all of the set, %warm laps and then as many as are to
 * be timed. */
static void laps_body(struct kernel_text *k, const struct stream *s)
{
    if (s->op == OP_WRITE && s->place == GLOBAL)
        write_fetch(k, s);
    kernel_line(k, "mov.u64 %%t1, 0;");
    kernel_line(k, "mov.u64 %%g1, 0;");
    kernel_line(k, "ld.param.u64 %%left, [warm];");
    kernel_line(k, "ld.param.u64 %%laps, [laps];");
    kernel_line(k, "PHASE:");
    write_phase(k, s);
    kernel_line(k, "mov.u64 %%left, %%laps;");
    kernel_line(k, "mov.pred %%on, %%end;");
    kernel_line(k, "setp.ne.u32 %%end, %%never, 0;");
    kernel_line(k, "@!%%on bra PHASE;");
    kernel_line(k, "mov.u32 %%taken, 0;");
}

/* ---- cycles ------------------------------------------------------------ */

/* Tiles of the worker's share, round and round, until the clock says %until;
 * %taken of them. */
static void write_until(struct kernel_text *k, const struct stream *s)
{
    kernel_line(k, "mov.u32 %%taken, 0;");
    kernel_line(k, "TILE:");
    kernel_line(k, ".pragma \"nounroll\";");
    acts[s->op](k, s);
    kernel_line(k, "mov.u64 %%t1, %%clock64;");
    kernel_line(k, "add.u32 %%taken, %%taken, 1;");
    kernel_line(k, "add.u64 %%at, %%at, %%step;");
    kernel_line(k, "sub.u64 %%turn, %%turn, 1;");
    kernel_line(k, "setp.eq.u64 %%wrap, %%turn, 0;");
    kernel_line(k, "@%%wrap mov.u64 %%at, %%first;");
    kernel_line(k, "@%%wrap mov.u64 %%turn, %%turns;");
    kernel_line(k, "setp.lt.u64 %%again, %%t1, %%until;");
    kernel_line(k, "@%%again bra TILE;");
    kernel_line(k, "mov.u64 %%g1, %%globaltimer;");
}

/* Somewhere in the worker's share, or runs that are short would find in L2 what
 * the one before brought there. */
static void place_start(struct kernel_text *k)
{
    kernel_line(k, "ld.param.u64 %%bt, [start];");
    kernel_line(k, "mul.lo.u64 %%bt, %%bt, %%turns;");
    kernel_line(k, "shr.u64 %%bt, %%bt, 32;");
    kernel_line(k, "sub.u64 %%turn, %%turns, %%bt;");
    kernel_line(k, "mad.lo.u64 %%at, %%bt, %%step, %%first;");
}

/* First the lead, until as much is under way as ever will be; then the same
 * again between the two clock reads that count. */
static void cycles_body(struct kernel_text *k, const struct stream *s)
{
    write_fetch(k, s);
    kernel_line(k, "setp.ne.u32 %%end, %%never, 0;");
    resident_grid_begin_together(k);
    kernel_line(k, "setp.ne.u32 %%on, %%never, 1;");
    kernel_line(k, "setp.ne.u32 %%also, %%never, 2;");
    place_start(k);
    kernel_line(k, "ld.param.u64 %%until, [lead];");
    kernel_line(k, "mov.u64 %%t1, %%clock64;");
    kernel_line(k, "setp.eq.u32 %%end, %%never, 0;");
    kernel_line(k, "PHASE:");
    kernel_line(k, "add.u64 %%until, %%until, %%t1;");
    write_until(k, s);
    kernel_line(k, "@%%end bra COUNTED;");
    kernel_line(k, "setp.ne.u32 %%end, %%never, 0;");
    kernel_line(k, "mov.u64 %%t0, %%t1;");
    kernel_line(k, "mov.u64 %%g0, %%g1;");
    kernel_line(k, "ld.param.u64 %%until, [cycles];");
    kernel_line(k, "bra PHASE;");
    kernel_line(k, "COUNTED:");
    kernel_line(k, "setp.eq.u32 %%again, %%sum, %%never;");
    kernel_line(k, "@%%again st.global.u32 [%%out+%d], %%sum;", STREAM_RECORD);
}

/* ---- blocks ------------------------------------------------------------ */

/* Counts the block.  Of every 64th, so that it costs nothing, it notes the
 * moment, if that is one of the first or of the last eighth: any of them will
 * do. */
static void note_block(struct kernel_text *k)
{
    kernel_line(k, "setp.ne.u32 %%other, %%me, 0;");
    kernel_line(k, "@%%other bra NOTED;");
    kernel_line(k, "mad.wide.u32 %%out, %%sm, %d, %%out;", 2 * STREAM_RECORD);
    kernel_line(k, "red.global.add.u32 [%%out], 1;");
    kernel_line(k, "mov.u32 %%count, %%ctaid.x;");
    kernel_line(k, "and.b32 %%looks, %%count, 63;");
    kernel_line(k, "setp.ne.u32 %%other, %%looks, 0;");
    kernel_line(k, "@%%other bra NOTED;");
    kernel_line(k, "mov.u64 %%t0, %%clock64;");
    kernel_line(k, "mov.u64 %%g0, %%globaltimer;");
    kernel_line(k, "mov.u32 %%want, %%nctaid.x;");
    kernel_line(k, "shr.u32 %%looks, %%want, 3;");
    kernel_line(k, "setp.lt.u32 %%on, %%count, %%looks;");
    kernel_line(k, "sub.u32 %%want, %%want, %%looks;");
    kernel_line(k, "setp.ge.u32 %%also, %%count, %%want;");
    kernel_line(k, "@%%on st.global.v2.u64 [%%out+%d], {%%t0, %%g0};",
                STREAM_RECORD);
    kernel_line(k, "@%%also st.global.v2.u64 [%%out+%d], {%%t0, %%g0};",
                STREAM_RECORD + 16);
    kernel_line(k, "NOTED:");
}

static void blocks_body(struct kernel_text *k, const struct stream *s)
{
    kernel_line(k, "mov.u64 %%at, %%first;");
    kernel_line(k, "mov.u32 %%sum, 0;");
    note_block(k);
    if (s->use == USE_NOT || s->use == USE_MOV) {
        kernel_line(k, "setp.ne.u32 %%on, %%never, 1;");
        kernel_line(k, "setp.ne.u32 %%also, %%never, 2;");
    }
    acts[s->op](k, s);
    kernel_line(k, "setp.eq.u32 %%again, %%sum, %%never;");
    kernel_line(k, "@%%again st.global.u32 [%%slots+%d], %%sum;",
                4 * SLOT_READY);
}

/* ---- the whole --------------------------------------------------------- */

static void place_record(struct kernel_text *k, const struct stream *s)
{
    resident_grid_place_record(k, s->warps);
    kernel_line(k, "setp.ne.u32 %%true, %%never, 0;");
    kernel_line(k, "setp.eq.u32 %%end, %%never, 0;");
}

void stream_kernel(const struct stream *s, const struct device_info *info,
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
                          variables, "stream", STREAM_PARAMETERS,
                          stream_threads(s), s->blocks);
    opening(&k, s);
    if (s->share == BY_BLOCKS) {
        blocks_body(&k, s);
    } else {
        place_record(&k, s);
        (s->share == BY_GPU ? cycles_body : laps_body)(&k, s);
        resident_grid_write_record(&k);
    }
    kernel_line(&k, "DONE:");
    kernel_end(&k);
}
