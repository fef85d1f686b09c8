#include "analysis/structure/trace_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* What is taken for the share of visits that the clock tells wrongly, or what
 * else is not in the model: it weighs all caches alike. */
static const double WRONG = 0.03;
/* A cache explains the visits if so few are not as it foretells, of hits or of
 * misses, whichever are fewer: of as many as those or more would one be wrong
 * that has nothing to do with them, and none of them itself.  It must be nearer
 * to the latter by far, since one that victims are random in is at 0.55 … */
static const double WRONG_MOST = 0.4;
/* … or, if its victims are random, as many are as it expects, but for this, and
 * it is likelier than that all hit with one chance. */
static const double EXPECTED_OFF = 0.06;
static const double GAIN_LEAST = 50;
/* Likelihood (its logarithm) that another cache must have less: by chance it
 * has once in e^10 = 20000. */
static const double LEAD_LEAST = 10;
/* Of two that foretell something else about a visit one is right; at random each
 * is about half of them, and the cache itself about all: this is between. */
static const double RIGHT_LEAST = 0.75;
static const double DEVIATIONS = 5;

/* A shape is tried with few policies: where the cache has another, some tenth of
 * the visits is not as it foretells, 30 of 300 and 5 more or less; of a shape that
 * is not the cache's a fourth, 75 and 8.  These are five deviations apart, so the
 * true shape is among the best of a few thousand; next to it come as many as
 * share its sets, with a few ways more or less, and with twice and half the sets,
 * which the longer runs tell apart. */
enum { FIRST_JUDGED = 300, SECOND_JUDGED = 1500, FIRST_KEPT = 64 };
enum { FEW_KEPT = 8, FINALISTS = 12 };
/* Of more sets the neighbour has no line in most. */
enum { FEW_SETS = 16 };
enum { SECTORS_MOST = 2, WAYS_MOST = 512, LESS_MOST = 12, MORE_MOST = 3 };

/* All policies that are thought of; the first are asked of every shape. */
static const struct {
    enum cache_policy policy;
    struct cache_rrip ages;
} policies[] = {
    {POLICY_LRU, {0, 0, 0}},    {POLICY_FIFO, {0, 0, 0}},
    {POLICY_NRU, {0, 0, 0}},    {POLICY_PLRU, {0, 0, 0}},
    {POLICY_RRIP, {3, 2, 0}},   {POLICY_RRIP, {2, 1, 0}},
    {POLICY_RANDOM, {0, 0, 0}},
};
enum { POLICIES = sizeof policies / sizeof *policies, FIRST_POLICIES = 2 };
enum { SECOND_POLICIES = 3 };
enum { RANDOM = POLICIES - 1 };

struct candidate {
    uint64_t line, sets, ways;
    size_t policy; /* index into policies[] */
    /* So many lines from that set on are the neighbour's. */
    uint64_t own_at, own;
    bool touched; /* they are looked for before each call, not left out */
    double score; /* mean likelihood of a visit, or of all */
};

static uint64_t ways_of(const struct candidate *c, uint64_t set)
{
    const uint64_t past = (set + c->sets - c->own_at) % c->sets;
    const uint64_t own = c->own / c->sets + (past < c->own % c->sets);
    return c->ways > own ? c->ways - own : 1;
}

static bool is_power_of_two(uint64_t x)
{
    return (x & (x - 1)) == 0;
}

static struct cache *make_cache(const struct candidate *c, uint64_t sector)
{
    uint32_t *const ways = xcalloc(c->sets, sizeof *ways);
    for (size_t i = 0; i < c->sets; i++)
        ways[i] = (uint32_t)c->ways;
    const struct cache_shape shape = {.line = c->line,
                                      .sector = sector,
                                      .sets = c->sets,
                                      .set_ways = ways,
                                      .policy = policies[c->policy].policy,
                                      .rrip = policies[c->policy].ages};
    struct cache *const cache = cache_new(&shape, 1);
    free(ways);
    return cache;
}

/* ---- visits of some sets ------------------------------------------------ */

/* Visits of each `every`th set, until so many of them were seen; of odd ones
 * among them, since ends of functions are of odd lines. */
static void pick(const struct trace *t, const struct candidate *c,
                 uint64_t every, size_t most, struct trace *picked)
{
    size_t seen = 0;
    picked->count = 0;
    for (size_t i = 0; i < t->count && seen < most; i++) {
        const struct trace_visit *const v = &t->visits[i];
        if (v->at / c->line % c->sets % every != (every / 2 | 1) % every)
            continue;
        picked->visits[picked->count++] = *v;
        seen += v->seen != TRACE_UNSEEN;
    }
}

static size_t seen_in(const struct trace *t)
{
    size_t seen = 0;
    for (size_t i = 0; i < t->count; i++)
        seen += t->visits[i].seen != TRACE_UNSEEN;
    return seen;
}

/* ---- likelihood --------------------------------------------------------- */

enum { BINS = 10 };

/* Likelihood and agreement of visits, by set and one by one; NULL: not wanted. */
struct tally {
    double likelihood, agree;
    size_t seen, hits;
    double *by_set;
    float *chance; /* of a hit */
    bool *hit;
    size_t next;
    const struct candidate *of; /* only of sets that have as many ways in it */
};

static void add(struct tally *t, const struct candidate *c,
                const struct trace_visit *v, double hits)
{
    const size_t at = t->next++, set = v->at / c->line % c->sets;
    const bool hit = v->seen == TRACE_HIT;
    if (t->hit != NULL)
        t->hit[at] = hit;
    if (t->of != NULL && ways_of(t->of, set) != c->ways)
        return;
    const double chance = WRONG + (1 - 2 * WRONG) * hits;
    const double l = log(hit ? chance : 1 - chance);
    t->likelihood += l;
    if (t->by_set != NULL)
        t->by_set[set] += l;
    /* what is likelier than not */
    t->agree += hit == (chance > 0.5);
    if (t->chance != NULL)
        t->chance[at] = (float)chance;
    t->seen++;
    t->hits += hit;
}

static void run_certain(const struct trace *t, const struct candidate *c,
                        uint64_t sector, struct tally *tally)
{
    struct cache *const cache = make_cache(c, sector);
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_visit *const v = &t->visits[i];
        const bool hit = cache_access(cache, v->at) == CACHE_HIT;
        if (v->seen != TRACE_UNSEEN)
            add(tally, c, v, hit);
    }
    cache_free(cache);
}

static uint64_t end_of(const struct trace *t)
{
    uint64_t end = 0;
    for (size_t i = 0; i < t->count; i++)
        end = t->visits[i].at > end ? t->visits[i].at : end;
    return end + 1;
}

/* Of lines that come into a set each puts out one of its ways at random: what
 * was there at its last visit is so with a chance that each of them lowers.
 * A visit that nobody saw brings its line in as likely as it was not there. */
static void run_random(const struct trace *t, const struct candidate *c,
                       uint64_t sector, struct tally *tally)
{
    const size_t lines = (size_t)(end_of(t) / c->line + 1);
    const size_t sectors = (size_t)(end_of(t) / sector + 1);
    double *const since = xcalloc(lines, sizeof *since);
    double *const came = xcalloc(c->sets, sizeof *came);
    bool *const there = xcalloc(sectors, sizeof *there);
    double *const stay = xcalloc(c->sets, sizeof *stay);
    for (uint64_t set = 0; set < c->sets; set++)
        stay[set] = log1p(-1 / fmax(1.001, (double)c->ways));
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_visit *const v = &t->visits[i];
        const size_t line = (size_t)(v->at / c->line), set = line % c->sets;
        const double n = came[set] - since[line];
        const bool known = there[v->at / sector];
        const double chance = !known ? 0 : n > 0 ? exp(n * stay[set]) : 1;
        if (v->seen != TRACE_UNSEEN)
            add(tally, c, v, chance);
        const double hit =
            v->seen == TRACE_UNSEEN ? chance : v->seen == TRACE_HIT;
        /* a miss that is likelier than not */
        if (hit < 0.5 && !known && c->line > sector)
            came[set] += n > 0 ? 1 - exp(n * stay[set]) : 0;
        else
            came[set] += 1 - hit;
        since[line] = came[set];
        there[v->at / sector] = true;
    }
    free(since);
    free(came);
    free(there);
    free(stay);
}

/* With what is fetched ahead where a line of the neighbour was pushed out. */
static void touch_own(struct cache *cache, const struct candidate *c,
                      uint64_t ahead)
{
    const uint64_t far = ((uint64_t)1 << 32) * c->sets + c->own_at;
    for (uint64_t i = 0; i < c->own; i++)
        if (cache_access(cache, (far + i) * c->line) != CACHE_HIT)
            for (uint64_t k = 1; k <= ahead; k++)
                cache_access(cache, (far + i + k) * c->line);
}

static void run_touched(const struct trace *t, const struct candidate *c,
                        const struct trace_range *r, struct tally *tally)
{
    struct cache *const cache = make_cache(c, r->sector);
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_visit *const v = &t->visits[i];
        if (v->call)
            touch_own(cache, c, r->ahead);
        const bool hit = cache_access(cache, v->at) == CACHE_HIT;
        if (v->seen != TRACE_UNSEEN)
            add(tally, c, v, hit);
    }
    cache_free(cache);
}

static void run(const struct trace *t, const struct candidate *c,
                const struct trace_range *r, struct tally *tally)
{
    if (c->touched)
        run_touched(t, c, r, tally);
    else if (c->policy == RANDOM)
        run_random(t, c, r->sector, tally);
    else
        run_certain(t, c, r->sector, tally);
}

/* ---- which shape -------------------------------------------------------- */

struct search {
    const struct trace *trace;
    const struct trace_range *range;
    uint64_t line;
    struct trace picked;
    size_t seen;
    struct candidate *kept;
    size_t count, room;
};

static bool can_be(const struct candidate *c)
{
    return c->ways > 1 ? policies[c->policy].policy != POLICY_PLRU ||
                             is_power_of_two(c->ways)
                       : c->policy == 0;
}

static int by_score(const void *a, const void *b)
{
    const double x = ((const struct candidate *)a)->score;
    const double y = ((const struct candidate *)b)->score;
    return (x < y) - (x > y);
}

static void keep_best(struct search *s, size_t most)
{
    qsort(s->kept, s->count, sizeof *s->kept, by_score);
    s->count = s->count < most ? s->count : most;
}

static void keep(struct search *s, struct candidate c)
{
    if (s->count == s->room) {
        s->room = 2 * s->room + FIRST_KEPT;
        s->kept = xreallocarray(s->kept, s->room, sizeof *s->kept);
    }
    s->kept[s->count++] = c;
}

static void try_candidate(struct search *s, const struct trace *t,
                          struct candidate c)
{
    struct tally tally = {0};
    if (!can_be(&c))
        return;
    run(t, &c, s->range, &tally);
    c.score =
        tally.seen > 0 ? tally.likelihood / (double)tally.seen : -INFINITY;
    keep(s, c);
}

/* All numbers of ways that so many sets may have. */
static void try_sets(struct search *s, const struct trace *t, uint64_t sets,
                     size_t from, size_t to)
{
    struct candidate c = {.line = s->line, .sets = sets};
    const double each = (double)(s->line * sets);
    const uint64_t least = (uint64_t)fmax(1, floor(s->range->least / each));
    const uint64_t most = (uint64_t)ceil(s->range->most / each);
    for (c.ways = least; c.ways <= most && c.ways <= WAYS_MOST; c.ways++)
        for (c.policy = from; c.policy < to; c.policy++)
            try_candidate(s, t, c);
}

static uint64_t sets_most(const struct search *s)
{
    return (uint64_t)(s->range->most / (double)s->line);
}

/* All shapes with some policies, by about so many visits of some sets. */
static void try_shapes(struct search *s, size_t from, size_t to, size_t judged)
{
    const uint64_t every = s->seen / judged;
    for (uint64_t sets = 1; sets <= sets_most(s); sets++) {
        const struct candidate c = {.line = s->line, .sets = sets};
        const uint64_t part = sets / 4;
        const uint64_t apart = every < part ? every : part;
        pick(s->trace, &c, apart > 1 ? apart : 1, judged, &s->picked);
        try_sets(s, &s->picked, sets, from, to);
    }
    keep_best(s, FIRST_KEPT);
}

static bool is_shape(const struct candidate *a, const struct candidate *b)
{
    return a->sets == b->sets && a->ways == b->ways;
}

/* The best by all visits. */
static void judge_whole(struct search *s, size_t best)
{
    for (size_t i = 0; i < s->count; i++) {
        struct tally tally = {0};
        run(s->trace, &s->kept[i], s->range, &tally);
        s->kept[i].score = tally.likelihood;
    }
    keep_best(s, best);
}

/* The best shapes with so many policies, by more visits. */
static void try_policies(struct search *s, size_t count, size_t most,
                         size_t best)
{
    struct candidate *const old = s->kept;
    const size_t olds = s->count;
    s->kept = NULL;
    s->count = s->room = 0;
    for (size_t i = 0; i < olds; i++) {
        size_t before = 0;
        while (before < i && !is_shape(&old[before], &old[i]))
            before++;
        if (before < i)
            continue;
        pick(s->trace, &old[i], 1, most, &s->picked);
        struct candidate c = old[i];
        for (c.policy = 0; c.policy < count; c.policy++)
            try_candidate(s, &s->picked, c);
    }
    free(old);
    keep_best(s, best);
}

/* ---- lines of the neighbour --------------------------------------------- */

/* Likelihood of each set's visits, by its number of ways from `least` on. */
struct table {
    double *at;
    uint64_t least, count, sets;
};

static double of_set(const struct table *t, uint64_t set, uint64_t ways)
{
    if (ways < t->least || ways >= t->least + t->count)
        return -INFINITY;
    return t->at[(ways - t->least) * t->sets + set];
}

static void fill_table(const struct search *s, const struct candidate *c,
                       struct table *t)
{
    const uint64_t less =
        s->range->own_most < LESS_MOST ? s->range->own_most : LESS_MOST;
    t->least = c->ways > less ? c->ways - less : 1;
    t->count = c->ways + less + MORE_MOST - t->least;
    t->sets = c->sets;
    t->at = xcalloc(t->count * t->sets, sizeof *t->at);
    for (uint64_t i = 0; i < t->count; i++) {
        struct candidate other = *c;
        struct tally tally = {.by_set = t->at + i * t->sets};
        other.ways = t->least + i;
        run(s->trace, &other, s->range, &tally);
    }
}

/* How likely it is that so many sets in a row have a line of the neighbour more
 * than others, from each set on: the best place. */
static struct candidate place_own(const struct table *t, struct candidate c)
{
    const uint64_t rest = c.own % c.sets, each = c.own / c.sets;
    const uint64_t most = c.ways > each ? c.ways - each : 1;
    const uint64_t less = most > 1 ? most - 1 : 1;
    struct candidate best = c;
    double sum = 0;
    for (uint64_t set = 0; set < c.sets; set++)
        sum += of_set(t, set, set < rest ? less : most);
    best.score = sum;
    for (c.own_at = 1; rest > 0 && c.own_at < c.sets && !isinf(sum);
         c.own_at++) {
        const uint64_t out = c.own_at - 1, in = (out + rest) % c.sets;
        sum += of_set(t, out, most) - of_set(t, out, less) +
               of_set(t, in, less) - of_set(t, in, most);
        if (sum > best.score) {
            best = c;
            best.score = sum;
        }
    }
    return best;
}

/* The best number and place of the neighbour's lines for a number of ways. */
static struct candidate find_own(const struct search *s, const struct table *t,
                                 struct candidate c)
{
    struct candidate best = {.score = -INFINITY};
    c.own_at = 0;
    for (c.own = s->range->own_least; c.own <= s->range->own_most; c.own++) {
        const struct candidate placed = place_own(t, c);
        if (placed.score > best.score)
            best = placed;
    }
    return best;
}

/* Each of the best with the ways and the neighbour that suit it best, and the
 * next numbers of ways. */
static void try_neighbour(struct search *s)
{
    struct candidate *const old = s->kept;
    const size_t count = s->count;
    s->kept = NULL;
    s->count = s->room = 0;
    for (size_t i = 0; i < count; i++) {
        struct table t;
        fill_table(s, &old[i], &t);
        for (uint64_t w = t.least; w < t.least + t.count; w++) {
            struct candidate c = old[i];
            c.ways = w;
            c = find_own(s, &t, c);
            if (!isinf(c.score))
                keep(s, c);
        }
        free(t.at);
    }
    free(old);
    keep_best(s, s->count);
}

/* All ways that so few sets may have with so many lines of the neighbour. */
static void try_few(struct search *s, struct candidate c)
{
    const double each = (double)(s->line * c.sets);
    const double own = (double)(c.own * s->line);
    const double most = ceil((s->range->most + own) / each);
    c.ways = (uint64_t)fmax(2, floor((s->range->least + own) / each));
    pick(s->trace, &c, 1, FIRST_JUDGED, &s->picked);
    for (; (double)c.ways <= most && c.ways <= WAYS_MOST; c.ways++)
        for (c.policy = 1; c.policy < RANDOM; c.policy++)
            try_candidate(s, &s->picked, c);
}

/* A candidate with all places and numbers of the neighbour's lines. */
static void try_places(struct search *s, struct candidate c)
{
    const uint64_t ways = c.ways, own = c.own;
    for (; c.own <= s->range->own_most; c.own++)
        for (c.own_at = 0; c.own_at < c.sets; c.own_at++)
            for (c.ways = ways; c.ways <= ways + (c.own - own) / c.sets + 1;
                 c.ways++)
                try_candidate(s, &s->picked, c);
}

/* Of few sets, and where lines that are used stay no longer for it, the
 * neighbour's come and go, and make room for others that go. */
static void try_touched(struct search *s)
{
    struct candidate *const plain = s->kept;
    const size_t count = s->count;
    struct candidate c = {.touched = true, .line = s->line};
    c.own = s->range->own_least;
    s->kept = NULL;
    s->count = s->room = 0;
    for (c.sets = 1; c.sets <= FEW_SETS; c.sets++)
        try_few(s, c);
    keep_best(s, FEW_KEPT);
    struct candidate first[FEW_KEPT];
    const size_t firsts = s->count;
    memcpy(first, s->kept, firsts * sizeof *first);
    for (size_t i = 0; i < firsts; i++)
        try_places(s, first[i]);
    keep_best(s, FIRST_KEPT);
    judge_whole(s, FIRST_KEPT);
    for (size_t i = 0; i < count; i++)
        keep(s, plain[i]);
    free(plain);
    keep_best(s, s->count);
}

static uint64_t bytes_of(const struct candidate *c)
{
    return c->line * c->sets * c->ways;
}

/* ---- what candidates foretell ----------------------------------------- */

/* A candidate beside what it foretells of visits that it was not found by. */
struct rival {
    struct candidate c;
    struct tally tally;
    size_t apart;         /* from that visit on they are apart */
    double likelihood[2]; /* of those before, and of those */
};

static bool is_foretold(const struct tally *t)
{
    const size_t misses = t->seen - t->hits;
    const size_t fewer = t->hits < misses ? t->hits : misses;
    return (double)t->seen - t->agree <= WRONG_MOST * (double)fewer;
}

/* Of those before, and of those that are apart; there some cache nearly always
 * hits, which is no proof: a fourth of what is rarer may be otherwise. */
static bool is_expected(const struct rival *r, size_t part)
{
    const struct tally *const t = &r->tally;
    const size_t from = part > 0 ? r->apart : 0;
    const size_t to = part > 0 ? t->next : r->apart;
    const double seen = (double)(to - from);
    double bins[BINS] = {0}, hits = 0, off = 0;
    for (size_t i = from; i < to; i++) {
        bins[(size_t)(t->chance[i] * BINS)] += t->hit[i] - t->chance[i];
        hits += t->hit[i];
    }
    for (size_t i = 0; i < BINS; i++)
        off += fabs(bins[i]);
    const double share = (hits + 0.5) / (seen + 1);
    const double alike =
        seen * (share * log(share) + (1 - share) * log(1 - share));
    const double fewer = fmin(hits, seen - hits);
    if (part > 0) /* and what as many stray by themselves */
        return off <= fewer / 4 + sqrt(BINS * (fewer + 1));
    return off < EXPECTED_OFF * seen &&
           r->likelihood[part] > alike + GAIN_LEAST;
}

/* Of one set any chance looks like random victims, and so it tells nothing. */
static bool explains(const struct rival *r)
{
    return r->c.policy == RANDOM
               ? r->c.sets > 1 && is_expected(r, 0) && is_expected(r, 1)
               : is_foretold(&r->tally);
}

/* Likelihood of what came about from one visit to another: for random victims
 * by the chances, otherwise by what these turned out to be, so that what is in no
 * model weighs as much as it does. */
static double likelihood_of(const struct rival *r, size_t from, size_t to)
{
    const struct tally *const t = &r->tally;
    double in[BINS] = {0}, count[BINS] = {0}, sum = 0;
    for (size_t i = from; i < to; i++) {
        const size_t bin = (size_t)(t->chance[i] * BINS);
        in[bin] += t->hit[i];
        count[bin]++;
        if (r->c.policy == RANDOM)
            sum += log(t->hit[i] ? t->chance[i] : 1 - t->chance[i]);
    }
    for (size_t i = 0; r->c.policy != RANDOM && i < BINS; i++)
        if (in[i] > 0 && in[i] < count[i])
            sum += in[i] * log(in[i] / count[i]) +
                   (count[i] - in[i]) * log(1 - in[i] / count[i]);
    return sum;
}

static double lead_of(const struct rival *a, const struct rival *b)
{
    return a->likelihood[0] - b->likelihood[0] + a->likelihood[1] -
           b->likelihood[1];
}

static int by_likelihood(const void *a, const void *b)
{
    const double lead = lead_of(a, b);
    return (lead < 0) - (lead > 0);
}

/* Sets in which the neighbour has a line more are run apart. */
static void run_parts(const struct trace *t, const struct candidate *c,
                      const struct trace_range *r, struct tally *tally)
{
    const size_t first = tally->next;
    struct candidate part = *c;
    tally->of = c->touched ? NULL : c;
    for (uint64_t less = 0; less <= (tally->of != NULL && c->own % c->sets > 0);
         less++) {
        tally->next = first;
        if (tally->of != NULL)
            part.ways = ways_of(c, c->own_at + c->own) - less;
        if (part.ways > 0)
            run(t, &part, r, tally);
    }
}

static void foretell(struct rival *r, const struct trace *checks, size_t count,
                     const struct trace_range *range)
{
    size_t seen = 0;
    for (size_t i = 0; i < count; i++)
        seen += seen_in(&checks[i]);
    r->tally.chance = xcalloc(seen, sizeof *r->tally.chance);
    r->tally.hit = xcalloc(seen, sizeof *r->tally.hit);
    for (size_t i = 0; i < count; i++) {
        run_parts(&checks[i], &r->c, range, &r->tally);
        if (!checks[i].apart)
            r->apart = r->tally.next;
    }
    r->likelihood[0] = likelihood_of(r, 0, r->apart);
    r->likelihood[1] = likelihood_of(r, r->apart, r->tally.next);
}

static void free_rival(struct rival *r)
{
    free(r->tally.chance);
    free(r->tally.hit);
}

/* ---- the search --------------------------------------------------------- */

struct trace_search {
    struct trace_range range;
    struct candidate *found;
    size_t count;
};

static bool is_same(const struct candidate *a, const struct candidate *b)
{
    return a->line == b->line && is_shape(a, b) && a->policy == b->policy &&
           a->own == b->own && a->own_at == b->own_at &&
           a->touched == b->touched;
}

/* One in which the neighbour leaves room in all sets. */
static void remember(struct trace_search *t, const struct candidate *c)
{
    if (c->own + c->sets > c->sets * c->ways)
        return;
    for (size_t i = 0; i < t->count; i++)
        if (is_same(c, &t->found[i]))
            return;
    t->found = xreallocarray(t->found, t->count + 1, sizeof *t->found);
    t->found[t->count++] = *c;
}

/* With the neighbour's lines a little otherwise: of sets that were not seen to be
 * visited it was not known where they are. */
static void remember_neighbours(struct trace_search *t, struct candidate c)
{
    const uint64_t at = c.own_at + c.sets - 1, own = c.own;
    for (uint64_t i = 0; i < 3; i++)
        for (uint64_t more = 0; more < 3; more++) {
            c.own_at = (at + i) % c.sets;
            c.own = own + more - 1;
            if (own + more > t->range.own_least &&
                c.own <= t->range.own_most)
                remember(t, &c);
        }
}

/* The likeliest, and the likeliest with every other policy, with a few ways more
 * or less and with lines of two parts. */
static void remember_best(struct trace_search *t, const struct search *s)
{
    for (size_t i = 0; i < s->count && i < FINALISTS; i++) {
        remember(t, &s->kept[i]);
        if (i < FEW_KEPT && s->kept[i].policy != RANDOM && t->range.own_most > 0)
            remember_neighbours(t, s->kept[i]);
    }
    if (s->count == 0)
        return;
    struct candidate c = s->kept[0];
    for (c.policy = 0; c.policy < POLICIES; c.policy++)
        if (can_be(&c))
            remember(t, &c);
    for (uint64_t more = 0; more <= 2 * MORE_MOST; more++) {
        c = s->kept[0];
        if (c.ways + more > MORE_MOST) {
            c.ways += more - MORE_MOST;
            remember(t, &c);
        }
    }
    /* Where each call brings a line to every set, one set would do the same. */
    c = s->kept[0];
    c.ways *= c.sets;
    c.sets = 1;
    for (c.policy = 0; c.policy < POLICIES; c.policy++)
        if (can_be(&c) && c.ways <= WAYS_MOST)
            remember_neighbours(t, c);
    c = s->kept[0];
    c.line *= 2;
    c.own = (c.own + 1) / 2;
    c.own_at /= 2;
    if (c.sets % 2 == 0) {
        c.sets /= 2;
        remember(t, &c);
    } else if (c.ways % 2 == 0 && !c.touched) {
        c.ways /= 2;
        remember(t, &c);
    }
}

static void search_certain(struct search *s)
{
    s->count = 0;
    try_shapes(s, 0, FIRST_POLICIES, FIRST_JUDGED);
    try_policies(s, SECOND_POLICIES, SECOND_JUDGED, 12);
    try_policies(s, RANDOM, SIZE_MAX, 6);
    try_neighbour(s);
    if (s->range->own_least > 0 &&
        (s->count == 0 || s->kept[0].sets <= FEW_SETS))
        try_touched(s);
}

static void search_random(struct search *s)
{
    s->count = 0;
    try_shapes(s, RANDOM, POLICIES, SECOND_JUDGED);
    judge_whole(s, 12);
    try_neighbour(s);
}

/* The share of visits of which the best foretells something else, and whether it
 * explains them. */
static double wrong_of(const struct search *s, bool *explained)
{
    struct rival best = {0};
    *explained = false;
    if (s->count == 0)
        return 1;
    best.c = s->kept[0];
    foretell(&best, s->trace, 1, s->range);
    *explained = explains(&best);
    free_rival(&best);
    return 1 - best.tally.agree / (double)best.tally.seen;
}

struct trace_search *trace_search_new(const struct trace *trace,
                                      const struct trace_range *range)
{
    struct trace_search *const t = xcalloc(1, sizeof *t);
    struct search s = {.trace = trace, .range = &t->range,
                       .seen = seen_in(trace)};
    t->range = *range;
    s.picked.visits = xcalloc(trace->count, sizeof *s.picked.visits);
    bool explained = false;
    for (s.line = range->sector;
         !explained && s.line <= SECTORS_MOST * range->sector; s.line *= 2) {
        search_certain(&s);
        remember_best(t, &s);
        const double wrong = wrong_of(&s, &explained);
        if (wrong <= WRONG)
            break;
        search_random(&s);
        remember_best(t, &s);
        bool expected;
        wrong_of(&s, &expected);
        explained = explained || expected;
    }
    free(s.picked.visits);
    free(s.kept);
    return t;
}

void trace_search_free(struct trace_search *t)
{
    free(t->found);
    free(t);
}

/* ---- the verdict -------------------------------------------------------- */

/* Of the visits of which both foretell something else the better one is right
 * about so many, if it is the cache and not just nearer to it.  Where the policy is
 * none of those, either shape is wrong about many, and it does for the shape that
 * it is right about more than half by five deviations of a coin. */
static bool is_right(const struct rival *best, const struct rival *r,
                     size_t from, size_t to)
{
    const struct tally *const a = &best->tally, *const b = &r->tally;
    double differ = 0, right = 0;
    for (size_t i = from; i < to; i++)
        if ((a->chance[i] > 0.5) != (b->chance[i] > 0.5)) {
            differ++;
            right += (a->chance[i] > 0.5) == a->hit[i];
        }
    return right >= RIGHT_LEAST * differ ||
           (!is_shape(&best->c, &r->c) &&
            2 * right - differ >= DEVIATIONS * sqrt(differ));
}

/* True if visits that are apart, or those before, show that it is one and not the
 * other: it foretells more, and what else is there, which no model has, is not what
 * tells them apart. */
static bool is_shown(const struct rival *one, const struct rival *other)
{
    const size_t ends[] = {0, one->apart, one->tally.next};
    for (size_t i = 0; i < 2; i++)
        if (one->likelihood[i] - other->likelihood[i] >= LEAD_LEAST &&
            (one->c.line != other->c.line ||
             is_right(one, other, ends[i], ends[i + 1])))
            return true;
    return false;
}

/* … and the others do not show the contrary. */
static bool is_behind(const struct rival *best, const struct rival *r)
{
    if (best->c.policy == RANDOM || r->c.policy == RANDOM)
        return lead_of(best, r) >= LEAD_LEAST;
    return is_shown(best, r) && !is_shown(r, best);
}

/* Drops of the fit what a rival that foretells as much has otherwise. */
static void allow(struct trace_fit *fit, const struct candidate *c)
{
    if (c->line != fit->line)
        fit->line = 0;
    if (c->sets != fit->sets)
        fit->sets = 0;
    if (c->ways != fit->ways)
        fit->ways = 0;
    if (bytes_of(c) != fit->size)
        fit->size = 0;
    if (bytes_of(c) < fit->least)
        fit->least = bytes_of(c);
    if (policies[c->policy].policy != fit->policy)
        fit->runner_up = policies[c->policy].policy;
}

static struct trace_fit fit_of(const struct candidate *c)
{
    return (struct trace_fit){.line = c->line,
                              .sets = c->sets,
                              .ways = c->ways,
                              .size = bytes_of(c),
                              .least = bytes_of(c),
                              .own = c->own,
                              .own_at = c->own_at,
                              .model_line = c->line,
                              .model_sets = c->sets,
                              .model_ways = c->ways,
                              .policy = policies[c->policy].policy,
                              .runner_up = policies[c->policy].policy,
                              .ages = policies[c->policy].ages};
}

/* Of random victims: the neighbour's lines are some of them, and come again, so
 * that sets which all have some hold more than it leaves; and sets that are
 * others than any that were tried look like chance, too. */
static void leave_open(const struct trace_range *range, struct trace_fit *fit)
{
    if (range->own_most >= fit->model_sets)
        fit->ways = fit->size = 0;
    if (fit->size == 0 && range->least < (double)fit->least)
        fit->least = (uint64_t)range->least;
}

bool trace_search_judge(const struct trace_search *t,
                        const struct trace *checks, size_t count,
                        struct trace_fit *fit)
{
    struct rival *const rivals = xcalloc(t->count + 1, sizeof *rivals);
    for (size_t i = 0; i < t->count; i++) {
        rivals[i].c = t->found[i];
        foretell(&rivals[i], checks, count, &t->range);
    }
    qsort(rivals, t->count, sizeof *rivals, by_likelihood);
    const struct rival *const best = &rivals[0];
    const bool sure = t->count > 0 && explains(best);
    if (t->count > 0) {
        *fit = fit_of(&best->c);
        fit->agrees = best->tally.agree / (double)best->tally.seen;
        for (size_t i = 1; i < t->count; i++)
            if (!is_behind(best, &rivals[i]))
                allow(fit, &rivals[i].c);
        if (best->c.policy == RANDOM)
            leave_open(&t->range, fit);
    }
    for (size_t i = 0; i < t->count; i++)
        free_rival(&rivals[i]);
    free(rivals);
    return sure;
}

struct cache *trace_fit_cache(const struct trace_fit *fit, uint64_t sector)
{
    struct candidate c = {
        .line = fit->model_line, .sets = fit->model_sets, .ways = fit->model_ways};
    while (
        c.policy + 1 < POLICIES &&
        (policies[c.policy].policy != fit->policy ||
         memcmp(&policies[c.policy].ages, &fit->ages, sizeof fit->ages) != 0))
        c.policy++;
    return make_cache(&c, sector);
}

void trace_fit_neighbour(const struct trace_fit *fit, struct cache *cache)
{
    const uint64_t far = (uint64_t)1 << 32;
    for (uint64_t i = 0; i < fit->own; i++)
        cache_access(cache,
                     (far * fit->model_sets + fit->own_at + i) *
                         fit->model_line);
}
