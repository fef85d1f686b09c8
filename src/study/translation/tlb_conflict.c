/*
 * Which places push another out of a TLB: its target is loaded, then others,
 * then it is timed.  Of a long list that pushes it out the shortest beginning
 * that still does ends with one that is needed; so each needed one is found in
 * turn, without knowing sets (prefix bisection: TunneLs; group testing: Vila
 * and others 2019).
 *
 * Numbers of places: a pool to draw from, as many to push all of these out
 * with, then those that push targets out of nearer TLBs, and the targets last.
 */
#include "base/num.h"
#include "study/translation/tlb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Spare places that are tried in a row: more than chance has of one set. */
enum { SPARES = 16 };

static uint64_t places_in_all(const struct tlb_question *q)
{
    return (uint64_t)1 << q->t->places.order;
}

static uint32_t target(const struct tlb_question *q, size_t i)
{
    return (uint32_t)(places_in_all(q) - 1 - i);
}

static uint32_t spare(const struct tlb_question *q)
{
    return (uint32_t)(places_in_all(q) / 4 * 3);
}

/* Numbers from here on are not in the pool, nor pushed out by it alone. */
uint32_t tlb_apart(const struct tlb_question *q)
{
    return (uint32_t)(places_in_all(q) / 8 * 7);
}

/* Half of what a miss costs more is four deviations of so many laps' median. */
unsigned tlb_laps(const struct tlb_question *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const double laps = pow(4 * 1.25 * q->sigma / (tlb->middle - tlb->hit), 2);
    if (laps < 1 && q->disturbed < 0.0002)
        return 1;
    return 3 + 2 * (unsigned)fmin(ceil(fmax(laps - 3, 0) / 2), 14);
}

/* What was there and is used again may be kept for longer than what comes anew;
 * but where addresses are few, or in the first level, that is tried last. */
static bool comes_anew(const struct tlb_question *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    return tlb->reset || (level > 0 && 16 * tlb->about < places_in_all(q));
}

uint64_t tlb_pool(const struct tlb_question *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t wanted = 3 * tlb->about + 64;
    return u64_min(wanted, places_in_all(q) / (comes_anew(q, level) ? 4 : 2));
}

uint64_t tlb_places_free(const struct tlb_question *q, size_t level)
{
    return tlb_reset(q, level) > 0 ? places_in_all(q) / 2 : spare(q);
}

/* What nearer levels still have would not come here: those of one set are
 * emptied by what pushes the target out of them, and others by many places. */
uint64_t tlb_reset(const struct tlb_question *q, size_t level)
{
    uint64_t count = comes_anew(q, level) ? tlb_pool(q, level) : 0;
    for (size_t i = 0; i < level; i++)
        if (q->t->tlb[i].sets != 1)
            count = u64_max(count, 3 * q->t->tlb[i].about);
    return u64_min(count, places_in_all(q) / 4);
}

void tlb_write_reset(const struct tlb_question *q, uint64_t count,
                     const char *reader, struct buf *steps)
{
    if (count > 0)
        buf_printf(steps, "%s%s%" PRIu64 ":%" PRIu64 ":1",
                   steps->length > 0 ? "," : "", reader, places_in_all(q) / 2,
                   count);
}

/* In how many laps of all the target was gone. */
static size_t laps_gone(struct tlb_question *q, size_t level,
                        const struct tlb_trial *t, size_t laps)
{
    const struct tlb_conflict *const c = t->conflict;
    struct buf steps = {0};
    size_t gone = 0;
    tlb_write_reset(q, tlb_reset(q, level), "", &steps);
    tlb_write(&steps, &c->target, 1);
    tlb_write(&steps, t->list->at, t->list->count);
    if (t->pool > 0)
        buf_printf(&steps, ",0:%" PRIu64 ":1", t->pool);
    tlb_write(&steps, c->nearer.at, c->nearer.count);
    buf_printf(&steps, ",!%" PRIu32 ":1:0", c->target);
    const struct column cycles = tlb_ask(
        q, &q->t->places, buf_string(&steps), "rounds=%zu", laps);
    buf_free(&steps);
    for (size_t i = 0; i < cycles.count; i++)
        gone += cycles.at[i] > q->t->tlb[level].middle;
    return gone;
}

static bool gone(struct tlb_question *q, size_t level,
                 const struct tlb_trial *t)
{
    const unsigned laps = tlb_laps(q, level);
    return 2 * laps_gone(q, level, t, laps) > laps;
}

/* The fewest first places of the pool that push the target out after the list;
 * more than `most` if so many do not. */
static uint64_t fewest(struct tlb_question *q, size_t level,
                       struct tlb_trial t, uint64_t most)
{
    uint64_t low = 0, high = most;
    t.pool = most;
    if (!gone(q, level, &t))
        return most + 1;
    while (lab_ok(q->lab) && high - low > 1) {
        t.pool = (low + high) / 2;
        if (gone(q, level, &t))
            high = t.pool;
        else
            low = t.pool;
    }
    return high;
}

/* Adds places to the set until it alone pushes the target out. */
static bool complete(struct tlb_question *q, size_t level,
                     struct tlb_conflict *c, uint64_t *pool)
{
    const struct tlb_trial t = {c, &c->set, 0};
    while (lab_ok(q->lab) && !gone(q, level, &t)) {
        const uint64_t last = fewest(q, level, t, *pool);
        if (last > *pool || c->set.count == WAYS_MOST)
            return false;
        c->set.at[c->set.count++] = (uint32_t)(last - 1);
        *pool = last - 1;
    }
    return lab_ok(q->lab);
}

/* True if the set pushes the target out each time, and without any one of it,
 * never. */
static bool is_minimal(struct tlb_question *q, size_t level,
                       const struct tlb_conflict *c)
{
    const size_t laps = 2 * tlb_laps(q, level) + 3, few = laps / 3;
    if (laps_gone(q, level, &(struct tlb_trial){c, &c->set, 0}, laps) + few <
        laps)
        return false;
    for (size_t i = 0; lab_ok(q->lab) && i < c->set.count; i++) {
        struct tlb_numbers less = c->set;
        memmove(less.at + i, less.at + i + 1,
                (--less.count - i) * sizeof *less.at);
        if (laps_gone(q, level, &(struct tlb_trial){c, &less, 0}, laps) > few)
            return false;
    }
    return lab_ok(q->lab);
}

/* The next spare place that is not of the target's set: in the stead of one
 * that is needed it does not push the target out.  0: there is none near, as
 * where all places are of one set. */
static uint32_t other_set(struct tlb_question *q, size_t level,
                          const struct tlb_conflict *c, uint32_t *next)
{
    struct tlb_numbers with = c->set;
    for (unsigned tries = 0; lab_ok(q->lab) && tries < SPARES; tries++) {
        with.at[with.count - 1] = (*next)++;
        if (!gone(q, level, &(struct tlb_trial){c, &with, 0}))
            return with.at[with.count - 1];
    }
    return 0;
}

/* Of those that push the target out of nearer levels some may be of its set in
 * this one: without such a one it is not pushed out.  They are replaced, and
 * the set is completed. */
static bool cleanse(struct tlb_question *q, size_t level,
                    struct tlb_conflict *c, uint32_t next)
{
    const struct tlb_trial t = {c, &c->set, 0};
    bool whole = true;
    for (size_t i = 0; whole && lab_ok(q->lab) && i < c->nearer.count; i++) {
        const uint32_t was = c->nearer.at[i];
        c->nearer.at[i] = other_set(q, level, c, &next);
        if (c->nearer.at[i] == 0)
            return false;
        uint64_t pool = tlb_pool(q, level);
        if (gone(q, level, &t))
            c->nearer.at[i] = was;
        else
            whole = complete(q, level, c, &pool);
    }
    return whole && is_minimal(q, level, c);
}

static bool reduce(struct tlb_question *q, size_t level, struct tlb_conflict *c)
{
    uint64_t pool = tlb_pool(q, level);
    c->set.count = 0;
    return complete(q, level, c, &pool) && c->set.count > 0 &&
           is_minimal(q, level, c);
}

bool tlb_nearer_are_single(const struct tlb_question *q, size_t level)
{
    for (size_t i = 0; i < level; i++)
        if (q->t->tlb[i].sets != 1)
            return false;
    return true;
}

/* So many push any place out of a level of one set; more, where they are but
 * few of the level that is asked: something between may have some of them (on
 * the H200 about twice as many as the first level, at the second one's cost). */
static uint64_t pushers(const struct tlb_question *q, size_t near, size_t level)
{
    const uint64_t entries = q->t->tlb[near].entries;
    return u64_within(entries, q->t->tlb[level].about / 16, 4 * entries);
}

/* Adds what pushes the target out of each nearer level. */
static bool find_nearer(struct tlb_question *q, size_t level,
                        struct tlb_conflict *c)
{
    c->nearer.count = 0;
    for (size_t i = 0; i < level; i++) {
        const struct tlb_facts *const tlb = &q->t->tlb[i];
        struct tlb_conflict near = {.target = c->target};
        const uint64_t some = pushers(q, i, level);
        if (tlb->sets == 1 ? some > TLB_NUMBERS_MOST
                           : !tlb_find_conflict(q, i, &near))
            return false;
        for (size_t j = 0; tlb->sets == 1 && j < some; j++)
            near.set.at[near.set.count++] = spare(q) + (uint32_t)j;
        if (c->nearer.count + near.set.count > TLB_NUMBERS_MOST)
            return false;
        memcpy(c->nearer.at + c->nearer.count, near.set.at,
               near.set.count * sizeof *near.set.at);
        c->nearer.count += near.set.count;
    }
    return true;
}

/* Few of nearer levels are looked at one by one. */
static bool is_cleansed(const struct tlb_question *q, size_t level)
{
    return tlb_nearer_are_single(q, level) &&
           (level == 0 || 16 * q->t->tlb[0].entries > q->t->tlb[level].about);
}

static bool find_once(struct tlb_question *q, size_t level,
                      struct tlb_conflict *c)
{
    uint32_t next = spare(q) + TLB_NUMBERS_MOST;
    if (next + TLB_NUMBERS_MOST > places_in_all(q) - TLB_TARGETS)
        next = spare(q) + (uint32_t)places_in_all(q) / 8;
    return find_nearer(q, level, c) && reduce(q, level, c) &&
           (!is_cleansed(q, level) || cleanse(q, level, c, next));
}

bool tlb_find_conflict(struct tlb_question *q, size_t level,
                       struct tlb_conflict *c)
{
    bool *const reset = &q->t->tlb[level].reset;
    /* Once more, as a lap may have been disturbed. */
    bool found = find_once(q, level, c) ||
                 (lab_ok(q->lab) && find_once(q, level, c));
    /* Where it counts when an entry came, and not when it was used last, it
     * must have come anew. */
    if (!found && lab_ok(q->lab) && !*reset) {
        *reset = true;
        found = find_once(q, level, c);
    }
    if (!found)
        c->set.count = 0;
    return found;
}

const struct tlb_conflict *tlb_conflict_of(const struct tlb_question *q,
                                           size_t level, size_t i)
{
    return &q->conflict[level][i];
}

/* ---- ways ------------------------------------------------------------- */

/* How many places push each target out, whichever they are; 0 if it depends. */
static uint64_t any_places(struct tlb_question *q, size_t level)
{
    static const struct tlb_numbers none;
    const uint64_t pool = tlb_pool(q, level);
    const size_t laps = 2 * tlb_laps(q, level) + 3, few = laps / 3;
    uint64_t all = 0;
    for (size_t i = 0; lab_ok(q->lab) && i < TLB_TARGETS; i++) {
        struct tlb_conflict c = {.target = target(q, i)};
        if (!find_nearer(q, level, &c))
            return 0;
        struct tlb_trial t = {&c, &none, 0};
        const uint64_t count = fewest(q, level, t, pool);
        if (count > pool || (i > 0 && count != all))
            return 0;
        all = t.pool = count;
        if (laps_gone(q, level, &t, laps) + few < laps)
            return 0;
        t.pool--;
        if (laps_gone(q, level, &t, laps) > few)
            return 0;
    }
    return all;
}

static uint64_t one_set(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    uint64_t count = any_places(q, level);
    if (count == 0 && lab_ok(q->lab)) {
        tlb->reset = true;
        count = any_places(q, level);
        tlb->reset = count > 0;
    }
    return count;
}

static void set_one(struct tlb_question *q, size_t level, uint64_t entries)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    struct tlb_conflict *const c = &q->conflict[level][0];
    c->target = target(q, 0);
    find_nearer(q, level, c);
    tlb->sets = 1;
    tlb->ways = tlb->entries = entries;
}

/* The same of all targets; or, where what pushes a target out of nearer levels
 * may be of its set in this one and cannot be replaced, the most, of two. */
static uint64_t ways_of_targets(struct tlb_question *q, size_t level)
{
    const size_t agree = is_cleansed(q, level) ? TLB_TARGETS : 2;
    uint64_t ways = 0;
    size_t have = 0;
    for (size_t i = 0; lab_ok(q->lab) && i < TLB_TARGETS; i++) {
        struct tlb_conflict *const c = &q->conflict[level][i];
        c->target = target(q, i);
        if (!tlb_find_conflict(q, level, c))
            return 0;
        if (c->set.count > ways)
            have = 0;
        ways = u64_max(ways, c->set.count);
        have += c->set.count == ways;
    }
    return have >= agree ? ways : 0;
}

void tlb_find_ways(struct tlb_question *q, size_t level)
{
    if (2 * tlb_pool(q, level) < 3 * q->t->tlb[level].about) {
        lab_fail(q->lab, ERR_UNSUPPORTED, why_tlb_addresses,
                 q->t->places.pieces);
        return;
    }
    const uint64_t entries = one_set(q, level);
    if (lab_ok(q->lab) && entries > 0)
        set_one(q, level, entries);
    else if (lab_ok(q->lab))
        q->t->tlb[level].ways = ways_of_targets(q, level);
}
