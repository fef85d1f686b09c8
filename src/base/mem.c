#include "base/mem.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is given back when there is no more: it is for the report.  Who wants
 * more than half of it at once is no report, and gets nothing of it. */
static _Atomic(void *) reserve;
static atomic_bool scarce;
enum { RESERVE_BYTES = 8 << 20, FROM_RESERVE = RESERVE_BYTES / 2 };

/* A library that is loaded late has its threads' variables allocated when they
 * are first used, and the C library aborts where it cannot. */
#ifdef __GLIBC__
#define ALWAYS_THERE __attribute__((tls_model("initial-exec")))
#else
#define ALWAYS_THERE
#endif
static _Thread_local struct mem_guard *innermost ALWAYS_THERE;

void mem_reserve(void)
{
    if (atomic_load(&reserve) == NULL) {
        void *none = NULL, *const made = malloc(RESERVE_BYTES);
        if (made == NULL)
            return;
        if (!atomic_compare_exchange_strong(&reserve, &none, made))
            free(made);
    }
    atomic_store(&scarce, false);
}

bool mem_is_scarce(void)
{
    return atomic_load(&scarce);
}

/* Whether it is worth another try. */
static bool give_reserve(size_t wanted)
{
    atomic_store(&scarce, true);
    if (wanted > FROM_RESERVE)
        return false;
    void *const given = atomic_exchange(&reserve, NULL);
    free(given);
    return given != NULL;
}

/* ---- work that ends ------------------------------------------------------ */

struct mem_guard *mem_guard(struct mem_guard *guard)
{
    guard->outer = innermost;
    innermost = guard;
    return guard;
}

void mem_unguard(struct mem_guard *guard)
{
    innermost = guard->outer;
}

void mem_foreign(struct mem_guard *none)
{
    none->outer = innermost;
    innermost = NULL;
}

void mem_none(void)
{
    struct mem_guard *const guard = innermost;
    atomic_store(&scarce, true);
    if (guard == NULL) { /* tests and tools alone: sonde.h is guarded */
        fputs("sonde: out of host memory\n", stderr);
        abort();
    }
    innermost = guard->outer;
    longjmp(guard->jump, 1);
}

int mem_error(struct error *err)
{
    *err = (struct error){ERR_INTERRUPTED, "the host is out of memory"};
    return err->code;
}

int mem_guarded(mem_work *work, void *argument, struct error *err)
{
    MEM_GUARD(return mem_error(err));
    return work(argument, err);
}

static void *have(void *memory)
{
    if (memory == NULL)
        mem_none();
    return memory;
}

/* ---- memory -------------------------------------------------------------- */

static void *allocate(size_t size)
{
    void *const memory = malloc(size > 0 ? size : 1);
    return memory != NULL || !give_reserve(size) ? memory : allocate(size);
}

void *mem_try(size_t size)
{
    void *const memory = allocate(size);
    return memory != NULL || innermost == NULL ? memory : have(memory);
}

void *xmalloc(size_t size)
{
    return have(allocate(size));
}

void *xcalloc(size_t count, size_t size)
{
    if (count == 0 || size == 0)
        count = size = 1;
    void *const memory = calloc(count, size);
    return memory != NULL || !give_reserve(count * size) ? have(memory)
                                                         : xcalloc(count, size);
}

void *xrealloc(void *old, size_t size)
{
    size += size == 0;
    void *const memory = realloc(old, size);
    return memory != NULL || !give_reserve(size) ? have(memory)
                                                 : xrealloc(old, size);
}

void *xreallocarray(void *old, size_t count, size_t size)
{
    if (size > 0 && count > SIZE_MAX / size)
        mem_none();
    return xrealloc(old, count * size);
}

char *xstrdup(const char *text)
{
    return xstrndup(text, strlen(text));
}

char *xstrndup(const char *text, size_t max)
{
    const size_t length = strnlen(text, max);
    char *const copy = xmalloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *xasprintf(const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (length < 0)
        mem_none();
    char *text = xmalloc((size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, fmt, again);
    va_end(again);
    return text;
}

/* ---- arenas ------------------------------------------------------------ */

void *arena_adopt(struct arena *a, void *block)
{
    if (block == NULL)
        return NULL;
    if (a->count == a->capacity) {
        a->capacity = a->capacity > 0 ? 2 * a->capacity : 16;
        a->blocks = xreallocarray(a->blocks, a->capacity, sizeof *a->blocks);
    }
    a->blocks[a->count++] = block;
    return block;
}

void *arena_alloc(struct arena *a, size_t count, size_t size)
{
    return arena_adopt(a, xcalloc(count > 0 ? count : 1, size));
}

void arena_empty(struct arena *a)
{
    while (a->count > 0)
        free(a->blocks[--a->count]);
    free(a->blocks);
    *a = (struct arena){0};
}
