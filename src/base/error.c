#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"

static const struct {
    int code;
    int status;
} codes[] = {
#define X(name, value, status) {value, status},
    ERROR_CODES(X)
#undef X
};

static bool is_ascii_line(const char *text)
{
    while (*text >= ' ' && *text <= '~')
        text++;
    return *text == '\0';
}

static bool continues(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* What is too long loses its middle, where a long word is quoted, and no part
 * of a character: what to do next stands at the end. */
static void fit(char into[static ERROR_TEXT_MAX], const char *text,
                size_t length)
{
    static const char gap[] = " ... ";
    size_t head = ERROR_TEXT_MAX / 2;
    size_t tail = ERROR_TEXT_MAX - head - sizeof gap;
    if (length < ERROR_TEXT_MAX) {
        memmove(into, text, length + 1);
        return;
    }
    while (head > 0 && continues(text[head]))
        head--;
    while (tail > 0 && continues(text[length - tail]))
        tail--;
    memmove(into, text, head);
    memcpy(into + head, gap, sizeof gap - 1);
    memcpy(into + head + sizeof gap - 1, text + length - tail, tail + 1);
}

/* Sentences quote files and words that users gave; what would steer a terminal
 * or break the line does not get through. */
static void keep_to_one_line(char text[static ERROR_TEXT_MAX])
{
    if (is_ascii_line(text)) /* nor is there memory for more, perhaps */
        return;
    struct buf plain = {0};
    text_put_plain(&plain, text);
    fit(text, buf_string(&plain), plain.length);
    buf_free(&plain);
}

/* What is too long is printed whole only to be cut. */
static void print(char text[static ERROR_TEXT_MAX], const char *fmt,
                  va_list args)
{
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(text, ERROR_TEXT_MAX, fmt, args);
    char *const whole =
        length >= ERROR_TEXT_MAX ? malloc((size_t)length + 1) : NULL;
    if (whole != NULL) {
        vsnprintf(whole, (size_t)length + 1, fmt, again);
        fit(text, whole, (size_t)length);
        free(whole);
    }
    va_end(again);
}

int error_set(struct error *err, enum error_code code, const char *fmt, ...)
{
    /* The arguments may point into err->text: print aside, then copy. */
    char text[ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    print(text, fmt, args);
    va_end(args);
    keep_to_one_line(text);
    memcpy(err->text, text, sizeof text);
    err->code = code;
    return code;
}

int error_prefix(struct error *err, const char *fmt, ...)
{
    char prefix[ERROR_TEXT_MAX], text[2 * ERROR_TEXT_MAX + 2];
    va_list args;
    va_start(args, fmt);
    print(prefix, fmt, args);
    va_end(args);
    const int length = snprintf(text, sizeof text, "%s: %s", prefix, err->text);
    fit(err->text, text, (size_t)length);
    keep_to_one_line(err->text);
    return err->code;
}

int error_exit_status(int code)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code)
            return codes[i].status;
    return code == 0 ? 0 : 4;
}
