/* How far a run is, by what its studies ask at most. */
#ifndef SONDE_API_PROGRESS_H
#define SONDE_API_PROGRESS_H

#include <stddef.h>

#include "study/study.h"

struct progress_part {
    const struct study *now;
    size_t done, total; /* studies */
    size_t since;       /* experiments of the session when it began */
    double before;      /* the weight of those that are done */
};

/* A study begins as the `done`th of `total`, after so many experiments. */
void progress_study(struct progress_part *part, const struct study *study,
                    size_t done, size_t total, size_t experiments);
/* 0 to 1: how much of the run is over, after so many experiments. */
double progress_over(const struct progress_part *part, size_t experiments);

#endif
