/*
 * Many GPUs: what each report says, as numbers and words in columns, one a
 * finding (or an item of a list); what the others of its model say; and who
 * lies beyond.
 *
 * A fleet is read (read.c) by several threads, and judged (judge.c) by one: the
 * statistics are analysis/statistics/crowd.h.  Text, JSON, page and metrics are
 * written from what was judged.
 */
#ifndef SONDE_REPORT_FLEET_FLEET_H
#define SONDE_REPORT_FLEET_FLEET_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/statistics/crowd.h"
#include "base/error.h"
#include "report/report.h"

/* ---- what was read ------------------------------------------------------- */

/* Names that are kept once each; their numbers are those of the order in which
 * they came.  Threads may add. */
struct names {
    char **at;
    size_t count, capacity;
    uint32_t *places; /* by hash; 0: free, else number + 1 */
    size_t place_count;
    pthread_mutex_t lock;
};

/* What a report says in a column. */
enum fleet_kind { FLEET_NUMBER, FLEET_WORDS = -1, FLEET_UNKNOWN = -2 };
struct fleet_value {
    uint32_t column;
    float half;    /* of a number: how far its interval reaches on its nearer
                      side, at least 0; else an enum fleet_kind */
    double number; /* of words: the number of the name */
};

struct fleet_gpu {
    char *path, *host, *uuid, *spec, *start;
    char *id;                   /* what tells it from all others, at any time */
    uint32_t model;             /* the number of its name */
    uint32_t version;           /* of the sonde that measured, of its words */
    struct fleet_value *values; /* in the order of columns */
    uint32_t count;
    size_t reports; /* that it is of */
};

/* Why a file, or a report, is not judged; or what else is to be said of it. */
enum fleet_state {
    FLEET_READ,
    FLEET_BROKEN,
    FLEET_CUT, /* ends too early: cut short, or still being written */
    FLEET_EMPTY,
    FLEET_FOREIGN,
    FLEET_NEWER,
    FLEET_UNREADABLE,
    FLEET_OLD,       /* read: of an older version of the format */
    FLEET_DUPLICATE, /* read: its GPU has a later one */
    FLEET_STATES
};
const char *fleet_state_name(enum fleet_state state); /* "broken" */
const char *fleet_state_words(enum fleet_state state);

struct fleet_note {
    enum fleet_state state;
    char *path, *why; /* NULL: nothing more is to be said */
};

/* All reports of one set, which share names with another set that is compared
 * with them. */
struct fleet_set {
    struct fleet_gpu *gpus; /* by model, host, and what tells them apart */
    size_t count;
    struct fleet_note *notes; /* in the order of the files */
    size_t note_count;
    size_t states[FLEET_STATES];
};

/* A column is called by its finding and, behind a tab, its unit: what is told
 * in another unit is another column. */
#define FLEET_UNIT_BEHIND "\t"
struct fleet_names {
    struct names columns, words;
};
void fleet_names_init(struct fleet_names *names);

/* Files, and folders with all that is below; "-" is standard input: a list of
 * paths, or reports.  ERR_FILE for a path that is not there. */
int fleet_read(struct fleet_set *set, struct fleet_names *names,
               const char *const *paths, size_t count, struct error *err);
void fleet_set_free(struct fleet_set *set);
void fleet_gpu_free(struct fleet_gpu *gpu);
void fleet_names_free(struct fleet_names *names);

/* ---- what was judged ----------------------------------------------------- */

/* How the values of a model's column are. */
struct fleet_finding {
    uint32_t column;
    bool structure; /* counted, or words: one value is that of most */
    size_t gpus;    /* that have a value */
    size_t unknown; /* that should, and have none */
    double centre;  /* of structure: the number of most, or of their words */
    bool words;
    size_t agree;  /* of structure: that have it */
    double spread; /* standard deviation, robust; 0 of structure */
    double limit;  /* how far from the centre the fleet's scatter reaches */
    size_t out;
    bool divided; /* of structure: too many differ for one to be out */
};

enum fleet_level { FLEET_GPU, FLEET_HOST, FLEET_RACK };

/* Someone who lies beyond. */
struct fleet_out {
    enum fleet_level level;
    const char *name; /* of the host or the rack; NULL of a GPU */
    size_t gpu;       /* in the set; of a group its first one */
    size_t gpus;      /* of a group: how many it has */
    size_t finding;   /* in the model */
    double times;     /* of the limit; INFINITY of structure */
    double number;    /* or words, as the finding's centre */
    bool words;
    double share; /* how far from the centre, as a share of it */
};

struct fleet_model {
    uint32_t name;
    size_t from, count; /* GPUs of the set */
    size_t hosts, racks;
    struct fleet_finding *findings;
    size_t finding_count;
    struct fleet_out *out; /* structure first, then the furthest */
    size_t out_count;
    size_t gpus_out;
    struct crowd_tail tail;   /* of its numbers, in spreads; all 0: not known */
    struct crowd_prior prior; /* of their spreads */
};

/* What is not as it was in another set. */
struct fleet_change {
    size_t gpu; /* in the set now; SIZE_MAX: of the model as a whole */
    uint32_t model, column;
    bool words, structure;
    double before, now, share;
};

struct fleet_wish {
    double alarms;    /* false ones to be expected in a whole fleet */
    double tolerance; /* a share: what is less is never told */
    const char *rack; /* regular expression, of the host's name */
    const char *only; /* patterns of columns with commas between; NULL: all */
};

struct fleet {
    struct fleet_names names;
    struct fleet_set now, since;
    bool compared; /* there is a `since` */
    struct fleet_wish wish;
    struct fleet_model *models;
    size_t model_count;
    double chance; /* of a value of the crowd to lie beyond the limit */
    char **columns, **units; /* of each column */
    struct fleet_change *changes;
    size_t change_count;
    char **gone, **came; /* ids of GPUs of one set only */
    size_t gone_count, came_count;
    char **missing; /* hosts that were expected and gave no report */
    size_t missing_count;
    char **racks; /* of each GPU; NULL: it has none */
    size_t hosts, expected;
};

/* Fills in the models; ERR_USAGE for a rack that is no expression. */
int fleet_judge(struct fleet *fleet, struct error *err);
/* Fills in what has changed since the other set. */
void fleet_compare(struct fleet *fleet);
/* Hosts of a list, one a line, that no report is of. */
int fleet_expect(struct fleet *fleet, const char *path, struct error *err);
void fleet_free(struct fleet *fleet);
/* True if somebody is out, missing or changed. */
bool fleet_differs(const struct fleet *fleet);

/* What the column says of a GPU; NULL: nothing. */
const struct fleet_value *fleet_value_of(const struct fleet_gpu *gpu,
                                         uint32_t column);
/* "l2.latency", "B", and words. */
const char *fleet_column(const struct fleet *fleet, uint32_t column);
/* The columns' names and units apart, once all is read. */
void fleet_name_columns(struct fleet *fleet);
const char *fleet_unit(const struct fleet *fleet, uint32_t column);
const char *fleet_words(const struct fleet *fleet, double number);
/* Appends a number with its unit, or words. */
void fleet_put(const struct fleet *fleet, struct buf *out, uint32_t column,
               bool words, double number);
/* GPUs by the version of sonde that measured them: the words, and how many; the
 * caller frees.  Numbers of two versions may differ by what they ask. */
struct fleet_version {
    uint32_t words;
    size_t gpus;
};
struct fleet_version *fleet_versions(const struct fleet *fleet, size_t *count);
/* "NVIDIA H200" */
const char *fleet_model_name(const struct fleet *fleet, uint32_t model);
/* What a GPU is called where others of its host are, too: its uuid, or spec. */
const char *fleet_gpu_name(const struct fleet_gpu *gpu);

/* ---- what is written ----------------------------------------------------- */

void fleet_text(const struct fleet *fleet, const struct report_style *style,
                struct buf *out);
void fleet_json(const struct fleet *fleet, struct buf *out);
void fleet_page(const struct fleet *fleet, struct buf *out);
void fleet_metrics(const struct fleet *fleet, struct buf *out);

#endif
