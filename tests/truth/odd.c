/*
 * GPUs whose limits are unlike those of any real one: whatever an experiment
 * asks for that they have not costs a finding, with its reason, and never the
 * report.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu_made.h"
#include "testing.h"
#include "truth/truth.h"

static const struct {
    const char *limits;
    const char *found; /* even so */
} rows[] = {
    {"max_threads_per_block=128", "l2.size"},
    {"max_threads_per_block=32", "l2.size"},
    {"sms=1", "l2.size"},
    {"shared_memory/bytes=1024", "clock.overhead"},
    {"memory_bytes=4194304", "clock.overhead"},
    {"memory_bytes=1048576", NULL},
    {"constant_bytes=0", "l2.size"},
    {"noise={'jitter_cycles': 30, 'spike_rate': 0.1, 'spike_cycles': 1000}",
     "clock.overhead"},
};

/* What is not measured says why, and no probe's complaint about what a study
 * asked. */
static void has_reason(const json_t *findings, const char *id,
                       const char *limits)
{
    static const char *const complaints[] = {
        "threads in a block; the GPU takes", "warps in a block; the GPU takes",
        "ring that ends"};
    const char *const because = truth_text(findings, id, "because");
    if (strcmp(truth_text(findings, id, "status"), "not_measured") != 0)
        return;
    ck_assert_msg(because[0] != '\0', "%s: %s has no reason", limits, id);
    for (size_t i = 0; i < COUNT_OF(complaints); i++)
        ck_assert_msg(strstr(because, complaints[i]) == NULL, "%s: %s: %s",
                      limits, id, because);
}

START_TEST(a_report_always_comes)
{
    char *const spec = testing_spec_of(
        gpu_made("sms=2 caches/l2/sets=64 caches/l1={'sets': 16, 'ways': 4} "
                 "paths/global.ca={'l1': 30, 'l2': 200, 'memory': 500} "
                 "caches/const_l1={'line': 64, 'sets': 8, 'ways': 4} "
                 "paths/constant={'const_l1': 20, 'l2': 200, 'memory': 500} "
                 "tlbs/l1={'page': 2097152, 'entries': 16} %s",
                 rows[_i].limits));
    json_t *const findings = truth_findings(spec, 1, NULL, 0);
    const char *id;
    json_t *finding;
    json_object_foreach(findings, id, finding)
        has_reason(findings, id, rows[_i].limits);
    if (rows[_i].found != NULL)
        ck_assert_str_eq(truth_text(findings, rows[_i].found, "status"),
                         "measured");
    json_decref(findings);
    free(spec);
}
END_TEST

/* Expected: the code behind the spin, which comes from memory, is no part of
 * the clock.  Buggy result: 1099.42 MHz at most, of 1100. */
START_TEST(what_lies_around_the_spin_is_in_the_interval)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 clock_khz=1100000 "
                 "caches/i0={'line': 128, 'sets': 8, 'ways': 4} "
                 "paths/instruction={'i0': 4, 'l2': 240, 'memory': 600}"),
        "clock");
    const json_t *const interval = json_object_get(
        json_object_get(findings, "clock.measured"), "interval");
    ck_assert_double_le(json_number_value(json_array_get(interval, 0)), 1.1e9);
    ck_assert_double_ge(json_number_value(json_array_get(interval, 1)), 1.1e9);
    json_decref(findings);
}
END_TEST

/* Expected: a clock by a coarse timer is as unsure as that is.  Buggy result:
 * what most spins took by such a timer, measured. */
static const struct {
    unsigned step_ns;
    const char *status;
} timers[] = {
    {64, "measured"}, {262144, "in_doubt"}, {1048576, "not_measured"}};

START_TEST(a_coarse_timer_is_in_the_interval)
{
    json_t *const findings =
        truth_findings_of(gpu_made("sms=1 clock_khz=700000 globaltimer_ns=%u",
                                   timers[_i].step_ns),
                          "clock");
    const json_t *const interval = json_object_get(
        json_object_get(findings, "clock.measured"), "interval");
    ck_assert_str_eq(truth_text(findings, "clock.measured", "status"),
                     timers[_i].status);
    const bool told = strcmp(timers[_i].status, "not_measured") != 0;
    ck_assert(json_is_array(interval) == told);
    ck_assert(!told ||
              (json_number_value(json_array_get(interval, 0)) <= 700e6 &&
               json_number_value(json_array_get(interval, 1)) >= 700e6));
    json_decref(findings);
}
END_TEST

/* The ring that misses is half of an L2 or more, and memory costs little more.
 */
START_TEST(misses_are_told_of_a_small_l2)
{
    static const char *const policies[] = {"lru", "random"};
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 caches/l2/sets=48 caches/l2/policy=%s "
                 "caches/tex={'sets': 64, 'ways': 4} "
                 "paths/global={'l2': 200, 'memory': 280} "
                 "paths/texture={'tex': 40, 'l2': 230, 'memory': 310}",
                 policies[_i]),
        "latency");
    const double found = json_number_value(json_object_get(
        json_object_get(findings, "texture.miss_penalty"), "value"));
    ck_assert_double_eq_tol(found, 190, 2);
    json_decref(findings);
}
END_TEST

/* Rings of local memory that miss L1 for certain miss L2, too. */
START_TEST(what_misses_l1_is_found_in_l2)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 caches/l1={'line': 32, 'sector': 32, 'sets': 147, "
                 "'ways': 10, 'policy': 'nru'} caches/l2/sets=384 "
                 "caches/l2/ways=8 "
                 "paths/global.ca={'l1': 50, 'l2': 400, 'memory': 640} "
                 "paths/global.cg={'l2': 400, 'memory': 640} "
                 "paths/local={'l1': 50, 'l2': 400, 'memory': 640}"),
        "latency");
    const double found = json_number_value(json_object_get(
        json_object_get(findings, "local.miss_penalty"), "value"));
    ck_assert_double_eq_tol(found, 350, 2);
    json_decref(findings);
}
END_TEST

/* Of an L2 whose slices lie 64 KiB apart half as many lines as it holds, one
 * after the other, ask too much of one slice. */
START_TEST(lines_that_lie_together_may_be_of_one_slice)
{
    static const char *const studies[] = {"latency", "verdict"};
    char *const spec = testing_spec_of(
        gpu_made("sms=2 caches/l2={'line': 256, 'sector': 256, 'sets': 80, "
                 "'ways': 11, 'policy': 'random', 'set_bits': "
                 "[[8,13,14,15,16,19],[9,11,13,14,15,18],[10,11,17,18,19,20]], "
                 "'slices': {'modulo': 5, 'from_bit': 16, 'bits': "
                 "[[9,14,16,20]]}} paths/global={'l2': 329, 'memory': 741}"));
    json_t *const findings =
        truth_findings(spec, 1, studies, COUNT_OF(studies));
    double cycles = 0, size = 0;
    ck_assert(truth_number(findings, "l2.latency", &cycles));
    ck_assert_double_eq_tol(cycles, 329, 2);
    ck_assert(truth_number(findings, "memory.latency", &cycles));
    ck_assert_double_eq_tol(cycles, 741, 4);
    ck_assert(truth_number(findings, "l2.size", &size));
    ck_assert_double_eq_tol(size, 80 * 11 * 256, 0.035 * 80 * 11 * 256);
    json_decref(findings);
    free(spec);
}
END_TEST

/* L1 is larger than all constants that a module may have. */
START_TEST(a_cache_of_constants_need_not_be_as_large_as_l1)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 caches/l2/sets=64 "
                 "caches/l1={'sets': 136, 'ways': 4} "
                 "caches/const_l1={'line': 64, 'sets': 4, 'ways': 4} "
                 "caches/const_l15={'line': 256, 'sets': 24, 'ways': 8} "
                 "paths/global.ca={'l1': 30, 'l2': 200, 'memory': 500} "
                 "paths/constant={'const_l1': 20, 'const_l15': 80, "
                 "                'l2': 200, 'memory': 500}"),
        "size");
    double size = 0;
    ck_assert_msg(truth_number(findings, "const_l15.size", &size), "%s",
                  truth_text(findings, "const_l15.size", "because"));
    ck_assert_double_eq(size, 24 * 8 * 256);
    json_decref(findings);
}
END_TEST

/* What a GPU may lack, and the word that the reasons of what is lost have. */
static const struct {
    const char *without, *word;
} lacking[] = {
    {"mapping_bytes=0", "addresses"},   {"mapping_bytes=8", "pieces"},
    {"clusters=0", "cluster"},          {"mapping_bytes=65536", "pieces"},
    {"mapping_bytes=524288", "pieces"},
};

/* The caller ends it with json_decref. */
static json_t *findings_with(const char *wish)
{
    char *const spec = testing_spec_of(
        gpu_made("sms=1 clusters=1 caches/l2/sets=32 "
                 "caches/l1={'sets': 8, 'ways': 4} "
                 "paths/global.ca={'l1': 30, 'l2': [200, 220, 300], "
                 "                 'memory': [500, 520, 600]} "
                 "paths/global.cg={'l2': [200, 220, 300], "
                 "                 'memory': [500, 520, 600]} "
                 "tlbs/l1={'page': 2097152, 'entries': 16} %s",
                 wish));
    json_t *const findings = truth_findings(spec, 1, NULL, 0);
    free(spec);
    return findings;
}

static void is_as_before(const json_t *all, const json_t *left, const char *id,
                         size_t row)
{
    const char *const status = truth_text(left, id, "status");
    const char *const because = truth_text(left, id, "because");
    ck_assert_msg(strcmp(status, truth_text(all, id, "status")) == 0 ||
                      (strcmp(status, "not_measured") == 0 &&
                       strstr(because, lacking[row].word) != NULL),
                  "%s: %s is %s because \"%s\"", lacking[row].without, id,
                  status, because);
}

START_TEST(what_a_gpu_lacks_costs_what_needs_it_alone)
{
    json_t *const all = findings_with("");
    json_t *const left = findings_with(lacking[_i].without);
    const char *id;
    json_t *finding;
    json_object_foreach(all, id, finding)
        is_as_before(all, left, id, (size_t)_i);
    json_decref(left);
    json_decref(all);
}
END_TEST

/* Of an SM with four copies of each cache: fewer warps than that, as many,
 * which do not show that there are no more, and more. */
static const struct {
    int threads;
    const char *status;
    double copies;
} warps_asked[] = {
    {32, "at_least", 1},
    {96, "at_least", 3},
    {128, "at_least", 4},
    {160, "measured", 4},
};

START_TEST(as_many_copies_as_warps_are_a_bound)
{
    static const char *const caches[] = {"texture", "readonly", "const_l1"};
    json_t *const f = truth_findings_of(
        gpu_made("sms=1 warp_schedulers=4 max_threads_per_block=%d "
                 "caches/tex={'sets': 16, 'ways': 4, 'copies_per_sm': 4} "
                 "caches/c={'sets': 8, 'ways': 4, 'copies_per_sm': 4} "
                 "paths/texture={'tex': 40, 'l2': 230, 'memory': 500} "
                 "paths/readonly={'tex': 50, 'l2': 230, 'memory': 500} "
                 "paths/constant={'c': 20, 'l2': 200, 'memory': 500}",
                 warps_asked[_i].threads),
        "copies");
    for (size_t i = 0; i < COUNT_OF(caches); i++) {
        char per_sm[32], of_warp[32];
        snprintf(per_sm, sizeof per_sm, "%s.per_sm", caches[i]);
        snprintf(of_warp, sizeof of_warp, "%s.copy_of_warp", caches[i]);
        ck_assert_str_eq(truth_text(f, per_sm, "status"),
                         warps_asked[_i].status);
        ck_assert_str_eq(truth_text(f, of_warp, "status"),
                         warps_asked[_i].status);
        ck_assert_double_eq(json_number_value(json_object_get(
                                json_object_get(f, per_sm), "value")),
                            warps_asked[_i].copies);
    }
    json_decref(f);
}
END_TEST

/* Strengths of noise, from the shipped one on. */
static const char *const noises[] = {
    "{'jitter_cycles': 1.5, 'spike_rate': 0.002, 'spike_cycles': 300}",
    "{'jitter_cycles': 5, 'spike_rate': 0.01, 'spike_cycles': 300}",
    "{'jitter_cycles': 10, 'spike_rate': 0.03, 'spike_cycles': 500}",
    "{'jitter_cycles': 30, 'spike_rate': 0.1, 'spike_cycles': 1000}",
    "{'jitter_cycles': 100, 'spike_rate': 0.3, 'spike_cycles': 2000}",
};

/* A first TLB of 6 cycles, a second of 59, no window: what noise leaves of them
 * is right. */
START_TEST(noise_makes_no_tlb_and_no_window)
{
    json_t *const f = truth_findings_seeded(
        gpu_made(
            "sms=1 caches/l2/sets=64 tlbs/l1={'page': 2097152, 'entries': 16} "
            "tlbs/l2={'page': 2097152, 'entries': 65} "
            "paths/global={'l2': [216, 222, 275], 'memory': [500, 506, 559]} "
            "noise=%s",
            noises[_i]),
        3, "tlb");
    const json_t *const window = json_object_get(f, "tlb.page_window");
    const bool found =
        strcmp(truth_text(f, "tlb_l1.entries", "status"), "measured") == 0;
    ck_assert(window == NULL ||
              strcmp(truth_text(f, "tlb.page_window", "status"),
                     "not_measured") == 0);
    ck_assert_msg(found || _i > 0, "%s loses the first TLB", noises[_i]);
    double entries = 16;
    truth_number(f, "tlb_l1.entries", &entries);
    ck_assert_double_eq(entries, 16);
    json_decref(f);
}
END_TEST

/* Half of the lines are farther than the few that are asked first: that is the
 * L2, and no cache of constants before it. */
START_TEST(the_near_part_of_l2_is_no_cache_of_constants)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=12 caches/l2={'line': 64, 'sector': 32, 'sets': 224, "
                 "'ways': 14, 'scope': 'gpu', 'partitions': {'bits': [13, 15, "
                 "17, 18, 19], 'far_cycles': 150}} "
                 "paths/constant={'l2': 357, 'memory': 830} "
                 "paths/global={'l2': [318, 378, 624], 'memory': [791, 851, "
                 "1097]}"),
        "latency");
    ck_assert_str_eq(truth_text(f, "l2.latency", "status"), "measured");
    static const char *const no[] = {"const_l1.latency",
                                     "const_l1.miss_penalty"};
    for (size_t i = 0; i < COUNT_OF(no); i++)
        ck_assert_str_eq(truth_text(f, no[i], "status"), "not_measured");
    json_decref(f);
}
END_TEST

Suite *suite_truth_odd(void)
{
    TCase *t;
    Suite *const suite = suite_of("truth_odd", 60, &t);
    TCase *const slow = suite_slow(suite, 60);
    tcase_add_loop_test(slow, a_report_always_comes, 0, 1);
    tcase_add_loop_test(t, a_report_always_comes, 1, 2);
    tcase_add_loop_test(slow, a_report_always_comes, 2, 3);
    tcase_add_loop_test(t, a_report_always_comes, 3, COUNT_OF(rows));
    tcase_add_test(t, what_lies_around_the_spin_is_in_the_interval);
    tcase_add_loop_test(t, a_coarse_timer_is_in_the_interval, 0,
                        COUNT_OF(timers));
    tcase_add_loop_test(t, misses_are_told_of_a_small_l2, 0, 2);
    tcase_add_loop_test(t, what_a_gpu_lacks_costs_what_needs_it_alone, 0, 1);
    tcase_add_loop_test(slow, what_a_gpu_lacks_costs_what_needs_it_alone, 2,
                        COUNT_OF(lacking));
    tcase_add_test(t, what_misses_l1_is_found_in_l2);
    tcase_add_loop_test(t, as_many_copies_as_warps_are_a_bound, 0,
                        COUNT_OF(warps_asked));
    tcase_add_loop_test(t, noise_makes_no_tlb_and_no_window, 0, 1);
    tcase_add_loop_test(slow, noise_makes_no_tlb_and_no_window, 1, 3);
    tcase_add_loop_test(t, noise_makes_no_tlb_and_no_window, 3,
                        COUNT_OF(noises));
    tcase_add_test(t, the_near_part_of_l2_is_no_cache_of_constants);
    tcase_add_loop_test(slow, what_a_gpu_lacks_costs_what_needs_it_alone, 1, 2);
    tcase_add_test(slow, lines_that_lie_together_may_be_of_one_slice);
    tcase_add_test(slow, a_cache_of_constants_need_not_be_as_large_as_l1);
    return suite;
}
