/*
 * The table of PTX instructions whose cost can be asked for: one row each in
 * instructions.def, and adding an instruction is adding a row.
 *
 * A row is a snippet (ptx/snippet.h) and what is known of it beforehand: what
 * it needs, which values its registers begin with, and by which names machine
 * code may do it.  It says nothing of what an instruction costs.
 */
#ifndef SONDE_PTX_INSTRUCTION_H
#define SONDE_PTX_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>

/* X(id, name in reports) in the order of the report. */
#define INSTRUCTION_CATEGORIES(X)                                              \
    X(INTEGER, "integer")                                                      \
    X(LOGIC, "logic")                                                          \
    X(SINGLE, "single")                                                        \
    X(DOUBLE, "double")                                                        \
    X(HALF, "half")                                                            \
    X(BFLOAT, "bfloat")                                                        \
    X(CARRY, "carry")                                                          \
    X(MATH, "math")                                                            \
    X(INTRINSIC, "intrinsic")                                                  \
    X(PACKED, "packed")                                                        \
    X(COMPARE, "compare")                                                      \
    X(CONVERT, "convert")                                                      \
    X(MOVE, "move")                                                            \
    X(WARP, "warp")                                                            \
    X(BARRIER, "barrier")                                                      \
    X(ATOMIC, "atomic")                                                        \
    X(MATRIX, "matrix")                                                        \
    X(MEMORY, "memory")

enum instruction_category {
#define X(id, name) CATEGORY_##id,
    INSTRUCTION_CATEGORIES(X)
#undef X
        CATEGORY_COUNT
};
extern const char *const category_names[CATEGORY_COUNT];

/* How copies in a row are kept from being folded into fewer (see probe/run/snippet_kernel.h). */
enum instruction_form {
    FORM_GUARD, /* under predicates, which are true, in turn */
    FORM_SWAP,  /* result and operand change places from copy to copy */
    FORM_PLAIN, /* the assembler has no way to fold them */
};

struct instruction {
    enum instruction_category category;
    const char *name;    /* the instruction with its type: "add.u32" */
    const char *snippet; /* NULL: the mean of NAME.regular and NAME.irregular */
    /* Alternatives of which the machine code of a copy must hold one; globs.
     * NULL: whatever it is, since it expands. */
    const char *machine;
    /* What the registers begin with: "r0=7 f1=0x1p-130"; NULL: as values_of
     * says for each kind. */
    const char *values;
    const char *setup;  /* instructions before the clock is read; NULL: none */
    const char *helper; /* row whose latency is also in the chain; NULL: none */
    const char *chase;  /* a walk instead of a snippet: loads of memory */
    bool uncached;      /* … that no cache holds */
    enum instruction_form form; /* to be tried first */
    unsigned cc;                /* least capability, 80 for 8.0; 0: any */
    unsigned cc_only;           /* the one that has it (sm_90a); 0: all above */
    const char *ptx;            /* least version of PTX; NULL: the device's */
    /* The snippet is so many of the instruction, which the assembler makes one
     * machine instruction of; 0: it is one. */
    unsigned merged;
    unsigned results;  /* of a lane by one instruction; 0 means 1 */
    bool expands;      /* into several machine instructions */
    bool in_order;     /* copies follow each other without a register */
    bool latency_only; /* a throughput would mean nothing */
};

/* Ends with a row without a name. */
extern const struct instruction instruction_table[];
/* NULL if there is none. */
const struct instruction *instruction_find(const char *name);

#endif
