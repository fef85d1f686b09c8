/*
 * Which places push each other out of a TLB: all that is asked is whether
 * places fit.  Of a pool that does not fit with a target the shortest beginning
 * that still does not ends with one of its set; so each is found in turn,
 * without knowing sets (prefix bisection: TunneLs; group testing: Vila and
 * others 2019).
 */
#include <inttypes.h>

#include "base/log.h"
#include "base/num.h"
#include "base/rng.h"
#include "probe/memory/access_script.h"
#include "study/translation/tlb.h"

/* Loads that the conflicts of a level may take; how often one is asked. */
enum { LOADS_MOST = 1 << 23, TAKES = 3 };

/* ---- conflicts --------------------------------------------------------- */

/* The fewest first places of the pool that do not fit with the listed ones;
 * more than `most` if all fit, as none do. */
static uint64_t fewest(struct tlb_question *q, size_t level,
                       const struct tlb_conflict *c, uint64_t most)
{
    uint64_t low = 0, high = most;
    if (most == 0 || tlb_fit(q, level, c, &c->set, most))
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

/* Adds places until target and set do not fit: of the whole pool again, where
 * one was passed over, as others made room for it by chance or in turn. */
static bool complete(struct tlb_question *q, size_t level,
                     struct tlb_conflict *c)
{
    const uint64_t whole = tlb_pool(q, level);
    uint64_t pool = whole;
    unsigned passed = 0;
    while (lab_ok(q->lab) && q->loads < LOADS_MOST &&
           tlb_fit(q, level, c, &c->set, 0)) {
        const uint64_t last = fewest(q, level, c, pool);
        if (c->set.count == WAYS_MOST ||
            (last > pool && (pool == whole || ++passed == TAKES)))
            return false;
        pool = last > pool ? whole : last - 1;
        if (pool < whole)
            tlb_add(&c->set, pool);
    }
    return lab_ok(q->lab) && q->loads < LOADS_MOST;
}

/* The others are of another set if they do not fit without the target. */
static bool needs_target(struct tlb_question *q, size_t level,
                         const struct tlb_conflict *c)
{
    struct tlb_conflict rest = *c;
    rest.target = c->set.at[0];
    tlb_take_out(&rest.set, 0);
    return tlb_fit(q, level, &rest, &rest.set, 0);
}

/* Takes out what can be spared; true if what is left does not fit, again, and
 * without any one of it does. */
static bool reduce(struct tlb_question *q, size_t level, struct tlb_conflict *c)
{
    for (size_t i = c->set.count; lab_ok(q->lab) && i-- > 0;) {
        struct tlb_numbers less = c->set;
        tlb_take_out(&less, i);
        if (!tlb_fit(q, level, c, &less, 0))
            c->set = less;
    }
    return lab_ok(q->lab) && c->set.count > 0 && needs_target(q, level, c) &&
           !tlb_fit(q, level, c, &c->set, 0);
}

/* Where in the row a region begins that lies behind as many as push out. */
static uint64_t row_behind(const struct tlb_question *q, size_t level,
                           uint64_t first)
{
    const uint64_t each =
        u64_max(q->t->tlb[level].region / u64_max(q->row.apart, 1), 1);
    return (first + q->row.count + each - 1) / each * each;
}

/* Places of the row that bring one more to each set of any nearer level; 0: how
 * many sets one has is not known. */
static uint64_t row_of_sets(const struct tlb_question *q, size_t level)
{
    uint64_t most = 0;
    for (size_t i = 0; i < level; i++) {
        const struct tlb_facts *const near = &q->t->tlb[i];
        if (near->sets == 0)
            return 0;
        most = u64_max(most, near->sets * near->region / q->row.apart);
    }
    return most;
}

/* True if what is left out of places side by side is made up for: all of it may
 * have been of one set. */
static bool makes_up(const struct tlb_question *q, size_t level,
                     const struct tlb_numbers *n, size_t before)
{
    const uint64_t span = n->at[n->count - 1] - n->at[0] + 1,
                   more = row_of_sets(q, level);
    return more > 0 && span >= before + (span - n->count) * more;
}

/* So many push out of nearer levels as did before: of the row, if they are of a
 * single set or lie side by side, or hardly any is left out; or several times
 * as many. */
static bool push_out(const struct tlb_question *q, size_t level,
                     const struct tlb_numbers *n, size_t before)
{
    enum { OF_SETS = 3 };
    bool all = true;
    if (n->count < before)
        return false;
    for (size_t i = 0; i < level; i++)
        all = all && q->t->tlb[i].sets == 1;
    return all || q->row.count == 0 || n->count >= OF_SETS * before ||
           n->at[n->count - 1] - n->at[n->count - before] == before - 1 ||
           makes_up(q, level, n, before);
}

/* True if a place that was taken for none of the set is none by chance, either:
 * all but one of the set fit beside it. */
static bool are_beside(struct tlb_question *q, size_t level,
                       const struct tlb_conflict *c, uint32_t number)
{
    struct tlb_numbers list = c->set;
    if (!q->t->tlb[level].chance || list.count == 0)
        return true;
    list.at[list.count - 1] = number;
    return tlb_surely_fit(q, level, c, &list);
}

/* Of two sets or more every second place is none of the target's, at least: if
 * hardly any is, all are of one. */
static bool are_all_members(size_t asked, size_t clean)
{
    enum { ASKED = 64, RARE = 8 };
    return asked >= ASKED && RARE * clean < asked;
}

/* What pushes out of nearer levels is replaced by others of which none is of
 * the target's set: with such fewer of the pool would do. */
static bool cleanse(struct tlb_question *q, size_t level,
                    struct tlb_conflict *c)
{
    const bool row = q->row.count > 0;
    const size_t before = c->nearer.count;
    const uint64_t each =
        row ? u64_max(q->t->tlb[level].region / q->row.apart, 1) : 1;
    const uint64_t end = row ? ACCESS_SCRIPT_ROW + ACCESS_SCRIPT_ROW_PLACES
                             : tlb_target(q, TLB_TARGETS_MOST);
    uint64_t at = row ? ACCESS_SCRIPT_ROW + row_behind(q, level, q->row.first)
                      : tlb_places_free(q) + before;
    struct tlb_numbers clean = {0};
    size_t asked = 0;
    for (; lab_ok(q->lab) && !push_out(q, level, &clean, before) &&
           !are_all_members(asked, clean.count / each) && at + each <= end;
         at += each, asked++) {
        const uint32_t ends[] = {(uint32_t)at, (uint32_t)(at + each - 1)};
        bool member[2];
        tlb_ask_members(q, level, c, ends, 2, member);
        const bool own = !member[0] && !member[1] &&
                         are_beside(q, level, c, ends[0]) &&
                         are_beside(q, level, c, ends[1]);
        for (uint64_t i = 0; own && i < each; i++)
            tlb_add(&clean, at + i);
    }
    if (!push_out(q, level, &clean, before)) {
        q->single[level] = are_all_members(asked, clean.count / each);
        return false;
    }
    c->nearer = clean;
    return lab_ok(q->lab) && complete(q, level, c) && reduce(q, level, c);
}

static bool find_conflict(struct tlb_question *q, size_t level,
                          struct tlb_conflict *c)
{
    /* Again, as a lap may have been disturbed; or beside others of the row, as
     * one of the target's set may be all that misses. */
    for (unsigned take = 0; lab_ok(q->lab) && !q->single[level] && take < TAKES;
         take++) {
        q->row.first = take == 0 ? 0 : row_behind(q, level, q->row.first);
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
        if (few && (level == 0 || cleanse(q, level, c)))
            return true;
    }
    c->set.count = 0;
    return false;
}

bool tlb_find_conflict(struct tlb_question *q, size_t level,
                       struct tlb_conflict *c)
{
    const bool found = find_conflict(q, level, c);
    q->row.first = 0;
    return found;
}

const struct tlb_conflict *tlb_conflict_of(const struct tlb_question *q,
                                           size_t level, size_t i)
{
    return &q->conflict[level][i];
}

/* ---- sets that share room ---------------------------------------------- */

/* So many of b's set stay alone, while what pushes a's target out of nearer
 * levels is loaded. */
static bool fit_alone(struct tlb_question *q, size_t level,
                      const struct tlb_conflict *a,
                      const struct tlb_conflict *b, size_t of_b)
{
    struct tlb_conflict alone = *a;
    alone.target = b->target;
    alone.set = b->set;
    alone.set.count = of_b - 1;
    return tlb_surely_fit(q, level, &alone, &alone.set);
}

/* Then what was taken for one set is several. */
static bool lists_any_of(const struct tlb_numbers *a,
                         const struct tlb_numbers *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (tlb_lists(a, b->at[i]))
            return true;
    return false;
}

/* … and do not beside as many of a's as that holds alone. */
static bool overflow(struct tlb_question *q, size_t level,
                     const struct tlb_conflict *a, const struct tlb_conflict *b,
                     size_t of_b)
{
    struct tlb_numbers list = a->set;
    list.at[list.count - 1] = b->target;
    for (size_t i = 0; i + 1 < of_b; i++)
        tlb_add(&list, b->set.at[i]);
    return tlb_overflows(q, level, a, &list);
}

/* Nor is a policy asked of what is no set. */
void tlb_say_shared(struct tlb_question *q, size_t level)
{
    tlb_none(q, level, TLB_SET_BITS, TLB_POLICY, why_tlb_shared_room);
    q->shared[level] = true;
    q->conflict[level][0].set.count = 0;
}

/* Each of two sets holds so many alone, but they do not together: room that one
 * has beyond its ways is that of the other, too, as in a victim buffer (H200:
 * an entry beside the sets of the third TLB), so that conflicts tell the ways
 * of none.  Of few sets what pushes out of nearer levels takes some of the
 * other, which holds fewer then. */
bool tlb_share_room(struct tlb_question *q, size_t level,
                    const struct tlb_conflict *a, const struct tlb_conflict *b)
{
    size_t of_b = b->set.count;
    while (a->nearer.count > 0 && lab_ok(q->lab) && of_b > 0 &&
           !fit_alone(q, level, a, b, of_b))
        of_b--;
    const bool share = lists_any_of(&a->set, &b->set) ||
                       (of_b > 0 && overflow(q, level, a, b, of_b));
    if (share)
        tlb_say_shared(q, level);
    return share;
}

bool tlb_loses_to(struct tlb_question *q, size_t level,
                  const struct tlb_conflict *one,
                  const struct tlb_numbers *others)
{
    struct tlb_conflict beside = *one;
    beside.set.count--;
    for (size_t i = 0; i < others->count; i++)
        tlb_add(&beside.nearer, others->at[i]);
    return !tlb_surely_fit(q, level, &beside, &beside.set);
}

/* ---- ways ------------------------------------------------------------- */

/* Rings of so many places, or drawings, that are asked of each number. */
enum { OTHERS = 12 };

/* True if rings that begin at others of so few places are nearly the same: from
 * one to the next not four places change, of which two sets may lose as many
 * each. */
static bool are_few(const struct tlb_question *q, uint64_t count)
{
    enum { CHANGED = 4 };
    return count <= u64_min(WAYS_MOST, tlb_places_in_all(q)) &&
           tlb_places_free(q) < count + CHANGED * OTHERS;
}

/* So many of all places that chance draws stay together. */
static bool draw_fits(struct tlb_question *q, size_t level, struct rng *rng,
                      uint64_t count)
{
    struct tlb_conflict *const c = lab_alloc(q->lab, 1, sizeof *c);
    c->target = (uint32_t)rng_below(rng, tlb_places_in_all(q));
    while (c->set.count + 1 < count) {
        const uint32_t number = (uint32_t)rng_below(rng, tlb_places_in_all(q));
        if (number != c->target && !tlb_lists(&c->set, number))
            tlb_add(&c->set, number);
    }
    return tlb_fit(q, level, c, &c->set, 0);
}

/* Of few places in a window an index may deal those in a row evenly to sets, in
 * whatever order they are numbered (of 16 regions, to two sets of four ways,
 * all eight in a row); not those that chance draws, of which four to each are
 * two drawings of five. */
static bool draws_agree(struct tlb_question *q, size_t level, uint64_t count,
                        bool fit)
{
    struct rng rng;
    rng_seed(&rng, 1);
    for (int i = 0; lab_ok(q->lab) && i < OTHERS; i++)
        if (draw_fits(q, level, &rng, count) != fit)
            return false;
    return lab_ok(q->lab);
}

bool tlb_draws_agree(struct tlb_question *q, size_t level, uint64_t count,
                     bool fit)
{
    return (!are_few(q, count) || draws_agree(q, level, count, fit)) &&
           lab_ok(q->lab);
}

/* As many fit wherever they lie, and one more nowhere. */
static bool others_agree(struct tlb_question *q, size_t level, uint64_t low,
                         uint64_t high)
{
    const uint64_t all = tlb_places_free(q);
    if (are_few(q, high))
        return draws_agree(q, level, low, true) &&
               draws_agree(q, level, high, false);
    for (unsigned i = 1; lab_ok(q->lab) && i <= OTHERS; i++)
        if (!tlb_ring_fits(q, level, i * (all - high) / OTHERS, low) ||
            tlb_ring_fits(q, level, i * (all - high) / OTHERS, high))
            return false;
    return true;
}

/* How many fit, whichever they are; 0 if it depends: of two sets as many do by
 * chance at two of three places. */
static uint64_t any_places(struct tlb_question *q, size_t level)
{
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
    return others_agree(q, level, low, high) ? low : 0;
}

/* Of those of several targets, and of one of another set, if all are of one. */
static bool any_share_room(struct tlb_question *q, size_t level)
{
    const struct tlb_conflict *const first = tlb_conflict_of(q, level, 0);
    bool others = false;
    for (size_t i = 1; i < TLB_TARGETS_MOST; i++) {
        struct tlb_conflict *const c = &q->conflict[level][i];
        bool same;
        if (i >= TLB_TARGETS && others)
            break;
        if (i >= TLB_TARGETS)
            c->target = tlb_target(q, i);
        tlb_ask_members(q, level, first, &c->target, 1, &same);
        if (same || (i >= TLB_TARGETS && !tlb_find_conflict(q, level, c)))
            continue;
        others = true;
        if (tlb_share_room(q, level, first, c))
            return true;
    }
    return false;
}

/* The same of several targets, of those that the pool is large enough for; 0 if
 * they differ, or show for too few. */
static uint64_t ways_of_targets(struct tlb_question *q, size_t level)
{
    uint64_t ways = 0;
    bool same = true;
    size_t found = 0;
    for (size_t i = 0;
         lab_ok(q->lab) && found < TLB_TARGETS && !q->single[level] &&
         i < TLB_TARGETS_MOST && q->loads < LOADS_MOST;
         i++) {
        struct tlb_conflict *const c = &q->conflict[level][found];
        c->target = tlb_target(q, i);
        if (!tlb_find_conflict(q, level, c))
            continue;
        same = same && (found == 0 || c->set.count == ways);
        ways = c->set.count;
        found++;
    }
    return same && found == TLB_TARGETS && !any_share_room(q, level) ? ways : 0;
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
    c->target = tlb_target(q, 0);
    tlb_set_nearer(q, level, c);
    tlb_find_middle(q, level);
    tlb->chance = tlb_is_by_chance(q, level);
    const uint64_t entries = any_places(q, level);
    if (lab_ok(q->lab) && entries > 0) {
        tlb->sets = 1;
        tlb->ways = tlb->entries = entries + tlb_taken(q, level);
    } else if (lab_ok(q->lab) && !tlb_is_large(q, level)) {
        tlb->ways = ways_of_targets(q, level);
    }
}
