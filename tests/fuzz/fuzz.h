/* A reader under test: its seeds, and how it is given one input. */
#ifndef SONDE_TESTS_FUZZ_FUZZ_H
#define SONDE_TESTS_FUZZ_FUZZ_H

#include "base/buf.h"
#include "base/error.h"
#include "base/rng.h"

enum { SEEDS_MAX = 32 };

struct seeds {
    size_t count;
    struct buf seed[SEEDS_MAX];
};

/* Adds a seed; what does not fit is left out. */
void seeds_add(struct seeds *seeds, const void *data, size_t length);

struct fuzz_target {
    const char *name;
    void (*seeds)(struct seeds *seeds);
    /* Reads the input (a NUL follows its last byte) and frees what came of it;
     * returns what the reader returned. */
    int (*read)(const struct buf *input, struct error *err);
    unsigned cost; /* of an input, against one that is only read */
};

extern const struct fuzz_target fuzz_targets[];
extern const size_t fuzz_target_count;

/* A seed changed in one to eight places, in `input` (which it clears). */
void mutate(const struct seeds *seeds, struct rng *rng, struct buf *input);

#endif
