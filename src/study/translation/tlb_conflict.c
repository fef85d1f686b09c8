/*
 * Which places push each other out of a TLB.  As many places of a set as it has
 * ways stay, whatever its policy is, once they were loaded over and over; of
 * one more some load misses in every lap.  So all that is asked is whether
 * places fit.  Of a pool that does not fit with a target the shortest beginning
 * that still does not ends with one of its set; so each is found in turn,
 * without knowing sets (prefix bisection: TunneLs; group testing: Vila and
 * others 2019).
 *
 * Numbers of places: a pool to draw from, then those that push all others out
 * of nearer TLBs from lap to lap, and the targets last.
 */
#include "base/num.h"
#include "study/translation/tlb.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Laps before those that are timed: whatever was there is gone by then; and
 * where victims are random, what does not settle. */
enum { WARM = 3, WARM_CHANCE = 96, TIMED_CHANCE = 32, SLOW_CHANCE = 4 };
/* Loads that the conflicts of a level may take, and one ring; how often a
 * conflict is asked. */
enum { LOADS_MOST = 1 << 22, RING_MOST = 1 << 19, TAKES = 3 };

static uint64_t places_in_all(const struct tlb_question *q)
{
    return (uint64_t)1 << q->t->places.order;
}

static uint32_t target(const struct tlb_question *q, size_t i)
{
    return (uint32_t)(places_in_all(q) - 1 - i);
}

uint64_t tlb_places_free(const struct tlb_question *q)
{
    return places_in_all(q) / 4 * 3;
}

bool tlb_is_large(const struct tlb_question *q, size_t level)
{
    enum { LARGE = 1024 };
    return level > 0 && q->t->tlb[level].about >= LARGE;
}

/* As many again push them out where a TLB is large. */
uint64_t tlb_pool(const struct tlb_question *q, size_t level)
{
    return u64_min(3 * q->t->tlb[level].about + 64, tlb_is_large(q, level)
                                                        ? places_in_all(q) / 4
                                                        : tlb_places_free(q));
}

/* Half of what a miss costs more is four deviations of so many laps' median. */
unsigned tlb_laps(const struct tlb_question *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const double laps = pow(4 * 1.25 * q->sigma / (tlb->middle - tlb->hit), 2);
    /* so that one in fifty laps of a hundred loads has a late one */
    if (laps < 1 && q->disturbed < 0.0002)
        return 1;
    return 3 + 2 * (unsigned)fmin(ceil(fmax(laps - 3, 0) / 2), 14);
}

unsigned tlb_warm(const struct tlb_question *q, size_t level)
{
    return q->t->tlb[level].chance ? WARM_CHANCE : WARM;
}

unsigned tlb_timed(const struct tlb_question *q, size_t level)
{
    enum { LEAST = 3 };
    const unsigned laps = tlb_laps(q, level);
    return q->t->tlb[level].chance ? TIMED_CHANCE : laps < LEAST ? LEAST : laps;
}

bool tlb_misfits(const struct tlb_question *q, size_t level, size_t slow_laps)
{
    return q->t->tlb[level].chance ? slow_laps >= SLOW_CHANCE
                                   : 2 * slow_laps > tlb_timed(q, level);
}

/* ---- do they fit ------------------------------------------------------- */

/* True if the target stays while the listed places are loaded, and the first
 * ones of the pool, after all of them were pushed out: where a TLB is large,
 * since what lies before it may keep what it has missed again and again (as on
 * the H200, where a set of 8 ways holds 9 from the third lap on). */
static bool stays(struct tlb_question *q, size_t level,
                  const struct tlb_conflict *c, const struct tlb_numbers *list,
                  uint64_t pool)
{
    const unsigned laps = tlb_laps(q, level);
    const uint64_t half = places_in_all(q) / 2;
    struct buf steps = {0};
    size_t slow = 0;
    buf_printf(&steps, "%" PRIu64 ":%" PRIu64 ":1,%" PRIu32 ":1:1", half,
               tlb_pool(q, level), c->target);
    tlb_write(&steps, "", list);
    if (pool > 0)
        buf_printf(&steps, ",0:%" PRIu64 ":1", pool);
    tlb_write(&steps, "", &c->nearer);
    q->loads += laps * (tlb_pool(q, level) + list->count + pool);
    buf_printf(&steps, ",!%" PRIu32 ":1:1", c->target);
    const struct column cycles =
        tlb_ask(q, &q->t->places, buf_string(&steps), "rounds=%u", laps);
    buf_free(&steps);
    for (size_t i = 0; i < cycles.count; i++)
        slow += cycles.at[i] > q->t->tlb[level].middle;
    return 2 * slow <= laps;
}

/* True if the places that are listed stay, with the first ones of the pool,
 * while those that push out of nearer levels are loaded in each lap, too. */
bool tlb_fit(struct tlb_question *q, size_t level, const struct tlb_conflict *c,
             const struct tlb_numbers *list, uint64_t pool)
{
    const unsigned warm = tlb_warm(q, level), timed = tlb_timed(q, level);
    const size_t count = list->count + 1;
    struct buf steps = {0};
    size_t slow = 0;
    if (tlb_is_large(q, level))
        return stays(q, level, c, list, pool);
    buf_printf(&steps, "!%" PRIu32 ":1:1", c->target);
    for (size_t i = 0; i < list->count; i++)
        buf_printf(&steps, ",!%" PRIu32 ":1:1", list->at[i]);
    if (pool > 0)
        buf_printf(&steps, ",0:%" PRIu64 ":1", pool);
    tlb_write(&steps, "", &c->nearer);
    q->loads += (warm + timed) * (count + pool + c->nearer.count);
    const struct column cycles = tlb_ask(q, &q->t->places, buf_string(&steps),
                                         "rounds=%u", warm + timed);
    buf_free(&steps);
    for (size_t lap = warm; (lap + 1) * count <= cycles.count; lap++) {
        size_t missed = 0;
        for (size_t i = 0; i < count; i++)
            missed += cycles.at[lap * count + i] > q->t->tlb[level].middle;
        slow += missed > 0;
    }
    return !tlb_misfits(q, level, slow);
}

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
        c->set.at[c->set.count++] = (uint32_t)(last - 1);
        pool = last - 1;
    }
    return lab_ok(q->lab) && q->loads < LOADS_MOST;
}

/* Takes out what can be spared; true if what is left does not fit, again, and
 * without any one of it does. */
static bool reduce(struct tlb_question *q, size_t level, struct tlb_conflict *c)
{
    for (size_t i = c->set.count; lab_ok(q->lab) && i-- > 0;) {
        struct tlb_numbers less = c->set;
        memmove(less.at + i, less.at + i + 1,
                (--less.count - i) * sizeof *less.at);
        if (!tlb_fit(q, level, c, &less, 0))
            c->set = less;
    }
    return lab_ok(q->lab) && c->set.count > 0 &&
           !tlb_fit(q, level, c, &c->set, 0);
}

/* ---- nearer levels ----------------------------------------------------- */

/* So many in a row push all others out of a nearer level: of one set as many as
 * it has entries, and several times as many where that depends on chance, or
 * on sets. */
static uint64_t pushers_of(const struct tlb_facts *near)
{
    enum { BY_CHANCE = 6, OF_SETS = 3 };
    return near->sets != 1 ? OF_SETS * near->about
           : near->chance  ? BY_CHANCE * near->entries
                           : near->entries;
}

/* Or more, where they are but few of the level that is asked: something between
 * may have some of them (on the H200 about twice as many as the first level, at
 * the second one's cost). */
static uint64_t pushers(const struct tlb_question *q, size_t level)
{
    enum { MORE = 16, FEW = 16 };
    uint64_t least = 0;
    for (size_t i = 0; i < level; i++)
        least = u64_max(least, pushers_of(&q->t->tlb[i]));
    return u64_within(least, q->t->tlb[level].about / FEW, MORE * least);
}

/* False if there is no room for them beside what is asked. */
static bool set_nearer(const struct tlb_question *q, size_t level,
                       struct tlb_conflict *c)
{
    const uint64_t count = level > 0 ? pushers(q, level) : 0;
    const uint64_t first = tlb_places_free(q);
    c->nearer.count = 0;
    if (first + count > target(q, TLB_TARGETS) || count > TLB_NUMBERS_MOST ||
        4 * count > 3 * q->t->tlb[level].about)
        return false;
    while (c->nearer.count < count) {
        c->nearer.at[c->nearer.count] = (uint32_t)(first + c->nearer.count);
        c->nearer.count++;
    }
    return true;
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
        while (count < TLB_AT_ONCE && at < target(q, TLB_TARGETS))
            number[count++] = at++;
        if (count == 0)
            return false;
        tlb_ask_members(q, level, c, number, count, member);
        for (size_t i = 0; i < count && clean.count < wanted; i++)
            if (!member[i])
                clean.at[clean.count++] = number[i];
    }
    c->nearer = clean;
    return lab_ok(q->lab) && complete(q, level, c) && reduce(q, level, c);
}

/* ---- conflicts --------------------------------------------------------- */

bool tlb_find_conflict(struct tlb_question *q, size_t level,
                       struct tlb_conflict *c)
{
    /* Again, as a lap may have been disturbed. */
    for (unsigned take = 0; lab_ok(q->lab) && take < TAKES; take++) {
        c->set.count = 0;
        if (set_nearer(q, level, c) && complete(q, level, c) &&
            reduce(q, level, c) &&
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

/* ---- one set ----------------------------------------------------------- */

/* Laps so that one has none that is late by chance, but for once in 10000. */
static size_t laps_of_ring(const struct tlb_question *q, uint64_t count)
{
    const double clean = pow(1 - q->late, (double)count);
    return (size_t)fmin(fmax(3, ceil(log(1e-4) / log(1 - fmin(clean, 0.99)))),
                        64);
}

/* The same of places in a row, all of which are timed: where a quarter misses
 * nothing settles; fewer may be by chance, for long. */
static bool ring_fits(struct tlb_question *q, size_t level, uint64_t from,
                      uint64_t count)
{
    const size_t timed = laps_of_ring(q, count);
    const uint64_t longest =
        q->t->tlb[level].chance
            ? u64_within(WARM, RING_MOST / count, u64_max(8 * count, WARM))
            : WARM;
    for (uint64_t warm = WARM; lab_ok(q->lab); warm = longest) {
        char steps[96];
        size_t slow = 0, laps = 0;
        snprintf(steps, sizeof steps,
                 "%" PRIu64 "x%" PRIu64 ":%" PRIu64 ":1,%zux!%" PRIu64
                 ":%" PRIu64 ":1",
                 warm, from, count, timed, from, count);
        const struct column c = tlb_ask(q, &q->t->places, steps, " ");
        for (size_t lap = 0; (lap + 1) * count <= c.count; lap++) {
            const size_t before = slow;
            for (size_t i = 0; i < count; i++)
                slow += c.at[lap * count + i] > q->t->tlb[level].middle;
            laps += slow > before;
        }
        if (laps < timed)
            return true;
        if (warm == longest || 4 * slow > c.count)
            return false;
    }
    return false;
}

/* How many fit, whichever they are; 0 if it depends. */
static uint64_t any_places(struct tlb_question *q, size_t level)
{
    const uint64_t about = q->t->tlb[level].about,
                   all = places_in_all(q) / 4 * 3;
    uint64_t low = about / 2, high = u64_min(3 * about / 2 + 2, all / 3);
    if (low < 1 || high <= low || !ring_fits(q, level, 0, low) ||
        ring_fits(q, level, 0, high))
        return 0;
    while (lab_ok(q->lab) && high - low > 1) {
        const uint64_t middle = (low + high) / 2;
        if (ring_fits(q, level, 0, middle))
            low = middle;
        else
            high = middle;
    }
    for (unsigned i = 1; lab_ok(q->lab) && i < 3; i++)
        if (!ring_fits(q, level, i * all / 3, low) ||
            ring_fits(q, level, i * all / 3, high))
            return 0;
    return low;
}

/* ---- what a miss is ---------------------------------------------------- */

static void lap_of(struct tlb_question *q, uint64_t places, struct column *c)
{
    enum { TIMED = 192 };
    char steps[96];
    const uint64_t timed = u64_min(places, TIMED);
    snprintf(steps, sizeof steps,
             "3x0:%" PRIu64 ":1,%" PRIu64 "x!0:%" PRIu64 ":1", places,
             TIMED / timed, timed);
    *c = tlb_ask(q, &q->t->places, steps, " ");
}

static size_t above(const struct column *c, double cycles)
{
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        count += c->at[i] > cycles;
    return count;
}

/* Loads of as few places as fit, and of twice as many as do: the cycles that
 * tell them best, since costs are of several phases; and how many of the former
 * are late even so. */
static void find_middle(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    enum { SURELY = 8 };
    const uint64_t fit =
        u64_max(tlb->about / SURELY + 1,
                level > 0 ? 2 * q->t->tlb[level - 1].about : 0);
    struct column few, many;
    if (2 * fit > tlb->about + 2)
        return;
    lap_of(q, fit, &few);
    lap_of(q, u64_min(2 * tlb->about, places_in_all(q)), &many);
    if (!lab_ok(q->lab) || few.count == 0 || many.count == 0)
        return;
    const double half = tlb->middle - tlb->hit;
    double best = INFINITY, from = tlb->middle, to = tlb->middle;
    for (double at = tlb->middle - half / 2; at <= tlb->middle + half / 2;
         at += half / 32) {
        const double wrong = (double)above(&few, at) / (double)few.count + 1 -
                             (double)above(&many, at) / (double)many.count;
        if (wrong < best)
            from = at;
        if (wrong <= best)
            to = at;
        best = fmin(best, wrong);
    }
    tlb->middle = (from + to) / 2;
    q->late = fmax(q->disturbed,
                   (double)above(&few, tlb->middle) / (double)few.count);
}

/* True if laps over hardly more than fit miss at other places each time: many
 * places miss in some laps and in others do not. */
static bool is_by_chance(struct tlb_question *q, size_t level)
{
    enum { LEAST = 4, MOST = 16, LOADS = 8192, FEW = 8, SHARE = 5 };
    const uint64_t about = q->t->tlb[level].about,
                   places = u64_min(about + about / 4 + 1, places_in_all(q)),
                   laps = u64_within(LEAST, LOADS / places, MOST);
    char steps[64];
    size_t other = 0;
    if (laps * places > LOADS)
        return false;
    snprintf(steps, sizeof steps,
             "4x0:%" PRIu64 ":1,%" PRIu64 "x!0:%" PRIu64 ":1", places, laps,
             places);
    const struct column c = tlb_ask(q, &q->t->places, steps, " ");
    for (size_t i = 0; c.count == laps * places && i < places; i++) {
        size_t slow = 0;
        for (size_t lap = 0; lap < laps; lap++)
            slow += c.at[lap * places + i] > q->t->tlb[level].middle;
        other += SHARE * slow > laps && SHARE * slow < (SHARE - 1) * laps;
    }
    return FEW * other > places;
}

/* ---- ways ------------------------------------------------------------- */

/* The same of all targets; 0 if they differ, or for one none shows. */
static uint64_t ways_of_targets(struct tlb_question *q, size_t level)
{
    uint64_t ways = 0;
    bool same = true;
    for (size_t i = 0; lab_ok(q->lab) && i < TLB_TARGETS; i++) {
        struct tlb_conflict *const c = &q->conflict[level][i];
        c->target = target(q, i);
        if (!tlb_find_conflict(q, level, c))
            return 0;
        same = same && (i == 0 || c->set.count == ways);
        ways = c->set.count;
    }
    return same ? ways : 0;
}

void tlb_find_ways(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    struct tlb_conflict *const c = &q->conflict[level][0];
    if (2 * tlb_pool(q, level) < 3 * tlb->about) {
        lab_fail(q->lab, ERR_UNSUPPORTED, why_tlb_addresses,
                 q->t->places.pieces);
        return;
    }
    q->loads = 0;
    c->target = target(q, 0);
    set_nearer(q, level, c);
    find_middle(q, level);
    tlb->chance = is_by_chance(q, level);
    const uint64_t entries = any_places(q, level);
    if (lab_ok(q->lab) && entries > 0) {
        tlb->sets = 1;
        tlb->ways = tlb->entries = entries;
    } else if (lab_ok(q->lab)) {
        tlb->ways = ways_of_targets(q, level);
    }
}
