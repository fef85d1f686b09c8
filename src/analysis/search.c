#include "analysis/search.h"

#include <assert.h>

struct searching {
    search_fits *fits;
    void *context;
    struct search *search;
    struct error *err;
};

/* Tries `size` and narrows the bracket by the answer. */
static int try_size(const struct searching *s, uint64_t size)
{
    bool fits = false;
    const int status = s->fits(s->context, size, &fits, s->err);
    if (status != 0)
        return status;
    s->search->tried++;
    if (fits)
        s->search->fits = size;
    else
        s->search->overflows = size;
    return 0;
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

/* A multiple of the granularity strictly inside the bracket, near its middle;
 * 0 if there is none. */
static uint64_t middle(const struct search *search,
                       const struct search_range *range)
{
    const uint64_t width = search->overflows - search->fits;
    if (width <= range->granularity ||
        (range->relative > 0 && width <= search->fits / range->relative))
        return 0;
    const uint64_t half =
        round_down(search->fits + width / 2, range->granularity);
    return half > search->fits ? half : half + range->granularity;
}

static int bisect(const struct searching *s, const struct search_range *range)
{
    uint64_t size;
    while ((size = middle(s->search, range)) != 0) {
        const int status = try_size(s, size);
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
        status = bisect(&s, range);
    search->state = state_of(search);
    return status;
}
