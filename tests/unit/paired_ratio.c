/* Effects are quotients of pairs, and none where repetition differs as much. */
#include "analysis/statistics/paired_ratio.h"

#include <math.h>

#include "base/mem.h"
#include "testing.h"

enum { PAIRS = 9 };

static struct paired_ratio measured(double factor, double drift, double noise)
{
    struct rng rng;
    double changed[PAIRS], plain[PAIRS];
    rng_seed(&rng, 7);
    for (size_t i = 0; i < PAIRS; i++) {
        plain[i] = 1000 * (1 + drift * (double)i);
        changed[i] = factor * plain[i] * (1 + noise * (rng_unit(&rng) - 0.5));
    }
    return paired_ratio_of(changed, plain, PAIRS, 0.99, &rng);
}

START_TEST(drift_is_in_both_and_changes_nothing)
{
    const struct paired_ratio e = measured(1.25, 0.5, 0);
    ck_assert_double_eq_tol(e.ratio, 1.25, 1e-12);
    ck_assert_double_eq_tol(e.low, 1.25, 1e-12);
    ck_assert_double_eq_tol(e.high, 1.25, 1e-12);
}
END_TEST

START_TEST(the_interval_holds_the_factor)
{
    const struct paired_ratio e = measured(0.9, 0, 0.02);
    ck_assert(e.low <= 0.9 && 0.9 <= e.high);
    ck_assert(e.low >= 0.89 && e.high <= 0.91);
    ck_assert(paired_ratio_shows(&e, 0.05));
    ck_assert(!paired_ratio_shows(&e, 0.2));
}
END_TEST

START_TEST(what_changes_nothing_shows_nothing)
{
    const struct paired_ratio same = measured(1, 0.1, 0.02);
    const double noise = paired_ratio_noise(&same);
    ck_assert(!paired_ratio_shows(&same, noise));
    ck_assert(noise > 0 && noise <= 0.01);
}
END_TEST

/* What reaches as far as noise does is noise, on both sides. */
START_TEST(an_effect_is_beyond_noise)
{
    struct paired_ratio more = {1.5, 1.25, 1.75}, less = {0.5, 0.25, 0.75};
    ck_assert(!paired_ratio_shows(&more, 0.25));
    ck_assert(!paired_ratio_shows(&less, 0.25));
    more.low = 1.26;
    less.high = 0.74;
    ck_assert(paired_ratio_shows(&more, 0.25));
    ck_assert(paired_ratio_shows(&less, 0.25));
}
END_TEST

START_TEST(of_no_pairs_nothing_is_said)
{
    struct rng rng;
    rng_seed(&rng, 1);
    const struct paired_ratio e = paired_ratio_of(NULL, NULL, 0, 0.99, &rng);
    ck_assert(isnan(e.ratio));
    ck_assert(!paired_ratio_shows(&e, 0));
}
END_TEST

Suite *suite_paired_ratio(void)
{
    TCase *t;
    Suite *const suite = suite_of("paired_ratio", 10, &t);
    tcase_add_test(t, drift_is_in_both_and_changes_nothing);
    tcase_add_test(t, the_interval_holds_the_factor);
    tcase_add_test(t, what_changes_nothing_shows_nothing);
    tcase_add_test(t, an_effect_is_beyond_noise);
    tcase_add_test(t, of_no_pairs_nothing_is_said);
    return suite;
}
