/*
 * The sets of a TLB of a thousand entries and more.  What lies before it may
 * keep what it has missed again and again (as on the H200, where a set of 8
 * ways holds 9 from the third lap on); so all is pushed out before each
 * question, and a target comes anew.
 *
 * That takes long, so several targets are asked about at once: each is loaded
 * when as many of the pool are left as are to come after it.  The XORs that
 * their conflicts tell must then foretell which places push others out.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/structure/index_function.h"
#include "base/log.h"
#include "base/num.h"
#include "study/translation/tlb.h"

/* Targets at once: of many the sets of some would push out others; and so many
 * loads of them all. */
enum { AT_ONCE = TLB_TARGETS + 1, TRIALS_MOST = 12, LOADS_MOST = 1 << 22 };
/* Members that tell no more of the index than those before: of one that tells
 * apart what is of one set so many do once in 16 times, and what it foretells
 * is wrong.  Sets that are foretold, and asked whether they are: of 8 ways each
 * has 28 pairs, and 1000 pairs are wanted. */
enum { SURE = 4, FORETOLD = 36 };

/* A target, what was found of its set, and what of the pool comes after it. */
struct trial {
    struct tlb_conflict c;
    uint64_t pool;      /* so many first places */
    uint64_t low, high; /* the fewest that push it out, with its set */
    size_t spared;      /* which of its set is not loaded */
    bool asked, stays;
};
enum { NONE_SPARED = WAYS_MOST };

/* Some, and what pushes all of them out of nearer levels. */
struct trials {
    struct trial at[TRIALS_MOST];
    size_t count;
    struct tlb_conflict nearer;
};

/* ---- which stay ------------------------------------------------------- */

static int more_first(const void *a, const void *b)
{
    const uint64_t x = (*(struct trial *const *)a)->pool,
                   y = (*(struct trial *const *)b)->pool;
    return (x < y) - (x > y);
}

static void write_trials(const struct tlb_question *q, size_t level,
                         struct trial *const *t, size_t count,
                         const struct tlb_conflict *nearer, struct buf *steps)
{
    buf_printf(steps, "%" PRIu64 ":%" PRIu64 ":1", tlb_pool(q, level),
               tlb_flush(q, level));
    for (size_t i = 0; i < count; i++) {
        const uint64_t next = i + 1 < count ? t[i + 1]->pool : 0;
        buf_printf(steps, ",%" PRIu32 ":1:1", t[i]->c.target);
        if (t[i]->pool > next)
            buf_printf(steps, ",%" PRIu64 ":%" PRIu64 ":1", next,
                       t[i]->pool - next);
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < t[i]->c.set.count; j++)
            if (j != t[i]->spared)
                buf_printf(steps, ",%" PRIu32 ":1:1", t[i]->c.set.at[j]);
    tlb_write_nearer(steps, "", nearer);
    for (size_t i = 0; i < count; i++)
        buf_printf(steps, ",!%" PRIu32 ":1:1", t[i]->c.target);
}

/* What comes fast has stayed; what is late may be so by chance, but not again:
 * few laps are two of which either tells. */
static void ask_these(struct tlb_question *q, size_t level, struct trial **t,
                      size_t count, const char *steps)
{
    const unsigned laps = tlb_laps(q, level);
    const bool few = laps == TLB_FEW_LAPS;
    size_t each = 1;
    for (const char *at = steps; (at = strchr(at, ',')) != NULL; at++)
        each++;
    const unsigned takes = few ? 2 : 1;
    const unsigned rounds =
        few ? 1 : (unsigned)u64_within(1, laps, tlb_room(q, each, count));
    bool all = false;
    for (unsigned take = 0; lab_ok(q->lab) && !all && take < takes; take++) {
        const struct column c = tlb_ask(
            q, &q->t->places, steps, "rounds=%u take=%u many=1", rounds, take);
        all = true;
        for (size_t i = 0; c.count == count * rounds && i < count; i++) {
            t[i]->stays |= !tlb_is_slow(q, level, c.at + i, rounds, count);
            all &= t[i]->stays;
        }
        q->loads += rounds * (tlb_flush(q, level) + t[0]->pool);
    }
}

/* Sets which of those that are asked about stay, and that they were asked. */
static void ask(struct tlb_question *q, size_t level, struct trials *all)
{
    struct trial *t[TRIALS_MOST];
    struct buf steps = {0};
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (all->at[i].asked) {
            t[count++] = &all->at[i];
            all->at[i].asked = all->at[i].stays = false;
        }
    if (count == 0)
        return;
    qsort(t, count, sizeof *t, more_first);
    write_trials(q, level, t, count, &all->nearer, &steps);
    ask_these(q, level, t, count, buf_string(&steps));
    buf_free(&steps);
}

/* False if that would be too much. */
static bool set_nearer(const struct tlb_question *q, size_t level,
                       struct trials *all)
{
    struct tlb_numbers *const n = &all->nearer.nearer;
    n->count = 0;
    for (size_t i = 0; i < all->count; i++) {
        struct tlb_conflict *const c = &all->at[i].c;
        if (!tlb_set_nearer(q, level, c))
            return false;
        all->nearer.laps = c->laps;
        for (size_t j = 0; j < c->nearer.count; j++)
            if (!tlb_lists(n, c->nearer.at[j]))
                tlb_add(n, c->nearer.at[j]);
    }
    return n->count < TLB_NUMBERS_MOST;
}

/* ---- conflicts -------------------------------------------------------- */

static void begin(const struct tlb_question *q, size_t level, struct trial *t)
{
    t->low = 0;
    t->high = t->pool = tlb_pool(q, level);
    t->spared = NONE_SPARED;
}

/* What the last answer tells: the last of the fewest is of the set.  Of fewer
 * places the set alone may push it out. */
static void learn(struct trial *t)
{
    if (t->stays)
        t->low = t->pool + 1;
    else
        t->high = t->pool;
    if (t->high > 0 && t->low == t->high) {
        tlb_add(&t->c.set, --t->high);
        t->low = 0;
    }
}

/* Adds places until each target is pushed out; all of the pool push it out. */
static void complete(struct tlb_question *q, size_t level, struct trials *all)
{
    for (size_t open = 1;
         lab_ok(q->lab) && q->loads < LOADS_MOST && open > 0;) {
        open = 0;
        for (size_t i = 0; i < all->count; i++) {
            struct trial *const t = &all->at[i];
            t->pool = t->low == 0 ? 0 : (t->low + t->high) / 2;
            t->asked = t->high > 0 && t->c.set.count < WAYS_MOST;
            open += t->asked;
        }
        ask(q, level, all);
        for (size_t i = 0; i < all->count; i++)
            if (all->at[i].high > 0)
                learn(&all->at[i]);
    }
}

/* Takes out what can be spared. */
static void reduce(struct tlb_question *q, size_t level, struct trials *one)
{
    struct trial *const t = &one->at[0];
    t->pool = 0;
    for (t->spared = t->c.set.count; lab_ok(q->lab) && t->spared-- > 0;) {
        t->asked = true;
        ask(q, level, one);
        if (!t->stays)
            tlb_take_out(&t->c.set, t->spared);
    }
    t->spared = NONE_SPARED;
}

/* A target alone, by what was found of its set beside others, some of which may
 * be of it, too.  True if all of what is left push it out, again. */
static bool finish(struct tlb_question *q, size_t level, struct trials *one)
{
    struct trial *const t = &one->at[0];
    begin(q, level, t);
    if (!set_nearer(q, level, one))
        return false;
    complete(q, level, one);
    reduce(q, level, one);
    t->asked = true;
    ask(q, level, one);
    log_say(LOG_DEBUG,
            "tlb_l%zu: target %" PRIu32 ", %zu nearer, %zu places: %d, "
            "%" PRIu64 " loads",
            level + 1, t->c.target, t->c.nearer.count, t->c.set.count,
            !t->stays, q->loads);
    return lab_ok(q->lab) && t->high == 0 && t->c.set.count > 0 && !t->stays;
}

/* Targets that the whole pool pushes out. */
static void choose(struct tlb_question *q, size_t level, struct trials *all)
{
    size_t kept = 0;
    all->count = TLB_TARGETS_MOST;
    for (size_t i = 0; i < all->count; i++) {
        struct trial *const t = &all->at[i];
        *t = (struct trial){.c.target = tlb_target(q, i), .asked = true};
        begin(q, level, t);
    }
    if (!set_nearer(q, level, all))
        all->count = 0;
    ask(q, level, all);
    for (size_t i = 0; i < all->count && kept < AT_ONCE; i++)
        if (!all->at[i].stays)
            all->at[kept++] = all->at[i];
    all->count = kept;
    set_nearer(q, level, all);
}

/* How many conflicts there are. */
static size_t find_conflicts(struct tlb_question *q, size_t level,
                             struct trials *all)
{
    struct trials *const one = lab_alloc(q->lab, 1, sizeof *one);
    size_t found = 0;
    one->count = 1;
    choose(q, level, all);
    complete(q, level, all);
    for (size_t i = 0; lab_ok(q->lab) && i < all->count; i++) {
        one->at[0] = all->at[i];
        if (finish(q, level, one))
            q->conflict[level][found++] = one->at[0].c;
    }
    return found;
}

/* ---- the index -------------------------------------------------------- */

/* How many of those that push out of nearer levels are of the target's set. */
static size_t nearer_of_set(const struct tlb_question *q, size_t level,
                            const struct index_function *f, uint32_t target,
                            const struct tlb_numbers *nearer)
{
    size_t count = 0;
    for (size_t i = 0; i < nearer->count; i++)
        count += tlb_same_set(q, level, f, target, nearer->at[i]) == 1;
    return count;
}

/* True if more may be, which differ in bits of which nothing is known. */
static bool nearer_may_be_of_set(const struct tlb_question *q, size_t level,
                                 const struct index_function *f,
                                 uint32_t target,
                                 const struct tlb_numbers *nearer)
{
    for (size_t i = 0; i < nearer->count; i++)
        if (tlb_same_set(q, level, f, target, nearer->at[i]) < 0 &&
            tlb_may_share_set(q, level, f, target, nearer->at[i]))
            return true;
    return false;
}

/* The ways that conflicts and what is foretold of their sets agree in; 0 if
 * they do not. */
static uint64_t true_ways(const struct tlb_question *q, size_t level,
                          const struct index_function *f, size_t conflicts)
{
    uint64_t ways = 0;
    for (size_t i = 0; i < conflicts; i++) {
        const struct tlb_conflict *const c = tlb_conflict_of(q, level, i);
        const uint64_t of =
            c->set.count + nearer_of_set(q, level, f, c->target, &c->nearer);
        if (i > 0 && of != ways)
            return 0;
        ways = of;
    }
    return ways;
}

/* All of the target's set that come before one that was found were found, too:
 * but for one or two of the first, where a TLB keeps more than fit. */
static void add_conflict(const struct tlb_question *q, size_t level,
                         const struct tlb_conflict *c, struct index_function *f)
{
    const uint64_t region = q->t->tlb[level].region,
                   target = tlb_address(q, c->target) / region;
    for (size_t i = 0; i < c->set.count; i++)
        index_function_add(f, target ^ tlb_address(q, c->set.at[i]) / region,
                           true);
    for (uint32_t i = 0; i < c->set.at[c->set.count / 2]; i++)
        if (!tlb_lists(&c->set, i))
            index_function_add(f, target ^ tlb_address(q, i) / region, false);
}

/* ---- what it foretells ------------------------------------------------- */

/* So many places of the target's set; false if the pool has fewer. */
static bool list_members(const struct tlb_question *q, size_t level,
                         const struct index_function *f, uint64_t count,
                         struct tlb_conflict *c)
{
    const uint64_t pool = tlb_pool(q, level);
    c->set.count = 0;
    for (uint32_t at = 0; at < pool && c->set.count < count; at++)
        if (at != c->target && tlb_same_set(q, level, f, c->target, at) == 1)
            tlb_add(&c->set, at);
    return c->set.count == count;
}

/* Targets of the pool, from one on, each of a set of its own with more places
 * than ways; returns the next. */
static uint32_t draw(const struct tlb_question *q, size_t level,
                     const struct index_function *f, uint64_t ways,
                     uint32_t from, struct trials *all)
{
    for (all->count = 0; from < tlb_pool(q, level) && all->count < TRIALS_MOST;
         from++) {
        struct trial *const t = &all->at[all->count];
        bool own = true;
        *t = (struct trial){.c.target = from, .spared = NONE_SPARED};
        for (size_t i = 0; i < all->count; i++)
            own &= tlb_same_set(q, level, f, from, all->at[i].c.target) == 0;
        all->count += own && list_members(q, level, f, ways, &t->c);
    }
    return from;
}

/* True if each target is pushed out by as many of its set as it has ways, and
 * by one fewer is not: those that push out of nearer levels count. */
static bool are_as_foretold(struct tlb_question *q, size_t level,
                            const struct index_function *f, uint64_t ways,
                            struct trials *all)
{
    if (!set_nearer(q, level, all))
        return false;
    for (uint64_t fewer = 0; lab_ok(q->lab) && fewer <= 1; fewer++) {
        for (size_t i = 0; i < all->count; i++) {
            struct trial *const t = &all->at[i];
            const size_t there =
                nearer_of_set(q, level, f, t->c.target, &all->nearer.nearer);
            /* What may be there pushes out, too, and does not leave others. */
            t->asked =
                there + fewer <= ways &&
                (fewer == 0 || !nearer_may_be_of_set(q, level, f, t->c.target,
                                                     &all->nearer.nearer));
            t->c.set.count = t->asked ? ways - there - fewer : 0;
            t->stays = fewer == 1;
        }
        ask(q, level, all);
        for (size_t i = 0; i < all->count; i++)
            if (all->at[i].stays != (fewer == 1))
                return false;
    }
    return lab_ok(q->lab);
}

/* True if all sets that are asked are as foretold, and there are enough. */
static bool all_as_foretold(struct tlb_question *q, size_t level,
                            const struct index_function *f, uint64_t ways,
                            struct trials *all)
{
    uint32_t from = 0;
    for (size_t right = 0; right < FORETOLD; right += all->count) {
        from = draw(q, level, f, ways, from, all);
        if (all->count == 0 || !are_as_foretold(q, level, f, ways, all))
            return false;
    }
    return true;
}

void tlb_find_large(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    struct trials *const all = lab_alloc(q->lab, 1, sizeof *all);
    const size_t conflicts = find_conflicts(q, level, all);
    struct index_function f;
    if (conflicts < TLB_TARGETS || tlb->region == 0)
        return;
    index_function_begin(&f, 0);
    for (size_t i = 0; i < conflicts; i++)
        add_conflict(q, level, tlb_conflict_of(q, level, i), &f);
    const bool holds =
        f.since >= SURE && index_function_holds(&f) && f.masks > 0;
    const uint64_t ways = holds ? true_ways(q, level, &f, conflicts) : 0;
    if (ways > 0 && all_as_foretold(q, level, &f, ways, all)) {
        tlb->ways = ways;
        tlb_report_index(q, level, &f);
    }
    index_function_end(&f);
}
