/*
 * The probe `state`: the SM clock measured in a kernel and the one that is
 * told, and what else says whether the GPU is itself: throttling, other
 * processes, and spans in which the SM did not run us.
 *
 * One thread reads the SM's clock again and again for `spin` cycles.  `gap` is
 * the longest from one read to the next: the clock goes on while an SM works
 * for another process.  After the launch the management library is asked; what
 * it does not tell is negative.  `dropped` are the repetitions, so far, that
 * were thrown away because the GPU was throttled.
 */
#include "probe/chip/state.h"

#include <string.h>

#include "base/mem.h"
#include "probe/check.h"
#include "probe/guard.h"
#include "probe/run/shot.h"
#include "ptx/kernel.h"

/* Words that the kernel writes, and the columns that are those. */
enum { OUT_CYCLES, OUT_NS, OUT_GAP, OUT_WORDS = STATE_WORDS };
enum { COLUMN_NS = 1 + OUT_NS, COLUMN_MHZ = 1 + OUT_WORDS };

struct state {
    const char *at;
    uint64_t spin;
};

/* clang-format off */
static const struct param state_params[] = {
    TEXT(struct state, at, "now", "when that is, in a word: it names the samples"),
    NUMBER(struct state, spin, "500000", 1000, 1u << 31, "cycles for which both clocks run"),
    {0},
};
/* clang-format on */

void state_spin(struct kernel_text *k)
{
    ptx_with(k,
             ".reg .b64 %first, %last, %now, %gap, %most, %took, %n0, %n1;\n"
             ".reg .pred %spins;\n"
             "mov.u64 %most, 0;\n"
             "mov.u64 %n0, %globaltimer;\n"
             "mov.u64 %first, %clock64;\n"
             "mov.u64 %last, %first;\n"
             "SPIN:\n"
             "mov.u64 %now, %clock64;\n"
             "sub.u64 %gap, %now, %last;\n"
             "max.u64 %most, %most, %gap;\n"
             "mov.u64 %last, %now;\n"
             "sub.u64 %took, %now, %first;\n"
             "setp.lt.u64 %spins, %took, %spin;\n"
             "@%spins bra SPIN;\n"
             "mov.u64 %n1, %globaltimer;\n"
             "sub.u64 %n1, %n1, %n0;\n"
             "st.global.u64 [%out+$cycles], %took;\n"
             "st.global.u64 [%out+$ns], %n1;\n"
             "st.global.u64 [%out+$gap], %most;\n",
             WORD(cycles, 8 * OUT_CYCLES), WORD(ns, 8 * OUT_NS),
             WORD(gap, 8 * OUT_GAP));
}

static void state_kernel(const struct experiment *e,
                         const struct device_info *info, struct buf *out)
{
    (void)e;
    struct kernel_text k;
    kernel_begin(&k, out, device_cc(info), .name = "state",
                 .parameters = "out spin");
    ptx(&k, ".reg .b64 %out, %spin;\n"
            "ld.param.u64 %out, [out];\n"
            "ld.param.u64 %spin, [spin];\n");
    state_spin(&k);
    kernel_end(&k);
}

void state_sense(struct prober *prober, int64_t *columns)
{
    struct device_sense now;
    struct error ignored;
    const bool told = device_sense(prober_device(prober), &now, &ignored) == 0;
    columns[0] = told ? (int64_t)now.sm_mhz : -1;
    columns[1] = told ? (int64_t)now.throttle : -1;
    columns[2] = told ? now.other_processes : -1;
    columns[3] = (int64_t)prober_guard(prober)->throttled;
}

static int state_once(struct prober *prober, const struct experiment *e,
                      struct samples *samples, struct error *err)
{
    const struct state *const s = e->own;
    uint64_t words[OUT_WORDS];
    if (prober_shoot_thread(prober, e, s->spin, words, OUT_WORDS, err) != 0)
        return err->code;
    int64_t *const row = samples_row(samples);
    memcpy(row + 1, words, sizeof words);
    state_sense(prober, row + COLUMN_MHZ);
    return 0;
}

const struct probe probe_state = {
    .name = "state",
    .what = "the SM clock as measured and as told, throttling, other processes",
    .params = state_params,
    .bytes = sizeof(struct state),
    .columns =
        TEXTS("cycles", "ns", "gap", "mhz", "throttle", "processes", "dropped"),
    .figure_column = COLUMN_NS,
    .repeats_least = 3,
    .repeats_most = 3,
    .kernel = state_kernel,
    .once = state_once,
    .sound = rows_are_one,
};
