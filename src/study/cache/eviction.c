/*
 * Every question is one launch, or a few: settle, then laps that are timed.
 *
 * Settling.  A cache of an SM is empty when a launch begins and fills its empty
 * ways first, so one lap settles it.  One that lasts holds other data; under
 * random victims those go by chance, and a tree of bits may keep a stale line
 * for ever if the laps are all alike: so it is settled by laps and by random
 * visits, and by many more if single loads still miss, but not the same ones.
 *
 * Misses.  A load is a miss if it costs at least half of what a miss costs more
 * than a hit.  A disturbed load may look like one: lines do not fit only if
 * every lap has a miss, so many laps that it cannot be chance.
 */
#include "study/cache/eviction.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/levels.h"
#include "analysis/stats.h"
#include "base/buf.h"
#include "base/mem.h"

enum {
    LAPS = 6,         /* timed at first, fewer of long lists … */
    LAPS_LEAST = 3,   /* … but not fewer than these … */
    LAPS_MORE = 64,   /* … and then more, where it is not yet sure */
    TAKES_MOST = 24,  /* launches to be sure */
    KEPT_MOST = 7000, /* loads that one launch keeps */
    DRAWS_MOST = 500,
    SETTLE_MOST = 60000 /* loads to settle with */
};
/* Share of loads that are disturbed and look like misses, at most. */
static const double DISTURBED = 0.002;

void eviction_done(struct eviction *a)
{
    free(a->fits);
    free(a->overflows);
    a->fits = a->overflows = NULL;
}

/* ---- loads ------------------------------------------------------------ */

static enum policy_outcome judge(const struct eviction *a, double base,
                                 double cycles)
{
    const double gap = a->miss - a->hit;
    return cycles < base + 0.5 * gap ? LOAD_HIT : LOAD_MISS;
}

/* A segment as `visit` writes it. */
static void put(struct buf *steps, const char *how, const struct segment *s)
{
    buf_printf(steps, "%s%s%" PRIu64 ":%" PRIu64 ":%" PRIu64,
               steps->length > 0 ? "," : "", how, s->start, s->count, s->step);
}

static void put_laps(struct buf *steps, uint64_t laps, const char *how,
                     const struct segment *s)
{
    char text[40];
    snprintf(text, sizeof text, "%" PRIu64 "x%s", laps, how);
    if (laps > 0)
        put(steps, text, s);
}

static int visit(struct eviction *a, const struct segment *list,
                 struct buf *steps, unsigned take, struct samples *samples,
                 char **name, struct error *err)
{
    struct buf text = {0};
    buf_printf(&text, "visit readers=%s steps=%s", a->reader,
               buf_string(steps));
    if (a->filler.count > 0)
        buf_printf(&text, " between=%" PRIu64 ":%" PRIu64 ":%" PRIu64,
                   list->start + a->filler.start, a->filler.count,
                   a->filler.step);
    if (take > 0)
        buf_printf(&text, " take=%u", take);
    const int status =
        lab_probe_err(a->lab, samples, name, err, "%s", buf_string(&text));
    buf_free(&text);
    buf_free(steps);
    return status;
}

static double *cycles_of(const struct samples *s)
{
    const size_t column = samples_column(s, "cycles");
    double *const cycles = xreallocarray(NULL, s->rows + 1, sizeof *cycles);
    for (size_t i = 0; i < s->rows; i++)
        cycles[i] = (double)samples_at(s, i, column);
    return cycles;
}

/* What a hit costs where the list lies: lines beside those of the list, on the
 * same pages but in different sets, cost the same translation. */
static int find_base(struct eviction *a, const struct segment *list,
                     double *base, struct error *err)
{
    enum { NEAR = 512 * 1024 };
    *base = a->hit;
    if (list->step * list->count < NEAR)
        return 0;
    const struct segment beside = {list->start, list->count,
                                   list->step + a->unit};
    struct samples s;
    struct buf steps = {0};
    if (beside.start + beside.step * beside.count > a->span)
        return 0;
    put_laps(&steps, 3, "", &beside);
    put(&steps, "!", &beside);
    if (visit(a, list, &steps, 0, &s, NULL, err) != 0)
        return err->code;
    double *const cycles = cycles_of(&s);
    *base = fmax(a->hit, stats_median(cycles, s.rows));
    free(cycles);
    samples_free(&s);
    return 0;
}

/*
 * Misses gather around the costs of the places where lines were found, be it
 * one place or two; what lies between was disturbed.
 */
static void doubt_outliers(struct policy_load *loads, const double *cycles,
                           size_t count)
{
    struct levels levels;
    levels_find(cycles, count, &levels_usual, &levels);
    for (size_t i = 0; i < count; i++)
        if (levels_classify(&levels, cycles[i]) < 0)
            loads[i].outcome = LOAD_UNKNOWN;
}

/* ---- does it fit? ----------------------------------------------------- */

/* What the timed laps over a list showed, over one launch or several. */
struct laps {
    size_t laps, misses;
    size_t lapses; /* laps without a miss */
    size_t steady; /* places that missed in every lap */
};

static void count_laps(const struct eviction *a, const double *cycles,
                       uint64_t count, uint64_t laps, double base,
                       struct laps *l)
{
    size_t *const missed = xcalloc(count, sizeof *missed);
    for (uint64_t lap = 0; lap < laps; lap++) {
        size_t misses = 0;
        for (uint64_t i = 0; i < count; i++) {
            const enum policy_outcome outcome =
                judge(a, base, cycles[lap * count + i]);
            misses += outcome == LOAD_MISS;
            missed[i] += outcome == LOAD_MISS;
        }
        l->misses += misses;
        l->lapses += misses == 0;
    }
    l->laps += laps;
    l->steady = 0;
    for (uint64_t i = 0; i < count; i++)
        l->steady += missed[i] == laps;
    free(missed);
}

/* Laps to settle with: some, then many. */
static uint64_t settling(const struct eviction *a, uint64_t count, int attempt)
{
    static const uint64_t laps[] = {3, 24, 96};
    if (!a->lasting)
        return 2;
    const uint64_t most = SETTLE_MOST / (count + 1) + 2;
    return laps[attempt] < most ? laps[attempt] : most;
}

/* Laps and random visits that settle, laps that are timed. */
static uint64_t write_laps(const struct eviction *a, const struct segment *list,
                           uint64_t first, unsigned take, struct buf *steps)
{
    const uint64_t most = KEPT_MOST / list->count;
    const uint64_t wanted = take == 0 ? LAPS : LAPS_MORE;
    const uint64_t timed = most < wanted ? most : wanted;
    const uint64_t draws =
        4 * list->count < DRAWS_MOST ? 4 * list->count : DRAWS_MOST;
    char drawn[32];
    put_laps(steps, first, "", list);
    snprintf(drawn, sizeof drawn, "~%" PRIu64 "/", draws);
    if (a->lasting)
        put(steps, drawn, list);
    put_laps(steps, 1, "", list);
    put_laps(steps, timed, "!", list);
    return timed;
}

static int time_laps(struct eviction *a, const struct segment *list,
                     int attempt, unsigned take, double base, struct laps *laps,
                     char **name, struct error *err)
{
    struct samples s;
    struct buf steps = {0};
    const uint64_t first = settling(a, list->count, attempt);
    const uint64_t timed = write_laps(a, list, first, take, &steps);
    if (visit(a, list, &steps, take, &s, name, err) != 0)
        return err->code;
    double *const cycles = cycles_of(&s);
    count_laps(a, cycles, list->count, timed, base, laps);
    free(cycles);
    samples_free(&s);
    return 0;
}

/* The chance that each of so many laps had a disturbed load. */
static double chance_of(const struct laps *l, uint64_t count)
{
    return pow(1 - exp(-DISTURBED * (double)count), (double)l->laps);
}

/* Misses that come at the same places in every lap have settled. */
static bool has_settled(const struct eviction *a, const struct laps *l)
{
    return !a->lasting || 10 * l->steady * l->laps > 9 * l->misses;
}

/*
 * Times laps until one has no miss, or so many had one that it cannot be
 * disturbances, or the same loads missed in all.
 */
static int have_misses(struct eviction *a, const struct segment *list,
                       int attempt, double base, struct laps *laps, char **name,
                       struct error *err)
{
    *laps = (struct laps){0};
    *name = NULL;
    for (unsigned take = 0; take < TAKES_MOST; take++) {
        free(*name);
        if (time_laps(a, list, attempt, take, base, laps, name, err) != 0)
            return err->code;
        if (laps->lapses > 0 || (take == 0 && laps->steady > 1) ||
            chance_of(laps, list->count) < 1e-6)
            return 0;
    }
    free(*name);
    *name = NULL;
    return error_set(err, ERR_UNSUPPORTED,
                     "misses of %" PRIu64 " places cannot be told from "
                     "disturbances",
                     list->count);
}

static void keep_name(struct eviction *a, bool yes, char *name)
{
    char **const kept = yes ? &a->overflows : &a->fits;
    free(*kept);
    *kept = name;
}

int eviction_overflows(struct eviction *a, uint64_t start, uint64_t step,
                       uint64_t count, bool *yes, struct error *err)
{
    const struct segment list = {start, count, step};
    double base;
    if (list.start + list.step * count > a->span ||
        count > KEPT_MOST / LAPS_LEAST)
        return error_set(err, ERR_UNSUPPORTED,
                         "%" PRIu64 " places, %" PRIu64 " B apart, are more "
                         "than can be tried",
                         count, step);
    if (find_base(a, &list, &base, err) != 0)
        return err->code;
    *yes = true;
    for (int attempt = 0; *yes && attempt < 3; attempt++) {
        struct laps laps;
        char *name;
        if (have_misses(a, &list, attempt, base, &laps, &name, err) != 0)
            return err->code;
        *yes = laps.lapses == 0;
        keep_name(a, *yes, name);
        if (*yes && has_settled(a, &laps))
            break;
    }
    return 0;
}

static int time_list(struct eviction *a, const uint64_t *places, size_t count,
                     size_t settle, double *base, bool *yes, struct error *err)
{
    struct buf text = {0};
    struct samples s;
    struct laps laps = {0};
    buf_printf(&text, "visit readers=%s rounds=%zu steps=", a->reader,
               settle + LAPS);
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s!%" PRIu64 ":1:0", i > 0 ? "," : "", places[i]);
    const int status =
        lab_probe_err(a->lab, &s, NULL, err, "%s", buf_string(&text));
    buf_free(&text);
    if (status != 0)
        return status;
    double *const cycles = cycles_of(&s);
    if (*base == 0)
        *base =
            fmax(a->hit, stats_median(cycles + settle * count, LAPS * count));
    count_laps(a, cycles + settle * count, count, LAPS, *base, &laps);
    *yes = laps.lapses == 0;
    free(cycles);
    samples_free(&s);
    return 0;
}

int eviction_list_overflows(struct eviction *a, const uint64_t *places,
                            size_t count, double *base, bool *yes,
                            struct error *err)
{
    /* 16 B for each step and 4 for each load that is kept. */
    const size_t most = 40000 / 20 / count - LAPS;
    const size_t settle[] = {4, 16, most};
    *yes = true;
    for (size_t i = 0; *yes && i < (a->lasting ? COUNT_OF(settle) : 1); i++)
        if (time_list(a, places, count, settle[i] < most ? settle[i] : most,
                      base, yes, err) != 0)
            return err->code;
    return 0;
}

/* What is known of a capacity: `fits` does, `overflows` does not, or cannot be
 * tried, if it is not `proven`. */
struct bounds {
    uint64_t fits, overflows;
    bool proven;
};

static int narrow(struct eviction *a, uint64_t start, uint64_t step,
                  uint64_t count, struct bounds *b, struct error *err)
{
    bool yes;
    if (count <= b->fits || count >= b->overflows)
        return 0;
    const int status = eviction_overflows(a, start, step, count, &yes, err);
    if (status != 0 && status != ERR_UNSUPPORTED)
        return status;
    if (status == 0 && !yes) {
        b->fits = count;
    } else {
        b->overflows = count;
        b->proven = status == 0;
    }
    return 0;
}

int eviction_capacity(struct eviction *a, uint64_t start, uint64_t step,
                      uint64_t guess, uint64_t most, uint64_t *count,
                      struct error *err)
{
    struct bounds b = {0, most + 1, false};
    const uint64_t first[] = {guess, guess + 1, guess > 1 ? guess - 1 : 0};
    for (size_t i = 0; i < COUNT_OF(first); i++)
        if (narrow(a, start, step, first[i], &b, err) != 0)
            return err->code;
    while (!b.proven && b.overflows - b.fits > 1 &&
           2 * b.fits + 1 < b.overflows)
        if (narrow(a, start, step, 2 * b.fits + (b.fits == 0), &b, err) != 0)
            return err->code;
    while (b.overflows - b.fits > 1)
        if (narrow(a, start, step, b.fits + (b.overflows - b.fits) / 2, &b,
                   err) != 0)
            return err->code;
    *count = b.proven ? b.fits : most + 1;
    return 0;
}

/* ---- does it evict? --------------------------------------------------- */

/* The group fills its set, once more before and once after the others came. */
static int try_eviction(struct eviction *a, const struct segment *group,
                        const struct segment *others, size_t count, int attempt,
                        bool *valid, bool *yes, struct error *err)
{
    struct samples s;
    struct buf steps = {0};
    const uint64_t w = group->count;
    put_laps(&steps, settling(a, w, attempt), "", group);
    put(&steps, "!", group);
    for (size_t i = 0; i < count; i++)
        put(&steps, "", &others[i]);
    put(&steps, "!", group);
    if (visit(a, group, &steps, 0, &s, NULL, err) != 0)
        return err->code;
    double *const cycles = cycles_of(&s);
    const double base = fmax(a->hit, stats_median(cycles, w));
    size_t before = 0, after = 0;
    for (uint64_t i = 0; i < w; i++) {
        before += judge(a, base, cycles[i]) != LOAD_HIT;
        after += judge(a, base, cycles[w + i]) != LOAD_HIT;
    }
    *valid = before == 0;
    *yes = after > 0;
    free(cycles);
    samples_free(&s);
    return 0;
}

int eviction_evicts(struct eviction *a, const struct segment *group,
                    const struct segment *others, size_t count, bool *yes,
                    struct error *err)
{
    enum { LEAD = 3, TRIES = 15 };
    int evicted = 0, valid = 0;
    /* A disturbed load may say either: one answer must lead by three. */
    for (int i = 0; i < TRIES && abs(evicted) < LEAD; i++) {
        bool ok = false, one = false;
        if (try_eviction(a, group, others, count, i % 3, &ok, &one, err) != 0)
            return err->code;
        valid += ok;
        evicted += ok ? (one ? 1 : -1) : 0;
    }
    if (abs(evicted) < LEAD)
        return error_set(err, ERR_UNSUPPORTED,
                         "a group of %" PRIu64 " lines would not stay (%d of "
                         "%d times it did)",
                         group->count, valid, TRIES);
    *yes = evicted > 0;
    return 0;
}

/* Settles all groups, and times them before and after the other came. */
static int try_which(struct eviction *a, const struct segment *groups,
                     size_t count, uint64_t other, size_t *votes,
                     struct error *err)
{
    struct samples s;
    struct buf steps = {0};
    size_t each = 0;
    const uint64_t laps = settling(a, EVICTION_PLACES, 0);
    for (uint64_t lap = 0; lap < laps; lap++)
        for (size_t i = 0; i < count; i++)
            put(&steps, "", &groups[i]);
    for (size_t i = 0; i < count; i++) {
        put(&steps, "!", &groups[i]);
        each += groups[i].count;
    }
    put(&steps, "", &(struct segment){other, 1, 0});
    for (size_t i = 0; i < count; i++)
        put(&steps, "!", &groups[i]);
    if (visit(a, groups, &steps, 0, &s, NULL, err) != 0)
        return err->code;
    double *const cycles = cycles_of(&s);
    const double base = fmax(a->hit, stats_median(cycles, each));
    size_t at = 0;
    bool stayed = true;
    for (size_t i = 0; i < each; i++)
        stayed = stayed && judge(a, base, cycles[i]) == LOAD_HIT;
    bool any = false;
    for (size_t i = 0; stayed && i < count; at += groups[i++].count) {
        bool missed = false;
        for (uint64_t n = 0; n < groups[i].count; n++)
            missed =
                missed || judge(a, base, cycles[at + each + n]) != LOAD_HIT;
        votes[i] += missed;
        any = any || missed;
    }
    votes[count] += stayed && !any;
    free(cycles);
    samples_free(&s);
    return 0;
}

/* The group, or none, with so many more votes than any other; `count` + 1 if
 * there is no such. */
static size_t elected(const size_t *votes, size_t count, size_t lead)
{
    size_t best = 0, next = 0;
    for (size_t i = 1; i <= count; i++)
        if (votes[i] > votes[best])
            best = i;
    for (size_t i = 0; i <= count; i++)
        if (i != best && votes[i] > next)
            next = votes[i];
    return votes[best] >= next + lead ? best : count + 1;
}

int eviction_which(struct eviction *a, const struct segment *groups,
                   size_t count, uint64_t other, size_t *which,
                   struct error *err)
{
    /* Disturbed loads vote for other groups: one must lead by three. */
    enum { LEAD = 3, TRIES = 24 };
    size_t *const votes = xcalloc(count + 1, sizeof *votes);
    int status = 0;
    *which = count + 1;
    for (int i = 0; i<TRIES && * which> count && status == 0; i++) {
        status = try_which(a, groups, count, other, votes, err);
        *which = elected(votes, count, LEAD);
    }
    free(votes);
    if (status == 0 && *which > count)
        status = error_set(err, ERR_UNSUPPORTED,
                           "%zu groups of lines would not stay", count);
    return status;
}

/* ---- random loads ----------------------------------------------------- */

/* Has the next cache hold the list, so that all misses cost alike; a launch of
 * its own, which leaves the caches of an SM as empty as before. */
static int bring_near(struct eviction *a, const struct segment *list,
                      struct error *err)
{
    struct samples s;
    struct buf steps = {0};
    if (a->lasting)
        return 0;
    put_laps(&steps, 2, "", list);
    put(&steps, "!", &(struct segment){list->start, 1, 0});
    if (visit(a, list, &steps, 0, &s, NULL, err) != 0)
        return err->code;
    samples_free(&s);
    return 0;
}

/* What comes before the draws; returns how many of its loads are kept, but of
 * no use.  Others of the set push out what a lasting cache held of the list. */
static size_t write_start(const struct eviction *a, const struct segment *list,
                          bool stays, struct buf *steps)
{
    const char *const mark = a->filler.count > 0 ? "!" : "";
    const struct segment all_but_last = {list->start, list->count - 1,
                                         list->step};
    const struct segment others = {list->start + list->count * list->step,
                                   2 * list->count, list->step};
    if (stays) {
        const uint64_t laps = a->lasting ? 24 : 1;
        put_laps(steps, laps, mark, &all_but_last);
        put(steps, "!", list);
        return *mark == '\0' ? 0 : laps * all_but_last.count;
    }
    if (a->lasting)
        put_laps(steps, 2, mark, &others);
    return a->lasting && *mark != '\0' ? 2 * others.count : 0;
}

int eviction_draw(struct eviction *a, const struct segment *list, bool stays,
                  size_t visits, unsigned take, struct policy_load **loads,
                  size_t *count, struct error *err)
{
    struct samples s;
    struct buf steps = {0};
    char draws[32];
    double base;
    if (find_base(a, list, &base, err) != 0 ||
        (take <= 1 && bring_near(a, list, err) != 0))
        return err->code;
    const size_t skip = write_start(a, list, stays, &steps);
    snprintf(draws, sizeof draws, "!~%zu/", visits);
    put(&steps, draws, list);
    if (visit(a, list, &steps, take, &s, NULL, err) != 0)
        return err->code;
    const size_t offset = samples_column(&s, "offset");
    double *const cycles = cycles_of(&s);
    *loads = xreallocarray(*loads, *count + s.rows, sizeof **loads);
    struct policy_load *const own = *loads + *count;
    for (size_t i = skip; i < s.rows; i++)
        own[i - skip] = (struct policy_load){
            .line =
                (uint32_t)(((uint64_t)samples_at(&s, i, offset) - list->start) /
                           list->step),
            .outcome = (uint8_t)judge(a, base, cycles[i]),
            .first = i == skip};
    doubt_outliers(own, cycles + skip, s.rows - skip);
    *count += s.rows - skip;
    free(cycles);
    samples_free(&s);
    return 0;
}

/* ---- many steps ------------------------------------------------------- */

/* Steps that one launch looks at. */
static size_t steps_at_once(uint64_t places)
{
    const size_t most = KEPT_MOST / places;
    return most < 64 ? most : 64;
}

static int scan_some(struct eviction *a, uint64_t first, size_t count,
                     uint64_t places, bool *over, struct error *err)
{
    struct buf steps = {0};
    struct samples s;
    for (size_t i = 0; i < count; i++) {
        const struct segment list = {0, places, first + i * a->unit};
        put_laps(&steps, 2, "", &list);
        put(&steps, "!", &list);
    }
    const struct segment all = {0, places, first};
    if (visit(a, &all, &steps, 0, &s, NULL, err) != 0)
        return err->code;
    double *const cycles = cycles_of(&s);
    for (size_t i = 0; i < count; i++) {
        /* Steps differ little, so they have the same pages. */
        const double base = fmax(a->hit, stats_median(cycles, s.rows));
        size_t misses = 0;
        for (uint64_t n = 0; n < places; n++)
            misses += judge(a, base, cycles[i * places + n]) == LOAD_MISS;
        over[i] = 5 * misses > places;
    }
    free(cycles);
    samples_free(&s);
    return 0;
}

int geometry_scan(struct eviction *a, uint64_t first, size_t count,
                  uint64_t places, bool *over, struct error *err)
{
    const size_t most = steps_at_once(places);
    for (size_t i = 0; i < count; i += most) {
        const size_t some = count - i < most ? count - i : most;
        if (scan_some(a, first + i * a->unit, some, places, over + i, err) != 0)
            return err->code;
    }
    return 0;
}
