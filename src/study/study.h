/*
 * A study answers one question by running probes and analysing their samples.
 * One file, one line in studies.def, one truth test.
 *
 * A study sees a lab: the device's own figures, the probes, what earlier
 * studies found.  It never sees which GPU it is, nor whether it is simulated,
 * and holds no table of answers.
 */
#ifndef SONDE_STUDY_STUDY_H
#define SONDE_STUDY_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/stats.h"
#include "base/error.h"
#include "base/rng.h"
#include "finding/finding.h"
#include "probe/run.h"
#include "study/cache/first_level.h"
#include "study/hierarchy.h"
#include "study/instruction/bench.h"
#include "study/instruction/isa.h"

struct lab;

struct study {
    const char *name;
    const char *question;
    const char *method;
    const char *const *needs; /* studies that come before; NULL ends */
    const char *const *gives; /* ids of its findings; NULL ends */
    /* Experiments whose kernels it needs, compiled beforehand; NULL ends, and
     * NULL is none. */
    const char *const *kernels;
    /* Runs only when it is named, not with all that `topology` shows. */
    bool apart;
    /* Loads the GPU: its clock and state are told before and after
     * (gpu_state.h).
     */
    bool under_load;
    /* Adds its findings to lab->results.  An error is for a device that
     * failed; what could not be measured is a finding that says so. */
    int (*run)(struct lab *lab, struct error *err);
};

/* All, in reading order; NULL ends. */
extern const struct study *const study_table[];
const struct study *study_find(const char *name);

struct lab {
    struct prober *prober;
    const struct device_info *info;
    struct results *results;
    const struct study *study; /* the one that runs */
    struct level_facts facts[LEVEL_COUNT];
    struct first_level
        first_level[FIRST_LEVEL_COUNT]; /* see first_level_measure */
    struct code_facts code;
    struct translation translation;
    const struct isa_wish *isa;     /* NULL: all of the table */
    const struct bench_wish *bench; /* NULL: none */
    double trace_cost;              /* cycles that a trace adds to each load */
    double deadline;                /* now_seconds() to stop at; 0: none */
    bool cut_short;                 /* by a stop or that deadline */
    /* Called before each study; may be NULL. */
    void (*watch)(void *context, const struct study *study, size_t done,
                  size_t total);
    void *context;
};

/*
 * Runs the named studies and all that they need, each once, in the order of
 * needs and then of the table.  A study that is not reached (stop, budget, a
 * failed device) leaves not_measured findings for all that it gives, and
 * lab->cut_short says whether a stop or the budget was the reason.  Returns the
 * error of a device that failed, 0 otherwise.
 */
int plan_run(struct lab *lab, const char *const *names, size_t count,
             struct error *err);

/* ---- for studies ------------------------------------------------------ */

/* Runs the experiment that the format gives. */
int lab_probe(struct lab *lab, struct samples *samples, char **canonical,
              struct error *err, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* A finding of the running study. */
struct finding *lab_finding(struct lab *lab, const char *component,
                            const char *attribute);

/* Says of all that the running study gives and has not told yet why.  (Of an
 * error that it returns the planner does so.) */
void lab_leave_open(struct lab *lab, const char *why);

/* Says that there is no such thing here, so that nobody misses it. */
void lab_absent(struct lab *lab, const char *component, const char *attribute);

/* The number that an earlier study found; false if it has none. */
bool lab_number(const struct lab *lab, const char *component,
                const char *attribute, double *number);

/* The most warps that a block may have, of the most that a probe takes; 1 at
 * least, whatever the driver says. */
enum { LAB_BLOCK_WARPS = 32 };
unsigned lab_block_warps(const struct lab *lab);

/* True for errors that end a study with a finding and not the run: what the
 * device cannot do or has no memory for. */
bool lab_excuses(int code);

/* Average cycles of a load: median of the repetitions of a `chase`, with the
 * interval that a bootstrap gives. */
struct cost {
    double cycles, low, high;
    char *experiment; /* canonical; the caller frees */
};
int lab_chase(struct lab *lab, struct cost *cost, struct error *err,
              const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The same from `places` runs, once each, whose text ends in " shift=" and a
 * multiple of `apart` from `first` on: for loads that must not have been made
 * before, and for what differs from place to place. */
int lab_chase_places(struct lab *lab, struct cost *cost, uint64_t first,
                     uint64_t apart, size_t places, struct error *err,
                     const char *fmt, ...)
    __attribute__((format(printf, 7, 8)));
/* The same over all loads of both runs, the clock reads among them: for walks
 * whose loads do not all cost the same, where a difference means nothing. */
int lab_average(struct lab *lab, struct cost *cost, struct error *err,
                const char *fmt, ...) __attribute__((format(printf, 4, 5)));

enum { LAB_CONFIDENCE_PERCENT = 99 };
/* Where the median of the values is, with that confidence. */
struct stats_interval lab_interval(const struct lab *lab, const double *values,
                                   size_t count);

/* What a study asks of one level. */
typedef int level_question(struct lab *lab, const struct level_row *row,
                           struct level_facts *facts, struct error *err);
/* Asks; a level that is absent, or could not be asked, gets a finding "not
 * measured" with the reason. */
int lab_ask_level(struct lab *lab, enum level_id id, const char *attribute,
                  level_question *ask, struct error *err);
/* The same of all levels. */
int lab_each_level(struct lab *lab, const char *attribute, level_question *ask,
                   struct error *err);
/* Where only local loads are cached in L1, what they showed is said of L1. */
void lab_show_l1(struct lab *lab, const char *attribute);

/* How short a sector or line can be told, B: as near as two elements can be;
 * and behind another level no shorter than what that one brings in. */
uint64_t lab_shortest(const struct lab *lab, const struct level_row *row);
/* Why something so short is but a bound. */
void lab_because_short(struct finding *finding, const struct level_row *row);

/* The words of an experiment that fill the level with its ring, so often. */
enum { LAB_FILL = 32 };
void lab_fill(const struct level_row *row, unsigned times, char text[LAB_FILL]);

/* Fills a finding with a cost in cycles; takes the experiment as evidence. */
void finding_cost(struct finding *finding, const struct cost *cost);

#endif
