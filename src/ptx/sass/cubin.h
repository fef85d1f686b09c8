/*
 * A cubin: the ELF file of 64 bits in which the assembler leaves machine code.
 * The code of a kernel is the section ".text.KERNEL".
 *
 * The architecture stands in the flags of the file's head: in the lowest byte
 * of files of ABI version 7 (toolkits before 13), in the second byte of those
 * of version 8 (ptxas 13.0: seen for sm_75 to sm_120).
 */
#ifndef SONDE_PTX_SASS_CUBIN_H
#define SONDE_PTX_SASS_CUBIN_H

#include <stddef.h>

#include "base/error.h"

struct cubin {
    unsigned sm; /* of the architecture: 90 for sm_90 */
    const unsigned char *text;
    size_t bytes;
};

/*
 * Finds the code of a kernel; it points into `file`.  A damaged file is an
 * ERR_FILE, one without that kernel an ERR_UNSUPPORTED.
 */
int cubin_read(const void *file, size_t length, const char *kernel,
               struct cubin *cubin, struct error *err);

#endif
