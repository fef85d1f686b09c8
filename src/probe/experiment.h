/*
 * An experiment is a probe with its parameters, and it is text:
 *
 *     chase space=global op=ca bytes=4096 stride=128
 *
 * Studies, the command line, recordings and the evidence of findings all use
 * this text.  Its canonical form lists the parameters that differ from their
 * defaults, in the order of the probe's table, numbers in decimal; so the text
 * names the experiment and outlives changes of the kernels.  A value with
 * blanks stands in single quotes:
 *
 *     isa snippet='add.u32 %r0, %r0, %r1;' level=0
 */
#ifndef SONDE_PROBE_EXPERIMENT_H
#define SONDE_PROBE_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum param_kind {
    PARAM_NUMBER, /* decimal, 0x…, or with K, M, G */
    PARAM_WORD,   /* one of `words` */
    PARAM_LIST,   /* START:COUNT:STEP[,…]: segments of byte offsets */
    PARAM_TEXT,   /* any, which the probe itself reads */
};

struct param {
    const char *name; /* NULL ends a table */
    enum param_kind kind;
    const char *fallback; /* the default, as text */
    uint64_t least, most; /* PARAM_NUMBER */
    const char *const *words;
    const char *help; /* one line: what it is, its unit */
};

enum { PARAMS_MAX = 24 };

struct probe;

struct experiment {
    const struct probe *probe;
    char *value[PARAMS_MAX]; /* canonical text of each parameter */
};

/* ERR_USAGE for an unknown probe or parameter (with the nearest name), a value
 * that is out of its range or not of its kind, or one given twice. */
int experiment_parse(const char *text, struct experiment *experiment,
                     struct error *err);
void experiment_free(struct experiment *experiment);
/* Canonical text; the caller frees. */
char *experiment_text(const struct experiment *experiment);

bool experiment_has(const struct experiment *e, const char *param);
/* Values; the parameter must be in the probe's table. */
uint64_t experiment_number(const struct experiment *e, const char *param);
const char *experiment_word(const struct experiment *e, const char *param);

struct segment {
    uint64_t start, count, step; /* bytes, elements, bytes */
};
/* Segments of a PARAM_LIST; the caller frees. */
struct segment *experiment_list(const struct experiment *e, const char *param,
                                size_t *count);

#endif
