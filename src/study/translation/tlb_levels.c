/*
 * How many TLBs show, by what loads cost that go over ever more places in turn:
 * as long as a TLB holds them, all loads cost what it costs.  A TLB that holds
 * fewer regions than the one before it never shows where each place has a
 * region of its own, nor one of small regions where places lie far apart; so
 * places lie at several distances, and the costs of all these laps together are
 * the levels.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "analysis/statistics/undisturbed.h"
#include "base/mem.h"
#include "base/num.h"
#include "probe/guard.h"
#include "study/assume.h"
#include "study/translation/tlb.h"

/* ---- laps ------------------------------------------------------------- */

enum { LAPS_MOST = 64 };

/* Laps over more and more places at one distance; what one costs is the mean of
 * all but a twentieth on either side: what is disturbed is no part of it, and
 * all phases are in which a load meets a cache with a clock of its own.  Where
 * more is disturbed, so much that by chance (four deviations) no lap has more.
 */
static double cut_of(const struct tlb_question *q)
{
    const double late = q->disturbed;
    return fmin(fmax(0.05, late + 4 * sqrt(late / TLB_TIMED_LEAST)), 0.25);
}

struct sweep {
    struct tlb_places in;
    double off; /* cycles that were taken off all its loads */
    uint64_t places[LAPS_MOST];
    struct column cycles[LAPS_MOST];
    double mean[LAPS_MOST];
    size_t count;
};

/* Where another process leaves no time for that: of a row a single lap before,
 * made by many lanes at once, and what is timed after it. */
static struct column ask_short_lap(struct tlb_question *q,
                                   const struct tlb_places *p, uint64_t places)
{
    struct buf steps = {0};
    tlb_write_short_row(&steps, places);
    lab_spare(q->lab, true);
    const struct column c = tlb_ask(q, p, buf_string(&steps), "many=1");
    const char *const why = lab_spared(q->lab);
    buf_free(&steps);
    if (why == NULL && lab_excuse(q->lab) == NULL)
        q->spared = NULL;
    return c;
}

/* None if it was disturbed: q->spared says by what. */
static struct column ask_lap(struct tlb_question *q, const struct tlb_places *p,
                             uint64_t from, uint64_t places)
{
    struct buf steps = {0};
    if (p->order > 0)
        tlb_write_lap(q, &steps, from, places);
    else
        tlb_write_row(&steps, places);
    lab_spare(q->lab, true);
    const struct column c = tlb_ask(q, p, buf_string(&steps), " ");
    q->spared = lab_spared(q->lab);
    buf_free(&steps);
    return q->spared != NULL && p->order == 0 ? ask_short_lap(q, p, places) : c;
}

/* False if it was disturbed, or failed. */
static bool try_lap(struct tlb_question *q, const struct tlb_places *p,
                    uint64_t from, uint64_t places, struct sweep *s)
{
    const struct column c = ask_lap(q, p, from, places);
    if (c.count == 0 || s->count == LAPS_MOST)
        return false;
    s->places[s->count] = places;
    s->mean[s->count] = stats_trimmed_mean(c.at, c.count, cut_of(q));
    s->cycles[s->count++] = c;
    return true;
}

/* The same where nothing can be told without. */
static bool lap(struct tlb_question *q, const struct tlb_places *p,
                uint64_t from, uint64_t places, struct sweep *s)
{
    const bool told = try_lap(q, p, from, places, s);
    if (q->spared != NULL && lab_ok(q->lab))
        lab_fail(q->lab, ERR_UNSUPPORTED, "%s", q->spared);
    return told;
}

/* By a fifth, so that a TLB hardly larger than the one before it shows; many by
 * two fifths. */
static void sweep(struct tlb_question *q, const struct tlb_places *p,
                  uint64_t most, struct sweep *s)
{
    enum { MANY = 512 };
    s->in = *p;
    /* 0.01 undoes what roots lose of a whole number */
    for (double n = 2;
         n < (double)most && try_lap(q, p, 0, (uint64_t)(n + 0.01), s);
         n = fmax(n * (n < MANY ? sqrt(sqrt(2)) : sqrt(2)), n + 1))
        continue;
    if (lab_ok(q->lab) && q->spared == NULL)
        try_lap(q, p, 0, most, s);
    q->t->cut_short = q->t->cut_short || q->spared != NULL;
}

/* ---- what laps cost --------------------------------------------------- */

/* Laps of a sweep in a row whose costs are alike: [from, end). */
struct flat {
    const struct sweep *sweep;
    size_t from, end;
    double cycles, error;
    double spread; /* of single loads */
    double chance; /* what a lap's mean is off by chance: standard deviation */
};
enum { FLATS_MOST = 48 };

/* All sweeps, what was flat in them, and the levels, which are some of those.
 */
enum { SWEEPS_MOST = 8, COSTS_MOST = TLBS_MOST + 1 };
struct sweeps {
    struct sweep at[SWEEPS_MOST];
    size_t count;
    struct flat flat[FLATS_MOST];
    size_t flats;
    double first; /* a hit of the first TLB costs about that */
    double cut;   /* of each lap, on either side */
    /* So often a lap is asked again that has loads of no level. */
    unsigned again;
};

/* The same, or nearly, of what walks cost, which depends on their way. */
static double slack(const struct sweeps *s, double cycles, double least)
{
    return fmax(least, assume(ASSUME_TLB_WALKS) * (cycles - s->first));
}

/* How far single loads of a lap stray. */
static double spread_of(const struct column *c, double cut)
{
    double *const sorted = stats_sorted(c->at, c->count);
    const size_t few = (size_t)(cut * (double)c->count);
    const double mean = stats_trimmed_mean(c->at, c->count, cut);
    double squares = 0;
    for (size_t i = few; i < c->count - few; i++)
        squares += pow(sorted[i] - mean, 2);
    free(sorted);
    return sqrt(squares / (double)(c->count - 2 * few));
}

static void set_flat(struct flat *f, const struct sweep *s, size_t from,
                     size_t end, double cut)
{
    *f = (struct flat){.sweep = s,
                       .from = from,
                       .end = end,
                       .cycles = stats_median(s->mean + from, end - from)};
    double spread[LAPS_MOST], chance[LAPS_MOST];
    for (size_t i = from; i < end; i++) {
        const struct column *const c = &s->cycles[i];
        f->error = fmax(f->error, fabs(s->mean[i] - f->cycles));
        spread[i - from] = spread_of(c, cut);
        chance[i - from] = stats_trimmed_mean_error(c->at, c->count, cut);
    }
    /* the first and last laps may have some of the next level */
    f->spread = stats_median(spread, end - from);
    /* What walks cost goes by where their tables lie, those of many places in a
     * row in one part of L2: 1116 and 1142 cycles the same lap of an H200, by
     * run. */
    f->chance = stats_median(chance, end - from);
    f->error = fmax(f->error, 2 * f->chance);
}

/* Two laps or more in a row that cost the same are what one TLB costs. */
static void find_flats(struct sweeps *all, const struct sweep *s)
{
    const double few = assume(ASSUME_TLB_LEAST) / 2;
    for (size_t i = 0, end; i < s->count; i = end) {
        end = i + 1;
        while (end < s->count &&
               fabs(s->mean[end] - s->mean[i]) < slack(all, s->mean[end], few))
            end++;
        if (end - i >= 2 && all->flats < FLATS_MOST)
            set_flat(&all->flat[all->flats++], s, i, end, all->cut);
    }
}

static int cheaper_first(const void *a, const void *b)
{
    const double x = ((const struct flat *)a)->cycles,
                 y = ((const struct flat *)b)->cycles;
    return (x > y) - (x < y);
}

/* Of those that cost the same the one of most laps stays. */
static void merge_flats(struct sweeps *s)
{
    size_t kept = 0;
    qsort(s->flat, s->flats, sizeof *s->flat, cheaper_first);
    for (size_t i = 0; i < s->flats; i++) {
        struct flat *const f = &s->flat[i];
        struct flat *const last = kept > 0 ? &s->flat[kept - 1] : NULL;
        if (last == NULL ||
            f->cycles >
                last->cycles + slack(s, f->cycles, assume(ASSUME_TLB_LEAST)))
            s->flat[kept++] = *f;
        else if (f->end - f->from > last->end - last->from)
            *last = *f;
    }
    s->flats = kept;
}

/* True if loads of its laps cost what it does, and not some less and some more:
 * as where some sets of a TLB hold their places and others do not.  Then most
 * are nowhere near; or, where they differ too much to say so, the middle one is
 * not. */
static bool is_of_one_cost(const struct sweeps *s, size_t which)
{
    const struct flat *const f = &s->flat[which];
    double off = INFINITY;
    size_t near = 0, all = 0, middle = 0;
    if (which > 0)
        off = f->cycles - s->flat[which - 1].cycles;
    if (which + 1 < s->flats)
        off = fmin(off, s->flat[which + 1].cycles - f->cycles);
    const double wide = fmax(off / 2, 2 * s->flat[0].spread);
    for (size_t i = f->from; i < f->end; i++) {
        const struct column *const c = &f->sweep->cycles[i];
        middle += fabs(stats_median(c->at, c->count) - f->cycles) < off / 2;
        for (size_t j = 0; j < c->count; j++, all++)
            near += fabs(c->at[j] - f->cycles) < wide;
    }
    return 4 * near > 3 * all && 2 * middle > f->end - f->from;
}

static void drop_mixed(struct sweeps *s)
{
    bool one[FLATS_MOST];
    size_t kept = 0;
    for (size_t i = 0; i < s->flats; i++)
        one[i] = i == 0 || is_of_one_cost(s, i);
    for (size_t i = 0; i < s->flats; i++)
        if (one[i])
            s->flat[kept++] = s->flat[i];
    s->flats = kept;
}

/* What loads of its laps cost that are nearer to it than to other levels: where
 * victims are random, some of a lap are always of another. */
static double cost_of(const struct sweeps *s, size_t which)
{
    const struct flat *const f = &s->flat[which];
    const double *const mean = f->sweep->mean;
    const double from = which > 0 ? (f->cycles + f[-1].cycles) / 2 : -INFINITY;
    const double to =
        which + 1 < s->flats ? (f->cycles + f[1].cycles) / 2 : INFINITY;
    double cost[LAPS_MOST];
    for (size_t i = f->from; i < f->end; i++) {
        const struct column *const c = &f->sweep->cycles[i];
        double *const near = xcalloc(c->count, sizeof *near);
        size_t count = 0;
        for (size_t j = 0; j < c->count; j++)
            if (c->at[j] > from && c->at[j] < to)
                near[count++] = c->at[j];
        cost[i - f->from] =
            count > 0 ? stats_trimmed_mean(near, count, s->cut) : mean[i];
        free(near);
    }
    return stats_median(cost, f->end - f->from);
}

/* Unless levels are so near that loads of one look like those of another. */
static void refine_costs(struct sweeps *s)
{
    double cost[FLATS_MOST];
    for (size_t i = 0; i < s->flats; i++) {
        const double off =
            fmin(i > 0 ? s->flat[i].cycles - s->flat[i - 1].cycles : INFINITY,
                 i + 1 < s->flats ? s->flat[i + 1].cycles - s->flat[i].cycles
                                  : INFINITY);
        cost[i] =
            off > 8 * s->flat[0].spread ? cost_of(s, i) : s->flat[i].cycles;
    }
    for (size_t i = 0; i < s->flats; i++)
        s->flat[i].cycles = cost[i];
}

/* ---- what is of no level ---------------------------------------------- */

/* How far loads may be off what a level costs. */
static double width(const struct sweeps *s, const struct flat *f)
{
    return fmax(4 * f->spread, slack(s, f->cycles, assume(ASSUME_TLB_LEAST)));
}

static bool is_of_a_level(const struct sweeps *s, double cycles)
{
    for (size_t i = 0; i < s->flats; i++)
        if (fabs(cycles - s->flat[i].cycles) < width(s, &s->flat[i]))
            return true;
    return false;
}

/* Loads of a lap that cost what no level does; none if it has few of them. */
static size_t strays_of(const struct sweeps *s, const struct column *c,
                        double off, double *stray, size_t most)
{
    enum { MANY = 8 };
    size_t count = 0;
    for (size_t k = 0; k < c->count && count < most; k++)
        if (!is_of_a_level(s, c->at[k] - off))
            stray[count++] = c->at[k] - off;
    return MANY * count < c->count ? 0 : count;
}

/* Those of a lap, and of that lap when it is asked again: one that has some
 * because it was disturbed has none then. */
static size_t lasting_strays(struct tlb_question *q, const struct sweeps *s,
                             const struct sweep *of, size_t which,
                             double *stray, size_t most)
{
    struct sweep *const again = lab_alloc(q->lab, 1, sizeof *again);
    size_t count = strays_of(s, &of->cycles[which], 0, stray, most);
    for (unsigned i = 0; i < s->again && count > 0 &&
                         try_lap(q, &of->in, 0, of->places[which], again);
         i++)
        count = strays_of(s, &again->cycles[i], of->off, stray, most);
    return count;
}

static size_t find_strays(struct tlb_question *q, const struct sweeps *s,
                          double *stray, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        for (size_t j = 0; j < s->at[i].count; j++)
            count +=
                lasting_strays(q, s, &s->at[i], j, stray + count, most - count);
    return count;
}

/* A level of which no lap is whole: three of four such loads cost the same. */
static bool add_strays(struct sweeps *s, const double *stray, size_t count)
{
    struct flat f = {.cycles = stats_median(stray, count),
                     .spread = s->flat[0].spread};
    size_t near = 0;
    for (size_t i = 0; i < count; i++)
        near += fabs(stray[i] - f.cycles) < width(s, &f);
    if (4 * near <= 3 * count)
        return false;
    f.error = 2 * f.spread;
    s->flat[s->flats++] = f;
    qsort(s->flat, s->flats, sizeof *s->flat, cheaper_first);
    return true;
}

/* True if they cost more than what all levels cost: walks whose ways others
 * push out of L2.  Where laps were cut short all walks may be among them, and
 * one in twenty is then allowed to be a load of some level that was late. */
static bool are_beyond(const struct tlb_question *q, const struct sweeps *s,
                       const double *stray, size_t count)
{
    const struct flat *const last = &s->flat[s->flats - 1];
    const double least = q->t->cut_short ? stats_quantile(stray, count, 0.05)
                                         : stats_min(stray, count);
    return least > last->cycles + width(s, last);
}

/* Means of two laps differ less, by chance, than by what a miss costs more at
 * least: else a TLB may lie before what seems to be the first, and it would be
 * called by that one's name. */
static bool is_steady(const struct sweeps *s)
{
    return 3 * sqrt(2) * s->flat[0].chance < assume(ASSUME_TLB_LEAST);
}

/* True if what lies between two levels, so near to both that no load tells
 * which it is of, may be laps of which some loads cost the one and some the
 * other: these stray by more, and that is told where it is more than four
 * deviations of how a lap strays by itself. */
static bool may_be_mixed(const struct sweeps *s)
{
    const double alone = pow(s->flat[0].spread, 2);
    const double strays = 4 * alone * sqrt(2.0 / TLB_TIMED_LEAST);
    for (size_t i = 1; i + 1 < s->flats; i++) {
        const double below = s->flat[i].cycles - s->flat[i - 1].cycles;
        const double above = s->flat[i + 1].cycles - s->flat[i].cycles;
        const double mixed = below * above - strays;
        const double more = pow(s->flat[i].spread, 2) - alone;
        if (fmax(below, above) < 4 * s->flat[0].spread &&
            (mixed < 0 || more > mixed))
            return true;
    }
    return false;
}

/* False if there are laps that are no levels and no mixtures of these: then one
 * may hide that never holds all places of a lap; or it may behind all others,
 * which hides nothing of those. */
static bool tell_all(struct tlb_question *q, struct sweeps *s)
{
    enum { STRAYS_MOST = 1 << 14 };
    double *const stray = lab_alloc(q->lab, STRAYS_MOST, sizeof *stray);
    size_t count = find_strays(q, s, stray, STRAYS_MOST);
    while (count > 0 && s->flats < COSTS_MOST && add_strays(s, stray, count))
        count = find_strays(q, s, stray, STRAYS_MOST);
    q->more = count > 0 && are_beyond(q, s, stray, count);
    return count == 0 || q->more;
}

/* ---- is none hidden --------------------------------------------------- */

static double middle_load(const struct sweep *s, size_t which)
{
    return stats_median(s->cycles[which].at, s->cycles[which].count);
}

/* What the middle loads of a level's laps cost; of one that no lap is whole of,
 * what it costs. */
static double middle_of_flat(const struct flat *f)
{
    double middle[LAPS_MOST];
    if (f->sweep == NULL)
        return f->cycles;
    for (size_t i = f->from; i < f->end; i++)
        middle[i - f->from] = middle_load(f->sweep, i);
    return stats_median(middle, f->end - f->from);
}

static bool is_middle_of_any(const struct sweeps *s, double middle)
{
    for (size_t i = 0; i < s->flats; i++)
        if (fabs(middle - middle_of_flat(&s->flat[i])) <
            slack(s, middle, assume(ASSUME_TLB_LEAST)))
            return true;
    return false;
}

/* True if half of its loads cost nearly the same, and are not some of a level
 * that costs less and some of one that costs more. */
static bool is_narrow(const struct sweeps *s, const struct column *c)
{
    return stats_mad_sigma(c->at, c->count) <=
           fmax(1.5 * s->flat[0].spread, assume(ASSUME_TLB_LEAST) / 4);
}

/* True if the middle loads of some laps in a row cost alike, and what no level
 * does: there is a level, whose laps late loads made differ on average. */
static bool hides_one(const struct sweeps *s, const struct sweep *of)
{
    enum { IN_A_ROW = 3 };
    size_t row = 0;
    double before = -INFINITY;
    for (size_t i = 0; i < of->count && row < IN_A_ROW; i++) {
        const double middle = middle_load(of, i);
        const bool hidden =
            !is_middle_of_any(s, middle) && is_narrow(s, &of->cycles[i]);
        const bool alike = fabs(middle - before) < assume(ASSUME_TLB_LEAST) / 2;
        row = !hidden ? 0 : row > 0 && alike ? row + 1 : 1;
        before = middle;
    }
    return row == IN_A_ROW;
}

static bool hides_any(const struct sweeps *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (hides_one(s, &s->at[i]))
            return true;
    return false;
}

static bool tell(struct tlb_question *q, struct sweeps *s)
{
    s->flats = 0;
    for (size_t i = 0; i < s->count; i++)
        find_flats(s, &s->at[i]);
    merge_flats(s);
    drop_mixed(s);
    refine_costs(s);
    return s->flats > 0 && s->flats <= COSTS_MOST && is_steady(s) &&
           tell_all(q, s) && !may_be_mixed(s);
}

/* Of each lap the middle half, which no fewer late loads than a quarter change:
 * a neighbour's come many in a row, and to some laps more than to all.  Where a
 * tenth of all are late, an eighth of a lap is a third of the time, and seven
 * times in a row in hardly one lap of a thousand. */
static void cut_more(struct sweeps *s)
{
    s->cut = 0.25;
    s->again = 6;
    for (size_t i = 0; i < s->count; i++) {
        struct sweep *const of = &s->at[i];
        for (size_t j = 0; j < of->count; j++)
            of->mean[j] = stats_trimmed_mean(of->cycles[j].at,
                                             of->cycles[j].count, s->cut);
    }
    s->first = stats_min(s->at[0].mean, s->at[0].count);
}

/* Whether all levels are told, and none hides before one that is: it would be
 * called by its name. */
static bool are_told(struct tlb_question *q, struct sweeps *s)
{
    const bool told = tell(q, s);
    if (told ? !hides_any(s) : s->flats == 0 || is_steady(s))
        return told;
    cut_more(s);
    return tell(q, s) && !hides_any(s);
}

/* ---- the levels ------------------------------------------------------- */

static size_t slow_of(const struct column *c, double middle)
{
    size_t slow = 0;
    for (size_t i = 0; i < c->count; i++)
        slow += c->at[i] > middle;
    return slow;
}

static bool half_miss(const struct column *c, double middle)
{
    return 2 * slow_of(c, middle) > c->count;
}

/* The same of so many places, several times others. */
enum { OTHERS = 3 };

static bool half_of_others_miss(struct tlb_question *q, uint64_t places,
                                uint64_t others, double middle,
                                struct sweep *laps)
{
    const uint64_t left =
        q->t->places.pieces - u64_min(places, q->t->places.pieces);
    size_t slow = 0, loads = 0;
    for (uint64_t i = 0;
         i < others && lap(q, &q->t->places, i * left / OTHERS, places, laps);
         i++) {
        const struct column *const c = &laps->cycles[laps->count - 1];
        slow += slow_of(c, middle);
        loads += c->count;
    }
    return 2 * slow > loads;
}

/* Of few several times: of two dozen entries in six sets half of the first
 * twelve missed. */
static bool half_of_any_miss(struct tlb_question *q, uint64_t places,
                             double middle, struct sweep *laps)
{
    enum { FEW = 256 };
    return half_of_others_miss(q, places, places < FEW ? OTHERS : 1, middle,
                               laps);
}

/* Places between two numbers of which half miss, to a 32nd; adds the laps. */
static uint64_t narrow(struct tlb_question *q, uint64_t fit, uint64_t more,
                       double middle, struct sweep *laps)
{
    while (lab_ok(q->lab) && more - fit > 1 + fit / 32)
        if (half_of_any_miss(q, (fit + more) / 2, middle, laps))
            more = (fit + more) / 2;
        else
            fit = (fit + more) / 2;
    return fit;
}

/* Places of which half miss: at random ones, since such as lie in a row may
 * come to some sets more than to others.  More than the longest lap of which
 * fewer do: one before it was disturbed, as by another process whose turn
 * leaves no translation there. */
static uint64_t about(struct tlb_question *q, const struct sweep *s,
                      double middle)
{
    size_t i = s->count;
    while (i > 0 && half_miss(&s->cycles[i - 1], middle))
        i--;
    if (i == 0 || i == s->count)
        return i == 0 ? 1 : s->places[i - 1];
    return narrow(q, s->places[i - 1] / 2,
                  u64_min(2 * s->places[i], q->t->places.pieces), middle,
                  lab_alloc(q->lab, 1, sizeof *s));
}

bool tlb_confirm_about(struct tlb_question *q, size_t level, uint64_t places)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t pieces = q->t->places.pieces;
    struct sweep *const laps = lab_alloc(q->lab, 1, sizeof *laps);
    if (places >= pieces ||
        half_of_others_miss(q, places, OTHERS, tlb->middle, laps))
        return true;
    laps->count = 0;
    tlb->about = narrow(q, places, pieces, tlb->middle, laps);
    return false;
}

/* Loads of laps that fit by far which are taken for misses; and one more, since
 * there were so few.  Half of a lap are not late: it was disturbed. */
static void set_late(const struct sweep *s, struct tlb_facts *tlb)
{
    size_t slow = 0, loads = 0;
    for (size_t i = 0; i < s->count && 2 * s->places[i] <= tlb->about; i++) {
        if (half_miss(&s->cycles[i], tlb->middle))
            continue;
        slow += slow_of(&s->cycles[i], tlb->middle);
        loads += s->cycles[i].count;
    }
    tlb->late = (double)(1 + slow) / (double)(1 + loads);
    tlb->calm = slow == 0;
}

/* What a TLB holds of places each in a region of its own, unless one before it
 * holds half as many, or more: then that one still has some of a lap, which are
 * not asked of this one. */
static void set_about(struct tlb_question *q, const struct sweep *s,
                      size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    uint64_t before = 0;
    for (size_t i = 0; i < level; i++)
        before = u64_max(before, q->t->tlb[i].about);
    tlb->about = about(q, s, tlb->middle);
    set_late(s, tlb);
    tlb->hidden = level > 0 && tlb->about < 2 * before + 2;
    q->covered[level] = tlb->hidden;
    if (tlb->hidden)
        q->why[level] = why_tlb_hidden;
    if (!half_miss(&s->cycles[s->count - 1], tlb->middle)) {
        q->covered[level] = false;
        tlb->hidden = true;
        q->why[level] =
            lab_text(q->lab, why_tlb_addresses, q->t->places.pieces);
    }
}

/* Of no more than hide it.  Fewer than some tell nothing of sets. */
void tlb_uncover(struct tlb_question *q, size_t level)
{
    enum { FEW = 4 };
    struct tlb_facts *const tlb = &q->t->tlb[level];
    struct sweep *const laps = lab_alloc(q->lab, 1, sizeof *laps);
    if (q->row.count == 0)
        return;
    const uint64_t fit = narrow(q, 1, 2 * tlb->about + 2, tlb->middle, laps);
    if (!lab_ok(q->lab) || fit < FEW)
        return;
    tlb->about = fit;
    /* Of laps about so long the row makes some miss, and none is short. */
    tlb_find_middle(q, level);
    tlb->late = q->late;
    tlb->hidden = false;
    tlb_find_region(q, level);
    /* Else how many of its regions the row takes is not known. */
    tlb->hidden = tlb->hidden || tlb->region == 0;
}

/* What is more than that misses: half-way; nearer to hits where misses, as
 * walks do, differ far more than those, by how far apart places are. */
static double middle_of(const struct flat *hit, const struct flat *miss)
{
    const double more = miss->cycles - hit->cycles;
    const bool wide = miss->spread > 4 * hit->spread && more > 16 * hit->spread;
    return hit->cycles + more / (wide ? 4 : 2);
}

/* What may be nothing is no penalty. */
static void report_penalty(struct tlb_question *q, size_t level, double more,
                           double error)
{
    if (more <= error) {
        tlb_none(q, level, TLB_PENALTY, TLB_PENALTY, why_misses_alike);
        return;
    }
    tlb_found(q, level, TLB_PENALTY, more);
    finding_interval(q->finding[level][TLB_PENALTY], more - error, more + error,
                     -1);
}

/* Beside a process that takes turns whole warps prepare what is timed, and a
 * miss of an H100's second TLB cost 87.0 cycles, twice, for 90.1 to 90.4. */
static const double brisk_part = 0.04;

static void set_levels(struct tlb_question *q, const struct sweeps *s)
{
    const struct flat *const flat = s->flat;
    const double part = prober_guard(q->lab->prober)->leapt ? brisk_part : 0;
    q->sigma = fmax(q->sigma, flat->spread);
    for (size_t i = 0; lab_ok(q->lab) && i + 1 < s->flats; i++) {
        struct tlb_facts *const tlb = &q->t->tlb[q->t->levels++];
        const double more = flat[i + 1].cycles - flat[i].cycles;
        const double error =
            flat[i].error + flat[i + 1].error + 0.5 + part * more;
        tlb->hit = flat[i].cycles;
        tlb->miss = flat[i + 1].cycles;
        tlb->middle = middle_of(&flat[i], &flat[i + 1]);
        set_about(q, &s->at[0], i);
        report_penalty(q, i, more, error);
    }
}

/* From such on as do not come with the translation of another ever farther
 * apart, so many as show the end of a TLB of some hundred regions; and places
 * each in a region of its own, which tell as much as such that lie hardly
 * nearer to each other. */
static void sweep_all(struct tlb_question *q, struct sweeps *s)
{
    enum { DENSE_MOST = 1024, FARTHER = 4 };
    const uint64_t window = q->window;
    struct tlb_places p;
    s->count = 1;
    for (uint64_t far = q->t->places.unit;
         lab_ok(q->lab) && 2 * far <= q->t->places.apart &&
         s->count < SWEEPS_MOST;
         far *= FARTHER) {
        uint64_t places = DENSE_MOST;
        while (window > 0 && places * far > window)
            places /= 2;
        p = tlb_in_a_row(q, far, places);
        sweep(q, &p, places, &s->at[s->count++]);
    }
    p = q->t->places;
    p.order = 0;
    if (p.jitter == 0)
        p.unit = p.apart;
    if (lab_ok(q->lab))
        sweep(q, &p, p.pieces, &s->at[0]);
}

/* Loads of the first laps of a sweep. */
static struct undisturbed cost_of_first(const struct sweep *s, size_t laps)
{
    double *loads = NULL;
    size_t count = 0;
    for (size_t i = 0; i < laps; i++) {
        const struct column *const c = &s->cycles[i];
        loads = xreallocarray(loads, count + c->count + 1, sizeof *loads);
        memcpy(loads + count, c->at, c->count * sizeof *loads);
        count += c->count;
    }
    const struct undisturbed u = undisturbed_of(loads, count, 1);
    free(loads);
    return u;
}

/* What both places of the shortest lap cost, which are found in every TLB; and,
 * until that is known to an eighth of what a miss costs more at least, those of
 * the next laps, as long as these do not surely cost half of that more. */
static double least_of(const struct sweep *s)
{
    const double least = assume(ASSUME_TLB_LEAST);
    struct undisturbed u = cost_of_first(s, 1);
    for (size_t laps = 2; laps <= s->count && u.high - u.low > least / 4 &&
                          s->mean[laps - 1] < u.high + least / 2;
         laps++)
        u = cost_of_first(s, laps);
    return u.cycles;
}

/* Places near each other are other lines of the piece, which lie at other
 * distances: what that makes a hit cost more is taken off. */
static void level_sweeps(struct sweeps *s)
{
    for (size_t i = 1; i < s->count; i++) {
        struct sweep *const of = &s->at[i];
        of->off = least_of(of) - least_of(&s->at[0]);
        for (size_t j = 0; j < of->count; j++) {
            of->mean[j] -= of->off;
            for (size_t k = 0; k < of->cycles[j].count; k++)
                of->cycles[j].at[k] -= of->off;
        }
    }
}

/* "2 MiB apart" */
static const char *name_of(const struct tlb_question *q, size_t number,
                           uint64_t apart)
{
    enum { MIB = 1 << 20 };
    if (number == 0)
        return "far apart";
    return apart % MIB == 0
               ? lab_text(q->lab, "%" PRIu64 " MiB apart", apart / MIB)
               : lab_text(q->lab, "%" PRIu64 " B apart", apart);
}

/* What the levels were told from, a curve a distance. */
static void show(const struct tlb_question *q, const struct sweeps *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct sweep *const of = &s->at[i];
        const struct curve_kind by_places = {name_of(q, i, of->in.unit),
                                             "places", "", "cycles"};
        for (size_t j = 0; j < of->count; j++)
            lab_point(q->lab, "tlb", "levels", &by_places,
                      (struct curve_seen){(double)of->places[j], of->mean[j],
                                          of->cycles[j].experiment});
    }
}

void tlb_find_levels(struct tlb_question *q)
{
    struct sweeps *const s = lab_alloc(q->lab, 1, sizeof *s);
    s->cut = cut_of(q);
    s->again = 1;
    q->t->cut_short = false;
    sweep_all(q, s);
    q->unclear = s->at[0].count == 0;
    if (!lab_ok(q->lab) || q->unclear)
        return;
    level_sweeps(s);
    show(q, s);
    s->first = stats_min(s->at[0].mean, s->at[0].count);
    q->unclear = !are_told(q, s);
    /* Laps of many places take longer than another process leaves us. */
    q->more = q->more || q->t->cut_short;
    if (!q->unclear)
        set_levels(q, s);
}
