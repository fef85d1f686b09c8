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

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"
#include "base/buf.h"
#include "base/mem.h"
#include "study/lab.h"

/* A module may have 64 KiB of constants.  Local memory is set aside for all
 * threads that a GPU can run, so little of it is asked for. */
enum { BANK = 64 << 10, LARGE = 4 << 20 };

const struct first_level_row first_level_table[FIRST_LEVEL_COUNT] = {
    [FIRST_LEVEL_L1] = {"l1", "global.ca", LARGE, true, false},
    [FIRST_LEVEL_TEXTURE] = {"texture", "texture", LARGE, true, false},
    [FIRST_LEVEL_READONLY] = {"readonly", "readonly", LARGE, true, false},
    [FIRST_LEVEL_LOCAL] = {"local", "local", BANK, false, true},
    [FIRST_LEVEL_CONSTANT] = {"const_l1", "constant", BANK, false, false},
};

/* ---- scripts ---------------------------------------------------------- */

static uint64_t group_at(size_t group)
{
    return group * FIRST_LEVEL_GROUP;
}

void first_level_load(struct buf *steps, size_t reader, size_t group)
{
    buf_printf(steps, "%zu@%" PRIu64 ":%d:%d,", reader, group_at(group),
               FIRST_LEVEL_LINES, FIRST_LEVEL_APART);
}

void first_level_time(struct buf *steps, size_t reader, size_t group)
{
    buf_printf(steps, "%zu@%" PRIu64 ":1:0,%zu@!%" PRIu64 ":%d:%d,", reader,
               group_at(group) + FIRST_LEVEL_LINES * FIRST_LEVEL_APART, reader,
               group_at(group), FIRST_LEVEL_LINES, FIRST_LEVEL_APART);
}

void first_level_overfill(struct buf *steps, size_t reader, uint64_t loads)
{
    buf_printf(steps, "%zu@%" PRIu64 ":%" PRIu64 ":%d,", reader,
               group_at(FIRST_LEVEL_GROUPS), loads, FIRST_LEVEL_APART);
}

static uint64_t most_loads(const struct first_level_row *row)
{
    return (row->room - group_at(FIRST_LEVEL_GROUPS)) / FIRST_LEVEL_APART;
}

uint64_t first_level_flood(const struct first_level *nearest,
                           const struct first_level_row *row)
{
    const uint64_t most = most_loads(row);
    return 2 * nearest->overfill < most ? 2 * nearest->overfill : most;
}

int first_level_visit(struct lab *lab, struct visited *v, const char *readers,
                      const char *steps, int take, struct error *err)
{
    struct samples s;
    *v = (struct visited){0};
    const size_t length = strlen(steps);
    if (lab_probe_err(lab, &s, &v->experiment, err,
                  "visit readers=%s steps=%.*s take=%d", readers,
                  (int)(length - (steps[length - 1] == ',')), steps, take) != 0)
        return err->code;
    const size_t cycles = samples_column(&s, "cycles");
    v->count = s.rows;
    v->cycles = xreallocarray(NULL, s.rows, sizeof *v->cycles);
    for (size_t i = 0; i < s.rows; i++)
        v->cycles[i] = (double)samples_at(&s, i, cycles);
    samples_free(&s);
    return 0;
}

void visited_free(struct visited *v)
{
    free(v->cycles);
    free(v->experiment);
    *v = (struct visited){0};
}

size_t visited_over(const struct visited *v, size_t from, size_t count,
                    double limit)
{
    size_t over = 0;
    for (size_t i = from; i < from + count; i++)
        over += v->cycles[i] > limit;
    return over;
}

/* ---- what hits and misses cost ---------------------------------------- */

/* Lines that lie so far apart that none holds two. */
enum { SINGLES = 4, SINGLES_APART = 1024, TAKES = 3 };
enum { PER_ROUND = 2 * SINGLES + 2 * FIRST_LEVEL_LINES };

/* By load past L1 (reader 0) and of the kind (reader 1): lines that are in L2
 * only, and a group that is new and then is not. */
static char *cost_script(const struct first_level_row *row)
{
    struct buf steps = {0};
    for (size_t r = 0; r < FIRST_LEVEL_ROUNDS; r++) {
        const uint64_t at =
            group_at(FIRST_LEVEL_GROUPS) + r * SINGLES * SINGLES_APART;
        buf_printf(&steps, "2x0@%" PRIu64 ":%d:%d,0@!%" PRIu64 ":%d:%d,", at,
                   SINGLES, SINGLES_APART, at, SINGLES, SINGLES_APART);
        if (row->same_data)
            first_level_load(&steps, 0, r);
        first_level_time(&steps, 1, r);
        first_level_time(&steps, 1, r);
        buf_printf(&steps, "1@!%" PRIu64 ":%d:%d,", at, SINGLES, SINGLES_APART);
    }
    return buf_take(&steps);
}

/* What the rounds of all takes gave, apart by what they ask. */
struct costs {
    double hits[TAKES * FIRST_LEVEL_ROUNDS * FIRST_LEVEL_LINES];
    double fresh[TAKES * FIRST_LEVEL_ROUNDS * FIRST_LEVEL_LINES];
    double cold[TAKES][FIRST_LEVEL_ROUNDS * SINGLES];
    double past[TAKES * FIRST_LEVEL_ROUNDS * SINGLES];
};

static void sort_out(const struct visited *v, int take, struct costs *c)
{
    const size_t groups = sizeof(double[FIRST_LEVEL_LINES]);
    const size_t singles = sizeof(double[SINGLES]);
    for (size_t r = 0; r < FIRST_LEVEL_ROUNDS; r++) {
        const double *const from = v->cycles + r * PER_ROUND;
        const size_t n = (size_t)take * FIRST_LEVEL_ROUNDS + r;
        memcpy(c->past + n * SINGLES, from, singles);
        memcpy(c->fresh + n * FIRST_LEVEL_LINES, from + SINGLES, groups);
        memcpy(c->hits + n * FIRST_LEVEL_LINES,
               from + SINGLES + FIRST_LEVEL_LINES, groups);
        memcpy(c->cold[take] + r * SINGLES,
               from + SINGLES + 2 * FIRST_LEVEL_LINES, singles);
    }
}

static double least_median(const struct costs *c)
{
    double least = INFINITY;
    for (int take = 0; take < TAKES; take++)
        least = fmin(least, stats_median(c->cold[take], COUNT_OF(c->cold[0])));
    return least;
}

static size_t count_over(const double *cycles, size_t count, double limit)
{
    size_t over = 0;
    for (size_t i = 0; i < count; i++)
        over += cycles[i] > limit;
    return over;
}

/*
 * A hit is known by what hits cost and how they spread.  One in four may cost
 * a dozen cycles more, where the loop that loads goes back (H200, driver 580),
 * hence the quantile; and a few more where the same loop is part of another
 * kernel.  A small cache may have lost a line: that was no hit.
 */
static double hit_limit(const double *cycles, size_t count, double hit)
{
    double *const hits = xreallocarray(NULL, count, sizeof *hits);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (cycles[i] <= 1.5 * hit + 10)
            hits[n++] = cycles[i];
    const double spread = stats_mad_sigma(hits, n);
    const double limit =
        stats_quantile(hits, n, 0.9) + fmax(fmax(6, 0.05 * hit), 4 * spread);
    free(hits);
    return limit;
}

static void judge_costs(const struct first_level_row *row,
                        const struct costs *c, struct first_level *n)
{
    const double past = stats_median(c->past, COUNT_OF(c->past));
    n->hit = stats_median(c->hits, COUNT_OF(c->hits));
    n->cold = least_median(c);
    n->limit = hit_limit(c->hits, COUNT_OF(c->hits), n->hit);
    /* The same load costs up to 10 cycles more in another kernel (H200, driver
     * 580).  Where L2 comes next, a hit is what costs far less than L2. */
    if (row->same_data || row->memory_is_own)
        n->limit =
            fmax(n->limit, n->hit + 0.3 * (fmin(past, n->cold) - n->hit));
    const double fresh =
        (double)count_over(c->fresh, COUNT_OF(c->fresh), n->limit);
    n->lines = (size_t)lround(fresh / (TAKES * FIRST_LEVEL_ROUNDS));
    n->present = n->hit < 0.9 * n->cold && n->limit < n->cold && n->lines > 0 &&
                 (row->same_data || n->hit < 0.9 * past);
    snprintf(n->why, sizeof n->why,
             "loads of %s cost %.0f cycles again and %.0f when new: no cache "
             "before L2 is seen",
             row->reader, n->hit, n->cold);
}

static int measure_costs(struct lab *lab, const struct first_level_row *row,
                         const char *readers, struct first_level *n,
                         struct finding *f, struct error *err)
{
    struct costs *const c = xcalloc(1, sizeof *c);
    char *const steps = cost_script(row);
    int status = 0;
    for (int take = 0; status == 0 && take < TAKES; take++) {
        struct visited v;
        status = first_level_visit(lab, &v, readers, steps, take, err);
        if (status == 0) {
            sort_out(&v, take, c);
            finding_evidence(f, v.experiment);
        }
        visited_free(&v);
    }
    if (status == 0)
        judge_costs(row, c, n);
    free(steps);
    free(c);
    return status;
}

/* ---- how many loads push out what was there --------------------------- */

enum { FEWEST = 32, STEPS_MOST = 24, AT_ONCE = 14 };

/* For each number of loads in turn: groups, so many loads, the groups again. */
static char *overfill_script(const uint64_t *loads, size_t count)
{
    struct buf steps = {0};
    for (size_t i = 0; i < count; i++)
        for (size_t r = 0; r < FIRST_LEVEL_ROUNDS; r++) {
            first_level_load(&steps, 1, r);
            first_level_overfill(&steps, 1, loads[i]);
            first_level_time(&steps, 1, r);
        }
    return buf_take(&steps);
}

/* Median of the loads from `from` on that missed. */
static double missed_cost(const struct visited *v, size_t from, size_t count,
                          double limit)
{
    double missed[FIRST_LEVEL_ROUNDS * FIRST_LEVEL_LINES];
    size_t n = 0;
    for (size_t i = from; i < from + count; i++)
        if (v->cycles[i] > limit)
            missed[n++] = v->cycles[i];
    return n > 0 ? stats_median(missed, n) : 0;
}

static int try_loads(struct lab *lab, const char *readers,
                     const uint64_t *loads, size_t count, struct first_level *n,
                     struct finding *f, struct error *err)
{
    const size_t each = FIRST_LEVEL_ROUNDS * FIRST_LEVEL_LINES;
    struct visited v;
    char *const steps = overfill_script(loads, count);
    const int status = first_level_visit(lab, &v, readers, steps, 0, err);
    if (status == 0)
        finding_evidence(f, v.experiment);
    for (size_t i = 0; status == 0 && i < count && n->overfill == 0; i++) {
        const size_t over = visited_over(&v, i * each, each, n->limit);
        if (hits_tally_of(over, FIRST_LEVEL_ROUNDS * n->lines) !=
            TALLY_ALL)
            continue;
        n->overfill = loads[i];
        n->beyond = missed_cost(&v, i * each, each, n->limit);
    }
    visited_free(&v);
    free(steps);
    return status;
}

/* 32, 48, 64, 96, …: not so many more than are needed that the next cache is
 * overfilled as well.  The first ones in one experiment, since they cost
 * little. */
static int measure_overfill(struct lab *lab, const struct first_level_row *row,
                            const char *readers, struct first_level *n,
                            struct finding *f, struct error *err)
{
    uint64_t loads[STEPS_MOST];
    size_t count = 0;
    for (uint64_t l = FEWEST; l <= most_loads(row) && count < STEPS_MOST;
         l += (l & (l - 1)) == 0 ? l / 2 : l / 3)
        loads[count++] = l;
    const size_t first = count < AT_ONCE ? count : AT_ONCE;
    int status = try_loads(lab, readers, loads, first, n, f, err);
    for (size_t i = first; status == 0 && n->overfill == 0 && i < count; i++)
        status = try_loads(lab, readers, &loads[i], 1, n, f, err);
    return status;
}

static int measure_one(struct lab *lab, const struct first_level_row *row,
                       struct first_level *n, struct finding *f,
                       struct error *err)
{
    char *const readers = xasprintf("global.cg,%s", row->reader);
    int status = measure_costs(lab, row, readers, n, f, err);
    if (status == 0 && n->present)
        status = measure_overfill(lab, row, readers, n, f, err);
    free(readers);
    if (status == 0 || !lab_excuses(status))
        return status;
    n->present = false;
    snprintf(n->why, sizeof n->why, "%.*s", (int)sizeof n->why - 1, err->text);
    return 0;
}

int first_level_measure(struct lab *lab, struct finding *const *findings,
                        struct error *err)
{
    int status = 0;
    for (int i = 0; status == 0 && i < FIRST_LEVEL_COUNT; i++)
        status = measure_one(lab, &first_level_table[i], &lab->first_level[i],
                             findings[i], err);
    return status;
}
