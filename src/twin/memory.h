/* Caches, TLBs and paths of a profile, of what was found of them. */
#ifndef SONDE_TWIN_MEMORY_H
#define SONDE_TWIN_MEMORY_H

#include <jansson.h>

#include "twin/told.h"

/* Puts the three objects into `profile`; what nothing was asked of is taken of
 * `base`, the nearest shipped profile. */
void twin_put_memory(struct told *told, const json_t *base, json_t *profile);

/* The component under whose name the storage of this one's loads stands: the
 * first of those that it shares with, or its own. */
const char *twin_storage(struct told *told, const char *component);

#endif
