/* The library as its users call it: what may be NULL, and what a stop ends. */
#include "sonde.h"

#include <stdlib.h>
#include <string.h>

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
    ASSERT_LACKS(sonde_isa, NULL, NULL);
    ASSERT_LACKS(sonde_bench, NULL, NULL);
    ASSERT_LACKS(sonde_isa_explain, NULL, NULL, 0, NULL);
    ASSERT_LACKS(sonde_require, NULL, NULL, 0);
    ASSERT_LACKS(sonde_report, NULL, NULL, NULL, NULL);
    ASSERT_LACKS(sonde_probe, NULL, NULL, NULL, 0, NULL);
    ASSERT_LACKS(sonde_ptx, NULL, NULL, NULL, 0, NULL);
    ck_assert_int_eq(sonde_close(NULL, NULL), 0);
}
END_TEST

START_TEST(without_a_session_nothing_is_known)
{
    double number = 1;
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
    ASSERT_LACKS(sonde_explain, NULL, NULL);
    ASSERT_LACKS(sonde_writable, NULL);
    ASSERT_LACKS(sonde_write, NULL, NULL);
    ck_assert_ptr_null(sonde_nearest(NULL, NULL));
    ck_assert_ptr_null(sonde_nearest("clock", NULL));
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
    ck_assert_int_eq(sonde_report(s, "text", NULL, &text, NULL), 0);
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
    static const char *const line[] = {"line"};
    static const char *const there[] = {"l1.line", "l2.*"};
    static const char *const missing[] = {"l1.line", "readonly.line"};
    static const char *const strange[] = {"l1.line", "l9.*"};
    struct sonde *const s = session_on("sim:gtx560ti");
    struct sonde_error err;
    ck_assert_uint_eq(sonde_found(s), 0);
    ck_assert_int_eq(sonde_run(s, line, 1, &err), 0);
    ck_assert_uint_gt(sonde_found(s), 0);
    ck_assert_int_eq(sonde_require(s, there, 2, &err), 0);
    double bytes, low, high;
    ck_assert(sonde_number(s, "l2.line", &bytes));
    ck_assert(sonde_interval(s, "l2.line", &low, &high));
    ck_assert(low <= bytes && bytes <= high);
    ck_assert(!sonde_interval(s, "readonly.line", &low, &high));
    ASSERT_FAILS(sonde_require(s, missing, 2, &err), 1, err, "readonly.line");
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
    sonde_stop();
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

START_TEST(a_stop_while_nothing_is_open_stops_nothing)
{
    sonde_stop();
    struct sonde *const s = session_on("sim:k20c");
    ck_assert_int_eq(run_clock(s), 0);
    sonde_close(s, NULL);
}
END_TEST

Suite *suite_library(void)
{
    TCase *tests;
    Suite *const suite = suite_of("library", 20, &tests);
    tcase_add_test(tests, without_a_session_there_is_nothing_to_measure);
    tcase_add_test(tests, without_a_session_nothing_is_known);
    tcase_add_test(tests, functions_without_a_session_refuse_null);
    tcase_add_test(tests, a_session_refuses_null_for_what_it_needs);
    tcase_add_test(tests, null_stands_for_what_is_usual);
    tcase_add_test(tests, what_fails_needs_no_place_for_its_sentence);
    tcase_add_test(tests, a_run_to_its_end_is_0_whatever_is_missing);
    tcase_add_test(tests, a_run_out_of_time_is_1);
    tcase_add_test(tests, a_stop_ends_with_its_session);
    tcase_add_test(tests, a_stop_while_nothing_is_open_stops_nothing);
    return suite;
}
