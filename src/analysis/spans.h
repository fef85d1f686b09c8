/*
 * Spans of time: how many overlap, in which pattern blocks follow each other on
 * an SM, and how evenly something is shared.
 */
#ifndef SONDE_ANALYSIS_SPANS_H
#define SONDE_ANALYSIS_SPANS_H

#include <math.h>
#include <stddef.h>

struct span {
    double start, end;
};

static inline double span_length(const struct span *span)
{
    return span->end - span->start;
}

/* Ever wider ones start from this. */
static const struct span span_none = {INFINITY, -INFINITY};
/* Makes it hold both, which may be one and the same moment. */
static inline void span_hold(struct span *span, double start, double end)
{
    span->start = fmin(span->start, start);
    span->end = fmax(span->end, end);
}

/* The most that overlap; one that starts when another ends does not. */
size_t spans_at_once(const struct span *spans, size_t n);

/*
 * How blocks follow each other where `at_once` can be there: one after the
 * other; so many together, which also end together; or as a staircase, where
 * they overlap and yet end one after the other at even distances.
 */
enum spans_pattern {
    SPANS_SINGLY,
    SPANS_TOGETHER,
    SPANS_STAIRCASE,
    SPANS_MIXED
};
enum spans_pattern spans_pattern(const struct span *spans, size_t n,
                                 size_t at_once);

/* From the end of a span to the start of the next one on its place, the median;
 * NAN if none follows. */
double spans_gap(const struct span *spans, size_t n);

/* Groups of numbers that lie together: neighbours by at most `near`, groups by
 * at least thrice that.  Their numbers, as they appear, go to `group`; returns
 * how many there are, 0 where neighbours are neither. */
size_t groups_of(const double *numbers, size_t n, double near, size_t *group);

/* Jain's index of fairness: 1 where all have the same, 1/n where one has all.
 * NAN of nothing. */
double fairness_jain(const double *shares, size_t n);

/* Of times that some took by those of others, again and again: 1 where they
 * took longer each time, and more than `times` as long by the median; -1 where
 * the others did; 0 else. */
int favour_side(const double *ratios, size_t n, double times);

#endif
