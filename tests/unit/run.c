/* The measuring protocol, on a GPU that answers what the test wants. */
#include "probe/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stop.h"
#include "probe/guard.h"
#include "probe/record.h"
#include "testing.h"
#include "unit/fake_device.h"

/* Of `chase`, whose result words the tests know, as well as its bounds. */
enum { WORD_SHORT = 2, WORD_LONG, CHASE_WORDS = 6 };
enum { LEAST = 9, MOST = 25, LAUNCHES_EACH = 2, WARM_UPS = 1 };

static struct prober *prober_on(struct fake_device *fake,
                                struct recording *recording)
{
    const struct prober_options options = {.seed = 1, .ticket = stop_ticket()};
    return prober_new(&fake->device, recording, &options);
}

/* Runs the experiment on the GPU; the samples are the caller's. */
static struct samples run_on(struct fake_device *fake, const char *text)
{
    struct prober *const prober = prober_on(fake, NULL);
    struct samples samples;
    struct error err;
    ASSERT_DONE(prober_run(prober, text, &samples, NULL, &err), err);
    prober_free(prober);
    return samples;
}

/* How many repetitions it took; the samples number them. */
static size_t repetitions(struct fake_device *fake, const char *text)
{
    struct samples samples = run_on(fake, text);
    const size_t rows = samples.rows;
    for (size_t i = 0; i < rows; i++)
        ck_assert_int_eq(samples_at(&samples, i, 0), (int64_t)i);
    samples_free(&samples);
    return rows;
}

static void begin(struct fake_device *fake)
{
    fake_device_open(fake, 80);
}

/* ---- the stopping rule ------------------------------------------------ */

static void steady(struct fake_device *fake, uint64_t *words, size_t count)
{
    (void)fake;
    if (count == CHASE_WORDS)
        words[WORD_LONG] = words[WORD_SHORT] + 64 * 100;
}

/* Ever longer: no two alike. */
static void restless(struct fake_device *fake, uint64_t *words, size_t count)
{
    if (count == CHASE_WORDS)
        words[WORD_LONG] = words[WORD_SHORT] + 64 * 100 * fake->reads;
}

static void restless_at_first(struct fake_device *fake, uint64_t *words,
                              size_t count)
{
    if (fake->reads <= 5)
        restless(fake, words, count);
    else
        steady(fake, words, count);
}

/* Two values in turn, which differ by one part in a thousand: that will do. */
static void almost_steady(struct fake_device *fake, uint64_t *words,
                          size_t count)
{
    if (count == CHASE_WORDS)
        words[WORD_LONG] = words[WORD_SHORT] + 64000 + 64 * (fake->reads % 2);
}

/* … and by one in a hundred: that will not. */
static void hardly_steady(struct fake_device *fake, uint64_t *words,
                          size_t count)
{
    if (count == CHASE_WORDS)
        words[WORD_LONG] = words[WORD_SHORT] + 64000 + 640 * (fake->reads % 2);
}

START_TEST(steady_figures_end_at_the_least)
{
    struct fake_device fake;
    begin(&fake);
    fake.read = steady;
    ck_assert_uint_eq(repetitions(&fake, "chase"), LEAST);
    fake_device_close(&fake);
}
END_TEST

START_TEST(restless_figures_go_on_to_the_most)
{
    struct fake_device fake;
    begin(&fake);
    fake.read = restless;
    ck_assert_uint_eq(repetitions(&fake, "chase"), MOST);
    fake_device_close(&fake);
}
END_TEST

START_TEST(figures_that_settle_end_between)
{
    struct fake_device fake;
    begin(&fake);
    fake.read = restless_at_first;
    const size_t count = repetitions(&fake, "chase");
    ck_assert_uint_gt(count, LEAST);
    ck_assert_uint_lt(count, MOST);
    fake_device_close(&fake);
}
END_TEST

START_TEST(two_thousandths_are_the_limit)
{
    struct fake_device fake;
    begin(&fake);
    fake.read = almost_steady;
    ck_assert_uint_eq(repetitions(&fake, "chase"), LEAST);
    fake.read = hardly_steady;
    ck_assert_uint_eq(repetitions(&fake, "chase"), MOST);
    fake_device_close(&fake);
}
END_TEST

START_TEST(repeats_asks_for_so_many)
{
    struct fake_device fake;
    begin(&fake);
    fake.read = restless;
    ck_assert_uint_eq(repetitions(&fake, "chase repeats=3"), 3);
    fake.read = steady;
    ck_assert_uint_eq(repetitions(&fake, "chase repeats=40"), 40);
    fake_device_close(&fake);
}
END_TEST

START_TEST(a_repetition_is_launched_once)
{
    struct fake_device fake;
    begin(&fake);
    fake.read = steady;
    repetitions(&fake, "chase");
    ck_assert_uint_eq(fake.launches, WARM_UPS + LEAST * LAUNCHES_EACH);
    fake_device_close(&fake);
}
END_TEST

/* ---- throttling ------------------------------------------------------- */

static void restless_while_throttled(struct fake_device *fake, uint64_t *words,
                                     size_t count)
{
    if (fake->throttled > 0)
        restless(fake, words, count);
    else
        steady(fake, words, count);
}

START_TEST(throttled_repetitions_are_dropped)
{
    struct fake_device fake;
    begin(&fake);
    fake.throttled = 4;
    fake.reasons = 0x40; /* hardware thermal slowdown */
    fake.read = restless_while_throttled;
    struct samples samples = run_on(&fake, "chase");
    ck_assert_uint_eq(samples.rows, LEAST);
    ck_assert_uint_eq(fake.launches, WARM_UPS + (4 + LEAST) * LAUNCHES_EACH);
    const size_t longer = samples_column(&samples, "long");
    for (size_t i = 0; i < samples.rows; i++)
        ck_assert_int_eq(samples_at(&samples, i, longer), 1 + 64 * 100);
    samples_free(&samples);
    fake_device_close(&fake);
}
END_TEST

/* The power cap is where GPUs at work always are. */
START_TEST(the_power_cap_is_no_throttling)
{
    struct fake_device fake;
    begin(&fake);
    fake.throttled = 1000;
    fake.reasons = 0x4;
    fake.read = steady;
    repetitions(&fake, "chase");
    ck_assert_uint_eq(fake.launches, WARM_UPS + LEAST * LAUNCHES_EACH);
    fake_device_close(&fake);
}
END_TEST

START_TEST(a_gpu_that_is_always_throttled_is_measured_all_the_same)
{
    struct fake_device fake;
    begin(&fake);
    fake.throttled = 1000;
    fake.reasons = 0x8;
    fake.read = steady;
    ck_assert_uint_eq(repetitions(&fake, "chase"), LEAST);
    fake_device_close(&fake);
}
END_TEST

/* ---- others on the GPU ------------------------------------------------ */

enum { WORD_WATCH = WORD_LONG + 1, A_SLICE = 1000000 };
/* A leap, and as many cycles of ours. */
static const uint64_t leapt = (uint64_t)2 * A_SLICE << 32 | A_SLICE;

/* The clock leaps in the first three repetitions. */
static void leaps_at_first(struct fake_device *fake, uint64_t *words,
                           size_t count)
{
    steady(fake, words, count);
    if (count != CHASE_WORDS || fake->reads > 4)
        return;
    words[WORD_WATCH] = leapt;
    words[WORD_LONG] += A_SLICE;
}

START_TEST(a_leap_of_the_clock_is_taken_again)
{
    struct fake_device fake;
    begin(&fake);
    fake.read = leaps_at_first;
    struct samples samples = run_on(&fake, "chase");
    const size_t longer = samples_column(&samples, "long");
    ck_assert_uint_eq(samples.rows, LEAST);
    for (size_t i = 0; i < samples.rows; i++) {
        ck_assert_int_eq(samples_at(&samples, i, 0), (int64_t)i);
        ck_assert_int_eq(samples_at(&samples, i, longer), 1 + 64 * 100);
    }
    ck_assert_ptr_null(samples.disturbed);
    ck_assert_uint_gt(fake.launches, WARM_UPS + LEAST * LAUNCHES_EACH);
    samples_free(&samples);
    fake_device_close(&fake);
}
END_TEST

/* … in the first six. */
static void leaps_often(struct fake_device *fake, uint64_t *words, size_t count)
{
    steady(fake, words, count);
    if (count == CHASE_WORDS && fake->reads <= 7)
        words[WORD_WATCH] = leapt;
}

/* Of which four fit a turn of ours; their sums are those of the whole. */
START_TEST(what_takes_longer_than_a_turn_is_taken_in_pieces)
{
    enum { PIECES = 4, FAILED = 6 };
    struct fake_device fake;
    begin(&fake);
    fake.read = leaps_often;
    struct samples s = run_on(&fake, "chase visits=4096 repeats=1");
    ck_assert_uint_eq(s.rows, 1);
    ck_assert_int_eq(samples_at(&s, 0, samples_column(&s, "visits")), 4096);
    ck_assert_int_eq(samples_at(&s, 0, samples_column(&s, "long")),
                     PIECES * (1 + 64 * 100));
    ck_assert_ptr_null(s.disturbed);
    ck_assert_uint_ge(fake.launches,
                      WARM_UPS + (FAILED + PIECES) * LAUNCHES_EACH);
    samples_free(&s);
    fake_device_close(&fake);
}
END_TEST

static void always_leaps(struct fake_device *fake, uint64_t *words,
                         size_t count)
{
    steady(fake, words, count);
    if (count == CHASE_WORDS)
        words[WORD_WATCH] = leapt;
}

static void is_disturbed(const struct samples *samples)
{
    ck_assert_ptr_nonnull(samples->disturbed);
    ck_assert_msg(
        strstr(samples->disturbed, "another process ran on the GPU") ==
            samples->disturbed,
        "%s", samples->disturbed);
}

/* Patience ends, the run does not; and a replay knows. */
START_TEST(what_stays_disturbed_says_so)
{
    struct fake_device fake;
    begin(&fake);
    fake.read = always_leaps;
    struct recording *const r = recording_new(&fake.device.info, 1);
    const struct prober_options options = {.seed = 1};
    struct prober *const live = prober_on(&fake, r);
    struct prober *const replay = prober_new(NULL, r, &options);
    struct samples was, is;
    struct error err;
    ASSERT_DONE(prober_run(live, "chase", &was, NULL, &err), err);
    ck_assert_uint_eq(was.rows, LEAST);
    ck_assert_uint_lt(fake.launches, 100);
    is_disturbed(&was);
    ASSERT_DONE(prober_run(replay, "chase", &is, NULL, &err), err);
    ck_assert_str_eq(is.disturbed, was.disturbed);
    ck_assert(prober_guard(live)->leapt);
    samples_free(&was);
    samples_free(&is);
    prober_free(live);
    prober_free(replay);
    recording_free(r);
    fake_device_close(&fake);
}
END_TEST

/* What no load may have brought before is asked for once. */
START_TEST(what_must_be_fresh_is_not_taken_again)
{
    struct fake_device fake;
    begin(&fake);
    fake.read = leaps_at_first;
    struct prober *const prober = prober_on(&fake, NULL);
    struct samples samples;
    struct error err;
    prober_fresh(prober, true);
    ASSERT_DONE(prober_run(prober, "chase repeats=1", &samples, NULL, &err),
                err);
    ck_assert_uint_eq(fake.launches, WARM_UPS + LAUNCHES_EACH);
    is_disturbed(&samples);
    samples_free(&samples);
    prober_free(prober);
    fake_device_close(&fake);
}
END_TEST

/* ---- stop, failures --------------------------------------------------- */

START_TEST(after_a_stop_nothing_is_measured)
{
    struct fake_device fake;
    begin(&fake);
    struct prober *const prober = prober_on(&fake, NULL);
    struct samples samples;
    struct error err;
    stop_request();
    ASSERT_FAILS(prober_run(prober, "chase", &samples, NULL, &err),
                 ERR_INTERRUPTED, err, "stopped");
    ck_assert_uint_eq(fake.launches, 0);
    prober_free(prober);
    fake_device_close(&fake);
}
END_TEST

/* A replay then fails as the run did. */
START_TEST(a_failed_launch_is_told_and_recorded)
{
    struct fake_device fake;
    begin(&fake);
    fake.fails_at = 5;
    struct recording *const r = recording_new(&fake.device.info, 1);
    struct prober *const prober = prober_on(&fake, r);
    struct samples samples;
    struct error err;
    ASSERT_FAILS(prober_run(prober, "chase", &samples, NULL, &err), ERR_DEVICE,
                 err, "the GPU is lost");
    samples_init(&samples, probe_find("chase"));
    ASSERT_FAILS(recording_find(r, "chase", &samples, &err), ERR_DEVICE, err,
                 "the GPU is lost");
    samples_free(&samples);
    prober_free(prober);
    recording_free(r);
    fake_device_close(&fake);
}
END_TEST

/* What the next launches end with. */
static const enum error_code *turns;

static int launch_in_turn(struct device *device, struct kernel *kernel,
                          const struct launch *launch, struct error *err)
{
    (void)device, (void)kernel, (void)launch;
    return *turns == 0 ? 0 : error_set(err, *turns++, "it is not there");
}

static int renew_nothing(struct device *device, struct error *err)
{
    (void)device, (void)err;
    return 0;
}

/* How an experiment ends whose launches end so; of a GPU whose faults may pass.
 */
static int ends_with(const enum error_code *launches)
{
    struct fake_device fake;
    begin(&fake);
    struct device_ops ops = *fake.device.ops;
    ops.launch = launch_in_turn;
    ops.renew = renew_nothing;
    fake.device.ops = &ops;
    turns = launches;
    struct prober *const prober = prober_on(&fake, NULL);
    struct samples samples;
    struct error err;
    const int status = prober_run(prober, "chase", &samples, NULL, &err);
    if (status == 0)
        samples_free(&samples);
    prober_free(prober);
    fake_device_close(&fake);
    return status;
}

/* Expected: a fault that passes leaves no mark.  Buggy result (make faults):
 * one that met what a GPU without such a thing was asked for once more cost
 * what it would have said, and the status was 4. */
START_TEST(a_second_fault_is_not_the_first_that_stayed)
{
    static const enum error_code once[] = {ERR_DEVICE, 0},
                                 stays[] = {ERR_DEVICE, ERR_DEVICE, 0},
                                 meets[] = {ERR_UNSUPPORTED, ERR_DEVICE,
                                            ERR_UNSUPPORTED, 0},
                                 both[] = {ERR_UNSUPPORTED, ERR_DEVICE, 0},
                                 turn[] = {ERR_DEVICE, ERR_UNSUPPORTED,
                                           ERR_DEVICE, ERR_UNSUPPORTED, 0};
    ck_assert_int_eq(ends_with(once), 0);
    ck_assert_int_eq(ends_with(stays), ERR_DEVICE);
    ck_assert_int_eq(ends_with(meets), ERR_UNSUPPORTED);
    ck_assert_int_eq(ends_with(both), 0);
    ck_assert_int_eq(ends_with(turn), ERR_DEVICE);
    ck_assert_ptr_eq(turns, turn + 3);
}
END_TEST

/* A GPU of so many bytes, and what of them is taken, by the address. */
enum { SMALL_BYTES = 16 << 20, ALLOCATIONS = 32 };
static uint64_t taken[ALLOCATIONS];

static uint64_t taken_in_all(void)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < ALLOCATIONS; i++)
        bytes += taken[i];
    return bytes;
}

static int allocate_of_few(struct device *device, uint64_t bytes,
                           uint64_t *address, struct error *err)
{
    size_t i = 0;
    (void)device;
    while (taken[i] > 0)
        i++;
    if (taken_in_all() + bytes > SMALL_BYTES)
        return error_set(err, ERR_DEVICE_MEMORY, "too little is free");
    taken[i] = bytes;
    *address = (i + 1) << 20;
    return 0;
}

static void release_to_few(struct device *device, uint64_t address)
{
    (void)device;
    taken[(address >> 20) - 1] = 0;
}

/* Expected: what an experiment does not find since those before it took all is
 * there.  Buggy result: on GPUs of 256 MiB a ring of 208 MiB stayed, beside the
 * constants of many kernels, and nothing of TLBs was measured. */
START_TEST(what_is_kept_makes_room)
{
    struct fake_device fake;
    begin(&fake);
    struct device_ops ops = *fake.device.ops;
    ops.allocate = allocate_of_few;
    ops.release = release_to_few;
    fake.device.ops = &ops;
    struct prober *const prober = prober_on(&fake, NULL);
    struct samples samples;
    struct error err;
    ASSERT_DONE(
        prober_run(prober, "chase bytes=8M stride=4K", &samples, NULL, &err),
        err);
    samples_free(&samples);
    ASSERT_DONE(
        prober_run(prober, "chase bytes=4K flush=9M", &samples, NULL, &err),
        err);
    samples_free(&samples);
    ASSERT_FAILS(
        prober_run(prober, "chase bytes=16M stride=4K", &samples, NULL, &err),
        ERR_DEVICE_MEMORY, err, "too little is free");
    prober_free(prober);
    ck_assert_uint_eq(taken_in_all(), 0);
    fake_device_close(&fake);
}
END_TEST

static void nothing_done(struct fake_device *fake, uint64_t *words,
                         size_t count)
{
    (void)fake;
    if (count == CHASE_WORDS)
        memset(words, 0, count * sizeof *words);
}

/* Bad luck at one launch is not the end; at five it is. */
START_TEST(an_sm_without_a_block_is_named)
{
    struct fake_device fake;
    begin(&fake);
    fake.read = nothing_done;
    struct prober *const prober = prober_on(&fake, NULL);
    struct samples samples;
    struct error err;
    ASSERT_FAILS(prober_run(prober, "chase sm=7", &samples, NULL, &err),
                 ERR_UNSUPPORTED, err,
                 "the first of which is 7, in 5 launches");
    prober_free(prober);
    fake_device_close(&fake);
}
END_TEST

START_TEST(bad_text_runs_nothing)
{
    struct fake_device fake;
    begin(&fake);
    struct prober *const prober = prober_on(&fake, NULL);
    struct samples samples;
    struct error err;
    ASSERT_FAILS(prober_run(prober, "chase byte=1", &samples, NULL, &err),
                 ERR_USAGE, err, "did you mean 'bytes'?");
    ck_assert_uint_eq(prober_experiments(prober), 0);
    ck_assert_uint_eq(fake.launches, 0);
    prober_free(prober);
    fake_device_close(&fake);
}
END_TEST

/* ---- names, kernels, recordings --------------------------------------- */

static void keep(void *context, const char *experiment)
{
    texts_add(context, experiment);
}

START_TEST(watchers_and_callers_get_the_canonical_name)
{
    struct fake_device fake;
    struct texts watched = {0};
    begin(&fake);
    const struct prober_options options = {.watch = keep, .context = &watched};
    struct prober *const prober = prober_new(&fake.device, NULL, &options);
    struct samples samples;
    struct error err;
    char *name;
    ASSERT_DONE(
        prober_run(prober, "chase bytes=8K stride=128", &samples, &name, &err),
        err);
    ck_assert_str_eq(name, "chase bytes=8192");
    ck_assert_uint_eq(watched.count, 1);
    ck_assert_str_eq(watched.at[0], name);
    ck_assert_uint_eq(prober_experiments(prober), 1);
    free(name);
    texts_free(&watched);
    samples_free(&samples);
    prober_free(prober);
    fake_device_close(&fake);
}
END_TEST

START_TEST(a_program_is_loaded_once)
{
    struct fake_device fake;
    begin(&fake);
    struct prober *const prober = prober_on(&fake, NULL);
    for (int i = 0; i < 3; i++) {
        struct samples samples;
        struct error err;
        ASSERT_DONE(prober_run(prober, "chase", &samples, NULL, &err), err);
        samples_free(&samples);
    }
    ck_assert_uint_eq(fake.loads, fake.programs.count);
    prober_free(prober);
    fake_device_close(&fake);
}
END_TEST

static void run_and_forget(struct prober *prober, const char *text)
{
    struct samples samples;
    struct error err;
    ASSERT_DONE(prober_run(prober, text, &samples, NULL, &err), err);
    samples_free(&samples);
}

START_TEST(a_level_reaches_the_assembler)
{
    static const struct {
        const char *text;
        int level;
    } asked[] = {
        {"clock level=0", 0},
        {"clock", 3},
        {"clock level=4", 4},
        {"chase level=1", 1},
    };
    struct fake_device fake;
    begin(&fake);
    struct prober *const prober = prober_on(&fake, NULL);
    run_and_forget(prober, "chase bytes=8K"); /* warms up */
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        const unsigned loads = fake.loads;
        run_and_forget(prober, asked[i].text);
        if (fake.loads > loads)
            ck_assert_int_eq(fake.level, asked[i].level);
        else /* warmed up by it, at the usual level */
            ck_assert_int_eq(asked[i].level, 3);
    }
    prober_free(prober);
    fake_device_close(&fake);
}
END_TEST

START_TEST(a_program_at_two_levels_is_two_modules)
{
    struct fake_device fake;
    begin(&fake);
    struct prober *const prober = prober_on(&fake, NULL);
    run_and_forget(prober, "chase");
    const size_t programs = fake.programs.count;
    const unsigned loads = fake.loads;
    run_and_forget(prober, "chase level=0");
    ck_assert_uint_eq(fake.programs.count, programs);
    ck_assert_uint_eq(fake.loads, loads + 1);
    run_and_forget(prober, "chase level=0");
    run_and_forget(prober, "chase level=3");
    ck_assert_uint_eq(fake.loads, loads + 1);
    prober_free(prober);
    fake_device_close(&fake);
}
END_TEST

static void assert_equal(const struct samples *a, const struct samples *b)
{
    ck_assert_uint_eq(a->rows, b->rows);
    ck_assert_uint_eq(a->columns, b->columns);
    ck_assert_mem_eq(a->data, b->data, a->rows * a->columns * sizeof *a->data);
}

START_TEST(a_replay_gives_what_was_recorded)
{
    struct fake_device fake;
    begin(&fake);
    fake.read = restless;
    struct recording *const r = recording_new(&fake.device.info, 1);
    const struct prober_options options = {.seed = 1};
    struct prober *const live = prober_on(&fake, r);
    struct prober *const replay = prober_new(NULL, r, &options);
    struct samples was, is;
    struct error err;
    ASSERT_DONE(prober_run(live, "chase bytes=8K", &was, NULL, &err), err);
    const unsigned launches = fake.launches;
    ASSERT_DONE(prober_run(replay, "chase bytes=0x2000", &is, NULL, &err), err);
    assert_equal(&was, &is);
    ck_assert_uint_eq(fake.launches, launches);
    samples_free(&was);
    samples_free(&is);
    prober_free(live);
    prober_free(replay);
    recording_free(r);
    fake_device_close(&fake);
}
END_TEST

START_TEST(a_replay_names_what_it_lacks)
{
    struct fake_device fake;
    begin(&fake);
    struct recording *const r = recording_new(&fake.device.info, 1);
    const struct prober_options options = {.seed = 1};
    struct prober *const replay = prober_new(NULL, r, &options);
    struct samples samples;
    struct error err;
    ASSERT_FAILS(prober_run(replay, "chase bytes=8K", &samples, NULL, &err),
                 ERR_NOT_RECORDED, err, "'chase bytes=8192'");
    prober_free(replay);
    recording_free(r);
    fake_device_close(&fake);
}
END_TEST

Suite *suite_run(void)
{
    TCase *t;
    Suite *const suite = suite_of("run", 20, &t);
    tcase_add_test(t, steady_figures_end_at_the_least);
    tcase_add_test(t, restless_figures_go_on_to_the_most);
    tcase_add_test(t, figures_that_settle_end_between);
    tcase_add_test(t, two_thousandths_are_the_limit);
    tcase_add_test(t, repeats_asks_for_so_many);
    tcase_add_test(t, a_repetition_is_launched_once);
    tcase_add_test(t, throttled_repetitions_are_dropped);
    tcase_add_test(t, the_power_cap_is_no_throttling);
    tcase_add_test(t, a_gpu_that_is_always_throttled_is_measured_all_the_same);
    tcase_add_test(t, a_leap_of_the_clock_is_taken_again);
    tcase_add_test(t, what_takes_longer_than_a_turn_is_taken_in_pieces);
    tcase_add_test(t, what_stays_disturbed_says_so);
    tcase_add_test(t, what_must_be_fresh_is_not_taken_again);
    tcase_add_test(t, after_a_stop_nothing_is_measured);
    tcase_add_test(t, a_failed_launch_is_told_and_recorded);
    tcase_add_test(t, a_second_fault_is_not_the_first_that_stayed);
    tcase_add_test(t, what_is_kept_makes_room);
    tcase_add_test(t, an_sm_without_a_block_is_named);
    tcase_add_test(t, bad_text_runs_nothing);
    tcase_add_test(t, watchers_and_callers_get_the_canonical_name);
    tcase_add_test(t, a_program_is_loaded_once);
    tcase_add_test(t, a_level_reaches_the_assembler);
    tcase_add_test(t, a_program_at_two_levels_is_two_modules);
    tcase_add_test(t, a_replay_gives_what_was_recorded);
    tcase_add_test(t, a_replay_names_what_it_lacks);
    return suite;
}
