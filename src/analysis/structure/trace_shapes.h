/*
 * Which shapes of a cache explain visits best: all are tried on few visits,
 * the best of them on more and with more policies, and with a neighbour's
 * lines.
 */
#ifndef SONDE_ANALYSIS_TRACE_SHAPES_H
#define SONDE_ANALYSIS_TRACE_SHAPES_H

#include "analysis/structure/trace_model.h"

/* Of more sets the neighbour has no line in most. */
enum { TRACE_FEW_SETS = 16 };
enum { TRACE_WAYS_MOST = 512, TRACE_MORE_MOST = 3 };

struct trace_shapes {
    const struct trace_range *range;
    struct trace_seen_visits whole, picked;
    uint64_t line, lines; /* so many have a number in … */
    unsigned shift;       /* of the index that is tried */
    uint32_t *line_of;    /* … of each visit */
    bool *chosen;         /* of each line */
    float *chance;
    struct trace_model *kept;
    size_t count, room;
};

/* From now on lines are so long. */
void trace_shapes_lines(struct trace_shapes *s, uint64_t line);
/* Keeps lru caches of so many sets with each number of ways, too, judged by the
 * first visits of some sets: what all shapes are first tried by. */
void trace_shapes_lru(struct trace_shapes *s, uint64_t sets);
/* Keeps the best of all shapes, the best one first: of policies that are
 * certain, by lru first; by policies that are least like it first; or of random
 * victims. */
void trace_shapes_certain(struct trace_shapes *s);
void trace_shapes_unlike_lru(struct trace_shapes *s);
void trace_shapes_random(struct trace_shapes *s);
struct trace_shapes trace_shapes_new(const struct trace *trace,
                                     const struct trace_range *range);
void trace_shapes_free(struct trace_shapes *s);

#endif
