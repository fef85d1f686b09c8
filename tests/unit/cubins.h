/* The cubins of tests/data/sass (its README says how they were made). */
#ifndef SONDE_TESTS_UNIT_CUBINS_H
#define SONDE_TESTS_UNIT_CUBINS_H

#include "base/buf.h"
#include "ptx/sass/listing.h"

/* The names, without .cubin; NULL after the last. */
extern const char *const cubin_names[];

char *cubin_path(const char *name); /* the caller frees it */
struct buf cubin_bytes(const char *name);
/* Its kernel, whose name is "timed". */
struct listing cubin_listing(const char *name);

#endif
