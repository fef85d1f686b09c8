/*
 * What a page costs whose translation a TLB has lost, measured anew.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"
#include "base/buf.h"
#include "base/mem.h"
#include "twin/validate/cost.h"

/* Places are timed so often at least; a third TLB's first ones, as many as
 * there is room for. */
enum { LOADS = 64, LOADS_MOST = 6000 };

/* A page after the other, a few at a time, as many as the TLB holds: so often
 * that what a load costs is known as well as of many. */
static char *pages_held(double few, double places, double region)
{
    struct buf text = {0};
    buf_text(&text, "visit readers=global.cg steps=");
    for (double at = 0; at < places; at += few)
        buf_printf(&text, "%s3x%.0f:%.0f:1,%.0fx!%.0f:%.0f:1",
                   at > 0 ? "," : "", at, few, ceil(LOADS / few), at,
                   fmin(few, LOADS_MOST));
    buf_printf(&text, " piece=2097152 apart=%.0f", region);
    return buf_take(&text);
}

/* All of more than the TLB holds; the same places are timed, as lines of L2 are
 * not all equally far away. */
static char *pages_lost(double many, double places, double region)
{
    struct buf text = {0};
    buf_printf(&text, "visit readers=global.cg steps=3x0:%.0f:1", many);
    for (double lap = 0; lap < LOADS / many; lap++) {
        buf_printf(&text, ",!0:%.0f:1", fmin(places, LOADS_MOST));
        if (many > places)
            buf_printf(&text, ",%.0f:%.0f:1", places, many - places);
    }
    buf_printf(&text, " piece=2097152 apart=%.0f", region);
    return buf_take(&text);
}

/* The place of a row; the one behind the last if it is none of them. */
static size_t place_at(const struct samples *s, size_t row, size_t places)
{
    const int64_t at = samples_at(s, row, samples_column(s, "offset"));
    return at >= 0 && (uint64_t)at < places ? (size_t)at : places;
}

/* The middle of what each place cost that a visit timed, of so many; NAN where
 * it timed none. */
static double *middle_of_places(const struct samples *s, size_t places)
{
    double *const cycles = cost_column(s, "cycles");
    double *const middle = xreallocarray(NULL, places + 1, sizeof *middle);
    double *const at = xreallocarray(NULL, s->rows + 1, sizeof *at);
    size_t *const end = xcalloc(places + 2, sizeof *end);
    for (size_t i = 0; i < s->rows; i++)
        end[place_at(s, i, places) + 1]++;
    for (size_t p = 0; p <= places; p++)
        end[p + 1] += end[p];
    for (size_t i = 0; i < s->rows; i++)
        at[end[place_at(s, i, places)]++] = cycles[i];
    for (size_t p = 0; p < places; p++) {
        const size_t begin = p > 0 ? end[p - 1] : 0;
        middle[p] =
            end[p] > begin ? stats_median(at + begin, end[p] - begin) : NAN;
    }
    free(cycles);
    free(end);
    free(at);
    return middle;
}

/* What a page that is lost costs more than one that is held, place by place:
 * lines of L2 differ by more than that. */
static int cost_of_lost(struct trying *t, const char *held, const char *lost,
                        size_t places, struct cost *cost)
{
    struct samples near = {0}, far = {0};
    int status = cost_run(t, t->device, held, COST_VISIT_RUNS, &near);
    if (status == 0)
        status = cost_run(t, t->device, lost, COST_VISIT_RUNS, &far);
    if (status == 0 && near.rows > 0 && far.rows > 0) {
        double *const hit = middle_of_places(&near, places);
        double *const more = middle_of_places(&far, places);
        size_t count = 0;
        for (size_t i = 0; i < places; i++)
            if (!isnan(hit[i]) && !isnan(more[i]))
                more[count++] = more[i] - hit[i];
        *cost = cost_of_singles(t, more, count);
        free(hit);
        free(more);
    }
    samples_free(&near);
    samples_free(&far);
    return status;
}

/* How many pages the TLBs in front cannot hold, half as many again; of the
 * first one, a few. */
static double pages_beyond_front(struct trying *t, unsigned level)
{
    enum { FEW = 5 };
    char front[16];
    snprintf(front, sizeof front, "tlb_l%u", level - 1);
    return level == 1 ? FEW : 1.5 * told_number(&t->told, front, "entries");
}

/* A third TLB may hold more lines of a set than it has ways, by no policy that
 * is known (structure.c); and its pages take seconds to map. */
static bool pages_tell(struct trying *t, unsigned level, const char *name)
{
    return level < 3 || (!t->brief && trying_find(t, name, "policy") != NULL);
}

/* Pages one after the other: some that the TLB holds, and these among half as
 * many again as it can. */
static int try_penalty(struct trying *t, unsigned level, const char *name)
{
    enum { PAGES_MOST = 6000, THIRD_MOST = 1 << 14 };
    const double most = level < 3 ? PAGES_MOST : THIRD_MOST;
    char next[16];
    snprintf(next, sizeof next, "tlb_l%u", level + 1);
    const double entries = told_number(&t->told, name, "entries");
    const double region = told_number(&t->told, name, "region");
    const double beyond = told_number(&t->told, next, "reach");
    const double few = pages_beyond_front(t, level);
    const double many = ceil(1.5 * entries);
    if (!pages_tell(t, level, name) || entries == 0 || few == 0 ||
        region < 2 << 20 || many > most || few > entries ||
        (beyond > 0 && many * region > beyond))
        return 0;
    struct cost cost = {0};
    const double places = few * fmax(1, floor(fmin(many, LOADS) / few));
    char *const held = pages_held(few, places, region);
    char *const lost = pages_lost(many, places, region);
    const int status = cost_of_lost(t, held, lost, (size_t)places, &cost);
    if (status == 0)
        cost_judge(t, name, "miss_penalty", cost, lost);
    free(held);
    free(lost);
    return status != 0 && trying_excused(t) ? 0 : status;
}

/* Places of a penalty lie by what an entry covers: that is asked before, if
 * more than means is. */
int try_pages(struct trying *t, unsigned level)
{
    enum { HIDDEN = 3 }; /* the second one holds too much to ask of others */
    char name[16], front[16];
    snprintf(name, sizeof name, "tlb_l%u", level);
    snprintf(front, sizeof front, "tlb_l%u", level - 1);
    const int status = t->means_only || level == HIDDEN
                           ? 0
                           : try_region(t, name, level > 1 ? front : NULL);
    return status == 0 ? try_penalty(t, level, name) : status;
}
