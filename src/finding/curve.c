#include "finding/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static struct finding_curve *curve_of(const struct results *results,
                                      const char *id, const char *name)
{
    for (size_t i = 0; i < results->curve_count; i++) {
        struct finding_curve *const c = results->curves[i];
        if (strcmp(c->id, id) == 0 && strcmp(c->name, name) == 0)
            return c;
    }
    return NULL;
}

static void push_curve(struct results *results, struct finding_curve *curve)
{
    results->curves = xreallocarray(results->curves, results->curve_count + 1,
                                    sizeof *results->curves);
    results->curves[results->curve_count++] = curve;
}

struct finding_curve *results_curve(struct results *results, const char *id,
                                    const struct curve_kind *kind)
{
    struct finding_curve *curve = curve_of(results, id, kind->name);
    if (curve != NULL)
        return curve;
    curve = xmalloc(sizeof *curve);
    *curve = (struct finding_curve){.id = xstrdup(id),
                                    .name = xstrdup(kind->name),
                                    .x_name = xstrdup(kind->x_name),
                                    .x_unit = xstrdup(kind->x_unit),
                                    .y_unit = xstrdup(kind->y_unit)};
    push_curve(results, curve);
    return curve;
}

void curve_point(struct finding_curve *curve, struct curve_seen seen)
{
    if (seen.experiment == NULL || !isfinite(seen.x) || !isfinite(seen.y))
        return;
    curve->x = xreallocarray(curve->x, curve->count + 1, sizeof *curve->x);
    curve->y = xreallocarray(curve->y, curve->count + 1, sizeof *curve->y);
    char *const evidence = xstrdup(seen.experiment);
    curve->x[curve->count] = seen.x;
    curve->y[curve->count++] = seen.y;
    free(curve->evidence);
    curve->evidence = evidence;
}

/* ---- order -------------------------------------------------------------- */

struct point {
    double x, y;
    size_t seen; /* when */
};

static int by_x(const void *a, const void *b)
{
    const struct point *const p = a, *const q = b;
    if (p->x < q->x || p->x > q->x)
        return p->x < q->x ? -1 : 1;
    return p->seen < q->seen ? -1 : 1;
}

/* Of points that have the same x the last; returns how many are left. */
static size_t drop_repeated(struct point *point, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && !(point[i].x > point[kept - 1].x))
            kept--;
        point[kept++] = point[i];
    }
    return kept;
}

static void settle(struct finding_curve *c)
{
    struct point *const point = xcalloc(c->count + 1, sizeof *point);
    for (size_t i = 0; i < c->count; i++)
        point[i] = (struct point){c->x[i], c->y[i], i};
    qsort(point, c->count, sizeof *point, by_x);
    const size_t all = drop_repeated(point, c->count);
    c->count = all < CURVE_POINTS ? all : CURVE_POINTS;
    for (size_t i = 0; i < c->count; i++) {
        const size_t at =
            all <= CURVE_POINTS ? i : i * (all - 1) / (CURVE_POINTS - 1);
        c->x[i] = point[at].x;
        c->y[i] = point[at].y;
    }
    free(point);
}

void results_settle_curves(struct results *results)
{
    for (size_t i = 0; i < results->curve_count; i++)
        settle(results->curves[i]);
}

static void free_curve(struct finding_curve *c)
{
    free(c->id);
    free(c->name);
    free(c->x_name);
    free(c->x_unit);
    free(c->y_unit);
    free(c->x);
    free(c->y);
    free(c->evidence);
    free(c);
}

/* Gives each curve of this id to `to`, or frees it. */
static void part_with(struct results *results, const char *id,
                      struct results *to)
{
    size_t kept = 0;
    for (size_t i = 0; i < results->curve_count; i++) {
        struct finding_curve *const c = results->curves[i];
        if (strcmp(c->id, id) != 0)
            results->curves[kept++] = c;
        else if (to != NULL)
            push_curve(to, c);
        else
            free_curve(c);
    }
    results->curve_count = kept;
}

void results_take_curves(struct results *into, struct results *from,
                         const char *id)
{
    part_with(into, id, NULL);
    part_with(from, id, into);
}

void results_free_curves(struct results *results)
{
    for (size_t i = 0; i < results->curve_count; i++)
        free_curve(results->curves[i]);
    free(results->curves);
}
