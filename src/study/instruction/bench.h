/* What is asked of the study `bench`. */
#ifndef SONDE_STUDY_INSTRUCTION_BENCH_H
#define SONDE_STUDY_INSTRUCTION_BENCH_H

#include <stdbool.h>

#include "ptx/instruction.h"

struct bench_wish {
    const char *snippet, *setup, *values; /* "" for none of the last two */
    enum instruction_form form;
    unsigned levels;        /* of the assembler, as bits */
    unsigned chains, warps; /* of the throughput; 0: what saturates */
    bool parallelism;       /* also the table of chains by warps */
};

#endif
