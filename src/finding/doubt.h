/*
 * Experiments that are not to be relied on, and what that means for findings.
 */
#ifndef SONDE_FINDING_DOUBT_H
#define SONDE_FINDING_DOUBT_H

#include "finding/finding.h"

/* Start from {0}. */
struct doubts {
    struct doubt {
        char *experiment, *why;
        size_t asks; /* as the caller counts what was asked with it */
    } * *at;
    size_t count;
};

void doubts_add(struct doubts *doubts, const char *experiment, const char *why,
                size_t asks);
/* Why the evidence is in doubt; NULL if it is not. */
const char *doubts_of(const struct doubts *doubts,
                      const struct finding *finding);
void doubts_free(struct doubts *doubts);

/* A finding with a value is in doubt from now on; of a time all is possible
 * down to 0.  The reason that it has already stays.  A bound in doubt is none,
 * so it has no value any more. */
void finding_doubt(struct finding *finding, const char *why);
/* … and this one has none any more: nobody can say how far off it is. */
void finding_void(struct finding *finding, const char *why);
/* What it rests on was not seen clearly: a time may be less, and is in doubt;
 * words, lists, whole numbers and differences may be any other, and are void.
 */
void finding_blur(struct finding *finding, const char *why);

/* True if it counts in seconds, which pass whatever the clock does. */
bool finding_has_seconds(const struct finding *finding);

/*
 * The last word on a finding, whoever made it: a number that cannot be (cycles
 * below zero, none that is finite) is not measured, and what is measured has no
 * `because`, else it is in doubt.
 */
void finding_settle(struct finding *finding);

#endif
