/*
 * GPUs are rows, and are turned into columns some millions of values at a time,
 * so that this takes no more memory for more GPUs.
 */
#include "report/fleet/column.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "finding/judge.h"

/* 64 MiB of cells. */
enum { CELLS_MOST = 2 << 20 };

struct turning {
    const struct fleet *fleet;
    const struct fleet_set *set;
    size_t from, count;
    uint32_t *order; /* columns that are wanted, by their names */
    size_t wanted;
    struct column *columns; /* by number */
};

static bool is_wanted(const char *only, const char *name)
{
    bool wanted = only == NULL;
    for (size_t length; !wanted && only != NULL;
         only = only[length] == ',' ? only + length + 1 : NULL) {
        length = strcspn(only, ",");
        char *const pattern = xstrndup(only, length);
        wanted = text_glob(pattern, name);
        free(pattern);
    }
    return wanted;
}

static int by_name(const void *a, const void *b, void *fleet)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const int order =
        strverscmp(fleet_column(fleet, x), fleet_column(fleet, y));
    return order != 0 ? order
                      : strcmp(fleet_unit(fleet, x), fleet_unit(fleet, y));
}

/* How many values each column has, in `count` for now. */
static void count_values(struct turning *t)
{
    for (size_t i = t->from; i < t->from + t->count; i++) {
        const struct fleet_gpu *const g = &t->set->gpus[i];
        for (uint32_t k = 0; k < g->count; k++)
            if (g->values[k].half > FLEET_UNKNOWN)
                t->columns[g->values[k].column].count++;
            else
                t->columns[g->values[k].column].unknown++;
    }
}

static void order_columns(struct turning *t)
{
    const size_t all = t->fleet->names.columns.count;
    t->order = xcalloc(all + 1, sizeof *t->order);
    for (uint32_t i = 0; i < all; i++) {
        t->columns[i].number = i;
        if (t->columns[i].count + t->columns[i].unknown > 0 &&
            is_wanted(t->fleet->wish.only, fleet_column(t->fleet, i)))
            t->order[t->wanted++] = i;
    }
    qsort_r(t->order, t->wanted, sizeof *t->order, by_name,
            (void *)(uintptr_t)t->fleet);
}

static void fill(struct turning *t)
{
    for (size_t i = t->from; i < t->from + t->count; i++) {
        const struct fleet_gpu *const g = &t->set->gpus[i];
        for (uint32_t k = 0; k < g->count; k++) {
            const struct fleet_value *const v = &g->values[k];
            struct column *const c = &t->columns[v->column];
            if (c->cells == NULL || v->half <= FLEET_UNKNOWN)
                continue;
            c->cells[c->count++] = (struct cell){.gpu = (uint32_t)i,
                                                 .words = v->half < 0,
                                                 .half = fmaxf(v->half, 0),
                                                 .number = v->number};
        }
    }
}

/* As many from this one on as fit; the next that does not. */
static size_t turn(struct turning *t, size_t from,
                   void (*each)(void *context, const struct column *column),
                   void *context)
{
    size_t cells = 0, to = from;
    for (; to < t->wanted && (cells < CELLS_MOST || to == from); to++) {
        struct column *const c = &t->columns[t->order[to]];
        cells += c->count;
        c->cells = xcalloc(c->count + 1, sizeof *c->cells);
        c->count = 0;
    }
    fill(t);
    for (size_t i = from; i < to; i++) {
        struct column *const c = &t->columns[t->order[i]];
        each(context, c);
        free(c->cells);
        c->cells = NULL;
    }
    return to;
}

void columns_each(const struct fleet *fleet, const struct fleet_set *set,
                  size_t from, size_t count,
                  void (*each)(void *context, const struct column *column),
                  void *context)
{
    struct turning t = {fleet, set, from, count, NULL, 0, NULL};
    t.columns = xcalloc(fleet->names.columns.count + 1, sizeof *t.columns);
    count_values(&t);
    order_columns(&t);
    for (size_t at = 0; at < t.wanted;)
        at = turn(&t, at, each, context);
    free(t.order);
    free(t.columns);
}

bool column_is_structure(const struct fleet *fleet, const struct column *c)
{
    size_t counted = 0;
    if (judge_is_quantity(fleet_unit(fleet, c->number)))
        return false;
    for (size_t i = 0; i < c->count; i++)
        counted += c->cells[i].words ||
                   (!(c->cells[i].half > 0) &&
                    fabs(rint(c->cells[i].number) - c->cells[i].number) <= 0);
    return 2 * counted > c->count;
}
