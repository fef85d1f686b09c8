/*
 * The simulated machine: SMs with warp schedulers, the blocks and warps that
 * they hold, and the clock.
 *
 * Times are cycles since the device was opened.  A warp issues in order, at
 * the earliest one cycle after its last instruction, when the registers that
 * the instruction reads are ready, its scheduler is free (one instruction a
 * cycle) and so is the pipe of its isa row (for `issue` cycles after each).
 * Of the warps of a scheduler the one that waited longest goes first.  The
 * schedulers of all SMs advance in the order of time.
 *
 * Lanes of a warp that went different ways are run lowest program counter
 * first, so that those who are behind catch up and join at the latest where
 * their ways meet again.  A warp whose lanes wait for each other in a loop
 * hangs, as on GPUs before Volta; the deadline ends it.
 */
#ifndef SONDE_DEVICE_SIM_MACHINE_MACHINE_H
#define SONDE_DEVICE_SIM_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/device.h"
#include "device/sim/memory/memory.h"
#include "device/sim/memory/noise.h"
#include "device/sim/memory/paths.h"
#include "device/sim/ptx/program.h"

enum { WARP_LANES = 32, BARRIERS = 16 };

/* What every GPU of CUDA takes. */
enum { BLOCK_Z_MAX = 64, GRID_X_MAX = INT32_MAX, GRID_YZ_MAX = 65535 };

/* Instructions take 16 bytes of the device's memory, as since Volta. */
enum { OP_BYTES = 16, CODE_ALIGN = 128, CODE_PAGE = 4096 };
/* Where the caches see instructions: beyond all that can be allocated. */
#define CODE_ADDRESSES ((uint64_t)1 << 48)

/*
 * The port of one copy of a cache: it takes a warp's access at a time, and the
 * others wait.  Of those one is chosen, which issues when the port is free;
 * none of the others can before it.
 */
struct port {
    double free;
    double cycles;               /* for which a line keeps it busy */
    struct warp *first, *chosen; /* of those that wait */
};

/* A warp's place among those. */
struct waiting {
    struct port *port;  /* NULL: none */
    struct warp *after; /* who waits there too */
    double since;       /* and how long, by whom the port favours */
};

struct barrier {
    unsigned arrived;      /* warps */
    unsigned threads, yes; /* of bar.red: lanes, those with a true predicate */
    double latest;
};

struct warp {
    double next; /* earliest issue of `op`, if its sources are ready */
    const struct op *op;
    uint64_t *regs; /* register r of lane l: regs[(r << shift) + l] */
    double *ready;  /* when each register is */
    uint32_t active, live, waiting; /* lanes: at op, not exited, at a barrier */
    uint32_t other_pc;        /* the lowest of live lanes that are not active */
    unsigned barrier;         /* at which the lanes wait */
    unsigned barrier_warps;   /* that it waits for; 0: all of the block */
    double resume;            /* cycles from its end until they go on */
    const struct op *reduces; /* the bar.red that they wait in; NULL: none */
    unsigned number;          /* in the SM */
    struct accessor accessor; /* the SM and its scheduler */
    uintptr_t fetched;        /* where the line of the last op begins in ops */
    struct block *block;
    struct scheduler *scheduler;
    struct turn *turn;
    struct waiting waits;         /* for the port of a cache */
    unsigned char *local;         /* of its lanes; NULL: not used yet */
    uint32_t lane_pc[WARP_LANES]; /* of the lanes that are not active */
};

/* A barrier in shared memory, which is found by the number that lies there.
 * What copies still bring is counted when they are issued, so a phase that
 * all of them will complete is known to end at `latest`. */
struct mbarrier {
    uint32_t address;
    uint32_t expected, pending; /* arrivals: of a phase, still to come */
    int64_t bytes;              /* that are still to come; less than 0: more
                                   came than were expected so far */
    unsigned phase;
    double latest; /* of this phase's copies */
    double ended;  /* when the last phase did */
};

struct block {
    struct sm *sm;
    uint32_t index[3];
    uint64_t order; /* among the blocks of the launch */
    unsigned live_warps;
    struct warp *warps;
    unsigned char *shared;
    struct barrier barriers[BARRIERS];
    struct mbarrier *mbarriers;
    unsigned mbarrier_count;
};

/* What a scheduler must know of a warp to choose, side by side. */
struct turn {
    double at;          /* earliest issue of its op; INFINITY: it waits */
    uint32_t pipe;      /* of its op */
    uint32_t first_ops; /* that a warp which just started has left */
    struct warp *warp;
    struct turn *before, *after;
};

struct scheduler {
    double free;         /* when it can issue next */
    struct turn *picked; /* whose warp does; NULL: none */
    double *pipe_free;
    struct turn *turns;        /* by the warp's number over the schedulers' */
    struct turn *first, *last; /* of warps that have not ended; the one that
                                  issued last is last */
    size_t place;              /* in the heap */
    struct sm *sm;
};

/* A scheduler in the heap: the key beside it, which is read most. */
struct ranked {
    double key; /* when it issues next; INFINITY: never */
    struct scheduler *scheduler;
};

/* The last access of several lanes to shared memory, and how often it was made
 * for its banks: a loop that measures makes the same one again. */
struct bank_access {
    uint32_t address[WARP_LANES];
    unsigned count, bytes, degree;
};

struct sm {
    unsigned number;
    uint64_t clock_offset;
    double shared_free; /* when the shared memory's pipe is */
    struct bank_access banks;
    struct port *ports; /* [cache][copy]; NULL: caches have none */
    struct scheduler *schedulers;
    bool *warp_taken;     /* by number */
    struct block *blocks; /* slots of this launch */
};

struct texture_view {
    uint64_t address, bytes; /* bytes 0: closed */
};

/* Another process that takes turns with ours (intruder.c). */
struct intruder {
    struct rng rng;
    double last; /* cycles of the last launch, of whatever kernel */
    double next; /* when it comes; INFINITY: no more in this launch */
    double away; /* cycles that it ran so far, which clocks alone count */
    double away_before; /* … when this launch began */
    bool due;           /* in this launch, and has not come yet */
    double turn_at;     /* when the turn of ours began that it ends … */
    bool ahead;         /* … in which a launch is still to come */
};

/* The functions of a module, which lie side by side. */
struct callable {
    uint64_t start, end;
    const struct module *module;
};

struct machine {
    const struct profile *profile;
    struct memory memory;
    struct paths *paths;
    struct noise noise;
    struct sm *sms;
    bool ported; /* some cache has a port */
    size_t texture_count;
    struct texture_view *textures; /* object i + 1 */
    double now;                    /* cycles; between launches */
    double last_cycles;            /* of the last launch */
    uint64_t launches, issued;
    uint64_t next_check; /* for what stops a launch, at so many issued */
    double khz;          /* of the SM clock */
    uint64_t code_end;   /* of all programs that were loaded */
    size_t callable_count;
    struct callable *callables; /* by address */
    size_t aliases;             /* allocations that have any */
    /* What warps of a launch lie in, kept for the next. */
    unsigned char *warp_room;
    size_t warp_room_bytes, warp_room_used;

    /* The launch that runs. */
    const struct kernel *kernel;
    uint32_t grid[3], block[3];
    uint64_t block_count, next_block, live_blocks;
    double block_at; /* when the next one can be given to an SM */
    unsigned lines;  /* of the access that was made last */
    unsigned threads, warps_per_block, slots; /* slots: blocks of an SM */
    unsigned used_sms, shift; /* lanes of a register: 1 << shift */
    double crowd;             /* what its accesses cost more */
    uint32_t shared_bytes, dynamic_bytes;
    unsigned char *params;
    double end;
    double deadline_s;
    uint64_t issued_most; /* until the deadline */
    unsigned ticket;                /* of whoever may be asked to stop */
    double until; /* … and stops by itself (now_seconds()); 0: never */
    uint64_t fetch_bytes;           /* of a line of instructions */
    uintptr_t fetch_span; /* the same among ops; UINTPTR_MAX: instructions are
                             not cached */
    bool changed;         /* an SM's warps woke or were replaced, or the launch
                             is over: who ran ahead looks up */
    struct ranked *heap;
    size_t heap_count;
    struct intruder intruder;
    int code; /* of the error that ended it */
    struct error *err;
};

struct machine *machine_new(const struct profile *profile, uint64_t seed);
/* True once what the profile says becomes of the GPU has come (launch.c). */
bool machine_has_changed(const struct machine *m);
void machine_free(struct machine *machine);
/* Runs a kernel to its end (launch.c). */
int machine_launch(struct machine *machine, struct kernel *kernel,
                   const struct launch *launch, struct error *err);

/* Pipes of a scheduler: one an isa row, memory's, and one for the rest. */
size_t machine_pipes(const struct profile *profile);
/* Ends the launch with an error of an instruction. */
void machine_fault(struct machine *m, const struct op *op, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Runs the blocks that are placed, and those that follow, until all ended or
 * m->code says why not (run.c). */
void machine_run(struct machine *machine);

/* ---- blocks come to SMs (block.c) --------------------------------------- */

/* Makes room for the warps of all that the SMs hold at once. */
void blocks_reserve(struct machine *m);
/* Puts the next block of the launch on an SM at time t. */
void block_start(struct machine *m, struct block *b, struct sm *sm, double t);
/* A place for another block became free at time t. */
void block_follow(struct machine *m, struct block *b, double t);

/* ---- functions (call.c) ------------------------------------------------- */

/* What a module's functions are called by, and that it goes. */
void call_add(struct machine *m, const struct module *module);
void call_remove(struct machine *m, const struct module *module);

/* ---- another process (intruder.c) --------------------------------------- */

void intruder_init(struct machine *m, uint64_t seed);
/* A launch begins, and ends; for how many cycles of it the intruder ran.  It
 * does not come to one that goes ahead, nor behind it. */
void intruder_begin(struct machine *m, bool ahead);
double intruder_end(struct machine *m);
/* It is t, and the intruder was to come before. */
void intruder_come(struct machine *m, double t);

/* ---- ports (port.c) ----------------------------------------------------- */

/* Ports of caches: warps take turns at them. */
/* For all caches of the profile; freed with the machine. */
void ports_init(struct machine *m);
void ports_free(struct machine *m);
/* A launch begins. */
void ports_begin(struct machine *m);
/* True if the load may be issued now; else the warp waits for its turn. */
bool port_take(struct machine *m, struct warp *w, const struct op *op,
               double t);
/* The load was issued, of m->lines lines. */
void port_leave(struct machine *m, struct warp *w, double t);

#endif
