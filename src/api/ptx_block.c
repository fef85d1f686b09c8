/*
 * Two passes over the text, which is first freed of comments and of directives
 * that time nothing: declarations are noted and blanked, block by block, and
 * names that they declared are written anew.
 */
#include "api/ptx_block.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "ptx/snippet.h"

/* A declaration: `.reg .f32 %f<4>;` is one name of four registers. */
struct declared {
    const char *name; /* in the text */
    size_t length;
    unsigned long count; /* of %f<count>; 0: this name alone */
    unsigned depth;      /* of the block; it is over where a lesser one is */
    unsigned long first; /* the new number of the first of them */
    enum register_kind kind;
    bool stays;
};

struct block {
    char *text; /* what is blanked in it is gone */
    struct declared *names;
    size_t name_count;
    unsigned depth;
    unsigned long fresh; /* a number that no register has */
    struct error *err;
};

static int refuse(const struct block *b, const char *at, const char *why)
{
    unsigned line = 1, column = 1;
    for (const char *c = b->text; c < at; c++) {
        line += *c == '\n';
        column = *c == '\n' ? 1 : column + 1;
    }
    return error_set(b->err, ERR_USAGE, "snippet, line %u, column %u: %s", line,
                     column, why);
}

/* Blanks of as many lines. */
static void blank(char *from, const char *to)
{
    for (; from < to; from++)
        if (*from != '\n')
            *from = ' ';
}

static size_t word_length(const char *at)
{
    size_t length = *at == '%';
    while (isalnum((unsigned char)at[length]) || at[length] == '_' ||
           at[length] == '$')
        length++;
    return length;
}

static bool is_word(const char *at, const char *word)
{
    const size_t length = strlen(word);
    return strncmp(at, word, length) == 0 &&
           !isalnum((unsigned char)at[length]) && at[length] != '_';
}

/* ---- what times nothing ------------------------------------------------- */

static void blank_comments(char *text)
{
    for (char *c = text; *c != '\0'; c++) {
        char *end = c;
        if (strncmp(c, "//", 2) == 0)
            end = c + strcspn(c, "\n");
        else if (strncmp(c, "/*", 2) == 0 &&
                 (end = strstr(c + 2, "*/")) != NULL)
            end += 2;
        if (end == NULL) /* never ended: all of the rest */
            end = c + strlen(c);
        blank(c, end);
    }
}

/* Lines of source, and hints to the compiler. */
static void blank_directives(char *text)
{
    for (char *c = text; (c = strchr(c, '.')) != NULL; c++) {
        if (c > text && !isspace((unsigned char)c[-1]) && c[-1] != ';')
            continue;
        if (is_word(c, ".loc"))
            blank(c, c + strcspn(c, "\n"));
        else if (is_word(c, ".pragma"))
            blank(c, c + strcspn(c, ";") + (strchr(c, ';') != NULL));
    }
}

static int refuse_kernels(const struct block *b)
{
    static const char *const heads[] = {".entry", ".func", ".version"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        for (const char *c = b->text; (c = strstr(c, heads[i])) != NULL; c++)
            if (is_word(c, heads[i]))
                return refuse(
                    b, c,
                    "a whole kernel is no snippet: take the "
                    "instructions to be timed, with their .reg lines");
    return 0;
}

/* ---- declarations ------------------------------------------------------- */

/* Of ".u32" and the like. */
static bool kind_of_type(const char *type, enum register_kind *kind)
{
    static const struct {
        const char *type;
        enum register_kind kind;
    } rows[] = {
        {".pred", REGISTER_PRED},  {".b16", REGISTER_B16},
        {".u16", REGISTER_B16},    {".s16", REGISTER_B16},
        {".f16", REGISTER_B16},    {".bf16", REGISTER_B16},
        {".b32", REGISTER_B32},    {".u32", REGISTER_B32},
        {".s32", REGISTER_B32},    {".f16x2", REGISTER_B32},
        {".bf16x2", REGISTER_B32}, {".f32", REGISTER_F32},
        {".b64", REGISTER_B64},    {".u64", REGISTER_B64},
        {".s64", REGISTER_B64},    {".f64", REGISTER_F64},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is_word(type, rows[i].type)) {
            *kind = rows[i].kind;
            return true;
        }
    return false;
}

/* True of "%f" with a count and of "%f3" alone, if it is the only of its name:
 * what it holds is what such a name says. */
static bool may_stay(const struct block *b, const struct declared *d)
{
    const char *const prefix = register_kinds[d->kind].prefix;
    const size_t letters = strlen(prefix);
    if (d->name[0] != '%' || strncmp(d->name + 1, prefix, letters) != 0)
        return false;
    size_t length = 1 + letters;
    while (d->count == 0 && isdigit((unsigned char)d->name[length]))
        length++;
    if (length != d->length || (d->count == 0 && length == 1 + letters))
        return false;
    for (size_t i = 0; i < b->name_count; i++)
        if (strncmp(b->names[i].name + 1, prefix, letters) == 0)
            return false;
    return true;
}

static void declare(struct block *b, struct declared d)
{
    d.stays = may_stay(b, &d);
    d.first = b->fresh;
    b->fresh += d.stays ? 0 : d.count > 0 ? d.count : 1;
    b->names = xreallocarray(b->names, b->name_count + 1, sizeof *b->names);
    b->names[b->name_count++] = d;
}

/* The names after the type, up to the semicolon. */
static int read_names(struct block *b, const char *at, enum register_kind kind)
{
    for (;; at++) {
        at += strspn(at, " \t\r\n");
        struct declared d = {.name = at,
                             .length = word_length(at),
                             .depth = b->depth,
                             .kind = kind};
        at += d.length;
        if (d.length == 0)
            return refuse(b, at,
                          "after .reg and a type come names, as in "
                          ".reg .f32 %f<4>;");
        if (*at == '<') {
            char *end;
            d.count = strtoul(at + 1, &end, 10);
            if (d.count == 0 || d.count > 1 << 20 || *end != '>')
                return refuse(b, at, "a number of registers was expected");
            at = end + 1;
        }
        declare(b, d);
        at += strspn(at, " \t\r\n");
        if (*at != ',')
            return *at == ';' ? 0 : refuse(b, at, "the .reg has no ';'");
    }
}

/* At ".reg"; moves behind its semicolon. */
static int read_declaration(struct block *b, const char **at)
{
    const char *type = *at + strlen(".reg");
    enum register_kind kind;
    type += strspn(type, " \t\r\n");
    if (!kind_of_type(type, &kind))
        return refuse(b, type,
                      "registers of this type cannot be timed: "
                      "there are .pred, .b16, .b32, .b64, .f32, .f64 "
                      "and their like");
    const int code = read_names(b, type + strcspn(type, " \t\r\n"), kind);
    if (code == 0)
        *at = strchr(*at, ';') + 1;
    return code;
}

/* ---- the text anew ------------------------------------------------------ */

/* Which declaration the word names, the innermost; and its number in it. */
static const struct declared *find(const struct block *b, const char *word,
                                   size_t length, unsigned long *number)
{
    for (size_t i = b->name_count; i-- > 0;) {
        const struct declared *const d = &b->names[i];
        if (length < d->length || strncmp(word, d->name, d->length) != 0)
            continue;
        *number = 0;
        if (d->count == 0 && length == d->length)
            return d;
        char *end;
        *number = isdigit((unsigned char)word[d->length])
                      ? strtoul(word + d->length, &end, 10)
                      : d->count;
        if (*number < d->count && end == word + length)
            return d;
    }
    return NULL;
}

/* A word of an instruction; returns its length. */
static size_t write_word(const struct block *b, const char *at, struct buf *out)
{
    const size_t length = word_length(at);
    unsigned long number;
    const struct declared *const d = find(b, at, length, &number);
    if (d != NULL && !d->stays)
        buf_printf(out, "%%%s%lu", register_kinds[d->kind].prefix,
                   d->first + number);
    else
        buf_append(out, at, length);
    return length;
}

/* One instruction with its semicolon, or a label with its colon. */
static const char *write_statement(const struct block *b, const char *at,
                                   struct buf *out)
{
    while (*at != '\0' && *at != ';' && *at != ':') {
        /* .f32 of an opcode, and what follows a dot of %tid.x, is no name. */
        const bool named = at == b->text || at[-1] != '.';
        size_t length = word_length(at);
        if (length > 0 && named)
            length = write_word(b, at, out);
        else
            buf_append(out, at, length = length > 0 ? length : 1);
        at += length;
    }
    if (*at != '\0')
        buf_append(out, at++, 1);
    return at;
}

/* A brace that begins or ends a block; what was declared in it is over. */
static int cross(struct block *b, const char *at)
{
    if (*at == '{') {
        b->depth++;
        return 0;
    }
    if (b->depth == 0)
        return refuse(b, at, "there is no '{' to this '}'");
    b->depth--;
    while (b->name_count > 0 && b->names[b->name_count - 1].depth > b->depth)
        b->name_count--;
    return 0;
}

static int write_block(struct block *b, struct buf *out)
{
    int code = 0;
    for (const char *at = b->text; code == 0 && *at != '\0';) {
        const char *const from = at;
        if (isspace((unsigned char)*at)) {
            buf_append(out, at++, 1);
        } else if (*at == '{' || *at == '}') {
            code = cross(b, at++);
        } else if (is_word(at, ".reg")) {
            code = read_declaration(b, &at);
            for (const char *c = from; code == 0 && c < at; c++)
                buf_text(out, *c == '\n' ? "\n" : "");
        } else if (is_word(at, "ret") || is_word(at, "exit")) {
            code = refuse(b, at,
                          "ret and exit end the kernel that is timed: leave "
                          "them out");
        } else {
            at = write_statement(b, at, out);
        }
    }
    if (code == 0 && b->depth > 0)
        code = refuse(b, b->text + strlen(b->text), "a '{' is not closed");
    return code;
}

/* More than any number in the text, and than what instructions that run before
 * are likely to name. */
static unsigned long fresh_number(const char *text)
{
    unsigned long most = 999;
    for (const char *c = text; *c != '\0'; c++)
        if (isdigit((unsigned char)*c)) {
            char *end;
            const unsigned long number = strtoul(c, &end, 10);
            /* Larger ones are constants: a register has no such number. */
            if (number > most && number < 1 << 20)
                most = number;
            c = end - 1;
        }
    return most + 1;
}

int ptx_block_read(const char *text, char **snippet, struct error *err)
{
    struct buf out = {0};
    struct block b = {.text = xstrdup(text), .err = err};
    *snippet = NULL;
    blank_comments(b.text);
    blank_directives(b.text);
    b.fresh = fresh_number(b.text);
    int code = refuse_kernels(&b);
    if (code == 0)
        code = write_block(&b, &out);
    if (code == 0)
        *snippet = buf_take(&out);
    buf_free(&out);
    free(b.names);
    free(b.text);
    return code;
}
