/*
 * Reports of a fleet that was never built: of a report of one GPU, as many as
 * one likes, each with numbers of its own, and faults in some.  Same seed, same
 * fleet.
 */
#ifndef SONDE_TESTS_FLEET_MADE_H
#define SONDE_TESTS_FLEET_MADE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum fleet_fault {
    FAULT_NONE_PLANTED,
    FAULT_SLOW_MEMORY,
    FAULT_SLICE,
    FAULT_LINK,
    FAULT_THROTTLED,
    FAULT_WARM,
    FAULT_DRIVER,
    FAULT_ECC,
    FAULT_HALF_SM,
    FLEET_FAULTS
};
const char *fleet_fault_name(enum fleet_fault fault);
/* The finding by which it is seen. */
const char *fleet_fault_finding(enum fleet_fault fault);

/* What a base must have beside what it measured: links, slices, SMs, a
 * temperature; a report lacks some of them today. */
void fleet_made_base(json_t *base);

/* GPU `index` of the fleet: eight a host, sixteen hosts a rack. */
json_t *fleet_made_report(const json_t *base, uint64_t seed, size_t index,
                          enum fleet_fault fault);
/* "r02-n11"; and "GPU-…" of it; the caller frees. */
char *fleet_made_host(size_t index);
char *fleet_made_uuid(uint64_t seed, size_t index);

#endif
