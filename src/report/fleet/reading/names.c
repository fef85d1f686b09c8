#include "report/fleet/reading/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

enum { PLACES_LEAST = 1024 };

void names_init(struct names *n)
{
    *n = (struct names){.place_count = PLACES_LEAST};
    n->places = xcalloc(n->place_count, sizeof *n->places);
    pthread_mutex_init(&n->lock, NULL);
}

/* Where the name is, or would be. */
static uint32_t *place_of(const struct names *n, const char *name)
{
    size_t at = hash_long_text(name) % n->place_count;
    while (n->places[at] != 0 && strcmp(n->at[n->places[at] - 1], name) != 0)
        at = (at + 1) % n->place_count;
    return &n->places[at];
}

static void grow(struct names *n)
{
    free(n->places);
    n->place_count *= 2;
    n->places = xcalloc(n->place_count, sizeof *n->places);
    for (size_t i = 0; i < n->count; i++)
        *place_of(n, n->at[i]) = (uint32_t)i + 1;
}

static uint32_t add(struct names *n, const char *name)
{
    if (n->count == n->capacity) {
        n->capacity = 2 * n->capacity + PLACES_LEAST;
        n->at = xreallocarray(n->at, n->capacity, sizeof *n->at);
    }
    n->at[n->count++] = xstrdup(name);
    *place_of(n, name) = (uint32_t)n->count;
    if (2 * n->count > n->place_count)
        grow(n);
    return (uint32_t)n->count - 1;
}

uint32_t names_number(struct names *n, const char *name)
{
    pthread_mutex_lock(&n->lock);
    const uint32_t place = *place_of(n, name);
    const uint32_t number = place != 0 ? place - 1 : add(n, name);
    pthread_mutex_unlock(&n->lock);
    return number;
}

void names_free(struct names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->at[i]);
    free(n->at);
    free(n->places);
    pthread_mutex_destroy(&n->lock);
    *n = (struct names){0};
}
