/* Levels must come back from samples that were drawn from known ones, with the
 * noise of simulated GPUs (jitter and spikes) and of real ones (broad). */
#include "analysis/curve/levels.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/curve/mode_between.h"
#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "base/rng.h"
#include "testing.h"

struct shape {
    double centre, deviation, weight;
};

/* Draws samples as a clock gives them, in whole cycles; 0.2 % take 300 more. */
static double *draw(const struct shape *shapes, size_t count, size_t n,
                    uint64_t seed)
{
    double *const values = xreallocarray(NULL, n, sizeof *values);
    double all = 0;
    struct rng rng;
    rng_seed(&rng, seed);
    for (size_t k = 0; k < count; k++)
        all += shapes[k].weight;
    for (size_t i = 0; i < n; i++) {
        double at = all * rng_unit(&rng);
        size_t k = 0;
        while (k + 1 < count && (at -= shapes[k].weight) >= 0)
            k++;
        values[i] =
            round(shapes[k].centre + shapes[k].deviation * rng_normal(&rng) +
                  (rng_unit(&rng) < 0.002 ? 300 : 0));
    }
    return values;
}

static struct levels found(const struct shape *shapes, size_t count, size_t n,
                           uint64_t seed)
{
    struct levels levels;
    double *const values = draw(shapes, count, n, seed);
    levels_find(values, n, &levels_usual, &levels);
    free(values);
    return levels;
}

static void assert_levels(const struct levels *levels,
                          const struct shape *shapes, size_t count)
{
    ck_assert_uint_eq(levels->count, count);
    for (size_t k = 0; k < count; k++)
        ck_assert_double_eq_tol(levels->level[k].centre, shapes[k].centre,
                                fmax(1, shapes[k].deviation));
}

/* `apart` cycles between levels of that jitter need so many samples a level. */
static const struct {
    double apart, jitter;
    size_t samples_a_level;
} distances[] = {
    {10,   1.5, 60},
    {20,   1.5, 30},
    {20,   3,   60},
    {100,  3,   40},
    {1000, 1.5, 25},
    {1000, 3,   25},
};

START_TEST(levels_of_even_distance_come_back)
{
    const size_t d = (size_t)_i / 6, count = 1 + (size_t)_i % 6;
    struct shape shapes[6];
    for (size_t k = 0; k < count; k++)
        shapes[k] = (struct shape){116 + distances[d].apart * (double)k,
                                   distances[d].jitter, 1};
    const size_t n = count * distances[d].samples_a_level;
    for (unsigned seed = 0; seed < 20; seed++) {
        const struct levels levels =
            found(shapes, count, n > 50 ? n : 50, seed);
        assert_levels(&levels, shapes, count);
    }
}
END_TEST

/* Ten cycles apart at a jitter of three they overlap; many samples tell. */
START_TEST(many_samples_part_levels_that_overlap)
{
    const struct shape shapes[] = {
        {200, 3, 1},
        {210, 3, 1},
        {220, 3, 1}
    };
    for (unsigned seed = 0; seed < 5; seed++) {
        const struct levels levels = found(shapes, 3, 20000, seed);
        assert_levels(&levels, shapes, 3);
    }
}
END_TEST

static const size_t sizes[] = {50, 100, 300, 1000, 10000, 100000};

START_TEST(one_level_is_never_two)
{
    const double deviations[] = {0, 0.4, 1.5, 3, 12, 60};
    for (size_t d = 0; d < COUNT_OF(deviations); d++)
        for (unsigned seed = 0; seed < 5; seed++) {
            const struct shape shape = {650, deviations[d], 1};
            const struct levels levels = found(&shape, 1, sizes[_i], seed);
            assert_levels(&levels, &shape, 1);
        }
}
END_TEST

/* Near and far part of an L2 and memory, as broad as a real GPU shows them. */
static const struct shape broad[] = {
    {280, 12, 5},
    {420, 12, 3},
    {650, 60, 2}
};

START_TEST(broad_levels_come_back)
{
    const size_t n = sizes[2 + _i];
    for (unsigned seed = 0; seed < 10; seed++) {
        const struct levels levels = found(broad, 3, n, seed);
        assert_levels(&levels, broad, 3);
    }
}
END_TEST

START_TEST(broad_levels_keep_nearly_all_samples)
{
    const struct levels levels = found(broad, 3, 10000, 1);
    ck_assert_uint_le(levels.outliers, 100);
    ck_assert_double_eq_tol((double)levels.level[0].count, 5000, 200);
    ck_assert_double_eq_tol((double)levels.level[1].count, 3000, 200);
    ck_assert_double_eq_tol((double)levels.level[2].count, 2000, 200);
}
END_TEST

/* Skewed as latencies are: a steep side and a long tail. */
START_TEST(a_skewed_level_is_one)
{
    for (unsigned seed = 0; seed < 20; seed++) {
        double values[2000];
        struct rng rng;
        rng_seed(&rng, seed);
        for (size_t i = 0; i < COUNT_OF(values); i++)
            values[i] = round(280 - 15 * log(1 - rng_unit(&rng)));
        struct levels levels;
        levels_find(values, COUNT_OF(values), &levels_usual, &levels);
        ck_assert_uint_eq(levels.count, 1);
    }
}
END_TEST

START_TEST(without_noise_levels_are_exact)
{
    double values[60];
    for (size_t i = 0; i < 60; i++)
        values[i] = i % 6 == 0 ? 488 : i % 2 == 0 ? 404 : 116;
    struct levels levels;
    levels_find(values, 60, &levels_usual, &levels);
    ck_assert_uint_eq(levels.count, 3);
    ck_assert_double_eq(levels.level[0].low, 116);
    ck_assert_double_eq(levels.level[0].high, 116);
    ck_assert_uint_eq(levels.level[0].count, 30);
    ck_assert_double_eq(levels.level[1].centre, 404);
    ck_assert_uint_eq(levels.level[1].count, 20);
    ck_assert_uint_eq(levels.level[2].count, 10);
    ck_assert_uint_eq(levels.outliers, 0);
}
END_TEST

START_TEST(spikes_are_outliers)
{
    double values[1000];
    for (size_t i = 0; i < 1000; i++)
        values[i] = 116 + (double)(i % 3) + (i % 500 == 7 ? 300 : 0);
    struct levels levels;
    levels_find(values, 1000, &levels_usual, &levels);
    ck_assert_uint_eq(levels.count, 1);
    ck_assert_uint_eq(levels.outliers, 2);
    ck_assert_double_eq(levels.level[0].high, 118);
}
END_TEST

/* 9 of 1000 are spikes by this rule, 10 are a level. */
START_TEST(a_level_needs_its_share)
{
    double values[1000];
    struct levels levels;
    for (size_t i = 0; i < 1000; i++)
        values[i] = i < 9 ? 400 : 100;
    levels_find(values, 1000, &levels_usual, &levels);
    ck_assert_uint_eq(levels.count, 1);
    values[9] = 400;
    levels_find(values, 1000, &levels_usual, &levels);
    ck_assert_uint_eq(levels.count, 2);
}
END_TEST

START_TEST(a_level_needs_its_count)
{
    const double values[] = {100, 100, 100, 100, 100, 400, 400, 400};
    struct levels levels;
    levels_find(values, 8, &levels_usual, &levels);
    ck_assert_uint_eq(levels.count, 1);
    ck_assert_uint_eq(levels.outliers, 3);
}
END_TEST

/* A clock that steps by two shows no levels between its steps. */
START_TEST(steps_of_the_clock_are_no_levels)
{
    const struct shape shape = {140, 3, 1};
    double *const values = draw(&shape, 1, 20000, 3);
    for (size_t i = 0; i < 20000; i++)
        values[i] = 2 * values[i];
    struct levels levels;
    levels_find(values, 20000, &levels_usual, &levels);
    free(values);
    ck_assert_uint_eq(levels.count, 1);
}
END_TEST

/* Averages of many loads are no whole cycles. */
START_TEST(fractions_of_a_cycle_are_no_levels)
{
    double values[400];
    for (size_t i = 0; i < 400; i++)
        values[i] = 32 + 0.06 * (double)(i % 3) + (i % 4 == 0 ? 240 : 0);
    struct levels levels;
    levels_find(values, 400, &levels_usual, &levels);
    ck_assert_uint_eq(levels.count, 2);
    ck_assert_double_eq_tol(levels.level[0].centre, 32.06, 1e-9);
}
END_TEST

START_TEST(a_larger_distance_joins_near_levels)
{
    const struct shape shapes[] = {
        {280, 2, 1},
        {300, 2, 1},
        {600, 2, 1}
    };
    double *const values = draw(shapes, 3, 3000, 4);
    const struct levels_rule coarse = {0.01, 4, 50};
    struct levels levels;
    levels_find(values, 3000, &coarse, &levels);
    free(values);
    ck_assert_uint_eq(levels.count, 2);
}
END_TEST

START_TEST(order_of_samples_does_not_matter)
{
    double *const values = draw(broad, 3, 1000, 5);
    struct levels one, other;
    levels_find(values, 1000, &levels_usual, &one);
    for (size_t i = 0; i < 500; i++) {
        const double swap = values[i];
        values[i] = values[999 - i];
        values[999 - i] = swap;
    }
    levels_find(values, 1000, &levels_usual, &other);
    free(values);
    ck_assert_uint_eq(one.count, other.count);
    for (size_t k = 0; k < one.count; k++)
        ck_assert_uint_eq(one.level[k].count, other.level[k].count);
}
END_TEST

/* `count` samples of each cycle from `from` on. */
static size_t fill(double *values, size_t n, double from, size_t cycles,
                   size_t count)
{
    for (size_t i = 0; i < cycles * count; i++)
        values[n++] = from + (double)(i / count);
    return n;
}

/* Two humps of one level, behind another; the valley has four fifths. */
START_TEST(humps_are_one_level_beside_others)
{
    double values[4300];
    size_t n = fill(values, 0, 100, 5, 100);
    n = fill(values, n, 500, 5, 100);
    n = fill(values, n, 1000, 10, 100);
    n = fill(values, n, 1010, 10, 80);
    n = fill(values, n, 1020, 10, 100);
    struct levels levels;
    levels_find(values, n, &levels_usual, &levels);
    ck_assert_uint_eq(levels.count, 3);
    ck_assert_double_eq(levels.level[0].centre, 102);
    ck_assert_double_eq(levels.level[1].centre, 502);
    ck_assert_uint_eq(levels.level[2].count, 2800);
    ck_assert_double_eq(levels.level[2].low, 1000);
    ck_assert_double_eq(levels.level[2].high, 1029);
    ck_assert_uint_eq(levels.outliers, 0);
}
END_TEST

/* So many bins of two are used that they become four wide, and no wider: six
 * were one heap. */
START_TEST(bins_become_no_wider_than_need_be)
{
    const struct levels_rule rule = {0.01, 15, 2};
    double values[64];
    size_t n = fill(values, 0, 98, 1, 20);
    n = fill(values, n, 106, 1, 20);
    for (size_t i = 0; i < 16; i++)
        n = fill(values, n, 200 + 2 * (double)i, 1, 1);
    struct levels levels;
    levels_find(values, n, &rule, &levels);
    ck_assert_uint_eq(levels.count, 3);
    ck_assert_double_eq(levels.level[0].centre, 98);
    ck_assert_double_eq(levels.level[1].centre, 106);
}
END_TEST

/* A hundredth of the density at the top is still of the level, less is not. */
START_TEST(a_level_ends_below_a_hundredth)
{
    const struct levels_rule by_cycle = {0.01, 4, 1};
    double values[1040];
    struct levels levels;
    for (size_t few = 8; few <= 10; few += 2) {
        size_t n = fill(values, 0, 99, 1, few);
        n = fill(values, n, 100, 1, 1000);
        n = fill(values, n, 101, 1, few);
        levels_find(values, n, &by_cycle, &levels);
        ck_assert_uint_eq(levels.count, 1);
        ck_assert_uint_eq(levels.level[0].count, few == 10 ? 1020 : 1000);
        ck_assert_uint_eq(levels.outliers, few == 10 ? 0 : 16);
    }
}
END_TEST

START_TEST(of_nothing_there_are_no_levels)
{
    struct levels levels;
    levels_find(NULL, 0, &levels_usual, &levels);
    ck_assert_uint_eq(levels.count, 0);
    ck_assert_int_eq(levels_classify(&levels, 100), -1);
    const double one[] = {5};
    levels_find(one, 1, &levels_usual, &levels);
    ck_assert_uint_eq(levels.count, 0);
    ck_assert_uint_eq(levels.outliers, 1);
}
END_TEST

/* 40 levels of which the table holds 32: the larger ones. */
START_TEST(the_smallest_levels_give_way)
{
    enum { LEVELS = 40 };
    double values[LEVELS * 50];
    size_t n = 0;
    for (size_t k = 0; k < LEVELS; k++)
        for (size_t i = 0; i < 30 + k / 2; i++)
            values[n++] = 100 * (double)(k + 1);
    struct levels levels;
    levels_find(values, n, &levels_usual, &levels);
    ck_assert_uint_eq(levels.count, LEVELS_MAX);
    ck_assert_double_eq(levels.level[0].centre, 900);
    ck_assert_double_eq(levels.level[LEVELS_MAX - 1].centre, 4000);
}
END_TEST

/* A smaller one behind a full table is the one that is left out. */
START_TEST(a_full_table_takes_no_smaller_level)
{
    double values[LEVELS_MAX * 20 + 50];
    size_t n = 0;
    for (size_t k = 0; k <= LEVELS_MAX; k++)
        n = fill(values, n, 100 * (double)(k + 1), 1, k < LEVELS_MAX ? 20 : 12);
    struct levels levels;
    levels_find(values, n, &levels_usual, &levels);
    ck_assert_uint_eq(levels.count, LEVELS_MAX);
    ck_assert_uint_eq(levels.outliers, 12);
    for (size_t k = 0; k < LEVELS_MAX; k++)
        ck_assert_double_eq(levels.level[k].centre, 100 * (double)(k + 1));
}
END_TEST

/* The smallest of a full table is in its middle, and all others stay. */
START_TEST(what_is_behind_the_level_that_goes_stays)
{
    enum { SMALL = 10 };
    double values[LEVELS_MAX * 20 + 20];
    size_t n = 0;
    for (size_t k = 0; k <= LEVELS_MAX; k++)
        n = fill(values, n, 100 * (double)(k + 1), 1, k == SMALL ? 12 : 20);
    struct levels levels;
    levels_find(values, n, &levels_usual, &levels);
    ck_assert_uint_eq(levels.count, LEVELS_MAX);
    for (size_t k = 0; k < LEVELS_MAX; k++) {
        ck_assert_double_eq(levels.level[k].centre,
                            100 * (double)(k + 1 + (k >= SMALL)));
        ck_assert_uint_eq(levels.level[k].count, 20);
    }
}
END_TEST

/* Two bins hold two samples each by chance, as ten others one. */
START_TEST(samples_that_fall_together_by_chance_are_no_level)
{
    static const double values[] = {100, 100, 104, 108, 112, 116, 120,
                                    124, 128, 132, 136, 140, 140, 144};
    const struct levels_rule rule = {0.01, 2, 2};
    struct levels levels;
    levels_find(values, COUNT_OF(values), &rule, &levels);
    ck_assert_uint_eq(levels.count, 1);
}
END_TEST

START_TEST(classify_takes_what_is_in_or_near_a_level)
{
    const struct levels levels = {
        .count = 3,
        .level = {{116, 114, 118, 9}, {280, 250, 310, 9}, {321, 320, 330, 9}},
    };
    ck_assert_int_eq(levels_classify(&levels, 116), 0);
    ck_assert_int_eq(levels_classify(&levels, 112), 0);
    ck_assert_int_eq(levels_classify(&levels, 111.5), -1);
    ck_assert_int_eq(levels_classify(&levels, 220), 1);
    ck_assert_int_eq(levels_classify(&levels, 219), -1);
    ck_assert_int_eq(levels_classify(&levels, 314), 1);
    ck_assert_int_eq(levels_classify(&levels, 316), 2);
    ck_assert_int_eq(levels_classify(&levels, 616), -1);
    /* Behind the last one there is none, not one at nothing. */
    ck_assert_int_eq(levels_classify(&levels, 1), -1);
}
END_TEST

START_TEST(classify_gives_samples_back_to_their_level)
{
    double *const values = draw(broad, 3, 5000, 6);
    struct levels levels;
    levels_find(values, 5000, &levels_usual, &levels);
    ck_assert_uint_eq(levels.count, 3);
    for (size_t i = 0; i < 5000; i++)
        for (int k = 0; k < 3; k++)
            if (values[i] >= levels.level[k].low &&
                values[i] <= levels.level[k].high)
                ck_assert_int_eq(levels_classify(&levels, values[i]), k);
    free(values);
}
END_TEST

/* ---- a third level between two ---- */

/* Mixtures of what the near one and the far one are, but for the third, of
 * which the near one has a share, too. */
static double between_beside(double beside, double near, double third,
                             double far, double *value)
{
    enum { COUNT = 1200 };
    static const struct shape other = {540, 3, 1};
    const struct shape one[] = {{73, 1.5, 1 - beside}, {170, 2, beside}};
    const struct shape mixed[] = {
        {73, 1.5, near}, {170, 2, third}, {540, 3, far}};
    const struct mode_rule rule = {
        .width = 0.05, .above = 77, .below = 508, .share = 0.1};
    double *const drawn[] = {draw(one, 2, COUNT, 1), draw(mixed, 3, COUNT, 2),
                             draw(&other, 1, COUNT, 3)};
    double *at[COUNT_OF(drawn)];
    for (size_t i = 0; i < COUNT_OF(drawn); i++)
        at[i] = stats_sorted(drawn[i], COUNT);
    const double share =
        mode_between(&(struct mode_samples){at[0], COUNT},
                     &(struct mode_samples){at[2], COUNT},
                     &(struct mode_samples){at[1], COUNT}, &rule, value);
    for (size_t i = 0; i < COUNT_OF(at); i++) {
        free(drawn[i]);
        free(at[i]);
    }
    return share;
}

static double between(double near, double third, double far, double *value)
{
    return between_beside(0, near, third, far, value);
}

START_TEST(of_what_is_met_elsewhere_the_excess_is_a_level)
{
    double value = 0;
    ck_assert_double_eq_tol(between_beside(0.1, 0.4, 0.4, 0.2, &value), 0.3,
                            0.05);
    ck_assert_double_eq(between_beside(0.3, 0.4, 0.3, 0.3, &value), 0);
}
END_TEST

START_TEST(a_level_that_never_has_most_of_the_samples_is_found)
{
    double value = 0;
    ck_assert_double_eq_tol(between(0.5, 0.2, 0.3, &value), 0.2, 0.05);
    ck_assert_double_eq_tol(value, 170, 2);
}
END_TEST

START_TEST(a_mixture_of_two_has_no_third)
{
    double value = 0;
    for (double share = 0.05; share < 1; share += 0.15)
        ck_assert_double_eq(between(share, 0, 1 - share, &value), 0);
    /* As rare as what is late. */
    ck_assert_double_eq(between(0.5, 0.04, 0.46, &value), 0);
}
END_TEST

Suite *suite_levels(void)
{
    TCase *t;
    Suite *const suite = suite_of("levels", 20, &t);
    tcase_add_test(t, a_level_that_never_has_most_of_the_samples_is_found);
    tcase_add_test(t, a_mixture_of_two_has_no_third);
    tcase_add_test(t, of_what_is_met_elsewhere_the_excess_is_a_level);
    tcase_add_loop_test(t, levels_of_even_distance_come_back, 0,
                        6 * COUNT_OF(distances));
    tcase_add_test(t, many_samples_part_levels_that_overlap);
    tcase_add_loop_test(t, one_level_is_never_two, 0, COUNT_OF(sizes));
    tcase_add_loop_test(t, broad_levels_come_back, 0, COUNT_OF(sizes) - 2);
    tcase_add_test(t, broad_levels_keep_nearly_all_samples);
    tcase_add_test(t, a_skewed_level_is_one);
    tcase_add_test(t, without_noise_levels_are_exact);
    tcase_add_test(t, spikes_are_outliers);
    tcase_add_test(t, a_level_needs_its_share);
    tcase_add_test(t, a_level_needs_its_count);
    tcase_add_test(t, steps_of_the_clock_are_no_levels);
    tcase_add_test(t, fractions_of_a_cycle_are_no_levels);
    tcase_add_test(t, a_larger_distance_joins_near_levels);
    tcase_add_test(t, order_of_samples_does_not_matter);
    tcase_add_test(t, humps_are_one_level_beside_others);
    tcase_add_test(t, bins_become_no_wider_than_need_be);
    tcase_add_test(t, a_level_ends_below_a_hundredth);
    tcase_add_test(t, of_nothing_there_are_no_levels);
    tcase_add_test(t, the_smallest_levels_give_way);
    tcase_add_test(t, a_full_table_takes_no_smaller_level);
    tcase_add_test(t, what_is_behind_the_level_that_goes_stays);
    tcase_add_test(t, samples_that_fall_together_by_chance_are_no_level);
    tcase_add_test(t, classify_takes_what_is_in_or_near_a_level);
    tcase_add_test(t, classify_gives_samples_back_to_their_level);
    return suite;
}
