#include "analysis/statistics/xor_bits.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { BITS_MOST = 24 };

bool xor_bits_of(uint64_t address, uint64_t bits)
{
    return __builtin_parityll(address & bits);
}

/* Each entry becomes the sum of all, with a minus where index and entry have an
 * odd number of bits in common. */
static void transform(int32_t *table, size_t size)
{
    for (size_t half = 1; half < size; half *= 2)
        for (size_t i = 0; i < size; i++)
            if ((i & half) == 0) {
                const int32_t a = table[i], b = table[i + half];
                table[i] = a + b;
                table[i + half] = a - b;
            }
}

/* Addresses and what each was, in blocks of 2^high bytes. */
struct labelled {
    const uint64_t *addresses;
    const bool *odd;
    size_t n;
    unsigned low, high;
};

/* Adds to `sums` by how many samples of one block each set of bits is right
 * more often than wrong, or wrong more often than right. */
static void add_block(const struct labelled *of, uint64_t block, int32_t *table,
                      int32_t *sums)
{
    const size_t size = (size_t)1 << (of->high - of->low);
    memset(table, 0, size * sizeof *table);
    for (size_t i = 0; i < of->n; i++)
        if (of->addresses[i] >> of->high == block)
            table[of->addresses[i] >> of->low & (size - 1)] +=
                of->odd[i] ? -1 : 1;
    transform(table, size);
    for (size_t i = 0; i < size; i++)
        sums[i] += abs(table[i]);
}

static bool first_of_block(const uint64_t *addresses, size_t i, unsigned high)
{
    for (size_t k = 0; k < i; k++)
        if (addresses[k] >> high == addresses[i] >> high)
            return false;
    return true;
}

void xor_bits_find(const uint64_t *addresses, const bool *odd, size_t n,
                   unsigned low, unsigned high, struct xor_bits *parity)
{
    *parity = (struct xor_bits){0};
    assert(low < high && high - low <= BITS_MOST);
    if (n == 0)
        return;
    const struct labelled of = {addresses, odd, n, low, high};
    const size_t size = (size_t)1 << (high - low);
    int32_t *const table = xcalloc(size, sizeof *table);
    int32_t *const sums = xcalloc(size, sizeof *sums);
    for (size_t i = 0; i < n; i++)
        if (first_of_block(addresses, i, high))
            add_block(&of, addresses[i] >> high, table, sums);
    int32_t most = -1, next = -1;
    for (size_t i = 0; i < size; i++)
        if (sums[i] > most) {
            next = most;
            most = sums[i];
            parity->bits = (uint64_t)i << low;
        } else if (sums[i] > next) {
            next = sums[i];
        }
    parity->agrees = 0.5 + 0.5 * (double)most / (double)n;
    parity->next = 0.5 + 0.5 * (double)next / (double)n;
    free(table);
    free(sums);
}
