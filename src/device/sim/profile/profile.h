/*
 * A profile: all that is true of one simulated GPU, read from JSON (keys in
 * docs/profiles.md).  The reader accepts exactly the keys it knows; a profile
 * that is not JSON, lacks a key, has an unknown one or describes a GPU that
 * cannot be is an ERR_FILE that names file, line or key.
 */
#ifndef SONDE_DEVICE_SIM_PROFILE_PROFILE_H
#define SONDE_DEVICE_SIM_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "model/banks.h"
#include "model/cache.h"

enum { PROFILE_CACHES_MAX = 16, PROFILE_LEVELS_MAX = 4, PROFILE_TLBS_MAX = 3 };

enum profile_scope { SCOPE_SM, SCOPE_TPC, SCOPE_GPC, SCOPE_GPU };

/* Two halves of a cache of the whole GPU, each beside half of the SMs. */
struct profile_partitions {
    uint64_t bits; /* address bits whose XOR is a line's home; 0: one part */
    double far_cycles; /* more for what comes from the other half */
    bool replicates;   /* the near half keeps what came from the far one */
    bool alternate;    /* SM s is beside half s mod 2; else the first SMs are
                          beside one, the others beside the other */
    bool packed;       /* a half files lines as if there were no others */
};

struct profile_cache {
    char name[32];
    struct cache_shape shape; /* of both halves together */
    uint64_t page; /* of a TLB, whose lines are what entries cover; else 0 */
    unsigned copies_per_sm; /* 1, or the copies of a split cache */
    enum profile_scope scope;
    double port_cycles; /* for which a line of an access keeps a copy busy */
    /* Bytes that each passes on, or takes, in a cycle; 0: any number. */
    double read_bandwidth, write_bandwidth;
    double atomic_cycles; /* for which an atomic keeps a slice busy */
    double slice_cycles;  /* more from the last slice than from the first */
    /* What a miss of a load with L2::64B, 128B, 256B brings in; 0: a sector. */
    uint64_t fetch[3];
    struct profile_partitions partitions;
    bool virtual; /* it knows lines by virtual addresses, else by physical */
};

/* Of warps that wait for the same, who goes first. */
enum profile_favour {
    FAVOUR_NONE,        /* who has waited longest */
    FAVOUR_LOW_WARPS,   /* … at the port of a cache, low warps being ahead */
    FAVOUR_OLDER_BLOCKS /* warps of the block that came first */
};

/* Cycles of a dependent load by where its address translation was found:
 * [0] first TLB, [1] second, [2] third, [3] page walk. */
enum { TRANSLATION_WALKED = 3, TRANSLATIONS };
struct profile_latency {
    double cycles[TRANSLATIONS];
};

/* X(id, name): how programs reach memory. */
#define PROFILE_PATHS(X)                                                       \
    X(PATH_GLOBAL_CA, "global.ca")                                             \
    X(PATH_GLOBAL_CG, "global.cg")                                             \
    X(PATH_READONLY, "readonly")                                               \
    X(PATH_TEXTURE, "texture")                                                 \
    X(PATH_CONSTANT, "constant")                                               \
    X(PATH_LOCAL, "local")                                                     \
    X(PATH_INSTRUCTION, "instruction")

enum profile_path_id {
#define X(id, name) id,
    PROFILE_PATHS(X)
#undef X
        PATH_COUNT
};

struct profile_path {
    int present; /* 0: this GPU has no such path */
    size_t levels;
    int cache[PROFILE_LEVELS_MAX]; /* index into profile.caches, near first */
    struct profile_latency latency[PROFILE_LEVELS_MAX]; /* of a hit there */
    struct profile_latency memory;
    double unoptimized_cycles; /* more for each load assembled at -O0 */
    uint64_t prefetch; /* lines that come with one; PATH_INSTRUCTION only */
    bool prefetch_on_hits;
    uint64_t prefetch_short; /* of a hundred times, one line less comes */
};

/* Cycles of an instruction at -O0 … -O4. */
struct profile_times {
    double level[5];
};

/* An instruction's costs: key of `isa`, "default" for all others. */
struct profile_isa {
    char name[64];
    struct profile_times latency;
    bool has_power_of_two;
    struct profile_times power_of_two; /* where all divisors are such */
    double issue;                      /* cycles for which it keeps its pipe */
};

/* Another process that takes turns with ours on the whole GPU. */
struct profile_intruder {
    double share;          /* of launches that it interrupts; 0: none */
    double cycles;         /* for which nothing of ours runs */
    double every_cycles;   /* of the launch until it comes again; 0: once */
    double first_cycles;   /* of a launch before it comes; 0: any moment */
    uint32_t caches, tlbs; /* that it empties: bit i is that of index i */
};

/* Another user at the same time. */
struct profile_neighbour {
    int from;       /* index of the first cache that both share */
    double share;   /* of accesses that get there and wait; 0: none */
    double cycles;  /* for which they do, on average */
    uint64_t burst; /* how many in a row */
};

struct profile {
    char name[128], architecture[32], source[8192];
    int cc_major, cc_minor;
    uint64_t sms, warp_schedulers, sms_per_tpc, tpcs_per_gpc;
    bool tpcs_apart; /* SM s is of TPC s mod their number; else s / sms_per_tpc
                      */
    uint64_t max_threads_per_block, max_warps_per_sm, max_blocks_per_sm;
    uint64_t clock_khz, memory_clock_khz, memory_bytes;
    uint64_t mapping_bytes; /* a piece that can have several addresses */
    int64_t memory_bus_bits, registers_per_sm, cores_per_sm; /* -1: not told */
    int64_t l2_reported_bytes;                               /* -1: not told */
    /* What else a driver would report. */
    uint64_t max_threads_per_sm, constant_bytes, shared_per_block;
    int64_t shared_per_block_optin, shared_reserved;  /* -1: not told */
    int64_t registers_per_block, l2_persisting_bytes; /* -1: not told */
    int64_t texture_max_width, copy_engines, ecc;     /* -1: not told */
    uint64_t clusters; /* 1: thread block clusters can be launched */

    enum profile_favour favours;
    double favour_cycles; /* of waiting, by which a warp is ahead of the next */
    /* From the end of a block to the start of the one that follows on its
     * place; from one block of the GPU to the next. */
    double block_gap_cycles, block_interval_cycles;
    bool tpcs_in_turn; /* blocks go to one SM of each TPC, then the next */
    enum profile_scope clock_scope; /* SMs whose clocks run alike */
    uint64_t globaltimer_ns;        /* in steps of which %globaltimer counts */

    size_t cache_count;
    struct profile_cache caches[PROFILE_CACHES_MAX];
    size_t tlb_count;
    struct profile_cache tlbs[PROFILE_TLBS_MAX];
    double walks_apart; /* cycles by which page walks differ, at most */
    struct profile_path paths[PATH_COUNT];
    uint64_t page_window_bytes; /* 0: none */
    double page_window_latency; /* cycles of a load that leaves it */

    /* Of each TPC's and each GPC's way to what all SMs share, as those of a
     * cache. */
    double tpc_read_bandwidth, tpc_write_bandwidth;
    double gpc_read_bandwidth, gpc_write_bandwidth;
    /* Of the whole GPU, as those of a cache. */
    double memory_read_bandwidth, memory_write_bandwidth;
    bool default_cg; /* ld.global without an operator is .cg */

    uint64_t shared_bytes;
    double shared_latency, shared_conflict_cycles;
    double shared_unoptimized_cycles;                     /* as a path's */
    double shared_read_bandwidth, shared_write_bandwidth; /* as a cache's */
    struct banks banks;

    size_t isa_count;
    struct profile_isa *isa; /* [0] is the default */

    /* What becomes of the GPU after so many launches; 0: nothing. */
    uint64_t changes_after;
    uint64_t changed_khz; /* its clock then; 0: as before */
    double
        changed_beyond; /* share of what is beyond the SM that keeps its own */
    uint64_t changed_throttle; /* what the management library says then */
    uint64_t changed_processes;
    struct profile_intruder intruder;
    struct profile_neighbour neighbour;

    /* Cycles between two %clock reads in a row, and at -O0. */
    double clock_overhead, clock_overhead_unoptimized;
    double jitter_cycles, spike_rate, spike_cycles, crowd_cycles;
};

/*
 * NAME is a path if it has a '/' or ends in ".json"; else a shipped profile
 * (shipped.h), or NAME.json in `extra_folder` (may be NULL).  The caller frees
 * with profile_free.  ERR_NO_DEVICE if there is no profile of that name.
 */
int profile_open(const char *name, const char *extra_folder,
                 struct profile **profile, struct error *err);
/* As profile_open, from text; `where` names it in errors. */
int profile_parse(const char *text, const char *where, struct profile **profile,
                  struct error *err);
/* The text of such a file, of a profile or a host; not of a shipped one. */
int profile_read_file(const char *name, const char *extra_folder,
                      struct buf *text, struct error *err);
void profile_free(struct profile *profile);
/* Which one of those of the scope the SM has, from 0. */
unsigned profile_place(const struct profile *p, enum profile_scope scope,
                       unsigned sm);
/* Whether a load can say how long a line stays, or how much comes with it. */
bool profile_obeys_hints(const struct profile_cache *cache);

#endif
