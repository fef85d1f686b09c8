/*
 * The sets of a cache by the lines that push each other out.
 *
 * One line is the target; of others, which are any, group testing leaves as
 * many as its set has ways (analysis/structure/conflict_set.h), whatever the
 * index is.  With these at hand any other line can be asked whether it belongs
 * to them, and of each address bit one is looked for that the bit leads: the
 * next multiple of what all so far are apart, or the bit and some of those
 * below it that lead none.  These members span the index or divide it
 * (analysis/structure/index_function.h).  What is found must foretell where
 * other lines go; else only the ways are known.
 */
#include "study/cache/geometry.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/structure/index_function.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "model/cache.h"
#include "probe/memory/access_script.h"
#include "study/cache/geometry_dealt.h"
#include "study/cache/geometry_proof.h"
#include "study/cache/pool.h"

enum {
    MANY_OTHERS = 16, /* sets that are asked for, where sets seem unlike */
    MAPPED_BITS = 46, /* of addresses that memory is mapped at */
    LAPS_LINES = 8192 /* of a cache that is asked by many laps at once */
};

/* ---- index bits ------------------------------------------------------- */

static unsigned log2_of(uint64_t power)
{
    return (unsigned)__builtin_ctzll(power);
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

/* What is known of the index: members of line 0's set, by line, and the bits
 * that lead none of them. */
struct search_index {
    struct index_function members;
    uint64_t pivots, asked; /* B */
};

/* The first line from a bit on that is in the set if all are at multiples. */
static uint64_t next_multiple(const struct search_index *s, uint64_t unit,
                              uint64_t bit)
{
    const uint64_t apart = s->members.modulus * unit;
    return apart == 0 ? bit : (bit + apart - 1) / apart * apart;
}

/*
 * Where a member lies that the address bit leads; 0: there is none.  The line
 * at offset `far` differs from line 0 in that bit alone; they are the same but
 * where memory is mapped once more.
 */
static uint64_t find_member(struct eviction *e,
                            const struct script_lines *group,
                            const struct search_index *s, uint64_t far,
                            uint64_t bit)
{
    struct combination c = {0,
                            far == bit ? next_multiple(s, e->unit, bit) : far};
    if (any_evicts(e, group, &c))
        return c.set;
    c = (struct combination){s->pivots, far};
    if (!any_evicts(e, group, &c))
        return 0;
    find_combination(e, group, &c);
    return c.set;
}

static void add_member(struct search_index *s, uint64_t offset, uint64_t unit)
{
    index_function_add(&s->members, offset / unit, true);
}

/* Index bits beyond the memory that there is: if a line is another one at
 * another address, by mapping it ever farther away.  The neighbour of what was
 * found must not come in. */
static void ask_mapped(struct eviction *e, struct search_index *s,
                       struct geometry *g)
{
    const struct script_lines group = pool_group(&g->set);
    bool reached = e->maps && s->pivots != 0;
    for (unsigned b = log2_of(s->asked + e->unit);
         reached && lab_ok(e->lab) && b < MAPPED_BITS; b++) {
        const uint64_t bit = (uint64_t)1 << b;
        e->mapped = b;
        g->is_virtual = g->is_virtual || eviction_is_virtual(e);
        g->mapped = lab_ok(e->lab);
        const uint64_t at =
            g->is_virtual ? find_member(e, &group, s, e->span, bit) : 0;
        const struct combination there = {0, at},
                                 beside = {0, at ^ (s->pivots & -s->pivots)};
        reached = at != 0 && any_evicts(e, &group, &there) &&
                  !any_evicts(e, &group, &beside) && lab_ok(e->lab);
        if (!reached)
            break;
        add_member(s, at - e->span + bit, e->unit);
        s->asked |= bit;
    }
    e->mapped = 0;
    lab_excuse(e->lab);
}

/* What is constant on the members chooses the set; or line numbers modulo what
 * divides them all, if that is no power of two. */
static void solve(struct search_index *s, uint64_t unit, struct geometry *g)
{
    struct index_function *const f = &s->members;
    const size_t rank = (size_t)__builtin_popcountll(s->pivots);
    index_function_solve(f, s->asked / unit);
    for (size_t i = 0; i < rank; i++)
        g->bits[i] = f->mask[i] * unit;
    g->index = GEOMETRY_BITS;
    g->sets = (uint64_t)1 << rank;
    g->range = s->asked + unit;
    if (f->modulus > g->sets && !u64_is_power(f->modulus)) {
        g->index = GEOMETRY_MODULO;
        g->sets = f->modulus;
    }
}

/* Whether a cache of so many lines may have sets for `all`: for a quarter more
 * at most than there is room for (analysis/structure/occupancy.c). */
static bool may_be(const struct geometry_lines *lines, uint64_t all)
{
    return all >= lines->least && 4 * all <= 5 * lines->most;
}

/* Sets stay 0 if they are more or fewer than can be. */
static void by_bits(struct eviction *e, const struct geometry_lines *lines,
                    struct geometry *g)
{
    const struct script_lines group = pool_group(&g->set);
    struct search_index s = {.pivots = 0};
    bool few = true;
    index_function_begin(&s.members, 0);
    for (uint64_t bit = e->unit; few && lab_ok(e->lab) && 2 * bit <= e->span;
         bit *= 2) {
        const uint64_t at = find_member(e, &group, &s, bit, bit);
        if (at == 0)
            s.pivots |= bit;
        else
            add_member(&s, at, e->unit);
        s.asked |= bit;
        few = g->ways << __builtin_popcountll(s.pivots) < 2 * lines->most;
    }
    if (few && lab_ok(e->lab)) {
        if (u64_is_power(s.members.modulus))
            ask_mapped(e, &s, g);
        solve(&s, e->unit, g);
    }
    if (!may_be(lines, g->sets * g->ways))
        g->sets = 0;
    index_function_end(&s.members);
}

/* ---- slices by a remainder -------------------------------------------- */

/* Places of which the first that comes into line 0's set is looked for: so many
 * first, twice as many then. */
struct places {
    uint64_t from, step, room, stretch;
};

/* 0: none does.  Of those known not to come in none is loaded again. */
static uint64_t next_member(struct eviction *e, const struct script_lines *set,
                            const struct places *p)
{
    const struct script_lines group = pool_group(set);
    struct segment some = {p->from, u64_min(p->stretch, p->room), p->step};
    uint64_t left = p->room;
    while (left > 0 && lab_ok(e->lab) &&
           !eviction_evicts(e, &group, &some, 1)) {
        left -= some.count;
        some.start = segment_end(&some);
        some.count = u64_min(2 * some.count, left);
    }
    while (left > 0 && lab_ok(e->lab) && some.count > 1) {
        struct segment half = some;
        half.count /= 2;
        if (eviction_evicts(e, &group, &half, 1)) {
            some = half;
        } else {
            some.start = segment_end(&half);
            some.count -= half.count;
        }
    }
    return left > 0 && lab_ok(e->lab) ? some.start : 0;
}

static void add_line(const struct eviction *e, struct index_function *f,
                     uint64_t line, bool member)
{
    index_function_add_at(f, line, eviction_place(e, line * e->unit) / e->unit,
                          member);
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
 * none, which with one in four is so eight times in a row once in 65000.  A row
 * spans half of all at most, so that a third of them begin in the upper half;
 * where none of these has a member their first lines still say that lines vary
 * there: a bit that all members have in common is one of the index.
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
        const uint64_t apart =
            2 * rng_below(&rng, u64_max(places / room / 4, 1)) + 1;
        const uint64_t from = rng_below(&rng, places - room * apart + 1);
        /* As many as there may be sets. */
        const uint64_t line =
            next_member(e, &g->set,
                        &(struct places){from * e->unit, apart * e->unit, room,
                                         room / PLACES}) /
            e->unit;
        none = line == 0 ? none + 1 : 0;
        if (line != from)
            add_line(e, f, from, false);
        if (line > 0)
            add_line(e, f, line, true);
    }
}

static void by_members_within(struct eviction *e,
                              const struct geometry_lines *lines, uint64_t most,
                              struct geometry *g)
{
    struct index_function f;
    g->range = e->unit;
    while (2 * g->range <= u64_min(e->span, most))
        g->range *= 2;
    if (g->range / e->unit < 2 * PLACES * lines->most / g->ways)
        return;
    index_function_begin(&f, 0);
    f.first_place = eviction_place(e, 0) / e->unit;
    find_members(e, lines, g, &f);
    if (lab_ok(e->lab) && f.since >= SURE && index_function_holds_sliced(&f) &&
        f.masks < COUNT_OF(g->bits)) {
        for (size_t i = 0; i < f.masks; i++)
            g->bits[i] = f.mask[i] * e->unit;
        g->index = GEOMETRY_SLICED;
        g->modulo = f.odd;
        g->from_bit = f.shift + log2_of(e->unit);
        g->sets = f.odd << f.masks;
        /* Up to the lowest bit that hardly varied. */
        g->range = (~f.seen & (f.seen + 1)) * e->unit;
    }
    log_say(LOG_DEBUG,
            "members: %zu lines, %zu say nothing new, %zu masks, "
            "remainder by %" PRIu64,
            f.count, f.since, f.masks, f.odd);
    index_function_end(&f);
    if (!may_be(lines, g->sets * g->ways))
        g->sets = 0;
}

static void by_members(struct eviction *e, const struct geometry_lines *lines,
                       struct geometry *g)
{
    enum { SIZES = 32 };
    by_members_within(e, lines, SIZES * lines->most * e->unit, g);
}

/* Bits of an index that lie above all of these, and on which what they choose
 * depends nowhere but there. */
static void by_far_members(struct eviction *e,
                           const struct geometry_lines *lines,
                           struct geometry *g)
{
    by_members_within(e, lines, UINT64_MAX, g);
}

/* ---- equal sets ------------------------------------------------------- */

/* Line 0's set by a pool of which so many lines are enough; false: there is
 * none. */
static bool ask_own(struct pool_found *p, struct geometry *g)
{
    struct eviction *const e = p->pool.eviction;
    if (!lab_ok(e->lab) || p->lines == 0)
        return false;
    g->set = pool_find_set(&p->pool, p->lines);
    log_say(LOG_DEBUG, "conflicts: a set of %zu lines", g->set.count);
    g->own =
        g->set.count > 1 && pool_is_minimal(e, &g->set) ? g->set.count - 1 : 0;
    return g->own > 0;
}

/* How many other sets are asked for their ways, where line 0's took so many
 * questions. */
static uint64_t others_to_ask(const struct eviction *e, size_t questions)
{
    /* A set takes hundreds of launches where each tells little, or loads much.
     */
    const bool dear = e->strewn > 0 || (e->chancy && e->front.runs > 0);
    /* Of places in a random order an index is found, which proves it, or the
     * policy alone is told; but of those that are at home somewhere. */
    if (e->strewn > 0 && e->homes == NULL)
        return 0;
    if (dear || e->lasting || e->chancy)
        return dear ? 2 : POOL_FEW_OTHERS;
    /* Of very many ways, for which half of what may be asked yet is left; the
     * other half is for an index, which proves it of all sets. */
    return u64_min(POOL_FEW_OTHERS,
                   eviction_questions_left(e) / 2 / (questions + 1));
}

/* The same, and its ways if others have as many; else its lines alone are
 * known. */
static bool ask_ways(struct pool_found *p, struct geometry *g)
{
    struct eviction *const e = p->pool.eviction;
    const size_t before = e->visits;
    if (ask_own(p, g) &&
        pool_sets_are_equal(p, g->own, others_to_ask(e, e->visits - before)))
        g->ways = g->own;
    return g->ways > 0;
}

/* The same by lines in a random order, whatever deals them to the sets: then
 * nothing tells which of the others are in one. */
static void ask_strewn(struct pool_found *p, struct geometry *g)
{
    struct pool *const pool = &p->pool;
    const struct conflict_test test = pool_test(pool);
    const uint64_t unit = pool->eviction->unit;
    /* Number 0 is where the buffer begins, as those do that the kernel reads;
     * of all memory it is line 0. */
    *pool = (struct pool){.eviction = pool->eviction,
                          .target = pool->eviction->homes != NULL ? unit : 0,
                          .step = unit};
    const size_t room = pool_room(pool, p->held);
    *g = (struct geometry){0};
    if (room > 0 && pool_crowds(pool, NULL, 0, room))
        p->lines = conflict_prefix(&test, NULL, 0, room);
    log_say(LOG_DEBUG, "conflicts: %zu of %zu lines in a random order",
            p->lines, room);
    ask_ways(p, g);
}

/* A lap of many lines takes long, and is enough where the first line to come is
 * the first to go; other policies want more.  Where that is the first that
 * came, and loads in a lap change places, one line a lap goes, and the target
 * after as many as there are ways. */
static void ask_in_laps(struct pool_found *p, uint64_t lines,
                        struct geometry *g)
{
    static const uint64_t laps[] = {1, 3, 24};
    struct eviction *const e = p->pool.eviction;
    for (size_t i = 0; g->ways == 0 && lab_ok(e->lab) && i < COUNT_OF(laps) &&
                       (laps[i] <= 3 || lines <= LAPS_LINES);
         i++) {
        e->alone = laps[i];
        ask_strewn(p, g);
    }
}

static void begin_pool(struct eviction *e, const struct geometry_lines *lines,
                       uint64_t within, struct pool_found *p)
{
    *p = (struct pool_found){
        {.eviction = e, .step = e->unit, .within = within}, 0, lines->most};
    while (e->lasting &&
           lines->least * e->unit / p->pool.step >= POOL_COUNT_MOST / 2)
        p->pool.step *= 2;
    p->lines = pool_find(&p->pool, lines->most);
}

/* Asks for line 0's set.  Of a small TLB a few pages push the translation out
 * of a line that its cache has yet, and of those that come by chance it does
 * not show that whatever lies on them does.  So where lines that are strewn
 * wide make no set, those near to each other are asked: in four times as much
 * as the cache holds, of which any order crowds some sets. */
static bool ask_pools(struct eviction *e, const struct geometry_lines *lines,
                      bool (*ask)(struct pool_found *, struct geometry *),
                      struct pool_found *p, struct geometry *g)
{
    const uint64_t near = u64_max(POOL_NEAR, 4 * lines->most * e->unit);
    begin_pool(e, lines, 0, p);
    const uint64_t region =
        p->pool.run > 0 ? pool_region(&p->pool) : p->lines * p->pool.step;
    if (ask(p, g))
        return true;
    if (e->lasting || g->own > 0 || region <= near || !lab_ok(e->lab))
        return false;
    begin_pool(e, lines, near, p);
    return ask(p, g);
}

static struct geometry find_ways(struct eviction *e,
                                 const struct geometry_lines *lines,
                                 struct pool_found *p)
{
    struct geometry g = {0};
    if (ask_pools(e, lines, ask_ways, p, &g) || !e->lasting)
        return g;
    eviction_gave_up(e);
    p->pool = (struct pool){.eviction = e, .step = e->unit};
    p->lines = pool_scan_steps(&p->pool, lines);
    if (ask_ways(p, &g))
        return g;
    eviction_gave_up(e);
    if (e->chancy || !eviction_strew(e, lines->most))
        return g;
    ask_in_laps(p, lines->most, &g);
    eviction_gave_up(e);
    e->alone = 0;
    return g;
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
    if (lab_ok(e->lab) && found.sets > 0 && !proof_holds(e, &found))
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

/* A remainder by an even number is one by its odd part, and the bits below: of
 * what all SMs share, that chooses the slice, as far as anything tells. */
static void split_modulo(const struct eviction *e, struct geometry *g)
{
    if (!e->lasting || g->sets == 0 || g->index != GEOMETRY_MODULO)
        return;
    const unsigned even = log2_of(g->sets);
    for (unsigned i = 0; i < even && i < COUNT_OF(g->bits); i++)
        g->bits[i] = e->unit << i;
    g->index = GEOMETRY_SLICED;
    g->modulo = g->sets >> even;
    /* Numbers are of lines without that bit. */
    g->from_bit = log2_of(e->unit) +
                  (e->homes != NULL && e->side_bits % (2 * e->unit) != 0);
}

/* Whether the others fill the first line's set.  Where victims are picked by
 * chance a few of its loads that are disturbed look like a crowd; that it puts
 * one of them out is told from these. */
static bool fill_its_set(struct eviction *e, const struct script_lines *set)
{
    const struct script_lines group = pool_group(set);
    return e->chancy ? eviction_evicts(e, &group,
                                       &(struct segment){set->at[0], 1, 0}, 1)
                     : eviction_crowds(e, set, &(struct segments){0});
}

/* Whether the last question, of lines moved from those of a set, had no answer
 * since they never settle: then one of them is too many for a set of their own.
 * Unless those of the set, as many, do not settle either: that gives up. */
static bool never_settled(struct eviction *e, const struct script_lines *set)
{
    const struct script_lines group = pool_group(set);
    if (!e->chancy || !eviction_gave_up(e))
        return false;
    eviction_evicts(e, &group, NULL, 0);
    return true;
}

/* Whether lines moved from those of a set put each other out, though nothing
 * comes between two looks at them: of one too many for a set that victims leave
 * by chance, some of which only empty what lies in front, all may be there at
 * one look and not at the next.  Then whatever comes seems to put one of them
 * out. */
static bool overflow_alone(struct eviction *e, const struct script_lines *set,
                           const struct script_lines *moved)
{
    const struct script_lines group = pool_group(moved);
    const bool overflow = e->chancy && eviction_evicts(e, &group, NULL, 0);
    return never_settled(e, set) || overflow;
}

static bool fill_in_place(struct eviction *e, const struct script_lines *set,
                          const struct script_lines *moved)
{
    const bool fill = fill_its_set(e, moved);
    return !never_settled(e, set) && fill;
}

/*
 * Whether what lies so many bytes from the lines of a set, within blocks of
 * twice as many, is of the same lines: it fills the set in their place, and
 * comes beside them where others would put one of them out.
 */
static bool is_one_line(struct eviction *e, const struct script_lines *set,
                        uint64_t apart)
{
    const struct script_lines group = pool_group(set);
    struct script_lines moved = {
        lab_alloc(e->lab, set->count, sizeof *moved.at), set->count};
    struct segment *const others =
        lab_alloc(e->lab, group.count, sizeof *others);
    moved.at[0] = set->at[0];
    for (size_t i = 0; i < group.count; i++) {
        moved.at[i + 1] = group.at[i] ^ apart;
        /* Of one line a minimal set has but one part. */
        if (script_lists(set, moved.at[i + 1]))
            return false;
        others[i] = (struct segment){moved.at[i + 1], 1, 0};
    }
    return fill_in_place(e, set, &moved) &&
           !eviction_evicts(e, &group, others, group.count) &&
           !overflow_alone(e, set, &moved);
}

/* One set is enough, be others larger; only of what lasts they tell whether it
 * was found. */
static struct geometry find_own(struct eviction *e,
                                const struct geometry_lines *lines)
{
    struct pool_found pool;
    struct geometry g = {0};
    if (e->lasting)
        return find_ways(e, lines, &pool);
    ask_pools(e, lines, ask_own, &pool, &g);
    return g;
}

uint64_t geometry_line(struct eviction *e, const struct geometry_lines *lines)
{
    const struct geometry g = find_own(e, lines);
    uint64_t line = e->unit;
    while (g.own > 0 && lab_ok(e->lab) && line < LINE_MOST &&
           is_one_line(e, &g.set, line))
        line *= 2;
    return eviction_gave_up(e) || g.own == 0 || line == LINE_MOST ? 0 : line;
}

static bool find_index(struct eviction *e, const struct geometry_lines *lines,
                       struct geometry *g)
{
    return attempt(e, by_bits, lines, g) || attempt(e, by_members, lines, g);
}

/* The index of lines that were found as numbers in a random order: by where
 * they lie.  If there is none, they stay numbers. */
static void index_strewn(struct eviction *e, const struct geometry_lines *lines,
                         struct geometry *g)
{
    const struct geometry numbers = *g;
    const struct access_script_places places = {.apart = e->unit,
                                                .scramble = e->strewn};
    const uint64_t span = e->span;
    g->set.at = lab_alloc(e->lab, g->set.count, sizeof *g->set.at);
    for (size_t i = 0; i < g->set.count; i++)
        g->set.at[i] =
            access_script_address(numbers.set.at[i] / e->unit, &places);
    e->strewn = 0;
    e->span = e->whole;
    if (find_index(e, lines, g))
        return;
    *g = numbers;
    e->strewn = places.scramble;
    e->span = span;
}

static struct geometry find_once(struct eviction *e,
                                 const struct geometry_lines *lines)
{
    struct pool_found pool;
    struct geometry g = find_ways(e, lines, &pool);
    eviction_gave_up(e);
    /* A set of more lines than there are is one of another cache. */
    if (g.own > lines->most)
        g.ways = g.sets = g.own = 0;
    if (e->strewn > 0 && e->homes == NULL && g.ways > 0)
        index_strewn(e, lines, &g);
    if (e->strewn > 0)
        return g;
    if (g.sets == 0 && (g.ways == 0 || !find_index(e, lines, &g)))
        attempt(e, geometry_by_dealing, lines, &g);
    /* Of sets that nothing explains some may yet be larger; where victims are
     * picked by chance so many would take too long. */
    if (g.ways > 0 && g.sets == 0 && !e->chancy &&
        !pool_sets_are_equal(&pool, g.ways, MANY_OTHERS))
        g.ways = 0;
    eviction_gave_up(e);
    g.same = same_set(e, &g);
    split_modulo(e, &g);
    return g;
}

/* Where victims are picked by chance a line of a set may be left out that was
 * never put out: then what was found explains nothing, and is looked for once
 * more. */
struct geometry geometry_find(struct eviction *e,
                              const struct geometry_lines *lines)
{
    const struct geometry g = find_once(e, lines);
    if (!e->chancy || e->strewn > 0 || g.sets > 0 || !lab_ok(e->lab))
        return g;
    eviction_ask_more(e);
    return find_once(e, lines);
}

void geometry_find_far(struct eviction *e, const struct geometry_lines *lines,
                       struct geometry *g)
{
    struct geometry far = {.ways = g->ways, .own = g->own, .set = g->set};
    if (e->strewn > 0 || !attempt(e, by_far_members, lines, &far))
        return;
    *g = far;
    g->same = same_set(e, g);
}

struct segments geometry_filler(struct eviction *e, const struct geometry *g)
{
    enum { RUNS_MOST = 8 };
    const struct segment *const run = &e->front.run;
    struct cache *const model = proof_model(e, g);
    const struct proof p = {.eviction = e, .geometry = g, .model = model};
    struct segments filler = {lab_alloc(e->lab, RUNS_MOST, sizeof *filler.at),
                              0};
    bool joins = false;
    for (uint64_t i = 0; i < e->front.runs * run->count; i++) {
        const uint64_t at = run->start + i * run->step;
        const bool other =
            proof_set_of(&p, at) != proof_set_of(&p, g->set.at[0]);
        if (other && !joins && filler.count == RUNS_MOST)
            break;
        if (other && !joins)
            filler.at[filler.count++] = (struct segment){at, 0, run->step};
        if (other)
            filler.at[filler.count - 1].count++;
        joins = other;
    }
    cache_free(model);
    return filler;
}

/* Adds a line to runs of lines in a row. */
static void append(struct segments *runs, uint64_t line, uint64_t unit)
{
    struct segment *const last =
        runs->count > 0 ? &runs->at[runs->count - 1] : NULL;
    if (last != NULL && segment_end(last) == line)
        last->count++;
    else
        runs->at[runs->count++] = (struct segment){line, 1, unit};
}

/* Lines in their order, but for those whose set has as many as it has ways,
 * until all have.  None if those lie too far from each other. */
static struct segments lines_that_fill(struct eviction *e,
                                       const struct geometry *g)
{
    enum { STREWN = 64 }; /* an index of bits far above */
    struct cache *const model = proof_model(e, g);
    const struct proof p = {.eviction = e, .geometry = g, .model = model};
    struct segments runs = {lab_alloc(e->lab, g->lines, sizeof *runs.at), 0};
    uint32_t *const taken = lab_alloc(e->lab, g->sets, sizeof *taken);
    const uint64_t end = u64_min(STREWN * g->lines * e->unit, e->span);
    uint64_t open = g->lines;
    memset(taken, 0, g->sets * sizeof *taken);
    for (uint64_t line = 0; open > 0 && line < end; line += e->unit) {
        const size_t set = proof_set_of(&p, line);
        if (taken[set] == proof_ways_of(g, set))
            continue;
        taken[set]++;
        open--;
        append(&runs, line, e->unit);
    }
    cache_free(model);
    runs.count = open > 0 ? 0 : runs.count;
    return runs;
}

bool geometry_has_room(struct eviction *e, const struct geometry *g)
{
    const struct segments runs = lines_that_fill(e, g);
    const bool stay =
        runs.count > 0 && e->strewn == 0 &&
        eviction_all_stay(e, &(struct script_lines){NULL, 0}, &runs);
    return !eviction_gave_up(e) && lab_ok(e->lab) && stay;
}

/* As the index foretells: where sets are many, to look for them takes long; and
 * behind another cache, where lines are few, others of the set lie below those
 * that are known, too, so that all there are are taken in turn. */
static struct script_lines
foretold_members(struct eviction *e, const struct geometry *g, size_t count)
{
    struct cache *const model = proof_model(e, g);
    struct proof p = {.eviction = e, .geometry = g, .model = model};
    rng_seed(&p.rng, g->lines);
    p.among = u64_min(proof_range(e, g), 16 * g->lines * e->unit);
    const size_t home = proof_set_of(&p, g->set.at[0]),
                 wanted = count + g->set.count;
    const struct script_lines all =
        e->lasting ? proof_pick_lines(&p, true, home, wanted)
                   : proof_all_lines(&p, home, wanted);
    struct script_lines more = {lab_alloc(e->lab, count, sizeof *more.at), 0};
    for (size_t i = 0; i < all.count && more.count < count; i++)
        if (!script_lists(&g->set, all.at[i]))
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
    for (size_t i = 0; i < set.count; i++)
        from = u64_max(from, set.at[i]);
    const bool few = g->same == 0 || (e->span - from) / g->same <= count;
    if (g->sets > 0 && few && (e->lasting || e->front.runs > 0))
        return foretold_members(e, g, count);
    while (lab_ok(e->lab) && more.count < count) {
        const uint64_t step = g->same > 0 ? g->same : e->unit;
        const uint64_t next = from + step;
        const uint64_t room = next < e->span ? (e->span - next) / step : 0;
        if (g->same > 0)
            from = from + g->same + e->unit <= e->span ? from + g->same : 0;
        else
            from = next_member(e, &set,
                               &(struct places){from + step, step, room, 1});
        if (from == 0)
            break;
        more.at[more.count++] = from;
    }
    return more;
}
