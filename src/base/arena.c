#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

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

char *arena_text(struct arena *a, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *const text = arena_alloc(a, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, fmt, args);
    va_end(args);
    return text;
}

void arena_empty(struct arena *a)
{
    while (a->count > 0)
        free(a->blocks[--a->count]);
    free(a->blocks);
    *a = (struct arena){0};
}
