/* What is typical of many, and how far one may be off, against numbers that
 * were worked out by other means. */
#include "analysis/statistics/crowd.h"

#include <math.h>
#include <stdlib.h>

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

static struct crowd crowd_of_ranks(size_t n, double chance)
{
    double values[256];
    for (size_t i = 0; i < n; i++)
        values[i] = 100 + (double)i;
    return crowd_of(values, n, chance);
}

/* Median deviations of 28 values are worth 10 degrees of freedom: one in a
 * hundred is beyond 3.169 standard deviations, one in a thousand beyond 4.587
 * (tables of Student's t); of three they are worth one, as which two do. */
START_TEST(few_values_exceed_what_tables_of_student_say)
{
    struct crowd c = crowd_of_ranks(28, 0.01);
    ck_assert_double_eq_tol(c.limit / c.spread, 3.169, 0.01);
    c = crowd_of_ranks(28, 0.001);
    ck_assert_double_eq_tol(c.limit / c.spread, 4.587, 0.03);
    c = crowd_of_ranks(3, 0.5); /* where the approximation is near: 1 */
    ck_assert_double_eq_tol(c.limit / c.spread, 1, 0.03);
}
END_TEST

/* From 40 values on the tail is seen: an exponential through the nearer of two
 * pairs of quantiles, here through the ranks 35.1 and 37.05. */
START_TEST(a_tail_counts_from_forty_values_on)
{
    double values[40]; /* two of each deviation: 1, or 41, 81, … 361 */
    for (size_t i = 0; i < 40; i++)
        values[i] = (i % 2 ? -1 : 1) *
                    (i / 2 < 11 ? 1 : 1 + 40 * ((double)(i / 2) - 10));
    const struct crowd all = crowd_of(values, 40, 1e-9);
    const double outer = 285 + (323 - 285) / log(2) * log(0.1 / 1e-9);
    ck_assert_double_eq(all.centre, 0);
    ck_assert_double_eq_tol(all.spread, 1.4826 * 40 / 39.2, 1e-9);
    ck_assert_double_eq_tol(all.limit, outer, 1e-6);
    /* Of fewer values, and within the tail, normal numbers are all. */
    ck_assert_double_lt(crowd_of(values, 39, 1e-9).limit, outer / 10);
    ck_assert_double_lt(crowd_of(values, 40, 0.1).limit, 3);
    /* The inner pair, where the outer one is pulled out: ranks 23.4, 31.2. */
    for (size_t i = 36; i < 40; i++)
        values[i] *= 1000;
    const double inner = 57 + (209 - 57) / log(2) * log(0.4 / 1e-9);
    ck_assert_double_eq_tol(crowd_of(values, 40, 1e-9).limit, inner, 1e-6);
}
END_TEST

/* The share that two values at least are beyond. */
START_TEST(the_tail_is_what_two_values_are_beyond)
{
    static const struct {
        size_t n;
        double from, to;
    } rows[] = {{40, 0.95, 0.98},
                {199, 0.95, 0.98},
                {200, 0.98, 0.995},
                {1999, 0.98, 0.995},
                {2000, 0.99, 0.999}};
    double *const values = xcalloc(2000, sizeof *values);
    for (size_t i = 0; i < 2000; i++)
        values[i] = (double)i;
    struct crowd_tail tail;
    ck_assert(!crowd_tail_of(values, 39, &tail));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const double n = (double)rows[i].n;
        ck_assert(crowd_tail_of(values, rows[i].n, &tail));
        ck_assert_double_eq(tail.from, rows[i].from);
        ck_assert_double_eq(tail.to, rows[i].to);
        /* Deviations are as many halves as ranks: in spreads of n / 4. */
        const double spread = 1.4826 * n / 4;
        ck_assert_double_eq_tol(tail.near, rows[i].from * n / 2 / spread, 0.06);
        ck_assert_double_eq_tol(tail.far, rows[i].to * n / 2 / spread, 0.06);
    }
    for (size_t i = 0; i < 2000; i++)
        values[i] = 7;
    ck_assert(!crowd_tail_of(values, 2000, &tail));
    free(values);
}
END_TEST

/* Summed, not by a series of its own. */
static double trigamma_of(double x)
{
    double sum = 0;
    enum { TERMS = 100000 };
    for (int k = 0; k < TERMS; k++)
        sum += 1 / ((x + k) * (x + k));
    return sum + 1 / (x + TERMS - 0.5);
}

/* What shares scatter more than 28 values' spreads do, by ten degrees of
 * freedom: 2 log of 0.1, 1 and 10 has the median deviation 4.605. */
START_TEST(what_spreads_scatter_by_chance_is_taken_off)
{
    const double shares[] = {0.1, 1, 10};
    const struct crowd_prior p = crowd_prior_of(shares, 3, 28);
    const double sigma = 1.4826 * 2 * log(10);
    ck_assert_double_eq_tol(p.share, 1, 1e-9);
    ck_assert_double_eq_tol(trigamma_of(p.freedom / 2),
                            sigma * sigma - trigamma_of(0.37 * 27 / 2), 0.01);
}
END_TEST

/* A prior that is sure is all: normal numbers, and how the median of three
 * scatters.  Of two values nothing is known, as of a prior of nothing. */
START_TEST(a_sure_prior_is_all_that_a_small_crowd_knows)
{
    const struct crowd c = {.centre = -50, .spread = 100, .limit = 12};
    const struct crowd_prior sure = {0.1, 1e9}, none = {0, 0};
    const double median = sqrt(1 + acos(-1) / 6);
    ck_assert_double_eq_tol(crowd_small_limit(&c, 3, &sure, 0.05),
                            median * 1.95996 * 5, 1e-3);
    ck_assert_double_eq(crowd_small_limit(&c, 2, &sure, 0.05), 12);
    ck_assert_double_eq(crowd_small_limit(&c, 3, &none, 0.05), 12);
    /* As sure as the crowd's own ten: the mean of the squares, and 20. */
    const struct crowd_prior same = {0.1, 0.37 * 27};
    ck_assert_double_eq_tol(crowd_small_limit(&c, 28, &same, 0.01),
                            sqrt(1 + acos(-1) / 56) * sqrt(5012.5) * 2.845,
                            0.5);
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
    tcase_add_test(t, few_values_exceed_what_tables_of_student_say);
    tcase_add_test(t, a_tail_counts_from_forty_values_on);
    tcase_add_test(t, the_tail_is_what_two_values_are_beyond);
    tcase_add_test(t, what_spreads_scatter_by_chance_is_taken_off);
    tcase_add_test(t, a_sure_prior_is_all_that_a_small_crowd_knows);
    return suite;
}
