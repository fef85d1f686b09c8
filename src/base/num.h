/* The lesser, the greater, and what is between: of whole numbers. */
#ifndef SONDE_BASE_NUM_H
#define SONDE_BASE_NUM_H

#include <stdint.h>

static inline uint64_t u64_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t u64_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The nearest to `value` that is between. */
static inline uint64_t u64_within(uint64_t least, uint64_t value, uint64_t most)
{
    return u64_max(least, u64_min(value, most));
}

#endif
