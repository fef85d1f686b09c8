/*
 * What is asked of the probe `bulk`, and what an SM has room for: a study that
 * looks for the best asks before it tries.
 */
#ifndef SONDE_PROBE_BULK_H
#define SONDE_PROBE_BULK_H

#include "probe/probe.h"

/* The least and the largest copy, B (a barrier counts bytes below 2^20), and
 * those of a warp that are in flight, at most. */
enum { BULK_LEAST = 16, BULK_MOST = 1 << 17, BULK_DEPTH = 16 };

struct bulk {
    unsigned bytes_each, depth; /* of a copy; a warp's in flight */
    unsigned warps, blocks;     /* of a block; of an SM */
    unsigned sms;               /* that work; 0: all */
    uint64_t bytes;             /* of the set */
    uint64_t warm, lead, cycles;
};

/* Bytes that a block has in flight. */
static inline uint64_t bulk_in_flight(const struct bulk *b)
{
    return (uint64_t)b->warps * b->depth * b->bytes_each;
}

/* ERR_UNSUPPORTED with the reason where there are no such copies; ERR_USAGE
 * with the limit if an SM has no room for them, or the set is too small. */
int bulk_room(const struct bulk *wanted, const struct device_info *info,
              struct error *err);

#endif
