/*
 * The optimal steps come from dynamic programming over cells: a cell is a bin
 * of the histogram that has samples, or a whole run of bins that have none.
 * Where the samples fill more bins than bins_most lets in, bins are made wider.
 */
#include "analysis/curve/levels.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/mem.h"

/* A few samples are chance, one in a hundred is what disturbs; a clock may count
 * in steps of two. */
const struct levels_rule levels_usual = {
    .least_share = 0.01,
    .least_count = 4,
    .least_distance = 2,
};

/* The search over cells is quadratic: this many take some milliseconds. */
enum { BINS_MIN = 16, BINS_MAX = 512 };

/* How deep a valley must be and where a level ends, as shares of the density
 * at the top.  Two normal levels 3.3 standard deviations apart have a valley
 * of half their height; a hundredth is three deviations from the top. */
static const double VALLEY = 0.7, FOOT = 0.01;

/* Cells, or the steps made of them: step i is [edge[i], edge[i + 1]) and holds
 * the sorted samples [first[i], first[i + 1]). */
struct steps {
    size_t count;
    double *edge;
    size_t *first;
};

static struct steps steps_make(size_t most)
{
    return (struct steps){
        .edge = xreallocarray(NULL, most + 1, sizeof(double)),
        .first = xreallocarray(NULL, most + 1, sizeof(size_t)),
    };
}

static void steps_free(struct steps *steps)
{
    free(steps->edge);
    free(steps->first);
}

/* Begins a step (or ends the last one) at an edge. */
static void steps_push(struct steps *steps, double edge, size_t first)
{
    steps->edge[steps->count] = edge;
    steps->first[steps->count] = first;
    steps->count++;
}

static double density(const struct steps *s, size_t i)
{
    return (double)(s->first[i + 1] - s->first[i]) /
           (s->edge[i + 1] - s->edge[i]);
}

/* Bins of that width that hold samples. */
static size_t bins_used(const double *sorted, size_t n, double width)
{
    size_t used = 1;
    for (size_t i = 1; i < n; i++)
        used += floor(sorted[i] / width) != floor(sorted[i - 1] / width);
    return used;
}

/* Four samples a bin, so that no two that fall together by chance are a hill.
 */
static size_t bins_most(size_t n)
{
    const size_t most = n / 4 < BINS_MAX ? n / 4 : BINS_MAX;
    return most > BINS_MIN ? most : BINS_MIN;
}

static struct steps cells_of(const double *sorted, size_t n, double width)
{
    size_t used;
    while ((used = bins_used(sorted, n, width)) > bins_most(n))
        width *= 2;
    struct steps cells = steps_make(2 * used);
    double end = 0;
    for (size_t i = 0; i < n; i++) {
        const double bin = floor(sorted[i] / width);
        if (i > 0 && bin * width < end)
            continue;
        if (i > 0 && bin * width > end)
            steps_push(&cells, end, i);
        steps_push(&cells, bin * width, i);
        end = (bin + 1) * width;
    }
    steps_push(&cells, end, n);
    cells.count--;
    return cells;
}

/* Log-likelihood of the samples of cells [from, to) at an even density. */
static double fitness(const struct steps *cells, size_t from, size_t to)
{
    const double count = (double)(cells->first[to] - cells->first[from]);
    const double width = cells->edge[to] - cells->edge[from];
    return count > 0 ? count * log(count / width) : 0;
}

/*
 * What a further step must gain in log-likelihood: half ln n, as by the
 * Bayesian information criterion, and 1.5 more.  With that and the bins above
 * one normal level is taken for two in fewer than 5 of 1000 cases at 50 to
 * 10,000 samples, and a very broad one (deviation of 30 bins) in 16.
 */
static double step_cost(size_t n)
{
    return 1.5 + 0.5 * log((double)n);
}

/* For each end the begin of the last step of the best partition up to it. */
static size_t *best_begins(const struct steps *cells)
{
    size_t *const begin = xreallocarray(NULL, cells->count + 1, sizeof *begin);
    double *const best = xreallocarray(NULL, cells->count + 1, sizeof *best);
    const double cost = step_cost(cells->first[cells->count]);
    best[0] = 0;
    for (size_t to = 1; to <= cells->count; to++) {
        best[to] = -INFINITY;
        for (size_t from = 0; from < to; from++) {
            const double total = best[from] + fitness(cells, from, to) - cost;
            if (total > best[to]) {
                best[to] = total;
                begin[to] = from;
            }
        }
    }
    free(best);
    return begin;
}

/* Bayesian blocks: merges cells into the steps that the samples bear out.
 * The steps overwrite the cells, which no longer are of use. */
static void merge_cells(struct steps *cells)
{
    size_t *const begin = best_begins(cells);
    bool *const is_edge = xcalloc(cells->count + 1, sizeof *is_edge);
    for (size_t at = cells->count; at > 0; at = begin[at])
        is_edge[at] = true;
    is_edge[0] = true;
    const size_t last = cells->count;
    cells->count = 0;
    for (size_t i = 0; i <= last; i++)
        if (is_edge[i])
            steps_push(cells, cells->edge[i], cells->first[i]);
    cells->count--;
    free(is_edge);
    free(begin);
}

/* The lowest step between two. */
static size_t valley_between(const struct steps *s, size_t left, size_t right)
{
    size_t lowest = left;
    for (size_t i = left; i <= right; i++)
        if (density(s, i) < density(s, lowest))
            lowest = i;
    return lowest;
}

/* The indices of the steps that are tops: local maxima of the density. */
static size_t find_tops(const struct steps *s, size_t *tops)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        if ((i == 0 || density(s, i) > density(s, i - 1)) &&
            (i + 1 == s->count || density(s, i) >= density(s, i + 1)))
            tops[count++] = i;
    return count;
}

/* How high the valley between tops i and i + 1 is, as a share of the lower. */
static double saddle(const struct steps *s, const size_t *tops, size_t i)
{
    const double lower = fmin(density(s, tops[i]), density(s, tops[i + 1]));
    return density(s, valley_between(s, tops[i], tops[i + 1])) / lower;
}

/* Drops tops that no valley parts from a higher one, shallowest first. */
static size_t join_tops(const struct steps *s, size_t *tops, size_t count)
{
    while (count > 1) {
        size_t worst = 0;
        for (size_t i = 1; i + 1 < count; i++)
            if (saddle(s, tops, i) > saddle(s, tops, worst))
                worst = i;
        if (saddle(s, tops, worst) < VALLEY)
            break;
        if (density(s, tops[worst]) > density(s, tops[worst + 1]))
            worst++;
        memmove(tops + worst, tops + worst + 1,
                (count - worst - 1) * sizeof *tops);
        count--;
    }
    return count;
}

/* The first sorted sample at or after the middle of the valley between. */
static size_t parting(const struct steps *s, const double *sorted, size_t left,
                      size_t right)
{
    const size_t valley = valley_between(s, left, right);
    const double middle = 0.5 * (s->edge[valley] + s->edge[valley + 1]);
    size_t i = s->first[valley];
    while (i < s->first[valley + 1] && sorted[i] < middle)
        i++;
    return i;
}

/* Samples [from, to) of the hill whose top is step `top`, as far as its foot
 * within [from, to). */
static void trim_to_foot(const struct steps *s, size_t top, size_t *from,
                         size_t *to)
{
    const double foot = FOOT * density(s, top);
    size_t left = top, right = top;
    while (left > 0 && density(s, left - 1) >= foot)
        left--;
    while (right + 1 < s->count && density(s, right + 1) >= foot)
        right++;
    if (*from < s->first[left])
        *from = s->first[left];
    if (*to > s->first[right + 1])
        *to = s->first[right + 1];
}

static size_t smallest_level(const struct levels *levels)
{
    size_t smallest = 0;
    for (size_t i = 1; i < levels->count; i++)
        if (levels->level[i].count < levels->level[smallest].count)
            smallest = i;
    return smallest;
}

/* Adds a level of the sorted samples [from, to); a full table lets its
 * smallest go. */
static void add_level(struct levels *levels, const double *sorted, size_t from,
                      size_t to)
{
    const struct level level = {
        .centre = stats_median(sorted + from, to - from),
        .low = sorted[from],
        .high = sorted[to - 1],
        .count = to - from,
    };
    if (levels->count == LEVELS_MAX) {
        const size_t i = smallest_level(levels);
        if (level.count <= levels->level[i].count)
            return;
        memmove(levels->level + i, levels->level + i + 1,
                (levels->count - i - 1) * sizeof level);
        levels->count--;
    }
    levels->level[levels->count++] = level;
}

/* The hills of the density that have enough samples become levels. */
static void levels_of_steps(const struct steps *s, const double *sorted,
                            size_t n, size_t least, struct levels *levels)
{
    size_t *const tops = xreallocarray(NULL, s->count, sizeof *tops);
    const size_t count = join_tops(s, tops, find_tops(s, tops));
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        size_t from = next;
        size_t to =
            i + 1 < count ? parting(s, sorted, tops[i], tops[i + 1]) : n;
        next = to;
        trim_to_foot(s, tops[i], &from, &to);
        if (to - from >= least)
            add_level(levels, sorted, from, to);
    }
    free(tops);
}

void levels_find(const double *values, size_t n, const struct levels_rule *rule,
                 struct levels *levels)
{
    assert(rule->least_distance > 0);
    *levels = (struct levels){.outliers = n};
    if (n == 0)
        return;
    double *const sorted = stats_sorted(values, n);
    struct steps steps = cells_of(sorted, n, rule->least_distance);
    merge_cells(&steps);
    const double share = ceil(rule->least_share * (double)n);
    const size_t least = (size_t)fmax(share, (double)rule->least_count);
    levels_of_steps(&steps, sorted, n, least, levels);
    for (size_t i = 0; i < levels->count; i++)
        levels->outliers -= levels->level[i].count;
    steps_free(&steps);
    free(sorted);
}

/* How far outside a level a value is, 0 inside. */
static double outside(const struct level *level, double value)
{
    return fmax(0, fmax(level->low - value, value - level->high));
}

int levels_classify(const struct levels *levels, double value)
{
    int nearest = -1;
    double least = INFINITY;
    for (size_t i = 0; i < levels->count; i++) {
        const struct level *const level = &levels->level[i];
        const double off = outside(level, value);
        /* Half of the breadth as in levels.h; two cycles, as clocks may step.
         */
        if (off < least && off <= fmax(2, 0.5 * (level->high - level->low))) {
            least = off;
            nearest = (int)i;
        }
    }
    return nearest;
}
