/*
 * What L2 keeps and fetches on GPUs that obey their loads, each in its own way,
 * and on one that has no such instructions.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "device/device.h"
#include "gpu_made.h"
#include "study/lab.h"
#include "testing.h"
#include "truth/made.h"

static const struct made_up {
    const char *capability, *hints;
    unsigned sector;
    double keeps_last, keeps_from_first;          /* shares */
    double plain, fetch_64, fetch_128, fetch_256; /* B */
} gpus[] = {
    {"9.0",
     "caches/l2/evict_last=true caches/l2/fetch_128B=128 "
     "caches/l2/fetch_256B=256",
     32, 1, 0, 32, 32, 128, 256},
    {"8.0",
     "caches/l2/evict_first=true caches/l2/fetch_64B=64 "
     "caches/l2/fetch_256B=128",
     32, 0, 1, 32, 64, 32, 128},
    {"8.6", "", 64, 0, 0, 64, 64, 64, 64},
};
static const struct made_up old = {"7.5", "", 32, 0, 0, 32, 32, 32, 0};

static char *profile_of(const struct made_up *g)
{
    return gpu_made(
        "compute_capability='%s' sms=3 warp_schedulers=2 "
        "max_threads_per_block=256 max_warps_per_sm=16 max_blocks_per_sm=8 "
        "l2_reported_bytes=65536 "
        "caches/l1={'sets': 64, 'ways': 8} "
        "caches/l2/sector=%u caches/l2/sets=64 caches/l2/ways=8 %s "
        "paths/global.ca={'l1': 32, 'l2': 200, 'memory': 500} "
        "shared_memory={'bytes': 65536, 'latency': 25, 'conflict_cycles': 1} "
        "noise={'jitter_cycles': 3, 'spike_rate': 0.005, 'spike_cycles': 400}",
        g->capability, g->sector, g->hints);
}

static struct found *measured(const struct made_up *g)
{
    return made_measured(profile_of(g), "hints");
}

static const struct finding *finding_of(const struct found *f, const char *id)
{
    const struct finding *const finding = results_find(&f->results, id);
    ck_assert_msg(finding != NULL, "there is no %s", id);
    return finding;
}

static void is(const struct found *f, const char *id, double truth,
               double tolerance)
{
    const struct finding *const x = finding_of(f, id);
    ck_assert_msg(x->status == STATUS_MEASURED, "%s: %s", id,
                  x->because != NULL ? x->because : "not measured");
    ck_assert_msg(x->value.number >= truth - tolerance &&
                      x->value.number <= truth + tolerance,
                  "%s is %g and not %g", id, x->value.number, truth);
}

/* A spike may hide one element of 64 or so. */
static const double few = 0.05;

START_TEST(what_is_kept_and_fetched_is_found)
{
    const struct made_up *const g = &gpus[_i];
    struct found *const f = measured(g);
    is(f, "l2.keeps_normal", 0, few);
    is(f, "l2.keeps_evict_last", g->keeps_last, few);
    is(f, "l2.keeps_from_evict_first", g->keeps_from_first, few);
    is(f, "l2.fetched", g->plain, 0);
    is(f, "l2.fetched_64B", g->fetch_64, 0);
    is(f, "l2.fetched_128B", g->fetch_128, 0);
    is(f, "l2.fetched_256B", g->fetch_256, 0);
    is(f, "l2.fetched_prefetch", 0, 0); /* it does nothing here */
    made_done(f);
}
END_TEST

START_TEST(what_the_gpu_lacks_is_skipped_with_the_reason)
{
    static const char *const lacking[] = {
        "l2.keeps_evict_last", "l2.keeps_from_evict_first", "l2.fetched_256B"};
    struct found *const f = measured(&old);
    is(f, "l2.keeps_normal", 0, few);
    is(f, "l2.fetched_128B", old.fetch_128, 0);
    for (size_t i = 0; i < COUNT_OF(lacking); i++) {
        const struct finding *const x = finding_of(f, lacking[i]);
        ck_assert(x->skipped);
        ck_assert_str_eq(x->because,
                         "needs compute capability 8.0, this is 7.5");
    }
    made_done(f);
}
END_TEST

/* Places are 256 B apart or an odd multiple, so that a block of twice as much,
 * which is aligned, is brought in half behind what is loaded and half before
 * it: all that is said of it is what it is at the least. */
START_TEST(blocks_longer_than_places_are_aligned_to_are_bounds)
{
    const unsigned block = 512u << _i;
    struct found *const f = made_measured(
        gpu_made("compute_capability='8.0' sms=1 l2_reported_bytes=16384 "
                 "caches/l2={'line': 128, 'sector': 32, 'sets': 32, "
                 "'ways': 4, 'scope': 'gpu', 'fetch_256B': %u} "
                 "paths/global={'l2': 200, 'memory': 500}",
                 block),
        "hints");
    const struct finding *const x = finding_of(f, "l2.fetched_256B");
    ck_assert_int_eq(x->status, STATUS_AT_LEAST);
    ck_assert_double_ge(x->value.number, 256);
    ck_assert_double_le(x->value.number, block);
    is(f, "l2.fetched", 32, 0);
    made_done(f);
}
END_TEST

/* A small L2 on a GPU that is like the plain one else. */
static struct found *of_small(const char *wishes)
{
    return made_measured(
        gpu_made("compute_capability='8.0' sms=1 "
                 "caches/l2={'line': 128, 'sector': 32, 'sets': 64, 'ways': 8, "
                 "'scope': 'gpu'} l2_reported_bytes=65536 "
                 "paths/global={'l2': 200, 'memory': 500} %s",
                 wishes),
        "hints");
}

/* Of a set that lies in a quarter of the ways, as many lines as L2 has pass
 * twice, each of which puts one of the eight out. */
START_TEST(victims_of_chance_leave_a_share_of_a_set)
{
    static const char *const kept[] = {"l2.keeps_normal", "l2.keeps_evict_last",
                                       "l2.keeps_from_evict_first"};
    const double share = pow(7 / 8.0, 16);
    struct found *const f = of_small("caches/l2/policy=random");
    for (size_t i = 0; i < COUNT_OF(kept); i++) {
        const struct finding *const x = finding_of(f, kept[i]);
        ck_assert_int_eq(x->status, STATUS_MEASURED);
        ck_assert_double_gt(x->value.number, 0);
        ck_assert(x->has_interval);
        ck_assert_double_le(x->interval[0], share);
        ck_assert_double_ge(x->interval[1], share);
        ck_assert_double_le(x->interval[0], x->value.number);
        ck_assert_double_ge(x->interval[1], x->value.number);
        ck_assert_double_lt(x->interval[1] - x->interval[0], 0.6);
    }
    made_done(f);
}
END_TEST

/* GPUs that show nothing of it, and why. */
static const struct mute {
    const char *wishes, *because;
} mute[] = {
    {"paths/global={'l2': 200, 'memory': 230}",
     "misses could not be told from hits"},
    {"l2_reported_bytes=0", "the driver does not tell how large L2 is"},
};

START_TEST(what_cannot_be_told_is_not_measured)
{
    static const char *const asked[] = {"l2.keeps_normal", "l2.fetched",
                                        "l2.fetched_128B",
                                        "l2.fetched_prefetch"};
    struct found *const f = of_small(mute[_i].wishes);
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        const struct finding *const x = finding_of(f, asked[i]);
        ck_assert_int_eq(x->status, STATUS_NOT_MEASURED);
        ck_assert_str_eq(x->because, mute[_i].because);
    }
    made_done(f);
}
END_TEST

/* Else what one experiment wants kept would be there in the next. */
START_TEST(lines_that_were_kept_long_are_let_go)
{
    struct samples samples;
    struct error err;
    const struct prober_options options = {.seed = 1};
    char *const json = profile_of(&gpus[0]);
    struct device *const device = testing_sim_of(json, 1);
    struct prober *const prober = prober_new(device, NULL, &options);
    static const char *const texts[] = {
        "keep load=l2_last pass=default bytes=16384 looks=64",
        "keep load=none bytes=16384 looks=64"};
    size_t slow = 0;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        ASSERT_DONE(prober_run(prober, texts[i], &samples, NULL, &err), err);
        const size_t cycles = samples_column(&samples, "cycles");
        slow = 0;
        for (size_t row = 0; row < samples.rows; row++)
            slow += samples_at(&samples, row, cycles) > 400;
        ck_assert_uint_eq(samples.rows, 64);
        samples_free(&samples);
        if (i == 0)
            ck_assert_uint_le(slow, 3);
    }
    ck_assert_uint_eq(slow, 64);
    prober_free(prober);
    device_close(device);
    free(json);
}
END_TEST

Suite *suite_truth_hints(void)
{
    TCase *t;
    Suite *const suite = suite_of("truth_hints", 60, &t);
    tcase_add_loop_test(t, what_is_kept_and_fetched_is_found, 0,
                        (int)COUNT_OF(gpus));
    tcase_add_loop_test(t, blocks_longer_than_places_are_aligned_to_are_bounds,
                        0, 2);
    tcase_add_test(t, victims_of_chance_leave_a_share_of_a_set);
    tcase_add_loop_test(t, what_cannot_be_told_is_not_measured, 0,
                        (int)COUNT_OF(mute));
    tcase_add_test(t, what_the_gpu_lacks_is_skipped_with_the_reason);
    tcase_add_test(t, lines_that_were_kept_long_are_let_go);
    return suite;
}
