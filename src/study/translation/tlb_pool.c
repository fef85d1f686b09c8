/*
 * Which numbers of places are for what: a pool to draw from; then, of a large
 * TLB, those that push all out; those that push out of nearer levels; and the
 * targets last.
 */
#include <string.h>

#include "base/num.h"
#include "probe/memory/access_script.h"
#include "study/translation/tlb.h"

bool tlb_is_large(const struct tlb_question *q, size_t level)
{
    enum { LARGE = 1024 };
    return level > 0 && q->t->tlb[level].about >= LARGE;
}

uint64_t tlb_places_in_all(const struct tlb_question *q)
{
    return (uint64_t)1 << q->t->places.order;
}

uint32_t tlb_target(const struct tlb_question *q, size_t i)
{
    return (uint32_t)(tlb_places_in_all(q) - 1 - i);
}

uint64_t tlb_places_free(const struct tlb_question *q)
{
    return tlb_places_in_all(q) / 4 * 3;
}

/* ---- nearer levels ----------------------------------------------------- */

/* So many in a row push all others out of a nearer level: of one set as many as
 * it has ways, and side by side as many as there are of all sets, to which they
 * come alike, and each set one more, so that all of them come past it in every
 * lap, whatever else does; where that depends on chance twice as many, of which
 * most miss in each of some laps; and several times as many where it depends on
 * sets. */
static uint64_t pushers_of(const struct tlb_facts *near, bool side_by_side)
{
    enum { BY_CHANCE = 2, OF_SETS = 3 };
    const uint64_t all =
        near->of_sets > 0 ? near->of_sets : near->sets * near->ways;
    return near->sets == 1 || (side_by_side && all > 0)
               ? (near->chance ? BY_CHANCE * all : all + near->sets)
               : OF_SETS * near->about;
}

/* Of all nearer levels, or of those whose index is not known. */
static uint64_t pushers(const struct tlb_question *q, size_t level, bool all)
{
    uint64_t most = 0;
    for (size_t i = 0; i < level; i++)
        if (all || q->index[i] == NULL)
            most = u64_max(most, pushers_of(&q->t->tlb[i], false));
    return most;
}

void tlb_add(struct tlb_numbers *n, uint64_t number)
{
    if (n->count < TLB_NUMBERS_MOST)
        n->at[n->count++] = (uint32_t)number;
}

void tlb_take_out(struct tlb_numbers *n, size_t i)
{
    memmove(n->at + i, n->at + i + 1, (--n->count - i) * sizeof *n->at);
}

bool tlb_lists(const struct tlb_numbers *n, uint32_t number)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->at[i] == number)
            return true;
    return false;
}

/* Twice as many of the target's set of a nearer level as that has ways. */
static void add_of_set(const struct tlb_question *q, size_t near, uint64_t from,
                       struct tlb_conflict *c)
{
    const size_t wanted = c->nearer.count + 2 * q->t->tlb[near].ways;
    for (uint64_t i = from; i < tlb_target(q, TLB_TARGETS_MOST); i++)
        if (c->nearer.count < wanted &&
            tlb_same_set(q, near, q->index[near], c->target, i) == 1)
            tlb_add(&c->nearer, i);
}

/* As far apart as the smallest regions, and as many as reach over the most;
 * none where it would lie in another window of pages. */
void tlb_lay_row(struct tlb_question *q, size_t level)
{
    uint64_t apart = UINT64_MAX, reach = 0;
    q->row = (struct tlb_row){0};
    for (size_t i = 0; i < level; i++) {
        const struct tlb_facts *const near = &q->t->tlb[i];
        if (near->region == 0 || near->hidden)
            return;
        apart = u64_min(apart, near->region);
        reach = u64_max(reach, pushers_of(near, true) * near->region);
    }
    if (level > 0 && !tlb_is_large(q, level) && q->window == 0 &&
        reach / apart <= TLB_NUMBERS_MOST)
        q->row = (struct tlb_row){.apart = apart, .count = reach / apart};
}

uint64_t tlb_taken(const struct tlb_question *q, size_t level)
{
    const uint64_t region = q->t->tlb[level].region;
    return q->row.count == 0 || region == 0
               ? 0
               : u64_min(q->row.count,
                         (q->row.count * q->row.apart + region - 1) / region);
}

/* Where there is no row as many in a row as push out of all nearer ones of
 * which no index is known; or more, where they are but few of those that it
 * has: something between may have some of them (on the H200 about twice as many
 * as the first level, at the second one's cost).  False if there is no room for
 * them beside what is asked. */
static bool add_others(const struct tlb_question *q, size_t level,
                       struct tlb_conflict *c)
{
    enum { MORE = 16, FEW = 16 };
    const uint64_t about = q->t->tlb[level].about;
    const uint64_t least = pushers(q, level, false);
    const uint64_t count = u64_within(least, about / FEW, MORE * least);
    const uint64_t first = tlb_places_free(q);
    if (first + count > tlb_target(q, TLB_TARGETS_MOST) ||
        count > TLB_NUMBERS_MOST || 4 * count > 3 * about)
        return false;
    for (uint64_t i = 0; i < count; i++)
        tlb_add(&c->nearer, first + i);
    for (size_t i = 0; i < level; i++)
        if (q->index[i] != NULL)
            add_of_set(q, i, tlb_pool(q, level), c);
    return true;
}

bool tlb_set_nearer(const struct tlb_question *q, size_t level,
                    struct tlb_conflict *c)
{
    enum { LAPS = 3 };
    c->nearer.count = 0;
    c->laps = 1;
    for (size_t i = 0; i < level; i++)
        c->laps = q->t->tlb[i].chance ? LAPS : c->laps;
    /* Nothing is: of the few places of a window none is kept for that. */
    if (level == 0)
        return true;
    if (tlb_is_large(q, level) || q->window > 0)
        return add_others(q, level, c);
    for (uint64_t i = 0; i < q->row.count; i++)
        tlb_add(&c->nearer, ACCESS_SCRIPT_ROW + q->row.first + i);
    return q->row.count > 0;
}

/* ---- the pool ---------------------------------------------------------- */

/* What is pushed out by as many again, where a TLB is large; or by what pushes
 * out of those before, and makes room for no more. */
static uint64_t pool_wanted(const struct tlb_question *q, size_t level)
{
    const uint64_t about = q->t->tlb[level].about,
                   quarter = tlb_places_in_all(q) / 4;
    return tlb_is_large(q, level)
               ? u64_min(3 * about + 64, u64_max(quarter, about * 3 / 2))
               : u64_min(3 * about + 64, 3 * quarter);
}

uint64_t tlb_pool(const struct tlb_question *q, size_t level)
{
    const uint64_t room = tlb_target(q, TLB_TARGETS_MOST),
                   pushed = pushers(q, level, true);
    return tlb_is_large(q, level)
               ? u64_min(pool_wanted(q, level), room - u64_min(room, pushed))
               : pool_wanted(q, level);
}

uint64_t tlb_flush(const struct tlb_question *q, size_t level)
{
    return u64_min(pool_wanted(q, level),
                   tlb_target(q, TLB_TARGETS_MOST) - tlb_pool(q, level));
}
