/*
 * Who lies beyond.  GPUs are compared within their model, a column at a time.
 *
 * Structure (words, counts, sizes) is the same of all, and one that has another
 * is out.  What is measured in steps of a clock scatters: one is out whose
 * number is further from the median than the scatter of all explains
 * (analysis/statistics/crowd.h), further than its own interval and that of the
 * others reach together, and further than the tolerance.  The chance for that
 * is the false alarms that are allowed, shared by all that is asked: each
 * finding of each GPU, host and rack.
 *
 * Hosts and racks are asked the same of the number in their middle, so that
 * what they have in common shows where none of their GPUs stands out.
 */
#include "report/fleet/fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/crowd.h"
#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "finding/judge.h"
#include "report/fleet/column.h"
#include "report/fleet/groups.h"

/* ---- structure ----------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const struct cell *const x = *(const struct cell *const *)a,
                             *const y = *(const struct cell *const *)b;
    if (x->words != y->words)
        return x->words ? 1 : -1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool is_same(const struct cell *a, const struct cell *b)
{
    return a->words == b->words && fabs(a->number - b->number) <= 0;
}

/* The value of most; how many have it. */
static size_t most_common(const struct column *c, const struct cell **common)
{
    const struct cell **const sorted = xcalloc(c->count + 1, sizeof *sorted);
    size_t most = 0;
    for (size_t i = 0; i < c->count; i++)
        sorted[i] = &c->cells[i];
    qsort(sorted, c->count, sizeof *sorted, by_value);
    for (size_t i = 0, from = 0; i < c->count; i++) {
        if (!is_same(sorted[from], sorted[i]))
            from = i;
        if (i - from + 1 > most) {
            most = i - from + 1;
            *common = sorted[i];
        }
    }
    free(sorted);
    return most;
}

/* Its interval may hold what the others have. */
static bool agrees(const struct cell *c, const struct cell *common)
{
    return is_same(c, common) || (!c->words && !common->words &&
                                  fabs(c->number - common->number) <= c->half);
}

/*
 * Of so many some are odd ones; more are a part of the fleet that is built
 * otherwise.  A twentieth of many; of few a quarter, up to five, and always
 * one.
 */
static size_t odd_ones(size_t n)
{
    const size_t few = n / 4 < 5 ? n / 4 : 5;
    const size_t odd = n / 20 > few ? n / 20 : few;
    return odd > 0 ? odd : 1;
}

static void add_out(struct fleet_model *m, struct fleet_out out)
{
    if ((m->out_count & (m->out_count - 1)) == 0)
        m->out = xreallocarray(m->out, 2 * m->out_count + 1, sizeof *m->out);
    m->out[m->out_count++] = out;
}

static double share_of(double number, double centre)
{
    return fabs(centre) > 0 ? (number - centre) / fabs(centre) : INFINITY;
}

/* What the driver says of settings is never measured wrongly. */
static bool is_said(const struct fleet *f, uint32_t column)
{
    static const char device[] = "device.";
    return strncmp(fleet_column(f, column), device, sizeof device - 1) == 0;
}

static void name_odd_ones(struct fleet_model *m, const struct column *c,
                          const struct cell *common)
{
    struct fleet_finding *const f = &m->findings[m->finding_count];
    for (size_t i = 0; i < c->count; i++) {
        const struct cell *const cell = &c->cells[i];
        if (agrees(cell, common))
            continue;
        f->out++;
        add_out(m, (struct fleet_out){
                       .gpu = cell->gpu,
                       .gpus = 1,
                       .finding = m->finding_count,
                       .times = INFINITY,
                       .number = cell->number,
                       .words = cell->words,
                       .share = share_of(cell->number, common->number)});
    }
}

static void judge_structure(const struct fleet *fleet, struct fleet_model *m,
                            const struct column *c)
{
    struct fleet_finding *const f = &m->findings[m->finding_count];
    const struct cell *common = NULL;
    const size_t most = most_common(c, &common);
    f->structure = true;
    if (common == NULL)
        return;
    f->centre = common->number;
    f->words = common->words;
    f->agree = 0;
    for (size_t i = 0; i < c->count; i++)
        f->agree += agrees(&c->cells[i], common);
    const size_t odd = c->count - f->agree;
    const bool majority = 2 * most > c->count && c->count > 2;
    f->divided =
        odd > 0 &&
        (!majority || (odd > odd_ones(c->count) && !is_said(fleet, c->number)));
    if (odd > 0 && !f->divided)
        name_odd_ones(m, c, common);
}

/* ---- quantities ---------------------------------------------------------- */

/* How far intervals reach on both sides of a gap. */
static double median_half(const struct column *c)
{
    double *const halves = xcalloc(c->count + 1, sizeof *halves);
    for (size_t i = 0; i < c->count; i++)
        halves[i] = c->cells[i].half;
    const double half = stats_median(halves, c->count);
    free(halves);
    return half;
}

/* The least by which a number of this interval must be off. */
struct floor {
    double scatter, others, tolerance;
    double normal; /* standard deviations of a normal number, for the chance */
};

/* Half an interval of 95 % is 1.96 standard deviations.  What the others'
 * intervals are is in the scatter; what is more scatters by itself. */
static double floor_for(const struct floor *f, double half)
{
    const double more =
        sqrt(fmax(half * half - f->others * f->others, 0)) / 1.96;
    return fmax(hypot(f->scatter, f->normal * more),
                fmax(half + f->others, f->tolerance));
}

static struct floor floor_of(const struct fleet *fleet, const struct column *c,
                             const struct crowd *crowd, double limit)
{
    return (struct floor){limit, median_half(c),
                          fleet->wish.tolerance * fabs(crowd->centre),
                          crowd_normal(fleet->chance)};
}

static void name_far_ones(struct fleet_model *m, const struct column *c,
                          const struct floor *least)
{
    struct fleet_finding *const f = &m->findings[m->finding_count];
    for (size_t i = 0; i < c->count; i++) {
        const struct cell *const cell = &c->cells[i];
        const double far = fabs(cell->number - f->centre);
        const double limit = floor_for(least, cell->half);
        if (!(far > limit))
            continue;
        f->out++;
        add_out(m,
                (struct fleet_out){.gpu = cell->gpu,
                                   .gpus = 1,
                                   .finding = m->finding_count,
                                   .times = far / limit,
                                   .number = cell->number,
                                   .share = share_of(cell->number, f->centre)});
    }
}

static void name_far_groups(const struct fleet *fleet, struct fleet_model *m,
                            const struct column *c, enum fleet_level level)
{
    struct fleet_finding *const f = &m->findings[m->finding_count];
    struct groups g = fleet_groups(fleet, c, level, f->centre);
    const struct crowd crowd = crowd_of(g.middle, g.count, fleet->chance);
    const struct floor least = floor_of(fleet, c, &crowd, crowd.limit);
    for (size_t i = 0; i < g.count; i++) {
        const double far = fabs(g.middle[i] - crowd.centre);
        if (!(far > floor_for(&least, 0)))
            continue;
        add_out(m, (struct fleet_out){.level = level,
                                      .name = g.name[i],
                                      .gpu = g.first[i],
                                      .gpus = g.gpus[i],
                                      .finding = m->finding_count,
                                      .times = far / floor_for(&least, 0),
                                      .number = g.middle[i],
                                      .share =
                                          share_of(g.middle[i], crowd.centre)});
    }
    fleet_groups_free(&g);
}

static double *numbers_of(const struct column *c)
{
    double *const numbers = xcalloc(c->count + 1, sizeof *numbers);
    for (size_t i = 0; i < c->count; i++)
        numbers[i] = c->cells[i].number;
    return numbers;
}

static void judge_quantity(const struct fleet *fleet, struct fleet_model *m,
                           const struct column *c)
{
    struct fleet_finding *const f = &m->findings[m->finding_count];
    double *const numbers = numbers_of(c);
    const struct crowd crowd = crowd_of(numbers, c->count, fleet->chance);
    free(numbers);
    f->centre = crowd.centre;
    f->spread = crowd.spread;
    const double limit =
        c->count < CROWD_LARGE
            ? crowd_small_limit(&crowd, c->count, &m->prior, fleet->chance)
            : crowd_limit(&crowd, &m->tail, fleet->chance);
    const struct floor least = floor_of(fleet, c, &crowd, limit);
    f->limit = floor_for(&least, least.others);
    name_far_ones(m, c, &least);
    name_far_groups(fleet, m, c, FLEET_HOST);
    name_far_groups(fleet, m, c, FLEET_RACK);
}

/* ---- tails --------------------------------------------------------------- */

/*
 * How far out tails are is asked of all findings together: one finding of few
 * GPUs shows little of its own, and what one fault does to one of them does
 * nothing to the median of hundreds.
 */
struct tails {
    const struct fleet *fleet;
    double *near, *far, *shares; /* spreads of those that few have */
    size_t count, small;
    struct crowd_tail last;
};

static void take_share(struct tails *t, const double *numbers, size_t n)
{
    const struct crowd c = crowd_of(numbers, n, t->fleet->chance);
    const double share = c.spread / fabs(c.centre);
    if (n < CROWD_LARGE && share > 0 && isfinite(share))
        t->shares[t->small++] = share;
}

static void take_tail(void *context, const struct column *c)
{
    struct tails *const t = context;
    if (c->count == 0 || column_is_structure(t->fleet, c))
        return;
    double *const numbers = numbers_of(c);
    struct crowd_tail tail;
    take_share(t, numbers, c->count);
    /* Of other shares, of a finding that few have, it is another tail. */
    if (crowd_tail_of(numbers, c->count, &tail) &&
        (t->count == 0 || fabs(tail.from - t->last.from) <= 0)) {
        t->last = tail;
        t->near[t->count] = tail.near;
        t->far[t->count++] = tail.far;
    }
    free(numbers);
}

enum { TAILS_LEAST = 10 };

static void tails_of_model(const struct fleet *fleet, struct fleet_model *m)
{
    const size_t all = fleet->names.columns.count + 1;
    struct tails t = {.fleet = fleet,
                      .near = xcalloc(all, sizeof *t.near),
                      .far = xcalloc(all, sizeof *t.far),
                      .shares = xcalloc(all, sizeof *t.shares)};
    columns_each(fleet, &fleet->now, m->from, m->count, take_tail, &t);
    if (t.count >= TAILS_LEAST) {
        m->tail = t.last;
        m->tail.near = stats_median(t.near, t.count);
        m->tail.far = stats_median(t.far, t.count);
    }
    if (t.small >= TAILS_LEAST)
        m->prior = crowd_prior_of(t.shares, t.small, m->count);
    free(t.near);
    free(t.far);
    free(t.shares);
}

/* ---- a model ------------------------------------------------------------- */

static void judge_column(void *context, const struct column *c)
{
    const struct fleet *const fleet = ((void **)context)[0];
    struct fleet_model *const m = ((void **)context)[1];
    m->findings[m->finding_count] = (struct fleet_finding){
        .column = c->number, .gpus = c->count, .unknown = c->unknown};
    if (c->count > 0 && column_is_structure(fleet, c))
        judge_structure(fleet, m, c);
    else if (c->count > 0)
        judge_quantity(fleet, m, c);
    m->finding_count++;
}

/* Structure first, then the furthest. */
static int by_weight(const void *a, const void *b)
{
    const struct fleet_out *const x = a, *const y = b;
    if (isinf(x->times) != isinf(y->times))
        return isinf(x->times) ? -1 : 1;
    if (x->finding != y->finding && isinf(x->times))
        return x->finding < y->finding ? -1 : 1;
    if (x->times < y->times || x->times > y->times)
        return x->times > y->times ? -1 : 1;
    if (x->finding != y->finding)
        return x->finding < y->finding ? -1 : 1;
    return x->gpu < y->gpu ? -1 : x->gpu > y->gpu;
}

static size_t count_out(const struct fleet_model *m)
{
    bool *const out = xcalloc(m->count + 1, sizeof *out);
    size_t count = 0;
    for (size_t i = 0; i < m->out_count; i++) {
        if (m->out[i].level != FLEET_GPU)
            continue;
        count += !out[m->out[i].gpu - m->from];
        out[m->out[i].gpu - m->from] = true;
    }
    free(out);
    return count;
}

static void judge_model(const struct fleet *fleet, struct fleet_model *m)
{
    void *context[] = {(void *)(uintptr_t)fleet, m};
    m->findings = xcalloc(fleet->names.columns.count + 1, sizeof *m->findings);
    tails_of_model(fleet, m);
    columns_each(fleet, &fleet->now, m->from, m->count, judge_column, context);
    if (m->out_count > 0)
        qsort(m->out, m->out_count, sizeof *m->out, by_weight);
    m->gpus_out = count_out(m);
}

static void find_models(struct fleet *fleet)
{
    const struct fleet_set *const set = &fleet->now;
    for (size_t i = 0; i < set->count; i++) {
        if (i == 0 || set->gpus[i].model != set->gpus[i - 1].model) {
            fleet->models = xreallocarray(fleet->models, fleet->model_count + 1,
                                          sizeof *fleet->models);
            fleet->models[fleet->model_count++] =
                (struct fleet_model){.name = set->gpus[i].model, .from = i};
        }
        fleet->models[fleet->model_count - 1].count++;
    }
}

/* All that is asked, of which each may be a false alarm. */
static double questions(struct fleet *fleet)
{
    double count = 0;
    for (size_t i = 0; i < fleet->model_count; i++) {
        struct fleet_model *const m = &fleet->models[i];
        const size_t groups = fleet_groups_count(fleet, m);
        for (size_t k = m->from; k < m->from + m->count; k++)
            count += fleet->now.gpus[k].count;
        if (m->count > 0)
            count += (double)groups * fleet->now.gpus[m->from].count;
    }
    return count;
}

int fleet_judge(struct fleet *fleet, struct error *err)
{
    const int code = fleet_name_racks(fleet, err);
    if (code != 0)
        return code;
    fleet_name_columns(fleet);
    find_models(fleet);
    fleet->chance = fmin(fleet->wish.alarms / fmax(questions(fleet), 1), 0.05);
    for (size_t i = 0; i < fleet->model_count; i++)
        judge_model(fleet, &fleet->models[i]);
    return 0;
}
