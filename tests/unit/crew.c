/* Work that several threads do together (base/crew.h). */
#include "base/crew.h"

#include <stdatomic.h>

#include "testing.h"

enum { ITEMS = 1000 };

struct items {
    atomic_size_t next;
    atomic_int done[ITEMS];
    size_t bad; /* what ends the hand that takes it */
};

static int take(void *context, struct error *err)
{
    struct items *const items = context;
    for (size_t i; (i = atomic_fetch_add(&items->next, 1)) < ITEMS;) {
        if (i == items->bad)
            return error_set(err, ERR_DEVICE, "item %zu", i);
        atomic_fetch_add(&items->done[i], 1);
    }
    return 0;
}

START_TEST(each_item_is_done_once)
{
    static struct items items = {.bad = ITEMS};
    ck_assert_int_eq(crew_run(take, &items, ITEMS), 0);
    for (size_t i = 0; i < ITEMS; i++)
        ck_assert_int_eq(items.done[i], 1);
}
END_TEST

/* By the others; and alone nobody does what is left. */
START_TEST(a_hand_that_fails_is_told)
{
    static struct items items = {.bad = 7};
    ck_assert_int_eq(crew_run(take, &items, ITEMS), ERR_DEVICE);
    ck_assert_int_eq(items.done[6], 1);
    ck_assert_int_eq(items.done[7], 0);
    static struct items alone = {.bad = 7};
    ck_assert_int_eq(crew_run(take, &alone, 1), ERR_DEVICE);
    ck_assert_int_eq(alone.done[8], 0);
}
END_TEST

static int want_much(void *context, struct error *err)
{
    (void)context;
    (void)err;
    mem_none();
}

START_TEST(no_memory_is_told_to_whoever_asked)
{
    struct error err;
    ck_assert_int_eq(crew_run(want_much, NULL, 4), mem_error(&err));
}
END_TEST

static void count_piece(void *context, size_t piece)
{
    atomic_int *const done = context;
    atomic_fetch_add(&done[piece], 1);
}

START_TEST(each_piece_is_done_once)
{
    static atomic_int done[ITEMS + 1];
    crew_each(count_piece, done, ITEMS);
    crew_each(count_piece, done + ITEMS, 0);
    for (size_t i = 0; i < ITEMS; i++)
        ck_assert_int_eq(done[i], 1);
    ck_assert_int_eq(done[ITEMS], 0);
}
END_TEST

static void want_much_of(void *context, size_t piece)
{
    (void)context;
    (void)piece;
    mem_none();
}

static int ask_each(void *context, struct error *err)
{
    (void)err;
    crew_each(want_much_of, context, 4);
    return 0;
}

START_TEST(pieces_there_is_no_memory_for_end_the_work)
{
    struct error err;
    ck_assert_int_eq(mem_guarded(ask_each, NULL, &err), mem_error(&err));
}
END_TEST

Suite *suite_crew(void)
{
    TCase *tests;
    Suite *const suite = suite_of("crew", 20, &tests);
    tcase_add_test(tests, each_item_is_done_once);
    tcase_add_test(tests, a_hand_that_fails_is_told);
    tcase_add_test(tests, no_memory_is_told_to_whoever_asked);
    tcase_add_test(tests, each_piece_is_done_once);
    tcase_add_test(tests, pieces_there_is_no_memory_for_end_the_work);
    return suite;
}
