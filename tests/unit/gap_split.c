/* Samples that are less than the rest must be told by the gap between. */
#include "analysis/statistics/gap_split.h"

#include "base/mem.h"
#include "testing.h"

START_TEST(one_heap_has_no_clear_gap)
{
    static const double noisy[] = {0.995, 0.953, 1.007, 0.978, 0.962, 1.001};
    struct gap_split gap;
    gap_split_find(noisy, COUNT_OF(noisy), 0.92, 0.03, &gap);
    ck_assert(!gap.clear);
    gap_split_find(noisy, 1, 0.92, 0.03, &gap);
    ck_assert(!gap.clear);
}
END_TEST

START_TEST(a_few_that_get_less_lie_below_it)
{
    static const double shares[] = {1.02, 0.61, 0.98, 0.97, 0.55, 1.00};
    struct gap_split gap;
    gap_split_find(shares, COUNT_OF(shares), 0.92, 0.03, &gap);
    ck_assert(gap.clear);
    ck_assert_double_eq(gap.low, 0.61);
    ck_assert_double_eq(gap.high, 0.97);
}
END_TEST

/* As wide as `least`, and yet the heap above is wider. */
START_TEST(a_gap_narrower_than_the_noise_is_none)
{
    static const double shares[] = {0.90, 0.95, 0.98, 1.01, 1.03};
    struct gap_split gap;
    gap_split_find(shares, COUNT_OF(shares), 0.92, 0.03, &gap);
    ck_assert(!gap.clear);
}
END_TEST

/* The widest is between two that are both slowed. */
START_TEST(gaps_below_the_upper_heap_do_not_count)
{
    static const double shares[] = {0.20, 0.70, 1.00, 1.00};
    struct gap_split gap;
    gap_split_find(shares, COUNT_OF(shares), 0.92, 0.03, &gap);
    ck_assert(gap.clear);
    ck_assert_double_eq(gap.low, 0.70);
}
END_TEST

Suite *suite_gap_split(void)
{
    TCase *t;
    Suite *const suite = suite_of("gap_split", 5, &t);
    tcase_add_test(t, one_heap_has_no_clear_gap);
    tcase_add_test(t, a_few_that_get_less_lie_below_it);
    tcase_add_test(t, a_gap_narrower_than_the_noise_is_none);
    tcase_add_test(t, gaps_below_the_upper_heap_do_not_count);
    return suite;
}
