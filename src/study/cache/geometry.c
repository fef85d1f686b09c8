/*
 * The shape of a cache from the places that fit at growing steps (eviction.h).
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
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/cache.h"
#include "study/cache/eviction.h"

enum {
    STEPS_MOST = 40,      /* powers of two */
    COUNT_MOST = 1024,    /* places that are tried at a step */
    PICKS_MOST = 8 << 20, /* lines that are looked at for a list */
    WINDOWS = 6,          /* random places, where they are many … */
    WINDOW = 64 * 1024,   /* … of so many bytes */
    UNEQUAL_MOST = 800    /* entries of a cache of unequal sets */
};

/* How many places fit at 2^k lines; COUNT_MOST + 1: more; 0: not tried. */
struct curve {
    uint64_t fits[STEPS_MOST];
    int first, last;
};

static int find_curve(struct eviction *a, uint64_t lines, struct curve *c,
                      struct error *err)
{
    int k = 0;
    uint64_t guess = 0;
    *c = (struct curve){0};
    while (lines >> (k + 1) >= COUNT_MOST / 2)
        k++;
    c->first = k;
    /* Address bits far above the sets' own may be XORed into the index: all
     * steps are tried of which two more places than fit can be. */
    for (; k < STEPS_MOST; k++) {
        uint64_t *const fits = &c->fits[k];
        if (eviction_capacity(a, 0, a->unit << k, guess, COUNT_MOST, fits,
                              err) != 0)
            return err->code;
        log_say(LOG_DEBUG, "curve: 2^%d lines apart %" PRIu64 " fit", k, *fits);
        /* More places than before cannot be, but for want of room. */
        if (k > c->first && *fits > COUNT_MOST && c->fits[k - 1] <= COUNT_MOST)
            break;
        c->last = k;
        /* The next step most often has half as many, or as many. */
        guess = *fits > COUNT_MOST                        ? 0
                : k > c->first && *fits == c->fits[k - 1] ? *fits
                                                          : (*fits + 1) / 2;
        const uint64_t next = *fits > COUNT_MOST ? 1 : (*fits + 1) / 2;
        if ((a->unit << (k + 1)) * (next + 1) > a->span)
            break;
    }
    return 0;
}

/* Where the curve became flat, and stayed so to its end; the end may come at
 * once, where no more can be tried. */
static bool is_flat(const struct curve *c, int *from)
{
    int k = c->last;
    while (k > c->first && c->fits[k - 1] == c->fits[c->last])
        k--;
    *from = k;
    return c->fits[c->last] <= COUNT_MOST;
}

static int fits_exactly(struct eviction *a, uint64_t step, uint64_t count,
                        bool *yes, struct error *err)
{
    bool over = true;
    if (eviction_overflows(a, 0, step, count, &over, err) != 0)
        return err->code;
    *yes = !over;
    if (over || eviction_overflows(a, 0, step, count + 1, &over, err) != 0)
        return over ? 0 : err->code;
    *yes = over;
    return 0;
}

/* Takes the odd factors of the number of sets out of what fits at a step that
 * is a multiple of all its factors of two. */
static int find_odd_factors(struct eviction *a, uint64_t step, uint64_t *ways,
                            uint64_t *odd, struct error *err)
{
    *odd = 1;
    for (uint64_t p = 3; p <= *ways; p += 2) {
        bool divides = true;
        while (divides && *ways % p == 0) {
            const int status =
                fits_exactly(a, step * *odd * p, *ways / p, &divides, err);
            if (status != 0 && status != ERR_UNSUPPORTED)
                return status;
            divides = divides && status == 0;
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

static int any_evicts(struct eviction *a, const struct segment *group,
                      const struct combination *c, bool *yes, struct error *err)
{
    size_t count;
    struct segment *const list = list_combinations(c, &count);
    const int status = eviction_evicts(a, group, list, count, yes, err);
    free(list);
    return status;
}

/* Which combination of the open bits falls into the group's set: halves them,
 * bit by bit. */
static int find_combination(struct eviction *a, const struct segment *group,
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
static int find_bits(struct eviction *a, struct geometry *s, struct error *err)
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
        s->sets = 0;
    return 0;
}

/* Bits right above the line, if the sets are a power of two. */
static void default_bits(const struct eviction *a, struct geometry *s)
{
    for (unsigned i = 0; i < log2_of(s->sets) && i < COUNT_OF(s->bits); i++)
        s->bits[i] = a->unit << i;
    s->index = GEOMETRY_BITS;
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

static int find_equal(struct eviction *a, const struct curve *c, int flat,
                      uint64_t least, uint64_t most, struct geometry *s,
                      struct error *err)
{
    uint64_t odd;
    s->ways = c->fits[flat];
    if (find_odd_factors(a, a->unit << flat, &s->ways, &odd, err) != 0)
        return err->code;
    s->sets = sets_for(s->ways, odd, least, most);
    s->lines = s->sets * s->ways;
    s->same = (a->unit << flat) * odd;
    s->index = GEOMETRY_MODULO;
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
    s->index = GEOMETRY_BITS;
    return find_bits(a, s, err);
}

/* ---- any number of sets ----------------------------------------------- */

/* Takes factors out of a number of lines that are a multiple of the sets, as
 * long as no more of them fit: then it is the number of sets. */
static int reduce_to_sets(struct eviction *a, uint64_t *lines, uint64_t ways,
                          struct error *err)
{
    for (uint64_t p = 2; p <= *lines; p++) {
        bool same = true;
        while (same && *lines % p == 0) {
            if (fits_exactly(a, a->unit * (*lines / p), ways, &same, err) != 0)
                return err->code;
            if (same)
                *lines /= p;
        }
        /* A prime that is left whole needs no trying of all below it. */
        if (p * p > *lines && *lines > p)
            p = *lines - 1;
    }
    return 0;
}

/*
 * The number of lines is a multiple of the number of sets, whatever that is:
 * so one of the steps around it stays in one set.
 */
static int find_modulo(struct eviction *a, uint64_t least, uint64_t most,
                       struct geometry *s, struct error *err)
{
    enum { PLACES = 40, SCANNED_MOST = 24000 };
    const size_t count = most - least + 1;
    if (count > SCANNED_MOST || PLACES * most * a->unit > a->span)
        return 0;
    bool *const over = xcalloc(count, sizeof *over);
    int status = geometry_scan(a, least * a->unit, count, PLACES, over, err);
    for (size_t i = 0; status == 0 && i < count && s->sets == 0; i++) {
        uint64_t sets = least + i, ways;
        if (!over[i])
            continue;
        status = eviction_capacity(a, 0, sets * a->unit, 0, PLACES, &ways, err);
        if (status == 0 && ways <= PLACES && ways > 0)
            status = reduce_to_sets(a, &sets, ways, err);
        if (status == 0 && ways > 0 && sets * ways >= least &&
            sets * ways <= most)
            *s = (struct geometry){.index = GEOMETRY_MODULO,
                                   .sets = sets,
                                   .ways = ways,
                                   .lines = sets * ways,
                                   .same = sets * a->unit};
    }
    free(over);
    if (s->sets > 0 && is_power_of_two(s->sets))
        default_bits(a, s);
    return status;
}

/* ---- unequal sets ----------------------------------------------------- */

/*
 * Lines are numbered from the eviction's first, which need not be where dealing
 * begins.  So each line of a round of `lines` is asked which set it is in; then
 * the beginning is where dealing to sets of these ways gives just that order.
 */
struct dealing {
    uint64_t lines;
    size_t sets;
    struct segment *group; /* of each set: what fills it */
    uint32_t *set;         /* of each line */
};

/* The group of a new set, from the same line of the rounds that follow. */
static int add_set(struct eviction *a, struct dealing *d, uint64_t line,
                   uint64_t *sum, struct error *err)
{
    const uint64_t step = d->lines * a->unit, start = line * a->unit;
    const uint64_t guess = d->sets > 0 ? d->group[d->sets - 1].count : 0;
    uint64_t ways;
    if (eviction_capacity(a, start, step, guess, d->lines, &ways, err) != 0)
        return err->code;
    if (ways == 0 || ways > d->lines)
        return error_set(err, ERR_UNSUPPORTED, "a set has no bound");
    d->group = xreallocarray(d->group, d->sets + 1, sizeof *d->group);
    d->group[d->sets++] = (struct segment){start + step, ways, step};
    *sum += ways;
    return 0;
}

static int ask_lines(struct eviction *a, struct dealing *d, uint64_t *sum,
                     struct error *err)
{
    *sum = 0;
    for (uint64_t line = 0; line < d->lines && *sum <= d->lines; line++) {
        size_t which = 0;
        if (d->sets > 0 && eviction_which(a, d->group, d->sets, line * a->unit,
                                          &which, err) != 0)
            return err->code;
        if (which == d->sets && add_set(a, d, line, sum, err) != 0)
            return err->code;
        d->set[line] = (uint32_t)which;
    }
    return 0;
}

/* The ways of the sets in the order in which they come from line `first` on,
 * and whether dealing to them explains the whole round. */
static bool deals_from(const struct dealing *d, uint64_t first,
                       uint32_t *set_ways)
{
    uint32_t *const name = xcalloc(d->sets, sizeof *name);
    size_t named = 0;
    for (uint64_t i = 0; i < d->lines; i++) {
        const uint32_t set = d->set[(first + i) % d->lines];
        if (name[set] != 0)
            continue;
        set_ways[named++] = (uint32_t)d->group[set].count;
        name[set] = (uint32_t)named;
    }
    bool agrees = true;
    uint64_t line = first;
    for (uint32_t round = 0; agrees && line < first + d->lines; round++)
        for (size_t set = 0; set < d->sets; set++)
            if (round < set_ways[set] && line < first + d->lines)
                agrees = name[d->set[line++ % d->lines]] == set + 1 && agrees;
    free(name);
    return agrees;
}

static bool is_even(const struct geometry *s)
{
    for (uint64_t set = 1; set < s->sets; set++)
        if (s->set_ways[set] != s->set_ways[0])
            return false;
    return true;
}

/* Sets that turned out alike: their line numbers choose them by a modulus. */
static void forget_set_ways(struct geometry *s, const struct eviction *a)
{
    free(s->set_ways);
    s->set_ways = NULL;
    s->index = GEOMETRY_MODULO;
    s->first = 0;
    s->same = s->sets * a->unit;
    if (is_power_of_two(s->sets))
        default_bits(a, s);
}

static int find_unequal(struct eviction *a, uint64_t lines, struct geometry *s,
                        struct error *err)
{
    struct dealing d = {.lines = lines, .set = xcalloc(lines, sizeof *d.set)};
    uint64_t sum, first = 0;
    const int status = ask_lines(a, &d, &sum, err);
    if (status == 0 && sum == lines) {
        s->set_ways = xcalloc(d.sets, sizeof *s->set_ways);
        while (first < lines && !deals_from(&d, first, s->set_ways))
            first++;
        struct buf text = {0};
        for (uint64_t i = 0; i < lines; i++)
            buf_printf(&text, " %" PRIu32, d.set[i]);
        log_say(LOG_DEBUG, "dealing: %zu sets, begins at %" PRIu64 ":%s",
                d.sets, first, buf_string(&text));
        buf_free(&text);
        *s = (struct geometry){.index = GEOMETRY_UNEQUAL,
                               .sets = first < lines ? d.sets : 0,
                               .ways = d.group[0].count,
                               .lines = lines,
                               .first = first,
                               .same = lines * a->unit,
                               .set_ways = s->set_ways};
    }
    free(d.group);
    free(d.set);
    if (s->sets > 0 && is_even(s))
        forget_set_ways(s, a);
    return status;
}

/* ---- */

/* All lines that fit, at a step of one; 0 if they are too many to try. */
static int count_lines(struct eviction *a, uint64_t least, uint64_t most,
                       uint64_t *lines, struct error *err)
{
    *lines = 0;
    if (most > UNEQUAL_MOST)
        return 0;
    if (least == most) {
        *lines = least;
        return 0;
    }
    if (eviction_capacity(a, 0, a->unit, least, most + 1, lines, err) != 0)
        return err->code;
    if (*lines > most || *lines < least)
        *lines = 0;
    return 0;
}

/* ---- proof ------------------------------------------------------------ */

static struct cache *model_of(const struct eviction *a,
                              const struct geometry *s)
{
    uint32_t *const ways = xcalloc(s->sets, sizeof *ways);
    uint64_t bits[COUNT_OF(s->bits)];
    for (uint64_t i = 0; i < s->sets; i++)
        ways[i] = s->set_ways != NULL ? s->set_ways[i] : (uint32_t)s->ways;
    memcpy(bits, s->bits, sizeof bits);
    const struct cache_shape shape = {
        .line = a->unit,
        .sector = a->unit,
        .sets = s->sets,
        .set_ways = ways,
        .index_bits = s->index == GEOMETRY_BITS && s->sets > 1 ? bits : NULL,
        .index_bit_count = s->sets > 1 ? log2_of(s->sets) : 0,
    };
    struct cache *const model = cache_new(&shape, 1);
    free(ways);
    return model;
}

/* Where an offset lies for the model, whose dealing begins at 0. */
static uint64_t model_address(const struct eviction *a,
                              const struct geometry *s, uint64_t offset)
{
    return s->index != GEOMETRY_UNEQUAL
               ? offset
               : offset + (s->lines - s->first) * a->unit;
}

/* Random lines of which no set has more than it can hold; with `one` only of
 * line 0's set, one more than it can.  Returns how many were found. */
static size_t pick_lines(const struct eviction *a, const struct geometry *s,
                         const struct cache *model, struct rng *rng, bool one,
                         size_t wanted, uint64_t *places)
{
    const uint64_t range = a->span / a->unit;
    const uint64_t among = range < 16 * s->lines ? range : 16 * s->lines;
    /* Many lines lie in few windows, so that all find their translation. */
    const uint64_t window =
        one || among < 16 * WINDOW / a->unit ? among : WINDOW / a->unit;
    uint64_t first[WINDOWS];
    for (size_t i = 0; i < WINDOWS; i++)
        first[i] = rng_below(rng, among - window + 1) / window * window;
    uint32_t *const held = xcalloc(s->sets, sizeof *held);
    const size_t home = cache_set_of(model, model_address(a, s, 0));
    size_t found = 0;
    for (size_t i = 0; found < wanted && i < PICKS_MOST; i++) {
        const uint64_t at =
            (first[i % WINDOWS] + rng_below(rng, window)) * a->unit;
        const size_t set = cache_set_of(model, model_address(a, s, at));
        const uint32_t ways =
            s->set_ways != NULL ? s->set_ways[set] : (uint32_t)s->ways;
        bool known = one ? set != home : held[set] >= ways;
        for (size_t n = 0; n < found && !known; n++)
            known = places[n] == at;
        if (known)
            continue;
        held[set]++;
        places[found++] = at;
    }
    free(held);
    return found;
}

/* What hits cost where the places are: their neighbours lie on the same pages,
 * and in many sets. */
static int find_neighbours_cost(struct eviction *a, const uint64_t *places,
                                size_t count, double *base, struct error *err)
{
    uint64_t beside[EVICTION_PLACES];
    bool over;
    for (size_t i = 0; i < count; i++)
        beside[i] = (places[i] / a->unit ^ (1 + i % 15)) * a->unit;
    *base = 0;
    return eviction_list_overflows(a, beside, count, base, &over, err);
}

/* Picks lines and asks whether they fit as they should.  `many` is what hits
 * cost among lines of many sets; of one set that is all of the cache, too. */
static int prove_one(struct eviction *a, const struct geometry *s,
                     const struct cache *model, struct rng *rng, bool one,
                     size_t wanted, bool fits, double *many, bool *holds,
                     struct error *err)
{
    uint64_t places[EVICTION_PLACES];
    double base = one ? *many : 0;
    bool over;
    if (!*holds || wanted > EVICTION_PLACES)
        return 0;
    const size_t found = pick_lines(a, s, model, rng, one, wanted, places);
    if (one && found < wanted) {
        *holds = false;
        return 0;
    }
    if ((one && s->sets > 1 &&
         find_neighbours_cost(a, places, found, &base, err) != 0) ||
        eviction_list_overflows(a, places, found, &base, &over, err) != 0)
        return err->code;
    *holds = over != fits;
    if (!one)
        *many = base;
    log_say(LOG_DEBUG, "proof: %zu lines%s %s, hits cost %.0f", found,
            one ? " of a set" : "", over ? "do not fit" : "fit", base);
    return 0;
}

/*
 * Lines as far apart as the cache is large are of one set, if line numbers
 * choose it by a modulus: exactly its ways fit.  Where sets are unequal this
 * shows it, however many lines there are.
 */
static int prove_by_size(struct eviction *a, const struct geometry *s,
                         bool *holds, struct error *err)
{
    if (!*holds || s->index == GEOMETRY_UNEQUAL || s->same != s->sets * a->unit)
        return 0;
    const int status = fits_exactly(a, s->lines * a->unit, s->ways, holds, err);
    if (status != ERR_UNSUPPORTED)
        return status;
    /* Lists of random lines prove it, if they can be as long as a set. */
    *holds = s->ways + 1 <= EVICTION_PLACES;
    return 0;
}

/*
 * Lines at random places, not at even steps, must fit where the shape says so,
 * and not where it says no: of many sets; as many of one set as it has ways;
 * and one more.  Tried some times; one wrong answer refutes it.
 */
static int prove(struct eviction *a, struct geometry *s, struct error *err)
{
    enum { TIMES = 4 };
    const size_t many = s->lines < EVICTION_PLACES ? s->lines : EVICTION_PLACES;
    struct rng rng;
    rng_seed(&rng, s->lines);
    struct cache *const model = model_of(a, s);
    bool holds = true;
    int status = prove_by_size(a, s, &holds, err);
    for (int i = 0; holds && status == 0 && i < TIMES; i++) {
        double base = 0;
        if (prove_one(a, s, model, &rng, false, many, true, &base, &holds,
                      err) != 0 ||
            prove_one(a, s, model, &rng, true, s->ways, true, &base, &holds,
                      err) != 0 ||
            prove_one(a, s, model, &rng, true, s->ways + 1, false, &base,
                      &holds, err) != 0)
            status = err->code;
    }
    cache_free(model);
    if (!holds)
        s->sets = 0;
    return status;
}

/* A way to a shape, and the proof of what it found. */
static int attempt(struct eviction *a,
                   int (*find)(struct eviction *, uint64_t, uint64_t,
                               struct geometry *, struct error *),
                   uint64_t least, uint64_t most, struct geometry *s,
                   struct error *err)
{
    if (s->sets > 0)
        return 0;
    geometry_free(s);
    int status = find(a, least, most, s, err);
    if (status == 0 && s->sets > 0)
        status = prove(a, s, err);
    log_say(LOG_DEBUG,
            "shape: index %d, %" PRIu64 " sets, %" PRIu64 " ways, %" PRIu64
            " lines (of %" PRIu64 " to %" PRIu64 ")%s%s",
            s->index, s->sets, s->ways, s->lines, least, most,
            status != 0 ? ": " : "", status != 0 ? err->text : "");
    if (status == ERR_UNSUPPORTED) {
        s->sets = 0;
        return 0;
    }
    return status;
}

/* The last steps reach farthest, over the most pages, and may be misjudged. */
static int by_curve(struct eviction *a, uint64_t least, uint64_t most,
                    struct geometry *s, struct error *err)
{
    enum { DROPPED_MOST = 2 };
    struct curve c;
    int flat;
    if (find_curve(a, least, &c, err) != 0)
        return err->code;
    for (int i = 0; i <= DROPPED_MOST && c.last >= c.first; i++, c.last--)
        if (is_flat(&c, &flat)) {
            if (find_equal(a, &c, flat, least, most, s, err) != 0)
                return err->code;
            if (s->sets > 0)
                return 0;
        }
    return 0;
}

static int by_dealing(struct eviction *a, uint64_t least, uint64_t most,
                      struct geometry *s, struct error *err)
{
    uint64_t lines;
    if (count_lines(a, least, most, &lines, err) != 0 || lines == 0)
        return err->code;
    if (find_unequal(a, lines, s, err) != 0)
        return err->code;
    return 0;
}

int geometry_find(struct eviction *a, uint64_t least, uint64_t most,
                  struct geometry *s, struct error *err)
{
    *s = (struct geometry){0};
    *err = (struct error){0};
    if (attempt(a, by_curve, least, most, s, err) != 0 ||
        attempt(a, by_dealing, least, most, s, err) != 0 ||
        attempt(a, find_modulo, least, most, s, err) != 0)
        return err->code;
    *err = (struct error){0};
    if (s->sets == 0)
        s->why = "neither address bits nor the line number modulo the sets "
                 "explain which lines push each other out";
    return 0;
}

void geometry_free(struct geometry *s)
{
    free(s->set_ways);
    *s = (struct geometry){0};
}
