/*
 * The probe `overfill`: which lines of memory are still in a cache after so
 * many were loaded in random order.
 *
 * What a cache holds then depends neither on the order nor, once all of its
 * sets are full, on its index and policy: of N lines it has as many as it has
 * room for.  A trial is
 *
 *   1. those that will be looked at are chosen: spread evenly over the order in
 *      which they are loaded;
 *   2. `members` lines, drawn from those of a pool, are loaded once each by all
 *      warps of an SM (of all SMs, `together`);
 *   3. the chosen ones are loaded again, one at a time, with the clock around
 *      each; with look=cg by loads past L1, which do not wait for each other
 *      as atomics do, and tell by their cost where a line is.
 *
 * The draw is a permutation of the pool, another one for each trial: its first
 * so many are members.  SMs that look `together` draw once, and need not load
 * the members again for each trial: where they do not (`fills`), each look is
 * at any member by a chance of its own, so that it finds one of those that are
 * there as often as they are among all, whichever they are.
 *
 * What is looked at changes what the cache holds, a line a look; so rows tell
 * in which quarter of the looks of a trial they were.  A row says how many took
 * so many cycles.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "base/text.h"
#include "probe/check.h"
#include "probe/run/grid_barrier.h"
#include "probe/run/pin.h"
#include "probe/walk/homes.h"
#include "ptx/space.h"

enum column { COLUMN_QUARTER = 1, COLUMN_CYCLES, COLUMN_COUNT };

enum {
    SMS_MOST = 1024,
    LANES = 32,
    HOMES_SECTOR = 32, /* no smaller one is known */
    WARPS_MOST = 32,
    LOOKS_MOST = 512, /* of an SM in a trial */
    UNROLL = 4,       /* loads in flight of a thread */
    QUARTERS = 4,
    CONSTANT_BYTES = 64 * 1024,
    NOTE_BYTES = 4, /* of a line that is chosen, then of its cycles */
    SHARED_MOST = 44 * 1024,
    /* SMs wait for each other as long as the longest trial takes. */
    WAITS = 1 << 20,
};

struct overfill {
    const char *space_name, *op, *sms;
    const struct space *space;
    uint64_t bytes, stride, members, looks, settle, fills, trials, take, carve;
    uint64_t beside, lead; /* B from each member, and from what is looked at */
    const char *order, *look;
    struct homes homes;
    bool together, fresh, in_order, look_past, either;
    unsigned warps;
    bool wanted[SMS_MOST];
    uint64_t set[SMS_MOST]; /* those that are wanted */
    size_t count;
};

static const char *const looks[] = {"same", "cg", NULL};
static const char *const orders[] = {"random", "sequential", NULL};
static const char *const ops[] = {"default", "ca", "cg", "cs",
                                  "lu",      "cv", NULL};

/* clang-format off */
static const struct param overfill_params[] = {
    PARAM_ROW("space", struct overfill, space_name, PARAM_WORD, "global", 0, 0, space_names, "how lines are loaded"),
    CHOICE(struct overfill, op, "default", ops, "cache operator of the loads"),
    NUMBER(struct overfill, bytes, "1048576", 32, 1ull << 40, "of the pool, a power of two of lines"),
    NUMBER(struct overfill, stride, "128", 4, 1ull << 30, "distance of its lines, B"),
    NUMBER(struct overfill, members, "4096", 1, 1 << 30, "lines that are loaded in a trial"),
    NUMBER(struct overfill, looks, "16", 1, LOOKS_MOST, "lines that each SM looks at in a trial"),
    NUMBER(struct overfill, settle, "0", 0, 64, "trials before, which are not kept"),
    NUMBER(struct overfill, fills, "0", 0, 64, "trials, from the first on, in which members are loaded; 0: all"),
    NUMBER(struct overfill, trials, "16", 1, 1 << 16, "how often"),
    NUMBER(struct overfill, fresh, "0", 0, 1, "1: each trial is a launch, so that the caches of SMs are empty"),
    TEXT(struct overfill, sms, "0", "the SMs that load: 0,4-7"),
    NUMBER(struct overfill, together, "0", 0, 1, "1: they share the members of each trial; 0: each has its own"),
    NUMBER(struct overfill, beside, "0", 0, 1 << 30, "with each member what lies at its offset XOR so many bytes is loaded, too"),
    NUMBER(struct overfill, either, "0", 0, 1, "1: what lies beside a member is looked at as often as members are"),
    CHOICE(struct overfill, look, "same", looks, "how lines are looked at: as they were loaded, or by loads past L1"),
    NUMBER(struct overfill, lead, "0", 0, 1 << 30, "before each look what lies at its offset XOR so many bytes is loaded, which brings in the translation; 0: nothing"),
    CHOICE(struct overfill, order, "random", orders, "of the members; sequential: of all lines of the pool"),
    NUMBER(struct overfill, warps, "8", 1, WARPS_MOST, "warps of each SM that load"),
    NUMBER(struct overfill, carve, "0", 0, 100, "percent of the array for shared memory"),
    HOMES_PARAMS(struct overfill),
    NUMBER(struct overfill, take, "0", 0, 1 << 30, "a number that only makes the draws others"),
    {0},
};
/* clang-format on */

/* ---- reading ----------------------------------------------------------- */

static uint64_t lines_of(const struct overfill *o)
{
    return o->bytes / o->stride;
}

static int check_space(const struct overfill *o, struct error *err)
{
    if (o->space->memory != MEMORY_GLOBAL &&
        o->space->memory != MEMORY_CONSTANT)
        return error_set(err, ERR_USAGE,
                         "overfill: space=%s is not memory that all threads "
                         "load through caches",
                         o->space_name);
    if (strcmp(o->op, "default") != 0 && !space_has_op(o->space, o->op))
        return error_set(err, ERR_USAGE, "overfill: space=%s has no op=%s",
                         o->space_name, o->op);
    if (o->look_past &&
        (o->space->memory != MEMORY_GLOBAL || o->space->texture))
        return error_set(err, ERR_USAGE,
                         "overfill: look=cg is for global memory");
    if (o->space->memory == MEMORY_CONSTANT && o->bytes > CONSTANT_BYTES)
        return error_set(err, ERR_UNSUPPORTED,
                         "overfill: a module has %d B of constants",
                         CONSTANT_BYTES);
    return 0;
}

static uint64_t shared_bytes(const struct overfill *o)
{
    return PIN_POOL + NOTE_BYTES * o->looks * (o->together ? o->trials : 1);
}

static int check_pool(const struct overfill *o, struct error *err)
{
    const uint64_t lines = lines_of(o);
    if (o->stride % o->space->pointer_bytes != 0 || lines < 2 ||
        (lines & (lines - 1)) != 0 || lines > 1 << 30)
        return error_set(err, ERR_USAGE,
                         "overfill: %" PRIu64 " B are not a power of two of "
                         "lines %" PRIu64 " B apart",
                         o->bytes, o->stride);
    const uint64_t all = o->looks * (o->together ? o->count : 1);
    if (o->beside >= o->bytes || o->beside % o->space->pointer_bytes != 0)
        return error_set(err, ERR_USAGE,
                         "overfill: nothing lies %" PRIu64 " B beside a member",
                         o->beside);
    if (o->either && (o->beside == 0 || !o->together))
        return error_set(err, ERR_USAGE,
                         "overfill: either=1 is of pairs, and of SMs that "
                         "load together");
    if (o->lead >= o->bytes || o->lead % o->space->pointer_bytes != 0)
        return error_set(err, ERR_USAGE,
                         "overfill: nothing lies %" PRIu64
                         " B from what is looked at",
                         o->lead);
    if (o->in_order && o->members != lines)
        return error_set(
            err, ERR_USAGE,
            "overfill: order=sequential is of all %" PRIu64 " lines", lines);
    if (o->members > lines || all > o->members)
        return error_set(err, ERR_USAGE,
                         "overfill: %" PRIu64 " looks, %" PRIu64
                         " members, %" PRIu64 " lines: each is of the next",
                         all, o->members, lines);
    if (o->fills > 0 && !o->together)
        return error_set(err, ERR_USAGE,
                         "overfill: fills is of SMs that load together");
    if (shared_bytes(o) > SHARED_MOST)
        return error_set(err, ERR_USAGE,
                         "overfill: %" PRIu64 " trials of %" PRIu64
                         " looks are too many for %d B of shared memory",
                         o->trials, o->looks, SHARED_MOST);
    return 0;
}

static int overfill_prepare(struct experiment *e,
                            const struct device_info *info, struct error *err)
{
    struct overfill *const o = e->own;
    const uint64_t most =
        device_told(info, PROPERTY_BLOCK_THREADS, WARPS_MOST * LANES) / LANES;
    o->space = space_find(o->space_name);
    o->in_order = strcmp(o->order, "sequential") == 0;
    o->look_past = strcmp(o->look, "cg") == 0;
    if (!text_to_set(o->sms, o->wanted, SMS_MOST))
        return error_set(err, ERR_USAGE,
                         "overfill: sms=%s is not a list of SMs and ranges of "
                         "them: 0,4-7, below %d",
                         o->sms, SMS_MOST);
    for (unsigned sm = 0; sm < SMS_MOST; sm++)
        if (o->wanted[sm])
            o->set[o->count++] = sm;
    if (o->warps > most)
        return error_set(
            err, ERR_USAGE,
            "overfill: %u warps in a block; the GPU takes %" PRIu64, o->warps,
            most);
    if (check_space(o, err) != 0 || check_pool(o, err) != 0 ||
        homes_prepare(&o->homes, HOMES_SECTOR, err) != 0)
        return err->code;
    return homes_check(&o->homes, o->bytes, err);
}

/* Of a pair either may be: then there are as many numbers more. */
static uint64_t looked_at(const struct overfill *o)
{
    return o->members * (o->either ? 2 : 1);
}

/* ---- the kernel -------------------------------------------------------- */

enum job {
    JOB_BASE,
    JOB_TEXTURE,
    JOB_OUT,
    JOB_COUNTER, /* where SMs that load together count themselves */
    JOB_BLOCKS,
    JOB_MASK, /* lines of the pool less 1 */
    JOB_HIGH, /* shifts that mix high bits into low ones: more, … */
    JOB_LOW,  /* … less than half of their number */
    JOB_STRIDE,
    JOB_MEMBERS,
    JOB_FIRST, /* the block's first member … */
    JOB_STEP,  /* … and how far those of its threads are apart */
    JOB_LOOKS,
    JOB_LOOK_FIRST,
    JOB_LOOK_STEP,
    JOB_SEED,
    JOB_SEED_STEP,
    JOB_TRIALS,
    JOB_SETTLE,
    JOB_FILLS,
    JOB_IN_A_ROW, /* looks that are spread evenly from a random one on, … */
    JOB_LUCK,     /* … which is the same for all SMs, or each SM's own */
    JOB_BESIDE,
    JOB_LEAD,
    JOB_HOMES,
    JOB_LOOKED_AT, /* those of which some are */
    JOB_WORDS
};

static void take_word(struct kernel_text *k, const char *into, int word)
{
    ptx_with(k, "ld.global.cg.u64 $into, [%job+$word];", WORD(into, into),
             WORD(word, 8 * word));
}

static void take_number(struct kernel_text *k, const char *into, int word)
{
    ptx_with(k, "ld.global.cg.u32 $into, [%job+$word];", WORD(into, into),
             WORD(word, 8 * word));
}

/* Registers that are words of the job. */
static const struct {
    const char *name;
    int word;
} numbers[] = {
    {"%blocks", JOB_BLOCKS},       {"%mask", JOB_MASK},
    {"%high", JOB_HIGH},           {"%low", JOB_LOW},
    {"%stride", JOB_STRIDE},       {"%members", JOB_MEMBERS},
    {"%first", JOB_FIRST},         {"%step", JOB_STEP},
    {"%looks", JOB_LOOKS},         {"%look_first", JOB_LOOK_FIRST},
    {"%settle", JOB_SETTLE},       {"%seed", JOB_SEED},
    {"%look_step", JOB_LOOK_STEP}, {"%seed_step", JOB_SEED_STEP},
    {"%trials", JOB_TRIALS},       {"%fills", JOB_FILLS},
    {"%in_a_row", JOB_IN_A_ROW},   {"%luck", JOB_LUCK},
};

static void declare(struct kernel_text *k, const struct overfill *o)
{
    ptx(k,
        ".reg .b32 %blocks, %mask, %high, %low, %stride, %members, %first, "
        "%step, %seed, %seed_step, %trials, %trial, %i, %x, %y, %a, %c, "
        "%look_first, %look_step, %left, %record, %t0, %t1, %last, %gap, "
        "%longest, %at32, %value, %seen, %count, %want, %looks, %waits, "
        "%settle, %fills, %in_a_row, %luck, %all, %all_looks, %found, %wanted, "
        "%notes, "
        "%done, %began, %chance;\n"
        ".reg .b64 %base, %out, %offset, %next, %address, %slots, %words;\n"
        ".reg .b32 %m;\n"
        ".reg .b64 %beside, %lead;\n"
        ".reg .pred %in, %more;\n");
    for (int i = 0; i < UNROLL; i++)
        ptx_with(k, ".reg .b32 %v$i;", WORD(i, i));
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        take_number(k, numbers[i].name, numbers[i].word);
    if (o->either) {
        ptx(k, ".reg .b32 %looked_at;");
        take_number(k, "%looked_at", JOB_LOOKED_AT);
    }
    take_word(k, "%base", JOB_BASE);
    take_word(k, "%out", JOB_OUT);
    take_word(k, "%slots", JOB_COUNTER);
    take_word(k, "%beside", JOB_BESIDE);
    take_word(k, "%lead", JOB_LEAD);
    space_declare(k, o->space);
    homes_declare(k, &o->homes, JOB_HOMES);
    if (o->space->texture)
        take_word(k, "%texture", JOB_TEXTURE);
}

/* What the trial's permutation depends on: %a is odd. */
static void write_draw(struct kernel_text *k)
{
    ptx(k, "shr.u32 %a, %seed, 16;\n"
           "xor.b32 %a, %a, %seed;\n"
           "mul.lo.u32 %a, %a, 0x7feb352d;\n"
           "shr.u32 %c, %a, 15;\n"
           "xor.b32 %a, %a, %c;\n"
           "mul.lo.u32 %c, %a, 0x846ca68b;\n"
           "shr.u32 %x, %c, 16;\n"
           "xor.b32 %c, %c, %x;\n"
           "or.b32 %a, %a, 1;\n"
           "add.u32 %seed, %seed, %seed_step;\n");
}

/* %offset becomes that of a member.  Each step has an inverse modulo the
 * number of lines: odd factors, and shifts that are added to what they came
 * from. */
static void write_member(struct kernel_text *k, const struct overfill *o,
                         const char *member)
{
    if (o->in_order) {
        ptx_with(k, "mul.wide.u32 %offset, $member, %stride;",
                 WORD(member, member));
        return;
    }
    ptx_with(k, "mad.lo.u32 %x, $member, %a, %c;", WORD(member, member));
    ptx(k, "and.b32 %x, %x, %mask;\n"
           "shr.u32 %y, %x, %high;\n"
           "xor.b32 %x, %x, %y;\n"
           "mul.lo.u32 %x, %x, 0x9e3779b1;\n"
           "and.b32 %x, %x, %mask;\n"
           "shr.u32 %y, %x, %low;\n"
           "xor.b32 %x, %x, %y;\n"
           "mul.lo.u32 %x, %x, 0x85ebca77;\n"
           "and.b32 %x, %x, %mask;\n"
           "shr.u32 %y, %x, %high;\n"
           "xor.b32 %x, %x, %y;\n"
           "mul.wide.u32 %offset, %x, %stride;\n");
}

/* %offset becomes that of one of a pair, of which %i numbers both in turn.  Two
 * lanes load a pair at once, so that nothing comes between. */
static void write_pair(struct kernel_text *k, const struct overfill *o)
{
    ptx(k, "shr.u32 %m, %i, 1;\n"
           "setp.lt.u32 %in, %m, %members;");
    write_member(k, o, "%m");
    ptx(k, "and.b32 %y, %i, 1;\n"
           "setp.ne.u32 %more, %y, 0;\n"
           "@%more xor.b64 %offset, %offset, %beside;");
}

static void load_member(struct kernel_text *k, const struct overfill *o, int i)
{
    struct buf format = {0}, into = {0};
    if (o->beside > 0) {
        write_pair(k, o);
    } else {
        ptx(k, "setp.lt.u32 %in, %i, %members;");
        write_member(k, o, "%i");
    }
    const char *const address = homes_address(k, &o->homes, o->space);
    buf_printf(&format, "@%%in %s", space_word_load(o->space));
    buf_printf(&into, "%%v%d", i);
    ptx_with(k, "mov.u32 %v$i, 0;", WORD(i, i));
    space_load(k, buf_string(&format), o->op, buf_string(&into), address);
    ptx(k, "add.u32 %i, %i, %step;");
    buf_free(&format);
    buf_free(&into);
}

/* The loads are waited for, since what they bring is used. */
static void write_fill(struct kernel_text *k, const struct overfill *o)
{
    ptx(k, "add.u32 %i, %first, %me;\n"
           "mov.u32 %seen, 0;\n"
           "mov.u32 %last, %clock;\n"
           "FILL:\n");
    for (int i = 0; i < UNROLL; i++)
        load_member(k, o, i);
    for (int i = 0; i < UNROLL; i++)
        ptx_with(k, "xor.b32 %seen, %seen, %v$i;", WORD(i, i));
    ptx(k, "st.shared.u32 [pool+8], %seen;\n"
           "mov.u32 %t1, %clock;\n");
    pin_mark(k, "%t1");
    ptx(k, o->beside > 0 ? "shr.u32 %m, %i, 1;" : "mov.u32 %m, %i;");
    ptx(k, "setp.lt.u32 %more, %m, %members;\n"
           "@%more bra FILL;\n"
           "bar.sync 0;\n");
}

/* SMs that load together wait until all have come here. */
static void write_meeting(struct kernel_text *k, const char *name)
{
    ptx_with(k, "@%other bra ${name}_MET;", WORD(name, name));
    ptx(k, "mov.u32 %waits, %looks;\n"
           "add.u32 %want, %want, %blocks;\n");
    grid_barrier_meet(k, name, 0, WAITS);
    ptx_with(k,
             "mov.u32 %looks, %waits;\n"
             "${name}_MET:\n"
             "bar.sync 0;\n",
             WORD(name, name));
}

/* Times a load in %t1. */
static void time_load(struct kernel_text *k, const struct space *space,
                      const char *op, const char *address)
{
    ptx(k, "mov.u32 %t0, %clock;");
    space_load(k, space_word_load(space), op, "%value", address);
    ptx(k, "st.shared.u32 [pool+8], %value;\n"
           "mov.u32 %t1, %clock;\n");
    pin_mark(k, "%t1");
    ptx(k, "sub.u32 %t1, %t1, %t0;");
}

/*
 * Thread 0 notes so many lines: those of each trial are evenly spread from a
 * random one on, or each is a random one, whichever were looked at before.  A
 * cache may keep what was looked at for long, so a sample that spares it would
 * find too little.
 */
static void write_choice(struct kernel_text *k, const struct overfill *o)
{
    const char *const all = o->either ? "%looked_at" : "%members";
    ptx(k, "@%other bra CHOSEN;\n"
           "mov.u32 %found, 0;\n"
           "mov.u32 %done, 0;\n"
           "add.u32 %chance, %c, %luck;\n"
           "mov.u32 %record, %notes;\n"
           "mov.u32 %last, %clock;\n"
           "CHOOSE:\n"
           "setp.ne.u32 %more, %found, %done;\n"
           "@%more bra GO_ON;\n"
           "add.u32 %done, %done, %in_a_row;\n"
           "mad.lo.u32 %chance, %chance, 0x915f77f5, 0x6d2b79f5;\n");
    ptx_with(k,
             "mul.hi.u32 %i, %chance, $all;\n"
             "add.u32 %i, %i, %look_first;\n"
             "GO_ON:\n"
             "setp.ge.u32 %in, %i, $all;\n"
             "@%in sub.u32 %i, %i, $all;\n",
             WORD(all, all));
    ptx(k, "st.shared.u32 [%record], %i;\n"
           "add.u32 %record, %record, 4;\n"
           "add.u32 %found, %found, 1;\n"
           "add.u32 %i, %i, %look_step;\n"
           "setp.lt.u32 %more, %found, %wanted;\n"
           "@%more bra CHOOSE;\n"
           "mov.u32 %record, %notes;\n"
           "mov.u32 %done, 0;\n"
           "CHOSEN:\n"
           "bar.sync 0;\n");
}

/* What lies in the same page is loaded, and waited for. */
static void write_lead(struct kernel_text *k, const struct overfill *o)
{
    ptx(k, "xor.b64 %offset, %offset, %lead;");
    time_load(k, o->space, o->op, homes_address(k, &o->homes, o->space));
    ptx(k, "xor.b64 %offset, %offset, %lead;");
}

/* The cycles of each take its place; 0 where too few were chosen. */
static void write_looks(struct kernel_text *k, const struct overfill *o)
{
    ptx(k, "@%other bra LOOKED;\n"
           "mov.u32 %left, %looks;\n"
           "mov.u32 %last, %clock;\n"
           "LOOK:\n"
           "mov.u32 %t1, 0;\n"
           "setp.ge.u32 %more, %done, %found;\n"
           "@%more bra NOTED;\n"
           "ld.shared.u32 %i, [%record];\n");
    if (o->either)
        write_pair(k, o);
    else
        write_member(k, o, "%i");
    if (o->lead > 0)
        write_lead(k, o);
    const char *const address = homes_address(k, &o->homes, o->space);
    if (o->look_past)
        time_load(k, space_find("global"), "cg", address);
    else
        time_load(k, o->space, o->op, address);
    ptx(k, "NOTED:\n"
           "st.shared.u32 [%record], %t1;\n"
           "add.u32 %record, %record, 4;\n"
           "add.u32 %done, %done, 1;\n"
           "sub.u32 %left, %left, 1;\n"
           "setp.ne.u32 %more, %left, 0;\n"
           "@%more bra LOOK;\n"
           "LOOKED:\n"
           "bar.sync 0;\n");
}

/* All threads write out what was noted. */
static void write_out(struct kernel_text *k)
{
    ptx(k, "mov.u32 %i, %me;\n"
           "COPY:\n"
           "setp.ge.u32 %more, %i, %wanted;\n"
           "@%more bra COPIED;\n"
           "mad.lo.u32 %x, %i, 4, %notes;\n"
           "ld.shared.u32 %y, [%x];\n"
           "mad.wide.u32 %next, %i, 4, %out;\n"
           "st.global.cg.u32 [%next], %y;\n"
           "mov.u32 %x, %ntid.x;\n"
           "add.u32 %i, %i, %x;\n"
           "bra COPY;\n"
           "COPIED:\n"
           "bar.sync 0;\n");
}

/* Of an SM's own cache: lines are drawn anew for each trial, and what was noted
 * is written out at once, since shared memory may be of its storage.  Trial 0
 * is one load and one look, and brings the code in. */
static void write_own_trials(struct kernel_text *k, const struct overfill *o)
{
    ptx(k, "mov.u32 %trial, 0;\n"
           "mov.u32 %all, %members;\n"
           "mov.u32 %all_looks, %looks;\n"
           "mov.u32 %members, 1;\n"
           "mov.u32 %looks, 1;\n"
           "TRIAL:\n"
           "mov.u32 %wanted, %looks;\n");
    write_draw(k);
    write_choice(k, o);
    write_fill(k, o);
    write_looks(k, o);
    write_out(k);
    ptx(k, "setp.gt.u32 %more, %trial, %settle;\n"
           "@%more mad.wide.u32 %out, %looks, 4, %out;\n"
           "mov.u32 %members, %all;\n"
           "mov.u32 %looks, %all_looks;\n"
           "add.u32 %trial, %trial, 1;\n"
           "setp.le.u32 %more, %trial, %trials;\n"
           "@%more bra TRIAL;\n");
}

/* Of what SMs share: lines are drawn once, and those that will be looked at are
 * chosen before all trials, each for one of them, so that nothing tells them
 * from others but chance; and what was noted takes no room there until the end.
 */
static void write_shared_trials(struct kernel_text *k, const struct overfill *o)
{
    ptx(k, "mov.u32 %trial, 1;\n"
           "sub.u32 %wanted, %trials, %settle;\n"
           "mul.lo.u32 %wanted, %wanted, %looks;\n");
    write_draw(k);
    write_choice(k, o);
    write_meeting(k, "READY");
    ptx(k, "TRIAL:\n"
           "setp.gt.u32 %more, %trial, %fills;\n"
           "@%more bra FULL;\n");
    write_fill(k, o);
    write_meeting(k, "FILLED");
    ptx(k, "FULL:\n"
           "setp.le.u32 %more, %trial, %settle;\n"
           "@%more bra SETTLED;\n");
    write_looks(k, o);
    write_meeting(k, "SEEN");
    ptx(k, "SETTLED:\n"
           "add.u32 %trial, %trial, 1;\n"
           "setp.le.u32 %more, %trial, %trials;\n"
           "@%more bra TRIAL;\n");
    write_out(k);
    ptx(k, "mad.wide.u32 %out, %wanted, 4, %out;");
}

/* The longest span of all threads, the whole of it, and that the SM is done. */
static void write_end(struct kernel_text *k)
{
    ptx(k, "@!%other st.shared.u32 [pool+8], %longest;\n"
           "bar.sync 0;\n"
           "atom.shared.max.u32 %gap, [pool+8], %longest;\n"
           "bar.sync 0;\n"
           "@%other ret;\n"
           "ld.shared.u32 %longest, [pool+8];\n"
           "add.u64 %out, %out, 7;\n"
           "and.b64 %out, %out, -8;\n"
           "mov.u32 %gap, %clock;\n"
           "sub.u32 %gap, %gap, %began;\n"
           "mov.b64 %words, {%longest, %gap};\n"
           "st.global.u64 [%out], %words;\n"
           "mov.u64 %words, 1;\n"
           "st.global.u64 [%out+8], %words;\n");
}

static void overfill_kernel(const struct experiment *e,
                            const struct device_info *info, struct buf *out)
{
    const struct overfill *const o = e->own;
    struct kernel_text k;
    kernel_begin(&k, out, device_cc(info), .name = "overfill",
                 .parameters = PIN_PARAMETERS,
                 .variables =
                     o->space->memory == MEMORY_CONSTANT ? PIN_VARIABLES
                         ".visible .const .align 256 .b8 bank[65536];\n\n"
                                                         : PIN_VARIABLES);
    pin_opening(&k, JOB_WORDS * 8);
    declare(&k, o);
    ptx_with(&k,
             "mov.u32 %longest, 0;\n"
             "mov.u32 %began, %clock;\n"
             "mov.u32 %want, 0;\n"
             "mov.u32 %notes, pool;\n"
             "add.u32 %notes, %notes, $pool;\n",
             WORD(pool, PIN_POOL));
    if (o->together)
        write_shared_trials(&k, o);
    else
        write_own_trials(&k, o);
    write_end(&k);
    kernel_end(&k);
}

/* ---- the launch -------------------------------------------------------- */

struct flood {
    const struct overfill *o;
    struct pin pin;
    struct texture texture;
    uint64_t base, homes, seed;
    uint64_t begin, trials; /* of a launch */
    uint64_t *keys;         /* the looks so far */
    size_t key_count;
    uint64_t jobs[SMS_MOST][JOB_WORDS];
};

/* From one that is looked at to the next: the golden section, so that any few
 * are spread evenly, and no one comes twice. */
static uint64_t look_step(const struct overfill *o)
{
    const uint64_t all = looked_at(o);
    uint64_t step = (uint64_t)(0.6180339887 * (double)all) | 1;
    while (u64_gcd(all, step) != 1)
        step += 2;
    return step % all;
}

/* No multiples of one number: those would be looks at a few places at times. */
static uint32_t luck_of(size_t sm)
{
    struct rng rng;
    rng_seed(&rng, sm);
    return (uint32_t)rng_below(&rng, UINT32_MAX);
}

/* Of an SM in that launch of those in a row. */
static void write_job(struct flood *f, size_t run, size_t i)
{
    const struct overfill *const o = f->o;
    const uint64_t threads = LANES * o->warps, step = look_step(o);
    const unsigned bits = (unsigned)__builtin_ctzll(lines_of(o));
    const uint64_t sharers = o->together ? o->count : 1;
    const uint64_t own = o->together ? i : 0;
    uint64_t *const job = f->jobs[run * o->count + i];
    job[JOB_BASE] = f->base;
    job[JOB_TEXTURE] = f->texture.object;
    job[JOB_OUT] = pin_out(&f->pin, run * o->count + i);
    job[JOB_COUNTER] = pin_counter(&f->pin, run);
    job[JOB_BLOCKS] = sharers;
    job[JOB_MASK] = lines_of(o) - 1;
    job[JOB_HIGH] = bits / 2 + 1;
    job[JOB_LOW] = (bits + 1) / 2;
    job[JOB_STRIDE] = o->stride;
    job[JOB_BESIDE] = o->beside;
    job[JOB_LEAD] = o->lead;
    job[JOB_HOMES] = f->homes;
    job[JOB_MEMBERS] = o->members;
    job[JOB_FIRST] = own * threads;
    job[JOB_STEP] = sharers * threads;
    job[JOB_LOOKS] = o->looks;
    job[JOB_LOOK_FIRST] = own * step % looked_at(o);
    job[JOB_LOOK_STEP] = sharers * step % looked_at(o);
    job[JOB_LOOKED_AT] = looked_at(o);
    job[JOB_SEED] = (uint32_t)(f->seed + (o->together ? 0 : i) +
                               (f->begin + run) * (o->count + 1));
    job[JOB_SEED_STEP] = o->count + 1;
    job[JOB_TRIALS] = f->trials + o->settle;
    job[JOB_SETTLE] = o->settle;
    job[JOB_IN_A_ROW] = o->fills > 0 ? 1 : o->looks;
    job[JOB_LUCK] = o->fills > 0 ? luck_of(i) : 0;
    job[JOB_FILLS] = o->fills > 0 ? o->fills : f->trials + o->settle;
}

static int place(struct prober *prober, struct flood *f, struct error *err)
{
    const struct overfill *const o = f->o;
    const struct homes *const h = &o->homes;
    if (o->space->memory == MEMORY_GLOBAL &&
        prober_buffer(prober, BUFFER_RING,
                      h->bits > 0 ? h->pages * HOMES_PAGE : o->bytes, &f->base,
                      err) != 0)
        return err->code;
    if (h->bits > 0 &&
        (prober_buffer(prober, BUFFER_LINKS, HOMES_BYTES, &f->homes, err) !=
             0 ||
         prober_send(prober, BUFFER_LINKS, h->table, HOMES_BYTES, err) != 0))
        return err->code;
    return o->space->texture
               ? device_texture_open(prober_device(prober), f->base, o->bytes,
                                     &f->texture, err)
               : 0;
}

/* By quarter and cycles, so many bits at a time: of half a million looks
 * quicker than by comparing. */
static void sort_keys(uint64_t *keys, size_t count)
{
    enum { DIGIT = 12, DIGITS = 3 };
    static_assert(DIGIT * DIGITS >= 34, "quarters, and 32 bits of cycles");
    uint64_t *const sorted = xcalloc(count + 1, sizeof *sorted);
    for (unsigned shift = 0; shift < DIGIT * DIGITS; shift += DIGIT) {
        size_t at[(1 << DIGIT) + 1] = {0};
        for (size_t i = 0; i < count; i++)
            at[(keys[i] >> shift) % (1 << DIGIT) + 1]++;
        for (size_t i = 1; i <= 1 << DIGIT; i++)
            at[i] += at[i - 1];
        for (size_t i = 0; i < count; i++)
            sorted[at[(keys[i] >> shift) % (1 << DIGIT)]++] = keys[i];
        memcpy(keys, sorted, count * sizeof *keys);
    }
    free(sorted);
}

static void add_rows(struct samples *samples, const uint64_t *keys,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const bool same = i > 0 && keys[i] == keys[i - 1];
        int64_t *const row =
            same ? samples->data + (samples->rows - 1) * samples->columns
                 : samples_row(samples);
        row[COLUMN_QUARTER] = (int64_t)(keys[i] >> 32);
        row[COLUMN_CYCLES] = (int64_t)(keys[i] & UINT32_MAX);
        row[COLUMN_COUNT]++;
    }
}

/* The looks of launches in a row, behind those of the ones before. */
static void take_looks(struct prober *prober, struct flood *f,
                       const uint64_t *words)
{
    const struct overfill *const o = f->o;
    const size_t each = f->trials * o->looks;
    for (size_t i = 0; i < f->pin.runs * o->count; i++) {
        const uint64_t *const own = words + i * f->pin.words_each;
        prober_watched(prober, own[(each + 1) / 2]);
        for (size_t k = 0; k < each; k++) {
            const uint64_t quarter = QUARTERS * (k % o->looks) / o->looks;
            const uint64_t cycles = own[k / 2] >> 32 * (k % 2) & UINT32_MAX;
            if (cycles > 0)
                f->keys[f->key_count++] = quarter << 32 | cycles;
        }
    }
}

/* What a simulated GPU takes for a load on a host that is busy; a real one
 * takes less by far. */
static const double s_of_load = 2e-6, deadline_least = 10;

/* Of SMs that do not share the members each loads all. */
static double deadline_of(const struct flood *f, size_t runs)
{
    const struct overfill *const o = f->o;
    const uint64_t each = o->members * (o->beside > 0 ? 2 : 1);
    const uint64_t loads =
        each * (f->trials + o->settle) * runs * (o->together ? 1 : o->count);
    return fmax(deadline_least, s_of_load * (double)loads);
}

/* Trials from `begin` on, in so many launches. */
static int flood_launch(struct prober *prober, const struct experiment *e,
                        struct flood *f, size_t runs, struct error *err)
{
    f->pin.words_each = (f->trials * f->o->looks + 1) / 2 + 2;
    f->pin.runs = runs;
    f->pin.deadline_s = deadline_of(f, runs);
    if (pin_place(prober, &f->pin, err) != 0)
        return err->code;
    for (size_t run = 0; run < runs; run++)
        for (size_t i = 0; i < f->o->count; i++)
            write_job(f, run, i);
    uint64_t *const words = pin_run(prober, e, &f->pin, err);
    if (words != NULL)
        take_looks(prober, f, words);
    free(words);
    return err->code;
}

/* A cache that is to be empty is so when a launch begins: so many are made in a
 * row, or each would wait for its turn beside another process. */
enum { RUNS_MOST = 16 };

static size_t runs_from(const struct flood *f, uint64_t end)
{
    const size_t room = SMS_MOST / f->o->count;
    return f->o->fresh ? u64_within(1, end - f->begin,
                                    room < RUNS_MOST ? room : RUNS_MOST)
                       : 1;
}

static int flood_run(struct prober *prober, const struct experiment *e,
                     struct flood *f, struct error *err)
{
    const uint64_t trials = f->o->trials;
    const uint64_t end = experiment_piece_end(e, trials);
    f->begin = experiment_piece_begin(e, trials);
    f->trials = f->o->fresh ? 1 : end - f->begin;
    f->keys =
        xcalloc(f->o->count * (end - f->begin) * f->o->looks, sizeof *f->keys);
    int status = place(prober, f, err);
    while (status == 0 && f->begin < end) {
        const size_t runs = runs_from(f, end);
        status = flood_launch(prober, e, f, runs, err);
        f->begin += runs * f->trials;
    }
    return status;
}

static int overfill_once(struct prober *prober, const struct experiment *e,
                         struct samples *samples, struct error *err)
{
    const struct overfill *const o = e->own;
    struct flood *const f = xcalloc(1, sizeof *f);
    f->o = o;
    f->seed = experiment_seed(e);
    f->pin = (struct pin){.count = o->count,
                          .sms = o->set,
                          .jobs = f->jobs,
                          .job_bytes = JOB_WORDS * 8,
                          .threads = LANES * o->warps,
                          .shared_bytes = shared_bytes(o),
                          .carve_out = (int)o->carve};
    const int status = flood_run(prober, e, f, err);
    sort_keys(f->keys, f->key_count);
    if (status == 0)
        add_rows(samples, f->keys, f->key_count);
    if (f->texture.object != 0)
        device_texture_close(prober_device(prober), &f->texture);
    free(f->keys);
    free(f);
    return status;
}

/* Each piece settles anew; so many that this doubles the loads at most. */
static unsigned overfill_pieces(const struct experiment *e)
{
    const struct overfill *const o = e->own;
    const uint64_t most = o->settle > 0 ? 2 + o->trials / o->settle : o->trials;
    return (unsigned)u64_min(most, o->trials);
}

static const char *overfill_sound(const struct experiment *e,
                                  const struct rows *rows)
{
    (void)e;
    const char *const why = rows_are_below(rows, COLUMN_COUNT, UINT32_MAX);
    return why != NULL ? why : rows_are_below(rows, COLUMN_QUARTER, QUARTERS);
}

/* A run gives many samples: it is not repeated. */
const struct probe probe_overfill = {
    .name = "overfill",
    .what = "which of many lines are still there after all were loaded",
    .params = overfill_params,
    .bytes = sizeof(struct overfill),
    .columns = TEXTS("quarter", "cycles", "count"),
    .figure_column = COLUMN_CYCLES,
    .repeats_least = 1,
    .repeats_most = 1,
    .prepare = overfill_prepare,
    .kernel = overfill_kernel,
    .once = overfill_once,
    .pieces = overfill_pieces,
    .join = samples_append,
    .sound = overfill_sound,
};
