/*
 * docs/report.schema.json says what reports are: those that are written here
 * and the golden ones fit it, and what does not is found.  The few words of
 * JSON Schema that it uses are understood here; any other fails the test.
 */
#include <glob.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sonde.h"
#include "testing.h"

static json_t *schema;

static bool fits(const json_t *rule, const json_t *value);

static bool is_of_type(const char *type, const json_t *value)
{
    static const struct {
        const char *name;
        json_type type, other;
    } types[] = {
        {"object", JSON_OBJECT, JSON_OBJECT},
        {"array", JSON_ARRAY, JSON_ARRAY},
        {"string", JSON_STRING, JSON_STRING},
        {"number", JSON_REAL, JSON_INTEGER},
        {"boolean", JSON_TRUE, JSON_FALSE},
        {"null", JSON_NULL, JSON_NULL},
    };
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (strcmp(types[i].name, type) == 0)
            return json_typeof(value) == types[i].type ||
                   json_typeof(value) == types[i].other;
    ck_abort_msg("the schema has a type \"%s\"", type);
    return false;
}

static bool fits_type(const json_t *type, const json_t *value)
{
    if (json_is_string(type))
        return is_of_type(json_string_value(type), value);
    for (size_t i = 0; i < json_array_size(type); i++)
        if (is_of_type(json_string_value(json_array_get(type, i)), value))
            return true;
    return false;
}

static bool fits_required(const json_t *names, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        if (json_object_get(
                value, json_string_value(json_array_get(names, i))) == NULL)
            return false;
    return true;
}

static bool fits_properties(const json_t *rules, const json_t *value)
{
    const char *name;
    json_t *rule;
    json_object_foreach((json_t *)rules, name, rule)
    {
        const json_t *const member = json_object_get(value, name);
        if (member != NULL && !fits(rule, member))
            return false;
    }
    return true;
}

static bool fits_members(const json_t *rule, const json_t *value)
{
    const char *name;
    json_t *member;
    json_object_foreach((json_t *)value, name, member)
    {
        if (!fits(rule, member))
            return false;
    }
    return true;
}

static bool fits_items(const json_t *rule, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!fits(rule, json_array_get(value, i)))
            return false;
    return true;
}

static bool fits_any(const json_t *rules, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(rules); i++)
        if (fits(json_array_get(rules, i), value))
            return true;
    return false;
}

static bool is_one_of(const json_t *values, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(values); i++)
        if (json_equal(json_array_get(values, i), value))
            return true;
    return false;
}

/* "#/$defs/NAME" */
static bool fits_reference(const json_t *reference, const json_t *value)
{
    const char *const name = strrchr(json_string_value(reference), '/') + 1;
    const json_t *const rule =
        json_object_get(json_object_get(schema, "$defs"), name);
    ck_assert_msg(rule != NULL, "the schema has no \"%s\"", name);
    return fits(rule, value);
}

static bool is_at_least(const json_t *least, const json_t *value)
{
    return json_number_value(value) >= json_number_value(least);
}

static bool is_at_most(const json_t *most, const json_t *value)
{
    return json_number_value(value) <= json_number_value(most);
}

static bool has_at_least(const json_t *least, const json_t *value)
{
    return json_array_size(value) >= (size_t)json_integer_value(least);
}

static bool has_at_most(const json_t *most, const json_t *value)
{
    return json_array_size(value) <= (size_t)json_integer_value(most);
}

static bool is_equal(const json_t *rule, const json_t *value)
{
    return json_equal(rule, value);
}

static bool is_remark(const json_t *rule, const json_t *value)
{
    return json_is_string(rule) || json_is_object(value);
}

static const struct {
    const char *name;
    bool (*fits)(const json_t *rule, const json_t *value);
} words[] = {
    {"type", fits_type},
    {"required", fits_required},
    {"properties", fits_properties},
    {"additionalProperties", fits_members},
    {"items", fits_items},
    {"anyOf", fits_any},
    {"enum", is_one_of},
    {"const", is_equal},
    {"$ref", fits_reference},
    {"minimum", is_at_least},
    {"maximum", is_at_most},
    {"minItems", has_at_least},
    {"maxItems", has_at_most},
    {"description", is_remark},
    {"title", is_remark},
    {"$schema", is_remark},
    {"$defs", is_remark},
};

static bool fits(const json_t *rule, const json_t *value)
{
    const char *name;
    json_t *part;
    json_object_foreach((json_t *)rule, name, part)
    {
        size_t i = 0;
        while (i < COUNT_OF(words) && strcmp(words[i].name, name) != 0)
            i++;
        ck_assert_msg(i < COUNT_OF(words), "the schema says \"%s\"", name);
        if (!words[i].fits(part, value))
            return false;
    }
    return true;
}

static bool report_fits(const json_t *report)
{
    json_error_t why;
    schema =
        json_load_file("docs/report.schema.json", JSON_REJECT_DUPLICATES, &why);
    ck_assert_msg(schema != NULL, "line %d: %s", why.line, why.text);
    const bool good = fits(schema, report);
    json_decref(schema);
    return good;
}

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
    ck_assert(report_fits(report));
    ck_assert_uint_eq(strlen(json_string_value(json_object_get(run, "start"))),
                      strlen("2026-11-22T08:00:00Z"));
    ck_assert(json_is_true(json_object_get(run, "simulated")));
    ck_assert(json_is_false(json_object_get(run, "replayed")));
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
        ck_assert_msg(report_fits(report), "%s does not", paths.gl_pathv[i]);
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
    ck_assert_int_eq(report_fits(report), _i == 0);
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
