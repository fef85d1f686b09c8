#include "analysis/structure/index_function.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"

void index_function_begin(struct index_function *f, uint64_t first)
{
    *f = (struct index_function){.first = first, .first_place = first};
}

void index_function_end(struct index_function *f)
{
    free(f->lines);
    f->lines = NULL;
}

/* What is left of a vector once the basis is taken off. */
static uint64_t rest(const struct index_function *f, uint64_t v)
{
    for (size_t b = INDEX_BITS_MOST; b-- > 0;)
        if ((v >> b & 1) != 0 && f->basis[b] != 0)
            v ^= f->basis[b];
    return v;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static void take_member(struct index_function *f, uint64_t line)
{
    const uint64_t v = rest(f, line ^ f->first);
    const uint64_t modulus = u64_gcd(f->modulus, distance(f->first, line));
    f->since = v == 0 && modulus == f->modulus ? f->since + 1 : 0;
    f->modulus = modulus;
    if (v != 0)
        f->basis[63 - __builtin_clzll(v)] = v;
}

void index_function_add(struct index_function *f, uint64_t line, bool member)
{
    index_function_add_at(f, line, line, member);
}

void index_function_add_at(struct index_function *f, uint64_t line,
                           uint64_t place, bool member)
{
    f->lines = xreallocarray(f->lines, f->count + 1, sizeof *f->lines);
    f->lines[f->count++] = (struct index_line){line, place, member};
    f->every = u64_gcd(f->every, distance(f->first, line));
    if (member)
        take_member(f, line);
}

/* Bits that differ in a tenth of the lines at least. */
static uint64_t varied(const struct index_function *f)
{
    uint64_t bits = 0;
    for (unsigned b = 0; b < INDEX_BITS_MOST; b++) {
        size_t differ = 0;
        for (size_t i = 0; i < f->count; i++)
            differ += (f->lines[i].line ^ f->first) >> b & 1;
        if (10 * differ >= f->count)
            bits |= (uint64_t)1 << b;
    }
    return bits;
}

/* Leaves out lines that differ in other bits, of which too little is known. */
static void keep_varied(struct index_function *f)
{
    size_t kept = 0;
    f->seen = varied(f);
    for (size_t i = 0; i < f->count; i++)
        if (((f->lines[i].line ^ f->first) & ~f->seen) == 0)
            f->lines[kept++] = f->lines[i];
    f->count = kept;
    f->modulus = f->every = 0;
    for (size_t b = 0; b < INDEX_BITS_MOST; b++)
        f->basis[b] = 0;
    for (size_t i = 0; i < kept; i++) {
        f->every = u64_gcd(f->every, distance(f->first, f->lines[i].line));
        if (f->lines[i].member)
            take_member(f, f->lines[i].line);
    }
}

/* ---- masks ------------------------------------------------------------ */

/* Each leading bit in one vector of the basis alone. */
static void reduce_basis(struct index_function *f)
{
    for (size_t b = 0; b < INDEX_BITS_MOST; b++)
        for (size_t a = b + 1; f->basis[b] != 0 && a < INDEX_BITS_MOST; a++)
            if ((f->basis[a] >> b & 1) != 0)
                f->basis[a] ^= f->basis[b];
}

/* One mask for each bit that leads no vector: that bit, and the leading bits of
 * the vectors that have it. */
static void find_masks(struct index_function *f)
{
    f->masks = 0;
    for (size_t b = 0; b < INDEX_BITS_MOST; b++) {
        uint64_t mask = (uint64_t)1 << b;
        if (f->basis[b] != 0 || (f->seen >> b & 1) == 0)
            continue;
        for (size_t a = b + 1; a < INDEX_BITS_MOST; a++)
            if (f->basis[a] != 0 && (f->basis[a] >> b & 1) != 0)
                mask |= (uint64_t)1 << a;
        f->mask[f->masks++] = mask;
    }
}

static bool is_linear_member(const struct index_function *f,
                             const struct index_line *l)
{
    return rest(f, l->line ^ f->first) == 0;
}

static bool is_modular_member(const struct index_function *f,
                              const struct index_line *l)
{
    return distance(f->first, l->line) % f->modulus == 0;
}

/* Lines that are foretold to be members and are none. */
static size_t count_wrong(const struct index_function *f,
                          bool is_member(const struct index_function *f,
                                         const struct index_line *l))
{
    size_t wrong = 0;
    for (size_t i = 0; i < f->count; i++)
        wrong += !f->lines[i].member && is_member(f, &f->lines[i]);
    return wrong;
}

/* One of 20 may be none. */
static bool foretells(const struct index_function *f,
                      bool is_member(const struct index_function *f,
                                     const struct index_line *l))
{
    size_t members = 0;
    for (size_t i = 0; i < f->count; i++)
        members += f->lines[i].member;
    return 20 * count_wrong(f, is_member) <= members;
}

/* Members may lie as far apart as lines were laid: factors by which no line is
 * told from another, the largest first, are none of the modulus. */
static void reduce_modulus(struct index_function *f)
{
    const size_t wrong = count_wrong(f, is_modular_member);
    uint64_t prime[64], left = f->modulus / f->every;
    size_t count = 0;
    for (uint64_t factor = 2; left > 1; factor++)
        for (factor = factor * factor > left ? left : factor;
             left % factor == 0; left /= factor)
            prime[count++] = factor;
    while (count-- > 0) {
        f->modulus /= prime[count];
        if (count_wrong(f, is_modular_member) > wrong)
            f->modulus *= prime[count];
    }
}

void index_function_solve(struct index_function *f, uint64_t bits)
{
    f->seen = bits;
    reduce_basis(f);
    find_masks(f);
}

static void take_masks(struct index_function *f)
{
    keep_varied(f);
    index_function_solve(f, f->seen);
}

/* The largest odd number that divides all distances, counted in so many lines
 * as it takes. */
static void find_odd(struct index_function *f)
{
    f->odd = 1;
    for (unsigned shift = 0; shift < INDEX_BITS_MOST; shift++) {
        uint64_t common = 0;
        for (size_t i = 0; i < f->count; i++)
            if (f->lines[i].member)
                common = u64_gcd(common, distance(f->first_place >> shift,
                                                  f->lines[i].place >> shift));
        while (common != 0 && common % 2 == 0)
            common /= 2;
        if (common > f->odd) {
            f->odd = common;
            f->shift = shift;
        }
    }
}

static bool is_sliced_member(const struct index_function *f,
                             const struct index_line *l)
{
    return is_linear_member(f, l) &&
           distance(f->first_place >> f->shift, l->place >> f->shift) %
                   f->odd ==
               0;
}

bool index_function_holds_sliced(struct index_function *f)
{
    take_masks(f);
    find_odd(f);
    return foretells(f, is_sliced_member);
}

bool index_function_holds(struct index_function *f)
{
    take_masks(f);
    if (f->masks > 0 && foretells(f, is_linear_member))
        return true;
    f->masks = 0;
    if (f->modulus <= f->every || !foretells(f, is_modular_member))
        return false;
    reduce_modulus(f);
    return true;
}

uint64_t index_function_without(const struct index_function *f, uint64_t bits)
{
    uint64_t taken[INDEX_BITS_MOST] = {0}; /* by their highest of these bits */
    for (size_t i = 0; i < f->masks; i++) {
        uint64_t v = f->mask[i];
        for (size_t b = INDEX_BITS_MOST; b-- > 0;)
            if ((v & bits) >> b & 1) {
                if (taken[b] == 0) {
                    taken[b] = v;
                    break;
                }
                v ^= taken[b];
            }
        if ((v & bits) == 0)
            return v;
    }
    return 0;
}

uint64_t index_function_sets(const struct index_function *f)
{
    return f->masks > 0 ? (uint64_t)1 << f->masks : f->modulus / f->every;
}
