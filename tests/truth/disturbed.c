/*
 * GPUs that do not stay themselves while a study loads them: whose clock falls,
 * that grow too hot, that others use.  The report says so, and no number of the
 * study is presented as clean.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu_made.h"
#include "study/gpu_state.h"
#include "testing.h"
#include "truth/truth.h"
#include "unit/fake_device.h"

/* "": nothing changes.  The caller decrefs. */
static json_t *findings_with(const char *changes)
{
    return truth_findings_of(
        gpu_made("compute_capability='6.0' sms=2 warp_schedulers=2 "
                 "max_threads_per_block=64 max_warps_per_sm=4 "
                 "max_blocks_per_sm=2 caches/l2/sets=64 caches/l2/sector= "
                 "changes=%s",
                 changes),
        "scheduling");
}

static void is_doubted(const json_t *findings, const char *id, const char *word)
{
    const char *const because = truth_text(findings, id, "because");
    ck_assert_str_eq(truth_text(findings, id, "status"), "in_doubt");
    ck_assert_msg(strstr(because, word) != NULL, "%s: \"%s\" lacks \"%s\"", id,
                  because, word);
}

static double hz(const json_t *findings, const char *name)
{
    return json_number_value(
        truth_protocol(findings, "clock.scheduling", name));
}

START_TEST(a_gpu_that_stays_itself_is_not_doubted)
{
    json_t *const f = findings_with("");
    const char *id;
    json_t *finding;
    json_object_foreach(f, id, finding)
    {
        const char *const status = truth_text(f, id, "status");
        ck_assert_msg(strcmp(status, "measured") != 0 ||
                          json_object_get(finding, "because") == NULL,
                      "%s is in doubt", id);
    }
    ck_assert_double_eq_tol(hz(f, "before"), 1e9, 1e6);
    ck_assert_double_eq_tol(hz(f, "after"), 1e9, 1e6);
    ck_assert_double_eq_tol(hz(f, "before_reported"), 1e9, 1);
    ck_assert_double_eq_tol(hz(f, "after_reported"), 1e9, 1);
    ck_assert_double_eq(hz(f, "other_processes"), 0);
    json_decref(f);
}
END_TEST

/* What counts in seconds is in doubt, what counts in cycles is not. */
START_TEST(a_clock_that_falls_is_said)
{
    json_t *const f =
        findings_with("{'after_launches': 29, 'clock_khz': 900000}");
    ck_assert_double_eq_tol(hz(f, "before"), 1e9, 1e6);
    ck_assert_double_eq_tol(hz(f, "after"), 9e8, 1e6);
    ck_assert_double_eq_tol(hz(f, "after_reported"), 9e8, 1);
    is_doubted(f, "clock.scheduling", "moved from 1000 to 900 MHz");
    is_doubted(f, "scheduling.empty_launch", "moved from 1000 to 900 MHz");
    ck_assert_str_eq(
        truth_text(f, "scheduling.warp_end_skew_arithmetic", "because"), "");
    json_decref(f);
}
END_TEST

/* L2 has a clock of its own, so that its hits take fewer cycles of an SM's that
 * has fallen: those of before were not late.  Buggy result: of an H200 that was
 * slowed from 1980 to 1560 MHz no average was told, as disturbances added a
 * tenth to each load. */
START_TEST(a_clock_that_falls_made_no_load_late)
{
    json_t *const f = findings_with("{'after_launches': 29, 'clock_khz': "
                                    "780000, 'beyond_share': 0.5}");
    is_doubted(f, "clock.scheduling", "moved from 1000 to 780 MHz");
    static const char *const told[] = {"scheduling.resident_blocks_memory",
                                       "scheduling.policy_memory",
                                       "scheduling.makespan_over_ideal_memory"};
    for (size_t i = 0; i < COUNT_OF(told); i++)
        ck_assert_str_eq(truth_text(f, told[i], "status"), "measured");
    json_decref(f);
}
END_TEST

/* Expected: the interval holds the clock, which no spin tells better than to a
 * step of the timer.  Buggy result: that of one moment, all of whose spins took
 * as many steps, had no width, and `compare` took two GPUs' for different. */
START_TEST(a_clock_is_known_to_a_step_of_the_timer)
{
    json_t *const f = truth_findings_of(
        gpu_made("compute_capability='6.0' sms=2 warp_schedulers=2 "
                 "max_threads_per_block=64 max_warps_per_sm=4 "
                 "max_blocks_per_sm=2 caches/l2/sets=64 caches/l2/sector= "
                 "clock_khz=1980000 globaltimer_ns=%d",
                 1 << _i),
        "scheduling");
    double low, high;
    ck_assert_int_eq(json_unpack(json_object_get(f, "clock.scheduling"),
                                 "{s[FF]}", "interval", &low, &high),
                     0);
    ck_assert_msg(low <= 1.98e9 && high >= 1.98e9 && high - low < 0.01 * low,
                  "%.0f to %.0f", low, high);
    json_decref(f);
}
END_TEST

START_TEST(throttling_puts_all_in_doubt)
{
    json_t *const f = findings_with("{'after_launches': 29, 'throttle': 64}");
    is_doubted(f, "clock.scheduling", "throttled");
    is_doubted(f, "scheduling.resident_blocks_arithmetic", "throttled");
    is_doubted(f, "scheduling.empty_launch", "throttled");
    ck_assert_double_gt(hz(f, "repetitions_dropped"), 0);
    ck_assert_str_eq(json_string_value(json_array_get(
                         truth_protocol(f, "clock.scheduling", "throttle"), 0)),
                     "hardware thermal");
    json_decref(f);
}
END_TEST

START_TEST(other_processes_put_all_in_doubt)
{
    json_t *const f =
        findings_with("{'after_launches': 29, 'other_processes': 1}");
    is_doubted(f, "clock.scheduling", "another process");
    is_doubted(f, "scheduling.resident_blocks_arithmetic", "another process");
    ck_assert_double_eq(hz(f, "other_processes"), 1);
    json_decref(f);
}
END_TEST

/* ---- studies that do not load the GPU ---- */

/* … lie between references.  The caller decrefs. */
static json_t *latencies_with(const char *changes)
{
    return truth_findings_of(gpu_made("compute_capability='6.0' sms=1 "
                                      "caches/l1={'sets': 16, 'ways': 4} "
                                      "caches/l2/sets=64 "
                                      "paths/global.ca={'l1': 40, 'l2': 200, "
                                      "'memory': 400} "
                                      "paths/global.cg={'l2': 200, "
                                      "'memory': 400} changes=%s",
                                      changes),
                             "latency");
}

/* … by little: a reference is no more than 100 microseconds. */
START_TEST(a_clock_that_falls_later_is_not_that_of_the_run)
{
    json_t *const f =
        latencies_with("{'after_launches': 300, 'clock_khz': 980000}");
    is_doubted(f, "clock.measured", "moved from 1000 to 980 MHz");
    const json_t *const interval =
        json_object_get(json_object_get(f, "clock.measured"), "interval");
    ck_assert_double_lt(json_number_value(json_array_get(interval, 0)), 9.81e8);
    ck_assert_str_eq(truth_text(f, "l2.latency", "status"), "measured");
    json_decref(f);
}
END_TEST

/* … and in which one it fell is all the same: it may be the first. */
START_TEST(a_clock_that_falls_in_the_first_reference_moved)
{
    json_t *const f =
        latencies_with(_i == 0 ? "{'after_launches': 20, 'clock_khz': 980000}"
                               : "{'after_launches': 21, 'clock_khz': 980000}");
    is_doubted(f, "clock.measured", "moved from 1000 to 980 MHz");
    json_decref(f);
}
END_TEST

START_TEST(what_is_found_while_it_is_throttled_is_in_doubt)
{
    json_t *const f = latencies_with("{'after_launches': 300, 'throttle': 64}");
    is_doubted(f, "l2.latency", "throttled");
    ck_assert_str_eq(truth_text(f, "clock.measured", "status"), "measured");
    json_decref(f);
}
END_TEST

/* What finds an SM and L2 empty comes from memory: it is no miss of a cache
 * that local loads do not have. */
START_TEST(what_another_process_empties_makes_no_cache)
{
    json_t *const f = truth_findings_of(
        gpu_made("compute_capability='5.0' sms=1 caches/l2/sets=64 "
                 "paths/global={'l2': 200, 'memory': 400} "
                 "paths/local={'l2': 200, 'memory': 400} "
                 "intruder={'share': 1, 'cycles': 800000, "
                 "          'every_cycles': 5000000, 'first_cycles': 5000000, "
                 "          'empties': ['l2']}"),
        "latency");
    ck_assert_str_eq(truth_text(f, "local.latency", "status"), "not_measured");
    ck_assert_str_eq(truth_text(f, "l1.latency", "status"), "not_measured");
    json_decref(f);
}
END_TEST

/* ---- spans in which the SM ran somebody else ---- */

/* 500 000 cycles in as many ns, one read of the clock 100 000 late. */
static void leap(struct fake_device *fake, uint64_t *words, size_t count)
{
    (void)fake;
    if (count != 3) /* the kernel that warms the clock up */
        return;
    words[0] = words[1] = 500000;
    words[2] = 100000;
}

START_TEST(a_gap_in_the_clock_puts_all_in_doubt)
{
    static const struct study study = {.name = "busy", .method = "none"};
    const struct prober_options options = {.seed = 1};
    struct fake_device fake;
    struct results results = {0};
    fake_device_open(&fake, 90);
    fake.read = leap;
    struct prober *const prober = prober_new(&fake.device, NULL, &options);
    struct lab lab = {.prober = prober,
                      .info = &fake.device.info,
                      .results = &results,
                      .study = &study};
    finding_set(results_add(&results, "busy.rate", "busy"), STATUS_MEASURED,
                value_number(1), "B/clk/SM");
    finding_set(results_add(&results, "other.rate", "other"), STATUS_MEASURED,
                value_number(1), "B/clk/SM");
    const struct gpu_state before = gpu_state_read(&lab, "before");
    const struct gpu_state after = gpu_state_read(&lab, "after");
    ck_assert(lab_ok(&lab));
    gpu_state_report(&lab, &before, &after);
    ck_assert_str_eq(results_find(&results, "busy.rate")->because,
                     "for 100 us the SM did not run us");
    ck_assert_ptr_null(results_find(&results, "other.rate")->because);
    ck_assert_double_eq(results_find(&results, "clock.busy")->value.number,
                        1e9);
    arena_empty(&lab.memory);
    results_free(&results);
    prober_free(prober);
    fake_device_close(&fake);
}
END_TEST

/* ---- costs that do not settle ---- */

/* Experiments that a cost asked; what a pair of loads costs more than one. */
static size_t asked_of(const char *noise, struct cost *cost)
{
    static const struct study study = {.name = "busy", .method = "none"};
    const struct prober_options options = {.seed = 1};
    struct results results = {0};
    char *const gpu =
        gpu_made("sms=1 caches/l2/sets=32 caches/l2/ways=8 "
                 "paths/global={'l2': 200, 'memory': 500} noise=%s",
                 noise);
    struct device *const device = testing_sim_of(gpu, 1);
    struct prober *const prober = prober_new(device, NULL, &options);
    struct lab lab = {.prober = prober,
                      .info = &device->info,
                      .results = &results,
                      .study = &study,
                      .experiments_most = 1000};
    *cost = lab_pair_cost(&lab, 256, "op=cg bytes=4K stride=128 warm=4");
    ck_assert_msg(lab_ok(&lab), "%s", lab.err.text);
    const size_t asked = prober_experiments(prober);
    arena_empty(&lab.memory);
    results_free(&results);
    prober_free(prober);
    device_close(device);
    free(gpu);
    return asked;
}

/* Of single loads and of pairs eight each: sixteen times what the limit of
 * experiments counts for a cost (plan.c). */
START_TEST(a_cost_that_never_settles_ends)
{
    enum { QUIET = 2, MOST = 16 };
    struct cost quiet, noisy;
    ck_assert_uint_eq(asked_of("{'jitter_cycles': 0}", &quiet), QUIET);
    ck_assert_double_eq_tol(quiet.cycles, 200, 0.01);
    ck_assert_uint_eq(asked_of("{'jitter_cycles': 90}", &noisy), MOST);
    ck_assert_double_le(noisy.low, 200);
    ck_assert_double_ge(noisy.high, 200);
}
END_TEST

Suite *suite_truth_disturbed(void)
{
    TCase *t;
    Suite *const suite = suite_of("truth_disturbed", 30, &t);
    tcase_add_test(t, a_gpu_that_stays_itself_is_not_doubted);
    tcase_add_test(t, a_clock_that_falls_is_said);
    tcase_add_test(t, a_clock_that_falls_made_no_load_late);
    tcase_add_loop_test(t, a_clock_is_known_to_a_step_of_the_timer, 4, 7);
    tcase_add_test(t, throttling_puts_all_in_doubt);
    tcase_add_test(t, other_processes_put_all_in_doubt);
    tcase_add_test(t, a_clock_that_falls_later_is_not_that_of_the_run);
    tcase_add_loop_test(t, a_clock_that_falls_in_the_first_reference_moved, 0,
                        2);
    tcase_add_test(t, what_is_found_while_it_is_throttled_is_in_doubt);
    tcase_add_test(t, what_another_process_empties_makes_no_cache);
    tcase_add_test(t, a_gap_in_the_clock_puts_all_in_doubt);
    tcase_add_test(t, a_cost_that_never_settles_ends);
    return suite;
}
