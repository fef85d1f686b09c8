/*
 * What a profile says of the inside of caches and TLBs, of sharing, copies and
 * latency patterns, and the comparison of a session's findings with it.  Sizes,
 * lines, sectors and latencies are in truth.h.
 */
#ifndef SONDE_TESTS_STRUCTURE_H
#define SONDE_TESTS_STRUCTURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "device/sim/profile/profile.h"
#include "truth/component.h"

struct verdict;

/* What a run found, and where to say what is wrong with it. */
struct run_seen {
    const struct profile *profile;
    const char *name; /* heads the rows, with the seed */
    uint64_t seed;
    const json_t *findings; /* of the report in JSON */
    struct buf *rows;
};

/* Adds to the verdict, and a row for each finding that is wrong or missing. */
void structure_compare(const struct run_seen *seen, struct verdict *verdict);

/* The value of a finding that was measured or follows from what was; NULL if
 * there is none. */
const json_t *structure_found(const struct run_seen *seen, const char *id);

/* Names of the components that use the same storage; the caller decrefs. */
json_t *structure_sharers(const struct profile *profile,
                          const struct component *component);

/* Mei's six latency patterns of a path: {"cycles": 230}, with "or": "none"
 * where no experiment may tell it from another, or "none".  The caller decrefs.
 */
json_t *structure_patterns(const struct profile *profile,
                           const struct profile_path *path);

/* 1 % of so many cycles, at least one. */
double structure_doubt(double cycles);

/*
 * Index bits are defined up to a change of basis: whatever mixes them by XOR
 * makes the same sets under other numbers.  Reduces masks of address bits to
 * the form that all such lists have in common: each row's lowest bit is in no
 * other row, and rows rise by it.  Returns how many are left.
 */
size_t structure_canonical(uint64_t *masks, size_t count);

#endif
