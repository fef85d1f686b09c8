/*
 * The studies of the memory hierarchy on the shipped profiles, with their noise
 * on: each must find what the profile says.  SEEDS says with how many seeds.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "testing.h"
#include "truth/truth.h"

START_TEST(studies_find_what_the_profile_says)
{
    const char *const name = truth_gpus[_i % TRUTH_GPUS];
    const uint64_t seed = 1 + (uint64_t)(_i / TRUTH_GPUS);
    struct profile *profile;
    struct truths truths;
    struct error err;
    ASSERT_DONE(profile_open(name, NULL, &profile, &err), err);
    truths_of(profile, &truths);
    json_t *const findings = truth_topology(name, seed);
    struct buf rows = {0};
    const struct verdict v =
        truth_compare(findings, name, seed, &truths, &rows, NULL);
    ck_assert_msg(v.wrong == 0 && v.missing == 0, "%zu wrong, %zu missing:\n%s",
                  v.wrong, v.missing, buf_string(&rows));
    buf_free(&rows);
    json_decref(findings);
    profile_free(profile);
}
END_TEST

/* Two suites, since suites run beside each other and tests of one do not. */
static Suite *half(const char *name, int which)
{
    TCase *t;
    Suite *const suite = suite_of(name, 240, &t);
    truth_add_gpus(suite, t, studies_find_what_the_profile_says, which, 2);
    return suite;
}

Suite *suite_truth_levels(void)
{
    return half("truth_levels", 0);
}

Suite *suite_truth_more_levels(void)
{
    return half("truth_more_levels", 1);
}
