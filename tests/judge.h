/*
 * Is what was found on a disturbed GPU right?  Findings of a report are held
 * against those of the same GPU undisturbed.
 */
#ifndef SONDE_TESTS_JUDGE_H
#define SONDE_TESTS_JUDGE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"

/* X(id, name) */
#define JUDGEMENTS(X)                                                          \
    X(JUDGED_RIGHT, "right")     /* as sure as undisturbed */                  \
    X(JUDGED_BOUND, "bound")     /* a bound that holds */                      \
    X(JUDGED_DOUBTED, "doubted") /* in doubt; its value or interval holds */   \
    X(JUDGED_NOT_MEASURED, "not measured")                                     \
    X(JUDGED_WRONG, "wrong")

enum judgement {
#define X(id, name) id,
    JUDGEMENTS(X)
#undef X
        JUDGEMENT_COUNT
};

extern const char *const judgement_names[];

/*
 * The truth and what was found; either may be NULL.  A number is right if it is
 * the truth to 1 % (cycles and nanoseconds: or to 1), or if its interval holds
 * it; so is a number of a list, whose intervals are in its protocol.  Bits that
 * are XORed are right as far as addresses differed in them.  What is in doubt
 * needs an interval that holds, or a value that is right.  What is found and is not there is
 * wrong.  `slowed` is what the clock fell to, of what it was: of a rate of the
 * clock both must be held.
 */
enum judgement judge(const json_t *truth, const json_t *found, double slowed);
/* False where there is nothing to judge: neither has it, or a driver said it.
 */
bool judge_has(const json_t *truth, const json_t *found);
/* Measured with a reason against it is in doubt, too. */
bool judge_is_bound(const json_t *finding);
bool judge_is_doubted(const json_t *finding);
/* "value [interval] status, truth value". */
void judge_show(struct buf *text, const json_t *truth, const json_t *found);

/* The interval of a number; of one without, a width of 0. */
struct judge_range {
    double low, high;
};
struct judge_range judge_range(const json_t *finding);

/* What an interval is of, for tables of how often intervals hold the truth;
 * NULL: nothing that is counted. */
const char *judge_class(const char *id, const json_t *found);

#endif
