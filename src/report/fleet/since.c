/*
 * What has changed since another set of reports, GPU by GPU.
 *
 * Structure has changed where it is another.  A number has changed where it has
 * moved further than the numbers of the other GPUs have (the same statistics as
 * of the numbers themselves), further than both intervals and the tolerance;
 * and what has moved of all GPUs is told of the model.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/crowd.h"
#include "base/mem.h"
#include "report/fleet/column.h"
#include "report/fleet/fleet.h"

struct comparing {
    struct fleet *fleet;
    const struct fleet_gpu **before; /* of each GPU now; NULL: it is new */
};

static void add_change(struct fleet *f, struct fleet_change change)
{
    if ((f->change_count & (f->change_count - 1)) == 0)
        f->changes = xreallocarray(f->changes, 2 * f->change_count + 1,
                                   sizeof *f->changes);
    f->changes[f->change_count++] = change;
}

/* A number or words of both sets, side by side. */
struct pair {
    const struct cell *now;
    const struct fleet_value *before;
    double moved; /* as a share */
};

/* Those GPUs that have both; the caller frees. */
static struct pair *pairs_of(const struct comparing *c,
                             const struct column *now, size_t *count)
{
    struct pair *const pairs = xcalloc(now->count + 1, sizeof *pairs);
    for (size_t i = 0; i < now->count; i++) {
        const struct cell *const cell = &now->cells[i];
        const struct fleet_gpu *const before = c->before[cell->gpu];
        const struct fleet_value *const v =
            before != NULL ? fleet_value_of(before, now->number) : NULL;
        if (v == NULL || v->half <= FLEET_UNKNOWN)
            continue;
        const double moved = cell->number - v->number;
        pairs[(*count)++] = (struct pair){
            cell, v, fabs(v->number) > 0 ? moved / fabs(v->number) : moved};
    }
    return pairs;
}

static struct fleet_change change_of(const struct comparing *c,
                                     const struct column *column,
                                     const struct pair *p)
{
    return (struct fleet_change){.gpu = p->now->gpu,
                                 .model = c->fleet->now.gpus[p->now->gpu].model,
                                 .column = column->number,
                                 .words = p->now->words,
                                 .before = p->before->number,
                                 .now = p->now->number,
                                 .share = p->moved};
}

static void compare_structure(const struct comparing *c,
                              const struct column *column,
                              const struct pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct pair *const p = &pairs[i];
        const bool words = p->before->half < 0;
        struct fleet_change change = change_of(c, column, p);
        change.structure = true;
        if (words != p->now->words ||
            fabs(p->now->number - p->before->number) > p->now->half)
            add_change(c->fleet, change);
    }
}

/* What all have moved by. */
static void compare_model(const struct comparing *c,
                          const struct column *column, const struct pair *first,
                          const struct crowd *crowd)
{
    struct fleet_change change = change_of(c, column, first);
    if (!(fabs(crowd->centre) > c->fleet->wish.tolerance))
        return;
    change.gpu = SIZE_MAX;
    change.before = change.now = NAN;
    change.share = crowd->centre;
    add_change(c->fleet, change);
}

/* Intervals of both as a share. */
static double intervals_of(const struct pair *p)
{
    const double base = fabs(p->before->number);
    return base > 0 ? (p->now->half + p->before->half) / base : 0;
}

enum { CROWD_LEAST = 3 };

static void compare_quantity(const struct comparing *c,
                             const struct column *column,
                             const struct pair *pairs, size_t count)
{
    double *const moved = xcalloc(count, sizeof *moved);
    for (size_t i = 0; i < count; i++)
        moved[i] = pairs[i].moved;
    struct crowd crowd = crowd_of(moved, count, c->fleet->chance);
    free(moved);
    if (count < CROWD_LEAST) /* nothing else to go by than the intervals */
        crowd = (struct crowd){0, 0, 0};
    else
        compare_model(c, column, &pairs[0], &crowd);
    for (size_t i = 0; i < count; i++) {
        const double far = fabs(pairs[i].moved - crowd.centre);
        if (far > crowd.limit && far > intervals_of(&pairs[i]) &&
            far > c->fleet->wish.tolerance)
            add_change(c->fleet, change_of(c, column, &pairs[i]));
    }
}

static void compare_column(void *context, const struct column *column)
{
    const struct comparing *const c = context;
    size_t count = 0;
    struct pair *const pairs = pairs_of(c, column, &count);
    if (count > 0 && column_is_structure(c->fleet, column))
        compare_structure(c, column, pairs, count);
    else if (count > 0)
        compare_quantity(c, column, pairs, count);
    free(pairs);
}

/* ---- who is who ---------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
    return strcmp((*(const struct fleet_gpu *const *)a)->id,
                  (*(const struct fleet_gpu *const *)b)->id);
}

static const struct fleet_gpu **in_order(const struct fleet_set *set)
{
    const struct fleet_gpu **const order =
        xcalloc(set->count + 1, sizeof *order);
    for (size_t i = 0; i < set->count; i++)
        order[i] = &set->gpus[i];
    qsort(order, set->count, sizeof *order, by_id);
    return order;
}

static void add_name(char ***names, size_t *count, const struct fleet_gpu *g)
{
    *names = xreallocarray(*names, *count + 1, sizeof **names);
    (*names)[(*count)++] = xasprintf("%s %s", g->host, fleet_gpu_name(g));
}

static void match(struct comparing *c)
{
    struct fleet *const f = c->fleet;
    const struct fleet_gpu **const now = in_order(&f->now);
    const struct fleet_gpu **const before = in_order(&f->since);
    size_t i = 0, k = 0;
    while (i < f->now.count || k < f->since.count) {
        const int order = i == f->now.count     ? 1
                          : k == f->since.count ? -1
                                                : by_id(&now[i], &before[k]);
        if (order < 0)
            add_name(&f->came, &f->came_count, now[i++]);
        else if (order > 0)
            add_name(&f->gone, &f->gone_count, before[k++]);
        else
            c->before[now[i++] - f->now.gpus] = before[k++];
    }
    free(now);
    free(before);
}

/* All of a model first, then structure, then the furthest. */
static int by_weight(const void *a, const void *b)
{
    const struct fleet_change *const x = a, *const y = b;
    if ((x->gpu == SIZE_MAX) != (y->gpu == SIZE_MAX))
        return x->gpu == SIZE_MAX ? -1 : 1;
    if (x->structure != y->structure)
        return x->structure ? -1 : 1;
    if (fabs(x->share) < fabs(y->share) || fabs(x->share) > fabs(y->share))
        return fabs(x->share) > fabs(y->share) ? -1 : 1;
    if (x->gpu != y->gpu)
        return x->gpu < y->gpu ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

void fleet_compare(struct fleet *f)
{
    struct comparing c = {f, xcalloc(f->now.count + 1, sizeof *c.before)};
    f->compared = true;
    match(&c);
    for (size_t i = 0; i < f->model_count; i++)
        columns_each(f, &f->now, f->models[i].from, f->models[i].count,
                     compare_column, &c);
    if (f->change_count > 0)
        qsort(f->changes, f->change_count, sizeof *f->changes, by_weight);
    free(c.before);
}
