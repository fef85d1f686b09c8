#include "unit/markup_check.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

enum { DEEPEST = 64, NAME_MOST = 32 };

struct reader {
    const char *text, *at;
    char open[DEEPEST][NAME_MOST];
    size_t depth;
    const char *wrong;
};

static bool fail(struct reader *r, const char *why)
{
    if (r->wrong == NULL)
        r->wrong = why;
    return false;
}

static bool take(struct reader *r, const char *word)
{
    if (strncmp(r->at, word, strlen(word)) != 0)
        return false;
    r->at += strlen(word);
    return true;
}

static bool read_entity(struct reader *r)
{
    static const char *const entities[] = {"&amp;",  "&lt;",  "&gt;",
                                           "&quot;", "&#39;", NULL};
    for (const char *const *e = entities; *e != NULL; e++)
        if (take(r, *e))
            return true;
    return fail(r, "an entity that is none");
}

static bool read_character(struct reader *r)
{
    const struct text_character c = text_character(r->at);
    if (*r->at == '&')
        return read_entity(r);
    if (!c.shown && *r->at != '\n')
        return fail(r, "a character that must not be there");
    r->at += c.bytes;
    return true;
}

static bool read_name(struct reader *r, char name[static NAME_MOST])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-:";
    const size_t length = strspn(r->at, letters);
    if (length == 0 || length >= NAME_MOST)
        return fail(r, "a name that is none");
    memcpy(name, r->at, length);
    name[length] = '\0';
    r->at += length;
    return true;
}

/* name="…", after a blank. */
static bool read_attribute(struct reader *r)
{
    char name[NAME_MOST];
    if (!read_name(r, name))
        return false;
    if (!take(r, "=\""))
        return fail(r, "an attribute without a value in quotes");
    while (*r->at != '"') {
        if (*r->at == '\0' || *r->at == '<')
            return fail(r, "an attribute that does not end");
        if (!read_character(r))
            return false;
    }
    r->at++;
    return true;
}

static bool read_end(struct reader *r)
{
    char name[NAME_MOST];
    if (!read_name(r, name))
        return false;
    if (r->depth == 0 || strcmp(r->open[r->depth - 1], name) != 0)
        return fail(r, "an end of what is not open");
    r->depth--;
    return take(r, ">") || fail(r, "an end that does not end");
}

static bool read_start(struct reader *r)
{
    if (r->depth == DEEPEST)
        return fail(r, "too deep");
    char *const name = r->open[r->depth];
    if (!read_name(r, name))
        return false;
    while (strchr(" \n", *r->at) != NULL && *r->at != '\0') {
        r->at += strspn(r->at, " \n");
        if (!read_attribute(r))
            return false;
    }
    if (take(r, "/>"))
        return true;
    r->depth++;
    return take(r, ">") || fail(r, "a start that does not end");
}

/* The rest is a script or a style sheet: nobody reads markup in it. */
static void skip_raw(struct reader *r)
{
    const char *const name = r->depth > 0 ? r->open[r->depth - 1] : "";
    if (strcmp(name, "script") != 0 && strcmp(name, "style") != 0)
        return;
    const char *const end = strstr(r->at, "</");
    r->at = end != NULL ? end : r->at + strlen(r->at);
}

static bool read_piece(struct reader *r)
{
    if (take(r, "</"))
        return read_end(r);
    if (!take(r, "<"))
        return *r->at == '>' ? fail(r, "a > in text") : read_character(r);
    if (!read_start(r))
        return false;
    skip_raw(r);
    return true;
}

char *markup_wrong(const char *text)
{
    struct reader r = {.text = text, .at = text};
    take(&r, "<!DOCTYPE html>");
    while (*r.at != '\0' && read_piece(&r))
        ;
    if (r.wrong == NULL && r.depth > 0)
        fail(&r, "an element that does not end");
    return r.wrong != NULL ? xasprintf("%s at %zu: %.60s", r.wrong,
                                       (size_t)(r.at - r.text), r.at)
                           : NULL;
}

size_t markup_elements(const char *text, const char *name)
{
    size_t count = 0;
    const size_t length = strlen(name);
    for (const char *at = strchr(text, '<'); at != NULL;
         at = strchr(at + 1, '<'))
        count += strncmp(at + 1, name, length) == 0 &&
                 strchr(" >/", at[1 + length]) != NULL;
    return count;
}
