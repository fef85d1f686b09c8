/* The planner: which studies run, and in which order. */
#ifndef SONDE_STUDY_PLAN_H
#define SONDE_STUDY_PLAN_H

#include "study/lab.h"

/* The study that judges what the named ones propose, which must then run with
 * all that propose the same, or what was asked for would be judged by a part of
 * the estimates; NULL if they propose nothing. */
const char *plan_judge_of(const char *const *names, size_t count);

/*
 * Runs the named studies and all that they need, each once, in the order of
 * needs and then of the table.  A study that is not reached (stop, budget, a
 * failed device) leaves not_measured findings for all that it gives, and
 * lab->cut_short says whether a stop or the budget was the reason.  Returns the
 * error of a device that failed, 0 otherwise.
 */
int plan_run(struct lab *lab, const char *const *names, size_t count,
             struct error *err);

#endif
