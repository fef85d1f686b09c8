/* The report on one screen: 24 lines of 80 columns. */
#ifndef SONDE_REPORT_SCREEN_SCREEN_H
#define SONDE_REPORT_SCREEN_SCREEN_H

#include "report/costs.h"
#include "report/screen/columns.h"
#include "report/writer.h"

/* The memory hierarchy, a row a storage; false, and nothing is written, if the
 * results have none of it. */
bool screen_topology(const struct writer *writer);
/* That table, and what its marks mean, of the columns that are `shown` (""
 * where it has none); the caller frees either. */
struct columns screen_storages(const struct writer *writer);
char *screen_legend(const struct columns *columns);
/* What instructions cost, a row a category; false, and nothing is written, if
 * they are few or more is wanted. */
bool screen_costs(const struct writer *writer, const struct costs *costs);

#endif
