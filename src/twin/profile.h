/*
 * A profile (docs/profiles.md) of a GPU that was measured: the simulated GPU of
 * which the studies would find the same.  What was not measured is the nearest
 * shipped profile's, and its `source` lists it.
 */
#ifndef SONDE_TWIN_PROFILE_H
#define SONDE_TWIN_PROFILE_H

#include "base/error.h"
#include "finding/finding.h"

/* The profile as JSON in text, which the caller frees; of what is found under
 * the id `without`, unless NULL, nothing is believed.  NULL and ERR_FILE if too
 * little was measured for one: of L2 and of memory no latency. */
char *twin_profile(const struct results *results, const char *without,
                   struct error *err);

#endif
