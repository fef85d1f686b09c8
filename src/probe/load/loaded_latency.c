/*
 * The probe `loaded`: what a dependent load costs while other SMs keep the
 * memory system busy, and how busy that was.
 *
 * As many blocks as all SMs hold at once meet at a barrier.  Their warps
 * inject: each goes over its part of a set with `unroll` accesses of 16 bytes a
 * lane under way, and then idles for `gap` cycles on average, at random, so
 * that warps do not come in step.  On one SM a single warp chases pointers
 * through a ring of its own, between two clock reads; no other warp of that SM
 * injects unless `beside` says so, so that what is seen is what SMs share.
 *
 * Injection begins before what is timed (an eighth more loads come first) and
 * ends after it: the chaser tells each block by a flag of its own, on a line of
 * its own, or all would look at one slice of L2.  A warp that began later or
 * had to stop earlier, by its bound on cycles, is counted in `missed`.
 *
 * Injected bytes are counted by each warp over its own time, from its first
 * idling to the end of its last accesses: the samples have, for each SM, the
 * sums over its warps of bytes, of cycles and of nanoseconds.
 *
 * The host has just written the ring.  Before the barrier opens the set is read
 * `fill` times, which throws a ring out of L2 where the set is larger, and an
 * SM goes over the ring `warm` times: the chaser's or, where what lies far must
 * not be brought near, one of the other side.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/xor_bits.h"
#include "base/mem.h"
#include "probe/run/grid_barrier.h"
#include "probe/run/pin.h"
#include "probe/walk/ring.h"
#include "ptx/capability.h"
#include "ptx/repeat.h"
#include "ptx/space.h"

enum column {
    COLUMN_SM = 1,
    COLUMN_WARPS,
    COLUMN_BYTES,
    COLUMN_CYCLES,
    COLUMN_NS,
    COLUMN_MISSED,
    COLUMN_CHASER,
    COLUMN_LOADS,
    COLUMN_CHASE_CYCLES
};

enum { LANES = GRID_BARRIER_LANES, WIDTH = 16, UNROLL_MOST = 16 };
/* A warp's access, and words of it that a lane has. */
enum { ACCESS = LANES * WIDTH, WORDS = WIDTH / 4 };
/* 32-bit registers besides those that are loaded. */
enum { REGISTERS_ELSE = 40 };
/* Loads of the chase in a turn of its loop: see the probe chase. */
enum { CHASE_UNROLL = 64 };
/* So many loads of the chase come before those that are timed, of 8. */
enum { LEAD_PART = 8 };
/* Laps of the ring take long: looks at the second gate. */
enum { MEET_LOOKS = 20 * GRID_BARRIER_LOOKS };
/* Cycles that a warp injects at most, a second or two; its accesses. */
#define LIMIT_CYCLES "3000000000"
enum { LIMIT_TILES = 1 << 28, DEADLINE_S = 30 };
/* A warp looks for its flag after so many tiles: a power of two. */
enum { LOOK_EVERY = 4 };
/* Cycles that are worth a sleep. */
enum { NAP_LEAST = 256 };
enum { NO_SM = PIN_SLOTS };
#define PAGE ((uint64_t)2 << 20)

enum operation { OP_READ, OP_WRITE, OP_MIX, OP_NONE };
static const char *const operations[] = {"read", "write", "mix", "none", NULL};

struct loaded {
    enum operation op;
    unsigned unroll, warps, blocks, gap;
    uint64_t bytes, fill;
    struct ring_plan plan;
    uint64_t bits;
    bool odd, beside;
    unsigned sm, warmer;
    uint64_t warm, visits;
    unsigned sms, grid; /* of the GPU; blocks of the launch */
};

/* clang-format off */
#define PLAN_NUMBER(name, field, fallback, least, most, help)                  \
    PARAM_ROW(name, struct loaded, plan.field, PARAM_NUMBER, fallback, least,  \
              most, NULL, help)
static const struct param loaded_params[] = {
    CHOICE(struct loaded, op, "read", operations, "what is injected: read; write; mix (every second access writes); none"),
    NUMBER(struct loaded, bytes, "1048576", ACCESS, (uint64_t)1 << 40, "set that is injected from, B"),
    NUMBER(struct loaded, unroll, "4", 1, UNROLL_MOST, "independent accesses of 512 B in flight, of a warp"),
    NUMBER(struct loaded, warps, "8", 1, 32, "warps of a block"),
    NUMBER(struct loaded, blocks, "1", 1, 32, "blocks of an SM"),
    NUMBER(struct loaded, gap, "0", 0, 1 << 30, "cycles that a warp idles after them, on average"),
    NUMBER(struct loaded, fill, "1", 0, 1024, "times that the set is read before"),
    PLAN_NUMBER("ring", bytes, "65536", 8, 1 << 28, "bytes of the ring that is chased"),
    PLAN_NUMBER("stride", stride, "128", 8, 1 << 20, "of its elements, B"),
    PLAN_NUMBER("window", window, "65536", 0, 1 << 28, "they are random in windows of so many bytes; 0: in all"),
    NUMBER(struct loaded, bits, "0", 0, (uint64_t)1 << 32, "only elements with these bits of the offset XORed …"),
    NUMBER(struct loaded, odd, "0", 0, 1, "… to this"),
    NUMBER(struct loaded, sm, "0", 0, NO_SM - 1, "SM that chases"),
    NUMBER(struct loaded, beside, "0", 0, 1, "1: other warps of that SM inject, too"),
    NUMBER(struct loaded, warm, "0", 0, 1024, "laps of the ring before"),
    NUMBER(struct loaded, warmer, "1024", 0, NO_SM, "SM that makes them; 1024: the one that chases"),
    NUMBER(struct loaded, visits, "1024", 1, 1 << 20, "loads that are timed, rounded up to 64s"),
    REPEATS(1000, "repetitions; 0: as many as the stopping rule wants"),
    {0},
};
/* clang-format on */

/* ---- reading ----------------------------------------------------------- */

static uint64_t tile_of(const struct loaded *l)
{
    return (uint64_t)l->unroll * ACCESS;
}

/* All blocks must be on the SMs at once, or the barrier would not open. */
static int check_blocks(const struct loaded *l, const struct device_info *info,
                        struct error *err)
{
    const unsigned last = l->sm > l->warmer ? l->sm : l->warmer;
    const struct grid_barrier_blocks wanted = {
        .probe = "loaded",
        .warps = l->warps,
        .blocks = l->blocks,
        .registers = l->unroll * WORDS + REGISTERS_ELSE,
    };
    if (grid_barrier_room(&wanted, info, err) != 0)
        return err->code;
    if (last >= l->sms)
        return error_set(err, ERR_USAGE,
                         "loaded: there is no SM %u; the GPU has %u", last,
                         l->sms);
    if (!l->beside && l->sms == 1)
        return error_set(err, ERR_USAGE,
                         "loaded: the only SM chases; beside=1 lets its other "
                         "warps fill and inject");
    if (l->warps * l->grid == 1)
        return error_set(err, ERR_USAGE,
                         "loaded: the only warp chases, and none injects");
    return 0;
}

static int check_sizes(const struct loaded *l, struct error *err)
{
    if (l->bytes < tile_of(l))
        return error_set(err, ERR_USAGE,
                         "loaded: bytes=%" PRIu64 " is less than the %" PRIu64
                         " B that a warp has in flight",
                         l->bytes, tile_of(l));
    if (l->plan.stride % 8 != 0 || l->plan.bytes < l->plan.stride)
        return error_set(err, ERR_USAGE,
                         "loaded: stride is a multiple of the 8 B of a "
                         "pointer, and no more than ring");
    if (l->odd && l->bits == 0)
        return error_set(err, ERR_USAGE,
                         "loaded: odd=1 is of bits, and none are given");
    return 0;
}

static int loaded_prepare(struct experiment *e, const struct device_info *info,
                          struct error *err)
{
    struct loaded *const l = e->own;
    l->plan.random = true;
    l->plan.seed = experiment_seed(e);
    l->sms = (unsigned)device_told(info, PROPERTY_SMS, 1);
    l->grid = l->blocks * l->sms;
    if (l->warmer == NO_SM)
        l->warmer = l->sm;
    if (check_blocks(l, info, err) != 0)
        return err->code;
    return check_sizes(l, err);
}

/* ---- the kernel: who does what ----------------------------------------- */

/* Words behind the slots of SMs, which hold roles; flags follow, a line each.
 */
enum slot {
    SLOT_ARRIVED,
    SLOT_WORKERS,
    SLOT_BUSY,
    SLOT_READY,
    SLOT_ZERO,
    SLOT_NEVER,
    SLOTS
};
enum { FLAG = 128 };
static const uint32_t never = 0x9e3779b9;

KERNEL_PARAMETERS(loaded_arguments, set, slots, out, start, grid, sm, tiles,
                  fill, warm, lead, visits, gap);

/* What a block is there for. */
enum role { ROLE_CHASE = 1, ROLE_WARM = 2, ROLE_INJECT = 4 };

/* A block's record: a line with its SM and its role, then one for each warp:
 * two reads of the clock, two of the timer, tiles, and whether it was told to
 * stop. */
enum { RECORD = 48, RECORD_WORDS = RECORD / 8 };

static size_t record_bytes(const struct loaded *l)
{
    return (size_t)RECORD * (1 + l->warps);
}

static void declare(struct kernel_text *k)
{
    ptx_with(k,
             ".reg .b32 %sm, %me, %warp, %lane, %slot, %role, %number, %want, "
             "%looks, "
             "%count, %sum, %never, %now, %flag, %block, %workers, %state, "
             "%wait, %gap, %tiles;\n"
             ".reg .b64 %slots, %out, %at, %base, %step, %turn, %turns, %left, "
             "%t0, %t1, %g0, %g1, %until, %zero, %flags, %ptr, %next;\n"
             ".reg .pred %other, %again, %on, %true, %inject, %chase, %first;\n"
             ".reg .b32 %x<$words>;\n",
             WORD(words, UNROLL_MOST * WORDS));
}

/* Blocks that inject are numbered. */
static void take_number(struct kernel_text *k, const struct loaded *l)
{
    ptx(k, "mov.u32 %number, 0;\n"
           "ld.param.u32 %count, [sm];\n"
           "setp.eq.u32 %again, %sm, %count;\n");
    if (!l->beside)
        ptx(k, "@%again bra NO_NUMBER;");
    ptx_with(k,
             "or.b32 %role, %role, $inject;\n"
             "atom.global.add.u32 %number, [%slots+$workers], 1;\n"
             "NO_NUMBER:\n",
             WORD(inject, ROLE_INJECT), WORD(workers, 4 * SLOT_WORKERS));
}

/* Thread 0 finds out what its block is there for, and waits until all have. */
static void enlist(struct kernel_text *k, const struct loaded *l)
{
    ptx(k, "setp.ne.u32 %other, %me, 0;\n"
           "@%other bra ENLISTED;\n");
    pin_claim(k);
    ptx(k, "max.s32 %role, %slot, 0;");
    take_number(k, l);
    ptx_with(k,
             "st.shared.u32 [pool], %role;\n"
             "st.shared.u32 [pool+4], %number;\n"
             "setp.ne.u32 %again, %role, 0;\n"
             "@%again atom.global.add.u32 %count, [%slots+$busy], 1;\n"
             "ld.param.u32 %want, [grid];\n",
             WORD(busy, 4 * SLOT_BUSY));
    grid_barrier_meet(k, "GATE", 4 * SLOT_ARRIVED, GRID_BARRIER_LOOKS);
    ptx(k, "ENLISTED:\n"
           "bar.sync 0;\n"
           "ld.shared.u32 %role, [pool];\n"
           "ld.shared.u32 %number, [pool+4];\n"
           "setp.eq.u32 %again, %role, 0;\n"
           "@%again bra DONE;\n");
}

/* True in `pred` for warp 0 of a block with that role. */
static void has_role(struct kernel_text *k, const char *pred, enum role role)
{
    ptx_with(k,
             "and.b32 %count, %role, $role;\n"
             "setp.ne.u32 %$pred, %count, 0;\n"
             "and.pred %$pred, %$pred, %first;\n",
             WORD(role, role), WORD(pred, pred));
}

/* A warp of such a block that does not chase injects. */
static void find_duties(struct kernel_text *k)
{
    ptx(k, "setp.eq.u32 %first, %warp, 0;");
    has_role(k, "chase", ROLE_CHASE);
    ptx_with(k,
             "and.b32 %count, %role, $inject;\n"
             "setp.ne.u32 %inject, %count, 0;\n"
             "not.pred %on, %chase;\n"
             "and.pred %inject, %inject, %on;\n",
             WORD(inject, ROLE_INJECT));
}

static void opening(struct kernel_text *k, const struct loaded *l)
{
    declare(k);
    ptx_with(k,
             "ld.param.u64 %slots, [slots];\n"
             "add.u64 %slots, %slots, $sms;\n"
             "ld.param.u64 %out, [out];\n"
             "add.u64 %flags, %slots, $flag;\n"
             "mov.u32 %sm, %smid;\n"
             "mov.u32 %me, %tid.x;\n"
             "mov.u32 %block, %ctaid.x;\n"
             "shr.u32 %warp, %me, 5;\n"
             "and.b32 %lane, %me, 31;\n"
             "mad.wide.u32 %out, %block, $record_bytes, %out;\n",
             WORD(sms, 4 * PIN_SLOTS), WORD(flag, FLAG),
             WORD(record_bytes, record_bytes(l)));
    enlist(k, l);
    ptx_with(k,
             "// nobody but memory knows that this is zero\n"
             "ld.global.u32 %count, [%slots+$zero];\n"
             "cvt.u64.u32 %zero, %count;\n"
             "ld.global.u32 %never, [%slots+$never];\n"
             "setp.ne.u32 %true, %never, 0;\n"
             "st.global.v2.u32 [%out], {%sm, %role};\n"
             "mad.wide.u32 %out, %warp, $record, %out;\n",
             WORD(zero, 4 * SLOT_ZERO), WORD(never, 4 * SLOT_NEVER),
             WORD(record, RECORD));
    find_duties(k);
}

/* ---- the kernel: injecting --------------------------------------------- */

/* Where the warp begins, how far its next tile is, and how many it has. */
static void place_warp(struct kernel_text *k, const struct loaded *l)
{
    ptx_with(k,
             "ld.volatile.global.u32 %workers, [%slots+$workers];\n"
             "mul.lo.u32 %workers, %workers, $warps;\n"
             "mad.lo.u32 %state, %number, $warps, %warp;\n"
             "ld.param.u32 %tiles, [tiles];\n"
             "rem.u32 %count, %state, %tiles;\n"
             "mul.wide.u32 %base, %count, $tile;\n"
             "mad.wide.u32 %base, %lane, $width, %base;\n"
             "ld.param.u64 %at, [set];\n"
             "add.u64 %base, %base, %at;\n"
             "mov.u64 %at, %base;\n"
             "mul.wide.u32 %step, %workers, $tile;\n"
             "div.u32 %count, %tiles, %workers;\n"
             "max.u32 %count, %count, 1;\n"
             "cvt.u64.u32 %turns, %count;\n"
             "mov.u64 %turn, %turns;\n",
             WORD(workers, 4 * SLOT_WORKERS), WORD(warps, l->warps),
             WORD(tile, (unsigned)tile_of(l)), WORD(width, WIDTH));
    for (unsigned i = 0; i < l->unroll * WORDS; i++)
        ptx_with(k, "add.u32 %x$i, %never, $i;", WORD(i, i));
}

static void access_words(struct kernel_text *k, unsigned copy, bool stores)
{
    const unsigned x = copy * WORDS, offset = copy * ACCESS;
    if (stores)
        ptx_with(k,
                 "st.global.cg.v4.u32 [%at+$offset], {%x$x, %x$y, %x$z, %x$w};",
                 WORD(offset, offset), WORD(x, x), WORD(y, x + 1),
                 WORD(z, x + 2), WORD(w, x + 3));
    else
        ptx_with(k,
                 "ld.global.cg.v4.u32 {%x$x, %x$y, %x$z, %x$w}, [%at+$offset];",
                 WORD(x, x), WORD(y, x + 1), WORD(z, x + 2), WORD(w, x + 3),
                 WORD(offset, offset));
}

/* All accesses of a tile, then their use; stores are waited for by a fence. */
static void tile(struct kernel_text *k, const struct loaded *l,
                 enum operation op)
{
    for (unsigned i = 0; i < l->unroll; i++)
        access_words(k, i, op == OP_WRITE || (op == OP_MIX && i % 2 == 1));
    for (unsigned i = 0; i < l->unroll * WORDS; i++)
        ptx_with(k, "xor.b32 %sum, %sum, %x$i;", WORD(i, i));
    if (op != OP_READ)
        ptx(k, "membar.gl;");
    ptx(k, "setp.ne.u32 %on, %sum, %never;");
}

/* On to the warp's next tile, or to its first. */
static void advance(struct kernel_text *k)
{
    ptx(k, "add.u64 %at, %at, %step;\n"
           "sub.u64 %turn, %turn, 1;\n"
           "setp.eq.u64 %again, %turn, 0;\n"
           "@%again mov.u64 %at, %base;\n"
           "@%again mov.u64 %turn, %turns;\n");
}

static void loaded_fill(struct kernel_text *k, const struct loaded *l)
{
    ptx(k, "mov.u32 %sum, 0;\n"
           "@!%inject bra FILLED;\n");
    place_warp(k, l);
    ptx(k, "ld.param.u64 %left, [fill];\n"
           "mul.lo.u64 %left, %left, %turns;\n"
           "setp.eq.u64 %again, %left, 0;\n"
           "@%again bra FILLED;\n"
           "FILL:\n"
           ".pragma \"nounroll\";\n");
    tile(k, l, OP_READ);
    advance(k);
    ptx_with(k,
             "sub.u64 %left, %left, 1;\n"
             "setp.ne.u64 %again, %left, 0;\n"
             "@%again bra FILL;\n"
             "FILLED:\n"
             "// a use of what was read, so that it is read\n"
             "setp.eq.u32 %again, %sum, %never;\n"
             "@%again st.global.u32 [%out+$record], %sum;\n",
             WORD(record, RECORD));
}

/* Sleeps for most of a long wait, which leaves the SM to others.  A warp sleeps
 * for at most twice as long as it asks to, so it asks for an eighth of the
 * cycles in nanoseconds, and again. */
static void sleep_until(struct kernel_text *k)
{
    ptx_with(k,
             "NAP:\n"
             "mov.u64 %next, %clock64;\n"
             "sub.u64 %next, %until, %next;\n"
             "setp.lt.s64 %again, %next, $least;\n"
             "@%again bra IDLE;\n"
             "shr.u64 %next, %next, 3;\n"
             "cvt.u32.u64 %wait, %next;\n"
             "nanosleep.u32 %wait;\n"
             "bra NAP;\n",
             WORD(least, NAP_LEAST));
}

/* Any number of cycles below twice the gap, from when all has come. */
static void idle(struct kernel_text *k, bool naps)
{
    ptx(k, "setp.eq.u32 %again, %gap, 0;\n"
           "@%again bra FIRE;\n"
           "mad.lo.u32 %state, %state, 1664525, 1013904223;\n"
           "mul.hi.u32 %wait, %state, %gap;\n"
           "cvt.u64.u32 %until, %wait;\n"
           "add.u64 %until, %until, %t1;\n");
    if (naps)
        sleep_until(k);
    ptx(k, "IDLE:\n"
           "mov.u64 %next, %clock64;\n"
           "setp.lt.u64 %again, %next, %until;\n"
           "@%again bra IDLE;\n"
           "FIRE:\n");
}

static void begin_injecting(struct kernel_text *k)
{
    ptx_with(k,
             "ld.param.u32 %gap, [gap];\n"
             "shl.b32 %gap, %gap, 1;\n"
             "// warps that follow each other are to idle differently\n"
             "mul.lo.u32 %state, %state, 0x9e3779b1;\n"
             "mad.wide.u32 %next, %block, $flag, %flags;\n"
             "mov.u64 %flags, %next;\n"
             "mov.u32 %tiles, 0;\n"
             "mov.u32 %flag, 0;\n"
             "mov.u64 %g0, %globaltimer;\n"
             "mov.u64 %t0, %clock64;\n"
             "cvt.u32.u64 %sum, %t0;\n"
             "mov.u64 %t1, %t0;\n",
             WORD(flag, FLAG));
}

static void inject(struct kernel_text *k, const struct loaded *l, bool naps)
{
    begin_injecting(k);
    ptx(k, "INJECT:\n"
           ".pragma \"nounroll\";\n");
    idle(k, naps);
    ptx_with(k,
             "// not every time, or looks would be a load of their own\n"
             "and.b32 %count, %tiles, $every;\n"
             "setp.eq.u32 %again, %count, $every;\n"
             "@%again ld.volatile.global.u32 %flag, [%flags];\n",
             WORD(every, LOOK_EVERY - 1));
    tile(k, l, l->op);
    ptx(k, "@%on mov.u64 %t1, %clock64;");
    advance(k);
    ptx(k, "add.u32 %tiles, %tiles, 1;\n"
           "setp.ne.u32 %again, %flag, 0;\n"
           "@%again bra TOLD;\n"
           "sub.u64 %next, %t1, %t0;\n");
    ptx_with(k,
             "setp.lt.u64 %again, %next, $limit;\n"
             "setp.lt.and.u32 %again, %tiles, $tiles, %again;\n"
             "@%again bra INJECT;\n"
             "TOLD:\n"
             "setp.ne.u32 %on, %sum, %never;\n"
             "@%on mov.u64 %g1, %globaltimer;\n"
             "st.global.v2.u32 [%out+$record], {%tiles, %flag};\n",
             WORD(limit, LIMIT_CYCLES), WORD(tiles, LIMIT_TILES),
             WORD(record, RECORD + 32));
}

/* ---- the kernel: chasing ----------------------------------------------- */

static void chase_load(struct kernel_text *k, unsigned copy,
                       const void *context)
{
    (void)copy;
    space_load(k, context, "cg", "%ptr", "%ptr");
}

static void chase_turns(struct kernel_text *k, const char *label)
{
    repeat_loop(k, label, "%left", CHASE_UNROLL, chase_load,
                space_find("global")->load);
    ptx(k, "// waits for the last; no pointer is this\n"
           "setp.eq.s64 %again, %ptr, -1;\n"
           "@%again bra DONE;\n");
}

/* Laps of the ring, by the SM that is asked to. */
static void warm(struct kernel_text *k)
{
    has_role(k, "on", ROLE_WARM);
    ptx(k, "@!%on bra WARMED;\n"
           "ld.param.u64 %ptr, [start];\n"
           "ld.param.u64 %left, [warm];\n");
    chase_turns(k, "WARM");
    ptx(k, "WARMED:");
}

/* Tells every block to stop, each by its flag. */
static void tell_all(struct kernel_text *k)
{
    ptx_with(k,
             "ld.param.u32 %want, [grid];\n"
             "mov.u32 %flag, 1;\n"
             "TELL:\n"
             "setp.ge.u32 %again, %lane, %want;\n"
             "@%again bra ALL_TOLD;\n"
             "mad.wide.u32 %next, %lane, $flag, %flags;\n"
             "st.volatile.global.u32 [%next], %flag;\n"
             "add.u32 %lane, %lane, $lanes;\n"
             "bra TELL;\n"
             "ALL_TOLD:\n",
             WORD(flag, FLAG), WORD(lanes, LANES));
}

/* Loads that begin the load, then those that are timed, by the same loop. */
static void chase(struct kernel_text *k)
{
    ptx(k, "ld.param.u64 %ptr, [start];\n"
           "ld.param.u64 %left, [lead];\n"
           "setp.ne.u32 %first, %never, 0;\n"
           "PHASE:\n"
           "mov.u64 %g0, %globaltimer;\n"
           "mov.u64 %t0, %clock64;\n"
           "and.b64 %next, %t0, %zero;\n"
           "add.u64 %ptr, %ptr, %next;\n");
    chase_turns(k, "CHASE");
    ptx(k, "@!%again mov.u64 %t1, %clock64;\n"
           "@!%again mov.u64 %g1, %globaltimer;\n"
           "ld.param.u64 %left, [visits];\n"
           "mov.pred %on, %first;\n"
           "setp.eq.u32 %first, %never, 0;\n"
           "@%on bra PHASE;\n");
    tell_all(k);
}

/* All that have something to do meet again, then all warps of each block. */
static void begin_together(struct kernel_text *k)
{
    ptx_with(k,
             "@%other bra READY;\n"
             "ld.volatile.global.u32 %want, [%slots+$busy];\n",
             WORD(busy, 4 * SLOT_BUSY));
    grid_barrier_meet(k, "MEETING", 4 * SLOT_READY, MEET_LOOKS);
    ptx(k, "READY:");
    grid_barrier_hold(k);
}

static void loaded_kernel(const struct experiment *e,
                          const struct device_info *info, struct buf *out)
{
    const struct loaded *const l = e->own;
    struct kernel_text k;
    const bool naps = device_has(info, CAP_NANOSLEEP);
    kernel_begin(&k, out, device_cc(info), .name = "loaded",
                 .parameters = loaded_arguments_names,
                 .variables = ".shared .align 16 .b8 pool[16];\n",
                 .least = naps ? "6.3" : NULL, .resident_blocks = l->blocks,
                 .threads = LANES * l->warps);
    opening(&k, l);
    warm(&k);
    loaded_fill(&k, l);
    begin_together(&k);
    ptx(&k, "@%chase bra TO_CHASE;");
    if (l->op == OP_NONE) {
        ptx(&k, "bra DONE;");
    } else {
        ptx(&k, "@!%inject bra DONE;");
        inject(&k, l, naps);
        ptx(&k, "bra RECORD;");
    }
    ptx(&k, "TO_CHASE:");
    chase(&k);
    ptx_with(&k,
             "RECORD:\n"
             "st.global.v2.u64 [%out+$record], {%t0, %t1};\n"
             "st.global.v2.u64 [%out+$ns], {%g0, %g1};\n"
             "DONE:\n",
             WORD(record, RECORD), WORD(ns, RECORD + 16));
    kernel_end(&k);
}

/* ---- running ----------------------------------------------------------- */

static uint64_t chase_turns_of(uint64_t loads)
{
    return (loads + CHASE_UNROLL - 1) / CHASE_UNROLL;
}

/* Offsets of the ring in the order of visit; the caller frees. */
static uint64_t *order_of(const struct loaded *l, size_t *count)
{
    size_t all;
    uint64_t *const order = ring_order(&l->plan, &all);
    *count = 0;
    for (size_t i = 0; i < all; i++)
        if (l->bits == 0 || xor_bits_of(order[i], l->bits) == l->odd)
            order[(*count)++] = order[i];
    return order;
}

/* Writes the ring; whole pages, so that bits of offsets are those of addresses
 * within them. */
static int place_ring(struct prober *prober, const struct loaded *l,
                      struct loaded_arguments *args, struct error *err)
{
    const uint64_t room = (l->plan.bytes + PAGE - 1) / PAGE * PAGE;
    size_t count;
    uint64_t ring;
    uint64_t *const order = order_of(l, &count);
    uint64_t *const image = xcalloc(l->plan.bytes / 8 + 1, 8);
    if (count == 0)
        error_set(err, ERR_USAGE, "loaded: the ring has no element");
    else if (prober_buffer(prober, BUFFER_RING, room, &ring, err) == 0) {
        for (size_t i = 0; i < count; i++)
            image[order[i] / 8] = ring + order[i + 1 < count ? i + 1 : 0];
        args->start = ring + order[0];
        args->warm = chase_turns_of(l->warm * count);
        device_copy_in(prober_device(prober), ring, image,
                       (l->plan.bytes + 7) / 8 * 8, err);
    }
    free(image);
    free(order);
    return err->code;
}

/* Roles of SMs, words, flags and records; all others are zero. */
static int place_slots(struct prober *prober, const struct loaded *l,
                       struct loaded_arguments *args, struct error *err)
{
    const size_t bytes = 4 * PIN_SLOTS + (size_t)FLAG * (1 + l->grid);
    uint32_t *const slots = xcalloc(1, bytes);
    slots[l->sm] |= ROLE_CHASE;
    slots[l->warmer] |= ROLE_WARM;
    slots[PIN_SLOTS + SLOT_NEVER] = never;
    const int status =
        prober_place(prober, BUFFER_SLOTS, slots, bytes, &args->slots, err);
    free(slots);
    return status != 0
               ? status
               : prober_zeros(prober, BUFFER_OUT, record_bytes(l) * l->grid,
                              &args->out, err);
}

/* ---- samples ----------------------------------------------------------- */

enum { HAS_T0, HAS_T1, HAS_G0, HAS_G1, HAS_TILES };

static unsigned role_of(const uint64_t *block)
{
    return (unsigned)(block[0] >> 32);
}

/* The record of the warp that chased; NULL if there is none. */
static const uint64_t *find_chaser(const struct loaded *l, const uint64_t *out)
{
    const size_t each = record_bytes(l) / 8;
    for (unsigned i = 0; i < l->grid; i++)
        if ((role_of(out + i * each) & ROLE_CHASE) != 0)
            return out + i * each + RECORD_WORDS;
    return NULL;
}

/* Adds what the warps of a block injected. */
static void add_block(const struct loaded *l, const uint64_t *block,
                      const uint64_t *chaser, int64_t *row)
{
    const bool chases = (role_of(block) & ROLE_CHASE) != 0;
    if ((role_of(block) & ROLE_INJECT) == 0 || l->op == OP_NONE)
        return;
    for (unsigned w = chases; w < l->warps; w++) {
        const uint64_t *const r = block + (1 + w) * RECORD_WORDS;
        const bool told = r[HAS_TILES] >> 32 != 0;
        const uint64_t tiles = (uint32_t)r[HAS_TILES];
        row[COLUMN_WARPS]++;
        row[COLUMN_BYTES] += (int64_t)(tiles * tile_of(l));
        row[COLUMN_CYCLES] += (int64_t)(r[HAS_T1] - r[HAS_T0]);
        row[COLUMN_NS] += (int64_t)(r[HAS_G1] - r[HAS_G0]);
        row[COLUMN_MISSED] += !told || r[HAS_G0] > chaser[HAS_G0];
    }
}

static void add_rows(const struct loaded *l, const uint64_t *out,
                     const uint64_t *chaser, struct samples *samples)
{
    const size_t each = record_bytes(l) / 8, from = samples->rows;
    for (unsigned i = 0; i < l->grid; i++) {
        const uint64_t *const block = out + i * each;
        const unsigned wanted =
            l->op == OP_NONE ? ROLE_CHASE : ROLE_CHASE | ROLE_INJECT;
        if ((role_of(block) & wanted) == 0)
            continue;
        add_block(l, block, chaser,
                  samples_row_of(samples, from, COLUMN_SM, (uint32_t)block[0]));
    }
    for (size_t i = from; i < samples->rows; i++) {
        int64_t *const row = samples->data + i * samples->columns;
        row[COLUMN_CHASER] = l->sm;
        row[COLUMN_LOADS] = (int64_t)(CHASE_UNROLL * chase_turns_of(l->visits));
        row[COLUMN_CHASE_CYCLES] = (int64_t)(chaser[HAS_T1] - chaser[HAS_T0]);
    }
}

static int loaded_collect(struct prober *prober, const struct loaded *l,
                          uint64_t at, struct samples *samples,
                          struct error *err)
{
    uint64_t *const out =
        prober_fetch(prober, at, record_bytes(l) * l->grid, err);
    if (out == NULL)
        return err->code;
    const uint64_t *const chaser = find_chaser(l, out);
    if (chaser == NULL || chaser[HAS_T1] == 0)
        error_set(err, ERR_UNSUPPORTED, "loaded: no block came to SM %u",
                  l->sm);
    else
        add_rows(l, out, chaser, samples);
    free(out);
    return err->code;
}

static int loaded_once(struct prober *prober, const struct experiment *e,
                       struct samples *samples, struct error *err)
{
    const struct loaded *const l = e->own;
    struct loaded_arguments args = {
        .grid = l->grid,
        .sm = l->sm,
        .tiles = l->bytes / tile_of(l),
        .fill = l->fill,
        .visits = chase_turns_of(l->visits),
        .lead = chase_turns_of(l->visits / LEAD_PART),
        .gap = l->gap,
    };
    const struct shot shot = {
        .kernel = "loaded",
        .blocks = l->grid,
        .threads = LANES * l->warps,
        .deadline_s = DEADLINE_S,
        SHOT_ARGUMENTS(&args),
    };
    if (prober_buffer(prober, BUFFER_FLUSH, l->bytes, &args.set, err) != 0 ||
        place_ring(prober, l, &args, err) != 0 ||
        place_slots(prober, l, &args, err) != 0 ||
        prober_shoot(prober, e, &shot, err) != 0)
        return err->code;
    return loaded_collect(prober, l, args.out, samples, err);
}

/* Cycles of a load. */
static double loaded_figure(const struct experiment *e,
                            const struct samples *samples, size_t from)
{
    (void)e;
    return (double)samples_at(samples, from, COLUMN_CHASE_CYCLES) /
           (double)samples_at(samples, from, COLUMN_LOADS);
}

const struct probe probe_loaded_latency = {
    .name = "loaded",
    .what = "cost of a dependent load while other SMs read or write",
    .params = loaded_params,
    .bytes = sizeof(struct loaded),
    .columns = TEXTS("sm", "warps", "bytes", "cycles", "ns", "missed", "chaser",
                     "loads", "chase_cycles"),
    .figure = loaded_figure,
    .repeats_least = 3,
    .repeats_most = 9,
    .prepare = loaded_prepare,
    .kernel = loaded_kernel,
    .once = loaded_once,
};
