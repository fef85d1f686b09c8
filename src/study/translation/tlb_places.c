/*
 * Scripts over the mappings of one piece of memory.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "study/translation/tlb.h"

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
        " unit=%" PRIu64 " scramble=%u jitter=%u wait=1 %s%s",
        steps, p->piece, p->pieces, p->apart, p->unit, p->order, p->jitter,
        strstr(words, "readers=") == NULL ? "readers=global.cg " : "", words);
    if (cycles.experiment != NULL)
        q->experiment = cycles.experiment;
    return cycles;
}

void tlb_write(struct buf *steps, const uint32_t *at, size_t count)
{
    for (size_t i = 0, end; i < count; i = end) {
        end = i + 1;
        while (end < count && at[end] == at[end - 1] + 1)
            end++;
        buf_printf(steps, "%s%" PRIu32 ":%zu:1", steps->length > 0 ? "," : "",
                   at[i], end - i);
    }
}
