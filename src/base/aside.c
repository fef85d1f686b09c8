#include "base/aside.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/numeric.h"
#include "base/stop.h"

/* What a seat's state says in its lowest bits; above them it counts calls. */
enum { OURS = 0, LEFT = 7, OWNER = 7 };

/* One thread of the work. */
struct seat {
    struct seat *next;
    struct aside *aside;
    atomic_ulong state;
    _Atomic(const char *) entry;
    /* As whoever waits saw it last, and since when. */
    unsigned long seen;
    double since;
    void *(*start)(void *);
    void *argument;
};

struct aside {
    pthread_mutex_t lock;
    pthread_cond_t asked, done;
    pthread_t thread;
    aside_work *work; /* NULL: nothing is to be done */
    void *argument;
    int status;
    struct error err;
    bool finished, ends;
    atomic_bool left;
    _Atomic(struct seat *) seats; /* those added last come first */
};

static _Thread_local struct seat *mine;
static atomic_bool any_left;

/* How often whoever waits looks. */
enum { LOOK_NS = 25000000 };

/* A study's arrays and what a driver's assembler needs; where threads have less
 * by default (musl: 128 KiB), that is too little. */
enum { STACK_BYTES = 8 << 20 };

bool aside_was_left(void)
{
    return atomic_load(&any_left);
}

/* ---- in the thread ----------------------------------------------------- */

static void stay(void)
{
    for (;;)
        pause();
}

void aside_enter(unsigned owner, const char *entry)
{
    struct seat *const seat = mine;
    if (seat == NULL)
        return;
    if (atomic_load_explicit(&seat->aside->left, memory_order_acquire))
        stay();
    const unsigned long now =
        atomic_load_explicit(&seat->state, memory_order_relaxed);
    atomic_store_explicit(&seat->entry, entry, memory_order_relaxed);
    atomic_store_explicit(&seat->state, (now | OWNER) + 1 + owner,
                          memory_order_release);
}

int aside_leave(int result)
{
    struct seat *const seat = mine;
    if (seat == NULL)
        return result;
    unsigned long now =
        atomic_load_explicit(&seat->state, memory_order_relaxed);
    if ((now & OWNER) == LEFT ||
        !atomic_compare_exchange_strong(&seat->state, &now,
                                        now & ~(unsigned long)OWNER))
        stay();
    return result;
}

static struct seat *take_seat(struct aside *aside, void *(*start)(void *),
                              void *argument)
{
    struct seat *const seat = xcalloc(1, sizeof *seat);
    seat->aside = aside;
    seat->start = start;
    seat->argument = argument;
    seat->next = atomic_load(&aside->seats);
    while (!atomic_compare_exchange_weak(&aside->seats, &seat->next, seat))
        ;
    return seat;
}

static void *sit(void *argument)
{
    mine = argument;
    return mine->start(mine->argument);
}

/* Signals are for the threads of the program that we run in: all but those that
 * a fault raises, which come to whoever made it. */
static int start_thread(pthread_t *thread, void *(*start)(void *),
                        void *argument)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGABRT);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const int status = pthread_create(thread, &attributes, start, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return status;
}

int aside_thread(pthread_t *thread, void *(*start)(void *), void *argument)
{
    if (mine == NULL)
        return pthread_create(thread, NULL, start, argument);
    return start_thread(thread, sit, take_seat(mine->aside, start, argument));
}

static void *serve(void *argument)
{
    NUMERIC_PLAIN();
    struct aside *const a = argument;
    pthread_mutex_lock(&a->lock);
    for (;;) {
        while (a->work == NULL && !a->ends)
            pthread_cond_wait(&a->asked, &a->lock);
        if (a->ends)
            break;
        aside_work *const work = a->work;
        a->work = NULL;
        pthread_mutex_unlock(&a->lock);
        const int status = mem_guarded(work, a->argument, &a->err);
        pthread_mutex_lock(&a->lock);
        a->status = status;
        a->finished = true;
        pthread_cond_signal(&a->done);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* ---- whoever waits ----------------------------------------------------- */

static void free_seats(struct aside *a)
{
    while (a->seats != NULL) {
        struct seat *const seat = a->seats;
        a->seats = seat->next;
        free(seat);
    }
}

static void aside_free(struct aside *a)
{
    free_seats(a);
    pthread_cond_destroy(&a->done);
    pthread_cond_destroy(&a->asked);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

static struct aside *aside_new(void)
{
    struct aside *const a = xcalloc(1, sizeof *a);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->asked, NULL);
    pthread_cond_init(&a->done, &attributes);
    pthread_condattr_destroy(&attributes);
    if (start_thread(&a->thread, sit, take_seat(a, serve, a)) == 0)
        return a;
    aside_free(a);
    return NULL;
}

/* Leaves a thread that is in a call for longer than there is patience for. */
static bool leave_seat(struct seat *seat, double now,
                       const struct aside_patience *patience)
{
    unsigned long state =
        atomic_load_explicit(&seat->state, memory_order_acquire);
    const unsigned owner = state & OWNER;
    if (state != seat->seen) {
        seat->seen = state;
        seat->since = now;
    }
    return owner != OURS &&
           now - seat->since >= patience->seconds(patience->context, owner) &&
           atomic_compare_exchange_strong(&seat->state, &state, state | LEFT);
}

static bool look(struct aside *a, struct aside_patience *patience)
{
    const double now = now_seconds();
    for (struct seat *s = atomic_load(&a->seats); s != NULL; s = s->next)
        if (leave_seat(s, now, patience)) {
            patience->left = (struct aside_call){s->seen & OWNER, s->entry};
            return true;
        }
    return false;
}

/* False if a call was left. */
static bool await(struct aside *a, struct aside_patience *patience)
{
    while (!a->finished) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_NS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        if (pthread_cond_timedwait(&a->done, &a->lock, &until) == ETIMEDOUT &&
            !a->finished && look(a, patience))
            return false;
    }
    return true;
}

/* The thread, its seats and what it holds stay for ever. */
static void forget(struct aside *a)
{
    atomic_store(&a->left, true);
    atomic_store(&any_left, true);
    pthread_detach(a->thread);
    pthread_mutex_unlock(&a->lock);
}

/* Threads of work that is over have ended, all but the first. */
static void clear_seats(struct aside *a)
{
    struct seat *s;
    while ((s = a->seats)->next != NULL) {
        a->seats = s->next;
        free(s);
    }
}

bool aside_run(struct aside **aside, aside_work *work, void *argument,
               struct aside_patience *patience, int *status, struct error *err)
{
    if (mine == NULL && *aside == NULL)
        *aside = aside_new();
    if (mine != NULL || *aside == NULL) {
        *status = work(argument, err);
        return true;
    }
    struct aside *const a = *aside;
    pthread_mutex_lock(&a->lock);
    a->work = work;
    a->argument = argument;
    a->err = *err;
    a->finished = false;
    pthread_cond_signal(&a->asked);
    if (!await(a, patience)) {
        *aside = NULL;
        forget(a);
        return false;
    }
    clear_seats(a);
    *status = a->status;
    *err = a->err;
    pthread_mutex_unlock(&a->lock);
    return true;
}

void aside_end(struct aside *a)
{
    if (a == NULL)
        return;
    pthread_mutex_lock(&a->lock);
    a->ends = true;
    pthread_cond_signal(&a->asked);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    aside_free(a);
}
