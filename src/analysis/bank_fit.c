#include "analysis/bank_fit.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

unsigned bank_fit_degree(const struct banks *banks,
                         const struct bank_fit_access *access)
{
    uint32_t addresses[BANK_FIT_LANES];
    for (unsigned lane = 0; lane < access->lanes; lane++)
        addresses[lane] = lane * access->distance;
    return banks_degree(banks, addresses, access->lanes, access->bytes);
}

struct bank_fit_line bank_fit_line(const double *degrees, const double *cycles,
                                   size_t n)
{
    struct bank_fit_line line = {0};
    const double count = (double)n;
    double x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        x += (degrees[i] - 1) / count;
        y += cycles[i] / count;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (degrees[i] - 1 - x) * (degrees[i] - 1 - x);
        xy += (degrees[i] - 1 - x) * (cycles[i] - y);
    }
    line.step = xx > 0 ? xy / xx : 0;
    line.base = y - line.step * x;
    for (size_t i = 0; i < n; i++) {
        const double left =
            cycles[i] - line.base - line.step * (degrees[i] - 1);
        line.squares += left * left;
        line.worst = fmax(line.worst, fabs(left));
    }
    line.step_error = sqrt(line.squares / (count - 2) / xx);
    return line;
}

/* A way to build shared memory, and how well it explains the costs. */
struct candidate {
    struct banks banks;
    struct bank_fit_line line;
};

/* `degrees` has room for n. */
static struct candidate try_banks(unsigned number, double *degrees,
                                  const struct bank_fit_access *accesses,
                                  const double *cycles, size_t n)
{
    struct candidate c = {
        .banks = {.count = 1 + number / 4,
                  .bank_bytes = number % 4 < 2 ? 4 : 8,
                  .row_words = 1 + number % 2},
    };
    for (size_t i = 0; i < n; i++)
        degrees[i] = bank_fit_degree(&c.banks, &accesses[i]);
    c.line = bank_fit_line(degrees, cycles, n);
    return c;
}

/* A conflict never makes an access cheaper. */
static bool is_better(const struct candidate *a, const struct candidate *b)
{
    if ((a->line.step > 0) != (b->line.step > 0))
        return a->line.step > 0;
    return a->line.squares < b->line.squares;
}

/*
 * Noise leaves about as much to explain everywhere: less than a third of a
 * step on average.  A degree that was predicted wrong leaves about one step.
 */
static const double typical_most = 1.0 / 3, worst_most = 0.9;
/* The runner-up must be worse by so many times the variance: a likelihood
 * ratio of e^15. */
static const double clearly_worse = 30;
/* What a clock that counts whole cycles leaves at least, over 12 loads. */
static const double least_variance = 0.05 * 0.05;

static enum bank_fit_verdict judge(const struct candidate *best,
                                   const struct candidate *rival, size_t n)
{
    const double variance =
        fmax(best->line.squares / (double)(n - 2), least_variance);
    if (best->line.step * typical_most < sqrt(least_variance))
        return BANK_FIT_UNSEEN;
    if (sqrt(variance) > typical_most * best->line.step ||
        best->line.worst > worst_most * best->line.step)
        return BANK_FIT_UNEXPLAINED;
    if (rival->line.step > 0 &&
        rival->line.squares - best->line.squares < clearly_worse * variance)
        return BANK_FIT_AMBIGUOUS;
    return BANK_FIT_EXPLAINED;
}

enum { CANDIDATES = 4 * BANKS_MAX };

struct bank_fit bank_fit_explain(const struct bank_fit_access *accesses,
                                 size_t n)
{
    double *const degrees = xreallocarray(NULL, n, sizeof *degrees);
    double *const cycles = xreallocarray(NULL, n, sizeof *cycles);
    for (size_t i = 0; i < n; i++)
        cycles[i] = accesses[i].cycles;
    struct candidate best = try_banks(0, degrees, accesses, cycles, n);
    struct candidate rival = best;
    for (unsigned number = 1; number < CANDIDATES; number++) {
        const struct candidate c =
            try_banks(number, degrees, accesses, cycles, n);
        if (is_better(&c, &best)) {
            rival = best;
            best = c;
        } else if (number == 1 || is_better(&c, &rival)) {
            rival = c;
        }
    }
    free(cycles);
    free(degrees);
    return (struct bank_fit){
        .verdict = judge(&best, &rival, n),
        .banks = best.banks,
        .rival = rival.banks,
        .line = best.line,
    };
}
