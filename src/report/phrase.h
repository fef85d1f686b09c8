/* What a report says of one finding, in one line of UTF-8. */
#ifndef SONDE_REPORT_PHRASE_H
#define SONDE_REPORT_PHRASE_H

#include <stdbool.h>

#include "base/buf.h"
#include "finding/finding.h"

/* "≥ 64 KiB: a module may hold 64 KiB of constants"; cycles also in ns if the
 * clock of the SM is known (not 0).  The caller frees. */
char *phrase_finding(const struct finding *finding, double clock_hz);
/* What an item of memory.patterns_* is of, from 0 on; NULL: there is none. */
const char *phrase_pattern(size_t item);
/* True if nothing in that line asks the reader to be careful. */
bool phrase_certain(const struct finding *finding);
/* "load ld.global.ca.u64, warm yes" */
void phrase_entries(struct buf *out, const struct protocol_entry *entries,
                    size_t count);
/* "32 cycles to 32.1 cycles, confidence 99 %"; nothing where not stated. */
void phrase_interval(struct buf *out, const struct finding *finding);

#endif
