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

#include "truth/claim.h"
#include "truth/component.h"

/* Adds to the verdict, and a row for each finding that is wrong or missing. */
void structure_compare(const struct run_seen *seen, struct verdict *verdict);

/* Names of the components that use the same storage; the caller decrefs. */
json_t *structure_sharers(const struct profile *profile,
                          const struct component *component);

/* Mei's six latency patterns of a path: {"cycles": 230, "sure": true}, not sure
 * where no experiment may tell it from another, or null.  The caller decrefs. */
json_t *structure_patterns(const struct profile *profile,
                           const struct profile_path *path);

#endif
