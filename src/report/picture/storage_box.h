/* The box of a storage: what was found of it as rows, with tool tips, and the
 * paths that end in it as boxes within. */
#ifndef SONDE_REPORT_PICTURE_STORAGE_BOX_H
#define SONDE_REPORT_PICTURE_STORAGE_BOX_H

#include "base/buf.h"
#include "finding/finding.h"
#include "report/picture/box.h"

struct machine {
    const struct results *results;
    struct arena *arena;
    double clock_hz; /* of the SM; 0: not known */
};

/* `kind` is a class of the style sheet; NULL: there is nothing to say of it. */
struct box *storage_box(const struct machine *machine, const char *component,
                        const char *kind);

/* PLAIN also of NULL, and of what the device has not. */
enum mark storage_mark(const struct finding *finding);
/* The worse of both. */
enum mark mark_worse(enum mark a, enum mark b);

/* A row, and what it is taken from, of which either may be NULL.  Takes the
 * text; NULL: no row. */
struct row_of {
    const char *label;
    char *text;
    const struct finding *a, *b;
};
void storage_row(const struct machine *machine, struct box *box,
                 struct row_of row);
/* "32 cycles · 16.2 ns"; NULL: nothing to say. */
char *storage_cycles(const struct machine *machine,
                     const struct finding *finding);
/* The same text in the arena; takes it. */
const char *machine_text(const struct machine *machine, char *text);
/* More lines of what a finding says, with its interval and its study. */
void storage_tip(const struct machine *machine, struct buf *out,
                 const struct finding *finding);

#endif
