/*
 * Numbers for programs.  What is whole is written whole (16384, and 32 for
 * 32.0).  Others are rounded to six significant digits, and to whole numbers
 * from 100000 on; that is finer than any measurement here and coarser than the
 * noise of binary fractions, so 32.06 stays 32.06.  A number that was rounded
 * once is not changed by rounding it again, so a report that is read and
 * written again is the same in every format.
 */
#ifndef SONDE_REPORT_NUMBER_H
#define SONDE_REPORT_NUMBER_H

#include <stdbool.h>

#include "base/buf.h"

enum { NUMBER_DIGITS = 6 };

double number_rounded(double number);
/* True if it is whole, and a double holds it exactly. */
bool number_is_whole(double number);
/* Of a finite number. */
void number_put(struct buf *out, double number);

#endif
