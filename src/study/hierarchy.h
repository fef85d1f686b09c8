/*
 * The levels of the memory hierarchy that studies ask about: one row each, and
 * what is known of each so far.
 *
 * A row says how the level is reached: the space and operator whose loads it
 * is the first cache of.  Facts are working knowledge that studies hand to
 * those that need them (a rough size to search around, cycles to tell a miss
 * from a hit); what users read is in findings.
 */
#ifndef SONDE_STUDY_HIERARCHY_H
#define SONDE_STUDY_HIERARCHY_H

#include <stdbool.h>
#include <stdint.h>

enum level_id { LEVEL_L1, LEVEL_L2, LEVEL_COUNT };

struct level_row {
    const char *component; /* of its findings */
    const char *load;      /* "space=global op=ca", as experiments take it */
    const char *words;     /* "ld.global.ca.u64" for protocols */
    const char *below;     /* what a miss goes to */
    bool of_sm;            /* each SM has its own */
    uint64_t most;         /* the largest size looked for, B */
};

extern const struct level_row level_table[LEVEL_COUNT];

struct level_facts {
    bool present;    /* loads are cached here; else `why` says why not */
    const char *why; /* the next studies report it as their reason */
    double hit;      /* cycles of a chase that hits */
    double next_hit; /* … that goes past this level; of what an SM has */
    double plateau;  /* cycles just before the level below begins: `hit`, or
                        more where farther parts of the cache cost more */
    double miss;     /* cycles of a chase that misses always */
    uint64_t deep;   /* size of a ring that does, B */
    /* The rough size: `fits` does, `overflows` does not. */
    uint64_t fits, overflows;
    /* What the level holds at the cost `hit`, where that is less; else 0. */
    uint64_t near_fits, near_overflows;
    bool soft;      /* larger rings cost more little by little */
    bool far_stays; /* what lies far is not copied to where it is near */
    uint64_t sector, line, size; /* B; 0: not known */
};

/* Instruction caches, nearest first; their findings are those of these
 * components in this order. */
enum { CODE_LEVELS_MAX = 3 };
extern const char *const code_components[CODE_LEVELS_MAX];

struct code_level {
    uint64_t size;  /* B; what certainly fits, where that is a bound */
    uint64_t line;  /* B; 0: not known */
    double penalty; /* cycles that a missed line of it costs, about */
    bool exact;     /* the size is no bound */
};

struct code_facts {
    size_t count;
    struct code_level level[CODE_LEVELS_MAX];
    const char *why; /* there are no more than `count` */
};

#endif
