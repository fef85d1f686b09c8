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
#include "study/cache/geometry.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/cache.h"

enum {
    STEPS_MOST = 40,      /* powers of two */
    COUNT_MOST = 1024,    /* places that are tried at a step */
    PICKS_MOST = 8 << 20, /* lines that are looked at for a list */
    WINDOWS = 6,          /* random places, where they are many … */
    WINDOW = 64 * 1024,   /* … of so many bytes */
    UNEQUAL_MOST = 800    /* entries of a cache of unequal sets */
};

/* ---- places that fit at growing steps --------------------------------- */

/* How many places fit at 2^k lines; COUNT_MOST + 1: more; 0: not tried. */
struct curve {
    uint64_t fits[STEPS_MOST];
    int first, last;
};

/* Where to look first at the step after k: it most often has half as many
 * places, or as many. */
static uint64_t next_guess(const struct curve *c, int k)
{
    if (c->fits[k] > COUNT_MOST)
        return 0;
    return k > c->first && c->fits[k] == c->fits[k - 1] ? c->fits[k]
                                                        : (c->fits[k] + 1) / 2;
}

/* True if two more places than may fit can be tried at the step after k. */
static bool reaches_next(const struct eviction *e, const struct curve *c, int k)
{
    const uint64_t next = c->fits[k] > COUNT_MOST ? 1 : (c->fits[k] + 1) / 2;
    return (e->unit << (k + 1)) * (next + 1) <= e->span;
}

/* Address bits far above the sets' own may be XORed into the index: all steps
 * are tried that can be. */
static struct curve find_curve(struct eviction *e, uint64_t lines)
{
    struct curve c = {0};
    int k = 0;
    uint64_t guess = 0;
    while (lines >> (k + 1) >= COUNT_MOST / 2)
        k++;
    c.first = k;
    for (; lab_ok(e->lab) && k < STEPS_MOST; k++) {
        c.fits[k] = eviction_capacity(e, 0, e->unit << k, guess, COUNT_MOST);
        log_say(LOG_DEBUG, "curve: 2^%d lines apart %" PRIu64 " fit", k,
                c.fits[k]);
        /* More places than before cannot be, but for want of room. */
        if (k > c.first && c.fits[k] > COUNT_MOST &&
            c.fits[k - 1] <= COUNT_MOST)
            break;
        c.last = k;
        guess = next_guess(&c, k);
        if (!reaches_next(e, &c, k))
            break;
    }
    return c;
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

static bool fits_exactly(struct eviction *e, uint64_t step, uint64_t count)
{
    return !eviction_overflows(e, &(struct segment){0, count, step}) &&
           eviction_overflows(e, &(struct segment){0, count + 1, step});
}

/* Takes the odd factors of the number of sets out of what fits at a step that
 * is a multiple of all its factors of two. */
static uint64_t find_odd_factors(struct eviction *e, uint64_t step,
                                 uint64_t *ways)
{
    uint64_t odd = 1;
    for (uint64_t p = 3; p <= *ways; p += 2)
        while (*ways % p == 0) {
            const bool exact = fits_exactly(e, step * odd * p, *ways / p);
            if (eviction_gave_up(e) || !lab_ok(e->lab) || !exact)
                break;
            odd *= p;
            *ways /= p;
        }
    return odd;
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
static struct segment *
list_combinations(struct lab *lab, const struct combination *c, size_t *count)
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
    struct segment *const list = lab_alloc(lab, *count, sizeof *list);
    uint64_t others = 0;
    for (size_t i = 0; i < *count; i++) {
        list[i] = (struct segment){c->set | others, run, run > 1 ? step : 0};
        others = (others - rest) & rest; /* the next subset of rest */
    }
    return list;
}

static bool any_evicts(struct eviction *e, const struct segment *group,
                       const struct combination *c)
{
    size_t count;
    const struct segment *const list = list_combinations(e->lab, c, &count);
    return eviction_evicts(e, group, list, count);
}

/* Which combination of the open bits falls into the group's set: halves them,
 * bit by bit. */
static void find_combination(struct eviction *e, const struct segment *group,
                             struct combination *c)
{
    while (lab_ok(e->lab) && c->open != 0) {
        const uint64_t bit = c->open & -c->open;
        c->open &= ~bit;
        if (!any_evicts(e, group, c))
            c->set |= bit;
    }
}

/* The group avoids line 0, whose combinations are the others. */
static void find_bits(struct eviction *e, struct geometry *g)
{
    const struct segment group = {g->same, g->ways, g->same};
    uint64_t pivots = 0;
    size_t rank = 0;
    for (uint64_t bit = e->unit; lab_ok(e->lab) && bit < g->same; bit *= 2) {
        struct combination c = {pivots, bit};
        if (!any_evicts(e, &group, &c)) {
            if (rank == COUNT_OF(g->bits) || (uint64_t)1 << rank >= g->sets)
                break;
            pivots |= bit;
            g->bits[rank++] = bit;
            continue;
        }
        find_combination(e, &group, &c);
        for (size_t i = 0; i < rank; i++)
            if ((c.set & ~bit & g->bits[i] & pivots) != 0)
                g->bits[i] |= bit;
    }
    if ((uint64_t)1 << rank != g->sets)
        g->sets = 0;
}

/* Bits right above the line, if the sets are a power of two. */
static void default_bits(const struct eviction *e, struct geometry *g)
{
    if (!is_power_of_two(g->sets))
        return;
    for (unsigned i = 0; i < log2_of(g->sets) && i < COUNT_OF(g->bits); i++)
        g->bits[i] = e->unit << i;
    g->index = GEOMETRY_BITS;
}

/* ---- equal sets ------------------------------------------------------- */

/* The number of sets that `ways` and a number of lines between least and most
 * make, if it is `odd` times a power of two; 0 if none is. */
static uint64_t sets_for(uint64_t ways, uint64_t odd,
                         const struct geometry_lines *lines)
{
    uint64_t sets = odd;
    while (sets * ways < lines->least)
        sets *= 2;
    return sets * ways <= lines->most ? sets : 0;
}

static void find_equal(struct eviction *e, const struct curve *c, int flat,
                       const struct geometry_lines *lines, struct geometry *g)
{
    g->ways = c->fits[flat];
    const uint64_t odd = find_odd_factors(e, e->unit << flat, &g->ways);
    if (!lab_ok(e->lab) || g->ways == 0)
        return;
    g->sets = sets_for(g->ways, odd, lines);
    g->lines = g->sets * g->ways;
    g->same = (e->unit << flat) * odd;
    g->index = GEOMETRY_MODULO;
    if (g->sets == 0)
        return;
    if (g->same == g->sets * e->unit) {
        default_bits(e, g);
    } else if (odd > 1) {
        g->sets = 0;
    } else {
        g->index = GEOMETRY_BITS;
        find_bits(e, g);
    }
}

/* The last steps reach farthest, over the most pages, and may be misjudged. */
static void by_curve(struct eviction *e, const struct geometry_lines *lines,
                     struct geometry *g)
{
    enum { DROPPED_MOST = 2 };
    struct curve c = find_curve(e, lines->least);
    int flat;
    for (int i = 0; i <= DROPPED_MOST && c.last >= c.first; i++, c.last--)
        if (lab_ok(e->lab) && g->sets == 0 && is_flat(&c, &flat))
            find_equal(e, &c, flat, lines, g);
}

/* ---- any number of sets ----------------------------------------------- */

/* Takes factors out of a number of lines that are a multiple of the sets, as
 * long as no more of them fit: then it is the number of sets. */
static uint64_t reduce_to_sets(struct eviction *e, uint64_t lines,
                               uint64_t ways)
{
    for (uint64_t p = 2; lab_ok(e->lab) && p <= lines; p++) {
        while (lines % p == 0 && fits_exactly(e, e->unit * (lines / p), ways) &&
               lab_ok(e->lab))
            lines /= p;
        /* A prime that is left whole needs no trying of all below it. */
        if (p * p > lines && lines > p)
            p = lines - 1;
    }
    return lines;
}

/* Whether a number of lines is a multiple of the sets; then what they are. */
static void try_modulo(struct eviction *e, uint64_t multiple, uint64_t places,
                       const struct geometry_lines *lines, struct geometry *g)
{
    const uint64_t ways =
        eviction_capacity(e, 0, multiple * e->unit, 0, places);
    const uint64_t sets = ways > 0 && ways <= places
                              ? reduce_to_sets(e, multiple, ways)
                              : multiple;
    if (lab_ok(e->lab) && ways > 0 && sets * ways >= lines->least &&
        sets * ways <= lines->most)
        *g = (struct geometry){.index = GEOMETRY_MODULO,
                               .sets = sets,
                               .ways = ways,
                               .lines = sets * ways,
                               .same = sets * e->unit};
}

/*
 * The number of lines is a multiple of the number of sets, whatever that is:
 * so one of the steps around it stays in one set.
 */
static void by_modulo(struct eviction *e, const struct geometry_lines *lines,
                      struct geometry *g)
{
    enum { PLACES = 40, SCANNED_MOST = 24000 };
    const size_t count = lines->most - lines->least + 1;
    if (count > SCANNED_MOST || PLACES * lines->most * e->unit > e->span)
        return;
    bool *const over = lab_alloc(e->lab, count, sizeof *over);
    eviction_scan(e, lines->least * e->unit, count, PLACES, over);
    for (size_t i = 0; lab_ok(e->lab) && i < count && g->sets == 0; i++)
        if (over[i])
            try_modulo(e, lines->least + i, PLACES, lines, g);
    default_bits(e, g);
}

/* ---- unequal sets ----------------------------------------------------- */

/*
 * Lines are numbered from the eviction's first, which need not be where dealing
 * begins.  So each line of a round of `lines` is asked which set it is in; then
 * the beginning is where dealing to sets of these ways gives just that order.
 */
struct dealing {
    uint64_t lines;
    uint64_t ways; /* of all sets together */
    size_t sets;
    struct segment group[UNEQUAL_MOST + 1]; /* of each set: what fills it */
    uint32_t set[UNEQUAL_MOST];             /* of each line */
};

/* The group of a new set, from the same line of the rounds that follow. */
static void add_set(struct eviction *e, struct dealing *d, uint64_t line)
{
    const uint64_t step = d->lines * e->unit, start = line * e->unit;
    const uint64_t guess = d->sets > 0 ? d->group[d->sets - 1].count : 0;
    const uint64_t ways = eviction_capacity(e, start, step, guess, d->lines);
    if (ways == 0 || ways > d->lines)
        lab_fail(e->lab, ERR_UNSUPPORTED, why_set_unbounded);
    d->group[d->sets++] = (struct segment){start + step, ways, step};
    d->ways += ways;
}

static void ask_lines(struct eviction *e, struct dealing *d)
{
    for (uint64_t line = 0;
         lab_ok(e->lab) && line < d->lines && d->ways <= d->lines; line++) {
        const size_t which =
            d->sets > 0 ? eviction_which(e, d->group, d->sets, line * e->unit)
                        : 0;
        if (lab_ok(e->lab) && which == d->sets)
            add_set(e, d, line);
        d->set[line] = (uint32_t)which;
    }
}

/* The ways of the sets in the order in which they come from line `first` on,
 * and whether dealing to them explains the whole round. */
static bool deals_from(const struct dealing *d, uint64_t first,
                       uint32_t *set_ways)
{
    uint32_t name[UNEQUAL_MOST + 1] = {0};
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
    return agrees;
}

static bool is_even(const struct geometry *g)
{
    for (uint64_t set = 1; set < g->sets; set++)
        if (g->set_ways[set] != g->set_ways[0])
            return false;
    return true;
}

/* Sets that turned out alike: their line numbers choose them by a modulus. */
static void forget_set_ways(struct geometry *g, const struct eviction *e)
{
    g->set_ways = NULL;
    g->index = GEOMETRY_MODULO;
    g->first = 0;
    g->same = g->sets * e->unit;
    default_bits(e, g);
}

static void say_dealing(const struct dealing *d, uint64_t first)
{
    struct buf text = {0};
    for (uint64_t i = 0; i < d->lines; i++)
        buf_printf(&text, " %" PRIu32, d->set[i]);
    log_say(LOG_DEBUG, "dealing: %zu sets, begins at %" PRIu64 ":%s", d->sets,
            first, buf_string(&text));
    buf_free(&text);
}

static void find_unequal(struct eviction *e, uint64_t lines, struct geometry *g)
{
    struct dealing *const d = lab_alloc(e->lab, 1, sizeof *d);
    uint64_t first = 0;
    d->lines = lines;
    ask_lines(e, d);
    if (!lab_ok(e->lab) || d->ways != lines)
        return;
    uint32_t *const set_ways = lab_alloc(e->lab, d->sets, sizeof *set_ways);
    while (first < lines && !deals_from(d, first, set_ways))
        first++;
    say_dealing(d, first);
    *g = (struct geometry){.index = GEOMETRY_UNEQUAL,
                           .sets = first < lines ? d->sets : 0,
                           .ways = d->group[0].count,
                           .lines = lines,
                           .first = first,
                           .same = lines * e->unit,
                           .set_ways = set_ways};
    if (g->sets > 0 && is_even(g))
        forget_set_ways(g, e);
}

/* By all lines that fit, at a step of one, if they are few enough to try. */
static void by_dealing(struct eviction *e, const struct geometry_lines *lines,
                       struct geometry *g)
{
    uint64_t count = lines->least;
    if (lines->most > UNEQUAL_MOST)
        return;
    if (lines->least != lines->most)
        count = eviction_capacity(e, 0, e->unit, lines->least, lines->most + 1);
    if (lab_ok(e->lab) && count >= lines->least && count <= lines->most &&
        count > 0)
        find_unequal(e, count, g);
}

/* ---- proof ------------------------------------------------------------ */

/* What lines at random places must show. */
struct proof {
    struct eviction *eviction;
    const struct geometry *geometry;
    const struct cache *model;
    struct rng rng;
    double many; /* what hits cost among lines of many sets */
    bool holds;
};

static uint32_t ways_of(const struct geometry *g, uint64_t set)
{
    return g->set_ways != NULL ? g->set_ways[set] : (uint32_t)g->ways;
}

static struct cache *model_of(const struct eviction *e,
                              const struct geometry *g)
{
    uint32_t *const ways = lab_alloc(e->lab, g->sets, sizeof *ways);
    uint64_t bits[COUNT_OF(g->bits)];
    for (uint64_t i = 0; i < g->sets; i++)
        ways[i] = ways_of(g, i);
    memcpy(bits, g->bits, sizeof bits);
    const struct cache_shape shape = {
        .line = e->unit,
        .sector = e->unit,
        .sets = g->sets,
        .set_ways = ways,
        .index_bits = g->index == GEOMETRY_BITS && g->sets > 1 ? bits : NULL,
        .index_bit_count = g->sets > 1 ? log2_of(g->sets) : 0,
    };
    return cache_new(&shape, 1);
}

/* The set that the model puts an offset into; its dealing begins at 0. */
static size_t set_of(const struct proof *p, uint64_t offset)
{
    const struct geometry *const g = p->geometry;
    return cache_set_of(p->model, g->index != GEOMETRY_UNEQUAL
                                      ? offset
                                      : offset + (g->lines - g->first) *
                                                     p->eviction->unit);
}

static bool is_listed(const struct eviction_list *list, uint64_t place)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->place[i] == place)
            return true;
    return false;
}

/* Random lines of which no set has more than it can hold; with `one` only of
 * line 0's set, which may have more. */
static void pick_lines(struct proof *p, bool one, size_t wanted,
                       struct eviction_list *list)
{
    const struct geometry *const g = p->geometry;
    const uint64_t unit = p->eviction->unit, range = p->eviction->span / unit;
    const uint64_t among = range < 16 * g->lines ? range : 16 * g->lines;
    /* Many lines lie in few windows, so that all find their translation. */
    const uint64_t window =
        one || among < 16 * WINDOW / unit ? among : WINDOW / unit;
    uint32_t *const held = lab_alloc(p->eviction->lab, g->sets, sizeof *held);
    const size_t home = set_of(p, 0);
    uint64_t first[WINDOWS];
    for (size_t i = 0; i < WINDOWS; i++)
        first[i] = rng_below(&p->rng, among - window + 1) / window * window;
    list->count = 0;
    for (size_t i = 0; list->count < wanted && i < PICKS_MOST; i++) {
        const uint64_t at =
            (first[i % WINDOWS] + rng_below(&p->rng, window)) * unit;
        const size_t set = set_of(p, at);
        if ((one ? set != home : held[set] >= ways_of(g, set)) ||
            is_listed(list, at))
            continue;
        held[set]++;
        list->place[list->count++] = at;
    }
}

/* What hits cost where the places are: their neighbours lie on the same pages,
 * and in many sets. */
static double cost_of_neighbours(const struct proof *p,
                                 const struct eviction_list *list)
{
    const uint64_t unit = p->eviction->unit;
    struct eviction_list beside = {.count = list->count};
    for (size_t i = 0; i < list->count; i++)
        beside.place[i] = (list->place[i] / unit ^ (1 + i % 15)) * unit;
    eviction_list_overflows(p->eviction, &beside);
    return beside.base;
}

/* Picks lines, of one set or of many, and asks whether they fit as they should.
 */
static void prove_lines(struct proof *p, bool one, size_t wanted, bool fits)
{
    struct eviction_list list = {.base = one ? p->many : 0};
    if (!p->holds || wanted > EVICTION_PLACES || !lab_ok(p->eviction->lab))
        return;
    pick_lines(p, one, wanted, &list);
    if (one && list.count < wanted) {
        p->holds = false;
        return;
    }
    /* One set may be all of the cache: then it has no neighbours. */
    if (one && p->geometry->sets > 1)
        list.base = cost_of_neighbours(p, &list);
    const bool over = eviction_list_overflows(p->eviction, &list);
    p->holds = over != fits;
    if (!one)
        p->many = list.base;
    log_say(LOG_DEBUG, "proof: %zu lines%s %s, hits cost %.0f", list.count,
            one ? " of a set" : "", over ? "do not fit" : "fit", list.base);
}

/*
 * Lines as far apart as the cache is large are of one set, if line numbers
 * choose it by a modulus: exactly its ways fit.  Where sets are unequal this
 * shows it, however many lines there are.
 */
static bool prove_by_size(struct eviction *e, const struct geometry *g)
{
    if (g->index == GEOMETRY_UNEQUAL || g->same != g->sets * e->unit)
        return true;
    const bool exact = fits_exactly(e, g->lines * e->unit, g->ways);
    /* Lists of random lines prove it, if they can be as long as a set. */
    return eviction_gave_up(e) ? g->ways + 1 <= EVICTION_PLACES : exact;
}

/*
 * Lines at random places, not at even steps, must fit where the shape says so,
 * and not where it says no: of many sets; as many of one set as it has ways;
 * and one more.  Tried some times; one wrong answer refutes it.
 */
static bool holds(struct eviction *e, const struct geometry *g)
{
    enum { TIMES = 4 };
    const size_t many = g->lines < EVICTION_PLACES ? g->lines : EVICTION_PLACES;
    struct cache *const model = model_of(e, g);
    struct proof p = {.eviction = e, .geometry = g, .model = model};
    rng_seed(&p.rng, g->lines);
    p.holds = prove_by_size(e, g);
    for (int i = 0; i < TIMES; i++) {
        p.many = 0;
        prove_lines(&p, false, many, true);
        prove_lines(&p, true, g->ways, true);
        prove_lines(&p, true, g->ways + 1, false);
    }
    cache_free(model);
    return p.holds;
}

/* ---- */

/* A way to a shape, and the proof of what it found. */
typedef void geometry_way(struct eviction *e, const struct geometry_lines *,
                          struct geometry *g);

static struct geometry attempt(struct eviction *e, geometry_way *find,
                               const struct geometry_lines *lines)
{
    struct geometry g = {0};
    find(e, lines, &g);
    if (lab_ok(e->lab) && g.sets > 0 && !holds(e, &g))
        g.sets = 0;
    log_say(LOG_DEBUG,
            "shape: index %d, %" PRIu64 " sets, %" PRIu64 " ways, %" PRIu64
            " lines (of %" PRIu64 " to %" PRIu64 ")%s%s",
            g.index, g.sets, g.ways, g.lines, lines->least, lines->most,
            lab_ok(e->lab) ? "" : ": ", e->lab->err.text);
    if (eviction_gave_up(e))
        g.sets = 0;
    return g;
}

struct geometry geometry_find(struct eviction *e,
                              const struct geometry_lines *lines)
{
    static geometry_way *const ways[] = {by_curve, by_dealing, by_modulo};
    struct geometry g = {0};
    for (size_t i = 0; lab_ok(e->lab) && g.sets == 0 && i < COUNT_OF(ways); i++)
        g = attempt(e, ways[i], lines);
    if (g.sets == 0)
        g.why = why_index_hashed;
    return g;
}
