/*
 * What the two halves of the probe `stream` share: what is asked of it
 * (stream.c), and the kernel that does it (stream_kernel.c).
 */
#ifndef SONDE_PROBE_STREAM_H
#define SONDE_PROBE_STREAM_H

#include "probe/probe.h"
#include "probe/run/resident_grid.h"

enum stream_operation { OP_READ, OP_WRITE, OP_COPY, OP_TRIAD };
enum stream_place { GLOBAL, SHARED, TEXTURE, CONSTANT, READONLY };
enum stream_sharing { BY_WARP, BY_SM, BY_GPU, BY_BLOCKS };
enum stream_usage { USE_XOR, USE_ADD, USE_NOT, USE_MOV };

enum { STREAM_LANES = 32, STREAM_WARPS = 32, STREAM_UNROLL = 16 };
/* 32-bit registers of a thread besides those that are loaded. */
enum { STREAM_REGISTERS = 26 };

/* What the experiment says. */
struct stream {
    enum stream_operation op;
    enum stream_place space;
    enum device_place memory;
    enum stream_sharing share;
    enum stream_usage use;
    const char *cache;
    unsigned width, unroll, warps, blocks, stride, sms, row, dither;
    uint64_t bytes, skew, warm, laps, lead, cycles;
};

/* Every warp goes over all of the set. */
static inline bool stream_shares_all(const struct stream *s)
{
    return s->share == BY_WARP || s->share == BY_SM;
}

static inline unsigned stream_threads(const struct stream *s)
{
    return STREAM_LANES * s->warps;
}

/* 32-bit registers of one access. */
static inline unsigned stream_words(const struct stream *s)
{
    return s->width < 4 ? 1 : s->width / 4;
}

/* Bytes from one of a thread's accesses to the next, and of all of them.  Where
 * every warp goes over all, a thread's accesses lie side by side whatever the
 * stride is, so that what the lanes span is all that a small cache must hold.
 */
static inline uint64_t stream_step(const struct stream *s)
{
    if (s->space == CONSTANT)
        return s->width;
    if (stream_shares_all(s))
        return (uint64_t)s->row * s->width;
    return (uint64_t)stream_threads(s) * s->width * s->stride;
}

static inline uint64_t stream_tile(const struct stream *s)
{
    return s->unroll * stream_step(s);
}

/* `start`: share=gpu, in 2^-32 of the part. */
KERNEL_PARAMETERS(stream_arguments, first, second, third, texture, slots, out,
                  grid, sms, tiles, turns, warm, laps, lead, cycles, start);

/*
 * What comes back at `out`, in lines of so many bytes: the resident grid's
 * record; share=blocks: of each SM a line that begins with the number of blocks
 * that it had, and one with clock and timer of one of its first blocks and of
 * one of its last.
 */
enum { STREAM_RECORD = GRID_RECORD };

/* The probe's hook. */
void stream_kernel(const struct experiment *e, const struct device_info *info,
                   struct buf *out);

#endif
