/*
 * A kernel's machine code, read apart, and its timed regions: region k is
 * what lies between the k-th read of the clock and the next, from 0, in the
 * order of the code.
 */
#ifndef SONDE_PTX_SASS_LISTING_H
#define SONDE_PTX_SASS_LISTING_H

#include "base/buf.h"
#include "base/error.h"
#include "ptx/sass/sass.h"

/* Instructions that follow each other. */
struct code_span {
    const struct sass *at;
    size_t count;
};

struct listing {
    unsigned sm;
    struct sass *code;
    size_t count;
    size_t *clocks; /* which of them read the clock */
    size_t clock_count;
};

/*
 * Reads a kernel of a cubin; the caller frees the listing.  ERR_UNSUPPORTED
 * for an architecture before sm_70, whose machine code is not read.
 */
int listing_read(const void *cubin, size_t length, const char *kernel,
                 struct listing *listing, struct error *err);
/* The same of the kernel's code alone. */
int listing_text(const unsigned char *text, size_t bytes, unsigned sm,
                 struct listing *listing, struct error *err);
void listing_free(struct listing *listing);

/* Without the two reads of the clock; empty where there is no such region. */
struct code_span listing_region(const struct listing *listing, size_t k);
struct code_span listing_whole(const struct listing *listing);

/* The forms in order, runs of one form as one: "IMAD.IADD×2 IADD3". */
void code_span_write(struct code_span span, struct buf *out);

/* How often a form comes. */
struct tally_row {
    const char *form; /* of the first instruction that has it */
    size_t count;
};
struct tally {
    struct tally_row *rows; /* in the order in which they come first */
    size_t count;
};
struct tally code_span_tally(struct code_span span);
void tally_free(struct tally *tally);

#endif
