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

Suite *suite_crew(void)
{
    TCase *tests;
    Suite *const suite = suite_of("crew", 20, &tests);
    tcase_add_test(tests, each_item_is_done_once);
    tcase_add_test(tests, a_hand_that_fails_is_told);
    tcase_add_test(tests, no_memory_is_told_to_whoever_asked);
    return suite;
}
