#include "probe/run/grid_timer.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"

enum column {
    COLUMN_SM = 1,
    COLUMN_BLOCKS,
    COLUMN_CYCLES,
    COLUMN_NS,
    COLUMN_ELAPSED = GRID_TIMER_ELAPSED,
    COLUMN_WATTS,
    COLUMN_THROTTLE
};
/* What a block writes. */
enum { WORD_SM, WORD_BEGUN, WORD_ENDED, WORD_BEGUN_NS, WORD_ENDED_NS, WORDS };
enum { DEADLINE_S = 10 };
/* What would take longer than a launch may is several; a first one of so many
 * turns tells how many they are. */
enum { TURNS_TRIED = 4096 };
static const double launch_ns = 2e9;
static const uint64_t never = 0x9e3779b9;

const char *const grid_timer_operands[] = {"random", "zeros", NULL};
const char *const grid_timer_columns[] = {
    "sm", "blocks", "cycles", "ns", "elapsed", "watts", "throttle", NULL};

/* ---- the kernel -------------------------------------------------------- */

void grid_timer_opening(struct kernel_text *k)
{
    ptx(k, ".reg .b64 %data, %out, %c0, %c1, %n0, %n1, %at;\n"
           ".reg .b32 %turns, %me, %word, %high, %sum, %never, %sm, %left;\n"
           ".reg .pred %done, %true, %first, %cold;\n"
           "ld.param.u64 %data, [data];\n"
           "ld.param.u64 %out, [out];\n"
           "ld.param.u32 %turns, [turns];\n"
           "ld.global.u32 %never, [%data];\n"
           "mov.u32 %me, %tid.x;\n"
           "and.b32 %word, %me, 31;\n"
           "setp.eq.u32 %first, %word, 0;\n"
           "mov.u32 %sum, 0;\n"
           "mov.u32 %left, 1;\n"
           "setp.eq.u32 %cold, %sum, 0;\n");
}

static void meet_and_read(struct kernel_text *k, const char *clock,
                          const char *timer)
{
    ptx_with(k,
             "setp.ne.u32 %true, %sum, %never;\n"
             "bar.red.or.pred %done, 0, %true;\n"
             "@!%done bra DONE;\n"
             "mov.u64 %$clock, %clock64;\n"
             "mov.u64 %$timer, %globaltimer;\n",
             WORD(clock, clock), WORD(timer, timer));
}

void grid_timer_begin(struct kernel_text *k)
{
    ptx(k, "PASS:\n"
           ".pragma \"nounroll\";\n");
    meet_and_read(k, "c0", "n0");
}

void grid_timer_loop(struct kernel_text *k)
{
    ptx(k, "TURN:\n"
           ".pragma \"nounroll\";\n");
}

void grid_timer_again(struct kernel_text *k)
{
    ptx(k, "sub.u32 %left, %left, 1;\n"
           "setp.ne.u32 %true, %left, 0;\n"
           "@%true bra TURN;\n");
}

void grid_timer_end(struct kernel_text *k)
{
    meet_and_read(k, "c1", "n1");
    ptx_with(k,
             "mov.u32 %left, %turns;\n"
             "mov.pred %true, %cold;\n"
             "setp.ne.u32 %cold, 0, 0;\n"
             "@%true bra PASS;\n"
             "@!%first bra DONE;\n"
             "mov.u32 %word, %ctaid.x;\n"
             "mad.wide.u32 %out, %word, $words, %out;\n"
             "mov.u32 %sm, %smid;\n"
             "cvt.u64.u32 %at, %sm;\n"
             "st.global.u64 [%out+$sm], %at;\n"
             "red.global.min.u64 [%out+$begun], %c0;\n"
             "red.global.max.u64 [%out+$ended], %c1;\n"
             "red.global.min.u64 [%out+$begun_ns], %n0;\n"
             "red.global.max.u64 [%out+$ended_ns], %n1;\n"
             "DONE:\n",
             WORD(words, 8 * WORDS), WORD(sm, 8 * WORD_SM),
             WORD(begun, 8 * WORD_BEGUN), WORD(ended, 8 * WORD_ENDED),
             WORD(begun_ns, 8 * WORD_BEGUN_NS),
             WORD(ended_ns, 8 * WORD_ENDED_NS));
}

/* ---- samples ----------------------------------------------------------- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A row of the blocks, sorted by SM, from `at` on; returns how many they are.
 */
static size_t add_sm(const uint64_t *at, const uint64_t *end,
                     const int64_t *launch, struct samples *samples)
{
    uint64_t merged[WORDS];
    size_t blocks = 0;
    memcpy(merged, at, sizeof merged);
    for (; at < end && at[WORD_SM] == merged[WORD_SM]; at += WORDS, blocks++) {
        merged[WORD_BEGUN] = earlier(merged[WORD_BEGUN], at[WORD_BEGUN]);
        merged[WORD_ENDED] = later(merged[WORD_ENDED], at[WORD_ENDED]);
        merged[WORD_BEGUN_NS] =
            earlier(merged[WORD_BEGUN_NS], at[WORD_BEGUN_NS]);
        merged[WORD_ENDED_NS] = later(merged[WORD_ENDED_NS], at[WORD_ENDED_NS]);
    }
    int64_t *const row = samples_row(samples);
    row[COLUMN_SM] = (int64_t)merged[WORD_SM];
    row[COLUMN_BLOCKS] = (int64_t)blocks;
    row[COLUMN_CYCLES] = (int64_t)(merged[WORD_ENDED] - merged[WORD_BEGUN]);
    row[COLUMN_NS] = (int64_t)(merged[WORD_ENDED_NS] - merged[WORD_BEGUN_NS]);
    memcpy(row + COLUMN_ELAPSED, launch, 3 * sizeof *launch);
    return blocks;
}

static void add_rows(uint64_t *out, size_t blocks, const int64_t *launch,
                     struct samples *samples)
{
    qsort(out, blocks, WORDS * sizeof *out, u64_compare);
    for (size_t i = 0; i < blocks;)
        i += add_sm(out + i * WORDS, out + blocks * WORDS, launch, samples);
}

/* ---- the launch -------------------------------------------------------- */

static void sense(struct device *device, int64_t *watts, int64_t *throttle)
{
    struct device_sense now;
    struct error ignored;
    *watts = *throttle = -1;
    if (device_sense(device, &now, &ignored) != 0)
        return;
    *watts = (int64_t)now.power_w;
    *throttle = (int64_t)now.throttle;
}

/* What all launches of a run have in common. */
struct running {
    const struct experiment *experiment;
    const struct grid_timer *timer;
    struct shot shot;
    uint64_t args[3]; /* data out turns */
};
enum { ARGUMENT_DATA, ARGUMENT_OUT, ARGUMENT_TURNS };

/* Nothing has begun yet, and nothing ended. */
static int place_records(struct prober *prober, size_t blocks, uint64_t *at,
                         struct error *err)
{
    const size_t bytes = 8 * WORDS * blocks;
    uint64_t *const records = xcalloc(blocks, 8 * WORDS);
    for (size_t i = 0; i < blocks; i++)
        records[i * WORDS + WORD_BEGUN] = records[i * WORDS + WORD_BEGUN_NS] =
            UINT64_MAX;
    const int status =
        prober_place(prober, BUFFER_OUT, records, bytes, at, err);
    free(records);
    return status;
}

static int launch_turns(struct prober *prober, struct running *r,
                        int64_t told[3], struct error *err)
{
    double ns = 0;
    struct device *const device = prober_device(prober);
    if (prober_shoot(prober, r->experiment, &r->shot, err) != 0 ||
        device_elapsed(device, &ns, err) != 0)
        return err->code;
    told[0] = (int64_t)(ns + 0.5);
    sense(device, &told[1], &told[2]);
    return 0;
}

/* A launch of so many turns, and its rows. */
static int run_turns(struct prober *prober, struct running *r, uint64_t turns,
                     struct samples *samples, struct error *err)
{
    int64_t told[3];
    const size_t blocks = r->timer->blocks;
    r->args[ARGUMENT_TURNS] = turns;
    if (place_records(prober, blocks, &r->args[ARGUMENT_OUT], err) != 0 ||
        launch_turns(prober, r, told, err) != 0)
        return err->code;
    uint64_t *const out =
        prober_fetch(prober, r->args[ARGUMENT_OUT], 8 * WORDS * blocks, err);
    if (out == NULL)
        return err->code;
    add_rows(out, blocks, told, samples);
    free(out);
    return 0;
}

/* Rows from `at` on are of one more launch, and join those of the first, from
 * `from` on; power and throttle reasons are the last one's. */
static void join_rows(struct samples *samples, size_t from, size_t at)
{
    if (at == from || samples->rows - at != at - from)
        return;
    for (size_t i = 0; i < at - from; i++) {
        int64_t *const row = samples->data + (from + i) * samples->columns;
        const int64_t *const more = samples->data + (at + i) * samples->columns;
        row[COLUMN_CYCLES] += more[COLUMN_CYCLES];
        row[COLUMN_NS] += more[COLUMN_NS];
        row[COLUMN_ELAPSED] += more[COLUMN_ELAPSED];
        row[COLUMN_WATTS] = more[COLUMN_WATTS];
        row[COLUMN_THROTTLE] = more[COLUMN_THROTTLE];
    }
    samples->rows = at;
}

/* Turns that take a launch's share of the time, by what those before took. */
static uint64_t next_turns(const struct samples *samples, size_t from,
                           uint64_t done, uint64_t left)
{
    const double ns = (double)samples_at(samples, from, COLUMN_ELAPSED);
    const double most = ns > 0 ? launch_ns * (double)done / ns : (double)left;
    return most >= (double)left ? left : most < 1 ? 1 : (uint64_t)most;
}

int grid_timer_run(struct prober *prober, const struct experiment *e,
                   const struct grid_timer_work *work, struct samples *samples,
                   struct error *err)
{
    struct running r = {
        .experiment = e,
        .timer = e->own,
        .shot = {.kernel = e->probe->name,
                 .threads = work->threads,
                 .shared_bytes = work->shared_bytes,
                 .carve_out = CARVE_OUT_DEFAULT,
                 .deadline_s = DEADLINE_S,
                 .arg_count = COUNT_OF(r.args)},
    };
    const uint64_t turns = r.timer->turns;
    const size_t from = samples->rows;
    r.shot.blocks = (unsigned)r.timer->blocks;
    r.shot.args = r.args;
    memcpy(work->data, &never, sizeof never);
    if (prober_place(prober, BUFFER_JOBS, work->data, work->bytes,
                     &r.args[ARGUMENT_DATA], err) != 0)
        return err->code;
    uint64_t now = turns < TURNS_TRIED ? turns : TURNS_TRIED;
    for (uint64_t done = 0; done < turns;) {
        const size_t at = samples->rows;
        if (run_turns(prober, &r, now, samples, err) != 0)
            return err->code;
        join_rows(samples, from, at);
        done += now;
        now = next_turns(samples, from, done, turns - done);
    }
    return 0;
}

/* ---- operands ---------------------------------------------------------- */

/* Numbers of a type as bits: which of them are random, and what the others
 * are, so that sign, mantissa and the lowest two bits of the exponent are; in
 * each part of 64 bits the same.  Integers are any.  Tried in this order. */
static const struct format {
    const char *word;
    uint64_t random, fixed;
} formats[] = {
    {".s8", UINT64_MAX, 0},
    {".u8", UINT64_MAX, 0},
    {".s4", UINT64_MAX, 0},
    {".b1", UINT64_MAX, 0},
    {".bf16", 0x81ff81ff81ff81ff, 0x3c003c003c003c00},
    {".e4m3", 0x9f9f9f9f9f9f9f9f, 0x2020202020202020},
    {".e5m2", 0x8f8f8f8f8f8f8f8f, 0x2020202020202020},
    {".tf32", 0x81ffffff81ffffff, 0x3c0000003c000000},
    {".f16", 0x8fff8fff8fff8fff, 0x2000200020002000},
    {".m16n16k16.", 0x8fff8fff8fff8fff, 0x2000200020002000},
    {".m32n8k16.", 0x8fff8fff8fff8fff, 0x2000200020002000},
    {".m8n32k16.", 0x8fff8fff8fff8fff, 0x2000200020002000},
    {".f64", 0x803fffffffffffff, 0x3f80000000000000},
    {".f32", 0x81ffffff81ffffff, 0x3c0000003c000000},
};

struct grid_timer_bits grid_timer_bits(const char *text)
{
    for (size_t i = 0; i < COUNT_OF(formats); i++)
        if (strstr(text, formats[i].word) != NULL)
            return (struct grid_timer_bits){formats[i].random,
                                            formats[i].fixed};
    return (struct grid_timer_bits){UINT64_MAX, 0};
}
