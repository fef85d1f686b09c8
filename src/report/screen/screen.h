/* The report on one screen: 24 lines of 80 columns. */
#ifndef SONDE_REPORT_SCREEN_SCREEN_H
#define SONDE_REPORT_SCREEN_SCREEN_H

#include "report/costs.h"
#include "report/writer.h"

/* The memory hierarchy, a row a storage; false, and nothing is written, if the
 * results have none of it. */
bool screen_topology(const struct writer *writer);
/* What instructions cost, a row a category; false, and nothing is written, if
 * they are few or more is wanted. */
bool screen_costs(const struct writer *writer, const struct costs *costs);

#endif
