#include "base/mem.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is given back when there is no more: it is for the report. */
static _Atomic(void *) reserve;
static atomic_bool scarce;
enum { RESERVE_BYTES = 8 << 20 };

void mem_reserve(void)
{
    void *none = NULL, *const made = malloc(RESERVE_BYTES);
    if (made == NULL || !atomic_compare_exchange_strong(&reserve, &none, made))
        free(made);
    else
        atomic_store(&scarce, false);
}

bool mem_is_scarce(void)
{
    return atomic_load(&scarce);
}

/* Whether it is worth another try. */
static bool give_reserve(void)
{
    void *const given = atomic_exchange(&reserve, NULL);
    atomic_store(&scarce, true);
    free(given);
    return given != NULL;
}

static void *have(void *memory)
{
    if (memory == NULL) {
        fputs("sonde: out of host memory\n", stderr);
        abort();
    }
    return memory;
}

void *mem_try(size_t size)
{
    void *const memory = malloc(size > 0 ? size : 1);
    return memory != NULL || !give_reserve() ? memory : mem_try(size);
}

void *xmalloc(size_t size)
{
    return have(mem_try(size));
}

void *xcalloc(size_t count, size_t size)
{
    if (count == 0 || size == 0)
        count = size = 1;
    void *const memory = calloc(count, size);
    return memory != NULL || !give_reserve() ? have(memory)
                                             : xcalloc(count, size);
}

void *xrealloc(void *old, size_t size)
{
    size += size == 0;
    void *const memory = realloc(old, size);
    return memory != NULL || !give_reserve() ? have(memory)
                                             : xrealloc(old, size);
}

void *xreallocarray(void *old, size_t count, size_t size)
{
    if (size > 0 && count > SIZE_MAX / size)
        return have(NULL);
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
