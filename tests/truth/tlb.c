/*
 * Translation and latency patterns on simulated GPUs: Mei's tables 3 and 4 and
 * figures 10 and 11 (GTX 560 Ti, GTX 780), the other shipped profiles, and
 * hierarchies of TLBs that nobody built.  A row for each finding says what the
 * profile says and what was found; TLB_GPUS says how many random ones (1,
 * and 7 more as slow tests), TLB_FIRST from which seed (1).
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "device/sim/profile/profile.h"
#include "gpu_made.h"
#include "testing.h"
#include "truth/gpu.h"
#include "truth/truth.h"

enum { RANDOM_GPUS = 1, SLOW_GPUS = 7 };

/* ---- what the profile says -------------------------------------------- */

static json_t *numbers(const double *values, size_t count)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, isnan(values[i]) ? json_null()
                                                     : json_real(values[i]));
    return list;
}

static int more_first(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void put(json_t *truth, size_t level, const char *attribute,
                json_t *value)
{
    char id[64];
    snprintf(id, sizeof id, "tlb_l%zu.%s", level + 1, attribute);
    json_object_set_new(truth, id, value);
}

static void put_ways(json_t *truth, size_t level, const struct cache_shape *s)
{
    double *const ways = xreallocarray(NULL, s->sets, sizeof *ways);
    for (size_t i = 0; i < s->sets; i++)
        ways[i] = s->set_ways[i];
    qsort(ways, s->sets, sizeof *ways, more_first);
    put(truth, level, "sets", json_real((double)s->sets));
    if (ways[0] == ways[s->sets - 1])
        put(truth, level, "ways", json_real(ways[0]));
    else
        put(truth, level, "set_ways", numbers(ways, s->sets));
    free(ways);
}

static void put_tlb(json_t *truth, const struct profile *p, size_t level)
{
    const struct profile_cache *const tlb = &p->tlbs[level];
    const struct cache_shape *const s = &tlb->shape;
    const double *const cycles = p->paths[PATH_GLOBAL_CG].latency[0].cycles;
    const double bytes = (double)cache_shape_bytes(s);
    const bool last = level + 1 == p->tlb_count;
    put(truth, level, "page", json_real((double)s->sector));
    put(truth, level, "region", json_real((double)s->line));
    put(truth, level, "entries", json_real(bytes / (double)s->line));
    put(truth, level, "reach", json_real(bytes));
    put(truth, level, "policy", json_string(cache_policy_name(s->policy)));
    put(truth, level, "miss_penalty",
        json_real(cycles[last ? TRANSLATION_WALKED : level + 1] -
                  cycles[level]));
    put_ways(truth, level, s);
}

/* Of one operator; what only shows with a second TLB is none without. */
static json_t *patterns_of(const struct profile *p,
                           const struct profile_path *path)
{
    const double *const hit = path->latency[0].cycles;
    const double *const miss = path->memory.cycles;
    const int walked = TRANSLATION_WALKED;
    const bool two = p->tlb_count > 1;
    const double row[] = {hit[0],
                          p->tlb_count == 0 ? NAN : hit[two ? 1 : walked],
                          two ? hit[walked] : NAN,
                          miss[0],
                          two ? miss[walked] : NAN,
                          p->page_window_bytes > 0 ? p->page_window_latency
                                                   : NAN};
    return numbers(row, 6);
}

/* Behind an L2 in two parts; structure.c knows what that costs. */
static bool has_far_memory(const struct profile *p)
{
    return p->caches[p->paths[PATH_GLOBAL_CG].cache[0]].partitions.bits != 0;
}

/* The caller ends it with json_decref. */
static json_t *truth_of(const struct profile *p)
{
    json_t *const truth = json_object();
    for (size_t i = 0; i < p->tlb_count; i++)
        put_tlb(truth, p, i);
    json_object_set_new(truth, "tlb.levels", json_real((double)p->tlb_count));
    if (!has_far_memory(p)) {
        json_object_set_new(truth, "memory.patterns_ca",
                            patterns_of(p, &p->paths[PATH_GLOBAL_CA]));
        json_object_set_new(truth, "memory.patterns_cg",
                            patterns_of(p, &p->paths[PATH_GLOBAL_CG]));
    }
    if (p->page_window_bytes > 0) {
        json_object_set_new(truth, "tlb.page_window",
                            json_real((double)p->page_window_bytes));
        json_object_set_new(truth, "tlb.page_window_latency",
                            json_real(p->page_window_latency));
    }
    return truth;
}

/* ---- what was found --------------------------------------------------- */

/* A pattern that could not be made is null; where there is one, missing. */
static bool is_left_out(const json_t *expected, const json_t *found)
{
    return json_is_number(expected) && json_is_null(found);
}

static bool alike(const json_t *expected, const json_t *found, double slack)
{
    if (json_is_string(expected) || json_is_null(expected))
        return json_equal(expected, found);
    if (!json_is_array(expected)) {
        const double a = json_number_value(expected);
        return json_is_number(found) && fabs(json_number_value(found) - a) <=
                                            fmax(slack, slack * 0.01 * a);
    }
    bool same = json_array_size(expected) == json_array_size(found);
    for (size_t i = 0; same && i < json_array_size(expected); i++) {
        const json_t *const a = json_array_get(expected, i);
        const json_t *const b = json_array_get(found, i);
        same = json_is_null(b) || alike(a, b, slack);
    }
    return same;
}

static bool has_left_out(const json_t *expected, const json_t *found)
{
    for (size_t i = 0; i < json_array_size(expected); i++)
        if (is_left_out(json_array_get(expected, i), json_array_get(found, i)))
            return true;
    return false;
}

/* Latencies may be off by a cycle or 1 %, differences of two by two. */
static double slack_of(const char *id)
{
    return strstr(id, "penalty") != NULL    ? 2
           : strstr(id, "patterns") != NULL ? 1
           : strstr(id, "latency") != NULL  ? 1
                                            : 0;
}

struct tlb_verdict {
    size_t wrong, missing;
    struct buf rows;
};

static void compare(struct tlb_verdict *v, const char *id,
                    const json_t *expected, const json_t *finding)
{
    const json_t *const value = json_object_get(finding, "value");
    const char *const status =
        json_string_value(json_object_get(finding, "status"));
    const char *const because =
        json_string_value(json_object_get(finding, "because"));
    char *const a = json_dumps(expected, JSON_ENCODE_ANY);
    char *const b = value != NULL ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    const bool bound = status == NULL || (strcmp(status, "measured") != 0 &&
                                          strcmp(status, "derived") != 0);
    const bool wrong = !bound && !alike(expected, value, slack_of(id));
    v->wrong += wrong;
    v->missing += bound || has_left_out(expected, value);
    buf_printf(&v->rows, "%-22s expected %-28s found %s%s%s\n", id, a,
               b != NULL ? b : because, wrong ? "  WRONG" : "",
               bound ? "  MISSING" : "");
    free(a);
    free(b);
}

/* Told of all GPUs by structure.c. */
static bool is_told_elsewhere(const char *id)
{
    return strstr(id, ".sms_sharing") != NULL ||
           strstr(id, ".set_bits") != NULL;
}

/* What is found must be in the profile. */
static void compare_extra(struct tlb_verdict *v, const json_t *truth,
                          const char *id, const json_t *finding)
{
    if (strncmp(id, "tlb", 3) != 0 || is_told_elsewhere(id) ||
        json_object_get(truth, id) != NULL ||
        json_object_get(finding, "value") == NULL)
        return;
    char *const b =
        json_dumps(json_object_get(finding, "value"), JSON_ENCODE_ANY);
    v->wrong++;
    buf_printf(&v->rows, "%-22s expected nothing, found %s  WRONG\n", id, b);
    free(b);
}

static struct tlb_verdict verdict_of(json_t *findings, json_t *truth)
{
    struct tlb_verdict v = {0};
    const char *id;
    json_t *value;
    json_object_foreach(truth, id, value)
        compare(&v, id, value, json_object_get(findings, id));
    json_object_foreach(findings, id, value)
        compare_extra(&v, truth, id, value);
    return v;
}

/* ---- shipped profiles ------------------------------------------------- */

/* Of a TLB that translates more than this, B, some findings may be missing: it
 * is more than there is memory (A100), or more than tells a policy (H200). */
#define REACH_TRIED ((uint64_t)32 << 30)

static bool may_miss(const struct profile *p)
{
    return p->tlb_count > 0 &&
           cache_shape_bytes(&p->tlbs[p->tlb_count - 1].shape) > REACH_TRIED;
}

START_TEST(tlbs_are_what_the_profile_says)
{
    const char *const name = truth_gpus[_i % TRUTH_GPUS];
    json_t *const findings =
        truth_topology(name, 1 + (uint64_t)_i / TRUTH_GPUS);
    struct profile *profile;
    struct error err;
    ASSERT_DONE(profile_open(name, NULL, &profile, &err), err);
    json_t *const truth = truth_of(profile);
    struct tlb_verdict v = verdict_of(findings, truth);
    ck_assert_msg(v.wrong == 0 && (v.missing == 0 || may_miss(profile)),
                  "%s:\n%s", name, buf_string(&v.rows));
    buf_free(&v.rows);
    json_decref(truth);
    json_decref(findings);
    profile_free(profile);
}
END_TEST

/* ---- random hierarchies ----------------------------------------------- */

static uint64_t between(struct rng *r, uint64_t least, uint64_t most)
{
    return least + rng_below(r, most - least + 1);
}

/* Sets of one size, of two sizes, or one set; entries between the bounds. */
static uint64_t draw_tlb(struct rng *r, const char *name, uint64_t page,
                         uint64_t least, uint64_t most, json_t *gpu)
{
    static const char *const policies[] = {"lru",  "lru",    "lru",
                                           "fifo", "random", "nru"};
    gpu_wish(gpu, "tlbs/%s={'page': %" PRIu64 ", 'policy': '%s'}", name, page,
             policies[rng_below(r, 6)]);
    uint64_t entries = between(r, least, most);
    const uint64_t ways = between(r, 2, 12), kind = rng_below(r, 4);
    if (kind < 2) {
        gpu_wish(gpu, "tlbs/%s/entries=%" PRIu64, name, entries);
    } else if (kind == 2 || entries / ways > 40) {
        const uint64_t sets = entries / ways > 0 ? entries / ways : 1;
        gpu_wish(gpu, "tlbs/%s/sets=%" PRIu64 " tlbs/%s/ways=%" PRIu64, name,
                 sets, name, ways);
        entries = sets * ways;
    } else {
        const uint64_t more = ways + between(r, 1, 9);
        struct buf list = {0};
        for (entries = more; entries + ways <= most; entries += ways)
            buf_printf(&list, ", %" PRIu64, ways);
        gpu_wish(gpu, "tlbs/%s/set_ways=[%" PRIu64 "%s]", name, more,
                 buf_string(&list));
        buf_free(&list);
    }
    gpu_wish(gpu, "tlbs/%s/scope=%s", name, rng_below(r, 2) ? "gpu" : "sm");
    return entries;
}

static void draw_tlbs(struct rng *r, json_t *gpu)
{
    const uint64_t page = (uint64_t)65536 << rng_below(r, 7);
    const uint64_t kind = rng_below(r, 6);
    if (kind == 0)
        return;
    const uint64_t first = draw_tlb(r, "l1", page, 8, 96, gpu);
    if (kind > 1) {
        const uint64_t larger = rng_below(r, 3) == 0 ? page * 4 : page;
        const uint64_t least = first * 3 / 2 * page / larger + 8;
        draw_tlb(r, "l2", larger, least, least + 300, gpu);
    }
}

/* Three latencies; those of L1 hits with translation or without. */
static void draw_paths(struct rng *r, json_t *gpu)
{
    const uint64_t l1 = between(r, 20, 120), l2 = l1 + between(r, 80, 300);
    const uint64_t memory = l2 + between(r, 120, 500);
    const uint64_t second = between(r, 6, 60);
    const uint64_t walk = second + between(r, 40, 500);
    char *const far = xasprintf(
        "'l2': [%" PRIu64 ", %" PRIu64 ", %" PRIu64 "], 'memory': [%" PRIu64
        ", %" PRIu64 ", %" PRIu64 "]",
        l2, l2 + second, l2 + walk, memory, memory + second, memory + walk);
    gpu_wish(gpu, "paths/global.ca={'l1': %" PRIu64 ", %s}", l1, far);
    gpu_wish(gpu, "paths/global.cg={%s}", far);
    free(far);
}

static char *random_gpu(uint64_t seed)
{
    struct rng r;
    json_t *const gpu = gpu_plain();
    rng_seed(&r, 1000 + seed);
    gpu_wish(gpu,
             "memory_bytes=%" PRIu64 " caches/l1={'sets': 32, 'ways': 4} "
             "caches/l2/sets=512",
             (uint64_t)8 << 30);
    draw_tlbs(&r, gpu);
    draw_paths(&r, gpu);
    if (rng_below(&r, 4) == 0)
        gpu_wish(
            gpu, "page_window={'bytes': %" PRIu64 ", 'latency': %" PRIu64 "}",
            (uint64_t)(1 + rng_below(&r, 3)) << 30, between(&r, 900, 2000));
    gpu_wish(gpu,
             "isa/default/O3=%" PRIu64 " noise={'jitter_cycles': %.2f, "
             "'spike_rate': %.5f, 'spike_cycles': %" PRIu64 "}",
             between(&r, 4, 20), 2.0 * rng_unit(&r), 0.003 * rng_unit(&r),
             between(&r, 100, 600));
    return gpu_text(gpu);
}

static int number(const char *variable, int fallback)
{
    const char *const text = getenv(variable);
    const int value = text != NULL ? atoi(text) : 0;
    return value > 0 ? value : fallback;
}

/* What a study finds of a profile, held against it; but for patterns, where
 * these are not asked. */
/* Expected: sets of unlike ways have no index of bits, which nobody misses.
 * Buggy result: it was not measured. */
static void expect_no_index(const json_t *findings)
{
    static const char *const tlbs[] = {"tlb_l1", "tlb_l2", "tlb_l3"};
    for (size_t i = 0; i < COUNT_OF(tlbs); i++) {
        char ways[32], bits[32];
        snprintf(ways, sizeof ways, "%s.set_ways", tlbs[i]);
        snprintf(bits, sizeof bits, "%s.set_bits", tlbs[i]);
        const json_t *const found = json_object_get(findings, ways);
        ck_assert_msg(json_object_get(found, "value") == NULL ||
                          json_object_get(findings, bits) == NULL,
                      "%s", bits);
    }
}

static struct tlb_verdict judge(const char *json, uint64_t seed,
                                const char *study)
{
    char *const path = testing_file("gpu.json", json);
    char *const spec = xasprintf("sim:%s", path);
    struct profile *profile;
    struct error err;
    ASSERT_DONE(profile_open(path, NULL, &profile, &err), err);
    json_t *const truth = truth_of(profile);
    if (strcmp(study, "patterns") != 0) {
        json_object_del(truth, "memory.patterns_ca");
        json_object_del(truth, "memory.patterns_cg");
    }
    json_t *const findings = truth_findings(spec, seed, &study, 1);
    const struct tlb_verdict v = verdict_of(findings, truth);
    expect_no_index(findings);
    json_decref(truth);
    json_decref(findings);
    profile_free(profile);
    free(spec);
    free(path);
    return v;
}

START_TEST(nothing_measured_of_random_tlbs_is_wrong)
{
    char *const json = random_gpu((uint64_t)_i);
    struct tlb_verdict v = judge(json, (uint64_t)_i, "patterns");
    ck_assert_msg(v.wrong == 0, "%s\n%s", json, buf_string(&v.rows));
    if (getenv("TLB_ROWS") != NULL)
        printf("%s%s", json, buf_string(&v.rows));
    buf_free(&v.rows);
    free(json);
}
END_TEST

/* ---- sets that laps alone tell ---------------------------------------- */

/* Victims that are not the oldest; sets that settle by one place a lap; sets of
 * unequal ways behind another TLB; an index of a large one; one of fewer
 * entries than the TLB before it; few sets by a remainder, which places at
 * random come to unevenly; sets behind others that part of what pushes out
 * never leaves; a remainder by a multiple of what a page has of a mapping; few
 * entries of which chance puts more out than a quarter at first; sets that
 * several times as many as push out of the first TLB overfill, of which some
 * places then stay and others go; more sets than can be asked about until
 * enough of the target's are met; a large one that places are pushed out of by
 * others whose addresses differ in a bit of which nothing is known; ways that
 * are too many to ask for each of many loads; sets of which what pushes out of
 * the first TLB takes some that miss by chance where nobody looks; smaller
 * pages than the first TLB shows; what pushes out of that one is many steps; a
 * hit of the second costs half of a miss more than one of the first; as many as
 * there are entries in a row, dealt evenly to sets, where places are just as
 * many that one more of them are few. */
static const char *const any_policy[] = {
    "tlbs/l1={'page': 2097152, 'entries': 12, 'policy': 'nru'}",
    "tlbs/l1={'page': 2097152, 'sets': 3, 'ways': 4, 'policy': 'random'}",
    "tlbs/l1={'page': 2097152, 'sets': 2, 'ways': 9, 'policy': 'fifo'}",
    "tlbs/l1={'page': 2097152, 'entries': 8, 'policy': 'fifo'} "
    "tlbs/l2={'page': 2097152, 'set_ways': [11, 5, 5, 5], 'scope': 'gpu'}",
    "tlbs/l1={'page': 2097152, 'entries': 8} "
    "tlbs/l2={'page': 33554432, 'sets': 256, 'ways': 6, 'scope': 'gpu', "
    "'set_bits': [[25, 33, 41], [26, 34], [27, 35], [28, 36], [29, 37], "
    "[30, 38], [31, 39], [32, 40]]}",
    "tlbs/l1={'page': 2097152, 'sets': 2, 'ways': 6, "
    "'set_bits': [[21, 23, 25, 27, 29, 31, 33]]} "
    "tlbs/l2={'page': 2097152, 'region': 33554432, 'fill': 'region', "
    "'set_ways': [7, 4, 4], 'scope': 'gpu'}",
    "tlbs/l1={'page': 65536, 'sets': 6, 'ways': 4} memory_bytes=1073741824",
    "tlbs/l1={'page': 2097152, 'sets': 5, 'ways': 6} "
    "tlbs/l2={'page': 2097152, 'sets': 8, 'ways': 6, 'scope': 'gpu', "
    "'set_bits': [[21, 24, 27], [22, 25, 28], [23, 26, 29]]}",
    "tlbs/l1={'page': 524288, 'entries': 9} "
    "tlbs/l2={'page': 524288, 'sets': 12, 'ways': 4, 'scope': 'gpu'}",
    "tlbs/l1={'page': 2097152, 'entries': 10, 'policy': 'random'}",
    "tlbs/l1={'page': 1048576, 'sets': 4, 'ways': 8, 'set_bits': "
    "[[20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40], "
    "[21, 23, 25, 27, 29, 31, 33, 35, 37, 39, 41]]} "
    "tlbs/l2={'page': 1048576, 'sets': 16, 'ways': 5, 'policy': 'nru', "
    "'scope': 'gpu', 'set_bits': [[20, 24, 28, 32, 36, 40], "
    "[21, 25, 29, 33, 37, 41], [22, 26, 30, 34, 38], [23, 27, 31, 35, 39]]}",
    "tlbs/l1={'page': 1048576, 'entries': 100} "
    "tlbs/l2={'page': 1048576, 'sets': 128, 'ways': 4, 'scope': 'gpu', "
    "'set_bits': [[20, 27, 34, 41], [21, 28, 35], [22, 29, 36], "
    "[23, 30, 37], [24, 31, 38], [25, 32, 39], [26, 33, 40]]}",
    "tlbs/l1={'page': 1048576, 'entries': 73} "
    "tlbs/l2={'page': 1048576, 'sets': 128, 'ways': 9, 'scope': 'gpu', "
    "'set_bits': [[20, 27, 34, 41], [21, 28, 35], [22, 29, 36], "
    "[23, 30, 37], [24, 31, 38], [25, 32, 39], [26, 33, 40]]}",
    "tlbs/l1={'page': 1048576, 'entries': 12} "
    "tlbs/l2={'page': 1048576, 'entries': 210, 'policy': 'nru', "
    "'scope': 'gpu'}",
    "tlbs/l1={'page': 1048576, 'entries': 12} "
    "tlbs/l2={'page': 1048576, 'entries': 210, 'policy': 'fifo', "
    "'scope': 'gpu'}",
    "tlbs/l1={'page': 2097152, 'entries': 9, 'policy': 'fifo'} "
    "tlbs/l2={'page': 2097152, 'policy': 'random', 'sets': 4, 'ways': 6, "
    "'scope': 'gpu', 'set_bits': [[21, 23, 25, 27, 29, 31, 33, 35, 37, 39], "
    "[22, 24, 26, 28, 30, 32, 34, 36, 38, 40]]}",
    "tlbs/l1={'page': 524288, 'region': 8388608, 'fill': 'region', "
    "'sets': 2, 'ways': 7, 'set_bits': [[23, 24, 25, 26, 27, 28, 29, 30, 31, "
    "32, 33, 34, 35, 36, 37, 38, 39]]} "
    "tlbs/l2={'page': 524288, 'region': 8388608, 'entries': 54, "
    "'scope': 'gpu'}",
    "tlbs/l1={'page': 524288, 'sets': 12, 'ways': 10} "
    "tlbs/l2={'page': 8388608, 'sets': 2, 'ways': 16, 'scope': 'gpu', "
    "'set_bits': [[23, 25, 27, 29, 31, 33, 35, 37, 39]]} "
    "noise={'jitter_cycles': 1.5, 'spike_rate': 0.002, 'spike_cycles': 400}",
    "tlbs/l1={'page': 524288, 'entries': 30} "
    "tlbs/l2={'page': 4194304, 'entries': 40, 'policy': 'fifo', "
    "'scope': 'gpu'} "
    "paths/global.cg={'l2': [188, 244, 349], 'memory': [338, 394, 499]}",
    "memory_bytes=1073741824 "
    "tlbs/l1={'page': 131072, 'region': 1048576, 'fill': 'page', "
    "'sets': 4, 'ways': 12, 'set_bits': "
    "[[20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40], "
    "[21, 23, 25, 27, 29, 31, 33, 35, 37, 39, 41]]} "
    "paths/global.cg={'l2': [200, 227, 500], 'memory': [500, 527, 800]}",
};

/* None is wrong, and no more is missing, of a profile's text, which is freed.
 */
static void expect_right(char *json, size_t missing)
{
    struct tlb_verdict v = judge(json, 1, "tlb");
    ck_assert_msg(v.wrong == 0 && v.missing == missing, "%s\n%s", json,
                  buf_string(&v.rows));
    buf_free(&v.rows);
    free(json);
}

static void expect_tlbs(const char *wishes, size_t missing)
{
    expect_right(gpu_made("sms=2 memory_bytes=8589934592 caches/l2/sets=512 "
                          "caches/l1={'sets': 32, 'ways': 4} "
                          "paths/global.ca={'l1': 40, 'l2': [200, 230, 500], "
                          "'memory': [500, 530, 800]} "
                          "paths/global.cg={'l2': [200, 230, 500], 'memory': "
                          "[500, 530, 800]} %s",
                          wishes),
                 missing);
}

START_TEST(sets_are_found_under_any_policy)
{
    expect_tlbs(any_policy[_i], 0);
}
END_TEST

/* More entries than can be asked about, of which about half of those fit that
 * are counted in regions of the first TLB.  Expected: no reach, as no region.
 * Buggy result: 29.5 GiB for 1.9, in doubt from 17.4 GiB on. */
START_TEST(no_reach_is_told_without_a_region)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=2 memory_bytes=2147483648 caches/l2/sets=512 "
                 "tlbs/l1={'page': 131072, 'region': 2097152, 'fill': "
                 "         'region', 'policy': 'nru', 'sets': 6, 'ways': 16} "
                 "tlbs/l2={'page': 131072, 'fill': 'page', 'sets': 1024, "
                 "         'ways': 15, 'scope': 'gpu', 'set_bits': "
                 "         [[17, 28, 39], [18, 29, 40], [19, 30, 41], "
                 "          [20, 31], [21, 32], [22, 33], [23, 34], [24, 35], "
                 "          [25, 36], [26, 37]]} "
                 "paths/global={'l2': [477, 519, 802], "
                 "                 'memory': [889, 931, 1214]}"),
        "tlb");
    static const char *const ids[] = {"tlb_l2.entries", "tlb_l2.region",
                                      "tlb_l2.reach"};
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        ck_assert_int_eq(json_object_get(json_object_get(f, ids[i]), "value") !=
                             NULL,
                         i == 0);
    json_decref(f);
}
END_TEST

/* Behind sets of random victims, so that rings tell too little; all that pushes
 * out of these is of the one set, as is every other place.  Expected: all but
 * the page, which comes along.  Buggy result: neither sets, ways, policy nor
 * who shares it, as places of another set were looked for until a run's
 * experiments were over. */
START_TEST(all_places_may_be_of_one_set)
{
    expect_tlbs("tlbs/l1={'page': 2097152, 'region': 33554432, "
                "         'fill': 'page', 'policy': 'random', "
                "         'sets': 2, 'ways': 7, 'set_bits': "
                "         [[25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, "
                "           37, 38, 39, 40, 41]]} "
                "tlbs/l2={'page': 2097152, 'region': 33554432, "
                "         'fill': 'page', 'entries': 42, 'scope': 'gpu'}",
                1);
}
END_TEST

/* Pages are smaller than what is mapped, so that places are lines of both parts
 * of L2.  Expected: as with one part, but for what may reach farther than is
 * mapped.  Buggy result: no level, since what was far cost more than a miss. */
START_TEST(lines_that_are_far_are_no_misses)
{
    expect_tlbs("caches/l2/partitions={'bits': [13, 14, 18, 19], "
                "                      'far_cycles': 160, "
                "                      'replicates': false} "
                "tlbs/l1={'page': 262144, 'sets': 4, 'ways': 6} "
                "tlbs/l2={'page': 4194304, 'entries': 90, 'scope': 'gpu'}",
                1);
}
END_TEST

/* Where some of a set always stay that one place more overfills.  Expected: the
 * ways of each set, and so the policy.  Buggy result: none of sets, ways and
 * policy. */
START_TEST(unlike_sets_are_found_where_some_places_stay)
{
    expect_tlbs("tlbs/l1={'page': 2097152, 'policy': 'nru', "
                "         'set_ways': [21, 12, 12, 12, 12, 12, 12, 12, 12]}",
                0);
}
END_TEST

/* More large pages than neighbours are pushed out by; two TLBs alike in size,
 * where what misses the first misses the second, too.  But the second's page,
 * which the first hides, and how many levels the other has. */
static const struct near {
    const char *wishes;
    size_t missing;
} near_levels[] = {
    {"tlbs/l1={'page': 33554432, 'set_ways': [18, 11, 11, 11]} "
     "tlbs/l2={'page': 33554432, 'entries': 120, 'scope': 'gpu'}",
     1},
    {"tlbs/l1={'page': 262144, 'entries': 18} "
     "tlbs/l2={'page': 262144, 'region': 2097152, 'entries': 31, "
     "'scope': 'gpu'} noise/jitter_cycles=1.9 "
     "paths/global.cg={'l2': [297, 303, 695], 'memory': [602, 608, 1000]} "
     "paths/global.ca={'l1': 40, 'l2': [300, 306, 698], "
     "'memory': [605, 611, 1003]}",
     2},
};

START_TEST(a_first_tlb_is_told_from_the_second)
{
    expect_tlbs(near_levels[_i].wishes, near_levels[_i].missing);
}
END_TEST

/* Places that should push translations out, or be new, share regions: a fifth
 * pattern in between was none. */
START_TEST(patterns_are_right_or_left_out)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=2 caches/l2={'sets': 256, 'ways': 21} "
                 "tlbs/l1={'page': 1048576, 'sets': 2, 'ways': 7, "
                 "         'policy': 'random'} "
                 "tlbs/l2={'page': 16777216, 'region': 16777216, "
                 "         'fill': 'region', 'sets': 2, 'ways': 13, "
                 "         'set_bits': [[24, 25, 26, 27, 28, 29]]} "
                 "paths/global={'l2': [194, 219, 445], "
                 "              'memory': [638, 663, 889]} "
                 "page_window={'bytes': 536870912, 'latency': 1217} "
                 "noise={'jitter_cycles': 1.17, 'spike_rate': 0.002, "
                 "       'spike_cycles': 177}"),
        "patterns");
    json_t *const truth =
        json_pack("[fffffi]", 194.0, 219.0, 445.0, 638.0, 889.0, 1217);
    const json_t *const found =
        json_object_get(json_object_get(f, "memory.patterns_cg"), "value");
    char *const row = json_dumps(found, JSON_ENCODE_ANY);
    ck_assert_msg(alike(truth, found, 1), "%s", row);
    free(row);
    json_decref(truth);
    json_decref(f);
}
END_TEST

/* Where noise is as large as half a miss of the first TLB, it is not told which
 * loads random victims kept it from missing, and so not what a miss costs. */
START_TEST(noise_hides_which_loads_miss)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=2 caches/l2={'sets': 64, 'ways': 16} "
                 "tlbs/l1={'page': 2097152, 'entries': 8, "
                 "         'policy': 'random'} "
                 "tlbs/l2={'page': 2097152, 'sets': 8, 'ways': 4} "
                 "paths/global={'l2': [200, 212, 312], "
                 "              'memory': [500, 512, 612]} "
                 "noise={'jitter_cycles': 4, 'spike_rate': 0.005, "
                 "       'spike_cycles': 400}"),
        "patterns");
    const json_t *const second = json_array_get(
        json_object_get(json_object_get(f, "memory.patterns_cg"), "value"), 1);
    ck_assert(json_is_null(second));
    json_decref(f);
}
END_TEST

/* Beside so much noise laps that hit half in the first TLB and half in the
 * second cost as much as a level between.  Expected: two levels, or that it is
 * not told.  Buggy result: three. */
START_TEST(noise_makes_no_level)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=1 tlbs/l1={'page': 2097152, 'entries': 16} "
                 "tlbs/l2={'page': 2097152, 'scope': 'gpu', "
                 "         'set_ways': [17, 8, 8, 8, 8, 8, 8]} "
                 "paths/global={'l2': [173, 181, 252], "
                 "              'memory': [448, 456, 811]} "
                 "noise={'jitter_cycles': 11, 'spike_rate': 0.03, "
                 "       'spike_cycles': 500}"),
        "tlb");
    const json_t *const value =
        json_object_get(json_object_get(f, "tlb.levels"), "value");
    ck_assert(value == NULL || json_number_value(value) == 2);
    json_decref(f);
}
END_TEST

/* What the laps of a curve cost on average that the first TLB holds. */
static double cost_of_first_tlb(const json_t *curve, double entries)
{
    const json_t *const places =
        json_object_get(json_object_get(curve, "x"), "values");
    const json_t *const cycles =
        json_object_get(json_object_get(curve, "y"), "values");
    double sum = 0;
    size_t laps = 0;
    for (; json_number_value(json_array_get(places, laps)) <= entries; laps++)
        sum += json_number_value(json_array_get(cycles, laps));
    ck_assert_uint_gt(laps, 5);
    return sum / (double)laps;
}

/* By how much laps at one distance cost more than at another was taken of the
 * shortest lap of each, to three cycles beside this noise, and once in 24 runs
 * there was a level between. */
START_TEST(places_cost_the_same_at_all_distances)
{
    static const char *const study[] = {"tlb"};
    char *const spec = testing_spec_of(
        gpu_made("sms=1 tlbs/l1={'page': 2097152, 'entries': 16} "
                 "tlbs/l2={'page': 2097152, 'entries': 64, 'scope': 'gpu'} "
                 "paths/global={'l2': [223, 229, 282], "
                 "              'memory': [339, 345, 702]} "
                 "noise={'jitter_cycles': 10, 'spike_rate': 0.03, "
                 "       'spike_cycles': 500}"));
    json_t *const report = truth_report(spec, 1, study, 1);
    const json_t *const curves =
        json_object_get(json_object_get(report, "curves"), "tlb.levels");
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < json_array_size(curves); i++) {
        const double cost = cost_of_first_tlb(json_array_get(curves, i), 16);
        least = fmin(least, cost);
        most = fmax(most, cost);
    }
    ck_assert_uint_gt(json_array_size(curves), 3);
    ck_assert_msg(most - least < 1.5, "from %g to %g cycles", least, most);
    json_decref(report);
    free(spec);
}
END_TEST

/* Two places come to each region of a random second TLB, so that of as many as
 * push all out one in eight is there yet.  Expected: what walks cost, or no
 * cell.  Buggy result: a mean of both, of data that misses 831 for 861. */
START_TEST(what_stays_by_chance_is_no_walk)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=1 memory_bytes=268435456 caches/l2/sets=64 "
                 "tlbs/l1={'page': 2097152, 'entries': 18} "
                 "tlbs/l2={'page': 33554432, 'region': 536870912, "
                 "         'fill': 'region', 'entries': 94, "
                 "         'policy': 'random'} "
                 "paths/global={'l2': [355, 375, 632], "
                 "              'memory': [584, 604, 861]}"),
        "patterns");
    static const char *const ids[] = {"memory.patterns_ca",
                                      "memory.patterns_cg"};
    json_t *const truth =
        json_pack("[fffffn]", 355.0, 375.0, 632.0, 584.0, 861.0);
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        const json_t *const found =
            json_object_get(json_object_get(f, ids[i]), "value");
        char *const row = json_dumps(found, JSON_ENCODE_ANY);
        ck_assert_msg(alike(truth, found, 1), "%s: %s", ids[i], row);
        free(row);
    }
    json_decref(truth);
    json_decref(f);
}
END_TEST

/* Expected: the mean over pages, by how much they differ at most beside it.
 * Buggy result (H100): none, for noise, though each page cost the same each
 * time. */
START_TEST(walks_that_differ_are_no_noise)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=2 memory_bytes=8589934592 caches/l2/sets=64 "
                 "tlbs/l1={'page': 2097152, 'entries': 8} "
                 "tlbs/l2={'page': 2097152, 'sets': 8, 'ways': 4} "
                 "tlbs/walks_apart=200 "
                 "paths/global={'l2': [200, 220, 600], "
                 "              'memory': [500, 520, 900]} "
                 "noise={'jitter_cycles': 3}"),
        "patterns");
    const json_t *const cg = json_object_get(f, "memory.patterns_cg"),
                        *const protocol = json_object_get(cg, "protocol");
    enum { P3 = 2 };
    const double at[] = {
        json_number_value(json_array_get(json_object_get(protocol, "low"), P3)),
        json_number_value(json_array_get(json_object_get(cg, "value"), P3)),
        json_number_value(
            json_array_get(json_object_get(protocol, "high"), P3))};
    ck_assert_msg(at[1] > 600 && at[1] < 800 && at[0] <= 600 && at[2] >= 800,
                  "%g, %g to %g", at[1], at[0], at[2]);
    json_decref(f);
}
END_TEST

/* What is in L1 and pushed out of the first TLB, of as many pages as the second
 * loses some of, by chance.  Expected: what hits of the second cost, or no
 * cell. Buggy result: a mean of these and of walks, 206 cycles for 106. */
START_TEST(walks_behind_an_l1_are_no_hits)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=1 clock_overhead=37 "
                 "caches/l1={'line': 64, 'sector': 64, 'sets': 8, 'ways': 21, "
                 "           'policy': 'nru', 'address': 'virtual'} "
                 "caches/l2={'line': 64, 'sector': 64, 'sets': 4096, "
                 "           'ways': 2} "
                 "tlbs/l1={'page': 2097152, 'entries': 19} "
                 "tlbs/l2={'page': 2097152, 'region': 33554432, "
                 "         'fill': 'page', 'entries': 17, 'policy': 'random'} "
                 "paths/global.ca={'l1': [71, 106, 409], "
                 "                 'l2': [258, 293, 596], "
                 "                 'memory': [832, 867, 1170]} "
                 "paths/global.cg={'l2': [258, 293, 596], "
                 "                 'memory': [832, 867, 1170]} "
                 "noise={'jitter_cycles': 1.3}"),
        "patterns");
    const json_t *const hit = json_array_get(
        json_object_get(json_object_get(f, "memory.patterns_ca"), "value"), 1);
    ck_assert(json_is_null(hit) || fabs(json_number_value(hit) - 106) < 2);
    json_decref(f);
}
END_TEST

/* The same of 24 loads, as many as are asked where there is no noise, and of
 * which eight are walked to.  Buggy result: 247 cycles for 95. */
START_TEST(a_few_walks_behind_an_l1_are_no_hits)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=1 caches/l1={'line': 64, 'sector': 64, 'sets': 13, "
                 "                 'ways': 18, 'address': 'virtual'} "
                 "tlbs/l1={'page': 2097152, 'entries': 10, 'policy': 'fifo'} "
                 "tlbs/l2={'page': 33554432, 'entries': 20, "
                 "         'policy': 'random'} "
                 "paths/global.ca={'l1': [58, 95, 551], "
                 "                 'l2': [363, 400, 856], "
                 "                 'memory': [510, 547, 1003]} "
                 "paths/global.cg={'l2': [363, 400, 856], "
                 "                 'memory': [510, 547, 1003]}"),
        "patterns");
    const double hit = json_number_value(json_array_get(
        json_object_get(json_object_get(f, "memory.patterns_ca"), "value"), 1));
    ck_assert_msg(fabs(hit - 95) < 1, "%g", hit);
    json_decref(f);
}
END_TEST

/* Some of the pages that were to be walked to are in the second TLB yet, so
 * that what all cost together is what none does. */
START_TEST(pages_that_stay_are_no_walks)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=1 memory_bytes=268435456 clock_overhead=30 "
                 "caches/l2={'sets': 640, 'ways': 4, 'sector': 128, "
                 "           'policy': 'plru'} "
                 "tlbs/l1={'page': 262144, 'region': 4194304, "
                 "         'entries': 83, 'policy': 'nru'} "
                 "tlbs/l2={'page': 262144, 'sets': 2048, 'ways': 7, "
                 "         'set_bits': [[18, 30], [19, 31], [20, 32], "
                 "         [21, 33], [22, 34], [23, 35], [24, 36], [25, 37], "
                 "         [26, 38], [27, 39], [28, 40]]} "
                 "paths/global={'l2': [391, 445, 886], "
                 "              'memory': [738, 792, 1233]} "
                 "noise={'jitter_cycles': 0.4, 'spike_rate': 0.00075, "
                 "       'spike_cycles': 207}"),
        "patterns");
    const json_t *const walk = json_array_get(
        json_object_get(json_object_get(f, "memory.patterns_cg"), "value"), 2);
    ck_assert(json_is_null(walk) || fabs(json_number_value(walk) - 886) < 9);
    json_decref(f);
}
END_TEST

/* Expected: what the second TLB lost between launches, by chance, is no hit of
 * it.  Buggy result: the mean of hits and walks, 430 to 460 cycles for 304; of
 * loads that pass L1 by each way of asking for them. */
START_TEST(what_is_walked_to_is_no_hit)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=1 clock_overhead=37 "
                 "caches/l2={'sets': 256, 'ways': 16, 'sector': 32} "
                 "tlbs/l1={'page': 65536, 'entries': 8} "
                 "tlbs/l2={'page': 65536, 'region': 1048576, 'fill': 'page', "
                 "         'entries': 10, 'policy': 'random'} "
                 "paths/global={'l2': [278, 304, 869], "
                 "              'memory': [528, 554, 1119]} "
                 "noise={'jitter_cycles': 1.2}"),
        "patterns");
    static const char *const ids[] = {"memory.patterns_cg",
                                      "memory.patterns_ca"};
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        const json_t *const found =
            json_array_get(truth_measured(f, ids[i]), 1);
        ck_assert_msg(fabs(json_number_value(found) - 304) < 3, "%s: %g",
                      ids[i], json_number_value(found));
    }
    json_decref(f);
}
END_TEST

/* What pushes a translation out comes to the two lines of one set of L2, and
 * pushes the data out, too: 405 cycles, as memory's, were said of 312. */
START_TEST(data_that_is_pushed_out_is_no_hit)
{
    json_t *const f = truth_findings_of(
        gpu_made(
            "sms=15 sms_per_tpc=3 tpcs_per_gpc=3 memory_bytes=268435456 "
            "clock_khz=600000 clock_overhead=37 warp_schedulers=3 "
            "caches/l2={'line': 256, 'sector': 32, 'policy': 'plru', "
            "           'sets': 1024, 'ways': 2} "
            "tlbs/l1={'page': 131072, 'region': 131072, 'fill': 'page', "
            "         'scope': 'tpc', 'policy': 'nru', "
            "         'set_ways': [15, 5, 5, 5, 5]} "
            "tlbs/l2={'page': 131072, 'region': 131072, 'fill': 'page', "
            "         'scope': 'gpc', 'sets': 8, 'ways': 12, "
            "         'set_bits': [[17, 21, 25, 29, 33, 37, 41], "
            "         [18, 22, 26, 30, 34, 38], [19, 23, 27, 31, 35, 39]]} "
            "paths/global={'l2': [259, 312, 527], "
            "              'memory': [405, 458, 673]} "
            "noise={'jitter_cycles': 0.84}"),
        "patterns");
    const json_t *const cell = json_array_get(
        json_object_get(json_object_get(f, "memory.patterns_cg"), "value"), 1);
    ck_assert_msg(json_is_null(cell) || fabs(json_number_value(cell) - 312) < 4,
                  "%g", json_number_value(cell));
    json_decref(f);
}
END_TEST

/* But how many levels there are: what a window holds is a bound. */
START_TEST(regions_wider_than_a_mapping_show_in_a_window)
{
    expect_tlbs("tlbs/l1={'page': 524288, 'region': 8388608, 'entries': 6} "
                "page_window={'bytes': 268435456, 'latency': 1200}",
                1);
}
END_TEST

/* What pushes out of the first TLB pushes the target out of the second, too,
 * every third time, as victims are of chance: an SM that shares nothing meets
 * mostly such turns, and yet it is none that pushes out each time. */
START_TEST(what_goes_by_chance_is_not_pushed_out)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=16 sms_per_tpc=2 tpcs_per_gpc=1 memory_bytes=8589934592 "
                 "isa/default/O3=5 clock_overhead=38 "
                 "caches/l2/sets=1024 "
                 "tlbs/l1={'page': 2097152, 'region': 16777216, "
                 "         'fill': 'region', 'set_ways': [24, 12]} "
                 "tlbs/l2={'page': 2097152, 'region': 33554432, "
                 "         'policy': 'random', 'scope': 'gpc', "
                 "         'sets': 5, 'ways': 10} "
                 "paths/global={'l2': [294, 301, 427], "
                 "              'memory': [438, 445, 571]} "
                 "noise={'jitter_cycles': 2.3, 'spike_rate': 0.00203, "
                 "       'spike_cycles': 214}"),
        "tlb");
    double sms = 2;
    truth_number(f, "tlb_l2.sms_sharing", &sms);
    ck_assert_double_eq(sms, 2);
    json_decref(f);
}
END_TEST

/* As many others push a page out of a first TLB whose victims are those that
 * came first, unless some of them are there already; and noise hides which
 * loads they left it for.  Expected: 347 cycles.  Buggy result: 342, a mean of
 * hits and misses. */
START_TEST(what_others_leave_there_is_no_miss)
{
    json_t *const f = truth_findings_seeded(
        gpu_made("sms=1 clock_khz=1500000 clock_overhead=34 "
                 "caches/l2={'line': 256, 'sector': 256, 'sets': 256, "
                 "           'ways': 5, 'policy': 'nru'} "
                 "tlbs/l1={'page': 1048576, 'entries': 28, 'policy': 'fifo'} "
                 "tlbs/l2={'page': 1048576, 'fill': 'region', "
                 "         'set_ways': [19, 13, 13, 13, 13, 13], "
                 "         'scope': 'gpu'} "
                 "paths/global={'l2': [337, 347, 492], "
                 "              'memory': [507, 517, 662]} "
                 "noise={'jitter_cycles': 2.25, 'spike_rate': 0.00138, "
                 "       'spike_cycles': 254}"),
        2, "patterns");
    const json_t *const miss =
        json_array_get(truth_measured(f, "memory.patterns_ca"), 1);
    ck_assert_msg(fabs(json_number_value(miss) - 347) < 1.5, "%g",
                  json_number_value(miss));
    json_decref(f);
}
END_TEST

/* Another process has turns, after which no translation is there.  Expected:
 * the width of a region.  Buggy result: twice as much or more, since a lap that
 * lost its translations said that there are few entries, of which a longer row
 * fit. */
START_TEST(places_that_others_push_out_make_no_regions_wider)
{
    json_t *const f = truth_findings_seeded(
        gpu_made("sms=1 sms_per_tpc=3 tpcs_per_gpc=3 clock_khz=1200000 "
                 "compute_capability='2.1' clock_overhead=12 "
                 "memory_bytes=17179869184 "
                 "shared_memory={'bytes': 65536, 'latency': 33, "
                 "               'conflict_cycles': 39} "
                 "caches/l2={'sets': 256, 'ways': 8, 'scope': 'gpu'} "
                 "tlbs/l1={'page': 2097152, 'entries': 4} "
                 "tlbs/l2={'page': 33554432, 'sets': 64, 'ways': 8, "
                 "         'scope': 'gpu'} "
                 "paths/global.ca={'l2': [269, 294, 394], "
                 "                 'memory': [430, 455, 555]} "
                 "paths/global.cg={'l2': [240, 265, 365], "
                 "                 'memory': [401, 426, 526]} "
                 "intruder={'share': 0.35, 'cycles': 100000, "
                 "          'every_cycles': 0, "
                 "          'empties': ['l2', 'tlb_l1', 'tlb_l2']}"),
        3, "tlb");
    double region;
    ck_assert(truth_number(f, "tlb_l2.region", &region));
    ck_assert_double_eq(region, 33554432);
    json_decref(f);
}
END_TEST

/* Places that push others out of the first TLB share its regions: they come to
 * hardly more than it has entries, and leave some there.  Expected: the page,
 * by what its neighbours cost the first time.  Buggy result: none, since some
 * have come along, or one several times as large, by chance. */
static const struct {
    unsigned miss;
    const char *ways;
} few_regions[] = {
    {31, "'set_ways': [18, 10, 10, 10, 10, 10]"},
    {16, "'entries': 64"},
};

START_TEST(pages_of_few_regions_are_told_the_first_time)
{
    const unsigned miss = few_regions[_i].miss;
    json_t *const f = truth_findings_of(
        gpu_made("sms=1 memory_bytes=17179869184 caches/l2/sets=64 "
                 "tlbs/l1={'page': 1048576, 'region': 16777216, "
                 "         'fill': 'page', 'policy': 'random', %s} "
                 "paths/global={'l2': [269, %u, %u], 'memory': [430, %u, %u]}",
                 few_regions[_i].ways, 269 + miss, 269 + miss, 430 + miss,
                 430 + miss),
        "tlb");
    double page = 0, region = 0;
    truth_number(f, "tlb_l1.page", &page);
    truth_number(f, "tlb_l1.region", &region);
    ck_assert_double_eq(page, 1048576);
    ck_assert_double_eq(region, 16777216);
    json_decref(f);
}
END_TEST

/* Expected: the width of a region, or a doubt that holds it.  Buggy result:
 * 512 KiB, since every second region comes to half of the ten sets; and 128
 * KiB, where half of 24 places in the window miss, which come to two of six
 * sets. */
static const struct {
    const char *wishes;
    double region;
} halves[] = {
    {"tlbs/l1={'page': 262144, 'policy': 'random', 'sets': 10, 'ways': 7} "
     "tlbs/l2={'page': 262144, 'region': 2097152, "
     "         'policy': 'nru', 'set_ways': [23, 15]} "
     "page_window={'bytes': 134217728, 'latency': 737} "
     "paths/global={'l2': [136, 173, 413], 'memory': [364, 401, 641]} "
     "noise={'jitter_cycles': 1.94, 'spike_rate': 0.00043, "
     "       'spike_cycles': 119}",
     262144},
    {"tlbs/l1={'page': 65536, 'sets': 6, 'ways': 11} "
     "tlbs/l2={'page': 65536, 'region': 1048576, 'fill': 'region', "
     "         'entries': 17} "
     "page_window={'bytes': 134217728, 'latency': 1261} "
     "paths/global={'l2': [306, 354, 823], 'memory': [446, 494, 963]} "
     "noise={'jitter_cycles': 0.76, 'spike_rate': 0.00219, "
     "       'spike_cycles': 374}",
     65536},
};

/* Ten sets of four ways, of which few conflicts show among 64 places; and six
 * among which 64 places, every fourth of a window, come to three, and are too
 * few for conflicts.  Expected: regions as wide as a page, and a doubt that
 * holds all entries.  Buggy result: regions of two pages, and half of the
 * entries at most. */
static const struct {
    const char *wishes;
    double region, entries;
} of_halves[] = {
    {"tlbs/l1={'page': 262144, 'sets': 10, 'ways': 4} "
     "page_window={'bytes': 134217728, 'latency': 1310} "
     "paths/global={'l2': [106, 156, 585], 'memory': [697, 747, 1176]} "
     "noise={'jitter_cycles': 1.54, 'spike_rate': 0.00291, "
     "       'spike_cycles': 273}",
     262144, 40},
    {"tlbs/l1={'page': 2097152, 'set_ways': [17, 15, 15, 15, 15, 15]} "
     "page_window={'bytes': 536870912, 'latency': 1126} "
     "paths/global={'l2': [409, 444, 803], 'memory': [538, 573, 932]}",
     2097152, 92},
};

START_TEST(halves_of_regions_tell_that_they_are_some)
{
    json_t *const f = truth_findings_seeded(
        gpu_made("sms=1 memory_bytes=4294967296 caches/l2/sets=64 %s",
                 of_halves[_i].wishes),
        2, "tlb");
    const json_t *const region = json_object_get(f, "tlb_l1.region"),
                        *const entries = json_object_get(f, "tlb_l1.entries"),
                        *const interval = json_object_get(entries, "interval");
    ck_assert_double_eq(json_number_value(json_object_get(region, "value")),
                        of_halves[_i].region);
    ck_assert_double_le(json_number_value(json_array_get(interval, 0)),
                        of_halves[_i].entries);
    ck_assert_double_ge(json_number_value(json_array_get(interval, 1)),
                        of_halves[_i].entries);
    json_decref(f);
}
END_TEST

START_TEST(half_of_the_sets_do_not_make_regions_wider)
{
    json_t *const f = truth_findings_seeded(
        gpu_made("sms=1 memory_bytes=4294967296 caches/l2/sets=64 %s",
                 halves[_i].wishes),
        2, "tlb");
    const json_t *const region = json_object_get(f, "tlb_l1.region"),
                        *const interval = json_object_get(region, "interval");
    if (strcmp(truth_text(f, "tlb_l1.region", "status"), "measured") == 0) {
        ck_assert_double_eq(json_number_value(json_object_get(region, "value")),
                            halves[_i].region);
    } else {
        ck_assert_str_eq(truth_text(f, "tlb_l1.region", "status"), "in_doubt");
        ck_assert_double_le(json_number_value(json_array_get(interval, 0)),
                            halves[_i].region);
    }
    json_decref(f);
}
END_TEST

/* Expected: as many sets as fill a row, with one or two entries beside them,
 * whatever order an index brings places to them in; but of one set of as many
 * ways as two others and one that its ways are those.  Buggy result: entries in
 * doubt, and no sets, since conflicts tell none. */
static const struct {
    const char *tlb;
    double sets, ways;
} beside_sets[] = {
    {"'page': 131072, 'sets': 9, 'ways': 8, 'spare': 2", 9, 8},
    {"'page': 262144, 'sets': 4, 'ways': 4, 'spare': 1, 'set_bits': "
     "[[18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40], "
     "[19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39, 41]]",
     4, 4},
    {"'page': 2097152, 'set_ways': [11, 5, 5, 5]", 4, 0},
    {"'page': 2097152, 'set_ways': [17, 5]", 2, 0},
};

START_TEST(sets_show_beside_room_that_they_share)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=1 memory_bytes=1073741824 caches/l2/sets=64 "
                 "paths/global={'l2': [200, 260, 500], "
                 "              'memory': [500, 560, 800]} tlbs/l1={%s}",
                 beside_sets[_i].tlb),
        "tlb");
    const json_t *const sets = truth_measured(f, "tlb_l1.sets");
    ck_assert_double_eq(json_number_value(sets), beside_sets[_i].sets);
    if (beside_sets[_i].ways > 0)
        ck_assert_double_eq(json_number_value(truth_measured(f, "tlb_l1.ways")),
                            beside_sets[_i].ways);
    json_decref(f);
}
END_TEST

/* What pushes out of the first TLB takes so much of the second one's sets that
 * in all laps that tell how many places fit some miss.  Expected: its entries,
 * in doubt, and the width of a region, of which as many fit in a row as of
 * random victims half stay at random.  Buggy result: no entries, since misses
 * were said to hide in how loads differ. */
START_TEST(what_a_row_makes_miss_is_no_noise)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=1 memory_bytes=8589934592 caches/l2/sets=64 "
                 "tlbs/l1={'page': 1048576, 'entries': 54} "
                 "tlbs/l2={'page': 1048576, 'region': 8388608, "
                 "         'policy': 'random', "
                 "         'set_ways': [22, 12, 12, 12, 12]} "
                 "paths/global={'l2': [216, 275, 391], "
                 "              'memory': [500, 559, 675]}"),
        "tlb");
    const json_t *const entries = json_object_get(f, "tlb_l2.entries"),
                        *const interval = json_object_get(entries, "interval"),
                        *const region = truth_measured(f, "tlb_l2.region");
    ck_assert_str_eq(truth_text(f, "tlb_l2.entries", "status"), "in_doubt");
    ck_assert_double_le(json_number_value(json_array_get(interval, 0)), 70);
    ck_assert_double_ge(json_number_value(json_array_get(interval, 1)), 70);
    ck_assert_double_eq(json_number_value(region), 8388608);
    json_decref(f);
}
END_TEST

/* That random GPU with one SM and a small L2, which asks less. */
static char *random_gpu_made_small(uint64_t seed)
{
    char *const text = gpu_random(seed);
    json_t *const gpu = json_loads(text, 0, NULL), *const l2 = json_object_get(
                                                       json_object_get(
                                                           gpu, "caches"),
                                                       "l2");
    free(text);
    json_object_set_new(gpu, "sms", json_integer(1));
    json_object_set_new(l2, "sets", json_integer(64));
    json_object_del(l2, "size");
    json_object_set_new(json_object_get(gpu, "noise"), "jitter_cycles",
                        json_real(0.3));
    char *const small = json_dumps(gpu, 0);
    json_decref(gpu);
    return small;
}

/* Of 153 entries under random victims one place more misses but twice a lap,
 * and two late loads of 159 were taken to be usual, which hid that.  Expected:
 * the entries, or that they are in doubt.  Buggy result, by one seed in ten:
 * one more, measured. */
static const uint64_t few_late[] = {17, 107};

START_TEST(a_few_late_loads_hide_no_miss)
{
    json_t *const f = truth_findings_seeded(random_gpu_made_small(1255000262),
                                            few_late[_i], "tlb");
    const json_t *const value =
        json_object_get(json_object_get(f, "tlb_l2.entries"), "value");
    ck_assert_msg(
        json_number_value(value) == 153 ||
            strcmp(truth_text(f, "tlb_l2.entries", "status"), "in_doubt") == 0,
        "%.0f", json_number_value(value));
    json_decref(f);
}
END_TEST

/* What pushes a neighbour out of the first TLB leaves half of the random second
 * one.  Expected: the page, or a bound that holds.  Buggy result: half of it,
 * since most of nine had stayed alone, and by chance not beside a neighbour. */
START_TEST(what_stays_by_chance_ends_no_page)
{
    json_t *const f = truth_findings_seeded(
        gpu_made("sms=1 memory_bytes=4294967296 caches/l2/sets=64 "
                 "tlbs/l1={'page': 262144, 'sets': 4, 'ways': 7, 'set_bits': "
                 "         [[18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40], "
                 "          [19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39, 41]]} "
                 "tlbs/l2={'page': 262144, 'region': 4194304, "
                 "         'policy': 'random', 'sets': 3, 'ways': 6} "
                 "paths/global={'l2': [293, 311, 665], "
                 "              'memory': [640, 658, 1012]}"),
        5, "tlb");
    const json_t *const page = json_object_get(f, "tlb_l2.page");
    const double bytes = json_number_value(json_object_get(page, "value"));
    ck_assert_msg(bytes == 262144, "%.0f", bytes);
    json_decref(f);
}
END_TEST

/* Beside a victim buffer of one entry places of all four sets push each other
 * out: to whom they seem of one set its policy is another. */
START_TEST(what_is_no_set_has_no_policy)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=1 caches/l2/sets=64 "
                 "tlbs/l1={'page': 262144, 'region': 2097152, "
                 "         'fill': 'region', 'entries': 9, 'policy': 'nru'} "
                 "tlbs/l2={'page': 4194304, 'region': 67108864, 'sets': 4, "
                 "         'ways': 12, 'spare': 1, 'set_bits': "
                 "         [[26, 28, 30, 32, 34, 36, 38, 40], "
                 "          [27, 29, 31, 33, 35, 37, 39, 41]]} "
                 "paths/global={'l2': [228, 259, 727], "
                 "              'memory': [701, 732, 1200]} "
                 "noise={'jitter_cycles': 0.92, 'spike_rate': 0.00179, "
                 "       'spike_cycles': 167}"),
        "tlb");
    const json_t *const value =
        json_object_get(json_object_get(f, "tlb_l2.policy"), "value");
    ck_assert(value == NULL || strcmp(json_string_value(value), "lru") == 0);
    json_decref(f);
}
END_TEST

/* Of few regions in a window hardly a place comes from nowhere, and whether
 * they are of a second TLB or of none is not known: one level at least. */
START_TEST(what_fills_a_window_is_a_bound)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=1 memory_bytes=8589934592 caches/l2/sets=64 "
                 "tlbs/l1={'page': 2097152, 'sets': 2, 'ways': 6} "
                 "tlbs/l2={'page': 33554432, 'region': %d, "
                 "         'fill': 'region', 'entries': 23, "
                 "         'policy': 'random'} "
                 "paths/global={'l2': [382, 435, 1026], "
                 "              'memory': [603, 656, 1247]} "
                 "page_window={'bytes': 1073741824, 'latency': 1616}",
                 _i == 0 ? 1 << 28 : 1 << 30),
        "tlb");
    ck_assert_str_eq(truth_text(f, "tlb.levels", "status"), "at_least");
    json_decref(f);
}
END_TEST

/* Each costs what no other does, a walk too; the simulated third cost what a
 * walk does before, so that nothing showed it. */
START_TEST(a_third_tlb_is_found)
{
    expect_right(
        gpu_made(
            "sms=2 memory_bytes=8589934592 caches/l2/sets=64 "
            "tlbs/l1={'page': 2097152, 'entries': 8} "
            "tlbs/l2={'page': 2097152, 'sets': 8, 'ways': 4} "
            "tlbs/l3={'page': 2097152, 'sets': 16, 'ways': 8, 'scope': 'gpu'} "
            "paths/global.ca={'l2': [200, 220, 300, 600], "
            "                 'memory': [500, 520, 600, 900]} "
            "paths/global.cg={'l2': [200, 220, 300, 600], "
            "                 'memory': [500, 520, 600, 900]}"),
        0);
}
END_TEST

/* Expected: both SMs of a TPC have it.  Buggy result: not measured, since the
 * memory by which SMs take turns is of another window. */
START_TEST(who_shares_shows_in_a_window)
{
    json_t *const f = truth_findings_of(
        gpu_made(
            "sms=6 sms_per_tpc=2 memory_bytes=8589934592 caches/l2/sets=64 "
            "tlbs/l1={'page': 2097152, 'sets': 4, 'ways': 4, "
            "         'scope': 'tpc'} "
            "page_window={'bytes': 536870912, 'latency': 1200} "
            "paths/global={'l2': [216, 246, 275], "
            "              'memory': [500, 530, 559]}"),
        "tlb");
    const json_t *const sharing = truth_measured(f, "tlb_l1.sms_sharing");
    ck_assert_double_eq(json_number_value(sharing), 2);
    json_decref(f);
}
END_TEST

/* Sixteen regions in a window, of which an index deals any eight that come in a
 * row to two sets alike, in the order of their addresses as in that of their
 * numbers.  Expected: two sets of four ways.  Buggy result: one set of eight.
 */
START_TEST(sets_that_fill_alike_in_a_window_are_not_one)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=2 memory_bytes=268435456 caches/l2/sets=64 "
                 "tlbs/l1={'page': 8388608, 'sets': 2, 'ways': 4, 'set_bits': "
                 "         [[23, 25, 27, 29, 31, 33, 35, 37, 39, 41]]} "
                 "page_window={'bytes': 134217728, 'latency': 1358} "
                 "paths/global={'l2': [251, 308, 901], "
                 "              'memory': [569, 626, 1219]}"),
        "tlb");
    ck_assert_double_eq(json_number_value(truth_measured(f, "tlb_l1.sets")), 2);
    ck_assert_double_eq(json_number_value(truth_measured(f, "tlb_l1.ways")), 4);
    json_decref(f);
}
END_TEST

/* A row of two places to a region overfills the smaller of two sets with eleven
 * regions, and thirteen at random fit into both.  Expected: the width of a
 * region.  Buggy result: half of it, since so many that fit were taken to tell
 * that each half has an entry of its own. */
START_TEST(sets_that_are_unlike_make_no_regions_narrower)
{
    json_t *const f = truth_findings_seeded(
        gpu_made("sms=1 memory_bytes=17179869184 caches/l2/sets=64 "
                 "tlbs/l1={'page': 65536, 'region': 1048576, 'fill': 'region', "
                 "         'entries': 48} "
                 "tlbs/l2={'page': 1048576, 'region': 16777216, "
                 "         'fill': 'page', 'set_ways': [11, 7]} "
                 "paths/global={'l2': [243, 274, 507], "
                 "              'memory': [547, 578, 811]}"),
        1, "tlb");
    ck_assert_double_eq(json_number_value(truth_measured(f, "tlb_l2.region")),
                        16777216);
    ck_assert_double_eq(json_number_value(truth_measured(f, "tlb_l2.reach")),
                        18 * 16777216.0);
    json_decref(f);
}
END_TEST

/* Each cites what it rests on, not whatever came last. */
START_TEST(findings_cite_the_experiments_that_show_them)
{
    static const char *const ids[] = {"tlb_l1.entries", "tlb_l2.entries",
                                      "tlb_l1.sms_sharing",
                                      "tlb_l2.sms_sharing"};
    json_t *const f = truth_findings_of(
        gpu_made("sms=2 caches/l2/sets=64 "
                 "tlbs/l1={'page': 2097152, 'entries': 16} "
                 "tlbs/l2={'page': 2097152, 'sets': 8, 'ways': 8, "
                 "         'scope': 'gpu'} "
                 "paths/global={'l2': [216, 222, 275], "
                 "              'memory': [500, 506, 559]}"),
        "tlb");
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        for (size_t j = 0; j < i; j++) {
            const json_t *const a =
                json_object_get(json_object_get(f, ids[i]), "evidence");
            const json_t *const b =
                json_object_get(json_object_get(f, ids[j]), "evidence");
            ck_assert_msg(json_array_size(a) > 0 && !json_equal(a, b),
                          "%s and %s", ids[i], ids[j]);
        }
    json_decref(f);
}
END_TEST

/* Expected: LRU, and one entry beside its sets, as the third TLB of an H200.
 * Buggy result: the policy was not known, and so entries and sets in doubt. */
START_TEST(an_entry_beside_the_sets_is_found)
{
    static const char wishes[] =
        "sms=2 caches/l2/sets=64 "
        "tlbs/l1={'page': 2097152, 'entries': 8} "
        "tlbs/l2={'page': 33554432, 'sets': 256, 'ways': 8, 'scope': 'gpu', "
        "'spare': 1, 'set_bits': [[25, 33, 41], [26, 34], [27, 35], [28, 36], "
        "[29, 37], [30, 38], [31, 39], [32, 40]]} "
        "paths/global={'l2': [216, 246, 500], 'memory': [500, 530, 800]}";
    expect_right(gpu_made(wishes), 0);
    json_t *const f = truth_findings_of(gpu_made(wishes), "tlb");
    ck_assert_double_eq(
        json_number_value(truth_protocol(f, "tlb_l2.policy", "spare")), 1);
    ck_assert_double_eq(
        json_number_value(truth_measured(f, "tlb_l2.sms_sharing")), 2);
    json_decref(f);
}
END_TEST

/* Expected: all of it beside a process that takes turns, as on an H200: laps
 * are asked one by one.  Buggy result: nothing, since 50 timed laps over half
 * of the places that fit were asked at once and took six of our turns. */
START_TEST(tlbs_are_found_beside_others)
{
    expect_right(
        gpu_made(
            "sms=2 caches/l2/sets=64 "
            "intruder={'share': 1, 'cycles': 4800000, 'every_cycles': 4100000, "
            "          'first_cycles': 4100000, "
            "          'empties': ['l2', 'tlb_l1', 'tlb_l2']} "
            "tlbs/l1={'page': 2097152, 'entries': 8} "
            "tlbs/l2={'page': 33554432, 'sets': 256, 'ways': 8, 'scope': "
            "'gpu', "
            "'set_bits': [[25, 33, 41], [26, 34], [27, 35], [28, 36], [29, "
            "37], "
            "[30, 38], [31, 39], [32, 40]]} "
            "paths/global={'l2': [216, 246, 1100], 'memory': [500, 530, "
            "1400]}"),
        0);
}
END_TEST

/* Expected: no cost of walks.  Buggy result: that of walks whose tables are not
 * in L2 (H100: 1206 cycles for 807). */
START_TEST(walks_beside_others_cost_nothing_certain)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=2 memory_bytes=8589934592 caches/l2/sets=64 "
                 "intruder={'share': 1, 'cycles': 4800000, "
                 "          'every_cycles': 4100000, "
                 "          'first_cycles': 4100000, "
                 "          'empties': ['l2', 'tlb_l1', 'tlb_l2']} "
                 "tlbs/l1={'page': 2097152, 'entries': 8} "
                 "tlbs/l2={'page': 2097152, 'sets': 8, 'ways': 4} "
                 "paths/global={'l2': [200, 220, 600], "
                 "              'memory': [500, 520, 900]}"),
        "patterns");
    const json_t *const cg = json_object_get(f, "memory.patterns_cg"),
                        *const row = json_object_get(cg, "value"),
                        *const protocol = json_object_get(cg, "protocol");
    enum { P1, P2, P3, P4, P5 };
    ck_assert_double_eq_tol(json_number_value(json_array_get(row, P1)), 200, 2);
    ck_assert(json_is_null(json_array_get(row, P3)));
    ck_assert(json_is_null(json_array_get(row, P5)));
    ck_assert(strstr(json_string_value(json_object_get(protocol, "none")),
                     "takes turns") != NULL);
    json_decref(f);
}
END_TEST

/* Expected: entries, sets and ways; how many are beside a set only where places
 * of one set are enough to tell.  Buggy result: what no policy of the ways
 * explains left them in doubt (H100, H200: all of twelve places of a set of
 * eight ways stay, but for the first that it lost). */
static const struct {
    const char *tlb, *policy;
    double sets;
} beside_one[] = {
    {"'sets': 256, 'spare': 6, 'set_bits': [[25, 33, 41], [26, 34], [27, 35], "
     "[28, 36], [29, 37], [30, 38], [31, 39], [32, 40]]",
     "lru", 256},
    {"'sets': 1024, 'spare': 6, 'set_bits': [25, [26, 35], [27, 36], [28, 37], "
     "[29, 38], [30, 39], [31, 40], [32, 41], 33, 34]",
     NULL, 1024},
};

START_TEST(entries_beside_one_set_leave_sets_as_they_are)
{
    json_t *const f = truth_findings_of(
        gpu_made("sms=2 caches/l2/sets=64 "
                 "tlbs/l1={'page': 2097152, 'entries': 8} "
                 "tlbs/l2={'page': 33554432, 'ways': 8, 'scope': 'gpu', "
                 "'spare_of_one': true, %s} "
                 "paths/global={'l2': [216, 246, 500], "
                 "              'memory': [500, 530, 800]}",
                 beside_one[_i].tlb),
        "tlb");
    const struct {
        const char *id;
        double truth;
    } of_sets[] = {{"tlb_l2.entries", 8 * beside_one[_i].sets},
                   {"tlb_l2.sets", beside_one[_i].sets},
                   {"tlb_l2.ways", 8}};
    for (size_t i = 0; i < COUNT_OF(of_sets); i++)
        ck_assert_double_eq(json_number_value(truth_measured(f, of_sets[i].id)),
                            of_sets[i].truth);
    const json_t *const policy =
        json_object_get(json_object_get(f, "tlb_l2.policy"), "value");
    if (beside_one[_i].policy == NULL)
        ck_assert_ptr_null(policy);
    else
        ck_assert_str_eq(json_string_value(policy), beside_one[_i].policy);
    json_decref(f);
}
END_TEST

/* Expected: conflicts tell no sets, as some of two of them push a place out
 * together.  Buggy result: half as many sets, of 9 and 17 ways; or of 24, where
 * the targets of other sets had no conflict that was found. */
static const char *const beside_few[] = {
    "tlbs/l1={'page': 2097152, 'sets': 8, 'ways': 4, 'spare': 1}",
    "tlbs/l1={'page': 2097152, 'entries': 8} "
    "tlbs/l2={'page': 33554432, 'sets': 64, 'ways': 8, 'scope': 'gpu', "
    "'spare': 1}",
    "memory_bytes=85899345920 "
    "tlbs/l1={'page': 262144, 'sets': 6, 'ways': 14, 'policy': 'fifo'} "
    "tlbs/l2={'page': 4194304, 'region': 33554432, 'sets': 4, 'ways': 11, "
    "'scope': 'gpu', 'spare': 2, 'set_bits': "
    "[[25, 28, 31, 34, 37, 40], [26, 29, 32, 35, 38, 41]]}",
};

START_TEST(room_beside_few_sets_is_none_of_a_set)
{
    char *const json = gpu_made(
        "sms=2 memory_bytes=8589934592 caches/l2/sets=64 %s "
        "paths/global={'l2': [216, 246, 500], 'memory': [500, 530, 800]}",
        beside_few[_i]);
    struct tlb_verdict v = judge(json, 1, "tlb");
    ck_assert_msg(v.wrong == 0, "%s", buf_string(&v.rows));
    buf_free(&v.rows);
    free(json);
}
END_TEST

/* Another user of L2 makes one load in ten late, by more than the first TLB's
 * misses, and none of L1's, by which noise was known.  Expected: an SM has that
 * TLB alone.  Buggy result: three of 120 had it. */
START_TEST(late_loads_look_like_no_sharing)
{
    json_t *const f = truth_findings_seeded(
        gpu_made("sms=120 caches/l1={'sets': 8, 'ways': 4} caches/l2/sets=64 "
                 "tlbs/l1={'page': 2097152, 'entries': 16} "
                 "neighbour={'from': 'l2', 'share': 0.1, 'cycles': 100, "
                 "           'burst': 4} "
                 "paths/global.ca={'l1': 40, 'l2': [216, 246, 246], "
                 "                 'memory': [500, 530, 530]} "
                 "paths/global.cg={'l2': [216, 246, 246], "
                 "                 'memory': [500, 530, 530]}"),
        4, "tlb");
    const json_t *const sharing = truth_measured(f, "tlb_l1.sms_sharing");
    ck_assert_double_eq(json_number_value(sharing), 1);
    json_decref(f);
}
END_TEST

/* Victims of chance leave the target in a first TLB however often it is pushed
 * out, which looks like less than a hit of the second.  Expected: all 13 SMs
 * share that.  Buggy result: 12, for of one's two turns the target stayed. */
START_TEST(what_stays_nearer_tells_no_sharing)
{
    json_t *const f = truth_findings_seeded(
        gpu_made("sms=13 memory_bytes=1073741824 caches/l2/sets=64 "
                 "tlbs/l1={'page': 1048576, 'entries': 4, 'policy': 'random'} "
                 "tlbs/l2={'page': 1048576, 'entries': 24, 'scope': 'gpu'} "
                 "paths/global={'l2': [200, 246, 387], "
                 "              'memory': [500, 546, 687]}"),
        8, "tlb");
    ck_assert_double_eq(
        json_number_value(truth_measured(f, "tlb_l2.sms_sharing")), 13);
    json_decref(f);
}
END_TEST

/* What a study finds of TLBs of so large pages in 1 GiB. */
static json_t *tlbs_found(const char *tlbs)
{
    return truth_findings_of(
        gpu_made("sms=1 memory_bytes=1073741824 caches/l2/sets=16 "
                 "paths/global={'l2': [200, 260, 500], "
                 "'memory': [500, 560, 800]} tlbs=%s",
                 tlbs),
        "tlb");
}

START_TEST(sets_have_their_bits)
{
    json_t *const findings =
        tlbs_found("{'l1': {'page': 2097152, 'region': 2097152, "
                   "'scope': 'sm', 'sets': 8, 'ways': 4, 'policy': 'lru'}}");
    json_t *const bits = json_pack("[i, i, i]", 21, 22, 23);
    ck_assert(json_equal(truth_measured(findings, "tlb_l1.set_bits"), bits));
    json_decref(bits);
    json_decref(findings);
}
END_TEST

/* 16 regions are found nearer, and so 20 show by next to nothing. */
START_TEST(a_second_tlb_hardly_larger_is_not_told)
{
    json_t *const findings =
        tlbs_found("{'l1': {'page': 2097152, 'region': 2097152, 'scope': 'sm', "
                   "'entries': 16, 'policy': 'lru'}, "
                   "'l2': {'page': 2097152, 'region': 2097152, 'scope': 'gpu', "
                   "'entries': 20, 'policy': 'lru'}}");
    truth_unmeasured(findings, "tlb_l2.entries", "half as many");
    truth_unmeasured(findings, "tlb_l2.ways", "half as many");
    json_decref(findings);
}
END_TEST

Suite *suite_truth_tlb(void)
{
    enum { QUICK = 3 };
    TCase *t;
    Suite *const suite = suite_of("truth_tlb", 240, &t);
    const int first = number("TLB_FIRST", 1);
    const int slow_ones = first + number("TLB_GPUS", RANDOM_GPUS);
    truth_add_gpus(suite, t, tlbs_are_what_the_profile_says, 0, 1);
    tcase_add_loop_test(t, sets_are_found_under_any_policy, 0, QUICK);
    tcase_add_test(t, sets_have_their_bits);
    tcase_add_test(t, a_second_tlb_hardly_larger_is_not_told);
    tcase_add_test(t, regions_wider_than_a_mapping_show_in_a_window);
    tcase_add_test(t, patterns_are_right_or_left_out);
    tcase_add_test(t, noise_hides_which_loads_miss);
    tcase_add_test(t, noise_makes_no_level);
    tcase_add_test(t, places_cost_the_same_at_all_distances);
    tcase_add_test(t, what_stays_by_chance_is_no_walk);
    tcase_add_test(t, walks_that_differ_are_no_noise);
    tcase_add_loop_test(t, nothing_measured_of_random_tlbs_is_wrong, first,
                        slow_ones);
    tcase_add_test(t, findings_cite_the_experiments_that_show_them);
    tcase_add_test(t, a_third_tlb_is_found);
    tcase_add_loop_test(t, what_fills_a_window_is_a_bound, 0, 2);
    tcase_add_test(t, pages_that_stay_are_no_walks);
    tcase_add_test(t, what_is_walked_to_is_no_hit);
    tcase_add_loop_test(t, half_of_the_sets_do_not_make_regions_wider, 0,
                        COUNT_OF(halves));
    tcase_add_loop_test(t, halves_of_regions_tell_that_they_are_some, 0,
                        COUNT_OF(of_halves));
    tcase_add_loop_test(t, sets_show_beside_room_that_they_share, 0,
                        COUNT_OF(beside_sets));
    tcase_add_test(t, what_others_leave_there_is_no_miss);
    tcase_add_loop_test(t, pages_of_few_regions_are_told_the_first_time, 1,
                        COUNT_OF(few_regions));
    tcase_add_test(t, who_shares_shows_in_a_window);
    tcase_add_test(t, sets_that_fill_alike_in_a_window_are_not_one);
    tcase_add_test(t, sets_that_are_unlike_make_no_regions_narrower);
    tcase_add_test(t, an_entry_beside_the_sets_is_found);
    tcase_add_test(t, tlbs_are_found_beside_others);
    tcase_add_test(t, walks_beside_others_cost_nothing_certain);
    tcase_add_loop_test(t, entries_beside_one_set_leave_sets_as_they_are, 0,
                        COUNT_OF(beside_one));
    tcase_add_test(t, late_loads_look_like_no_sharing);
    tcase_add_test(t, what_stays_nearer_tells_no_sharing);
    t = suite_slow(suite, 240);
    tcase_add_test(t, what_stays_by_chance_ends_no_page);
    tcase_add_loop_test(t, a_few_late_loads_hide_no_miss, 0,
                        COUNT_OF(few_late));
    tcase_add_test(t, what_is_no_set_has_no_policy);
    tcase_add_test(t, lines_that_are_far_are_no_misses);
    tcase_add_test(t, all_places_may_be_of_one_set);
    tcase_add_test(t, no_reach_is_told_without_a_region);
    tcase_add_loop_test(t, sets_are_found_under_any_policy, QUICK,
                        COUNT_OF(any_policy));
    tcase_add_test(t, a_few_walks_behind_an_l1_are_no_hits);
    tcase_add_test(t, unlike_sets_are_found_where_some_places_stay);
    tcase_add_test(t, walks_behind_an_l1_are_no_hits);
    tcase_add_test(t, data_that_is_pushed_out_is_no_hit);
    tcase_add_test(t, what_a_row_makes_miss_is_no_noise);
    tcase_add_test(t, what_goes_by_chance_is_not_pushed_out);
    tcase_add_test(t, places_that_others_push_out_make_no_regions_wider);
    tcase_add_loop_test(t, room_beside_few_sets_is_none_of_a_set, 0,
                        COUNT_OF(beside_few));
    tcase_add_loop_test(t, nothing_measured_of_random_tlbs_is_wrong, slow_ones,
                        slow_ones + SLOW_GPUS);
    tcase_add_loop_test(t, a_first_tlb_is_told_from_the_second, 0,
                        COUNT_OF(near_levels));
    tcase_add_loop_test(t, pages_of_few_regions_are_told_the_first_time, 0, 1);
    return suite;
}
