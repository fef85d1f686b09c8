/*
 * The probe `visit`: what is loaded, in which order; places may be a list.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "gpu_made.h"
#include "probe/guard.h"
#include "probe/run.h"
#include "testing.h"

static int visited(const char *text, struct samples *s, struct error *err)
{
    return testing_run("k20c", text, s, err);
}

static const struct {
    const char *text;
    int64_t offset[7];
    size_t rows;
} orders[] = {
    {"visit steps=!256:3:128", {256, 384, 512}, 3},
    {"visit steps=!256|0|4096", {256, 0, 4096}, 3},
    {"visit steps=2x!256|0,64|96,!32", {256, 0, 256, 0, 32}, 5},
    {"visit steps=!0|64 rounds=2", {0, 64, 0, 64}, 4},
    {"visit steps=!0|64 between=512|256", {0, 64}, 2},
    {"visit steps=!3:1:0,!1073741824:2:1 piece=2097152 row=65536",
     {3, 1073741824, 1073741825},
     3},
    /* as many mappings as are visited, of more than there may be */
    {"visit steps=!300000:1:0,!2|299999 piece=2097152 apart=33554432",
     {300000, 2, 299999},
     3},
    /* the kernel that calls is another beside few functions than beside all */
    {"visit readers=code steps=!96|224|96", {96, 224, 96}, 3},
    {"visit readers=code,constant steps=!96|224", {96, 224}, 2},
};

START_TEST(places_are_loaded_in_order)
{
    struct error err;
    struct samples s;
    ASSERT_DONE(visited(orders[_i].text, &s, &err), err);
    ck_assert_uint_eq(s.rows, orders[_i].rows);
    for (size_t i = 0; i < s.rows; i++)
        ck_assert_int_eq(samples_at(&s, i, samples_column(&s, "offset")),
                         orders[_i].offset[i]);
    samples_free(&s);
}
END_TEST

START_TEST(draws_are_of_the_list)
{
    struct error err;
    struct samples s;
    size_t first = 0;
    ASSERT_DONE(visited("visit steps=!~200/256|4096", &s, &err), err);
    ck_assert_uint_eq(s.rows, 200);
    for (size_t i = 0; i < s.rows; i++) {
        const int64_t at = samples_at(&s, i, samples_column(&s, "offset"));
        ck_assert(at == 256 || at == 4096);
        first += at == 256;
    }
    ck_assert_uint_gt(first, 50);
    ck_assert_uint_lt(first, 150);
    samples_free(&s);
}
END_TEST

static const char *const refused[] = {
    "visit steps=!0|x",  "visit steps=!|",
    "visit steps=!0|33", "visit steps=0|64",
    "visit steps=!0:1",  "visit steps=!1073741823:2:1 piece=2097152 row=65536",
};

START_TEST(what_is_no_list_is_refused)
{
    struct error err;
    struct samples s;
    ASSERT_FAILS(visited(refused[_i], &s, &err), ERR_USAGE, err, "steps");
}
END_TEST

/* What leads the last place lies beyond it.  Buggy result: a load outside of
 * what is allocated, and nothing of L2 was measured after it. */
START_TEST(what_leads_is_there)
{
    struct samples s;
    struct error err;
    ASSERT_DONE(visited("visit steps=!4096:1:0 lead=3328", &s, &err), err);
    ck_assert_uint_eq(s.rows, 1);
    samples_free(&s);
}
END_TEST

static const char *const no_turns[] = {
    "visit steps=!0:1:0 turn=1",
    "visit steps=!0:1:0 piece=2097152 scramble=3 turn=9",
};

START_TEST(a_turn_of_no_mapping_is_refused)
{
    struct error err;
    struct samples s;
    ASSERT_FAILS(visited(no_turns[_i], &s, &err), ERR_USAGE, err, "turn");
}
END_TEST

/* Where others are on the GPU more is copied to a buffer than is said.  Buggy
 * result: beyond its end, where what tells the pages of a part follows the
 * steps (l2.sets of an H200). */
START_TEST(all_is_sent_in_company)
{
    struct samples s;
    struct error err;
    char *const gpu =
        gpu_made("sms=1 changes={'after_launches': 1, 'other_processes': 1}");
    struct device *const device = testing_sim_of(gpu, 1);
    struct prober *const prober =
        prober_new(device, NULL, &(struct prober_options){.seed = 1});
    ASSERT_DONE(prober_run(prober, "visit steps=!0:8:128", &s, NULL, &err),
                err);
    samples_free(&s);
    ck_assert(prober_guard(prober)->company);
    ASSERT_DONE(prober_run(prober,
                           "visit readers=global.cg steps=0:8:128,!0:8:128 "
                           "unit=128 home=4096 homes=10",
                           &s, NULL, &err),
                err);
    ck_assert_uint_eq(s.rows, 8);
    samples_free(&s);
    prober_free(prober);
    device_close(device);
    free(gpu);
}
END_TEST

Suite *suite_access_script(void)
{
    TCase *t;
    Suite *const suite = suite_of("access_script", 20, &t);
    tcase_add_loop_test(t, places_are_loaded_in_order, 0, COUNT_OF(orders));
    tcase_add_test(t, draws_are_of_the_list);
    tcase_add_test(t, what_leads_is_there);
    tcase_add_test(t, all_is_sent_in_company);
    tcase_add_loop_test(t, a_turn_of_no_mapping_is_refused, 0,
                        COUNT_OF(no_turns));
    tcase_add_loop_test(t, what_is_no_list_is_refused, 0, COUNT_OF(refused));
    return suite;
}
