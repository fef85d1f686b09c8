#include "probe/walk/pointer_chase.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "probe/run/pin.h"
#include "probe/run/shot.h"
#include "probe/walk/touch.h"

const char *const pointer_chase_ops[] = {"default", "ca", "cg", "cs",
                                         "lu",      "cv", NULL};
const char *const pointer_chase_sweep_ops[] = {"same", "ca", "cg", "cs",
                                               "lu",   "cv", NULL};
const char *const pointer_chase_orders[] = {"sequential", "random", NULL};

/* Every GPU has as many constants for a module, and so much local memory for a
 * thread (CUDA C++ Programming Guide, technical specifications). */
enum { CONSTANT_BYTES = 64 * 1024, LOCAL_BYTES_MOST = 512 * 1024 };
enum { LOCAL_BYTES_LEAST = 4096 };

static int check_ops(const struct pointer_chase *w, struct error *err)
{
    const char *const ops[] = {w->op, w->sweep_op};
    for (size_t i = 0; i < COUNT_OF(ops); i++)
        if (strcmp(ops[i], "default") != 0 && strcmp(ops[i], "same") != 0 &&
            !space_has_op(w->space, ops[i]))
            return error_set(err, ERR_USAGE, "space=%s has no operator %s",
                             w->space->name, ops[i]);
    return 0;
}

/* How far apart in the caches two elements are at least. */
static unsigned granularity(const struct pointer_chase *w)
{
    return w->space->pointer_bytes * w->space->spread;
}

static int check_plan(const struct pointer_chase *w, struct error *err)
{
    const struct ring_plan *const p = &w->plan;
    if (p->stride % granularity(w) != 0)
        return error_set(err, ERR_USAGE,
                         "stride=%" PRIu64 " is not a multiple of the %u bytes "
                         "of a pointer in space=%s",
                         p->stride, granularity(w), w->space->name);
    if (w->shift % granularity(w) != 0)
        return error_set(err, ERR_USAGE,
                         "shift is not a multiple of the %u bytes of a pointer",
                         granularity(w));
    if (p->list.count == 0 && p->bytes < p->stride)
        return error_set(err, ERR_USAGE, "bytes is smaller than stride");
    if (p->lead > 0 && RING_LEAD_OFFSET % granularity(w) != 0)
        return error_set(err, ERR_USAGE,
                         "lead goes with elements that can be %d bytes apart, "
                         "which those of space=%s cannot",
                         RING_LEAD_OFFSET, w->space->name);
    return 0;
}

static int check_list(const struct pointer_chase *w, struct error *err)
{
    const struct ring_plan *const p = &w->plan;
    for (size_t i = 0; i < p->list.count; i++)
        if ((p->list.at[i].start | p->list.at[i].step) % granularity(w) != 0)
            return error_set(err, ERR_USAGE,
                             "list has offsets that are not multiples of the "
                             "%u bytes of a pointer",
                             granularity(w));
    for (size_t i = 0; i < p->list.count; i++)
        if (p->list.at[i].count > 1 && p->list.at[i].step == 0)
            return error_set(err, ERR_USAGE,
                             "list visits one element several times: a step "
                             "is 0");
    if (p->list.count > 0 && w->sms > 1)
        return error_set(err, ERR_USAGE, "list goes with one SM");
    return 0;
}

/* True if the ring lies where only the block or the thread can link it. */
static bool is_linked_inside(const struct pointer_chase *w)
{
    return w->space->memory == MEMORY_SHARED ||
           w->space->memory == MEMORY_LOCAL;
}

static int check_memory(const struct pointer_chase *w, struct error *err)
{
    if ((w->sweep > 0 || w->flush > 0) && w->space->load_word == NULL &&
        w->space->memory != MEMORY_SHARED)
        return error_set(err, ERR_USAGE,
                         "sweep and flush go with global memory and not with "
                         "space=%s; warm=1 fills its caches",
                         w->space->name);
    if (w->shift > 0 && w->space->memory == MEMORY_LOCAL)
        return error_set(err, ERR_USAGE, "space=%s has no shift",
                         w->space->name);
    if (w->place != PLACE_OWN &&
        (w->space->memory != MEMORY_GLOBAL || w->space->texture))
        return error_set(err, ERR_USAGE, "memory=%s goes with space=global",
                         prober_reached[w->place]);
    return 0;
}

static int check(const struct pointer_chase *w, struct error *err)
{
    if (check_ops(w, err) != 0 || check_plan(w, err) != 0 ||
        check_list(w, err) != 0 || check_memory(w, err) != 0)
        return err->code;
    return 0;
}

int pointer_chase_prepare(struct experiment *e, const struct device_info *info,
                          uint64_t reach, struct error *err)
{
    struct pointer_chase *const w = e->own;
    /* A sweep wants many loads in flight. */
    w->threads = device_block_threads(info, 256);
    w->threads_most = device_block_threads(info, 1024);
    w->space = space_find(w->space_name);
    w->plan.seed = experiment_seed(e);
    /* Loads come in 64s: some more than asked for. */
    if (w->warm == 0 && w->visits > 0)
        w->plan.most = reach * (w->visits + 64);
    return check(w, err);
}

/* ---- the kernel ------------------------------------------------------- */

/* Bytes of constants that a module may have: what is reported, else what every
 * GPU has. */
static uint64_t constant_bytes(const struct device_info *info)
{
    const int64_t told = info->value[PROPERTY_CONSTANT_BYTES];
    return told >= 0 && told < CONSTANT_BYTES ? (uint64_t)told : CONSTANT_BYTES;
}

/* The thread's own array.  Drivers reserve it for every thread that an SM can
 * hold; small ones are alike, so that few kernels do for many sizes. */
static uint64_t local_bytes(const struct pointer_chase *w)
{
    const uint64_t bytes = pointer_chase_region(w) / w->space->spread;
    return bytes > LOCAL_BYTES_LEAST ? bytes : LOCAL_BYTES_LEAST;
}

void pointer_chase_load(struct kernel_text *k, unsigned copy,
                        const void *context)
{
    (void)copy;
    const struct pointer_chase *const w = context;
    if (w->space->indexed)
        ptx_with(k, "mad.lo.u32 %ptr, %ptr, $pointer_bytes, %memory;",
                 WORD(pointer_bytes, w->space->pointer_bytes));
    space_load(k, w->space->load, w->op, "%ptr", "%ptr");
}

/* ---- the watch --------------------------------------------------------- */

/* So many loads between two reads of the clock.  What was read is looked at
 * right before the next, so that nothing waits for it. */
enum { WATCHED = 32 };

static void read_clock(struct kernel_text *k)
{
    ptx(k, "mov.u64 %now, %clock64;");
}

static void mark_read(struct kernel_text *k)
{
    ptx(k, "cvt.u32.u64 %low, %now;");
    pin_mark(k, "%low");
}

void pointer_chase_watched(struct kernel_text *k, unsigned copy,
                           const void *walk)
{
    pointer_chase_load(k, copy, walk);
    if (copy % WATCHED > 0)
        return;
    mark_read(k);
    read_clock(k);
}

static void begin_watch(struct kernel_text *k)
{
    ptx(k, ".reg .b64 %now;\n"
           ".reg .b32 %low, %began, %last, %gap, %longest;\n"
           "mov.u32 %longest, 0;\n");
    read_clock(k);
    ptx(k, "cvt.u32.u64 %last, %now;\n"
           "mov.u32 %began, %last;\n");
}

void pointer_chase_mark_now(struct kernel_text *k)
{
    mark_read(k);
    read_clock(k);
    mark_read(k);
}

void pointer_chase_watch_word(struct kernel_text *k, const char *into)
{
    ptx_with(k,
             "sub.u32 %gap, %last, %began;\n"
             "mov.b64 $into, {%longest, %gap};\n",
             WORD(into, into));
}

/* ---- sweeps ------------------------------------------------------------ */

enum { SWEEP_UNROLL = 4 };

/* True if several warps make brisk laps. */
static bool is_brisk_by_many(const struct pointer_chase *w)
{
    return w->space->memory == MEMORY_GLOBAL;
}

/* A chase wants company least of all. */
static unsigned threads_of(const struct experiment *e)
{
    const struct pointer_chase *const w = e->own;
    if (e->piece.brisk &&
        (w->sweep > 0 || w->flush > 0 || (w->warm > 0 && is_brisk_by_many(w))))
        return w->threads_most;
    return w->flush == 0 && w->sweep == 0 ? 32 : w->threads;
}

/* A flush strides like the ring, as far as no line is left out (32 B is the
 * smallest there is) and no time is wasted (128 B the largest). */
static uint64_t flush_stride(const struct pointer_chase *w)
{
    const uint64_t stride = w->plan.stride;
    return stride < 32 ? 32 : stride > 128 ? 128 : stride;
}

/* All threads of the block load one word of each %stride of [%at, %end). */
static void sweep_range(struct kernel_text *k, const struct experiment *e,
                        const char *op, const char *label)
{
    const struct pointer_chase *const w = e->own;
    ptx_with(k,
             "cvt.u64.u32 %next, %me;\n"
             "mad.lo.u64 %at, %next, %stride, %at;\n"
             "mul.lo.u64 %stride, %stride, $threads;\n"
             "$label:\n",
             WORD(threads, threads_of(e)), WORD(label, label));
    read_clock(k);
    for (int i = 0; i < SWEEP_UNROLL; i++) {
        ptx_with(k, "setp.lt.u64 %in$i, %at, %end;", WORD(i, i));
        char word[32], guarded[160];
        snprintf(word, sizeof word, "%%word%d", i);
        snprintf(guarded, sizeof guarded, "@%%in%d %s", i, w->space->load_word);
        space_load(k, guarded, op, word, "%at");
        ptx(k, "add.u64 %at, %at, %stride;");
    }
    ptx_times(k, SWEEP_UNROLL, "xor.b32 %sink, %sink, %word$i;");
    mark_read(k);
    ptx_with(k,
             "setp.lt.u64 %again, %at, %end;\n"
             "@%again bra $label;\n",
             WORD(label, label));
}

static const char *sweep_op(const struct pointer_chase *w)
{
    return strcmp(w->sweep_op, "same") == 0 ? w->op : w->sweep_op;
}

static void sweep_declarations(struct kernel_text *k)
{
    ptx(k, ".reg .b64 %next, %end, %stride, %times, %range, %ranges;");
    ptx_times(k, SWEEP_UNROLL,
              ".reg .pred %in$i;\n"
              ".reg .b32 %word$i;\n"
              "mov.u32 %word$i, 0;\n");
    ptx(k, "mov.u32 %sink, 0;");
}

static void flush_and_sweep(struct kernel_text *k, const struct experiment *e)
{
    const struct pointer_chase *const w = e->own;
    sweep_declarations(k);
    if (w->flush > 0) {
        ptx_note(k, "other memory, to empty the caches of the ring");
        pin_job_word(k, "%at", JOB_FLUSH);
        pin_job_word(k, "%end", JOB_FLUSH_BYTES);
        ptx_with(k,
                 "add.u64 %end, %end, %at;\n"
                 "mov.u64 %stride, $stride;\n",
                 WORD(stride, flush_stride(w)));
        sweep_range(k, e, w->op, "FLUSH");
    }
    if (w->sweep > 0) {
        ptx_note(k, "the ring's ranges, to fill them");
        pin_job_word(k, "%times", JOB_SWEEPS);
        ptx(k, "SWEEPS:");
        pin_job_word(k, "%range", JOB_SWEEP);
        pin_job_word(k, "%ranges", JOB_SWEEP_RANGES);
        ptx(k, "RANGE:\n"
               "ld.global.cg.u64 %at, [%range];\n"
               "ld.global.cg.u64 %end, [%range+8];\n"
               "ld.global.cg.u64 %stride, [%range+16];\n");
        sweep_range(k, e, sweep_op(w), "SWEEP");
        ptx(k, "add.u64 %range, %range, 24;\n"
               "sub.u64 %ranges, %ranges, 1;\n"
               "setp.ne.u64 %again, %ranges, 0;\n"
               "@%again bra RANGE;\n"
               "sub.u64 %times, %times, 1;\n"
               "setp.ne.u64 %again, %times, 0;\n"
               "@%again bra SWEEPS;\n");
    }
    ptx(k, "// a use of what was loaded, so that it is loaded\n"
           "setp.eq.u32 %again, %sink, 0x5eed5eed;\n"
           "@%again st.shared.u32 [pool+8], %sink;\n");
}

/* ---- brisk laps -------------------------------------------------------- */

/* Loads that the thread still makes alone, in their order, where there is no
 * room for a lap: some hundred microseconds from L2. */
enum { BRISK_LAST = 1024, BRISK_UNROLL = 8, BRISK_LANES = 32 };

static uint64_t brisk_last(const struct experiment *e, size_t elements)
{
    return (double)elements <= e->piece.room ? elements : BRISK_LAST;
}

/* Other warps may have a texture cache of their own: copies go by the warp's
 * scheduler, of which an SM has one, two or four.  All that sweep make laps
 * where that fills the cache. */
static unsigned brisk_warps_apart(const struct pointer_chase *w)
{
    return w->sweep > 0 || strcmp(w->space->name, "global") == 0 ? 1 : 4;
}

/* That share the work.  In local memory words of the warp's lanes lie side by
 * side, and the first eight bring in what the first of them needs; no sector is
 * smaller.  Lanes that walk together each make laps of their own. */
static unsigned brisk_lanes(const struct pointer_chase *w)
{
    return w->lanes > 1                       ? 1
           : w->space->memory == MEMORY_LOCAL ? 8
           : is_brisk_by_many(w)
               ? (unsigned)u64_max(w->threads_most / brisk_warps_apart(w),
                                   BRISK_LANES)
               : BRISK_LANES;
}

/* True if the caches of the ring are filled by loads. */
static bool is_brisk(const struct experiment *e, size_t elements)
{
    const struct pointer_chase *const w = e->own;
    return e->piece.brisk && w->space->memory != MEMORY_SHARED &&
           w->warm * elements > brisk_last(e, elements);
}

uint64_t pointer_chase_warm(const struct experiment *e, size_t elements)
{
    const struct pointer_chase *const w = e->own;
    return is_brisk(e, elements) ? brisk_last(e, elements) : w->warm * elements;
}

/* Where the walk begins, in elements. */
static uint64_t first_element(const struct experiment *e, uint64_t before,
                              size_t elements)
{
    const uint64_t back =
        is_brisk(e, elements) ? brisk_last(e, elements) % elements : 0;
    return (before + elements - back) % elements;
}

/* One of a turn of the loop: where its link is, and what that points to. */
static const char brisk_link[] =
    "setp.lt.u64 %brisk$i, %upcoming, %elements;\n"
    "add.u64 %place, %upcoming, %from;\n"
    "setp.ge.u64 %wraps, %place, %elements;\n"
    "@%wraps sub.u64 %place, %place, %elements;\n"
    "shl.b64 %place, %place, 4;\n"
    "add.u64 %place, %place, %links;\n"
    "mov.u32 %has$i, 0;\n"
    "@%brisk$i mov.u32 %has$i, 1;\n"
    "@%brisk$i ld.global.cg.u64 %link$i, [%place+8];\n"
    "add.u64 %upcoming, %upcoming, $brisk_lanes;\n";

/* What the link that came in points to. */
static const char brisk_follow_wide[] =
    "mov.u64 %goal$i, %link$i;\n"
    "setp.ne.u32 %due$i, %has$i, 0;\n";
static const char brisk_follow[] =
    "cvt.u32.u64 %goal$i, %link$i;\n"
    "add.u32 %goal$i, %goal$i, %memory;\n"
    "setp.ne.u32 %due$i, %has$i, 0;\n";

static void brisk_load(struct kernel_text *k, const struct pointer_chase *w,
                       unsigned i)
{
    char load[192], to[32];
    snprintf(to, sizeof to, "%%goal%u", i);
    snprintf(load, sizeof load, "@%%due%u %s", i, w->space->load);
    space_load(k, load, w->op, to, to);
}

static void brisk_declarations(struct kernel_text *k,
                               const struct pointer_chase *w)
{
    ptx_words(k, WORD(brisk_lanes, brisk_lanes(w)));
    ptx(k, ".reg .b64 %laps, %links, %elements, %from, %upcoming, %place;\n"
           ".reg .b$bits %seen;\n"
           ".reg .b32 %brisk_warp, %brisk_apart, %brisk_me;\n"
           ".reg .pred %wraps;\n"
           "mov.b$bits %seen, 0;\n");
    ptx_times(k, BRISK_UNROLL,
              ".reg .b64 %link$i;\n"
              ".reg .b$bits %goal$i;\n"
              ".reg .pred %brisk$i, %due$i;\n"
              ".reg .b32 %has$i;\n"
              "mov.u64 %link$i, 0;\n");
}

/* Numbers those who share the work; the others make no laps. */
static void brisk_choice(struct kernel_text *k, const struct pointer_chase *w)
{
    if (w->lanes > 1) {
        ptx(k, "mov.u32 %brisk_me, 0;\n"
               "setp.ge.u32 %again, %me, $lanes;\n"
               "@%again mov.u64 %laps, 0;\n");
        return;
    }
    ptx_with(k,
             "// warps so far apart, and their lanes in a row\n"
             "shr.u32 %brisk_warp, %me, 5;\n"
             "rem.u32 %brisk_apart, %brisk_warp, $apart;\n"
             "div.u32 %brisk_warp, %brisk_warp, $apart;\n"
             "and.b32 %brisk_me, %me, 31;\n"
             "mad.lo.u32 %brisk_me, %brisk_warp, 32, %brisk_me;\n"
             "setp.ge.u32 %again, %brisk_me, $brisk_lanes;\n"
             "@%again mov.u64 %laps, 0;\n"
             "setp.ne.u32 %again, %brisk_apart, 0;\n"
             "@%again mov.u64 %laps, 0;\n",
             WORD(apart, brisk_warps_apart(w)));
}

/* A warp, or several, load what the links point to; the next ones come in while
 * they do. */
static void brisk_laps(struct kernel_text *k, const struct pointer_chase *w)
{
    brisk_declarations(k, w);
    pin_job_word(k, "%laps", JOB_BRISK);
    pin_job_word(k, "%links", JOB_LINKS);
    pin_job_word(k, "%elements", JOB_LINK_COUNT);
    pin_job_word(k, "%from", JOB_BRISK_FROM);
    brisk_choice(k, w);
    ptx(k, "BRISK:\n"
           "setp.eq.u64 %again, %laps, 0;\n"
           "@%again bra BRISKED;\n"
           "cvt.u64.u32 %upcoming, %brisk_me;\n");
    ptx_times(k, BRISK_UNROLL, brisk_link);
    ptx(k, "LAP:");
    read_clock(k);
    ptx_times(k, BRISK_UNROLL,
              w->space->pointer_bytes == 8 ? brisk_follow_wide : brisk_follow);
    ptx_times(k, BRISK_UNROLL, brisk_link);
    for (unsigned i = 0; i < BRISK_UNROLL; i++)
        brisk_load(k, w, i);
    /* A use of what was loaded, so that it is loaded. */
    ptx_times(k, BRISK_UNROLL, "xor.b$bits %seen, %seen, %goal$i;");
    mark_read(k);
    ptx(k, "@%brisk0 bra LAP;\n"
           "sub.u64 %laps, %laps, 1;\n"
           "bra BRISK;\n"
           "BRISKED:\n"
           "setp.eq.s$bits %again, %seen, -1;\n"
           "@%again st.shared.u32 [pool+8], %me;\n");
}

/* ---- links ------------------------------------------------------------- */

/* Links that a thread is fetching at once. */
enum { LINK_UNROLL = 8 };

/* One of a turn of the loop. */
static const char fetch_link[] =
    "setp.lt.u64 %linked$i, %turn, %count;\n"
    "shl.b64 %ptr64, %turn, 4;\n"
    "add.u64 %ptr64, %ptr64, %at;\n"
    "@%linked$i ld.global.cg.u32 %element$i, [%ptr64];\n"
    "@%linked$i ld.global.cg.u32 %to$i, [%ptr64+8];\n"
    "add.u64 %turn, %turn, $linkers;\n";
static const char write_link[] =
    "add.u32 %to$i, %to$i, %memory;\n"
    "@%linked$i st.$linked.u32 [%element$i], %to$i;\n";
static const char write_index[] =
    "@%linked$i st.$linked.u32 [%element$i], %to$i;\n";

/* Shared and local memory have no address on the host: the block links the ring
 * itself.  In local memory each thread links its own, so that lines are written
 * as a whole: the rest of a sector that was written in part is fetched from
 * memory when it is read. */
static void link_inside(struct kernel_text *k, const struct pointer_chase *w)
{
    const bool local = w->space->memory == MEMORY_LOCAL;
    ptx_words(k, WORD(linkers, local ? 1 : 32),
              WORD(linked, local ? "local" : "shared"));
    ptx(k, ".reg .b64 %count, %turn;");
    ptx_times(k, LINK_UNROLL,
              ".reg .b32 %element$i, %to$i;\n"
              ".reg .pred %linked$i;\n");
    pin_job_word(k, "%at", JOB_LINKS);
    pin_job_word(k, "%count", JOB_LINK_COUNT);
    ptx(k, local ? "mov.u64 %turn, 0;" : "cvt.u64.u32 %turn, %me;");
    ptx(k, "LINK:");
    ptx_times(k, LINK_UNROLL, fetch_link);
    ptx_times(k, LINK_UNROLL, "add.u32 %element$i, %element$i, %memory;");
    ptx_times(k, LINK_UNROLL, w->space->indexed ? write_index : write_link);
    ptx(k, "setp.lt.u64 %again, %turn, %count;\n"
           "@%again bra LINK;\n");
}

static void first_pointer(struct kernel_text *k, const struct pointer_chase *w)
{
    if (w->space->pointer_bytes == 8) {
        pin_job_word(k, "%ptr", JOB_START);
        return;
    }
    pin_job_word(k, "%ptr64", JOB_START);
    ptx(k, "cvt.u32.u64 %ptr, %ptr64;");
    if (!w->space->indexed)
        ptx(k, "add.u32 %ptr, %ptr, %memory;");
}

/* What pointers count from.  The bank is all the constants that the module
 * has, and so begins at 0 of them, which the host's pointers rely on. */
static void find_memory(struct kernel_text *k, const struct pointer_chase *w)
{
    static const char *const names[] = {[MEMORY_GLOBAL] = "0",
                                        [MEMORY_SHARED] = "pool",
                                        [MEMORY_CONSTANT] = "bank",
                                        [MEMORY_LOCAL] = "mine"};
    ptx(k, ".reg .b32 %memory;");
    if (w->space->memory == MEMORY_LOCAL)
        ptx_with(k, ".local .align 16 .b8 mine[$local_bytes];",
                 WORD(local_bytes, local_bytes(w)));
    ptx_with(k, "mov.u32 %memory, $names;",
             WORD(names, names[w->space->memory]));
    if (w->space->memory == MEMORY_SHARED)
        ptx_with(k, "add.u32 %memory, %memory, $chase_pool_own;",
                 WORD(chase_pool_own, POINTER_CHASE_POOL_OWN));
    space_declare(k, w->space);
    if (w->space->texture)
        pin_job_word(k, "%texture", JOB_TEXTURE);
}

static void write_head(struct kernel_text *k, struct buf *out,
                       const struct experiment *e,
                       const struct device_info *info)
{
    const struct pointer_chase *const w = e->own;
    struct buf variables = {0};
    buf_text(&variables, PIN_VARIABLES);
    if (w->space->memory == MEMORY_CONSTANT)
        buf_printf(&variables, ".const .align 256 .b8 bank[%" PRIu64 "];\n",
                   constant_bytes(info));
    buf_text(&variables, "\n");
    kernel_begin(k, out, device_cc(info), .name = e->probe->name,
                 .parameters = PIN_PARAMETERS,
                 .variables = buf_string(&variables));
    buf_free(&variables);
}

void pointer_chase_begin(struct kernel_text *k, struct buf *out,
                         const struct experiment *e,
                         const struct device_info *info)
{
    const struct pointer_chase *const w = e->own;
    write_head(k, out, e, info);
    pin_opening(k, JOB_WORDS * 8);
    ptx_words(k, WORD(bits, 8 * w->space->pointer_bytes),
              WORD(lanes, w->lanes));
    ptx(k, ".reg .b32 %sink;\n"
           ".reg .b64 %ptr64;\n"
           ".reg .b$bits %ptr;\n");
    find_memory(k, w);
    if (is_linked_inside(w))
        link_inside(k, w);
    begin_watch(k);
    if (!is_linked_inside(w) && (w->flush > 0 || w->sweep > 0))
        flush_and_sweep(k, e);
    if (w->space->memory != MEMORY_SHARED && e->piece.brisk && w->warm > 0)
        brisk_laps(k, w);
    ptx(k, "bar.sync 0;");
    if (w->lanes > 1)
        ptx(k, "setp.ge.u32 %other, %me, $lanes;");
    ptx(k, "@%other ret;");
    first_pointer(k, w);
}

void pointer_chase_wait(struct kernel_text *k)
{
    /* No pointer and no index has all bits set. */
    ptx(k, "setp.eq.s$bits %again, %ptr, -1;\n"
           "@%again bra BROKEN;\n");
}

void pointer_chase_closing(struct kernel_text *k)
{
    ptx(k, "BROKEN:");
    kernel_end(k);
}

/* ---- the launch ------------------------------------------------------- */

/* Bytes from the start of a ring to the end of its last element. */
static uint64_t span_of(const struct pointer_chase *w)
{
    uint64_t span =
        w->plan.list.count == 0 ? w->plan.bytes + w->step * (w->sms - 1) : 0;
    for (size_t i = 0; i < w->plan.list.count; i++) {
        const struct segment *const s = &w->plan.list.at[i];
        const uint64_t end =
            s->start + s->step * (s->count - 1) + granularity(w);
        span = end > span ? end : span;
    }
    return span;
}

uint64_t pointer_chase_region(const struct pointer_chase *w)
{
    const uint64_t span = span_of(w);
    uint64_t region = 4096;
    while (region < span)
        region *= 2;
    return region;
}

/* The end of the last ring, from where the space's memory begins. */
static uint64_t ring_end(const struct pointer_chase *w)
{
    return w->shift + pointer_chase_region(w) * (w->sms - 1) + span_of(w);
}

/* Everything that one launch needs, on the host and on the device. */
struct stage {
    const struct experiment *experiment;
    const struct pointer_chase *walk;
    const struct pointer_chase_work *work;
    struct pin pin;
    uint64_t region, ring, flush, links_at;
    struct buf links; /* pairs, then ranges that are swept */
    size_t pairs;
    struct buf helper; /* the program of what goes ahead */
    struct pin_ahead ahead;
    struct touch touch;
    struct texture texture;
    uint64_t *jobs, *sms;
};

/* Where a byte of a slot's ring is: in global memory, among the constants, or
 * in the block's or the thread's own. */
static uint64_t element_at(const struct stage *s, uint64_t slot,
                           uint64_t offset)
{
    const struct pointer_chase *const w = s->walk;
    if (is_linked_inside(w))
        return offset / w->space->spread;
    return s->ring + w->shift + slot * s->region + offset;
}

/* What points to it, less %memory. */
static uint64_t pointer_to(const struct stage *s, uint64_t slot,
                           uint64_t offset)
{
    const struct pointer_chase *const w = s->walk;
    if (w->space->texture)
        return (element_at(s, slot, offset) - s->ring) / space_unit(w->space);
    return w->space->indexed ? offset / space_unit(w->space)
                             : element_at(s, slot, offset);
}

/* Appends (element, pointer) pairs of one ring. */
static void append_links(struct stage *s, uint64_t slot, const uint64_t *order,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t next = order[i + 1 < count ? i + 1 : 0];
        const uint64_t pair[2] = {element_at(s, slot, order[i]),
                                  pointer_to(s, slot, next)};
        buf_append(&s->links, pair, sizeof pair);
    }
}

/* Writes the pairs where they belong, on the device: a thread a pair, and pairs
 * for whole blocks, so that no thread need ask whether there is one for it.  It
 * goes ahead of the chase, which finds in L2 what was written; read before,
 * since L2 fetches the rest of a sector that was written in part when it is
 * read (H200, 2026-11: 660 cycles a load, not 280). */
enum { LINK_BYTES = 16 };

static void scatter_kernel(struct prober *prober, struct stage *s)
{
    struct kernel_text k;
    kernel_begin(&k, &s->helper, device_cc(prober_info(prober)),
                 .name = "scatter", .parameters = "links");
    ptx_with(&k,
             ".reg .b32 %block, %me, %word;\n"
             ".reg .b64 %links, %element, %to;\n"
             ".reg .pred %never;\n"
             "ld.param.u64 %links, [links];\n"
             "mov.u32 %block, %ctaid.x;\n"
             "mov.u32 %me, %tid.x;\n"
             "mad.lo.u32 %me, %block, $threads, %me;\n"
             "mad.wide.u32 %links, %me, $link, %links;\n"
             "ld.global.v2.u64 {%element, %to}, [%links];\n"
             "ld.global.cg.u32 %word, [%element];\n"
             "// a use of what was read, so that it is waited for\n"
             "setp.eq.u32 %never, %word, 0x5eed5eed;\n"
             "@%never membar.gl;\n",
             WORD(threads, s->walk->threads), WORD(link, LINK_BYTES));
    ptx(&k, s->walk->space->pointer_bytes == 8
                ? "st.global.u64 [%element], %to;"
                : "cvt.u32.u64 %word, %to;\n"
                  "st.global.u32 [%element], %word;\n");
    kernel_end(&k);
}

static void scatter_ahead(struct prober *prober, struct stage *s)
{
    scatter_kernel(prober, s);
    s->ahead = (struct pin_ahead){
        .ptx = &s->helper,
        .shot =
            {
                .kernel = "scatter",
                .blocks = (unsigned)(s->pairs / s->walk->threads),
                .threads = s->walk->threads,
                .carve_out = CARVE_OUT_DEFAULT,
                .args = &s->links_at,
                .arg_count = 1,
                .ahead = true,
            },
    };
    s->pin.ahead = &s->ahead;
}

/*
 * What kernels before left of their local memory stays in L1, and where hits
 * keep lines for long it takes half of the room (H200, 2026-11: of 256 KiB 128
 * are left, but for every fourth launch, whose warp has the same memory again).
 * An SM that gives its array to shared memory throws it out.
 */
static void empty_ahead(struct prober *prober, struct stage *s)
{
    const int64_t *const has = prober_info(prober)->value;
    const int64_t shared[] = {has[PROPERTY_BLOCK_SHARED],
                              has[PROPERTY_BLOCK_SHARED_OPTIN]};
    struct kernel_text k;
    kernel_begin(&k, &s->helper, device_cc(prober_info(prober)),
                 .name = "empty", .parameters = "");
    kernel_end(&k);
    s->ahead = (struct pin_ahead){
        .ptx = &s->helper,
        .shot = {.kernel = "empty",
                 .blocks = (unsigned)has[PROPERTY_SMS],
                 .threads = 1,
                 .shared_bytes = (uint64_t)(shared[1] > 0 ? shared[1]
                                                          : shared[0]),
                 .carve_out = 100,
                 .ahead = true},
    };
    s->pin.ahead = &s->ahead;
}

/* Repeats the last pair until they fill whole blocks. */
static void pad_links(struct buf *links, unsigned threads)
{
    char last[LINK_BYTES];
    memcpy(last, links->data + links->length - LINK_BYTES, LINK_BYTES);
    while (links->length % (LINK_BYTES * threads) != 0)
        buf_append(links, last, LINK_BYTES);
}

static int place_buffers(struct prober *prober, struct stage *s,
                         struct error *err)
{
    const struct pointer_chase *const w = s->walk;
    s->region = pointer_chase_region(w);
    if (w->space->memory == MEMORY_GLOBAL &&
        prober_buffer_at(prober,
                         w->place == PLACE_OWN ? BUFFER_RING : BUFFER_FAR,
                         w->place, w->shift + s->region * w->sms, &s->ring,
                         err) != 0)
        return err->code;
    if (w->flush > 0 &&
        prober_buffer(prober, BUFFER_FLUSH, w->flush, &s->flush, err) != 0)
        return err->code;
    return pin_place(prober, &s->pin, err);
}

static void fill_job(struct stage *s, uint64_t slot, const uint64_t *order,
                     size_t elements, size_t links_before)
{
    const struct pointer_chase *const w = s->walk;
    uint64_t *const job = s->jobs + slot * JOB_WORDS;
    const uint64_t first =
        first_element(s->experiment, s->work->before, elements);
    job[JOB_START] = pointer_to(s, slot, order[first]);
    job[JOB_BRISK] = is_brisk(s->experiment, elements) ? w->warm : 0;
    job[JOB_BRISK_FROM] = (first + elements - 1) % elements;
    job[JOB_BASE] = pointer_to(s, slot, 0);
    job[JOB_FLUSH] = s->flush;
    job[JOB_FLUSH_BYTES] = w->flush;
    job[JOB_SWEEPS] = w->sweep;
    job[JOB_LINKS] = s->links_at + links_before;
    job[JOB_LINK_COUNT] = elements;
    job[JOB_TEXTURE] = s->texture.object;
    job[JOB_OUT] = pin_out(&s->pin, slot);
    s->work->own(s->experiment, elements, job + JOB_OWN);
}

static void append_range(struct stage *s, uint64_t slot,
                         const struct segment *range)
{
    const uint64_t start = pointer_to(s, slot, 0) + range->start;
    const uint64_t words[] = {start, start + range->count * range->step,
                              range->step};
    buf_append(&s->links, words, sizeof words);
}

/* What a ring's sweep loads: its range, or those of the list. */
static void append_ranges(struct stage *s, uint64_t slot)
{
    const struct pointer_chase *const w = s->walk;
    const uint64_t bytes = w->plan.bytes + slot * w->step;
    const uint64_t stride = w->plan.stride;
    struct segment all = {0, (bytes + stride - 1) / stride, stride};
    const struct segments *const list = &w->plan.list;
    const struct segments ranges =
        list->count > 0 ? *list : (struct segments){&all, 1};
    uint64_t *const job = s->jobs + slot * JOB_WORDS;
    job[JOB_SWEEP] = s->links_at + s->links.length;
    job[JOB_SWEEP_RANGES] = ranges.count;
    for (size_t i = 0; i < ranges.count; i++)
        append_range(s, slot, &ranges.at[i]);
}

/* Builds all rings. */
static int build_rings(struct stage *s, struct pointer_chase_out *out,
                       struct error *err)
{
    const struct pointer_chase *const w = s->walk;
    for (uint64_t slot = 0; slot < w->sms; slot++) {
        struct ring_plan plan = w->plan;
        plan.bytes += slot * w->step;
        size_t count;
        uint64_t *const order = ring_order(&plan, &count);
        if (count == 0) {
            free(order);
            return error_set(err, ERR_USAGE, "the ring has no element");
        }
        fill_job(s, slot, order, count, s->links.length);
        append_links(s, slot, order, count);
        out->elements[slot] = count;
        free(order);
    }
    pad_links(&s->links, s->walk->threads);
    s->pairs = s->links.length / LINK_BYTES;
    for (uint64_t slot = 0; w->sweep > 0 && slot < w->sms; slot++)
        append_ranges(s, slot);
    return 0;
}

/* The caller frees. */
static unsigned char *bank_of(const struct stage *s, size_t bytes)
{
    unsigned char *const bank = xcalloc(1, bytes);
    const uint64_t *const pairs = (const void *)s->links.data;
    for (size_t i = 0; i < s->pairs; i++) {
        const uint32_t pointer = (uint32_t)pairs[2 * i + 1];
        memcpy(bank + pairs[2 * i], &pointer, sizeof pointer);
    }
    return bank;
}

/* Constants are written by the host alone; and only if they are others than
 * before.  That takes them out of L2, and so does another process. */
static int write_bank(struct prober *prober, const struct experiment *e,
                      struct stage *s, struct error *err)
{
    struct device *const d = prober_device(prober);
    const size_t bytes = (size_t)ring_end(s->walk);
    unsigned char *const bank = bank_of(s, bytes);
    unsigned char *const before = xcalloc(1, bytes);
    uint64_t at;
    int status = prober_symbol(prober, e, "bank", &at, err);
    if (status == 0)
        status = device_copy_out(d, before, at, bytes, err);
    if (status == 0 && memcmp(bank, before, bytes) != 0)
        status = device_copy_in(d, at, bank, bytes, err);
    if (status == 0) {
        touch_add(&s->touch, at, TOUCH_APART,
                  (bytes + TOUCH_APART - 1) / TOUCH_APART);
        status = touch_ahead(prober, &s->touch, &s->pin, err);
    }
    free(before);
    free(bank);
    return status;
}

static int upload_rings(struct prober *prober, const struct experiment *e,
                        struct stage *s, struct error *err)
{
    const uint64_t old = s->links_at;
    if (prober_buffer(prober, BUFFER_LINKS, s->links.length, &s->links_at,
                      err) != 0)
        return err->code;
    /* The jobs were filled before the size of the links was known. */
    for (uint64_t slot = 0; slot < s->walk->sms; slot++) {
        uint64_t *const job = s->jobs + slot * JOB_WORDS;
        job[JOB_LINKS] += s->links_at - old;
        job[JOB_SWEEP] += s->links_at - old;
    }
    int status =
        prober_send(prober, BUFFER_LINKS, s->links.data, s->links.length, err);
    if (s->walk->space->memory == MEMORY_GLOBAL)
        scatter_ahead(prober, s);
    if (s->walk->space->memory == MEMORY_LOCAL)
        empty_ahead(prober, s);
    if (status == 0 && s->walk->space->memory == MEMORY_CONSTANT)
        status = write_bank(prober, e, s, err);
    return status;
}

static int check_bounds(const struct pointer_chase *w,
                        const struct device_info *info, struct error *err)
{
    const int64_t width = info->value[PROPERTY_TEXTURE_WIDTH];
    const uint64_t end = ring_end(w);
    if (w->space->memory == MEMORY_CONSTANT && end > constant_bytes(info))
        return error_set(err, ERR_UNSUPPORTED,
                         "a ring that ends at %" PRIu64 " B does not fit into "
                         "the %" PRIu64 " B of constants of a module",
                         end, constant_bytes(info));
    if (w->space->memory != MEMORY_LOCAL && w->lanes > 1)
        return error_set(err, ERR_USAGE, "lanes walk over local memory only");
    if (w->space->memory == MEMORY_LOCAL && local_bytes(w) > LOCAL_BYTES_MOST)
        return error_set(err, ERR_UNSUPPORTED,
                         "a ring of %" PRIu64 " B takes more than the %d KiB "
                         "of local memory that a thread may have",
                         span_of(w), LOCAL_BYTES_MOST / 1024);
    if (w->space->texture && width > 0 && end / 4 > (uint64_t)width)
        return error_set(err, ERR_UNSUPPORTED,
                         "a ring that ends at texel %" PRIu64 " does not fit "
                         "into a texture of %" PRId64 " texels",
                         end / 4, width);
    return 0;
}

static void muster(struct stage *s)
{
    const struct pointer_chase *const w = s->walk;
    s->sms = xcalloc(w->sms, sizeof *s->sms);
    for (uint64_t i = 0; i < w->sms; i++)
        s->sms[i] = w->sm + i;
    s->jobs = xcalloc(w->sms * JOB_WORDS, 8);
    s->pin = (struct pin){
        .count = w->sms,
        .sms = s->sms,
        .jobs = s->jobs,
        .job_bytes = JOB_WORDS * 8,
        .words_each = s->work->words_each,
        .threads = threads_of(s->experiment),
        .shared_bytes = POINTER_CHASE_POOL_OWN + s->work->pool,
        .carve_out = w->carve == POINTER_CHASE_CARVE_DRIVER ? CARVE_OUT_DEFAULT
                                                            : (int)w->carve,
    };
}

/* The texture, the rings, the launch. */
static int run_stage(struct prober *prober, const struct experiment *e,
                     struct stage *s, struct pointer_chase_out *out,
                     struct error *err)
{
    const struct pointer_chase *const w = s->walk;
    if (w->space->texture &&
        device_texture_open(prober_device(prober), s->ring, ring_end(w),
                            &s->texture, err) != 0)
        return err->code;
    if (build_rings(s, out, err) != 0 || upload_rings(prober, e, s, err) != 0)
        return err->code;
    out->words = pin_run(prober, e, &s->pin, err);
    return err->code;
}

int pointer_chase_run(struct prober *prober, const struct experiment *e,
                      const struct pointer_chase_work *work,
                      struct pointer_chase_out *out, struct error *err)
{
    const struct pointer_chase *const walk = e->own;
    struct stage s = {.experiment = e, .walk = walk, .work = work};
    if (check_bounds(walk, prober_info(prober), err) != 0)
        return err->code;
    muster(&s);
    *out = (struct pointer_chase_out){
        .elements = xcalloc(walk->sms, sizeof *out->elements)};
    if (place_buffers(prober, &s, err) == 0)
        run_stage(prober, e, &s, out, err);
    if (s.texture.object != 0)
        device_texture_close(prober_device(prober), &s.texture);
    free(s.jobs);
    free(s.sms);
    buf_free(&s.links);
    buf_free(&s.helper);
    touch_free(&s.touch);
    if (err->code != 0)
        pointer_chase_done(out);
    return err->code;
}

/* Pieces of fewer visits than this take little less time; and each of them
 * waits for its turn. */
enum { PIECE_LEAST = 64, PIECES_MOST = 64 };

unsigned pointer_chase_pieces(uint64_t visits)
{
    const uint64_t pieces = u64_min(visits / PIECE_LEAST, PIECES_MOST);
    return pieces > 1 ? (unsigned)pieces : 1;
}

/* As many as the plan says, but for those that lead. */
static uint64_t elements_of(const struct pointer_chase *w)
{
    const struct ring_plan *const p = &w->plan;
    uint64_t count = 0;
    for (size_t i = 0; i < p->list.count; i++)
        count += p->list.at[i].count;
    if (count > 0)
        return count;
    return p->sample > 0 ? p->sample : p->bytes / p->stride;
}

uint64_t pointer_chase_loads(const struct experiment *e)
{
    const struct pointer_chase *const w = e->own;
    const uint64_t lap = elements_of(w);
    return w->warm * lap + (w->visits > 0 ? w->visits : lap);
}

bool pointer_chase_is_only_swept(const struct pointer_chase *w)
{
    return w->sweep > 0 && w->warm == 0;
}

void pointer_chase_done(struct pointer_chase_out *out)
{
    free(out->elements);
    free(out->words);
    *out = (struct pointer_chase_out){0};
}
