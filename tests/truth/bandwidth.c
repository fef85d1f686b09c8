/*
 * The study of bandwidth on GPUs whose rates are written down, and on some
 * where there is nothing to find.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/log.h"
#include "base/mem.h"
#include "device/device.h"
#include "disturbance.h"
#include "gpu_made.h"
#include "judge.h"
#include "probe/run.h"
#include "sonde.h"
#include "testing.h"
#include "truth/truth.h"

/* What differs between the made-up GPUs; rates in B/clk. */
struct made_up {
    const char *capability;
    unsigned sms, schedulers, khz;
    const char *default_operator;
    double l1, constant, shared_read, shared_write;
    double l2_read, l2_write, memory_read, memory_write;
    double jitter;
};

/* Rates are low, so that few loads reach them.  Of the first, L1 gives less
 * than memory does; of the second, L2 takes stores no faster than memory. */
static const struct made_up gpus[] = {
    {"9.0", 2, 4, 1500000, "cg", 4, 6, 44, 32, 24, 18, 10.8, 8.4, 0},
    {"9.0", 3, 2, 900000, "ca", 48, 4, 96, 96, 88, 40.5, 40.5, 40.5, 2},
};
/* It has no bulk copies. */
static const struct made_up older = {"8.0", 2,  4,  1500000, "cg", 100, 6,
                                     110,   64, 60, 45,      27,   21,  0};

/* It tells how large L2 is. */
static const char l2_told[] = "l2_reported_bytes=524288";

/* The caller frees. */
static char *profile_of(const struct made_up *g, const char *more)
{
    json_t *const gpu = gpu_plain();
    gpu_wish(gpu,
             "compute_capability='%s' sms=%u warp_schedulers=%u clock_khz=%u "
             "default_operator=%s registers_per_sm=65536 "
             "memory_clock_khz=1000000 memory_bus_bits=512 "
             "memory_read_bandwidth=%g memory_write_bandwidth=%g",
             g->capability, g->sms, g->schedulers, g->khz, g->default_operator,
             g->memory_read, g->memory_write);
    gpu_wish(gpu,
             "caches/l1={'sets': 64, 'ways': 4, 'read_bandwidth': %g} "
             "caches/l2/sets=256 caches/l2/read_bandwidth=%g "
             "caches/l2/write_bandwidth=%g "
             "caches/const_l1={'line': 64, 'sets': 8, 'ways': 4, "
             "                 'read_bandwidth': %g}",
             g->l1, g->l2_read, g->l2_write, g->constant);
    gpu_wish(gpu,
             "paths/global.ca={'l1': 32, 'l2': 100, 'memory': 300} "
             "paths/global.cg={'l2': 100, 'memory': 300} "
             "paths/texture={'l1': 40, 'l2': 100, 'memory': 300} "
             "paths/constant={'const_l1': 17, 'l2': 100, 'memory': 300} "
             "shared_memory={'bytes': 65536, 'latency': 25, "
             "               'conflict_cycles': 1, 'read_bandwidth': %g, "
             "               'write_bandwidth': %g} "
             "noise/jitter_cycles=%g %s",
             g->shared_read, g->shared_write, g->jitter, more);
    return gpu_text(gpu);
}

/* The findings of the study; the caller decrefs. */
static json_t *findings_of(const struct made_up *g, const char *more)
{
    return truth_findings_of(profile_of(g, more), "bandwidth");
}

/* A kernel takes longer than its bytes do at the rate that is written down, by
 * what it takes to begin and to end. */
static void compare(const char *id, double found, double expected)
{
    printf("%-32s expected %14.6g found %14.6g\n", id, expected, found);
    fflush(stdout);
    ck_assert_msg(fabs(found - expected) <= 0.02 * expected, "%s is %g, not %g",
                  id, found, expected);
}

static void expect(const json_t *findings, const char *id, double expected)
{
    compare(id, json_number_value(truth_measured(findings, id)), expected);
}

static void expect_items(const json_t *findings, const char *id,
                         const double *expected, size_t count)
{
    const json_t *const list = truth_measured(findings, id);
    ck_assert_uint_eq(json_array_size(list), count);
    for (size_t i = 0; i < count; i++)
        compare(id, json_number_value(json_array_get(list, i)), expected[i]);
}

/* Wide accesses reach the rate; narrow ones cannot be more of them than the
 * schedulers issue, and half as wide is never more than a little faster. */
static void expect_widths(const json_t *findings, const char *id, double rate)
{
    enum { WIDTHS = 5 };
    const json_t *const list = truth_measured(findings, id);
    double before = 0;
    ck_assert_uint_eq(json_array_size(list), WIDTHS);
    for (size_t i = 0; i < WIDTHS; i++) {
        const double now = json_number_value(json_array_get(list, i));
        ck_assert_double_le(now, 1.02 * rate);
        ck_assert_double_ge(now, 0.95 * before);
        before = now;
    }
    compare(id, before, rate);
}

/* The last of the list is with all of them. */
static void expect_all_sms(const json_t *findings, const char *id, double rate)
{
    const json_t *const list = truth_measured(findings, id);
    const size_t count = json_array_size(list);
    ck_assert_uint_ge(count, 2);
    compare(id, json_number_value(json_array_get(list, count - 1)), rate);
}

/* ---- what is written down --------------------------------------------- */

static void expect_sm(const json_t *findings, const struct made_up *g)
{
    /* A warp's 32 words touch 4 sectors of 32 B, then 8, 16, 32. */
    const double strides[] = {g->l1,     g->l1 / 2, g->l1 / 4, g->l1 / 8,
                              g->l1 / 8, g->l1 / 8, g->l1 / 8, g->l1 / 8};
    /* Rows of 8 words fill a sector, shorter ones a part of one. */
    const double shapes[] = {g->l1,     g->l1,     g->l1,
                             g->l1 / 2, g->l1 / 4, g->l1 / 8};
    const double uses[] = {g->l1, g->l1, g->l1};
    expect(findings, "l1.read_bandwidth", g->l1);
    expect_items(findings, "l1.read_bandwidth_by_use", uses, COUNT_OF(uses));
    expect_items(findings, "l1.read_bandwidth_by_stride", strides,
                 COUNT_OF(strides));
    expect_items(findings, "l1.read_bandwidth_by_shape", shapes,
                 COUNT_OF(shapes));
    expect_widths(findings, "l1.read_bandwidth_by_width", g->l1);
    expect_widths(findings, "shared.read_bandwidth_by_width", g->shared_read);
    expect(findings, "texture.read_bandwidth", g->l1);
    expect(findings, "const_l1.read_bandwidth", g->constant);
    expect(findings, "shared.read_bandwidth", g->shared_read);
    expect(findings, "shared.write_bandwidth", g->shared_write);
}

/* A small part of L2 may have no room for all that would saturate it. */
static void expect_at_most(const json_t *findings, const char *id,
                           double expected)
{
    const json_t *const value =
        json_object_get(json_object_get(findings, id), "value");
    if (strcmp(truth_text(findings, id, "status"), "at_least") != 0)
        expect(findings, id, expected);
    else
        ck_assert_double_le(json_number_value(value), 1.02 * expected);
}

static void expect_gpu(const json_t *findings, const struct made_up *g)
{
    const double hz = 1e3 * g->khz;
    const double r = g->memory_read * hz, w = g->memory_write * hz;
    expect_at_most(findings, "l2.read_bandwidth", g->l2_read * hz);
    expect(findings, "l2.read_bandwidth_half", g->l2_read * hz);
    expect_widths(findings, "l2.read_bandwidth_by_width", g->l2_read * hz);
    expect_widths(findings, "memory.read_bandwidth_by_width", r);
    expect_all_sms(findings, "l2.read_bandwidth_by_sms", g->l2_read * hz);
    expect_all_sms(findings, "memory.read_bandwidth_by_sms", r);
    if (g->l2_write > g->memory_write)
        expect_at_most(findings, "l2.write_bandwidth", g->l2_write * hz);
    else
        ck_assert_str_eq(truth_text(findings, "l2.write_bandwidth", "status"),
                         "at_least");
    expect(findings, "memory.read_bandwidth", r);
    expect(findings, "memory.ordered_read_bandwidth", r);
    expect(findings, "memory.bulk_read_bandwidth", r);
    expect(findings, "l2.bulk_read_bandwidth", g->l2_read * hz);
    expect(findings, "memory.write_bandwidth", w);
    expect(findings, "memory.copy_bandwidth", 2 / (1 / r + 1 / w));
    expect(findings, "memory.triad_bandwidth", 3 / (2 / r + 1 / w));
}

/* Of those that are measured, whose interval claims 95 %, all but one. */
static void expect_intervals(const json_t *findings, const struct made_up *g)
{
    const double hz = 1e3 * g->khz;
    const double r = g->memory_read * hz, w = g->memory_write * hz;
    const struct {
        const char *id;
        double truth;
    } rates[] = {
        {"l1.read_bandwidth", g->l1},
        {"texture.read_bandwidth", g->l1},
        {"const_l1.read_bandwidth", g->constant},
        {"shared.read_bandwidth", g->shared_read},
        {"shared.write_bandwidth", g->shared_write},
        {"l2.read_bandwidth_half", g->l2_read * hz},
        {"l2.bulk_read_bandwidth", g->l2_read * hz},
        {"memory.read_bandwidth", r},
        {"memory.bulk_read_bandwidth", r},
        {"memory.write_bandwidth", w},
        {"memory.copy_bandwidth", 2 / (1 / r + 1 / w)},
        {"memory.triad_bandwidth", 3 / (2 / r + 1 / w)},
    };
    size_t missed = 0;
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        const json_t *const in =
            json_object_get(json_object_get(findings, rates[i].id), "interval");
        const double low = json_number_value(json_array_get(in, 0));
        const double high = json_number_value(json_array_get(in, 1));
        printf("%-32s %14.6g in %14.6g %14.6g\n", rates[i].id, rates[i].truth,
               low, high);
        ck_assert_double_le(high - low, 0.03 * rates[i].truth);
        missed += rates[i].truth < low || rates[i].truth > high;
    }
    /* Each holds in 95 of 100: three of twelve miss once in 50. */
    ck_assert_uint_le(missed, 2);
}

/* What passes once is found in no cache, whatever the operator; but where L1 is
 * slower than memory, loads that go through it are. */
static void expect_effects_of_operators(const json_t *findings,
                                        const struct made_up *g)
{
    /* default (cg), ca, cg, cs, lu, cv, no_allocate (as default) */
    static const bool by_l1[] = {false, true, false, true, true, false, false};
    const double through = g->l1 * g->sms / g->memory_read - 1;
    const json_t *const effects = truth_protocol(
        findings, "memory.read_bandwidth_by_operator", "effects");
    ck_assert_uint_eq(json_array_size(effects), COUNT_OF(by_l1));
    for (size_t i = 0; i < COUNT_OF(by_l1); i++) {
        const char *const effect =
            json_string_value(json_array_get(effects, i));
        if (through < 0 && by_l1[i])
            ck_assert_msg(fabs(strtod(effect, NULL) - 100 * through) < 0.2,
                          "operator %zu: %s", i, effect);
        else
            ck_assert_str_eq(effect, "none");
    }
}

START_TEST(rates_are_found)
{
    const struct made_up *const g = &gpus[_i];
    json_t *const findings = findings_of(g, l2_told);
    ck_assert_str_eq(
        json_string_value(truth_measured(findings, "l1.default_operator")),
        g->default_operator);
    expect_sm(findings, g);
    expect_gpu(findings, g);
    expect_intervals(findings, g);
    expect_effects_of_operators(findings, g);
    compare("fraction of the stated peak",
            json_number_value(
                truth_protocol(findings, "memory.read_bandwidth", "fraction")),
            1e3 * g->khz * g->memory_read / 128e9);
    compare("SM clock",
            json_number_value(
                truth_protocol(findings, "memory.read_bandwidth", "sm_clock")),
            1e3 * g->khz);
    json_decref(findings);
}
END_TEST

/* ---- what belongs to topology ------------------------------------------ */

/* What is found in short, by a GPU's noise: measured, with an interval that
 * holds the truth or nearly, and narrow; of a small L2 it may be a bound. */
static void expect_read(const json_t *findings, const char *id, double truth)
{
    const json_t *const f = json_object_get(findings, id);
    const json_t *const interval = json_object_get(f, "interval");
    const double value = json_number_value(json_object_get(f, "value"));
    const double low = json_number_value(json_array_get(interval, 0));
    const double high = json_number_value(json_array_get(interval, 1));
    const char *const status = truth_text(findings, id, "status");
    printf("%-24s %s %g in %g %g of %g\n", id, status, value, low, high, truth);
    fflush(stdout);
    if (strcmp(status, "at_least") == 0 && strncmp(id, "l2.", 3) == 0) {
        ck_assert_double_le(value, 1.001 * truth);
        return;
    }
    ck_assert_str_eq(status, "measured");
    ck_assert_double_le(low, 1.001 * truth);
    ck_assert_double_ge(high, 0.999 * truth);
    ck_assert_double_le(high - low, 0.06 * truth);
}

START_TEST(reads_are_found_in_short)
{
    const struct made_up *const g = &gpus[_i % 2];
    json_t *const findings = truth_findings_seeded(profile_of(g, l2_told),
                                                   (uint64_t)_i + 1, "reads");
    const double hz = 1e3 * g->khz;
    expect_read(findings, "l1.read_bandwidth", g->l1);
    expect_read(findings, "shared.read_bandwidth", g->shared_read);
    expect_read(findings, "l2.read_bandwidth", g->l2_read * hz);
    expect_read(findings, "memory.read_bandwidth", g->memory_read * hz);
    json_decref(findings);
}
END_TEST

/*
 * A scheduler that issues the loop, too, has the less time for loads the fewer
 * of them a turn of the loop has.
 * Expected: 84 B/clk, by 16 of them.
 * Buggy result: more warps gave nothing more, and 64 were measured; beside rare
 * disturbances 152 of 168 of a P100.
 */
START_TEST(more_accesses_give_more_where_more_warps_do_not)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 warp_schedulers=1 caches/l2/sets=64 "
                 "caches/l1={'sets': 64, 'ways': 4} "
                 "paths/global.ca={'l1': 92, 'l2': 242, 'memory': 492} "
                 "paths/global.cg={'l2': 242, 'memory': 492}"),
        "reads");
    expect_read(findings, "l1.read_bandwidth", 84.16);
    json_decref(findings);
}
END_TEST

/* What reads tell of a disturbed GPU, and how many launches that took. */
static size_t launches;

static void note_launches(enum log_level level, const char *text)
{
    const char *const last = strrchr(text, ';');
    if (level == LOG_INFO && strncmp(text, "guard: ", 7) == 0)
        sscanf(last, "; %*u and %*u of %zu launches", &launches);
}

static const struct beside {
    const char *kind;
    unsigned strength;
    const char *gpu;
    uint64_t seed;
} besides[] = {
    {"rare", 2, "small_rates", 1},      {"neighbour", 4, "small_rates", 1},
    {"rare", 3, "small_rates", 1},      {"rare", 4, "small_rates", 1},
    {"rare", 5, "small_rates", 1},      {"noise", 3, "small_rates", 1},
    {"noise", 5, "small_rates", 1},     {"turns", 3, "small_rates", 1},
    {"intruder", 4, "small_rates", 1},  {"intruder", 5, "small_rates", 1},
    {"neighbour", 5, "small_rates", 1}, {"processes", 3, "small_rates", 1},
    {"noise", 3, "quick", 4},           {"rare", 2, "small_fifo", 7},
    {"rare", 3, "small_rates", 20}};

static json_t *reads_beside(const struct beside *b, size_t *took)
{
    log_to(note_launches);
    json_t *const findings = truth_findings_seeded(
        disturbed_gpu(b->gpu, b->kind, b->strength), b->seed, "reads");
    log_to(NULL);
    *took = launches;
    return findings;
}

enum { BESIDES_QUICK = 2 };

/* Nothing that is told is wrong; and it takes a few times the launches that a
 * quiet GPU does (three), however it is disturbed.  Buggy result: 49 s of a
 * core for half a second, and 14 B/clk in doubt that were 85; and of accesses
 * of 8 B 73 B/clk, where short runs had said less of 4 B, which pass 128;
 * and at least 19.25 of 19. */
START_TEST(reads_are_brief_beside_others)
{
    const struct beside *const b = &besides[_i];
    static const char *const ids[] = {
        "l1.read_bandwidth", "shared.read_bandwidth", "l2.read_bandwidth",
        "memory.read_bandwidth"};
    size_t quiet, took;
    const struct beside nobody = {"none", 0, b->gpu, 1};
    json_t *const truth = reads_beside(&nobody, &quiet);
    json_t *const found = reads_beside(b, &took);
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        const json_t *const f = json_object_get(found, ids[i]);
        ck_assert_ptr_nonnull(f);
        ck_assert_msg(judge(json_object_get(truth, ids[i]), f, 1) !=
                          JUDGED_WRONG,
                      "%s beside %s %u", ids[i], b->kind, b->strength);
    }
    ck_assert_uint_gt(quiet, 50);
    ck_assert_uint_le(took, 4 * quiet);
    json_decref(truth);
    json_decref(found);
}
END_TEST

/* What nothing but loops limits grows with what a loop loads: the most warps
 * are not the most that pass.  Buggy result: 152 B/clk, measured, by every
 * other seed; 164 and more by the others. */
START_TEST(the_most_warps_need_not_give_the_most)
{
    static const char *const study = "reads";
    static const uint64_t seeds[] = {0, 3};
    json_t *const findings = truth_findings("sim:p100", seeds[_i], &study, 1);
    ck_assert_str_eq(truth_text(findings, "l1.read_bandwidth", "status"),
                     "at_least");
    json_decref(findings);
}
END_TEST

/* ---- repetitions ------------------------------------------------------- */

enum { REPEATS = 50 };

/* By the rate column, in B/clk. */
static void read_rates(const struct samples *s, double *rates)
{
    const size_t repeat = 0, rate = samples_column(s, "rate");
    for (size_t i = 0; i < s->rows; i++)
        rates[samples_at(s, i, repeat)] +=
            (double)samples_at(s, i, rate) / (1 << 20);
}

/* Expected: their mean is the truth, to what they differ by.  Buggy result:
 * 64.018 in an SM, 24.005 of memory, eight standard errors more, since the time
 * of a warp began with a tile of its own and others ended before it. */
START_TEST(rates_repeat_around_the_truth)
{
    static const struct {
        const char *text;
        double rate;
    } cases[] = {
        {"stream cache=ca share=sm unroll=2 blocks=2 sms=1 bytes=1024 laps=8 "
         "lead=16384 cycles=32768 dither=12 repeats=50",
         64},
        {"stream op=write space=shared share=sm unroll=1 blocks=2 sms=1 "
         "bytes=512 lead=16384 cycles=32768 dither=12 repeats=50",
         48},
        {"stream cache=cg share=gpu bytes=65536 lead=16384 cycles=32768 "
         "dither=12 repeats=50",
         48},
        {"stream share=gpu bytes=4194304 warm=0 lead=65536 cycles=131072 "
         "dither=12 repeats=50",
         24},
    };
    struct samples s;
    struct error err;
    double rates[REPEATS] = {0};
    char *const gpu = disturbed_gpu("small_load", "noise", 1);
    struct device *const device = testing_sim_of(gpu, 1);
    ck_assert_msg(testing_run_on(device, cases[_i].text, &s, &err) == 0, "%s",
                  err.text);
    read_rates(&s, rates);
    const double off = stats_mean(rates, REPEATS) - cases[_i].rate;
    const double error = stats_mean_error(rates, REPEATS);
    ck_assert_msg(fabs(off) < 4 * error + 1e-5 * cases[_i].rate,
                  "%g off by %g; standard error %g", cases[_i].rate, off,
                  error);
    ck_assert_double_lt(error, 2e-4 * cases[_i].rate);
    samples_free(&s);
    device_close(device);
    free(gpu);
}
END_TEST

/* An L2 of which an eighth is so small that all of it is under way at once.
 * Expected: a bound.  Buggy result: 8.2 GB/s measured, of 13, since the search
 * ended with a step that changed the width alone. */
START_TEST(where_no_more_fits_there_is_a_bound)
{
    json_t *const gpu = disturbance_gpu("small_rates");
    gpu_wish(gpu, "caches/l2/sets=16 l2_reported_bytes=16384");
    json_t *const findings = truth_findings_of(gpu_text(gpu), "bandwidth");
    ck_assert_str_eq(truth_text(findings, "l2.read_bandwidth", "status"),
                     "at_least");
    json_decref(findings);
}
END_TEST

/* Banks conflict less for narrower accesses, and what these give, B/clk. */
static const struct narrow {
    const char *profile, *change;
    double given;
} narrower[] = {
    /* Of 8 B of a lane 85 pass, with no more from twice as many, and as many of
     * 4 B, of which twice as many give 128.  Buggy result: 85.2 ± 0.8,
     * measured. */
    {"p6000", "shared_memory/latency=40", 128},
    /* Of 8 B fewer pass than of 16.  Buggy result: 17.64, measured. */
    {"gtx780", "shared_memory/latency=20", 128},
};

START_TEST(narrower_accesses_need_more_in_flight)
{
    const struct narrow *const n = &narrower[_i];
    json_t *const findings = truth_findings_of(
        gpu_changed(n->profile,
                    "sms=1 tpcs_per_gpc=1 l2_reported_bytes= noise= %s",
                    n->change),
        "reads");
    expect(findings, "shared.read_bandwidth", n->given);
    json_decref(findings);
}
END_TEST

/* Of L1 as much passes by 4 B of a lane as by 16, so that chance says which a
 * search ends with; of constants 1.3 B/clk by 4 B and 2 by more, and their
 * search begins as that of L1 ended.  Buggy result: 1.30 ± 0.001, measured, of
 * a GPU as quiet as they are. */
START_TEST(a_search_begins_with_wide_accesses)
{
    json_t *const findings = truth_findings_seeded(
        disturbed_gpu("small_rates", "noise", 1), 28, "bandwidth");
    expect(findings, "const_l1.read_bandwidth", 2);
    json_decref(findings);
}
END_TEST

/* An SM has room for 512 threads, which a search of slow instructions fills.
 * Buggy result: not measured, "stream: 1024 threads; an SM has 512", since the
 * narrowest accesses were tried with twice the blocks, room or not. */
START_TEST(what_has_no_room_is_not_asked)
{
    json_t *const findings = truth_findings_of(
        gpu_made("clock_khz=1000000 max_threads_per_block=256 "
                 "max_warps_per_sm=16 max_blocks_per_sm=4 "
                 "shared_memory={'bytes': 49152, 'latency': 30, "
                 "'conflict_cycles': 2} isa={'default': {'O3': 9}}"),
        "reads");
    const json_t *const f = json_object_get(findings, "shared.read_bandwidth");
    ck_assert_str_eq(truth_text(findings, "shared.read_bandwidth", "status"),
                     "at_least");
    ck_assert_double_gt(json_number_value(json_object_get(f, "value")), 80);
    json_decref(findings);
}
END_TEST

/* The rates of L2 grow with what is in flight to four times what the search
 * begins with, and there is room for no more; another process takes 20,000
 * cycles of every fifth launch.  Buggy result: the first step's, measured, a
 * fifth of what passes, since a slice within the second made that slower. */
START_TEST(a_search_does_not_end_by_a_step_that_was_disturbed)
{
    static const uint64_t seeds[] = {4, 9};
    json_t *const findings = truth_findings_seeded(
        gpu_changed("gtx1080ti",
                    "sms=1 tpcs_per_gpc=1 l2_reported_bytes=262144 "
                    "memory_read_bandwidth=10 memory_write_bandwidth=10 "
                    "noise={'jitter_cycles': 1.5} "
                    "intruder={'share': 0.2, 'cycles': 20000, 'empties': "
                    "['l1', 'l2', 'const_l1', 'const_l15', 'icache_l1', "
                    "'tlb_l1', 'tlb_l2']}"),
        seeds[_i], "reads");
    const json_t *const l2 = json_object_get(findings, "l2.read_bandwidth");
    ck_assert_str_eq(truth_text(findings, "l2.read_bandwidth", "status"),
                     "at_least");
    ck_assert_double_gt(json_number_value(json_object_get(l2, "value")), 2e11);
    json_decref(findings);
}
END_TEST

/* ---- what is not there ------------------------------------------------- */

START_TEST(without_a_size_of_l2_nothing_is_guessed)
{
    static const char *const ids[] = {"l2.read_bandwidth",
                                      "memory.read_bandwidth"};
    json_t *const findings = truth_findings_of(
        gpu_made("sms=2 caches/l2/sets=64 shared_memory/read_bandwidth=16 "
                 "shared_memory/write_bandwidth=16"),
        "bandwidth");
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        ck_assert_str_eq(truth_text(findings, ids[i], "status"),
                         "not_measured");
        ck_assert_str_ne(truth_text(findings, ids[i], "because"), "");
    }
    json_decref(findings);
}
END_TEST

START_TEST(without_bulk_copies_they_are_skipped)
{
    static const char *const ids[] = {"memory.bulk_read_bandwidth",
                                      "l2.bulk_read_bandwidth"};
    json_t *const findings = findings_of(&older, l2_told);
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        ck_assert_str_eq(truth_text(findings, ids[i], "status"),
                         "not_measured");
        ck_assert_str_eq(truth_text(findings, ids[i], "because"),
                         "needs compute capability 9.0, this is 8.0");
        ck_assert(json_is_true(
            json_object_get(json_object_get(findings, ids[i]), "skipped")));
    }
    expect(findings, "memory.read_bandwidth",
           1e3 * older.khz * older.memory_read);
    json_decref(findings);
}
END_TEST

Suite *suite_truth_bandwidth(void)
{
    TCase *t;
    Suite *const suite = suite_of("truth_bandwidth", 120, &t);
    TCase *const slow = suite_slow(suite, 120);
    tcase_add_loop_test(t, rates_are_found, 0, 1);
    tcase_add_loop_test(t, reads_are_found_in_short, 0, 2);
    tcase_add_test(t, more_accesses_give_more_where_more_warps_do_not);
    tcase_add_loop_test(t, narrower_accesses_need_more_in_flight, 0,
                        COUNT_OF(narrower));
    tcase_add_loop_test(t, a_search_does_not_end_by_a_step_that_was_disturbed,
                        0, 2);
    tcase_add_test(t, what_has_no_room_is_not_asked);
    tcase_add_test(t, without_a_size_of_l2_nothing_is_guessed);
    tcase_add_loop_test(t, rates_repeat_around_the_truth, 0, 4);
    tcase_add_loop_test(t, reads_are_brief_beside_others, 0, BESIDES_QUICK);
    tcase_add_loop_test(slow, reads_are_found_in_short, 2, 6);
    tcase_add_loop_test(slow, reads_are_brief_beside_others, BESIDES_QUICK,
                        (int)COUNT_OF(besides));
    tcase_add_test(slow, where_no_more_fits_there_is_a_bound);
    tcase_add_test(slow, a_search_begins_with_wide_accesses);
    tcase_add_loop_test(slow, the_most_warps_need_not_give_the_most, 0, 2);
    tcase_add_loop_test(slow, rates_are_found, 1, (int)COUNT_OF(gpus));
    tcase_add_test(slow, without_bulk_copies_they_are_skipped);
    return suite;
}
