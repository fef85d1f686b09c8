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

/* What was tried, as far as there is room to note it. */
struct trials {
    struct trial {
        uint64_t in_all;
        double gives;
    } at[256];
    size_t count;
};

static double try_setup(const struct grow_climb *c, struct trials *trials,
                        const struct grow_setup *setup)
{
    const double gives = c->gives(c->context, setup);
    if (trials->count < sizeof trials->at / sizeof *trials->at)
        trials->at[trials->count++] = (struct trial){in_all(setup), gives};
    return gives;
}

/* By what share the top gives more than the best of half as much in all; what
 * is but arranged otherwise does not tell what more would give. */
static double gain_of(const struct trials *trials, const struct grow_top *top)
{
    double best = 0;
    for (size_t i = 0; i < trials->count; i++)
        if (2 * trials->at[i].in_all <= in_all(&top->setup))
            best = fmax(best, trials->at[i].gives);
    return best > 0 ? top->gives / best - 1 : INFINITY;
}

/* To the best of all that are one move away; false if none gives more. */
static bool step(const struct grow_climb *c, struct trials *trials,
                 struct grow_top *top)
{
    const struct grow_top from = *top;
    struct grow_setup list[GROW_MOVES_MOST];
    const size_t count = moves_from(c, &from.setup, list);
    const double least = from.gives * (1 + c->least);
    top->tried = 0;
    for (size_t i = 0; i < count; i++) {
        const double gives = try_setup(c, trials, &list[i]);
        top->tried += gives >= 0 && in_all(&list[i]) > in_all(&from.setup);
        if (gives <= fmax(top->gives, least))
            continue;
        top->setup = list[i];
        top->gives = gives;
    }
    if (top->gives <= from.gives)
        return false;
    top->last = top->gives / from.gives - 1;
    return true;
}

struct grow_top grow_climb(const struct grow_climb *c,
                           const struct grow_setup *from)
{
    struct trials trials = {.count = 0};
    struct grow_top top = {.setup = *from, .last = INFINITY};
    top.gives = try_setup(c, &trials, from);
    while (step(c, &trials, &top))
        ;
    top.gain = gain_of(&trials, &top);
    return top;
}
