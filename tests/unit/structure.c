/* What the truth tests take for right and for wrong: findings that were never
 * measured are held against profiles. */
#include "truth/structure.h"

#include <stdlib.h>
#include <string.h>

#include "study/lab.h"
#include "testing.h"
#include "truth/gpu.h"
#include "truth/index.h"
#include "truth/truth.h"

static struct verdict judge(const struct profile *profile, const char *json,
                            struct buf *rows)
{
    json_t *const findings = json_loads(json, 0, NULL);
    ck_assert_msg(findings != NULL, "%s is not JSON", json);
    const struct run_seen seen = {.profile = profile,
                                  .name = "judged",
                                  .findings = findings,
                                  .rows = rows};
    struct verdict verdict = {0};
    structure_compare(&seen, &verdict);
    json_decref(findings);
    return verdict;
}

static struct verdict judge_shipped(const char *gpu, const char *json)
{
    struct profile *profile;
    struct error err;
    struct buf rows = {0};
    ASSERT_DONE(profile_open(gpu, NULL, &profile, &err), err);
    const struct verdict verdict = judge(profile, json, &rows);
    buf_free(&rows);
    profile_free(profile);
    return verdict;
}

static const struct {
    const char *gpu, *id, *value;
    bool right;
} answers[] = {
    {"k20c", "texture.sets", "4", true},
    {"k20c", "texture.sets", "8", false},
    {"k20c", "texture.set_ways", "[96, 96, 96, 96]", false},
    {"k20c", "texture.set_bits", "[7, 8]", true},
    {"k20c", "texture.set_bits", "[8, 7]", true},
    {"k20c", "texture.set_bits", "[[7], [7, 8]]", true},
    {"k20c", "texture.set_bits", "[5, 6]", false},
    {"k20c", "texture.set_bits", "[7, 8, 9]", false},
    {"k20c", "texture.set_bits", "[7, 7]", false},
    {"k20c", "l2.set_bits", "[7, 8]", false}, /* 640 sets */
    {"k20c", "l1.set_bits", "[7, 8, 9, 10, 11]", true},
    {"k20c", "l1.policy", "\"lru\"", true},
    {"k20c", "l1.policy", "\"plru\"", false},
    {"k20c", "l1.policy_weights", "[0.25, 0.25, 0.25, 0.25]", false},
    {"gtx560ti", "l1.policy", "\"weighted\"", true},
    {"gtx560ti", "l1.policy_weights", "[0.17, 0.49, 0.17, 0.17]", true},
    {"gtx560ti", "l1.policy_weights", "[0.25, 0.25, 0.25, 0.25]", false},
    {"gtx560ti", "l1.policy_weights", "[0.5, 0.17, 0.17, 0.17]", false},
    {"k20c", "texture.shares_with", "[\"readonly\"]", true},
    {"k20c", "texture.shares_with", "[\"l1\"]", false},
    {"k20c", "l1.shares_with", "[\"local\"]", true},
    {"v100", "l1.shares_with", "[\"local\", \"readonly\", \"texture\"]", true},
    {"v100", "l1.shares_with", "[\"readonly\", \"texture\"]", false},
    {"v100", "const_l1.shares_with", "[]", true},
    {"k20c", "texture.per_sm", "4", true},
    {"k20c", "texture.copy_of_warp", "[2, 0, 1, 3, 2, 0, 1, 3]", true},
    {"k20c", "texture.copy_of_warp", "[0, 0, 1, 1, 2, 2, 3, 3]", false},
    {"k20c", "texture.copy_of_warp", "[0, 1]", false},
    {"gtx780", "l1.sets", "32", true}, /* which local loads show */
    {"gtx780", "l1.shares_with", "[\"local\"]", true},
    {"gtx780", "local.sets", "16", false},
    {"v100", "const_l1.sms_sharing", "1", true},
    {"gtx840m", "l1.sets", "4", false}, /* there is none */
    {"gtx560ti", "readonly.policy", "\"lru\"", false},
    {"v100", "const_l15.sms_sharing", "1", true},
    {"v100", "const_l15.sms_sharing", "2", false},
    {"gtx560ti", "tlb_l1.entries", "16", true},
    {"gtx560ti", "tlb_l1.sets", "1", true},
    {"gtx560ti", "tlb_l2.reach", "136314880", true},
    {"gtx560ti", "tlb_l2.set_ways", "[8, 8, 17, 8, 8, 8, 8]", true},
    {"gtx560ti", "tlb_l2.set_ways", "[17, 8, 8, 8, 8, 16]", false},
    {"gtx560ti", "tlb_l2.ways", "8", false},
    {"gtx560ti", "tlb_l2.miss_penalty", "84.4", true},
    {"gtx560ti", "tlb_l2.miss_penalty", "86", false},
    {"gtx560ti", "tlb_l3.entries", "65", false},
    {"gtx560ti", "tlb.page_window", "536870912", false},
    {"gtx780", "tlb.page_window", "536870912", true},
    {"gtx780", "tlb.page_window_latency", "1009", true},
    {"gtx780", "memory.patterns_cg", "[230, 236, 289, 371, 734, 1000]", true},
    {"gtx780", "memory.patterns_cg", "[230, 236, 289, 371, 734, null]", true},
    {"gtx560ti", "memory.patterns_ca", "[116, 404, 488, 655, 1259, null]",
     true},
    {"gtx560ti", "memory.patterns_ca", "[116, 404, 488, 655, 1259, 900]",
     false},
    {"gtx560ti", "memory.patterns_ca", "[116, 404, 488, 655, 682, null]",
     false},
    {"gtx560ti", "memory.patterns_ca", "[116, 404, 488, 655, 1259]", false},
    /* A hit in L1 needs no translation: a pattern there is none, or is alike.
     */
    {"v100", "memory.patterns_ca", "[36, null, null, 430, 710, null]", true},
    {"v100", "memory.patterns_ca", "[36, 36, 36, 430, 710, null]", true},
};

START_TEST(an_answer_is_right_or_wrong)
{
    char json[256];
    snprintf(json, sizeof json,
             "{\"%s\": {\"value\": %s, \"status\": \"measured\"}}",
             answers[_i].id, answers[_i].value);
    const struct verdict v = judge_shipped(answers[_i].gpu, json);
    ck_assert_msg(v.wrong == !answers[_i].right, "%s %s is taken for %s",
                  answers[_i].gpu, json, v.wrong ? "wrong" : "right");
}
END_TEST

/* A pattern that is left open is missing; a window that is denied is wrong. */
START_TEST(a_window_that_is_denied_is_wrong)
{
    static const char left_open[] =
        "{\"memory.patterns_cg\": {\"value\": [230, 236, 289, 371, 734, null], "
        "\"status\": \"measured\", \"protocol\": {\"none\": \"P6: %s\"}}}";
    char open[512], denied[512];
    snprintf(open, sizeof open, left_open, why_pattern_noise);
    snprintf(denied, sizeof denied, left_open, why_no_window);
    const struct verdict none = judge_shipped("gtx780", "{}");
    const struct verdict a = judge_shipped("gtx780", open);
    ck_assert_uint_eq(a.wrong, 0);
    ck_assert_uint_eq(a.missing, none.missing);
    ck_assert_uint_eq(judge_shipped("gtx780", denied).wrong, 1);
}
END_TEST

START_TEST(what_is_not_measured_is_missing)
{
    const struct verdict none = judge_shipped("v100", "{}");
    const struct verdict one = judge_shipped(
        "v100", "{\"l1.sets\": {\"value\": 4, \"status\": \"measured\"}}");
    ck_assert_uint_eq(none.wrong, 0);
    ck_assert_uint_eq(none.missing, none.asked);
    ck_assert_uint_eq(one.missing, none.asked - 1);
}
END_TEST

START_TEST(an_unknown_policy_is_missing_and_not_wrong)
{
    const struct verdict none = judge_shipped("v100", "{}");
    const struct verdict unknown =
        judge_shipped("v100", "{\"l1.policy\": {\"value\": \"unknown\", "
                              "\"status\": \"measured\"}}");
    ck_assert_uint_eq(unknown.wrong, 0);
    ck_assert_uint_eq(unknown.missing, none.missing);
}
END_TEST

START_TEST(a_false_bound_is_wrong_and_a_true_one_missing)
{
    static const char bound[] =
        "{\"tlb_l2.entries\": {\"value\": %d, \"status\": \"at_least\"}}";
    char below[128], above[128];
    snprintf(below, sizeof below, bound, 64);
    snprintf(above, sizeof above, bound, 66);
    ck_assert_uint_eq(judge_shipped("gtx560ti", below).wrong, 0);
    ck_assert_uint_eq(judge_shipped("gtx560ti", above).wrong, 1);
}
END_TEST

START_TEST(a_random_gpu_of_which_nothing_is_found_has_nothing_wrong)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct profile *profile;
        struct error err;
        struct buf rows = {0};
        char *const json = gpu_random(seed);
        ASSERT_DONE(profile_parse(json, "random", &profile, &err), err);
        const struct verdict v = judge(profile, "{}", &rows);
        ck_assert_uint_eq(v.wrong, 0);
        ck_assert_uint_gt(v.asked, 0);
        buf_free(&rows);
        profile_free(profile);
        free(json);
    }
}
END_TEST

START_TEST(index_bits_have_one_canonical_form)
{
    uint64_t mixed[] = {0x180, 0x100, 0x1180}, plain[] = {0x80, 0x100, 0x1000};
    uint64_t twice[] = {0x80, 0x100, 0x180};
    ck_assert_uint_eq(index_canonical(mixed, 3), 3);
    ck_assert_uint_eq(index_canonical(plain, 3), 3);
    ck_assert_mem_eq(mixed, plain, sizeof plain);
    ck_assert_uint_eq(index_canonical(twice, 3), 2);
}
END_TEST

Suite *suite_structure(void)
{
    TCase *t;
    Suite *const suite = suite_of("structure", 20, &t);
    tcase_add_loop_test(t, an_answer_is_right_or_wrong, 0,
                        sizeof answers / sizeof *answers);
    tcase_add_test(t, a_window_that_is_denied_is_wrong);
    tcase_add_test(t, what_is_not_measured_is_missing);
    tcase_add_test(t, an_unknown_policy_is_missing_and_not_wrong);
    tcase_add_test(t, a_false_bound_is_wrong_and_a_true_one_missing);
    tcase_add_test(t, a_random_gpu_of_which_nothing_is_found_has_nothing_wrong);
    tcase_add_test(t, index_bits_have_one_canonical_form);
    return suite;
}
