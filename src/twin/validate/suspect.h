/*
 * Which value is wrong, where loads are not found as foretold or values
 * contradict each other: others are tried in the stead of each.
 */
#ifndef SONDE_TWIN_SUSPECT_H
#define SONDE_TWIN_SUSPECT_H

#include "twin/validate/trying.h"

struct subject;

struct suspicion {
    const char *component;
    const struct subject *subject; /* structure.c's */
    char *extra;
    struct trial trial[DRAW_MOST];
    size_t trials;
    /* Loads of each, by the findings as they were. */
    struct compared compared[DRAW_MOST];
    /* The entry that the device deals line 0 to, of unequal sets. */
    uint64_t dealt_from;
    bool dealt_is_known; /* false: from where most loads are as foretold */
};

/* structure.c: draws its experiments by the findings as they are now; false:
 * too little is known. */
bool suspicion_draw(struct trying *trying, struct suspicion *suspicion);
/* How many experiments fail, all where the findings make no GPU, and how many
 * are strained (trial.h); how many loads are not as foretold. */
struct foretold {
    size_t failed, strained, wrong;
};
/* With the findings as they are now. */
int suspicion_ask(const struct trying *trying,
                  const struct suspicion *suspicion, struct foretold *foretold);
/* Entries that lines are dealt to in turns, of unequal sets; 0: of sets that
 * are alike, or there is no such GPU. */
uint64_t suspicion_dealt_entries(const struct trying *trying,
                                 const char *component);
/* True if laps were as foretold, over as many lines as sets have ways and over
 * one more in each (the first two of draw_trials): then lines are told apart
 * and counted right, and what is not is the order in which they go. */
bool suspicion_laps_are_right(const struct suspicion *suspicion);
void suspicion_free(struct suspicion *suspicion);

/* Whether a size is sure, and not what the sets hold that are; what these hold.
 */
int suspect_size(struct trying *trying, const char *component, double *holds,
                 bool *is);

/* Compares what was measured with what the findings foretell; a finding that is
 * wrong is repaired (trying.h). */
int suspect(struct trying *trying, struct suspicion *suspicion);

#endif
