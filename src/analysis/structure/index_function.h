/*
 * Which sets addresses belong to, from those that are of one set and those that
 * are not: an index of XORs of address bits, or a remainder.
 *
 * Differences (XORs) of the addresses of one set span a subspace; the index is
 * what is constant on it: the masks whose parities all of it has even.  Of a
 * remainder the modulus divides all distances.  Both are what members allow;
 * those that are no members decide whether it is so.
 */
#ifndef SONDE_ANALYSIS_INDEX_FUNCTION_H
#define SONDE_ANALYSIS_INDEX_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INDEX_BITS_MOST = 48 };

struct index_function {
    uint64_t first; /* of the set, in lines */
    uint64_t first_place;
    uint64_t basis[INDEX_BITS_MOST];
    uint64_t modulus; /* greatest divisor of distances … */
    uint64_t every;   /* … and that of all lines, members or not */
    size_t since;     /* members since the last that told anything new */
    struct index_line {
        uint64_t line;
        uint64_t place; /* of which a remainder is */
        bool member;
    } * lines;
    size_t count;
    /* Set by index_function_holds(), or _solve(): bits in which enough lines
     * differ, and the masks, none of a remainder. */
    uint64_t seen;
    uint64_t mask[INDEX_BITS_MOST];
    size_t masks;
    /* Set by index_function_holds_sliced(), beside masks: all members, shifted
     * so, leave the same remainder by this odd number; 1: it tells nothing. */
    uint64_t odd;
    unsigned shift;
};

void index_function_begin(struct index_function *f, uint64_t first);
void index_function_end(struct index_function *f);
void index_function_add(struct index_function *f, uint64_t line, bool member);
/* The same of lines that are numbered without a bit that others tell: their
 * XORs are those of numbers, but a remainder is of where they lie, as that of
 * the first, which is set before. */
void index_function_add_at(struct index_function *f, uint64_t line,
                           uint64_t place, bool member);
/* Sets the masks over these bits, of which each leads a member's difference
 * from the first or belongs to none. */
void index_function_solve(struct index_function *f, uint64_t bits);
/* True if one of both foretells which lines are no members; sets the masks, in
 * reduced row echelon form, pivots ascending, over the bits that vary. */
bool index_function_holds(struct index_function *f);
/* True if both together do, as of slices by a remainder with sets and others by
 * XORs. */
bool index_function_holds_sliced(struct index_function *f);
/* An XOR of masks, not 0, that has none of these bits; 0: there is none. */
uint64_t index_function_without(const struct index_function *f, uint64_t bits);
/* As many as it tells apart. */
uint64_t index_function_sets(const struct index_function *f);

#endif
