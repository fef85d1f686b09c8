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
 * than a hit, and not much more than a miss.  A disturbed load may look like
 * one: lines do not fit only if every lap has a miss, and more of them than
 * there are disturbances.
 */
#include "study/arena.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"
#include "base/buf.h"
#include "base/mem.h"

enum {
    LAPS = 6,          /* timed at first, fewer of long lists … */
    LAPS_LEAST = 3,    /* … but not fewer than these … */
    LAPS_MORE = 64,    /* … and then more, where it is not yet sure */
    TAKES_MOST = 24,   /* launches to be sure */
    KEPT_MOST = 7000,  /* loads that one launch keeps */
    APART_MOST = 1000, /* of lists with filler between */
    DRAWS_MOST = 500,
    SETTLE_MOST = 60000 /* loads to settle with */
};
/* Share of loads that are disturbed and look like misses, at most. */
static const double DISTURBED = 0.002;

void arena_done(struct arena *a)
{
    free(a->fits);
    free(a->overflows);
    a->fits = a->overflows = NULL;
}

/* ---- loads ------------------------------------------------------------ */

static enum policy_outcome judge(const struct arena *a, double base,
                                 double cycles)
{
    const double gap = a->miss - a->hit;
    if (cycles < base + 0.5 * gap)
        return LOAD_HIT;
    /* Memory's own latencies differ by half, with page and bank. */
    if (cycles > base + 1.5 * gap + 16)
        return LOAD_UNKNOWN;
    return LOAD_MISS;
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

static int visit(struct arena *a, const struct segment *list, struct buf *steps,
                 unsigned take, struct samples *samples, char **name,
                 struct error *err)
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
        lab_probe(a->lab, samples, name, err, "%s", buf_string(&text));
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
static int find_base(struct arena *a, const struct segment *list, double *base,
                     struct error *err)
{
    enum { NEAR = 512 * 1024 };
    *base = a->hit;
    if (a->skew > 0 || list->step * list->count < NEAR)
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
 * Loads that are called misses, but lie far from the middle of all that are,
 * were disturbed: what a miss costs differs less than what disturbs it.
 */
static void doubt_misses(struct policy_load *loads, const double *cycles,
                         size_t count)
{
    double *const slow = xreallocarray(NULL, count + 1, sizeof *slow);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (loads[i].outcome == LOAD_MISS)
            slow[n++] = cycles[i];
    const double middle = n > 0 ? stats_median(slow, n) : 0;
    for (size_t i = 0; i < n; i++)
        slow[i] = fabs(slow[i] - middle);
    /* Six times the median deviation: four standard deviations. */
    const double margin = n > 0 ? 6 * stats_median(slow, n) + 2 : 0;
    for (size_t i = 0; i < count; i++)
        if (loads[i].outcome == LOAD_MISS && fabs(cycles[i] - middle) > margin)
            loads[i].outcome = LOAD_UNKNOWN;
    free(slow);
}

/* ---- does it fit? ----------------------------------------------------- */

/* What the timed laps over a list showed, over one launch or several. */
struct laps {
    size_t laps, misses;
    size_t lapses; /* laps without a miss */
    size_t steady; /* places that missed in every lap */
};

static void count_laps(const struct arena *a, const double *cycles,
                       uint64_t count, uint64_t laps, double base,
                       struct laps *l)
{
    size_t *const missed = xcalloc(count, sizeof *missed);
    for (uint64_t lap = 0; lap < laps; lap++) {
        size_t misses = 0, unknown = 0;
        for (uint64_t i = 0; i < count; i++) {
            const enum policy_outcome outcome =
                judge(a, base, cycles[lap * count + i]);
            misses += outcome == LOAD_MISS;
            unknown += outcome == LOAD_UNKNOWN;
            missed[i] += outcome != LOAD_HIT;
        }
        l->misses += misses;
        l->lapses += misses + unknown == 0;
    }
    l->laps += laps;
    l->steady = 0;
    for (uint64_t i = 0; i < count; i++)
        l->steady += missed[i] == laps;
    free(missed);
}

/* Laps to settle with: some, then many. */
static uint64_t settling(const struct arena *a, uint64_t count, int attempt)
{
    static const uint64_t laps[] = {3, 24, 96};
    if (!a->lasting)
        return 2;
    const uint64_t most = SETTLE_MOST / (count + 1) + 2;
    return laps[attempt] < most ? laps[attempt] : most;
}

/* Without filler: laps and random visits that settle, laps that are timed. */
static uint64_t write_laps(const struct arena *a, const struct segment *list,
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

/* With filler all laps are kept, since filler comes only before loads that are;
 * the first are thrown away. */
static uint64_t write_laps_apart(const struct segment *list, uint64_t *first,
                                 struct buf *steps)
{
    const uint64_t most = APART_MOST / list->count;
    *first = most > 2 * LAPS ? most - LAPS : most / 2;
    put_laps(steps, most, "!", list);
    return most - *first;
}

static int time_laps(struct arena *a, const struct segment *list, int attempt,
                     unsigned take, double base, struct laps *laps, char **name,
                     struct error *err)
{
    struct samples s;
    struct buf steps = {0};
    uint64_t first = settling(a, list->count, attempt), skip = 0, timed;
    if (a->filler.count > 0)
        timed = write_laps_apart(list, &skip, &steps);
    else
        timed = write_laps(a, list, first, take, &steps);
    if (visit(a, list, &steps, take, &s, name, err) != 0)
        return err->code;
    double *const cycles = cycles_of(&s);
    count_laps(a, cycles + skip * list->count, list->count, timed, base, laps);
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
static bool has_settled(const struct arena *a, const struct laps *l)
{
    return !a->lasting || 10 * l->steady * l->laps > 9 * l->misses;
}

/*
 * Times laps until one has no miss, or so many had one that it cannot be
 * disturbances, or the same loads missed in all.
 */
static int have_misses(struct arena *a, const struct segment *list, int attempt,
                       double base, struct laps *laps, char **name,
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

static void keep_name(struct arena *a, bool yes, char *name)
{
    char **const kept = yes ? &a->overflows : &a->fits;
    free(*kept);
    *kept = name;
}

int arena_overflows(struct arena *a, uint64_t start, uint64_t step,
                    uint64_t count, bool *yes, struct error *err)
{
    const struct segment list = {start, count, step + a->skew};
    double base;
    if (list.start + list.step * count > a->span ||
        count > KEPT_MOST / LAPS_LEAST ||
        (a->filler.count > 0 && count > APART_MOST / (2 * LAPS_LEAST)))
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

/* What is known of a capacity: `fits` does, `overflows` does not, or cannot be
 * tried, if it is not `proven`. */
struct bounds {
    uint64_t fits, overflows;
    bool proven;
};

static int narrow(struct arena *a, uint64_t start, uint64_t step,
                  uint64_t count, struct bounds *b, struct error *err)
{
    bool yes;
    if (count <= b->fits || count >= b->overflows)
        return 0;
    const int status = arena_overflows(a, start, step, count, &yes, err);
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

int arena_capacity(struct arena *a, uint64_t start, uint64_t step,
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
static int try_eviction(struct arena *a, const struct segment *group,
                        const struct segment *others, size_t count, int attempt,
                        bool *valid, bool *yes, struct error *err)
{
    struct samples s;
    struct buf steps = {0};
    const uint64_t w = group->count;
    put_laps(&steps, settling(a, w, attempt), a->filler.count > 0 ? "!" : "",
             group);
    const size_t skip = a->filler.count > 0 ? settling(a, w, attempt) * w : 0;
    put(&steps, "!", group);
    for (size_t i = 0; i < count; i++)
        put(&steps, "", &others[i]);
    put(&steps, "!", group);
    if (visit(a, group, &steps, 0, &s, NULL, err) != 0)
        return err->code;
    double *const cycles = cycles_of(&s);
    const double base = fmax(a->hit, stats_median(cycles + skip, w));
    size_t before = 0, after = 0;
    for (uint64_t i = 0; i < w; i++) {
        before += judge(a, base, cycles[skip + i]) != LOAD_HIT;
        after += judge(a, base, cycles[skip + w + i]) == LOAD_MISS;
    }
    *valid = before == 0;
    *yes = after > 0;
    free(cycles);
    samples_free(&s);
    return 0;
}

int arena_evicts(struct arena *a, const struct segment *group,
                 const struct segment *others, size_t count, bool *yes,
                 struct error *err)
{
    enum { WANTED = 3, TRIES = 9 };
    unsigned valid = 0, evicted = 0;
    for (int i = 0; i < TRIES && valid < WANTED; i++) {
        bool ok = false, one = false;
        if (try_eviction(a, group, others, count, i % 3, &ok, &one, err) != 0)
            return err->code;
        valid += ok;
        evicted += ok && one;
        /* A foreign line always puts one out: a single "no" decides. */
        if (ok && !one)
            break;
    }
    if (valid == 0)
        return error_set(err, ERR_UNSUPPORTED,
                         "a group of %" PRIu64 " lines would not stay",
                         group->count);
    *yes = evicted == valid;
    return 0;
}

/* ---- random loads ----------------------------------------------------- */

int arena_draw(struct arena *a, const struct segment *list, size_t visits,
               unsigned take, struct policy_load **loads, size_t *count,
               struct error *err)
{
    struct samples s;
    struct buf steps = {0};
    char draws[32];
    double base;
    if (find_base(a, list, &base, err) != 0)
        return err->code;
    if (a->lasting) {
        /* Others of the set push out what it held of the list. */
        const struct segment before = {list->start + list->count * list->step,
                                       2 * list->count, list->step};
        put_laps(&steps, 2, a->filler.count > 0 ? "!" : "", &before);
    }
    const size_t skip = a->lasting && a->filler.count > 0 ? 4 * list->count : 0;
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
    doubt_misses(own, cycles + skip, s.rows - skip);
    *count += s.rows - skip;
    free(cycles);
    samples_free(&s);
    return 0;
}
