/*
 * What may disturb a simulated GPU while it is measured, in five strengths:
 * profiles for tests and tools that ask whether what is found is still right.
 */
#ifndef SONDE_TESTS_DISTURBANCE_H
#define SONDE_TESTS_DISTURBANCE_H

#include <jansson.h>

enum { DISTURBANCE_STRENGTHS = 5 };

struct disturbance {
    const char *kind, *text;
    /* Strength 1 … DISTURBANCE_STRENGTHS; replaces what the profile has. */
    void (*apply)(json_t *gpu, unsigned strength);
};

/* "none" comes first: it takes all disturbances away, and what is found then
 * is the truth.  A row without a kind ends them. */
extern const struct disturbance disturbances[];

/* NULL if there is none of that kind. */
const struct disturbance *disturbance_find(const char *kind);
/* By how much the clock of such a GPU is slower in the end: at most 1. */
double disturbance_clock(const char *kind, unsigned strength);

/* A shipped profile, one of the small GPUs (their names begin with "small"), or
 * the one in a file; NULL if there is none.  The caller decrefs. */
json_t *disturbance_gpu(const char *name);
/* A profile as text, which the caller frees. */
char *disturbed_gpu(const char *name, const char *kind, unsigned strength);

#endif
