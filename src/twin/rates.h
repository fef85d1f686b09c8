/* What a profile says of bandwidths, of what was measured of them. */
#ifndef SONDE_TWIN_RATES_H
#define SONDE_TWIN_RATES_H

#include <jansson.h>

#include "twin/told.h"

/* Puts them into the profile, whose caches are there.  What was not measured of
 * memory and shared memory stays as it is, and caches have no limit then; both
 * are noted as chosen. */
void twin_put_rates(struct told *told, json_t *profile);

#endif
