/*
 * Halves must be told by their bits where they overlap: as on an H200, whose
 * lines cost 490 to 550 and 660 to 740 cycles where L2 does not hold them, but
 * for one in sixteen, which may cost up to 1200.
 */
#include "analysis/statistics/two_sided.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/xor_bits.h"
#include "base/mem.h"
#include "base/rng.h"
#include "testing.h"

/* Shares that must agree. */
#define MOST 0.85
#define SOME 0.72

enum { SAMPLES = 768, LOW = 7, HIGH = 21, BITS = 0xab000 };

struct load {
    double near, more, deviation; /* cycles; what far lines cost more */
    double late, late_most;       /* share that waits, for how long at most */
    double hit; /* share that lies in the cache, and costs 250 less */
};

static const struct load miss = {532, 180, 18, 0.06, 500, 0};
static const struct load found = {283, 173, 14, 0, 0, 0};
static const struct load either = {532, 180, 18, 0.06, 500, 0.5};
static const struct load hair = {283, 3, 1.2, 0.01, 500, 0};
static const struct load flat = {283, 0, 14, 0.06, 500, 0};

static uint64_t addresses[SAMPLES];
static double cycles[SAMPLES];
static bool far[SAMPLES];

/* Lines of two pages; in the second one the other half is far if `turned`. */
static struct two_sided_samples samples_of(const struct load *l, bool turned,
                                           uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed);
    for (size_t i = 0; i < SAMPLES; i++) {
        addresses[i] = rng_below(&rng, (uint64_t)2 << HIGH) >> LOW << LOW;
        far[i] = xor_bits_of(addresses[i], BITS) ^
                 (turned && addresses[i] >> HIGH == 1);
        cycles[i] = round(
            l->near + (far[i] ? l->more : 0) + l->deviation * rng_normal(&rng) +
            (rng_unit(&rng) < l->late ? l->late_most * rng_unit(&rng) : 0) -
            (rng_unit(&rng) < l->hit ? 250 : 0));
    }
    return (struct two_sided_samples){addresses, cycles, SAMPLES};
}

static struct two_sided find(const struct load *l, bool turned)
{
    const struct two_sided_samples samples = samples_of(l, turned, 5);
    struct two_sided h;
    two_sided_find(&samples, LOW, HIGH, &h);
    return h;
}

static void expect_halves(const struct load *l, bool turned)
{
    const struct two_sided h = find(l, turned);
    ck_assert_uint_eq(h.bits, BITS);
    ck_assert(two_sided_clear(&h, MOST));
    ck_assert_double_eq_tol(h.near, l->near, 5);
    ck_assert_double_eq_tol(h.far, l->near + l->more, 8);
}

START_TEST(halves_of_a_cache_are_told)
{
    expect_halves(&found, _i);
}
END_TEST

/* Two of two bits' four samples would be told by one bit as well: each counts,
 * the first, too. */
START_TEST(each_sample_tells_of_the_bits)
{
    static const uint64_t at[] = {0, 1 << 7, 2 << 7, 3 << 7};
    for (size_t odd = 0; odd < COUNT_OF(at); odd++) {
        double costs[] = {300, 300, 300, 300};
        costs[odd] = costs[odd ^ 3] = 500;
        struct two_sided h;
        two_sided_find(&(struct two_sided_samples){at, costs, COUNT_OF(at)},
                       LOW, LOW + 2, &h);
        ck_assert_uint_eq(h.bits, 3 << LOW);
        ck_assert_double_eq(h.agrees, 1);
        ck_assert_double_eq(h.next, 0.5);
    }
}
END_TEST

START_TEST(halves_of_misses_with_long_tails_are_told)
{
    expect_halves(&miss, _i);
}
END_TEST

START_TEST(where_some_lines_hit_the_bits_are_in_doubt)
{
    const struct two_sided h = find(&either, false);
    ck_assert(!two_sided_clear(&h, MOST));
}
END_TEST

START_TEST(halves_too_near_to_each_other_leave_a_hint)
{
    const struct two_sided h = find(&hair, false);
    ck_assert(!two_sided_clear(&h, MOST));
    ck_assert(two_sided_hinted(&h, SOME));
}
END_TEST

START_TEST(one_heap_has_no_halves)
{
    const struct two_sided h = find(&flat, false);
    ck_assert(!two_sided_clear(&h, MOST));
    ck_assert(!two_sided_hinted(&h, SOME));
    ck_assert_double_lt(h.agrees, 0.7);
    ck_assert_double_gt(h.agrees, 0.5);
}
END_TEST

START_TEST(known_bits_say_which_samples_are_far)
{
    const struct two_sided_samples samples = samples_of(&miss, true, 6);
    struct two_sided h;
    bool said[SAMPLES];
    two_sided_of_bits(&samples, HIGH, BITS, &h, said);
    ck_assert(two_sided_apart(&h, MOST));
    for (size_t i = 0; i < SAMPLES; i++)
        ck_assert_int_eq(said[i], far[i]);
}
END_TEST

/* Five cycles apart, three of four samples near to a half, and so many of these
 * on its side. */
START_TEST(halves_are_apart_from_their_limits_on)
{
    const struct two_sided least = {
        .bits = BITS, .kept = 0.75, .agrees = MOST, .near = 283, .far = 288};
    struct two_sided h = least;
    ck_assert(two_sided_apart(&h, MOST));
    h.far = 287.9;
    ck_assert(!two_sided_apart(&h, MOST));
    h = least;
    h.kept = 0.74;
    ck_assert(!two_sided_apart(&h, MOST));
    h = least;
    h.agrees = MOST - 0.01;
    ck_assert(!two_sided_apart(&h, MOST));
    h = least;
    h.bits = 0;
    ck_assert(!two_sided_apart(&h, MOST));
}
END_TEST

/* Nearer to chance, which agrees half the time, than to the best. */
START_TEST(other_bits_that_agree_nearly_as_much_leave_doubt)
{
    struct two_sided h = {.bits = BITS,
                          .kept = 1,
                          .agrees = 0.9,
                          .near = 283,
                          .far = 450,
                          .next = 0.69};
    ck_assert(two_sided_clear(&h, MOST) && two_sided_hinted(&h, SOME));
    h.next = 0.71;
    ck_assert(!two_sided_clear(&h, MOST) && !two_sided_hinted(&h, SOME));
}
END_TEST

START_TEST(no_samples_have_no_halves)
{
    const struct two_sided_samples none = {addresses, cycles, 0};
    struct two_sided h;
    two_sided_find(&none, LOW, HIGH, &h);
    ck_assert(!two_sided_clear(&h, MOST));
    two_sided_of_bits(&none, HIGH, BITS, &h, NULL);
    ck_assert(!two_sided_hinted(&h, SOME));
}
END_TEST

START_TEST(ranks_say_which_half_costs_more)
{
    struct two_sided_vote vote;
    samples_of(&miss, false, 7);
    two_sided_vote(cycles, far, 64, &vote);
    ck_assert_double_gt(vote.chance, 0.85);
    ck_assert_double_gt(vote.errors, 4);
    ck_assert_double_eq_tol(vote.more, 180, 20);
    for (size_t i = 0; i < 64; i++)
        far[i] = !far[i];
    two_sided_vote(cycles, far, 64, &vote);
    ck_assert_double_lt(vote.chance, 0.15);
    ck_assert_double_lt(vote.errors, -4);
}
END_TEST

START_TEST(ranks_of_one_heap_say_nothing)
{
    struct two_sided_vote vote;
    samples_of(&flat, false, 7);
    two_sided_vote(cycles, far, 64, &vote);
    ck_assert_double_lt(fabs(vote.errors), 3);
}
END_TEST

/* Of four pairs one is won and one is a tie. */
START_TEST(each_pair_is_a_win_a_loss_or_a_tie)
{
    const double costs[] = {5, 1, 5, 9, 2};
    const bool odd[] = {false, true, true, true, true};
    struct two_sided_vote vote;
    two_sided_vote(costs, odd, 5, &vote);
    ck_assert_double_eq(vote.chance, 1.5 / 4);
    ck_assert_double_eq_tol(vote.errors, -0.125 / sqrt(6 / 48.), 1e-9);
}
END_TEST

START_TEST(ranks_of_one_group_say_nothing)
{
    const double costs[] = {1, 2, 3};
    const bool odd[] = {true, true, true};
    struct two_sided_vote vote;
    two_sided_vote(costs, odd, 3, &vote);
    ck_assert_double_eq(vote.errors, 0);
    ck_assert_uint_eq(vote.count[0], 0);
}
END_TEST

/* Eight and eight of jitter with late ones among them, as often as they say. */
START_TEST(ranks_of_noise_say_nothing_but_once_in_1000)
{
    enum { DRAWS = 4000, EACH = 8 };
    static const double late[] = {0, 0.01, 0.03, 0.1, 0.3};
    struct rng rng;
    size_t more = 0;
    rng_seed(&rng, 7);
    for (int i = 0; i < DRAWS; i++) {
        double costs[2 * EACH];
        bool odd[2 * EACH];
        struct two_sided_vote vote;
        for (size_t k = 0; k < 2 * EACH; k++) {
            costs[k] = 200 + round(10 * rng_normal(&rng));
            costs[k] += rng_unit(&rng) < late[_i] ? 500 * rng_unit(&rng) : 0;
            odd[k] = k % 2 == 1;
        }
        two_sided_vote(costs, odd, 2 * EACH, &vote);
        more += two_sided_more(&vote);
    }
    ck_assert_msg(more <= DRAWS / 1000, "%zu of %d", more, DRAWS);
}
END_TEST

Suite *suite_two_sided(void)
{
    TCase *t;
    Suite *const suite = suite_of("two_sided", 10, &t);
    tcase_add_loop_test(t, halves_of_a_cache_are_told, 0, 2);
    tcase_add_test(t, each_sample_tells_of_the_bits);
    tcase_add_loop_test(t, halves_of_misses_with_long_tails_are_told, 0, 2);
    tcase_add_test(t, where_some_lines_hit_the_bits_are_in_doubt);
    tcase_add_test(t, halves_too_near_to_each_other_leave_a_hint);
    tcase_add_test(t, one_heap_has_no_halves);
    tcase_add_test(t, known_bits_say_which_samples_are_far);
    tcase_add_test(t, halves_are_apart_from_their_limits_on);
    tcase_add_test(t, other_bits_that_agree_nearly_as_much_leave_doubt);
    tcase_add_test(t, no_samples_have_no_halves);
    tcase_add_test(t, ranks_say_which_half_costs_more);
    tcase_add_test(t, ranks_of_one_heap_say_nothing);
    tcase_add_test(t, each_pair_is_a_win_a_loss_or_a_tie);
    tcase_add_test(t, ranks_of_one_group_say_nothing);
    tcase_add_loop_test(t, ranks_of_noise_say_nothing_but_once_in_1000, 0, 5);
    return suite;
}
