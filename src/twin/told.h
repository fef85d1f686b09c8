/*
 * What a report tells of a GPU, for whoever builds a simulated one of it: what
 * is known under an id, what was taken from elsewhere because it is not.
 */
#ifndef SONDE_TWIN_TOLD_H
#define SONDE_TWIN_TOLD_H

#include "base/buf.h"
#include "finding/finding.h"

struct told {
    const struct results *results;
    /* An id that is taken for not measured, or NULL: so that what others say of
     * it shows. */
    const char *without;
    struct buf chosen;  /* names of what was not measured, and taken */
    struct buf doubted; /* ids that were used though a bound or in doubt */
};

/* NULL if there is no value; a bound, or what is in doubt, is one. */
const struct finding *told_finding(struct told *told, const char *component,
                                   const char *attribute);
/* Its number; 0 if it has none. */
double told_number(struct told *told, const char *component,
                   const char *attribute);
/* Its word; NULL if it has none. */
const char *told_word(struct told *told, const char *component,
                      const char *attribute);
bool told_true(struct told *told, const char *component, const char *attribute);
/* Item of a list of numbers; 0 if there is none. */
double told_item(struct told *told, const char *component,
                 const char *attribute, size_t item);

/* Notes that something was not measured. */
void told_choose(struct told *told, const char *what);

#endif
