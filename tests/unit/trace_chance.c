/*
 * analysis/structure/trace_chance: caches that dice are thrown for hit as often
 * as such caches do.
 *
 * Four lines in turn on two ways of which chance takes one: a line that comes
 * in is met again after four visits, and hits if none of the misses between
 * took its way.  Of the chain of what is there, beside the line that comes
 * next, a hit comes of each seventh visit.
 */
#include "analysis/structure/trace_chance.h"

#include <math.h>

#include "testing.h"

enum { SECTOR = 32, LINES = 4, WAYS = 2, VISITS = 24000 };
#define SHARE (1.0 / 7)

/* Visits to each sector of so many lines in turn, of as many sets. */
struct made {
    uint64_t sectors, sets, lines;
    enum cache_policy answers;
    size_t policy; /* that is thought of */
};

static struct trace_visit visits[VISITS];
static float chance[VISITS];

static struct cache *cache_of(const struct made *m)
{
    uint32_t ways[] = {WAYS, WAYS, WAYS};
    const struct cache_shape shape = {.line = m->sectors * SECTOR,
                                      .sector = SECTOR,
                                      .sets = m->sets,
                                      .set_ways = ways,
                                      .policy = m->answers};
    return cache_new(&shape, 3);
}

static void visit(const struct made *m)
{
    const uint64_t sectors = m->sectors * m->sets * m->lines;
    struct cache *const cache = cache_of(m);
    for (size_t i = 0; i < VISITS; i++) {
        const uint64_t at = SECTOR * (i % sectors);
        const bool hit = cache_access(cache, at) == CACHE_HIT;
        visits[i] = (struct trace_visit){.at = at,
                                         .seen = i < VISITS / 4 ? TRACE_UNSEEN
                                                 : hit          ? TRACE_HIT
                                                                : TRACE_MISS};
    }
    cache_free(cache);
}

static struct trace_model model_of(const struct made *m)
{
    return (struct trace_model){.line = m->sectors * SECTOR,
                                .sets = m->sets,
                                .ways = WAYS,
                                .policy = m->policy};
}

/* What caches of the policy are told to do on average, and at most, of visits
 * that hit or missed as another did. */
static double foretold(const struct made *m, double *most)
{
    visit(m);
    const struct trace trace = {.visits = visits, .count = VISITS};
    const struct trace_range range = {.sector = SECTOR};
    const struct trace_model c = model_of(m);
    struct trace_seen_visits seen = trace_model_seen(&trace, &range);
    const size_t count = trace_chance_foretell(&seen, &c, chance);
    ck_assert_uint_eq(count, VISITS - VISITS / 4);
    double sum = 0;
    *most = 0;
    for (size_t i = 0; i < count; i++) {
        sum += chance[i] / (double)count;
        *most = fmax(*most, chance[i]);
    }
    trace_model_free_seen(&seen);
    return sum;
}

/* In each of several sets as in one, of each sector as of its line. */
START_TEST(dice_hit_as_often_as_victims_of_chance)
{
    static const struct made made[] = {
        {1, 1, LINES, POLICY_RANDOM, TRACE_RANDOM},
        {1, 3, LINES, POLICY_RANDOM, TRACE_RANDOM},
        {4, 1, LINES, POLICY_RANDOM, TRACE_RANDOM}};
    double most;
    ck_assert_double_eq_tol(foretold(&made[_i], &most), SHARE, 0.006);
}
END_TEST

/* Of ways that weigh nearly alike a little more hit, and no more than that. */
START_TEST(dice_may_be_loaded)
{
    static const struct made loaded = {1, 1, LINES, POLICY_RANDOM,
                                       TRACE_WEIGHTED};
    double most;
    ck_assert_double_eq_tol(foretold(&loaded, &most), SHARE, 0.012);
}
END_TEST

/* Some calls return late. */
START_TEST(nothing_is_sure)
{
    static const struct made fitting = {2, 2, WAYS, POLICY_RANDOM,
                                        TRACE_RANDOM};
    double most;
    ck_assert_double_gt(foretold(&fitting, &most), 0.99);
    ck_assert_double_eq_tol(most, 0.999, 1e-6);
}
END_TEST

/* Of two lines in two ways that others hold the first one comes into either,
 * and the second one takes what is left of those with a chance of a half, or
 * the first one's: of each visit on the other is gone then with that chance,
 * until it is not.  So two miss, and one more of two, and so on: three. */
START_TEST(dice_miss_what_fits_until_others_are_gone)
{
    static const struct made fitting = {1, 3, WAYS, POLICY_RANDOM,
                                        TRACE_RANDOM};
    visit(&fitting);
    for (size_t i = 0; i < VISITS / 4; i++)
        visits[i].seen = TRACE_HIT;
    const struct trace trace = {.visits = visits, .count = VISITS};
    const struct trace_range range = {.sector = SECTOR};
    const struct trace_model c = model_of(&fitting);
    struct trace_seen_visits seen = trace_model_seen(&trace, &range);
    const struct trace_chance_missed by = trace_chance_missed(&seen, &c);
    ck_assert_double_eq_tol(by.mean, 3 * 3, 3);
    ck_assert_double_gt(by.deviation, 1);
    trace_model_free_seen(&seen);
}
END_TEST

/* An LRU misses all of them, and what chance would do stays what it is. */
START_TEST(what_became_of_visits_does_not_turn_dice)
{
    static const struct made lru = {1, 1, LINES, POLICY_LRU, TRACE_RANDOM};
    double most;
    ck_assert_double_gt(foretold(&lru, &most), SHARE / 2);
}
END_TEST

Suite *suite_trace_chance(void)
{
    TCase *t;
    Suite *const suite = suite_of("trace_chance", 10, &t);
    tcase_add_loop_test(t, dice_hit_as_often_as_victims_of_chance, 0, 3);
    tcase_add_test(t, dice_may_be_loaded);
    tcase_add_test(t, nothing_is_sure);
    tcase_add_test(t, dice_miss_what_fits_until_others_are_gone);
    tcase_add_test(t, what_became_of_visits_does_not_turn_dice);
    return suite;
}
