/* Rings: which elements are visited, and in which order. */
#include "probe/walk/ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "testing.h"

struct ring {
    uint64_t *at;
    size_t count;
};

static struct ring ring_of(const struct ring_plan *plan)
{
    struct ring ring;
    ring.at = ring_order(plan, &ring.count);
    return ring;
}

/* RING(.bytes = 4096, .stride = 128) */
#define RING(...) ring_of(&(struct ring_plan){__VA_ARGS__})

static bool equal(const struct ring *a, const struct ring *b)
{
    return a->count == b->count &&
           memcmp(a->at, b->at, a->count * sizeof *a->at) == 0;
}

static void assert_ascends(const struct ring *ring)
{
    for (size_t i = 1; i < ring->count; i++)
        ck_assert_uint_lt(ring->at[i - 1], ring->at[i]);
}

/* Every element that the plan has is visited, and none twice. */
static void assert_whole(const struct ring *ring, const struct ring_plan *plan)
{
    struct ring sorted = {.count = ring->count};
    sorted.at = xreallocarray(NULL, ring->count, sizeof *ring->at);
    memcpy(sorted.at, ring->at, ring->count * sizeof *ring->at);
    qsort(sorted.at, sorted.count, sizeof *sorted.at, u64_compare);
    ck_assert_uint_eq(ring->count,
                      (plan->bytes + plan->stride - 1) / plan->stride);
    for (size_t i = 0; i < sorted.count; i++)
        ck_assert_uint_eq(sorted.at[i], i * plan->stride);
    free(sorted.at);
}

enum { MIB = 1 << 20, W = 65536 };

/* A row of a table of plans, which have some of the fields. */
#define PLAN(...)                                                              \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

static const struct ring_plan whole[] = {
    PLAN(.bytes = 4096, .stride = 128),
    PLAN(.bytes = 4096, .stride = 4096),
    PLAN(.bytes = 4097, .stride = 4096),
    PLAN(.bytes = 1000, .stride = 24),
    PLAN(.bytes = MIB, .stride = 128, .random = true),
    PLAN(.bytes = MIB, .stride = 128, .random = true, .window = W),
    PLAN(.bytes = MIB, .stride = 128, .window = 4096),
    PLAN(.bytes = 100000, .stride = 96, .random = true, .window = 4096),
    PLAN(.bytes = 4096, .stride = 256, .random = true, .window = 128),
    PLAN(.bytes = 4096, .stride = 128, .random = true, .sample = 1000),
};

START_TEST(every_element_is_visited_once)
{
    struct ring ring = ring_of(&whole[_i]);
    assert_whole(&ring, &whole[_i]);
    free(ring.at);
}
END_TEST

START_TEST(sequential_is_in_order_of_address)
{
    struct ring ring = RING(.bytes = 8192, .stride = 64);
    assert_ascends(&ring);
    free(ring.at);
}
END_TEST

START_TEST(same_seed_same_order)
{
    const struct ring_plan plan = {
        .bytes = 65536, .stride = 64, .random = true, .seed = 7};
    struct ring a = ring_of(&plan), b = ring_of(&plan);
    ck_assert(equal(&a, &b));
    free(a.at);
    free(b.at);
}
END_TEST

START_TEST(other_seed_other_order)
{
    struct ring_plan plan = {.bytes = 65536, .stride = 64, .random = true};
    struct ring a = ring_of(&plan);
    plan.seed = 1;
    struct ring b = ring_of(&plan);
    ck_assert(!equal(&a, &b));
    free(a.at);
    free(b.at);
}
END_TEST

/* A prefetcher that follows strides finds none: of 1023 steps hardly any goes
 * to the neighbour. */
START_TEST(random_is_not_sequential)
{
    struct ring ring = RING(.bytes = 131072, .stride = 128, .random = true);
    size_t next = 0;
    for (size_t i = 1; i < ring.count; i++)
        next += ring.at[i] == ring.at[i - 1] + 128;
    ck_assert_uint_lt(next, 10);
    free(ring.at);
}
END_TEST

START_TEST(a_window_is_left_when_it_is_done)
{
    const struct ring_plan plan = {.bytes = 1 << 20,
                                   .stride = 128,
                                   .random = true,
                                   .window = 65536,
                                   .seed = 5};
    struct ring ring = ring_of(&plan);
    for (size_t i = 0; i < ring.count; i++)
        ck_assert_uint_eq(ring.at[i] / 65536, i / 512);
    free(ring.at);
}
END_TEST

START_TEST(windows_differ_in_order)
{
    struct ring ring =
        RING(.bytes = 131072, .stride = 128, .random = true, .window = 65536);
    size_t alike = 0;
    for (size_t i = 0; i < 512; i++)
        alike += ring.at[i] + 65536 == ring.at[512 + i];
    ck_assert_uint_lt(alike, 512);
    free(ring.at);
}
END_TEST

/* ---- samples ---------------------------------------------------------- */

static const struct ring_plan sampled[] = {
    PLAN(.bytes = MIB, .stride = 128, .random = true, .sample = 1000),
    PLAN(.bytes = MIB, .stride = 128, .random = true, .sample = 1000,
         .window = W),
    PLAN(.bytes = MIB, .stride = 128, .random = true, .sample = 7, .window = W),
    PLAN(.bytes = MIB, .stride = 128, .sample = 1000, .window = W),
};

START_TEST(a_sample_has_its_size)
{
    struct ring ring = ring_of(&sampled[_i]);
    ck_assert_uint_eq(ring.count, sampled[_i].sample);
    free(ring.at);
}
END_TEST

START_TEST(a_sample_has_elements_once)
{
    struct ring ring = ring_of(&sampled[_i]);
    qsort(ring.at, ring.count, sizeof *ring.at, u64_compare);
    assert_ascends(&ring);
    for (size_t i = 0; i < ring.count; i++) {
        ck_assert_uint_lt(ring.at[i], 1 << 20);
        ck_assert_uint_eq(ring.at[i] % 128, 0);
    }
    free(ring.at);
}
END_TEST

START_TEST(a_sample_is_spread_evenly_over_the_windows)
{
    const struct ring_plan plan = {.bytes = 1 << 20,
                                   .stride = 128,
                                   .random = true,
                                   .sample = 1000,
                                   .window = 65536};
    struct ring ring = ring_of(&plan);
    size_t in_window[16] = {0};
    for (size_t i = 0; i < ring.count; i++)
        in_window[ring.at[i] / 65536]++;
    for (size_t w = 0; w < 16; w++)
        ck_assert(in_window[w] == 62 || in_window[w] == 63);
    free(ring.at);
}
END_TEST

START_TEST(a_sequential_sample_is_in_order_of_address)
{
    struct ring ring = RING(.bytes = 1 << 20, .stride = 128, .sample = 100);
    assert_ascends(&ring);
    free(ring.at);
}
END_TEST

/* ---- leading elements ------------------------------------------------- */

enum { LEAD = 4096 };

static const struct ring_plan led[] = {
    PLAN(.bytes = W, .stride = 128, .lead = LEAD),
    PLAN(.bytes = 60000, .stride = 128, .lead = LEAD),
    PLAN(.bytes = 60000, .stride = 96, .lead = LEAD),
    PLAN(.bytes = W, .stride = 128, .lead = LEAD, .random = true),
    PLAN(.bytes = W, .stride = 128, .lead = LEAD, .random = true,
         .window = LEAD),
};

static bool leads(const struct ring_plan *plan, uint64_t offset)
{
    return offset % plan->stride == RING_LEAD_OFFSET;
}

START_TEST(the_first_visit_of_a_block_is_led)
{
    const struct ring_plan *const plan = &led[_i];
    struct ring ring = ring_of(plan);
    bool seen[W / LEAD] = {false};
    for (size_t i = 0; i < ring.count; i++) {
        const uint64_t block = ring.at[i] / LEAD;
        ck_assert_int_eq(leads(plan, ring.at[i]), !seen[block]);
        seen[block] = true;
    }
    free(ring.at);
}
END_TEST

START_TEST(a_leading_element_lies_beside_one_of_its_block)
{
    const struct ring_plan *const plan = &led[_i];
    struct ring ring = ring_of(plan);
    for (size_t i = 0; i < ring.count; i++) {
        if (!leads(plan, ring.at[i]))
            continue;
        const uint64_t beside = ring.at[i] - RING_LEAD_OFFSET;
        ck_assert_uint_eq(beside / LEAD, ring.at[i + 1] / LEAD);
        ck_assert_uint_lt(beside, plan->bytes);
    }
    free(ring.at);
}
END_TEST

START_TEST(without_its_leads_a_ring_is_whole)
{
    struct ring ring = ring_of(&led[_i]);
    size_t kept = 0;
    for (size_t i = 0; i < ring.count; i++)
        if (!leads(&led[_i], ring.at[i]))
            ring.at[kept++] = ring.at[i];
    ring.count = kept;
    assert_whole(&ring, &led[_i]);
    free(ring.at);
}
END_TEST

/* ---- the rest --------------------------------------------------------- */

static const struct ring_plan cut[] = {
    PLAN(.bytes = 65536, .stride = 128),
    PLAN(.bytes = 65536, .stride = 128, .random = true, .seed = 9),
    PLAN(.bytes = 65536, .stride = 128, .random = true, .window = 4096),
    PLAN(.bytes = 65536, .stride = 128, .lead = 4096),
};

START_TEST(the_first_visits_are_those_of_the_whole)
{
    struct ring_plan plan = cut[_i];
    struct ring all = ring_of(&plan);
    plan.most = 100;
    struct ring some = ring_of(&plan);
    ck_assert_uint_eq(some.count, 100);
    ck_assert_mem_eq(some.at, all.at, 100 * sizeof *all.at);
    free(all.at);
    free(some.at);
}
END_TEST

START_TEST(more_visits_than_elements_are_all)
{
    struct ring ring = RING(.bytes = 4096, .stride = 128, .most = 1000);
    ck_assert_uint_eq(ring.count, 32);
    free(ring.at);
}
END_TEST

START_TEST(segments_are_visited_in_their_order)
{
    struct segment segments[] = {
        {1024, 3, 128},
        {0,    2, 64 }
    };
    struct ring ring = RING(.bytes = 4096, .stride = 8, .list = {segments, 2});
    static const uint64_t expected[] = {1024, 1152, 1280, 0, 64};
    ck_assert_uint_eq(ring.count, COUNT_OF(expected));
    ck_assert_mem_eq(ring.at, expected, sizeof expected);
    free(ring.at);
}
END_TEST

Suite *suite_ring(void)
{
    TCase *t;
    Suite *const suite = suite_of("ring", 20, &t);
    tcase_add_loop_test(t, every_element_is_visited_once, 0, COUNT_OF(whole));
    tcase_add_test(t, sequential_is_in_order_of_address);
    tcase_add_test(t, same_seed_same_order);
    tcase_add_test(t, other_seed_other_order);
    tcase_add_test(t, random_is_not_sequential);
    tcase_add_test(t, a_window_is_left_when_it_is_done);
    tcase_add_test(t, windows_differ_in_order);
    tcase_add_loop_test(t, a_sample_has_its_size, 0, COUNT_OF(sampled));
    tcase_add_loop_test(t, a_sample_has_elements_once, 0, COUNT_OF(sampled));
    tcase_add_test(t, a_sample_is_spread_evenly_over_the_windows);
    tcase_add_test(t, a_sequential_sample_is_in_order_of_address);
    tcase_add_loop_test(t, the_first_visit_of_a_block_is_led, 0, COUNT_OF(led));
    tcase_add_loop_test(t, a_leading_element_lies_beside_one_of_its_block, 0,
                        COUNT_OF(led));
    tcase_add_loop_test(t, without_its_leads_a_ring_is_whole, 0, COUNT_OF(led));
    tcase_add_loop_test(t, the_first_visits_are_those_of_the_whole, 0,
                        COUNT_OF(cut));
    tcase_add_test(t, more_visits_than_elements_are_all);
    tcase_add_test(t, segments_are_visited_in_their_order);
    return suite;
}
