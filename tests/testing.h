/*
 * What the tests share.  A test file defines `Suite *suite_NAME(void)` and has
 * the line SUITE(NAME) in tests/suites.def; a test that needs a GPU, the same
 * in tests/gpu/suites.def.  tests/main.c runs them.
 *
 * A test that takes long, and whose claim a quicker one makes of another GPU,
 * goes to the case that suite_slow gives: `make check` leaves it out, and
 * `make check-all` runs it.
 */
#ifndef SONDE_TESTS_TESTING_H
#define SONDE_TESTS_TESTING_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SUITE(name) Suite *suite_##name(void);
#define QUICK       SUITE
#define LAST        SUITE
#include "gpu/suites.def"
#include "suites.def"
#undef SUITE
#undef QUICK
#undef LAST

/* Leaves a test that cannot run, saying why; it counts as skipped. */
#define SKIP(...)                                                              \
    do {                                                                       \
        testing_skip(__func__, __VA_ARGS__);                                   \
        return;                                                                \
    } while (0)
void testing_skip(const char *test, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A suite with one case of that name, for suites that need no more; fill it
 * with suite_test. */
Suite *suite_of(const char *name, double timeout_s, TCase **tests);

/* One more case of the suite, of slow tests: those of `make check-all`. */
TCase *suite_slow(Suite *suite, double timeout_s);
#define TESTING_SLOW "slow" /* their tag */

/* Adds the test with each number from `from` to below `end`.  With SLOW_EVERY=N
 * in the environment one slow test of N is, as the commit (RANDOM_COMMIT) draws
 * them. */
void testing_add(TCase *tests, const TTest *test, int from, int end);
#undef tcase_add_test
#undef tcase_add_loop_test
#define tcase_add_test(tests, test) testing_add((tests), (test), 0, 1)
#define tcase_add_loop_test(tests, test, from, end)                            \
    testing_add((tests), (test), (int)(from), (int)(end))

/* True claims about a call that must succeed: prints the sentence if not. */
#define ASSERT_DONE(call, err)                                                 \
    ck_assert_msg((call) == 0, #call ": %s", (err).text)
/* … and that must fail with that code and a sentence that has that word. */
#define ASSERT_FAILS(call, error_code, err, word)                              \
    do {                                                                       \
        ck_assert_int_eq((call), (error_code));                                \
        ck_assert_msg(strstr((err).text, (word)) != NULL,                      \
                      "\"%s\" does not say \"%s\"", (err).text, (word));       \
    } while (0)

/* Said by a test before the call at which its process must abort: what that
 * says is of no use in the output of the tests. */
void testing_dies(void);

/* SEEDS of the environment: how many seeds a test with noise tries; 1. */
unsigned testing_seeds(void);

/* A new empty folder that goes when the run ends; the caller frees the path. */
char *testing_folder(void);
/* The path of a new file in such a folder that holds `text`; ditto. */
char *testing_file(const char *name, const char *text);

/* A document; the tests run from the top of the checkout.  The caller frees. */
char *testing_document(const char *path);
/* The document must be as wanted; with GOLDENS in the environment it is made so
 * (`make goldens`). */
void testing_document_is(const char *path, const char *wanted);

/* The folder with the fake libcuda.so.1 and libnvidia-ml.so.1; "" where they
 * are not built.  The caller frees. */
char *testing_fake_driver(void);

/* The text that `make` makes of the context, which the key tells from others:
 * made once in a run, by the first test that asks for it, while others wait.
 * The caller frees. */
char *testing_once(const char *key, char *(*make)(const void *context),
                   const void *context);

/* The path of a file of that name that all tests of a run see; the caller
 * frees. */
char *testing_shared(const char *name);

/* The path of ptxas, in PATH or where the toolkit is installed; NULL: there is
 * none.  The caller frees. */
char *testing_assembler(void);

/* A simulated device: of a shipped profile, or of a profile's text.  The test
 * fails if it does not open; the caller closes it with device_close. */
struct device;
struct device *testing_sim(const char *profile, uint64_t seed);
struct device *testing_sim_of(const char *json, uint64_t seed);
/* Runs an experiment on the device, with a prober of its own; the caller frees
 * the samples.  And on a shipped profile, which is opened for it. */
struct samples;
int testing_run_on(struct device *device, const char *text,
                   struct samples *samples, struct error *err);
int testing_run(const char *profile, const char *text, struct samples *samples,
                struct error *err);
/* "sim:PATH" of a profile's text, which is freed; the caller frees. */
char *testing_spec_of(char *json);

/* Used by main.c. */
struct testing_counts {
    _Atomic unsigned next, ran, failures, errors, skipped;
    _Atomic unsigned undrawn; /* slow tests (testing_add) */
    bool whole;               /* no suite is left out */
};
extern struct testing_counts *testing_counts; /* shared by all processes */
void testing_begin(void);
void testing_end(void);

#endif
