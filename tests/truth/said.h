/*
 * All that studies say of small GPUs: values, intervals, reasons, protocols,
 * what is cited, and how many experiments it took.  Which these were, all that
 * a finding cites and its curves are too long: of them there is a digest, which
 * tells that a method changed, not how (`make same` does).
 *
 * Tests compare numbers with what a profile says; most of what a study judges
 * by (a limit, a count, whom it cites) changes none of these.  So whole answers
 * are kept, as those of recorded GPUs are in tests/replay: of each GPU that a
 * test measures by truth_findings or truth_findings_of, in
 * tests/truth/said/STUDY-KEY.txt, where the key tells the profile and the seed.
 * `make goldens` writes those of some quick suites anew, for you to read what
 * changed; of others, and of slow tests, nothing is kept.  What no test of a
 * whole run asks for fails the suite `said`.
 */
#ifndef SONDE_TESTS_SAID_H
#define SONDE_TESTS_SAID_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* A report of these studies, with "asks" (truth.c), must be what is kept of it,
 * if anything is; with GOLDENS in the environment it is kept.  Of a spec that
 * is no file of a profile there is nothing. */
void said_is_kept(const char *spec, uint64_t seed, const char *const *studies,
                  size_t count, const json_t *report);

#endif
