/*
 * The functions by which GPGPU-Sim's caches choose a set (hash_function in
 * gpu-cache.cc, hashing.cc), by the letters of its configuration.
 */
#ifndef SONDE_REPORT_EXPORT_INDEX_NAME_H
#define SONDE_REPORT_EXPORT_INDEX_NAME_H

#include "finding/finding.h"

/* The letter of the function that puts the same lines into one set as measured
 * index bits do, as far as these were told; '?' if none does, or if these are
 * of another number of sets. */
char index_name(const struct finding *set_bits, unsigned line, unsigned sets);

#endif
