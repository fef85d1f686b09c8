/*
 * The machine code of sm_70 and later, one instruction of 16 bytes at a time:
 * its name, what it reads and what it writes.
 *
 * Nothing of this is documented by who makes the GPUs.  What is here was
 * learned by looking at what a disassembler says of code that ptxas made of
 * PTX of all kinds (src/ptx/sass/sass.def); of an instruction that was never seen,
 * nothing is said.
 */
#ifndef SONDE_PTX_SASS_SASS_H
#define SONDE_PTX_SASS_SASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SASS_BYTES = 16, SASS_NAME_MAX = 16, SASS_FORM_MAX = 40 };
/* The first architecture with instructions of 16 bytes. */
enum { SASS_SM = 70 };

/* Registers of 32 bits of a thread and of a warp, predicates of both. */
enum sass_file { SASS_R, SASS_UR, SASS_P, SASS_UP };

/* `count` registers from `number` on. */
struct sass_registers {
    enum sass_file file;
    unsigned number, count;
};

/* Room for what an instruction reads, or writes. */
enum { SASS_OPERANDS_MAX = 12 };

struct sass_operands {
    struct sass_registers at[SASS_OPERANDS_MAX];
    size_t count;
};

enum { SASS_ALWAYS = -1 }; /* no guard */

struct sass {
    char name[SASS_NAME_MAX]; /* "IMAD"; empty if it is not known */
    char form[SASS_FORM_MAX]; /* with what tells its function: "IMAD.WIDE";
                                 "0x123" where the name is not known */
    unsigned opcode;          /* the low 12 bits */
    int guard;                /* number of the predicate, or SASS_ALWAYS */
    bool guard_negated;       /* of @!PT, too: then it does nothing */
    bool clock;               /* reads the clock */
    bool jumps; /* branch, call, return, exit: what follows may not run */
    /* Registers without the zero register and the true predicate; none where
     * they are not known.  What is guarded reads the guard, and what it
     * writes, too, as that stays where the guard is false. */
    bool registers_known;
    struct sass_operands writes, reads;
};

void sass_read(const unsigned char *bytes, unsigned sm, struct sass *s);

/* All instructions of a text; the caller frees them. */
struct sass *sass_read_all(const unsigned char *text, size_t bytes, unsigned sm,
                           size_t *count);

#endif
