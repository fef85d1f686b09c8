/*
 * Who shares a cache: kinds of loads, warps, SMs.  The studies must find what
 * the profile says, on every shipped profile and on small ones that are drawn
 * here, whose caches are one or several, split or not, of an SM or of more.
 * SEEDS says with how many seeds of noise the shipped ones are tried (1),
 * SHARING_GPUS how many are drawn (1, and 11 more as slow tests).
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "device/sim/profile/profile.h"
#include "gpu_made.h"
#include "sonde.h"
#include "testing.h"
#include "truth/truth.h"

enum { DRAWN = 1, DRAWN_SLOW = 11, WARPS = 16, KINDS = 5 };

static const struct kind {
    const char *component;
    enum profile_path_id path;
} kinds[KINDS] = {
    {"l1", PATH_GLOBAL_CA},      {"texture", PATH_TEXTURE},
    {"readonly", PATH_READONLY}, {"local", PATH_LOCAL},
    {"const_l1", PATH_CONSTANT},
};

/* ---- what is true ----------------------------------------------------- */

/* The cache that a path asks first; NULL if that is L2. */
static const struct profile_cache *first_of(const struct profile *p,
                                            enum profile_path_id id)
{
    const struct profile_path *const path = &p->paths[id];
    const struct profile_path *const past = &p->paths[PATH_GLOBAL_CG];
    if (!path->present || path->levels == 0 || path->cache[0] == past->cache[0])
        return NULL;
    return &p->caches[path->cache[0]];
}

/* L1 is what global loads ask first, or else local ones. */
static const struct profile_cache *cache_of(const struct profile *p, size_t i)
{
    const struct profile_cache *const c = first_of(p, kinds[i].path);
    return i == 0 && c == NULL ? first_of(p, PATH_LOCAL) : c;
}

static json_t *shares_of(const struct profile *p, size_t kind)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < KINDS; i++)
        if (i != kind && cache_of(p, i) == cache_of(p, kind))
            json_array_append_new(list, json_string(kinds[i].component));
    return list;
}

static json_t *copies_of(const struct profile *p, const struct profile_cache *c)
{
    json_t *const list = json_array();
    const uint64_t copies = c->copies_per_sm > 0 ? c->copies_per_sm : 1;
    const uint64_t warps = u64_min(WARPS, p->max_threads_per_block / 32);
    for (uint64_t warp = 0; warp < warps; warp++)
        json_array_append_new(
            list,
            json_integer((json_int_t)(warp % p->warp_schedulers % copies)));
    return list;
}

static json_t *sms_of(const struct profile *p, const struct profile_cache *c)
{
    const uint64_t of_tpc = p->sms_per_tpc > 0 ? p->sms_per_tpc : 1;
    const uint64_t of_gpc =
        of_tpc * (p->tpcs_per_gpc > 0 ? p->tpcs_per_gpc : 1);
    const uint64_t sms = c->scope == SCOPE_TPC   ? of_tpc
                         : c->scope == SCOPE_GPC ? of_gpc
                         : c->scope == SCOPE_GPU ? p->sms
                                                 : 1;
    return json_integer((json_int_t)(sms < p->sms ? sms : p->sms));
}

/* ---- what was found --------------------------------------------------- */

/* Of a profile and what was found of it, which end with it. */
struct comparison {
    struct profile *profile;
    json_t *findings;
    struct buf rows;
    bool may_miss; /* what follows need not be measured, but not be wrong */
};

/* `expected` is taken; NULL: no value, for a reason. */
static void compare(struct comparison *c, const char *component,
                    const char *attribute, json_t *expected)
{
    char *const id = xasprintf("%s.%s", component, attribute);
    const json_t *const f = json_object_get(c->findings, id);
    const json_t *const value = json_object_get(f, "value");
    const char *const because =
        json_string_value(json_object_get(f, "because"));
    const bool missing = value == NULL || json_is_null(value);
    const bool good = missing
                          ? (expected == NULL || c->may_miss) && because != NULL
                          : expected != NULL && json_equal(value, expected);
    if (!good) {
        char *const want =
            expected != NULL ? json_dumps(expected, JSON_ENCODE_ANY) : NULL;
        char *const have = json_dumps(f, JSON_ENCODE_ANY);
        buf_printf(&c->rows, "%s: expected %s, found %.300s\n", id,
                   want != NULL ? want : "nothing",
                   have != NULL ? have : "nothing");
        free(want);
        free(have);
    }
    json_decref(expected);
    free(id);
}

static void compare_copies(struct comparison *c, size_t kind)
{
    const struct profile *const p = c->profile;
    const struct profile_cache *const cache = cache_of(p, kind);
    const char *const component = kinds[kind].component;
    const json_int_t copies =
        cache != NULL && cache->copies_per_sm > 0 ? cache->copies_per_sm : 1;
    /* Where local loads alone show L1, it may be too large to be flooded. */
    c->may_miss = kind == 0 && first_of(p, PATH_GLOBAL_CA) == NULL;
    compare(c, component, "per_sm",
            cache != NULL ? json_integer(copies) : NULL);
    compare(c, component, "copy_of_warp",
            cache != NULL ? copies_of(p, cache) : NULL);
    if (kinds[kind].path != PATH_READONLY)
        compare(c, component, "sms_sharing",
                cache != NULL ? sms_of(p, cache) : NULL);
    c->may_miss = false;
}

/* The next cache is behind the first one: where constants cannot overfill
 * that, or SMs find there what others loaded, it may stay unknown. */
static void compare_next_constant(struct comparison *c)
{
    const struct profile *const p = c->profile;
    const struct profile_path *const path = &p->paths[PATH_CONSTANT];
    const struct profile_cache *const first = first_of(p, PATH_CONSTANT);
    const bool exists = first != NULL && path->levels > 1 &&
                        path->cache[1] != p->paths[PATH_GLOBAL_CG].cache[0];
    c->may_miss = exists && (cache_shape_bytes(&first->shape) > 16384 ||
                             first->scope != SCOPE_SM);
    compare(c, "const_l15", "sms_sharing",
            exists ? sms_of(p, &p->caches[path->cache[1]]) : NULL);
    c->may_miss = false;
}

static void end_comparison(struct comparison *c)
{
    ck_assert_msg(c->rows.length == 0, "%s", buf_string(&c->rows));
    buf_free(&c->rows);
    json_decref(c->findings);
    profile_free(c->profile);
}

static void expect_truth(struct comparison c)
{
    for (size_t i = 0; i < KINDS; i++) {
        compare(&c, kinds[i].component, "shares_with",
                cache_of(c.profile, i) != NULL ? shares_of(c.profile, i)
                                               : NULL);
        if (kinds[i].path != PATH_LOCAL)
            compare_copies(&c, i);
    }
    compare_next_constant(&c);
    end_comparison(&c);
}

static struct profile *profile_of(const char *name)
{
    struct profile *p;
    struct error err;
    ASSERT_DONE(profile_open(name, NULL, &p, &err), err);
    return p;
}

/* Of a made GPU, whose text is freed. */
static struct comparison comparison_of(char *gpu, uint64_t seed)
{
    const char *const study = "copies";
    char *const path = testing_file("gpu.json", gpu);
    char *const spec = xasprintf("sim:%s", path);
    const struct comparison c = {.profile = profile_of(path),
                                 .findings =
                                     truth_findings(spec, seed, &study, 1)};
    free(spec);
    free(path);
    free(gpu);
    return c;
}

START_TEST(shipped_gpus_are_found_to_share_as_they_do)
{
    const char *const gpu = truth_gpus[_i % TRUTH_GPUS];
    const uint64_t seed = 1 + (uint64_t)_i / TRUTH_GPUS;
    expect_truth((struct comparison){.profile = profile_of(gpu),
                                     .findings = truth_topology(gpu, seed)});
}
END_TEST

/* ---- small GPUs ------------------------------------------------------- */

static uint64_t between(struct rng *r, uint64_t least, uint64_t most)
{
    return least + rng_below(r, most - least + 1);
}

static const char *one_of(struct rng *r, const char *const *words, size_t count)
{
    return words[rng_below(r, count)];
}

/* Split, or of several SMs, or neither. */
static void draw_cache(struct rng *r, const char *name, uint64_t line,
                       uint64_t least_sets, uint64_t schedulers, json_t *gpu)
{
    static const char *const policies[] = {"lru", "fifo", "random", "nru",
                                           "plru"};
    static const char *const scopes[] = {"tpc", "gpc"};
    const uint64_t kind = rng_below(r, 3);
    const char *const policy = one_of(r, policies, COUNT_OF(policies));
    const uint64_t sets = least_sets << rng_below(r, 4);
    const uint64_t sector = rng_below(r, 2) > 0 && line > 32 ? line / 2 : line;
    gpu_wish(gpu,
             "caches/%s={'line': %" PRIu64 ", 'sector': %" PRIu64
             ", 'sets': %" PRIu64 ", 'ways': 4, 'policy': '%s'}",
             name, line, sector, sets, policy);
    if (kind == 1)
        gpu_wish(gpu, "caches/%s/copies_per_sm=%" PRIu64, name,
                 between(r, 1, schedulers));
    if (kind == 2)
        gpu_wish(gpu, "caches/%s/scope=%s", name, one_of(r, scopes, 2));
}

static void draw_path(struct rng *r, const char *name, const char *first,
                      const char *second, json_t *gpu)
{
    const uint64_t hit = between(r, 20, 120), l2 = between(r, 250, 400);
    char next[64] = "";
    const uint64_t found = hit + rng_below(r, 60);
    if (second != NULL)
        snprintf(next, sizeof next, "'%s': %" PRIu64 ",", second,
                 hit + between(r, 40, 90));
    gpu_wish(gpu,
             "paths/%s={'%s': [%" PRIu64 ", %" PRIu64 ", %" PRIu64
             "], %s 'l2': %" PRIu64 ", 'memory': %" PRIu64 "}",
             name, first, hit, found, hit + 200, next, l2,
             l2 + between(r, 100, 300));
}

/* The L2 comes last: chance of a cache depends on its place. */
static void draw_caches(struct rng *r, uint64_t schedulers, json_t *gpu)
{
    gpu_wish(gpu, "caches={}");
    draw_cache(r, "l1", 128, 16, schedulers, gpu);
    draw_cache(r, "texture", 32u << rng_below(r, 3), 32, schedulers, gpu);
    draw_cache(r, "readonly", 64u << rng_below(r, 3), 32, schedulers, gpu);
    draw_cache(r, "local", 128, 16, schedulers, gpu);
    draw_cache(r, "const_l1", 64, 8, schedulers, gpu);
    draw_cache(r, "const_l15", 256, 64, 1, gpu);
    gpu_wish(gpu, "caches/l2={'sets': 1024, 'ways': 16, 'scope': 'gpu'}");
}

/* Each kind asks a cache of its own, or one that another asks, too. */
static void draw_paths(struct rng *r, json_t *gpu)
{
    static const char *const first[] = {"l1", "texture", "readonly", "local"};
    draw_path(r, "global.ca", rng_below(r, 6) > 0 ? "l1" : "texture", NULL,
              gpu);
    draw_path(r, "texture", one_of(r, first, 2), NULL, gpu);
    if (rng_below(r, 4) > 0)
        draw_path(r, "readonly", one_of(r, first, 3), NULL, gpu);
    draw_path(r, "local", one_of(r, first, 4), NULL, gpu);
    draw_path(r, "constant", rng_below(r, 4) > 0 ? "const_l1" : "l1",
              rng_below(r, 4) > 0 ? "const_l15" : NULL, gpu);
    gpu_wish(gpu, "paths/global.cg={'l2': 240, 'memory': 500}");
}

static char *draw_gpu(uint64_t seed)
{
    struct rng r;
    json_t *const gpu = gpu_plain();
    rng_seed(&r, seed);
    const uint64_t schedulers = between(&r, 1, 4);
    gpu_wish(gpu,
             "compute_capability='7.0' sms=%" PRIu64 " sms_per_tpc=%" PRIu64
             " tpcs_per_gpc=%" PRIu64 " warp_schedulers=%" PRIu64,
             between(&r, 1, 40), between(&r, 1, 4), between(&r, 1, 3),
             schedulers);
    draw_caches(&r, schedulers, gpu);
    draw_paths(&r, gpu);
    if (rng_below(&r, 2) > 0)
        gpu_wish(gpu, "tlbs/l1={'page': 65536, 'entries': 8}");
    gpu_wish(gpu,
             "noise={'jitter_cycles': %.1f, 'spike_rate': 0.003, "
             "'spike_cycles': %" PRIu64 "}",
             2.5 * rng_unit(&r), between(&r, 100, 600));
    return gpu_text(gpu);
}

START_TEST(drawn_gpus_are_found_to_share_as_they_do)
{
    expect_truth(comparison_of(draw_gpu((uint64_t)_i), (uint64_t)_i));
}
END_TEST

/* Where many warps run a load is timed as slower than in a warp by itself: a
 * hit in any of their caches, by more than hits vary. */
START_TEST(hits_may_cost_more_where_many_warps_run)
{
    char *const json = gpu_made(
        "sms=4 warp_schedulers=2 caches/l1={'sets': 16, 'ways': 4} "
        "caches/const_l1={'line': 64, 'sets': 8, 'ways': 4} "
        "caches/const_l15={'line': 256, 'sets': 64, 'ways': 4} "
        "paths/global.ca={'l1': 30, 'l2': 250, 'memory': 500} "
        "paths/local={'l1': 30, 'l2': 250, 'memory': 500} "
        "paths/constant={'const_l1': 30, 'const_l15': 100, 'l2': 250, "
        "'memory': 500} noise={'jitter_cycles': 1, 'crowd_cycles': %d}",
        _i);
    expect_truth(comparison_of(json, 1));
}
END_TEST

/* GPUs on which copies were counted wrongly, each with the findings that tell.
 */
static const struct miscounted {
    const char *component, *gpu;
} miscounted[] = {
    /* A cache too small for a group, whose misses cost half as much again as
     * hits, as the clock reads cost more than either. */
    {"const_l1", "sms=1 warp_schedulers=2 clock_overhead=32 "
                 "caches/const_l1={'sets': 4, 'ways': 2, 'copies_per_sm': 2, "
                 "'set_bits': [[9, 10, 11], [7, 10, 11]]} "
                 "caches/const_l15={'sets': 1, 'ways': 150} "
                 "paths/constant={'const_l1': 14, 'const_l15': 49, 'l2': 315, "
                 "'memory': 656} noise={'jitter_cycles': 1}"},
    /* One of seven lines: a group of eight never fits. */
    {"const_l1", "sms=1 warp_schedulers=2 "
                 "caches/const_l1={'line': 128, 'sets': 1, 'ways': 7, "
                 "'policy': 'fifo', 'copies_per_sm': 2} "
                 "caches/const_l15={'sets': 32, 'ways': 8} "
                 "paths/constant={'const_l1': 20, 'const_l15': 80, 'l2': 250, "
                 "'memory': 500} noise={'jitter_cycles': 1}"},
    /* Local memory alone, of which a lane's words lie in half of the sets: by
     * high address bits another warp's in the other half. */
    {"l1",
     "sms=2 warp_schedulers=3 caches/l1={'line': 32, 'sets': 16, 'ways': 17, "
     "'policy': 'nru', 'copies_per_sm': 3, "
     "'set_bits': [[5, 16, 18], [6, 10, 13, 14, 16, 17], "
     "[7, 9, 10, 11, 13, 15, 16, 17], [8, 14, 15, 17, 18]]} "
     "paths/local={'l1': 132, 'l2': 353, 'memory': 856} "
     "noise={'jitter_cycles': 1}"},
    /* Of warp 4 a hit takes longer each time, by its code, which was not there,
     * and by the script, which shared memory gives slowly: by more than others
     * vary, and by far less than a miss does. */
    {"const_l1", "sms=1 clock_overhead=2 isa/default/O3=9 "
                 "shared_memory/read_bandwidth=17.6 "
                 "caches/const_l1={'line': 64, 'sector': 64, 'sets': 8, "
                 "'ways': 4, 'copies_per_sm': 4} "
                 "caches/const_l15={'line': 256, 'sector': 256, 'sets': 16, "
                 "'ways': 8} caches/icache_l0={'sector': 128, 'sets': 16, "
                 "'ways': 4} "
                 "paths/constant={'const_l1': 16, 'const_l15': 120, "
                 "'l2': 260, 'memory': 376} "
                 "paths/instruction={'icache_l0': 4, 'const_l15': 44, "
                 "'memory': 260}"},
    /* Local memory alone, by lines so long that a group is two of them. */
    {"l1", "sms=1 warp_schedulers=2 max_threads_per_block=128 "
           "max_warps_per_sm=4 max_blocks_per_sm=2 "
           "caches/l1={'line': 512, 'sector': 512, 'sets': 8, 'ways': 4, "
           "'copies_per_sm': 2} caches/l2/sets=32 caches/l2/ways=8 "
           "paths/local={'l1': 60, 'l2': 250, 'memory': 500}"},
    /* What pushes lines out of the first cache pushes them out of the next one,
     * too, which holds little more: so misses seemed to cost what L2 does, and
     * hits of the next one, nearer than a quarter to that, those of the first.
     */
    {"const_l1", "sms=1 warp_schedulers=2 clock_overhead=39 "
                 "caches/const_l1={'line': 32, 'sector': 32, 'sets': 3, "
                 "'ways': 20, 'policy': 'random', 'copies_per_sm': 2} "
                 "caches/const_l15={'line': 256, 'sector': 256, 'sets': 1, "
                 "'ways': 24} paths/global={'l2': 353, 'memory': 831} "
                 "paths/constant={'const_l1': 11, 'const_l15': 86, 'l2': 353, "
                 "'memory': 831} noise={'jitter_cycles': 1}"},
    /* Lines that were hit twice stay, whatever comes, so that no number of
     * loads pushes all out, and none tells what the next cache costs: its hits,
     * nearer than a quarter to what L2 costs, seemed to be those of the first.
     */
    {"const_l1", "sms=1 warp_schedulers=3 clock_overhead=20 "
                 "caches/const_l1={'line': 32, 'sector': 32, 'sets': 64, "
                 "'ways': 2, 'set_bits': [[6], [7], [8], [9], [10], [11]], "
                 "'policy': {'kind': 'lru_midpoint', 'behind': 3}, "
                 "'copies_per_sm': 2} "
                 "caches/const_l15={'line': 64, 'sector': 64, 'sets': 64, "
                 "'ways': 7} paths/global={'l2': 362, 'memory': 585} "
                 "paths/constant={'const_l1': 48, 'const_l15': 96, 'l2': 362, "
                 "'memory': 585} noise={'jitter_cycles': 2}"},
};

START_TEST(copies_are_those_of_the_profile)
{
    const struct miscounted *const m = &miscounted[_i];
    char *const json = gpu_made("%s", m->gpu);
    struct comparison c = comparison_of(json, 1);
    const struct profile *const p = c.profile;
    size_t kind = 0;
    while (strcmp(kinds[kind].component, m->component) != 0)
        kind++;
    compare(&c, m->component, "copy_of_warp", copies_of(p, cache_of(p, kind)));
    end_comparison(&c);
}
END_TEST

/* Constants that another SM brought into L2 cost less there than in memory, or
 * than a load that a neighbour delays: no sign of a cache that SMs share. */
START_TEST(what_l2_holds_is_not_shared_before_it)
{
    static const char *const scopes[] = {"sm", "tpc"};
    char *const json = gpu_made(
        "sms=6 sms_per_tpc=2 warp_schedulers=2 max_threads_per_block=256 "
        "caches/l1={'sets': 8, 'ways': 4} "
        "caches/l2={'sets': 128, 'ways': 8, 'scope': 'gpu'} "
        "caches/const_l1={'line': 64, 'sets': 8, 'ways': 4} "
        "caches/const_l15={'line': 256, 'sets': 16, 'ways': 8, "
        "'scope': '%s'} "
        "paths/global.ca={'l1': 30, 'l2': 216, 'memory': 430} "
        "paths/global.cg={'l2': 216, 'memory': 430} "
        "paths/constant={'const_l1': 24, 'const_l15': 80, 'l2': 230, "
        "'memory': 430} noise={'jitter_cycles': 1.5, 'spike_rate': 0.002, "
        "'spike_cycles': 300} "
        "neighbour={'from': 'l2', 'share': 0.6, 'cycles': 800, 'burst': 64}",
        scopes[_i % 2]);
    struct comparison c = comparison_of(json, 1 + (uint64_t)_i / 2);
    const struct profile *const p = c.profile;
    c.may_miss = true;
    compare(&c, "const_l15", "sms_sharing",
            sms_of(p, &p->caches[p->paths[PATH_CONSTANT].cache[1]]));
    c.may_miss = false;
    compare(&c, "const_l1", "sms_sharing", json_integer(1));
    compare(&c, "const_l1", "per_sm", json_integer(1));
    end_comparison(&c);
}
END_TEST

/* Where L2 is so small that nothing tells whether it is in parts, the cheapest
 * line of it is still dearer than what the next cache has. */
START_TEST(sms_share_what_is_before_an_l2_that_is_not_known)
{
    char *const json = gpu_made(
        "sms=4 sms_per_tpc=2 warp_schedulers=2 max_threads_per_block=64 "
        "max_warps_per_sm=4 max_blocks_per_sm=2 "
        "caches/l2/sets=32 caches/l2/ways=4 "
        "caches/const_l1={'line': 64, 'sets': 4, 'ways': 4} "
        "caches/const_l15={'line': 256, 'sets': 8, 'ways': 4, 'scope': 'tpc'} "
        "paths/constant={'const_l1': 24, 'const_l15': 80, 'l2': 230, "
        "'memory': 430}");
    struct comparison c = comparison_of(json, 1);
    compare_next_constant(&c);
    end_comparison(&c);
}
END_TEST

static int drawn(void)
{
    const char *const text = getenv("SHARING_GPUS");
    return text != NULL && atoi(text) > 0 ? atoi(text) : DRAWN;
}

/* What pushes lines out of the first cache of constants does so of the second,
 * too, a hit in which costs less than a quarter of the way to L2.  Buggy
 * result, where rings did not tell the first one, since what was hit there
 * stays for longer: one copy, of two SMs, which is the second cache. */
START_TEST(a_cache_that_rings_do_not_tell_hides_none)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=4 sms_per_tpc=2 max_threads_per_block=1024 "
                 "max_warps_per_sm=64 caches/const_l1={'line': 64, "
                 "'sector': 64, 'sets': 4, 'ways': 21, 'copies_per_sm': 2, "
                 "'policy': {'kind': 'lru_midpoint', 'behind': 1}, "
                 "'set_bits': [[6, 11], [8, 9, 11]]} "
                 "caches/const_l15={'line': 64, 'sector': 64, 'sets': 16, "
                 "'ways': 12, 'scope': 'tpc', 'policy': {'kind': "
                 "'lru_midpoint', 'behind': 1}} paths/constant={'const_l1': "
                 "24, 'const_l15': 56, 'l2': 263, 'memory': 768} "
                 "noise={'jitter_cycles': 1.4, 'spike_rate': 0.0021, "
                 "'spike_cycles': 452}"),
        "copies");
    double copies = 0, sms = 0;
    ck_assert(truth_number(f, "const_l1.per_sm", &copies));
    ck_assert(truth_number(f, "const_l1.sms_sharing", &sms));
    ck_assert_double_eq(copies, 2);
    ck_assert_double_eq(sms, 1);
    json_decref(f);
}
END_TEST

/* Behind an L2 in parts, where what is loaded past L1 lies in the farther part
 * and what is looked for in the nearer one: a miss costs what near lines do.
 * Buggy result: L1 shared with none, since near misses passed for hits. */
START_TEST(near_misses_are_no_hits)
{
    static const char *const all[] = {"texture", "readonly", "local"};
    json_t *const f = truth_findings_of(
        gpu_made(
            "sms=4 caches/l1={'line': 256, 'sector': 64, 'sets': 4, "
            "'ways': 11} caches/l2={'sets': 582, 'ways': 4, 'scope': "
            "'gpu', 'partitions': {'bits': [13, 14, 17, 19], "
            "'far_cycles': 226, 'replicates': false}} "
            "paths/global.ca={'l1': 45, 'l2': 108, 'memory': 386} "
            "paths/global.cg={'l2': 108, 'memory': 386} "
            "paths/texture={'caches': ['l1', 'l2'], 'latency': {'l1': 49, "
            "'l2': 149, 'memory': 427}} "
            "paths/readonly={'caches': ['l1', 'l2'], 'latency': {'l1': 51, "
            "'l2': 169, 'memory': 447}} "
            "paths/local={'caches': ['l1', 'l2'], 'latency': {'l1': 45, "
            "'l2': 153, 'memory': 431}}"),
        "sharing");
    const json_t *const with =
        json_object_get(json_object_get(f, "l1.shares_with"), "value");
    ck_assert_uint_eq(json_array_size(with), COUNT_OF(all));
    for (size_t i = 0; i < COUNT_OF(all); i++)
        ck_assert_str_eq(json_string_value(json_array_get(with, i)), all[i]);
    json_decref(f);
}
END_TEST

Suite *suite_truth_sharing(void)
{
    TCase *t;
    Suite *const suite = suite_of("truth_sharing", 240, &t);
    TCase *const slow = suite_slow(suite, 120);
    truth_add_gpus(suite, t, shipped_gpus_are_found_to_share_as_they_do, 0, 1);
    tcase_add_loop_test(t, hits_may_cost_more_where_many_warps_run, 8, 9);
    tcase_add_loop_test(slow, hits_may_cost_more_where_many_warps_run, 9, 13);
    tcase_add_loop_test(t, copies_are_those_of_the_profile, 0, 2);
    tcase_add_test(t, sms_share_what_is_before_an_l2_that_is_not_known);
    tcase_add_test(t, near_misses_are_no_hits);
    tcase_add_loop_test(t, what_l2_holds_is_not_shared_before_it, 0, 6);
    tcase_add_loop_test(slow, what_l2_holds_is_not_shared_before_it, 6, 12);
    tcase_add_loop_test(slow, drawn_gpus_are_found_to_share_as_they_do,
                        1 + drawn(), 1 + drawn() + DRAWN_SLOW);
    tcase_add_loop_test(slow, copies_are_those_of_the_profile, 2,
                        (int)COUNT_OF(miscounted));
    tcase_add_loop_test(slow, drawn_gpus_are_found_to_share_as_they_do, 1,
                        1 + drawn());
    tcase_add_test(slow, a_cache_that_rings_do_not_tell_hides_none);
    return suite;
}
