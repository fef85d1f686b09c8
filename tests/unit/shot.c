/* Shots: arguments reach a kernel, and what it writes comes back; blocks that
 * are pinned to SMs are waited for. */
#include "probe/run/shot.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probe/run/pin.h"
#include "testing.h"
#include "unit/fake_device.h"

enum { BLOCKS = 2, THREADS = 64, WORDS = 3 };

/* Adds, for each thread, the second argument to a word of the first. */
static void write_adder(struct buf *out, const struct device_info *info)
{
    struct kernel_text k;
    kernel_begin(&k, out, device_cc(info), .name = "adder",
                 .parameters = "out number");
    ptx(&k, ".reg .b64 %out, %number, %before;\n"
            "ld.param.u64 %out, [out];\n"
            "ld.param.u64 %number, [number];\n"
            "atom.global.add.u64 %before, [%out+8], %number;\n");
    kernel_end(&k);
}

START_TEST(a_kernel_gets_its_arguments_and_its_words_come_back)
{
    struct device *const device = testing_sim("gtx560ti", 1);
    const struct prober_options options = {.seed = 1};
    struct prober *const prober = prober_new(device, NULL, &options);
    struct error err = {0};
    struct buf text = {0};
    uint64_t args[] = {0, 5};
    const struct shot shot = {
        .kernel = "adder",
        .blocks = BLOCKS,
        .threads = THREADS,
        .args = args,
        .arg_count = COUNT_OF(args),
    };
    write_adder(&text, &device->info);
    ASSERT_DONE(prober_zeros(prober, BUFFER_OUT, 8 * WORDS, &args[0], &err),
                err);
    ASSERT_DONE(prober_shoot_helper(prober, &text, &shot, &err), err);
    uint64_t *const words = prober_fetch(prober, args[0], 8 * WORDS, &err);
    ck_assert_ptr_nonnull(words);
    ck_assert_uint_eq(words[0], 0);
    ck_assert_uint_eq(words[1], 5 * BLOCKS * THREADS);
    ck_assert_uint_eq(words[2], 0);
    free(words);
    buf_free(&text);
    prober_free(prober);
    device_close(device);
}
END_TEST

/* No word says that its SM is done. */
static void none_done(struct fake_device *fake, uint64_t *words, size_t count)
{
    (void)fake;
    memset(words, 0, count * sizeof *words);
}

/* Only the third launch brings a block to the second SM. */
static void late(struct fake_device *fake, uint64_t *words, size_t count)
{
    words[count - 1] = fake->launches == 3;
}

/* What becomes of work on two SMs. */
static int pinned(struct fake_device *fake, struct error *err)
{
    static const uint64_t sms[] = {0, 1}, jobs[] = {0, 0};
    const struct prober_options options = {.seed = 1};
    struct prober *const prober = prober_new(&fake->device, NULL, &options);
    struct experiment e;
    struct pin pin = {
        .count = 2,
        .sms = sms,
        .jobs = jobs,
        .job_bytes = 8,
        .words_each = 2,
        .threads = 32,
    };
    ASSERT_DONE(experiment_parse("clock", &e, err), *err);
    ASSERT_DONE(pin_place(prober, &pin, err), *err);
    free(pin_run(prober, &e, &pin, err));
    experiment_free(&e);
    prober_free(prober);
    return err->code;
}

static const struct {
    void (*read)(struct fake_device *fake, uint64_t *words, size_t count);
    int code;
    unsigned launches;
} pins[] = {
    {NULL, 0, 1},
    /* A launch that leaves an SM out is tried again. */
    {late, 0, 3},
    {none_done, ERR_UNSUPPORTED, 5},
};

START_TEST(pinned_blocks_are_tried_until_they_came)
{
    struct fake_device fake;
    struct error err = {0};
    fake_device_open(&fake, 80);
    fake.read = pins[_i].read;
    ck_assert_int_eq(pinned(&fake, &err), pins[_i].code);
    ck_assert_uint_eq(fake.launches, pins[_i].launches);
    fake_device_close(&fake);
}
END_TEST

/* A job: where the results go, the pin's counter, and one that nobody resets.
 */
enum { JOB_WORDS = 3, RUNS_MOST = 3 };

/* Counts itself, and is done in all launches but the first. */
static void counting_kernel(const struct experiment *e,
                            const struct device_info *info, struct buf *out)
{
    struct kernel_text k;
    (void)e;
    kernel_begin(&k, out, device_cc(info), .name = "clock",
                 .parameters = PIN_PARAMETERS, .variables = PIN_VARIABLES);
    pin_opening(&k, 8 * JOB_WORDS);
    ptx(&k, ".reg .b32 %count, %tries;\n"
            ".reg .b64 %word;\n"
            "ld.global.u64 %at, [%job+8];\n"
            "atom.global.add.u32 %count, [%at], 1;\n"
            "ld.global.u64 %at, [%job+16];\n"
            "atom.global.add.u32 %tries, [%at], 1;\n"
            "ld.global.u64 %at, [%job];\n"
            "cvt.u64.u32 %word, %count;\n"
            "st.global.u64 [%at], %word;\n"
            "setp.ge.u32 %again, %tries, 1;\n"
            "mov.u64 %word, 1;\n"
            "@%again st.global.u64 [%at+8], %word;\n");
    kernel_end(&k);
}

/* Runs the counting kernel on the GPU's fourth SM, so many times in a row; the
 * caller frees the words. */
static uint64_t *counted(size_t runs)
{
    struct device *const device = testing_sim("gtx560ti", 1);
    const struct prober_options options = {.seed = 1};
    struct prober *const prober = prober_new(device, NULL, &options);
    struct error err = {0};
    const uint64_t sm = 3;
    uint64_t tries, job[RUNS_MOST][JOB_WORDS];
    struct pin pin = {.count = 1,
                      .sms = &sm,
                      .jobs = job[0],
                      .job_bytes = sizeof *job,
                      .words_each = 2,
                      .threads = 1,
                      .runs = runs,
                      .shared_bytes = PIN_POOL};
    ASSERT_DONE(pin_place(prober, &pin, &err), err);
    ASSERT_DONE(prober_zeros(prober, BUFFER_RING, 8, &tries, &err), err);
    for (size_t run = 0; run < runs; run++) {
        job[run][0] = pin_out(&pin, run);
        job[run][1] = pin_counter(&pin, run);
        job[run][2] = tries;
    }
    static const struct param none[1];
    const struct probe probe = {
        .name = "clock", .params = none, .kernel = counting_kernel};
    struct experiment e = {.probe = &probe};
    uint64_t *const words = pin_run(prober, &e, &pin, &err);
    ck_assert_ptr_nonnull(words);
    prober_free(prober);
    device_close(device);
    return words;
}

START_TEST(a_launch_that_is_tried_again_begins_anew)
{
    uint64_t *const words = counted(1);
    /* The second launch was counted from 0. */
    ck_assert_uint_eq(words[0], 0);
    ck_assert_uint_eq(words[1], 1);
    free(words);
}
END_TEST

START_TEST(launches_in_a_row_have_their_own_counters_and_results)
{
    uint64_t *const words = counted(RUNS_MOST);
    /* The first of them was not done, so that all were made again. */
    for (size_t run = 0; run < RUNS_MOST; run++) {
        ck_assert_uint_eq(words[2 * run], 0);
        ck_assert_uint_eq(words[2 * run + 1], 1);
    }
    free(words);
}
END_TEST

Suite *suite_shot(void)
{
    TCase *t;
    Suite *const suite = suite_of("shot", 10, &t);
    tcase_add_test(t, a_kernel_gets_its_arguments_and_its_words_come_back);
    tcase_add_test(t, a_launch_that_is_tried_again_begins_anew);
    tcase_add_test(t, launches_in_a_row_have_their_own_counters_and_results);
    tcase_add_loop_test(t, pinned_blocks_are_tried_until_they_came, 0,
                        COUNT_OF(pins));
    return suite;
}
