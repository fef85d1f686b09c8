/*
 * What loads of held-out experiments cost, with what disturbs may have added to
 * that, and whether a finding foretold it.
 */
#ifndef SONDE_TWIN_VALIDATE_COST_H
#define SONDE_TWIN_VALIDATE_COST_H

#include "twin/validate/trying.h"

/* What a load costs, what late loads may have added to that, or taken from it
 * where they were of what is subtracted, by how much more or less it may be,
 * since these loads cost no two alike, and what the clock's steps leave open: a
 * cycle of single loads, half of one of a walk, whose ends are 64 loads apart
 * or more. */
struct cost {
    double cycles, late, early, open, step;
};
enum { COST_STEP = 1 };

/* As near a mean must be to what was foretold; or within a cycle, or within
 * what the finding itself leaves open. */
#define MEAN_TOLERANCE 0.05

/* A chase repeats itself, a trace has many loads; a visit is run so often. */
enum { COST_VISIT_RUNS = 9 };

/* What disturbs adds to a load: singles tell it, and walks hold it.  Asked
 * before all else. */
int cost_see_disturbance(struct trying *trying);
/* Loads of a short walk: the longer it is, the less of its jitter is a load's;
 * but a quarter of the walks must hold no late load. */
unsigned cost_walk_visits(const struct trying *trying);

/* Runs an experiment so often, and appends its rows; the caller frees them. */
int cost_run(struct trying *trying, struct prober *prober, const char *text,
             int runs, struct samples *all);
/* A column; the caller frees. */
double *cost_column(const struct samples *samples, const char *name);
/* Of single loads, few of which are late; 0 of none. */
struct cost cost_of_singles(const struct trying *trying, const double *cycles,
                            size_t count);
/* Of an experiment on the device, or on a twin. */
int cost_of(struct trying *trying, const char *text, struct cost *cost);
int cost_on(struct trying *trying, struct prober *prober, const char *text,
            struct cost *cost);
struct cost cost_less(struct cost a, struct cost b);

/* Compares the finding with what was measured; one that is off is taken to be
 * that from then on.  What late loads may explain tells nothing, nor does what
 * the experiment leaves open: another line waits longer than that one. */
void cost_judge(struct trying *trying, const char *component,
                const char *attribute, struct cost cost, const char *text);

#endif
