/*
 * Scripts over the mappings of one piece of memory.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "study/assume.h"
#include "study/translation/tlb.h"

/* Units of one mapping are different lines of memory, which must not come to a
 * few sets of a cache: each lies that much farther than the one before it. */
enum { SKEW = 256 };

struct column tlb_ask(struct tlb_question *q, const struct tlb_places *p,
                      const char *steps, const char *more, ...)
{
    char words[4096];
    va_list args;
    va_start(args, more);
    vsnprintf(words, sizeof words, more, args);
    va_end(args);
    const struct column cycles = lab_column(
        q->lab, "cycles",
        "visit steps=%s piece=%" PRIu64 " pieces=%" PRIu64 " apart=%" PRIu64
        " unit=%" PRIu64 " scramble=%u jitter=%u skew=%d wait=1 %s%s",
        steps, p->piece, p->pieces, p->apart, p->unit, p->order, p->jitter,
        p->unit < p->piece ? SKEW : 0,
        strstr(words, "readers=") == NULL ? "readers=global.cg " : "", words);
    if (cycles.experiment != NULL)
        q->experiment = cycles.experiment;
    return cycles;
}

void tlb_write(struct buf *steps, const char *reader,
               const struct tlb_numbers *n)
{
    for (size_t i = 0, end; i < n->count; i = end) {
        end = i + 1;
        while (end < n->count && n->at[end] == n->at[end - 1] + 1)
            end++;
        buf_printf(steps, "%s%s%" PRIu32 ":%zu:1", steps->length > 0 ? "," : "",
                   reader, n->at[i], end - i);
    }
}

/* Two places in turn: every TLB holds two, so what they cost more than again
 * and again is the price of leaving a window. */
uint64_t tlb_window(struct tlb_question *q)
{
    enum { TURNS = 9, FARTHEST = 1 << 30 };
    for (uint64_t far = q->t->places.piece; far <= 2u * FARTHEST; far *= 2) {
        const struct tlb_places p = tlb_in_a_row(q, far, 2);
        const struct column c =
            tlb_ask(q, &p, "2x0:2:1,9x!0:2:1,!0:9:0,!1:9:0", " ");
        if (c.count != 4 * TURNS)
            return 0;
        const double turn = stats_median(c.at, 2 * TURNS),
                     again = stats_median(c.at + 2 * TURNS, 2 * TURNS);
        if (turn - again > assume(ASSUME_WINDOW_CYCLES) &&
            turn - again > assume(ASSUME_WINDOW_SHARE) * again)
            return far;
    }
    return 0;
}
