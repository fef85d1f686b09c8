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

/* What is done, and by how many. */
struct throughput {
    struct lab *lab;
    const char *component; /* of its findings */
    const char *words; /* of its experiments, with the probe: "grid row=…" */
    const char *of;    /* what a block has several of: "warps", "groups" */
    unsigned warps;    /* so many of them */
    unsigned chains;   /* of one of them: what it does in a copy */
    unsigned copies;   /* of each in a turn */
    unsigned turns;    /* set by throughput_ask_blocks */
    double factor;     /* what a copy of a warp counts: results, operations */
    /* What is multiplied, where findings say so; else NULL. */
    const char *operands;
};

struct throughput_rate {
    double rate;            /* factor × copies of a warp in a cycle */
    double low, high;       /* … without the loop; high may be infinite */
    const char *experiment; /* the longer one; NULL after an error */
};
/* What the GPU does in a cycle, with so many blocks on all of it. */
struct throughput_rate throughput_measure(const struct throughput *t,
                                          unsigned blocks);

/* What one SM does with n workers, of several n. */
struct throughput_rates {
    const char *of; /* what workers are: "warps", "groups", "blocks" */
    double n[LAB_BLOCK_WARPS], rates[LAB_BLOCK_WARPS];
    size_t count;
    struct throughput_rate best; /* of warps */
    const char *experiment;
};
/* With one warp to `most`, fewer where registers do not suffice; all of t but
 * its warps counts.  The last experiment. */
struct throughput_rates throughput_by_warps(const struct throughput *t,
                                            unsigned most);
/* With so many blocks on the GPU, measured as long as it takes with two on each
 * SM: the finding `by_blocks`, or why there is none.  The first experiment. */
struct throughput_rates throughput_ask_blocks(struct throughput *t,
                                              const double *blocks,
                                              size_t count,
                                              struct finding *finding);

/* The fewest workers that do so large a share of the best. */
unsigned throughput_fewest(const struct throughput_rates *r, double share);
/* The fewest that are as fast as it gets. */
unsigned throughput_enough(const struct throughput_rates *r);

/* Findings of them. */
void throughput_say_best(struct finding *finding,
                         const struct throughput_rates *warps);
void throughput_say_enough(const struct throughput *t,
                           const struct throughput_rates *warps);
struct finding *throughput_say_warps(const struct throughput *t,
                                     const struct throughput_rates *warps);
/* The number S of servers, at most so many, with which the sawtooth fits the
 * rates best; or that none fits. */
void throughput_say_sawtooth(const struct throughput *t, const char *attribute,
                             const struct throughput_rates *r, unsigned most);

/* True if nothing failed.  An error becomes the reason of the finding and is
 * forgotten, unless the device failed; what the device takes no such
 * instruction for is skipped. */
bool throughput_excuse(struct lab *lab, struct finding *finding);

/* What the GPU does over about so many seconds, with a block on each SM, given
 * what one does in a cycle: the finding, with clock, power and throttling.
 * Where the device tells no power a long run would tell no more than a short
 * one: then it is that of an SM by their number and clock. */
void throughput_gpu(const struct throughput *t, double seconds, double rate,
                    struct finding *finding);

#endif
