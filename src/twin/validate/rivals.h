/*
 * Several values explain equally well what was measured and contradicts: by
 * each of them other lines come to a set, and experiments drawn by that tell
 * which one it is.
 */
#ifndef SONDE_TWIN_RIVALS_H
#define SONDE_TWIN_RIVALS_H

#include "twin/validate/suspect.h"

/* A finding, and what it may be instead; NULL: all findings as they are. */
struct rival {
    struct finding *finding;
    struct value value;
    bool out; /* experiments were not as it foretells */
};

enum { RIVALS_MOST = 16 };

struct rivals {
    struct rival at[RIVALS_MOST];
    size_t count;
};

/* Takes the value, unless it is among them. */
void rivals_add(struct rivals *rivals, struct finding *finding,
                const struct value *value);
/* `*decided` is false where nothing could be asked. */
int rivals_decide(struct trying *trying, const struct suspicion *suspicion,
                  struct rivals *rivals, bool *decided);
/* The first that is not out; NULL: none. */
struct rival *rivals_first(struct rivals *rivals);
void rivals_free(struct rivals *rivals);

#endif
