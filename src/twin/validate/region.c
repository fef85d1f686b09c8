/*
 * What an entry of a TLB covers, whether its sets are known or not: one place
 * is loaded in each of many blocks of as many bytes, in either half of it.
 *
 *   - Of places that are too many to fit it does not matter which halves they
 *     are.  If others do fit, first halves came to some of the sets alone, and
 *     each half has an entry of its own.
 *   - As many that lie two in a region do fit.
 *   - Nor does it matter whether as many lie in a row or each in a block of its
 *     own that is twice as large, in either half.  If the former alone fit, two
 *     regions are one.
 *
 * Mappings are aligned by their extent, and so are blocks.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "twin/validate/trying.h"

/* More is what does not fit, or nothing does; of places at random some do not
 * where few would, of one way a half. */
static const double most = 0.5, surely = 2.0 / 3;

/* Of how many parts all first halves or all second ones are loaded; how near
 * mappings lie at most. */
enum { PARTS = 8, GRANULE = 2 << 20 };

struct laps {
    struct trying *t;
    const char *component;
    struct rng rng;    /* that of the others draws what it would without this */
    double window;     /* bytes that all places lie in; 0: anywhere */
    double region;     /* bytes, as they are told */
    double cut;        /* cycles of a load from which on it missed this TLB */
    bool later[PARTS]; /* where second halves are loaded */
    char *text;        /* of the last laps */
};

/* Which halves of blocks: all in a row; of each block either; every third half,
 * which is one a region; and four of six, which are two regions, from the first
 * one on, or from the second.  Every third and four of six come to all sets,
 * whether these are told apart by regions or by halves. */
enum order { ROW, EITHER, THIRD, FOUR, FOUR_LATER };

/* Halves from the first to the last, at most. */
static double extent_of(enum order order, double places)
{
    static const double each[] = {1, 2, 3, 1.5, 1.5};
    enum { SIX = 6 };
    return each[order] * places + (order >= FOUR ? 2 * SIX : 0);
}

static void put_run(struct buf *steps, const char *kept, double first,
                    double count, int step)
{
    if (count > 0)
        buf_printf(steps, "%s%s%.0f:%.0f:%d", steps->length > 0 ? "," : "",
                   kept, first, count, step);
}

static void put_lap(const struct laps *l, struct buf *steps, const char *kept,
                    enum order order, double places)
{
    enum { SIX = 6, OF_SIX = 4 };
    if (order == ROW || order == THIRD)
        put_run(steps, kept, 0, places, order == ROW ? 1 : 3);
    for (int i = 0; order == EITHER && i < PARTS; i++) {
        const double from = floor(places * i / PARTS),
                     to = floor(places * (i + 1) / PARTS);
        put_run(steps, kept, 2 * from + l->later[i], to - from, 2);
    }
    for (int k = 0; order >= FOUR && k < OF_SIX; k++)
        put_run(steps, kept, k + (order == FOUR_LATER), ceil(places / OF_SIX),
                SIX);
}

/* Four laps, of few places more: victims at random settle, and are told by
 * many loads. */
static char *laps_of(const struct laps *l, double block, enum order order,
                     double places)
{
    enum { WARM = 3, LOADS = 128, MOST = 12 };
    const int timed = (int)fmin(ceil(LOADS / places), MOST);
    const double half = block / 2;
    struct buf steps = {0};
    for (int i = 0; i < WARM * timed; i++)
        put_lap(l, &steps, "", order, places);
    for (int i = 0; i < timed; i++)
        put_lap(l, &steps, "!", order, places);
    char *const text =
        xasprintf("visit readers=global.cg steps=%s piece=%d apart=%.0f",
                  buf_string(&steps), GRANULE, half);
    buf_free(&steps);
    return text;
}

/* The share of loads that took longer than the cut, or, without one, their
 * median; NAN where these places do not lie in one window. */
static int lap(struct laps *l, double block, enum order order, double places,
               double *seen)
{
    struct samples s = {0};
    *seen = NAN;
    if (l->window > 0 && extent_of(order, places) * block / 2 > l->window)
        return 0;
    free(l->text);
    l->text = laps_of(l, block, order, places);
    const int status = prober_run(l->t->device, l->text, &s, NULL, l->t->err);
    const size_t column = status == 0 ? samples_column(&s, "cycles") : 0;
    double *const at = xreallocarray(NULL, s.rows + 1, sizeof *at);
    size_t above = 0;
    for (size_t i = 0; status == 0 && i < s.rows; i++) {
        at[i] = (double)samples_at(&s, i, column);
        above += at[i] > l->cut;
    }
    if (status == 0 && s.rows > 0)
        *seen = l->cut > 0 ? (double)above / (double)s.rows
                           : stats_median(at, s.rows);
    free(at);
    samples_free(&s);
    return status;
}

/* The same of either halves: as many parts of the one as of the other, drawn
 * anew. */
static int lap_of_either(struct laps *l, double block, double places,
                         double *seen)
{
    for (int i = 0, left = PARTS / 2; i < PARTS; i++) {
        l->later[i] = (int)rng_below(&l->rng, (uint64_t)(PARTS - i)) < left;
        left -= l->later[i];
    }
    return lap(l, block, EITHER, places, seen);
}

/* The fewest places of a few steps of half an octave about what was found of
 * which most miss, if the step before fits, and how many do; 0: none. */
static int first_that_misses(struct laps *l, double block, enum order order,
                             double entries, double *places, double *share)
{
    enum { STEPS = 5 };
    bool fitted = false;
    int status = 0;
    *places = 0;
    for (int i = 0; status == 0 && i < STEPS && !trying_late(l->t); i++) {
        const double n = ceil(entries * exp2((i - STEPS / 2) / 2.0));
        status = lap(l, block, order, n, share);
        if (status == 0 && *share > most) {
            *places = fitted ? n : 0;
            break;
        }
        fitted = *share <= most;
    }
    return status;
}

/* ---- is it narrower ---------------------------------------------------- */

/* By chance one draw may bring more to some sets than another does: it is asked
 * twice. */
enum { DRAWS = 2 };

/* True if which halves are loaded matters. */
static int halves_differ(struct laps *l, double entries, bool *differ,
                         bool *asked)
{
    double places, first = 0, either = 0;
    int status =
        first_that_misses(l, 2 * l->region, ROW, entries, &places, &first);
    *asked = places > 0;
    *differ = *asked;
    for (int i = 0; status == 0 && *differ && i < DRAWS; i++) {
        status = lap_of_either(l, l->region, places, &either);
        *differ = 3 * either < 2 * first;
    }
    return status;
}

/* True if places do not fit that lie two in a region.  Those that begin with
 * the second half are in one region more where mappings were not aligned. */
static int pairs_differ(struct laps *l, double entries, bool *differ,
                        bool *asked)
{
    double places, share = 1;
    int status =
        first_that_misses(l, l->region, THIRD, entries, &places, &share);
    *asked = places > 0;
    *differ = *asked;
    for (int order = FOUR; status == 0 && *differ && order <= FOUR_LATER;
         order++) {
        status = lap(l, l->region, (enum order)order, places, &share);
        *differ = share > most;
    }
    return status;
}

/* ---- is it wider ------------------------------------------------------- */

/* True if so many regions in a row fit, and as many do not of which each lies
 * in a block of its own that is twice as wide. */
static int fit_by_two(struct laps *l, double places, bool *by_two)
{
    double share = 0, either = 0;
    int status = lap(l, 2 * l->region, ROW, places, &share);
    *by_two = share <= most;
    for (int i = 0; status == 0 && *by_two && i < DRAWS; i++) {
        status = lap_of_either(l, 2 * l->region, places, &either);
        *by_two = either > surely;
    }
    return status;
}

/* Fewer than there are entries, `low` at least, and more, `high` at most: of
 * regions twice as wide there may be half as many, or as many. */
static int are_wider(struct laps *l, double low, double high, bool *wider)
{
    int status = fit_by_two(l, ceil(0.6 * low), wider);
    return status == 0 && !*wider ? fit_by_two(l, ceil(2 * high), wider)
                                  : status;
}

/* ---- all --------------------------------------------------------------- */

static void say(struct laps *l, double region, const char *because)
{
    struct finding *const f = trying_find(l->t, l->component, "region");
    trying_note(l->t, l->component, "region", 0, l->text);
    trying_repair(l->t, f, value_number(region), because);
}

/* Each half has an entry: there are twice as many at least, of which what is
 * loaded next makes use. */
static void say_halves(struct laps *l)
{
    struct finding *const f = trying_find(l->t, l->component, "entries");
    say(l, l->region / 2,
        "places that are too many to fit do where others of the halves of what "
        "is told to be a region are loaded");
    trying_repair(l->t, f, value_number(2 * f->value.number),
                  "each half of what is told to be a region has an entry");
}

/* Where sets are known, more is asked of what they foretell (structure.c). */
static bool has_sets(struct trying *t, const char *component)
{
    return trying_find(t, component, "sets") != NULL ||
           trying_find(t, component, "set_ways") != NULL;
}

static int ask_narrower(struct laps *l, double entries, bool few, bool *differ)
{
    const bool sets = has_sets(l->t, l->component);
    bool halves = false, pairs = false;
    int status = few ? halves_differ(l, entries, differ, &halves) : 0;
    if (status == 0 && *differ) {
        say_halves(l);
        return 0;
    }
    if (status == 0 && (few || !sets))
        status = pairs_differ(l, entries, differ, &pairs);
    if (status == 0 && *differ)
        say(l, l->region / 2,
            "places that are too many to fit do not fit where two lie in what "
            "is told to be a region, either");
    else if (status == 0 && (halves || pairs) && !sets)
        trying_note(l->t, l->component, "region", 1, l->text);
    return status;
}

/* Halves of a region are asked of one that has several mappings; and what takes
 * many, of sets that are not known alone. */
static int ask(struct laps *l, double entries, double low, double high)
{
    enum { PLACES_MOST = 1024 };
    const bool few = 2 * high <= PLACES_MOST;
    bool differ = false, wider = false;
    int status =
        l->region >= 2 * GRANULE ? ask_narrower(l, entries, few, &differ) : 0;
    if (status == 0 && !differ && few)
        status = are_wider(l, low, high, &wider);
    if (status == 0 && wider)
        say(l, 2 * l->region,
            "places fit in a row that do not farther apart, as if two of what "
            "is told to be a region were one");
    return status;
}

int try_region(struct trying *t, const char *component, const char *front)
{
    enum { FEW = 5 };
    const struct finding *const of = trying_find(t, component, "entries");
    const double entries = told_number(&t->told, component, "entries");
    const double own = told_number(&t->told, component, "miss_penalty");
    const double few =
        front == NULL ? FEW : 1.5 * told_number(&t->told, front, "entries");
    struct laps laps = {.t = t,
                        .component = component,
                        .rng = t->rng,
                        .window = told_number(&t->told, "tlb", "page_window"),
                        .region = told_number(&t->told, component, "region")};
    double hit = 0;
    if (trying_sure(t, component, "region") == NULL || of == NULL ||
        laps.region < GRANULE || own == 0 || few == 0 || entries < 2 * few)
        return 0;
    int status = lap(&laps, 2 * laps.region, ROW, few, &hit);
    laps.cut = hit + own / 2;
    if (status == 0 && hit > 0)
        status =
            ask(&laps, entries, of->has_interval ? of->interval[0] : entries,
                of->has_interval ? of->interval[1] : entries);
    free(laps.text);
    return status != 0 && trying_excused(t) ? 0 : status;
}
