/*
 * A claim: what must be found under an id, as JSON, and how the two are
 * compared.
 */
#ifndef SONDE_TESTS_CLAIM_H
#define SONDE_TESTS_CLAIM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "device/sim/profile/profile.h"

struct verdict;

/* What a run found, and where to say what is wrong with it. */
struct run_seen {
    const struct profile *profile;
    const char *name; /* heads the rows, with the seed */
    uint64_t seed;
    const json_t *findings; /* of the report in JSON */
    struct buf *rows;
    struct buf *outcomes; /* may be NULL: a line "OUTCOME ID" for each claim */
};

struct check {
    const struct run_seen *seen;
    struct verdict *verdict;
};

/* X(id, word): what became of what can be found. */
#define CLAIM_OUTCOMES(X)                                                      \
    X(CLAIM_RIGHT, "right")                                                    \
    X(CLAIM_BOUND, "bound")     /* one that holds */                           \
    X(CLAIM_DOUBT, "doubt")     /* its value or its interval holds */          \
    X(CLAIM_MISSING, "missing") /* not measured */                             \
    X(CLAIM_WRONG, "wrong")

enum claim_outcome {
#define X(id, word) id,
    CLAIM_OUTCOMES(X)
#undef X
        CLAIM_OUTCOME_COUNT
};

void claim_note(const struct run_seen *seen, enum claim_outcome outcome,
                const char *id);

/* MAY: need not be found, but what is found must be right.  HOPED: shows, and
 * no test fails where it is not found. */
enum need { MUST, HOPED, MAY, NEVER };

typedef bool same_fn(const json_t *expected, const json_t *found);

/* Takes `expected`, which may be NULL if it is NEVER to be found. */
void claim(struct check *c, const char *component, const char *attribute,
           enum need need, json_t *expected, same_fn *same);
void claim_whole(struct check *c, const char *component, const char *attribute,
                 enum need need, uint64_t whole);
/* Attributes up to NULL. */
void claim_nothing(struct check *c, const char *component,
                   const char *const *attributes);

/* The value of a finding that was measured or follows from what was; NULL if
 * there is none. */
const json_t *claim_found(const struct run_seen *seen, const char *id);

/* 1 % of so many cycles, at least one. */
double claim_doubt(double cycles);

bool claim_is_close(const json_t *a, const json_t *b, double tolerance);
same_fn claim_equals, claim_close_cycles;

#endif
