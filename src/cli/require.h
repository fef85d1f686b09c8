/* --require and --strict: whether what somebody rests on was measured. */
#ifndef SONDE_CLI_REQUIRE_H
#define SONDE_CLI_REQUIRE_H

#include <stdbool.h>

#include "cli/options.h"
#include "sonde.h"

/* False, having said so, if what --require was given is no list. */
bool require_check(const struct options *options);
/* The exit status, 1 having said what is missing. */
int require_status(const struct options *options, const struct sonde *session);

#endif
