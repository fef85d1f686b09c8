/*
 * Other values that could be meant in the stead of one of a cache's or TLB's:
 * with each its experiments are foretold anew, and the best is kept.
 */
#ifndef SONDE_TWIN_OTHERS_H
#define SONDE_TWIN_OTHERS_H

#include "twin/validate/rivals.h"

/* Begins with `trying` and `suspicion` alone, and ends with others_free(). */
struct others {
    struct trying *trying;
    struct suspicion *suspicion;
    /* The best so far; finding NULL: none was tried. */
    struct finding *finding;
    struct value value;
    struct foretold foretold;
    bool consistent;      /* with it nothing contradicts */
    struct rivals rivals; /* all that explain everything as well */
};

/* Tries a number that is whole, unless the finding is none. */
int others_try_number(struct others *others, const char *attribute, double x);
int others_try_policies(struct others *others);
/* All that could be meant: what others say of the same storage, what follows
 * from the rest, one more or less, half and twice, each policy; and, where
 * nothing else explains it, each index of which one bit has a bit more or less.
 */
int others_try_all(struct others *others);
/* True if the best explains all; that chance does is little, since it foretells
 * no more than shares. */
bool others_explain(const struct others *others);
void others_free(struct others *others);

#endif
