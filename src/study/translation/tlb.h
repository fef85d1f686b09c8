/*
 * What the files of the study `tlb` share.  One piece of memory is mapped at
 * very many addresses, so that every load finds the same line in the same cache
 * and only its translation differs.
 *
 *     tlb_places    which addresses, and what loads of them cost
 *     tlb_pool      which of them are for what
 *     tlb_levels    how many costs there are: the levels
 *     tlb_regions   what comes with another: pages, regions, how many entries
 *     tlb_fit       whether places stay together
 *     tlb_conflict  which places push one out: the ways of its set
 *     tlb_sets      which others are of its set: the index
 *     tlb_overfill  sets by what one place too many in a row makes miss
 *     tlb_large     both, where there are a thousand entries and more
 *     tlb_policy    which entry of a set makes room
 *     tlb_sharing   on which SMs others push it out, too
 */
#ifndef SONDE_STUDY_TRANSLATION_TLB_H
#define SONDE_STUDY_TRANSLATION_TLB_H

#include "analysis/structure/index_function.h"
#include "base/buf.h"
#include "model/cache.h"
#include "study/lab.h"

enum tlb_answer {
    TLB_ENTRIES,
    TLB_PAGE,
    TLB_REGION,
    TLB_REACH,
    TLB_PENALTY,
    TLB_SETS,
    TLB_WAYS,
    TLB_SET_WAYS,
    TLB_SET_BITS,
    TLB_POLICY,
    TLB_SMS_SHARING,
    TLB_ANSWERS
};

/* A place, and those that do not fit into its set of a level together with it;
 * without any one of them they do. */
struct tlb_conflict {
    uint32_t target;
    struct tlb_numbers set;
    struct tlb_numbers
        nearer;    /* push all of these out of the levels before … */
    unsigned laps; /* … in so many laps */
};
/* Targets whose conflicts are wanted in each level, and that there are; ways
 * that a set may have. */
enum { TLB_TARGETS = 3, TLB_TARGETS_MOST = 8, WAYS_MOST = 64 };
/* Distances of neighbours: a 32nd of a piece, twice as far, … 32 pieces. */
enum { TLB_DISTANCES = 11, TLB_HALVINGS = 5 };
/* Places of one mapping are different lines of memory, which must not come to a
 * few sets of a cache: each lies that much farther than the one before it.  The
 * smallest piece has 32 places that have each room for that. */
enum {
    TLB_SKEW = 256,
    TLB_PIECE_LEAST = TLB_SKEW << (TLB_DISTANCES - 1),
};

/* Places side by side, which push out of nearer levels and take few regions of
 * the one that is asked: so many that it is they that these hold after each
 * lap. */
struct tlb_row {
    uint64_t apart, count; /* B; 0: none */
    uint64_t first;        /* of those that push out */
};

struct tlb_question {
    struct lab *lab;
    struct tlb_row row;
    struct fact_tlbs *t;
    /* What a place costs more that far from one that has just come, the first
     * time, and when the first TLB has lost it. */
    double anew[TLB_DISTANCES], again[TLB_DISTANCES];
    size_t mapped;              /* so often neighbours were mapped again */
    size_t beside, beside_late; /* pairs for that, and disturbed ones */
    double sigma, disturbed;
    uint64_t window; /* B: all places lie in one of so many; 0: anywhere */
    uint64_t loads;  /* that conflicts of a level took */
    double late;     /* share of hits that look like misses, at least */
    double hit[TLBS_MOST], miss[TLBS_MOST]; /* cycles, of places at random */
    bool covered[TLBS_MOST]; /* hidden by what nearer levels have */
    bool halved[TLBS_MOST];  /* halves of what seemed to be regions are some */
    /* Members of a set that its index foretold are in no policy's order. */
    bool odd[TLBS_MOST];
    bool shared[TLBS_MOST]; /* its sets share room beside them */
    bool single[TLBS_MOST]; /* all places are of the set of the first target */
    /* By how much each line of a piece costs more than its first, one to a
     * unit, by how often the unit was halved; NULL: not asked. */
    const double *lines[TLB_HALVINGS + 1];
    size_t
        narrow; /* the first level of which several places may share a region */
    bool more;  /* some loads cost more than all levels, and not one cost */
    bool unclear; /* how many levels there are, or whether some SM shares one */
    bool apart;   /* what is asked of SMs takes longer than a turn of ours */
    const char *spared;     /* by what the last lap was disturbed */
    const char *experiment; /* the last */
    /* What shows an answer that is found later; NULL: the last. */
    const char *shown_by[TLBS_MOST][TLB_ANSWERS];
    struct tlb_conflict conflict[TLBS_MOST][TLB_TARGETS_MOST];
    const char *why[TLBS_MOST]; /* what ended the questions of a level */
    struct tlb_members *members[TLBS_MOST];
    struct index_function *index[TLBS_MOST]; /* XORs of its bits; NULL: none */
    struct finding *levels, *finding[TLBS_MOST][TLB_ANSWERS];
};

/* ---- places ------------------------------------------------------------ */

/* Cycles of what the script keeps; `more` are further parameters. */
struct column tlb_ask(struct tlb_question *q, const struct tlb_places *places,
                      const char *steps, const char *more, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds steps by which a reader ("1@", or "") loads the places; numbers in a row
 * are one step. */
void tlb_write(struct buf *steps, const char *reader,
               const struct tlb_numbers *numbers);

/* The same of what pushes out of nearer levels. */
void tlb_write_nearer(struct buf *steps, const char *reader,
                      const struct tlb_conflict *conflict);
/* How far from the first place one is. */
uint64_t tlb_address(const struct tlb_question *q, uint64_t number);
/* 1: an index brings two places to one set; 0: it does not; -1: they differ in
 * bits that it does not know. */
int tlb_same_set(const struct tlb_question *q, size_t level,
                 const struct index_function *f, uint64_t a, uint64_t b);
/* True if it brings them to one, or would if those bits did not matter. */
bool tlb_may_share_set(const struct tlb_question *q, size_t level,
                       const struct index_function *f, uint64_t a, uint64_t b);

/* So many places in a row, at that distance. */
struct tlb_places tlb_in_a_row(const struct tlb_question *q, uint64_t distance,
                               uint64_t places);
/* Adds laps over so many places from one on, and the row after each; 0: a
 * step. */
void tlb_write_laps(const struct tlb_question *q, uint64_t laps,
                    const char *kept, uint64_t from, uint64_t places,
                    struct buf *steps);
/* Adds a lap over so many places from one on, some of which are timed, so many
 * loads at least, and some before it. */
enum { TLB_TIMED_LEAST = 192 };
void tlb_write_lap(const struct tlb_question *q, struct buf *steps,
                   uint64_t from, uint64_t places);
/* The same, of which those side by side lie far apart in the order. */
void tlb_write_row(struct buf *steps, uint64_t places);
/* A single lap before what is timed, which nothing comes after. */
void tlb_write_short_row(struct buf *steps, uint64_t places);
/* The window of pages that places leave that lie some GiB apart, or less; 0 if
 * none. */
uint64_t tlb_window(struct tlb_question *q);

/* ---- the steps --------------------------------------------------------- */

/* What comes with the translation of another; the unit of places by that. */
void tlb_ask_neighbours(struct tlb_question *q);
void tlb_find_levels(struct tlb_question *q);
/* How many of a hidden level's regions fit beside the row; it is hidden no more
 * if any do. */
void tlb_uncover(struct tlb_question *q, size_t level);
void tlb_find_region(struct tlb_question *q, size_t level);
/* True if half of so many places miss that are more than half miss of; else
 * others made places miss when that was asked, and it is asked again. */
bool tlb_confirm_about(struct tlb_question *q, size_t level, uint64_t places);
/* 1: what fits of regions in a row tells that they are narrower, each half has
 * an entry of its own; 0: it does not; -1: that cannot be told. */
int tlb_halves_differ(struct tlb_question *q, size_t level);
/* What an index tells of a region, or no index; where that was not asked. */
void tlb_conclude_region(struct tlb_question *q, size_t level);
/* The target's set in the level, from what is known of those before. */
void tlb_find_ways(struct tlb_question *q, size_t level);
void tlb_find_sets(struct tlb_question *q, size_t level);
/* How many sets one place more than fit in a row tells, and the ways of each;
 * 0: it does not. */
size_t tlb_overfill(struct tlb_question *q, size_t level, double **ways);
/* The same of sets that share room beside them, all of so many ways; what fits
 * in a row is then what fits into them. */
size_t tlb_beside_room(struct tlb_question *q, size_t level, uint64_t *ways);
void tlb_report_index(struct tlb_question *q, size_t level,
                      const struct index_function *f);
/* Both of a large TLB. */
void tlb_find_large(struct tlb_question *q, size_t level);
void tlb_find_policy(struct tlb_question *q, size_t level);
void tlb_find_sharing(struct tlb_question *q, size_t level);

/* ---- which places are for what ------------------------------------------ */

/* Of so many each question begins with all pushed out. */
bool tlb_is_large(const struct tlb_question *q, size_t level);
/* Numbers below it may be loaded; as many push out what was there.  Of a large
 * TLB so many after them push all out. */
uint64_t tlb_pool(const struct tlb_question *q, size_t level);
uint64_t tlb_flush(const struct tlb_question *q, size_t level);
uint64_t tlb_places_free(const struct tlb_question *q);
uint64_t tlb_places_in_all(const struct tlb_question *q);
uint32_t tlb_target(const struct tlb_question *q, size_t i);
void tlb_add(struct tlb_numbers *n, uint64_t number);
void tlb_take_out(struct tlb_numbers *n, size_t i);
bool tlb_lists(const struct tlb_numbers *n, uint32_t number);
/* Lays the row that pushes out of levels nearer than that, or none. */
void tlb_lay_row(struct tlb_question *q, size_t level);
/* Regions of the level that the row takes. */
uint64_t tlb_taken(const struct tlb_question *q, size_t level);
/* What pushes a target out of nearer levels; false if that would be too much.
 */
bool tlb_set_nearer(const struct tlb_question *q, size_t level,
                    struct tlb_conflict *conflict);

/* ---- do places fit ----------------------------------------------------- */

/* Cycles that tell what misses, and how many hits cost more even so; whether
 * its victims are random. */
void tlb_find_middle(struct tlb_question *q, size_t level);
bool tlb_is_by_chance(struct tlb_question *q, size_t level);
/* Laps of single loads, of which most are not late: one, or no fewer. */
enum { TLB_FEW_LAPS = 5 };
unsigned tlb_laps(const struct tlb_question *q, size_t level);
/* Laps that a script has room for, of so many steps and kept loads; and steps
 * that push out of nearer levels: one for each run, in each lap. */
unsigned tlb_room(const struct tlb_question *q, size_t steps, size_t kept);
size_t tlb_steps_of(const struct tlb_conflict *c);
/* What a load costs by its laps, from a hit (0) to a miss (1); whether that is
 * a miss. */
double tlb_share(const struct tlb_question *q, size_t level,
                 const double *cycles, size_t laps, size_t stride);
bool tlb_is_slow(const struct tlb_question *q, size_t level,
                 const double *cycles, size_t laps, size_t stride);
/* True if the target and those that are listed stay together, with the first
 * places of the pool, while what pushes out of nearer levels is loaded. */
bool tlb_fit(struct tlb_question *q, size_t level,
             const struct tlb_conflict *conflict,
             const struct tlb_numbers *list, uint64_t pool);
/* The same where what pushes out of nearer levels may be of their set, too, and
 * is not timed: of victims at random those miss in some laps, and none that is
 * timed. */
bool tlb_surely_fit(struct tlb_question *q, size_t level,
                    const struct tlb_conflict *conflict,
                    const struct tlb_numbers *list);
/* False if these may stay together: some laps miss none of them. */
bool tlb_overflows(struct tlb_question *q, size_t level,
                   const struct tlb_conflict *conflict,
                   const struct tlb_numbers *list);
/* … and so many in a row. */
bool tlb_ring_fits(struct tlb_question *q, size_t level, uint64_t from,
                   uint64_t count);
/* Which of the numbers are of the target's set: those that do not fit with all
 * but one of its conflict set. */
enum { TLB_AT_ONCE = 64 };
void tlb_ask_members(struct tlb_question *q, size_t level,
                     const struct tlb_conflict *c, const uint32_t *number,
                     size_t count, bool *member);
/* Loads that this takes for one of them. */
uint64_t tlb_loads_of_member(const struct tlb_question *q,
                             const struct tlb_conflict *c);

/* ---- conflicts --------------------------------------------------------- */

/* Finds the conflict of a target; false if no such set shows. */
bool tlb_find_conflict(struct tlb_question *q, size_t level,
                       struct tlb_conflict *conflict);
/* True if as many places fit, or do not, whichever chance draws; not asked
 * where there are so many that rings of others tell. */
bool tlb_draws_agree(struct tlb_question *q, size_t level, uint64_t count,
                     bool fit);
/* True if what one's set holds beyond its ways the other's holds, too. */
bool tlb_share_room(struct tlb_question *q, size_t level,
                    const struct tlb_conflict *a, const struct tlb_conflict *b);
/* Says so: conflicts then tell the ways of none. */
void tlb_say_shared(struct tlb_question *q, size_t level);
/* True if as many as fit of one's set lose some to these. */
bool tlb_loses_to(struct tlb_question *q, size_t level,
                  const struct tlb_conflict *one,
                  const struct tlb_numbers *others);
const struct tlb_conflict *tlb_conflict_of(const struct tlb_question *q,
                                           size_t level, size_t i);
/* ---- answers ----------------------------------------------------------- */

extern const char *const tlb_components[TLBS_MOST + 1];
extern const struct answer tlb_answers[];

/* As many entries as a level may have, of what about half miss of. */
double tlb_entries_most(const struct tlb_facts *tlb);
bool tlb_is_found(const struct tlb_question *q, size_t level,
                  enum tlb_answer which);
/* Measured: the number, or `value`; `shown_by` or the last experiment shows it.
 */
void tlb_found(struct tlb_question *q, size_t level, enum tlb_answer which,
               double number);
void tlb_found_value(struct tlb_question *q, size_t level,
                     enum tlb_answer which, struct value value);
/* Why the answers from `first` to `last` that are open are not measured. */
void tlb_none(struct tlb_question *q, size_t level, enum tlb_answer first,
              enum tlb_answer last, const char *why);

#endif
