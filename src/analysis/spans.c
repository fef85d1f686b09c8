#include "analysis/spans.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/mem.h"

static int by_end(const void *a, const void *b)
{
    const double x = ((const struct span *)a)->end;
    const double y = ((const struct span *)b)->end;
    return (x > y) - (x < y);
}

size_t spans_at_once(const struct span *spans, size_t n)
{
    size_t most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t there = 0;
        for (size_t k = 0; k < n; k++)
            there += spans[k].start <= spans[i].start &&
                     (spans[k].end > spans[i].start || k == i);
        most = there > most ? there : most;
    }
    return most;
}

/* In rising order of their ends. */
static struct span *sorted(const struct span *spans, size_t n)
{
    struct span *const copy = xreallocarray(NULL, n, sizeof *copy);
    memcpy(copy, spans, n * sizeof *copy);
    qsort(copy, n, sizeof *copy, by_end);
    return copy;
}

static double first_start(const struct span *spans, size_t n)
{
    double first = spans[0].start;
    for (size_t i = 1; i < n; i++)
        first = fmin(first, spans[i].start);
    return first;
}

/* Ends that follow the one before by less than half of what a span has for
 * itself. */
static size_t joint_ends(const struct span *spans, size_t n)
{
    struct span *const own = sorted(spans, n);
    const double each = (own[n - 1].end - first_start(own, n)) / (double)n;
    size_t joint = 0;
    for (size_t i = 1; i < n; i++)
        joint += own[i].end - own[i - 1].end < each / 2;
    free(own);
    return joint;
}

enum spans_pattern spans_pattern(const struct span *spans, size_t n,
                                 size_t at_once)
{
    if (at_once <= 1 || n == 0)
        return SPANS_SINGLY;
    const size_t joint = joint_ends(spans, n);
    const size_t groups = (n + at_once - 1) / at_once;
    if (joint == n - groups)
        return SPANS_TOGETHER;
    return joint == 0 ? SPANS_STAIRCASE : SPANS_MIXED;
}

/* The latest end before `start` that no earlier start took; ends rise, and
 * those that were taken are INFINITY. */
static double take_end(double *ends, size_t n, double start)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++)
        if (ends[i] <= start)
            best = i;
    if (best == n)
        return NAN;
    const double end = ends[best];
    ends[best] = INFINITY;
    return end;
}

static int by_start(const void *a, const void *b)
{
    const double x = ((const struct span *)a)->start;
    const double y = ((const struct span *)b)->start;
    return (x > y) - (x < y);
}

double spans_gap(const struct span *spans, size_t n)
{
    struct span *const own = sorted(spans, n);
    double *const ends = xreallocarray(NULL, n + 1, sizeof *ends);
    double *const gaps = xreallocarray(NULL, n + 1, sizeof *gaps);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        ends[i] = own[i].end;
    qsort(own, n, sizeof *own, by_start);
    for (size_t i = 0; i < n; i++) {
        const double end = take_end(ends, n, own[i].start);
        if (!isnan(end))
            gaps[count++] = own[i].start - end;
    }
    const double gap = stats_median(gaps, count);
    free(gaps);
    free(ends);
    free(own);
    return gap;
}

double fairness_jain(const double *shares, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += shares[i];
        squares += shares[i] * shares[i];
    }
    return sum * sum / ((double)n * squares);
}

int favour_side(const double *ratios, size_t n, double times)
{
    const double median = stats_median(ratios, n);
    const bool longer = stats_min(ratios, n) > 1 && median > times;
    const bool shorter = stats_max(ratios, n) < 1 && median < 1 / times;
    return longer - shorter;
}

/* The start of the heap that a number is in: from there up to it no two
 * neighbours are apart by more than `near`. */
static double heap_start(const double *rising, size_t n, double near,
                         double number)
{
    double start = rising[0];
    for (size_t i = 1; i < n && rising[i] <= number; i++)
        if (rising[i] - rising[i - 1] > near)
            start = rising[i];
    return start;
}

static bool heaps_apart(const double *rising, size_t n, double near)
{
    for (size_t i = 1; i < n; i++) {
        const double gap = rising[i] - rising[i - 1];
        if (gap > near && gap < 3 * near)
            return false;
    }
    return true;
}

size_t groups_of(const double *numbers, size_t n, double near, size_t *group)
{
    double *const rising = stats_sorted(numbers, n);
    double *const starts = xreallocarray(NULL, n + 1, sizeof *starts);
    const bool apart = heaps_apart(rising, n, near);
    size_t count = 0;
    for (size_t i = 0; apart && i < n; i++) {
        const double start = heap_start(rising, n, near, numbers[i]);
        size_t g = 0;
        while (g < count && starts[g] != start)
            g++;
        starts[g] = start;
        group[i] = g;
        count += g == count;
    }
    free(starts);
    free(rising);
    return count;
}
