/*
 * Text within markup (HTML, SVG).  Reports are read from files that somebody
 * else wrote, so no text of theirs may end an element or an attribute, hold a
 * character that XML forbids, or turn what follows around.
 */
#ifndef SONDE_REPORT_MARKUP_H
#define SONDE_REPORT_MARKUP_H

#include "base/buf.h"

/* The text as it may stand in an element, or in an attribute between double
 * quotes; NULL is "".  Blanks of any kind are spaces; what is no UTF-8, no
 * character of XML, a control, or a sign that orders text from right to left is
 * U+FFFD. */
void markup_text(struct buf *out, const char *text);

#endif
