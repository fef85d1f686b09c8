#include "twin/validate/cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "analysis/statistics/undisturbed.h"
#include "base/mem.h"

/* Of more late loads a walk less than a quarter hold none: ln 4 is 1.4.  The
 * long walk is twice as long as the short one. */
#define LATE_LOADS_MOST 1.2
static bool has_walks_in_time(const struct trying *t, double visits)
{
    return t->late_share * 2 * visits < LATE_LOADS_MOST;
}

/* What the clock's steps leave of a mean over a walk. */
#define STEP_OF_WALK 0.5

double *cost_column(const struct samples *s, const char *name)
{
    const size_t column = samples_column(s, name);
    double *const at = xreallocarray(NULL, s->rows + 1, sizeof *at);
    for (size_t i = 0; i < s->rows; i++)
        at[i] = (double)samples_at(s, i, column);
    return at;
}

/* Single loads: few of them are late, and these are left out. */
struct cost cost_of_singles(const struct trying *t, const double *at,
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
                         .step = COST_STEP};
}

static struct cost cost_of_loads(const struct trying *t,
                                 const struct samples *s)
{
    double *const at = cost_column(s, "cycles");
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
    double *const at = cost_column(s, name);
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
    return (struct cost){
        .cycles = (whole.cycles - brief.cycles) / visits,
        .late = has_walks_in_time(t, visits) ? fmin(apart, most) : most,
        .early = fmin(2 * brief.late / visits, most),
        .step = STEP_OF_WALK};
}

unsigned cost_walk_visits(const struct trying *t)
{
    unsigned visits = 256;
    while (visits > 64 && !has_walks_in_time(t, visits))
        visits /= 2;
    return visits;
}

int cost_run(struct trying *t, struct prober *prober, const char *text,
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

int cost_on(struct trying *t, struct prober *prober, const char *text,
            struct cost *cost)
{
    const bool chase = strncmp(text, "chase", strlen("chase")) == 0;
    const bool visit = strncmp(text, "visit", strlen("visit")) == 0;
    struct samples all = {0};
    const int status =
        cost_run(t, prober, text, visit ? COST_VISIT_RUNS : 1, &all);
    if (status == 0)
        *cost = chase ? cost_of_chase(t, &all) : cost_of_loads(t, &all);
    samples_free(&all);
    return status;
}

int cost_of(struct trying *t, const char *text, struct cost *cost)
{
    return cost_on(t, t->device, text, cost);
}

/* Of one load in 500 that is late two thousand tell the share to a half. */
int cost_see_disturbance(struct trying *t)
{
    struct samples s = {0};
    const int status = prober_run(
        t->device, "trace op=cg bytes=512 stride=128 warm=4 visits=2048", &s,
        NULL, t->err);
    if (status == 0) {
        double *const at = cost_column(&s, "cycles");
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

void cost_judge(struct trying *t, const char *component, const char *attribute,
                struct cost cost, const char *text)
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

struct cost cost_less(struct cost a, struct cost b)
{
    return (struct cost){a.cycles - b.cycles, a.late + b.early,
                         a.early + b.late, hypot(a.open, b.open),
                         fmax(a.step, b.step)};
}
