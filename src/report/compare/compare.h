/*
 * Reports against a base: which findings differ, from the one that is furthest
 * beyond its interval to the nearest; and what was found in one alone.
 */
#ifndef SONDE_REPORT_COMPARE_COMPARE_H
#define SONDE_REPORT_COMPARE_COMPARE_H

#include "base/error.h"
#include "finding/judge.h"
#include "report/report.h"

struct compare_wish {
    const char *only; /* patterns of ids, with commas between; NULL: all */
    double tolerance; /* a share: 0.02 */
};

/* A finding, and how each report has it. */
struct compare_row {
    const char *id;
    const struct finding *base;   /* NULL: the base has none */
    const struct finding **other; /* of each report; NULL: it has none */
    struct judgement *judged;     /* as many */
    enum verdict worst;
    double beyond; /* the most of these */
    size_t order;
};

struct comparison {
    const struct results *const *results; /* the base, and the others */
    size_t count;                         /* of the others */
    struct compare_wish wish;
    struct compare_row *rows; /* those that differ or are lost first */
    size_t row_count;
};

/* At least a base and one other; ERR_USAGE for a pattern that none has. */
int compare(const struct results *const *results, size_t count,
            const struct compare_wish *wish, struct comparison *comparison,
            struct error *err);
void compare_free(struct comparison *comparison);

/* How many rows have that verdict. */
size_t compare_counts(const struct comparison *comparison,
                      enum verdict verdict);
/* True if nothing differs or is lost. */
bool compare_alike(const struct comparison *comparison);

/* In one line; side by side, for a person; and as JSON, sonde-compare-1
 * (docs/exchange.md). */
void compare_line(const struct comparison *comparison, struct buf *out);
void compare_text(const struct comparison *comparison,
                  const struct report_style *style, struct buf *out);
void compare_json(const struct comparison *comparison, struct buf *out);

#endif
