/*
 * Whether the sets that were found foretell where other lines go.
 */
#ifndef SONDE_STUDY_CACHE_GEOMETRY_PROOF_H
#define SONDE_STUDY_CACHE_GEOMETRY_PROOF_H

#include "base/rng.h"
#include "model/cache.h"
#include "study/cache/geometry.h"

/* What lines at random places must show. */
struct proof {
    struct eviction *eviction;
    const struct geometry *geometry;
    const struct cache *model; /* proof_model */
    struct rng rng;
    uint64_t among; /* bytes in which they are picked */
    bool holds;
};

/* Whether lines that were not used to find it go where it foretells; its range
 * is then as far as that was shown. */
bool proof_holds(struct eviction *eviction, struct geometry *geometry);

uint32_t proof_ways_of(const struct geometry *geometry, uint64_t set);
/* Tells sets of lines, by their masks; cache_free it. */
struct cache *proof_model(const struct eviction *eviction,
                          const struct geometry *geometry);
/* The set that the model puts an offset into. */
size_t proof_set_of(const struct proof *proof, uint64_t offset);
/* Bytes that are tried. */
uint64_t proof_range(const struct eviction *eviction,
                     const struct geometry *geometry);
/* Lines of one set at random, or of all others; so many of one set in order;
 * fewer, if there are no more. */
struct script_lines proof_pick_lines(struct proof *proof, bool inside,
                                     size_t home, size_t wanted);
struct script_lines proof_all_lines(const struct proof *proof, size_t home,
                                    size_t wanted);

#endif
