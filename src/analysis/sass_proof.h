/*
 * Was what was timed what is claimed?  Two timed regions, of n copies and of
 * 3n copies of one PTX instruction, are compared as machine code: what the
 * longer one has more must be a whole number of each machine instruction per
 * copy, and those expected of the PTX instruction must be among them.  What
 * is left of the shorter one is the frame, such as the comparisons that hold
 * the copies between the reads of the clock; the difference of the two times
 * does not hold it.
 *
 * Some machine instructions are the same to the assembler, which takes the
 * one or the other to share work out (IADD3 and IMAD.IADD, MOV and IMAD.MOV).
 * Those are counted as one.
 */
#ifndef SONDE_ANALYSIS_SASS_PROOF_H
#define SONDE_ANALYSIS_SASS_PROOF_H

#include <stdbool.h>

#include "ptx/sass/listing.h"

struct sass_proof_claim {
    struct code_span shorter, longer; /* the regions of n and of 3n copies */
    struct code_span whole;           /* the kernel; to find what was moved */
    unsigned copies;                  /* n */
    /* Independent chains that take turns; 0: the copies need not wait for
     * each other. */
    unsigned chains;
    /* Forms, * for any run, with blanks between: "IADD3 IMAD.IADD VIADD". */
    const char *expected;
};

enum sass_proof_verdict {
    PROOF_VERIFIED,
    PROOF_FOLDED,   /* none or nearly none is left */
    PROOF_MERGED,   /* fewer than one a copy */
    PROOF_MOVED,    /* they are outside of the regions */
    PROOF_REPLACED, /* something else comes for each copy */
    PROOF_UNEVEN,   /* no whole number a copy */
    PROOF_UNCHAINED /* the copies do not depend on each other as claimed */
};

struct sass_proof {
    enum sass_proof_verdict verdict;
    /* Of one copy; 0 where there is no whole number. */
    unsigned expected, others;
    /* Machine instructions that the longer region has too many or too few for
     * whole numbers; few, where the verdict is that of a whole number. */
    unsigned missed;
    bool chain_read; /* false: what waits for what could not be read */
    char *expansion; /* of one copy, "IADD3 SEL"; "" if it is not whole */
    char *frame;     /* of both regions, "ISETP×3 NOP" */
    char *because;   /* why it is not verified, or the chain not read, or what
                        of an expansion does not wait; "" */
};

/* Judges; the caller frees the verdict's texts with sass_proof_free. */
struct sass_proof sass_proof_judge(const struct sass_proof_claim *claim);
void sass_proof_free(struct sass_proof *timed);

#endif
