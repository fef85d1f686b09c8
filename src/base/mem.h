/*
 * Host memory that is always there, or the work that wants it ends.
 *
 * A reserve is given back when the host has no more: measuring ends then, and
 * what was found is reported.  What there is no memory for even so ends the
 * innermost work that is guarded (mem_guarded, mem_guard): it goes back there,
 * with an error, by longjmp.  So no caller of xmalloc has to look at what it
 * returns, and no path that nobody has ever gone down has to undo by hand what
 * a thousand places have begun.  This is sound for these reasons:
 *
 * - A guard is of its thread, and every thread that the library starts has one;
 *   so nobody goes back into a stack that is not his.
 * - Nothing is locked across an allocation: the one mutex, of base/aside.c, is
 *   held around waiting alone.
 * - No frame of foreign code lies between: drivers do not call us back, and
 *   what the user gave to be called is called without a guard (mem_foreign).
 *   jansson's frames do, whose allocations end work, too, so that no report
 *   lacks what there was no room for: they hold nothing but memory.
 * - What outlives the work (results, recordings, what is known of a device) is
 *   changed after all that it takes has been made, so that whoever goes on
 *   finds it whole.
 * - What only the work knew is lost.  That is the price: up to what one
 *   study has in hand, once, since a session that met this measures no more; a
 *   device's memory goes with the device.
 */
#ifndef SONDE_BASE_MEM_H
#define SONDE_BASE_MEM_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Sets the reserve aside, if it is not; and whether there was too little since.
 */
void mem_reserve(void);
bool mem_is_scarce(void);

/* Runs the work; if there is no memory for it, an error says so. */
typedef int mem_work(void *argument, struct error *err);
int mem_guarded(mem_work *work, void *argument, struct error *err);
/* … which is this one. */
int mem_error(struct error *err);

/*
 * The same of the rest of a function, which must have nothing to undo there:
 *
 *     MEM_GUARD(return session_out_of_memory(err));
 */
struct mem_guard {
    struct mem_guard *outer;
    jmp_buf jump;
};
struct mem_guard *mem_guard(struct mem_guard *guard);
void mem_unguard(struct mem_guard *guard);
#define MEM_GUARD(otherwise)                                                   \
    struct mem_guard guard_ __attribute__((cleanup(mem_unguard)));             \
    if (setjmp(mem_guard(&guard_)->jump) != 0)                                 \
    otherwise

/* Around a call of what the user gave: */
#define MEM_FOREIGN(call)                                                      \
    do {                                                                       \
        struct mem_guard none_ __attribute__((cleanup(mem_unguard)));          \
        mem_foreign(&none_);                                                   \
        call;                                                                  \
    } while (0)
void mem_foreign(struct mem_guard *none);

/* There is no memory for something: ends the work. */
_Noreturn void mem_none(void);

/* What jansson is given: as xmalloc; NULL for whoever else in this process uses
 * jansson, in a thread that does no work of ours. */
void *mem_try(size_t size);

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t size);
/* As xrealloc for `count` elements; what overflows there is none of, either. */
void *xreallocarray(void *old, size_t count, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t max);
/* printf into a string that the caller frees. */
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Memory that ends together: what a piece of work takes from its arena goes
 * when the arena is emptied, and nobody frees it one by one.
 */
struct arena {
    void **blocks;
    size_t count, capacity;
};

/* `count` elements of zeros; never NULL, also for none. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);
/* Takes over what malloc gave, and returns it; NULL is nothing to take. */
void *arena_adopt(struct arena *arena, void *block);
/* Frees all; the arena may be used again. */
void arena_empty(struct arena *arena);

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#endif
