/*
 * The probe `reference`: what must cost the same all through a run, as long as
 * the GPU is ours and stays itself.
 *
 * One thread loads a few lines, one after the other: first those that the
 * launch before brought into L2 (`kept`: all of them together; more than
 * `l2_all` where another process had L2 since), then again, by L2 (`l2`: the
 * quickest, `l2_all`: together) and by L1 (`l1`: the quickest).  Then it reads
 * the SM's clock for `spin` cycles: `gap` is the longest from one read to the
 * next, `cycles` and `ns` are both clocks.  After the launch the management
 * library is asked; what it does not tell is negative.  `dropped` are the
 * repetitions, so far, that were thrown away because the GPU was throttled.
 */
#include <string.h>

#include "base/mem.h"
#include "probe/check.h"
#include "probe/chip/state.h"
#include "probe/run/shot.h"
#include "ptx/kernel.h"

enum { LINES = 32, LINE = 128 };

enum column {
    COLUMN_CYCLES = 1,
    COLUMN_KEPT = COLUMN_CYCLES + STATE_WORDS,
    COLUMN_L2,
    COLUMN_L2_ALL,
    COLUMN_L1,
    COLUMN_MHZ
};
/* Words that the kernel writes: the columns up to the management library's. */
enum { OUT_WORDS = COLUMN_L1 };

struct reference {
    const char *at;
    uint64_t spin;
};

/* clang-format off */
static const struct param reference_params[] = {
    TEXT(struct reference, at, "now", "when that is, in a word: it names the samples"),
    NUMBER(struct reference, spin, "100000", 1000, 1u << 31, "cycles for which both clocks run"),
    {0},
};
/* clang-format on */

/* Loads all lines: %sum and %least are the cycles of all and of one. */
static void load_lines(struct kernel_text *k, const char *op, const char *label)
{
    ptx_with(k,
             "mov.u32 %sum, 0;\n"
             "mov.u32 %least, 0xffffffff;\n"
             "mov.u64 %at, %lines;\n"
             "mov.u32 %left, $count;\n"
             "$label:\n"
             "mov.u32 %t0, %clock;\n"
             "ld.global.$op.u32 %value, [%at];\n"
             "// which waits for it, and is never taken\n"
             "setp.eq.u32 %again, %value, 0x5eed5eed;\n"
             "@%again bra END;\n"
             "mov.u32 %t1, %clock;\n"
             "sub.u32 %t1, %t1, %t0;\n"
             "add.u32 %sum, %sum, %t1;\n"
             "min.u32 %least, %least, %t1;\n"
             "add.u64 %at, %at, $line;\n"
             "sub.u32 %left, %left, 1;\n"
             "setp.ne.u32 %again, %left, 0;\n"
             "@%again bra $label;\n",
             WORD(count, LINES), WORD(label, label), WORD(op, op),
             WORD(line, LINE));
}

static void store(struct kernel_text *k, const char *from, int column)
{
    ptx_with(k,
             "cvt.u64.u32 %word, $from;\n"
             "st.global.u64 [%out+$at], %word;\n",
             WORD(from, from), WORD(at, 8 * (column - 1)));
}

static void reference_kernel(const struct experiment *e,
                             const struct device_info *info, struct buf *out)
{
    (void)e;
    struct kernel_text k;
    kernel_begin(&k, out, device_cc(info), .name = "reference",
                 .parameters = "out lines spin");
    ptx(&k, ".reg .b64 %out, %lines, %spin, %at, %word;\n"
            ".reg .b32 %value, %t0, %t1, %sum, %least, %left;\n"
            ".reg .pred %again;\n"
            "ld.param.u64 %out, [out];\n"
            "ld.param.u64 %lines, [lines];\n"
            "ld.param.u64 %spin, [spin];\n");
    load_lines(&k, "cg", "KEPT");
    store(&k, "%sum", COLUMN_KEPT);
    load_lines(&k, "cg", "AGAIN");
    store(&k, "%least", COLUMN_L2);
    store(&k, "%sum", COLUMN_L2_ALL);
    load_lines(&k, "ca", "FILL");
    ptx(&k, "// with no store between them the second loop would load nothing");
    store(&k, "%least", COLUMN_L1);
    load_lines(&k, "ca", "NEAR");
    store(&k, "%least", COLUMN_L1);
    state_spin(&k);
    ptx(&k, "END:");
    kernel_end(&k);
}

/* The lines are there, and zero; nothing else uses them. */
static int place_lines(struct prober *prober, uint64_t *address,
                       struct error *err)
{
    if (prober_buffer_bytes(prober, BUFFER_REFERENCE) == 0)
        return prober_zeros(prober, BUFFER_REFERENCE, LINES * LINE, address,
                            err);
    return prober_buffer(prober, BUFFER_REFERENCE, LINES * LINE, address, err);
}

static int reference_once(struct prober *prober, const struct experiment *e,
                          struct samples *samples, struct error *err)
{
    const struct reference *const r = e->own;
    uint64_t args[] = {0, 0, r->spin}, words[OUT_WORDS];
    const struct shot shot = {
        .kernel = "reference",
        .blocks = 1,
        .threads = 1,
        .carve_out = CARVE_OUT_DEFAULT,
        .args = args,
        .arg_count = COUNT_OF(args),
    };
    if (prober_buffer(prober, BUFFER_OUT, sizeof words, &args[0], err) != 0 ||
        place_lines(prober, &args[1], err) != 0 ||
        prober_shoot(prober, e, &shot, err) != 0 ||
        device_copy_out(prober_device(prober), words, args[0], sizeof words,
                        err) != 0)
        return err->code;
    int64_t *const row = samples_row(samples);
    memcpy(row + 1, words, sizeof words);
    state_sense(prober, row + COLUMN_MHZ);
    return 0;
}

const struct probe probe_reference = {
    .name = "reference",
    .what = "what must stay the same: hits in L1 and L2, both clocks",
    .params = reference_params,
    .bytes = sizeof(struct reference),
    .columns = TEXTS("cycles", "ns", "gap", "kept", "l2", "l2_all", "l1", "mhz",
                     "throttle", "processes", "dropped"),
    .figure_column = COLUMN_CYCLES,
    .repeats_least = 3,
    .repeats_most = 3,
    .kernel = reference_kernel,
    .once = reference_once,
    .sound = rows_are_one,
};
