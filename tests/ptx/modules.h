/*
 * Programs put together, since an assembler's start costs more than most of
 * them: those that begin with the same lines (version, target, address size)
 * lie in one module.  All that a program declares outside of its kernel is
 * renamed, so none can use what another declares.
 */
#ifndef SONDE_TESTS_PTX_MODULES_H
#define SONDE_TESTS_PTX_MODULES_H

#include <stddef.h>

#include "base/buf.h"

struct module_text {
    char *head;
    struct buf text;
    const char **programs; /* as they came; the caller's */
    size_t count;
};

/* Start from zeros, but for `most`, if it is to be less. */
struct module_texts {
    struct module_text *at;
    size_t count;
    size_t most; /* programs in one; 0: all that fit together */
};

/* A program with functions or constants, of which a module holds 64 KiB, has
 * one alone.  It must stay where it is until they are freed. */
void module_texts_add(struct module_texts *texts, const char *ptx);
void module_texts_free(struct module_texts *texts);

#endif
