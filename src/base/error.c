#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
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

/* Sentences quote files and words that users gave; what would steer a terminal
 * or break the line does not get through.  What is cut off is no character. */
static void keep_to_one_line(char text[static ERROR_TEXT_MAX])
{
    if (is_ascii_line(text)) /* nor is there memory for more, perhaps */
        return;
    struct buf plain = {0};
    text_put_plain(&plain, text);
    size_t length = plain.length;
    if (length >= ERROR_TEXT_MAX)
        for (length = ERROR_TEXT_MAX - 1;
             length > 0 && ((unsigned char)plain.data[length] & 0xc0) == 0x80;)
            length--;
    memcpy(text, buf_string(&plain), length);
    text[length] = '\0';
    buf_free(&plain);
}

int error_set(struct error *err, enum error_code code, const char *fmt, ...)
{
    /* The arguments may point into err->text: print aside, then copy. */
    char text[ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
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
    vsnprintf(prefix, sizeof prefix, fmt, args);
    va_end(args);
    snprintf(text, sizeof text, "%s: %s", prefix, err->text);
    text[ERROR_TEXT_MAX - 1] = '\0';
    keep_to_one_line(text);
    memcpy(err->text, text, ERROR_TEXT_MAX);
    return err->code;
}

int error_exit_status(int code)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code)
            return codes[i].status;
    return code == 0 ? 0 : 4;
}
