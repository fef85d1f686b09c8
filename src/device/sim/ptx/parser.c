/*
 * What all of the parser's files stand on: errors that name their line, tokens
 * one by one, numbers.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/sim/ptx/bits.h"
#include "device/sim/ptx/convert.h"
#include "device/sim/ptx/parser.h"

static void fail(struct parser *p, unsigned line, const char *fmt, va_list args)
{
    char text[ERROR_TEXT_MAX - 32];
    if (p->failed)
        return;
    vsnprintf(text, sizeof text, fmt, args);
    error_set(p->err, ERR_PTX, "line %u: %s", line, text);
    parse_stop(p);
}

void parse_stop(struct parser *p)
{
    p->failed = true;
    p->lexer.at = "";
    lexer_next(&p->lexer);
}

void parse_error_at(struct parser *p, unsigned line, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fail(p, line, fmt, args);
    va_end(args);
}

void parse_error(struct parser *p, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fail(p, p->lexer.token.line, fmt, args);
    va_end(args);
}

void parse_error_token(struct parser *p, const char *what)
{
    const struct token *const t = &p->lexer.token;
    parse_error(p, "'%.*s' %s", (int)t->length, t->text, what);
}

bool parse_at(const struct parser *p, char character)
{
    return p->lexer.token.kind == TOKEN_CHARACTER &&
           p->lexer.token.text[0] == character;
}

bool parse_if(struct parser *p, char character)
{
    if (!parse_at(p, character))
        return false;
    lexer_next(&p->lexer);
    return true;
}

void parse_character(struct parser *p, char character)
{
    const struct token *const t = &p->lexer.token;
    if (parse_if(p, character))
        return;
    if (t->kind == TOKEN_END)
        parse_error(p, "the text ends where '%c' is expected", character);
    else
        parse_error(p, "'%.*s' where '%c' is expected", (int)t->length, t->text,
                    character);
}

const char *parse_token_copy(const struct parser *p, char *copy, size_t size)
{
    const struct token *const t = &p->lexer.token;
    snprintf(copy, size, "%.*s", (int)t->length, t->text);
    return copy;
}

/* Decimal, octal, 0x…, 0b…, each with an optional U. */
static bool read_unsigned(const char *text, uint64_t *value)
{
    const bool binary = strncmp(text, "0b", 2) == 0;
    char *end;
    errno = 0;
    *value = strtoull(binary ? text + 2 : text, &end, binary ? 2 : 0);
    if (*end == 'U')
        end++;
    return isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0;
}

uint64_t parse_number(struct parser *p)
{
    char copy[80];
    uint64_t value = 0;
    const bool negative = parse_if(p, '-');
    if (p->lexer.token.kind != TOKEN_WORD ||
        !read_unsigned(parse_token_copy(p, copy, sizeof copy), &value)) {
        parse_error_token(p, "is not a number");
        return 0;
    }
    lexer_next(&p->lexer);
    return negative ? 0 - value : value;
}

/* 0f…, 0d… or a decimal fraction, as a double. */
static bool read_real(const char *text, double *value)
{
    char *end;
    if (text[0] == '0' && strchr("fFdD", text[1]) != NULL && text[1] != '\0') {
        const bool single = tolower((unsigned char)text[1]) == 'f';
        const uint64_t bits = strtoull(text + 2, &end, 16);
        *value = single ? (double)bits_to_float(bits) : bits_to_double(bits);
        return *end == '\0' && strlen(text + 2) == (single ? 8 : 16);
    }
    *value = strtod(text, &end);
    return *end == '\0' && strpbrk(text, ".eE") != NULL &&
           isdigit((unsigned char)text[0]);
}

static bool is_real_literal(const struct parser *p, double *value)
{
    char copy[80];
    return read_real(parse_token_copy(p, copy, sizeof copy), value);
}

static uint64_t read_float_literal(struct parser *p, enum ptx_type type)
{
    double value = 0;
    const bool negative = parse_if(p, '-');
    if (!is_real_literal(p, &value))
        parse_error_token(p, "is not a floating-point number");
    lexer_next(&p->lexer);
    return real_to_bits(type, negative ? -value : value);
}

uint64_t parse_literal(struct parser *p, enum ptx_type type)
{
    const struct ptx_type_info *const info = &ptx_types[type];
    double value;
    if (token_is(&p->lexer.token, "WARP_SZ")) {
        lexer_next(&p->lexer);
        return 32;
    }
    if (type == TYPE_F32 || type == TYPE_F64)
        return read_float_literal(p, type);
    if (info->class == 'f')
        parse_error(p, "a number where a .%s register is wanted", info->name);
    if (info->class == 'p')
        parse_error(p, "a number where a predicate is wanted");
    /* Untyped bits may be written as a float of their size. */
    if (info->class == 'b' && is_real_literal(p, &value))
        return read_float_literal(p, info->bytes == 8 ? TYPE_F64 : TYPE_F32);
    return parse_number(p) & low_bits(8 * info->bytes);
}

enum ptx_type parse_type_name(const char *text, size_t length)
{
    for (int i = TYPE_NONE + 1; i < TYPE_COUNT; i++)
        if (strlen(ptx_types[i].name) == length &&
            strncmp(ptx_types[i].name, text, length) == 0)
            return (enum ptx_type)i;
    return TYPE_NONE;
}
