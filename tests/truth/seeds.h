/* The tables of the seeds (Mei 2014, Groessler 2022): what they print, what is
 * true of the profile, what a run found. */
#ifndef SONDE_TESTS_SEEDS_H
#define SONDE_TESTS_SEEDS_H

#include "truth/structure.h"

/* Prints the tables of the run's GPU, if a seed has one, with the first seed;
 * adds what was found and is not as the profile says to the verdict. */
void seeds_compare(const struct run_seen *seen, struct verdict *verdict);

#endif
