/* The planner: which studies run, and in which order. */
#ifndef SONDE_STUDY_PLAN_H
#define SONDE_STUDY_PLAN_H

#include "study/lab.h"

/* Studies that propose something that one of the named ones, which finds
 * nothing else, proposes, too: to
 * have that judged by all there is to know, these must run with them.  Returns
 * how many; `rivals` has room for all studies. */
size_t plan_rivals(const char *const *names, size_t count,
                   const char **rivals);

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
