/* Of whole numbers: the lesser, the greater, what is between; what divides;
 * powers of two; their order. */
#ifndef SONDE_BASE_NUM_H
#define SONDE_BASE_NUM_H

#include <stdbool.h>
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

/* True of 1, 2, 4, … */
static inline bool u64_is_power(uint64_t x)
{
    return x != 0 && (x & (x - 1)) == 0;
}

/* The greatest common divisor; of 0 and a number, that number. */
static inline uint64_t u64_gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* For qsort: the lesser first. */
static inline int u64_compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* For qsort and bsearch. */
static inline int u32_compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

#endif
