/*
 * analysis/structure/trace_model: what models of a cache foretell, against
 * numbers that were worked out by hand.
 */
#include "analysis/structure/trace_model.h"

#include <math.h>

#include "base/mem.h"
#include "testing.h"

enum { LINE = 128, SECTOR = 32 };

static const struct trace_range range = {.sector = SECTOR};

/* ---- models ---------------------------------------------------------------
 */

/* Eight lines in five sets from the fourth on: each has one, and three sets
 * two: the fourth, the fifth and the first. */
START_TEST(a_neighbour_takes_ways_of_sets_in_a_row)
{
    struct trace_model c = {.sets = 5, .ways = 4, .own_at = 3, .own = 8};
    static const uint64_t left[] = {2, 3, 3, 2, 2};
    for (uint64_t set = 0; set < 5; set++)
        ck_assert_uint_eq(trace_model_ways(&c, set), left[set]);
    c.own_at = 0;
    static const uint64_t from_first[] = {2, 2, 2, 3, 3};
    for (uint64_t set = 0; set < 5; set++)
        ck_assert_uint_eq(trace_model_ways(&c, set), from_first[set]);
    /* A way stays, whatever it has. */
    c.ways = 2;
    ck_assert_uint_eq(trace_model_ways(&c, 0), 1);
    ck_assert_uint_eq(trace_model_ways(&c, 4), 1);
    c.ways = 1;
    ck_assert_uint_eq(trace_model_ways(&c, 0), 1);
}
END_TEST

static bool can_be(size_t policy, uint64_t ways, bool touched)
{
    const struct trace_model c = {
        .sets = 2, .ways = ways, .policy = policy, .touched = touched};
    return trace_model_can_be(&c);
}

enum { NRU = 2, PLRU, RRIP, BEHIND = 9 };

START_TEST(what_is_a_plainer_policy_is_none)
{
    for (size_t policy = 0; policy < TRACE_POLICIES; policy++) {
        ck_assert_int_eq(can_be(policy, 1, false), policy == TRACE_LRU);
        const bool bits = policy == NRU || policy == PLRU;
        const bool behind = policy > BEHIND;
        ck_assert_int_eq(can_be(policy, 2, false), !bits && !behind);
        ck_assert_int_eq(can_be(policy, 12, false), policy != PLRU);
        ck_assert(can_be(policy, 16, false));
        ck_assert_int_eq(can_be(policy, 16, true), policy < BEHIND);
        ck_assert_int_eq(can_be(policy, 4, false), true);
        ck_assert_int_eq(can_be(policy, 3, false),
                         policy != PLRU && policy != BEHIND + 2);
    }
}
END_TEST

START_TEST(policies_of_chance_are_known)
{
    for (size_t policy = 0; policy < TRACE_POLICIES; policy++) {
        const struct trace_model c = {.policy = policy};
        const enum cache_policy is = trace_policies[policy].policy;
        ck_assert_int_eq(trace_model_is_chance(&c),
                         is == POLICY_RANDOM || is == POLICY_WEIGHTED);
    }
}
END_TEST

START_TEST(models_are_the_same_in_all)
{
    const struct trace_model a = {
        .line = 128, .sets = 3, .ways = 4, .policy = 1, .own = 2, .own_at = 1};
    struct trace_model others[7];
    for (size_t i = 0; i < COUNT_OF(others); i++)
        others[i] = a;
    others[0].line++, others[1].sets++, others[2].ways++, others[3].policy++;
    others[4].own++, others[5].own_at++, others[6].touched = true;
    ck_assert(trace_model_is_same(&a, &a));
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        ck_assert(!trace_model_is_same(&a, &others[i]));
        ck_assert_int_eq(trace_model_is_shape(&a, &others[i]),
                         i != 1 && i != 2);
    }
    ck_assert_uint_eq(trace_model_bytes(&a), 1536);
}
END_TEST

/* ---- visits ---------------------------------------------------------------
 */

enum { MOST = 64 };
static struct trace_visit visits[MOST];
static struct trace trace = {.visits = visits};

/* Lines by their numbers, a sector of each: ".": unseen, "h", "m": hit, miss.
 */
static void visit(uint64_t line, uint64_t sector, char seen)
{
    visits[trace.count++] =
        (struct trace_visit){.at = line * LINE + sector * SECTOR,
                             .seen = seen == '.'   ? TRACE_UNSEEN
                                     : seen == 'h' ? TRACE_HIT
                                                   : TRACE_MISS,
                             .call = seen != '.'};
}

static void visit_lines(const char *lines)
{
    trace.count = 0;
    for (const char *at = lines; *at != '\0'; at++)
        visit((uint64_t)(*at - 'A'), 0, 'h');
}

/* What the model foretells of them: 1 is a sure hit, 0 a sure miss. */
static void foretell(const struct trace_model *c, double *hits)
{
    struct trace_seen_visits s = trace_model_seen(&trace, &range);
    float chance[MOST];
    trace_model_foretell(&s, c, chance);
    for (size_t i = 0; i < s.count; i++)
        hits[i] = (chance[i] - TRACE_WRONG) / (1 - 2 * TRACE_WRONG);
    trace_model_free_seen(&s);
}

/* "h" and "m" of each. */
static void foretells(const struct trace_model *c, const char *wanted)
{
    double hits[MOST];
    foretell(c, hits);
    for (size_t i = 0; wanted[i] != '\0'; i++)
        ck_assert_msg(fabs(hits[i] - (wanted[i] == 'h')) < 1e-6,
                      "visit %zu: %g, not %c", i, hits[i], wanted[i]);
}

static void is_chance(const struct trace_model *c, size_t visit, double wanted)
{
    double hits[MOST];
    foretell(c, hits);
    ck_assert_double_eq_tol(hits[visit], wanted, 1e-5);
}

START_TEST(visits_that_were_seen_are_kept)
{
    trace.count = 0;
    visit(3, 1, 'm');
    visit(7, 2, '.');
    visit(3, 1, 'h');
    struct trace_seen_visits s = trace_model_seen(&trace, &range);
    ck_assert_uint_eq(s.trace.count, 3);
    ck_assert_uint_eq(s.count, 2);
    ck_assert_uint_eq(s.at[1], 3 * LINE + SECTOR);
    ck_assert(!s.hit[0] && s.hit[1]);
    ck_assert_uint_eq(trace_model_end(&trace), 7 * LINE + 2 * SECTOR + 1);
    const float chance[] = {0.25F, 0.75F};
    ck_assert_double_eq_tol(trace_model_of_seen(&s, chance), 2 * log(0.75),
                            1e-6);
    ck_assert_double_eq_tol(trace_model_mean(&s, chance), log(0.75), 1e-6);
    s.count = 1;
    ck_assert_double_eq_tol(trace_model_mean(&s, chance), log(0.75), 1e-6);
    trace_model_forget(&s);
    ck_assert(isinf(trace_model_mean(&s, chance)));
    trace_model_free_seen(&s);
}
END_TEST

START_TEST(visits_end_behind_the_furthest)
{
    visit_lines("A");
    ck_assert_uint_eq(trace_model_end(&trace), 1);
    visit_lines("DCA");
    ck_assert_uint_eq(trace_model_end(&trace), 3 * LINE + 1);
}
END_TEST

START_TEST(the_clock_may_err)
{
    ck_assert_double_eq_tol(trace_model_chance(0), 0.03, 1e-12);
    ck_assert_double_eq_tol(trace_model_chance(1), 0.97, 1e-12);
    ck_assert_double_eq_tol(trace_model_chance(0.5), 0.5, 1e-12);
}
END_TEST

START_TEST(certain_policies_foretell_hits_and_misses)
{
    struct trace_model c = {.line = LINE, .sets = 1, .ways = 2};
    visit_lines("ABACAB");
    foretells(&c, "mmhmhm");
    c.policy = TRACE_FIFO;
    foretells(&c, "mmhmmm");
    c.sets = 2; /* A and C beside B */
    foretells(&c, "mmhmhh");
    c.ways = 1;
    c.policy = TRACE_LRU;
    foretells(&c, "mmhmmh");
}
END_TEST

/* Sectors come by themselves; visits that nobody saw count. */
START_TEST(sectors_come_by_themselves)
{
    const struct trace_model c = {.line = LINE, .sets = 1, .ways = 1};
    trace.count = 0;
    visit(0, 0, 'm');
    visit(0, 1, '.');
    visit(0, 1, 'h');
    visit(0, 2, 'm');
    visit(0, 0, 'h');
    foretells(&c, "mhmh");
}
END_TEST

/* Of two sets the second has a way less: there A and C, which are even, stay,
 * B and D do not; with the neighbour in the first set it is the other way. */
START_TEST(sets_with_a_neighbour_have_fewer_ways)
{
    struct trace_model c = {
        .line = LINE, .sets = 2, .ways = 2, .own = 1, .own_at = 1};
    visit_lines("ABCDABCD");
    foretells(&c, "mmmmhmhm");
    c.own_at = 0;
    foretells(&c, "mmmmmhmh");
    c.own = 2;
    foretells(&c, "mmmmmmmm");
    c.ways = 3;
    foretells(&c, "mmmmhhhh");
    c.own = 3;
    foretells(&c, "mmmmmhmh");
    /* Three sets of five from the second on. */
    c = (struct trace_model){
        .line = LINE, .sets = 5, .ways = 2, .own = 3, .own_at = 1};
    visit_lines("ABCDEFGHIJABCDE");
    foretells(&c, "mmmmmmmmmmhmmmh");
}
END_TEST

/* A neighbour that looks for its line before each call has it as the one that
 * was used last, but for that call's. */
START_TEST(a_neighbour_that_looks_for_its_lines_keeps_them)
{
    struct trace_model c = {.line = LINE,
                            .sets = 2,
                            .ways = 2,
                            .own = 1,
                            .own_at = 1,
                            .touched = true};
    visit_lines("ABCDABCD");
    foretells(&c, "mmmmhmhm");
    c.own_at = 0;
    foretells(&c, "mmmmmhmh");
    /* Not before visits that no call made. */
    for (size_t i = 0; i < 8; i++)
        visits[i].call = false;
    foretells(&c, "mmmmhhhh");
}
END_TEST

/* Its lines are side by side, from their first set on: here in the second and
 * in the third of three. */
START_TEST(lines_of_a_neighbour_are_side_by_side)
{
    const struct trace_model c = {.line = LINE,
                                  .sets = 3,
                                  .ways = 2,
                                  .own = 2,
                                  .own_at = 1,
                                  .touched = true};
    visit_lines("ABCDEFABC");
    foretells(&c, "mmmmmmhmm");
    /* What comes ahead of the second, which C and F push out, is in the first
     * set, where D is the oldest. */
    trace.count = 0;
    visit(3, 0, 'm');
    visit(0, 0, '.');
    visit(2, 0, '.');
    visit(5, 0, '.');
    visit(5, 0, 'h');
    visit(3, 0, 'h');
    foretells(&c, "mhh");
    const struct trace_range ahead = {.sector = SECTOR, .ahead = 1};
    struct trace_seen_visits s = trace_model_seen(&trace, &ahead);
    float chance[MOST];
    trace_model_foretell(&s, &c, chance);
    ck_assert(chance[1] > 0.5 && chance[2] < 0.5);
    trace_model_free_seen(&s);
}
END_TEST

/* What comes ahead with a line of the neighbour that was pushed out. */
START_TEST(what_comes_ahead_of_a_neighbour_pushes_out)
{
    const struct trace_range ahead = {.sector = SECTOR, .ahead = 1};
    const struct trace_model c = {.line = LINE,
                                  .sets = 2,
                                  .ways = 2,
                                  .own = 1,
                                  .own_at = 0,
                                  .touched = true};
    visit_lines("BDBD"); /* of the second set, where the second line comes */
    struct trace_seen_visits s = trace_model_seen(&trace, &ahead);
    float chance[MOST];
    trace_model_foretell(&s, &c, chance);
    ck_assert(chance[2] > 0.5 && chance[3] > 0.5);
    trace_model_free_seen(&s);
    visit_lines("ACEB"); /* A and C push it out: it comes again, and another */
    visits[1].call = false;
    trace.count = 0;
    visit(1, 0, 'm');
    visit(3, 0, 'm');
    for (uint64_t line = 0; line < 4; line += 2)
        visit(line, 0, '.');
    visit(1, 0, 'h');
    visit(3, 0, 'h');
    s = trace_model_seen(&trace, &ahead);
    trace_model_foretell(&s, &c, chance);
    ck_assert(chance[2] < 0.5);
    trace_model_free_seen(&s);
    s = trace_model_seen(&trace, &range);
    trace_model_foretell(&s, &c, chance);
    ck_assert(chance[2] > 0.5 && chance[3] > 0.5);
    trace_model_free_seen(&s);
}
END_TEST

/* ---- chance ---------------------------------------------------------------
 */

/* Of four ways a line that comes in pushes out another one time in four; a hit
 * that was seen brings none in. */
START_TEST(random_victims_are_of_any_way)
{
    struct trace_model c = {
        .line = LINE, .sets = 1, .ways = 4, .policy = TRACE_RANDOM};
    trace.count = 0;
    visit(0, 0, 'm');
    visit(1, 0, 'm');
    visit(0, 0, 'h');
    visit(2, 0, 'm');
    visit(3, 0, 'm');
    visit(1, 0, 'm');
    visit(1, 0, 'h');
    visit(0, 0, 'h');
    is_chance(&c, 0, 0);
    is_chance(&c, 2, 0.75);
    is_chance(&c, 5, pow(0.75, 2));
    is_chance(&c, 6, 1);
    is_chance(&c, 7, pow(0.75, 3));
    c.sets = 2; /* 0 and 2, 1 and 3 */
    is_chance(&c, 5, 0.75);
    is_chance(&c, 7, 0.75);
    /* One way keeps nothing, but for the clock. */
    c.sets = c.ways = 1;
    ck_assert(trace_model_ways(&c, 0) == 1);
    is_chance(&c, 2, 0.001 / 1.001);
}
END_TEST

/* What nobody saw came in as likely as it was not there. */
START_TEST(visits_that_nobody_saw_come_in_by_chance)
{
    const struct trace_model c = {
        .line = LINE, .sets = 1, .ways = 4, .policy = TRACE_RANDOM};
    trace.count = 0;
    visit(0, 0, 'm');
    visit(1, 0, 'm');
    visit(0, 0, '.'); /* there at 3/4 */
    visit(1, 0, 'h'); /* pushed out by a fourth of a line */
    visit(0, 0, 'h');
    is_chance(&c, 2, pow(0.75, 0.25));
    is_chance(&c, 3, 1);
}
END_TEST

/* Another sector of a line misses, and if that is there it brings none in. */
START_TEST(another_sector_is_in_the_same_line)
{
    const struct trace_model c = {
        .line = LINE, .sets = 1, .ways = 4, .policy = TRACE_RANDOM};
    trace.count = 0;
    visit(0, 0, 'm');
    visit(1, 0, 'm');
    visit(0, 1, 'm'); /* of a line that is there at 3/4 */
    visit(1, 0, 'h');
    visit(0, 0, 'h');
    visit(0, 1, 'h');
    is_chance(&c, 2, 0);
    is_chance(&c, 3, pow(0.75, 0.25));
    is_chance(&c, 4, 0.75); /* or the line came with the other one alone */
    is_chance(&c, 5, 1);
    visits[4].seen = TRACE_MISS; /* it did, and has both since */
    is_chance(&c, 5, 1);
    visits[4].seen = TRACE_HIT;
    visits[2].seen = TRACE_HIT; /* whatever: a hit brings nothing in */
    is_chance(&c, 3, 1);
    visits[2] = (struct trace_visit){.at = 0, .seen = TRACE_MISS};
    is_chance(&c, 3, 0.75); /* the line itself was not there */
}
END_TEST

/* Of two sectors the second is missed though it is there at 15/16, be it by a
 * call that returned late, and the first, which came before, hits next.
 * Expected: that its line is gone as likely as that the clock was right.  Buggy
 * result: surely. */
START_TEST(a_miss_that_may_be_a_late_hit_leaves_the_line)
{
    const struct trace_model c = {
        .line = LINE, .sets = 1, .ways = 16, .policy = TRACE_RANDOM};
    const double there = 15.0 / 16;
    trace.count = 0;
    visit(0, 0, 'm');
    visit(0, 1, 'm');
    visit(1, 0, 'm'); /* it pushes out one of sixteen */
    visit(0, 1, 'm');
    visit(0, 0, 'h');
    is_chance(&c, 3, there);
    is_chance(&c, 4, 0.03 * there / (0.03 * there + 1 - there));
    visits[3].seen = TRACE_HIT;
    is_chance(&c, 4, 1);
}
END_TEST

/* Of ways that weigh unlike: by the mean of (1 - w)^n over gamma weights, and
 * what stayed n lines weighs less. */
START_TEST(ways_that_weigh_unlike_keep_longer_what_stayed)
{
    const struct trace_model c = {
        .line = LINE, .sets = 1, .ways = 4, .policy = TRACE_MOST_WEIGHTED};
    const double u = 1.0 / 3;
    visit_lines("ABACADA");
    for (size_t i = 0; i < trace.count; i++)
        visits[i].seen = i % 2 == 0 && i > 0 ? TRACE_HIT : TRACE_MISS;
    double before = 0;
    for (size_t i = 2; i <= 6; i += 2, before++)
        is_chance(&c, i, pow(1 + u / (4 + before * u), -1 - 1 / u));
    /* What is missed begins anew. */
    visits[4].seen = TRACE_MISS;
    is_chance(&c, 6, pow(1 + u / 4, -1 - 1 / u));
    /* A fourth as unlike. */
    struct trace_model less = c;
    less.policy = TRACE_WEIGHTED;
    is_chance(&less, 2, pow(1 + u / 16, -1 - 4 / u));
}
END_TEST

/* ---- several ---------------------------------------------------------------
 */

/* What was foretold is kept: of models that are the same when all sets have the
 * same ways, once. */
START_TEST(what_was_foretold_is_kept)
{
    visit_lines("ABCDABCD");
    struct trace_seen_visits s = trace_model_seen(&trace, &range);
    const struct trace_model models[] = {
        {.line = LINE, .sets = 2, .ways = 2},
        {.line = LINE, .sets = 2, .ways = 2, .own = 1},
        {.line = LINE, .sets = 2, .ways = 3, .own = 2, .own_at = 1},
        {.line = LINE, .sets = 2, .ways = 1, .own = 5},
        {.line = LINE, .sets = 2, .ways = 2, .own = 1, .touched = true},
        {.line = LINE, .sets = 2, .ways = 3, .own = 4},
    };
    trace_model_expect(&s, models + 4, 1);
    ck_assert_uint_eq(s.foretolds, 1);
    trace_model_expect(&s, models + 5, 1);
    ck_assert_uint_eq(s.foretolds, 2);
    trace_model_expect(&s, models, COUNT_OF(models));
    /* Two ways and one, and two with the neighbour. */
    ck_assert_uint_eq(s.foretolds, 3);
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        float chance[MOST], alone[MOST];
        struct trace_seen_visits other = trace_model_seen(&trace, &range);
        trace_model_foretell(&s, &models[i], chance);
        trace_model_foretell(&other, &models[i], alone);
        for (size_t k = 0; k < s.count; k++)
            ck_assert_double_eq(chance[k], alone[k]);
        trace_model_free_seen(&other);
    }
    ck_assert_uint_eq(s.foretolds, 3);
    const struct trace_model other = {.line = LINE, .sets = 1, .ways = 2};
    const float *const even = trace_model_even(&s, &other);
    ck_assert_uint_eq(s.foretolds, 4);
    ck_assert_ptr_eq(trace_model_even(&s, &other), even);
    trace_model_free_seen(&s);
}
END_TEST

Suite *suite_trace_model(void)
{
    TCase *t;
    Suite *const suite = suite_of("trace_model", 5, &t);
    tcase_add_test(t, a_neighbour_takes_ways_of_sets_in_a_row);
    tcase_add_test(t, what_is_a_plainer_policy_is_none);
    tcase_add_test(t, policies_of_chance_are_known);
    tcase_add_test(t, models_are_the_same_in_all);
    tcase_add_test(t, visits_that_were_seen_are_kept);
    tcase_add_test(t, visits_end_behind_the_furthest);
    tcase_add_test(t, the_clock_may_err);
    tcase_add_test(t, certain_policies_foretell_hits_and_misses);
    tcase_add_test(t, sectors_come_by_themselves);
    tcase_add_test(t, sets_with_a_neighbour_have_fewer_ways);
    tcase_add_test(t, a_neighbour_that_looks_for_its_lines_keeps_them);
    tcase_add_test(t, lines_of_a_neighbour_are_side_by_side);
    tcase_add_test(t, what_comes_ahead_of_a_neighbour_pushes_out);
    tcase_add_test(t, random_victims_are_of_any_way);
    tcase_add_test(t, visits_that_nobody_saw_come_in_by_chance);
    tcase_add_test(t, another_sector_is_in_the_same_line);
    tcase_add_test(t, a_miss_that_may_be_a_late_hit_leaves_the_line);
    tcase_add_test(t, ways_that_weigh_unlike_keep_longer_what_stayed);
    tcase_add_test(t, what_was_foretold_is_kept);
    return suite;
}
