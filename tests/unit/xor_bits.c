/* Bits whose XOR was drawn must come back, with some samples wrong. */
#include "analysis/statistics/xor_bits.h"

#include "base/rng.h"
#include "testing.h"

enum { SAMPLES = 600, LOW = 7, HIGH = 21, BLOCKS = 3 };

/* Random lines of some blocks, each of which has a state of its own; `wrong` of
 * them are read wrongly. */
static struct xor_bits found(uint64_t bits, double wrong, uint64_t seed)
{
    uint64_t addresses[SAMPLES];
    bool odd[SAMPLES];
    struct rng rng;
    struct xor_bits parity;
    rng_seed(&rng, seed);
    for (size_t i = 0; i < SAMPLES; i++) {
        addresses[i] = rng_below(&rng, (uint64_t)BLOCKS << HIGH) >> LOW << LOW;
        odd[i] = xor_bits_of(addresses[i], bits) ^ (addresses[i] >> HIGH == 1) ^
                 (rng_unit(&rng) < wrong);
    }
    xor_bits_find(addresses, odd, SAMPLES, LOW, HIGH, &parity);
    return parity;
}

static const uint64_t masks[] = {0xb3000, 0xab000, 0x1ef000, 1 << LOW,
                                 1 << (HIGH - 1)};

START_TEST(bits_come_back)
{
    const struct xor_bits p = found(masks[_i], 0, 1);
    ck_assert_uint_eq(p.bits, masks[_i]);
    ck_assert_double_eq(p.agrees, 1);
    ck_assert_double_lt(p.next, 0.7);
}
END_TEST

START_TEST(wrong_samples_do_no_harm)
{
    const struct xor_bits p = found(masks[_i], 0.1, 2);
    ck_assert_uint_eq(p.bits, masks[_i]);
    ck_assert_double_eq_tol(p.agrees, 0.9, 0.04);
}
END_TEST

START_TEST(a_state_of_whole_blocks_has_no_bits)
{
    const struct xor_bits p = found(0, 0, 3);
    ck_assert_uint_eq(p.bits, 0);
    ck_assert_double_eq(p.agrees, 1);
}
END_TEST

START_TEST(what_is_random_is_not_explained)
{
    ck_assert_double_lt(found(0xb3000, 0.5, 4).agrees, 0.75);
}
END_TEST

START_TEST(bits_that_no_sample_varies_are_in_doubt)
{
    const uint64_t addresses[] = {0, 128, 0, 128};
    const bool odd[] = {false, true, false, true};
    struct xor_bits p;
    xor_bits_find(addresses, odd, 4, LOW, HIGH, &p);
    ck_assert_double_eq(p.next, p.agrees);
}
END_TEST

START_TEST(one_sample_is_explained_and_none_is_not)
{
    const uint64_t address = 128;
    const bool odd = true;
    struct xor_bits p;
    xor_bits_find(&address, &odd, 1, LOW, HIGH, &p);
    ck_assert_double_eq(p.agrees, 1);
    ck_assert_double_eq(p.next, 1);
    xor_bits_find(NULL, NULL, 0, LOW, HIGH, &p);
    ck_assert_double_eq(p.agrees, 0);
    ck_assert_uint_eq(p.bits, 0);
}
END_TEST

Suite *suite_xor_bits(void)
{
    TCase *t;
    const int count = sizeof masks / sizeof *masks;
    Suite *const suite = suite_of("xor_bits", 10, &t);
    tcase_add_loop_test(t, bits_come_back, 0, count);
    tcase_add_loop_test(t, wrong_samples_do_no_harm, 0, count);
    tcase_add_test(t, a_state_of_whole_blocks_has_no_bits);
    tcase_add_test(t, what_is_random_is_not_explained);
    tcase_add_test(t, bits_that_no_sample_varies_are_in_doubt);
    tcase_add_test(t, one_sample_is_explained_and_none_is_not);
    return suite;
}
