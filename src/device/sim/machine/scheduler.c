/*
 * The warps of a scheduler, and which of them goes next; see scheduler.h.
 */
#include "device/sim/machine/scheduler.h"

#include <math.h>

/* Before `next`; NULL: last. */
static void scheduler_insert(struct scheduler *s, struct turn *turn,
                             struct turn *next)
{
    struct turn *const before = next != NULL ? next->before : s->last;
    turn->before = before;
    turn->after = next;
    if (before != NULL)
        before->after = turn;
    else
        s->first = turn;
    if (next != NULL)
        next->before = turn;
    else
        s->last = turn;
}

/* Instructions by which a warp starts. */
enum { FIRST_OPS = 8 };

void scheduler_start(const struct machine *m, struct scheduler *s,
                     struct turn *turn)
{
    const bool first = m->profile->favours == FAVOUR_OLDER_BLOCKS;
    turn->first_ops = first ? FIRST_OPS : 0;
    scheduler_insert(s, turn, first ? s->first : NULL);
}

void scheduler_remove(struct scheduler *s, struct turn *turn)
{
    if (turn->before != NULL)
        turn->before->after = turn->after;
    else
        s->first = turn->after;
    if (turn->after != NULL)
        turn->after->before = turn->before;
    else
        s->last = turn->before;
}

void scheduler_requeue(const struct machine *m, struct scheduler *s,
                       struct turn *turn)
{
    struct turn *next = turn->after;
    if (turn->first_ops > 0) {
        turn->first_ops--;
        return;
    }
    if (next == NULL)
        return;
    scheduler_remove(s, turn);
    if (m->profile->favours == FAVOUR_OLDER_BLOCKS)
        while (next != NULL &&
               next->warp->block->order <= turn->warp->block->order)
            next = next->after;
    else
        next = NULL;
    scheduler_insert(s, turn, next);
}

struct turn *scheduler_pick(const struct scheduler *s, double *t)
{
    struct turn *best = NULL;
    *t = INFINITY;
    for (struct turn *turn = s->first; turn != NULL; turn = turn->after) {
        const double when = scheduler_time(s, turn);
        if (when >= *t)
            continue;
        best = turn;
        *t = when;
        /* None can be earlier. */
        if (when <= s->free)
            break;
    }
    return best;
}
