/*
 * analysis/structure/conflict_set: the members of a set are found among lines that any
 * index deals, also where some answers are wrong.
 */
#include "analysis/structure/conflict_set.h"

#include <stdint.h>

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

Suite *suite_conflict_set(void)
{
    TCase *t;
    Suite *const suite = suite_of("conflict_set", 10, &t);
    tcase_add_test(t, members_are_as_many_as_ways);
    tcase_add_test(t, too_few_candidates_are_none);
    tcase_add_test(t, wrong_answers_are_taken_back);
    return suite;
}
