/*
 * Whether the GPU was itself while a study loaded it: the SM clock before and
 * after, measured and told, throttling, other processes.
 *
 * The planner asks before and after each study that says so (under_load), and
 * adds a finding `clock.STUDY`.  Where the clock moved, the GPU was throttled
 * or others used it, what the study found is marked as in doubt.
 */
#ifndef SONDE_STUDY_GPU_STATE_H
#define SONDE_STUDY_GPU_STATE_H

#include "study/lab.h"

/* At one moment; what is not told is negative. */
struct gpu_state {
    bool known;       /* false: it could not be asked (an old recording) */
    double hz;        /* measured */
    double range[2];  /* … and what it may have been, as the timer tells it */
    double told_hz;   /* the one that the driver tells */
    double gap_ns;    /* longest for which the SM did not run us */
    double processes; /* others on the GPU */
    double dropped;   /* repetitions thrown away so far: it was throttled */
    uint64_t throttle;
    const char *experiment;
};

/* `when` is "before" or "after".  An error that is left in the lab is that of a
 * device that failed. */
struct gpu_state gpu_state_read(struct lab *lab, const char *when);

/* Adds clock.STUDY of the running study, and marks its findings where need be.
 */
void gpu_state_report(struct lab *lab, const struct gpu_state *before,
                      const struct gpu_state *after);

/* All reasons that samples tell. */
uint64_t gpu_state_throttle(const struct samples *samples);
/* NVML's names of the reasons, as a list. */
struct value gpu_state_reasons(uint64_t throttle);

#endif
