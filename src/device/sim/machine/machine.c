/*
 * The machine itself: its SMs and their clocks, from the profile, and how an
 * instruction ends a launch with an error.
 */
#include "device/sim/machine/machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

size_t machine_pipes(const struct profile *p)
{
    return p->isa_count + 2;
}

static void sm_init(struct sm *sm, const struct profile *p, unsigned number,
                    struct rng *rng)
{
    sm->number = number;
    sm->clock_offset = rng_below(rng, (uint64_t)1 << 40);
    sm->warp_taken = xcalloc(p->max_warps_per_sm, sizeof *sm->warp_taken);
    sm->schedulers = xcalloc(p->warp_schedulers, sizeof *sm->schedulers);
    for (size_t i = 0; i < p->warp_schedulers; i++) {
        struct scheduler *const s = &sm->schedulers[i];
        s->sm = sm;
        s->pipe_free = xcalloc(machine_pipes(p), sizeof *s->pipe_free);
        s->turns = xcalloc(p->max_warps_per_sm, sizeof *s->turns);
    }
}

static void sm_free(struct sm *sm, const struct profile *p)
{
    for (size_t i = 0; i < p->warp_schedulers; i++) {
        free(sm->schedulers[i].pipe_free);
        free(sm->schedulers[i].turns);
    }
    free(sm->schedulers);
    free(sm->warp_taken);
}

/* SMs that share a clock have that of the first of them. */
static void set_clocks(struct machine *m)
{
    const struct profile *const p = m->profile;
    for (unsigned i = 1; i < p->sms && p->clock_scope != SCOPE_SM; i++) {
        const unsigned own = profile_place(p, p->clock_scope, i);
        unsigned first = 0;
        while (profile_place(p, p->clock_scope, first) != own)
            first++;
        m->sms[i].clock_offset = m->sms[first].clock_offset;
    }
}

struct machine *machine_new(const struct profile *profile, uint64_t seed)
{
    struct machine *const m = xcalloc(1, sizeof *m);
    struct rng rng;
    rng_seed(&rng, seed);
    m->profile = profile;
    m->khz = (double)profile->clock_khz;
    m->code_end = CODE_ADDRESSES;
    memory_init(&m->memory, profile->memory_bytes);
    m->paths = paths_new(profile, rng_next(&rng));
    noise_init(&m->noise, profile->jitter_cycles, profile->spike_rate,
               profile->spike_cycles, rng_next(&rng));
    intruder_init(m, seed);
    m->sms = xcalloc(profile->sms, sizeof *m->sms);
    for (unsigned i = 0; i < profile->sms; i++)
        sm_init(&m->sms[i], profile, i, &rng);
    set_clocks(m);
    ports_init(m);
    m->heap = xcalloc(profile->sms * profile->warp_schedulers, sizeof *m->heap);
    return m;
}

void machine_free(struct machine *m)
{
    for (unsigned i = 0; i < m->profile->sms; i++)
        sm_free(&m->sms[i], m->profile);
    ports_free(m);
    free(m->sms);
    free(m->heap);
    free(m->textures);
    free(m->callables);
    free(m->warp_room);
    paths_free(m->paths);
    memory_free_all(&m->memory);
    free(m);
}

void machine_fault(struct machine *m, const struct op *op, const char *fmt, ...)
{
    char text[ERROR_TEXT_MAX / 2];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    m->changed = true;
    if (m->code == 0)
        m->code = error_set(m->err, ERR_DEVICE, "kernel '%s', line %u: %s",
                            m->kernel->name, op->line, text);
}
