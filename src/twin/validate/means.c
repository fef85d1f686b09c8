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
#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "probe/walk/ring.h"
#include "twin/validate/trying.h"

/* A mean is foretold that is within 5 %, or within a cycle, or within what the
 * finding itself leaves open. */
#define MEAN_TOLERANCE 0.05

/* Of more late loads a walk less than a quarter hold none: ln 4 is 1.4. */
#define LATE_LOADS_MOST 1.2

static const struct level levels[] = {
    {"l1", "space=global op=ca", NULL, 4 << 20, 8},
    {"texture", "space=texture", NULL, 4 << 20, 8},
    {"readonly", "space=readonly", NULL, 4 << 20, 8},
    {"local", "space=local", NULL, 512 << 10, 128},
    {"const_l1", "space=constant", NULL, 64 << 10, 8},
    {"const_l15", "space=constant", "const_l1", 64 << 10, 8},
    {"l2", "space=global op=cg", NULL, 4 << 20, 8},
};

static double *column_of(const struct samples *s, const char *name)
{
    const size_t column = samples_column(s, name);
    double *const at = xreallocarray(NULL, s->rows + 1, sizeof *at);
    for (size_t i = 0; i < s->rows; i++)
        at[i] = (double)samples_at(s, i, column);
    return at;
}

/* What a load costs, what late loads may have added to that, or taken from it
 * where they were of what is subtracted, by how much more or less it may be,
 * since these loads cost no two alike, and what the clock's steps leave open: a
 * cycle of single loads, half of one of a walk, whose ends are 64 loads apart
 * or more. */
struct cost {
    double cycles, late, early, open, step;
};
enum { STEP = 1 };
#define STEP_OF_WALK 0.5

/* Single loads: few of them are late, and these are left out. */
static struct cost cost_of_singles(const struct trying *t, const double *at,
                                   size_t count)
{
    static const double few = 0.1;
    if (count == 0)
        return (struct cost){0};
    const struct undisturbed u = undisturbed_of(at, count, 1);
    const double most = 2 * t->disturbance;
    const double late =
        u.disturbed < few ? fmin((u.high - u.low) / 2, most) : most;
    return (struct cost){.cycles = u.cycles,
                         .late = late,
                         .early = late,
                         .open = u.kept > 1 ? (u.high - u.low) / 2 : 0,
                         .step = STEP};
}

static struct cost cost_of_loads(const struct trying *t,
                                 const struct samples *s)
{
    double *const at = column_of(s, "cycles");
    const struct cost cost = cost_of_singles(t, at, s->rows);
    free(at);
    return cost;
}

/* A walk that is timed in whole: the lower quartile of its repetitions, and by
 * how much that is above the least of them but for one in twenty.  Where one
 * load in 150 is late, most walks of 128 have such a one, but not three of
 * four; and if the quartile has, the least have none. */
static struct cost cost_of_walk(const struct samples *s, const char *name)
{
    double *const at = column_of(s, name);
    const double low = stats_quantile(at, s->rows, 0.25);
    const double late = low - stats_quantile(at, s->rows, 0.05);
    free(at);
    return (struct cost){.cycles = low, .late = late};
}

/* The long walk less the short one, by what it has more.  Late loads come by
 * chance: twice as many may here and none there; but where a quarter of the
 * walks have none, no more than by how much these differ. */
static struct cost cost_of_chase(const struct trying *t,
                                 const struct samples *s)
{
    if (s->rows == 0)
        return (struct cost){0};
    const double visits = (double)samples_at(s, 0, samples_column(s, "visits"));
    const struct cost brief = cost_of_walk(s, "short"),
                      whole = cost_of_walk(s, "long");
    const double apart = 2 * (whole.late + brief.late) / visits;
    const double most = 2 * t->disturbance;
    return (struct cost){.cycles = (whole.cycles - brief.cycles) / visits,
                         .late = t->late_share * visits < LATE_LOADS_MOST
                                     ? fmin(apart, most)
                                     : most,
                         .early = fmin(2 * brief.late / visits, most),
                         .step = STEP_OF_WALK};
}

/* Loads of a short walk: the longer it is, the less of its jitter is a load's;
 * but a quarter of the walks must hold no late load. */
static unsigned walk_visits(const struct trying *t)
{
    unsigned visits = 256;
    while (visits > 64 && t->late_share * visits >= LATE_LOADS_MOST)
        visits /= 2;
    return visits;
}

/* A chase repeats itself, a trace has many loads; a visit is run so often. */
enum { VISIT_RUNS = 9 };

static int run_all(struct trying *t, struct prober *prober, const char *text,
                   int runs, struct samples *all)
{
    int status = 0;
    for (int run = 0; status == 0 && run < runs; run++) {
        struct samples s = {0};
        status = prober_run(prober, text, &s, NULL, t->err);
        if (status == 0 && run == 0)
            *all = s;
        else if (status == 0)
            samples_append(all, all->rows, &s);
        if (run > 0 || status != 0)
            samples_free(&s);
    }
    return status;
}

static int cost_on(struct trying *t, struct prober *prober, const char *text,
                   struct cost *cost)
{
    const bool chase = strncmp(text, "chase", strlen("chase")) == 0;
    const bool visit = strncmp(text, "visit", strlen("visit")) == 0;
    struct samples all = {0};
    const int status = run_all(t, prober, text, visit ? VISIT_RUNS : 1, &all);
    if (status == 0)
        *cost = chase ? cost_of_chase(t, &all) : cost_of_loads(t, &all);
    samples_free(&all);
    return status;
}

static int cost_of(struct trying *t, const char *text, struct cost *cost)
{
    return cost_on(t, t->device, text, cost);
}

/* What disturbs adds that to a load: singles tell it, and walks hold it. */
static int see_disturbance(struct trying *t)
{
    struct samples s = {0};
    const int status = prober_run(
        t->device, "trace op=cg bytes=512 stride=128 warm=4 visits=512", &s,
        NULL, t->err);
    if (status == 0) {
        double *const at = column_of(&s, "cycles");
        const struct undisturbed u = undisturbed_of(at, s.rows, 1);
        t->disturbance = s.rows > 0 ? fmax(0, u.excess) : 0;
        t->late_share = s.rows > 0 ? u.disturbed : 0;
        free(at);
    }
    samples_free(&s);
    return status != 0 && trying_excused(t) ? 0 : status;
}

static double open_of(const struct finding *f)
{
    return f->has_interval ? (f->interval[1] - f->interval[0]) / 2 : 0;
}

/* Compares the finding with what was measured; one that is off is taken to be
 * that from then on.  What late loads may explain tells nothing, nor does what
 * the experiment leaves open: another line waits longer than that one. */
static void judge(struct trying *t, const char *component,
                  const char *attribute, struct cost cost, const char *text)
{
    struct finding *const f = trying_find(t, component, attribute);
    if (f == NULL || f->value.kind != VALUE_NUMBER ||
        (f->status != STATUS_MEASURED && f->status != STATUS_DERIVED))
        return;
    const double measured = cost.cycles;
    const double off = fabs(measured - f->value.number);
    const double alike =
        fmax(fmax(cost.step, open_of(f)), MEAN_TOLERANCE * f->value.number);
    const bool right = off <= alike;
    const double by_late = measured > f->value.number ? cost.late : cost.early;
    if (!right && off <= alike + by_late + cost.open)
        return;
    trying_note(t, component, attribute, right ? 1 : 0, text);
    t->verdict.means++;
    t->verdict.means_right += right;
    if (right)
        return;
    char *const because = xasprintf(
        "a held-out experiment gives %.4g %s where %.4g was foretold: %s",
        measured, f->unit, f->value.number, text);
    trying_repair(t, f, value_number(measured), because);
    free(because);
}

static struct cost less(struct cost a, struct cost b)
{
    return (struct cost){a.cycles - b.cycles, a.late + b.early,
                         a.early + b.late, hypot(a.open, b.open),
                         fmax(a.step, b.step)};
}

/* A few lines at an odd distance, which no cache fails to hold. */
static char *few_lines(struct trying *t, const struct level *l)
{
    const uint64_t line = u64_max(
        (uint64_t)told_number(&t->told, l->component, "line"), l->apart);
    const uint64_t stride = line * (3 + 2 * rng_below(&t->rng, 3));
    uint64_t count = 3 + rng_below(&t->rng, 2);
    /* What stands in front holds none of them, each in a line of its own there.
     */
    if (l->front != NULL) {
        const double before = told_number(&t->told, l->front, "size");
        const double size = told_number(&t->told, l->component, "size");
        const uint64_t apart =
            u64_max(line, (uint64_t)told_number(&t->told, l->front, "line"));
        count = (uint64_t)(fmin(size, (double)l->most) * 0.6 / (double)apart);
        return size < 4 * before || count < 24 || apart == l->apart
                   ? NULL
                   : xasprintf("chase %s bytes=%" PRIu64 " stride=%" PRIu64
                               " warm=4 visits=%u repeats=49",
                               l->load, count * apart, apart, walk_visits(t));
    }
    return xasprintf("chase %s bytes=%" PRIu64 " stride=%" PRIu64
                     " warm=3 visits=%u repeats=49",
                     l->load, count * stride, stride, walk_visits(t));
}

/* Of L2 hundreds of lines in a random order: what is said of it is a mean over
 * slices, which lie at different distances. */
static char *many_lines(struct trying *t, const struct level *l)
{
    enum { LINES_LEAST = 64, VISITS = 512, QUARTER = 4 };
    const uint64_t line = (uint64_t)told_number(&t->told, l->component, "line");
    const uint64_t stride =
        u64_max(line, l->apart) * (1 + 2 * rng_below(&t->rng, 3));
    const double size = told_number(&t->told, l->component, "size") /
                        fmax(1, told_number(&t->told, l->component, "parts"));
    const uint64_t bytes =
        u64_min((uint64_t)size / QUARTER, l->most / 2) / stride * stride;
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
    const char *const policy = told_word(&t->told, l->component, "policy");
    const bool oldest = policy != NULL && (strcmp(policy, "lru") == 0 ||
                                           strcmp(policy, "fifo") == 0);
    return oldest ? 1.3 : 4;
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
        const struct cost more = less(mean, hit);
        judge(t, l->component, "miss_penalty",
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
        judge(t, l->component, "miss_penalty", less(cost, hit), text);
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

static int try_level(struct trying *t, const struct level *row)
{
    const struct level of = shown(t, row), *const l = &of;
    struct cost hit = {0}, miss = {0};
    const bool is_l2 = strcmp(l->component, "l2") == 0;
    char *const near = is_l2 ? many_lines(t, l) : few_lines(t, l);
    char *const far = is_l2 ? NULL : too_many(t, l);
    const bool known = told_number(&t->told, l->component, "latency") > 0;
    int status = near != NULL && known ? cost_of(t, near, &hit) : 0;
    if (status == 0 && hit.cycles > 0)
        judge(t, l->component, "latency", hit, near);
    if (status == 0 && hit.cycles > 0 && far != NULL)
        status = cost_of(t, far, &miss);
    if (status == 0 && miss.cycles > 0)
        judge(t, l->component, "miss_penalty", less(miss, hit), far);
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
                             .step = STEP};
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
                         hypot(by.open, far.open) / 2, STEP};
}

/* Loads but for those that lead into a page, and what these brought in. */
static double *led_loads(const struct samples *s, size_t *count)
{
    const size_t offset = samples_column(s, "offset");
    double *const at = column_of(s, "cycles");
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
 * an L2 in parts a miss costs what both sides do on average. */
static int cost_of_memory(struct trying *t, const char *text, bool sides,
                          struct cost *cost)
{
    struct samples s = {0};
    if (!sides)
        return cost_of(t, text, cost);
    const int status = prober_run(t->device, text, &s, NULL, t->err);
    if (status == 0) {
        size_t count;
        double *const at = led_loads(&s, &count);
        *cost = cost_of_sides(t, at, count);
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
    const int status = cost_of_memory(t, text, sides, &cost);
    cost.cycles -= overhead;
    /* Lines that hit were not swept out: what sweeps may come to other sets. */
    if (status == 0 &&
        cost.cycles > hit + told_number(&t->told, "l2", "miss_penalty") / 4) {
        judge(t, "memory", "latency", cost, text);
        cost.cycles -= hit;
        judge(t, "l2", "miss_penalty", cost, text);
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
        STRIDE * (int)(4 + rng_below(&t->rng, 5)), STRIDE, walk_visits(t));
    if (told_number(&t->told, "shared", "latency") == 0) {
        free(text);
        return 0;
    }
    const int status = cost_of(t, text, &cost);
    if (status == 0)
        judge(t, "shared", "latency", cost, text);
    free(text);
    return status != 0 && trying_excused(t) ? 0 : status;
}

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
    double *const cycles = column_of(s, "cycles");
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
    int status = run_all(t, t->device, held, VISIT_RUNS, &near);
    if (status == 0)
        status = run_all(t, t->device, lost, VISIT_RUNS, &far);
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
    char front[8];
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
    char next[8];
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
        judge(t, name, "miss_penalty", cost, lost);
    free(held);
    free(lost);
    return status != 0 && trying_excused(t) ? 0 : status;
}

/* Places of a penalty lie by what an entry covers: that is asked before, if
 * more than means is. */
static int try_tlb(struct trying *t, unsigned level)
{
    enum { HIDDEN = 3 }; /* the second one holds too much to ask of others */
    char name[8], front[8];
    snprintf(name, sizeof name, "tlb_l%u", level);
    snprintf(front, sizeof front, "tlb_l%u", level - 1);
    const int status = t->means_only || level == HIDDEN
                           ? 0
                           : try_region(t, name, level > 1 ? front : NULL);
    return status == 0 ? try_penalty(t, level, name) : status;
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
    int status = see_disturbance(t);
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
        status = try_tlb(t, level);
    return status;
}
