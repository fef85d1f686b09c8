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
#ifndef SONDE_STUDY_TERRAIN_H
#define SONDE_STUDY_TERRAIN_H

#include "base/buf.h"
#include "study/study.h"

struct terrain {
    struct lab *lab;
    const char *reader;    /* of the probe `visit`: "global.cg" */
    uint64_t origin, room; /* offsets that may be used: in one page window */
    uint64_t skew;
    double sigma; /* of one load's cycles, without spikes; 0: not known yet */
    double *spreads;  /* of each place, where they are wanted; else NULL */
    double spread;    /* of one excess from take to take, where places agree */
    char *experiment; /* the last; the terrain's */
};

void terrain_done(struct terrain *terrain);

/*
 * Places pitch + skew apart, so many, beginning `start` after the origin.  For
 * pitches that are a page, skews of more than half a page would come to the
 * next: after `chunk` places they begin again (0: never).  The tour is made
 * `subs` times, each time `sub_pitch` further: so a TLB of larger pages is
 * asked by pages that the one before it has lost.
 */
struct tour {
    uint64_t start, pitch, count, chunk;
    uint64_t subs, sub_pitch; /* 0 counts as 1 */
};

uint64_t tour_place(const struct terrain *terrain, const struct tour *tour,
                    uint64_t i);
/* As many as there is room for, but no more than `most`. */
uint64_t tour_most(const struct terrain *terrain, uint64_t start,
                   uint64_t pitch, uint64_t most);
/* Adds a step of the script: `how` is "", "!", "1@", "4x!" … . */
void tour_write(const struct terrain *terrain, const struct tour *tour,
                const char *how, struct buf *steps);

/* Runs a script, which is freed; cycles of the loads that it keeps are the
 * caller's to free. */
int terrain_visit(struct terrain *terrain, struct buf *steps, double **cycles,
                  size_t *count, struct error *err);

enum terrain_ask { ASK_PAGE, ASK_DATA };

/*
 * Median excess, over `takes` laps, of the places of ascending `ages` (1: the
 * last of the lap); ASK_DATA: after another load of the page, so that only data
 * that is no longer there costs more.
 */
int terrain_ages(struct terrain *terrain, const struct tour *lap,
                 enum terrain_ask ask, const uint64_t *ages, size_t count,
                 unsigned takes, double *excess, struct error *err);

/*
 * The same of places in order: each of `scan` is looked for once, after it was
 * brought in and a lap over `flood` has pushed its page out.
 */
int terrain_scan(struct terrain *terrain, const struct tour *scan,
                 const struct tour *flood, unsigned takes, double *excess,
                 struct error *err);

/* The same of `count` places of a lap from the place `from` on, in order, after
 * it has settled; those before are visited, too. */
int terrain_laps(struct terrain *terrain, const struct tour *lap, uint64_t from,
                 size_t count, unsigned takes, double *excess,
                 struct error *err);

/* The same of places of the lap in any order, after it has settled. */
int terrain_order(struct terrain *terrain, const struct tour *lap,
                  const uint32_t *places, size_t count, unsigned takes,
                  double *excess, struct error *err);

/* How often a lap is made so that a step of so many cycles is sure. */
unsigned terrain_takes(const struct terrain *terrain, double step);

#endif
