#include "literals.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"

enum { DEPTH_MOST = 64, WORD_MOST = 64, PROSE_WORDS = 4 };

struct reader {
    const char *at;
    size_t line;
    char word[WORD_MOST];               /* the last one */
    char owner[WORD_MOST];              /* what the statement sets */
    char callee[DEPTH_MOST][WORD_MOST]; /* of each open parenthesis; "": none */
    size_t depth;
};

/* `if (`, and what has no name, calls nothing. */
static bool is_callee(const char *word)
{
    static const char *const none[] = {"",       "if",     "for",   "while",
                                       "return", "switch", "sizeof"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (strcmp(word, none[i]) == 0)
            return false;
    return true;
}

static const char *reader_of(const struct reader *r)
{
    for (size_t i = r->depth; i-- > 0;)
        if (is_callee(r->callee[i]))
            return r->callee[i];
    return r->word[0] != '\0' ? r->word : r->owner;
}

static void step(struct reader *r)
{
    r->line += *r->at == '\n';
    r->at++;
}

static void skip_comment(struct reader *r)
{
    const char *const end = strstr(r->at + 2, "*/");
    while (*r->at != '\0' && (end == NULL || r->at < end + 2))
        step(r);
}

static void skip_directive(struct reader *r)
{
    for (; *r->at != '\0' && *r->at != '\n'; step(r))
        if (r->at[0] == '\\' && r->at[1] != '\0')
            step(r);
}

/* Spaces, comments and lines for the preprocessor; false if there are none. */
static bool skip_blank(struct reader *r)
{
    const char *const from = r->at;
    if (isspace((unsigned char)*r->at))
        step(r);
    else if (strncmp(r->at, "/*", 2) == 0)
        skip_comment(r);
    else if (*r->at == '#')
        skip_directive(r);
    return r->at != from;
}

static void read_word(struct reader *r, char word[WORD_MOST])
{
    size_t n = 0;
    for (; isalnum((unsigned char)*r->at) || *r->at == '_'; r->at++)
        if (n < WORD_MOST - 1)
            word[n++] = *r->at;
    word[n] = '\0';
}

/* Without its quotes; the reader stands behind it. */
static void read_string(struct reader *r, struct buf *text)
{
    const char *const from = ++r->at;
    while (*r->at != '\0' && *r->at != '"')
        r->at += 1 + (r->at[0] == '\\' && r->at[1] != '\0');
    if (text != NULL)
        buf_append(text, from, (size_t)(r->at - from));
    r->at += *r->at != '\0';
}

/* One or several in a row, with PRIu64 and the like between. */
static void read_literal(struct reader *r, struct buf *text)
{
    while (*r->at == '"' || strncmp(r->at, "PRI", 3) == 0) {
        char macro[WORD_MOST];
        if (*r->at == '"')
            read_string(r, text);
        else
            read_word(r, macro);
        while (skip_blank(r))
            ;
    }
}

static void read_other(struct reader *r)
{
    const char c = *r->at;
    if (c == '(' && r->depth < DEPTH_MOST)
        strcpy(r->callee[r->depth++], r->word);
    else if (c == ')' && r->depth > 0)
        r->depth--;
    else if (c == '\'')
        r->at += r->at[1] == '\\' ? 3 : 2;
    /* What stands before `= …` or `[…] = …` says whose value it is. */
    else if (c == '[')
        r->at += strcspn(r->at, "]");
    else if (c == '=' && r->word[0] != '\0')
        strcpy(r->owner, r->word);
    else if (c == ';')
        r->owner[0] = '\0';
    if (c != '[')
        r->word[0] = '\0';
    r->at += *r->at != '\0';
}

void literals_each(const char *source,
                   void (*see)(void *context, const struct literal *),
                   void *context)
{
    struct reader r = {.at = source, .line = 1};
    while (*r.at != '\0') {
        if (skip_blank(&r))
            continue;
        if (*r.at == '"') {
            struct buf text = {0};
            const struct literal l = {.line = r.line, .of = reader_of(&r)};
            read_literal(&r, &text);
            see(context, &(struct literal){buf_string(&text), l.line, l.of});
            buf_free(&text);
            r.word[0] = '\0';
        } else if (isalpha((unsigned char)*r.at) || *r.at == '_') {
            read_word(&r, r.word);
        } else {
            read_other(&r);
        }
    }
}

/* Letters, and what ends a word of a sentence. */
static bool is_word(const char *text, size_t length)
{
    while (length > 0 && strchr(",.;:)'-", text[length - 1]) != NULL)
        length--;
    for (size_t i = 0; i < length; i++)
        if (!isalpha((unsigned char)text[i]))
            return false;
    return length > 0;
}

bool literal_is_prose(const char *text)
{
    size_t words = 0;
    while (*text != '\0') {
        const size_t length = strcspn(text, " ");
        words += is_word(text, length);
        text += length + strspn(text + length, " ");
    }
    return words >= PROSE_WORDS;
}
