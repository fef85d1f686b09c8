/*
 * The memory spaces: how a program reaches memory, one row each.  A question
 * ("how large is the cache?") is asked of a space by walking this table; what
 * differs between spaces is here and nowhere else.
 */
#ifndef SONDE_PTX_SPACE_H
#define SONDE_PTX_SPACE_H

#include <stdbool.h>
#include <stddef.h>

/* Where the elements of a ring lie. */
enum space_memory { MEMORY_GLOBAL, MEMORY_SHARED };

struct space {
    const char *name;       /* as in `space=global` */
    const char *const *ops; /* cache operators; the first is the default */
    enum space_memory memory;
    const char *load;       /* "%s" takes ".OP": a load of one pointer */
    const char *load_word;  /* the same of 32 bits, for sweeps; or NULL */
    unsigned pointer_bytes; /* of an element */
    bool indexed;           /* elements are indices, not pointers */
    const char *help;
};

/* NULL-terminated by name. */
extern const struct space space_table[];
const struct space *space_find(const char *name);
/* True if OP is one of the space's. */
bool space_has_op(const struct space *space, const char *op);

#endif
