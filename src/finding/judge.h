/*
 * Whether two findings say the same.
 *
 * Numbers are alike where both may be one number: where their intervals meet
 * (that of a bound has no end, of a number without one no width), or are no
 * further apart than the tolerance, as a share of the base's number.  What is
 * counted, is words, or yes or no is structure: no tolerance applies.  Items of
 * lists are judged one by one, those of one place on the axis, with the
 * intervals that the protocol says.
 */
#ifndef SONDE_FINDING_JUDGE_H
#define SONDE_FINDING_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "finding/finding.h"

enum verdict {
    VERDICT_ALIKE,
    VERDICT_GAINED, /* the base has no value, or no such finding */
    VERDICT_STATUS, /* alike, but one of them is a bound or in doubt */
    VERDICT_DIFFERS,
    VERDICT_LOST, /* the base has a value, and the other none */
};

struct judgement {
    enum verdict verdict;
    double beyond; /* the gap between them, as a share of the base's number;
                      INFINITY of structure; 0 where they do not differ */
    /* Of lists: how many items differ, of how many, and the worst of them; else
     * 0.  Where an item of either has no counterpart it differs. */
    size_t apart, items, worst;
};

/* Either may be NULL: there is no such finding.  What is said of a run alone is
 * alike. */
struct judgement judge_pair(const struct finding *base,
                            const struct finding *other, double tolerance);

/* True of a unit of times, rates and powers, which are measured in steps as fine
 * as the clock; all else is counted. */
bool judge_is_quantity(const char *unit);

/* "differs" */
const char *verdict_name(enum verdict verdict);

#endif
