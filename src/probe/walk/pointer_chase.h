/*
 * What the pointer-chasing probes have in common: their parameters, the ring
 * in device memory, the choice of SMs, and the opening of their kernels.
 *
 * Rings of several SMs are chased in one launch (probe/run/pin.h).  In a block
 * that works, all threads sweep memory where that is asked for; then thread 0
 * chases alone.
 */
#ifndef SONDE_PROBE_WALK_POINTER_CHASE_H
#define SONDE_PROBE_WALK_POINTER_CHASE_H

#include "probe/probe.h"
#include "probe/run.h"
#include "probe/run/pin.h"
#include "probe/walk/ring.h"
#include "ptx/kernel.h"
#include "ptx/space.h"

/* Carve-out value that leaves the choice to the driver. */
enum { POINTER_CHASE_CARVE_DRIVER = 101 };

/* What the experiment says, completed by pointer_chase_prepare(): the struct of
 * such a probe. */
struct pointer_chase {
    const char *space_name, *op, *sweep_op;
    const struct space *space;
    enum device_place place;
    struct ring_plan plan; /* of the first SM */
    uint64_t step;         /* bytes more on each further SM */
    uint64_t shift;        /* bytes between the buffer's start and the rings */
    uint64_t warm, visits, sweep, flush;
    uint64_t carve, sm, sms, lanes;
    uint64_t above, records; /* of a trace: what it keeps */
    uint64_t each;           /* ... and loads that it times together */
    unsigned threads;        /* of a block that sweeps, or links the ring … */
    unsigned threads_most;   /* … and is to be brisk */
};

/* Rows for the table of a probe. */
/* clang-format off */
#define CHASE_NUMBER(name, field, fallback, least, most, help)                 \
    PARAM_ROW(name, struct pointer_chase, field, PARAM_NUMBER, fallback,       \
              least, most, NULL, help)
#define CHASE_WORD(name, field, fallback, words, help)                         \
    PARAM_ROW(name, struct pointer_chase, field, PARAM_WORD, fallback, 0, 0,   \
              words, help)
#define POINTER_CHASE_PARAMS                                                   \
    CHASE_WORD("space", space_name, "global", space_names,                     \
        "memory space of the ring"),                                           \
    CHASE_WORD("op", op, "default", pointer_chase_ops,                         \
        "cache operator of the loads"),                                        \
    CHASE_WORD("memory", place, "own", prober_reached,                         \
        "whose memory the ring is in: the GPU's own, the host's, another GPU's"),           \
    CHASE_NUMBER("bytes", plan.bytes, "4096", 8, 1ull << 40,                   \
        "size of the ring, B"),                                                \
    CHASE_NUMBER("stride", plan.stride, "128", 4, 1ull << 32,                  \
        "distance of its elements, B"),                                        \
    CHASE_WORD("order", plan.random, "sequential", pointer_chase_orders,       \
        "order of visit"),                                                     \
    CHASE_NUMBER("window", plan.window, "0", 0, 1ull << 40,                    \
        "random order inside windows of so many bytes; 0: one"),               \
    CHASE_NUMBER("sample", plan.sample, "0", 0, 1ull << 24,                    \
        "visit only so many elements, spread evenly; 0: all"),                 \
    CHASE_NUMBER("lead", plan.lead, "0", 0, 1ull << 32,                        \
        "a further element leads each block of so many bytes; 0: none"),       \
    PARAM_ROW("list", struct pointer_chase, plan.list, PARAM_LIST, "", 0, 0,   \
        NULL, "visit START:COUNT:STEP[,...] instead of bytes and stride"),     \
    CHASE_NUMBER("step", step, "0", 0, 1ull << 40,                             \
        "bytes more on each further SM"),                                      \
    CHASE_NUMBER("shift", shift, "0", 0, 1ull << 40,                           \
        "where in its buffer the ring begins, B"),                             \
    CHASE_NUMBER("sm", sm, "0", 0, 1023, "first SM"),                          \
    CHASE_NUMBER("sms", sms, "1", 1, 1024, "how many SMs at once"),            \
    CHASE_NUMBER("carve", carve, "0", 0, POINTER_CHASE_CARVE_DRIVER,           \
        "percent of the array for shared memory; 101: the driver's choice"),   \
    CHASE_NUMBER("flush", flush, "0", 0, 1ull << 40,                           \
        "first sweep so many bytes of other memory, B"),                       \
    CHASE_NUMBER("sweep", sweep, "0", 0, 64,                                   \
        "then sweep the ring's range so many times with all threads"),         \
    CHASE_NUMBER("lanes", lanes, "1", 1, 32,                                   \
        "lanes that walk together, each over its own local memory"),           \
    CHASE_WORD("sweep_op", sweep_op, "same", pointer_chase_sweep_ops,          \
        "cache operator of that sweep"),                                       \
    CHASE_NUMBER("warm", warm, "1", 0, 1024,                                   \
        "then chase so many laps untimed")
/* clang-format on */

extern const char *const pointer_chase_ops[],
    *const pointer_chase_orders[], *const pointer_chase_sweep_ops[];

/* Completes the struct; ERR_USAGE where parameters contradict each other.  Of a
 * ring that is chased for less than a lap only the first `reach` × visits
 * elements are laid out. */
int pointer_chase_prepare(struct experiment *experiment,
                          const struct device_info *info, uint64_t reach,
                          struct error *err);
/* Bytes between the rings of neighbouring SMs: a power of two, so that each
 * ring lies alike in a cache that is indexed by address bits. */
uint64_t pointer_chase_region(const struct pointer_chase *walk);

/* One SM's work, as the kernel reads it: 64-bit words in this order. */
enum pointer_chase_word {
    JOB_START, /* pointer to the first element, less %memory */
    JOB_BASE,  /* that to the ring's start */
    JOB_FLUSH,
    JOB_FLUSH_BYTES,
    JOB_SWEEP, /* ranges: where they begin, end, and their stride */
    JOB_SWEEP_RANGES,
    JOB_SWEEPS,
    JOB_LINKS,
    JOB_LINK_COUNT, /* (element, pointer) pairs, for what only the block or
                       the thread can write */
    JOB_TEXTURE,    /* texture object */
    JOB_OUT,        /* where the results go */
    JOB_BRISK,      /* laps by the whole warp, from that link on */
    JOB_BRISK_FROM,
    JOB_OWN, /* the probe's own words follow */
    JOB_WORDS = 20
};

/* Bytes at the start of `pool` that the opening keeps for itself. */
enum { POINTER_CHASE_POOL_OWN = PIN_POOL };

/*
 * Begins the experiment's kernel: parameters `jobs slots`, choice of the SM,
 * flush and sweep.  What follows is run by thread 0 of a working block alone.
 * Declares %job (.b64, the job's address), %ptr (the first pointer), %again
 * (.pred), %sm and %memory (.b32: what pointers into the space's own memory
 * count from; 0 for those into global memory); %now (.b64), %low, %began,
 * %last, %gap and %longest (.b32) are the watch's.
 *
 * The watch: from the flush on the clock is read every few loads, and %longest
 * is the longest from one read to the next.
 */
void pointer_chase_begin(struct kernel_text *k, struct buf *out,
                         const struct experiment *experiment,
                         const struct device_info *info);
/* A load of the next pointer, context the walk. */
void pointer_chase_load(struct kernel_text *k, unsigned copy, const void *walk);
/* The same and the watch, whose few instructions the loads hide: body for
 * repeat_loop. */
void pointer_chase_watched(struct kernel_text *k, unsigned copy,
                           const void *walk);
/* Closes a span now. */
void pointer_chase_mark_now(struct kernel_text *k);
/* What was seen, as prober_watched() takes it, into a register of 64 bits. */
void pointer_chase_watch_word(struct kernel_text *k, const char *into);
/* Waits until %ptr is there: a branch that depends on it and is never taken. */
void pointer_chase_wait(struct kernel_text *k);
/* Target of that branch, and the end. */
void pointer_chase_closing(struct kernel_text *k);

/* What the launch gave: for each SM asked for, OUT_WORDS words. */
struct pointer_chase_out {
    size_t *elements; /* of each SM's ring */
    uint64_t *words;  /* sms × words_each */
};
void pointer_chase_done(struct pointer_chase_out *out);

/* What a probe wants of its launch. */
struct pointer_chase_work {
    /* Fills the words from JOB_OWN on for a ring of so many elements. */
    void (*own)(const struct experiment *experiment, size_t elements,
                uint64_t *words);
    uint64_t before;   /* visits of the pieces before this one */
    size_t words_each; /* result words of each SM; zeros before; the last is
                          set to 1 by the kernel when it is done */
    uint64_t pool;     /* bytes of dynamic shared memory that the probe needs
                          beyond the opening's, a shared ring included */
};

/* Loads of the warm-up that the thread makes alone.  Of a brisk piece these are
 * the last ones; before them the whole warp loads the ring as often as there
 * are laps, up to where they begin. */
uint64_t pointer_chase_warm(const struct experiment *experiment,
                            size_t elements);

/* Loads that are made one after the other, at least. */
uint64_t pointer_chase_loads(const struct experiment *experiment);
/* In how many pieces a walk of so many visits may be taken. */
unsigned pointer_chase_pieces(uint64_t visits);
/* True if only a sweep loads the ring: then a walk begins where that did, or
 * finds what the sweep had not yet pushed out. */
bool pointer_chase_is_only_swept(const struct pointer_chase *walk);

/* Lays the rings out, launches and fetches. */
int pointer_chase_run(struct prober *prober,
                      const struct experiment *experiment,
                      const struct pointer_chase_work *work,
                      struct pointer_chase_out *out, struct error *err);

#endif
