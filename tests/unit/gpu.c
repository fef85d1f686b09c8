/* The generator of random GPUs: each is one that the simulator takes, and
 * together they show all that the studies are to meet. */
#include "truth/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "device/sim/profile/profile.h"
#include "testing.h"

enum { GPUS = 500 };

static struct profile *random_profile(uint64_t seed)
{
    struct profile *profile;
    struct error err;
    char *const json = gpu_random(seed);
    ck_assert_msg(profile_parse(json, "random", &profile, &err) == 0,
                  "seed %d: %s\n%s", (int)seed, err.text, json);
    free(json);
    return profile;
}

START_TEST(every_random_gpu_can_be)
{
    for (uint64_t seed = 1; seed <= GPUS; seed++)
        profile_free(random_profile(seed));
}
END_TEST

START_TEST(a_seed_is_always_the_same_gpu)
{
    char *const one = gpu_random(7), *const again = gpu_random(7);
    char *const other = gpu_random(8);
    ck_assert_str_eq(one, again);
    ck_assert_str_ne(one, other);
    free(one);
    free(again);
    free(other);
}
END_TEST

static uint64_t l2_bytes(const struct profile *p)
{
    const int cache = p->paths[PATH_GLOBAL_CG].cache[0];
    return cache_shape_bytes(&p->caches[cache].shape);
}

/* The largest of an SM's own that hold data. */
static uint64_t near_bytes(const struct profile *p)
{
    uint64_t most = 0;
    for (size_t i = 0; i < p->cache_count; i++) {
        const uint64_t bytes = cache_shape_bytes(&p->caches[i].shape);
        if (p->caches[i].scope == SCOPE_SM && bytes > most &&
            strncmp(p->caches[i].name, "const", 5) != 0 &&
            strncmp(p->caches[i].name, "icache", 6) != 0)
            most = bytes;
    }
    return most;
}

START_TEST(an_l2_is_larger_than_what_an_sm_has)
{
    for (uint64_t seed = 1; seed <= GPUS; seed++) {
        struct profile *const p = random_profile(seed);
        ck_assert_uint_ge(l2_bytes(p), 4 * near_bytes(p));
        profile_free(p);
    }
}
END_TEST

static uint64_t reach(const struct profile_cache *tlb)
{
    return cache_shape_bytes(&tlb->shape);
}

START_TEST(each_tlb_reaches_farther_than_the_one_before)
{
    for (uint64_t seed = 1; seed <= GPUS; seed++) {
        struct profile *const p = random_profile(seed);
        for (size_t i = 1; i < p->tlb_count; i++)
            ck_assert_uint_gt(2 * reach(&p->tlbs[i]),
                              3 * reach(&p->tlbs[i - 1]));
        profile_free(p);
    }
}
END_TEST

/* ---- what the GPUs together show ---- */

static bool is_uneven(const struct cache_shape *s)
{
    for (size_t set = 1; set < s->sets; set++)
        if (s->set_ways[set] != s->set_ways[0])
            return true;
    return false;
}

static bool is_hashed(const struct cache_shape *s)
{
    for (size_t i = 0; i < s->index_bit_count; i++)
        if (__builtin_popcountll(s->index_bits[i]) > 1)
            return true;
    return false;
}

static bool is_shifted(const struct cache_shape *s)
{
    return s->index_bit_count > 0 && !is_hashed(s) &&
           s->index_bits[0] > s->line;
}

static bool is_odd(const struct cache_shape *s)
{
    return (s->sets & (s->sets - 1)) != 0;
}

enum trait {
    UNEVEN,
    HASHED,
    SHIFTED,
    ODD_SETS,
    COPIES,
    OF_A_TPC,
    SECTORED,
    POLICIES,
    TRAITS = POLICIES + POLICY_COUNT
};

static void note_cache(const struct profile_cache *c, unsigned seen[TRAITS])
{
    const struct cache_shape *const s = &c->shape;
    const bool traits[POLICIES] = {
        [UNEVEN] = is_uneven(s),          [HASHED] = is_hashed(s),
        [SHIFTED] = is_shifted(s),        [ODD_SETS] = is_odd(s),
        [COPIES] = c->copies_per_sm > 1,  [OF_A_TPC] = c->scope == SCOPE_TPC,
        [SECTORED] = s->sector < s->line,
    };
    for (int i = 0; i < POLICIES; i++)
        seen[i] += traits[i];
    seen[POLICIES + (int)s->policy]++;
}

static void note_caches(const char *name, unsigned seen[TRAITS])
{
    for (uint64_t seed = 1; seed <= GPUS; seed++) {
        struct profile *const p = random_profile(seed);
        for (size_t i = 0; i < p->cache_count; i++)
            if (strcmp(p->caches[i].name, name) == 0)
                note_cache(&p->caches[i], seen);
        profile_free(p);
    }
}

START_TEST(caches_are_of_every_kind)
{
    static const char *const names[] = {"l1", "texture", "l2"};
    unsigned seen[TRAITS] = {0};
    note_caches(names[_i], seen);
    for (int i = 0; i < TRAITS; i++) {
        const bool of_sm = i == COPIES && _i < 2;
        const bool rare = i == POLICIES + POLICY_RRIP ||
                          (i == POLICIES + POLICY_LRU_MIDPOINT && _i == 2);
        const bool drawn = i != OF_A_TPC && !rare;
        if (i == COPIES ? of_sm : drawn)
            ck_assert_msg(seen[i] > 0, "no %s has trait %d", names[_i], i);
    }
}
END_TEST

START_TEST(constant_l15_is_sometimes_shared_by_a_tpc)
{
    unsigned seen[TRAITS] = {0};
    note_caches("const_l15", seen);
    ck_assert_uint_gt(seen[OF_A_TPC], 0);
}
END_TEST

START_TEST(every_path_but_global_is_sometimes_missing)
{
    unsigned missing[PATH_COUNT] = {0};
    for (uint64_t seed = 1; seed <= GPUS; seed++) {
        struct profile *const p = random_profile(seed);
        for (int path = 0; path < PATH_COUNT; path++)
            missing[path] += !p->paths[path].present;
        profile_free(p);
    }
    for (int path = PATH_READONLY; path <= PATH_LOCAL; path++)
        ck_assert_uint_gt(missing[path], 0);
}
END_TEST

START_TEST(two_paths_sometimes_share_a_cache_and_sometimes_not)
{
    unsigned same = 0, own = 0;
    for (uint64_t seed = 1; seed <= GPUS; seed++) {
        struct profile *const p = random_profile(seed);
        const struct profile_path *const texture = &p->paths[PATH_TEXTURE];
        const struct profile_path *const ca = &p->paths[PATH_GLOBAL_CA];
        same += texture->present && texture->cache[0] == ca->cache[0];
        own += texture->present && texture->cache[0] != ca->cache[0];
        profile_free(p);
    }
    ck_assert_uint_gt(same, 0);
    ck_assert_uint_gt(own, 0);
}
END_TEST

START_TEST(some_tlbs_reach_beyond_memory_and_some_have_sets)
{
    unsigned beyond = 0, equal = 0, uneven = 0, third = 0, windows = 0;
    for (uint64_t seed = 1; seed <= GPUS; seed++) {
        struct profile *const p = random_profile(seed);
        third += p->tlb_count == 3;
        windows += p->page_window_bytes > 0;
        for (size_t i = 0; i < p->tlb_count; i++) {
            const struct cache_shape *const s = &p->tlbs[i].shape;
            beyond += reach(&p->tlbs[i]) > p->memory_bytes;
            uneven += is_uneven(s);
            equal += s->sets > 1 && !is_uneven(s);
        }
        profile_free(p);
    }
    ck_assert_uint_gt(beyond, 0);
    ck_assert_uint_gt(equal, 0);
    ck_assert_uint_gt(uneven, 0);
    ck_assert_uint_gt(third, 0);
    ck_assert_uint_gt(windows, 0);
}
END_TEST

Suite *suite_gpu(void)
{
    TCase *t;
    Suite *const suite = suite_of("gpu", 20, &t);
    tcase_add_test(t, every_random_gpu_can_be);
    tcase_add_test(t, a_seed_is_always_the_same_gpu);
    tcase_add_test(t, an_l2_is_larger_than_what_an_sm_has);
    tcase_add_test(t, each_tlb_reaches_farther_than_the_one_before);
    tcase_add_loop_test(t, caches_are_of_every_kind, 0, 3);
    tcase_add_test(t, constant_l15_is_sometimes_shared_by_a_tpc);
    tcase_add_test(t, every_path_but_global_is_sometimes_missing);
    tcase_add_test(t, two_paths_sometimes_share_a_cache_and_sometimes_not);
    tcase_add_test(t, some_tlbs_reach_beyond_memory_and_some_have_sets);
    return suite;
}
