/*
 * What values of one cache or TLB make of each other, of those that are said
 * for sure, and whether they contradict.
 */
#ifndef SONDE_TWIN_VALUES_H
#define SONDE_TWIN_VALUES_H

#include "twin/validate/trying.h"

/* 0: not known for sure. */
double values_number(struct trying *trying, const char *component,
                     const char *attribute);
/* As above, of what only some caches have: 1 is none. */
double values_number_or_one(struct trying *trying, const char *component,
                            const char *attribute);
/* Of a list of numbers; of none, 0. */
double values_sum(const struct finding *list);

/* Lines, or entries, by sets and ways; 0: not known. */
double values_places(struct trying *trying, const char *component);
/* Bytes of all places; 0: not known. */
double values_hold(struct trying *trying, const char *component);
/* As above, by the least that a line may be where no more is known of it; 0: it
 * is known, or not even that. */
double values_hold_least(struct trying *trying, const char *component);
/* Bytes of all places if the size is not more than they may hold: of a line
 * that is not known, of the next multiple of the least.  0: not known. */
double values_size(struct trying *trying, const char *component);
/* By the index, which is that of each part of an L2; 0: not known. */
double values_sets_by_bits(struct trying *trying, const char *component);

/* True if it is the value, or within its interval, or that is but a bound. */
bool values_size_agrees(struct trying *trying, const char *component,
                        const char *attribute, double size);
/* False if some contradict, or no profile can say the policy. */
bool values_agree(struct trying *trying, const char *component);
/* True if another value of the finding would contradict the rest. */
bool values_deny_another(struct trying *trying, const char *component,
                         struct finding *finding);
/* True if ways are drawn by weights that were asked and not found. */
bool values_weights_open(struct trying *trying, const char *component);

#endif
