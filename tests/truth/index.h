/*
 * How an address chooses the set of a cache, and whether what was found of it
 * says the same.
 */
#ifndef SONDE_TESTS_INDEX_H
#define SONDE_TESTS_INDEX_H

#include "truth/claim.h"

/*
 * Index bits are defined up to a change of basis: whatever mixes them by XOR
 * makes the same sets under other numbers.  Reduces masks of address bits to
 * the form that all such lists have in common: each row's lowest bit is in no
 * other row, and rows rise by it.  Returns how many are left.
 */
size_t index_canonical(uint64_t *masks, size_t count);

/* Claims set_bits, slices, slice_bits and slice_modulo of a cache or TLB. */
void index_claim(struct check *c, const char *component,
                 const struct profile_cache *cache, enum need need);
/* The same of what has no index. */
void index_claim_nothing(struct check *c, const char *component);

#endif
