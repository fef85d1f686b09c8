/*
 * Which lines push each other out: questions to one cache, asked through the
 * probe `visit`.
 *
 * What is asked holds for every index and every policy.  Lines fit if all of
 * them can be there at once: then, once they have settled, no load misses.  If
 * one set is asked for one line more than it has ways, one of them is always
 * out, so in each lap over them some load misses.  And a foreign line that
 * comes into a full set puts exactly one of its lines out.
 */
#ifndef SONDE_STUDY_CACHE_EVICTION_H
#define SONDE_STUDY_CACHE_EVICTION_H

#include "analysis/policy.h"
#include "probe/experiment.h"
#include "study/lab.h"

struct eviction {
    struct lab *lab;
    const char *reader; /* of the probe `visit`: "global.ca" */
    uint64_t unit;      /* bytes of a line */
    uint64_t span;      /* offsets that may be used, B */
    bool lasting;       /* holds what was there before the launch */
    double hit, miss;   /* cycles of loads in a visit */
    /* Loads before each that is drawn (eviction_draw) that empty what lies in
     * front, as const_l1 before const_l15: `count` of them, `step` apart,
     * `start` after the list's first; count 0: none. */
    struct segment filler;
    char *fits, *overflows; /* the last experiments that did, for evidence */
};

void eviction_done(struct eviction *eviction);

/* Whether `count` lines from `start` on, `step` bytes apart, do not fit. */
int eviction_overflows(struct eviction *eviction, uint64_t start, uint64_t step,
                       uint64_t count, bool *yes, struct error *err);

/* The same of any places (offsets in bytes), at most EVICTION_PLACES.  `base`
 * is what a hit costs among such places; 0: the list's middle, which is left
 * there. */
enum { EVICTION_PLACES = 96 };
int eviction_list_overflows(struct eviction *eviction, const uint64_t *places,
                            size_t count, double *base, bool *yes,
                            struct error *err);

/* The largest count that fits, exactly; `most` + 1 if even `most` do.  `guess`
 * is where to look first (0: nowhere). */
int eviction_capacity(struct eviction *eviction, uint64_t start, uint64_t step,
                      uint64_t guess, uint64_t most, uint64_t *count,
                      struct error *err);

/* Whether any of `others` comes into the set that the `group` fills. */
int eviction_evicts(struct eviction *eviction, const struct segment *group,
                    const struct segment *others, size_t count, bool *yes,
                    struct error *err);

/* Which of the sets that the groups fill the other comes into; `count` if none.
 */
int eviction_which(struct eviction *eviction, const struct segment *groups,
                   size_t count, uint64_t other, size_t *which,
                   struct error *err);

/* Loads of lines drawn at random from `list`, in order: what each was and
 * whether it missed, added to *loads, which is the caller's to free.  Nothing
 * of the list is there at first; or, if it `stays`, all but its last line are,
 * and before the draws each is loaded once. */
int eviction_draw(struct eviction *eviction, const struct segment *list,
                  bool stays, size_t visits, unsigned take,
                  struct policy_load **loads, size_t *count, struct error *err);

/* What one set of a cache turned out to be, and how the others are chosen. */
enum geometry_index { GEOMETRY_MODULO, GEOMETRY_BITS, GEOMETRY_UNEQUAL };

struct geometry {
    enum geometry_index index;
    uint64_t sets, ways; /* ways: of line 0's set if they are unequal */
    uint64_t lines;      /* of all sets */
    uint64_t same;       /* bytes: lines so far apart are in one set */
    uint32_t *set_ways;  /* GEOMETRY_UNEQUAL, `sets` of them */
    uint64_t first;      /* GEOMETRY_UNEQUAL: the line where dealing begins */
    uint64_t bits[32]; /* GEOMETRY_BITS: masks of address bits, low bit first */
    const char *why;   /* not NULL: it could not be told, and why */
};

/* Which of the steps from `first` on (`count` of them, `unit` apart) stay in
 * one set, so that `places` do not fit: a quick look at each. */
int geometry_scan(struct eviction *eviction, uint64_t first, size_t count,
                  uint64_t places, bool *over, struct error *err);

/* Finds the shape of a cache of between `least` and `most` lines. */
int geometry_find(struct eviction *eviction, uint64_t least, uint64_t most,
                  struct geometry *shape, struct error *err);
void geometry_free(struct geometry *shape);

#endif
