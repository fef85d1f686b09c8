/* The reader of profiles, each thing that it refuses, and what is shipped. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/sim/profile/profile.h"
#include "device/sim/profile/shipped.h"
#include "gpu_made.h"
#include "testing.h"

/* A GPU with a bit of everything; the tests change it here and there. */
static const char toy_gpu[] =
    "name=Toy architecture=Paper compute_capability='7.5' sms=2 "
    "max_threads_per_block=512 max_warps_per_sm=16 max_blocks_per_sm=8 "
    "caches={} "
    "caches/l1={'size': 2048, 'line': 128, 'sector': 32, 'sets': 4, "
    "           'ways': 4, 'set_bits': [7, [8, 12]], 'copies_per_sm': 2, "
    "           'policy': {'kind': 'weighted', 'weights': [1, 3, 1, 1]}} "
    "caches/l2={'line': 128, 'set_ways': [4, 2], 'policy': 'nru', "
    "           'scope': 'gpu'} "
    "tlbs={'l2': {'page': 4194304, 'sets': 4, 'ways': 2, "
    "             'policy': 'fifo', 'scope': 'gpc'}, "
    "      'l1': {'page': 2097152, 'entries': 16, 'policy': 'lru'}} "
    "paths/global.ca={'l1': 30, 'l2': [200, 210, 250.5], 'memory': 500} "
    "paths/global.cg={'l2': 190, 'memory': 490} "
    "page_window={'bytes': 536870912, 'latency': 1000} "
    "shared_memory={'bytes': 49152, 'latency': 25, 'conflict_cycles': 2.5} "
    "isa={'add.u32': {'O3': 4, 'O1': 5, 'issue': 2}, "
    "     'default': {'O3': 6, 'O0': 15}} "
    "noise={'jitter_cycles': 1.5, 'spike_rate': 0.002, 'spike_cycles': 300}";

/* The caller frees. */
static char *toy_text(const char *wishes)
{
    return gpu_made("%s %s", toy_gpu, wishes);
}

/* The caller frees. */
static struct profile *toy(const char *wishes)
{
    char *const text = toy_text(wishes);
    struct profile *profile;
    struct error err;
    ASSERT_DONE(profile_parse(text, "toy.json", &profile, &err), err);
    free(text);
    return profile;
}

static void expect_refusal(const char *text, const char *says)
{
    struct profile *profile;
    struct error err;
    ASSERT_FAILS(profile_parse(text, "toy.json", &profile, &err), ERR_FILE, err,
                 says);
    ASSERT_FAILS(err.code, ERR_FILE, err, "toy.json: ");
}

START_TEST(plain_values_are_read)
{
    struct profile *const p = toy("");
    ck_assert_str_eq(p->name, "Toy");
    ck_assert_str_eq(p->architecture, "Paper");
    ck_assert_int_eq(p->cc_major, 7);
    ck_assert_int_eq(p->cc_minor, 5);
    ck_assert_uint_eq(p->sms, 2);
    ck_assert_uint_eq(p->warp_schedulers, 4);
    ck_assert_uint_eq(p->max_threads_per_block, 512);
    ck_assert_uint_eq(p->max_warps_per_sm, 16);
    ck_assert_uint_eq(p->max_blocks_per_sm, 8);
    ck_assert_uint_eq(p->clock_khz, 1000000);
    ck_assert_uint_eq(p->memory_bytes, (uint64_t)1 << 30);
    ck_assert_uint_eq(p->page_window_bytes, (uint64_t)512 << 20);
    ck_assert_double_eq(p->page_window_latency, 1000);
    ck_assert_uint_eq(p->shared_bytes, 49152);
    ck_assert_double_eq(p->shared_latency, 25);
    ck_assert_double_eq(p->shared_conflict_cycles, 2.5);
    ck_assert_double_eq(p->jitter_cycles, 1.5);
    ck_assert_double_eq(p->spike_rate, 0.002);
    ck_assert_double_eq(p->spike_cycles, 300);
    profile_free(p);
}
END_TEST

START_TEST(what_is_not_told_has_its_default)
{
    struct profile *const p = toy("");
    ck_assert_str_eq(p->source, "");
    ck_assert_uint_eq(p->sms_per_tpc, 1);
    ck_assert_uint_eq(p->tpcs_per_gpc, 1);
    ck_assert_uint_eq(p->max_threads_per_sm, 512);
    ck_assert_uint_eq(p->constant_bytes, 65536);
    ck_assert_uint_eq(p->shared_per_block, 49152);
    ck_assert_uint_eq(p->banks.count, 32);
    ck_assert_uint_eq(p->banks.bank_bytes, 4);
    ck_assert_uint_eq(p->banks.row_words, 1);
    ck_assert_double_eq(p->clock_overhead, 2);
    ck_assert_int_eq(p->cores_per_sm, -1);
    ck_assert_int_eq(p->l2_reported_bytes, -1);
    ck_assert_int_eq(p->shared_reserved, -1);
    ck_assert_int_eq(p->paths[PATH_TEXTURE].present, 0);
    profile_free(p);
}
END_TEST

START_TEST(what_is_told_replaces_the_default)
{
    struct profile *const p =
        toy("cores_per_sm=64 ecc=1 clock_overhead=3.5 constant_bytes=32768 "
            "favours=older_blocks block_order=tpcs globaltimer_ns=32 "
            "max_threads_per_block=256 max_threads_per_sm=256");
    ck_assert_int_eq(p->cores_per_sm, 64);
    ck_assert_int_eq(p->ecc, 1);
    ck_assert_double_eq(p->clock_overhead, 3.5);
    ck_assert_uint_eq(p->constant_bytes, 32768);
    ck_assert_int_eq(p->favours, FAVOUR_OLDER_BLOCKS);
    ck_assert(p->tpcs_in_turn);
    ck_assert_uint_eq(p->globaltimer_ns, 32);
    ck_assert_uint_eq(p->max_threads_per_sm, 256);
    profile_free(p);
}
END_TEST

START_TEST(no_page_window_and_no_noise_are_zero)
{
    struct profile *const p = toy("page_window= noise=");
    ck_assert_uint_eq(p->page_window_bytes, 0);
    ck_assert_double_eq(p->jitter_cycles, 0);
    ck_assert_double_eq(p->spike_rate, 0);
    profile_free(p);
}
END_TEST

START_TEST(other_users_are_read)
{
    struct profile *const p =
        toy("intruder={'share': 0.1, 'cycles': 20000, 'every_cycles': 3000, "
            "          'empties': ['tlb_l2', 'l2']} "
            "neighbour={'from': 'l2', 'share': 0.3, 'cycles': 80, 'burst': 4}");
    ck_assert_double_eq(p->intruder.share, 0.1);
    ck_assert_double_eq(p->intruder.cycles, 20000);
    ck_assert_double_eq(p->intruder.every_cycles, 3000);
    ck_assert_uint_eq(p->intruder.caches, 1 << 1);
    ck_assert_uint_eq(p->intruder.tlbs, 1 << 1);
    ck_assert_int_eq(p->neighbour.from, 1);
    ck_assert_double_eq(p->neighbour.share, 0.3);
    ck_assert_double_eq(p->neighbour.cycles, 80);
    ck_assert_uint_eq(p->neighbour.burst, 4);
    profile_free(p);
}
END_TEST

START_TEST(who_else_there_is_has_defaults)
{
    struct profile *const none = toy("");
    ck_assert_double_eq(none->intruder.share, 0);
    ck_assert_double_eq(none->neighbour.share, 0);
    profile_free(none);
    struct profile *const p =
        toy("intruder={'share': 0.1, 'cycles': 20000} "
            "neighbour={'from': 'l1', 'share': 0.3, 'cycles': 80}");
    ck_assert_uint_eq(p->intruder.caches | p->intruder.tlbs, 0);
    ck_assert_double_eq(p->intruder.every_cycles, 0);
    ck_assert_uint_eq(p->neighbour.burst, 1);
    profile_free(p);
}
END_TEST

START_TEST(a_cache_is_read_whole)
{
    struct profile *const p = toy("");
    const struct profile_cache *const l1 = &p->caches[0];
    ck_assert_uint_eq(p->cache_count, 2);
    ck_assert_str_eq(l1->name, "l1");
    ck_assert_uint_eq(l1->shape.line, 128);
    ck_assert_uint_eq(l1->shape.sector, 32);
    ck_assert_uint_eq(l1->shape.sets, 4);
    ck_assert_uint_eq(l1->shape.set_ways[3], 4);
    ck_assert_uint_eq(l1->shape.index_bit_count, 2);
    ck_assert_uint_eq(l1->shape.index_bits[0], 1 << 7);
    ck_assert_uint_eq(l1->shape.index_bits[1], 1 << 8 | 1 << 12);
    ck_assert_int_eq(l1->shape.policy, POLICY_WEIGHTED);
    ck_assert_double_eq(l1->shape.weights[1], 3);
    ck_assert_uint_eq(l1->copies_per_sm, 2);
    ck_assert_int_eq(l1->scope, SCOPE_SM);
    profile_free(p);
}
END_TEST

START_TEST(a_cache_may_have_unequal_sets_and_whole_lines)
{
    struct profile *const p = toy("");
    const struct profile_cache *const l2 = &p->caches[1];
    ck_assert_uint_eq(l2->shape.sector, 128);
    ck_assert_uint_eq(l2->shape.sets, 2);
    ck_assert_uint_eq(l2->shape.set_ways[1], 2);
    ck_assert_int_eq(l2->shape.policy, POLICY_NRU);
    ck_assert_uint_eq(l2->copies_per_sm, 1);
    ck_assert_int_eq(l2->scope, SCOPE_GPU);
    profile_free(p);
}
END_TEST

START_TEST(slices_and_ages_are_read)
{
    struct profile *const p =
        toy("caches/l1/size= caches/l1/sets=24 "
            "caches/l1/set_bits=[[7, 11, 56], 8] "
            "caches/l1/slices={'modulo': 3, 'from_bit': 9, 'bits': [[7, 12]]} "
            "caches/l2/policy={'kind': 'rrip', 'most': 3, 'insert': 2, "
            "                  'hit': 0}");
    const struct cache_shape *const l1 = &p->caches[0].shape;
    ck_assert_uint_eq(cache_slice_sets(l1), 4);
    ck_assert_uint_eq(l1->index_bits[0], (uint64_t)1 << 56 | 1 << 11 | 1 << 7);
    ck_assert_uint_eq(l1->slices.modulo, 3);
    ck_assert_uint_eq(l1->slices.from_bit, 9);
    ck_assert_uint_eq(l1->slices.bit_count, 1);
    ck_assert_uint_eq(l1->slices.bits[0], 1 << 7 | 1 << 12);
    ck_assert_int_eq(p->caches[1].shape.policy, POLICY_RRIP);
    ck_assert_uint_eq(p->caches[1].shape.rrip.most, 3);
    ck_assert_uint_eq(p->caches[1].shape.rrip.insert, 2);
    ck_assert_uint_eq(p->caches[1].shape.rrip.hit, 0);
    profile_free(p);
}
END_TEST

/* Three of them, by the line's number over 32 or more: all remainders of the
 * number itself meet all of what it was divided by. */
START_TEST(slices_need_no_index_bits)
{
    struct profile *const p =
        toy("caches/l1/set_bits= caches/l1/size= caches/l1/sets=18 "
            "caches/l1/slices={'modulo': 3, 'from_bit': 12}");
    ck_assert_uint_eq(cache_slice_sets(&p->caches[0].shape), 6);
    profile_free(p);
}
END_TEST

START_TEST(an_entry_covers_pages)
{
    struct profile *const p = toy("tlbs/l1/region=33554432 tlbs/l2/fill=region "
                                  "tlbs/l2/region=1073741824");
    ck_assert_uint_eq(p->tlbs[0].page, 2 << 20);
    ck_assert_uint_eq(p->tlbs[0].shape.line, 32 << 20);
    ck_assert_uint_eq(p->tlbs[0].shape.sector, 2 << 20);
    ck_assert_uint_eq(p->tlbs[1].page, 4 << 20);
    ck_assert_uint_eq(p->tlbs[1].shape.line, 1 << 30);
    ck_assert_uint_eq(p->tlbs[1].shape.sector, 1 << 30);
    profile_free(p);
}
END_TEST

START_TEST(tlbs_come_by_level)
{
    struct profile *const p = toy("");
    ck_assert_uint_eq(p->tlb_count, 2);
    ck_assert_str_eq(p->tlbs[0].name, "l1");
    ck_assert_uint_eq(p->tlbs[0].shape.line, 2 << 20);
    ck_assert_uint_eq(p->tlbs[0].shape.sets, 1);
    ck_assert_uint_eq(p->tlbs[0].shape.set_ways[0], 16);
    ck_assert_uint_eq(p->tlbs[1].shape.sets, 4);
    ck_assert_int_eq(p->tlbs[1].scope, SCOPE_GPC);
    profile_free(p);
}
END_TEST

START_TEST(a_path_names_caches_and_latencies)
{
    struct profile *const p = toy("");
    const struct profile_path *const ca = &p->paths[PATH_GLOBAL_CA];
    ck_assert_int_eq(ca->present, 1);
    ck_assert_uint_eq(ca->levels, 2);
    ck_assert_int_eq(ca->cache[0], 0);
    ck_assert_int_eq(ca->cache[1], 1);
    ck_assert_double_eq(ca->latency[0].cycles[0], 30);
    ck_assert_double_eq(ca->latency[0].cycles[2], 30);
    ck_assert_double_eq(ca->latency[1].cycles[1], 210);
    ck_assert_double_eq(ca->latency[1].cycles[2], 250.5);
    ck_assert_double_eq(ca->memory.cycles[0], 500);
    ck_assert_int_eq(p->paths[PATH_GLOBAL_CG].cache[0], 1);
    profile_free(p);
}
END_TEST

START_TEST(levels_of_optimisation_are_filled_from_O3)
{
    struct profile *const p = toy("");
    ck_assert_uint_eq(p->isa_count, 2);
    ck_assert_str_eq(p->isa[0].name, "default");
    ck_assert_double_eq(p->isa[0].latency.level[0], 15);
    ck_assert_double_eq(p->isa[0].latency.level[4], 6);
    ck_assert_double_eq(p->isa[0].issue, 1);
    ck_assert_str_eq(p->isa[1].name, "add.u32");
    ck_assert_double_eq(p->isa[1].latency.level[0], 15);
    ck_assert_double_eq(p->isa[1].latency.level[1], 5);
    ck_assert_double_eq(p->isa[1].latency.level[2], 4);
    ck_assert_double_eq(p->isa[1].issue, 2);
    profile_free(p);
}
END_TEST

START_TEST(a_row_may_tell_what_powers_of_two_cost)
{
    struct profile *const p =
        toy("isa/div.u32={'O3': 50, 'power_of_two': {'O3': 30, 'O1': 31}}");
    const struct profile_isa *const row = &p->isa[2];
    ck_assert_str_eq(row->name, "div.u32");
    ck_assert_double_eq(row->latency.level[3], 50);
    ck_assert_double_eq(row->power_of_two.level[0], 30);
    ck_assert_double_eq(row->power_of_two.level[1], 31);
    ck_assert_double_eq(row->power_of_two.level[4], 30);
    ck_assert(row->has_power_of_two);
    ck_assert(!p->isa[1].has_power_of_two);
    profile_free(p);
}
END_TEST

START_TEST(unoptimised_code_has_its_own_times)
{
    struct profile *const p = toy("");
    struct profile *const q =
        toy("paths/global.cg/unoptimized_cycles=17 clock_overhead=3 "
            "shared_memory/unoptimized_cycles=29 "
            "clock_overhead_unoptimized=30");
    ck_assert_double_eq(p->paths[PATH_GLOBAL_CG].unoptimized_cycles, 0);
    ck_assert_double_eq(p->shared_unoptimized_cycles, 0);
    ck_assert_double_eq(p->clock_overhead_unoptimized, 2);
    ck_assert_double_eq(q->paths[PATH_GLOBAL_CG].unoptimized_cycles, 17);
    ck_assert_double_eq(q->paths[PATH_GLOBAL_CA].unoptimized_cycles, 0);
    ck_assert_double_eq(q->shared_unoptimized_cycles, 29);
    ck_assert_double_eq(q->clock_overhead_unoptimized, 30);
    profile_free(p);
    profile_free(q);
}
END_TEST

/* ---- what is refused ---- */

static const struct {
    const char *text, *says;
} not_json[] = {
    {"{ name: 2 }", "toy.json: line 1: "},
    {"{\n \"sms\": 2,,\n}", "toy.json: line 2: "},
    {"{\"sms\": 2, \"sms\": 2}", "duplicate"},
    {"", "toy.json: line 1: "},
    {"[]", "toy.json: the profile must be an object, not an array"},
};

START_TEST(what_is_no_object_is_refused)
{
    expect_refusal(not_json[_i].text, not_json[_i].says);
}
END_TEST

/* clang-format off */
static const struct {
    const char *wishes, *says;
} refused[] = {
    {"sms=", "sms is missing"},
    {"sms= sm=2", "sm is not a key of a profile; did you mean 'sms'?"},
    {"qwertyuiop=2", "qwertyuiop is not a key"},
    {"sms=two", "sms must be a whole number, not a string"},
    {"sms=2.5", "sms must be a whole number, not 2.5"},
    {"sms=0", "sms must be from 1 to 1024, not 0"},
    {"max_threads_per_block=1024", "max_threads_per_block is more than an SM"},
    {"sms=-1", "sms must be from 1 to 1024, not -1"},
    {"name=7", "name must be a string, not a number"},
    {"compute_capability='7'", "compute_capability must be like"},
    {"compute_capability='7.5x'", "compute_capability must be like"},
    {"compute_capability=7.5", "compute_capability must be a string"},
    {"favours=low_warp",
     "favours may not be 'low_warp'; did you mean 'low_warps'?"},
    {"block_order=1", "block_order must be a string"},
    {"default_operator=cx", "default_operator must be ca or cg, not 'cx'"},

    {"caches/l1/size=2000", "caches.l1.size is 2000, but the line times the "
                            "ways of all sets makes 2048"},
    {"caches/l1/line=96", "caches.l1.line must be a power of two, not 96"},
    {"caches/l1/sets=1048576 caches/l1/ways=16 caches/l1/size= caches/l1/policy='lru' caches/l1/set_bits=",
     "with those of the caches before, than the 16777216 that can be"},
    {"caches/l1/sector=256", "caches.l1: sectors of 256 bytes"},
    {"caches/l1/sets=", "caches.l1.sets is missing"},
    {"caches/l1/ways=0", "caches.l1.ways must be from 1"},
    {"caches/l1/sets=65536 caches/l1/ways=65536", "caches.l1 has more lines"},
    {"caches/l1/set_ways=[4]", "caches.l1 must tell its sets in one manner"},
    {"caches/l2/set_ways=[]", "caches.l2.set_ways must be an array"},
    {"caches/l2/set_ways=[4, 'x']",
     "caches.l2.set_ways must be a whole number"},
    {"caches/l1/set_bits=[7]", "caches.l1: 1 index bits do not make 4 sets"},
    {"caches/l1/set_bits=[7, 57]", "caches.l1.set_bits must be from 0 to 56"},
    {"caches/l1/set_bits=[7, [8, 57]]",
     "caches.l1.set_bits must be from 0 to 56"},
    {"caches/l1/set_bits=[[7, 12], [12, 7]]",
     "caches.l1 has sets to which no line goes"},
    {"caches/l1/slices=[]", "caches.l1.slices must be an object"},
    {"caches/l1/slices={'from_bit': 7}", "caches.l1.slices.modulo is missing"},
    {"caches/l1/slices={'modulo': 2}", "caches.l1.slices.from_bit is missing"},
    {"caches/l1/slices={'modulo': 0, 'from_bit': 7}",
     "caches.l1.slices.modulo must be from 1 to 65536"},
    {"caches/l1/slices={'modulo': 2, 'from_bit': 57}",
     "caches.l1.slices.from_bit must be from 0 to 56"},
    {"caches/l1/slices={'modulo': 2, 'from_bit': 12, 'bits': []}",
     "caches.l1.slices.bits must be an array of 1 to 31 index bits"},
    {"caches/l1/slices={'modulo': 3, 'from_bit': 12}",
     "caches.l1: 3 × 2^0 slices cannot share 4 sets"},
    {"caches/l1/slices={'modulo': 2, 'from_bit': 12}",
     "caches.l1: 2 index bits do not make 2 sets of a slice"},
    {"caches/l1/set_bits=[7] caches/l1/slices={'modulo': 2, 'from_bit': 6}",
     "caches.l1: slices by bit 6 cut through lines of 128 bytes"},
    {"caches/l1/set_bits=[7] caches/l1/slices={'modulo': 2, 'from_bit': 7}",
     "caches.l1 has sets to which no line goes"},
    {"caches/l1/set_bits=[7] "
     "caches/l1/slices={'modulo': 1, 'from_bit': 7, 'bits': [[12, 3]]}",
     "caches.l1: slice bit 0 lies within the line"},
    {"caches/l1/set_bits= caches/l1/slices={'modulo': 2, 'from_bit': 7}",
     "caches.l1 has sets to which no line goes"},
    {"caches/l1/set_bits= caches/l1/size= caches/l1/sets=18 "
     "caches/l1/slices={'modulo': 6, 'from_bit': 8}",
     "caches.l1 has sets to which no line goes"},
    {"caches/l1/set_bits= caches/l1/size= caches/l1/sets=36 "
     "caches/l1/slices={'modulo': 3, 'from_bit': 9}",
     "caches.l1 has sets to which no line goes"},
    {"caches/l2/slices={'modulo': 2, 'from_bit': 7}",
     "caches.l2: sets in slices must be equally large"},
    {"tlbs/l2/slices={'modulo': 2, 'from_bit': 22}",
     "tlbs.l2.slices is not a key"},
    {"caches/l1/set_bits=7", "caches.l1.set_bits must be an array"},
    {"caches/l1/address=real",
     "caches.l1.address must be physical or virtual, not 'real'"},
    {"mapping_bytes=3000000", "mapping_bytes must be a power of two"},
    {"caches/l1/set_bits=[6, 7]",
     "caches.l1: index bit 0 lies within the line"},
    {"caches/l1/policy/weights=[1, 3, 1]",
     "caches.l1.policy.weights must be an array of 4 weights"},
    {"caches/l1/policy/weights=[0, 0, 0, 0]", "caches.l1: no way has a weight"},
    {"caches/l1/policy/weights=[1, 3, 1, -1]",
     "caches.l1.policy.weights must be from"},
    {"caches/l1/policy/weights=", "caches.l1.policy.weights is missing"},
    {"caches/l1/policy/kind=", "caches.l1.policy.kind is missing"},
    {"caches/l1/policy/kind=lru",
     "caches.l1.policy.weights belongs to the kind 'weighted' alone"},
    {"caches/l2/policy=nrv",
     "caches.l2.policy has no policy 'nrv'; did you mean 'nru'?"},
    {"caches/l2/policy=weighted", "caches.l2.policy needs the weights"},
    {"caches/l2/policy=1", "caches.l2.policy must be a string or an object"},
    {"caches/l2/policy=lru_midpoint", "caches.l2.policy needs the hits: {"},
    {"caches/l2/policy={'kind': 'lru_midpoint'}",
     "caches.l2.policy.behind is missing"},
    {"caches/l2/policy={'kind': 'lru', 'behind': 1}",
     "caches.l2.policy.behind belongs to the kind 'lru_midpoint' alone"},
    {"caches/l2/policy=rrip", "caches.l2.policy needs the ages: {"},
    {"caches/l2/policy={'kind': 'rrip', 'insert': 1, 'hit': 0}",
     "caches.l2.policy.most is missing"},
    {"caches/l2/policy={'kind': 'rrip', 'most': 3, 'hit': 0}",
     "caches.l2.policy.insert is missing"},
    {"caches/l2/policy={'kind': 'rrip', 'most': 256, 'insert': 1, 'hit': 0}",
     "caches.l2.policy.most must be from 1 to 255, not 256"},
    {"caches/l2/policy={'kind': 'rrip', 'most': 3, 'insert': 4, 'hit': 0}",
     "caches.l2.policy.insert must be at most `most`, 3"},
    {"caches/l2/policy={'kind': 'rrip', 'most': 3, 'insert': 2, 'hit': 4}",
     "caches.l2.policy.hit must be at most `most`, 3"},
    {"caches/l2/policy={'kind': 'lru', 'hit': 0}",
     "caches.l2.policy.hit belongs to the kind 'rrip' alone"},
    {"caches/l2/policy=plru caches/l2/set_ways=[4, 3]",
     "caches.l2: the policy plru needs a power of two of ways, not 3"},
    {"caches/l2/policy=", "caches.l2.policy is missing"},
    {"caches/l2/scope=cpu",
     "caches.l2.scope must be sm, tpc, gpc or gpu, not 'cpu'"},
    {"caches/l2/copies_per_sm=2", "caches.l2.copies_per_sm must be 1"},
    {"caches/l1/copies_per_sm=5",
     "caches.l1.copies_per_sm must be from 1 to 4, not 5"},
    {"caches/l1/copies_sm=2", "caches.l1.copies_sm is not a key of a profile; "
                              "did you mean 'copies_per_sm'?"},
    {"caches/l2/fetch_64B=8192", "caches.l2.fetch_64B must be at most 4096"},
    {"caches/memory={'sets': 1, 'ways': 1}", "named 'memory'"},

    {"tlbs/l1/page=2097153", "tlbs.l1.page must be a power of two"},
    {"tlbs/l1/ways=2", "tlbs.l1 must tell its sets in one manner"},
    {"tlbs/l1/entries=0", "tlbs.l1.entries must be from 1"},
    {"tlbs/l1=", "tlbs.l1 is missing"},
    {"tlbs/l1/region=6291456", "tlbs.l1.region must be a power of two"},
    {"tlbs/l1/region=1048576",
     "tlbs.l1.region must be at least `page`, 2097152"},
    {"tlbs/l1/region=268435456",
     "tlbs.l1.region of more than 64 pages needs \"fill\": \"region\""},
    {"tlbs/l1/spare=65", "tlbs.l1.spare must be from 0 to 64, not 65"},
    {"tlbs/l1/spare=-1", "tlbs.l1.spare must be from 0 to 64, not -1"},
    {"caches/l1/spare=1", "caches.l1.spare is not a key of a profile"},
    {"tlbs/l1/fill=all", "tlbs.l1.fill must be page or region, not 'all'"},
    {"tlbs/l2/region=16777216 tlbs/l2/set_bits=[23, 25]",
     "tlbs.l2: index bit 0 lies within the line of 16777216"},
    {"tlbs/l2/set_bits=[22]", "tlbs.l2: 1 index bits do not make 4 sets"},
    {"tlbs/l2/set_bits=[22, [22, 22]]",
     "tlbs.l2: index bit 1 has no address bit"},
    {"tlbs/l2/set_bits=[[22, 30], [30, 22]]",
     "tlbs.l2 has sets to which no line goes"},
    {"tlbs/l4={'page': 4096, 'entries': 2}", "tlbs.l4 is not a key"},

    {"paths/instruction={'memory': 9} paths/instruction/prefetch=2",
     "paths.instruction.prefetch needs a cache"},
    {"paths/instruction={'l2': 5, 'memory': 9} paths/instruction/prefetch=257",
     "paths.instruction.prefetch must be from 0 to 256"},
    {"paths/global.ca/prefetch=2", "paths.global.ca.prefetch is not a key"},
    {"paths/global.ca/caches=['l1', 'L2']",
     "paths.global.ca.caches names 'L2', which is not among caches; did you "
     "mean 'l2'?"},
    {"paths/global.ca/caches=['l1', 'l1']",
     "paths.global.ca.caches names 'l1' twice"},
    {"paths/global.ca/caches=[1]",
     "paths.global.ca.caches must be an array of names"},
    {"paths/global.ca/latency/l2=", "paths.global.ca.latency.l2 is missing"},
    {"paths/global.ca/latency/l2=[200, 210]",
     "paths.global.ca.latency.l2 must be one number, three or four"},
    {"paths/global.ca/latency/l2=[200, 210, null]",
     "paths.global.ca.latency.l2 must be a number, not null"},
    {"paths/global.ca/latency/l1=-30",
     "paths.global.ca.latency.l1 must be from 0"},
    {"paths/global.ca/latency/l3=40",
     "paths.global.ca.latency.l3 is not a key"},
    {"paths/global.cg/latency/memry=490",
     "paths.global.cg.latency.memry is not a key of a profile; did you mean "
     "'memory'?"},
    {"paths/global.ca/window=3", "paths.global.ca.window is not a key"},
    {"paths/global.cg=", "paths.global.cg is missing"},
    {"paths/global.cq={'l2': 1, 'memory': 2}",
     "paths.global.cq is not a key of a profile; did you mean 'global.ca'?"},

    {"page_window/latency=true",
     "page_window.latency must be a number, not true or false"},
    {"page_window/bytes=", "page_window.bytes is missing"},
    {"shared_memory/banks=200",
     "shared_memory.banks must be from 1 to 128, not 200"},
    {"shared_memory/bank_bytes=5",
     "shared_memory.bank_bytes must be 4 or 8, not 5"},
    {"shared_memory/latency=", "shared_memory.latency is missing"},
    {"shared={}", "shared is not a key"},
    {"isa/default=", "isa.default is missing"},
    {"isa/default=6", "isa.default must be an object"},
    {"isa/add.u32/O3=", "isa.add.u32.O3 is missing"},
    {"isa/add.u32/O5=5", "isa.add.u32.O5 is not a key"},
    {"noise/spike_rate=2", "noise.spike_rate must be from 0 to 1, not 2"},
    {"noise/jitter_cycles=-1", "noise.jitter_cycles must be from 0 to 1000000"},
    {"noise/spike_cycles=1e7", "noise.spike_cycles must be from 0 to 1000000"},

    {"changes={'after_launches': 3, 'clock_khz': 100000000}",
     "changes.clock_khz must be 1000000 at most, the clock before, not "
     "100000000"},
    {"intruder={'share': 0.1}", "intruder.cycles is missing"},
    {"intruder={'cycles': 10}", "intruder.share is missing"},
    {"intruder={'share': 1.5, 'cycles': 10}",
     "intruder.share must be from 0 to 1, not 1.5"},
    {"intruder={'share': 0.1, 'cycles': -1}",
     "intruder.cycles must be from 0 to 1000000000, not -1"},
    {"intruder={'share': 0.1, 'cycles': 10, 'every_cycles': 20}",
     "intruder.every_cycles must be 0 (once a launch) or at least 1000, not "
     "20: nothing could be timed between two visits"},
    {"intruder={'share': 0.1, 'cycles': 10, 'empties': 'l1'}",
     "intruder.empties must be an array of names of caches and TLBs, not a "
     "string"},
    {"intruder={'share': 0.1, 'cycles': 10, 'empties': [1]}",
     "intruder.empties must be an array of names of caches and TLBs, not a "
     "number"},
    {"intruder={'share': 0.1, 'cycles': 10, 'empties': ['L2']}",
     "intruder.empties names 'L2', which is neither among caches nor a TLB; "
     "did you mean 'l2'?"},
    {"intruder={'share': 0.1, 'cycles': 10, 'empties': ['tlb_l3']}",
     "intruder.empties names 'tlb_l3', which is neither among caches nor a "
     "TLB; did you mean 'tlb_l1'?"},
    {"intruder={'share': 0.1, 'cycles': 10, 'empties': ['everything']}",
     "intruder.empties names 'everything', which is neither among caches nor "
     "a TLB, as \"tlb_l1\""},
    {"intruder={'share': 0.1, 'cycles': 10, 'emties': ['l1']}",
     "intruder.emties is not a key of a profile; did you mean 'empties'?"},
    {"neighbour={'share': 0.1, 'cycles': 10}", "neighbour.from is missing"},
    {"neighbour={'from': 'l3', 'share': 0.1, 'cycles': 10}",
     "neighbour.from names 'l3', which is not among caches; did you mean "
     "'l1'?"},
    {"neighbour={'from': 2, 'share': 0.1, 'cycles': 10}",
     "neighbour.from must be a string, not a number"},
    {"neighbour={'from': 'l2', 'share': -0.1, 'cycles': 10}",
     "neighbour.share must be from 0 to 1, not -0.1"},
    {"neighbour={'from': 'l2', 'share': 0.1, 'cycles': 1e7}",
     "neighbour.cycles must be from 0 to 1000000, not 10000000"},
    {"neighbour={'from': 'l2', 'share': 0.1, 'cycles': 10, 'burst': 0}",
     "neighbour.burst must be from 1 to 1048576, not 0"},
    {"neighbour={'from': 'l2', 'share': 0.1, 'cycles': 10, 'burst': 1.5}",
     "neighbour.burst must be a whole number, not 1.5"},
};
/* clang-format on */

START_TEST(a_wrong_profile_is_refused_by_file_and_key)
{
    char *const text = toy_text(refused[_i].wishes);
    expect_refusal(text, refused[_i].says);
    free(text);
}
END_TEST

/* ---- partitions ---- */

/* `sets` and `scope` of the L2, and the members of its partitions. */
static char *parted(const char *sets, const char *scope, const char *partitions)
{
    char *const wishes =
        xasprintf("caches/l2={%s, 'policy': 'nru', 'scope': '%s', "
                  "'partitions': {%s}}",
                  sets, scope, partitions);
    char *const text = toy_text(wishes);
    free(wishes);
    return text;
}

#define EVEN_SETS "'sets': 2, 'ways': 4"

START_TEST(partitions_are_read)
{
    char *const text = parted(EVEN_SETS, "gpu",
                              "'bits': [12, 13, 30], 'far_cycles': 150.5, "
                              "'replicates': true, 'sms': 'alternate'");
    struct profile *p;
    struct error err;
    ASSERT_DONE(profile_parse(text, "toy.json", &p, &err), err);
    const struct profile_partitions *const l2 = &p->caches[1].partitions;
    ck_assert_uint_eq(l2->bits, 1 << 12 | 1 << 13 | 1 << 30);
    ck_assert_double_eq(l2->far_cycles, 150.5);
    ck_assert(l2->replicates);
    ck_assert(l2->alternate);
    ck_assert_uint_eq(p->caches[0].partitions.bits, 0);
    profile_free(p);
    free(text);
}
END_TEST

/* clang-format off */
static const struct {
    const char *sets, *scope, *partitions, *says;
} refused_partitions[] = {
    {"'set_ways': [4, 2]", "gpu", "'bits': [12], 'far_cycles': 9",
     "caches.l2.partitions need sets with equal ways"},
    {"'sets': 3, 'ways': 4", "gpu", "'bits': [12], 'far_cycles': 9",
     "caches.l2.partitions need an even number of sets, not 3"},
    {EVEN_SETS, "gpc", "'bits': [12], 'far_cycles': 9",
     "caches.l2.partitions belong to a cache of scope gpu"},
    {EVEN_SETS ", 'set_bits': [7]", "gpu", "'bits': [12], 'far_cycles': 9",
     "caches.l2, each half: 1 index bits do not make 1 sets"},
    {"'sets': 4, 'ways': 2, 'set_bits': [[12, 14]]", "gpu",
     "'bits': [14, 12], 'far_cycles': 9",
     "caches.l2 has sets to which no line goes"},
    {"'sets': 4, 'ways': 2, 'slices': {'modulo': 1, 'from_bit': 7, "
     "'bits': [[12, 14]]}",
     "gpu", "'bits': [14, 12], 'far_cycles': 9",
     "caches.l2 has sets to which no line goes"},
    {"'sets': 6, 'ways': 2, 'slices': {'modulo': 2, 'from_bit': 14}", "gpu",
     "'bits': [12], 'far_cycles': 9",
     "caches.l2, each half: 2 × 2^0 slices cannot share 3 sets"},
    {EVEN_SETS ", 'evict_last': true", "gpu", "'bits': [12], 'far_cycles': 9",
     "caches.l2.partitions do not go with evict_first"},
    {EVEN_SETS, "gpu", "'bits': [21], 'far_cycles': 9",
     "caches.l2.partitions need bits of which the lowest is 11 to 20"},
    {EVEN_SETS, "gpu", "'bits': [12, 12], 'far_cycles': 9",
     "caches.l2.partitions need bits of which the lowest is 11 to 20"},
    {EVEN_SETS, "gpu", "'bits': [], 'far_cycles': 9",
     "caches.l2.partitions.bits must be an array of address bits"},
    {EVEN_SETS, "gpu", "'bits': [12]",
     "caches.l2.partitions.far_cycles is missing"},
    {EVEN_SETS, "gpu", "'bits': [12], 'far_cycles': 9, 'replicates': 1",
     "caches.l2.partitions.replicates must be true or false, not a number"},
    {EVEN_SETS, "gpu", "'bits': [12], 'far_cycles': 9, 'sms': 'odd'",
     "caches.l2.partitions.sms must be halves or alternate, not 'odd'"},
    {EVEN_SETS, "gpu", "'bits': [12], 'far_cycles': 9, 'count': 2",
     "caches.l2.partitions.count is not a key"},
};
/* clang-format on */

START_TEST(partitions_that_cannot_be_are_refused)
{
    char *const text =
        parted(refused_partitions[_i].sets, refused_partitions[_i].scope,
               refused_partitions[_i].partitions);
    expect_refusal(text, refused_partitions[_i].says);
    free(text);
}
END_TEST

/* ---- finding profiles ---- */

/* The caller frees the path. */
static char *toy_file(void)
{
    char *const text = toy_text("");
    char *const path = testing_file("toy.json", text);
    free(text);
    return path;
}

START_TEST(a_path_is_read_as_a_file)
{
    char *const path = toy_file();
    struct profile *profile;
    struct error err;
    ASSERT_DONE(profile_open(path, NULL, &profile, &err), err);
    ck_assert_str_eq(profile->name, "Toy");
    profile_free(profile);
    free(path);
}
END_TEST

START_TEST(a_wrong_file_is_named)
{
    char *const path = testing_file("toy.json", "{\n\n]");
    struct profile *profile;
    struct error err;
    ASSERT_FAILS(profile_open(path, NULL, &profile, &err), ERR_FILE, err,
                 "toy.json: line 3: ");
    ASSERT_FAILS(profile_open("not-there.json", NULL, &profile, &err),
                 ERR_NO_DEVICE, err, "cannot read not-there.json");
    free(path);
}
END_TEST

START_TEST(a_name_is_looked_for_in_the_folder_too)
{
    char *const path = toy_file();
    struct profile *profile;
    struct error err;
    *strrchr(path, '/') = '\0';
    ASSERT_DONE(profile_open("toy", path, &profile, &err), err);
    ck_assert_str_eq(profile->name, "Toy");
    profile_free(profile);
    ASSERT_FAILS(profile_open("toi", path, &profile, &err), ERR_NO_DEVICE, err,
                 "'toi'");
    free(path);
}
END_TEST

START_TEST(an_unknown_name_brings_the_nearest)
{
    struct profile *profile;
    struct error err;
    ASSERT_FAILS(profile_open("k20", NULL, &profile, &err), ERR_NO_DEVICE, err,
                 "there is no profile 'k20'; did you mean 'k20c'?");
    ASSERT_FAILS(profile_open("qwertyuiop", NULL, &profile, &err),
                 ERR_NO_DEVICE, err, "sonde list");
}
END_TEST

/* ---- what is shipped ---- */

static struct profile *open_shipped(const char *name)
{
    struct profile *profile;
    struct error err;
    ASSERT_DONE(profile_open(name, NULL, &profile, &err), err);
    return profile;
}

static const struct profile_cache *find(const struct profile *p,
                                        const char *name)
{
    for (size_t i = 0; i < p->cache_count; i++)
        if (strcmp(p->caches[i].name, name) == 0)
            return &p->caches[i];
    return NULL;
}

START_TEST(every_shipped_profile_is_whole)
{
    size_t count = 0;
    for (const struct shipped_profile *s = shipped_profiles; s->name; s++) {
        struct profile *const p = open_shipped(s->name);
        ck_assert_msg(p->source[0] != '\0', "%s tells no source", s->name);
        ck_assert_msg(p->cores_per_sm > 0, "%s tells no cores", s->name);
        ck_assert_uint_ge(p->tlb_count, 2);
        ck_assert_ptr_nonnull(find(p, "l2"));
        ck_assert_double_gt(p->jitter_cycles, 0);
        profile_free(p);
        count++;
    }
    ck_assert_uint_eq(count, 16);
}
END_TEST

START_TEST(every_shipped_cache_has_the_size_that_it_tells)
{
    for (const struct shipped_profile *s = shipped_profiles; s->name; s++) {
        struct profile *const p = open_shipped(s->name);
        json_t *const root = json_loads(s->text, 0, NULL);
        const json_t *const caches = json_object_get(root, "caches");
        for (size_t i = 0; i < p->cache_count; i++) {
            const json_t *const size = json_object_get(
                json_object_get(caches, p->caches[i].name), "size");
            ck_assert_uint_eq(cache_shape_bytes(&p->caches[i].shape),
                              (uint64_t)json_integer_value(size));
        }
        json_decref(root);
        profile_free(p);
    }
}
END_TEST

START_TEST(farther_levels_are_slower)
{
    for (const struct shipped_profile *s = shipped_profiles; s->name; s++) {
        struct profile *const p = open_shipped(s->name);
        for (size_t i = 0; i < PATH_COUNT; i++) {
            const struct profile_path *const path = &p->paths[i];
            double nearer = 0;
            for (size_t k = 0; k < path->levels; k++) {
                ck_assert_double_gt(path->latency[k].cycles[0], nearer);
                nearer = path->latency[k].cycles[0];
            }
            if (path->present)
                ck_assert_double_gt(path->memory.cycles[0], nearer);
        }
        profile_free(p);
    }
}
END_TEST

/* What the papers say: Mei 2014, tables 1 and 3; Groessler 2022, tables 5.4
 * to 5.9; 0: global loads are not cached in L1. */
static const struct {
    const char *name;
    unsigned sms;
    uint64_t l2_bytes;
    double l1, l2, memory, shared;
} published[] = {
    {"gtx560ti",  8,   512 << 10,  116, 404, 655, 50},
    {"gtx780",    12,  1536 << 10, 0,   230, 371, 47},
    {"k20c",      13,  1280 << 10, 64,  223, 339, 47},
    {"gtx840m",   3,   1 << 20,    0,   173, 448, 31},
    {"p6000",     30,  3 << 20,    92,  243, 412, 31},
    {"v100",      80,  6 << 20,    36,  215, 430, 27},
    {"rtx2080ti", 68,  5632 << 10, 40,  230, 425, 30},
    {"a100",      108, 40 << 20,   39,  223, 567, 28},
};

START_TEST(shipped_profiles_say_what_was_published)
{
    struct profile *const p = open_shipped(published[_i].name);
    const struct profile_path *const ca = &p->paths[PATH_GLOBAL_CA];
    const size_t levels = published[_i].l1 > 0 ? 2 : 1;
    ck_assert_uint_eq(p->sms, published[_i].sms);
    ck_assert_uint_eq(cache_shape_bytes(&find(p, "l2")->shape),
                      published[_i].l2_bytes);
    ck_assert_uint_eq(ca->levels, levels);
    if (levels == 2)
        ck_assert_double_eq(ca->latency[0].cycles[0], published[_i].l1);
    ck_assert_double_eq(ca->latency[levels - 1].cycles[0], published[_i].l2);
    ck_assert_double_eq(ca->memory.cycles[0], published[_i].memory);
    ck_assert_double_eq(p->shared_latency, published[_i].shared);
    profile_free(p);
}
END_TEST

static void add_value_tests(TCase *t)
{
    tcase_add_test(t, plain_values_are_read);
    tcase_add_test(t, what_is_not_told_has_its_default);
    tcase_add_test(t, what_is_told_replaces_the_default);
    tcase_add_test(t, no_page_window_and_no_noise_are_zero);
    tcase_add_test(t, other_users_are_read);
    tcase_add_test(t, who_else_there_is_has_defaults);
    tcase_add_test(t, a_cache_is_read_whole);
    tcase_add_test(t, a_cache_may_have_unequal_sets_and_whole_lines);
    tcase_add_test(t, slices_and_ages_are_read);
    tcase_add_test(t, slices_need_no_index_bits);
    tcase_add_test(t, an_entry_covers_pages);
    tcase_add_test(t, tlbs_come_by_level);
    tcase_add_test(t, a_path_names_caches_and_latencies);
    tcase_add_test(t, levels_of_optimisation_are_filled_from_O3);
    tcase_add_test(t, a_row_may_tell_what_powers_of_two_cost);
    tcase_add_test(t, unoptimised_code_has_its_own_times);
}

Suite *suite_profile(void)
{
    TCase *t;
    Suite *const suite = suite_of("profile", 20, &t);
    add_value_tests(t);
    tcase_add_loop_test(t, a_wrong_profile_is_refused_by_file_and_key, 0,
                        (int)COUNT_OF(refused));
    tcase_add_test(t, partitions_are_read);
    tcase_add_loop_test(t, partitions_that_cannot_be_are_refused, 0,
                        (int)COUNT_OF(refused_partitions));
    tcase_add_loop_test(t, what_is_no_object_is_refused, 0,
                        (int)COUNT_OF(not_json));
    tcase_add_test(t, a_path_is_read_as_a_file);
    tcase_add_test(t, a_wrong_file_is_named);
    tcase_add_test(t, a_name_is_looked_for_in_the_folder_too);
    tcase_add_test(t, an_unknown_name_brings_the_nearest);
    tcase_add_test(t, every_shipped_profile_is_whole);
    tcase_add_test(t, every_shipped_cache_has_the_size_that_it_tells);
    tcase_add_test(t, farther_levels_are_slower);
    tcase_add_loop_test(t, shipped_profiles_say_what_was_published, 0,
                        (int)COUNT_OF(published));
    return suite;
}
