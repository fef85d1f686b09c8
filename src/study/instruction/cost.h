/*
 * What an instruction costs, whoever asks: the table of `isa` or a user's
 * snippet.  Latency comes from one chain in one warp, throughput from chains
 * times warps until more of them change nothing; the machine code of what was
 * timed says whether a number may be believed.
 */
#ifndef SONDE_STUDY_INSTRUCTION_COST_H
#define SONDE_STUDY_INSTRUCTION_COST_H

#include "study/instruction/verified_code.h"

/* Cycles of one copy in a chain, of those that were read. */
int cost_latency(struct lab *lab, const struct subject *subject, unsigned level,
                 const struct code_reading *code, struct old_cost *cost,
                 struct error *err);

/* Copies of all lanes in a cycle on one SM, with so many chains and warps. */
int cost_rate(struct lab *lab, const struct subject *subject, unsigned level,
              const struct code_reading *code, unsigned chains, unsigned warps,
              struct old_cost *rate, struct error *err);

/* The same with one warp, two, … `most`; `*experiment` is the last one (free).
 */
int cost_rates(struct lab *lab, const struct subject *subject, unsigned level,
               const struct code_reading *code, unsigned chains, unsigned most,
               double *rates, char **experiment, struct error *err);

/* The number of lanes that an SM may have for it: the nearest of 2^k and
 * 3 · 2^k, if it is near; 0 if none is. */
double cost_pipe(double rate);

struct saturation {
    struct old_cost rate; /* results per cycle and SM; owns its experiment */
    unsigned chains, warps;
    bool reached; /* the last step up changed less than a hundredth */
};
int cost_throughput(struct lab *lab, const struct subject *subject,
                    unsigned level, const struct code_reading *code,
                    struct saturation *saturation, struct error *err);

/* The error as a finding that was not measured, and 0; that of a device that
 * failed, or does not take the kernel, is handed on all the same. */
int cost_excuse(struct finding *finding, struct error *err);
void cost_say_rate(struct finding *finding, const struct saturation *rate);
/* A finding of what saturates, or why there is none. */
int cost_ask_throughput(struct lab *lab, const struct subject *subject,
                        unsigned level, struct finding *finding,
                        struct error *err);
/* Findings throughput_by_warps.CHAINS: a list for 1, 2, … 32 warps. */
int cost_parallelism(struct lab *lab, const struct subject *subject,
                     unsigned level, const char *component, struct error *err);

#endif
