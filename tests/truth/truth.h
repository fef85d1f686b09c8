/*
 * What a profile says that the studies must find, and the comparison of a
 * session's findings with it.
 */
#ifndef SONDE_TESTS_TRUTH_H
#define SONDE_TESTS_TRUTH_H

#include <check.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "device/sim/profile/profile.h"
#include "sonde.h"

struct results;

/* The shipped GPUs whose memory is tried at length.  The others, whose papers
 * tell instructions alone, have the memory of one of these.  The first are
 * quick; the others are large, so that their tests are slow ones. */
enum { TRUTH_GPUS = 8, TRUTH_GPUS_QUICK = 2 };
extern const char *const truth_gpus[TRUTH_GPUS];

/* One finding: it must be `value`, give or take `tolerance`; or, of a cache
 * that is not there, not measured and for a reason.  Of what no program can
 * measure a bound is enough. */
struct truth {
    char id[48];
    bool exists;
    bool bound;
    double value, tolerance;
    double piece; /* what is asked for at once, of which nothing tells parts */
};

enum { TRUTHS_MAX = 80 };

struct truths {
    struct truth list[TRUTHS_MAX];
    size_t count;
    bool caches_global; /* ld.global.ca begins with l1 */
    uint64_t lines[2];  /* of l1 and l2 */
    const struct profile *profile;
};

void truths_of(const struct profile *profile, struct truths *truths);

struct verdict {
    size_t asked;   /* of what exists */
    size_t missing; /* exists and was not measured */
    size_t wrong;   /* was measured, or is bounded, and is something else */
};

/* Compares what `topology` shows: a row of text for each finding that is wrong
 * or missing, headed by `name` and the seed; and a line for each that can be
 * found (claim.h), if `outcomes` is not NULL. */
struct verdict truth_compare(const json_t *findings, const char *name,
                             uint64_t seed, const struct truths *truths,
                             struct buf *rows, struct buf *outcomes);

/* The findings of all that `topology` shows of a shipped GPU, which is measured
 * once for all tests that ask, and so may take each of them long; the test
 * fails if the device does.  The caller decrefs. */
json_t *truth_topology(const char *gpu, uint64_t seed);
/* Findings, which are taken over, as results of a report. */
void truth_read(json_t *findings, const char *gpu, struct results *results);
/* Those of seed 1. */
void truth_results(const char *gpu, struct results *results);
/* … and the texts of its experiments, some more than once. */
json_t *truth_experiments(const char *gpu, uint64_t seed);
/* … and how many each study asked: {"line": 64, …}. */
json_t *truth_asks(const char *gpu, uint64_t seed);
/* … and the path of its recording; the caller frees. */
char *truth_recording(const char *gpu, uint64_t seed);

/* Loops the test over every `parts`-th shipped GPU and seed: test _i is of the
 * GPU _i % TRUTH_GPUS, and of the seed 1 + _i / TRUTH_GPUS.  All but the first go
 * to a case of slow tests. */
void truth_add_gpus(Suite *suite, TCase *quick, const TTest *test, int part,
                    int parts);

/* True if the finding is a number that was found, no bound or doubt. */
bool truth_number(const json_t *findings, const char *id, double *number);

/* The report of these studies of a device, and its findings alone; the test
 * fails if there is none.  The caller decrefs. */
json_t *truth_report(const char *spec, uint64_t seed,
                     const char *const *studies, size_t count);
json_t *truth_findings(const char *spec, uint64_t seed,
                       const char *const *studies, size_t count);
/* Of one study on a profile's text, which is freed; of seed 1. */
json_t *truth_findings_seeded(char *profile, uint64_t seed, const char *study);
json_t *truth_findings_of(char *profile, const char *study);

/* What a finding says; the test fails if there is none.  The text of a key, ""
 * if it has none; its value, if it is measured; what stands under that name in
 * its protocol. */
const char *truth_text(const json_t *findings, const char *id, const char *key);
const json_t *truth_measured(const json_t *findings, const char *id);
const json_t *truth_protocol(const json_t *findings, const char *id,
                             const char *name);
/* It must not be measured, for a reason with that word. */
void truth_unmeasured(const json_t *findings, const char *id, const char *word);

#endif
