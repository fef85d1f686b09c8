/*
 * What is timed: a row of the instruction table or a user's snippet, and how
 * copies of it are laid out.
 */
#ifndef SONDE_STUDY_INSTRUCTION_SUBJECT_H
#define SONDE_STUDY_INSTRUCTION_SUBJECT_H

#include "probe/run/snippet_kernel.h"
#include "ptx/instruction.h"
#include "study/lab.h"

enum { LEVELS = 5 }; /* of the assembler: 0 … 4 */

/* What is timed. */
struct subject {
    const char *words; /* of its experiments: "row=add.u32", "snippet='…'" */
    const char *machine; /* as of struct instruction */
    enum instruction_form form;
    bool only_form; /* no other is tried */
    bool swaps;     /* FORM_SWAP can be had */
    bool expands;
    bool helped; /* the chain holds another instruction, too */
    /* … or some that cost nothing, or another than its helper, which only
     * machine code can show. */
    bool mixed;
    bool by_register; /* copies depend on each other through a register */
    bool chained;     /* … or they follow each other in order */
    unsigned copies, results, merged;
    unsigned statements; /* of the snippet */
    unsigned laps;       /* of each repetition; 0: as usual */
};

/* A row of the table. */
struct subject subject_row(struct lab *lab, const struct instruction *row);
/* The same with the copies that a throughput takes: fewer of what is long,
 * since the chains multiply the code, which must fit instruction caches. */
struct subject subject_of_rate(const struct subject *subject);

/* Chains of most of the steps to saturation, whose machine code is read. */
enum { STEPPED_CHAINS = 4 };

/* How copies of a subject are laid out. */
struct code_layout {
    const struct subject *subject;
    unsigned level; /* of the assembler */
    enum instruction_form form;
    unsigned chains, warps; /* warps 0: not said */
};

/* Copies of a chain in the short region. */
int subject_copies(const struct subject *subject, unsigned chains);

/* The experiment of a probe with such copies. */
const char *subject_experiment(struct lab *lab, const char *probe,
                               const struct code_layout *layout);

#endif
