/* Names that are kept once (struct names of fleet.h). */
#ifndef SONDE_REPORT_FLEET_NAMES_H
#define SONDE_REPORT_FLEET_NAMES_H

#include "report/fleet/fleet.h"

void names_init(struct names *names);
/* The number of the name, which is kept if it is new; safe from threads. */
uint32_t names_number(struct names *names, const char *name);
void names_free(struct names *names);

#endif
