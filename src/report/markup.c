#include "report/markup.h"

#include <stdint.h>

#include "base/text.h"

static const char *entity(uint32_t code)
{
    switch (code) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\t':
    case '\n':
    case '\r':
        return " ";
    default:
        return NULL;
    }
}

void markup_text(struct buf *out, const char *text)
{
    while (text != NULL && *text != '\0') {
        const struct text_character c = text_character(text);
        const char *const instead = c.valid ? entity(c.code) : NULL;
        if (instead != NULL)
            buf_text(out, instead);
        else if (c.shown)
            buf_append(out, text, c.bytes);
        else
            buf_text(out, "\xef\xbf\xbd"); /* U+FFFD */
        text += c.bytes;
    }
}
