/*
 * Whether places stay in a TLB together.  As many of a set as it has ways do,
 * whatever its policy is, once they were loaded over and over: from then on no
 * load misses.  Of one more some load misses in every lap.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "base/num.h"
#include "study/translation/tlb.h"

/* Laps before those that are timed: whatever was there is gone by then, unless
 * what came first goes first: then one place a lap makes room for another, and
 * comes last, so that as many laps as places settle; and where victims are
 * random, a set of 16 ways has settled (simulated 600 times: within 51 laps).
  Laps that are timed of those, since of one place too many
 * each misses in a sixth of them: x = 1 - (1 - 1/16)^(17 x). */
enum { WARM = 3, WARM_CHANCE = 64, TIMED_CHANCE = 24, LAPS_MOST = 192 };
/* … and where one before keeps some by chance, which then miss later. */
enum { WARM_HIDDEN = 12 };
/* Loads that one ring may take. */
enum { RING_MOST = 1 << 19 };

/* ---- laps ------------------------------------------------------------- */

/* What a TLB before keeps by chance hides some misses of a lap. */
static bool may_hide(const struct tlb_question *q, size_t level)
{
    for (size_t i = 0; i < level; i++)
        if (q->t->tlb[i].chance)
            return true;
    return false;
}

/* Half of what a miss costs more is six deviations of the mean of so many laps.
 */
unsigned tlb_laps(const struct tlb_question *q, size_t level)
{
    enum { MOST = 31 };
    const double laps =
        pow(12 * q->sigma / (q->miss[level] - q->hit[level]), 2);
    /* of 5000 loads, as a level takes, less than one is late */
    if (laps < 1 && q->disturbed < 0.0002 && q->t->tlb[level].calm)
        return 1;
    return (unsigned)fmin(fmax(TLB_FEW_LAPS, ceil(laps)), MOST);
}

/* What one load costs by several laps, of which the loads lie `stride` apart: a
 * mean, since a load meets the caches' clock at any of its phases (H200: 13
 * cycles, where a miss costs 10). */
static double typical(const double *at, size_t laps, size_t stride)
{
    double *const load = xcalloc(laps, sizeof *load);
    for (size_t i = 0; i < laps; i++)
        load[i] = at[i * stride];
    /* spikes are left out: a fifth on either side, two fifths of few laps */
    const double mean = stats_trimmed_mean(load, laps, laps < 10 ? 0.4 : 0.2);
    free(load);
    return mean;
}

double tlb_share(const struct tlb_question *q, size_t level, const double *at,
                 size_t laps, size_t stride)
{
    return (typical(at, laps, stride) - q->hit[level]) /
           (q->miss[level] - q->hit[level]);
}

bool tlb_is_slow(const struct tlb_question *q, size_t level, const double *at,
                 size_t laps, size_t stride)
{
    if (laps == 1)
        return at[0] > q->t->tlb[level].middle;
    /* nearer to a miss */
    return tlb_share(q, level, at, laps, stride) > 0.5;
}

/* A lap of so many places that fit has no late load. */
static double clean_share(const struct tlb_question *q, uint64_t count)
{
    return pow(1 - fmax(q->late, q->disturbed), (double)count);
}

/* Laps of so many timed places by which one miss in each lap differs from what
 * is late of those that fit by eight deviations, half of which are left. */
static unsigned laps_of(const struct tlb_question *q, uint64_t count)
{
    return (unsigned)fmin(
        fmax(3, 64 * fmax(q->late, q->disturbed) * (double)count), LAPS_MOST);
}

/* Timed laps over so many places, and what was seen of them. */
struct laps {
    size_t count, laps;
    size_t slow, dirty; /* loads; laps in which there are any */
    bool others;        /* that are not timed may be what misses in a lap */
};

/* One too many misses in every lap, if these are all that matter. */
static bool all_miss(const struct tlb_question *q, size_t level,
                     const struct laps *l)
{
    const double clean = (double)l->laps * clean_share(q, l->count);
    const double late = q->late * (double)(l->count * l->laps);
    return (double)(l->laps - l->dirty) <=
               (l->others || may_hide(q, level) ? clean / 2 : 0) &&
           (double)l->slow > late + (double)l->laps / 2;
}

/* The same where others miss that are not timed, and victims are random: more
 * than four deviations above what is late of those that fit. */
static bool some_miss(const struct tlb_question *q, const struct laps *l)
{
    const double late = (double)l->laps * (1 - clean_share(q, l->count));
    return (double)l->dirty > late + 4 * sqrt(late) + 2;
}

unsigned tlb_room(const struct tlb_question *q, size_t steps, size_t kept)
{
    const uint64_t bytes =
        device_told(q->lab->info, PROPERTY_BLOCK_SHARED_OPTIN, 48 * 1024) - 64;
    return (unsigned)(bytes / (16 * steps + 4 * kept));
}

static unsigned warm_wanted(const struct tlb_question *q, size_t level)
{
    return q->t->tlb[level].chance ? WARM_CHANCE
           : may_hide(q, level)    ? WARM_HIDDEN
                                   : WARM;
}

/* Warm laps, each of so many passes, no fewer than that: as many as there is
 * room for. */
static unsigned warm_laps(const struct tlb_question *q, size_t level,
                          unsigned passes, uint64_t least, unsigned timed,
                          unsigned most)
{
    const uint64_t warm = u64_max(warm_wanted(q, level) / passes, least);
    return most > timed + WARM ? (unsigned)u64_within(WARM, warm, most - timed)
                               : WARM;
}

static size_t count_slow(const struct tlb_question *q, size_t level,
                         const double *cycles, size_t count)
{
    size_t slow = 0;
    for (size_t i = 0; i < count; i++)
        slow += cycles[i] > q->t->tlb[level].middle;
    return slow;
}

/* The last laps of a column. */
static struct laps laps_in(const struct tlb_question *q, size_t level,
                           const struct column *c, size_t laps, size_t count)
{
    struct laps l = {.count = count, .laps = laps};
    for (size_t lap = 1; lap <= laps && lap * count <= c->count; lap++) {
        const size_t slow =
            count_slow(q, level, c->at + c->count - lap * count, count);
        l.slow += slow;
        l.dirty += slow > 0;
    }
    return l;
}

size_t tlb_steps_of(const struct tlb_conflict *c)
{
    const struct tlb_numbers *const n = &c->nearer;
    size_t steps = 0;
    for (size_t i = 0; i < n->count; i++)
        steps += i == 0 || n->at[i] != n->at[i - 1] + 1;
    return c->laps * steps;
}

/* ---- do they fit ------------------------------------------------------- */

/* True if no more than a quarter misses, but for those that are late: what does
 * so may settle after more laps.  Of few that chance puts out more may miss, by
 * three deviations. */
static bool may_settle(const struct tlb_question *q, size_t level,
                       const struct laps *l)
{
    const double loads = (double)(l->count * l->laps);
    const double quarter = (0.25 + q->late) * loads;
    const double chance = q->t->tlb[level].chance ? 3 * sqrt(quarter) : 0;
    return (double)l->slow <= quarter + chance;
}

/* The pool is loaded more often than those that are timed: what it has in the
 * set settles, and one of these makes room, whichever the policy prefers. */
enum { PASSES = 3 };

static struct laps ask_laps(struct tlb_question *q, size_t level,
                            const struct tlb_conflict *c,
                            const struct tlb_numbers *list, uint64_t pool,
                            uint64_t least, unsigned timed)
{
    const size_t count = list->count + 1;
    const unsigned warm =
        warm_laps(q, level, pool > 0 ? PASSES : 1, least, timed,
                  tlb_room(q, count + PASSES + tlb_steps_of(c), count));
    struct buf steps = {0};
    buf_printf(&steps, "!%" PRIu32 ":1:1", c->target);
    for (size_t i = 0; i < list->count; i++)
        buf_printf(&steps, ",!%" PRIu32 ":1:1", list->at[i]);
    if (pool > 0)
        buf_printf(&steps, ",%dx0:%" PRIu64 ":1", PASSES, pool);
    tlb_write_nearer(&steps, "", c);
    q->loads +=
        (warm + timed) * (count + PASSES * pool + c->laps * c->nearer.count);
    const struct column cycles = tlb_ask(q, &q->t->places, buf_string(&steps),
                                         "rounds=%u", warm + timed);
    buf_free(&steps);
    return laps_in(q, level, &cycles, timed, count);
}

static struct laps ask_list(struct tlb_question *q, size_t level,
                            const struct tlb_conflict *c,
                            const struct tlb_numbers *list, uint64_t pool,
                            uint64_t least)
{
    return ask_laps(q, level, c, list, pool, least,
                    pool > 0 && q->t->tlb[level].chance
                        ? TIMED_CHANCE
                        : laps_of(q, list->count + 1));
}

bool tlb_fit(struct tlb_question *q, size_t level, const struct tlb_conflict *c,
             const struct tlb_numbers *list, uint64_t pool)
{
    const uint64_t settled = list->count + 2; /* laps */
    struct laps l = ask_list(q, level, c, list, pool, WARM);
    if (pool > 0 && q->t->tlb[level].chance)
        return !some_miss(q, &l);
    if (pool == 0 && settled > warm_wanted(q, level) &&
        all_miss(q, level, &l) && may_settle(q, level, &l))
        l = ask_list(q, level, c, list, 0, settled);
    return !all_miss(q, level, &l);
}

bool tlb_surely_fit(struct tlb_question *q, size_t level,
                    const struct tlb_conflict *c,
                    const struct tlb_numbers *list)
{
    if (!q->t->tlb[level].chance)
        return tlb_fit(q, level, c, list, 0);
    const struct laps l =
        ask_laps(q, level, c, list, 0, WARM_CHANCE, TIMED_CHANCE);
    return !some_miss(q, &l);
}

/* If they stayed, some of so many laps would have no late load, but for once in
 * a thousand times. */
bool tlb_overflows(struct tlb_question *q, size_t level,
                   const struct tlb_conflict *c, const struct tlb_numbers *list)
{
    const uint64_t settled =
        u64_max(list->count + 2, warm_wanted(q, level)); /* laps */
    const struct laps l = ask_list(q, level, c, list, 0, settled);
    const double clean = clean_share(q, l.count);
    /* once in a thousand */
    return lab_ok(q->lab) && l.dirty == l.laps &&
           pow(1 - clean, (double)l.laps) < 0.001;
}

/* Laps over places in a row, of which so many are timed. */
struct ring {
    uint64_t from, count, kept, warm;
    unsigned laps;
    bool apart; /* each lap anew, after warm ones of its own … */
    unsigned take;
};

/* As many places as there is room for in three laps. */
static struct ring ring_of(const struct tlb_question *q, uint64_t from,
                           uint64_t count, uint64_t warm)
{
    struct ring r = {.from = from,
                     .count = count,
                     .kept = u64_min(count, tlb_room(q, 0, 1) / 4),
                     .warm = warm};
    /* What laps before it leave: a row doubles the steps. */
    const uint64_t each = q->row.count > 0 ? 2 : 1,
                   left = 4 * tlb_room(q, 0, 1) -
                          u64_min(16 * each * warm, 2 * tlb_room(q, 0, 1));
    r.laps = (unsigned)u64_within(3, left / (32 * each + 4 * r.kept),
                                  laps_of(q, r.kept));
    return r;
}

static struct laps ask_ring(struct tlb_question *q, size_t level,
                            const struct ring *r)
{
    struct buf steps = {0};
    for (unsigned lap = 0; lap < r->laps; lap++) {
        struct buf part = {0};
        if (lap == 0 || r->apart)
            tlb_write_laps(q, r->warm, "", r->from, r->count, &part);
        tlb_write_laps(q, 0, "!", r->from, r->kept, &part);
        if (r->kept < r->count)
            tlb_write_laps(q, 0, "", r->from + r->kept, r->count - r->kept,
                           &part);
        buf_printf(&steps, "%s%s",
                   lap == 0   ? ""
                   : r->apart ? ";"
                              : ",",
                   buf_string(&part));
        buf_free(&part);
    }
    const struct column c =
        tlb_ask(q, &q->t->places, buf_string(&steps), "take=%u", r->take);
    buf_free(&steps);
    struct laps l = laps_in(q, level, &c, r->laps, r->kept);
    /* Random victims are those that are timed in most laps, not in all. */
    l.others =
        q->t->tlb[level].chance && (q->row.count > 0 || r->kept < r->count);
    return l;
}

/* Of so many places that are timed, of which next to none may be late: 12 times
 * as many as were, and some for each lap.  In each lap some miss. */
static bool surely_miss(const struct tlb_question *q, const struct laps *l)
{
    const double late = q->late * (double)(l->count * l->laps);
    return l->dirty == l->laps &&
           (double)l->slow > 12 * late + 8 * (double)l->laps;
}

/* Adds laps that were asked; false if they were disturbed. */
static bool add_laps(struct tlb_question *q, size_t level, const struct ring *r,
                     struct laps *all)
{
    lab_spare(q->lab, true);
    const struct laps l = ask_ring(q, level, r);
    const bool told = lab_spared(q->lab) == NULL && lab_ok(q->lab);
    all->count = l.count;
    all->laps += l.laps;
    all->slow += l.slow;
    all->dirty += l.dirty;
    return told;
}

/*
 * The same where that takes longer than another process leaves us: each lap
 * anew, a few at a time, until they tell that much misses or nothing.  Where a
 * lap takes too long as well some of its places are timed, which tell that not
 * all fit, never that they do.
 */
static struct laps ask_ring_apart(struct tlb_question *q, size_t level,
                                  const struct ring *whole, const char *why)
{
    static const unsigned kept_most[] = {UINT32_MAX, 1024, 256};
    enum { FEW = 3 };
    for (size_t i = 0; lab_ok(q->lab) && i < COUNT_OF(kept_most); i++) {
        struct ring r = *whole;
        struct laps l = {0};
        r.apart = true;
        r.kept = u64_min(r.kept, kept_most[i]);
        r.laps = FEW;
        for (r.take = 1; l.laps < whole->laps && add_laps(q, level, &r, &l);
             r.take++)
            if (surely_miss(q, &l) || (r.kept == r.count && l.dirty == 0))
                return l;
        if (l.laps >= whole->laps && r.kept == r.count)
            return l;
    }
    if (lab_ok(q->lab))
        lab_fail(q->lab, ERR_UNSUPPORTED, "%s", why);
    return (struct laps){0};
}

static struct laps ask_ring_anyhow(struct tlb_question *q, size_t level,
                                   const struct ring *r)
{
    lab_spare(q->lab, true);
    const struct laps l = ask_ring(q, level, r);
    const char *const why = lab_spared(q->lab);
    return why == NULL ? l : ask_ring_apart(q, level, r, why);
}

bool tlb_ring_fits(struct tlb_question *q, size_t level, uint64_t from,
                   uint64_t count)
{
    /* laps; of many places it is not one a lap */
    const uint64_t settled = q->t->tlb[level].chance  ? 8 * count
                             : tlb_is_large(q, level) ? WARM
                                                      : count + 1;
    const uint64_t most =
        u64_min(RING_MOST / count, tlb_room(q, q->row.count > 0 ? 4 : 2, 0));
    const uint64_t longest = u64_within(warm_wanted(q, level), most, settled);
    for (uint64_t warm = WARM; lab_ok(q->lab); warm = longest) {
        const struct ring r = ring_of(q, from, count, warm);
        const struct laps l = ask_ring_anyhow(q, level, &r);
        if (!all_miss(q, level, &l))
            return true;
        if (warm == longest || !may_settle(q, level, &l))
            return false;
    }
    return false;
}

/* ---- members ----------------------------------------------------------- */

static bool is_listed(const struct tlb_conflict *c, uint32_t number)
{
    return number == c->target || tlb_lists(&c->set, number);
}

/* All but one of the conflict set, the place, and what pushes out of nearer
 * levels. */
static void write_laps(const struct tlb_conflict *c, uint32_t number,
                       unsigned laps, const char *kept, struct buf *steps)
{
    for (unsigned lap = 0; lap < laps; lap++) {
        buf_printf(steps, "%s%s%" PRIu32, steps->length > 0 ? "," : "", kept,
                   c->target);
        for (size_t i = 0; i + 1 < c->set.count; i++)
            buf_printf(steps, "|%" PRIu32, c->set.at[i]);
        buf_printf(steps, "|%" PRIu32, number);
        tlb_write_nearer(steps, "", c);
    }
}

/* Some numbers, each of them after so many laps. */
struct asked {
    const uint32_t *number;
    size_t count;
    unsigned warm, timed;
};

static void ask_some(struct tlb_question *q, size_t level,
                     const struct tlb_conflict *c, const struct asked *a,
                     bool *member)
{
    const size_t of = c->set.count + 1;
    struct buf steps = {0};
    for (size_t i = 0; i < a->count; i++) {
        write_laps(c, a->number[i], a->warm, "", &steps);
        write_laps(c, a->number[i], a->timed, "!", &steps);
    }
    struct column cycles = tlb_ask(q, &q->t->places, buf_string(&steps), " ");
    buf_free(&steps);
    for (size_t i = a->count; i-- > 0;) {
        const struct laps l = laps_in(q, level, &cycles, a->timed, of);
        member[i] = is_listed(c, a->number[i]) || all_miss(q, level, &l);
        cycles.count -= u64_min(cycles.count, a->timed * of);
    }
}

/* What pushes out of nearer levels leaves it here, as it does those of the set:
 * others it may push out of a set of their own. */
static bool stays_alone(struct tlb_question *q, size_t level,
                        const struct tlb_conflict *c, uint32_t number)
{
    struct tlb_conflict *const alone = lab_alloc(q->lab, 1, sizeof *alone);
    *alone = *c;
    alone->target = number;
    alone->set.count = 0;
    return c->nearer.count == 0 || tlb_fit(q, level, alone, &alone->set, 0);
}

/* Members are few, so each is asked again: spikes make others look like it, and
 * what one before has brought. */
void tlb_ask_members(struct tlb_question *q, size_t level,
                     const struct tlb_conflict *c, const uint32_t *number,
                     size_t count, bool *member)
{
    const size_t of = c->set.count + 1;
    const unsigned timed = laps_of(q, of),
                   most = tlb_room(q, of + tlb_steps_of(c), of),
                   step = (unsigned)u64_within(1, most / (WARM + timed),
                                               TLB_AT_ONCE);
    for (size_t at = 0; at < count; at += step)
        ask_some(q, level, c,
                 &(struct asked){number + at, u64_min(count - at, step), WARM,
                                 timed},
                 member + at);
    for (size_t i = 0; i < count; i++)
        if (member[i] && !is_listed(c, number[i])) {
            member[i] = stays_alone(q, level, c, number[i]);
            if (member[i])
                ask_some(
                    q, level, c,
                    &(struct asked){number + i, 1,
                                    warm_laps(q, level, 1, of + 1, timed, most),
                                    timed},
                    member + i);
        }
}

/* Loads that a place takes, nearly all of which are asked once. */
uint64_t tlb_loads_of_member(const struct tlb_question *q,
                             const struct tlb_conflict *c)
{
    const size_t of = c->set.count + 1;
    return (WARM + laps_of(q, of)) * (of + c->laps * c->nearer.count);
}

/* ---- what a miss is ---------------------------------------------------- */

/* Beside others no turn may be long enough for so many loads, and those that
 * push out of nearer levels in each lap: a quarter, or a quarter of that, tells
 * nearly as well. */
static void lap_of(struct tlb_question *q, uint64_t places, struct column *c)
{
    enum { TIMED = 1024, TIMED_FEW = TIMED / 16 };
    bool spared = true;
    for (uint64_t loads = TIMED; spared && loads >= TIMED_FEW; loads /= 4) {
        struct buf steps = {0};
        const uint64_t timed = u64_min(places, loads);
        tlb_write_laps(q, WARM, "", 0, places, &steps);
        tlb_write_laps(q, loads / timed, "!", 0, timed, &steps);
        lab_spare(q->lab, true);
        *c = tlb_ask(q, &q->t->places, buf_string(&steps), " ");
        spared = lab_spared(q->lab) != NULL;
        buf_free(&steps);
    }
}

static size_t above(const struct column *c, double cycles)
{
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        count += c->at[i] > cycles;
    return count;
}

/* The cycles that tell loads of few places from those of many best, between
 * what both typically cost: the middle of all that are as good.  What was taken
 * first may be off, by phases of the caches' clock; many may miss the next TLB,
 * too, which costs more than a miss of this one: where most do, they do not
 * tell what one costs, and it is half-way to what was taken first. */
static double best_middle(const struct tlb_facts *tlb, const struct column *few,
                          const struct column *many, double most)
{
    enum { STEPS = 64 };
    const double low = typical(few->at, few->count, 1),
                 all = typical(many->at, many->count, 1),
                 high = fmin(all, most);
    double best = INFINITY, from = tlb->middle, to = tlb->middle;
    if (all - low > 2 * (most - low))
        return (low + most) / 2;
    for (int i = 0; high > low && i <= STEPS; i++) {
        const double at = low + (high - low) * i / STEPS;
        const double wrong = (double)above(few, at) / (double)few->count + 1 -
                             (double)above(many, at) / (double)many->count;
        if (wrong < best)
            from = at;
        if (wrong <= best)
            to = at;
        best = fmin(best, wrong);
    }
    return (from + to) / 2;
}

/* Loads that are late of so many places in turn, one more than were seen; but
 * for those of places that miss in most laps: an index may bring too many of
 * even a few to one set. */
static double late_share(const struct column *c, uint64_t places, double middle)
{
    size_t late = 1, all = 2;
    for (size_t i = 0; i < places && i < c->count; i++) {
        size_t slow = 0, laps = 0;
        for (size_t j = i; j < c->count; j += places, laps++)
            slow += c->at[j] > middle;
        if (2 * slow <= laps) {
            late += slow;
            all += laps;
        }
    }
    return (double)late / (double)all;
}

/* Loads of as few places as fit, and of twice as many as do; and how many of
 * the former are late even so, one more than were seen. */
void tlb_find_middle(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    /* beside a row that takes half of some sets fewer are sure to fit */
    enum { SURELY = 8, BESIDE = 16 };
    const uint64_t fit = u64_max(
        tlb->about / (q->row.count > 0 ? BESIDE : SURELY) + 1,
        level > 0 && q->row.count == 0 ? 2 * q->t->tlb[level - 1].about : 0);
    struct column few, many;
    q->late = q->disturbed;
    q->hit[level] = tlb->hit;
    q->miss[level] = 2 * tlb->middle - tlb->hit;
    if (2 * fit > tlb->about + 2)
        return;
    lap_of(q, fit, &few);
    lap_of(q, u64_min(2 * tlb->about, tlb_places_in_all(q)), &many);
    if (!lab_ok(q->lab) || few.count == 0 || many.count == 0)
        return;
    const bool last = level + 1 == q->t->levels;
    tlb->middle = best_middle(tlb, &few, &many, last ? INFINITY : tlb->miss);
    q->hit[level] = typical(few.at, few.count, 1);
    /* Misses may cost more than one thing. */
    q->miss[level] = 2 * tlb->middle - q->hit[level];
    q->sigma = fmax(q->sigma, stats_mad_sigma(few.at, few.count));
    q->late = late_share(&few, fit, tlb->middle);
}

/* True if laps over hardly more than fit miss at other places each time: many
 * places miss in some laps and in others do not. */
bool tlb_is_by_chance(struct tlb_question *q, size_t level)
{
    enum { LEAST = 4, MOST = 16, LOADS = 8192, FEW = 8, SHARE = 5 };
    const uint64_t about = q->t->tlb[level].about,
                   places =
                       u64_min(about + about / 4 + 1, tlb_places_in_all(q)),
                   laps = u64_within(LEAST, LOADS / places, MOST);
    struct buf steps = {0};
    size_t other = 0;
    if (laps * places > LOADS)
        return false;
    tlb_write_laps(q, 4, "", 0, places, &steps);
    tlb_write_laps(q, laps, "!", 0, places, &steps);
    const struct column c = tlb_ask(q, &q->t->places, buf_string(&steps), " ");
    buf_free(&steps);
    for (size_t i = 0; c.count == laps * places && i < places; i++) {
        size_t slow = 0;
        for (size_t lap = 0; lap < laps; lap++)
            slow += c.at[lap * places + i] > q->t->tlb[level].middle;
        other += SHARE * slow > laps && SHARE * slow < (SHARE - 1) * laps;
    }
    return FEW * other > places;
}
