#include "report/fleet/groups.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- racks --------------------------------------------------------------- */

/* A name with two numbers says the rack before the last of them: r12-n07 is of
 * rack r12, node-3-14 of node-3. */
static const char usual[] = "^([^.]*[0-9])[^0-9.]+[0-9]+[^0-9.]*";

static char *rack_of(const regex_t *pattern, const char *host)
{
    regmatch_t at[2];
    if (regexec(pattern, host, 2, at, 0) != 0)
        return NULL;
    const regmatch_t *const part =
        pattern->re_nsub > 0 && at[1].rm_so >= 0 ? &at[1] : &at[0];
    if (part->rm_eo == part->rm_so)
        return NULL;
    return xstrndup(host + part->rm_so, (size_t)(part->rm_eo - part->rm_so));
}

int fleet_name_racks(struct fleet *fleet, struct error *err)
{
    const char *const text =
        fleet->wish.rack != NULL ? fleet->wish.rack : usual;
    regex_t pattern;
    char why[128];
    const int code = regcomp(&pattern, text, REG_EXTENDED);
    if (code != 0) {
        regerror(code, &pattern, why, sizeof why);
        return error_set(err, ERR_USAGE,
                         "--rack takes an extended regular expression, of "
                         "which the first group is the rack in a host's name; "
                         "'%s' is none: %s",
                         text, why);
    }
    fleet->racks = xcalloc(fleet->now.count + 1, sizeof *fleet->racks);
    for (size_t i = 0; i < fleet->now.count; i++)
        fleet->racks[i] = rack_of(&pattern, fleet->now.gpus[i].host);
    regfree(&pattern);
    return 0;
}

/* ---- groups -------------------------------------------------------------- */

/* What the GPU is of; NULL: nothing that is known. */
static const char *group_of(const struct fleet *f, size_t gpu,
                            enum fleet_level level)
{
    const char *const host = f->now.gpus[gpu].host;
    return level == FLEET_RACK ? f->racks[gpu] : host[0] != '\0' ? host : NULL;
}

static bool is_same(const struct fleet *f, size_t a, size_t b,
                    enum fleet_level level)
{
    const char *const x = group_of(f, a, level), *const y =
                                                     group_of(f, b, level);
    return x != NULL && y != NULL && strcmp(x, y) == 0;
}

/* Cells of a column that are of one group. */
struct span {
    size_t from, to;
    double centre; /* of all GPUs */
};

struct by_centre {
    double number, far;
};

static int nearest_first(const void *a, const void *b)
{
    const struct by_centre *const x = a, *const y = b;
    return x->far < y->far ? -1 : x->far > y->far;
}

/*
 * Of an even number of GPUs the one nearer to the others' centre, so that no
 * single GPU makes a host of two stand out.
 */
static double middle_of(const struct column *c, const struct span *span)
{
    const size_t n = span->to - span->from, from = span->from;
    const double centre = span->centre;
    struct by_centre *const all = xcalloc(n, sizeof *all);
    for (size_t i = 0; i < n; i++)
        all[i] = (struct by_centre){c->cells[from + i].number - centre,
                                    fabs(c->cells[from + i].number - centre)};
    qsort(all, n, sizeof *all, nearest_first);
    const double middle = all[(n - 1) / 2].number + centre;
    free(all);
    return middle;
}

static void add(struct groups *g, const struct fleet *f, const struct column *c,
                const struct span *span, enum fleet_level level)
{
    const size_t i = g->count++;
    g->name[i] = group_of(f, c->cells[span->from].gpu, level);
    g->middle[i] = middle_of(c, span);
    g->first[i] = c->cells[span->from].gpu;
    g->gpus[i] = span->to - span->from;
}

static int by_rack(const void *a, const void *b, void *fleet)
{
    const struct cell *const x = a, *const y = b;
    const struct fleet *const f = fleet;
    const char *const p = f->racks[x->gpu], *const q = f->racks[y->gpu];
    const int order = strcmp(p != NULL ? p : "", q != NULL ? q : "");
    return order != 0 ? order : (x->gpu > y->gpu) - (x->gpu < y->gpu);
}

/* GPUs come by host, and so do hosts of a rack that their names begin with; of
 * any other pattern they need not stand together. */
static struct column in_order(const struct fleet *f, const struct column *c,
                              enum fleet_level level)
{
    struct column ordered = *c;
    ordered.cells = xcalloc(c->count + 1, sizeof *ordered.cells);
    memcpy(ordered.cells, c->cells, c->count * sizeof *c->cells);
    if (level == FLEET_RACK && f->wish.rack != NULL)
        qsort_r(ordered.cells, c->count, sizeof *ordered.cells, by_rack,
                (void *)(uintptr_t)f);
    return ordered;
}

struct groups fleet_groups(const struct fleet *f, const struct column *column,
                           enum fleet_level level, double centre)
{
    const struct column ordered = in_order(f, column, level);
    const struct column *const c = &ordered;
    struct groups g = {0};
    g.name = xcalloc(c->count + 1, sizeof *g.name);
    g.middle = xcalloc(c->count + 1, sizeof *g.middle);
    g.first = xcalloc(c->count + 1, sizeof *g.first);
    g.gpus = xcalloc(c->count + 1, sizeof *g.gpus);
    for (size_t from = 0, to; from < c->count; from = to) {
        to = from + 1;
        while (to < c->count &&
               is_same(f, c->cells[from].gpu, c->cells[to].gpu, level))
            to++;
        if (to - from >= 2 && group_of(f, c->cells[from].gpu, level) != NULL)
            add(&g, f, c, &(struct span){from, to, centre}, level);
    }
    free(ordered.cells);
    return g;
}

void fleet_groups_free(struct groups *g)
{
    free(g->name);
    free(g->middle);
    free(g->first);
    free(g->gpus);
    *g = (struct groups){0};
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t count_racks(const struct fleet *f, const struct fleet_model *m)
{
    const char **const names = xcalloc(m->count + 1, sizeof *names);
    size_t count = 0, different = 0;
    for (size_t i = m->from; i < m->from + m->count; i++)
        if (f->racks[i] != NULL)
            names[count++] = f->racks[i];
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++)
        different += i == 0 || strcmp(names[i], names[i - 1]) != 0;
    free(names);
    return different;
}

size_t fleet_groups_count(const struct fleet *f, struct fleet_model *m)
{
    for (size_t i = m->from; i < m->from + m->count; i++)
        m->hosts += i == m->from || !is_same(f, i - 1, i, FLEET_HOST);
    m->racks = count_racks(f, m);
    return m->hosts + m->racks;
}
