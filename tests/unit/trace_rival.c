/*
 * analysis/structure/trace_rival: where its judgements turn, on visits whose
 * outcome is written down: a case on each side of every limit.
 */
#include "analysis/structure/trace_rival.h"

#include <math.h>

#include "testing.h"

enum { MOST = 5000 };
#define HITS   (31.0 / 32)
#define MISSES (1.0 / 32)

/* What two rivals foretell of visits, and what became of them. */
static float one_says[MOST], two_says[MOST];
static bool hit[MOST];
static struct trace_outcome outcome;
static struct trace_rival one, two;

static void begin(void)
{
    outcome = (struct trace_outcome){.hit = hit};
    one = two = (struct trace_rival){.c = {.line = 128, .sets = 8, .ways = 4}};
    one.chance = one_says;
    two.chance = two_says;
}

static void say(size_t n, double by_one, double by_two, bool hits)
{
    for (size_t i = 0; i < n; i++) {
        one_says[outcome.count] = (float)by_one;
        two_says[outcome.count] = (float)by_two;
        hit[outcome.count++] = hits;
    }
}

/* Those after it are of the next kind. */
static void end(enum trace_kind kind)
{
    for (size_t i = kind; i < TRACE_KINDS; i++)
        outcome.end[i] = outcome.count;
}

/* Behind the last visit stands one that nobody may look at. */
static void weigh(void)
{
    end(TRACE_FITTING);
    say(1, HITS, MISSES, false);
    outcome.count--;
    trace_rival_weigh(&one, &outcome);
    trace_rival_weigh(&two, &outcome);
}

/* ---- weighing --------------------------------------------------------- */

/* Of a certain model by how often what it says comes about: a half is a miss;
 * and always is no more often than any hit is foretold with. */
START_TEST(certain_models_weigh_by_what_came_about)
{
    begin();
    say(1, HITS, HITS, false);
    say(3, HITS, HITS, true);
    say(1, MISSES, MISSES, true);
    say(4, MISSES, MISSES, false);
    end(TRACE_MIXED);
    say(2, HITS, HITS, true);
    end(TRACE_APART);
    say(1, 0.5, HITS, true);
    say(2, 0.5, HITS, false);
    weigh();
    ck_assert_double_eq(one.agree, 11);
    ck_assert_double_eq(two.agree, 10);
    const double mixed = 3 * log(0.75) + log(0.25) + 4 * log(0.8) + log(0.2);
    ck_assert_double_eq_tol(one.likelihood[TRACE_MIXED], mixed, 1e-9);
    ck_assert_double_eq_tol(one.likelihood[TRACE_APART],
                            2 * log(1 - TRACE_WRONG), 1e-9);
    ck_assert_double_eq_tol(one.likelihood[TRACE_FITTING],
                            log(1.0 / 3) + 2 * log(2.0 / 3), 1e-9);
    ck_assert_double_eq(trace_rival_missed(&one, &outcome), 1);
    ck_assert_double_eq(trace_rival_agrees(&one, &outcome), 11.0 / 14);
}
END_TEST

/* … of chance by the chances, and of both as a sum over the kinds. */
START_TEST(models_of_chance_weigh_by_their_chances)
{
    begin();
    one.c.policy = TRACE_RANDOM;
    say(3, 0.25, HITS, true);
    say(2, 0.75, HITS, false);
    end(TRACE_MIXED);
    say(1, 0.75, HITS, true);
    say(1, 0.75, HITS, false);
    weigh();
    ck_assert_double_eq_tol(one.likelihood[TRACE_MIXED], 5 * log(0.25), 1e-9);
    ck_assert_double_eq_tol(one.likelihood[TRACE_APART], 0, 1e-9);
    const double fitting = log(0.75) + log(0.25);
    ck_assert_double_eq_tol(one.likelihood[TRACE_FITTING], fitting, 1e-9);
    const double other = 3 * log(0.6) + 2 * log(0.4) + 2 * log(0.5);
    ck_assert_double_eq_tol(trace_rival_lead(&one, &two),
                            5 * log(0.25) + fitting - other, 1e-9);
}
END_TEST

/* ---- explaining --------------------------------------------------------- */

/* So many hits and misses, of each so many that are not as foretold. */
static bool explains(size_t hits, size_t misses, size_t wrong, size_t fitting,
                     size_t missed)
{
    begin();
    say(hits - wrong / 2, HITS, 0, true);
    say(wrong / 2, MISSES, 0, true);
    say(misses - (wrong - wrong / 2), MISSES, 0, false);
    say(wrong - wrong / 2, HITS, 0, false);
    end(TRACE_APART);
    say(fitting - missed, HITS, 0, true);
    say(missed, MISSES, 0, true);
    weigh();
    return trace_rival_explains(&one, &outcome);
}

/* 0.42 of the hits, or of the misses. */
START_TEST(few_of_what_is_rarer_are_foretold_wrongly)
{
    ck_assert(explains(100, 200, 42, 0, 0));
    ck_assert(!explains(100, 200, 43, 0, 0));
    ck_assert(explains(200, 100, 42, 0, 0));
    ck_assert(!explains(200, 100, 43, 0, 0));
}
END_TEST

/* Of 300 the clock tells 9 wrongly, and by chance at most five times 3 more. */
START_TEST(lines_that_fit_miss_as_the_clock_errs)
{
    ck_assert(explains(700, 700, 0, 300, 24));
    ck_assert(!explains(700, 700, 0, 300, 25));
}
END_TEST

/* A fourth and three fourths are foretold, in equal shares, and of each so many
 * more hit, or less. */
static bool chance_explains(size_t seen, int first, int second, uint64_t sets)
{
    const size_t quarter = seen / 8;
    begin();
    one.c.policy = TRACE_RANDOM;
    one.c.sets = sets;
    say((size_t)((int)quarter + first), 0.25, 0, true);
    say((size_t)((int)(3 * quarter) - first), 0.25, 0, false);
    say((size_t)((int)(3 * quarter) + second), 0.75, 0, true);
    say((size_t)((int)quarter - second), 0.75, 0, false);
    end(TRACE_MIXED);
    weigh();
    return trace_rival_explains(&one, &outcome);
}

/* Fewer than six in a hundred are off. */
START_TEST(as_many_hit_as_chance_has_it)
{
    ck_assert(chance_explains(1600, 0, 0, 2));
    ck_assert(chance_explains(1600, 95, 0, 2));
    ck_assert(!chance_explains(1600, 96, 0, 2));
    ck_assert(chance_explains(1600, 0, -95, 2));
    ck_assert(!chance_explains(1600, 0, -96, 2));
    ck_assert(!chance_explains(1600, 48, -48, 2));
    ck_assert(chance_explains(1600, 48, -47, 2));
}
END_TEST

/* A hundred places of 16 visits each, of which at so many more hit than is
 * foretold by a fourth, and at as many less. */
static bool places_explain(size_t off, bool known)
{
    static uint64_t at[MOST];
    begin();
    one.c.policy = TRACE_RANDOM;
    for (size_t place = 0; place < 100; place++) {
        const size_t hits = place < off ? 4 : place < 2 * off ? 0 : 2;
        for (size_t i = 0; i < 16; i++)
            at[outcome.count + i] = 100 - place;
        say(hits, 0.25, 0, true);
        say(8 - hits, 0.25, 0, false);
        say(4 + hits, 0.75, 0, true);
        say(4 - hits, 0.75, 0, false);
    }
    outcome.at = known ? at : NULL;
    end(TRACE_MIXED);
    weigh();
    return trace_rival_explains(&one, &outcome);
}

/* Of each place, too, though by three deviations more: 127 of 25600, and six in
 * a hundred are 92 of their squares.  Those that are off have 13 more than
 * chance, the others three less. */
START_TEST(as_many_hit_as_chance_has_it_at_each_place)
{
    ck_assert(places_explain(0, true));
    ck_assert(places_explain(16, true));
    ck_assert(!places_explain(17, true));
    ck_assert(places_explain(17, false));
}
END_TEST

/* What has nearly one chance is looked at together: what is off of 0.72 and the
 * contrary of 0.78, not that of 0.83. */
START_TEST(chances_that_are_nearly_one_are_one)
{
    for (int apart = 0; apart < 2; apart++) {
        const double other = apart ? 0.83 : 0.78;
        begin();
        one.c.policy = TRACE_RANDOM;
        say(1000, 1.0 / 1024, 0, false);
        say(820, 0.72, 0, true);
        say(180, 0.72, 0, false);
        say(680, other, 0, true);
        say(320, other, 0, false);
        end(TRACE_MIXED);
        weigh();
        ck_assert_int_eq(trace_rival_explains(&one, &outcome), !apart);
    }
}
END_TEST

/* … and it is e^50 times likelier than one chance of all: each visit is so by
 * 0.1308.  Of one set it tells nothing. */
START_TEST(chance_is_likelier_than_one_chance_of_all)
{
    ck_assert(!chance_explains(376, 0, 0, 2));
    ck_assert(chance_explains(384, 0, 0, 2));
    ck_assert(!chance_explains(1600, 0, 0, 1));
    ck_assert(!chance_explains(48, 0, 0, 2));
}
END_TEST

/* So many visits apart, of a chance, of which so many hit. */
static bool apart_explains(size_t seen, double chance, size_t hits)
{
    chance_explains(1600, 0, 0, 2);
    say(hits, chance, 0, true);
    say(seen - hits, chance, 0, false);
    outcome.end[TRACE_APART] = outcome.end[TRACE_FITTING] = outcome.count;
    trace_rival_weigh(&one, &outcome);
    return trace_rival_explains(&one, &outcome);
}

/* 50 of 200 are foretold: of h that hit a fourth may be off, and sqrt(10 h +
 * 10): 23.5 of 27, and 22.9 of 26.  Of fewer than a hundred all may. */
START_TEST(visits_apart_are_off_by_a_part_of_what_is_rarer)
{
    ck_assert(apart_explains(200, 0.25, 50));
    ck_assert(apart_explains(200, 0.25, 27));
    ck_assert(!apart_explains(200, 0.25, 26));
    ck_assert(apart_explains(200, 0.75, 173));
    ck_assert(!apart_explains(200, 0.75, 174));
    ck_assert(apart_explains(99, 0.75, 0));
    ck_assert(!apart_explains(100, 0.75, 0));
    /* 12.25 of 9, and sqrt(10) of none. */
    ck_assert(apart_explains(170, 0.125, 9));
    ck_assert(!apart_explains(128, 1.0 / 32, 0));
}
END_TEST

/* ---- two models --------------------------------------------------------- */

/* Both are right about `same` hits and misses each; of `differ` of either the
 * first is right about so many. */
static void oppose(size_t same, size_t differ, size_t right)
{
    say(same, HITS, HITS, true);
    say(same, MISSES, MISSES, false);
    say(right / 2, HITS, MISSES, true);
    say(differ / 2 - right / 2, HITS, MISSES, false);
    say(right - right / 2, MISSES, HITS, false);
    say(differ - differ / 2 - (right - right / 2), MISSES, HITS, true);
}

static bool is_behind(void)
{
    weigh();
    return trace_rival_is_behind(&one, &two, &outcome);
}

static bool is_right(size_t right, bool of_shape)
{
    begin();
    two.c.policy = TRACE_FIFO;
    two.c.ways += !of_shape;
    oppose(1000, 400, right);
    return is_behind();
}

/* Three of four; of another shape five deviations of a coin more than half. */
START_TEST(the_better_one_is_right_where_they_differ)
{
    ck_assert(is_right(300, true));
    ck_assert(!is_right(299, true));
    ck_assert(is_right(250, false));
    ck_assert(!is_right(249, false));
}
END_TEST

/* Both are wrong about `same` visits, and the first about so few that it leads
 * by e^10 and more: of 16 three deviations are 12. */
static bool is_less_wrong(size_t same, size_t differ, size_t right)
{
    begin();
    two.c.ways++;
    oppose(1000, differ, right);
    say(same, HITS, HITS, false);
    return is_behind();
}

START_TEST(the_better_one_is_wrong_about_fewer)
{
    ck_assert(is_less_wrong(16, 12, 12));
    ck_assert(!is_less_wrong(16, 10, 10));
    ck_assert(is_less_wrong(0, 4, 4));
    /* What it alone is wrong about is of the 16, too. */
    ck_assert(is_less_wrong(14, 16, 14));
    ck_assert(!is_less_wrong(16, 16, 14));
}
END_TEST

/* … so that what nearly all hit tells it from none of chance that foretells the
 * same.  Expected: nothing.  Buggy result: a lead of e^30 of 1000 visits. */
START_TEST(what_is_sure_tells_no_policy)
{
    begin();
    two.c.policy = TRACE_RANDOM;
    end(TRACE_MIXED);
    say(1000, HITS, HITS, true);
    end(TRACE_APART);
    weigh();
    /* They are foretold with a little less. */
    ck_assert_double_eq_tol(trace_rival_lead(&one, &two), 0, 2);
}
END_TEST

/* Of lines unlike it does that one leads by e^10: of more visits that both are
 * right about by more, from e^7.6 to e^10.1. */
START_TEST(a_lead_is_more_than_luck)
{
    for (size_t same = 4; same <= 10; same++) {
        begin();
        two.c.line = 256;
        oppose(same, 4, 4);
        weigh();
        ck_assert_int_eq(trace_rival_is_behind(&one, &two, &outcome),
                         trace_rival_lead(&one, &two) >= 10);
    }
    ck_assert_double_gt(trace_rival_lead(&one, &two), 10);
    ck_assert_double_lt(trace_rival_lead(&one, &two), 10.5);
    /* Of chance it counts whatever they foretell. */
    begin();
    one.c.policy = TRACE_RANDOM;
    end(TRACE_FITTING);
    two.likelihood[TRACE_APART] = -10;
    ck_assert(trace_rival_is_behind(&one, &two, &outcome));
    two.likelihood[TRACE_APART] = -9.99;
    ck_assert(!trace_rival_is_behind(&one, &two, &outcome));
    one.c.policy = TRACE_LRU;
    two.c.policy = TRACE_MOST_WEIGHTED;
    two.likelihood[TRACE_MIXED] = -0.02;
    ck_assert(trace_rival_is_behind(&one, &two, &outcome));
}
END_TEST

/* What the one kind shows counts where another shows a tenth of the contrary.
 */
static double shown_times(size_t mixed, bool *behind)
{
    begin();
    two.c.line = 256;
    oppose(1000, mixed, mixed);
    end(TRACE_MIXED);
    oppose(1000, 4, 0);
    *behind = is_behind();
    double lead[TRACE_KINDS];
    for (size_t i = 0; i < TRACE_KINDS; i++)
        lead[i] = one.likelihood[i] - two.likelihood[i];
    return lead[TRACE_MIXED] / -lead[TRACE_FITTING];
}

START_TEST(the_contrary_counts_ten_times)
{
    bool was = false, behind;
    for (size_t mixed = 40; mixed <= 120; mixed += 2) {
        const double times = shown_times(mixed, &behind);
        ck_assert_int_eq(behind, times > 10);
        ck_assert(behind || !was);
        was = behind;
    }
    ck_assert(was);
}
END_TEST

/* With the same ways in all sets nothing tells them apart; a line, a set, a way
 * or a policy more does. */
START_TEST(the_same_room_is_not_behind)
{
    begin();
    oppose(1000, 400, 400);
    ck_assert(!is_behind());
    two.c.ways++;
    ck_assert(is_behind());
    two.c.own = two.c.sets;
    ck_assert(!is_behind());
    two.c.own--; /* the last set has one more, or the first */
    ck_assert(is_behind());
    two.c.own_at = 1;
    ck_assert(is_behind());
    two = one;
    two.chance = two_says;
    two.c.sets++;
    ck_assert(is_behind());
    two.c.sets--;
    two.c.line *= 2;
    ck_assert(is_behind());
    two.c.line /= 2;
    two.c.policy = TRACE_FIFO;
    ck_assert(is_behind());
}
END_TEST

/* Visits of many lines tell policies, if more than a fifth hits and misses:
 * they alone.  Here they are for the other. */
static bool many_tell(size_t hits, size_t misses)
{
    begin();
    two.c.policy = TRACE_FIFO;
    oppose(1000, 1600, 1600);
    outcome.many = outcome.count;
    say(hits, MISSES, HITS, true);
    say(misses, HITS, MISSES, false);
    outcome.many_end = outcome.count;
    const bool behind = is_behind();
    const double all = one.agree / (double)outcome.count;
    ck_assert_double_eq(trace_rival_agrees(&one, &outcome), all);
    ck_assert_double_eq(trace_rival_agrees(&two, &outcome),
                        behind ? two.agree / (double)outcome.count : 1);
    return !behind;
}

START_TEST(visits_of_many_lines_tell_policies)
{
    ck_assert(many_tell(81, 319));
    ck_assert(!many_tell(80, 320));
    ck_assert(many_tell(319, 81));
    ck_assert(!many_tell(320, 80));
}
END_TEST

/* Visits of which so many are of many lines, where one of ten is wrong, and all
 * of the others. */
START_TEST(what_agrees_is_counted_where_many_lines_are)
{
    begin();
    say(100, HITS, 0, false);
    outcome.many = outcome.count;
    say(180, HITS, 0, true);
    say(180, MISSES, 0, false);
    say(40, HITS, 0, false);
    outcome.many_end = outcome.count;
    weigh();
    ck_assert_double_eq(trace_rival_agrees(&one, &outcome), 0.9);
}
END_TEST

Suite *suite_trace_rival(void)
{
    TCase *t;
    Suite *const suite = suite_of("trace_rival", 5, &t);
    tcase_add_test(t, certain_models_weigh_by_what_came_about);
    tcase_add_test(t, models_of_chance_weigh_by_their_chances);
    tcase_add_test(t, few_of_what_is_rarer_are_foretold_wrongly);
    tcase_add_test(t, lines_that_fit_miss_as_the_clock_errs);
    tcase_add_test(t, as_many_hit_as_chance_has_it);
    tcase_add_test(t, as_many_hit_as_chance_has_it_at_each_place);
    tcase_add_test(t, chances_that_are_nearly_one_are_one);
    tcase_add_test(t, chance_is_likelier_than_one_chance_of_all);
    tcase_add_test(t, visits_apart_are_off_by_a_part_of_what_is_rarer);
    tcase_add_test(t, the_better_one_is_right_where_they_differ);
    tcase_add_test(t, the_better_one_is_wrong_about_fewer);
    tcase_add_test(t, what_is_sure_tells_no_policy);
    tcase_add_test(t, a_lead_is_more_than_luck);
    tcase_add_test(t, the_contrary_counts_ten_times);
    tcase_add_test(t, the_same_room_is_not_behind);
    tcase_add_test(t, visits_of_many_lines_tell_policies);
    tcase_add_test(t, what_agrees_is_counted_where_many_lines_are);
    return suite;
}
