/* What the machine code of a subject's timed copies shows. */
#ifndef SONDE_STUDY_INSTRUCTION_VERIFIED_CODE_H
#define SONDE_STUDY_INSTRUCTION_VERIFIED_CODE_H

#include "ptx/sass/listing.h"
#include "study/instruction/subject.h"

/* What the machine code of the timed regions shows. */
enum code_verdict {
    CODE_UNREAD,   /* the device shows none, or it is of an older format */
    CODE_VERIFIED, /* it is what it claims */
    CODE_REFUSED   /* it is not: `why` says what it is instead */
};

struct code_reading {
    enum code_verdict verdict;
    enum instruction_form form; /* of the copies that were read */
    const char *listing;    /* instructions of a copy: "IADD3", "4 MOV, IMAD" */
    unsigned length;        /* … so many; 0: not read */
    bool chain;             /* each copy is seen to wait for the one before */
    const char *why;        /* CODE_UNREAD and CODE_REFUSED */
    const char *experiment; /* NULL: none was run */
};

/* Machine code of the kernel, for listing_free; false, and an error in the lab
 * (ERR_UNSUPPORTED where it cannot be read), if there is none.  `*experiment`,
 * unless NULL, is what shows it. */
bool code_listing(struct lab *lab, const struct code_layout *layout,
                  struct listing *listing, const char **experiment);

/* Finds the form of copies whose machine code is verified, or reads the first
 * one.  ERR_PTX and other errors of the assembler are left in the lab. */
struct code_reading code_verify(struct lab *lab, const struct subject *subject,
                                unsigned level, unsigned chains);

/* Says of a finding what its machine code is; takes the experiment as evidence.
 */
void code_say(struct finding *finding, const struct code_reading *code);
/* "not verified: …". */
void code_refuse(struct finding *finding, const struct code_reading *code);

/*
 * Kernels compile on all cores of the host when many are asked for at once,
 * and which form a copy has in the end shows only when the first is compiled.
 * So a table of subjects goes through three stages, each of which adds its
 * experiments for all of them and then prepares.
 */
struct code_texts {
    struct lab *lab;
    const char **at;
    size_t count, capacity;
};
void code_texts_add(struct code_texts *texts, const char *text);
void code_first_form(struct code_texts *texts, const struct subject *subject,
                     unsigned level);
void code_other_forms(struct code_texts *texts, const struct subject *subject,
                      unsigned level);
void code_rate_forms(struct code_texts *texts, const struct subject *subject,
                     unsigned level);
/* Compiles them, and empties the list. */
void code_prepare(struct code_texts *texts);

#endif
