#include "device/sim/memory/l2_sides.h"

/* Bytes from `address` on that are filed in one piece for each value of the
 * bit: many blocks that begin at a pair of them, or the rest of one. */
static uint64_t piece_of(uint64_t address, uint64_t bytes, uint64_t block)
{
    if (address % (2 * block) == 0 && bytes >= 2 * block)
        return bytes / (2 * block) * (2 * block);
    const uint64_t rest = block - address % block;
    return rest < bytes ? rest : bytes;
}

void side_drop(const struct profile_partitions *p, struct cache *cache,
               uint64_t address, uint64_t bytes)
{
    const uint64_t block = p->bits & -p->bits;
    if (!p->packed) {
        cache_drop(cache, address, bytes);
        return;
    }
    while (bytes > 0) {
        const uint64_t piece = piece_of(address, bytes, block);
        const bool both = piece > block;
        const uint64_t key = side_key(p, address);
        cache_drop(cache, key, both ? piece / 2 : piece);
        if (both)
            cache_drop(cache, side_key(p, address + block), piece / 2);
        address += piece;
        bytes -= piece;
    }
}
