/*
 * The caches that loads ask first, by kind of load: what a hit in each costs,
 * how a hit is told from a miss, and how many loads push out what was there.
 *
 * All is asked with the probe `visit`, whose script several readers follow in
 * turn, and judged load by load; thresholds come from the hits of the same
 * kind of load.  Lines are taken 128 B apart: what lies in lines that are
 * longer is counted once, by how many loads miss of a group that is new.
 */
#ifndef SONDE_STUDY_NEAREST_H
#define SONDE_STUDY_NEAREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct lab;
struct buf;

/* In the order in which findings list them. */
enum nearest_id {
    NEAREST_L1,
    NEAREST_TEXTURE,
    NEAREST_READONLY,
    NEAREST_LOCAL,
    NEAREST_CONSTANT,
    NEAREST_COUNT
};

struct nearest_row {
    const char *component; /* of its findings, and as lists name it */
    const char *reader;    /* as `visit` takes it */
    uint64_t room;         /* bytes that its loads may go over */
    bool same_data;        /* reads global memory, as others of these do */
    bool memory_is_own;    /* each thread has another */
};

extern const struct nearest_row nearest_table[NEAREST_COUNT];

struct nearest {
    bool present; /* such loads are cached before L2; else `why` says why not */
    char why[200];
    double hit;   /* cycles of a visit that hits … */
    double limit; /* … and the most that is taken for one */
    double
        beyond;   /* of one that finds its line in the next cache; 0: unknown */
    double cold;  /* of one that no cache of an SM holds */
    size_t lines; /* how many of a group's loads miss when it is new */
    uint64_t overfill; /* loads that push out what was there; 0: not found */
};

/* A group: lines that are looked for together, and one more, whose load brings
 * the translation of their page back before they are timed. */
enum {
    NEAREST_APART = 128,
    NEAREST_LINES = 8,
    NEAREST_GROUP = 2048, /* bytes from group to group */
    NEAREST_GROUPS = 4,
    NEAREST_ROUNDS = 3,
};

struct finding;

/* Fills lab->nearest; each kind's experiments are evidence of its finding. */
int nearest_measure(struct lab *lab, struct finding *const *findings,
                    struct error *err);

/* The cycles of the kept loads of a script. */
struct visited {
    double *cycles;
    size_t count;
    char *experiment; /* canonical */
};
int nearest_visit(struct lab *lab, struct visited *visited, const char *readers,
                  const char *steps, int take, struct error *err);
void visited_free(struct visited *visited);

/* How many of `count` loads from `from` on cost more than `limit`. */
size_t visited_over(const struct visited *visited, size_t from, size_t count,
                    double limit);

/* Steps of a script: the group's lines loaded by a reader; the translation and
 * then the lines, timed; loads over other places, as many as `loads`. */
void nearest_load(struct buf *steps, size_t reader, size_t group);
void nearest_time(struct buf *steps, size_t reader, size_t group);
void nearest_overfill(struct buf *steps, size_t reader, uint64_t loads);

/* The loads by which a kind pushes out what any cache that it fills held:
 * twice what it was measured to need, or all that it has room for. */
uint64_t nearest_flood(const struct nearest *nearest,
                       const struct nearest_row *row);

/* Of `cases` that might have been `events`: are they nearly all, or nearly
 * none?  What lies between is left open. */
enum nearest_tally { TALLY_OPEN, TALLY_NONE, TALLY_ALL };
enum nearest_tally tally_of(size_t events, size_t cases);

#endif
