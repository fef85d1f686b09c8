#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *have(void *memory)
{
    if (memory == NULL) {
        fputs("sonde: out of host memory\n", stderr);
        abort();
    }
    return memory;
}

void *xmalloc(size_t size)
{
    return have(malloc(size > 0 ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
    return have(calloc(count > 0 ? count : 1, size > 0 ? size : 1));
}

void *xrealloc(void *old, size_t size)
{
    return have(realloc(old, size > 0 ? size : 1));
}

void *xreallocarray(void *old, size_t count, size_t size)
{
    if (size > 0 && count > SIZE_MAX / size)
        return have(NULL);
    return xrealloc(old, count * size);
}

char *xstrdup(const char *text)
{
    return have(strdup(text));
}

char *xstrndup(const char *text, size_t max)
{
    return have(strndup(text, max));
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
