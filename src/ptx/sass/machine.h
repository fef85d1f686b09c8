/*
 * Where in a kernel's machine code a loop of equal blocks came to lie.  The
 * assembler chooses; this looks.
 */
#ifndef SONDE_PTX_SASS_MACHINE_H
#define SONDE_PTX_SASS_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/sass/listing.h"

struct machine_loop {
    uint64_t start; /* of the clock read that begins it, B from the text */
    uint64_t first; /* end of the first block */
};

/*
 * Finds the loop of `blocks` >= 3 blocks that begins with that clock read
 * of the text, from 1; each block ends with a branch, and all but the first
 * have `block` bytes.  False if there is none such: the assembler made
 * something else of it.
 */
bool machine_find_loop(const struct listing *code, unsigned clock,
                       uint64_t block, uint64_t blocks,
                       struct machine_loop *loop);

#endif
