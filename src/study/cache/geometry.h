/*
 * The sets of a cache: how many there are, how many lines each holds, and
 * which line goes to which.
 */
#ifndef SONDE_STUDY_CACHE_GEOMETRY_H
#define SONDE_STUDY_CACHE_GEOMETRY_H

#include "study/cache/eviction.h"

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

/* What the cache may hold. */
struct geometry_lines {
    uint64_t least, most;
};

/* Finds the shape of a cache that holds so many lines. */
struct geometry geometry_find(struct eviction *eviction,
                              const struct geometry_lines *lines);

#endif
