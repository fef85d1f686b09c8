/* The search against caches of a known size. */
#include "analysis/search.h"

#include <string.h>

#include "testing.h"

/* What holds `holds` bytes; fails on the try number `fails_at`, if not 0. */
struct store {
    uint64_t holds, largest_asked;
    size_t tries, fails_at, rounds;
    size_t most_together;     /* of sizes that were asked for at once */
    uint64_t fits, overflows; /* as was answered */
    const struct search_range *range;
};

/* Between the ends multiples of the granularity alone. */
static bool may_be_asked(const struct search_range *range, uint64_t size)
{
    return size == range->least || size == range->most ||
           (size > range->least && size < range->most &&
            size % range->granularity == 0);
}

static int fits(void *context, const struct search_sizes *sizes, bool *fits,
                struct error *err)
{
    struct store *const store = context;
    const uint64_t known_to_fit = store->fits, known_not_to = store->overflows;
    for (size_t i = 0; i < sizes->count; i++) {
        const uint64_t size = sizes->first + i * sizes->step;
        /* What is known is not asked again. */
        ck_assert(size > known_to_fit);
        ck_assert(known_not_to == 0 || size < known_not_to);
        if (++store->tries == store->fails_at)
            return error_set(err, ERR_DEVICE, "the GPU is lost");
        if (store->range != NULL)
            ck_assert(may_be_asked(store->range, size));
        if (size > store->largest_asked)
            store->largest_asked = size;
        fits[i] = size <= store->holds;
        if (fits[i])
            store->fits = size;
        else if (store->overflows == 0 || size < store->overflows)
            store->overflows = size;
    }
    store->rounds++;
    if (sizes->count > store->most_together)
        store->most_together = sizes->count;
    return 0;
}

static const struct search_range from_1k_to_1g = {
    .least = 1024, .most = 1 << 30, .granularity = 1024};

static struct search searched(struct store *store,
                              const struct search_range *range)
{
    struct search found;
    struct error err;
    store->range = range;
    ASSERT_DONE(search_size(range, fits, store, &found, &err), err);
    ck_assert_uint_eq(found.tried, store->tries);
    return found;
}

/* Figure 3.5 of the thesis: 25 KiB; doubling 1 2 4 8 16 32, then 24 28 26 and,
 * as the bracket is to be 1 KiB and not 2, 25. */
START_TEST(takes_the_steps_of_the_thesis)
{
    struct store store = {.holds = 25 * 1024};
    const struct search s = searched(&store, &from_1k_to_1g);
    ck_assert_int_eq(s.state, SEARCH_BRACKETED);
    ck_assert_uint_eq(s.fits, 25 * 1024);
    ck_assert_uint_eq(s.overflows, 26 * 1024);
    ck_assert_uint_eq(s.tried, 6 + 4);
}
END_TEST

START_TEST(several_sizes_at_once_take_fewer_rounds)
{
    for (uint64_t holds = 1024; holds < 300 * 1024; holds += 331) {
        struct search_range range = from_1k_to_1g;
        struct store store = {.holds = holds}, one = {.holds = holds};
        range.at_once = 2 + holds % 6; /* with 7 all parts are alike */
        const struct search s = searched(&store, &range);
        searched(&one, &from_1k_to_1g);
        ck_assert_uint_le(store.most_together, range.at_once);
        ck_assert_uint_eq(s.fits, holds - holds % 1024);
        ck_assert_uint_eq(s.overflows, s.fits + 1024);
        ck_assert_uint_le(store.rounds, one.rounds);
    }
}
END_TEST

START_TEST(as_many_are_asked_at_once_as_may_be)
{
    for (size_t at_once = 0; at_once <= SEARCH_AT_ONCE; at_once++) {
        struct search_range range = from_1k_to_1g;
        range.at_once = at_once;
        struct store store = {.holds = 1000001};
        searched(&store, &range);
        ck_assert_uint_eq(store.most_together, at_once > 0 ? at_once : 1);
    }
}
END_TEST

START_TEST(brackets_every_size)
{
    for (uint64_t holds = 1024; holds < 300 * 1024; holds += 331) {
        struct store store = {.holds = holds};
        const struct search s = searched(&store, &from_1k_to_1g);
        ck_assert_uint_eq(s.fits, holds - holds % 1024);
        ck_assert_uint_eq(s.overflows, s.fits + 1024);
    }
}
END_TEST

/* log2(size / least) doublings and as many halvings, and the two ends. */
START_TEST(tries_grow_with_the_logarithm)
{
    for (unsigned power = 11; power < 30; power++) {
        struct store store = {.holds = (1ull << power) + 1024};
        const struct search s = searched(&store, &from_1k_to_1g);
        ck_assert_uint_le(s.tried, 2 * (power - 10) + 2);
    }
}
END_TEST

START_TEST(says_when_all_fit)
{
    struct store store = {.holds = UINT64_MAX};
    const struct search s = searched(&store, &from_1k_to_1g);
    ck_assert_int_eq(s.state, SEARCH_ALL_FIT);
    ck_assert_uint_eq(s.fits, 1 << 30);
    ck_assert_uint_eq(s.overflows, 0);
}
END_TEST

START_TEST(says_when_none_fits)
{
    struct store store = {.holds = 1023};
    const struct search s = searched(&store, &from_1k_to_1g);
    ck_assert_int_eq(s.state, SEARCH_NONE_FITS);
    ck_assert_uint_eq(s.fits, 0);
    ck_assert_uint_eq(s.overflows, 1024);
    ck_assert_uint_eq(s.tried, 1);
}
END_TEST

START_TEST(never_asks_for_more_than_the_most)
{
    struct store store = {.holds = UINT64_MAX};
    const struct search_range range = {
        .least = 1024, .most = 100000, .granularity = 1024};
    const struct search s = searched(&store, &range);
    ck_assert_uint_eq(store.largest_asked, 100000);
    ck_assert_uint_eq(s.fits, 100000);
}
END_TEST

START_TEST(brackets_under_a_most_that_is_no_multiple)
{
    struct store store = {.holds = 99999};
    const struct search_range range = {
        .least = 1000, .most = 100000, .granularity = 1024};
    const struct search s = searched(&store, &range);
    ck_assert_uint_eq(s.fits, 97 * 1024);
    ck_assert_uint_eq(s.overflows, 100000);
}
END_TEST

START_TEST(one_size_is_a_range)
{
    struct store store = {.holds = 64};
    const struct search_range range = {
        .least = 64, .most = 64, .granularity = 32};
    ck_assert_int_eq(searched(&store, &range).state, SEARCH_ALL_FIT);
}
END_TEST

/* The granularity is larger than the least size: 96, 128, 256 … */
START_TEST(doubles_past_a_coarse_granularity)
{
    struct store store = {.holds = 700};
    const struct search_range range = {
        .least = 96, .most = 4096, .granularity = 128};
    const struct search s = searched(&store, &range);
    ck_assert_uint_eq(s.fits, 640);
    ck_assert_uint_eq(s.overflows, 768);
}
END_TEST

/* Of a large cache an eighth of its size is close enough: 32 MiB, 64 MiB, then
 * 48, 40 and 36. */
START_TEST(a_part_of_the_size_may_be_close_enough)
{
    struct store store = {.holds = 38 << 20};
    const struct search_range range = {
        .least = 1 << 20, .most = 1 << 30, .granularity = 1024, .relative = 8};
    const struct search s = searched(&store, &range);
    ck_assert_uint_eq(s.fits, 36 << 20);
    ck_assert_uint_eq(s.overflows, 40 << 20);
    ck_assert_uint_eq(s.tried, 7 + 3);
}
END_TEST

START_TEST(reaches_the_ends_of_64_bits)
{
    struct store store = {.holds = UINT64_MAX - 1};
    const struct search_range range = {
        .least = 1, .most = UINT64_MAX, .granularity = 1};
    const struct search s = searched(&store, &range);
    ck_assert_uint_eq(s.fits, UINT64_MAX - 1);
    ck_assert_uint_eq(s.overflows, UINT64_MAX);
    ck_assert_uint_le(s.tried, 65 + 64);
}
END_TEST

START_TEST(a_failure_ends_it_and_keeps_the_bracket)
{
    struct store store = {.holds = 25 * 1024, .fails_at = 8};
    struct search s;
    struct error err;
    ASSERT_FAILS(search_size(&from_1k_to_1g, fits, &store, &s, &err),
                 ERR_DEVICE, err, "the GPU is lost");
    ck_assert_uint_eq(store.tries, 8);
    ck_assert_uint_eq(s.tried, 7);
    ck_assert_uint_eq(s.fits, 24 * 1024);
    ck_assert_uint_eq(s.overflows, 32 * 1024);
}
END_TEST

Suite *suite_search(void)
{
    TCase *t;
    Suite *const suite = suite_of("search", 20, &t);
    tcase_add_test(t, as_many_are_asked_at_once_as_may_be);
    tcase_add_test(t, takes_the_steps_of_the_thesis);
    tcase_add_test(t, several_sizes_at_once_take_fewer_rounds);
    tcase_add_test(t, brackets_every_size);
    tcase_add_test(t, tries_grow_with_the_logarithm);
    tcase_add_test(t, says_when_all_fit);
    tcase_add_test(t, says_when_none_fits);
    tcase_add_test(t, never_asks_for_more_than_the_most);
    tcase_add_test(t, brackets_under_a_most_that_is_no_multiple);
    tcase_add_test(t, one_size_is_a_range);
    tcase_add_test(t, doubles_past_a_coarse_granularity);
    tcase_add_test(t, a_part_of_the_size_may_be_close_enough);
    tcase_add_test(t, reaches_the_ends_of_64_bits);
    tcase_add_test(t, a_failure_ends_it_and_keeps_the_bracket);
    return suite;
}
