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
#include "device/device.h"
#include "probe/experiment.h"

enum { COLUMNS_MAX = 12 };

struct samples {
    size_t columns;
    const char *names[COLUMNS_MAX]; /* point into the probe's table */
    size_t rows;
    size_t capacity; /* rows that fit in data */
    int64_t *data;   /* row by row */
    const char *experiment; /* canonical, where it is said */
};

void samples_init(struct samples *samples, const struct probe *probe);
void samples_free(struct samples *samples);
/* Adds a row of zeros and returns it. */
int64_t *samples_row(struct samples *samples);
int64_t samples_at(const struct samples *samples, size_t row, size_t column);
/* Index of a column that the probe has. */
size_t samples_column(const struct samples *samples, const char *name);

struct prober;

struct probe {
    const char *name;
    const char *what; /* one line for `sonde list` and `sonde explain` */
    const struct param *params;
    const char *const *columns; /* after `repeat`; NULL ends */
    /* The number that a repetition gives, from its rows [from, rows): what the
     * stopping rule watches. */
    double (*figure)(const struct experiment *experiment,
                     const struct samples *samples, size_t from);
    /* How often at least and at most; equal: that often. */
    unsigned repeats_least, repeats_most;
    /* The kernel for the device; ERR_USAGE for parameters that contradict each
     * other, ERR_UNSUPPORTED for what such a device cannot do. */
    int (*kernel)(const struct experiment *experiment,
                  const struct device_info *info, struct buf *ptx,
                  struct error *err);
    /* One repetition: appends its rows (without the column `repeat`). */
    int (*once)(struct prober *prober, const struct experiment *experiment,
                struct samples *samples, struct error *err);
};

/* By name; NULL if there is none. */
const struct probe *probe_find(const char *name);
/* All, in the order of probes.def; NULL ends. */
extern const struct probe *const probe_table[];

#endif
