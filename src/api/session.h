/* What the files behind sonde.h share: a session. */
#ifndef SONDE_API_SESSION_H
#define SONDE_API_SESSION_H

#include "api/progress.h"
#include "base/mem.h"
#include "base/numeric.h"
#include "probe/run.h"
#include "probe/run/snippet_kernel.h"
#include "sonde.h"
#include "study/lab.h"

struct recording;

struct sonde {
    unsigned ticket;             /* by which it is stopped */
    struct device *device;       /* NULL on a replay */
    struct recording *recording; /* replayed, or being made, or NULL */
    char *record_path;           /* where it is to be written, or NULL */
    char why_not_gpu[sizeof((struct error *)0)->text];
    struct prober *prober;
    struct lab lab;
    struct results results;
    double budget_s, started, ran_s;
    struct sonde_progress progress;
    struct progress_part part; /* of the run that is over */
    int (*watch)(void *context, const struct sonde_progress *progress);
    void *context;
    struct handed_out *handed_out; /* see findings.c */
    size_t handed_out_count;
};

/* Hands an error of the library's inside out, unless the user wants none;
 * returns `code`. */
int session_hand_out(int code, const struct error *from,
                     struct sonde_error *err);
/* ERR_USAGE: the function cannot do without `what`, which is NULL. */
int session_lacks(const char *function, const char *what,
                  struct sonde_error *err);
/* True if there are so many words and none is NULL. */
bool session_words(const char *const *words, size_t count);

/* At the head of a function of sonde.h: what there is no memory for ends it. */
#define SESSION_WORK(otherwise)                                                \
    NUMERIC_PLAIN();                                                           \
    MEM_GUARD(otherwise)

/* What a function of sonde.h returns when there was no memory for its work. */
int session_out_of_memory(struct sonde_error *err);

/* Sets memory aside for the report of a run that has no more; before anything
 * is read or measured. */
void session_reserve(void);

/* Lets go of what was handed out of findings. */
void session_forget(struct sonde *session);
/* ERR_USAGE if the session is NULL or a report, which cannot measure. */
int session_measures(const struct sonde *session, const char *function,
                     struct sonde_error *err);

/* Runs studies; 1 if a stop or the budget cut them short. */
int session_run(struct sonde *session, const char *const *studies, size_t count,
                struct sonde_error *err);

#endif
