/*
 * The study of partitions on small L2 caches in one part and in two: it must
 * find the sides as the profile has them, and none where there are none.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu_made.h"
#include "sonde.h"
#include "testing.h"
#include "truth/truth.h"

enum { NEAR = 208, MISS = 475, MIB = 1024 * 1024 };

/* JSON; what follows the cycles is one of these, or both. */
#define PARTED(bits, far_cycles)                                               \
    "{'bits': " bits ", 'far_cycles': " far_cycles "}"
#define REPLICATES ", 'replicates': true"
#define ALTERNATE  ", 'sms': 'alternate'"

static const struct gpu {
    const char *name;
    const char *partitions; /* JSON; "": one part, which has no bits */
    const char *policy;
    int sms, size;
    double far; /* latency of a far line */
    bool replicates;
    const char *bits, *sides; /* as JSON */
    const char *index;        /* wishes of gpu_made.h; NULL: none */
} gpus[] = {
    {.name = "one bit, SMs alternate",
     .partitions = PARTED("[12]", "90" REPLICATES ALTERNATE),
     .policy = "plru",
     .sms = 5,
     .size = MIB / 2,
     .far = NEAR + 90,
     .replicates = true,
     .bits = "[12]",
     .sides = "[\"0,2,4\", \"1,3\"]"},
    /* Too little for sides, too much for one part. */
    {.name = "far is a hair farther",
     .partitions = PARTED("[12, 15]", "3"),
     .policy = "lru",
     .sms = 4,
     .size = MIB / 2},
    {.name = "one part",
     .partitions = "",
     .policy = "lru",
     .sms = 12,
     .size = MIB / 2},
    /* No SM sees the other lines near. */
    {.name = "one SM",
     .partitions = PARTED("[12]", "150"),
     .policy = "lru",
     .sms = 1,
     .size = MIB / 2},
    {.name = "hash, not replicating",
     .partitions = PARTED("[12, 13, 15, 17, 19]", "149"),
     .policy = "lru",
     .sms = 12,
     .size = MIB / 2,
     .far = NEAR + 149,
     .bits = "[12, 13, 15, 17, 19]",
     .sides = "[\"0-5\", \"6-11\"]"},
    /* What is far costs more than what misses near, from the first ring on.
     * Buggy result: lines of 128 B, and twice the size. */
    {.name = "far is farther than memory",
     .partitions = PARTED("[13, 15, 16, 17, 18, 19]", "300"),
     .policy = "lru",
     .index = "caches/l2/line=64 caches/l2/sector=64 caches/l2/sets=256 "
              "caches/l2/ways=15 caches/l2/set_bits=[[6,14,15,17],"
              "[7,14,15,19,20],[8,14,16,17],[9,14,16,18],[10,13,15,17,19],"
              "[11,16,17,19],[12,13,18]]",
     .sms = 4,
     .size = 240 * 1024,
     .far = NEAR + 300,
     .bits = "[13, 15, 16, 17, 18, 19]",
     .sides = "[\"0-1\", \"2-3\"]"},
    /* The slow ones. */
    {.name = "hash as of an H100, replicating",
     .partitions = PARTED("[12, 13, 16, 17, 19]", "150" REPLICATES),
     .policy = "lru",
     .sms = 12,
     .size = MIB,
     .far = NEAR + 150,
     .replicates = true,
     .bits = "[12, 13, 16, 17, 19]",
     .sides = "[\"0-5\", \"6-11\"]"},
    /* A sweep leaves some of what was there. */
    {.name = "random victims, more SMs than one script has",
     .partitions = PARTED("[12, 13, 15, 17, 19]", "170" REPLICATES),
     .policy = "random",
     .sms = 36,
     .size = MIB / 2,
     .far = NEAR + 170,
     .replicates = true,
     .bits = "[12, 13, 15, 17, 19]",
     .sides = "[\"0-17\", \"18-35\"]"},
    {.name = "slices by XORs, ages",
     .partitions = PARTED("[12, 13, 16, 17, 19]", "150" REPLICATES),
     .policy = "{'kind':'rrip','most':2,'insert':1,'hit':0}",
     .sms = 6,
     .size = MIB / 2,
     .far = NEAR + 150,
     .replicates = true,
     .bits = "[12, 13, 16, 17, 19]",
     .sides = "[\"0-2\", \"3-5\"]",
     .index =
         "caches/l2/slices={'modulo':1,'from_bit':7,'bits':[[7,14,20],[8,15]]} "
         "caches/l2/set_bits=[[9,18],10,11,[12,21],[13,20]]"},
    {.name = "slices by a modulus, random victims",
     .partitions = PARTED("[12, 13, 15, 17, 19]", "160" REPLICATES),
     .policy = "random",
     .sms = 6,
     .size = 3 * MIB / 4,
     .far = NEAR + 160,
     .replicates = true,
     .bits = "[12, 13, 15, 17, 19]",
     .sides = "[\"0-2\", \"3-5\"]",
     .index = "caches/l2/slices={'modulo':3,'from_bit':13,'bits':[[7,16]]} "
              "caches/l2/set_bits=[8,9,10,11,[12,18]]"},
    {.name = "small, and far is hardly farther",
     .partitions = PARTED("[14, 18]", "20"),
     .policy = "lru",
     .sms = 4,
     .size = MIB / 2,
     .far = NEAR + 20,
     .bits = "[14, 18]",
     .sides = "[\"0-1\", \"2-3\"]"},
    /* Bits of the memory above a page cannot be seen. */
    {.name = "bits above a page",
     .partitions = PARTED("[11, 20, 21, 23]", "150"),
     .policy = "lru",
     .sms = 70,
     .size = MIB / 2,
     .far = NEAR + 150,
     .bits = "[11, 20]",
     .sides = "[\"0-34\", \"35-69\"]"},
    /* Of so few lines a trial looks at 57. */
    {.name = "few long lines",
     .partitions = PARTED("[13, 16, 19]", "115"),
     .policy = "{'kind':'rrip','most':3,'insert':2,'hit':0}",
     .index = "caches/l2/line=256 caches/l2/sets=1024 caches/l2/ways=2",
     .sms = 37,
     .size = MIB / 2,
     .far = NEAR + 115,
     .bits = "[13, 16, 19]",
     .sides = "[\"0-18\", \"19-36\"]"},
};

enum { QUICK_GPUS = 6 };

static char *profile_of(const struct gpu *g)
{
    return gpu_made(
        "sms=%d clock_khz=1400000 memory_bytes=2147483648 "
        "caches/l2/sets=%d caches/l2/policy=%s caches/l2/partitions=%s %s "
        "tlbs/l1={'page': 2097152, 'entries': 16} "
        "paths/global={'l2': [%d, %d, 308], 'memory': [%d, %d, 575]} "
        "shared_memory={'bytes': 65536, 'latency': 28, 'conflict_cycles': 2} "
        "noise={'jitter_cycles': 1.5, 'spike_rate': 0.002, "
        "       'spike_cycles': 300}",
        g->sms, g->size / 128 / 16, g->policy, g->partitions,
        g->index != NULL ? g->index : "", NEAR, NEAR, MISS, MISS);
}

static json_t *findings_of(const struct gpu *g, uint64_t seed)
{
    static const char *const studies[] = {"partitions", "size"};
    char *const spec = testing_spec_of(profile_of(g));
    json_t *const findings = truth_findings(spec, seed, studies, 2);
    free(spec);
    return findings;
}

static const json_t *member(const json_t *findings, const char *id,
                            const char *key)
{
    return json_object_get(json_object_get(findings, id), key);
}

static void expect_number(const json_t *findings, const char *id, double wanted)
{
    const double found = json_number_value(member(findings, id, "value"));
    ck_assert_msg(fabs(found - wanted) <= 0.01 * wanted,
                  "%s: expected %g, found %g", id, wanted, found);
}

static void expect_json(const json_t *findings, const char *id,
                        const char *wanted)
{
    json_t *const value = json_loads(wanted, JSON_DECODE_ANY, NULL);
    char *const found =
        json_dumps(member(findings, id, "value"), JSON_ENCODE_ANY);
    ck_assert_msg(json_equal(member(findings, id, "value"), value),
                  "%s: expected %s, found %s", id, wanted, found);
    json_decref(value);
    free(found);
}

static double interval_end(const json_t *findings, const char *id, size_t end)
{
    return json_number_value(
        json_array_get(member(findings, id, "interval"), end));
}

/* It has an interval that holds in 999 of 1000 runs, and is narrow. */
static void expect_near(const json_t *findings, const char *id, double wanted)
{
    const double low = interval_end(findings, id, 0);
    const double high = interval_end(findings, id, 1);
    const char *const because =
        json_string_value(member(findings, id, "because"));
    ck_assert_msg(because == NULL, "%s: %s", id, because);
    ck_assert_msg(low <= wanted && wanted <= high,
                  "%s: %g is not from %g to %g", id, wanted, low, high);
    /* As many looks as of a large part leave 3.5 % of a small one, or 6.8 where
     * fewer of them count. */
    ck_assert_double_le(high - low, 0.07 * wanted);
}

static void expect_two(const json_t *findings, const struct gpu *g)
{
    expect_number(findings, "l2.parts", 2);
    expect_number(findings, "l2.near_latency", NEAR);
    expect_number(findings, "l2.far_latency", g->far);
    expect_number(findings, "l2.near_miss_latency", MISS);
    expect_number(findings, "l2.far_miss_latency", MISS + g->far - NEAR);
    expect_json(findings, "l2.replicates", g->replicates ? "true" : "false");
    expect_json(findings, "l2.side_bits", g->bits);
    expect_json(findings, "l2.sm_sides", g->sides);
    expect_near(findings, "l2.near_size", g->size / 2);
    expect_near(findings, "l2.size", g->size);
}

/* Of a cache in one part there are no such findings; where it is not known
 * whether it is one, they say why they are not there. */
static void expect_none(const json_t *findings, bool one_part)
{
    static const char *const ids[] = {
        "l2.near_latency",     "l2.far_latency", "l2.near_miss_latency",
        "l2.far_miss_latency", "l2.near_size",   "l2.replicates",
        "l2.side_bits",        "l2.sm_sides",
    };
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        if (one_part) {
            ck_assert_ptr_null(json_object_get(findings, ids[i]));
            continue;
        }
        ck_assert_str_eq(truth_text(findings, ids[i], "status"),
                         "not_measured");
        ck_assert_ptr_nonnull(member(findings, ids[i], "because"));
    }
}

/* Sets of both parts, by lines that are at home in one. */
static const struct inside {
    struct gpu gpu;
    double sets;
    const char *policy;
} insides[] = {
    {{.partitions = PARTED("[12, 13, 15, 17, 19]", "150" REPLICATES),
      .policy = "lru",
      .sms = 4,
      .size = MIB / 2},
     256,
     "lru"},
    /* The slow one. */
    {{.partitions = PARTED("[12, 13, 16, 17, 19]", "150" REPLICATES),
      .policy = "{'kind':'rrip','most':2,'insert':1,'hit':0}",
      .sms = 6,
      .size = MIB / 2,
      .index = "caches/l2/slices={'modulo':1,'from_bit':7,'bits':[[7,14,20],"
               "[8,15]]} caches/l2/set_bits=[[9,18],10,11,[12,21],[13,20]]"},
     256,
     "rrip"},
    /* No step of a power of two stays in few sets: lines in random
     * order, by more laps than one. */
    {{.partitions = PARTED("[12, 13, 15, 17, 19]", "160" REPLICATES),
      .policy = "{'kind':'rrip','most':2,'insert':1,'hit':0}",
      .sms = 6,
      .size = 5 * MIB / 8,
      .index = "caches/l2/slices={'modulo':5,'from_bit':8} caches/l2/set_bits="
               "[[7,14,16,18,20],[8,15,17,19,21],[9,13,18,20],[10,16,19],"
               "[11,17,21]]"},
     320,
     "rrip"},
};

static json_t *found_alone(const struct gpu *g, const char *study)
{
    char *const spec = testing_spec_of(profile_of(g));
    json_t *const findings = truth_findings(spec, 1, &study, 1);
    free(spec);
    return findings;
}

/* Slices by pieces of 16 KiB, of which each holds 15: copies are given up of as
 * few lines as are asked.  What near ones cost is what hits do. */
START_TEST(copies_that_are_gone_are_not_hits)
{
    const struct gpu gpu = {
        .partitions = PARTED("[14, 16, 19]", "211" REPLICATES),
        .policy = "fifo",
        .sms = 8,
        .size = 9 * MIB / 32,
        .index = "caches/l2/ways=15 caches/l2/slices={'modulo':9,'from_bit':14}"
                 " caches/l2/set_bits=[[7,10,12,14,15],[8,10,12,13,15,16],"
                 "[9,10,14,15]]"};
    json_t *const findings = found_alone(&gpu, "latency");
    expect_number(findings, "l2.near_latency", NEAR);
    expect_near(findings, "l2.latency", NEAR);
    json_decref(findings);
}
END_TEST

/* One that has less room for copies than lines are asked of a large one.  Buggy
 * result: no copies, and hits that cost 338 cycles for 218. */
START_TEST(a_small_one_copies_fewer_lines)
{
    const struct gpu gpu = {
        .partitions = PARTED("[14, 15, 16, 18, 19]", "70" REPLICATES),
        .policy = "nru",
        .sms = 8,
        .size = 3 * MIB / 32,
        .index = "caches/l2/line=64 caches/l2/sector=64 caches/l2/sets=128 "
                 "caches/l2/ways=12 "
                 "caches/l2/slices={'modulo':1,'from_bit':6,'bits':[[6,7,16],"
                 "[6,9,13,15]]}"};
    json_t *const findings = found_alone(&gpu, "latency");
    expect_json(findings, "l2.replicates", "true");
    if (strcmp(truth_text(findings, "l2.latency", "status"), "measured") == 0)
        expect_near(findings, "l2.latency", NEAR);
    json_decref(findings);
}
END_TEST

/* By its index; or, where none is found, in doubt and within its interval. */
static void expect_sets(const json_t *findings, double sets)
{
    if (strcmp(truth_text(findings, "l2.sets", "status"), "in_doubt") == 0) {
        ck_assert_ptr_null(member(findings, "l2.set_bits", "value"));
        ck_assert_double_le(interval_end(findings, "l2.sets", 0), sets);
        ck_assert_double_ge(interval_end(findings, "l2.sets", 1), sets);
        return;
    }
    ck_assert_ptr_nonnull(member(findings, "l2.set_bits", "value"));
    expect_number(findings, "l2.sets", sets);
}

START_TEST(sets_are_found_in_a_part)
{
    const struct inside *const in = &insides[_i];
    json_t *const findings = found_alone(&in->gpu, "structure");
    expect_sets(findings, in->sets);
    expect_number(findings, "l2.ways", 16);
    ck_assert_str_eq(truth_text(findings, "l2.policy", "value"), in->policy);
    json_decref(findings);
}
END_TEST

/* Slices of both parts, by whose atomics wait for whose. */
static const struct sliced {
    struct gpu gpu;
    double slices;
    const char *bits; /* as JSON; NULL: there are none */
} sliceds[] = {
    {{.name = "by a modulus and a bit that lies far",
      .partitions = "",
      .policy = "lru",
      .sms = 4,
      .size = 3 * MIB / 16,
      .index = "caches/l2/slices={'modulo':3,'from_bit':12,'bits':[[8,14,23]]} "
               "caches/l2/atomic_cycles=6"},
     6,
     "[[8, 14, 23]]"},
    {{.name = "four in each part",
      .partitions = PARTED("[12, 13, 16, 17, 19]", "150" REPLICATES),
      .policy = "lru",
      .sms = 6,
      .size = MIB / 2,
      .index = "caches/l2/slices={'modulo':1,'from_bit':7,'bits':[[7,14,20],"
               "[8,15]]} caches/l2/set_bits=[[9,18],10,11,[12,21],[13,20]] "
               "caches/l2/atomic_cycles=8"},
     8,
     "[[7, 14, 20], [8, 15], [12, 13, 16, 17, 19]]"},
    /* What lies in another window is late. */
    {{.name = "in windows of pages",
      .partitions = "",
      .policy = "lru",
      .sms = 4,
      .size = MIB / 4,
      .index = "caches/l2/slices={'modulo':1,'from_bit':8,'bits':[[7,9,12,14],"
               "[8,15,18]]} caches/l2/atomic_cycles=4 "
               "page_window={'bytes':134217728,'latency':1345}"},
     4,
     "[[7, 9, 12, 14], [8, 15, 18]]"},
    /* What all wait for need not be a slice. */
    {{.name = "one",
      .partitions = "",
      .policy = "lru",
      .sms = 2,
      .size = MIB / 4,
      .index = "caches/l2/atomic_cycles=7"},
     0,
     NULL},
    /* The slow ones. */
    /* Buggy result: 4, and the bit 29: what lies in another window waits for
     * none of its slice, however many SMs send atomics. */
    {{.name = "in windows that sort as slices do",
      .partitions = "",
      .policy = "lru",
      .sms = 32,
      .size = MIB / 2,
      .index = "caches/l2/slices={'modulo':1,'from_bit':8,'bits':[[7,9,12,14]]}"
               " caches/l2/atomic_cycles=4 "
               "page_window={'bytes':536870912,'latency':500}"},
     2,
     "[[7, 9, 12, 14]]"},
    /* Buggy result: 2 at least, of a chance of e^-1024 that is 0. */
    {{.name = "two, of a thousand lines each",
      .partitions = "",
      .policy = "lru",
      .sms = 4,
      .size = 2 * MIB,
      .index =
          "caches/l2/slices={'modulo':1,'from_bit':8,'bits':[[7,9,12,14,17]]}"
          " caches/l2/atomic_cycles=8"},
     2,
     "[[7, 9, 12, 14, 17]]"},
};
enum { QUICK_SLICEDS = 4 };

START_TEST(slices_are_those_that_wait)
{
    const struct sliced *const is = &sliceds[_i];
    json_t *const findings = truth_findings_of(profile_of(&is->gpu), "slices");
    expect_number(findings, "l2.slices", is->slices);
    ck_assert_str_eq(truth_text(findings, "l2.slices", "status"),
                     is->bits != NULL ? "measured" : "not_measured");
    if (is->bits != NULL)
        expect_json(findings, "l2.slice_bits", is->bits);
    json_decref(findings);
}
END_TEST

/* Lines at equal steps, which keep step with what deals them to slices, miss
 * some slices.  Buggy results: 2 slices of 5, of even halves; 33 of 36; 17 of
 * 18. */
static const struct in_step {
    struct gpu gpu;
    double slices;
} in_steps[] = {
    {{.name = "by a remainder",
      .partitions = "",
      .policy = "lru",
      .sms = 4,
      .size = 120 * 1024,
      .index = "memory_bytes=536870912 caches/l2/atomic_cycles=4 "
               "caches/l2/slices={'modulo':5,'from_bit':8}"},
     5},
    /* The slow ones. */
    {{.name = "by a remainder and bits of it",
      .partitions = "",
      .policy = "lru",
      .sms = 4,
      .size = 432 * 1024,
      .index = "caches/l2/atomic_cycles=4 "
               "caches/l2/slices={'modulo':9,'from_bit':14,"
               "'bits':[[9,10,11,12,13,14,15],[8,9,11]]}"},
     36},
    /* In each part some of those lines are in hardly any slice. */
    {{.name = "by a remainder of what tells the side",
      .partitions = PARTED("[14, 18, 19]", "153" REPLICATES),
      .policy = "lru",
      .sms = 8,
      .size = 9 * MIB / 16,
      .index = "caches/l2/slices={'modulo':9,'from_bit':14} "
               "caches/l2/atomic_cycles=4"},
     18},
};

START_TEST(slices_are_those_that_any_steps_meet)
{
    const struct in_step *const is = &in_steps[_i];
    json_t *const findings = truth_findings_of(profile_of(&is->gpu), "slices");
    expect_number(findings, "l2.slices", is->slices);
    ck_assert_str_eq(truth_text(findings, "l2.slices", "status"), "measured");
    json_decref(findings);
}
END_TEST

/* Sixty lines are too few for 15 slices, however often others are asked: 14 are
 * seen, and there may be more. */
START_TEST(slices_that_hold_few_lines_are_a_bound)
{
    static const struct gpu gpu = {
        .name = "fewer lines than slices want",
        .partitions = "",
        .policy = "lru",
        .sms = 4,
        .size = 60 * 1024,
        .index = "memory_bytes=536870912 caches/l2/atomic_cycles=4 "
                 "caches/l2/slices={'modulo':15,'from_bit':8}"};
    json_t *const findings = truth_findings_of(profile_of(&gpu), "slices");
    const double seen =
        json_number_value(member(findings, "l2.slices", "value"));
    ck_assert(seen >= 8 && seen <= 15);
    ck_assert_str_eq(truth_text(findings, "l2.slices", "status"), "at_least");
    json_decref(findings);
}
END_TEST

/* Misses that find in L2 what it has brought in before cost far less than
 * others, and less than half of what rings say. */
#define UNEVEN_L2                                                              \
    "caches/l2={'line': 128, 'sector': 128, 'sets': 896, 'ways': 2, "          \
    "'scope': 'gpu', 'partitions': {'bits': [14, 15, 16, 17, 19], "            \
    "'far_cycles': 189, 'replicates': false}} "                                \
    "paths/global={'l2': 118, 'memory': 463} "
#define SMALL_L2(sets)                                                         \
    "caches/l2={'line': 128, 'sector': 128, 'sets': " #sets ", 'ways': 5, "    \
    "'scope': 'gpu'} paths/global={'l2': 118, 'memory': 763} "                 \
    "noise={'jitter_cycles': 1.3, 'spike_rate': 0.002, 'spike_cycles': 300} "
static const struct {
    const char *gpu, *id;
    unsigned bytes;
} near_misses[] = {
    /* Rings lie in both parts.  Buggy result: 128, of which L2 brings in as
     * many. */
    {"clock_overhead=38 "
     "caches/l1={'sets': 256, 'ways': 2, 'line': 64, 'sector': 64} "
     "caches/l2={'sets': 128, 'ways': 16, 'line': 128, 'sector': 128, "
     "'scope': 'gpu', 'partitions': {'bits': [14, 15, 16, 17, 18, 19], "
     "'far_cycles': 229, 'replicates': false}} "
     "paths/global.ca={'l1': 103, 'l2': 200, 'memory': 739} "
     "paths/global.cg={'l2': 200, 'memory': 739} "
     "paths/local={'l1': 103, 'l2': 200, 'memory': 739} "
     "noise={'jitter_cycles': 1.3}",
     "local.sector", 64},
    /* Rings that miss for certain miss L2, too.  Buggy result: 128. */
    {UNEVEN_L2 "caches/own={'sets': 8, 'ways': 16, 'line': 64, 'sector': 64} "
               "paths/local={'own': 92, 'l2': 198, 'memory': 543}",
     "local.sector", 64},
    /* … not measured, since L2 had all. */
    {UNEVEN_L2
     "caches/texture={'sets': 8, 'ways': 16, 'line': 64, 'sector': 32} "
     "paths/texture={'texture': 73, 'l2': 165, 'memory': 510}",
     "texture.sector", 32},
    {UNEVEN_L2
     "caches/const_l1={'sets': 1, 'ways': 8, 'line': 64, 'sector': 32} "
     "caches/const_l15={'sets': 4, 'ways': 24, 'line': 64, 'sector': 64} "
     "paths/constant={'const_l1': 39, 'const_l15': 70, 'l2': 182, "
     "'memory': 527}",
     "const_l15.sector", 64},
    /* … 128 … */
    {SMALL_L2(
         16) "caches/texture={'sets': 2, 'ways': 16, 'line': 64, 'sector': 32} "
             "paths/texture={'texture': 73, 'l2': 165, 'memory': 810}",
     "texture.sector", 32},
    /* … and 4096. */
    {SMALL_L2(
         32) "caches/texture={'sets': 2, 'ways': 16, 'line': 64, 'sector': 64} "
             "paths/readonly={'texture': 73, 'l2': 165, 'memory': 810}",
     "readonly.sector", 64},
};

START_TEST(what_lies_near_is_no_hit)
{
    json_t *const findings =
        truth_findings_of(gpu_made("sms=2 %s", near_misses[_i].gpu), "sector");
    expect_number(findings, near_misses[_i].id, near_misses[_i].bytes);
    json_decref(findings);
}
END_TEST

/* Parts of which little is looked at by each of many SMs. */
static const struct gpu full_parts[] = {
    /* Of 128 lines 32 SMs look at one each, and load another before: what hits
     * comes before what misses, which would push it out.  Buggy result:
     * 16416 to 17530 B. */
    {.name = "few lines for many SMs",
     .partitions = PARTED("[12, 13, 15, 17, 19]", "150"),
     .policy = "nru",
     .sms = 64,
     .size = MIB / 32},
    /* Its code waits for what an SM ran before it looks, unless it looks all
     * the time.  Buggy result: 66848 to 69195 B. */
    {.name = "a small cache of code",
     .partitions = PARTED("[12, 13, 15, 17, 19]", "150"),
     .policy = "fifo",
     .sms = 16,
     .size = MIB / 8,
     .index = "caches/i0={'line':128,'sets':3,'ways':10,'policy':'random'} "
              "paths/instruction={'i0':4,'memory':138}"},
    /* Within 1 MiB two of the XORs that tell slices apart are one.  Buggy
     * result: 80004 to 84197 B. */
    {.name = "sets that bits from above choose",
     .partitions = PARTED("[12, 13, 14, 16, 17, 19]", "190"),
     .policy = "{'kind': 'rrip', 'most': 3, 'insert': 2, 'hit': 0}",
     .sms = 5,
     .size = 327680,
     .index = "caches/l2/sets=512 caches/l2/ways=5 "
              "caches/l2/slices={'modulo':1,'from_bit':8,"
              "'bits':[[8,11,12,14,15,17,19,20,21,22,23,24],"
              "[8,9,11,12,14,15,22,23,24],"
              "[8,9,10,11,12,14,15,17,19,21,23,25]]} memory_bytes=268435456"},
};

START_TEST(a_part_holds_no_more_than_fits)
{
    const struct gpu *const g = &full_parts[_i];
    json_t *const findings = found_alone(g, "overfill");
    expect_near(findings, "l2.near_size", g->size / 2);
    json_decref(findings);
}
END_TEST

START_TEST(sides_are_found_as_they_are)
{
    const struct gpu *const g = &gpus[_i % (int)COUNT_OF(gpus)];
    json_t *const findings = findings_of(g, 1 + (uint64_t)_i / COUNT_OF(gpus));
    if (g->bits != NULL)
        expect_two(findings, g);
    else
        expect_none(findings, g->partitions[0] == '\0');
    if (g->partitions[0] == '\0')
        expect_number(findings, "l2.parts", 1);
    else if (g->bits == NULL)
        ck_assert_str_eq(truth_text(findings, "l2.parts", "status"),
                         "not_measured");
    json_decref(findings);
}
END_TEST

/* Half of the far lines stay at their homes while four sizes of what lies near
 * are swept: what should be missing costs one of three values.  Buggy result:
 * one part. */
static const char stays_far[] =
    "sms=4 memory_bytes=2147483648 "
    "caches/l2={'line':64,'sector':64,'sets':2048,'ways':9,'scope':'gpu',"
    "'policy':{'kind':'rrip','most':2,'insert':1,'hit':0},"
    "'partitions':{'bits':[13,14,15,19],'far_cycles':236,'replicates':true},"
    "'set_bits':[[6,13,15,17,18,19,21,22,25,26,27,28],[7,14,17,18,19,22,"
    "23,25,26,27,28],[8,13,14,15,16,17,20,23,24,25],[9,13,14,16,17,19,20,"
    "24],[10,14,15,17,18,19,23,25],[11,13,14,15,16,20,22,23,24],[12,13,"
    "15,16,17,18,20,21,23,24,28]],"
    "'slices':{'modulo':1,'from_bit':11,'bits':[[9,11,13,14,17,18,26,27],"
    "[6,8,9,13,14,15,18,20,22,23,25,26,27,28],[10,11,12,14,17,18,19,20,"
    "21,23,24,25]]}} "
    "paths/global={'l2':286,'memory':683}";

START_TEST(what_stays_far_is_no_one_part)
{
    json_t *const findings =
        truth_findings_of(gpu_made("%s", stays_far), "partitions");
    expect_number(findings, "l2.parts", 2);
    expect_number(findings, "l2.far_latency", 286 + 236);
    expect_number(findings, "l2.far_miss_latency", 683 + 236);
    expect_json(findings, "l2.side_bits", "[13, 14, 15, 19]");
    json_decref(findings);
}
END_TEST

/* Lines at home in a part are numbered, and a remainder is none of numbers.
 * Buggy result: no sets, since what is in one set leaves two remainders. */
START_TEST(a_remainder_is_of_where_lines_lie)
{
    const struct gpu gpu = {
        .partitions = PARTED("[12, 13, 14, 19]", "67" REPLICATES),
        .policy = "lru",
        .sms = 4,
        .size = 160 * 1024,
        .index = "caches/l2/line=64 caches/l2/sector=64 caches/l2/sets=320 "
                 "caches/l2/ways=8 caches/l2/slices={'modulo':5,'from_bit':9}"};
    json_t *const findings = found_alone(&gpu, "structure");
    expect_number(findings, "l2.sets", 320);
    expect_number(findings, "l2.ways", 8);
    expect_number(findings, "l2.slice_modulo", 5);
    expect_json(findings, "l2.set_bits", "[6, 7, 8, 9, 10]");
    json_decref(findings);
}
END_TEST

/* An L2 in parts whose sides are not told, of 320 sets in each.  Expected: no
 * index, or XORs.  Buggy result: bits 8 to 14, of twice as many sets as an SM
 * sees; that lines of other sets stay away from one, as was asked of twenty, is
 * so of 638 in 640. */
START_TEST(sets_of_one_part_are_not_those_of_both)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=4 sms_per_tpc=2 clock_khz=500000 "
                 "memory_bytes=17179869184 caches/l1={'line': 128, 'sector': "
                 "64, 'sets': 4, 'ways': 16, 'set_bits': [7, 8]} "
                 "caches/l2={'line': 256, 'sector': 32, 'sets': 640, "
                 "'ways': 8, 'scope': 'gpu', 'policy': {'kind': 'rrip', "
                 "'most': 2, 'insert': 1, 'hit': 0}, 'partitions': {'bits': "
                 "[14, 16, 19], 'far_cycles': 96, 'replicates': true}, "
                 "'set_bits': [8, [9, 14], [10, 14], [11, 14], 12, 13], "
                 "'slices': {'modulo': 5, 'from_bit': 8}} "
                 "tlbs/l1={'page': 65536, 'entries': 12} "
                 "paths/global.ca={'l1': 69, 'l2': [232, 261, 634], "
                 "'memory': [727, 756, 1129]} "
                 "paths/global.cg={'l2': [232, 261, 634], "
                 "'memory': [727, 756, 1129]} noise={'jitter_cycles': 0.6, "
                 "'spike_rate': 0.00272, 'spike_cycles': 319}"),
        "structure");
    ck_assert_ptr_null(member(findings, "l2.set_bits", "value"));
    ck_assert_ptr_null(member(findings, "l2.policy", "value"));
    json_decref(findings);
}
END_TEST

Suite *suite_truth_partitions(void)
{
    TCase *t;
    Suite *const suite = suite_of("truth_partitions", 60, &t);
    TCase *const slow = suite_slow(suite, 60);
    for (int i = 0; i < (int)COUNT_OF(gpus) * (int)testing_seeds(); i++)
        tcase_add_loop_test(i % (int)COUNT_OF(gpus) < QUICK_GPUS ? t : slow,
                            sides_are_found_as_they_are, i, i + 1);
    tcase_add_loop_test(t, slices_are_those_that_wait, 0, QUICK_SLICEDS);
    tcase_add_loop_test(slow, slices_are_those_that_wait, QUICK_SLICEDS,
                        (int)COUNT_OF(sliceds));
    tcase_add_test(t, slices_that_hold_few_lines_are_a_bound);
    tcase_add_loop_test(t, slices_are_those_that_any_steps_meet, 0, 1);
    tcase_add_loop_test(slow, slices_are_those_that_any_steps_meet, 1,
                        (int)COUNT_OF(in_steps));
    tcase_add_test(t, copies_that_are_gone_are_not_hits);
    tcase_add_test(t, a_small_one_copies_fewer_lines);
    tcase_add_loop_test(t, what_lies_near_is_no_hit, 0, COUNT_OF(near_misses));
    tcase_add_test(t, what_stays_far_is_no_one_part);
    tcase_add_loop_test(t, sets_are_found_in_a_part, 0, 1);
    tcase_add_loop_test(slow, sets_are_found_in_a_part, 1,
                        (int)COUNT_OF(insides));
    tcase_add_loop_test(slow, a_part_holds_no_more_than_fits, 0,
                        (int)COUNT_OF(full_parts));
    tcase_add_test(slow, a_remainder_is_of_where_lines_lie);
    tcase_add_test(slow, sets_of_one_part_are_not_those_of_both);
    return suite;
}
