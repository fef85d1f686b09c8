/*
 * The guard: was the GPU ours while an experiment ran?
 *
 * Another process has the GPU in turns.  The clocks go on while it runs, and it
 * takes what the caches held; so a repetition in which the clock leaps is not
 * to be believed, wherever in the kernel it leaps.  Probes whose kernels read
 * the clock all the time tell the leaps (prober_watched); of the others a
 * repetition is disturbed that took clearly longer than the quickest of its
 * experiment and measured something else.  A throttled one is disturbed, too.
 *
 * A launch begins a turn of ours, and what ends within it is undisturbed; how
 * long a turn lasts is learned from what was disturbed and what was not.  So
 * what is disturbed is thrown away and taken anew from its start: as it was, as
 * long as there is hope; then in pieces that fit a turn, where it can be cut;
 * or not at all, where no piece does.  What then is left is kept, and the
 * samples say by what it is disturbed.
 */
#ifndef SONDE_PROBE_GUARD_H
#define SONDE_PROBE_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum disturbance {
    UNDISTURBED,
    BY_ANOTHER,
    BY_DELAY, /* nobody knows by whom */
    BY_THROTTLING,
    DISTURBANCES
};

/* What a whole run has seen. */
struct guard {
    bool company; /* somebody else was seen on the GPU … */
    bool leapt;   /* … and took turns with us */
    double turn;  /* cycles that one of ours lasts; 0: not known */
    double fails; /* cycles: what took as long was always disturbed; 0: none */
    unsigned in_a_row;  /* latest repetitions that were throttled */
    size_t thrown_away; /* repetitions, by now … */
    size_t throttled;   /* … those of them for that reason */
    size_t left;        /* experiments that stayed disturbed since no more time
                           was left for them */
    double kept_ns;     /* device time of what was kept … */
    double spent_ns;    /* … and of what was thrown away */
    size_t kept, spent; /* repetitions; and launches but one for each */
};

/* What a launch told of the clock, in cycles: the longest from one read to the
 * next, and from the first to the last. */
struct watch {
    bool told;
    double gap, span;
};

/* One repetition as it ended. */
struct repetition {
    double figure;
    double ns;          /* of its last launch; 0: not told */
    double spent_ns;    /* of all of its launches … */
    size_t more;        /* … which are one and so many more, of pieces */
    struct watch watch; /* of the last launch, which is the disturbed one */
    enum disturbance by;
};

/* What the guard remembers of one experiment. */
struct vigil {
    bool once;                    /* it may not be taken again */
    unsigned pieces, pieces_most; /* of a repetition */
    bool brisk;                   /* they are prepared in little time */
    double whole;                 /* cycles that it takes in one */
    unsigned tries, disturbed[DISTURBANCES];
    unsigned failed; /* tries in a row */
    double spent_ns; /* on tries that were thrown away … */
    size_t spent;    /* … which are so many launches */
    bool hopeless;   /* no piece fits a turn */
    bool gave_up;
};

/* Whether such a gap shows that another process had the GPU.  The clock goes on
 * while an SM works for another, who also takes what the caches hold; so one
 * leap anywhere, timed or not, says that the run is not to be believed. */
bool guard_leapt(const struct watch *watch);
/* An experiment begins, of at least so many loads one after the other: what is
 * known to take longer than a turn is not tried in one; what may be tried but
 * once takes as little time as it can. */
void guard_begin(const struct guard *guard, struct vigil *vigil,
                 uint64_t loads);
/* Learns from a launch how long turns last. */
void guard_learn(struct guard *guard, const struct watch *watch);
/* Loads from L2, one after the other, that take a quarter of a turn. */
double guard_room(const struct guard *guard);
/* Says what disturbed the repetition, as far as it shows by itself. */
void guard_judge(struct guard *guard, struct repetition *r, bool throttled,
                 int other_processes);
/* The first of `count` repetitions that took clearly longer than the quickest;
 * `count` if there is none. */
size_t guard_outlier(const struct guard *guard, const struct repetition *r,
                     size_t count);
/* Whether a disturbed repetition is thrown away and taken again. */
bool guard_again(struct guard *guard, struct vigil *vigil,
                 const struct repetition *r);
/* What is left, as a sentence: NULL if nothing is disturbed; the caller frees.
 */
char *guard_verdict(struct guard *guard, const struct vigil *vigil,
                    const struct repetition *r, size_t count);
/* What the verdict of recorded samples says of others on the GPU: what a study
 * asks hangs on it, too. */
void guard_recall(struct guard *guard, const char *verdict);

#endif
