/*
 * The kernel of the probe `stream`.
 *
 * What is read is used, or the assembler would drop it.  Where laps are timed,
 * the first address depends on the first clock read and the second clock read
 * on all that was read, and writes are waited for by a fence; addresses move
 * by a zero that only memory knows, so that nothing can be taken out of the
 * laps.  Where cycles are timed, a warp reads the clock after each tile, or so
 * many laps, and so passes whole ones between two reads, with as many under way
 * at either.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "probe/load/stream.h"
#include "probe/run/grid_barrier.h"
#include "ptx/kernel.h"

typedef void tile_act(struct kernel_text *k, const struct stream *s);

static void declare(struct kernel_text *k)
{
    const int words = STREAM_UNROLL * 4;
    ptx_with(k,
             ".reg .b32 %sm, %me, %warp, %worker, %workers, %count, %want, "
             "%looks, %sum, %never, %now, %texel, %taken;\n"
             ".reg .b64 %at, %bt, %ct, %base, %first, %second, %third, %slots, "
             "%out, %step, %turn, %turns, %left, %laps, %zero, %t0, %t1, %g0, "
             "%g1, %texture, %until;\n"
             ".reg .pred %other, %again, %on, %also, %true, %end, %wrap;\n"
             ".reg .b32 %x<$words>, %y<$words>;\n",
             WORD(words, words));
}

/* ---- where ------------------------------------------------------------- */

/* The lane's own place: lanes of a row of the matrix, and its row. */
static void place_lane(struct kernel_text *k, const struct stream *s)
{
    const unsigned apart = s->width * s->stride;
    if (s->row == STREAM_LANES) {
        ptx_with(k,
                 "and.b32 %count, %me, 31;\n"
                 "mul.wide.u32 %at, %count, $apart;\n",
                 WORD(apart, apart));
        return;
    }
    ptx_with(k,
             "and.b32 %count, %me, $mask;\n"
             "mul.wide.u32 %at, %count, $apart;\n"
             "and.b32 %count, %me, 31;\n"
             "div.u32 %count, %count, $lanes;\n"
             "cvt.u64.u32 %bt, %count;\n"
             "mad.lo.u64 %at, %bt, $bytes, %at;\n",
             WORD(mask, s->row - 1), WORD(apart, apart), WORD(lanes, s->row),
             WORD(bytes, s->bytes));
}

/* Where the thread begins, from the start of the set, into %at. */
static void place_thread(struct kernel_text *k, const struct stream *s)
{
    const uint64_t tile = stream_tile(s);
    ptx_with(k,
             "ld.param.u64 %turns, [turns];\n"
             "mov.u64 %step, $tile;\n",
             WORD(tile, tile));
    if (s->space == CONSTANT) {
        ptx(k, "mov.u64 %at, %zero;");
        return;
    }
    if (stream_shares_all(s)) {
        place_lane(k, s);
        return;
    }
    if (s->share == BY_GPU) {
        resident_grid_share(k);
    } else {
        ptx(k, "mov.u32 %count, %ctaid.x;\n"
               "cvt.u64.u32 %at, %count;\n");
    }
    ptx_with(k,
             "mul.lo.u64 %at, %at, %step;\n"
             "mad.wide.u32 %at, %me, $stride, %at;\n",
             WORD(stride, s->width * s->stride));
}

/* %first and, where there are more arrays, how far they are from it. */
static void place_arrays(struct kernel_text *k, const struct stream *s)
{
    if (s->space == SHARED)
        ptx(k, "mov.u64 %first, pool;");
    else if (s->space == CONSTANT)
        ptx(k, "mov.u64 %first, constants;");
    else
        ptx(k, "ld.param.u64 %first, [first];");
    if (s->space == SHARED)
        ptx(k, "add.u64 %first, %first, 16;");
    if (s->space == TEXTURE) {
        ptx(k, "ld.param.u64 %texture, [texture];\n"
               "mov.u64 %first, 0;\n");
    }
    ptx(k, "ld.param.u64 %second, [second];\n"
           "sub.u64 %second, %second, %first;\n"
           "ld.param.u64 %third, [third];\n"
           "sub.u64 %third, %third, %first;\n"
           "add.u64 %first, %first, %at;\n");
}

static void opening(struct kernel_text *k, const struct stream *s)
{
    declare(k);
    ptx(k, "ld.param.u64 %slots, [slots];\n"
           "ld.param.u64 %out, [out];\n"
           "mov.u32 %sm, %smid;\n"
           "mov.u32 %me, %tid.x;\n"
           "shr.u32 %warp, %me, 5;\n");
    if (s->share != BY_BLOCKS)
        resident_grid_enlist(k);
    ptx_with(k, "ld.global.u32 %never, [%slots+$never];",
             WORD(never, 4 * SLOT_NEVER));
    if (s->share != BY_BLOCKS) {
        ptx_with(k,
                 "// nobody but memory knows that this is zero\n"
                 "ld.global.u32 %count, [%slots+$zero];\n"
                 "cvt.u64.u32 %zero, %count;\n",
                 WORD(zero, 4 * SLOT_ZERO));
    }
    place_thread(k, s);
    place_arrays(k, s);
    if (s->op != OP_WRITE)
        return;
    for (unsigned i = 0; i < stream_words(s) * s->unroll; i++)
        ptx_with(k, "add.u32 %x$i, %me, $i;", WORD(i, i));
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
    ptx_with(k,
             "add.u32 %y$copy, %texel, $s;\n"
             "tex.1d.v4.u32.s32 {%x$copy, %count, %looks, %want}, [%texture, "
             "{%y$copy}];\n",
             WORD(copy, copy), WORD(s, copy * stream_step(s) / 4));
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
    if (s->space == TEXTURE) {
        load_texel(k, s, copy);
        return;
    }
    if (s->op != OP_WRITE)
        write_operator(operator, sizeof operator, s);
    write_words(registers, sizeof registers, name, words, copy * words);
    ptx_with(k,
             "ld.$spaces$operator$type $open$registers$close, [$address+$s];",
             WORD(spaces, spaces[s->space]), WORD(operator, operator),
             WORD(type, type_of(s)), WORD(open, words > 1 ? "{" : ""),
             WORD(registers, registers), WORD(close, words > 1 ? "}" : ""),
             WORD(address, address), WORD(s, copy * stream_step(s)));
}

static void store(struct kernel_text *k, const struct stream *s, unsigned copy)
{
    const unsigned words = stream_words(s);
    char registers[96], operator[24];
    write_operator(operator, sizeof operator, s);
    write_words(registers, sizeof registers, 'x', words, copy * words);
    ptx_with(k, "st.$global$operator$type [%at+$s], $open$registers$close;",
             WORD(global, s->space == SHARED ? "shared" : "global"),
             WORD(operator, operator), WORD(type, type_of(s)),
             WORD(s, copy * stream_step(s)), WORD(open, words > 1 ? "{" : ""),
             WORD(registers, registers), WORD(close, words > 1 ? "}" : ""));
}

static void use_word(struct kernel_text *k, enum stream_usage use,
                     unsigned word)
{
    const char *const guard = word % 2 == 0 ? "on" : "also";
    switch (use) {
    case USE_XOR:
        ptx_with(k, "xor.b32 %sum, %sum, %x$word;", WORD(word, word));
        break;
    case USE_ADD:
        ptx_with(k, "add.u32 %sum, %sum, %x$word;", WORD(word, word));
        break;
    case USE_NOT:
        ptx_with(k, "@%$guard not.b32 %sum, %x$word;", WORD(guard, guard),
                 WORD(word, word));
        break;
    case USE_MOV:
        ptx_with(k, "@%$guard mov.b32 %sum, %x$word;", WORD(guard, guard),
                 WORD(word, word));
        break;
    }
}

static void read_tile(struct kernel_text *k, const struct stream *s)
{
    if (s->space == TEXTURE) {
        ptx(k, "shr.u64 %bt, %at, 2;\n"
               "cvt.u32.u64 %texel, %bt;\n");
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
    ptx(k, "add.u64 %bt, %at, %second;");
    for (unsigned i = 0; i < s->unroll; i++)
        load(k, s, 'x', "%bt", i);
    write_tile(k, s);
}

/* In 32-bit floats: b + 3 c, whatever their values. */
static void triad_tile(struct kernel_text *k, const struct stream *s)
{
    ptx(k, "add.u64 %bt, %at, %second;\n"
           "add.u64 %ct, %at, %third;\n");
    for (unsigned i = 0; i < s->unroll; i++) {
        load(k, s, 'x', "%bt", i);
        load(k, s, 'y', "%ct", i);
    }
    for (unsigned i = 0; i < s->unroll * stream_words(s); i++)
        ptx_with(k, "fma.rn.f32 %x$i, %x$i, 0f40400000, %y$i;", WORD(i, i));
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
    ptx_with(k,
             "setp.eq.u64 %again, %left, 0;\n"
             "@%again bra ${name}_END;\n"
             "${name}_LAP:\n"
             "add.u64 %base, %base, %zero;\n"
             "mov.u64 %at, %base;\n"
             "mov.u64 %turn, %turns;\n"
             "${name}_TURN:\n"
             ".pragma \"nounroll\";\n",
             WORD(name, name));
    act(k, s);
    ptx_with(k,
             "add.u64 %at, %at, %step;\n"
             "sub.u64 %turn, %turn, 1;\n"
             "setp.ne.u64 %again, %turn, 0;\n"
             "@%again bra ${name}_TURN;\n"
             "sub.u64 %left, %left, 1;\n"
             "setp.ne.u64 %again, %left, 0;\n"
             "@%again bra ${name}_LAP;\n"
             "${name}_END:\n",
             WORD(name, name));
}

/* What is to be found in a cache, or written there, comes to it by being
 * read. */
static void write_fetch(struct kernel_text *k, const struct stream *s)
{
    ptx(k, "ld.param.u64 %left, [warm];\n"
           "mov.u64 %base, %first;\n"
           "mov.u32 %sum, 0;\n");
    write_laps(k, s, "FETCH", read_tile);
    ptx_with(k,
             "setp.eq.u32 %again, %sum, %never;\n"
             "@%again st.global.u32 [%out+$records], %sum;\n",
             WORD(records, STREAM_RECORD));
}

/* A phase between two clock reads; the laps of the last are timed. */
static void write_phase(struct kernel_text *k, const struct stream *s)
{
    resident_grid_begin_together(k);
    ptx(k, "mov.u64 %g0, %globaltimer;\n"
           "mov.u64 %t0, %clock64;\n"
           "cvt.u32.u64 %now, %t0;\n"
           "setp.ne.u32 %on, %now, %never;\n"
           "add.u32 %count, %never, 7;\n"
           "setp.ne.u32 %also, %now, %count;\n"
           "selp.b64 %base, %first, %out, %on;\n"
           "mov.u32 %sum, %now;\n");
    write_laps(k, s, "TIMED", acts[s->op]);
    if (s->op != OP_READ)
        ptx(k, "membar.gl;");
    ptx(k, "setp.ne.u32 %again, %sum, %never;\n"
           "@%again mov.u64 %t1, %clock64;\n"
           "@%again mov.u64 %g1, %globaltimer;\n");
}

/* Every warp goes over all of the set, %warm laps and then as many as are to
 * be timed. */
static void laps_body(struct kernel_text *k, const struct stream *s)
{
    if (s->op == OP_WRITE && s->space == GLOBAL)
        write_fetch(k, s);
    ptx(k, "mov.u64 %t1, 0;\n"
           "mov.u64 %g1, 0;\n"
           "ld.param.u64 %left, [warm];\n"
           "ld.param.u64 %laps, [laps];\n"
           "PHASE:\n");
    write_phase(k, s);
    ptx(k, "mov.u64 %left, %laps;\n"
           "mov.pred %on, %end;\n"
           "setp.ne.u32 %end, %never, 0;\n"
           "@!%on bra PHASE;\n"
           "mov.u32 %taken, 0;\n");
}

/* ---- cycles ------------------------------------------------------------ */

/* %left laps, and then %laps again and again, until the clock says %until;
 * %taken times. */
static void write_laps_until(struct kernel_text *k, const struct stream *s)
{
    ptx(k, "mov.u32 %taken, 0;\n"
           "LAPS:\n");
    write_laps(k, s, "TIMED", acts[s->op]);
    ptx(k, "mov.u64 %t1, %clock64;\n"
           "mov.u64 %left, %laps;\n"
           "add.u32 %taken, %taken, 1;\n"
           "setp.lt.u64 %again, %t1, %until;\n"
           "@%again bra LAPS;\n"
           "mov.u64 %g1, %globaltimer;\n");
}

/* Tiles of the worker's share, round and round, until the clock says %until;
 * %taken of them. */
static void write_until(struct kernel_text *k, const struct stream *s)
{
    ptx(k, "mov.u32 %taken, 0;\n"
           "TILE:\n"
           ".pragma \"nounroll\";\n");
    acts[s->op](k, s);
    ptx(k, "mov.u64 %t1, %clock64;\n"
           "add.u32 %taken, %taken, 1;\n"
           "add.u64 %at, %at, %step;\n"
           "sub.u64 %turn, %turn, 1;\n"
           "setp.eq.u64 %wrap, %turn, 0;\n"
           "@%wrap mov.u64 %at, %first;\n"
           "@%wrap mov.u64 %turn, %turns;\n"
           "setp.lt.u64 %again, %t1, %until;\n"
           "@%again bra TILE;\n"
           "mov.u64 %g1, %globaltimer;\n");
}

/* Somewhere in the worker's share, or runs that are short would find in L2 what
 * the one before brought there. */
static void place_start(struct kernel_text *k)
{
    ptx(k, "ld.param.u64 %bt, [start];\n"
           "mul.lo.u64 %bt, %bt, %turns;\n"
           "shr.u64 %bt, %bt, 32;\n"
           "sub.u64 %turn, %turns, %bt;\n"
           "mad.lo.u64 %at, %bt, %step, %first;\n");
}

/* Warps that take turns would all look at the clock at about the same time, and
 * which of them is first decides what all pass until then: so each looks for
 * the first time after another number of laps. */
static void place_looks(struct kernel_text *k, const struct stream *s)
{
    ptx_with(k,
             "ld.param.u64 %laps, [laps];\n"
             "cvt.u64.u32 %left, %warp;\n"
             "mul.lo.u64 %left, %left, %laps;\n"
             "div.u64 %left, %left, $warps;\n"
             "add.u64 %left, %left, 1;\n"
             "mov.u64 %base, %first;\n",
             WORD(warps, s->warps));
}

/* The clock says when a phase is over by times that are the same for whatever a
 * warp has just done, or the beginning and the end of what counts would not be
 * alike, and what is counted between them too much or too little on average.
 * For the same reason each phase but the last ends in the same instructions. */
static void next_phase(struct kernel_text *k)
{
    ptx(k, "@%last bra ENDED;\n"
           "mov.u64 %t0, %tt;\n"
           "mov.u64 %tt, %t1;\n"
           "mov.u64 %g0, %gg;\n"
           "mov.u64 %gg, %g1;\n"
           "mov.u32 %full, %taken;\n"
           "ld.param.u64 %bt, [cycles];\n"
           "ld.param.u64 %ct, [lead];\n"
           "selp.b64 %bt, %ct, %bt, %end;\n"
           "mov.pred %last, %end;\n"
           "setp.ne.u32 %end, %never, 0;\n"
           "bra PHASE;\n"
           "ENDED:\n"
           "mov.u64 %t1, %tt;\n"
           "mov.u64 %g1, %gg;\n"
           "mov.u32 %taken, %full;\n");
}

/* First the lead, until as much is under way as ever will be; then the same
 * again between the two clock reads that count; then a tail as long as the
 * lead: a warp that ended would leave more to those that still count, and the
 * larger its steps the more. */
static void cycles_body(struct kernel_text *k, const struct stream *s)
{
    write_fetch(k, s);
    ptx(k, ".reg .b64 %tt, %gg;\n"
           ".reg .b32 %full;\n"
           ".reg .pred %last;\n"
           "setp.ne.u32 %end, %never, 0;");
    resident_grid_begin_together(k);
    ptx(k, "setp.ne.u32 %on, %never, 1;\n"
           "setp.ne.u32 %also, %never, 2;\n");
    if (s->share == BY_GPU)
        place_start(k);
    else
        place_looks(k, s);
    ptx(k, "setp.eq.u32 %last, %never, 0;\n"
           "setp.eq.u32 %end, %never, 0;\n"
           "ld.param.u64 %bt, [lead];\n"
           "mov.u64 %until, %clock64;\n"
           "PHASE:\n"
           "add.u64 %until, %until, %bt;\n");
    (s->share == BY_GPU ? write_until : write_laps_until)(k, s);
    next_phase(k);
    ptx_with(k,
             "setp.eq.u32 %again, %sum, %never;\n"
             "@%again st.global.u32 [%out+$records], %sum;\n",
             WORD(records, STREAM_RECORD));
}

/* ---- blocks ------------------------------------------------------------ */

/* Counts the block.  Of every 64th, so that it costs nothing, it notes the
 * moment, if that is one of the first or of the last eighth: any of them will
 * do. */
static void note_block(struct kernel_text *k)
{
    ptx_with(k,
             "setp.ne.u32 %other, %me, 0;\n"
             "@%other bra NOTED;\n"
             "mad.wide.u32 %out, %sm, $records, %out;\n"
             "red.global.add.u32 [%out], 1;\n"
             "mov.u32 %count, %ctaid.x;\n"
             "and.b32 %looks, %count, 63;\n"
             "setp.ne.u32 %other, %looks, 0;\n"
             "@%other bra NOTED;\n"
             "mov.u64 %t0, %clock64;\n"
             "mov.u64 %g0, %globaltimer;\n"
             "mov.u32 %want, %nctaid.x;\n"
             "shr.u32 %looks, %want, 3;\n"
             "setp.lt.u32 %on, %count, %looks;\n"
             "sub.u32 %want, %want, %looks;\n"
             "setp.ge.u32 %also, %count, %want;\n"
             "@%on st.global.v2.u64 [%out+$begun], {%t0, %g0};\n"
             "@%also st.global.v2.u64 [%out+$ended], {%t0, %g0};\n"
             "NOTED:\n",
             WORD(records, 2 * STREAM_RECORD), WORD(begun, STREAM_RECORD),
             WORD(ended, STREAM_RECORD + 16));
}

static void blocks_body(struct kernel_text *k, const struct stream *s)
{
    ptx(k, "mov.u64 %at, %first;\n"
           "mov.u32 %sum, 0;\n");
    note_block(k);
    if (s->use == USE_NOT || s->use == USE_MOV) {
        ptx(k, "setp.ne.u32 %on, %never, 1;\n"
               "setp.ne.u32 %also, %never, 2;\n");
    }
    acts[s->op](k, s);
    ptx_with(k,
             "setp.eq.u32 %again, %sum, %never;\n"
             "@%again st.global.u32 [%slots+$ready], %sum;\n",
             WORD(ready, 4 * SLOT_READY));
}

/* ---- the whole --------------------------------------------------------- */

static void place_record(struct kernel_text *k, const struct stream *s)
{
    resident_grid_place_record(k, s->warps);
    ptx(k, "setp.ne.u32 %true, %never, 0;\n"
           "setp.eq.u32 %end, %never, 0;\n");
}

void stream_kernel(const struct experiment *e, const struct device_info *info,
                   struct buf *out)
{
    const struct stream *const s = e->own;
    struct kernel_text k;
    char variables[128];
    snprintf(variables, sizeof variables,
             ".extern .shared .align 16 .b8 pool[];\n%s\n",
             s->space == CONSTANT ? ".const .align 16 .b8 constants[65536];\n"
                                  : "");
    kernel_begin(&k, out, device_cc(info), .name = "stream",
                 .parameters = stream_arguments_names, .variables = variables,
                 .least = strcmp(s->cache, "no_allocate") == 0 ? "7.4" : NULL,
                 .resident_blocks = s->blocks, .threads = stream_threads(s));
    opening(&k, s);
    if (s->share == BY_BLOCKS) {
        blocks_body(&k, s);
    } else {
        place_record(&k, s);
        (s->share == BY_WARP ? laps_body : cycles_body)(&k, s);
        resident_grid_write_record(&k);
    }
    ptx(&k, "DONE:");
    kernel_end(&k);
}
