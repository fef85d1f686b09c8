#include "report/fleet/reading/scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Deeper than any report, and no danger to the stack. */
enum { DEEPEST = 64 };

static bool refuse(struct scan *s)
{
    s->bad = true;
    return false;
}

char scan_next(struct scan *s)
{
    while (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' || *s->at == '\r')
        s->at++;
    return s->bad ? '\0' : *s->at;
}

bool scan_enter(struct scan *s, char kind)
{
    if (scan_next(s) != kind)
        return refuse(s);
    s->at++;
    return true;
}

bool scan_string(struct scan *s, struct piece *text)
{
    if (scan_next(s) != '"')
        return refuse(s);
    const char *at = s->at + 1;
    text->at = at;
    for (; *at != '"'; at++) {
        if (*at == '\\' && at[1] != '\0')
            at++;
        else if ((unsigned char)*at < ' ') {
            s->at = at;
            return refuse(s);
        }
    }
    text->length = (size_t)(at - text->at);
    s->at = at + 1;
    return true;
}

/* The next of what stands between commas, up to `last`. */
static bool next_of(struct scan *s, bool *first, char last)
{
    const char next = scan_next(s);
    if (next == last) {
        s->at++;
        return false;
    }
    if (!*first) {
        if (next != ',')
            return refuse(s);
        s->at++;
    }
    *first = false;
    return !s->bad;
}

bool scan_member(struct scan *s, bool *first, struct piece *key)
{
    if (s->bad || !next_of(s, first, '}') || !scan_string(s, key))
        return false;
    if (scan_next(s) != ':')
        return refuse(s);
    s->at++;
    return true;
}

bool scan_item(struct scan *s, bool *first)
{
    return !s->bad && next_of(s, first, ']');
}

bool scan_number(struct scan *s, double *number)
{
    char *end;
    const char next = scan_next(s);
    if (next != '-' && (next < '0' || next > '9'))
        return refuse(s);
    *number = strtod(s->at, &end);
    /* strtod also takes hexadecimal numbers and infinities. */
    for (const char *c = s->at; c < end; c++)
        if (strchr("+-.eE0123456789", *c) == NULL)
            return refuse(s);
    if (end == s->at)
        return refuse(s);
    s->at = end;
    return true;
}

static bool skip_word(struct scan *s)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i]);
        if (strncmp(s->at, words[i], length) == 0) {
            s->at += length;
            return true;
        }
    }
    /* A word that the text's end cuts ends too early, too. */
    while (isalpha((unsigned char)*s->at))
        s->at++;
    return refuse(s);
}

static bool skip(struct scan *s, unsigned deep)
{
    struct piece ignored;
    double number;
    bool first = true;
    switch (scan_next(s)) {
    case '"':
        return scan_string(s, &ignored);
    case '{':
        s->at++;
        while (deep > 0 && scan_member(s, &first, &ignored))
            skip(s, deep - 1);
        return deep > 0 ? !s->bad : refuse(s);
    case '[':
        s->at++;
        while (deep > 0 && scan_item(s, &first))
            skip(s, deep - 1);
        return deep > 0 ? !s->bad : refuse(s);
    case 't':
    case 'f':
    case 'n':
        return skip_word(s);
    default:
        return scan_number(s, &number);
    }
}

bool scan_skip(struct scan *s, struct piece *raw)
{
    scan_next(s);
    const char *const from = s->at;
    const bool whole = skip(s, DEEPEST);
    if (raw != NULL)
        *raw = (struct piece){from, (size_t)(s->at - from)};
    return whole;
}

bool piece_is(struct piece p, const char *text)
{
    return p.length == strlen(text) &&
           (p.length == 0 || memcmp(p.at, text, p.length) == 0);
}

/* As UTF-8; halves of pairs one by one, which the reader of names shows as what
 * they are: no characters. */
static void put_code(struct buf *out, unsigned code)
{
    char utf8[3];
    if (code < 0x80) {
        utf8[0] = (char)code;
        buf_append(out, utf8, code != 0);
    } else if (code < 0x800) {
        utf8[0] = (char)(0xc0 | code >> 6);
        utf8[1] = (char)(0x80 | (code & 0x3f));
        buf_append(out, utf8, 2);
    } else {
        utf8[0] = (char)(0xe0 | code >> 12);
        utf8[1] = (char)(0x80 | (code >> 6 & 0x3f));
        utf8[2] = (char)(0x80 | (code & 0x3f));
        buf_append(out, utf8, 3);
    }
}

/* What stands behind a backslash; how many characters that is. */
static size_t put_escape(struct buf *out, const char *at, size_t left)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    char digits[5] = "";
    const char *const plain = strchr(from, *at);
    if (*at == 'u' && left >= 5) {
        memcpy(digits, at + 1, 4);
        put_code(out, (unsigned)strtoul(digits, NULL, 16));
        return 5;
    }
    buf_append(out, plain != NULL ? &to[plain - from] : at, 1);
    return 1;
}

void piece_put(struct piece p, struct buf *out)
{
    const char *const end = p.at + p.length;
    for (const char *at = p.at; at < end;) {
        const char *const stop = memchr(at, '\\', (size_t)(end - at));
        buf_append(out, at, (size_t)((stop != NULL ? stop : end) - at));
        if (stop == NULL || stop + 1 >= end)
            return;
        at = stop + 1;
        at += put_escape(out, at, (size_t)(end - at));
    }
}
