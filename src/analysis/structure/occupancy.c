#include "analysis/structure/occupancy.h"

#include <math.h>

/* Chance goes beyond these once in a thousand: chi-squared with 1, 2 and 3
 * degrees of freedom. */
static const double chance_most[] = {0, 10.83, 13.82, 16.27};

/* ---- looks ------------------------------------------------------------- */

/* The mean of the looks before those of a quarter. */
static double looks_before(const struct occupancy_looks *l, size_t quarter)
{
    return fmax(0,
                ((double)quarter + 0.5) / OCCUPANCY_QUARTERS * l->looks - 0.5);
}

/* After i looks C - i of the other N - i lines are there: so many lines C by
 * the looks of the quarters [from, to), and how many lines one hit stands for.
 */
static double lines_by(const struct occupancy_looks *l, size_t from, size_t to,
                       double *per_hit)
{
    double hits = 0, weight = 0;
    for (size_t q = from; q < to; q++) {
        const double before = looks_before(l, q);
        const double each = l->seen[q] / (l->members - before);
        hits += l->there[q] / (1 - l->late) + each * before;
        weight += each;
    }
    *per_hit = 1 / weight;
    return hits / weight;
}

/* Hits are drawn with one chance; half a hit keeps that from none or all. Where
 * some are late each that is seen stands for more. */
static double error_of(const struct occupancy_looks *l, size_t from, size_t to,
                       double per_hit)
{
    double seen = 0, there = 0;
    for (size_t q = from; q < to; q++) {
        seen += l->seen[q];
        there += l->there[q];
    }
    const double chance = (there + 0.5) / (seen + 1);
    return per_hit * sqrt(seen * chance * (1 - chance)) / (1 - l->late);
}

void occupancy_of_looks(const struct occupancy_looks *l, struct occupancy *o)
{
    double per_hit;
    *o = (struct occupancy){.members = l->members};
    o->lines = lines_by(l, 0, OCCUPANCY_QUARTERS, &per_hit);
    o->error = error_of(l, 0, OCCUPANCY_QUARTERS, per_hit);
    double misfit = 0;
    for (size_t q = 0; q < OCCUPANCY_QUARTERS; q++) {
        const double off = lines_by(l, q, q + 1, &per_hit) - o->lines;
        const double error = error_of(l, q, q + 1, per_hit);
        misfit += off * off / (error * error);
    }
    o->drifts = misfit > chance_most[OCCUPANCY_QUARTERS - 1];
}

bool occupancy_join(const struct occupancy *a, const struct occupancy *b,
                    struct occupancy *mean)
{
    const double wa = 1 / (a->error * a->error), wb = 1 / (b->error * b->error);
    const double off = a->lines - b->lines;
    *mean =
        (struct occupancy){.members = a->members,
                           .lines = (wa * a->lines + wb * b->lines) / (wa + wb),
                           .error = 1 / sqrt(wa + wb),
                           .drifts = a->drifts || b->drifts};
    return off * off <= chance_most[1] * (1 / wa + 1 / wb);
}

/* ---- sets -------------------------------------------------------------- */

/* Ways that stay empty in one of `sets` sets to which each of `members` lines
 * comes with the same chance. */
static double empty_ways(double members, double sets, unsigned ways)
{
    const double p = 1 / sets, full = fmin(ways - 1, members);
    double chance = exp(lgamma(members + 1) - lgamma(full + 1) -
                        lgamma(members - full + 1) + full * log(p) +
                        (members - full) * log1p(-p));
    double empty = 0;
    for (double n = full; n >= 0 && chance > 0; n--) {
        const double more = (ways - n) * chance;
        empty += more;
        if (n < members * p && more < 1e-12 * empty)
            break;
        chance *= n * (1 - p) / ((members - n + 1) * p);
    }
    return empty;
}

double occupancy_expected(double members, double sets, unsigned ways)
{
    if (sets <= 1)
        return fmin(members, ways);
    return sets * (ways - empty_ways(members, sets, ways));
}

/*
 * Two things are not known of each: what was there, and how evenly the index
 * spreads the lines of the pool.  If it does so perfectly, the variance of what
 * comes to a set is less by the share of the pool that was drawn, and what is
 * lost by half of that share.
 */
static double misfit_of(const struct occupancy *seen, size_t count, double pool,
                        double sets, unsigned ways)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const struct occupancy *const o = &seen[i];
        const double expected = occupancy_expected(o->members, sets, ways);
        const double even = (o->members - expected) * o->members / pool / 2;
        const double off = o->lines - expected;
        const double error = hypot(o->error, even);
        sum += off * off / (error * error);
    }
    return sum;
}

/* Sets may have more ways than the cache has room for lines: an H200's L1 finds
 * 2048 of them, and holds 1924.  More than a quarter more are not thought of.
 */
enum { SETS_TRIED = 64 };
static const double ways_spare = 1.25;

static double best_misfit(const struct occupancy *held,
                          const struct occupancy *seen, size_t count,
                          double pool, unsigned ways)
{
    /* What it holds is known to an error, too. */
    const double least = (held->lines - 2 * held->error) / ways;
    const double most = ways_spare * held->lines / ways;
    double best = INFINITY;
    for (int i = 0; i <= SETS_TRIED; i++) {
        const double sets = least + (most - least) * i / SETS_TRIED;
        best = fmin(best, misfit_of(seen, count, pool, sets, ways));
    }
    return best;
}

/* Of a set that is the whole cache the ways are its lines. */
static unsigned ways_most(double lines)
{
    return lines < OCCUPANCY_WAYS_MOST ? (unsigned)lines : OCCUPANCY_WAYS_MOST;
}

void occupancy_ways_of(const struct occupancy *held,
                       const struct occupancy *seen, size_t count, double pool,
                       struct occupancy_ways *ways)
{
    double least = chance_most[count < 3 ? count : 3];
    const double most = least;
    *ways = (struct occupancy_ways){0};
    for (unsigned w = 1; w <= ways_most(held->lines); w++) {
        const double misfit = best_misfit(held, seen, count, pool, w);
        if (misfit > most)
            continue;
        ways->least = ways->least == 0 ? w : ways->least;
        ways->most = w;
        if (misfit < least)
            ways->best = w;
        least = fmin(least, misfit);
    }
}
