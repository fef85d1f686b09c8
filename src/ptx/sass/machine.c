#include "ptx/sass/machine.h"

#include <string.h>

static size_t next_branch(const struct listing *code, size_t from)
{
    while (from < code->count && strcmp(code->code[from].name, "BRA") != 0)
        from++;
    return from;
}

/* Of the branches from `first` on, how many follow each other at this distance.
 */
static size_t branches_in_step(const struct listing *code, size_t first,
                               size_t distance)
{
    size_t steps = 1;
    while (next_branch(code, first + 1) == first + distance) {
        first += distance;
        steps++;
    }
    return steps;
}

bool machine_find_loop(const struct listing *code, unsigned clock,
                       uint64_t block, uint64_t blocks,
                       struct machine_loop *loop)
{
    const size_t step = block / SASS_BYTES;
    if (clock == 0 || clock > code->clock_count)
        return false;
    const size_t start = code->clocks[clock - 1];
    for (size_t at = next_branch(code, start); at < code->count;
         at = next_branch(code, at + 1)) {
        const size_t found = branches_in_step(code, at, step);
        if (found + 1 < blocks)
            continue;
        /* The assembler may end the last block in a way of its own; then its
         * branch comes somewhat later. */
        const size_t last = at + (found - 1) * step;
        const size_t next = next_branch(code, last + 1);
        const bool late = next > last + step && next <= last + step + 4;
        loop->start = start * SASS_BYTES;
        loop->first = (at + 1) * SASS_BYTES;
        return late ? found == blocks - 1 : found == blocks;
    }
    return false;
}
