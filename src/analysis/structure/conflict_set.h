/*
 * Conflict sets by group testing: of many lines the few that together push a
 * target out of a cache, whatever chooses their set (Vila, Köpf and Morales
 * 2019, arXiv 1810.01497; by prefixes, which takes ways × log2(lines) tests).
 *
 * All that is seen of the cache is whether a list of lines crowds the target
 * out.  The first lines of the list up to one that does are halved until that
 * one is known: it is of the set.  It is kept, and the lines before it are
 * asked again.  An answer may be wrong now and then: what was found is asked
 * once more, and a member that does not hold is taken back.
 */
#ifndef SONDE_ANALYSIS_CONFLICT_SET_H
#define SONDE_ANALYSIS_CONFLICT_SET_H

#include <stdbool.h>
#include <stddef.h>

struct conflict_test {
    void *context;
    /* Whether these candidates, by number, and the first `prefix` ones crowd
     * the target out. */
    bool (*crowds)(void *context, const size_t *kept, size_t count,
                   size_t prefix);
    /* The same of the first `all` but one, where lists of as many cannot be
     * asked; NULL: they can. */
    bool (*crowds_without)(void *context, size_t all, size_t out);
};

/* The smallest prefix that crowds the target out, beside those kept, if `all`
 * of the candidates do. */
size_t conflict_prefix(const struct conflict_test *test, const size_t *kept,
                       size_t count, size_t all);

/* Members of a minimal set among the candidates, at most `most`: as many as the
 * target's set has ways.  0: not even all candidates crowd it out, or the
 * answers contradict each other. */
size_t conflict_set(const struct conflict_test *test, size_t candidates,
                    size_t most, size_t *members);

#endif
