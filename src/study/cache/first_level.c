/*
 * How the kinds of loads are calibrated.
 *
 * What a hit costs is taken from lines that were just loaded; what a miss
 * costs from lines that the caches of an SM cannot hold, since they are empty
 * when a kernel begins.  Where the data is in global memory loads past L1
 * bring it into L2 before; the others run several times, and the later runs
 * find it there.
 *
 * How much a cache holds need not be known.  So many loads as push out a group
 * of the same kind's own are enough: whatever shares the storage loses its
 * lines by them, too.
 */
#include "study/cache/first_level.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hits.h"
#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "base/num.h"
#include "study/assume.h"
#include "study/lab.h"
#include "study/script.h"

/* ---- scripts ---------------------------------------------------------- */

static struct segment lines_of(struct first_level_group group)
{
    return (struct segment){group.number * FIRST_LEVEL_GROUP, group.loads,
                            FIRST_LEVEL_APART};
}

/* Behind all groups. */
static const uint64_t beyond = FIRST_LEVEL_GROUPS * FIRST_LEVEL_GROUP;

void first_level_load(struct script *s, size_t reader,
                      struct first_level_group group)
{
    script_load(s, reader, lines_of(group));
}

void first_level_time(struct script *s, size_t reader,
                      struct first_level_group group)
{
    const struct segment lines = lines_of(group);
    const uint64_t end = lines.start + lines.count * lines.step;
    script_load(s, reader, (struct segment){end, 1, 0});
    script_time(s, reader, lines);
}

void first_level_overfill_by(struct script *s, size_t reader, uint64_t loads,
                             uint64_t apart)
{
    script_load(
        s, reader,
        (struct segment){beyond, loads * FIRST_LEVEL_APART / apart, apart});
}

void first_level_overfill(struct script *s, size_t reader, uint64_t loads)
{
    first_level_overfill_by(s, reader, loads, FIRST_LEVEL_APART);
}

uint64_t first_level_most(const struct level_row *row)
{
    return (row->room - beyond) / FIRST_LEVEL_APART;
}

uint64_t first_level_flood(const struct fact_first_level *first,
                           const struct level_row *row, unsigned times)
{
    return u64_min(times * first->overfill, first_level_most(row));
}

/* Reader 0 loads past L1, reader 1 is of the kind. */
enum { PAST, KIND };

static struct script begin(const struct level_row *row)
{
    struct script s = {0};
    script_reader(&s, "global.cg");
    script_reader(&s, "%s", row->reader);
    return s;
}

/* ---- what hits and misses cost ---------------------------------------- */

/* Lines that lie so far apart that none holds two. */
enum { SINGLES = 4, SINGLES_APART = 1024, TAKES = 3 };
/* Lines that are in L2 only, by both readers, and a group that is new and then
 * is not. */
static const char *cost_script(struct lab *lab, const struct level_row *row,
                               size_t loads)
{
    struct script s = begin(row);
    for (size_t r = 0; r < FIRST_LEVEL_ROUNDS; r++) {
        const struct segment singles = {beyond + r * SINGLES * SINGLES_APART,
                                        SINGLES, SINGLES_APART};
        const struct first_level_group group = {r, loads};
        script_add(&s, &(struct script_step){
                           .laps = 2, .reader = PAST, .places = singles});
        script_time(&s, PAST, singles);
        if (row->same_data)
            first_level_load(&s, PAST, group);
        first_level_time(&s, KIND, group);
        first_level_time(&s, KIND, group);
        script_time(&s, KIND, singles);
    }
    return script_text(&s, lab);
}

/* What the rounds of all takes gave, apart by what they ask. */
struct costs {
    double hits[TAKES * FIRST_LEVEL_ROUNDS * FIRST_LEVEL_LINES];
    double fresh[TAKES * FIRST_LEVEL_ROUNDS * FIRST_LEVEL_LINES];
    double cold[TAKES][FIRST_LEVEL_ROUNDS * SINGLES];
    double past[TAKES * FIRST_LEVEL_ROUNDS * SINGLES];
    size_t loads, groups; /* of a group; of all, in `hits` and in `fresh` */
};

static void sort_out(const double *cycles, int take, struct costs *c)
{
    const size_t group = c->loads * sizeof(double);
    const size_t singles = sizeof(double[SINGLES]);
    for (size_t r = 0; r < FIRST_LEVEL_ROUNDS; r++) {
        const double *const from = cycles + r * 2 * (SINGLES + c->loads);
        const size_t n = (size_t)take * FIRST_LEVEL_ROUNDS + r;
        memcpy(c->past + n * SINGLES, from, singles);
        memcpy(c->fresh + n * c->loads, from + SINGLES, group);
        memcpy(c->hits + n * c->loads, from + SINGLES + c->loads, group);
        memcpy(c->cold[take] + r * SINGLES, from + SINGLES + 2 * c->loads,
               singles);
    }
    c->groups = (size_t)(take + 1) * FIRST_LEVEL_ROUNDS * c->loads;
}

static double least_median(const struct costs *c)
{
    double least = INFINITY;
    for (int take = 0; take < TAKES; take++)
        least = fmin(least, stats_median(c->cold[take], COUNT_OF(c->cold[0])));
    return least;
}

/* Median of the loads that missed; 0: none did. */
static double missed_cost(const double *cycles, size_t count, double limit)
{
    double *const missed = xreallocarray(NULL, count + 1, sizeof *missed);
    memcpy(missed, cycles, count * sizeof *missed);
    const size_t n = hits_between(missed, count, limit, INFINITY);
    const double cost = n > 0 ? stats_median(missed, n) : 0;
    free(missed);
    return cost;
}

/* What L2 costs at least, by lines of both kinds: of an L2 in parts those of
 * the one may all be far from where those of the other are near. */
static double next_cost(const struct fact_first_level *n, const struct costs *c)
{
    const double missed = missed_cost(c->fresh, c->groups, n->limit),
                 past = fmin(n->past, n->cold);
    return missed > 0 ? fmin(past, missed) : past;
}

double first_level_limit(const struct fact_first_level *n, const double *cycles,
                         size_t count, double hit)
{
    const struct hits_rule rule = {
        .slack_cycles = assume(ASSUME_KERNEL_SLACK_CYCLES),
        .slack_share = assume(ASSUME_KERNEL_SLACK_SHARE),
        .no_hit_times = assume(ASSUME_NO_HIT_TIMES),
        .no_hit_cycles = assume(ASSUME_NO_HIT_CYCLES),
        .timed_cycles = n->timed,
        .no_hit = n->no_hit,
    };
    return hits_spread_limit(cycles, count, hit, &rule);
}

/* Where hits spread so far a hit of the next cache passes for one: of all
 * profiles none is nearer than 44 cycles. */
enum { NEXT_LEAST = 40 };

/* Noise may make hits look as dear as misses; so that there is no cache is for
 * who asks that alone to say (l1_policy.c). */
static void judge_costs(struct lab *lab, const struct level_row *row,
                        const struct costs *c, struct fact_first_level *n)
{
    const double past = stats_median(c->past, COUNT_OF(c->past));
    n->past = stats_quantile(c->past, COUNT_OF(c->past), 0);
    n->hit = stats_median(c->hits, c->groups);
    n->cold = least_median(c);
    n->limit = first_level_limit(n, c->hits, c->groups, n->hit);
    /* Where L2 comes next, a hit is what costs far less than L2, which is as
     * cheap as the cheapest load: others delay loads, they speed none up. */
    if (row->same_data || row->memory_is_own)
        n->limit = fmax(n->limit, n->hit + assume(ASSUME_HIT_NEARER) *
                                               (next_cost(n, c) - n->hit));
    const size_t fresh = hits_above(c->fresh, c->groups, n->limit);
    n->lines = (size_t)lround((double)fresh / (TAKES * FIRST_LEVEL_ROUNDS));
    /* Beside others most cold loads may go to memory, but not all: hits of L2
     * do not pass for those of a nearer cache. */
    const double next = stats_quantile(
        c->cold[0], COUNT_OF(c->cold) * COUNT_OF(c->cold[0]), 0.1);
    const bool cheaper = hits_cheaper(n->hit, fmin(n->cold, next)) &&
                         (row->same_data || hits_cheaper(n->hit, past));
    const bool spread = !row->same_data && !row->memory_is_own &&
                        n->limit > n->hit + NEXT_LEAST;
    n->present = cheaper && n->limit < n->cold && n->lines > 0 && !spread;
    n->unclear =
        !n->present && (cheaper || !fact_cached(lab, level_of(row))->absent);
    if (n->unclear)
        snprintf(n->why, sizeof n->why, "%s", why_misses_alike);
    else
        snprintf(n->why, sizeof n->why, why_first_level_none, row->reader,
                 n->hit, n->cold);
}

static void measure_costs(struct lab *lab, const struct level_row *row,
                          struct fact_first_level *n)
{
    struct costs *const c = lab_alloc(lab, 1, sizeof *c);
    const char *const script = cost_script(lab, row, n->loads);
    c->loads = n->loads;
    for (int take = 0; lab_ok(lab) && take < TAKES; take++) {
        const struct column v =
            lab_column(lab, "cycles", "visit %s take=%d", script, take);
        if (lab_ok(lab))
            sort_out(v.at, take, c);
    }
    if (lab_ok(lab))
        judge_costs(lab, row, c, n);
}

/* ---- how many loads push out what was there --------------------------- */

enum { FEWEST = 32, STEPS_MOST = 24, AT_ONCE = 14 };

/* For each number of loads in turn: groups, so many loads, the groups again. */
static const char *overfill_script(struct lab *lab, const struct level_row *row,
                                   const uint64_t *loads, size_t count,
                                   size_t group_loads)
{
    struct script s = begin(row);
    for (size_t i = 0; i < count; i++)
        for (size_t r = 0; r < FIRST_LEVEL_ROUNDS; r++) {
            const struct first_level_group group = {r, group_loads};
            script_part(&s);
            first_level_load(&s, KIND, group);
            first_level_overfill(&s, KIND, loads[i]);
            first_level_time(&s, KIND, group);
        }
    return script_text(&s, lab);
}

static void try_loads(struct lab *lab, const struct level_row *row,
                      const uint64_t *loads, size_t count,
                      struct fact_first_level *n)
{
    const size_t each = FIRST_LEVEL_ROUNDS * n->loads;
    const struct column v =
        lab_column(lab, "cycles", "visit %s take=0",
                   overfill_script(lab, row, loads, count, n->loads));
    for (size_t i = 0; lab_ok(lab) && i < count && n->overfill == 0; i++) {
        const double *const cycles = v.at + i * each;
        if (hits_tally_of(hits_above(cycles, each, n->limit),
                          FIRST_LEVEL_ROUNDS * n->lines) != TALLY_ALL)
            continue;
        n->overfill = loads[i];
        n->beyond = missed_cost(cycles, each, n->limit);
    }
}

/* 32, 48, 64, 96, …: not so many more than are needed that the next cache is
 * overfilled as well.  The first ones in one experiment, since they cost
 * little. */
static void measure_overfill(struct lab *lab, const struct level_row *row,
                             struct fact_first_level *n)
{
    uint64_t loads[STEPS_MOST];
    size_t count = 0;
    for (uint64_t l = FEWEST; l <= first_level_most(row) && count < STEPS_MOST;
         l += (l & (l - 1)) == 0 ? l / 2 : l / 3)
        loads[count++] = l;
    const size_t first = u64_min(count, AT_ONCE);
    try_loads(lab, row, loads, first, n);
    for (size_t i = first; lab_ok(lab) && n->overfill == 0 && i < count; i++)
        try_loads(lab, row, &loads[i], 1, n);
}

/* Lines of L2 cost this or that, by where they have their home, and those of
 * constants may be near where all lines that were loaded past L1 are far, twice
 * as much at most (H200, driver 580: 1.65 times).  What is no cheaper than
 * that, and is not pushed out by all constants that there are, may be there. */
static bool may_be_l2(const struct level_row *row,
                      const struct fact_first_level *n)
{
    return !row->same_data && !row->memory_is_own && n->overfill == 0 &&
           2 * n->hit > n->past;
}

/* Rings told what hits and misses cost: what lies nearer to a miss is none. */
static double no_hit_of(struct lab *lab, const struct level_row *row,
                        double timed)
{
    const struct fact_bracket *const b = fact_bracket(lab, level_of(row));
    return b->present ? hits_limit(b->hit, b->miss) + timed : INFINITY;
}

/* What pushes all out of the first cache may push it out of the next one, too,
 * where that holds little more; then misses cost clearly more than those of
 * rings, which are no larger than need be. */
static double no_dearer_than_rings(struct lab *lab, const struct level_row *row,
                                   const struct fact_first_level *n)
{
    const struct fact_bracket *const b = fact_bracket(lab, level_of(row));
    const double rings = n->hit + b->miss - b->hit;
    return b->present && hits_cheaper(rings, n->beyond) ? rings : n->beyond;
}

/* A group and the line that brings the translation fit, as rings of as many do,
 * beside a few that came before: where new lines come in behind what was hit,
 * these stay.  Few, too, where no ring told what fits. */
static size_t group_loads(struct lab *lab, const struct level_row *row)
{
    const uint64_t fits = fact_bracket(lab, level_of(row))->fits;
    const uint64_t lines = FIRST_LEVEL_LINES + 1 + FIRST_LEVEL_FEW;
    return fits < lines * FIRST_LEVEL_APART ? FIRST_LEVEL_FEW
                                            : FIRST_LEVEL_LINES;
}

static void measure_kind(struct lab *lab, const struct level_row *row,
                         struct fact_first_level *n)
{
    n->loads = group_loads(lab, row);
    lab_number(lab, "clock", "overhead", &n->timed);
    n->no_hit = no_hit_of(lab, row, n->timed);
    measure_costs(lab, row, n);
    if (n->present) {
        measure_overfill(lab, row, n);
        n->beyond = no_dearer_than_rings(lab, row, n);
    }
    if (n->present && may_be_l2(row, n)) {
        n->present = false;
        n->unclear = true;
        snprintf(n->why, sizeof n->why, "%s", why_first_level_or_l2);
    }
    /* What the GPU has not is not unclear. */
    n->unclear =
        n->unclear || (!lab_ok(lab) && lab->err.code != ERR_UNSUPPORTED);
    const char *const why = lab_excuse(lab);
    if (why == NULL)
        return;
    n->present = false;
    snprintf(n->why, sizeof n->why, "%s", why);
}

void first_level_measure(struct lab *lab, struct finding *const *findings)
{
    for (int i = 0; lab_ok(lab) && i < FIRST_LEVEL_COUNT; i++) {
        lab_cite(lab, findings[i]);
        lab_about(lab, (size_t)i);
        measure_kind(lab, &level_table[i],
                     fact_first_level_write(lab, (enum level_id)i));
        lab_uncite(lab);
    }
    lab_about(lab, LEVEL_COUNT);
}
