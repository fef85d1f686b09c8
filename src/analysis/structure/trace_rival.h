/*
 * What models foretell of visits beside what became of them: whether one
 * explains them, and whether it is better than another.
 */
#ifndef SONDE_ANALYSIS_TRACE_RIVAL_H
#define SONDE_ANALYSIS_TRACE_RIVAL_H

#include "analysis/structure/trace_model.h"

/* A model beside what it foretells of visits. */
struct trace_rival {
    struct trace_model c;
    float *chance;
    double agree; /* visits that are as is likelier */
    double likelihood[TRACE_KINDS];
};

/* What became of them and what they asked for, where those of each kind end,
 * and which are of many lines. */
struct trace_outcome {
    bool *hit;
    uint64_t *at; /* NULL: nobody asks for that */
    size_t count, end[TRACE_KINDS], many, many_end;
};

void trace_rival_weigh(struct trace_rival *r, const struct trace_outcome *o);
/* How much likelier the one is (the logarithm). */
double trace_rival_lead(const struct trace_rival *a,
                        const struct trace_rival *b);
bool trace_rival_explains(const struct trace_rival *r,
                          const struct trace_outcome *o);
/* Visits that are not as foretold, of those of lines that fit. */
double trace_rival_missed(const struct trace_rival *r,
                          const struct trace_outcome *o);
/* Whether the best is shown to be it, and not the other. */
bool trace_rival_is_behind(const struct trace_rival *best,
                           const struct trace_rival *r,
                           const struct trace_outcome *o);
/* Share of the visits that are as foretold, or as is likelier. */
double trace_rival_agrees(const struct trace_rival *r,
                          const struct trace_outcome *o);

#endif
