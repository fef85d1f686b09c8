/*
 * A study answers one question by running probes and analysing their samples.
 * One file, one line in studies.def, one truth test.
 *
 * A study sees a lab (lab.h): the device's own figures, the probes, what
 * earlier studies found.  It never sees which GPU it is, nor whether it is
 * simulated, and holds no table of answers.
 */
#ifndef SONDE_STUDY_STUDY_H
#define SONDE_STUDY_STUDY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"
#include "study/facts.h"

struct lab;

/*
 * A kind of finding that a study gives: the attribute of each of some
 * components, and its unit.
 *
 *     {level_components, "sector", "B"},
 *     {ONE("clock"), "overhead", "cycles"},
 */
struct answer {
    const char *const *components; /* NULL ends */
    const char *attribute;         /* NULL ends a table of answers */
    const char *unit;
};
#define ONE(component) TEXTS(component)

struct study {
    const char *name;
    const char *question;
    const char *method;
    /* Facts that others write and it reads (FACT_NONE ends), and findings of
     * others that it reads (NULL ends; `*` is any run, of one study): who finds
     * them comes before.  NULL is none. */
    const enum fact_id *reads;
    const char *const *reads_findings;
    /* Further studies that come before; NULL ends, and NULL is none. */
    const char *const *needs;
    /* All that it may find; nothing else can be told (lab_finding). */
    const struct answer *answers;
    /* Attributes of these that belong to some values of others only: where many
     * answers are left out together, nothing is said of them.  NULL ends, and
     * NULL is none. */
    const char *const *dependent;
    /* What it has an estimate of, and `verdict` finds; NULL is nothing. */
    const struct answer *proposes;
    /* Experiments whose kernels it needs, compiled beforehand; NULL ends, and
     * NULL is none. */
    const char *const *kernels;
    /* It finds what others propose: runs after all of them, whenever one does,
     * and even where these were cut short. */
    bool judges;
    /* Runs only when it is named, not with all that `topology` shows. */
    bool apart;
    /* Loads the GPU: its clock and state are told before and after
     * (gpu_state.h).  Runs after all that do not, and none of these needs it.
     */
    bool under_load;
    /* Of its findings those that are averages of many loads, so that each late
     * one changes them (`*` is any run; NULL ends); NULL is none. */
    const char *const *averages;
    /* Asks what the GPUs of a host share: one process at a time does. */
    bool shares;
    /* Adds its findings to lab->results.  An error that is left in the lab is
     * for a device that failed; what could not be measured is a finding that
     * says so. */
    void (*run)(struct lab *lab);
};

/* All, in reading order; NULL ends. */
extern const struct study *const study_table[];
const struct study *study_find(const char *name);

/* The one that judges. */
const struct study *study_judge(void);

/* The i-th study that must run before; NULL past the last.  One may come up
 * several times. */
const struct study *study_need(const struct study *study, size_t i);

/* The id of the i-th finding that the study gives; false past the last. */
enum { STUDY_ID = 128 };
bool study_gives(const struct study *study, size_t i, char id[STUDY_ID]);
/* The same of what it proposes; and whether that finding is of these. */
bool study_proposes(const struct study *study, size_t i, char id[STUDY_ID]);
bool study_does_propose(const struct study *study, const char *finding);

/* ---- the planner (plan.c) ----------------------------------------------- */

/* Studies that propose something that one of the named ones, which finds
 * nothing else, proposes, too: it is judged when all who propose it have run.
 * Returns how many; `rivals` has room for all studies. */
size_t plan_rivals(const char *const *names, size_t count, const char **rivals);

/* How many experiments it takes at most on a quiet GPU, by studies.def; 0: as
 * many as its table has. */
size_t plan_asks(const struct study *study);

/*
 * Runs the named studies and all that they need, each once, in the order of
 * needs and then of the table.  A study that is not reached (stop, budget, a
 * failed device) leaves not_measured findings for all that it gives, and
 * lab->cut_short says whether a stop or the budget was the reason.  Returns the
 * error of a device that failed, or the first of a kernel or a recording that
 * cost a finding (lab->lost), 0 otherwise.
 */
int plan_run(struct lab *lab, const char *const *names, size_t count,
             struct error *err);

#endif
