/* What all that writes reports shares. */
#ifndef SONDE_API_REPORTS_H
#define SONDE_API_REPORTS_H

#include "report/report.h"
#include "sonde.h"

/* NULL is plain. */
struct report_style reports_style(const struct sonde_style *style);

#endif
