#include "analysis/structure/trace_model.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/crew.h"
#include "base/mem.h"
#include "base/num.h"

/* All policies that are thought of; the first is asked of every shape, the last
 * ones only of the shape that is the best: they are near the first. */
const struct trace_policy trace_policies[] = {
    {.policy = POLICY_LRU},
    {.policy = POLICY_FIFO},
    {.policy = POLICY_NRU},
    {.policy = POLICY_PLRU},
    {.policy = POLICY_RRIP, .ages = {3, 2, 0}},
    {.policy = POLICY_RRIP, .ages = {2, 1, 0}},
    {.policy = POLICY_RANDOM},
    {.policy = POLICY_WEIGHTED, .uneven = 1.0 / 12},
    {.policy = POLICY_WEIGHTED, .uneven = 1.0 / 3},
    {.policy = POLICY_LRU_MIDPOINT, .behind = 1},
    {.policy = POLICY_LRU_MIDPOINT, .behind = 2},
    {.policy = POLICY_LRU_MIDPOINT, .behind = 3},
};
static_assert(sizeof trace_policies / sizeof *trace_policies == TRACE_POLICIES,
              "a row each");

/* Of which the line number tells one: half of them, where bits are folded. */
static uint64_t sets_by_line(const struct trace_model *c)
{
    return c->fold > 0 ? c->sets / 2 : c->sets;
}

uint64_t trace_model_set(const struct trace_model *c, uint64_t at)
{
    const uint64_t sets = sets_by_line(c);
    const bool odd = __builtin_parityll(at & c->fold);
    return (at / c->line >> c->shift) % sets + odd * sets;
}

uint64_t trace_model_ways(const struct trace_model *c, uint64_t set)
{
    const uint64_t past = (set + c->sets - c->own_at) % c->sets;
    const uint64_t own = c->own / c->sets + (past < c->own % c->sets);
    return c->ways > own ? c->ways - own : 1;
}

/* Whether victims are of chance. */
bool trace_model_is_chance(const struct trace_model *c)
{
    return c->policy >= TRACE_RANDOM && c->policy <= TRACE_MOST_WEIGHTED;
}

/* The address bits that an index takes which begins above the line's, or folds
 * bits. */
static size_t index_bits(const struct trace_model *c,
                         uint64_t bits[static TRACE_INDEX_BITS])
{
    size_t count = 0;
    if (c->shift > 0 || c->fold > 0)
        for (uint64_t sets = 1; sets < sets_by_line(c); sets *= 2)
            bits[count++] = (c->line << c->shift) * sets;
    if (c->fold > 0)
        bits[count++] = c->fold;
    return count;
}

struct cache *trace_model_cache(const struct trace_model *c, uint64_t sector)
{
    uint32_t *const ways = xcalloc(c->sets, sizeof *ways);
    uint64_t bits[TRACE_INDEX_BITS];
    const size_t count = index_bits(c, bits);
    for (size_t i = 0; i < c->sets; i++)
        ways[i] = (uint32_t)c->ways;
    const struct cache_shape shape = {
        .line = c->line,
        .sector = sector,
        .sets = c->sets,
        .set_ways = ways,
        .index_bits = count > 0 ? bits : NULL,
        .index_bit_count = count,
        .policy = trace_model_is_chance(c) ? POLICY_RANDOM
                                           : trace_policies[c->policy].policy,
        .rrip = trace_policies[c->policy].ages,
        .behind = trace_policies[c->policy].behind};
    struct cache *const cache = cache_new(&shape, 1);
    free(ways);
    return cache;
}

/* Two ways are one order of use, by whatever bits; and where the neighbour hits
 * in a set before each call, what comes in behind a hit comes in as for lru. */
bool trace_model_can_be(const struct trace_model *c)
{
    const enum cache_policy policy = trace_policies[c->policy].policy;
    if ((c->shift > 0 || c->fold > 0) &&
        (c->sets < 2 || !u64_is_power(c->sets)))
        return false;
    if (policy == POLICY_LRU_MIDPOINT &&
        (c->touched || c->ways <= trace_policies[c->policy].behind))
        return false;
    const bool bits = policy == POLICY_PLRU || policy == POLICY_NRU;
    if (c->ways <= 2 && (c->ways == 1 || bits))
        return c->policy == 0;
    return policy != POLICY_PLRU || u64_is_power(c->ways);
}

bool trace_model_is_same(const struct trace_model *a,
                         const struct trace_model *b)
{
    return a->line == b->line && a->sets == b->sets && a->ways == b->ways &&
           a->shift == b->shift && a->fold == b->fold &&
           a->policy == b->policy && a->own == b->own &&
           a->own_at == b->own_at && a->touched == b->touched;
}

bool trace_model_is_shape(const struct trace_model *a,
                          const struct trace_model *b)
{
    return a->sets == b->sets && a->ways == b->ways && a->shift == b->shift &&
           a->fold == b->fold;
}

uint64_t trace_model_bytes(const struct trace_model *c)
{
    return c->line * c->sets * c->ways;
}

/* ---- visits that were seen ---------------------------------------------- */

struct trace_seen_visits trace_model_new_seen(size_t most,
                                              const struct trace_range *range)
{
    return (struct trace_seen_visits){
        .range = range,
        .trace.visits = xcalloc(most, sizeof(struct trace_visit)),
        .at = xcalloc(most, sizeof(uint64_t)),
        .hit = xcalloc(most, sizeof(bool))};
}

void trace_model_forget(struct trace_seen_visits *s)
{
    for (size_t i = 0; i < s->foretolds; i++)
        free(s->foretold[i].chance);
    s->foretolds = s->trace.count = s->count = 0;
}

void trace_model_free_seen(struct trace_seen_visits *s)
{
    trace_model_forget(s);
    free(s->foretold);
    free(s->trace.visits);
    free(s->at);
    free(s->hit);
}

void trace_model_add(struct trace_seen_visits *s, const struct trace_visit *v)
{
    s->trace.visits[s->trace.count++] = *v;
    if (v->seen == TRACE_UNSEEN)
        return;
    s->at[s->count] = v->at;
    s->hit[s->count++] = v->seen == TRACE_HIT;
}

struct trace_seen_visits trace_model_seen(const struct trace *t,
                                          const struct trace_range *range)
{
    struct trace_seen_visits s = trace_model_new_seen(t->count, range);
    for (size_t i = 0; i < t->count; i++)
        trace_model_add(&s, &t->visits[i]);
    return s;
}

/* ---- what a cache foretells --------------------------------------------- */

double trace_model_chance(double hits)
{
    return TRACE_WRONG + (1 - 2 * TRACE_WRONG) * hits;
}

/* With what is fetched ahead where a line of the neighbour was pushed out. */
static void touch_own(struct cache *cache, const struct trace_model *c,
                      uint64_t ahead)
{
    const uint64_t far = ((uint64_t)1 << 32) * c->sets + c->own_at;
    for (uint64_t i = 0; i < c->own; i++)
        if (cache_access(cache, ((far + i) << c->shift) * c->line) != CACHE_HIT)
            for (uint64_t k = 1; k <= ahead; k++)
                cache_access(cache, ((far + i + k) << c->shift) * c->line);
}

static void run_certain(const struct trace_seen_visits *s,
                        const struct trace_model *c, float *chance)
{
    const float of[] = {(float)trace_model_chance(0),
                        (float)trace_model_chance(1)};
    struct cache *const cache = trace_model_cache(c, s->range->sector);
    for (size_t i = 0; i < s->trace.count; i++) {
        const struct trace_visit *const v = &s->trace.visits[i];
        if (c->touched && v->call)
            touch_own(cache, c, s->range->ahead);
        const bool hit = cache_access(cache, v->at) == CACHE_HIT;
        if (v->seen != TRACE_UNSEEN)
            *chance++ = of[hit];
    }
    cache_free(cache);
}

uint64_t trace_model_end(const struct trace *t)
{
    uint64_t end = 0;
    for (size_t i = 0; i < t->count; i++)
        end = t->visits[i].at > end ? t->visits[i].at : end;
    return end + 1;
}

/* How likely a line is still there when n came in since its last visit, and so
 * many between that one and when it came in itself.  Of weights that are spread
 * as a gamma distribution those of lines that came in are, too, with one more
 * in its shape, and what stayed so long weighs less. */
static double stays(const struct trace_model *c, double before, double n)
{
    const double ways = fmax(1.001, (double)c->ways);
    const double uneven = trace_policies[c->policy].uneven;
    return uneven == 0 ? exp(n * log1p(-1 / ways))
                       : pow(1 + n * uneven / (ways + before * uneven),
                             -1 - 1 / uneven);
}

/*
 * What is known of lines whose victims are of chance, and of their sectors.  A
 * line that came in has those that were asked for since, so of two sectors the
 * one that was asked for last is there where the other one is, and a sector
 * that is missed says that so are all before it.
 */
struct chances {
    size_t sectors; /* of a line */
    double *there; /* how likely each sector is, at the line's last visit … */
    size_t *visited; /* … and when it was asked for last; 0: never */
    double *since;   /* of each line what had come into its set by then … */
    double *before;  /* … since it came in itself */
    double *came;    /* into each set */
};

static struct chances new_chances(const struct trace_model *c, uint64_t end,
                                  uint64_t sector)
{
    const size_t lines = (size_t)(end / c->line + 1);
    const size_t sectors = (size_t)(c->line / sector);
    return (struct chances){.sectors = sectors,
                            .there = xcalloc(lines * sectors, sizeof(double)),
                            .visited = xcalloc(lines * sectors, sizeof(size_t)),
                            .since = xcalloc(lines, sizeof(double)),
                            .before = xcalloc(lines, sizeof(double)),
                            .came = xcalloc(c->sets, sizeof(double))};
}

static void free_chances(struct chances *h)
{
    free(h->there);
    free(h->visited);
    free(h->since);
    free(h->before);
    free(h->came);
}

/* Of a line's sectors all are there less likely; returns how likely the line
 * is, as is the one that was asked for last. */
static double fade(double *there, size_t sectors, double stayed)
{
    double line = 0;
    for (size_t i = 0; i < sectors; i++) {
        there[i] *= stayed;
        line = fmax(line, there[i]);
    }
    return line;
}

static double share(double part, double of)
{
    return of > 0 ? part / of : 0;
}

/* How likely it is that a miss was one: a call that hit may return late. */
static double is_missed(double there)
{
    return share(1 - there, 1 - there + TRACE_WRONG * there);
}

/* What a hit or a miss of a sector says of the others.  Where it is missed none
 * that was asked for before can be there: so a single miss that the clock told
 * wrongly would make sure that those are not, which hit, and speak twice
 * against lines that are so long. */
static void learn(double *there, const size_t *visited, size_t sectors,
                  size_t at, bool hit)
{
    const double was = there[at], others = hit ? 0 : is_missed(was);
    for (size_t i = 0; i < sectors; i++) {
        const bool later = visited[i] > visited[at];
        const double if_hit = later ? 1 : share(there[i], was);
        const double if_missed = later ? share(there[i] - was, 1 - was) : 0;
        const double missed = i == at ? !hit : others;
        there[i] = missed * if_missed + (1 - missed) * if_hit;
    }
}

/* Of lines that come into a set each puts out one of its ways at random: what
 * was there at its last visit is so with a chance that each of them lowers.
 * A visit that nobody saw brings its line in as likely as it was not there. */
static void run_random(const struct trace_seen_visits *s,
                       const struct trace_model *c, float *foretold)
{
    const uint64_t sector = s->range->sector;
    struct chances h = new_chances(c, trace_model_end(&s->trace), sector);
    for (size_t i = 0; i < s->trace.count; i++) {
        const struct trace_visit *const v = &s->trace.visits[i];
        const size_t line = (size_t)(v->at / c->line);
        const size_t at = (size_t)(v->at % c->line / sector);
        const size_t set = (size_t)trace_model_set(c, v->at);
        double *const there = h.there + line * h.sectors;
        size_t *const visited = h.visited + line * h.sectors;
        const double n = h.came[set] - h.since[line];
        double held = fade(there, h.sectors, stays(c, h.before[line], n));
        if (v->seen != TRACE_UNSEEN) {
            *foretold++ = (float)trace_model_chance(there[at]);
            learn(there, visited, h.sectors, at, v->seen == TRACE_HIT);
            held = fade(there, h.sectors, 1);
        }
        h.came[set] += 1 - held;
        h.before[line] = held * (h.before[line] + n);
        h.since[line] = h.came[set];
        there[at] = 1;
        visited[at] = i + 1;
    }
    free_chances(&h);
}

/* Of what a visit brings how likely all parts are there. */
static double fade_parts(struct chances *h, const struct trace_model *c,
                         size_t first, size_t parts)
{
    double all = 1;
    for (size_t line = first; line < first + parts; line++) {
        const uint64_t set = trace_model_set(c, line * c->line);
        const double n = h->came[set] - h->since[line];
        h->there[line] *= stays(c, h->before[line], n);
        all *= h->there[line];
    }
    return all;
}

/* Each comes in as likely as it was not there, and so many times that. */
static void bring_parts(struct chances *h, const struct trace_model *c,
                        size_t first, size_t parts, double times)
{
    for (size_t line = first; line < first + parts; line++)
        h->came[trace_model_set(c, line * c->line)] +=
            times * (1 - h->there[line]);
    for (size_t line = first; line < first + parts; line++) {
        h->since[line] = h->came[trace_model_set(c, line * c->line)];
        h->there[line] = 1;
    }
}

/* The same of lines of which a visit brings several, that chance puts out one
 * by one: it hits if all are there, and of a miss nobody knows which is not. */
static void run_parts(const struct trace_seen_visits *s,
                      const struct trace_model *c, float *foretold)
{
    const uint64_t brought = s->range->sector;
    const size_t parts = (size_t)(brought / c->line);
    struct chances h =
        new_chances(c, trace_model_end(&s->trace) + brought, c->line);
    for (size_t i = 0; i < s->trace.count; i++) {
        const struct trace_visit *const v = &s->trace.visits[i];
        const size_t first = (size_t)(v->at / brought) * parts;
        const double all = fade_parts(&h, c, first, parts);
        double times = 1;
        if (v->seen != TRACE_UNSEEN) {
            *foretold++ = (float)trace_model_chance(all);
            times = v->seen == TRACE_HIT ? 0 : share(is_missed(all), 1 - all);
        }
        bring_parts(&h, c, first, parts, times);
    }
    free_chances(&h);
}

/* As which a model's chances are kept, if all sets have its ways. */
static struct trace_model kept_as(const struct trace_model *c)
{
    struct trace_model by = *c;
    if (!by.touched)
        by.own = by.own_at = 0;
    return by;
}

static const float *find_foretold(const struct trace_seen_visits *s,
                                  const struct trace_model *by)
{
    for (size_t i = 0; i < s->foretolds; i++)
        if (trace_model_is_same(&s->foretold[i].by, by))
            return s->foretold[i].chance;
    return NULL;
}

static void run(const struct trace_seen_visits *s,
                const struct trace_foretold *f)
{
    if (f->by.line < s->range->sector)
        run_parts(s, &f->by, f->chance);
    else if (trace_model_is_chance(&f->by))
        run_random(s, &f->by, f->chance);
    else
        run_certain(s, &f->by, f->chance);
}

static struct trace_foretold *new_foretold(struct trace_seen_visits *s,
                                           const struct trace_model *by)
{
    float *const chance = xcalloc(s->count, sizeof *chance);
    s->foretold =
        xreallocarray(s->foretold, s->foretolds + 1, sizeof *s->foretold);
    s->foretold[s->foretolds] = (struct trace_foretold){*by, chance};
    return &s->foretold[s->foretolds++];
}

/* Of each visit that was seen the chance that it hits, if all sets have the
 * candidate's ways. */
const float *trace_model_even(struct trace_seen_visits *s,
                              const struct trace_model *c)
{
    const struct trace_model by = kept_as(c);
    const float *const known = find_foretold(s, &by);
    if (known != NULL)
        return known;
    const struct trace_foretold *const f = new_foretold(s, &by);
    run(s, f);
    return f->chance;
}

/* With the neighbour's lines, where the candidate leaves them out, some sets
 * have a way less: what all have then, [0], and what those have. */
static void ways_of_sets(const struct trace_model *c,
                         struct trace_model of[static 2])
{
    of[0] = *c;
    if (!c->touched)
        of[0].ways = trace_model_ways(c, c->own_at + c->own);
    of[1] = of[0];
    if (!c->touched && c->own % c->sets > 0 && of[0].ways > 1)
        of[1].ways--;
}

/* The same with the neighbour's lines. */
void trace_model_foretell(struct trace_seen_visits *s,
                          const struct trace_model *c, float *chance)
{
    struct trace_model of[2];
    ways_of_sets(c, of);
    const float *const more_ways = trace_model_even(s, &of[0]);
    const float *const less_ways = trace_model_even(s, &of[1]);
    for (size_t i = 0; i < s->count; i++) {
        const uint64_t set = trace_model_set(c, s->at[i]);
        chance[i] = c->touched || trace_model_ways(c, set) == of[0].ways
                        ? more_ways[i]
                        : less_ways[i];
    }
}

/* ---- several at once ---------------------------------------------------- */

/* Models from `first` on are yet to be run. */
struct batch {
    const struct trace_seen_visits *s;
    size_t first;
};

static void run_one(void *argument, size_t piece)
{
    const struct batch *const b = argument;
    run(b->s, &b->s->foretold[b->first + piece]);
}

void trace_model_expect_even(struct trace_seen_visits *s,
                             const struct trace_model *models, size_t count)
{
    struct batch b = {s, s->foretolds};
    for (size_t i = 0; i < count; i++) {
        const struct trace_model by = kept_as(&models[i]);
        if (find_foretold(s, &by) == NULL)
            new_foretold(s, &by);
    }
    crew_each(run_one, &b, s->foretolds - b.first);
}

void trace_model_expect(struct trace_seen_visits *s,
                        const struct trace_model *models, size_t count)
{
    struct trace_model *const even = xcalloc(2 * count + 1, sizeof *even);
    for (size_t i = 0; i < count; i++)
        ways_of_sets(&models[i], even + 2 * i);
    trace_model_expect_even(s, even, 2 * count);
    free(even);
}

double trace_model_of_hit(float chance, bool hit)
{
    return log(hit ? chance : 1 - chance);
}

double trace_model_of_seen(const struct trace_seen_visits *s,
                           const float *chance)
{
    double sum = 0;
    for (size_t i = 0; i < s->count; i++)
        sum += trace_model_of_hit(chance[i], s->hit[i]);
    return sum;
}

double trace_model_mean(const struct trace_seen_visits *s, const float *chance)
{
    return s->count > 0 ? trace_model_of_seen(s, chance) / (double)s->count
                        : -INFINITY;
}
