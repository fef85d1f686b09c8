#include "analysis/grow.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

bool grow_more(struct grow *grow, double gives)
{
    const bool more = gives > grow->best * (1 + grow->least);
    grow->vain = more ? 0 : grow->vain + 1;
    grow->best = fmax(grow->best, gives);
    return grow->vain == 0 || grow->vain < grow->patience;
}

struct grow_setup grow_moved(const struct grow_setup *from,
                             const struct grow_move *move)
{
    struct grow_setup to = *from;
    for (size_t i = 0; i < GROW_KNOBS; i++) {
        to.knob[i] *= move->times[i] > 0 ? move->times[i] : 1;
        to.knob[i] /= move->by[i] > 0 ? move->by[i] : 1;
    }
    return to;
}

static uint64_t in_all(const struct grow_setup *setup)
{
    uint64_t product = 1;
    for (size_t i = 0; i < GROW_KNOBS; i++)
        product *= setup->knob[i];
    return product;
}

/* What there is room for of all moves; returns how many. */
static size_t moves_from(const struct grow_climb *c,
                         const struct grow_setup *from, struct grow_setup *list)
{
    size_t count = 0;
    assert(c->count <= GROW_MOVES_MOST);
    for (size_t i = 0; i < c->count; i++) {
        list[count] = grow_moved(from, &c->moves[i]);
        count += c->fit(c->context, from, &list[count]);
    }
    if (c->prepare != NULL)
        c->prepare(c->context, list, count);
    return count;
}

/* To the best of all that are one move away; false if none gives more. */
static bool step(const struct grow_climb *c, struct grow_top *top)
{
    const struct grow_top from = *top;
    struct grow_setup list[GROW_MOVES_MOST];
    const size_t count = moves_from(c, &from.setup, list);
    const double least = from.gives * (1 + c->least);
    top->tried = 0;
    for (size_t i = 0; i < count; i++) {
        const double gives = c->gives(c->context, &list[i]);
        top->tried += in_all(&list[i]) > in_all(&from.setup);
        if (gives <= fmax(top->gives, least))
            continue;
        top->setup = list[i];
        top->gives = gives;
    }
    if (top->gives <= from.gives)
        return false;
    /* What is but arranged otherwise does not tell what more would give. */
    if (in_all(&top->setup) > in_all(&from.setup))
        top->last = top->gives / from.gives - 1;
    return true;
}

struct grow_top grow_climb(const struct grow_climb *c,
                           const struct grow_setup *from)
{
    struct grow_top top = {.setup = *from, .last = INFINITY};
    top.gives = c->gives(c->context, from);
    while (step(c, &top))
        ;
    return top;
}
