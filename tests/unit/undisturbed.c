/*
 * What an undisturbed load costs must not depend on how many others are late,
 * as long as these are less than half, and the bounds must hold it as often as
 * they claim.
 */
#include "analysis/statistics/undisturbed.h"

#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "testing.h"

enum { LOADS = 1000 };

/* Loads that cost 226 cycles and some jitter; a share of them is late. */
struct loads {
    double jitter, share, late; /* late by half to thrice half of that */
};

static void draw(double *cycles, size_t n, const struct loads *l, uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed);
    for (size_t i = 0; i < n; i++) {
        cycles[i] = 226 + round(l->jitter * rng_normal(&rng));
        if (rng_unit(&rng) < l->share)
            cycles[i] += round(l->late * (0.5 + rng_unit(&rng)));
    }
}

static struct undisturbed of(const struct loads *l, uint64_t seed)
{
    double cycles[LOADS];
    draw(cycles, LOADS, l, seed);
    return undisturbed_of(cycles, LOADS, 1);
}

static const struct loads strengths[] = {
    {0, 0, 0},      {1.5, 0, 0},     {1.5, 0.02, 500}, {5, 0.02, 300},
    {10, 0.1, 500}, {30, 0.3, 1000}, {100, 0.3, 2000}, {5, 0.45, 300},
};

START_TEST(late_loads_do_not_move_it)
{
    const struct loads *const l = &strengths[_i];
    const struct undisturbed u = of(l, 7);
    ck_assert_double_eq_tol(u.cycles, 226, 0.01 + 0.2 * l->jitter);
    ck_assert_double_eq_tol(u.disturbed, l->share, 0.05);
    ck_assert_double_eq_tol(u.excess, l->share * l->late,
                            0.01 + 0.2 * l->jitter + 0.2 * l->share * l->late);
    ck_assert_uint_eq(u.kept, (size_t)round(LOADS * (1 - u.disturbed)));
}
END_TEST

/* 2000 draws of 95 %: 1.5 % is three standard errors. */
START_TEST(the_bounds_hold_as_often_as_they_claim)
{
    enum { DRAWS = 2000 };
    unsigned held = 0;
    for (uint64_t seed = 1; seed <= DRAWS; seed++) {
        const struct undisturbed u = of(&strengths[_i], seed);
        held += u.low <= 226 && 226 <= u.high;
    }
    ck_assert_double_eq_tol(100.0 * held / DRAWS, UNDISTURBED_PERCENT, 1.5);
}
END_TEST

/* One load in five is late by up to thirty times the jitter, so some are kept,
 * and the lower bound says by how much they may have moved the mean. */
static struct undisturbed late_by_little(uint64_t seed)
{
    double cycles[LOADS];
    struct rng rng;
    rng_seed(&rng, seed);
    for (size_t i = 0; i < LOADS; i++) {
        cycles[i] = 226 + 2 * rng_normal(&rng);
        if (rng_unit(&rng) < 0.2)
            cycles[i] += 60 * rng_unit(&rng);
    }
    return undisturbed_of(cycles, LOADS, 0);
}

START_TEST(what_is_late_by_little_widens_the_lower_bound)
{
    enum { DRAWS = 500 };
    unsigned held = 0, held_alike = 0;
    for (uint64_t seed = 1; seed <= DRAWS; seed++) {
        const struct undisturbed u = late_by_little(seed);
        held += u.low <= 226 && 226 <= u.high;
        held_alike += 2 * u.cycles - u.high <= 226 && 226 <= u.high;
        ck_assert_double_gt(u.low, 225);
    }
    ck_assert_double_ge(100.0 * held / DRAWS, 93);
    ck_assert_double_lt(100.0 * held_alike / DRAWS, 60);
}
END_TEST

/* Two of three are near, one far. */
/* What the lower bound is farther off than the upper one, of twenty samples
 * near 100 and so many just beyond 2 on either side. */
static double hidden_by(size_t above, size_t below)
{
    double samples[40];
    size_t n = 0;
    for (; n < 20; n++)
        samples[n] = n % 2 == 0 ? 99.5 : 100.5;
    for (size_t i = 0; i < above; i++)
        samples[n++] = 103;
    for (size_t i = 0; i < below; i++)
        samples[n++] = 97;
    const struct undisturbed u = undisturbed_within(samples, n, 2);
    ck_assert_uint_eq(u.kept, 20);
    ck_assert_double_eq_tol(u.cycles, 100, 1e-9);
    return u.cycles - u.low - (u.high - u.cycles);
}

/* Those above that none below match are late, and as many hide near: by one. */
START_TEST(as_many_hide_as_are_late_beyond)
{
    ck_assert_double_eq_tol(hidden_by(4, 0), 4.0 / 20, 1e-9);
    ck_assert_double_eq_tol(hidden_by(4, 2), 2.0 / 20, 1e-9);
    ck_assert_double_eq_tol(hidden_by(4, 4), 0, 1e-9);
    ck_assert_double_eq_tol(hidden_by(2, 4), 0, 1e-9);
}
END_TEST

START_TEST(of_two_heaps_the_larger_counts)
{
    double cycles[300];
    for (size_t i = 0; i < COUNT_OF(cycles); i++)
        cycles[i] = i % 3 == 0 ? 400 : 200 + (double)(i % 2);
    const struct undisturbed u = undisturbed_of(cycles, COUNT_OF(cycles), 1);
    ck_assert_double_eq_tol(u.cycles, 200.5, 1e-9);
    ck_assert_double_eq_tol(u.disturbed, 1.0 / 3, 1e-9);
    ck_assert_double_eq_tol(u.excess, 199.5 / 3, 1e-9);
}
END_TEST

/* Seven in ten cost 226, three 227: all are near, or the mean were 226. */
START_TEST(a_step_of_the_timer_is_near)
{
    double cycles[100];
    for (size_t i = 0; i < COUNT_OF(cycles); i++)
        cycles[i] = i % 10 < 7 ? 226 : 227;
    const struct undisturbed u = undisturbed_of(cycles, COUNT_OF(cycles), 1);
    ck_assert_double_eq_tol(u.cycles, 226.3, 1e-9);
    ck_assert_uint_eq(u.kept, 100);
    ck_assert_double_eq(undisturbed_of(cycles, COUNT_OF(cycles), 0).cycles,
                        226);
}
END_TEST

START_TEST(a_number_that_is_no_binary_fraction_is_all_kept)
{
    double cycles[1000];
    for (size_t i = 0; i < COUNT_OF(cycles); i++)
        cycles[i] = 0.1;
    const struct undisturbed u = undisturbed_of(cycles, COUNT_OF(cycles), 0);
    ck_assert_uint_eq(u.kept, 1000);
    ck_assert_double_eq_tol(u.cycles, 0.1, 1e-12);
    ck_assert_double_eq_tol(u.low, 0.1, 1e-12);
    ck_assert_double_eq_tol(u.high, 0.1, 1e-12);
}
END_TEST

START_TEST(nothing_and_one)
{
    static const double one = 64;
    struct undisturbed u = undisturbed_of(NULL, 0, 1);
    ck_assert(isnan(u.cycles) && isnan(u.low) && isnan(u.high));
    ck_assert_uint_eq(u.kept, 0);
    u = undisturbed_of(&one, 1, 1);
    ck_assert_double_eq(u.cycles, 64);
    ck_assert(u.low == -INFINITY && u.high == INFINITY);
    ck_assert_uint_eq(u.kept, 1);
    u = undisturbed_within(NULL, 0, 1);
    ck_assert(isnan(u.cycles) && u.disturbed == 1);
    u = undisturbed_within(&one, 1, 1);
    ck_assert_double_eq(u.cycles, 64);
    ck_assert_uint_eq(u.kept, 1);
}
END_TEST

START_TEST(a_difference_is_as_uncertain_as_both)
{
    const struct undisturbed a = {500, 494, 503, 0.1, 5, 4, 90};
    const struct undisturbed b = {200, 196, 208, 0.3, 2, 6, 100};
    const struct undisturbed d = undisturbed_less(&a, &b);
    ck_assert_double_eq(d.cycles, 300);
    ck_assert_double_eq(d.low, 290);
    ck_assert_double_eq(d.high, 305);
    ck_assert_double_eq(d.disturbed, 0.3);
    ck_assert_double_eq(d.excess, 3);
    ck_assert_double_eq(d.spread, 6);
    ck_assert_uint_eq(d.kept, 90);
}
END_TEST

/* From the tables of the t distribution. */
START_TEST(student_s_t)
{
    ck_assert_double_eq(undisturbed_t(1), 12.706);
    ck_assert_double_eq_tol(undisturbed_t(3), 3.182, 0.04);
    ck_assert_double_eq_tol(undisturbed_t(8), 2.306, 0.002);
    ck_assert_double_eq_tol(undisturbed_t(24), 2.064, 0.001);
    ck_assert_double_eq_tol(undisturbed_t(1000000), 1.96, 0.001);
}
END_TEST

/* Two degrees of freedom. */
START_TEST(three_samples_tell_as_much_as_three)
{
    const double values[] = {10, 12, 14};
    const struct undisturbed u = undisturbed_within(values, 3, 10);
    ck_assert_uint_eq(u.kept, 3);
    ck_assert_double_eq_tol(u.high - u.cycles, 4.303 * u.spread / sqrt(3),
                            1e-9);
}
END_TEST

Suite *suite_undisturbed(void)
{
    TCase *t;
    Suite *const suite = suite_of("undisturbed", 10, &t);
    tcase_add_test(t, three_samples_tell_as_much_as_three);
    tcase_add_test(t, as_many_hide_as_are_late_beyond);
    tcase_add_loop_test(t, late_loads_do_not_move_it, 0, COUNT_OF(strengths));
    /* Of the first, which never varies, they hold always. */
    tcase_add_loop_test(t, the_bounds_hold_as_often_as_they_claim, 1,
                        COUNT_OF(strengths));
    tcase_add_test(t, what_is_late_by_little_widens_the_lower_bound);
    tcase_add_test(t, of_two_heaps_the_larger_counts);
    tcase_add_test(t, a_step_of_the_timer_is_near);
    tcase_add_test(t, a_number_that_is_no_binary_fraction_is_all_kept);
    tcase_add_test(t, nothing_and_one);
    tcase_add_test(t, a_difference_is_as_uncertain_as_both);
    tcase_add_test(t, student_s_t);
    return suite;
}
