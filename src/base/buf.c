#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void reserve(struct buf *b, size_t more)
{
    const size_t need = b->length + more + 1;
    if (need <= b->capacity)
        return;
    size_t capacity = b->capacity > 0 ? b->capacity : 256;
    while (capacity < need)
        capacity *= 2;
    b->data = xrealloc(b->data, capacity);
    b->capacity = capacity;
}

void buf_append(struct buf *b, const void *data, size_t length)
{
    reserve(b, length);
    if (length > 0)
        memcpy(b->data + b->length, data, length);
    b->length += length;
    b->data[b->length] = '\0';
}

void buf_text(struct buf *b, const char *text)
{
    buf_append(b, text, strlen(text));
}

/* Most texts fit into what is there. */
void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    reserve(b, 0);
    const size_t room = b->capacity - b->length;
    const int needs = vsnprintf(b->data + b->length, room, fmt, args);
    va_end(args);
    if (needs < 0)
        mem_none();
    const size_t length = (size_t)needs;
    if (length >= room) {
        reserve(b, length);
        vsnprintf(b->data + b->length, length + 1, fmt, again);
    }
    va_end(again);
    b->length += length;
}

void buf_clear(struct buf *b)
{
    b->length = 0;
    if (b->data != NULL)
        b->data[0] = '\0';
}

void buf_free(struct buf *b)
{
    free(b->data);
    *b = (struct buf){0};
}

char *buf_take(struct buf *b)
{
    char *text = b->data != NULL ? b->data : xstrdup("");
    *b = (struct buf){0};
    return text;
}

const char *buf_string(const struct buf *b)
{
    return b->data != NULL ? b->data : "";
}
