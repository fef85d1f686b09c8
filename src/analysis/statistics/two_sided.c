#include "analysis/statistics/two_sided.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"
#include "analysis/statistics/xor_bits.h"
#include "base/mem.h"

/* Share that must be near to one of the halves: nearer to all than to half. */
static const double kept_least = 0.75;
/* Cycles between the halves: clocks step by two at most, so that each half is
 * off by so much, and their difference by four. */
static const double apart_least = 5;

/* ---- halves of known bits --------------------------------------------- */

/* Median of the samples of a block (of all if `block` is ALL) that `flags`
 * names `yes`; NAN of none. */
#define ALL UINT64_MAX

static double median_of(const struct two_sided_samples *s, unsigned high,
                        uint64_t block, const bool *flags, bool yes)
{
    double *const cycles = xreallocarray(NULL, s->count + 1, sizeof *cycles);
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        if (flags[i] == yes && (block == ALL || s->address[i] >> high == block))
            cycles[count++] = s->cycles[i];
    const double median = stats_median(cycles, count);
    free(cycles);
    return median;
}

/* Turns the flags of a block over if those that are set cost less. */
static void turn_block(const struct two_sided_samples *s, unsigned high,
                       uint64_t block, bool *far)
{
    if (!(median_of(s, high, block, far, true) <
          median_of(s, high, block, far, false)))
        return;
    for (size_t i = 0; i < s->count; i++)
        far[i] ^= s->address[i] >> high == block;
}

static bool first_of_block(const struct two_sided_samples *s, size_t i,
                           unsigned high)
{
    for (size_t k = 0; k < i; k++)
        if (s->address[k] >> high == s->address[i] >> high)
            return false;
    return true;
}

/* Samples within half of the way between the halves from one of them, or within
 * a few cycles, where there is hardly any way. */
static bool counts(const struct two_sided *h, double cycles)
{
    const double off = fmax((h->far - h->near) / 2, apart_least);
    return cycles >= h->near - off && cycles <= h->far + off;
}

static void weigh(const struct two_sided_samples *s, unsigned high, bool *far,
                  struct two_sided *h)
{
    size_t kept = 0, agree = 0;
    for (size_t i = 0; i < s->count; i++)
        far[i] = xor_bits_of(s->address[i], h->bits);
    for (size_t i = 0; i < s->count; i++)
        if (first_of_block(s, i, high))
            turn_block(s, high, s->address[i] >> high, far);
    h->near = median_of(s, high, ALL, far, false);
    h->far = median_of(s, high, ALL, far, true);
    for (size_t i = 0; i < s->count; i++)
        if (counts(h, s->cycles[i])) {
            kept++;
            agree += far[i] == (s->cycles[i] > (h->near + h->far) / 2);
        }
    h->kept = s->count > 0 ? (double)kept / (double)s->count : 0;
    h->agrees = kept > 0 ? (double)agree / (double)kept : 0;
}

void two_sided_of_bits(const struct two_sided_samples *s, unsigned high,
                       uint64_t bits, struct two_sided *h, bool *far)
{
    bool *const own = far != NULL ? far : xcalloc(s->count + 1, sizeof *own);
    *h = (struct two_sided){.bits = bits};
    weigh(s, high, own, h);
    if (far == NULL)
        free(own);
}

/* ---- which bits ------------------------------------------------------- */

/* Among the samples that count; all do without `halves`. */
static void bits_above(const struct two_sided_samples *s, double threshold,
                       const struct two_sided *halves, unsigned low,
                       unsigned high, struct xor_bits *parity)
{
    bool *const above = xcalloc(s->count + 1, sizeof *above);
    uint64_t *const address = xcalloc(s->count + 1, sizeof *address);
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        if (halves == NULL || counts(halves, s->cycles[i])) {
            address[count] = s->address[i];
            above[count++] = s->cycles[i] > threshold;
        }
    xor_bits_find(address, above, count, low, high, parity);
    free(above);
    free(address);
}

/* Between the quartiles of all lies about half of the samples on each side,
 * whatever their tails are, and also where a half all costs the same, so that
 * the median may be its very cost.  Once bits are known, the middle between
 * their halves is a better place to cut. */
void two_sided_find(const struct two_sided_samples *s, unsigned low,
                    unsigned high, struct two_sided *h)
{
    struct xor_bits parity;
    const double middle = (stats_quantile(s->cycles, s->count, 0.25) +
                           stats_quantile(s->cycles, s->count, 0.75)) /
                          2;
    bits_above(s, middle, NULL, low, high, &parity);
    two_sided_of_bits(s, high, parity.bits, h, NULL);
    if (h->bits == 0) {
        h->agrees = h->next = parity.next;
        return;
    }
    bits_above(s, (h->near + h->far) / 2, h, low, high, &parity);
    two_sided_of_bits(s, high, parity.bits, h, NULL);
    h->next = parity.next;
}

bool two_sided_apart(const struct two_sided *h, double agrees_least)
{
    return h->bits != 0 && h->kept >= kept_least && h->agrees >= agrees_least &&
           h->far - h->near >= apart_least;
}

static bool no_other_bits(const struct two_sided *h)
{
    /* Chance agrees half the time: nearer to that than to the best. */
    return h->next < (h->agrees + 0.5) / 2;
}

bool two_sided_clear(const struct two_sided *h, double agrees_least)
{
    return two_sided_apart(h, agrees_least) && no_other_bits(h);
}

bool two_sided_hinted(const struct two_sided *h, double hint_least)
{
    return h->bits != 0 && h->agrees >= hint_least && no_other_bits(h);
}

/* ---- by ranks --------------------------------------------------------- */

void two_sided_vote(const double *cycles, const bool *odd, size_t n,
                    struct two_sided_vote *v)
{
    double wins = 0;
    *v = (struct two_sided_vote){.chance = 0.5};
    for (size_t i = 0; i < n; i++) {
        v->count[odd[i]]++;
        for (size_t k = 0; odd[i] && k < n; k++)
            if (!odd[k])
                /* A tie is half a win, as by Mann and Whitney. */
                wins += cycles[i] > cycles[k]    ? 1
                        : cycles[i] == cycles[k] ? 0.5
                                                 : 0;
    }
    const double pairs = (double)v->count[0] * (double)v->count[1];
    if (pairs == 0)
        return;
    const struct two_sided_samples samples = {.cycles = cycles, .count = n};
    v->more = median_of(&samples, 0, ALL, odd, true) -
              median_of(&samples, 0, ALL, odd, false);
    v->chance = wins / pairs;
    v->errors = (v->chance - 0.5) / sqrt((double)(n + 1) / (12 * pairs));
}

bool two_sided_more(const struct two_sided_vote *v)
{
    /* Of a normal distribution one in 1000 is beyond. */
    return v->errors > 3.1;
}
