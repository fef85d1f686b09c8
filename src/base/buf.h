/*
 * A growing buffer of bytes, always followed by a NUL, so that it is text
 * whenever what was put into it is text.  Start from `struct buf b = {0}`.
 */
#ifndef SONDE_BASE_BUF_H
#define SONDE_BASE_BUF_H

#include <stddef.h>

struct buf {
    char *data; /* NULL until something is appended */
    size_t length;
    size_t capacity;
};

void buf_append(struct buf *b, const void *data, size_t length);
void buf_text(struct buf *b, const char *text);
void buf_printf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void buf_clear(struct buf *b); /* keeps the memory */
void buf_free(struct buf *b);
/* The text as a string that the caller frees; the buffer is empty again. */
char *buf_take(struct buf *b);
/* The text, "" when nothing was appended. */
const char *buf_string(const struct buf *b);

#endif
