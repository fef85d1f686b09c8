/* Laps over pages of a level, and which of them are slow. */
#include "study/translation/tlb.h"

struct page_tour tlb_lap(const struct tlb_question *q, size_t level,
                         uint64_t count)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    struct page_tour lap = {.start = tlb->start,
                            .pitch = tlb->page,
                            .count = count,
                            .chunk = tlb->page / 2 / q->sweep.skew};
    if (level == 0 || tlb[-1].page == 0 || tlb->page <= tlb[-1].page ||
        count == 0)
        return lap;
    const uint64_t before =
        tlb[-1].entries > 0 ? tlb[-1].entries : 2 * tlb[-1].overflows;
    const uint64_t most = tlb->page / 2 / tlb[-1].page;
    lap.sub_pitch = tlb[-1].page;
    lap.subs = 2 + 2 * before / count;
    if (lap.subs > most)
        lap.subs = most;
    return lap;
}

uint64_t tlb_pages_most(const struct tlb_question *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t room = (q->memory->room - tlb->start) / tlb->page;
    return room > 2 ? room - 2 : 0;
}

size_t tlb_find_misses(struct tlb_question *q, size_t level, uint64_t count,
                       uint64_t looked, bool *slow)
{
    const struct page_tour lap = tlb_lap(q, level, count);
    /* Fewer are disturbed too often where so many are looked at. */
    const unsigned least = page_sweep_least(&q->sweep, 1e-6);
    const unsigned wanted = tlb_takes(q, level, 3 * count);
    const unsigned takes = wanted < least ? least : wanted;
    size_t found = 0;
    for (uint64_t from = 0; lab_ok(q->lab) && from < looked;
         from += LOOKS_MOST) {
        const uint64_t n =
            looked - from < LOOKS_MOST ? looked - from : LOOKS_MOST;
        const double *const excess =
            page_sweep_laps(&q->sweep, &lap, from, n, takes);
        for (uint64_t i = 0; lab_ok(q->lab) && i < n; i++) {
            slow[from + i] = excess[i] > tlb_middle(q->t, level);
            found += slow[from + i];
        }
    }
    return found;
}
