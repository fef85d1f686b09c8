#include "ptx/machine.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

/* Opcodes of sm_70 to sm_120, seen in what ptxas 13.0 assembles. */
enum { OPCODE_MASK = 0xfff, OPCODE_SPECIAL = 0x805, OPCODE_BRANCH = 0x947 };
/* The same into uniform registers, as sm_120 has it. */
enum { OPCODE_UNIFORM = 0x8cb };
/* Which special register is read, in byte 9; others are read for zeros. */
enum { SPECIAL_BYTE = 9, SPECIAL_CLOCK = 0x50 };

static unsigned opcode_at(const unsigned char *text, size_t i)
{
    return (text[i * MACHINE_BYTES] | (unsigned)text[i * MACHINE_BYTES + 1]
                                          << 8) &
           OPCODE_MASK;
}

static size_t next_branch(const unsigned char *text, size_t count, size_t from)
{
    while (from < count && opcode_at(text, from) != OPCODE_BRANCH)
        from++;
    return from;
}

/* Of the branches from `first` on, how many follow each other at this distance.
 */
static size_t branches_in_step(const unsigned char *text, size_t count,
                               size_t first, size_t distance)
{
    size_t steps = 1;
    while (next_branch(text, count, first + 1) == first + distance) {
        first += distance;
        steps++;
    }
    return steps;
}

static bool is_clock(const unsigned char *text, size_t i)
{
    const unsigned opcode = opcode_at(text, i);
    return (opcode == OPCODE_SPECIAL || opcode == OPCODE_UNIFORM) &&
           text[i * MACHINE_BYTES + SPECIAL_BYTE] == SPECIAL_CLOCK;
}

/* The clock read of that number, from 1; `count` if there are not so many. */
static size_t find_clock(const unsigned char *text, size_t count,
                         unsigned number)
{
    for (size_t i = 0; i < count; i++)
        if (is_clock(text, i) && --number == 0)
            return i;
    return count;
}

bool machine_find_loop(const unsigned char *text, size_t bytes, unsigned clock,
                       uint64_t block, uint64_t blocks,
                       struct machine_loop *loop)
{
    const size_t count = bytes / MACHINE_BYTES, step = block / MACHINE_BYTES;
    const size_t start = find_clock(text, count, clock);
    for (size_t at = next_branch(text, count, start); at < count;
         at = next_branch(text, count, at + 1)) {
        const size_t found = branches_in_step(text, count, at, step);
        if (found + 1 < blocks)
            continue;
        /* The assembler may end the last block in a way of its own; then its
         * branch comes somewhat later. */
        const size_t last = at + (found - 1) * step;
        const bool late = next_branch(text, count, last + 1) <= last + step + 4;
        loop->start = start * MACHINE_BYTES;
        loop->first = (at + 1) * MACHINE_BYTES;
        return late ? found == blocks - 1 : found == blocks;
    }
    return false;
}
