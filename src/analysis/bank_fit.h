/*
 * Which banks explain what a warp's accesses to shared memory cost.
 *
 * Accesses are described by what the lanes did, their costs were measured.
 * Each way in which shared memory may be built (model/banks.h) predicts how
 * often every access is repeated; of the one that it is, costs rise by the
 * same cycles with each repetition.  Nothing is assumed of that step, nor of
 * the cost without conflict.
 */
#ifndef SONDE_ANALYSIS_BANK_FIT_H
#define SONDE_ANALYSIS_BANK_FIT_H

#include <stddef.h>

#include "model/banks.h"

enum { BANK_FIT_LANES = 32 };

/* Lane l of the first `lanes` accesses `bytes` at l × `distance`. */
struct bank_fit_access {
    unsigned lanes, distance, bytes;
    double cycles;
};

/* Degree of conflict of the access on such banks. */
unsigned bank_fit_degree(const struct banks *banks,
                         const struct bank_fit_access *access);

/* cycles = base + step × (degree − 1) */
struct bank_fit_line {
    double base, step;
    double step_error; /* standard error of the step */
    double squares;    /* sum of the squares of what is left */
    double worst;      /* the largest that is left */
};

/* The line through costs by degree, by least squares; n > 2, and not all
 * degrees alike. */
struct bank_fit_line bank_fit_line(const double *degrees, const double *cycles,
                                   size_t n);

enum bank_fit_verdict {
    BANK_FIT_EXPLAINED,   /* by `banks`, and by nothing else */
    BANK_FIT_AMBIGUOUS,   /* by `rival` as well */
    BANK_FIT_UNSEEN,      /* no access is clearly dearer than another */
    BANK_FIT_UNEXPLAINED, /* `banks` are the nearest */
};

struct bank_fit {
    enum bank_fit_verdict verdict;
    struct banks banks, rival;
    struct bank_fit_line line; /* of `banks` */
};

/* Tries 1 to BANKS_MAX banks of 4 and 8 bytes with rows of 1 and 2 words. */
struct bank_fit bank_fit_explain(const struct bank_fit_access *accesses,
                                 size_t n);

#endif
