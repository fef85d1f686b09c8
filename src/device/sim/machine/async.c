/*
 * Bulk copies to shared memory, and the barriers in shared memory that they
 * complete (PTX ISA 8.0: cp.async.bulk, mbarrier).
 *
 * A copy moves its bytes when it is issued, and tells its barrier when they
 * would have come: its sectors are read as loads that pass L1 by are, all at
 * once.  A barrier's phase ends when as many have arrived as it was made for,
 * and no bytes are to come.  All that a phase waits for is known when the last
 * of it is issued; who waits then waits until it ends, and who waits for a
 * phase of which nobody knows the end is told no.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "device/sim/machine/units.h"

/* What addresses and sizes of copies are multiples of, and what a barrier can
 * count (PTX ISA). */
enum { COPY_UNIT = 16, BARRIER_BYTES = 8, ARRIVALS_MOST = (1 << 20) - 1 };

static unsigned char *shared_at(const struct machine *m, const struct warp *w,
                                uint64_t address, uint64_t bytes)
{
    if (address > m->shared_bytes || bytes > m->shared_bytes - address)
        return NULL;
    return w->block->shared + address;
}

/* ---- barriers ---------------------------------------------------------- */

/* Where a barrier lies; NULL after a fault. */
static unsigned char *barrier_place(struct machine *m, const struct warp *w,
                                    const struct op *op, uint64_t address)
{
    unsigned char *const host = shared_at(m, w, address, BARRIER_BYTES);
    if (host != NULL && address % BARRIER_BYTES == 0)
        return host;
    machine_fault(m, op, "the barrier at .shared address 0x%llx is %s",
                  (unsigned long long)address,
                  host == NULL ? "outside of what is allocated" : "misaligned");
    return NULL;
}

/* NULL after a fault. */
static struct mbarrier *barrier_at(struct machine *m, const struct warp *w,
                                   const struct op *op, uint64_t address)
{
    struct block *const b = w->block;
    const unsigned char *const host = barrier_place(m, w, op, address);
    uint64_t number;
    if (host == NULL)
        return NULL;
    memcpy(&number, host, sizeof number);
    if (number > 0 && number <= b->mbarrier_count &&
        b->mbarriers[number - 1].address == address)
        return &b->mbarriers[number - 1];
    machine_fault(m, op, "no barrier was made at .shared address 0x%llx",
                  (unsigned long long)address);
    return NULL;
}

static uint64_t address_of(const struct machine *m, const struct warp *w,
                           const struct op *op, unsigned lane)
{
    return lanes_of(m, w, op->src[0])[lane] + (uint64_t)op->offset;
}

/* The phase ends if nothing is to come. */
static void settle(struct mbarrier *b)
{
    if (b->pending > 0 || b->bytes != 0)
        return;
    b->ended = b->latest;
    b->latest = 0;
    b->pending = b->expected;
    b->phase++;
}

void mbarrier_init(struct machine *m, struct warp *w, const struct op *op,
                   uint32_t mask, double t)
{
    struct block *const b = w->block;
    (void)t;
    EACH_LANE(mask, l)
    {
        const uint64_t address = address_of(m, w, op, l);
        const uint64_t count = lanes_of(m, w, op->src[1])[l];
        unsigned char *const host = barrier_place(m, w, op, address);
        if (host == NULL)
            return;
        if (count == 0 || count > ARRIVALS_MOST) {
            machine_fault(m, op, "a barrier of %llu arrivals",
                          (unsigned long long)count);
            return;
        }
        b->mbarriers = xreallocarray(b->mbarriers, b->mbarrier_count + 1,
                                     sizeof *b->mbarriers);
        b->mbarriers[b->mbarrier_count++] =
            (struct mbarrier){.address = (uint32_t)address,
                              .expected = (uint32_t)count,
                              .pending = (uint32_t)count};
        const uint64_t number = b->mbarrier_count;
        memcpy(host, &number, sizeof number);
    }
}

void mbarrier_arrive(struct machine *m, struct warp *w, const struct op *op,
                     uint32_t mask, double t)
{
    EACH_LANE(mask, l)
    {
        struct mbarrier *const b =
            barrier_at(m, w, op, address_of(m, w, op, l));
        if (b == NULL)
            return;
        if (b->pending == 0) {
            machine_fault(m, op, "more than %u arrive in one phase",
                          b->expected);
            return;
        }
        lanes_of(m, w, op->dst[0])[l] = b->phase;
        b->bytes += (int64_t)lanes_of(m, w, op->src[1])[l];
        b->pending--;
        b->latest = fmax(b->latest, t);
        settle(b);
    }
    set_ready(w, op->dst[0], mask, t + op->latency);
}

void mbarrier_wait(struct machine *m, struct warp *w, const struct op *op,
                   uint32_t mask, double t)
{
    double when = t;
    EACH_LANE(mask, l)
    {
        const struct mbarrier *const b =
            barrier_at(m, w, op, address_of(m, w, op, l));
        if (b == NULL)
            return;
        const bool ended =
            (lanes_of(m, w, op->src[1])[l] & 1) != (b->phase & 1);
        lanes_of(m, w, op->dst[0])[l] = ended;
        when = ended ? fmax(when, b->ended) : when;
    }
    set_ready(w, op->dst[0], mask, when + op->latency);
}

/* ---- copies ------------------------------------------------------------ */

struct bulk {
    uint64_t to, from, bytes;
};

/* False after a fault. */
static bool is_copy(struct machine *m, const struct op *op,
                    const struct bulk *c, bool inside)
{
    const bool aligned = c->to % COPY_UNIT == 0 && c->from % COPY_UNIT == 0;
    if (inside && aligned && c->bytes > 0 && c->bytes % COPY_UNIT == 0)
        return true;
    machine_fault(m, op,
                  "%llu bytes from .global address 0x%llx to .shared 0x%llx %s",
                  (unsigned long long)c->bytes, (unsigned long long)c->from,
                  (unsigned long long)c->to,
                  !inside    ? "are outside of what is allocated"
                  : !aligned ? "are misaligned: both are multiples of 16"
                             : "are no multiple of 16");
    return false;
}

static void copy_lane(struct machine *m, struct warp *w, const struct op *op,
                      unsigned lane, double t)
{
    const struct bulk c = {.to = address_of(m, w, op, lane),
                           .from = lanes_of(m, w, op->src[1])[lane],
                           .bytes = lanes_of(m, w, op->src[2])[lane]};
    unsigned char *const to = shared_at(m, w, c.to, c.bytes);
    const unsigned char *const from = memory_at(&m->memory, c.from, c.bytes);
    struct mbarrier *const b =
        barrier_at(m, w, op, lanes_of(m, w, op->src[3])[lane]);
    if (b == NULL || !is_copy(m, op, &c, to != NULL && from != NULL))
        return;
    memcpy(to, from, c.bytes);
    const double cycles = paths_copy(m->paths, (enum profile_path_id)op->path,
                                     &w->accessor, c.from, c.bytes, t);
    b->bytes -= (int64_t)c.bytes;
    b->latest = fmax(b->latest, t + noise_add(&m->noise, cycles));
    settle(b);
}

void bulk_copy(struct machine *m, struct warp *w, const struct op *op,
               uint32_t mask, double t)
{
    EACH_LANE(mask, l)
    copy_lane(m, w, op, l, t);
}
