/*
 * How fast the whole GPU does something, by the probes of
 * probe/run/grid_timer.h.
 *
 * The cost of a turn of a loop is the difference of some turns and of three
 * times as many, by the clocks of the SMs themselves: what blocks do before and
 * after is in both.  The loop's own instructions are in it, so its body is to
 * be long.  (Loops of several lengths are not alike: on an H200 a short one is
 * slower than its copies where many warps want an instruction each cycle.)  So
 * many turns are taken that the difference is known to a hundredth, by what SMs
 * differ by, and that fewer turns say the same.
 */
#ifndef SONDE_STUDY_INSTRUCTION_THROUGHPUT_H
#define SONDE_STUDY_INSTRUCTION_THROUGHPUT_H

#include "study/lab.h"

/* So many times as many turns has the longer run. */
enum { THROUGHPUT_LONGER = 3 };

struct crowd {
    struct lab *lab;
    const char *words; /* of its experiments, with the probe: "grid row=…" */
    const char *unit;  /* what a block has several of: "warps", "groups" */
    unsigned warps;    /* so many of them */
    unsigned each;     /* what one of them does in a copy: chains */
    unsigned copies;   /* of each in a turn */
    unsigned turns;    /* set by throughput_length */
};

/* Finds turns with which so many blocks are measured well. */
int throughput_length(struct crowd *crowd, unsigned blocks, struct error *err);

/* Copies of a warp that the GPU does in a cycle, with so many blocks on all of
 * it; `*experiment` is the longer one's (free). */
int throughput_rate(const struct crowd *crowd, unsigned blocks, double *rate,
                    char **experiment, struct error *err);

/* What the GPU does over a longer time. */
struct throughput_sustained {
    double rate;       /* copies of a warp in a second, of all SMs */
    double hz;         /* clock of the SMs while they were at it */
    double watts;      /* negative: not told */
    uint64_t throttle; /* reasons; 0: none or not told */
    char *experiment;
};

/* For about so many seconds, with so many blocks; `rate` is about what
 * throughput_rate would say.  False in `*told`
 * where the device tells no power: then a long run would tell no more than a
 * short one, and there is none. */
int throughput_sustain(const struct crowd *crowd, unsigned blocks,
                       double seconds, double rate, bool *told,
                       struct throughput_sustained *found, struct error *err);
unsigned throughput_sms(const struct lab *lab);

/* The number S of servers with which the sawtooth fits the rates of n workers
 * best, at most `most`; or that none fits. */
void throughput_sawtooth(struct finding *finding, const char *unit,
                         const double *n, const double *rates, size_t count,
                         unsigned most, const char *experiment);
/* The fewest of 1, 2, … workers that are as fast as it gets; returned, too. */
unsigned throughput_enough(struct finding *finding, const double *rates,
                           size_t count, const char *experiment);

/* Says of a finding at which clock and power it was; takes the experiment as
 * evidence. */
void throughput_say(struct finding *finding,
                    const struct throughput_sustained *found);

#endif
