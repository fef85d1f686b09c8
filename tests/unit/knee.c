/* A knee lies between the points around it, and is none where cost stays low.
 */
#include "analysis/curve/knee.h"

#include "base/mem.h"
#include "testing.h"

static const double load[] = {0, 10, 20, 30};

START_TEST(a_crossing_is_interpolated)
{
    const double cost[] = {100, 110, 140, 180};
    const struct knee knee = knee_find(load, cost, COUNT_OF(cost), 1.5);
    ck_assert(knee.reached);
    ck_assert_uint_eq(knee.after, 2);
    ck_assert_double_eq_tol(knee.load, 22.5, 1e-9);
    ck_assert_double_eq(knee.low, 20);
    ck_assert_double_eq(knee.high, 30);
}
END_TEST

START_TEST(a_load_that_falls_beyond_keeps_its_interval)
{
    const double back[] = {0, 10, 20, 18};
    const double cost[] = {100, 110, 140, 180};
    const struct knee knee = knee_find(back, cost, COUNT_OF(cost), 1.5);
    ck_assert_double_eq(knee.low, 18);
    ck_assert_double_eq(knee.high, 20);
    ck_assert_double_eq_tol(knee.load, 19.5, 1e-9);
}
END_TEST

START_TEST(a_single_peak_is_no_knee)
{
    const double cost[] = {100, 160, 120, 130};
    const struct knee knee = knee_find(load, cost, COUNT_OF(cost), 1.5);
    ck_assert(!knee.reached);
    ck_assert_uint_eq(knee.after, 3);
    ck_assert_double_eq(knee.load, 30);
}
END_TEST

START_TEST(one_point_has_no_knee)
{
    const struct knee knee = knee_find(load, load + 1, 1, 1.5);
    ck_assert(!knee.reached);
}
END_TEST

START_TEST(the_deepest_fall_is_found)
{
    const double cost[] = {100, 125, 120, 150};
    size_t at;
    ck_assert_double_eq_tol(knee_fall(cost, COUNT_OF(cost), &at), 0.04, 1e-9);
    ck_assert_uint_eq(at, 2);
}
END_TEST

START_TEST(what_rises_does_not_fall)
{
    const double cost[] = {100, 100, 120};
    size_t at;
    ck_assert_double_eq(knee_fall(cost, COUNT_OF(cost), &at), 0);
}
END_TEST

Suite *suite_knee(void)
{
    TCase *t;
    Suite *const suite = suite_of("knee", 10, &t);
    tcase_add_test(t, a_crossing_is_interpolated);
    tcase_add_test(t, a_load_that_falls_beyond_keeps_its_interval);
    tcase_add_test(t, a_single_peak_is_no_knee);
    tcase_add_test(t, one_point_has_no_knee);
    tcase_add_test(t, the_deepest_fall_is_found);
    tcase_add_test(t, what_rises_does_not_fall);
    return suite;
}
