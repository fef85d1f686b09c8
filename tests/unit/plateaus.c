/* Stretches of a series that hardly change are told from where it rises. */
#include "analysis/curve/plateaus.h"

#include "base/mem.h"
#include "testing.h"

enum { MOST = 4 };
static const struct plateaus_rule rule = {
    .least = 3, .change = 0.02, .floor = 1, .distance = 0.1};
static struct plateau found[MOST];

static size_t find(const double *values, size_t n, size_t most)
{
    return plateaus_find(values, n, &rule, found, most);
}

static void assert_plateau(size_t i, size_t first, size_t last, double value)
{
    ck_assert_uint_eq(found[i].first, first);
    ck_assert_uint_eq(found[i].last, last);
    ck_assert_double_eq(found[i].value, value);
}

/* Two values are no stretch; what rises is none. */
START_TEST(stretches_that_hardly_change_are_plateaus)
{
    const double values[] = {100, 101, 102, 150, 200, 300, 303, 309, 700, 700};
    ck_assert_uint_eq(find(values, COUNT_OF(values), MOST), 2);
    assert_plateau(0, 0, 2, 101);
    assert_plateau(1, 5, 7, 303);
}
END_TEST

/* What one value interrupts is one plateau, if it goes on where it was. */
START_TEST(a_plateau_goes_on_behind_what_disturbs_it)
{
    const double values[] = {200, 201, 202, 900, 210, 211, 212};
    ck_assert_uint_eq(find(values, COUNT_OF(values), MOST), 1);
    assert_plateau(0, 0, 6, 201);
    const double apart[] = {200, 200, 200, 900, 223, 223, 223};
    ck_assert_uint_eq(find(apart, COUNT_OF(apart), MOST), 2);
}
END_TEST

/* Where a fiftieth of the value is less than a clock tells. */
START_TEST(a_difference_of_the_floor_is_none)
{
    const double values[] = {10, 11, 12, 0, 0, 0};
    ck_assert_uint_eq(find(values, COUNT_OF(values), MOST), 2);
    assert_plateau(0, 0, 2, 11);
    assert_plateau(1, 3, 5, 0);
}
END_TEST

START_TEST(there_are_no_more_than_there_is_room_for)
{
    const double values[] = {1, 1, 1, 50, 50, 50, 90, 90, 90};
    ck_assert_uint_eq(find(values, COUNT_OF(values), 2), 2);
    assert_plateau(1, 3, 5, 50);
    ck_assert_uint_eq(find(values, 2, MOST), 0);
    ck_assert_uint_eq(find(values, 0, MOST), 0);
}
END_TEST

Suite *suite_plateaus(void)
{
    TCase *t;
    Suite *const suite = suite_of("plateaus", 5, &t);
    tcase_add_test(t, stretches_that_hardly_change_are_plateaus);
    tcase_add_test(t, a_plateau_goes_on_behind_what_disturbs_it);
    tcase_add_test(t, a_difference_of_the_floor_is_none);
    tcase_add_test(t, there_are_no_more_than_there_is_room_for);
    return suite;
}
