/* How the cost of one instruction of the table came about, as text. */
#ifndef SONDE_STUDY_INSTRUCTION_EXPLAIN_H
#define SONDE_STUDY_INSTRUCTION_EXPLAIN_H

#include "base/buf.h"
#include "study/lab.h"

/* ERR_USAGE, with the nearest name, if the table has none of that name. */
int explain_instruction(struct lab *lab, const char *name, unsigned levels,
                        struct buf *out, struct error *err);

#endif
