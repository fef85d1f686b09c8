/*
 * Report formats: results in, bytes out.  A format is one file behind one
 * `const struct report_format`; formats see results (finding/finding.h) and
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

/*
 * What a format takes is what it has: `write` for the report of one GPU,
 * `write_several` for those of several, side by side; without `write` that
 * takes one, too.  Both return 0, or say why these reports cannot be written
 * so (ERR_USAGE).
 */
struct report_format {
    const char *name;    /* what --as takes, and the extension of files */
    const char *summary; /* a line for `sonde list formats` */
    int (*write)(const struct results *results,
                 const struct report_style *style, struct buf *out,
                 struct error *err);
    int (*write_several)(const struct results *const *results, size_t count,
                         const struct report_style *style, struct buf *out,
                         struct error *err);
};

#define FORMAT(name) extern const struct report_format report_##name;
#include "report/formats.def"
#undef FORMAT

/* NULL ends. */
extern const struct report_format *const report_formats[];
/* NULL if there is none of that name. */
const struct report_format *report_format_find(const char *name);
/* By the longest extension that the path ends with; NULL if it has none. */
const struct report_format *report_format_of_path(const char *path);
/* "txt, json, …"; the caller frees. */
char *report_format_names(void);

/* Writes reports, at least one, as a format takes them.  ERR_USAGE where it
 * takes one and these are of several GPUs, with the field in which they
 * differ. */
int report_write(const struct report_format *format,
                 const struct results *const *results, size_t count,
                 const struct report_style *style, struct buf *out,
                 struct error *err);

/* Reads a report in JSON back (`sonde report FILE.json`); `where` names it in
 * errors.  ERR_FILE with the line for what is no such report. */
int report_read(const char *text, const char *where, struct results *results,
                struct error *err);
/* The same of a file that may hold a list of them, as json writes several.  The
 * caller frees what was read, and the list, in either case. */
int report_read_all(const char *text, const char *where, struct results **list,
                    size_t *count, struct error *err);

#endif
