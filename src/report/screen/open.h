/* What stays open of a report, in one line. */
#ifndef SONDE_REPORT_SCREEN_OPEN_H
#define SONDE_REPORT_SCREEN_OPEN_H

#include "report/writer.h"

/* "Open: 4 not measured (l2.set_bits, …), 8 in doubt, 3 bounds; sonde -v says
 * why": with as many names as fit. */
void open_line(const struct writer *writer);

/* True of what should have a value and has none: what the device has not is not
 * missing, nor what its driver does not say. */
bool open_is_missing(const struct finding *finding);
/* True of a value that something speaks against. */
bool open_is_doubted(const struct finding *finding);

#endif
