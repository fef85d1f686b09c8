/*
 * The studies on random GPUs: nothing that is said to be measured may be
 * wrong, and little may be left out.  The seeds of `kept` are
 * tried, of which nothing is wrong by now and so much is right: what breaks or
 * loses one is a step back.
 * RANDOM_GPUS says how many are tried in their place, RANDOM_FIRST from which
 * seed (1).
 *
 * RANDOM_COMMIT, a number in hex, makes each commit meet GPUs that none before
 * it met, as slow tests: of two rows of seeds the one with the smallest caches.
 * Of such GPUs one in ten still shows something wrong, whatever the commit did;
 * RANDOM_WRONG says of how many findings of each that is shown and not failed
 * (0).
 *
 * The profile of a GPU that fails is kept in $TMPDIR, to run again by
 * `sonde -d sim:FILE --seed N`.  `make truth` tries more of them, and sums up
 * by finding.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "base/mem.h"
#include "device/sim/profile/profile.h"
#include "testing.h"
#include "truth/gpu.h"
#include "truth/truth.h"

/* The first one is quick, the others slow tests. */
static const struct kept {
    int seed;
    size_t right; /* findings, at the least: of some chance decides */
} kept[] = {
    {19, 78}, {1795421553, 73}, {1795421552, 87},
    {34, 71}, {38, 71},         {1795371622, 69},
};
enum { QUICK_GPUS = 1, GPUS_LEAST = 4 };

/* Summed over the processes of all tests. */
static struct sums {
    _Atomic size_t gpus, asked, missing;
} * sums;

static int number(const char *variable, int fallback)
{
    const char *const text = getenv(variable);
    const int value = text != NULL ? atoi(text) : 0;
    return value > 0 ? value : fallback;
}

static void begin(void)
{
    sums = mmap(NULL, sizeof *sums, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(sums != MAP_FAILED);
}

static void end(void)
{
    munmap(sums, sizeof *sums);
}

/* Leaves the profile where its rows say; the caller frees the path. */
static char *keep(const char *json, uint64_t seed)
{
    const char *const tmp = getenv("TMPDIR");
    char *const path = xasprintf("%s/sonde-random-%" PRIu64 ".json",
                                 tmp != NULL ? tmp : "/tmp", seed);
    struct error err;
    ASSERT_DONE(file_write(path, json, strlen(json), &err), err);
    return path;
}

/* What is missing fails no GPU, but is shown; what is wrong does, if it is more
 * than may be. */
static void settle(const struct verdict *v, const char *rows, const char *json,
                   uint64_t seed, size_t may_be)
{
    sums->gpus++;
    sums->asked += v->asked;
    sums->missing += v->missing;
    if (v->wrong == 0 && v->missing == 0)
        return;
    char *const path = keep(json, seed);
    /* The rows may be longer than a test's message can be. */
    printf("%s%zu wrong, %zu missing; see %s\n%s",
           v->wrong > 0 ? "random GPU: " : "", v->wrong, v->missing, path,
           rows);
    fflush(stdout);
    ck_assert_msg(v->wrong <= may_be, "%zu wrong, %zu missing; see %s",
                  v->wrong, v->missing, path);
    free(path);
}

/* Rows of outcomes that begin so. */
static size_t count_right(const char *outcomes)
{
    static const char right[] = "right ";
    size_t count = 0;
    for (const char *row = outcomes; row != NULL; row = strchr(row, '\n')) {
        row += *row == '\n';
        count += strncmp(row, right, sizeof right - 1) == 0;
    }
    return count;
}

/* What is right of it may not be less than it was; what is wrong not more than
 * may be. */
static void try_gpu(uint64_t seed, size_t may_be, size_t least)
{
    char *const json = gpu_random(seed);
    char *const path = testing_file("gpu.json", json);
    char *const spec = xasprintf("sim:%s", path);
    struct profile *profile;
    struct truths truths;
    struct error err;
    ASSERT_DONE(profile_open(path, NULL, &profile, &err), err);
    truths_of(profile, &truths);
    struct buf rows = {0}, outcomes = {0};
    json_t *const findings = truth_findings(spec, seed, NULL, 0);
    const struct verdict v =
        truth_compare(findings, "random", seed, &truths, &rows, &outcomes);
    settle(&v, buf_string(&rows), json, seed, may_be);
    const size_t right = count_right(buf_string(&outcomes));
    ck_assert_msg(right >= least,
                  "%zu findings of seed %" PRIu64 " are right, and were %zu",
                  right, seed, least);
    buf_free(&rows);
    buf_free(&outcomes);
    json_decref(findings);
    profile_free(profile);
    free(spec);
    free(path);
    free(json);
}

START_TEST(nothing_measured_is_wrong)
{
    try_gpu((uint64_t)_i, 0, 0);
}
END_TEST

START_TEST(as_much_as_ever_is_right)
{
    try_gpu((uint64_t)kept[_i].seed, 0, kept[_i].right);
}
END_TEST

/* ---- GPUs that no commit met ------------------------------------------- */

/* Of so many seeds in a row one has caches of a quarter MiB or so, which take
 * some seconds. */
enum { DRAWN_FROM = 32 };

static uint64_t bytes_of_caches(uint64_t seed)
{
    char *const json = gpu_random(seed);
    struct profile *profile;
    struct error err;
    ASSERT_DONE(profile_parse(json, "random", &profile, &err), err);
    uint64_t bytes = 0;
    for (size_t i = 0; i < profile->cache_count; i++)
        bytes += cache_shape_bytes(&profile->caches[i].shape);
    profile_free(profile);
    free(json);
    return bytes;
}

static uint64_t smallest_from(uint64_t first)
{
    uint64_t best = first, least = UINT64_MAX;
    for (uint64_t seed = first; seed < first + DRAWN_FROM; seed++) {
        const uint64_t bytes = bytes_of_caches(seed);
        if (bytes < least)
            best = seed;
        least = bytes < least ? bytes : least;
    }
    return best;
}

START_TEST(a_gpu_of_the_commit_is_understood)
{
    try_gpu(smallest_from((uint64_t)_i), (size_t)number("RANDOM_WRONG", 0), 0);
}
END_TEST

/* The aim is 3 of 100, and sweeps of hundreds show 3 to 5 (docs/truth.md).  Of
 * the few of one process it may be more: a whole level that is not seen is a
 * tenth of what there is. */
enum { MISSING_MOST = 10 };

/* Asked of GPUS_LEAST and more: of fewer a single finding would be too much. */
START_TEST(little_is_left_out)
{
    const size_t asked = sums->asked, missing = sums->missing;
    ck_assert_msg(100 * missing <= MISSING_MOST * asked,
                  "%zu of %zu findings were not measured", missing, asked);
}
END_TEST

static void add_seeds(TCase *t, int first, int count)
{
    tcase_add_loop_test(t, nothing_measured_is_wrong, first, first + count);
}

/* Seeds that the environment names, of which one suite takes half. */
static void add_wanted(TCase *t, int count, int which)
{
    const int half = (count + 1) / 2, first = number("RANDOM_FIRST", 1);
    add_seeds(t, first + which * half, which == 0 ? half : count - half);
    if (count / 2 >= GPUS_LEAST)
        tcase_add_test(t, little_is_left_out);
}

static void add_kept(TCase *t, size_t from, size_t to, size_t step)
{
    for (size_t i = from; i < to; i += step)
        tcase_add_loop_test(t, as_much_as_ever_is_right, (int)i, (int)i + 1);
}

/* A seed is an int. */
static void add_of_commit(TCase *t, int which)
{
    const char *const commit = getenv("RANDOM_COMMIT");
    if (commit == NULL || commit[0] == '\0')
        return;
    const int first = (int)(strtoul(commit, NULL, 16) & 0x0fffffff);
    const int own = first + which * DRAWN_FROM;
    /* One of each is always met, whatever SLOW_EVERY leaves out. */
    tcase_add_loop_test_raise_signal(t, a_gpu_of_the_commit_is_understood, 0,
                                     own, own + 1);
}

/* Two suites, since suites run beside each other and tests of one do not. */
static Suite *half(const char *name, int which)
{
    TCase *t;
    Suite *const suite = suite_of(name, 300, &t);
    const int wanted = number("RANDOM_GPUS", 0);
    tcase_add_unchecked_fixture(t, begin, end);
    if (wanted > 0) {
        add_wanted(t, wanted, which);
        return suite;
    }
    if (which == 0)
        add_kept(t, 0, QUICK_GPUS, 1);
    TCase *const slow = suite_slow(suite, 300);
    tcase_add_unchecked_fixture(slow, begin, end);
    add_kept(slow, QUICK_GPUS + (size_t)which, COUNT_OF(kept), 2);
    add_of_commit(slow, which);
    return suite;
}

Suite *suite_truth_random(void)
{
    return half("truth_random", 0);
}

Suite *suite_truth_more_random(void)
{
    return half("truth_more_random", 1);
}
