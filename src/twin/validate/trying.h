/* What the parts of a validation share. */
#ifndef SONDE_TWIN_TRYING_H
#define SONDE_TWIN_TRYING_H

#include "base/rng.h"
#include "device/sim/profile/profile.h"
#include "twin/told.h"
#include "twin/validate/draw.h"
#include "twin/validate/validate.h"

/* A finding whose value was taken for another while the rest was tried. */
struct repair {
    struct finding *finding;
    struct value reported;
    double low, high; /* of numbers that it may be in its stead; NAN: none */
    char *because;
};

enum { REPAIRS_MOST = 32 };

struct trying {
    struct results *results;
    struct told told;
    struct prober *device;
    struct rng rng;
    struct validation verdict;
    bool brief;
    bool means_only;    /* where loads are found is not asked; what contradicts
                           itself is seen without */
    char excuse[256];   /* why something was not asked, the first */
    double until;       /* now_seconds(), after which nothing more is asked */
    double disturbance; /* cycles that late loads add to each on average */
    double late_share;  /* of loads that are late */
    struct repair repairs[REPAIRS_MOST];
    size_t repair_count;
    /* A finding whose value is another for a moment; or NULL. */
    struct finding *lent;
    struct value lent_value;
    struct error *err;
};

/* A simulated GPU and what runs on it. */
struct twin {
    struct device *device;
    struct prober *prober;
    const struct profile *profile; /* the device's */
};

/* What the findings as they are now make; NULL: none.  The caller frees it. */
struct profile *trying_profile(const struct trying *trying);
/* As above, as a device; false: they make none. */
bool twin_open(const struct trying *trying, struct twin *twin);
/* … of which a cache with unequal sets deals line 0 to the entry `from`. */
bool twin_open_dealt(const struct trying *trying, const char *component,
                     uint64_t from, struct twin *twin);
void twin_close(struct twin *twin);
/* The component's shape in it; NULL: it has none. */
const struct cache_shape *twin_shape(const struct trying *trying,
                                     const struct profile *profile,
                                     const char *component);
bool trying_tlb(const char *component);

/* The finding to change, NULL if it has no value. */
struct finding *trying_find(struct trying *trying, const char *component,
                            const char *attribute);
/* As above, of what is said for sure: no bound, and not in doubt itself.  That
 * alone contradicts others, or tells what they must be. */
struct finding *trying_sure(struct trying *trying, const char *component,
                            const char *attribute);
/* Its value is another, which stays the caller's, until it is returned. */
void trying_lend(struct trying *trying, struct finding *finding,
                 struct value value);
void trying_return(struct trying *trying);
/* Its value is another until the end, when it is in doubt because of that. */
void trying_repair(struct trying *trying, struct finding *finding,
                   struct value value, const char *because);
/* As above, and the value stays; it may be the other one, too. */
void trying_doubt(struct trying *trying, struct finding *finding,
                  const struct value *other, const char *because);
/* As above, of several numbers. */
void trying_doubt_within(struct trying *trying, struct finding *finding,
                         double low, double high, const char *because);
/* Why it is in doubt, and what it may be; NULL: it is not. */
const struct repair *trying_repair_of(const struct trying *trying,
                                      const struct finding *finding);
bool trying_repaired(const struct trying *trying, const struct finding *f);
/* True if it is wrong and no other value was found for it. */
bool trying_unknown(const struct trying *trying, const struct finding *f);
/* Says that it was tried, what of it was foretold, and by what. */
void trying_note(struct trying *trying, const char *component,
                 const char *attribute, double share, const char *experiment);

/* unasked.c: what is said of sets and sizes, ended by NULL. */
extern const char *const trying_attributes[];
/* Says of each finding of caches, TLBs and memory of which nothing was noted
 * that no experiment asked of it. */
void trying_note_unasked(struct trying *trying);

/* halves.c: true of what tells the index of an L2 in parts, if it is another
 * than the simulated GPU of the findings has: where lines meet is not foretold
 * by it. */
bool trying_is_of_parts(struct trying *trying, const char *component,
                        const char *attribute);

/* True once the time is over. */
bool trying_late(const struct trying *trying);
/* True, and the error is forgotten, if the device cannot do what was asked, or
 * nobody can, which is counted. */
bool trying_excused(struct trying *trying);

/* True unless global loads go past L1. */
bool trying_l1_is_global(struct trying *trying);

/* True if of a ring of more lines than a set has ways none is left, since the
 * oldest goes: by lru or fifo. */
bool trying_oldest_goes(struct trying *trying, const char *component);

/* A cache, and how loads ask it. */
struct level {
    const char *component, *load, *front;
    uint64_t most, apart; /* bytes that can be asked for; shortest distance */
};

/* means.c: what loads cost. */
int try_means(struct trying *trying);
/* pages.c: what pages cost whose translations a TLB has lost. */
int try_pages(struct trying *trying, unsigned level);
/* … by the row of a component; false: it has none. */
bool trying_level(struct trying *trying, const char *component,
                  struct level *level);
/* size.c: whether so many bytes fit; of what cannot be asked, they do. */
int try_fits(struct trying *trying, const char *component, double bytes,
             bool *fits);
/* … on the twin as it is now: where an index fills some sets before others not
 * all that there is room for fits in order. */
int twin_fits(struct trying *trying, const char *component, double bytes,
              bool *fits);
/* … and whether the size does, and not a line more; or else it is repaired. */
int try_size(struct trying *trying, const char *component);
/* room.c: whether sizes are not half of what is told, or twice. */
int try_room(struct trying *trying);
/* … and, once sets were asked, whether those of such a size were blamed. */
void try_room_sets(struct trying *trying);
/* region.c: what an entry of a TLB covers, behind the one in front or NULL. */
int try_region(struct trying *trying, const char *component, const char *front);
/* code.c: which calls of code miss. */
int try_code(struct trying *t);
/* product.c: whether sets, ways and lines make room for the size, of a cache of
 * which no experiment tells which lines meet. */
void try_product(struct trying *trying, const char *component);
/* halves.c: the index of an L2 in parts, of which held-out experiments were as
 * that simulated GPU foretells. */
void try_halves(struct trying *trying);
/* structure.c: which lines push each other out. */
int try_structure(struct trying *trying);

#endif
