/*
 * The probe `code`: what a lap through straight-line code costs, by how much
 * code that is.
 *
 * One kernel holds `total` bytes of code in blocks, each of which ends with a
 * branch back to the start of the lap; which one is taken, `bytes` says.  So
 * one compiled kernel runs loops of all sizes, and each is one piece of
 * memory: from the clock read that begins a lap to that branch (with other
 * code between laps, from the clock read after that).  The columns
 * `start` and `end` say where it lies in the kernel's code: on a GPU as its
 * machine code shows, −1 where that is not as expected; where there is no
 * machine code, at 16 bytes an instruction.
 *
 * The instructions of a block are chains of fused multiply-adds whose operands
 * come from memory; they cannot be folded and run at a steady rate.
 *
 * Between two laps, outside of the time taken, constants may be loaded; and
 * rivals may run beside: on other SMs or in another warp, through the same
 * code or through a copy of it elsewhere.  Where two push out each other's
 * code, the quicker one keeps its own: `rival` is what a rival's laps cost.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "probe/run/pin.h"
#include "ptx/kernel.h"
#include "ptx/sass/machine.h"

enum column {
    COLUMN_SM = 1,
    COLUMN_LAP,
    COLUMN_CYCLES,
    COLUMN_CONSTANTS,
    COLUMN_RIVAL,
    COLUMN_START,
    COLUMN_END
};

enum { CHAINS_MOST = 32, SMS_MOST = 1024 };
/* An SM has a job for warp 0, then one for the rival's warp.  Words of a job:
 * where results go (0: the warp leaves) and that it is done, the block (from 0)
 * that ends a lap, laps, which copy of the code, two operands, where the sum
 * goes. */
enum {
    JOB_OUT,
    JOB_DONE,
    JOB_LAST,
    JOB_LAPS,
    JOB_COPY,
    JOB_OPERANDS,
    JOB_SUM,
    JOB_WORDS
};
/* Words of a lap's result, and of the head before them: all come in pairs. */
enum { LAP_CYCLES, LAP_CONSTANTS, LAP_WORDS };
enum { OUT_SM, OUT_HEAD = 2 };

struct code {
    uint64_t bytes, total, block, from;
    unsigned chains;
    uint64_t warm, laps, flush, constants, constants_stride;
    uint64_t sm, rival_sm, rival_sms, rival_warp;
    enum { RIVAL_NONE, RIVAL_SAME, RIVAL_OTHER } rival;
    uint64_t blocks, first, last; /* first: bytes of the first block */
    unsigned copies;
};

static const char *const rivals[] = {"none", "same", "other", NULL};

/* clang-format off */
static const struct param code_params[] = {
    NUMBER(struct code, bytes, "4096", 48, 1u << 20, "code of a lap, without its head, B"),
    NUMBER(struct code, total, "65536", 256, 1u << 20, "code of the kernel, B"),
    NUMBER(struct code, block, "64", 48, 1u << 16, "code from one possible end of a lap to the next, B"),
    NUMBER(struct code, from, "0", 0, 1u << 20, "code before the first possible end of a lap, B; 0: a block"),
    NUMBER(struct code, chains, "4", 1, CHAINS_MOST, "independent chains of instructions"),
    NUMBER(struct code, warm, "4", 0, 4096, "laps before those kept"),
    NUMBER(struct code, laps, "8", 1, 4096, "laps kept"),
    NUMBER(struct code, flush, "0", 0, 1u << 20, "other code that runs between laps, B"),
    NUMBER(struct code, constants, "0", 0, 1u << 16, "constants loaded between laps, B"),
    NUMBER(struct code, constants_stride, "64", 4, 4096, "distance of these loads, B"),
    NUMBER(struct code, sm, "0", 0, SMS_MOST - 1, "SM that is timed"),
    CHOICE(struct code, rival, "none", rivals, "what others run meanwhile: the same code or another copy"),
    NUMBER(struct code, rival_sm, "1", 0, SMS_MOST - 1, "first SM of rivals"),
    NUMBER(struct code, rival_sms, "1", 1, SMS_MOST, "SMs with a rival"),
    NUMBER(struct code, rival_warp, "0", 0, 31, "warp of its block that a rival is; on the SM that is timed not 0"),
    {0},
};
/* clang-format on */

static const char *const code_columns[] = {
    "sm", "lap", "cycles", "constants", "rival", "start", "end", NULL};

static bool has_rivals(const struct code *c)
{
    return c->rival != RIVAL_NONE;
}

/* The warp that is timed is none. */
static bool is_rival(const struct code *c, uint64_t sm)
{
    return has_rivals(c) && sm - c->rival_sm < c->rival_sms &&
           !(sm == c->sm && c->rival_warp == 0);
}

static int check(const struct code *c, const struct device_info *info,
                 struct error *err)
{
    const int64_t sms = info->value[PROPERTY_SMS];
    const uint64_t end = has_rivals(c) ? c->rival_sm + c->rival_sms : 0;
    if ((c->block | c->first) % SASS_BYTES != 0)
        return error_set(err, ERR_USAGE,
                         "block and from must be multiples of %d", SASS_BYTES);
    if (c->blocks < 3)
        return error_set(err, ERR_USAGE,
                         "total leaves no room for three blocks");
    if (c->last >= c->blocks)
        return error_set(err, ERR_USAGE, "bytes is more than total");
    if (sms > 0 && (c->sm >= (uint64_t)sms || end > (uint64_t)sms))
        return error_set(err, ERR_USAGE,
                         "an SM is asked for beyond the %" PRId64 " of %s", sms,
                         info->name);
    if (has_rivals(c) && !is_rival(c, c->rival_sm) && c->rival_sms == 1)
        return error_set(err, ERR_USAGE,
                         "the only rival is the warp that is timed");
    return 0;
}

static int code_prepare(struct experiment *e, const struct device_info *info,
                        struct error *err)
{
    struct code *const c = e->own;
    const uint64_t first = c->from > c->block ? c->from : c->block;
    c->first = first;
    c->copies = c->rival == RIVAL_OTHER ? 2 : 1;
    c->blocks = c->total > first ? (c->total - first) / c->block + 1 : 0;
    c->last =
        c->bytes > first ? (c->bytes - first + c->block - 1) / c->block : 0;
    return check(c, info, err);
}

/* ---- the kernel ------------------------------------------------------- */

static void declare(struct kernel_text *k, const struct code *c)
{
    ptx_with(k,
             ".reg .b32 %warp, %bit, %last, %move, %left, %copy, %word, "
             "%sink;\n"
             ".reg .b64 %end, %out, %t0, %t1, %lap, %constants;\n"
             ".reg .f32 %a<$chains>, %b, %c;\n"
             ".reg .pred %p;\n",
             WORD(chains, c->chains));
}

/* All threads leave but the first of the warps that have a job. */
static void choose(struct kernel_text *k, const struct code *c)
{
    ptx_with(k,
             "and.b32 %bit, %me, 31;\n"
             "setp.ne.u32 %p, %bit, 0;\n"
             "@%p ret;\n"
             "shr.u32 %warp, %me, 5;\n"
             "setp.eq.u32 %p, %warp, 0;\n"
             "@%p bra CHOSEN;\n"
             "setp.ne.u32 %p, %warp, $rival_warp;\n"
             "@%p ret;\n"
             "add.u64 %job, %job, $words;\n"
             "CHOSEN:\n"
             "ld.global.cg.u64 %out, [%job+$out];\n"
             "setp.eq.u64 %p, %out, 0;\n"
             "@%p ret;\n",
             WORD(rival_warp, c->rival_warp), WORD(words, 8 * JOB_WORDS),
             WORD(out, 8 * JOB_OUT));
}

static void read_job(struct kernel_text *k, const struct code *c)
{
    ptx_with(k,
             "ld.global.cg.u32 %last, [%job+$last];\n"
             "ld.global.cg.u32 %move, [%job+$move];\n"
             "ld.global.cg.u32 %left, [%job+$laps];\n"
             "ld.global.cg.u32 %copy, [%job+$copy];\n"
             "ld.global.cg.f32 %b, [%job+$operand_b];\n"
             "ld.global.cg.f32 %c, [%job+$operand_c];\n"
             "cvt.u64.u32 %at, %sm;\n"
             "st.global.u64 [%out+$sm], %at;\n",
             WORD(last, 8 * JOB_LAST), WORD(move, 8 * JOB_LAST + 4),
             WORD(laps, 8 * JOB_LAPS), WORD(copy, 8 * JOB_COPY),
             WORD(operand_b, 8 * JOB_OPERANDS),
             WORD(operand_c, 8 * JOB_OPERANDS + 4), WORD(sm, 8 * OUT_SM));
    for (unsigned i = 0; i < c->chains; i++)
        ptx_with(k, "mov.f32 %a$i, %b;", WORD(i, i));
    ptx(k, "mov.u32 %sink, 0;\n"
           "mov.u64 %t0, 0;\n"
           "mov.u64 %constants, 0;\n");
    if (c->copies > 1) {
        ptx(k, "setp.eq.u32 %p, %copy, 1;\n"
               "@%p bra LAP1;\n");
    }
}

/* In-order issue: the last of them is there when the clock is read. */
static void load_constants(struct kernel_text *k, const struct code *c,
                           unsigned copy)
{
    ptx_with(k,
             "mov.u64 %at, constants;\n"
             "add.u64 %end, %at, $constants;\n"
             "CONSTANTS$copy:\n"
             ".pragma \"nounroll\";\n"
             "ld.const.u32 %word, [%at];\n"
             "add.u64 %at, %at, $stride;\n"
             "setp.lt.u64 %p, %at, %end;\n"
             "xor.b32 %sink, %sink, %word;\n"
             "@%p bra CONSTANTS$copy;\n",
             WORD(constants, c->constants), WORD(copy, copy),
             WORD(stride, c->constants_stride));
}

/* So many multiply-adds, on the chains in turn. */
static void multiply_adds(struct buf *out, const struct code *c, uint64_t count)
{
    struct buf turn = {0};
    size_t end[CHAINS_MOST + 1] = {0};
    for (unsigned i = 0; i < c->chains; i++) {
        buf_printf(&turn, "    fma.rn.f32 %%a%u, %%a%u, %%b, %%c;\n", i, i);
        end[i + 1] = turn.length;
    }
    for (uint64_t i = 0; i < count / c->chains; i++)
        buf_append(out, turn.data, turn.length);
    buf_append(out, turn.data, end[count % c->chains]);
    buf_free(&turn);
}

/* What a lap begins with: the last one's time is kept. */
static void lap_head(struct kernel_text *k, const struct code *c, unsigned copy)
{
    ptx_with(k,
             "LAP$copy:\n"
             "mov.u64 %t1, %clock64;\n"
             "sub.u64 %lap, %t1, %t0;\n"
             "st.global.v2.u64 [%out+$head], {%lap, %constants};\n"
             "add.u64 %out, %out, $words;\n"
             "setp.eq.u32 %p, %left, 0;\n"
             "@%p bra DONE;\n"
             "sub.u32 %left, %left, 1;\n"
             "// moves by 0, which keeps the comparisons in the loop\n"
             "add.u32 %last, %last, %move;\n",
             WORD(copy, copy), WORD(head, 8 * OUT_HEAD),
             WORD(words, 8 * LAP_WORDS));
    if (c->constants > 0)
        load_constants(k, c, copy);
    if (c->flush > 0) {
        multiply_adds(k->out, c, c->flush / SASS_BYTES);
        ptx(k, "// a branch, which is never taken: no instruction is moved "
               "over it and the clock read\n"
               "setp.eq.u32 %p, %left, 0xffffffff;\n"
               "@%p bra DONE;\n");
    }
    ptx_with(k,
             "TIMED$copy:\n"
             "mov.u64 %t0, %clock64;\n"
             "sub.u64 %constants, %t0, %t1;\n",
             WORD(copy, copy));
}

static void block(struct kernel_text *k, uint64_t number,
                  const struct buf *body, unsigned copy)
{
    ptx_with(k, "setp.eq.u32 %p, %last, $number;", WORD(number, number));
    buf_append(k->out, body->data, body->length);
    ptx_with(k, "@%p bra.uni LAP$copy;", WORD(copy, copy));
}

static void blocks(struct kernel_text *k, const struct code *c, unsigned copy)
{
    struct buf first = {0}, body = {0};
    /* Two instructions of a block are its comparison and its branch. */
    multiply_adds(&first, c, c->first / SASS_BYTES - 2);
    multiply_adds(&body, c, c->block / SASS_BYTES - 2);
    ptx_with(k, "CODE$copy:", WORD(copy, copy));
    for (uint64_t i = 0; i < c->blocks; i++)
        block(k, i, i == 0 ? &first : &body, copy);
    /* No lap comes so far. */
    ptx(k, "bra DONE;");
    buf_free(&first);
    buf_free(&body);
}

static void finish(struct kernel_text *k, const struct code *c)
{
    ptx(k, "DONE:");
    for (unsigned i = 1; i < c->chains; i++)
        ptx_with(k, "add.f32 %a0, %a0, %a$i;", WORD(i, i));
    ptx_with(k,
             "cvt.rn.f32.u32 %b, %sink;\n"
             "add.f32 %a0, %a0, %b;\n"
             "st.global.f32 [%job+$sum], %a0;\n"
             "ld.global.cg.u64 %out, [%job+$done];\n"
             "mov.u64 %at, 1;\n"
             "st.global.u64 [%out], %at;\n",
             WORD(sum, 8 * JOB_SUM), WORD(done, 8 * JOB_DONE));
    kernel_end(k);
}

static void code_kernel(const struct experiment *e,
                        const struct device_info *info, struct buf *out)
{
    const struct code *const c = e->own;
    struct kernel_text k;
    kernel_begin(
        &k, out, device_cc(info),
        &(struct kernel_head){
            .name = "code",
            .parameters = PIN_PARAMETERS,
            .variables = c->constants > 0 ? PIN_VARIABLES
                             ".const .align 256 .b8 constants[65536];\n"
                                          : PIN_VARIABLES,
        });
    pin_opening(&k, 2 * 8 * JOB_WORDS);
    declare(&k, c);
    choose(&k, c);
    read_job(&k, c);
    for (unsigned copy = 0; copy < c->copies; copy++) {
        lap_head(&k, c, copy);
        blocks(&k, c, copy);
    }
    finish(&k, c);
}

/* ---- where the code lies ---------------------------------------------- */

/* Instructions from the kernel's beginning to a label of its text. */
static uint64_t instructions_before(const char *text, const char *label)
{
    const char *const end = strstr(text, label);
    uint64_t count = 0;
    for (const char *line = strchr(text, '{'); line < end;
         line = strchr(line + 1, '\n'))
        if (strncmp(line + 1, "    ", 4) == 0 && line[5] != '.' &&
            line[5] != '/')
            count++;
    return count;
}

/* Of a lap, B from the beginning of the kernel's code. */
struct place {
    int64_t start, end;
};

static struct place placed(const struct code *c, uint64_t start, uint64_t first)
{
    return (struct place){(int64_t)start,
                          (int64_t)(first + c->last * c->block)};
}

/* Where there is no machine code: by the kernel's text. */
static struct place place_in_text(const struct experiment *e,
                                  const struct device_info *info)
{
    const struct code *const c = e->own;
    const char *const begin = c->flush > 0 ? "\nTIMED0:" : "\nLAP0:";
    struct buf out = {0};
    code_kernel(e, info, &out);
    const char *const text = buf_string(&out);
    const struct place place =
        placed(c, SASS_BYTES * instructions_before(text, begin),
               SASS_BYTES * instructions_before(text, "\nCODE0:") + c->first);
    buf_free(&out);
    return place;
}

static struct place place_of(struct prober *prober, const struct experiment *e)
{
    const struct code *const c = e->own;
    const void *file;
    size_t length;
    struct listing listing;
    struct machine_loop loop;
    struct error none;
    if (prober_code(prober, e, &file, &length, &none) != 0)
        return place_in_text(e, prober_info(prober));
    if (listing_read(file, length, "code", &listing, &none) != 0)
        return (struct place){-1, -1};
    const bool found = machine_find_loop(&listing, c->flush > 0 ? 2 : 1,
                                         c->block, c->blocks, &loop);
    listing_free(&listing);
    if (!found)
        return (struct place){-1, -1};
    return placed(c, loop.start, loop.first);
}

/* ---- the launch ------------------------------------------------------- */

/* What an SM works on: the one that is timed comes first. */
struct work {
    uint64_t sms[SMS_MOST];
    size_t count;
    uint64_t jobs[SMS_MOST][2][JOB_WORDS];
    struct pin pin;
};

/* Words of the results of a warp that is timed. */
static size_t out_words(const struct code *c)
{
    return OUT_HEAD + LAP_WORDS * (c->warm + c->laps + 1);
}

static void fill_job(const struct code *c, uint64_t *job, uint64_t out,
                     uint64_t laps, uint64_t copy)
{
    const float operands[2] = {1, 0};
    job[JOB_OUT] = out;
    job[JOB_LAST] = c->last;
    job[JOB_LAPS] = laps;
    job[JOB_COPY] = copy;
    memcpy(&job[JOB_OPERANDS], operands, sizeof operands);
}

/* Rivals make twice the laps, so that they are there to the end; they write
 * behind the room of one that is timed. */
static void fill_jobs(const struct code *c, struct work *w)
{
    const uint64_t laps = c->warm + c->laps;
    const unsigned second = c->rival_warp > 0;
    for (size_t i = 0; i < w->count; i++) {
        const uint64_t out = pin_out(&w->pin, i);
        if (i == 0)
            fill_job(c, w->jobs[i][0], out, laps, 0);
        if (is_rival(c, w->sms[i]))
            fill_job(c, w->jobs[i][second], out + 8 * out_words(c), 2 * laps,
                     c->copies - 1);
        for (int job = 0; job < 2; job++)
            w->jobs[i][job][JOB_DONE] = pin_out(&w->pin, i + 1) - 8;
    }
}

static uint64_t *code_launch(struct prober *prober, const struct experiment *e,
                             struct work *w, struct error *err)
{
    const struct code *const c = e->own;
    w->sms[w->count++] = c->sm;
    for (uint64_t sm = 0; sm < SMS_MOST; sm++)
        if (is_rival(c, sm) && sm != c->sm)
            w->sms[w->count++] = sm;
    w->pin = (struct pin){
        .count = w->count,
        .sms = w->sms,
        .jobs = w->jobs,
        .job_bytes = sizeof w->jobs[0],
        .words_each = 3 * out_words(c) + 2,
        .threads = 32 * (has_rivals(c) ? (unsigned)c->rival_warp + 1 : 1),
        .shared_bytes = PIN_POOL,
        .carve_out = CARVE_OUT_DEFAULT,
    };
    if (pin_place(prober, &w->pin, err) != 0)
        return NULL;
    fill_jobs(c, w);
    return pin_run(prober, e, &w->pin, err);
}

static void add_rows(const struct code *c, const uint64_t *out,
                     const uint64_t *rival, struct place place,
                     struct samples *samples)
{
    /* The first result is of the time before the first lap.  A rival's laps
     * are those after its first, when the lap that is timed is still on. */
    const uint64_t *at = out + OUT_HEAD + LAP_WORDS * (c->warm + 1);
    rival += OUT_HEAD + LAP_WORDS * 2;
    for (uint64_t lap = 0; lap < c->laps; lap++, at += LAP_WORDS) {
        int64_t *const row = samples_row(samples);
        row[COLUMN_SM] = (int64_t)out[OUT_SM];
        row[COLUMN_LAP] = (int64_t)lap;
        row[COLUMN_CYCLES] = (int64_t)at[LAP_CYCLES];
        row[COLUMN_CONSTANTS] = (int64_t)at[LAP_CONSTANTS];
        row[COLUMN_RIVAL] =
            has_rivals(c) ? (int64_t)rival[LAP_WORDS * lap + LAP_CYCLES] : 0;
        row[COLUMN_START] = place.start;
        row[COLUMN_END] = place.end;
    }
}

/* What another process took from us at least: how much longer the longest lap
 * took than three of the quickest, as much as misses make of a lap; or the
 * constants and code between two laps than from memory, which is 800 cycles
 * off at most on all GPUs that are known.  The first lap brings the code in and
 * is left out, as is the time before it. */
static uint64_t watched(const struct code *c, const uint64_t *out)
{
    enum { SKIPPED = 2, LEAST = 4, FROM_MEMORY = 1000, LINE = 32 };
    const size_t count = c->warm + c->laps + 1 - SKIPPED;
    const uint64_t *at = out + OUT_HEAD + LAP_WORDS * SKIPPED;
    const uint64_t slowest =
        FROM_MEMORY * (c->constants / c->constants_stride + c->flush / LINE);
    double *const laps = xcalloc(count, sizeof *laps);
    double leap = 0, all = 0;
    for (size_t i = 0; i < count; i++, at += LAP_WORDS) {
        laps[i] = (double)at[LAP_CYCLES];
        all += (double)(at[LAP_CYCLES] + at[LAP_CONSTANTS]);
        leap = fmax(leap, (double)at[LAP_CONSTANTS] - (double)slowest);
    }
    if (count >= LEAST)
        leap = fmax(leap, stats_max(laps, count) - 3 * stats_min(laps, count));
    free(laps);
    return (uint64_t)all << 32 | (uint64_t)leap;
}

static int code_once(struct prober *prober, const struct experiment *e,
                     struct samples *samples, struct error *err)
{
    const struct code *const c = e->own;
    struct work *const w = xcalloc(1, sizeof *w);
    uint64_t *const out = code_launch(prober, e, w, err);
    /* The first SM with a rival. */
    const size_t first = w->count > 1 && !is_rival(c, c->sm);
    if (out != NULL)
        prober_watched(prober, watched(c, out));
    if (out != NULL)
        add_rows(c, out, out + first * w->pin.words_each + out_words(c),
                 place_of(prober, e), samples);
    free(out);
    free(w);
    return err->code;
}

/* A launch times many laps: it is not repeated. */
const struct probe probe_code = {
    .name = "code",
    .what = "cost of a lap through straight-line code, by its size",
    .params = code_params,
    .bytes = sizeof(struct code),
    .columns = code_columns,
    .figure_column = COLUMN_CYCLES,
    .repeats_least = 1,
    .repeats_most = 1,
    .prepare = code_prepare,
    .kernel = code_kernel,
    .once = code_once,
};
