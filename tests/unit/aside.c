/* Work that is left when a call of it does not come back (base/aside.h). */
#include "base/aside.h"

#include <stdatomic.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/stop.h"
#include "testing.h"

static double seconds_of_context(const void *context, unsigned owner)
{
    return owner == 1 ? *(const double *)context : 100;
}

/* What a call does: comes back, or waits until it is told to. */
static atomic_bool come_back, came_back, went_on;

static int wait_in_call(void)
{
    while (!atomic_load(&come_back))
        usleep(1000);
    atomic_store(&came_back, true);
    return 7;
}

struct task {
    unsigned owner;
    bool hangs, in_thread;
    int calls;
};

static void *hang_beside(void *argument)
{
    (void)argument;
    ASIDE_CALL(1, "beside", wait_in_call());
    return NULL;
}

static int do_task(void *argument, struct error *err)
{
    struct task *const t = argument;
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        t->calls += ASIDE_CALL(t->owner, "quick", 1);
    if (t->in_thread && aside_thread(&thread, hang_beside, NULL) == 0)
        pthread_join(thread, NULL);
    else if (t->hangs)
        ASIDE_CALL(t->owner, "stuck", wait_in_call());
    atomic_store(&went_on, true);
    return error_set(err, ERR_PTX, "came to its end");
}

static bool run(struct aside **a, struct task *t, double patience, int *status,
                struct aside_call *call)
{
    struct aside_patience p = {.seconds = seconds_of_context,
                               .context = &patience};
    struct error err = {0};
    const bool ended = aside_run(a, do_task, t, &p, status, &err);
    *call = p.left;
    return ended;
}

START_TEST(work_that_ends_brings_its_result_and_its_error)
{
    struct aside *a = NULL;
    struct task t = {.owner = 1};
    const double patience = 10;
    struct aside_patience p = {.seconds = seconds_of_context,
                               .context = &patience};
    struct error err = {0};
    int status = 0;
    for (int i = 1; i <= 100; i++) {
        ck_assert(aside_run(&a, do_task, &t, &p, &status, &err));
        ck_assert_int_eq(status, ERR_PTX);
        ck_assert_str_eq(err.text, "came to its end");
        ck_assert_int_eq(t.calls, 3 * i);
    }
    ck_assert(!aside_was_left());
    aside_end(a);
}
END_TEST

/* … and if the call ever comes back, the work goes no step further; others
 * begin anew. */
START_TEST(a_call_that_does_not_come_back_is_left)
{
    struct aside *a = NULL;
    struct task t = {.owner = 1, .hangs = true, .in_thread = _i == 1};
    struct task next = {.owner = 1};
    struct aside_call call;
    int status = 0;
    const double begun = now_seconds();
    ck_assert(!run(&a, &t, 0.05, &status, &call));
    ck_assert_double_ge(now_seconds() - begun, 0.05);
    ck_assert_double_lt(now_seconds() - begun, 1);
    ck_assert_str_eq(call.entry, _i == 1 ? "beside" : "stuck");
    ck_assert_uint_eq(call.owner, 1);
    ck_assert_ptr_null(a);
    ck_assert(aside_was_left());
    atomic_store(&come_back, true);
    while (!atomic_load(&came_back))
        usleep(1000);
    usleep(20000);
    ck_assert(!atomic_load(&went_on));
    ck_assert(run(&a, &next, 10, &status, &call));
    ck_assert_int_eq(next.calls, 3);
    aside_end(a);
}
END_TEST

static void *release_later(void *argument)
{
    (void)argument;
    usleep(100000);
    atomic_store(&come_back, true);
    return NULL;
}

/* … which is asked for by whose code the call is in. */
START_TEST(a_call_within_patience_is_waited_for)
{
    struct aside *a = NULL;
    struct task t = {.owner = 2, .hangs = true};
    struct aside_call call;
    int status = 0;
    pthread_t thread;
    ck_assert_int_eq(aside_thread(&thread, release_later, NULL), 0);
    ck_assert(run(&a, &t, 0, &status, &call));
    ck_assert(atomic_load(&went_on));
    ck_assert_int_eq(status, ERR_PTX);
    ck_assert(!aside_was_left());
    pthread_join(thread, NULL);
    aside_end(a);
}
END_TEST

static int nested(void *argument, struct error *err)
{
    struct aside *inner = NULL;
    int status = 0;
    const double patience = 10;
    struct aside_patience p = {.seconds = seconds_of_context,
                               .context = &patience};
    ck_assert(aside_run(&inner, do_task, argument, &p, &status, err));
    ck_assert_ptr_null(inner);
    return status;
}

START_TEST(work_within_work_runs_in_the_same_thread)
{
    struct aside *a = NULL;
    struct task t = {.owner = 1};
    int status = 0;
    const double patience = 10;
    struct aside_patience p = {.seconds = seconds_of_context,
                               .context = &patience};
    struct error err = {0};
    ck_assert(aside_run(&a, nested, &t, &p, &status, &err));
    ck_assert_int_eq(t.calls, 3);
    aside_end(a);
}
END_TEST

Suite *suite_aside(void)
{
    TCase *tests;
    Suite *const suite = suite_of("aside", 20, &tests);
    tcase_add_test(tests, work_that_ends_brings_its_result_and_its_error);
    tcase_add_loop_test(tests, a_call_that_does_not_come_back_is_left, 0, 2);
    tcase_add_test(tests, a_call_within_patience_is_waited_for);
    tcase_add_test(tests, work_within_work_runs_in_the_same_thread);
    return suite;
}
