/*
 * Work that can be left.  It runs in a thread of its own and says before each
 * call of foreign code, a driver's, that it is in there.  Whoever waits for it
 * looks a few times a second; a call that does not come back within what
 * whoever waits has patience for is left: the thread stays in it, and if the
 * call ever comes back, the thread goes no step further.
 *
 * A thread and no process: the library runs in programs that use the GPU
 * themselves, and a driver that has started does not survive a fork; and a call
 * costs some nanoseconds more, not the microseconds in which words go to
 * another process and come back.  What a thread cannot do: a driver that
 * crashes takes the process with it, and one that waits in the kernel where no
 * signal reaches it keeps the process from being gone, though not from having
 * written all that it has to say.
 *
 * Only a thread that is in foreign code is ever left, never one in ours: it
 * holds no lock of ours, and nothing that it was about to write is half
 * written.  What it has on its stack, and what that points at, must stay as it
 * is: whoever left it forgets that memory and does not free it.
 */
#ifndef SONDE_BASE_ASIDE_H
#define SONDE_BASE_ASIDE_H

#include <pthread.h>
#include <stdbool.h>

#include "base/error.h"

struct aside;

typedef int aside_work(void *argument, struct error *err);

/* A call that did not come back. */
struct aside_call {
    unsigned owner; /* as it was entered */
    const char *entry;
};

/* For how many seconds a call of that owner may go on now; and, filled in, the
 * call that went on for longer. */
struct aside_patience {
    double (*seconds)(const void *context, unsigned owner);
    const void *context;
    struct aside_call left;
};

/*
 * True once the work has come to its end, with its result in *status; false if
 * a call of it was left, and *aside is NULL again.
 * `*aside` keeps the thread for the next work and is NULL at first.  Work that
 * is begun by other work runs in the same thread.
 */
bool aside_run(struct aside **aside, aside_work *work, void *argument,
               struct aside_patience *patience, int *status, struct error *err);
/* Ends the thread; NULL is none. */
void aside_end(struct aside *aside);

/* As pthread_create, of a thread that is left together with the one that
 * starts it. */
int aside_thread(pthread_t *thread, void *(*start)(void *), void *argument);

/* Around a call of foreign code: `entry` must live for ever, `owner` is 1 to 6.
 * Elsewhere than in work that runs aside they do nothing. */
void aside_enter(unsigned owner, const char *entry);
int aside_leave(int result);
#define ASIDE_CALL(owner, entry, call)                                         \
    (aside_enter(owner, entry), aside_leave(call))

/* True if any thread of this process was ever left: what such a driver has
 * registered for exit() would wait for it. */
bool aside_was_left(void);

#endif
