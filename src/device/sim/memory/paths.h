/*
 * The caches and TLBs of a simulated GPU, and how a load walks them: first
 * the TLBs in order, then the caches of the load's path, near first.  What is
 * missed is filled on the way.
 *
 * L2 (every cache of scope "gpu") and the TLBs keep their contents from launch
 * to launch; all other caches start a launch empty, as on a real GPU, whose
 * L1, constant, texture and instruction caches are invalidated then.  Stores
 * write through and leave the caches alone; but for those in partitions, where
 * what is stored goes to its home, and no copy of it is left.  There an atomic
 * is done, too.
 *
 * A load may tell L2 which lines to keep and how much to fetch; a cache whose
 * profile obeys such hints does.
 *
 * Where a profile says how many bytes a cache or memory passes on in a cycle,
 * loads and stores queue up before it: each keeps it for its bytes over the
 * rate, in the order in which they were issued.  From the nearest cache a load
 * takes the sectors that it touches (of constants, which go to all lanes
 * alike, what a lane loads), from what is behind it what a miss brings in.
 *
 * What lies elsewhere comes over a link, which has a latency of its own and a
 * rate each way; the link says which caches keep what came.
 */
#ifndef SONDE_DEVICE_SIM_MEMORY_PATHS_H
#define SONDE_DEVICE_SIM_MEMORY_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/sim/memory/memory.h"
#include "device/sim/profile/profile.h"

struct paths;

/* The profile must outlive the paths. */
struct paths *paths_new(const struct profile *profile, uint64_t seed);
void paths_free(struct paths *paths);
/* What lies beyond the SMs takes that share of the cycles that it took: the
 * SMs' clock is slower. */
void paths_quicken(struct paths *paths, double share);
/* From now on, addresses may be aliases in this memory; NULL: none is. */
void paths_alias(struct paths *paths, struct memory *memory);
/* The way to what lies elsewhere, seen from the GPU. */
struct paths_link {
    double cycles;                          /* of a load */
    double atomic_cycles;                   /* of an atomic */
    double read_bandwidth, write_bandwidth; /* B/clk; 0: any number */
    bool l1_keeps, l2_keeps;
    double read_busy, write_busy; /* until then */
};
/* From now on some of this memory may lie at that place (enum device_place). */
void paths_reach(struct paths *paths, struct memory *memory, unsigned place,
                 const struct paths_link *link);
/* A launch begins. */
void paths_begin(struct paths *paths);
/* Caches and TLBs, bit i those of index i, lose what they hold, on all SMs. */
void paths_forget(struct paths *paths, uint32_t caches, uint32_t tlbs);
/* The lines of [address, address + bytes) were written from outside. */
void paths_drop(struct paths *paths, uint64_t address, uint64_t bytes);

/* Who loads: an SM, and a scheduler, of all that there are. */
struct accessor {
    uint32_t sm, scheduler;
    uint8_t hint; /* enum ptx_hint: what it tells L2 */
    bool at_home; /* no copy will do: an atomic */
    bool anew;    /* nor will what a cache has of memory elsewhere */
};

/* One lane's load. */
struct lane_load {
    enum profile_path_id path;
    unsigned bytes;
    const struct accessor *who;
    uint64_t address;
    double t; /* when it was issued */
};
/* Its cycles. */
double paths_load_one(struct paths *paths, const struct lane_load *load);
/* True if no load of a chain on that path, of 8 B each, that begins at t
 * depends on when it is issued: where nothing has a rate but memory, each has
 * left memory free again before the next one can come. */
bool paths_are_timeless(const struct paths *paths, enum profile_path_id path,
                        double t);
/* Where that is so: the cycles of loads one after the other, but for their
 * addresses as this one.  True if the last one takes memory, which is still to
 * be told when (paths_take_memory). */
bool paths_load_each(struct paths *paths, struct lane_load load,
                     const uint64_t *addresses, size_t count, double *cycles);
/* Takes memory for a load that comes to it; cycles that it waits. */
double paths_take_memory(struct paths *paths, const struct lane_load *load);
/* One warp's load: `count` > 0 addresses (of its active lanes). */
struct warp_load {
    const uint64_t *addresses;
    size_t count;
    unsigned bytes; /* of a lane */
    unsigned lines; /* set: distinct lines */
};
/* Its cycles, at time t: those of the slowest lane, and one more for each
 * further line. */
double paths_load(struct paths *paths, enum profile_path_id path,
                  const struct accessor *who, struct warp_load *load, double t);
/* Cycles until a copy of so many bytes from `address` is there: that of the
 * sector which takes longest, and one more for each further line. */
double paths_copy(struct paths *paths, enum profile_path_id path,
                  const struct accessor *who, uint64_t address, uint64_t bytes,
                  double t);
/* One lane stores so many bytes at time t; cycles until they are taken. */
double paths_store(struct paths *paths, const struct accessor *who,
                   uint64_t address, unsigned bytes, double t);
/* A warp stores to local memory, which only its own lanes read: what it writes
 * whole sectors of stays in its first cache; the rest of others would have to
 * be fetched when they are read. */
void paths_store_local(struct paths *paths, const struct accessor *who,
                       const struct warp_load *store);
/* Cycles to fetch the instruction at `address`, without TLBs: a level that
 * misses fetches its whole sector from the next one. */
double paths_fetch(struct paths *paths, const struct accessor *who,
                   uint64_t address);

#endif
