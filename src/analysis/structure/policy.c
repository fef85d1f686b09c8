/*
 * The loads are replayed in order.  A load that the clock could not tell is
 * replayed, since it changed the set, and judged by nobody.
 *
 * Of a set whose contents are not known only what follows `ways` misses in a
 * row of different lines is judged; by then lru, fifo and plru are in the same
 * state, up to the names of the ways, whatever was there before.  The marks of
 * an nru or rrip have a phase, and an lru_midpoint keeps some of the lines that
 * were hit last; so each is tried and the best counts.
 */
#include "analysis/structure/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/curve/levels.h"
#include "analysis/hits.h"
#include "base/mem.h"
#include "base/num.h"

/* What is taken for the share of loads that the clock tells wrongly.  It weighs
 * all policies alike, so any small share finds the same one. */
static const double WRONG = 0.01;
/* A policy without chance explains the loads if so many are as it says: all but
 * three times those that are told wrongly. */
static const double AGREES_LEAST = 0.97;
/* And random victims if the likelihood is so few deviations from its mean: a
 * normal one is farther off once in 500 million. */
static const double DEVIATIONS_MOST = 6;

/* Ages that are tried of rrip: those of its authors (Jaleel and others 2010),
 * of two bits and of fewer, and lines that come in as the next to go.  Of
 * lru_midpoint a few hits, and more than any set has ways. */
static const struct {
    enum cache_policy policy;
    struct cache_rrip ages;
    unsigned behind;
} certain[] = {
    {.policy = POLICY_LRU},
    {.policy = POLICY_FIFO},
    {.policy = POLICY_PLRU},
    {.policy = POLICY_NRU},
    {POLICY_RRIP, {3, 2, 0}, 0},
    {POLICY_RRIP, {2, 1, 0}, 0},
    {POLICY_RRIP, {3, 3, 0}, 0},
    {POLICY_RRIP, {2, 2, 0}, 0},
    {.policy = POLICY_LRU_MIDPOINT, .behind = 1},
    {.policy = POLICY_LRU_MIDPOINT, .behind = 2},
    {.policy = POLICY_LRU_MIDPOINT, .behind = 3},
    {.policy = POLICY_LRU_MIDPOINT, .behind = UINT16_MAX},
};

/* ---- hits and misses --------------------------------------------------- */

static bool is_neither(const struct policy_costs *costs,
                       const struct level *level)
{
    return costs->alike && level->low <= costs->cut &&
           hits_cheaper(costs->hit, level->centre);
}

void policy_tell(struct policy_load *loads, const double *cycles, size_t count,
                 const struct policy_costs *costs)
{
    struct levels levels;
    levels_find(cycles, count, &levels_usual, &levels);
    for (size_t i = 0; i < count; i++) {
        const int n = levels_classify(&levels, cycles[i]);
        loads[i].outcome = cycles[i] > costs->cut ? LOAD_MISS : LOAD_HIT;
        if (n < 0 || is_neither(costs, &levels.level[n]))
            loads[i].outcome = LOAD_UNKNOWN;
    }
}

/* What an unsure load is meanwhile, if it did not come to the set. */
enum { LOAD_ELSEWHERE = LOAD_UNTIMED + 1 };

static bool is_told(const struct policy_load *load)
{
    return load->outcome == LOAD_HIT || load->outcome == LOAD_MISS;
}

/* ---- policies without chance ------------------------------------------- */

/* A set's ways, and entries of a victim buffer; how many ways what is loaded at
 * once takes; whether its ways are too many for all phases to be tried. */
struct room {
    uint32_t ways;
    unsigned spare, pieces;
    bool some;
};

static struct cache *one_set(size_t which, const struct room *room)
{
    uint32_t ways = room->ways;
    const struct cache_shape shape = {.line = 1,
                                      .sector = 1,
                                      .sets = 1,
                                      .set_ways = &ways,
                                      .policy = certain[which].policy,
                                      .rrip = certain[which].ages,
                                      .behind = certain[which].behind,
                                      .spare = room->spare};
    return cache_new(&shape, 1);
}

/* In how many ways lines that no load names may have left the state. */
static size_t phases_of(size_t which, uint32_t ways)
{
    const enum cache_policy policy = certain[which].policy;
    const uint32_t behind = certain[which].behind;
    if (policy == POLICY_LRU_MIDPOINT)
        return behind < ways ? behind + 1 : ways;
    return policy == POLICY_NRU || policy == POLICY_RRIP ? 2 * ways : 1;
}

/* Lines that no load names. */
static void push_out(struct cache *cache, size_t which, uint32_t ways,
                     size_t phase)
{
    const uint64_t first = (uint64_t)1 << 40;
    const bool stays = certain[which].policy == POLICY_LRU_MIDPOINT;
    for (size_t i = 0; i < (stays ? ways : ways + phase); i++)
        cache_access(cache, first + i);
    for (size_t i = 0; stays && i < phase; i++)
        cache_access(cache, first + i);
}

/* Where a sequence ends. */
static size_t sequence_end(const struct policy_load *loads, size_t count,
                           size_t from)
{
    size_t end = from + 1;
    while (end < count && !loads[end].first)
        end++;
    return end;
}

/* All pieces of it must be there. */
static bool does_hit(struct cache *cache, uint32_t line, unsigned pieces)
{
    bool hit = true;
    for (uint64_t i = 0; i < pieces; i++)
        hit = cache_access(cache, (uint64_t)line * pieces + i) == CACHE_HIT &&
              hit;
    return hit;
}

/* Loads of a sequence that are as predicted, of those that are judged. */
static size_t count_agreeing(const struct policy_load *loads, size_t count,
                             struct cache *cache, unsigned pieces,
                             size_t *judged)
{
    size_t agree = 0;
    *judged = 0;
    for (size_t i = 0; i < count; i++) {
        if (loads[i].outcome == LOAD_ELSEWHERE)
            continue;
        const bool hit = does_hit(cache, loads[i].line, pieces);
        if (!is_told(&loads[i]))
            continue;
        agree += hit == (loads[i].outcome == LOAD_HIT);
        ++*judged;
    }
    return agree;
}

/* Those of a sequence, from one phase on; SIZE_MAX: of an empty set. */
static size_t agreeing_from(const struct policy_load *loads, size_t count,
                            size_t which, const struct room *room, size_t phase,
                            size_t *judged)
{
    struct cache *const cache = one_set(which, room);
    if (phase != SIZE_MAX)
        push_out(cache, which, room->ways, phase);
    const size_t agree =
        count_agreeing(loads, count, cache, room->pieces, judged);
    cache_free(cache);
    return agree;
}

/* Of all phases the best, so many apart, from one on up to another. */
static size_t best_of(const struct policy_load *loads, size_t count,
                      size_t which, const struct room *room, size_t from,
                      size_t end, size_t apart, size_t *best_phase,
                      size_t *judged)
{
    size_t best = 0;
    for (size_t phase = from; phase < end; phase += apart) {
        const size_t a =
            agreeing_from(loads, count, which, room, phase, judged);
        if (a > best || phase == from)
            *best_phase = phase;
        best = a > best ? a : best;
    }
    return best;
}

/* Phases next to each other differ by a way, and so in few of many loads: those
 * about the best of some are tried ever closer. */
static size_t best_of_some(const struct policy_load *loads, size_t count,
                           size_t which, const struct room *room, size_t phases,
                           size_t *phase, size_t *judged)
{
    enum { SOME = 16 };
    size_t apart = phases / SOME + 1, near = 0;
    size_t best =
        best_of(loads, count, which, room, 0, phases, apart, phase, judged);
    while (apart > 1) {
        apart = (apart + 1) / 2;
        const size_t from = *phase < apart ? *phase : *phase - apart,
                     end = u64_min(*phase + apart + 1, phases);
        const size_t a =
            best_of(loads, count, which, room, from, end, apart, &near, judged);
        *phase = a > best ? near : *phase;
        best = a > best ? a : best;
        apart = apart == 2 ? 1 : apart;
    }
    return best;
}

/* The most that agree, and the phase they do so from. */
static size_t best_phase(const struct policy_load *loads, size_t count,
                         size_t which, const struct room *room, bool fresh,
                         size_t *phase, size_t *judged)
{
    const size_t phases = phases_of(which, room->ways);
    *phase = fresh ? SIZE_MAX : 0;
    if (fresh)
        return agreeing_from(loads, count, which, room, SIZE_MAX, judged);
    return room->some
               ? best_of_some(loads, count, which, room, phases, phase, judged)
               : best_of(loads, count, which, room, 0, phases, 1, phase,
                         judged);
}

/* Without those unsure ones without which more agree, one after the other, of
 * which `agree` do with all.  One that came to the set and is left out is a
 * deviation as one that did not and is replayed; but a hit that never was keeps
 * a line in an lru_midpoint through many loads. */
static size_t best_without(struct policy_load *loads, size_t count,
                           size_t which, const struct room *room, size_t phase,
                           size_t agree)
{
    size_t judged;
    for (size_t i = 0; i < count; i++) {
        if (!loads[i].unsure)
            continue;
        loads[i].outcome = LOAD_ELSEWHERE;
        const size_t a =
            agreeing_from(loads, count, which, room, phase, &judged);
        if (a <= agree)
            loads[i].outcome = LOAD_UNKNOWN;
        agree = a > agree ? a : agree;
    }
    for (size_t i = 0; i < count; i++)
        loads[i].outcome = loads[i].unsure ? LOAD_UNKNOWN : loads[i].outcome;
    return agree;
}

static size_t best_of_sequence(struct policy_load *loads, size_t count,
                               size_t which, const struct room *room,
                               bool fresh, size_t *judged)
{
    size_t phase;
    const size_t agree =
        best_phase(loads, count, which, room, fresh, &phase, judged);
    return best_without(loads, count, which, room, phase, agree);
}

/* What explains so few of them is none, and of many ways no more are asked. */
static bool is_hopeless(const struct room *room, size_t agree, size_t judged)
{
    enum { ENOUGH = 32 };
    return room->some && judged >= ENOUGH && 10 * agree < 9 * judged;
}

static struct policy_score score_certain(struct policy_load *loads,
                                         size_t count, size_t which,
                                         const struct room *room, bool fresh)
{
    size_t agree = 0, judged = 0;
    for (size_t from = 0, end;
         from < count && !is_hopeless(room, agree, judged); from = end) {
        size_t n = 0;
        end = sequence_end(loads, count, from);
        agree +=
            best_of_sequence(loads + from, end - from, which, room, fresh, &n);
        judged += n;
    }
    const double wrong = (double)(judged - agree);
    return (struct policy_score){
        .agrees = judged > 0 ? (double)agree / (double)judged : 0,
        .likelihood =
            judged > 0 ? ((double)agree * log(1 - WRONG) + wrong * log(WRONG)) /
                             (double)judged
                       : -INFINITY};
}

/* ---- random victims --------------------------------------------------- */

/* What is known of a line under random victims: the way in which it came, -1
 * if any; victims so far when it came, and when it was last seen there. */
struct stay {
    int64_t way;
    uint64_t came, seen;
    bool there;
};

/* The chance that a line is still there `n` victims after it came. */
static double survival(const double *weights, uint32_t ways, int64_t way,
                       uint64_t n)
{
    if (way >= 0)
        return pow(1 - weights[way], (double)n);
    double sum = 0;
    for (uint32_t i = 0; i < ways; i++)
        sum += weights[i] * pow(1 - weights[i], (double)n);
    return sum;
}

/* Sums over loads whose chance of a hit is neither 0 nor 1. */
struct surprise {
    double likelihood, mean, variance, expected, hits;
    size_t judged;
};

static void add_load(struct surprise *s, double chance, bool hit)
{
    const double p = fmin(fmax(chance, WRONG), 1 - WRONG);
    const double yes = log(p), no = log(1 - p);
    const double mean = p * yes + (1 - p) * no;
    s->likelihood += hit ? yes : no;
    s->mean += mean;
    s->variance += p * yes * yes + (1 - p) * no * no - mean * mean;
    s->expected += p;
    s->hits += hit;
    s->judged++;
}

static uint32_t lines_of(const struct policy_load *loads, size_t count)
{
    uint32_t most = 0;
    for (size_t i = 0; i < count; i++)
        most = loads[i].line > most ? loads[i].line : most;
    return most + 1;
}

/* A set whose victims are picked by chance. */
struct chance_set {
    const double *weights;
    uint32_t ways;
    struct stay *stay; /* of each line */
    uint64_t filled, victims;
};

/* One load: judged if its line was there before, then noted. */
static void follow(struct chance_set *set, const struct policy_load *load,
                   struct surprise *s)
{
    struct stay *const line = &set->stay[load->line];
    const bool miss = load->outcome == LOAD_MISS || !line->there;
    if (line->there && is_told(load)) {
        const double before = survival(set->weights, set->ways, line->way,
                                       line->seen - line->came);
        const double now = survival(set->weights, set->ways, line->way,
                                    set->victims - line->came);
        add_load(s, before > 0 ? now / before : 0, load->outcome == LOAD_HIT);
    }
    if (miss) {
        const bool full = set->filled >= set->ways;
        set->victims += full;
        *line = (struct stay){.way = full ? -1 : (int64_t)set->filled,
                              .came = set->victims,
                              .there = true};
        set->filled += !full;
    }
    line->seen = set->victims;
}

static struct surprise surprise_of(const struct policy_load *loads,
                                   size_t count, const double *weights,
                                   uint32_t ways, bool fresh)
{
    struct surprise s = {0};
    const uint32_t lines = lines_of(loads, count);
    struct chance_set set = {.weights = weights,
                             .ways = ways,
                             .stay = xcalloc(lines, sizeof *set.stay)};
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || loads[i].first) {
            memset(set.stay, 0, lines * sizeof *set.stay);
            set.filled = fresh ? 0 : ways;
        }
        follow(&set, &loads[i], &s);
    }
    free(set.stay);
    return s;
}

double policy_random(const struct policy_load *loads, size_t count,
                     const double *weights, uint32_t ways, bool fresh,
                     struct policy_score *score)
{
    const struct surprise s = surprise_of(loads, count, weights, ways, fresh);
    if (s.judged == 0) {
        *score = (struct policy_score){0, -INFINITY};
        return INFINITY;
    }
    const double n = (double)s.judged;
    *score = (struct policy_score){1 - fabs(s.hits - s.expected) / n,
                                   s.likelihood / n};
    return fabs(s.likelihood - s.mean) / sqrt(s.variance + 1);
}

static struct policy_score score_random(const struct policy_load *loads,
                                        size_t count, uint32_t ways, bool fresh,
                                        bool *explains)
{
    struct policy_score score;
    double *const weights = xcalloc(ways, sizeof *weights);
    for (uint32_t i = 0; i < ways; i++)
        weights[i] = 1.0 / ways;
    *explains = policy_random(loads, count, weights, ways, fresh, &score) <=
                DEVIATIONS_MOST;
    free(weights);
    return score;
}

/* ---- the verdict ------------------------------------------------------ */

/* The likeliest but for these; POLICY_COUNT: none is left. */
static enum cache_policy likeliest(const struct policy_verdict *v, size_t but,
                                   size_t and_but)
{
    enum cache_policy best = POLICY_COUNT;
    for (size_t p = 0; p < POLICY_COUNT; p++)
        if (p != but && p != and_but && !isinf(v->score[p].likelihood) &&
            (best == POLICY_COUNT ||
             v->score[p].likelihood > v->score[best].likelihood))
            best = (enum cache_policy)p;
    return best;
}

/* A handful of loads may be wrong by chance; a lead of 10 is theirs. */
static const double LEAD_LEAST = 10;

/* Only these tell policies apart, however many lie between them. */
static size_t count_known(const struct policy_load *loads, size_t count)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        known += is_told(&loads[i]);
    return known;
}

static size_t count_of(const struct policy_load *loads, size_t count,
                       enum policy_outcome outcome)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += loads[i].outcome == outcome;
    return n;
}

/*
 * Whether late loads may be what looks like chance: if those that the clock
 * could not tell are more than the misses that it could, which may be most of
 * these, or if a policy without chance is wrong about no more than as large a
 * share of those that it could, of which as many may be late.
 */
static bool may_be_late(const struct policy_verdict *v,
                        const struct policy_load *loads, size_t count)
{
    double agrees = 0;
    for (size_t i = 0; i < COUNT_OF(certain); i++)
        agrees = fmax(agrees, v->score[certain[i].policy].agrees);
    return v->untold > 0 && (count_of(loads, count, LOAD_UNKNOWN) >
                                 count_of(loads, count, LOAD_MISS) ||
                             agrees + v->untold >= AGREES_LEAST);
}

/* Nothing that is said of chance is known then. */
static void doubt_chance(struct policy_verdict *v,
                         const struct policy_load *loads, size_t count)
{
    const double unknown = (double)count_of(loads, count, LOAD_UNKNOWN);
    const double known = (double)count_known(loads, count);
    v->untold = unknown > 0 ? unknown / (unknown + known) : 0;
    if (v->known && v->policy != POLICY_RANDOM)
        return;
    v->late = may_be_late(v, loads, count);
    v->known = v->known && !v->late;
    v->ambiguous = v->ambiguous && v->known;
}

/* An lru_midpoint is more than an lru, of which random loads of many ways show
 * little: where they do not speak for it, it is taken for that, and said. */
static void choose(struct policy_verdict *v, bool random_explains, size_t known)
{
    enum cache_policy best = likeliest(v, POLICY_COUNT, POLICY_COUNT);
    if (best == POLICY_COUNT) /* of no load it is known whether it hit */
        return;
    const double lead = (v->score[POLICY_LRU].likelihood -
                         v->score[POLICY_LRU_MIDPOINT].likelihood) *
                        (double)known;
    v->midpoint = (best == POLICY_LRU || best == POLICY_LRU_MIDPOINT) &&
                  fabs(lead) < LEAD_LEAST;
    if (v->midpoint)
        best = POLICY_LRU;
    const enum cache_policy next = likeliest(
        v, best, best == POLICY_LRU ? POLICY_LRU_MIDPOINT : POLICY_COUNT);
    v->policy = best;
    v->runner_up = next;
    v->lead = next == POLICY_COUNT
                  ? INFINITY
                  : (v->score[best].likelihood - v->score[next].likelihood) *
                        (double)known;
    v->known = best == POLICY_RANDOM ? random_explains
                                     : v->score[best].agrees >= AGREES_LEAST;
    v->ambiguous = v->known && v->lead < LEAD_LEAST;
}

static struct policy_verdict nothing_found(void)
{
    struct policy_verdict v = {0};
    for (size_t p = 0; p < POLICY_COUNT; p++)
        v.score[p].likelihood = -INFINITY;
    return v;
}

/* What policies without chance explain in such a room, where that is more than
 * was found before. */
static void try_room(struct policy_verdict *v, const struct policy_load *loads,
                     size_t count, const struct room *room, bool fresh)
{
    const uint32_t ways = room->ways;
    /* Of which unsure ones are left out meanwhile. */
    struct policy_load *const own = xreallocarray(NULL, count + 1, sizeof *own);
    memcpy(own, loads, count * sizeof *own);
    for (size_t i = 0; i < COUNT_OF(certain); i++) {
        const enum cache_policy policy = certain[i].policy;
        /* Two ways leave a tree and a bit a way nothing to do but LRU. */
        if ((policy == POLICY_PLRU && !u64_is_power(ways)) ||
            ((policy == POLICY_PLRU || policy == POLICY_NRU) && ways == 2))
            continue;
        const struct policy_score score =
            score_certain(own, count, i, room, fresh);
        if (score.likelihood > v->score[policy].likelihood) {
            v->score[policy] = score;
            v->ages = policy == POLICY_RRIP ? certain[i].ages : v->ages;
            if (policy == POLICY_LRU_MIDPOINT)
                v->behind = certain[i].behind;
        }
    }
    free(own);
}

/* Which of all it is, chance among them. */
static void conclude(struct policy_verdict *v, const struct policy_load *loads,
                     size_t count, uint32_t ways, bool fresh)
{
    bool random_explains = false;
    v->score[POLICY_RANDOM] =
        score_random(loads, count, ways, fresh, &random_explains);
    choose(v, random_explains, count_known(loads, count));
    doubt_chance(v, loads, count);
}

static struct policy_verdict find_in(const struct policy_load *loads,
                                     size_t count, const struct room *room,
                                     bool fresh)
{
    struct policy_verdict v = nothing_found();
    v.spare = room->spare;
    try_room(&v, loads, count, room, fresh);
    conclude(&v, loads, count, room->ways, fresh);
    return v;
}

struct policy_verdict policy_find(const struct policy_load *loads, size_t count,
                                  uint32_t ways, bool fresh)
{
    const struct room room = {.ways = ways, .pieces = 1};
    return find_in(loads, count, &room, fresh);
}

struct policy_verdict policy_find_pieces(const struct policy_load *loads,
                                         size_t count, uint32_t ways,
                                         unsigned most, bool fresh)
{
    struct policy_verdict v = nothing_found();
    for (unsigned pieces = 1; pieces <= most; pieces *= 2)
        for (unsigned more = 0; more < pieces; more++) {
            const struct room room = {.ways = pieces * ways + more,
                                      .pieces = pieces};
            try_room(&v, loads, count, &room, fresh);
        }
    conclude(&v, loads, count, ways, fresh);
    return v;
}

struct policy_verdict policy_find_many(const struct policy_load *loads,
                                       size_t count, uint32_t ways)
{
    const struct room room = {.ways = ways, .pieces = 1, .some = true};
    struct policy_verdict v = find_in(loads, count, &room, false);
    v.known = v.known && v.policy != POLICY_RANDOM;
    return v;
}

struct policy_verdict policy_find_spare(const struct policy_load *loads,
                                        size_t count, uint32_t ways,
                                        unsigned most)
{
    struct policy_verdict best = policy_find(loads, count, ways, false);
    double next = -INFINITY;
    for (unsigned spare = 1; spare <= most; spare++) {
        const struct room room = {.ways = ways, .spare = spare, .pieces = 1};
        const struct policy_verdict v = find_in(loads, count, &room, false);
        const double had = best.score[best.policy].likelihood,
                     has = v.score[v.policy].likelihood;
        next = fmax(next, fmin(had, has));
        if (has > had)
            best = v;
    }
    /* As among policies, see choose. */
    const double known = (double)count_known(loads, count);
    if ((best.score[best.policy].likelihood - next) * known < LEAD_LEAST)
        best.ambiguous = best.known;
    return best;
}

/* ---- weights ---------------------------------------------------------- */

/*
 * One sequence up to the first load that contradicts what is known or that the
 * clock could not tell.  The first load of all lines but the last hits, since
 * they fill the set; so the last pushes one out.
 */
static size_t follow_victims(const struct policy_load *loads, size_t count,
                             uint32_t ways, uint32_t *way, size_t *victims)
{
    uint32_t seen = 0, newest = ways;
    size_t found = 0;
    for (uint32_t i = 0; i < ways; i++)
        way[i] = i;
    for (size_t i = 0; i < count; i++) {
        const uint32_t line = loads[i].line;
        const bool miss = loads[i].outcome == LOAD_MISS;
        if (seen <= ways) {
            /* What the clock cannot tell of the last must have been a miss. */
            const enum policy_outcome wrong =
                seen < ways ? LOAD_MISS : LOAD_HIT;
            if (line != seen++ || loads[i].outcome == wrong)
                break;
        } else if (!is_told(&loads[i]) || line > ways ||
                   (miss && line == newest)) {
            break;
        } else if (miss) {
            victims[way[line]]++;
            found++;
            way[newest] = way[line];
            newest = line;
        }
    }
    return found;
}

size_t policy_victims(const struct policy_load *loads, size_t count,
                      uint32_t ways, size_t *victims)
{
    size_t found = 0;
    uint32_t *const way = xcalloc(ways + 1, sizeof *way);
    memset(victims, 0, ways * sizeof *victims);
    for (size_t from = 0; from < count;) {
        const size_t end = sequence_end(loads, count, from);
        found += follow_victims(loads + from, end - from, ways, way, victims);
        from = end;
    }
    free(way);
    return found;
}

double policy_unevenness(const size_t *victims, uint32_t ways, size_t found)
{
    const double expected = (double)found / ways;
    double chi = 0;
    if (found == 0)
        return 0;
    for (uint32_t i = 0; i < ways; i++)
        chi += ((double)victims[i] - expected) *
               ((double)victims[i] - expected) / expected;
    return chi - (ways - 1);
}
