/* All that has a name, for complaints about one that means nothing where it
 * stands. */
#ifndef SONDE_API_NAMES_H
#define SONDE_API_NAMES_H

#include "base/error.h"

/* ERR_USAGE if the name is none of a study (of a probe), but of something else:
 * "'l1.size' is a finding, which the study 'size' finds". */
int names_study(const char *name, struct error *err);
int names_probe(const char *name, struct error *err);
/* ERR_USAGE: nothing is named so; with the name that was meant. */
int names_nothing(const char *name, struct error *err);

#endif
