/*
 * What a study gets of the probe `timeline`: the spans of warps, and of the
 * blocks that they make.
 */
#ifndef SONDE_STUDY_LOAD_TIMELINES_H
#define SONDE_STUDY_LOAD_TIMELINES_H

#include "analysis/spans.h"
#include "study/lab.h"

struct warp_span {
    unsigned repeat, sm, block, warp;
    struct span span; /* cycles of the SM's clock */
    double ns;        /* %globaltimer where it starts, from the first row on */
};

struct timelines {
    size_t count, repeats;
    struct warp_span *warps; /* by repeat, block, warp */
    double *launch_ns;       /* of each repetition */
    const char *experiment;  /* canonical; NULL after an error */
};

struct timelines timelines_of(struct lab *lab, const struct samples *samples);
#define timelines_measure(lab, ...)                                            \
    timelines_of(lab, lab_probe(lab, "timeline " __VA_ARGS__))

/* The blocks of a repetition, each from its first warp's start to its last
 * one's end, as rows of warp 0. */
struct warp_spans {
    size_t count;
    struct warp_span *at;
};
struct warp_spans timelines_blocks(struct lab *lab, const struct timelines *t,
                                   size_t repeat);

#endif
