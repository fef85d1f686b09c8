/*
 * Two halves: samples at addresses of which the XOR of some address bits tells
 * those that cost less from those that cost more.
 *
 * The bits are looked for first and what the halves cost is read off them, so
 * that the samples need not fall into two heaps without overlap: tails, and
 * some samples on the wrong side, do no harm.  Samples that are farther off
 * than half of what lies between the halves tell nothing and are not counted.
 * As in xor_bits.h, which half costs more is looked for in each block of 2^high
 * bytes anew.
 */
#ifndef SONDE_ANALYSIS_STATISTICS_TWO_SIDED_H
#define SONDE_ANALYSIS_STATISTICS_TWO_SIDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct two_sided {
    uint64_t bits;    /* 0: none, and what agrees is with the best there are */
    double near, far; /* medians */
    double kept;      /* share of the samples that is not far off both */
    double agrees;    /* share of these on their half's side of the middle */
    double next;      /* ... as the next best bits would have it; if looked
                         for */
};

/* Samples of loads. */
struct two_sided_samples {
    const uint64_t *address;
    const double *cycles;
    size_t count;
};

/* Bits low … high − 1 are looked at. */
void two_sided_find(const struct two_sided_samples *samples, unsigned low,
                    unsigned high, struct two_sided *halves);
/* What the halves cost that these bits tell apart.  far[i]: whether sample i
 * is of the half that costs more; may be NULL. */
void two_sided_of_bits(const struct two_sided_samples *samples, unsigned high,
                       uint64_t bits, struct two_sided *halves, bool *far);
/* True if such a share of the samples, and no less, is where the bits say, of
 * bits known before. */
bool two_sided_apart(const struct two_sided *halves, double agrees_least);
/* ... and no other bits would say so, too; of halves that were found. */
bool two_sided_clear(const struct two_sided *halves, double agrees_least);
/* True if the bits explain more than chance would; less than that, and there is
 * but one heap. */
bool two_sided_hinted(const struct two_sided *halves, double hint_least);

/* Which of two groups costs more, by ranks (Mann and Whitney, 1947): the chance
 * that one of `odd` costs more than one of the others.  In `errors` how many
 * standard errors that is away from an even chance. */
struct two_sided_vote {
    double chance, errors;
    double more;     /* what the median of `odd` is above that of the others */
    size_t count[2]; /* others, odd */
};
void two_sided_vote(const double *cycles, const bool *odd, size_t n,
                    struct two_sided_vote *vote);
/* True if `odd` costs more than groups that cost alike do but once in 1000. */
bool two_sided_more(const struct two_sided_vote *vote);

#endif
