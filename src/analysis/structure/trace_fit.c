#include "analysis/structure/trace_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"

/* What is taken for the share of visits that the clock tells wrongly, or what
 * else is not in the model: it weighs all caches alike. */
static const double WRONG = 0.03;
/* A cache explains the visits if so few are not as it foretells, of hits or of
 * misses, whichever are fewer: of as many as those or more would one be wrong
 * that has nothing to do with them, and none of them itself.  One that orders
 * victims otherwise (a tree for lru) is wrong about 0.3 of them at most, one
 * that victims are random in is at 0.55: half-way between those two … */
static const double WRONG_MOST = 0.42;
/* … or, if its victims are random, as many are as it expects, but for what the
 * clock tells wrongly of hits and of misses, and it is likelier than that all
 * hit with one chance. */
static const double EXPECTED_OFF = 2 * 0.03;
static const double GAIN_LEAST = 50;
/* Likelihood (its logarithm) that another cache must have less: by chance it
 * has once in e^10 = 20000. */
static const double LEAD_LEAST = 10;
/* Of two that foretell something else about a visit one is right; at random
 * each is about half of them, and the cache itself about all: this is half-way.
 */
static const double RIGHT_LEAST = 0.75;
static const double DEVIATIONS = 5;
/* Of calls that show a policy so many hit, and miss: four deviations of what
 * the clock tells wrongly of a hundred. */
static const double MANY_LACKS = 0.2;

/* A shape is tried with one policy, the best ones with few: where the cache has
 * another, some tenth of the visits is not as it foretells, 30 of 300 and 5
 * more or less; of a shape that is not the cache's a fourth, 75 and 8.  These
 * are five deviations apart, so the true shape is among the best of a few
 * thousand; next to it come as many as share its sets, with a few ways more or
 * less, and with twice and half the sets, which the longer runs tell apart. */
enum { FIRST_JUDGED = 300, SECOND_JUDGED = 1500 };
enum { FIFO_PART = 3, FIRST_KEPT = 64 };
enum { FEW_KEPT = 8, FINALISTS = 12 };
/* Of more sets the neighbour has no line in most. */
enum { FEW_SETS = 16 };
enum { SECTORS_MOST = 2, WAYS_MOST = 512, LESS_MOST = 12, MORE_MOST = 3 };

/* All policies that are thought of; the first is asked of every shape, the last
 * ones only of the shape that is the best: they are near the first. */
static const struct {
    enum cache_policy policy;
    struct cache_rrip ages;
    unsigned behind;
} policies[] = {
    {POLICY_LRU, {0, 0, 0}, 0},          {POLICY_FIFO, {0, 0, 0}, 0},
    {POLICY_NRU, {0, 0, 0}, 0},          {POLICY_PLRU, {0, 0, 0}, 0},
    {POLICY_RRIP, {3, 2, 0}, 0},         {POLICY_RRIP, {2, 1, 0}, 0},
    {POLICY_RANDOM, {0, 0, 0}, 0},       {POLICY_LRU_MIDPOINT, {0, 0, 0}, 1},
    {POLICY_LRU_MIDPOINT, {0, 0, 0}, 2}, {POLICY_LRU_MIDPOINT, {0, 0, 0}, 3},
};
enum { RANDOM = 6, POLICIES = sizeof policies / sizeof *policies };
enum { LRU, FIFO, SECOND_POLICIES = 3 };

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
                                      .rrip = policies[c->policy].ages,
                                      .behind = policies[c->policy].behind};
    struct cache *const cache = cache_new(&shape, 1);
    free(ways);
    return cache;
}

enum { BINS = 10 };

/* ---- visits that were seen ---------------------------------------------- */

/* What a cache foretells of them is kept, since many candidates are put
 * together of the same few. */
struct foretold {
    struct candidate by;
    float *chance; /* that a visit hits */
};

/* Visits, and of those that were seen where and what. */
struct seen {
    const struct trace_range *range;
    struct trace trace;
    size_t count;
    uint64_t *at;
    bool *hit;
    struct foretold *foretold;
    size_t foretolds;
};

static struct seen new_seen(size_t most, const struct trace_range *range)
{
    return (struct seen){.range = range,
                         .trace.visits =
                             xcalloc(most, sizeof(struct trace_visit)),
                         .at = xcalloc(most, sizeof(uint64_t)),
                         .hit = xcalloc(most, sizeof(bool))};
}

static void forget(struct seen *s)
{
    for (size_t i = 0; i < s->foretolds; i++)
        free(s->foretold[i].chance);
    s->foretolds = s->trace.count = s->count = 0;
}

static void free_seen(struct seen *s)
{
    forget(s);
    free(s->foretold);
    free(s->trace.visits);
    free(s->at);
    free(s->hit);
}

static void add_visit(struct seen *s, const struct trace_visit *v)
{
    s->trace.visits[s->trace.count++] = *v;
    if (v->seen == TRACE_UNSEEN)
        return;
    s->at[s->count] = v->at;
    s->hit[s->count++] = v->seen == TRACE_HIT;
}

static struct seen seen_of(const struct trace *t,
                           const struct trace_range *range)
{
    struct seen s = new_seen(t->count, range);
    for (size_t i = 0; i < t->count; i++)
        add_visit(&s, &t->visits[i]);
    return s;
}

/* ---- what a cache foretells --------------------------------------------- */

static double chance_of(double hits)
{
    return WRONG + (1 - 2 * WRONG) * hits;
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

static void run_certain(const struct seen *s, const struct candidate *c,
                        float *chance)
{
    const float of[] = {(float)chance_of(0), (float)chance_of(1)};
    struct cache *const cache = make_cache(c, s->range->sector);
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
static void run_random(const struct seen *s, const struct candidate *c,
                       float *foretold)
{
    const uint64_t sector = s->range->sector, end = end_of(&s->trace);
    double *const since = xcalloc((size_t)(end / c->line + 1), sizeof *since);
    double *const came = xcalloc(c->sets, sizeof *came);
    bool *const there = xcalloc((size_t)(end / sector + 1), sizeof *there);
    const double stay = log1p(-1 / fmax(1.001, (double)c->ways));
    for (size_t i = 0; i < s->trace.count; i++) {
        const struct trace_visit *const v = &s->trace.visits[i];
        const size_t line = (size_t)(v->at / c->line), set = line % c->sets;
        const double n = came[set] - since[line];
        const bool known = there[v->at / sector];
        const double stays = n > 0 ? exp(n * stay) : 1;
        const double chance = known ? stays : 0;
        if (v->seen != TRACE_UNSEEN)
            *foretold++ = (float)chance_of(chance);
        const double hit =
            v->seen == TRACE_UNSEEN ? chance : v->seen == TRACE_HIT;
        /* a miss that is likelier than not */
        const bool other_sector = hit < 0.5 && !known && c->line > sector;
        came[set] += other_sector ? 1 - stays : 1 - hit;
        since[line] = came[set];
        there[v->at / sector] = true;
    }
    free(since);
    free(came);
    free(there);
}

static bool is_same(const struct candidate *a, const struct candidate *b)
{
    return a->line == b->line && a->sets == b->sets && a->ways == b->ways &&
           a->policy == b->policy && a->own == b->own &&
           a->own_at == b->own_at && a->touched == b->touched;
}

/* Of each visit that was seen the chance that it hits, if all sets have the
 * candidate's ways. */
static const float *foretell_even(struct seen *s, const struct candidate *c)
{
    struct candidate by = *c;
    if (!by.touched)
        by.own = by.own_at = 0;
    for (size_t i = 0; i < s->foretolds; i++)
        if (is_same(&s->foretold[i].by, &by))
            return s->foretold[i].chance;
    float *const chance = xcalloc(s->count, sizeof *chance);
    if (by.policy == RANDOM)
        run_random(s, &by, chance);
    else
        run_certain(s, &by, chance);
    s->foretold =
        xreallocarray(s->foretold, s->foretolds + 1, sizeof *s->foretold);
    s->foretold[s->foretolds++] = (struct foretold){by, chance};
    return chance;
}

/* The same with the neighbour's lines, where the candidate leaves them out:
 * some sets have a way less. */
static void foretell(struct seen *s, const struct candidate *c, float *chance)
{
    struct candidate even = *c, less;
    if (!c->touched)
        even.ways = ways_of(c, c->own_at + c->own);
    less = even;
    if (!c->touched && c->own % c->sets > 0 && even.ways > 1)
        less.ways--;
    const float *const more_ways = foretell_even(s, &even);
    const float *const less_ways = foretell_even(s, &less);
    for (size_t i = 0; i < s->count; i++) {
        const uint64_t set = s->at[i] / c->line % c->sets;
        chance[i] = c->touched || ways_of(c, set) == even.ways ? more_ways[i]
                                                               : less_ways[i];
    }
}

static double likelihood_of_hit(float chance, bool hit)
{
    return log(hit ? chance : 1 - chance);
}

static double likelihood_of_seen(const struct seen *s, const float *chance)
{
    double sum = 0;
    for (size_t i = 0; i < s->count; i++)
        sum += likelihood_of_hit(chance[i], s->hit[i]);
    return sum;
}

static double mean_likelihood(const struct seen *s, const float *chance)
{
    return s->count > 0 ? likelihood_of_seen(s, chance) / (double)s->count
                        : -INFINITY;
}

/* ---- which shape -------------------------------------------------------- */

struct search {
    const struct trace_range *range;
    struct seen whole, picked;
    uint64_t line, lines; /* so many have a number in … */
    uint32_t *line_of;    /* … of each visit */
    bool *chosen;         /* of each line */
    float *chance;
    struct candidate *kept;
    size_t count, room;
};

/* Visits of each `every`th set, until so many of them were seen; of odd ones
 * among them, since ends of functions are of odd lines. */
static void pick(struct search *s, uint64_t sets, uint64_t every, size_t most)
{
    const struct trace *const t = &s->whole.trace;
    forget(&s->picked);
    for (uint64_t line = 0; line < s->lines; line++)
        s->chosen[line] = line % sets % every == (every / 2 | 1) % every;
    for (size_t i = 0; i < t->count && s->picked.count < most; i++)
        if (s->chosen[s->line_of[i]])
            add_visit(&s->picked, &t->visits[i]);
}

/* From now on lines are so long. */
static void search_lines(struct search *s, uint64_t line)
{
    const struct trace *const t = &s->whole.trace;
    s->line = line;
    s->lines = end_of(t) / line + 1;
    s->count = 0;
    for (size_t i = 0; i < t->count; i++)
        s->line_of[i] = (uint32_t)(t->visits[i].at / line);
}

/* Two ways are one order of use, by whatever bits; and where the neighbour hits
 * in a set before each call, what comes in behind a hit comes in as for lru. */
static bool can_be(const struct candidate *c)
{
    const enum cache_policy policy = policies[c->policy].policy;
    if (policy == POLICY_LRU_MIDPOINT &&
        (c->touched || c->ways <= policies[c->policy].behind))
        return false;
    const bool bits = policy == POLICY_PLRU || policy == POLICY_NRU;
    if (c->ways <= 2 && (c->ways == 1 || bits))
        return c->policy == 0;
    return policy != POLICY_PLRU || u64_is_power(c->ways);
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

static void try_candidate(struct search *s, struct seen *seen,
                          struct candidate c)
{
    if (!can_be(&c))
        return;
    c.score = mean_likelihood(seen, foretell_even(seen, &c));
    keep(s, c);
}

static uint64_t ways_least(const struct search *s, uint64_t sets)
{
    return (uint64_t)fmax(1, floor(s->range->least / (double)(s->line * sets)));
}

static uint64_t ways_most(const struct search *s, uint64_t sets)
{
    const double most = ceil(s->range->most / (double)(s->line * sets));
    return (uint64_t)fmin(most, WAYS_MOST);
}

/*
 * With how many ways an lru cache begins to have what is visited, for visits
 * that were seen; `most`: with none below.  A set's lines are a list in the
 * order of their last use, and beyond the first `most` it holds anything.  A
 * sector lies as deep as its line did since it was used.
 */
static void find_depths(const struct search *s, uint64_t sets, uint32_t most,
                        uint32_t *depth)
{
    const struct trace *const t = &s->picked.trace;
    const uint64_t sector = s->range->sector, of_line = s->line / sector;
    uint32_t *const head = xcalloc(sets, sizeof *head); /* line + 1 */
    uint32_t *const next = xcalloc(s->lines + 1, sizeof *next);
    uint32_t *const deepest = xcalloc(s->lines * of_line, sizeof *deepest);
    for (uint64_t i = 0; i < s->lines * of_line; i++)
        deepest[i] = most;
    for (size_t i = 0; i < t->count; i++) {
        const uint64_t at = t->visits[i].at / sector, line = at / of_line;
        uint32_t *link = &head[line % sets], ways = 0;
        while (ways < most && *link != 0 && *link != line + 1) {
            link = &next[*link];
            ways++;
        }
        if (ways < most && *link == line + 1)
            *link = next[line + 1];
        else
            ways = most;
        next[line + 1] = head[line % sets];
        head[line % sets] = (uint32_t)line + 1;
        for (uint64_t k = line * of_line; k < (line + 1) * of_line; k++)
            deepest[k] = deepest[k] > ways ? deepest[k] : ways;
        if (t->visits[i].seen != TRACE_UNSEEN)
            *depth++ = deepest[at];
        deepest[at] = 0;
    }
    free(head);
    free(next);
    free(deepest);
}

/* An lru cache of so many sets with each number of ways. */
static void try_lru(struct search *s, uint64_t sets)
{
    struct candidate c = {.line = s->line, .sets = sets, .policy = LRU};
    const uint64_t most = ways_most(s, sets);
    const float of[] = {(float)chance_of(0), (float)chance_of(1)};
    uint32_t *const depth = xcalloc(s->picked.count, sizeof *depth);
    find_depths(s, sets, (uint32_t)most, depth);
    for (c.ways = ways_least(s, sets); c.ways <= most; c.ways++) {
        for (size_t i = 0; i < s->picked.count; i++)
            s->chance[i] = of[depth[i] < c.ways];
        c.score = mean_likelihood(&s->picked, s->chance);
        keep(s, c);
    }
    free(depth);
}

static void try_random(struct search *s, uint64_t sets)
{
    struct candidate c = {.line = s->line, .sets = sets, .policy = RANDOM};
    for (c.ways = ways_least(s, sets); c.ways <= ways_most(s, sets); c.ways++)
        try_candidate(s, &s->picked, c);
}

/* Visits of some sets, so that about as many were seen. */
static void pick_sets(struct search *s, uint64_t sets, size_t judged)
{
    const uint64_t every = s->whole.count / judged, part = sets / 4;
    const uint64_t apart = every < part ? every : part;
    pick(s, sets, apart > 1 ? apart : 1, judged);
}

/* All shapes with a policy. */
static void try_shapes(struct search *s, size_t judged,
                       void (*try_sets)(struct search *, uint64_t))
{
    const uint64_t most = (uint64_t)(s->range->most / (double)s->line);
    for (uint64_t sets = 1; sets <= most; sets++) {
        pick_sets(s, sets, judged);
        try_sets(s, sets);
    }
}

/* The best shapes also as they would be if a line that is used stayed no longer
 * for it, which moves most. */
static void try_fifo(struct search *s)
{
    keep_best(s, s->count / FIFO_PART + FIRST_KEPT);
    for (size_t i = s->count; i-- > 0;) {
        struct candidate c = s->kept[i];
        c.policy = FIFO;
        pick_sets(s, c.sets, FIRST_JUDGED);
        try_candidate(s, &s->picked, c);
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
    for (size_t i = 0; i < s->count; i++)
        s->kept[i].score = likelihood_of_seen(
            &s->whole, foretell_even(&s->whole, &s->kept[i]));
    keep_best(s, best);
}

/* The best shapes with so many policies, by more visits; 0: all. */
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
        if (most > 0)
            pick(s, old[i].sets, 1, most);
        struct candidate c = old[i];
        for (c.policy = 0; c.policy < count; c.policy++)
            try_candidate(s, most > 0 ? &s->picked : &s->whole, c);
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

static void fill_table(struct search *s, const struct candidate *c,
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
        other.ways = t->least + i;
        const float *const chance = foretell_even(&s->whole, &other);
        for (size_t k = 0; k < s->whole.count; k++)
            t->at[i * t->sets + s->whole.at[k] / c->line % c->sets] +=
                likelihood_of_hit(chance[k], s->whole.hit[k]);
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
    pick(s, c.sets, 1, FIRST_JUDGED);
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

/* A candidate beside what it foretells of visits. */
struct rival {
    struct candidate c;
    float *chance;
    double agree; /* visits that are as is likelier */
    double likelihood[TRACE_KINDS];
};

/* What became of them, where those of each kind end, and which are of many
 * lines. */
struct outcome {
    bool *hit;
    size_t count, end[TRACE_KINDS], many, many_end;
};

static size_t begin_of(const struct outcome *o, size_t kind)
{
    return kind > 0 ? o->end[kind - 1] : 0;
}

static double hits_of(const struct outcome *o, size_t from, size_t to)
{
    double hits = 0;
    for (size_t i = from; i < to; i++)
        hits += o->hit[i];
    return hits;
}

/* Whether a load is likelier a hit than a miss. */
static bool foretells_hit(const struct rival *r, size_t load)
{
    return r->chance[load] > 0.5;
}

static double wrong_of(const struct rival *r, const struct outcome *o,
                       size_t from, size_t to)
{
    double wrong = 0;
    for (size_t i = from; i < to; i++)
        wrong += o->hit[i] != foretells_hit(r, i);
    return wrong;
}

static bool is_foretold(const struct rival *r, const struct outcome *o)
{
    const double seen = (double)o->count, hits = hits_of(o, 0, o->count);
    return seen - r->agree <= WRONG_MOST * fmin(hits, seen - hits);
}

/* Of lines that fit no more are wrong than the clock tells wrongly: they hit
 * whatever the policy is, and however much of what there is room for is fetched
 * ahead, but not if sets are others. */
static bool is_fitting(const struct rival *r, const struct outcome *o)
{
    const size_t from = begin_of(o, TRACE_FITTING);
    const double few = (double)(o->count - from) * WRONG;
    return wrong_of(r, o, from, o->count) <= few + DEVIATIONS * sqrt(few);
}

/* Of those before, and of those that are apart; there some cache nearly always
 * hits, which is no proof: of what is rarer as much must be right as of what
 * two foretell otherwise. */
static bool is_expected(const struct rival *r, const struct outcome *o,
                        size_t part)
{
    const size_t from = begin_of(o, part), to = o->end[part];
    const double seen = (double)(to - from), hits = hits_of(o, from, to);
    double bins[BINS] = {0}, off = 0;
    for (size_t i = from; i < to; i++)
        bins[(size_t)(r->chance[i] * BINS)] += o->hit[i] - r->chance[i];
    for (size_t i = 0; i < BINS; i++)
        off += fabs(bins[i]);
    const double share = (hits + 0.5) / (seen + 1);
    const double alike =
        seen * (share * log(share) + (1 - share) * log(1 - share));
    const double fewer = fmin(hits, seen - hits);
    if (part > 0) /* and what as many stray by themselves */
        return off <= (1 - RIGHT_LEAST) * fewer + sqrt(BINS * (fewer + 1));
    return off < EXPECTED_OFF * seen &&
           r->likelihood[part] > alike + GAIN_LEAST;
}

/* Of one set any chance looks like random victims, and so it tells nothing. */
static bool explains(const struct rival *r, const struct outcome *o)
{
    if (!is_fitting(r, o))
        return false;
    return r->c.policy == RANDOM
               ? r->c.sets > 1 && is_expected(r, o, TRACE_MIXED) &&
                     is_expected(r, o, TRACE_APART)
               : is_foretold(r, o);
}

/* Likelihood of what came about from one visit to another: for random victims
 * by the chances, otherwise by what these turned out to be, so that what is in
 * no model weighs as much as it does. */
static double likelihood_of(const struct rival *r, const struct outcome *o,
                            size_t from, size_t to)
{
    double in[BINS] = {0}, count[BINS] = {0}, sum = 0;
    for (size_t i = from; i < to; i++) {
        const size_t bin = (size_t)(r->chance[i] * BINS);
        in[bin] += o->hit[i];
        count[bin]++;
        if (r->c.policy == RANDOM)
            sum += likelihood_of_hit(r->chance[i], o->hit[i]);
    }
    for (size_t i = 0; r->c.policy != RANDOM && i < BINS; i++)
        if (in[i] > 0 && in[i] < count[i])
            sum += in[i] * log(in[i] / count[i]) +
                   (count[i] - in[i]) * log(1 - in[i] / count[i]);
    return sum;
}

static void weigh(struct rival *r, const struct outcome *o)
{
    r->agree = (double)o->count - wrong_of(r, o, 0, o->count);
    for (size_t kind = 0; kind < TRACE_KINDS; kind++)
        r->likelihood[kind] =
            likelihood_of(r, o, begin_of(o, kind), o->end[kind]);
}

static double lead_of(const struct rival *a, const struct rival *b)
{
    double lead = 0;
    for (size_t kind = 0; kind < TRACE_KINDS; kind++)
        lead += a->likelihood[kind] - b->likelihood[kind];
    return lead;
}

/* ---- the search --------------------------------------------------------- */

struct trace_search {
    struct trace_range range;
    struct rival *rival;
    size_t count;
    struct outcome outcome;
};

/* One in which the neighbour leaves room in all sets. */
static void remember(struct trace_search *t, const struct candidate *c)
{
    if (!can_be(c) || c->own + c->sets > c->sets * c->ways)
        return;
    for (size_t i = 0; i < t->count; i++)
        if (is_same(c, &t->rival[i].c))
            return;
    t->rival = xreallocarray(t->rival, t->count + 1, sizeof *t->rival);
    t->rival[t->count++] = (struct rival){.c = *c};
}

/* With the neighbour's lines a little otherwise: of sets that were not seen to
 * be visited it was not known where they are. */
static void remember_neighbours(struct trace_search *t, struct candidate c)
{
    const uint64_t at = c.own_at + c.sets - 1, own = c.own;
    for (uint64_t i = 0; i < 3; i++)
        for (uint64_t more = 0; more < 3; more++) {
            c.own_at = (at + i) % c.sets;
            c.own = own + more - 1;
            if (own + more > t->range.own_least && c.own <= t->range.own_most)
                remember(t, &c);
        }
}

/* With a line of the neighbour more in each set, and a way: there is as much
 * room for others then, be its lines looked for or left out. */
static void remember_room(struct trace_search *t, struct candidate c)
{
    c.ways -= c.own / c.sets < c.ways ? c.own / c.sets : c.ways - 1;
    for (c.own %= c.sets; c.own <= t->range.own_most; c.own += c.sets) {
        for (int touched = 0; touched <= (c.own > 0 && c.sets <= FEW_SETS);
             touched++) {
            c.touched = touched;
            if (c.own >= t->range.own_least)
                remember(t, &c);
        }
        c.ways++;
    }
}

static void remember_policies(struct trace_search *t, struct candidate c)
{
    for (c.policy = 0; c.policy < POLICIES; c.policy++)
        remember(t, &c);
}

/* Lines twice as long in half as many sets, or ways. */
static void remember_longer(struct trace_search *t, struct candidate c)
{
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

/* The likeliest, and the likeliest with every other policy, with a few ways
 * more or less and with lines of two parts. */
static void remember_best(struct trace_search *t, const struct search *s)
{
    for (size_t i = 0; i < s->count && i < FINALISTS; i++) {
        remember(t, &s->kept[i]);
        if (i < FEW_KEPT && s->kept[i].policy != RANDOM &&
            t->range.own_most > 0)
            remember_neighbours(t, s->kept[i]);
    }
    if (s->count == 0)
        return;
    remember_room(t, s->kept[0]);
    remember_policies(t, s->kept[0]);
    struct candidate c;
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
    for (c.policy = 0; c.policy < POLICIES && c.ways <= WAYS_MOST; c.policy++)
        remember_neighbours(t, c);
    remember_longer(t, s->kept[0]);
}

static void search_certain(struct search *s)
{
    try_shapes(s, FIRST_JUDGED, try_lru);
    try_fifo(s);
    try_policies(s, SECOND_POLICIES, SECOND_JUDGED, 12);
    try_policies(s, RANDOM, 0, 6);
    try_neighbour(s);
    if (s->range->own_least > 0 &&
        (s->count == 0 || s->kept[0].sets <= FEW_SETS))
        try_touched(s);
}

static void search_random(struct search *s)
{
    s->count = 0;
    try_shapes(s, SECOND_JUDGED, try_random);
    keep_best(s, FIRST_KEPT);
    judge_whole(s, 12);
    try_neighbour(s);
}

/* Whether the best explains the visits. */
static bool is_explained(struct search *s)
{
    const size_t all = s->whole.count;
    const struct outcome o = {
        .hit = s->whole.hit, .count = all, .end = {all, all, all}};
    struct rival best = {.chance = s->chance};
    if (s->count == 0)
        return false;
    best.c = s->kept[0];
    foretell(&s->whole, &best.c, best.chance);
    weigh(&best, &o);
    return explains(&best, &o);
}

static struct search new_search(const struct trace *trace,
                                const struct trace_range *range)
{
    return (struct search){
        .range = range,
        .whole = seen_of(trace, range),
        .picked = new_seen(trace->count, range),
        .line_of = xcalloc(trace->count, sizeof(uint32_t)),
        .chosen =
            xcalloc((size_t)(end_of(trace) / range->sector + 1), sizeof(bool)),
        .chance = xcalloc(trace->count, sizeof(float))};
}

static void free_search(struct search *s)
{
    free_seen(&s->whole);
    free_seen(&s->picked);
    free(s->line_of);
    free(s->chosen);
    free(s->chance);
    free(s->kept);
}

struct trace_search *trace_search_new(const struct trace *trace,
                                      const struct trace_range *range)
{
    struct trace_search *const t = xcalloc(1, sizeof *t);
    t->range = *range;
    struct search s = new_search(trace, &t->range);
    bool explained = false;
    for (uint64_t sectors = 1; !explained && sectors <= SECTORS_MOST;
         sectors *= 2) {
        search_lines(&s, sectors * range->sector);
        search_certain(&s);
        remember_best(t, &s);
        explained = is_explained(&s);
        if (explained)
            break;
        search_random(&s);
        remember_best(t, &s);
        explained = is_explained(&s);
    }
    free_search(&s);
    return t;
}

void trace_search_free(struct trace_search *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->rival[i].chance);
    free(t->rival);
    free(t->outcome.hit);
    free(t);
}

void trace_search_check(struct trace_search *t, const struct trace *check)
{
    struct seen seen = seen_of(check, &t->range);
    struct outcome *const o = &t->outcome;
    o->hit = xreallocarray(o->hit, o->count + seen.count, sizeof *o->hit);
    memcpy(o->hit + o->count, seen.hit, seen.count * sizeof *o->hit);
    for (size_t i = 0; i < t->count; i++) {
        struct rival *const r = &t->rival[i];
        r->chance =
            xreallocarray(r->chance, o->count + seen.count, sizeof *r->chance);
        foretell(&seen, &r->c, r->chance + o->count);
    }
    if (check->many) {
        o->many = o->count;
        o->many_end = o->count + seen.count;
    }
    o->count += seen.count;
    for (size_t kind = check->kind; kind < TRACE_KINDS; kind++)
        o->end[kind] = o->count;
    free_seen(&seen);
    for (size_t i = 0; i < t->count; i++)
        weigh(&t->rival[i], o);
}

/* ---- the verdict -------------------------------------------------------- */

/* Of the visits of which both foretell something else the better one is right
 * about so many, if it is the cache and not just nearer to it.  Where the
 * policy is none of those, either shape is wrong about many, and it does for
 * the shape that it is right about more than half by five deviations of a coin.
 */
static bool is_right(const struct rival *a, const struct rival *b,
                     const struct outcome *o, size_t from, size_t to)
{
    double differ = 0, right = 0;
    for (size_t i = from; i < to; i++)
        if (foretells_hit(a, i) != foretells_hit(b, i)) {
            differ++;
            right += foretells_hit(a, i) == o->hit[i];
        }
    return right >= RIGHT_LEAST * differ ||
           (!is_shape(&a->c, &b->c) &&
            2 * right - differ >= DEVIATIONS * sqrt(differ));
}

/* True if visits show that it is one and not the other: it foretells more, and
 * what else is there, which no model has, is not what tells them apart. */
static bool is_shown_in(const struct rival *one, const struct rival *other,
                        const struct outcome *o, size_t from, size_t to)
{
    const double lead =
        likelihood_of(one, o, from, to) - likelihood_of(other, o, from, to);
    return lead >= LEAD_LEAST &&
           (one->c.line != other->c.line || is_right(one, other, o, from, to));
}

/* … those that are apart, those that fit, or those before. */
static bool is_shown(const struct rival *one, const struct rival *other,
                     const struct outcome *o)
{
    for (size_t i = 0; i < TRACE_KINDS; i++)
        if (is_shown_in(one, other, o, begin_of(o, i), o->end[i]))
            return true;
    return false;
}

/* Whether visits of many lines tell policies: what comes ahead blurs others, as
 * it may come in otherwise.  Of those that nearly all hit, or nearly none, any
 * cache foretells most. */
static bool many_tell(const struct outcome *o)
{
    const double many = (double)(o->many_end - o->many);
    const double hits = hits_of(o, o->many, o->many_end);
    return fmin(hits, many - hits) > MANY_LACKS * many;
}

/* Whether the neighbour leaves the same room in all sets, though it has more
 * lines there in the one than in the other: what it does there decides little,
 * and models of it are not as good as that. */
static bool is_same_room(const struct candidate *a, const struct candidate *b)
{
    bool same =
        a->line == b->line && a->sets == b->sets && a->policy == b->policy;
    for (uint64_t set = 0; same && set < a->sets; set++)
        same = ways_of(a, set) == ways_of(b, set);
    return same;
}

/* … and the others do not show the contrary. */
static bool is_behind(const struct rival *best, const struct rival *r,
                      const struct outcome *o)
{
    if (best->c.policy == RANDOM || r->c.policy == RANDOM)
        return lead_of(best, r) >= LEAD_LEAST;
    if (is_same_room(&best->c, &r->c))
        return false;
    if (best->c.policy != r->c.policy && many_tell(o))
        return is_shown_in(best, r, o, o->many, o->many_end);
    return is_shown(best, r, o) && !is_shown(r, best, o);
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
                              .model_policy = c->policy};
}

/* Of random victims: the neighbour's lines are some of them, and come again, so
 * that sets which all have some hold more than it leaves; and sets that are
 * others than any that were tried look like chance, too, as do victims of which
 * some go more often, with as many ways as hold as long.  How much is held does
 * not hang on that. */
static void leave_open(const struct trace_range *range, struct trace_fit *fit)
{
    if (range->own_most >= fit->model_sets)
        fit->ways = fit->size = 0;
    if (range->least < (double)fit->least)
        fit->least = (uint64_t)range->least;
}

static const struct rival *likeliest(const struct trace_search *t)
{
    const struct rival *best = NULL;
    for (size_t i = 0; i < t->count; i++)
        if (best == NULL || lead_of(&t->rival[i], best) > 0)
            best = &t->rival[i];
    return best;
}

static double agrees_of(const struct rival *r, const struct outcome *o)
{
    const double all = r->agree / (double)o->count;
    const double wrong = wrong_of(r, o, o->many, o->many_end);
    return many_tell(o) ? fmax(all, 1 - wrong / (double)(o->many_end - o->many))
                        : all;
}

bool trace_search_judge(const struct trace_search *t, struct trace_fit *fit)
{
    const struct rival *const best = likeliest(t);
    *fit = (struct trace_fit){0};
    if (best == NULL || t->outcome.count == 0)
        return false;
    *fit = fit_of(&best->c);
    fit->agrees = agrees_of(best, &t->outcome);
    for (size_t i = 0; i < t->count; i++)
        if (&t->rival[i] != best && !is_behind(best, &t->rival[i], &t->outcome))
            allow(fit, &t->rival[i].c);
    if (best->c.policy == RANDOM)
        leave_open(&t->range, fit);
    return explains(best, &t->outcome);
}

struct cache *trace_fit_cache(const struct trace_fit *fit, uint64_t sector)
{
    const struct candidate c = {.line = fit->model_line,
                                .sets = fit->model_sets,
                                .ways = fit->model_ways,
                                .policy = fit->model_policy};
    return make_cache(&c, sector);
}

uint64_t trace_fit_ways(const struct trace_fit *fit, uint64_t set)
{
    const struct candidate c = {.sets = fit->model_sets,
                                .ways = fit->model_ways,
                                .own = fit->own,
                                .own_at = fit->own_at};
    return ways_of(&c, set);
}

void trace_fit_neighbour(const struct trace_fit *fit, struct cache *cache)
{
    const uint64_t far = (uint64_t)1 << 32;
    for (uint64_t i = 0; i < fit->own; i++)
        cache_access(cache, (far * fit->model_sets + fit->own_at + i) *
                                fit->model_line);
}
