/* The set that a line belongs to, from lines of one set and lines of others. */
#include "analysis/structure/index_function.h"

#include "base/rng.h"
#include "testing.h"

static unsigned parity(uint64_t v)
{
    return (unsigned)__builtin_parityll(v);
}

/* Adds lines below `lines`, members those of the set of the first. */
static void add_all(struct index_function *f, uint64_t lines,
                    uint64_t set_of(uint64_t line))
{
    for (uint64_t line = 1; line < lines; line++)
        index_function_add(f, line, set_of(line) == set_of(0));
}

/* Differences 011, 110 and 101: the third is the sum of both others. */
START_TEST(members_that_add_nothing_are_counted)
{
    static const struct {
        uint64_t line;
        size_t since;
    } rows[] = {{3, 0}, {6, 0}, {5, 0}, /* the modulus is another */
                {5, 1}, {6, 2}, {9, 0}};
    struct index_function f;
    index_function_begin(&f, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        index_function_add(&f, rows[i].line, true);
        ck_assert_uint_eq(f.since, rows[i].since);
    }
    index_function_solve(&f, 15);
    ck_assert_uint_eq(f.masks, 1);
    ck_assert_uint_eq(f.mask[0], 15);
    index_function_end(&f);
}
END_TEST

/* Of 0x15, 0xa5 and 0x45 the XOR of the first and the third has none below 16,
 * and none has none below 256. */
START_TEST(masks_that_are_one_but_for_higher_bits_tell_of_these)
{
    struct index_function f = {.masks = 3, .mask = {0x15, 0xa5, 0x45}};
    const uint64_t high = index_function_without(&f, 15);
    ck_assert_uint_ne(high, 0);
    ck_assert_uint_eq(high & 15, 0);
    ck_assert_uint_eq(index_function_without(&f, 255), 0);
    f.masks = 0;
    ck_assert_uint_eq(index_function_without(&f, 15), 0);
}
END_TEST

static uint64_t by_xor(uint64_t line)
{
    return parity(line & 0x15) | parity(line & 0xa2) << 1;
}

START_TEST(masks_are_those_of_the_index)
{
    struct index_function f;
    index_function_begin(&f, 0);
    add_all(&f, 256, by_xor);
    ck_assert(index_function_holds(&f));
    ck_assert_uint_eq(f.masks, 2);
    ck_assert_uint_eq(f.mask[0], 0x15);
    ck_assert_uint_eq(f.mask[1], 0xa2);
    ck_assert_uint_eq(index_function_sets(&f), 4);
    index_function_end(&f);
}
END_TEST

static uint64_t by_remainder(uint64_t line)
{
    return line % 12;
}

START_TEST(a_remainder_is_told)
{
    struct index_function f;
    index_function_begin(&f, 0);
    add_all(&f, 600, by_remainder);
    ck_assert(index_function_holds(&f));
    ck_assert_uint_eq(f.masks, 0);
    ck_assert_uint_eq(f.modulus, 12);
    ck_assert_uint_eq(index_function_sets(&f), 12);
    index_function_end(&f);
}
END_TEST

static uint64_t by_both(uint64_t line)
{
    return (line >> 2) % 5 * 2 + parity(line & 0x83);
}

START_TEST(slices_by_a_remainder_and_sets_by_xor_are_told_together)
{
    struct index_function f;
    index_function_begin(&f, 0);
    add_all(&f, 2048, by_both);
    ck_assert(!index_function_holds(&f));
    ck_assert(index_function_holds_sliced(&f));
    ck_assert_uint_eq(f.odd, 5);
    ck_assert_uint_eq(f.shift, 2);
    ck_assert_uint_eq(f.masks, 1);
    ck_assert_uint_eq(f.mask[0], 0x83);
    index_function_end(&f);
}
END_TEST

static uint64_t by_chance(uint64_t line)
{
    struct rng r;
    rng_seed(&r, line);
    return rng_below(&r, 4);
}

START_TEST(what_follows_no_rule_is_told_by_none)
{
    struct index_function f;
    index_function_begin(&f, 0);
    add_all(&f, 256, by_chance);
    ck_assert(!index_function_holds(&f));
    ck_assert(!index_function_holds_sliced(&f));
    index_function_end(&f);
}
END_TEST

static uint64_t by_nothing(uint64_t line)
{
    return 0 * line;
}

/* All lines are of the set: no index that anybody could tell. */
START_TEST(one_set_has_no_index)
{
    struct index_function f;
    index_function_begin(&f, 0);
    add_all(&f, 64, by_nothing);
    ck_assert(!index_function_holds(&f));
    index_function_end(&f);
}
END_TEST

static uint64_t by_one_mask(uint64_t line)
{
    return parity(line & 0x12);
}

/* The first line may be any; bits that move no set are in none. */
START_TEST(one_mask_is_an_index)
{
    struct index_function f;
    index_function_begin(&f, 37);
    for (uint64_t line = 0; line < 64; line++)
        if (line != 37)
            index_function_add(&f, line, by_one_mask(line) == by_one_mask(37));
    ck_assert(index_function_holds(&f));
    ck_assert_uint_eq(f.masks, 1);
    ck_assert_uint_eq(f.mask[0], 0x12);
    ck_assert_uint_eq(index_function_sets(&f), 2);
    index_function_end(&f);
}
END_TEST

/* … the lowest, too. */
START_TEST(the_lowest_bit_counts)
{
    struct index_function f;
    index_function_begin(&f, 8);
    index_function_add(&f, 9, true);
    ck_assert_uint_eq(f.since, 0);
    index_function_add(&f, 9, true);
    ck_assert_uint_eq(f.since, 1);
    index_function_add(&f, 11, true);
    index_function_add(&f, 10, true);
    ck_assert_uint_eq(f.since, 1);
    index_function_end(&f);
}
END_TEST

/* Where a number lies whose lowest bit but two others tell. */
static uint64_t place_of(uint64_t line)
{
    const uint64_t place = line + (line & ~(uint64_t)3);
    return place | (uint64_t)(__builtin_popcountll(place & 0x58) & 1) << 2;
}

/* Sets by two low bits of numbers, and by the remainder of where these lie. */
START_TEST(a_remainder_is_of_places)
{
    for (int told = 0; told < 2; told++) {
        struct index_function f;
        index_function_begin(&f, 0);
        for (uint64_t line = 1; line < 512; line++)
            index_function_add_at(&f, line, told ? place_of(line) : line,
                                  line % 4 == 0 && place_of(line) % 3 == 0);
        ck_assert(index_function_holds_sliced(&f) == told);
        ck_assert_uint_eq(f.odd, told ? 3 : 1);
        index_function_end(&f);
    }
}
END_TEST

/* Whether so many members of 64 tell, of which three are told to be none. */
static bool holds_with_three_wrong(size_t members)
{
    struct index_function f;
    size_t count = 0;
    index_function_begin(&f, 0);
    for (uint64_t line = 1; line < 256 && count < members + 3; line++) {
        const bool is = by_xor(line) == by_xor(0);
        count += is;
        index_function_add(&f, line, is && count % 20 != 0);
    }
    const bool holds = index_function_holds(&f);
    index_function_end(&f);
    return holds;
}

START_TEST(one_of_twenty_may_be_told_wrongly)
{
    ck_assert(holds_with_three_wrong(60));
    ck_assert(!holds_with_three_wrong(59));
}
END_TEST

/* Lines in bits that few others differ in are left out: of them too little is
 * known. */
START_TEST(lines_far_away_are_left_out)
{
    for (size_t far = 0; far < 2; far++) {
        struct index_function f;
        index_function_begin(&f, 0);
        if (far > 0) { /* 22 of 277, and of them one tells the contrary */
            index_function_add(&f, (uint64_t)1 << 20 | 1, true);
            for (uint64_t line = 0; line < 21; line++)
                index_function_add(&f, (uint64_t)1 << 20 | 4 * line,
                                   by_xor(4 * line) == 0);
        }
        add_all(&f, 256, by_xor);
        ck_assert(index_function_holds(&f));
        ck_assert_uint_eq(f.count, 255);
        ck_assert_uint_eq(f.masks, 2);
        ck_assert_uint_eq(f.mask[0], 0x15);
        ck_assert_uint_eq(f.mask[1], 0xa2);
        index_function_end(&f);
    }
}
END_TEST

Suite *suite_index_function(void)
{
    TCase *t;
    Suite *const suite = suite_of("index_function", 10, &t);
    tcase_add_test(t, members_that_add_nothing_are_counted);
    tcase_add_test(t, masks_that_are_one_but_for_higher_bits_tell_of_these);
    tcase_add_test(t, masks_are_those_of_the_index);
    tcase_add_test(t, a_remainder_is_told);
    tcase_add_test(t, slices_by_a_remainder_and_sets_by_xor_are_told_together);
    tcase_add_test(t, what_follows_no_rule_is_told_by_none);
    tcase_add_test(t, one_set_has_no_index);
    tcase_add_test(t, one_mask_is_an_index);
    tcase_add_test(t, the_lowest_bit_counts);
    tcase_add_test(t, a_remainder_is_of_places);
    tcase_add_test(t, one_of_twenty_may_be_told_wrongly);
    tcase_add_test(t, lines_far_away_are_left_out);
    return suite;
}
