/* Banks from costs: costs are made by the model, and the banks come back. */
#include "analysis/bank_fit.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/rng.h"
#include "testing.h"

enum { ROWS = 8, PITCH = 2048, STRIDES = 65, ACCESSES = ROWS + STRIDES };

/* What the study measures: some lanes on rows of one bank, then strides. */
static void describe(struct bank_fit_access *accesses)
{
    for (unsigned i = 0; i < ROWS; i++)
        accesses[i] = (struct bank_fit_access){i + 1, PITCH, 4, 0};
    for (unsigned i = 0; i < STRIDES; i++)
        accesses[ROWS + i] =
            (struct bank_fit_access){BANK_FIT_LANES, 4 * i, 4, 0};
}

struct make {
    struct banks banks;
    double base, step, noise;
    uint64_t seed;
};

static struct bank_fit fit_of(const struct make *make)
{
    struct bank_fit_access accesses[ACCESSES];
    struct rng rng;
    rng_seed(&rng, make->seed);
    describe(accesses);
    for (size_t i = 0; i < ACCESSES; i++)
        accesses[i].cycles =
            make->base +
            make->step * (bank_fit_degree(&make->banks, &accesses[i]) - 1) +
            make->noise * rng_normal(&rng);
    return bank_fit_explain(accesses, ACCESSES);
}

static bool is_same(const struct banks *a, const struct banks *b)
{
    return a->count == b->count && a->bank_bytes == b->bank_bytes &&
           a->row_words == b->row_words;
}

/* By number, each way to build shared memory. */
static struct banks banks_number(unsigned i)
{
    return (struct banks){.count = 1 + i / 4,
                          .bank_bytes = i % 4 < 2 ? 4 : 8,
                          .row_words = 1 + i % 2};
}

/* By hand: degrees less one are 0, 1, 2 and 5 about 2, costs about 14. */
START_TEST(a_line_has_least_squares)
{
    const double degrees[] = {1, 2, 3, 6}, cycles[] = {10, 13, 13, 20};
    const struct bank_fit_line line = bank_fit_line(degrees, cycles, 4);
    ck_assert_double_eq_tol(line.step, 27.0 / 14, 1e-9);
    ck_assert_double_eq_tol(line.base, 14 - 27.0 / 7, 1e-9);
    ck_assert_double_eq_tol(line.squares, 27.0 / 14, 1e-9);
    ck_assert_double_eq_tol(line.worst, 1, 1e-9);
    ck_assert_double_eq_tol(line.step_error, sqrt(27.0 / 14 / 2 / 14), 1e-9);
}
END_TEST

START_TEST(powers_of_two_are_always_found)
{
    for (unsigned i = 0; i < 4 * BANKS_MAX; i++) {
        const struct make make = {banks_number(i), 30, 2, 0, 1};
        const unsigned count = make.banks.count;
        if (count < 8 || (count & (count - 1)) != 0)
            continue;
        const struct bank_fit fit = fit_of(&make);
        ck_assert_int_eq(fit.verdict, BANK_FIT_EXPLAINED);
        ck_assert(is_same(&fit.banks, &make.banks));
        ck_assert(fabs(fit.line.base - 30) < 1e-6);
        ck_assert(fabs(fit.line.step - 2) < 1e-6);
    }
}
END_TEST

/* Every seventh: each takes a hundredth of a second. */
START_TEST(no_banks_are_taken_for_others)
{
    for (unsigned i = 0; i < 4 * BANKS_MAX; i += 7) {
        const struct make make = {banks_number(i), 30, 7, 0, 1};
        const struct bank_fit fit = fit_of(&make);
        ck_assert_int_ne(fit.verdict, BANK_FIT_UNEXPLAINED);
        if (fit.verdict == BANK_FIT_EXPLAINED)
            ck_assert(is_same(&fit.banks, &make.banks));
    }
}
END_TEST

START_TEST(a_step_of_one_cycle_is_enough)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        const struct make make = {{32, 4, 1}, 23, 1, 0.15, seed};
        const struct bank_fit fit = fit_of(&make);
        ck_assert_int_eq(fit.verdict, BANK_FIT_EXPLAINED);
        ck_assert(is_same(&fit.banks, &make.banks));
    }
}
END_TEST

START_TEST(without_conflicts_no_banks_are_seen)
{
    const struct make make = {{32, 4, 1}, 23, 0, 0.01, 1};
    ck_assert_int_eq(fit_of(&make).verdict, BANK_FIT_UNSEEN);
}
END_TEST

START_TEST(noise_explains_nothing)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        const struct make make = {{32, 4, 1}, 50, 0.5, 2, seed};
        ck_assert_int_ne(fit_of(&make).verdict, BANK_FIT_EXPLAINED);
    }
}
END_TEST

/* Costs that are off by so much, up and down in turn. */
static enum bank_fit_verdict verdict_of(double step, double off)
{
    struct bank_fit_access accesses[ACCESSES];
    static const struct banks banks = {32, 4, 1};
    describe(accesses);
    for (size_t i = 0; i < ACCESSES; i++)
        accesses[i].cycles = 20 + step * bank_fit_degree(&banks, &accesses[i]) +
                             (i % 2 == 0 ? off : -off);
    return bank_fit_explain(accesses, ACCESSES).verdict;
}

/* A wrong degree leaves a step; what is all over as large as half of one may be
 * that.  Three twentieths of a cycle are what a clock tells. */
START_TEST(a_third_of_a_step_is_left_at_most)
{
    ck_assert_int_eq(verdict_of(7, 2), BANK_FIT_EXPLAINED);
    ck_assert_int_eq(verdict_of(7, 3), BANK_FIT_UNEXPLAINED);
    ck_assert_int_eq(verdict_of(0.14, 0), BANK_FIT_UNSEEN);
    ck_assert_int_eq(verdict_of(0.2, 0), BANK_FIT_EXPLAINED);
}
END_TEST

/* A stride that costs more for another reason than banks. */
START_TEST(one_access_that_does_not_fit_is_not_overlooked)
{
    struct bank_fit_access accesses[ACCESSES];
    static const struct banks banks = {32, 4, 1};
    describe(accesses);
    for (size_t i = 0; i < ACCESSES; i++)
        accesses[i].cycles = 20 + 2.0 * bank_fit_degree(&banks, &accesses[i]);
    accesses[ROWS + 7].cycles += 2;
    ck_assert_int_eq(bank_fit_explain(accesses, ACCESSES).verdict,
                     BANK_FIT_UNEXPLAINED);
}
END_TEST

START_TEST(the_line_says_how_sure_its_step_is)
{
    static const double degrees[] = {1, 2, 3, 4};
    static const double straight[] = {10, 13, 16, 19};
    static const double bent[] = {10, 13, 16, 20};
    const struct bank_fit_line exact = bank_fit_line(degrees, straight, 4);
    ck_assert(fabs(exact.base - 10) < 1e-9 && fabs(exact.step - 3) < 1e-9);
    ck_assert(exact.step_error < 1e-9 && exact.worst < 1e-9);
    const struct bank_fit_line rough = bank_fit_line(degrees, bent, 4);
    ck_assert(fabs(rough.step - 3.3) < 1e-9);
    ck_assert(fabs(rough.step_error - sqrt(0.3 / 2 / 5)) < 1e-9);
}
END_TEST

Suite *suite_bank_fit(void)
{
    TCase *t;
    Suite *const suite = suite_of("bank_fit", 20, &t);
    tcase_add_test(t, a_line_has_least_squares);
    tcase_add_test(t, powers_of_two_are_always_found);
    tcase_add_test(t, no_banks_are_taken_for_others);
    tcase_add_test(t, a_step_of_one_cycle_is_enough);
    tcase_add_test(t, without_conflicts_no_banks_are_seen);
    tcase_add_test(t, noise_explains_nothing);
    tcase_add_test(t, a_third_of_a_step_is_left_at_most);
    tcase_add_test(t, one_access_that_does_not_fit_is_not_overlooked);
    tcase_add_test(t, the_line_says_how_sure_its_step_is);
    return suite;
}
