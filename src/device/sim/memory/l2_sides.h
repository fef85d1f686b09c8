/*
 * A cache in two partitions, one on each side of the GPU: which side is a
 * line's home, on which side an SM is, and under which address a side's cache
 * files a line.
 *
 * The home is the XOR of some address bits.  A side whose sets the line's
 * number chooses numbers those of one home: it files lines under their address
 * without the lowest of these bits, which follows from the others, and puts the
 * home on top.  Lines of one home that follow each other then fill its sets
 * evenly, and so do those of both homes, for copies.  Where
 * address bits choose sets or slices, lines are filed under their address.
 */
#ifndef SONDE_DEVICE_SIM_MEMORY_L2_SIDES_H
#define SONDE_DEVICE_SIM_MEMORY_L2_SIDES_H

#include <stdint.h>

#include "device/sim/profile/profile.h"
#include "model/cache.h"

enum { SIDES = 2 };

/* Above every address of a simulated memory. */
enum { SIDE_BIT_ON_TOP = 55 };

static inline unsigned side_home(const struct profile_partitions *p,
                                 uint64_t address)
{
    return (unsigned)__builtin_parityll(address & p->bits);
}

static inline unsigned side_of_sm(const struct profile_partitions *p,
                                  unsigned sm, unsigned sms)
{
    return p->alternate ? sm % SIDES : sm >= (sms + 1) / SIDES;
}

static inline uint64_t side_key(const struct profile_partitions *p,
                                uint64_t address)
{
    if (!p->packed)
        return address;
    const unsigned low = (unsigned)__builtin_ctzll(p->bits);
    const uint64_t below = address & (((uint64_t)1 << low) - 1);
    return (uint64_t)side_home(p, address) << SIDE_BIT_ON_TOP |
           address >> (low + 1) << low | below;
}

/* Forgets the lines that touch [address, address + bytes). */
void side_drop(const struct profile_partitions *p, struct cache *cache,
               uint64_t address, uint64_t bytes);

#endif
