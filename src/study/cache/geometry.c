/*
 * The sets of a cache by the lines that push each other out.
 *
 * One line is the target; of others, which are any, group testing leaves as
 * many as its set has ways (analysis/structure/conflict_set.h), whatever the
 * index is. With these at hand any other line can be asked whether it belongs
 * to them. For an index by line number modulo the sets the first that does
 * gives the sets.  For one of address bits, XORed or not, each bit is new, or
 * the set that it chooses is that of some combination of bits below it:
 * equations over GF(2).  What is found must foretell what other lines do; else
 * only the ways are known.
 *
 * With unequal sets lines are dealt to the sets in rounds (Mei 2014, figure
 * 10), so lines as far apart as there are entries are in one set, and each set
 * is asked for its ways.
 */
#include "study/cache/geometry.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/structure/conflict_set.h"
#include "analysis/structure/index_function.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "model/cache.h"

enum {
    COUNT_MOST = 1024, /* lines that are tried at a step, of one that lasts */
    PICKS_MOST = 8 << 20, /* lines that are looked at for a list */
    WINDOWS = 6,          /* random places, where they are many … */
    WINDOW = 64 * 1024,   /* … of so many bytes */
    UNEQUAL_MOST = 800,   /* entries of a cache of unequal sets */
    TARGETS_MOST = 40,    /* lines of which one set is asked for */
    FEW_OTHERS = 4,       /* sets that are asked for beside line 0's */
    MANY_OTHERS = 16,
    MAPPED_BITS = 46 /* of addresses that memory is mapped at */
};

/* ---- a set ------------------------------------------------------------ */

/* Lines of which some push the target out: `step` apart, or in short runs that
 * are strewn, each in a slot of its own but for the first, which is the
 * target's. */
struct pool {
    struct eviction *eviction;
    uint64_t target, step;
    uint64_t run; /* lines of a run; 0: they are not strewn */
    bool aside;   /* a line farther each, but for the target */
    uint32_t *slot;
    size_t slots;
};

static uint64_t line_of(const struct pool *p, size_t number)
{
    if (p->run == 0)
        return p->target + (number + 1) * p->step +
               (p->aside ? p->eviction->unit : 0);
    return (p->slot[number / p->run] * p->run + number % p->run) * p->step;
}

/* The first lines of the pool. */
static struct segments prefix_of(const struct pool *p, size_t count)
{
    const size_t run = p->run > 0 ? p->run : count;
    struct segments s = {lab_alloc(p->eviction->lab,
                                   count > 0 ? count / run + 1 : 1,
                                   sizeof *s.at),
                         0};
    for (size_t at = 0; at < count; at += run)
        s.at[s.count++] =
            (struct segment){line_of(p, at), u64_min(run, count - at), p->step};
    return s;
}

static bool pool_crowds(void *context, const size_t *kept, size_t count,
                        size_t prefix)
{
    const struct pool *const p = context;
    uint64_t *const at = lab_alloc(p->eviction->lab, count + 1, sizeof *at);
    const struct segments first = prefix_of(p, prefix);
    at[0] = p->target;
    for (size_t i = 0; i < count; i++)
        at[i + 1] = line_of(p, kept[i]);
    return eviction_crowds(p->eviction, &(struct script_lines){at, count + 1},
                           &first);
}

/* How many lines of the pool may be loaded, beside any target: enough that each
 * set surely has too many, but no more than can be tried often; 0: not even
 * two. */
static size_t pool_room(const struct pool *p, uint64_t held)
{
    const struct eviction *const e = p->eviction;
    const uint64_t first = u64_min(TARGETS_MOST * e->unit, e->span / 16);
    const uint64_t targets = u64_max(first, p->target);
    const uint64_t room =
        p->run > 0 ? p->slots * p->run : (e->span - targets) / p->step;
    const uint64_t most = p->eviction->lasting ? COUNT_MOST : 3 * held + 64;
    return room < 3 ? 0 : (size_t)u64_min(room - 1, most);
}

/* Whether lines on the same pages, but of other sets, make the target late as
 * well: then it is its translation that has gone. */
static bool loses_pages(const struct pool *p, size_t lines)
{
    enum { NEAR = 64 * 1024, SPARSE = 16 };
    struct pool aside = *p;
    aside.aside = true;
    return p->run == 0 && p->step >= SPARSE * p->eviction->unit &&
           lines * p->step > NEAR && pool_crowds(&aside, NULL, 0, lines);
}

/* If fewer lines of this pool push the target out, it is the best; `fewest` is
 * of the best before, 0 if there is none. */
static void try_pool(struct pool *p, uint64_t held, struct pool *best,
                     size_t *fewest)
{
    const struct conflict_test test = {p, pool_crowds};
    size_t room = pool_room(p, held);
    if (*fewest > 0 && room >= *fewest)
        room = *fewest - 1;
    if (room == 0 || !pool_crowds(p, NULL, 0, room))
        return;
    const size_t lines = conflict_prefix(&test, NULL, 0, room);
    if (loses_pages(p, lines))
        return;
    *fewest = lines;
    *best = *p;
    log_say(LOG_DEBUG,
            "conflicts: %zu lines, %" PRIu64 " B apart, in runs of %" PRIu64,
            *fewest, p->step, p->run);
}

/* Slots in another order for each `take`. */
static void strew(struct pool *p, unsigned take)
{
    struct rng rng;
    rng_seed(&rng, take);
    p->slot = lab_alloc(p->eviction->lab, p->slots, sizeof *p->slot);
    for (size_t i = 0; i < p->slots; i++) {
        const size_t other = rng_below(&rng, i + 1);
        p->slot[i] = p->slot[other];
        p->slot[other] = (uint32_t)i + 1;
    }
}

enum { RUNS = 32, RUN_MOST = 64 };

/* The best of some strewn pools, if it is better than `fewest` lines. */
static size_t find_strewn(struct pool *best, uint64_t held, size_t fewest)
{
    enum { STREWN = 16, REGION = 2 << 20 };
    struct pool p = *best;
    p.step = p.eviction->unit;
    p.run = u64_within(1, held / RUNS, RUN_MOST);
    p.slots = u64_min(p.eviction->span, REGION) / (p.step * p.run) - 1;
    for (unsigned take = 0; lab_ok(p.eviction->lab) && take < STREWN; take++) {
        strew(&p, take);
        try_pool(&p, held, best, &fewest);
    }
    return fewest;
}

/*
 * The pool of which the fewest lines push the target out.  Where lines a power
 * of two apart fall into few sets, they are of few sets.  Where they do not, an
 * index may yet deal whatever is in order to all sets alike, so that all are
 * full before one is crowded; of lines that are strewn some set has too many
 * long before.  Returns how many; 0: none does.
 */
static size_t search_pools(struct pool *best, uint64_t held)
{
    struct pool p = *best;
    size_t fewest = 0;
    for (; lab_ok(p.eviction->lab) && pool_room(&p, held) > 0; p.step *= 2)
        try_pool(&p, held, best, &fewest);
    if (!p.eviction->fresh || 2 * fewest < held || fewest < RUNS)
        return fewest;
    const size_t strewn = find_strewn(best, held, fewest / 4 * 3);
    return best->run > 0 ? strewn : fewest;
}

/* The same, and where these lines push the target out only now and then, as
 * chance does, with as many laps as that takes. */
static size_t find_pool(struct pool *best, uint64_t held)
{
    const struct pool from = *best;
    const size_t fewest = search_pools(best, held);
    const struct segments first =
        prefix_of(best, fewest > 0 ? fewest : pool_room(best, held));
    if (lab_ok(best->eviction->lab) && (fewest > 0 || best->eviction->fresh))
        eviction_watch(best->eviction, best->target, &first);
    if (!best->eviction->chancy)
        return fewest;
    *best = from;
    return search_pools(best, held);
}

/*
 * Of a cache of too many lines to try: the number of lines is a multiple of the
 * number of sets, if line numbers choose these by a modulus; so one of the
 * steps around it stays in one set.  0: none does.
 */
static size_t scan_steps(struct pool *p, const struct geometry_lines *lines)
{
    enum { PLACES = 40, SCANNED_MOST = 24000 };
    struct eviction *const e = p->eviction;
    const size_t count = lines->most - lines->least + 1;
    if (count > SCANNED_MOST || PLACES * lines->most * e->unit > e->span)
        return 0;
    bool *const over = lab_alloc(e->lab, count, sizeof *over);
    eviction_scan(e, lines->least * e->unit, count, PLACES, over);
    for (size_t i = 0; lab_ok(e->lab) && i < count; i++) {
        p->step = (lines->least + i) * e->unit;
        if (over[i] && pool_crowds(p, NULL, 0, PLACES))
            return PLACES;
    }
    return 0;
}

/* The target and a minimal set of lines that push it out; `count` 0: none. */
static struct script_lines find_set(struct pool *p, size_t lines)
{
    const struct conflict_test test = {p, pool_crowds};
    struct lab *const lab = p->eviction->lab;
    size_t *const members = lab_alloc(lab, COUNT_MOST, sizeof *members);
    const size_t ways = conflict_set(&test, lines, COUNT_MOST - 1, members);
    struct script_lines set = {lab_alloc(lab, ways + 1, sizeof *set.at), 0};
    if (!lab_ok(lab) || ways == 0)
        return set;
    set.at[set.count++] = p->target;
    for (size_t i = 0; i < ways; i++)
        set.at[set.count++] = line_of(p, members[i]);
    return set;
}

/* Whether they are such a set indeed: all of them do not fit, without one of
 * them they do. */
static bool is_minimal(struct eviction *e, const struct script_lines *set)
{
    enum { LEFT_OUT = 3 };
    if (set->count > EVICTION_LINES)
        return true;
    double base = eviction_base(e, set);
    bool minimal = eviction_lines_overflow(e, set, &base);
    struct script_lines but = {lab_alloc(e->lab, set->count, sizeof *but.at),
                               set->count - 1};
    for (size_t i = 0; minimal && i < LEFT_OUT; i++) {
        const size_t out = i * (set->count - 1) / LEFT_OUT;
        for (size_t n = 0; n < but.count; n++)
            but.at[n] = set->at[n < out ? n : n + 1];
        minimal = !eviction_lines_overflow(e, &but, &base);
    }
    return minimal;
}

/* A pool, how many of its lines push the target out, and lines of the cache. */
struct pool_found {
    struct pool pool;
    size_t lines;
    uint64_t held;
};

/* True if lines elsewhere, so many, are in sets of as many ways; strewn ones
 * are all of the first run. */
static bool sets_are_equal(const struct pool_found *found, size_t ways,
                           uint64_t others)
{
    bool equal = true;
    for (uint64_t i = 1; equal && i <= others; i++) {
        struct pool p = found->pool;
        /* Below TARGETS_MOST, as many as are in a row at last. */
        const uint64_t line = others > FEW_OTHERS ? i : i * (2 * i + 1);
        p.target = (p.run > 0 ? line % p.run : line) * p.eviction->unit;
        const size_t room = p.run > 0 ? find_strewn(&p, found->held, 0)
                                      : u64_min(2 * found->lines + 8,
                                                pool_room(&p, found->lines));
        equal = find_set(&p, room).count == ways + 1;
    }
    return equal;
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

unsigned geometry_bits(const struct geometry *g)
{
    const uint64_t sets = g->modulo > 0 ? g->sets / g->modulo : g->sets;
    return (g->index == GEOMETRY_BITS || g->index == GEOMETRY_SLICED) &&
                   sets > 1
               ? log2_of(sets)
               : 0;
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

/* Whether a line of a combination is one of the group: then its load puts
 * nothing out, and yet it is of the set. */
static bool has_own(const struct script_lines *group,
                    const struct combination *c)
{
    for (size_t i = 0; i < group->count; i++)
        if (((group->at[i] ^ c->set) & ~c->open) == 0)
            return true;
    return false;
}

static bool any_evicts(struct eviction *e, const struct script_lines *group,
                       const struct combination *c)
{
    size_t count;
    if (has_own(group, c))
        return true;
    const struct segment *const list = list_combinations(e->lab, c, &count);
    return eviction_evicts(e, group, list, count);
}

/* Which combination of the open bits falls into the group's set: halves them,
 * bit by bit. */
static void find_combination(struct eviction *e,
                             const struct script_lines *group,
                             struct combination *c)
{
    while (lab_ok(e->lab) && c->open != 0) {
        const uint64_t bit = c->open & -c->open;
        c->open &= ~bit;
        if (!any_evicts(e, group, c))
            c->set |= bit;
    }
}

/* In the masks that name bits which the combination has, the bit as well. */
static void add_bit(struct geometry *g, const struct combination *c,
                    uint64_t bit)
{
    for (size_t i = 0; i < COUNT_OF(g->bits); i++)
        if ((c->set & g->bits[i] & -g->bits[i]) != 0)
            g->bits[i] |= bit;
}

/* The group is of line 0's set, whose combinations are the others.  Sets stay 0
 * if there would be more than can be. */
static void by_bits(struct eviction *e, const struct geometry_lines *lines,
                    struct geometry *g)
{
    const struct script_lines group = {g->set.at + 1, g->ways};
    uint64_t pivots = 0;
    size_t rank = 0;
    for (uint64_t bit = e->unit; lab_ok(e->lab) && 2 * bit <= e->span;
         bit *= 2) {
        struct combination c = {pivots, bit};
        if (!any_evicts(e, &group, &c)) {
            if (rank == COUNT_OF(g->bits) || g->ways << rank >= 2 * lines->most)
                return;
            pivots |= bit;
            g->bits[rank++] = bit;
            continue;
        }
        find_combination(e, &group, &c);
        add_bit(g, &c, bit);
    }
    g->sets = g->ways << rank >= lines->least ? (uint64_t)1 << rank : 0;
    g->index = GEOMETRY_BITS;
}

/*
 * One more address bit: whether the line at offset `far`, which differs from
 * line 0 in that bit alone, is of its set, or which combination with it is.
 * What was found must come in, and its neighbour must not.
 */
static bool reach_bit(struct eviction *e, struct geometry *g, uint64_t far,
                      uint64_t bit)
{
    const struct script_lines group = {g->set.at + 1, g->ways};
    struct combination c = {0, far};
    uint64_t pivots = 0;
    for (size_t i = 0; i < log2_of(g->sets); i++)
        pivots |= g->bits[i] & -g->bits[i];
    if (!any_evicts(e, &group, &c)) {
        c.open = pivots;
        find_combination(e, &group, &c);
    }
    const struct combination beside = {0, c.set ^ (pivots & -pivots)};
    if (!lab_ok(e->lab) || !any_evicts(e, &group, &c) ||
        any_evicts(e, &group, &beside) || !lab_ok(e->lab))
        return false;
    add_bit(g, &c, bit);
    return true;
}

/* Index bits beyond those that were tried: within the memory there is, and
 * then, if a line is another one at another address, by mapping it ever farther
 * away. */
static void find_reach(struct eviction *e, struct geometry *g)
{
    bool reached = true;
    for (uint64_t bit = g->range; reached && bit < e->span; bit *= 2)
        if ((reached = reach_bit(e, g, bit, bit)))
            g->range = 2 * bit;
    for (unsigned b = log2_of(g->range); reached && e->maps && b < MAPPED_BITS;
         b++) {
        e->mapped = b;
        g->is_virtual = g->is_virtual || eviction_is_virtual(e);
        g->mapped = lab_ok(e->lab);
        reached = g->is_virtual && reach_bit(e, g, e->span, (uint64_t)1 << b);
        if (reached)
            g->range = (uint64_t)2 << b;
    }
    e->mapped = 0;
    lab_excuse(e->lab);
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

/* The first of as many as `room` places from `from` on that is of line 0's set;
 * 0: none is. */
static uint64_t next_member(struct eviction *e, const struct script_lines *set,
                            uint64_t from, uint64_t step, uint64_t room)
{
    const struct script_lines group = {set->at + 1, set->count - 1};
    uint64_t low = 0, high = u64_min(1, room);
    struct segment places = {from, high, step};
    while (high > 0 && !eviction_evicts(e, &group, &places, 1)) {
        if (!lab_ok(e->lab) || high == room)
            return 0;
        low = high;
        high = places.count = u64_min(2 * high, room);
    }
    if (high == 0)
        return 0;
    while (lab_ok(e->lab) && high - low > 1) {
        places.count = low + (high - low) / 2;
        if (eviction_evicts(e, &group, &places, 1))
            high = places.count;
        else
            low = places.count;
    }
    return from + (high - 1) * step;
}

enum { SURE = 32, PLACES = 16 };

/*
 * Slices by a remainder, with sets by XORs: lines of line 0's set that are
 * found here and there, and as many that are none, until so many in a row say
 * nothing new: some XORs of what leaves one remainder are even nine times of
 * ten, and one in 30 of these so often.  In 16 times as many places as there
 * are sets one is missed once in 10^7.  Places are an odd number of lines
 * apart, another one each time: the first member in a row is seldom one whose
 * low bits are not even; and a multiple of the remainder's number may come to
 * none, which with one in four is so eight times in a row once in 65000.
 */
static void find_members(struct eviction *e, const struct geometry_lines *lines,
                         struct geometry *g, struct index_function *f)
{
    enum { NONE_MOST = 8, MEMBERS_MOST = 200 };
    const uint64_t room = PLACES * lines->most / g->ways;
    const uint64_t places = g->range / e->unit;
    unsigned none = 0;
    struct rng rng;
    rng_seed(&rng, lines->most);
    while (lab_ok(e->lab) && f->since < SURE && none < NONE_MOST &&
           f->count < MEMBERS_MOST) {
        const uint64_t apart = 2 * rng_below(&rng, places / room / 2) + 1;
        const uint64_t from = rng_below(&rng, places - room * apart + 1);
        const uint64_t line =
            next_member(e, &g->set, from * e->unit, apart * e->unit, room) /
            e->unit;
        none = line == 0 ? none + 1 : 0;
        if (line > from)
            index_function_add(f, from, false);
        if (line > 0)
            index_function_add(f, line, true);
    }
}

static void by_members(struct eviction *e, const struct geometry_lines *lines,
                       struct geometry *g)
{
    enum { SIZES = 32 };
    struct index_function f;
    g->range = e->unit;
    while (2 * g->range <= u64_min(e->span, SIZES * lines->most * e->unit))
        g->range *= 2;
    if (g->range / e->unit < 2 * PLACES * lines->most / g->ways)
        return;
    index_function_begin(&f, 0);
    find_members(e, lines, g, &f);
    if (lab_ok(e->lab) && f.since >= SURE && index_function_holds_sliced(&f) &&
        f.masks < COUNT_OF(g->bits)) {
        for (size_t i = 0; i < f.masks; i++)
            g->bits[i] = f.mask[i] * e->unit;
        g->index = GEOMETRY_SLICED;
        g->modulo = f.odd;
        g->from_bit = f.shift + log2_of(e->unit);
        g->sets = f.odd << f.masks;
    }
    log_say(LOG_DEBUG,
            "members: %zu lines, %zu say nothing new, %zu masks, "
            "remainder by %" PRIu64,
            f.count, f.since, f.masks, f.odd);
    index_function_end(&f);
    if (g->sets * g->ways < lines->least || g->sets * g->ways > lines->most)
        g->sets = 0;
}

/* ---- equal sets ------------------------------------------------------- */

/* The first line after line 0 that is of its set, if one up to `most` is; 0:
 * none is. */
static uint64_t first_again(struct eviction *e, const struct geometry *g,
                            uint64_t most)
{
    const struct script_lines group = {g->set.at + 1, g->ways};
    uint64_t low = 0, high = 1;
    for (size_t i = 0; i < group.count; i++)
        most = u64_min(most, group.at[i] / e->unit);
    while (lab_ok(e->lab) && high < most &&
           !eviction_evicts(e, &group,
                            &(struct segment){e->unit, high, e->unit}, 1))
        low = high, high = u64_min(2 * high, most);
    while (lab_ok(e->lab) && high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        const struct segment places = {e->unit, middle, e->unit};
        if (eviction_evicts(e, &group, &places, 1))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Line numbers modulo the sets, if as many lines as the cache may hold come of
 * it. */
static void by_distance(struct eviction *e, const struct geometry_lines *lines,
                        struct geometry *g)
{
    const uint64_t sets = first_again(e, g, 2 * lines->most / g->ways);
    if (sets * g->ways < lines->least || sets * g->ways > lines->most)
        return;
    g->sets = sets;
    g->index = GEOMETRY_MODULO;
    default_bits(e, g);
}

/* Line 0's set by a pool of which so many lines are enough, and that others
 * have as many ways; ways 0: they do not, or none was found. */
static bool ask_ways(struct pool_found *p, struct geometry *g)
{
    struct eviction *const e = p->pool.eviction;
    /* A set takes hundreds of launches where each tells little. */
    const uint64_t others = e->chancy && e->beside > 0 ? 2 : FEW_OTHERS;
    if (!lab_ok(e->lab) || p->lines == 0)
        return false;
    g->set = find_set(&p->pool, p->lines);
    g->ways = g->set.count > 0 ? g->set.count - 1 : 0;
    log_say(LOG_DEBUG, "conflicts: a set of %" PRIu64 " ways", g->ways);
    if (g->ways > 0 &&
        (!is_minimal(e, &g->set) || !sets_are_equal(p, g->ways, others)))
        g->ways = 0;
    return g->ways > 0;
}

static struct geometry find_ways(struct eviction *e,
                                 const struct geometry_lines *lines,
                                 struct pool_found *p)
{
    struct geometry g = {0};
    *p = (struct pool_found){{.eviction = e, .step = e->unit}, 0, lines->most};
    while (e->lasting &&
           lines->least * e->unit / p->pool.step >= COUNT_MOST / 2)
        p->pool.step *= 2;
    p->lines = find_pool(&p->pool, lines->most);
    if (ask_ways(p, &g) || !e->lasting)
        return g;
    eviction_gave_up(e);
    p->pool = (struct pool){.eviction = e, .step = e->unit};
    p->lines = scan_steps(&p->pool, lines);
    ask_ways(p, &g);
    return g;
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
    struct script_lines group[UNEQUAL_MOST + 1]; /* what fills each set */
    uint32_t set[UNEQUAL_MOST];                  /* of each line */
};

static struct script_lines every(struct lab *lab, uint64_t start, size_t count,
                                 uint64_t step)
{
    struct script_lines lines = {lab_alloc(lab, count, sizeof *lines.at),
                                 count};
    for (size_t i = 0; i < count; i++)
        lines.at[i] = start + i * step;
    return lines;
}

/* The group of a new set, from the same line of the rounds that follow. */
static void add_set(struct eviction *e, struct dealing *d, uint64_t line)
{
    const uint64_t step = d->lines * e->unit, start = line * e->unit;
    const uint64_t guess = d->sets > 0 ? d->group[d->sets - 1].count : 0;
    const uint64_t ways = eviction_capacity(e, start, step, guess, d->lines);
    if (ways == 0 || ways > d->lines) {
        lab_fail(e->lab, ERR_UNSUPPORTED, why_set_unbounded);
        return;
    }
    d->group[d->sets++] = every(e->lab, start + step, ways, step);
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
    *g = (struct geometry){
        .index = GEOMETRY_UNEQUAL,
        .sets = first < lines ? d->sets : 0,
        .ways = d->group[0].count,
        .lines = lines,
        .first = first,
        .same = lines * e->unit,
        .set = every(e->lab, 0, d->group[0].count + 1, lines * e->unit),
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
    uint64_t among; /* bytes in which they are picked */
    double many;    /* what hits cost among lines of many sets */
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
        .index_bits = geometry_bits(g) > 0 ? bits : NULL,
        .index_bit_count = geometry_bits(g),
        .slices = {.modulo = g->modulo, .from_bit = g->from_bit},
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

static bool is_listed(const struct script_lines *list, uint64_t place)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i] == place)
            return true;
    return false;
}

static bool is_hashed(const struct geometry *g)
{
    bool hashed = g->index == GEOMETRY_SLICED;
    for (unsigned i = 0; i < geometry_bits(g); i++)
        hashed = hashed || !is_power_of_two(g->bits[i]);
    return hashed;
}

/* Bytes that are tried: an index that takes bits far above its own in may take
 * in any. */
static uint64_t range_of(const struct eviction *e, const struct geometry *g)
{
    const uint64_t near = 16 * g->lines * e->unit;
    if (g->index == GEOMETRY_SLICED)
        return g->range;
    return is_hashed(g) ? e->span : u64_min(e->span, near);
}

/* Which lines are picked: up to `wanted` of one set, or ANY_SET, of which no
 * set has more than it can hold, or BUT that one. */
enum pick { ONE_SET, ANY_SET, OTHER_SETS };

static struct script_lines pick_lines(struct proof *p, enum pick pick,
                                      size_t home, size_t wanted)
{
    const struct geometry *const g = p->geometry;
    const uint64_t unit = p->eviction->unit;
    const uint64_t among = p->among / unit;
    /* Many lines lie in few windows, so that all find their translation. */
    const uint64_t window =
        pick != ANY_SET || among < 16 * WINDOW / unit ? among : WINDOW / unit;
    uint32_t *const held = lab_alloc(p->eviction->lab, g->sets, sizeof *held);
    struct script_lines list = {
        lab_alloc(p->eviction->lab, wanted, sizeof *list.at), 0};
    uint64_t first[WINDOWS];
    for (size_t i = 0; i < WINDOWS; i++)
        first[i] = rng_below(&p->rng, among - window + 1) / window * window;
    for (size_t i = 0; list.count < wanted && i < PICKS_MOST; i++) {
        const uint64_t at =
            (first[i % WINDOWS] + rng_below(&p->rng, window)) * unit;
        const size_t set = set_of(p, at);
        const bool fits = pick == ONE_SET      ? set == home
                          : pick == OTHER_SETS ? set != home
                                               : held[set] < ways_of(g, set);
        if (!fits || is_listed(&list, at))
            continue;
        held[set]++;
        list.at[list.count++] = at;
    }
    return list;
}

/* Picks lines, of one set or of many, and asks whether they fit as they should.
 */
static void prove_lines(struct proof *p, bool one, size_t wanted, bool fits)
{
    double base = one ? p->many : 0;
    if (!p->holds || wanted > EVICTION_LINES || !lab_ok(p->eviction->lab))
        return;
    const struct script_lines list =
        pick_lines(p, one ? ONE_SET : ANY_SET, set_of(p, 0), wanted);
    if (one && list.count < wanted) {
        p->holds = false;
        return;
    }
    /* One set may be all of the cache: then it has no neighbours. */
    if (one && p->geometry->sets > 1)
        base = eviction_base(p->eviction, &list);
    const bool over = eviction_lines_overflow(p->eviction, &list, &base);
    p->holds = over != fits;
    if (!one)
        p->many = base;
    log_say(LOG_DEBUG, "proof: %zu lines%s %s, hits cost %.0f", list.count,
            one ? " of a set" : "", over ? "do not fit" : "fit", base);
}

/* How it was foretold whether lines come into a set. */
struct foretold {
    size_t right, wrong;
};

static void foretell(struct proof *p, const struct script_lines *group,
                     const struct script_lines *others, enum eviction_came as,
                     struct foretold *f)
{
    enum eviction_came *const came =
        lab_alloc(p->eviction->lab, others->count, sizeof *came);
    eviction_foretold(p->eviction, group, others, came);
    for (size_t i = 0; i < others->count; i++) {
        f->right += came[i] == as;
        f->wrong += came[i] != as && came[i] != CAME_UNKNOWN;
    }
}

/* Lines of a set that are asked at a time, if there are so many beside those
 * that fill it: of a few constants there are not. */
static size_t asked_at_once(const struct proof *p)
{
    enum { EACH = 55 };
    const struct geometry *const g = p->geometry;
    const uint64_t there = p->among / p->eviction->unit / g->sets;
    return there > g->ways ? (size_t)u64_min(EACH, (there - g->ways + 1) / 2)
                           : 0;
}

/* Bytes in which all bits of the masks vary, and each set has four times the
 * lines that fill it; no more, since translations have to fit, too. */
static uint64_t pairs_range(const struct eviction *e, const struct geometry *g)
{
    enum { FULL = 4 };
    uint64_t range = e->unit;
    for (unsigned i = 0; i < geometry_bits(g); i++)
        while (range <= g->bits[i])
            range *= 2;
    return u64_max(range, FULL * g->lines * e->unit);
}

/*
 * XORs are claimed only if they foretell of a thousand lines that were not used
 * to find them, half of them of a full set and half of others, whether they
 * come into it: 99 of 100 times.
 */
static void prove_pairs(struct proof *p)
{
    enum { PAIRS = 1000 };
    const struct geometry *const g = p->geometry;
    p->among = u64_min(p->among, pairs_range(p->eviction, g));
    const size_t each = asked_at_once(p);
    /* Twice as many, since some cannot be told. */
    const size_t sets_most = each > 0 ? PAIRS / each + 1 : 0;
    struct foretold f = {0};
    for (size_t i = 0; p->holds && lab_ok(p->eviction->lab) && i < sets_most &&
                       f.right + f.wrong < PAIRS;
         i++) {
        const size_t home =
            set_of(p, rng_below(&p->rng, g->sets) * p->eviction->unit);
        struct script_lines group =
            pick_lines(p, ONE_SET, home, g->ways + each);
        const struct script_lines in = {group.at + g->ways, each};
        const struct script_lines out = pick_lines(p, OTHER_SETS, home, each);
        p->holds = group.count == g->ways + each;
        group.count = g->ways;
        if (p->holds) {
            foretell(p, &group, &in, CAME_IN, &f);
            foretell(p, &group, &out, CAME_NOT, &f);
        }
    }
    log_say(LOG_DEBUG, "proof: %zu foretold, %zu wrongly", f.right + f.wrong,
            f.wrong);
    p->holds =
        p->holds && f.right + f.wrong >= PAIRS && 99 * f.wrong <= f.right;
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
    const uint64_t step = g->lines * e->unit;
    const bool exact =
        !eviction_overflows(e, &(struct segment){0, g->ways, step}) &&
        eviction_overflows(e, &(struct segment){0, g->ways + 1, step});
    /* Lists of random lines prove it, if they can be as long as a set. */
    return eviction_gave_up(e) ? g->ways + 1 <= EVICTION_LINES : exact;
}

/* Of one set that is larger than what can be listed: as many lines as it has
 * ways, wherever they are strewn and at a few steps, push none of theirs out.
 * Of several sets some would have too many. */
static bool prove_one_set(struct eviction *e, const struct geometry *g)
{
    enum { STREWN = 24, RUN = 4, REGION = 2 << 20 };
    static const uint64_t steps[] = {2, 3, 5, 7};
    bool fits = true;
    if (g->sets != 1 || g->ways < EVICTION_LINES)
        return true;
    for (size_t i = 0; fits && i < COUNT_OF(steps); i++)
        fits = !eviction_overflows(
            e, &(struct segment){0, g->ways, steps[i] * e->unit});
    struct pool p = {.eviction = e, .step = e->unit, .run = RUN};
    p.slots = u64_min(e->span, REGION) / (p.step * p.run) - 1;
    for (unsigned take = 0; fits && take < STREWN; take++) {
        strew(&p, take);
        fits = p.slots * p.run >= g->ways &&
               !pool_crowds(&p, NULL, 0, g->ways - 1);
    }
    return fits;
}

/*
 * Lines at random places, not at even steps, must fit where the shape says so,
 * and not where it says no: of many sets; as many of one set as it has ways;
 * and one more.  Tried some times; one wrong answer refutes it.
 */
static bool holds(struct eviction *e, const struct geometry *g)
{
    enum { TIMES = 4, MANY = 96 };
    const size_t many = u64_min(g->lines, MANY);
    struct cache *const model = model_of(e, g);
    struct proof p = {.eviction = e, .geometry = g, .model = model};
    rng_seed(&p.rng, g->lines);
    p.among = range_of(e, g);
    p.holds = prove_by_size(e, g) && prove_one_set(e, g);
    for (int i = 0; i < TIMES; i++) {
        p.many = 0;
        prove_lines(&p, false, many, true);
        prove_lines(&p, true, g->ways, true);
        prove_lines(&p, true, g->ways + 1, false);
    }
    if (is_hashed(g))
        prove_pairs(&p);
    cache_free(model);
    return p.holds;
}

/* ---- */

/* A way to the sets, and the proof of what it found. */
typedef void geometry_way(struct eviction *e, const struct geometry_lines *,
                          struct geometry *g);

static bool attempt(struct eviction *e, geometry_way *find,
                    const struct geometry_lines *lines, struct geometry *g)
{
    struct geometry found = *g;
    find(e, lines, &found);
    if (found.index != GEOMETRY_UNEQUAL)
        found.lines = found.sets * found.ways;
    if (lab_ok(e->lab) && found.sets > 0 && !holds(e, &found))
        found.sets = 0;
    log_say(LOG_DEBUG,
            "shape: index %d, %" PRIu64 " sets, %" PRIu64 " ways, %" PRIu64
            " lines (of %" PRIu64 " to %" PRIu64 ")%s%s",
            found.index, found.sets, found.ways, found.lines, lines->least,
            lines->most, lab_ok(e->lab) ? "" : ": ", e->lab->err.text);
    if (eviction_gave_up(e) || !lab_ok(e->lab) || found.sets == 0)
        return false;
    *g = found;
    return true;
}

/* The smallest distance of which all multiples are in one set; 0: none. */
static uint64_t same_set(const struct eviction *e, const struct geometry *g)
{
    uint64_t mask = e->unit - 1;
    if (g->sets == 0 || g->index == GEOMETRY_UNEQUAL)
        return g->sets == 0 ? 0 : g->same;
    if (g->index == GEOMETRY_MODULO)
        return g->sets * e->unit;
    if (g->index == GEOMETRY_SLICED)
        return 0;
    for (unsigned i = 0; (uint64_t)1 << i < g->sets; i++)
        mask |= g->bits[i];
    return 2 * mask < e->span ? (uint64_t)1 << (64 - __builtin_clzll(mask)) : 0;
}

struct geometry geometry_find(struct eviction *e,
                              const struct geometry_lines *lines)
{
    struct pool_found pool;
    struct geometry g = find_ways(e, lines, &pool);
    eviction_gave_up(e);
    if (g.ways == 0 ||
        (!attempt(e, by_distance, lines, &g) &&
         !attempt(e, by_bits, lines, &g) && !attempt(e, by_members, lines, &g)))
        attempt(e, by_dealing, lines, &g);
    /* Of sets that nothing explains some may yet be larger; where victims are
     * picked by chance so many would take too long. */
    if (g.ways > 0 && g.sets == 0 && !e->chancy &&
        !sets_are_equal(&pool, g.ways, MANY_OTHERS))
        g.ways = 0;
    eviction_gave_up(e);
    g.same = same_set(e, &g);
    if (g.sets > 0)
        g.range = range_of(e, &g);
    if (lab_ok(e->lab) && g.sets > 1 && g.index == GEOMETRY_BITS)
        find_reach(e, &g);
    return g;
}

/* As the index foretells: where sets are many, to look for them takes long. */
static struct script_lines
foretold_members(struct eviction *e, const struct geometry *g, size_t count)
{
    struct cache *const model = model_of(e, g);
    struct proof p = {.eviction = e, .geometry = g, .model = model};
    rng_seed(&p.rng, g->lines);
    p.among = u64_min(range_of(e, g), 16 * g->lines * e->unit);
    const struct script_lines all =
        pick_lines(&p, ONE_SET, set_of(&p, 0), count + g->set.count);
    struct script_lines more = {lab_alloc(e->lab, count, sizeof *more.at), 0};
    for (size_t i = 0; i < all.count && more.count < count; i++)
        if (!is_listed(&g->set, all.at[i]))
            more.at[more.count++] = all.at[i];
    cache_free(model);
    return more;
}

struct script_lines geometry_members(struct eviction *e,
                                     const struct geometry *g, size_t count)
{
    const struct script_lines set = g->set;
    struct script_lines more = {lab_alloc(e->lab, count, sizeof *more.at), 0};
    uint64_t from = 0;
    if (g->sets > 0 && g->same == 0 && e->lasting)
        return foretold_members(e, g, count);
    for (size_t i = 0; i < set.count; i++)
        from = set.at[i] > from ? set.at[i] : from;
    while (lab_ok(e->lab) && more.count < count) {
        const uint64_t step = g->same > 0 ? g->same : e->unit;
        const uint64_t next = from + step;
        const uint64_t room = next < e->span ? (e->span - next) / step : 0;
        if (g->same > 0)
            from = from + g->same + e->unit <= e->span ? from + g->same : 0;
        else
            from = next_member(e, &set, from + step, step, room);
        if (from == 0)
            break;
        more.at[more.count++] = from;
    }
    return more;
}
