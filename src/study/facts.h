/*
 * Facts: working knowledge that studies hand to those that need it (a rough
 * size to search around, cycles to tell a miss from a hit).  What users read
 * is in findings.
 *
 * Each fact is a row of facts.def and has one study that writes it.  Others
 * read it who declare so (`.reads` of study.h), from which the planner knows
 * what must run before; to read what is not declared, or to write what is
 * another's, is a mistake of the study and stops the program.
 */
#ifndef SONDE_STUDY_FACTS_H
#define SONDE_STUDY_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "study/space.h"

/* Of a ring that is said to fit into a level with a far part, so many loads may
 * miss: they cost too much alike to ask for less. */
enum { FAR_MISSES_PERCENT = 10 };

/* The last holds each second of 1024 SMs. */
enum { FACT_WHY = 256, FACT_EXPERIMENT = 256, FACT_SMS = 4096 };

struct fact_trace {
    double cycles;        /* that a trace adds to each load, … */
    double error;         /* … give or take, with LAB_CONFIDENCE_PERCENT */
    char doubt[FACT_WHY]; /* why that may be wrong; empty: nothing is known */
};

/* Which loads are cached near to an SM. */
struct fact_cached {
    bool present;       /* loads are cached here; else `why` says why not */
    bool absent;        /* … for certain, and not that it cannot be told */
    bool as_local;      /* of L1: only local loads show it */
    char why[FACT_WHY]; /* the next studies report it as their reason */
    double hit;         /* cycles of a chase that hits */
    double excess;      /* that disturbance adds to their mean */
    double next_hit;    /* … that goes past this level; of what an SM has */
    double cold;        /* … that finds all that an SM has empty */
};

/* The region in which a level ends. */
struct fact_bracket {
    bool present; /* there is one; else `why` says why not */
    char why[FACT_WHY];
    double hit;     /* cycles of a chase that hits */
    double excess;  /* that disturbance adds to each such load, on average */
    double plateau; /* cycles just before the level below begins: `hit`, or
                       more where farther parts of the cache cost more */
    double miss;    /* cycles of a chase that misses always */
    uint64_t deep;  /* size of a ring that does, B */
    /* The rough size: `fits` does, `overflows` does not; 0: nothing that may
     * be loaded overflows. */
    uint64_t fits, overflows;
    /* What the level holds at the cost `hit`, where that is less; else 0. */
    uint64_t near_fits, near_overflows;
    uint64_t far_end; /* of such a one: where all of it ends; 0: not known */
    bool soft;        /* larger rings cost more little by little */
    bool sampled;     /* `fits` and `overflows` are from what samples of rings
                         say, since their beginnings stay for longer */
};

struct fact_sector {
    uint64_t bytes; /* 0: not known */
    bool bound;     /* it may be shorter */
};

/* B: no cache that is known has longer lines. */
enum { LINE_MOST = 1024 };

struct fact_line {
    uint64_t bytes; /* 0: not known */
    bool bound;     /* it may be shorter */
    bool longer;    /* it may be longer: all that is known is the sector */
    bool paired;    /* pairs of elements confirmed it, whatever rings say */
};

/* The largest ring without a miss. */
struct fact_rings {
    uint64_t bytes; /* 0: not known */
    bool measured;  /* and no bound */
    bool doubtful;  /* rings show no edge: lines and misses are in doubt */
};

/* The parts of L2, as single lines show them. */
struct fact_sides {
    unsigned parts; /* 0: not known */
    bool far_stays; /* what lies far is not copied to where it is near */
    /* Experiments: single loads of lines of all slices and sides that are in
     * L2, and that are not; empty: none. */
    char warm[FACT_EXPERIMENT], missing[FACT_EXPERIMENT];
    /* SMs on the side of SM 0, and on the other, as experiments name them. */
    char sms[2][FACT_SMS];
    uint64_t bits; /* of an address, whose XOR tells its home within a page */
    double hit;  /* cycles of a near line at its home, … 0: it is not told */
    double miss; /* … and what one costs more that L2 does not hold */
    double far;  /* … and a far one, where those stay; else 0 */
    double copied; /* … and a far one at its home, where they do not; else 0 */
    double missing_cycles; /* of a load of such, near and far alike often */
};

/* The levels that loads of an SM ask first stand first in levels.def; what
 * first_level_measure found of each. */
enum { FIRST_LEVEL_COUNT = LEVEL_CONST_L15 };

struct fact_first_level {
    bool present; /* such loads are cached before L2; else `why` says why not */
    bool unclear; /* … not that they are not, but that it cannot be told */
    char why[200];
    double timed;  /* cycles that timing adds to a visit */
    double hit;    /* cycles of one that hits … */
    double limit;  /* … and the most that is taken for one */
    double no_hit; /* what costs more is none; INFINITY: nobody knows */
    double beyond; /* of one that finds its line in the next cache; 0: unknown
                    */
    double cold;   /* of one that no cache of an SM holds */
    double past;   /* the cheapest load past L1 of what was just loaded so */
    size_t loads;  /* of a group … */
    size_t lines;  /* … and how many of them miss when it is new */
    uint64_t overfill; /* loads that push out what was there; 0: not found */
};

/* Instruction caches, nearest first; their findings are those of these
 * components in this order; NULL ends. */
enum { CODE_LEVELS_MAX = 3 };
extern const char *const code_components[CODE_LEVELS_MAX + 1];

struct code_level {
    uint64_t size;  /* B; what certainly fits, where that is a bound */
    uint64_t about; /* B; of the likeliest of all that explain it; 0: none */
    uint64_t sets;  /* 0: not known */
    uint64_t line;  /* B; 0: not known */
    uint64_t reach; /* B that a call brings, its own line among them */
    double limit;   /* cycles of a call that misses it, at least */
    bool exact;     /* the size is no bound */
    bool chance;    /* its victims seem to be of chance */
};

struct fact_code {
    size_t count;
    struct code_level level[CODE_LEVELS_MAX];
    const char *why; /* there are no more than `count` */
};

struct fact_cycles {
    double cycles, low, high;
};

/* The memory that questions about translation may use. */
struct fact_memory {
    bool asked; /* else `why` says why not */
    char why[FACT_WHY];
    uint64_t bytes;        /* that may be used; 0: none */
    uint64_t origin, room; /* of these: offsets within one page window */
    uint64_t window;       /* B; 0: none */
    struct fact_cycles window_cycles;
    struct fact_cycles overhead; /* that a visit costs more than a chase */
    /* Of loads that hit: how far one strays, in cycles, and the share of them
     * that strays much farther. */
    double sigma, disturbed;
};

/* Places of a mapping, in the order in which they are loaded. */
enum { TLBS_MOST = 3, TLB_NUMBERS_MOST = 1024 };
struct tlb_numbers {
    uint32_t at[TLB_NUMBERS_MOST];
    size_t count;
};

struct tlb_facts {
    double hit, middle; /* cycles; loads that cost more than this miss it */
    double miss;        /* what those cost */
    double error;       /* of what a miss costs more, at most */
    double late;        /* share of loads that hit and cost more, at most */
    bool calm;          /* … of which there was none */
    uint64_t about;     /* entries, roughly */
    bool hidden; /* those before hold as many of its regions: about is theirs */
    uint64_t fit, row_ways; /* regions in a row; ways by those that do not */
    uint64_t in_a_row; /* so many of those fit, of whichever sets; 0: unasked */
    bool one_set;           /* as many fit of any others */
    uint64_t page, region;  /* 0: not known */
    uint64_t entries, sets, ways; /* 0: not known */
    uint64_t spare;               /* entries of a victim buffer that show */
    uint64_t of_sets; /* entries of sets that were counted one by one */
    bool
        chance; /* laps over hardly more than fit miss other places each time */
    uint64_t pushes; /* so many others of a set surely push one out; 0: none */
    struct tlb_numbers pushers; /* of the target, out of this level */
};

/* Addresses at which one piece of memory is mapped, by number: one in each
 * mapping; or, where order and jitter are 0, so many units from the first. */
struct tlb_places {
    uint64_t piece, apart, pieces; /* B, B, and how often it is mapped */
    uint64_t unit;                 /* B: of 2^jitter places in a mapping */
    unsigned order, jitter;        /* 2^order mappings, at random */
};

struct fact_tlbs {
    struct tlb_places places; /* each in a region of its own */
    uint32_t target;          /* the place that was asked about */
    size_t levels;
    bool cut_short; /* another process left no time to see more of them */
    struct tlb_facts tlb[TLBS_MOST];
};

/* What saturates the reading of something (load/bandwidth_search.h). */
struct fact_reading {
    double value; /* B/clk/SM, or B/s; 0: not measured */
    unsigned unroll, warps, blocks, width;
    uint64_t length;
};

struct fact_reads {
    struct fact_reading l1, shared, memory;
};

/* ---- reading and writing ----------------------------------------------- */

enum fact_id {
    FACT_NONE, /* ends lists */
#define FACT(id, ...) FACT_##id,
#define LEVEL_FACT    FACT
#include "study/facts.def"
#undef LEVEL_FACT
#undef FACT
    FACT_COUNT
};

/* A list in place, which FACT_NONE ends. */
#define FACTS(...)                                                             \
    (const enum fact_id[])                                                     \
    {                                                                          \
        __VA_ARGS__, FACT_NONE                                                 \
    }

/* All of them; the lab's. */
struct facts {
#define FACT(id, name, ...)          struct fact_##name name;
#define LEVEL_FACT(id, name, writer) struct fact_##name name[LEVEL_COUNT];
#include "study/facts.def"
#undef LEVEL_FACT
#undef FACT
};

const char *fact_name(enum fact_id fact);
const char *fact_writer(enum fact_id fact); /* the name of the study */
bool fact_of_level(enum fact_id fact);      /* there is one of each level */
/* Of one that is not: a bit of each level by whose facts it was found, and what
 * it is about; LEVEL_COUNT: all levels. */
unsigned fact_found_by(enum fact_id fact);
enum level_id fact_about(enum fact_id fact);

/* The study ended early, for this reason: so what it had not said of its facts
 * is not known. */
void facts_lose(struct facts *facts, const char *study, const char *why);

struct lab;

/* fact_NAME reads, fact_NAME_write writes. */
#define FACT(id, name, ...)                                                    \
    const struct fact_##name *fact_##name(const struct lab *lab);              \
    struct fact_##name *fact_##name##_write(struct lab *lab);
#define LEVEL_FACT(id, name, writer)                                           \
    const struct fact_##name *fact_##name(const struct lab *lab,               \
                                          enum level_id level);                \
    struct fact_##name *fact_##name##_write(struct lab *lab,                   \
                                            enum level_id level);
#include "study/facts.def"
#undef LEVEL_FACT
#undef FACT

/* The line, the sector, of a level whose rings throw no doubt on it; else 0. */
uint64_t fact_sure_line(const struct lab *lab, enum level_id level);
/* How much it holds, by rings or by where its far part ends; 0: not known. */
uint64_t fact_size(const struct lab *lab, enum level_id level);
uint64_t fact_sure_sector(const struct lab *lab, enum level_id level);

#endif
