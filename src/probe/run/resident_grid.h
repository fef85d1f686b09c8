/*
 * Blocks that work at once on all SMs, each on a share of its own (van Stigt
 * 2022, 7): what the probes `stream` and `bulk` have in common.
 *
 * There are as many blocks as all SMs hold, `blocks` each.  Those on wanted SMs
 * take a number and meet at a barrier in global memory; the others leave.  Each
 * warp notes two reads of its SM's clock, two of the GPU's timer, and how many
 * tiles it passed between them.  A row of samples is an SM.
 */
#ifndef SONDE_PROBE_RUN_RESIDENT_GRID_H
#define SONDE_PROBE_RUN_RESIDENT_GRID_H

#include "probe/run/shot.h"
#include "ptx/kernel.h"

/* 32-bit words at `slots`. */
enum resident_grid_slot {
    SLOT_ARRIVED,
    SLOT_WORKERS,
    SLOT_READY,
    SLOT_ZERO,
    SLOT_NEVER,
    SLOTS
};

/* Columns of samples, after the repetition. */
enum resident_grid_column {
    GRID_SM = 1,
    GRID_BLOCKS,
    GRID_BYTES,
    GRID_BEGUN,
    GRID_ENDED,
    GRID_NS_BEGUN,
    GRID_NS_ENDED,
    GRID_NS_EVENT,
    GRID_RATE, /* B in 2^20 cycles, summed over warps; where tiles count */
    GRID_MHZ
};
extern const char *const resident_grid_columns[];

/* Bytes of a line of the record: of each block one with its SM, and one of each
 * warp: clock, clock, timer, timer, tiles. */
enum { GRID_RECORD = 48 };

/* Blocks of that many for each SM: of all SMs, and of those that are wanted,
 * from number 0 on (0: all). */
unsigned resident_grid_blocks(const struct device_info *info, unsigned each);
unsigned resident_grid_workers(const struct device_info *info, unsigned each,
                               unsigned wanted);

/* ---- the kernel's part ------------------------------------------------- */

/*
 * Writes that the block takes a number, if its SM is wanted, and meets the
 * others; else it goes to DONE.  Reads %sm, %me, %slots, the parameters `sms`
 * and `grid`; sets %other (not thread 0), %worker, %workers; uses the first
 * word of the shared `pool`, %at, %bt (.b64) and what grid_barrier_meet uses.
 */
void resident_grid_enlist(struct kernel_text *k);
/* All blocks meet, unless %end is false, then all warps of each. */
void resident_grid_begin_together(struct kernel_text *k);
/* The worker's share of [tiles], as equal as whole tiles are: %turns tiles from
 * %at on.  Uses %bt, %ct. */
void resident_grid_share(struct kernel_text *k);
/* %out becomes the line before the warp's, where its block's SM is noted; uses
 * %t0.  Then the line from %t0, %t1, %g0, %g1, %taken. */
void resident_grid_place_record(struct kernel_text *k, unsigned warps);
void resident_grid_write_record(struct kernel_text *k);

/* ---- the host's part --------------------------------------------------- */

/* A launch of such a kernel. */
struct resident_grid {
    struct shot shot;
    uint64_t *slots, *out; /* among its arguments: set by resident_grid_run */
    size_t record_bytes;   /* that begin with zeros */
    double elapsed;        /* ns; set by resident_grid_run */
};
/* Runs the experiment's kernel; its record is the caller's to free, NULL if it
 * failed. */
uint64_t *resident_grid_run(struct prober *prober, const struct experiment *e,
                            struct resident_grid *grid, struct error *err);

/* Where in its share a block begins, in 2^-32: by the golden section from one
 * repetition to the next, so that none begins where one shortly before it did
 * and finds in L2 what that one brought. */
uint64_t resident_grid_start(const struct prober *prober,
                             const struct samples *samples);

/* Makes both longer by so many percent at most, by chance: each repetition,
 * which has another start, otherwise.  A warp counts whole tiles, and how far it
 * is in one when its time begins and ends is chance then, which repetitions
 * show, and not the same error in all of them. */
void resident_grid_dither(uint64_t start, unsigned percent, uint64_t *lead,
                          uint64_t *cycles);

/* What stands in a record. */
struct resident_grid_tally {
    unsigned workers, warps;
    uint64_t tile;  /* bytes of one */
    uint64_t tiles; /* that each warp passed; 0: as many as it counted */
};
/* Appends the rows of the SMs. */
void resident_grid_add(const struct resident_grid_tally *tally,
                       const uint64_t *record, struct samples *samples);
/* Notes what the launch took, and the clock that is told, in the rows
 * [from, rows). */
void resident_grid_note(struct prober *prober, const struct resident_grid *grid,
                        struct samples *samples, size_t from);
/* Cycles of 2^40 B, by all warps; without a rate those of the SM that took
 * longest. */
double resident_grid_figure(const struct experiment *experiment,
                            const struct samples *samples, size_t from);

#endif
