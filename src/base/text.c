#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

bool text_to_u64(const char *text, uint64_t *value)
{
    if (!isdigit((unsigned char)text[0]))
        return false;
    const int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X')
                         ? 16
                         : 10; /* a leading 0 is not octal to a user */
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, base);
    if (errno != 0)
        return false;
    int shift = 0;
    const char *const units = "KMGT";
    const char *const unit =
        *end != '\0' ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (unit != NULL) {
        shift = 10 * (int)(unit - units + 1);
        end++;
        if (*end == 'i')
            end++;
        if (*end == 'B')
            end++;
    }
    if (*end != '\0' || number > UINT64_MAX >> shift)
        return false;
    *value = (uint64_t)number << shift;
    return true;
}

size_t text_find(const char *word, const char *const *words)
{
    size_t i = 0;
    while (words[i] != NULL && strcmp(words[i], word) != 0)
        i++;
    return i;
}

bool text_is_among(const char *word, const char *const *words)
{
    return words[text_find(word, words)] != NULL;
}

enum { WORD_MAX = 63 };

/* Edits (insert, delete, change) that make `b` of `a`. */
static size_t distance(const char *a, const char *b)
{
    size_t row[WORD_MAX + 1];
    const size_t length = strlen(b);
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            const size_t change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            const size_t step = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = change < step ? change : step;
        }
    }
    return row[length];
}

const char *text_nearest(const char *word, const char *const *names)
{
    const char *best = NULL;
    /* More than half of the word changed is another word. */
    size_t least = strlen(word) / 2 + 1;
    for (; *names != NULL; names++) {
        if (strlen(*names) > WORD_MAX)
            continue;
        const size_t d = distance(word, *names);
        if (d < least) {
            least = d;
            best = *names;
        }
    }
    return best;
}

struct text_guess text_guess(const char *word, const char *const *names)
{
    struct text_guess guess = {""};
    const char *const near = text_nearest(word, names);
    if (near != NULL)
        snprintf(guess.text, sizeof guess.text, "; did you mean '%s'?", near);
    return guess;
}

bool text_glob(const char *pattern, const char *text)
{
    const char *star = NULL, *from = NULL;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            from = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/* "4-7" or "4". */
static bool to_range(const char *text, size_t length, bool *in, size_t count)
{
    unsigned from, to;
    int end = 0;
    char word[32];
    if (length >= sizeof word)
        return false;
    memcpy(word, text, length);
    word[length] = '\0';
    if (sscanf(word, "%4u-%4u%n", &from, &to, &end) != 2 ||
        (size_t)end != length) {
        if (sscanf(word, "%4u%n", &from, &end) != 1 || (size_t)end != length)
            return false;
        to = from;
    }
    if (from > to || to >= count)
        return false;
    for (unsigned i = from; i <= to; i++)
        in[i] = true;
    return true;
}

bool text_to_set(const char *text, bool *in, size_t count)
{
    bool good = *text != '\0';
    while (good && *text != '\0') {
        const size_t length = strcspn(text, ",");
        good = to_range(text, length, in, count);
        text += length + (text[length] == ',');
    }
    return good;
}

char *text_line_meant(const char *text, const char *complaint)
{
    const char *const at = strstr(complaint, "line ");
    const long number = at != NULL ? strtol(at + 5, NULL, 10) : 0;
    for (long i = 1; i < number && text != NULL; i++) {
        text = strchr(text, '\n');
        text = text != NULL ? text + 1 : NULL;
    }
    if (number < 1 || text == NULL)
        return NULL;
    text += strspn(text, " \t");
    return xstrndup(text, strcspn(text, "\n"));
}

char *text_ranges(const bool *in, size_t count)
{
    struct buf text = {0};
    for (size_t from = 0; from < count; from++) {
        size_t to = from;
        if (!in[from])
            continue;
        while (to + 1 < count && in[to + 1])
            to++;
        buf_printf(&text, "%s%zu", text.length > 0 ? "," : "", from);
        if (to > from)
            buf_printf(&text, "-%zu", to);
        from = to;
    }
    return buf_take(&text);
}

/* ---- characters --------------------------------------------------------- */

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

/* Controls (C0, DEL, C1), what orders the text around it (UAX 9), ends a line
 * (UAX 14) or tags it (chapter 23.9 of the standard), and what is no character.
 */
static const struct {
    uint32_t first, last;
} hidden[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},       {0x61c, 0x61c},   {0x200e, 0x200f},
    {0x2028, 0x202e}, {0x2066, 0x2069},   {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
    {0xfffe, 0xffff}, {0xe0000, 0xe007f},
};

static bool is_hidden(uint32_t code)
{
    for (size_t i = 0; i < COUNT_OF(hidden); i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return true;
    return false;
}

static struct text_character decode(const char *text, const struct lead *lead)
{
    struct text_character c = {.code = (unsigned char)text[0] &
                                       (unsigned char)~lead->mask,
                               .bytes = 1};
    while (c.bytes < lead->bytes &&
           ((unsigned char)text[c.bytes] & 0xc0) == 0x80)
        c.code = c.code << 6 | ((unsigned char)text[c.bytes++] & 0x3f);
    c.valid = c.bytes == lead->bytes && c.code >= lead->least &&
              c.code <= 0x10ffff && (c.code & ~0x7ffu) != 0xd800;
    c.shown = c.valid && !is_hidden(c.code);
    return c;
}

struct text_character text_character(const char *text)
{
    for (size_t i = 0; i < COUNT_OF(leads); i++)
        if (((unsigned char)text[0] & leads[i].mask) == leads[i].is)
            return decode(text, &leads[i]);
    return (struct text_character){.bytes = 1};
}

static void put_bytes(struct buf *out, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "\\x%02x", (unsigned char)bytes[i]);
}

void text_put_plain(struct buf *out, const char *text)
{
    while (*text != '\0') {
        const struct text_character c = text_character(text);
        if (strchr("\t\n\r", *text) != NULL)
            buf_text(out, " ");
        else if (c.shown)
            buf_append(out, text, c.bytes);
        else if (!c.valid)
            put_bytes(out, text, c.bytes);
        else
            buf_printf(out, c.code < 0x100 ? "\\x%02x" : "\\u%04x", c.code);
        text += c.bytes;
    }
}

char *text_plain(const char *text)
{
    struct buf out = {0};
    text_put_plain(&out, text);
    return buf_take(&out);
}
