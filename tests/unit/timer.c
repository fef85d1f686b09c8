/* A timer's step is what its readings lie apart by multiples of. */
#include "analysis/timer.h"

#include "base/mem.h"
#include "testing.h"

START_TEST(no_two_readings_need_lie_a_step_apart)
{
    const int64_t readings[] = {5000, 5000 + 6 * 32, 5000 - 15 * 32};
    ck_assert_int_eq(timer_step(readings, COUNT_OF(readings)), 3 * 32);
    const int64_t more[] = {5000, 5000 + 6 * 32, 5000 - 15 * 32, 5000 + 64};
    ck_assert_int_eq(timer_step(more, COUNT_OF(more)), 32);
}
END_TEST

START_TEST(a_timer_that_stands_still_has_no_step)
{
    const int64_t readings[] = {7, 7, 7};
    ck_assert_int_eq(timer_step(readings, COUNT_OF(readings)), 0);
    ck_assert_int_eq(timer_step(readings, 0), 0);
}
END_TEST

/* A step of 32 ns in a millisecond on either side, and a thousand cycles of a
 * million that may lie between the timer and the clock. */
START_TEST(a_rate_is_as_wide_as_steps_and_what_lies_between)
{
    double rate[2] = {1000, 1000};
    timer_widen(rate, 32, 1e6, 1e6);
    ck_assert_double_eq(rate[0], 999);
    ck_assert_double_eq(rate[1], 1002);
}
END_TEST

Suite *suite_timer(void)
{
    TCase *t;
    Suite *const suite = suite_of("timer", 10, &t);
    tcase_add_test(t, no_two_readings_need_lie_a_step_apart);
    tcase_add_test(t, a_timer_that_stands_still_has_no_step);
    tcase_add_test(t, a_rate_is_as_wide_as_steps_and_what_lies_between);
    return suite;
}
