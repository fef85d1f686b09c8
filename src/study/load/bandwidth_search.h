/*
 * What a study gets of the probes `stream` and `bulk`: how many bytes pass in a
 * time with the configuration that saturates a place, and with given ones.
 *
 * A rate is that of a machine that nothing disturbs.  Late loads do not lower
 * it as long as others are under way; what begins and ends a run is not in it,
 * since all work before and after what is timed, or two lengths are subtracted;
 * and of repetitions those count that lie near the densest half.  What such a
 * measure may be off by itself goes into the interval: whole tiles, steps of
 * the timer, what twice as long a run would change.
 *
 * The search doubles what is in flight, from a few warps on, wherever that
 * gives most, until nothing does.  What is then measured is made longer until
 * that changes nothing.
 */
#ifndef SONDE_STUDY_LOAD_BANDWIDTH_SEARCH_H
#define SONDE_STUDY_LOAD_BANDWIDTH_SEARCH_H

#include "analysis/grow.h"
#include "study/lab.h"

enum { BANDWIDTH_LANES = 32 };
/* Repetitions of a search, and for a number that is reported. */
enum { BANDWIDTH_REPEATS = 2, BANDWIDTH_REPEATS_FINAL = 9 };
/* Of a list: with three, one may be disturbed. */
enum { BANDWIDTH_REPEATS_LIST = 3 };
/* Cycles of a search: many times what a load takes. */
enum { BANDWIDTH_CYCLES = 16384 };
/* Cycles of runs that are compared with each other. */
enum { BANDWIDTH_CYCLES_LIST = 65536 };
/* Blocks: so many times the least is the most that is streamed. */
enum { BANDWIDTH_BLOCKS_MOST = 32 };

/* How the probe shares the work, and what is timed. */
enum bandwidth_way { STREAM_SM, STREAM_GPU, STREAM_BLOCKS };

/* What is asked: a place, and how it is accessed. */
struct bandwidth_question {
    struct lab *lab;
    const char *component, *attribute;
    const char *words; /* of the experiment */
    enum bandwidth_way way;
    uint64_t least; /* cycles: of which the number that is reported is made */
    unsigned sms;   /* GPU: that work; 0: all */
    bool exact;     /* accesses of that width, none narrower */
    bool bulk;      /* of the probe `bulk`, by cycles */
    bool shared;    /* it takes shared memory */
    unsigned lanes; /* that read different words; 1: all read one */
    unsigned width; /* the widest access of a lane */
    unsigned arrays;
    uint64_t bytes; /* of an array; BLOCKS: the least; SM, 0: a tile */
    uint64_t room;  /* STREAM_BLOCKS: bytes that all arrays may have */
    bool of_memory; /* the stated peak is its */
    unsigned part;  /* of L2 that the set is; 0: it is not of L2 */
    bool brief;     /* reads, with no more and no longer runs than it takes */
    bool others;    /* the driver says that others use the GPU */
    bool late;      /* disturbances make loads late, not a few of them */
    double hz;      /* the SM clock, as it was measured before; 0: unknown */
};

/* How: what the search changes, and what else experiments differ in.  Of bulk
 * copies `width` is the size of one, `unroll` how many a warp has in flight. */
struct bandwidth_setup {
    union {
        struct {
            unsigned unroll, warps, blocks, width;
        };
        struct grow_setup knobs; /* the same */
    };
    unsigned sms, stride, row;
    uint64_t lead; /* cycles before those that count; 0: half as many */
    /* Cycles; STREAM_BLOCKS: bytes of an array, the longer of two. */
    uint64_t length;
    unsigned repeats;
};

/* Undisturbed: late repetitions do not count. */
struct bandwidth_rate {
    double score; /* what a search compares */
    double value, low,
        high;         /* B/clk of an SM, or B/s; at UNDISTURBED_PERCENT */
    double fastest;   /* as value, of the repetition that was fastest */
    double sure;      /* as value, of a repetition by the time of all its warps
                         together: so much did pass */
    double most;      /* as score, of the repetition that was fastest */
    size_t late;      /* repetitions in which time passed that was not ours */
    double spread;    /* share by which repetitions differ */
    double disturbed; /* share by which they are late on average */
    bool stepped;     /* low and high are but the steps of what is timed */
    double clock_hz, told_hz;
    double clock_off; /* share by which the clock may be off */
    double tiles;     /* that a warp passed */
    bool fine;        /* the timer's steps are small */
    bool moved;       /* the SM's clock was not the same in all repetitions */
    bool held;        /* in all repetitions some warp was held up for long */
    bool even;        /* every SM had the blocks that it should have */
    const char *experiment; /* canonical; NULL after an error */
};

struct bandwidth_found {
    double value; /* 0: not measured */
    struct bandwidth_setup setup;
    bool saturated; /* more in flight was tried and gave nothing */
    bool untold;    /* of some that was tried nothing could be told */
    bool hidden;    /* of some most were late, and the fastest gave more */
    bool unlike;    /* some runs were clearly faster than most */
    double more;    /* share by which the best that was tried gave more */
    double deeper;  /* … and by which it gives more than half as many accesses
                       of each warp did; 0: those were not tried */
    struct bandwidth_rate rate;
};

/* One experiment. */
struct bandwidth_rate
bandwidth_measure(const struct bandwidth_question *question,
                  const struct bandwidth_setup *setup);

/* For a number, of a setup that is given: STREAM_BLOCKS by what is more than
 * the question's bytes. */
struct bandwidth_rate
bandwidth_measure_well(const struct bandwidth_question *question,
                       const struct bandwidth_setup *setup);
/* True if there is room for it. */
bool bandwidth_fits(const struct bandwidth_question *question,
                    const struct bandwidth_setup *setup);

/* What saturates it, from something like it on, if that is not NULL; the rate
 * is of the search's short runs. */
struct bandwidth_found
bandwidth_search(const struct bandwidth_question *question,
                 const struct bandwidth_setup *like);
/* The same, and what it then gives: `rate`. */
struct bandwidth_found bandwidth_find(const struct bandwidth_question *question,
                                      const struct bandwidth_found *like);

/* With accesses of that width: as many bytes in flight, if there is room; of
 * narrower ones, which need more, all that there is room for. */
struct bandwidth_setup
bandwidth_with_width(const struct bandwidth_question *question,
                     const struct bandwidth_setup *setup, unsigned width);
/* Bytes of the set; of share=warp what a block accesses at a time, if the
 * question names none. */
uint64_t bandwidth_set_bytes(const struct bandwidth_question *question,
                             const struct bandwidth_setup *setup);

#endif
