/*
 * Loads on many pages, so that it is translation that differs from load to
 * load, and not where the data is: each step is a page, or a few, and a line
 * more (`skew`), so that lines lie in different sets of the cache that has
 * them.
 *
 * What a load costs more than the same load made again at once is its excess:
 * the second finds line and translation where the first has put them.  So an
 * address that is farther from the SM than others does not look slow.
 *
 * After a lap over many pages the page that was visited a pages ago (its age)
 * is looked for.  What keeps the latest pages has all ages up to its entries.
 */
#ifndef SONDE_STUDY_TRANSLATION_PAGE_SWEEP_H
#define SONDE_STUDY_TRANSLATION_PAGE_SWEEP_H

#include "base/buf.h"
#include "study/lab.h"

struct page_sweep {
    struct lab *lab;
    const char *reader;    /* of the probe `visit`: "global.cg" */
    uint64_t origin, room; /* offsets that may be used: in one page window */
    uint64_t skew;
    double sigma;           /* of one load's cycles, without spikes */
    double disturbed;       /* the share of loads that are spikes */
    bool settled;           /* these are of pages, and not what others found */
    double spread;          /* of one excess from take to take, on average */
    const double *spreads;  /* the same of each place of the last question */
    const char *experiment; /* the last */
};

/*
 * Places pitch + skew apart, so many, beginning `start` after the origin.  For
 * pitches that are a page, skews of more than half a page would come to the
 * next: after `chunk` places they begin again (0: never).  The tour is made
 * `subs` times, each time `sub_pitch` further: so a TLB of larger pages is
 * asked by pages that the one before it has lost.
 */
struct page_tour {
    uint64_t start, pitch, count, chunk;
    uint64_t subs, sub_pitch; /* 0 counts as 1 */
};

uint64_t page_tour_place(const struct page_sweep *sweep,
                         const struct page_tour *tour, uint64_t i);
/* As many as there is room for, but no more than `most`. */
uint64_t page_tour_most(const struct page_sweep *sweep, uint64_t start,
                        uint64_t pitch, uint64_t most);
/* Adds a step of the script: `how` is "", "!", "1@", "4x!" … . */
void page_tour_write(const struct page_sweep *sweep,
                     const struct page_tour *tour, const char *how,
                     struct buf *steps);

/* Runs a script, which is freed: cycles of the loads that it keeps. */
struct column page_sweep_visit(struct page_sweep *sweep, struct buf *steps);

enum page_sweep_ask { ASK_PAGE, ASK_DATA };

/* Places of a lap that are looked for: `count` of them. */
struct page_looks {
    const uint64_t *ages; /* ascending; 1: the last of the lap */
    size_t count;
};

/*
 * Median excess, over `takes` laps, of the places of those ages; ASK_DATA:
 * after another load of the page, so that only data that is no longer there
 * costs more.
 */
const double *page_sweep_ages(struct page_sweep *sweep,
                              const struct page_tour *lap,
                              enum page_sweep_ask ask,
                              const struct page_looks *looks, unsigned takes);

/*
 * The same of places in order: each of `scan` is looked for once, after it was
 * brought in and a lap over `flood` has pushed its page out.
 */
const double *page_sweep_scan(struct page_sweep *sweep,
                              const struct page_tour *scan,
                              const struct page_tour *flood, unsigned takes);

/* The same of `count` places of a lap from the place `from` on, in order, after
 * it has settled; those before are visited, too. */
const double *page_sweep_laps(struct page_sweep *sweep,
                              const struct page_tour *lap, uint64_t from,
                              size_t count, unsigned takes);

/* The same of places of the lap in any order, after it has settled. */
const double *page_sweep_order(struct page_sweep *sweep,
                               const struct page_tour *lap,
                               const uint32_t *places, size_t count,
                               unsigned takes);

/* How many takes make hits and misses that differ by `step` sure. */
double page_sweep_takes(const struct page_sweep *sweep, double step);
/* The fewest, an odd number, of which half are disturbed with less than this
 * chance. */
unsigned page_sweep_least(const struct page_sweep *sweep, double chance);
/* How far a median of so many excesses strays, in cycles. */
double page_sweep_error(const struct page_sweep *sweep, unsigned takes);

#endif
