/*
 * analysis/structure/trace_shapes: what is kept of shapes scores as the model
 * of each does that is run by itself, and no other place of a neighbour's lines
 * scores better.
 */
#include "analysis/structure/trace_shapes.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "testing.h"

enum { LINE = 128, SECTOR = 32, SEEN = 1600 };

/* All sets with the same ways: of two such caches sets are the one's or the
 * other's. */
static struct cache *cache_of(const struct trace_model *m, uint64_t each,
                              uint64_t sector)
{
    uint32_t *const ways = xcalloc(m->sets, sizeof *ways);
    for (uint64_t set = 0; set < m->sets; set++)
        ways[set] = (uint32_t)each;
    const struct cache_shape shape = {.line = m->line,
                                      .sector = sector,
                                      .sets = m->sets,
                                      .set_ways = ways,
                                      .policy =
                                          trace_policies[m->policy].policy};
    struct cache *const cache = cache_new(&shape, 5);
    free(ways);
    return cache;
}

/* Visits to sectors of a third more lines than there is room for, which of
 * chance are spread among twice as many; first some that nobody saw. */
static struct trace visit(const struct trace_model *m, uint64_t sector)
{
    const uint64_t lines = m->sets * m->ways * 4 / 3;
    struct trace t = {.count = SEEN + 3 * lines};
    t.visits = xcalloc(t.count, sizeof *t.visits);
    const uint64_t most = m->ways - m->own / m->sets;
    struct cache *const more = cache_of(m, most, sector), *const less =
                                                              cache_of(m,
                                                                       most - 1,
                                                                       sector);
    struct rng r;
    rng_seed(&r, 7);
    for (size_t i = 0; i < t.count; i++) {
        uint64_t line = rng_below(&r, lines);
        if (trace_model_is_chance(m))
            line = 2 * line + (line * 0x9e3779b97f4a7c15 >> 63);
        const uint64_t at =
            line * m->line + rng_below(&r, m->line / sector) * sector;
        const bool has_less = trace_model_ways(m, line % m->sets) < most;
        const bool hit = cache_access(has_less ? less : more, at) == CACHE_HIT;
        t.visits[i] = (struct trace_visit){at,
                                           i < 3 * lines ? TRACE_UNSEEN
                                           : hit         ? TRACE_HIT
                                                         : TRACE_MISS,
                                           true};
    }
    cache_free(more);
    cache_free(less);
    return t;
}

static struct trace_range range_of(const struct trace_model *m, uint64_t sector)
{
    const double bytes = (double)trace_model_bytes(m);
    return (struct trace_range){.sector = sector,
                                .least = 0.75 * bytes,
                                .most = 1.1 * bytes,
                                .own_least = m->own > 0 ? m->own - 1 : 0,
                                .own_most = m->own > 0 ? m->own + 1 : 0};
}

/* ---- lru --------------------------------------------------------------- */

static void lru_scores(const struct trace_model *m, uint64_t sector)
{
    struct trace t = visit(m, sector);
    const struct trace_range range = range_of(m, sector);
    struct trace_shapes s = trace_shapes_new(&t, &range);
    trace_shapes_lines(&s, m->line);
    for (uint64_t sets = 1; sets <= 2 * m->sets; sets++) {
        const double each = (double)(sets * m->line);
        uint64_t ways = (uint64_t)fmax(1, floor(range.least / each));
        s.count = 0;
        trace_shapes_lru(&s, sets);
        ck_assert_uint_eq(s.count,
                          (uint64_t)ceil(range.most / each) - ways + 1);
        ck_assert_uint_gt(s.picked.count, 100);
        ck_assert_uint_le(s.picked.count, 300);
        for (size_t i = 0; i < s.count; i++) {
            const struct trace_model *const c = &s.kept[i];
            ck_assert_uint_eq(c->ways, ways++);
            ck_assert_uint_eq(c->sets, sets);
            ck_assert_uint_eq(c->line, m->line);
            ck_assert_uint_eq(c->policy, TRACE_LRU);
            const double mean =
                trace_model_mean(&s.picked, trace_model_even(&s.picked, c));
            ck_assert_double_eq_tol(c->score, mean, 1e-9);
        }
    }
    trace_shapes_free(&s);
    free(t.visits);
}

START_TEST(lru_caches_score_as_when_they_are_run)
{
    lru_scores(&(struct trace_model){.line = LINE, .sets = 11, .ways = 5},
               LINE);
    lru_scores(&(struct trace_model){.line = LINE, .sets = 8, .ways = 4},
               SECTOR);
    lru_scores(&(struct trace_model){.line = 64, .sets = 1, .ways = 12},
               SECTOR);
}
END_TEST

/* Visits that were picked are all of every so-manieth set, in their order: odd
 * lines among them. */
START_TEST(visits_of_some_sets_are_picked)
{
    const struct trace_model m = {.line = LINE, .sets = 24, .ways = 4};
    struct trace t = visit(&m, LINE);
    const struct trace_range range = range_of(&m, LINE);
    struct trace_shapes s = trace_shapes_new(&t, &range);
    trace_shapes_lines(&s, LINE);
    trace_shapes_lru(&s, m.sets);
    /* 1600 were seen: of each fifth set 320, the first 300 of them. */
    size_t next = 0, odd = 0;
    for (size_t i = 0; i < t.count && next < s.picked.trace.count; i++) {
        const uint64_t line = t.visits[i].at / LINE;
        if (line % m.sets % 5 != 3)
            continue;
        ck_assert_uint_eq(s.picked.trace.visits[next].at, t.visits[i].at);
        odd += line % 2;
        next++;
    }
    ck_assert_uint_eq(next, s.picked.trace.count);
    ck_assert_uint_eq(s.picked.count, 300);
    ck_assert_uint_gt(odd, 0);
    trace_shapes_free(&s);
    free(t.visits);
}
END_TEST

/* Of few sets the first visits are, until 300 were seen. */
START_TEST(visits_of_few_sets_are_the_first)
{
    const struct trace_model m = {.line = LINE, .sets = 4, .ways = 4};
    struct trace t = visit(&m, LINE);
    const struct trace_range range = range_of(&m, LINE);
    struct trace_shapes s = trace_shapes_new(&t, &range);
    trace_shapes_lines(&s, LINE);
    trace_shapes_lru(&s, m.sets);
    ck_assert_uint_eq(s.picked.count, 300);
    for (size_t i = 0; i < s.picked.trace.count; i++)
        ck_assert_uint_eq(s.picked.trace.visits[i].at, t.visits[i].at);
    trace_shapes_free(&s);
    free(t.visits);
}
END_TEST

/* ---- all ------------------------------------------------------------------
 */

static double score_of(struct trace_shapes *s, const struct trace_model *c)
{
    float *const chance = xcalloc(s->whole.count, sizeof *chance);
    trace_model_foretell(&s->whole, c, chance);
    const double score = trace_model_of_seen(&s->whole, chance);
    free(chance);
    return score;
}

/* Of the neighbour's lines in any number and place. */
static void no_place_is_better(struct trace_shapes *s,
                               const struct trace_model *c)
{
    struct trace_model other = *c;
    for (other.own = s->range->own_least; other.own <= s->range->own_most;
         other.own++)
        for (other.own_at = 0; other.own_at < c->sets; other.own_at++)
            ck_assert_double_le(score_of(s, &other), c->score + 1e-6);
}

static void is_shape(const struct trace_model *c, const struct trace_model *m)
{
    ck_assert_uint_eq(c->sets, m->sets);
    ck_assert_uint_eq(c->ways, m->ways);
    ck_assert_uint_eq(c->own, m->own);
    ck_assert_uint_eq(c->own_at, m->own_at);
    ck_assert_int_eq(c->touched, m->touched);
    ck_assert_int_eq(trace_model_is_chance(c), trace_model_is_chance(m));
    ck_assert(trace_model_is_chance(m) || c->policy == m->policy);
}

static const struct trace_model shapes[] = {
    {.line = LINE, .sets = 11, .ways = 5},
    {.line = LINE, .sets = 6, .ways = 7, .policy = TRACE_FIFO},
    {.line = LINE, .sets = 20, .ways = 4, .own = 4, .own_at = 17},
    {.line = LINE, .sets = 18, .ways = 5, .own = 22, .own_at = 3},
    {.line = LINE, .sets = 20, .ways = 2, .own = 1, .own_at = 17},
    {.line = LINE, .sets = 7, .ways = 6, .policy = TRACE_RANDOM},
    {.line = LINE,
     .sets = 17,
     .ways = 6,
     .policy = TRACE_RANDOM,
     .own = 4,
     .own_at = 2},
};

START_TEST(the_best_scores_best)
{
    const struct trace_model *const m = &shapes[_i];
    struct trace t = visit(m, LINE);
    const struct trace_range range = range_of(m, LINE);
    struct trace_shapes s = trace_shapes_new(&t, &range);
    trace_shapes_lines(&s, LINE);
    (trace_model_is_chance(m) ? trace_shapes_random : trace_shapes_certain)(&s);
    ck_assert_uint_gt(s.count, 0);
    for (size_t i = 0; i < s.count; i++) {
        ck_assert_double_eq_tol(s.kept[i].score, score_of(&s, &s.kept[i]),
                                1e-6);
        ck_assert(i == 0 || s.kept[i].score <= s.kept[i - 1].score);
        if (i < 4 && !s.kept[i].touched)
            no_place_is_better(&s, &s.kept[i]);
    }
    is_shape(&s.kept[0], m);
    trace_shapes_free(&s);
    free(t.visits);
}
END_TEST

/* Of six sets each, or twelve of chance, with the next two numbers of ways. */
START_TEST(the_next_numbers_of_ways_are_kept)
{
    for (size_t i = 0; i < 6; i += 5) {
        struct trace t = visit(&shapes[i], LINE);
        const struct trace_range range = range_of(&shapes[i], LINE);
        struct trace_shapes s = trace_shapes_new(&t, &range);
        trace_shapes_lines(&s, LINE);
        (i > 0 ? trace_shapes_random : trace_shapes_certain)(&s);
        ck_assert_uint_eq(s.count, i > 0 ? 36 : 18);
        bool is[3] = {false};
        for (size_t k = 0; k < s.count; k++) {
            const uint64_t more = s.kept[k].ways - shapes[i].ways;
            if (s.kept[k].sets == shapes[i].sets && more < COUNT_OF(is))
                is[more] = true;
        }
        ck_assert(is[0] && is[1] && is[2]);
        trace_shapes_free(&s);
        free(t.visits);
    }
}
END_TEST

Suite *suite_trace_shapes(void)
{
    TCase *t;
    Suite *const suite = suite_of("trace_shapes", 20, &t);
    tcase_add_test(t, lru_caches_score_as_when_they_are_run);
    tcase_add_test(t, visits_of_some_sets_are_picked);
    tcase_add_test(t, visits_of_few_sets_are_the_first);
    tcase_add_loop_test(t, the_best_scores_best, 0, COUNT_OF(shapes));
    tcase_add_test(t, the_next_numbers_of_ways_are_kept);
    return suite;
}
