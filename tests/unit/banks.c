/* Bank conflicts, against the strides that Mei 2014 measured. */
#include "model/banks.h"
#include "testing.h"

enum { WARP = 32 };

static const struct banks fermi = {.count = 32, .bank_bytes = 4};
static const struct banks kepler4 = {
    .count = 32, .bank_bytes = 4, .row_words = 2};
static const struct banks kepler8 = {.count = 32, .bank_bytes = 8};

/* Degree of a warp whose lanes read 4-byte words `stride` words apart. */
static unsigned degree(const struct banks *banks, uint32_t stride)
{
    uint32_t addresses[WARP];
    for (uint32_t lane = 0; lane < WARP; lane++)
        addresses[lane] = 4 * lane * stride;
    return banks_degree(banks, addresses, WARP, 4);
}

static unsigned degree_of_wide(unsigned bytes)
{
    uint32_t addresses[WARP];
    for (uint32_t lane = 0; lane < WARP; lane++)
        addresses[lane] = bytes * lane;
    return banks_degree(&fermi, addresses, WARP, bytes);
}

START_TEST(degree_is_the_common_divisor_of_stride_and_banks)
{
    const unsigned expected[] = {1, 1, 2, 1, 4, 1, 2, 1, 8};
    for (uint32_t stride = 0; stride < 9; stride++)
        ck_assert_uint_eq(degree(&fermi, stride), expected[stride]);
    ck_assert_uint_eq(degree(&fermi, 32), 32);
}
END_TEST

START_TEST(lanes_that_read_one_word_share_it)
{
    ck_assert_uint_eq(degree(&fermi, 0), 1);
    const uint32_t addresses[] = {0, 1, 128, 130}; /* two words of bank 0 */
    ck_assert_uint_eq(banks_degree(&fermi, addresses, 4, 1), 2);
}
END_TEST

START_TEST(no_lane_has_no_degree)
{
    ck_assert_uint_eq(banks_degree(&fermi, NULL, 0, 4), 0);
}
END_TEST

START_TEST(one_lane_has_no_conflict)
{
    const uint32_t address = 4096;
    ck_assert_uint_eq(banks_degree(&fermi, &address, 1, 16), 1);
}
END_TEST

START_TEST(kepler_in_4_byte_mode_halves_conflicts)
{
    ck_assert_uint_eq(degree(&kepler4, 2), 1);
    ck_assert_uint_eq(degree(&kepler4, 4), 2);
    ck_assert_uint_eq(degree(&kepler4, 6), 2);
}
END_TEST

START_TEST(kepler_in_8_byte_mode_has_none_at_stride_6)
{
    ck_assert_uint_eq(degree(&kepler8, 2), 1);
    ck_assert_uint_eq(degree(&kepler8, 4), 2);
    ck_assert_uint_eq(degree(&kepler8, 6), 1);
}
END_TEST

START_TEST(wide_accesses_need_as_many_rows_as_their_data)
{
    ck_assert_uint_eq(degree_of_wide(4), 1);
    ck_assert_uint_eq(degree_of_wide(8), 2);
    ck_assert_uint_eq(degree_of_wide(16), 4);
}
END_TEST

/* As measured on an H200. */
START_TEST(half_warps_share_the_rows_of_wide_accesses)
{
    uint32_t addresses[WARP];
    for (uint32_t lane = 0; lane < WARP; lane++)
        addresses[lane] = 8 * (lane % 16);
    ck_assert_uint_eq(banks_degree(&fermi, addresses, WARP, 8), 1);
    for (uint32_t lane = 0; lane < WARP; lane++)
        addresses[lane] = 16 * (lane % 16);
    ck_assert_uint_eq(banks_degree(&fermi, addresses, WARP, 8), 2);
}
END_TEST

START_TEST(sixteen_banks_serve_half_a_warp_at_a_time)
{
    static const struct banks gt200 = {.count = 16, .bank_bytes = 4};
    ck_assert_uint_eq(degree(&gt200, 0), 2);
    ck_assert_uint_eq(degree(&gt200, 1), 2);
    ck_assert_uint_eq(degree(&gt200, 2), 4);
    ck_assert_uint_eq(degree(&gt200, 16), 32);
}
END_TEST

Suite *suite_banks(void)
{
    TCase *t;
    Suite *const suite = suite_of("banks", 20, &t);
    tcase_add_test(t, degree_is_the_common_divisor_of_stride_and_banks);
    tcase_add_test(t, lanes_that_read_one_word_share_it);
    tcase_add_test(t, no_lane_has_no_degree);
    tcase_add_test(t, one_lane_has_no_conflict);
    tcase_add_test(t, kepler_in_4_byte_mode_halves_conflicts);
    tcase_add_test(t, kepler_in_8_byte_mode_has_none_at_stride_6);
    tcase_add_test(t, wide_accesses_need_as_many_rows_as_their_data);
    tcase_add_test(t, half_warps_share_the_rows_of_wide_accesses);
    tcase_add_test(t, sixteen_banks_serve_half_a_warp_at_a_time);
    return suite;
}
