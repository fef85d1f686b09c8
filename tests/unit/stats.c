/* Summaries and counts against values worked out by hand. */
#include "analysis/statistics/stats.h"

#include <math.h>
#include <string.h>

#include "analysis/statistics/rate_test.h"
#include "analysis/statistics/returns.h"
#include "base/mem.h"
#include "testing.h"

static const double NEAR = 1e-12;

/* Sorted: 1 2 3 4 10. */
static const double five[] = {4, 1, 10, 3, 2};
/* Sorted: 1 2 3 4. */
static const double four[] = {4, 1, 3, 2};

START_TEST(of_no_samples_there_is_no_number)
{
    struct rng rng;
    rng_seed(&rng, 1);
    ck_assert(isnan(stats_min(NULL, 0)));
    ck_assert(isnan(stats_max(NULL, 0)));
    ck_assert(isnan(stats_mean(NULL, 0)));
    ck_assert(isnan(stats_median(NULL, 0)));
    ck_assert(isnan(stats_mad(NULL, 0)));
    ck_assert(isnan(stats_trimmed_mean(NULL, 0, 0.1)));
    ck_assert(isnan(stats_bootstrap_median(NULL, 0, 0.9, &rng).low));
}
END_TEST

START_TEST(of_one_sample_all_is_it)
{
    const double one[] = {7};
    struct rng rng;
    rng_seed(&rng, 1);
    ck_assert_double_eq(stats_median(one, 1), 7);
    ck_assert_double_eq(stats_quantile(one, 1, 0.99), 7);
    ck_assert_double_eq(stats_mad(one, 1), 0);
    ck_assert_double_eq(stats_trimmed_mean(one, 1, 0.4), 7);
    ck_assert_double_eq(stats_bootstrap_median(one, 1, 0.9, &rng).high, 7);
}
END_TEST

START_TEST(extremes_and_mean)
{
    ck_assert_double_eq(stats_min(five, 5), 1);
    ck_assert_double_eq(stats_max(five, 5), 10);
    ck_assert_double_eq(stats_mean(five, 5), 4);
}
END_TEST

/* Of neighbours that are alike a mean is as sure as one of the groups. */
START_TEST(error_of_a_mean_counts_neighbours_that_are_alike_once)
{
    enum { GROUPS = 64, EACH = 16, DRAWS = 300 };
    unsigned held = 0;
    for (uint64_t seed = 1; seed <= DRAWS; seed++) {
        double values[GROUPS * EACH];
        struct rng rng;
        rng_seed(&rng, seed);
        for (size_t i = 0; i < GROUPS; i++) {
            const double shared = rng_normal(&rng);
            for (size_t k = 0; k < EACH; k++)
                values[i * EACH + k] = 280 + shared + rng_normal(&rng);
        }
        const double off = stats_mean(values, COUNT_OF(values)) - 280;
        held += fabs(off) < 1.96 * stats_mean_error(values, COUNT_OF(values));
    }
    ck_assert_double_eq_tol(100.0 * held / DRAWS, 96, 3);
}
END_TEST

START_TEST(error_of_a_mean_of_equal_or_single_values)
{
    const double values[] = {7, 7, 7};
    ck_assert_double_eq(stats_mean_error(values, 3), 0);
    ck_assert_double_eq(stats_mean_error(values, 1), INFINITY);
    const double two[] = {4, 6};
    ck_assert_double_eq(stats_mean_error(two, 2), 1);
}
END_TEST

START_TEST(median_is_the_middle_or_between_the_two)
{
    ck_assert_double_eq(stats_median(five, 5), 3);
    ck_assert_double_eq(stats_median(four, 4), 2.5);
}
END_TEST

/* Type 7: rank (n - 1) q, so of 1 2 3 4 the 0.1-quantile is 1.3. */
START_TEST(quantile_is_type_7)
{
    ck_assert_double_eq_tol(stats_quantile(four, 4, 0.1), 1.3, NEAR);
    ck_assert_double_eq_tol(stats_quantile(four, 4, 0.25), 1.75, NEAR);
    ck_assert_double_eq_tol(stats_quantile(five, 5, 0.75), 4, NEAR);
    ck_assert_double_eq_tol(stats_quantile(five, 5, 0.9), 7.6, NEAR);
    ck_assert_double_eq(stats_quantile(five, 5, 0), 1);
    ck_assert_double_eq(stats_quantile(five, 5, 1), 10);
}
END_TEST

/* Deviations from 3: 2 1 0 1 7, their median 1. */
START_TEST(mad_is_unscaled_and_sigma_scaled)
{
    ck_assert_double_eq(stats_mad(five, 5), 1);
    ck_assert_double_eq_tol(stats_mad_sigma(five, 5), 1.4826022, 1e-7);
}
END_TEST

START_TEST(mad_sigma_is_the_deviation_of_normal_samples_with_spikes)
{
    double values[10000];
    struct rng rng;
    rng_seed(&rng, 5);
    for (size_t i = 0; i < COUNT_OF(values); i++)
        values[i] = 280 + 12 * rng_normal(&rng) + (i % 500 == 0 ? 300 : 0);
    ck_assert_double_eq_tol(stats_mad_sigma(values, COUNT_OF(values)), 12, 0.6);
}
END_TEST

/* A fifth of five at each end leaves 2 3 4; less than a fifth cuts none. */
/* Of draws from two values alike often, and some far above. */
START_TEST(the_error_of_a_trimmed_mean_holds)
{
    enum { DRAWS = 200, RUNS = 500 };
    struct rng rng;
    size_t held = 0;
    rng_seed(&rng, 7);
    for (int run = 0; run < RUNS; run++) {
        double values[DRAWS];
        for (int i = 0; i < DRAWS; i++)
            values[i] = (rng_unit(&rng) < 0.5 ? 400 : 500) +
                        (rng_unit(&rng) < 0.02 ? 1e4 : 0);
        const double mean = stats_trimmed_mean(values, DRAWS, 0.1);
        const double error = stats_trimmed_mean_error(values, DRAWS, 0.1);
        ck_assert(error < 12);
        held += fabs(mean - 450) < 2 * error + 2;
    }
    ck_assert_uint_ge(held, RUNS * 93 / 100);
    const double same[3] = {5, 5, 5};
    ck_assert_double_eq(stats_trimmed_mean_error(same, 3, 0.1), 0);
    ck_assert(isinf(stats_trimmed_mean_error(same, 1, 0.1)));
}
END_TEST

START_TEST(trimmed_mean_cuts_whole_samples)
{
    ck_assert_double_eq(stats_trimmed_mean(five, 5, 0.2), 3);
    ck_assert_double_eq(stats_trimmed_mean(five, 5, 0.19), 4);
    ck_assert_double_eq(stats_trimmed_mean(five, 5, 0.49), 3);
}
END_TEST

START_TEST(samples_stay_as_they_are)
{
    double values[] = {4, 1, 10, 3, 2};
    struct rng rng;
    rng_seed(&rng, 1);
    stats_median(values, 5);
    stats_mad(values, 5);
    stats_trimmed_mean(values, 5, 0.2);
    stats_bootstrap_median(values, 5, 0.9, &rng);
    ck_assert_mem_eq(values, five, sizeof five);
}
END_TEST

START_TEST(bootstrap_of_equal_samples_is_a_point)
{
    const double same[] = {32, 32, 32, 32};
    struct rng rng;
    rng_seed(&rng, 1);
    const struct stats_interval i = stats_bootstrap_median(same, 4, 0.99, &rng);
    ck_assert_double_eq(i.low, 32);
    ck_assert_double_eq(i.high, 32);
}
END_TEST

START_TEST(bootstrap_same_seed_same_interval)
{
    struct rng a, b;
    rng_seed(&a, 9);
    rng_seed(&b, 9);
    const struct stats_interval x = stats_bootstrap_median(five, 5, 0.9, &a);
    const struct stats_interval y = stats_bootstrap_median(five, 5, 0.9, &b);
    ck_assert_double_eq(x.low, y.low);
    ck_assert_double_eq(x.high, y.high);
}
END_TEST

/* The median of a resample of {0, 0, 1} is 1 if two or three draws are 1:
 * 3 (1/3)² (2/3) + (1/3)³ = 7/27 = 0.259.  So an interval that leaves out 0.24
 * above ends at 1, and one that leaves out 0.28 at 0. */
START_TEST(bootstrap_of_an_odd_count_is_the_exact_distribution)
{
    const double values[] = {1, 0, 0};
    struct rng rng;
    rng_seed(&rng, 2);
    for (int i = 0; i < 20; i++) {
        ck_assert_double_eq(
            stats_bootstrap_median(values, 3, 1 - 2 * 0.20, &rng).high, 1);
        ck_assert_double_eq(
            stats_bootstrap_median(values, 3, 1 - 2 * 0.32, &rng).high, 0);
    }
}
END_TEST

/* Of two samples 0 and 1 the medians are 0, 1/2, 1 with chances 1/4, 1/2,
 * 1/4. */
START_TEST(bootstrap_of_an_even_count_is_the_exact_distribution)
{
    const double values[] = {1, 0};
    struct rng rng;
    rng_seed(&rng, 3);
    for (int i = 0; i < 20; i++) {
        const struct stats_interval wide =
            stats_bootstrap_median(values, 2, 1 - 2 * 0.19, &rng);
        const struct stats_interval narrow =
            stats_bootstrap_median(values, 2, 1 - 2 * 0.31, &rng);
        ck_assert_double_eq(wide.low, 0);
        ck_assert_double_eq(wide.high, 1);
        ck_assert_double_eq(narrow.low, 0.5);
        ck_assert_double_eq(narrow.high, 0.5);
    }
}
END_TEST

/* Of 400 intervals at 90 % about 360 hold the true median 0; the bootstrap is
 * known to be a little generous or short at n = 31. */
START_TEST(bootstrap_interval_holds_the_median_as_often_as_it_says)
{
    struct rng rng;
    rng_seed(&rng, 4);
    int held = 0;
    for (int k = 0; k < 400; k++) {
        double values[31];
        for (size_t i = 0; i < COUNT_OF(values); i++)
            values[i] = rng_normal(&rng);
        const struct stats_interval interval =
            stats_bootstrap_median(values, COUNT_OF(values), 0.9, &rng);
        held += interval.low <= 0 && interval.high >= 0;
    }
    ck_assert_int_gt(held, 340);
    ck_assert_int_lt(held, 385);
}
END_TEST

/* All three of three events on one of two equal sides: 1/8. */
START_TEST(counts_chance_is_binomial)
{
    ck_assert_double_eq_tol(rate_test_chance(3, 10, 0, 10), 0.125, NEAR);
    /* 2 or 3 of 3: 4/8 */
    ck_assert_double_eq_tol(rate_test_chance(2, 10, 1, 10), 0.5, NEAR);
    /* a side with a quarter of the trials: 1/4³ */
    ck_assert_double_eq_tol(rate_test_chance(3, 10, 0, 30), 1.0 / 64, NEAR);
    /* 1 - (3/4)³ that it has any */
    ck_assert_double_eq_tol(rate_test_chance(1, 10, 2, 30), 37.0 / 64, NEAR);
}
END_TEST

START_TEST(counts_chance_without_trials_or_events_is_1)
{
    ck_assert_double_eq(rate_test_chance(0, 10, 5, 10), 1);
    ck_assert_double_eq(rate_test_chance(5, 0, 5, 10), 1);
    ck_assert_double_eq(rate_test_chance(5, 10, 0, 0), 1);
}
END_TEST

START_TEST(counts_chance_holds_for_large_counts)
{
    /* Equal rates: a little over one half. */
    ck_assert_double_eq_tol(rate_test_chance(500000, 1000000, 500000, 1000000),
                            0.5, 0.001);
    ck_assert_double_eq_tol(rate_test_chance(1000, 1000, 1000, 1000000000), 0,
                            1e-300);
}
END_TEST

/* 0.2 % spikes in 4096 loads against one miss more per 128. */
START_TEST(counts_more_tells_misses_from_spikes)
{
    ck_assert(!rate_test_more(9, 4096, 8, 4096, 1e-3));
    ck_assert(!rate_test_more(15, 4096, 8, 4096, 1e-3));
    ck_assert(rate_test_more(40, 4096, 8, 4096, 1e-3));
    ck_assert(!rate_test_more(8, 4096, 40, 4096, 1e-3));
}
END_TEST

START_TEST(a_range_misses_the_median_where_all_lie_on_one_side)
{
    ck_assert_double_eq(stats_range_confidence(2), 0.5);
    ck_assert_double_eq(stats_range_confidence(5), 1 - 2.0 / 32);
}
END_TEST

/* Of 1000 places in 10 laps at one in 100 by chance 0.12 are met three times
 * and 0.0021 four times, three of these in one of 10^8. */
START_TEST(what_comes_back_is_told_from_chance)
{
    const struct returns some = returns_beyond_chance(1000, 10, 0.01, 1e-6);
    ck_assert_uint_eq(some.times, 4);
    ck_assert_uint_eq(some.places, 2);
    const struct returns none = returns_beyond_chance(1000, 10, 0, 1e-6);
    ck_assert_uint_eq(none.times, 1);
    ck_assert_uint_eq(none.places, 1);
}
END_TEST

START_TEST(places_that_come_back_are_counted)
{
    static const double sorted[] = {1, 1, 1, 2, 4, 4, 7, 7, 7, 7};
    ck_assert_uint_eq(returns_count(sorted, COUNT_OF(sorted), 1), 4);
    ck_assert_uint_eq(returns_count(sorted, COUNT_OF(sorted), 3), 2);
    ck_assert_uint_eq(returns_count(sorted, 0, 1), 0);
}
END_TEST

Suite *suite_stats(void)
{
    TCase *t;
    Suite *const suite = suite_of("stats", 20, &t);
    tcase_add_test(t, of_no_samples_there_is_no_number);
    tcase_add_test(t, of_one_sample_all_is_it);
    tcase_add_test(t, extremes_and_mean);
    tcase_add_test(t, error_of_a_mean_counts_neighbours_that_are_alike_once);
    tcase_add_test(t, error_of_a_mean_of_equal_or_single_values);
    tcase_add_test(t, median_is_the_middle_or_between_the_two);
    tcase_add_test(t, quantile_is_type_7);
    tcase_add_test(t, mad_is_unscaled_and_sigma_scaled);
    tcase_add_test(t, mad_sigma_is_the_deviation_of_normal_samples_with_spikes);
    tcase_add_test(t, trimmed_mean_cuts_whole_samples);
    tcase_add_test(t, the_error_of_a_trimmed_mean_holds);
    tcase_add_test(t, samples_stay_as_they_are);
    tcase_add_test(t, bootstrap_of_equal_samples_is_a_point);
    tcase_add_test(t, bootstrap_same_seed_same_interval);
    tcase_add_test(t, bootstrap_of_an_odd_count_is_the_exact_distribution);
    tcase_add_test(t, bootstrap_of_an_even_count_is_the_exact_distribution);
    tcase_add_test(t, bootstrap_interval_holds_the_median_as_often_as_it_says);
    tcase_add_test(t, counts_chance_is_binomial);
    tcase_add_test(t, counts_chance_without_trials_or_events_is_1);
    tcase_add_test(t, counts_chance_holds_for_large_counts);
    tcase_add_test(t, counts_more_tells_misses_from_spikes);
    tcase_add_test(t, what_comes_back_is_told_from_chance);
    tcase_add_test(t, places_that_come_back_are_counted);
    tcase_add_test(t, a_range_misses_the_median_where_all_lie_on_one_side);
    return suite;
}
