/*
 * The levels of the memory hierarchy that studies ask about, a row of
 * levels.def each: the space and operator whose loads a level is the first
 * cache of.
 */
#ifndef SONDE_STUDY_SPACE_H
#define SONDE_STUDY_SPACE_H

#include <stdbool.h>
#include <stdint.h>

enum level_id {
#define LEVEL_OF_GPU(id, name, ...) LEVEL_##id,
#define LEVEL_OF_SM                 LEVEL_OF_GPU
#include "study/levels.def"
#undef LEVEL_OF_SM
#undef LEVEL_OF_GPU
    LEVEL_COUNT
};

struct level_row {
    const char *component; /* of its findings */
    const char *load;      /* "space=global op=ca", as experiments take it */
    const char *ring;      /* … where a ring's every byte is to be loaded; NULL:
                              as these */
    const char *reader;    /* as the probe `visit` names such loads */
    const char *words;     /* "ld.global.ca.u64" for protocols */
    const char *below;     /* what a miss goes to */
    bool of_sm;            /* each SM has its own */
    uint64_t most;         /* the largest size looked for, B */
    const char *bound;     /* why no larger one is */
    uint64_t span; /* bytes that lines are taken from which push each other out:
                      address bits far above a cache's size may choose its set.
                      Local memory is reserved for all threads that a GPU can
                      hold: no more of it than will surely be there */
    unsigned apart;  /* how near two elements can be, B; lines and sectors that
                        are shorter cannot be told */
    unsigned fine;   /* elements so far apart leave no line out … */
    unsigned coarse; /* … and so far apart, few share one */
    /* Filled by what misses another level, whose loads are these, too; else
     * LEVEL_COUNT. */
    enum level_id behind;
    /* Of a level that loads ask first: bytes that visits of it may go over;
     * whether they read global memory, as others of these do; or memory of
     * which each thread has its own. */
    uint64_t room;
    bool same_data, memory_is_own;
};

extern const struct level_row level_table[LEVEL_COUNT];
const char *level_ring(const struct level_row *row);
/* Their components, in the same order, for tables of answers; NULL ends. */
extern const char *const level_components[LEVEL_COUNT + 1];
/* Of those that each SM has. */
extern const char *const sm_level_components[];

#endif
