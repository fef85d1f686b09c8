/*
 * What the files of the study `tlb` share: the question, and the steps by which
 * it is answered, each in a file of its own.
 *
 *     tlb_profile  what a page costs by its age: the levels
 *     tlb_page     the page of an entry
 *     tlb_entries  how many pages a level holds
 *     tlb_sets     how they are dealt to sets
 *     tlb_policy   which page of a set makes room
 */
#ifndef SONDE_STUDY_TRANSLATION_TLB_H
#define SONDE_STUDY_TRANSLATION_TLB_H

#include "model/cache.h"
#include "study/translation/page_sweep.h"

enum tlb_answer {
    TLB_ENTRIES,
    TLB_PAGE,
    TLB_REACH,
    TLB_PENALTY,
    TLB_SETS,
    TLB_WAYS,
    TLB_SET_WAYS,
    TLB_POLICY,
    TLB_ANSWERS
};

/* Places that are looked at in one launch, and of one lap. */
enum { LOOKS_MOST = 1200, LOOKED_MOST = 4 * LOOKS_MOST };
enum { SETS_LISTED = 64 };

/* How the pages of a lap are dealt to sets, as far as it showed. */
struct tlb_deal {
    uint64_t ways[SETS_LISTED];
    size_t sets, steps;
    uint64_t dealt;         /* entries of those sets */
    bool slow[LOOKED_MOST]; /* places, at the last step */
    uint8_t set_of[LOOKED_MOST];
};

struct tlb_question {
    struct lab *lab;
    struct fact_tlbs *t;
    const struct fact_memory *memory;
    struct page_sweep sweep;
    uint64_t line; /* of the cache that holds the data */
    size_t shown;  /* levels: more than may be named */
    struct finding *finding[TLBS_MOST][TLB_ANSWERS];
    struct tlb_deal *deals; /* of each level */
    enum cache_policy policy[TLBS_MOST];
    bool known[TLBS_MOST]; /* the policy */
};

/* ---- answers ----------------------------------------------------------- */

extern const char *const tlb_components[TLBS_MOST + 1];
extern const struct answer tlb_answers[TLB_ANSWERS + 1];

bool tlb_is_found(const struct tlb_question *q, size_t level,
                  enum tlb_answer which);
/* Measured: the number, or `value`; the last experiment shows it. */
void tlb_found(struct tlb_question *q, size_t level, enum tlb_answer which,
               double number);
void tlb_found_value(struct tlb_question *q, size_t level,
                     enum tlb_answer which, struct value value);
/* Why the answers from `first` to `last` that are open are not measured. */
void tlb_none(struct tlb_question *q, size_t level, enum tlb_answer first,
              enum tlb_answer last, const char *why);

/* ---- what levels cost -------------------------------------------------- */

/* Cycles that a miss of the level costs more than a hit of it. */
double tlb_step(const struct fact_tlbs *t, size_t level);
/* Cycles that are between the two. */
double tlb_middle(const struct fact_tlbs *t, size_t level);
/* As many laps over so many places as a question may take. */
unsigned tlb_takes_most(uint64_t lap);
/* … and as it wants to tell hits and misses of the level apart. */
unsigned tlb_takes(const struct tlb_question *q, size_t level, uint64_t lap);
/* Whether these tell them apart. */
bool tlb_tells(const struct tlb_question *q, size_t level, uint64_t lap);

/* ---- the steps --------------------------------------------------------- */

/* Finds the levels; returns how far was looked, in pitches. */
uint64_t tlb_find_levels(struct tlb_question *q);
void tlb_find_page(struct tlb_question *q, size_t level);
/* `*one_set`: so many pages more than fit are slow as one set would make. */
void tlb_find_entries(struct tlb_question *q, size_t level, bool *one_set);
void tlb_find_sets(struct tlb_question *q, size_t level);
void tlb_report_sets(struct tlb_question *q, size_t level, uint64_t sets,
                     uint64_t ways);
void tlb_find_policy(struct tlb_question *q, size_t level);

/* ---- laps over pages of a level ---------------------------------------- */

uint64_t tlb_pages_most(const struct tlb_question *q, size_t level);
/*
 * A lap over so many pages of the level.  If the TLB before it could hold them
 * all, it is made over further parts of the same pages until it cannot.
 */
struct page_tour tlb_lap(const struct tlb_question *q, size_t level,
                         uint64_t count);
/* Which places of a lap over `count` pages are slow, of the first `looked`;
 * returns how many. */
size_t tlb_find_misses(struct tlb_question *q, size_t level, uint64_t count,
                       uint64_t looked, bool *slow);

#endif
