/*
 * Which lines of the pages of a buffer have their home in the part of L2 beside
 * SM 0: address bits say so within a page (study `partitions`), and each page
 * has a state of its own.
 */
#ifndef SONDE_STUDY_L2_HOMES_H
#define SONDE_STUDY_L2_HOMES_H

#include <stddef.h>
#include <stdint.h>

#include "probe/walk/homes.h"
#include "study/lab.h"

/* The distance of `count` lines within `bytes`, an odd number of lines, such
 * that about half of them have each home by these bits. */
uint64_t homes_step(uint64_t line, uint64_t bits, uint64_t bytes,
                    uint64_t count);

/* Of so many pages from the start of the ring's buffer the parity of lines that
 * are near to SM 0, as text; NULL: some page does not tell. */
const char *homes_learn(struct lab *lab, uint64_t line, size_t pages);
/* How many bytes from the first page on that number of bytes lies which are at
 * home there, as `homes` of a probe has it. */
uint64_t homes_place(uint64_t bits, const char *sides, uint64_t number);
/* "home=… homes=…" of what is at home beside SM 0, or on the other side. */
const char *homes_words(struct lab *lab, const char *sides, int side);

#endif
