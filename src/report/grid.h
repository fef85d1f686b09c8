/* Reports of several GPUs side by side: a row a finding, a column a GPU. */
#ifndef SONDE_REPORT_GRID_H
#define SONDE_REPORT_GRID_H

#include <stdbool.h>

#include "finding/finding.h"

struct grid {
    const struct results *const *results; /* the columns */
    size_t count;
    char **labels;    /* of the columns */
    const char **ids; /* of the rows: in the order of the first report, what
                         others have beside it after that */
    size_t rows;
};

struct grid grid_of(const struct results *const *results, size_t count);
void grid_free(struct grid *grid);

/* The finding of a report in a few words, with a mark of how far it holds:
 * "216 KiB", "≥ 64 KiB", "? 30 cycles", "not measured"; "" where the report has
 * none, or the GPU no such thing.  The caller frees. */
char *grid_cell(const struct grid *grid, size_t row, size_t column);
char *grid_words(const struct finding *finding);
/* A number in all the digits that a report has: "1.97995 GHz". */
char *grid_exact(const struct finding *finding);
/* An item of a list: "649.6 cycles"; with its place "pattern 4: 649.6 cycles".
 */
char *grid_item(const struct finding *finding, size_t item, bool place);

#endif
