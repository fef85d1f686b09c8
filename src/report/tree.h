/*
 * The memory hierarchy as a load sees it: from the SM through L1 and L2 to
 * memory, beside that path what else an SM has, and after it what is no part
 * of it.
 */
#ifndef SONDE_REPORT_TREE_H
#define SONDE_REPORT_TREE_H

#include "report/writer.h"

void tree_write(const struct writer *writer);
/* Columns that the longest label takes, unless one is absurd. */
size_t tree_label_columns(const struct writer *writer, size_t most);

/* What a person calls a component, NULL where it has no name of its own; and an
 * attribute, which the caller frees. */
const char *tree_component(const char *id);
char *tree_words(const char *attribute);

#endif
