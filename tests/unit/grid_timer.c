/* The probe `grid`: a run that is too long for one launch is several. */
#include <stdlib.h>

#include "base/mem.h"
#include "probe/run.h"
#include "testing.h"

enum column { REPEAT, SM, BLOCKS, CYCLES, NS, ELAPSED };

static struct samples samples_of(const char *text)
{
    struct samples samples;
    struct error err;
    ck_assert_msg(testing_run("gtx560ti", text, &samples, &err) == 0, "%s: %s",
                  text, err.text);
    return samples;
}

/* 4096 turns are one launch. */
START_TEST(times_of_several_launches_add_up)
{
    static const enum column columns[] = {CYCLES, NS, ELAPSED};
    struct samples one = samples_of("grid turns=4096 blocks=2 repeats=1");
    struct samples four = samples_of("grid turns=16384 blocks=2 repeats=1");
    ck_assert_uint_eq(one.rows, 2);
    ck_assert_uint_eq(four.rows, 2);
    for (size_t i = 0; i < COUNT_OF(columns); i++) {
        const double once = (double)samples_at(&one, 0, columns[i]);
        ck_assert_double_eq_tol((double)samples_at(&four, 0, columns[i]) / once,
                                4, 0.04);
    }
    samples_free(&one);
    samples_free(&four);
}
END_TEST

Suite *suite_grid_timer(void)
{
    TCase *t;
    Suite *const suite = suite_of("grid_timer", 30, &t);
    tcase_add_test(t, times_of_several_launches_add_up);
    return suite;
}
