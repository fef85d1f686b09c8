#include "analysis/structure/conflict_set.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

enum {
    UNDONE_MOST = 16,
    /* Lines of a prefix that are left out one at a time: if half of the prefix
     * were needless, all of these would be needed once in 4096 times. */
    SAMPLED = 12
};

size_t conflict_prefix(const struct conflict_test *test, const size_t *kept,
                       size_t count, size_t all)
{
    size_t low = 0, high = all;
    /* Where all candidates are of one set it is the last one. */
    size_t next = all - 1;
    while (high - low > 1) {
        if (test->crowds(test->context, kept, count, next))
            high = next;
        else
            low = next;
        next = low + (high - low) / 2;
    }
    return high;
}

/* Whether the candidates do without one of them, the others being these. */
static bool does_without(const struct conflict_test *test, size_t *members,
                         size_t count, size_t i)
{
    const size_t out = members[i];
    members[i] = members[count - 1];
    const bool does = test->crowds(test->context, members, count - 1, 0);
    members[i] = out;
    return does;
}

/* Where all that come to hand are of the target's set, the shortest prefix is
 * the set; these are its candidates by number. */
static bool all_are_needed(const struct conflict_test *test, size_t *first,
                           size_t count)
{
    const size_t step = count > SAMPLED ? count / SAMPLED : 1;
    bool needed = true;
    for (size_t i = 0; needed && i < count; i += step)
        needed = test->crowds_without != NULL
                     ? !test->crowds_without(test->context, count, i)
                     : !does_without(test, first, count, i);
    return needed;
}

/* Drops members without whom the others do as well. */
static size_t drop_needless(const struct conflict_test *test, size_t *members,
                            size_t count)
{
    for (size_t i = 0; i < count && count > 1;) {
        if (does_without(test, members, count, i))
            members[i] = members[--count];
        else
            i++;
    }
    return count;
}

/* Adds members until they do without the rest; 0: they never do. */
static size_t gather(const struct conflict_test *test, size_t candidates,
                     size_t most, size_t *members)
{
    size_t *const end = xcalloc(most + 1, sizeof *end);
    size_t count = 0, undone = 0;
    end[0] = candidates;
    while (count == 0 || !test->crowds(test->context, members, count, 0)) {
        const bool rest = end[count] > 0 && test->crowds(test->context, members,
                                                         count, end[count]);
        if ((!rest && (count == 0 || ++undone > UNDONE_MOST)) ||
            (rest && count == most)) {
            count = 0;
            break;
        }
        if (!rest) {
            count--;
            continue;
        }
        members[count] = conflict_prefix(test, members, count, end[count]) - 1;
        end[count + 1] = members[count];
        count++;
    }
    free(end);
    return count;
}

size_t conflict_set(const struct conflict_test *test, size_t candidates,
                    size_t most, size_t *members)
{
    if (!test->crowds(test->context, NULL, 0, candidates))
        return 0;
    const size_t least = conflict_prefix(test, NULL, 0, candidates);
    for (size_t i = 0; i < least && least <= most; i++)
        members[i] = i;
    if (least <= most && all_are_needed(test, members, least))
        return least;
    return drop_needless(test, members, gather(test, least, most, members));
}
