/* Reports of one GPU as one: src/report/merge.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "finding/curve.h"
#include "report/merge.h"
#include "testing.h"

static struct finding *number(struct results *r, const char *id, double value,
                              double doubt)
{
    struct finding *const f = results_add(r, id, "test");
    finding_set(f, STATUS_MEASURED, value_number(value), "cycles");
    finding_interval(f, value - doubt, value + doubt, 0.95);
    return f;
}

static struct results report(const char *start, const char *command)
{
    struct results r = {0};
    results_device(&r, "spec", value_text("cuda:0"));
    results_device(&r, "name", value_text("GPU A"));
    results_device(&r, "uuid", value_text("GPU-1"));
    results_run(&r, "start", value_text(start));
    results_run(&r, "seconds", value_number(2));
    r.command = xcalloc(1, sizeof *r.command);
    r.command[r.command_count++] = xstrdup(command);
    return r;
}

static void say(struct results *r, const char *field, const char *text)
{
    for (size_t i = 0; i < r->device_count; i++)
        if (strcmp(r->device[i].name, field) == 0) {
            value_free(&r->device[i].value);
            r->device[i].value = value_text(text);
            return;
        }
    results_device(r, field, value_text(text));
}

/* ---- of one GPU, or not -------------------------------------------------- */

static const struct {
    const char *field, *one, *other; /* NULL: not said */
    bool models;
    const char *differ;
} identities[] = {
    {"uuid", "GPU-1", "GPU-1", false, NULL},
    {"uuid", "GPU-1", "GPU-2", false, "uuid"},
    {"uuid", "GPU-1", "GPU-2", true, NULL},
    {"spec", "cuda:0", "cuda:1", false, NULL}, /* the uuid tells */
    {"name", "GPU A", "GPU B", false, "name"},
    {"name", "GPU A", "GPU B", true, "name"},
    {"driver", "1", "2", false, "driver"},
    {"cuda", "1", "2", true, "cuda"},
    {"compute_capability", "8.0", "9.0", false, "compute_capability"},
    {"driver", NULL, "2", false, NULL},
    {"pci", "0", "1", false, NULL},
};

START_TEST(a_gpu_is_told_by_what_it_says)
{
    struct results a = report("1", "a"), b = report("2", "b");
    if (identities[_i].one != NULL)
        say(&a, identities[_i].field, identities[_i].one);
    say(&b, identities[_i].field, identities[_i].other);
    const struct difference d = merge_difference(&a, &b, identities[_i].models);
    if (identities[_i].differ == NULL)
        ck_assert_ptr_null(d.field);
    else
        ck_assert_str_eq(d.field, identities[_i].differ);
    results_free(&a);
    results_free(&b);
}
END_TEST

START_TEST(without_a_uuid_the_spec_tells)
{
    struct results a = {0}, b = {0};
    results_device(&a, "spec", value_text("sim:k20c"));
    results_device(&b, "spec", value_text("sim:v100"));
    struct error err;
    ck_assert_str_eq(merge_difference(&a, &b, false).field, "spec");
    ck_assert_str_eq(merge_difference(&a, &b, true).field, "spec");
    ASSERT_FAILS(merge_refuse(&a, &b, false, &err), ERR_USAGE, err,
                 "spec: sim:k20c and sim:v100");
    results_free(&a);
    results_free(&b);
}
END_TEST

/* ---- merging ------------------------------------------------------------- */

START_TEST(what_either_knows_is_in_the_merged_one)
{
    struct results a = report("1", "topology"), b = report("2", "isa");
    const struct curve_kind kind = {"latency", "bytes", "B", "cycles"};
    number(&a, "l1.latency", 32, 0);
    number(&b, "isa.add.u32.latency.O3", 4, 0);
    curve_point(results_curve(&b, "isa.add.u32.latency.O3", &kind),
                (struct curve_seen){1, 4, "isa"});
    results_device(&b, "driver", value_text("580"));
    merge_add(&a, &b);
    ck_assert_uint_eq(a.finding_count, 2);
    ck_assert_uint_eq(a.curve_count, 1);
    ck_assert_ptr_nonnull(results_of_device(&a, "driver"));
    ck_assert_double_eq(results_of_run(&a, "seconds")->number, 4);
    const struct value *const merged = results_of_run(&a, "merged");
    ck_assert_uint_eq(merged->count, 2);
    ck_assert_str_eq(merged->items[1].text, "2 isa");
    results_free(&a);
    results_free(&b);
}
END_TEST

/* Of both the later run's value, whichever is named first; with its curve. */
START_TEST(the_later_run_holds)
{
    static const char *const starts[][2] = {{"1", "2"}, {"2", "1"}};
    const struct curve_kind kind = {"latency", "bytes", "B", "cycles"};
    struct results a = report(starts[_i][0], "a"),
                   b = report(starts[_i][1], "b");
    struct results *const later = _i == 0 ? &b : &a;
    number(&a, "l2.latency", 280, 5);
    number(&b, "l2.latency", 282, 5);
    curve_point(results_curve(later, "l2.latency", &kind),
                (struct curve_seen){1, 2, "chase"});
    merge_add(&a, &b);
    const struct finding *const f = results_find(&a, "l2.latency");
    ck_assert_double_eq(f->value.number, _i == 0 ? 282 : 280);
    ck_assert_int_eq(f->status, STATUS_MEASURED);
    ck_assert_uint_eq(a.curve_count, 1);
    results_free(&a);
    results_free(&b);
}
END_TEST

START_TEST(the_surer_holds_before_the_later)
{
    struct results a = report("1", "a"), b = report("2", "b");
    number(&a, "l2.latency", 280, 5);
    finding_none(results_add(&b, "l2.latency", "test"), "it was busy");
    merge_add(&a, &b);
    ck_assert_int_eq(results_find(&a, "l2.latency")->status, STATUS_MEASURED);
    results_free(&b);
    b = report("3", "b");
    number(&b, "l1.latency", 32, 0);
    finding_none(results_add(&a, "l1.latency", "test"), "it was busy");
    merge_add(&a, &b);
    ck_assert_int_eq(results_find(&a, "l1.latency")->status, STATUS_MEASURED);
    results_free(&a);
    results_free(&b);
}
END_TEST

/* Nothing wrong in silence: the one that stays says both, and holds both. */
START_TEST(what_two_runs_contradict_is_in_doubt)
{
    struct results a = report("1", "a"), b = report("2", "b");
    number(&a, "l2.latency", 280, 5);
    number(&b, "l2.latency", 310, 5);
    finding_set(results_add(&a, "l1.policy", "t"), STATUS_MEASURED,
                value_text("lru"), "");
    finding_set(results_add(&b, "l1.policy", "t"), STATUS_MEASURED,
                value_text("fifo"), "");
    finding_set(results_add(&a, "clock.sm", "t"), STATUS_REPORTED,
                value_number(1), "Hz");
    finding_set(results_add(&b, "clock.sm", "t"), STATUS_REPORTED,
                value_number(2), "Hz");
    merge_add(&a, &b);
    const struct finding *const f = results_find(&a, "l2.latency");
    ck_assert_int_eq(f->status, STATUS_IN_DOUBT);
    ck_assert_double_eq(f->value.number, 310);
    ck_assert_double_eq(f->interval[0], 275);
    ck_assert_double_eq(f->interval[1], 315);
    ck_assert_str_eq(f->because, "another run of this GPU found 280 cycles");
    const struct finding *const p = results_find(&a, "l1.policy");
    ck_assert_int_eq(p->status, STATUS_IN_DOUBT);
    ck_assert_str_eq(p->because, "another run of this GPU found lru");
    ck_assert_int_eq(results_find(&a, "clock.sm")->status, STATUS_REPORTED);
    results_free(&a);
    results_free(&b);
}
END_TEST

/* Two percent apart is as runs are. */
START_TEST(what_two_runs_differ_in_by_little_stands)
{
    struct results a = report("1", "a"), b = report("2", "b");
    number(&a, "l2.latency", 280, 1);
    number(&b, "l2.latency", 285, 1);
    merge_add(&a, &b);
    ck_assert_int_eq(results_find(&a, "l2.latency")->status, STATUS_MEASURED);
    results_free(&a);
    results_free(&b);
}
END_TEST

START_TEST(gpus_of_one_model_are_all_named)
{
    struct results a = report("1", "a"), b = report("2", "b"),
                   c = report("3", "c");
    say(&b, "uuid", "GPU-2");
    say(&c, "uuid", "GPU-2");
    merge_add(&a, &b);
    merge_add(&a, &c);
    ck_assert_str_eq(results_of_device(&a, "uuid")->text, "GPU-1, GPU-2");
    results_free(&a);
    results_free(&b);
    results_free(&c);
}
END_TEST

START_TEST(one_run_twice_is_one_run)
{
    struct results a = report("1", "a"), b = report("1", "a");
    number(&a, "l2.latency", 280, 1);
    number(&b, "l2.latency", 280, 1);
    merge_add(&a, &b);
    ck_assert_double_eq(results_of_run(&a, "seconds")->number, 2);
    ck_assert_ptr_null(results_of_run(&a, "merged"));
    results_free(&a);
    results_free(&b);
}
END_TEST

Suite *suite_merge(void)
{
    TCase *tests;
    Suite *const s = suite_of("merge", 5, &tests);
    tcase_add_loop_test(tests, a_gpu_is_told_by_what_it_says, 0,
                        COUNT_OF(identities));
    tcase_add_test(tests, without_a_uuid_the_spec_tells);
    tcase_add_test(tests, what_either_knows_is_in_the_merged_one);
    tcase_add_loop_test(tests, the_later_run_holds, 0, 2);
    tcase_add_test(tests, the_surer_holds_before_the_later);
    tcase_add_test(tests, what_two_runs_contradict_is_in_doubt);
    tcase_add_test(tests, what_two_runs_differ_in_by_little_stands);
    tcase_add_test(tests, gpus_of_one_model_are_all_named);
    tcase_add_test(tests, one_run_twice_is_one_run);
    return s;
}
