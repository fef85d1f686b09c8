/* Scripts over places of the study of TLBs, as the probe `visit` reads them; no
 * GPU is asked. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/translation/tlb.h"
#include "testing.h"

enum { MIB = 1 << 20 };

struct known {
    struct fact_tlbs tlbs;
    struct tlb_question q;
    struct buf steps;
};

static struct known *known(void)
{
    struct known *const k = xcalloc(1, sizeof *k);
    k->q.t = &k->tlbs;
    return k;
}

static void forget(struct known *k)
{
    buf_free(&k->steps);
    free(k);
}

static void assert_steps(struct known *k, const char *expected)
{
    ck_assert_str_eq(buf_string(&k->steps), expected);
    buf_free(&k->steps);
    k->steps = (struct buf){0};
}

START_TEST(numbers_in_a_row_are_one_step)
{
    struct known *const k = known();
    struct tlb_numbers n = {{7, 8, 9, 11, 10, 4}, 6};
    tlb_write(&k->steps, "", &n);
    assert_steps(k, "7:3:1,11:1:1,10:1:1,4:1:1");
    n.count = 2;
    tlb_write(&k->steps, "1@", &n);
    n.count = 1;
    tlb_write(&k->steps, "", &n);
    assert_steps(k, "1@7:2:1,7:1:1");
    n.count = 0;
    tlb_write(&k->steps, "", &n);
    ck_assert_uint_eq(k->steps.length, 0);
    forget(k);
}
END_TEST

START_TEST(what_is_nearer_is_pushed_out_in_each_lap)
{
    struct known *const k = known();
    struct tlb_conflict c = {.nearer = {{3, 4}, 2}, .laps = 3};
    tlb_write_nearer(&k->steps, "", &c);
    assert_steps(k, "3:2:1,3:2:1,3:2:1");
    forget(k);
}
END_TEST

START_TEST(a_row_of_places_has_pieces_for_all_of_them)
{
    struct known *const k = known();
    k->tlbs.places.piece = 2 * MIB;
    struct tlb_places p = tlb_in_a_row(&k->q, 64 * 1024, 33);
    ck_assert_uint_eq(p.apart, 2 * MIB);
    ck_assert_uint_eq(p.unit, 64 * 1024);
    ck_assert_uint_eq(p.pieces, 2);
    p = tlb_in_a_row(&k->q, 8 * MIB, 5);
    ck_assert_uint_eq(p.apart, 8 * MIB);
    ck_assert_uint_eq(p.piece, 2 * MIB);
    ck_assert_uint_ge(p.pieces, 5);
    forget(k);
}
END_TEST

/* Regions of 4 MiB, of which bit 0 and the XOR of bits 1 and 2 choose a set. */
START_TEST(places_are_of_one_set_by_bits_of_their_regions)
{
    struct known *const k = known();
    k->tlbs.places.apart = 2 * MIB;
    k->tlbs.places.unit = 2 * MIB;
    k->tlbs.tlb[1].region = 4 * MIB;
    struct index_function f = {.masks = 2, .mask = {1, 6}, .seen = 15};
    ck_assert_uint_eq(tlb_address(&k->q, 5), 10 * MIB);
    ck_assert_int_eq(tlb_same_set(&k->q, 1, &f, 8, 9), 1);
    ck_assert_int_eq(tlb_same_set(&k->q, 1, &f, 0, 2), 0);
    ck_assert_int_eq(tlb_same_set(&k->q, 1, &f, 0, 4), 0);
    ck_assert_int_eq(tlb_same_set(&k->q, 1, &f, 0, 12), 1);
    ck_assert_int_eq(tlb_same_set(&k->q, 1, &f, 0, 16), 1);
    ck_assert_int_eq(tlb_same_set(&k->q, 1, &f, 0, 32), -1);
    ck_assert(tlb_may_share_set(&k->q, 1, &f, 0, 32));
    ck_assert_int_eq(tlb_same_set(&k->q, 1, &f, 0, 34), -1);
    ck_assert(!tlb_may_share_set(&k->q, 1, &f, 0, 34));
    forget(k);
}
END_TEST

START_TEST(a_lap_is_a_step_and_the_row_comes_after_each)
{
    struct known *const k = known();
    tlb_write_laps(&k->q, 0, "!", 4, 9, &k->steps);
    assert_steps(k, "!4:9:1");
    tlb_write_laps(&k->q, 3, "", 4, 9, &k->steps);
    tlb_write_laps(&k->q, 2, "!", 0, 5, &k->steps);
    assert_steps(k, "3x4:9:1,2x!0:5:1");
    k->q.row.count = 7;
    tlb_write_laps(&k->q, 2, "!", 4, 9, &k->steps);
    assert_steps(k, "!4:9:1,1073741824:7:1,!4:9:1,1073741824:7:1");
    tlb_write_laps(&k->q, 0, "", 4, 9, &k->steps);
    assert_steps(k, "4:9:1,1073741824:7:1");
    forget(k);
}
END_TEST

/* What steps load, all of it and what is kept, by place; steps are
 * [LAPSx][!][%]FROM:PLACES:EACH. */
struct loaded {
    unsigned all[2048], kept[2048];
    size_t all_count, kept_count;
};

static struct loaded *loads_of(struct known *k)
{
    struct loaded *const l = xcalloc(1, sizeof *l);
    const char *at = buf_string(&k->steps);
    for (;; at++) {
        const char *const end = at + strcspn(at, ",");
        const char *const times = memchr(at, 'x', (size_t)(end - at));
        const unsigned long laps = times != NULL ? strtoul(at, NULL, 10) : 1;
        at = times != NULL ? times + 1 : at;
        const bool kept = *at == '!';
        at += strspn(at, "!%");
        char *next;
        const unsigned long from = strtoul(at, &next, 10),
                            places = strtoul(next + 1, &next, 10),
                            each = strtoul(next + 1, &next, 10);
        ck_assert_ptr_eq(next, end);
        for (unsigned long lap = 0; lap < laps; lap++)
            for (unsigned long i = 0; i < places; i++) {
                ck_assert_uint_lt(from + i * each, COUNT_OF(l->all));
                l->all[from + i * each]++;
                l->kept[from + i * each] += kept;
                l->all_count++;
                l->kept_count += kept;
            }
        if (*end == '\0')
            break;
        at = end;
    }
    buf_free(&k->steps);
    k->steps = (struct buf){0};
    return l;
}

/* Each place as often as all others, and no others; of few places at least half
 * are timed, as often as any of them, and so many loads at least. */
static void assert_even(const struct loaded *l, uint64_t from, uint64_t places,
                        size_t timed_least)
{
    uint64_t timed = 0;
    for (uint64_t i = 0; i < COUNT_OF(l->all); i++) {
        const bool asked = i >= from && i < from + places;
        ck_assert_uint_eq(l->all[i], asked ? l->all[from] : 0);
        ck_assert(l->kept[i] == 0 || l->kept[i] == l->kept[from]);
        timed += l->kept[i] > 0;
    }
    ck_assert_uint_ge(2 * timed, places < 512 ? places : 512);
    ck_assert_uint_ge(l->all[from], 3);
    ck_assert_uint_ge(l->kept_count, timed_least);
}

static const uint64_t laps_of[] = {1,   2,   3,   31,  32,   33,
                                   100, 192, 256, 257, 1000, 1027};

START_TEST(a_lap_loads_each_place_alike_and_times_enough)
{
    struct known *const k = known();
    const uint64_t places = laps_of[_i];
    tlb_write_lap(&k->q, &k->steps, 5, places);
    struct loaded *const l = loads_of(k);
    assert_even(l, 5, places, TLB_TIMED_LEAST);
    ck_assert_uint_le(l->kept_count, 2 * TLB_TIMED_LEAST);
    for (uint64_t i = 0; places > 256 && i < 8; i++) {
        const uint64_t at = 5 + places * i / 8;
        ck_assert_uint_eq(l->kept[at], 1);
        ck_assert_uint_eq(l->kept[at + 31], 1);
    }
    free(l);
    forget(k);
}
END_TEST

START_TEST(a_row_loads_each_place_alike_and_times_enough)
{
    struct known *const k = known();
    const uint64_t places = laps_of[_i];
    tlb_write_row(&k->steps, places);
    struct loaded *const l = loads_of(k);
    assert_even(l, 0, places, TLB_TIMED_LEAST / 2);
    ck_assert_uint_le(l->kept_count, 2 * 256);
    free(l);
    forget(k);
}
END_TEST

/* Neighbours, which may share an entry, lie far apart in the order. */
START_TEST(a_row_is_loaded_in_bit_reversed_passes)
{
    struct known *const k = known();
    tlb_write_row(&k->steps, 33);
    ck_assert_int_eq(strncmp(buf_string(&k->steps),
                             "0:2:32,16:1:32,8:1:32,24:1:32,4:1:32,", 37),
                     0);
    forget(k);
}
END_TEST

START_TEST(a_short_row_ends_with_what_is_timed)
{
    struct known *const k = known();
    for (size_t i = 0; i < COUNT_OF(laps_of); i++) {
        const uint64_t places = laps_of[i];
        tlb_write_short_row(&k->steps, places);
        const char *const last = strrchr(buf_string(&k->steps), ',');
        ck_assert(places == 1 || last[1] == '!');
        struct loaded *const l = loads_of(k);
        for (uint64_t at = 0; at < places; at++) {
            ck_assert_uint_ge(l->all[at], 1);
            ck_assert_uint_le(l->all[at], 2);
            ck_assert_uint_le(l->kept[at], 1);
        }
        ck_assert_uint_ge(2 * l->kept_count, places < 384 ? places : 384);
        ck_assert_uint_le(l->kept_count, 256 + places / 32);
        free(l);
    }
    forget(k);
}
END_TEST

Suite *suite_tlb_places(void)
{
    TCase *t;
    Suite *const suite = suite_of("tlb_places", 10, &t);
    tcase_add_test(t, numbers_in_a_row_are_one_step);
    tcase_add_test(t, what_is_nearer_is_pushed_out_in_each_lap);
    tcase_add_test(t, a_row_of_places_has_pieces_for_all_of_them);
    tcase_add_test(t, places_are_of_one_set_by_bits_of_their_regions);
    tcase_add_test(t, a_lap_is_a_step_and_the_row_comes_after_each);
    tcase_add_loop_test(t, a_lap_loads_each_place_alike_and_times_enough, 0,
                        COUNT_OF(laps_of));
    tcase_add_loop_test(t, a_row_loads_each_place_alike_and_times_enough, 0,
                        COUNT_OF(laps_of));
    tcase_add_test(t, a_row_is_loaded_in_bit_reversed_passes);
    tcase_add_test(t, a_short_row_ends_with_what_is_timed);
    return suite;
}
