/*
 * References: what must cost the same all through a run.  The planner asks for
 * them after each study, so that each but the first lies between two: both
 * clocks, hits in L1 and L2, what the management library tells.
 *
 * They say what no single experiment can: that the clock is another than it
 * was, that caches answer slower, that the GPU is throttled, that others have
 * L2 between our launches.  What the study found is then in doubt as far as
 * that harms it: nanoseconds and rates by a clock that moved; cycles of what
 * lies beyond the SM where hits in L2 cost others; all where it was throttled.
 */
#ifndef SONDE_STUDY_REFERENCE_H
#define SONDE_STUDY_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lab;

/* Of the quickest hits of some runs the middle one, and by how much they
 * differ.
 */
struct quickest {
    double cycles, range;
};

/* At one moment; what is not told is negative. */
struct reference {
    bool known; /* false: it could not be asked (an old recording) */
    double slowest, fastest; /* the SM clock of its spins, in Hz */
    double ns;               /* that one spin took */
    struct quickest l1, l2;
    bool lost; /* L2 had lost what the launch before brought in */
    double processes, dropped;
    uint64_t throttle;
};

/* What the probe's loads of L2 cost together, each time since the SM clock last
 * moved; nothing else makes them quicker. */
struct hits {
    size_t count;
    double sum, squares, least;
};

/* Of a run. */
struct references {
    struct reference first, latest;
    double processes; /* others, at most */
    bool throttled, moved;
    size_t launches; /* that references took … */
    double ns;       /* … and how long the GPU ran them */
    struct hits l2;
    uint64_t step_ns; /* the timer's, or a multiple of it; 0: not known */
};

/* A step of the timer, or the most that it may be, by these durations and what
 * references saw before, in nanoseconds. */
double reference_timer_step(const struct lab *lab, const double *ns,
                            size_t count);
/* The running study is over.  The first time is what later ones are held
 * against. */
void reference_judge(struct lab *lab);
/* The run is over: if it was disturbed the results say so in a line; the log
 * says what the guard cost. */
void reference_report(struct lab *lab);

#endif
