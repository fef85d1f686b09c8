/*
 * Which lines push each other out: questions to one cache, asked through the
 * probe `visit`.
 *
 * What is asked holds for every index and every policy.  Lines fit if all of
 * them can be there at once: then, once they have settled, no load misses.  If
 * one set is asked for one line more than it has ways, one of them is always
 * out, so in each lap over them some load misses.  And a foreign line that
 * comes into a full set puts exactly one of its lines out.
 *
 * A question that cannot be answered fails in the lab as "unsupported", and
 * who asked may give it up (eviction_gave_up).  After an error answers are
 * without meaning, but each search that they steer ends.
 */
#ifndef SONDE_STUDY_CACHE_EVICTION_H
#define SONDE_STUDY_CACHE_EVICTION_H

#include "analysis/structure/policy.h"
#include "probe/experiment.h"
#include "study/lab.h"
#include "study/script.h"

/*
 * What lies in front of the cache that is asked (const_l1 of const_l15) is
 * emptied before a line is looked for, by loads of its own: so many runs of
 * `run.count` lines, one after the other, where some policies keep what was hit
 * from what was not each of them `twice`; and all of it `laps` times over,
 * since others leave some by chance.  Those of its lines that are of a set in
 * question count among that set's (geometry.c).
 */
struct front {
    struct segment run; /* the first; count 0: nothing lies in front */
    uint64_t runs, laps;
    bool twice;
    /* So many bytes from here on are not loaded; 0: all are. */
    uint64_t without, bytes_without;
    double answers; /* cycles: what costs less was answered by it */
    bool answered;  /* it did, in most loads of the last question */
};

struct eviction {
    struct lab *lab;
    const char *reader; /* of the probe `visit`: "global.ca" */
    uint64_t unit;      /* bytes of a line */
    uint64_t longest;   /* … which may be so long: others tell */
    uint64_t span;      /* offsets that may be used, B */
    bool lasting;       /* holds what was there before the launch */
    bool chancy;        /* victims are picked by chance */
    bool fresh;         /* holds nothing else when a launch begins */
    struct front front; /* a cache that answers before this one does */
    const char *homes;  /* of which its lines are (l2/homes.h); NULL: all are */
    const char *sides;  /* the parity in each page of those … */
    uint64_t side_bits; /* … of these address bits */
    /* Places are numbers of lines in a random order of so many bits, as of a
     * cache whose index deals whatever is near to all sets alike; 0: offsets.
     */
    unsigned strewn;
    uint64_t whole; /* the span of offsets, then */
    uint64_t alone; /* laps of others before a line is looked for; 0: usual */
    bool maps;      /* its lines can be mapped at several addresses */
    /* Offsets from `span` on are of the same memory, mapped 2^mapped bytes from
     * the first; 0: there are none. */
    unsigned mapped;
    uint64_t held;    /* lines that fit, at least */
    double hit, miss; /* cycles of loads in a visit */
    double disturbed; /* share of hits that look like misses, at most */
    /* Loads before each that is drawn (eviction_draw), which empty what lies in
     * front of most. */
    struct segments filler;
    size_t visits; /* questions so far; too many are given up, … */
    size_t more;   /* … and so many more */
    /* The last experiment, and the last that found lines to fit, or not. */
    const char *asked, *fits, *overflows;
};

/* True if what was asked could not be answered; it is forgotten then. */
bool eviction_gave_up(struct eviction *eviction);

/* Whether more lines than the first one's set has ways are in that set: of
 * `lines`, which may be none but it, and of those of the pool. */
bool eviction_crowds(struct eviction *eviction,
                     const struct script_lines *lines,
                     const struct segments *pool);
/* Whether a lap over all of them misses none, so that all are there at once, in
 * whichever sets; false also where disturbances hide it.  Of a cache that one
 * lap settles. */
bool eviction_all_stay(struct eviction *eviction,
                       const struct script_lines *lines,
                       const struct segments *pool);
/* From now on places are numbers in a random order: so many that one half of
 * them crowds each set of a cache of so many lines, and what is asked; false:
 * it has not so much memory.  The other half pushes everything out. */
bool eviction_strew(struct eviction *eviction, uint64_t lines);
/* Asks many times whether the pool crowds the line's set, and notes in `chancy`
 * if it does not always: victims are picked by chance. */
void eviction_watch(struct eviction *eviction, uint64_t line,
                    const struct segments *pool);

/* So many questions may be asked yet. */
size_t eviction_questions_left(const struct eviction *eviction);
/* Half as many questions more, once: of an index that is to be proved behind
 * another cache each pair takes four to nine, and there are a thousand; and of
 * unequal sets each line of a round is asked of each. */
void eviction_ask_more(struct eviction *eviction);

/* Whether any of `others` comes into the set that the `group` fills. */
bool eviction_evicts(struct eviction *eviction,
                     const struct script_lines *group,
                     const struct segment *others, size_t count);

/* Of lines that are loaded one after the other, each after the group has filled
 * its set again: which come into that set. */
enum eviction_came { CAME_UNKNOWN, CAME_IN, CAME_NOT };
void eviction_foretold(struct eviction *eviction,
                       const struct script_lines *group,
                       const struct script_lines *others,
                       enum eviction_came *came);

/* Whether a line that was loaded is another one at its other address. */
bool eviction_is_virtual(struct eviction *eviction);

/* What a hit costs among the lines: that of lines beside them. */
double eviction_base(struct eviction *eviction,
                     const struct script_lines *lines);

/* Loads of lines drawn at random from a list. */
struct eviction_draws {
    struct script_lines list;
    const struct script_lines *others; /* of the set, for one that lasts */
    double base;                       /* what a hit costs among them */
    /* All but the list's last line are there at first, and before the draws
     * each is loaded once; else nothing of the list is there. */
    bool stays;
    size_t visits;
    unsigned take;                    /* a number that makes the draws others */
    const struct script_lines *order; /* not NULL: these, not drawn */
};
/* How many a launch has room for, with what it loads between them. */
size_t eviction_draws_most(const struct eviction *eviction);

/* What each load was, in order, and whether it missed, but for draws that what
 * lies in front answered; returns how many there are: no more than visits (or
 * the order has) and lines of the list together. */
size_t eviction_draw(struct eviction *eviction,
                     const struct eviction_draws *draws,
                     struct policy_load *loads);

/* Whether the loads of `front` leave what lies there with none of the lines. */
bool eviction_front_empties(struct eviction *eviction,
                            const struct script_lines *lines);
/* Whether all others of these are asked of this cache though any block of so
 * many bytes is left out.  Else some that were there by turns have room in
 * front then, and leave their set here: it holds one line less, as if what was
 * left out had been of it. */
bool eviction_front_spares(struct eviction *eviction, uint64_t block);
/* The lines that these loads bring in. */
struct script_lines eviction_front_lines(const struct eviction *eviction);

/* Whether the same loads, so many of the list, hit and miss as they did before,
 * and so nothing is left to chance. */
bool eviction_repeats(struct eviction *eviction,
                      const struct eviction_draws *draws);

/* Which of the steps from `first` on (`count` of them, a line apart) stay in
 * one set, so that `places` do not fit: a quick look at each. */
void eviction_scan(struct eviction *eviction, uint64_t first, size_t count,
                   uint64_t places, bool *over);

/* Where an offset lies: of lines at home beside an SM they are numbers, of
 * which a remainder by an odd number says nothing. */
uint64_t eviction_place(const struct eviction *eviction, uint64_t offset);

#endif
