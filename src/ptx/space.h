/*
 * The memory spaces: how a program reaches memory, one row each.  A question
 * ("how large is the cache?") is asked of a space by walking this table; what
 * differs between spaces is in spaces.def and nowhere else.
 */
#ifndef SONDE_PTX_SPACE_H
#define SONDE_PTX_SPACE_H

#include <stdbool.h>
#include <stddef.h>

#include "ptx/kernel.h"

/* Where the elements of a ring lie, and who can write them: the host or any
 * kernel; the block; the host, through a symbol; the thread alone; nobody: they
 * are called. */
enum space_memory {
    MEMORY_GLOBAL,
    MEMORY_SHARED,
    MEMORY_CONSTANT,
    MEMORY_LOCAL,
    MEMORY_CODE
};

struct space {
    const char *name;       /* as in `space=global` */
    const char *const *ops; /* cache operators; the first is the default */
    enum space_memory memory;
    /* A load of one pointer, and of a 32-bit word for sweeps (or NULL): $o$op
     * takes ".OP", $d the register that is loaded, $a the address. */
    const char *load, *load_word;
    unsigned pointer_bytes; /* of an element, and of $a */
    bool indexed;           /* elements are indices, not pointers */
    bool texture;           /* addresses are texels of %texture, 4 B each */
    /* Bytes that one byte of the ring's lines is apart in the caches: 32
     * threads' words of local memory lie side by side. */
    unsigned spread;
    const char *help;
};

/* The names of the rows of spaces.def; NULL ends. */
extern const char *const space_names[];
const struct space *space_find(const char *name);
/* True if OP is one of the space's. */
bool space_has_op(const struct space *space, const char *op);

/* Bytes of the caches that a step of one in a pointer goes on. */
unsigned space_unit(const struct space *space);

/* Declares what the loads of a space need besides their operands. */
void space_declare(struct kernel_text *k, const struct space *space);
/*
 * Writes the address of what lies %offset bytes into the space's memory, and
 * returns the register that holds it.  That memory is global from %base on, the
 * module's constants `bank`, the thread's `own`, or %texture.  Uses %next,
 * %address (.b64), %at32, %value (.b32).
 */
const char *space_address(struct kernel_text *k, const struct space *space);
/* The format of a load of a word, which is a pointer where there is no other.
 */
const char *space_word_load(const struct space *space);
/* Writes a line with `format`, which is the space's load or load_word; op
 * "default" is the one that programs get who name none. */
void space_load(struct kernel_text *k, const char *format, const char *op,
                const char *into, const char *address);

#endif
