/*
 * On which SMs loads of many places push the target out of a level that the
 * first SM has it in: those share it.
 */
#include <stdio.h>

#include "base/num.h"
#include "study/translation/tlb.h"

/* SMs that one script asks, besides the first; loads beyond which only some
 * SMs are asked, and how many. */
enum { AT_ONCE = 8, LOADS_MOST = 1 << 20, SOME = 12 };

/* Of a large second TLB the set is enough, which comes past the first one each
 * time. */
static bool by_set(const struct tlb_question *q, size_t level)
{
    return level == 1 && tlb_is_large(q, level) &&
           tlb_conflict_of(q, level, 0)->set.count > 0;
}

/* As many places as push out of the level. */
static uint64_t places_of(const struct tlb_question *q, size_t level)
{
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    return by_set(q, level) ? c->set.count + c->nearer.count
                            : tlb_pool(q, level);
}

static void write_pushers(const struct tlb_question *q, size_t level,
                          size_t reader, struct buf *steps)
{
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    char at[16];
    snprintf(at, sizeof at, "%zu@", reader);
    if (by_set(q, level)) {
        tlb_write_nearer(steps, at, c);
        tlb_write(steps, at, &c->set);
    } else {
        buf_printf(steps, ",%s0:%" PRIu64 ":1", at, tlb_pool(q, level));
    }
}

static void write_turn(const struct tlb_question *q, size_t level,
                       size_t reader, struct buf *steps)
{
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    buf_printf(steps, "%s0@%" PRIu32 ":1:0", steps->length > 0 ? "," : "",
               c->target);
    write_pushers(q, level, reader, steps);
    tlb_write_nearer(steps, "0@", c);
    buf_printf(steps, ",0@!%" PRIu32 ":1:0", c->target);
}

static struct column ask_some(struct tlb_question *q, size_t level,
                              const unsigned *sms, unsigned count,
                              unsigned laps)
{
    struct buf steps = {0}, readers = {0};
    buf_text(&readers, "global.cg@0.0");
    for (unsigned i = 0; i < count; i++) {
        buf_printf(&readers, ",global.cg@0.%u", sms[i]);
        write_turn(q, level, i + 1, &steps);
    }
    const struct column cycles =
        tlb_ask(q, &q->t->places, buf_string(&steps), "readers=%s rounds=%u",
                buf_string(&readers), laps);
    buf_free(&steps);
    buf_free(&readers);
    return cycles;
}

/* Neither as a hit nor as a miss. */
static bool is_between(double share)
{
    return share > 0.25 && share < 0.75;
}

/* Where it seems to share it, or may, three times as many laps decide. */
static bool is_shared_by(struct tlb_question *q, size_t level, unsigned sm,
                         unsigned laps)
{
    enum { LEAST = 5 };
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    const size_t steps = 3 + 2 * tlb_steps_of(c) + c->set.count;
    const unsigned more = (unsigned)u64_within(1, u64_max(3 * laps, LEAST),
                                               tlb_room(q, steps, 1));
    const struct column cycles = ask_some(q, level, &sm, 1, more);
    const double share =
        cycles.count == more ? tlb_share(q, level, cycles.at, more, 1) : 0.5;
    q->unclear |= is_between(share);
    return share > 0.5;
}

/* How many of the SMs push the target out; the first asks itself. */
static uint64_t ask_few(struct tlb_question *q, size_t level,
                        const unsigned *sms, unsigned count)
{
    const unsigned laps = tlb_laps(q, level);
    const struct column cycles = ask_some(q, level, sms, count, laps);
    uint64_t shared = 0;
    for (unsigned i = 0; i < count && cycles.count == count * laps; i++) {
        const double share = tlb_share(q, level, cycles.at + i, laps, count);
        shared += is_between(share) || (laps == 1 && share > 0.5)
                      ? is_shared_by(q, level, sms[i], laps)
                      : share > 0.5;
    }
    return shared;
}

/* Why it cannot be asked, or NULL.  A target that a nearer TLB still has does
 * not come here, whoever may have pushed it out.  The first SM must push it out
 * itself, or nobody is seen to. */
static const char *why_not(struct tlb_question *q, size_t level)
{
    if (q->window > 0)
        return why_tlb_window;
    return (level > 0 && tlb_conflict_of(q, level, 0)->nearer.count == 0) ||
                   ask_few(q, level, (const unsigned[]){0}, 1) == 0
               ? why_tlb_nearer
               : NULL;
}

static void report(struct tlb_question *q, size_t level, uint64_t sharing,
                   unsigned asked)
{
    const unsigned sms = lab_sms(q->lab);
    if (q->unclear)
        tlb_none(q, level, TLB_SMS_SHARING, TLB_SMS_SHARING, why_tlb_unclear);
    else if (asked == sms - 1 || sharing == 0)
        tlb_found(q, level, TLB_SMS_SHARING, (double)(1 + sharing));
    else if (sharing == asked)
        tlb_found(q, level, TLB_SMS_SHARING, (double)sms);
    else
        tlb_none(q, level, TLB_SMS_SHARING, TLB_SMS_SHARING,
                 why_tlb_some_share);
}

void tlb_find_sharing(struct tlb_question *q, size_t level)
{
    const unsigned sms = lab_sms(q->lab);
    const bool all = sms * places_of(q, level) < LOADS_MOST;
    const unsigned asked = all || sms < SOME ? sms - 1 : SOME;
    unsigned *const list = lab_alloc(q->lab, asked + 1, sizeof *list);
    uint64_t sharing = 0;
    q->unclear = false;
    const char *const why = why_not(q, level);
    if (why != NULL) {
        tlb_none(q, level, TLB_SMS_SHARING, TLB_SMS_SHARING, why);
        return;
    }
    for (unsigned i = 0; i < asked; i++)
        list[i] = 1 + (unsigned)((uint64_t)i * (sms - 1) / asked);
    for (unsigned i = 0; lab_ok(q->lab) && i < asked; i += AT_ONCE)
        sharing +=
            ask_few(q, level, list + i, (unsigned)u64_min(asked - i, AT_ONCE));
    if (lab_ok(q->lab))
        report(q, level, sharing, asked);
}
