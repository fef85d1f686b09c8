/*
 * What the pointer-chasing probes have in common: their parameters, the ring
 * in device memory, the choice of SMs, and the opening of their kernels.
 *
 * Rings of several SMs are chased in one launch (probe/run/pin.h).  In a block
 * that works, all threads sweep memory where that is asked for; then thread 0
 * chases alone.
 */
#ifndef SONDE_PROBE_RUN_POINTER_CHASE_H
#define SONDE_PROBE_RUN_POINTER_CHASE_H

#include "probe/probe.h"
#include "probe/run/pin.h"
#include "probe/run/ring.h"
#include "ptx/kernel.h"
#include "ptx/space.h"

/* Carve-out value that leaves the choice to the driver. */
enum { POINTER_CHASE_CARVE_DRIVER = 101 };

struct pointer_chase {
    const struct space *space;
    const char *op, *sweep_op;
    struct ring_plan plan; /* of the first SM */
    uint64_t step;         /* bytes more on each further SM */
    uint64_t shift;        /* bytes between the buffer's start and the rings */
    uint64_t warm, visits, sweep, flush;
    uint64_t carve, sm, sms;
    uint64_t above, records; /* of a trace: what it keeps */
};

/* Rows for the table of a probe. */
#define POINTER_CHASE_PARAMS                                                   \
    {"space",                                                                  \
     PARAM_WORD,                                                               \
     "global",                                                                 \
     0,                                                                        \
     0,                                                                        \
     walk_spaces,                                                              \
     "memory space of the ring"},                                              \
        {"op",                                                                 \
         PARAM_WORD,                                                           \
         "default",                                                            \
         0,                                                                    \
         0,                                                                    \
         walk_ops,                                                             \
         "cache operator of the loads"},                                       \
        {"bytes", PARAM_NUMBER,         "4096", 8, 1ull << 40,                 \
         NULL,    "size of the ring, B"},                                      \
        {"stride",                                                             \
         PARAM_NUMBER,                                                         \
         "128",                                                                \
         4,                                                                    \
         1ull << 32,                                                           \
         NULL,                                                                 \
         "distance of its elements, B"},                                       \
        {"order", PARAM_WORD,  "sequential",    0,                             \
         0,       walk_orders, "order of visit"},                              \
        {"window",                                                             \
         PARAM_NUMBER,                                                         \
         "0",                                                                  \
         0,                                                                    \
         1ull << 40,                                                           \
         NULL,                                                                 \
         "random order inside windows of so many bytes; 0: one"},              \
        {"sample",                                                             \
         PARAM_NUMBER,                                                         \
         "0",                                                                  \
         0,                                                                    \
         1ull << 24,                                                           \
         NULL,                                                                 \
         "visit only so many elements, spread evenly; 0: all"},                \
        {"lead",                                                               \
         PARAM_NUMBER,                                                         \
         "0",                                                                  \
         0,                                                                    \
         1ull << 32,                                                           \
         NULL,                                                                 \
         "a further element leads each block of so many bytes; 0: none"},      \
        {"list",                                                               \
         PARAM_LIST,                                                           \
         "",                                                                   \
         0,                                                                    \
         0,                                                                    \
         NULL,                                                                 \
         "visit START:COUNT:STEP[,...] instead of bytes and stride"},          \
        {"step",                                                               \
         PARAM_NUMBER,                                                         \
         "0",                                                                  \
         0,                                                                    \
         1ull << 40,                                                           \
         NULL,                                                                 \
         "bytes more on each further SM"},                                     \
        {"shift",                                                              \
         PARAM_NUMBER,                                                         \
         "0",                                                                  \
         0,                                                                    \
         1ull << 40,                                                           \
         NULL,                                                                 \
         "where in its buffer the ring begins, B"},                            \
        {"sm", PARAM_NUMBER, "0", 0, 1023, NULL, "first SM"},                  \
        {"sms", PARAM_NUMBER, "1", 1, 1024, NULL, "how many SMs at once"},     \
        {"carve",                                                              \
         PARAM_NUMBER,                                                         \
         "0",                                                                  \
         0,                                                                    \
         POINTER_CHASE_CARVE_DRIVER,                                           \
         NULL,                                                                 \
         "percent of the array for shared memory; 101: the driver's choice"},  \
        {"flush",                                                              \
         PARAM_NUMBER,                                                         \
         "0",                                                                  \
         0,                                                                    \
         1ull << 40,                                                           \
         NULL,                                                                 \
         "first sweep so many bytes of other memory, B"},                      \
        {"sweep",                                                              \
         PARAM_NUMBER,                                                         \
         "0",                                                                  \
         0,                                                                    \
         64,                                                                   \
         NULL,                                                                 \
         "then sweep the ring's range so many times with all threads"},        \
        {"sweep_op",                                                           \
         PARAM_WORD,                                                           \
         "same",                                                               \
         0,                                                                    \
         0,                                                                    \
         walk_sweep_ops,                                                       \
         "cache operator of that sweep"},                                      \
        {"warm",                                                               \
         PARAM_NUMBER,                                                         \
         "1",                                                                  \
         0,                                                                    \
         1024,                                                                 \
         NULL,                                                                 \
         "then chase so many laps untimed"},

extern const char *const walk_spaces[],
    *const walk_ops[], *const walk_orders[], *const walk_sweep_ops[];

/* Reads the common parameters; ERR_USAGE where they contradict each other.  Of
 * a ring that is chased for less than a lap only the first `reach` × visits
 * elements are laid out. */
int pointer_chase_read(const struct experiment *experiment, uint64_t reach,
                       struct pointer_chase *walk, struct error *err);
void pointer_chase_free(struct pointer_chase *walk);
/* Bytes between the rings of neighbouring SMs: a power of two, so that each
 * ring lies alike in a cache that is indexed by address bits. */
uint64_t pointer_chase_region(const struct pointer_chase *walk);

/* One SM's work, as the kernel reads it: 64-bit words in this order. */
enum pointer_chase_word {
    JOB_START, /* pointer to the first element, less %memory */
    JOB_BASE,  /* that to the ring's start */
    JOB_FLUSH,
    JOB_FLUSH_BYTES,
    JOB_SWEEP,
    JOB_SWEEP_BYTES,
    JOB_SWEEPS,
    JOB_LINKS,
    JOB_LINK_COUNT, /* (element, pointer) pairs, for what only the block or
                       the thread can write */
    JOB_TEXTURE,    /* texture object */
    JOB_OUT,        /* where the results go */
    JOB_OWN,        /* the probe's own words follow */
    JOB_WORDS = 16
};

/* Appends the module variables that a walking kernel needs. */
void pointer_chase_variables(const struct pointer_chase *walk,
                             const struct device_info *info, struct buf *out);
/* Bytes at the start of `pool` that the opening keeps for itself. */
enum { POINTER_CHASE_POOL_OWN = PIN_POOL };

/*
 * Writes the opening: parameters `jobs slots`, choice of the SM, flush and
 * sweep.  What follows is run by thread 0 of a working block alone.  Declares
 * %job (.b64, the job's address), %ptr (the first pointer), %again (.pred),
 * %sm and %memory (.b32: what pointers into the space's own memory count from;
 * 0 for those into global memory).
 */
void pointer_chase_opening(struct kernel_text *k,
                           const struct pointer_chase *walk);
/* Loads a word of the job past L1, so that it takes no line of the ring's. */
void pointer_chase_job_word(struct kernel_text *k, const char *into, int word);
/* A load of the next pointer: body for repeat_loop, context the walk. */
void pointer_chase_load(struct kernel_text *k, unsigned copy, const void *walk);
/* Waits until %ptr is there: a branch that depends on it and is never taken. */
void pointer_chase_wait(struct kernel_text *k,
                        const struct pointer_chase *walk);
/* Target of that branch, and the end. */
void pointer_chase_closing(struct kernel_text *k);

/* What the launch gave: for each SM asked for, OUT_WORDS words. */
struct pointer_chase_out {
    size_t *elements; /* of each SM's ring */
    uint64_t *words;  /* sms × words_each */
};
void pointer_chase_done(struct pointer_chase_out *out);

/*
 * Lays the rings out, launches and fetches.  `own` fills the words from
 * JOB_OWN on for a ring of so many elements; `words_each` are the result words
 * of each SM (zeroed before the launch; the last is set to 1 by the kernel
 * when it is done), `pool` the bytes of dynamic shared memory that the probe
 * needs beyond the opening's, a shared ring included.
 */
int pointer_chase_run(struct prober *prober,
                      const struct experiment *experiment,
                      const struct pointer_chase *walk, const char *name,
                      void (*own)(const struct pointer_chase *walk,
                                  size_t elements, uint64_t *words),
                      size_t words_each, uint64_t pool,
                      struct pointer_chase_out *out, struct error *err);

#endif
