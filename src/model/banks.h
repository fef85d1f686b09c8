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
 * of a bank share it.  `bytes` is what each lane accesses; an access of more
 * than `bank_bytes` takes its banks in as many passes as the data needs, and
 * the degrees of the passes add up (8-byte accesses on 4-byte banks: the half
 * warps go one after the other).
 */
unsigned banks_degree(const struct banks *banks, const uint32_t *addresses,
                      size_t lanes, unsigned bytes);

#endif
