/*
 * How fast the whole GPU does something, by the probes of probe/crowd.h.
 *
 * The cost of copies is the difference of a loop of some and of one of three
 * times as many, by the clocks of the SMs themselves: what blocks do before and
 * after, and the loop, are in both.  So many copies and turns are taken that
 * the difference is known to a hundredth, by what SMs differ by.
 */
#ifndef SONDE_STUDY_CROWD_H
#define SONDE_STUDY_CROWD_H

#include "study/study.h"

struct crowd {
    struct lab *lab;
    const char *words; /* of its experiments, with the probe: "grid row=…" */
    unsigned warps;    /* of a block */
    unsigned each;     /* what a warp does in a copy: chains */
    unsigned copies, turns; /* set by crowd_length */
};

/* Finds copies and turns with which so many blocks are measured well. */
int crowd_length(struct crowd *crowd, unsigned blocks, struct error *err);

/* Copies of a warp that an SM does in a cycle, with so many blocks on the
 * whole GPU; `*experiment` is the longer one's (free). */
int crowd_rate(const struct crowd *crowd, unsigned blocks, double *rate,
               char **experiment, struct error *err);

/* What the GPU does over a longer time. */
struct crowd_sustained {
    double rate;      /* copies of a warp in a second, of all SMs */
    double hz;        /* clock of the SMs while they were at it */
    double watts;     /* negative: not told */
    uint64_t throttle; /* reasons; 0: none or not told */
    char *experiment;
};

/* For about so many seconds, with so many copies and blocks.  False in `*told`
 * where the device tells no power: then a long run would tell no more than a
 * short one, and there is none. */
int crowd_sustain(const struct crowd *crowd, unsigned blocks, double seconds,
                  double rate, bool *told, struct crowd_sustained *found,
                  struct error *err);
/* Says of a finding at which clock and power it was; takes the experiment as
 * evidence. */
void crowd_say(struct finding *finding, const struct crowd_sustained *found);

#endif
