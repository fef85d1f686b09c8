/*
 * Loads that are late now and then: what a load costs is what the profile says
 * all the same, and the interval holds it.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu_made.h"
#include "testing.h"
#include "truth/truth.h"

static const struct noise {
    double jitter, rate, cycles;
    bool sure; /* so little that nothing may be in doubt */
} noises[] = {
    {1.5, 0.002, 300, true}, {1.5, 0.02, 500, true}, {5, 0.01, 300, true},
    {10, 0.03, 500, false},  {30, 0.1, 1000, false}, {100, 0.3, 2000, false},
};

static const struct {
    const char *id;
    double cycles;
} costs[] = {
    {"l1.latency", 40},      {"shared.latency", 30},   {"l2.latency", 200},
    {"memory.latency", 400}, {"l1.miss_penalty", 160}, {"l2.miss_penalty", 200},
};

static bool holds(const json_t *finding, double cycles)
{
    const json_t *const interval = json_object_get(finding, "interval");
    return json_number_value(json_array_get(interval, 0)) <= cycles &&
           cycles <= json_number_value(json_array_get(interval, 1));
}

/* Within a percent, a cycle, or what the interval says. */
static void is_right(const json_t *findings, const char *id, double cycles,
                     bool sure)
{
    const json_t *const f = json_object_get(findings, id);
    const char *const status = truth_text(findings, id, "status");
    const double found = json_number_value(json_object_get(f, "value"));
    const bool measured = strcmp(status, "measured") == 0;
    ck_assert_msg(measured || !sure, "%s is %s: %s", id, status,
                  truth_text(findings, id, "because"));
    if (strcmp(status, "not_measured") == 0)
        return;
    ck_assert_msg(holds(f, cycles) || (measured && fabs(found - cycles) <=
                                                       fmax(1, 0.01 * cycles)),
                  "%s is %g, and not %g", id, found, cycles);
}

START_TEST(late_loads_change_no_cost)
{
    const struct noise *const n = &noises[_i];
    json_t *const findings = truth_findings_of(
        gpu_made("sms=2 caches/l2/sets=64 caches/l1={'sets': 32, 'ways': 4} "
                 "paths/global.ca={'l1': 40, 'l2': 200, 'memory': 400} "
                 "paths/global.cg={'l2': 200, 'memory': 400} "
                 "noise={'jitter_cycles': %g, 'spike_rate': %g, "
                 "'spike_cycles': %g}",
                 n->jitter, n->rate, n->cycles),
        "latency");
    for (size_t i = 0; i < COUNT_OF(costs); i++)
        is_right(findings, costs[i].id, costs[i].cycles, n->sure);
    json_decref(findings);
}
END_TEST

/* Half-way between what rings' hits and misses cost on average lie misses that
 * jitter makes early, since both averages hold what is late.  Buggy result: 19
 * cycles more than a load costs, or runs and single loads that contradict. */
START_TEST(misses_that_jitter_makes_early_count)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=2 caches/l2/sets=512 paths/global={'l2': 170, "
                 "'memory': 440} noise={'jitter_cycles': 28, "
                 "'spike_rate': 0.1, 'spike_cycles': 1000}"),
        "latency");
    /* Of such noise the guard's references doubt all in one run of four. */
    const char *const why = truth_text(findings, "memory.latency", "because");
    ck_assert_msg(why[0] == '\0' || strstr(why, "a hit in L2 took") != NULL,
                  "memory.latency: %s", why);
    is_right(findings, "memory.latency", 440, false);
    is_right(findings, "l2.miss_penalty", 270, false);
    json_decref(findings);
}
END_TEST

/* The cheapest of hits that jitter spreads are far below the others, and so
 * seemed what timing adds: then most hits were misses that L2 has near.  Buggy
 * result: rings say 16384 B, lines in random order 16750 to 17473 B. */
START_TEST(hits_that_jitter_spreads_are_told_from_misses)
{
    static const char *const studies[] = {"size", "overfill", "verdict"};
    char *const spec = testing_spec_of(
        gpu_made("sms=4 compute_capability='7.0' clock_khz=1400000 "
                 "memory_bytes=2147483648 caches/l2/sets=512 "
                 "caches/l1={'sets': 32, 'ways': 4} isa/default/O3=18 "
                 "shared_memory={'bytes': 65536, 'latency': 28, "
                 "               'conflict_cycles': 2} mapping_bytes=0 "
                 "paths/global.ca={'l1': 32, 'l2': 285, 'memory': 530} "
                 "paths/global.cg={'l2': 279, 'memory': 527} "
                 "noise={'jitter_cycles': 7, 'spike_rate': 0.01, "
                 "'spike_cycles': 300}"));
    json_t *const findings =
        truth_findings(spec, 1, studies, COUNT_OF(studies));
    is_right(findings, "l1.size", 16384, true);
    json_decref(findings);
    free(spec);
}
END_TEST

/* Others use L2 so much that whether L1 keeps global loads does not show; that
 * it keeps local ones does, which cost less.  Buggy result: those as L1's. */
START_TEST(another_way_to_l1_is_not_told_for_it)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=2 memory_bytes=268435456 caches/l2/sets=512 "
                 "caches/l1={'sets': 32, 'ways': 4} "
                 "paths/global.ca={'l1': 40, 'l2': 200, 'memory': 400} "
                 "paths/global.cg={'l2': 200, 'memory': 400} "
                 "paths/local={'l1': 30, 'l2': 190, 'memory': 390} "
                 "neighbour={'from': 'l2', 'share': 0.4, 'cycles': 300, "
                 "           'burst': 16} "
                 "noise={'jitter_cycles': 1.5}"),
        "latency");
    ck_assert_str_eq(truth_text(findings, "l1.caches_global", "status"),
                     "not_measured");
    ck_assert_str_eq(truth_text(findings, "local.latency", "status"),
                     "measured");
    is_right(findings, "l1.latency", 40, false);
    json_decref(findings);
}
END_TEST

Suite *suite_truth_noisy(void)
{
    TCase *t;
    Suite *const suite = suite_of("truth_noisy", 60, &t);
    tcase_add_loop_test(t, late_loads_change_no_cost, 0, COUNT_OF(noises));
    tcase_add_test(t, misses_that_jitter_makes_early_count);
    tcase_add_test(t, hits_that_jitter_spreads_are_told_from_misses);
    tcase_add_test(t, another_way_to_l1_is_not_told_for_it);
    return suite;
}
