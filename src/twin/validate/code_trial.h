/*
 * Held-out experiments for one cache of code: functions are called of which the
 * findings say that they fit, or do not, and which of them miss is foretold.
 *
 * What no finding says hardly matters then.  Which calls get as far as this
 * cache is seen, since they cost what the one before adds.  What comes ahead
 * comes to sets of which no line is called, or is foretold as well, where the
 * nearest cache has too few sets for that.  Lines of the loop that calls may
 * be anywhere, and take a way of a few sets, which do not count.
 */
#ifndef SONDE_TWIN_CODE_TRIAL_H
#define SONDE_TWIN_CODE_TRIAL_H

#include "base/rng.h"
#include "probe/run.h"
#include "twin/validate/code_model.h"

enum code_kind {
    CODE_FITS,   /* as many lines as a set has ways, in turn */
    CODE_OVER,   /* a line more, and of each and the next one several places,
                    the last one first */
    CODE_DRAWN,  /* half as many again, at random */
    CODE_OFTEN,  /* in its stead where what comes ahead comes to all sets: a few
                    again and again between others */
    CODE_SHARED, /* beside halves of lines of constants */
    CODE_KINDS
};

/* What a call costs that hits, up to so much off, and returns to a line or two
 * of the loop that the nearest cache has no more: it may be more than a miss.
 */
struct code_late {
    double cycles, within;
    bool asked; /* it hits this cache, or else one before */
};
enum { CODE_LATES_MOST = 8 };

/* What is asked of a cache. */
struct code_asked {
    struct code_shape told;
    bool ordered;    /* its policy is known, and that can be modelled */
    bool patient;    /* victims may be of chance */
    uint64_t own;    /* ways of all sets that the loop may have */
    uint64_t sector; /* B that a call asks for */
    uint64_t reach;  /* B that come ahead */
    /* There are too few sets to keep lines from what comes ahead: places that
     * are called lie far apart, and so many lines more of the nearest cache's
     * come with one that it missed, or with each. */
    bool apart;
    uint64_t ahead;
    bool on_hits;
    double near, far; /* cycles of a call from which on it missed the cache
                         before it, and it */
    struct code_late late[CODE_LATES_MOST]; /* … but for those */
    size_t lates;
    double far_constant; /* … of a constant */
};

struct code_call {
    uint64_t at;
    size_t group;
    bool constant;
    bool asked; /* it came to the cache … */
    bool missed, judged;
};

struct code_trial {
    enum code_kind kind;
    char *text;
    /* Of places, by FUNCTION_UNIT: twice the number of their set, of those that
     * are looked at, and one more for what is called later in a block. */
    uint16_t *group;
    size_t groups;
    /* Of the device. */
    struct code_call *calls;
    size_t count;
};

/* Whether what is called in any set has lines come ahead to all. */
bool code_trial_is_apart(const struct code_asked *asked);
/* False where there are too few such lines, or it is not asked for them. */
bool code_trial_draw(struct code_trial *trial, enum code_kind kind,
                     const struct code_asked *asked, struct rng *rng);
int code_trial_measure(struct code_trial *trial, const struct code_asked *asked,
                       struct prober *device, struct error *err);
/* The share of calls that are not as such a cache foretells. */
double code_trial_wrong(const struct code_trial *trial,
                        const struct code_asked *asked,
                        const struct code_shape *shape);
/* The share that missed. */
double code_trial_missed(const struct code_trial *trial);
void code_trial_free(struct code_trial *trial);

extern const char *const code_kind_words[CODE_KINDS];

#endif
