/* The probe `rivals`: who works, how long, and what it refuses. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "probe/run.h"
#include "testing.h"

enum column { REPEAT, SM, BYTES, CYCLES };

struct bench {
    struct samples samples;
    struct error err;
};

static int try_on(struct bench *b, const char *text)
{
    *b = (struct bench){0};
    return testing_run("gtx560ti", text, &b->samples, &b->err);
}

START_TEST(the_sms_of_the_set_work_and_no_others)
{
    struct bench b;
    bool seen[8] = {false};
    ASSERT_DONE(try_on(&b, "rivals sms=1,4-5 cycles=1024 repeats=1"), b.err);
    ck_assert_uint_eq(b.samples.rows, 3);
    for (size_t i = 0; i < 3; i++) {
        seen[samples_at(&b.samples, i, SM)] = true;
        ck_assert_int_ge(samples_at(&b.samples, i, CYCLES), 1024);
        ck_assert_int_le(samples_at(&b.samples, i, CYCLES), 4096);
        ck_assert_int_gt(samples_at(&b.samples, i, BYTES), 0);
    }
    ck_assert(seen[1] && seen[4] && seen[5]);
    samples_free(&b.samples);
}
END_TEST

START_TEST(sets_that_are_none_are_refused)
{
    static const char *const texts[] = {
        "rivals sms=8",    "rivals sms=3-1", "rivals sms=1;2",
        "rivals sms=a",    "rivals sms=1-",  "rivals sms=99999",
        "rivals sms=0-2x", "rivals warps=3",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct bench b;
        ck_assert_msg(try_on(&b, texts[i]) == ERR_USAGE, "%s", texts[i]);
        samples_free(&b.samples);
    }
}
END_TEST

Suite *suite_corun(void)
{
    TCase *t;
    Suite *const suite = suite_of("corun", 20, &t);
    tcase_add_test(t, the_sms_of_the_set_work_and_no_others);
    tcase_add_test(t, sets_that_are_none_are_refused);
    return suite;
}
