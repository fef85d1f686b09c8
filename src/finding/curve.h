/*
 * The curve behind a finding: what was seen against what was asked for, as the
 * cost of a load against the bytes that are gone over.  A report gives it so
 * that one can look at what a number rests on, and draw it; nothing is inferred
 * from it.
 */
#ifndef SONDE_FINDING_CURVE_H
#define SONDE_FINDING_CURVE_H

#include "finding/finding.h"

/* What is drawn: all are of static life, and a unit is "" where there is none.
 */
struct curve_kind {
    const char *name;            /* "latency" */
    const char *x_name, *x_unit; /* "bytes", "B" */
    const char *y_unit;          /* "cycles" */
};

/* A point; of an experiment that is NULL, as after an error, it is none, nor
 * where a number is not known (NaN). */
struct curve_seen {
    double x, y;
    const char *experiment;
};

struct finding_curve {
    char *id; /* of the finding */
    char *name, *x_name, *x_unit, *y_unit;
    double *x, *y;
    size_t count;
    char *evidence; /* the experiment of its last point; NULL: none */
};

/* Points that are kept: thinned evenly, so that the ends stay. */
enum { CURVE_POINTS = 200 };

/* That curve of a finding, which there may not be yet; begun if need be. */
struct finding_curve *results_curve(struct results *results, const char *id,
                                    const struct curve_kind *kind);
void curve_point(struct finding_curve *curve, struct curve_seen seen);

/* Puts each in order of x, makes one point of those that have the same (the
 * last that was seen: it knew more), and leaves out what is too many. */
void results_settle_curves(struct results *results);

/* For results_take(): the curves of this id, in the place of those that `into`
 * has. */
void results_take_curves(struct results *into, struct results *from,
                         const char *id);
/* For results_free(). */
void results_free_curves(struct results *results);

#endif
