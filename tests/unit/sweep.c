/* Lists of what was measured while one thing changed; no GPU is asked. */
#include "study/load/sweep.h"

#include <math.h>

#include "testing.h"

static const char *const caches[] = {"near", NULL};
static const struct answer answers[] = {{caches, "rates", "B/clk"}, {0}};
static const struct study asking = {
    .name = "asking", .method = "by asking", .answers = answers};

struct desk {
    struct results results;
    struct lab lab;
    struct sweep sweep;
};

static void open_desk(struct desk *desk)
{
    *desk = (struct desk){.lab.study = &asking};
    desk->lab.results = &desk->results;
    desk->sweep = sweep_begin(&desk->lab, "near", "rates", "widths");
}

static void close_desk(struct desk *desk)
{
    struct error err;
    lab_end(&desk->lab, &err);
    results_free(&desk->results);
}

/* What its protocol lists under the name, which has so many. */
static const struct value *listed(const struct desk *desk, const char *name,
                                  size_t count)
{
    const struct value *const list = finding_said(desk->sweep.finding, name);
    ck_assert_msg(list != NULL, "%s is not said", name);
    ck_assert_uint_eq(list->count, count);
    return list;
}

static void assert_unsaid(const struct desk *desk, const char *name)
{
    ck_assert_ptr_null(finding_said(desk->sweep.finding, name));
}

START_TEST(one_value_lies_somewhere_too)
{
    struct desk desk;
    open_desk(&desk);
    sweep_add_within(&desk.sweep, value_number(8), 31, 30, 33, "first");
    ck_assert(sweep_end(&desk.sweep));
    ck_assert_int_eq(desk.sweep.finding->status, STATUS_MEASURED);
    ck_assert_double_eq(desk.sweep.finding->value.items[0].number, 31);
    ck_assert_double_eq(listed(&desk, "widths", 1)->items[0].number, 8);
    ck_assert_double_eq(listed(&desk, "low", 1)->items[0].number, 30);
    ck_assert_double_eq(listed(&desk, "high", 1)->items[0].number, 33);
    close_desk(&desk);
}
END_TEST

START_TEST(bounds_are_said_of_all_or_of_none)
{
    static const double bounds[][2] = {
        {-INFINITY, 9}, {1, INFINITY}, {-INFINITY, INFINITY}};
    struct desk desk;
    open_desk(&desk);
    sweep_add_within(&desk.sweep, value_number(4), 5, bounds[_i][0],
                     bounds[_i][1], "first");
    sweep_add_within(&desk.sweep, value_number(8), 6, 5, 7, "second");
    ck_assert(sweep_end(&desk.sweep));
    listed(&desk, "widths", 2);
    assert_unsaid(&desk, "low");
    assert_unsaid(&desk, "high");
    close_desk(&desk);
}
END_TEST

START_TEST(a_sweep_of_nothing_has_no_bounds)
{
    struct desk desk;
    open_desk(&desk);
    ck_assert(sweep_end(&desk.sweep));
    listed(&desk, "widths", 0);
    assert_unsaid(&desk, "low");
    close_desk(&desk);
}
END_TEST

START_TEST(after_an_error_the_sweep_has_its_reason_alone)
{
    struct desk desk;
    open_desk(&desk);
    sweep_add_within(&desk.sweep, value_number(4), 5, 4, 6, "first");
    lab_fail(&desk.lab, ERR_UNSUPPORTED, "no more");
    sweep_add(&desk.sweep, value_number(8), 6, "second");
    ck_assert_uint_eq(desk.sweep.values.count, 1);
    ck_assert(!sweep_end(&desk.sweep));
    ck_assert_int_eq(desk.sweep.finding->status, STATUS_NOT_MEASURED);
    ck_assert_str_eq(desk.sweep.finding->because, "no more");
    assert_unsaid(&desk, "widths");
    assert_unsaid(&desk, "low");
    close_desk(&desk);
}
END_TEST

START_TEST(a_fault_is_left_to_the_planner)
{
    struct desk desk;
    open_desk(&desk);
    lab_fail(&desk.lab, ERR_DEVICE, "gone");
    ck_assert(!sweep_end(&desk.sweep));
    ck_assert_ptr_null(desk.sweep.finding->because);
    ck_assert_int_eq(desk.lab.err.code, ERR_DEVICE);
    close_desk(&desk);
}
END_TEST

Suite *suite_sweep(void)
{
    TCase *t;
    Suite *const suite = suite_of("sweep", 10, &t);
    tcase_add_test(t, one_value_lies_somewhere_too);
    tcase_add_loop_test(t, bounds_are_said_of_all_or_of_none, 0, 3);
    tcase_add_test(t, a_sweep_of_nothing_has_no_bounds);
    tcase_add_test(t, after_an_error_the_sweep_has_its_reason_alone);
    tcase_add_test(t, a_fault_is_left_to_the_planner);
    return suite;
}
