/*
 * MT4G's JSON, read as sys-sage's parser reads it (src/parsers/mt4g.cpp, commit
 * 9a71fb5, 2026-01): `must` where it looks a key up without asking, which is
 * undefined if there is none; `may` where it asks first.
 */
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "report/report.h"
#include "testing.h"

/* ---- the reader -------------------------------------------------------- */

static json_t *must(const json_t *object, const char *key)
{
    json_t *const value = json_object_get(object, key);
    ck_assert_msg(value != NULL, "no key \"%s\"", key);
    return value;
}

static double must_number(const json_t *object, const char *key,
                          const char *within)
{
    json_t *const value =
        within != NULL ? must(must(object, key), within) : must(object, key);
    ck_assert_msg(json_is_number(value), "\"%s\" is no number", key);
    return json_number_value(value);
}

/* What it takes into an int, or as a count. */
static void must_int(const json_t *object, const char *key, const char *within)
{
    const double number = must_number(object, key, within);
    ck_assert_msg(number >= 0 && number <= INT_MAX, "\"%s\": %g", key, number);
}

static void must_count(const json_t *object, const char *key)
{
    must_int(object, key, NULL);
    ck_assert_msg(must_number(object, key, NULL) >= 1, "\"%s\" divides", key);
}

static void may_number(const json_t *object, const char *key,
                       const char *within)
{
    if (json_object_get(object, key) != NULL)
        must_number(object, key, within);
}

static void may_count(const json_t *object, const char *key)
{
    if (json_object_get(object, key) != NULL)
        must_count(object, key);
}

static bool is_shared_with(const json_t *cache, const char *name)
{
    const json_t *const list = json_object_get(cache, "sharedWith");
    bool is = false;
    ck_assert(list == NULL || json_is_array(list));
    for (size_t i = 0; i < json_array_size(list); i++) {
        ck_assert(json_is_string(json_array_get(list, i)));
        is =
            is || strcmp(json_string_value(json_array_get(list, i)), name) == 0;
    }
    return is;
}

static void read_general(const json_t *general, const json_t *compute)
{
    static const char *const counts[] = {
        "multiProcessorCount",         "numberOfCoresPerMultiProcessor",
        "maxThreadsPerBlock",          "warpSize",
        "maxThreadsPerMultiProcessor", "maxBlocksPerMultiProcessor"};
    ck_assert(json_is_string(must(general, "name")));
    ck_assert(json_is_string(must(general, "vendor")));
    must_int(must(general, "computeCapability"), "major", NULL);
    must_int(must(general, "computeCapability"), "minor", NULL);
    must_int(general, "clockRate", "value");
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        must_count(compute, counts[i]);
}

static void read_speed(const json_t *level)
{
    if (json_object_get(level, "latency") == NULL)
        return;
    must_number(level, "latency", "mean");
    must_number(level, "readBandwidth", "value");
    must_number(level, "writeBandwidth", "value");
    may_number(level, "missPenalty", "value");
}

static void read_global(const json_t *memory)
{
    const json_t *const main = must(memory, "main"), *const l2 =
                                                         must(memory, "l2");
    must_number(main, "totalGlobalMem", "value");
    must_int(main, "memoryClockRate", "value");
    must_int(main, "memoryBusWidth", "value");
    read_speed(main);
    must_int(l2, "size", "value");
    may_number(l2, "lineSize", "size");
    may_number(l2, "fetchGranularity", "size");
    may_number(l2, "segmentSize", "size");
    read_speed(l2);
}

/* A cache that is read once it is there. */
static void read_cache(const json_t *cache)
{
    must_number(cache, "fetchGranularity", "size");
    must_number(cache, "size", "size");
    must_number(cache, "latency", "mean");
    may_number(cache, "lineSize", "size");
    may_number(cache, "missPenalty", "value");
    may_count(cache, "amountPerMultiprocessor");
}

static void read_constant(const json_t *constant)
{
    must_number(constant, "totalConstMem", "value");
    if (json_object_size(constant) == 1)
        return;
    const json_t *const l15 = must(constant, "l1.5");
    must_number(l15, "fetchGranularity", "size");
    must_number(l15, "size", "size");
    may_number(l15, "lineSize", "size");
    may_number(l15, "latency", "mean");
    ck_assert(json_object_get(must(constant, "l1"), "sharedWith") == NULL);
    read_cache(must(constant, "l1"));
}

static void read_l1(const json_t *l1)
{
    may_number(l1, "fetchGranularity", "size");
    may_number(l1, "size", "size");
    may_number(l1, "lineSize", "size");
    may_count(l1, "amountPerMultiprocessor");
    may_number(l1, "latency", "mean");
    may_number(l1, "missPenalty", "value");
}

static void read_local(const json_t *memory)
{
    const json_t *const l1 = must(memory, "l1");
    const json_t *const texture = json_object_get(memory, "texture");
    const json_t *const read_only = json_object_get(memory, "readOnly");
    const json_t *const shared = must(memory, "shared");
    read_constant(must(memory, "constant"));
    must_number(shared, "sharedMemPerBlock", "value");
    must_number(shared, "sharedMemPerMultiProcessor", "value");
    may_number(shared, "latency", "mean");
    read_l1(l1);
    const bool with_l1 = is_shared_with(l1, "Texture");
    if (texture != NULL && !with_l1)
        read_cache(texture);
    if (read_only != NULL && !is_shared_with(l1, "Read Only") &&
        !(texture != NULL && !with_l1 && is_shared_with(texture, "Read Only")))
        read_cache(read_only);
}

/* The file as a tree that the parser reads; the caller frees. */
static json_t *mt4g_read(const char *text)
{
    json_error_t why;
    json_t *const root = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    ck_assert_msg(root != NULL, "%s", why.text);
    read_general(must(root, "general"), must(root, "compute"));
    read_global(must(root, "memory"));
    read_local(must(root, "memory"));
    return root;
}

/* ---- reports ----------------------------------------------------------- */

static void add(struct results *r, const char *id, double number)
{
    finding_set(results_add(r, id, "test"), STATUS_MEASURED,
                value_number(number), "");
}

static void add_words(struct results *r, const char *id, const char *first,
                      const char *second)
{
    struct value list = value_list();
    value_push(&list, value_text(first));
    value_push(&list, value_text(second));
    finding_set(results_add(r, id, "test"), STATUS_MEASURED, list, "");
}

static const struct {
    const char *id;
    double number;
} reported[] = {
    {"sm.count", 132},
    {"sm.cores", 128},
    {"sm.warp_size", 32},
    {"sm.max_threads", 2048},
    {"sm.max_blocks", 32},
    {"block.max_threads", 1024},
    {"clock.sm", 1980e6},
    {"clock.memory", 3201e6},
    {"memory.size", 150109880320.0},
    {"memory.bus_width", 6016},
    {"l2.size_reported", 62914560},
    {"constant.size", 65536},
    {"block.shared", 49152},
    {"sm.shared", 233472},
};

static struct results report_of(const char *name)
{
    struct results r = {0};
    results_device(&r, "name", value_text(name));
    results_device(&r, "compute_capability", value_text("9.0"));
    for (size_t i = 0; i < COUNT_OF(reported); i++)
        add(&r, reported[i].id, reported[i].number);
    return r;
}

static struct results driver_report(void)
{
    return report_of("NVIDIA H200");
}

static int write_to(const struct results *r, char **text, struct error *err)
{
    struct buf out = {0};
    const struct report_style plain = {0};
    const int code =
        report_format_find("mt4g.json")->write(r, &plain, &out, err);
    *text = buf_take(&out);
    return code;
}

static json_t *read_back(const struct results *r)
{
    struct error err = {0};
    char *text;
    ASSERT_DONE(write_to(r, &text, &err), err);
    json_t *const root = mt4g_read(text);
    free(text);
    return root;
}

/* By a path with strokes; NULL if there is no such thing. */
static json_t *at(json_t *root, const char *path)
{
    char *const copy = xstrdup(path);
    char *save = NULL;
    for (char *name = strtok_r(copy, "/", &save); name != NULL && root != NULL;
         name = strtok_r(NULL, "/", &save))
        root = json_object_get(root, name);
    free(copy);
    return root;
}

static void is_number(json_t *root, const char *path, double number)
{
    const json_t *const value = at(root, path);
    ck_assert_msg(json_is_number(value), "%s is no number", path);
    ck_assert_double_eq_tol(json_number_value(value), number,
                            number * 1e-9 + 1e-12);
}

/* It is left out, and it is said why. */
static void is_left_out(json_t *root, const char *path, const char *word)
{
    ck_assert_msg(at(root, path) == NULL, "%s is there", path);
    const char *const why =
        json_string_value(json_object_get(at(root, "sonde/left_out"), path));
    ck_assert_msg(why != NULL && strstr(why, word) != NULL, "%s: %s", path,
                  why != NULL ? why : "nothing is said");
}

/* ---- tests ------------------------------------------------------------- */

START_TEST(what_the_driver_reports_is_enough)
{
    struct results r = driver_report();
    json_t *const root = read_back(&r);
    is_number(root, "general/clockRate/value", 1980000);
    is_number(root, "general/computeCapability/major", 9);
    is_number(root, "compute/multiProcessorCount", 132);
    is_number(root, "memory/main/memoryClockRate/value", 3201000);
    is_number(root, "memory/main/totalGlobalMem/value", 150109880320.0);
    is_number(root, "memory/l2/size/value", 62914560);
    is_left_out(root, "memory/l1/size", "l1.size is not in the report");
    ck_assert(at(root, "memory/texture") == NULL);
    ck_assert_uint_eq(json_object_size(at(root, "memory/constant")), 1);
    json_decref(root);
    results_free(&r);
}
END_TEST

START_TEST(without_it_there_is_no_file)
{
    for (size_t i = 0; i < COUNT_OF(reported); i++) {
        struct results r = driver_report();
        struct error err = {0};
        char *text;
        finding_none(results_add(&r, reported[i].id, "test"), "it is a secret");
        ASSERT_FAILS(write_to(&r, &text, &err), ERR_USAGE, err, "a secret");
        ck_assert_msg(strstr(err.text, reported[i].id) != NULL, "%s", err.text);
        free(text);
        results_free(&r);
    }
}
END_TEST

/* Of a count of none the parser would divide; an int holds no more. */
START_TEST(numbers_that_it_cannot_take)
{
    static const struct {
        const char *id;
        double number;
    } bad[] = {{"sm.count", 0}, {"sm.cores", 0}, {"l2.size_reported", 3e9}};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct results r = driver_report();
        struct error err = {0};
        char *text;
        add(&r, bad[i].id, bad[i].number);
        ASSERT_FAILS(write_to(&r, &text, &err), ERR_USAGE, err, bad[i].id);
        free(text);
        results_free(&r);
    }
}
END_TEST

/* A latency is read with both bandwidths. */
START_TEST(a_speed_is_whole_or_none)
{
    struct results r = driver_report();
    add(&r, "l2.latency", 282.5);
    add(&r, "l2.read_bandwidth", 0x1p42);
    struct finding *const f = results_add(&r, "l2.write_bandwidth", "test");
    finding_set(f, STATUS_AT_LEAST, value_number(0x1p41), "B/s");
    finding_because(f, "no room for more");
    json_t *root = read_back(&r);
    is_left_out(root, "memory/l2/latency", "no room for more");
    is_left_out(root, "memory/l2/readBandwidth", "l2.write_bandwidth");
    json_decref(root);
    add(&r, "l2.write_bandwidth", 0x1p41);
    root = read_back(&r);
    is_number(root, "memory/l2/latency/mean", 282.5);
    is_number(root, "memory/l2/readBandwidth/value", 4096);
    is_number(root, "memory/l2/writeBandwidth/value", 2048);
    json_decref(root);
    results_free(&r);
}
END_TEST

/* One that is there is read as if all were. */
START_TEST(a_cache_is_whole_or_none)
{
    static const char *const ids[] = {"const_l1.sector", "const_l1.size",
                                      "const_l1.latency", "const_l15.sector",
                                      "const_l15.size"};
    struct results r = driver_report();
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        add(&r, ids[i], 64);
    json_t *root = read_back(&r);
    is_number(root, "memory/constant/l1.5/size/size", 64);
    json_decref(root);
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        finding_none(results_add(&r, ids[i], "test"), "of noise");
        root = read_back(&r);
        is_left_out(root, "memory/constant/l1/size", "of noise");
        ck_assert(at(root, "memory/constant/l1.5") == NULL);
        json_decref(root);
        add(&r, ids[i], 64);
    }
    results_free(&r);
}
END_TEST

START_TEST(one_storage_has_one_name)
{
    struct results r = driver_report();
    add_words(&r, "l1.shares_with", "local", "texture");
    add(&r, "l1.size", 246784);
    add(&r, "texture.size", 246784);
    add_words(&r, "texture.shares_with", "l1", "local");
    json_t *root = read_back(&r);
    ck_assert(is_shared_with(at(root, "memory/l1"), "Texture"));
    ck_assert(!is_shared_with(at(root, "memory/l1"), "Read Only"));
    ck_assert(at(root, "memory/texture") == NULL);
    json_decref(root);
    add(&r, "texture.sector", 32);
    add(&r, "texture.latency", 88);
    root = read_back(&r);
    ck_assert(is_shared_with(at(root, "memory/texture"), "L1"));
    is_number(root, "memory/texture/latency/mean", 88);
    json_decref(root);
    results_free(&r);
}
END_TEST

START_TEST(a_segment_is_what_an_sm_reaches)
{
    struct results r = driver_report();
    add(&r, "l2.size", 4194304);
    json_t *root = read_back(&r);
    is_left_out(root, "memory/l2/segmentSize", "l2.near_size");
    json_decref(root);
    add(&r, "l2.parts", 1);
    root = read_back(&r);
    is_number(root, "memory/l2/segmentSize/size", 4194304);
    json_decref(root);
    add(&r, "l2.parts", 2);
    add(&r, "l2.near_size", 2097152);
    root = read_back(&r);
    is_number(root, "memory/l2/segmentSize/size", 2097152);
    json_decref(root);
    results_free(&r);
}
END_TEST

START_TEST(names_are_text)
{
    struct results r = report_of("a\"b\\c\n\033[31m\xff");
    json_t *const root = read_back(&r);
    const char *const name = json_string_value(at(root, "general/name"));
    ck_assert(strchr(name, '\033') == NULL && strncmp(name, "a\"b\\c", 5) == 0);
    json_decref(root);
    results_free(&r);
}
END_TEST

START_TEST(an_h200_is_read)
{
    struct results r = {0};
    struct error err = {0};
    struct buf file = {0};
    ASSERT_DONE(file_read("results/h200.json", 64 << 20, &file, &err), err);
    ASSERT_DONE(report_read(buf_string(&file), "h200", &r, &err), err);
    json_t *const root = read_back(&r);
    is_number(root, "memory/l1/latency/mean", 32);
    is_number(root, "memory/constant/l1/size/size", 2048);
    ck_assert(is_shared_with(at(root, "memory/l1"), "Read Only"));
    json_decref(root);
    buf_free(&file);
    results_free(&r);
}
END_TEST

Suite *suite_exchange_mt4g(void)
{
    TCase *tests;
    Suite *const suite = suite_of("exchange_mt4g", 20, &tests);
    tcase_add_test(tests, what_the_driver_reports_is_enough);
    tcase_add_test(tests, without_it_there_is_no_file);
    tcase_add_test(tests, numbers_that_it_cannot_take);
    tcase_add_test(tests, a_speed_is_whole_or_none);
    tcase_add_test(tests, a_cache_is_whole_or_none);
    tcase_add_test(tests, one_storage_has_one_name);
    tcase_add_test(tests, a_segment_is_what_an_sm_reaches);
    tcase_add_test(tests, names_are_text);
    tcase_add_test(tests, an_h200_is_read);
    return suite;
}
