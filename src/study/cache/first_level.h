/*
 * The caches that loads ask first, by kind of load: what a hit in each costs,
 * how a hit is told from a miss, and how many loads push out what was there.
 *
 * All is asked with the probe `visit`, whose script several readers follow in
 * turn, and judged load by load; thresholds come from the hits of the same
 * kind of load.  Lines are taken 128 B apart: what lies in lines that are
 * longer is counted once, by how many loads miss of a group that is new.
 */
#ifndef SONDE_STUDY_CACHE_FIRST_LEVEL_H
#define SONDE_STUDY_CACHE_FIRST_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "study/facts.h"

struct lab;
struct script;

/* A group: lines that are looked for together, fewer of a cache that has hardly
 * as many, and one more, whose load brings the translation of their page back
 * before they are timed. */
enum {
    FIRST_LEVEL_APART = 128,
    FIRST_LEVEL_LINES = 8, /* at most */
    FIRST_LEVEL_FEW = 4,
    FIRST_LEVEL_GROUP = 2048, /* bytes from group to group */
    FIRST_LEVEL_GROUPS = 4,
    FIRST_LEVEL_ROUNDS = 3,
};

struct finding;

/* Up to what a load hits, by loads of which those do that cost about as much as
 * a hit; NAN of none. */
double first_level_limit(const struct fact_first_level *first,
                         const double *cycles, size_t count, double hit);

/* Writes the fact; each kind's experiments are evidence of its finding.
 */
void first_level_measure(struct lab *lab, struct finding *const *findings);

/* A group as a kind of load asks for it: `number` is below GROUPS. */
struct first_level_group {
    size_t number, loads;
};

/* Steps of a script: the group's lines loaded by a reader; the translation and
 * then the lines, timed; loads over other places, as many as `loads`. */
void first_level_load(struct script *script, size_t reader,
                      struct first_level_group group);
void first_level_time(struct script *script, size_t reader,
                      struct first_level_group group);
void first_level_overfill(struct script *script, size_t reader, uint64_t loads);
/* The same range, so many bytes from load to load. */
void first_level_overfill_by(struct script *script, size_t reader,
                             uint64_t loads, uint64_t apart);

/* As many loads as there is room for. */
uint64_t first_level_most(const struct level_row *row);

/* The loads by which a kind pushes out what any cache that it fills held: so
 * many times what it was measured to need, or all that it has room for. */
uint64_t first_level_flood(const struct fact_first_level *first,
                           const struct level_row *row, unsigned times);

#endif
