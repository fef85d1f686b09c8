/*
 * What a cache whose victims are of chance does on visits, by caches that are
 * thrown dice for: a model foretells each visit by what its own line did, but
 * lines of a set hang together.  Of one line more than a set holds only the one
 * that went is missed, and pushes the next one out.
 */
#ifndef SONDE_ANALYSIS_TRACE_CHANCE_H
#define SONDE_ANALYSIS_TRACE_CHANCE_H

#include "analysis/structure/trace_rival.h"

/* The model's chances of visits that were seen, as they turn out to be in such
 * caches that are empty at first; returns how many these are. */
size_t trace_chance_foretell(struct trace_seen_visits *s,
                             const struct trace_model *c, float *chance);

/* How many of the visits that were seen such caches miss that are full of other
 * lines at first, and by how much one deviates. */
struct trace_chance_missed {
    double mean, deviation;
};
struct trace_chance_missed
trace_chance_missed(const struct trace_seen_visits *s,
                    const struct trace_model *c);

#endif
