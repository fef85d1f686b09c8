/*
 * What an export may take from a report as a value: what was measured, what
 * the driver reports and what follows from these.  A bound, or what is in
 * doubt, is no value elsewhere, where nothing says that it is one; it is told
 * in words.
 */
#ifndef SONDE_REPORT_EXPORT_KNOWN_H
#define SONDE_REPORT_EXPORT_KNOWN_H

#include <stdbool.h>

#include "base/buf.h"
#include "finding/finding.h"

/* The finding if it has a value of any kind that may be taken; else NULL. */
const struct finding *known(const struct results *results, const char *id);
/* A number that is no less than nothing; yes is 1 and no is 0. */
bool known_number(const struct results *results, const char *id,
                  double *number);
/* NULL if it is no word. */
const char *known_word(const struct results *results, const char *id);
/* True if one of its words, or its one word, is this. */
bool known_has_word(const struct results *results, const char *id,
                    const char *word);

/* "246784 B": as exact as the report has it, since what reads on may count in
 * it. */
void known_value(struct buf *out, const struct finding *finding);
/* "l1.latency 32 cycles (measured)", or why there is no value: "l2.sets is in
 * doubt: …", "l2.sets is not in the report". */
void known_say(struct buf *out, const struct results *results, const char *id);
/* "sonde 0.1" of what wrote the report, and "simulated" or "replayed". */
void known_origin(struct buf *out, const struct results *results);

#endif
