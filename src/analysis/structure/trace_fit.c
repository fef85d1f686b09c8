#include "analysis/structure/trace_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/structure/trace_chance.h"
#include "analysis/structure/trace_rival.h"
#include "analysis/structure/trace_shapes.h"
#include "base/crew.h"
#include "base/mem.h"
#include "base/num.h"

enum { FEW_KEPT = 8, FINALISTS = 12, SECTORS_MOST = 2 };

struct trace_search {
    struct trace_range range;
    struct trace_rival *rival;
    size_t count;
    struct trace_outcome outcome;
    struct trace_seen_visits *check; /* of which the outcome is, in order */
    size_t checks;
};

/* One that came to mind late is held against what was seen before. */
static void catch_up(const struct trace_search *t, struct trace_rival *r)
{
    if (t->checks == 0)
        return;
    r->chance = xreallocarray(NULL, t->outcome.count, sizeof *r->chance);
    float *chance = r->chance;
    for (size_t i = 0; i < t->checks; i++) {
        trace_model_foretell(&t->check[i], &r->c, chance);
        chance += t->check[i].count;
    }
    trace_rival_weigh(r, &t->outcome);
}

/* One in which the neighbour leaves room in all sets, that is none of those
 * from `from` on. */
static bool is_new(const struct trace_search *t, size_t from,
                   const struct trace_model *c)
{
    if (!trace_model_can_be(c) || c->own + c->sets > c->sets * c->ways)
        return false;
    for (size_t i = from; i < t->count; i++)
        if (trace_model_is_same(c, &t->rival[i].c))
            return false;
    return true;
}

static void remember(struct trace_search *t, const struct trace_model *c)
{
    if (!is_new(t, 0, c))
        return;
    t->rival = xreallocarray(t->rival, t->count + 1, sizeof *t->rival);
    t->rival[t->count] = (struct trace_rival){.c = *c};
    catch_up(t, &t->rival[t->count++]);
}

/* With the neighbour's lines a little otherwise: of sets that were not seen to
 * be visited it was not known where they are. */
static void remember_neighbours(struct trace_search *t, struct trace_model c)
{
    const uint64_t at = c.own_at + c.sets - 1, own = c.own;
    for (uint64_t i = 0; i < 3; i++)
        for (uint64_t more = 0; more < 3; more++) {
            c.own_at = (at + i) % c.sets;
            c.own = own + more - 1;
            if (own + more > t->range.own_least && c.own <= t->range.own_most)
                remember(t, &c);
        }
}

/* With a line of the neighbour more in each set, and a way: there is as much
 * room for others then, be its lines looked for or left out. */
static void remember_room(struct trace_search *t, struct trace_model c)
{
    c.ways -= c.own / c.sets < c.ways ? c.own / c.sets : c.ways - 1;
    for (c.own %= c.sets; c.own <= t->range.own_most; c.own += c.sets) {
        for (int touched = 0;
             touched <= (c.own > 0 && c.sets <= TRACE_FEW_SETS); touched++) {
            c.touched = touched;
            if (c.own >= t->range.own_least)
                remember(t, &c);
        }
        c.ways++;
    }
}

static void remember_policies(struct trace_search *t, struct trace_model c)
{
    for (c.policy = 0; c.policy < TRACE_POLICIES; c.policy++)
        remember(t, &c);
}

/* Where victims are of chance, with ways that weigh unlike: what comes in takes
 * those that go more often, so there are more of them. */
static void remember_weighted(struct trace_search *t,
                              const struct trace_model *c)
{
    struct trace_model w = *c;
    for (w.policy = TRACE_WEIGHTED; w.policy <= TRACE_MOST_WEIGHTED;
         w.policy++) {
        const double more = 2 * trace_policies[w.policy].uneven;
        const double most = ceil((double)c->ways * (1 + more));
        for (w.ways = c->ways; (double)w.ways <= most; w.ways++)
            remember(t, &w);
    }
}

/* With a few ways less or more. */
static void remember_ways(struct trace_search *t, struct trace_model c)
{
    const uint64_t ways = c.ways;
    for (uint64_t more = 0; more <= 2 * TRACE_MORE_MOST; more++)
        if (ways + more > TRACE_MORE_MOST) {
            c.ways = ways + more - TRACE_MORE_MOST;
            remember(t, &c);
        }
}

/* With an index that leaves out bits right above the line: of random victims
 * lines that lie side by side, each in a set of its own, look nearly the same
 * in a set of twice the ways. */
enum { SHIFTED_MORE = 2 };

static void remember_shifted(struct trace_search *t, struct trace_model c)
{
    while (c.shift < TRACE_SHIFT_MOST && c.sets % 2 == 0) {
        c.shift++;
        c.sets /= 2;
        c.ways *= 2;
        c.own_at /= 2;
        remember_policies(t, c);
        if (trace_model_is_chance(&c))
            remember_weighted(t, &c);
        struct trace_model more = c;
        for (more.ways = c.ways > SHIFTED_MORE ? c.ways - SHIFTED_MORE : 1;
             more.ways <= c.ways + SHIFTED_MORE; more.ways++)
            remember(t, &more);
    }
}

/* Lines twice as long in half as many sets, or ways. */
static void remember_longer(struct trace_search *t, struct trace_model c)
{
    c.line *= 2;
    c.own = (c.own + 1) / 2;
    c.own_at /= 2;
    if (c.shift > 0) {
        c.shift--;
        c.ways /= 2;
        if (c.ways > 0)
            remember(t, &c);
    } else if (c.sets % 2 == 0) {
        c.sets /= 2;
        remember(t, &c);
    } else if (c.ways % 2 == 0 && !c.touched) {
        c.ways /= 2;
        remember(t, &c);
    }
}

/* Whether it is the likeliest of its sets. */
static bool is_first_of_sets(const struct trace_shapes *s, size_t i)
{
    size_t before = 0;
    while (s->kept[before].sets != s->kept[i].sets ||
           s->kept[before].shift != s->kept[i].shift)
        before++;
    return before == i;
}

/* The likeliest, and of all sets that are left: what no model has, such as what
 * the neighbour's lines bring when chance has pushed them out, weighs for one
 * or the other, and more visits decide.  Several caches that differ in what
 * nobody sees are as likely. */
static void remember_finalists(struct trace_search *t,
                               const struct trace_shapes *s)
{
    const size_t before = t->count;
    for (size_t i = 0; i < s->count; i++)
        if (t->count - before < FINALISTS || is_first_of_sets(s, i))
            remember(t, &s->kept[i]);
    for (size_t i = 0; i < s->count && i < FEW_KEPT; i++)
        if (!trace_model_is_chance(&s->kept[i]) && t->range.own_most > 0)
            remember_neighbours(t, s->kept[i]);
}

/* The likeliest, and the likeliest with every other policy, with a few ways
 * more or less and with lines of two parts. */
static void remember_best(struct trace_search *t, const struct trace_shapes *s)
{
    remember_finalists(t, s);
    if (s->count == 0)
        return;
    remember_room(t, s->kept[0]);
    remember_policies(t, s->kept[0]);
    if (trace_model_is_chance(&s->kept[0]))
        remember_weighted(t, &s->kept[0]);
    remember_shifted(t, s->kept[0]);
    remember_ways(t, s->kept[0]);
    /* Where each call brings a line to every set, one set would do the same. */
    struct trace_model c = s->kept[0];
    c.ways *= c.sets;
    c.sets = 1;
    c.shift = 0;
    for (c.policy = 0; c.policy < TRACE_POLICIES && c.ways <= TRACE_WAYS_MOST;
         c.policy++)
        remember_neighbours(t, c);
    /* All of them: which has the policy is not known yet. */
    const size_t shorter = t->count;
    for (size_t i = 0; i < shorter; i++)
        if (t->rival[i].c.line == s->line)
            remember_longer(t, t->rival[i].c);
}

/* Whether the best explains the visits, and whether it is wrong about no more
 * of them than the clock tells wrongly; or about so few, a third of that, as
 * shorter lines than there are hardly are. */
enum explained {
    NOT_EXPLAINED,
    EXPLAINED,
    EXPLAINED_BY_CHANCE,
    EXPLAINED_WELL,
    EXPLAINED_WHOLLY
};

static enum explained explained_by(struct trace_shapes *s)
{
    const size_t all = s->whole.count;
    const struct trace_outcome o = {
        .hit = s->whole.hit, .count = all, .end = {all, all, all}};
    struct trace_rival best = {.chance = s->chance};
    if (s->count == 0)
        return NOT_EXPLAINED;
    best.c = s->kept[0];
    trace_model_foretell(&s->whole, &best.c, best.chance);
    trace_rival_weigh(&best, &o);
    if (!trace_rival_explains(&best, &o))
        return NOT_EXPLAINED;
    if (trace_model_is_chance(&best.c))
        return EXPLAINED_BY_CHANCE;
    const double wrong = 1 - trace_rival_agrees(&best, &o);
    return wrong <= TRACE_WRONG / 3 ? EXPLAINED_WHOLLY
           : wrong <= TRACE_WRONG   ? EXPLAINED_WELL
                                    : EXPLAINED;
}

/* Of policies that are certain: where what explains visits best is wrong about
 * more than the clock tells wrongly, the shape that is there may have looked
 * worse by lru, which is first asked of all, than others. */
static enum explained try_certain(struct trace_search *t,
                                  struct trace_shapes *s)
{
    trace_shapes_certain(s);
    remember_best(t, s);
    const enum explained first = explained_by(s);
    if (first >= EXPLAINED_WELL)
        return first;
    trace_shapes_unlike_lru(s);
    remember_best(t, s);
    const enum explained second = explained_by(s);
    return second != NOT_EXPLAINED ? second : first;
}

/* Shapes with lines of so many sectors: how well the best explains the visits.
 * Where victims of shorter lines are of chance those of longer ones are.
 */
static enum explained try_lines(struct trace_search *t, struct trace_shapes *s,
                                uint64_t sectors, enum explained by_shorter)
{
    trace_shapes_lines(s, sectors * t->range.sector);
    if (by_shorter != EXPLAINED_BY_CHANCE) {
        const enum explained certain = try_certain(t, s);
        if (certain != NOT_EXPLAINED)
            return certain;
    }
    trace_shapes_random(s);
    remember_best(t, s);
    return explained_by(s);
}

/* Sectors of the longest line that is tried.  As many lines of one, or half as
 * many of two, are the nearest that there is to longer ones, and explain many
 * of the visits; by chance they may explain all, since half a line is there
 * with nearly the chance of all of it. */
static uint64_t sectors_most(const struct trace_range *range,
                             enum explained by_shorter)
{
    const uint64_t most = u64_max(range->longest / range->sector, 1);
    return by_shorter == EXPLAINED_WHOLLY ? 1
           : by_shorter == NOT_EXPLAINED  ? u64_max(most, SECTORS_MOST)
                                          : most;
}

struct trace_search *trace_search_new(const struct trace *trace,
                                      const struct trace_range *range)
{
    struct trace_search *const t = xcalloc(1, sizeof *t);
    t->range = *range;
    struct trace_shapes s = trace_shapes_new(trace, &t->range);
    uint64_t sectors = 1;
    enum explained so_far = try_lines(t, &s, sectors, NOT_EXPLAINED);
    while (2 * sectors <= sectors_most(range, so_far)) {
        sectors *= 2;
        so_far = try_lines(t, &s, sectors, so_far);
    }
    trace_shapes_free(&s);
    return t;
}

void trace_search_free(struct trace_search *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->rival[i].chance);
    for (size_t i = 0; i < t->checks; i++)
        trace_model_free_seen(&t->check[i]);
    free(t->check);
    free(t->rival);
    free(t->outcome.hit);
    free(t->outcome.at);
    free(t);
}

static void keep_check(struct trace_search *t,
                       const struct trace_seen_visits *seen)
{
    t->check = xreallocarray(t->check, t->checks + 1, sizeof *t->check);
    t->check[t->checks++] = *seen;
}

static void expect_all(const struct trace_search *t,
                       struct trace_seen_visits *seen)
{
    struct trace_model *const all = xcalloc(t->count + 1, sizeof *all);
    for (size_t i = 0; i < t->count; i++)
        all[i] = t->rival[i].c;
    trace_model_expect(seen, all, t->count);
    free(all);
}

/* Rivals are held against the last visits that were seen. */
struct checking {
    const struct trace_search *t;
    struct trace_seen_visits *seen;
};

static void check_one(void *argument, size_t piece)
{
    const struct checking *const c = argument;
    const struct trace_outcome *const o = &c->t->outcome;
    struct trace_rival *const r = &c->t->rival[piece];
    r->chance = xreallocarray(r->chance, o->count, sizeof *r->chance);
    trace_model_foretell(c->seen, &r->c, r->chance + o->count - c->seen->count);
    trace_rival_weigh(r, o);
}

/* All that they foretell is known then, so that none adds to it. */
static void check_all(struct trace_search *t, struct trace_seen_visits *seen)
{
    struct checking c = {t, seen};
    expect_all(t, seen);
    crew_each(check_one, &c, t->count);
}

void trace_search_check(struct trace_search *t, const struct trace *check)
{
    struct trace_seen_visits seen = trace_model_seen(check, &t->range);
    struct trace_outcome *const o = &t->outcome;
    o->hit = xreallocarray(o->hit, o->count + seen.count, sizeof *o->hit);
    o->at = xreallocarray(o->at, o->count + seen.count, sizeof *o->at);
    memcpy(o->hit + o->count, seen.hit, seen.count * sizeof *o->hit);
    memcpy(o->at + o->count, seen.at, seen.count * sizeof *o->at);
    if (check->many) {
        o->many = o->count;
        o->many_end = o->count + seen.count;
    }
    o->count += seen.count;
    for (size_t kind = check->kind; kind < TRACE_KINDS; kind++)
        o->end[kind] = o->count;
    check_all(t, &seen);
    keep_check(t, &seen);
}

/* Visits of each set that would be foretold otherwise if it had so many ways
 * more or less. */
enum { MORE_ROOM = 2, ROOMS = 2 * MORE_ROOM + 1 };
struct otherwise {
    size_t of[ROOMS];
};

static void count_otherwise(struct trace_seen_visits *seen,
                            const struct trace_model *c, uint64_t room,
                            uint64_t more, struct otherwise *sets)
{
    struct trace_model is = *c, other;
    is.ways = room;
    other = is;
    other.ways = room + more - MORE_ROOM;
    const float *const chance = trace_model_even(seen, &is);
    const float *const others = trace_model_even(seen, &other);
    for (size_t i = 0; i < seen->count; i++) {
        const uint64_t set = trace_model_set(c, seen->at[i]);
        if (trace_model_ways(c, set) == room)
            sets[set].of[more] += chance[i] != others[i];
    }
}

static struct otherwise *otherwise_of(struct trace_search *t,
                                      const struct trace_model *best)
{
    struct trace_model c = *best;
    struct otherwise *const sets = xcalloc(c.sets, sizeof *sets);
    c.touched = false;
    const uint64_t most = trace_model_ways(&c, c.own_at + c.own);
    const uint64_t least = trace_model_ways(&c, c.own_at);
    for (size_t k = 0; k < t->checks; k++)
        for (uint64_t room = least; room <= most; room++)
            for (uint64_t more = 0; more < ROOMS; more++)
                if (room + more > MORE_ROOM)
                    count_otherwise(&t->check[k], &c, room, more, sets);
    return sets;
}

/* Of all sets, if it is less than `least`. */
static size_t sum_otherwise(const struct otherwise *sets,
                            const struct trace_model *best,
                            const struct trace_model *c, size_t least)
{
    size_t sum = 0;
    for (uint64_t set = 0; sum < least && set < c->sets; set++) {
        const uint64_t more =
            trace_model_ways(c, set) + MORE_ROOM - trace_model_ways(best, set);
        sum = more < ROOMS ? sum + sets[set].of[more] : least;
    }
    return sum;
}

static const struct trace_rival *likeliest(const struct trace_search *t)
{
    const struct trace_rival *best = NULL;
    for (size_t i = 0; i < t->count; i++)
        if (best == NULL || trace_rival_lead(&t->rival[i], best) > 0)
            best = &t->rival[i];
    return best;
}

/* Where a line that is used stays no longer for it those of the neighbour are
 * pushed out, and as often as they come again what is fetched ahead does: that
 * takes room, too, where the model does not run it. */
static size_t own_most(const struct trace_range *range,
                       const struct trace_model *c)
{
    const bool others = c->policy == TRACE_FIFO && !c->touched;
    return range->own_most + (others ? range->ahead : 0);
}

/* With the neighbour's lines where they make the least otherwise; false:
 * nowhere is there about as much room. */
static bool place_neighbour(const struct trace_search *t,
                            const struct otherwise *sets,
                            const struct trace_model *best,
                            struct trace_model *c)
{
    size_t least = SIZE_MAX;
    struct trace_model at = *c;
    const size_t most = own_most(&t->range, c);
    for (at.own = t->range.own_least; at.own <= most; at.own++)
        for (at.own_at = 0; least > 0 && at.own_at < at.sets; at.own_at++) {
            const size_t sum = sum_otherwise(sets, best, &at, least);
            if (sum < least) {
                least = sum;
                *c = at;
            }
        }
    return least < SIZE_MAX;
}

/* Of several sets: a way less, and a line less of the neighbour in each, down
 * to those that it looks for at every call.  Not of one set, of which each line
 * less would be such a way. */
static void remember_same_room(struct trace_search *t,
                               const struct trace_model *best)
{
    struct trace_model c = *best;
    while (c.sets > 1 && c.ways > 1 && c.own >= t->range.own_each + c.sets) {
        c.ways--;
        c.own -= c.sets;
        if (c.own < t->range.own_least)
            remember(t, &c);
    }
}

/*
 * Where the neighbour has its lines, and how many, only those sets tell of
 * which calls asked too much: with others in the rest of them a way more, or
 * less, may foretell the same.
 */
static void remember_alike(struct trace_search *t,
                           const struct trace_model *best)
{
    const uint64_t spare = own_most(&t->range, best) - t->range.own_least;
    const uint64_t reach = spare / best->sets + MORE_ROOM;
    struct otherwise *const sets = otherwise_of(t, best);
    struct trace_model c = *best;
    c.ways = best->ways > reach ? best->ways - reach : 1;
    for (; c.ways <= best->ways + reach; c.ways++)
        if (c.ways != best->ways && place_neighbour(t, sets, best, &c))
            remember(t, &c);
    free(sets);
    remember_same_room(t, best);
}

/* One of those may turn out better yet: then what is alike to that one. */
static void remember_alike_of_likeliest(struct trace_search *t)
{
    struct trace_model best = likeliest(t)->c, before;
    if (t->range.own_most == 0)
        return;
    do {
        before = best;
        if (!trace_model_is_chance(&best))
            remember_alike(t, &best);
        best = likeliest(t)->c;
    } while (!trace_model_is_same(&best, &before));
}

/* With every policy, and a few ways less or more. */
static void remember_around(struct trace_search *t, struct trace_model c)
{
    for (c.policy = 0; c.policy < TRACE_POLICIES; c.policy++)
        remember_ways(t, c);
}

/* Victims of chance leave of lines nearly as many where twice or three times as
 * many sets have as much less room each. */
static void remember_split(struct trace_search *t, const struct trace_model *of)
{
    enum { PARTS_MOST = 3 };
    for (uint64_t parts = 2; parts <= PARTS_MOST; parts++) {
        struct trace_model more = *of, fewer = *of;
        more.sets *= parts;
        more.ways = (of->ways + parts / 2) / parts;
        if (more.ways > 0)
            remember_ways(t, more);
        fewer.sets /= parts;
        fewer.ways *= parts;
        if (of->sets % parts == 0)
            remember_ways(t, fewer);
    }
}

/* Shapes are compared by few policies, and only the best of them is thought of
 * with all, and of chance with all ways: another may turn out better than it,
 * and be better yet with one of those.  What is wrong about more than the clock
 * tells wrongly may be so since ways that suit a policy do not suit the one
 * that is there. */
static void remember_of_likeliest(struct trace_search *t)
{
    const struct trace_rival *const r = likeliest(t);
    const struct trace_model c = r->c;
    if (trace_model_is_chance(&c)) {
        remember_policies(t, c);
        remember_weighted(t, &c);
        remember_ways(t, c);
        remember_split(t, &c);
    } else if (trace_rival_agrees(r, &t->outcome) < 1 - TRACE_WRONG)
        remember_around(t, c);
    else
        remember_policies(t, c);
}

/* ---- bits that are folded ----------------------------------------------- */

/* Those that are tried: of the line number the lowest bit that the index has
 * not, and up to two above it; or one of these alone. */
struct folds {
    uint64_t *of;
    size_t count;
};

static void add_fold(struct folds *f, uint64_t bits)
{
    f->of = xreallocarray(f->of, f->count + 1, sizeof *f->of);
    f->of[f->count++] = bits;
}

static struct folds folds_of(uint64_t lowest, uint64_t end)
{
    struct folds f = {0};
    for (uint64_t one = 2 * lowest; one < end; one *= 2) {
        add_fold(&f, one);
        add_fold(&f, lowest | one);
        for (uint64_t two = 2 * one; two < end; two *= 2)
            add_fold(&f, lowest | one | two);
    }
    return f;
}

/* The likeliest by the visits that were held against first, with sets that all
 * have the same room. */
static struct trace_model best_of(struct trace_seen_visits *seen,
                                  const struct trace_model *all, size_t count)
{
    struct trace_model best = {.score = -INFINITY};
    trace_model_expect_even(seen, all, count);
    for (size_t i = 0; i < count; i++) {
        const double score =
            trace_model_mean(seen, trace_model_even(seen, &all[i]));
        if (score > best.score) {
            best = all[i];
            best.score = score;
        }
    }
    return best;
}

static struct trace_model best_fold(struct trace_seen_visits *seen,
                                    const struct trace_model *c)
{
    struct folds folds =
        folds_of(c->line * c->sets / 2, trace_model_end(&seen->trace));
    struct trace_model *const all = xcalloc(folds.count + 1, sizeof *all);
    for (size_t i = 0; i < folds.count; i++) {
        all[i] = *c;
        all[i].fold = folds.of[i];
    }
    const struct trace_model best = best_of(seen, all, folds.count);
    free(all);
    free(folds.of);
    return best;
}

static struct trace_model best_room(struct trace_seen_visits *seen,
                                    const struct trace_model *c)
{
    enum { MORE = 2 * TRACE_MORE_MOST };
    struct trace_model all[2 * MORE + 1];
    size_t count = 0;
    for (uint64_t more = 0; more <= 2 * MORE; more++)
        if (c->ways + more > MORE) {
            all[count] = *c;
            all[count++].ways = c->ways + more - MORE;
        }
    return best_of(seen, all, count);
}

/*
 * Twice as many sets, of half as many ways, of which bits that are folded tell
 * one from the other: lines come to both about evenly, most of all if what is
 * fetched ahead is the line of the other one.  So one set of all ways foretells
 * nearly as much, and what fits in it fits in them.
 */
static void remember_folded(struct trace_search *t,
                            const struct trace_rival *plain)
{
    struct trace_model c = plain->c;
    if (trace_model_is_chance(&c) || c.shift > 0 || c.fold > 0 ||
        !u64_is_power(c.sets) ||
        trace_rival_agrees(plain, &t->outcome) >= 1 - TRACE_LATE)
        return;
    c.touched = false;
    c.ways = (trace_model_ways(&c, c.own_at) + 1) / 2;
    c.sets *= 2;
    c = best_fold(&t->check[0], &c);
    if (c.fold == 0)
        return;
    c = best_room(&t->check[0], &c);
    c.ways += c.own / c.sets;
    remember_policies(t, c);
    remember_ways(t, c);
}

/* ---- the verdict -------------------------------------------------------- */

/* Drops of the fit what a rival that foretells as much has otherwise. */
static void allow(struct trace_fit *fit, const struct trace_model *c)
{
    if (c->line != fit->line)
        fit->line = 0;
    if (c->sets != fit->sets)
        fit->sets = 0;
    if (c->ways != fit->ways)
        fit->ways = 0;
    if (trace_model_bytes(c) != fit->size)
        fit->size = 0;
    if (trace_model_bytes(c) < fit->least)
        fit->least = trace_model_bytes(c);
    if (trace_policies[c->policy].policy != fit->policy)
        fit->runner_up = trace_policies[c->policy].policy;
}

static struct trace_fit fit_of(const struct trace_model *c)
{
    return (struct trace_fit){.line = c->line,
                              .sets = c->sets,
                              .ways = c->ways,
                              .size = trace_model_bytes(c),
                              .least = trace_model_bytes(c),
                              .own = c->own,
                              .own_at = c->own_at,
                              .model_line = c->line,
                              .model_sets = c->sets,
                              .model_ways = c->ways,
                              .model_shift = c->shift,
                              .model_fold = c->fold,
                              .policy = trace_policies[c->policy].policy,
                              .runner_up = trace_policies[c->policy].policy,
                              .model_policy = c->policy};
}

/* Of random victims: the neighbour's lines are some of them, and come again, so
 * that sets which all have some hold more than it leaves; and sets that are
 * others than any that were tried look like chance, too, as do victims of which
 * some go more often, with as many ways as hold as long.  How much is held does
 * not hang on that. */
static void leave_open(const struct trace_range *range, struct trace_fit *fit)
{
    if (range->own_most >= fit->model_sets)
        fit->ways = fit->size = 0;
    if (range->least < (double)fit->least)
        fit->least = (uint64_t)range->least;
}

/* Dice are thrown for rivals that are by so much less likely than the best one
 * (of some thousand visits chances are off by a twentieth at most), so many,
 * and the likeliest of each number of sets and policy. */
static const double DICE_LEAD = 300;
enum { DICE = 16 };

static bool earns_dice(const struct trace_search *t, size_t rival,
                       const struct trace_rival *best)
{
    const struct trace_rival *const r = &t->rival[rival];
    size_t likelier = 0;
    bool first = true;
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_rival *const other = &t->rival[i];
        if (!trace_model_is_chance(&other->c) ||
            trace_rival_lead(other, r) <= 0)
            continue;
        likelier++;
        first = first &&
                (other->c.sets != r->c.sets || other->c.policy != r->c.policy);
    }
    return trace_model_is_chance(&r->c) && (first || likelier < DICE) &&
           trace_rival_lead(best, r) <= DICE_LEAD;
}

/* The same rival by what caches do for which dice are thrown. */
static struct trace_rival by_dice(const struct trace_search *t,
                                  const struct trace_model *c)
{
    struct trace_rival r = {.c = *c};
    r.chance = xcalloc(t->outcome.count, sizeof *r.chance);
    float *chance = r.chance;
    for (size_t i = 0; i < t->checks; i++)
        chance += trace_chance_foretell(&t->check[i], c, chance);
    trace_rival_weigh(&r, &t->outcome);
    return r;
}

/* Beside each that earns them. */
static void throw_for_earned(struct trace_search *t)
{
    const struct trace_rival *const best = likeliest(t);
    struct trace_rival *const all = xcalloc(2 * t->count, sizeof *all);
    size_t count = t->count;
    memcpy(all, t->rival, count * sizeof *all);
    for (size_t i = 0; i < t->count; i++)
        if (earns_dice(t, i, best))
            all[count++] = by_dice(t, &all[i].c);
    free(t->rival);
    t->rival = all;
    t->count = count;
}

/* True if there were none of it yet, from `from` on. */
static bool throw_once(struct trace_search *t, size_t from,
                       const struct trace_model *c)
{
    if (!is_new(t, from, c))
        return false;
    t->rival = xreallocarray(t->rival, t->count + 1, sizeof *t->rival);
    t->rival[t->count] = by_dice(t, c);
    t->count++;
    return true;
}

/* The likeliest of those from `from` on that differ from it in no more than
 * ways. */
static uint64_t likeliest_ways(const struct trace_search *t, size_t from,
                               struct trace_model c)
{
    const struct trace_rival *best = NULL;
    for (size_t i = from; i < t->count; i++) {
        const struct trace_rival *const r = &t->rival[i];
        c.ways = r->c.ways;
        if (trace_model_is_same(&r->c, &c) &&
            (best == NULL || trace_rival_lead(r, best) > 0))
            best = r;
    }
    return best != NULL ? best->c.ways : 0;
}

/* With a way less and a way more than the likeliest, until neither is new. */
static void throw_for_ways(struct trace_search *t, size_t from,
                           struct trace_model c)
{
    bool more = true;
    while (more) {
        const uint64_t ways = likeliest_ways(t, from, c);
        c.ways = ways - 1;
        more = ways > 1 && throw_once(t, from, &c);
        c.ways = ways + 1;
        more = (ways > 0 && throw_once(t, from, &c)) || more;
    }
}

/*
 * Rivals by dice: those that earn them, with the ways that suit each by dice;
 * by the chances that earned them these may be others, as those are off most
 * where ways are as many as lines.  With others a shape or a policy is less
 * likely than it is, and another one would be told from it.
 */
static void throw_dice(struct trace_search *t)
{
    const size_t from = t->count;
    throw_for_earned(t);
    const size_t earned = t->count;
    for (size_t i = from; i < earned; i++)
        if (trace_rival_lead(likeliest(t), &t->rival[i]) <= DICE_LEAD)
            throw_for_ways(t, from, t->rival[i].c);
    struct trace_model c = likeliest(t)->c;
    if (!trace_model_is_chance(&c))
        return;
    for (c.policy = TRACE_RANDOM; c.policy <= TRACE_MOST_WEIGHTED; c.policy++) {
        throw_once(t, from, &c);
        throw_for_ways(t, from, c);
    }
}

static bool judge(const struct trace_search *t, struct trace_fit *fit)
{
    const struct trace_rival *const best = likeliest(t);
    *fit = fit_of(&best->c);
    fit->agrees = trace_rival_agrees(best, &t->outcome);
    fit->missed = trace_rival_missed(best, &t->outcome);
    fit->fitting = (double)(t->outcome.count - t->outcome.end[TRACE_APART]);
    for (size_t i = 0; i < t->count; i++)
        if (&t->rival[i] != best &&
            !trace_rival_is_behind(best, &t->rival[i], &t->outcome))
            allow(fit, &t->rival[i].c);
    if (trace_model_is_chance(&best->c))
        leave_open(&t->range, fit);
    return trace_rival_explains(best, &t->outcome);
}

bool trace_search_judge(struct trace_search *t, struct trace_fit *fit)
{
    *fit = (struct trace_fit){0};
    if (t->count == 0 || t->outcome.count == 0)
        return false;
    remember_of_likeliest(t);
    remember_folded(t, likeliest(t));
    remember_alike_of_likeliest(t);
    if (judge(t, fit))
        return true;
    const size_t plain = t->count;
    throw_dice(t);
    const bool explained = judge(t, fit);
    while (t->count > plain)
        free(t->rival[--t->count].chance);
    return explained;
}

bool trace_fit_is_chance(const struct trace_fit *fit)
{
    return cache_by_chance(fit->policy);
}

/* What is nearer to none than to the least that is thought of is none. */
double trace_fit_weights_within(void)
{
    return sqrt(trace_policies[TRACE_WEIGHTED].uneven / 2);
}

static struct trace_model model_of(const struct trace_fit *fit)
{
    return (struct trace_model){.line = fit->model_line,
                                .sets = fit->model_sets,
                                .ways = fit->model_ways,
                                .shift = fit->model_shift,
                                .fold = fit->model_fold,
                                .policy = fit->model_policy,
                                .own = fit->own,
                                .own_at = fit->own_at};
}

/* By dice, with the ways that suit it; `from` is where these rivals begin. */
static void throw_for(struct trace_search *t, size_t from,
                      const struct trace_model *c)
{
    throw_once(t, from, c);
    throw_for_ways(t, from, *c);
}

/* So many lines for one, which chance puts out one by one: each in a set of its
 * own, or all in one. */
static void throw_for_parts(struct trace_search *t, size_t from,
                            struct trace_model c, unsigned doublings)
{
    const uint64_t parts = (uint64_t)1 << doublings;
    c.line /= parts;
    c.own *= parts;
    struct trace_model apart = c, together = c;
    apart.own_at *= parts;
    apart.sets *= parts;
    throw_for(t, from, &apart);
    together.shift += doublings;
    together.ways *= parts;
    throw_for(t, from, &together);
}

static size_t likeliest_in(const struct trace_search *t, size_t from, size_t to)
{
    size_t best = from;
    for (size_t i = from + 1; i < to; i++)
        if (trace_rival_lead(&t->rival[i], &t->rival[best]) > 0)
            best = i;
    return best;
}

/* Of lines in parts nobody sees which part missed, and they are foretold less
 * well than whole ones that are not there: of 30000 visits by 39, twelve of a
 * set, and this is more than twice that. */
static const double PARTS_LEAD = 100;

size_t trace_search_parts(struct trace_search *t, const struct trace_fit *fit,
                          uint64_t shortest,
                          struct trace_fit parts[TRACE_PARTS_MOST])
{
    const struct trace_model c = model_of(fit);
    const size_t from = t->count;
    size_t count = 0;
    throw_for(t, from, &c);
    const size_t whole = t->count;
    if (c.line <= t->range.sector && whole > from)
        for (unsigned i = 1; c.line >> i >= shortest; i++)
            throw_for_parts(t, whole, c, i);
    const struct trace_rival *const best =
        &t->rival[likeliest_in(t, from, whole)];
    for (size_t i = whole; i < t->count && count < TRACE_PARTS_MOST; i++) {
        const struct trace_rival *const r = &t->rival[i];
        if (r->c.ways == likeliest_ways(t, whole, r->c) &&
            trace_rival_lead(best, r) <= PARTS_LEAD)
            parts[count++] = fit_of(&r->c);
    }
    while (t->count > from)
        free(t->rival[--t->count].chance);
    return count;
}

/* What a model misses of visits, up to so many deviations off. */
static double missed_by(const struct trace_model *c,
                        const struct trace_range *range,
                        const struct trace *trace, int deviations)
{
    struct trace_seen_visits seen = trace_model_seen(trace, range);
    const struct trace_chance_missed by = trace_chance_missed(&seen, c);
    trace_model_free_seen(&seen);
    return by.mean + deviations * by.deviation;
}

enum { DEVIATIONS = 5 };

double trace_fit_missed_most(const struct trace_fit *fit,
                             const struct trace_range *range,
                             const struct trace *trace)
{
    const struct trace_model c = model_of(fit);
    return missed_by(&c, range, trace, DEVIATIONS);
}

double trace_fit_missed_finer(const struct trace_fit *fit,
                              const struct trace_range *range,
                              const struct trace *trace)
{
    struct trace_model c = model_of(fit);
    const uint64_t parts = (uint64_t)1 << c.shift;
    c.shift = 0;
    c.sets *= parts;
    c.ways = (c.ways + parts - 1) / parts;
    c.own_at *= parts;
    return missed_by(&c, range, trace, -DEVIATIONS);
}

struct cache *trace_fit_cache(const struct trace_fit *fit, uint64_t sector)
{
    const struct trace_model c = model_of(fit);
    return trace_model_cache(&c, sector);
}

uint64_t trace_fit_set(const struct trace_fit *fit, uint64_t line)
{
    const struct trace_model c = model_of(fit);
    return trace_model_set(&c, line * c.line);
}

uint64_t trace_fit_ways(const struct trace_fit *fit, uint64_t set)
{
    const struct trace_model c = model_of(fit);
    return trace_model_ways(&c, set);
}

void trace_fit_neighbour(const struct trace_fit *fit, struct cache *cache)
{
    const uint64_t far = (uint64_t)1 << 32;
    for (uint64_t i = 0; i < fit->own; i++)
        cache_access(cache, ((far * fit->model_sets + fit->own_at + i)
                             << fit->model_shift) *
                                fit->model_line);
}
