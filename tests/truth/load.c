/*
 * Arithmetic and tensor cores of GPUs that nobody built: with schedulers and
 * pipes as the profile says, the studies find how much each type does, that n
 * warps on S schedulers do n / (S ceil(n / S)) of it, and the same of blocks
 * on SMs.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/curve/sawtooth.h"
#include "base/mem.h"
#include "device/device.h"
#include "gpu_made.h"
#include "study/lab.h"
#include "testing.h"
#include "truth/made.h"

/* The instructions of a loop itself are a hundredth of it, and
 * more where a single warp waits for them. */
#define LOOP 0.02

enum { SMS = 3, WARPS = 8, LANES = 32 };
/* Cycles for which an instruction keeps its pipe. */
static const struct pipe {
    const char *type; /* of the findings */
    const char *row;  /* of the profile */
    double results;
    unsigned issue[2];
    bool chained; /* several chains: one warp can fill a pipe */
} pipes[] = {
    {"fp64", "fma.rn.f64", 1, {16, 2}, true},
    {"fp32", "fma.rn.f32", 1, {1, 2}, true},
    {"fp16", "fma.rn.f16", 1, {4, 2}, false},
    {"fp16x2", "fma.rn.f16x2", 2, {1, 3}, true},
    {"bf16x2", "fma.rn.bf16x2", 2, {2, 1}, true},
    {"int32", "mad.lo.s32", 1, {2, 4}, true},
};
static const unsigned schedulers[] = {4, 2};

enum { PRODUCT_ISSUE = 16, PRODUCT_CYCLES = 33, PRODUCT_OPERATIONS = 4096 };

static char *profile_of(unsigned which, const char *capability)
{
    json_t *const gpu = gpu_plain();
    gpu_wish(gpu,
             "compute_capability='%s' sms=%d warp_schedulers=%u "
             "max_threads_per_block=%d max_warps_per_sm=48 "
             "max_blocks_per_sm=4 caches/l2/sets=64 caches/l2/sector= "
             "isa/mma={'O3': %d, 'issue': %d} "
             "noise={'jitter_cycles': 1.5, 'spike_rate': 0.002, "
             "       'spike_cycles': 300}",
             capability, SMS, schedulers[which], LANES * WARPS, PRODUCT_CYCLES,
             PRODUCT_ISSUE);
    for (size_t i = 0; i < COUNT_OF(pipes); i++)
        gpu_wish(gpu, "isa/%s={'O3': 5, 'issue': %u}", pipes[i].row,
                 pipes[i].issue[which]);
    return gpu_text(gpu);
}

static struct found *measured(const char *study, unsigned gpu,
                              const char *capability)
{
    return made_measured(profile_of(gpu, capability), study);
}

static const struct finding *
finding_of(const struct found *f, const char *component, const char *attribute)
{
    char id[128];
    snprintf(id, sizeof id, "%s.%s", component, attribute);
    const struct finding *const finding = results_find(&f->results, id);
    ck_assert_msg(finding != NULL, "there is no %s", id);
    return finding;
}

static void is_near(const struct found *f, const char *component,
                    const char *attribute, double truth, double share)
{
    const struct finding *const finding = finding_of(f, component, attribute);
    ck_assert_msg(finding->value.kind == VALUE_NUMBER, "%s: %s", finding->id,
                  finding->because != NULL ? finding->because : "no number");
    ck_assert_msg(fabs(finding->value.number - truth) <= share * truth,
                  "%s: expected %g, found %g", finding->id, truth,
                  finding->value.number);
}

/* The list is the sawtooth of 1, 2, … workers. */
static void is_sawtooth(const struct found *f, const char *component,
                        double peak, unsigned servers)
{
    const struct finding *const finding = finding_of(f, component, "by_warps");
    ck_assert_uint_eq(finding->value.count, WARPS);
    for (unsigned n = 1; n <= WARPS; n++) {
        const double truth = peak * sawtooth_share(n, servers);
        const double found = finding->value.items[n - 1].number;
        ck_assert_msg(fabs(found - truth) <= LOOP * truth,
                      "%s of %u warps: expected %g, found %g", finding->id, n,
                      truth, found);
    }
}

/* Each has a pipe, but one scheduler issues both. */
static void two_types_take_turns(const struct found *f, unsigned gpu)
{
    const double cycles = fmax(2, pipes[5].issue[gpu]);
    is_near(f, "arithmetic.fp32_int32", "peak",
            2.0 * LANES * schedulers[gpu] / cycles, LOOP);
}

static void a_block_more_takes_twice_as_long(const struct found *f,
                                             unsigned gpu)
{
    static const unsigned n[] = {SMS, SMS + 1, 2 * SMS, 3 * SMS, 4 * SMS};
    const double peak = (double)LANES * schedulers[gpu] / pipes[1].issue[gpu];
    const struct finding *const blocks =
        finding_of(f, "arithmetic.fp32", "by_blocks");
    is_near(f, "arithmetic.fp32", "sawtooth_blocks", SMS, 0);
    ck_assert_uint_eq(blocks->value.count, COUNT_OF(n));
    for (size_t i = 0; i < COUNT_OF(n); i++) {
        const double truth = peak * sawtooth_share(n[i], SMS);
        ck_assert_double_eq_tol(blocks->value.items[i].number, truth,
                                0.03 * truth);
    }
}

START_TEST(arithmetic_is_what_pipes_allow)
{
    struct found *const f = measured("arithmetic", (unsigned)_i, "8.0");
    for (size_t i = 0; i < COUNT_OF(pipes); i++) {
        char component[64];
        const double peak =
            LANES * schedulers[_i] * pipes[i].results / pipes[i].issue[_i];
        snprintf(component, sizeof component, "arithmetic.%s", pipes[i].type);
        is_near(f, component, "peak", peak, LOOP);
        if (pipes[i].chained) {
            is_sawtooth(f, component, peak, schedulers[_i]);
            is_near(f, component, "sawtooth", schedulers[_i], 0);
            is_near(f, component, "warps", schedulers[_i], 0);
        }
        is_near(f, component, "gpu", peak * SMS * 1e9, LOOP);
    }
    two_types_take_turns(f, (unsigned)_i);
    a_block_more_takes_twice_as_long(f, (unsigned)_i);
    made_done(f);
}
END_TEST

START_TEST(what_the_gpu_lacks_is_skipped_with_the_reason)
{
    struct found *const f = measured("arithmetic", 0, "6.0");
    const struct finding *const bf = finding_of(f, "arithmetic.bf16x2", "peak");
    ck_assert(bf->skipped);
    ck_assert_str_eq(bf->because, "needs compute capability 8.0, this is 6.0");
    is_near(f, "arithmetic.fp16x2", "peak", LANES * 4 * 2, LOOP);
    made_done(f);
}
END_TEST

START_TEST(products_are_what_tensor_cores_allow)
{
    static const char component[] = "tensor.mma.m16n8k16.f32.f16.f16.f32";
    const double peak =
        (double)PRODUCT_OPERATIONS * schedulers[_i] / PRODUCT_ISSUE;
    struct found *const f = measured("tensor", (unsigned)_i, "8.0");
    is_near(f, component, "latency", PRODUCT_CYCLES, 0.001);
    is_near(f, component, "throughput", peak, LOOP);
    is_near(f, component, "sawtooth", schedulers[_i], 0);
    is_near(f, component, "warps", schedulers[_i], 0);
    is_near(f, component, "gpu", peak * SMS * 1e9, LOOP);
    is_sawtooth(f, component, peak, schedulers[_i]);
    const struct finding *const blocks =
        finding_of(f, "tensor.mma.m16n8k16.f16.f16.f16.f16", "by_blocks");
    for (size_t i = 0; i < blocks->value.count; i++)
        ck_assert_double_eq_tol(blocks->value.items[i].number, peak,
                                0.03 * peak);
    const struct finding *const wide =
        finding_of(f, "tensor.wgmma.m64n256k16.f32.f16.f16", "throughput");
    ck_assert(wide->skipped);
    ck_assert_ptr_nonnull(strstr(wide->because, "9.0 has wgmma"));
    made_done(f);
}
END_TEST

Suite *suite_truth_load(void)
{
    TCase *t;
    Suite *const suite = suite_of("truth_load", 60, &t);
    TCase *const slow = suite_slow(suite, 60);
    tcase_add_loop_test(t, arithmetic_is_what_pipes_allow, 0, 1);
    tcase_add_loop_test(slow, arithmetic_is_what_pipes_allow, 1, 2);
    tcase_add_test(slow, what_the_gpu_lacks_is_skipped_with_the_reason);
    tcase_add_loop_test(t, products_are_what_tensor_cores_allow, 1, 2);
    tcase_add_loop_test(slow, products_are_what_tensor_cores_allow, 0, 1);
    return suite;
}
