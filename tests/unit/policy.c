/*
 * analysis/structure/policy: the policy that made the hits and misses is found
 * again, also where some loads were told wrongly or not at all.
 */
#include "analysis/structure/policy.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "testing.h"

enum { LOADS = 1200 };

/* Loads of random lines out of `lines` on one set of a model; one in `wrong`
 * is told the other way round, one in 100 not at all. */
static struct policy_load *record_of(const struct cache_shape *shape,
                                     uint32_t lines, uint64_t wrong,
                                     uint64_t seed)
{
    struct cache *const set = cache_new(shape, seed);
    struct policy_load *const loads = xcalloc(LOADS, sizeof *loads);
    struct rng rng;
    rng_seed(&rng, seed);
    for (size_t i = 0; i < LOADS; i++) {
        loads[i].line = (uint32_t)rng_below(&rng, lines);
        bool hit = cache_access(set, loads[i].line) == CACHE_HIT;
        if (wrong > 0 && rng_below(&rng, wrong) == 0)
            hit = !hit;
        loads[i].outcome = hit ? LOAD_HIT : LOAD_MISS;
        if (rng_below(&rng, 100) == 0)
            loads[i].outcome = LOAD_UNKNOWN;
        loads[i].first = i == 0;
    }
    cache_free(set);
    return loads;
}

static struct policy_load *record(enum cache_policy policy, uint32_t ways,
                                  uint32_t lines, double *weights,
                                  uint64_t wrong, uint64_t seed)
{
    const struct cache_shape shape = {.line = 1,
                                      .sector = 1,
                                      .sets = 1,
                                      .set_ways = &ways,
                                      .policy = policy,
                                      .rrip = {3, 2, 0},
                                      .behind = 2,
                                      .weights = weights};
    return record_of(&shape, lines, wrong, seed);
}

static struct policy_verdict judge(enum cache_policy policy, uint32_t ways,
                                   uint32_t lines, uint64_t wrong)
{
    struct policy_load *const loads =
        record(policy, ways, lines, NULL, wrong, 5 + ways);
    const struct policy_verdict v = policy_find(loads, LOADS, ways, true);
    free(loads);
    return v;
}

static const enum cache_policy kinds[] = {
    POLICY_LRU,  POLICY_FIFO,   POLICY_PLRU,        POLICY_NRU,
    POLICY_RRIP, POLICY_RANDOM, POLICY_LRU_MIDPOINT};

START_TEST(each_policy_is_found_again)
{
    static const uint32_t ways[] = {4, 8, 16, 64};
    /* Of many ways it may be taken for lru. */
    const bool few = kinds[_i] == POLICY_LRU_MIDPOINT;
    for (size_t i = 0; i < COUNT_OF(ways) - few; i++) {
        const struct policy_verdict v =
            judge(kinds[_i], ways[i], ways[i] * 3 / 2, 0);
        ck_assert_msg(v.known && !v.ambiguous && v.policy == kinds[_i],
                      "%s of %u ways: known %d, ambiguous %d, %s, agrees %g",
                      cache_policy_name(kinds[_i]), ways[i], v.known,
                      v.ambiguous, cache_policy_name(v.policy),
                      v.score[v.policy].agrees);
    }
}
END_TEST

/* Of one line more than a set holds few are missed. */
START_TEST(an_lru_that_may_be_a_midpoint_is_said)
{
    const struct policy_verdict v = judge(POLICY_LRU_MIDPOINT, 19, 20, 0);
    ck_assert(v.policy == POLICY_LRU_MIDPOINT || v.midpoint);
    ck_assert(!judge(POLICY_LRU, 4, 6, 0).midpoint);
}
END_TEST

START_TEST(some_loads_may_be_told_wrongly)
{
    const struct policy_verdict v = judge(kinds[_i], 8, 12, 200);
    ck_assert(v.known);
    ck_assert_int_eq(v.policy, kinds[_i]);
}
END_TEST

START_TEST(what_nothing_explains_is_not_known)
{
    struct policy_load *const loads = record(POLICY_LRU, 8, 12, NULL, 4, 9);
    ck_assert(!policy_find(loads, LOADS, 8, true).known);
    free(loads);
}
END_TEST

/* Where no timing told of any load whether it hit, no policy is likeliest: what
 * was none was looked up, behind the end of the table. */
START_TEST(what_nothing_tells_is_not_known)
{
    struct policy_load loads[40] = {{0}};
    for (uint32_t i = 0; i < COUNT_OF(loads); i++)
        loads[i] = (struct policy_load){i % 12, LOAD_UNKNOWN, .first = i == 0};
    const struct policy_verdict v =
        policy_find(loads, COUNT_OF(loads), 8, true);
    ck_assert(!v.known && !v.ambiguous && !v.midpoint);
    ck_assert_int_lt(v.policy, POLICY_COUNT);
    const struct policy_verdict spare =
        policy_find_spare(loads, COUNT_OF(loads), 8, 3);
    ck_assert(!spare.known && !spare.ambiguous);
    ck_assert_uint_eq(spare.spare, 0);
}
END_TEST

/* Of one load there is little to say, but something. */
START_TEST(one_load_is_evidence)
{
    const struct policy_load load = {0, LOAD_MISS, .first = true};
    const struct policy_verdict v = policy_find(&load, 1, 8, true);
    ck_assert_double_eq(v.score[POLICY_LRU].agrees, 1);
    ck_assert_double_gt(v.score[POLICY_LRU].likelihood, log(0.5));
}
END_TEST

/* Lines that fill a set and are met again tell no policy from another. */
START_TEST(what_several_would_answer_is_ambiguous)
{
    struct policy_load loads[16];
    for (uint32_t i = 0; i < COUNT_OF(loads); i++)
        loads[i] = (struct policy_load){i % 8, i < 8 ? LOAD_MISS : LOAD_HIT,
                                        .first = i == 0};
    const struct policy_verdict v =
        policy_find(loads, COUNT_OF(loads), 8, true);
    ck_assert(v.known && v.ambiguous);
    ck_assert_double_eq_tol(v.lead, 0, 1e-9);
}
END_TEST

/* One load that tells two policies apart may be late by chance, however many
 * lie between of which nobody knows whether they hit. */
START_TEST(loads_that_nobody_judges_are_no_evidence)
{
    enum { WAYS = 4, BETWEEN = 40 };
    struct policy_load loads[WAYS + BETWEEN + 2] = {{0}};
    size_t n = 0;
    for (uint32_t i = 0; i < WAYS; i++)
        loads[n++] = (struct policy_load){i, LOAD_MISS, .first = i == 0};
    for (size_t i = 0; i < BETWEEN; i++)
        loads[n++] = (struct policy_load){.outcome = LOAD_UNKNOWN};
    loads[n++] = (struct policy_load){WAYS, .outcome = LOAD_MISS};
    loads[n++] = (struct policy_load){.outcome = LOAD_MISS}; /* by fifo alone */
    const struct policy_verdict v = policy_find(loads, n, WAYS, true);
    ck_assert_int_eq(v.policy, POLICY_FIFO);
    ck_assert(v.known && v.ambiguous);
    ck_assert_double_eq_tol(v.lead, log(0.99 / 0.01), 1e-9);
}
END_TEST

/* Laps over more lines than a set holds, of which the third is asked again at
 * once; what lies in front answers it, late.  A cache that keeps what was hit
 * would keep it if it had been asked.  Buggy result: surely lru, by that one.
 */
START_TEST(a_late_load_that_was_answered_in_front_tells_nothing)
{
    enum { WAYS = 20, LINES = 30, LAPS = 5, AGAIN = 2 };
    struct policy_load loads[LAPS * LINES + 1];
    size_t n = 0;
    for (uint32_t i = 0; i < LAPS * LINES; i++) {
        loads[n++] =
            (struct policy_load){i % LINES, LOAD_MISS, .first = i == 0};
        if (i == AGAIN)
            loads[n++] = (struct policy_load){i, LOAD_UNKNOWN, .unsure = true};
    }
    const struct policy_verdict v = policy_find(loads, n, WAYS, true);
    ck_assert_int_eq(v.policy, POLICY_LRU);
    ck_assert(v.known && v.midpoint);
}
END_TEST

/* ---- very many ways ----------------------------------------------------- */

enum { MANY_SEQUENCES = 8, MANY_RUNS = 48, MANY_ASKS = 64 };

struct many {
    struct cache *set;
    struct policy_load *load;
    size_t count;
    uint32_t ways, lines, others;
};

static void load_one(struct many *m, uint32_t line, bool first, bool asked)
{
    const bool hit = cache_access(m->set, line) == CACHE_HIT;
    m->load[m->count++] = (struct policy_load){.line = line,
                                               .first = first,
                                               .outcome = !asked ? LOAD_UNTIMED
                                                          : hit  ? LOAD_HIT
                                                                 : LOAD_MISS};
}

static void load_run(struct many *m, uint64_t from, uint64_t count, bool first)
{
    for (uint32_t i = 0; i < m->others; i++)
        load_one(m, m->lines + i, first && i == 0, false);
    for (uint64_t i = 0; i < count; i++)
        load_one(m, (uint32_t)(from + i), false, false);
}

/* What the study of TLBs asks of one set: runs that nobody times, then lines at
 * random; whatever was there is pushed out before. */
static void load_sequence(struct many *m, struct rng *rng)
{
    for (uint32_t i = 0; i < 3 * m->ways + rng_below(rng, m->ways); i++)
        cache_access(m->set, m->lines + m->others + i);
    load_run(m, 0, m->lines, true);
    for (size_t i = 0; i < MANY_RUNS; i++) {
        const uint64_t count = m->lines / 32 + rng_below(rng, m->lines / 16);
        load_run(m, rng_below(rng, m->lines - count), count, false);
    }
    for (size_t i = 0; i < MANY_ASKS; i++) {
        load_run(m, 0, 0, false);
        load_one(m, (uint32_t)rng_below(rng, m->lines), false, true);
    }
}

static struct policy_verdict judge_many(enum cache_policy policy, uint32_t ways,
                                        uint64_t seed)
{
    const struct cache_shape shape = {.line = 1,
                                      .sector = 1,
                                      .sets = 1,
                                      .set_ways = &ways,
                                      .policy = policy,
                                      .rrip = {3, 2, 0},
                                      .behind = 2};
    struct many m = {.set = cache_new(&shape, seed),
                     .ways = ways,
                     .others = 9,
                     .lines = ways * 3 / 2 - 8};
    struct rng rng;
    rng_seed(&rng, seed);
    m.load =
        xcalloc((size_t)(MANY_SEQUENCES * 8) * (m.lines + 120 * (m.others + 1)),
                sizeof *m.load);
    for (size_t i = 0; i < MANY_SEQUENCES; i++)
        load_sequence(&m, &rng);
    const struct policy_verdict v = policy_find_many(m.load, m.count, ways);
    free(m.load);
    cache_free(m.set);
    return v;
}

/* An lru_midpoint may be taken for lru, and chance is never told. */
START_TEST(of_very_many_ways_it_is_found_again)
{
    static const uint32_t ways[] = {200, 512};
    const enum cache_policy policy = kinds[_i];
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        if (policy == POLICY_PLRU && ways[i] % 256 != 0)
            continue;
        const struct policy_verdict v = judge_many(policy, ways[i], 1 + i);
        const bool found =
            v.policy == policy || (policy == POLICY_LRU_MIDPOINT && v.midpoint);
        ck_assert_msg(policy == POLICY_RANDOM
                          ? !v.known
                          : v.known && !v.ambiguous && found,
                      "%s of %u ways: known %d, ambiguous %d, %s, agrees %g",
                      cache_policy_name(policy), ways[i], v.known, v.ambiguous,
                      cache_policy_name(v.policy), v.score[v.policy].agrees);
    }
}
END_TEST

/* … nor a bit for each way. */
START_TEST(of_two_ways_a_tree_is_lru)
{
    static const enum cache_policy alike[] = {POLICY_LRU, POLICY_PLRU,
                                              POLICY_NRU};
    const struct policy_verdict v = judge(alike[_i], 2, 3, 0);
    ck_assert(v.known && !v.ambiguous && v.policy == POLICY_LRU);
}
END_TEST

START_TEST(an_unknown_start_is_no_hindrance)
{
    struct policy_load *const loads = record(kinds[_i], 8, 12, NULL, 0, 3);
    const struct policy_verdict v = policy_find(loads, LOADS, 8, false);
    free(loads);
    ck_assert(v.known);
    ck_assert_int_eq(v.policy, kinds[_i]);
}
END_TEST

/* Beside the set, of which no policy alone explains what hits. */
START_TEST(entries_of_a_victim_buffer_are_counted)
{
    static const enum cache_policy policies[] = {POLICY_LRU, POLICY_FIFO};
    uint32_t ways = 8;
    for (size_t i = 0; i < COUNT_OF(policies); i++)
        for (unsigned spare = 0; spare <= 2; spare++) {
            const struct cache_shape shape = {.line = 1,
                                              .sector = 1,
                                              .sets = 1,
                                              .set_ways = &ways,
                                              .policy = policies[i],
                                              .spare = spare};
            struct policy_load *const loads = record_of(&shape, 12, 200, 3);
            const struct policy_verdict v =
                policy_find_spare(loads, LOADS, ways, 3);
            free(loads);
            ck_assert(v.known && !v.ambiguous);
            ck_assert_int_eq(v.policy, policies[i]);
            ck_assert_uint_eq(v.spare, spare);
        }
}
END_TEST

/* Where all lines find room, so they may in any. */
START_TEST(a_victim_buffer_that_holds_the_rest_tells_no_policy)
{
    uint32_t ways = 8;
    const struct cache_shape shape = {
        .line = 1, .sector = 1, .sets = 1, .set_ways = &ways, .spare = 4};
    struct policy_load *const loads = record_of(&shape, 12, 0, 3);
    ck_assert(policy_find_spare(loads, LOADS, ways, 5).ambiguous);
    free(loads);
}
END_TEST

/* Each line once, then random ones, as policy_victims wants them. */
static size_t count_victims(double *weights, uint32_t ways, size_t *victims)
{
    const struct cache_shape shape = {.line = 1,
                                      .sector = 1,
                                      .sets = 1,
                                      .set_ways = &ways,
                                      .policy = POLICY_WEIGHTED,
                                      .weights = weights};
    struct cache *const set = cache_new(&shape, 1);
    const size_t count = 60000;
    struct policy_load *const loads = xcalloc(count, sizeof *loads);
    struct rng rng;
    rng_seed(&rng, 2);
    for (uint32_t line = 0; line < ways; line++)
        cache_access(set, line);
    for (size_t i = 0; i < count; i++) {
        loads[i].line =
            i <= ways ? (uint32_t)i : (uint32_t)rng_below(&rng, ways + 1);
        loads[i].outcome = cache_access(set, loads[i].line) == CACHE_HIT
                               ? LOAD_HIT
                               : LOAD_MISS;
        loads[i].first = i == 0;
    }
    const size_t found = policy_victims(loads, count, ways, victims);
    free(loads);
    cache_free(set);
    return found;
}

START_TEST(victims_show_the_weights)
{
    double weights[] = {1, 3, 1, 1};
    size_t victims[4];
    const size_t found = count_victims(weights, 4, victims);
    ck_assert_uint_gt(found, 10000);
    for (size_t i = 0; i < 4; i++)
        ck_assert_double_eq_tol((double)victims[i] / (double)found,
                                weights[i] / 6, 0.02);
}
END_TEST

START_TEST(unevenness_tells_even_from_uneven)
{
    const size_t even[] = {1000, 1010, 990, 1000};
    const size_t uneven[] = {700, 1900, 700, 700};
    ck_assert_double_lt(policy_unevenness(even, 4, 4000), 3);
    ck_assert_double_gt(policy_unevenness(uneven, 4, 4000), 500);
}
END_TEST

/* So many sequences of 1, 2, … loads, each of a set that is empty, or that
 * other lines filled before: then its first loads bring in all ways. */
static struct policy_load *record_sequences(enum cache_policy policy,
                                            size_t sequences, bool fresh,
                                            size_t *count)
{
    enum { WAYS = 4, LINES = 6 };
    uint32_t ways = WAYS;
    const struct cache_shape shape = {.line = 1,
                                      .sector = 1,
                                      .sets = 1,
                                      .set_ways = &ways,
                                      .policy = policy,
                                      .rrip = {3, 2, 0},
                                      .behind = 2};
    struct policy_load *const loads =
        xcalloc(sequences * (sequences + 1) / 2, sizeof *loads);
    struct rng rng;
    rng_seed(&rng, 11);
    *count = 0;
    for (size_t length = 1; length <= sequences; length++) {
        struct cache *const set = cache_new(&shape, length);
        for (size_t i = 0; !fresh && i < 2 * WAYS + length % WAYS; i++)
            cache_access(set, 100 + i);
        for (size_t i = 0; i < length; i++) {
            struct policy_load *const load = &loads[(*count)++];
            load->first = i == 0;
            load->line = !fresh && i < WAYS ? (uint32_t)i
                                            : (uint32_t)rng_below(&rng, LINES);
            load->outcome = cache_access(set, load->line) == CACHE_HIT
                                ? LOAD_HIT
                                : LOAD_MISS;
        }
        cache_free(set);
    }
    return loads;
}

/* Each is replayed from its own start, and none beyond its end. */
START_TEST(sequences_begin_anew)
{
    for (size_t fresh = 0; fresh < 2; fresh++) {
        size_t count;
        struct policy_load *const loads =
            record_sequences(kinds[_i], 60, fresh, &count);
        const struct policy_verdict v = policy_find(loads, count, 4, fresh);
        ck_assert(v.known && !v.ambiguous);
        ck_assert_int_eq(v.policy, kinds[_i]);
        if (v.policy != POLICY_RANDOM)
            ck_assert_double_eq(v.score[v.policy].agrees, 1);
        free(loads);
    }
}
END_TEST

/* "0h 1m": loads of lines, in sequences that "|" parts; "u": not told. */
static size_t victims_of(const char *text, uint32_t ways, size_t *victims)
{
    struct policy_load loads[64];
    size_t count = 0;
    bool first = true;
    for (const char *at = text; *at != '\0'; at++)
        if (*at == '|') {
            first = true;
        } else if (*at >= '0' && *at <= '9') {
            loads[count++] = (struct policy_load){(uint32_t)(*at - '0'),
                                                  at[1] == 'h'   ? LOAD_HIT
                                                  : at[1] == 'm' ? LOAD_MISS
                                                                 : LOAD_UNKNOWN,
                                                  .first = first};
            first = false;
        }
    return policy_victims(loads, count, ways, victims);
}

/* By hand: a line that is missed was pushed out by the one that came before it,
 * and pushes out another from there. */
START_TEST(victims_are_counted_by_their_ways)
{
    size_t v[2];
    ck_assert_uint_eq(victims_of("0h 1h 2m 0m 1m 2h 0h 2m", 2, v), 3);
    ck_assert(v[0] == 2 && v[1] == 1);
    ck_assert_uint_eq(victims_of("0h 1h 2m 0m 1m 2h 0h 2m | 0h 1h 2m 0m", 2, v),
                      4);
    ck_assert(v[0] == 3 && v[1] == 1);
    /* What comes behind a contradiction counts no more. */
    static const char *const none[] = {
        "0h 1m 2m 0m",    "0h 1h 2h 0m",    "0h 1h 1m 0m",   "1h 0h 2m 0m",
        "0h 1h 2m 2m 0m", "0h 1h 2m 3m 0m", "0h 1h 2m 0u 1m"};
    for (size_t i = 0; i < COUNT_OF(none); i++)
        ck_assert_uint_eq(victims_of(none[i], 2, v), 0);
    /* Of the last line the clock need not tell. */
    ck_assert_uint_eq(victims_of("0h 1h 2u 1m 0h 1m 0m", 2, v), 1);
    ck_assert(v[0] == 0 && v[1] == 1);
}
END_TEST

/* (10 - 5)² / 5, and as much again, less one. */
START_TEST(unevenness_is_what_is_more_than_chance)
{
    const size_t victims[] = {10, 0};
    ck_assert_double_eq_tol(policy_unevenness(victims, 2, 10), 9, 1e-9);
    ck_assert_double_eq(policy_unevenness(victims, 2, 0), 0);
    const size_t one[] = {1, 0};
    ck_assert_double_eq_tol(policy_unevenness(one, 2, 1), 0, 1e-9);
}
END_TEST

/* Of two ways one load after two victims: of ways that are as likely the line
 * is there with a half of a half. */
START_TEST(chance_of_random_victims_is_that_of_ways)
{
    const double even[] = {0.5, 0.5}, uneven[] = {0.75, 0.25};
    const struct policy_load loads[] = {
        {0, LOAD_MISS, .first = true}, {1, .outcome = LOAD_MISS},
        {2, .outcome = LOAD_MISS},     {3, .outcome = LOAD_MISS},
        {0, .outcome = LOAD_HIT},
    };
    struct policy_score score;
    const double off = policy_random(loads, 5, even, 2, true, &score);
    const double yes = log(0.25), no = log(0.75);
    const double mean = 0.25 * yes + 0.75 * no;
    const double variance = 0.25 * yes * yes + 0.75 * no * no - mean * mean;
    ck_assert_double_eq_tol(score.likelihood, yes, 1e-9);
    ck_assert_double_eq_tol(score.agrees, 0.25, 1e-9);
    ck_assert_double_eq_tol(off, (mean - yes) / sqrt(variance + 1), 1e-9);
    /* The first line came into the first way. */
    policy_random(loads, 5, uneven, 2, true, &score);
    ck_assert_double_eq_tol(score.likelihood, 2 * log(0.25), 1e-9);
    /* Into any, where it is not known what was there: three victims by then. */
    policy_random(loads, 5, uneven, 2, false, &score);
    const double stays = 0.75 * pow(0.25, 3) + 0.25 * pow(0.75, 3);
    ck_assert_double_eq_tol(score.likelihood, log(stays), 1e-9);
    ck_assert(isinf(policy_random(loads, 4, even, 2, true, &score)));
    ck_assert(isinf(score.likelihood));
}
END_TEST

/* Three of ten misses are late, so that what they cost on average says that the
 * others are hits, in part or all: an lru never looks like random victims. */
START_TEST(misses_cheaper_than_were_foretold_are_no_hits)
{
    const struct policy_costs costs = {90, _i == 0 ? 250 : 300, .alike = true};
    struct policy_load *const loads = record(POLICY_LRU, 48, 72, NULL, 0, 53);
    double *const cycles = xcalloc(LOADS, sizeof *cycles);
    struct rng rng;
    size_t told = 0;
    rng_seed(&rng, 7);
    for (size_t i = 0; i < LOADS; i++) {
        const bool late = rng_below(&rng, 10) < 3;
        cycles[i] = loads[i].outcome == LOAD_HIT ? 90 : 249;
        if (loads[i].outcome != LOAD_HIT && late)
            cycles[i] += 200 + (double)rng_below(&rng, 800);
        cycles[i] += (double)rng_below(&rng, 4);
    }
    policy_tell(loads, cycles, LOADS, &costs);
    for (size_t i = 0; i < LOADS; i++)
        told += loads[i].outcome != LOAD_UNKNOWN;
    ck_assert_uint_gt(told, LOADS / 2);
    const struct policy_verdict v = policy_find(loads, LOADS, 48, true);
    ck_assert(v.known);
    ck_assert_int_eq(v.policy, POLICY_LRU);
    free(cycles);
    free(loads);
}
END_TEST

/* Loads of an lru that has not two of the lines, which hit each time, be they
 * of another set; of its misses so many in ten could not be told. */
static struct policy_load *lru_beside_others(uint32_t ways, uint32_t lines,
                                             uint64_t late)
{
    const struct cache_shape shape = {.line = 1,
                                      .sector = 1,
                                      .sets = 1,
                                      .set_ways = &ways,
                                      .policy = POLICY_LRU};
    struct cache *const set = cache_new(&shape, 1);
    struct policy_load *const loads = xcalloc(LOADS, sizeof *loads);
    struct rng rng;
    rng_seed(&rng, 3);
    for (size_t i = 0; i < LOADS; i++) {
        const uint32_t line = (uint32_t)rng_below(&rng, lines);
        const bool hit =
            line + 2 >= lines || cache_access(set, line) == CACHE_HIT;
        loads[i] = (struct policy_load){.line = line, .first = i == 0};
        if (!hit)
            loads[i].outcome =
                rng_below(&rng, 10) < late ? LOAD_UNKNOWN : LOAD_MISS;
    }
    cache_free(set);
    return loads;
}

/* Expected: no policy, since too many loads are late.  Buggy result: of misses
 * of which none could be told random victims, which lead no line to be missed,
 * explained the hits, and were likelier than an lru with two wrong lines. */
START_TEST(late_misses_are_no_victims_of_chance)
{
    static const struct {
        uint32_t ways, lines;
        uint64_t late;
    } at[] = {{48, 72, 10}, {8, 12, 10}, {48, 72, 7}};
    struct policy_load *const loads =
        lru_beside_others(at[_i].ways, at[_i].lines, at[_i].late);
    const struct policy_verdict v =
        policy_find(loads, LOADS, at[_i].ways, true);
    ck_assert_msg(!v.known || v.policy == POLICY_LRU, "%s, lru agrees %g",
                  cache_policy_name(v.policy), v.score[POLICY_LRU].agrees);
    ck_assert(v.known || v.late);
    ck_assert_double_gt(v.untold, 0.1);
    free(loads);
}
END_TEST

/* Chance is told where a load in ten is late, and no late ones are blamed where
 * there are none. */
START_TEST(victims_of_chance_are_told_beside_late_loads)
{
    static const uint32_t ways[] = {4, 8, 48};
    const uint32_t w = ways[_i];
    struct policy_load *const loads =
        record(POLICY_RANDOM, w, w * 3 / 2, NULL, 0, 11);
    struct rng rng;
    rng_seed(&rng, 2);
    for (size_t i = 0; i < LOADS; i++)
        if (rng_below(&rng, 10) == 0)
            loads[i].outcome = LOAD_UNKNOWN;
    const struct policy_verdict v = policy_find(loads, LOADS, w, true);
    ck_assert_msg(v.known && v.policy == POLICY_RANDOM && !v.late, "%u: %s", w,
                  cache_policy_name(v.policy));
    free(loads);
}
END_TEST

/* Where hits may cost more or less, those that do are hits. */
START_TEST(dear_hits_are_hits_where_there_may_be_some)
{
    enum { COUNT = 120 };
    struct policy_load loads[COUNT];
    double cycles[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        cycles[i] = i % 3 == 0 ? 100 : i % 3 == 1 ? 150 : 300;
    for (int alike = 0; alike < 2; alike++) {
        const struct policy_costs costs = {100, 200, .alike = alike == 1};
        policy_tell(loads, cycles, COUNT, &costs);
        ck_assert_int_eq(loads[0].outcome, LOAD_HIT);
        ck_assert_int_eq(loads[1].outcome, alike ? LOAD_UNKNOWN : LOAD_HIT);
        ck_assert_int_eq(loads[2].outcome, LOAD_MISS);
    }
}
END_TEST

Suite *suite_policy(void)
{
    TCase *t;
    Suite *const suite = suite_of("policy", 30, &t);
    tcase_add_loop_test(t, of_very_many_ways_it_is_found_again, 0,
                        COUNT_OF(kinds));
    tcase_add_loop_test(t, each_policy_is_found_again, 0, COUNT_OF(kinds));
    tcase_add_test(t, an_lru_that_may_be_a_midpoint_is_said);
    tcase_add_loop_test(t, some_loads_may_be_told_wrongly, 0, COUNT_OF(kinds));
    tcase_add_test(t, what_nothing_explains_is_not_known);
    tcase_add_test(t, what_nothing_tells_is_not_known);
    tcase_add_test(t, one_load_is_evidence);
    tcase_add_test(t, what_several_would_answer_is_ambiguous);
    tcase_add_test(t, loads_that_nobody_judges_are_no_evidence);
    tcase_add_test(t, a_late_load_that_was_answered_in_front_tells_nothing);
    tcase_add_loop_test(t, of_two_ways_a_tree_is_lru, 0, 3);
    tcase_add_loop_test(t, an_unknown_start_is_no_hindrance, 0,
                        COUNT_OF(kinds));
    tcase_add_test(t, entries_of_a_victim_buffer_are_counted);
    tcase_add_test(t, a_victim_buffer_that_holds_the_rest_tells_no_policy);
    tcase_add_test(t, victims_show_the_weights);
    tcase_add_test(t, unevenness_tells_even_from_uneven);
    tcase_add_loop_test(t, sequences_begin_anew, 0, COUNT_OF(kinds));
    tcase_add_test(t, victims_are_counted_by_their_ways);
    tcase_add_test(t, unevenness_is_what_is_more_than_chance);
    tcase_add_test(t, chance_of_random_victims_is_that_of_ways);
    tcase_add_loop_test(t, misses_cheaper_than_were_foretold_are_no_hits, 0, 2);
    tcase_add_test(t, dear_hits_are_hits_where_there_may_be_some);
    tcase_add_loop_test(t, late_misses_are_no_victims_of_chance, 0, 3);
    tcase_add_loop_test(t, victims_of_chance_are_told_beside_late_loads, 0, 3);
    return suite;
}
