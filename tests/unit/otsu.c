/* Two heaps of samples must be told apart, and one heap be left whole. */
#include "analysis/statistics/otsu.h"

#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "testing.h"

enum { SAMPLES = 600 };

/* `share` of the samples around `high`, the rest around `low`; 0.5 % are 300
 * dearer. */
static struct otsu split_of(double low, double high, double share,
                             double deviation)
{
    double values[SAMPLES];
    struct rng rng;
    struct otsu split;
    rng_seed(&rng, 7);
    for (size_t i = 0; i < SAMPLES; i++)
        values[i] = (rng_unit(&rng) < share ? high : low) +
                    round(deviation * rng_normal(&rng)) +
                    (rng_unit(&rng) < 0.005 ? 300 : 0);
    otsu_find(values, SAMPLES, &split);
    return split;
}

START_TEST(two_heaps_are_told_apart)
{
    const struct otsu s = split_of(283, 451, 0.5, 12);
    ck_assert(s.clear);
    ck_assert_double_eq_tol(s.low, 283, 3);
    ck_assert_double_eq_tol(s.high, 451, 3);
    ck_assert_uint_ge(s.below, SAMPLES * 4 / 10);
    ck_assert_uint_le(s.below, SAMPLES * 6 / 10);
}
END_TEST

START_TEST(heaps_may_have_unequal_shares)
{
    const struct otsu s = split_of(200, 230, 0.3, 2);
    ck_assert(s.clear);
    ck_assert_double_eq_tol(s.threshold, 215, 2);
}
END_TEST

START_TEST(one_heap_is_not_split)
{
    ck_assert(!split_of(283, 283, 0.5, 2).clear);
    ck_assert(!split_of(283, 283, 0.5, 20).clear);
}
END_TEST

START_TEST(steps_of_the_clock_are_one_heap)
{
    ck_assert(!split_of(283, 285, 0.5, 0).clear);
}
END_TEST

START_TEST(heaps_that_touch_are_one)
{
    ck_assert(!split_of(283, 303, 0.5, 12).clear);
}
END_TEST

START_TEST(a_few_slow_samples_are_no_side)
{
    ck_assert(!split_of(283, 600, 0.1, 2).clear);
}
END_TEST

START_TEST(few_samples_are_not_split)
{
    const double values[] = {1, 1, 1, 9, 9, 9};
    struct otsu s;
    otsu_find(values, 6, &s);
    ck_assert(!s.clear);
}
END_TEST

/* So many of 30 samples, the dear ones, cost `more`. */
static struct otsu of_thirty(size_t dear, double more)
{
    double values[30];
    struct otsu split;
    for (size_t i = 0; i < COUNT_OF(values); i++)
        values[i] = 200 + (i < dear ? more : 0);
    otsu_find(values, COUNT_OF(values), &split);
    return split;
}

START_TEST(a_fifth_of_the_samples_is_a_side)
{
    ck_assert(of_thirty(6, 100).clear);
    ck_assert(!of_thirty(5, 100).clear);
    ck_assert(of_thirty(24, 100).clear);
    ck_assert(!of_thirty(25, 100).clear);
    ck_assert_uint_eq(of_thirty(6, 100).below, 24);
}
END_TEST

START_TEST(heaps_are_five_cycles_apart_at_least)
{
    ck_assert(of_thirty(15, 5).clear);
    ck_assert(!of_thirty(15, 4).clear);
}
END_TEST

START_TEST(two_heaps_of_26_samples_are_no_chance)
{
    double values[26];
    struct otsu s;
    for (size_t i = 0; i < COUNT_OF(values); i++)
        values[i] = i % 2 == 0 ? 200 : 300;
    otsu_find(values, COUNT_OF(values), &s);
    ck_assert(s.clear);
    otsu_find(values, COUNT_OF(values) - 1, &s);
    ck_assert(!s.clear);
}
END_TEST

Suite *suite_otsu(void)
{
    TCase *t;
    Suite *const suite = suite_of("otsu", 5, &t);
    tcase_add_test(t, two_heaps_are_told_apart);
    tcase_add_test(t, heaps_may_have_unequal_shares);
    tcase_add_test(t, one_heap_is_not_split);
    tcase_add_test(t, steps_of_the_clock_are_one_heap);
    tcase_add_test(t, heaps_that_touch_are_one);
    tcase_add_test(t, a_few_slow_samples_are_no_side);
    tcase_add_test(t, few_samples_are_not_split);
    tcase_add_test(t, a_fifth_of_the_samples_is_a_side);
    tcase_add_test(t, heaps_are_five_cycles_apart_at_least);
    tcase_add_test(t, two_heaps_of_26_samples_are_no_chance);
    return suite;
}
