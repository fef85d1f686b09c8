#include "analysis/structure/trace_shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crew.h"
#include "base/mem.h"

/* A shape is tried with one policy, the best ones with few: where the cache has
 * another, some tenth of the visits is not as it foretells, 30 of 300 and 5
 * more or less; of a shape that is not the cache's a fourth, 75 and 8.  These
 * are five deviations apart, so the true shape is among the best of a few
 * thousand; next to it come as many as share its sets, with a few ways more or
 * less, and with twice and half the sets, which the longer runs tell apart.
 * Of ages and of large trees more is not as lru foretells, and the true shape
 * may be missed (trace_shapes_unlike_lru). */
enum { FIRST_JUDGED = 300, SECOND_JUDGED = 1500 };
enum { FIFO_PART = 3, FIRST_KEPT = 64, FEW_KEPT = 8 };
enum { LESS_MOST = 12, SECOND_POLICIES = 3 };

static uint64_t set_of(const struct trace_shapes *s, uint64_t line,
                       uint64_t sets)
{
    return (line >> s->shift) % sets;
}

/* Visits of each `every`th set, until so many of them were seen; of odd ones
 * among them, since ends of functions are of odd lines. */
static void pick(struct trace_shapes *s, uint64_t sets, uint64_t every,
                 size_t most)
{
    const struct trace *const t = &s->whole.trace;
    trace_model_forget(&s->picked);
    for (uint64_t line = 0; line < s->lines; line++)
        s->chosen[line] =
            set_of(s, line, sets) % every == (every / 2 | 1) % every;
    for (size_t i = 0; i < t->count && s->picked.count < most; i++)
        if (s->chosen[s->line_of[i]])
            trace_model_add(&s->picked, &t->visits[i]);
}

/* From now on lines are so long. */
void trace_shapes_lines(struct trace_shapes *s, uint64_t line)
{
    const struct trace *const t = &s->whole.trace;
    s->line = line;
    s->lines = trace_model_end(t) / line + 1;
    s->count = 0;
    for (size_t i = 0; i < t->count; i++)
        s->line_of[i] = (uint32_t)(t->visits[i].at / line);
}

static int by_score(const void *a, const void *b)
{
    const double x = ((const struct trace_model *)a)->score;
    const double y = ((const struct trace_model *)b)->score;
    return (x < y) - (x > y);
}

static void keep_best(struct trace_shapes *s, size_t most)
{
    qsort(s->kept, s->count, sizeof *s->kept, by_score);
    s->count = s->count < most ? s->count : most;
}

static bool has_sets(const struct trace_model *c, size_t count,
                     const struct trace_model *of)
{
    for (size_t i = 0; i < count; i++)
        if (c[i].sets == of->sets && c[i].shift == of->shift)
            return true;
    return false;
}

/* The best, and beside them up to as many that are the best of other sets: of
 * few sets many numbers of ways are about as likely by some visits, and leave
 * no place to those that all visits show to be likelier by far. */
static void keep_best_of_sets(struct trace_shapes *s, size_t most)
{
    struct trace_model *const c = s->kept;
    const size_t all = s->count;
    keep_best(s, most);
    for (size_t i = s->count; i < all && s->count < 2 * most; i++)
        if (!has_sets(c, s->count, &c[i]))
            c[s->count++] = c[i];
}

static void keep(struct trace_shapes *s, struct trace_model c)
{
    if (s->count == s->room) {
        s->room = 2 * s->room + FIRST_KEPT;
        s->kept = xreallocarray(s->kept, s->room, sizeof *s->kept);
    }
    s->kept[s->count++] = c;
}

static void try_candidate(struct trace_shapes *s,
                          struct trace_seen_visits *seen, struct trace_model c)
{
    if (!trace_model_can_be(&c))
        return;
    c.score = trace_model_mean(seen, trace_model_even(seen, &c));
    keep(s, c);
}

static uint64_t ways_least(const struct trace_shapes *s, uint64_t sets)
{
    return (uint64_t)fmax(1, floor(s->range->least / (double)(s->line * sets)));
}

static uint64_t ways_most(const struct trace_shapes *s, uint64_t sets)
{
    const double most = ceil(s->range->most / (double)(s->line * sets));
    return (uint64_t)fmin(most, TRACE_WAYS_MOST);
}

/* ---- several at once ---------------------------------------------------- */

/* What one piece of a search keeps. */
struct found {
    struct trace_model *kept;
    size_t count;
};

/* Pieces that know nothing of each other; `of`: what they begin with. */
struct pieces {
    const struct trace_shapes *s;
    const struct trace_model *of;
    void (*work)(struct trace_shapes *s, const struct pieces *p, size_t piece);
    void (*try_of)(struct trace_shapes *s, uint64_t sets);
    size_t policies, judged;
    struct found *found;
    size_t count;
};

/* The same visits, and nothing kept of them. */
static struct trace_shapes bench_of(const struct trace_shapes *s)
{
    struct trace_shapes bench = *s;
    bench.picked = trace_model_new_seen(s->whole.trace.count, s->range);
    bench.chosen = xcalloc(s->lines, sizeof *bench.chosen);
    bench.chance = xcalloc(s->whole.trace.count, sizeof *bench.chance);
    bench.kept = NULL;
    bench.count = bench.room = 0;
    return bench;
}

static void free_bench(struct trace_shapes *bench)
{
    trace_model_free_seen(&bench->picked);
    free(bench->chosen);
    free(bench->chance);
}

static void do_one(void *argument, size_t piece)
{
    struct pieces *const p = argument;
    struct trace_shapes bench = bench_of(p->s);
    p->work(&bench, p, piece);
    p->found[piece] = (struct found){bench.kept, bench.count};
    free_bench(&bench);
}

/* Keeps what they keep, in their order, whoever was first. */
static void do_all(struct trace_shapes *s, struct pieces *p)
{
    p->s = s;
    p->found = xcalloc(p->count + 1, sizeof *p->found);
    crew_each(do_one, p, p->count);
    for (size_t i = 0; i < p->count; i++) {
        for (size_t k = 0; k < p->found[i].count; k++)
            keep(s, p->found[i].kept[k]);
        free(p->found[i].kept);
    }
    free(p->found);
}

/* ---- shapes ------------------------------------------------------------- */

/*
 * With how many ways an lru cache begins to have what is visited, for visits
 * that were seen; `most`: with none below.  A set's lines are a list in the
 * order of their last use, and beyond the first `most` it holds anything.  A
 * sector lies as deep as its line did since it was used.
 */
static void find_depths(const struct trace_shapes *s, uint64_t sets,
                        uint32_t most, uint32_t *depth)
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
        uint32_t *const first = &head[set_of(s, line, sets)];
        uint32_t *link = first, ways = 0;
        while (ways < most && *link != 0 && *link != line + 1) {
            link = &next[*link];
            ways++;
        }
        if (ways < most && *link == line + 1)
            *link = next[line + 1];
        else
            ways = most;
        next[line + 1] = *first;
        *first = (uint32_t)line + 1;
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

/* Visits of some sets, so that about as many were seen. */
static void pick_sets(struct trace_shapes *s, uint64_t sets, size_t judged)
{
    const uint64_t every = s->whole.count / judged, part = sets / 4;
    const uint64_t apart = every < part ? every : part;
    pick(s, sets, apart > 1 ? apart : 1, judged);
}

void trace_shapes_lru(struct trace_shapes *s, uint64_t sets)
{
    struct trace_model c = {
        .line = s->line, .sets = sets, .shift = s->shift, .policy = TRACE_LRU};
    const uint64_t most = ways_most(s, sets);
    const float of[] = {(float)trace_model_chance(0),
                        (float)trace_model_chance(1)};
    pick_sets(s, sets, FIRST_JUDGED);
    uint32_t *const depth = xcalloc(s->picked.count, sizeof *depth);
    find_depths(s, sets, (uint32_t)most, depth);
    for (c.ways = ways_least(s, sets); c.ways <= most; c.ways++) {
        for (size_t i = 0; i < s->picked.count; i++)
            s->chance[i] = of[depth[i] < c.ways];
        c.score = trace_model_mean(&s->picked, s->chance);
        keep(s, c);
    }
    free(depth);
}

static void try_sets(struct trace_shapes *s, uint64_t sets, size_t policy,
                     size_t judged)
{
    struct trace_model c = {
        .line = s->line, .sets = sets, .shift = s->shift, .policy = policy};
    pick_sets(s, sets, judged);
    for (c.ways = ways_least(s, sets); c.ways <= ways_most(s, sets); c.ways++)
        try_candidate(s, &s->picked, c);
}

static void try_random(struct trace_shapes *s, uint64_t sets)
{
    try_sets(s, sets, TRACE_RANDOM, SECOND_JUDGED);
}

/* The tree and the ages, by which others come into the first few than by lru.
 */
static void try_unlike_lru(struct trace_shapes *s, uint64_t sets)
{
    try_sets(s, sets, TRACE_TREE, FIRST_JUDGED);
    try_sets(s, sets, TRACE_AGES, FIRST_JUDGED);
}

static void try_number(struct trace_shapes *s, const struct pieces *p,
                       size_t piece)
{
    p->try_of(s, piece + 1);
}

/* All shapes with a policy. */
static void try_shapes(struct trace_shapes *s,
                       void (*try_of)(struct trace_shapes *, uint64_t))
{
    struct pieces p = {.work = try_number,
                       .try_of = try_of,
                       .count = (size_t)(s->range->most / (double)s->line)};
    do_all(s, &p);
}

/* With an index of address bits, so of 2^n sets, which leaves out some right
 * above the line: of random victims as many sets of single lines look nearly
 * the same.  Otherwise these explain nothing, and lines that are longer are
 * more likely than such an index. */
static void try_shifted(struct trace_shapes *s)
{
    const uint64_t most = (uint64_t)(s->range->most / (double)s->line);
    for (s->shift = 1; s->shift <= TRACE_SHIFT_MOST; s->shift++)
        for (uint64_t sets = 2; sets <= most; sets *= 2)
            try_random(s, sets);
    s->shift = 0;
}

static void try_one_fifo(struct trace_shapes *s, const struct pieces *p,
                         size_t piece)
{
    struct trace_model c = p->of[p->count - 1 - piece];
    c.policy = TRACE_FIFO;
    s->shift = c.shift;
    pick_sets(s, c.sets, FIRST_JUDGED);
    try_candidate(s, &s->picked, c);
}

/* The best shapes also as they would be if a line that is used stayed no longer
 * for it, which moves most. */
static void try_fifo(struct trace_shapes *s)
{
    keep_best(s, s->count / FIFO_PART + FIRST_KEPT);
    struct pieces p = {.work = try_one_fifo, .of = s->kept, .count = s->count};
    do_all(s, &p);
    keep_best(s, FIRST_KEPT);
}

/* The best by all visits. */
static void judge_whole(struct trace_shapes *s, size_t best)
{
    trace_model_expect_even(&s->whole, s->kept, s->count);
    for (size_t i = 0; i < s->count; i++)
        s->kept[i].score = trace_model_of_seen(
            &s->whole, trace_model_even(&s->whole, &s->kept[i]));
    keep_best(s, best);
}

static void expect_policies(struct trace_shapes *s,
                            const struct trace_model *shape, size_t shapes,
                            size_t policies)
{
    struct trace_model *const all = xcalloc(shapes * policies + 1, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; i < shapes; i++)
        for (size_t policy = 0; policy < policies; policy++) {
            all[count] = shape[i];
            all[count].policy = policy;
            count += trace_model_can_be(&all[count]);
        }
    trace_model_expect_even(&s->whole, all, count);
    free(all);
}

/* By so many of its visits, or all: a shape with so many trace_policies. */
static void try_its_policies(struct trace_shapes *s, const struct pieces *p,
                             size_t piece)
{
    struct trace_model c = p->of[piece];
    for (size_t i = 0; i < piece; i++)
        if (trace_model_is_shape(&p->of[i], &c))
            return;
    s->shift = c.shift;
    if (p->judged > 0)
        pick(s, c.sets, 1, p->judged);
    for (c.policy = 0; c.policy < p->policies; c.policy++)
        try_candidate(s, p->judged > 0 ? &s->picked : &s->whole, c);
}

/* The best shapes with so many trace_policies, by more visits; 0: all. */
static void try_policies(struct trace_shapes *s, size_t policies, size_t judged,
                         size_t best)
{
    struct pieces p = {.work = try_its_policies,
                       .of = s->kept,
                       .count = s->count,
                       .policies = policies,
                       .judged = judged};
    struct trace_model *const old = s->kept;
    if (judged == 0)
        expect_policies(s, old, s->count, policies);
    s->kept = NULL;
    s->count = s->room = 0;
    do_all(s, &p);
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

static void expect_ways(struct trace_shapes *s, const struct trace_model *c,
                        const struct table *t)
{
    struct trace_model *const all = xcalloc(t->count, sizeof *all);
    for (uint64_t i = 0; i < t->count; i++) {
        all[i] = *c;
        all[i].ways = t->least + i;
    }
    trace_model_expect_even(&s->whole, all, t->count);
    free(all);
}

static void fill_table(struct trace_shapes *s, const struct trace_model *c,
                       struct table *t)
{
    const uint64_t less =
        s->range->own_most < LESS_MOST ? s->range->own_most : LESS_MOST;
    t->least = c->ways > less ? c->ways - less : 1;
    t->count = c->ways + less + TRACE_MORE_MOST - t->least;
    t->sets = c->sets;
    t->at = xcalloc(t->count * t->sets, sizeof *t->at);
    expect_ways(s, c, t);
    for (uint64_t i = 0; i < t->count; i++) {
        struct trace_model other = *c;
        other.ways = t->least + i;
        const float *const chance = trace_model_even(&s->whole, &other);
        for (size_t k = 0; k < s->whole.count; k++)
            t->at[i * t->sets + trace_model_set(c, s->whole.at[k])] +=
                trace_model_of_hit(chance[k], s->whole.hit[k]);
    }
}

/* How likely it is that so many sets in a row have a line of the neighbour more
 * than others, from each set on: the best place. */
static struct trace_model place_own(const struct table *t, struct trace_model c)
{
    const uint64_t rest = c.own % c.sets, each = c.own / c.sets;
    const uint64_t most = c.ways > each ? c.ways - each : 1;
    const uint64_t less = most > 1 ? most - 1 : 1;
    struct trace_model best = c;
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
static struct trace_model find_own(const struct trace_shapes *s,
                                   const struct table *t, struct trace_model c)
{
    struct trace_model best = {.score = -INFINITY};
    c.own_at = 0;
    for (c.own = s->range->own_least; c.own <= s->range->own_most; c.own++) {
        const struct trace_model placed = place_own(t, c);
        if (placed.score > best.score)
            best = placed;
    }
    return best;
}

/* Each of the best with the ways and the neighbour that suit it best, and the
 * next numbers of ways. */
static void try_neighbour(struct trace_shapes *s)
{
    struct trace_model *const old = s->kept;
    const size_t count = s->count;
    s->kept = NULL;
    s->count = s->room = 0;
    for (size_t i = 0; i < count; i++) {
        struct table t;
        fill_table(s, &old[i], &t);
        for (uint64_t w = t.least; w < t.least + t.count; w++) {
            struct trace_model c = old[i];
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
static void try_few(struct trace_shapes *s, struct trace_model c)
{
    const double each = (double)(s->line * c.sets);
    const double own = (double)(c.own * s->line);
    const double most = ceil((s->range->most + own) / each);
    c.ways = (uint64_t)fmax(2, floor((s->range->least + own) / each));
    pick(s, c.sets, 1, FIRST_JUDGED);
    for (; (double)c.ways <= most && c.ways <= TRACE_WAYS_MOST; c.ways++)
        for (c.policy = 1; c.policy < TRACE_RANDOM; c.policy++)
            try_candidate(s, &s->picked, c);
}

/* A candidate with all places and numbers of the neighbour's lines. */
static void try_places(struct trace_shapes *s, struct trace_model c)
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
static void try_touched(struct trace_shapes *s)
{
    struct trace_model *const plain = s->kept;
    const size_t count = s->count;
    struct trace_model c = {.touched = true, .line = s->line};
    c.own = s->range->own_least;
    s->kept = NULL;
    s->count = s->room = 0;
    for (c.sets = 1; c.sets <= TRACE_FEW_SETS; c.sets++)
        try_few(s, c);
    keep_best(s, FEW_KEPT);
    struct trace_model first[FEW_KEPT];
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

void trace_shapes_certain(struct trace_shapes *s)
{
    try_shapes(s, trace_shapes_lru);
    try_fifo(s);
    try_policies(s, SECOND_POLICIES, SECOND_JUDGED, 12);
    try_policies(s, TRACE_RANDOM, 0, 6);
    try_neighbour(s);
    if (s->range->own_least > 0 &&
        (s->count == 0 || s->kept[0].sets <= TRACE_FEW_SETS))
        try_touched(s);
}

void trace_shapes_unlike_lru(struct trace_shapes *s)
{
    s->count = 0;
    try_shapes(s, try_unlike_lru);
    keep_best(s, FIRST_KEPT);
    judge_whole(s, 12);
    try_policies(s, TRACE_RANDOM, 0, 6);
    try_neighbour(s);
}

void trace_shapes_random(struct trace_shapes *s)
{
    s->count = 0;
    try_shapes(s, try_random);
    try_shifted(s);
    keep_best_of_sets(s, FIRST_KEPT);
    judge_whole(s, 12);
    try_neighbour(s);
}

struct trace_shapes trace_shapes_new(const struct trace *trace,
                                     const struct trace_range *range)
{
    return (struct trace_shapes){
        .range = range,
        .whole = trace_model_seen(trace, range),
        .picked = trace_model_new_seen(trace->count, range),
        .line_of = xcalloc(trace->count, sizeof(uint32_t)),
        .chosen = xcalloc((size_t)(trace_model_end(trace) / range->sector + 1),
                          sizeof(bool)),
        .chance = xcalloc(trace->count, sizeof(float))};
}

void trace_shapes_free(struct trace_shapes *s)
{
    trace_model_free_seen(&s->whole);
    trace_model_free_seen(&s->picked);
    free(s->line_of);
    free(s->chosen);
    free(s->chance);
    free(s->kept);
}
