/* What is typical of many, and how far one may be off, against numbers that
 * were worked out by other means. */
#include "analysis/statistics/crowd.h"

#include <math.h>

#include "base/mem.h"
#include "testing.h"

/* 0, 1, 2, … : the median deviation is known, and so is Croux and Rousseeuw's
 * factor of few values. */
START_TEST(the_spread_of_few_values_is_corrected)
{
    static const struct {
        size_t n;
        double deviation, factor;
    } rows[] = {{3, 1, 1.495},
                {4, 1, 1.363},
                {9, 2, 1.107},
                {10, 2.5, 10 / 9.2},
                {21, 5, 21 / 20.2}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double values[21];
        for (size_t k = 0; k < rows[i].n; k++)
            values[k] = (double)k;
        const struct crowd c = crowd_of(values, rows[i].n, 1e-3);
        ck_assert_double_eq_tol(c.centre, 0.5 * (double)(rows[i].n - 1), 1e-12);
        ck_assert_double_eq_tol(
            c.spread, 1.4826 * rows[i].deviation * rows[i].factor, 1e-9);
        ck_assert(isfinite(c.limit) && c.limit > 3 * c.spread);
    }
}
END_TEST

START_TEST(two_are_no_crowd)
{
    const double values[] = {4, 6};
    const struct crowd c = crowd_of(values, 2, 1e-3);
    ck_assert_double_eq(c.centre, 5);
    ck_assert(isnan(c.spread) && isinf(c.limit));
}
END_TEST

/* 1.96, 2.576 and 3.291 standard deviations: the tables of the normal one. */
START_TEST(normal_numbers_exceed_what_tables_say)
{
    ck_assert_double_eq_tol(crowd_normal(0.05), 1.960, 2e-3);
    ck_assert_double_eq_tol(crowd_normal(0.01), 2.576, 2e-3);
    ck_assert_double_eq_tol(crowd_normal(0.001), 3.291, 2e-3);
}
END_TEST

/* A tenth lies beyond 2 spreads and a hundredth beyond 4: ten times as few lie
 * two spreads further out. */
START_TEST(a_tail_goes_on_as_it_began)
{
    const struct crowd c = {.spread = 10, .limit = 15};
    const struct crowd_tail tail = {0.9, 0.99, 2, 4};
    ck_assert_double_eq_tol(crowd_limit(&c, &tail, 0.01), 40, 1e-9);
    ck_assert_double_eq_tol(crowd_limit(&c, &tail, 0.001), 60, 1e-9);
    ck_assert_double_eq(crowd_limit(&c, &tail, 0.2), 15);
    /* Where it begins nothing is said of it. */
    const struct crowd_tail half = {0.5, 0.75, 2, 4};
    ck_assert_double_eq(crowd_limit(&c, &half, 0.5), 15);
    ck_assert_double_gt(crowd_limit(&c, &half, 0.49), 20);
    const struct crowd_tail none = {0};
    ck_assert_double_eq(crowd_limit(&c, &none, 0.001), 15);
}
END_TEST

/* Shares that scatter no more than chance: 1.92 is the trigamma function of
 * 0.9008 (summed to 1e-9), of which there are two a degree of freedom. */
START_TEST(spreads_that_are_alike_are_known_as_a_factor_of_two)
{
    const double shares[] = {0.1, 0.1, 0.1, 0.1, 0.1};
    const struct crowd_prior p = crowd_prior_of(shares, 5, 9);
    ck_assert_double_eq_tol(p.share, 0.1, 1e-9);
    ck_assert_double_eq_tol(p.freedom, 1.80159, 1e-4);
}
END_TEST

/* Spreads from a thousandth to one tell less of each other. */
START_TEST(spreads_that_differ_tell_less_of_each_other)
{
    const double shares[] = {0.001, 0.01, 0.1, 1, 10};
    const struct crowd_prior p = crowd_prior_of(shares, 5, 9);
    ck_assert_double_eq_tol(p.share, 0.1, 1e-9);
    ck_assert_double_lt(p.freedom, 0.5);
    ck_assert_double_gt(p.freedom, 0);
}
END_TEST

Suite *suite_crowd(void)
{
    TCase *t;
    Suite *const suite = suite_of("crowd", 10, &t);
    tcase_add_test(t, the_spread_of_few_values_is_corrected);
    tcase_add_test(t, two_are_no_crowd);
    tcase_add_test(t, normal_numbers_exceed_what_tables_say);
    tcase_add_test(t, a_tail_goes_on_as_it_began);
    tcase_add_test(t, spreads_that_are_alike_are_known_as_a_factor_of_two);
    tcase_add_test(t, spreads_that_differ_tell_less_of_each_other);
    return suite;
}
