/*
 * The machine that a report describes, as lstopo draws machines: boxes within
 * boxes, a storage within what has one of it.
 */
#ifndef SONDE_REPORT_PICTURE_PICTURE_H
#define SONDE_REPORT_PICTURE_PICTURE_H

#include "base/buf.h"
#include "finding/finding.h"

/* Appends an <svg> element, with its own style: it may stand in a page, or
 * alone after an XML declaration.  It is as wide as there is room. */
void picture_write(const struct results *results, struct buf *out);

#endif
