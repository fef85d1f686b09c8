/*
 * The tables of Arafa 2019: II (instructions), III (what a newer toolkit
 * changes), IV (shared memory and constants), cell by cell.
 */
#ifndef SONDE_TESTS_ARAFA_H
#define SONDE_TESTS_ARAFA_H

#include <stddef.h>

/* The value of a finding, NAN if it was not measured. */
typedef double arafa_found_fn(void *context, const char *id);

struct arafa_count {
    size_t cells, wrong;
};

/* Prints each cell of the profile's GPU, what the paper says and what was
 * found; no cells if the paper knows no such GPU. */
struct arafa_count arafa_compare(const char *profile, arafa_found_fn *found,
                                 void *context);

#endif
