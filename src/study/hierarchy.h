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
    uint64_t sector, line, size; /* B; 0: not known */
};

/*
 * What is known of the translation of addresses.  Ages are counted in places
 * that are a pitch and a line apart.  That is at first a prime multiple of the
 * smallest page, so that they come to all sets of a TLB whatever its page; and
 * one page, where a TLB of small pages would hold more places than one of large
 * pages, and hide behind it.
 */
enum { TLBS_MOST = 3, TRANSLATION_PITCH = 37 * 64 * 1024 };

struct tlb_facts {
    double excess;            /* cycles that a load costs more that misses it */
    uint64_t fits, overflows; /* ages: one that is there, one that is not */
    uint64_t page, entries;   /* 0: not known */
    uint64_t sets, ways;      /* ways 0: not known, or unequal */
    bool in_order;            /* lru or fifo: as many others push a page out */
    uint64_t start;           /* an offset near the start of a page */
};

struct translation {
    bool asked;
    uint64_t memory;       /* bytes that may be used; 0: none */
    uint64_t origin, room; /* of these: offsets within one page window */
    uint64_t window;       /* B; 0: none */
    double window_cycles;
    double overhead;    /* cycles that a visit costs more than a chase */
    const char *reader; /* that shows translation; NULL: none does */
    uint64_t skew;      /* … in steps of pages and so many bytes, … */
    uint64_t pitch;     /* … */
    bool mixed;         /* steps are not of one TLB each */
    uint64_t lap;       /* … over so many places, whose data stays */
    size_t levels;      /* TLBs that show */
    struct tlb_facts tlb[TLBS_MOST];
};

#endif
