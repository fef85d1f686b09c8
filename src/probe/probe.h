/*
 * A probe is a family of experiments: parameters → PTX → samples.  One file
 * each, one line each in probes.def.
 *
 * Samples are a table of whole numbers as the GPU gave them (cycles, indices,
 * SM numbers); nothing is averaged away before it is kept.  The first column
 * is always `repeat`: which repetition of the experiment gave the row.
 */
#ifndef SONDE_PROBE_PROBE_H
#define SONDE_PROBE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/text.h"
#include "device/device.h"
#include "probe/experiment.h"

enum { COLUMNS_MAX = 12 };

struct samples {
    size_t columns;
    const char *names[COLUMNS_MAX]; /* point into the probe's table */
    size_t rows;
    size_t capacity;        /* rows that fit in data */
    int64_t *data;          /* row by row */
    const char *experiment; /* canonical, where it is said */
    char *disturbed; /* by what, as far as it could not be repeated; or NULL */
    bool in_pieces;  /* some of it was, each a launch of its own */
};

void samples_init(struct samples *samples, const struct probe *probe);
void samples_free(struct samples *samples);
/* Adds a row of zeros and returns it. */
int64_t *samples_row(struct samples *samples);
/* Adds a row of the columns after `repeat`, as words that a GPU gave. */
#define samples_add(samples, ...)                                              \
    samples_add_words(samples, (const uint64_t[]){__VA_ARGS__},                \
                      sizeof((const uint64_t[]){__VA_ARGS__}))
void samples_add_words(struct samples *samples, const uint64_t *words,
                       size_t bytes);
/* Adds the rows of others, which have the same columns: a `join`. */
void samples_append(struct samples *samples, size_t from,
                    const struct samples *more);
/* The row with that value in that column, from row `from` on; added, with all
 * else 0, if there is none. */
int64_t *samples_row_of(struct samples *samples, size_t from, size_t column,
                        int64_t value);
int64_t samples_at(const struct samples *samples, size_t row, size_t column);
/* Index of a column that the probe has. */
size_t samples_column(const struct samples *samples, const char *name);

struct prober;

/* Those of one repetition. */
struct rows {
    const struct samples *samples;
    size_t from, to;
};

struct probe {
    const char *name;
    const char *what; /* one line for `sonde list` and `sonde explain` */
    const struct param *params;
    size_t bytes; /* of the struct that takes their values: experiment.own */
    const char *const *columns; /* after `repeat`; NULL ends */
    /* The number that a repetition gives, which the stopping rule watches: of
     * its first row, in this column, … */
    size_t figure_column;
    /* … or, unless this is NULL, what it says of the rows [from, rows). */
    double (*figure)(const struct experiment *experiment,
                     const struct samples *samples, size_t from);
    /* How often at least and at most; equal: that often. */
    unsigned repeats_least, repeats_most;
    /* Completes the struct for a device; ERR_USAGE for parameters that
     * contradict each other, ERR_UNSUPPORTED for what such a device cannot do.
     * Optional, and so is what frees its own memory in the struct, which may
     * be of an experiment that was never prepared. */
    int (*prepare)(struct experiment *experiment,
                   const struct device_info *info, struct error *err);
    void (*release)(void *own);
    /* The kernel for the device; NULL: it has none. */
    void (*kernel)(const struct experiment *experiment,
                   const struct device_info *info, struct buf *out);
    /* One repetition: appends its rows (without the column `repeat`). */
    int (*once)(struct prober *prober, const struct experiment *experiment,
                struct samples *samples, struct error *err);
    /* Both NULL, or: in how many pieces a repetition may be taken at most, each
     * with all its preparation; and joins the rows of a further one with those
     * of the repetition, which are [from, rows). */
    unsigned (*pieces)(const struct experiment *experiment);
    void (*join)(struct samples *samples, size_t from,
                 const struct samples *piece);
    /* Both NULL, or: whether the experiment's program is one that takes long and
     * serves many; and has it assembled, while kernels of others are. */
    bool (*takes_long)(const struct experiment *experiment);
    int (*assemble)(struct prober *prober, const struct experiment *experiment,
                    struct error *err);
    /* Optional: what is wrong with rows that are said to be of a repetition of
     * it (check.h); NULL: nothing is. */
    const char *(*sound)(const struct experiment *experiment,
                         const struct rows *rows);
    /* Optional: loads that are made one after the other, at least. */
    uint64_t (*loads)(const struct experiment *experiment);
};

/* Makes an experiment ready for a device, once: its kernel can be written and
 * it can be run.  Fails as the probe's own `prepare`. */
int probe_prepare(struct experiment *experiment, const struct device_info *info,
                  struct error *err);
/* The same, and appends its kernel; ERR_UNSUPPORTED if the probe has none. */
int probe_kernel(struct experiment *experiment, const struct device_info *info,
                 struct buf *out, struct error *err);
/* What the stopping rule watches, of the rows [from, rows). */
double probe_figure(const struct experiment *experiment,
                    const struct samples *samples, size_t from);

/* By name; NULL if there is none. */
const struct probe *probe_find(const char *name);
/* All, in the order of probes.def; NULL ends. */
extern const struct probe *const probe_table[];

#endif
