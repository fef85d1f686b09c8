/*
 * The probe `clock`: what reading the clock costs, and how fast it runs.
 *
 * One thread, one block.  `pair`: cycles between two reads in a row.  `store`:
 * the same with the store between them that orders the samples of the probe
 * `trace`, which is what a trace's samples hold beside the load.  `cycles` and
 * `ns`: a spin of at least `spin` cycles by both clocks.
 */
#include "probe/run.h"
#include "ptx/kernel.h"

enum column { COLUMN_PAIR = 1, COLUMN_STORE, COLUMN_CYCLES, COLUMN_NS };
enum { OUT_WORDS = 4 };

static const struct param params[] = {
    {"spin", PARAM_NUMBER, "200000", 1, 1u << 31, NULL,
     "cycles for which both clocks run"},
    {0},
};

static const char *const columns[] = {"pair", "store", "cycles", "ns", NULL};

static int kernel(const struct experiment *e, const struct device_info *info,
                  struct buf *ptx, struct error *err)
{
    (void)e;
    (void)err;
    struct kernel_text k;
    kernel_begin(&k, ptx, info->cc_major, info->cc_minor,
                 ".shared .align 16 .b8 pool[16];\n\n", "clock", "out spin");
    kernel_line(&k, ".reg .b32 %%t0, %%t1, %%t2, %%t3, %%value;");
    kernel_line(&k, ".reg .b64 %%out, %%spin, %%c0, %%c1, %%n0, %%n1, %%d;");
    kernel_line(&k, ".reg .pred %%again;");
    kernel_line(&k, "ld.param.u64 %%out, [out];");
    kernel_line(&k, "ld.param.u64 %%spin, [spin];");
    kernel_line(&k, "cvt.u32.u64 %%value, %%spin;");
    kernel_line(&k, "mov.u64 %%n0, %%globaltimer;");
    kernel_line(&k, "mov.u64 %%c0, %%clock64;");
    kernel_line(&k, "SPIN:");
    kernel_line(&k, "mov.u64 %%c1, %%clock64;");
    kernel_line(&k, "sub.u64 %%d, %%c1, %%c0;");
    kernel_line(&k, "setp.lt.u64 %%again, %%d, %%spin;");
    kernel_line(&k, "@%%again bra SPIN;");
    kernel_line(&k, "mov.u64 %%n1, %%globaltimer;");
    kernel_line(&k, "sub.u64 %%n1, %%n1, %%n0;");
    kernel_line(&k, "st.global.u64 [%%out+16], %%d;");
    kernel_line(&k, "st.global.u64 [%%out+24], %%n1;");
    kernel_note(&k, "twice: the first turn finds the code not yet cached");
    kernel_line(&k, "mov.u64 %%c0, 2;");
    kernel_line(&k, "TURN:");
    kernel_line(&k, "mov.u32 %%t0, %%clock;");
    kernel_line(&k, "mov.u32 %%t1, %%clock;");
    kernel_line(&k, "mov.u32 %%t2, %%clock;");
    kernel_line(&k, "st.shared.u32 [pool+8], %%value;");
    kernel_line(&k, "mov.u32 %%t3, %%clock;");
    kernel_line(&k, "sub.u64 %%c0, %%c0, 1;");
    kernel_line(&k, "setp.ne.u64 %%again, %%c0, 0;");
    kernel_line(&k, "@%%again bra TURN;");
    kernel_line(&k, "sub.u32 %%t1, %%t1, %%t0;");
    kernel_line(&k, "cvt.u64.u32 %%d, %%t1;");
    kernel_line(&k, "st.global.u64 [%%out], %%d;");
    kernel_line(&k, "sub.u32 %%t3, %%t3, %%t2;");
    kernel_line(&k, "cvt.u64.u32 %%d, %%t3;");
    kernel_line(&k, "st.global.u64 [%%out+8], %%d;");
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
    for (int i = 0; i < OUT_WORDS; i++)
        row[COLUMN_PAIR + i] = (int64_t)words[i];
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
