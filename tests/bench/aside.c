/*
 * What it costs that a driver can be left (base/aside.h): a call of foreign code,
 * beside the same call without, and the way to the thread and back, once an
 * experiment.
 */
#include <stdio.h>

#include "base/aside.h"
#include "base/stop.h"

enum { CALLS = 20000000, HANDINGS = 20000 };

static int __attribute__((noinline)) foreign(int n)
{
    __asm__ volatile("" : "+r"(n));
    return n;
}

static double seconds_plain, seconds_left;

static int call_often(void *argument, struct error *err)
{
    int sum = 0;
    (void)argument, (void)err;
    const double begun = now_seconds();
    for (int i = 0; i < CALLS; i++)
        sum += foreign(i & 1);
    const double between = now_seconds();
    for (int i = 0; i < CALLS; i++)
        sum += ASIDE_CALL(1, "foreign", foreign(i & 1));
    seconds_plain = between - begun;
    seconds_left = now_seconds() - between;
    return sum != CALLS;
}

static int do_nothing(void *argument, struct error *err)
{
    (void)argument, (void)err;
    return 0;
}

static double for_ever(const void *context, unsigned owner)
{
    (void)context, (void)owner;
    return 1e9;
}

int main(void)
{
    struct aside *aside = NULL;
    struct aside_patience patience = {.seconds = for_ever};
    struct error err = {0};
    int status;
    aside_run(&aside, call_often, NULL, &patience, &status, &err);
    printf("a call that can be left: %.1f ns, without %.1f ns\n",
           1e9 * seconds_left / CALLS, 1e9 * seconds_plain / CALLS);
    const double begun = now_seconds();
    for (int i = 0; i < HANDINGS; i++)
        aside_run(&aside, do_nothing, NULL, &patience, &status, &err);
    printf("to the thread and back: %.1f us\n",
           1e6 * (now_seconds() - begun) / HANDINGS);
    aside_end(aside);
    return status;
}
