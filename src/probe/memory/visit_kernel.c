/*
 * The kernel of the probe `visit` (access_script.c): a loop for each kind of
 * load, in which threads take turns by the orders of a script.
 */
#include "probe/memory/visit_script.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/num.h"
#include "probe/memory/access_script.h"
#include "probe/run/functions.h"
#include "probe/run/pin.h"

/* Bytes of the variable of a space that the module itself must have. */
static uint64_t variable_bytes(const struct script *s, enum space_memory memory)
{
    uint64_t bytes = 64;
    for (size_t i = 0; i < s->step_count + s->between_count; i++) {
        const struct space *const space =
            s->reader[s->steps[i].reader].load.space;
        const uint64_t end = visit_end_of(&s->steps[i]);
        while (space->memory == memory && bytes < end / space->spread + UNIT)
            bytes *= 2;
    }
    return bytes;
}

static void declare(struct kernel_text *k, const struct script *s)
{
    ptx(k, ".reg .b32 %step, %steps, %kept, %count, %flags, %start, %stride, "
           "%who, %record, %order, %t0, %t1, %at32, %value, %self, %seen, "
           "%mover, %polls, %seed, %began, %last, %gap, %longest, %laps, "
           "%all;\n"
           ".reg .b64 %base, %table, %offset, %next, %out, %turn, %word, "
           "%address, %value64, %calls, %first;\n"
           ".reg .pred %mine, %keep, %more, %wait, %idle, %none;\n");
    if (visit_uses(s, MEMORY_CODE)) {
        pin_job_word(k, "%calls", JOB_CALLS);
        ptx(k, "mov.u32 %value, 0;");
    }
    bool textured = false;
    for (size_t i = 0; i < s->kinds; i++) {
        if (s->kind[i].space->texture && !textured)
            space_declare(k, s->kind[i].space);
        textured = textured || s->kind[i].space->texture;
    }
    if (textured)
        pin_job_word(k, "%texture", JOB_TEXTURE);
    homes_declare(k, &s->homes, JOB_HOMES);
    if (s->row > 0) {
        ptx(k, ".reg .b64 %row, %side;");
        pin_job_word(k, "%row", JOB_ROW);
    }
    if (visit_uses(s, MEMORY_LOCAL))
        ptx_with(k, ".local .align 16 .b8 own[$variable_bytes];",
                 WORD(variable_bytes, variable_bytes(s, MEMORY_LOCAL)));
}

/* All threads bring the orders to shared memory, past the first cache. */
static void fetch_orders(struct kernel_text *k)
{
    pin_job_word(k, "%base", JOB_BASE);
    pin_job_word(k, "%table", JOB_STEPS);
    pin_job_word(k, "%word", JOB_STEP_COUNT);
    ptx(k, "cvt.u32.u64 %steps, %word;");
    pin_job_word(k, "%turn", JOB_TURN);
    pin_job_word(k, "%word", JOB_SELF);
    ptx(k,
        "cvt.u32.u64 %self, %word;\n"
        "mov.u32 %step, %me;\n"
        "FETCH:\n"
        "setp.ge.u32 %again, %step, %steps;\n"
        "@%again bra FETCHED;\n"
        "mad.wide.u32 %next, %step, $bytes, %table;\n"
        "ld.global.cg.v4.u32 {%start, %stride, %count, %flags}, [%next];\n"
        "mov.u32 %order, pool;\n"
        "mad.lo.u32 %order, %step, $bytes, %order;\n"
        "st.shared.v4.u32 [%order+$pool], {%start, %stride, %count, %flags};\n"
        "mov.u32 %t0, %ntid.x;\n"
        "add.u32 %step, %step, %t0;\n"
        "bra FETCH;\n"
        "FETCHED:\n"
        "bar.sync 0;\n");
}

/* Begins an order of calls at its list, with the laps apart from the count. */
static void begin_calls(struct kernel_text *k, size_t number)
{
    ptx_with(k,
             "CALL$number:\n"
             "mul.wide.u32 %first, %start, 8;\n"
             "add.u64 %first, %calls, %first;\n"
             "mov.u64 %next, %first;\n",
             WORD(number, number));
}

/* Waits for the address, of which there is none where there is no code. */
static void next_call(struct kernel_text *k, size_t number)
{
    ptx_with(k,
             "ld.global.cg.u64 %address, [%next];\n"
             "setp.eq.u64 %none, %address, 0;\n"
             "@%none bra TIMED$number;\n",
             WORD(number, number));
}

static void next_lap(struct kernel_text *k, size_t number)
{
    ptx_with(k,
             "mov.u64 %next, %first;\n"
             "mov.u32 %count, %all;\n"
             "setp.ne.u32 %more, %laps, 0;\n"
             "sub.u32 %laps, %laps, 1;\n"
             "@%more bra READ$number;\n",
             WORD(number, number));
}

/* Factors of the rounds of a bijection of words of so many bits, each of which
 * first brings the upper half down: as good as any order. */
static const uint32_t factors[] = {0x9e3779b1, 0x85ebca6b, 0xc2b2ae35,
                                   0x27d4eb2f};

uint64_t access_script_address(uint64_t number,
                               const struct access_script_places *p)
{
    const uint32_t most = (uint32_t)(((uint64_t)1 << p->scramble) - 1);
    uint32_t x = (uint32_t)number;
    if (p->scramble + p->jitter == 0)
        return number * p->unit;
    const unsigned half = p->scramble / 2;
    for (size_t i = 0; p->scramble > 0 && i < COUNT_OF(factors); i++)
        x = ((x ^ x >> half) * factors[i]) & most;
    x = p->scramble > 0 ? x ^ x >> half : x;
    const uint32_t low = (x * 0x9e3779b1u >> 16) & ((1u << p->jitter) - 1);
    return x * p->apart + low * p->unit;
}

/* Places that are no fixed distance from one to the next. */
static bool are_numbered(const struct script *s)
{
    return s->scramble + s->jitter + s->skew + s->row > 0;
}

/* The same of number %start; what lies farther in a mapping begins later. */
static void write_row(struct kernel_text *k, const struct script *s)
{
    ptx_with(k,
             "and.b32 %t0, %start, $low;\n"
             "mul.wide.u32 %offset, %start, $unit;\n"
             "mul.wide.u32 %next, %t0, $skew;\n"
             "add.u64 %offset, %offset, %next;\n",
             WORD(low, s->piece / s->unit - 1), WORD(skew, s->skew));
}

/* Of numbers in the row another offset. */
static void write_side_by_side(struct kernel_text *k, const struct script *s)
{
    ptx_with(k,
             "setp.ge.u32 %none, %start, $first;\n"
             "sub.u32 %at32, %start, $first;\n"
             "and.b32 %t0, %at32, $low;\n"
             "mul.wide.u32 %next, %t0, $skew;\n"
             "add.u64 %next, %next, %row;\n"
             "mul.wide.u32 %side, %at32, $row;\n"
             "@%none add.u64 %offset, %side, %next;\n",
             WORD(first, ACCESS_SCRIPT_ROW),
             WORD(low, s->row < s->piece ? s->piece / s->row - 1 : 0),
             WORD(skew, ROW_SKEW), WORD(row, s->row));
}

static void write_scramble(struct kernel_text *k, const struct script *s)
{
    ptx_with(
        k, "shr.u32 %at32, %start, $shift;",
        WORD(shift, visit_is_strewn(s) ? __builtin_ctzll(s->apart / UNIT) : 0));
    for (size_t i = 0; s->scramble > 0 && i <= COUNT_OF(factors); i++) {
        ptx_with(k,
                 "shr.u32 %t0, %at32, $half;\n"
                 "xor.b32 %at32, %at32, %t0;\n",
                 WORD(half, s->scramble / 2));
        if (i < COUNT_OF(factors))
            ptx_with(k,
                     "mul.lo.u32 %at32, %at32, $factor;\n"
                     "and.b32 %at32, %at32, $most;\n",
                     WORD(factor, factors[i]),
                     WORD(most, ((uint64_t)1 << s->scramble) - 1));
    }
    ptx_with(k,
             "mul.lo.u32 %t0, %at32, 2654435761;\n"
             "shr.u32 %t0, %t0, 16;\n"
             "and.b32 %t0, %t0, $low;\n"
             "mul.wide.u32 %offset, %at32, $apart;\n"
             "mul.wide.u32 %next, %t0, $unit;\n"
             "add.u64 %offset, %offset, %next;\n",
             WORD(low, ((uint64_t)1 << s->jitter) - 1),
             WORD(unit, s->unit + s->skew));
}

/* The offset of number %start. */
static void write_number(struct kernel_text *k, const struct script *s)
{
    (s->scramble + s->jitter > 0 ? write_scramble : write_row)(k, s);
    if (s->row > 0)
        write_side_by_side(k, s);
}

/* Some turns of a loop before a load that is kept: what comes at a steady rate
 * would always meet the caches' clock at the same phase. */
static void write_wait(struct kernel_text *k, size_t number)
{
    ptx_with(k,
             "@!%keep bra WAITED$number;\n"
             "mad.lo.u32 %seed, %seed, 1664525, 1013904223;\n"
             "shr.u32 %t0, %seed, 29;\n"
             "WAIT$number:\n"
             "sub.u32 %t0, %t0, 1;\n"
             "setp.gt.s32 %more, %t0, 0;\n"
             "@%more bra WAIT$number;\n"
             "WAITED$number:\n",
             WORD(number, number));
}

static const char *next_visit(const struct script *s, bool calls)
{
    if (calls)
        return "add.u64 %next, %next, 8;";
    return are_numbered(s) ? "add.u32 %start, %start, %stride;"
                           : "add.u64 %offset, %offset, %word;";
}

/* ---- by a whole warp -------------------------------------------------- */

/* Where that is asked for, or little time is left, all lanes of the reader's
 * warp, or of several, make those steps at once of which no cycles are kept and
 * that visit so many places: the others are what is measured, or its order
 * matters.  So does all that is called.  Of several readers it must be asked
 * for: what one does at once changes what the others' loads cost (H200,
 * 2026-11: after 112 places by a warp of another SM a load cost a TLB's miss
 * more, by one lane nothing). */
enum { MANY_LEAST = 16, MANY_UNROLL = 4 };

static bool makes_many(const struct experiment *e)
{
    const struct script *const s = e->own;
    for (size_t i = 0; i < s->kinds; i++)
        if (s->kind[i].space->memory != MEMORY_GLOBAL)
            return false;
    return s->many > 0 || (e->piece.brisk && s->readers == 1);
}

/* Those of several warps, whoever the reader is. */
static unsigned lanes_of_many(const struct script *s)
{
    return LANES * (unsigned)u64_max(s->many, 1);
}

static void declare_many(struct kernel_text *k)
{
    ptx(k, ".reg .b32 %index, %sink;\n"
           ".reg .b64 %leap;\n"
           ".reg .pred %many;\n");
    ptx_times(k, MANY_UNROLL,
              ".reg .b32 %value$i;\n"
              ".reg .pred %in$i;\n"
              "mov.u32 %value$i, 0;\n");
}

/* Who is of the warp whose step it is, or of several, counts as the reader. */
static void choose_many(struct kernel_text *k, const struct script *s)
{
    ptx_with(k, "setp.ge.and.u32 %many, %count, $least, !%keep;",
             WORD(least, MANY_LEAST));
    if (s->many > 1)
        ptx_with(k, "@%many setp.ge.u32 %mine, %me, $lanes;",
                 WORD(lanes, lanes_of_many(s)));
    else
        ptx(k, "xor.b32 %t0, %who, %me;\n"
               "shr.u32 %t0, %t0, 5;\n"
               "@%many setp.ne.u32 %mine, %t0, 0;\n");
}

static void load_one_of_many(struct kernel_text *k, const struct script *s,
                             const struct kind *r, int i)
{
    char value[16], load[160];
    ptx_with(k, "setp.lt.u32 %in$i, %index, %count;", WORD(i, i));
    if (are_numbered(s))
        write_number(k, s);
    const char *const address = homes_address(k, &s->homes, r->space);
    snprintf(value, sizeof value, "%%value%d", i);
    snprintf(load, sizeof load, "@%%in%d %s", i, space_word_load(r->space));
    space_load(k, load, r->op, value, address);
    ptx_with(k,
             "add.u32 %index, %index, $lanes;\n"
             "$next\n",
             WORD(lanes, lanes_of_many(s)),
             WORD(next, are_numbered(s) ? "add.u32 %start, %start, %stride;"
                                        : "add.u64 %offset, %offset, %leap;"));
}

/* The loop of such a step. */
static void write_many(struct kernel_text *k, const struct script *s,
                       const struct kind *r, size_t number)
{
    ptx_with(k,
             "MANY$number:\n"
             "rem.u32 %index, %me, $lanes;\n"
             "mad.lo.u32 %start, %index, %stride, %start;\n"
             "mul.lo.u32 %stride, %stride, $lanes;\n"
             "cvt.u64.u32 %next, %index;\n"
             "mad.lo.u64 %offset, %next, %word, %offset;\n"
             "mul.lo.u64 %leap, %word, $lanes;\n"
             "MORE$number:\n",
             WORD(number, number), WORD(lanes, lanes_of_many(s)));
    for (int i = 0; i < MANY_UNROLL; i++)
        load_one_of_many(k, s, r, i);
    ptx(k, "mov.u32 %sink, 0;");
    ptx_times(k, MANY_UNROLL, "xor.b32 %sink, %sink, %value$i;");
    ptx(k, "st.shared.u32 [pool+8], %sink;\n"
           "mov.u32 %t1, %clock;\n");
    pin_mark(k, "%t1");
    ptx_with(k,
             "setp.lt.u32 %more, %index, %count;\n"
             "@%more bra MORE$number;\n"
             "bra STEPPED;\n",
             WORD(number, number));
}

/* ---- one load after the other ------------------------------------------ */

/* A load, waited for. */
static void load_place(struct kernel_text *k, const struct kind *r,
                       const char *address)
{
    space_load(k, space_word_load(r->space), r->op, "%value", address);
    ptx(k, "st.shared.u32 [pool+8], %value;\n"
           "mov.u32 %t1, %clock;\n");
    pin_mark(k, "%t1");
}

/* What lies on the same page comes first. */
static void write_lead(struct kernel_text *k, const struct script *s,
                       const struct kind *r, size_t number)
{
    ptx_with(k,
             "@!%keep bra LED$number;\n"
             "xor.b64 %offset, %offset, $lead;\n",
             WORD(number, number), WORD(lead, s->lead));
    load_place(k, r, homes_address(k, &s->homes, r->space));
    ptx_with(k,
             "xor.b64 %offset, %offset, $lead;\n"
             "LED$number:\n",
             WORD(number, number), WORD(lead, s->lead));
}

/* The loop of a step by one kind of load. */
static void write_visits(struct kernel_text *k, const struct script *s,
                         const struct kind *r, size_t number)
{
    const bool calls = r->space->memory == MEMORY_CODE;
    if (calls)
        begin_calls(k, number);
    ptx_with(k, "READ$number:", WORD(number, number));
    if (calls)
        next_call(k, number);
    if (are_numbered(s))
        write_number(k, s);
    if (s->lead > 0 && !calls)
        write_lead(k, s, r, number);
    const char *const address =
        calls ? "%address" : homes_address(k, &s->homes, r->space);
    if (s->wait > 0)
        write_wait(k, number);
    ptx(k, "mov.u32 %t0, %clock;");
    load_place(k, r, address);
    ptx_with(k,
             "TIMED$number:\n"
             "@!%keep bra KEPT$number;\n"
             "sub.u32 %t1, %t1, %t0;\n"
             "st.shared.u32 [%record], %t1;\n"
             "add.u32 %record, %record, 4;\n"
             "KEPT$number:\n"
             "$next\n"
             "sub.u32 %count, %count, 1;\n"
             "setp.ne.u32 %more, %count, 0;\n"
             "@%more bra READ$number;\n",
             WORD(number, number), WORD(next, next_visit(s, calls)));
    if (calls)
        next_lap(k, number);
    ptx(k, "bra STEPPED;");
}

static void write_field(struct kernel_text *k, const char *into, int shift,
                        int bits)
{
    ptx_with(k,
             "shr.u32 $into, %flags, $shift;\n"
             "and.b32 $into, $into, $bits;\n",
             WORD(into, into), WORD(shift, shift), WORD(bits, (1 << bits) - 1));
}

/* Goes to the loop of the step's kind of load in its thread on its SM, and past
 * all loops elsewhere. */
static void write_choice(struct kernel_text *k, const struct script *s,
                         bool many)
{
    write_field(k, "%who", THREAD_SHIFT, 10);
    write_field(k, "%mover", CREW_SHIFT, 8);
    ptx(k, "setp.ne.u32 %mine, %who, %me;");
    if (many)
        choose_many(k, s);
    ptx(k, "setp.ne.or.u32 %idle, %mover, %self, %mine;\n"
           "@%idle bra STEPPED;\n");
    write_field(k, "%who", 0, 6);
    for (size_t i = 0; i < s->kinds; i++) {
        if (many)
            ptx_with(k,
                     "setp.eq.and.u32 %mine, %who, $i, %many;\n"
                     "@%mine bra MANY$i;\n",
                     WORD(i, i));
        ptx_with(
            k,
            "setp.eq.u32 %mine, %who, $i;\n"
            "@%mine bra $to$i;\n",
            WORD(to, s->kind[i].space->memory == MEMORY_CODE ? "CALL" : "READ"),
            WORD(i, i));
    }
    ptx(k, "bra STEPPED;");
}

/* True if those who make a step are not always the same; the kernel that calls
 * is the same for all scripts, since its functions take long to assemble. */
static bool meets(const struct script *s)
{
    return s->warps > 1 || s->lanes > 1 || s->sm_count > 1 ||
           visit_uses(s, MEMORY_CODE);
}

/* Over several SMs a counter in memory says which step it is: the block whose
 * step it was sets it on, the others wait for it, so many polls at most.  Its
 * loads have come, and there is nothing else to be ordered by a fence, which
 * would have L1 forget what it holds (compute capability 7.0 on). */
enum { POLLS_MOST = 1 << 22 };

static void write_turn(struct kernel_text *k, const struct script *s)
{
    if (s->sm_count < 2 && !visit_uses(s, MEMORY_CODE))
        return;
    ptx_with(k,
             "@%other bra TURNED;\n"
             "add.u32 %t1, %step, 1;\n"
             "setp.eq.u32 %mine, %mover, %self;\n"
             "@%mine atom.global.exch.b32 %seen, [%turn], %t1;\n"
             "mov.u32 %polls, 0;\n"
             "WAIT:\n"
             "ld.volatile.global.u32 %seen, [%turn];\n"
             "add.u32 %polls, %polls, 1;\n"
             "setp.lt.u32 %wait, %polls, $most;\n"
             "setp.lt.and.u32 %wait, %seen, %t1, %wait;\n"
             "@%wait bra WAIT;\n"
             "TURNED:\n"
             "bar.sync 0;\n",
             WORD(most, POLLS_MOST));
}

/* Whose step it was has come here at once; for the others a span begins. */
static void hand_over(struct kernel_text *k)
{
    ptx(k, "mov.u32 %t1, %clock;\n"
           "sub.u32 %gap, %t1, %last;\n"
           "@!%idle max.u32 %longest, %longest, %gap;\n"
           "mov.u32 %last, %t1;\n");
}

/* Of an order of calls: the count of all laps, and that of one. */
static const char split_count[] =
    "shr.u32 %laps, %count, 24;\n"
    "and.b32 %all, %count, 0xffffff;\n"
    "@%keep mad.lo.u32 %kept, %laps, %all, %kept;\n"
    "mov.u32 %count, %all;\n";

/* The head of the loop: the next order, and where its records go and its places
 * begin. */
static void begin_step(struct kernel_text *k, const struct script *s)
{
    ptx_with(k,
             "mov.u32 %longest, 0;\n"
             "mov.u32 %last, %clock;\n"
             "mov.u32 %began, %last;\n"
             "mov.u32 %step, 0;\n"
             "mov.u32 %seed, %clock;\n"
             "mov.u32 %kept, 0;\n"
             "mov.u32 %order, pool;\n"
             "add.u32 %order, %order, $pool;\n"
             "STEP:\n"
             "ld.shared.v4.u32 {%start, %stride, %count, %flags}, [%order];\n"
             "setp.lt.s32 %keep, %flags, 0;\n"
             "// its records follow those of the steps before\n"
             "mov.u32 %record, pool;\n"
             "mad.lo.u32 %record, %steps, $bytes, %record;\n"
             "mad.lo.u32 %record, %kept, 4, %record;\n"
             "add.u32 %record, %record, $pool;\n"
             "$split_count"
             "@%keep add.u32 %kept, %kept, %count;\n"
             "mul.wide.u32 %offset, %start, $unit;\n"
             "mul.wide.u32 %word, %stride, $unit;\n",
             WORD(split_count, visit_uses(s, MEMORY_CODE) ? split_count : ""));
    if (s->within > 0)
        ptx_with(k,
                 "shr.u32 %at32, %start, $shift;\n"
                 "cvt.u64.u32 %next, %at32;\n"
                 "mul.lo.u64 %next, %next, $apart;\n"
                 "and.b32 %at32, %start, $low;\n"
                 "mul.wide.u32 %offset, %at32, $unit;\n"
                 "add.u64 %offset, %offset, %next;\n",
                 WORD(shift, __builtin_ctzll(s->within)),
                 WORD(low, s->within - 1));
}

static void write_loop(struct kernel_text *k, const struct script *s, bool many)
{
    begin_step(k, s);
    write_choice(k, s, many);
    for (size_t i = 0; i < s->kinds; i++)
        write_visits(k, s, &s->kind[i], i);
    for (size_t i = 0; many && i < s->kinds; i++)
        write_many(k, s, &s->kind[i], i);
    ptx(k, "STEPPED:");
    if (many || meets(s))
        ptx(k, "bar.sync 0;");
    write_turn(k, s);
    if (many || meets(s))
        hand_over(k);
    ptx(k, "add.u32 %order, %order, $bytes;\n"
           "add.u32 %step, %step, 1;\n"
           "setp.lt.u32 %more, %step, %steps;\n"
           "@%more bra STEP;\n");
}

/* Thread 0 writes all records out, the longest span of all threads, and that it
 * is done. */
static void write_out(struct kernel_text *k)
{
    ptx(k, "bar.sync 0;\n"
           "@!%other st.shared.u32 [pool+8], %longest;\n"
           "bar.sync 0;\n"
           "atom.shared.max.u32 %gap, [pool+8], %longest;\n"
           "bar.sync 0;\n"
           "@%other ret;\n"
           "ld.shared.u32 %longest, [pool+8];\n"
           "mov.u32 %gap, %clock;\n"
           "sub.u32 %gap, %gap, %began;\n");
    pin_job_word(k, "%out", JOB_OUT);
    ptx(k, "mov.u32 %record, pool;\n"
           "mad.lo.u32 %record, %steps, $bytes, %record;\n"
           "add.u32 %record, %record, $pool;\n"
           "WRITE:\n"
           "ld.shared.u32 %t0, [%record];\n"
           "cvt.u64.u32 %value64, %t0;\n"
           "st.global.u64 [%out], %value64;\n"
           "add.u32 %record, %record, 4;\n"
           "add.u64 %out, %out, 8;\n"
           "sub.u32 %kept, %kept, 1;\n"
           "setp.ne.u32 %more, %kept, 0;\n"
           "@%more bra WRITE;\n"
           "mov.b64 %value64, {%longest, %gap};\n"
           "st.global.u64 [%out], %value64;\n"
           "mov.u64 %value64, 1;\n"
           "st.global.u64 [%out+8], %value64;\n");
}

void visit_kernel(const struct experiment *e, const struct device_info *info,
                  struct buf *out)
{
    const struct script *const s = e->own;
    struct kernel_text k;
    struct buf variables = {0};
    buf_text(&variables, PIN_VARIABLES);
    if (visit_uses(s, MEMORY_CONSTANT))
        buf_text(&variables, ".visible .const .align 256 .b8 bank[65536];\n\n");
    if (visit_uses(s, MEMORY_CODE))
        functions_text(&variables, s->padding);
    kernel_begin(&k, out, device_cc(info), .name = "visit",
                 .parameters = PIN_PARAMETERS,
                 .variables = buf_string(&variables));
    buf_free(&variables);
    ptx_words(&k, WORD(pool, PIN_POOL), WORD(bytes, STEP_BYTES),
              WORD(unit, s->unit), WORD(apart, s->apart));
    pin_opening(&k, JOB_WORDS * 8);
    declare(&k, s);
    if (makes_many(e))
        declare_many(&k);
    fetch_orders(&k);
    write_loop(&k, s, makes_many(e));
    write_out(&k);
    kernel_end(&k);
}
