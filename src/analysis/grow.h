/*
 * More and more of something, until it gives no more.
 *
 * Of one thing: each amount that is tried is told to grow_more, which says
 * whether to go on.  Of several at once (grow_climb): from a setup all moves of
 * a table are tried, and the best that gives more becomes the setup, until none
 * gives more.
 */
#ifndef SONDE_ANALYSIS_GROW_H
#define SONDE_ANALYSIS_GROW_H

#include <stdbool.h>
#include <stddef.h>

struct grow {
    double least;      /* what gives a smaller share more gives no more */
    unsigned patience; /* so many in a row that give no more end it; 0: one */
    double best;       /* of all so far; starts at 0, as the next one does */
    unsigned vain;
};
/* What the next amount gives; false if it is enough. */
bool grow_more(struct grow *grow, double gives);

/* The numbers of a setup that moves change. */
enum { GROW_KNOBS = 4 };
struct grow_setup {
    unsigned knob[GROW_KNOBS];
};
/* Each knob times one number, by another. */
struct grow_move {
    unsigned times[GROW_KNOBS], by[GROW_KNOBS]; /* 0 counts as 1 */
};
struct grow_setup grow_moved(const struct grow_setup *from,
                             const struct grow_move *move);

enum { GROW_MOVES_MOST = 8 };
struct grow_climb {
    double least; /* as above */
    const struct grow_move *moves;
    size_t count;
    void *context;
    /* Makes of the move what there is room for; false: it is none. */
    bool (*fit)(void *context, const struct grow_setup *from,
                struct grow_setup *to);
    /* All that will be tried next; may be NULL. */
    void (*prepare)(void *context, const struct grow_setup *list, size_t count);
    /* Negative: it cannot be told. */
    double (*gives)(void *context, const struct grow_setup *setup);
};

struct grow_top {
    struct grow_setup setup;
    double gives;
    double last;  /* share by which the last step gave more; INFINITY: none */
    double gain;  /* share by which it gives more than the best of half as
                     much in all that was tried; INFINITY: none was */
    size_t tried; /* at the top: setups with more in all that gave no more */
};
struct grow_top grow_climb(const struct grow_climb *climb,
                           const struct grow_setup *from);

#endif
