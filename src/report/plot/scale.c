#include "report/plot/scale.h"

#include <math.h>

/* Beyond it a difference may be no finite number. */
#define LARGEST 1e300
/* A plot of fewer powers of two tells more on an even axis. */
#define DOUBLINGS_LEAST 3

const struct range range_none = {INFINITY, -INFINITY};

bool scale_can_show(double number)
{
    return fabs(number) < LARGEST;
}

void range_hold(struct range *r, double number)
{
    if (!scale_can_show(number))
        return;
    r->low = fmin(r->low, number);
    r->high = fmax(r->high, number);
}

bool range_is_empty(const struct range *r)
{
    return r->low > r->high;
}

/* 1, 2 or 5 times a power of ten, or a power of two: the least of which `count`
 * span the width. */
static double round_step(double width, size_t count, bool binary)
{
    const double least = width / (double)count;
    if (binary)
        return exp2(ceil(log2(least)));
    const double power = pow(10, floor(log10(least)));
    const double share = least / power;
    return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}

enum { STEPS = 5 };

static struct range widened(const struct range *r)
{
    const double width = r->high - r->low;
    /* All alike, or as good as: a line in the middle. */
    const double least = fmax(fabs(r->high) * 1e-6, 1e-12);
    if (width > least)
        return *r;
    const double half = fmax(fabs(r->high) / 2, 1e-12);
    return (struct range){r->low - half, r->high + half};
}

struct scale scale_even(const struct range *range, bool binary)
{
    struct range r = range_is_empty(range) ? (struct range){0, 1} : *range;
    if (r.low > 0 && 2 * r.low <= r.high)
        r.low = 0;
    r = widened(&r);
    const double step = round_step(r.high - r.low, STEPS, binary);
    return (struct scale){.binary = binary,
                          .low = step * floor(r.low / step + 1e-9),
                          .high = step * ceil(r.high / step - 1e-9)};
}

struct scale scale_doubling(const struct range *r, bool binary)
{
    if (range_is_empty(r) || r->low <= 0 ||
        r->high < r->low * (1 << DOUBLINGS_LEAST))
        return scale_even(r, binary);
    return (struct scale){.doubling = true, .low = r->low, .high = r->high};
}

static double share_of(const struct scale *s, double number)
{
    if (s->doubling)
        return number > 0 ? log(number / s->low) / log(s->high / s->low)
                          : -INFINITY;
    return (number - s->low) / (s->high - s->low);
}

double scale_place(const struct scale *s, double number)
{
    return s->from + share_of(s, number) * (s->to - s->from);
}

bool scale_holds(const struct scale *s, double number)
{
    const double share = scale_can_show(number) ? share_of(s, number) : -1;
    return share >= -1e-9 && share <= 1 + 1e-9;
}

static struct ticks powers(const struct scale *s, size_t most)
{
    struct ticks t = {0};
    const double first = ceil(log2(s->low) - 1e-9);
    const double last = floor(log2(s->high) + 1e-9);
    const double step = fmax(ceil((last - first + 1) / (double)most), 1);
    for (double e = first; e <= last && t.count < TICKS_MOST; e += step)
        t.at[t.count++] = exp2(e);
    return t;
}

struct ticks scale_ticks(const struct scale *s, size_t most)
{
    if (s->doubling)
        return powers(s, most);
    struct ticks t = {0};
    const double step = round_step(s->high - s->low, most, s->binary);
    const double first = ceil(s->low / step - 1e-9);
    for (double i = first; t.count < TICKS_MOST; i++) {
        if (i * step > s->high + step * 1e-9)
            break;
        t.at[t.count++] = i * step + 0.0; /* no -0 */
    }
    return t;
}
