/* Which places of the study of TLBs are for what, and in what order; no GPU is
 * asked. */
#include <stdlib.h>

#include "base/mem.h"
#include "probe/memory/access_script.h"
#include "study/translation/tlb.h"
#include "testing.h"

enum { MIB = 1 << 20 };

/* What is known of two levels, and a question about them. */
struct known {
    struct fact_tlbs tlbs;
    struct tlb_question q;
    struct tlb_conflict c;
};

/* A TLB of 4 sets of 8 entries for 2 MiB each before one of 96 for 6 MiB. */
static struct known *known_of(unsigned order)
{
    struct known *const k = xcalloc(1, sizeof *k);
    k->q.t = &k->tlbs;
    k->tlbs.places.order = order;
    k->tlbs.tlb[0] = (struct tlb_facts){
        .about = 32, .sets = 4, .ways = 8, .region = 2 * MIB};
    k->tlbs.tlb[1] = (struct tlb_facts){.about = 96, .region = 6 * MIB};
    return k;
}

static void assert_numbers(const struct tlb_numbers *n, size_t count,
                           const uint32_t *at)
{
    ck_assert_uint_eq(n->count, count);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(n->at[i], at[i]);
}

START_TEST(the_others_stay_in_their_order)
{
    struct tlb_numbers n = {.count = 0};
    for (uint64_t i = 0; i < 6; i++)
        tlb_add(&n, 10 + i);
    tlb_take_out(&n, 2);
    assert_numbers(&n, 5, (const uint32_t[]){10, 11, 13, 14, 15});
    tlb_take_out(&n, 4);
    assert_numbers(&n, 4, (const uint32_t[]){10, 11, 13, 14});
    tlb_take_out(&n, 0);
    assert_numbers(&n, 3, (const uint32_t[]){11, 13, 14});
    ck_assert(tlb_lists(&n, 11));
    ck_assert(tlb_lists(&n, 14));
    ck_assert(!tlb_lists(&n, 12));
    ck_assert(!tlb_lists(&n, 15));
}
END_TEST

START_TEST(a_list_takes_what_it_has_room_for)
{
    struct tlb_numbers n = {.count = 0};
    for (uint64_t i = 0; i < TLB_NUMBERS_MOST + 2; i++)
        tlb_add(&n, i);
    ck_assert_uint_eq(n.count, TLB_NUMBERS_MOST);
    ck_assert_uint_eq(n.at[TLB_NUMBERS_MOST - 1], TLB_NUMBERS_MOST - 1);
}
END_TEST

START_TEST(targets_are_the_last_places_and_a_quarter_is_kept)
{
    struct known *const k = known_of(10);
    ck_assert_uint_eq(tlb_places_in_all(&k->q), 1024);
    ck_assert_uint_eq(tlb_target(&k->q, 0), 1023);
    ck_assert_uint_eq(tlb_target(&k->q, 3), 1020);
    ck_assert_uint_eq(tlb_places_free(&k->q), 768);
    free(k);
}
END_TEST

/* All entries, and one more for each set. */
START_TEST(a_row_overfills_each_set_of_what_is_nearer)
{
    struct known *const k = known_of(10);
    tlb_lay_row(&k->q, 1);
    ck_assert_uint_eq(k->q.row.apart, 2 * MIB);
    ck_assert_uint_eq(k->q.row.count, 32 + 4);
    k->tlbs.tlb[0].of_sets = 30; /* sets of 7 and of 8 */
    tlb_lay_row(&k->q, 1);
    ck_assert_uint_eq(k->q.row.count, 30 + 4);
    k->tlbs.tlb[0].chance = true;
    tlb_lay_row(&k->q, 1);
    ck_assert_uint_eq(k->q.row.count, 2 * 30);
    k->tlbs.tlb[0].of_sets = k->tlbs.tlb[0].sets = 0;
    tlb_lay_row(&k->q, 1);
    ck_assert_uint_eq(k->q.row.count, 3 * 32);
    free(k);
}
END_TEST

START_TEST(a_row_reaches_over_all_that_is_nearer)
{
    struct known *const k = known_of(10);
    k->tlbs.tlb[1] = (struct tlb_facts){
        .about = 96, .sets = 1, .ways = 96, .region = 6 * MIB};
    tlb_lay_row(&k->q, 2);
    ck_assert_uint_eq(k->q.row.apart, 2 * MIB);
    ck_assert_uint_eq(k->q.row.count, 3 * (96 + 1));
    free(k);
}
END_TEST

START_TEST(there_is_no_row_where_it_would_tell_nothing)
{
    struct known *const k = known_of(10);
    struct tlb_facts *const near = &k->tlbs.tlb[0];
    tlb_lay_row(&k->q, 0);
    ck_assert_uint_eq(k->q.row.count, 0);
    k->q.window = 2 * MIB;
    tlb_lay_row(&k->q, 1);
    ck_assert_uint_eq(k->q.row.count, 0);
    k->q.window = 0;
    near->hidden = true;
    tlb_lay_row(&k->q, 1);
    ck_assert_uint_eq(k->q.row.count, 0);
    near->hidden = false;
    near->region = 0;
    tlb_lay_row(&k->q, 1);
    ck_assert_uint_eq(k->q.row.count, 0);
    near->region = 2 * MIB;
    k->tlbs.tlb[1].about = 1024;
    tlb_lay_row(&k->q, 1);
    ck_assert_uint_eq(k->q.row.count, 0);
    k->tlbs.tlb[1].about = 1023;
    *near = (struct tlb_facts){.sets = 1, .ways = 1023, .region = 2 * MIB};
    tlb_lay_row(&k->q, 1);
    ck_assert_uint_eq(k->q.row.count, 1024);
    near->ways++;
    tlb_lay_row(&k->q, 1);
    ck_assert_uint_eq(k->q.row.count, 0);
    free(k);
}
END_TEST

START_TEST(a_row_takes_as_many_regions_as_it_begins)
{
    struct known *const k = known_of(10);
    ck_assert_uint_eq(tlb_taken(&k->q, 1), 0);
    tlb_lay_row(&k->q, 1);
    ck_assert_uint_eq(tlb_taken(&k->q, 1), 36 / 3);
    k->tlbs.tlb[1].region = 10 * MIB;
    ck_assert_uint_eq(tlb_taken(&k->q, 1), 8);
    k->tlbs.tlb[1].region = MIB;
    ck_assert_uint_eq(tlb_taken(&k->q, 1), 36);
    k->tlbs.tlb[1].region = 0;
    ck_assert_uint_eq(tlb_taken(&k->q, 1), 0);
    free(k);
}
END_TEST

START_TEST(the_row_pushes_out_of_nearer_levels)
{
    struct known *const k = known_of(10);
    ck_assert(!tlb_set_nearer(&k->q, 1, &k->c));
    tlb_lay_row(&k->q, 1);
    k->q.row.first = 5;
    ck_assert(tlb_set_nearer(&k->q, 1, &k->c));
    ck_assert_uint_eq(k->c.nearer.count, 36);
    ck_assert_uint_eq(k->c.nearer.at[0], ACCESS_SCRIPT_ROW + 5);
    ck_assert_uint_eq(k->c.nearer.at[35], ACCESS_SCRIPT_ROW + 40);
    ck_assert_uint_eq(k->c.laps, 1);
    k->tlbs.tlb[0].chance = true;
    ck_assert(tlb_set_nearer(&k->q, 1, &k->c));
    ck_assert_uint_gt(k->c.laps, 1);
    ck_assert(tlb_set_nearer(&k->q, 0, &k->c));
    ck_assert_uint_eq(k->c.nearer.count, 0);
    ck_assert_uint_eq(k->c.laps, 1);
    free(k);
}
END_TEST

/* Of a nearer one whose index nobody knows three times as many as it has, or,
 * of a set alone, one more; and a part of what a large one has. */
START_TEST(beside_a_window_others_push_out_behind_those_that_are_asked)
{
    struct known *const k = known_of(12);
    k->q.window = 2 * MIB;
    k->tlbs.tlb[1].about = 1000;
    ck_assert(tlb_set_nearer(&k->q, 1, &k->c));
    ck_assert_uint_eq(k->c.nearer.count, 3 * 32);
    ck_assert_uint_eq(k->c.nearer.at[0], 3072);
    ck_assert_uint_eq(k->c.nearer.at[95], 3072 + 95);
    k->tlbs.tlb[0].sets = 1;
    k->tlbs.tlb[0].ways = 32;
    ck_assert(tlb_set_nearer(&k->q, 1, &k->c));
    ck_assert_uint_eq(k->c.nearer.count, 1000 / 16);
    k->tlbs.tlb[1].about = 320;
    ck_assert(tlb_set_nearer(&k->q, 1, &k->c));
    ck_assert_uint_eq(k->c.nearer.count, 33);
    k->tlbs.tlb[1].about = 44; /* three quarters of it are as many */
    ck_assert(tlb_set_nearer(&k->q, 1, &k->c));
    k->tlbs.tlb[1].about = 43;
    ck_assert(!tlb_set_nearer(&k->q, 1, &k->c));
    free(k);
}
END_TEST

/* 64 places: 56 are none of the targets, and 48 are asked. */
START_TEST(nothing_is_pushed_out_where_there_is_no_room)
{
    struct known *const k = known_of(6);
    k->q.window = 2 * MIB;
    k->tlbs.tlb[1].about = 96;
    k->tlbs.tlb[0] = (struct tlb_facts){.sets = 1, .ways = 6};
    ck_assert(tlb_set_nearer(&k->q, 1, &k->c));
    ck_assert_uint_eq(k->c.nearer.count, 7);
    k->tlbs.tlb[0].ways = 7;
    ck_assert(!tlb_set_nearer(&k->q, 1, &k->c));
    free(k);
}
END_TEST

START_TEST(a_pool_leaves_room_for_what_pushes_out_and_for_targets)
{
    struct known *const k = known_of(10);
    ck_assert_uint_eq(tlb_pool(&k->q, 1), 3 * 96 + 64);
    ck_assert_uint_eq(tlb_flush(&k->q, 1), 3 * 96 + 64);
    k->tlbs.tlb[1].about = 1000;
    ck_assert_uint_eq(tlb_pool(&k->q, 1), 768);
    ck_assert_uint_eq(tlb_flush(&k->q, 1), 1015 - 768);
    free(k);
}
END_TEST

START_TEST(of_a_large_tlb_the_pool_is_a_quarter_or_half_more_than_it_has)
{
    struct known *const k = known_of(13);
    struct tlb_facts *const tlb = &k->tlbs.tlb[1];
    tlb->about = 1024;
    ck_assert(tlb_is_large(&k->q, 1));
    ck_assert(!tlb_is_large(&k->q, 0));
    ck_assert_uint_eq(tlb_pool(&k->q, 1), 2048);
    tlb->about = 2000;
    ck_assert_uint_eq(tlb_pool(&k->q, 1), 3000);
    ck_assert_uint_eq(tlb_flush(&k->q, 1), 3000);
    /* What pushes out of the nearer one takes the rest: 3 times its 2500. */
    k->tlbs.tlb[0] = (struct tlb_facts){.about = 2500};
    ck_assert_uint_eq(tlb_pool(&k->q, 1), 8192 - 1 - 8 - 7500);
    tlb->about = 1023;
    ck_assert(!tlb_is_large(&k->q, 1));
    free(k);
}
END_TEST

Suite *suite_tlb_pool(void)
{
    TCase *t;
    Suite *const suite = suite_of("tlb_pool", 10, &t);
    tcase_add_test(t, the_others_stay_in_their_order);
    tcase_add_test(t, a_list_takes_what_it_has_room_for);
    tcase_add_test(t, targets_are_the_last_places_and_a_quarter_is_kept);
    tcase_add_test(t, a_row_overfills_each_set_of_what_is_nearer);
    tcase_add_test(t, a_row_reaches_over_all_that_is_nearer);
    tcase_add_test(t, there_is_no_row_where_it_would_tell_nothing);
    tcase_add_test(t, a_row_takes_as_many_regions_as_it_begins);
    tcase_add_test(t, the_row_pushes_out_of_nearer_levels);
    tcase_add_test(t,
                   beside_a_window_others_push_out_behind_those_that_are_asked);
    tcase_add_test(t, nothing_is_pushed_out_where_there_is_no_room);
    tcase_add_test(t, a_pool_leaves_room_for_what_pushes_out_and_for_targets);
    tcase_add_test(
        t, of_a_large_tlb_the_pool_is_a_quarter_or_half_more_than_it_has);
    return suite;
}
