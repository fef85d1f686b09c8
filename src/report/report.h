/*
 * Report formats: results in, bytes out.  A format is one file behind one
 * `const struct report_format`; formats see results (study/finding.h) and
 * nothing else of the studies, and never a device.
 */
#ifndef SONDE_REPORT_REPORT_H
#define SONDE_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "finding/finding.h"

/* How much a text says: one screen; all findings, as a tree or a list; with
 * methods, protocols and evidence. */
enum report_depth { REPORT_SCREEN, REPORT_TREE, REPORT_EVIDENCE };

struct report_style {
    bool color;       /* a terminal reads it */
    unsigned verbose; /* text: how much, an enum report_depth */
    bool tree;        /* text: the memory hierarchy first; else a flat list */
    bool ascii;       /* text: nothing but ASCII */
    size_t width;     /* text: columns; 0: 80 of a screen, 100 of all else */
};

struct report_format {
    const char *name; /* "text", "json", "table", "csv" */
    void (*write)(const struct results *results,
                  const struct report_style *style, struct buf *out);
};

extern const struct report_format report_text, report_json, report_table,
    report_csv;

const struct report_format *report_format_find(const char *name);

/* Reads a report in JSON back (`sonde report FILE.json`); `where` names it in
 * errors.  ERR_FILE with the line for what is no such report. */
int report_read(const char *text, const char *where, struct results *results,
                struct error *err);

#endif
