/*
 * The same work in many blocks all over the GPU, and when each SM was at it.
 *
 * Such a kernel does its work between grid_timer_begin() and
 * grid_timer_end(). Each block waits until all of its warps are there; then
 * each reads the SM's clock and the GPU's timer, and again once all have their
 * results.  The block began with the first of them and ended with the last: any
 * one warp may have to wait long for its turn (on an H200, where others
 * multiply, for thousands of cycles).  On Hopper a warp goes on past a barrier
 * to what does not need it, so a branch before the clock read depends on the
 * barrier's result.
 *
 * Samples have a row for each SM that had a block: how many it had, cycles and
 * nanoseconds from the first one's beginning to the last one's end; and of the
 * launch, in each row: its device time, and what the GPU's management library
 * said right after it: power in W and throttle reasons, negative where it says
 * nothing.  A run that is too long for one launch is several, whose times are
 * added up.
 */
#ifndef SONDE_PROBE_RUN_GRID_TIMER_H
#define SONDE_PROBE_RUN_GRID_TIMER_H

#include "probe/run/shot.h"
#include "ptx/kernel.h"

enum { GRID_TIMER_BLOCKS_MOST = 65535 };
enum { GRID_TIMER_TURNS_MOST = 1 << 30 };

enum grid_timer_operands { OPERANDS_RANDOM, OPERANDS_ZEROS };

/* What such a probe's struct begins with. */
struct grid_timer {
    uint64_t blocks, turns;
    enum grid_timer_operands operands;
};

/* Rows for the table of a probe, after its own. */
/* clang-format off */
#define GRID_TIMER_PARAMS                                                      \
    NUMBER(struct grid_timer, blocks, "1", 1, GRID_TIMER_BLOCKS_MOST,          \
        "blocks of the launch"),                                               \
    NUMBER(struct grid_timer, turns, "1", 1, GRID_TIMER_TURNS_MOST,            \
        "times around the loop of copies"),                                    \
    CHOICE(struct grid_timer, operands, "random", grid_timer_operands,         \
        "what is calculated with"),                                            \
    REPEATS(99, "repetitions; 0: until they agree")
/* clang-format on */

extern const char *const grid_timer_operands[];
extern const char *const grid_timer_columns[];
enum { GRID_TIMER_ELAPSED = 5 }; /* the launch's device time: the figure */

/* Words that the kernel takes. */
#define GRID_TIMER_PARAMETERS "data out turns"

/* Declares %data, %out (.b64), %turns, %me, %word, %high, %sum, %never (.b32),
 * %done, %true, %first (.pred), and reads the parameters.  `data` begins with
 * a word that no %sum is. */
void grid_timer_opening(struct kernel_text *k);
void grid_timer_begin(struct kernel_text *k);
/* Opens and closes the loop of %turns. */
void grid_timer_loop(struct kernel_text *k);
void grid_timer_again(struct kernel_text *k);
/* When all warps have come to their %sum.  All from grid_timer_begin() on is
 * done twice, first once around the loop, so that its code is there. */
void grid_timer_end(struct kernel_text *k);

enum { GRID_TIMER_HEAD = 16 }; /* bytes of `data` before the probe's own */

struct grid_timer_work {
    unsigned threads;      /* of a block */
    uint64_t shared_bytes; /* dynamic ones of a block */
    unsigned char *data;   /* what the kernel reads; its head is set here */
    size_t bytes;
};

/* Runs the experiment's kernel and appends a row for each SM. */
int grid_timer_run(struct prober *prober, const struct experiment *e,
                   const struct grid_timer_work *work, struct samples *samples,
                   struct error *err);

/* 64 bits to calculate with, of the type that stands in `text` (".bf16",
 * ".s8"): `random` of them are drawn, the others are `fixed`.  Floats are
 * within a few powers of two below one, so that sums do not overflow. */
struct grid_timer_bits {
    uint64_t random, fixed;
};
struct grid_timer_bits grid_timer_bits(const char *text);

#endif
