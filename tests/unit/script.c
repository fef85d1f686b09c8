/* The text of a `visit`, step by step. */
#include "study/script.h"

#include "study/lab.h"
#include "testing.h"

static struct lab lab;

static void empty_lab(void)
{
    arena_empty(&lab.memory);
}

static const struct segment places = {4096, 8, 128};

START_TEST(the_only_reader_is_not_said)
{
    struct script s = {0};
    script_reader(&s, "texture");
    script_load(&s, 0, places);
    script_time(&s, 0, places);
    ck_assert_str_eq(script_text(&s, &lab),
                     "readers=texture steps=4096:8:128,!4096:8:128");
}
END_TEST

START_TEST(one_of_several_readers_is_said)
{
    struct script s = {0};
    script_reader(&s, "global.cg@0.%d", 7);
    const size_t second = script_reader(&s, "local/31");
    script_load(&s, 0, places);
    script_time(&s, second, places);
    ck_assert_str_eq(
        script_text(&s, &lab),
        "readers=global.cg@0.7,local/31 steps=0@4096:8:128,1@!4096:8:128");
}
END_TEST

START_TEST(a_step_has_laps_or_draws)
{
    struct script s = {0};
    script_reader(&s, "constant");
    script_add(&s, &(struct script_step){.laps = 1, .places = places});
    script_add(&s,
               &(struct script_step){
                   .laps = 3, .timed = true, .draws = 40, .places = places});
    ck_assert_str_eq(script_text(&s, &lab),
                     "readers=constant steps=1x4096:8:128,3x!~40/4096:8:128");
}
END_TEST

START_TEST(places_may_be_listed)
{
    uint64_t at[] = {256, 0, 4096};
    const struct script_lines lines = {at, 3};
    struct script s = {0};
    script_reader(&s, "constant");
    script_add(&s, &(struct script_step){.draws = 9, .lines = &lines});
    ck_assert_str_eq(script_text(&s, &lab),
                     "readers=constant steps=~9/256|0|4096");
}
END_TEST

START_TEST(a_script_that_was_taken_is_empty)
{
    struct script s = {0};
    script_reader(&s, "constant");
    script_load(&s, 0, places);
    script_text(&s, &lab);
    ck_assert_uint_eq(script_reader(&s, "readonly"), 0);
    script_load(&s, 0, places);
    ck_assert_str_eq(script_text(&s, &lab),
                     "readers=readonly steps=4096:8:128");
}
END_TEST

Suite *suite_script(void)
{
    TCase *t;
    Suite *const s = suite_of("script", 20, &t);
    tcase_add_checked_fixture(t, NULL, empty_lab);
    tcase_add_test(t, the_only_reader_is_not_said);
    tcase_add_test(t, one_of_several_readers_is_said);
    tcase_add_test(t, a_step_has_laps_or_draws);
    tcase_add_test(t, places_may_be_listed);
    tcase_add_test(t, a_script_that_was_taken_is_empty);
    return s;
}
