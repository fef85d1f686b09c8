/*
 * A study alone, with the studies that it needs, finds what it finds among all
 * others, and nothing that it does not say that it gives.  So what it needs is
 * declared, and none leans in silence on what another happened to leave behind.
 *
 * Simulated noise depends on all that ran before: measured again, alone, a
 * latency is another by a little.  So all studies run once, recorded; then each
 * one runs alone on the recording, where an experiment that it asks for alone
 * is not there, and where what it finds differs for no other reason than what
 * it knew.  Only an experiment that several studies ask for has several
 * samples, of which the study may get another's: so what was timed may differ
 * by its interval.
 *
 * A recorded GPU and the shipped ones are slow tests.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "device/device.h"
#include "gpu_made.h"
#include "probe/record.h"
#include "study/lab.h"
#include "testing.h"
#include "truth/truth.h"

enum { STUDIES_MOST = 64 };

/* The studies that ran, and what they found.  A recording of an older build
 * lacks what studies ask since: that costs their findings, alone as among all.
 */
struct run {
    struct recording *recording;
    bool older;
    struct results results;
};

/* On a device, or, where that is NULL, on the recording. */
static int run_studies(struct run *r, struct device *device,
                       const char *const *names, size_t count,
                       struct error *err)
{
    const struct prober_options options = {.seed =
                                               recording_seed(r->recording)};
    struct prober *const prober = prober_new(device, r->recording, &options);
    struct lab lab = {
        .prober = prober, .info = prober_info(prober), .results = &r->results};
    const int status = plan_run(&lab, names, count, err);
    prober_free(prober);
    return r->older && status == ERR_NOT_RECORDED ? 0 : status;
}

static void run_free(struct run *r)
{
    results_free(&r->results);
    recording_free(r->recording);
}

/* All that `topology` shows. */
static size_t names_of_all(const char *names[STUDIES_MOST])
{
    size_t count = 0;
    for (const struct study *const *s = study_table; *s != NULL; s++)
        if (!(*s)->apart)
            names[count++] = (*s)->name;
    return count;
}

/* ---- what is given ---------------------------------------------------- */

static bool does_give(const struct study *study, const char *id)
{
    char given[STUDY_ID];
    for (size_t i = 0; study_gives(study, i, given); i++)
        if (strcmp(given, id) == 0)
            return true;
    return false;
}

/* Those that give nothing are asked for what they give, as instructions. */
static bool may_find(const struct study *study, const char *id)
{
    char any[STUDY_ID];
    return !study_gives(study, 0, any) || does_give(study, id);
}

/* What the planner says of the GPU's state under load. */
static bool is_state(const struct study *study, const char *id)
{
    return study->under_load && strncmp(id, "clock.", 6) == 0 &&
           strcmp(id + 6, study->name) == 0;
}

static void check_given(const struct results *results, struct buf *rows)
{
    for (size_t i = 0; i < results->finding_count; i++) {
        const struct finding *const f = results->findings[i];
        const struct study *const study = study_find(f->study);
        if (study == NULL ||
            (!may_find(study, f->id) && !is_state(study, f->id)))
            buf_printf(rows, "%s finds %s, which it does not give\n", f->study,
                       f->id);
    }
}

/* ---- what is found ---------------------------------------------------- */

static bool was_timed(const struct finding *f)
{
    return f->has_interval && f->interval[0] < f->interval[1];
}

static bool overlap(const struct finding *a, const struct finding *b)
{
    return a->interval[0] <= b->interval[1] && b->interval[0] <= a->interval[1];
}

static bool same_words(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Late loads of another's samples may make a bound of what was timed. */
static bool is_bound_of(const struct finding *bound, const struct finding *f)
{
    return bound->status == STATUS_AT_LEAST && f->status == STATUS_MEASURED &&
           was_timed(f) && bound->value.number >= f->interval[0] &&
           bound->value.number <= f->interval[1];
}

static bool same_finding(const struct finding *alone,
                         const struct finding *among)
{
    if (is_bound_of(alone, among) || is_bound_of(among, alone))
        return true;
    if (alone->status != among->status ||
        !same_words(alone->because, among->because))
        return false;
    if (was_timed(alone) && was_timed(among))
        return overlap(alone, among);
    return value_equal(&alone->value, &among->value);
}

static void write_value(const struct finding *f, struct buf *out)
{
    const struct value *const v = &f->value;
    buf_printf(out, "%s ", finding_status_name(f->status));
    if (v->kind == VALUE_NUMBER || v->kind == VALUE_BOOL)
        buf_printf(out, "%.10g", v->number);
    else if (v->kind == VALUE_TEXT)
        buf_text(out, v->text);
    else if (v->kind == VALUE_LIST)
        buf_printf(out, "a list of %zu", v->count);
    else
        buf_printf(out, "because %s", f->because);
}

static void write_finding(const struct finding *f, struct buf *out)
{
    if (f == NULL)
        buf_text(out, "nothing");
    else
        write_value(f, out);
}

static void write_difference(const char *study, const char *id,
                             const struct finding *alone,
                             const struct finding *among, struct buf *rows)
{
    buf_printf(rows, "%s alone: %s is ", study, id);
    write_finding(alone, rows);
    buf_text(rows, "; among all ");
    write_finding(among, rows);
    buf_text(rows, "\n");
}

/* Found among all, and not alone. */
static void miss(const struct results *among, const struct results *alone,
                 const struct study *study, const char *id, struct buf *rows)
{
    const struct finding *const b = results_find(among, id);
    if (b != NULL && results_find(alone, id) == NULL)
        write_difference(study->name, id, NULL, b, rows);
}

static void compare(const struct results *among, const struct results *alone,
                    const struct study *study, struct buf *rows)
{
    for (size_t i = 0; i < alone->finding_count; i++) {
        const struct finding *const a = alone->findings[i];
        const struct finding *const b = results_find(among, a->id);
        if (b == NULL || !same_finding(a, b))
            write_difference(study->name, a->id, a, b, rows);
    }
    char id[STUDY_ID];
    for (size_t i = 0; study_gives(study, i, id); i++)
        miss(among, alone, study, id, rows);
    /* One that only proposes is named for what becomes of it. */
    for (size_t i = 0; study->answers == NULL && study_proposes(study, i, id);
         i++)
        miss(among, alone, study, id, rows);
}

static void run_alone(const struct run *among, const char *study,
                      struct buf *rows)
{
    struct run alone = {.recording = among->recording, .older = among->older};
    struct error err;
    recording_rewind(alone.recording);
    const char *names[STUDIES_MOST] = {study};
    const size_t count = 1 + plan_rivals(names, 1, names + 1);
    if (run_studies(&alone, NULL, names, count, &err) != 0)
        buf_printf(rows, "%s alone: %.200s...\n", study, err.text);
    else
        compare(&among->results, &alone.results, study_find(study), rows);
    check_given(&alone.results, rows);
    results_free(&alone.results);
}

/* Each of the studies alone, on the recording. */
static void run_each_alone(const struct run *among, const char *const *names,
                           size_t count)
{
    struct buf rows = {0};
    check_given(&among->results, &rows);
    for (size_t i = 0; i < count; i++)
        run_alone(among, names[i], &rows);
    /* Check takes no longer messages than some 4 KiB. */
    ck_assert_msg(rows.length == 0, "%.3000s", buf_string(&rows));
    buf_free(&rows);
}

static void try_studies(struct device *device, uint64_t seed,
                        const char *const *names, size_t count)
{
    struct run among = {.recording = recording_new(&device->info, seed)};
    struct error err;
    ASSERT_DONE(run_studies(&among, device, names, count, &err), err);
    run_each_alone(&among, names, count);
    run_free(&among);
    device_close(device);
}

static void try_device(struct device *device, uint64_t seed)
{
    const char *names[STUDIES_MOST];
    try_studies(device, seed, names, names_of_all(names));
}

/*
 * A K20c that shows what was not declared once: its constants are cached in so
 * few lines that `copies` must not ask how many of such caches there are, which
 * it knows from `size`; and instructions share a cache that no constants fill,
 * so that `icache_sharing` knows the size of const_l15 better.
 */
static struct device *telling_gpu(uint64_t seed)
{
    json_error_t why;
    json_t *const gpu = json_load_file("profiles/k20c.json", 0, &why);
    ck_assert_msg(gpu != NULL, "%s", why.text);
    json_t *const caches = json_object_get(gpu, "caches");
    json_t *const l1 = json_object_get(caches, "const_l1");
    json_t *const l15 = json_object_get(caches, "const_l15");
    json_object_set_new(l1, "size", json_integer(1 << 10));
    json_object_set_new(l1, "sets", json_integer(4));
    json_object_set_new(l1, "set_bits", json_pack("[ii]", 7, 8));
    json_object_set_new(l15, "size", json_integer(128 << 10));
    json_object_set_new(l15, "sets", json_integer(64));
    json_object_set_new(gpu, "sms", json_integer(3));
    char *const text = json_dumps(gpu, 0);
    struct device *const device = testing_sim_of(text, seed);
    free(text);
    json_decref(gpu);
    return device;
}

START_TEST(each_study_alone_finds_what_it_finds_among_all)
{
    try_device(telling_gpu(1), 1);
}
END_TEST

/* Those of src/study/load, on two SMs with little cache.  Without noise: with
 * it, rates take far longer runs to be known. */
START_TEST(each_study_of_load_alone_finds_what_it_finds_among_all)
{
    static const char *const names[] = {
        "reads",  "bandwidth",  "operators",  "hints",
        "loaded", "contention", "scheduling", "placement",
    };
    char *const gpu =
        gpu_made("compute_capability='9.0' sms=2 max_threads_per_block=256 "
                 "max_warps_per_sm=16 max_blocks_per_sm=8 "
                 "registers_per_sm=65536 l2_reported_bytes=16384 "
                 "memory_clock_khz=1000000 "
                 "memory_bus_bits=512 memory_read_bandwidth=10.8 "
                 "memory_write_bandwidth=8.4 "
                 "caches/l1={'sets': 64, 'ways': 4, 'read_bandwidth': 40} "
                 "caches/l2={'line': 32, 'sets': 16, 'ways': 32, "
                 "           'scope': 'gpu', 'read_bandwidth': 24} "
                 "paths/global.ca={'l1': 32, 'l2': 100, 'memory': 300} "
                 "paths/global.cg={'l2': 100, 'memory': 300} "
                 "shared_memory={'bytes': 65536, 'latency': 25, "
                 "               'conflict_cycles': 1, 'read_bandwidth': 44, "
                 "               'write_bandwidth': 32}");
    try_studies(testing_sim_of(gpu, 1), 1, names, COUNT_OF(names));
    free(gpu);
}
END_TEST

/* All studies on the recording at the path, and then each alone. */
static void try_recording(const char *path, bool older)
{
    const char *names[STUDIES_MOST];
    const size_t count = names_of_all(names);
    struct run among = {.older = older};
    struct error err;
    ASSERT_DONE(recording_read(path, &among.recording, &err), err);
    ASSERT_DONE(run_studies(&among, NULL, names, count, &err), err);
    run_each_alone(&among, names, count);
    run_free(&among);
}

START_TEST(each_study_alone_finds_the_same_of_a_shipped_gpu)
{
    char *const path = truth_recording(truth_gpus[_i], 1);
    try_recording(path, false);
    free(path);
}
END_TEST

/* What a GPU answered when it was recorded. */
START_TEST(each_study_alone_finds_the_same_of_a_recorded_gpu)
{
    try_recording("tests/replay/h200.rec", true);
}
END_TEST

Suite *suite_truth_alone(void)
{
    TCase *t;
    Suite *const suite = suite_of("truth_alone", 300, &t);
    TCase *const slow = suite_slow(suite, 300);
    tcase_add_test(slow, each_study_alone_finds_the_same_of_a_recorded_gpu);
    tcase_add_loop_test(slow, each_study_alone_finds_the_same_of_a_shipped_gpu,
                        0, TRUTH_GPUS);
    tcase_add_test(slow, each_study_alone_finds_what_it_finds_among_all);
    tcase_add_test(slow,
                   each_study_of_load_alone_finds_what_it_finds_among_all);
    return suite;
}
