/*
 * What studies must know of the probe `visit`: where its scrambled places are.
 */
#ifndef SONDE_PROBE_MEMORY_ACCESS_SCRIPT_H
#define SONDE_PROBE_MEMORY_ACCESS_SCRIPT_H

#include <stdint.h>

/* So many places from this number on lie in a row. */
#define ACCESS_SCRIPT_ROW ((uint32_t)1 << 30)
enum { ACCESS_SCRIPT_ROW_PLACES = 2048 };

struct access_script_places {
    uint64_t apart, unit; /* B */
    unsigned scramble, jitter;
};
/* How far from the first mapping the place of that number is, without skew. */
uint64_t access_script_address(uint64_t number,
                               const struct access_script_places *places);

#endif
