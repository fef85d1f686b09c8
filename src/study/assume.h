/*
 * Assumptions: thresholds that rest on what was seen of GPUs and follow from no
 * other number.  They stand in assume.def, each with what it rests on, why it
 * is so, and how far it may move before an answer changes, which the suite
 * truth_assume holds.  What can be derived is derived where it is used.
 */
#ifndef SONDE_STUDY_ASSUME_H
#define SONDE_STUDY_ASSUME_H

enum assumption_id {
#define ASSUME(id, value, low, high, study, basis, why) ASSUME_##id,
#include "study/assume.def"
#undef ASSUME
    ASSUME_COUNT
};

struct assumption {
    const char *name;
    double value, low, high;
    const char *study; /* that reads it, maybe among others */
    const char *basis, *why;
};

extern const struct assumption assume_table[ASSUME_COUNT];

double assume(enum assumption_id id);

/* For tests alone: what assume() says from now on, in all threads. */
void assume_move(enum assumption_id id, double value);
void assume_restore(enum assumption_id id);

#endif
