/*
 * Several reports of one GPU are one report: topology, load and isa are
 * measured apart.  What two reports say of one GPU must not be said of two
 * that only look alike, so whether they are of one is asked of the device's
 * own words.
 */
#ifndef SONDE_REPORT_MERGE_H
#define SONDE_REPORT_MERGE_H

#include <stdbool.h>

#include "base/error.h"
#include "finding/finding.h"

/* What two reports differ in that tells their GPUs apart. */
struct difference {
    const char *field; /* "uuid"; NULL: they are of one GPU */
    const struct value *one, *other;
};

/*
 * Where both say their uuid that tells, else spec and name do; and what they
 * say of the architecture, compute capability, driver and CUDA must be the
 * same, since numbers change with these.  What one does not say is no
 * difference.  `models`: GPUs of one model are one, so the uuid does not count.
 */
struct difference merge_difference(const struct results *a,
                                   const struct results *b, bool models);
/* ERR_USAGE: in which field the two differ. */
int merge_refuse(const struct results *a, const struct results *b, bool models,
                 struct error *err);

/* Takes what `from` knows over to `into`; the rest of it is to be freed.  Of a
 * finding of both the surer holds (one with a value goes before one without),
 * of two that are as sure the later run's. */
void merge_add(struct results *into, struct results *from);

#endif
