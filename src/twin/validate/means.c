/*
 * What loads cost, measured anew: over other lines than the studies took, at
 * other distances, in another order.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hits.h"
#include "analysis/statistics/otsu.h"
#include "analysis/statistics/stats.h"
#include "analysis/statistics/undisturbed.h"
#include "base/mem.h"
#include "base/num.h"
#include "probe/walk/ring.h"
#include "twin/validate/cost.h"

static const struct level levels[] = {
    {"l1", "space=global op=ca", NULL, 4 << 20, 8},
    {"texture", "space=texture", NULL, 4 << 20, 8},
    {"readonly", "space=readonly", NULL, 4 << 20, 8},
    {"local", "space=local", NULL, 512 << 10, 128},
    {"const_l1", "space=constant", NULL, 64 << 10, 8},
    {"const_l15", "space=constant", "const_l1", 64 << 10, 8},
    {"l2", "space=global op=cg", NULL, 4 << 20, 8},
};

/* A few lines at an odd distance, of so many lines at least, which a cache may
 * fail to hold if it has as many sets. */
static char *few_lines(struct trying *t, const struct level *l, uint64_t least)
{
    const uint64_t line = u64_max(
        (uint64_t)told_number(&t->told, l->component, "line"), l->apart);
    const uint64_t stride = line * (least + 2 * rng_below(&t->rng, 3));
    uint64_t count = 3 + rng_below(&t->rng, 2);
    /* What stands in front holds none of them: each is in a line of its own
     * there, and they are twice as many as it has, since its sets may be
     * unlike. */
    if (l->front != NULL) {
        const uint64_t of_front =
            (uint64_t)told_number(&t->told, l->front, "line");
        const double before = told_number(&t->told, l->front, "size");
        const double size = told_number(&t->told, l->component, "size");
        const uint64_t apart = u64_max(line, of_front);
        count = (uint64_t)(fmin(size, (double)l->most) * 0.6 / (double)apart);
        return (double)(count * of_front) < 2 * before || count < 24 ||
                       apart == l->apart
                   ? NULL
                   : xasprintf("chase %s bytes=%" PRIu64 " stride=%" PRIu64
                               " warm=4 visits=%u repeats=49",
                               l->load, count * apart, apart,
                               cost_walk_visits(t));
    }
    return xasprintf("chase %s bytes=%" PRIu64 " stride=%" PRIu64
                     " warm=3 visits=%u repeats=49",
                     l->load, count * stride, stride, cost_walk_visits(t));
}

/* Of L2 hundreds of lines in a random order: what is said of it is a mean over
 * slices, which lie at different distances. */
enum { LINES_LEAST = 64 };

static char *many_lines(struct trying *t, const struct level *l, uint64_t most)
{
    enum { VISITS = 512, QUARTER = 4 };
    const uint64_t line = (uint64_t)told_number(&t->told, l->component, "line");
    const uint64_t apart = u64_max(line, l->apart);
    const double size = told_number(&t->told, l->component, "size") /
                        fmax(1, told_number(&t->told, l->component, "parts"));
    const uint64_t room = u64_min((uint64_t)size / QUARTER, l->most / 2);
    const uint64_t drawn = apart * (1 + 2 * rng_below(&t->rng, 3));
    const uint64_t stride = room / drawn < LINES_LEAST ? apart : drawn;
    const uint64_t bytes = u64_min(room / stride, most) * stride;
    return bytes / stride < LINES_LEAST
               ? NULL
               : xasprintf("chase %s bytes=%" PRIu64 " stride=%" PRIu64
                           " order=random window=65536 warm=2 visits=%" PRIu64
                           " repeats=9",
                           l->load, bytes, stride,
                           u64_min(bytes / stride, VISITS));
}

/* Of a ring half as many lines again as fit are too many for each set where the
 * oldest go; other victims, or such as nobody knows, leave some lines of it. */
static double overfills(struct trying *t, const struct level *l)
{
    return trying_oldest_goes(t, l->component) ? 1.3 : 4;
}

static char *ring_of(const struct level *l, double lines, double stride)
{
    return xasprintf("chase %s bytes=%.0f stride=%.0f warm=2 visits=512 "
                     "repeats=13",
                     l->load, floor(lines) * stride, stride);
}

/* Lines of five times what the cache holds, which the next one holds. */
static char *too_many(struct trying *t, const struct level *l)
{
    const double size = told_number(&t->told, l->component, "size");
    const double line = told_number(&t->told, l->component, "line");
    const double stride = fmax(line, (double)l->apart);
    const double below =
        strcmp(l->component, "const_l1") == 0
            ? told_number(&t->told, "const_l15", "size")
            : told_number(&t->told, "l2", "size") /
                  fmax(1, told_number(&t->told, "l2", "parts"));
    if (size == 0 || line == 0)
        return NULL;
    /* Of 64 KiB of constants as many as there are. */
    const double lines = fmin(fmin(5 * size / line, (double)l->most / stride),
                              0.8 * below / stride);
    return lines * line < overfills(t, l) * size ? NULL
                                                 : ring_of(l, lines, stride);
}

/* The share of a ring's loads that miss by the findings; 0: it is not known, or
 * too few do for these to tell what a miss costs. */
static double share_of_misses(struct trying *t, const struct level *l,
                              const char *near, const char *far)
{
    static const double least = 0.5;
    const double penalty = told_number(&t->told, l->component, "miss_penalty");
    struct cost hit = {0}, mean = {0};
    struct twin twin;
    if (penalty == 0 || !twin_open(t, &twin))
        return 0;
    const bool known = cost_on(t, twin.prober, near, &hit) == 0 &&
                       cost_on(t, twin.prober, far, &mean) == 0;
    twin_close(&twin);
    if (!known)
        *t->err = (struct error){0};
    const double share = (mean.cycles - hit.cycles) / penalty;
    return known && share >= least ? share : 0;
}

/* As many lines as local memory has, where its cache holds half of them and its
 * policy keeps some: by the share that the policy does not. */
static int try_some_misses(struct trying *t, const struct level *l,
                           const char *near, struct cost hit)
{
    const struct finding *const policy = trying_sure(t, l->component, "policy");
    const double stride =
        fmax(told_number(&t->told, l->component, "line"), (double)l->apart);
    struct cost mean = {0};
    if (policy == NULL || strcmp(l->load, "space=local") != 0)
        return 0;
    char *const far = ring_of(l, (double)l->most / stride, stride);
    const double share = share_of_misses(t, l, near, far);
    int status = 0;
    if (share > 0)
        status = cost_of(t, far, &mean);
    if (status == 0 && mean.cycles > 0) {
        const struct cost more = cost_less(mean, hit);
        cost_judge(t, l->component, "miss_penalty",
                   (struct cost){more.cycles / share, more.late / share,
                                 more.early / share, more.open / share,
                                 more.step / share},
                   far);
    }
    free(far);
    return status;
}

/* Where a module's constants are too few for that, or its victims leave some of
 * as many: such as find it empty, once L2 has them. */
static int try_cold_constants(struct trying *t, const struct level *l,
                              struct cost hit)
{
    enum { LOADS = 160, APART = 256 };
    const double overhead = told_number(&t->told, "clock", "trace_overhead");
    const double size = told_number(&t->told, l->component, "size");
    if (strcmp(l->component, "const_l15") != 0 || size == 0 || overhead == 0)
        return 0;
    struct cost cost = {0};
    char *const text = xasprintf("trace %s bytes=%d stride=%d warm=0 visits=%d",
                                 l->load, LOADS * APART, APART, LOADS);
    int status = cost_of(t, text, &cost);
    if (status == 0)
        status = cost_of(t, text, &cost);
    if (status == 0 && cost.cycles > 0) {
        cost.cycles -= overhead;
        cost_judge(t, l->component, "miss_penalty", cost_less(cost, hit), text);
    }
    free(text);
    return status;
}

/* Where global loads are not cached, L1 is what local ones show of it. */
static struct level shown(struct trying *t, const struct level *row)
{
    struct level as = *row;
    if (strcmp(row->component, "l1") == 0 && !trying_l1_is_global(t)) {
        as.load = "space=local";
        as.most = 512 << 10;
        as.apart = 128;
    }
    return as;
}

/* Lines that fit, by what they are hoped to: by its index a quarter of an L2 in
 * a row may come to few of its sets, and a few lines at a distance to one.
 * Where they cost more than was told others may fit, and cost less. */
static int cost_of_hits(struct trying *t, const struct level *l, char **near,
                        struct cost *hit)
{
    enum { APART = 3, OTHERS_APART = 11 };
    const bool is_l2 = strcmp(l->component, "l2") == 0;
    const double told = told_number(&t->told, l->component, "latency");
    struct cost few = {0};
    *near = is_l2 ? many_lines(t, l, UINT64_MAX) : few_lines(t, l, APART);
    if (*near == NULL || told == 0)
        return 0;
    int status = cost_of(t, *near, hit);
    if (status != 0 || hit->cycles <= (1 + MEAN_TOLERANCE) * told)
        return status;
    char *other =
        is_l2 ? many_lines(t, l, LINES_LEAST) : few_lines(t, l, OTHERS_APART);
    status = other != NULL ? cost_of(t, other, &few) : 0;
    if (status == 0 && few.cycles > 0 && few.cycles < hit->cycles) {
        char *const dearer = *near;
        *near = other;
        other = dearer;
        *hit = few;
    }
    free(other);
    return status;
}

static int try_level(struct trying *t, const struct level *row)
{
    const struct level of = shown(t, row), *const l = &of;
    struct cost hit = {0}, miss = {0};
    char *near = NULL;
    char *const far = strcmp(l->component, "l2") != 0 ? too_many(t, l) : NULL;
    int status = cost_of_hits(t, l, &near, &hit);
    if (status == 0 && hit.cycles > 0)
        cost_judge(t, l->component, "latency", hit, near);
    if (status == 0 && hit.cycles > 0 && far != NULL)
        status = cost_of(t, far, &miss);
    if (status == 0 && miss.cycles > 0)
        cost_judge(t, l->component, "miss_penalty", cost_less(miss, hit), far);
    if (status == 0 && hit.cycles > 0 && far == NULL)
        status = try_cold_constants(t, l, hit);
    if (status == 0 && hit.cycles > 0 && far == NULL)
        status = try_some_misses(t, l, near, hit);
    free(near);
    free(far);
    return status != 0 && trying_excused(t) ? 0 : status;
}

/* What loads from `from` cycles to less than `to` cost on average, which may
 * wait for refreshes of memory: what others add to each load may be more or
 * less of it.  No cycles: there are none. */
static struct cost cost_with_waits(const struct trying *t, const double *at,
                                   size_t count, double from, double to)
{
    double *const some = xreallocarray(NULL, count + 1, sizeof *some);
    size_t near = 0;
    struct cost cost = {0};
    for (size_t i = 0; i < count; i++)
        if (at[i] >= from && at[i] < to)
            some[near++] = at[i];
    if (near > 0) {
        const double mean = stats_mean(some, near),
                     late = mean - undisturbed_of(some, near, 1).cycles;
        const double others = fmin(fmax(late, 0), 2 * t->disturbance);
        cost = (struct cost){.cycles = mean,
                             .late = others,
                             .early = others,
                             .open = undisturbed_t(near) *
                                     stats_mean_error(some, near),
                             .step = COST_STEP};
    }
    free(some);
    return cost;
}

/* Loads of which half find the nearer side of L2 and half the farther one, but
 * for those that wait longer than for any refresh. */
static struct cost cost_of_sides(const struct trying *t, const double *at,
                                 size_t count)
{
    struct otsu split = {.clear = false};
    if (count == 0)
        return (struct cost){0};
    otsu_find(at, count, &split);
    const double most = stats_median(at, count) + HITS_WAIT_MOST;
    const double between = split.clear ? split.threshold : 0;
    const struct cost far = cost_with_waits(t, at, count, between, most);
    const struct cost by =
        split.clear ? cost_with_waits(t, at, count, 0, between) : far;
    return (struct cost){(by.cycles + far.cycles) / 2, (by.late + far.late) / 2,
                         (by.early + far.early) / 2,
                         hypot(by.open, far.open) / 2, COST_STEP};
}

/* Loads but for those that lead into a page, and what these brought in. */
static double *led_loads(const struct samples *s, size_t *count)
{
    const size_t offset = samples_column(s, "offset");
    double *const at = cost_column(s, "cycles");
    int64_t lead = -1;
    *count = 0;
    for (size_t i = 0; i < s->rows; i++) {
        const int64_t where = samples_at(s, i, offset);
        lead = (where & RING_LEAD_OFFSET) != 0 ? where : lead;
        if ((where | RING_LEAD_OFFSET) != lead)
            at[(*count)++] = at[i];
    }
    return at;
}

/* Lines of all pages, in an order in which each finds its translation: behind
 * an L2 in parts a miss costs what both sides do on average.  Less than `least`
 * cost those that hit, since sweeps may come to other sets; none is told where
 * most do. */
static int cost_of_memory(struct trying *t, const char *text, bool sides,
                          double least, struct cost *cost)
{
    struct samples s = {0};
    const int status = prober_run(t->device, text, &s, NULL, t->err);
    if (status == 0) {
        size_t count = s.rows, missing = 0;
        double *const at =
            sides ? led_loads(&s, &count) : cost_column(&s, "cycles");
        for (size_t i = 0; i < count; i++)
            if (at[i] > least)
                at[missing++] = at[i];
        if (2 * missing > count)
            *cost = sides ? cost_of_sides(t, at, missing)
                          : cost_of_singles(t, at, missing);
        free(at);
    }
    samples_free(&s);
    return status;
}

/* Where what was hit stays longest, as under RRIP, lines of earlier experiments
 * are gone after a sweep of twelve L2s; of a large one of less. */
static double flush_of(double size)
{
    static const double most = 256 << 20;
    return fmax(fmin(12 * size, most), 2 * size);
}

static char *cold_lines(struct trying *t, double size, bool sides)
{
    enum { MIB = 1 << 20, BYTES = 4 * MIB, LINES = 600, BEYOND = 36 * MIB };
    const uint64_t drawn = rng_below(&t->rng, 20);
    return sides ? xasprintf("trace op=cg bytes=%d order=random window=65536 "
                             "sample=%" PRIu64 " lead=65536 shift=%" PRIu64
                             " flush=%.0f warm=0",
                             BYTES, LINES + 5 * drawn, BEYOND + drawn * MIB,
                             4 * size)
                 : xasprintf("trace op=cg bytes=%" PRIu64
                             " stride=%d flush=%.0f warm=0",
                             (40 + drawn) * 384, 384, flush_of(size));
}

/* Between what hits cost and what misses do.  Behind an L2 in parts there is no
 * such: misses of the nearer side cost little more than hits of the farther one
 * do (on an H200 480 to 600 cycles, and 455), and a mean of the dearer of them
 * would be one of other loads. */
static double hits_at_most(struct trying *t, double hit, bool sides)
{
    return sides ? fmax(hit, told_number(&t->told, "l2", "far_latency"))
                 : hit + told_number(&t->told, "l2", "miss_penalty") / 3;
}

/* Lines of L2 that were swept out. */
static int try_memory(struct trying *t)
{
    const double size = fmax(told_number(&t->told, "l2", "size"),
                             told_number(&t->told, "l2", "size_reported"));
    const double overhead = told_number(&t->told, "clock", "trace_overhead");
    const double hit = told_number(&t->told, "l2", "latency");
    const bool sides = told_number(&t->told, "l2", "parts") > 1;
    struct cost cost = {0};
    if (size == 0 || told_number(&t->told, "memory", "latency") == 0)
        return 0;
    char *const text = cold_lines(t, size, sides);
    const double least = overhead + hits_at_most(t, hit, sides);
    const int status = cost_of_memory(t, text, sides, least, &cost);
    if (status == 0 && cost.cycles > 0) {
        cost.cycles -= overhead;
        cost_judge(t, "memory", "latency", cost, text);
        cost.cycles -= hit;
        cost_judge(t, "l2", "miss_penalty", cost, text);
    }
    free(text);
    return status != 0 && trying_excused(t) ? 0 : status;
}

static int try_shared(struct trying *t)
{
    enum { STRIDE = 132 };
    struct cost cost = {0};
    char *const text = xasprintf(
        "chase space=shared bytes=%d stride=%d visits=%u repeats=49",
        STRIDE * (int)(4 + rng_below(&t->rng, 5)), STRIDE, cost_walk_visits(t));
    if (told_number(&t->told, "shared", "latency") == 0) {
        free(text);
        return 0;
    }
    const int status = cost_of(t, text, &cost);
    if (status == 0)
        cost_judge(t, "shared", "latency", cost, text);
    free(text);
    return status != 0 && trying_excused(t) ? 0 : status;
}

bool trying_level(struct trying *t, const char *component, struct level *level)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (strcmp(levels[i].component, component) == 0) {
            *level = shown(t, &levels[i]);
            return true;
        }
    return false;
}

int try_means(struct trying *t)
{
    int status = cost_see_disturbance(t);
    for (size_t i = 0;
         status == 0 && !trying_late(t) && i < sizeof levels / sizeof *levels;
         i++)
        status = try_level(t, &levels[i]);
    if (status == 0 && !trying_late(t))
        status = try_memory(t);
    if (status == 0 && !trying_late(t))
        status = try_shared(t);
    for (unsigned level = 1; status == 0 && !trying_late(t) && level <= 3;
         level++)
        status = try_pages(t, level);
    return status;
}
