/*
 * Which bits of an address decide something that has two states: the state is
 * the XOR of some bits, turned over or not.
 *
 * Every set of bits is tried at once, by a Walsh-Hadamard transform of the
 * states, and the one that agrees with most samples is taken: so some wrong
 * samples do no harm, as they would to linear equations.  Bits from `high` on
 * are not looked at: all addresses of one block of 2^high share one unknown
 * state, since what is contiguous to a program is so in memory only within a
 * page.
 */
#ifndef SONDE_ANALYSIS_STATISTICS_XOR_BITS_H
#define SONDE_ANALYSIS_STATISTICS_XOR_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xor_bits {
    uint64_t bits; /* 0: the state is the same all over a block */
    double agrees; /* share of the samples that these bits explain */
    double next;   /* … that the next best set of bits does */
};

/* Bits low … high − 1 are looked at, 24 at most. */
void xor_bits_find(const uint64_t *addresses, const bool *odd, size_t n,
                   unsigned low, unsigned high, struct xor_bits *parity);

/* The XOR of those bits of an address. */
bool xor_bits_of(uint64_t address, uint64_t bits);

#endif
