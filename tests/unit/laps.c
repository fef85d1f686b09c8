/*
 * Loads of addresses that cost different amounts, in laps: the mean of what
 * they cost must be found whatever share of single loads is late.
 */
#include "analysis/statistics/laps.h"

#include <math.h>
#include <stdbool.h>

#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "base/rng.h"
#include "testing.h"

enum { ADDRESSES = 400, LAPS = 5, LOADS = ADDRESSES * LAPS };

/* Near and far lines, some cycles apart among themselves, and loads of which a
 * share is late by half to thrice half of `late`. */
struct loads {
    double apart, jitter, share, late;
};

static double cost_at(const struct loads *l, size_t i)
{
    return 200 + (double)(i * 7 % 20) + (i % 2 == 0 ? 0 : l->apart);
}

static double truth(const struct loads *l)
{
    double sum = 0;
    for (size_t i = 0; i < ADDRESSES; i++)
        sum += cost_at(l, i) / ADDRESSES;
    return sum;
}

static struct laps of(const struct loads *l, uint64_t seed)
{
    static uint64_t address[LOADS];
    static double cycles[LOADS];
    struct rng rng;
    rng_seed(&rng, seed);
    for (size_t n = 0; n < LOADS; n++) {
        const size_t i = n % ADDRESSES;
        address[n] = 128 * i;
        cycles[n] = cost_at(l, i) + round(l->jitter * rng_normal(&rng));
        if (rng_unit(&rng) < l->share)
            cycles[n] += round(l->late * (0.5 + rng_unit(&rng)));
    }
    return laps_of(address, cycles, LOADS, 1, INFINITY);
}

static const struct loads strengths[] = {
    {0, 0, 0, 0},         {200, 0, 0, 0},      {200, 1.5, 0.002, 300},
    {0, 1.5, 0.02, 500},  {200, 5, 0.01, 300}, {200, 10, 0.03, 500},
    {200, 30, 0.1, 1000},
};

START_TEST(addresses_that_differ_are_averaged)
{
    const struct loads *const l = &strengths[_i];
    const struct laps laps = of(l, 3);
    const double added = l->share * l->late;
    ck_assert_double_eq_tol(laps.cost.cycles, truth(l), 0.1 * l->jitter + 1e-9);
    ck_assert_double_eq_tol(laps.cost.spread, l->jitter,
                            0.1 * l->jitter + 1e-9);
    ck_assert_double_eq_tol(laps.cost.excess, added, 0.2 * added + 0.1);
    ck_assert_double_le(laps.cost.low, truth(l));
    ck_assert_double_ge(laps.cost.high, truth(l));
    const double bound = laps.cost.high - laps.cost.cycles;
    const double by_laps = 1.96 * l->jitter / sqrt(LOADS);
    ck_assert_double_eq_tol(hypot(laps.differ, by_laps), bound, 0.05 * bound);
    ck_assert_double_eq_tol(laps.mean, truth(l) + added, 0.2 * added + 0.1);
    /* By what loads of one address differ, not by what addresses do. */
    const double apart = hypot(l->jitter, sqrt(1.1 * l->share) * l->late);
    ck_assert_double_le(laps.excess_error, 3 * apart / sqrt(LOADS) + 1e-9);
}
END_TEST

/* One load in 20 is late, but sixteen in a row: a quarter of the evidence. */
START_TEST(what_lasts_for_some_loads_is_known_less)
{
    enum { DRAWS = 300, BURST = 16 };
    unsigned held = 0;
    for (uint64_t seed = 1; seed <= DRAWS; seed++) {
        static uint64_t address[LOADS];
        static double cycles[LOADS];
        struct rng rng;
        rng_seed(&rng, seed);
        bool late = false;
        for (size_t n = 0; n < LOADS; n++) {
            late = n % BURST == 0 ? rng_unit(&rng) < 0.05 : late;
            address[n] = n % ADDRESSES;
            cycles[n] = 200 + (late ? 100 : 0);
        }
        const struct laps laps = laps_of(address, cycles, LOADS, 1, INFINITY);
        held += fabs(laps.cost.excess - 5) < 1.96 * laps.excess_error;
    }
    ck_assert_double_ge(100.0 * held / DRAWS, 88);
}
END_TEST

/* Where all addresses cost the same, the bounds are those of noise alone: 1000
 * draws of 95 %, of which 2 % are three standard errors. */
START_TEST(the_bounds_hold_as_often_as_they_claim)
{
    enum { DRAWS = 1000 };
    const struct loads *const l = &strengths[_i];
    unsigned held = 0, excess_held = 0;
    double differ = 0, bounds = 0;
    for (uint64_t seed = 1; seed <= DRAWS; seed++) {
        static uint64_t address[LOADS];
        static double cycles[LOADS];
        struct rng rng;
        rng_seed(&rng, seed);
        for (size_t n = 0; n < LOADS; n++) {
            address[n] = n % ADDRESSES;
            cycles[n] = 200 + round(l->jitter * rng_normal(&rng));
            if (rng_unit(&rng) < l->share)
                cycles[n] += round(l->late * (0.5 + rng_unit(&rng)));
        }
        const struct laps laps = laps_of(address, cycles, LOADS, 1, INFINITY);
        held += laps.cost.low <= 200 && 200 <= laps.cost.high;
        differ += laps.differ;
        bounds += laps.cost.high - laps.cost.cycles;
        excess_held += fabs(laps.cost.excess - l->share * l->late) <
                       1.96 * laps.excess_error;
    }
    /* Of several groupings of addresses the widest bounds count. */
    ck_assert_double_ge(100.0 * held / DRAWS, UNDISTURBED_PERCENT - 2);
    ck_assert_double_le(100.0 * held / DRAWS, 99);
    /* … and so little is left of them but that, as long as most laps agree. */
    ck_assert_double_le(differ, l->share < 0.1 ? bounds / 2 : bounds);
    /* Four spikes are few: their number is not normal. */
    ck_assert_double_eq_tol(100.0 * excess_held / DRAWS, 93, 5);
}
END_TEST

/* An address of which no two laps agree tells nothing and is left out. */
START_TEST(an_address_that_is_never_the_same_is_left_out)
{
    static const uint64_t address[] = {0, 0, 0, 64, 64, 64, 128, 128, 128};
    static const double cycles[] = {200, 200, 201, 900, 300,
                                    600, 210, 211, 210};
    const struct laps laps =
        laps_of(address, cycles, COUNT_OF(cycles), 1, INFINITY);
    ck_assert_uint_eq(laps.cost.kept, 2);
    ck_assert_double_eq_tol(laps.cost.disturbed, 1.0 / 3, 1e-9);
    ck_assert_double_eq_tol(
        laps.cost.cycles,
        ((200 + 200 + 201) / 3.0 + (210 + 211 + 210) / 3.0) / 2, 1e-9);
}
END_TEST

/* What is early was not where the others were; what is late was. */
START_TEST(early_loads_do_not_count)
{
    enum { EACH = 20, N = 3 * EACH };
    uint64_t address[N];
    double cycles[N];
    for (size_t i = 0; i < N; i++) {
        address[i] = 64 * (i % 3);
        cycles[i] = 800 + (double)(100 * (i % 3) + i / 3 % 2);
    }
    cycles[7] = 400;
    cycles[N - 1] = 2000;
    const struct laps all = laps_of(address, cycles, N, 1, INFINITY),
                      few = laps_of(address, cycles, N, 1, 250);
    ck_assert_double_eq_tol(all.mean, stats_mean(cycles, N), 1e-9);
    ck_assert_double_eq_tol(few.mean, (N * all.mean - 400) / (N - 1), 1e-9);
    ck_assert_double_eq_tol(few.early, few.mean - all.mean, 1e-9);
}
END_TEST

START_TEST(of_nothing_nothing_is_known)
{
    ck_assert(isnan(laps_of(NULL, NULL, 0, 1, INFINITY).cost.cycles));
}
END_TEST

Suite *suite_laps(void)
{
    TCase *t;
    Suite *const suite = suite_of("laps", 20, &t);
    tcase_add_loop_test(t, addresses_that_differ_are_averaged, 0,
                        COUNT_OF(strengths));
    tcase_add_test(t, what_lasts_for_some_loads_is_known_less);
    tcase_add_loop_test(t, the_bounds_hold_as_often_as_they_claim, 2,
                        COUNT_OF(strengths));
    tcase_add_test(t, an_address_that_is_never_the_same_is_left_out);
    tcase_add_test(t, early_loads_do_not_count);
    tcase_add_test(t, of_nothing_nothing_is_known);
    return suite;
}
