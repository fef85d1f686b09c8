#include "analysis/structure/trace_chance.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"

/* The mean of so many caches deviates by half of what one does; what one
 * deviates by is known to a fifth of so many more. */
enum { CACHES = 4, CACHES_SPREAD = 16 };
/* Visits with nearly the same chance are looked at together. */
enum { BINS = 10 };

/* A cache of a model, whose victims a generator chooses. */
struct dice {
    const struct trace_model *c;
    uint64_t sector;
    uint64_t *line;    /* in each way of each set, + 1; 0: nothing */
    uint64_t *sectors; /* … and which of it are there */
    double *up_to;     /* of each way what it and those before weigh */
    struct rng rng;
};

/* Ways that weigh unlike do so by a gamma distribution, as the model has it, of
 * a whole shape: of so many exponential ones the sum. */
static void weigh(struct dice *d)
{
    const double uneven = trace_policies[d->c->policy].uneven;
    const int shape = uneven > 0 ? (int)lround(1 / uneven) : 0;
    double sum = 0;
    for (uint64_t w = 0; w < d->c->ways; w++) {
        double weight = shape == 0;
        for (int i = 0; i < shape; i++)
            weight -= log(1 - rng_unit(&d->rng));
        sum += weight;
        d->up_to[w] = sum;
    }
}

/* The first that is empty, else one by its weight. */
static uint64_t choose(struct dice *d, const uint64_t *lines, uint64_t ways)
{
    const double at = rng_unit(&d->rng) * d->up_to[ways - 1];
    uint64_t w = 0;
    while (w < ways && lines[w] != 0)
        w++;
    if (w < ways)
        return w;
    for (w = 0; w + 1 < ways && d->up_to[w] <= at;)
        w++;
    return w;
}

static bool hits_line(struct dice *d, uint64_t at)
{
    const uint64_t line = at / d->c->line, set = trace_model_set(d->c, at);
    const uint64_t ways = trace_model_ways(d->c, set);
    const uint64_t bit = (uint64_t)1 << at % d->c->line / d->sector;
    uint64_t *const lines = d->line + set * d->c->ways;
    uint64_t *const sectors = d->sectors + set * d->c->ways;
    uint64_t w = 0;
    while (w < ways && lines[w] != line + 1)
        w++;
    const bool hit = w < ways && (sectors[w] & bit) != 0;
    if (w == ways) {
        w = choose(d, lines, ways);
        lines[w] = line + 1;
        sectors[w] = 0;
    }
    sectors[w] |= bit;
    return hit;
}

/* Of lines that are shorter than what a visit brings all that it does. */
static bool hits(struct dice *d, uint64_t at)
{
    const uint64_t first = at / d->sector * d->sector;
    bool hit = true;
    if (d->c->line >= d->sector)
        return hits_line(d, at);
    for (uint64_t part = 0; part < d->sector; part += d->c->line)
        hit = hits_line(d, first + part) && hit;
    return hit;
}

/* With lines that nobody visits. */
static void fill(struct dice *d)
{
    for (uint64_t i = 0; i < d->c->sets * d->c->ways; i++)
        d->line[i] = UINT64_MAX;
}

static void answer(struct trace *t, const struct trace_range *range,
                   const struct trace_model *c, uint64_t seed, bool full)
{
    struct dice d = {.c = c,
                     .sector = range->sector,
                     .line = xcalloc(c->sets * c->ways, sizeof *d.line),
                     .sectors = xcalloc(c->sets * c->ways, sizeof *d.sectors),
                     .up_to = xcalloc(c->ways, sizeof *d.up_to)};
    rng_seed(&d.rng, seed);
    weigh(&d);
    if (full)
        fill(&d);
    for (size_t i = 0; i < t->count; i++) {
        const bool hit = hits(&d, t->visits[i].at);
        if (t->visits[i].seen != TRACE_UNSEEN)
            t->visits[i].seen = hit ? TRACE_HIT : TRACE_MISS;
    }
    free(d.line);
    free(d.sectors);
    free(d.up_to);
}

/* How much more such a cache hits than is foretold. */
struct more {
    double sum[BINS], count[BINS];
};

static size_t bin_of(float chance)
{
    return (size_t)(chance * BINS);
}

static void throw_dice(struct trace *t, const struct trace_range *range,
                       const struct trace_model *c, uint64_t seed,
                       struct more *more)
{
    answer(t, range, c, seed, false);
    struct trace_seen_visits s = trace_model_seen(t, range);
    float *const chance = xcalloc(s.count, sizeof *chance);
    trace_model_foretell(&s, c, chance);
    for (size_t i = 0; i < s.count; i++) {
        more->sum[bin_of(chance[i])] += s.hit[i] - chance[i];
        more->count[bin_of(chance[i])]++;
    }
    free(chance);
    trace_model_free_seen(&s);
}

static struct trace copy_of(const struct trace_seen_visits *s)
{
    struct trace t = s->trace;
    t.visits = xcalloc(t.count + 1, sizeof *t.visits);
    for (size_t i = 0; i < t.count; i++)
        t.visits[i] = s->trace.visits[i];
    return t;
}

size_t trace_chance_foretell(struct trace_seen_visits *s,
                             const struct trace_model *c, float *chance)
{
    struct more more = {0};
    struct trace t = copy_of(s);
    for (uint64_t seed = 1; seed <= CACHES; seed++)
        throw_dice(&t, s->range, c, seed, &more);
    free(t.visits);
    trace_model_foretell(s, c, chance);
    for (size_t i = 0; i < s->count; i++) {
        const size_t bin = bin_of(chance[i]);
        const double as = chance[i] + more.sum[bin] / (more.count[bin] + 1);
        chance[i] = (float)fmin(1 - TRACE_LATE, fmax(TRACE_LATE, as));
    }
    return s->count;
}

struct trace_chance_missed
trace_chance_missed(const struct trace_seen_visits *s,
                    const struct trace_model *c)
{
    struct trace t = copy_of(s);
    double sum = 0, squares = 0;
    for (uint64_t seed = 1; seed <= CACHES_SPREAD; seed++) {
        double missed = 0;
        answer(&t, s->range, c, seed, true);
        for (size_t i = 0; i < t.count; i++)
            missed += t.visits[i].seen == TRACE_MISS;
        sum += missed;
        squares += missed * missed;
    }
    free(t.visits);
    const double mean = sum / CACHES_SPREAD;
    return (struct trace_chance_missed){
        mean, sqrt(fmax(0, squares / CACHES_SPREAD - mean * mean))};
}
