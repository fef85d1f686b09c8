/* Shared-memory banks: how often a warp's access must be repeated. */
#ifndef SONDE_MODEL_BANKS_H
#define SONDE_MODEL_BANKS_H

#include <stddef.h>
#include <stdint.h>

enum { BANKS_MAX = 128 };

struct banks {
    unsigned count;      /* at most BANKS_MAX */
    unsigned bank_bytes; /* width of one, 4 or 8 */
    /* Successive words of a bank that are read together as one row; 0 is 1.
     * Kepler's 4-byte mode has 2: its banks are 8 bytes wide, and hold words
     * i and i + 32 side by side (Mei 2014, figure 6). */
    unsigned row_words;
};

/*
 * Degree of conflict of one access: the most different rows of one bank that
 * the lanes need (1: no conflict; 0: no lane).  Lanes that read the same row
 * of a bank share it, however wide they read: an H200 counts so, where 8-byte
 * accesses of 16 elements that two half warps share cost one pass (measured in
 * November 2026).  Fewer banks than lanes serve as many lanes at a time as they
 * are, and the degrees add up: GPUs with 16 banks took half warps one after the
 * other.
 */
unsigned banks_degree(const struct banks *banks, const uint32_t *addresses,
                      size_t lanes, unsigned bytes);

#endif
