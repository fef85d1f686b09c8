/* The library as its users call it: what may be NULL, and what a stop ends. */
#include "sonde.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "testing.h"

static const char *const clock_study[] = {"clock"};
static const char missed[] = "clock.overhead";

static struct sonde *session_on(const char *device)
{
    const struct sonde_options options = {.device = device};
    struct sonde_error err;
    struct sonde *s;
    ASSERT_DONE(sonde_open(&s, &options, &err), err);
    return s;
}

/* ---- NULL ------------------------------------------------------------- */

enum { USAGE = 2 };

/* A usage error with and without a place for its sentence. */
#define ASSERT_LACKS(function, ...)                                            \
    do {                                                                       \
        struct sonde_error err = {0};                                          \
        ck_assert_int_eq(sonde_exit_status(function(__VA_ARGS__, &err)),       \
                         USAGE);                                               \
        ck_assert_msg(strstr(err.text, #function) != NULL,                     \
                      "\"%s\" does not name " #function, err.text);            \
        ck_assert_int_eq(function(__VA_ARGS__, NULL), err.code);               \
    } while (0)

START_TEST(without_a_session_there_is_nothing_to_measure)
{
    ASSERT_LACKS(sonde_open, NULL, NULL);
    ASSERT_LACKS(sonde_run, NULL, NULL, 0);
    ASSERT_LACKS(sonde_foretell, NULL, 1);
    ASSERT_LACKS(sonde_isa, NULL, NULL);
    ASSERT_LACKS(sonde_bench, NULL, NULL);
    ASSERT_LACKS(sonde_isa_explain, NULL, NULL, 0, NULL);
    ASSERT_LACKS(sonde_require, NULL, NULL, 0);
    ASSERT_LACKS(sonde_report, NULL, NULL, NULL, NULL);
    ASSERT_LACKS(sonde_probe, NULL, NULL, NULL, 0, NULL);
    ASSERT_LACKS(sonde_ptx, NULL, NULL, NULL, 0, NULL);
    ASSERT_LACKS(sonde_validate, NULL, NULL);
    ck_assert_int_eq(sonde_close(NULL, NULL), 0);
}
END_TEST

START_TEST(without_a_session_nothing_is_known)
{
    double number = 1;
    struct sonde_finding f;
    ck_assert_str_eq(sonde_device_uuid(NULL), "");
    ck_assert(!sonde_find(NULL, missed, &f));
    ck_assert_uint_eq(sonde_each(NULL, NULL, NULL), 0);
    ck_assert_str_eq(sonde_device_spec(NULL), "");
    ck_assert_str_eq(sonde_device_name(NULL), "");
    ck_assert_str_eq(sonde_device_why(NULL), "");
    ck_assert(!sonde_device_simulated(NULL));
    ck_assert(!sonde_number(NULL, missed, &number));
    ck_assert(!sonde_interval(NULL, missed, &number, &number));
    ck_assert_uint_eq(sonde_found(NULL), 0);
    ck_assert_ptr_null(sonde_status(NULL, missed));
    ck_assert_ptr_null(sonde_because(NULL, missed));
}
END_TEST

START_TEST(functions_without_a_session_refuse_null)
{
    ASSERT_LACKS(sonde_report_file, NULL, NULL, NULL, NULL);
    ASSERT_LACKS(sonde_list, SONDE_STUDIES, NULL, NULL);
    ASSERT_LACKS(sonde_devices, NULL, NULL, NULL);
    ASSERT_LACKS(sonde_explain, NULL, NULL);
    ASSERT_LACKS(sonde_writable, NULL);
    ASSERT_LACKS(sonde_write, NULL, NULL);
    ASSERT_LACKS(sonde_read, NULL, NULL);
    ASSERT_LACKS(sonde_read_all, NULL, NULL, NULL);
    ck_assert_ptr_null(sonde_format_of(NULL));
    char *const plain = sonde_plain(NULL);
    ck_assert_str_eq(plain, "");
    free(plain);
    ck_assert_ptr_null(sonde_nearest(NULL, NULL));
    ck_assert_ptr_null(sonde_nearest("clock", NULL));
}
END_TEST

/* Of several sessions, each of the list is one. */
START_TEST(functions_of_several_sessions_refuse_null)
{
    struct sonde *const s = session_on("sim:quick");
    struct sonde *hole[] = {s, NULL};
    size_t two = 2;
    char *text = NULL;
    ASSERT_LACKS(sonde_report_all, NULL, 1, "csv", NULL, &text);
    ASSERT_LACKS(sonde_report_all, hole, 2, "csv", NULL, &text);
    ASSERT_LACKS(sonde_compare, NULL, 2, NULL, NULL, &text);
    ASSERT_LACKS(sonde_compare, hole, 2, NULL, NULL, &text);
    ASSERT_LACKS(sonde_merge, NULL, &two, false);
    ASSERT_LACKS(sonde_merge, hole, &two, false);
    ASSERT_LACKS(sonde_merge, hole, NULL, false);
    ck_assert_int_eq(sonde_close(s, NULL), 0);
}
END_TEST

START_TEST(without_a_fleet_nothing_is_known)
{
    static const char *const hole[] = {NULL};
    struct sonde_fleet *fleet = NULL;
    char *text = NULL;
    ASSERT_LACKS(sonde_fleet_read, NULL, NULL, 1, NULL);
    ASSERT_LACKS(sonde_fleet_read, &fleet, hole, 1, NULL);
    ASSERT_LACKS(sonde_fleet_report, NULL, "txt", NULL, &text);
    ck_assert(!sonde_fleet_differs(NULL));
    ck_assert_uint_eq(sonde_fleet_gpus(NULL), 0);
    ck_assert_uint_eq(sonde_fleet_refused(NULL), 0);
    sonde_fleet_close(NULL);
}
END_TEST

START_TEST(a_session_refuses_null_for_what_it_needs)
{
    struct sonde *const s = session_on("sim:k20c");
    static const char *const hole[] = {"clock", NULL};
    const struct sonde_isa isa = {.patterns = hole, .pattern_count = 2};
    const struct sonde_bench bench = {0};
    ASSERT_LACKS(sonde_run, s, NULL, 1);
    ASSERT_LACKS(sonde_run, s, hole, 2);
    ASSERT_LACKS(sonde_isa, s, &isa);
    ASSERT_LACKS(sonde_bench, s, NULL);
    ASSERT_LACKS(sonde_bench, s, &bench);
    ASSERT_LACKS(sonde_isa_explain, s, NULL, 0, NULL);
    ASSERT_LACKS(sonde_require, s, hole, 2);
    ASSERT_LACKS(sonde_report, s, NULL, NULL, NULL);
    ASSERT_LACKS(sonde_probe, s, NULL, NULL, 0, NULL);
    ASSERT_LACKS(sonde_ptx, s, "chase", NULL, 0, NULL);
    ck_assert_int_eq(sonde_close(s, NULL), 0);
}
END_TEST

/* Options, error, parameters and style are each NULL. */
START_TEST(null_stands_for_what_is_usual)
{
    struct sonde *s = NULL;
    char *text = NULL;
    ck_assert_int_eq(sonde_open(&s, NULL, NULL), 0);
    ck_assert_int_ge(sonde_run(s, clock_study, 1, NULL), 0);
    ck_assert(sonde_number(s, missed, NULL));
    ck_assert(!sonde_number(s, NULL, NULL));
    ck_assert(!sonde_interval(s, NULL, NULL, NULL));
    ck_assert_ptr_null(sonde_status(s, NULL));
    ck_assert_int_eq(sonde_report(s, "txt", NULL, &text, NULL), 0);
    ck_assert_ptr_nonnull(strstr(text, missed));
    free(text);
    ck_assert_int_eq(sonde_ptx(s, "chase", NULL, 0, &text, NULL), 0);
    free(text);
    ck_assert_int_eq(sonde_close(s, NULL), 0);
}
END_TEST

START_TEST(what_fails_needs_no_place_for_its_sentence)
{
    const struct sonde_options options = {.device = "sim:none such"};
    struct sonde *s = NULL;
    ck_assert_int_lt(sonde_open(&s, &options, NULL), 0);
    ck_assert_ptr_null(s);
    ck_assert_int_lt(sonde_explain("none such", &(char *){NULL}, NULL), 0);
    sonde_log(NULL);
}
END_TEST

/* ---- what came of it -------------------------------------------------- */

/* This GPU has no read-only cache, which is no failure of what was asked. */
START_TEST(a_run_to_its_end_is_0_whatever_is_missing)
{
    static const char *const sector[] = {"sector"};
    static const char *const there[] = {"l1.sector", "l2.*"};
    static const char *const missing[] = {"l1.sector", "readonly.sector"};
    static const char *const strange[] = {"l1.sector", "l9.*"};
    struct sonde *const s = session_on("sim:gtx560ti");
    struct sonde_error err;
    ck_assert_uint_eq(sonde_found(s), 0);
    ck_assert_int_eq(sonde_run(s, sector, 1, &err), 0);
    ck_assert_uint_gt(sonde_found(s), 0);
    ck_assert_int_eq(sonde_require(s, there, 2, &err), 0);
    double bytes, low, high;
    ck_assert(sonde_number(s, "l2.sector", &bytes));
    ck_assert(sonde_interval(s, "l2.sector", &low, &high));
    ck_assert(low <= bytes && bytes <= high);
    ck_assert(!sonde_interval(s, "readonly.sector", &low, &high));
    ASSERT_FAILS(sonde_require(s, missing, 2, &err), 1, err, "readonly.sector");
    ASSERT_FAILS(sonde_require(s, strange, 2, &err), 1, err, "l9.*");
    ASSERT_FAILS(sonde_require(s, NULL, 0, &err), 1, err, "readonly.");
    ck_assert_int_eq(sonde_exit_status(sonde_require(s, missing, 2, NULL)), 1);
    sonde_close(s, NULL);
}
END_TEST

START_TEST(a_run_out_of_time_is_1)
{
    const struct sonde_options options = {.device = "sim:k20c",
                                          .budget_s = 1e-9};
    struct sonde *s;
    ck_assert_int_eq(sonde_open(&s, &options, NULL), 0);
    ck_assert_int_eq(sonde_run(s, clock_study, 1, NULL), 1);
    ck_assert_str_eq(sonde_because(s, missed), "the time budget was used up");
    sonde_close(s, NULL);
}
END_TEST

/* ---- stopping --------------------------------------------------------- */

static int run_clock(struct sonde *s)
{
    struct sonde_error err;
    const int code = sonde_run(s, clock_study, 1, &err);
    ck_assert_msg(code >= 0, "%s", err.text);
    return code;
}

/* Expected: a stop ends the sessions that are open.  Buggy result: it ended
 * all that were opened after it, too. */
START_TEST(a_stop_ends_with_its_session)
{
    struct sonde *const stopped = session_on("sim:k20c");
    sonde_stop(NULL);
    ck_assert_int_eq(run_clock(stopped), 1);
    ck_assert_str_eq(sonde_status(stopped, missed), "not_measured");
    struct sonde *const later = session_on("sim:k20c");
    ck_assert_int_eq(run_clock(later), 0);
    ck_assert_str_eq(sonde_status(later, missed), "measured");
    ck_assert_int_eq(run_clock(stopped), 1);
    sonde_close(stopped, NULL);
    ck_assert_int_eq(run_clock(later), 0);
    sonde_close(later, NULL);
}
END_TEST

/* The same of one session, from outside and from its own progress. */
START_TEST(a_stop_is_of_one_session)
{
    struct sonde *const stopped = session_on("sim:k20c");
    struct sonde *const other = session_on("sim:k20c");
    sonde_stop(stopped);
    ck_assert_int_eq(run_clock(stopped), 1);
    ck_assert_int_eq(run_clock(other), 0);
    sonde_close(stopped, NULL);
    struct sonde *const later = session_on("sim:k20c");
    ck_assert_int_eq(run_clock(later), 0);
    sonde_close(other, NULL);
    sonde_close(later, NULL);
}
END_TEST

static int cancel(void *context, const struct sonde_progress *progress)
{
    unsigned *const calls = context;
    ck_assert_ptr_nonnull(progress->study);
    return ++*calls >= 2;
}

START_TEST(progress_may_cancel)
{
    unsigned calls = 0;
    const struct sonde_options options = {
        .device = "sim:k20c", .progress = cancel, .context = &calls};
    static const char *const studies[] = {"line"};
    struct sonde *s;
    ck_assert_int_eq(sonde_open(&s, &options, NULL), 0);
    ck_assert_int_eq(sonde_run(s, studies, 1, NULL), 1);
    ck_assert_uint_ge(calls, 2);
    ck_assert_str_eq(sonde_status(s, "l1.line"), "not_measured");
    sonde_close(s, NULL);
}
END_TEST

static void *measure_alone(void *ignored)
{
    struct sonde *const s = session_on("sim:k20c");
    (void)ignored;
    const int code = run_clock(s);
    const bool found = sonde_number(s, missed, NULL);
    sonde_close(s, NULL);
    return code == 0 && found ? s : NULL;
}

START_TEST(sessions_measure_side_by_side)
{
    pthread_t threads[4];
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, measure_alone, NULL),
                         0);
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        void *done = NULL;
        ck_assert_int_eq(pthread_join(threads[i], &done), 0);
        ck_assert_ptr_nonnull(done);
    }
}
END_TEST

/* ---- findings --------------------------------------------------------- */

static struct sonde *report_session(const char *findings)
{
    char *const json =
        xasprintf("{\"schema\": \"sonde-report-1\", \"sonde\": {}, \"device\": "
                  "{\"name\": \"GPU\"}, \"findings\": {%s}}",
                  findings);
    char *const path = testing_file("report.json", json);
    struct sonde_error err;
    struct sonde *s;
    ASSERT_DONE(sonde_read(&s, path, &err), err);
    free(path);
    free(json);
    return s;
}

START_TEST(a_finding_has_its_value_and_how_far_it_holds)
{
    struct sonde *const s = report_session(
        "\"l1.size\": {\"value\": 16384, \"unit\": \"B\", \"status\": "
        "\"measured\", \"interval\": [16000, 17000], \"confidence\": 0.9, "
        "\"study\": \"size\"}, \"l2.size\": {\"status\": "
        "\"not_measured\", \"because\": \"no time\"}");
    struct sonde_finding f;
    ck_assert(sonde_find(s, "l1.size", &f));
    ck_assert_str_eq(f.id, "l1.size");
    ck_assert_str_eq(f.unit, "B");
    ck_assert_str_eq(f.status, "measured");
    ck_assert_str_eq(f.text, "16 KiB");
    ck_assert_str_eq(f.study, "size");
    ck_assert_double_eq(f.number, 16384);
    ck_assert_double_eq(f.low, 16000);
    ck_assert_double_eq(f.high, 17000);
    ck_assert_double_eq(f.confidence, 0.9);
    ck_assert_ptr_null(f.because);
    ck_assert_ptr_null(f.list);
    ck_assert(sonde_find(s, "l2.size", &f));
    ck_assert_str_eq(f.because, "no time");
    ck_assert_str_eq(f.text, "");
    ck_assert_double_nan(f.number);
    ck_assert_double_nan(f.low);
    ck_assert_double_nan(f.confidence);
    ck_assert(sonde_find(s, "l2.size", NULL));
    ck_assert(!sonde_find(s, "l3.size", &f));
    sonde_close(s, NULL);
}
END_TEST

START_TEST(a_list_has_an_axis)
{
    struct sonde *const s = report_session(
        "\"l2.read_bandwidth_by_width\": {\"value\": [1.5, null], \"unit\": "
        "\"B/s\", \"status\": \"measured\", \"protocol\": {\"widths\": "
        "[4, 8]}}, \"shared.conflict_latency\": {\"value\": [23, 25], "
        "\"status\": \"measured\"}, \"l1.shares_with\": {\"value\": "
        "[\"texture\", \"local\"], \"status\": \"measured\"}");
    struct sonde_finding f;
    ck_assert(sonde_find(s, "l2.read_bandwidth_by_width", &f));
    ck_assert_uint_eq(f.count, 2);
    ck_assert_double_eq(f.list[0], 1.5);
    ck_assert_double_nan(f.list[1]);
    ck_assert_str_eq(f.axis_name, "width");
    ck_assert_str_eq(f.axis_unit, "B");
    ck_assert_double_eq(f.axis[1], 8);
    ck_assert(sonde_find(s, "shared.conflict_latency", &f));
    ck_assert_str_eq(f.axis_name, "degree");
    ck_assert_double_eq(f.axis[0], 1);
    ck_assert(sonde_find(s, "l1.shares_with", &f));
    ck_assert_ptr_null(f.list);
    ck_assert_str_eq(f.text, "texture, local");
    sonde_close(s, NULL);
}
END_TEST

static int count_to(void *context, const struct sonde_finding *f)
{
    size_t *const left = context;
    ck_assert_ptr_nonnull(f->id);
    return --*left == 0;
}

START_TEST(each_goes_on_until_it_is_enough)
{
    struct sonde *const s = session_on("sim:k20c");
    size_t one = 1, many = 1000;
    run_clock(s);
    ck_assert_uint_eq(sonde_each(s, count_to, &one), 1);
    const size_t all = sonde_each(s, count_to, &many);
    ck_assert_uint_gt(all, 1);
    ck_assert_uint_eq(many, 1000 - all);
    ck_assert_uint_eq(sonde_each(NULL, count_to, &one), 0);
    ck_assert_uint_eq(sonde_each(s, NULL, NULL), 0);
    sonde_close(s, NULL);
}
END_TEST

START_TEST(a_report_measures_nothing)
{
    struct sonde *const s = report_session("");
    struct sonde_error err;
    char *text;
    ck_assert_str_eq(sonde_device_name(s), "GPU");
    ck_assert_str_eq(sonde_device_spec(s), "");
    ck_assert_str_eq(sonde_device_why(s), "");
    ck_assert(!sonde_device_simulated(s));
    ASSERT_FAILS(sonde_run(s, clock_study, 1, &err), ERR_USAGE, err, "report");
    ASSERT_FAILS(sonde_isa(s, NULL, &err), ERR_USAGE, err, "report");
    ASSERT_FAILS(sonde_probe(s, "chase", NULL, 0, &text, &err), ERR_USAGE, err,
                 "report");
    ASSERT_FAILS(sonde_ptx(s, "chase", NULL, 0, &text, &err), ERR_USAGE, err,
                 "report");
    ASSERT_FAILS(sonde_isa_explain(s, "add.u32", 0, &text, &err), ERR_USAGE,
                 err, "report");
    ck_assert_int_eq(sonde_close(s, &err), 0);
}
END_TEST

START_TEST(a_stop_while_nothing_is_open_stops_nothing)
{
    sonde_stop(NULL);
    struct sonde *const s = session_on("sim:k20c");
    ck_assert_int_eq(run_clock(s), 0);
    sonde_close(s, NULL);
}
END_TEST

/* Expected: a replay of a run that was stopped says that it was.  Buggy result:
 * that the recording lacks an experiment, as if it were of another version. */
START_TEST(a_stop_is_recorded)
{
    static const char *const cached[] = {"cached"};
    static const char lost[] = "l1.caches_global";
    char *const path = testing_file("recording", ""), *const spec = xasprintf(
                                                          "replay:%s", path);
    const struct sonde_options options = {.device = "sim:k20c", .record = path};
    struct sonde *s;
    ck_assert_int_eq(sonde_open(&s, &options, NULL), 0);
    ck_assert_int_eq(run_clock(s), 0);
    sonde_stop(NULL);
    ck_assert_int_eq(sonde_run(s, cached, 1, NULL), 1);
    char *const why = xstrdup(sonde_because(s, lost));
    ck_assert_int_eq(sonde_close(s, NULL), 0);
    s = session_on(spec);
    ck_assert_int_eq(run_clock(s), 0);
    ck_assert_int_eq(sonde_run(s, cached, 1, NULL), 1);
    ck_assert_str_eq(sonde_because(s, lost), why);
    sonde_close(s, NULL);
    free(why);
    free(spec);
    free(path);
}
END_TEST

Suite *suite_library(void)
{
    TCase *tests;
    Suite *const suite = suite_of("library", 20, &tests);
    tcase_add_test(tests, without_a_session_there_is_nothing_to_measure);
    tcase_add_test(tests, without_a_session_nothing_is_known);
    tcase_add_test(tests, functions_without_a_session_refuse_null);
    tcase_add_test(tests, functions_of_several_sessions_refuse_null);
    tcase_add_test(tests, without_a_fleet_nothing_is_known);
    tcase_add_test(tests, a_session_refuses_null_for_what_it_needs);
    tcase_add_test(tests, null_stands_for_what_is_usual);
    tcase_add_test(tests, what_fails_needs_no_place_for_its_sentence);
    tcase_add_test(tests, a_run_to_its_end_is_0_whatever_is_missing);
    tcase_add_test(tests, a_run_out_of_time_is_1);
    tcase_add_test(tests, a_stop_ends_with_its_session);
    tcase_add_test(tests, a_stop_is_of_one_session);
    tcase_add_test(tests, progress_may_cancel);
    tcase_add_test(tests, sessions_measure_side_by_side);
    tcase_add_test(tests, a_finding_has_its_value_and_how_far_it_holds);
    tcase_add_test(tests, a_list_has_an_axis);
    tcase_add_test(tests, each_goes_on_until_it_is_enough);
    tcase_add_test(tests, a_report_measures_nothing);
    tcase_add_test(tests, a_stop_while_nothing_is_open_stops_nothing);
    tcase_add_test(tests, a_stop_is_recorded);
    return suite;
}
