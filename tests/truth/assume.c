/*
 * How far assumptions may move before an answer changes: a study of simulated
 * GPUs finds the same with each one it reads at either end of its range in
 * src/study/assume.def.
 *
 * Two assumptions are tried, which SEED in the environment chooses; all are
 * slow tests.  And docs/assumptions.md shows the table (`make goldens` writes
 * it).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "gpu_made.h"
#include "study/assume.h"
#include "testing.h"
#include "truth/made.h"

/* ---- the GPUs --------------------------------------------------------- */

#define NOISE                                                                  \
    "noise={'jitter_cycles': 1.5, 'spike_rate': 0.002, 'spike_cycles': 300} "
#define CONFLICTS "'conflict_cycles': 1"
#define TWO_LEVELS                                                             \
    "sms=2 caches/l1={'sets': 32, 'ways': 4} caches/l2/sets=64 "               \
    "paths/global.ca={'l1': 30, 'l2': 200, 'memory': 500} "                    \
    "paths/global.cg={'l2': 200, 'memory': 500} " NOISE

/* The GPU that a study is tried on: the plain one but for wishes, or a shipped
 * one. */
static const struct subject {
    const char *study, *shipped, *wishes;
} subjects[] = {
    {"placement", NULL,
     "compute_capability='9.0' sms=12 sms_per_tpc=2 tpcs_per_gpc=3 "
     "max_threads_per_block=512 max_warps_per_sm=16 max_blocks_per_sm=4 "
     "tpc_read_bandwidth=24 tpc_write_bandwidth=12 gpc_read_bandwidth=50 "
     "caches/l2/read_bandwidth=400 noise/jitter_cycles=1.5 "
     "caches/l1={'sets': 64, 'ways': 4} "
     "paths/global.ca={'l1': 30, 'l2': 200, 'memory': 500} "
     "isa/st={'O3': 4, 'issue': 16} isa/ld={'O3': 4, 'issue': 16}"},
    {"operators", NULL,
     "compute_capability='9.0' sms=2 default_operator=cg "
     "max_threads_per_block=256 max_warps_per_sm=16 max_blocks_per_sm=8 "
     "registers_per_sm=65536 l2_reported_bytes=16384 noise/jitter_cycles=1 "
     "memory_read_bandwidth=27 memory_write_bandwidth=21 "
     "caches/l1={'sets': 64, 'ways': 8} "
     "caches/l2={'line': 32, 'sets': 16, 'ways': 32, 'scope': 'gpu', "
     "           'read_bandwidth': 60} "
     "paths/global.ca={'l1': 32, 'l2': 100, 'memory': 300} "
     "paths/global.cg={'l2': 100, 'memory': 300} "
     "shared_memory={'bytes': 65536, 'latency': 25, " CONFLICTS "}"},
    {"bandwidth", NULL,
     "compute_capability='8.0' sms=2 clock_khz=1500000 default_operator=cg "
     "registers_per_sm=65536 memory_clock_khz=1000000 memory_bus_bits=512 "
     "memory_read_bandwidth=10.8 memory_write_bandwidth=8.4 "
     "l2_reported_bytes=524288 shared_memory/read_bandwidth=44 "
     "caches/l1={'sets': 64, 'ways': 4, 'read_bandwidth': 40} "
     "caches/l2/sets=256 caches/l2/read_bandwidth=24 "
     "caches/l2/write_bandwidth=18 "
     "paths/global.ca={'l1': 32, 'l2': 100, 'memory': 300} "
     "paths/global.cg={'l2': 100, 'memory': 300} noise/jitter_cycles=1"},
    {"loaded", NULL,
     "sms=4 max_threads_per_block=512 max_warps_per_sm=32 max_blocks_per_sm=8 "
     "registers_per_sm=65536 clock_khz=1200000 memory_read_bandwidth=12 "
     "noise/jitter_cycles=1 caches/l2/sets=512 caches/l2/read_bandwidth=30 "
     "paths/global={'l2': 208, 'memory': 475} "
     "caches/l2/partitions={'bits': [12, 13, 16], 'far_cycles': 150, "
     "                      'replicates': true}"},
    {"hints", NULL,
     "compute_capability='9.0' sms=3 max_threads_per_block=256 "
     "max_warps_per_sm=16 max_blocks_per_sm=8 l2_reported_bytes=65536 "
     "caches/l1={'sets': 64, 'ways': 8} caches/l2/sector=32 "
     "caches/l2/sets=64 caches/l2/ways=8 caches/l2/evict_first=true "
     "caches/l2/fetch_64B=64 caches/l2/fetch_256B=128 "
     "paths/global.ca={'l1': 32, 'l2': 200, 'memory': 320} "
     "noise={'jitter_cycles': 3, 'spike_rate': 0.005, 'spike_cycles': 400}"},
    {"contention", "gtx1080ti", "sms=2"},
    {"scheduling", NULL,
     "compute_capability='6.0' sms=2 warp_schedulers=2 "
     "max_threads_per_block=64 max_warps_per_sm=4 max_blocks_per_sm=2 "
     "caches/l2/sets=64 caches/l2/sector= "
     "changes={'after_launches': 20, 'clock_khz': 950000} " NOISE},
    {"size", NULL, TWO_LEVELS},
    {"structure", NULL, TWO_LEVELS},
    {"partitions", NULL,
     "sms=8 caches/l2/sets=512 paths/global={'l2': 208, 'memory': 475} "
     "caches/l2/partitions={'bits': [12, 13, 16], 'far_cycles': 150, "
     "                      'replicates': true} " NOISE},
    {"window", "gtx780", ""},
    {"tlb", NULL,
     "memory_bytes=8589934592 caches/l1={'sets': 32, 'ways': 4} "
     "caches/l2/sets=512 "
     "tlbs/l1={'page': 2097152, 'entries': 16} "
     "tlbs/l2={'page': 2097152, 'sets': 7, 'ways': 8} "
     "paths/global.ca={'l1': 30, 'l2': [200, 260, 420], "
     "                 'memory': [400, 460, 620]} "
     "paths/global.cg={'l2': [200, 260, 420], 'memory': [400, 460, "
     "620]} " NOISE},
    {"arithmetic", NULL,
     "compute_capability='8.0' sms=2 warp_schedulers=4 "
     "max_threads_per_block=512 max_warps_per_sm=48 max_blocks_per_sm=4 "
     "caches/l2/sets=64 caches/l2/sector= " NOISE
     "isa/fma.rn.f32={'O3': 5, 'issue': 2} "
     "isa/fma.rn.f64={'O3': 5, 'issue': 16}"},
    {"isa", NULL,
     "sms=1 caches/l2/sets=64 caches/l2/sector= "
     "isa/fma.rn.f32={'O3': 80, 'issue': 2}"},
    {"icache", "k20c", ""},
    {"sharing", "k20c", ""},
    /* Whose slices differ so much that whether L2 has parts is not known. */
    {"copies", NULL,
     "sms=4 caches/l2/sets=512 "
     "caches/l2/slices={'modulo': 1, 'from_bit': 12, 'bits': [[12, 13, 16]], "
     "                  'cycles': 150} "
     "caches/const_l1={'line': 64, 'sector': 64, 'sets': 4, 'ways': 4} "
     "caches/const_l15={'line': 64, 'sector': 64, 'sets': 64, 'ways': 8} "
     "paths/global={'l2': 208, 'memory': 475} "
     "paths/constant={'const_l1': 30, 'const_l15': 70, 'l2': 208, "
     "                'memory': 475} " NOISE},
};

static const struct subject *subject_of(const char *study)
{
    for (size_t i = 0; i < COUNT_OF(subjects); i++)
        if (strcmp(subjects[i].study, study) == 0)
            return &subjects[i];
    ck_abort_msg("no GPU is told for the study %s", study);
}

static struct found *measured(const struct subject *s)
{
    return made_measured(s->shipped != NULL
                             ? gpu_changed(s->shipped, "%s", s->wishes)
                             : gpu_made("%s", s->wishes),
                         s->study);
}

/* ---- what is found ---------------------------------------------------- */

/* What is timed differs by noise from run to run. */
static bool is_near(double a, double b)
{
    return fabs(a - b) <= fmax(1, 0.03 * fmax(fabs(a), fabs(b)));
}

static bool overlap(const struct finding *a, const struct finding *b)
{
    return a->has_interval && b->has_interval &&
           a->interval[0] <= b->interval[1] && b->interval[0] <= a->interval[1];
}

static bool same_value(const struct value *a, const struct value *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case VALUE_TEXT:
        return strcmp(a->text, b->text) == 0;
    case VALUE_LIST:
        return a->count == b->count;
    default:
        return is_near(a->number, b->number);
    }
}

static bool same_finding(const struct finding *a, const struct finding *b)
{
    return a->status == b->status &&
           (a->because != NULL) == (b->because != NULL) &&
           (overlap(a, b) || same_value(&a->value, &b->value));
}

static void compare(const struct results *usual, const struct results *moved,
                    const char *name, double value, struct buf *rows)
{
    for (size_t i = 0; i < usual->finding_count; i++) {
        const struct finding *const a = usual->findings[i];
        const struct finding *const b = results_find(moved, a->id);
        if (b == NULL || !same_finding(a, b))
            buf_printf(rows, "%s at %g: %s is %s %g in place of %s %g\n", name,
                       value, a->id,
                       b != NULL ? finding_status_name(b->status) : "nothing",
                       b != NULL ? b->value.number : 0,
                       finding_status_name(a->status), a->value.number);
    }
}

/* What its study finds with the assumption at that value, and did not find
 * before.  Where it asks for nothing else and finds the same, the samples that
 * it had say so; else all is measured anew. */
static void try_value(enum assumption_id id, double value,
                      const struct subject *s, const struct found *usual,
                      struct buf *rows)
{
    const char *const name = assume_table[id].name;
    struct buf differs = {0};
    assume_move(id, value);
    struct found *moved = made_replayed(usual, s->study);
    if (moved != NULL)
        compare(&usual->results, &moved->results, name, value, &differs);
    if (moved == NULL || differs.length > 0) {
        made_done(moved);
        moved = measured(s);
        compare(&usual->results, &moved->results, name, value, rows);
    }
    assume_restore(id);
    made_done(moved);
    buf_free(&differs);
}

/* ---- the document ----------------------------------------------------- */

#define DOC   "docs/assumptions.md"
#define BEGIN "<!-- assumptions -->\n"
#define END   "<!-- end -->\n"

static void add_row(const struct assumption *a, struct buf *b)
{
    buf_printf(b, "| `%s` | %g | %g … %g | `%s` | %s | %s |\n", a->name,
               a->value, a->low, a->high, a->study, a->basis, a->why);
}

START_TEST(the_document_tells_what_is_assumed)
{
    char *const is = testing_document(DOC);
    const char *const begin = strstr(is, BEGIN), *const end = strstr(is, END);
    struct buf wanted = {0};
    ck_assert(begin != NULL && end != NULL);
    buf_append(&wanted, is, (size_t)(begin - is));
    buf_text(&wanted, BEGIN "| name | value | answers stay the same | study | "
                            "rests on | why |\n|---|---|---|---|---|---|\n");
    for (int i = 0; i < ASSUME_COUNT; i++)
        add_row(&assume_table[i], &wanted);
    buf_text(&wanted, end);
    testing_document_is(DOC, buf_string(&wanted));
    buf_free(&wanted);
    free(is);
}
END_TEST

/* ---- the tests -------------------------------------------------------- */

static void try_both_ends(enum assumption_id id, const struct subject *s,
                          const struct found *usual, struct buf *rows)
{
    try_value(id, assume_table[id].low, s, usual, rows);
    try_value(id, assume_table[id].high, s, usual, rows);
}

START_TEST(no_answer_changes_within_the_ranges_of_what_a_study_assumes)
{
    const struct subject *const s = &subjects[_i];
    struct found *const usual = measured(s);
    struct buf rows = {0};
    size_t tried = 0;
    for (int id = 0; id < ASSUME_COUNT; id++)
        if (strcmp(assume_table[id].study, s->study) == 0) {
            try_both_ends((enum assumption_id)id, s, usual, &rows);
            tried++;
        }
    made_done(usual);
    ck_assert_uint_gt(tried, 0);
    ck_assert_msg(rows.length == 0, "%.3000s", buf_string(&rows));
    buf_free(&rows);
}
END_TEST

static void try_one(enum assumption_id id)
{
    const struct subject *const s = subject_of(assume_table[id].study);
    struct found *const usual = measured(s);
    struct buf rows = {0};
    try_both_ends(id, s, usual, &rows);
    made_done(usual);
    ck_assert_msg(rows.length == 0, "%.3000s", buf_string(&rows));
    buf_free(&rows);
}

/* Those that take the longest are for all alone. */
START_TEST(no_answer_changes_within_the_range_of_one_of_them)
{
    static const enum assumption_id quick[] = {
        ASSUME_MISS,         ASSUME_GAP_NS,
        ASSUME_WINDOW_SHARE, ASSUME_KERNEL_SLACK_CYCLES,
        ASSUME_NO_HIT_TIMES, ASSUME_HIT_NEARER,
    };
    const char *const seed = getenv("SEED");
    struct rng rng;
    rng_seed(&rng, seed != NULL ? strtoull(seed, NULL, 10) : 1);
    for (int i = 0; i < 2; i++)
        try_one(quick[rng_below(&rng, COUNT_OF(quick))]);
}
END_TEST

START_TEST(the_range_of_an_assumption_is_about_it)
{
    for (int i = 0; i < ASSUME_COUNT; i++) {
        const struct assumption *const a = &assume_table[i];
        ck_assert_msg(a->low <= a->value && a->value <= a->high &&
                          a->low < a->high,
                      "%s", a->name);
        ck_assert_double_eq(assume((enum assumption_id)i), a->value);
        ck_assert_ptr_nonnull(subject_of(a->study));
    }
}
END_TEST

Suite *suite_truth_assume(void)
{
    TCase *t;
    Suite *const suite = suite_of("truth_assume", 300, &t);
    tcase_add_test(t, the_document_tells_what_is_assumed);
    tcase_add_test(t, the_range_of_an_assumption_is_about_it);
    tcase_add_test(t, no_answer_changes_within_the_range_of_one_of_them);
    tcase_add_loop_test(
        suite_slow(suite, 300),
        no_answer_changes_within_the_ranges_of_what_a_study_assumes, 0,
        (int)COUNT_OF(subjects));
    return suite;
}
