/* Series that are moved together must be found, in noise, and no others. */
#include "analysis/comovement.h"

#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "testing.h"

enum { SERIES = 44, ROWS = 40, KINDS = 4 };

/* Series i is moved by cause i % KINDS, by `moved`, and all by a common one;
 * an eighth is missing. */
static struct comovement find(double moved, double noise, size_t *group)
{
    double values[ROWS * SERIES];
    struct rng rng;
    struct comovement together;
    rng_seed(&rng, 5);
    for (size_t row = 0; row < ROWS; row++) {
        double cause[KINDS];
        const double all = 0.2 * rng_normal(&rng);
        for (size_t k = 0; k < KINDS; k++)
            cause[k] = moved * rng_normal(&rng);
        for (size_t i = 0; i < SERIES; i++)
            values[row * SERIES + i] =
                rng_below(&rng, 8) == 0 ? NAN
                                        : (double)i + all + cause[i % KINDS] +
                                              noise * rng_normal(&rng);
    }
    comovement_find(values, ROWS, SERIES, 0.001, group, &together);
    return together;
}

START_TEST(groups_are_found_in_noise)
{
    size_t group[SERIES];
    const struct comovement t = find(0.07, 0.02, group);
    ck_assert_uint_eq(t.groups, KINDS);
    for (size_t i = 0; i < SERIES; i++)
        ck_assert_uint_eq(group[i], i % KINDS);
    ck_assert_double_lt(t.near, 0.05);
    ck_assert_double_gt(t.far, 0.05);
}
END_TEST

START_TEST(groups_without_noise_are_found)
{
    size_t group[SERIES];
    const struct comovement t = find(0.07, 0, group);
    ck_assert_uint_eq(t.groups, KINDS);
    for (size_t i = 0; i < SERIES; i++)
        ck_assert_uint_eq(group[i], i % KINDS);
}
END_TEST

START_TEST(noise_alone_makes_no_groups)
{
    size_t group[SERIES];
    ck_assert_uint_eq(find(0, 0.02, group).groups, 0);
    ck_assert_uint_eq(find(0, 0.2, group).groups, 0);
    ck_assert_uint_eq(find(0, 0, group).groups, 0);
}
END_TEST

START_TEST(one_series_is_no_group)
{
    static const double values[] = {1, 2, 3};
    size_t group[1] = {7};
    struct comovement t;
    comovement_find(values, COUNT_OF(values), 1, 0.001, group, &t);
    ck_assert_uint_eq(t.groups, 0);
    ck_assert_uint_eq(group[0], 7);
}
END_TEST

/* Differences of 1 and 3 have the variance 2; a row that one lacks is none. */
START_TEST(two_series_are_apart_by_what_they_differ)
{
    static const double values[] = {1, 0, NAN, 9, 3, 0};
    size_t group[2];
    struct comovement t;
    comovement_find(values, 3, 2, 0.001, group, &t);
    ck_assert_uint_eq(t.groups, 0);
    ck_assert_double_eq_tol(t.near, sqrt(2), 1e-9);
    ck_assert_double_eq_tol(t.far, sqrt(2), 1e-9);
    comovement_find(values, 2, 2, 0.001, group, &t);
    ck_assert_double_eq(t.far, 0);
}
END_TEST

Suite *suite_comovement(void)
{
    TCase *t;
    Suite *const suite = suite_of("comovement", 5, &t);
    tcase_add_test(t, groups_are_found_in_noise);
    tcase_add_test(t, groups_without_noise_are_found);
    tcase_add_test(t, noise_alone_makes_no_groups);
    tcase_add_test(t, one_series_is_no_group);
    tcase_add_test(t, two_series_are_apart_by_what_they_differ);
    return suite;
}
