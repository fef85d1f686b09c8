/*
 * The study of shared memory on GPUs whose banks are known: all that ship,
 * those that Mei 2014 measured (figures 5 and 7), and some that nobody built.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "device/sim/profile/profile.h"
#include "device/sim/profile/shipped.h"
#include "gpu_made.h"
#include "sonde.h"
#include "testing.h"
#include "truth/truth.h"

enum { LANES = 32, STRIDES = 65 };

/* ---- running the study ------------------------------------------------ */

/* The findings of the study `banks`; the caller decrefs. */
static json_t *findings_of(const char *spec, uint64_t seed)
{
    static const char *const studies[] = {"banks"};
    return truth_findings(spec, seed, studies, 1);
}

static double item(const json_t *findings, const char *id, size_t i)
{
    const json_t *const list = truth_measured(findings, id);
    ck_assert_msg(i < json_array_size(list), "%s has no item %zu", id, i);
    return json_number_value(json_array_get(list, i));
}

/* A profile with another shared memory, as a file; the caller frees. */
static char *variant(const char *name, const char *shared)
{
    char *const text = gpu_changed(name, "shared_memory=%s", shared);
    char *const path = testing_file("banks.json", text);
    free(text);
    return path;
}

/* ---- against the profile ---------------------------------------------- */

/* 1 % of the latency; at least a cycle. */
static double doubt(double cycles)
{
    return fmax(1, 0.01 * cycles);
}

static double cost(const struct profile *p, unsigned lanes, unsigned distance,
                   unsigned bytes)
{
    uint32_t addresses[LANES];
    for (unsigned lane = 0; lane < lanes; lane++)
        addresses[lane] = lane * distance;
    return p->shared_latency +
           p->shared_conflict_cycles *
               (banks_degree(&p->banks, addresses, lanes, bytes) - 1);
}

static void compare_item(const json_t *findings, const char *id, size_t i,
                         double expected)
{
    const double found = item(findings, id, i);
    ck_assert_msg(fabs(found - expected) <= doubt(expected),
                  "%s, item %zu: expected %.2f, found %.2f", id, i, expected,
                  found);
}

static void compare_number(const json_t *findings, const char *id,
                           double expected, double tolerance)
{
    const double found = json_number_value(truth_measured(findings, id));
    ck_assert_msg(fabs(found - expected) <= tolerance,
                  "%s: expected %.10g, found %.10g", id, expected, found);
}

/* 32 rows, or as many as a block's memory has. */
static unsigned rows_of(const struct profile *p)
{
    const uint64_t rows =
        1 + (p->shared_per_block - 4) /
                (p->banks.count * p->banks.bank_bytes * p->banks.row_words);
    return rows < LANES ? (unsigned)rows : LANES;
}

static void compare(const json_t *findings, const struct profile *p)
{
    compare_number(findings, "shared.banks", p->banks.count, 0);
    compare_number(findings, "shared.bank_bytes", p->banks.bank_bytes, 0);
    compare_number(findings, "shared.row_words", p->banks.row_words, 0);
    compare_number(findings, "shared.conflict_cycles",
                   p->shared_conflict_cycles,
                   fmax(0.05, 0.01 * p->shared_conflict_cycles));
    for (unsigned i = 0; i < STRIDES; i++) {
        compare_item(findings, "shared.stride_latency", i,
                     cost(p, LANES, 4 * i, 4));
        compare_item(findings, "shared.stride_latency_64", i,
                     cost(p, LANES, 8 * i, 8));
    }
    for (unsigned i = 0; i < rows_of(p); i++)
        compare_item(findings, "shared.conflict_latency", i,
                     p->shared_latency + i * p->shared_conflict_cycles);
    ck_assert_uint_eq(
        json_array_size(truth_measured(findings, "shared.conflict_latency")),
        rows_of(p));
}

/* `findings` are taken. */
static void compare_with(const char *name, json_t *findings)
{
    struct profile *profile;
    struct error err;
    ASSERT_DONE(profile_open(name, NULL, &profile, &err), err);
    compare(findings, profile);
    json_decref(findings);
    profile_free(profile);
}

static void compare_profile(const char *name, uint64_t seed)
{
    char *const spec = xasprintf("sim:%s", name);
    compare_with(name, findings_of(spec, seed));
    free(spec);
}

START_TEST(banks_of_shipped_profiles_are_found)
{
    const char *const gpu = truth_gpus[_i % TRUTH_GPUS];
    compare_with(gpu, truth_topology(gpu, 1 + (uint64_t)_i / TRUTH_GPUS));
}
END_TEST

static bool is_among_truth_gpus(const char *name)
{
    for (size_t i = 0; i < TRUTH_GPUS; i++)
        if (strcmp(name, truth_gpus[i]) == 0)
            return true;
    return false;
}

START_TEST(banks_of_the_other_shipped_profiles_are_found)
{
    size_t others = 0;
    for (const struct shipped_profile *p = shipped_profiles; p->name != NULL;
         p++)
        if (!is_among_truth_gpus(p->name)) {
            compare_profile(p->name, 1);
            others++;
        }
    ck_assert_uint_gt(others, 0);
}
END_TEST

/* ---- Mei 2014 --------------------------------------------------------- */

/* Prints both rows, and compares them. */
static void compare_figure(const char *figure, const json_t *findings,
                           const unsigned *strides, const double *expected,
                           size_t n)
{
    printf("%s\n  stride  ", figure);
    for (size_t i = 0; i < n; i++)
        printf(" %7u", strides[i]);
    printf("\n  expected");
    for (size_t i = 0; i < n; i++)
        printf(" %7.1f", expected[i]);
    printf("\n  found   ");
    for (size_t i = 0; i < n; i++)
        printf(" %7.1f", item(findings, "shared.stride_latency", strides[i]));
    printf("\n");
    fflush(stdout);
    for (size_t i = 0; i < n; i++)
        compare_item(findings, "shared.stride_latency", strides[i],
                     expected[i]);
}

START_TEST(figure_5_fermi)
{
    static const unsigned strides[] = {0, 1, 2, 3, 4, 8, 16, 32};
    static const double expected[] = {50, 50, 88, 50, 162.2, 311.8, 611, 1210};
    json_t *const findings = findings_of("sim:gtx560ti", 1);
    compare_figure("Mei 2014, figure 5: Fermi", findings, strides, expected,
                   COUNT_OF(strides));
    json_decref(findings);
}
END_TEST

/* By way of conflict, of the figure's even strides: the text tells those of 2,
 * 4 and 6, and figure 6 how the others come about. */
static const unsigned even_strides[] = {0, 2, 4, 6, 8, 10, 12, 16, 32, 64};
static const unsigned ways_of_4[] = {1, 1, 2, 2, 4, 2, 4, 8, 16, 32};
static const unsigned ways_of_8[] = {1, 1, 2, 1, 4, 1, 2, 8, 16, 32};
enum { EVEN = COUNT_OF(even_strides) };

static void compare_kepler(const char *figure, const char *spec,
                           const unsigned *ways)
{
    double expected[EVEN];
    for (size_t i = 0; i < EVEN; i++)
        expected[i] = 47 + 14.0 * (ways[i] - 1);
    json_t *const findings = findings_of(spec, 1);
    compare_figure(figure, findings, even_strides, expected, EVEN);
    json_decref(findings);
}

START_TEST(figure_7_kepler_in_4_byte_mode)
{
    compare_kepler("Mei 2014, figure 7: Kepler, 4-byte mode", "sim:gtx780",
                   ways_of_4);
}
END_TEST

START_TEST(figure_7_kepler_in_8_byte_mode)
{
    char *const path =
        variant("gtx780", "{'bytes': 49152, 'latency': 47, 'banks': 32, "
                          "'bank_bytes': 8, 'conflict_cycles': 14}");
    char *const spec = xasprintf("sim:%s", path);
    compare_kepler("Mei 2014, figure 7: Kepler, 8-byte mode", spec, ways_of_8);
    compare_profile(path, 2);
    free(spec);
    free(path);
}
END_TEST

/* ---- what nobody built ------------------------------------------------ */

/* The noise is that of the profile, which all but this is of. */
START_TEST(banks_that_nobody_built_are_found)
{
    const uint64_t seed = (uint64_t)_i;
    struct rng r;
    rng_seed(&r, seed);
    char *const shared = xasprintf(
        "{'bytes': %u, 'latency': %u, 'banks': %u, 'bank_bytes': %u, "
        "'row_words': %u, 'conflict_cycles': %.1f}",
        16384u << rng_below(&r, 3), 20 + (unsigned)rng_below(&r, 41),
        8u << rng_below(&r, 5), 4u << rng_below(&r, 2),
        1 + (unsigned)rng_below(&r, 2), 1 + 39 * pow(rng_unit(&r), 2));
    char *const path = variant("v100", shared);
    printf("seed %u: %s\n", (unsigned)seed, shared);
    fflush(stdout);
    compare_profile(path, seed);
    free(path);
    free(shared);
}
END_TEST

static void expect_nothing(const char *shared, const char *const *ids)
{
    char *const path = variant("v100", shared);
    char *const spec = xasprintf("sim:%s", path);
    json_t *const findings = findings_of(spec, 1);
    for (; *ids != NULL; ids++) {
        const json_t *const f = json_object_get(findings, *ids);
        ck_assert_str_eq(truth_text(findings, *ids, "status"), "not_measured");
        ck_assert(json_is_string(json_object_get(f, "because")));
    }
    json_decref(findings);
    free(spec);
    free(path);
}

START_TEST(without_conflicts_banks_are_not_guessed)
{
    static const char *const ids[] = {"shared.banks", "shared.bank_bytes",
                                      "shared.row_words",
                                      "shared.conflict_latency", NULL};
    expect_nothing("{'bytes': 49152, 'latency': 30, 'conflict_cycles': 0}",
                   ids);
}
END_TEST

START_TEST(without_shared_memory_there_is_a_reason)
{
    static const char *const ids[] = {"shared.banks", "shared.stride_latency",
                                      "shared.conflict_cycles", NULL};
    expect_nothing("{'bytes': 0, 'latency': 30, 'conflict_cycles': 2}", ids);
}
END_TEST

/* ---- little room ------------------------------------------------------- */

static json_t *of_room(const char *shared, const char *noise)
{
    return truth_findings_of(
        gpu_made("sms=1 max_threads_per_block=128 caches/l2/sets=32 "
                 "caches/l2/ways=4 shared_memory=%s noise=%s",
                 shared, noise),
        "banks");
}

/* Banks that are asked with what one block may have. */
static const struct room {
    unsigned bytes, banks, bank_bytes, row_words;
    double cycles;
} rooms[] = {{4352, 32, 8, 1, 2},
             {4352, 16, 4, 2, 7.5},
             {6144, 64, 4, 1, 2},
             {8192, 8, 8, 2, 1}};

START_TEST(banks_are_found_in_little_room)
{
    enum { LATENCY = 30 };
    const struct room *const r = &rooms[_i];
    char *const shared = xasprintf(
        "{'bytes': 65536, 'per_block': %u, 'latency': %d, 'banks': %u, "
        "'bank_bytes': %u, 'row_words': %u, 'conflict_cycles': %g}",
        r->bytes, LATENCY, r->banks, r->bank_bytes, r->row_words, r->cycles);
    json_t *const findings = of_room(shared, "{'jitter_cycles': 1}");
    const struct {
        const char *id;
        double truth;
    } numbers[] = {{"shared.banks", r->banks},
                   {"shared.bank_bytes", r->bank_bytes},
                   {"shared.row_words", r->row_words},
                   {"shared.conflict_cycles", r->cycles}};
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        ck_assert_double_eq_tol(
            json_number_value(truth_measured(findings, numbers[i].id)),
            numbers[i].truth, 0.1);
    const size_t degrees =
        json_array_size(truth_measured(findings, "shared.conflict_latency"));
    ck_assert_uint_gt(degrees, 3);
    for (size_t i = 0; i < degrees; i++)
        ck_assert_double_eq_tol(item(findings, "shared.conflict_latency", i),
                                LATENCY + r->cycles * (double)i, 1);
    json_decref(findings);
    free(shared);
}
END_TEST

/* What cannot be told of banks, and why. */
static const struct untold {
    const char *shared, *noise, *id, *word;
} untold[] = {
    {"{'bytes': 65536, 'latency': 30, 'conflict_cycles': 2}",
     "{'jitter_cycles': 25, 'spike_rate': 0.3, 'spike_cycles': 100}",
     "shared.stride_latency", "noise"},
    {"{'bytes': 65536, 'latency': 30, 'conflict_cycles': 2}",
     "{'jitter_cycles': 25, 'spike_rate': 0.3, 'spike_cycles': 100}",
     "shared.banks", "no banks explain"},
    {"{'bytes': 65536, 'latency': 30, 'conflict_cycles': 0.05}",
     "{'jitter_cycles': 1}", "shared.conflict_cycles", "no stride costs"},
    {"{'bytes': 65536, 'per_block': 2048, 'latency': 30, "
     "'conflict_cycles': 2}",
     "{'jitter_cycles': 1}", "shared.conflict_latency", "too little"},
};

START_TEST(banks_that_do_not_show_are_not_guessed)
{
    const struct untold *const u = &untold[_i];
    json_t *const findings = of_room(u->shared, u->noise);
    truth_unmeasured(findings, u->id, u->word);
    json_decref(findings);
}
END_TEST

Suite *suite_truth_banks(void)
{
    TCase *t;
    Suite *const suite = suite_of("truth_banks", 240, &t);
    tcase_add_test(t, figure_5_fermi);
    tcase_add_test(t, figure_7_kepler_in_4_byte_mode);
    tcase_add_test(t, figure_7_kepler_in_8_byte_mode);
    truth_add_gpus(suite, t, banks_of_shipped_profiles_are_found, 0, 1);
    tcase_add_test(t, banks_of_the_other_shipped_profiles_are_found);
    tcase_add_loop_test(t, banks_that_nobody_built_are_found, 1,
                        1 + 6 * (int)testing_seeds());
    tcase_add_loop_test(t, banks_are_found_in_little_room, 0,
                        (int)COUNT_OF(rooms));
    tcase_add_loop_test(t, banks_that_do_not_show_are_not_guessed, 0,
                        (int)COUNT_OF(untold));
    tcase_add_test(t, without_conflicts_banks_are_not_guessed);
    tcase_add_test(t, without_shared_memory_there_is_a_reason);
    return suite;
}
