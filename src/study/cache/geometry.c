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
#include "probe/memory/access_script.h"
#include "study/l2/homes.h"

enum {
    COUNT_MOST = 1024, /* lines that are tried at a step, of one that lasts */
    PICKS_MOST = 8 << 20, /* lines that are looked at for a list */
    UNEQUAL_MOST = 800,   /* entries of a cache of unequal sets */
    TARGETS_MOST = 40,    /* lines of which one set is asked for */
    FEW_OTHERS = 4,       /* sets that are asked for beside line 0's */
    MANY_OTHERS = 16,
    MAPPED_BITS = 46, /* of addresses that memory is mapped at */
    LAPS_LINES = 8192 /* of a cache that is asked by many laps at once */
};

/* ---- a set ------------------------------------------------------------ */

/* Lines of which some push the target out: `step` apart, or in short runs that
 * are strewn, each in a slot of its own but for the first, which is the
 * target's. */
struct pool {
    struct eviction *eviction;
    uint64_t target, step;
    uint64_t run;    /* lines of a run; 0: they are not strewn */
    uint64_t aside;  /* lines farther each, but for the target */
    uint64_t within; /* bytes in which they lie; 0: wherever they may */
    uint32_t *slot;
    size_t slots;
};

static uint64_t line_of(const struct pool *p, size_t number)
{
    if (p->run == 0)
        return p->target + (number + 1) * p->step +
               p->aside * p->eviction->unit;
    return (p->slot[number / p->run] * p->run + number % p->run) * p->step;
}

/* Lines of the pool, but for the end. */
static void add_lines(const struct pool *p, size_t from, size_t end,
                      struct segments *s)
{
    while (from < end) {
        const size_t left = p->run > 0 ? p->run - from % p->run : end - from;
        const size_t count = u64_min(left, end - from);
        s->at[s->count++] = (struct segment){line_of(p, from), count, p->step};
        from += count;
    }
}

/* Room for the segments of so many lines, of which one is left out. */
static struct segments no_lines(const struct pool *p, size_t count)
{
    const size_t runs = p->run > 0 ? count / p->run + 1 : 1;
    return (struct segments){
        lab_alloc(p->eviction->lab, runs + 1, sizeof(struct segment)), 0};
}

/* The first lines of the pool. */
static struct segments prefix_of(const struct pool *p, size_t count)
{
    struct segments s = no_lines(p, count);
    add_lines(p, 0, count, &s);
    return s;
}

/* Lines are loaded in one order, whichever were found first: where those go
 * that have been there for longest, others that come out of turn put but one
 * line out in a lap. */
static void insert(uint64_t *sorted, size_t count, uint64_t line)
{
    for (; count > 0 && sorted[count - 1] > line; count--)
        sorted[count] = sorted[count - 1];
    sorted[count] = line;
}

static bool pool_crowds(void *context, const size_t *kept, size_t count,
                        size_t prefix)
{
    const struct pool *const p = context;
    uint64_t *const at = lab_alloc(p->eviction->lab, count + 1, sizeof *at);
    const struct segments first = prefix_of(p, prefix);
    at[0] = p->target;
    for (size_t i = 0; i < count; i++)
        insert(at + 1, i, line_of(p, kept[i]));
    return eviction_crowds(p->eviction, &(struct script_lines){at, count + 1},
                           &first);
}

/* Chance takes many rounds, for which a list of many lines is too long. */
static bool pool_crowds_without(void *context, size_t all, size_t out)
{
    const struct pool *const p = context;
    struct segments s = no_lines(p, all);
    add_lines(p, 0, out, &s);
    add_lines(p, out + 1, all, &s);
    return eviction_crowds(
        p->eviction, &(struct script_lines){(uint64_t[]){p->target}, 1}, &s);
}

static struct conflict_test test_of(struct pool *p)
{
    return (struct conflict_test){
        p, pool_crowds, p->eviction->chancy ? pool_crowds_without : NULL};
}

/* How many lines of the pool may be loaded, beside any target: enough that each
 * set surely has too many, but no more than can be tried often; 0: not even
 * two. */
static size_t pool_room(const struct pool *p, uint64_t held)
{
    const struct eviction *const e = p->eviction;
    const uint64_t first = u64_min(TARGETS_MOST * e->unit, e->span / 16);
    const uint64_t targets = u64_max(first, p->target);
    const uint64_t all = e->strewn > 0 ? e->span / 2 : e->span;
    const uint64_t span =
        p->within > 0 ? u64_min(all, targets + p->within) : all;
    const uint64_t room =
        p->run > 0 ? p->slots * p->run : (span - targets) / p->step;
    const uint64_t most =
        e->lasting && e->strewn == 0 ? COUNT_MOST : 3 * held + 64;
    return room < 3 ? 0 : (size_t)u64_min(room - 1, most);
}

/* Lines that lie farther apart than that, and their neighbours, so many lines
 * on, on the same page: of some of which the set is another. */
enum { NEAR = 64 * 1024, SPARSE = 16 };

/* Whether whatever lies on the same pages makes the target late as well: then
 * it is its translation that has gone. */
static bool loses_pages(const struct pool *p, size_t lines)
{
    struct pool aside = *p;
    if (p->run > 0 || p->step < SPARSE * p->eviction->unit ||
        lines * p->step <= NEAR)
        return false;
    for (aside.aside = 1; aside.aside < SPARSE; aside.aside *= 2)
        if (!pool_crowds(&aside, NULL, 0, lines))
            return false;
    return true;
}

/* If fewer lines of this pool push the target out, it is the best; `fewest` is
 * of the best before, 0 if there is none. */
static void try_pool(struct pool *p, uint64_t held, struct pool *best,
                     size_t *fewest)
{
    const struct conflict_test test = test_of(p);
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

enum { RUNS = 32, RUN_MOST = 64, REGION = 2 << 20 };

/* Bytes over which lines are strewn. */
static uint64_t region_of(const struct pool *p)
{
    return u64_min(p->eviction->span, p->within > 0 ? p->within : REGION);
}

/* The best of some strewn pools, if it is better than `fewest` lines. */
static size_t find_strewn(struct pool *best, uint64_t held, size_t fewest)
{
    enum { STREWN = 16 };
    struct pool p = *best;
    p.step = p.eviction->unit;
    p.run = u64_within(1, held / RUNS, RUN_MOST);
    p.slots = region_of(&p) / (p.step * p.run) - 1;
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
 * chance does, with as many laps as that takes; unless those that are found so
 * always do. */
static size_t find_pool(struct pool *best, uint64_t held)
{
    struct eviction *const e = best->eviction;
    const struct pool from = *best;
    size_t fewest = 0;
    for (int i = 0; i == 0 || (i == 1 && e->chancy); i++) {
        *best = from;
        fewest = search_pools(best, held);
        const struct segments first =
            prefix_of(best, fewest > 0 ? fewest : pool_room(best, held));
        if (lab_ok(e->lab) && (fewest > 0 || e->fresh))
            eviction_watch(e, best->target, &first);
    }
    return fewest;
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

/* Of what empties the cache in front the lines that are of the set, too:
 * without them nothing is pushed out. */
static void add_front_lines(struct eviction *e, struct script_lines *set)
{
    const struct script_lines front = eviction_front_lines(e), own = *set;
    for (uint64_t line = e->unit;
         set->count == own.count && line <= u64_max(e->longest, e->unit);
         line *= 2) {
        e->front.bytes_without = line;
        for (size_t i = 0; lab_ok(e->lab) && i < front.count; i++) {
            e->front.without = front.at[i];
            if (front.at[i] % line == 0 && !script_lists(&own, front.at[i]) &&
                !eviction_crowds(e, &own, &(struct segments){0}) &&
                !e->front.answered)
                set->at[set->count++] = front.at[i];
        }
    }
    e->front.without = e->front.bytes_without = 0;
}

/* The target and a minimal set of lines that push it out, and last those of the
 * set that empty what lies in front; `count` 0: none. */
static struct script_lines find_set(struct pool *p, size_t lines)
{
    const struct conflict_test test = test_of(p);
    struct eviction *const e = p->eviction;
    size_t *const members = lab_alloc(e->lab, COUNT_MOST, sizeof *members);
    const size_t ways = conflict_set(&test, lines, COUNT_MOST - 1, members);
    const size_t most = ways + 1 + eviction_front_lines(e).count;
    struct script_lines set = {lab_alloc(e->lab, most, sizeof *set.at), 0};
    if (!lab_ok(e->lab) || ways == 0)
        return set;
    set.at[set.count++] = p->target;
    for (size_t i = 0; i < ways; i++)
        set.at[set.count++] = line_of(p, members[i]);
    add_front_lines(e, &set);
    return set;
}

/* The lines of a set that are loaded on purpose alone: not those that empty
 * what lies in front. */
static size_t own_lines(const struct eviction *e,
                        const struct script_lines *set)
{
    const struct script_lines front = eviction_front_lines(e);
    size_t own = 0;
    for (size_t i = 0; i < set->count; i++)
        own += !script_lists(&front, set->at[i]);
    return own;
}

/* What fills line 0's set without it. */
static struct script_lines group_of(const struct script_lines *set)
{
    return (struct script_lines){set->at + 1, set->count - 1};
}

/* Whether lines lie so far apart that their translations may go. */
static bool is_sparse(const struct script_lines *set, uint64_t unit)
{
    uint64_t end = 0, apart = UINT64_MAX;
    for (size_t i = 1; i < set->count; i++) {
        end = u64_max(end, set->at[i]);
        apart =
            u64_min(apart, set->at[i] > set->at[0] ? set->at[i] - set->at[0]
                                                   : set->at[0] - set->at[i]);
    }
    return end > NEAR && apart >= SPARSE * unit;
}

/* If all lines beside one that puts others out, on its page, put others out as
 * well, it is by their translations. */
static bool neighbours_evict(struct eviction *e,
                             const struct script_lines *group, uint64_t line)
{
    for (uint64_t n = 1; n < SPARSE; n *= 2)
        if (!eviction_evicts(e, group,
                             &(struct segment){line ^ n * e->unit, 1, 0}, 1))
            return false;
    return true;
}

/* Whether they are such a set indeed: without any of them the others stay, and
 * it puts one of them out. */
static bool is_minimal(struct eviction *e, const struct script_lines *set)
{
    enum { LEFT_OUT = 6 };
    struct script_lines but = {lab_alloc(e->lab, set->count, sizeof *but.at),
                               set->count - 1};
    const bool sparse = is_sparse(set, e->unit);
    const size_t own = own_lines(e, set);
    bool minimal = true;
    for (size_t i = 0; minimal && i < LEFT_OUT; i++) {
        const size_t out = i * (own - 1) / LEFT_OUT;
        const uint64_t out_at = set->at[out];
        for (size_t n = 0; n < but.count; n++)
            but.at[n] = set->at[n < out ? n : n + 1];
        minimal =
            eviction_evicts(e, &but, &(struct segment){set->at[out], 1, 0}, 1);
        minimal = minimal && (!sparse || !neighbours_evict(e, &but, out_at));
        minimal = !eviction_gave_up(e) && minimal;
    }
    return minimal;
}

/* A pool, how many of its lines push the target out, and lines of the cache. */
struct pool_found {
    struct pool pool;
    size_t lines;
    uint64_t held;
};

/* As many lines as are enough for another target: of a step twice as many, of
 * lines in random order all, since chance says how many are of its set. */
static size_t room_elsewhere(const struct pool_found *found, struct pool *p)
{
    if (p->run > 0)
        return find_strewn(p, found->held, 0);
    if (p->eviction->strewn > 0)
        return pool_room(p, found->held);
    return u64_min(2 * found->lines + 8, pool_room(p, found->lines));
}

/* The set of a pool with another target, and how many lines it has.  So far on
 * there may be too few lines of that step to crowd it: then half as far apart
 * there are more, of more sets (constants, 64 KiB in all). */
static size_t lines_of_set_elsewhere(const struct pool_found *found,
                                     struct pool *p)
{
    size_t count = find_set(p, room_elsewhere(found, p)).count;
    size_t wanted = 2 * found->lines;
    if (count == 0)
        count = find_set(p, pool_room(p, found->held)).count;
    while (count == 0 && lab_ok(p->eviction->lab) && p->run == 0 &&
           p->step > p->eviction->unit && pool_room(p, found->held) < wanted) {
        p->step /= 2;
        wanted *= 2;
        count = find_set(p, pool_room(p, found->held)).count;
    }
    return count;
}

/* True if lines elsewhere, so many, are in sets of as many ways; strewn ones
 * are all of the first run. */
static bool sets_are_equal(const struct pool_found *found, size_t ways,
                           uint64_t others)
{
    const bool behind = found->pool.eviction->front.runs > 0;
    unsigned unlike = 0;
    bool equal = true;
    for (uint64_t i = 1; equal && i <= others; i++) {
        struct pool p = found->pool;
        /* Below TARGETS_MOST, as many as are in a row at last. */
        const uint64_t line = others > FEW_OTHERS ? i : i * (2 * i + 1);
        p.target = (p.run > 0 ? line % p.run : line) * p.eviction->unit;
        const size_t count = lines_of_set_elsewhere(found, &p);
        log_say(LOG_DEBUG, "conflicts: of line %" PRIu64 " %zu lines",
                p.target / p.eviction->unit, count);
        const bool alike = count == ways + 1;
        unlike += !alike;
        /* What the kernel itself reads, its parameters, is in one set: it may
         * have a way there, or, where victims follow a tree, save a line of
         * five in four ways (both on an H200, 2026-11, set 3 of 8).  What
         * comes first of a launch that asks behind another cache is in some,
         * too (eviction.c), and takes their trees apart: there an index is
         * proved. */
        equal = alike || (behind ? 2 * unlike <= others
                                 : others <= FEW_OTHERS && unlike == 1 &&
                                       (count == ways || count == ways + 2));
    }
    return equal;
}

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
    const struct script_lines group = group_of(&g->set);
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
    const struct script_lines group = group_of(&g->set);
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

/* Where an offset lies: of lines at home beside an SM they are numbers, of
 * which a remainder by an odd number says nothing. */
static uint64_t place_of(const struct eviction *e, uint64_t offset)
{
    return e->homes != NULL ? homes_place(e->side_bits, e->sides, offset)
                            : offset;
}

/* Places of which the first that comes into line 0's set is looked for: so many
 * first, twice as many then. */
struct places {
    uint64_t from, step, room, stretch;
};

/* 0: none does.  Of those known not to come in none is loaded again. */
static uint64_t next_member(struct eviction *e, const struct script_lines *set,
                            const struct places *p)
{
    const struct script_lines group = group_of(set);
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
    index_function_add_at(f, line, place_of(e, line * e->unit) / e->unit,
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
    f.first_place = place_of(e, 0) / e->unit;
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
    g->set = find_set(&p->pool, p->lines);
    log_say(LOG_DEBUG, "conflicts: a set of %zu lines", g->set.count);
    g->own = g->set.count > 1 && is_minimal(e, &g->set) ? g->set.count - 1 : 0;
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
        return dear ? 2 : FEW_OTHERS;
    /* Of very many ways, for which half of what may be asked yet is left; the
     * other half is for an index, which proves it of all sets. */
    return u64_min(FEW_OTHERS,
                   eviction_questions_left(e) / 2 / (questions + 1));
}

/* The same, and its ways if others have as many; else its lines alone are
 * known. */
static bool ask_ways(struct pool_found *p, struct geometry *g)
{
    struct eviction *const e = p->pool.eviction;
    const size_t before = e->visits;
    if (ask_own(p, g) &&
        sets_are_equal(p, g->own, others_to_ask(e, e->visits - before)))
        g->ways = g->own;
    return g->ways > 0;
}

/* The same by lines in a random order, whatever deals them to the sets: then
 * nothing tells which of the others are in one. */
static void ask_strewn(struct pool_found *p, struct geometry *g)
{
    struct pool *const pool = &p->pool;
    const struct conflict_test test = test_of(pool);
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
           lines->least * e->unit / p->pool.step >= COUNT_MOST / 2)
        p->pool.step *= 2;
    p->lines = find_pool(&p->pool, lines->most);
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
    const uint64_t near = u64_max(NEAR, 4 * lines->most * e->unit);
    begin_pool(e, lines, 0, p);
    const uint64_t region =
        p->pool.run > 0 ? region_of(&p->pool) : p->lines * p->pool.step;
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
    p->lines = scan_steps(&p->pool, lines);
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

/* ---- unequal sets ----------------------------------------------------- */

/*
 * Lines are numbered from the eviction's first, which need not be where dealing
 * begins.  So each line of a round of `lines` is asked which set it is in; then
 * the beginning is where dealing to sets of these ways gives just that order.
 */
enum { ALIKE = 2 }; /* ways, which many policies use as an lru does */
struct dealing {
    uint64_t lines;
    uint64_t ways; /* of all sets together */
    size_t sets;
    struct script_lines shown;      /* a line and what fills its set: of line
                                       0's or, where that leaves most policies
                                       alike, of a larger one */
    uint32_t ways_of[UNEQUAL_MOST]; /* of each set */
    uint32_t set[UNEQUAL_MOST];     /* of each line; the sets: not known */
};

/* Lines of the round, from `line` on, whose set is not known. */
static struct script_lines open_lines(struct eviction *e,
                                      const struct dealing *d, uint64_t line)
{
    struct script_lines open = {lab_alloc(e->lab, d->lines, sizeof *open.at),
                                0};
    for (; line < d->lines; line++)
        if (d->set[line] == UNEQUAL_MOST)
            open.at[open.count++] = line * e->unit;
    return open;
}

/* Which lines come into the set that this line's group fills. */
static void take_lines(struct eviction *e, struct dealing *d, uint64_t line,
                       const struct script_lines *group)
{
    enum eviction_came *const came = lab_alloc(e->lab, d->lines, sizeof *came);
    const struct script_lines open = open_lines(e, d, line + 1);
    d->set[line] = (uint32_t)d->sets;
    /* What is there already puts nothing out. */
    for (size_t i = 0; i < group->count; i++)
        if (group->at[i] / e->unit < d->lines)
            d->set[group->at[i] / e->unit] = (uint32_t)d->sets;
    eviction_foretold(e, group, &open, came);
    for (size_t i = 0; i < open.count; i++)
        if (came[i] == CAME_IN)
            d->set[open.at[i] / e->unit] = (uint32_t)d->sets;
}

/* The set of a line, by the same line of the rounds that follow. */
static bool add_set(struct eviction *e, struct dealing *d, uint64_t line)
{
    struct pool p = {
        .eviction = e, .target = line * e->unit, .step = d->lines * e->unit};
    const struct script_lines set =
        find_set(&p, u64_min(pool_room(&p, d->lines), d->lines));
    if (!lab_ok(e->lab) || set.count < 2)
        return false;
    const struct script_lines group = group_of(&set);
    if (line == 0 ||
        (d->shown.count <= ALIKE + 1 && set.count > d->shown.count))
        d->shown = set;
    take_lines(e, d, line, &group);
    d->ways_of[d->sets++] = (uint32_t)group.count;
    d->ways += group.count;
    return true;
}

static void ask_lines(struct eviction *e, struct dealing *d)
{
    for (uint64_t line = 0; line < d->lines; line++)
        d->set[line] = UNEQUAL_MOST;
    for (uint64_t line = 0; line < d->lines && d->ways < d->lines; line++)
        if (d->set[line] == UNEQUAL_MOST && !add_set(e, d, line))
            return;
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
        if (set == UNEQUAL_MOST || name[set] != 0)
            continue;
        set_ways[named++] = d->ways_of[set];
        name[set] = (uint32_t)named;
    }
    size_t agree = 0, known = 0;
    uint64_t line = first;
    if (named != d->sets)
        return false;
    for (uint32_t round = 0; line < first + d->lines; round++)
        for (size_t set = 0; set < d->sets && line < first + d->lines; set++)
            if (round < set_ways[set]) {
                const uint32_t of = d->set[line++ % d->lines];
                known += of != UNEQUAL_MOST;
                agree += name[of] == set + 1;
            }
    /* One line of 50 may be one that could not be told. */
    return agree == known && 50 * known >= 49 * d->lines;
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

static bool are_alike(const uint32_t *ways, size_t sets)
{
    size_t same = 1;
    while (same < sets && ways[same] == ways[0])
        same++;
    return same >= sets;
}

/* A round, if it is dealt from some line on.  Sets that are alike are dealt
 * line by line: by the remainder. */
static void deal(struct eviction *e, uint64_t lines, struct geometry *g)
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
                           .ways = d->shown.count - 1,
                           .lines = lines,
                           .first = first,
                           .same = lines * e->unit,
                           .set = d->shown,
                           .set_ways = set_ways};
    if (g->sets > 0 && are_alike(set_ways, g->sets)) {
        g->index = GEOMETRY_MODULO;
        g->set_ways = NULL;
    }
}

/* The lines that are dealt in a round: so far apart they crowd line 0's set, by
 * one more than it has ways, or half of them where these are not known.  If
 * they are few enough to ask each. */
static void by_dealing(struct eviction *e, const struct geometry_lines *lines,
                       struct geometry *g)
{
    if (lines->most > UNEQUAL_MOST)
        return;
    eviction_ask_more(e);
    for (uint64_t n = lines->least; lab_ok(e->lab) && n <= lines->most; n++) {
        struct pool p = {.eviction = e, .step = n * e->unit};
        const size_t enough = g->set.count > 1 ? g->set.count - 1 : n / 2;
        if (g->sets == 0 && pool_crowds(&p, NULL, 0, enough))
            deal(e, n, g);
    }
}

/* ---- proof ------------------------------------------------------------ */

/* What lines at random places must show. */
struct proof {
    struct eviction *eviction;
    const struct geometry *geometry;
    const struct cache *model;
    struct rng rng;
    uint64_t among; /* bytes in which they are picked */
    bool holds;
};

static uint32_t ways_of(const struct geometry *g, uint64_t set)
{
    return g->set_ways != NULL ? g->set_ways[set] : (uint32_t)g->ways;
}

/* Masks are of numbers, and a remainder of where these lie: the model has the
 * masks alone. */
static bool takes_places(const struct eviction *e, const struct geometry *g)
{
    return e->homes != NULL && g->modulo > 0;
}

static struct cache *model_of(const struct eviction *e,
                              const struct geometry *g)
{
    uint32_t *const ways = lab_alloc(e->lab, g->sets, sizeof *ways);
    uint64_t bits[COUNT_OF(g->bits)];
    for (uint64_t i = 0; i < g->sets; i++)
        ways[i] = ways_of(g, i);
    memcpy(bits, g->bits, sizeof bits);
    const bool apart = takes_places(e, g);
    const struct cache_shape shape = {
        .line = e->unit,
        .sector = e->unit,
        .sets = apart ? g->sets / g->modulo : g->sets,
        .set_ways = ways,
        .index_bits = geometry_bits(g) > 0 ? bits : NULL,
        .index_bit_count = geometry_bits(g),
        .slices = {.modulo = apart ? 0 : g->modulo,
                   .from_bit = apart ? 0 : g->from_bit},
    };
    return cache_new(&shape, 1);
}

/* The set that the model puts an offset into; its dealing begins at 0. */
static size_t set_of(const struct proof *p, uint64_t offset)
{
    const struct geometry *const g = p->geometry;
    if (takes_places(p->eviction, g))
        return cache_set_of(p->model, offset) * g->modulo +
               (place_of(p->eviction, offset) >> g->from_bit) % g->modulo;
    return cache_set_of(p->model, g->index != GEOMETRY_UNEQUAL
                                      ? offset
                                      : offset + (g->lines - g->first) *
                                                     p->eviction->unit);
}

bool geometry_is_hashed(const struct geometry *g)
{
    bool hashed = g->index == GEOMETRY_SLICED;
    for (unsigned i = 0; i < geometry_bits(g); i++)
        hashed = hashed || !u64_is_power(g->bits[i]);
    return hashed;
}

/* Bytes that are tried: an index that takes bits far above its own in may take
 * in any. */
static uint64_t range_of(const struct eviction *e, const struct geometry *g)
{
    const uint64_t near = 16 * g->lines * e->unit;
    if (g->index == GEOMETRY_SLICED)
        return g->range;
    return geometry_is_hashed(g) ? e->span : u64_min(e->span, near);
}

/* Lines of one set, or of all others, if there are so many; of the set first
 * those that are there whatever is loaded, since they empty what lies in front.
 */
static struct script_lines pick_lines(struct proof *p, bool inside, size_t home,
                                      size_t wanted)
{
    const uint64_t unit = p->eviction->unit;
    const uint64_t among = p->among / unit;
    struct script_lines list = {
        lab_alloc(p->eviction->lab, wanted, sizeof *list.at), 0};
    const struct script_lines front = eviction_front_lines(p->eviction);
    for (size_t i = 0; inside && list.count < wanted && i < front.count; i++)
        if (set_of(p, front.at[i]) == home)
            list.at[list.count++] = front.at[i];
    for (size_t i = 0; list.count < wanted && i < PICKS_MOST; i++) {
        const uint64_t at = rng_below(&p->rng, among) * unit;
        if ((set_of(p, at) == home) == inside && !script_lists(&list, at))
            list.at[list.count++] = at;
    }
    return list;
}

/* So many lines of one set, in order; fewer, if there are no more. */
static struct script_lines all_lines(const struct proof *p, size_t home,
                                     size_t wanted)
{
    const uint64_t unit = p->eviction->unit;
    struct script_lines list = {
        lab_alloc(p->eviction->lab, wanted, sizeof *list.at), 0};
    for (uint64_t at = 0; at + unit <= p->among && list.count < wanted;
         at += unit)
        if (set_of(p, at) == home)
            list.at[list.count++] = at;
    return list;
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
static size_t asked_at_once(const struct proof *p, uint64_t ways)
{
    /* A tenth of the pairs that are wanted, and more: of ten sets, in and out.
     */
    const uint64_t most = geometry_is_hashed(p->geometry) ? 55 : 5;
    const uint64_t there = p->among / p->eviction->unit / p->geometry->sets;
    return there > ways ? (size_t)u64_min(most, (there - ways + 1) / 2) : 0;
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

/* Whether a set is known not to hold as many lines as it should have ways:
 * these put each other out, and then say nothing of others. */
static bool overflows(struct eviction *e, const struct script_lines *group)
{
    const bool crowds =
        lab_ok(e->lab) && eviction_crowds(e, group, &(struct segments){0});
    return !eviction_gave_up(e) && crowds;
}

/* Asks of a set, which its ways fill, half of the lines within it.  Of one that
 * tells of none of them the lines fit all the same. */
static void prove_set(struct proof *p, size_t home, struct foretold *f)
{
    const struct geometry *const g = p->geometry;
    const size_t ways = ways_of(g, home), each = asked_at_once(p, ways);
    struct script_lines group = pick_lines(p, true, home, ways + each);
    const struct script_lines in = {group.at + ways, each};
    const struct script_lines out = pick_lines(p, false, home, each);
    p->holds = each > 0 && group.count == ways + each && out.count == each;
    group.count = ways;
    if (!p->holds)
        return;
    const size_t told = f->right + f->wrong;
    foretell(p, &group, &in, CAME_IN, f);
    foretell(p, &group, &out, CAME_NOT, f);
    if (f->right + f->wrong == told && overflows(p->eviction, &group))
        f->wrong += each;
}

static size_t random_set(struct proof *p)
{
    const struct geometry *const g = p->geometry;
    return set_of(p, rng_below(&p->rng, g->lines) * p->eviction->unit);
}

/* Of so few sets each must tell of some lines: one that never does, or that
 * chance left out, may have another number of ways, and overflow by itself
 * without a word under policies that keep the first line. */
enum { SETS_FEW = 4 };

static bool does_tell(struct proof *p, size_t home, struct foretold *f)
{
    const size_t told = f->right + f->wrong;
    prove_set(p, home, f);
    return f->right + f->wrong > told;
}

/* Those that told nothing so far are asked again. */
static bool all_tell(struct proof *p, const bool *told, struct foretold *f)
{
    enum { TRIES = 3 };
    const size_t sets = p->geometry->sets;
    bool all = true;
    for (size_t home = 0; sets <= SETS_FEW && all && home < sets; home++) {
        all = told[home];
        for (int i = 0; !all && i < TRIES; i++)
            all = p->holds && lab_ok(p->eviction->lab) && does_tell(p, home, f);
    }
    return all;
}

/*
 * What is claimed must foretell of many lines that were not used to find it,
 * half of them of a full set and half of others, whether they come into it: 99
 * of 100 times, and of a thousand if it is XORs.
 */
static bool prove_pairs(struct proof *p)
{
    enum { PAIRS = 40, PAIRS_HASHED = 1000 };
    const size_t pairs = geometry_is_hashed(p->geometry) ? PAIRS_HASHED : PAIRS;
    const size_t each = asked_at_once(p, p->geometry->ways);
    /* Four times as many, since of wide sets most cannot be told beside noise.
     */
    const size_t sets_most = each > 0 ? 2 * pairs / each + 1 : 0;
    struct foretold f = {0};
    bool told[SETS_FEW] = {false};
    p->holds = true;
    eviction_ask_more(p->eviction);
    for (size_t i = 0; p->holds && lab_ok(p->eviction->lab) && i < sets_most &&
                       f.right + f.wrong < pairs && 99 * f.wrong <= pairs;
         i++) {
        const size_t home = random_set(p);
        const bool tells = does_tell(p, home, &f);
        if (home < SETS_FEW)
            told[home] = told[home] || tells;
    }
    const bool all = p->holds && all_tell(p, told, &f);
    log_say(LOG_DEBUG, "proof: %zu foretold, %zu wrongly%s", f.right + f.wrong,
            f.wrong, all ? "" : ", not of all sets");
    return all && f.right + f.wrong >= pairs && 99 * f.wrong <= f.right;
}

/* Of one set: as many lines as it has ways, wherever they are strewn and at a
 * few steps, push none of theirs out.  Of several sets some would have too
 * many.
 */
static bool prove_one_set(struct eviction *e, const struct geometry *g)
{
    enum { STREWN = 24, RUN = 4 };
    static const uint64_t steps[] = {2, 3, 5, 7};
    struct pool p = {.eviction = e};
    const size_t fit = own_lines(e, &g->set) - 2; /* beside the target */
    bool fits = true;
    for (size_t i = 0; fits && i < COUNT_OF(steps); i++) {
        p.step = steps[i] * e->unit;
        fits = !pool_crowds(&p, NULL, 0, fit);
    }
    p.step = e->unit;
    p.run = RUN;
    p.slots = region_of(&p) / (p.step * p.run) - 1;
    for (unsigned take = 0; fits && take < STREWN; take++) {
        strew(&p, take);
        fits = p.slots * p.run >= fit && !pool_crowds(&p, NULL, 0, fit);
    }
    return fits;
}

/* Bits that are in no mask are in none only if lines that differ in them, too,
 * come as is foretold: memory need not lie in a row that far.  Else nothing is
 * claimed beyond what was proved. */
static void prove_far(struct proof *p, struct geometry *g)
{
    enum { SETS = 4 };
    const uint64_t proved = p->among;
    const uint64_t there = u64_min(g->range, p->eviction->span);
    struct foretold f = {0};
    if (there <= proved)
        return;
    p->among = there;
    for (size_t i = 0; p->holds && lab_ok(p->eviction->lab) && i < SETS; i++)
        prove_set(p, random_set(p), &f);
    log_say(LOG_DEBUG, "proof: far away %zu foretold, %zu wrongly",
            f.right + f.wrong, f.wrong);
    if (!p->holds || 20 * f.wrong > f.right || f.right == 0)
        g->range = proved;
}

static bool holds(struct eviction *e, struct geometry *g)
{
    if (g->sets == 1)
        return prove_one_set(e, g);
    struct cache *const model = model_of(e, g);
    struct proof p = {.eviction = e, .geometry = g, .model = model};
    rng_seed(&p.rng, g->lines);
    p.among = range_of(e, g);
    if (geometry_is_hashed(g))
        p.among = u64_min(p.among, pairs_range(e, g));
    bool proved = prove_pairs(&p);
    /* So near some sets have too few lines, where a remainder takes turns of
     * what the masks tell. */
    while (!proved && !p.holds && lab_ok(e->lab) &&
           2 * p.among <= range_of(e, g)) {
        p.among *= 2;
        proved = prove_pairs(&p);
    }
    if (proved && geometry_is_hashed(g))
        prove_far(&p, g);
    cache_free(model);
    return proved;
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
    const struct script_lines group = group_of(set);
    return e->chancy ? eviction_evicts(e, &group,
                                       &(struct segment){set->at[0], 1, 0}, 1)
                     : eviction_crowds(e, set, &(struct segments){0});
}

/* Whether the last question, of lines moved from those of a set, had no answer
 * since they never settle: then one of them is too many for a set of their own.
 * Unless those of the set, as many, do not settle either: that gives up. */
static bool never_settled(struct eviction *e, const struct script_lines *set)
{
    const struct script_lines group = group_of(set);
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
    const struct script_lines group = group_of(moved);
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
    const struct script_lines group = group_of(set);
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
        attempt(e, by_dealing, lines, &g);
    /* Of sets that nothing explains some may yet be larger; where victims are
     * picked by chance so many would take too long. */
    if (g.ways > 0 && g.sets == 0 && !e->chancy &&
        !sets_are_equal(&pool, g.ways, MANY_OTHERS))
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
    struct cache *const model = model_of(e, g);
    const struct proof p = {.eviction = e, .geometry = g, .model = model};
    struct segments filler = {lab_alloc(e->lab, RUNS_MOST, sizeof *filler.at),
                              0};
    bool joins = false;
    for (uint64_t i = 0; i < e->front.runs * run->count; i++) {
        const uint64_t at = run->start + i * run->step;
        const bool other = set_of(&p, at) != set_of(&p, g->set.at[0]);
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
    struct cache *const model = model_of(e, g);
    const struct proof p = {.eviction = e, .geometry = g, .model = model};
    struct segments runs = {lab_alloc(e->lab, g->lines, sizeof *runs.at), 0};
    uint32_t *const taken = lab_alloc(e->lab, g->sets, sizeof *taken);
    const uint64_t end = u64_min(STREWN * g->lines * e->unit, e->span);
    uint64_t open = g->lines;
    memset(taken, 0, g->sets * sizeof *taken);
    for (uint64_t line = 0; open > 0 && line < end; line += e->unit) {
        const size_t set = set_of(&p, line);
        if (taken[set] == ways_of(g, set))
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
    struct cache *const model = model_of(e, g);
    struct proof p = {.eviction = e, .geometry = g, .model = model};
    rng_seed(&p.rng, g->lines);
    p.among = u64_min(range_of(e, g), 16 * g->lines * e->unit);
    const size_t home = set_of(&p, g->set.at[0]), wanted = count + g->set.count;
    const struct script_lines all = e->lasting
                                        ? pick_lines(&p, true, home, wanted)
                                        : all_lines(&p, home, wanted);
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
