/*
 * The lab: what a study works with.
 *
 * Three things are the lab's, so that no study carries them by hand:
 *
 * Errors stick.  The first experiment that fails is kept in the lab, and all
 * that follow return nothing at once: no samples, costs of zero.  A study asks
 * `lab_ok` only where it would compute with samples that are not there, or
 * report what it has not seen.
 *
 * Memory ends with the study.  What lab_alloc, lab_text and the experiments
 * give is freed when the study is over.
 *
 * Evidence is cited by scope.  Each experiment that runs between lab_cite and
 * lab_uncite is evidence of the finding.
 */
#ifndef SONDE_STUDY_LAB_H
#define SONDE_STUDY_LAB_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/statistics/stats.h"
#include "analysis/statistics/undisturbed.h"
#include "base/error.h"
#include "base/mem.h"
#include "finding/curve.h"
#include "finding/doubt.h"
#include "finding/finding.h"
#include "probe/run.h"
#include "ptx/capability.h"
#include "study/facts.h"
#include "study/reference.h"
#include "study/space.h"
#include "study/study.h"

struct isa_wish;
struct bench_wish;

enum { LAB_CITED_MOST = 32 };

/* Why experiments behind something were disturbed: any [0], and those of each
 * level [1 + level].  NULL: they were not. */
struct shade {
    const char *why[1 + LEVEL_COUNT];
};

struct lab {
    struct prober *prober;
    const struct device_info *info;
    struct results *results;
    const struct study *study; /* the one that runs */
    struct error err;          /* the first of the running study; it sticks */
    struct arena memory;       /* of the running study */
    struct finding *cited[LAB_CITED_MOST];
    size_t cited_count;
    struct facts known;   /* read and written as facts.h says */
    struct doubts doubts; /* of the run; see lab_settle */
    size_t doubts_before; /* of studies before this one */
    struct shade shade, fact_shade[FACT_COUNT];
    struct references references;
    size_t asks; /* see lab_about */
    /* A study may say so: no load has brought yet what is asked for now.  So it
     * is not taken again, and samples that were disturbed are no samples. */
    bool fresh;
    bool spare;         /* see lab_spare */
    const char *spared; /* by what the one was disturbed that was spared */
    struct results proposals;       /* of the studies; see lab_proposal */
    const struct isa_wish *isa;     /* NULL: all of the table */
    const struct bench_wish *bench; /* NULL: none */
    double deadline;                /* now_seconds() to stop at; 0: none */
    /* Of the prober, to stop a study at, or all of a run; 0: any. */
    size_t experiments_most, all_experiments_most;
    bool cut_short;    /* the study, in the end the run: by a stop or these */
    struct error lost; /* the first that was excused and should not have been
                          met: a kernel or a recording is not as it should be */
    /* Called before each study; may be NULL. */
    void (*watch)(void *context, const struct study *study, size_t done,
                  size_t total);
    void *context;
};

/* ---- errors ------------------------------------------------------------ */

static inline bool lab_ok(const struct lab *lab)
{
    return lab->err.code == 0;
}
/* Fails as an experiment does; the first error stays. */
void lab_fail(struct lab *lab, enum error_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* True if the error costs a finding and not the run: what the device cannot do,
 * has no memory for or does not accept, what a recording does not hold. */
bool lab_excuses(const struct lab *lab);
/* True if it failed, by a fault, a stop or what was not recorded, and not since
 * the device cannot do that at all. */
bool lab_has_lost(const struct lab *lab);
/* If that is what failed, forgets it and returns the sentence; else NULL. */
const char *lab_excuse(struct lab *lab);

/* The same, also where the device failed: that costs what was asked for, and
 * the run its exit status. */
const char *lab_excuse_fault(struct lab *lab);

/* Why nothing is asked any more: a stop, or what may be used is used up; NULL:
 * it is not so. */
const char *lab_reason_to_stop(const struct lab *lab);

/* Ends work in the lab that no planner runs: frees its memory, and hands out
 * what failed. */
int lab_end(struct lab *lab, struct error *err);

/* ---- memory ------------------------------------------------------------ */

/* `count` elements of zeros, until the study ends. */
void *lab_alloc(struct lab *lab, size_t count, size_t size);
char *lab_text(struct lab *lab, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- experiments ------------------------------------------------------- */

/* Whether a study can do without what it asks now: then samples that are
 * disturbed are no samples, and cast no doubt. */
void lab_spare(struct lab *lab, bool spare);
/* Ends that; by what a sample since was disturbed, NULL if none was. */
const char *lab_spared(struct lab *lab);

/* Whether a recording, older than the question, lacks the experiment that was
 * asked last: then that is no error any more. */
bool lab_unrecorded(struct lab *lab);

/* Runs an experiment, of which the text is given, or a format of it.  After an
 * error there are no rows, and `experiment` of the samples is NULL. */
const struct samples *lab_run(struct lab *lab, const char *text);
#define lab_probe(lab, ...) lab_run(lab, lab_text(lab, __VA_ARGS__))

/* One column of samples, as numbers to compute with. */
struct column {
    double *at;
    size_t count;
    const char *experiment; /* canonical; NULL after an error */
};
struct column lab_column_of(struct lab *lab, const struct samples *samples,
                            const char *name);
/* … of rows that each say how many `count` are alike: as many numbers. */
struct column lab_column_counted(struct lab *lab, const struct samples *samples,
                                 const char *name);
/* Its median, and its largest. */
double lab_column_median(struct lab *lab, const struct samples *samples,
                         const char *name);
double lab_column_most(struct lab *lab, const struct samples *samples,
                       const char *name);
/* The column of an experiment that is run for it. */
struct column lab_run_column(struct lab *lab, const char *name,
                             const char *text);
/* The same, and another column of it in `other`, in place of the name. */
struct named_column {
    const char *name;
    struct column seen;
};
struct column lab_run_columns(struct lab *lab, const char *name,
                              const char *text, struct named_column *other);
#define lab_column(lab, name, ...)                                             \
    lab_run_column(lab, name, lab_text(lab, __VA_ARGS__))

/*
 * What a load costs undisturbed, by runs of loads: of the repetitions of a
 * `chase` the densest half and what lies near it, of the short run and of the
 * long one (analysis/statistics/undisturbed.h).
 */
struct cost {
    double cycles, low, high; /* with LAB_CONFIDENCE_PERCENT */
    double disturbed;         /* share of what was timed that was late */
    double excess;            /* cycles that disturbance adds to the mean */
    double first;             /* of runs: a load's, in the run that was first */
    const char *doubt;      /* why that may be wrong; NULL: nothing is known */
    const char *experiment; /* canonical; NULL after an error */
};
struct cost lab_cost_of_runs(struct lab *lab, const char *text);
#define lab_chase(lab, ...) lab_cost_of_runs(lab, lab_text(lab, __VA_ARGS__))
/* The mean of all loads of both runs and of all repetitions, with what disturbs
 * them and the clock reads: of lines that do not all cost the same a difference
 * of runs would be off by more. */
struct cost lab_mean_of_runs(struct lab *lab, const char *text);
#define lab_chase_mean(lab, ...)                                               \
    lab_mean_of_runs(lab, lab_text(lab, __VA_ARGS__))
/* As lab_chase, of all loads of both runs, the clock reads among them: for
 * walks whose loads do not all cost the same, where a difference means nothing.
 */
struct cost lab_average_of_runs(struct lab *lab, const char *text);
#define lab_average(lab, ...)                                                  \
    lab_average_of_runs(lab, lab_text(lab, __VA_ARGS__))
/* What each load of such a ring costs, by runs of 64; where many of those are
 * late, or they leave half a percent of doubt, by single loads and pairs.  The
 * text is that of a walk over a ring of which all lines cost the same, without
 * the probe and `visits`. */
#define lab_load_cost(lab, ...)                                                \
    lab_load_cost_of(lab, 64, 2048, lab_text(lab, __VA_ARGS__))
/* The same by runs of so many, and so many single loads. */
struct cost lab_load_cost_of(struct lab *lab, unsigned run, unsigned singles,
                             const char *walk);
/* By what two loads in a row cost more than one: of many such. */
struct cost lab_pair_cost(struct lab *lab, unsigned visits, const char *walk);

/* The cost that an estimate gives, with the doubt that speaks against it. */
struct cost lab_cost_of(struct lab *lab, const struct undisturbed *u,
                        const char *experiment);
/* One less the other, doubted as either is. */
struct cost lab_cost_less(const struct cost *a, const struct cost *b);

enum { LAB_CONFIDENCE_PERCENT = UNDISTURBED_PERCENT };
/* Where the median of the values is, with that confidence. */
struct stats_interval lab_interval(const struct lab *lab, const double *values,
                                   size_t count);

/* ---- doubt ------------------------------------------------------------- */

/*
 * An experiment that stayed disturbed (probe/guard.h) puts in doubt what it is
 * evidence of; if it is evidence of nothing, all that its study says of the
 * level that was asked, or of anything where none was; and what later studies
 * find by the facts that the study writes.
 * The planner says where a study begins and, when all is found, ends.
 */
void lab_begin(struct lab *lab, const struct study *study);
/* Experiments that follow are about the level; LEVEL_COUNT: about all; or they
 * show what cites them and no fact. */
enum { LAB_NO_FACT = LEVEL_COUNT + 1 };
void lab_about(struct lab *lab, size_t level);
void lab_settle(struct lab *lab);

/* ---- reasons ----------------------------------------------------------- */

/*
 * Why something was not measured, is a bound or is in doubt.  Each row of
 * reasons.def is a format `why_ID`, for finding_none, finding_because,
 * lab_refuse and what else takes a reason.
 */
#define REMEDY(meaning, what_to_do)
#define REASON(id, text)                                                       \
    static const char why_##id[] __attribute__((unused)) = text;
#include "study/reasons.def"
#undef REASON
#undef REMEDY

/* ---- findings ---------------------------------------------------------- */

/* A finding of the running study, with the unit that its answers say; or, if it
 * is one that the study proposes, its estimate.  One that neither lists is a
 * mistake of the study and stops the program. */
struct finding *lab_finding(struct lab *lab, const char *component,
                            const char *attribute);

/* Adds a point to a curve behind a finding, of whichever study it is; after an
 * error, when there is no experiment, to none. */
void lab_point(struct lab *lab, const char *component, const char *attribute,
               const struct curve_kind *kind, struct curve_seen seen);

/* What the study estimated; NULL if it did not. */
const struct finding *lab_proposal(const struct lab *lab, const char *study,
                                   const char *component,
                                   const char *attribute);

/* "l1.line is not measured: slow loads come at no regular distance": why what
 * was found, or proposed, of the component is not known; the reason is the
 * first in the chain of those that each lacked the one before. */
const char *lab_why_unknown(struct lab *lab, const char *component,
                            const char *attribute);

/* From now on each experiment is evidence of the finding, once. */
void lab_cite(struct lab *lab, struct finding *finding);
void lab_uncite(struct lab *lab); /* of none any more */

/* Says of all that the running study gives, whose id is like the pattern (`*`
 * is any run) and that it has not told yet, why.  Of an error that is left in
 * the lab the planner does so. */
#define lab_refuse(lab, pattern, ...)                                          \
    lab_leave_out(lab, (lab)->study, pattern, lab_text(lab, __VA_ARGS__))
/* The same of what this GPU has not: its findings are skipped. */
void lab_skip(struct lab *lab, const char *pattern, const char *why);
/* True if the GPU has it; else what is like the pattern is skipped. */
bool lab_requires(struct lab *lab, enum capability capability,
                  const char *pattern);
/* Of all that it gives. */
void lab_leave_open(struct lab *lab, const char *why);
/* The same of any study; for the planner. */
void lab_leave_out(struct lab *lab, const struct study *study,
                   const char *pattern, const char *why);

/* What the running study could have proposed, and did not, has this reason; for
 * the planner.  `lost`: it might have, of what it did not come to. */
void lab_leave_proposals(struct lab *lab, const char *why, bool lost);

/* What of the study's findings was not measured cites what shows why; NULL:
 * nothing does. */
void lab_cite_none(struct lab *lab, const char *pattern,
                   const char *experiment);

/* Says that there is no such thing here, so that nobody misses it. */
void lab_absent(struct lab *lab, const char *component, const char *attribute);

/* What was found so far, NULL if nothing was: by the running study, by those
 * that it judges, or of what it declares to read (`reads_findings`); any other
 * would be found or not as the order has it, and stops the program. */
const struct finding *lab_found(const struct lab *lab, const char *component,
                                const char *attribute);
/* Its number; false if it has none. */
bool lab_number(const struct lab *lab, const char *component,
                const char *attribute, double *number);

/* Measured, in the unit that the answers say. */
void finding_measured(struct finding *finding, double number);
/* The median of values, which is between all of them but for the chance that
 * all lie on one side. */
void finding_range(struct finding *finding, const double *values, size_t count);
/* Fills a finding with a cost in cycles, in doubt if that is. */
void finding_cost(struct finding *finding, const struct cost *cost);

/* ---- levels ------------------------------------------------------------ */

enum level_id level_of(const struct level_row *row);

/* What a study asks of one level. */
typedef void level_question(struct lab *lab, const struct level_row *row);
/* Asks; a level that is absent, or could not be asked, gets a finding "not
 * measured" with the reason.  What was cited is cited no more. */
void lab_ask_level(struct lab *lab, enum level_id id, const char *attribute,
                   level_question *ask);
/* The same of all levels. */
void lab_each_level(struct lab *lab, const char *attribute,
                    level_question *ask);
/* Where only local loads are cached in L1, what they showed is said of L1. */
void lab_show_l1(struct lab *lab, const char *attribute);

/* Why something so short is but a bound. */
void lab_because_short(struct finding *finding, const struct level_row *row);

/* The words of an experiment that fill the level with its ring, so often. */
enum { LAB_FILL = 32 };
void lab_fill(const struct level_row *row, unsigned times, char text[LAB_FILL]);
/* The least that misses of a level cost among loads of the probe overfill, of
 * which some hit the cache that is asked first; `half` where nothing tells. */
double lab_least_miss(const struct lab *lab, const struct level_row *row,
                      const struct column *cycles, double half);
/* From there on such a load, or one of a trace, is clearly no hit of an SM's
 * cache; nowhere of what all SMs share, where far hits are dear, too. */
double lab_clearly_dearer(const struct lab *lab, const struct level_row *row,
                          const struct column *cycles);
/* How far the elements of a ring lie apart that leaves no line out. */
uint64_t lab_ring_stride(const struct lab *lab, const struct level_row *row);

/* The experiment that tells what a miss brings in: loads of neighbours where
 * nothing is cached, `shift` bytes on.  Of 8-byte elements 2048, as many as a
 * trace keeps. */
enum { LAB_SECTOR_BYTES = 16384 };
const char *lab_sector_trace(struct lab *lab, const struct level_row *row,
                             uint64_t shift);

/* ---- the GPU ----------------------------------------------------------- */

/* SMs of the GPU; 1 where it does not say. */
unsigned lab_sms(const struct lab *lab);

/* The most warps that a block may have, of the most that a probe takes; 1 at
 * least, whatever the driver says. */
enum { LAB_BLOCK_WARPS = 32 };
unsigned lab_block_warps(const struct lab *lab);
/* So many, or as many as a block may have. */
unsigned lab_warps(const struct lab *lab, unsigned wanted);

#endif
