/*
 * What an entry of a TLB covers, of one whose sets are not known: where places
 * are too many to fit, as many that lie two in a region do fit.
 *
 * Places are told by halves of a region.  Every third half is one a region, and
 * comes to all sets, whether they are told apart by regions or by halves; so do
 * four of six, which are two regions.  How regions are aligned is not known:
 * four that begin with the second half are three.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"
#include "base/buf.h"
#include "base/mem.h"
#include "twin/validate/trying.h"

/* More is what does not fit, or nothing does. */
static const double most = 0.5;

struct laps {
    struct trying *t;
    double half; /* bytes of half a region */
    double cut;  /* cycles of a load from which on it missed this TLB */
    char *text;  /* of the last laps */
};

/* One lap more than three: every third half, or the four of six from one on. */
static char *laps_of(double places, double half, int from)
{
    enum { LAPS = 4, ONE = 3, FOUR = 4, SIX = 6 };
    struct buf steps = {0};
    for (int i = 0; i < LAPS; i++)
        for (int k = 0; k < (from < 0 ? 1 : FOUR); k++)
            buf_printf(&steps, "%s%s%d:%.0f:%d", steps.length > 0 ? "," : "",
                       i == LAPS - 1 ? "!" : "", from < 0 ? 0 : from + k,
                       from < 0 ? places : ceil(places / FOUR),
                       from < 0 ? ONE : SIX);
    char *const text =
        xasprintf("visit readers=global.cg steps=%s piece=2097152 apart=%.0f",
                  buf_string(&steps), half);
    buf_free(&steps);
    return text;
}

/* The share of loads that took longer than the cut, or, without one, their
 * median. */
static int lap(struct laps *l, double places, int from, double *seen)
{
    struct samples s = {0};
    free(l->text);
    l->text = laps_of(places, l->half, from);
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

/* The fewest places of a few steps of half an octave about what was found of
 * which most miss, if the step before fits; 0: none. */
static int first_that_misses(struct laps *l, double entries, double *places)
{
    enum { STEPS = 5 };
    double share = 0;
    bool fitted = false;
    int status = 0;
    *places = 0;
    for (int i = 0; status == 0 && i < STEPS && !trying_late(l->t); i++) {
        const double n = ceil(entries * exp2((i - STEPS / 2) / 2.0));
        status = lap(l, n, -1, &share);
        if (status == 0 && share > most) {
            *places = fitted ? n : 0;
            break;
        }
        fitted = true;
    }
    return status;
}

static void judge_half(struct laps *l, const char *component, double share)
{
    struct finding *const f = trying_find(l->t, component, "region");
    const bool right = share <= most;
    trying_note(l->t, component, "region", right ? 1 : 0, l->text);
    if (right)
        return;
    trying_repair(l->t, f, value_number(f->value.number / 2),
                  "places that are too many to fit do not fit where two lie in "
                  "what is told to be a region, either");
}

int try_region(struct trying *t, const char *component, const char *front)
{
    const double entries = told_number(&t->told, component, "entries");
    const double region = told_number(&t->told, component, "region");
    const double own = told_number(&t->told, component, "miss_penalty");
    const double few = 1.5 * told_number(&t->told, front, "entries");
    const struct finding *const f = trying_find(t, component, "region");
    enum { GRANULE = 2 << 20 };
    if (f == NULL || f->status != STATUS_MEASURED || region < 2 * GRANULE ||
        own == 0 || few == 0 || entries < 2 * few)
        return 0;
    struct laps laps = {.t = t, .half = region / 2};
    double hit = 0, places = 0, share = 1;
    int status = lap(&laps, few, -1, &hit);
    laps.cut = hit + own / 2;
    if (status == 0)
        status = first_that_misses(&laps, entries, &places);
    for (int from = 0; status == 0 && places > 0 && from < 2 && share > most;
         from++)
        status = lap(&laps, places, from, &share);
    if (status == 0 && places > 0)
        judge_half(&laps, component, share);
    free(laps.text);
    return status != 0 && trying_excused(t) ? 0 : status;
}
