/*
 * Near is twice: first what lies near the densest half of all samples, which
 * is wider the more are disturbed; then what lies near the densest half of
 * these, which are hardly disturbed any more.
 */
#include "analysis/statistics/undisturbed.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"

/* Samples from `from` on, of sorted ones. */
struct run {
    size_t from, count;
};

static double width_of(const double *sorted, struct run r)
{
    return sorted[r.from + r.count - 1] - sorted[r.from];
}

/* The first of the shortest runs that are more than half: what is late lies
 * above. */
static struct run densest_half(const double *sorted, struct run all)
{
    struct run best = {all.from, all.count / 2 + 1};
    struct run r = best;
    for (; r.from + r.count <= all.from + all.count; r.from++)
        if (width_of(sorted, r) < width_of(sorted, best))
            best = r;
    return best;
}

/* Those of `all` from low to high. */
static struct run between(const double *sorted, struct run all, double low,
                          double high)
{
    struct run r = {all.from, 0};
    while (r.from < all.from + all.count && sorted[r.from] < low)
        r.from++;
    while (r.from + r.count < all.from + all.count &&
           sorted[r.from + r.count] <= high)
        r.count++;
    return r;
}

/* What lies near: as far to one side as to the other of its own mean, or it
 * would be off to the side where the densest half happens to lie.  None if not
 * even that half is near to itself. */
static struct run within(const double *sorted, struct run all, double far)
{
    enum { TURNS = 20 };
    const struct run half = densest_half(sorted, all);
    struct run kept = half;
    for (int i = 0; i < TURNS && kept.count > 0; i++) {
        const double mean = stats_mean(sorted + kept.from, kept.count);
        /* A mean of equal numbers is theirs but for rounding. */
        const double off = far + 1e-9 * fabs(mean);
        const struct run next = between(sorted, all, mean - off, mean + off);
        if (next.from == kept.from && next.count == kept.count)
            break;
        kept = next;
    }
    return kept;
}

/* The middle half of a normal distribution reaches as far as 0.6745 of its
 * deviation to either side. */
static double far_of(const double *sorted, struct run all, double step)
{
    static const double deviations = UNDISTURBED_DEVIATIONS / 0.6745;
    const double width = width_of(sorted, densest_half(sorted, all));
    return deviations * (width + step) / 2;
}

static double deviation(const double *sorted, struct run r)
{
    const double mean = stats_mean(sorted + r.from, r.count);
    double squares = 0;
    for (size_t i = r.from; i < r.from + r.count; i++)
        squares += (sorted[i] - mean) * (sorted[i] - mean);
    return r.count > 1 ? sqrt(squares / (double)(r.count - 1)) : INFINITY;
}

/*
 * How much of the mean may be late samples that lie near: if they are as many
 * in each cycle as just beyond.  Those beyond that are not matched below are
 * late; as many near are late by half as far as near goes, on average.
 */
static double hidden(const double *sorted, size_t n, struct run kept,
                     double far)
{
    const double mean = stats_mean(sorted + kept.from, kept.count);
    const struct run all = {0, n};
    const struct run above =
        between(sorted, all, nextafter(mean + far, INFINITY), mean + 2 * far);
    const struct run below =
        between(sorted, all, mean - 2 * far, nextafter(mean - far, -INFINITY));
    if (above.count <= below.count)
        return 0;
    return (double)(above.count - below.count) * far / (2 * (double)kept.count);
}

double undisturbed_t(size_t freedom)
{
    /* Of the normal distribution at 95 %, and what fewer samples add: Fisher
     * and Cornish's expansion (1960), to a percent from three on. */
    static const double z = 1.959964;
    /* Student's own for one and for two degrees of freedom. */
    static const double first[] = {INFINITY, 12.706, 4.303};
    if (freedom < 3)
        return first[freedom];
    const double v = (double)freedom, z3 = z * z * z, z5 = z3 * z * z;
    return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
           (3 * z5 * z * z + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

static struct undisturbed summary(const double *sorted, size_t n,
                                  struct run kept, double far)
{
    const double cycles = stats_mean(sorted + kept.from, kept.count);
    const double spread = deviation(sorted, kept);
    const double error = kept.count > 1 ? undisturbed_t(kept.count - 1) *
                                              spread / sqrt((double)kept.count)
                                        : INFINITY;
    return (struct undisturbed){
        .cycles = cycles,
        .low = cycles - error - hidden(sorted, n, kept, far),
        .high = cycles + error,
        .disturbed = 1 - (double)kept.count / (double)n,
        .excess = stats_mean(sorted, n) - cycles,
        .spread = spread,
        .kept = kept.count,
    };
}

static struct undisturbed of_nothing(void)
{
    return (struct undisturbed){
        .cycles = NAN, .low = NAN, .high = NAN, .disturbed = 1};
}

struct undisturbed undisturbed_of(const double *samples, size_t n, double step)
{
    if (n == 0)
        return of_nothing();
    double *const sorted = stats_sorted(samples, n);
    const struct run all = {0, n};
    const struct run first = within(sorted, all, far_of(sorted, all, step));
    const double far = far_of(sorted, first, step);
    const struct undisturbed u =
        summary(sorted, n, within(sorted, first, far), far);
    free(sorted);
    return u;
}

struct undisturbed undisturbed_within(const double *samples, size_t n,
                                      double far)
{
    if (n == 0)
        return of_nothing();
    double *const sorted = stats_sorted(samples, n);
    const struct run all = {0, n};
    const struct run kept = within(sorted, all, far);
    const struct undisturbed u =
        2 * kept.count > n ? summary(sorted, n, kept, far) : of_nothing();
    free(sorted);
    return u;
}

struct undisturbed undisturbed_less(const struct undisturbed *a,
                                    const struct undisturbed *b)
{
    const double cycles = a->cycles - b->cycles;
    return (struct undisturbed){
        .cycles = cycles,
        .low = cycles - hypot(a->cycles - a->low, b->high - b->cycles),
        .high = cycles + hypot(a->high - a->cycles, b->cycles - b->low),
        .disturbed = fmax(a->disturbed, b->disturbed),
        .excess = a->excess - b->excess,
        .spread = fmax(a->spread, b->spread),
        .kept = a->kept < b->kept ? a->kept : b->kept,
    };
}
