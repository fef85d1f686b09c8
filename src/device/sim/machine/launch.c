/*
 * Launches: what is checked before, and how blocks get to SMs: one to each SM
 * in their order, as many as fit; then the next one to the SM where one ended.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/sim/machine/machine.h"

enum { DEFAULT_DEADLINE_S = 10, LAUNCH_GAP_CYCLES = 1000 };

/*
 * A second of a deadline in instructions, some what a core simulates of simple
 * ones in it: counted and not timed, so that the same seed is the same run on a
 * host that is slow or shared.
 */
enum { ISSUES_PER_SECOND = 50 * 1000 * 1000 };

static int too_many(struct error *err, const char *what, uint64_t have,
                    uint64_t most)
{
    return error_set(err, ERR_USAGE, "%llu %s; the GPU takes %llu at most",
                     (unsigned long long)have, what, (unsigned long long)most);
}

static uint64_t shared_limit(const struct profile *p)
{
    uint64_t limit = p->shared_per_block;
    if (p->shared_per_block_optin > (int64_t)limit)
        limit = (uint64_t)p->shared_per_block_optin;
    return limit > 0 && limit < p->shared_bytes ? limit : p->shared_bytes;
}

static int check_block(const struct machine *m, const struct kernel *k,
                       struct error *err)
{
    const uint64_t threads = (uint64_t)m->block[0] * m->block[1] * m->block[2];
    const uint64_t warps = (threads + WARP_LANES - 1) / WARP_LANES;
    const struct profile *const p = m->profile;
    if (threads > p->max_threads_per_block)
        return too_many(err, "threads in a block", threads,
                        p->max_threads_per_block);
    if (warps > p->max_warps_per_sm)
        return too_many(err, "warps in a block", warps, p->max_warps_per_sm);
    if (m->block[2] > BLOCK_Z_MAX)
        return too_many(err, "threads in z", m->block[2], BLOCK_Z_MAX);
    if (k->max_threads != 0 && threads > k->max_threads)
        return error_set(err, ERR_USAGE,
                         "%llu threads in a block; .maxntid of kernel '%s' "
                         "allows %llu",
                         (unsigned long long)threads, k->name,
                         (unsigned long long)k->max_threads);
    for (int i = 0; i < 3; i++)
        if (k->required_threads[0] != 0 &&
            k->required_threads[i] != m->block[i])
            return error_set(err, ERR_USAGE,
                             "the block is not the one that .reqntid of "
                             "kernel '%s' asks for",
                             k->name);
    return 0;
}

static int check_launch(const struct machine *m, const struct kernel *k,
                        const struct launch *launch, struct error *err)
{
    const uint64_t shared = k->shared_bytes + launch->shared_bytes;
    if (launch->arg_count != k->param_count)
        return error_set(err, ERR_USAGE,
                         "%zu arguments for kernel '%s', which takes %zu",
                         launch->arg_count, k->name, k->param_count);
    if (shared > shared_limit(m->profile))
        return too_many(err, "bytes of shared memory in a block", shared,
                        shared_limit(m->profile));
    if (m->grid[0] > GRID_X_MAX)
        return too_many(err, "blocks in x", m->grid[0], GRID_X_MAX);
    for (int i = 1; i < 3; i++)
        if (m->grid[i] > GRID_YZ_MAX)
            return too_many(err, "blocks in y or z", m->grid[i], GRID_YZ_MAX);
    for (int i = 0; i < 3; i++)
        if (launch->cluster[i] > 1)
            return error_set(err, ERR_UNSUPPORTED,
                             "the simulated GPU has no clusters");
    return check_block(m, k, err);
}

/* How many blocks an SM holds at once. */
static unsigned blocks_that_fit(const struct machine *m)
{
    const struct profile *const p = m->profile;
    uint64_t fit = p->max_warps_per_sm / m->warps_per_block;
    if (fit > p->max_blocks_per_sm)
        fit = p->max_blocks_per_sm;
    if (m->shared_bytes > 0 && fit > p->shared_bytes / m->shared_bytes)
        fit = p->shared_bytes / m->shared_bytes;
    const uint64_t wanted = (m->block_count + p->sms - 1) / p->sms;
    return (unsigned)(fit < wanted ? fit : wanted);
}

static unsigned lane_shift(unsigned threads)
{
    unsigned shift = 0;
    while (shift < 5 && (1u << shift) < threads)
        shift++;
    return shift;
}

static void copy_params(struct machine *m, const struct kernel *k,
                        const struct launch *launch)
{
    m->params = xcalloc(1, k->param_bytes + 1);
    for (size_t i = 0; i < k->param_count; i++)
        memcpy(m->params + k->params[i].offset, launch->args[i],
               k->params[i].bytes);
}

static void set_fetch(struct machine *m)
{
    const struct profile *const p = m->profile;
    const struct profile_path *const path = &p->paths[PATH_INSTRUCTION];
    m->fetch_span = UINTPTR_MAX;
    if (!path->present || path->levels == 0)
        return;
    const uint64_t sector = p->caches[path->cache[0]].shape.sector;
    m->fetch_bytes = sector > OP_BYTES ? sector : OP_BYTES;
    m->fetch_span = m->fetch_bytes / OP_BYTES * sizeof(struct op);
}

/* Once what becomes of the GPU has come. */
static void change_clock(struct machine *m)
{
    const struct profile *const p = m->profile;
    const double khz = (double)p->changed_khz;
    if (khz == 0 || m->khz == khz || !machine_has_changed(m))
        return;
    if (p->changed_beyond > 0)
        paths_quicken(m->paths, 1 - p->changed_beyond * (1 - khz / m->khz));
    m->khz = khz;
}

static void set_launch(struct machine *m, const struct kernel *k,
                       const struct launch *launch)
{
    m->kernel = k;
    m->threads = m->block[0] * m->block[1] * m->block[2];
    m->warps_per_block = (m->threads + WARP_LANES - 1) / WARP_LANES;
    m->crowd = m->warps_per_block > 1 ? m->profile->crowd_cycles : 0;
    m->shift = lane_shift(m->threads);
    m->dynamic_bytes = launch->shared_bytes;
    m->shared_bytes = (uint32_t)k->shared_bytes + launch->shared_bytes;
    m->block_count = (uint64_t)m->grid[0] * m->grid[1] * m->grid[2];
    m->next_block = m->live_blocks = 0;
    m->slots = blocks_that_fit(m);
    m->used_sms = (unsigned)m->profile->sms;
    if (m->block_count < m->used_sms && !m->profile->tpcs_in_turn)
        m->used_sms = (unsigned)m->block_count;
    m->block_at = m->now;
    ports_begin(m);
    set_fetch(m);
    m->deadline_s =
        launch->deadline_s > 0 ? launch->deadline_s : DEFAULT_DEADLINE_S;
    m->issued_most = m->issued + (uint64_t)(m->deadline_s * ISSUES_PER_SECOND);
    m->end = m->now;
    m->code = 0;
    m->launches++;
    change_clock(m);
    copy_params(m, k, launch);
}

/* The SM that gets block i of the first ones. */
static struct sm *sm_in_turn(const struct machine *m, unsigned i)
{
    const unsigned sms = (unsigned)m->profile->sms;
    const unsigned per_tpc = (unsigned)m->profile->sms_per_tpc;
    /* Where TPCs take turns in the numbers of SMs, both are the same. */
    if (!m->profile->tpcs_in_turn || m->profile->tpcs_apart)
        return &m->sms[i];
    for (unsigned member = 0;; member++) {
        const unsigned tpcs = (sms - member + per_tpc - 1) / per_tpc;
        if (i < tpcs)
            return &m->sms[i * per_tpc + member];
        i -= tpcs;
    }
}

/* Fills the SMs, a block each in their order, then the next. */
static void place_blocks(struct machine *m)
{
    blocks_reserve(m);
    for (unsigned i = 0; i < m->used_sms; i++)
        m->sms[i].blocks = xcalloc(m->slots, sizeof(struct block));
    for (unsigned slot = 0; slot < m->slots; slot++)
        for (unsigned i = 0; i < m->used_sms; i++) {
            struct sm *const sm = sm_in_turn(m, i);
            if (m->next_block < m->block_count)
                block_start(m, &sm->blocks[slot], sm, m->now);
        }
}

static void clear_block(const struct machine *m, struct block *b)
{
    for (unsigned w = 0; b->warps != NULL && w < m->warps_per_block; w++)
        free(b->warps[w].local);
    free(b->shared);
    free(b->mbarriers);
}

static void clear_sm(struct machine *m, struct sm *sm)
{
    for (unsigned slot = 0; slot < m->slots; slot++)
        clear_block(m, &sm->blocks[slot]);
    free(sm->blocks);
    sm->blocks = NULL;
    memset(sm->warp_taken, 0,
           m->profile->max_warps_per_sm * sizeof *sm->warp_taken);
    for (size_t i = 0; i < m->profile->warp_schedulers; i++)
        sm->schedulers[i].first = sm->schedulers[i].last = NULL;
}

bool machine_has_changed(const struct machine *m)
{
    return m->profile->changes_after > 0 &&
           m->launches > m->profile->changes_after;
}

static unsigned at_least_one(unsigned n)
{
    return n == 0 ? 1 : n;
}

int machine_launch(struct machine *m, struct kernel *kernel,
                   const struct launch *launch, struct error *err)
{
    for (int i = 0; i < 3; i++) {
        m->grid[i] = at_least_one(launch->grid[i]);
        m->block[i] = at_least_one(launch->block[i]);
    }
    const int code = check_launch(m, kernel, launch, err);
    if (code != 0)
        return code;
    m->err = err;
    set_launch(m, kernel, launch);
    paths_begin(m->paths);
    intruder_begin(m, launch->ahead);
    place_blocks(m);
    machine_run(m);
    const double away = intruder_end(m);
    for (unsigned i = 0; i < m->used_sms; i++)
        clear_sm(m, &m->sms[i]);
    free(m->params);
    kernel->last_cycles = m->end - m->now;
    m->last_cycles = kernel->last_cycles + away;
    m->now = m->end + LAUNCH_GAP_CYCLES;
    return m->code;
}
