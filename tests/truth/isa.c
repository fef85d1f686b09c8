/*
 * What instructions cost on a GPU that nobody built: every row of the table has
 * numbers of its own in the profile, so that one that is taken for another, or
 * a helper that is not the one in the chain, shows.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu_made.h"
#include "ptx/instruction.h"
#include "ptx/snippet.h"
#include "sonde.h"
#include "testing.h"

/* ---- the GPU ----------------------------------------------------------- */

enum { SCHEDULERS = 2, LEVEL_COUNT = 2 };
enum { NAME_MOST = 47 }; /* letters of a row of a profile */

static const int levels[LEVEL_COUNT] = {0, 3};

/* The cycles of the row with that number: all are above what an instruction
 * keeps its pipe busy, and those of neighbours differ. */
static int cycles_of(size_t row, int level)
{
    const int optimised = 9 + (int)(29 * row % 53);
    return level == 3 ? optimised : optimised + 3 + (int)(17 * row % 37);
}

static int issue_of(size_t row)
{
    return 1 + (int)(row % 5);
}

static const char base[] =
    "compute_capability='9.0' sms=2 warp_schedulers=2 max_blocks_per_sm=8 "
    "registers_per_sm=65536 registers_per_block=65536 clock_overhead=5 "
    "clock_overhead_unoptimized=23 "
    "caches/l2={'line': 128, 'sets': 64, 'ways': 4, 'scope': 'gpu'} "
    "paths/global.cg={'l2': 190, 'memory': 490} "
    "shared_memory={'bytes': 65536, 'per_block': 49152, 'latency': 25, "
    "               'conflict_cycles': 2} "
    "noise={'jitter_cycles': 4, 'spike_rate': 0.05, 'spike_cycles': 300} "
    "isa/default={'O3': 6, 'O0': 19} "
    "isa/div.s32={'O3': 90, 'O0': 400, "
    "             'power_of_two': {'O3': 61, 'O0': 333}} "
    "isa/div.rn.f32={'O3': 700, 'O0': 801, "
    "                'power_of_two': {'O3': 111, 'O0': 500}}";

/* Numbers that the base says, or of the frame of a kernel. */
static bool is_told(const char *name)
{
    static const char *const told[] = {"div.s32", "div.rn.f32", NULL};
    for (const char *const *t = told; *t != NULL; t++)
        if (strcmp(*t, name) == 0)
            return true;
    return false;
}

/* Length of the instruction that a statement of a snippet is. */
static size_t mnemonic(const struct snippet *s, size_t i, const char **text)
{
    const char *at = s->text + s->statements[i].start;
    if (*at == '@')
        at += strcspn(at, " ") + 1;
    *text = at;
    return strcspn(at, " ;");
}

/* The statements of a row's snippet that are the instruction of its name. */
static size_t times_named(const struct instruction *row)
{
    struct snippet s;
    struct error err;
    size_t count = 0;
    const char *text;
    ASSERT_DONE(snippet_parse(row->snippet, &s, &err), err);
    for (size_t i = 0; i < s.statement_count; i++)
        count += mnemonic(&s, i, &text) == strlen(row->name) &&
                 strncmp(text, row->name, strlen(row->name)) == 0;
    snippet_free(&s);
    return count;
}

/* Rows that are one instruction of their name, beside a helper at most, and
 * whose time is not that of memory or of other warps. */
static bool is_plain(const struct instruction *row)
{
    return row->snippet != NULL && strlen(row->name) <= NAME_MOST &&
           row->category != CATEGORY_BARRIER &&
           row->category != CATEGORY_ATOMIC &&
           row->category != CATEGORY_MEMORY && !is_told(row->name) &&
           times_named(row) > 0;
}

/* The caller frees. */
static char *profile_text(void)
{
    json_t *const gpu = gpu_plain();
    gpu_wish(gpu, "%s", base);
    for (size_t i = 0; instruction_table[i].name != NULL; i++)
        if (is_plain(&instruction_table[i]))
            gpu_wish(gpu, "isa/%s={'O3': %d, 'O0': %d, 'issue': %d}",
                     instruction_table[i].name, cycles_of(i, 3),
                     cycles_of(i, 0), issue_of(i));
    return gpu_text(gpu);
}

static char *spec; /* of the device */

static void begin(void)
{
    spec = testing_spec_of(profile_text());
}

static void end(void)
{
    free(spec);
}

static struct sonde *opened(uint64_t seed)
{
    const struct sonde_options options = {
        .device = spec, .seed = seed, .no_cache = true};
    struct sonde_error err;
    struct sonde *session;
    ASSERT_DONE(sonde_open(&session, &options, &err), err);
    return session;
}

static void closed(struct sonde *session)
{
    struct sonde_error err;
    ASSERT_DONE(sonde_close(session, &err), err);
}

static void measure(struct sonde *session, const struct sonde_isa *wish)
{
    struct sonde_error err;
    ck_assert_msg(sonde_isa(session, wish, &err) >= 0, "%s", err.text);
}

static void assert_found(const struct sonde *session, const char *id,
                         double expected)
{
    double found = NAN;
    ck_assert_msg(sonde_number(session, id, &found), "%s was not measured: %s",
                  id, sonde_because(session, id));
    ck_assert_msg(fabs(found - expected) < 0.01, "%s: expected %g, found %g",
                  id, expected, found);
}

/* ---- every row --------------------------------------------------------- */

struct tally {
    size_t right, wrong, bounds, missing;
};

static void compare(const struct sonde *session, size_t row, int level,
                    struct tally *tally)
{
    char id[128];
    double found;
    snprintf(id, sizeof id, "isa.%s.latency.O%d", instruction_table[row].name,
             level);
    if (!sonde_number(session, id, &found)) {
        ck_assert_msg(sonde_because(session, id) != NULL, "%s: no reason", id);
        const bool bound = strcmp(sonde_status(session, id), "at_most") == 0;
        tally->bounds += bound;
        tally->missing += !bound;
        return;
    }
    const bool right = fabs(found - cycles_of(row, level)) < 0.01;
    if (!right)
        printf("%s: expected %d, found %g\n", id, cycles_of(row, level), found);
    tally->right += right;
    tally->wrong += !right;
}

/* Bounds: chains that hold more than machine code could excuse.  Not measured:
 * what the simulator does not know. */
START_TEST(every_row_has_its_own_number)
{
    struct sonde *const session = opened(1);
    struct tally tally = {0};
    measure(session,
            &(struct sonde_isa){.latency_only = true, .levels = 1u << 3});
    for (size_t i = 0; instruction_table[i].name != NULL; i++)
        if (is_plain(&instruction_table[i]))
            compare(session, i, 3, &tally);
    printf("%zu right, %zu wrong, %zu bounds, %zu not measured\n", tally.right,
           tally.wrong, tally.bounds, tally.missing);
    fflush(stdout);
    ck_assert_uint_eq(tally.wrong, 0);
    ck_assert_uint_gt(tally.right, 350);
    ck_assert_uint_lt(tally.missing, 50);
    assert_found(session, "clock.overhead.O3", 5);
    closed(session);
}
END_TEST

/* ---- some rows, with throughput and noise ------------------------------ */

static size_t row_of(const char *name)
{
    const struct instruction *const row = instruction_find(name);
    ck_assert_msg(row != NULL, "no row %s", name);
    return (size_t)(row - instruction_table);
}

static void assert_latencies(const struct sonde *session, const char *name)
{
    char id[64];
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        snprintf(id, sizeof id, "isa.%s.latency.O%d", name, levels[i]);
        assert_found(session, id, cycles_of(row_of(name), levels[i]));
    }
}

/* Of one instruction, whose pipe takes one of a warp every `issue` cycles, on
 * each of the schedulers. */
static void assert_throughput(const struct sonde *session, const char *name)
{
    char id[64];
    double found;
    const double expected = 32.0 * SCHEDULERS / issue_of(row_of(name));
    snprintf(id, sizeof id, "isa.%s.throughput", name);
    ck_assert_msg(sonde_number(session, id, &found), "%s: %s", id,
                  sonde_because(session, id));
    ck_assert_msg(fabs(found - expected) < 0.02 * expected,
                  "%s: expected %g, found %g", id, expected, found);
}

static const char *const sample[] = {
    "fma.rn.f32", "xor.b32",  "mul.hi.u32",  "popc.b32",
    "add.f64",    "brev.b32", "shl.b32",     "not.b64",
    "abs.s32",    "rem.u32",  "setp.lt.u32", "cvt.rn.f16.f32",
};
enum { WITH_RATE = 8 }; /* the others have helpers */

START_TEST(a_sample_has_latency_and_throughput)
{
    struct sonde *const session = opened((uint64_t)_i);
    measure(session, &(struct sonde_isa){.patterns = sample,
                                         .pattern_count = COUNT_OF(sample)});
    for (size_t i = 0; i < COUNT_OF(sample); i++)
        assert_latencies(session, sample[i]);
    for (size_t i = 0; i < WITH_RATE; i++)
        assert_throughput(session, sample[i]);
    closed(session);
}
END_TEST

START_TEST(divisors_that_are_powers_of_two_are_told_from_others)
{
    static const char *const patterns[] = {"div.s32", "div.rn.f32"};
    struct sonde *const session = opened((uint64_t)_i);
    measure(session, &(struct sonde_isa){.patterns = patterns,
                                         .pattern_count = COUNT_OF(patterns),
                                         .latency_only = true});
    assert_found(session, "isa.div.s32.regular.latency.O3", 61);
    assert_found(session, "isa.div.s32.irregular.latency.O3", 90);
    assert_found(session, "isa.div.s32.latency.O3", 75.5);
    assert_found(session, "isa.div.s32.latency.O0", 366.5);
    assert_found(session, "isa.div.rn.f32.regular.latency.O0", 500);
    assert_found(session, "isa.div.rn.f32.latency.O3", 405.5);
    ck_assert_str_eq(sonde_status(session, "isa.div.s32.latency.O3"),
                     "derived");
    closed(session);
}
END_TEST

/* Nothing says whether a conversion on the way back is free. */
START_TEST(what_is_mixed_is_a_bound)
{
    static const char *const patterns[] = {"cvt.f64.f32", "popc.b64"};
    struct sonde *const session = opened(1);
    measure(session, &(struct sonde_isa){.patterns = patterns,
                                         .pattern_count = COUNT_OF(patterns)});
    ck_assert_str_eq(sonde_status(session, "isa.cvt.f64.f32.latency.O3"),
                     "at_most");
    ck_assert_str_eq(sonde_status(session, "isa.popc.b64.latency.O0"),
                     "at_most");
    ck_assert_str_eq(sonde_status(session, "isa.cvt.f64.f32.throughput"),
                     "at_least");
    closed(session);
}
END_TEST

/* ---- small blocks ------------------------------------------------------ */

/* One instruction on a GPU whose blocks have so few warps; a rate is told by a
 * larger step that brings no more. */
static const struct narrow {
    int latency, issue, warps;
    bool told;
} narrow[] = {
    {20, 3, 4, true}, {12, 4, 2, true}, {400, 1, 4, false}, {41, 5, 2, false}};

static struct sonde *opened_narrow(const struct narrow *n, char **of)
{
    *of = testing_spec_of(gpu_made(
        "compute_capability='9.0' sms=1 warp_schedulers=%d max_blocks_per_sm=4 "
        "max_threads_per_block=%d max_warps_per_sm=8 caches/l2/sets=32 "
        "caches/l2/ways=4 isa/default={'O3': 6, 'O0': 19} "
        "isa/fma.rn.f32={'O3': %d, 'O0': %d, 'issue': %d}",
        SCHEDULERS, 32 * n->warps, n->latency, n->latency, n->issue));
    const struct sonde_options options = {
        .device = *of, .seed = 1, .no_cache = true};
    struct sonde_error err;
    struct sonde *session;
    ASSERT_DONE(sonde_open(&session, &options, &err), err);
    return session;
}

/* Results in a cycle: chains of a warp go on side by side, and warps of a
 * scheduler wait for its pipe; the last to end is the fullest scheduler's. */
static double rate_of(const struct narrow *n, int chains, int warps)
{
    const int fullest = (warps + SCHEDULERS - 1) / SCHEDULERS;
    return 32.0 * warps * chains /
           fmax(n->latency, fullest * chains * n->issue);
}

START_TEST(rates_of_small_blocks_are_of_the_pipe_or_bounds)
{
    static const char *const patterns[] = {"fma.rn.f32"};
    enum { CHAINS_MOST = 8 };
    const char *const id = "isa.fma.rn.f32.throughput";
    const struct narrow *const n = &narrow[_i];
    struct sonde_finding f;
    char *of;
    struct sonde *const session = opened_narrow(n, &of);
    measure(session, &(struct sonde_isa){.patterns = patterns,
                                         .pattern_count = 1,
                                         .parallelism = true});
    ck_assert(sonde_find(session, id, &f));
    ck_assert_str_eq(f.status, n->told ? "measured" : "at_least");
    ck_assert_double_eq_tol(f.number,
                            n->told ? 32.0 * SCHEDULERS / n->issue
                                    : rate_of(n, CHAINS_MOST, n->warps),
                            0.02 * f.number);
    for (int chains = 1; chains <= CHAINS_MOST; chains++) {
        char list[64];
        snprintf(list, sizeof list, "isa.fma.rn.f32.throughput_by_warps.%d",
                 chains);
        ck_assert(sonde_find(session, list, &f) && f.list != NULL);
        ck_assert_uint_eq(f.count, (size_t)n->warps);
        for (int warps = 1; warps <= n->warps; warps++)
            ck_assert_double_eq_tol(f.list[warps - 1],
                                    rate_of(n, chains, warps), 0.1);
    }
    closed(session);
    free(of);
}
END_TEST

/* ---- snippets ---------------------------------------------------------- */

/* Snippets, and the rows whose cycles are in a copy. */
static const struct {
    const char *snippet, *rows[3];
} chained[] = {
    {"fma.rn.f32 %f0, %f0, %f1, %f2;", {"fma.rn.f32"}},
    {"xor.b32 %r0, %r0, %r1; popc.b32 %r0, %r0;", {"xor.b32", "popc.b32"}},
    {"add.f64 %fd0, %fd0, %fd1; mul.f64 %fd0, %fd0, %fd1; "
     "add.f64 %fd0, %fd0, %fd2;",
     {"add.f64", "mul.f64", "add.f64"}},
    {"shl.b32 %r0, %r0, 3; not.b32 %r2, %r1;", {"shl.b32"}},
};

START_TEST(a_snippet_costs_the_sum_of_its_chain)
{
    struct sonde *const session = opened((uint64_t)(_i % 2 + 1));
    const struct sonde_bench wish = {.snippet = chained[_i / 2].snippet};
    struct sonde_error err;
    double sum[LEVEL_COUNT] = {0};
    ck_assert_msg(sonde_bench(session, &wish, &err) >= 0, "%s", err.text);
    for (size_t i = 0; i < 3 && chained[_i / 2].rows[i] != NULL; i++)
        for (size_t l = 0; l < LEVEL_COUNT; l++)
            sum[l] += cycles_of(row_of(chained[_i / 2].rows[i]), levels[l]);
    assert_found(session, "bench.latency.O0", sum[0]);
    assert_found(session, "bench.latency.O3", sum[1]);
    closed(session);
}
END_TEST

Suite *suite_truth_isa(void)
{
    TCase *t;
    Suite *const suite = suite_of("truth_isa", 60, &t);
    tcase_add_unchecked_fixture(t, begin, end);
    tcase_add_test(t, every_row_has_its_own_number);
    tcase_add_loop_test(t, a_sample_has_latency_and_throughput, 1, 3);
    tcase_add_loop_test(t, divisors_that_are_powers_of_two_are_told_from_others,
                        1, 3);
    tcase_add_test(t, what_is_mixed_is_a_bound);
    tcase_add_loop_test(t, rates_of_small_blocks_are_of_the_pipe_or_bounds, 0,
                        (int)COUNT_OF(narrow));
    tcase_add_loop_test(t, a_snippet_costs_the_sum_of_its_chain, 0,
                        2 * COUNT_OF(chained));
    return suite;
}
