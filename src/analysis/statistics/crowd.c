/*
 * Of few values the spread itself is uncertain, which Student's t allows for:
 * a median deviation says as much as 0.37 times as many values' standard
 * deviation would (Rousseeuw and Croux, Alternatives to the Median Absolute
 * Deviation, 1993).  Of many values the tail is seen, and need not be normal:
 * beyond one quantile of the deviations an exponential goes on, as steep as it
 * is from there to a further one.  For normal values that is further out than
 * need be, never nearer: at one in two million 7.2 standard deviations from the
 * quantiles 0.9 and 0.95, and 9.5 from 0.6 and 0.8, instead of 5.  The first
 * pair is moved where more than a twentieth are of something else, the second
 * where a fifth are; so the nearer of the two is taken.
 */
#include "analysis/statistics/crowd.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"
#include "base/mem.h"

/* Fewer say nothing of an odd one: which of two is it? */
enum { LEAST = 3 };
/* From here on the twentieth furthest out are two. */
enum { TAIL_FROM = CROWD_LARGE };

double crowd_normal(double chance)
{
    double low = 0, high = 40; /* erfc(40 / sqrt 2) is below any double */
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (erfc(middle / sqrt(2)) > chance)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The same of Student's t with so many degrees of freedom, which need not be
 * whole: from the normal one by Wallace's approximation (1959), turned round.
 */
static double student_beyond(double chance, double freedom)
{
    const double z =
        crowd_normal(chance) * (8 * freedom + 3) / (8 * freedom + 1);
    return sqrt(freedom * expm1(z * z / freedom));
}

/* By so much the median deviation of few normal values is too small (Croux and
 * Rousseeuw, Time-Efficient Algorithms for Two Highly Robust Estimators of
 * Scale, 1992). */
static double small_sample(size_t n)
{
    static const double factors[] = {1.196, 1.196, 1.495, 1.363, 1.206,
                                     1.200, 1.140, 1.129, 1.107};
    if (n - 1 < COUNT_OF(factors))
        return factors[n - 1];
    return (double)n / ((double)n - 0.8);
}

/* Beyond what lies with this chance, by an exponential through the tail. */
static double tail_beyond(const struct crowd_tail *t, double chance)
{
    const double steep = (t->far - t->near) / log((1 - t->from) / (1 - t->to));
    return t->near + steep * log((1 - t->from) / chance);
}

static struct crowd_tail tail_at(const double *sorted, size_t n, double from,
                                 double to)
{
    return (struct crowd_tail){from, to,
                               stats_quantile_of_sorted(sorted, n, from),
                               stats_quantile_of_sorted(sorted, n, to)};
}

/* The two pairs of quantiles of the head of this file. */
static double far_limit(const double *sorted, size_t n, double chance)
{
    const struct crowd_tail outer = tail_at(sorted, n, 0.9, 0.95),
                            inner = tail_at(sorted, n, 0.6, 0.8);
    return fmin(tail_beyond(&outer, chance), tail_beyond(&inner, chance));
}

static int by_number(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* How far each is from the median, in rising order; the caller frees. */
static double *deviations_of(const double *values, size_t n, double *centre)
{
    double *const away = xcalloc(n, sizeof *away);
    *centre = stats_median(values, n);
    for (size_t i = 0; i < n; i++)
        away[i] = fabs(values[i] - *centre);
    qsort(away, n, sizeof *away, by_number);
    return away;
}

/* 1.4826: of normal values (stats.h). */
static double spread_of(const double *sorted, size_t n)
{
    return 1.4826 * stats_quantile_of_sorted(sorted, n, 0.5) * small_sample(n);
}

/* As far out as some values still are. */
bool crowd_tail_of(const double *values, size_t n, struct crowd_tail *tail)
{
    double centre;
    if (n < TAIL_FROM)
        return false;
    double *const away = deviations_of(values, n, &centre);
    const double spread = spread_of(away, n);
    /* The furthest share that two values at least are beyond. */
    *tail = n >= 2000  ? tail_at(away, n, 0.99, 0.999)
            : n >= 200 ? tail_at(away, n, 0.98, 0.995)
                       : tail_at(away, n, 0.95, 0.98);
    tail->near /= spread;
    tail->far /= spread;
    free(away);
    return spread > 0;
}

static double freedom_of(size_t n)
{
    return fmax(0.37 * (double)(n - 1), 1);
}

struct crowd crowd_of(const double *values, size_t n, double chance)
{
    if (n < LEAST)
        return (struct crowd){stats_median(values, n), NAN, INFINITY};
    struct crowd c = {0};
    double *const away = deviations_of(values, n, &c.centre);
    const double freedom = freedom_of(n);
    c.spread = spread_of(away, n);
    c.limit = c.spread * student_beyond(chance, freedom);
    if (n >= TAIL_FROM && chance < 0.1) /* the share where the tail begins */
        c.limit = fmax(c.limit, far_limit(away, n, chance));
    free(away);
    return c;
}

double crowd_limit(const struct crowd *c, const struct crowd_tail *tail,
                   double chance)
{
    if (!(tail->near > 0) || chance >= 1 - tail->from)
        return c->limit;
    return fmax(c->limit, c->spread * tail_beyond(tail, chance));
}

/*
 * Few values know their spread badly, but hundreds of findings of the same few
 * know what spreads are like (Smyth, Linear Models and Empirical Bayes Methods,
 * 2004): the squares of spreads scatter by chance, by as much as their degrees
 * of freedom say, and what they scatter more is what findings differ by.
 */

/* The variance of the logarithm of a spread's square, of half as many degrees
 * of freedom: the trigamma function by its series. */
static double trigamma(double x)
{
    double sum = 0;
    for (; x < 6; x++) /* from here on four terms are exact to 1e-6 */
        sum += 1 / (x * x);
    return sum + 1 / x + 1 / (2 * x * x) + 1 / (6 * x * x * x) -
           1 / (30 * pow(x, 5));
}

static double trigamma_inverse(double y)
{
    double low = 1e-3, high = 1e3;
    for (int i = 0; i < 60; i++) {
        const double middle = sqrt(low * high);
        if (trigamma(middle) > y)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Few values' median deviations do not scatter quite as the theory says.  What
 * is taken to be known of others is no more than that their spreads differ by a
 * factor of two: (2 ln 2)^2. */
#define LEAST_APART 1.92

struct crowd_prior crowd_prior_of(const double *shares, size_t count, size_t n)
{
    double *const logs = xcalloc(count + 1, sizeof *logs);
    for (size_t i = 0; i < count; i++)
        logs[i] = 2 * log(shares[i]);
    const double sigma = stats_mad_sigma(logs, count);
    const double more = sigma * sigma - trigamma(freedom_of(n) / 2);
    const struct crowd_prior prior = {
        exp(stats_median(logs, count) / 2),
        2 * trigamma_inverse(fmax(more, LEAST_APART))};
    free(logs);
    return prior;
}

double crowd_small_limit(const struct crowd *c, size_t n,
                         const struct crowd_prior *prior, double chance)
{
    const double own = freedom_of(n), all = own + prior->freedom;
    const double others = prior->share * fabs(c->centre);
    if (!(prior->share > 0) || n < LEAST)
        return c->limit;
    const double square =
        (own * c->spread * c->spread + prior->freedom * others * others) / all;
    /* The median of few scatters itself, by sqrt(pi / 2n) standard deviations.
     */
    const double centre = sqrt(1 + acos(-1) / 2 / (double)n);
    return centre * sqrt(square) * student_beyond(chance, all);
}
