/*
 * The parser's insides, shared by its files, each of which calls those before
 * it: parser.c (errors, tokens, numbers), symbols.c (names), operands.c,
 * instruction.c, module.c (declarations and kernels).
 *
 * An error, which names its line, sticks: nothing follows it but the text's end,
 * further ones are not said, and what is read is nothing (0, an empty name).  So
 * who reads one thing after another asks p->failed where it would do harm to go
 * on, and nowhere else.
 */
#ifndef SONDE_DEVICE_SIM_PTX_PARSER_H
#define SONDE_DEVICE_SIM_PTX_PARSER_H

#include "device/sim/ptx/lex.h"
#include "device/sim/ptx/opcodes.h"
#include "device/sim/ptx/program.h"

enum symbol_kind {
    SYMBOL_REGISTER,
    SYMBOL_RANGE,
    SYMBOL_VARIABLE,
    SYMBOL_FUNCTION
};

struct symbol {
    char *name;
    enum symbol_kind kind;
    enum ptx_type type; /* of registers */
    uint32_t number;    /* of a register, a function */
    uint32_t count;     /* of a range: name0 … */
    uint32_t *numbers;  /* of a range; 0: not used yet */
    struct variable variable;
    struct symbol *next; /* in its bucket */
    unsigned bucket;
};

struct label {
    char *name;
    uint32_t op;
};

/* A branch whose label is not known yet. */
struct jump {
    char *name;
    uint32_t op;
    unsigned line;
};

/* What was there when a { was opened. */
struct scope {
    size_t symbols, labels, jumps;
};

enum { BUCKETS = 1024, SCOPES_MAX = 64 };

struct parser {
    struct lexer lexer;
    const struct profile *profile;
    int level;
    struct module *module;
    struct kernel *kernel; /* NULL outside */
    struct error *err;
    bool failed;
    struct symbol *buckets[BUCKETS];
    size_t symbol_count, label_count, jump_count, scope_count;
    struct symbol **symbols;
    struct label *labels;
    struct jump *jumps;
    struct scope scopes[SCOPES_MAX];
    uint32_t *constant_heads, *constant_links; /* hash of kernel->constants */
};

/* An operand that is a constant, until the kernel's end tells its number. */
#define CONSTANT_BIT 0x80000000u

/* One instruction while it is decoded. */
struct instruction {
    const struct opcode *opcode;
    struct token mnemonic;
    enum ptx_type types[4];
    unsigned type_count;
    uint64_t has;               /* modifier groups, as bits */
    uint8_t value[GROUP_COUNT]; /* of those it has */
    struct op *op;
    unsigned sources; /* operands that were read into op->src */
};

/* ERR_PTX: "line N: …" of the current token. */
void parse_error(struct parser *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void parse_error_at(struct parser *p, unsigned line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with an error that is set already. */
void parse_stop(struct parser *p);
/* What is wrong with the current token: "'TOKEN' WHAT". */
void parse_error_token(struct parser *p, const char *what);
/* Takes the character, or fails. */
void parse_character(struct parser *p, char character);
/* Takes the character if it is there. */
bool parse_if(struct parser *p, char character);
bool parse_at(const struct parser *p, char character);
/* A copy of the current token for the functions of the C library. */
const char *parse_token_copy(const struct parser *p, char *copy, size_t size);
/* A whole number, with its sign. */
uint64_t parse_number(struct parser *p);
/* A literal as the bits of a value of `type`. */
uint64_t parse_literal(struct parser *p, enum ptx_type type);
/* TYPE_NONE if the text (without its dot) is no type. */
enum ptx_type parse_type_name(const char *text, size_t length);

/* Takes symbol->name over. */
void symbol_add(struct parser *p, const struct symbol *symbol);
/* A register of that name, a range that has it, or a variable. */
struct symbol *symbol_find(struct parser *p, const struct token *name,
                           uint32_t *index);
/* The number of a register; `index` is symbol_find's. */
uint32_t symbol_register(struct parser *p, struct symbol *symbol,
                         uint32_t index);
void scope_open(struct parser *p);
void scope_close(struct parser *p);
void label_add(struct parser *p, const struct token *name);
void jump_add(struct parser *p, const struct token *name, uint32_t op);
uint32_t constant_add(struct parser *p, struct constant constant);
void symbols_free(struct parser *p);

/* The operands of `in`, as its opcode's letters say. */
void parse_operands(struct parser *p, struct instruction *in);
/* One instruction, from its guard to its semicolon. */
void parse_instruction(struct parser *p);

#endif
