/*
 * A finding is one answer: id, value, unit, status, how sure, how it was
 * measured, and the experiments that show it.  Reports see results only: this
 * header, and nothing else of the studies.
 *
 * Ids are `component.attribute` in lower snake case (docs/findings.md).
 */
#ifndef SONDE_FINDING_FINDING_H
#define SONDE_FINDING_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(id, name in reports) */
#define FINDING_STATUSES(X)                                                    \
    X(MEASURED, "measured")                                                    \
    X(IN_DOUBT, "in_doubt")                                                    \
    X(REPORTED, "reported")                                                    \
    X(DERIVED, "derived")                                                      \
    X(AT_LEAST, "at_least")                                                    \
    X(AT_MOST, "at_most")                                                      \
    X(NOT_MEASURED, "not_measured")

enum finding_status {
#define X(id, name) STATUS_##id,
    FINDING_STATUSES(X)
#undef X
        STATUS_COUNT
};

const char *finding_status_name(enum finding_status status);
/* STATUS_COUNT when there is none of that name. */
enum finding_status finding_status_find(const char *name);

enum value_kind {
    VALUE_NONE,
    VALUE_NUMBER,
    VALUE_TEXT,
    VALUE_BOOL,
    VALUE_LIST
};

/* A list holds values of any kind; of lists only such of numbers.  VALUE_NONE
 * in a list is what was not measured. */
struct value {
    enum value_kind kind;
    double number; /* VALUE_NUMBER; VALUE_BOOL: 0 or 1 */
    char *text;    /* VALUE_TEXT */
    struct value *items;
    size_t count;
};

struct value value_number(double number);
struct value value_text(const char *text);
struct value value_bool(bool yes);
struct value value_list(void);
void value_push(struct value *list, struct value item);
/* A list of numbers, and of the numbers of the bits that are set. */
struct value value_numbers(const double *at, size_t count);
struct value value_bits(uint64_t mask);
/* All of it anew. */
struct value value_copy(const struct value *value);
void value_free(struct value *value);
bool value_equal(const struct value *a, const struct value *b);

struct protocol_entry {
    char *name;
    struct value value;
};

struct finding {
    char *id;
    struct value value; /* VALUE_NONE only with STATUS_NOT_MEASURED */
    char *unit;         /* "" where it has none */
    enum finding_status status;
    bool has_interval;
    double interval[2]; /* where the value is with `confidence`; of one in
                           doubt, where it is for all that is known */
    double confidence;  /* 0 … 1; negative: not stated */
    char *method;       /* NULL: none */
    char *because;      /* why it is a bound, doubted or not measured */
    char *study;
    struct protocol_entry *protocol;
    size_t protocol_count;
    bool skipped;    /* not measured, since there is no such thing here */
    bool unheard;    /* a proposal that a fault or a stop kept from being made */
    bool fallen;     /* it had a better status before the GPU was disturbed */
    char **evidence; /* experiments, as `sonde probe` takes them */
    size_t evidence_count;
};

struct finding_curve;

/* The findings of a run in the order in which they were made, with what a
 * report says of the run itself. */
struct results {
    char *version;  /* of sonde */
    char *commit;   /* that it was built of, NULL or "" where not known */
    char **command; /* the words of the command line */
    size_t command_count;
    /* What was measured: spec, name, compute_capability, driver, … */
    struct protocol_entry *device;
    size_t device_count;
    /* How it was measured: start, seconds, seed, replayed, … */
    struct protocol_entry *run;
    size_t run_count;
    char *notice; /* what a person reads last; NULL: nothing */
    struct finding **findings;
    size_t finding_count;
    size_t *places, place_count; /* by hashes of ids: see finding.c */
    struct finding_curve **curves; /* what is behind findings (curve.h) */
    size_t curve_count;
    char **dropped; /* ids of what there is nothing of: see results_drop */
    size_t dropped_count;
};

/*
 * Makers, used as
 *     struct finding *f = results_add(r, "l1.size", "cache_size");
 *     finding_set(f, STATUS_MEASURED, value_number(16384), "B");
 *     finding_evidence(f, text);
 * A second finding of the same id replaces the first.
 */
struct finding *results_add(struct results *results, const char *id,
                            const char *study);
const struct finding *results_find(const struct results *results,
                                   const char *id);
/* Moves the finding at `i` over from another run, with its curves, in the place
 * of one that has its id, or to the end. */
void results_take(struct results *into, struct results *from, size_t i);
/* Takes a finding away of what does not exist (ways of one number where sets
 * differ), so that it is not missed. */
void results_drop(struct results *results, const struct finding *finding);
bool results_dropped(const struct results *results, const char *id);
/* One that is there, to say more of it; NULL if it is not. */
struct finding *results_edit(struct results *results, const char *component,
                             const char *attribute);
void results_free(struct results *results);
void results_device(struct results *results, const char *name,
                    struct value value);
void results_run(struct results *results, const char *name, struct value value);
/* What is said of the device, or of the run; NULL if nothing is. */
const struct value *results_of_device(const struct results *results,
                                      const char *name);
const struct value *results_of_run(const struct results *results,
                                   const char *name);

void finding_set(struct finding *finding, enum finding_status status,
                 struct value value, const char *unit);
/* The same in the unit that the finding has. */
void finding_value(struct finding *finding, enum finding_status status,
                   struct value value);
void finding_unit(struct finding *finding, const char *unit);
void finding_interval(struct finding *finding, double low, double high,
                      double confidence);
void finding_because(struct finding *finding, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* not_measured, with the reason. */
void finding_none(struct finding *finding, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, since there is no such thing here. */
void finding_skip(struct finding *finding, const char *why);
void finding_method(struct finding *finding, const char *method);
void finding_protocol(struct finding *finding, const char *name,
                      struct value value);
/* What its protocol says under that name; NULL if it does not. */
const struct value *finding_said(const struct finding *finding,
                                 const char *name);
void finding_evidence(struct finding *finding, const char *experiment);
bool finding_cites(const struct finding *finding, const char *experiment);
/* The same, unless it is evidence already; NULL is none. */
void finding_cite(struct finding *finding, const char *experiment);
/* All that the other one cites; NULL is none. */
void finding_cite_as(struct finding *finding, const struct finding *other);

/* All of `from` but its id and its study. */
void finding_copy(struct finding *finding, const struct finding *from);

/* True if the finding has a number that may be relied on: no bound, and none
 * that a check speaks against. */
bool finding_number(const struct finding *finding, double *number);

#endif
