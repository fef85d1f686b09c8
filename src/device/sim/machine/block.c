/*
 * A block comes to an SM: its shared memory, its warps, and the constants that
 * their threads see.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/sim/machine/scheduler.h"
#include "device/sim/machine/warp.h"

static uint64_t special_value(const struct machine *m, const struct warp *w,
                              enum ptx_special special, uint32_t thread)
{
    const uint32_t lane = thread % WARP_LANES;
    const uint32_t *const index = w->block->index;
    switch (special) {
#define SPECIAL(id, name, value)                                               \
    case SPECIAL_##id:                                                         \
        return value;
#include "device/sim/ptx/specials.def"
#undef SPECIAL
    default:
        return 0;
    }
}

static uint64_t constant_value(const struct machine *m, const struct warp *w,
                               const struct constant *c, uint32_t thread)
{
    if (c->kind == CONSTANT_SPECIAL)
        return special_value(m, w, c->special, thread);
    if (c->kind == CONSTANT_ADDRESS && c->space == SPACE_GLOBAL)
        return m->kernel->module->globals.address + c->value;
    return c->value;
}

static void set_constants(const struct machine *m, struct warp *w,
                          unsigned in_block, unsigned lanes)
{
    const struct kernel *const k = m->kernel;
    if (lanes < WARP_LANES) /* others are never live */
        memset(&w->regs[(size_t)k->registers << m->shift], 0,
               (k->constant_count << m->shift) * sizeof *w->regs);
    for (size_t i = 0; i < k->constant_count; i++)
        for (unsigned l = 0; l < lanes; l++)
            w->regs[((k->registers + i) << m->shift) + l] = constant_value(
                m, w, &k->constants[i], in_block * WARP_LANES + l);
}

static unsigned take_warp_number(const struct machine *m, struct sm *sm)
{
    unsigned number = 0;
    while (number + 1 < m->profile->max_warps_per_sm && sm->warp_taken[number])
        number++;
    sm->warp_taken[number] = true;
    return number;
}

static void warp_start(struct machine *m, struct warp *w, unsigned in_block,
                       double t)
{
    const unsigned left = m->threads - in_block * WARP_LANES;
    const unsigned lanes = left < WARP_LANES ? left : WARP_LANES;
    struct sm *const sm = w->block->sm;
    memset(w->regs, 0,
           ((size_t)m->kernel->registers << m->shift) * sizeof *w->regs);
    memset(w->ready, 0, m->kernel->registers * sizeof *w->ready);
    w->live = w->active = lanes == 32 ? UINT32_MAX : (1u << lanes) - 1;
    w->waiting = 0;
    w->other_pc = UINT32_MAX;
    w->op = m->kernel->ops;
    w->next = t;
    w->fetched = 0; /* no op lies there */
    w->waits = (struct waiting){0};
    w->number = take_warp_number(m, sm);
    const unsigned schedulers = (unsigned)m->profile->warp_schedulers;
    const unsigned scheduler = w->number % schedulers;
    w->accessor = (struct accessor){
        .sm = sm->number, .scheduler = sm->number * schedulers + scheduler};
    w->scheduler = &sm->schedulers[scheduler];
    w->turn = &w->scheduler->turns[w->number / schedulers];
    w->turn->warp = w;
    scheduler_start(m, w->scheduler, w->turn);
    set_constants(m, w, in_block, lanes);
    warp_schedule(w, w->next, operands_ready(w));
}

/* Bytes of a warp's registers, and of the times of these. */
static size_t regs_bytes(const struct machine *m)
{
    const struct kernel *const k = m->kernel;
    return ((k->registers + k->constant_count) << m->shift) * sizeof(uint64_t);
}

static size_t ready_bytes(const struct machine *m)
{
    return m->kernel->registers * sizeof(double);
}

void blocks_reserve(struct machine *m)
{
    const size_t each = m->warps_per_block *
                        (sizeof(struct warp) + regs_bytes(m) + ready_bytes(m));
    const size_t all = each * m->slots * m->used_sms;
    m->warp_room_used = 0;
    if (all <= m->warp_room_bytes)
        return;
    free(m->warp_room);
    m->warp_room = NULL;
    m->warp_room_bytes = 0;
    m->warp_room = xmalloc(all);
    m->warp_room_bytes = all;
}

/* Memory of a block's warps, in one piece: the structs, then for each warp
 * its registers and the times of its registers. */
static void block_reserve(struct machine *m, struct block *b)
{
    const size_t regs = regs_bytes(m), each = regs + ready_bytes(m);
    const size_t warps = m->warps_per_block * sizeof(struct warp);
    unsigned char *at = m->warp_room + m->warp_room_used;
    m->warp_room_used += warps + m->warps_per_block * each;
    memset(at, 0, warps);
    b->warps = (void *)at;
    b->shared = xmalloc((size_t)m->shared_bytes + 1);
    at += warps;
    for (unsigned i = 0; i < m->warps_per_block; i++, at += each) {
        b->warps[i].block = b;
        b->warps[i].regs = (void *)at;
        b->warps[i].ready = (void *)(at + regs);
    }
}

void block_start(struct machine *m, struct block *b, struct sm *sm, double t)
{
    const uint64_t i = m->next_block++;
    const double interval = m->profile->block_interval_cycles;
    const double start = interval > 0 && m->block_at > t ? m->block_at : t;
    m->block_at = start + interval;
    if (b->warps == NULL)
        block_reserve(m, b);
    b->sm = sm;
    b->order = i;
    b->index[0] = (uint32_t)(i % m->grid[0]);
    b->index[1] = (uint32_t)(i / m->grid[0] % m->grid[1]);
    b->index[2] = (uint32_t)(i / m->grid[0] / m->grid[1]);
    b->live_warps = m->warps_per_block;
    memset(b->shared, 0, m->shared_bytes);
    memset(b->barriers, 0, sizeof b->barriers);
    b->mbarrier_count = 0;
    for (unsigned w = 0; w < m->warps_per_block; w++)
        warp_start(m, &b->warps[w], w, start);
    m->live_blocks++;
    m->changed = true;
}

void block_follow(struct machine *m, struct block *b, double t)
{
    if (m->next_block < m->block_count)
        block_start(m, b, b->sm, t + m->profile->block_gap_cycles);
}
