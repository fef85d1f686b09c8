/* The guard: which repetitions another process disturbed, and which only had
 * to wait for their turn. */
#include "probe/guard.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

static const double launch_ns = 5e5, slice_ns = 4e6;

static struct repetition that(double ns, double figure)
{
    return (struct repetition){.ns = ns, .figure = figure};
}

START_TEST(a_launch_that_waited_for_its_turn_is_not_disturbed)
{
    const struct guard company = {.company = true};
    const struct repetition r[] = {that(launch_ns, 1e6),
                                   that(launch_ns + slice_ns, 1e6),
                                   that(launch_ns, 1e6)};
    ck_assert_uint_eq(guard_outlier(&company, r, 3), 3);
}
END_TEST

START_TEST(a_launch_that_was_interrupted_is_disturbed)
{
    const struct guard company = {.company = true}, alone = {0};
    const struct repetition r[] = {that(launch_ns, 1e6),
                                   that(launch_ns + slice_ns, 9e6),
                                   that(launch_ns, 1e6)};
    ck_assert_uint_eq(guard_outlier(&company, r, 3), 1);
    ck_assert_uint_eq(guard_outlier(&alone, r, 3), 1);
}
END_TEST

START_TEST(a_kernel_that_tells_its_gap_is_judged_by_that)
{
    struct guard guard = {0};
    struct repetition leapt = {.gap = 800000}, quiet = {.gap = 400};
    guard_judge(&guard, &quiet, false, 0);
    ck_assert_int_eq(quiet.by, UNDISTURBED);
    ck_assert(!guard.company);
    guard_judge(&guard, &leapt, false, 0);
    ck_assert_int_eq(leapt.by, BY_ANOTHER);
    ck_assert(guard.company);
}
END_TEST

START_TEST(what_stays_disturbed_is_said)
{
    struct guard guard = {0};
    struct repetition r = {.gap = 800000};
    struct vigil vigil = {0};
    do {
        guard_judge(&guard, &r, false, 0);
        vigil.tries++;
    } while (guard_again(&guard, &vigil, &r));
    ck_assert_uint_gt(vigil.tries, 1);
    char *const why = guard_verdict(&guard, &vigil, &r, 1);
    ck_assert_ptr_nonnull(strstr(why, "another process ran on the GPU"));
    free(why);
    r.by = UNDISTURBED;
    ck_assert_ptr_null(guard_verdict(&guard, &vigil, &r, 1));
}
END_TEST

Suite *suite_guard(void)
{
    TCase *t;
    Suite *const suite = suite_of("guard", 10, &t);
    tcase_add_test(t, a_launch_that_waited_for_its_turn_is_not_disturbed);
    tcase_add_test(t, a_launch_that_was_interrupted_is_disturbed);
    tcase_add_test(t, a_kernel_that_tells_its_gap_is_judged_by_that);
    tcase_add_test(t, what_stays_disturbed_is_said);
    return suite;
}
