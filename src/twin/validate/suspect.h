/*
 * Which value is wrong, where loads are not found as foretold or values
 * contradict each other: others are tried in the stead of each.
 */
#ifndef SONDE_TWIN_SUSPECT_H
#define SONDE_TWIN_SUSPECT_H

#include "twin/validate/trying.h"

struct suspicion {
    const char *component;
    char *extra;
    struct trial trial[DRAW_MOST];
    size_t trials;
    size_t wrong[DRAW_MOST]; /* loads of each, by the findings as they were */
};

/* Compares what was measured with what the findings foretell; a finding that is
 * wrong is repaired (trying.h). */
int suspect(struct trying *trying, struct suspicion *suspicion);

#endif
