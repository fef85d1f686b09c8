#include "probe/walk/ring.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"

/* A growing list of offsets. */
struct offsets {
    uint64_t *at;
    size_t count, capacity;
};

/* True once the plan's visits are there. */
static bool enough(const struct offsets *list, const struct ring_plan *plan)
{
    return plan->most > 0 && list->count >= plan->most;
}

static void push(struct offsets *list, uint64_t offset)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity > 0 ? 2 * list->capacity : 1024;
        list->at = xreallocarray(list->at, list->capacity, sizeof *list->at);
    }
    list->at[list->count++] = offset;
}

static void push_segments(struct offsets *list, const struct ring_plan *plan)
{
    for (size_t i = 0; i < plan->list.count; i++)
        for (uint64_t j = 0; j < plan->list.at[i].count; j++)
            push(list, plan->list.at[i].start + j * plan->list.at[i].step);
}

/* Puts `take` random ones of list[from …] first, in random order, and drops
 * the rest (Fisher and Yates, stopped early). */
static void shuffle(struct offsets *list, size_t from, size_t take,
                    struct rng *rng)
{
    const size_t count = list->count - from;
    uint64_t *const at = list->at + from;
    for (size_t i = 0; i < take && i + 1 < count; i++) {
        const size_t j = i + (size_t)rng_below(rng, count - i);
        const uint64_t other = at[j];
        at[j] = at[i];
        at[i] = other;
    }
    list->count = from + take;
}

static uint64_t windows_of(const struct ring_plan *plan, uint64_t window)
{
    return (plan->bytes + window - 1) / window;
}

/* How many elements window `w` of `windows` visits of the `all` it has, so
 * that together they are the sample. */
static size_t share(const struct ring_plan *plan, uint64_t w, uint64_t windows,
                    size_t all)
{
    if (plan->sample == 0)
        return all;
    const uint64_t before = plan->sample * w / windows;
    const uint64_t until = plan->sample * (w + 1) / windows;
    return until - before < all ? (size_t)(until - before) : all;
}

static void push_window(struct offsets *list, const struct ring_plan *plan,
                        uint64_t w, uint64_t window, struct rng *rng)
{
    const size_t from = list->count;
    const uint64_t end =
        (w + 1) * window < plan->bytes ? (w + 1) * window : plan->bytes;
    /* The first element at or after the window's start. */
    uint64_t at = (w * window + plan->stride - 1) / plan->stride * plan->stride;
    /* In order of address the first visits are the first elements. */
    const bool in_order = !plan->random && plan->sample == 0;
    for (; at < end && !(in_order && enough(list, plan)); at += plan->stride)
        push(list, at);
    const size_t all = list->count - from;
    const size_t take = share(plan, w, windows_of(plan, window), all);
    if (plan->random || take < all)
        shuffle(list, from, take, rng);
    if (!plan->random && take < all)
        qsort(list->at + from, take, sizeof *list->at, u64_compare);
}

/* An element of the block, any. */
static uint64_t element_of(const struct ring_plan *plan, uint64_t block,
                           struct rng *rng)
{
    const uint64_t stride = plan->stride;
    const uint64_t end = (block + 1) * plan->lead < plan->bytes
                             ? (block + 1) * plan->lead
                             : plan->bytes;
    const uint64_t first = (block * plan->lead + stride - 1) / stride;
    return (first + rng_below(rng, (end - 1) / stride + 1 - first)) * stride;
}

/* Inserts an element before the first visit of each block. */
static void insert_leads(struct offsets *list, const struct ring_plan *plan,
                         struct rng *rng)
{
    struct offsets with = {0};
    bool *const led = xcalloc(plan->bytes / plan->lead + 1, sizeof *led);
    for (size_t i = 0; i < list->count; i++) {
        const uint64_t block = list->at[i] / plan->lead;
        if (!led[block])
            push(&with, element_of(plan, block, rng) + RING_LEAD_OFFSET);
        led[block] = true;
        push(&with, list->at[i]);
    }
    free(led);
    free(list->at);
    *list = with;
}

uint64_t *ring_order(const struct ring_plan *plan, size_t *count)
{
    struct offsets list = {0};
    struct rng rng;
    rng_seed(&rng, plan->seed);
    if (plan->list.count > 0) {
        push_segments(&list, plan);
    } else {
        const uint64_t window = plan->window > 0 ? plan->window : plan->bytes;
        const uint64_t windows = windows_of(plan, window);
        for (uint64_t w = 0; w < windows && !enough(&list, plan); w++)
            push_window(&list, plan, w, window, &rng);
    }
    if (plan->lead >= plan->stride && plan->stride > RING_LEAD_OFFSET &&
        plan->list.count == 0)
        insert_leads(&list, plan, &rng);
    *count = enough(&list, plan) ? plan->most : list.count;
    return list.at;
}
