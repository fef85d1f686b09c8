/* The shipped profile that is most like what was measured. */
#ifndef SONDE_TWIN_NEAREST_H
#define SONDE_TWIN_NEAREST_H

#include "device/sim/profile/shipped.h"
#include "finding/finding.h"

const struct shipped_profile *twin_nearest(const struct results *results);

#endif
