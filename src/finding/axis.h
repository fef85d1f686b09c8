/* What the items of a finding's list are of: a list has an axis. */
#ifndef SONDE_FINDING_AXIS_H
#define SONDE_FINDING_AXIS_H

#include "finding/finding.h"

struct axis {
    const char *name, *unit; /* "width", "B"; the unit "" where it has none */
    struct value values;     /* a list, as long as the finding's */
};

/* The axis of a finding whose value is a list; the caller frees the values. */
struct axis axis_of(const struct finding *finding);

#endif
