/*
 * Which places push each other out of a TLB: all that is asked is whether
 * places fit.  Of a pool that does not fit with a target the shortest beginning
 * that still does not ends with one of its set; so each is found in turn,
 * without knowing sets (prefix bisection: TunneLs; group testing: Vila and
 * others 2019).
 */
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/num.h"
#include "study/translation/tlb.h"

/* Loads that the conflicts of a level may take; how often one is asked, and of
 * how many targets. */
enum { LOADS_MOST = 1 << 23, TAKES = 3, TARGETS_MOST = 8 };

uint64_t tlb_places_in_all(const struct tlb_question *q)
{
    return (uint64_t)1 << q->t->places.order;
}

static uint32_t target(const struct tlb_question *q, size_t i)
{
    return (uint32_t)(tlb_places_in_all(q) - 1 - i);
}

uint64_t tlb_places_free(const struct tlb_question *q)
{
    return tlb_places_in_all(q) / 4 * 3;
}

/* ---- nearer levels ----------------------------------------------------- */

/* So many in a row push all others out of a nearer level: of one set as many as
 * it has ways; where that depends on chance twice as many, of which most
 * miss in each of some laps; and several times as many where it depends on
 * sets. */
static uint64_t pushers_of(const struct tlb_facts *near)
{
    enum { BY_CHANCE = 2, OF_SETS = 3 };
    return near->sets != 1 ? OF_SETS * near->about
           : near->chance  ? BY_CHANCE * near->ways
                           : near->ways;
}

/* Of all nearer levels, or of those whose index is not known. */
static uint64_t pushers(const struct tlb_question *q, size_t level, bool all)
{
    uint64_t most = 0;
    for (size_t i = 0; i < level; i++)
        if (all || q->index[i] == NULL)
            most = u64_max(most, pushers_of(&q->t->tlb[i]));
    return most;
}

static void add(struct tlb_numbers *n, uint64_t number)
{
    if (n->count < TLB_NUMBERS_MOST)
        n->at[n->count++] = (uint32_t)number;
}

/* Twice as many of the target's set of a nearer level as that has ways. */
static void add_of_set(const struct tlb_question *q, size_t near, uint64_t from,
                       struct tlb_conflict *c)
{
    const size_t wanted = c->nearer.count + 2 * q->t->tlb[near].ways;
    for (uint64_t i = from; i < target(q, TARGETS_MOST); i++)
        if (c->nearer.count < wanted &&
            tlb_same_set(q, near, q->index[near], c->target, i) == 1)
            add(&c->nearer, i);
}

/* As many in a row as push out of all nearer levels of which no index is known;
 * or more, where they are but few of the level that is asked: something between
 * may have some of them (on the H200 about twice as many as the first level, at
 * the second one's cost).  False if there is no room for them beside what is
 * asked. */
bool tlb_set_nearer(const struct tlb_question *q, size_t level,
                    struct tlb_conflict *c)
{
    enum { MORE = 16, FEW = 16, LAPS = 3 };
    const uint64_t about = q->t->tlb[level].about;
    const uint64_t least = pushers(q, level, false);
    const uint64_t count = u64_within(least, about / FEW, MORE * least);
    const uint64_t first = tlb_places_free(q);
    c->nearer.count = 0;
    c->laps = 1;
    if (first + count > target(q, TARGETS_MOST) || count > TLB_NUMBERS_MOST ||
        4 * count > 3 * about)
        return false;
    for (uint64_t i = 0; i < count; i++)
        add(&c->nearer, first + i);
    for (size_t i = 0; i < level; i++) {
        c->laps = q->t->tlb[i].chance ? LAPS : c->laps;
        if (q->index[i] != NULL)
            add_of_set(q, i, tlb_pool(q, level), c);
    }
    return true;
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
    const uint64_t room = target(q, TARGETS_MOST),
                   pushed = pushers(q, level, true);
    return tlb_is_large(q, level)
               ? u64_min(pool_wanted(q, level), room - u64_min(room, pushed))
               : pool_wanted(q, level);
}

uint64_t tlb_flush(const struct tlb_question *q, size_t level)
{
    return u64_min(pool_wanted(q, level),
                   target(q, TARGETS_MOST) - tlb_pool(q, level));
}

/* ---- conflicts --------------------------------------------------------- */

/* The fewest first places of the pool that do not fit with the listed ones;
 * more than `most` if all fit. */
static uint64_t fewest(struct tlb_question *q, size_t level,
                       const struct tlb_conflict *c, uint64_t most)
{
    uint64_t low = 0, high = most;
    if (tlb_fit(q, level, c, &c->set, most))
        return most + 1;
    while (lab_ok(q->lab) && high - low > 1) {
        const uint64_t middle = (low + high) / 2;
        if (tlb_fit(q, level, c, &c->set, middle))
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Adds places until target and set do not fit. */
static bool complete(struct tlb_question *q, size_t level,
                     struct tlb_conflict *c)
{
    uint64_t pool = tlb_pool(q, level);
    while (lab_ok(q->lab) && q->loads < LOADS_MOST &&
           tlb_fit(q, level, c, &c->set, 0)) {
        const uint64_t last = fewest(q, level, c, pool);
        if (last > pool || c->set.count == WAYS_MOST)
            return false;
        add(&c->set, last - 1);
        pool = last - 1;
    }
    return lab_ok(q->lab) && q->loads < LOADS_MOST;
}

static void take_out(struct tlb_numbers *n, size_t i)
{
    memmove(n->at + i, n->at + i + 1, (--n->count - i) * sizeof *n->at);
}

/* The others are of another set if they do not fit without the target. */
static bool needs_target(struct tlb_question *q, size_t level,
                         const struct tlb_conflict *c)
{
    struct tlb_conflict rest = *c;
    rest.target = c->set.at[0];
    take_out(&rest.set, 0);
    return tlb_is_large(q, level) || tlb_fit(q, level, &rest, &rest.set, 0);
}

/* Takes out what can be spared; true if what is left does not fit, again, and
 * without any one of it does. */
static bool reduce(struct tlb_question *q, size_t level, struct tlb_conflict *c)
{
    for (size_t i = c->set.count; lab_ok(q->lab) && i-- > 0;) {
        struct tlb_numbers less = c->set;
        take_out(&less, i);
        if (!tlb_fit(q, level, c, &less, 0))
            c->set = less;
    }
    return lab_ok(q->lab) && c->set.count > 0 && needs_target(q, level, c) &&
           !tlb_fit(q, level, c, &c->set, 0);
}

/* What pushes out of nearer levels is replaced by others of which none is of
 * the target's set: with such fewer of the pool would do. */
static bool cleanse(struct tlb_question *q, size_t level,
                    struct tlb_conflict *c)
{
    const size_t wanted = c->nearer.count;
    struct tlb_numbers clean = {0};
    uint32_t at = (uint32_t)(tlb_places_free(q) + wanted);
    while (lab_ok(q->lab) && clean.count < wanted) {
        bool member[TLB_AT_ONCE];
        uint32_t number[TLB_AT_ONCE];
        size_t count = 0;
        while (count < TLB_AT_ONCE && at < target(q, TARGETS_MOST))
            number[count++] = at++;
        if (count == 0)
            return false;
        tlb_ask_members(q, level, c, number, count, member);
        for (size_t i = 0; i < count && clean.count < wanted; i++)
            if (!member[i])
                add(&clean, number[i]);
    }
    c->nearer = clean;
    return lab_ok(q->lab) && complete(q, level, c) && reduce(q, level, c);
}

bool tlb_find_conflict(struct tlb_question *q, size_t level,
                       struct tlb_conflict *c)
{
    /* Again, as a lap may have been disturbed. */
    for (unsigned take = 0; lab_ok(q->lab) && take < TAKES; take++) {
        c->set.count = 0;
        const bool near = tlb_set_nearer(q, level, c);
        const bool all = near && complete(q, level, c);
        const size_t found = c->set.count;
        const bool few = all && reduce(q, level, c);
        log_say(LOG_DEBUG,
                "tlb_l%zu: target %" PRIu32 ", %zu nearer: %d, %zu places: %d, "
                "of which %zu are needed: %d, %" PRIu64 " loads",
                level + 1, c->target, c->nearer.count, near, found, all,
                c->set.count, few, q->loads);
        if (few &&
            (level == 0 || tlb_is_large(q, level) || cleanse(q, level, c)))
            return true;
    }
    c->set.count = 0;
    return false;
}

const struct tlb_conflict *tlb_conflict_of(const struct tlb_question *q,
                                           size_t level, size_t i)
{
    return &q->conflict[level][i];
}

/* ---- ways ------------------------------------------------------------- */

/* How many fit, whichever they are; 0 if it depends: of two sets as many do by
 * chance at two of three places. */
static uint64_t any_places(struct tlb_question *q, size_t level)
{
    enum { OTHERS = 12 };
    const uint64_t about = q->t->tlb[level].about, all = tlb_places_free(q);
    uint64_t low = about / 2, high = u64_min(3 * about / 2 + 2, all);
    if (low < 1 || high <= low || !tlb_ring_fits(q, level, 0, low) ||
        tlb_ring_fits(q, level, 0, high))
        return 0;
    while (lab_ok(q->lab) && high - low > 1) {
        const uint64_t middle = (low + high) / 2;
        if (tlb_ring_fits(q, level, 0, middle))
            low = middle;
        else
            high = middle;
    }
    for (unsigned i = 1; lab_ok(q->lab) && i <= OTHERS; i++)
        if (!tlb_ring_fits(q, level, i * (all - high) / OTHERS, low) ||
            tlb_ring_fits(q, level, i * (all - high) / OTHERS, high))
            return 0;
    return low;
}

/* The same of several targets, of those that the pool is large enough for; 0 if
 * they differ, or show for too few. */
static uint64_t ways_of_targets(struct tlb_question *q, size_t level)
{
    uint64_t ways = 0;
    bool same = true;
    size_t found = 0;
    for (size_t i = 0; lab_ok(q->lab) && found < TLB_TARGETS &&
                       i < TARGETS_MOST && q->loads < LOADS_MOST;
         i++) {
        struct tlb_conflict *const c = &q->conflict[level][found];
        c->target = target(q, i);
        if (!tlb_find_conflict(q, level, c))
            continue;
        same = same && (found == 0 || c->set.count == ways);
        ways = c->set.count;
        found++;
    }
    return same && found == TLB_TARGETS ? ways : 0;
}

void tlb_find_ways(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    struct tlb_conflict *const c = &q->conflict[level][0];
    if (5 * tlb_pool(q, level) < 6 * tlb->about) {
        lab_fail(q->lab, ERR_UNSUPPORTED, why_tlb_addresses,
                 q->t->places.pieces);
        return;
    }
    q->loads = 0;
    c->target = target(q, 0);
    tlb_set_nearer(q, level, c);
    tlb_find_middle(q, level);
    tlb->chance = tlb_is_by_chance(q, level);
    const uint64_t entries = any_places(q, level);
    if (lab_ok(q->lab) && entries > 0) {
        tlb->sets = 1;
        tlb->ways = tlb->entries = entries;
    } else if (lab_ok(q->lab)) {
        tlb->ways = ways_of_targets(q, level);
    }
}
