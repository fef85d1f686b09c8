/*
 * analysis/structure/conflict_set: the members of a set are found among lines
 * that any index deals, also where some answers are wrong.
 */
#include "analysis/structure/conflict_set.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "testing.h"

/* A cache that puts a line into the set of a hash; line 0 is the target. */
struct hashed {
    size_t sets, ways, asked;
    uint64_t wrong; /* one answer in so many; 0: none */
    struct rng rng;
};

static size_t set_of(const struct hashed *h, size_t line)
{
    return ((line + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % h->sets;
}

static bool crowds(void *context, const size_t *kept, size_t count,
                   size_t prefix)
{
    struct hashed *const h = context;
    size_t conflicts = 0;
    h->asked++;
    for (size_t i = 0; i < count; i++)
        conflicts += set_of(h, kept[i] + 1) == set_of(h, 0);
    for (size_t i = 0; i < prefix; i++)
        conflicts += set_of(h, i + 1) == set_of(h, 0);
    const bool wrong = h->wrong > 0 && rng_below(&h->rng, h->wrong) == 0;
    return (conflicts >= h->ways) != wrong;
}

static size_t find(struct hashed *h, size_t candidates, size_t most)
{
    size_t members[64];
    const struct conflict_test test = {h, crowds, NULL};
    rng_seed(&h->rng, 3);
    const size_t count = conflict_set(&test, candidates, most, members);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(set_of(h, members[i] + 1), set_of(h, 0));
    return count;
}

START_TEST(members_are_as_many_as_ways)
{
    for (size_t ways = 1; ways <= 32; ways++) {
        struct hashed h = {.sets = 16 + 5 * ways, .ways = ways};
        ck_assert_uint_eq(find(&h, 3 * h.sets * ways, 64), ways);
        ck_assert_uint_le(h.asked, (ways + 1) * 18);
    }
}
END_TEST

START_TEST(too_few_candidates_are_none)
{
    struct hashed h = {.sets = 64, .ways = 8};
    ck_assert_uint_eq(find(&h, 100, 64), 0);
    ck_assert_uint_eq(find(&h, 2000, 7), 0);
}
END_TEST

START_TEST(wrong_answers_are_taken_back)
{
    struct hashed h = {.sets = 64, .ways = 4, .wrong = 100};
    ck_assert_uint_eq(find(&h, 1000, 64), 4);
}
END_TEST

/* Candidates that are of the target's set are written down; so many crowd it.
 */
struct written {
    const char *members;
    size_t ways, asked;
};

static bool crowds_written(void *context, const size_t *kept, size_t count,
                           size_t prefix)
{
    struct written *const w = context;
    size_t conflicts = 0;
    w->asked++;
    for (size_t i = 0; i < count; i++)
        conflicts += w->members[kept[i]] == 'x';
    for (size_t i = 0; i < prefix; i++)
        conflicts += w->members[i] == 'x';
    return conflicts >= w->ways;
}

static size_t find_written(struct written *w, size_t candidates, size_t most)
{
    size_t *const members = xcalloc(most, sizeof *members);
    const struct conflict_test test = {w, crowds_written, NULL};
    const size_t count = conflict_set(&test, candidates, most, members);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(w->members[members[i]], 'x');
    free(members);
    return count;
}

START_TEST(the_shortest_prefix_crowds)
{
    for (size_t ways = 1; ways <= 8; ways++) {
        struct written w = {"xxxxxxxx", ways, 0};
        const struct conflict_test test = {&w, crowds_written, NULL};
        ck_assert_uint_eq(conflict_prefix(&test, NULL, 0, 8), ways);
        /* Where all are needed one question shows it. */
        w.asked = 0;
        ck_assert_uint_eq(conflict_prefix(&test, NULL, 0, ways), ways);
        ck_assert_uint_eq(w.asked, ways > 1);
    }
}
END_TEST

/* One that is not of the set, wherever it stands. */
START_TEST(a_needless_candidate_is_left_out)
{
    static const char *const texts[] = {".xxxx", "x.xxx", "xx.xx", "xxx.x",
                                        "xxxx."};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        ck_assert_uint_eq(find_written(&(struct written){texts[i], 4, 0}, 5, 5),
                          4);
        ck_assert_uint_eq(find_written(&(struct written){texts[i], 4, 0}, 5, 4),
                          4);
        ck_assert_uint_eq(find_written(&(struct written){texts[i], 4, 0}, 5, 3),
                          0);
        ck_assert_uint_eq(find_written(&(struct written){texts[i], 5, 0}, 5, 5),
                          0);
    }
    ck_assert_uint_eq(find_written(&(struct written){"xxxx", 4, 0}, 4, 4), 4);
}
END_TEST

/* One answer in 100 is wrong: most sets are found whole, and none is too large
 * by much. */
START_TEST(wrong_answers_are_mostly_taken_back)
{
    enum { SETS = 40 };
    size_t right = 0;
    for (size_t i = 0; i < SETS; i++) {
        struct hashed h = {.sets = 48 + i, .ways = 4, .wrong = 100};
        size_t members[64];
        const struct conflict_test test = {&h, crowds, NULL};
        rng_seed(&h.rng, i);
        const size_t count = conflict_set(&test, 1000, 64, members);
        bool all = count == 4;
        for (size_t k = 0; k < count; k++)
            all = all && set_of(&h, members[k] + 1) == set_of(&h, 0);
        right += all;
    }
    ck_assert_uint_ge(right, 34);
}
END_TEST

Suite *suite_conflict_set(void)
{
    TCase *t;
    Suite *const suite = suite_of("conflict_set", 10, &t);
    tcase_add_test(t, members_are_as_many_as_ways);
    tcase_add_test(t, too_few_candidates_are_none);
    tcase_add_test(t, wrong_answers_are_taken_back);
    tcase_add_test(t, the_shortest_prefix_crowds);
    tcase_add_test(t, a_needless_candidate_is_left_out);
    tcase_add_test(t, wrong_answers_are_mostly_taken_back);
    return suite;
}
