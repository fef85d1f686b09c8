#include "report/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

enum { ROOM_LEAST = 20 };

static const char *const tone_codes[] = {
    [TONE_PLAIN] = "",
    [TONE_STRONG] = "\033[1m",
    [TONE_FAINT] = "\033[2m",
    [TONE_DOUBT] = "\033[33m",
};
_Static_assert(COUNT_OF(tone_codes) == TONE_COUNT, "one code a tone");

/* What stands for a character where there is only ASCII. */
static const struct {
    const char *character, *ascii;
} substitutes[] = {
    {"─", "-"},  {"│", "|"},  {"├", "|"},  {"└", "`"}, {"×", "x"}, {"≥", ">="},
    {"≤", "<="}, {"±", "+-"}, {"µ", "u"},  {"–", "-"}, {"—", "-"}, {"·", "*"},
    {"→", "->"}, {"“", "\""}, {"”", "\""}, {"‘", "'"}, {"’", "'"}, {"…", "..."},
};

/* Bytes of the character that starts here. */
static size_t character_bytes(const char *text)
{
    size_t n = 1;
    while (((unsigned char)text[n] & 0xc0) == 0x80)
        n++;
    return n;
}

static const char *substitute(const char *text, size_t bytes)
{
    for (size_t i = 0; i < COUNT_OF(substitutes); i++)
        if (strncmp(substitutes[i].character, text, bytes) == 0 &&
            substitutes[i].character[bytes] == '\0')
            return substitutes[i].ascii;
    return "?";
}

/* The text as it will be on the page; the caller frees. */
static char *clean(const struct page *page, const char *text)
{
    struct buf out = {0};
    char *const plain = text_plain(text);
    if (!page->ascii)
        return plain;
    for (const char *at = plain; *at != '\0';) {
        const size_t bytes = character_bytes(at);
        if (bytes > 1)
            buf_text(&out, substitute(at, bytes));
        else
            buf_append(&out, at, 1);
        at += bytes;
    }
    free(plain);
    return buf_take(&out);
}

/* Columns of the first `bytes` of clean text: one a character. */
static size_t columns(const char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

static void put_toned(const struct page *page, enum tone tone, const char *text,
                      size_t bytes)
{
    const bool shown = page->color && tone != TONE_PLAIN && bytes > 0;
    if (shown)
        buf_text(page->out, tone_codes[tone]);
    buf_append(page->out, text, bytes);
    if (shown)
        buf_text(page->out, "\033[0m");
}

/* Bytes of clean text that fit in `width` columns: whole words, or of a first
 * word that is too long whole items of its list, or as much of it as fits. */
static size_t fitting(const char *text, size_t width)
{
    size_t bytes = 0, used = 0, words = 0, items = 0;
    for (; text[bytes] != '\0' && used < width; used++) {
        if (text[bytes] == ' ')
            words = bytes;
        bytes += character_bytes(text + bytes);
        if (text[bytes - 1] == ',')
            items = bytes;
    }
    if (text[bytes] == '\0' || text[bytes] == ' ')
        return bytes;
    return words > 0 ? words : items > 0 ? items : bytes;
}

size_t page_width(const struct page *page)
{
    return page->width > 0 ? page->width : PAGE_WIDTH;
}

size_t page_columns(const char *text)
{
    return columns(text, strlen(text));
}

/* The rail and the label; returns the column that was reached. */
static size_t put_head(const struct page *page, const struct line *line)
{
    const struct {
        const char *text;
        enum tone tone;
    } parts[] = {{line->rail, TONE_FAINT}, {line->label, line->label_tone}};
    size_t reached = 0;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        char *const text =
            clean(page, parts[i].text != NULL ? parts[i].text : "");
        put_toned(page, parts[i].tone, text, strlen(text));
        reached += columns(text, strlen(text));
        free(text);
    }
    return reached;
}

static void put_spaces(const struct page *page, size_t from, size_t to)
{
    for (; from < to; from++)
        buf_text(page->out, " ");
}

/* Columns that are left for text; a label so long that none are gets some. */
static size_t room(const struct page *page, size_t from)
{
    const size_t width = page_width(page);
    return from + ROOM_LEAST < width ? width - from : ROOM_LEAST;
}

/* Where text begins: a space after what is there, and not before `column`. */
static size_t beginning(size_t reached, size_t column)
{
    const size_t from = reached > 0 ? reached + 1 : 0;
    return from > column ? from : column;
}

static void trim_end(struct buf *out)
{
    while (out->length > 0 && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
}

void page_line(const struct page *page, const struct line *line)
{
    char *const cleaned = clean(page, line->text != NULL ? line->text : "");
    struct line head = *line;
    const char *text = cleaned;
    do {
        const size_t reached = put_head(page, &head);
        const size_t from = beginning(reached, line->column);
        text += strspn(text, " ");
        const size_t bytes = fitting(text, room(page, from));
        put_spaces(page, reached, from);
        put_toned(page, line->tone, text, bytes);
        trim_end(page->out);
        buf_text(page->out, "\n");
        text += bytes;
        head.label = NULL;
    } while (text[strspn(text, " ")] != '\0');
    free(cleaned);
}
