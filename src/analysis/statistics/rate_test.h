/*
 * Counts of rare events: are there more of them here than there?  Tells misses
 * from noise: a spike is as rare in a larger array as in a smaller one, a miss
 * is not.
 */
#ifndef SONDE_ANALYSIS_STATISTICS_RATE_TEST_H
#define SONDE_ANALYSIS_STATISTICS_RATE_TEST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Of n1 trials k1 were events, of n0 others k0.  The chance of so many or more
 * of them among the n1 if both had the same rate: Przyborowski and Wilenski's
 * conditional test (1940), by which k1 of k0 + k1 is binomial with n1 of
 * n0 + n1.  1 where there were no trials on one side, or no events.
 */
double rate_test_chance(uint64_t k1, uint64_t n1, uint64_t k0, uint64_t n0);

/* True if that chance is below alpha: significantly more. */
bool rate_test_more(uint64_t k1, uint64_t n1, uint64_t k0, uint64_t n0,
                    double alpha);

#endif
