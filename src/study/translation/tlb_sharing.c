/*
 * On which SMs loads of many places push the target out of a level that the
 * first SM has it in: those share it.
 */
#include <stdio.h>

#include "base/num.h"
#include "study/translation/tlb.h"

/* SMs that one script asks, besides the first; loads beyond which only some
 * SMs are asked, and how many. */
enum { AT_ONCE = 8, LOADS_MOST = 1 << 20, SOME = 12, LAPS_LEAST = 5 };

/* As many places as push out of the level. */
static uint64_t places_of(const struct tlb_question *q, size_t level)
{
    return tlb_pool(q, level);
}

static void write_turn(const struct tlb_question *q, size_t level,
                       size_t reader, struct buf *steps)
{
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    buf_printf(steps, "%s0@%" PRIu32 ":1:0,%zu@0:%" PRIu64 ":1",
               steps->length > 0 ? "," : "", c->target, reader,
               places_of(q, level));
    tlb_write(steps, "0@", &c->nearer);
    buf_printf(steps, ",0@!%" PRIu32 ":1:0", c->target);
}

/* How many of the SMs push the target out; the first asks itself. */
static uint64_t ask_some(struct tlb_question *q, size_t level,
                         const unsigned *sms, unsigned count, unsigned laps)
{
    struct buf steps = {0}, readers = {0};
    uint64_t shared = 0;
    buf_text(&readers, "global.cg@0.0");
    for (unsigned i = 0; i < count; i++) {
        buf_printf(&readers, ",global.cg@0.%u", sms[i]);
        write_turn(q, level, i + 1, &steps);
    }
    const struct column cycles =
        tlb_ask(q, &q->t->places, buf_string(&steps), "readers=%s rounds=%u",
                buf_string(&readers), laps);
    for (unsigned i = 0; i < count && cycles.count > 0; i++) {
        size_t gone = 0;
        for (size_t j = i; j < cycles.count; j += count)
            gone += cycles.at[j] > q->t->tlb[level].middle;
        shared += 4 * gone >= 3 * laps;
        q->unclear |= 4 * gone > laps && 4 * gone < 3 * laps;
    }
    buf_free(&steps);
    buf_free(&readers);
    return shared;
}

/* Where some seem to share it more laps decide, as a load may be late. */
static uint64_t ask_few(struct tlb_question *q, size_t level,
                        const unsigned *sms, unsigned count)
{
    const unsigned laps = tlb_laps(q, level);
    const unsigned more = laps < LAPS_LEAST ? LAPS_LEAST : laps;
    if (laps == 1 && ask_some(q, level, sms, count, laps) == 0)
        return 0;
    return ask_some(q, level, sms, count, more);
}

void tlb_find_sharing(struct tlb_question *q, size_t level)
{
    if (q->window > 0) {
        tlb_none(q, level, TLB_SMS_SHARING, TLB_SMS_SHARING, why_tlb_window);
        return;
    }
    /* A target that a nearer TLB still has does not come here, whoever may have
     * pushed it out; and one whose victims are not the oldest may have it. */
    bool kept = level > 0 && tlb_conflict_of(q, level, 0)->nearer.count == 0;
    for (size_t i = 0; i < level; i++)
        kept |= q->t->tlb[i].chance;
    if (kept) {
        tlb_none(q, level, TLB_SMS_SHARING, TLB_SMS_SHARING, why_tlb_nearer);
        return;
    }
    const unsigned sms = lab_sms(q->lab);
    const bool all = sms * places_of(q, level) < LOADS_MOST;
    const unsigned asked = all || sms < SOME ? sms - 1 : SOME;
    unsigned *const list = lab_alloc(q->lab, asked + 1, sizeof *list);
    uint64_t sharing = 0;
    q->unclear = false;
    /* The first must push it out itself, or nobody is seen to. */
    if (ask_few(q, level, (const unsigned[]){0}, 1) == 0) {
        tlb_none(q, level, TLB_SMS_SHARING, TLB_SMS_SHARING, why_tlb_nearer);
        return;
    }
    for (unsigned i = 0; i < asked; i++)
        list[i] = 1 + (unsigned)((uint64_t)i * (sms - 1) / asked);
    for (unsigned i = 0; lab_ok(q->lab) && i < asked; i += AT_ONCE)
        sharing +=
            ask_few(q, level, list + i, (unsigned)u64_min(asked - i, AT_ONCE));
    if (lab_ok(q->lab) && q->unclear)
        tlb_none(q, level, TLB_SMS_SHARING, TLB_SMS_SHARING, why_tlb_unclear);
    else if (lab_ok(q->lab) && (asked == sms - 1 || sharing == 0))
        tlb_found(q, level, TLB_SMS_SHARING, (double)(1 + sharing));
    else if (lab_ok(q->lab) && sharing == asked)
        tlb_found(q, level, TLB_SMS_SHARING, (double)sms);
    else
        tlb_none(q, level, TLB_SMS_SHARING, TLB_SMS_SHARING,
                 why_tlb_some_share);
}
