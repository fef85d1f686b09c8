/*
 * The probe `clock`: what reading the clock costs, and how fast it runs.
 *
 * One thread, one block.  `pair`: cycles between two reads in a row, of a
 * second such pair, since the first finds its code not yet cached.  `cycles`
 * and `ns`: a spin of at least `spin` cycles by both clocks.
 */
#include "base/mem.h"
#include "probe/check.h"
#include "probe/run/shot.h"
#include "ptx/kernel.h"

enum { COLUMN_PAIR = 1 };
/* Words that the kernel writes: those of the columns, and the first pair. */
enum { OUT_PAIR, OUT_CYCLES, OUT_NS, OUT_FIRST_PAIR, OUT_WORDS };

struct clock {
    uint64_t spin;
};

/* clang-format off */
static const struct param clock_params[] = {
    NUMBER(struct clock, spin, "200000", 1, 1u << 31, "cycles for which both clocks run"),
    ASSEMBLER_LEVEL,
    {0},
};
/* clang-format on */

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

static void clock_kernel(const struct experiment *e,
                         const struct device_info *info, struct buf *out)
{
    (void)e;
    struct kernel_text k;
    kernel_begin(&k, out, device_cc(info), .name = "clock",
                 .parameters = "out spin");
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
}

static int clock_once(struct prober *prober, const struct experiment *e,
                      struct samples *samples, struct error *err)
{
    const struct clock *const c = e->own;
    uint64_t words[OUT_WORDS];
    if (prober_shoot_thread(prober, e, c->spin, words, OUT_WORDS, err) != 0)
        return err->code;
    samples_add(samples, words[OUT_PAIR], words[OUT_CYCLES], words[OUT_NS]);
    return 0;
}

const struct probe probe_clock = {
    .name = "clock",
    .what = "cost of reading the clock, and its rate",
    .params = clock_params,
    .bytes = sizeof(struct clock),
    .columns = TEXTS("pair", "cycles", "ns"),
    .figure_column = COLUMN_PAIR,
    .repeats_least = 9,
    .repeats_most = 9,
    .kernel = clock_kernel,
    .once = clock_once,
    .sound = rows_are_one,
};
