/* Many GPUs: src/report/fleet, analysis/statistics/crowd.h, by sonde.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/statistics/crowd.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "fleet_made.h"
#include "report/fleet/reading/gather.h"
#include "sonde.h"
#include "testing.h"
#include "unit/markup_check.h"

/* ---- crowds -------------------------------------------------------------- */

#define CHANCE 1e-6

static void draw(double *values, size_t n, uint64_t seed)
{
    struct rng r;
    rng_seed(&r, seed);
    for (size_t i = 0; i < n; i++)
        values[i] = 100 + rng_normal(&r);
}

/* Of many values as far as a normal tail at least, and not twice as far. */
START_TEST(a_limit_is_beyond_chance)
{
    double values[4000];
    draw(values, COUNT_OF(values), 1);
    const struct crowd c = crowd_of(values, COUNT_OF(values), CHANCE);
    ck_assert_double_eq_tol(c.centre, 100, 0.1);
    ck_assert_double_eq_tol(c.spread, 1, 0.05);
    ck_assert_double_gt(c.limit, crowd_normal(CHANCE));
    ck_assert_double_lt(c.limit, 2 * crowd_normal(CHANCE));
}
END_TEST

START_TEST(a_fifth_of_others_changes_little)
{
    double values[400];
    draw(values, COUNT_OF(values), 2);
    for (size_t i = 0; i < COUNT_OF(values) / 8; i++)
        values[i] = 150;
    const struct crowd c = crowd_of(values, COUNT_OF(values), CHANCE);
    ck_assert_double_lt(c.limit, 20);
}
END_TEST

/* As many draws of few values: the next is beyond as seldom as is said. */
START_TEST(few_values_say_little)
{
    enum { TRIALS = 4000, FEW = 8 };
    size_t beyond = 0;
    for (uint64_t seed = 0; seed < TRIALS; seed++) {
        double values[FEW + 1];
        draw(values, COUNT_OF(values), 100 + seed);
        const struct crowd c = crowd_of(values, FEW, 0.01);
        beyond += fabs(values[FEW] - c.centre) > c.limit;
    }
    ck_assert_uint_lt(beyond, TRIALS / 50); /* twice the 1 % */
    const double two[] = {1, 2};
    ck_assert(isinf(crowd_of(two, 2, CHANCE).limit));
}
END_TEST

/* Hundreds of findings of the same few say what spreads are like: the limit is
 * nearer, and the next value is beyond as seldom. */
START_TEST(spreads_of_all_help_few_values)
{
    enum { TRIALS = 4000, FEW = 8 };
    double shares[200], values[FEW + 1];
    size_t beyond = 0, nearer = 0;
    for (size_t i = 0; i < COUNT_OF(shares); i++) {
        draw(values, FEW, 9000 + i);
        shares[i] = crowd_of(values, FEW, 0.01).spread / 100;
    }
    const struct crowd_prior prior =
        crowd_prior_of(shares, COUNT_OF(shares), FEW);
    for (uint64_t seed = 0; seed < TRIALS; seed++) {
        draw(values, COUNT_OF(values), 100 + seed);
        const struct crowd c = crowd_of(values, FEW, 0.01);
        const double limit = crowd_small_limit(&c, FEW, &prior, 0.01);
        nearer += limit < c.limit;
        beyond += fabs(values[FEW] - c.centre) > limit;
    }
    ck_assert_double_eq_tol(prior.share, 0.01, 0.003);
    ck_assert_uint_lt(beyond, TRIALS / 50); /* twice the 1 % */
    ck_assert_uint_gt(nearer, TRIALS / 2);
}
END_TEST

/* ---- fleets -------------------------------------------------------------- */

static const char base_text[] =
    "{\"schema\": \"sonde-report-2\", \"sonde\": {\"version\": \"0.1.0\"},"
    "\"run\": {\"start\": \"2026-11-23T20:00:00Z\", \"host\": \"h\"},"
    "\"device\": {\"name\": \"Test GPU\", \"spec\": \"cuda:0\"},"
    "\"findings\": {"
    "\"sm.count\": {\"value\": 132, \"status\": \"reported\"},"
    "\"l1.latency\": {\"value\": 32, \"unit\": \"cycles\","
    " \"status\": \"measured\", \"interval\": [31.9, 32.1]},"
    "\"l2.latency\": {\"value\": 280, \"unit\": \"cycles\","
    " \"status\": \"measured\", \"interval\": [279, 281]},"
    "\"l2.policy\": {\"value\": \"lru\", \"status\": \"measured\"},"
    "\"l2.set_bits\": {\"value\": [[7, 9], 8], \"status\": \"measured\"},"
    "\"l1.ways\": {\"status\": \"not_measured\", \"because\": \"no\"}}}";

enum { GPUS = 64 };

/* A folder with a fleet; every eighth GPU has a fault if there are any. */
static char *folder_of(uint64_t seed, bool faults)
{
    char *const folder = testing_folder();
    json_t *const base = json_loads(base_text, 0, NULL);
    fleet_made_base(base);
    for (size_t i = 0; i < GPUS; i++) {
        const size_t kind = i % 8 == 3 && faults ? 1 + i / 8 : 0;
        json_t *const report =
            fleet_made_report(base, seed, i, (enum fleet_fault)kind);
        char *const path = xasprintf("%s/%zu.json", folder, i);
        json_dump_file(report, path, 0);
        json_decref(report);
        free(path);
    }
    json_decref(base);
    return folder;
}

static struct sonde_fleet *fleet_of(const char *folder,
                                    const struct sonde_fleet_wish *wish)
{
    struct sonde_fleet *fleet;
    struct sonde_error err;
    const int code = sonde_fleet_read(&fleet, &folder, 1, wish, &err);
    ck_assert_msg(code == 0, "%s", err.text);
    return fleet;
}

static char *written(const struct sonde_fleet *fleet, const char *format)
{
    char *text;
    struct sonde_error err;
    ck_assert_int_eq(sonde_fleet_report(fleet, format, NULL, &text, &err), 0);
    return text;
}

static json_t *json_of(const struct sonde_fleet *fleet)
{
    char *const text = written(fleet, "json");
    json_t *const json = json_loads(text, 0, NULL);
    free(text);
    ck_assert_ptr_nonnull(json);
    return json;
}

static json_t *outs_of(const json_t *fleet)
{
    return json_object_get(json_array_get(json_object_get(fleet, "models"), 0),
                           "out");
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static const char *said(const json_t *object, const char *key)
{
    const char *const text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static bool is_out(const json_t *outs, const char *gpu, const char *finding)
{
    for (size_t i = 0; i < json_array_size(outs); i++) {
        const json_t *const out = json_array_get(outs, i);
        if (strcmp(said(out, "gpu"), gpu) == 0 &&
            begins(said(out, "finding"), finding))
            return true;
    }
    return false;
}

START_TEST(each_kind_of_fault_is_found)
{
    char *const folder = folder_of(5, true);
    struct sonde_fleet *const fleet = fleet_of(folder, NULL);
    json_t *const json = json_of(fleet);
    for (size_t kind = 1; kind < FLEET_FAULTS; kind++) {
        char *const uuid = fleet_made_uuid(5, 8 * (kind - 1) + 3);
        const enum fleet_fault fault = (enum fleet_fault)kind;
        ck_assert_msg(is_out(outs_of(json), uuid, fleet_fault_finding(fault)),
                      "%s is not found", fleet_fault_name(fault));
        free(uuid);
    }
    /* Structure comes first. */
    ck_assert(json_is_true(
        json_object_get(json_array_get(outs_of(json), 0), "structure")));
    ck_assert_uint_eq(json_array_size(outs_of(json)), FLEET_FAULTS - 1);
    ck_assert(sonde_fleet_differs(fleet));
    json_decref(json);
    sonde_fleet_close(fleet);
    free(folder);
}
END_TEST

/* One in ten fleets may have one. */
START_TEST(alarms_are_seldom_false)
{
    enum { FLEETS = 50 };
    size_t alarms = 0;
    for (uint64_t seed = 1; seed <= FLEETS; seed++) {
        char *const folder = folder_of(1000 + seed, false);
        struct sonde_fleet *const fleet = fleet_of(folder, NULL);
        ck_assert_uint_eq(sonde_fleet_gpus(fleet), GPUS);
        alarms += sonde_fleet_differs(fleet);
        sonde_fleet_close(fleet);
        free(folder);
    }
    ck_assert_uint_le(alarms, FLEETS / 10);
}
END_TEST

static void put_file(const char *folder, const char *name, const char *text)
{
    char *const path = xasprintf("%s/%s", folder, name);
    FILE *const file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
    free(path);
}

static long long state_of(const json_t *fleet, const char *state)
{
    return json_integer_value(
        json_object_get(json_object_get(fleet, "reports"), state));
}

START_TEST(bad_files_are_counted_and_named)
{
    char *const folder = folder_of(6, false);
    put_file(folder, "cut.json", "{\"schema\": \"sonde-report-2\", \"devi");
    put_file(folder, "broken.json",
             "{\"schema\": \"sonde-report-2\", \"device\": 7,"
             " \"findings\": {}}");
    put_file(folder, "empty.json", " \n");
    put_file(folder, "other.json", "{\"name\": \"package\", \"run\": 3}");
    put_file(folder, "newer.json",
             "{\"schema\": \"sonde-report-9\", \"device\": {}, "
             "\"findings\": {}}");
    put_file(folder, "notes.txt", "no report");
    put_file(folder, "again.json", base_text);
    put_file(folder, "again2.json", base_text);
    struct sonde_fleet *const fleet = fleet_of(folder, NULL);
    json_t *const json = json_of(fleet);
    ck_assert_int_eq(state_of(json, "cut"), 1);
    ck_assert_int_eq(state_of(json, "broken"), 1);
    ck_assert_int_eq(state_of(json, "empty"), 1);
    ck_assert_int_eq(state_of(json, "foreign"), 2);
    ck_assert_int_eq(state_of(json, "newer"), 1);
    ck_assert_int_eq(state_of(json, "duplicate"), 1);
    ck_assert_int_eq(state_of(json, "gpus"), GPUS + 1);
    char *const text = written(fleet, "txt");
    ck_assert_ptr_nonnull(strstr(text, "broken.json: broken: line 1: key"));
    free(text);
    ck_assert_uint_eq(sonde_fleet_refused(fleet), 3);
    json_decref(json);
    sonde_fleet_close(fleet);
    free(folder);
}
END_TEST

/* Whatever a report ends with, it is cut and not half believed. */
START_TEST(a_report_that_is_cut_is_no_report)
{
    struct fleet_names names;
    fleet_names_init(&names);
    for (size_t length = 1; length < sizeof base_text - 1; length++) {
        struct memory memory = {.names = &names};
        struct gathered g = {0};
        char *const cut = xstrndup(base_text, length);
        gather(&g, &memory, cut, "cut.json");
        ck_assert_uint_eq(g.count, 0);
        ck_assert_uint_eq(g.note_count, 1);
        ck_assert_msg(g.notes[0].state == FLEET_CUT, "of %s", cut);
        free(g.notes[0].path);
        free(g.notes);
        free(cut);
        memory_free(&memory);
    }
    fleet_names_free(&names);
}
END_TEST

START_TEST(what_has_changed_is_told)
{
    char *const before = folder_of(7, false), *const now = folder_of(7, true);
    const struct sonde_fleet_wish wish = {.since = before};
    struct sonde_fleet *const fleet = fleet_of(now, &wish);
    json_t *const json = json_of(fleet);
    const json_t *const changed =
        json_object_get(json_object_get(json, "since"), "changed");
    for (size_t kind = 1; kind < FLEET_FAULTS; kind++) {
        char *const uuid = fleet_made_uuid(7, 8 * (kind - 1) + 3);
        ck_assert(
            is_out(changed, uuid, fleet_fault_finding((enum fleet_fault)kind)));
        free(uuid);
    }
    ck_assert_uint_eq(json_array_size(changed), FLEET_FAULTS - 1);
    json_decref(json);
    sonde_fleet_close(fleet);
    free(before);
    free(now);
}
END_TEST

START_TEST(hosts_without_a_report_are_missing)
{
    char *const folder = folder_of(8, false);
    char *const list =
        testing_file("hosts", "# all\nr00-n00\nr00-n07.example.org\nr09-n01\n");
    const struct sonde_fleet_wish wish = {.expect = list};
    struct sonde_fleet *const fleet = fleet_of(folder, &wish);
    json_t *const json = json_of(fleet);
    const json_t *const missing = json_object_get(json, "missing");
    ck_assert_uint_eq(json_array_size(missing), 1);
    ck_assert_str_eq(json_string_value(json_array_get(missing, 0)), "r09-n01");
    ck_assert(sonde_fleet_differs(fleet));
    json_decref(json);
    sonde_fleet_close(fleet);
    free(folder);
    free(list);
}
END_TEST

START_TEST(page_and_metrics_are_well_formed)
{
    char *const folder = folder_of(9, true);
    struct sonde_fleet *const fleet = fleet_of(folder, NULL);
    char *const page = written(fleet, "html");
    char *const wrong = markup_wrong(page);
    ck_assert_msg(wrong == NULL, "%s", wrong);
    ck_assert_ptr_nonnull(strstr(page, "<svg"));
    char *const metrics = written(fleet, "prom");
    ck_assert_ptr_nonnull(strstr(metrics, "sonde_fleet_gpus{"));
    ck_assert_str_eq(metrics + strlen(metrics) - 6, "# EOF\n");
    free(page);
    free(metrics);
    sonde_fleet_close(fleet);
    free(folder);
}
END_TEST

Suite *suite_fleet(void)
{
    TCase *tests;
    Suite *const suite = suite_of("fleet", 60, &tests);
    tcase_add_test(tests, a_limit_is_beyond_chance);
    tcase_add_test(tests, a_fifth_of_others_changes_little);
    tcase_add_test(tests, few_values_say_little);
    tcase_add_test(tests, spreads_of_all_help_few_values);
    tcase_add_test(tests, each_kind_of_fault_is_found);
    tcase_add_test(tests, alarms_are_seldom_false);
    tcase_add_test(tests, bad_files_are_counted_and_named);
    tcase_add_test(tests, a_report_that_is_cut_is_no_report);
    tcase_add_test(tests, what_has_changed_is_told);
    tcase_add_test(tests, hosts_without_a_report_are_missing);
    tcase_add_test(tests, page_and_metrics_are_well_formed);
    return suite;
}
