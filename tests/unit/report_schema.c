/*
 * docs/report.schema.json says what reports are: those that are written here
 * and the golden ones fit it, and what does not is found.
 */
#include <glob.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "schema.h"
#include "sonde.h"
#include "testing.h"

static json_t *parsed(const char *text)
{
    json_error_t why;
    json_t *const json = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    ck_assert_msg(json != NULL, "line %d: %s", why.line, why.text);
    return json;
}

START_TEST(a_report_fits_its_schema)
{
    static const char *const studies[] = {"banks", "properties"};
    const struct sonde_options options = {.device = "sim:k20c"};
    struct sonde_error err;
    struct sonde *s;
    char *text;
    ASSERT_DONE(sonde_open(&s, &options, &err), err);
    ck_assert_int_eq(sonde_run(s, studies, 2, &err), 0);
    ASSERT_DONE(sonde_report(s, "json", NULL, &text, &err), err);
    json_t *const report = parsed(text);
    const json_t *const run = json_object_get(report, "run");
    ck_assert(schema_fits(report));
    ck_assert_uint_eq(strlen(json_string_value(json_object_get(run, "start"))),
                      strlen("2026-11-22T08:00:00Z"));
    ck_assert(json_is_true(json_object_get(run, "simulated")));
    ck_assert(json_is_false(json_object_get(run, "replayed")));
    const json_t *const device = json_object_get(report, "device");
    ck_assert(json_is_true(json_object_get(device, "ecc")));
    ck_assert(json_is_false(json_object_get(device, "mig")));
    ck_assert_double_eq(
        json_number_value(json_object_get(device, "sm_clock_hz")), 705.5e6);
    json_decref(report);
    free(text);
    sonde_close(s, NULL);
}
END_TEST

START_TEST(golden_reports_fit_their_schema)
{
    glob_t paths;
    ck_assert_int_eq(glob("tests/replay/*.json", 0, NULL, &paths), 0);
    for (size_t i = 0; i < paths.gl_pathc; i++) {
        char *const text = testing_document(paths.gl_pathv[i]);
        json_t *const report = parsed(text);
        ck_assert_msg(schema_fits(report), "%s does not", paths.gl_pathv[i]);
        json_decref(report);
        free(text);
    }
    globfree(&paths);
}
END_TEST

#define REPORT(finding)                                                        \
    "{\"schema\": \"sonde-report-2\", \"device\": {}, \"findings\": "          \
    "{\"l1.size\": " finding "}}"

/* Each but the first breaks one rule. */
static const char *const reports[] = {
    REPORT("{\"status\": \"measured\", \"value\": [1, null]}"),
    REPORT("{\"status\": \"measurd\", \"value\": 1}"),
    REPORT("{\"value\": 1}"),
    REPORT("{\"status\": \"measured\", \"value\": [1, \"none\"]}"),
    REPORT("{\"status\": \"measured\", \"value\": 1, \"interval\": [1]}"),
    REPORT("{\"status\": \"measured\", \"value\": 1, \"confidence\": 2}"),
    REPORT("{\"status\": \"measured\", \"value\": [1], \"axis\": {\"name\": "
           "\"a\"}}"),
    "{\"schema\": \"sonde-report-3\", \"device\": {}, \"findings\": {}}",
    "{\"schema\": \"sonde-report-2\", \"findings\": {}}",
};

START_TEST(what_breaks_a_rule_is_found)
{
    json_t *const report = parsed(reports[_i]);
    ck_assert_int_eq(schema_fits(report), _i == 0);
    json_decref(report);
}
END_TEST

Suite *suite_report_schema(void)
{
    TCase *tests;
    Suite *const suite = suite_of("report_schema", 20, &tests);
    tcase_add_test(tests, a_report_fits_its_schema);
    tcase_add_test(tests, golden_reports_fit_their_schema);
    tcase_add_loop_test(tests, what_breaks_a_rule_is_found, 0,
                        COUNT_OF(reports));
    return suite;
}
