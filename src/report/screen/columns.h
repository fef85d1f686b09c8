/*
 * A table that fits a terminal: rows of cells under headings.  A column in
 * which no row has anything is not shown, nor are, from the last on, columns
 * that may be spared where the page is too narrow for all.
 */
#ifndef SONDE_REPORT_SCREEN_COLUMNS_H
#define SONDE_REPORT_SCREEN_COLUMNS_H

#include "report/page.h"

enum { CELLS_MOST = 10 };

struct column {
    const char *heading;
    bool left;  /* else flush right */
    bool spare; /* not shown where there is no room */
};

struct columns {
    const struct column *column; /* heading NULL ends */
    struct columns_row {
        char *cell[CELLS_MOST]; /* NULL: nothing */
        bool heading;
        char *note; /* if not NULL the row is this text, and no cells */
    } * row;
    size_t rows;
    unsigned shown; /* set of columns, known once it is written */
};

/* A row of cells, all of which are the caller's to set (they are freed with
 * the table), until the next call. */
struct columns_row *columns_add(struct columns *columns);
/* A line of text under the row before. */
void columns_note(struct columns *columns, const char *text);
/* True if some row has anything in that column. */
bool columns_used(const struct columns *columns, size_t column);
void columns_write(struct columns *columns, const struct page *page);
void columns_free(struct columns *columns);

#endif
