/*
 * A ring: the elements of a pointer chase and the order in which they are
 * visited.  Each element is a pointer to the next; the last points to the
 * first.
 */
#ifndef SONDE_PROBE_WALK_RING_H
#define SONDE_PROBE_WALK_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "probe/experiment.h"

struct ring_plan {
    uint64_t bytes, stride; /* elements at 0, stride, 2 stride … < bytes */
    bool random;            /* else in order of address */
    uint64_t window; /* random inside windows of so many bytes, which follow
                        one another in order of address; 0: one window */
    uint64_t sample; /* visit only so many elements, spread evenly over the
                        windows; 0: all */
    uint64_t lead;   /* in each block of so many bytes the first visit goes to
                        one more element, beside a random one of the block: it
                        pays for the address translation; 0: none */
    uint64_t most;   /* no more visits than these, the first ones; 0: all */
    struct segments list; /* these instead of the above, if any */
    uint64_t seed;
};

/* Where the element that leads a block lies after the element beside it: in
 * the same sector, and told by this bit of its offset. */
enum { RING_LEAD_OFFSET = 8 };

/* Byte offsets in the order of visit; the caller frees. */
uint64_t *ring_order(const struct ring_plan *plan, size_t *count);

#endif
