/* How blocks follow each other is read from their spans. */
#include "analysis/spans.h"

#include <math.h>

#include "base/mem.h"
#include "testing.h"

static const struct span singly[] = {{0, 10}, {11, 21}, {22, 32}, {33, 43}};
static const struct span pairs[] = {{0, 20}, {1, 21}, {23, 43}, {22, 42}};
static const struct span stairs[] = {{0, 10}, {1, 20}, {10, 30}, {20, 40}};
static const struct span mixed[] = {{0, 10}, {0, 11}, {10, 30}, {11, 50}};

START_TEST(spans_that_overlap_are_counted)
{
    ck_assert_uint_eq(spans_at_once(singly, COUNT_OF(singly)), 1);
    ck_assert_uint_eq(spans_at_once(pairs, COUNT_OF(pairs)), 2);
    ck_assert_uint_eq(spans_at_once(stairs, COUNT_OF(stairs)), 2);
    ck_assert_uint_eq(spans_at_once(singly, 0), 0);
    /* When the first of the list starts, which is the last to. */
    static const struct span last[] = {{8, 20}, {0, 9}, {1, 7}};
    ck_assert_uint_eq(spans_at_once(last, 3), 2);
    ck_assert_uint_eq(spans_at_once(last, 1), 1);
}
END_TEST

START_TEST(patterns_are_told_apart)
{
    ck_assert_int_eq(spans_pattern(singly, 4, 1), SPANS_SINGLY);
    ck_assert_int_eq(spans_pattern(pairs, 4, 2), SPANS_TOGETHER);
    ck_assert_int_eq(spans_pattern(stairs, 4, 2), SPANS_STAIRCASE);
    ck_assert_int_eq(spans_pattern(mixed, 4, 2), SPANS_MIXED);
    ck_assert_int_eq(spans_pattern(singly, 0, 2), SPANS_SINGLY);
    /* A span has 50 for itself, from the earliest start on. */
    static const struct span early[] = {{0, 100}, {99, 101}};
    ck_assert_int_eq(spans_pattern(early, 2, 2), SPANS_TOGETHER);
    ck_assert_int_eq(spans_pattern(singly, 1, 2), SPANS_TOGETHER);
}
END_TEST

START_TEST(a_gap_is_from_an_end_to_the_start_on_its_place)
{
    ck_assert_double_eq(spans_gap(singly, 4), 1);
    ck_assert_double_eq(spans_gap(pairs, 4), 2);
    ck_assert_double_eq(spans_gap(stairs, 4), 0);
    ck_assert(isnan(spans_gap(singly, 1)));
    /* From the latest end, which the next start does not take again. */
    static const struct span several[] = {{25, 30}, {0, 20}, {26, 31}, {1, 10}};
    ck_assert_double_eq(spans_gap(several, 4), (5 + 16) / 2.0);
}
END_TEST

START_TEST(fairness_is_one_for_all_alike_and_a_share_for_one_alone)
{
    ck_assert_double_eq(fairness_jain((const double[]){3, 3, 3, 3}, 4), 1);
    ck_assert_double_eq(fairness_jain((const double[]){5, 0, 0, 0}, 4), 0.25);
    ck_assert_double_eq(fairness_jain((const double[]){1, 3}, 2), 0.8);
}
END_TEST

/* In each repetition, and by more than a tenth in the middle. */
START_TEST(a_side_is_favoured_where_it_always_is_and_clearly)
{
    ck_assert_int_eq(favour_side((const double[]){1.1, 1.3, 1.2}, 3, 1.1), 1);
    ck_assert_int_eq(favour_side((const double[]){1.05, 1.3, 1.1}, 3, 1.1), 0);
    ck_assert_int_eq(favour_side((const double[]){1, 1.3, 1.2}, 3, 1.1), 0);
    ck_assert_int_eq(favour_side((const double[]){0.8, 0.95, 0.7}, 3, 1.1), -1);
    ck_assert_int_eq(favour_side((const double[]){0.92, 0.95, 0.7}, 3, 1.1), 0);
    ck_assert_int_eq(favour_side((const double[]){0.5, 0.8, 0.4}, 3, 2), 0);
    ck_assert_int_eq(favour_side((const double[]){0.8, 1, 0.7}, 3, 1.1), 0);
}
END_TEST

START_TEST(numbers_that_lie_together_are_grouped)
{
    static const double numbers[] = {900, 5, 903, 1, 500};
    static const size_t groups[] = {0, 1, 0, 1, 2};
    size_t group[COUNT_OF(numbers)];
    ck_assert_uint_eq(groups_of(numbers, COUNT_OF(numbers), 10, group), 3);
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        ck_assert_uint_eq(group[i], groups[i]);
    ck_assert_uint_eq(groups_of(numbers, 2, 10, group), 2);
    ck_assert_uint_eq(groups_of(numbers, 1, 10, group), 1);
    /* 400 is more than 200 and not thrice as much. */
    ck_assert_uint_eq(groups_of(numbers, COUNT_OF(numbers), 200, group), 0);
}
END_TEST

Suite *suite_spans(void)
{
    TCase *t;
    Suite *const suite = suite_of("spans", 5, &t);
    tcase_add_test(t, spans_that_overlap_are_counted);
    tcase_add_test(t, patterns_are_told_apart);
    tcase_add_test(t, a_gap_is_from_an_end_to_the_start_on_its_place);
    tcase_add_test(t, fairness_is_one_for_all_alike_and_a_share_for_one_alone);
    tcase_add_test(t, a_side_is_favoured_where_it_always_is_and_clearly);
    tcase_add_test(t, numbers_that_lie_together_are_grouped);
    return suite;
}
