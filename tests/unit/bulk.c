/* The probe `bulk`: what comes back, and what it refuses; some of that `stream`
 * does, too. */
#include <string.h>

#include "base/mem.h"
#include "probe/run/resident_grid.h"
#include "testing.h"
#include "unit/fake_device.h"

/* Depths that do not divide the tiles of a part, parts smaller than a lap's
 * worth, several warps and blocks. */
/* clang-format off */
static const struct {
    const char *text;
    size_t rows;
    int64_t blocks, each;
} runs[] = {
    {"bulk repeats=1 bytes=17301504 cycles=2048 lead=512",                   132, 1, 16384},
    {"bulk repeats=1 sms=3 depth=1 warps=1 bytes=65536 warm=3 cycles=2048", 3, 1, 16384},
    {"bulk repeats=1 sms=3 depth=3 warps=3 blocks=2 bytes_each=1040 bytes=100000 cycles=2048", 3, 2, 1040},
    {"bulk repeats=1 sms=2 depth=16 warps=5 bytes_each=16 warm=0 lead=0 bytes=9999 cycles=999", 2, 1, 16},
};
/* clang-format on */

START_TEST(each_sm_counts_whole_copies)
{
    struct samples s;
    struct error err;
    ASSERT_DONE(testing_run("h200", runs[_i].text, &s, &err), err);
    ck_assert_uint_eq(s.rows, runs[_i].rows);
    for (size_t i = 0; i < s.rows; i++) {
        ck_assert_int_eq(samples_at(&s, i, GRID_BLOCKS), runs[_i].blocks);
        ck_assert_int_gt(samples_at(&s, i, GRID_BYTES), 0);
        ck_assert_int_eq(samples_at(&s, i, GRID_BYTES) % runs[_i].each, 0);
        ck_assert_int_gt(samples_at(&s, i, GRID_RATE), 0);
    }
    samples_free(&s);
}
END_TEST

/* clang-format off */
static const struct {
    const char *text, *words;
} refused[] = {
    {"bulk warps=8", "524672 B of shared memory in a block, which has 232448"},
    {"bulk blocks=2", "264448 B of shared memory in an SM, which has 233472"},
    {"bulk warps=32 blocks=3 bytes_each=16", "3072 threads; an SM has 2048"},
    {"bulk blocks=32 warps=3 bytes_each=16", "threads; an SM has 2048"},
    {"bulk bytes_each=24", "24 is no multiple of 16"},
    {"bulk bytes=17301503", "132 blocks copy 17301504 at a time"},
    {"bulk sms=133", "sms=133; the GPU has 132"},
    {"stream sms=133", "sms=133; the GPU has 132"},
    {"stream space=shared bytes=120000 blocks=2", "242080 B of shared memory in an SM, which has 233472"},
};
/* clang-format on */

START_TEST(what_an_sm_has_no_room_for_is_refused)
{
    struct samples s;
    struct error err;
    ASSERT_FAILS(testing_run("h200", refused[_i].text, &s, &err), ERR_USAGE,
                 err, refused[_i].words);
}
END_TEST

START_TEST(older_gpus_have_no_such_copies)
{
    struct samples s;
    struct error err;
    ASSERT_FAILS(testing_run("a100", "bulk", &s, &err), ERR_UNSUPPORTED, err,
                 "needs compute capability 9.0, this is 8.0");
}
END_TEST

/* The kernel says of a warp, whose line follows its block's, that it gave up.
 */
static void lose_one(struct fake_device *fake, uint64_t *words, size_t count)
{
    (void)fake;
    if (count > 2 * GRID_RECORD / sizeof *words) /* none but the record */
        words[GRID_RECORD / sizeof *words + 4] = UINT32_MAX;
}

START_TEST(a_copy_that_never_comes_is_a_failure)
{
    struct fake_device fake;
    struct samples s;
    struct error err;
    fake_device_open(&fake, 90);
    fake.read = lose_one;
    ASSERT_FAILS(testing_run_on(&fake.device, "bulk", &s, &err), ERR_DEVICE,
                 err, "did not come");
    fake_device_close(&fake);
}
END_TEST

Suite *suite_bulk(void)
{
    TCase *t;
    Suite *const suite = suite_of("bulk", 20, &t);
    tcase_add_loop_test(t, each_sm_counts_whole_copies, 0, COUNT_OF(runs));
    tcase_add_loop_test(t, what_an_sm_has_no_room_for_is_refused, 0,
                        COUNT_OF(refused));
    tcase_add_test(t, older_gpus_have_no_such_copies);
    tcase_add_test(t, a_copy_that_never_comes_is_a_failure);
    return suite;
}
