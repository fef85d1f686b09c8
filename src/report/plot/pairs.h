/*
 * What was measured between pairs of GPUs (lists whose protocol names `peers`)
 * as matrices.  Of the reports of a host's GPUs each is a row and each GPU that
 * somebody reaches a column, a matrix a quantity; of one report each quantity
 * is a row.
 */
#ifndef SONDE_REPORT_PLOT_PAIRS_H
#define SONDE_REPORT_PLOT_PAIRS_H

#include "finding/finding.h"
#include "report/page.h"
#include "report/plot/matrix.h"

struct pairs {
    char *title; /* "link.latency, cycles", of several hosts "… on r1-n7" */
    struct matrix matrix;
};

struct pairs_list {
    struct pairs *at;
    size_t count;
};

/* True of a finding whose items are of other GPUs. */
bool pairs_has(const struct finding *finding);
/* None where no report has such a finding; pairs_free() frees. */
struct pairs_list pairs_of(const struct results *const *results, size_t count);
void pairs_free(struct pairs_list *list);
/* Of a finding that has them the row of its GPU; matrix_free() frees. */
struct matrix pairs_row(const struct finding *finding);
/* As a table of text, with a line before. */
void pairs_write(const struct pairs *pairs, const struct page *page);

#endif
