/* PTX text as tokens. */
#ifndef SONDE_DEVICE_SIM_PTX_LEX_H
#define SONDE_DEVICE_SIM_PTX_LEX_H

#include <stdbool.h>
#include <stddef.h>

/* A word is a name, a directive, an instruction with its modifiers, a
 * register or a number; what else there is are single characters. */
enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_CHARACTER, TOKEN_STRING };

struct token {
    enum token_kind kind;
    const char *text; /* in the source; not terminated */
    size_t length;
    unsigned line;
};

struct lexer {
    const char *at;
    unsigned line;
    struct token token; /* the current one */
};

void lexer_init(struct lexer *lexer, const char *text);
void lexer_next(struct lexer *lexer);
/* Drops the rest of the line (.loc and .file have no end but it). */
void lexer_skip_line(struct lexer *lexer);

bool token_is(const struct token *token, const char *text);
bool token_starts(const struct token *token, const char *text);

#endif
