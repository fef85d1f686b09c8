/*
 * Another process that takes turns with ours on the whole GPU, as on one that
 * is shared by time.  While it runs nothing of ours does, so times of the
 * machine stand still; only what programs and the driver read of clocks counts
 * on, by `away`.  It empties caches and TLBs.
 *
 * How long a launch will take is not known when it begins: the moment lies
 * within what the kernel took last time, or is that of a turn that begins with
 * the launch.  If the launch ends before, the
 * intruder comes at its end, so that it is as often there as the profile says.
 */
#include <math.h>

#include "device/sim/machine/machine.h"

/* The sequence of the machine's other random numbers stays as it is. */
#define SEED_OF_ITS_OWN 0x696e747275646572u

void intruder_init(struct machine *m, uint64_t seed)
{
    rng_seed(&m->intruder.rng, seed ^ SEED_OF_ITS_OWN);
    m->intruder.next = INFINITY;
}

void intruder_begin(struct machine *m, bool ahead)
{
    struct intruder *const in = &m->intruder;
    if (!in->ahead)
        in->turn_at = m->now;
    in->ahead = ahead;
    in->away_before = in->away;
    if (ahead)
        return;
    const double last =
        m->kernel->last_cycles > 0 ? m->kernel->last_cycles : in->last;
    in->due = rng_unit(&in->rng) < m->profile->intruder.share;
    const double first = m->profile->intruder.first_cycles;
    const double within = rng_unit(&in->rng);
    const double moment = first > 0
                              ? in->turn_at + (0.75 + 0.5 * within) * first
                              : m->now + within * last;
    in->next = in->due ? moment : INFINITY;
}

void intruder_come(struct machine *m, double t)
{
    struct intruder *const in = &m->intruder;
    const struct profile_intruder *const p = &m->profile->intruder;
    double visits = 1;
    if (p->every_cycles > 0 && t > in->next)
        visits = ceil((t - in->next) / p->every_cycles);
    in->next = p->every_cycles > 0 ? in->next + visits * p->every_cycles
                                   : (double)INFINITY;
    in->away += visits * p->cycles;
    in->due = false;
    paths_forget(m->paths, p->caches, p->tlbs);
}

double intruder_end(struct machine *m)
{
    struct intruder *const in = &m->intruder;
    if (in->due)
        intruder_come(m, in->next);
    in->next = INFINITY;
    if (!in->ahead)
        in->last = m->end - m->now;
    return in->away - in->away_before;
}
