/*
 * Values in the units that people use: 16384 B is 16 KiB, 1.98e9 Hz is
 * 1.98 GHz.  Text is UTF-8.
 */
#ifndef SONDE_REPORT_QUANTITY_H
#define SONDE_REPORT_QUANTITY_H

#include <stdbool.h>

#include "base/buf.h"
#include "finding/finding.h"

/* True of a unit that numbers are told in multiples of: KiB of B. */
bool quantity_scales(const char *unit);

/* The name of the unit that such a number is told in, by which it is divided:
 * "GB/s" and 1e9. */
const char *quantity_scale(double number, const char *unit, double *factor);
/* "216 KiB"; with doubt > 0, in the unit of the number, "216 ± 4 KiB". */
void quantity_number(struct buf *out, double number, double doubt,
                     const char *unit);
/* Any value: a number as above, text, "yes" or "no", "17, 8, 8 ways". */
void quantity_value(struct buf *out, const struct value *value, double doubt,
                    const char *unit);
/* An item of a list, without a unit: of a list in it, bits, "7^13". */
void quantity_item(struct buf *out, const struct value *item);

#endif
