/*
 * The page of a TLB's entry: places in order, each looked for once after all
 * was pushed out.  The first of each page is slow, so the distance from one to
 * the next is a page.
 */
#include <math.h>

#include "analysis/statistics/stats.h"
#include "study/translation/tlb.h"

enum { SCANNED = 256 };

/* A scan of places, of which the slow ones are listed in order. */
struct page_scan {
    struct page_tour places;
    size_t slow[SCANNED], count;
};

/* Sorts the places; those that are neither hit nor miss are counted. */
static size_t list_slow(const struct tlb_question *q, size_t level,
                        const double *excess, double noise, struct page_scan *s)
{
    const double middle = tlb_middle(q->t, level);
    const double hit = middle - tlb_step(q->t, level) / 2;
    size_t between = 0;
    for (size_t i = 0; i < s->places.count; i++)
        if (excess[i] > middle)
            s->slow[s->count++] = i;
        else
            between += excess[i] > hit + noise;
    return between;
}

/* Places that are slow when all was pushed out. */
static void find_slow(struct tlb_question *q, size_t level, uint64_t step,
                      struct page_scan *s)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    *s = (struct page_scan){.places.pitch = step};
    s->places.count = page_tour_most(&q->sweep, 0, step, SCANNED);
    const uint64_t end = (s->places.count + 1) * (step + q->sweep.skew);
    const struct page_tour flood = {
        .start = end,
        .pitch = q->t->pitch,
        .count = page_tour_most(&q->sweep, end, q->t->pitch,
                                2 * tlb->overflows + 16)};
    if (flood.count < tlb->overflows + tlb->overflows / 4) {
        lab_fail(q->lab, ERR_UNSUPPORTED, why_memory_little);
        return;
    }
    const unsigned takes = tlb_takes(q, level, flood.count + s->places.count);
    const double *const excess =
        page_sweep_scan(&q->sweep, &s->places, &flood, takes);
    if (!lab_ok(q->lab))
        return;
    /* One in 3.5 million, and more than the one cycle that a clock steps by, as
     * in tlb_profile.c. */
    const double noise = 5 * page_sweep_error(&q->sweep, takes);
    const size_t between = list_slow(q, level, excess, fmax(1.5, noise), s);
    /* At the first level there are hits and misses only. */
    if (level == 0 && 2 * between > s->count + 4)
        q->t->mixed = true;
}

/* The power of two that the distances between slow places are, give or take a
 * step; 0: none. */
static uint64_t page_of(const struct tlb_question *q, const struct page_scan *s)
{
    const uint64_t step = s->places.pitch + q->sweep.skew;
    double gaps[SCANNED];
    if (s->count < 4)
        return 0;
    for (size_t i = 1; i < s->count; i++)
        gaps[i - 1] = (double)((s->slow[i] - s->slow[i - 1]) * step);
    const double middle = stats_mean(gaps, s->count - 1);
    const uint64_t page = (uint64_t)1 << lround(log2(middle));
    size_t alike = 0;
    for (size_t i = 0; i + 1 < s->count; i++)
        alike += fabs(gaps[i] - (double)page) <= (double)step;
    return 10 * alike >= 9 * (s->count - 1) ? page : 0;
}

/* The step of the next scan; 0: this one is as good as any.  Pages are from two
 * steps to a quarter of the scan. */
static uint64_t next_step(const struct page_scan *s, uint64_t step, bool finer)
{
    static const uint64_t coarse = 8 << 20;
    if (10 * s->count > 9 * s->places.count)
        return step / 16;
    return s->count < 4 && !finer && step < coarse ? coarse : 0;
}

void tlb_find_page(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    uint64_t step = 512 * 1024;
    bool finer = false;
    while (lab_ok(q->lab) && step >= 4096) {
        struct page_scan s;
        find_slow(q, level, step, &s);
        if (!lab_ok(q->lab))
            return;
        const uint64_t next = next_step(&s, step, finer);
        if (next == 0) {
            tlb->page = page_of(q, &s);
            tlb->start = s.count > 1 ? s.slow[1] * (step + q->sweep.skew) : 0;
            return;
        }
        finer = finer || next < step;
        step = next;
    }
}
