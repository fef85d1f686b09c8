#include "base/crew.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/aside.h"
#include "base/numeric.h"

enum { THREADS_MOST = 64 };

struct crew {
    mem_work *hand;
    void *context;
    atomic_int status;
};

/* None may leave what others still work on. */
static void *lend_hand(void *argument)
{
    NUMERIC_PLAIN();
    struct crew *const crew = argument;
    struct error ignored;
    const int status = mem_guarded(crew->hand, crew->context, &ignored);
    if (status != 0)
        atomic_store(&crew->status, status);
    return NULL;
}

static size_t cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return (size_t)CPU_COUNT(&set);
}

int crew_run(mem_work *hand, void *context, size_t items)
{
    struct crew crew = {.hand = hand, .context = context};
    pthread_t threads[THREADS_MOST];
    size_t wanted = cores(), started = 0;
    if (wanted > items)
        wanted = items;
    if (wanted > THREADS_MOST)
        wanted = THREADS_MOST;
    while (started + 1 < wanted &&
           aside_thread(&threads[started], lend_hand, &crew) == 0)
        started++;
    lend_hand(&crew);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    return atomic_load(&crew.status);
}

struct pieces {
    crew_piece *work;
    void *context;
    size_t count;
    atomic_size_t next;
};

static int do_next(void *argument, struct error *err)
{
    struct pieces *const p = argument;
    (void)err;
    for (size_t i; (i = atomic_fetch_add(&p->next, 1)) < p->count;)
        p->work(p->context, i);
    return 0;
}

void crew_each(crew_piece *work, void *context, size_t count)
{
    struct pieces p = {.work = work, .context = context, .count = count};
    atomic_init(&p.next, 0);
    if (crew_run(do_next, &p, count) != 0)
        mem_none();
}
