/*
 * Which lines of the pages of a buffer have their home in the part of L2 beside
 * SM 0: address bits say so within a page (study `partitions`), and each page
 * has a state of its own.
 */
#ifndef SONDE_STUDY_L2_HOMES_H
#define SONDE_STUDY_L2_HOMES_H

#include <stddef.h>
#include <stdint.h>

#include "study/lab.h"

enum { HOMES_PAGE_BITS = 21 };
#define HOMES_PAGE ((uint64_t)1 << HOMES_PAGE_BITS)

/* The distance of `count` lines within `bytes`, an odd number of lines, such
 * that about half of them have each home by these bits. */
uint64_t homes_step(uint64_t line, uint64_t bits, uint64_t bytes,
                    uint64_t count);

/* What a `visit` of lines near to SM 0 says: "home=… homes=…", of so many pages
 * from the start of the ring's buffer; NULL: some page does not tell. */
const char *homes_learn(struct lab *lab, uint64_t line, size_t pages);

#endif
