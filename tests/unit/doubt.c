/* Findings that lose their status. */
#include "finding/doubt.h"

#include <math.h>

#include "testing.h"

static struct finding *with(struct results *r, double number, const char *unit)
{
    struct finding *const f = results_add(r, "l2.latency", "latency");
    finding_set(f, STATUS_MEASURED, value_number(number), unit);
    finding_interval(f, number - 1, number + 1, 0.99);
    finding_evidence(f, "chase op=cg");
    return f;
}

START_TEST(evidence_that_is_in_doubt_is_found)
{
    struct results r = {0};
    struct doubts d = {0};
    const struct finding *const f = with(&r, 283, "cycles");
    doubts_add(&d, "chase", "another chase", 0);
    ck_assert_ptr_null(doubts_of(&d, f));
    doubts_add(&d, "chase op=cg", "somebody ran", 0);
    ck_assert_str_eq(doubts_of(&d, f), "somebody ran");
    doubts_free(&d);
    results_free(&r);
}
END_TEST

START_TEST(what_is_in_doubt_keeps_its_value)
{
    struct results r = {0};
    struct finding *const f = with(&r, 283, "cycles");
    double number;
    finding_doubt(f, "it was throttled");
    ck_assert_int_eq(f->status, STATUS_IN_DOUBT);
    ck_assert_str_eq(f->because, "it was throttled");
    ck_assert_double_eq(f->value.number, 283);
    ck_assert(f->fallen && !finding_number(f, &number));
    finding_doubt(f, "its clock moved");
    ck_assert_str_eq(f->because, "it was throttled");
    results_free(&r);
}
END_TEST

START_TEST(a_time_in_doubt_may_be_any_less)
{
    struct results r = {0};
    struct finding *const f = with(&r, 1054, "cycles");
    finding_doubt(f, "somebody ran");
    ck_assert_double_eq(f->interval[0], 0);
    ck_assert_double_eq(f->interval[1], 1055);
    results_free(&r);
}
END_TEST

START_TEST(a_bound_in_doubt_is_none)
{
    struct results r = {0};
    struct finding *const f = results_add(&r, "icache_l1.size", "icache");
    finding_set(f, STATUS_AT_LEAST, value_number(25760), "B");
    finding_because(f, "laps get dearer in more than one step");
    finding_doubt(f, "somebody ran");
    ck_assert_int_eq(f->status, STATUS_NOT_MEASURED);
    ck_assert_str_eq(f->because, "somebody ran");
    results_free(&r);
}
END_TEST

START_TEST(what_is_void_has_none)
{
    struct results r = {0};
    struct finding *const f = with(&r, 1054, "cycles");
    finding_void(f, "somebody ran");
    ck_assert_int_eq(f->status, STATUS_NOT_MEASURED);
    ck_assert_int_eq(f->value.kind, VALUE_NONE);
    ck_assert_str_eq(f->because, "somebody ran");
    ck_assert(!f->has_interval && f->fallen);
    results_free(&r);
}
END_TEST

/* Of a time it is known that it is less; of what is more than another, and of
 * sets, nothing is. */
START_TEST(only_numbers_of_time_survive_an_unclear_eye)
{
    struct results r = {0};
    struct finding *const time = with(&r, 1054, "cycles");
    finding_blur(time, "somebody ran");
    ck_assert_int_eq(time->status, STATUS_IN_DOUBT);
    struct finding *const penalty =
        results_add(&r, "tlb_l2.miss_penalty", "tlb");
    finding_set(penalty, STATUS_MEASURED, value_number(32), "cycles");
    finding_blur(penalty, "somebody ran");
    ck_assert_int_eq(penalty->status, STATUS_NOT_MEASURED);
    struct finding *const sets = results_add(&r, "l2.sets", "structure");
    finding_set(sets, STATUS_MEASURED, value_number(704), "");
    finding_blur(sets, "somebody ran");
    ck_assert_int_eq(sets->status, STATUS_NOT_MEASURED);
    struct finding *const costs = results_add(&r, "memory.patterns", "tlb");
    struct value list = value_list();
    value_push(&list, value_number(92));
    finding_set(costs, STATUS_MEASURED, list, "cycles");
    finding_blur(costs, "somebody ran");
    ck_assert_int_eq(costs->status, STATUS_NOT_MEASURED);
    results_free(&r);
}
END_TEST

/* What the driver says, and what was never measured, nobody disturbed. */
START_TEST(only_what_was_measured_falls)
{
    struct results r = {0};
    struct finding *const f = with(&r, 132, "");
    f->status = STATUS_REPORTED;
    finding_doubt(f, "somebody ran");
    finding_void(f, "somebody ran");
    ck_assert_int_eq(f->status, STATUS_REPORTED);
    finding_none(f, "no such cache");
    finding_doubt(f, "somebody ran");
    ck_assert_str_eq(f->because, "no such cache");
    results_free(&r);
}
END_TEST

static enum finding_status settled(double number, const char *unit)
{
    struct results r = {0};
    struct finding *const f = with(&r, number, unit);
    finding_settle(f);
    const enum finding_status status = f->status;
    ck_assert_int_eq(f->value.kind == VALUE_NONE,
                     status == STATUS_NOT_MEASURED);
    results_free(&r);
    return status;
}

START_TEST(numbers_that_cannot_be_are_not_measured)
{
    ck_assert_int_eq(settled(283, "cycles"), STATUS_MEASURED);
    ck_assert_int_eq(settled(0, "cycles"), STATUS_MEASURED);
    ck_assert_int_eq(settled(-1.3, "cycles"), STATUS_NOT_MEASURED);
    ck_assert_int_eq(settled(-1.3, "ns"), STATUS_NOT_MEASURED);
    ck_assert_int_eq(settled(-1.3, ""), STATUS_MEASURED);
    ck_assert_int_eq(settled(NAN, "B"), STATUS_NOT_MEASURED);
    ck_assert_int_eq(settled(INFINITY, "B/s"), STATUS_NOT_MEASURED);
}
END_TEST

START_TEST(items_that_cannot_be_are_none)
{
    struct results r = {0};
    struct finding *const f = results_add(&r, "memory.patterns", "patterns");
    struct value list = value_list();
    value_push(&list, value_number(32));
    value_push(&list, value_number(-1));
    value_push(&list, value_number(NAN));
    finding_set(f, STATUS_MEASURED, list, "cycles");
    finding_settle(f);
    ck_assert_int_eq(f->status, STATUS_MEASURED);
    ck_assert_double_eq(f->value.items[0].number, 32);
    ck_assert_int_eq(f->value.items[1].kind, VALUE_NONE);
    ck_assert_int_eq(f->value.items[2].kind, VALUE_NONE);
    results_free(&r);
}
END_TEST

START_TEST(a_reason_against_it_is_a_doubt)
{
    struct results r = {0};
    struct finding *const f = with(&r, 283, "cycles");
    finding_because(f, "another way of asking says 300");
    finding_settle(f);
    ck_assert_int_eq(f->status, STATUS_IN_DOUBT);
    results_free(&r);
}
END_TEST

Suite *suite_doubt(void)
{
    TCase *t;
    Suite *const suite = suite_of("doubt", 5, &t);
    tcase_add_test(t, evidence_that_is_in_doubt_is_found);
    tcase_add_test(t, what_is_in_doubt_keeps_its_value);
    tcase_add_test(t, a_time_in_doubt_may_be_any_less);
    tcase_add_test(t, a_bound_in_doubt_is_none);
    tcase_add_test(t, what_is_void_has_none);
    tcase_add_test(t, only_numbers_of_time_survive_an_unclear_eye);
    tcase_add_test(t, only_what_was_measured_falls);
    tcase_add_test(t, numbers_that_cannot_be_are_not_measured);
    tcase_add_test(t, items_that_cannot_be_are_none);
    tcase_add_test(t, a_reason_against_it_is_a_doubt);
    return suite;
}
