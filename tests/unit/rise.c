/* A rise is found where it is, hardly ever where there is none, and what noise
 * hides of it is told beforehand. */
#include "analysis/curve/rise.h"

#include <math.h>

#include "analysis/statistics/stats.h"
#include "base/rng.h"
#include "testing.h"

enum { POINTS = 96, DRAWS = 1000, TAKES_MOST = 21 };

struct noise {
    double jitter, rate, cycles;
};

/* Five strengths of noise. */
static const struct noise strengths[] = {
    {1.5, 0.002, 300}, {5, 0.01, 300},   {10, 0.03, 500},
    {30, 0.1, 1000},   {100, 0.1, 2000},
};

static double load(const struct noise *noise, struct rng *rng)
{
    const bool late = rng_unit(rng) < noise->rate;
    const double wait = noise->cycles * (0.5 + rng_unit(rng));
    return round(noise->jitter * rng_normal(rng)) + (late ? round(wait) : 0);
}

/* Medians of differences of two loads, as of pages that are looked for; from
 * the point `step` on by `rise` more. */
static void draw(const struct noise *noise, unsigned takes, size_t step,
                 double rise, struct rng *rng, double y[POINTS])
{
    for (size_t i = 0; i < POINTS; i++) {
        double excess[TAKES_MOST];
        for (unsigned k = 0; k < takes; k++)
            excess[k] = load(noise, rng) - load(noise, rng);
        y[i] = stats_median(excess, takes) + (i >= step ? rise : 0);
    }
}

static struct rise_curve curve_of(const struct noise *noise, unsigned takes,
                                  const double *y, double error[POINTS])
{
    for (size_t i = 0; i < POINTS; i++)
        error[i] = 1.25 * sqrt(2.0 / takes) * noise->jitter;
    return (struct rise_curve){
        .y = y, .error = error, .count = POINTS, .least = 1.5, .clear = 24};
}

static size_t first_rise(const struct rise_curve *c)
{
    size_t i = 1;
    while (i < c->count && !rise_at(c, i, 0))
        i++;
    return i;
}

static size_t false_alarms(const struct noise *noise, unsigned takes,
                           uint64_t seed)
{
    size_t alarms = 0;
    struct rng rng;
    rng_seed(&rng, seed);
    for (int i = 0; i < DRAWS; i++) {
        double y[POINTS], error[POINTS];
        draw(noise, takes, POINTS, 0, &rng, y);
        const struct rise_curve c = curve_of(noise, takes, y, error);
        alarms += first_rise(&c) < POINTS;
    }
    return alarms;
}

START_TEST(noise_makes_no_rise)
{
    static const unsigned takes[] = {5, 7, 9, 21, 21};
    const size_t few =
        false_alarms(&strengths[_i], takes[_i], 77 + (uint64_t)_i);
    const size_t many =
        false_alarms(&strengths[_i], TAKES_MOST, 99 + (uint64_t)_i);
    ck_assert_msg(few <= 1 && many <= 1, "%zu and %zu of %d flat curves rise",
                  few, many, DRAWS);
}
END_TEST

START_TEST(what_is_not_hidden_is_found)
{
    size_t missed = 0, early = 0;
    struct rng rng;
    rng_seed(&rng, 5);
    for (int i = 0; i < DRAWS; i++) {
        const size_t step = 1 + rng_below(&rng, POINTS - 10);
        double y[POINTS], error[POINTS];
        struct rise_curve c = curve_of(&strengths[_i], TAKES_MOST, y, error);
        draw(&strengths[_i], TAKES_MOST, step, rise_hidden(&c, 0, POINTS), &rng,
             y);
        const size_t at = first_rise(&c);
        missed += at > step;
        early += at + 1 < step;
    }
    /* A median spreads somewhat more than the jitter alone would let it. */
    ck_assert_msg(missed <= 4, "%zu of %d are missed", missed, DRAWS);
    ck_assert_msg(early <= 4, "%zu of %d are early", early, DRAWS);
}
END_TEST

/* Rises anywhere are no higher than what may be; and that is less than what one
 * of single points would have to be, where there is none. */
START_TEST(means_bound_a_rise)
{
    size_t over = 0;
    double flat = 0, single = 0;
    struct rng rng;
    rng_seed(&rng, 6);
    for (int i = 0; i < DRAWS; i++) {
        const struct noise *const noise = &strengths[_i];
        const size_t step = 1 + rng_below(&rng, POINTS - 2);
        const double rise = 8 * noise->jitter * rng_unit(&rng);
        double y[POINTS], error[POINTS];
        const struct rise_curve c = curve_of(noise, TAKES_MOST, y, error);
        draw(noise, TAKES_MOST, step, rise, &rng, y);
        over += rise > rise_between(&c, 0, POINTS);
        draw(noise, TAKES_MOST, POINTS, 0, &rng, y);
        flat += rise_between(&c, 0, POINTS) / DRAWS;
        single = rise_hidden(&c, 0, POINTS);
    }
    ck_assert_double_lt(flat, single);
    ck_assert_msg(over <= 4, "%zu of %d are higher", over, DRAWS);
}
END_TEST

/* Points that are each as they are for good, told by how they scatter. */
START_TEST(scatter_makes_no_rise)
{
    size_t alarms = 0;
    struct rng rng;
    rng_seed(&rng, 8);
    for (int i = 0; i < DRAWS; i++) {
        double y[POINTS], error[POINTS];
        for (size_t k = 0; k < POINTS; k++)
            y[k] = round(4 * rng_normal(&rng));
        const struct rise_curve c = curve_of(&strengths[0], 9, y, error);
        const double scatter = rise_scatter(&c);
        for (size_t k = 0; k < POINTS; k++)
            error[k] *= scatter;
        alarms += first_rise(&c) < POINTS;
    }
    ck_assert_msg(alarms <= 1, "%zu of %d flat curves rise", alarms, DRAWS);
}
END_TEST

START_TEST(a_rise_is_no_scatter)
{
    double y[40], error[40];
    for (size_t i = 0; i < 40; i++) {
        y[i] = (i < 20 ? 0 : 50) + (double)(i % 2);
        error[i] = 0.5;
    }
    const struct rise_curve c = {.y = y, .error = error, .count = 40};
    ck_assert_double_le(rise_scatter(&c), 1);
}
END_TEST

START_TEST(three_clear_points_do_at_the_end)
{
    double y[8] = {0, 0, 0, 0, 0, 40, 40, 40}, error[8] = {0};
    struct rise_curve c = {
        .y = y, .error = error, .count = 8, .least = 1.5, .clear = 24};
    ck_assert(!rise_at(&c, 4, 0));
    ck_assert(rise_at(&c, 5, 0));
    c.clear = 50;
    ck_assert(!rise_at(&c, 5, 0));
}
END_TEST

START_TEST(a_dear_point_is_no_rise)
{
    double y[9] = {0, 0, 90, 90, 0, 90, 90, 90, 0}, error[9] = {0};
    const struct rise_curve c = {
        .y = y, .error = error, .count = 9, .least = 1.5, .clear = 24};
    for (size_t i = 0; i < 9; i++)
        ck_assert(!rise_at(&c, i, 0));
}
END_TEST

Suite *suite_rise(void)
{
    TCase *t;
    Suite *const suite = suite_of("rise", 20, &t);
    tcase_add_loop_test(t, noise_makes_no_rise, 0, 5);
    tcase_add_loop_test(t, what_is_not_hidden_is_found, 0, 3);
    tcase_add_loop_test(t, means_bound_a_rise, 0, 3);
    tcase_add_test(t, scatter_makes_no_rise);
    tcase_add_test(t, a_rise_is_no_scatter);
    tcase_add_test(t, three_clear_points_do_at_the_end);
    tcase_add_test(t, a_dear_point_is_no_rise);
    return suite;
}
