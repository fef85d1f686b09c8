/*
 * Calls of random functions, and what each cache of code on their way was asked
 * for and answered.
 *
 * A call costs what the nearest cache that has its line costs.  That one and
 * those before it were asked, those behind it were not; and where a call missed
 * the nearest cache, the lines that are fetched ahead go through the same
 * caches, unseen.  What the caches hold of those, models say of caches that are
 * known already.
 */
#ifndef SONDE_STUDY_CODE_TRACE_H
#define SONDE_STUDY_CODE_TRACE_H

#include "analysis/structure/trace_fit.h"
#include "study/lab.h"

/* Functions lie so far apart, and calls at the end of one run through no more
 * than a line, or a part of it, of 32 B. */
enum { CODE_PLACE = 128, CODE_TAIL = CODE_PLACE - 32 };
/* At multiples of it functions have two halves that can be called alone. */
enum { CODE_HALVED = 1024, CODE_HALF_TAIL = 32 };
/* Of the pool all but a last line is used. */
enum { CODE_POOL = 254 * 1024 };
/* What two levels cost differs by more than this part of it. */
extern const double code_levels_apart;

/* Calls that cost so much, of a launch that fits a turn beside another process:
 * an H200's lasts 4.06 million cycles, and what is around a call takes 700. */
uint64_t code_calls_most(double cycles);

/* What a call costs that a level serves, and that returns to a line or two of
 * the loop which the nearest cache has no more; cycles, up to so many off. */
struct code_late {
    size_t level;
    double cycles, within;
};
enum { CODE_LATES_MOST = 2 * CODE_LEVELS_MAX };

/* What is known of the caches. */
struct code_path {
    size_t levels;
    double
        limit[CODE_LEVELS_MAX]; /* cycles of a call that misses the level … */
    struct code_late late[CODE_LATES_MOST]; /* … but for those, which no other
                                               call costs */
    size_t lates;
    uint64_t line; /* of the nearest, B … */
    /* … so many of which are fetched ahead, to each level; to the nearest from
     * the next one; and whether calls that hit do so, too. */
    uint64_t ahead[CODE_LEVELS_MAX], near;
    bool on_hits;
    struct trace_fit fit[CODE_LEVELS_MAX]; /* of those that are known … */
    uint64_t sector[CODE_LEVELS_MAX];      /* … that is not 0 */
};

struct code_calls {
    uint64_t functions; /* so many in a row … */
    bool uneven;        /* … or of twice as many … */
    bool halves;        /* … with halves of those that have them … */
    uint64_t apart;     /* … or so many KiB apart, each half of which alone */
    const struct trace_fit *fitting; /* … or as many as fit in that cache … */
    uint64_t ahead; /* … with so many lines that are fetched ahead … */
    bool spare; /* … and a way for lines of the loop, or three where some are …
                 */
    uint64_t less;      /* … and so many ways less … */
    uint64_t more_ways; /* … or so many more, and none spare … */
    bool alike;     /* … and numbers that are alike in as many low bits as may
                       be … */
    unsigned again; /* … the same as so many launches before */
    uint64_t most;  /* calls that fit a launch */
    unsigned take;  /* a number that makes the order another */
    unsigned more;  /* laps of the same order after the first */
};

/* Calls of functions at random. */
struct code_draws {
    const double *cycles, *offset;
    size_t count, settle; /* of all laps; the first `settle` fill the caches */
    uint64_t functions;
    const char *experiment;
};

struct code_draws code_draw(struct lab *lab, const struct code_path *path,
                            const struct code_calls *calls);
/* Whether what the call cost says where its line was. */
bool code_judged(const struct code_draws *draws, size_t i);

/* Those that the call is one of; NULL: none. */
const struct code_late *code_late_of(const struct code_path *path,
                                     double cycles);
/* Which level had a call's line; the number of levels: none. */
size_t code_served(const struct code_path *path, double cycles);

/* What a level was asked for; the ones before it are known. */
struct trace code_trace(struct lab *lab, const struct code_path *path,
                        const struct code_draws *draws, size_t level);

#endif
