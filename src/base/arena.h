/*
 * Memory that ends together: what a piece of work takes from its arena goes
 * when the arena is emptied, and nobody frees it one by one.
 */
#ifndef SONDE_BASE_ARENA_H
#define SONDE_BASE_ARENA_H

#include <stddef.h>

struct arena {
    void **blocks;
    size_t count, capacity;
};

/* `count` elements of zeros; never NULL, also for none. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);
/* Takes over what malloc gave, and returns it; NULL is nothing to take. */
void *arena_adopt(struct arena *arena, void *block);
/* printf into a string of the arena. */
char *arena_text(struct arena *arena, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Frees all; the arena may be used again. */
void arena_empty(struct arena *arena);

#endif
