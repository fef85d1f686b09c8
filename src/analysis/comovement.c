/* See comovement.h. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/comovement.h"
#include "base/mem.h"

/* Joining groups costs at least so many times the variance of what was joined
 * before: twice what noise alone has from joint to joint, which is about 1.2 of
 * ten rows. */
static const double steep = 2.5;

/* Clusters of which two are joined at a time; a cluster is known by the first
 * of its series. */
struct tree {
    size_t n;
    double *apart;  /* n × n: mean variance of differences */
    size_t *size;   /* 0: part of another one */
    double *height; /* n − 1: what each joint cost */
    size_t *into;   /* n − 1: the one that stays, and … */
    size_t *from;   /* … the one that goes */
};

/* Of a difference, over the rows that both have; 0 of fewer than two. */
static double variance(const double *values, size_t rows, size_t n, size_t a,
                       size_t b)
{
    double count = 0, mean = 0, sum = 0;
    for (size_t row = 0; row < rows; row++) {
        const double d = values[row * n + a] - values[row * n + b];
        if (isnan(d))
            continue;
        count++;
        const double off = d - mean;
        mean += off / count;
        sum += off * (d - mean);
    }
    return count > 1 ? sum / (count - 1) : 0;
}

static void plant(struct tree *t, const double *values, size_t rows, size_t n)
{
    *t = (struct tree){.n = n,
                       .apart = xcalloc(n * n, sizeof *t->apart),
                       .size = xcalloc(n, sizeof *t->size),
                       .height = xcalloc(n, sizeof *t->height),
                       .into = xcalloc(n, sizeof *t->into),
                       .from = xcalloc(n, sizeof *t->from)};
    for (size_t a = 0; a < n; a++) {
        t->size[a] = 1;
        for (size_t b = 0; b < a; b++)
            t->apart[a * n + b] = t->apart[b * n + a] =
                variance(values, rows, n, a, b);
    }
}

static void fell(struct tree *t)
{
    free(t->apart);
    free(t->size);
    free(t->height);
    free(t->into);
    free(t->from);
}

static void nearest(const struct tree *t, size_t *into, size_t *from)
{
    double least = INFINITY;
    for (size_t a = 0; a < t->n; a++)
        for (size_t b = a + 1; b < t->n; b++)
            if (t->size[a] > 0 && t->size[b] > 0 &&
                t->apart[a * t->n + b] < least) {
                least = t->apart[a * t->n + b];
                *into = a;
                *from = b;
            }
}

static void join(struct tree *t, size_t joint)
{
    size_t a = 0, b = 0;
    nearest(t, &a, &b);
    t->height[joint] = t->apart[a * t->n + b];
    t->into[joint] = a;
    t->from[joint] = b;
    const double of_a = (double)t->size[a], of_b = (double)t->size[b];
    for (size_t k = 0; k < t->n; k++)
        t->apart[a * t->n + k] = t->apart[k * t->n + a] =
            (of_a * t->apart[a * t->n + k] + of_b * t->apart[b * t->n + k]) /
            (of_a + of_b);
    t->size[a] += t->size[b];
    t->size[b] = 0;
}

/* The first joint that joins what is apart; n − 1 where none does. */
static size_t find_cut(const struct tree *t, double floor)
{
    size_t cut = t->n - 1;
    double best = steep;
    for (size_t i = 1; i + 1 < t->n; i++) {
        const double ratio = fmax(t->height[i], floor * floor) /
                             fmax(t->height[i - 1], floor * floor);
        if (ratio > best) {
            best = ratio;
            cut = i;
        }
    }
    return cut;
}

/* Does the joints before `cut`, and numbers what they make. */
static size_t number(const struct tree *t, size_t cut, size_t *group)
{
    size_t count = 0;
    size_t *const first = xcalloc(t->n, sizeof *first);
    for (size_t i = 0; i < t->n; i++)
        first[i] = i;
    for (size_t joint = 0; joint < cut; joint++)
        for (size_t i = 0; i < t->n; i++)
            if (first[i] == t->from[joint])
                first[i] = t->into[joint];
    for (size_t i = 0; i < t->n; i++)
        group[i] = first[i] == i ? count++ : group[first[i]];
    free(first);
    return count;
}

void comovement_find(const double *values, size_t rows, size_t n, double floor,
                     size_t *group, struct comovement *together)
{
    struct tree t;
    *together = (struct comovement){0};
    if (n < 2)
        return;
    plant(&t, values, rows, n);
    for (size_t joint = 0; joint + 1 < n; joint++)
        join(&t, joint);
    const size_t cut = find_cut(&t, floor);
    const bool some = cut < n - 1;
    together->near = sqrt(t.height[some ? cut - 1 : n - 2]);
    together->far = sqrt(t.height[some ? cut : n - 2]);
    if (some)
        together->groups = number(&t, cut, group);
    fell(&t);
}
