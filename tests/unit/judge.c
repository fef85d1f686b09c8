/* What `make disturb` calls right and wrong; and that its GPUs can be. */
#include "judge.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/sim/profile/profile.h"
#include "disturbance.h"
#include "testing.h"

/* ' for the quotes; NULL is a finding that is not there. */
static json_t *finding(const char *text)
{
    if (text == NULL)
        return NULL;
    char *const json = xasprintf("{%s}", text);
    for (char *c = json; *c != '\0'; c++)
        *c = *c == '\'' ? '"' : *c;
    json_t *const read = json_loads(json, 0, NULL);
    ck_assert_msg(read != NULL, "%s is not JSON", json);
    free(json);
    return read;
}

#define IS(status)      "'status': '" status "', "
#define MEASURED        IS("measured")
#define NONE            "'status': 'not_measured', 'because': 'no'"
#define CYCLES(value)   "'unit': 'cycles', 'value': " value
#define BYTES(value)    "'unit': 'B', 'value': " value
#define RATE(value)     "'unit': 'B/clk/SM', 'value': " value
#define INTERVAL(range) ", 'interval': " range
#define BECAUSE         ", 'because': 'of that'"
#define AXIS(values)    ", 'axis': {'values': " values "}"
#define BITS(value)     "'value': " value
#define PROTOCOL(said)  ", 'protocol': {" said "}"

static const struct {
    const char *truth, *found;
    enum judgement is;
} cases[] = {
    /* numbers */
    {MEASURED CYCLES("36"), MEASURED CYCLES("37"), JUDGED_RIGHT},
    {MEASURED CYCLES("36"), MEASURED CYCLES("37.1"), JUDGED_WRONG},
    {MEASURED CYCLES("500"), MEASURED CYCLES("505"), JUDGED_RIGHT},
    {MEASURED CYCLES("500"), MEASURED CYCLES("506"), JUDGED_WRONG},
    {MEASURED CYCLES("36"), MEASURED CYCLES("40") INTERVAL("[36, 44]"),
     JUDGED_RIGHT},
    {MEASURED CYCLES("36"), MEASURED CYCLES("40") INTERVAL("[38, 44]"),
     JUDGED_WRONG},
    {MEASURED CYCLES("0.5"), MEASURED CYCLES("-0.1"), JUDGED_WRONG},
    {MEASURED BYTES("12288"), MEASURED BYTES("12096"), JUDGED_WRONG},
    {MEASURED BYTES("12288"), MEASURED BYTES("12288"), JUDGED_RIGHT},
    {MEASURED "'value': 16", MEASURED "'value': 17", JUDGED_WRONG},
    {MEASURED "'value': 16", IS("derived") "'value': 16", JUDGED_RIGHT},
    /* bounds */
    {MEASURED BYTES("4096"), IS("at_least") BYTES("2048"), JUDGED_BOUND},
    {MEASURED BYTES("4096"), IS("at_least") BYTES("8192"), JUDGED_WRONG},
    {MEASURED BYTES("4096"), IS("at_most") BYTES("8192"), JUDGED_BOUND},
    {MEASURED BYTES("4096"), IS("at_most") BYTES("2048"), JUDGED_WRONG},
    {IS("at_least") BYTES("4096"), IS("at_least") BYTES("4096"), JUDGED_RIGHT},
    {IS("at_least") RATE("151"), IS("at_least") RATE("154"), JUDGED_RIGHT},
    {MEASURED RATE("151"), IS("at_least") RATE("154"), JUDGED_WRONG},
    /* doubts */
    {MEASURED CYCLES("36"),
     IS("in_doubt") CYCLES("50") BECAUSE INTERVAL("[30, 60]"), JUDGED_DOUBTED},
    {MEASURED CYCLES("36"),
     IS("in_doubt") CYCLES("50") BECAUSE INTERVAL("[40, 60]"), JUDGED_WRONG},
    {MEASURED CYCLES("36"), IS("in_doubt") CYCLES("50") BECAUSE, JUDGED_WRONG},
    {MEASURED CYCLES("36"), IS("in_doubt") CYCLES("36") BECAUSE,
     JUDGED_DOUBTED},
    {MEASURED CYCLES("36"), MEASURED CYCLES("36") BECAUSE, JUDGED_DOUBTED},
    {MEASURED CYCLES("36") BECAUSE, MEASURED CYCLES("36") BECAUSE,
     JUDGED_RIGHT},
    /* what is not there */
    {MEASURED CYCLES("36"), NONE, JUDGED_NOT_MEASURED},
    {MEASURED CYCLES("36"), NULL, JUDGED_NOT_MEASURED},
    {NONE, MEASURED CYCLES("36"), JUDGED_WRONG},
    {NONE, IS("in_doubt") CYCLES("36") BECAUSE, JUDGED_WRONG},
    {NULL, MEASURED CYCLES("36"), JUDGED_WRONG},
    {NONE, IS("at_most") BYTES("4096"), JUDGED_BOUND},
    /* words and lists */
    {MEASURED "'value': 'lru'", MEASURED "'value': 'lru'", JUDGED_RIGHT},
    {MEASURED "'value': 'lru'", MEASURED "'value': 'nru'", JUDGED_WRONG},
    {MEASURED "'value': ['l1']", MEASURED "'value': []", JUDGED_WRONG},
    {MEASURED "'value': [7, 8]", MEASURED "'value': [7, 8]", JUDGED_RIGHT},
    {MEASURED "'value': [7, 8]", MEASURED "'value': [7, 9]", JUDGED_WRONG},
    {MEASURED "'value': [0.5, 0.25]", MEASURED "'value': [0.51, 0.24]",
     JUDGED_RIGHT},
    {MEASURED "'value': [0.5, 0.25]", MEASURED "'value': [0.53, 0.24]",
     JUDGED_WRONG},
    {MEASURED CYCLES("[30, 40]"), MEASURED CYCLES("[31, null]"), JUDGED_RIGHT},
    {MEASURED CYCLES("[30, 40]"), MEASURED CYCLES("[30, 'unknown']"),
     JUDGED_RIGHT},
    {MEASURED CYCLES("[30, 40]"), MEASURED CYCLES("[30, 'none']"),
     JUDGED_WRONG},
    {MEASURED CYCLES("[30, 40]") AXIS("[1, 2]"),
     MEASURED CYCLES("[40]") AXIS("[2]"), JUDGED_RIGHT},
    {MEASURED CYCLES("[30, 40]") AXIS("[1, 2]"),
     MEASURED CYCLES("[30]") AXIS("[2]"), JUDGED_WRONG},
    {MEASURED CYCLES("[30, 40]"),
     MEASURED CYCLES("[30, 47]") PROTOCOL("'low': [29, 39], 'high': [31, 55]"),
     JUDGED_RIGHT},
    {MEASURED CYCLES("[30, 40]"),
     MEASURED CYCLES("[37, 40]") PROTOCOL("'low': [35, 30], 'high': [39, 50]"),
     JUDGED_WRONG},
    {MEASURED BITS("[[7, 9, 12], [8, 13]]"),
     MEASURED BITS("[[7, 9], 8]") PROTOCOL("'bits_below': 12"), JUDGED_RIGHT},
    {MEASURED BITS("[[7, 9, 12], [8, 13]]"),
     MEASURED BITS("[[7, 9], 8]") PROTOCOL("'bits_below': 13"), JUDGED_WRONG},
    {MEASURED BITS("[[7, 9, 12], [8, 13]]"),
     MEASURED BITS("[[7, 10], 8]") PROTOCOL("'bits_below': 12"), JUDGED_WRONG},
};

START_TEST(a_finding_is_held_against_the_truth)
{
    json_t *const truth = finding(cases[_i].truth);
    json_t *const found = finding(cases[_i].found);
    const enum judgement is = judge(truth, found, 1);
    ck_assert_msg(is == cases[_i].is, "%s is %s, not %s", cases[_i].found,
                  judgement_names[is], judgement_names[cases[_i].is]);
    json_decref(truth);
    json_decref(found);
}
END_TEST

/* The clock fell to half. */
START_TEST(a_clock_that_fell_has_two_rates)
{
    static const struct {
        const char *truth, *found;
        enum judgement is;
    } slowed[] = {
        {MEASURED "'unit': 'Hz', 'value': 1000",
         MEASURED "'unit': 'Hz', 'value': 1000", JUDGED_WRONG},
        {MEASURED "'unit': 'Hz', 'value': 1000",
         IS("in_doubt") "'unit': 'Hz', 'value': 1000" BECAUSE INTERVAL(
             "[500, 1000]"),
         JUDGED_DOUBTED},
        {MEASURED "'unit': 'B/s', 'value': 1000",
         MEASURED "'unit': 'B/s', 'value': 500", JUDGED_RIGHT},
        {MEASURED "'unit': 'B/s', 'value': 1000",
         MEASURED "'unit': 'B/s', 'value': 400", JUDGED_WRONG},
        {MEASURED "'unit': 'ns', 'value': 100",
         MEASURED "'unit': 'ns', 'value': 200", JUDGED_RIGHT},
        {MEASURED CYCLES("100"), MEASURED CYCLES("200"), JUDGED_WRONG},
    };
    for (size_t i = 0; i < COUNT_OF(slowed); i++) {
        json_t *const truth = finding(slowed[i].truth);
        json_t *const found = finding(slowed[i].found);
        const enum judgement is = judge(truth, found, 0.5);
        ck_assert_msg(is == slowed[i].is, "%s is %s", slowed[i].found,
                      judgement_names[is]);
        json_decref(truth);
        json_decref(found);
    }
}
END_TEST

START_TEST(what_a_driver_says_is_not_judged)
{
    json_t *const said = finding(IS("reported") "'value': 16");
    json_t *const none = finding(NONE);
    json_t *const measured = finding(MEASURED "'value': 16");
    ck_assert(!judge_has(said, said));
    ck_assert(!judge_has(none, none));
    ck_assert(!judge_has(none, NULL));
    ck_assert(judge_has(none, measured));
    ck_assert(judge_has(measured, NULL));
    json_decref(said);
    json_decref(none);
    json_decref(measured);
}
END_TEST

/* Each kind and strength on a GPU with all that can be disturbed, and on one
 * with little. */
START_TEST(disturbed_gpus_can_be)
{
    static const char *const names[] = {"small", "small_fifo", "v100",
                                        "gtx560ti"};
    for (const struct disturbance *d = disturbances; d->kind != NULL; d++)
        for (unsigned s = 1; s <= DISTURBANCE_STRENGTHS; s++) {
            char *const text = disturbed_gpu(names[_i], d->kind, s);
            struct profile *profile;
            struct error err;
            ASSERT_DONE(profile_parse(text, d->kind, &profile, &err), err);
            profile_free(profile);
            free(text);
        }
}
END_TEST

START_TEST(only_those_are_there)
{
    ck_assert_ptr_null(disturbed_gpu("small", "thunder", 1));
    ck_assert_ptr_null(disturbed_gpu("no such file", "noise", 1));
}
END_TEST

Suite *suite_judge(void)
{
    TCase *t;
    Suite *const suite = suite_of("judge", 10, &t);
    tcase_add_loop_test(t, a_finding_is_held_against_the_truth, 0,
                        (int)COUNT_OF(cases));
    tcase_add_test(t, a_clock_that_fell_has_two_rates);
    tcase_add_test(t, what_a_driver_says_is_not_judged);
    tcase_add_loop_test(t, disturbed_gpus_can_be, 0, 4);
    tcase_add_test(t, only_those_are_there);
    return suite;
}
