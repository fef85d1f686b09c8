/*
 * A script of the probe `visit` (access_script.c), from its text to the orders
 * that the kernel reads, and that kernel.
 */
#ifndef SONDE_PROBE_MEMORY_VISIT_SCRIPT_H
#define SONDE_PROBE_MEMORY_VISIT_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/experiment.h"
#include "probe/walk/homes.h"
#include "ptx/space.h"

enum {
    READERS_MOST = 32,
    WARPS_MOST = 32,
    LANES = 32,
    STEP_BYTES = 16,
    /* Offsets travel in units of the smallest sector there is: 128 GiB. */
    UNIT = 32,
    /* Places of the row that are of one mapping are other lines of it, which
     * must not come to a few sets of a cache. */
    ROW_SKEW = 256,
};

enum job_word {
    JOB_BASE,
    JOB_TEXTURE,
    JOB_STEPS,
    JOB_STEP_COUNT,
    JOB_OUT,
    JOB_TURN,
    JOB_SELF,
    JOB_CALLS,
    JOB_HOMES,
    JOB_ROW,
    JOB_WORDS
};

/* A kind of load: the kernel has one loop for each. */
struct kind {
    const struct space *space;
    char op[8];
};

struct reader {
    struct kind load;
    uint64_t warp, lane, sm;
    size_t kind; /* index of its load among the kinds */
    size_t crew; /* index of its SM */
};

struct step {
    uint64_t laps, start, count, step, draws;
    uint64_t *list; /* of `count` places; NULL: they are `step` apart */
    size_t reader, part;
    bool kept;
};

/* A step as the kernel reads it; flags: the kind of load, 6 bits; the thread,
 * 10; the crew's SM, 8; 7 bits for us, the reader; whether to keep. */
struct order {
    uint32_t start, step, count, flags;
};
/* Calls have a list of addresses, of which `start` is the first; and as many
 * laps over it as stand above the count, less one.  So all that a step calls is
 * called in one loop, with no other code in between. */
enum { LAPS_SHIFT = 24 };
enum { THREAD_SHIFT = 6, CREW_SHIFT = 16, READER_SHIFT = 24 };
#define KEEP_FLAG (1u << 31)

struct script {
    const char *reader_list, *step_list, *between;
    uint64_t rounds, lap, sm, carve, take;
    uint64_t piece, pieces, apart, line;
    uint64_t unit;   /* of places, in bytes */
    uint64_t within; /* places of a mapping, if only these count; else 0 */
    bool dense;
    uint64_t scramble, jitter, skew, lead;
    uint64_t row, turn;
    bool visits_row;
    struct homes homes;
    bool wait;
    unsigned many;
    uint64_t shared_most;
    struct reader reader[READERS_MOST];
    size_t readers;
    struct kind kind[READERS_MOST];
    size_t kinds;
    uint64_t sms[READERS_MOST];
    size_t sm_count;
    struct step *steps; /* those between come last */
    size_t step_count, between_count;
    struct order *orders;
    size_t order_count;
    size_t *ends; /* of each part's orders */
    size_t parts;
    uint64_t kept, warps, lanes, span;
    uint64_t *calls; /* offsets of what is called, in all steps */
    size_t call_count;
    unsigned padding; /* of the functions; 0: not known */
};

/* Reads readers and steps, checks them, and unfolds the steps to orders; what
 * is drawn at random comes of the seed. */
int visit_read(struct script *script, uint64_t seed, struct error *err);
void visit_release(void *script);

/* Whether any reader loads from such memory; whether this one calls. */
bool visit_uses(const struct script *script, enum space_memory memory);
bool visit_calls(const struct script *script, size_t reader);
/* Units of memory in a random order. */
bool visit_is_strewn(const struct script *script);
/* The last byte's place: of a list the farthest. */
uint64_t visit_end_of(const struct step *step);
/* What orders, and cycles that are kept, take of shared memory. */
uint64_t visit_shared_bytes(const struct script *script);

/* The kernel of an experiment (visit_kernel.c). */
void visit_kernel(const struct experiment *experiment,
                  const struct device_info *info, struct buf *out);

#endif
