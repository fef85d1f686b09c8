/* Where there is no memory, the innermost guarded work ends. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/aside.h"
#include "base/mem.h"
#include "testing.h"

/* As much as no host has. */
static void take_all(void)
{
    free(xreallocarray(NULL, SIZE_MAX, 2));
}

struct trail {
    bool inner_ended, went_on, past;
    int status;
};

static int want_all(void *argument, struct error *err)
{
    struct trail *const t = argument;
    (void)err;
    t->inner_ended = true;
    take_all();
    t->past = true;
    return 0;
}

static int want_all_twice(void *argument, struct error *err)
{
    struct trail *const t = argument;
    struct error inner;
    t->status = mem_guarded(want_all, t, &inner);
    t->went_on = true;
    return want_all(t, err);
}

START_TEST(work_without_memory_ends_with_an_error)
{
    struct trail t = {0};
    struct error err = {0};
    ck_assert_int_eq(mem_guarded(want_all, &t, &err), ERR_INTERRUPTED);
    ck_assert_str_eq(err.text, "the host is out of memory");
    ck_assert_int_eq(error_exit_status(err.code), 1);
    ck_assert(!t.past);
}
END_TEST

START_TEST(only_the_innermost_work_ends)
{
    struct trail t = {0};
    struct error err = {0};
    ck_assert_int_eq(mem_guarded(want_all_twice, &t, &err), ERR_INTERRUPTED);
    ck_assert_int_eq(t.status, ERR_INTERRUPTED);
    ck_assert(t.went_on);
    ck_assert(!t.past);
}
END_TEST

static int give_seven(void *argument, struct error *err)
{
    (void)argument;
    (void)err;
    return 7;
}

START_TEST(work_with_memory_gives_its_result)
{
    struct error err;
    ck_assert_int_eq(mem_guarded(give_seven, NULL, &err), 7);
}
END_TEST

static int guarded_function(bool wants_all)
{
    MEM_GUARD(return -1);
    if (wants_all)
        take_all();
    return 1;
}

static int two_functions(void *argument, struct error *err)
{
    (void)err;
    int *const returned = argument;
    returned[0] = guarded_function(false);
    returned[1] = guarded_function(true);
    take_all(); /* ends this work: theirs is over */
    return 0;
}

START_TEST(a_guarded_function_takes_its_guard_away)
{
    int returned[2];
    struct error err;
    ck_assert_int_eq(mem_guarded(two_functions, returned, &err),
                     ERR_INTERRUPTED);
    ck_assert_int_eq(returned[0], 1);
    ck_assert_int_eq(returned[1], -1);
}
END_TEST

static int call_user(void *argument, struct error *err)
{
    (void)argument;
    (void)err;
    MEM_FOREIGN(take_all());
    return 0;
}

START_TEST(what_the_user_gave_is_not_left_by_our_guard)
{
    struct error err;
    testing_dies();
    mem_guarded(call_user, NULL, &err); /* aborts, as no guard is there */
}
END_TEST

START_TEST(nothing_is_guarded_elsewhere)
{
    testing_dies();
    take_all();
}
END_TEST

static void *work_in_thread(void *argument)
{
    struct trail *const t = argument;
    struct error err;
    t->status = mem_guarded(want_all, t, &err);
    return NULL;
}

START_TEST(each_thread_has_its_own)
{
    struct trail t = {0};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, work_in_thread, &t), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(t.status, ERR_INTERRUPTED);
}
END_TEST

static double no_patience(const void *context, unsigned owner)
{
    (void)context;
    (void)owner;
    return 1e9;
}

START_TEST(work_aside_ends_as_any)
{
    struct aside *aside = NULL;
    struct trail t = {0};
    struct aside_patience patience = {.seconds = no_patience};
    struct error err = {0};
    int status = 0;
    ck_assert(aside_run(&aside, want_all, &t, &patience, &status, &err));
    ck_assert_int_eq(status, ERR_INTERRUPTED);
    ck_assert_str_eq(err.text, "the host is out of memory");
    aside_end(aside);
}
END_TEST

START_TEST(a_reserve_makes_good_what_was_scarce)
{
    struct trail t = {0};
    struct error err;
    mem_reserve();
    ck_assert(!mem_is_scarce());
    mem_guarded(want_all, &t, &err);
    ck_assert(mem_is_scarce());
    mem_reserve();
    ck_assert(!mem_is_scarce());
}
END_TEST

Suite *suite_mem(void)
{
    TCase *t;
    Suite *const suite = suite_of("mem", 20, &t);
    tcase_add_test(t, work_without_memory_ends_with_an_error);
    tcase_add_test(t, only_the_innermost_work_ends);
    tcase_add_test(t, work_with_memory_gives_its_result);
    tcase_add_test(t, a_guarded_function_takes_its_guard_away);
    tcase_add_test_raise_signal(t, what_the_user_gave_is_not_left_by_our_guard,
                                SIGABRT);
    tcase_add_test_raise_signal(t, nothing_is_guarded_elsewhere, SIGABRT);
    tcase_add_test(t, each_thread_has_its_own);
    tcase_add_test(t, work_aside_ends_as_any);
    tcase_add_test(t, a_reserve_makes_good_what_was_scarce);
    return suite;
}
