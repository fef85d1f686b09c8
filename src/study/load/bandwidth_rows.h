/*
 * The places and ways whose bandwidth is asked, each a row, and how what was
 * found of one becomes a finding: what the studies `reads` and `bandwidth` have
 * in common.
 */
#ifndef SONDE_STUDY_LOAD_BANDWIDTH_ROWS_H
#define SONDE_STUDY_LOAD_BANDWIDTH_ROWS_H

#include "study/load/bandwidth_search.h"

enum bandwidth_row {
    L1_READ,
    READONLY_READ,
    TEXTURE_READ,
    CONST_READ,
    SHARED_READ,
    SHARED_WRITE,
    MEMORY_ROUND,
    MEMORY_ORDER,
    MEMORY_BULK,
    MEMORY_WRITE,
    MEMORY_COPY,
    MEMORY_TRIAD,
    L2_READ,
    L2_HALF,
    L2_BULK,
    L2_WRITE
};

/* So long an SM works at least: some hundred tiles of each warp. */
enum { SM_CYCLES = 32768 };

/* What the sets of memory and L2 are made of; and what was found of memory. */
struct memory {
    uint64_t l2, room; /* B; the latter of all arrays */
    struct bandwidth_found read, write;
};

/* A row, with how large its set is and how long it is measured at least. */
struct bandwidth_question bandwidth_question(struct lab *lab,
                                             const struct memory *memory,
                                             enum bandwidth_row row);

/* Finds out what there is, and takes the largest buffer, so that none is given
 * back on the way; false, and nothing of memory and L2 can be measured, where
 * L2's size is not told, without which nobody knows which set L2 holds. */
bool bandwidth_find_memory(struct lab *lab, struct memory *memory);

/* Why a rate is no number; NULL if it is one. */
const char *bandwidth_flaw(const struct bandwidth_rate *rate);
/* How it was measured, into the finding's protocol. */
void bandwidth_say_setup(struct finding *f, const struct bandwidth_question *q,
                         const struct bandwidth_setup *s);
/* Says what was found; false if that is no number. */
bool bandwidth_report(const struct bandwidth_question *q,
                      const struct bandwidth_found *found);
/* A GPU without such loads, or too little memory, is no failure; true if that
 * is why nothing was measured. */
bool bandwidth_was_excused(const struct bandwidth_question *q);
/* Searches, measures and reports; the value is 0 if there is none. */
struct bandwidth_found bandwidth_ask(const struct bandwidth_question *q,
                                     const struct bandwidth_found *like);
/* What is no faster than memory may have come from there; but then it came
 * through L2, so it is a bound. */
void bandwidth_judge_l2(struct lab *lab, const char *attribute,
                        const struct bandwidth_found *l2,
                        const struct bandwidth_found *memory);
/* Asks and judges. */
struct bandwidth_found bandwidth_ask_l2(const struct bandwidth_question *q,
                                        const struct bandwidth_found *memory);

/* What one study hands to another, and what it makes of that. */
struct fact_reading bandwidth_reading(const struct bandwidth_found *found);
struct bandwidth_found bandwidth_known(const struct fact_reading *reading,
                                       unsigned sms);

#endif
