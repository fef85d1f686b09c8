/*
 * JSON, taken as it comes: what nobody asks for is passed over.  A fleet has
 * thousands of reports, of which nine tenths are evidence that only a single
 * report's reader wants.
 *
 * It is here and not jansson for its speed alone: 10 000 reports (2 GB) took 9
 * core seconds so, and 44 where jansson made a tree of each, dropped at once,
 * before any of it was looked at (1000 reports, two threads, 2026-11; 1.5 MB
 * more memory).  They must take less than 20 s on two cores.  A report that is
 * refused here is read by the reader of single reports, which says why.
 *
 * The text ends with a NUL.  Once `bad`, every call does nothing; `at` is where
 * it was, at the end of the text if that ends too early.
 */
#ifndef SONDE_REPORT_FLEET_SCAN_H
#define SONDE_REPORT_FLEET_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct scan {
    const char *at;
    bool bad;
};

struct piece {
    const char *at; /* of a string what is between its quotes */
    size_t length;
};

/* The first character of what comes next; '\0' at the end. */
char scan_next(struct scan *scan);
/* Goes into an object or a list ('{' or '['); then scan_member and scan_item
 * are true for each member, whose value must be taken, and false behind the
 * last.  `first` is true before the first call. */
bool scan_enter(struct scan *scan, char kind);
bool scan_member(struct scan *scan, bool *first, struct piece *key);
bool scan_item(struct scan *scan, bool *first);
bool scan_string(struct scan *scan, struct piece *text);
bool scan_number(struct scan *scan, double *number);
/* Any value; `raw` is all of it, and may be NULL. */
bool scan_skip(struct scan *scan, struct piece *raw);

bool piece_is(struct piece piece, const char *text);
/* Appends it with its escapes taken back. */
void piece_put(struct piece piece, struct buf *out);

#endif
