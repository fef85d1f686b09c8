/*
 * The sets of a cache: how many there are, how many lines each holds, and
 * which line goes to which.
 */
#ifndef SONDE_STUDY_CACHE_GEOMETRY_H
#define SONDE_STUDY_CACHE_GEOMETRY_H

#include "study/cache/eviction.h"

enum geometry_index {
    GEOMETRY_MODULO,
    GEOMETRY_BITS,
    GEOMETRY_SLICED,
    GEOMETRY_UNEQUAL
};

struct geometry {
    enum geometry_index index;
    uint64_t sets, ways;     /* ways: of `set` if they are unequal */
    uint64_t lines;          /* of all sets */
    uint64_t same;           /* bytes: lines so far apart are in one set; 0: it
                                is not known of any */
    struct script_lines set; /* a line and as many others of its set as it has
                                ways: line 0, but of unequal sets another where
                                its own has two ways or one */
    uint32_t *set_ways;      /* GEOMETRY_UNEQUAL, `sets` of them */
    uint64_t first;    /* GEOMETRY_UNEQUAL: the line where dealing begins */
    uint64_t bits[32]; /* masks of address bits, low bit first: all of the index
                          of GEOMETRY_BITS; of GEOMETRY_SLICED beside … */
    uint64_t modulo; /* … the remainder by this odd number of addresses … */
    unsigned from_bit;       /* … shifted so; 0 otherwise */
    uint64_t range;          /* bytes within which all this was tried */
    bool mapped, is_virtual; /* it was asked for addresses; they are virtual */
    uint64_t own; /* ways of line 0's set, which others need not have */
    /* Sets 0: only the ways of line 0's set are known, which others have, too;
     * ways 0, too: its own at most are; none, if 0. */
};

/* How many masks of address bits there are. */
unsigned geometry_bits(const struct geometry *g);
/* Whether some of them are XORs, or slices come before. */
bool geometry_is_hashed(const struct geometry *g);

/* More lines of the set of g->set, after those, as far as there are. */
struct script_lines geometry_members(struct eviction *eviction,
                                     const struct geometry *g, size_t count);

/* Whether there is room for as many lines as all sets have ways: so many that
 * fill each are there at once.  Of a cache of an SM that loads reach first;
 * false also where it cannot be told. */
bool geometry_has_room(struct eviction *eviction, const struct geometry *g);

/* Loads that empty what lies in front of most, and are of other sets than
 * g->set; none if there is one set. */
struct segments geometry_filler(struct eviction *eviction,
                                const struct geometry *g);

/* What the cache may hold. */
struct geometry_lines {
    uint64_t least, most;
};

/* The bytes of a line of which `unit` is a part, if there are more; 0: none
 * tells. */
uint64_t geometry_line(struct eviction *eviction,
                       const struct geometry_lines *lines);

/* Finds the shape of a cache that holds so many lines. */
struct geometry geometry_find(struct eviction *eviction,
                              const struct geometry_lines *lines);
/* Of a shape that was found and holds fewer, the one whose bits lie farther
 * than any that were asked; it stays where there is none. */
void geometry_find_far(struct eviction *eviction,
                       const struct geometry_lines *lines,
                       struct geometry *shape);

#endif
