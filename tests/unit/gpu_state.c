/* What it means for findings how the GPU was before and after; no GPU is
 * asked. */
#include "study/gpu_state.h"

#include <string.h>

#include "study/assume.h"
#include "testing.h"

static const char *const caches[] = {"near", "far", NULL};
static const struct answer answers[] = {
    {caches, "rate", "B/s"}, {caches, "size", "B"}, {0}};
static const struct study loading =
                              {
                                  .name = "loading",
                                  .method = "by loading",
                                  .answers = answers,
},
                          other = {.name = "other",
                                   .method = "otherwise",
                                   .answers = answers};

/* Of NVML's reasons: heat, and the ordinary power cap. */
enum { HOT = 0x20, CAPPED = 0x4 };

/* Findings of a study that loaded the GPU, and how that was. */
struct desk {
    struct results results;
    struct lab lab;
    struct finding *rate, *size, *none, *others;
    struct gpu_state before, after;
};

static void open_desk(struct desk *desk)
{
    *desk = (struct desk){.lab.study = &other};
    desk->lab.results = &desk->results;
    desk->others = lab_finding(&desk->lab, "far", "size");
    finding_measured(desk->others, 64);
    desk->lab.study = &loading;
    desk->rate = lab_finding(&desk->lab, "near", "rate");
    finding_measured(desk->rate, 1e9);
    desk->size = lab_finding(&desk->lab, "near", "size");
    finding_measured(desk->size, 64);
    desk->none = lab_finding(&desk->lab, "far", "rate");
    finding_none(desk->none, "it is far");
    desk->before = (struct gpu_state){.known = true,
                                      .hz = 1.001e9,
                                      .range = {0.998e9, 1.003e9},
                                      .told_hz = 1e9,
                                      .gap_ns = 300,
                                      .experiment = "before"};
    desk->after = (struct gpu_state){.known = true,
                                     .hz = 1.002e9,
                                     .range = {0.999e9, 1.002e9},
                                     .told_hz = -1,
                                     .gap_ns = 200,
                                     .experiment = "after"};
}

static void close_desk(struct desk *desk)
{
    struct error err;
    lab_end(&desk->lab, &err);
    results_free(&desk->results);
}

static const struct finding *reported(struct desk *desk)
{
    gpu_state_report(&desk->lab, &desk->before, &desk->after);
    const struct finding *const f =
        results_find(&desk->results, "clock.loading");
    ck_assert_ptr_nonnull(f);
    return f;
}

static void assert_marked(const struct finding *f, const char *why)
{
    const struct value *const said = finding_said(f, "disturbed");
    if (why == NULL) {
        ck_assert_msg(said == NULL, "%s is marked: %s", f->id,
                      said != NULL ? said->text : "");
        return;
    }
    ck_assert_msg(said != NULL, "%s is not marked", f->id);
    ck_assert_str_eq(said->text, why);
    ck_assert_str_eq(f->because, why);
}

static double said(const struct finding *f, const char *name)
{
    ck_assert_msg(finding_said(f, name) != NULL, "%s is not said", name);
    return finding_said(f, name)->number;
}

START_TEST(a_quiet_gpu_marks_nothing_and_its_clock_is_told)
{
    struct desk desk;
    open_desk(&desk);
    const struct finding *const f = reported(&desk);
    ck_assert_int_eq(f->status, STATUS_MEASURED);
    ck_assert_double_eq(f->value.number, 1.002e9);
    ck_assert_double_eq(f->interval[0], 0.998e9);
    ck_assert_double_eq(f->interval[1], 1.003e9);
    ck_assert_double_eq(said(f, "before"), 1.001e9);
    ck_assert_double_eq(said(f, "after"), 1.002e9);
    ck_assert_double_eq(said(f, "before_reported"), 1e9);
    ck_assert_ptr_null(finding_said(f, "after_reported"));
    ck_assert_double_eq(said(f, "longest_gap_ns"), 300);
    ck_assert_double_eq(said(f, "other_processes"), 0);
    ck_assert_uint_eq(finding_said(f, "throttle")->count, 0);
    ck_assert(finding_cites(f, "before"));
    ck_assert(finding_cites(f, "after"));
    assert_marked(f, NULL);
    assert_marked(desk.rate, NULL);
    assert_marked(desk.size, NULL);
    close_desk(&desk);
}
END_TEST

static void others_before(struct desk *desk)
{
    desk->before.processes = 1;
}

static void others_after(struct desk *desk)
{
    desk->after.processes = 2;
}

static void thrown_away(struct desk *desk)
{
    desk->before.dropped = 3;
    desk->after.dropped = 4;
}

static void hot_before(struct desk *desk)
{
    desk->before.throttle = HOT;
}

static void hot_after(struct desk *desk)
{
    desk->after.throttle = HOT;
}

static void away_before(struct desk *desk)
{
    desk->before.gap_ns = assume(ASSUME_GAP_NS) + 1;
}

static void away_after(struct desk *desk)
{
    desk->after.gap_ns = 9e6;
}

static const struct {
    void (*happens)(struct desk *desk);
    const char *why;
} disturbed[] = {
    {others_before, "another process was on the GPU"},
    {others_after, "other processes were on the GPU"},
    {thrown_away, "the GPU was throttled"},
    {hot_before, "the GPU was throttled"},
    {hot_after, "the GPU was throttled"},
    {away_before, NULL},
    {away_after, "for 9000 us the SM did not run us"},
};

/* All that the study measured, and nothing else. */
START_TEST(what_disturbed_the_gpu_marks_all_that_was_measured)
{
    struct desk desk;
    open_desk(&desk);
    disturbed[_i].happens(&desk);
    const struct finding *const f = reported(&desk);
    const char *const why =
        disturbed[_i].why != NULL ? disturbed[_i].why : f->because;
    ck_assert_ptr_nonnull(why);
    assert_marked(f, why);
    assert_marked(desk.rate, why);
    assert_marked(desk.size, why);
    assert_marked(desk.none, NULL);
    assert_marked(desk.others, NULL);
    close_desk(&desk);
}
END_TEST

START_TEST(what_is_no_disturbance_marks_nothing)
{
    struct desk desk;
    open_desk(&desk);
    desk.before.dropped = desk.after.dropped = 3;
    desk.before.throttle = CAPPED;
    desk.before.gap_ns = assume(ASSUME_GAP_NS);
    desk.before.processes = desk.after.processes = -1; /* nobody told */
    const struct finding *const f = reported(&desk);
    ck_assert_ptr_null(finding_said(f, "other_processes"));
    ck_assert_double_eq(said(f, "repetitions_dropped"), 0);
    assert_marked(desk.rate, NULL);
    assert_marked(f, NULL);
    close_desk(&desk);
}
END_TEST

START_TEST(several_disturbances_are_all_said_and_an_older_reason_stays)
{
    struct desk desk;
    open_desk(&desk);
    finding_because(desk.size, "it is short");
    thrown_away(&desk);
    others_after(&desk);
    reported(&desk);
    assert_marked(desk.rate,
                  "the GPU was throttled; other processes were on the GPU");
    ck_assert_str_eq(desk.size->because, "it is short");
    ck_assert_ptr_nonnull(finding_said(desk.size, "disturbed"));
    close_desk(&desk);
}
END_TEST

START_TEST(a_clock_that_moved_marks_what_has_time_in_its_unit)
{
    struct desk desk;
    open_desk(&desk);
    desk.after.hz = desk.after.range[0] = desk.after.range[1] = 0.5e9;
    const struct finding *const f = reported(&desk);
    const char *const why = "the SM clock moved from 1001 to 500 MHz";
    assert_marked(f, why);
    assert_marked(desk.rate, why);
    assert_marked(desk.size, NULL);
    ck_assert_double_eq(f->interval[0], 0.5e9);
    ck_assert_double_eq(f->interval[1], 1.003e9);
    close_desk(&desk);
}
END_TEST

/* Of the larger one. */
START_TEST(a_clock_may_move_by_little)
{
    const double most = assume(ASSUME_CLOCK_MOVED);
    struct desk desk;
    open_desk(&desk);
    desk.after.hz = (1 - 0.9 * most) * desk.before.hz;
    assert_marked(reported(&desk), NULL);
    close_desk(&desk);
    open_desk(&desk);
    desk.after.hz = (1 - 1.1 * most) * desk.before.hz;
    reported(&desk);
    ck_assert_ptr_nonnull(finding_said(desk.rate, "disturbed"));
    close_desk(&desk);
}
END_TEST

START_TEST(a_timer_that_stands_still_tells_no_clock)
{
    struct desk desk;
    open_desk(&desk);
    desk.after.hz = desk.after.range[0] = desk.after.range[1] = -1;
    const struct finding *const f = reported(&desk);
    ck_assert_int_eq(f->status, STATUS_NOT_MEASURED);
    ck_assert_str_eq(f->because, "globaltimer did not advance");
    ck_assert_ptr_null(finding_said(f, "after"));
    assert_marked(desk.rate, NULL);
    close_desk(&desk);
    open_desk(&desk);
    desk.before.hz = desk.before.range[0] = desk.before.range[1] = -1;
    const struct finding *const later = reported(&desk);
    ck_assert_int_eq(later->status, STATUS_MEASURED);
    ck_assert_double_eq(later->interval[0], 0.999e9);
    ck_assert_double_eq(later->interval[1], 1.002e9);
    close_desk(&desk);
}
END_TEST

START_TEST(what_was_not_asked_on_both_sides_is_not_told)
{
    struct desk desk;
    open_desk(&desk);
    (_i == 0 ? &desk.before : &desk.after)->known = false;
    others_after(&desk);
    const struct finding *const f = reported(&desk);
    ck_assert_int_eq(f->status, STATUS_NOT_MEASURED);
    assert_marked(desk.rate, NULL);
    close_desk(&desk);
}
END_TEST

START_TEST(all_reasons_of_all_samples_are_told)
{
    int64_t data[] = {4, 0, -1, 1, 4};
    const struct samples s = {
        .columns = 1, .names = {"throttle"}, .rows = 5, .data = data};
    ck_assert_uint_eq(gpu_state_throttle(&s), 5);
    ck_assert_uint_eq(gpu_state_throttle(&(struct samples){.rows = 0}), 0);
    struct value list = gpu_state_reasons(5);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_str_eq(list.items[0].text, "idle");
    ck_assert_str_eq(list.items[1].text, "power cap");
    value_free(&list);
}
END_TEST

Suite *suite_gpu_state(void)
{
    TCase *t;
    Suite *const suite = suite_of("gpu_state", 10, &t);
    tcase_add_test(t, a_quiet_gpu_marks_nothing_and_its_clock_is_told);
    tcase_add_loop_test(t, what_disturbed_the_gpu_marks_all_that_was_measured,
                        0, sizeof disturbed / sizeof *disturbed);
    tcase_add_test(t, what_is_no_disturbance_marks_nothing);
    tcase_add_test(t,
                   several_disturbances_are_all_said_and_an_older_reason_stays);
    tcase_add_test(t, a_clock_that_moved_marks_what_has_time_in_its_unit);
    tcase_add_test(t, a_clock_may_move_by_little);
    tcase_add_test(t, a_timer_that_stands_still_tells_no_clock);
    tcase_add_loop_test(t, what_was_not_asked_on_both_sides_is_not_told, 0, 2);
    tcase_add_test(t, all_reasons_of_all_samples_are_told);
    return suite;
}
