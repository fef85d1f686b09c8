/*
 * A snippet: one or more PTX instructions whose cost is asked for, such as
 *
 *     fma.rn.f32 %f0, %f0, %f1, %f2;
 *
 * Its registers are not declared; their names say what they hold:
 *
 *     %r0 …   32 bits       %f0 …   .f32      %h0 …   16 bits
 *     %rd0 …  64 bits       %fd0 …  .f64      %p0 …   predicate
 *
 * %rd_shared and %rd_global are the addresses of scratch memory.  What an
 * instruction writes and what it reads follows the PTX manual: the first
 * operand is written, unless the opcode has no result; a guarded instruction
 * also reads what it writes, since it may leave it as it is.
 */
#ifndef SONDE_PTX_SNIPPET_H
#define SONDE_PTX_SNIPPET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/* X(id, prefix, declared as, bytes) */
#define REGISTER_KINDS(X)                                                      \
    X(B32, "r", "b32", 4)                                                      \
    X(B64, "rd", "b64", 8)                                                     \
    X(F32, "f", "f32", 4)                                                      \
    X(F64, "fd", "f64", 8)                                                     \
    X(B16, "h", "b16", 2)                                                      \
    X(PRED, "p", "pred", 1)

enum register_kind {
#define X(id, prefix, type, bytes) REGISTER_##id,
    REGISTER_KINDS(X)
#undef X
        REGISTER_KIND_COUNT
};

struct register_kind_row {
    const char *prefix, *type;
    unsigned bytes;
};
extern const struct register_kind_row register_kinds[REGISTER_KIND_COUNT];

enum { REGISTER_NAME = 12, REGISTERS_MAX = 64 };

struct snippet_register {
    char name[REGISTER_NAME]; /* without the %: "r0" */
    enum register_kind kind;
    bool written;
    /* Read before the snippet writes it, so that in a row of copies each waits
     * for the one before, if it is also written. */
    bool read_first;
};

struct statement {
    size_t start, length;  /* in the text, with its ; */
    unsigned line, column; /* where it stands in what was given, from 1 */
};

struct snippet {
    char *text; /* without comments */
    struct statement *statements;
    size_t statement_count;
    struct snippet_register registers[REGISTERS_MAX];
    size_t register_count;
    bool shared, global; /* it asks for scratch memory of that kind */
    bool scoped;         /* has labels or declarations of its own */
};

/* ERR_USAGE, with line and column, for a register whose name says no kind,
 * too many of them, or text that is not ended by a semicolon. */
int snippet_parse(const char *text, struct snippet *snippet, struct error *err);
void snippet_free(struct snippet *snippet);

/* NULL if the snippet has none of that name. */
const struct snippet_register *snippet_register(const struct snippet *snippet,
                                                const char *name);
/* True if copies of it in a row depend on each other through the register. */
bool register_carries(const struct snippet_register *r);
/* The first that carries; NULL if none does. */
const struct snippet_register *snippet_chain(const struct snippet *snippet);

/* How the registers of a copy are called. */
typedef void register_name(struct buf *out, const struct snippet_register *r,
                           const void *context);

void snippet_write_statement(struct buf *out, const struct snippet *snippet,
                             size_t statement, const char *guard,
                             register_name *name, const void *context);
/* Writes a copy, a line each statement, with `guard` ("%on") before those that
 * have no guard of their own; NULL: none. */
void snippet_write(struct buf *out, const struct snippet *snippet,
                   const char *guard, register_name *name, const void *context);

#endif
