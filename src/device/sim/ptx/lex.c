/* The tokens of PTX: words as long as they go, and single characters. */
#include "device/sim/ptx/lex.h"

#include <ctype.h>
#include <string.h>

static bool in_word(const char *at)
{
    return isalnum((unsigned char)*at) || strchr("_$%.", *at) != NULL;
}

static void skip_line(struct lexer *lexer)
{
    while (*lexer->at != '\0' && *lexer->at != '\n')
        lexer->at++;
}

static void skip_comment(struct lexer *lexer)
{
    for (lexer->at += 2; *lexer->at != '\0'; lexer->at++) {
        if (strncmp(lexer->at, "*/", 2) == 0) {
            lexer->at += 2;
            return;
        }
        lexer->line += *lexer->at == '\n';
    }
}

static void skip_blanks(struct lexer *lexer)
{
    for (;;) {
        if (*lexer->at == '\n')
            lexer->line++;
        if (isspace((unsigned char)*lexer->at))
            lexer->at++;
        else if (strncmp(lexer->at, "//", 2) == 0)
            skip_line(lexer);
        else if (strncmp(lexer->at, "/*", 2) == 0)
            skip_comment(lexer);
        else
            return;
    }
}

/* "::" belongs to a word (L2::128B), ":" ends a label; an exponent's sign
 * belongs to its number. */
static void read_word(struct lexer *lexer)
{
    const char *const start = lexer->at;
    const bool number = isdigit((unsigned char)*start) &&
                        strncmp(start, "0x", 2) != 0 && start[1] != 'f' &&
                        start[1] != 'd';
    while (*lexer->at != '\0') {
        if (in_word(lexer->at))
            lexer->at++;
        else if (strncmp(lexer->at, "::", 2) == 0)
            lexer->at += 2;
        else if (number && strchr("+-", *lexer->at) != NULL &&
                 strchr("eE", lexer->at[-1]) != NULL)
            lexer->at++;
        else
            return;
    }
}

static void read_string(struct lexer *lexer)
{
    lexer->at++;
    while (*lexer->at != '\0' && *lexer->at != '"' && *lexer->at != '\n')
        lexer->at++;
    if (*lexer->at == '"')
        lexer->at++;
}

void lexer_init(struct lexer *lexer, const char *text)
{
    lexer->at = text;
    lexer->line = 1;
    lexer_next(lexer);
}

void lexer_next(struct lexer *lexer)
{
    skip_blanks(lexer);
    struct token *const token = &lexer->token;
    token->text = lexer->at;
    token->line = lexer->line;
    if (*lexer->at == '\0') {
        token->kind = TOKEN_END;
    } else if (in_word(lexer->at)) {
        token->kind = TOKEN_WORD;
        read_word(lexer);
    } else if (*lexer->at == '"') {
        token->kind = TOKEN_STRING;
        read_string(lexer);
    } else {
        token->kind = TOKEN_CHARACTER;
        lexer->at++;
    }
    token->length = (size_t)(lexer->at - token->text);
}

void lexer_skip_line(struct lexer *lexer)
{
    skip_line(lexer);
    lexer_next(lexer);
}

bool token_is(const struct token *token, const char *text)
{
    return strlen(text) == token->length &&
           strncmp(token->text, text, token->length) == 0;
}

bool token_starts(const struct token *token, const char *text)
{
    const size_t length = strlen(text);
    return token->length >= length && strncmp(token->text, text, length) == 0;
}
