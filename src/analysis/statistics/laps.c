#include "analysis/statistics/laps.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"
#include "base/mem.h"

struct load {
    uint64_t address;
    double cycles;
    size_t when;
};

/* The loads by address, those of one in the order of their laps. */
struct sorted_loads {
    struct load *at;
    size_t count;
};

/* Loads of one address. */
struct group {
    const struct load *at;
    size_t count;
};

static int by_address(const void *a, const void *b)
{
    const struct load *const x = a, *const y = b;
    if (x->address != y->address)
        return x->address > y->address ? 1 : -1;
    return (x->when > y->when) - (x->when < y->when);
}

static struct sorted_loads sort(const uint64_t *address, const double *cycles,
                                size_t n)
{
    struct sorted_loads s = {xreallocarray(NULL, n, sizeof *s.at), n};
    for (size_t i = 0; i < n; i++)
        s.at[i] = (struct load){address[i], cycles[i], i};
    qsort(s.at, n, sizeof *s.at, by_address);
    return s;
}

static bool next_group(const struct sorted_loads *s, struct group *g)
{
    const struct load *const first = g->at == NULL ? s->at : g->at + g->count;
    const struct load *const end = s->at + s->count;
    *g = (struct group){first, 0};
    while (first + g->count < end && first[g->count].address == first->address)
        g->count++;
    return g->count > 0;
}

/* Standard deviation of laps of one address: of what one lap costs more than
 * the one before there are two in it. */
static double spread_of(const struct sorted_loads *s, double step)
{
    double *const more = xreallocarray(NULL, s->count, sizeof *more);
    struct group g = {0};
    size_t n = 0;
    while (next_group(s, &g))
        for (size_t i = 1; i < g.count; i++)
            more[n++] = g.at[i].cycles - g.at[i - 1].cycles;
    const struct undisturbed u = undisturbed_of(more, n, step);
    free(more);
    return n > 1 ? u.spread / sqrt(2) : 0;
}

/* What the address costs, if most of its laps are within `far` of their mean;
 * `work` has room for its loads. */
static struct undisturbed typical_of(const struct group *g, double far,
                                     double *work)
{
    for (size_t i = 0; i < g->count; i++)
        work[i] = g->at[i].cycles;
    return undisturbed_within(work, g->count, far);
}

/* Sums over the addresses. */
struct sums {
    double *typical, *mean; /* of each address */
    size_t kept, groups, near;
    size_t loads;  /* that count */
    double cycles; /* of these */
    double *off;   /* by when it was: what they are off their address's typical
                      cost; NAN of others */
};

/* Moves those to the front that cost as much at least; returns how many. */
static size_t from(double *cycles, size_t n, double least)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (cycles[i] >= least)
            cycles[count++] = cycles[i];
    return count;
}

static void add_group(struct sums *s, const struct group *g, double far,
                      double early, double *work)
{
    const struct undisturbed u = typical_of(g, far, work);
    const double typical = u.kept > 0 ? u.cycles : stats_min(work, g->count);
    const double least = typical - fmax(early, far);
    for (size_t i = 0; i < g->count; i++)
        if (g->at[i].cycles >= least)
            s->off[g->at[i].when] = g->at[i].cycles - typical;
    const size_t count = from(work, g->count, least);
    const double mean = stats_mean(work, count);
    s->mean[s->groups++] = mean;
    s->loads += count;
    s->cycles += mean * (double)count;
    if (u.kept == 0)
        return;
    s->typical[s->kept++] = typical;
    s->near += u.kept;
}

/* The standard error of the mean of those that count: what disturbs may last
 * for some loads in a row. */
static double error_of_excess(const struct sums *s, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(s->off[i]))
            s->off[count++] = s->off[i];
    return stats_mean_error(s->off, count);
}

/* Addresses in a row may be alike, as those in the same slices of a cache. */
static struct laps summary(const struct sums *s, size_t n, double spread,
                           double mean)
{
    const double all = s->cycles / (double)s->loads;
    const double cycles = stats_mean(s->typical, s->kept);
    const double t = undisturbed_t(s->kept > 0 ? s->kept - 1 : 0);
    const double error = t * stats_mean_error(s->typical, s->kept);
    const double by_laps = t * spread / sqrt((double)s->near);
    return (struct laps){
        .cost = {.cycles = cycles,
                 .low = cycles - error,
                 .high = cycles + error,
                 .disturbed = 1 - (double)s->near / (double)s->loads,
                 .excess = all - cycles,
                 .spread = spread,
                 .kept = s->kept},
        .differ = sqrt(fmax(0, error * error - by_laps * by_laps)),
        .excess_error = error_of_excess(s, n),
        .mean = all,
        .early = all - mean,
        .mean_error = stats_mean_error(s->mean, s->groups),
        .median =
            s->kept > 0 ? stats_quantile(s->typical, s->kept, 0.5) : cycles,
    };
}

struct laps laps_of(const uint64_t *address, const double *cycles, size_t n,
                    double step, double early)
{
    struct sorted_loads loads = sort(address, cycles, n);
    const double spread = spread_of(&loads, step);
    const double far = UNDISTURBED_DEVIATIONS * spread + step;
    double *const work = xreallocarray(NULL, n, sizeof *work);
    struct sums s = {.typical = xreallocarray(NULL, n, sizeof *s.typical),
                     .mean = xreallocarray(NULL, n, sizeof *s.mean),
                     .off = xreallocarray(NULL, n, sizeof *s.off)};
    struct group g = {0};
    for (size_t i = 0; i < n; i++)
        s.off[i] = NAN;
    while (next_group(&loads, &g))
        add_group(&s, &g, far, early, work);
    const struct laps laps = summary(&s, n, spread, stats_mean(cycles, n));
    free(loads.at);
    free(work);
    free(s.typical);
    free(s.mean);
    free(s.off);
    return laps;
}
