/* What is asked of the study `isa`. */
#ifndef SONDE_STUDY_INSTRUCTION_ISA_H
#define SONDE_STUDY_INSTRUCTION_ISA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "device/device.h"
#include "ptx/instruction.h"

struct isa_wish {
    /* Names, globs, categories or beginnings up to a dot ("add"); none: all. */
    const char *const *patterns;
    size_t pattern_count;
    unsigned levels; /* of the assembler, as bits */
    bool latency_only;
    bool parallelism; /* also throughput by chains and warps */
};

/* ERR_USAGE: there is no such instruction; the nearest name. */
int isa_unknown(const char *pattern, struct error *err);

/* What the row needs and the device has not; NULL if it has all.  The caller
 * frees. */
char *isa_lacking(const struct instruction *row,
                  const struct device_info *info);

#endif
