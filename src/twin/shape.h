/*
 * How a cache is built, as a profile says it, from what was found of it.  What
 * was not measured follows from the rest (size = line × sets × ways), where
 * that comes out whole; else it is chosen.
 */
#ifndef SONDE_TWIN_SHAPE_H
#define SONDE_TWIN_SHAPE_H

#include <jansson.h>

#include "twin/told.h"

/* The cache of the component; NULL: too little was found of it (no size, and no
 * sets and ways).  The caller decrefs. */
json_t *twin_cache(struct told *told, const char *component);
/* The same of a TLB, which counts entries of a region. */
json_t *twin_tlb(struct told *told, const char *component);

#endif
