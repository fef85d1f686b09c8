#include "analysis/hits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/mem.h"

size_t hits_above(const double *cycles, size_t count, double limit)
{
    size_t above = 0;
    for (size_t i = 0; i < count; i++)
        above += cycles[i] > limit;
    return above;
}

size_t hits_between(double *cycles, size_t count, double above, double below)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (cycles[i] > above && cycles[i] < below)
            cycles[kept++] = cycles[i];
    return kept;
}

/*
 * One hit in four may cost a dozen cycles more, where the loop that loads goes
 * back (H200, driver 580), hence the quantile of nine in ten, which is one of
 * those; and above it the slack, or four deviations where hits spread more: one
 * in 30,000 of a normal distribution is beyond.  A small cache may have lost a
 * line: what was no hit is left out, and however few hits spread, what is no
 * hit does not become one.
 */
double hits_spread_limit(const double *cycles, size_t count, double hit,
                         const struct hits_rule *rule)
{
    const double timed = fmin(rule->timed_cycles, hit);
    const double most =
        fmin(rule->no_hit_times * (hit - timed) + rule->no_hit_cycles + timed,
             rule->no_hit);
    const double slack = fmax(rule->slack_cycles, rule->slack_share * hit);
    double *const hits = xreallocarray(NULL, count + 1, sizeof *hits);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (cycles[i] <= most)
            hits[n++] = cycles[i];
    const double spread = stats_mad_sigma(hits, n);
    const double limit = stats_quantile(hits, n, 0.9) + fmax(slack, 4 * spread);
    free(hits);
    return n > 0 ? fmin(limit, most) : NAN;
}

/* Four standard deviations of hits, as those that are cheaper than most tell by
 * their median (1.4826 times that is one).  What costs less than three quarters
 * hits a cache in front. */
static double hits_deviate(const double *cycles, size_t count, double hit)
{
    double *const less = xreallocarray(NULL, count + 1, sizeof *less);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (cycles[i] > 0.75 * hit && cycles[i] < hit)
            less[n++] = hit - cycles[i];
    const double deviations = n * HITS_CLEARLY >= count && n > 0
                                  ? 4 * 1.4826 * stats_median(less, n)
                                  : 0;
    free(less);
    return deviations;
}

/* One in 200 may be cheaper than any for no reason; and where so few are below,
 * it is chance whether as many are above. */
enum { STRAY = 200, BELOW_LEAST = 16 };

double hits_cheapest(const double *cycles, size_t count)
{
    double *const at = stats_sorted(cycles, count);
    const size_t first = count / STRAY;
    double middle = count > 0 ? at[first] : NAN;
    for (size_t i = first, above = first, next; i < count; i = next) {
        middle = at[i];
        for (next = i; next < count && at[next] == middle;)
            next++;
        /* One more, since cycles are whole: of the least none is below. */
        while (above < count && at[above] <= 2 * middle - at[first] + 1)
            above++;
        if (next - first >= BELOW_LEAST && above - next <= i - first)
            break;
    }
    free(at);
    return middle;
}

double hits_clearly_dearer(const double *cycles, size_t count, double hit,
                           double timed)
{
    const double slack =
        fmax(fmax(8, 0.1 * hit), hits_deviate(cycles, count, hit + timed));
    return hit + slack + timed;
}

double hits_least_miss(const double *cycles, size_t count, double hit,
                       double timed, double half)
{
    const double above = hits_clearly_dearer(cycles, count, hit, timed);
    double *const near = xreallocarray(NULL, count + 1, sizeof *near);
    memcpy(near, cycles, count * sizeof *near);
    const size_t n = above < half ? hits_between(near, count, above, half) : 0;
    double least = half;
    if (n * HITS_CLEARLY >= count && n > 0) {
        const double low = stats_quantile(near, n, 0.02);
        const double high = stats_quantile(near, n, 0.98);
        least = fmax(low - hits_miss_margin(low, high), above);
    }
    free(near);
    return least;
}

/* A quarter of the cases may be disturbed or be left over from before, and
 * still it is known what the others say. */
enum hits_tally hits_tally_of(size_t events, size_t cases)
{
    if (4 * events <= cases)
        return TALLY_NONE;
    return 4 * events >= 3 * cases ? TALLY_ALL : TALLY_OPEN;
}

struct hits_run hits_run_around(const enum hits_tally *found, size_t count,
                                size_t at)
{
    struct hits_run r = {.first = at, .end = at};
    size_t all = 0, from = at, to = at + 1;
    while (found[at] == TALLY_ALL && r.first > 0 &&
           found[r.first - 1] == TALLY_ALL)
        r.first--;
    while (r.end < count && found[r.end] == TALLY_ALL)
        r.end++;
    for (size_t i = 0; i < count; i++) {
        r.open += found[i] == TALLY_OPEN;
        if (found[i] != TALLY_ALL)
            continue;
        all++;
        from = i < from ? i : from;
        to = i + 1 > to ? i + 1 : to;
    }
    r.apart = all - (r.end - r.first);
    r.around = to - from;
    r.to_an_end = r.end > r.first && (r.first == 0 || r.end == count);
    return r;
}
