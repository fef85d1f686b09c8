#include "twin/validate/trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"

/* Cycles of each load that is kept: medians over the runs, and all. */
struct cycles {
    double *at, *all;
    size_t count;
    unsigned runs;
};

static void cycles_free(struct cycles *c)
{
    free(c->at);
    free(c->all);
}

static int run_all(struct prober *prober, const char *text, unsigned runs,
                   struct cycles *c, struct error *err)
{
    int status = 0;
    c->runs = runs;
    for (unsigned run = 0; status == 0 && run < runs; run++) {
        struct samples samples = {0};
        status = prober_run(prober, text, &samples, NULL, err);
        if (status == 0 && run == 0) {
            c->count = samples.rows;
            c->all = xcalloc(runs * samples.rows + 1, sizeof *c->all);
        }
        const size_t column =
            status == 0 ? samples_column(&samples, "cycles") : 0;
        for (size_t i = 0; status == 0 && i < c->count && i < samples.rows; i++)
            c->all[i * runs + run] = (double)samples_at(&samples, i, column);
        samples_free(&samples);
    }
    c->at = xcalloc(c->count + 1, sizeof *c->at);
    for (size_t i = 0; status == 0 && i < c->count; i++)
        c->at[i] = stats_median(c->all + i * runs, runs);
    return status;
}

/* What a hit of the nearest cache costs here, clock reads included, and by how
 * much it deviates. */
struct hits {
    double cycles, spread;
};

static int cost_of_hit(struct prober *prober, const struct asked *asked,
                       unsigned runs, struct hits *hits, struct error *err)
{
    /* Standard deviations of a normal distribution between its quartiles. */
    static const double quartiles = 1.349;
    char *const text = xasprintf("visit readers=%s steps=9x0:1:0,16x!0:1:0%s",
                                 asked->reader, asked->extra);
    struct cycles c = {0};
    const int status = run_all(prober, text, runs, &c, err);
    const size_t all = runs * c.count;
    if (c.count > 0)
        *hits = (struct hits){.cycles = stats_median(c.all, all),
                              .spread = (stats_quantile(c.all, all, 0.75) -
                                         stats_quantile(c.all, all, 0.25)) /
                                        quartiles};
    cycles_free(&c);
    free(text);
    return status;
}

static double level_of(const struct trial *t, double more)
{
    double level = 0;
    for (int k = 0; k < TRIAL_CUTS; k++)
        level += t->asked.cuts[k] > 0 && more > t->asked.cuts[k];
    return level;
}

/* A median of so many runs may be as far off: two of its standard errors. */
static double off_of(const struct hits *hits, unsigned runs)
{
    static const double of_median =
        1.2533; /* by that of a mean: sqrt(pi / 2) */
    return 2 * of_median * hits->spread / sqrt(runs);
}

/* Where each load was found. */
struct seen {
    struct cycles cycles; /* levels now */
    double mean, varied;
};

/* The mean level of a load over all runs; `varies`: that it is not the same in
 * all. */
static double mean_of(const struct trial *t, const struct cycles *c,
                      size_t load, double hit, bool *varies)
{
    const double *const at = c->all + load * c->runs;
    double sum = 0;
    *varies = false;
    for (unsigned run = 0; run < c->runs; run++) {
        const double level = level_of(t, at[run] - hit);
        *varies = *varies || level != level_of(t, at[0] - hit);
        sum += level;
    }
    return sum / c->runs;
}

static bool is_clear(const struct trial *t, double more, double off)
{
    return level_of(t, more - off) == level_of(t, more + off);
}

static int look(const struct trial *t, struct prober *prober, unsigned hit_runs,
                unsigned runs, struct seen *seen, struct error *err)
{
    struct hits hits = {0};
    struct cycles *const c = &seen->cycles;
    int status = cost_of_hit(prober, &t->asked, hit_runs, &hits, err);
    const double hit = hits.cycles, off = off_of(&hits, runs);
    if (status == 0)
        status = run_all(prober, t->text, runs, c, err);
    for (size_t i = 0; status == 0 && i < c->count; i++) {
        bool varies;
        seen->mean += mean_of(t, c, i, hit, &varies) / (double)c->count;
        seen->varied += varies / (double)c->count;
        c->at[i] = is_clear(t, c->at[i] - hit, off)
                       ? level_of(t, c->at[i] - hit)
                       : TRIAL_UNCLEAR;
    }
    return status;
}

int trial_measure(struct trial *t, struct prober *device, struct error *err)
{
    /* So often, since all that follows leans on it: levels of TLBs lie ten
     * cycles apart, and single loads of an H200 stray by two. */
    enum { HIT_RUNS = 9 };
    struct seen seen = {0};
    const int status = look(t, device, HIT_RUNS, t->runs, &seen, err);
    t->count = status == 0 ? seen.cycles.count : 0;
    t->found = xcalloc(t->count + 1, 1);
    t->mean = seen.mean;
    t->varied = seen.varied;
    for (size_t i = 0; i < t->count; i++) {
        t->found[i] = (unsigned char)seen.cycles.at[i];
        t->unclear += t->found[i] == TRIAL_UNCLEAR;
    }
    cycles_free(&seen.cycles);
    return status;
}

/* Shares of n loads differ by chance by half over the root of n, at most, each;
 * four of these, and 2 % for what is not told at the edge of a level. */
static bool differ(double a, double b, size_t count)
{
    return fabs(a - b) > 0.02 + 4 * sqrt(0.5 / (double)count);
}

/* What the first run leaves in a cache that lasts, the others find: so most
 * begin as those of the device do. */
enum { TWIN_RUNS = 9, TWIN_RUNS_ALIKE = 3 };

/* Where chance chooses, each run finds other lines: if several should be found
 * here and there, and not even a fourth of them is, it is not chance.  In more
 * runs than the twin's chance would show more often, and noise shows, too. */
static bool unlike(const struct trial *t, const struct seen *seen)
{
    enum { SEVERAL = 4 };
    const bool settled = !t->fits &&
                         seen->varied * (double)t->count >= SEVERAL &&
                         t->varied < seen->varied / 4;
    return differ(seen->mean, t->mean, t->count * seen->cycles.runs) ||
           settled ||
           (t->runs <= TWIN_RUNS && differ(seen->varied, t->varied, t->count));
}

/* True if the twin finds the load elsewhere; false of what is not clear. */
static bool differs(const struct trial *t, const struct seen *seen, size_t load)
{
    return seen->cycles.at[load] != t->found[load] &&
           seen->cycles.at[load] != TRIAL_UNCLEAR &&
           t->found[load] != TRIAL_UNCLEAR;
}

static size_t count_of(const bool *is, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += is[i];
    return sum;
}

/* Loads places of the trial's sets at random; or, of more lines than fit, one
 * after the other, so that they miss. */
static int stir(const struct trial *t, struct prober *twin, struct rng *rng,
                bool in_order, struct error *err)
{
    enum { STEPS = 1500 };
    struct buf steps = {0};
    struct samples samples = {0};
    uint64_t at = 0;
    for (size_t i = 0; i < STEPS; i++) {
        at = in_order && i > 0 ? (at + 1) % t->place_count
                               : rng_below(rng, t->place_count);
        buf_printf(&steps, "%s%" PRIu64, i > 0 ? "|" : "", t->places[at]);
    }
    char *const text = xasprintf("visit readers=%s steps=!%" PRIu64 ":1:0,%s%s",
                                 t->asked.reader, t->places[t->place_count - 1],
                                 buf_string(&steps), t->asked.extra);
    const int status = prober_run(twin, text, &samples, NULL, err);
    samples_free(&samples);
    free(text);
    buf_free(&steps);
    return status;
}

/* Keeps of loads that were not foretold those that no state of the sets
 * explains which they may have been in.  `*least`: by the state that explains
 * most of them.  Where several states explain few of them, more are not tried.
 */
static int wrong_in_any(const struct trial *t, struct prober *twin, bool *wrong,
                        size_t *least, struct error *err)
{
    enum { STATES = 16, RUNS = STATES * TWIN_RUNS_ALIKE, SOME = RUNS / 4 };
    const size_t first = count_of(wrong, t->count);
    size_t left = first;
    struct rng rng;
    int status = 0;
    rng_seed(&rng, STATES);
    for (unsigned run = 0;
         status == 0 && run < RUNS && trial_fails(t, *least) &&
         (run < SOME || 2 * left <= first);
         run++) {
        struct seen seen = {0};
        if (run % TWIN_RUNS_ALIKE == 0)
            status = stir(t, twin, &rng, run / TWIN_RUNS_ALIKE % 2 > 0, err);
        if (status == 0)
            status = look(t, twin, 1, 1, &seen, err);
        size_t other = 0;
        for (size_t i = 0; status == 0 && i < seen.cycles.count && i < t->count;
             i++) {
            const bool is = differs(t, &seen, i);
            other += is;
            wrong[i] = wrong[i] && is;
        }
        left = count_of(wrong, t->count);
        *least = u64_min(*least, other);
        cycles_free(&seen.cycles);
    }
    return status;
}

/* How many loads two runs of the twin find apart where chance decides what a
 * cache before this one lets through: the device may find as many elsewhere.
 * The most of several times, and half as many again. */
static int apart_by_chance(const struct trial *t, struct prober *twin,
                           unsigned runs, const struct seen *first,
                           size_t *most, struct error *err)
{
    enum { TIMES = 4 };
    int status = 0;
    *most = 0;
    for (unsigned time = 0; status == 0 && time < TIMES; time++) {
        struct seen seen = {0};
        size_t apart = 0;
        status = look(t, twin, 1, runs, &seen, err);
        for (size_t i = 0;
             status == 0 && i < seen.cycles.count && i < first->cycles.count;
             i++)
            apart += seen.cycles.at[i] != first->cycles.at[i];
        *most = u64_max(*most, apart + apart / 2);
        cycles_free(&seen.cycles);
    }
    return status;
}

bool trial_fails(const struct trial *t, size_t wrong)
{
    return wrong > 1 + t->count / (t->open ? 20 : 100);
}

/* True if what the sets held before may decide what the loads find.  Laps of
 * which most miss bring most policies into one state, and those of which most
 * hit none; random loads bring all but those with marks. */
static bool is_left_open(const struct trial *t, const struct cache_shape *shape)
{
    const bool marks = cache_lasts_misses(shape->policy);
    const bool settled =
        t->settled == shape->set_ways[0] && (t->marks_settled || !marks);
    return cache_lasts(shape->policy) && !settled && t->place_count > 0 &&
           (t->laps || marks);
}

int trial_compare(const struct trial *t, struct prober *twin,
                  const struct cache_shape *shape, struct compared *c,
                  struct error *err)
{
    struct seen seen = {0};
    const unsigned most = t->alike ? TWIN_RUNS_ALIKE : TWIN_RUNS;
    const unsigned runs = t->runs < most ? t->runs : most;
    bool *const is = xcalloc(t->count + 1, sizeof *is);
    int status = look(t, twin, 1, runs, &seen, err);
    for (size_t i = 0; status == 0 && i < seen.cycles.count && i < t->count;
         i++)
        is[i] = differs(t, &seen, i);
    const size_t first = count_of(is, t->count);
    size_t least = first;
    if (status == 0 && shape != NULL && is_left_open(t, shape) && first > 0)
        status = wrong_in_any(t, twin, is, &least, err);
    size_t other = count_of(is, t->count), apart = 0;
    *c = (struct compared){.by_share =
                               shape != NULL && cache_by_chance(shape->policy),
                           .strained = t->alike && trial_fails(t, least) &&
                                       !trial_fails(t, other)};
    if (c->by_share)
        other = unlike(t, &seen) ? t->count : 0;
    else if (status == 0 && !t->alike && trial_fails(t, other))
        status = apart_by_chance(t, twin, runs, &seen, &apart, err);
    other -= u64_min(other, apart);
    c->wrong = status == 0 && seen.cycles.count == t->count ? other : t->count;
    c->excused = first - u64_min(first, c->wrong);
    cycles_free(&seen.cycles);
    free(is);
    return status;
}

size_t trial_asked(const struct trial *t, const struct compared *c)
{
    const size_t clear = t->count - t->unclear;
    return c->by_share ? 0 : clear - u64_min(clear, c->excused);
}

void trial_free(struct trial *t)
{
    free(t->text);
    free(t->places);
    free(t->found);
}
