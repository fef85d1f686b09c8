#include "study/cache/geometry_proof.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "study/cache/pool.h"

enum {
    PICKS_MOST = 8 << 20 /* lines that are looked at for a list */
};

uint32_t proof_ways_of(const struct geometry *g, uint64_t set)
{
    return g->set_ways != NULL ? g->set_ways[set] : (uint32_t)g->ways;
}

/* Masks are of numbers, and a remainder of where these lie: the model has the
 * masks alone. */
static bool takes_places(const struct eviction *e, const struct geometry *g)
{
    return e->homes != NULL && g->modulo > 0;
}

struct cache *proof_model(const struct eviction *e, const struct geometry *g)
{
    uint32_t *const ways = lab_alloc(e->lab, g->sets, sizeof *ways);
    uint64_t bits[COUNT_OF(g->bits)];
    for (uint64_t i = 0; i < g->sets; i++)
        ways[i] = proof_ways_of(g, i);
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
size_t proof_set_of(const struct proof *p, uint64_t offset)
{
    const struct geometry *const g = p->geometry;
    if (takes_places(p->eviction, g))
        return cache_set_of(p->model, offset) * g->modulo +
               (eviction_place(p->eviction, offset) >> g->from_bit) % g->modulo;
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
uint64_t proof_range(const struct eviction *e, const struct geometry *g)
{
    const uint64_t near = 16 * g->lines * e->unit;
    if (g->index == GEOMETRY_SLICED)
        return g->range;
    return geometry_is_hashed(g) ? e->span : u64_min(e->span, near);
}

/* Lines of one set, or of all others, if there are so many; of the set first
 * those that are there whatever is loaded, since they empty what lies in front.
 */
struct script_lines proof_pick_lines(struct proof *p, bool inside, size_t home,
                                     size_t wanted)
{
    const uint64_t unit = p->eviction->unit;
    const uint64_t among = p->among / unit;
    struct script_lines list = {
        lab_alloc(p->eviction->lab, wanted, sizeof *list.at), 0};
    const struct script_lines front = eviction_front_lines(p->eviction);
    for (size_t i = 0; inside && list.count < wanted && i < front.count; i++)
        if (proof_set_of(p, front.at[i]) == home)
            list.at[list.count++] = front.at[i];
    for (size_t i = 0; list.count < wanted && i < PICKS_MOST; i++) {
        const uint64_t at = rng_below(&p->rng, among) * unit;
        if ((proof_set_of(p, at) == home) == inside && !script_lists(&list, at))
            list.at[list.count++] = at;
    }
    return list;
}

/* So many lines of one set, in order; fewer, if there are no more. */
struct script_lines proof_all_lines(const struct proof *p, size_t home,
                                    size_t wanted)
{
    const uint64_t unit = p->eviction->unit;
    struct script_lines list = {
        lab_alloc(p->eviction->lab, wanted, sizeof *list.at), 0};
    for (uint64_t at = 0; at + unit <= p->among && list.count < wanted;
         at += unit)
        if (proof_set_of(p, at) == home)
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
    const size_t ways = proof_ways_of(g, home), each = asked_at_once(p, ways);
    struct script_lines group = proof_pick_lines(p, true, home, ways + each);
    const struct script_lines in = {group.at + ways, each};
    const struct script_lines out = proof_pick_lines(p, false, home, each);
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
    return proof_set_of(p, rng_below(&p->rng, g->lines) * p->eviction->unit);
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

/* A line at random of each set but this one; fewer, if some show none. */
static size_t a_line_of_each(struct proof *p, size_t home, struct segment *list)
{
    enum { PICKS = 32 }; /* for a set, on average: e^-32 has none */
    const uint64_t unit = p->eviction->unit, sets = p->geometry->sets;
    bool *const has = lab_alloc(p->eviction->lab, sets, sizeof *has);
    size_t count = 0;
    for (uint64_t i = 0; i < PICKS * sets && count + 1 < sets; i++) {
        const uint64_t at = rng_below(&p->rng, p->among / unit) * unit;
        const size_t set = proof_set_of(p, at);
        if (set == home || has[set])
            continue;
        has[set] = true;
        list[count++] = (struct segment){at, 1, 0};
    }
    return count;
}

/*
 * Whether no line of any other set comes into a full one.  Of 640 sets that are
 * 320, as of an L2 in parts that lets an SM see but one of them, a line that is
 * foretold to come to another one does so in 639 of 640 cases, and in 638 of
 * 640 it does.  Not asked of more than SETS_MOST sets, which take hundreds of
 * questions: these rest on the pairs alone.
 */
static bool prove_others(struct proof *p)
{
    enum { AT_ONCE = 128, SETS_MOST = 8192, TAKES = 3 };
    const struct geometry *const g = p->geometry;
    struct eviction *const e = p->eviction;
    if (g->sets > SETS_MOST)
        return true;
    const size_t home = random_set(p);
    const struct script_lines group =
        proof_pick_lines(p, true, home, proof_ways_of(g, home));
    struct segment *const list = lab_alloc(e->lab, g->sets, sizeof *list);
    const size_t count = a_line_of_each(p, home, list);
    bool any = false;
    for (size_t i = 0; lab_ok(e->lab) && !any && i < count; i += AT_ONCE) {
        any = true;
        for (int take = 0; lab_ok(e->lab) && any && take < TAKES; take++)
            any = eviction_evicts(e, &group, list + i,
                                  u64_min(AT_ONCE, count - i));
    }
    log_say(LOG_DEBUG, "proof: of %zu other sets %s comes into one", count,
            any ? "a line" : "none");
    return !any && !eviction_gave_up(e);
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
    const size_t fit = pool_own_lines(e, &g->set) - 2; /* beside the target */
    bool fits = true;
    for (size_t i = 0; fits && i < COUNT_OF(steps); i++) {
        p.step = steps[i] * e->unit;
        fits = !pool_crowds(&p, NULL, 0, fit);
    }
    p.step = e->unit;
    p.run = RUN;
    p.slots = pool_region(&p) / (p.step * p.run) - 1;
    for (unsigned take = 0; fits && take < STREWN; take++) {
        pool_strew(&p, take);
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

bool proof_holds(struct eviction *e, struct geometry *g)
{
    if (g->sets == 1)
        return prove_one_set(e, g);
    struct cache *const model = proof_model(e, g);
    struct proof p = {.eviction = e, .geometry = g, .model = model};
    rng_seed(&p.rng, g->lines);
    p.among = proof_range(e, g);
    if (geometry_is_hashed(g))
        p.among = u64_min(p.among, pairs_range(e, g));
    bool proved = prove_pairs(&p);
    /* So near some sets have too few lines, where a remainder takes turns of
     * what the masks tell. */
    while (!proved && !p.holds && lab_ok(e->lab) &&
           2 * p.among <= proof_range(e, g)) {
        p.among *= 2;
        proved = prove_pairs(&p);
    }
    if (proved && e->lasting)
        proved = prove_others(&p);
    if (proved && geometry_is_hashed(g))
        prove_far(&p, g);
    cache_free(model);
    return proved;
}
