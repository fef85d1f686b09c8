/* The probe `timeline`: rows, what it refuses, and that work is aligned. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probe/run.h"
#include "testing.h"

enum column { REPEAT, SM, BLOCK, WARP, ACCESS, START, END, NS };

struct bench {
    struct samples samples;
    struct error err;
};

static int try_on(struct bench *b, const char *profile, const char *text)
{
    *b = (struct bench){0};
    return testing_run(profile, text, &b->samples, &b->err);
}

static int64_t at(const struct bench *b, size_t row, enum column column)
{
    return samples_at(&b->samples, row, column);
}

static void run_on(struct bench *b, const char *profile, const char *text)
{
    const int status = try_on(b, profile, text);
    ck_assert_msg(status == 0, "%s: %s", text, b->err.text);
}

START_TEST(each_warp_has_a_row_and_so_has_the_launch)
{
    struct bench b;
    run_on(&b, "gtx1080ti", "timeline blocks=3 warps=2 steps=8 repeats=1");
    ck_assert_uint_eq(b.samples.rows, 3 * 2 + 1);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_int_eq(at(&b, i, SM), (int64_t)i / 2);
        ck_assert_int_eq(at(&b, i, BLOCK), (int64_t)i / 2);
        ck_assert_int_eq(at(&b, i, WARP), (int64_t)i % 2);
        ck_assert_int_eq(at(&b, i, ACCESS), -1);
        ck_assert_int_gt(at(&b, i, END) - at(&b, i, START), 8 * 90);
    }
    ck_assert_int_eq(at(&b, 6, SM), -1);
    ck_assert_int_gt(at(&b, 6, END), 0);
    samples_free(&b.samples);
}
END_TEST

START_TEST(accesses_follow_each_other)
{
    struct bench b;
    run_on(&b, "gtx1080ti",
           "timeline place=sm sm=5 bytes=1024 steps=16 warm=2 align=block "
           "records=accesses repeats=1");
    ck_assert_uint_eq(b.samples.rows, 1 + 16 + 1);
    for (size_t i = 1; i <= 16; i++) {
        ck_assert_int_eq(at(&b, i, SM), 5);
        ck_assert_int_eq(at(&b, i, ACCESS), (int64_t)i - 1);
        ck_assert_int_eq(at(&b, i, START), at(&b, i - 1, i > 1 ? END : START));
        ck_assert_int_ge(at(&b, i, END) - at(&b, i, START), 85);
    }
    samples_free(&b.samples);
}
END_TEST

/* But for code that is not yet cached: 260 cycles. */
START_TEST(warps_of_a_block_begin_together_where_they_are_aligned)
{
    struct bench b;
    run_on(&b, "rtx2080ti",
           "timeline place=sm warps=8 steps=8 align=block repeats=1");
    for (size_t i = 1; i < 8; i++)
        ck_assert_int_le(labs(at(&b, i, START) - at(&b, 0, START)), 300);
    samples_free(&b.samples);
}
END_TEST

START_TEST(shared_memory_limits_the_blocks_of_an_sm)
{
    struct bench b;
    run_on(&b, "a100",
           "timeline work=arithmetic lanes=1 blocks=216 per_sm=1 steps=4 "
           "repeats=1");
    for (size_t i = 0; i < 216; i++)
        for (size_t k = 0; k < i; k++)
            if (at(&b, i, SM) == at(&b, k, SM))
                ck_assert(at(&b, i, START) >= at(&b, k, END) ||
                          at(&b, k, START) >= at(&b, i, END));
    samples_free(&b.samples);
}
END_TEST

START_TEST(without_records_only_the_launch_is_told)
{
    struct bench b;
    run_on(&b, "v100", "timeline work=none records=none repeats=1");
    ck_assert_uint_eq(b.samples.rows, 1);
    samples_free(&b.samples);
}
END_TEST

static const struct {
    const char *text, *word;
} refused[] = {
    {"timeline place=sm blocks=33",                   "33 blocks on an SM; the GPU takes 32"},
    {"timeline place=sm blocks=3 warps=32",
     "96 warps on an SM; the GPU takes 64"                                                  },
    {"timeline place=sm sm=28",                       "there is no SM 28"                   },
    {"timeline bytes=1000",                           "multiple of the 256"                 },
    {"timeline warm=1",                               "align=block"                         },
    {"timeline align=sm",                             "place=sm"                            },
    {"timeline work=none records=accesses",           "work=load"                           },
    {"timeline warps=32 steps=4096 records=accesses", "bytes of shared memory"              },
    {"timeline per_sm=1",                             "2 fit"                               },
    {"timeline blocks=2048 bytes=1M",                 "B of buffers"                        },
    {"timeline blocks=65536 warps=32",                "records"                             },
};

START_TEST(what_the_gpu_has_no_room_for_is_refused)
{
    struct bench b;
    const int status = try_on(&b, "gtx1080ti", refused[_i].text);
    ck_assert_int_eq(status, ERR_USAGE);
    ck_assert_msg(strstr(b.err.text, refused[_i].word) != NULL, "%s",
                  b.err.text);
    samples_free(&b.samples);
}
END_TEST

START_TEST(products_take_turns_in_the_pipe)
{
    struct bench b;
    /* 8 warps at each of 4 schedulers, 8 cycles each on an A100 (m16n8k16). */
    run_on(&b, "a100", "timeline work=tensor warps=32 steps=16 repeats=1");
    ck_assert_uint_eq(b.samples.rows, 32 + 1);
    for (size_t i = 0; i < 32; i++)
        ck_assert_int_ge(at(&b, i, END) - at(&b, i, START), 15 * 8 * 8);
    samples_free(&b.samples);
    /* 16 cycles each on an RTX 2080 Ti (m16n8k8). */
    run_on(&b, "rtx2080ti", "timeline work=tensor warps=32 steps=16 repeats=1");
    for (size_t i = 0; i < 32; i++)
        ck_assert_int_ge(at(&b, i, END) - at(&b, i, START), 15 * 8 * 16);
    samples_free(&b.samples);
}
END_TEST

START_TEST(products_need_tensor_cores_and_whole_warps)
{
    struct bench b;
    ck_assert_int_eq(try_on(&b, "gtx1080ti", "timeline work=tensor"),
                     ERR_UNSUPPORTED);
    ck_assert_str_eq(b.err.text, "needs compute capability 7.5, this is 6.1");
    samples_free(&b.samples);
    ck_assert_int_eq(try_on(&b, "a100", "timeline work=tensor lanes=8"),
                     ERR_USAGE);
    samples_free(&b.samples);
}
END_TEST

Suite *suite_timeline(void)
{
    TCase *t;
    Suite *const suite = suite_of("timeline", 10, &t);
    tcase_add_test(t, each_warp_has_a_row_and_so_has_the_launch);
    tcase_add_test(t, accesses_follow_each_other);
    tcase_add_test(t, warps_of_a_block_begin_together_where_they_are_aligned);
    tcase_add_test(t, shared_memory_limits_the_blocks_of_an_sm);
    tcase_add_test(t, without_records_only_the_launch_is_told);
    tcase_add_loop_test(t, what_the_gpu_has_no_room_for_is_refused, 0,
                        COUNT_OF(refused));
    tcase_add_test(t, products_take_turns_in_the_pipe);
    tcase_add_test(t, products_need_tensor_cores_and_whole_warps);
    return suite;
}
