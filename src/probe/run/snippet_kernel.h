/*
 * Timed copies of a snippet: the kernel that `isa` runs and `machine` reads.
 *
 * In each lap two regions stand between two reads of the clock each: `copies`
 * copies of the snippet, and three times as many.  What the long one takes
 * more, divided by twice the copies, is the cost of one: clock reads and the
 * frame are gone (the difference of two lengths; seed Arafa 2019 takes one
 * copy and subtracts what it calls the clock's overhead).
 *
 * The registers begin with values from memory, which the assembler cannot
 * know, anew in each region.  Nothing of a chain can begin before the first
 * clock read: its registers are chosen by a predicate made from what was read.
 * The second read waits for the chain: it is guarded by a predicate made from
 * the results.
 *
 * With several chains, each has written registers of its own, and copies of
 * the chains take turns.  With several warps all begin after a barrier, on
 * whose result a branch before the clock read depends: on Hopper a warp goes on
 * to what does not need the barrier before the others have come
 * (BAR.SYNC.DEFER_BLOCKING), and one that is behind reads the clock when others
 * are already done.
 */
#ifndef SONDE_PROBE_RUN_SNIPPET_KERNEL_H
#define SONDE_PROBE_RUN_SNIPPET_KERNEL_H

#include "probe/probe.h"
#include "ptx/instruction.h"
#include "ptx/snippet.h"

enum {
    SNIPPET_COPIES_MOST = 1024,
    SNIPPET_CHAINS_MOST = 8,
    SNIPPET_WARPS_MOST = 32
};
/* The long region has so many times the copies of the short one. */
enum { SNIPPET_LONG = 3 };
/* Scratch memory of a snippet, B, and what lies on each side of the global
 * one, to see writes that miss it. */
enum {
    SCRATCH_SHARED = 16384,
    SCRATCH_GLOBAL = 1 << 20,
    SCRATCH_GUARD = 65536
};

/* By enum instruction_form. */
extern const char *const copies_forms[];

/* What the experiment says, completed by snippet_kernel_prepare(): the struct
 * of such a probe, or what its struct begins with. */
struct snippet_kernel {
    const char *row, *text, *setup_text;
    const char *values; /* what registers begin with */
    enum instruction_form form;
    unsigned chains, copies;
    struct snippet snippet, setup;
    const char *ptx; /* least version; NULL: the device's */
    const struct snippet_register *chain, *partner; /* FORM_SWAP */
};

/* Rows for the table of a probe. */
/* clang-format off */
#define SNIPPET_PARAMS                                                         \
    TEXT(struct snippet_kernel, row, "add.u32", "instruction of the table"),   \
    PARAM_ROW("snippet", struct snippet_kernel, text, PARAM_TEXT, "", 0, 0,    \
        NULL, "instructions instead of a row"),                                \
    PARAM_ROW("setup", struct snippet_kernel, setup_text, PARAM_TEXT, "", 0,   \
        0, NULL, "instructions before the clock"),                             \
    TEXT(struct snippet_kernel, values, "",                                    \
        "what registers begin with: 'r0=7 f1=0.5'"),                           \
    ASSEMBLER_LEVEL,                                                           \
    CHOICE(struct snippet_kernel, form, "plain", copies_forms,                 \
        "what keeps copies from being folded"),                                \
    NUMBER(struct snippet_kernel, chains, "1", 1, SNIPPET_CHAINS_MOST,         \
        "independent chains of copies"),                                       \
    NUMBER(struct snippet_kernel, copies, "16", 1, SNIPPET_COPIES_MOST,        \
        "copies of a chain in the short region")
/* clang-format on */

/* What stands behind NAME= among words "r0=7 f1=0.5"; NULL: nothing. */
const char *snippet_kernel_value(const char *values, const char *name);

/* The first register that is only read and of the kind of the chain's, which
 * FORM_SWAP needs; NULL if there is none. */
const struct snippet_register *
snippet_kernel_partner(const struct snippet *snippet);

/* Hooks of such a probe: ERR_USAGE for what the words say wrong,
 * ERR_UNSUPPORTED for a form that the snippet cannot have; the kernel `isa`, of
 * the parameters data, out, scratch, laps. */
int snippet_kernel_prepare(struct experiment *e, const struct device_info *info,
                           struct error *err);
void snippet_kernel_release(void *own);
void snippet_kernel_write(const struct experiment *e,
                          const struct device_info *info, struct buf *out);

/* Turns the assembler's complaint about a line of the kernel (ERR_PTX, "… line
 * 40 …") into one about the snippet, with its own line and column (ERR_USAGE):
 * of `snippet` and `setup`, which have the statements of the experiment's, but
 * as they were given.  One about a line that is not of them stays as it is. */
int snippet_kernel_complain(struct experiment *e,
                            const struct device_info *info,
                            const struct snippet *snippet,
                            const struct snippet *setup, struct error *err);

/* What `data` must hold; the caller frees. */
uint64_t *snippet_kernel_data(const struct snippet_kernel *t, size_t *words,
                              struct error *err);

#endif
