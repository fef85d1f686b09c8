/*
 * Blocks that work at once on all SMs, each on a share of its own (van Stigt
 * 2022, 7): what the probes `stream` and `bulk` have in common.
 *
 * There are as many blocks as all SMs hold, `blocks` each.  Those on wanted SMs
 * take a number and meet at a gate in global memory; the others leave.  Each
 * warp notes two reads of its SM's clock, two of the GPU's timer, and how many
 * tiles it passed between them.  A row of samples is an SM.
 */
#ifndef SONDE_PROBE_TEAM_H
#define SONDE_PROBE_TEAM_H

#include "probe/run.h"
#include "ptx/kernel.h"

/* 32-bit words at `slots`. */
enum team_slot {
    SLOT_ARRIVED,
    SLOT_WORKERS,
    SLOT_READY,
    SLOT_ZERO,
    SLOT_NEVER,
    SLOTS
};

/* Columns of samples, after the repetition. */
enum team_column {
    TEAM_SM = 1,
    TEAM_BLOCKS,
    TEAM_BYTES,
    TEAM_BEGUN,
    TEAM_ENDED,
    TEAM_NS_BEGUN,
    TEAM_NS_ENDED,
    TEAM_NS_EVENT,
    TEAM_RATE, /* B in 2^20 cycles, summed over warps; where tiles count */
    TEAM_MHZ
};
extern const char *const team_columns[];

/* Bytes of a line of the record: of each block one with its SM, and one of each
 * warp: clock, clock, timer, timer, tiles. */
enum { TEAM_RECORD = 48 };

/* Blocks of that many for each SM: of all SMs, and of those that are wanted,
 * from number 0 on (0: all). */
unsigned team_blocks(const struct device_info *info, unsigned each);
unsigned team_workers(const struct device_info *info, unsigned each,
                      unsigned wanted);

/* ---- the kernel's part ------------------------------------------------- */

/*
 * Writes that the block takes a number, if its SM is wanted, and meets the
 * others; else it goes to DONE.  Reads %sm, %me, %slots, the parameters `sms`
 * and `grid`; sets %other (not thread 0), %worker, %workers; uses the first
 * word of the shared `pool`, %at, %bt (.b64) and what gate_meet uses.
 */
void team_enlist(struct kernel_text *k);
/* All blocks meet, unless %end is false, then all warps of each. */
void team_begin_together(struct kernel_text *k);
/* The worker's share of [tiles], as equal as whole tiles are: %turns tiles from
 * %at on.  Uses %bt, %ct. */
void team_share(struct kernel_text *k);
/* %out becomes the line before the warp's, where its block's SM is noted; uses
 * %t0.  Then the line from %t0, %t1, %g0, %g1, %taken. */
void team_place_record(struct kernel_text *k, unsigned warps);
void team_write_record(struct kernel_text *k);

/* ---- the host's part --------------------------------------------------- */

/* Slots, and a record of zeros of so many bytes. */
int team_place(struct prober *prober, size_t bytes, uint64_t *slots,
               uint64_t *out, struct error *err);

/* Where in its share a block begins, in 2^-32: by the golden section from one
 * repetition to the next, so that none begins where one shortly before it did
 * and finds in L2 what that one brought. */
uint64_t team_start(const struct prober *prober, const struct samples *samples);

/* What stands in a record. */
struct team_tally {
    unsigned workers, warps;
    uint64_t tile;  /* bytes of one */
    uint64_t tiles; /* that each warp passed; 0: as many as it counted */
};
/* Appends the rows of the SMs. */
void team_add(const struct team_tally *tally, const uint64_t *record,
              struct samples *samples);
/* Notes what the launch took, ns, and the clock that is told, in the rows
 * [from, rows). */
void team_note(struct prober *prober, double elapsed, struct samples *samples,
               size_t from);
/* Cycles of 2^40 B, by all warps; without a rate those of the SM that took
 * longest. */
double team_figure(const struct samples *samples, size_t from);

#endif
