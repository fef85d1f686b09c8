#include "study/cache/pool.h"

#include <inttypes.h>

#include "base/log.h"
#include "base/num.h"
#include "base/rng.h"

enum {
    TARGETS_MOST = 40 /* lines of which one set is asked for */
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

bool pool_crowds(void *context, const size_t *kept, size_t count, size_t prefix)
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

struct conflict_test pool_test(struct pool *p)
{
    return (struct conflict_test){
        p, pool_crowds, p->eviction->chancy ? pool_crowds_without : NULL};
}

/* How many lines of the pool may be loaded, beside any target: enough that each
 * set surely has too many, but no more than can be tried often; 0: not even
 * two. */
size_t pool_room(const struct pool *p, uint64_t held)
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
        e->lasting && e->strewn == 0 ? POOL_COUNT_MOST : 3 * held + 64;
    return room < 3 ? 0 : (size_t)u64_min(room - 1, most);
}

/* Lines that lie farther apart than that, and their neighbours, so many lines
 * on, on the same page: of some of which the set is another. */
enum { SPARSE = 16 };

/* Whether whatever lies on the same pages makes the target late as well: then
 * it is its translation that has gone. */
static bool loses_pages(const struct pool *p, size_t lines)
{
    struct pool aside = *p;
    if (p->run > 0 || p->step < SPARSE * p->eviction->unit ||
        lines * p->step <= POOL_NEAR)
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
    const struct conflict_test test = pool_test(p);
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
void pool_strew(struct pool *p, unsigned take)
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
uint64_t pool_region(const struct pool *p)
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
    p.slots = pool_region(&p) / (p.step * p.run) - 1;
    for (unsigned take = 0; lab_ok(p.eviction->lab) && take < STREWN; take++) {
        pool_strew(&p, take);
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
size_t pool_find(struct pool *best, uint64_t held)
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
size_t pool_scan_steps(struct pool *p, const struct geometry_lines *lines)
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
struct script_lines pool_find_set(struct pool *p, size_t lines)
{
    const struct conflict_test test = pool_test(p);
    struct eviction *const e = p->eviction;
    size_t *const members = lab_alloc(e->lab, POOL_COUNT_MOST, sizeof *members);
    const size_t ways =
        conflict_set(&test, lines, POOL_COUNT_MOST - 1, members);
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
size_t pool_own_lines(const struct eviction *e, const struct script_lines *set)
{
    const struct script_lines front = eviction_front_lines(e);
    size_t own = 0;
    for (size_t i = 0; i < set->count; i++)
        own += !script_lists(&front, set->at[i]);
    return own;
}

/* What fills line 0's set without it. */
struct script_lines pool_group(const struct script_lines *set)
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
    return end > POOL_NEAR && apart >= SPARSE * unit;
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
bool pool_is_minimal(struct eviction *e, const struct script_lines *set)
{
    enum { LEFT_OUT = 6 };
    struct script_lines but = {lab_alloc(e->lab, set->count, sizeof *but.at),
                               set->count - 1};
    const bool sparse = is_sparse(set, e->unit);
    const size_t own = pool_own_lines(e, set);
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
    size_t count = pool_find_set(p, room_elsewhere(found, p)).count;
    size_t wanted = 2 * found->lines;
    if (count == 0)
        count = pool_find_set(p, pool_room(p, found->held)).count;
    while (count == 0 && lab_ok(p->eviction->lab) && p->run == 0 &&
           p->step > p->eviction->unit && pool_room(p, found->held) < wanted) {
        p->step /= 2;
        wanted *= 2;
        count = pool_find_set(p, pool_room(p, found->held)).count;
    }
    return count;
}

/* True if lines elsewhere, so many, are in sets of as many ways; strewn ones
 * are all of the first run. */
bool pool_sets_are_equal(const struct pool_found *found, size_t ways,
                         uint64_t others)
{
    const bool behind = found->pool.eviction->front.runs > 0;
    unsigned unlike = 0;
    bool equal = true;
    for (uint64_t i = 1; equal && i <= others; i++) {
        struct pool p = found->pool;
        /* Below TARGETS_MOST, as many as are in a row at last. */
        const uint64_t line = others > POOL_FEW_OTHERS ? i : i * (2 * i + 1);
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
                                 : others <= POOL_FEW_OTHERS && unlike == 1 &&
                                       (count == ways || count == ways + 2));
    }
    return equal;
}
