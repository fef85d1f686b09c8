/*
 * A held-out experiment: one that no study asks, whose every load the simulated
 * GPU that was made of the findings foretells.  It is run on the device once
 * and on that GPU, and on others that differ from it by one value.
 */
#ifndef SONDE_TWIN_TRIAL_H
#define SONDE_TWIN_TRIAL_H

#include "model/cache.h"
#include "probe/run.h"

/* Of a load that noise may have brought to another level. */
enum { TRIAL_CUTS = 2, TRIAL_UNCLEAR = 255 };

/* What is asked of a component: who loads, and what misses cost more. */
struct asked {
    const char *reader; /* of the probe `visit` */
    const char *extra;  /* its further parameters, "" if none */
    /* Cycles beyond a hit of the nearest cache from which on a load was found
     * a level farther; as many as are not 0. */
    double cuts[TRIAL_CUTS];
};

struct trial {
    char *text;
    const char *what; /* in words: "as many lines as a set has ways" */
    unsigned runs;    /* of which the median counts */
    bool alike;       /* runs of a twin are, which has no noise: nothing is left
                         to chance */
    bool laps;        /* its loads are, and none is in random order */
    bool fits;        /* all its lines do, and stay once they came */
    bool open;        /* its policy goes by marks that nothing could settle */
    /* Whatever was in its sets, they are in one state, if they have so many
     * ways, 0: not; and if their policy goes by marks (nru, rrip), too. */
    size_t settled;
    bool marks_settled;
    struct asked asked;
    /* Places of its sets, as the script counts them: what was loaded of them
     * before leaves marks that a policy goes by. */
    uint64_t *places;
    size_t place_count;
    /* Of the device: where each load was found, 0 nearest. */
    unsigned char *found;
    size_t count, unclear;
    double mean;   /* level, on average */
    double varied; /* share of loads that not all runs found there */
};

/* Runs it on the device; ERR_UNSUPPORTED where that cannot do it. */
int trial_measure(struct trial *trial, struct prober *device,
                  struct error *err);
/* The device's loads beside those of another one. */
struct compared {
    size_t wrong; /* that one finds them elsewhere */
    /* So do some, and tell nothing: not all states of the sets have them there,
     * or two runs of the other device differ in as many by chance. */
    size_t excused;
    /* Chance chooses victims: of no load it is asked where it is found, shares
     * are compared, and all are wrong or none is. */
    bool by_share;
    bool strained; /* each load is explained, by some state that the sets may
                      have been in, but all by none */
};
/* With those of a simulated device that has a cache of this shape. */
int trial_compare(const struct trial *trial, struct prober *twin,
                  const struct cache_shape *shape, struct compared *compared,
                  struct error *err);
/* How many loads were asked one by one where they are found. */
size_t trial_asked(const struct trial *trial, const struct compared *compared);
/* An experiment is not foretold of which more loads are wrong than a disturbed
 * one or two; of an open one, than marks of other states make: of one L1.5
 * under nru behind an rrip 2 to 3 % of loads in random order. */
bool trial_fails(const struct trial *trial, size_t wrong);
void trial_free(struct trial *trial);

#endif
