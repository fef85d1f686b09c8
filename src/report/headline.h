/* The lines at the top of a text report: which GPU it is. */
#ifndef SONDE_REPORT_HEADLINE_H
#define SONDE_REPORT_HEADLINE_H

#include <stdbool.h>

#include "report/writer.h"

void headline_write(const struct writer *writer);
/* Parts of it: that it is simulated, replayed or disturbed, if it is; and what
 * follows these. */
void headline_warnings(const struct writer *writer);
void headline_facts(const struct writer *writer);
/* True if these lines say the finding, so that no other needs to. */
bool headline_says(const struct finding *finding);

#endif
