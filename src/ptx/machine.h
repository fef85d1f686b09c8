/*
 * Machine code, as far as a probe must know it: where in a kernel's code a
 * loop of equal blocks came to lie.  The assembler chooses; this looks.
 *
 * Instructions of 16 bytes (since Volta) are told apart by their low 12 bits,
 * the opcode.  Older encodings are not known.
 */
#ifndef SONDE_PTX_MACHINE_H
#define SONDE_PTX_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MACHINE_BYTES = 16 }; /* of an instruction */

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
bool machine_find_loop(const unsigned char *text, size_t bytes, unsigned clock,
                       uint64_t block, uint64_t blocks,
                       struct machine_loop *loop);

#endif
