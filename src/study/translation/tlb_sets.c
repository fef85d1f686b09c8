/*
 * How the entries of a TLB are dealt to sets.
 *
 * One page more than fit makes all pages of its set slow (Mei 2014, figure 11),
 * as lru and fifo do: as many as it has ways, and one.  The next page comes to
 * the next set, or to one that is slow already, and is slow alone.
 */
#include <stdlib.h>
#include <string.h>

#include "study/translation/tlb.h"

enum { STEPS_MOST = 96, STEPS_ALIKE = 4 };

static void deal_more(struct tlb_question *q, size_t level, size_t *before)
{
    struct tlb_deal *const d = &q->deals[level];
    const uint64_t count = q->t->tlb[level].entries + ++d->steps;
    bool slow[LOOKED_MOST];
    const size_t found = tlb_find_misses(q, level, count, count, slow);
    if (!lab_ok(q->lab))
        return;
    if (found > *before + 1 && d->sets < SETS_LISTED) {
        for (uint64_t i = 0; i < count; i++)
            if (slow[i] && !d->slow[i])
                d->set_of[i] = (uint8_t)d->sets;
        d->ways[d->sets] = found - *before - 1;
        d->dealt += d->ways[d->sets++];
    }
    memcpy(d->slow, slow, count * sizeof *slow);
    *before = found;
}

/* True if so many sets of as many ways as the first are all there are. */
static bool are_equal(struct tlb_question *q, size_t level)
{
    const struct tlb_deal *const d = &q->deals[level];
    const uint64_t entries = q->t->tlb[level].entries, ways = d->ways[0];
    bool slow[LOOKED_MOST];
    if (d->sets != d->steps || d->steps < STEPS_ALIKE || entries % ways != 0)
        return false;
    const uint64_t most = entries + entries / ways;
    for (size_t i = 1; i < d->sets; i++)
        if (d->ways[i] != ways)
            return false;
    if (most > LOOKED_MOST || most > tlb_pages_most(q, level))
        return false;
    const size_t last = tlb_find_misses(q, level, most - 1, most - 1, slow);
    const size_t all = tlb_find_misses(q, level, most, most, slow);
    return lab_ok(q->lab) && all == most && last == most - 1 - ways;
}

void tlb_report_sets(struct tlb_question *q, size_t level, uint64_t sets,
                     uint64_t ways)
{
    q->t->tlb[level].sets = sets;
    q->t->tlb[level].ways = ways;
    tlb_found(q, level, TLB_SETS, (double)sets);
    if (ways == 0)
        return;
    tlb_found(q, level, TLB_WAYS, (double)ways);
    finding_none(q->finding[level][TLB_SET_WAYS], why_tlb_ways_equal);
}

static int more_first(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

static void report_deal(struct tlb_question *q, size_t level)
{
    const struct tlb_deal *const d = &q->deals[level];
    uint64_t ways[SETS_LISTED];
    memcpy(ways, d->ways, sizeof ways);
    qsort(ways, d->sets, sizeof *ways, more_first);
    const bool equal = ways[0] == ways[d->sets - 1];
    tlb_report_sets(q, level, d->sets, equal ? ways[0] : 0);
    if (equal)
        return;
    struct value list = value_list();
    for (size_t i = 0; i < d->sets; i++)
        value_push(&list, value_number((double)ways[i]));
    tlb_found_value(q, level, TLB_SET_WAYS, list);
    finding_none(q->finding[level][TLB_WAYS], why_tlb_ways_unequal);
}

void tlb_find_sets(struct tlb_question *q, size_t level)
{
    struct tlb_deal *const d = &q->deals[level];
    const uint64_t entries = q->t->tlb[level].entries;
    size_t before = 0;
    while (lab_ok(q->lab) && d->dealt < entries && d->steps < STEPS_MOST &&
           entries + d->steps + 1 < LOOKED_MOST &&
           entries + d->steps + 1 < tlb_pages_most(q, level)) {
        deal_more(q, level, &before);
        if (lab_ok(q->lab) && d->steps == STEPS_ALIKE && are_equal(q, level)) {
            tlb_report_sets(q, level, entries / d->ways[0], d->ways[0]);
            return;
        }
    }
    if (!lab_ok(q->lab))
        return;
    if (d->dealt == entries)
        report_deal(q, level);
    else
        tlb_none(q, level, TLB_SETS, TLB_POLICY, why_tlb_no_sets);
}
