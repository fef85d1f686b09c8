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

/* So many cycles of ours, interrupted so often. */
static struct repetition watched(double cycles, unsigned leaps)
{
    static const double others = 5e6;
    return (struct repetition){
        .watch = {true, leaps > 0 ? others : 400, cycles + leaps * others}};
}

static void learn(struct guard *guard, double cycles, unsigned leaps)
{
    const struct repetition r = watched(cycles, leaps);
    guard_learn(guard, &r.watch);
}

START_TEST(a_kernel_that_tells_of_leaps_is_judged_by_that)
{
    struct guard guard = {0};
    struct repetition leapt = watched(1e6, 1), quiet = watched(1e6, 0);
    guard_judge(&guard, &quiet, false, 0);
    ck_assert_int_eq(quiet.by, UNDISTURBED);
    ck_assert(!guard.company);
    guard_judge(&guard, &leapt, false, 0);
    ck_assert_int_eq(leapt.by, BY_ANOTHER);
    ck_assert(guard.company);
}
END_TEST

/* Of the first it is not known how often it was interrupted. */
START_TEST(how_long_turns_last_is_learned)
{
    struct guard guard = {0};
    learn(&guard, 1e6, 0);
    ck_assert_double_eq(guard.turn, 0);
    learn(&guard, 9e6, 2);
    ck_assert_double_eq(guard.turn, 14e6);
    learn(&guard, 9e6, 2);
    learn(&guard, 4.1e6, 1);
    ck_assert_double_eq(guard.turn, 4.1e6);
    learn(&guard, 9e6, 2);
    ck_assert_double_eq(guard.turn, 4.1e6);
    learn(&guard, 4.6e6, 0);
    ck_assert_double_eq(guard.turn, 4.6e6);
    learn(&guard, 0.1e6, 1);
    ck_assert_double_gt(guard.turn, 1e6);
}
END_TEST

/* Judges it and asks whether it is taken again. */
static bool again(struct guard *guard, struct vigil *vigil, double cycles)
{
    struct repetition r = watched(cycles, 1);
    vigil->tries++;
    guard_judge(guard, &r, false, 0);
    return guard_again(guard, vigil, &r);
}

START_TEST(what_fits_a_turn_is_taken_again_as_it_was)
{
    struct guard guard = {.turn = 4e6};
    struct vigil vigil = {.pieces = 1, .pieces_most = 64};
    for (int i = 0; i < 5; i++)
        ck_assert(again(&guard, &vigil, 2e6));
    ck_assert_uint_eq(vigil.pieces, 1);
    ck_assert(again(&guard, &vigil, 2e6));
    ck_assert_uint_gt(vigil.pieces, 1);
}
END_TEST

/* Ten million cycles, of which each piece spends two and a half on what
 * prepares it. */
START_TEST(what_does_not_fit_a_turn_is_cut_until_it_does)
{
    struct guard guard = {.turn = 4e6, .fails = 4.2e6};
    struct vigil vigil = {.pieces = 1, .pieces_most = 64};
    ck_assert(again(&guard, &vigil, 10e6));
    ck_assert_uint_eq(vigil.pieces, 8);
    for (int i = 0; i < 6; i++)
        ck_assert(again(&guard, &vigil, 2.5e6 + 7.5e6 / 8));
    ck_assert_uint_gt(vigil.pieces, 8);
    ck_assert_double_le(2.5e6 + 7.5e6 / vigil.pieces, 0.8 * 4e6);
}
END_TEST

/* Somebody may have come by chance. */
START_TEST(what_is_longer_than_a_turn_is_tried_until_none_as_long_had_luck)
{
    struct guard guard = {.turn = 4e6};
    struct vigil vigil = {.pieces = 1, .pieces_most = 1};
    while (again(&guard, &vigil, 6e6))
        ;
    ck_assert_uint_ge(vigil.tries, 6);
    vigil = (struct vigil){.pieces = 1, .pieces_most = 1};
    ck_assert(again(&guard, &vigil, 6.5e6));
    ck_assert(vigil.brisk);
    ck_assert(!again(&guard, &vigil, 6.5e6));
    ck_assert(vigil.hopeless);
    learn(&guard, 7e6, 0);
    vigil = (struct vigil){.pieces = 1, .pieces_most = 1};
    ck_assert(again(&guard, &vigil, 7e6));
}
END_TEST

START_TEST(what_may_be_tried_once_takes_little_time_beside_others)
{
    struct guard guard = {0};
    struct vigil vigil = {.once = true, .pieces = 1, .pieces_most = 1};
    guard_begin(&guard, &vigil, 0);
    ck_assert(!vigil.brisk);
    guard.leapt = true;
    guard_begin(&guard, &vigil, 0);
    ck_assert(vigil.brisk);
}
END_TEST

START_TEST(what_no_piece_of_fits_a_turn_is_given_up_soon)
{
    struct guard guard = {.turn = 4e6, .fails = 4.2e6};
    struct vigil vigil = {.pieces = 1, .pieces_most = 64};
    while (again(&guard, &vigil, 6e6 + 20e6 / vigil.pieces))
        ;
    ck_assert(vigil.hopeless);
    ck_assert_uint_le(vigil.tries, 4);
}
END_TEST

/* Ever smaller pieces of one experiment, and tries of all of a run. */
START_TEST(what_is_thrown_away_is_bounded)
{
    enum { PIECES = 64, EXPERIMENTS = 1000 };
    struct guard guard = {.turn = 4e6, .fails = 4.2e6};
    size_t launches = 0;
    for (int i = 0; i < EXPERIMENTS; i++) {
        struct vigil vigil = {.pieces = 1, .pieces_most = PIECES};
        struct repetition r = watched(2e6, 1);
        do {
            r.more = vigil.pieces - 1;
            launches += vigil.pieces;
            guard_judge(&guard, &r, false, 0);
        } while (guard_again(&guard, &vigil, &r));
        if (i == 0)
            ck_assert_uint_gt(launches, PIECES);
        ck_assert_uint_le(vigil.failed, 16);
    }
    /* Three tries of each, and what was allowed until none was any more. */
    ck_assert_uint_lt(launches, 3 * EXPERIMENTS + 3000 + 2 * 150);
}
END_TEST

START_TEST(what_stays_disturbed_is_said)
{
    struct guard guard = {0};
    struct repetition r = watched(1e6, 1);
    struct vigil vigil = {.pieces = 1, .pieces_most = 1};
    do {
        guard_learn(&guard, &r.watch);
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
    tcase_add_test(t, a_kernel_that_tells_of_leaps_is_judged_by_that);
    tcase_add_test(t, how_long_turns_last_is_learned);
    tcase_add_test(t, what_fits_a_turn_is_taken_again_as_it_was);
    tcase_add_test(t, what_does_not_fit_a_turn_is_cut_until_it_does);
    tcase_add_test(
        t, what_is_longer_than_a_turn_is_tried_until_none_as_long_had_luck);
    tcase_add_test(t, what_may_be_tried_once_takes_little_time_beside_others);
    tcase_add_test(t, what_no_piece_of_fits_a_turn_is_given_up_soon);
    tcase_add_test(t, what_is_thrown_away_is_bounded);
    tcase_add_test(t, what_stays_disturbed_is_said);
    return suite;
}
