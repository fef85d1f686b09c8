#include "analysis/search.h"

#include <assert.h>

struct searching {
    search_fits *fits;
    void *context;
    struct search *search;
    struct error *err;
};

/* Tries the sizes, in rising order, and narrows the bracket by the answers: it
 * ends where the first does not fit. */
static int try_sizes(const struct searching *s,
                     const struct search_sizes *sizes)
{
    bool fits[SEARCH_AT_ONCE] = {false};
    const int status = s->fits(s->context, sizes, fits, s->err);
    if (status != 0)
        return status;
    s->search->tried += sizes->count;
    for (size_t i = 0; i < sizes->count; i++) {
        const uint64_t size = sizes->first + i * sizes->step;
        if (!fits[i]) {
            s->search->overflows = size;
            break;
        }
        s->search->fits = size;
    }
    return 0;
}

static int try_size(const struct searching *s, uint64_t size)
{
    return try_sizes(s, &(struct search_sizes){.first = size, .count = 1});
}

static uint64_t round_down(uint64_t size, uint64_t granularity)
{
    return size - size % granularity;
}

/* Twice `size` as a multiple of the granularity, at most `most`. */
static uint64_t doubled(uint64_t size, const struct search_range *range)
{
    if (size >= range->most - size)
        return range->most;
    const uint64_t twice = round_down(2 * size, range->granularity);
    if (twice > size)
        return twice;
    const uint64_t next = round_down(size, range->granularity);
    return range->most - next > range->granularity ? next + range->granularity
                                                   : range->most;
}

static int double_up(const struct searching *s,
                     const struct search_range *range)
{
    int status = try_size(s, range->least);
    while (status == 0 && s->search->overflows == 0 &&
           s->search->fits < range->most)
        status = try_size(s, doubled(s->search->fits, range));
    return status;
}

static bool narrow_enough(const struct search *search,
                          const struct search_range *range)
{
    const uint64_t width = search->overflows - search->fits;
    return width <= range->granularity ||
           (range->relative > 0 && width <= search->fits / range->relative);
}

/* Multiples of the granularity strictly inside the bracket, that cut it into
 * equal parts as nearly as they can. */
static struct search_sizes inside(const struct search *search,
                                  const struct search_range *range)
{
    const uint64_t grain = range->granularity;
    const uint64_t parts = (range->at_once > 1 ? range->at_once : 1) + 1;
    const uint64_t width = search->overflows - search->fits;
    uint64_t step = round_down(width / parts, grain);
    step = step > 0 ? step : grain;
    const uint64_t below = round_down(search->fits, grain);
    const uint64_t first =
        below + step > search->fits ? below + step : below + 2 * step;
    const uint64_t room = (search->overflows - 1 - first) / step + 1;
    return (struct search_sizes){
        .first = first,
        .step = step,
        .count = (size_t)(room < parts - 1 ? room : parts - 1)};
}

static int narrow(const struct searching *s, const struct search_range *range)
{
    while (!narrow_enough(s->search, range)) {
        const struct search_sizes sizes = inside(s->search, range);
        const int status = try_sizes(s, &sizes);
        if (status != 0)
            return status;
    }
    return 0;
}

static enum search_state state_of(const struct search *search)
{
    if (search->overflows == 0)
        return SEARCH_ALL_FIT;
    return search->fits == 0 ? SEARCH_NONE_FITS : SEARCH_BRACKETED;
}

int search_size(const struct search_range *range, search_fits *fits,
                void *context, struct search *search, struct error *err)
{
    assert(range->granularity > 0 && range->least > 0 &&
           range->least <= range->most);
    *search = (struct search){0};
    const struct searching s = {fits, context, search, err};
    int status = double_up(&s, range);
    if (status == 0 && search->fits > 0 && search->overflows > 0)
        status = narrow(&s, range);
    search->state = state_of(search);
    return status;
}
