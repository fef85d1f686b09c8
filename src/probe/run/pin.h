/*
 * Work on chosen SMs.
 *
 * No launch can say where a block runs.  So a launch has one block for each SM
 * of the GPU, more if that missed one; the first block that finds itself on a
 * wanted SM takes that SM's job, and all others leave at once.  So different
 * work runs on different SMs in one launch (Groessler 2022, 4.7.2).
 */
#ifndef SONDE_PROBE_RUN_PIN_H
#define SONDE_PROBE_RUN_PIN_H

#include "probe/run/shot.h"
#include "ptx/kernel.h"

/* A helper that is launched right before, in the same turn of ours on a GPU
 * that is shared: what it brings into L2 is there. */
struct pin_ahead {
    const struct buf *ptx;
    struct shot shot;
};

struct pin {
    size_t count;        /* SMs */
    const uint64_t *sms; /* their numbers */
    const void *jobs;    /* of each SM: what its block reads */
    size_t job_bytes;
    size_t words_each; /* of each SM: 64-bit results, the last of which the
                          kernel sets to 1 when it is done */
    unsigned threads;  /* of a block */
    uint64_t shared_bytes;
    int carve_out;
    double deadline_s;    /* as in struct shot */
    unsigned each;        /* blocks of a launch for each SM; 0: one */
    size_t runs;          /* launches in a row, none of which is waited for but
                             the last, each with jobs and results of its own,
                             behind those of the one before; 0: one */
    const uint64_t *args; /* of the kernel, after those of the pin */
    size_t arg_count;
    const struct pin_ahead *ahead;      /* NULL: nothing */
    uint64_t counter_at; /* of one run, if it shall be elsewhere; 0: it may be
                            anywhere */
    uint64_t jobs_at, slots_at, out_at; /* set by pin_place */
};

/* Parameters of such a kernel, and bytes at the start of its dynamic shared
 * memory `pool` that belong to the pin. */
#define PIN_PARAMETERS "jobs slots"
#define PIN_VARIABLES  ".extern .shared .align 16 .b8 pool[];\n\n"
enum { PIN_POOL = 16, PIN_ARGUMENTS_MOST = 16 };

/* The slots: a 32-bit word for each SM number that can be asked for. */
enum { PIN_SLOTS = 1024 };
/* Writes that a thread takes the slot of its SM, from those at the parameter
 * `slots`: %slot (.b32) becomes what it held, and -1 for all who come later.
 * Reads %sm, uses %at (.b64). */
void pin_claim(struct kernel_text *k);

/*
 * Writes the choice; what follows is run by blocks that work.  Declares %sm,
 * %me (.b32: number of the SM, of the thread), %job (.b64: address of the
 * job), %at (.b64), %slot (.b32), %other (.pred: not thread 0), %again (.pred).
 */
void pin_opening(struct kernel_text *k, size_t job_bytes);

/* Loads a word of the job past L1, so that it takes no line of what is
 * measured. */
void pin_job_word(struct kernel_text *k, const char *into, int word);

/* Closes a span of a thread's watch, at what the clock was when it was read into
 * the register, and begins the next: %last is when it began, %longest the
 * longest so far; uses %gap (all .b32). */
void pin_mark(struct kernel_text *k, const char *clock);

/*
 * The same where all jobs are of one SM: as many of its blocks as there are
 * jobs stay, and are numbered in %slot as they came.  Declares what
 * pin_opening() does but for %job, and what pin_meet() does.
 */
void pin_opening_shared(struct kernel_text *k, uint64_t sm);
/* Writes that those wait for each other. */
void pin_meet_shared(struct kernel_text *k);

/* Writes that the blocks of all SMs wait for each other: their first threads;
 * the block itself must be held back.  Uses the pin's counter; declares %count,
 * %looks, %want (.b32), %slots (.b64). */
void pin_meet(struct kernel_text *k);
/* Writes, after that: a thread counts once more; and looks how far that has
 * come, from the pin's `count` on: %count. */
void pin_count(struct kernel_text *k);
void pin_counted(struct kernel_text *k);

/* Checks the SMs' numbers and finds room for jobs and results. */
int pin_place(struct prober *prober, struct pin *pin, struct error *err);

/* Where the results of an SM are, by its place among those that are wanted, and
 * those that are in the runs before. */
static inline uint64_t pin_out(const struct pin *pin, size_t i)
{
    return pin->out_at + i * pin->words_each * 8;
}

/* A 32-bit word in device memory that is 0 when that run begins, for blocks
 * that count themselves. */
uint64_t pin_counter(const struct pin *pin, size_t run);

/* Launches the experiment's kernel until every SM has done its job; the results
 * (runs × count × words_each, zeros before), all of the same launches, are the caller's
 * to free; NULL if it failed. */
uint64_t *pin_run(struct prober *prober, const struct experiment *experiment,
                  const struct pin *pin, struct error *err);

#endif
