/*
 * How fast the whole GPU does something, by the probes of probe/crowd.h.
 *
 * The cost of a turn of a loop is the difference of some turns and of three
 * times as many, by the clocks of the SMs themselves: what blocks do before and
 * after is in both.  The loop's own instructions are in it, so its body is to
 * be long.  (Loops of several lengths are not alike: on an H200 a short one is
 * slower than its copies where many warps want an instruction each cycle.)  So
 * many turns are taken that the difference is known to a hundredth, by what SMs
 * differ by, and that fewer turns say the same.
 */
#ifndef SONDE_STUDY_CROWD_H
#define SONDE_STUDY_CROWD_H

#include "study/study.h"

/* So many times as many turns has the longer run. */
enum { CROWD_LONGER = 3 };

struct crowd {
    struct lab *lab;
    const char *words; /* of its experiments, with the probe: "grid row=…" */
    const char *unit;  /* what a block has several of: "warps", "groups" */
    unsigned warps;    /* so many of them */
    unsigned each;     /* what one of them does in a copy: chains */
    unsigned copies;   /* of each in a turn */
    unsigned turns;    /* set by crowd_length */
};

/* Finds turns with which so many blocks are measured well. */
int crowd_length(struct crowd *crowd, unsigned blocks, struct error *err);

/* Copies of a warp that the GPU does in a cycle, with so many blocks on all of
 * it; `*experiment` is the longer one's (free). */
int crowd_rate(const struct crowd *crowd, unsigned blocks, double *rate,
               char **experiment, struct error *err);

/* What the GPU does over a longer time. */
struct crowd_sustained {
    double rate;       /* copies of a warp in a second, of all SMs */
    double hz;         /* clock of the SMs while they were at it */
    double watts;      /* negative: not told */
    uint64_t throttle; /* reasons; 0: none or not told */
    char *experiment;
};

/* For about so many seconds, with so many blocks; `rate` is about what
 * crowd_rate would say.  False in `*told`
 * where the device tells no power: then a long run would tell no more than a
 * short one, and there is none. */
int crowd_sustain(const struct crowd *crowd, unsigned blocks, double seconds,
                  double rate, bool *told, struct crowd_sustained *found,
                  struct error *err);
unsigned crowd_sms(const struct lab *lab);

/* The number S of servers with which the sawtooth fits the rates of n workers
 * best, at most `most`; or that none fits. */
void crowd_sawtooth(struct finding *finding, const char *unit, const double *n,
                    const double *rates, size_t count, unsigned most,
                    const char *experiment);
/* The fewest of 1, 2, … workers that are as fast as it gets; returned, too. */
unsigned crowd_enough(struct finding *finding, const double *rates,
                      size_t count, const char *experiment);

/* Says of a finding at which clock and power it was; takes the experiment as
 * evidence. */
void crowd_say(struct finding *finding, const struct crowd_sustained *found);

#endif
