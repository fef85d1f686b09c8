/*
 * The two-step search of Groessler (2022), section 3.2: double the size until
 * something no longer fits, then halve the region between the last size that
 * fitted and the first that did not.  The number of sizes tried grows with the
 * logarithm of the answer, not with the answer.
 */
#ifndef SONDE_ANALYSIS_SEARCH_H
#define SONDE_ANALYSIS_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Sizes that are tried together: first, first + step, …. */
struct search_sizes {
    uint64_t first, step;
    size_t count;
};

/* Tries sizes.  Returns 0 and an answer for each, or a negative code, which
 * ends the search. */
typedef int search_fits(void *context, const struct search_sizes *sizes,
                        bool *fits, struct error *err);

struct search_range {
    uint64_t least, most; /* the sizes to look between, both tried */
    uint64_t granularity; /* the bracket is no wider than this; > 0 */
    uint64_t relative;    /* or than this part of the size (64: 1/64); 0: no */
    size_t at_once;       /* sizes tried together to narrow a bracket, at most
                             SEARCH_AT_ONCE; 0 counts as 1, which halves it */
};

enum { SEARCH_AT_ONCE = 16 };

enum search_state {
    SEARCH_BRACKETED,
    SEARCH_ALL_FIT,  /* even `most`: fits == most, overflows == 0 */
    SEARCH_NONE_FITS /* not even `least`: fits == 0, overflows == least */
};

struct search {
    enum search_state state;
    uint64_t fits;      /* the largest size tried that fits */
    uint64_t overflows; /* the smallest that does not */
    size_t tried;
};

/* Sizes between the ends of the range are multiples of the granularity.  What
 * was bracketed when `fits` failed stays in *search. */
int search_size(const struct search_range *range, search_fits *fits,
                void *context, struct search *search, struct error *err);

#endif
