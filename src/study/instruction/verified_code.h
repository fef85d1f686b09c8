/*
 * What is timed, a row of the instruction table or a user's snippet, and what
 * the machine code of its timed copies shows.
 */
#ifndef SONDE_STUDY_INSTRUCTION_VERIFIED_CODE_H
#define SONDE_STUDY_INSTRUCTION_VERIFIED_CODE_H

#include "probe/run/snippet_kernel.h"
#include "ptx/instruction.h"
#include "ptx/listing.h"
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

/* A row of the table; `words` is room for the words of its experiments. */
struct subject subject_row(const struct instruction *row, char *words,
                           size_t room);
/* The same with the copies that a throughput takes: fewer of what is long,
 * since the chains multiply the code, which must fit instruction caches. */
struct subject subject_of_rate(const struct subject *subject);

/* Chains of most of the steps to saturation, whose machine code is read. */
enum { STEPPED_CHAINS = 4 };

/* Copies of a chain in the short region. */
int subject_copies(const struct subject *subject, unsigned chains);

/* Experiments of a subject, to have their kernels compiled beforehand; the
 * caller frees each. */
char *subject_experiment(const struct subject *subject, const char *probe,
                         unsigned level, enum instruction_form form,
                         unsigned chains, unsigned warps);

/* What the machine code of the timed regions shows. */
enum code_verdict {
    CODE_UNREAD,   /* the device shows none, or it is of an older format */
    CODE_VERIFIED, /* it is what it claims */
    CODE_REFUSED   /* it is not: `why` says what it is instead */
};

struct code_reading {
    enum code_verdict verdict;
    enum instruction_form form; /* of the copies that were read */
    char *listing; /* machine instructions of a copy: "IADD3", "4 MOV, IMAD" */
    unsigned length; /* … so many; 0: not read */
    bool chain;      /* each copy is seen to wait for the one before */
    char *why;       /* CODE_UNREAD and CODE_REFUSED */
    char *experiment;
};
void code_reading_free(struct code_reading *r);

/* Machine code of the kernel; `*canonical`, unless NULL, is the experiment that
 * shows it (free).  ERR_UNSUPPORTED where it cannot be read. */
int code_listing(struct lab *lab, const struct subject *subject, unsigned level,
                 enum instruction_form form, unsigned chains,
                 struct listing *listing, char **canonical, struct error *err);

/* Finds the form of copies whose machine code is verified, or reads the first
 * one.  ERR_PTX and other errors of the assembler are handed on. */
int code_verify(struct lab *lab, const struct subject *subject, unsigned level,
                unsigned chains, struct code_reading *reading,
                struct error *err);

/* Says of a finding what its machine code is; takes the experiment as evidence.
 */
void code_say(struct finding *finding, const struct code_reading *code);

/*
 * Kernels compile on all cores of the host when many are asked for at once,
 * and which form a copy has in the end shows only when the first is compiled.
 * So a table of subjects goes through three stages, each of which adds its
 * experiments for all of them and then prepares.
 */
struct code_texts {
    char **at;
    size_t count;
};
/* Takes the text of a further experiment. */
void code_texts_add(struct code_texts *texts, char *text);
void code_first_form(const struct subject *subject, unsigned level,
                     struct code_texts *texts);
void code_other_forms(struct lab *lab, const struct subject *subject,
                      unsigned level, struct code_texts *texts);
void code_rate_forms(struct lab *lab, const struct subject *subject,
                     unsigned level, struct code_texts *texts);
/* Compiles them, and empties the list. */
void code_prepare(struct lab *lab, struct code_texts *texts);

#endif
