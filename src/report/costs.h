/*
 * What instructions cost, as rows: the findings isa.NAME.latency.OLEVEL and
 * isa.NAME.throughput of one name belong together.  The table and the CSV are
 * two ways to write them.
 */
#ifndef SONDE_REPORT_COSTS_H
#define SONDE_REPORT_COSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "finding/finding.h"

enum { COST_LEVELS = 5 };

struct cost_row {
    char name[96];
    const char *category;                       /* "" if not said */
    const struct finding *latency[COST_LEVELS]; /* NULL: not asked */
    const struct finding *throughput;
};

struct costs {
    struct cost_row *rows;
    size_t count;
    bool level[COST_LEVELS]; /* some row has it */
};

/* In the order of the findings; those that are no cost are left out. */
void costs_collect(const struct results *results, struct costs *costs);
void costs_free(struct costs *costs);
/* True of an id that is one of a cost. */
bool costs_has(const char *id);
/* True if a report is about nothing else: it has costs, and beside them only
 * what is said of clocks. */
bool costs_only(const struct results *results);

/* The finding of the row that says it, highest level first. */
const char *cost_row_said(const struct cost_row *row, const char *name);
/* Why nothing of the row is measured; NULL if something is. */
const char *cost_row_because(const struct cost_row *row);

#endif
