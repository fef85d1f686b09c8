/* What a report's GPU is called where several stand side by side. */
#ifndef SONDE_REPORT_LABEL_H
#define SONDE_REPORT_LABEL_H

#include "finding/finding.h"

/*
 * Labels of so many reports, no two the same: name and uuid, or spec where that
 * is not known, so that what was written of one GPU today can be joined with
 * what is written tomorrow; and where these are the same the first field that
 * differs (driver, CUDA), or a number.  labels_free() frees.
 */
char **labels_of(const struct results *const *results, size_t count);
void labels_free(char **labels, size_t count);

#endif
