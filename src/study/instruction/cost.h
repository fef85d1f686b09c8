/*
 * What an instruction costs, whoever asks: the table of `isa` or a user's
 * snippet.  Latency comes from one chain in one warp, throughput from chains
 * times warps until more of them change nothing; the machine code of what was
 * timed says whether a number may be believed.
 */
#ifndef SONDE_STUDY_INSTRUCTION_COST_H
#define SONDE_STUDY_INSTRUCTION_COST_H

#include "study/instruction/verified_code.h"

/* What is timed, at a level of the assembler, by copies whose machine code was
 * read. */
struct timed {
    const struct subject *subject;
    unsigned level;
    const struct code_reading *code;
};

/* Cycles of one copy in a chain, of those that were read. */
struct cost cost_latency(struct lab *lab, const struct timed *timed);

/* The number of lanes that an SM may have for it: the nearest of 2^k and
 * 3 · 2^k, if it is near; 0 if none is. */
double cost_pipe(double rate);

struct saturation {
    struct cost rate; /* results per cycle and SM */
    unsigned chains, warps;
    bool reached; /* the last step up changed less than a hundredth */
};

/* True if nothing failed.  An error becomes the reason of the finding and is
 * forgotten, unless the device failed or does not take the kernel. */
bool cost_excuse(struct lab *lab, struct finding *finding);
/* A finding of what a copy costs in a chain; false if its machine code is not
 * what it claims, or of an error, which is left in the lab. */
bool cost_ask_latency(struct lab *lab, const struct subject *subject,
                      unsigned level, struct finding *finding);
/* A finding of the rate with so many chains and warps, or (NULL) with what
 * saturates; or why there is none. */
void cost_ask_throughput(struct lab *lab, const struct subject *subject,
                         unsigned level, const struct saturation *with,
                         struct finding *finding);
/* Findings throughput_by_warps.CHAINS: a list for 1, 2, … 32 warps. */
void cost_parallelism(struct lab *lab, const struct subject *subject,
                      unsigned level, const char *component);

#endif
