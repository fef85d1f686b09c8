/*
 * The shape of a cache from the places that fit at growing steps (arena.h).
 *
 * At a step of 2^k lines the places of an index by address bits, or by line
 * number modulo the sets, fall into ever fewer sets as k grows, until they fall
 * into as few as any power of two can make of them; from then on as many fit at
 * every step.  Odd factors of the number of sets show at odd steps.  What is
 * left is one set and its ways, and a step that stays in it.
 *
 * With lines of one set at hand, any other line can be asked whether it belongs
 * to them.  For an index of address bits, XORed or not, that gives the
 * equations of the index over GF(2): an address bit is new, or the set that it
 * chooses is that of some combination of bits below it.
 *
 * With unequal sets places fit irregularly; there lines are dealt to the sets
 * in rounds (Mei 2014, figure 10), so lines as far apart as there are entries
 * are in one set, and each set is asked for its ways.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/arena.h"

enum {
    STEPS_MOST = 40,    /* powers of two */
    COUNT_MOST = 1024,  /* places that are tried at a step */
    ALIKE = 3,          /* steps at which as many fit: the set is reached */
    UNEQUAL_MOST = 2048 /* entries of a cache of unequal sets */
};

/* How many places fit at 2^k lines; COUNT_MOST + 1: more; 0: not tried. */
struct curve {
    uint64_t fits[STEPS_MOST];
    int first, last;
};

static int find_curve(struct arena *a, uint64_t lines, struct curve *c,
                      struct error *err)
{
    int alike = 0, k = 0;
    uint64_t guess = 0;
    *c = (struct curve){0};
    while (lines >> (k + 1) >= COUNT_MOST / 2)
        k++;
    c->first = k;
    c->last = k - 1;
    for (; k < STEPS_MOST && alike < ALIKE; k++) {
        uint64_t *const fits = &c->fits[k];
        if (arena_capacity(a, 0, a->unit << k, guess, COUNT_MOST, fits, err) !=
            0)
            return err->code;
        if (*fits > COUNT_MOST && (a->unit << k) * 2 * 3 > a->span)
            break;
        c->last = k;
        alike = k > c->first && *fits == c->fits[k - 1] && *fits <= COUNT_MOST
                    ? alike + 1
                    : 0;
        /* The next step most often has half as many, or as many. */
        guess = *fits > COUNT_MOST || alike > 0 ? *fits : (*fits + 1) / 2;
    }
    return 0;
}

/* Where the curve became flat, if it did for long enough. */
static bool is_flat(const struct curve *c, int *from)
{
    int k = c->last;
    while (k > c->first && c->fits[k - 1] == c->fits[c->last])
        k--;
    *from = k;
    return c->last >= c->first && c->fits[c->last] <= COUNT_MOST &&
           c->last - k >= ALIKE - 1;
}

static int fits_exactly(struct arena *a, uint64_t step, uint64_t count,
                        bool *yes, struct error *err)
{
    bool over = true;
    if (arena_overflows(a, 0, step, count, &over, err) != 0)
        return err->code;
    *yes = !over;
    if (over || arena_overflows(a, 0, step, count + 1, &over, err) != 0)
        return over ? 0 : err->code;
    *yes = over;
    return 0;
}

/* Takes the odd factors of the number of sets out of what fits at a step that
 * is a multiple of all its factors of two. */
static int find_odd_factors(struct arena *a, uint64_t step, uint64_t *ways,
                            uint64_t *odd, struct error *err)
{
    *odd = 1;
    for (uint64_t p = 3; p <= *ways; p += 2) {
        bool divides = true;
        while (divides && *ways % p == 0) {
            if (fits_exactly(a, step * *odd * p, *ways / p, &divides, err) != 0)
                return err->code;
            if (divides) {
                *odd *= p;
                *ways /= p;
            }
        }
    }
    return 0;
}

/* ---- index bits ------------------------------------------------------- */

static unsigned log2_of(uint64_t power)
{
    return (unsigned)__builtin_ctzll(power);
}

static bool is_power_of_two(uint64_t x)
{
    return x != 0 && (x & (x - 1)) == 0;
}

/* The address bits found to be independent so far, and which may still be
 * combined: those of `open`; those of `set` are in every combination. */
struct combination {
    uint64_t open, set;
};

/* Segments of all combinations: runs of neighbouring bits are one step. */
static struct segment *list_combinations(const struct combination *c,
                                         size_t *count)
{
    uint64_t rest = c->open, run = 1, step = 0;
    if (rest != 0) {
        step = rest & -rest;
        while ((rest & (step * run)) != 0) {
            rest &= ~(step * run);
            run *= 2;
        }
    }
    *count = (size_t)1 << __builtin_popcountll(rest);
    struct segment *const list = xcalloc(*count, sizeof *list);
    uint64_t others = 0;
    for (size_t i = 0; i < *count; i++) {
        list[i] = (struct segment){c->set | others, run, run > 1 ? step : 0};
        others = (others - rest) & rest; /* the next subset of rest */
    }
    return list;
}

static int any_evicts(struct arena *a, const struct segment *group,
                      const struct combination *c, bool *yes, struct error *err)
{
    size_t count;
    struct segment *const list = list_combinations(c, &count);
    const int status = arena_evicts(a, group, list, count, yes, err);
    free(list);
    return status;
}

/* Which combination of the open bits falls into the group's set: halves them,
 * bit by bit. */
static int find_combination(struct arena *a, const struct segment *group,
                            struct combination *c, struct error *err)
{
    while (c->open != 0) {
        const uint64_t bit = c->open & -c->open;
        bool yes;
        c->open &= ~bit;
        if (any_evicts(a, group, c, &yes, err) != 0)
            return err->code;
        if (!yes)
            c->set |= bit;
    }
    return 0;
}

/* The group avoids line 0, whose combinations are the others. */
static int find_bits(struct arena *a, struct arena_shape *s, struct error *err)
{
    const struct segment group = {s->same, s->ways, s->same};
    uint64_t pivots = 0;
    size_t rank = 0;
    for (uint64_t bit = a->unit; bit < s->same; bit *= 2) {
        struct combination c = {pivots, bit};
        bool yes;
        if (any_evicts(a, &group, &c, &yes, err) != 0)
            return err->code;
        if (!yes) {
            if (rank == COUNT_OF(s->bits) || (uint64_t)1 << rank >= s->sets)
                break;
            pivots |= bit;
            s->bits[rank++] = bit;
            continue;
        }
        if (find_combination(a, &group, &c, err) != 0)
            return err->code;
        for (size_t i = 0; i < rank; i++)
            if ((c.set & ~bit & s->bits[i] & pivots) != 0)
                s->bits[i] |= bit;
    }
    if ((uint64_t)1 << rank != s->sets)
        s->why = "the address bits that choose the set do not make as many "
                 "sets as there are";
    return 0;
}

/* Bits right above the line, if the sets are a power of two. */
static void default_bits(const struct arena *a, struct arena_shape *s)
{
    for (unsigned i = 0; i < log2_of(s->sets) && i < COUNT_OF(s->bits); i++)
        s->bits[i] = a->unit << i;
    s->index = ARENA_BITS;
}

/* ---- equal sets ------------------------------------------------------- */

/* The number of sets that `ways` and a number of lines between least and most
 * make, if it is `odd` times a power of two; 0 if none is. */
static uint64_t sets_for(uint64_t ways, uint64_t odd, uint64_t least,
                         uint64_t most)
{
    uint64_t sets = odd;
    while (sets * ways < least)
        sets *= 2;
    return sets * ways <= most ? sets : 0;
}

static int find_equal(struct arena *a, const struct curve *c, int flat,
                      uint64_t least, uint64_t most, struct arena_shape *s,
                      struct error *err)
{
    uint64_t odd;
    s->ways = c->fits[flat];
    if (find_odd_factors(a, a->unit << flat, &s->ways, &odd, err) != 0)
        return err->code;
    s->sets = sets_for(s->ways, odd, least, most);
    s->lines = s->sets * s->ways;
    s->same = (a->unit << flat) * odd;
    s->index = ARENA_MODULO;
    if (s->sets == 0)
        return 0;
    if (s->same == s->sets * a->unit) {
        if (is_power_of_two(s->sets))
            default_bits(a, s);
        return 0;
    }
    if (odd > 1) {
        s->sets = 0;
        return 0;
    }
    s->index = ARENA_BITS;
    return find_bits(a, s, err);
}

/* ---- unequal sets ----------------------------------------------------- */

/* The next line after 0 that is in its set: that many sets there are. */
static int find_round(struct arena *a, const struct segment *group,
                      uint64_t lines, uint64_t *sets, struct error *err)
{
    bool yes = false;
    for (*sets = 0; !yes && *sets < lines;) {
        ++*sets;
        const struct segment other = {*sets * a->unit, 1, 0};
        if (arena_evicts(a, group, &other, 1, &yes, err) != 0)
            return err->code;
    }
    return 0;
}

static int find_unequal(struct arena *a, uint64_t lines, struct arena_shape *s,
                        struct error *err)
{
    const uint64_t step = lines * a->unit;
    uint64_t sum = 0;
    *s = (struct arena_shape){.index = ARENA_UNEQUAL, .same = step};
    if (arena_capacity(a, 0, step, 0, lines, &s->ways, err) != 0)
        return err->code;
    const struct segment group = {step, s->ways, step};
    if (s->ways > lines || s->ways == 0 ||
        find_round(a, &group, lines, &s->sets, err) != 0)
        return s->ways > lines || s->ways == 0 ? 0 : err->code;
    s->set_ways = xcalloc(s->sets, sizeof *s->set_ways);
    uint64_t ways = s->ways;
    for (uint64_t set = 0; set < s->sets && sum <= lines; set++) {
        if (arena_capacity(a, set * a->unit, step, ways, lines, &ways, err) !=
            0)
            return err->code;
        s->set_ways[set] = (uint32_t)ways;
        sum += ways;
    }
    s->lines = sum;
    return 0;
}

/* ---- */

/* All lines that fit, at a step of one; 0 if they are too many to try. */
static int count_lines(struct arena *a, uint64_t least, uint64_t most,
                       uint64_t *lines, struct error *err)
{
    *lines = 0;
    if (most > UNEQUAL_MOST)
        return 0;
    if (arena_capacity(a, 0, a->unit, least, most, lines, err) != 0)
        return err->code;
    if (*lines > most || *lines < least)
        *lines = 0;
    return 0;
}

/* A set really has its ways, at a step that was not asked yet. */
static int confirm(struct arena *a, struct arena_shape *s, struct error *err)
{
    bool yes;
    if (s->sets == 0 || s->why != NULL)
        return 0;
    const int status = fits_exactly(a, 3 * s->same, s->ways, &yes, err);
    if (status == ERR_UNSUPPORTED)
        return 0;
    if (status == 0 && !yes)
        s->sets = 0;
    return status;
}

int arena_shape(struct arena *a, uint64_t least, uint64_t most,
                struct arena_shape *s, struct error *err)
{
    struct curve c;
    int flat;
    *s = (struct arena_shape){0};
    if (find_curve(a, least, &c, err) != 0)
        return err->code;
    if (is_flat(&c, &flat) &&
        (find_equal(a, &c, flat, least, most, s, err) != 0 ||
         confirm(a, s, err) != 0))
        return err->code;
    if (s->sets > 0)
        return 0;
    uint64_t lines;
    if (count_lines(a, least, most, &lines, err) != 0 ||
        (lines > 0 && find_unequal(a, lines, s, err) != 0))
        return err->code;
    if (lines == 0 || s->lines != lines)
        s->why = "neither address bits nor the line number modulo the sets "
                 "explain which lines push each other out";
    return 0;
}

void arena_shape_free(struct arena_shape *s)
{
    free(s->set_ways);
    *s = (struct arena_shape){0};
}
