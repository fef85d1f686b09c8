/*
 * Host memory that is always there.  A reserve is given back when the host has
 * no more: measuring ends then, and what was found is reported.  Once that is
 * used up, too, a program that measures GPUs cannot do anything useful, and
 * these stop it.
 */
#ifndef SONDE_BASE_MEM_H
#define SONDE_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

/* Sets the reserve aside, once; and whether it was given back. */
void mem_reserve(void);
bool mem_is_scarce(void);
/* NULL where there is none, after the reserve. */
void *mem_try(size_t size);

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t size);
/* As xrealloc for `count` elements; stops the program on overflow. */
void *xreallocarray(void *old, size_t count, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t max);
/* printf into a string that the caller frees. */
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Memory that ends together: what a piece of work takes from its arena goes
 * when the arena is emptied, and nobody frees it one by one.
 */
struct arena {
    void **blocks;
    size_t count, capacity;
};

/* `count` elements of zeros; never NULL, also for none. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);
/* Takes over what malloc gave, and returns it; NULL is nothing to take. */
void *arena_adopt(struct arena *arena, void *block);
/* Frees all; the arena may be used again. */
void arena_empty(struct arena *arena);

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#endif
