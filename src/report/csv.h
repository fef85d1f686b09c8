/* Fields of CSV (RFC 4180). */
#ifndef SONDE_REPORT_CSV_H
#define SONDE_REPORT_CSV_H

#include "base/buf.h"

/* Text of anybody, in quotes where it needs them; NULL is "".  What a
 * spreadsheet would compute (=, +, -, @) comes after an apostrophe, as people
 * write it there. */
void csv_field(struct buf *out, const char *text);
/* Ends the line. */
void csv_end(struct buf *out);

#endif
