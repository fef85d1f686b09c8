/*
 * A grid barrier: blocks that are all on the SMs at once wait for each other in
 * global memory, so that they begin together (van Stigt 2022, 7).
 *
 * A block that had to wait for room would be waited for in vain, so a probe
 * asks grid_barrier_room() first.  A wait is so many looks long at most.
 */
#ifndef SONDE_PROBE_RUN_GRID_BARRIER_H
#define SONDE_PROBE_RUN_GRID_BARRIER_H

#include "probe/probe.h"
#include "ptx/kernel.h"

enum { GRID_BARRIER_LANES = 32 };
/* Looks before a block goes on alone: some milliseconds. */
enum { GRID_BARRIER_LOOKS = 20000 };

/* What an SM must have room for. */
struct grid_barrier_blocks {
    const char *probe; /* whose messages these are */
    unsigned warps, blocks;
    unsigned registers; /* 32-bit ones of a thread */
    uint64_t shared;    /* B of a block */
    unsigned sms;       /* that are wanted, from number 0 on; 0: all */
};

/* ERR_USAGE with the limit if an SM has no room for them at once, or there are
 * not so many SMs.  What the driver does not tell is no limit. */
int grid_barrier_room(const struct grid_barrier_blocks *wanted,
                      const struct device_info *info, struct error *err);

/* One thread waits until the word at [%slots+offset] is at least %want, so many
 * looks at most.  Uses %count, %looks (.b32), %again (.pred); `name` makes its
 * labels unique. */
void grid_barrier_await(struct kernel_text *k, const char *name, int offset,
                        unsigned looks);

/* One thread of each block counts itself in at [%slots+offset] and waits until
 * %want have, in the same way. */
void grid_barrier_meet(struct kernel_text *k, const char *name, int offset,
                       unsigned looks);

/* All warps of a block wait for each other before they read a clock.  Leaves by
 * DONE if %true, which is set, were not; uses %on (.pred). */
void grid_barrier_hold(struct kernel_text *k);

#endif
