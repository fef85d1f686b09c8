/* Groessler's section 3.3 against values worked out by hand. */
#include "analysis/curve/change.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "testing.h"

static const double NEAR = 1e-9;

/* (5, 5) is parallel to (1, 1), at distance 4 in each coordinate. */
START_TEST(reduce_of_equal_loads_is_the_distance)
{
    const double samples[] = {5, 5, 1, 1};
    double series[2];
    change_reduce(samples, 2, 2, series);
    ck_assert_double_eq_tol(series[0], 4, NEAR);
    ck_assert_double_eq_tol(series[1], 0, NEAR);
}
END_TEST

/* (3, 0): squared distance (4 + 1) / 2; the angle to (1, 1) is pi/4, the arc
 * 3 pi/4 / sqrt 2, its square 9 pi²/32. */
START_TEST(reduce_combines_distance_and_angle)
{
    const double samples[] = {3, 0};
    double series[1];
    change_reduce(samples, 1, 2, series);
    const double pi = acos(-1);
    ck_assert_double_eq_tol(series[0], sqrt(2.5 + 9 * pi * pi / 32), NEAR);
}
END_TEST

START_TEST(reduce_does_not_care_for_order_or_count)
{
    const double one[] = {30, 30, 200, 30}, other[] = {200, 30, 30, 30};
    const double twice[] = {30, 30, 200, 30, 30, 200, 30, 30};
    double a, b, c;
    change_reduce(one, 1, 4, &a);
    change_reduce(other, 1, 4, &b);
    change_reduce(twice, 1, 8, &c);
    ck_assert_double_eq_tol(a, b, NEAR);
    ck_assert_double_eq_tol(a, c, NEAR);
}
END_TEST

/* One more miss in each row: the series never falls. */
START_TEST(reduce_rises_with_every_miss)
{
    double samples[17][16], series[17];
    for (size_t row = 0; row < 17; row++)
        for (size_t i = 0; i < 16; i++)
            samples[row][i] = i < row ? 280 : 32;
    change_reduce(samples[0], 17, 16, series);
    for (size_t row = 1; row < 17; row++)
        ck_assert_double_gt(series[row], series[row - 1]);
}
END_TEST

START_TEST(reduce_of_zeros_is_a_number)
{
    const double zeros[] = {0, 0, 0};
    double series[1];
    change_reduce(zeros, 1, 3, series);
    ck_assert_double_eq_tol(series[0], 1, NEAR);
}
END_TEST

/* The two series of the thesis's example. */
static const double small_step[] = {1, 1, 1, 1, 1.3, 1.3, 1.3, 1.3};
static const double ragged_step[] = {1, 1, 1, 1, 4, 5, 6, 7};

START_TEST(estimate_finds_the_step)
{
    ck_assert_uint_eq(change_estimate(small_step, 8, 1), 4);
    ck_assert_uint_eq(change_estimate(ragged_step, 8, 1), 4);
}
END_TEST

static double cost(const double *values, size_t n)
{
    double mean = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        mean += values[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sum;
}

/* Algorithm 1 as it is printed, each cost from its definition. */
START_TEST(estimate_is_the_argmin_of_the_costs)
{
    struct rng rng;
    rng_seed(&rng, (uint64_t)_i);
    double series[60];
    const size_t n = 2 + rng_below(&rng, 59), step = rng_below(&rng, n);
    for (size_t i = 0; i < n; i++)
        series[i] = 1e6 + (i >= step ? 3 : 0) + rng_normal(&rng);
    const size_t best = change_estimate(series, n, 1);
    const double least = cost(series, best) + cost(series + best, n - best);
    for (size_t i = 1; i < n; i++)
        ck_assert_double_ge(cost(series, i) + cost(series + i, n - i),
                            least - 1e-6);
}
END_TEST

START_TEST(estimate_keeps_the_least_segment)
{
    const double early[] = {9, 0, 0, 0, 0, 0, 0, 0};
    ck_assert_uint_eq(change_estimate(early, 8, 1), 1);
    ck_assert_uint_eq(change_estimate(early, 8, 3), 3);
    ck_assert_uint_eq(change_estimate(early, 5, 3), 0);
    ck_assert_uint_eq(change_estimate(early, 1, 1), 0);
}
END_TEST

/* F and G of {1, 2, 3} and {2, 3, 4, 5}: at 3 they are 1 and 1/2. */
START_TEST(estimate_of_two_least_segments_is_between)
{
    const double series[] = {1, 1, 5, 5};
    ck_assert_uint_eq(change_estimate(series, 4, 2), 2);
    ck_assert_uint_eq(change_estimate(series, 3, 2), 0);
    ck_assert_uint_eq(change_estimate(series, 4, 0), 0);
}
END_TEST

START_TEST(ks_statistic_is_the_greatest_distance)
{
    const double a[] = {3, 1, 2}, b[] = {5, 2, 4, 3};
    ck_assert_double_eq_tol(change_ks_statistic(a, 3, b, 4), 0.5, NEAR);
    ck_assert_double_eq_tol(change_ks_statistic(b, 4, a, 3), 0.5, NEAR);
}
END_TEST

START_TEST(ks_statistic_minds_ties)
{
    const double a[] = {1, 1, 1, 2}, b[] = {1, 2, 2, 2};
    ck_assert_double_eq_tol(change_ks_statistic(a, 4, b, 4), 0.5, NEAR);
    ck_assert_double_eq_tol(change_ks_statistic(a, 4, a, 4), 0, NEAR);
    ck_assert_double_eq_tol(change_ks_statistic(a, 3, b + 1, 3), 1, NEAR);
}
END_TEST

/* c(0.05) = 1.3581, c(0.01) = 1.6276 of the tables, times sqrt(1/10 + 1/15). */
START_TEST(ks_critical_is_that_of_the_tables)
{
    ck_assert_double_eq_tol(change_ks_critical(10, 15, 0.05), 0.55444, 1e-4);
    ck_assert_double_eq_tol(change_ks_critical(10, 15, 0.01), 0.66447, 1e-4);
    ck_assert(isinf(change_ks_critical(0, 5, 0.05)));
}
END_TEST

START_TEST(find_tells_a_step)
{
    struct change c;
    ck_assert_uint_eq(change_find_all(ragged_step, 8, 1, 0.05, &c, 1), 1);
    ck_assert_uint_eq(c.index, 4);
    ck_assert_double_eq_tol(c.statistic, 1, NEAR);
    ck_assert_double_eq_tol(c.critical, 0.96032, 1e-4);
    ck_assert(c.significant);
    ck_assert_double_eq(c.before, 1);
    ck_assert_double_eq(c.after, 5.5);
}
END_TEST

START_TEST(find_needs_enough_values_for_its_alpha)
{
    struct change c;
    ck_assert_uint_eq(change_find_all(ragged_step, 8, 1, 0.01, &c, 1), 0);
}
END_TEST

START_TEST(find_of_too_few_values_finds_nothing)
{
    struct change c;
    ck_assert_uint_eq(change_find_all(ragged_step, 1, 1, 0.05, &c, 1), 0);
    ck_assert_uint_eq(change_find_all(ragged_step, 0, 1, 0.05, &c, 1), 0);
}
END_TEST

START_TEST(find_in_equal_values_is_not_significant)
{
    const double flat[20] = {0};
    struct change c;
    ck_assert_uint_eq(change_find_all(flat, 20, 1, 0.05, &c, 1), 0);
}
END_TEST

/* One spike among 100 values is the best split, and no change. */
START_TEST(find_does_not_fall_for_a_spike)
{
    double series[100] = {0};
    series[37] = 300;
    struct change c;
    ck_assert_uint_eq(change_find_all(series, 100, 1, 0.001, &c, 1), 0);
}
END_TEST

/* What the estimate picks out of noise passes more often than alpha says, as
 * the split is chosen after looking; at 1e-4 it stays rare. */
START_TEST(find_in_noise_is_rarely_significant)
{
    struct rng rng;
    rng_seed(&rng, 6);
    int found = 0;
    for (int k = 0; k < 1000; k++) {
        double series[100];
        for (size_t i = 0; i < COUNT_OF(series); i++)
            series[i] = rng_normal(&rng);
        struct change c;
        found += (int)change_find_all(series, COUNT_OF(series), 1, 1e-4, &c, 1);
    }
    ck_assert_int_le(found, 10);
}
END_TEST

/* The whole way: 64 sizes of 32 loads each, misses from size 40 on. */
START_TEST(reduced_rows_show_where_misses_begin)
{
    double samples[64][32], series[64];
    struct rng rng;
    rng_seed(&rng, 7);
    for (size_t row = 0; row < 64; row++)
        for (size_t i = 0; i < 32; i++)
            samples[row][i] = (row >= 40 ? 280 : 32) + 1.5 * rng_normal(&rng) +
                              (rng_unit(&rng) < 0.002 ? 300 : 0);
    change_reduce(samples[0], 64, 32, series);
    struct change c;
    ck_assert_uint_eq(change_find_all(series, 64, 1, 0.001, &c, 1), 1);
    ck_assert_uint_eq(c.index, 40);
    ck_assert(c.significant);
}
END_TEST

/* Latency over size as on an H200: 280, a ramp, 511, a ramp, 657. */
static double plateau(size_t i)
{
    const double x = (double)i;
    if (i < 40)
        return 280;
    if (i < 46)
        return 280 + (x - 39) * 33;
    if (i < 80)
        return 511;
    return i < 86 ? 511 + (x - 79) * 21 : 657;
}

START_TEST(find_all_parts_the_plateaus)
{
    double series[140];
    struct rng rng;
    rng_seed(&rng, 8);
    for (size_t i = 0; i < COUNT_OF(series); i++)
        series[i] = plateau(i) + 3 * rng_normal(&rng);
    struct change c[8];
    const size_t n = change_find_all(series, COUNT_OF(series), 10, 0.001, c, 8);
    ck_assert_uint_eq(n, 2);
    ck_assert(c[0].index >= 40 && c[0].index <= 46);
    ck_assert(c[1].index >= 80 && c[1].index <= 86);
    ck_assert_double_eq_tol(c[0].before, 280, 2);
    ck_assert_double_eq_tol(c[0].after, 511, 2);
    ck_assert_double_eq_tol(c[1].before, 511, 2);
    ck_assert_double_eq_tol(c[1].after, 657, 2);
}
END_TEST

START_TEST(find_all_of_one_plateau_is_none)
{
    double series[200];
    struct rng rng;
    rng_seed(&rng, 9);
    for (size_t i = 0; i < COUNT_OF(series); i++)
        series[i] = 280 + rng_normal(&rng);
    struct change c[8];
    ck_assert_uint_eq(change_find_all(series, 200, 10, 1e-4, c, 8), 0);
    ck_assert_uint_eq(change_find_all(series, 0, 10, 1e-4, c, 8), 0);
}
END_TEST

START_TEST(find_all_writes_no_more_than_asked)
{
    double series[100];
    for (size_t i = 0; i < COUNT_OF(series); i++)
        series[i] = (double)(i / 20);
    struct change c[4] = {{.index = 0}, {0}, {.index = 77}, {0}};
    ck_assert_uint_eq(change_find_all(series, 100, 10, 0.01, c, 2), 2);
    ck_assert_uint_eq(c[0].index, 20);
    ck_assert_uint_eq(c[1].index, 40);
    ck_assert_uint_eq(c[2].index, 77);
}
END_TEST

/* However segments are joined, each change is what its two neighbours show, up
 * to the end of the series. */
START_TEST(find_all_tests_neighbours_alone)
{
    enum { N = 90, TRIALS = 400, MOST = 16 };
    struct rng rng;
    rng_seed(&rng, 10);
    size_t found = 0;
    for (size_t trial = 0; trial < TRIALS; trial++) {
        double series[N], level = 0;
        for (size_t i = 0; i < N; i++) {
            if (rng_below(&rng, 9) == 0)
                level = (double)rng_below(&rng, 3);
            series[i] = level + 0.7 * rng_normal(&rng);
        }
        struct change c[MOST];
        const size_t n = change_find_all(series, N, 4, 0.1, c, MOST);
        found += n;
        for (size_t i = 0; i < n; i++) {
            const size_t from = i > 0 ? c[i - 1].index : 0,
                         to = i + 1 < n ? c[i + 1].index : N;
            ck_assert(c[i].significant && c[i].index > from);
            ck_assert_double_eq(
                c[i].statistic,
                change_ks_statistic(series + from, c[i].index - from,
                                    series + c[i].index, to - c[i].index));
        }
    }
    ck_assert_uint_gt(found, TRIALS);
}
END_TEST

/* Of a value on either side the distance is all, and it may be of chance. */
START_TEST(single_values_are_tested_too)
{
    const double one[] = {1}, two[] = {2, 3};
    ck_assert_double_eq(change_ks_statistic(one, 1, two, 2), 1);
    ck_assert_double_eq(change_ks_statistic(two, 2, one, 1), 1);
    ck_assert_double_eq(change_ks_statistic(one, 0, two, 2), 0);
    const double both = sqrt(-0.5 * log(0.05 / 2) * 1.5);
    ck_assert_double_eq_tol(change_ks_critical(1, 2, 0.05), both, NEAR);
    ck_assert_double_eq_tol(change_ks_critical(2, 1, 0.05), both, NEAR);
    ck_assert(isinf(change_ks_critical(0, 2, 0.05)));
    ck_assert(isinf(change_ks_critical(2, 0, 0.05)));
}
END_TEST

/* Segments of no values at least: nothing is asked. */
START_TEST(find_all_without_a_least_segment_is_none)
{
    const double series[] = {1, 1, 1, 9, 9, 9};
    struct change c[2];
    ck_assert_uint_eq(change_find_all(series, 6, 0, 0.9, c, 2), 0);
    ck_assert_uint_eq(change_estimate(series, 6, 0), 0);
}
END_TEST

Suite *suite_change(void)
{
    TCase *t;
    Suite *const suite = suite_of("change", 20, &t);
    tcase_add_test(t, reduce_of_equal_loads_is_the_distance);
    tcase_add_test(t, reduce_combines_distance_and_angle);
    tcase_add_test(t, reduce_does_not_care_for_order_or_count);
    tcase_add_test(t, reduce_rises_with_every_miss);
    tcase_add_test(t, reduce_of_zeros_is_a_number);
    tcase_add_test(t, estimate_finds_the_step);
    tcase_add_loop_test(t, estimate_is_the_argmin_of_the_costs, 0, 30);
    tcase_add_test(t, estimate_keeps_the_least_segment);
    tcase_add_test(t, estimate_of_two_least_segments_is_between);
    tcase_add_test(t, ks_statistic_is_the_greatest_distance);
    tcase_add_test(t, ks_statistic_minds_ties);
    tcase_add_test(t, ks_critical_is_that_of_the_tables);
    tcase_add_test(t, find_tells_a_step);
    tcase_add_test(t, find_needs_enough_values_for_its_alpha);
    tcase_add_test(t, find_of_too_few_values_finds_nothing);
    tcase_add_test(t, find_in_equal_values_is_not_significant);
    tcase_add_test(t, find_does_not_fall_for_a_spike);
    tcase_add_test(t, find_in_noise_is_rarely_significant);
    tcase_add_test(t, reduced_rows_show_where_misses_begin);
    tcase_add_test(t, find_all_parts_the_plateaus);
    tcase_add_test(t, find_all_of_one_plateau_is_none);
    tcase_add_test(t, find_all_writes_no_more_than_asked);
    tcase_add_test(t, find_all_tests_neighbours_alone);
    tcase_add_test(t, find_all_without_a_least_segment_is_none);
    tcase_add_test(t, single_values_are_tested_too);
    return suite;
}
