/*
 * The probe `clock`: what reading the clock costs, and how fast it runs.
 *
 * One thread, one block.  `pair`: cycles between two reads in a row, of a
 * second such pair, since the first finds its code not yet cached.  `cycles`
 * and `ns`: a spin of at least `spin` cycles by both clocks.
 */
#include "probe/run.h"
#include "ptx/kernel.h"

enum column { COLUMN_PAIR = 1, COLUMN_CYCLES, COLUMN_NS };
/* Words that the kernel writes: those of the columns, and the first pair. */
enum { OUT_PAIR, OUT_CYCLES, OUT_NS, OUT_FIRST_PAIR, OUT_WORDS };

static const struct param params[] = {
    {"spin", PARAM_NUMBER, "200000", 1, 1u << 31, NULL,
     "cycles for which both clocks run"},
    {"level", PARAM_NUMBER, "3", 0, 4, NULL,
     "optimisation level of the assembler"},
    {0},
};

static const char *const columns[] = {"pair", "cycles", "ns", NULL};

/* The 64-bit clock: on Hopper the 32-bit one goes through the uniform
 * registers, which takes four times as long (8 cycles for 2). */
static void read_pair(struct kernel_text *k, int word)
{
    ptx_with(k,
             "mov.u64 %c0, %clock64;\n"
             "mov.u64 %c1, %clock64;\n"
             "sub.u64 %c1, %c1, %c0;\n"
             "st.global.u64 [%out+$word], %c1;\n",
             WORD(word, 8 * word));
}

static int kernel(const struct experiment *e, const struct device_info *info,
                  struct buf *out, struct error *err)
{
    (void)e;
    (void)err;
    struct kernel_text k;
    kernel_begin(&k, out, device_cc(info),
                 &(struct kernel_head){
                     .name = "clock",
                     .parameters = "out spin",
                 });
    ptx_with(&k,
             ".reg .b64 %out, %spin, %c0, %c1, %n0, %n1;\n"
             ".reg .pred %again;\n"
             "ld.param.u64 %out, [out];\n"
             "ld.param.u64 %spin, [spin];\n"
             "mov.u64 %n0, %globaltimer;\n"
             "mov.u64 %c0, %clock64;\n"
             "SPIN:\n"
             "mov.u64 %c1, %clock64;\n"
             "sub.u64 %c1, %c1, %c0;\n"
             "setp.lt.u64 %again, %c1, %spin;\n"
             "@%again bra SPIN;\n"
             "mov.u64 %n1, %globaltimer;\n"
             "sub.u64 %n1, %n1, %n0;\n"
             "st.global.u64 [%out+$cycles], %c1;\n"
             "st.global.u64 [%out+$ns], %n1;\n",
             WORD(cycles, 8 * OUT_CYCLES), WORD(ns, 8 * OUT_NS));
    read_pair(&k, OUT_FIRST_PAIR);
    read_pair(&k, OUT_PAIR);
    kernel_end(&k);
    return 0;
}

static int once(struct prober *prober, const struct experiment *e,
                struct samples *samples, struct error *err)
{
    struct kernel *k;
    uint64_t out, words[OUT_WORDS];
    const uint64_t spin = experiment_number(e, "spin");
    if (prober_kernel(prober, e, "clock", &k, err) != 0 ||
        prober_buffer(prober, BUFFER_OUT, sizeof words, &out, err) != 0)
        return err->code;
    const struct launch launch = {
        .grid = {1},
        .block = {1},
        .carve_out = CARVE_OUT_DEFAULT,
        .args = {&out, &spin},
        .arg_count = 2,
    };
    if (device_launch(prober_device(prober), k, &launch, err) != 0 ||
        device_copy_out(prober_device(prober), words, out, sizeof words, err))
        return err->code;
    int64_t *const row = samples_row(samples);
    row[COLUMN_PAIR] = (int64_t)words[OUT_PAIR];
    row[COLUMN_CYCLES] = (int64_t)words[OUT_CYCLES];
    row[COLUMN_NS] = (int64_t)words[OUT_NS];
    return 0;
}

static double figure(const struct experiment *e, const struct samples *samples,
                     size_t from)
{
    (void)e;
    return (double)samples_at(samples, from, COLUMN_PAIR);
}

const struct probe probe_clock = {
    .name = "clock",
    .what = "cost of reading the clock, and its rate",
    .params = params,
    .columns = columns,
    .figure = figure,
    .repeats_least = 9,
    .repeats_most = 9,
    .kernel = kernel,
    .once = once,
};
