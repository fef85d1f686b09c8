#include "report/markup.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"

/* A character and how many bytes it takes; one byte of what is none. */
struct character {
    uint32_t code;
    size_t bytes;
    bool valid;
};

/* By the first byte (RFC 3629, 4): how many bytes, and which codes. */
static const struct lead {
    unsigned char mask, is;
    size_t bytes;
    uint32_t least; /* what takes fewer bytes is written with these */
} leads[] = {
    {0x80, 0x00, 1, 0},
    {0xe0, 0xc0, 2, 0x80},
    {0xf0, 0xe0, 3, 0x800},
    {0xf8, 0xf0, 4, 0x10000},
};

static struct character decode(const char *text, const struct lead *lead)
{
    struct character c = {(unsigned char)text[0] & (unsigned char)~lead->mask,
                          1, false};
    while (c.bytes < lead->bytes &&
           ((unsigned char)text[c.bytes] & 0xc0) == 0x80)
        c.code = c.code << 6 | ((unsigned char)text[c.bytes++] & 0x3f);
    c.valid = c.bytes == lead->bytes && c.code >= lead->least &&
              c.code <= 0x10ffff && (c.code & ~0x7ffu) != 0xd800;
    return c;
}

static struct character character_at(const char *text)
{
    for (size_t i = 0; i < COUNT_OF(leads); i++)
        if (((unsigned char)text[0] & leads[i].mask) == leads[i].is)
            return decode(text, &leads[i]);
    return (struct character){0, 1, false};
}

/* Controls, what is no character, and what orders the text after it (UAX 9). */
static const struct {
    uint32_t first, last;
} hidden[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},
    {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
    {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xfffe, 0xffff},
};

static bool is_hidden(uint32_t code)
{
    for (size_t i = 0; i < COUNT_OF(hidden); i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return true;
    return false;
}

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
        const struct character c = character_at(text);
        const char *const instead = entity(c.code);
        if (c.valid && instead != NULL)
            buf_text(out, instead);
        else if (c.valid && !is_hidden(c.code))
            buf_append(out, text, c.bytes);
        else
            buf_text(out, "\xef\xbf\xbd"); /* U+FFFD */
        text += c.bytes;
    }
}
