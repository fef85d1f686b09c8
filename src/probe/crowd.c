#include "probe/crowd.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum column {
    COLUMN_SM = 1,
    COLUMN_BLOCKS,
    COLUMN_CYCLES,
    COLUMN_NS,
    COLUMN_ELAPSED,
    COLUMN_WATTS,
    COLUMN_THROTTLE
};
/* What a block writes. */
enum { WORD_SM, WORD_BEGUN, WORD_ENDED, WORD_BEGUN_NS, WORD_ENDED_NS, WORDS };
enum { DEADLINE_S = 10 };
static const uint64_t never = 0x9e3779b9;

const char *const crowd_operands[] = {"random", "zeros", NULL};
const char *const crowd_columns[] = {"sm",      "blocks", "cycles",   "ns",
                                     "elapsed", "watts",  "throttle", NULL};

/* ---- the kernel -------------------------------------------------------- */

void crowd_opening(struct kernel_text *k)
{
    kernel_line(k, ".reg .b64 %%data, %%out, %%c0, %%c1, %%n0, %%n1, %%at;");
    kernel_line(k, ".reg .b32 %%turns, %%me, %%word, %%high, %%sum, %%never, "
                   "%%sm, %%left;");
    kernel_line(k, ".reg .pred %%done, %%true, %%first, %%cold;");
    kernel_line(k, "ld.param.u64 %%data, [data];");
    kernel_line(k, "ld.param.u64 %%out, [out];");
    kernel_line(k, "ld.param.u32 %%turns, [turns];");
    kernel_line(k, "ld.global.u32 %%never, [%%data];");
    kernel_line(k, "mov.u32 %%me, %%tid.x;");
    kernel_line(k, "and.b32 %%word, %%me, 31;");
    kernel_line(k, "setp.eq.u32 %%first, %%word, 0;");
    kernel_line(k, "mov.u32 %%sum, 0;");
    kernel_line(k, "mov.u32 %%left, 1;");
    kernel_line(k, "setp.eq.u32 %%cold, %%sum, 0;");
}

static void meet_and_read(struct kernel_text *k, const char *clock,
                          const char *timer)
{
    kernel_line(k, "setp.ne.u32 %%true, %%sum, %%never;");
    kernel_line(k, "bar.red.or.pred %%done, 0, %%true;");
    kernel_line(k, "@!%%done bra DONE;");
    kernel_line(k, "mov.u64 %%%s, %%clock64;", clock);
    kernel_line(k, "mov.u64 %%%s, %%globaltimer;", timer);
}

void crowd_begin(struct kernel_text *k)
{
    kernel_line(k, "PASS:");
    kernel_line(k, ".pragma \"nounroll\";");
    meet_and_read(k, "c0", "n0");
}

void crowd_loop(struct kernel_text *k)
{
    kernel_line(k, "TURN:");
    kernel_line(k, ".pragma \"nounroll\";");
}

void crowd_again(struct kernel_text *k)
{
    kernel_line(k, "sub.u32 %%left, %%left, 1;");
    kernel_line(k, "setp.ne.u32 %%true, %%left, 0;");
    kernel_line(k, "@%%true bra TURN;");
}

void crowd_end(struct kernel_text *k)
{
    meet_and_read(k, "c1", "n1");
    kernel_line(k, "mov.u32 %%left, %%turns;");
    kernel_line(k, "mov.pred %%true, %%cold;");
    kernel_line(k, "setp.ne.u32 %%cold, 0, 0;");
    kernel_line(k, "@%%true bra PASS;");
    kernel_line(k, "@!%%first bra DONE;");
    kernel_line(k, "mov.u32 %%word, %%ctaid.x;");
    kernel_line(k, "mad.wide.u32 %%out, %%word, %d, %%out;", 8 * WORDS);
    kernel_line(k, "mov.u32 %%sm, %%smid;");
    kernel_line(k, "cvt.u64.u32 %%at, %%sm;");
    kernel_line(k, "st.global.u64 [%%out+%d], %%at;", 8 * WORD_SM);
    kernel_line(k, "red.global.min.u64 [%%out+%d], %%c0;", 8 * WORD_BEGUN);
    kernel_line(k, "red.global.max.u64 [%%out+%d], %%c1;", 8 * WORD_ENDED);
    kernel_line(k, "red.global.min.u64 [%%out+%d], %%n0;", 8 * WORD_BEGUN_NS);
    kernel_line(k, "red.global.max.u64 [%%out+%d], %%n1;", 8 * WORD_ENDED_NS);
    kernel_line(k, "DONE:");
}

/* ---- samples ----------------------------------------------------------- */

static int by_sm(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

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
    qsort(out, blocks, WORDS * sizeof *out, by_sm);
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

static int launch_crowd(struct prober *prober, const struct experiment *e,
                        const char *name, struct launch *launch,
                        int64_t told[3], struct error *err)
{
    struct kernel *kernel;
    double ns = 0;
    struct device *const device = prober_device(prober);
    if (prober_kernel(prober, e, name, &kernel, err) != 0 ||
        device_launch(device, kernel, launch, err) != 0 ||
        device_elapsed(device, &ns, err) != 0)
        return err->code;
    told[0] = (int64_t)(ns + 0.5);
    sense(device, &told[1], &told[2]);
    return 0;
}

/* Nothing has begun yet, and nothing ended. */
static int place_records(struct prober *prober, size_t blocks, uint64_t *at,
                         struct error *err)
{
    const size_t bytes = 8 * WORDS * blocks;
    if (prober_buffer(prober, BUFFER_OUT, bytes, at, err) != 0)
        return err->code;
    uint64_t *const records = xcalloc(blocks, 8 * WORDS);
    for (size_t i = 0; i < blocks; i++)
        records[i * WORDS + WORD_BEGUN] = records[i * WORDS + WORD_BEGUN_NS] =
            UINT64_MAX;
    device_copy_in(prober_device(prober), *at, records, bytes, err);
    free(records);
    return err->code;
}

int crowd_run(struct prober *prober, const struct experiment *e,
              const char *name, unsigned threads, unsigned shared_bytes,
              unsigned char *data, size_t bytes, struct samples *samples,
              struct error *err)
{
    const size_t blocks = experiment_number(e, "blocks");
    const size_t words = blocks * WORDS;
    const uint64_t turns = experiment_number(e, "turns");
    uint64_t data_at, out_at;
    int64_t told[3];
    memcpy(data, &never, sizeof never);
    if (prober_buffer(prober, BUFFER_JOBS, bytes, &data_at, err) != 0 ||
        place_records(prober, blocks, &out_at, err) != 0 ||
        device_copy_in(prober_device(prober), data_at, data, bytes, err) != 0)
        return err->code;
    struct launch launch = {
        .grid = {(unsigned)blocks                               },
        .block = { threads},
        .shared_bytes = shared_bytes,
        .carve_out = CARVE_OUT_DEFAULT,
        .args = {                                 &data_at, &out_at, &turns},
        .arg_count = 3,
        .deadline_s = DEADLINE_S,
    };
    if (launch_crowd(prober, e, name, &launch, told, err) != 0)
        return err->code;
    uint64_t *const out = xcalloc(words, sizeof *out);
    const int code =
        device_copy_out(prober_device(prober), out, out_at, 8 * words, err);
    if (code == 0)
        add_rows(out, blocks, told, samples);
    free(out);
    return code;
}

double crowd_figure(const struct experiment *e, const struct samples *samples,
                    size_t from)
{
    (void)e;
    return (double)samples_at(samples, from, COLUMN_ELAPSED);
}

/* ---- operands ---------------------------------------------------------- */

/* Numbers of a type as bits: which of them are random, and what the others
 * are, so that sign, mantissa and the lowest two bits of the exponent are; in
 * each part of 64 bits the same.  Integers are any.  Tried in this order. */
static const struct format {
    const char *word;
    uint64_t random, fixed;
} formats[] = {
    {".s8",         UINT64_MAX,         0                 },
    {".u8",         UINT64_MAX,         0                 },
    {".s4",         UINT64_MAX,         0                 },
    {".b1",         UINT64_MAX,         0                 },
    {".bf16",       0x81ff81ff81ff81ff, 0x3c003c003c003c00},
    {".e4m3",       0x9f9f9f9f9f9f9f9f, 0x2020202020202020},
    {".e5m2",       0x8f8f8f8f8f8f8f8f, 0x2020202020202020},
    {".tf32",       0x81ffffff81ffffff, 0x3c0000003c000000},
    {".f16",        0x8fff8fff8fff8fff, 0x2000200020002000},
    {".m16n16k16.", 0x8fff8fff8fff8fff, 0x2000200020002000},
    {".m32n8k16.",  0x8fff8fff8fff8fff, 0x2000200020002000},
    {".m8n32k16.",  0x8fff8fff8fff8fff, 0x2000200020002000},
    {".f64",        0x803fffffffffffff, 0x3f80000000000000},
    {".f32",        0x81ffffff81ffffff, 0x3c0000003c000000},
};

struct crowd_bits crowd_bits(const char *text)
{
    for (size_t i = 0; i < COUNT_OF(formats); i++)
        if (strstr(text, formats[i].word) != NULL)
            return (struct crowd_bits){formats[i].random, formats[i].fixed};
    return (struct crowd_bits){UINT64_MAX, 0};
}
