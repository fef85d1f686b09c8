/*
 * Caches and TLBs of a simulated GPU that are as unkind as real ones: index
 * functions, slices, regions, ages, prefetch.  The model's own rules are in
 * cache.c; here is what a kernel sees of them.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "testing.h"
#include "unit/sim_rig.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

/* A GPU whose `in` has 4 GiB, and an address of which they are a divisor. */
static struct rig wide_rig(const char *gpu)
{
    const uint64_t bytes = 4096 * MIB;
    struct rig rig = rig_open_with(gpu, 0);
    ASSERT_DONE(device_allocate(rig.device, 2 * bytes, &rig.in, &rig.err),
                rig.err);
    rig.in = (rig.in + bytes - 1) / bytes * bytes;
    return rig;
}

static void add_load(struct buf *body, const char *op, uint64_t at)
{
    buf_printf(body,
               "add.u64 %%rd3, %%in, %llu;\nld.global.%s.u64 %%rd2, [%%rd3];\n",
               (unsigned long long)at, op);
}

/* What the last of these loads of words of `in` costs that SM. */
static uint64_t cost_on(struct rig *rig, unsigned sm, const char *op,
                        const uint64_t *at, size_t count)
{
    struct buf body = {0};
    buf_text(&body, "mov.u32 %r0, %ctaid.x; setp.ne.u32 %p0, %r0, %n;\n"
                    "@%p0 bra done;\n");
    for (size_t i = 0; i + 1 < count; i++)
        add_load(&body, op, at[i]);
    buf_printf(&body, "add.u64 %%rd3, %%in, %llu;\n",
               (unsigned long long)at[count - 1]);
    buf_text(&body, "mov.u32 %r30, %clock;\n");
    buf_printf(&body, "ld.global.%s.u64 %%rd2, [%%rd3];\n", op);
    buf_text(&body, "st.global.u64 [%out+8], %rd2; mov.u32 %r31, %clock;\n"
                    "sub.u32 %r31, %r31, %r30; cvt.u64.u32 %rd31, %r31;\n"
                    "st.global.u64 [%out], %rd31;\ndone:\n");
    rig_run(rig, buf_string(&body), .blocks = sm + 1, .n = sm);
    buf_free(&body);
    return rig_out(rig, 0) - 6; /* of the address, the clock and the store */
}

#define COST(rig, op, ...)                                                     \
    cost_on(rig, 0, op, (uint64_t[]){__VA_ARGS__},                             \
            COUNT_OF(((uint64_t[]){__VA_ARGS__})))
/* On a GPU that has seen nothing. */
#define ASSERT_COST(cycles, gpu, op, ...)                                      \
    do {                                                                       \
        struct rig fresh = wide_rig(gpu);                                      \
        ck_assert_uint_eq(COST(&fresh, op, __VA_ARGS__), cycles);              \
        rig_close(&fresh);                                                     \
    } while (0)

/* ---- rrip ---- */

#define L1_OF_TWO(policy)                                                      \
    "caches/l1={'sets': 1, 'ways': 2, 'policy': " policy "} "                  \
    "caches/l2/sets=1024"
#define RRIP     "{'kind': 'rrip', 'most': 2, 'insert': 1, 'hit': 0}"
#define MIDPOINT "{'kind': 'lru_midpoint', 'behind': 1}"

/* The newest sector again is a use, of which rrip takes note. */
START_TEST(a_line_that_was_used_at_once_outlives_the_next)
{
    ASSERT_COST(40, L1_OF_TWO(RRIP), "ca", 0, 0, 128, 256, 0);
    ASSERT_COST(200, L1_OF_TWO(RRIP), "ca", 0, 0, 128, 256, 384, 0);
    ASSERT_COST(200, L1_OF_TWO(RRIP), "ca", 0, 128, 256, 0);
    ASSERT_COST(40, L1_OF_TWO(MIDPOINT), "ca", 0, 0, 128, 256, 0);
    ASSERT_COST(200, L1_OF_TWO(MIDPOINT), "ca", 0, 128, 256, 0);
    ASSERT_COST(200, L1_OF_TWO("'lru'"), "ca", 0, 0, 128, 256, 0);
}
END_TEST

/* A miss of L1 asks L2 for its four sectors at once, which is one use of the
 * line: two new ones put it out. */
START_TEST(all_sectors_of_a_load_are_one_use)
{
    static const char gpu[] =
        "caches/l1={'line': 128, 'sector': 128, 'sets': 1, 'ways': 1} "
        "caches/l2={'sets': 1, 'ways': 2, 'scope': 'gpu', "
        "'policy': " MIDPOINT "}";
    ASSERT_COST(500, gpu, "ca", 0, 128, 256, 0);
    ASSERT_COST(200, gpu, "ca", 0, 128, 0, 256, 384, 0);
}
END_TEST

/* ---- index and slices ---- */

START_TEST(lines_of_different_slices_do_not_meet)
{
    static const char gpu[] =
        "caches/l2={'sets': 6, 'ways': 1, 'scope': 'gpu', "
        "           'slices': {'modulo': 3, 'from_bit': 12}}";
    ASSERT_COST(190, gpu, "cg", 0, 4 * KIB, 8 * KIB, 0);
    ASSERT_COST(490, gpu, "cg", 0, 12 * KIB, 0);
    ASSERT_COST(190, gpu, "cg", 0, 12 * KIB + 128, 0);
}
END_TEST

START_TEST(bits_far_above_choose_slices_and_sets)
{
    static const char gpu[] =
        "caches/l2={'sets': 4, 'ways': 1, 'scope': 'gpu', "
        "           'set_bits': [[7, 31]], "
        "           'slices': {'modulo': 1, 'from_bit': 7, "
        "                      'bits': [[12, 30]]}}";
    ASSERT_COST(190, gpu, "cg", 0, 128, 4 * KIB, 4 * KIB + 128, 0);
    ASSERT_COST(190, gpu, "cg", 0, 2048 * MIB, 1024 * MIB, 3072 * MIB, 0);
    ASSERT_COST(490, gpu, "cg", 0, 2048 * MIB + 128, 0);
    ASSERT_COST(490, gpu, "cg", 0, 1024 * MIB + 4 * KIB, 0);
}
END_TEST

/* Four SMs, of which the first two are beside the lines whose bit 13 is 0. */
#define HALVES                                                                 \
    "'scope': 'gpu', 'partitions': {'bits': [13], 'far_cycles': 70, "          \
    "                               'replicates': true}, "
#define SLICED_HALVES                                                          \
    "caches/l2={'sets': 4, 'ways': 1, " HALVES                                 \
    "           'slices': {'modulo': 2, 'from_bit': 12}}"

START_TEST(each_half_has_its_own_slices)
{
    ASSERT_COST(190, SLICED_HALVES, "cg", 0, 4 * KIB, 0);
    ASSERT_COST(490, SLICED_HALVES, "cg", 0, 16 * KIB, 0);
    /* A copy of what is at home in the other half is in the same slice. */
    ASSERT_COST(190, SLICED_HALVES, "cg", 8 * KIB, 8 * KIB, 8 * KIB);
    ASSERT_COST(490, SLICED_HALVES, "cg", 0, 8 * KIB, 0);
    ASSERT_COST(190, SLICED_HALVES, "cg", 0, 12 * KIB, 0);
}
END_TEST

#define HASHED_HALVES(ways)                                                    \
    "caches/l2={'sets': 4, 'ways': " ways ", " HALVES "'set_bits': [[7, 20]]}"

START_TEST(each_half_has_its_own_index)
{
    ASSERT_COST(190, HASHED_HALVES("1"), "cg", 0, 128, 0);
    ASSERT_COST(490, HASHED_HALVES("1"), "cg", 0, MIB + 128, 0);
}
END_TEST

START_TEST(what_is_copied_in_leaves_halves_with_an_index)
{
    struct rig rig = wide_rig(HASHED_HALVES("4"));
    ck_assert_uint_eq(COST(&rig, "cg", 0, 8 * KIB, 128, 128), 190);
    ck_assert_uint_eq(COST(&rig, "cg", 8 * KIB), 190);
    rig_in(&rig, 8 * KIB / 8, 1);
    ck_assert_uint_eq(COST(&rig, "cg", 128), 190);
    ck_assert_uint_eq(COST(&rig, "cg", 8 * KIB), 490 + 70);
    rig_close(&rig);
}
END_TEST

/* ---- TLBs ---- */

#define TLB(keys)                                                              \
    "caches/l2/sets=1024 "                                                     \
    "tlbs={'l1': {'page': 2097152, 'policy': 'lru', " keys "}} "               \
    "paths={} paths/global={'l2': [200, 250, 350], 'memory': 500}"
#define REGION "'region': 8388608, 'entries': 1"
enum { HIT = 200, WALK = 350 };

/* Of the pages, four are a region; all data is in L2 when the first region was
 * left for the next. */
#define PAGE(i)     (2 * MIB * (i))
#define REGION_LEFT PAGE(0), PAGE(1), PAGE(4)

START_TEST(an_entry_covers_a_region_whose_pages_come_one_by_one)
{
    static const char gpu[] = TLB(REGION);
    ASSERT_COST(WALK, gpu, "ca", REGION_LEFT, PAGE(0));
    ASSERT_COST(HIT, gpu, "ca", REGION_LEFT, PAGE(0), PAGE(0));
    ASSERT_COST(WALK, gpu, "ca", REGION_LEFT, PAGE(0), PAGE(1));
    ASSERT_COST(HIT, gpu, "ca", REGION_LEFT, PAGE(0), PAGE(1), PAGE(0));
    ASSERT_COST(WALK, gpu, "ca", REGION_LEFT, PAGE(0), PAGE(4), PAGE(0));
}
END_TEST

START_TEST(an_entry_may_come_with_all_its_pages)
{
    static const char gpu[] = TLB(REGION ", 'fill': 'region'");
    ASSERT_COST(WALK, gpu, "ca", REGION_LEFT, PAGE(0));
    ASSERT_COST(HIT, gpu, "ca", REGION_LEFT, PAGE(0), PAGE(1));
    ASSERT_COST(WALK, gpu, "ca", REGION_LEFT, PAGE(1), PAGE(4), PAGE(0));
}
END_TEST

START_TEST(bits_far_above_choose_the_set_of_a_page)
{
    static const char gpu[] =
        TLB("'sets': 2, 'ways': 1, 'set_bits': [[21, 26, 31]]");
    ASSERT_COST(HIT, gpu, "ca", 0, PAGE(1), 0);
    ASSERT_COST(WALK, gpu, "ca", 0, PAGE(1) + 64 * MIB, 0);
    ASSERT_COST(WALK, gpu, "ca", 0, 2048 * MIB + 64 * MIB, 0);
    ASSERT_COST(HIT, gpu, "ca", 0, 2048 * MIB, 0);
}
END_TEST

/* SM 0 has been there; TPCs are pairs of SMs, and GPCs pairs of TPCs. */
START_TEST(sms_share_a_tlb_by_its_scope)
{
    static const struct {
        const char *scope;
        unsigned sm, cycles;
    } cases[] = {
        {"sm", 0, HIT},  {"sm", 1, WALK},  {"tpc", 1, HIT}, {"tpc", 2, WALK},
        {"gpc", 2, HIT}, {"gpc", 4, WALK}, {"gpu", 4, HIT},
    };
    char *const gpu =
        xasprintf(TLB("'entries': 4, 'scope': '%s'") " sms=8 sms_per_tpc=2 "
                                                     "tpcs_per_gpc=2",
                  cases[_i].scope);
    const uint64_t at = 0;
    struct rig rig = wide_rig(gpu);
    cost_on(&rig, 0, "cg", &at, 1);
    ck_assert_uint_eq(cost_on(&rig, cases[_i].sm, "cg", &at, 1),
                      cases[_i].cycles);
    rig_close(&rig);
    free(gpu);
}
END_TEST

/* ---- aliases ---- */

/* The last of these words of eight mappings of one piece, a GiB apart. */
static uint64_t alias_cost(const char *gpu, const char *op, const uint64_t *at,
                           size_t count)
{
    struct aliases a = {.bytes = 2 * MIB, .stride = 1024 * MIB, .count = 8};
    struct rig rig = rig_open_with(gpu, 0);
    ASSERT_DONE(device_map(rig.device, &a, &rig.err), rig.err);
    rig.in = a.address;
    const uint64_t cycles = cost_on(&rig, 0, op, at, count);
    rig_close(&rig);
    return cycles;
}

#define ALIAS_COST(gpu, op, ...)                                               \
    alias_cost(gpu, op, (uint64_t[]){__VA_ARGS__},                             \
               COUNT_OF(((uint64_t[]){__VA_ARGS__})))
#define ALIAS(i) (1024 * MIB * (i))
#define VIRTUAL  "caches/l1/address=virtual"

START_TEST(aliases_are_one_line_but_where_it_has_a_virtual_address)
{
    ck_assert_uint_eq(ALIAS_COST("", "ca", ALIAS(0), ALIAS(7)), 40);
    ck_assert_uint_eq(ALIAS_COST(VIRTUAL, "ca", ALIAS(0), ALIAS(7)), 200);
    ck_assert_uint_eq(ALIAS_COST(VIRTUAL, "ca", ALIAS(7), ALIAS(0), ALIAS(7)),
                      40);
    ck_assert_uint_eq(ALIAS_COST(VIRTUAL, "ca", ALIAS(1), ALIAS(2) + 128), 500);
    ck_assert_uint_eq(ALIAS_COST(VIRTUAL, "cg", ALIAS(1), ALIAS(2)), 190);
    ck_assert_uint_eq(ALIAS_COST(SLICED_HALVES, "cg", ALIAS(1),
                                 ALIAS(2) + 12 * KIB, ALIAS(3)),
                      190);
}
END_TEST

START_TEST(each_alias_is_a_page_of_its_own)
{
    static const char gpu[] = TLB("'entries': 2");
    ck_assert_uint_eq(ALIAS_COST(gpu, "ca", ALIAS(0), ALIAS(1)), WALK);
    ck_assert_uint_eq(ALIAS_COST(gpu, "ca", ALIAS(0), ALIAS(1), ALIAS(0)), HIT);
    ck_assert_uint_eq(
        ALIAS_COST(gpu, "ca", ALIAS(0), ALIAS(1), ALIAS(2), ALIAS(0)), WALK);
}
END_TEST

START_TEST(what_is_written_at_one_address_is_read_at_all)
{
    struct aliases a = {.bytes = 4 * MIB, .stride = 4 * MIB, .count = 1000};
    struct rig rig = rig_open();
    uint64_t word = 7, before, after;
    ASSERT_DONE(device_memory_free(rig.device, &before, &rig.err), rig.err);
    ASSERT_DONE(device_map(rig.device, &a, &rig.err), rig.err);
    ASSERT_DONE(device_memory_free(rig.device, &after, &rig.err), rig.err);
    ck_assert_uint_eq(before - after, 4 * MIB);
    const uint64_t last = a.address + 999 * 4 * MIB;
    ASSERT_DONE(device_copy_in(rig.device, last + MIB, &word, 8, &rig.err),
                rig.err);
    rig.in = a.address + MIB;
    rig_run(&rig, "ld.global.u64 %rd0, [%in]; st.global.u64 [%out], %rd0;");
    ck_assert_uint_eq(rig_out(&rig, 0), 7);
    /* A word lies in one piece, and ends with it. */
    ASSERT_FAILS(
        device_copy_in(rig.device, last + 4 * MIB - 4, &word, 8, &rig.err),
        ERR_DEVICE, rig.err, "not in one allocation");
    device_unmap(rig.device, &a);
    ASSERT_FAILS(device_copy_in(rig.device, last, &word, 8, &rig.err),
                 ERR_DEVICE, rig.err, "not in one allocation");
    ASSERT_DONE(device_memory_free(rig.device, &after, &rig.err), rig.err);
    ck_assert_uint_eq(before, after);
    rig_close(&rig);
}
END_TEST

START_TEST(some_of_the_addresses_alone_are_mapped)
{
    static const uint32_t only[] = {0, 3, 1000000};
    struct aliases a = {.bytes = 2 * MIB,
                        .stride = 4 * MIB,
                        .count = 1000001,
                        .only = only,
                        .only_count = 3};
    struct rig rig = rig_open();
    uint64_t word = 7, out = 0;
    ASSERT_DONE(device_map(rig.device, &a, &rig.err), rig.err);
    ASSERT_DONE(device_copy_in(rig.device, a.address + 3 * a.stride, &word, 8,
                               &rig.err),
                rig.err);
    ASSERT_DONE(device_copy_out(rig.device, &out,
                                a.address + 1000000 * a.stride, 8, &rig.err),
                rig.err);
    ck_assert_uint_eq(out, 7);
    ASSERT_FAILS(device_copy_in(rig.device, a.address + 2 * a.stride, &word, 8,
                                &rig.err),
                 ERR_DEVICE, rig.err, "not in one allocation");
    device_unmap(rig.device, &a);
    rig_close(&rig);
}
END_TEST

START_TEST(mappings_that_cannot_be_are_refused)
{
    static const struct {
        struct aliases aliases;
        const char *says;
    } cases[] = {
        {{.bytes = 2 * MIB, .stride = 2 * MIB, .count = 0}, "0 mappings"},
        {{.bytes = MIB, .stride = 2 * MIB, .count = 2}, "maps pieces of 2"},
        {{.bytes = 2 * MIB, .stride = 3 * MIB, .count = 2}, "maps pieces of 2"},
        {{.bytes = 4 * MIB, .stride = 2 * MIB, .count = 2}, "maps pieces of 2"},
        {{.bytes = 4 * MIB, .stride = 4 * MIB, .count = ALIASES_MOST},
         "more than 262144 pieces"},
        {{.bytes = 2 * MIB, .stride = ALIASES_SPAN / 8, .count = 9},
         "bytes of addresses"},
        {{.bytes = 32768 * MIB, .stride = 32768 * MIB, .count = 2},
         "do not fit"},
    };
    struct aliases a = cases[_i].aliases;
    struct rig rig = rig_open();
    ASSERT_FAILS(device_map(rig.device, &a, &rig.err),
                 _i < 6 ? ERR_USAGE : ERR_DEVICE_MEMORY, rig.err,
                 cases[_i].says);
    ck_assert_uint_eq(a.address, 0);
    rig_close(&rig);
}
END_TEST

START_TEST(a_gpu_may_have_no_aliases)
{
    struct aliases a = {.bytes = 2 * MIB, .stride = 2 * MIB, .count = 2};
    struct rig rig = rig_open_with("mapping_bytes=0", 0);
    ASSERT_FAILS(device_map(rig.device, &a, &rig.err), ERR_UNSUPPORTED, rig.err,
                 "cannot map memory at several addresses");
    rig_close(&rig);
}
END_TEST

/* ---- prefetch of instructions ---- */

/* Lines of eight instructions, of which each that is fetched costs 100. */
#define FETCH(prefetch)                                                        \
    "caches/icache={'line': 128, 'sets': 1, 'ways': 128} "                     \
    "paths/instruction={'icache': 10, 'memory': 110} "                         \
    "paths/instruction/prefetch=" prefetch

/* Of 24 lines of straight code. */
static uint64_t straight_cycles(const char *gpu)
{
    struct buf body = {0};
    struct rig rig = rig_open_with(gpu, 0);
    buf_text(&body, "mov.u32 %r30, %clock;\n");
    for (int i = 0; i < 8 * 24; i++)
        buf_text(&body, "add.u32 %r1, %r2, %r2;\n");
    buf_text(&body, "mov.u32 %r31, %clock; sub.u32 %r31, %r31, %r30;\n"
                    "cvt.u64.u32 %rd31, %r31; st.global.u64 [%out], %rd31;\n");
    rig_run(&rig, buf_string(&body));
    const uint64_t cycles = rig_out(&rig, 0);
    buf_free(&body);
    rig_close(&rig);
    return cycles;
}

START_TEST(a_fetch_that_misses_brings_the_lines_that_follow)
{
    const uint64_t alone = straight_cycles("");
    ck_assert_uint_eq(straight_cycles(FETCH("0")), alone + 24 * 100);
    ck_assert_uint_eq(straight_cycles(FETCH("1")), alone + 12 * 100);
    ck_assert_uint_eq(straight_cycles(FETCH("3")), alone + 6 * 100);
}
END_TEST

Suite *suite_sim_caches(void)
{
    TCase *t;
    Suite *const suite = suite_of("sim_caches", 20, &t);
    tcase_add_test(t, a_line_that_was_used_at_once_outlives_the_next);
    tcase_add_test(t, all_sectors_of_a_load_are_one_use);
    tcase_add_test(t, lines_of_different_slices_do_not_meet);
    tcase_add_test(t, bits_far_above_choose_slices_and_sets);
    tcase_add_test(t, each_half_has_its_own_slices);
    tcase_add_test(t, each_half_has_its_own_index);
    tcase_add_test(t, what_is_copied_in_leaves_halves_with_an_index);
    tcase_add_test(t, an_entry_covers_a_region_whose_pages_come_one_by_one);
    tcase_add_test(t, an_entry_may_come_with_all_its_pages);
    tcase_add_test(t, bits_far_above_choose_the_set_of_a_page);
    tcase_add_loop_test(t, sms_share_a_tlb_by_its_scope, 0, 7);
    tcase_add_test(t, aliases_are_one_line_but_where_it_has_a_virtual_address);
    tcase_add_test(t, each_alias_is_a_page_of_its_own);
    tcase_add_test(t, some_of_the_addresses_alone_are_mapped);
    tcase_add_test(t, what_is_written_at_one_address_is_read_at_all);
    tcase_add_test(t, a_gpu_may_have_no_aliases);
    tcase_add_loop_test(t, mappings_that_cannot_be_are_refused, 0, 7);
    tcase_add_test(t, a_fetch_that_misses_brings_the_lines_that_follow);
    return suite;
}
