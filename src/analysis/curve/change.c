#include "analysis/curve/change.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/mem.h"

/* Distance and arc of one vector, as the header explains; both per load. */
static double reduce_row(const double *row, size_t columns)
{
    const double mean = stats_mean(row, columns);
    double off = 0, across = 0, squares = 0;
    for (size_t i = 0; i < columns; i++) {
        off += (row[i] - 1) * (row[i] - 1);
        across += (row[i] - mean) * (row[i] - mean);
        squares += row[i] * row[i];
    }
    const double n = (double)columns;
    /* The parts of the vector along 1 and across it; their arctangent is exact
     * for small angles, where the cosine of the scalar product is not. */
    const double angle = atan2(sqrt(across / n), mean);
    return hypot(sqrt(off / n), sqrt(squares / n) * angle);
}

void change_reduce(const double *samples, size_t rows, size_t columns,
                   double *series)
{
    for (size_t i = 0; i < rows; i++)
        series[i] = reduce_row(samples + i * columns, columns);
}

size_t change_estimate(const double *series, size_t n, size_t least)
{
    if (least == 0 || n < 2 * least)
        return 0;
    /* With the mean taken off, the costs of the two sides are the sum of all
     * squares, which no index changes, less sum²/length of each side. */
    const double mean = stats_mean(series, n);
    double before = 0, most = -1;
    size_t best = least;
    for (size_t i = 1; i <= n - least; i++) {
        before += series[i - 1] - mean;
        if (i < least)
            continue;
        /* What comes after sums to -before. */
        const double gain =
            before * before * (1 / (double)i + 1 / (double)(n - i));
        if (gain > most) {
            most = gain;
            best = i;
        }
    }
    return best;
}

static size_t skip_value(const double *sorted, size_t n, size_t i, double value)
{
    while (i < n && sorted[i] <= value)
        i++;
    return i;
}

double change_ks_statistic(const double *a, size_t n, const double *b, size_t m)
{
    if (n == 0 || m == 0)
        return 0;
    double *const x = stats_sorted(a, n), *const y = stats_sorted(b, m);
    double most = 0;
    for (size_t i = 0, j = 0; i < n && j < m;) {
        const double value = fmin(x[i], y[j]);
        i = skip_value(x, n, i, value);
        j = skip_value(y, m, j, value);
        most = fmax(most, fabs((double)i / (double)n - (double)j / (double)m));
    }
    free(x);
    free(y);
    return most;
}

double change_ks_critical(size_t n, size_t m, double alpha)
{
    if (n == 0 || m == 0)
        return INFINITY;
    return sqrt(-0.5 * log(alpha / 2) * (1 / (double)n + 1 / (double)m));
}

/* Tests a change at `index` of the n values. */
static struct change tested(const double *series, size_t n, size_t index,
                            double alpha)
{
    const double *const after = series + index;
    struct change c = {.index = index};
    c.statistic = change_ks_statistic(series, index, after, n - index);
    c.critical = change_ks_critical(index, n - index, alpha);
    c.significant = c.statistic > c.critical;
    c.before = stats_median(series, index);
    c.after = stats_median(after, n - index);
    return c;
}

struct segmentation {
    const double *series;
    size_t least;
    double alpha;
    size_t *ends; /* of the segments found so far, in order */
    size_t count;
};

/* Splits [from, to) as often as there is something to split, and notes where
 * its last segment ends. */
static void segment(struct segmentation *s, size_t from, size_t to)
{
    const size_t at = change_estimate(s->series + from, to - from, s->least);
    if (at > 0 &&
        tested(s->series + from, to - from, at, s->alpha).significant) {
        segment(s, from, from + at);
        segment(s, from + at, to);
    } else {
        s->ends[s->count++] = to;
    }
}

/* Tests the boundary between segments i and i + 1 on those two alone. */
static struct change boundary(const struct segmentation *s, size_t i)
{
    const size_t from = i > 0 ? s->ends[i - 1] : 0;
    struct change c = tested(s->series + from, s->ends[i + 1] - from,
                             s->ends[i] - from, s->alpha);
    c.index += from;
    return c;
}

/* Joins neighbours that are no longer different; what was dropped may change
 * what its neighbours are compared with, so starts over. */
static void join_equals(struct segmentation *s)
{
    for (size_t i = 0; i + 1 < s->count;) {
        if (boundary(s, i).significant) {
            i++;
            continue;
        }
        memmove(s->ends + i, s->ends + i + 1,
                (s->count - i - 1) * sizeof *s->ends);
        s->count--;
        i = 0;
    }
}

size_t change_find_all(const double *series, size_t n, size_t least,
                       double alpha, struct change *changes, size_t most)
{
    struct segmentation s = {series, least, alpha, NULL, 0};
    s.ends =
        xreallocarray(NULL, n / (least > 0 ? least : 1) + 1, sizeof *s.ends);
    segment(&s, 0, n);
    join_equals(&s);
    size_t count = 0;
    for (; count + 1 < s.count && count < most; count++)
        changes[count] = boundary(&s, count);
    free(s.ends);
    return count;
}
