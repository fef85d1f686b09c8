/*
 * Samples that were read, against the experiment that they are said to be of.
 *
 * A recording may come from anywhere, and what studies and the analysis rely on
 * (that there is a row for each case, that a column is an index) holds of what
 * a probe gives.  So what no run of the experiment can have given is refused
 * before anybody sees it; it costs the findings that rest on it.
 */
#ifndef SONDE_PROBE_CHECK_H
#define SONDE_PROBE_CHECK_H

#include "probe/probe.h"

/* ERR_NOT_RECORDED with what is wrong.  The experiment is prepared. */
int samples_check(const struct experiment *experiment,
                  const struct samples *samples, struct error *err);

/* For the `sound` of probes: what is wrong with rows of which there must be
 * `count`, or whose column tells which of `bound` it is.  NULL: nothing is. */
const char *rows_are(const struct rows *rows, uint64_t count);
/* A `sound` of its own: one row a repetition. */
const char *rows_are_one(const struct experiment *experiment,
                         const struct rows *rows);
const char *rows_are_below(const struct rows *rows, size_t column,
                           uint64_t bound);

#endif
