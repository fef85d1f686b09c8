/* The probe `loaded`: what it counts, what its words change, and what it
 * refuses. */
#include <stdlib.h>
#include <string.h>

#include "gpu_made.h"
#include "probe/run.h"
#include "testing.h"

enum column {
    REPEAT,
    SM,
    WARPS,
    BYTES,
    CYCLES,
    NS,
    MISSED,
    CHASER,
    LOADS,
    TOOK
};

enum { L2_CYCLES = 200, MEMORY_CYCLES = 500, L2_RATE = 24, MEMORY_RATE = 8 };

/* The caller closes it. */
static struct device *small_gpu(void)
{
    char *const json = gpu_made(
        "sms=3 max_threads_per_block=512 max_warps_per_sm=32 "
        "max_blocks_per_sm=8 registers_per_sm=65536 memory_bytes=67108864 "
        "memory_read_bandwidth=%d memory_write_bandwidth=%d "
        "caches/l2/sets=128 caches/l2/read_bandwidth=%d "
        "shared_memory/latency=29",
        MEMORY_RATE, MEMORY_RATE, L2_RATE);
    struct device *const device = testing_sim_of(json, 1);
    free(json);
    return device;
}

struct bench {
    struct samples samples;
    struct error err;
};

static int try_on(struct bench *b, const char *text)
{
    struct device *const device = small_gpu();
    *b = (struct bench){0};
    const int status = testing_run_on(device, text, &b->samples, &b->err);
    device_close(device);
    return status;
}

static void run_on(struct bench *b, const char *text)
{
    const int status = try_on(b, text);
    ck_assert_msg(status == 0, "%s: %s", text, b->err.text);
}

static int64_t at(const struct bench *b, size_t row, enum column column)
{
    return samples_at(&b->samples, row, column);
}

/* Cycles of a load. */
static double latency(const struct bench *b)
{
    return (double)at(b, 0, TOOK) / (double)at(b, 0, LOADS);
}

/* Bytes in a cycle of all SMs. */
static double rate(const struct bench *b)
{
    double sum = 0;
    for (size_t i = 0; i < b->samples.rows; i++)
        if (at(b, i, CYCLES) > 0)
            sum += (double)at(b, i, BYTES) * (double)at(b, i, WARPS) /
                   (double)at(b, i, CYCLES);
    return sum;
}

/* Where the ring is, without load: in L2 after laps, else in memory. */
START_TEST(without_load_latency_is_that_of_the_level)
{
    static const struct {
        const char *text;
        double cycles;
    } cases[] = {
        {"loaded op=none repeats=1 bytes=32K ring=32K warm=1", L2_CYCLES},
        {"loaded op=none repeats=1 bytes=2M ring=256K", MEMORY_CYCLES},
        {"loaded op=none repeats=1 bytes=32K ring=64K warm=1 warmer=2 sm=1",
         L2_CYCLES},
    };
    struct bench b;
    run_on(&b, cases[_i].text);
    ck_assert_uint_eq(b.samples.rows, 1);
    ck_assert_int_eq(at(&b, 0, WARPS), 0);
    ck_assert_int_eq(at(&b, 0, LOADS), 1024);
    ck_assert_double_eq_tol(latency(&b), cases[_i].cycles, 1);
    samples_free(&b.samples);
}
END_TEST

/* At full pace as much passes as the profile lets.  Stores leave in L2 what a
 * fill has brought there: the set is the larger. */
START_TEST(at_full_pace_the_rate_is_reached)
{
    static const struct {
        const char *text;
        double rate;
    } cases[] = {
        {"loaded repeats=1 bytes=64K ring=32K warm=1 visits=256", L2_RATE},
        {"loaded repeats=1 bytes=2M ring=64K visits=256", MEMORY_RATE},
        {"loaded repeats=1 bytes=16M ring=64K visits=256 op=write",
         MEMORY_RATE},
        {"loaded repeats=1 bytes=2M ring=64K visits=256 beside=1", MEMORY_RATE},
    };
    struct bench b;
    run_on(&b, cases[_i].text);
    ck_assert_uint_eq(b.samples.rows, 3);
    ck_assert_double_eq_tol(rate(&b), cases[_i].rate, 0.03 * cases[_i].rate);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(at(&b, i, MISSED), 0);
    samples_free(&b.samples);
}
END_TEST

START_TEST(only_the_chasers_sm_is_left_alone)
{
    struct bench b;
    run_on(&b, "loaded repeats=1 sm=1 warps=4 blocks=2 visits=64");
    for (size_t i = 0; i < b.samples.rows; i++) {
        ck_assert_int_eq(at(&b, i, WARPS), at(&b, i, SM) == 1 ? 0 : 8);
        ck_assert_int_eq(at(&b, i, CHASER), 1);
    }
    samples_free(&b.samples);
}
END_TEST

START_TEST(beside_it_all_warps_but_one_inject)
{
    struct bench b;
    run_on(&b, "loaded repeats=1 sm=1 warps=4 visits=64 beside=1");
    for (size_t i = 0; i < b.samples.rows; i++)
        ck_assert_int_eq(at(&b, i, WARPS), at(&b, i, SM) == 1 ? 3 : 4);
    samples_free(&b.samples);
}
END_TEST

/* A tile of 2 KiB, about 286 cycles and the gap: so much is asked for. */
START_TEST(a_longer_gap_injects_less)
{
    struct bench b;
    run_on(&b, "loaded repeats=1 bytes=32K ring=32K warm=1 warps=1 gap=4000 "
               "visits=4096");
    ck_assert_double_eq_tol(rate(&b), 2 * 2048 / 4286.0, 0.1);
    ck_assert_double_lt(latency(&b), 1.1 * L2_CYCLES);
    samples_free(&b.samples);
}
END_TEST

/* Half of the lines have the bit, so two rings are as long as one. */
START_TEST(bits_choose_lines)
{
    struct bench b;
    run_on(&b, "loaded op=none repeats=1 bits=4096 odd=1 bytes=32K ring=16K "
               "warm=1 visits=64");
    ck_assert_double_eq_tol(latency(&b), L2_CYCLES, 1);
    samples_free(&b.samples);
    ck_assert_int_eq(try_on(&b, "loaded bits=4096 odd=1 ring=4K"), ERR_USAGE);
    samples_free(&b.samples);
}
END_TEST

START_TEST(what_the_gpu_has_no_room_for_is_refused)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"loaded warps=32", "512"},
        {"loaded warps=16 blocks=3", "1024"},
        {"loaded warps=1 blocks=9", "9 blocks"},
        {"loaded sm=3", "the GPU has 3"},
        {"loaded warmer=7", "the GPU has 3"},
        {"loaded bytes=1K", "2048"},
        {"loaded stride=100", "multiple of"},
        {"loaded ring=64 stride=128", "no more than"},
        {"loaded bytes=1G", "do not fit"},
        {"loaded odd=1", "of bits"},
    };
    struct bench b;
    ck_assert_int_ne(try_on(&b, cases[_i].text), 0);
    ck_assert_msg(strstr(b.err.text, cases[_i].word) != NULL,
                  "%s: \"%s\" does not say \"%s\"", cases[_i].text, b.err.text,
                  cases[_i].word);
    samples_free(&b.samples);
}
END_TEST

Suite *suite_loaded_latency(void)
{
    TCase *t;
    Suite *const suite = suite_of("loaded_latency", 20, &t);
    tcase_add_loop_test(t, without_load_latency_is_that_of_the_level, 0, 3);
    tcase_add_loop_test(t, at_full_pace_the_rate_is_reached, 0, 4);
    tcase_add_test(t, only_the_chasers_sm_is_left_alone);
    tcase_add_test(t, beside_it_all_warps_but_one_inject);
    tcase_add_test(t, a_longer_gap_injects_less);
    tcase_add_test(t, bits_choose_lines);
    tcase_add_loop_test(t, what_the_gpu_has_no_room_for_is_refused, 0, 10);
    return suite;
}
